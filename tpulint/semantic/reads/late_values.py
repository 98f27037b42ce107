"""What is computed behind the step boundary: a graph of its own."""

from __future__ import annotations

import ast

from tpulint.semantic.loops.regions import CalledStep, Step
from tpulint.semantic.reads.reads import Read
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.values.value import Kind, Side, is_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 3
_GIVING = frozenset({"detach", "cpu", "to", "item", "clone", "contiguous"})
"""Methods of a tensor that compute nothing."""


class LateValues:
    """Answers about the tensors of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._boundaries = index.boundaries

    def is_computed_behind(self, read: Read, loop: Step) -> bool:
        """Whether what stands behind a boundary reads what was computed there, too: a graph of its own.

        Where another file calls a function behind its boundary, that is what the function computes itself.
        """
        if not self._boundaries.has(loop) or not self._boundaries.is_behind(read.node, loop):
            return False
        return self.is_added_up(read) or self._is_computed(read.tensor, loop, 0)

    def is_added_up(self, read: Read) -> bool:
        """Whether the device adds a tensor to an element of an array, which waits for the sum: ``sums[0] += loss``."""
        given = self._index.tree.parents[read.node]
        return read.node is read.tensor and isinstance(given, ast.AugAssign) and given.value is read.node

    def computes(self, tensor: ast.expr) -> bool:
        """Whether an expression computes a tensor of the device: no variable, and not what a method gives of one."""
        source = self._source_of(tensor)
        is_computed = source is None or isinstance(source, ast.Call | ast.BinOp)
        return is_computed and self._index.is_device_tensor(tensor)

    def _source_of(self, tensor: ast.expr) -> ast.expr | None:
        """What attributes, elements and methods that compute nothing are taken of; None where a part is cut out."""
        while isinstance(tensor, ast.Attribute | ast.Subscript) or (
            isinstance(tensor, ast.Call) and isinstance(tensor.func, ast.Attribute) and tensor.func.attr in _GIVING
        ):
            if self._is_cut(tensor):
                return None
            tensor = tensor.func.value if isinstance(tensor, ast.Call) else tensor.value  # type: ignore[attr-defined]
        return tensor

    def _passes_another(self, binding: Binding, use: ast.expr, loop: Step) -> bool:
        """Whether a step has one more boundary between where a variable gets its value and where that is used."""
        is_behind = self._boundaries.stands_behind
        boundaries = [] if isinstance(loop, CalledStep) else loop.boundaries
        if any(is_behind(use, one) and not is_behind(binding.node, one) for one in boundaries):
            return True
        # In the turns of a loop within the step, that of a critic: the boundary there has run what the last turn gave.
        tree, regions = self._index.tree, self._index.regions
        inner = tree.loop_of(binding.node)
        while inner is not None and inner is not loop.node and not tree.encloses(inner, use):
            if any(is_behind(one, binding.node) for one in regions.boundaries_in(inner)):
                return True
            inner = tree.loop_of(inner)
        return False

    def _is_computed(self, tensor: ast.expr, loop: Step, depth: int) -> bool:
        """Whether a tensor is computed from others behind the boundary, and not given to a function that runs there."""
        source = self._source_of(tensor)
        if source is None:
            return True
        if isinstance(source, ast.Name):
            bindings = self._index.flow.reaching(source)
            return depth < _DEPTH and bool(bindings) and all(
                self._boundaries.is_behind(binding.node, loop)
                and not self._passes_another(binding, source, loop)
                and (
                    binding.kind == "augment"
                    or (
                        binding.kind == "assign"
                        and binding.value is not None
                        and (
                            self._is_made_by_function(source, binding.value)
                            if binding.path
                            else self._is_computed(binding.value, loop, depth + 1)
                        )
                    )
                )
                for binding in bindings
            )  # fmt: skip
        if isinstance(source, ast.Call) and self._index.definitions.function_run(source) is not None:
            return self._is_made_by_function(source, source)
        return isinstance(source, ast.Call | ast.BinOp | ast.Compare) and self._index.is_device_tensor(source)

    def _is_made_by_function(self, value: ast.expr, call: ast.expr) -> bool:
        """Whether a function of this file computes a value of tensors of the device: ``p1, p5 = accuracy(y, target)``.

        One that comes to a boundary, reads something or runs a module itself is another matter.
        """
        index = self._index
        function = index.definitions.function_called(call) if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or function is None or not any(map(index.is_device_tensor, call.args)):
            return False
        events = index.regions.events.of(function)
        if events.boundaries or index.reads.inside(function) or index.regions.runs_module(function):
            return False
        calls = index.tree.nodes_in(function, ast.Call, functions=False)
        return index.is_device_tensor(value) and any(index.kind(item) is Kind.TENSOR for item in calls)

    def _is_cut(self, tensor: ast.expr) -> bool:
        """Whether an expression is a part of a tensor, a graph of its own: measured with ``x[2].item()``.

        What was only taken for a tensor may be a list or a tuple of them.
        """
        if not isinstance(tensor, ast.Subscript) or is_text(tensor.slice):
            return False
        value = self._index.value(tensor.value)
        return value.kind is Kind.TENSOR and value.certain and value.side is Side.DEVICE
