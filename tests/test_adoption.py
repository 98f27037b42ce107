"""Old code bases: baselines, findings on changed lines only, comments that silence what is there."""

from __future__ import annotations

import ast
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command import CONFIG, FIXED, SCRIPT, Answer, tpulint, write
from hypothesis import given
from programs import programs

from tpulint.adoption import left_lines
from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.report.entry import describe
from tpulint.session import Outcome
from tpulint.silencing import silenced
from tpulint.source import SourceFile

BASELINE = "tpulint-baseline.json"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "tpulint.toml").write_text(CONFIG)
    (folder / "train.py").write_text(SCRIPT)
    return folder


@pytest.fixture
def git(project: Path) -> Callable[..., str]:
    def run(*words: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
        done = subprocess.run(["git", *identity, *words], cwd=project, capture_output=True, text=True, check=True)
        return done.stdout

    run("init", "-q", "-b", "main")
    (project / ".gitignore").write_text(".tpulint_cache\n")
    run("add", "-A")
    run("commit", "-qm", "start")
    return run


def codes(answer: Answer) -> list[str]:
    """Rows and codes of a concise report."""
    lines = [line.split(":") for line in answer.out.splitlines() if line.count(":") > 2]
    return [f"{row}{rest.split()[0]}" for _, row, _, rest, *_ in lines]


def check(folder: Path, *args: str) -> Answer:
    return tpulint("check", "--output-format", "concise", *args, ".", cwd=folder)


# ---------------------------------------------------------------- baseline


def test_a_baseline_hides_what_it_holds(project: Path) -> None:
    assert check(project).status == 1
    written = check(project, "--write-baseline")
    assert written.status == 0 and "Wrote 3 findings to tpulint-baseline.json" in written.out
    assert (project / "train.py").read_text() == SCRIPT
    hidden = check(project, "--baseline", BASELINE)
    assert hidden.status == 0 and "All checks passed" in hidden.out and not hidden.err


def test_it_survives_lines_that_move_and_tells_what_is_new(project: Path) -> None:
    check(project, "--write-baseline")
    (project / "train.py").write_text("import sys\n\n\n" + SCRIPT.replace("print(", "acme.drop()\nprint("))
    new = check(project, "--baseline", BASELINE)
    # Of two lines that look alike the last one is new.
    assert codes(new) == ["9ACM001"], new.out
    assert new.status == 1


def test_gone_findings_are_told_and_dropped(project: Path) -> None:
    check(project, "--write-baseline")
    (project / "train.py").write_text(FIXED)
    answer = check(project, "--baseline", BASELINE)
    assert answer.status == 0
    assert "1 finding of the baseline tpulint-baseline.json is gone" in answer.err
    assert "train.py: ACM001 acme.drop()" in answer.err
    assert "gone" not in check(project, "--baseline", BASELINE, "--select", "ACM002").err  # that rule did not run
    assert "Wrote 2 findings" in check(project, "--baseline", BASELINE, "--write-baseline").out
    assert not check(project, "--baseline", BASELINE).err
    (project / "train.py").unlink()
    assert "2 findings of the baseline" in check(project, "--baseline", BASELINE).err


def test_fixes_leave_old_findings_alone(project: Path) -> None:
    check(project, "--write-baseline")
    (project / "new.py").write_text(SCRIPT)
    answer = check(project, "--baseline", BASELINE, "--fix")
    assert (project / "train.py").read_text() == SCRIPT
    assert (project / "new.py").read_text() == FIXED
    assert answer.status == 1 and "new.py" in answer.out and "train.py" not in answer.out
    # What such a run saw is not what others are to see.
    assert sum("train.py" in line for line in check(project).out.splitlines()) == 3


def test_a_part_of_the_project_keeps_the_rest_of_the_baseline(project: Path) -> None:
    (project / "other.py").write_text(SCRIPT)
    check(project, "--write-baseline")
    (project / "other.py").write_text(SCRIPT.replace("acme.drop()", "acme.drop(); acme.drop()"))
    answer = tpulint("check", "--write-baseline", "--baseline", BASELINE, "other.py", cwd=project)
    assert "Wrote 7 findings" in answer.out
    assert check(project, "--baseline", BASELINE).status == 0


def test_a_baseline_of_the_configuration_lies_beside_it(project: Path) -> None:
    (project / "tpulint.toml").write_text(f'{CONFIG}baseline = "{BASELINE}"\n')
    missing = check(project)
    assert missing.status == 2 and "--write-baseline" in missing.err
    assert check(project, "--write-baseline").status == 0
    (project / "below").mkdir()
    (project / "below" / "x.py").write_text("import acme\n")
    assert tpulint("check", "..", cwd=project / "below").status == 0


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        '{"version": 2, "findings": []}',
        '{"version": 1}',
        '{"version": 1, "findings": [1]}',
        '{"version": 1, "findings": [{"path": "a.py", "code": "ACM001", "line": "x", "count": Infinity}]}',
    ],
)
def test_a_broken_baseline_is_one_clear_message(project: Path, content: str) -> None:
    (project / BASELINE).write_text(content)
    answer = check(project, "--baseline", BASELINE)
    assert answer.status == 2 and answer.err.count("\n") == 1
    assert BASELINE in answer.err and "--write-baseline" in answer.err


