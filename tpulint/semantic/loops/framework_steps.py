"""Backward passes that are asked of a framework, ``accelerator.backward(loss)``, which sets step boundaries itself."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, LOOPS
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.kinds import Kind, Kinds


class FrameworkSteps:
    """Answers about one file."""

    def __init__(self, tree: SyntaxTree, names: Names, kinds: Kinds, definitions: Definitions) -> None:
        self._tree = tree
        self._names = names
        self._kinds = kinds
        self._definitions = definitions

    def are_asked(self, call: ast.Call, func: ast.Attribute) -> bool:
        """``accelerator.backward(loss)``, ``fabric.backward(loss)``, ``self.manual_backward(loss)``."""
        if func.attr == "manual_backward":
            return True
        one = len(call.args) == 1 and not call.keywords
        # An optimizer of apex has such a method too, and sets no boundary.
        return (
            one
            and self._kinds.value(func.value).kind not in (Kind.TENSOR, Kind.OPTIMIZER)
            and not self._is_one_of_two(call)
        )

    @cached_property
    def prepare_no_loader(self) -> bool:
        """Whether no framework deals out the batches of this file: its loops have no boundary then."""
        from tpulint.semantic.batches.prepared_batches import are_drawn_by_hand, are_generators

        return are_generators(self._tree, self._names, self._definitions) or are_drawn_by_hand(self._tree, self._kinds)

    def _is_one_of_two(self, call: ast.Call) -> bool:
        """Whether the loss has its own backward pass where the framework is not used: ``else: loss.backward()``.

        Accelerate and Fabric set their boundaries in loaders and updates, which both ways use; unless they are made
        where the framework is used alone, ``if mixed: accelerator = Accelerator()``.
        """
        prepares_both = re.search(r"(?i)accelerat|fabric", ast.unparse(call.func)) is not None
        child: ast.AST = call
        for ancestor in self._tree.ancestors(call):
            if isinstance(ancestor, (*FUNCTIONS, *LOOPS)):
                break
            if isinstance(ancestor, ast.If):
                other = ancestor.orelse if child in ancestor.body else ancestor.body
                calls = (node for statement in other for node in self._tree.nodes_in(statement, ast.Call))
                if any(_is_plain_backward(node) for node in calls):
                    return not prepares_both or self._is_made_under(call, ancestor.test)
            child = ancestor
        return False

    def _is_made_under(self, call: ast.Call, test: ast.expr) -> bool:
        """Whether the object whose method is called is only made under the same condition."""
        holder = call.func.value if isinstance(call.func, ast.Attribute) else None
        made = [binding.node for binding in self._names.bindings(holder)] if isinstance(holder, ast.Name) else []
        return bool(made) and all(
            any(
                isinstance(ancestor, ast.If) and ast.dump(ancestor.test) == ast.dump(test)
                for ancestor in self._tree.ancestors(node)
            )
            for node in made
        )


def _is_plain_backward(call: ast.Call) -> bool:
    """``loss.backward()``"""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "backward" and not call.args
