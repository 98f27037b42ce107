"""The command as users and programs meet it: arguments, what goes where, exit statuses."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command import CONFIG, FIXED, SCRIPT, UNSAFELY_FIXED, environment, tpulint, write

from tpulint import __version__

REPOSITORY = Path(__file__).parent.parent


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one script and a configuration under which only rules of acme run."""
    folder = tmp_path / "project"
    write(folder / "tpulint.toml", CONFIG)
    write(folder / "train.py", SCRIPT)
    return folder


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    folder = tmp_path / "clean"
    write(folder / "tpulint.toml", CONFIG)
    write(folder / "a.py", "x = 1\n")
    return folder


def concise(text: str) -> list[tuple[str, str, str, str]]:
    """Path, row, column and code of each line."""
    return re.findall(r"^(.+?):(\d+):(\d+): (\S+) ", text, re.MULTILINE)


# -------------------------------------------------------------------- checking


def test_check_is_the_default_command(project: Path) -> None:
    answers = [tpulint(*args, cwd=project) for args in ([], ["."], ["train.py"], ["check"], ["check", "train.py"])]
    assert {answer.status for answer in answers} == {1}
    assert len({answer.out for answer in answers}) == 1
    assert answers[0].err == ""


def test_full_report(project: Path) -> None:
    out = tpulint(cwd=project).out
    for expected in (
        "ACM001 [warning] [*] `acme.drop` does nothing; remove it\n --> train.py:4:5\n",
        "4 |     acme.drop()\n  |     ^^^^^^^^^\n",
        "why: Acme wants it.\n",
        "fix (safe): Remove `acme.drop` - Nothing is lost.\n",
        "4 | -     acme.drop()\n",
        "ACM002 [error] `acme.old` is old; use `acme.new`\n --> train.py:5:5\n",
        "fix (unsafe): ",
        "5 | -     acme.old(x)\n5 | +     acme.new(x)\n",
        "ACM003 [info] ",
        "help: Call somebody else.\n",
    ):
        assert expected in out
    assert "second sentence" not in out
    assert out.endswith("\nFound 3 errors.\n[*] 1 fixable with `--fix` (1 more with `--unsafe-fixes`).\n")


def test_concise_report(project: Path) -> None:
    answer = tpulint("--output-format", "concise", cwd=project)
    assert concise(answer.out) == [
        ("train.py", "4", "5", "ACM001"), ("train.py", "5", "5", "ACM002"), ("train.py", "6", "7", "ACM003"),
    ]  # fmt: skip
    assert [line.endswith(" [*]") for line in answer.out.splitlines()[:3]] == [True, False, False]
    assert tpulint("--output-format=concise", "--unsafe-fixes", cwd=project).out.count("[*]\n") == 2


@pytest.mark.parametrize("output_format", ["json", "json-lines", "github", "gitlab", "junit", "sarif"])
def test_reports_for_programs_hold_nothing_else(project: Path, output_format: str) -> None:
    answer = tpulint("--output-format", output_format, cwd=project)
    assert (answer.status, answer.err) == (1, "")
    if output_format == "json":
        assert [item["code"] for item in json.loads(answer.out)] == ["ACM001", "ACM002", "ACM003"]
        assert {item["group"] for item in json.loads(answer.out)} == {"device"}
    elif output_format == "json-lines":
        assert [json.loads(line)["noqa_row"] for line in answer.out.splitlines()] == [4, 5, 6]
    elif output_format == "gitlab":
        assert [item["check_name"] for item in json.loads(answer.out)] == ["ACM001", "ACM002", "ACM003"]
    elif output_format == "junit":
        assert len([*ElementTree.fromstring(answer.out).iter("failure")]) == 3
    elif output_format == "sarif":
        (run,) = json.loads(answer.out)["runs"]
        assert [item["ruleId"] for item in run["results"]] == ["ACM001", "ACM002", "ACM003"]
        assert all(rule["help"]["text"] and rule["fullDescription"]["text"] for rule in run["tool"]["driver"]["rules"])
    else:
        assert [line.split(" ")[0] for line in answer.out.splitlines()] == ["::error", "::warning", "::notice"]


def test_output_format_from_the_environment_and_its_order(project: Path) -> None:
    write(project / "tpulint.toml", CONFIG + 'output-format = "json"\n')
    assert tpulint(cwd=project).out.startswith("[\n")
    assert tpulint(cwd=project, TPULINT_OUTPUT_FORMAT="github").out.startswith("::error")
    assert concise(tpulint("--output-format=concise", cwd=project, TPULINT_OUTPUT_FORMAT="github").out)


def test_order_of_findings(project: Path) -> None:
    def severities(*args: str) -> list[str]:
        return [item["severity"] for item in json.loads(tpulint("--output-format=json", *args, cwd=project).out)]

    by_position, by_cost = ["warning", "error", "info"], ["error", "warning", "info"]
    assert severities() == severities("--order=position") == by_position
    assert severities("--order=cost") == by_cost
    write(project / "tpulint.toml", CONFIG + 'order = "cost"\n')
    assert severities() == by_cost
    assert severities("--order=position") == by_position
    position = tpulint("--output-format=github", "--order=position", cwd=project).out
    assert [line.split(" ")[0] for line in position.splitlines()] == ["::warning", "::error", "::notice"]
    wrong = tpulint("--order=severity", cwd=project)
    assert wrong.status == 2 and "position" in wrong.err


