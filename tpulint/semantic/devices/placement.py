"""What puts something on a device, and the conditions that decide it."""

from __future__ import annotations

import ast

from tpulint.semantic.project.other_files import definition_called
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.torch_facts import CUDA_ONLY_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.cuda.cuda_mentions import CudaMentions

_MEMBER = "CUDA"
_MOVES = frozenset({"cuda", "to"})
PLACING = (
    "torch.device",
    ".set_default_device",
    ".current_device",
    ".current_accelerator",
    "Tensor",
    ".set_default_tensor_type",
)
"""Ends of names that choose a device."""


class Placement:
    """Answers about code and conditions of one file."""

    def __init__(self, index: SemanticIndex, mentions: CudaMentions) -> None:
        self._index = index
        self._tree = index.tree
        self._mentions = mentions

    def places(self, code: ast.AST) -> bool:
        """Whether code moves something, names a device or makes tensors of CUDA."""
        for node in (code, *self._tree.inside(code)):
            if self.is_asked_about(node):
                continue
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and node.value.partition(":")[0] in ("cuda", "xla")  # "xla" once the device has been chosen anew
            ):
                return True
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MOVES:
                return True
            if self._takes_place_of_tensor(node):
                return True
            if isinstance(node, ast.Attribute) and (self._index.qualified_name(node) or "").endswith(PLACING):
                return True
            if isinstance(node, ast.Attribute) and node.attr == _MEMBER and self._is_given(node):
                return True
        return False

    def _takes_place_of_tensor(self, node: ast.AST) -> bool:
        """``device = x.get_device()``, ``x.device if x.is_cuda else "cpu"``: later tensors go where a tensor is."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
            is_place = node.func.attr == "get_device"
        else:
            is_place = isinstance(node, ast.Attribute) and node.attr == "device" and isinstance(node.ctx, ast.Load)
        return is_place and isinstance(self._tree.parents[node], ast.Assign | ast.Return | ast.IfExp)

    def _is_given(self, member: ast.Attribute) -> bool:
        """``device = Device.CUDA``, ``return Device.CUDA.value``: a device that a class gives a name to."""
        if (self._index.qualified_name(member) or "").startswith("torch."):
            return False
        user = self._tree.parents[member]
        if isinstance(user, ast.Attribute) and user.attr == "value":
            user = self._tree.parents[user]
        return isinstance(user, ast.Assign | ast.AnnAssign | ast.Return | ast.IfExp)

    def is_asked_about(self, node: ast.AST) -> bool:
        """Whether a device is only named to ask what CUDA alone can tell: ``get_device_properties("cuda")``."""
        if not isinstance(node, ast.expr):
            return False
        asked = self._mentions.references(CUDA_ONLY_NAMES)
        child: ast.AST = node
        while asked and isinstance(child, ast.expr):
            parent = self._tree.parents[child]
            if isinstance(parent, ast.Call) and child is not parent.func and parent.func in asked:
                return True
            child = parent
        return False

    def is_decided_by(self, test: ast.expr, depth: int = 0) -> bool:
        """Whether a condition decides where something is put, itself or through one variable or attribute."""
        root = self.root(test)
        parent = self._tree.parents[root]
        if isinstance(parent, ast.If) and parent.test is root:
            taken = (*parent.body, *parent.orelse)
            if any(map(self.places, taken)) or any(map(self._has_moved, taken)):
                return True
            return depth < 2 and any(self._flag_places(item, depth) for item in taken)
        if isinstance(parent, ast.IfExp) and parent.test is root:
            chosen = (parent.body, parent.orelse)
            return any(map(self.places, chosen)) or any(map(self._has_moved, chosen))
        if isinstance(parent, ast.Assign) and depth < 2:
            return any(self.is_decided_by(load, depth + 1) for load in self.reads_of(parent))
        if isinstance(parent, ast.Return) and depth < 2:
            function = self._tree.function_of(parent)
            calls = [] if function is None else self._index.definitions.calls_of(function)
            return any(self.is_decided_by(call, depth + 1) for call in calls)
        return False

    def _has_moved(self, code: ast.AST) -> bool:
        """Whether code hands something to a function of the project that moves what it is given: ``to_gpu(x)``."""
        return any(self._moves_given(node) for node in (code, *self._tree.inside(code)) if isinstance(node, ast.Call))

    def _moves_given(self, call: ast.Call) -> bool:
        run = definition_called(self._index, call)
        moved = run.file.handed_moves.parameters(0) if run is not None and isinstance(run.node, FUNCTIONS) else []
        return run is not None and any(one.function is run.node for one in moved)

    def _flag_places(self, statement: ast.stmt, depth: int) -> bool:
        """Whether a statement sets a flag, ``self.use_cuda = True``, that decides where something is put."""
        if not isinstance(statement, ast.Assign) or not _is_bool(statement.value):
            return False
        return any(self.is_decided_by(load, depth + 1) for load in self.reads_of(statement))

    def reads_of(self, statement: ast.Assign) -> list[ast.expr]:
        """Where a variable or attribute is read that a statement sets."""
        target = statement.targets[0]
        if len(statement.targets) != 1 or not isinstance(target, ast.Name | ast.Attribute):
            return []
        if isinstance(target, ast.Name):
            return list[ast.expr](self._index.names.loads_of(target))
        return [node for node in self._tree.attributes_called(target.attr) if isinstance(node.ctx, ast.Load)]

    def root(self, node: ast.expr) -> ast.expr:
        """The whole condition that an expression is part of: ``not x``, ``x and y``."""
        while True:
            parent = self._tree.parents[node]
            negated = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
            # `bool(x)` and `x == True` say the same as x
            as_bool = isinstance(parent, ast.Call) and self._index.qualified_name(parent.func) == "builtins.bool"
            compared = isinstance(parent, ast.Compare) and _is_bool(parent.comparators[0])
            if not (isinstance(parent, ast.BoolOp) or negated or as_bool or compared):
                return node
            assert isinstance(parent, ast.expr)
            node = parent


def _is_bool(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)
