"""The laws of fixes, held against generated programs: with the rules of the catalogue, and with rules of the tests."""

from __future__ import annotations

import ast
import builtins
import io
import random
import re
import symtable
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from layouts import encoded
from plain_rules import RULES, PlainCatalogue
from programs import programs

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.fixer import apply, apply_edits, select
from tpulint.imports import import_edit
from tpulint.linter import lint
from tpulint.model import Applicability, Edit, FileResult, Finding, Fix, Scope, Severity, Span
from tpulint.semantic import SemanticIndex
from tpulint.source import SourceFile

NEWLINE = re.compile(r"\r\n|\r|\n")


class Reordered:
    """A catalogue whose rules run in another order."""

    def __init__(self, catalogue: Any, order: random.Random) -> None:
        self._catalogue = catalogue
        self._order = order
        self.rules = catalogue.rules
        self.letters = catalogue.letters

    def select(self, settings: Settings) -> tuple[object, ...]:
        rules = list(self._catalogue.select(settings))
        self._order.shuffle(rules)
        return tuple(rules)


class Mode(NamedTuple):
    """Rules, and how far their fixes are applied."""

    name: str
    catalogue: Any
    settings: Settings

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def check(self, text: str, newline: str = "") -> FileResult:
        return self._lint(text, self.settings._replace(fix=False), newline)

    def fix(self, text: str) -> FileResult:
        return self._lint(text, self.settings)

    def _lint(self, text: str, settings: Settings, newline: str = "") -> FileResult:
        result = lint(SourceFile(text, "train.py", newline=newline), settings, self.catalogue)
        assert not result.error
        assert not any(finding.code == "invalid-syntax" for finding in result.findings)
        return result


CATALOGUE: Any = load()
ALL = Settings(fix=True, unsafe_fixes=True, select=("ALL",), preview=True)
MODES = (
    Mode("all rules, unsafe fixes", CATALOGUE, ALL),
    Mode("all rules, unsafe fixes, portable", CATALOGUE, ALL._replace(portable=True)),
    Mode("default rules, safe fixes", CATALOGUE, Settings(fix=True)),
    Mode("default rules, safe fixes, portable", CATALOGUE, Settings(fix=True, portable=True)),
    Mode("test rules, unsafe fixes", PlainCatalogue(RULES), ALL),
    Mode("test rules, safe fixes", PlainCatalogue(RULES), Settings(fix=True)),
)
modes = st.sampled_from(MODES)


def index_of(text: str) -> SemanticIndex:
    return SemanticIndex(SourceFile.from_text(text, "train.py"), ast.parse(text))


def rows_of(text: str) -> list[str]:
    """The rows of a text with their newlines, as Python counts rows."""
    ends = [match.end() for match in NEWLINE.finditer(text)]
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def comments_of(text: str) -> Counter[str]:
    lines = io.StringIO(NEWLINE.sub("\n", text), newline="\n")
    return Counter(token.string for token in tokenize.generate_tokens(lines.readline) if token.type == tokenize.COMMENT)


