"""A tensor that is made in every step of one text, example or game, as long as that; a batch as long as draws say."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic.loops.turn_code import STEP
from tpulint_rules.recompile._cut_examples import cut_to_its_length

_OF_A_LIST = frozenset({"torch.tensor", "torch.as_tensor", "torch.LongTensor"})
_OF_SIZES = frozenset(f"torch.{name}" for name in ("zeros", "ones", "empty", "rand", "randn", "arange"))
_OF_MOVES = _OF_A_LIST | {f"torch.{name}" for name in ("FloatTensor", "Tensor", "from_numpy", "stack", "cat")}
_SAME_LENGTH = frozenset({"to", "cuda", "view", "unsqueeze", "long", "float"})
_GOING_THROUGH = frozenset({"builtins.enumerate", "tqdm.tqdm"})
_CALLERS = 3
_REPEATING = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp, ast.Lambda)


_DRAWN = "Fill each batch up to the longest that can be drawn, and leave the filling out of the loss (`ignore_index`)"


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if index.outside or index.kinds.mentions_device:
        yield from _drawn(ctx)
    if not index.turn_code.exists or not index.kinds.mentions_device:
        return
    told: set[tuple[ast.AST, ast.AST]] = set()
    cut_in = set[ast.AST | None]()
    for call in index.calls_to(*_OF_A_LIST):
        length = cut_to_its_length(index, call.args[0]) if call.args else None
        turn = index.turn_code.turn_of(call) if length is not None and _is_made_once(ctx, call, 0) else None
        loop = index.tree.loop_of(call)
        if length is not None and turn is not None and loop not in cut_in:
            cut_in.add(loop)  # masks and labels of the example are as long
            yield _as_long(ctx, call, f"the example of each {turn}", length, "the example is cut here")
    for call in index.calls_to(*_OF_A_LIST, *_OF_SIZES):
        text = _text(ctx, call)
        turn = _turn_that_takes(ctx, call) if text is not None else None
        if text is not None and turn is not None:
            yield _as_long(ctx, call, f"the text of each {turn}", text, "the text is split here")
    for call in index.turn_code.nodes(ast.Call):
        game = _game(ctx, call)
        if game is None:
            continue
        holder = index.function_of(call) or game
        if (holder, game) not in told:
            told.add((holder, game))  # what else it makes of the moves is as long
            yield ctx.finding(
                call,
                f"`{ctx.text(call)}` has an item for each move of a game, and each game has another number of them: "
                "each is another graph to compile",
                certainty=Certainty.LIKELY,
                related=((index.span(game), "the game is played here"),),
            )


def _as_long(ctx: FileContext, call: ast.Call, whole: str, origin: ast.expr, says: str) -> Finding:
    return ctx.finding(
        call,
        f"`{ctx.text(call)}` is as long as {whole}: each length that occurs is another graph to compile",
        certainty=Certainty.LIKELY,
        related=((ctx.index.span(origin), says),),
    )


def _drawn(ctx: FileContext) -> Iterator[Finding]:
    """Batches of a generator that are as long as it draws."""
    index = ctx.index
    for maker in index.batch_makers.all:
        from tpulint.semantic.sizes.drawn_lengths import filled_by_draws

        added = filled_by_draws(index, maker) if maker.turn == STEP else None
        if added is not None and maker.function is not None:
            taker = () if maker.taker is None else ((index.span(maker.taker), "the loop that takes the batches"),)
            yield ctx.finding(
                added,
                f"each batch that `{maker.function.name}` makes has another length, as drawn numbers say: each length "
                "that occurs is another graph to compile",
                certainty=Certainty.LIKELY,
                help=_DRAWN,
                related=taker,
            )


def _text(ctx: FileContext, call: ast.Call) -> ast.Call | None:
    """Where the text is split that a tensor has an element for each word of."""
    name = ctx.index.qualified_name(call.func)
    if name in _OF_A_LIST and call.args:
        made = call.args[0]
        if isinstance(made, ast.List) and len(made.elts) == 1:  # a batch of one
            made = made.elts[0]
        return ctx.index.words.numbered(made)
    sizes = ctx.index.graph_numbers.sizes(call) if name in _OF_SIZES else ()
    for size in sizes:
        if isinstance(size, ast.Call) and ctx.index.qualified_name(size.func) == "builtins.len" and size.args:
            return ctx.index.words.of(size.args[0])
    return None


def _turn_that_takes(ctx: FileContext, call: ast.Call) -> str | None:
    """The turn that makes a tensor, or takes it out of a list that was made before."""
    turn = ctx.index.turn_code.turn_of(call)
    if turn is not None:
        return turn if _is_made_once(ctx, call, 0) else None
    return next((found for name in _lists_of(ctx, call, 0) if (found := _turn_that_draws(ctx, name))), None)


def _lists_of(ctx: FileContext, node: ast.AST, depth: int) -> Iterator[ast.Name]:
    """Variables with lists that a value becomes an item of, or a part of one: ``pairs = [(f(x), f(y)) for ...]``."""
    index, child = ctx.index, node
    for ancestor in index.tree.ancestors(node):
        if isinstance(ancestor, ast.ListComp):
            statement = index.parent(ancestor)
            if child is ancestor.elt and isinstance(statement, ast.Assign) and statement.value is ancestor:
                yield from (target for target in statement.targets if isinstance(target, ast.Name))
            return
        if isinstance(ancestor, ast.Return) and depth < _CALLERS:
            function = index.function_of(ancestor)
            for call in [] if function is None else index.definitions.calls_of(function):
                yield from _lists_of(ctx, call, depth + 1)
            return
        is_moved = isinstance(ancestor, ast.Call) and child is ancestor.func
        is_method = isinstance(ancestor, ast.Attribute) and ancestor.attr in _SAME_LENGTH
        if not (is_moved or is_method or isinstance(ancestor, ast.Tuple)):
            return
        child = ancestor


def _turn_that_draws(ctx: FileContext, name: ast.Name) -> str | None:
    """The turn that takes one item of a list: by a place, or as the loop goes through it."""
    index = ctx.index
    for use in index.names.loads(name.id, index.names.scope_of(name)):
        parent: ast.AST | None = index.parent(use)
        if isinstance(parent, ast.Subscript) and not isinstance(parent.slice, ast.Slice):
            turn = index.turn_code.turn_of(parent)
            if turn is not None and index.turn_code.loop_within(parent) is None:
                return turn
        while isinstance(parent, ast.Call) and index.qualified_name(parent.func) in _GOING_THROUGH:
            parent = index.parent(parent)
        if isinstance(parent, ast.For) and parent in index.turn_code.loops:
            return index.turn_code.loops[parent]
    return None


def _game(ctx: FileContext, call: ast.Call) -> ast.AST | None:
    """The loop that plays the game whose moves a training step makes a tensor of when it is over."""
    index = ctx.index
    if not call.args or index.qualified_name(call.func) not in _OF_MOVES or not index.episodes.loops:
        return None
    game = index.episodes.of(call.args[0])
    if game is None or index.turn_code.turn_of(call) != STEP or index.turn_code.turn_made_in(game) == STEP:
        return None
    is_over = index.turn_code.turn_of(game) == STEP and not index.episodes.runs_in(call, game)
    return game if is_over and _is_made_once(ctx, call, 0) else None


def _is_made_once(ctx: FileContext, node: ast.Call, depth: int) -> bool:
    """Whether a turn makes one of them, not one for each sample of a batch that is filled up afterwards."""
    index = ctx.index
    if index.turn_code.loop_within(node) is not None:
        return False
    for ancestor in index.tree.ancestors(node):
        if isinstance(ancestor, _REPEATING):
            return False
        if isinstance(ancestor, ast.stmt):
            break
    function = index.function_of(node)
    if function is None or index.tree.loop_of(node) is not None:
        return True
    calls = [call for call in index.definitions.calls_of(function) if index.turn_code.turn_of(call) is not None]
    return bool(calls) and depth < _CALLERS and all(_is_made_once(ctx, call, depth + 1) for call in calls)
