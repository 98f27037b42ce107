"""Profiles of hypothesis, and the folder of shared test modules on the import path."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

# The processes that share the tests have a core each: threads of torch that wait for each other take a fifth of it.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A generated program is a few dozen rows, and the first example of a run loads the catalogue.
settings.register_profile(
    "default",
    deadline=None,
    max_examples=25,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("nightly", settings.get_profile("default"), max_examples=2000, derandomize=False)
settings.register_profile("few", settings.get_profile("default"), max_examples=10)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture
def warm_python_for_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts that this process lets run are run by a Python that has imported torch."""
    import warm_python

    from tpulint.verification import process

    warm_python.serve(os.environ.get("TPULINT_XLA_PYTHON", sys.executable))
    monkeypatch.setattr(process, "subprocess", warm_python.stand_in())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take long come first: small ones fill what is left in the end, and the processes end together."""
    longest = {item.path for item in items if item.get_closest_marker("slow") or item.get_closest_marker("xla")}
    items.sort(key=lambda item: item.path not in longest)
