"""The fix builder: what a rule may do to a text, as the smallest spans that change."""

from __future__ import annotations

import ast
import re

from tpulint.arguments import Piece, argument_cuts, parameter_cuts, pieces
from tpulint.edits import one_change
from tpulint.emitters import Emitter
from tpulint.model import Applicability, Edit, Fix, ImportNeed, Scope, Span
from tpulint.statement_rows import StatementRows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tpulint.folding import Folding
    from tpulint.imports import ImportTable
    from tpulint.semantic import SemanticIndex

_HOLDERS = (ast.For, ast.While, ast.If, ast.With, ast.Try)
_COMPOUND = frozenset({"if", "for", "while", "with", "try:", "async", "def", "class", "match"})
"""First words of statements that cannot stand on one row with another."""
_COMMENT_BEHIND = r"(,?)([ \t]*#[^\r\n]*)"
_ATOMS = (
    ast.Name,
    ast.Attribute,
    ast.Call,
    ast.Subscript,
    ast.Constant,
    ast.List,
    ast.Dict,
    ast.Set,
    ast.ListComp,
    ast.DictComp,
    ast.SetComp,
    ast.JoinedStr,
)


class FixBuilder:
    """Collects the edits of one fix. What cannot be expressed makes the whole fix impossible: ``build`` gives None."""

    def __init__(
        self,
        index: SemanticIndex,
        imports: ImportTable,
        title: str,
        applicability: Applicability,
        reason: str,
        scope: Scope = Scope.EXPRESSION,
        emitter: type[Emitter] = Emitter,
    ) -> None:
        self._index = index
        self._source = index.source
        self._rows = StatementRows(index)
        self._imports = imports
        self.title = title
        self.applicability = applicability
        self.reason = reason
        self.scope = scope
        self.possible = True
        """False once an edit could not be expressed."""
        self._edits: list[Edit] = []
        self._replaced: set[Edit] = set()
        """Those of them that ``replace`` made: a fix of a whole file has thousands."""
        self._moved: dict[int, Edit] = {}
        """What ``move_behind`` puts at the end of a line."""
        self._needs: list[ImportNeed] = []
        self._emitter = emitter
        """What is written for a device, a step boundary and their like."""

    # ---------------------------------------------------------------- result

    @property
    def emit(self) -> Emitter:
        """Writes what stands for a device, a boundary or a seed, portable or not."""
        return self._emitter(self)  # made anew each time: an emitter kept here would hold the fix, and the fix it

    def give_up(self) -> None:
        """Make the fix impossible: a part of it cannot be proved."""
        self.possible = False

    def lower(self, applicability: Applicability, reason: str) -> None:
        """Lower the applicability, with the reason."""
        if applicability < self.applicability:
            self.applicability, self.reason = applicability, reason

    def build(self) -> Fix | None:
        """The finished fix; None when it is impossible or empty. Overlapping edits make it impossible."""
        if not self.possible or not self._edits or self._source.is_marimo:
            return None
        edits = one_change(self._edits, self._source)
        if edits is None:
            return None
        needs = tuple(dict.fromkeys(self._needs))
        return Fix(self.title, tuple(edits), needs, self.applicability, self.reason, self.scope)

    # ---------------------------------------------------------------- edits

    def use(self, module: str, name: str | None = None, alias: str | None = None, at: ast.AST | None = None) -> str:
        """Text by which a module or name can be written (at a node), recording the import it needs."""
        text, need = self._imports.local_name(module, name, alias, at)
        if need is not None:
            self._needs.append(need)
        return text

    def replace(self, where: ast.AST | Span, text: str) -> None:
        """Put ``text`` where a node (or span) stands."""
        span = where if isinstance(where, Span) else self._index.span(where)
        newline = self._source.newline
        if newline != "\n":  # what is taken from the file has its newlines already
            text = text.replace("\r\n", "\n").replace("\n", newline)
        edit = Edit(span, text)
        if edit not in self._replaced:
            self._replaced.add(edit)
            self._edits.append(edit)

    def insert(self, offset: int, text: str) -> None:
        """Insert text at an offset."""
        self.replace(Span(offset, offset), text)

    def covers(self, span: Span) -> bool:
        """Whether an edit of this fix touches a span already."""
        return any(edit.span.start < span.end and span.start < edit.span.end for edit in self._edits)

    def fold(self, known: Mapping[ast.expr, bool]) -> Folding:
        """What is left once these conditions are known: no dead branches, no guards that always hold. To be written."""
        from tpulint.folding import Folding

        return Folding(self, self._index, known)

    def device(self, at: ast.AST, number: str = "") -> str:
        """Text for the device at a node: the variable that holds it; where there is none, one is defined.

        ``number`` is the text of what chose among GPUs.
        """
        from tpulint.device_text import write_device

        return write_device(self, self._index, at, number)

    def device_object(self, at: ast.AST, number: str = "") -> str:
        """Text that makes the device object at a node."""
        from tpulint.device_text import write_device_object

        return write_device_object(self, self._index, at, number)

    def rename_callee(self, call: ast.Call, text: str) -> None:
        """Call something else with the same arguments."""
        self.replace(call.func, text)

    def append(self, node: ast.expr, suffix: str) -> None:
        """Write ``suffix`` (such as ``.to(device)``) behind an expression, with parentheses where it needs them."""
        span = self._index.span(node)
        if isinstance(node, _ATOMS) and not (isinstance(node, ast.Constant) and isinstance(node.value, int)):
            self.insert(span.end, suffix)
        else:
            self.insert(span.start, "(")
            self.insert(span.end, ")" + suffix)

    def replace_tail(self, whole: ast.expr, head: ast.expr, text: str) -> None:
        """Write ``text`` in place of all that follows ``head`` in ``whole``, as ``.cpu().item()`` follows ``x``."""
        attribute = self._index.parent(head)
        if not isinstance(attribute, ast.Attribute):
            self.give_up()
            return
        # A name in the tree is normalised; the dot is looked for in front of it, in the text.
        name = self._index.span(attribute).end - len(attribute.attr)
        start = self._source.text.rfind(".", 0, name)
        between = self._source.text[self._index.span(head).end : start]
        if not text and "#" not in between:  # nothing is left that could stand in the next row
            start -= len(between) - len(between.rstrip(" \t\r\n\\"))
        self.replace(Span(start, self._index.span(whole).end), text)

    def delete(self, statement: ast.stmt, indent: str | None = None) -> None:
        """Remove a whole statement with its line; a block that loses all of its statements gets ``pass``.

        ``indent`` is what the block will be indented by, if other edits change that.
        """
        self._edits.append(self._rows.removal(statement, indent))

    def insert_after(self, statement: ast.stmt, text: str) -> None:
        """Put one or more statements (lines without indentation) behind a statement, in its block."""
        index, source = self._index, self._source
        end = index.tree.end(statement)
        if self._rows.are_shared(statement):
            is_compound = text.split(" ", 1)[0] in _COMPOUND
            if is_compound or "\n" in text or "#" in text or isinstance(statement, _HOLDERS):
                self.give_up()
                return
            self.insert(end, "; " + text)
            return
        indent = self.indent_of(statement)
        line_end = self._rows.end_of_block(statement)
        lines = "".join(f"\n{indent}{line}" if line else "\n" for line in text.split("\n"))
        if line_end in self._moved:  # to the end of the block that ends here
            self._put_moved(line_end, self._moved[line_end].text + lines.replace("\n", source.newline))
            return
        if line_end < len(source.text) or not source.text.endswith(("\n", "\r")):
            self.insert(line_end, lines)
        else:
            self.insert(line_end, lines[1:] + "\n")

    def insert_behind_join(self, statement: ast.stmt, join: ast.Call, text: str) -> bool:
        """Put what touches the device behind the statement that joins a process group; False where that cannot be."""
        from tpulint.process_start import write_behind

        return write_behind(self, self._index, statement, join, text)

    def insert_before(self, statement: ast.stmt, text: str) -> None:
        """Put one or more statements (lines without indentation) in front of a statement, in its block."""
        index = self._index
        start = index.tree.start(statement)
        if not self._rows.begins_row(statement):
            if "\n" in text or "#" in text or text.split(" ", 1)[0] in _COMPOUND:
                self.give_up()
                return
            self.insert(start, text + "; ")
            return
        indent = self.indent_of(statement)
        lines = "".join(f"{indent}{line}\n" if line else "\n" for line in text.split("\n"))
        self.insert(self._source.line_start(start), lines)

    def insert_at_start(self, function: ast.FunctionDef | ast.AsyncFunctionDef, text: str) -> None:
        """Put statements (lines without indentation) at the start of a body, below docstring and global lines."""
        body = function.body
        has_docstring = ast.get_docstring(function, clean=False) is not None
        first = 0
        while first < len(body) - 1 and (
            isinstance(body[first], ast.Global | ast.Nonlocal) or (first == 0 and has_docstring)
        ):
            first += 1
        self.insert_before(body[first], text)

    def delete_parameter(self, function: ast.FunctionDef | ast.AsyncFunctionDef, parameter: ast.arg) -> None:
        """Take a plain parameter without a default out of a definition, with its comma."""
        self.delete_parameters(function, [parameter])

    def delete_parameters(
        self, function: ast.FunctionDef | ast.AsyncFunctionDef, parameters: Sequence[ast.arg]
    ) -> None:
        """Take plain parameters without a default out of a definition, with their commas."""
        self._cut(parameter_cuts(self._index, function, parameters))

    def insert_below_imports(self, text: str) -> None:
        """Put one or more statements below the imports at the top of the module, set off by blank lines.

        What they begin with may be imported further down, as torch is below `os.environ[...] = ...`: then they stand
        below the imports there.
        """
        from tpulint.below_imports import below_imports

        found = below_imports(self._index, text)
        if found is None:
            self.give_up()
        else:
            self.insert(*found)

    def move_behind(
        self,
        statements: Sequence[ast.stmt],
        other: ast.stmt,
        lead: str = "",
        replaced: Mapping[ast.expr, str] | None = None,
    ) -> None:
        """Move whole statements, with the comments beside and right above them, behind another one of their block.

        ``lead`` are lines to write in front of them, and ``replaced`` what stands for parts of them there.
        """
        source, lines = self._source, []
        others = sorted(((self._index.span(node), text) for node, text in (replaced or {}).items()), reverse=True)
        lines += [self.indent_of(other) + line for line in lead.splitlines()]
        for statement in statements:
            if self._rows.are_shared(statement) or self._rows.are_shared(other):
                self.give_up()
                return
            start = self._source.line_start(self._index.tree.start(statement))
            end = self._source.line_end(self._index.tree.end(statement))
            above = self._rows.comments_above(statement)
            moved = source.text[above:end]
            for span, text in others:
                if above <= span.start < end:
                    moved = moved[: span.start - above] + text + moved[span.end - above :]
            lines.append(moved)
            if above < start:
                self.replace(Span(above, start), "")
            self.delete(statement)
        line_end = self._source.line_end(self._index.tree.end(other))
        self._put_moved(line_end, "".join(source.newline + line for line in lines))

    def _put_moved(self, offset: int, text: str) -> None:
        if offset in self._moved:
            self._edits.remove(self._moved[offset])
        self._moved[offset] = Edit(Span(offset, offset), text)
        self._edits.append(self._moved[offset])

    def put_under(self, statements: Sequence[ast.stmt], header: str) -> None:
        """Put neighbouring statements of a block under a new line such as ``if step % 10 == 0:``."""
        if any(self._rows.are_shared(statement) for statement in statements):
            self.give_up()
            return
        from tpulint.restructuring import put_under

        changes = put_under(self._index, statements, header, self._rows.unit_of(statements[0]))
        if changes is None:
            self.give_up()
            return
        for span, text in changes:
            self.replace(span, text)

    def delete_argument(self, call: ast.Call, argument: ast.keyword | ast.expr) -> None:
        """Take one argument out of a call, with its comma."""
        self.delete_arguments(call, [argument])

    def delete_arguments(self, call: ast.Call, arguments: Sequence[ast.keyword | ast.expr]) -> None:
        """Take arguments out of a call, with their commas."""
        self._cut(argument_cuts(self._index, call, arguments))

    def _cut(self, spans: Sequence[Span] | None) -> None:
        if spans is None:
            self.give_up()
            return
        for span in spans:
            self.replace(span, "")

    def set_argument(self, call: ast.Call, keyword: str, text: str, may_be_hidden: bool = True) -> None:
        """Give a keyword argument a value: in place of the one it has, or as a new last argument.

        One that the call has from a dictionary, ``**options``, would be given twice: it is changed there where nothing
        else takes the dictionary. ``may_be_hidden`` is False where it is known that none has it.
        """
        for item in call.keywords:
            if item.arg == keyword:
                self.replace(item.value, text)
                return
        hidden = self._index.call_arguments.hidden(call, keyword) if may_be_hidden else ()
        if hidden is None:
            self.give_up()
            return
        if hidden:
            own = self._index.call_arguments.own_value(call, keyword)
            if own is None or text not in ("True", "False"):
                self.give_up()  # others take it too, or what decides is not known there
            else:
                self.replace(own, text)
            return
        if len(call.args) == 1 and isinstance(call.args[0], ast.GeneratorExp) and not call.keywords:
            self.give_up()
            return
        found = self.pieces(call)
        if not found:
            self.insert(self._index.tree.end(call) - 1, f"{keyword}={text}")
            return
        last = found[-1].span
        source = self._source.text
        line_start = self._source.line_start(last.start)
        own_line = not source[line_start : last.start].strip() and len(found) > 1
        gap = f"\n{source[line_start : last.start]}" if own_line else " "
        # The last code point of the last argument is rewritten with it: a fix that deletes that argument must clash.
        tail = Span(last.end - 1, last.end)
        written = next((edit for edit in self._edits if edit.span == tail), None)
        if written is not None:
            self._edits.remove(written)
            self._replaced.discard(written)
        before = source[tail.start : tail.end] if written is None else written.text
        row_end = self._source.line_end(last.end)
        may_stand_behind = own_line and written is None
        comment = re.compile(_COMMENT_BEHIND).fullmatch(source, last.end, row_end) if may_stand_behind else None
        if comment is not None:  # it tells of the argument in front of it
            self.replace(Span(last.end, row_end), comment[1])
            self.replace(tail, f"{before},{comment[2]}{gap}{keyword}={text}")
            return
        self.replace(tail, f"{before},{gap}{keyword}={text}")

    def pieces(self, call: ast.Call) -> list[Piece]:
        """The arguments of a call in order of position, as they stand in the text."""
        return pieces(self._index, call)

    # ---------------------------------------------------------------- text

    def source(self, node: ast.AST) -> str:
        """Source of a node as it stands."""
        return self._index.text(node)

    def text(self, node: ast.AST) -> str:
        """Source of a node that can be written elsewhere: in parentheses when it spans lines or is no atom."""
        text = self._index.text(node)
        if isinstance(node, _ATOMS) and "\n" not in text:
            return text
        return f"({text})" if isinstance(node, ast.expr) and not isinstance(node, ast.Tuple) else text

    def has_comment(self, statement: ast.stmt) -> bool:
        """Whether a comment stands on a line of a statement."""
        return self._rows.have_comment(statement)

    def indent_of(self, statement: ast.stmt) -> str:
        """The blanks in front of a statement's first line."""
        return self._rows.indent_of(statement)

    def has_neighbours(self, statement: ast.stmt) -> bool:
        """Whether other code stands on the first or last line of a statement."""
        return self._rows.are_shared(statement)
