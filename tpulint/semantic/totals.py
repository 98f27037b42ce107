"""Running totals of a loop that are kept on the host: ``total += loss.item()``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from tpulint.semantic.kinds import Kind
from tpulint.semantic.names import Binding
from tpulint.semantic.reads import How, Read, adds_to_itself
from tpulint.semantic.regions import Pace
from tpulint.semantic.tree import LoopNode

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_INTEGER_METHODS = frozenset({"eq", "ne", "lt", "gt", "le", "ge", "argmax", "argmin", "long", "int", "bool", "count_nonzero",
                              "logical_and", "logical_or", "logical_not", "isin", "isnan", "isfinite"})  # fmt: skip
_SHAPE_METHODS = frozenset({"sum", "view", "reshape", "squeeze", "unsqueeze", "flatten", "cpu", "cuda", "detach", "clone", "max",
                            "min", "view_as", "contiguous", "item", "to", "all", "any", "t", "transpose", "expand_as"})  # fmt: skip
"""Methods whose result has the dtype of the tensor they are called on (or, for sums of booleans, is an integer too)."""
_INTEGER_FUNCTIONS = frozenset({f"torch.{name}" for name in _INTEGER_METHODS})


class Total(NamedTuple):
    """One total and everything that must change when it moves to the device."""

    loop: LoopNode
    target: ast.expr
    """What is added to, as written in the first addition."""
    additions: tuple[ast.stmt, ...]
    reads: tuple[Read, ...]
    """All host reads in the additions."""
    start: ast.expr | None
    """The literal 0 the variable starts from in front of the loop; None when the total needs a variable of its own."""
    start_statement: ast.stmt | None
    resets: tuple[ast.expr, ...]
    """Literals that set the variable back to 0 inside the loop."""
    uses: tuple[ast.Name, ...]
    """Places inside the loop that need the number."""
    is_used_behind: bool
    """Whether the number is needed outside of the loop."""
    is_count: bool
    """Whether only whole numbers are added."""


class Totals:
    """Finds the running totals of step loops and evaluation loops."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def of(self, loop: LoopNode) -> list[Total]:
        """Totals of a loop that can move to the device."""
        index = self._index
        groups: dict[str, list[ast.stmt]] = {}
        targets: dict[str, ast.expr] = {}
        for node in index.tree.inside(loop, functions=False):
            target = _target(node)
            if target is None or index.tree.loop_of(node) is not loop:
                continue
            assert isinstance(node, ast.AugAssign | ast.Assign)
            if index.reads.inside(node.value):
                key = index.text(target)
                groups.setdefault(key, []).append(node)
                targets.setdefault(key, target)
        result = []
        for key, additions in groups.items():
            additions.sort(key=index.span)
            total = self._total(loop, _target(additions[0]) or targets[key], additions)
            if total is not None:
                result.append(total)
        return sorted(result, key=lambda total: index.span(total.target))

    def device_text(self, loop: LoopNode) -> str | None:
        """How the device is written where the loop moves its batches, if that can be written in front of the loop too."""
        index = self._index
        begin = index.span(loop).start
        for call, _ in index.method_calls("to"):
            devices = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "device")]
            if not devices or not index.tree.encloses(loop, call):
                continue
            device = devices[-1]
            root: ast.expr = device
            while isinstance(root, ast.Attribute):
                root = root.value
            if (
                not isinstance(root, ast.Name)
                or (index.kind(device) is not Kind.DEVICE
                and "device" not in index.text(device).lower())
            ):
                continue
            bindings = index.names.bindings(root)
            same = index.names.find(root.id, index.names.scope_of(loop))
            if (
                not bindings
                or same is None
                or same[1] is not bindings
                or index.function_of(call) is not index.function_of(loop)
            ):
                continue
            here = same[0] is index.names.scope_of(loop)
            if not here or all(b.kind == "parameter" or index.span(b.node).start < begin for b in bindings):
                return index.text(device)
        return None

    # ---------------------------------------------------------------- one total

    def _total(self, loop: LoopNode, target: ast.expr, additions: list[ast.stmt]) -> Total | None:
        index = self._index
        reads: list[Read] = []
        for statement in additions:
            assert isinstance(statement, ast.AugAssign | ast.Assign)
            found = index.reads.inside(statement)
            if not is_arithmetic(index, statement.value, {read.node for read in found}):
                return None
            reads.extend(found)
        if not all(self.is_number(read) for read in reads):
            return None
        counts = all(self._adds_integer(statement, {read.node for read in reads}) for statement in additions)
        total = Total(loop, target, tuple(additions), tuple(reads), None, None, (), (), True, counts)
        if isinstance(target, ast.Name):
            own = self._as_own_variable(total, target)
            if own is not None:
                return own
        return total if self._is_unused_inside(total) else None

    def is_addition(self, statement: ast.stmt) -> bool:
        """Whether a statement adds to a variable."""
        return _target(statement) is not None

    def is_number(self, read: Read) -> bool:
        """Whether a read gives a number that the tensor itself can stand in for."""
        if not read.scalar:
            return False
        if read.how is How.CAST and isinstance(read.node, ast.Call):
            name = self._index.qualified_name(read.node.func)
            if name == "builtins.int":
                return self.is_integer(read.tensor)
            return name == "builtins.float"
        return True

    def _adds_integer(self, statement: ast.stmt, reads: set[ast.expr]) -> bool:
        assert isinstance(statement, ast.AugAssign | ast.Assign)
        target = _target(statement)

        def integer(node: ast.expr) -> bool:
            if node in reads:
                read = next(r for r in self._index.reads.inside(statement) if r.node is node)
                is_float = isinstance(node, ast.Call) and self._index.qualified_name(node.func) == "builtins.float"
                return not is_float and self.is_integer(read.tensor)
            if isinstance(node, ast.BinOp):
                return isinstance(node.op, ast.Add | ast.Sub | ast.Mult) and integer(node.left) and integer(node.right)
            if isinstance(node, ast.Name) and isinstance(target, ast.Name) and node.id == target.id:
                return True
            return isinstance(node, ast.Constant) and isinstance(node.value, int)

        return integer(statement.value)

    def is_integer(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a tensor is known to hold integers or booleans."""
        index = self._index
        if depth > 8:
            return False
        if isinstance(node, ast.Compare):
            return True
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.BitAnd | ast.BitOr):
                return True
            plain = isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.FloorDiv | ast.Mod)
            return plain and self.is_integer(node.left, depth + 1) and self.is_integer(node.right, depth + 1)
        if isinstance(node, ast.UnaryOp):
            return self.is_integer(node.operand, depth + 1)
        if isinstance(node, ast.Attribute):
            return node.attr == "data" and self.is_integer(node.value, depth + 1)
        if isinstance(node, ast.Subscript):
            return self.is_integer(node.value, depth + 1)
        if isinstance(node, ast.Name):
            bindings = index.flow.reaching(node)
            return bool(bindings) and all(
                b.kind in ("assign", "augment") and b.value is not None and not b.path and self.is_integer(b.value, depth + 1)
                for b in bindings
            )  # fmt: skip
        if isinstance(node, ast.Call):
            name = index.qualified_name(node.func)
            if any(
                k.arg == "dtype" and index.qualified_name(k.value) in ("torch.long", "torch.int64")
                for k in node.keywords
            ):
                return True
            if name is not None:
                if name in _INTEGER_FUNCTIONS:
                    return True
                return name == "torch.sum" and bool(node.args) and self.is_integer(node.args[0], depth + 1)
            if isinstance(node.func, ast.Attribute):
                if node.func.attr in _INTEGER_METHODS:
                    return True
                if node.func.attr == "to" and any("float" in index.text(item) for item in (*node.args, *node.keywords)):
                    return False
                return node.func.attr in _SHAPE_METHODS and self.is_integer(node.func.value, depth + 1)
        return False

    # ---------------------------------------------------------------- where the variable lives

    def _as_own_variable(self, total: Total, target: ast.Name) -> Total | None:
        """The total kept in its own variable: possible when everything that happens to the variable is seen."""
        index, loop = self._index, total.loop
        names = index.names
        scope = names.scope_of(target)
        found = names.find(target.id, scope)
        function = index.function_of(loop)
        if found is None or found[0] is not names.scope_of(loop) or index.function_of(target) is not function:
            return None
        start = self._start(loop, found[1])
        if start is None or not isinstance(start.statement, ast.stmt):
            return None
        resets: list[ast.expr] = []
        for binding in found[1]:
            if not index.tree.encloses(loop, binding.node) or binding.statement in total.additions:
                continue
            if binding.kind != "assign" or binding.value is None or not _is_zero(_element(binding)):
                return None
            if index.tree.loop_of(binding.statement) is not loop:
                return None
            element = _element(binding)
            assert element is not None
            resets.append(element)
        uses: list[ast.Name] = []
        used_behind = False
        loop_span, start_end = index.span(loop), index.span(start.statement).end
        for name in index.tree.names:
            if name.id != target.id or not isinstance(name.ctx, ast.Load):
                continue
            home = names.find(name.id, names.scope_of(name))
            if home is None or home[0] is not found[0]:
                continue
            if index.function_of(name) is not function or any(
                isinstance(a, ast.Lambda) for a in index.tree.ancestors(name)
            ):
                return None  # another function sees the variable, at a time nobody knows
            at = index.span(name).start
            if start_end <= at < loop_span.start:
                return None
            used_behind = used_behind or not loop_span.start <= at < loop_span.end
            if not loop_span.start <= at < loop_span.end or any(index.tree.encloses(s, name) for s in total.additions):
                continue
            if not any(index.tree.encloses(item, name) for item in loop.body) or not self._may_read(name):
                return None
            uses.append(name)
        element = _element(start)
        shared = isinstance(start.statement, ast.Assign) and len(start.statement.targets) > 1
        return total._replace(
            start=None if shared else element, start_statement=start.statement, resets=tuple(resets),
            uses=tuple(sorted(uses, key=index.span)), is_used_behind=used_behind,
        )  # fmt: skip

    def _start(self, loop: LoopNode, bindings: list[Binding]) -> Binding | None:
        """The binding to a literal 0 that holds whenever the loop begins."""
        index = self._index
        begin = index.span(loop).start
        before = [b for b in bindings if b.kind in ("parameter", "import") or index.span(b.node).start < begin]
        if not before:
            return None
        start = before[-1]
        if start.kind != "assign" or not _is_zero(_element(start)) or not index.flow.dominates(start, loop):
            return None
        outer = index.tree.loop_of(loop)
        return start if outer is None or index.tree.encloses(outer, start.statement) else None

    def _may_read(self, use: ast.Name) -> bool:
        """Whether reading the total here costs no more than what was read before."""
        index = self._index
        if index.pace_of(use) is Pace.LOG_INTERVAL:
            return True
        if isinstance(index.statement_of(use), ast.Return):
            return True
        for ancestor in index.tree.ancestors(use):
            if isinstance(ancestor, ast.Call) and index.reads.is_output(ancestor):
                return True
            if isinstance(ancestor, ast.stmt):
                return False
        return False

    def _is_unused_inside(self, total: Total) -> bool:
        """Whether nothing in the loop looks at the target, so that a variable of its own can stand in for it."""
        index = self._index
        name = _last_name(total.target)
        if name is None:
            return False
        regions = [total.loop, *index.regions.functions_in(total.loop)]
        for region in regions:
            for node in index.tree.inside(region, functions=False):
                if any(index.tree.encloses(statement, node) for statement in total.additions):
                    continue
                if (
                    (isinstance(node, ast.Name)
                    and node.id == name)
                    or (isinstance(node, ast.Attribute)
                    and node.attr == name)
                ):
                    return False
                if isinstance(node, ast.Return) and region is total.loop:
                    return False
        return not isinstance(total.target, ast.Subscript) or _is_plain(total.target)


def is_arithmetic(index: SemanticIndex, node: ast.expr, reads: set[ast.expr]) -> bool:
    """Whether an expression is sums, products and quotients of these reads and of host values."""
    if node in reads:
        return True
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
        return is_arithmetic(index, node.left, reads) and is_arithmetic(index, node.right, reads)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return is_arithmetic(index, node.operand, reads)
    return not index.reads.inside(node)


def _target(node: ast.AST) -> ast.expr | None:
    """What a statement adds to."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        return node.target
    if isinstance(node, ast.Assign) and adds_to_itself(node):
        return node.targets[0]
    return None


def _element(binding: Binding) -> ast.expr | None:
    """The part of the assigned expression that the binding takes."""
    value = binding.value
    for at in binding.path:
        if not isinstance(value, ast.Tuple | ast.List) or not 0 <= at < len(value.elts):
            return None
        value = value.elts[at]
    return value


def _is_zero(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value == 0


def _last_name(target: ast.expr) -> str | None:
    if isinstance(target, ast.Name):
        return target.id
    if isinstance(target, ast.Attribute):
        return target.attr
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        return target.value.id
    return None


def _is_plain(target: ast.Subscript) -> bool:
    """Whether a subscript means the same place in front of, inside and behind the loop."""
    return isinstance(target.slice, ast.Constant)


__all__ = ["Total", "Totals"]