def test_a_baseline_is_made_for_reading(project: Path) -> None:
    check(project, "--write-baseline")
    text = (project / BASELINE).read_text()
    assert json.loads(text)["findings"][0] == {"path": "train.py", "code": "ACM001", "line": "acme.drop()"}
    assert len(text.splitlines()) == 3 + 5  # one line for each finding: a review shows what came and went


def test_broken_files_are_told_in_spite_of_a_baseline(project: Path) -> None:
    (project / "train.py").write_text("import acme\nacme.drop(\n")
    check(project, "--write-baseline")
    assert codes(check(project, "--baseline", BASELINE)) == ["2invalid-syntax"]


# ---------------------------------------------------------------- changed lines


def test_only_findings_on_changed_lines(project: Path, git: Callable[..., str]) -> None:
    assert check(project, "--diff-base", "HEAD").status == 0
    (project / "train.py").write_text("import sys\n" + SCRIPT.replace("acme.old(x)", "acme.old(x + 1)"))
    (project / "new file.py").write_text(SCRIPT)
    answer = check(project, "--diff-base", "HEAD")
    assert codes(answer) == ["4ACM001", "5ACM002", "6ACM003", "6ACM002"]
    git("add", "-A")
    git("commit", "-qm", "more")
    assert check(project, "--diff-base", "HEAD").status == 0
    assert len(codes(check(project, "--diff-base", "HEAD~1"))) == 4


def test_what_happened_on_the_other_branch_is_not_ours(project: Path, git: Callable[..., str]) -> None:
    git("checkout", "-qb", "mine")
    (project / "mine.py").write_text(SCRIPT)
    git("add", "-A")
    git("commit", "-qm", "mine")
    git("checkout", "-q", "main")
    (project / "train.py").write_text(SCRIPT.replace("acme.drop()", "acme.drop( )"))
    git("commit", "-qam", "theirs")
    git("checkout", "-q", "mine")
    answer = check(project, "--diff-base", "main")
    assert len(codes(answer)) == 3 and "train.py" not in answer.out


def test_fixes_touch_changed_lines_only(project: Path, git: Callable[..., str]) -> None:
    (project / "train.py").write_text(SCRIPT + "for y in acme.data():\n    acme.drop() or 1\n    acme.drop()\n    y\n")
    check(project, "--diff-base", "HEAD", "--fix")
    left = (project / "train.py").read_text()
    assert left.startswith(SCRIPT) and left.count("acme.drop()") == 2


