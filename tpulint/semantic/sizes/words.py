"""Lists with one item for each word of a text, and so as long as the text happens to be."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from tpulint.semantic.syntax.nodes import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.syntax.bindings import Binding

_DEPTH = 8
_KEEPING = frozenset(f"builtins.{name}" for name in ("list", "tuple", "sorted", "reversed", "enumerate"))
_LOOKUPS = frozenset({"get", "index", "find"})
_FILLED_UP = re.compile(r"pad|max_?(seq|sent|word)?[a-z]*_?len|truncat|fixed", re.IGNORECASE)
"""What is written where texts are brought to one length."""


class Words:
    """Finds where the text is split."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def of(self, node: ast.expr, depth: int = 0) -> ast.Call | None:
        """The call that splits the text whose words a list has one item for each of; None for any other list."""
        index = self._index
        if depth > _DEPTH:
            return None
        if isinstance(node, ast.Call):
            return self._of_call(node, depth)
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            through = node.generators[0]
            return self.of(through.iter, depth + 1) if len(node.generators) == 1 and not through.ifs else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):  # `["<start>"] + words`
            sides = (node.left, node.right)
            if any(isinstance(part, ast.Mult) for side in sides for part in ast.walk(side)):
                return None  # filled up
            return self.of(node.left, depth + 1) or self.of(node.right, depth + 1)
        if isinstance(node, ast.Name) and not self._is_filled_up(node):
            return self._all(self._of_binding(binding, depth) for binding in index.flow.reaching(node))
        return None

    def numbered(self, node: ast.expr, depth: int = 0) -> ast.Call | None:
        """The same where each word is looked up: ``[numbers[word] for word in words]``."""
        index = self._index
        if depth > _DEPTH:
            return None
        if isinstance(node, ast.ListComp) and isinstance(node.generators[0].target, ast.Name):
            word = node.generators[0].target.id
            return self.of(node) if _is_looked_up(node.elt, word) else None
        if isinstance(node, ast.Name) and not self._is_filled_up(node):
            bindings = index.flow.reaching(node)
            values = [binding.value for binding in bindings if binding.kind == "assign" and not binding.path]
            if len(values) == len(bindings):
                return self._all(None if value is None else self.numbered(value, depth + 1) for value in values)
        if isinstance(node, ast.Call):
            function = index.definitions.function_called(node)
            given = [] if function is None else index.definitions.returned_by(function)
            return self._all(self.numbered(value, depth + 1) for value in given)
        return None

    def _of_call(self, call: ast.Call, depth: int) -> ast.Call | None:
        index = self._index
        name = index.qualified_name(call.func)
        if name in _KEEPING and len(call.args) == 1:
            return self.of(call.args[0], depth + 1)
        if name == "builtins.map" and len(call.args) == 2:
            return self.of(call.args[1], depth + 1)
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if name == "nltk.word_tokenize" or name == "nltk.tokenize.word_tokenize":
            return None if call.args and self._is_fixed(call.args[0]) else call
        if method == "split" and isinstance(call.func, ast.Attribute) and name is None and not call.keywords:
            is_blank = not call.args or (isinstance(call.args[0], ast.Constant) and call.args[0].value == " ")
            return call if is_blank and len(call.args) < 2 and not self._is_fixed(call.func.value) else None
        function = index.definitions.function_called(call)
        given = [] if function is None else index.definitions.returned_by(function)
        return self._all(self.of(value, depth + 1) for value in given)

    def _of_binding(self, binding: Binding, depth: int) -> ast.Call | None:
        index = self._index
        if binding.kind == "assign" and binding.value is not None and not binding.path:
            return self.of(binding.value, depth + 1)
        if binding.kind == "loop" and binding.value is not None:
            items = index.kinds.contents.of(binding.value)
            parts = [_part(item, binding.path) for item in items]
            written = [part for part in map(_split_literal, parts) if part is not None]
            if written and len(written) == len(parts):  # each is fixed, and the next one another
                return written[0] if len({_length(part) for part in written}) > 1 else None
            return self._all(None if part is None else self.of(part, depth + 1) for part in parts)
        if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
            passed = index.definitions.arguments.of(binding.statement, binding.name)
            return next((found for item in passed if (found := self.of(item, depth + 1)) is not None), None)
        return None

    def _is_fixed(self, text: ast.expr, depth: int = 0) -> bool:
        """Whether a text is the same in every turn: a literal, or a variable that is given one literal."""
        if isinstance(text, ast.Name) and depth < _DEPTH:
            index, bindings = self._index, self._index.flow.reaching(text)
            if len(bindings) != 1:
                return False
            binding = bindings[0]
            if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
                passed = index.definitions.arguments.of(binding.statement, binding.name)
                return bool(passed) and all(self._is_fixed(item, depth + 1) for item in passed)
            value = binding.value if binding.kind == "assign" and not binding.path else None
            return value is not None and self._is_fixed(value, depth + 1)
        return isinstance(text, ast.Constant)

    def _is_filled_up(self, name: ast.Name) -> bool:
        """Whether the code around a list says anything of bringing texts to one length."""
        function = self._index.function_of(name)
        holder = function if function is not None else self._index.statement_of(name)
        return _FILLED_UP.search(self._index.text(holder)) is not None

    @staticmethod
    def _all(found: Iterable[ast.Call | None]) -> ast.Call | None:
        calls = list(found)
        return calls[0] if calls and all(call is not None for call in calls) else None


def _part(node: ast.expr, path: tuple[int, ...]) -> ast.expr | None:
    for at in path:
        if not isinstance(node, ast.Tuple | ast.List) or not 0 <= at < len(node.elts):
            return None
        node = node.elts[at]
    return node


def _split_literal(node: ast.expr | None) -> ast.Call | None:
    """``"a text".split()``"""
    func = node.func if isinstance(node, ast.Call) else None
    is_split = isinstance(func, ast.Attribute) and func.attr == "split" and isinstance(func.value, ast.Constant)
    return node if is_split and isinstance(node, ast.Call) and not node.keywords and len(node.args) < 2 else None


def _length(call: ast.Call) -> int:
    """How many words a literal that is split has."""
    assert isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Constant)
    text = str(call.func.value.value)
    return len(text.split(" ") if call.args else text.split())


def _is_looked_up(node: ast.expr, word: str) -> bool:
    """``numbers[word]``, ``numbers.get(word, unknown)``, ``alphabet.index(word)``; another one where it is missing."""
    if isinstance(node, ast.IfExp):
        return _is_looked_up(node.body, word) or _is_looked_up(node.orelse, word)
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Name) and node.slice.id == word
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in _LOOKUPS:
        return False
    return bool(node.args) and isinstance(node.args[0], ast.Name) and node.args[0].id == word
