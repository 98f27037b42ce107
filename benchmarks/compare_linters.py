"""Time and memory of tpulint against TorchFix, Fixit and ruff on the same files, as ratios of one interleaved run.

    python benchmarks/compare_linters.py --rivals RIVALS_VENV PATH [PATH ...]

RIVALS_VENV is a virtual environment made with ``pip install torchfix fixit ruff``. Paths are folders or files; a
seeded sample of ``--files`` Python files under them is linted by every tool in turn, ``--rounds`` times, and the median
of user + system CPU seconds (children included) is compared, so that a noisy machine disturbs all tools alike. The
warm run of tpulint and ruff is the second run over an unchanged tree with their own cache.

With ``--pre-commit`` each tool is a hook, and ``pre-commit run`` is measured on the files: what a commit waits for. The
row ``python -c pass`` is then a hook that does nothing: what pre-commit and git themselves take. RIVALS_VENV must hold
``pre-commit`` as well.

Every tool is measured as ``pip install`` leaves it, with its Python compiled: a tpulint that is run from its sources is
compiled first, and ``PYTHONDONTWRITEBYTECODE`` is not handed on. Without this a run on one file takes twice as long.
"""

from __future__ import annotations

import argparse
import compileall
import importlib
import json
import os
import random
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

Commands = dict[str, list[str]]
_MOST_IN_PROCESS = 1000
"""Files that are linted in process, seven times over."""


def python_files(paths: list[str]) -> Iterator[Path]:
    """All Python files at or below the paths."""
    for path in map(Path, paths):
        if path.is_file():
            yield path
        else:
            yield from sorted(path.rglob("*.py"))


def measure(command: list[str], folder: Path) -> tuple[float, float, float]:
    """CPU seconds, wall seconds and peak memory (MB) of one command."""
    started = time.perf_counter()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - started, usage.ru_maxrss / 1024


def in_pre_commit(tools: Commands, names: Sequence[str], folder: Path, rivals: Path) -> Commands:
    """The same tools as hooks of a repository made of the folder: the commands that have pre-commit run each of them.

    Hooks call the tools that are there already, as pre-commit does once it has made its environments.
    """
    lines = ["repos:", "  - repo: local", "    hooks:"]
    commands = {}
    for number, (tool, command) in enumerate(tools.items()):
        entry = shlex.join(word for word in command if word not in names)
        hook = {"id": f"tool{number}", "name": tool, "entry": entry, "language": "system", "require_serial": True}
        hook |= {"types": ["python"], "pass_filenames": len(command) > 3}
        first, *rest = (f"{key}: {json.dumps(value)}" for key, value in hook.items())
        lines += [f"      - {first}", *(f"        {line}" for line in rest)]
        commands[tool] = [str(rivals / "pre-commit"), "run", f"tool{number}", "--files", *names]
    (folder / ".pre-commit-config.yaml").write_text("\n".join(lines) + "\n")
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return commands


def in_process_ratio(files: list[Path]) -> float:
    """CPU seconds of ``tpulint.linter.lint`` over those of ``ast.parse`` on the same texts, median of seven."""
    import ast
    import gc

    from tpulint.catalog import load
    from tpulint.config import Settings
    from tpulint.linter import lint
    from tpulint.source import SourceFile, UnreadableSource

    sources = []
    for file in files:
        try:
            source = SourceFile.from_bytes(file.read_bytes(), str(file))
            ast.parse(source.text)
            sources.append(source)
        except (UnreadableSource, SyntaxError, RecursionError):
            continue
    catalogue, settings = load(), Settings()
    ratios = []
    for _ in range(7):
        gc.disable()
        started = time.process_time()
        for source in sources:
            ast.parse(source.text)
        parsed = time.process_time()
        for source in sources:
            lint(source, settings, catalogue)
        ratios.append((time.process_time() - parsed) / (parsed - started))
        gc.enable()
    return statistics.median(ratios)


def main() -> None:
    """Run the comparison and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--rivals", required=True, help="virtual environment with torchfix, fixit and ruff")
    parser.add_argument("--files", type=int, default=50, help="size of the sample")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--skip", action="append", default=[], help="leave a tool out (it may be very slow on many files)"
    )
    parser.add_argument("--pre-commit", action="store_true", help="run the tools as hooks of pre-commit")
    args = parser.parse_args()

    for package in ("tpulint", "tpulint_rules"):
        for place in importlib.import_module(package).__path__:
            compileall.compile_dir(place, quiet=1)
    files = list(python_files(args.paths))
    random.Random(args.seed).shuffle(files)
    folder = Path(tempfile.mkdtemp(prefix="tpulint-benchmark-"))
    copies = []
    for number, file in enumerate(files[: args.files]):
        target = folder / f"d{number % 40:02}" / f"f{number}_{file.name}"
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(file, target)
        copies.append(target)
    (folder / "pyproject.toml").write_text("[tool.tpulint]\n[tool.fixit]\n")
    names = [str(copy.relative_to(folder)) for copy in copies]
    rivals = Path(args.rivals).absolute() / "bin"
    tpulint = [sys.executable, "-m", "tpulint", "check", "--output-format", "concise", "--jobs", "1"]
    tools = {
        "tpulint, cold": [*tpulint, "--no-cache", *names],
        "tpulint, warm": [*tpulint, *names],
        "ruff F,E,NPY, cold": [
            str(rivals / "ruff"),
            "check",
            "--select",
            "F,E,NPY",
            "--output-format",
            "concise",
            "--no-cache",
            *names,
        ],
        "ruff F,E,NPY, warm": [
            str(rivals / "ruff"),
            "check",
            "--select",
            "F,E,NPY",
            "--output-format",
            "concise",
            *names,
        ],
        "TorchFix": [str(rivals / "torchfix"), "--select", "ALL", "-j1", *names],
        "Fixit": [str(rivals / "fixit"), "lint", *names],
        "python -c pass": [sys.executable, "-c", "pass"],
    }
    tools = {name: command for name, command in tools.items() if name not in args.skip}
    if args.pre_commit:
        tools = in_pre_commit(tools, names, folder, rivals)
    results: dict[str, list[tuple[float, float, float]]] = {name: [] for name in tools}
    for name in results:
        if "warm" in name or name == "tpulint, cold":  # the cards of the rules are parsed once
            measure(tools[name], folder)
    for _ in range(args.rounds):
        for name in results:
            results[name].append(measure(tools[name], folder))
    shutil.rmtree(folder)

    base = statistics.median(cpu for cpu, _, _ in results["tpulint, cold"])
    size = sum(file.stat().st_size for file in files[: args.files]) / 1e6
    print(f"{len(copies)} files, {size:.2f} MB, {args.rounds} interleaved rounds, medians\n")
    print("| tool | CPU s | x tpulint cold | peak MB |")
    print("|---|---:|---:|---:|")
    for name, rows in results.items():
        cpu = statistics.median(row[0] for row in rows)
        print(f"| {name} | {cpu:.3f} | {cpu / base:.2f} | {max(row[2] for row in rows):.0f} |")
    some = files[: min(args.files, _MOST_IN_PROCESS)]
    print(f"\nin process, lint over ast.parse of {len(some)} of the files: {in_process_ratio(some):.2f}x")


if __name__ == "__main__":
    main()
