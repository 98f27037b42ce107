"""A section of the porting report's page: what a plan says, read from the JSON of ``tpulint plan``.

Both kinds are shown, estimates and plans of a compiled step. What a plan does not say is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from tpulint.config import ConfigError
from tpulint.planning.numbers import show_bytes, show_count, show_money, show_seconds
from tpulint.report.style import printable

STYLE = """
.meter { display: block; width: 7rem; height: .5rem; border-radius: .25rem; background: var(--line); overflow: hidden; }
.meter i { display: block; height: 100%; background: var(--safe); }
.best td { background: color-mix(in srgb, var(--as-is) 14%, transparent); }
#plan .scroll { margin: .75rem 0; } #plan .memory { white-space: nowrap; }
#plan p, #plan li { overflow-wrap: anywhere; }
.steps { counter-reset: step; list-style: none; padding: 0; } .steps li { margin: .5rem 0; }
"""
"""What the section adds to the page's style sheet."""
_WORDS = {"params": "parameters", "seq": "sequence", "steps_per_epoch": "steps per epoch"}
_Row = Mapping[str, Any]


def load_plan(path: str) -> dict[str, Any]:
    """Read what ``tpulint plan --output-format json`` printed. Raises ``ConfigError``."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise ConfigError(f"{path} is no JSON: {error}") from None
    if not isinstance(data, dict) or data.get("version") != 1 or data.get("kind") not in ("estimate", "compiled"):
        raise ConfigError(f"{path} is no plan: write one with `tpulint plan --output-format json`")
    return data


def render_plan(plan: Mapping[str, Any], source: str) -> Iterator[str]:
    """The section. Raises ``ConfigError`` where the plan lacks what each plan has."""
    try:
        yield from list(_section(plan))
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise ConfigError(f"{source} is no whole plan: {type(error).__name__} {error}") from None


def _section(plan: Mapping[str, Any]) -> Iterator[str]:
    yield f'<section id="plan">\n<h2>Plan</h2>\n<p class="soft">{_text(plan["about"])}</p>\n'
    if plan["kind"] == "estimate":
        yield from _workload(plan["workload"])
        yield from _readings(plan.get("script"))
        rows = [piece for option in plan["options"] for piece in option["slices"]]
        obstacles = [
            f"{one['name']}, {one['strategy']}: {one['obstacle']}" for one in plan["options"] if one["obstacle"]
        ]
    else:
        yield from _steps(plan)
        rows = [{**one, "name": one["generation"]} for one in plan["slices"]]
        obstacles = list(plan["notes"])
    yield from _slices(rows, plan)
    if obstacles:
        yield "<ul>\n" + "".join(f"<li>{_text(one)}</li>\n" for one in obstacles) + "</ul>\n"
    yield from _commands(plan)
    yield "</section>\n"


def _workload(work: _Row) -> Iterator[str]:
    recomputed = ", layers recomputed" if work["recompute"] else ""
    yield '<div class="cards">\n'
    yield _card("parameters", show_count(work["params"]), f"{work['layers']} layers of {work['hidden']}")
    yield _card(
        "step", f"{work['batch']} x {work['sequence']}", f"{work['optimizer']}, {work['precision']}{recomputed}"
    )
    yield _card("state", show_bytes(work["state_bytes"]), "parameters, gradients, optimizer")
    run = f"{work['epochs']} x {work['steps_per_epoch']}"
    yield _card("arithmetic", f"{work['flops_per_step']:.3g}", f"FLOPs a step; {run} steps")
    yield "</div>\n"


def _readings(script: _Row | None) -> Iterator[str]:
    if not script:
        return
    yield f"<p>Read off <code>{_text(script['path'])}</code>, which was not executed:</p>\n"
    yield '<div class="scroll"><table>\n<tr><th>number</th><th class="number">value</th><th>from</th></tr>\n'
    for one in script["readings"]:
        place = one["place"]
        where = (
            f"<code>{_text(place['filename'])}:{place['row']}</code> {_text(one['about'])}"
            if place
            else _text(one["about"])
        )
        yield f'<tr><td>{_text(_WORDS.get(one["name"], one["name"]))}</td><td class="number">{_text(one["value"])}</td>'
        yield f"<td>{where}</td></tr>\n"
    yield "</table></div>\n"


def _steps(plan: Mapping[str, Any]) -> Iterator[str]:
    """One line for each compilation of the step."""
    yield f"<p><code>{_text(plan['script'])}</code>, its step compiled for each chip:</p>\n"
    yield '<div class="scroll"><table>\n<tr><th>chip</th><th>variant</th><th>memory of a device</th>'
    yield '<th class="number">step at least</th><th>bound by</th><th></th></tr>\n'
    for one in [*plan["steps"], *plan["variants"]]:
        memory = one["memory"]["total"] if one["memory"] else None
        failure = one["failure"]
        place = failure["place"] if failure else None
        told = f"{failure['kind']}: {failure['message']}" if failure else "compiles"
        if place:
            told += f" ({place['filename']}:{place['row']})"
        yield f"<tr><td>{_text(one['name'])}</td><td>{_text(_variant(one['variant']))}</td>"
        yield f'<td class="memory">{_memory(memory, one["capacity"])}</td>'
        yield f'<td class="number">{_seconds(one["step_seconds_at_least"])}</td><td>{_text(one["bound"] or "-")}</td>'
        yield f'<td class="{"error" if failure else ""}">{_text(told)}</td></tr>\n'
    yield "</table></div>\n"


def _variant(variant: _Row) -> str:
    parts = [
        name if value is True else f"{name} {value}"
        for name, value in variant.items()
        if value not in (None, False) and (name, value) != ("accumulation", 1)
    ]
    return ", ".join(parts) or "as it is"


def _slices(rows: list[_Row], plan: Mapping[str, Any]) -> Iterator[str]:
    if not rows:
        return
    prices = plan["prices"]
    yield '<div class="scroll"><table>\n<tr><th>slice</th><th>strategy</th><th class="number">chips</th>'
    yield '<th>memory of a device</th><th class="number">step at least</th><th class="number">run at least</th>'
    yield f'<th class="number">run on demand</th><th class="number">run spot, {_text(prices["currency"])}</th></tr>\n'
    chosen = _key(plan["chosen"]) if plan["chosen"] else None
    for one in rows:
        piece, memory = one["slice"], one["memory"]
        used, room = (memory["total"], memory["room"]) if isinstance(memory, dict) else (memory, None)
        steps = one.get("step_seconds_at_least", one.get("step_seconds"))
        run = one.get("run_seconds_at_least", one.get("run_seconds"))
        cost = one.get("run_cost_at_least") or {"on_demand": one.get("run_on_demand"), "spot": one.get("run_spot")}
        marked = ' class="best"' if _key(one) == chosen else ""
        yield f"<tr{marked}><td>{_text(piece['type'] or _name(one))}</td><td>{_text(one['strategy'])}</td>"
        yield f'<td class="number">{piece["chips"]}</td><td class="memory">{_memory(used, room)}</td>'
        yield f'<td class="number">{_seconds(steps)}</td><td class="number">{_seconds(run)}</td>'
        yield f'<td class="number">{_money(cost["on_demand"])}</td>'
        yield f'<td class="number">{_money(cost["spot"])}</td></tr>\n'
    yield "</table></div>\n"
    others = [
        f", of {_text(one['generation'])} of {_text(one['date'])} from {_text(one['source'])}"
        for one in prices.get("chip_hours", ())
        if (one["date"], one["source"]) != (prices["date"], prices["source"])
    ]
    yield f'<p class="soft">Prices of {_text(prices["date"])} from {_text(prices["source"])}{"".join(others)}; marked: '
    yield f"the lowest cost {'spot' if plan['spot'] else 'on demand'} of a TPU slice.</p>\n"
    doubts = [f"{name} {', '.join(keys).replace('_', ' ')}" for name, keys in plan.get("unverified", {}).items()]
    if doubts:
        yield f'<p class="soft">Figures that are not verified: {_text("; ".join(doubts))}.</p>\n'


def _commands(plan: Mapping[str, Any]) -> Iterator[str]:
    if not plan["commands"]:
        return
    yield "<details>\n<summary><span>Commands that ask for it, run the script and delete it</span></summary>\n"
    yield '<div class="finding"><ol class="steps">\n'
    for one in plan["commands"]:
        yield f"<li>{_text(one['purpose'])}<pre>{_text(one['line'])}</pre></li>\n"
    yield "</ol></div>\n</details>\n"


def _name(one: _Row) -> str:
    return str(one.get("name") or one.get("generation"))


def _key(one: _Row) -> tuple[object, ...]:
    return _name(one), one["strategy"], one["slice"]["chips"], one["slice"]["type"]


def _card(title: str, number: str, below: str) -> str:
    return f'<div class="card">{title}<b>{_text(number)}</b><span class="soft">{_text(below)}</span></div>\n'


def _memory(used: float | None, room: float | None) -> str:
    if used is None:
        return "-"
    if not room:
        return show_bytes(used)
    share = min(1.0, used / room)
    return f'{show_bytes(used)} of {show_bytes(room)}<span class="meter"><i style="width:{share:.1%}"></i></span>'


def _seconds(number: float | None) -> str:
    return "-" if number is None else show_seconds(number)


def _money(number: float | None) -> str:
    return "-" if number is None else show_money(number)


def _text(text: object) -> str:
    return escape(printable(str(text)))
