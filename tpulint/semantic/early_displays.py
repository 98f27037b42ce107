"""What is put together in every turn and looked at now and then: ``line = {"loss": loss.item()}``."""

from __future__ import annotations

import ast

from tpulint.records import NamedTuple
from tpulint.semantic.effects import Effects
from tpulint.semantic.reads import Read
from tpulint.semantic.regions import Pace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DISPLAYS = (ast.Dict, ast.List, ast.Tuple, ast.JoinedStr)


class EarlyDisplay(NamedTuple):
    """A display or text that could be made where it is looked at."""

    statement: ast.Assign
    gate: ast.If
    """The block that opens now and then, and that alone looks at it."""


class EarlyDisplays:
    """Finds them in step loops."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._effects = Effects(index)

    def of(self, read: Read) -> EarlyDisplay | None:
        """The display that a read is part of, if it can be made later."""
        index = self._index
        statement = index.statement_of(read.node)
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if not isinstance(target, ast.Name) or not isinstance(statement, ast.Assign):
            return None
        if not _is_display(statement.value) or index.pace_of(statement) is not Pace.STEP:
            return None
        uses = index.held_values.uses_of(statement, target)
        suite = index.tree.suite_of(statement)
        later = suite[suite.index(statement) + 1 :]
        gate = next((item for item in later if uses and index.tree.encloses(item, uses[0])), None)
        if not uses or not isinstance(gate, ast.If) or index.pace_of(gate.body[0]) is not Pace.LOG_INTERVAL:
            return None
        if not all(any(index.tree.encloses(item, use) for item in gate.body) for use in uses):
            return None
        between = later[: later.index(gate)]
        if not self._effects.of(statement).is_movable or self._effects.clash(statement, between):
            return None
        return EarlyDisplay(statement, gate)


def _is_display(value: ast.expr) -> bool:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "format":
        value = value.func.value
        return isinstance(value, ast.Constant) and isinstance(value.value, str)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mod):
        return isinstance(value.left, ast.Constant) and isinstance(value.left.value, str)
    return isinstance(value, _DISPLAYS)
