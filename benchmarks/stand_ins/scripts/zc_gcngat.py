"""A graph of 60 papers of four kinds, as its reader would give it for attention (adjacency in full)."""

import made_up_data  # noqa: F401
import modules
import numpy


def _graph(module):
    torch, chance = module.torch, numpy.random.default_rng(0)
    near = chance.random((60, 60)) < 0.1
    near = torch.from_numpy((near | near.T | numpy.eye(60, dtype=bool)).astype("float32"))
    labels = torch.arange(60) % 4
    features = torch.from_numpy(chance.random((60, 24)).astype("float32"))
    module.load_data = lambda **_: (
        near, features, labels, torch.arange(0, 24), torch.arange(24, 40), torch.arange(40, 60)
    )  # fmt: skip


modules.when_imported("utils", _graph)
