"""What a variable holds of which a branch makes something else: ``if args.cuda: x = x.cuda()``."""

from __future__ import annotations

import ast
import re

from tpulint.semantic.bindings import Binding
from tpulint.semantic.names import Names
from tpulint.semantic.tree import SyntaxTree
from tpulint.semantic.values import Kind, Side, Value, join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.kinds import Kinds

_ABOUT_DEVICES = r"(?i)cuda|gpu|device|xla|tpu|accelerat"


class BranchValues:
    """Answers about the variables of one file."""

    def __init__(self, kinds: Kinds, tree: SyntaxTree, names: Names) -> None:
        self._kinds = kinds
        self._tree = tree
        self._names = names

    def held(self, bindings: tuple[Binding, ...], depth: int) -> Value:
        """What a variable holds; one that an ``if args.cuda`` moves is where it is moved to."""
        values = [
            self._moved_parts(binding, depth) or self._kinds.binding_value(binding, depth) for binding in bindings
        ]
        sides = {value.side for value in values if value.kind is Kind.TENSOR}
        if (
            Side.DEVICE in sides
            and len(sides) > 1
            and any(
                value.side is Side.DEVICE and self._is_moved_on_condition(binding)
                for binding, value in zip(bindings, values, strict=True)
            )
        ):
            values = [value for value in values if value.kind is not Kind.TENSOR or value.side is Side.DEVICE]
            return join(values)._replace(certain=False)
        if sides and any(
            value.kind in (Kind.NUMPY, Kind.HOST) and self.is_converted(binding)
            for binding, value in zip(bindings, values, strict=True)
        ):
            return join(value for value in values if value.kind is not Kind.TENSOR)._replace(certain=False)
        return join(values)

    def is_converted(self, binding: Binding) -> bool:
        """``if torch.is_tensor(x): x = x.cpu().numpy()``: behind it, x is no tensor."""
        branch = self._tree.parents.get(binding.statement)
        if not isinstance(branch, ast.If) or binding.statement not in branch.body:
            return False
        test = branch.test if isinstance(branch.test, ast.Call) and branch.test.args else None
        asked = None if test is None else test.args[0]
        if test is None or not isinstance(asked, ast.Name) or asked.id != binding.name:
            return False
        is_asked_for = len(test.args) == 2 and self._names.qualified(test.args[1]) == "torch.Tensor"
        name = self._names.qualified(test.func)
        return name == "torch.is_tensor" or (name == "builtins.isinstance" and is_asked_for)

    def _moved_parts(self, binding: Binding, depth: int) -> Value | None:
        """A batch that is a list, whose parts an option moves: ``targets = [part.cuda() for part in targets]``."""
        value = binding.value
        if not isinstance(value, ast.ListComp) or not self._is_moved_on_condition(binding):
            return None
        part = self._kinds.value(value.elt, depth + 1)
        return part._replace(certain=False) if part.kind is Kind.TENSOR else None

    def _is_moved_on_condition(self, binding: Binding) -> bool:
        """``if args.cuda: x = x.cuda()``; what takes its place otherwise, `weight = self.weight.to(device)`, is not."""
        value = binding.value
        if isinstance(value, ast.Tuple) and binding.path and 0 <= binding.path[0] < len(value.elts):
            value = value.elts[binding.path[0]]
        whole = value
        value = value.elt if isinstance(value, ast.ListComp) else value
        moves = (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr in ("to", "cuda", "type_as")
        )
        branch = self._tree.parents.get(binding.statement)
        while isinstance(branch, ast.With | ast.AsyncWith):  # `with torch.cuda.device(0):`
            branch = self._tree.parents.get(branch)
        if whole is None or not moves or not isinstance(branch, ast.If):
            return False
        itself = any(isinstance(part, ast.Name) and part.id == binding.name for part in self._tree.inside(whole))
        return itself or re.search(_ABOUT_DEVICES, self._tree.text(branch.test)) is not None
