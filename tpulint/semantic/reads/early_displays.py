"""What is put together in every turn and looked at now and then: ``line = {"loss": loss.item()}``.

Or copied as a whole: ``image = output.cpu().numpy()``, with what is computed of the copy.
"""

from __future__ import annotations

import ast

from tpulint.records import NamedTuple
from tpulint.semantic.loops.regions import Pace
from tpulint.semantic.reads.reads import COPIES, How, Read
from tpulint.semantic.syntax.torch_facts import TENSOR_METHODS
from tpulint.semantic.values.kinds import Kind

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
_ARRAY_METHODS = frozenset({
    "argmax", "argmin", "astype", "clip", "copy", "flatten", "max", "mean", "min", "ravel", "reshape", "round", "std",
    "squeeze", "sum", "swapaxes", "tolist", "transpose",
})  # fmt: skip
_ARRAY_FUNCTIONS = frozenset({
    *_ARRAY_METHODS, "abs", "array", "asarray", "concatenate", "exp", "expand_dims", "moveaxis", "stack", "uint8",
    "where",
}) - {"astype", "tolist"}  # fmt: skip
"""Functions of NumPy that only look at what they are given."""
_RATES = frozenset({"get_last_lr", "param_groups"})


class EarlyDisplay(NamedTuple):
    """A display, text or copy that could be made where it is looked at."""

    statements: tuple[ast.Assign, ...]
    """The one that makes it, and those that go on from it, in order."""
    gate: ast.If
    """The block that opens now and then, and that alone looks at it."""
    place: ast.stmt
    """The statement of the block to put it in front of: behind those that were moved there before it."""


class EarlyDisplays:
    """Finds them in step loops."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def of(self, read: Read) -> EarlyDisplay | None:
        """The display or copy that a read is part of, if it can be made later."""
        index = self._index
        statement = index.statement_of(read.node)
        if not isinstance(statement, ast.Assign) or _name_of(statement) is None:
            return None
        is_copy = read.how is How.COPY and not read.scalar
        if not (is_copy or _is_display(statement.value)) or index.pace_of(statement) is not Pace.STEP:
            return None
        found = self._looked_at(statement)
        if found is None:
            return None
        moved, gate, uses = found
        suite = index.tree.suite_of(statement)
        between = [item for item in suite[suite.index(statement) : suite.index(gate)] if item not in moved]
        for item in moved:
            passed = between[sum(suite.index(one) < suite.index(item) for one in between) :]
            if not index.effects.of(item).is_movable or index.effects.clash(item, passed):
                return None
            if not self._only_reads(item) or (_shows_rates(item) and any(map(_steps, passed))):
                return None
        return EarlyDisplay(tuple(moved), gate, self._place(moved[0], gate, uses))

    def _looked_at(self, statement: ast.Assign) -> tuple[list[ast.Assign], ast.If, list[ast.Name]] | None:
        """What goes on from a statement, the one block that looks at what comes of it, and where it does."""
        index = self._index
        suite = index.tree.suite_of(statement)
        moved, gates, looks = [statement], set[ast.If](), list[ast.Name]()
        for item in moved:  # grows while it is walked
            name = _name_of(item)
            uses = None if name is None else index.held_values.uses_of(item, name)
            if not uses:
                return None
            for use in uses:
                user = next((one for one in suite[suite.index(item) + 1 :] if index.tree.encloses(one, use)), None)
                if isinstance(user, ast.If) and any(index.tree.encloses(one, use) for one in user.body):
                    gates.add(user)
                    looks.append(use)
                elif isinstance(user, ast.Assign) and not _is_display(statement.value):
                    moved += [user] if user not in moved else []
                else:
                    return None
        gate = gates.pop() if len(gates) == 1 else None
        if gate is None or index.pace_of(gate.body[0]) is not Pace.LOG_INTERVAL:
            return None
        return sorted(moved, key=index.span), gate, looks

    def _place(self, statement: ast.Assign, gate: ast.If, uses: list[ast.Name]) -> ast.stmt:
        """Where the block has it made: displays keep the order they were in, one moved behind the other."""
        passed: list[ast.stmt] = []
        for item in gate.body:
            is_like = isinstance(item, ast.Assign) and _name_of(item) is not None and self._only_reads(item)
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
            is_known = is_known or (name.startswith("numpy.") and name.removeprefix("numpy.") in _ARRAY_FUNCTIONS)
            return is_known or (name.startswith("torch.") and name.removeprefix("torch.") in _METHODS)
        if not isinstance(call.func, ast.Attribute):
            return False
        kind, method = self._index.kind(call.func.value), call.func.attr
        if method in _RATES or (kind is Kind.TENSOR and method in _METHODS):
            return True
        return kind is Kind.NUMPY and method in _ARRAY_METHODS


def _name_of(statement: ast.Assign) -> ast.Name | None:
    """The one variable that a statement gives a value."""
    target = statement.targets[0] if len(statement.targets) == 1 else None
    return target if isinstance(target, ast.Name) else None


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
