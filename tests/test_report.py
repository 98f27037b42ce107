"""Every output format, on findings made for it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from command import write

from tpulint.catalog import Catalogue
from tpulint.check_output import tell_problems
from tpulint.config import OUTPUT_FORMATS, Settings
from tpulint.discovery import Problem
from tpulint.json_output import serialize
from tpulint.model import Applicability, Certainty, Edit, FileResult, Finding, Fix, Severity, Span
from tpulint.report import concise, full, github, gitlab, junit, machine, order, render, sarif, summary
from tpulint.report.diff import coloured, unified
from tpulint.report.entry import FileReport, describe
from tpulint.report.style import Style, printable, wants_colour, width
from tpulint.source import SourceFile
from tpulint.targets import Target

NO_RULES = Catalogue([], "digest")
PLAIN = Style(False)
SAFE = Applicability.SAFE


def finding(text: str, part: str, message: str = "is bad", **fields: object) -> Finding:
    """A finding on the first occurrence of a part of the text."""
    start = text.index(part)
    return Finding("TPU101", "bad-thing", Span(start, start + len(part)), message, Severity.WARNING)._replace(**fields)  # type: ignore[arg-type]


def replacement(text: str, *pairs: tuple[str, str], applicability: Applicability = SAFE) -> Fix:
    """A fix that replaces the first occurrence of each old part by the new one."""
    edits = []
    for old, new in pairs:
        start = text.index(old)
        edits.append(Edit(Span(start, start + len(old)), new))
    return Fix("Make it good", tuple(edits), (), applicability, "Nothing else changes.")


def report_of(text: str, *findings: Finding, path: str = "train.py") -> FileReport:
    return describe(FileResult(path, findings, text, text), SourceFile.from_text(text, path))


def in_full(report: FileReport, required: Applicability = SAFE, style: Style = PLAIN) -> str:
    return "".join(full.render([report], NO_RULES, style, required))


# -------------------------------------------------------------------- for people


def test_full() -> None:
    text = "a = 1\nb = 2\nfor x in y:\n    total += loss.item()\n\n\nd = 4\n"
    one = finding(text, "loss.item()", fix=replacement(text, ("item", "detach")), related=((Span(0, 1), "made here"),))
    assert in_full(report_of(text, one)) == (
        "TPU101 [warning] [*] is bad\n"
        " --> train.py:4:14\n"
        "  |\n"
        "2 | b = 2\n"
        "3 | for x in y:\n"
        "4 |     total += loss.item()\n"
        "  |              ^^^^^^^^^^^\n"
        "  |\n"
        "  = 1:1: made here\n"
        "fix (safe): Make it good - Nothing else changes.\n"
        "  |\n"
        "3 |   for x in y:\n"
        "4 | -     total += loss.item()\n"
        "4 | +     total += loss.detach()\n"
        "5 |\n"
        "  |\n"
        "\n"
    )


def test_full_with_help_and_without_fix() -> None:
    text = "x = 1\n"
    report = report_of(text, finding(text, "x", help="Do it\nby hand.", severity=Severity.ERROR))
    assert in_full(report) == (
        "TPU101 [error] is bad\n --> train.py:1:1\n  |\n1 | x = 1\n  | ^\n  |\nhelp: Do it by hand.\n\n"
    )


@pytest.mark.parametrize(
    ("line", "part", "shown", "carets"),
    [
        ("\tx.y()", "y()", "      x.y()", "^^^"),
        ("größe = x.y()", "x.y()", "  größe = x.y()", "^^^^^"),
        ("s = '日本'; x()", "x()", "  s = '日本'; x()", "^^^"),
        ("s = 'e\u0301'; x()", "x()", "  s = 'e\u0301'; x()", "^^^"),
        ("s = '\x1b[31m'; x()", "x()", "  s = '\ufffd[31m'; x()", "^^^"),
    ],
)
def test_carets_stand_below_the_place(line: str, part: str, shown: str, carets: str) -> None:
    lines = in_full(report_of(line + "\n", finding(line, part))).split("\n")
    source, marks = (text[text.index("|") + 1 :] for text in lines[3:5])
    assert source == shown[1:]
    assert marks.strip() == carets
    column = width(marks) - len(carets)
    assert width(source[: source.index(part)]) == column


def test_place_of_several_lines() -> None:
    text = "call(\n    a,\n    b,\n)\nx = 1\n"
    lines = in_full(report_of(text, finding(text, "call(\n    a,\n    b,\n)"))).split("\n")
    assert lines[3:11] == [
        "1 | call(",
        "  | ^^^^^",
        "2 |     a,",
        "  |     ^^",
        "3 |     b,",
        "  |     ^^",
        "4 | )",
        "  | ^",
    ]


def test_long_place_is_cut() -> None:
    text = "call(\n" + "    a,\n" * 100 + ")\n"
    assert in_full(report_of(text, finding(text, text.rstrip()))).count("\n") < 25


def test_long_line_is_cut_around_the_place() -> None:
    text = f"x = {'a' * 5000} + bad() + {'b' * 5000}\n"
    lines = in_full(report_of(text, finding(text, "bad()"))).split("\n")
    assert max(map(len, lines)) < 250
    assert lines[3][lines[4].index("^") : lines[4].index("^") + 5] == "bad()"


def test_place_behind_the_last_character() -> None:
    text = "def f(:"
    end = len(text)
    report = report_of(text, Finding("invalid-syntax", "invalid-syntax", Span(end, end), "no", Severity.ERROR))
    assert "1 | def f(:\n  |        ^\n" in in_full(report)


def test_empty_file() -> None:
    report = report_of("", Finding("TPU1", "n", Span(0, 0), "empty", Severity.INFO))
    assert "--> train.py:1:1\n" in in_full(report)


def test_shared_fix_is_shown_once() -> None:
    text = "a()\nb()\n"
    fix = replacement(text, ("a()", "c()"), ("b()", "d()"))
    report = report_of(text, finding(text, "a()", fix=fix), finding(text, "b()", fix=fix))
    assert len(report.fixes) == 1
    shown = in_full(report)
    assert shown.count("1 | - a()") == 1
    assert "the fix is shown at 1:1" in shown


def test_long_fix_is_cut() -> None:
    text = "x = 1\n" * 200
    fix = Fix("All", tuple(Edit(Span(6 * n, 6 * n + 1), "y") for n in range(200)), (), SAFE, "")
    shown = in_full(report_of(text, finding(text, "x", fix=fix)))
    assert "360 more lines; --diff shows all" in shown
    assert shown.count("\n") < 70


def test_distant_changes_are_separate_hunks() -> None:
    text = "".join(f"line{number} = {number}\n" for number in range(1, 31))
    fix = replacement(text, ("line2 ", "new2 "), ("line4 ", "new4 "), ("line20 = 20\n", ""), ("line30 ", "new30 "))
    (described,) = report_of(text, finding(text, "line1", fix=fix)).fixes
    assert [[f"{line.row}{line.mark}{line.text.split(' ')[0]}" for line in hunk] for hunk in described.hunks] == [
        ["1 line1", "2-line2", "2+new2", "3 line3", "4-line4", "4+new4", "5 line5"],
        ["19 line19", "20-line20", "20 line21"],
        ["28 line29", "30-line30", "29+new30"],
    ]


def test_insertion_at_the_ends_of_a_file() -> None:
    text = "a = 1"
    fix = Fix("Insert", (Edit(Span(0, 0), "import x\n"), Edit(Span(5, 5), "\nb = 2")), (), SAFE, "")
    (described,) = report_of(text, finding(text, "a", fix=fix)).fixes
    assert [line.mark + line.text for hunk in described.hunks for line in hunk] == ["+import x", " a = 1", "+b = 2"]


def test_concise_and_marker() -> None:
    text = "a()\nb()\nc()\n"
    unsafe = replacement(text, ("b()", "x()"), applicability=Applicability.UNSAFE)
    report = report_of(
        text,
        finding(text, "a()", fix=replacement(text, ("a()", "x()"))),
        finding(text, "b()", fix=unsafe),
        finding(text, "c()", message="two\nlines"),
    )
    assert "".join(concise.render([report], PLAIN, SAFE)).split("\n") == [
        "train.py:1:1: TPU101 is bad [*]", "train.py:2:1: TPU101 is bad", "train.py:3:1: TPU101 two\ufffdlines", "",
    ]  # fmt: skip
    assert "".join(concise.render([report], PLAIN, Applicability.UNSAFE)).count("[*]") == 2


def test_columns_are_code_points() -> None:
    text = "s = '😀é'; bad()\n"
    assert "".join(concise.render([report_of(text, finding(text, "bad()"))], PLAIN, SAFE)).startswith("train.py:1:11:")


def test_colours_are_only_added() -> None:
    text = "x = 1\ny = bad()\n"
    report = report_of(text, finding(text, "bad()", fix=replacement(text, ("bad", "good"))))
    painted = in_full(report, style=Style(True))
    assert "\x1b[" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == in_full(report)


@pytest.mark.parametrize(
    ("when", "terminal", "variables", "colours"),
    [
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),
        ("auto", True, {"TERM": "dumb"}, False),
        ("auto", False, {"FORCE_COLOR": "1"}, True),
        ("always", False, {"NO_COLOR": "1"}, True),
        ("never", True, {"FORCE_COLOR": "1"}, False),
    ],
)
def test_when_to_use_colours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, when: str, terminal: bool, variables: dict[str, str], colours: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with open(tmp_path / "out", "w") as stream:
        monkeypatch.setattr(stream, "isatty", lambda: terminal, raising=False)
        assert wants_colour(when, stream) is colours


def test_printable_keeps_a_terminal_safe() -> None:
    assert printable("a\tb\x1b]0;title\x07\r") == "a    b\ufffd]0;title\ufffd\ufffd"


def test_first_sentence() -> None:
    assert (
        full.first_sentence("One thing,\nsuch as 2.9 or x.y. `Two` more.\n\nThree.") == "One thing, such as 2.9 or x.y."
    )
    assert full.first_sentence("No end\n\nNext") == "No end"


@pytest.mark.parametrize(
    ("pace", "shown"), [("per step", " (per step)"), ("per epoch", " (per epoch)"), ("once", ""), ("", "")]
)
def test_how_often_it_runs_stands_behind_the_place(pace: str, shown: str) -> None:
    text = "a = 1\n"
    assert f"--> train.py:1:1{shown}\n" in in_full(report_of(text, finding(text, "a", pace=pace)))


# -------------------------------------------------------------------- order


def rated(path: str, *rates: tuple[str, str, Severity, Certainty]) -> FileReport:
    """A report with a finding on each line: its word, its pace, severity and certainty."""
    text = "".join(f"{word}()\n" for word, *_ in rates)
    found = [
        finding(text, word, message=word, pace=pace, severity=severity, certainty=certainty)
        for word, pace, severity, certainty in rates
    ]
    return report_of(text, *found, path=path)


ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
LIKELY, CERTAIN = Certainty.LIKELY, Certainty.CERTAIN
RATED = [
    rated(
        "a.py",
        ("last", "once", ERROR, CERTAIN),
        ("eighth", "", INFO, CERTAIN),
        ("fifth", "per log interval", ERROR, CERTAIN),
    ),
    rated("b.py", ("third", "per step", WARNING, CERTAIN), ("second", "per step", ERROR, LIKELY)),
    rated("c.py", ("seventh", "", ERROR, CERTAIN), ("first", "per step", ERROR, CERTAIN)),
    rated("d.py", ("fourth", "per evaluation batch", INFO, CERTAIN), ("sixth", "per epoch", INFO, CERTAIN)),
]
COSTLIEST_FIRST = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "last"]


def test_costliest_first_across_files() -> None:
    parts = order.by_cost(RATED)
    assert [entry.message for part in parts for entry in part.entries] == COSTLIEST_FIRST
    # Neighbours of one file stay together, and every part knows the fixes of its whole file.
    assert [part.path for part in parts] == ["c.py", "b.py", "d.py", "a.py", "d.py", "c.py", "a.py"]
    assert all(part.fixes == whole.fixes for part in parts for whole in RATED if whole.path == part.path)


def test_what_costs_the_same_stays_in_order_of_position() -> None:
    same = ("per step", ERROR, CERTAIN)
    reports = [rated("a.py", ("a", *same), ("b", *same)), rated("b.py", ("c", *same))]
    assert [entry.message for part in order.by_cost(reports) for entry in part.entries] == ["a", "b", "c"]


def test_files_of_junit_stay_whole() -> None:
    assert [report.path for report in order.files_by_cost(RATED)] == ["c.py", "b.py", "d.py", "a.py"]
    text = "".join(render("junit", RATED, [], NO_RULES, Settings(), PLAIN, "cost"))
    suites = ElementTree.fromstring(text)
    assert [suite.get("name") for suite in suites] == ["c.py", "b.py", "d.py", "a.py"]
    assert [failure.get("message") for failure in suites[0].iter("failure")] == ["first", "seventh"]


@pytest.mark.parametrize("output_format", ["full", "concise", "json", "json-lines", "github", "gitlab", "sarif"])
def test_every_format_keeps_the_order(output_format: str) -> None:
    def words(wish: str) -> list[str]:
        text = "".join(render(output_format, RATED, [], NO_RULES, Settings(), PLAIN, wish))
        # The word of each finding where the format tells its message; excerpts hold other words as well.
        pattern = {"full": r"\] (\w+)$", "concise": r"TPU101 (\w+)$", "github": r"TPU101 (\w+)$"}.get(
            output_format, r'"(?:message|text|description)": ?"(?:TPU101: )?(\w+)"'
        )
        return [word for word in re.findall(pattern, text, re.MULTILINE) if word in COSTLIEST_FIRST]

    by_position = [entry.message for report in RATED for entry in report.entries]
    assert words("cost") == COSTLIEST_FIRST
    assert words("position") == by_position
    assert words("") == (COSTLIEST_FIRST if output_format == "github" else by_position)


def test_fingerprints_do_not_depend_on_the_order() -> None:
    """Equal lines are told apart by position, whatever is told first."""
    text = "bad()\nbad()\n"
    found = [Finding("TPU1", "n", Span(at, at + 3), "m", ERROR, pace=pace) for at, pace in ((0, ""), (6, "per step"))]
    whole = report_of(text, *found)

    def marks(reports: list[FileReport]) -> dict[object, object]:
        items = machine.findings(reports, NO_RULES, Target())
        return {str(item["location"]): item["fingerprint"] for item in items}

    assert len(set(marks([whole]).values())) == 2
    assert marks(order.by_cost([whole])) == marks([whole])


def test_shared_fix_is_shown_once_in_any_order() -> None:
    text = "a()\nb()\n"
    fix = replacement(text, ("a()", "c()"), ("b()", "d()"))
    mine = report_of(text, finding(text, "a()", fix=fix), finding(text, "b()", fix=fix, pace="per step"))
    other = rated("x.py", ("other", "per step", INFO, CERTAIN))
    shown = "".join(full.render(order.by_cost([mine, other]), NO_RULES, PLAIN, SAFE))
    assert shown.count("1 | - a()") == 1
    assert "the fix is shown at 2:1" in shown


# -------------------------------------------------------------------- for programs


def test_json() -> None:
    text = "a = 1\nb = bad(\n    2)\n"
    fix = replacement(text, ("bad", "good"), applicability=Applicability.UNSAFE)
    one = finding(text, "bad(\n    2)", fix=fix, certainty=Certainty.LIKELY, related=((Span(0, 1), "here"),))
    one = one._replace(pace="per step")
    (item,) = json.loads("".join(machine.render_list([report_of(text, one)], NO_RULES, Target())))
    assert item.pop("filename").endswith("/train.py")
    assert len(item.pop("fingerprint")) == 32
    edit = {"content": "good", "location": {"row": 2, "column": 5}, "end_location": {"row": 2, "column": 8}}
    assert item == {
        "cell": None, "certainty": "likely", "code": "TPU101", "end_location": {"row": 3, "column": 7},
        "fix": {
            "applicability": "unsafe", "message": "Make it good", "reason": "Nothing else changes.",
            "edits": [edit],
        },
        "group": None, "help": None, "location": {"row": 2, "column": 5}, "message": "is bad", "name": "bad-thing",
        "noqa_row": None, "pace": "per step", "severity": "warning", "target": "torch_xla", "url": None,
        "related": [{"message": "here", "location": {"row": 1, "column": 1}, "end_location": {"row": 1, "column": 2}}],
    }  # fmt: skip


def test_json_is_a_list_even_when_empty() -> None:
    assert json.loads("".join(machine.render_list([], NO_RULES, Target()))) == []


def test_json_lines() -> None:
    text = "a()\nb()\n"
    report = report_of(text, finding(text, "a()"), finding(text, "b()"))
    lines = "".join(machine.render_lines([report], NO_RULES, Target())).splitlines()
    assert [json.loads(line)["location"]["row"] for line in lines] == [1, 2]


def test_fingerprint_outlives_moved_lines() -> None:
    def fingerprints(text: str) -> list[object]:
        places = [match.start() for match in re.finditer("bad", text)]
        found = [Finding("TPU1", "n", Span(at, at + 3), "m", Severity.INFO) for at in places]
        return [item["fingerprint"] for item in machine.findings([report_of(text, *found)], NO_RULES, Target())]

    first = fingerprints("bad()\nbad()\nx = bad\n")
    assert len(set(first)) == 3
    assert fingerprints("import os\n\nbad()\n  bad()\nx = bad\n") == first


def test_github(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    text = "a()\nb(\n)\nc()\n"
    report = report_of(
        text,
        finding(text, "a()", message="50% bad,\nreally: yes", help="Call x"),
        finding(text, "b(\n)", severity=Severity.ERROR),
        finding(text, "c()", severity=Severity.INFO, fix=replacement(text, ("c()", "x()"))),
        path="a,b:c%.py",
    )
    problems = [Problem("gone.py", "no such file"), Problem("nul.py", "NUL", 3)]
    assert "".join(github.render([report], problems)).split("\n") == [
        "::warning title=tpulint (TPU101),file=a%2Cb%3Ac%25.py,line=1,col=1,endLine=1,endColumn=4"
        "::a,b:c%25.py:1:1: TPU101 50%25 bad,%0Areally: yes%0A  help: Call x",
        "::error title=tpulint (TPU101),file=a%2Cb%3Ac%25.py,line=2,endLine=3::a,b:c%25.py:2:1: TPU101 is bad",
        "::notice title=tpulint (TPU101),file=a%2Cb%3Ac%25.py,line=4,col=1,endLine=4,endColumn=4"
        "::a,b:c%25.py:4:1: TPU101 is bad%0A  help: Make it good",
        "::error title=tpulint,file=gone.py::gone.py: no such file",
        "::error title=tpulint,file=nul.py,line=3::nul.py: NUL",
        "",
    ]  # fmt: skip


def test_github_paths_are_relative_to_the_workspace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    shown = "".join(github.render([report_of("a()\n", finding("a()\n", "a()"))], []))
    assert ",file=sub/train.py," in shown
    (tmp_path / "sub" / "link.py").symlink_to("nowhere")
    told = "".join(github.render([], [Problem("link.py", "symbolic link to nowhere")]))
    assert ",file=sub/link.py::link.py: symbolic link to nowhere" in told


# -------------------------------------------------------------------- summaries


def summed(required: Applicability, *reports: FileReport) -> str:
    return "".join(summary.render(summary.Tally(reports, required)))


def test_summary() -> None:
    text = "a()\nb()\n"
    safe, unsafe = (
        replacement(text, ("a()", "x()")),
        replacement(text, ("b()", "x()"), applicability=Applicability.UNSAFE),
    )
    shown_only = unsafe._replace(applicability=Applicability.DISPLAY)
    plain = report_of(text, finding(text, "a()"))
    both = report_of(text, finding(text, "a()", fix=safe), finding(text, "b()", fix=unsafe))
    assert summed(SAFE) == "All checks passed!\n"
    assert summed(SAFE, plain) == "Found 1 error.\n"
    assert summed(SAFE, plain, report_of(text, finding(text, "a()", fix=shown_only))) == "Found 2 errors.\n"
    assert summed(SAFE, both) == "Found 2 errors.\n[*] 1 fixable with `--fix` (1 more with `--unsafe-fixes`).\n"
    assert summed(Applicability.UNSAFE, both) == "Found 2 errors.\n[*] 2 fixable with `--fix`.\n"
    only_unsafe = report_of(text, finding(text, "b()", fix=unsafe))
    assert summed(SAFE, only_unsafe) == "Found 1 error.\n1 fixable with `--fix --unsafe-fixes`.\n"
    fixed = plain._replace(fixed=(("TPU101", "bad-thing"),) * 2)
    assert summed(SAFE, fixed) == "Found 3 errors (2 fixed, 1 remaining).\n"


def test_list_of_fixes() -> None:
    report = FileReport("a.py", fixed=(("TPU2", "two"), ("TPU1", "one"), ("TPU2", "two")))
    shown = "".join(summary.render_fixed([report, FileReport("b.py")], PLAIN))
    assert shown == "Fixed 3 errors:\n- a.py:\n    1 x TPU1 (one)\n    2 x TPU2 (two)\n"


def test_statistics() -> None:
    text = "a()\nb()\nc()\n"
    fix = replacement(text, ("a()", "x()"))
    report = report_of(
        text,
        finding(text, "a()", fix=fix),
        finding(text, "b()"),
        finding(text, "c()", code="TPU9", name="rare", fix=replacement(text, ("c()", "x()"))),
    )
    reports = [report, report_of(text, *[finding(text, "a()", code="TPU3", name="plain")] * 10)]
    assert "".join(summary.render_statistics(reports, SAFE, PLAIN)).splitlines() == [
        "10\tTPU3  \t[ ] plain",
        " 2\tTPU101\t[-] bad-thing",
        " 1\tTPU9  \t[*] rare",
    ]


# -------------------------------------------------------------------- diffs

PAIRS = {
    "changed": ("a\nb\nc\nd\ne\nf\ng\nh\n", "a\nb\nc\nd\ne\nX\ng\nh\n"),
    "inserted at the start": ("a\nb\n", "x\na\nb\n"),
    "appended": ("a\nb\n", "a\nb\nc\n"),
    "deleted": ("a\nb\nc\n", "a\nc\n"),
    "far apart": ("".join(f"{n}\n" for n in range(60)), "".join(f"{n if n % 25 else 'x'}\n" for n in range(60))),
    "repeated lines": ("a\na\na\na\n", "a\na\na\n"),
    "from empty": ("", "a\n"),
    "to empty": ("a\n", ""),
    "no newline at the end, before": ("a\nb", "a\nc\n"),
    "no newline at the end, after": ("a\nb\n", "a\nc"),
    "no newline at the end, both": ("a\nb", "x\nb"),
    "windows newlines": ("a\r\nb\r\n", "a\r\nc\r\n"),
    "lone carriage returns": ("a\rb\rc\n", "a\rX\rc\n"),
    "form feed and line separator": ("a\x0cb\n\u2028c\n", "a\x0cX\n\u2028c\n"),
    "byte order mark": ("\ufeffa\n", "\ufeffb\n"),
}


NAMES = ("train.py", "pkg/größe.py", "with blank.py", 'quote".py', "tab\t.py")
JUDGES = {
    "git": ["git", "apply", "--whitespace=nowarn", "-"],
    "patch": ["patch", "-p1", "--binary", "--quiet"],
}


@pytest.mark.parametrize(("judge", "name"), [("git", name) for name in NAMES] + [("patch", name) for name in NAMES[:3]])
@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_diff_can_be_applied(tmp_path: Path, pair: tuple[str, str], name: str, judge: str) -> None:
    if shutil.which(judge) is None:
        pytest.skip(f"{judge} is the judge")
    before, after = (text.encode() for text in pair)
    path = write(tmp_path / name, before)
    subprocess.run(JUDGES[judge], cwd=tmp_path, input=unified(name, before, after), check=True)
    # Both tools take a file that was emptied for one that was removed.
    assert (path.read_bytes() if path.exists() else b"") == after


def test_diff_of_equal_contents_is_empty() -> None:
    assert unified("a.py", b"x\n", b"x\n") == b""


def test_diff_marks_a_missing_newline() -> None:
    assert unified("a.py", b"a\nb", b"a\nc\n") == (
        b"--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n"
    )


def test_diff_of_a_long_file_is_small() -> None:
    before = b"".join(b"line %d\n" % number for number in range(20_000))
    after = b"import x\n" + before.replace(b"line 19990\n", b"line X\n")
    diff = unified("a.py", before, after)
    assert diff.count(b"\n@@ ") == 2 and diff.count(b"\n") < 20


def test_coloured_diff() -> None:
    diff = unified("a.py", b"a\nb\n", b"a\nc\n")
    assert re.sub(rb"\x1b\[[0-9;]*m", b"", coloured(diff)) == diff
    assert b"\x1b[31m-b\x1b[0m\n" in coloured(diff)


# -------------------------------------------------------------------- for CI servers


def in_sarif(*reports: FileReport, problems: tuple[Problem, ...] = ()) -> dict[str, Any]:
    (run,) = json.loads("".join(sarif.render([*reports], problems, NO_RULES, Target())))["runs"]
    return run


def test_sarif_places_fixes_and_what_leads_there() -> None:
    text = "a = 1\nfor x in y:\n    total += loss.item()\n"
    fix = replacement(text, ("item", "detach"), applicability=Applicability.UNSAFE)
    run = in_sarif(report_of(text, finding(text, "loss.item()", fix=fix, related=((Span(0, 1), "made here"),))))
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "TPU101"
    assert result["level"] == "warning"
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "train.py"
    assert location["region"] == {"startLine": 3, "startColumn": 14, "endLine": 3, "endColumn": 25}
    (replaced,) = result["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replaced["insertedContent"] == {"text": "detach"}
    assert replaced["deletedRegion"] == {"startLine": 3, "startColumn": 19, "endLine": 3, "endColumn": 23}
    (flow,) = result["codeFlows"][0]["threadFlows"]
    assert [step["location"]["message"]["text"] for step in flow["locations"]] == ["made here", "is bad"]


def test_sarif_addresses_are_relative_and_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path / "my scripts" / "träin#1.py", "x = 1\n")
    run = in_sarif(report_of("x = 1\n", finding("x = 1\n", "x"), path=str(path)))
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "my%20scripts/tr%C3%A4in%231.py"


def test_sarif_tells_of_files_that_failed() -> None:
    run = in_sarif(problems=(Problem("a.py", "cannot be read", 3), Problem("b.py", "gone")))
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    texts = [note["message"]["text"] for note in invocation["toolExecutionNotifications"]]
    assert texts == ["cannot be read", "gone"]
    assert in_sarif()["invocations"][0]["executionSuccessful"] is True


def test_gitlab() -> None:
    text = "bad()\nbad()\n"
    report = report_of(text, finding(text, "bad"), finding(text, "bad()\nbad")._replace(span=Span(6, 9)))
    first, second = json.loads("".join(gitlab.render([report])))
    assert (first["check_name"], first["description"], first["severity"]) == ("TPU101", "TPU101: is bad", "minor")
    assert second["location"] == {
        "path": "train.py", "positions": {"begin": {"line": 2, "column": 1}, "end": {"line": 2, "column": 4}}
    }  # fmt: skip
    assert first["fingerprint"] != second["fingerprint"]


def test_junit_can_be_read_whatever_a_message_holds() -> None:
    text = "bad()\n"
    report = report_of(text, finding(text, "bad", 'a < b & "c" \x1b[1m \udcff'), path="odd<&>.py")
    root = ElementTree.fromstring("".join(junit.render([report], [Problem("b.py", "gone")])))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("2", "1", "1")
    (failure,) = root.iter("failure")
    assert (failure.get("message") or "").startswith('a < b & "c" ')
    assert [case.get("name") for case in root.iter("testcase")] == ["TPU101 line 1, column 1", "tpulint"]
    clean = ElementTree.fromstring("".join(junit.render([], [])))
    assert (clean.get("tests"), clean.get("failures"), len([*clean.iter("testcase")])) == ("1", "0", 1)


# ---------------------------------------------------------------- names of files

ODD_NAMES = [
    "a\n::error file=x::made.py",
    "b`|[x](http:y) <b>`.py",
    "`c.py",
    "d\x1b[31m\r.py",
    "e\udcff.py",
    'f]]>&".py',
]


@pytest.mark.parametrize("name", ODD_NAMES)
@pytest.mark.parametrize("output_format", OUTPUT_FORMATS)
def test_names_of_files_cannot_speak_for_themselves(name: str, output_format: str) -> None:
    text = "import torch"
    reports = [report_of(text, finding(text, "torch", "`a|b` is <b>bad</b>"), path=name)]
    problems = [Problem(name, "cannot be read: `x` <b>|</b>", 3)]
    said = "".join(render(output_format, reports, problems, NO_RULES, Settings(), PLAIN))
    assert not any(char in said for char in "\x1b\r"), said
    assert not re.search("^::error file=x", said, re.MULTILINE), said
    assert not re.search(r"[\ud800-\udfff]", said), said
    if output_format in ("json", "sarif", "gitlab", "json-lines"):
        for one in said.splitlines() if output_format == "json-lines" else [said]:
            json.dumps(json.loads(one), ensure_ascii=False).encode()  # half a surrogate pair is no UTF-8
    if output_format == "github":
        assert said.count("\n") == 2 and said.count("::error title=") == 1
    elif output_format == "junit":
        assert len(ElementTree.fromstring(said).findall("testsuite")) == 2
    elif output_format in ("sarif", "gitlab", "json"):
        json.loads(said)
    elif output_format == "markdown":
        rows = [row for row in said.splitlines() if row.startswith("|")]
        assert [len(re.findall(r"(?<!\\)\|", row)) for row in rows] == [5] * 6
        assert rows[-1].endswith(" | TPU101 | `a\\|b` is \\<b\\>bad\\</b\\> |  |")
        assert len(said.splitlines()) == 15
        fence = re.match(r"\| (`+)", rows[-1])
        assert fence and len(re.findall(rf"(?<!`){fence[1]}(?!`)", rows[-1].partition(" | TPU")[0])) == 2


@pytest.mark.parametrize("name", ODD_NAMES)
def test_names_in_messages_stay_on_their_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    tell_problems([Problem(name, "cannot be read")])
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ") and line.isprintable()


@pytest.mark.parametrize("text", ["\U0001f600", "\\", "\\udcff", "é\u2028"])
def test_json_says_what_it_is_given(text: str) -> None:
    assert json.loads(serialize({text: [text, 1.5]})) == {text: [text, 1.5]}


@pytest.mark.parametrize("half", ["\ud83d", "\ude00", "\udcff"])
def test_half_a_surrogate_pair_is_written_as_text(half: str) -> None:
    said = json.loads(serialize(f"\\{half}\U0001f600{half}"))
    assert said == f"\\\\u{ord(half):x}\U0001f600\\u{ord(half):x}"
