"""What is public says what it is for, and names every exception that it raises itself."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import tpulint_runtime

pytestmark = pytest.mark.xla  # where torch is, torch_xla is


def public() -> Iterator[tuple[str, Any, str]]:
    """Name, function, and all that documents it: of a method, its class as well."""
    for name in tpulint_runtime.__all__:
        found = getattr(tpulint_runtime, name)
        if isinstance(found, ModuleType):
            for inner in found.__all__:
                if inspect.isfunction(getattr(found, inner)):
                    yield f"{name}.{inner}", getattr(found, inner), inspect.getdoc(getattr(found, inner)) or ""
        elif inspect.isfunction(found):
            yield name, found, inspect.getdoc(found) or ""
        elif inspect.isclass(found):
            yield from methods(name, found)


def methods(name: str, kind: type) -> Iterator[tuple[str, Any, str]]:
    about = inspect.getdoc(kind) or ""
    for inner, member in vars(kind).items():
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if not inspect.isfunction(function) or function.__code__.co_filename != inspect.getfile(kind):
            continue  # made by dataclass, for example
        if not inner.startswith("_"):
            own = inspect.getdoc(getattr(kind, inner))
            yield f"{name}.{inner}", function, own + about if own else ""
        elif inner in ("__init__", "__post_init__", "__iter__", "__enter__", "__exit__"):
            yield f"{name}.{inner}", function, about + (function.__doc__ or "")


PUBLIC = [*public()]


def raised(function: Any) -> set[str]:
    """Names of the exceptions that stand in ``raise`` statements of a function."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    calls = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)]
    return {call.func.id for call in calls if isinstance(call.func, ast.Name)}


@pytest.mark.parametrize(("name", "function", "text"), PUBLIC, ids=[name for name, _, _ in PUBLIC])
def test_it_is_documented_with_its_errors(name: str, function: Any, text: str) -> None:
    assert text, "no docstring"
    assert {error for error in raised(function) if error not in text} == set()


def test_all_of_the_package_was_looked_at() -> None:
    names = {name.partition(".")[0] for name, _, _ in PUBLIC}
    plain = {name for name in tpulint_runtime.__all__ if inspect.isclass(getattr(tpulint_runtime, name))}
    assert set(tpulint_runtime.__all__) - names <= plain and len(PUBLIC) > 120
