"""The tests of the runtime need torch in the interpreter that runs them.

Where torch_xla is, too, they are collected as they stand. Where torch is alone, those that run XLA are left out.
Without torch, one test runs all of them in an interpreter that has both.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest
from xla_flags import QUICKLY

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "runtime"))

# Read when torch_xla is first imported, which takes some ten seconds in each process of a test run.
os.environ.setdefault("PJRT_DEVICE", "CPU")
os.environ.setdefault("XLA_FLAGS", QUICKLY)


def has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


XLA_ONLY = (
    "checkpoint_kills", "divergences", "frozen_norms", "gru_gradients", "loop_on_xla", "mesh", "meters", "mixed_models",
    "on_xla", "operations", "planted_changes", "processes", "settings", "shared_buffers", "written_out",
)  # fmt: skip
"""Tests that run XLA, among others."""

if not has("torch"):
    collect_ignore = [path.name for path in HERE.glob("test_*.py") if path.name != "test_elsewhere.py"]
elif not has("torch_xla"):
    collect_ignore = [f"test_{name}.py" for name in ("without_xla", *XLA_ONLY)]
else:
    collect_ignore = ["test_elsewhere.py"]


@pytest.fixture(scope="session")
def xla_started() -> None:
    """For tests that compute gradients on the CPU. torch sets up its autograd threads at the first one, for the devices
    there are, and later gradients on XLA fail if XLA's runtime starts only after that."""
    if has("torch_xla"):
        import torch_xla

        torch_xla.device()
