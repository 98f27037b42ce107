"""Select fixes and apply them: whole fixes, widest scope first, round by round until nothing is left to do."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Sequence

from tpulint.comments import comment_spans
from tpulint.edits import keep_blocks_filled
from tpulint.fixes import FixBuilder
from tpulint.imports import ImportTable, comments_on_effect, import_edit, names_imported, unused_imports
from tpulint.model import Applicability, Edit, Finding, Fix, Scope, Span
from tpulint.records import NamedTuple
from tpulint.semantic import SemanticIndex
from tpulint.source import InvalidSyntax, SourceFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.text_files import TextIndex

    Index = SemanticIndex | TextIndex

ROUND_LIMIT = 25
_NEWLINE = re.compile(r"\r\n|\r|\n")


class BrokenFix(Exception):
    """A fix made text that is not Python: a bug of a rule, reported and never written."""


class FixedText(NamedTuple):
    """What the rounds made of one file."""

    source: SourceFile
    fixed: tuple[Finding, ...]
    findings: list[Finding]
    """What the last look at the text found."""
    rounds: int
    first_look: Index
    """The index of the text as it was."""
    last_look: Index
    """The index of ``source``."""


def select(findings: Iterable[Finding], required: Applicability) -> list[Finding]:
    """Findings whose fixes go into this round: of the widest scope present, all disjoint, in order of position."""
    candidates = [(f.fix, f) for f in findings if f.fix is not None and f.fix.applicability >= required]
    if not candidates:
        return []
    widest = max(fix.scope for fix, _ in candidates)
    accepted: list[Finding] = []
    taken = _Disjoint()
    decided: dict[int, bool] = {}
    """Verdict on a fix object: a group's findings share one."""
    for fix, finding in sorted(candidates, key=lambda pair: (pair[0].edits[0].span, pair[1].code, pair[1].span)):
        if fix.scope != widest:
            continue
        if id(fix) not in decided:
            decided[id(fix)] = taken.accept(fix.edits)
        if decided[id(fix)]:
            accepted.append(finding)
    return accepted


class _Disjoint:
    """Accepted edits in order of position; a new one is compared with its neighbours only."""

    def __init__(self) -> None:
        self._edits: set[Edit] = set()
        self._spans: list[Span] = []

    def accept(self, edits: Sequence[Edit]) -> bool:
        """Take all of these edits, if none clashes; one that is there already is no clash."""
        new = [edit for edit in edits if edit not in self._edits]
        if any(self._clashes(edit.span) for edit in new):
            return False
        for edit in new:
            self._edits.add(edit)
            insort(self._spans, edit.span)
        return True

    def _clashes(self, span: Span) -> bool:
        at = bisect_left(self._spans, span)
        # Disjoint spans: only insertions at its border can stand between a span and the one it overlaps.
        return any(_clash(span, other) for other in self._spans[max(0, at - 3) : at + 3])


def _clash(left: Span, right: Span) -> bool:
    if left.start == left.end and right.start == right.end:
        return left == right
    if left.start == left.end:
        return right.start < left.start < right.end
    if right.start == right.end:
        return left.start < right.start < left.end
    return left.start < right.end and right.start < left.end


def apply(index: Index, fixes: Sequence[Fix]) -> str:
    """The text with all edits of these fixes and the imports they need. The edits must be disjoint."""
    return _applied(index, fixes).text


def _applied(index: Index, fixes: Sequence[Fix]) -> SourceFile:
    needs = [need for fix in fixes for need in fix.imports]
    edits = keep_blocks_filled(list(dict.fromkeys(edit for fix in fixes for edit in fix.edits)))
    # Only what brings a name in needs its import above it: `os.environ["CUDA_VISIBLE_DEVICES"] = "0"` just goes.
    using = [edit for fix in fixes if fix.imports for edit in fix.edits]
    imports = import_edit(index, needs, using) if isinstance(index, SemanticIndex) else None
    if imports is not None:
        edits.append(imports)
    return index.source.with_edits(edits, first=imports)


