"""How many dimensions a tensor has that is made of numbers and sizes alone."""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 8
_NUMBERS = frozenset(f"builtins.{name}" for name in ("int", "float", "len", "ord", "round", "bool"))
_OF_ONE = frozenset({"builtins.int", "builtins.float"})
"""What takes a tensor of one element only."""
_COPIES = frozenset({"builtins.list", "builtins.tuple", "builtins.sorted"})

_OF_ELEMENTS = frozenset({"tensor", "as_tensor"})
_CLASSES = frozenset({"Tensor", "LongTensor", "FloatTensor", "IntTensor", "DoubleTensor", "BoolTensor", "ByteTensor"})
"""What is given the elements, in lists, or the sizes."""
_OF_SIZES = frozenset({"zeros", "ones", "empty", "rand", "randn"})


class MadeDimensions:
    """Questions about expressions of one file; what is not known is None."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def by(self, call: ast.Call, last: str) -> int | None:
        """Of what a function of torch makes; ``last`` is the last part of its name."""
        given = call.args
        if not given or any(isinstance(item, ast.Starred) for item in given):
            return None
        if is_of_elements(last) and (
            last in _OF_ELEMENTS or (len(given) == 1 and not is_number(self._index, given[0]))
        ):
            return self._nesting(given[0], 0)
        if last in _OF_SIZES or last in _CLASSES:
            return of_sizes(self._index, given)
        if last == "full":
            return of_sizes(self._index, given[:1])
        if last == "randint":
            return of_sizes(self._index, given[-1:]) if isinstance(given[-1], ast.Tuple | ast.List) else None
        return None

    def _nesting(self, node: ast.expr, depth: int) -> int | None:
        """Levels of lists around the numbers: 0 for a number, 1 for ``[1, 2]``."""
        if depth > _DEPTH:
            return None
        if is_number(self._index, node):
            return 0
        if isinstance(node, ast.List | ast.Tuple):
            inner = {self._nesting(item, depth + 1) for item in node.elts} or {0}
            level = inner.pop() if len(inner) == 1 else None
            return None if level is None else level + 1
        if isinstance(node, ast.ListComp):
            level = self._nesting(node.elt, depth + 1)
            return None if level is None else level + 1
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
            sides = [self._nesting(side, depth + 1) for side in (node.left, node.right)]
            return next((level for level in sides if level), None)  # `[0] * n`, `words + [0]`
        if isinstance(node, ast.Call) and len(node.args) == 1:
            name = self._index.qualified_name(node.func)
            return (
                1 if name == "builtins.range" else self._nesting(node.args[0], depth + 1) if name in _COPIES else None
            )
        if isinstance(node, ast.Name):
            bindings = self._index.flow.reaching(node)
            if len(bindings) == 1 and bindings[0].kind == "assign" and not bindings[0].path and bindings[0].value:
                return self._nesting(bindings[0].value, depth + 1)
        return None


def is_of_elements(name: str) -> bool:
    """Whether a function of torch may be given the elements: ``tensor``, ``LongTensor``."""
    return name in _OF_ELEMENTS or name in _CLASSES


def of_sizes(index: SemanticIndex, given: list[ast.expr]) -> int | None:
    """Of what is made in a size: ``(2, 3)``, or ``((2, 3))``."""
    if len(given) == 1 and isinstance(given[0], ast.Tuple | ast.List):
        return None if any(isinstance(item, ast.Starred) for item in given[0].elts) else len(given[0].elts)
    return len(given) if len(given) > 1 or is_number(index, given[0]) else None


def is_number(index: SemanticIndex, node: ast.expr) -> bool:
    """Whether an expression is one number of Python by how it is written."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float)
    if isinstance(node, ast.UnaryOp):
        return is_number(index, node.operand)
    if isinstance(node, ast.BinOp):
        return is_number(index, node.left) and is_number(index, node.right)
    if isinstance(node, ast.Call):
        if index.qualified_name(node.func) in _NUMBERS:
            return True
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        return (method == "item" and not node.args) or (method == "size" and len(node.args) == 1)
    if isinstance(node, ast.Subscript):  # `x.shape[0]`
        is_shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        return is_shape and not isinstance(node.slice, ast.Slice)
    if isinstance(node, ast.Name):
        bindings = index.flow.reaching(node)
        return bool(bindings) and all(
            binding.kind == "assign"
            and not binding.path
            and isinstance(binding.value, ast.Constant | ast.Call)
            and is_number(index, binding.value)
            for binding in bindings
        )
    return False


def is_made_number(index: SemanticIndex, node: ast.Subscript) -> bool:
    """Whether the function makes a number of such an element, ``int(places[i])``: it has no dimensions."""
    within, text = index.function_of(node), ast.dump(node)
    for call in index.tree.nodes_in(within, ast.Call) if within is not None else ():
        assert isinstance(call, ast.Call)
        is_number_of = len(call.args) == 1 and index.qualified_name(call.func) in _OF_ONE
        made = call.args[0] if is_number_of else None
        if isinstance(call.func, ast.Attribute) and call.func.attr == "item":
            made = call.func.value
        if isinstance(made, ast.Subscript) and ast.dump(made) == text:
            return True
    return False
