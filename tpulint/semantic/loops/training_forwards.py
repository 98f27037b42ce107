"""Forward passes that run a backward pass themselves: ``loss = wrapper(x)``, and ``optimizer.step()`` behind it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.functions.passed_arguments import arguments_given, defaults_of
from tpulint.semantic.loops.gradient_switches import GradientSwitches
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FunctionNode, is_of_self
from tpulint.semantic.syntax.tree import SyntaxTree

FORWARD = "forward"
_TRAINING = "self.training"


class TrainingForwards:
    """Answers which calls of modules run one, of one file whose backward passes are given."""

    def __init__(self, tree: SyntaxTree, names: Names, definitions: Definitions, backwards: Iterable[ast.Call]) -> None:
        self._tree = tree
        self._names = names
        self._definitions = definitions
        self._backwards: dict[FunctionNode, list[ast.Call]] = {}
        for call in backwards:
            function = tree.function_of(call)
            owner = None if function is None or function.name != FORWARD else tree.class_of(function)
            if function is not None and owner is not None and definitions.is_module_class(owner):
                self._backwards.setdefault(function, []).append(call)

    def run_by(self, call: ast.Call, modes: GradientSwitches) -> FunctionNode | None:
        """The one that a call of a module of this file runs."""
        if not self._backwards or not isinstance(call.func, ast.Name | ast.Attribute):
            return None
        owner = self._definitions.classes.one_of_variable(call.func)
        forward = None if owner is None else self._definitions.method(owner, FORWARD)
        return forward if forward is not None and self.goes_backward(forward, call, modes) else None

    def goes_backward(self, forward: FunctionNode, call: ast.Call, modes: GradientSwitches) -> bool:
        """Whether a forward pass runs a backward pass for a call of this file or of another, whose modes are given.

        It may have to be asked for, ``backward=True``, or be run ``if self.training`` alone.
        """
        backwards = self._backwards.get(forward, ())
        if not backwards or modes.is_under_no_grad(call):
            return False
        given = dict(arguments_given(call, forward, is_method=True))
        is_behind_eval = modes.is_behind_eval(call)
        return any(
            all(_is_on(given.get(name)) if name != _TRAINING else not is_behind_eval for name in needed)
            for needed in (list(self._switches(forward, one)) for one in backwards)
        )

    def _switches(self, forward: FunctionNode, backward: ast.Call) -> Iterator[str]:
        """What a backward pass needs: parameters that are off unless a call says otherwise, and ``self.training``."""
        off = {*_off_by_default(forward), _TRAINING}
        child: ast.AST = backward
        for ancestor in self._tree.ancestors(backward):
            if ancestor is forward:
                return
            if isinstance(ancestor, ast.If) and child in ancestor.body:
                yield from (name for name in self._needed(ancestor.test) if name in off)
            child = ancestor

    def _needed(self, test: ast.expr, depth: int = 0) -> Iterator[str]:
        """Variables without which a condition does not hold: ``backward and is_last``, or a name of that."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            for value in test.values:
                yield from self._needed(value, depth)
        elif isinstance(test, ast.Attribute) and is_of_self(test) and test.attr == "training":
            yield _TRAINING
        elif isinstance(test, ast.Name):
            yield test.id
            bindings = self._names.bindings(test)
            if len(bindings) == 1 and bindings[0].kind == "assign" and bindings[0].value is not None and depth == 0:
                yield from self._needed(bindings[0].value, 1)


def _off_by_default(function: FunctionNode) -> set[str]:
    defaults = defaults_of(function).items()
    return {name for name, default in defaults if isinstance(default, ast.Constant) and not default.value}


def _is_on(given: ast.expr | None) -> bool:
    return given is not None and not (isinstance(given, ast.Constant) and not given.value)
