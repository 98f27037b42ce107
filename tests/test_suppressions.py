"""Comments that silence findings, and those that silence nothing."""

from __future__ import annotations

import re

import pytest

from tpulint.model import Applicability, Finding, Severity, Span
from tpulint.source import SourceFile
from tpulint.suppressions import Suppressions

NAMES = {"TPU101": "item-in-loop", "TPU102": "print-in-loop", "TPU201": "new-shape"}


def finding(source: SourceFile, code: str, row: int) -> Finding:
    start = source.offset(row, 1)
    return Finding(code, NAMES[code], Span(start, start + 1), "message", Severity.WARNING)


def kept(text: str, *wanted: tuple[str, int], rows: dict[int, tuple[int, int]] | None = None) -> list[tuple[str, int]]:
    """Code and row of the findings that stay, of those given as code and row."""
    source = SourceFile.from_text(text)

    def statement_rows(span: Span) -> tuple[int, int]:
        row = source.row(span.start)
        return (rows or {}).get(row, (row, row))

    findings = [finding(source, code, row) for code, row in wanted]
    left = Suppressions.scan(source).filter(findings, statement_rows)
    return [(one.code, source.row(one.span.start)) for one in left]


def unused(
    text: str, *hidden: tuple[str, int], enabled: tuple[str, ...] = tuple(NAMES), known: tuple[str, ...] = tuple(NAMES)
) -> list[Finding]:
    """The findings about suppressions once the ``hidden`` findings were offered to them."""
    source = SourceFile.from_text(text)
    suppressions = Suppressions.scan(source)
    found = [finding(source, code, row) for code, row in hidden]
    suppressions.filter(found, lambda span: (source.row(span.start), source.row(span.start)))
    words = [*enabled, *(NAMES[code] for code in enabled)]
    return suppressions.unused(words, known)


def repaired(text: str, *hidden: tuple[str, int]) -> str:
    """The text after the fixes of all unused suppressions, one after the other."""
    while found := unused(text, *hidden):
        fix = found[0].fix
        assert fix is not None and fix.applicability is Applicability.SAFE
        (edit,) = fix.edits
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: TPU101",
        "# noqa:TPU101",
        "#noqa: TPU101",
        "# NOQA : TPU101",
        "# noqa: E501,TPU101",
        "# noqa: E501, TPU101 the loss is needed here",
        "# noqa: E501 TPU101",
        "# noqa: tpu101",
        "# noqa: TPU1",
        "# noqa: TPU",
        "# noqa: tpu , E501",
        "# noqa: E501, TPU",
        "# noqa: TPU  # type: ignore",
        "# noqa",
        "# noqa because of the progress bar",
        "# type: ignore  # noqa: TPU101",
        "# noqa: TPU101  # type: ignore",
        "# tpulint: ignore[TPU101]",
        "# tpulint: ignore[TPU102, TPU101] needed",
        "# tpulint:ignore[TPU1]",
        "# tpulint: ignore[TPU]",
        "# tpulint: ignore[item-in-loop]",
        "# tpulint: ignore",
        "# tpulint: ignore for now",
        "# tpulint: ignore: TPU101",
    ],
)
def test_comment_silences_the_finding_on_its_line(comment: str) -> None:
    text = f"x = 1\ny = 2  {comment}\nz = 3\n"
    assert kept(text, ("TPU101", 1), ("TPU101", 2), ("TPU101", 3)) == [("TPU101", 1), ("TPU101", 3)]


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: TPU102",
        "# noqa: TPU2",
        "# noqa: E501",
        "# noqa: TPU1011",
        "# noqa: because",
        "# noqa: TPU has no other way",
        "# noqa: E501 TPU has no other way",
        "# noqa: TPUs",
        "# noqa:",
        "# noqart: TPU101",
        "# noqa-file: TPU101",
        "# tpulint: ignore[TPU102]",
        "# tpulint: ignore[new-shape]",
        "# tpulint: ignore[]",
        "# tpulint: ignore[TPU101",
        "# tpulint: ignored",
        "# tpulint: nothing",
        "# T",
    ],
)
def test_other_comments_silence_nothing(comment: str) -> None:
    assert kept(f"x = 1  {comment}\n", ("TPU101", 1)) == [("TPU101", 1)]


def test_strings_are_no_comments() -> None:
    text = 's = "# noqa: TPU101"\nt = """\n# tpulint: noqa\n# noqa\n"""\n'
    assert kept(text, ("TPU101", 1), ("TPU101", 4)) == [("TPU101", 1), ("TPU101", 4)]
    assert unused(text) == []


