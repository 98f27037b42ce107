"""Generations and plans as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tpulint.planning.commands import SOURCES
from tpulint.planning.data import Prices
from tpulint.planning.generations import Generation, Hardware
from tpulint.planning.numbers import show_bytes, show_count, show_money, show_seconds
from tpulint.planning.plan import TITLE, Plan
from tpulint.planning.script_report import render_script
from tpulint.planning.slices import Candidate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.planning.compiled import CompiledPlan

_OVERVIEW = {"tensor_cores": "cores", "mxu": "MXU", "hbm": "HBM", "hbm_bandwidth": "HBM bandwidth",
             "peak_bf16": "bf16 peak", "ici": "ICI, both ways", "pod": "pod", "network": "network"}  # fmt: skip
_KINDS = ("on demand", "spot")
_MARK = " ?"
"""Behind what is not verified."""


def render_overview(generations: list[Generation]) -> Iterator[str]:
    """One line for each generation."""
    rows = [["name", *_OVERVIEW.values()]]
    for one in generations:
        shown = [one.figures.get(key) for key in _OVERVIEW]
        rows.append(
            [one.name, *("-" if each is None else each.shown + ("" if each.verified else _MARK) for each in shown)]
        )
    yield from table(rows)
    yield "\nFigures of one chip. ?: not verified on a page of the vendor, or pages contradict each other; -: no page\n"
    yield "was found to say. Sources and slices: tpulint tpus NAME\n"


def render_generation(generation: Generation, hardware: Hardware) -> Iterator[str]:
    """Everything on one generation, with sources."""
    yield f"{generation.name}: {generation.title}\n"
    if generation.note:
        yield f"{generation.note}\n"
    yield "\n"
    rows = []
    for key, figure in generation.figures.items():
        remarks = [figure.note] if figure.note else []
        if not figure.verified:
            remarks.insert(0, "not verified")
        rows.append([key.replace("_", " "), figure.shown, hardware.pages[figure.page], ": ".join(remarks)])
    yield from table(rows)
    yield "\n"
    known = [["slice", "chips", "topology", ""]]
    for one in generation.slices:
        known.append([one.type or "-", str(one.chips), one.topology or "-", "" if one.verified else "not verified"])
    yield from table(known)
    yield f"\nSlices: {hardware.pages[generation.slices_page]} (there may be more)\n"


def render_plan(plan: Plan) -> Iterator[str]:
    """A whole plan; its first line says that it is an estimate."""
    yield f"{TITLE}\n\n"
    if plan.script is not None:
        yield from render_script(plan.script)
    yield from _workload(plan)
    yield "\n"
    yield from _slices(plan)
    yield from _prices(plan)
    yield from render_commands(plan)


def _workload(plan: Plan) -> Iterator[str]:
    work = plan.workload
    shape = "" if plan.shape_given else " (assumed; give --layers or --hidden)"
    yield f"model        {show_count(work.params)} parameters, {work.layers} layers of {work.hidden}{shape}\n"
    again = ", layers recomputed in the backward pass" if work.recompute else ""
    yield f"step         {work.batch} sequences of {work.sequence}, {work.optimizer}, {work.precision}{again}\n"
    yield f"state        {show_bytes(work.state)} of parameters, gradients and optimizer\n"
    yield f"activations  {show_bytes(work.activations)} for a sequence\n"
    factor = 8 if work.recompute else 6
    yield f"arithmetic   {work.flops:.3g} FLOPs a step ({factor} x parameters x tokens)\n"


def _slices(plan: Plan) -> Iterator[str]:
    costs = [f"{part} {kind}" for part in _parts(plan) for kind in _KINDS]
    rows = [["", "strategy", "slice", "chips", "memory of a device", "step at least", "bound by", "sent by a chip",
             "epoch at least", "run at least", *costs]]  # fmt: skip
    obstacles = []
    for scaling in plan.scalings:
        rows += [_row(one, plan) for one in scaling.candidates]
        if scaling.obstacle:
            obstacles.append(f"{scaling.generation.name}, {scaling.strategy}: {scaling.obstacle}\n")
    if len(rows) > 1:
        yield from table(rows)
    yield from obstacles
    for generation in dict.fromkeys(scaling.generation.name for scaling in plan.scalings if scaling.generation.note):
        note = next(one.generation.note for one in plan.scalings if one.generation.name == generation)
        yield f"{generation}: {note}\n"


def _parts(plan: Plan) -> dict[str, int]:
    """What costs are shown for, with its steps: an epoch where it is not the whole run."""
    return {**({"epoch": plan.steps_per_epoch} if plan.epochs > 1 else {}), "run": plan.steps}


def _row(one: Candidate, plan: Plan) -> list[str]:
    step, price = one.step, plan.prices.chip_hours.get(one.generation.name)
    costs = [cost for steps in _parts(plan).values() for cost in one.cost(price, steps)]
    times = [one.seconds(steps) for steps in (1, plan.steps_per_epoch, plan.steps)]
    shown = ["-" if each is None else show_seconds(each) for each in times]
    sent = show_bytes(step.collective_bytes) if step.collective_bytes else "-"
    if step.collective_bytes and step.collective_seconds is None:
        sent += _MARK
    return [
        one.generation.name, one.strategy, one.slice.type or "-", str(one.slice.chips),
        f"{show_bytes(step.memory.total)} of {show_bytes(step.room or 0)}", shown[0], step.bound or "-", sent,
        shown[1], shown[2], *("-" if each is None else show_money(each) for each in costs),
    ]  # fmt: skip


def _prices(plan: Plan) -> Iterator[str]:
    prices = plan.prices
    names = dict.fromkeys(scaling.generation.name for scaling in plan.scalings)
    yield f"\nRun: {plan.steps} steps ({plan.epochs} x {plan.steps_per_epoch}). "
    yield from render_prices(prices, names)
    if any(one.step.collective_bytes and one.step.collective_seconds is None
           for scaling in plan.scalings for one in scaling.candidates):  # fmt: skip
        yield "?: no bandwidth between chips is known, the time of collectives is left out\n"
    yield from render_doubts(plan.unverified)


def render_prices(prices: Prices, names: Iterable[str]) -> Iterator[str]:
    """What an hour of each chip costs; where a price is not of the file's date and source, with its own."""
    yield f"Costs in {prices.currency}, prices of {prices.date} from {prices.source}\n"
    for name in names:
        price = prices.chip_hours.get(name)
        if price is None:
            yield f"  {name}: no price\n"
            continue
        rates = [f"{rate:g} {kind}" for rate, kind in ((price.on_demand, "on demand"), (price.spot, "spot")) if rate]
        where = f" in {price.region}" if price.region else ""
        own = (price.date, price.source) != (prices.date, prices.source)
        yield f"  {name}: {', '.join(rates)} an hour for a chip{where}"
        yield f", of {price.date} from {price.source}\n" if own else "\n"


def render_doubts(unverified: dict[str, tuple[str, ...]]) -> Iterator[str]:
    """Figures that no page of the vendor states without contradiction."""
    if unverified:
        listed = "; ".join(
            f"{name} {', '.join(key.replace('_', ' ') for key in keys)}" for name, keys in unverified.items()
        )
        yield f"Not verified: {listed}; why: tpulint tpus NAME\n"


def render_commands(plan: Plan | CompiledPlan) -> Iterator[str]:
    """The commands for the cheapest slice."""
    if plan.chosen is None or not plan.commands:
        return
    kind = "spot" if plan.spot else "on demand"
    yield f"\n# {plan.chosen.slice.type}, {plan.chosen.strategy}: the lowest cost {kind}. tpulint runs none of this.\n"
    for command in plan.commands:
        yield f"# {command.purpose}\n{command.line}\n"
    yield f"# described at {SOURCES[0]}\n"


def table(rows: list[list[str]]) -> Iterator[str]:
    """Rows as aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n"
