"""Parts of the semantic index that are loaded, and made, when they are first asked for."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Part:
    """An attribute that holds ``Masks(index)`` of the module ``masks``, both by the name of the attribute.

    A part that names the parts it is made of is given these alone: it knows nothing else of the index.
    """

    def __init__(self, made_of: tuple[str, ...]) -> None:
        self._made_of = made_of

    def __set_name__(self, owner: type, name: str) -> None:
        self._module = f"{owner.__module__}.{name}"
        self._name = name
        self._class = "".join(word.capitalize() for word in name.split("_"))

    def __get__(self, index: Any, owner: type | None = None) -> Any:
        if index is None:
            return self
        given = [getattr(index, name) for name in self._made_of] or [index]
        made = index.__dict__[self._name] = getattr(import_module(self._module), self._class)(*given)
        return made


def part(*made_of: str) -> Any:
    """A :class:`Part`, typed as what it holds."""
    return Part(made_of)
