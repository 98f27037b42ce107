"""Unwrapping: which branches of decided ``if`` statements stay, and what cannot be reached without the others."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from tpulint.model import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.cuts import Cuts
    from tpulint.semantic import SemanticIndex

_JUMPS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_DEAD = (*_JUMPS, ast.Pass, ast.Expr)
_DEAD_LIMIT = 3
"""More statements than that behind a branch that leaves are a part of the program worth keeping in sight."""


class Unwrapping:
    """The decided ``if`` statements of one text. What goes is known at once; the edits are made at the end."""

    def __init__(self, index: SemanticIndex, cuts: Cuts, values: Mapping[ast.If, bool]) -> None:
        self._index = index
        self._cuts = cuts
        self._values = values
        self._ends: dict[ast.If, ast.stmt] = {}
        """The last of the statements behind an ``if`` that are no longer reached."""
        self.kept: list[list[ast.stmt]] = []
        """Branches that are now always taken."""
        for node, value in values.items():
            cuts.dropped.append(index.span(node.test))
            self._drop(node.orelse if value else node.body)
        self._heads = list(dict.fromkeys(map(index.tree.head_of, values)))
        for head in self._heads:
            branch = self._taken(head)
            if branch:
                self.kept.append(branch)
                self._drop_overwritten(head, branch)
                self._drop_dead(head, branch)
            elif branch is not None:
                cuts.deleted.append(head)

    def write(self) -> None:
        """Add the edits to the cuts."""
        cuts, tree = self._cuts, self._index.tree
        emptied = [head for head in self._heads if self._goes(head)]
        cuts.deleted += emptied
        heads = set(self._heads)
        left = [head for head in self._heads if head not in emptied]
        if any(head in self._ends for head in emptied):
            cuts.possible = False
        for head in left:
            if any(ancestor in heads for ancestor in tree.ancestors(head)):
                continue  # goes, or changes, with the other
            from tpulint.restructuring import unwrap

            inner = [other for other in left if tree.encloses(head, other)]
            changes = unwrap(
                self._index,
                head,
                self._ends.get(head, head),
                {node: value for node, value in self._values.items() if tree.head_of(node) in inner},
                [other for other in inner if other in self._ends],
            )
            if changes is None:
                cuts.possible = False
            else:
                cuts.changes += changes

    def _taken(self, node: ast.If) -> list[ast.stmt] | None:
        """The branch of a chain that is always taken, empty where none is; None where a condition is open."""
        value = self._values.get(node)
        if value is False and node.orelse and self._index.tree.is_elif(node.orelse[0]):
            assert isinstance(node.orelse[0], ast.If)
            return self._taken(node.orelse[0])
        return None if value is None else node.body if value else node.orelse

    def _goes(self, statement: ast.stmt) -> bool:
        """Whether nothing is left of a statement."""
        if statement in self._cuts.deleted:
            return True
        branch = self._taken(statement) if isinstance(statement, ast.If) else None
        return branch is not None and all(map(self._goes, branch))

    def _drop(self, statements: list[ast.stmt]) -> None:
        if statements:
            tree = self._index.tree
            self._cuts.dropped.append(Span(tree.start(statements[0]), tree.end(statements[-1])))

    def _drop_dead(self, node: ast.If, body: list[ast.stmt]) -> None:
        """A branch that always leaves makes the few statements behind it unreachable."""
        suite = self._index.tree.suite_of(node)
        behind = suite[suite.index(node) + 1 :]
        if not behind or len(behind) > _DEAD_LIMIT or not isinstance(body[-1], _JUMPS):
            return
        yields = any(isinstance(inner, ast.Yield | ast.YieldFrom) for item in behind for inner in ast.walk(item))
        if not yields and all(isinstance(item, _DEAD) for item in behind):
            self._drop(behind)
            self._ends[node] = behind[-1]

    def _does_nothing(self, value: ast.expr) -> bool:
        """Whether working a value out has no effect: a constant, ``torch.device("cpu")``."""
        if isinstance(value, ast.Call) and self._index.qualified_name(value.func) == "torch.device":
            return not value.keywords and all(isinstance(item, ast.Constant) for item in value.args)
        return isinstance(value, ast.Constant)

    def _drop_overwritten(self, node: ast.If, body: list[ast.stmt]) -> None:
        """``device = "cpu"`` in front of a branch that is now always taken and begins by setting it anew."""
        suite = self._index.tree.suite_of(node)
        at = suite.index(node)
        before, first = suite[at - 1] if at else None, body[0]
        if isinstance(before, ast.Assign) and isinstance(first, ast.Assign) and self._does_nothing(before.value):
            old, new = before.targets[0], first.targets[0]
            if len(before.targets) + len(first.targets) != 2 or not (
                isinstance(old, ast.Name) and isinstance(new, ast.Name)
            ):
                return
            read = any(isinstance(inner, ast.Name) and inner.id == old.id for inner in ast.walk(first.value))
            if old.id == new.id and not read:
                self._cuts.deleted.append(before)
