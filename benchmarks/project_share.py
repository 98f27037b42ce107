"""How much of a run goes into what files of a project know of each other.

    python benchmarks/project_share.py PATH [PATH ...] [--rounds 3] [--files 300]

With ``--files`` only as many folders in the paths are linted as hold that many Python files: whole folders, since files
of a project know of each other. A round takes about four times as long as linting the files in one process.

Lints the paths in one process without a cache, in CPU seconds, in two ways. First by parts, each without the parts
within it. Three of them are the graph of imports: files read for the sake of others (unless that saved reading them for
their own sake), imports resolved to files, and the order of the files with what each calls noted. The others are what
is looked for along it: what names stand for in other files, calls collected for other files, files examined once more.
Then the whole run beside one in which every file stands alone, one after the other in every round: that difference
also holds what rules do where they know more, and what they find there. Shares of one run can be compared on a busy
machine, seconds cannot.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import wraps
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any

GRAPH = ("files read for others", "imports to files", "order of files")
PARTS = (*GRAPH, "names through imports", "calls out of files", "examined again")

_TRIALS = 100_000


class Clock:
    """Adds up CPU time by part."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self.calls = dict.fromkeys(PARTS, 0)
        self._within: list[float] = []

    def timed(
        self,
        owner: Any,
        name: str,
        part: str,
        is_meant: Callable[..., bool] = lambda *given: True,
        then: Callable[[tuple[Any, ...], float], None] = lambda given, spent: None,
    ) -> None:
        """Count the time of a function, and with it all that no other part counts."""
        function = getattr(owner, name)

        @wraps(function)
        def measured(*given: Any, **named: Any) -> Any:
            if not is_meant(*given):
                return function(*given, **named)
            begin = time.process_time()
            self._within.append(0.0)
            try:
                return function(*given, **named)
            finally:
                spent = time.process_time() - begin
                own = spent - self._within.pop()
                self.calls[part] += 1
                self.seconds[part] += own
                if self._within:
                    self._within[-1] += spent
                then(given, own)

        setattr(owner, name, measured)

    def corrected(self, whole: float) -> tuple[float, list[float]]:
        """All and the parts without the cost of measuring, which is several times that of looking up a known name."""
        calls, seconds = dict(self.calls), dict(self.seconds)
        empty = SimpleNamespace(nothing=lambda: None)
        self.timed(empty, "nothing", PARTS[0])
        begin = time.process_time()
        for _ in range(_TRIALS):
            empty.nothing()
        outside = (time.process_time() - begin) / _TRIALS
        inside = (self.seconds[PARTS[0]] - seconds[PARTS[0]]) / _TRIALS
        return whole - outside * sum(calls.values()), [max(0.0, seconds[part] - inside * calls[part]) for part in PARTS]


def parts_of_run(paths: list[str]) -> list[float]:
    """One run in this process: the whole time, then the parts."""
    from tpulint import library, project, waves
    from tpulint.semantic.project import imported, outgoing
    from tpulint.semantic.syntax import names

    clock = Clock()
    _count_reading(clock, library.Library, names.Names)
    for function in ("dependencies", "module", "has"):
        clock.timed(library.Library, function, PARTS[1])
    clock.timed(waves, "in_call_order", PARTS[2])
    clock.timed(waves.Waves, "_ask_neighbours", PARTS[2])
    for function in ("note", "calls_into", "outdated"):
        clock.timed(project.Project, function, PARTS[2])
    for function in ("all_called", "classes_of", "definition"):
        clock.timed(imported.Imported, function, PARTS[3])
    clock.timed(outgoing, "outgoing_calls", PARTS[4])
    begun: list[int] = []

    def is_again(*given: Any) -> bool:
        begun.append(1)
        return len(begun) > 1

    clock.timed(waves.Waves, "_wave", PARTS[5], is_again)
    whole, parts = clock.corrected(_seconds(paths))
    return [whole, *parts]


def _count_reading(clock: Clock, library: Any, names: Any) -> None:
    """Files read for others, without those whose tree and names served them when it was their turn."""
    spent: dict[str, float] = {}
    clock.timed(library, "_indexed", PARTS[0], then=lambda given, seconds: spent.update({given[1]: seconds}))

    def is_of_other(names: Any, tree: Any) -> bool:
        return tree.source.path in spent

    def add(given: tuple[Any, ...], seconds: float) -> None:
        spent[given[1].source.path] += seconds

    clock.timed(names, "__init__", PARTS[0], is_of_other, add)
    known = library.known

    def taken_over(self: Any, source: Any) -> Any:
        found = known(self, source)
        if found is not None:
            clock.seconds[PARTS[0]] -= spent.pop(found.source.path, 0.0)
        return found

    library.known = taken_over


def run_of_single_files(paths: list[str]) -> list[float]:
    """One run in which no file knows of any other."""
    from tpulint import linter, waves

    lint = linter.lint
    linter.lint = lambda source, settings, catalogue, *others: lint(source, settings, catalogue)
    waves.in_call_order = lambda paths: [[path] for path in paths]
    return [_seconds(paths)]


def _folders(paths: list[str], files: int) -> Iterator[str]:
    """Folders in these folders, until they hold as many files."""
    held = 0
    for folder in sorted(folder for path in paths for folder in Path(path).iterdir() if folder.is_dir()):
        count = sum(1 for _ in folder.rglob("*.py"))
        if count and held < files:
            held += count
            yield str(folder)


def _seconds(paths: list[str]) -> float:
    from tpulint.cli import main

    sys.argv = ["tpulint", "check", "--no-cache", "--jobs", "1", "--output-format", "concise", "--quiet", *paths]
    begin = time.process_time()
    with suppress(SystemExit):
        main()
    return time.process_time() - begin


WAYS: dict[str, Callable[[list[str]], list[float]]] = {
    "parts": parts_of_run,
    "whole": lambda paths: [_seconds(paths)],
    "single": run_of_single_files,
}


def main() -> None:
    """Print a Markdown table: medians over some runs, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--files", type=int, help="about as many files are linted")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.way:
        print(*WAYS[args.way](args.paths), file=sys.stderr)
        return
    paths = args.paths if args.files is None else list(_folders(args.paths, args.files))
    shares = []
    for _ in range(args.rounds):
        measured = {way: _measured(way, paths) for way in WAYS}
        whole, *parts = measured["parts"]
        (with_others,), (alone,) = measured["whole"], measured["single"]
        sums = sum(parts[: len(GRAPH)]), sum(parts)
        shares.append([*(part / whole for part in (*parts, *sums)), 1 - alone / with_others])
    print("| part | share of the run | in single runs |")
    print("|---|---:|---|")
    names = (*PARTS, "the graph: the first three", "all of it", "beside single files")
    for name, found in zip(names, zip(*shares, strict=True), strict=True):
        print(f"| {name} | {median(found):.1%} | {', '.join(f'{share:.1%}' for share in found)} |")


def _measured(way: str, paths: list[str]) -> list[float]:
    command = [sys.executable, os.path.abspath(__file__), "--way", way, *paths]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return [float(number) for number in done.stderr.strip().splitlines()[-1].split()]


if __name__ == "__main__":
    main()
