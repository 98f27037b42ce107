"""Random numbers that a generator draws for the device: on the host, as generators of XLA devices do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext, short
from tpulint.model import Applicability, Certainty, Finding
from tpulint.semantic import Side
from tpulint.semantic.values.value import is_none

_DRAWS = ("torch.rand", "torch.randn", "torch.randint", "torch.randperm", "torch.normal")
_THERE = "The numbers are the same; the tensor is a copy of what the host has drawn."


def host_draws(ctx: FileContext) -> Iterator[Finding]:
    """``torch.randn(n, generator=g, device=device)`` in a turn: the host waits for an empty tensor to fill."""
    index = ctx.index
    for call in index.calls_to(*_DRAWS):
        given = {item.arg: item for item in call.keywords}
        generator, device = given.get("generator"), given.get("device")
        turn = index.turn_code.turn_of(call)
        if generator is None or device is None or turn is None or is_none(generator.value):
            continue
        if index.value(call).side is not Side.DEVICE:
            continue
        fix = ctx.fix("Draw on the host and copy", Applicability.UNSAFE, _THERE)
        fix.delete_argument(call, device)
        fix.append(call, f".to({ctx.text(device.value)})")
        if None in given or "requires_grad" in given or "out" in given:
            fix.give_up()
        yield ctx.finding(
            call,
            f"`{short(ctx.text(call))}` is drawn on the host in every {turn}, by its generator: "
            "the graph is cut, and its tensor is transferred",
            fix,
            certainty=Certainty.CERTAIN if index.value(call).certain else Certainty.LIKELY,
            help="Draw without `device=`, and copy what was drawn: nothing waits for that",
        )
