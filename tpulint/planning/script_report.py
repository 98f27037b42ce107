"""What was read off a script, as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tpulint.planning.script_numbers import Reading, ScriptNumbers

_WORDS = {"params": "parameters", "seq": "sequence", "steps_per_epoch": "steps per epoch"}
_CONVOLUTIONS = "its model has convolutions; the formulas are those of transformers, and say little about it"


def render_script(script: ScriptNumbers) -> Iterator[str]:
    """One line for each number, with its row."""
    yield f"read off {script.path}, which was not executed:\n"
    for one in script.readings:
        where = f"{one.place.path}:{one.place.row}" if one.place is not None else ""
        about = f" ({one.about})" if one.about and where else one.about
        yield f"  {_WORDS.get(one.name, one.name):<16} {one.value!s:<12} {where}{about}".rstrip() + "\n"
    if script.has_convolutions:
        yield f"  {_CONVOLUTIONS}\n"
    yield "\n"


def missing_sentence(script: ScriptNumbers) -> str:
    """What an estimate lacks, and which options give it."""
    wanting = "; ".join(f"give {one.flag}" + (f" ({one.why})" if one.why else "") for one in script.missing)
    known = ", ".join(map(_short, script.readings))
    hint = f". {_CONVOLUTIONS[0].upper()}{_CONVOLUTIONS[1:]}" if script.has_convolutions else ""
    return (
        f"{script.path} does not show all that an estimate needs: {wanting}"
        + (f". Read: {known}" if known else "")
        + hint
    )


def script_data(script: ScriptNumbers) -> dict[str, Any]:
    """Names and numbers, for JSON."""
    return {
        "path": script.path,
        "readings": [{**one._asdict(), "place": one.place.data if one.place else None} for one in script.readings],
        "has_convolutions": script.has_convolutions,
    }


def _short(one: Reading) -> str:
    where = f" (row {one.place.row})" if one.place is not None else ""
    return f"{_WORDS.get(one.name, one.name)} {one.value}{where}"
