"""Whether tensors hold whole numbers or fractions, as far as what computes them tells."""

from __future__ import annotations

import ast

from tpulint.semantic.syntax.bindings import Binding, part_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 8
_COMPARING = (
    "eq", "ne", "lt", "gt", "le", "ge", "argmax", "argmin", "count_nonzero", "logical_and", "logical_or", "logical_not",
    "isin", "isnan", "isfinite",
)  # fmt: skip
_INTEGER_METHODS = frozenset({*_COMPARING, "long", "int", "bool"})
_KEEPING_METHODS = frozenset({
    "sum", "view", "reshape", "squeeze", "unsqueeze", "flatten", "cpu", "cuda", "detach", "clone", "max", "min", "to",
    "all", "any", "contiguous", "item", "view_as", "t", "transpose", "expand_as", "masked_select",
})  # fmt: skip
"""Methods whose result holds integers if the tensor they are called on holds integers or booleans."""
_INTEGER_FUNCTIONS = frozenset(f"torch.{name}" for name in _COMPARING)
_INTEGER_TYPES = ("torch.long", "torch.int64", "torch.int", "torch.int32")


class NumberTypes:
    """Questions about expressions; what is not known is answered with no."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def is_integer(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a tensor is known to hold integers or booleans."""
        if depth > _DEPTH:
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
            bindings = self._index.flow.reaching(node)
            return bool(bindings) and all(
                b.kind in ("assign", "augment")
                and (
                    self._takes_integer(b, depth)
                    if b.path
                    else b.value is not None and self.is_integer(b.value, depth + 1)
                )
                for b in bindings
            )
        return isinstance(node, ast.Call) and self._gives_integer(node, depth)

    def _takes_integer(self, binding: Binding, depth: int) -> bool:
        """Whether a variable takes a part that holds integers, of a tuple or of what a function of the file returns."""
        value = binding.value
        part = part_of(value, binding.path)
        if part is not None:
            return self.is_integer(part, depth + 1)
        function = self._index.definitions.function_called(value) if isinstance(value, ast.Call) else None
        returned = [] if function is None or len(binding.path) > 1 else self._index.definitions.returned_by(function)
        at = binding.path[0]
        return bool(returned) and all(
            isinstance(item, ast.Tuple) and 0 <= at < len(item.elts) and self.is_integer(item.elts[at], depth + 1)
            for item in returned
        )

    def _gives_integer(self, call: ast.Call, depth: int) -> bool:
        index = self._index
        name = index.qualified_name(call.func)
        if any(k.arg == "dtype" and index.qualified_name(k.value) in _INTEGER_TYPES for k in call.keywords):
            return True
        if name is not None:
            if name in _INTEGER_FUNCTIONS:
                return True
            if name == "torch.where" and len(call.args) == 3:
                return all(_is_whole(item) or self.is_integer(item, depth + 1) for item in call.args[1:])
            return name == "torch.sum" and bool(call.args) and self.is_integer(call.args[0], depth + 1)
        function = index.definitions.function_called(call)
        if function is not None:
            returned = index.definitions.returned_by(function)
            return bool(returned) and all(self.is_integer(item, depth + 1) for item in returned)
        if not isinstance(call.func, ast.Attribute):
            return False
        method = call.func.attr
        if method in _INTEGER_METHODS:
            return True
        if method == "to" and any("float" in index.text(item) for item in (*call.args, *call.keywords)):
            return False
        return method in _KEEPING_METHODS and self.is_integer(call.func.value, depth + 1)

    def is_floating(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a tensor is known to hold floating-point numbers: a loss, a mean."""
        if depth > _DEPTH:
            return False
        if isinstance(node, ast.BinOp):
            sides = (node.left, node.right)
            return isinstance(node.op, ast.Div) or any(self.is_floating(side, depth + 1) for side in sides)
        if isinstance(node, ast.UnaryOp | ast.Attribute):
            inner = node.operand if isinstance(node, ast.UnaryOp) else node.value
            return self.is_floating(inner, depth + 1)
        if isinstance(node, ast.Name):
            bindings = self._index.flow.reaching(node)
            return self._index.scalars.losses.is_loss(node) or (
                bool(bindings)
                and all(
                    b.kind == "assign" and not b.path and b.value is not None and self.is_floating(b.value, depth + 1)
                    for b in bindings
                )
            )
        if not isinstance(node, ast.Call):
            return False
        name = self._index.qualified_name(node.func) or ""
        if name:
            return name == "torch.mean" or name.startswith("torch.nn.functional.")
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if method in _KEEPING_METHODS and isinstance(node.func, ast.Attribute):
            return self.is_floating(node.func.value, depth + 1)
        return method in ("mean", "float", "double", "norm") or self._index.scalars.losses.is_module(node.func)


def _is_whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, bool)