def apply_edits(text: str, edits: Sequence[Edit], first: Edit | None = None) -> str:
    """The text with these disjoint edits; at one offset ``first`` stands in front of other insertions.

    Lines put in at the end of a line leave it its own newline, also where newlines are mixed.
    """
    parts: list[str] = []
    at = 0
    ordered = sorted(edits, key=lambda e: (e.span.start, e.span.end, e is not first))
    for number, edit in enumerate(ordered):
        start, end = edit.span
        parts.append(text[at:start])
        at = max(at, end)
        following = ordered[number + 1].span.start if number + 1 < len(ordered) else len(text)
        given, own = (_NEWLINE.match(edit.text), _NEWLINE.match(text, start)) if start == end else (None, None)
        if given and own and given.group() != own.group() and own.end() <= following:
            parts += (own.group(), edit.text[given.end() :], given.group())
            at = own.end()
        else:
            parts.append(edit.text)
    parts.append(text[at:])
    return "".join(parts)


def fix_rounds(
    source: SourceFile, look: Callable[[SourceFile], tuple[Index, list[Finding]]], required: Applicability
) -> FixedText:
    """Fix, look again, until nothing is accepted.

    ``look`` lints a text. Raises ``BrokenFix`` when a result does not parse or the rounds do not end.
    """
    original, findings = look(source)
    index = original
    fixed: list[Finding] = []
    rounds = tidied = 0
    while True:
        accepted = select(findings, required)
        if not accepted:
            if tidied == rounds:
                break
            # What is left without a use goes, which may free a name that a fix was waiting for.
            tidied = rounds
            source, index, findings = _tidied(original, source, index, findings, look)
            continue
        rounds += 1
        codes = ", ".join(sorted({finding.code for finding in accepted}))
        if rounds > ROUND_LIMIT:
            raise BrokenFix(f"fixes of {codes} do not come to an end")
        fixes = {id(finding.fix): finding.fix for finding in accepted if finding.fix is not None}
        source = _applied(index, list(fixes.values()))
        fixed.extend(accepted)
        if index is not original:
            index.release()
        try:
            index, findings = look(source)
        except InvalidSyntax as invalid:
            raise BrokenFix(f"fix of {codes} gives invalid Python: {invalid}") from invalid
    if rounds and isinstance(original, SemanticIndex) and isinstance(index, SemanticIndex):
        comments = comments_on_effect(original, index)
        if comments:
            source = source.with_edits(comments)
            index, findings = look(source)
    return FixedText(source, tuple(fixed), findings, rounds, original, index)


def _tidied(
    original: Index,
    source: SourceFile,
    index: Index,
    findings: list[Finding],
    look: Callable[[SourceFile], tuple[Index, list[Finding]]],
) -> tuple[SourceFile, Index, list[Finding]]:
    """Fixed Python code without what the fixes left without a use, and what is found in it."""
    # each may give work to the next
    steps = (
        _without_twin_moves,
        _without_twin_choices,
        _without_emptied_guards,
        _without_emptied_contexts,
        _without_unused_locals,
        _without_unused_imports,
        _without_spare_parentheses,
    )
    while isinstance(original, SemanticIndex) and isinstance(index, SemanticIndex):
        cleaned = next((made for step in steps if (made := step(original, index)) is not None), None)
        if cleaned is None:
            break
        source = cleaned
        index, findings = look(source)
    return source, index, findings


def _without_unused_locals(before: SemanticIndex, after: SemanticIndex) -> SourceFile | None:
    """The file without variables of functions that lost their last use; None when there are none."""
    from tpulint.unused_locals import unused_locals

    gone = unused_locals(before, after)
    if not gone:
        return None
    builder = FixBuilder(after, ImportTable(after), "remove unused variables", Applicability.SAFE, "", Scope.STATEMENT)
    for statement in gone:
        builder.delete(statement)
    fix = builder.build()
    return _applied(after, [fix]) if fix is not None else None


def _without_twin_moves(before: SemanticIndex, after: SemanticIndex) -> SourceFile | None:
    """The file without moves to where the next one moves as well; None when there are none."""
    if not after.mentions(r"\)\s*\.to\("):
        return None
    from tpulint.twin_moves import move_once, twin_moves

    builder = FixBuilder(after, ImportTable(after), "move once", Applicability.SAFE, "", Scope.STATEMENT)
    twins = twin_moves(before, after)
    for twin in twins:
        move_once(builder, twin)
    fix = builder.build() if twins else None
    return _applied(after, [fix]) if fix is not None else None


def _without_twin_choices(before: SemanticIndex, after: SemanticIndex) -> SourceFile | None:
    """The file without choices between two ways that have become the same; None when there are none."""
    if not after.mentions(r"\belse\b"):
        return None
    from tpulint.twin_choices import twin_choices, write_one_way

    choices = twin_choices(before, after)
    builder = FixBuilder(after, ImportTable(after), "choose no more", Applicability.SAFE, "", Scope.STATEMENT)
    write_one_way(builder, after, choices)
    fix = builder.build() if choices else None
    return _applied(after, [fix]) if fix is not None else None


