"""What the tests of ``tpulint plan SCRIPT`` share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from planning_runs import HAS_COMPILER, HAS_XLA  # noqa: E402 - its folder must be on the import path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without what they need, tests are skipped."""
    for item in items:
        if HERE not in item.path.parents:
            continue
        if not HAS_XLA and item.get_closest_marker("xla"):
            item.add_marker(pytest.mark.skip(reason="torch_xla is not installed (extra xla)"))
        elif not HAS_COMPILER and item.get_closest_marker("compiler"):
            item.add_marker(pytest.mark.skip(reason="jax and libtpu are not installed (extra plan)"))
