"""Series of a machine, and when something was wrong."""

from pathlib import Path
from typing import Any

import modules
import numpy

_noise = numpy.random.default_rng(0)
Path("dataset").mkdir(exist_ok=True)
Path("checkpoints").mkdir(exist_ok=True)
numpy.save("dataset/SMD_train.npy", _noise.normal(size=(4400, 38)))
numpy.save("dataset/SMD_test.npy", _noise.normal(size=(4400, 38)))
numpy.save("dataset/SMD_test_label.npy", (_noise.random(4400) < 0.05).astype("int64"))


def _change(module: Any) -> None:
    import torch_xla

    module.Solver.device = torch_xla.device()  # the port asks for it before it is there


modules.when_imported("solver", _change)
