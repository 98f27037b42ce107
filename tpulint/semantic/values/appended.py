"""What is put into an empty list or dictionary: ``loaders.append(loader)``, ``loaders["train"] = loader``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.creations import ANY_ELEMENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.values.creations import Creation


class Appended:
    """Answers about the lists and dictionaries of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def at(self, creation: Creation) -> Iterator[ast.expr]:
        """What an element may be; where a loop fills the list, any of what it puts there."""
        if len(creation.path) == 1:
            for key, value in self._stored.get(creation.node, ()):
                yield from self._put(key, value, creation.path[0])
        calls = self._calls.get(creation.node, ()) if len(creation.path) == 1 else ()
        in_loop = any(self._index.tree.loop_of(call) is not None for call in calls)
        for at, call in enumerate(calls):
            if in_loop or creation.path[0] in (f"[{at}]", ANY_ELEMENT):
                yield call.args[0]

    @cached_property
    def _calls(self) -> dict[ast.AST, list[ast.Call]]:
        """By the empty list, in order of position."""
        index = self._index
        found: dict[ast.AST, list[ast.Call]] = {}
        for call, receiver in index.method_calls("append"):
            if len(call.args) != 1 or not isinstance(receiver, ast.Name | ast.Attribute):
                continue
            for creation in index.moves.creations.of(receiver):
                if isinstance(creation.node, ast.List) and not creation.node.elts and not creation.path:
                    found.setdefault(creation.node, []).append(call)
        return found

    @cached_property
    def _stored(self) -> dict[ast.AST, list[tuple[ast.expr, ast.expr]]]:
        """By the dictionary, the keys under which assignments put something into it, with what they put there."""
        index = self._index
        found: dict[ast.AST, list[tuple[ast.expr, ast.expr]]] = {}
        for node in index.tree.nodes_in(index.tree.module, ast.Subscript):
            statement = index.parent(node)
            is_key = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant | ast.Name)
            if not is_key or not isinstance(statement, ast.Assign) or node not in statement.targets:
                continue
            assert isinstance(node, ast.Subscript)
            is_kept = isinstance(node.value, ast.Name | ast.Attribute)
            for creation in index.moves.creations.of(node.value) if is_kept else ():
                if _is_dictionary(creation.node) and not creation.path:
                    found.setdefault(creation.node, []).append((node.slice, statement.value))
        return found

    def _put(self, key: ast.expr, value: ast.expr, wanted: str) -> Iterator[ast.expr]:
        """What an assignment puts where another names an element: ``loaders[split] = loader``, ``loaders["train"]``.

        What branches on the key have made of the value, ``if split == "train": loader = ...``, is told apart.
        """
        if isinstance(key, ast.Constant):
            if f"[{key.value!r}]" == wanted:
                yield value
            return
        assert isinstance(key, ast.Name)
        is_told = wanted[:2] in ("['", '["')
        bindings = self._index.flow.reaching(value) if is_told and isinstance(value, ast.Name) else ()
        made = [(one.statement, one.value) for one in bindings if one.value is not None and not one.path]
        if not made or len(made) < len(bindings):
            yield value
            return
        for statement, given in made:
            if self._may_be_for(statement, key.id, wanted):
                yield given

    def _may_be_for(self, node: ast.AST, key: str, wanted: str) -> bool:
        """Whether the branches around a statement let a key be the one wanted."""
        for branch in self._index.tree.ancestors(node):
            if isinstance(branch, FUNCTIONS):
                break
            test = branch.test if isinstance(branch, ast.If) else None
            if not isinstance(test, ast.Compare) or not isinstance(test.left, ast.Name) or test.left.id != key:
                continue
            other = test.comparators[0]
            if (
                len(test.ops) > 1
                or not isinstance(test.ops[0], ast.Eq | ast.NotEq)
                or not isinstance(other, ast.Constant)
            ):
                continue
            assert isinstance(branch, ast.If)
            is_same = (f"[{other.value!r}]" == wanted) == isinstance(test.ops[0], ast.Eq)
            is_in_body = any(self._index.tree.encloses(part, node) for part in branch.body)
            if is_same != is_in_body:
                return False
        return True


def _is_dictionary(node: ast.AST) -> bool:
    """``{}``, ``dict()``"""
    if isinstance(node, ast.Call):
        return last_name(node.func) in ("dict", "OrderedDict") and not node.args
    return isinstance(node, ast.Dict)
