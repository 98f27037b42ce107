"""Hold what the linter says of scripts against what they were seen to do on XLA. See docs/measured.md.

python benchmarks/findings_against_runs.py --truths FOLDER --run --python ~/xla/bin/python
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from measuring import writing
from measuring.judging import QUESTIONS, Verdict, judge, score
from measuring.layout import Layouts
from measuring.said import findings
from measuring.scripts import SETS, Script, own_scripts, public_scripts
from measuring.truth import Store


def main() -> int:
    """The command."""
    arguments = _arguments()
    scripts = [one for one in _scripts(arguments) if _is_wanted(one, arguments)]
    store = Store(arguments.truths, arguments.snapshots, arguments.recipes.resolve(), arguments.python)
    if arguments.run:
        for script in scripts:
            if store.load(script) is None or arguments.again:
                _observe(store, script, arguments.timeout)
    verdicts = _verdicts(store, scripts)
    if arguments.list:
        _list(store, scripts, verdicts)
    sets = {
        group: found for group in SETS if (found := [verdicts[one.name] for one in scripts
                                                     if one.group == group and one.name in verdicts])
    }  # fmt: skip
    if arguments.json:
        print(writing.as_json(sets), end="")
    elif arguments.tables:
        print(writing.as_tables(sets), end="")
    else:
        _show(sets)
    if arguments.write:
        versions = next(truth.versions for script in scripts if (truth := store.load(script)) is not None)
        writing.write(sets, versions, arguments.write)
    return 0


def _verdicts(store: Store, scripts: Sequence[Script]) -> dict[str, Verdict]:
    """By name of the script; those are left out of which too little was seen."""
    found = {}
    for script in scripts:
        truth = store.load(script)
        if truth is None or not truth.is_usable:
            continue
        root = store.source(script)
        layouts = Layouts(root)
        paths = sorted({one.path for one in truth.ran})
        found[script.name] = judge(truth, findings(root, paths, layouts), layouts)
    return found


def _list(store: Store, scripts: Sequence[Script], verdicts: dict[str, Verdict]) -> None:
    """Every finding that was wrong and every line that was missed, except in what is held out."""
    for script in scripts:
        verdict = verdicts.get(script.name)
        if verdict is None or script.group == "held-out":
            continue
        layouts = Layouts(store.source(script))
        for one in verdict.judgements:
            if one.outcome == "wrong":
                said = one.said
                line = layouts.of(said.path).line(said.row)
                print(f"wrong  {script.name} {said.path}:{said.row} {said.code} | {line}")
        for miss in verdict.misses:
            cost = miss.cost
            why = f" ({cost.text})" if cost.text else ""
            how = "other " if miss.is_elsewhere else "missed"
            print(
                f"{how} {script.name} {cost.path}:{cost.row} {cost.kind} in {miss.question} x{cost.times}{why} | "
                f"{layouts.of(cost.path).line(cost.row)} | from {cost.callers[:3]}"
            )


def _show(sets: writing.Sets) -> None:
    for group, kept in sets.items():
        print(f"\n{group}: {len(kept)} scripts")
        for question in QUESTIONS:
            numbers = score(kept, question)
            judged = numbers["right"] + numbers["wrong"]
            right = writing.share(numbers["right"], judged)
            named = writing.share(numbers["hits"], numbers["lines"])
            elsewhere = f", {numbers['elsewhere']} of the rest in other files" if numbers["elsewhere"] else ""
            lines = f"named {named:>11} of {numbers['lines']:3}{elsewhere}"
            print(f"  {question:31} right {right:>11} of {judged:3}, {lines}")


def _observe(store: Store, script: Script, timeout: float) -> None:
    try:
        truth = store.observe(script, timeout)
    except Exception as error:
        print(f"{script.name}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        return
    kinds = [cost.kind for cost in truth.costs]
    found = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    loops = ", ".join(f"{one.kind} loop {one.path}:{one.row} ({one.turns} turns)" for one in truth.loops)
    print(f"{script.name}: {truth.steps} steps, {truth.ending} {truth.error}; {found}; {loops}", file=sys.stderr)


def _scripts(arguments: argparse.Namespace) -> list[Script]:
    found = own_scripts()
    for path in arguments.public:
        found.extend(public_scripts(path))
    return found


def _is_wanted(script: Script, arguments: argparse.Namespace) -> bool:
    if arguments.script and script.name not in arguments.script:
        return False
    return not arguments.set or script.group in arguments.set


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--truths", type=Path, required=True, help="folder in which is kept what was seen")
    parser.add_argument("--run", action="store_true", help="run scripts of which nothing was seen yet")
    parser.add_argument("--again", action="store_true", help="run all of them")
    parser.add_argument("--python", default=sys.executable, help="a Python with torch and torch_xla")
    parser.add_argument("--timeout", type=float, default=300.0, metavar="SECONDS")
    parser.add_argument("--public", type=Path, action="append", default=[], metavar="FILE", help="public scripts")
    parser.add_argument("--snapshots", type=Path, help="folder of git snapshots: OWNER+NAME/repo")
    parser.add_argument(
        "--recipes", type=Path, default=Path(__file__).parent / "stand_ins",
        help="folder on the import path of public scripts: makes their data",
    )  # fmt: skip
    parser.add_argument("--list", action="store_true", help="show what was wrong and what was missed")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--tables", action="store_true", help="print Markdown")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write measurements.yaml of the rules")
    parser.add_argument("--set", action="append", choices=SETS, help="only these scripts")
    parser.add_argument("--script", action="append", default=[], metavar="NAME", help="only this one")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
