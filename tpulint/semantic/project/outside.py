"""Calls that other files of the project make: what the file of a function cannot see itself."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tpulint.model import OutgoingCall as OutgoingCall
from tpulint.model import OutsideCall as OutsideCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.syntax.nodes import FunctionNode
    from tpulint.semantic.syntax.tree import SyntaxTree

STEP = "step"
EVALUATION = "evaluation batch"
"""What the turns of a loop are called."""
NOW_AND_THEN = ""
"""In no turn: the call tells what its function is given."""
CONSTRUCTOR = "torch.Tensor"
"""What is called in a file that runs under a default which another file sets."""

ELEMENT_OF = "{}[]"
"""The name by which a call tells what is in the list or dictionary that it gives for a parameter."""

ELEMENT_AT = "{}[{!r}]"
"""The name for one element of a dictionary whose elements are of different kinds."""

RESULT = "return {}"
"""The name by which a class tells what a method of it, or the part at a path, returns for a base class."""


def qualified_in_file(tree: SyntaxTree, function: FunctionNode) -> str:
    """The name by which calls tell a function at the top of a file, ``Class.method`` for a method."""
    owner = tree.class_of(function)
    return function.name if owner is None else f"{owner.name}.{function.name}"


def classes_of_file(calls: Sequence[OutsideCall], path: str) -> dict[tuple[str, str], list[str]]:
    """Names of a file's own classes, by function and parameter, of which calls in other files give objects."""
    found: dict[tuple[str, str], list[str]] = {}
    here = os.path.abspath(path) if any(call.classes for call in calls) else ""
    for call in calls:
        for parameter, place, name in call.classes:
            if place == here and name not in found.setdefault((call.function, parameter), []):
                found[call.function, parameter].append(name)
    return found


def merge(calls: list[OutsideCall]) -> OutsideCall:
    """One call that stands for all calls of a function: the costliest, with what is known of the arguments of all."""
    first = min(calls, key=lambda call: (call.turn != STEP, call.is_behind, not call.caller, call.caller))
    known: dict[str, set[tuple[str, str]]] = {}
    for call in calls:
        for name, kind, side in call.arguments:
            known.setdefault(name, set()).add((kind, side))
    arguments = tuple((name, *values.pop()) for name, values in sorted(known.items()) if len(values) == 1)
    return first._replace(arguments=arguments)
