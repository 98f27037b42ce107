"""Lint and fix every Python file under some folders in memory, and hold the results against the laws of fixes.

    python benchmarks/run_corpus.py PATH [PATH ...] [--sample 150] [--jobs 2]

For each file: check, ``--fix`` and ``--fix --unsafe-fixes``. It counts as broken when the engine fails, the fixed text
does not parse, a second run changes something, or a file without findings is changed. Prints findings per rule, and a
seeded random sample of findings with their lines, to be judged by a reader. Nothing is written to the files.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple


class Outcome(NamedTuple):
    """What happened to one file."""

    path: str
    readable: bool
    findings: tuple[tuple[str, str, int, str, str], ...]
    """Code, severity, row, message, line."""
    changed: tuple[bool, bool]
    """Whether safe and unsafe fixes changed the text."""
    broken: tuple[str, ...]


def judge(path: str) -> Outcome:
    """Lint and fix one file in memory."""
    from tpulint.catalog import load
    from tpulint.config import Settings
    from tpulint.linter import lint
    from tpulint.source import SourceFile, UnreadableSource

    warnings.simplefilter("ignore")
    catalogue = load()
    try:
        source = SourceFile.from_bytes(Path(path).read_bytes(), path)
    except UnreadableSource:
        return Outcome(path, False, (), (False, False), ())
    broken = []
    checked = lint(source, Settings(), catalogue)
    if checked.error:
        broken.append(f"check: {checked.error}")
    changed = []
    for unsafe in (False, True):
        settings = Settings(fix=True, unsafe_fixes=unsafe)
        label = "unsafe" if unsafe else "safe"
        result = lint(source, settings, catalogue)
        changed.append(result.text != source.text)
        if result.error:
            broken.append(f"{label}: {result.error}")
        if result.text == source.text:
            continue
        if not checked.findings:
            broken.append(f"{label}: changed without a finding")
        try:
            ast.parse(result.text)
        except SyntaxError as error:
            broken.append(f"{label}: does not parse: {error}")
            continue
        if lint(source.with_text(result.text), settings, catalogue).text != result.text:
            broken.append(f"{label}: a second run changes the text")
    findings = tuple(
        (
            f.code,
            f.severity.label,
            source.position(f.span.start)[0],
            f.message,
            source.line(source.position(f.span.start)[0]).strip(),
        )
        for f in checked.findings
    )
    return Outcome(path, True, findings, (changed[0], changed[1]), tuple(broken))


def safely(path: str) -> Outcome:
    """As ``judge``; an exception is an outcome too."""
    try:
        return judge(path)
    except Exception as error:  # the point of this tool is to see any failure
        import traceback

        return Outcome(path, True, (), (False, False), (f"{error!r} {traceback.format_exc()[-600:]}",))


def main() -> int:
    """Run over the corpus and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--select", default="", help="prefix of the codes to sample")
    args = parser.parse_args()
    files = sorted(
        str(file) for path in args.paths for file in (Path(path).rglob("*.py") if Path(path).is_dir() else [Path(path)])
    )
    with ProcessPoolExecutor(args.jobs) as pool:
        outcomes = list(pool.map(safely, files, chunksize=20))
    codes = Counter((code, severity) for outcome in outcomes for code, severity, *_ in outcome.findings)
    print(
        f"{len(files)} files, {sum(not o.readable for o in outcomes)} unreadable, "
        f"{sum(bool(o.findings) for o in outcomes)} with findings, {sum(o.changed[0] for o in outcomes)} changed by "
        f"--fix, {sum(o.changed[1] for o in outcomes)} by --unsafe-fixes"
    )
    for (code, severity), number in sorted(codes.items()):
        print(f"{number:6} {code} {severity}")
    failures = [(outcome.path, reason) for outcome in outcomes for reason in outcome.broken]
    print(f"{len(failures)} broken")
    for path, reason in failures[:40]:
        print(f"  {path}: {reason}")
    if args.sample:
        pool_of_findings = [(o.path, *f) for o in outcomes for f in o.findings if f[0].startswith(args.select)]
        for path, code, severity, row, message, line in random.Random(args.seed).sample(
            pool_of_findings, min(args.sample, len(pool_of_findings))
        ):
            print(f"{path}:{row}: {code} {severity} {message}\n    {line[:160]}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
