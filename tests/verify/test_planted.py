"""What is planted in a script is found on its line, and nothing else is found anywhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tpulint.verification.compiles import compilations
from tpulint.verification.costs import costs
from tpulint.verification.failures import failures
from tpulint.verification.process import Run
from tpulint.verification.records import Reader

pytestmark = pytest.mark.xla

SCRIPTS = Path(__file__).parent / "scripts"
PLANTED = [path for path in sorted(SCRIPTS.glob("*.py")) if path.name != "parts.py"]

_MARKER = re.compile(r"# ((?:(?:SYNC|TRANSFER|FALLBACK|COMPILE|CUDA)\b ?)+)$")
_FAILS = re.compile(r"^# FAILS: (.*)$", re.MULTILINE)

Found = set[tuple[str, int, str]]


def planted(path: Path) -> Found:
    """File, line and kind of everything that a script is marked with."""
    found = set()
    for row, line in enumerate(path.read_text().splitlines(), 1):
        marker = _MARKER.search(line)
        found |= {(path.name, row, kind.lower()) for kind in (marker[1].split() if marker else ())}
    return found


@pytest.mark.parametrize("path", PLANTED, ids=lambda path: path.stem)
def test_finds_what_is_planted_and_nothing_else(path: Path, observed: Path) -> None:
    recording = Reader(str(observed / path.stem)).read()
    assert recording.processes, "nothing was recorded"
    recording = recording._replace(main_pid=recording.processes[0].pid)
    assert recording.main.ending is not None and recording.main.ending.how == "finished", recording.main.ending
    compiled = compilations(recording)
    found = costs(recording, compiled)
    assert {(Path(one.line.path).name, one.line.row, one.kind) for one in found} == planted(path), found
    run = Run(recording, 0, False, 0.0, "", "")
    expected = _FAILS.search(path.read_text())
    assert sorted({one.kind for one in failures(run, compiled, str(SCRIPTS))}) == (
        expected[1].split() if expected else []
    )


def test_there_are_enough() -> None:
    kinds = [kind for path in PLANTED for _, _, kind in planted(path)]
    clean = [path for path in PLANTED if not planted(path)]
    assert len(PLANTED) >= 30
    assert len(clean) >= 5
    assert {kind: kinds.count(kind) >= 4 for kind in ("sync", "transfer", "fallback", "compile", "cuda")} == {
        "sync": True, "transfer": True, "fallback": True, "compile": True, "cuda": True,
    }  # fmt: skip
