"""Flags that calls give a function every n-th turn only, ``step(batch, log=i % n == 0)``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from tpulint.semantic.functions.default_flags import DefaultFlags, is_open, literal
from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.project.outside import OutsideCall, qualified_in_file
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, LOOPS
from tpulint.semantic.syntax.tree import SyntaxTree


class GivenFlags:
    """Answers about the parameters of one file's functions."""

    def __init__(
        self,
        tree: SyntaxTree,
        names: Names,
        definitions: Definitions,
        flags: DefaultFlags,
        outside: Sequence[OutsideCall],
        is_interval: Callable[[ast.expr], bool],
    ) -> None:
        self._tree = tree
        self._names = names
        self._definitions = definitions
        self._flags = flags
        self._outside = outside
        self._is_interval = is_interval
        self._asked: set[str] = set()
        """Parameters that are being looked at: functions hand them on to each other."""

    def hold(self, name: ast.Name) -> bool:
        """Whether all calls of a function give a parameter a condition as these: ``step(batch, log=i % n == 0)``."""
        bindings = self._names.bindings(name)
        function = bindings[0].statement if len(bindings) == 1 and bindings[0].kind == "parameter" else None
        if not isinstance(function, FUNCTIONS) or self._flags.is_handed_on(function):
            return False
        key = f"{function.name}({name.id})"
        if key in self._asked:
            return False
        is_off = bindings[0].value is not None and not (literal(bindings[0].value) or (True,))[0]
        arguments = self._definitions.arguments
        here = self._definitions.calls_of(function) or arguments.calls_of_object(function)
        qualified = qualified_in_file(self._tree, function)
        others = [call for call in self._outside if call.function == qualified]
        self._asked.add(key)
        found = (
            bool(here or others)
            and not any(map(is_open, here))
            and all(name.id in call.at_intervals or (is_off and name.id in call.left) for call in others)
            and all(map(self._is_rarely_true, self._given_by_unknown(name.id)))
        )
        is_always_rare = True
        for call in here if found else ():
            given = arguments.of_call(call, function, name.id)
            is_rare = self._stands_behind_interval(call)
            is_always_rare = is_always_rare and is_rare
            found = found and (is_rare or (all(map(self._is_rarely_true, given)) if given else is_off))
        self._asked.discard(key)
        # Where all calls are rare, what they run may be the step itself.
        return found and (bool(others) or not is_always_rare)

    def _given_by_unknown(self, flag: str) -> list[ast.expr]:
        """What calls of nobody knows what give something of that name."""
        calls = (call for call in self._tree.calls if any(keyword.arg == flag for keyword in call.keywords))
        unknown = (call for call in calls if self._definitions.function_called(call) is None)
        return [keyword.value for call in unknown for keyword in call.keywords if keyword.arg == flag]

    def _is_rarely_true(self, given: ast.expr) -> bool:
        value = literal(given)
        return self._is_interval(given) if value is None else not value[0]

    def _stands_behind_interval(self, node: ast.AST) -> bool:
        """``if step % n == 0: note(loss, verbose=True)``"""
        child = node
        for ancestor in self._tree.ancestors(node):
            if isinstance(ancestor, (*FUNCTIONS, *LOOPS)):
                return False
            if (
                isinstance(ancestor, ast.If)
                and self._tree.in_body(ancestor, child)
                and self._is_interval(ancestor.test)
            ):
                return True
            child = ancestor
        return False
