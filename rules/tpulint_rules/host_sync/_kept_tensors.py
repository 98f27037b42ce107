"""Fixes that keep a tensor in place of the number read from it, which is read where somebody needs it."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic import Read, Step
from tpulint.semantic.reads.returned_dicts import ReturnedDict, returned_dict
from tpulint.semantic.totals.summed_lists import summed_list
from tpulint_rules.host_sync._deferred_meters import deferred
from tpulint_rules.host_sync._device_values import insert_behind_loop, keep_on_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.reads.early_displays import EarlyDisplay
    from tpulint.semantic.reads.held_values import HeldValue
    from tpulint.semantic.reads.returned_values import ReturnedValue
    from tpulint.semantic.totals.kept_dicts import KeptDict, SummedDict
    from tpulint.semantic.totals.meters import Metered
    from tpulint.semantic.totals.summed_lists import SummedList

HELD = "The arithmetic is done in float32 on the device, where it was done in float64 on the host."
_METERED = "The meter holds tensors, and sums them in the dtype they have."
_LATE = "What it is made of is read at that time, and not in other steps."


def kept_in_place(ctx: FileContext, read: Read, loop: Step) -> FixBuilder | None:
    """The tensor in place of the number, where what takes it up can do with either."""
    held = ctx.index.held_values.of(read, loop)
    if held is not None:
        return hold(ctx, held)
    kept = ctx.index.kept_dicts.of(read)
    if kept is not None:
        return _keep_in_dict(ctx, kept)
    early = ctx.index.early_displays.of(read)
    if early is not None:
        return _make_late(ctx, early)
    summed = ctx.index.kept_dicts.summed(read)
    if summed is not None:
        return _sum_in_dict(ctx, summed)
    listed = summed_list(ctx.index, read)
    if listed is not None:
        return _sum_in_list(ctx, listed)
    returned = ctx.index.returned_values.of(read, loop)
    if returned is not None:
        return return_tensor(ctx, returned)
    dealt = returned_dict(ctx.index, read, loop)
    if dealt is not None:
        return _return_dict(ctx, dealt)
    metered = ctx.index.meters.of(read)
    return deferred(ctx, read) if metered is None else give_tensor(ctx, read, metered)


def return_tensor(ctx: FileContext, returned: ReturnedValue) -> FixBuilder:
    """The tensor returned, which is read where the number is needed."""
    fix = ctx.fix("Return the tensor and read it where the number is needed", Applicability.UNSAFE, HELD, Scope.LOOP)
    for item in returned.reads:
        keep_on_device(fix, ctx.index, item)
    for number in returned.numbers:
        fix.append(number, ".item()")
    return fix


def hold(ctx: FileContext, held: HeldValue) -> FixBuilder:
    """The variable given the tensor, which is read where the variable is used."""
    reason = _METERED if held.meters else HELD
    fix = ctx.fix("Keep the tensor and read it where the number is needed", Applicability.UNSAFE, reason, Scope.LOOP)
    for item in held.reads:
        keep_on_device(fix, ctx.index, item, _without_dimensions(ctx, item) if held.meters else "")
    for use in held.uses:
        if use in held.mixed:
            fix.replace(use, f"float({use.id})")
        else:
            fix.append(use, ".item()")
    _read_meters(ctx, fix, held.reads[0], held.meters)
    return fix


def _keep_in_dict(ctx: FileContext, kept: KeptDict) -> FixBuilder:
    """The dict filled with tensors, which become numbers where it is looked at."""
    fix = ctx.fix("Keep the tensors and read them where the dict is looked at", Applicability.UNSAFE, HELD, Scope.LOOP)
    for item in kept.reads:
        keep_on_device(fix, ctx.index, item)
    for gate in kept.gates:
        _read_dict(fix, kept.name, gate)
    return fix


def _return_dict(ctx: FileContext, dealt: ReturnedDict) -> FixBuilder:
    """The dict returned with tensors in it, which become numbers where callers look at it."""
    fix = ctx.fix(
        "Return the tensors and read them where the dict is looked at", Applicability.UNSAFE, HELD, Scope.LOOP
    )
    for item in dealt.reads:
        keep_on_device(fix, ctx.index, item)
    for name, gate in dealt.gates:
        _read_dict(fix, name, gate)
    return fix


def _read_dict(fix: FixBuilder, name: str, gate: ast.If) -> None:
    fix.insert_before(gate.body[0], f"{name} = {{key: float(value) for key, value in {name}.items()}}")


def _make_late(ctx: FileContext, early: EarlyDisplay) -> FixBuilder:
    """The dict, list, text or copy made in the block that looks at it."""
    fix = ctx.fix("Put it together where it is looked at", Applicability.UNSAFE, _LATE, Scope.LOOP)
    lines: list[str] = []
    for statement in early.statements:
        first, *others = ctx.text(statement).split("\n")
        indent = fix.indent_of(statement)
        lines += [first, *(line.removeprefix(indent) for line in others)]
        fix.delete(statement)
    fix.insert_before(early.place, "\n".join(lines))
    return fix


def _sum_in_dict(ctx: FileContext, summed: SummedDict) -> FixBuilder:
    """The dict filled with sums on the device, which are read behind the loop."""
    fix = ctx.fix("Sum on the device and read behind the loop", Applicability.UNSAFE, HELD, Scope.LOOP)
    for item in summed.reads:
        keep_on_device(fix, ctx.index, item)
    scalars = ctx.index.scalars
    are_numbers = all(scalars.is_number(item) or scalars.is_scalar(item.tensor) for item in summed.reads)
    copied = "item()" if are_numbers else "cpu().numpy()[()]"  # an array of no dimensions becomes a number
    for loop, name in summed.loops:
        insert_behind_loop(fix, loop, f"{name} = {{key: value.{copied} for key, value in {name}.items()}}")
    return fix


def _sum_in_list(ctx: FileContext, listed: SummedList) -> FixBuilder:
    """The list filled with sums on the device, which are read behind the loop."""
    fix = ctx.fix("Sum on the device and read behind the loop", Applicability.UNSAFE, HELD, Scope.LOOP)
    for item in listed.reads:
        keep_on_device(fix, ctx.index, item)
    insert_behind_loop(fix, listed.loop, f"{listed.name} = [float(value) for value in {listed.name}]")
    return fix


def give_tensor(ctx: FileContext, read: Read, metered: Metered) -> FixBuilder:
    """The meter given the tensor; what is taken out of it elsewhere becomes a number there."""
    fix = ctx.fix("Give the meter the tensor", Applicability.UNSAFE, _METERED, Scope.LOOP)
    keep_on_device(fix, ctx.index, read, _without_dimensions(ctx, read))
    _read_meters(ctx, fix, read, (metered,))
    return fix


def _without_dimensions(ctx: FileContext, read: Read) -> str:
    """What makes a tensor one of no dimensions: one of one dimension cannot be formatted as a number."""
    return "" if ctx.index.scalars.is_scalar(read.tensor) else ".reshape(())"


def _read_meters(ctx: FileContext, fix: FixBuilder, read: Read, meters: tuple[Metered, ...]) -> None:
    """Take numbers out of meters that are given tensors, and not in every step."""
    for number in dict.fromkeys(number for metered in meters for number in metered.numbers):
        fix.replace(number, f"float({ctx.text(number)})")
    loop = ctx.index.step_loop_of(read.node)
    bars = list(dict.fromkeys(bar for metered in meters for bar in metered.bars))
    if bars and loop is not None:
        from tpulint_rules.host_sync._shown_less import throttle

        throttle(fix, ctx.index, loop.node, bars)