def test_clean_project(clean: Path) -> None:
    answer = tpulint(cwd=clean)
    assert (answer.status, answer.out, answer.err) == (0, "All checks passed!\n", "")
    assert json.loads(tpulint("--output-format=json", cwd=clean).out) == []


def test_folder_without_python_files(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    answer = tpulint(cwd=folder)
    assert (answer.status, answer.out) == (0, "All checks passed!\n")
    assert "no Python files" in answer.err


def test_statistics(project: Path) -> None:
    write(project / "other.py", SCRIPT)
    answer = tpulint("--statistics", cwd=project)
    assert answer.status == 1
    assert answer.out.splitlines()[:3] == [
        "2\tACM001\t[*] acme-leftover", "2\tACM002\t[ ] acme-rename", "2\tACM003\t[ ] acme-advice",
    ]  # fmt: skip
    counts = json.loads(tpulint("--statistics", "--output-format=json", cwd=project).out)
    assert [(row["code"], row["count"], row["fixable"]) for row in counts] == [
        ("ACM001", 2, True), ("ACM002", 2, False), ("ACM003", 2, False),
    ]  # fmt: skip


def test_output_file(project: Path) -> None:
    answer = tpulint("--output-format=json", "-o", "report.json", cwd=project)
    assert (answer.status, answer.out) == (1, "")
    assert len(json.loads((project / "report.json").read_text())) == 3
    answer = tpulint("-o", "no/such/folder/report", cwd=project)
    assert answer.status == 2 and "error: command line: cannot write no/such/folder/report" in answer.err


def test_quiet_silent_verbose(project: Path, clean: Path) -> None:
    quiet = tpulint("-q", "--output-format=concise", cwd=project)
    assert (quiet.status, len(quiet.out.splitlines()), quiet.err) == (1, 3, "")
    assert tpulint("-q", cwd=clean).out == ""
    silent = tpulint("-s", "train.py", "gone.py", cwd=project)
    assert (silent.status, silent.out, silent.err) == (2, "", "")
    verbose = tpulint("-v", cwd=project)
    assert str(project / "tpulint.toml") in verbose.err
    assert "files: 1, of these 1 known from an earlier run" in verbose.err


def test_selection(project: Path) -> None:
    def found(*args: str) -> list[str]:
        return [code for *_, code in concise(tpulint("--output-format=concise", *args, cwd=project).out)]

    assert found("--select", "ACM001,ACM003") == ["ACM001", "ACM003"]
    assert found("--select", "ACM001", "--select", "acme-advice") == ["ACM001", "ACM003"]
    assert found("--ignore", "ACM00", "--extend-select", "ACM002") == ["ACM002"]
    assert found("--per-file-ignores", "tr*.py:ACM001,*.py:ACM003") == ["ACM002"]
    assert found("--per-file-ignores", "other.py:ACM001") == ["ACM001", "ACM002", "ACM003"]
    assert found("--exclude", "train.py") == []
    assert found("--extend-exclude", "tr*,x", "train.py") == ["ACM001", "ACM002", "ACM003"]
    assert found("--extend-exclude", "tr*,x", "--force-exclude", "train.py") == []


def test_noqa(project: Path) -> None:
    write(project / "train.py", SCRIPT.replace("drop()", "drop()  # noqa: ACM001").replace("(x)", "(x)  # noqa"))
    assert [code for *_, code in concise(tpulint("--output-format=concise", cwd=project).out)] == ["ACM003"]
    ignored = tpulint("--output-format=concise", "--ignore-noqa", cwd=project)
    assert [code for *_, code in concise(ignored.out)] == ["ACM001", "ACM002", "ACM003"]


def test_rules_of_our_own(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    write(folder / "train.py", "import torch\n\ntorch.cuda.empty_cache()\nprint(1)\n")
    assert "TPU010" in tpulint(cwd=folder).out
    assert tpulint("--fix", cwd=folder).status == 0
    assert "torch.cuda" not in (folder / "train.py").read_text()


# -------------------------------------------------------------------- fixing


def test_fix(project: Path) -> None:
    answer = tpulint("--fix", "train.py", cwd=project)
    assert answer.status == 1
    assert (project / "train.py").read_text() == FIXED
    assert answer.out.endswith("\nFound 3 errors (1 fixed, 2 remaining).\n1 fixable with `--fix --unsafe-fixes`.\n")
    again = tpulint("--fix", "train.py", cwd=project)
    assert "Found 2 errors.\n" in again.out
    assert (project / "train.py").read_text() == FIXED


def test_unsafe_fixes(project: Path) -> None:
    answer = tpulint("--fix", "--unsafe-fixes", "--show-fixes", cwd=project)
    assert (project / "train.py").read_text() == UNSAFELY_FIXED
    listed = "Fixed 2 errors:\n- train.py:\n    1 x ACM001 (acme-leftover)\n    1 x ACM002 (acme-rename)\n"
    assert listed in answer.out


def test_everything_fixed(project: Path) -> None:
    write(project / "train.py", "import acme\n\nacme.drop()\nx = acme\n")
    assert tpulint("--exit-non-zero-on-fix", "--diff", cwd=project).status == 1
    answer = tpulint("--fix", cwd=project)
    assert (answer.status, answer.out) == (0, "Found 1 error (1 fixed, 0 remaining).\n")
    write(project / "train.py", "import acme\n\nacme.drop()\nx = acme\n")
    assert tpulint("--fix", "--exit-non-zero-on-fix", cwd=project).status == 1
    assert tpulint("--fix", "--exit-non-zero-on-fix", cwd=project).status == 0


def test_fix_only(project: Path) -> None:
    answer = tpulint("--fix-only", cwd=project)
    assert (answer.status, answer.out) == (0, "Fixed 1 error.\n")
    assert (project / "train.py").read_text() == FIXED


def test_no_fix_overrules_the_file(project: Path) -> None:
    write(project / "tpulint.toml", CONFIG + "fix = true\nunsafe-fixes = true\nfix-only = true\n")
    answer = tpulint("--no-fix", cwd=project)
    assert answer.status == 1 and (project / "train.py").read_text() == SCRIPT
    assert "[*] 2 fixable" in answer.out
    tpulint("--no-unsafe-fixes", cwd=project)
    assert (project / "train.py").read_text() == FIXED


def test_fixable_and_safety_overrides(project: Path) -> None:
    def diff(*args: str) -> str:
        answer = tpulint("--diff", *args, cwd=project)
        return answer.out

    assert diff("--unfixable", "ACM001") == ""
    assert diff("--fixable", "ACM002") == ""
    assert "-    acme.drop()" in diff("--fixable", "ACM001") and "+    acme.new(x)" not in diff("--fixable", "ACM001")
    assert "+    acme.new(x)" in diff("--extend-safe-fixes", "ACM002")
    assert diff("--extend-unsafe-fixes", "ACM001") == ""


def test_diff(project: Path) -> None:
    write(project / "pkg" / "b.py", SCRIPT)
    answer = tpulint("--diff", cwd=project)
    assert answer.status == 1
    assert answer.err == "Would fix 2 errors (2 more with `--unsafe-fixes`).\n"
    assert re.findall(r"^[-+]{3} .*$", answer.out, re.MULTILINE) == [
        "--- a/pkg/b.py", "+++ b/pkg/b.py", "--- a/train.py", "+++ b/train.py",
    ]  # fmt: skip
    assert (project / "train.py").read_text() == SCRIPT
    subprocess.run(["git", "apply", "-"], cwd=project, input=answer.raw, check=True)
    assert (project / "train.py").read_text() == (project / "pkg" / "b.py").read_text() == FIXED
    again = tpulint("--diff", cwd=project)
    assert (again.status, again.out) == (0, "")


def test_exit_zero(project: Path) -> None:
    assert tpulint("--exit-zero", cwd=project).status == 0
    assert tpulint("-e", "gone.py", cwd=project).status == 2


# -------------------------------------------------------------------- standard input


def test_stdin(project: Path) -> None:
    answer = tpulint("-", "--output-format=concise", cwd=project, stdin=SCRIPT.encode())
    assert answer.status == 1
    assert {path for path, *_ in concise(answer.out)} == {"-"}
    named = tpulint("-", "--stdin-filename", "pkg/x.py", "--output-format=concise", cwd=project, stdin=SCRIPT.encode())
    assert {path for path, *_ in concise(named.out)} == {"pkg/x.py"}
    assert tpulint("-", cwd=project, stdin=b"").out == "All checks passed!\n"


def test_stdin_filename_decides_about_ignores(project: Path) -> None:
    ignores = ("--per-file-ignores", "pkg/*:ACM", "-")
    assert tpulint(*ignores, "--stdin-filename", "pkg/x.py", cwd=project, stdin=SCRIPT.encode()).status == 0
    assert tpulint(*ignores, "--stdin-filename", "x.py", cwd=project, stdin=SCRIPT.encode()).status == 1
    excluded = ("-", "--force-exclude", "--extend-exclude", "pkg", "--stdin-filename", "pkg/x.py", "--fix")
    answer = tpulint(*excluded, cwd=project, stdin=SCRIPT.encode())
    assert (answer.status, answer.out) == (0, SCRIPT)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_stdin_fix_gives_the_text_and_nothing_else(project: Path, newline: str) -> None:
    text, fixed = (f"\ufeff{part}".replace("\n", newline).encode() for part in (SCRIPT, FIXED))
    answer = tpulint("--fix", "-", cwd=project, stdin=text)
    assert (answer.status, answer.raw) == (1, fixed)
    assert "ACM002" in answer.err and "Found 3 errors (1 fixed, 2 remaining)." in answer.err
    quiet = tpulint("--fix", "-", "-q", "--ignore", "ACM002,ACM003", cwd=project, stdin=text)
    assert (quiet.status, quiet.raw, quiet.err) == (0, fixed, "")
    assert tpulint("--fix", "-", "-s", cwd=project, stdin=text).raw == fixed


@pytest.mark.parametrize("text", [b"x = 1\n", b"", b"import acme\nacme.drop(\n", b"import acme # \xe9\n", b"acme\0"])
def test_stdin_that_is_not_fixed_comes_back_as_it_was(project: Path, text: bytes) -> None:
    assert tpulint("--fix", "-", cwd=project, stdin=text).raw == text


def test_stdin_diff(project: Path) -> None:
    answer = tpulint("--diff", "-", cwd=project, stdin=SCRIPT.encode())
    assert answer.status == 1
    assert "-    acme.drop()\n" in answer.out and answer.out.startswith("--- -\n")


def test_stdin_with_other_paths(project: Path) -> None:
    answer = tpulint("-", "train.py", cwd=project)
    assert answer.status == 2 and "standard input" in answer.err


# -------------------------------------------------------------------- bad input


def test_bad_files_are_told_and_the_others_linted(project: Path) -> None:
    write(project / "binary.py", bytes(range(256)) * 8)
    write(project / "latin.py", "import acme\n# gr\xf6\xdfe\n".encode("latin-1"))
    write(project / "nul.py", b"import acme\n\nacme.old\0\n")
    write(project / "old.py", "import acme\nprint acme.old\n")
    write(project / "empty.py", "")
    (project / "loop").symlink_to(".")
    (project / "dangling.py").symlink_to("nowhere")
    (project / "folder.py").mkdir()
    answer = tpulint(".", "gone.py", "--output-format=concise", cwd=project)
    assert answer.status == 2
    errors = dict(re.findall(r"^error: ([\w.]+(?::\d+)?): (.+)$", answer.err, re.MULTILINE))
    assert sorted(errors) == ["binary.py:1", "dangling.py", "gone.py", "latin.py:2", "nul.py:3"]
    assert len(answer.err.splitlines()) == 5
    assert {(path, code) for path, _, _, code in concise(answer.out)} == {
        ("old.py", "invalid-syntax"), ("train.py", "ACM001"), ("train.py", "ACM002"), ("train.py", "ACM003"),
    }  # fmt: skip


def test_syntax_error_is_a_finding(clean: Path) -> None:
    write(clean / "a.py", "import acme\nprint acme\n")
    answer = tpulint("--output-format=json", cwd=clean)
    assert answer.status == 1
    (item,) = json.loads(answer.out)
    assert (item["code"], item["location"]["row"], item["severity"], item["noqa_row"]) == (
        "invalid-syntax",
        2,
        "error",
        None,
    )
    assert tpulint("--fix-only", cwd=clean).status == 1


def test_crash_is_told_and_the_others_linted(project: Path) -> None:
    write(project / "a.py", "import acme  # acme: crash\n")
    answer = tpulint("--output-format=concise", cwd=project)
    assert answer.status == 2
    assert re.search(r"^error: a\.py: rule ACM009 of acme_rules failed: KeyError", answer.err)
    assert len(concise(answer.out)) == 3


def test_report_for_github_tells_errors_too(clean: Path) -> None:
    write(clean / "nul.py", b"\0")
    assert tpulint("--output-format=github", cwd=clean).out.startswith("::error title=tpulint,file=nul.py,line=1::")


def test_names_of_files_that_are_no_text(project: Path) -> None:
    os.rename(project / "train.py", os.fsencode(project) + b"/caf\xe9.py")
    answer = tpulint("--output-format=concise", cwd=project)
    assert answer.status == 1 and len(answer.out.splitlines()) == 5
    assert len(json.loads(tpulint("--output-format=json", cwd=project).out)) == 3
    assert tpulint("--fix", "-q", cwd=project).status == 1


def test_output_that_cannot_be_encoded(project: Path) -> None:
    write(project / "größe.py", SCRIPT)
    answer = tpulint(cwd=project, PYTHONIOENCODING="ascii")
    assert answer.status == 1 and "gr\\xf6\\xdfe.py" in answer.out


# -------------------------------------------------------------------- configuration


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("selct = []", ["tpulint.toml", "unknown key `selct`", "did you mean `select`"]),
        ('select = ["TPU999"]', ["tpulint.toml", "`select`", "`TPU999`"]),
        ("select = [", ["tpulint.toml", "not valid TOML"]),
        ('plugins = ["no_such_package"]', ["tpulint.toml", "`plugins`", "no_such_package"]),
        ('plugins = ["json"]', ["tpulint.toml", "`plugins`", "no rules in `json`"]),
        ('plugins = ["../acme_rules"]', ["tpulint.toml", "`plugins`", "`../acme_rules` is no name of a package"]),
        ('required-version = "99"', ["tpulint.toml", "required-version"]),
    ],
)
def test_mistake_in_the_configuration(clean: Path, text: str, words: list[str]) -> None:
    write(clean / "tpulint.toml", text)
    answer = tpulint(cwd=clean)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith("error: ") and len(answer.err.splitlines()) == 1
    for word in words:
        assert word in answer.err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--selct", "X"], ["--selct", "--select"]),
        (["--select", "TPU999"], ["command line", "`TPU999`"]),
        (["--output-format", "xml"], ["xml", "json"]),
        (["--per-file-ignores", "ACM001"], ["PATTERN:CODE"]),
        (["--target", "torch_cuda"], ["torch_cuda"]),
        (["--target-version", "new"], ["target-version"]),
        (["--jobs", "many"], ["many"]),
        (["--jobs", "-1"], ["number of processes"]),
        (["--config", "gone.toml"], ["gone.toml", "cannot be read"]),
        (["--config", "selct = []"], ["unknown key `selct`"]),
        ([""], ["a path is empty"]),
        (["train.py", ""], ["a path is empty"]),
        (["check", "--fix", ""], ["a path is empty"]),
        (["report", ""], ["a path is empty"]),
        (["--exclude", "["], ["`exclude`", "`[` is not closed"]),
    ],
)
def test_mistake_on_the_command_line(project: Path, args: list[str], words: list[str]) -> None:
    answer = tpulint(*args, cwd=project)
    assert (answer.status, answer.out) == (2, "")
    for word in words:
        assert word in answer.err


