"""What a variable holds of which a branch makes something else: ``if args.cuda: x = x.cuda()``."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from tpulint.semantic.cuda.guards import asks_for_apple
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.value import Kind, Side, Value, join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.values.kinds import Kinds

_ASKING = ("is_tensor(", "Tensor)")
_ABOUT_DEVICES = r"(?i)cuda|gpu|device|xla|tpu|accelerat"


class BranchValues:
    """Answers about the variables of one file."""

    def __init__(self, kinds: Kinds, tree: SyntaxTree, names: Names) -> None:
        self._kinds = kinds
        self._tree = tree
        self._names = names
        self._knows_apple = tree.source.has_any(("mps",))
        self._may_ask = tree.source.has_any(_ASKING)

    def held(self, bindings: tuple[Binding, ...], depth: int) -> Value:
        """What a variable holds; one that an ``if args.cuda`` moves is where it is moved to."""
        bindings = self._kinds.parameters.without_none(bindings)
        if self._knows_apple:
            bindings = tuple(one for one in bindings if not self._is_for_apple(one)) or bindings
        values = [
            self._moved_parts(binding, depth) or self._kinds.binding_value(binding, depth) for binding in bindings
        ]
        if len(values) > 1:
            made = [one.value if one.kind == "assign" and not one.path else None for one in bindings]
            known = self.without_numbers(made, values)
            if len(known) < len(values):
                return join(known)
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

    def _is_for_apple(self, binding: Binding) -> bool:
        """``if x.device.type == "mps": x = x.cpu()``, which never runs where XLA is."""
        branch = self._tree.parents.get(binding.statement)
        is_body = isinstance(branch, ast.If) and binding.statement in branch.body
        return isinstance(branch, ast.If) and is_body and asks_for_apple(self._names, branch.test)

    def chosen(self, choice: ast.IfExp, values: list[Value]) -> Value:
        """One of two values, or where a device decides what is moved there: ``x.cuda() if cuda else x``."""
        moved = [value for value in values if value.kind is Kind.TENSOR and value.side is Side.DEVICE]
        if moved and len(moved) < len(values) and re.search(_ABOUT_DEVICES, self._tree.text(choice.test)):
            values = [value._replace(certain=False) for value in moved]
        return join(values)

    def without_numbers(self, ways: Sequence[ast.expr | None], values: list[Value]) -> list[Value]:
        """Values of which one may be a number that is made a tensor: ``torch.tensor(0.0)``, beside one of the device.

        It stands for that, as 0.0 would.
        """
        if not any(value.kind is Kind.TENSOR and value.side is Side.DEVICE for value in values):
            return values
        rest = [value for way, value in zip(ways, values, strict=True) if not self._is_number(way)]
        return rest if len(rest) == len(values) else [value._replace(certain=False) for value in rest]

    def _is_number(self, node: ast.expr | None) -> bool:
        """``torch.tensor(0.0)``, without a device."""
        if not isinstance(node, ast.Call) or len(node.args) != 1 or any(item.arg == "device" for item in node.keywords):
            return False
        given = node.args[0].operand if isinstance(node.args[0], ast.UnaryOp) else node.args[0]
        is_number = isinstance(given, ast.Constant) and isinstance(given.value, int | float)
        return is_number and self._names.qualified(node.func) == "torch.tensor"

    def is_converted(self, binding: Binding) -> bool:
        """``if torch.is_tensor(x): x = x.cpu().numpy()``: behind it, x is no tensor."""
        branch = self._tree.parents.get(binding.statement)
        if not isinstance(branch, ast.If) or binding.statement not in branch.body:
            return False
        return self._asks_for_tensor(branch.test, binding.name)

    def is_no_tensor(self, use: ast.Name) -> bool:
        """Whether a condition around a use has found that the variable is none: the other branch of the same question.

        ``b = x.shape[0] if torch.is_tensor(x) else int(x)``
        """
        if not self._may_ask:
            return False
        child: ast.AST = use
        for ancestor in self._tree.ancestors(use):
            if isinstance(ancestor, FUNCTIONS):
                return False
            if isinstance(ancestor, ast.If | ast.IfExp) and child is not ancestor.test:
                test = ancestor.test
                is_denied = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
                test = test.operand if isinstance(test, ast.UnaryOp) else test
                is_body = child in ancestor.body if isinstance(ancestor, ast.If) else child is ancestor.body
                if is_body is is_denied and self._asks_for_tensor(test, use.id):
                    found = self._names.find_name(use)
                    bound = () if found is None else found[1]
                    return not any(self._tree.encloses(ancestor, one.node) for one in bound)
            child = ancestor
        return False

    def _asks_for_tensor(self, test: ast.expr, name: str) -> bool:
        """``torch.is_tensor(x)``, ``isinstance(x, torch.Tensor)``"""
        asked = test.args[0] if isinstance(test, ast.Call) and test.args else None
        if not isinstance(test, ast.Call) or not isinstance(asked, ast.Name) or asked.id != name:
            return False
        is_asked_for = len(test.args) == 2 and self._names.qualified(test.args[1]) == "torch.Tensor"
        function = self._names.qualified(test.func)
        return function == "torch.is_tensor" or (function == "builtins.isinstance" and is_asked_for)

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
