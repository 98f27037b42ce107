"""Which files a run is about: folders, excludes, what git ignores, links and loops."""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from command import write

from tpulint.config import RunSettings
from tpulint.discovery import discover, is_excluded
from tpulint.gitignore import IgnoreFile
from tpulint.patterns import anchor, path_patterns


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def tree(folder: Path, *paths: str) -> None:
    for path in paths:
        write(folder / path, "x = 1\n")


def files(*paths: str, **settings: object) -> list[str]:
    run = RunSettings(paths=paths or (".",), root=os.getcwd())._replace(**settings)  # type: ignore[arg-type]
    found = discover(run)
    assert found.problems == ()
    return list(found.files)


def problems(*paths: str) -> list[tuple[str, str]]:
    found = discover(RunSettings(paths=paths, root=os.getcwd()))
    return [(problem.path, problem.message) for problem in found.problems]


def test_folders_are_searched_for_python_files(project: Path) -> None:
    tree(project, "b.py", "a.py", "a.pyi", "nb.ipynb", "README", "pkg/c.py", "pkg/deep/d.py", "x.py/inside.py")
    assert files() == ["a.py", "b.py", "nb.ipynb", "pkg/c.py", "pkg/deep/d.py", "x.py/inside.py"]
    assert files("pkg") == ["pkg/c.py", "pkg/deep/d.py"]


def test_scripts_that_say_what_runs_them(project: Path) -> None:
    """By the first line of a file without a suffix, unless the settings say which files are meant."""
    for name, first in (
        ("train", "#!/usr/bin/env python3"),
        ("test", "#!/usr/bin/python"),
        ("old", "#!/usr/bin/env python2"),
        ("run", "#!/bin/bash"),
        ("README", "Run it by python"),
        ("notes.d", "#!/usr/bin/env python3"),
        ("bin/evaluate", "#!/usr/bin/env -S uv run python3.11"),
        ("older", "#!/usr/bin/env python\nprint 1"),
    ):
        write(project / name, f"{first}\nx = 1\n")
    tree(project, "a.py")
    assert files() == ["a.py", "bin/evaluate", "test", "train"]
    assert files(exclude=("bin",)) == ["a.py", "test", "train"]
    assert files(include=("*.py",)) == ["a.py"]
    for number in range(50):
        write(project / f"sample{number}", "#!/usr/bin/env python3\n")
    assert files() == ["a.py", "bin/evaluate"]


def test_paths_are_shown_relative_below_the_working_directory(project: Path, tmp_path: Path) -> None:
    tree(project, "a.py")
    tree(tmp_path, "outside/o.py")
    assert files("./a.py") == files(str(project / "a.py")) == ["a.py"]
    assert files("../outside") == [str(tmp_path / "outside" / "o.py")]


def test_named_files_are_linted_whatever_their_name(project: Path) -> None:
    tree(project, "script", "stub.pyi", "build/gen.py")
    assert files("script", "stub.pyi", "build/gen.py") == ["build/gen.py", "script", "stub.pyi"]


def test_a_file_named_twice_is_linted_once(project: Path) -> None:
    tree(project, "a.py")
    (project / "link.py").symlink_to("a.py")
    assert files("a.py", ".", "./a.py", str(project / "a.py")) == ["a.py"]
    assert files("link.py", "a.py") == ["link.py"]


def test_default_excludes(project: Path) -> None:
    tree(project, "a.py", "venv/b.py", ".venv/c.py", "node_modules/d.py", "pkg/build/e.py", ".git/hooks/f.py")
    assert files() == ["a.py"]
    assert files("venv") == ["venv/b.py"]


def test_excludes(project: Path) -> None:
    tree(project, "a.py", "old/b.py", "pkg/old/c.py", "pkg/gen_1.py", "pkg/d.py", "docs/e.py")
    assert files(extend_exclude=("old", "gen_*.py")) == ["a.py", "docs/e.py", "pkg/d.py"]
    assert files(extend_exclude=(f"{project}/pkg/*",)) == ["a.py", "docs/e.py", "old/b.py"]
    tree(project, "venv/f.py")
    assert "venv/f.py" in files(exclude=("docs",))
    assert "docs/e.py" not in files(exclude=("docs",))