def test_odd_names_and_lines_that_are_gone(project: Path, git: Callable[..., str]) -> None:
    name = 'a "b" ü\t.py'
    (project / name).write_text(SCRIPT)
    git("add", "-A")
    git("commit", "-qm", "odd")
    (project / name).write_text(SCRIPT.replace("for x", "# ++\nfor x"))
    assert check(project, "--diff-base", "HEAD").status == 0
    (project / name).write_text(SCRIPT.replace("acme.drop()\n", "acme.drop()  \n").replace("acme\n", "acme\n++ x\n", 1))
    assert codes(check(project, "--diff-base", "HEAD")) == ["5ACM001"]
    (project / name).write_text(SCRIPT.replace("    acme.drop()\n", ""))
    assert codes(check(project, "--diff-base", "HEAD")) == ["4ACM002"]  # beside the line that is gone


@pytest.mark.parametrize("revision", ["nowhere", "-q", "origin/main"])
def test_an_unknown_revision_is_one_clear_message(project: Path, git: Callable[..., str], revision: str) -> None:
    answer = check(project, f"--diff-base={revision}")
    assert answer.status == 2 and revision in answer.err and answer.err.count("\n") == 1


def test_outside_of_git_is_one_clear_message(project: Path) -> None:
    answer = check(project, "--diff-base", "HEAD")
    assert answer.status == 2 and "git" in answer.err and answer.err.count("\n") == 1


HALF = "import torch\nmodel = torch.nn.Linear(2, {width}).cuda()\nx = torch.ones(1, 2).cuda()\nprint(model(x))\n"


def test_old_errors_keep_a_file_from_being_ported_by_half(tmp_path: Path) -> None:
    """A model on XLA with an input on the GPU would run nowhere: that takes --unsafe-fixes."""

    def run(*words: str) -> Answer:
        return tpulint("check", "--isolated", *words, "a.py", cwd=tmp_path)

    path = write(tmp_path / "a.py", HALF.format(width=2))
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "start")):
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True)
    run("--write-baseline", "--baseline", BASELINE)
    path.write_text(HALF.format(width=3))
    for old in (("--baseline", BASELINE), ("--diff-base", "HEAD")):
        looked = run(*old)
        assert "fix (unsafe): " in looked.out and "half ported" in looked.out, looked.out
        assert "fix (safe)" in run(*old, "--extend-safe-fixes", "TPU002").out
        answer = run("--fix", *old)
        assert path.read_text() == HALF.format(width=3), old
        assert answer.status == 1 and "half ported" in answer.out and "a.py:2:9" in answer.out
        assert "+model = torch.nn.Linear(2, 3).to(device)" in run("--diff", "--unsafe-fixes", *old).out
    path.write_text(HALF.format(width=3).replace("torch.ones(1, 2).cuda()", "torch.zeros(1, 2).cuda()"))
    assert "fix (safe)" in run("--diff-base", "HEAD").out  # all of it is new
    assert run("--fix", "--diff-base", "HEAD").status == 0
    assert "cuda" not in path.read_text()


# ---------------------------------------------------------------- comments


def test_every_finding_is_silenced(project: Path) -> None:
    answer = check(project, "--add-noqa", "--noqa-reason", "until the port")
    assert answer.status == 0 and "Silenced 3 findings in 1 file" in answer.out
    assert "    acme.drop()  # noqa: ACM001 until the port\n" in (project / "train.py").read_text()
    assert check(project).status == 0
    again = check(project, "--add-noqa")
    assert "Silenced 0 findings" in again.out