def test_comment_counts_on_every_row_of_the_statement() -> None:
    text = "call(\n    a,\n    b,  # noqa: TPU101\n)\n"
    assert kept(text, ("TPU101", 1), rows={1: (1, 4)}) == []
    assert kept(text, ("TPU101", 1), rows={1: (1, 2)}) == [("TPU101", 1)]


def test_comment_above_counts_when_it_stands_alone() -> None:
    assert kept("# noqa: TPU101\nx = 1\ny = 2\n", ("TPU101", 2), ("TPU101", 3)) == [("TPU101", 3)]
    assert kept("    # tpulint: ignore[TPU101] why\n    # more about it\n    x = 1\n", ("TPU101", 3)) == []
    assert kept("# noqa: TPU101\n\nx = 1\n", ("TPU101", 3)) == [("TPU101", 3)]
    assert kept("w = 0  # noqa: TPU101\nx = 1\n", ("TPU101", 2)) == [("TPU101", 2)]


@pytest.mark.parametrize("comment", ["# tpulint: noqa", "# tpulint: ignore-file", "# TPULINT: noqa generated"])
def test_whole_file(comment: str) -> None:
    assert kept(f"x = 1\n{comment}\ny = 2\n", ("TPU101", 1), ("TPU201", 3)) == []


@pytest.mark.parametrize("comment", ["# tpulint: noqa: TPU101", "# tpulint: ignore-file[TPU1, TPU3]"])
def test_some_rules_in_the_whole_file(comment: str) -> None:
    assert kept(f"x = 1\ny = 2\n{comment}\n", ("TPU101", 1), ("TPU201", 2)) == [("TPU201", 2)]


def test_file_comment_behind_code_silences_its_line_only() -> None:
    assert kept("x = 1  # tpulint: noqa: TPU101\ny = 2\n", ("TPU101", 1), ("TPU101", 2)) == [("TPU101", 2)]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_rows_and_fixes_with_every_newline(newline: str) -> None:
    text = f"a = 1{newline}b = '\x0c'  # noqa: TPU101{newline}c = 3  # noqa: TPU102{newline}"
    assert kept(text, ("TPU101", 2), ("TPU102", 3)) == []
    assert repaired(text, ("TPU101", 2)) == f"a = 1{newline}b = '\x0c'  # noqa: TPU101{newline}c = 3{newline}"


def test_text_that_cannot_be_tokenized_still_counts_up_to_there() -> None:
    assert kept("x = 1  # noqa: TPU101\ny = (\n", ("TPU101", 1)) == []


def test_used_suppressions_are_not_reported() -> None:
    text = "# tpulint: ignore-file[TPU2]\nx = 1  # noqa: TPU101\n# tpulint: ignore\ny = 2\n"
    assert unused(text, ("TPU101", 2), ("TPU102", 4), ("TPU201", 4)) == []


def test_two_comments_for_one_finding_are_both_used() -> None:
    assert unused("# tpulint: noqa: TPU101\nx = 1  # noqa: TPU101\n", ("TPU101", 2)) == []


def test_unused_is_reported_on_the_codes() -> None:
    text = "x = 1  # noqa: TPU101 why\n"
    (one,) = unused(text)
    assert (one.code, one.severity) == ("unused-suppression", Severity.WARNING)
    assert text[one.span.start : one.span.end] == "TPU101"
    assert "TPU101" in one.message


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",  # other tools may need it
        "# noqa: E501",
        "# noqa: E501, F401",
        "# noqa: TPU999",  # no rule that ran
        "# tpulint: ignore[no-such-rule]",
        "# tpulint: ignore[unused-suppression]",
    ],
)
def test_what_may_be_needed_by_others_is_not_reported(comment: str) -> None:
    assert unused(f"x = 1  {comment}\n") == []


def test_rules_that_did_not_run_are_not_reported() -> None:
    text = "x = 1  # noqa: TPU101, TPU201\n"
    assert unused(text, enabled=()) == []
    (one,) = unused(text, enabled=("TPU201",))
    assert "TPU201" in one.message and "TPU101" not in one.message


