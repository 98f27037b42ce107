"""Host reads: where a value of the device is fetched, and what the program does with it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from enum import Enum

from tpulint.records import NamedTuple
from tpulint.semantic.devices.device_sites import devices_given
from tpulint.semantic.functions.default_flags import DefaultFlags
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.functions.passed_over import PassedOver
from tpulint.semantic.reads.implicit_reads import ImplicitReads
from tpulint.semantic.reads.shown_containers import ShownContainers
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.kinds import Kind, Kinds

COPIES = ("item", "tolist", "cpu", "numpy")
"""Tensor methods that fetch the value."""
CASTS = ("builtins.float", "builtins.int", "builtins.bool", "builtins.complex")
_TEXTS = ("builtins.str", "builtins.repr", "builtins.format", "builtins.print")
_LOG_METHODS = frozenset({"debug", "info", "warning", "warn", "error", "critical", "exception", "log"})
_ASKING = ("numpy.isnan", "numpy.isinf", "numpy.isfinite")
"""What NumPy is asked about one number, as of the norm of gradients that was a number of Python in older torch."""
_NO_LOGS = ("torch.", "math.", "numpy.", "labml.tracker.")
_BAR_METHODS = frozenset({"set_postfix", "set_postfix_str", "set_description", "set_description_str"})
_WRITER_METHODS = frozenset({
    "add_scalar", "add_scalars", "add_histogram", "log_metric", "log_metrics", "log_dict", "log_value",
})  # fmt: skip
_KEPT = frozenset({"log", "log_dict"})
_LOG_FUNCTIONS = frozenset({
    "wandb.log", "mlflow.log_metric", "mlflow.log_metrics", "tensorboard_logger.log_value", "tqdm.tqdm.write",
})  # fmt: skip
_COMPARISONS = frozenset({"torch.equal", "torch.allclose", "torch.is_nonzero"})


class How(Enum):
    """What makes the host fetch the value."""

    COPY = "copied to the host"
    CAST = "made a Python number"
    FORMAT = "formatted"
    PARTS = "formatted with the tensors in it"
    TRUTH = "asked whether it is true"
    NUMBER = "needed as a Python number"
    COMPARED = "compared by Python"


class Use(Enum):
    """What becomes of a value that was read."""

    TOTAL = "added to a running total"
    LIST = "collected in a list"
    BRANCH = "decides a branch"
    LOG = "shown or logged"
    NAME = "given a name"
    RETURN = "returned"
    OTHER = "used"


class Read(NamedTuple):
    """One expression that makes the host wait for the device."""

    node: ast.expr
    """The whole expression whose value is the host value: ``loss.detach().cpu().item()``."""
    tensor: ast.expr
    """The tensor that is fetched."""
    how: How
    use: Use
    certain: bool
    """Whether it is certain that the tensor lives on the device."""
    scalar: bool
    """Whether the result is one Python number."""


_READERS: tuple[type[ast.AST], ...] = (
    ast.Call, ast.FormattedValue, ast.BinOp, ast.If, ast.While, ast.IfExp, ast.Assert, ast.comprehension, ast.BoolOp,
    ast.UnaryOp, ast.Compare, ast.Subscript, ast.Assign, ast.AugAssign,
)  # fmt: skip
"""Nodes at which a value can be read."""


class Reads:
    """Finds the host reads below a node. Nested functions and lambdas run at another time and are left out."""

    def __init__(
        self,
        tree: SyntaxTree,
        names: Names,
        flow: Flow,
        kinds: Kinds,
        flags: DefaultFlags,
        dimensions_of: Callable[[ast.expr], int | None],
        is_moved: Callable[[ast.expr], bool],
        is_only_kept: Callable[[ast.Call], bool],
    ) -> None:
        self._tree = tree
        self._names = names
        self._kinds = kinds
        self._flags = flags
        self._is_only_kept = is_only_kept
        self._implicit = ImplicitReads(names, flow, kinds, dimensions_of, is_moved)
        self._shown = ShownContainers(tree, names, flow, kinds)
        self._passed_over = PassedOver(tree, names)
        self._memo: dict[ast.AST, list[Read]] = {}

    def inside(self, node: ast.AST) -> list[Read]:
        """Host reads below a node (itself included), in order of position."""
        found = self._memo.get(node)
        if found is None:
            items = (node, *self._tree.nodes_in(node, *_READERS, functions=False))
            reads = [read for item in items for read in self._at(item)]
            unique: dict[ast.expr, Read] = {}
            for read in reads:
                if not self._flags.leave_out(read.node, node) and not self._passed_over.holds(read.node, node):
                    unique.setdefault(read.node, read)
            found = self._memo[node] = sorted(unique.values(), key=lambda read: self._tree.span(read.node))
        return found

    def is_on_device(self, node: ast.expr) -> bool:
        """Whether an expression is a tensor on the device, as far as is known."""
        return self._kinds.is_on_device(node)

    def fetched_by_copy(self, call: ast.Call) -> ast.expr | None:
        """The tensor of the device that ``kept.copy_(loss)`` puts into one of the host."""
        return self._implicit.fetched_at(call)

    def is_bar(self, statement: ast.stmt) -> bool:
        """Whether a statement only changes the text beside a progress bar."""
        if isinstance(statement, ast.Assign):  # the bars of the package `progress`
            target = statement.targets[0]
            is_suffix = isinstance(target, ast.Attribute) and target.attr in ("suffix", "message")
            return is_suffix and len(statement.targets) == 1 and self.is_text(statement.value)
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
            return False
        func = statement.value.func
        return isinstance(func, ast.Attribute) and func.attr in _BAR_METHODS

    def is_output(self, call: ast.Call) -> bool:
        """Whether a call prints, logs or shows something."""
        if isinstance(self._tree.parents.get(call), ast.Expr) and any(self.is_text(item) for item in call.args):
            return True  # whatever is given a text made for people: `progress_bar(i, n, 'loss: %.3f' % loss)`
        return self._formats_arguments(call)

    def _formats_arguments(self, call: ast.Call) -> bool:
        """Whether a call makes text, or a point of a curve, of each of its arguments."""
        if self._names.qualified(call.func) in ("builtins.print", *_LOG_FUNCTIONS):
            return True
        if not isinstance(call.func, ast.Attribute):
            return False
        method = call.func.attr
        if method in _KEPT and isinstance(call.func.value, ast.Name) and call.func.value.id == "self":
            return False  # Lightning keeps the tensors, and reads them at its own interval
        if method in _BAR_METHODS or method in _WRITER_METHODS:
            return True
        name = self._names.qualified(call.func) or ""
        if method in _LOG_METHODS:
            return not name.startswith(_NO_LOGS) and not self._is_tensor(call.func.value)
        is_used = not isinstance(self._tree.parents.get(call), ast.Expr)
        return method == "write" and not is_used and not self._is_module(call.func)  # `self.write(memory)` of a network

    # ---------------------------------------------------------------- finding

    def _is_module(self, node: ast.expr) -> bool:
        return self._kinds.value(node).kind is Kind.MODULE

    def _is_tensor(self, node: ast.expr) -> bool:
        return self._kinds.value(node).kind in (Kind.TENSOR, Kind.NUMPY)

    def _at(self, node: ast.AST) -> Iterator[Read]:
        """Reads that happen at this very node."""
        if isinstance(node, ast.Call | ast.Assign | ast.AugAssign):
            fetched = self._implicit.fetched_at(node)
            if fetched is not None:
                yield self._read(fetched, fetched, How.COPY)
        if isinstance(node, ast.Call):
            yield from self._at_call(node)
            yield from (self._read(node, item, How.NUMBER) for item in self._implicit.numbers_at(node))
            compared = self._implicit.compared_at(node)
            if compared is not None:
                yield self._read(node, compared, How.COMPARED)
        elif isinstance(node, ast.FormattedValue):
            yield from self._formatted_part(node.value)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            if _is_format(node.left):
                for part in node.right.elts if isinstance(node.right, ast.Tuple) else (node.right,):
                    yield from self._formatted_part(part.value if isinstance(part, ast.Starred) else part)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            yield from (self._read(node, item, How.NUMBER) for item in self._implicit.numbers_at(node))
        elif isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
            yield from self._truth(node.test)
        elif isinstance(node, ast.comprehension):
            for test in node.ifs:
                yield from self._truth(test)
        elif isinstance(node, ast.BoolOp | ast.UnaryOp | ast.Compare):
            yield from (self._read(item, item, How.TRUTH) for item in self._implicit.truths_at(node))
        elif isinstance(node, ast.Subscript):
            yield from (self._read(item, item, How.NUMBER) for item in self._implicit.numbers_at(node))

    def is_text(self, node: ast.expr) -> bool:
        """Whether an expression formats a text."""
        if isinstance(node, ast.JoinedStr):
            return True
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            return _is_format(node.left)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            return isinstance(node.func.value, ast.Constant)
        return False

    def _truth(self, test: ast.expr) -> Iterator[Read]:
        if isinstance(test, ast.BoolOp):
            for value in test.values:
                yield from self._truth(value)
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yield from self._truth(test.operand)
        elif self.is_on_device(test) and not self._implicit.is_list(test):
            yield self._read(test, test, How.TRUTH)

    def _at_call(self, call: ast.Call) -> Iterator[Read]:
        func = call.func
        name = self._names.qualified(func)
        if isinstance(func, ast.Attribute) and name is None:
            if func.attr == "numpy" and not call.keywords:
                return  # what is on the device has none: it is on the host, or this raises
            if func.attr in COPIES or self._moves_to_host(call, func.attr):
                if self.is_on_device(func.value):
                    yield self._read(self._whole(call), func.value, How.COPY)
                return
            if func.attr == "format":
                if self._kinds.value(func.value).kind is Kind.HOST:
                    yield from self._formatted(call)
                return
        if name in CASTS or name == "builtins.chr" or (name is not None and name.startswith("math.")):
            for item in call.args:
                if self.is_on_device(item):
                    yield self._read(call if name in CASTS else item, item, How.CAST)
        elif name in _ASKING and call.args and self._implicit.is_number(call.args[0]):
            yield self._read(call.args[0], call.args[0], How.CAST)
        elif name in _COMPARISONS:
            for item in call.args[:2]:
                if self.is_on_device(item):
                    yield self._read(call, item, How.TRUTH)
                    break
        elif name in _TEXTS:
            yield from self._formatted(call)
        elif self._formats_arguments(call):
            shown = [*self._formatted(call)]
            yield from [] if shown and self._is_only_kept(call) else shown

    def _formatted(self, call: ast.Call) -> Iterator[Read]:
        for item in values_given(call):
            inner = item.value if isinstance(item, ast.Starred) else item
            parts: list[ast.expr] = [inner]
            if isinstance(inner, ast.Dict):
                parts = list(inner.values)
            elif isinstance(inner, ast.List | ast.Tuple):
                parts = list(inner.elts)
            for part in parts:
                yield from self._formatted_part(part)

    def _formatted_part(self, part: ast.expr) -> Iterator[Read]:
        """A tensor that is made text, or a dictionary or list that is made text with those in it."""
        if self.is_on_device(part):
            yield self._read(part, part, How.FORMAT)
        elif isinstance(part, ast.Name) and self._shown.has_tensors(part):
            yield self._read(part, part, How.PARTS)

    def _moves_to_host(self, call: ast.Call, method: str) -> bool:
        """``x.to("cpu")``, ``x.type(torch.FloatTensor)``"""
        sides = self._kinds.sides
        if method == "type":
            return any(map(sides.is_host_class, call.args))
        return method == "to" and any(sides.is_host(device, surely=True) for device in devices_given(call))

    # ---------------------------------------------------------------- describing

    def _whole(self, call: ast.Call) -> ast.expr:
        """The chain a copy begins: ``x.cpu()`` -> ``x.cpu().detach().numpy()``, ``float(x.cpu())``."""
        current: ast.expr = call
        while True:
            parent = self._tree.parents.get(current)
            outer = self._tree.parents.get(parent) if parent is not None else None
            if isinstance(parent, ast.Attribute) and isinstance(outer, ast.Call) and outer.func is parent:
                if parent.attr in (*COPIES, "detach", "clone", "float", "double", "int", "long", "squeeze", "flatten"):
                    current = outer
                    continue
            elif isinstance(parent, ast.Attribute) and parent.attr == "data":
                current = parent
                continue
            if isinstance(parent, ast.Call) and parent.args == [current] and not parent.keywords:
                return parent if self._names.qualified(parent.func) in CASTS else current
            return current

    def _read(self, node: ast.expr, tensor: ast.expr, how: How) -> Read:
        return Read(
            node, tensor, how, self._use(node, how), self._kinds.value(tensor).certain, self._is_scalar(node, how)
        )

    def _is_scalar(self, node: ast.expr, how: How) -> bool:
        if how is How.CAST:
            return True
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                return node.func.attr == "item"
            return self._names.qualified(node.func) in CASTS
        return False

    def _use(self, node: ast.expr, how: How) -> Use:
        """What the statement around a read does with it."""
        if how is How.TRUTH:
            return Use.BRANCH
        tree = self._tree
        child: ast.AST = node
        for ancestor in tree.ancestors(node):
            if isinstance(ancestor, ast.If | ast.While | ast.Assert) and child is ancestor.test:
                return Use.BRANCH
            if isinstance(ancestor, ast.IfExp) and child is ancestor.test:
                return Use.BRANCH
            if isinstance(ancestor, ast.Call) and child is not ancestor.func:
                if self.is_output(ancestor):
                    return Use.LOG
                if (
                    isinstance(ancestor.func, ast.Attribute)
                    and ancestor.func.attr == "append"
                    and isinstance(tree.parents[ancestor], ast.Expr)
                ):
                    return Use.LIST
            if isinstance(ancestor, ast.AugAssign):
                if isinstance(ancestor.value, ast.List) and isinstance(ancestor.op, ast.Add):
                    return Use.LIST if len(ancestor.value.elts) == 1 else Use.OTHER
                return Use.TOTAL if isinstance(ancestor.op, ast.Add) else Use.OTHER
            if isinstance(ancestor, ast.Assign):
                if adds_to_itself(ancestor):
                    return Use.TOTAL
                return (
                    Use.NAME if len(ancestor.targets) == 1 and isinstance(ancestor.targets[0], ast.Name) else Use.OTHER
                )
            if isinstance(ancestor, ast.Return):
                return Use.RETURN
            if isinstance(ancestor, ast.stmt):
                break
            child = ancestor
        return Use.OTHER


def _is_format(node: ast.expr) -> bool:
    """Whether a text is what ``%`` fills in: written out, or put together, ``"%11s" * 2 + "%11.4g" * 5``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        return _is_format(node.left) or _is_format(node.right)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def adds_to_itself(statement: ast.Assign) -> bool:
    """Whether a statement is ``x = x + ...``."""
    if len(statement.targets) != 1 or not isinstance(statement.targets[0], ast.Name):
        return False
    name = statement.targets[0].id
    value: ast.expr = statement.value
    while isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        if isinstance(value.right, ast.Name) and value.right.id == name:
            return True
        value = value.left
        if isinstance(value, ast.Name) and value.id == name:
            return True
    return False
