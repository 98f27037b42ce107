"""Texts that a variable holds to be shown in the same turn: ``text = "loss %.3f" % loss``, ``bar.write(text)``.

And dicts of what a bar shows: ``values = OrderedDict(loss=loss.item())``, ``bar.set_postfix(values)``.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


_DICTS = ("builtins.dict", "collections.OrderedDict")


class ShownTexts:
    """Finds those of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._memo: dict[ast.Assign, tuple[ast.stmt, ...]] = {}

    def is_shown(self, statement: ast.stmt) -> bool:
        """Whether a statement makes a text that nothing is done with but to print, log or show it."""
        return bool(self._shown_by(statement))

    def bars_at(self, statement: ast.stmt) -> tuple[ast.stmt, ...]:
        """A statement that only changes the text beside a progress bar, or makes that text and those that show it.

        Only calls stand between them, so that all of them can be left out in a turn.
        """
        reads, places = self._index.reads, self._shown_by(statement)
        if not places:
            return (statement,) if reads.is_bar(statement) else ()
        suite = self._index.tree.suite_of(statement)
        between = suite[suite.index(statement) + 1 : suite.index(places[-1])]
        are_calls = all(isinstance(one, ast.Expr) or self.bars_at(one) for one in between)
        return (statement, *places) if are_calls and all(map(reads.is_bar, places)) else ()

    def _shown_by(self, statement: ast.stmt) -> tuple[ast.stmt, ...]:
        """The statements behind it in its block that show a text; none where anything else may look at it."""
        if not isinstance(statement, ast.Assign):
            return ()
        if statement not in self._memo:
            self._memo[statement] = self._find(statement)
        return self._memo[statement]

    def _find(self, statement: ast.Assign) -> tuple[ast.stmt, ...]:
        index, target = self._index, statement.targets[0]
        is_text = index.reads.is_text(statement.value)
        if len(statement.targets) > 1 or not isinstance(target, ast.Name):
            return ()
        if not is_text and not self._is_dict(statement.value):
            return ()
        suite = index.tree.suite_of(statement)
        later = suite[suite.index(statement) + 1 :]
        places: list[ast.stmt] = []
        for use in index.held_values.uses_of(statement, target) or ():
            place, call = index.statement_of(use), self._call_given(use)
            if place not in later or call is None:
                return ()
            if not (index.reads.is_output(call) if is_text else index.reads.is_bar(place)):
                return ()
            places.append(place)
        return tuple(sorted(dict.fromkeys(places), key=index.span))

    def _is_dict(self, value: ast.expr) -> bool:
        """``{"loss": loss.item()}``, ``OrderedDict(loss=loss.item())``, with nothing that its keys would unpack."""
        if isinstance(value, ast.Dict):
            return all(isinstance(key, ast.Constant) for key in value.keys)
        if not isinstance(value, ast.Call) or self._index.qualified_name(value.func) not in _DICTS:
            return False
        pairs = value.args[0].elts if len(value.args) == 1 and isinstance(value.args[0], ast.List) else value.args
        return all(isinstance(pair, ast.Tuple) for pair in pairs) and all(keyword.arg for keyword in value.keywords)

    def _call_given(self, use: ast.Name) -> ast.Call | None:
        """The call that is a statement and that a variable is an argument of."""
        given = self._index.parent(use)
        call = self._index.parent(given) if isinstance(given, ast.keyword) else given
        is_argument = isinstance(call, ast.Call) and call.func is not use
        return call if is_argument and isinstance(self._index.parent(call), ast.Expr) else None  # type: ignore[arg-type, return-value]
