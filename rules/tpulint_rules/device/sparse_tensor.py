"""Sparse tensors: an XLA device has none."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Fix, Scope, Severity, Span
from tpulint.semantic.batches.collating import handed_on
from tpulint.semantic.cuda.torch_versions import is_for_older_torch
from tpulint.semantic.values.value import is_true
from tpulint_rules.device._sparse_ways import (
    follow,
    is_sample,
    makes_sparse,
    needs_sparse,
    parts_of,
    takes_tensors,
    way_of,
)

_DENSE = "The matrix then takes memory for every element, and products with it take the time of dense ones."
_DENSE_MOVES = "All its elements are copied to the device."
_GRADIENT = "The whole table gets a gradient, and the optimizer updates all of it in every step."
_ON_GPU = "torch.cuda.sparse"
_DEVICES = ("cuda", "device", "torch_xla", "xla", "Accelerator", "Trainer")
"""What a project says somewhere that puts anything on a device."""
_EMBEDDINGS = ("torch.nn.Embedding", "torch.nn.EmbeddingBag")
_SPARSE_ADAM = "torch.optim.SparseAdam"


def check(ctx: FileContext) -> Iterator[Finding]:
    makers = [call for call in ctx.index.calls if makes_sparse(ctx, call)]
    is_needed = needs_sparse(ctx, makers)
    moved = _moved_elsewhere(ctx, makers)
    too_early = list(_moved_too_early(ctx))
    for call in makers:
        if all(call is not sparse for sparse, _, _ in too_early):
            yield from _made(ctx, call, is_needed, moved)
    for sparse, move, dense in too_early:
        yield _dense_too_late(ctx, sparse, move, dense)
    for name in ("Float", "Double", "Half", "Long", "Int"):
        for call in ctx.index.calls_to(f"{_ON_GPU}.{name}Tensor"):
            message = f"`{_short(ctx.text(call.func))}` makes a sparse tensor on a GPU, which a TPU machine lacks"
            yield ctx.finding(call, message)
    yield from _gradients(ctx)


def _moved_too_early(ctx: FileContext) -> Iterator[tuple[ast.expr, ast.Call, ast.Call]]:
    """What is moved, the move, and what makes it dense, of ``batch.to(device).to_dense()``.

    Only what is sparse is made dense.
    """
    for call, move in ctx.index.method_calls("to_dense"):
        if not isinstance(move, ast.Call) or not isinstance(move.func, ast.Attribute) or move.func.attr != "to":
            continue
        if ctx.index.moves.to_device(move) is not None and not call.args and not call.keywords:
            yield move.func.value, move, call


def _dense_too_late(ctx: FileContext, sparse: ast.expr, move: ast.Call, dense: ast.Call) -> Finding:
    text = ctx.text(sparse)
    fix = ctx.fix("Make it dense, then move it", Applicability.UNSAFE, _DENSE_MOVES)
    fix.replace(dense, f"{text}.to_dense(){ctx.text(move).removeprefix(text)}")
    return ctx.finding(
        move, f"`{_short(text)}` is sparse, and cannot be moved to an XLA device: NotImplementedError", fix
    )


def _made(
    ctx: FileContext, call: ast.Call, is_needed: bool, moved: dict[ast.Call, ast.Call | None]
) -> Iterator[Finding]:
    way = way_of(ctx, call)
    if way is None or is_for_older_torch(ctx.index.tree, call):
        return
    if not way.on_device and not way.moves and moved:
        # what a function gives back is ordered, and then moved, elsewhere in the file
        way = way._replace(moves=tuple(move for move in moved.values() if move is not None))
        if not way.moves:
            return
    what = f"`{_short(ctx.text(call.func))}` makes a sparse tensor"
    if way.on_device:
        message = f"{what} of tensors on the device, and an XLA device has none: NotImplementedError"
        fix = None if is_needed else _filled(ctx, call)
        if way.is_certain:
            yield ctx.finding(call, message, fix)
        else:
            yield ctx.finding(call, message, fix, severity=Severity.WARNING, certainty=Certainty.LIKELY)
        return
    fix = None if is_needed else ctx.fix("Use a dense tensor", Applicability.UNSAFE, _DENSE)
    if not way.moves:
        if _stays_on_host(ctx) or (is_sample(ctx, call) and _is_batch_made_dense(ctx)):
            return
        message = f"{what}; whoever gets it cannot move it to an XLA device: NotImplementedError"
        if fix is not None:
            _make_dense(ctx, fix, call)
        yield ctx.finding(call, message, fix, severity=Severity.WARNING, certainty=Certainty.LIKELY)
        return
    message = f"{what}, which cannot be moved to an XLA device: NotImplementedError"
    if fix is not None:
        for move in way.moves:
            assert isinstance(move.func, ast.Attribute)
            if move.func.value is call:
                _make_dense(ctx, fix, call)
            else:
                fix.append(move.func.value, ".to_dense()")
    related = tuple((ctx.index.span(move), "it is moved here") for move in way.moves)
    yield ctx.finding(call, message, fix, related=related)


def _stays_on_host(ctx: FileContext) -> bool:
    """Whether a program, or a file that others import, stands in a project none of whose files names a device."""
    index = ctx.index
    if index.kinds.mentions_device or not (index.is_program or index.imported.has_importers):
        return False
    files = [index.imported.mentioning(word) for word in _DEVICES]
    return index.is_program if None in files else not any(files)


def _is_batch_made_dense(ctx: FileContext) -> bool:
    """Whether a collate function makes what it has stacked dense, on the host."""
    calls = handed_on(ctx.index) if ctx.index.source.has_any(("to_dense",)) else ()
    return any(isinstance(call.func, ast.Attribute) and call.func.attr == "to_dense" for call, _ in calls)


def _filled(ctx: FileContext, call: ast.Call) -> FixBuilder | None:
    """A dense tensor that the elements are added to, where they are: their gradient goes on through it."""
    fix = ctx.fix("Fill a dense tensor", Applicability.UNSAFE, _DENSE)
    if isinstance(call.func, ast.Attribute) and ctx.index.qualified_name(call.func) is None:
        _make_dense(ctx, fix, call)
        return fix
    parts = parts_of(ctx, call)
    if parts is None or not takes_tensors(ctx, call) or not isinstance(parts[1], ast.Name | ast.Attribute):
        return None
    places, values, size = fix.text(parts[0]), fix.text(parts[1]), ctx.text(parts[2])
    holder = ctx.index.parent(call)
    ordering = ctx.index.parent(holder) if isinstance(holder, ast.Attribute) and holder.attr == "coalesce" else None
    filled = f"index_put(tuple({places}.to({values}.device)), {values}, accumulate=True)"
    fix.replace(call if ordering is None else ordering, f"{values}.new_zeros({size}).{filled}")
    return fix


def _moved_elsewhere(ctx: FileContext, makers: list[ast.Call]) -> dict[ast.Call, ast.Call | None]:
    """Calls of ``coalesce`` on what the file makes, with the moves they end in, or None in front of ``to_dense``."""
    ends = {follow(ctx, call)[0] for call in makers}
    found: dict[ast.Call, ast.Call | None] = {}
    for call, _ in ctx.index.method_calls("coalesce") if makers else ():
        move, whole = follow(ctx, call)
        dense = ctx.index.parent(call)
        if move is not None and move not in ends:
            found[call] = move
        elif whole is None and isinstance(dense, ast.Attribute) and dense.attr == "to_dense":
            found[call] = None
    return found


def _make_dense(ctx: FileContext, fix: FixBuilder, call: ast.Call) -> None:
    """``x.to_sparse()`` becomes ``x.to_dense()``, which leaves a dense x as it is; what else makes one is unfolded."""
    func = call.func
    if isinstance(func, ast.Attribute) and func.attr.startswith("to_sparse"):
        end = ctx.index.span(func).end
        fix.replace(Span(end - len(func.attr), ctx.index.span(call).end), "to_dense()")
    else:
        fix.append(call, ".to_dense()")


# -------------------------------------------------------------------- gradients


def _gradients(ctx: FileContext) -> Iterator[Finding]:
    """Embeddings with sparse gradients, and the optimizer that takes no others."""
    found: list[tuple[ast.AST, str]] = []
    fix = ctx.fix("Use dense gradients", Applicability.UNSAFE, _GRADIENT, Scope.MODULE)
    for call in ctx.index.calls_to(*_EMBEDDINGS, _SPARSE_ADAM):
        if not ctx.index.moves.concerns(call):
            continue
        if ctx.index.qualified_name(call.func) == _SPARSE_ADAM:
            span = ctx.index.span(call.func)
            fix.replace(Span(span.end - len("SparseAdam"), span.end), "Adam")
            if not ctx.text(call.func).endswith(".SparseAdam"):
                fix.give_up()
            found.append((call.func, "`SparseAdam` needs sparse gradients"))
            continue
        for keyword in call.keywords:
            if keyword.arg == "sparse" and is_true(keyword.value):
                fix.delete_argument(call, keyword)
                found.append((keyword, "`sparse=True` gives the table a sparse gradient"))
    built: Fix | None = fix.build()
    for where, what in found:
        yield ctx.finding(where, f"{what}, and an XLA device has none: NotImplementedError in `backward`", built)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 50 else "..." + line[-47:]
