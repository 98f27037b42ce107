"""What is left behind the last step boundary, work or memory that is shared, makes another graph of the next step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder, short
from tpulint.model import Applicability, Certainty, Finding, Scope
from tpulint.semantic import FUNCTIONS, LOOPS
from tpulint.semantic.graphs.leftovers import Leftover
from tpulint.semantic.graphs.recording import copied_at_once
from tpulint.semantic.syntax.variables import root_of
from tpulint_rules.recompile._shared_copies import shared_copies

_REASON = "Where other files copy tensors of the device into each other, a boundary makes both share their memory."
_SHOWN = 5
"""Statements beside the last one that a finding points at."""
_COPIES = ("load_state_dict", "copy_")


def check(ctx: FileContext) -> Iterator[Finding]:
    for found in ctx.index.leftovers.all:
        *rest, last = found.entries
        loop = "evaluation" if found.sink in ctx.index.regions.evaluation_loops else "training loop"
        turn = "next" if found.sink is found.around else "first"
        header = short(ctx.source.line(found.sink.lineno).partition("#")[0]).rstrip(":")
        yield ctx.finding(
            last.source,
            f"`{short(last.name)}` is left to the {turn} turn of the {loop} `{header}`, which is compiled once "
            "more to compute it along",
            _fix(ctx, found),
            certainty=Certainty.LIKELY,
            related=(
                *((ctx.index.span(one.source), f"`{short(one.name)}` is left as well") for one in rest[-_SHOWN:]),
                *((ctx.index.span(one), "runs here") for one in ctx.index.regions.boundaries_in(found.sink)[:1]),
            ),
        )
    yield from shared_copies(ctx)


def _fix(ctx: FileContext, found: Leftover) -> FixBuilder | None:
    if found.place is None or _copies_before(ctx, found):
        return None
    fix = ctx.fix("Run it on its own", Applicability.UNSAFE, _REASON, Scope.STATEMENT)
    place = found.place
    for ancestor in ctx.index.tree.ancestors(found.place):
        if ancestor is found.around or isinstance(ancestor, FUNCTIONS):
            break
        if isinstance(ancestor, LOOPS) and not ctx.index.tree.encloses(ancestor, found.sink):
            place = ancestor  # once for all of its turns
    last = found.entries[-1].source
    copied = copied_at_once(last) if place is last else None
    if copied is not None and isinstance(last, ast.Assign):
        # The boundary runs it together with what its gradient would need.
        name = ctx.text(last.targets[0])
        fix.replace_tail(last.value, copied, "")
        fix.insert_after(place, f"{fix.emit.boundary(place)}\n{name} = {name}.cpu()")
        return fix
    fix.insert_after(place, fix.emit.boundary(place))
    return fix


def _copies_before(ctx: FileContext, found: Leftover) -> bool:
    """Whether a tensor of the device may have been copied into another one that waits to be run.

    A boundary behind that makes the two share their memory, which the next update in place then takes from both.
    """
    index = ctx.index
    for call, _ in index.method_calls(*_COPIES):
        same = index.function_of(call) is index.function_of(found.around)
        if same and call.lineno > (found.around.end_lineno or 0):
            continue  # runs when all rounds are over
        if not (call.args and _is_from_file(ctx, call.args[0])):
            return True
    return False


def _is_from_file(ctx: FileContext, value: ast.expr) -> bool:
    """Whether a value was read from a file, and so lies on the host."""
    root = value if isinstance(value, ast.Call) else root_of(value)
    made = [root] if isinstance(root, ast.Call) else []
    if isinstance(root, ast.Name):
        made = [item.value for item in ctx.index.names.bindings(root) if isinstance(item.value, ast.Call)]
    return bool(made) and all(ctx.index.qualified_name(call.func) == "torch.load" for call in made)
