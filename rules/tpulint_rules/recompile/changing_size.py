"""A Python number that another turn has another value of, as a size, a place or a shift on the device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding
from tpulint.semantic import Kind
from tpulint.semantic.sizes.computed_places import computed_shift

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.sizes.changing_lengths import ChangingLength

_SAME = "The same whole numbers, in the same order."
_MOVES = frozenset({"to", "cuda"})
_MAKE_OF = frozenset({"torch.tensor", "torch.as_tensor"})
_CHOSEN = r"not None\s*[\])]"
"""Behind a list of those samples that are there."""
_SAMPLES = "let a tensor of zeros stand where there is none, and leave out what is computed of it: torch.where"
_FREE = (ast.Assign, ast.AnnAssign, ast.Return, ast.Call, ast.keyword, ast.Tuple, ast.List)
"""What an expression may stand in without parentheses of its own."""


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if index.mentions(r"\brandom\b", "random") and index.mentions(r"interpolate\(|[Rr]esize\(", "("):
        from tpulint_rules.recompile._drawn_images import drawn_images

        yield from drawn_images(ctx)
    if not index.turn_code.exists:
        return
    told: set[ast.expr] = set()
    for call in index.turn_code.nodes(ast.Call):
        sizes = index.graph_numbers.sizes(call) if index.is_device_tensor(call) else ()
        cause = next((found for size in sizes if (found := index.changing_numbers.cause(size)) is not None), None)
        read = computed_shift(index, call) if cause is None and sizes else None
        if read is not None and (turn := index.turn_code.turn_of(call)) is not None:
            yield _computed(ctx, call, read, turn)
            continue
        given = _moved(ctx, call) if cause is None else None
        length = None if given is None else index.changing_lengths.of(given)
        if cause is None and length is None:
            length = _of_samples_kept(ctx, call)
        turn = None if cause is None and length is None else index.turn_code.turn_of(call)
        if turn is None:
            continue
        if cause is not None:
            yield ctx.finding(
                call,
                f"`{ctx.text(call)}` has a size or place from Python's `{ctx.text(cause)}`, which changes in every "
                f"{turn}: each value is another graph to compile",
                _fix(ctx, call),
                certainty=Certainty.CERTAIN if index.value(call).certain else Certainty.LIKELY,
                related=((index.span(cause), "changes here"),),
            )
        elif length is not None and length.made not in told:
            told.add(length.made)  # moved in several places, it is still one
            yield ctx.finding(
                length.made,
                f"`{ctx.text(length.made)}` {_changes(ctx, length, turn)}: each length that comes to the device is "
                "another graph to compile",
                certainty=Certainty.LIKELY,
                help=_SAMPLES if isinstance(length.cause, ast.Compare) else "",
                related=((index.span(length.cause), "changes here"), (index.span(call), "comes to the device here")),
            )


def _changes(ctx: FileContext, length: ChangingLength, turn: str) -> str:
    if isinstance(length.cause, ast.stmt):
        return f"is longer in every {turn}, by `{ctx.text(length.cause)}`"
    if isinstance(length.cause, ast.arg):
        return f"is given in another length in every {turn}"
    return f"is as long as `{ctx.text(length.cause)}` says, which changes in every {turn}"


def _of_samples_kept(ctx: FileContext, call: ast.Call) -> ChangingLength | None:
    """What a module is given: ``net(torch.cat([s for s in batch.next_state if s is not None]))``."""
    if not ctx.index.mentions(_CHOSEN, "not None") or ctx.index.kind(call.func) is not Kind.MODULE:
        return None
    found = (ctx.index.changing_lengths.of(given) for given in call.args)
    return next((one for one in found if one is not None and isinstance(one.cause, ast.Compare)), None)


def _computed(ctx: FileContext, call: ast.Call, read: ast.expr, turn: str) -> Finding:
    return ctx.finding(
        call,
        f"`{ctx.text(call)}` is shifted by `{ctx.text(read)}`, which every {turn} computes anew and reads: each "
        "value is another graph to compile",
        certainty=Certainty.LIKELY,
        help="gather by a tensor: `places = (torch.arange(size, device=x.device) - shift) % size`, `x[..., places]`",
        related=((ctx.index.span(read), "read here"),),
    )


def _moved(ctx: FileContext, call: ast.Call) -> ast.expr | None:
    """What a call copies from the host to the device."""
    index = ctx.index
    if isinstance(call.func, ast.Attribute) and call.func.attr in _MOVES:
        given = call.func.value
    elif index.qualified_name(call.func) in _MAKE_OF and len(call.args) == 1:
        given = call.args[0]
    else:
        return None
    return given if index.is_device_tensor(call) and not index.is_device_tensor(given) else None


def _fix(ctx: FileContext, call: ast.Call) -> FixBuilder | None:
    """``torch.arange(n) + at`` for ``torch.arange(at, at + n)``: the place becomes an input of the graph."""
    index = ctx.index
    if index.qualified_name(call.func) != "torch.arange" or len(call.args) != 2:
        return None
    if any(k.arg not in ("device", "dtype") for k in call.keywords):
        return None
    kind = next((index.qualified_name(k.value) for k in call.keywords if k.arg == "dtype"), "torch.long")
    start, end = call.args
    if kind not in ("torch.long", "torch.int64", "torch.int32", "torch.int") or _may_be_fraction(start):
        return None
    if not isinstance(end, ast.BinOp) or not isinstance(end.op, ast.Add):
        return None
    sides = [(end.left, end.right), (end.right, end.left)]
    length = next((other for side, other in sides if ast.dump(side) == ast.dump(start)), None)
    if length is None or index.changing_numbers.cause(length) is not None:
        return None
    certain = index.value(call).certain
    fix = ctx.fix(
        "Add the place to what counts from zero", Applicability.SAFE if certain else Applicability.UNSAFE, _SAME
    )
    text = index.text(call)
    begin = index.tree.start(call)
    rest = text[index.tree.end(end) - begin :]
    new = f"{text[: index.tree.start(start) - begin]}{ctx.text(length)}{rest} + {fix.text(start)}"
    fix.replace(call, new if isinstance(index.parent(call), _FREE) else f"({new})")
    return fix


def _may_be_fraction(node: ast.expr) -> bool:
    """Whether an expression holds what makes whole numbers fractions."""
    return any(
        isinstance(part, ast.Div) or (isinstance(part, ast.Constant) and isinstance(part.value, float))
        for part in ast.walk(node)
    )