def _without_emptied_guards(before: SemanticIndex, after: SemanticIndex) -> SourceFile | None:
    """The file without guards that have nothing to guard any more, or nothing otherwise; None when there are none."""
    from tpulint.emptied import emptied_ends, emptied_guards, emptied_tries

    gone: list[ast.If | ast.Try] = [*emptied_guards(before, after), *emptied_tries(before, after)]
    ends = [] if gone else emptied_ends(before, after)
    if not gone and not ends:
        return None
    builder = FixBuilder(after, ImportTable(after), "remove empty guards", Applicability.SAFE, "", Scope.STATEMENT)
    for guard in gone:
        if not any(other is not guard and after.tree.encloses(other, guard) for other in gone):
            builder.delete(guard)
    for end in ends:
        if not any(other is not end and other.start <= end.start and end.end <= other.end for other in ends):
            builder.replace(end, "")
    fix = builder.build()
    return _applied(after, [fix]) if fix is not None else None


def _without_emptied_contexts(before: SemanticIndex, after: SemanticIndex) -> SourceFile | None:
    """The file whose blocks stand without contexts that do nothing; None when there are none."""
    from tpulint.emptied_contexts import emptied_contexts, take_out

    gone = emptied_contexts(before, after)
    builder = FixBuilder(after, ImportTable(after), "remove contexts", Applicability.SAFE, "", Scope.STATEMENT)
    for node in gone:
        take_out(builder, after, node)
    fix = builder.build() if gone else None
    return _applied(after, [fix]) if fix is not None else None


def _without_spare_parentheses(before: SemanticIndex, after: SemanticIndex) -> SourceFile | None:
    """The file without parentheses over several lines whose choice is made; None when there are none."""
    from tpulint.spare_parentheses import spare_parentheses

    builder = FixBuilder(after, ImportTable(after), "write on one line", Applicability.SAFE, "", Scope.STATEMENT)
    spare = spare_parentheses(before, after)
    for whole, value in spare:
        builder.replace(whole, after.text(value))
    fix = builder.build() if spare else None
    return _applied(after, [fix]) if fix is not None else None


def _of_no_use_elsewhere(
    before: SemanticIndex, after: SemanticIndex, gone: list[tuple[ast.Import | ast.ImportFrom, list[ast.alias]]]
) -> list[tuple[ast.Import | ast.ImportFrom, list[ast.alias]]]:
    """Unused imports but for those whose names other files take from this one, be it by a star.

    What the fixes themselves imported, nobody takes.
    """
    if not gone:
        return gone
    from tpulint.neighbours import names_taken

    imported_before = names_imported(before)
    named = {
        id(alias): alias.asname or alias.name.split(".", 1)[0]
        for _, aliases in gone
        for alias in aliases
        if ast.dump(alias) in imported_before
    }
    taken = names_taken(after.source.path, set(named.values()))
    left = [
        (statement, [alias for alias in aliases if named.get(id(alias)) not in taken]) for statement, aliases in gone
    ]
    return [(statement, aliases) for statement, aliases in left if aliases]


def _without_unused_imports(before: SemanticIndex, after: SemanticIndex) -> SourceFile | None:
    """The file without imports that have no use any more, of several in a row the first; None when there are none."""
    gone = _of_no_use_elsewhere(before, after, unused_imports(before, after))
    if not gone:
        return None
    builder = FixBuilder(after, ImportTable(after), "remove unused imports", Applicability.SAFE, "", Scope.MODULE)
    comments = comment_spans(after.source.code)
    touched: set[int] = set()
    for statement, aliases in gone:
        rows = range(after.source.row(after.span(statement).start), after.source.row(after.span(statement).end) + 1)
        if any(after.source.row(comment.start) in rows for comment in comments):
            continue  # comments survive; an import too many does no harm
        if not touched.isdisjoint(rows):
            continue
        touched.update(rows)
        if len(aliases) == len(statement.names):
            builder.delete(statement)
            continue
        kept = [alias for alias in statement.names if alias not in aliases]
        first, last = after.span(statement.names[0]), after.span(statement.names[-1])
        builder.replace(Span(first.start, last.end), ", ".join(after.text(alias) for alias in kept))
    fix = builder.build()
    return _applied(after, [fix]) if fix is not None else None
