"""Variables that hold nothing but an answer that is now known: ``cuda = torch.cuda.is_available()``."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from tpulint.context import FileContext
from tpulint.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.context import FixBuilder


class Flag(NamedTuple):
    """A variable that is given one value, which is known."""

    statement: ast.Assign
    value: bool
    loads: tuple[ast.expr, ...]


def spent_flags(
    ctx: FileContext,
    fix: FixBuilder,
    known: Mapping[ast.expr, bool],
    kept: Collection[ast.expr],
    replaced: Collection[ast.expr] = (),
) -> list[Flag]:
    """Flags that nothing asks once conditions are folded: they go, with ``if cuda:`` around what then always runs.

    A flag goes whole or stays as it is; those in ``kept`` are conditions that stay open, and where it is ``replaced``
    something else is asked.
    """
    folding = fix.fold(known)
    flags: list[Flag] = []
    for statement in dict.fromkeys(map(ctx.index.statement_of, known)):
        if isinstance(statement, ast.Assign) and (value := folding.value(statement.value)) is not None:
            flags.extend(_flag(ctx, statement, value, replaced))
    flags = [flag for flag in flags if not any(load in kept for load in flag.loads)]
    while flags:
        folding = fix.fold({**known, **{load: flag.value for flag in flags for load in flag.loads}})
        spent = [flag for flag in flags if all(map(folding.drops, flag.loads))]
        if len(spent) == len(flags):
            break
        flags = spent
    return flags


def _flag(ctx: FileContext, statement: ast.Assign, value: bool, replaced: Collection[ast.expr]) -> Iterator[Flag]:
    """The flag that a statement gives its one value, where no other file or person is told of it."""
    names = ctx.index.names
    target = statement.targets[0]
    if len(statement.targets) > 1 or not isinstance(target, ast.Name) or _is_explained(ctx, statement):
        return
    if any(ctx.index.names.calls_reading_any_variable()):
        return
    scope = names.scope_of(statement)
    found = names.find_name(target)
    if found is None or found[0] is not scope or isinstance(scope.node, ast.ClassDef):
        return
    if scope is names.module and not ctx.index.is_program:
        return
    loads = names.loads(target.id, scope)
    if len(names.mentions(target.id, scope)) == len(loads) + 1 and loads and target.id not in ctx.source.other_words:
        yield Flag(statement, value, tuple(load for load in loads if load not in replaced))


def _is_explained(ctx: FileContext, statement: ast.stmt) -> bool:
    """Whether a comment speaks of a statement: on its line, or on the line above it."""
    source, row = ctx.source, ctx.source.row(ctx.index.span(statement).start)
    return "#" in ctx.source.line(row) or (row > 1 and source.line(row - 1).lstrip().startswith("#"))
