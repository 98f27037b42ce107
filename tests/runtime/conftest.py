"""The tests of the runtime need torch in the interpreter that runs them.

Where it is, they are collected as they stand; where it is not, one test runs them in an interpreter that has it.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "runtime"))

# Read when torch_xla is first imported, which takes some ten seconds in each process of a test run.
os.environ.setdefault("PJRT_DEVICE", "CPU")
# Programs of these tests run a few times: what they compute is looked at, not how fast.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")

if importlib.util.find_spec("torch_xla") is None:
    collect_ignore = [path.name for path in HERE.glob("test_*.py") if path.name != "test_elsewhere.py"]
else:
    collect_ignore = ["test_elsewhere.py"]


@pytest.fixture(scope="session")
def xla_started() -> None:
    """For tests that compute gradients on the CPU. torch sets up its autograd threads at the first one, for the devices
    there are, and later gradients on XLA fail if XLA's runtime starts only after that."""
    import torch_xla

    torch_xla.device()
