"""A number drawn on the device and read in every turn of a loop that has no boundary: each turn is another graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope
from tpulint.semantic import FunctionNode, Kind, LoopNode, Read
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.loops.turn_code import STEP
from tpulint_rules.recompile._places import choose_by_tensor, is_plain

_DRAWS = frozenset(
    f"torch.{name}" for name in ("multinomial", "normal", "bernoulli", "rand_like", "randn_like", "randint_like")
)
_SAMPLES = ("sample", "rsample")
_REASON = "A step boundary changes when the recorded work runs, not what it computes."


def check(ctx: FileContext) -> Iterator[Finding]:
    """Loops that play a game, generate or sample, and train nothing in their own turns."""
    index = ctx.index
    if not index.kinds.mentions_device:
        return
    draws = [call for call in (*index.calls_to(*_DRAWS), *_samples(ctx)) if _is_on_device(ctx, call)]
    if not draws:
        return
    for loop in index.tree.loops:
        events = index.regions.events.of(loop)
        trains = events.backwards or events.updates or events.manual_updates
        if trains or events.boundaries or index.turn_code.turn_made_in(loop) is not None:
            continue
        if _is_within_step(ctx, loop):
            continue
        found = next(_drawn_and_read(ctx, loop, draws), None)
        if found is not None:
            draw, read = found
            yield ctx.finding(
                draw,
                f"`{ctx.text(draw)}` goes on from the random numbers of the turns before, and each turn of the loop "
                "reads it: without a step boundary each is another graph to compile",
                _fix(ctx, loop, read),
                certainty=Certainty.LIKELY,
                related=((index.span(read.node), "it is read here"),),
            )


def _is_within_step(ctx: FileContext, loop: LoopNode) -> bool:
    """Whether a loop stands in the forward pass of a step: a boundary there would write all activations out.

    Measured with a loop of 8 draws: 33 executions with one in each turn, 17 without, and as many compilations.
    """
    index, function = ctx.index, ctx.index.function_of(loop)
    owner = index.tree.class_of(function) if function is not None else None
    is_forward = function is not None and function.name == "forward" and owner is not None
    return is_forward and index.turn_code.turn_of(loop) == STEP


def _samples(ctx: FileContext) -> Iterator[ast.Call]:
    """Calls that ask a distribution for a sample."""
    for call, receiver in ctx.index.method_calls(*_SAMPLES):
        if ctx.index.distributions.classes_of(receiver):
            yield call


def _is_on_device(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a number is drawn there: what it is drawn by lies on the device."""
    index = ctx.index
    made: list[ast.expr | None] = [call]
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
        made = [binding.value for binding in index.flow.reaching(call.func.value)]
    elif isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call):
        made = [call.func.value]
    given = (item for value in made if isinstance(value, ast.Call) for item in values_given(value))
    return any(map(index.is_device_tensor, given)) or index.is_device_tensor(call)


def _drawn_and_read(ctx: FileContext, loop: LoopNode, draws: list[ast.Call]) -> Iterator[tuple[ast.Call, Read]]:
    """Draws of each turn whose value the turn reads: in the loop, or in functions that it calls."""
    index = ctx.index
    functions = _functions_of_turn(ctx, loop)
    drawn = [draw for draw in draws if index.function_of(draw) in functions or index.tree.loop_of(draw) is loop]
    for holder in (loop, *functions) if drawn else ():
        for read in index.reads.inside(holder):
            around = index.tree.loop_of(read.node)
            if around is not (loop if holder is loop else None) or index.regions.gate_of(read.node) is not None:
                continue
            for value in _values_of(ctx, read.tensor):
                asked = index.regions.events.functions_of(value) if isinstance(value, ast.Call) else []
                for draw in drawn:
                    if index.tree.encloses(value, draw) or index.function_of(draw) in asked:
                        yield draw, read


