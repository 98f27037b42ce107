"""Devices chosen by whether there is a GPU of a number: ``0 <= args.gpu < torch.cuda.device_count()``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic.syntax.variables import last_name
from tpulint_rules.distributed._own_device import is_shut_out

_NUMBER = re.compile(r"(?i)gpu|cuda|device")
_CUDA = r"[\"']cuda\b"
_REASON = "The XLA device is taken whatever the number of the GPU."


def numbers_in_reach(ctx: FileContext) -> Iterator[tuple[ast.expr, ast.Compare, FixBuilder]]:
    """Where the number of GPUs is an end, the comparison with it, and a fix that leaves it out.

    Of branches with another one, ``if args.gpu < n:``, is told elsewhere.
    """
    index = ctx.index
    if any(not launch.is_xla for launch in index.launches.launches):
        return
    if index.guards.knows_xla() and index.mentions(_CUDA):
        return  # several backends: the number is what keeps CUDA's branch apart
    sites = [site.node for site in index.devices.sites]
    placement = index.devices.features.placement
    for node in index.tree.parents:
        if not isinstance(node, ast.Compare) or node in sites or (end := _end(ctx, node)) is None:
            continue
        holder = index.parent(placement.root(node))
        if not isinstance(holder, ast.IfExp | ast.Assign) or is_shut_out(ctx, node):
            continue
        if placement.is_decided_by(node):
            yield end, node, _without_end(ctx, node)


def _end(ctx: FileContext, node: ast.Compare) -> ast.expr | None:
    """The number of GPUs that the number of one is below."""
    sides = [node.left, *node.comparators]
    if len(node.ops) == 1 and isinstance(node.ops[0], ast.Gt):
        sides.reverse()
    elif not all(isinstance(operator, ast.Lt | ast.LtE) for operator in node.ops) or type(node.ops[-1]) is not ast.Lt:
        return None
    number, end = sides[-2:]
    if not isinstance(number, ast.Name | ast.Attribute) or not _NUMBER.search(last_name(number)):
        return None
    if isinstance(number, ast.Name) and any(one.kind == "loop" for one in ctx.index.names.bindings(number)):
        return None  # each of them in turn
    counts = ctx.index.device_counts
    return end if counts.is_zero(end) and not counts.is_count(number) else None


def _without_end(ctx: FileContext, node: ast.Compare) -> FixBuilder:
    fix = ctx.fix("Do not ask for the GPU of a number", Applicability.UNSAFE, _REASON, Scope.STATEMENT)
    if len(node.ops) == 1:
        fix.fold({node: True}).write()
    elif "#" in ctx.text(node):
        fix.give_up()
    else:
        start, kept = ctx.index.tree.start(node), ctx.index.tree.end(node.comparators[-2])
        fix.replace(node, ctx.source.text[start:kept])
    return fix