def test_isolated_and_config(project: Path) -> None:
    assert tpulint("--isolated", cwd=project).out == "All checks passed!\n"
    other = write(project.parent / "other.toml", CONFIG.replace('"ACM"', '"ACM003"'))
    assert tpulint("--config", str(other), "--output-format=concise", cwd=project).out.count("ACM00") == 1
    inline = tpulint("--config", 'select = ["ACM002"]', "--output-format=concise", cwd=project)
    assert inline.out.count("ACM00") == 1


def test_show_settings(project: Path) -> None:
    answer = tpulint("--show-settings", "--target-version", "2.8", cwd=project)
    assert answer.status == 0
    assert 'select = ["ACM"]  # tpulint.toml\n' in answer.out
    assert 'target-version = "2.8"  # command line\n' in answer.out
    assert "# Rules: ACM001, ACM002, ACM003, ACM009\n" in answer.out


def test_show_files(project: Path) -> None:
    write(project / "venv" / "b.py", "")
    answer = tpulint("--show-files", cwd=project)
    assert (answer.status, answer.out) == (0, f"{project}/train.py\n")
    assert tpulint("--show-files", "gone.py", cwd=project).status == 2


# -------------------------------------------------------------------- cache


def test_warm_run_opens_no_source_and_loads_no_engine(project: Path) -> None:
    os.utime(project / "train.py", (0, 0))
    cold = tpulint(cwd=project)
    program = (
        "import sys\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == 'open' else None)\n"
        "from tpulint.cli import run\n"
        "status = run([])\n"
        "sys.stdout.flush()\n"
        "engine = ('tpulint.linter', 'tpulint.semantic', 'tpulint.fixer', 'tpulint.context', 'tpulint.pool')\n"
        "heavy = ('libcst', 'rich', 'yaml', 'multiprocessing', 'pathspec', 'torch', 'tomllib.x')\n"
        "loaded = [name for name in sys.modules if name in engine or name.split('.')[0] in heavy]\n"
        "print([status, loaded, [path for path in opened if path.endswith('train.py')]], file=sys.stderr)\n"
    )
    env = environment(project.parent / "user-cache")
    done = subprocess.run([sys.executable, "-P", "-c", program], cwd=project, env=env, capture_output=True, check=True)
    assert done.stderr.decode() == "[1, [], []]\n"
    assert done.stdout.decode() == cold.out


