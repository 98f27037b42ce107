"""The flag of torch with which modules keep their parameter objects when they move, and where a file has it set."""

from __future__ import annotations

import ast
from functools import cached_property

from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.value import is_true

SWAP_FLAG = "torch.__future__.set_swap_module_params_on_conversion"


class SwapFlag:
    """Where one file sets the flag, and takes it back."""

    def __init__(self, tree: SyntaxTree, names: Names) -> None:
        self._tree = tree
        calls = names.calls_to(SWAP_FLAG)
        self._set = [call for call in calls if len(call.args) == 1 and is_true(call.args[0])]
        self._taken_back = [call for call in calls if call not in self._set]

    @property
    def is_used(self) -> bool:
        """Whether it is set anywhere."""
        return bool(self._set)

    @property
    def stays(self) -> bool:
        """Whether it is left set: not taken back further down in the block that sets it."""
        return len(self._stretches) < len(self._set)

    def is_set_at(self, node: ast.AST) -> bool:
        """Whether a node stands between the call that sets it and the one that takes it back."""
        return any(self._tree.encloses(statement, node) for stretch in self._stretches for statement in stretch)

    @cached_property
    def _stretches(self) -> list[list[ast.stmt]]:
        """What stands behind each call that sets it, with the statement in which it is taken back."""
        found: list[list[ast.stmt]] = []
        for call in self._set:
            statement = self._tree.statement_of(call)
            ends = [one for one in self._taken_back if self._tree.function_of(one) is self._tree.function_of(call)]
            below = self._tree.suite_of(statement)[self._tree.position_of(statement) + 1 :]
            is_end = [any(self._tree.encloses(item, one) for one in ends) for item in below]
            if any(is_end):
                found.append(below[: is_end.index(True) + 1])
        return found
