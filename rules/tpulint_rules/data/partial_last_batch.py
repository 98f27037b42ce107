"""The last batch of an epoch has a shape of its own, for which the whole step is compiled once more."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint.semantic import FUNCTIONS
from tpulint.semantic.batches.derived_loaders import takes_argument
from tpulint.semantic.batches.loaders import Loader
from tpulint.semantic.project.other_files import Definition, method
from tpulint_rules.data._batch_rests import last_slice_handed_on, rest_handed_on
from tpulint_rules.data._counted_samples import count_what_is_left
from tpulint_rules.data._filled_batches import fills_batch
from tpulint_rules.data._loader_phases import chosen_for_training, may_make_others, phases_trained
from tpulint_rules.data._partial_batches import gives_others, is_given, is_left_out_by_loops, may_be_partial

_BATCH_SAMPLERS = ("torch.utils.data.BatchSampler", "torch.utils.data.sampler.BatchSampler")
_MESSAGE = (
    "the last batch of each epoch may be smaller, and the training step is compiled again for its shape; "
    "`drop_last=True` leaves up to `batch_size - 1` samples out of each epoch"
)
_MESSAGE_OF_SAMPLER = (
    "the last batch of the sampler may be smaller, and the training step is compiled again for its shape"
)
_LEFT_OUT = "Up to `batch_size - 1` samples take no part in each epoch."

_NONE_LEFT = "All samples are fewer than one batch of the default size: nothing would be left."

_BY_PARAMETER = (
    "Loops that do not train take batches from it as well: make `drop_last` a parameter of the function, "
    "hand it to the loader, and have the training pass `True`"
)

_BY_PHASE = (
    "The function may make loaders of tests as well: make `drop_last` a parameter of it, hand it to the loader, and "
    "have the training pass `True`"
)

_HAND_ON = "Hand the parameter `drop_last` of the function to the loader, and have the training pass `True`"

_HAND_DOWN = "Hand `drop_last=True` to `DataLoader` in the class of the loader"


def check(ctx: FileContext) -> Iterator[Finding]:
    told: set[ast.AST] = set()
    for loader in ctx.index.loaders.of_device:
        is_chosen = chosen_for_training(ctx.index, loader)
        phases = "True" if is_chosen else phases_trained(ctx.index, loader)
        if not loader.feeds or is_chosen is False or (loader.feeds_evaluation and phases is None):
            continue
        yield from _of_batch_samplers(ctx, loader, told, phases or "True")
        if not may_be_partial(ctx.index, loader) or is_left_out_by_loops(ctx.index, loader.loops):
            continue
        if not _is_shuffled(loader):
            advice = (
                "Without shuffling the same samples would always be left out: "
                "pad the last batch, or choose a batch size that divides the data"
            )
            yield ctx.finding(loader.call, _MESSAGE, help=advice)
            continue
        if not takes_argument(ctx.index, loader.call, "drop_last"):
            yield ctx.finding(loader.call, _MESSAGE, help=_HAND_DOWN)
            continue
        trains = phases or _shuffles(ctx, loader)
        if _takes_what_to_leave(ctx, loader.call):
            yield ctx.finding(loader.call, _MESSAGE, help=_HAND_ON)
            continue
        if not trains and gives_others(ctx.index, loader):
            yield ctx.finding(loader.call, _MESSAGE, help=_BY_PARAMETER)
            continue
        if phases is None and may_make_others(ctx.index, loader):
            yield ctx.finding(loader.call, _MESSAGE, help=_BY_PHASE)
            continue
        fix = ctx.fix("Leave out the partial batch", Applicability.UNSAFE, _LEFT_OUT)
        may_be_hidden = "drop_last" in (loader.arguments or {})
        filled = None if trains else fills_batch(ctx.index, loader)
        fix.set_argument(loader.call, "drop_last", filled or trains or "True", may_be_hidden)
        count_what_is_left(fix, ctx.index, loader, may_keep=filled is not None)
        if ctx.index.loaders.counts.fills_no_batch(loader):
            fix.lower(Applicability.DISPLAY, _NONE_LEFT)
        yield ctx.finding(loader.call, _MESSAGE, fix)


def _takes_what_to_leave(ctx: FileContext, call: ast.Call) -> bool:
    """Whether the function has a parameter for it already, which the loader is not given."""
    function = ctx.index.function_of(call)
    arguments = [] if function is None else [*function.args.args, *function.args.kwonlyargs]
    return any(argument.arg == "drop_last" for argument in arguments)


def _shuffles(ctx: FileContext, loader: Loader) -> str:
    """What decides whether a loader shuffles, by a parameter: one function may make those of training and of tests."""
    written = {*loader.call.args, *(keyword.value for keyword in loader.call.keywords)}
    given = [value for value in (loader.arguments or {}).get("shuffle", ()) if value in written]
    names = [node for value in given for node in ast.walk(value) if isinstance(node, ast.Name)]
    bindings = [binding for name in names for binding in ctx.index.flow.reaching(name)]
    is_plain = not any(isinstance(node, ast.Call) for value in given for node in ast.walk(value))
    return ctx.text(given[0]) if is_plain and any(one.kind in ("parameter", "loop") for one in bindings) else ""


def _of_batch_samplers(ctx: FileContext, loader: Loader, told: set[ast.AST], trains: str) -> Iterator[Finding]:
    """``BatchSampler(sampler, size, drop_last=False)``, which decides in place of the loader."""
    for value in (loader.arguments or {}).get("batch_sampler", ()):
        for creation in ctx.index.moves.creations.of(value):
            call = creation.node
            if not isinstance(call, ast.Call) or call in told or creation.path:
                continue
            if ctx.index.qualified_name(call.func) not in _BATCH_SAMPLERS:
                if _hands_on_rest(ctx, call):
                    told.add(call)
                    yield ctx.finding(
                        loader.call, _MESSAGE_OF_SAMPLER, related=((ctx.index.span(call), "the sampler"),)
                    )
                continue
            given = [*call.args[2:3], *(keyword.value for keyword in call.keywords if keyword.arg == "drop_last")]
            if len(given) != 1 or not (isinstance(given[0], ast.Constant) and given[0].value is False):
                continue
            told.add(call)
            fix = ctx.fix("Leave out the partial batch", Applicability.UNSAFE, _LEFT_OUT)
            fix.replace(given[0], trains)
            yield ctx.finding(call, _MESSAGE, fix)


def _hands_on_rest(ctx: FileContext, call: ast.Call) -> bool:
    """Whether an object of a class of the project goes through batches of places, the last of which is what is left."""
    index = ctx.index
    here = index.definitions.class_called(call)
    elsewhere = index.imported.called(call) if here is None else None
    owner = Definition(index, here) if here is not None else elsewhere
    found = None if owner is None or not owner.is_class else method(owner, "__iter__")
    if found is None or not isinstance(found.node, FUNCTIONS):
        return False
    handed_on = rest_handed_on(found.file, found.node) or last_slice_handed_on(found.file, found.node)
    return handed_on is not None


def _is_shuffled(loader: Loader) -> bool:
    arguments = loader.arguments or {}
    shuffle = arguments.get("shuffle", [])
    return is_given(arguments.get("sampler")) or any(
        not isinstance(v, ast.Constant) or v.value is True for v in shuffle
    )
