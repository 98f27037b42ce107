"""Dicts that hold the numbers of one step, and that are looked at now and then: ``losses["d"] = d_loss.item()``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpulint.records import NamedTuple
from tpulint.semantic.contents import key_of
from tpulint.semantic.reads import Read
from tpulint.semantic.regions import Pace

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


class KeptDict(NamedTuple):
    """A dict that can hold tensors until somebody looks at it."""

    name: str
    reads: tuple[Read, ...]
    """The reads of all values that it is given."""
    gates: tuple[ast.If, ...]
    """Blocks that open now and then, and that alone look at it."""


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


def _item(statement: ast.stmt) -> ast.Subscript | None:
    """What ``values["loss"] = x`` sets."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    return target if isinstance(target, ast.Subscript) and key_of(target) is not None else None


def _is_empty(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Call):
        is_dict = isinstance(value.func, ast.Name) and value.func.id in ("dict", "OrderedDict")
        return is_dict and not value.args and not value.keywords
    return isinstance(value, ast.Dict) and not value.keys
