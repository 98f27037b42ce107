"""Loops composed at random, fixed by the linter: their ports print what the originals print.

``python tests/e2e/test_composed_loops.py 100 200`` tries other seeds, and tells what the port of each costs.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest
from composed_loops import compose
from harness import Case, Recording, cost, fix, has_xla, judge_results, record_port, record_reference

SEEDS = range(10)


def written(seed: int, folder: Path) -> Case:
    """A composed loop in a file of its own, with no bound on what its port may cost."""
    script = folder / f"loop_{seed}.py"
    script.write_text(compose(seed), encoding="utf-8")
    return Case(script, transfers_per_step=0.0, because="", prints_alike=True)


def ported(case: Case, folder: Path) -> str:
    """The port, from a copy of the script."""
    copy = folder / "copy" / case.script.name
    copy.parent.mkdir(exist_ok=True)
    copy.write_text(case.script.read_text(encoding="utf-8"), encoding="utf-8")
    port = fix(copy)
    assert fix(copy) == port, "a second run changes the port"
    return port


def runs(case: Case, port: str, folder: Path) -> tuple[Recording, Recording]:
    """What the original and the port were seen to do."""
    return record_reference(case, folder / "reference"), record_port(case, port, folder / "port")


@pytest.mark.xla
@pytest.mark.slow
@pytest.mark.skipif(not has_xla(), reason="torch_xla is not installed (extra xla)")
@pytest.mark.parametrize("seed", SEEDS)
def test_port_of_composed_loop_prints_the_same(seed: int, tmp_path: Path) -> None:
    case = written(seed, tmp_path)
    port = ported(case, tmp_path)
    complaints = judge_results(case, *runs(case, port, tmp_path))
    assert not complaints, "\n".join([*complaints, "", port])


def main(first: int, last: int) -> int:
    """Try the seeds from the first up to the last; the number of those whose ports are wrong."""
    wrong = 0
    for seed in range(first, last):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            case = written(seed, folder)
            try:
                port = ported(case, folder)
            except AssertionError as error:
                wrong += 1
                print(f"{seed}: {error}")
                continue
            reference, run = runs(case, port, folder)
            paid = cost(run, 1)
            print(f"{seed}: {paid.compiles} compiles, {paid.transfers_per_step:.2f} transfers per step")
            complaints = judge_results(case, reference, run)
            wrong += bool(complaints)
            for complaint in complaints:
                print(complaint)
    return wrong


if __name__ == "__main__":
    raise SystemExit(min(main(int(sys.argv[1]), int(sys.argv[2])), 1))
