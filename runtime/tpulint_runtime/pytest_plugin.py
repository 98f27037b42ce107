"""The fixture ``recompile_guard``, for tests of training steps.

Write ``pytest_plugins = ["tpulint_runtime.pytest_plugin"]`` into ``conftest.py``. It does not load by itself: it
imports torch, which takes seconds, also in projects whose tests need none.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import pytest

from tpulint_runtime.recompile import RecompileGuard

_NAME = "recompile_guard"


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", f"{_NAME}(**settings): arguments of the RecompileGuard of this test")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Raises TypeError for a test with the mark and without the fixture: no step of it would be told, and none guarded.

    Marks of a class or a module are settings for those of its tests that take the fixture.
    """
    is_marked = any(mark.name == _NAME for mark in item.own_markers)
    if is_marked and _NAME not in getattr(item, "fixturenames", ()):
        raise TypeError(
            f"{item.name} is marked {_NAME} and guards nothing: take the fixture {_NAME}, and call its step(batch) "
            "first in every step"
        )


@pytest.fixture
def recompile_guard(request: pytest.FixtureRequest) -> Iterator[RecompileGuard]:
    """A guard that is entered: call ``step(batch)`` first in every step. The test fails beyond the budget.

    ``mode="raise"`` and ``lines=True``, unless ``@pytest.mark.recompile_guard(...)`` says otherwise. Raises
    TypeError for settings without a name, which would say nothing.
    """
    marker = request.node.get_closest_marker(_NAME)
    if marker is not None and marker.args:
        given = ", ".join(map(repr, marker.args))
        raise TypeError(f"{_NAME}({given}): name the settings, as in {_NAME}(budget=1)")
    settings: dict[str, Any] = {"mode": "raise", "lines": True, **(marker.kwargs if marker else {})}
    guard = RecompileGuard(**settings)
    guard.on_train_begin()
    yield guard
    if guard.is_entered:  # the test was not a function, or it failed
        guard.__exit__(None, KeyboardInterrupt(), None)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """End the last step with the test, which is what fails then, not the fixture."""
    guard = pyfuncitem.funcargs.get(_NAME)
    try:
        result = yield
        if isinstance(guard, RecompileGuard) and guard.is_entered:
            guard.on_train_end()
        if isinstance(guard, RecompileGuard) and not guard.report().steps:
            raise RuntimeError(f"{_NAME} was told of no step and guarded nothing: call its step(batch) in every step")
    finally:
        if isinstance(guard, RecompileGuard):
            pyfuncitem.add_report_section("call", _NAME, str(guard.report()))
    return result
