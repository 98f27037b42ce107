"""Where no gradient is recorded: under ``no_grad``, behind ``eval()``, and what ``self.training`` rules out."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.project.outside import NOW_AND_THEN, OutsideCall, qualified_in_file
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode, LoopNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.kinds import Kind, Kinds

_MODES = ("eval", "train")
_BACKWARDS = ("reverse", "inverse", "invert", "rev")
"""Flags of models that are trained one way and sampled from the other."""
_DEPTH = 2
"""Functions that a wish for no gradients is followed through."""


class GradientSwitches:
    """Answers about one file."""

    def __init__(
        self, tree: SyntaxTree, names: Names, kinds: Kinds, definitions: Definitions, outside: Sequence[OutsideCall]
    ) -> None:
        self._tree = tree
        self._names = names
        self._kinds = kinds
        self._definitions = definitions
        self._outside = outside
        self._switches: dict[FunctionNode | None, list[ast.Call]] | None = None

    def is_under_no_grad(self, node: ast.AST) -> bool:
        """Whether ``torch.no_grad()`` or the like is in force at a node, in the node's function."""
        child = node
        for ancestor in self._tree.ancestors(node):
            within = isinstance(ancestor, ast.With | ast.AsyncWith) and self._tree.in_body(ancestor, child)
            if within and self.switches_off(ancestor):
                return True
            if isinstance(ancestor, FUNCTIONS):
                return any(self._is_no_grad(decorator) for decorator in ancestor.decorator_list)
            child = ancestor
        return False

    def switches_off(self, node: ast.AST) -> bool:
        items = node.items if isinstance(node, ast.With | ast.AsyncWith) else []
        return any(self._is_no_grad(item.context_expr) for item in items)

    def _is_no_grad(self, node: ast.expr) -> bool:
        target = node.func if isinstance(node, ast.Call) else node
        name = self._names.qualified(target)
        if name in facts.GRADIENT_FLAGS and isinstance(node, ast.Call):
            given = [*node.args, *(item.value for item in node.keywords)]
            return len(given) == 1 and isinstance(given[0], ast.Constant) and given[0].value is False
        return name in facts.NO_GRAD_CONTEXTS

    def is_called_so(self, node: ast.stmt | ast.expr, depth: int = 0, *, trains: bool = False) -> bool:
        """Whether all calls of the function in which a node stands are made where no gradient is wanted.

        Of a forward pass those are never all: whoever runs the module calls it. What ``eval()`` says where the function
        is called is over where it ``trains``, by a ``train()`` of its own in front of the node.
        """
        function = self._tree.function_of(node)
        calls = [] if function is None else self._definitions.calls_of(function)
        if calls and function is not None and function.name == "forward" and self._tree.class_of(function) is not None:
            return False
        if function is not None and not calls and self._outside:
            name = qualified_in_file(self._tree, function)
            calls_out = (call for call in self._outside if call.function == name and not call.is_unfollowed)
            quiet = [call.is_quiet for call in calls_out if call.turn == NOW_AND_THEN]
            return bool(quiet) and all(quiet)
        trains = trains or (bool(calls) and self.last_switch(node) == "train")
        return bool(calls) and all(
            self.is_under_no_grad(call)
            or (not trains and self.is_behind_eval(call))
            or (depth < _DEPTH and self.is_called_so(call, depth + 1, trains=trains))
            for call in calls
        )

    def is_behind_eval(self, node: LoopNode | ast.expr) -> bool:
        """Whether ``eval()``, not ``train()``, is the last switch of a module in front of a node, in its function."""
        return self.last_switch(node) == "eval"

    def last_switch(self, node: ast.stmt | ast.expr) -> str | None:
        """The last switch of a module in front of a node, in its function: ``eval`` or ``train``.

        ``train(False)`` is ``eval``. That of a module whose variable means another one by then says nothing:
        ``probe.eval()``, and ``probe = Net()`` behind it.
        """
        if self._switches is None:
            self._switches = {}
            for call in self._tree.calls:
                func = call.func
                is_method = isinstance(func, ast.Attribute) and func.attr in _MODES
                if (
                    self._kinds.value(func.value).kind is Kind.MODULE
                    if isinstance(func, ast.Attribute) and is_method
                    else self._mode_given(call) is not None
                ):
                    self._switches.setdefault(self._tree.function_of(call), []).append(call)
        begin, function = (node.lineno, node.col_offset), self._tree.function_of(node)
        last = None
        for call in self._switches.get(function, ()):
            if (call.lineno, call.col_offset) < begin and not self._is_given_up(call, node):
                last = call
        if last is None or (given := self._mode_given(last)) is not None:
            return None if last is None else given
        if not isinstance(last.func, ast.Attribute):
            return None
        modes = values_given(last)
        is_off = any(isinstance(mode, ast.Constant) and mode.value is False for mode in modes)
        return "eval" if is_off else last.func.attr

    def _is_given_up(self, switch: ast.Call, node: ast.AST) -> bool:
        """Whether the variable of a module that is switched is deleted, or means another one, in front of a node."""
        module = switch.func.value if isinstance(switch.func, ast.Attribute) else None
        if not isinstance(module, ast.Name):
            return False
        tree, switched = self._tree, self._tree.statement_of(switch)
        later = (
            binding
            for binding in self._names.bindings(module)
            if tree.start(switched) < tree.start(binding.node) < tree.start(node)
            and tree.function_of(binding.node) is tree.function_of(switch)
        )
        block = tree.suite_of(switched)  # one in a branch may not be run
        return any(
            binding.kind in ("assign", "delete")
            and any(item is binding.statement for item in block)
            and not any(isinstance(part, ast.Name) and part.id == module.id for part in self._parts_of(binding.value))
            for binding in later
        )

    @staticmethod
    def _parts_of(value: ast.expr | None) -> Iterator[ast.AST]:
        """What a value is made of: ``net = nn.DataParallel(net)`` is the same module still."""
        return iter(()) if value is None else ast.walk(value)

    def is_without_training(self, node: ast.AST) -> bool:
        """Whether a node stands where ``self.training`` is false, ``if self.training: ... else: node``, or a flow is
        run backwards, ``if reverse: node``."""
        if ".training" not in self._tree.source.text and not self._tree.source.has_any(_BACKWARDS):
            return False
        tree = self._tree
        child = node
        for ancestor in tree.ancestors(node):
            if isinstance(child, ast.stmt):
                suite = tree.suite_of(child)
                above = suite[: tree.position_of(child)]
                if any(isinstance(item, ast.If) and _trains(item.test) and _leaves(item.body) for item in above):
                    return True
            if isinstance(ancestor, FUNCTIONS):
                return False
            if isinstance(ancestor, ast.If):
                test = ancestor.test
                if tree.in_body(ancestor, child):
                    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and _trains(test.operand):
                        return True
                    if isinstance(test, ast.Name) and test.id in _BACKWARDS and self._is_off_by_default(test):
                        return True
                elif child is not test and _trains(test):
                    return True
            child = ancestor
        return False

    def _is_off_by_default(self, flag: ast.Name) -> bool:
        """Whether a flag is a parameter with the default False."""
        bindings = self._names.bindings(flag)
        defaults = [binding.value for binding in bindings if binding.kind == "parameter"]
        return len(bindings) == 1 and any(isinstance(item, ast.Constant) and item.value is False for item in defaults)

    def _mode_given(self, call: ast.Call) -> str | None:
        """``eval`` of ``set_mode("eval", [encoder, head])``, a function that switches the modules that it is given."""
        modes = [one.value for one in call.args if isinstance(one, ast.Constant) and one.value in _MODES]
        given = [part for one in call.args for part in (one.elts if isinstance(one, ast.List | ast.Tuple) else [one])]
        is_switch = len(modes) == 1 and any(self._kinds.value(part).kind is Kind.MODULE for part in given)
        return str(modes[0]) if is_switch else None


def _trains(test: ast.AST) -> bool:
    """``self.training``, ``model.training``"""
    return isinstance(test, ast.Attribute) and test.attr == "training"


def _leaves(suite: list[ast.stmt]) -> bool:
    return isinstance(suite[-1], ast.Return | ast.Raise)
