"""Runs over many files: the cache, several processes, files that resist, writing."""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command import FIXED, PLUGINS, SCRIPT, UNSAFELY_FIXED, write

from tpulint import discovery, disk, examination, pool, session
from tpulint.catalog import Catalogue, load
from tpulint.config import Configuration, RunSettings, Settings
from tpulint.report.entry import FileReport
from tpulint.session import Outcome

SETTINGS = Settings(plugins=("acme_rules",), select=("ACM",))
CATALOGUE = load(SETTINGS.packages)
CODES = ["ACM001", "ACM002", "ACM003"]
"""What is found in ``SCRIPT``."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def configuration(
    *paths: str, fix: bool = False, unsafe: bool = False, settings: Settings | None = None, **run: object
) -> Configuration:
    settings = (settings or SETTINGS)._replace(fix=fix, unsafe_fixes=unsafe)
    wishes = RunSettings(paths=paths or (".",), root=os.getcwd())._replace(**run)  # type: ignore[arg-type]
    return Configuration(settings, wishes)


def run(*paths: str, catalogue: Catalogue = CATALOGUE, **wishes: object) -> Outcome:
    return session.run(configuration(*paths, **wishes), catalogue)  # type: ignore[arg-type]


def codes(outcome: Outcome) -> dict[str, list[str]]:
    return {report.path: [entry.code for entry in report.entries] for report in outcome.reports}


def errors(outcome: Outcome) -> dict[str, str]:
    failed = {report.path: report.error for report in outcome.reports if report.error}
    return failed | {problem.path: problem.message for problem in outcome.problems}


def settle(*paths: Path) -> None:
    """Wait until the last change of these files is a while ago: only then is their time stamp trusted."""
    changed = max(os.stat(path).st_ctime_ns for path in paths)
    while time.time_ns() - changed < 60_000_000:
        time.sleep(0.01)


# -------------------------------------------------------------------- checking


def test_each_file_has_a_report_in_order(project: Path) -> None:
    write(project / "b.py", SCRIPT)
    write(project / "a.py", "x = 1\n")
    outcome = run(no_cache=True)
    assert codes(outcome) == {"a.py": [], "b.py": CODES}
    assert outcome.file_count == 2
    assert (project / "b.py").read_text() == SCRIPT


def test_report_holds_rows_columns_and_lines(project: Path) -> None:
    write(project / "a.py", SCRIPT)
    (report,) = run(no_cache=True).reports
    entry = report.entries[0]
    assert entry.place[:4] == (4, 5, 4, 14)
    assert entry.excerpt[4 - entry.first_row] == "    acme.drop()"
    assert entry.fix is not None
    fix = report.fixes[entry.fix]
    assert [(text, place[:4]) for text, place in fix.edits] == [("", (4, 1, 5, 1))]
    assert [(line.mark, line.row, line.text) for hunk in fix.hunks for line in hunk] == [
        (" ", 3, "for x in acme.data():"),
        ("-", 4, "    acme.drop()"),
        (" ", 4, "    acme.old(x)"),
    ]


def test_edits_of_a_report_are_the_whole_fix(project: Path) -> None:
    """With the import it needs, and with ``pass`` where a block would be left empty."""
    text = "import acme\nif x:\n    acme.drop()\nacme.seed(1)\n"
    write(project / "a.py", text)
    (report,) = run(no_cache=True).reports
    lines = text.splitlines(keepends=True)
    results = []
    for fix in report.fixes:
        edited = text
        for content, place in sorted(fix.edits, key=lambda edit: edit[1], reverse=True):
            start = sum(map(len, lines[: place.row - 1])) + place.column - 1
            end = sum(map(len, lines[: place.end_row - 1])) + place.end_column - 1
            edited = edited[:start] + content + edited[end:]
        results.append(edited)
    assert results == [
        text.replace("acme.drop()", "pass"),
        text.replace("import acme\n", "import acme\nimport acme_next\n").replace("acme.seed", "acme_next.seed"),
    ]


# -------------------------------------------------------------------- fixing


def test_fixes_are_written_and_the_rest_is_reported(project: Path) -> None:
    path = write(project / "a.py", SCRIPT)
    (report,) = run(fix=True, no_cache=True).reports
    assert path.read_text() == FIXED
    assert report.fixed == (("ACM001", "acme-leftover"),)
    assert [(entry.code, entry.place.row) for entry in report.entries] == [("ACM002", 4), ("ACM003", 5)]


def test_file_without_fixes_is_not_touched(project: Path) -> None:
    path = write(project / "a.py", "import acme\nprint(acme.keep())\n")
    settle(path)
    before = path.stat()
    run(fix=True, unsafe=True, no_cache=True)
    after = path.stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_mode_links_newlines_and_encoding_survive(project: Path) -> None:
    data = ("# -*- coding: latin-1 -*-\n# größe\n" + SCRIPT).replace("\n", "\r\n").encode("latin-1")
    target = write(project / "real" / "script", data)
    target.chmod(0o751)
    link = project / "link.py"
    link.symlink_to("real/script")
    run("link.py", fix=True, no_cache=True)
    assert link.is_symlink()
    assert target.read_bytes() == data.replace(b"    acme.drop()\r\n", b"")
    assert stat.S_IMODE(target.stat().st_mode) == 0o751
    assert os.listdir(project / "real") == ["script"]


def test_diff_writes_nothing(project: Path) -> None:
    path = write(project / "a.py", SCRIPT)
    (report,) = run(fix=True, diff=True, no_cache=True).reports
    assert path.read_text() == SCRIPT
    assert b"-    acme.drop()\n" in report.diff


def test_file_that_changed_meanwhile_is_left_alone(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(project / "a.py", SCRIPT)
    write(project / "b.py", SCRIPT)
    read = disk.read

    def read_then_edit(name: str) -> disk.Content:
        content = read(name)
        if name == "a.py":
            path.write_text("x = 'saved in the editor'\n")
        return content

    monkeypatch.setattr(disk, "read", read_then_edit)
    outcome = run(fix=True, no_cache=True)
    assert path.read_text() == "x = 'saved in the editor'\n"
    assert (project / "b.py").read_text() == FIXED
    assert list(errors(outcome)) == ["a.py"] and "changed on disk" in errors(outcome)["a.py"]
    assert sorted(os.listdir(project)) == ["a.py", "b.py"]


def test_file_that_cannot_be_written(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(project / "a.py", SCRIPT)

    def refuse(old: str, new: str) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "replace", refuse)
    outcome = run(fix=True, no_cache=True)
    assert errors(outcome) == {"a.py": "cannot be written: Input/output error"}
    assert codes(outcome) == {"a.py": CODES} and outcome.reports[0].fixed == ()  # what is there is told
    assert path.read_text() == SCRIPT
    assert os.listdir(project) == ["a.py"]


def refuse_to_rename(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the system does for a file that is mounted by itself."""

    def refuse(old: str, new: str) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr(os, "replace", refuse)


