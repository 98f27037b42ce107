"""A summary of logs for programs. Fields are only ever added."""

from __future__ import annotations

from typing import Any

from tpulint import __version__
from tpulint.json_output import serialize
from tpulint.xla_logs.explanations import Explanations
from tpulint.xla_logs.summary import Summary, Tally


def render(summary: Summary, explanations: Explanations, notes: list[str], files: tuple[str, ...]) -> str:
    """One object."""
    data = {
        "format": 1,
        "tpulint": __version__,
        "files": list(files),
        "compilations": summary.compiles,
        "runs": summary.runs,
        "forbidden_runs": summary.forbidden,
        "graphs": [
            {
                "hash": key, "name": one.name or None, "inputs": one.inputs, "outputs": one.outputs,
                "compilations": one.compiles, "runs": one.runs,
            }
            for key, one in summary.graphs.items()
        ],
        "places": [_place(tally, explanations) for tally in summary.tallies],
        "notes": notes,
    }  # fmt: skip
    return serialize(data) + "\n"


def _place(tally: Tally, explanations: Explanations) -> dict[str, Any]:
    place = tally.place
    return {
        "filename": place.frame.path if place.frame else None,
        "row": place.frame.row if place.frame else None,
        "function": place.frame.function if place.frame else None,
        "source": explanations.source(tally),
        "kind": place.kind,
        "cause": place.cause,
        "costly": tally.is_costly,
        "compilations": tally.compiles,
        "runs": tally.runs,
        "graphs": list(tally.graphs),
        "frames": [frame._asdict() for frame in place.frames],
        "explained_by": [one._asdict() for one in explanations.of(tally)],
    }
