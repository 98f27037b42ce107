"""Where Python or torch needs the number that a device tensor holds, and nobody has asked for it.

Measured on torch_xla 2.9: each of these reads the device, most of them once for each tensor or element.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from tpulint.semantic.kinds import Kind, Kinds, Side
from tpulint.semantic.names import Names

_SIZED = frozenset(
    f"torch.{name}" for name in ("zeros", "ones", "empty", "rand", "randn", "arange", "full", "eye", "linspace")
)
"""Functions of torch that are given numbers: sizes, ends, what to fill with."""
_OF_ELEMENTS = frozenset({"torch.tensor", "torch.FloatTensor", "torch.LongTensor", "torch.Tensor"})
"""Functions of torch that make one tensor of a list of numbers."""
_COMPARING = frozenset({"builtins.max", "builtins.min", "builtins.any", "builtins.all", "builtins.sorted"})
"""Functions of Python that ask elements, or what they are given, which is larger, or whether they are true."""
_DISPLAYS = (ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp)


class ImplicitReads:
    """Asked by ``Reads`` at calls and products.

    What is a tensor of the device by the way it is used alone may be something else: it is left out, unless what makes
    it tells that it is one number.
    """

    def __init__(self, names: Names, kinds: Kinds, dimensions_of: Callable[[ast.expr], int | None]) -> None:
        self._names = names
        self._kinds = kinds
        self._dimensions_of = dimensions_of

    def numbers_at(self, node: ast.AST) -> Iterator[ast.expr]:
        """Tensors that are made Python numbers: ``range(count)``, ``torch.zeros(n)``, ``[0] * n``."""
        if isinstance(node, ast.BinOp):
            sides = ((node.left, node.right), (node.right, node.left))
            is_product = isinstance(node.op, ast.Mult)
            given = [number for row, number in sides if is_product and isinstance(row, ast.List)]
        elif isinstance(node, ast.Call):
            name = self._names.qualified(node.func)
            given = node.args if name == "builtins.range" or name in _SIZED else []
            if name in _OF_ELEMENTS and len(node.args) == 1:
                given = self._elements(node.args[0])
        else:
            return
        yield from filter(self._is_certain, given)

    def compared_at(self, call: ast.Call) -> ast.expr | None:
        """A tensor that Python compares, or asks whether it is true: ``max(best, loss)``, ``any(mask)``."""
        name = self._names.qualified(call.func)
        if name not in _COMPARING or not call.args:
            return None
        given = call.args
        if len(given) == 1:
            given = self._elements(given[0]) or given
        return next(filter(self._is_certain, given), None)

    def _elements(self, node: ast.expr) -> list[ast.expr]:
        """What a list is made of, if that is written there."""
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            return [node.elt]
        return list(node.elts) if isinstance(node, ast.List | ast.Tuple) else []

    def _is_certain(self, node: ast.expr) -> bool:
        if isinstance(node, _DISPLAYS):
            return False
        value = self._kinds.value(node)
        if value.kind is not Kind.TENSOR or value.side is not Side.DEVICE:
            return False
        return value.certain or self._dimensions_of(node) == 0
