"""Readings of a machine, and which of them are anomalies."""

import pickle
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
_folder = Path("datasets/ServerMachineDataset/processed")
_folder.mkdir(parents=True, exist_ok=True)
for _split, _count in (("train", 83), ("test", 61)):
    _data = _chance.normal(size=(_count, 38)).cumsum(axis=0).astype("float32")
    (_folder / f"machine-1-1_{_split}.pkl").write_bytes(pickle.dumps(_data))
(_folder / "machine-1-1_test_label.pkl").write_bytes(pickle.dumps((_chance.random(61) < 0.2).astype("float32")))


def _consecutive_groups(given, ordering=lambda one: one):
    group = []
    for one in given:
        if group and ordering(one) != ordering(group[-1]) + 1:
            yield group
            group = []
        group.append(one)
    if group:
        yield group


modules.put("more_itertools", consecutive_groups=_consecutive_groups)
