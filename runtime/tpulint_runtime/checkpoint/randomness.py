"""Where the random numbers of Python, numpy, torch and the device stand, as plain values and tensors."""

from __future__ import annotations

import importlib
import random
import sys
import warnings
from collections.abc import Mapping
from typing import Any

import torch

from tpulint_runtime.backend import Backend
from tpulint_runtime.checkpoint.errors import CheckpointError, CheckpointWarning


def capture(backend: Backend) -> dict[str, Any]:
    """All generators that have no owner. Those a script makes itself, it has to save itself."""
    version, internal, gauss = random.getstate()
    states: dict[str, Any] = {
        "python": {"version": version, "internal": torch.tensor(internal, dtype=torch.int64), "gauss": gauss},
        "torch": torch.get_rng_state(),
        "backend": backend.name,
        "device": backend.random_state(),
    }
    numpy = sys.modules.get("numpy")
    if numpy is not None:  # where it is not loaded, nothing was drawn from it
        states["numpy"] = _capture_numpy(numpy)
    return states


def restore(states: Mapping[str, Any], backend: Backend) -> None:
    """Puts all of them back. Warns if the device is of another kind: its random numbers cannot go on."""
    python = states["python"]
    random.setstate((python["version"], tuple(python["internal"].tolist()), python["gauss"]))
    torch.set_rng_state(states["torch"])
    if "numpy" in states:
        _restore_numpy(importlib.import_module("numpy"), states["numpy"])
    if states["backend"] == backend.name:
        backend.set_random_state(states["device"])
    else:
        warnings.warn(
            f"the checkpoint was written on {states['backend']}, and this is {backend.name}: random numbers of the "
            "device do not continue, and results differ in rounding",
            CheckpointWarning,
            stacklevel=4,
        )


def _capture_numpy(numpy: Any) -> dict[str, Any]:
    state = numpy.random.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise CheckpointError(f"numpy draws from {state['bit_generator']}; only its own, MT19937, can be saved")
    return {
        "key": torch.tensor(state["state"]["key"].tolist(), dtype=torch.int64),
        "pos": int(state["state"]["pos"]),
        "has_gauss": int(state["has_gauss"]),
        "gauss": float(state["gauss"]),
    }


def _restore_numpy(numpy: Any, state: Mapping[str, Any]) -> None:
    key = numpy.array(state["key"].tolist(), dtype="uint32")
    numpy.random.set_state(("MT19937", key, state["pos"], state["has_gauss"], state["gauss"]))