def undefined_names(text: str) -> set[str]:
    """Names that some scope looks up in the module or the builtins, and nobody binds there."""

    def tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
        yield table
        for child in table.get_children():
            yield from tables(child)

    module = symtable.symtable(text, "train.py", "exec")
    scopes = list(tables(module))
    bound = {symbol.get_name() for symbol in module.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    bound |= {symbol.get_name() for table in scopes for symbol in table.get_symbols() if symbol.is_declared_global()}
    looked_up = {
        symbol.get_name()
        for table in scopes
        for symbol in table.get_symbols()
        if symbol.is_referenced() and (symbol.is_global() or table is module)
    }
    return looked_up - bound - {"__file__", "__name__", *dir(builtins)}


FOR_THEIR_EFFECT = {"annotations", "torch_xla", "xla_backend"}
"""Imports that nobody has to read: the last two register a device and a backend of torch.distributed."""


def unused_imports(text: str) -> set[str]:
    """Names that the module imports at its top level and nobody reads. An import with a comment is not counted: a fix
    does not take comments away, and this one may say why the import is there."""
    tree = ast.parse(text)
    rows = rows_of(text)
    imported = {
        alias.asname or alias.name.partition(".")[0]
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        if not any("#" in row for row in rows[node.lineno - 1 : node.end_lineno])
        for alias in node.names
    }
    return imported - {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - FOR_THEIR_EFFECT


def superfluous_passes(text: str) -> int:
    blocks = (
        getattr(node, field, None) for node in ast.walk(ast.parse(text)) for field in ("body", "orelse", "finalbody")
    )
    return sum(
        isinstance(block, list) and len(block) > 1 and any(isinstance(statement, ast.Pass) for statement in block)
        for block in blocks
    )


class Round(NamedTuple):
    """One round, done by hand."""

    before: str
    accepted: list[Finding]
    after: str


def rounds(mode: Mode, text: str) -> Iterator[Round]:
    """The rounds that fixing goes through, each from the findings of a plain check.

    Where a file mixes newlines, the rounds go on with that of the original, whichever is the more frequent by then.
    """
    newline = SourceFile.from_text(text).newline
    for _ in range(30):
        accepted = select(mode.check(text, newline).findings, mode.settings.required_applicability)
        if not accepted:
            return
        fixes = list(dict.fromkeys(finding.fix for finding in accepted if finding.fix))
        after = apply(SemanticIndex(SourceFile(text, "train.py", newline=newline), ast.parse(text)), fixes)
        yield Round(text, accepted, after)
        text = after
    raise AssertionError("the rounds do not come to an end")


# ---------------------------------------------------------------- what a check gives


@given(mode=modes, text=programs())
def test_check_changes_nothing_and_stays_inside_the_text(mode: Mode, text: str) -> None:
    result = mode.check(text)
    assert result.text == result.original == text
    assert not result.fixed and not result.rounds
    assert list(result.findings) == sorted(result.findings, key=lambda finding: (finding.span, finding.code))
    for finding in result.findings:
        assert 0 <= finding.span.start <= finding.span.end <= len(text)
        assert finding.message.strip() == finding.message != ""
        for span, _ in finding.related:
            assert 0 <= span.start <= span.end <= len(text)


@given(mode=modes, text=programs())
def test_edits_of_a_fix_are_disjoint(mode: Mode, text: str) -> None:
    for finding in mode.check(text).findings:
        edits = finding.fix.edits if finding.fix else ()
        assert edits == tuple(sorted(edits))
        for edit in edits:
            assert 0 <= edit.span.start <= edit.span.end <= len(text)
            assert text[edit.span.start : edit.span.end] != edit.text, "an edit that changes nothing"
            # A newline of two characters is one thing.
            assert not any(text[at - 1 : at + 1] == "\r\n" for at in edit.span if at)
        for left, right in pairwise(edits):
            assert left.span.end <= right.span.start and left.span != right.span


@given(mode=modes, text=programs())
def test_fix_removes_its_finding_and_brings_no_worse_one(mode: Mode, text: str) -> None:
    before = mode.check(text).findings
    index = index_of(text)
    seen: set[Fix] = set()
    for finding in before:
        fix = finding.fix
        if fix is None or fix in seen or fix.applicability is Applicability.DISPLAY:
            continue
        seen.add(fix)
        after = mode.check(apply(index, [fix])).findings
        kinds_before, kinds_after = (Counter(one.code for one in findings) for findings in (before, after))
        assert kinds_after[finding.code] < kinds_before[finding.code], f"{finding.code} is still found: {fix.title}"
        new = {one.code for one in after if one.code in kinds_after - kinds_before and one.severity > finding.severity}
        assert not new, f"{finding.code} brings {sorted(new)}: {fix.title}"


# ---------------------------------------------------------------- what fixing gives


@given(mode=modes, text=programs())
def test_output_is_a_working_program(mode: Mode, text: str) -> None:
    fixed = mode.fix(text).text
    compile(fixed, "train.py", "exec", dont_inherit=True)
    assert not undefined_names(fixed) - undefined_names(text)
    assert not unused_imports(fixed) - unused_imports(text)
    assert superfluous_passes(fixed) <= superfluous_passes(text)


@given(mode=modes, text=programs())
def test_second_run_changes_nothing(mode: Mode, text: str) -> None:
    first = mode.fix(text)
    second = mode.fix(first.text)
    assert second.text == first.text
    assert not second.fixed
    assert second.findings == mode.check(first.text).findings
    # In a file of mixed newlines the other may have become the more frequent; what a fix would write follows it.
    newline = SourceFile.from_text(text).newline
    assert first.findings == mode.check(first.text, newline).findings


@given(mode=modes, text=programs(), seed=st.integers(0, 2**32))
def test_order_of_rules_does_not_matter(mode: Mode, text: str, seed: int) -> None:
    reordered = Reordered(mode.catalogue, random.Random(seed))
    assert Mode(mode.name, reordered, mode.settings).fix(text) == mode.fix(text)


@given(mode=modes, text=programs())
def test_only_rows_of_edits_change(mode: Mode, text: str) -> None:
    for before, accepted, after in rounds(mode, text):
        source = SourceFile.from_text(before)
        edits = [edit for finding in accepted if finding.fix for edit in finding.fix.edits]
        needs = [need for finding in accepted if finding.fix for need in finding.fix.imports]
        added = import_edit(index_of(before), needs)
        touched: set[int] = set()
        for edit in [*edits, *([added] if added else [])]:
            last = max(edit.span.start, edit.span.end - 1)
            touched.update(range(source.row(edit.span.start), source.row(last) + 1))
        untouched = [row for number, row in enumerate(rows_of(before), 1) if number not in touched]
        left = iter(rows_of(after))
        assert all(any(row == other for other in left) for row in untouched)


@given(mode=modes, text=programs())
def test_fixing_is_its_rounds(mode: Mode, text: str) -> None:
    """Every fix of a round is applied whole, every other one not at all, and nothing else happens to the text."""
    result = mode.fix(text)
    *_, last = [Round(text, [], text), *rounds(mode, text)]
    if result.text != last.after:
        # Imports and variables that lost their last use, and guards that lost all they guarded, go at the very end.
        assert ast.dump(without_leftovers(result.text)) == ast.dump(without_leftovers(last.after))
    accepted = [finding for one in rounds(mode, text) for finding in one.accepted]
    assert [with_imports_open(finding) for finding in accepted] == [*map(with_imports_open, result.fixed)]


def with_imports_open(finding: Finding) -> Finding:
    """The finding without the import that its fix alone would bring: a round brings those of all its fixes together."""
    return finding._replace(fix=finding.fix._replace(import_edit=None)) if finding.fix else finding


IMPORTS = (ast.Import, ast.ImportFrom)


def without_leftovers(text: str) -> ast.Module:
    tree = ast.parse(text)
    tree.body = [statement for statement in tree.body if not isinstance(statement, IMPORTS)]
    return WithoutLeftovers().visit(tree)


class WithoutLeftovers(ast.NodeTransformer):
    """Takes out ``if x: pass``, ``else: pass``, imports of functions, and what functions assign and do not read.

    Of choices whose two ways are the same it keeps one, and of contexts that do nothing the block.
    """

    read: frozenset[str] | None = None

    def visit(self, node: ast.AST) -> Any:
        around = self.read
        if isinstance(node, ast.FunctionDef):
            names = (item for item in ast.walk(node) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load))
            self.read = frozenset(name.id for name in names)
        super().generic_visit(node)
        read, self.read = self.read, around
        if is_move(node):  # of two moves to one place the fixer leaves one, with what either is given
            node.func.value = node.func.value.func.value if is_move(node.func.value) else node.func.value
            node.args, node.keywords = [], []
        if isinstance(node, ast.IfExp) and ast.dump(node.body) == ast.dump(node.orelse):
            return node.body
        for field in ("body", "orelse", "finalbody"):
            suite = getattr(node, field, None)
            if not isinstance(suite, list):
                continue
            kept = [
                item
                for one in suite
                for item in (one.body if has_one_way(one) or is_context_of_nothing(one) else [one])
                if not guards_nothing(item) and not isinstance(item, IMPORTS) and not gives_to_nobody(item, read)
                if item is one or not isinstance(item, ast.Pass)
            ]
            if kept != suite:
                setattr(node, field, kept or ([ast.Pass()] if field == "body" else []))
        if isinstance(node, ast.If) and all(isinstance(item, ast.Pass) for item in node.orelse):
            node.orelse = []
        return node


def is_move(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "to"


def gives_to_nobody(statement: ast.stmt, read: frozenset[str] | None) -> bool:
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    return read is not None and isinstance(target, ast.Name) and target.id not in read


def has_one_way(statement: ast.stmt) -> bool:
    ways = (statement.body, statement.orelse) if isinstance(statement, ast.If) else ([], [])
    return bool(ways[1]) and [*map(ast.dump, ways[0])] == [*map(ast.dump, ways[1])]


def is_context_of_nothing(statement: ast.stmt) -> bool:
    items = statement.items if isinstance(statement, ast.With) else []
    names = ("contextlib.nullcontext()", "nullcontext()")
    return len(items) == 1 and items[0].optional_vars is None and ast.unparse(items[0].context_expr) in names


def guards_nothing(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.If) or not all(isinstance(item, ast.Pass) for item in statement.body):
        return False
    return all(isinstance(item, ast.Pass) or guards_nothing(item) for item in statement.orelse)


@given(mode=modes, text=programs())
def test_newlines_are_kept(mode: Mode, text: str) -> None:
    fixed = mode.fix(text).text
    before, after = (Counter(NEWLINE.findall(one)) for one in (text, fixed))
    dominant = SourceFile.from_text(text).newline
    assert all(after[newline] <= before[newline] for newline in after if newline != dominant)


@given(mode=modes, text=programs())
def test_comments_survive(mode: Mode, text: str) -> None:
    fixed = mode.fix(text).text
    lost = comments_of(text) - comments_of(fixed)
    if mode.settings.unsafe_fixes:
        # An unsafe fix may lose the comments that stand inside what it replaces, and no other.
        for before, accepted, _ in rounds(mode, text):
            for finding in accepted:
                for edit in finding.fix.edits if finding.fix else ():
                    replaced = before[edit.span.start : edit.span.end]
                    lost -= Counter({comment: replaced.count(comment) for comment in lost})
    assert not lost


@given(mode=modes, text=programs())
def test_file_without_findings_is_returned_byte_for_byte(mode: Mode, text: str) -> None:
    marked = f"# tpulint: noqa{SourceFile.from_text(text).newline}{text}"
    result = mode.fix(marked)
    if mode.check(text).findings:
        assert result == FileResult("train.py", (), marked, marked)
    else:
        # A comment that silences nothing is taken out, and that is all.
        assert result.text == text and mode.fix(text).text == text


@given(mode=modes, data=st.data())
def test_bytes_are_kept_in_any_encoding(mode: Mode, data: st.DataObject) -> None:
    raw = data.draw(encoded(data.draw(programs())))
    source = SourceFile.from_bytes(raw, "train.py")
    assert source.render(source.text) == raw
    result = lint(source, mode.settings, mode.catalogue)
    assert not result.error
    rendered = source.render(result.text)
    assert ast.dump(ast.parse(rendered)) == ast.dump(ast.parse(result.text))
    assert rendered.startswith(raw[:3]) or not raw.startswith(b"\xef\xbb\xbf")


def test_programs_are_worth_fixing() -> None:
    """The laws above say something only if the programs are full of findings."""
    drawn: list[str] = []

    @settings(max_examples=30, derandomize=True, database=None)
    @given(programs())
    def collect(text: str) -> None:
        drawn.append(text)

    collect()
    for mode in MODES:
        results = [mode.fix(text) for text in drawn]
        # Nearly all of them, three of four in some runs.
        assert sum(bool(result.fixed) for result in results) > len(drawn) * 0.5
        assert max(result.rounds for result in results) > 1


# ---------------------------------------------------------------- programs that have nothing to do with torch

ANCHORS = " ".join(sorted({anchor for rule in CATALOGUE.rules for anchor in rule.anchors}))


@st.deferred
def arbitrary_programs() -> st.SearchStrategy[str]:
    """Whatever the grammar allows."""
    import hypothesmith  # it looks through all of Unicode, 4 s that other processes need not spend

    return st.one_of(hypothesmith.from_node(), hypothesmith.from_grammar())


fewer_examples = settings(max_examples=settings().max_examples // 3)


def assume_valid(text: str) -> None:
    try:
        compile(text, "train.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        assume(False)


@fewer_examples
@given(program=arbitrary_programs)
def test_arbitrary_programs_are_left_alone(program: str) -> None:
    # Without the words that rules look for, a file would not even be parsed.
    text = f"{program}\n# {ANCHORS}\n"
    assume_valid(text)
    for mode in MODES:
        result = mode.fix(text)
        assert result.findings == () and result.fixed == ()
        assert result.text == text


@fewer_examples
@given(program=arbitrary_programs)
def test_arbitrary_code_beside_fixed_code_is_left_alone(program: str) -> None:
    above, below = "import torch\ntorch.cuda.synchronize()\n", "\nif 1:\n  torch.cuda.ipc_collect()"
    text = above + program + below
    assume_valid(text)
    for mode in MODES:
        result = mode.fix(text)
        assert len(result.fixed) > 1
        assert program in result.text


# ---------------------------------------------------------------- the fixer alone

TEXT = "0123456789abcdefghijklmnopqrstuvwxyz!"
SPANS = st.tuples(st.integers(0, 30), st.integers(0, 6)).map(lambda pair: Span(pair[0], pair[0] + pair[1]))
EDITS = st.tuples(SPANS, st.sampled_from(("", "A", "BB"))).map(lambda pair: Edit(*pair))


@st.composite
def findings_with_fixes(draw: st.DrawFn) -> list[Finding]:
    """Findings of different rules, whose fixes may touch, overlap, or hold the same edit."""
    findings = []
    for number in range(draw(st.integers(0, 8))):
        edits: list[Edit] = []
        for edit in sorted(draw(st.lists(EDITS, max_size=3))):
            if not edits or (edits[-1].span.end <= edit.span.start and edits[-1].span != edit.span):
                edits.append(edit)
        applicability, scope = draw(st.sampled_from(Applicability)), draw(st.sampled_from(Scope))
        fix = Fix("Title", tuple(edits), (), applicability, "Reason.", scope) if edits else None
        findings.append(Finding(f"X{number}", "name", draw(SPANS), "message", Severity.WARNING, fix=fix))
    return findings


@given(findings_with_fixes(), st.sampled_from(Applicability), st.randoms(use_true_random=False))
def test_selected_fixes_are_disjoint_and_do_not_depend_on_order(
    findings: list[Finding], required: Applicability, order: random.Random
) -> None:
    accepted = select(findings, required)
    edits = sorted({edit for finding in accepted if finding.fix for edit in finding.fix.edits})
    for left, right in pairwise(edits):
        assert left.span.end <= right.span.start and left.span != right.span
    wanted = [finding.fix for finding in findings if finding.fix and finding.fix.applicability >= required]
    assert bool(accepted) == bool(wanted)
    widest = max((fix.scope for fix in wanted), default=None)
    assert all(finding.fix and finding.fix.scope is widest for finding in accepted)
    shuffled = list(findings)
    order.shuffle(shuffled)
    assert select(shuffled, required) == accepted


@given(findings_with_fixes())
def test_edits_are_applied_where_they_stand(findings: list[Finding]) -> None:
    accepted = [finding.fix for finding in select(findings, Applicability.DISPLAY) if finding.fix]
    edits = list(dict.fromkeys(edit for fix in accepted for edit in fix.edits))
    expected = TEXT
    for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
        expected = expected[: edit.span.start] + edit.text + expected[edit.span.end :]
    assert apply_edits(TEXT, edits) == expected


def test_overlapping_fixes_are_applied_one_after_the_other() -> None:
    """Fixes that overlap go into different rounds; each sees the text that the one before it left."""

    def check(ctx: Any) -> Iterator[Finding]:
        for call in ctx.index.calls_to("torch.cuda.manual_seed", "torch.manual_seed"):
            if "cuda" in ctx.text(call):
                inner = ctx.fix("Rename", Applicability.SAFE, "Reason.")
                inner.rename_callee(call, "torch.manual_seed")
                yield ctx.finding(call, "old name", inner)
            if isinstance(ctx.index.parent(call), ast.Expr):
                outer = ctx.fix("Print", Applicability.SAFE, "Reason.")
                outer.replace(call, f"print({ctx.text(call)})")
                yield ctx.finding(call.args[0], "not printed", outer)

    rule: Callable[..., Iterator[Finding]] = check
    mode = Mode("overlapping", PlainCatalogue((RULES[0]._replace(check=rule),)), ALL)
    result = mode.fix("import torch\ntorch.cuda.manual_seed(0)  # seed\n")
    assert result.text == "import torch\nprint(torch.manual_seed(0))  # seed\n"
    assert result.rounds == len(result.fixed) == 2
