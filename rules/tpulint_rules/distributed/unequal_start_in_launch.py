"""Launched processes whose models start with weights of their own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding
from tpulint.semantic import Kind

_XM = "torch_xla.core.xla_model"
# Whatever makes the models of all processes equal, or draws their weights from the same numbers.
_MAKES_EQUAL = (
    r"manual_seed|set_seed|seed_everything|seed_all|set_rng_state|broadcast|DistributedDataParallel|MpModelWrapper"
    r"|load_state_dict|from_pretrained|pretrained=|weights=|FullyShardedDataParallel|mark_sharding|accelerat"
)


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not any(launch.starts_processes for launch in index.launches.launches) or index.mentions(_MAKES_EQUAL):
        return
    told: set[ast.stmt] = set()
    for call in index.calls:
        launch = index.launches.launch_of(call)
        if launch is None or not launch.starts_processes or index.kind(call) is not Kind.OPTIMIZER:
            continue
        made = _made(ctx, call)
        if made is None or made[1] in told or index.launches.launch_of(made[1]) is not launch:
            continue
        told.add(made[1])
        message = "each process draws weights of its own: the copies of the model start different, and stay so"
        yield ctx.finding(made[1].value, message, _fix(ctx, *made), certainty=Certainty.LIKELY)


def _made(ctx: FileContext, optimizer: ast.Call) -> tuple[str, ast.Assign] | None:
    """The variable whose parameters an optimizer gets, and the statement that makes its model."""
    parameters = optimizer.args[0] if optimizer.args else None
    if not isinstance(parameters, ast.Call) or not isinstance(parameters.func, ast.Attribute):
        return None
    model = parameters.func.value
    if parameters.func.attr != "parameters" or not isinstance(model, ast.Name):
        return None
    bindings = ctx.index.flow.reaching(model)
    statement = bindings[0].statement if len(bindings) == 1 and not bindings[0].path else None
    if not isinstance(statement, ast.Assign) or ctx.index.kind(statement.value) is not Kind.MODULE:
        return None
    return model.id, statement


def _fix(ctx: FileContext, model: str, statement: ast.Assign) -> FixBuilder | None:
    """Behind ``model = Net().to(device)``: a model on the host cannot be sent."""
    value = statement.value
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or value.func.attr != "to":
        return None
    reason = "All processes train the model of the first one; the weights they drew are thrown away."
    fix = ctx.fix("Start from the first model", Applicability.UNSAFE, reason)
    fix.insert_after(statement, f"{fix.use(_XM, alias='xm', at=statement)}.broadcast_master_param({model})")
    return fix
