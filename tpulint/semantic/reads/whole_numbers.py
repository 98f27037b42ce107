"""Numbers that have to stay integers or booleans, where numbers fetched together all become floats."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from string import Formatter

from tpulint.semantic.reads.reads import How, Read
from tpulint.semantic.syntax.bindings import Binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 6
_ANSWERS = frozenset({
    "eq", "ne", "lt", "gt", "le", "ge", "logical_and", "logical_or", "logical_not", "logical_xor", "isin", "isnan",
    "isinf", "isfinite", "all", "any", "bool", "equal", "allclose", "is_nonzero", "isclose",
})  # fmt: skip
_KEEPING = frozenset({
    "sum", "view", "reshape", "squeeze", "unsqueeze", "flatten", "cpu", "cuda", "detach", "clone", "max", "min", "to",
    "contiguous", "amax", "amin", "median", "mode", "abs", "cumsum", "prod", "select", "gather", "sort", "topk",
    "unique", "index_select", "masked_select", "t", "transpose", "numpy", "clamp", "ravel", "where",
    "maximum", "minimum",
})  # fmt: skip
"""Functions and methods whose result has the dtype they are given."""
_COUNTING = frozenset({
    "argmax", "argmin", "argsort", "nonzero", "numel", "bincount", "multinomial", "randint", "randperm", "arange",
    "tensor", "as_tensor", "from_numpy", "searchsorted", "bucketize", "full", "count_nonzero", "long", "int", "sample",
})  # fmt: skip
_WITH_PLACES = frozenset({"max", "min", "median", "mode", "sort", "topk", "cummax", "cummin"})
"""Give the values and their places."""
_TAKING_WHOLE = frozenset({"range", "isinstance", "type", "bool", "chr", "hex", "bin", "oct", "format", "slice"})
_SIZES = frozenset({"zeros", "ones", "empty", "full", "arange", "randn", "rand", "randint", "randperm", "eye"})
_PLACED = frozenset({"pop", "insert", "narrow", "select", "view", "reshape", "repeat", "expand", "to_bytes"})


def may_lose_its_type(index: SemanticIndex, read: Read) -> bool:
    """Whether a read gives an integer or a boolean, as far as is known, that a float cannot stand in for."""
    if isinstance(read.node, ast.Call) and index.qualified_name(read.node.func) == "builtins.bool":
        return True
    if read.how is How.CAST:
        return False
    if _is_answer(index, read.tensor):
        return True
    if index.number_types.is_integer(read.tensor):
        return False
    return _may_be_whole(index, read.tensor) or _is_needed_whole(index, read)


def _is_answer(index: SemanticIndex, node: ast.expr, depth: int = 0) -> bool:
    """Whether a tensor holds a boolean."""
    if isinstance(node, ast.Compare):
        return True
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        return isinstance(node.op, ast.BitAnd | ast.BitOr) and any(_is_answer(index, side, depth) for side in sides)
    if isinstance(node, ast.UnaryOp):
        return _is_answer(index, node.operand, depth)
    if isinstance(node, ast.Subscript):
        return _is_answer(index, node.value, depth)
    if isinstance(node, ast.Name):
        bindings = index.flow.reaching(node) if depth < _DEPTH else ()
        return any(
            b.value is not None and not b.path and b.kind == "assign" and _is_answer(index, b.value, depth + 1)
            for b in bindings
        )
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr in _ANSWERS:
        return True
    given = _given(index, node)
    keeps = node.func.attr in _KEEPING and node.func.attr not in ("sum", "cumsum", "prod", "to")
    return keeps and given is not None and _is_answer(index, given, depth)


def _may_be_whole(index: SemanticIndex, node: ast.expr, depth: int = 0) -> bool:
    """Whether a tensor may hold integers: labels, parts of a batch, and what ``max`` and places make of them."""
    if depth > _DEPTH:
        return False
    if index.number_types.is_integer(node):
        return True
    if isinstance(node, ast.Attribute):
        bindings = index.flow.reaching_attribute(node)
        if bindings:
            return any(_is_bound_to_whole(index, binding, depth) for binding in bindings)
        return _may_be_whole(index, node.value, depth + 1)
    if isinstance(node, ast.Subscript):
        return _may_be_whole(index, node.value, depth + 1)
    if isinstance(node, ast.UnaryOp):
        return _may_be_whole(index, node.operand, depth + 1)
    if isinstance(node, ast.IfExp):
        return any(_may_be_whole(index, item, depth + 1) for item in (node.body, node.orelse))
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Div):
            return False
        return all(_is_whole(item) or _may_be_whole(index, item, depth + 1) for item in (node.left, node.right))
    if isinstance(node, ast.Name):
        if index.scalars.losses.is_loss(node):
            return False
        return any(_is_bound_to_whole(index, binding, depth) for binding in index.flow.reaching(node))
    return isinstance(node, ast.Call) and _gives_whole(index, node, depth)


def _is_bound_to_whole(index: SemanticIndex, binding: Binding, depth: int) -> bool:
    if binding.kind in ("parameter", "loop"):
        return True
    value = binding.value
    if value is None or binding.kind not in ("assign", "augment"):
        return False
    if binding.path and isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        is_place = value.func.attr in _WITH_PLACES and binding.path[0] == 1
        return is_place or _may_be_whole(index, value, depth + 1)
    if binding.path and isinstance(value, ast.Tuple) and 0 <= binding.path[0] < len(value.elts):
        value = value.elts[binding.path[0]]
    return _may_be_whole(index, value, depth + 1)


def _gives_whole(index: SemanticIndex, call: ast.Call, depth: int) -> bool:
    name = index.qualified_name(call.func)
    if name == "builtins.next":
        return True
    function = index.definitions.function_called(call)
    if function is not None:
        return any(_may_be_whole(index, value, depth + 1) for value in index.definitions.returned_by(function))
    if not isinstance(call.func, ast.Attribute):
        return False
    method = call.func.attr
    if any("float" in index.text(item) for item in (*call.args, *call.keywords)):
        return False
    if method in _COUNTING:
        return True
    given = _given(index, call)
    return method in _KEEPING and given is not None and _may_be_whole(index, given, depth + 1)


def _given(index: SemanticIndex, call: ast.Call) -> ast.expr | None:
    """The tensor a function of torch is given, or whose method is called."""
    if index.qualified_name(call.func):
        return (
            call.args[-1]
            if call.args and index.qualified_name(call.func) == "torch.where"
            else next(iter(call.args), None)
        )
    return call.func.value if isinstance(call.func, ast.Attribute) else None


def _is_whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, bool)


# -------------------------------------------------------------------- what is done with the number


def _is_needed_whole(index: SemanticIndex, read: Read) -> bool:
    """Whether the number, or the variable it is given to, is a place, a count, or shown as an integer."""
    return any(_takes_whole(index, use) for use in _uses(index, read.node))


def _uses(index: SemanticIndex, number: ast.expr) -> Iterator[ast.expr]:
    yield number
    holder = index.parent(number)
    if isinstance(holder, ast.Assign):
        targets = holder.targets
    else:
        targets = [holder.target] if isinstance(holder, ast.AnnAssign | ast.NamedExpr) else []
    for target in targets:
        if isinstance(target, ast.Name):
            for name in index.tree.names_called(target.id):
                if isinstance(name.ctx, ast.Load) and any(b.value is number for b in index.flow.reaching(name)):
                    yield name


def _takes_whole(index: SemanticIndex, use: ast.expr) -> bool:
    child, parent = use, index.parent(use)
    while isinstance(parent, ast.UnaryOp | ast.BinOp | ast.IfExp | ast.Tuple | ast.Starred):
        if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
            return True
        if isinstance(parent, ast.BinOp):
            other = parent.right if parent.left is child else parent.left
            if isinstance(parent.op, ast.Mult) and isinstance(other, ast.JoinedStr | ast.List | ast.Tuple):
                return True
            if isinstance(parent.op, ast.Mult) and isinstance(other, ast.Constant) and isinstance(other.value, str):
                return True
            if isinstance(parent.op, ast.Div):
                return False
        if isinstance(parent, ast.IfExp) and child is parent.test:
            return True
        child, parent = parent, index.parent(parent)
    if isinstance(parent, ast.Slice):
        return True
    if isinstance(parent, ast.Subscript):
        return parent.slice is child
    if isinstance(parent, ast.FormattedValue):
        parts = parent.format_spec.values[-1:] if isinstance(parent.format_spec, ast.JoinedStr) else []
        return any(isinstance(part, ast.Constant) and str(part.value).endswith(tuple("dxXbcon")) for part in parts)
    if isinstance(parent, ast.If | ast.While | ast.Assert):
        return parent.test is child
    if isinstance(parent, ast.Compare):
        others = [item for item in (parent.left, *parent.comparators) if item is not child]
        is_none = all(isinstance(item, ast.Constant) and item.value is None for item in others)
        return any(isinstance(op, ast.Is | ast.IsNot) for op in parent.ops) and not is_none
    return isinstance(parent, ast.BoolOp) or (isinstance(parent, ast.Call) and _call_takes_whole(index, parent, child))


def _call_takes_whole(index: SemanticIndex, call: ast.Call, argument: ast.AST) -> bool:
    name = index.qualified_name(call.func) or ""
    if name:
        return name.removeprefix("builtins.") in _TAKING_WHOLE or name.removeprefix("torch.") in _SIZES
    if not isinstance(call.func, ast.Attribute):
        return False
    text = call.func.value
    if call.func.attr == "format" and isinstance(text, ast.Constant) and isinstance(text.value, str):
        return any(spec.endswith(tuple("dxXbcon")) for spec in _formats_of(call, text.value, argument))
    return call.func.attr in _PLACED


def _formats_of(call: ast.Call, text: str, argument: ast.AST) -> list[str]:
    """How ``"{:5d} {:.4f}".format(step, loss)`` shows one of its arguments; all formats where it is not said which."""
    try:
        fields = [(name, spec or "") for _, name, spec, _ in Formatter().parse(text) if name is not None]
    except ValueError:
        return []  # it raises
    is_told = argument in call.args and not any(isinstance(item, ast.Starred) for item in call.args)
    if not is_told or any("{" in spec for _, spec in fields):
        return [spec for _, spec in fields]
    place = str([item is argument for item in call.args].index(True))
    numbered = [(name or str(at), spec) for at, (name, spec) in enumerate(fields)]
    return [spec for name, spec in numbered if re.split(r"[.\[]", name)[0] == place]