def test_force_exclude_holds_for_named_files(project: Path) -> None:
    tree(project, "a.py", "build/b.py", "build/deep/c.py")
    assert files("a.py", "build/b.py", "build/deep/c.py", "build", force_exclude=True) == ["a.py"]


def test_excludes_do_not_look_above_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "build" / "project"
    tree(project, "a.py")
    monkeypatch.chdir(project)
    assert files("a.py", force_exclude=True) == ["a.py"]
    assert is_excluded("build/x.py", RunSettings(root=str(project)))


def test_includes(project: Path) -> None:
    tree(project, "a.py", "b.pyw", "c.txt")
    assert files(extend_include=("*.pyw",)) == ["a.py", "b.pyw"]
    assert files(include=("c.*",)) == ["c.txt"]


# -------------------------------------------------------------------- git


def test_gitignore_nested_and_bringing_back(project: Path) -> None:
    tree(project, "a.py", "out/b.py", "pkg/c.py", "pkg/skip.py", "pkg/keep_skip.py", "pkg/deep/skip.py")
    write(project / ".gitignore", "out/\nskip.py\n")
    write(project / "pkg" / ".gitignore", "*skip.py\n!keep_skip.py\n/deep/\n")
    assert files() == ["a.py", "pkg/c.py", "pkg/keep_skip.py"]
    assert files(respect_gitignore=False) == [
        "a.py", "out/b.py", "pkg/c.py", "pkg/deep/skip.py", "pkg/keep_skip.py", "pkg/skip.py",
    ]  # fmt: skip
    assert files("pkg/skip.py") == ["pkg/skip.py"]


def test_gitignore_of_folders_above_holds_within_the_repository(project: Path) -> None:
    tree(project, "repo/pkg/a.py", "repo/pkg/gen.py", "repo/pkg/local.py")
    write(project / "repo" / ".gitignore", "gen.py\n")
    write(project / ".gitignore", "a.py\n")
    assert files("repo/pkg") == ["repo/pkg/a.py", "repo/pkg/gen.py", "repo/pkg/local.py"]
    write(project / "repo" / ".git" / "info" / "exclude", "local.py\n")
    assert files("repo/pkg") == ["repo/pkg/a.py"]


def test_gitignore_that_is_no_file_or_not_text(project: Path) -> None:
    tree(project, "a.py", "pkg/b.py", "pkg/c.py")
    (project / ".gitignore").mkdir()
    write(project / "pkg" / ".gitignore", b"\xff\xfe\nc.py\r\n")
    assert files() == ["a.py", "pkg/b.py"]


