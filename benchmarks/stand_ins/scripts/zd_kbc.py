"""Facts about 60 things, and which answers to skip when ranking."""

import pickle
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
_folder = Path("kbc/data/WN18RR")
_folder.mkdir(parents=True, exist_ok=True)
_facts = {}
for _part, _count in (("train", 90), ("valid", 12), ("test", 10)):
    _facts[_part] = numpy.stack([_chance.integers(0, most, _count) for most in (60, 4, 60)], axis=1)
_facts["train"][0] = 59, 3, 59
_skip = {"lhs": {}, "rhs": {}}
for _part in _facts:
    for _one, _how, _other in _facts[_part].tolist():
        _skip["rhs"].setdefault((_one, _how), []).append(_other)
        _skip["lhs"].setdefault((_other, _how + 4), []).append(_one)
    (_folder / f"{_part}.pickle").write_bytes(pickle.dumps(_facts[_part].astype("uint64")))
(_folder / "to_skip.pickle").write_bytes(pickle.dumps(_skip))
modules.put("pkg_resources", resource_filename=lambda *_: "kbc/data/")