def test_prefix_and_blanket_need_all_their_rules_to_have_run() -> None:
    known = tuple(NAMES)
    assert len(unused("x = 1  # noqa: TPU\n", known=known)) == 1
    prefix, blanket = "x = 1  # noqa: TPU1\n", "x = 1  # tpulint: ignore\n"
    assert len(unused(prefix, known=known)) == len(unused(blanket, known=known)) == 1
    assert unused(prefix, enabled=("TPU101",), known=known) == []
    assert unused(blanket, enabled=("TPU101",), known=known) == []
    assert unused(prefix, known=()) == unused(blanket, known=()) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1  # noqa: TPU101\ny = 2\n", "x = 1\ny = 2\n"),
        ("x = 1  # noqa: TPU101 because of the bar\n", "x = 1\n"),
        ("x = 1  # noqa: TPU101 see issue #42\n", "x = 1\n"),
        ("x = 1  # noqa: E501,TPU101\n", "x = 1  # noqa: E501\n"),
        ("x = 1  # noqa: TPU101, E501 long\n", "x = 1  # noqa: E501 long\n"),
        ("x = 1  # noqa: TPU101,TPU102,E501,F401\n", "x = 1  # noqa: E501,F401\n"),
        ("x = 1  # noqa: TPU101 E501 F401\n", "x = 1  # noqa: E501 F401\n"),
        ("x = 1  # noqa: TPU101  # type: ignore\n", "x = 1  # type: ignore\n"),
        ("x = 1  # type: ignore  # noqa: TPU101\n", "x = 1  # type: ignore\n"),
        ("x = 1  # why  # tpulint: ignore[TPU101]\n", "x = 1  # why\n"),
        ("def f():\n    # tpulint: ignore[TPU101] reason\n    pass\n", "def f():\n    pass\n"),
        ("x = 1\n# tpulint: noqa: TPU101", "x = 1\n"),
        ("x = 1  # tpulint: ignore[TPU101, TPU201]\n", "x = 1\n"),
        ("x = 1  # tpulint: ignore\n", "x = 1\n"),
        ("x = 1  # noqa: TPU101 # noqa: TPU102\n", "x = 1\n"),
    ],
)
def test_fix_takes_out_what_is_unused_and_nothing_else(before: str, after: str) -> None:
    assert repaired(before) == after
    assert unused(after) == []


def test_fix_keeps_the_codes_that_are_used() -> None:
    before = "x = 1  # tpulint: ignore[TPU101, TPU102, TPU201] bar\n"
    assert repaired(before, ("TPU102", 1)) == "x = 1  # tpulint: ignore[TPU102] bar\n"


def test_unused_suppression_can_be_silenced_by_name() -> None:
    assert unused("x = 1  # noqa: TPU101  # tpulint: ignore[unused-suppression]\n") == []
    assert unused("# tpulint: ignore-file[unused-suppression]\nx = 1  # noqa: TPU101\n") == []
    assert len(unused("x = 1  # noqa: TPU101\ny = 2  # tpulint: ignore[unused-suppression]\n")) == 1


def test_file_without_the_words_is_not_tokenized(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: SourceFile) -> list[Span]:
        raise AssertionError("tokenized")

    monkeypatch.setattr("tpulint.suppressions.comments_of", fail)
    assert kept("x = 1  # a comment\n", ("TPU101", 1)) == [("TPU101", 1)]
    with pytest.raises(AssertionError, match=re.escape("tokenized")):
        kept("x = 1  # noqa\n", ("TPU101", 1))


def test_misspelt_code_is_told_whatever_ran() -> None:
    lines = ("x = 1  # tpulint: ignore[TPU0O2, acme]", "y = 2  # noqa: TPU999, E501", "z = 3  # noqa: TPU9", "")
    source = SourceFile.from_text("\n".join(lines))
    found = Suppressions.scan(source).unused(enabled=(), existing=("TPU101", "TPU901", "some-rule"))
    assert [finding.message for finding in found] == [
        "suppression of `TPU0O2`, `acme` hides nothing",
        "suppression of `TPU999` hides nothing",
    ]


def test_comments_are_not_looked_for_where_none_can_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[SourceFile] = []
    monkeypatch.setattr("tpulint.suppressions.comments_of", lambda source: looked.append(source) or [])
    source = SourceFile.from_text("import os  # noqa\n")
    Suppressions.scan(source, frozenset({"TPU"}), found=False)
    assert looked == []
    Suppressions.scan(source, frozenset({"TPU"}))
    Suppressions.scan(SourceFile.from_text("import os  # noqa: TPU101\n"), frozenset({"TPU"}), found=False)
    assert len(looked) == 2
