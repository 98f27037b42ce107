"""Mechanical fixes done a second time, on libcst's trees: what the span edits must agree with, to the letter."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile

import libcst as cst
from libcst.metadata import MetadataWrapper, QualifiedNameProvider, QualifiedNameSource

DELETED = cst.Expr(cst.Name("deleted"))


class Oracle(cst.CSTTransformer):
    """Replaces names, deletes statements, changes calls; every decision is made on the original tree."""

    METADATA_DEPENDENCIES = (QualifiedNameProvider,)

    def qualified_name(self, node: cst.CSTNode) -> str | None:
        """What a dotted name was imported as; None unless every binding of it is that import."""
        root = node
        while isinstance(root, cst.Attribute):
            root = root.value
        if not isinstance(root, cst.Name):
            return None
        names = self.get_metadata(QualifiedNameProvider, node, set())
        found = {name.name for name in names if name.source is QualifiedNameSource.IMPORT}
        return found.pop() if len(found) == len(names) == 1 else None

    # What a subclass may say.

    def new_name(self, node: cst.Name | cst.Attribute) -> str | None:
        """Text to write in place of a name."""
        return None

    def is_deleted(self, statement: cst.BaseSmallStatement) -> bool:
        """Whether a statement goes."""
        return False

    # Imports bind names; they are not references.

    def visit_Import(self, node: cst.Import) -> bool:
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False

    def _renamed(self, original: cst.Name | cst.Attribute, updated: cst.Name | cst.Attribute) -> cst.BaseExpression:
        text = self.new_name(original)
        if text is None:
            return updated
        return cst.parse_expression(text).with_changes(lpar=updated.lpar, rpar=updated.rpar)

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return self._renamed(original_node, updated_node)

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        return self._renamed(original_node, updated_node)

    # Statements of one row: the semicolon behind the last one stays as it was.

    def _kept(
        self, original: Sequence[cst.BaseSmallStatement], updated: Sequence[cst.BaseSmallStatement]
    ) -> list[cst.BaseSmallStatement]:
        kept = [new for old, new in zip(original, updated, strict=True) if not self.is_deleted(old)]
        if kept and self.is_deleted(original[-1]):
            kept[-1] = kept[-1].with_changes(semicolon=updated[-1].semicolon)
        return kept

    # libcst itself drops a row without statements, and the comments above it: it stays, marked, until its block ends.

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        return updated_node.with_changes(body=self._kept(original_node.body, updated_node.body) or [DELETED])

    def leave_SimpleStatementSuite(
        self, original_node: cst.SimpleStatementSuite, updated_node: cst.SimpleStatementSuite
    ) -> cst.SimpleStatementSuite:
        return updated_node.with_changes(body=self._kept(original_node.body, updated_node.body) or [cst.Pass()])

    # Rows: comments above a deleted row stay where they are; libcst hangs them on the row.

    def _rows(self, body: Iterable[cst.BaseStatement]) -> tuple[list[cst.BaseStatement], list[cst.EmptyLine]]:
        rows: list[cst.BaseStatement] = []
        above: list[cst.EmptyLine] = []
        for row in body:
            if isinstance(row, cst.SimpleStatementLine) and row.body[0] is DELETED:
                above.extend(row.leading_lines)
                continue
            if above:
                lines = list(getattr(row, "leading_lines", ()))
                # Blank rows on both sides of what goes: no more of them are left than stood on one side.
                row = row.with_changes(leading_lines=[*above, *lines[min(_blanks(reversed(above)), _blanks(lines)) :]])
                above = []
            rows.append(row)
        return rows, above

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        rows, above = self._rows(updated_node.body)
        if not rows:
            first, *others = updated_node.body
            assert isinstance(first, cst.SimpleStatementLine)
            ending = cst.TrailingWhitespace(newline=first.trailing_whitespace.newline)
            rows = [first.with_changes(body=[cst.Pass()], trailing_whitespace=ending)]
            above = [line for row in others for line in getattr(row, "leading_lines", ())]
        return updated_node.with_changes(body=rows, footer=[*above, *updated_node.footer])

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        rows, above = self._rows(updated_node.body)
        if rows:
            return updated_node.with_changes(body=rows, footer=[*above, *updated_node.footer])
        return updated_node.with_changes(body=[], header=[*updated_node.header, *above])


def _blanks(lines: Iterable[cst.EmptyLine]) -> int:
    """How many blank rows some rows begin with."""
    return sum(1 for _ in takewhile(lambda line: line.comment is None, lines))


class NameOracle(Oracle):
    """Renames by a table; deletes calls of some names where they are statements, and assignments to flags."""

    def __init__(self, new_names: Mapping[str, str], deleted: frozenset[str], flags: frozenset[str]) -> None:
        super().__init__()
        self._new_names = new_names
        self._deleted = deleted
        self._flags = flags
        self._repeated: set[cst.BaseSmallStatement] = set()
        """Calls that become what the statement above them becomes."""

    def visit_Module(self, node: cst.Module) -> None:
        self._find_repeated(node.body)

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> None:
        self._find_repeated(node.body)

    def visit_SimpleStatementSuite(self, node: cst.SimpleStatementSuite) -> None:
        self._find_repeated([node])

    def _find_repeated(self, rows: Iterable[cst.CSTNode]) -> None:
        above: cst.BaseSmallStatement | None = None
        for row in rows:
            is_simple = isinstance(row, cst.SimpleStatementLine | cst.SimpleStatementSuite)
            for statement in row.body if is_simple else [None]:
                if above is not None and statement is not None and self._becomes_same(above, statement):
                    self._repeated.add(statement)
                above = statement

    def _becomes_same(self, one: cst.BaseSmallStatement, other: cst.BaseSmallStatement) -> bool:
        match one, other:
            case cst.Expr(value=cst.Call() as first), cst.Expr(value=cst.Call() as second):
                names = [self.qualified_name(call.func) or "" for call in (first, second)]
                new = [self._new_names.get(name) for name in names]
                return names[0] != names[1] and None not in new and new[0] == new[1] and given(first) == given(second)
        return False

    def new_name(self, node: cst.Name | cst.Attribute) -> str | None:
        return self._new_names.get(self.qualified_name(node) or "")

    def is_deleted(self, statement: cst.BaseSmallStatement) -> bool:
        match statement:
            case cst.Expr(value=cst.Call(func=callee)):
                return statement in self._repeated or self.qualified_name(callee) in self._deleted
            case cst.Assign(targets=targets):
                return all(self.qualified_name(target.target) in self._flags for target in targets)
        return False


class CallOracle(Oracle):
    """``x.cuda()`` becomes ``x.to('xla')``; a ``DataLoader`` loses one argument and gets another one."""

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        match original_node.func:
            case cst.Attribute(attr=cst.Name(value="cuda")) if not original_node.args:
                if self.qualified_name(original_node.func) is None:
                    moved = updated_node.func.with_deep_changes(updated_node.func.attr, value="to")  # type: ignore[attr-defined]
                    device = cst.Arg(cst.SimpleString("'xla'"))
                    return updated_node.with_changes(
                        func=moved, args=[device], whitespace_before_args=cst.SimpleWhitespace("")
                    )
        if self.qualified_name(original_node.func) == "torch.utils.data.DataLoader":
            return updated_node.with_changes(args=with_drop_last(without(updated_node.args, "pin_memory")))
        return updated_node


def without(args: Sequence[cst.Arg], name: str) -> list[cst.Arg]:
    """Arguments without one of them; the comma behind the last one stays as it was, and the comment behind the one that
    is the last then."""
    at = next((at for at, arg in enumerate(args) if arg.keyword and arg.keyword.value == name), None)
    if at is None:
        return list(args)
    rest = [*args[:at], *args[at + 1 :]]
    if rest and at == len(args) - 1:
        above, comma, end = rest[-1].comma, args[-1].comma, args[-1].whitespace_after_arg
        told = comment_in(above.whitespace_after) if isinstance(above, cst.Comma) else None
        if told is not None and isinstance(end, cst.ParenthesizedWhitespace):
            comma, end = cst.Comma(whitespace_after=end.with_changes(first_line=told)), cst.SimpleWhitespace("")
        rest[-1] = rest[-1].with_changes(comma=comma, whitespace_after_arg=end)
    return rest


def comment_in(space: cst.BaseParenthesizableWhitespace) -> cst.TrailingWhitespace | None:
    """The end of a row that has a comment."""
    is_told = isinstance(space, cst.ParenthesizedWhitespace) and space.first_line.comment is not None
    return space.first_line if is_told else None  # type: ignore[attr-defined]


def without_comment(space: cst.BaseParenthesizableWhitespace) -> cst.BaseParenthesizableWhitespace:
    if comment_in(space) is None:
        return space
    return space.with_changes(first_line=cst.TrailingWhitespace())


def with_drop_last(args: Sequence[cst.Arg]) -> list[cst.Arg]:
    """Arguments with ``drop_last=True`` behind them: on a row of its own where the last one has one, below the comment
    that stands behind that one."""
    if any(arg.star == "**" or (arg.keyword and arg.keyword.value == "drop_last") for arg in args):
        return list(args)
    *others, last = args
    end, after = last.comma, last.whitespace_after_arg
    told = comment_in(end.whitespace_after if isinstance(end, cst.Comma) else after)
    added = cst.Arg(
        cst.Name("True"),
        keyword=cst.Name("drop_last"),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
        comma=last.comma,
        whitespace_after_arg=last.whitespace_after_arg,
    )
    space: cst.BaseParenthesizableWhitespace = cst.SimpleWhitespace(" ")
    if others and isinstance(others[-1].comma, cst.Comma):
        before = others[-1].comma.whitespace_after
        if isinstance(before, cst.ParenthesizedWhitespace):
            space = cst.ParenthesizedWhitespace(indent=before.indent, last_line=before.last_line)
            if told is not None:
                space = space.with_changes(first_line=told)
                if isinstance(end, cst.Comma):
                    end = end.with_changes(whitespace_after=without_comment(end.whitespace_after))
                added = added.with_changes(comma=end, whitespace_after_arg=without_comment(after))
    comma = cst.Comma(whitespace_after=space)
    return [*others, last.with_changes(comma=comma, whitespace_after_arg=cst.SimpleWhitespace("")), added]


def rewritten(text: str, make: Callable[[], Oracle]) -> str | None:
    """The text as the oracle leaves it; None where libcst itself does not give back the text it read."""
    try:
        module = cst.parse_module(text)
    except cst.ParserSyntaxError:
        return None
    if module.code != text:
        return None
    return MetadataWrapper(module, unsafe_skip_copy=True).visit(make()).code


def given(call: cst.Call) -> str:
    """The arguments of a call, however they are laid out."""
    plain = call.with_changes(func=cst.Name("called"), lpar=(), rpar=())
    return ast.dump(ast.parse(f"({cst.Module([]).code_for_node(plain)})"))