def test_comments_that_are_there_take_further_codes(project: Path) -> None:
    (project / "train.py").write_text(
        "import acme\nacme.drop()  # noqa: E501\nacme.old(  # why\n    acme.keep(),\n)\nx = '''\n''', acme.keep()\n"
        "acme.keep(); \\\n  acme.keep()\n"
    )
    check(project, "--add-noqa")
    assert (project / "train.py").read_text() == (
        "import acme\nacme.drop()  # noqa: E501, ACM001\nacme.old(  # why  # noqa: ACM002\n"
        "    acme.keep(),  # noqa: ACM003\n"
        ")\nx = '''\n''', acme.keep()  # noqa: ACM003\n"
        "# noqa: ACM003\nacme.keep(); \\\n  acme.keep()  # noqa: ACM003\n"
    )
    assert check(project).status == 0


def test_reasons_stand_behind_codes_that_were_there(project: Path) -> None:
    (project / "train.py").write_text(
        "import acme\nacme.drop()  # noqa: E501\nacme.old()  # noqa: E501 a long line\n"
        "acme.keep()  # tpulint: ignore[TPU101]\nacme.drop()  # noqa: E501  # type: ignore\n"
    )
    check(project, "--add-noqa", "--noqa-reason", "until #7 is done")
    assert (project / "train.py").read_text() == (
        "import acme\nacme.drop()  # noqa: E501, ACM001 until #7 is done\n"
        "acme.old()  # noqa: E501, ACM002 a long line\n"
        "acme.keep()  # tpulint: ignore[TPU101, ACM003] until #7 is done\n"
        "acme.drop()  # noqa: E501, ACM001  # type: ignore\n"
    )
    assert check(project).status == 0


def test_a_file_that_cannot_be_written_is_not_told_of_twice() -> None:
    source = SourceFile.from_text(SCRIPT, "train.py")
    settings = Settings(plugins=("acme_rules",), select=("ACM",))
    report = describe(lint(source, settings, load(settings.packages)), source)
    assert len(left_lines(Outcome((report,), (), 1, 0), "why")) == 3
    failed = report._replace(error="cannot be silenced: file is write-protected")
    assert left_lines(Outcome((failed,), (), 1, 0), "why") == []


@pytest.mark.parametrize("wishes", [["--fix"], ["--write-baseline"], ["--diff"]])
def test_contradictory_wishes(project: Path, wishes: list[str]) -> None:
    answer = check(project, "--add-noqa", *wishes)
    assert answer.status == 2 and "--add-noqa" in answer.err
    assert (project / "train.py").read_text() == SCRIPT


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\f", "\u2028"])
@pytest.mark.parametrize("behind", ["", "import os"])
def test_a_reason_of_several_lines_is_refused(project: Path, end: str, behind: str) -> None:
    """Behind the end of a line it would be code."""
    answer = check(project, "--add-noqa", "--noqa-reason", f"until the port{end}{behind}")
    assert answer.status == 2 and answer.out == ""
    assert answer.err == "error: command line: --noqa-reason must be one line\n"
    assert (project / "train.py").read_text() == SCRIPT


@given(text=programs())
def test_silenced_programs_stay_what_they_are(text: str) -> None:
    settings, catalogue = Settings(select=("ALL",), preview=True), load()
    source = SourceFile.from_text(text, "train.py")
    report = describe(lint(source, settings, catalogue), source)
    entries = [entry for entry in report.entries if entry.code != "unused-suppression"]
    after = silenced(source, entries, "a reason").source.text
    assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(text))
    left = lint(SourceFile.from_text(after, "train.py"), settings, catalogue).findings
    assert [finding.code for finding in left if finding.code != "unused-suppression"] == []
    assert silenced(source, [], "").source.text == text


