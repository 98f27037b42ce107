"""Weights kept on the device and loaded again and again are deleted by the training that begins with them."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding, Scope

COMPUTED = "What is loaded is computed anew on the device, and has a buffer of its own."
FETCHED = "The copy goes to the host, where nothing that is trained can delete it; it is fetched tensor by tensor."


def check(ctx: FileContext) -> Iterator[Finding]:
    for kept in ctx.index.kept_states.loaded_again:
        module = ctx.text(kept.module)
        fix = ctx.fix("Keep the copy on the host", Applicability.UNSAFE, FETCHED, Scope.EXPRESSION)
        fix.replace(kept.copy, f"{{name: value.cpu().clone() for name, value in {module}.state_dict().items()}}")
        yield ctx.finding(
            kept.load,
            f"`{ctx.text(kept.load.args[0])}` is loaded once more after the model was trained: where a step boundary "
            "stands between the load and the first update, that update deletes the copy",
            fix,
            related=((ctx.index.span(kept.copy), "the copy, on the device"),),
        )
    for given in ctx.index.kept_states.given:
        state = ctx.text(given.state)
        fix = ctx.fix("Load a copy with buffers of its own", Applicability.UNSAFE, COMPUTED, Scope.EXPRESSION)
        fix.replace(given.state, f"{{name: value * 1 for name, value in {state}.items()}}")
        yield ctx.finding(
            given.load,
            f"`{state}` is loaded, trained on, and still in use where it comes from: what is loaded on the device "
            "shares its buffers, and an update deletes them",
            fix,
        )
