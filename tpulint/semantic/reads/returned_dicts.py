"""Dicts of numbers that a function returns in every step: ``return loss, {"real": real.item()}``."""

from __future__ import annotations

import ast

from tpulint.records import NamedTuple
from tpulint.semantic.loops.regions import Pace, Step
from tpulint.semantic.reads.reads import Read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


class ReturnedDict(NamedTuple):
    """A function that can return tensors in its dict, which callers look at now and then alone."""

    reads: tuple[Read, ...]
    gates: tuple[tuple[str, ast.If], ...]
    """Names that callers give the dict, with the blocks that open now and then and alone look at it."""


def returned_dict(index: SemanticIndex, read: Read, loop: Step) -> ReturnedDict | None:
    """The dict that a read is put into, which a function of the step makes and returns."""
    function = index.function_of(read.node)
    if function not in loop.functions or not isinstance(function, ast.FunctionDef):
        return None
    made = _dict_around(index, read)
    found = None if made is None else index.returned_values.result_of(function)
    if made is None or found is None:
        return None
    _, whole, calls = found
    values = whole.elts if isinstance(whole, ast.Tuple) else [whole]
    at = _place(index, made, values)
    reads = [_number_in(index, value) for value in _values(index, made) or [made]]
    if at is None or None in reads:
        return None
    gates: list[tuple[str, ast.If]] = []
    for call in calls:
        opened = _gates(index, call, at if isinstance(whole, ast.Tuple) else None)
        if opened is None:
            return None
        gates += opened
    return ReturnedDict(tuple(one for found in reads for one in found or ()), tuple(dict.fromkeys(gates)))


def _dict_around(index: SemanticIndex, read: Read) -> ast.expr | None:
    """The dict that a read is a value of, alone or with other numbers."""
    for ancestor in index.tree.ancestors(read.node):
        if isinstance(ancestor, ast.Dict) or _values(index, ancestor) is not None:
            return ancestor if isinstance(ancestor, ast.Dict | ast.Call) else None
        if not isinstance(ancestor, ast.BinOp | ast.UnaryOp | ast.keyword):
            return None
    return None


def _values(index: SemanticIndex, made: ast.AST) -> list[ast.expr] | None:
    """What ``{"a": x}`` or ``dict(a=x)`` holds under keys that are written there; None for anything else."""
    if isinstance(made, ast.Dict):
        return made.values if all(isinstance(key, ast.Constant) for key in made.keys) else None
    if not isinstance(made, ast.Call) or made.args or index.qualified_name(made.func) != "builtins.dict":
        return None
    return [keyword.value for keyword in made.keywords] if all(keyword.arg for keyword in made.keywords) else None


def _number_in(index: SemanticIndex, value: ast.expr) -> list[Read] | None:
    """The reads in one value that is arithmetic on them; None where a tensor cannot stand in, or there is none."""
    reads = index.reads.inside(value)
    is_number = bool(reads) and all(map(index.scalars.is_number, reads))
    return reads if is_number and index.scalars.is_arithmetic(value, {read.node for read in reads}) else None


def _place(index: SemanticIndex, made: ast.expr, values: list[ast.expr]) -> int | None:
    """Which of the returned values the dict is, by itself or by a variable that nothing else looks at."""
    if made in values:
        return values.index(made)
    statement = index.statement_of(made)
    if not isinstance(statement, ast.Assign) or statement.value is not made or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    uses = index.held_values.uses_of(statement, target) if isinstance(target, ast.Name) else None
    places = [at for at, value in enumerate(values) if value in (uses or ())]
    return places[0] if uses is not None and len(uses) == len(places) == 1 else None


def _gates(index: SemanticIndex, call: ast.Call, at: int | None) -> list[tuple[str, ast.If]] | None:
    """The blocks of a caller that look at the dict; None where it is looked at in every turn, or not all is seen."""
    statement, loop = index.statement_of(call), index.tree.loop_of(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call or len(statement.targets) != 1:
        return None
    target: ast.expr | None = statement.targets[0]
    if at is not None:
        parts = target.elts if isinstance(target, ast.Tuple) else []
        target = parts[at] if at < len(parts) else None
    uses = index.held_values.uses_of(statement, target) if isinstance(target, ast.Name) else None
    if uses is None or not isinstance(target, ast.Name):
        return None
    gates: list[tuple[str, ast.If]] = []
    for use in uses:
        gate = index.regions.gate_of(use)
        if not isinstance(gate, ast.If) or index.pace_of(use) is not Pace.LOG_INTERVAL:
            return None
        if index.tree.loop_of(gate) is not loop or not any(index.tree.encloses(one, use) for one in gate.body):
            return None
        gates.append((target.id, gate))
    return gates
