"""Tensors, arrays and lists of the host that have another length in every turn of a loop.

Measured on torch_xla 2.9: what is moved has its size in the graph, so that each new length is compiled. Values, places
and the order of elements may change freely.
"""

from __future__ import annotations

import ast

from tpulint.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 12
_SIZED_IN_TORCH = frozenset(
    f"torch.{name}" for name in ("rand", "randn", "zeros", "ones", "empty", "full", "randint", "randperm", "normal")
)
_SIZED_IN_NUMPY = {
    **{f"numpy.{name}": (0,) for name in ("zeros", "ones", "empty", "full")},
    "numpy.random.rand": (0, 1, 2, 3), "numpy.random.randn": (0, 1, 2, 3), "numpy.random.permutation": (0,),
    "numpy.random.normal": (2,), "numpy.random.uniform": (2,), "numpy.random.randint": (2,),
    "numpy.random.random": (0,), "numpy.random.choice": (1,), "random.sample": (1,), "random.choices": (),
}  # fmt: skip
"""Where the sizes stand that functions of NumPy and Python are given by position."""
_SIZE_WORDS = frozenset({"size", "k", "shape"})
_COUNTED = frozenset({"torch.arange", "numpy.arange", "builtins.range"})
_OF_SAME_LENGTH = frozenset({
    "torch.from_numpy", "torch.tensor", "torch.as_tensor", "torch.Tensor", "torch.FloatTensor", "torch.LongTensor",
    "torch.IntTensor", "torch.stack", "torch.cat", "torch.vstack", "numpy.array", "numpy.asarray", "numpy.stack",
    "numpy.concatenate", "numpy.vstack", "numpy.sort", "builtins.list", "builtins.sorted",
})  # fmt: skip
"""Functions whose result is as long as what they are given; a display, ``cat([x, padding])``, is another matter."""
_METHODS_OF_SAME_LENGTH = frozenset({
    "float", "long", "int", "half", "double", "bool", "astype", "copy", "clone", "detach", "contiguous", "to", "type",
    "pin_memory", "requires_grad_", "unsqueeze", "numpy", "tolist", "cuda", "cpu",
})  # fmt: skip


class ChangingLength(NamedTuple):
    """An expression that has another length in every turn, and what makes it so."""

    made: ast.expr
    cause: ast.AST


class ChangingLengths:
    """Follows what was made on the host back to the number that says how long it is; what may be filled up is none."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._numbers = index.changing_numbers

    def of(self, node: ast.expr, depth: int = 0) -> ChangingLength | None:
        """Where a length comes from that another turn has another one of; None if that is not known."""
        if depth > _DEPTH:
            return None
        if isinstance(node, ast.Name):
            bindings = self._index.flow.reaching(node)
            if len(bindings) != 1 or bindings[0].kind != "assign" or bindings[0].path or bindings[0].value is None:
                return None
            in_turn = self._index.turn_code.turn_of(bindings[0].statement) is not None
            return self.of(bindings[0].value, depth + 1) if in_turn else None
        if isinstance(node, ast.BinOp):
            return self.of(node.left, depth + 1) or self.of(node.right, depth + 1)
        if isinstance(node, ast.Subscript):
            return self._of_chosen(node, depth)
        if isinstance(node, ast.ListComp):
            return self._of_comprehension(node, depth)
        return self._of_call(node, depth) if isinstance(node, ast.Call) else None

    def of_slice(self, item: ast.Slice) -> ast.AST | None:
        """What makes a slice another number of elements long in every turn."""
        if item.lower is None or item.upper is None:
            ends = [end for end in (item.lower, item.upper) if end is not None]
            return self._numbers.cause(ends[0]) if ends else None
        return self._numbers.of_difference(item.upper, item.lower)

    def _of_chosen(self, node: ast.Subscript, depth: int) -> ChangingLength | None:
        for item in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
            if isinstance(item, ast.Slice):
                cause = self.of_slice(item)
                if cause is not None:
                    return ChangingLength(node, cause)
            elif (found := self.of(item, depth + 1)) is not None:
                return found
        return None

    def _of_comprehension(self, node: ast.ListComp, depth: int) -> ChangingLength | None:
        if len(node.generators) != 1 or node.generators[0].ifs:
            return None
        return self.of(node.generators[0].iter, depth + 1)

    def _of_call(self, call: ast.Call, depth: int) -> ChangingLength | None:
        name = self._index.qualified_name(call.func)
        if name is None:
            is_same = isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS_OF_SAME_LENGTH
            return self.of(call.func.value, depth + 1) if is_same and isinstance(call.func, ast.Attribute) else None
        if name in _OF_SAME_LENGTH:
            return self.of(call.args[0], depth + 1) if len(call.args) == 1 or name == "torch.stack" else None
        cause = next((found for size in self._sizes(call, name) if (found := self._numbers.cause(size))), None)
        if name in _COUNTED and call.args:
            ends = call.args[:2]
            cause = self._numbers.cause(ends[0]) if len(ends) == 1 else self._numbers.of_difference(ends[1], ends[0])
        return None if cause is None else ChangingLength(call, cause)

    def _sizes(self, call: ast.Call, name: str) -> list[ast.expr]:
        if name in _SIZED_IN_TORCH:
            return self._index.graph_numbers.sizes(call)
        if name not in _SIZED_IN_NUMPY:
            return []
        given = [call.args[at] for at in _SIZED_IN_NUMPY[name] if at < len(call.args)]
        given += [keyword.value for keyword in call.keywords if keyword.arg in _SIZE_WORDS]
        return [part for item in given for part in (item.elts if isinstance(item, ast.List | ast.Tuple) else [item])]
