"""What is put together in every turn and looked at now and then: ``line = {"loss": loss.item()}``."""

from __future__ import annotations

import ast

from tpulint.records import NamedTuple
from tpulint.semantic.kinds import Kind
from tpulint.semantic.reads import COPIES, Read
from tpulint.semantic.regions import Pace
from tpulint.semantic.torch_facts import TENSOR_METHODS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DISPLAYS = (ast.Dict, ast.List, ast.Tuple, ast.JoinedStr)
_RUNNING = (
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Starred, ast.NamedExpr, ast.Lambda,
)  # fmt: skip
"""What may use up an iterator, binds a name, or runs at another time."""
_PLAIN = frozenset(f"builtins.{name}" for name in ("float", "int", "bool", "len", "round", "str", "abs"))
_METHODS = frozenset(name for name in TENSOR_METHODS if not name.endswith("_")) | set(COPIES)
_RATES = frozenset({"get_last_lr", "param_groups"})


class EarlyDisplay(NamedTuple):
    """A display or text that could be made where it is looked at."""

    statement: ast.Assign
    gate: ast.If
    """The block that opens now and then, and that alone looks at it."""
    place: ast.stmt
    """The statement of the block to put it in front of: behind those that were moved there before it."""


class EarlyDisplays:
    """Finds them in step loops."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

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
        if not self._index.effects.of(statement).is_movable or self._index.effects.clash(statement, between):
            return None
        if not self._only_reads(statement) or (_shows_rates(statement) and any(map(_steps, between))):
            return None
        return EarlyDisplay(statement, gate, self._place(statement, gate, uses))

    def _place(self, statement: ast.Assign, gate: ast.If, uses: list[ast.Name]) -> ast.stmt:
        """Where the block has it made: displays keep the order they were in, one moved behind the other."""
        passed: list[ast.stmt] = []
        for item in gate.body:
            is_like = isinstance(item, ast.Assign) and _is_display(item.value) and self._only_reads(item)
            if not is_like or any(self._index.tree.encloses(item, use) for use in uses):
                return item
            passed.append(item)
            if self._index.effects.clash(statement, passed):
                break
        return gate.body[0]

    def _only_reads(self, statement: ast.Assign) -> bool:
        """Whether making a display changes nothing and does not depend on the time: it looks at tensors and numbers."""
        nodes = list(ast.walk(statement.value))
        if any(isinstance(node, _RUNNING) for node in nodes):
            return False
        reads = {read.node for read in self._index.reads.inside(statement)}
        return all(node in reads or self._is_plain(node) for node in nodes if isinstance(node, ast.Call))

    def _is_plain(self, call: ast.Call) -> bool:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "format":
            return isinstance(call.func.value, ast.Constant)
        name = self._index.qualified_name(call.func)
        if name is not None:
            is_known = name in _PLAIN or name.startswith("math.")
            return is_known or (name.startswith("torch.") and name.removeprefix("torch.") in _METHODS)
        if not isinstance(call.func, ast.Attribute):
            return False
        is_tensor = self._index.kind(call.func.value) is Kind.TENSOR
        return call.func.attr in _RATES or (is_tensor and call.func.attr in _METHODS)


def _shows_rates(statement: ast.stmt) -> bool:
    """Whether a statement looks at learning rates, which a scheduler changes."""
    names = (node.attr for node in ast.walk(statement) if isinstance(node, ast.Attribute))
    return not _RATES.isdisjoint(names)


def _steps(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == "step" for node in ast.walk(statement))


def _is_display(value: ast.expr) -> bool:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "format":
        value = value.func.value
        return isinstance(value, ast.Constant) and isinstance(value.value, str)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mod):
        return isinstance(value.left, ast.Constant) and isinstance(value.left.value, str)
    return isinstance(value, _DISPLAYS)
