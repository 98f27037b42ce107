"""Statements that change their block, done a second time on the trees of libcst."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from itertools import dropwhile
from typing import TypeVar

import libcst as cst
from concrete_tree import Change, ConcreteTree

from tpulint.restructuring import last_row
from tpulint.semantic import SemanticIndex

Block = TypeVar("Block", cst.Module, cst.IndentedBlock)


def unwrap(
    index: SemanticIndex,
    head: ast.If,
    last: ast.stmt,
    values: Mapping[ast.If, bool],
    ends: Collection[ast.If],
) -> list[Change] | None:
    """The changes that leave one branch of decided ``if`` statements; None where libcst cannot make them.

    All of them stand in ``head``. What follows one of ``ends`` in its block goes, down to ``last`` behind the head.
    """
    start = index.tree.start
    try:
        tree = ConcreteTree.read(index, [head, last], last_row(index, head, last))
        if tree is None:
            return None
        ifs = tree.ifs()
        decided = {ifs[start(node)]: value for node, value in values.items()}
        return tree.changes_to(tree.module.visit(_Unwrapping(tree, decided, {ifs[start(node)] for node in ends})))
    except RecursionError:
        return None


def put_under(index: SemanticIndex, statements: Sequence[ast.stmt], header: str, unit: str) -> list[Change] | None:
    """The changes that put neighbouring statements under a header, indented by ``unit``; None where libcst cannot."""
    new = cst.parse_statement(f"{header} pass")
    try:
        tree = ConcreteTree.read(index, statements, index.source.row(index.tree.end(statements[-1])))
        if tree is None:
            return None
        block = cst.IndentedBlock(tree.statements, indent=unit)
        return tree.changes_to(tree.with_statements([new.with_changes(body=block)]))
    except RecursionError:
        return None


class _Unwrapping(cst.CSTTransformer):
    """Leaves one branch of decided ``if`` statements. What holds none of them stays the object it is."""

    def __init__(self, tree: ConcreteTree, values: Mapping[cst.If, bool], ends: Collection[cst.If]) -> None:
        super().__init__()
        self._tree = tree
        self._values = values
        self._ends = ends

    def on_visit(self, node: cst.CSTNode) -> bool:
        return self._tree.holds(node, self._values)

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        return self._unwrapped(original_node, updated_node)

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        return self._unwrapped(original_node, updated_node)

    def _unwrapped(self, original: Block, updated: Block) -> Block:
        body: list[cst.BaseStatement] = []
        above: list[cst.EmptyLine] = []
        """Comments at the end of a branch, which stand above what follows it."""
        for old, new in zip(original.body, updated.body, strict=True):
            left = self._left(old, new) if isinstance(old, cst.If) and isinstance(new, cst.If) else new
            assert left is not None, "a statement of which nothing is left is deleted"
            (first, *others), behind = _taken_out(left) if isinstance(left, cst.Else) else ([left], [])
            body += [_below(above, first), *others]
            above = behind
            if old in self._ends:
                break
        return updated.with_changes(body=body, footer=[*above, *updated.footer])

    def _left(self, old: cst.If, new: cst.If) -> cst.If | cst.Else | None:
        """What is left of a chain from one of its conditions on: an ``else`` where the condition holds."""
        rest = new.orelse
        if isinstance(old.orelse, cst.If) and isinstance(rest, cst.If):
            rest = self._left(old.orelse, rest)
        value = self._values.get(old)
        if value is None:
            if rest is None:
                new = _with_comments_behind(new)
            return new if rest is new.orelse else new.with_changes(orelse=rest)
        if value:
            return cst.Else(_with_comments_behind(new).body, new.leading_lines)
        if rest is None:
            return None
        # Blank rows set the rest off from what goes.
        above = dropwhile(lambda line: line.comment is None, rest.leading_lines)
        return rest.with_changes(leading_lines=[*new.leading_lines, *above])


def _with_comments_behind(branch: cst.If) -> cst.If:
    """The branch with the comments above the next one that belong to it: they are indented, if not quite like it."""
    if branch.orelse is None or not isinstance(branch.body, cst.IndentedBlock):
        return branch
    lines = branch.orelse.leading_lines
    count = max(
        (at for at, line in enumerate(lines, 1) if line.comment and line.indent and line.whitespace.value), default=0
    )
    body = branch.body.with_changes(footer=[*branch.body.footer, *lines[:count]])
    return branch.with_changes(body=body) if count else branch


def _taken_out(branch: cst.Else) -> tuple[list[cst.BaseStatement], list[cst.EmptyLine]]:
    """The statements of a branch, and the comments behind the last one; that of the header stands above the first."""
    body = branch.body
    if isinstance(body, cst.SimpleStatementSuite):
        row = cst.SimpleStatementLine(body.body, branch.leading_lines, body.trailing_whitespace)
        return [row], []
    body = cst.ensure_type(body, cst.IndentedBlock)
    above = list(branch.leading_lines)
    if body.header.comment is not None:
        above.append(cst.EmptyLine(comment=body.header.comment, newline=body.header.newline))
    return [_below(above, body.body[0]), *body.body[1:]], list(body.footer)


def _below(lines: Sequence[cst.EmptyLine], statement: cst.BaseStatement) -> cst.BaseStatement:
    """The statement with these lines above it."""
    assert isinstance(statement, cst.SimpleStatementLine | cst.BaseCompoundStatement)
    return statement.with_changes(leading_lines=[*lines, *statement.leading_lines]) if lines else statement
