"""Lists of arrays read from the device in every step, for the end of the epoch: ``outputs.extend(y.cpu().numpy())``."""

from __future__ import annotations

import ast

from tpulint.records import NamedTuple
from tpulint.semantic.loops.regions import Pace, Step
from tpulint.semantic.reads.reads import COPIES, Read
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.bindings import Binding, part_of
from tpulint.semantic.syntax.nodes import LoopNode
from tpulint.semantic.totals.filled_lists import Append
from tpulint.semantic.values.computed import is_computed
from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_MAKERS = frozenset({"builtins.list", "numpy.array", "numpy.asarray"})
"""Calls around a read that make the same of it later."""
_PLAIN = frozenset({*COPIES, "detach", "flatten", "squeeze", "ravel", "copy", "astype", "reshape", "view"})
"""Methods behind which the array is still that of the step, whenever it is read."""
_DEPTH = 4


class ListOfArrays(NamedTuple):
    """A list that a loop fills with arrays, or with the rows of them."""

    loop: LoopNode
    append: Append
    read: Read
    takes_rows: bool
    """Whether each row is an element: ``extend``."""
    is_new: bool
    """Whether the list is made empty right in front of the loop, so that it can hold tensors itself meanwhile."""


class FilledArrays:
    """Finds those that could hold tensors until the loop ends: nobody looks at them before."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._memo: dict[Step, list[ListOfArrays]] = {}

    def of(self, step: Step) -> list[ListOfArrays]:
        """Those that a step loop fills behind its boundary, or in front of it with what it runs."""
        if step not in self._memo:
            self._memo[step] = self._find(step)
        return self._memo[step]

    def _find(self, step: Step) -> list[ListOfArrays]:
        index, loop = self._index, step.node
        if not isinstance(loop, ast.For) or loop.orelse or not index.boundaries.has(step):
            return []
        found: dict[str, list[tuple[Append, bool]]] = {}
        for node in index.tree.nodes_in(loop, ast.Expr, ast.AugAssign, functions=False):
            put = _put(node)
            if put is not None:
                found.setdefault(index.text(put[0].target), []).append(put)
        lists = (self._filled(step, loop, *puts[0]) for puts in found.values() if len(puts) == 1)
        return [filled for filled in lists if filled is not None]

    def _filled(self, step: Step, loop: ast.For, append: Append, takes_rows: bool) -> ListOfArrays | None:
        index = self._index
        reads = index.reads.inside(append.element)
        if len(reads) != 1 or index.tree.loop_of(append.statement) is not loop:
            return None
        if "#" in index.text(append.statement):
            return None  # a comment between its rows, which would go with them
        read = reads[0]
        if index.scalars.is_number(read) or index.scalars.is_scalar(read.tensor):
            return None  # lists of numbers are another matter
        if index.pace_of(append.statement) is not Pace.STEP or not self._can_wait(append.element, read):
            return None
        if index.late_values.is_computed_behind(read, step) or not self._stays(read.tensor, step, loop):
            return None
        if index.filled_lists.gates_of(loop, [append]) != ():
            return None
        is_new = index.filled_lists.is_new(loop, append.target)
        if isinstance(append.statement, ast.AugAssign) and not is_new:
            return None  # an array that numbers are added to
        return ListOfArrays(loop, append, read, takes_rows, is_new)

    def _can_wait(self, element: ast.expr, read: Read) -> bool:
        """Whether an expression is the read of a tensor and what makes the same of it behind the loop."""
        index = self._index
        node = element
        while node is not read.tensor:
            if not isinstance(node, ast.Call):
                return False
            if index.qualified_name(node.func) in _MAKERS and len(node.args) == 1 and not node.keywords:
                node = node.args[0]
            elif isinstance(node.func, ast.Attribute) and node.func.attr in _PLAIN:
                if node.keywords or not all(map(self._is_fixed, node.args)):
                    return False
                node = node.func.value
                if isinstance(node, ast.Attribute) and node.attr == "data" and node is not read.tensor:
                    node = node.value
            else:
                return False
        return "\n" not in index.text(element)

    def _is_fixed(self, node: ast.expr) -> bool:
        """``-1``, ``np.float32``: the same behind the loop."""
        name = self._index.qualified_name(node) or ""
        return isinstance(node, ast.Constant | ast.UnaryOp) or name.startswith(("builtins.", "numpy."))

    # ---------------------------------------------------------------- the tensor

    def _stays(self, tensor: ast.expr, step: Step, loop: ast.For) -> bool:
        """Whether a tensor is one of this turn, and nothing changes it afterwards, as updates change parameters."""
        index = self._index
        if not index.boundaries.is_behind(tensor, step) and index.late_values.computes(tensor):
            return is_computed(index, tensor)
        root = tensor
        while not isinstance(root, ast.Name):
            if isinstance(root, ast.Call) and isinstance(root.func, ast.Attribute) and root.func.attr == "detach":
                root = root.func.value
            elif isinstance(root, ast.Attribute) and root.attr == "data":
                root = root.value
            else:
                return False
        if index.scalars.may_change(root) or self._is_stored_into(root) or self._is_input(root, loop):
            return False
        bindings = index.flow.reaching(root)
        return bool(bindings) and all(self._is_of_turn(binding, loop) for binding in bindings)

    def _is_input(self, name: ast.Name, loop: ast.For) -> bool:
        """Whether a model is given the tensor: the device would keep all that it is trained on."""
        index = self._index
        bindings = {
            one for one in index.flow.reaching(name) if one.value is None or not is_computed(index, one.value, one.path)
        }
        return any(
            index.kind(call.func) is Kind.MODULE
            and not index.scalars.losses.is_module(call.func)
            and any(isinstance(item, ast.Name) and bindings & set(index.flow.reaching(item)) for item in call.args)
            for call in index.tree.nodes_in(loop, ast.Call, functions=False)
            if isinstance(call, ast.Call)
        )

    def _is_stored_into(self, name: ast.Name) -> bool:
        """``z[mask] = 0``, ``z.data[0] = 1``, ``z.detach().zero_()``"""
        index = self._index
        for mention in index.names.mentions(name.id, index.names.scope_of(name)):
            child: ast.AST = mention
            parent = index.parent(mention)
            while isinstance(parent, ast.Attribute) or (isinstance(parent, ast.Call) and parent.func is child):
                if isinstance(parent, ast.Attribute) and parent.attr in facts.IN_PLACE_METHODS:
                    return True
                child, parent = parent, index.parent(parent)
            if isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load):
                return True
        return False

    def _is_of_turn(self, binding: Binding, loop: ast.For, depth: int = 0) -> bool:
        """Whether a variable gets what its turn computes, or what its turn is given and moves."""
        index = self._index
        if depth > _DEPTH or not index.tree.encloses(loop, binding.node):
            return False
        if binding.kind == "loop":
            return binding.statement is loop
        if binding.kind != "assign" or binding.value is None:
            return False
        if is_computed(index, binding.value, binding.path):
            return True
        source = part_of(binding.value, binding.path) or binding.value
        while not isinstance(source, ast.Name):
            if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute):
                if source.func.attr not in facts.TENSOR_METHODS and source.func.attr not in ("to", "cuda"):
                    return False
                source = source.func.value
            elif isinstance(source, ast.Call) and index.qualified_name(source.func) in facts.VARIABLES and source.args:
                source = source.args[0]
            elif isinstance(source, ast.Subscript):
                source = source.value
            else:
                return False
        bindings = index.flow.reaching(source)
        return bool(bindings) and all(self._is_of_turn(one, loop, depth + 1) for one in bindings)


def _put(node: ast.AST) -> tuple[Append, bool] | None:
    """What a statement puts into a list, and whether it is the rows of it."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        call, func = node.value, node.value.func
        if func.attr in ("append", "extend") and len(call.args) == 1 and not call.keywords:
            return Append(node, func.value, call.args[0]), func.attr == "extend"
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(node.value, ast.Call):
        return Append(node, node.target, node.value), True
    return None
