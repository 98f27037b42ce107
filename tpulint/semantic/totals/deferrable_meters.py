"""Meters of which the calls of each step may wait until somebody looks at them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.model import Pace
from tpulint.records import NamedTuple
from tpulint.semantic.reads.reads import Read, Use
from tpulint.semantic.totals.meter_classes import keeps_to_itself, lists_kept, may_be_derived

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.syntax.bindings import Binding

_TURNS = (Pace.STEP, Pace.EVALUATION)
_TAKING = ("builtins.", "numpy.", "math.", "statistics.", "torch.")
"""Functions that take numbers out of a list, and keep none."""


class DeferrableMeter(NamedTuple):
    """A meter that this file makes, with the calls that may wait."""

    creations: tuple[ast.Call, ...]
    methods: tuple[str, ...]
    """Those that turns call."""
    reads: tuple[Read, ...]
    """What they are given, and need no longer be read."""


def deferrable_meter(
    index: SemanticIndex, call: ast.Call, as_numbers: bool = False, held: frozenset[ast.expr] = frozenset()
) -> DeferrableMeter | None:
    """The meter whose method a call in a turn is, if nothing but such calls looks at it in every turn.

    It is given tensors of the device, or with ``as_numbers`` numbers that are read of them, each in a place of its own.
    Variables that are ``held`` count as such numbers.
    """
    func = call.func
    if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name | ast.Attribute):
        return None
    bindings = index.flow.bindings_of(func.value)
    creations = tuple(binding.value for binding in bindings if isinstance(binding.value, ast.Call))
    if not bindings or len(creations) < len(bindings) or not all(map(_gives_one_name, bindings)):
        return None
    owners = index.imported.classes_here(func.value, index)
    if len(owners) != 1 or not may_be_derived(owners[0]):
        return None
    methods: dict[str, None] = {}
    others: list[ast.expr] = []
    reads: list[Read] = []
    for use in _uses(index, func.value):
        found = _numbers_given(index, use, as_numbers, held)
        if found is None:
            others.append(use)
        else:
            name, read = found
            methods[name] = None
            reads += read
    if func.attr not in methods or not all(keeps_to_itself(owners[0], name) for name in methods):
        return None
    lists = frozenset().union(*(lists_kept(owners[0], name) for name in methods))
    if any(_is_in_way(index, use, methods) or _is_held(index, use, lists) for use in others):
        return None
    return DeferrableMeter(creations, tuple(methods), tuple(reads))


def _gives_one_name(binding: Binding) -> bool:
    """Whether a statement gives what it makes to this variable alone."""
    statement = binding.statement
    if binding.kind != "assign" or binding.path:
        return False
    return isinstance(statement, ast.AnnAssign) or (isinstance(statement, ast.Assign) and len(statement.targets) == 1)


def _uses(index: SemanticIndex, holder: ast.Name | ast.Attribute) -> Iterator[ast.expr]:
    """Where the variable is looked at, in all of the file."""
    if isinstance(holder, ast.Name):
        found = index.names.find_name(holder)
        yield from index.names.loads(holder.id, found[0]) if found is not None else ()
        return
    text = index.text(holder)
    yield from (
        node
        for node in index.tree.attributes_called(holder.attr)
        if isinstance(node.ctx, ast.Load) and index.text(node) == text
    )


def _numbers_given(
    index: SemanticIndex, use: ast.expr, as_numbers: bool, held: frozenset[ast.expr]
) -> tuple[str, list[Read]] | None:
    """The method that is called in a statement of its own with what the device has computed, and what is read of it."""
    part = index.parent(use)
    call = index.parent(part) if isinstance(part, ast.Attribute) else None
    if not isinstance(part, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not part:
        return None
    if not isinstance(index.parent(call), ast.Expr) or any(key.arg is None for key in call.keywords):
        return None
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if any(isinstance(item, ast.Starred | ast.List | ast.Tuple | ast.Dict) for item in given):
        return None
    if any(isinstance(ancestor, ast.Try) and ancestor.handlers for ancestor in index.tree.ancestors(call)):
        return None  # what it raises would be raised elsewhere
    has_tensors = any(map(index.is_device_tensor, given))
    if not as_numbers:
        is_steady = not any(index.is_device_tensor(item) and index.scalars.may_change(item) for item in given)
        return (part.attr, []) if has_tensors and is_steady else None
    reads = [(item, read) for item in given for read in index.reads.inside(item)]
    is_whole = all(
        read.use in (Use.OTHER, Use.LIST)
        and index.scalars.is_number(read)
        and index.meters.argument_of(read.node) is item
        for item, read in reads
    )
    is_given = bool(reads) or not held.isdisjoint(given)
    return (part.attr, [read for _, read in reads]) if is_given and is_whole and not has_tensors else None


def _is_held(index: SemanticIndex, use: ast.expr, lists: frozenset[str]) -> bool:
    """Whether a list that the meter fills is given another name, or handed on: it would not be filled in time."""
    part = index.parent(use)
    if not isinstance(part, ast.Attribute) or part.attr not in lists:
        return False
    user = index.parent(part)
    return isinstance(
        user, ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.keyword | ast.List | ast.Tuple | ast.Dict
    ) or (
        isinstance(user, ast.Call)
        and part in user.args
        and not (index.qualified_name(user.func) or "").startswith(_TAKING)
    )


def _is_in_way(index: SemanticIndex, use: ast.expr, methods: dict[str, None]) -> bool:
    """Whether the meter is looked at in every turn, which would have the numbers fetched there."""
    part = index.parent(use)
    if isinstance(part, ast.Attribute) and part.attr in methods:
        return True  # for what it returns, or with a number
    if _is_every_turn(index, use):
        return True
    statement = index.statement_of(use)
    taken = statement.value if isinstance(statement, ast.Assign) and not isinstance(part, ast.Attribute) else None
    if taken is None or not isinstance(statement, ast.Assign):
        return isinstance(part, ast.Return | ast.Yield)
    # `progress = ProgressMeter(steps, [losses, accuracy])` looks at it when it is looked at.
    targets = [target for target in statement.targets if isinstance(target, ast.Name | ast.Attribute)]
    return len(targets) < len(statement.targets) or any(
        _is_every_turn(index, other) for target in targets for other in _uses(index, target)
    )


def _is_every_turn(index: SemanticIndex, use: ast.expr) -> bool:
    return index.pace_of(use) in _TURNS and index.regions.gate_of(use) is None