def test_file_that_no_other_can_stand_for_is_written_into(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(project / "a.py", SCRIPT)
    number = path.stat().st_ino
    refuse_to_rename(monkeypatch)
    outcome = run(fix=True, no_cache=True)
    assert errors(outcome) == {} and codes(outcome) == {"a.py": CODES[1:]}
    assert path.read_text() == FIXED and path.stat().st_ino == number
    assert os.listdir(project) == ["a.py"]


def test_file_of_a_write_protected_folder_is_written_into(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(project / "a.py", SCRIPT)
    drafts = project.parent / "drafts"
    drafts.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(drafts))
    opened = os.open

    def refuse(name: str, flags: int, *mode: int, **given: int) -> int:
        if flags & os.O_CREAT and os.path.dirname(os.path.abspath(name)) == str(project):
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(name, flags, *mode, **given)

    monkeypatch.setattr(os, "open", refuse)
    refuse_to_rename(monkeypatch)
    assert errors(run(fix=True, no_cache=True)) == {}
    assert path.read_text() == FIXED
    assert os.listdir(project) == ["a.py"] and os.listdir(drafts) == []


@pytest.mark.parametrize("failing", [1, 2])
def test_text_is_not_lost_when_writing_breaks_off(project: Path, monkeypatch: pytest.MonkeyPatch, failing: int) -> None:
    """The old one stands there again; where that fails as well, the new one lies beside it."""
    path = write(project / "a.py", SCRIPT)
    refuse_to_rename(monkeypatch)
    asked: list[int] = []

    def fail(descriptor: int) -> None:
        asked.append(descriptor)
        if 1 < len(asked) < 2 + failing:  # the first is the draft's
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    outcome = run(fix=True, no_cache=True)
    (error,) = errors(outcome).values()
    assert error.startswith("cannot be written: No space left on device")
    if failing == 1:
        assert path.read_text() == SCRIPT and os.listdir(project) == ["a.py"]
        assert codes(outcome) == {"a.py": CODES}
    else:
        draft = Path(error.rpartition(" ")[2])
        assert draft.read_text() == FIXED and draft.parent == project
        assert codes(outcome) == {"a.py": []}


def test_write_protected_file_is_left_alone(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(project / "a.py", SCRIPT)
    path.chmod(0o444)
    # Root may write everything; what matters is that replacing the file does not go around its permissions.
    monkeypatch.setattr(os, "access", lambda name, mode: not (mode & os.W_OK and os.fspath(name).endswith("a.py")))
    outcome = run(fix=True, no_cache=True)
    assert errors(outcome) == {"a.py": "cannot be written: file is write-protected"}
    assert codes(outcome) == {"a.py": CODES}
    assert path.read_text() == SCRIPT


# -------------------------------------------------------------------- files that resist


def test_bad_files_do_not_stop_the_others(project: Path) -> None:
    write(project / "binary.py", bytes(range(256)) * 8)
    write(project / "empty.py", "")
    write(project / "good.py", SCRIPT)
    write(project / "latin.py", "import acme\n# gr\xf6\xdfe\n".encode("latin-1"))
    write(project / "nul.py", b"import acme\n\nacme.old\0\n")
    write(project / "old.py", "import acme\nprint acme.old\n")
    (project / "folder.py").mkdir()
    (project / "dangling.py").symlink_to("nowhere")
    before = {path.name: path.read_bytes() for path in project.iterdir() if path.is_file()}
    outcome = run(".", "gone.py", fix=True, unsafe=True, no_cache=True)
    assert codes(outcome) | {"good.py": []} == {
        "binary.py": [], "empty.py": [], "good.py": [], "latin.py": [], "nul.py": [], "old.py": ["invalid-syntax"],
    }  # fmt: skip
    assert sorted(errors(outcome)) == ["binary.py", "dangling.py", "gone.py", "latin.py", "nul.py"]
    rows = {report.path: report.error_row for report in outcome.reports}
    assert (rows["latin.py"], rows["nul.py"], rows["good.py"]) == (2, 3, 0)
    changed = {path.name for path in project.iterdir() if path.is_file() and path.read_bytes() != before[path.name]}
    assert changed == {"good.py"}


def test_file_that_vanishes_between_search_and_reading(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project / "a.py", SCRIPT)
    write(project / "b.py", SCRIPT)

    def discover_then_remove(wishes: RunSettings) -> object:
        found = discovery.discover(wishes)
        (project / "a.py").unlink()
        return found

    monkeypatch.setattr(session, "discover", discover_then_remove)
    outcome = run(no_cache=True)
    assert "No such file" in errors(outcome)["a.py"]
    assert codes(outcome) == {"b.py": CODES}


def test_folder_in_place_of_a_file(project: Path) -> None:
    (project / "a.py").mkdir()
    examined = examination.Examination(Settings(), CATALOGUE, False)("a.py")
    assert "Is a directory" in examined.report.error


def test_rule_that_crashes_costs_one_file(project: Path) -> None:
    for name in ("a.py", "b.py", "c.py"):
        write(project / name, f"{SCRIPT}# acme: {'crash' if name == 'b.py' else 'go on'}\n")
    outcome = run()
    assert list(errors(outcome)) == ["b.py"]
    assert "rule ACM009 of acme_rules failed: KeyError: 'missing' (acme_failure.py:" in errors(outcome)["b.py"]
    assert codes(outcome) == {"a.py": CODES, "b.py": [], "c.py": CODES}


# -------------------------------------------------------------------- cache


class Opened:
    """Counts files that are opened, and texts that are parsed, while a block runs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.paths: list[str] = []
        self.linted = 0
        read = disk.read

        def counting_read(path: str) -> disk.Content:
            self.paths.append(path)
            return read(path)

        def counting_examine(*args: object, **kwargs: object) -> object:
            self.linted += 1
            return examine(*args, **kwargs)

        examine: Callable[..., object] = examination.Examination.examine
        monkeypatch.setattr(disk, "read", counting_read)
        monkeypatch.setattr(examination.Examination, "examine", counting_examine)


def test_second_run_opens_nothing_and_says_the_same(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(write(project / "a.py", SCRIPT), write(project / "b.py", "x = 1\n"))
    first = run()
    opened = Opened(monkeypatch)
    second = run()
    assert (opened.paths, opened.linted) == ([], 0)
    assert second.reports == first.reports
    assert (first.cached_count, second.cached_count) == (0, 2)


def test_changed_file_is_read_again(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(project / "a.py", SCRIPT)
    settle(path, write(project / "b.py", "x = 1\n"))
    run()
    write(path, "import acme\n")
    opened = Opened(monkeypatch)
    assert codes(run()) == {"a.py": [], "b.py": []}
    assert opened.paths == ["a.py"]


def test_same_size_other_content(project: Path) -> None:
    path = write(project / "a.py", SCRIPT)
    settle(path)
    run()
    path.write_text(SCRIPT.replace("acme.drop()", "acme.dr0p()"))
    assert codes(run())["a.py"] == ["ACM002", "ACM003"]


def test_same_size_and_the_old_time_put_back(project: Path) -> None:
    path = write(project / "a.py", SCRIPT)
    settle(path)
    before = path.stat()
    run()
    path.write_text(SCRIPT.replace("acme.drop()", "acme.dr0p()"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert codes(run())["a.py"] == ["ACM002", "ACM003"]


def test_touched_file_is_read_but_not_linted(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(project / "a.py", SCRIPT)
    settle(path)
    first = run()
    os.utime(path, ns=(10**18, 10**18))
    settle(path)
    opened = Opened(monkeypatch)
    assert run().reports == first.reports
    assert (opened.paths, opened.linted) == (["a.py"], 0)
    assert run().reports == first.reports
    assert opened.paths == ["a.py"]


def test_time_stamp_of_a_file_just_written_is_not_trusted(project: Path) -> None:
    path = write(project / "a.py", SCRIPT)
    later = time.time_ns() + 10**9
    os.utime(path, ns=(later, later))
    assert codes(run()) == {"a.py": CODES}
    write(path, SCRIPT.replace("acme.drop()", "acme.dr0p()"))
    os.utime(path, ns=(later, later))
    assert codes(run()) == {"a.py": ["ACM002", "ACM003"]}


def test_other_settings_have_other_results(project: Path) -> None:
    settle(write(project / "a.py", SCRIPT))
    assert codes(run()) == {"a.py": CODES}
    assert codes(run(settings=SETTINGS._replace(ignore=("ACM002",)))) == {"a.py": ["ACM001", "ACM003"]}
    assert codes(run()) == {"a.py": CODES}


def test_other_catalogue_has_other_results(project: Path) -> None:
    settle(write(project / "a.py", SCRIPT))
    run()
    empty = Catalogue([], "another digest")
    assert codes(run(catalogue=empty)) == {"a.py": []}


def test_errors_are_not_kept(project: Path) -> None:
    path = write(project / "a.py", b"import acme\0")
    settle(path)
    assert errors(run()) and errors(run())


def test_fixing_uses_what_is_known_of_files_without_fixes(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clean, broken = write(project / "a.py", "import acme\nprint(acme.keep())\n"), project / "b.py"
    settle(clean, write(broken, SCRIPT))
    run()
    opened = Opened(monkeypatch)
    outcome = run(fix=True)
    assert broken.read_text() == FIXED
    assert (opened.linted, outcome.cached_count) == (1, 1)
    assert codes(outcome) == {"a.py": ["ACM003"], "b.py": ["ACM002", "ACM003"]}
    assert codes(run()) == codes(outcome)


def test_unsafe_fixes_are_found_behind_a_safe_cache(project: Path) -> None:
    path = write(project / "a.py", SCRIPT)
    settle(path)
    run()
    run(fix=True, unsafe=True)
    assert path.read_text() == UNSAFELY_FIXED


def test_folder_of_the_cache_is_kept_out_of_git(project: Path) -> None:
    write(project / "a.py", "x = 1\n")
    run()
    assert (project / ".tpulint_cache" / ".gitignore").read_text().splitlines()[-1] == "*"
    assert (
        (project / ".tpulint_cache" / "CACHEDIR.TAG")
        .read_text()
        .startswith("Signature: 8a477f597d28d172789f06886806bc55")
    )


def test_no_cache_leaves_no_folder(project: Path) -> None:
    write(project / "a.py", "x = 1\n")
    run(no_cache=True)
    assert os.listdir(project) == ["a.py"]


def test_folder_can_be_chosen(project: Path) -> None:
    settle(write(project / "a.py", "x = 1\n"))
    run(cache_dir=str(project.parent / "elsewhere"))
    assert os.listdir(project) == ["a.py"]
    assert run(cache_dir=str(project.parent / "elsewhere")).cached_count == 1


def test_folder_that_cannot_be_made_only_costs_time(project: Path) -> None:
    write(project / ".tpulint_cache", "a file in its place")
    settle(write(project / "a.py", SCRIPT))
    assert codes(run()) == codes(run()) == {"a.py": CODES}


def kept_file(project: Path) -> Path:
    (path,) = (project / ".tpulint_cache").glob("*/*.json")
    return path


@pytest.mark.parametrize(
    "garbage",
    [
        b"",
        b"\x80\x04\x95",
        b"null",
        b"[]",
        b"{}",
        b'{"format": 1, "files": []}',
        b'{"format": 99, "files": {}}',
        b"[" * 100_000,
        b'{"format": 1, "files": {"a.py": null}}',
        b'{"format": 1, "files": {"a.py": [1]}}',
        b'{"format": 1, "files": {"a.py": {"x": 1}}}',
    ],
)
def test_damaged_cache_counts_as_none(project: Path, garbage: bytes) -> None:
    settle(write(project / "a.py", SCRIPT))
    expected = run().reports
    kept_file(project).write_bytes(garbage)
    assert run().reports == expected
    assert run().cached_count == 1


@pytest.mark.parametrize("damage", [None, 1, "x", [[]], [["ACM001"]], {"a": 1}])
def test_damaged_entry_counts_as_none(project: Path, damage: object) -> None:
    settle(write(project / "a.py", SCRIPT))
    expected = run().reports
    path = kept_file(project)
    for place in (3, 4):
        kept = json.loads(path.read_bytes())
        kept["files"]["a.py"][place] = damage
        path.write_text(json.dumps(kept))
        outcome = run()
        assert outcome.reports == expected and outcome.cached_count == 0


def test_entries_of_files_that_are_gone_are_dropped(project: Path) -> None:
    settle(write(project / "a.py", SCRIPT), write(project / "b.py", SCRIPT))
    run()
    (project / "a.py").unlink()
    write(project / "c.py", "x = 1\n")
    run()
    assert sorted(json.loads(kept_file(project).read_bytes())["files"]) == ["b.py", "c.py"]


def test_cache_moves_with_the_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(write(project / "pkg" / "a.py", SCRIPT))
    run()
    moved = project.rename(project.parent / "moved")
    monkeypatch.chdir(moved)
    assert run().cached_count == 1


def test_only_the_latest_combinations_are_kept(project: Path) -> None:
    write(project / "a.py", "x = 1\n")
    for number in range(12):
        run(settings=SETTINGS._replace(ignore=(f"TPU{number}",)))
    assert len(list((project / ".tpulint_cache").glob("*/*.json"))) == 8


# -------------------------------------------------------------------- several processes


@pytest.fixture
def many(project: Path) -> Path:
    for number in range(210):
        write(project / f"pkg{number % 7}" / f"m{number}.py", SCRIPT if number % 3 else "x = 1\n")
    return project


@pytest.mark.parametrize("can_fork", [True, False])
def test_processes_find_what_one_process_finds(many: Path, monkeypatch: pytest.MonkeyPatch, can_fork: bool) -> None:
    serial = run(no_cache=True, jobs=1)
    if not can_fork:
        monkeypatch.delattr(os, "fork")
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(PLUGINS), *filter(None, sys.path)]))
    seen: list[tuple[int, int]] = []
    wishes = configuration(no_cache=True, jobs=2)
    parallel = session.run(wishes, CATALOGUE, lambda done, total: seen.append((done, total)))
    assert parallel == serial
    assert seen == [(number, 210) for number in range(1, 211)]


def test_processes_fix_and_fill_the_cache(many: Path) -> None:
    settle(*many.glob("*/*.py"))
    outcome = run(fix=True, jobs=2)
    assert {path.read_text() for path in many.glob("*/*.py")} == {FIXED, "x = 1\n"}
    assert len(outcome.reports) == 210
    assert run(jobs=2).cached_count == 70


@pytest.mark.parametrize(("failure", "status"), [("die", -9), ("exit", 3)])
def test_process_that_dies_costs_one_file(
    many: Path, monkeypatch: pytest.MonkeyPatch, failure: str, status: int
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(PLUGINS), *filter(None, sys.path)]))
    for name in ("m3.py", "m80.py", "m200.py"):
        (path,) = many.glob(f"*/{name}")
        write(path, f"import acme  # acme: {failure}\n")
    outcome = run(jobs=2, no_cache=True)
    assert len(outcome.reports) == 210
    assert sorted(os.path.basename(path) for path in errors(outcome)) == ["m200.py", "m3.py", "m80.py"]
    assert all(f"exit status {status}" in message for message in errors(outcome).values())


def test_when_every_process_dies_the_run_still_ends(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in many.glob("*/*.py"):
        write(path, "import acme  # acme: exit\n")
    monkeypatch.setattr(pool, "_MOST_DEATHS", 2)
    outcome = run(jobs=2, no_cache=True)
    assert len(errors(outcome)) == 210


def test_a_few_small_files_need_no_processes(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise AssertionError("started processes")

    monkeypatch.setattr(pool, "run", fail)
    for number in range(20):
        write(project / f"m{number}.py", SCRIPT)
    assert len(run(no_cache=True, jobs=4).reports) == 20


def test_results_are_plain_data(project: Path) -> None:
    """What travels between processes and into the cache must survive JSON."""
    from tpulint.report.entry import thaw

    write(project / "a.py", SCRIPT)
    (report,) = run(no_cache=True).reports
    entries, fixes = json.loads(json.dumps([report.entries, report.fixes]))
    assert thaw("a.py", entries, fixes) == report
    assert isinstance(report, FileReport)
