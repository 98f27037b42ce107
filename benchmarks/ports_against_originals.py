"""Port public scripts whole, run port and original, and tell where they train differently. See docs/measured.md.

    python benchmarks/ports_against_originals.py --snapshots FOLDER --results results.jsonl --python ~/xla/bin/python

Each script is laid out twice, one copy is fixed with all fixes, and `tpulint verify PORT --against ORIGINAL` compares
the losses of their first steps. Results are kept line by line: a run that is broken off goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from measuring.scripts import REPOSITORY, Script, environment_of, lay_out, public_scripts

_PATHS = [str(REPOSITORY / name) for name in (".", "rules", "runtime")]
_CAUSES = ("no verdict", "original", "script", "timeout", "optimizer", "losses", "not-trained-on-xla", "not-settled")
"""What a script is counted under: the first of these that was seen."""


def main() -> int:
    """The command."""
    arguments = _arguments()
    kept = arguments.results.read_text().splitlines() if arguments.results.exists() else []
    known = {one["name"]: one for one in map(json.loads, kept)}
    for script in public_scripts(arguments.public):
        if script.name not in known and (not arguments.names or script.name in arguments.names):
            known[script.name] = {"name": script.name, **_compare(script, arguments)}
            print(known[script.name], flush=True)
            with arguments.results.open("a") as file:
                file.write(json.dumps(known[script.name]) + "\n")
    counted = Counter(_cause(one["failures"]) for one in known.values())
    print(f"{len(known)} scripts: " + ", ".join(f"{count} {cause}" for cause, count in counted.most_common()))
    return 0


def _cause(failures: list[dict[str, Any]]) -> str:
    kinds = {one["kind"] for one in failures}
    return next((kind for kind in _CAUSES if kind in kinds), "equal")


def _compare(script: Script, arguments: argparse.Namespace) -> dict[str, Any]:
    """The failures of the verification of one script, and the losses of both."""
    with tempfile.TemporaryDirectory(prefix="tpulint-port-") as folder:
        roots = {name: Path(folder, name) for name in ("original", "port")}
        try:
            for root in roots.values():
                root.mkdir()
                cwd = lay_out(script, root, arguments.snapshots)
        except subprocess.CalledProcessError as problem:
            return {"failures": [{"kind": "no verdict", "message": f"no snapshot: {problem}"}]}
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(_PATHS)}
        fixing = [sys.executable, "-m", "tpulint", "check", "--isolated", "--no-cache", "--fix", "--unsafe-fixes", "."]
        subprocess.run(fixing, cwd=roots["port"], env=environment, capture_output=True)
        environment.update(environment_of(script, cwd, roots["port"], arguments.recipes.resolve()))
        environment["PYTHONPATH"] = os.pathsep.join([*_PATHS, environment["PYTHONPATH"]])
        original = roots["original"] / script.cwd / script.script
        command = [
            sys.executable, "-m", "tpulint", "verify", script.script, "--against", str(original), "--json", "--quiet",
            "--max-steps", str(arguments.steps), "--timeout", str(arguments.timeout), "--no-causes",
            "--python", arguments.python, "--", *script.arguments,
        ]  # fmt: skip
        done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return {"failures": [{"kind": "no verdict", "message": done.stderr[-500:]}]}
    return {"failures": report["failures"], "losses": report.get("losses")}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = REPOSITORY / "benchmarks"
    parser.add_argument("names", nargs="*", help="scripts; default: all")
    parser.add_argument("--public", type=Path, default=here / "public_scripts.yaml", help="the scripts")
    parser.add_argument("--recipes", type=Path, default=here / "stand_ins", help="what makes their data")
    parser.add_argument("--snapshots", type=Path, required=True, help="folder of git snapshots, OWNER+NAME/repo")
    parser.add_argument("--results", type=Path, required=True, help="file that results are added to")
    parser.add_argument("--python", default=sys.executable, help="Python with torch_xla")
    parser.add_argument("--steps", type=int, default=7)
    parser.add_argument("--timeout", type=float, default=150.0)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
