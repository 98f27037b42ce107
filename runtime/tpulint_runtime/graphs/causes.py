"""Why a graph had to be compiled: what is different from the most similar graph before it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from tpulint_runtime.graphs.graph import Graph, Operation, Place

_SHOWN = 2
"""Changed inputs that are named."""
_LONGEST_VALUE = 40
_LONGEST_INSERTION = 100
"""Operations up to which two graphs are looked at for where they go on alike."""
_LONGEST_COMPARISON = 2000
"""Inputs up to which two graphs are aligned; beyond, they are compared pair by pair."""
_OPTIMIZERS = ("/torch/optim/", "/torch_xla/amp/syncfree/", "\\torch\\optim\\")


class Cause(NamedTuple):
    """What made a graph a new one."""

    kind: str
    """``input``, ``constant``, ``setting``, ``shape``: something changed. ``added``: there are more inputs; ``state``:
    these are what the optimizer made in its first step. ``inputs``, ``operations``, ``outputs``: there are others."""
    text: str
    """In words."""
    places: tuple[Place, ...] = ()
    """The lines of Python that made what changed, perhaps in a library. Several where several inputs changed."""


def nearest(graph: Graph, earlier: Sequence[Graph]) -> Graph:
    """The graph most like this one, the later of equals."""
    own = _multiset(graph)
    return max(reversed(earlier), key=lambda other: (own & _multiset(other)).total() * 2 - _size(other))


def explain(before: Graph, after: Graph) -> Cause:
    """The first difference in the order of tracing: what is computed from it differs as well."""
    # With other inputs, operations cannot be compared one by one.
    return (
        _explain_inputs(before.inputs, after.inputs)
        or _explain_operations(before, after)
        or Cause("operations", "the same operations, put together in another way")
    )


def _size(graph: Graph) -> int:
    return len(graph.inputs) + len(graph.operations)


def _multiset(graph: Graph) -> Counter[tuple[object, ...]]:
    return Counter(operation.identity for operation in (*graph.inputs, *graph.operations))


def _explain_inputs(before: Sequence[Operation], after: Sequence[Operation]) -> Cause | None:
    changed, added, removed = _align(before, after)
    if changed:
        words = dict.fromkeys(f"input {old.shape} became {new.shape}" for old, new in changed)
        text = ", ".join(list(words)[:_SHOWN])
        if len(words) > _SHOWN:
            text += f", and {len(words) - _SHOWN} more"
        return Cause("input", text, _places([new for _, new in changed]))
    if added and not removed and any(_is_state(one) for one in added):
        return Cause("state", f"{_count(len(added), 'input')} more: state that the optimizer made", _places(added[:1]))
    if added and not removed:
        shapes = ", ".join(list(dict.fromkeys(one.shape for one in added))[:_SHOWN])
        return Cause("added", f"{_count(len(added), 'input')} more ({shapes})", _places(added))
    if removed:
        parts = [f"{_count(len(added), 'input')} more"] if added else []
        shapes = ", ".join(list(dict.fromkeys(one.shape for one in added or removed))[:_SHOWN])
        text = " and ".join([*parts, f"{_count(len(removed), 'input')} fewer"])
        return Cause("inputs", f"{text} ({shapes})", _places(added))
    return None


def _align(
    before: Sequence[Operation], after: Sequence[Operation]
) -> tuple[list[tuple[Operation, Operation]], list[Operation], list[Operation]]:
    """Inputs that changed, that were added, that were removed."""
    old, new = [one.shape for one in before], [one.shape for one in after]
    if len(old) == len(new) or max(len(old), len(new)) > _LONGEST_COMPARISON:
        pairs = [(a, b) for a, b in zip(before, after, strict=False) if a.shape != b.shape]
        if all(_is_resized(a, b) for a, b in pairs):
            return pairs, list(after[len(before) :]), list(before[len(after) :])
    changed: list[tuple[Operation, Operation]] = []
    added: list[Operation] = []
    removed: list[Operation] = []
    for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        removed.extend(before[i:j])
        added.extend(after[k:m])
    # What only stands elsewhere was neither added nor removed.
    spare = Counter(one.shape for one in removed) & Counter(one.shape for one in added)
    removed, added = _without(removed, spare), _without(added, spare)
    for one in list(removed):
        other = next((candidate for candidate in added if _is_resized(one, candidate)), None)
        if other is not None:
            removed.remove(one)
            added.remove(other)
            changed.append((one, other))
    return changed, added, removed


def _without(operations: list[Operation], spare: Counter[str]) -> list[Operation]:
    left = Counter(spare)
    kept = []
    for one in operations:
        if left[one.shape] > 0:
            left[one.shape] -= 1
        else:
            kept.append(one)
    return kept


def _is_resized(old: Operation, new: Operation) -> bool:
    """Whether two inputs are likely the same one: made by the same line, or different in one dimension only."""
    (old_type, _, old_sizes), (new_type, _, new_sizes) = old.shape.partition("["), new.shape.partition("[")
    before, after = old_sizes.split(","), new_sizes.split(",")
    if old_type != new_type or len(before) != len(after) or "]" in (old_sizes, new_sizes):
        return False
    same_line = old.place is not None and old.place == new.place
    return same_line or sum(a != b for a, b in zip(before, after, strict=True)) == 1


def _is_state(operation: Operation) -> bool:
    return operation.place is not None and any(part in operation.place.path for part in _OPTIMIZERS)


def _places(operations: Sequence[Operation]) -> tuple[Place, ...]:
    return tuple(dict.fromkeys(one.place for one in operations if one.place is not None))


def _explain_operations(before: Graph, after: Graph) -> Cause | None:
    for index, (old, new) in enumerate(zip(before.operations, after.operations, strict=False)):
        if old.identity != new.identity:
            return _explain_inserted(before, after, index) or _explain_change(
                old, new, index == len(after.operations) - 1
            )
    fewer, more = len(before.operations), len(after.operations)
    if fewer == more:
        return None
    first = after.operations[fewer] if more > fewer else before.operations[more]
    return Cause("operations", f"{fewer} operations became {more}{_from(first)}", _places([first]))


def _explain_inserted(before: Graph, after: Graph, index: int) -> Cause | None:
    """Whether there is only something more, or less, before both go on alike."""
    old, new = before.operations[index], after.operations[index]
    if (old.opcode, old.origin) == (new.opcode, new.origin):
        return None
    goes_on = _is_among(old, after.operations[index + 1 : index + _LONGEST_INSERTION])
    was_there = _is_among(new, before.operations[index + 1 : index + _LONGEST_INSERTION])
    if goes_on == was_there:
        return None
    other, text = (new, f"{_name(new)} is new") if goes_on else (old, f"{_name(old)} is missing")
    return Cause("operations", text, _places([other]))


def _is_among(operation: Operation, others: Sequence[Operation]) -> bool:
    """Whether the same line does the same, with other settings perhaps."""
    own = (operation.opcode, operation.origin, operation.place)
    return any((one.opcode, one.origin, one.place) == own for one in others)


def _explain_change(old: Operation, new: Operation, is_last: bool) -> Cause:
    if is_last and old.opcode == new.opcode == "tuple":
        return Cause("outputs", "other results are kept")
    if (old.opcode, old.origin) != (new.opcode, new.origin):
        return Cause("operations", f"{_name(new)} instead of {_name(old)}", _places([new]))
    if old.opcode == "constant" and old.shape == new.shape:
        values = f"{_short(_together(old))} became {_short(_together(new))}"
        return Cause("constant", f"constant {values}{_from(new)}", _places([new]))
    if old.settings != new.settings:
        return Cause("setting", f"{_changed_setting(old, new)}{_from(new)}", _places([new]))
    return Cause("shape", f"{_name(new)} {old.shape} became {new.shape}", _places([new]))


def _changed_setting(old: Operation, new: Operation) -> str:
    before = dict(old.settings)
    for name, value in new.settings:
        if before.get(name, value) != value:
            was, now = _only_changed(before[name], value)
            return f"{name} {_short(was)} became {_short(now)}"
    return f"{old.opcode} {_short(_together(old))} became {_short(_together(new))}"


def _together(operation: Operation) -> str:
    return ", ".join(f"{name}={value}" if name else value for name, value in operation.settings)


def _only_changed(old: str, new: str) -> tuple[str, str]:
    """Of two lists of bounds, the first pair that is different."""
    before, after = re.findall(r"\[[^\]]*\]", old), re.findall(r"\[[^\]]*\]", new)
    if len(before) == len(after):
        for was, now in zip(before, after, strict=True):
            if was != now:
                return was, now
    return old, new


def _short(value: str) -> str:
    return value if len(value) <= _LONGEST_VALUE else value[: _LONGEST_VALUE - 3] + "..."


def _name(operation: Operation) -> str:
    return operation.origin or operation.opcode


def _from(operation: Operation) -> str:
    return f" in {operation.origin}" if operation.origin and operation.origin != "prim::Constant" else ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
