"""The scripts that are measured: those of this repository, and public ones that are laid out of git snapshots."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

REPOSITORY = Path(__file__).parent.parent.parent
SETS = ("planted", "ported", "open", "seen", "held-out")
"""planted: small scripts of the tests, every cost marked in them. ported: those of the end-to-end tests. open: public
scripts that whoever mends a rule may look at. seen: public scripts that were held out until their sums were known.
held-out: public scripts nobody looks at before the rules are done."""
_QUICKLY = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
"""Graphs are those of every run; XLA compiles them in less than half of the time into slower programs."""
_PICTURES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".svg", ".pdf", ".mp4", ".webp"})


class Script(NamedTuple):
    """One script, and how it is run."""

    name: str
    group: str
    """One of ``SETS``."""
    script: str
    """Its path in the working directory."""
    arguments: tuple[str, ...] = ()
    folder: str = ""
    """Where its files lie, for a script of this repository."""
    repo: str = ""
    """Owner and name, for a public one."""
    commit: str = ""
    paths: tuple[str, ...] = (".",)
    """What of the repository is laid out."""
    cwd: str = "."
    launcher: str = ""
    """Text of the script, where the repository has a command instead of a script."""
    notebook: str = ""
    """The notebook that the script is the cells of."""
    environment: tuple[tuple[str, str], ...] = ()
    import_path: tuple[str, ...] = ()
    max_steps: int = 24
    is_ported: bool = False
    """Whether it is written for XLA already."""

    @property
    def place(self) -> str:
        """For a reader."""
        path = f"{self.cwd}/{self.script}".removeprefix("./")
        return f"{self.repo}@{self.commit[:10]} {path}" if self.repo else self.name


def own_scripts() -> list[Script]:
    """The scripts of this repository's tests."""
    planted = REPOSITORY / "tests" / "verify" / "scripts"
    ported = REPOSITORY / "tests" / "e2e" / "scripts"
    return [
        *(
            Script(f"planted_{path.stem}", "planted", path.name, folder=str(planted), is_ported=True)
            for path in sorted(planted.glob("*.py"))
            if path.stem != "parts"
        ),
        *(
            Script(f"ported_{path.stem}", "ported", path.name, folder=str(ported), paths=(path.name,))
            for path in sorted(ported.glob("*.py"))
        ),
    ]


def public_scripts(path: Path) -> list[Script]:
    """The scripts that a file names."""
    import yaml

    return [_public(entry) for entry in yaml.safe_load(path.read_text(encoding="utf-8"))]


def _public(entry: dict[str, Any]) -> Script:
    return Script(
        entry["name"], entry["set"], entry["script"], tuple(map(str, entry.get("argv", ()))),
        repo=entry["repo"], commit=entry["commit"], paths=tuple(entry.get("paths", ["."])), cwd=entry.get("cwd", "."),
        launcher=entry.get("launcher", ""), notebook=entry.get("from_nb", ""),
        environment=tuple(sorted(entry.get("env", {}).items())),
        import_path=tuple(entry.get("pythonpath", ())), max_steps=entry.get("max_steps", 24),
    )  # fmt: skip


def lay_out(script: Script, folder: Path, snapshots: Path | None) -> Path:
    """Put the files of a script into an empty folder; its working directory in there."""
    if script.repo:
        assert snapshots is not None, "public scripts need a folder of snapshots"
        _lay_out_of_git(script, folder, snapshots)
    else:
        for path in Path(script.folder).iterdir():
            if path.is_file() and (script.paths == (".",) or path.name in script.paths):
                shutil.copy(path, folder / path.name)
    cwd = folder / script.cwd
    if script.launcher:
        (cwd / script.script).write_text(script.launcher, encoding="utf-8")
    if script.notebook:
        (cwd / script.script).write_text(_of_notebook(cwd / script.notebook), encoding="utf-8")
    assert (cwd / script.script).exists(), f"{script.name}: {script.script} is not there"
    return cwd


def _lay_out_of_git(script: Script, folder: Path, snapshots: Path) -> None:
    git_dir = snapshots / script.repo.replace("/", "+") / "repo"
    if (git_dir / ".git").exists():
        git_dir = git_dir / ".git"
    git = ["git", "--git-dir", str(git_dir)]
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1"}
    listed = subprocess.run(
        [*git, "ls-tree", "-r", "-z", "--name-only", script.commit, "--", *script.paths],
        capture_output=True, check=True, env=environment,
    )  # fmt: skip
    for name in listed.stdout.decode().split("\0"):
        if not name or Path(name).suffix.lower() in _PICTURES:
            continue
        shown = subprocess.run([*git, "show", f"{script.commit}:{name}"], capture_output=True, env=environment)
        if shown.returncode == 0:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(shown.stdout)


def _of_notebook(path: Path) -> str:
    """The cells with code, one after the other; shell commands and magic are left out."""
    lines = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell.get("cell_type") != "code":
            continue
        text = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
        if text.lstrip().startswith("%%"):
            continue
        for line in text.splitlines():
            indent = line[: len(line) - len(line.lstrip())]
            lines.append(f"{indent}pass" if line.lstrip().startswith(("!", "%")) else line)
    return "\n".join(lines) + "\n"


def environment_of(script: Script, cwd: Path, root: Path, recipes: Path | None) -> dict[str, str]:
    """What the script is started with, besides the environment of whoever measures."""
    paths = [str(recipes)] if recipes is not None and script.repo else []
    paths += [str(root / path) for path in script.import_path]
    fixed = {
        "XLA_FLAGS": _QUICKLY,
        "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1", "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1", "WANDB_MODE": "disabled", "MPLBACKEND": "Agg", "TOKENIZERS_PARALLELISM": "false",
        "TPULINT_RECIPE": script.name if script.repo else "",
    }  # fmt: skip
    return fixed | {key: _free_port() if value == "FREE_PORT" else value for key, value in script.environment}


def _free_port() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


def recipe_files(script: Script, recipes: Path | None) -> Iterable[Path]:
    """The files that make the data of a public script."""
    if recipes is None or not script.repo:
        return ()
    return sorted(path for path in recipes.rglob("*.py") if path.parent == recipes or path.stem == script.name)
