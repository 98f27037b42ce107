"""Functions that take the longest sample of each batch, and fill the others up to it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterable, Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Span
from tpulint.records import NamedTuple
from tpulint.semantic import SemanticIndex
from tpulint.semantic.batches.collating import collate_functions, collating_for_others, collating_loaders, with_called
from tpulint.semantic.loops.turn_code import STEP
from tpulint.semantic.values.origins import origins
from tpulint.semantic.values.value import is_true
from tpulint_rules.data._computed_samples import are_computed
from tpulint_rules.data._counted_padding import leave_where_counted
from tpulint_rules.data._filled_lengths import HOLDING, are_filled_lengths
from tpulint_rules.data._filled_sizes import filled_by, is_rounding
from tpulint_rules.data._handed_lengths import leave_where_handed
from tpulint_rules.data._kept_lengths import use_of_kept
from tpulint_rules.data._largest_shapes import filled_by_largest
from tpulint_rules.data._open_paddings import MULTIPLE
from tpulint_rules.data._trimmed_batches import is_largest_of_samples, trimmed_by

_FEW = 4
"""Rounded up to multiples of no more, nearly every batch still has its own length."""
_MORE = (
    f"Batches get up to {MULTIPLE - 1} more positions of padding: the same where model and loss leave padding out, "
    "else another training."
)
_FEW_SIZES = "Fill all images up to one height and width, or to one of a few, and leave the filling out by a mask"
_LONGEST = ("builtins.max", "numpy.max", "numpy.amax")
_LENGTHS = (ast.Call, ast.Subscript)
"""Expressions that may be the longest length."""
_AS_LONG = ("builtins.int", "builtins.min")
"""Cut to a length that only few samples reach, nearly every batch still has its own."""


class _Padding(NamedTuple):
    """What all samples of a batch are filled up to."""

    largest: ast.expr
    """The length of the longest sample, or the size of the largest image."""
    of_images: bool
    is_cut: bool
    """Whether the samples are longer, and cut to it."""
    use: ast.AST
    """Where it becomes the size of the batch."""
    turn: str
    source: tuple[tuple[Span, str], ...]
    """What makes the batches."""
    is_kept: bool = False
    """Whether a loop looks for the largest: this is the length of one sample."""


def check(ctx: FileContext) -> Iterator[Finding]:
    found: dict[ast.expr, _Padding] = {}
    # What trains and evaluates is the step's.
    for padding in sorted(_paddings(ctx), key=lambda padding: padding.turn != STEP):
        found.setdefault(padding.largest, padding)
    for call, padding in found.items():
        what = "training batch" if padding.turn == STEP else "evaluation batch"
        done = "cut" if padding.is_cut else "filled up"
        most, size = ("largest image", "size") if padding.of_images else ("longest sample", "length")
        yield ctx.finding(
            call,
            f"each {what} is {done} to its {most}: the step is compiled again for each {size} that occurs",
            None if padding.of_images or padding.is_cut or padding.is_kept else _fix(ctx, call, found),
            certainty=Certainty.LIKELY,
            help=_FEW_SIZES if padding.of_images else "",
            related=((ctx.index.span(padding.use), "the size of the batch"), *padding.source),
        )


def _paddings(ctx: FileContext) -> Iterator[_Padding]:
    """Longest lengths, and sizes of the largest images, that become sizes of batches."""
    index = ctx.index
    for loader, turn in collating_loaders(index):
        source = ((index.span(loader.call), "collates its batches with it"),)
        for function in collate_functions(index, loader):
            yield from _filled_in(ctx, index.tree.nodes_in(function, *_LENGTHS), turn, source)
    for function, turn in collating_for_others(index):
        for part in with_called(index, function, set()):
            yield from _filled_in(ctx, index.tree.nodes_in(part, *_LENGTHS), turn, ())
    for maker in index.batch_makers.all:
        seen: set[ast.AST] = set()
        taker = () if maker.taker is None else ((index.span(maker.taker), "the loop that takes the batches"),)
        yield from _filled_in(ctx, index.tree.nodes_in(maker.loop, *_LENGTHS), maker.turn, taker)
        for node in index.tree.nodes_in(maker.loop, ast.Call):
            called = index.definitions.function_called(node) if isinstance(node, ast.Call) else None
            for function in with_called(index, called, seen) if called is not None else ():
                yield from _filled_in(ctx, index.tree.nodes_in(function, *_LENGTHS), maker.turn, taker)
    for padding in _filled_in(ctx, index.turn_code.nodes(ast.Call), "", ()) if index.turn_code.exists else ():
        turn_of_call = index.turn_code.turn_of(padding.largest)
        if turn_of_call is not None and (padding.of_images or not are_computed(ctx, padding.largest, turn_of_call)):
            yield padding._replace(turn=turn_of_call)


def _filled_in(
    ctx: FileContext, nodes: Iterable[ast.AST], turn: str, source: tuple[tuple[Span, str], ...]
) -> Iterator[_Padding]:
    for call in nodes:
        if isinstance(call, _LENGTHS):
            is_longest = _is_longest(ctx, call)
            use = _filling(ctx, call, filled_by) if is_longest else filled_by_largest(ctx, call)
            is_kept = use is None and _is_length(ctx, call)
            kept = use_of_kept(ctx.index, call, filled_by) if is_kept else None
            if kept is not None:
                yield _Padding(call, False, False, kept, turn, source, is_kept=True)
            if use is not None:
                yield _Padding(call, not is_longest, False, use, turn, source)
            elif turn and (is_longest or is_largest_of_samples(ctx.index, call)):
                cut = _filling(ctx, call, trimmed_by)
                if cut is not None:
                    yield _Padding(call, False, True, cut, turn, source)


def _is_longest(ctx: FileContext, call: ast.expr) -> bool:
    """``max(map(len, batch))``, ``max(len(x) for x in batch)``, ``np.max(lengths)``; sorted, ``len(batch[0])``."""
    if not isinstance(call, ast.Call):
        return _is_first_of_sorted(ctx, call) or _is_end_of_sorted(ctx, call)
    if isinstance(call.func, ast.Attribute) and call.func.attr == "max" and not (call.args or call.keywords):
        return ctx.index.qualified_name(call.func) is None and _is_lengths(ctx, call.func.value)
    if ctx.index.qualified_name(call.func) == "builtins.len" and len(call.args) == 1:
        return _is_first_of_several(ctx, call.args[0])
    if ctx.index.qualified_name(call.func) not in _LONGEST or len(call.args) != 1 or call.keywords:
        return False
    return _is_lengths(ctx, call.args[0])


def _is_first_of_sorted(ctx: FileContext, node: ast.expr) -> bool:
    """``lengths[0]`` of ``lengths, order = torch.sort(torch.LongTensor([len(x) for x in batch]), descending=True)``."""
    index = ctx.index
    lengths = _first_of(node)
    bindings = () if lengths is None else index.flow.reaching(lengths)
    made = bindings[0].value if len(bindings) == 1 and bindings[0].path == (0,) else None
    if not isinstance(made, ast.Call) or not _is_sorted(ctx, made):
        return False
    return any(item.arg == "descending" and is_true(item.value) for item in made.keywords)


def _is_end_of_sorted(ctx: FileContext, node: ast.expr) -> bool:
    """``order[0][0]`` of ``order = sorted([(len(x), i) for i, x in enumerate(batch)], reverse=True)``."""
    from tpulint_rules.data._sorted_lengths import is_longest_of_sorted

    return is_longest_of_sorted(ctx.index, node, lambda part: _is_length(ctx, part))


def _is_sorted(ctx: FileContext, call: ast.Call) -> bool:
    """``torch.sort(torch.LongTensor([len(x) for x in batch]))``"""
    return ctx.index.qualified_name(call.func) == "torch.sort" and bool(call.args) and _is_lengths(ctx, call.args[0])


def _is_first_of_several(ctx: FileContext, node: ast.expr) -> bool:
    """``batch[0]`` in a function that asks every sample of the batch how long it is."""
    index = ctx.index
    batch, function = _first_of(node), index.function_of(node)
    return (
        batch is not None
        and function is not None
        and any(
            isinstance(other, ast.ListComp | ast.GeneratorExp)
            and isinstance(other.elt, ast.Call)
            and _is_length(ctx, other.elt)
            and ast.dump(other.generators[0].iter) == ast.dump(batch)
            for other in index.tree.nodes_in(function, ast.ListComp, ast.GeneratorExp)
        )
    )


def _first_of(node: ast.expr) -> ast.Name | None:
    """``batch`` of ``batch[0]``."""
    is_first = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == 0
    return node.value if isinstance(node, ast.Subscript) and is_first and isinstance(node.value, ast.Name) else None


def _is_lengths(ctx: FileContext, node: ast.expr, depth: int = 0) -> bool:
    index = ctx.index
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        return _is_length(ctx, node.elt)
    if isinstance(node, ast.Call):
        name = index.qualified_name(node.func)
        if name == "builtins.map" and node.args:
            return index.qualified_name(node.args[0]) == "builtins.len"
        return name in HOLDING and bool(node.args) and _is_lengths(ctx, node.args[0], depth)
    if isinstance(node, ast.Name) and depth < 2:
        values = [b.value for b in index.flow.reaching(node) if b.kind == "assign" and not b.path]
        return bool(values) and all(value is not None and _is_lengths(ctx, value, depth + 1) for value in values)
    return False


def _is_of_lengths(ctx: FileContext, node: ast.expr) -> bool:
    """Whether an expression gives lengths: a list or tensor of them, be it sorted or filled in a loop."""
    bindings = ctx.index.flow.reaching(node) if isinstance(node, ast.Name) else ()
    sorted_lengths = [one.value for one in bindings if one.path == (0,) and isinstance(one.value, ast.Call)]
    is_sorted = any(_is_sorted(ctx, made) for made in sorted_lengths)
    is_filled = are_filled_lengths(ctx.index, node, lambda value: _is_length(ctx, value))
    return is_sorted or is_filled or _is_lengths(ctx, node)


def _is_length(ctx: FileContext, node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and isinstance(node.right, ast.Constant):
        return _is_length(ctx, node.left)  # with a place for the end of the sentence
    if isinstance(node, ast.Call):
        if ctx.index.qualified_name(node.func) == "builtins.len":
            return True
        if ctx.index.qualified_name(node.func) == "builtins.int" and len(node.args) == 1:
            return _is_length(ctx, node.args[0])
        return isinstance(node.func, ast.Attribute) and node.func.attr == "size" and len(node.args) == 1
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape"


def _filling(
    ctx: FileContext, call: ast.expr, sized_by: Callable[[SemanticIndex, ast.AST], ast.AST | None]
) -> ast.AST | None:
    """Where the length becomes the size of a batch; None where it does not, or is rounded."""
    index = ctx.index
    parent = index.parent(call)
    if isinstance(parent, ast.Attribute) and parent.attr == "item":
        parent = index.parent(index.parent(parent) or parent)
    while isinstance(parent, ast.Call) and index.qualified_name(parent.func) in _AS_LONG:
        parent = index.parent(parent)
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1 or not isinstance(parent.targets[0], ast.Name):
        return sized_by(index, call)
    target = parent.targets[0]
    scope = index.names.scope_of(target)
    later = [one.statement for one in index.names.bindings_in(scope, target.id) if one.statement is not parent]
    if not all(_rounds_little(ctx, statement) for statement in later):
        return None  # changed later on: rounded, or cut
    uses = index.names.loads(target.id, scope)
    rounded = {item for use in uses for item in index.tree.ancestors(use) if is_rounding(item)}
    if not all(_is_to_few(ctx, item) for item in rounded):
        return None
    sized = (sized_by(index, use) or _cut(ctx, use, sized_by) for use in uses)
    return next((found for found in sized if found is not None), None)


def _cut(
    ctx: FileContext, use: ast.Name, sized_by: Callable[[SemanticIndex, ast.AST], ast.AST | None]
) -> ast.AST | None:
    """Where the length is a size that another variable has: ``size = min(longest, most)``."""
    around = ctx.index.parent(use)
    is_least = isinstance(around, ast.Call) and ctx.index.qualified_name(around.func) == "builtins.min"
    return _filling(ctx, use, sized_by) if is_least else None


def _rounds_little(ctx: FileContext, statement: ast.AST) -> bool:
    """``size += step - size % step`` where the step is one of a few: nearly as many lengths are left."""
    parts = list(ctx.index.tree.inside(statement))
    rounded = [item for item in parts if is_rounding(item)]
    is_cut = any(isinstance(item, ast.Call) for item in parts)
    return (
        isinstance(statement, ast.Assign | ast.AugAssign)
        and not is_cut
        and bool(rounded)
        and all(_is_to_few(ctx, item) for item in rounded)
    )


def _is_to_few(ctx: FileContext, rounding: ast.AST) -> bool:
    """Whether a number is rounded to a multiple of a small number, as far as is known: ``frames_per_step=1``."""
    assert isinstance(rounding, ast.BinOp)
    known = [
        origin.node.value for origin in origins(ctx.index, rounding.right) if isinstance(origin.node, ast.Constant)
    ]
    return bool(known) and all(isinstance(number, int) and number <= _FEW for number in known)


def _fix(ctx: FileContext, call: ast.expr, found: Container[ast.expr]) -> FixBuilder:
    fix = ctx.fix(f"Fill up to multiples of {MULTIPLE}", Applicability.UNSAFE, _MORE)
    rounded = f"-(-{ctx.text(call)} // {MULTIPLE}) * {MULTIPLE}"
    within = not isinstance(ctx.index.parent(call), ast.Assign | ast.Call | ast.Tuple | ast.keyword)
    fix.replace(call, f"({rounded})" if within else rounded)
    # What is sorted goes on with its lengths, in whatever of its parts.
    hands_all = _is_end_of_sorted(ctx, call)
    leave_where_handed(ctx, fix, call, lambda part: hands_all or _is_of_lengths(ctx, part))
    from tpulint_rules.data._widths_beside import leave_where_unrounded

    leave_where_unrounded(ctx, fix, call, lambda other: other not in found and _is_longest(ctx, other))
    return leave_where_counted(ctx, fix, call)
