"""What other linters say about lines that cost something on a TPU. See docs/comparison.md.

    python benchmarks/compare_findings.py --rivals RIVALS_VENV

RIVALS_VENV is a virtual environment made with ``pip install torchfix fixit ruff``. The scripts are those of
``tests/verify/scripts``: each was run on XLA, and its lines are marked that waited for the device (``# SYNC``), fell
back to the host (``# FALLBACK``) or were compiled anew (``# COMPILE``). A tool names a line when one of its findings of
any kind stands on it; the rest of what it says is counted beside.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_MARK = re.compile(r"#.*\b(SYNC|COMPILE|FALLBACK)\b")
Lines = set[tuple[str, int]]


def marked(folder: Path) -> dict[str, Lines]:
    """Lines by mark; a line has one."""
    found: dict[str, Lines] = {"SYNC": set(), "FALLBACK": set(), "COMPILE": set()}
    for path in sorted(folder.glob("*.py")):
        for row, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if match := _MARK.search(line):
                found[match[1]].add((path.name, row))
    return found


def output_of(command: list[str], folder: Path) -> str:
    """Standard output of a linter, whatever its exit status."""
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def of_tpulint(folder: Path, rivals: Path) -> Lines:
    """Stable rules alone."""
    command = [sys.executable, "-m", "tpulint", "check", "--no-cache", "--isolated", "--output-format", "json", "."]
    return {(Path(one["filename"]).name, one["location"]["row"]) for one in json.loads(output_of(command, folder))}


def of_ruff(folder: Path, rivals: Path) -> Lines:
    """All of its rules, those of its preview included."""
    command = [str(rivals / "bin" / "ruff"), "check", "--isolated", "--select", "ALL", "--preview", "--no-cache",
               "--output-format", "json", "."]  # fmt: skip
    return {(Path(one["filename"]).name, one["location"]["row"]) for one in json.loads(output_of(command, folder))}


def of_torchfix(folder: Path, rivals: Path) -> Lines:
    """All of its rules."""
    names = [path.name for path in sorted(folder.glob("*.py"))]
    text = output_of([str(rivals / "bin" / "torchfix"), "--select", "ALL", *names], folder)
    return {(Path(name).name, int(row)) for name, row in re.findall(r"^(.+?\.py):(\d+):\d+:", text, re.MULTILINE)}


def of_fixit(folder: Path, rivals: Path) -> Lines:
    """Its rules that are on by default."""
    text = output_of([str(rivals / "bin" / "fixit"), "--quiet", "lint", "."], folder)
    return {(Path(name).name, int(row)) for name, row in re.findall(r"^(.+?\.py)@(\d+):\d+", text, re.MULTILINE)}


TOOLS: dict[str, Callable[[Path, Path], Lines]] = {
    "tpulint": of_tpulint, "TorchFix, all rules": of_torchfix, "ruff, all rules": of_ruff, "Fixit": of_fixit,
}  # fmt: skip


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rivals", type=Path, required=True)
    parser.add_argument("--scripts", type=Path, default=ROOT / "tests" / "verify" / "scripts")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for path in given.scripts.glob("*.py"):
            # Without the marks, and without what they would tell a tool.
            text = re.sub(r"[ \t]*#.*", "", path.read_text(encoding="utf-8"))
            (folder / path.name).write_text(text, encoding="utf-8")
        costly = marked(given.scripts)
        everything = set().union(*costly.values())
        print("| tool | waits named | fallbacks named | compilations named | other lines named |")
        print("|---|---:|---:|---:|---:|")
        for tool, ask in TOOLS.items():
            named = ask(folder, given.rivals.resolve())
            cells = [f"{len(named & lines)} of {len(lines)}" for lines in costly.values()]
            print(f"| {tool} | {' | '.join(cells)} | {len(named - everything)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
