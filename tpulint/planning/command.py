"""``tpulint tpus`` and ``tpulint plan``: from the command line to an exit status."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from tpulint.config import ConfigError
from tpulint.planning import json_report, text_report
from tpulint.planning.data import load_hardware, load_prices
from tpulint.planning.estimate import Workload, hidden_of, layers_of, shape_of
from tpulint.planning.generations import Generation
from tpulint.planning.numbers import parse_count
from tpulint.planning.plan import make
from tpulint.planning.script_numbers import FLAGS, NEEDED, ScriptNumbers, read_numbers
from tpulint.planning.script_report import missing_sentence
from tpulint.selectors import nearest

DONE = 0
"""Exit status; 2 is for wrong usage, and for a price file that cannot be read."""

_LARGEST_BATCH = 10**9


def show_tpus(name: str | None, output_format: str) -> int:
    """Print what is known of all generations, or of one; the exit status. Raises ``ConfigError``."""
    hardware = load_hardware()
    if name is not None:
        wanted = [_find(name, hardware.generations)]
    else:
        wanted = [one for one in hardware.generations.values() if one.kind == "tpu"]
    if output_format == "json":
        sys.stdout.write(json_report.render_generations(wanted, hardware))
    elif name is not None:
        sys.stdout.writelines(text_report.render_generation(wanted[0], hardware))
    else:
        sys.stdout.writelines(text_report.render_overview(wanted))
    return DONE


def plan(given: Mapping[str, Any]) -> int:
    """Print a plan for what the options say; the exit status. Raises ``ConfigError``."""
    script, given = _completed(given)
    wanted = [*chosen(given["tpu"], "tpu"), *chosen(given["gpu"], "gpu")]
    if not wanted:
        raise ConfigError("--tpu and --gpu name nothing to plan for")
    made = make(
        _workload(given),
        wanted,
        load_prices(given["prices"]),
        shape_given=bool(given["layers"] or given["hidden"]),
        read=script,
        **{key: given[key] for key in ("steps_per_epoch", "epochs", "spot", "name", "zone", "script")},
    )
    if given["output_format"] == "json":
        sys.stdout.write(json_report.render_plan(made))
    else:
        sys.stdout.writelines(text_report.render_plan(made))
    return DONE


def _completed(given: Mapping[str, Any]) -> tuple[ScriptNumbers | None, dict[str, Any]]:
    """What the options say, with what they leave out: as the script has it, else by default."""
    path, known = given["script_path"], dict(given)
    if known["params"] is not None:
        known["params"] = _params(known["params"])
    if known["batch"] is not None:
        known["batch"] = _batch(known["batch"])
    script = read_numbers(path, {name: known[name] for name in FLAGS}) if path else None
    known.update(script.values if script is not None else {})
    if script is not None and script.missing:
        raise ConfigError(missing_sentence(script))
    for name in NEEDED:
        if known[name] is None:
            raise ConfigError(f"give {FLAGS[name]}, or a script that shows it")
    for name, value in (("optimizer", "adamw"), ("steps_per_epoch", 1000), ("epochs", 1)):
        known[name] = known[name] or value
    known["script"] = known["script"] or path or "train.py"
    return script, known


def _params(text: str) -> int:
    try:
        return parse_count(text)
    except ValueError as error:
        raise ConfigError(f"--params: {error}") from None


def _batch(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= _LARGEST_BATCH:
        raise ConfigError(f"--batch: {text!r} is no number of sequences")
    return int(text)


def _workload(given: Mapping[str, Any]) -> Workload:
    params = given["params"]
    layers, hidden = given["layers"], given["hidden"]
    if layers is None and hidden is None:
        layers, hidden = shape_of(params)
    elif layers is None:
        layers = layers_of(params, hidden)
    elif hidden is None:
        hidden = hidden_of(params, layers)
    return Workload(
        params, given["seq"], given["batch"], layers, hidden, given["optimizer"], given["precision"], given["recompute"]
    )


def chosen(names: str, kind: str) -> list[Generation]:
    """What ``--tpu`` or ``--gpu`` names, each once."""
    known = {name: one for name, one in load_hardware().generations.items() if one.kind == kind}
    return [_find(name, known) for name in dict.fromkeys(each.strip().lower() for each in names.split(",")) if name]


def _find(name: str, known: dict[str, Generation]) -> Generation:
    found = known.get(name.lower())
    if found is None:
        raise ConfigError(f"{name!r} is not known{nearest(name, known)}; known are {', '.join(known)}")
    return found
