"""Parameters that layers of a module share, such as those of an embedding and of the layer behind it.

On other devices a move changes what a parameter holds. For an XLA device each layer is given a new parameter of its
own: one that was shared becomes two, which train apart (measured on 2.5, 2.7 and 2.9).
"""

from __future__ import annotations

import functools
from typing import Any, TypeVar

from torch import nn

_Class = TypeVar("_Class", bound=type[nn.Module])


def keep_ties(module_class: _Class) -> _Class:
    """Makes modules of a class, and of those derived from it, keep what their layers share, whatever moves them.

    To be written above the class, as a decorator. On devices where moves keep parameters it changes nothing."""
    made: Any = module_class
    moves = made._apply

    @functools.wraps(moves)
    def _apply(self: nn.Module, *args: Any, **kwargs: Any) -> nn.Module:
        ties = _ties(self)
        moves(self, *args, **kwargs)
        for (first, name), *others in ties:
            parameter = getattr(first, name)
            for layer, its_name in others:
                setattr(layer, its_name, parameter)
        return self

    made._apply = _apply
    return module_class


def _ties(module: nn.Module) -> list[list[tuple[nn.Module, str]]]:
    """The layers that have one parameter, each with the name that it has there."""
    places: dict[int, list[tuple[nn.Module, str]]] = {}
    for layer in module.modules():
        for name, parameter in layer._parameters.items():
            if parameter is not None:
                places.setdefault(id(parameter), []).append((layer, name))
    return [found for found in places.values() if len(found) > 1]