def _functions_of_turn(ctx: FileContext, loop: LoopNode) -> list[FunctionNode]:
    """Functions that every turn calls."""
    index = ctx.index
    calls = [node for node in index.tree.nodes_in(loop, ast.Call, functions=False) if isinstance(node, ast.Call)]
    always = [call for call in calls if index.tree.loop_of(call) is loop and index.regions.gate_of(call) is None]
    return list(dict.fromkeys(function for call in always for function in index.regions.events.functions_of(call)))


def _values_of(ctx: FileContext, tensor: ast.expr) -> Iterator[ast.expr]:
    """What is read, as it is written: itself, or what its variable was given."""
    yield tensor
    for node in (tensor, *ctx.index.tree.inside(tensor)):
        for binding in ctx.index.flow.reaching(node) if isinstance(node, ast.Name) else ():
            if binding.kind == "assign" and binding.value is not None:
                yield binding.value


def _skips(ctx: FileContext, loop: LoopNode, statement: ast.stmt) -> bool:
    """Whether a statement may go on with the next turn."""
    found = ctx.index.tree.nodes_in(statement, ast.Continue, functions=False)
    return isinstance(statement, ast.Continue) or any(ctx.index.tree.loop_of(node) is loop for node in found)


def _fix(ctx: FileContext, loop: LoopNode, read: Read) -> FixBuilder | None:
    """A boundary beside what reads. As a place in a tensor, the number of the turn would be another graph each time."""
    index = ctx.index
    places = _places(ctx, loop)
    holder = next((item for item in loop.body if index.tree.encloses(item, read.node)), None)
    if holder is None:
        asked = index.function_of(read.node)
        calls = index.definitions.calls_of(asked) if asked is not None else []
        holder = next((item for item in loop.body for call in calls if index.tree.encloses(item, call)), None)
    if places is None or holder is None or isinstance(holder, ast.Return):
        return None
    if any(_skips(ctx, loop, item) for item in loop.body[: loop.body.index(holder) + 1]):
        return None  # turns that go on early would not come to it
    fix = ctx.fix("Run each turn on its own", Applicability.UNSAFE, _REASON, Scope.STATEMENT)
    if _is_drawn_before(ctx, holder):
        fix.insert_before(holder, fix.emit.boundary(holder))  # what the turn keeps beside it runs with it
    else:
        fix.insert_after(holder, fix.emit.boundary(holder))
    for place in places:
        choose_by_tensor(ctx, fix, place, place.slice)
    return fix


def _is_drawn_before(ctx: FileContext, holder: ast.stmt) -> bool:
    """Whether a statement only reads what others in front of it have computed: ``env.step(action.item())``."""
    index = ctx.index
    names = [_name_read(read) for read in index.reads.inside(holder)]
    if not names or index.regions.runs_module(holder):
        return False
    return all(
        name is not None
        and bool(bindings := index.flow.reaching(name))
        and not any(index.tree.encloses(holder, binding.node) for binding in bindings)
        for name in names
    )


def _name_read(read: Read) -> ast.Name | None:
    """The variable that a read fetches as it is, or a row of."""
    tensor = read.tensor
    while isinstance(tensor, ast.Subscript | ast.Attribute):
        tensor = tensor.value
    return tensor if isinstance(tensor, ast.Name) else None


def _places(ctx: FileContext, loop: LoopNode) -> list[ast.Subscript] | None:
    """Where tensors are written or taken at the number of the turn; None where that cannot be written by a tensor."""
    index, found = ctx.index, []
    counted = ast.walk(loop.target) if isinstance(loop, ast.For | ast.AsyncFor) else ()
    counter = {node.id for node in counted if isinstance(node, ast.Name)}
    for place in index.tree.nodes_in(loop, ast.Subscript, functions=False):
        named = [node for node in ast.walk(place.slice) if isinstance(node, ast.Name) and node.id in counter]
        if not isinstance(place, ast.Subscript) or not named or index.kind(place.value) is Kind.HOST:
            continue
        if place.slice is not named[0] or not is_plain(place.value) or not index.is_device_tensor(place.value):
            return None
        found.append(place)
    return found
