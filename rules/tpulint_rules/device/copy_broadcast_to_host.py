"""``kept.copy_(loss)``: a tensor of the host that is to be filled with one of the device that has fewer dimensions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.nodes import FUNCTIONS

_SAME = "The same tensor is fetched, and the host fills its own with it as it does for a GPU."


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    for call, filled in index.method_calls("copy_"):
        given = index.reads.fetched_by_copy(call)
        if given is None or not _has_fewer_dimensions(ctx, given, filled):
            continue
        yield ctx.finding(
            call,
            f"`{ctx.text(call)}` gives a tensor of the host the shape of one of the device, which has fewer dimensions",
            _fix(ctx, given),
            certainty=Certainty.CERTAIN if index.value(given).certain else Certainty.LIKELY,
        )


def _has_fewer_dimensions(ctx: FileContext, given: ast.expr, filled: ast.expr) -> bool:
    index = ctx.index
    own = index.dimensions.of(filled)
    if own is None or own == 0:
        return False
    others = 0 if _is_scalar(ctx, given) else index.dimensions.of(given)
    return others is not None and others < own


def _is_scalar(ctx: FileContext, given: ast.expr) -> bool:
    """Whether a tensor has no dimensions; a parameter by what all calls of the file give for it."""
    index = ctx.index
    bindings = index.flow.reaching(given) if isinstance(given, ast.Name) else ()
    values = [_values_of(ctx, binding) for binding in bindings]
    are_scalars = [bool(found) and all(map(index.scalars.is_scalar, found)) for found in values]
    return index.scalars.is_scalar(given) or (bool(values) and all(are_scalars))


def _values_of(ctx: FileContext, binding: Binding) -> list[ast.expr]:
    function = binding.statement
    if binding.kind != "parameter" or not isinstance(function, FUNCTIONS):
        return []
    return ctx.index.definitions.arguments.of(function, binding.name)


def _fix(ctx: FileContext, given: ast.expr) -> FixBuilder:
    fix = ctx.fix("Fetch it first", Applicability.SAFE, _SAME)
    fix.append(given, ".cpu()")
    return fix
