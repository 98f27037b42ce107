"""Generations and plans as JSON."""

from __future__ import annotations

from typing import Any

from tpulint.json_output import serialize
from tpulint.planning.commands import SOURCES
from tpulint.planning.data import Prices
from tpulint.planning.estimate import FORMULAS
from tpulint.planning.generations import Figure, Generation, Hardware, Slice
from tpulint.planning.plan import TITLE, Plan
from tpulint.planning.script_report import script_data
from tpulint.planning.slices import Candidate, Scaling


def render_generations(generations: list[Generation], hardware: Hardware) -> str:
    """Generations with every figure and its source."""
    data = {"version": 1, "generations": [_generation(one, hardware) for one in generations]}
    return serialize(data) + "\n"


def render_plan(plan: Plan) -> str:
    """A whole plan, with the formulas behind it."""
    work = plan.workload
    data = {
        "version": 1,
        "kind": "estimate",
        "compiled": False,
        "about": TITLE,
        "workload": {
            **work._asdict(), "shape_given": plan.shape_given, "tokens_per_step": work.sequence * work.batch,
            "flops_per_step": work.flops, "state_bytes": work.state, "activation_bytes_per_sequence": work.activations,
            "steps_per_epoch": plan.steps_per_epoch, "epochs": plan.epochs,
        },
        "script": script_data(plan.script) if plan.script is not None else None,
        "formulas": FORMULAS,
        "prices": prices_data(plan.prices),
        "unverified": {name: list(keys) for name, keys in plan.unverified.items()},
        "options": [_scaling(one, plan) for one in plan.scalings],
        "chosen": _candidate(plan.chosen, plan) if plan.chosen else None,
        "spot": plan.spot,
        "commands": [one._asdict() for one in plan.commands],
        "command_sources": list(SOURCES),
    }  # fmt: skip
    return serialize(data) + "\n"


def prices_data(prices: Prices) -> dict[str, Any]:
    """A price file, with the date and source of each price."""
    return {
        "file": prices.path, "date": prices.date, "currency": prices.currency, "source": prices.source,
        "note": prices.note,
        "chip_hours": [{"generation": name, **price._asdict()} for name, price in prices.chip_hours.items()],
    }  # fmt: skip


def _generation(generation: Generation, hardware: Hardware) -> dict[str, Any]:
    return {
        "name": generation.name,
        "title": generation.title,
        "kind": generation.kind,
        "note": generation.note,
        "figures": {name: _figure(figure, hardware) for name, figure in generation.figures.items()},
        "slices": [_slice(one) for one in generation.slices],
        "slices_source": hardware.pages[generation.slices_page],
    }


def _figure(figure: Figure, hardware: Hardware) -> dict[str, Any]:
    return {**figure._asdict(), "page": hardware.pages[figure.page]}


def _slice(piece: Slice) -> dict[str, Any]:
    return {**piece._asdict(), "topology": piece.topology or None, "type": piece.type or None}


def _scaling(scaling: Scaling, plan: Plan) -> dict[str, Any]:
    return {
        "name": scaling.generation.name,
        "kind": scaling.generation.kind,
        "strategy": scaling.strategy,
        "obstacle": scaling.obstacle or None,
        "slices": [_candidate(one, plan) for one in scaling.candidates],
    }


def _candidate(one: Candidate, plan: Plan) -> dict[str, Any]:
    step, price = one.step, plan.prices.chip_hours.get(one.generation.name)
    return {
        "name": one.generation.name,
        "strategy": one.strategy,
        "slice": _slice(one.slice),
        "memory": {**step.memory._asdict(), "total": step.memory.total, "room": step.room},
        "sequences_per_device": step.sequences,
        "compute_seconds": step.compute_seconds,
        "memory_seconds": step.memory_seconds,
        "collective_bytes": step.collective_bytes,
        "collective_seconds": step.collective_seconds,
        "step_seconds_at_least": step.seconds,
        "bound": step.bound,
        "epoch_seconds_at_least": one.seconds(plan.steps_per_epoch),
        "run_seconds_at_least": one.seconds(plan.steps),
        "epoch_cost_at_least": one.cost(price, plan.steps_per_epoch)._asdict(),
        "run_cost_at_least": one.cost(price, plan.steps)._asdict(),
    }
