"""Parts of a batch that a script leaves on the host for a wrapper to move, in a file that does not see the wrapper."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Certainty, Finding
from tpulint_rules.device._inputs_left import inputs_left

_LEFT = "The model is taken to be on the device: what moved its inputs is not in this file."


def check(ctx: FileContext) -> Iterator[Finding]:
    for argument, sibling in inputs_left(ctx.index):
        fix = ctx.fix("Move it to the XLA device", Applicability.UNSAFE, _LEFT)
        fix.append(argument, f".to({fix.device(argument)})")
        yield ctx.finding(
            argument,
            f"`{argument.id}` is left on the host, where `{sibling}` of the same batch is moved: nothing takes it to "
            "the TPU, as `DataParallel` did to the GPUs",
            fix,
            certainty=Certainty.LIKELY,
        )
