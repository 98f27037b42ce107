"""Poses in two and in three dimensions."""

import sys
from pathlib import Path

import made_up_data
import modules
import numpy

_chance = numpy.random.default_rng(0)


def _write(torch):
    Path("made").mkdir(exist_ok=True)
    for part, subjects in (("train", (1, 5)), ("test", (9,))):
        flat, deep = {}, {}
        for subject in subjects:
            for action, count in (("Walking", 8), ("Eating", 6)):
                flat[subject, action, f"{action}.h5"] = _chance.normal(size=(count, 32))
                deep[subject, action, f"{action}.h5"] = _chance.normal(size=(count, 48))
        torch.save(flat, f"made/{part}_2d.pth.tar")
        torch.save(deep, f"made/{part}_3d.pth.tar")
    used = numpy.arange(3, 51)
    torch.save({"mean": numpy.zeros(96), "std": numpy.ones(96), "dim_use": used}, "made/stat_3d.pth.tar")


modules.when_imported("torch", _write)
modules.put("progress.bar", Bar=made_up_data.Bar)
sys.modules.pop("progress.progress", None)