def test_clean_removes_the_cache(project: Path) -> None:
    tpulint(cwd=project)
    answer = tpulint("clean", cwd=project)
    assert (answer.status, answer.out) == (0, f"Removed {project}/.tpulint_cache\n")
    assert not (project / ".tpulint_cache").exists()
    assert tpulint("clean", cwd=project).out == "No cache found.\n"


def test_clean_removes_nothing_else(project: Path) -> None:
    write(project / "precious" / "data", "x")
    answer = tpulint("clean", "--cache-dir", "precious", cwd=project)
    assert answer.status == 2 and (project / "precious" / "data").exists()


def test_no_cache(project: Path) -> None:
    tpulint("--no-cache", cwd=project)
    tpulint(cwd=project, TPULINT_NO_CACHE="1")
    assert not (project / ".tpulint_cache").exists()


# -------------------------------------------------------------------- other commands


def test_version(tmp_path: Path) -> None:
    for args in (["--version"], ["-V"], ["version"]):
        assert tpulint(*args, cwd=tmp_path).out == f"tpulint {__version__} (for torch_xla 2.0 to 2.9)\n"


def test_version_is_the_one_of_the_package() -> None:
    assert f'version = "{__version__}"' in (REPOSITORY / "pyproject.toml").read_text()


@pytest.mark.parametrize(
    ("typed", "wanted", "unwanted"),
    [
        ("tpulint ver", ["plain,verify", "plain,version"], ["plain,check"]),
        ("tpulint --fi", ["plain,--fix", "plain,--fix-only"], ["plain,--no-fix"]),
        ("tpulint tra", ["file,tra"], []),
        ("tpulint --fix tra", ["file,tra"], []),
        ("tpulint check --output-format s", ["plain,sarif"], ["plain,json"]),
        ("tpulint verify --no", ["plain,--no-causes"], []),
        ("tpulint check --baseline tra", ["file,tra"], []),
        ("tpulint xla-log tra", ["file,tra"], []),
        ("tpulint report --output-file tra", ["file,tra"], []),
    ],
)
def test_completion(tmp_path: Path, typed: str, wanted: list[str], unwanted: list[str]) -> None:
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" ")), "_TPULINT_COMPLETE": "bash_complete"}
    found = tpulint(cwd=tmp_path, **words).out.splitlines()
    assert set(wanted) <= set(found) and not set(unwanted) & set(found), found