@pytest.mark.parametrize(
    "text",
    [
        'NAME=x \\\npython -c "pass"; a="\nb" NCCL_P2P_DISABLE=1 bash -c \'echo torchrun\'\n',
        'echo "a\nb" && NCCL_DEBUG=INFO torchrun t.py\n',
        'echo "a \\\nb" && python train.py \\\n  --x && NCCL_DEBUG=1 torchrun t.py\n',
        "VAR=1 \\\n  python train.py <<EOF ; NCCL_DEBUG=INFO torchrun t.py\nhi\nEOF\n",
    ],
)
def test_no_comment_is_written_into_a_command(tmp_path: Path, text: str) -> None:
    """Where a shell has no room for a comment none is written, and what is left is told."""
    write(tmp_path / "p" / "run.sh", text)
    answer = tpulint("check", "--isolated", "--preview", "--add-noqa", ".", cwd=tmp_path / "p")
    assert answer.status == 1 and "cannot be silenced" in answer.err
    after = (tmp_path / "p" / "run.sh").read_text()
    assert after == text
    left = tpulint("check", "--isolated", "--preview", "--output-format", "json", ".", cwd=tmp_path / "p")
    assert len(json.loads(left.out)) == answer.err.count("cannot be silenced")


def test_files_that_only_move_are_not_new(project: Path, git: Callable[..., str]) -> None:
    git("mv", "train.py", "moved.py")
    assert check(project, "--diff-base", "HEAD").status == 0


def test_an_empty_revision_is_told(project: Path, git: Callable[..., str]) -> None:
    answer = check(project, "--diff-base", "")
    assert answer.status == 2 and "--diff-base" in answer.err


def test_a_broken_baseline_is_written_anew(project: Path) -> None:
    (project / BASELINE).write_text("<<<<<<< HEAD\n")
    assert "Wrote 3 findings" in check(project, "--write-baseline").out
    (project / "train.py").write_text("import acme\ndef f(:\n")
    answer = check(project, "--write-baseline")
    assert answer.status == 1 and "train.py:2: invalid-syntax cannot be part of a baseline" in answer.err


def test_files_of_other_repositories_are_left_out_and_told(project: Path, git: Callable[..., str]) -> None:
    (project / "nested").mkdir()
    subprocess.run(["git", "init", "-q"], cwd=project / "nested", check=True)
    (project / "nested" / "x.py").write_text(SCRIPT)
    (project.parent / "beside.py").write_text(SCRIPT)
    answer = check(project, "--diff-base", "HEAD", "../beside.py")
    assert answer.status == 0 and "nested/x.py" in answer.err and "beside.py" in answer.err


ADDED = SCRIPT + "acme.keep()\n"


def test_what_git_takes_for_binary_has_changed_lines_too(project: Path, git: Callable[..., str]) -> None:
    write(project / ".gitattributes", "*.py -diff\n")
    git("add", "-A")
    git("commit", "-qm", "attributes")
    (project / "train.py").write_text(ADDED)
    (project / "new.py").write_text("import acme\nacme.keep()\n")
    git("add", "new.py")
    assert sorted(codes(check(project, "--diff-base", "HEAD"))) == ["2ACM003", "7ACM003"]
    git("mv", "train.py", "moved.py")
    assert sorted(codes(check(project, "--diff-base", "HEAD"))) == ["2ACM003", "7ACM003"]


def test_what_git_ignores_is_new(project: Path, git: Callable[..., str]) -> None:
    with (project / ".gitignore").open("a") as stream:
        stream.write("local*.py\n")
    (project / "local.py").write_text("import acme\nacme.keep()\n")
    answer = tpulint("check", "--output-format", "concise", "--diff-base", "HEAD", "local.py", cwd=project)
    assert codes(answer) == ["2ACM003"]


@pytest.mark.parametrize("setting", ["diff.relative=true", "diff.interHunkContext=9"])
def test_settings_of_the_user_change_nothing(project: Path, git: Callable[..., str], setting: str) -> None:
    git("config", *setting.split("="))
    (project / "train.py").write_text(SCRIPT.replace("import acme\n", "import acme  # 1\n") + "acme.keep()\n")
    (project / "sub").mkdir()
    answer = tpulint("check", "--output-format", "concise", "--diff-base", "HEAD", "..", cwd=project / "sub")
    assert codes(answer) == ["7ACM003"]