PARTS = ("a", "b", "ab", "a.py", "b.py", "a b", "build", "x[1]", ".h")
GLOBS = (
    "*", "a", "b", "*.py", "a*", "?", "[ab]", "[!a]", "**", "a/**", "**/b", "a/**/b", "/a", "a/", "/a/b", "*/", "b/a",
    "build/", "!a", "!b.py", "!a/b", "\\!a", "a\\ ", "#x", "\\#x", "[a-", "[]a]", "a\\*", "/*", "!/a", "**/a/**", "a**",
    "a/*", "x[[]1]", "[a-b].py", "*b*", "/**", "**/", "a?py", "!*.py", "x\\[1\\]", "[^b]", ".*", "!.h", "/b/**/a.py",
    "a  ", "[z-a]", "", "/", "\\",
)  # fmt: skip


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the judge")
@pytest.mark.parametrize("seed", range(25))
def test_ignored_files_are_those_git_ignores(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    patterns = chance.sample(GLOBS, chance.randint(1, 5))
    write(tmp_path / ".gitignore", "\n".join(patterns) + "\n")
    for _ in range(25):
        path = tmp_path.joinpath(*chance.choices(PARTS, k=chance.randint(1, 4)))
        if not path.is_dir() and not any(above.is_file() for above in path.parents):
            write(path, "")
    ignore_file = IgnoreFile("\n".join(patterns))
    ours: set[str] = set()
    folders = [""]
    while folders:
        folder = folders.pop()
        for entry in os.scandir(tmp_path / folder):
            found = os.path.join(folder, entry.name)
            if entry.name == ".git" or ignore_file.verdict(found, entry.is_dir()):
                continue
            (folders.append if entry.is_dir() else ours.add)(found)
    command = ["git", "-C", str(tmp_path), "-c", "core.excludesFile=", "ls-files", "-z", "-co", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True).stdout.decode()
    assert ours == set(filter(None, listed.split("\0"))), patterns


# -------------------------------------------------------------------- links, loops, other things that are not files


def test_loops_end(project: Path) -> None:
    tree(project, "pkg/a.py", "pkg/sub/b.py")
    (project / "pkg" / "sub" / "up").symlink_to("..")
    (project / "pkg" / "self").symlink_to(".")
    (project / "pkg" / "round").symlink_to("round")
    assert files() == ["pkg/a.py", "pkg/sub/b.py"]


def test_links_to_folders_are_followed_once(project: Path, tmp_path: Path) -> None:
    tree(tmp_path, "shared/s.py")
    tree(project, "z/a.py")
    (project / "a_link").symlink_to("z")
    (project / "first").symlink_to(tmp_path / "shared")
    (project / "second").symlink_to(tmp_path / "shared")
    assert files() == ["first/s.py", "z/a.py"]


def test_missing_files_are_problems(project: Path) -> None:
    (project / "dangling.py").symlink_to("nowhere")
    (project / ".#train.py").symlink_to("me@host.1234")
    assert problems("gone.py") == [("gone.py", "no such file or folder")]
    assert problems(".") == [("dangling.py", "symbolic link to nowhere")]


def test_notebooks_are_found_but_not_their_checkpoints(project: Path) -> None:
    tree(project, "nb.ipynb", ".ipynb_checkpoints/nb-checkpoint.ipynb", "deep/.ipynb_checkpoints/x-checkpoint.ipynb")
    assert files() == ["nb.ipynb"]


def test_pipes_and_sockets_are_left_alone(project: Path) -> None:
    tree(project, "a.py")
    os.mkfifo(project / "pipe.py")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.py")
        assert files() == ["a.py"]


def test_file_names_of_any_bytes(project: Path) -> None:
    for name in (b"caf\xe9.py", "größe.py".encode(), b"new\nline.py", b" .py"):
        write(project / os.fsdecode(name), "x = 1\n")
    assert files() == sorted(map(os.fsdecode, (b"caf\xe9.py", "größe.py".encode(), b"new\nline.py", b" .py")))


# -------------------------------------------------------------------- patterns


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("*.py", ["/p/a.py", "/p/x/a.py"], ["/p/a.pyi", "/p/a.py/b"]),
        ("test_*", ["/p/test_a", "/p/x/test_"], ["/p/a_test_"]),
        ("a[bc].py", ["/p/ab.py"], ["/p/ad.py", "/p/a[bc].py"]),
        ("{a,b}.py", ["/p/a.py", "/p/b.py"], ["/p/{a,b}.py", "/p/c.py"]),
        ("{a.py", ["/p/{a.py"], ["/p/a.py"]),
        ("src/*.py", ["/p/src/a.py", "/p/src/x/a.py"], ["/p/a.py", "/p/x/src/a.py"]),
        ("src/**", ["/p/src/a.py", "/p/src/x/y.py"], ["/p/src", "/p/srcs/a"]),
        ("**/gen/*.py", ["/p/gen/a.py", "/p/x/gen/a.py"], ["/p/regen/a.py"]),
        ("src/**/a.py", ["/p/src/a.py", "/p/src/x/y/a.py"], ["/p/src/ba.py"]),
        ("./a.py", ["/p/a.py"], ["/p/x/a.py"]),
        ("/abs/*", ["/abs/x"], ["/p/abs/x"]),
        ("a+b.py", ["/p/a+b.py"], ["/p/aab.py"]),
    ],
)
def test_patterns(pattern: str, matching: list[str], others: list[str]) -> None:
    compiled = path_patterns(anchor(pattern, "/p"))
    assert [path for path in matching if not compiled.match(path)] == []
    assert [path for path in others if compiled.match(path)] == []


def test_special_characters_in_the_folder_of_the_project_are_plain() -> None:
    compiled = path_patterns(anchor("src/*.py", "/p[1]{x}"))
    assert compiled.match("/p[1]{x}/src/a.py")
    assert not compiled.match("/p1x/src/a.py")


def test_named_pipe_is_a_problem(project: Path) -> None:
    os.mkfifo(project / "pipe.py")
    assert problems("pipe.py") == [("pipe.py", "not a regular file")]
