"""Several transfers behind the step boundary where one would do."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope
from tpulint.semantic import SemanticIndex, StepLoop
from tpulint.semantic.batched_reads import ReadGroup
from tpulint_rules.host_sync._device_values import short, torch_text

REASON = "The numbers are stacked as one dtype, and a tensor that was printed whole is printed as a number."


def check(ctx: FileContext) -> Iterator[Finding]:
    """Every read of a turn, where there are at least two behind the boundary."""
    index = ctx.index
    for loop in (*index.step_loops, *index.regions.evaluation_loops):
        group = index.batched_reads.of(loop)
        if group is None:
            continue
        fix = ctx.fix("Fetch the values together", Applicability.UNSAFE, REASON, Scope.EXPRESSION)
        fetch_together(fix, index, group)
        where = "step" if isinstance(loop, StepLoop) else "evaluation batch"
        for read in group.reads:
            yield ctx.finding(
                read.node,
                f"`{short(ctx.text(read.tensor))}` is one of {len(group.reads)} values "
                f"fetched one by one in every {where}",
                fix,
                certainty=Certainty.CERTAIN if read.certain else Certainty.LIKELY,
            )


def fetch_together(fix: FixBuilder, index: SemanticIndex, group: ReadGroup) -> None:
    """One transfer right behind the boundary; of several tensors, stacked in front of it, so that it costs no graph."""
    values: dict[str, str] = {}
    for tensor in group.tensors:
        name = index.names.fresh(f"{_identifier(tensor)}_value", tensor)
        while name in values.values():
            name += "_"
        values[ast.dump(tensor)] = name
    if len(group.tensors) == 1:
        fix.insert_after(group.boundary, f"{values[ast.dump(group.tensors[0])]} = {fix.text(group.tensors[0])}.item()")
    else:
        stack = index.names.fresh("step_values", group.boundary)
        items = ", ".join(
            fix.text(tensor) + ("" if index.scalars.is_scalar(tensor) else ".reshape(())") for tensor in group.tensors
        )
        torch = torch_text(fix, index, group.boundary)
        fix.insert_before(group.boundary, f"{stack} = {torch}.stack(({items})).detach()")
        fix.insert_after(group.boundary, f"{', '.join(values.values())} = {stack}.tolist()")
    for read in group.reads:
        name = values[ast.dump(read.tensor)]
        fix.replace(
            read.node, f"int({name})" if index.scalars.is_integer(read.tensor) and len(group.tensors) > 1 else name
        )


def _identifier(node: ast.expr) -> str:
    while not isinstance(node, ast.Name | ast.Attribute):
        inner = next((child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)), None)
        if inner is None:
            return "step"
        node = inner
    return node.id if isinstance(node, ast.Name) else node.attr
