"""Updates of parameters: by optimizers, by what is wrapped around them, and written out."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.kinds import Kind, Kinds

_NO_OPTIMIZER = r"(?i)sched|warm|lr|prof|env|timer|ema|bar|progress|meter|stop|self$|cls$"
"""Names of other things that step. Only ever a reason to leave a call alone."""
CHANGES = frozenset({"add_", "sub_", "addcdiv_", "addcmul_"})
"""Methods with which an update of a parameter ends."""


class Updates:
    """Which calls and statements of one file update parameters."""

    def __init__(self, tree: SyntaxTree, names: Names, kinds: Kinds, definitions: Definitions) -> None:
        self._tree = tree
        self._names = names
        self._kinds = kinds
        self._definitions = definitions

    @cached_property
    def _cleared(self) -> set[tuple[FunctionNode | None, str]]:
        """Objects whose gradients are cleared, by function and text."""
        return {
            (self._tree.function_of(call), ast.dump(call.func.value))
            for call in self._tree.calls
            if isinstance(call.func, ast.Attribute) and call.func.attr == "zero_grad"
        }

    def is_update(self, call: ast.Call) -> bool:
        """Whether ``x.step(...)`` certainly updates parameters."""
        func = call.func
        if not isinstance(func, ast.Attribute):
            return False
        kind = self._kinds.value(func.value).kind
        if kind is Kind.SCALER:
            return len(call.args) >= 1
        if len(call.args) == 1 and kind is Kind.UNKNOWN and self.closure(call) is None:
            return self.is_optimizer(call.args[0])
        return self.is_optimizer(func.value)

    def is_optimizer(self, node: ast.expr) -> bool:
        """An optimizer by origin, or an unknown object whose gradients are cleared in the same function."""
        kind = self._kinds.value(node).kind
        if kind is Kind.UNKNOWN:
            return (self._tree.function_of(node), ast.dump(node)) in self._cleared
        return kind is Kind.OPTIMIZER

    def may_be_update(self, call: ast.Call, func: ast.Attribute) -> bool:
        """Whether ``x.step()`` of nobody knows what is named like an update."""
        if self._kinds.value(func.value).kind is not Kind.UNKNOWN or self._names.qualified(func) is not None:
            return False
        if self._definitions.function_called(call) is not None or call.keywords:
            return False
        if call.args and self.closure(call) is None:
            return False
        root = func.value
        while isinstance(root, ast.Subscript | ast.Call):
            root = root.value if isinstance(root, ast.Subscript) else root.func
        return re.search(_NO_OPTIMIZER, last_name(root) or "self") is None

    def is_wrapped_update(self, call: ast.Call, func: ast.Attribute) -> bool:
        """``optimizer.step_and_update_lr()``: a method of a wrapper around an optimizer, which clears gradients too."""
        kind = self._kinds.value(func.value).kind
        if kind is Kind.OPTIMIZER:
            return True  # `first_step`, `second_step` of one that looks around first
        cleared = (self._tree.function_of(call), ast.dump(func.value)) in self._cleared
        return cleared and kind is Kind.UNKNOWN

    def is_handed_on(self, call: ast.Call) -> bool:
        """Whether a function that is a parameter is given an optimizer to step: ``optimize(optimizer, parameters)``.

        The optimizer's gradients are cleared in front of the backward pass, and nothing else there steps it.
        """
        function = self._tree.function_of(call)
        if function is None or not isinstance(call.func, ast.Name) or not self._is_parameter(call.func):
            return False
        given = values_given(call)
        if not any((function, ast.dump(item)) in self._cleared for item in given):
            return False
        methods = [
            (other.func.attr, self._tree.start(other))
            for other in self._tree.nodes_in(function, ast.Call, functions=False)
            if isinstance(other, ast.Call) and isinstance(other.func, ast.Attribute)
        ]
        is_behind = any(name == "backward" and start < self._tree.start(call) for name, start in methods)
        return is_behind and not any(name == "step" for name, _ in methods)

    def is_closure_run(self, call: ast.Call) -> bool:
        """``closure()`` of a parameter, whose backward pass is all that ``optimizer.step()`` behind it can update by.

        The gradients of that optimizer are cleared in front of it, and nothing else there runs a backward pass.
        """
        function = self._tree.function_of(call)
        if function is None or call.args or call.keywords or not isinstance(call.func, ast.Name):
            return False
        if not self._is_parameter(call.func):
            return False
        starts: dict[str, list[int]] = {}
        for other in self._tree.nodes_in(function, ast.Call, functions=False):
            if isinstance(other.func, ast.Attribute):
                key = other.func.attr
                if key in ("zero_grad", "step") and self.is_optimizer(other.func.value):
                    key += ast.dump(other.func.value)
                starts.setdefault(key, []).append(self._tree.start(other))
        here = self._tree.start(call)
        if "backward" in starts:
            return False
        return any(
            key.startswith("zero_grad")
            and any(start < here for start in cleared)
            and any(start > here for start in starts.get("step" + key.removeprefix("zero_grad"), ()))
            for key, cleared in starts.items()
        )

    def _is_parameter(self, name: ast.Name) -> bool:
        bindings = self._names.bindings(name)
        return bool(bindings) and all(binding.kind == "parameter" for binding in bindings)

    def manual_update(self, gradient: ast.Attribute) -> ast.stmt | None:
        """The statement that changes ``p`` in place by ``p.grad``, if this is the gradient in it."""
        statement = self._tree.statement_of(gradient)
        target: ast.expr | None = None
        if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Sub):
            target = statement.target
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            func = statement.value.func
            if (
                isinstance(func, ast.Attribute)
                and func.attr in ("add_", "sub_")
                and not self._tree.encloses(func, gradient)
            ):
                target = func.value
        if target is None:
            return None
        if isinstance(target, ast.Attribute) and target.attr == "data":
            target = target.value
        if ast.dump(target).replace("Store()", "Load()") != ast.dump(gradient.value):
            return None
        return None if self.is_of_optimizer(statement) else statement

    def is_of_optimizer(self, node: ast.AST) -> bool:
        """Whether a node belongs to the definition of an optimizer."""
        owner = self._tree.class_of(node)
        bases = [] if owner is None else owner.bases
        return any((self._names.qualified(base) or "").startswith("torch.optim.") for base in bases)

    def closure(self, call: ast.Call) -> FunctionNode | None:
        """The function that ``optimizer.step(closure)`` runs."""
        if (
            isinstance(call.func, ast.Attribute)
            and call.func.attr == "step"
            and call.args
            and isinstance(call.args[0], ast.Name)
        ):
            bindings = self._names.bindings(call.args[0])
            if len(bindings) == 1 and isinstance(bindings[0].node, FUNCTIONS):
                return bindings[0].node
        return None

    def change_of(self, node: ast.AST, name: str) -> ast.Call | None:
        """The call in ``name.add_(...)`` or ``name.data.add_(...)``, a statement."""
        call = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr not in CHANGES:
            return None
        changed = call.func.value
        if isinstance(changed, ast.Attribute) and changed.attr == "data":
            changed = changed.value
        return call if isinstance(changed, ast.Name) and changed.id == name else None


def gives_gradients(tree: SyntaxTree, function: FunctionNode | None) -> bool:
    """Whether a function, or a module outside of them, gives a parameter a gradient: ``p.grad = gradient``."""
    for attribute in tree.attributes_called("grad"):
        given = tree.parents[attribute]
        is_given = isinstance(attribute.ctx, ast.Store) and isinstance(given, ast.Assign)
        if is_given and tree.function_of(attribute) is function:
            assert isinstance(given, ast.Assign)
            if not isinstance(given.value, ast.Constant):
                return True
    return False
