"""A compiled plan as JSON. The format is documented in docs/planning.md, and only ever grows."""

from __future__ import annotations

from typing import Any

from tpulint.json_output import serialize
from tpulint.planning.commands import SOURCES
from tpulint.planning.compiled import BatchSearch, CompiledPlan, CompileFailure, Program, Scaled, StepOnChip
from tpulint.planning.compiled_text import TITLE
from tpulint.planning.estimate import unverified
from tpulint.planning.generations import Generation
from tpulint.planning.graph_analysis import analyse
from tpulint.planning.graph_report import as_data
from tpulint.planning.json_report import prices_data
from tpulint.planning.scaling import ABOUT


def render(plan: CompiledPlan) -> str:
    """A whole plan."""
    data = {
        "version": 1,
        "kind": "compiled",
        "compiled": True,
        "about": TITLE,
        "script": plan.script,
        "arguments": list(plan.arguments),
        "versions": plan.versions,
        "steps": [_step(one) for one in plan.steps],
        "variants": [_step(one) for one in plan.variants],
        "batch_searches": [_search(one) for one in plan.searches],
        "slices_about": ABOUT,
        "slices": [_scaled(one) for one in plan.scaled],
        "chosen": _scaled(plan.chosen) if plan.chosen else None,
        "steps_per_epoch": plan.steps_per_epoch,
        "epochs": plan.epochs,
        "spot": plan.spot,
        "prices": prices_data(plan.prices),
        "unverified": {name: list(keys) for name, keys in unverified(plan.generations).items()},
        "commands": [one._asdict() for one in plan.commands],
        "command_sources": list(SOURCES),
        "notes": list(plan.notes),
    }  # fmt: skip
    return serialize(data) + "\n"


def _step(step: StepOnChip) -> dict[str, Any]:
    memory, line = step.memory, step.roofline
    return {
        "name": step.generation.name,
        "variant": step.capture.variant._asdict(),
        "arguments": list(step.capture.arguments),
        "compiles": step.fits,
        "failure": _failure(step.failure) if step.failure else None,
        "capacity": step.capacity,
        "memory": {**memory._asdict(), "total": memory.total, "without_donation": memory.undonated} if memory else None,
        "state_bytes": step.state,
        "input_bytes": step.inputs,
        "parameters": step.capture.params,
        "flops": step.flops,
        "bytes_accessed": step.bytes_accessed,
        "flops_per_byte": step.intensity,
        "compute_seconds": line.compute_seconds,
        "memory_seconds": line.memory_seconds,
        "step_seconds_at_least": line.seconds,
        "bound": line.bound or None,
        "programs": [_program(one, step.generation) for one in step.capture.programs],
        "compilations": [
            {
                "program": one.program, "topology": one.topology,
                "memory": one.memory._asdict() if one.memory else None,
                "flops": one.flops, "bytes_accessed": one.bytes_accessed, "seconds": one.seconds,
                "cached": one.is_cached,
                "as_printed": one.as_printed,
                "failure": _failure(one.failure) if one.failure else None,
            }
            for one in step.compilations
        ],
    }  # fmt: skip


def _program(program: Program, generation: Generation) -> dict[str, Any]:
    roles = [one.role for one in program.arguments]
    return {
        "digest": program.digest,
        "runs": program.runs,
        "place": program.place.data if program.place else None,
        "arguments": {role: roles.count(role) for role in dict.fromkeys(roles)},
        "outputs": len(program.outputs),
        "graph": as_data(analyse(program.text, generation)),
    }


def _failure(failure: CompileFailure) -> dict[str, Any]:
    return {
        **failure._asdict(),
        "place": failure.place.data if failure.place else None,
        "operator": failure.operator or None,
    }


def _search(search: BatchSearch) -> dict[str, Any]:
    return {**search._asdict(), "probes": [_step(one) for one in search.probes]}


def _scaled(one: Scaled) -> dict[str, Any]:
    piece = one.slice
    return {
        **one._asdict(),
        "generation": one.generation.name,
        "kind": one.generation.kind,
        "slice": {**piece._asdict(), "topology": piece.topology or None, "type": piece.type or None},
    }