def test_completion_in_a_real_shell(tmp_path: Path) -> None:
    script = tpulint("completion", "bash", cwd=tmp_path).out
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "tpulint"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m tpulint "$@"\n')
    command.chmod(0o755)
    # Outside of a completion bash has no `compopt`.
    typed = "COMP_WORDS=(tpulint rul); COMP_CWORD=1; _tpulint_completion tpulint"
    asked = f'{script}\ncompopt() {{ :; }}\n{typed}; echo "${{COMPREPLY[*]}}"\n'
    env = environment(tmp_path / "cache", PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    done = subprocess.run(["bash", "--norc", "-c", asked], capture_output=True, text=True, env=env, check=True)
    assert done.stdout.split() == ["rule", "rules"], done.stderr
    for shell in ("zsh", "fish"):
        assert "_TPULINT_COMPLETE" in tpulint("completion", shell, cwd=tmp_path).out


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Processes that are started can be interrupted, though these tests may run in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_watch(project: Path) -> None:
    write(project / "train.py", SCRIPT)
    command = [sys.executable, "-P", "-m", "tpulint", "check", "--watch", "--output-format", "concise"]
    env = environment(project.parent / "user-cache", PYTHONUNBUFFERED="1")
    with subprocess.Popen(
        command, cwd=project, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None

        def change(name: str, text: str) -> None:
            """At once, as editors do: a file that is still empty would be linted, too."""
            write(project.parent / "new", text)
            os.replace(project.parent / "new", project / name)

        def heard() -> list[str]:
            lines = []
            for line in process.stdout or ():
                if "waiting for changes" in line:
                    return lines
                lines.append(line)
            raise AssertionError(lines)

        try:
            assert sum("train.py" in line for line in heard()) == 3
            change("train.py", FIXED)
            assert sum("train.py" in line for line in heard()) == 2
            change("tpulint.toml", "select = [")
            assert any("error: " in line and "tpulint.toml" in line for line in heard())
            change("tpulint.toml", CONFIG + 'ignore = ["ACM002"]\n')
            assert sum("train.py" in line for line in heard()) == 1
            change("base.toml", CONFIG)
            change(".tpulint.toml", 'extend = "base.toml"\n')  # which comes before tpulint.toml
            assert sum("train.py" in line for line in heard()) == 2
            change("base.toml", CONFIG + 'ignore = ["ACM002"]\n')
            assert sum("train.py" in line for line in heard()) == 1
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
        finally:
            process.kill()


def test_a_silent_run_writes_the_file_it_is_asked_for(project: Path) -> None:
    write(project / "nul.py", b"import acme\n\0")
    answer = tpulint("check", "--silent", "--output-format", "json", "-o", "out.json", cwd=project)
    assert (answer.status, answer.out, answer.err) == (2, "", "")
    assert len(json.loads((project / "out.json").read_text())) == 3


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--select", "NOPE"], "NOPE"),
        (["missing.py"], "missing.py"),
        (["train.py", "missing"], "missing"),
        (["--baseline", "missing.json"], "missing.json"),
        (["--diff-base", "gone"], "--diff-base"),
        (["--write-baseline"], "--write-baseline"),
        (["--add-noqa"], "--add-noqa"),
        (["--show-files"], "--show-files"),
        (["--show-settings"], "--show-settings"),
        (["--config", "plugins=['no_such_package']"], "no_such_package"),
    ],
)
def test_watching_with_wrong_usage_ends_at_once(project: Path, args: list[str], told: str) -> None:
    write(project / "train.py", SCRIPT)
    answer = tpulint("check", "--watch", *args, cwd=project)
    assert answer.status == 2 and "waiting" not in answer.err
    errors = [line for line in answer.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1 and told in errors[0], answer.err


def test_help(tmp_path: Path) -> None:
    top, check = tpulint("--help", cwd=tmp_path).out, tpulint("check", "-h", cwd=tmp_path).out
    for command in ("check", "clean", "completion", "explain", "new-rule", "rule", "rules", "version"):
        assert re.search(rf"^  {command} +\w", top, re.MULTILINE), command
    headings = re.findall(r"^(\w.*):$", check, re.MULTILINE)
    assert headings == [
        "Fixing", "Rule selection", "Target", "File selection", "Old code bases", "Output", "Miscellaneous"
    ]  # fmt: skip
    for option in (
        "--fix", "--no-fix", "--unsafe-fixes", "--fix-only", "--diff", "--show-fixes", "--select", "--ignore",
        "--extend-select", "--per-file-ignores", "--fixable", "--unfixable", "--extend-safe-fixes",
        "--extend-unsafe-fixes", "--exclude", "--extend-exclude", "--force-exclude", "--respect-gitignore",
        "--no-respect-gitignore", "--output-format", "--order", "-o,", "--exit-zero", "-e,",
        "--exit-non-zero-on-fix", "--config", "--isolated", "--ignore-noqa", "--no-cache", "-n,", "--cache-dir",
        "--statistics", "--show-settings", "--show-files", "--preview", "--target ", "--target-version", "--portable",
        "--jobs", "-q,", "-s,", "-v,",
        "--color", "--stdin-filename", "--watch", "-w,", "--baseline", "--write-baseline", "--diff-base", "--add-noqa",
    ):  # fmt: skip
        assert option in check, option


def test_rule(tmp_path: Path) -> None:
    by_code, by_name = tpulint("rule", "TPU010", cwd=tmp_path), tpulint("rule", "cuda-runtime-call", cwd=tmp_path)
    assert by_code.status == 0 and by_code.out == by_name.out
    assert by_code.out.startswith("# TPU010 cuda-runtime-call\n")
    data = json.loads(tpulint("rule", "tpu010", "--output-format", "json", cwd=tmp_path).out)
    assert (data["code"], data["category"]) == ("TPU010", "device") and data["examples"] and data["why"]
    everything = json.loads(tpulint("rule", "--all", "--output-format", "json", cwd=tmp_path).out)
    assert data in everything
    assert tpulint("rule", "--all", cwd=tmp_path).out.count("\n## Why\n") == sum(
        one["status"] != "removed" for one in everything
    )


def test_unknown_rule(tmp_path: Path) -> None:
    answer = tpulint("rule", "cuda-runtime-cal", cwd=tmp_path)
    assert (answer.status, answer.out) == (2, "") and "did you mean `cuda-runtime-call`?" in answer.err
    assert tpulint("rule", cwd=tmp_path).status == tpulint("rule", "--all", "TPU010", cwd=tmp_path).status == 2


def test_rules(project: Path) -> None:
    answer = tpulint("rules", cwd=project)
    assert answer.status == 0
    assert re.search(r"^TPU010 +cuda-runtime-call +sometimes, safe +\w", answer.out, re.MULTILINE)
    assert re.search(r"^ACM003 +acme-advice +- +\w", answer.out, re.MULTILINE)
    codes = [item["code"] for item in json.loads(tpulint("rules", "--output-format", "json", cwd=project).out)]
    assert codes == [line.split()[0] for line in answer.out.splitlines()] == sorted(codes)


def test_rules_write(clean: Path) -> None:
    answer = tpulint("rules", "--write", "rules.md", cwd=clean)
    assert (answer.status, answer.out) == (0, "")
    assert "TPU010" in (clean / "rules.md").read_text()
    assert tpulint("rules", "--write", "no/folder/rules.md", cwd=clean).status == 2


def test_explain(project: Path) -> None:
    answer = tpulint("explain", "acme.old", cwd=project)
    assert answer.status == 0
    assert answer.out == (
        "acme.old\n  torch_xla 2.9: acme.new\n  acme.old is old.\n  It counts differently.\n  why: Acme wants it.\n"
        "  rule: ACM002 acme-rename (`tpulint rule ACM002` tells more)\n"
    )
    assert tpulint("explain", "acme.old()", cwd=project).out == answer.out
    below = tpulint("explain", "acme", cwd=project).out
    assert re.findall(r"^(acme\.\w+)$", below, re.MULTILINE) == ["acme.drop", "acme.seed", "acme.old", "acme.keep"]
    assert "nothing, it is removed" in below and "no equivalent, change it by hand" in below
    data = json.loads(tpulint("explain", "acme.seed", "--output-format=json", cwd=project).out)
    assert [(item["rule"], item["old"], item["new"]) for item in data] == [("ACM001", "acme.seed", "acme_next.seed")]


def test_explain_of_our_own_rules(tmp_path: Path) -> None:
    assert "torch_xla.sync" in tpulint("explain", "torch.cuda.synchronize", cwd=tmp_path).out
    listed = tpulint("explain", "torch.cuda", cwd=tmp_path).out.splitlines()
    assert len(listed) > 20 and all(line.startswith("torch.cuda") for line in listed)
    assert "torch.cuda.empty_cache" in tpulint("explain", "empty_cache", cwd=tmp_path).out.splitlines()


def test_explain_for_the_target_of_the_project(tmp_path: Path) -> None:
    """``xrt_world_size`` went in torch_xla 2.7."""
    folder = tmp_path / "project"
    answers = {}
    for version in ("2.0", "2.9"):
        write(folder / "tpulint.toml", f'target-version = "{version}"\n')
        answers[version] = tpulint("explain", "xrt_world_size", cwd=folder).out.splitlines()[1]
    assert answers == {
        "2.0": "  torch_xla 2.0: nothing, it is fine as it is",
        "2.9": "  torch_xla 2.9: torch_xla.runtime.world_size",
    }


def test_explain_of_something_unknown(project: Path) -> None:
    answer = tpulint("explain", "torch.cuda.synchronise", cwd=project)
    assert (answer.status, answer.out) == (2, "") and "did you mean `torch.cuda.synchronize`?" in answer.err
    assert json.loads(tpulint("explain", "zzz", "--output-format=json", cwd=project).out) == []


def test_new_rule(tmp_path: Path) -> None:
    write(tmp_path / "rules" / "tpulint_rules" / "device" / "__init__.py", "")
    answer = tpulint("new-rule", "device/some-thing", "--python", cwd=tmp_path)
    assert answer.status == 0
    assert [Path(line).name for line in answer.out.splitlines()] == ["some_thing.yaml", "some_thing.py"]
    again = tpulint("new-rule", "device/some-thing", cwd=tmp_path)
    assert again.status == 2 and again.err.startswith("error: ")
    assert tpulint("new-rule", "x", cwd=tmp_path).status == 2


# -------------------------------------------------------------------- terminals, pipes, signals


def test_broken_pipe(project: Path) -> None:
    for number in range(300):
        write(project / f"m{number}.py", SCRIPT * 4)
    command = f"{sys.executable} -P -m tpulint -n | head -n 1"
    env = environment(project.parent / "user-cache")
    done = subprocess.run(command, shell=True, cwd=project, env=env, capture_output=True, timeout=120, check=False)
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b""


def in_a_shell(project: Path, words: str, **wanted: str) -> subprocess.CompletedProcess[bytes]:
    command = f"{sys.executable} -P -m tpulint {words}"
    env = environment(project.parent / "user-cache", **wanted)
    return subprocess.run(command, shell=True, cwd=project, env=env, capture_output=True, timeout=120, check=False)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("words", ["-n", "-n --output-format sarif", "rules", "--help"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_full_output_is_one_clear_message(project: Path, words: str, unbuffered: str) -> None:
    done = in_a_shell(project, f"{words} > /dev/full", PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 2
    assert done.stderr == b"error: cannot write to standard output: No space left on device\n"
    assert in_a_shell(project, f"{words} > /dev/full 2> /dev/full", PYTHONUNBUFFERED=unbuffered).returncode == 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_full_file_of_a_report_is_one_clear_message(project: Path) -> None:
    answer = tpulint("-o", "/dev/full", cwd=project)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err == "error: command line: cannot write /dev/full: No space left on device\n"


def test_closed_streams(project: Path) -> None:
    """Only what has something to write, or to read, fails; a file that is fixed is never written into by a message."""
    done = in_a_shell(project, "-n >&-")
    assert (done.returncode, done.stderr) == (2, b"error: cannot write to standard output: Bad file descriptor\n")
    done = in_a_shell(project, "-n - <&-")
    assert done.returncode == 2
    assert done.stderr == b"error: command line: cannot read standard input: Bad file descriptor\n"
    assert in_a_shell(project, "-n -s >&-").returncode == 1
    done = in_a_shell(project, "-n --output-format concise 2>&-")
    assert done.returncode == 1 and done.stdout.count(b"ACM") == 3
    assert in_a_shell(project, "-n --fix -s <&- >&- 2>&-").returncode == 1
    assert (project / "train.py").read_text() == FIXED


@pytest.mark.parametrize("count", [1, 250])
def test_interrupt(project: Path, count: int) -> None:
    for number in range(count):
        write(project / f"m{number}.py", "import acme  # acme: sleep\n")
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "tpulint", "-n", "--jobs", "2"],
        cwd=project, env=environment(project.parent / "user-cache"), start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        # Tests that run in the background of a shell inherit that interrupts are ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    time.sleep(2)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err.strip()) == (130, b"", b"interrupted")


def on_terminal(*args: str, cwd: Path, **wanted: str) -> str:
    """What the command writes to a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-P", "-m", "tpulint", *args]
    env = environment(cwd.parent / "user-cache", TERM="xterm", **wanted)
    process = subprocess.Popen(command, cwd=cwd, env=env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    process.wait(timeout=60)
    os.close(ours)
    return shown.decode()


def test_colours_only_on_a_terminal(project: Path) -> None:
    assert "\x1b[" in on_terminal(cwd=project)
    assert "\x1b[" not in on_terminal(cwd=project, NO_COLOR="1")
    assert "\x1b[" not in on_terminal("--color", "never", cwd=project)
    assert "\x1b[" not in tpulint(cwd=project).out
    assert "\x1b[" in tpulint("--color", "always", cwd=project).out
    assert "\x1b[31m-    acme.drop()" in on_terminal("--diff", cwd=project)


def test_bar_appears_on_a_terminal_when_work_takes_time(project: Path) -> None:
    for number in range(3):
        write(project / f"m{number}.py", "import acme  # acme: pause\n")
    assert "Linting" in on_terminal("-n", cwd=project)
    assert "Linting" not in on_terminal("-n", "-q", cwd=project)
    assert "Linting" not in on_terminal("-n", "train.py", cwd=project)
    assert "Linting" not in tpulint("-n", cwd=project).err


@pytest.mark.parametrize(("name", "code"), [("torch.cuda.amp.GradScaler", "TPU401"), ("torch.load", "TPU701")])
def test_explain_names_the_rule_that_knows_by_logic(clean: Path, name: str, code: str) -> None:
    answer = tpulint("explain", name, cwd=clean)
    assert answer.status == 0
    assert f"{code} " in answer.out and "becomes" in answer.out


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["rul"], ["`rul` is no command, file or folder", "did you mean `rule`?"]),
        (["verfy", "train.py"], ["did you mean `verify`?"]),
        (["nowhere"], ["nowhere: no such file or folder"]),
        (["explain", "TPU310"], ["`tpulint rule TPU310` explains it"]),
        (["explain", "optimizer-before-move"], ["`tpulint rule TPU303` explains it"]),
    ],
)
def test_mistyped_word_is_told_with_what_to_write(clean: Path, args: list[str], words: list[str]) -> None:
    answer = tpulint(*args, cwd=clean)
    assert answer.status == 2
    for word in words:
        assert word in answer.err


def test_file_named_like_a_command_is_linted(tmp_path: Path) -> None:
    write(tmp_path / "rul", "import torch\n")
    assert tpulint("rul", cwd=tmp_path).status == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[tool.tpulint]\nselect = ["TPU1"]\n', ["[tool.tpulint] belongs into pyproject.toml", "at the top"]),
        ("rules = 3\n", ["`rules` must hold one table per rule", "`rules.TPU101`"]),
    ],
)
def test_configuration_of_the_wrong_form_is_told_with_the_right_one(clean: Path, text: str, words: list[str]) -> None:
    write(clean / "tpulint.toml", text)
    answer = tpulint("train.py", cwd=clean)
    assert answer.status == 2
    for word in words:
        assert word in answer.err
