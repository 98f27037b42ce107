"""Dicts that hold the numbers of one step, and that are looked at now and then: ``losses["d"] = d_loss.item()``."""

from __future__ import annotations

import ast

from tpulint.records import NamedTuple
from tpulint.semantic.loops.regions import Pace
from tpulint.semantic.reads.reads import How, Read
from tpulint.semantic.values.contents import key_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.syntax.nodes import LoopNode


class KeptDict(NamedTuple):
    """A dict that can hold tensors until somebody looks at it."""

    name: str
    reads: tuple[Read, ...]
    """The reads of all values that it is given."""
    gates: tuple[ast.If, ...]
    """Blocks that open now and then, and that alone look at it."""


class SummedDict(NamedTuple):
    """A dict of sums that a function adds to in every turn, and that its callers look at behind their loops."""

    reads: tuple[Read, ...]
    """The reads of all that the function adds."""
    loops: tuple[tuple[LoopNode, str], ...]
    """The loops that call it, and the names that they have for the dict."""


class KeptDicts:
    """Finds them in step loops."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def of(self, read: Read) -> KeptDict | None:
        """The dict that a read is put into, if it can hold the tensor instead."""
        index = self._index
        loop = index.tree.loop_of(read.node)
        item = _item(index.statement_of(read.node))
        if item is None or loop not in index.regions.turn_loops or not isinstance(item.value, ast.Name):
            return None
        scope = index.names.scope_of(item.value)
        found = index.names.find(item.value.id, scope)
        if found is None or found[0] is not scope or len(found[1]) != 1:
            return None
        start = found[1][0]
        if start.kind != "assign" or not _is_empty(start.value) or index.tree.loop_of(start.statement) is not loop:
            return None  # it is not made anew in every turn
        reads: list[Read] = []
        gates: list[ast.If] = []
        for use in index.names.loads(item.value.id, scope):
            if index.function_of(use) is not index.function_of(read.node) or index.tree.lambda_of(use) is not None:
                return None
            statement = index.statement_of(use)
            given = _item(statement)
            if given is None or given.value is not use or not isinstance(statement, ast.Assign):
                gate = index.regions.gate_of(use)
                if not isinstance(gate, ast.If) or index.pace_of(use) is not Pace.LOG_INTERVAL:
                    return None
                if not any(index.tree.encloses(one, use) for one in gate.body):
                    return None
                gates.append(gate)
                continue
            put = index.reads.inside(statement)
            nodes = {one.node for one in put}
            if not put or not all(map(index.scalars.is_number, put)):
                return None
            if not index.scalars.is_arithmetic(statement.value, nodes):
                return None
            reads += put
        unique = list(dict.fromkeys(gates))
        outer = [gate for gate in unique if not any(index.tree.encloses(o, gate) for o in unique if o is not gate)]
        if not outer or any(index.tree.loop_of(gate) is not loop for gate in outer):
            return None
        return KeptDict(item.value.id, tuple(reads), tuple(outer))

    def summed(self, read: Read) -> SummedDict | None:
        """The dict that a function has from its callers and adds a read to: ``metrics["loss"] += loss.item() * n``."""
        index = self._index
        function = index.function_of(read.node)
        name = _added_to(index.statement_of(read.node))
        if name is None or function is None:
            return None
        bindings = index.flow.reaching(name)
        calls = index.definitions.calls_of(function)
        if len(bindings) != 1 or bindings[0].kind != "parameter" or bindings[0].statement is not function or not calls:
            return None
        reads: list[Read] = []
        for use in index.names.loads(name.id, index.names.scope_of(name)):
            statement = index.statement_of(use)
            put = index.reads.inside(statement)
            if _added_to(statement) is not use or not put or not isinstance(statement, ast.AugAssign):
                return None
            if not index.scalars.is_arithmetic(statement.value, {one.node for one in put}):
                return None
            reads += put
        given = index.definitions.arguments.of(function, name.id)
        loops = [self._summing_loop(call, item) for call, item in zip(calls, given, strict=False)]
        found = tuple(dict.fromkeys(loop for loop in loops if loop is not None))
        if len(given) != len(calls) or None in loops or not all(map(self._is_copy, reads)):
            return None
        return SummedDict(tuple(reads), found)

    def _is_copy(self, read: Read) -> bool:
        """Whether a read gives one number, or the array that the tensor is."""
        if read.how is How.COPY and isinstance(read.node, ast.Call) and isinstance(read.node.func, ast.Attribute):
            return read.node.func.attr in ("item", "numpy")
        return self._index.scalars.is_number(read)

    def _summing_loop(self, call: ast.Call, given: ast.expr) -> tuple[LoopNode, str] | None:
        """The loop around a call that is given a dict, where that begins empty in front and is not looked at within."""
        index, loop = self._index, self._index.tree.loop_of(call)
        if loop is None or loop not in index.regions.turn_loops or not isinstance(given, ast.Name):
            return None
        bindings = index.flow.reaching(given)
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
        made = isinstance(value, ast.Call) and index.qualified_name(value.func) == "collections.defaultdict"
        if not made or index.tree.encloses(loop, bindings[0].statement):
            return None
        inside = [
            use
            for use in index.names.loads(given.id, index.names.scope_of(given))
            if index.tree.encloses(loop, use) and use is not given
        ]
        return None if inside else (loop, given.id)


def _added_to(statement: ast.stmt) -> ast.Name | None:
    """The dict in ``sums["loss"] += x``."""
    target = statement.target if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add) else None
    is_item = isinstance(target, ast.Subscript) and key_of(target) is not None
    return (
        target.value if is_item and isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) else None
    )


def _item(statement: ast.stmt) -> ast.Subscript | None:
    """What ``values["loss"] = x`` sets."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    return target if isinstance(target, ast.Subscript) and key_of(target) is not None else None


def _is_empty(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Call):
        is_dict = isinstance(value.func, ast.Name) and value.func.id in ("dict", "OrderedDict")
        return is_dict and not value.args and not value.keywords
    return isinstance(value, ast.Dict) and not value.keys
