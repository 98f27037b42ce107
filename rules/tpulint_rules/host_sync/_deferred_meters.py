"""Meters that get the numbers of the device when they are looked at."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic import Read
from tpulint.semantic.totals.deferrable_meters import DeferrableMeter, deferrable_meter
from tpulint_rules.host_sync._device_values import keep_on_device

_DEFERRED = "The meter gets its numbers when it is looked at, all that have come until then, in one transfer."


def deferred(ctx: FileContext, read: Read) -> FixBuilder | None:
    """The tensor given to a meter that reads it when it is looked at; all calls of the meter do so."""
    argument = ctx.index.meters.argument_of(read.node)
    holder = None if argument is None else ctx.index.parent(argument)
    call = ctx.index.parent(holder) if isinstance(holder, ast.keyword) else holder
    meter = deferrable_meter(ctx.index, call, as_numbers=True) if isinstance(call, ast.Call) else None
    if meter is None or read not in meter.reads:
        return None
    fix = ctx.fix("Give the meter the number when it is looked at", Applicability.UNSAFE, _DEFERRED, Scope.LOOP)
    for item in meter.reads:
        keep_on_device(fix, ctx.index, item)
    defer_updates(ctx, fix, meter, as_numbers=True)
    return fix


def defer_updates(ctx: FileContext, fix: FixBuilder, meter: DeferrableMeter, as_numbers: bool = False) -> None:
    """Wherever the meter is made, have its calls wait."""
    options = [] if meter.methods == ("update",) else [f'"{name}"' for name in meter.methods]
    options += ["numbers=True"] if as_numbers else []
    for call in meter.creations:
        span = ctx.index.span(call)
        fix.insert(span.start, f"{fix.use('tpulint_runtime', at=call)}.defer_updates(")
        fix.insert(span.end, "".join(f", {option}" for option in options) + ")")
