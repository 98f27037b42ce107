"""Parts of the semantic index that are loaded, and made, when they are first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Part:
    """An attribute that holds ``Masks(index)`` of the module ``masks``, both by the name of the attribute."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._module = f"{owner.__module__}.{name}"
        self._name = name
        self._class = "".join(word.capitalize() for word in name.split("_"))

    def __get__(self, index: Any, owner: type | None = None) -> Any:
        if index is None:
            return self
        made = index.__dict__[self._name] = getattr(import_module(self._module), self._class)(index)
        return made


def part() -> Any:
    """A :class:`Part`, typed as what it holds."""
    return Part()
