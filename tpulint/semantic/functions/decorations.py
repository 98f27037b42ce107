"""What decorators of the file make of its functions: ``@timed`` in front of one, whose calls run a wrapper."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.functions.definitions import Definitions

_CALL = "__call__"


class Decorations:
    """Answers about one file, whose ``Definitions`` ask. Methods are left out: a wrapper takes their object as well."""

    def __init__(self, tree: SyntaxTree, names: Names, definitions: Definitions) -> None:
        self._tree = tree
        self._names = names
        self._definitions = definitions

    def wrappers_of(self, function: FunctionNode) -> list[FunctionNode]:
        """What a call of a function runs as well: ``wrapper`` of ``def timed(f): def wrapper(*args): ...``."""
        return self._wrappers.get(function, []) if function.decorator_list else []

    def wrapped_by(self, wrapper: FunctionNode) -> list[FunctionNode]:
        """The functions whose calls run a wrapper, with the same arguments."""
        return self._wrapped.get(wrapper, [])

    def given_for(self, parameter: ast.AST) -> list[FunctionNode]:
        """The functions that a parameter of a decorator is: ``f`` of ``def timed(f)``."""
        return self._given.get(parameter, [])

    @cached_property
    def _made(self) -> list[tuple[FunctionNode, FunctionNode, ast.arg | None]]:
        """Functions with a wrapper of each, and the parameter by which that is given the function."""
        decorated = (one for one in self._tree.functions if one.decorator_list and self._tree.class_of(one) is None)
        return [(one, *made) for one in decorated for item in one.decorator_list for made in self._made_by(item)]

    def _made_by(self, decorator: ast.expr) -> Iterator[tuple[FunctionNode, ast.arg | None]]:
        name = decorator.func if isinstance(decorator, ast.Call) else decorator
        bindings = self._names.bindings(name) if isinstance(name, ast.Name) else []
        maker = bindings[0].node if len(bindings) == 1 else None
        if isinstance(maker, ast.ClassDef) and name is decorator:
            start, called = (self._definitions.method(maker, method) for method in ("__init__", _CALL))
            if start is not None and called is not None:
                yield called, next(iter(start.args.args[1:]), None)
        elif isinstance(maker, FUNCTIONS):
            makers = [maker] if name is decorator else self._returned(maker)  # `@timed("step")`
            for one in makers:
                yield from ((wrapper, next(iter(one.args.args), None)) for wrapper in self._returned(one))

    def _returned(self, maker: FunctionNode) -> list[FunctionNode]:
        """The functions in a function of which it returns one."""
        named = (one for one in self._definitions.returned_by(maker) if isinstance(one, ast.Name))
        found = [binding.node for one in named for binding in self._names.bindings(one)]
        return [one for one in found if isinstance(one, FUNCTIONS) and self._tree.function_of(one) is maker]

    @cached_property
    def _wrappers(self) -> dict[FunctionNode, list[FunctionNode]]:
        found = dict[FunctionNode, list[FunctionNode]]()
        for function, wrapper, _ in self._made:
            found.setdefault(function, []).append(wrapper)
        return found

    @cached_property
    def _wrapped(self) -> dict[FunctionNode, list[FunctionNode]]:
        found = dict[FunctionNode, list[FunctionNode]]()
        for function, wrapper, _ in self._made:
            found.setdefault(wrapper, []).append(function)
        return found

    @cached_property
    def _given(self) -> dict[ast.AST, list[FunctionNode]]:
        found = dict[ast.AST, list[FunctionNode]]()
        for function, _, parameter in self._made:
            if parameter is not None:
                found.setdefault(parameter, []).append(function)
        return found
