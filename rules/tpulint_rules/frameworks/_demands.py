"""Whether a script goes on where an import fails, and what in it demands the library."""

from __future__ import annotations

import ast
import re
from collections.abc import Set

from tpulint.context import FileContext
from tpulint.semantic.values.value import is_none

_IS_THERE = re.compile(r"avail|version|install|has_|find_spec|modules", re.IGNORECASE)
"""In a condition: it asks whether a library is there."""


def is_demand(node: ast.Try) -> bool:
    """Whether a ``try`` around an import ends the script where the import fails."""
    last = [handler.body[-1] for handler in node.handlers]
    return bool(last) and not node.orelse and not node.finalbody and all(isinstance(item, ast.Raise) for item in last)


def is_missed(ctx: FileContext, node: ast.Import | ast.ImportFrom) -> bool:
    """Whether a module goes on where an import fails, ``except ImportError: amp = None``, and uses fail later.

    Nothing asks whether the name is None but what ends the script then. A function does so in a program alone: that of
    a library may be for those who have it.
    """
    index, holder = ctx.index, ctx.index.parent(node)
    if not isinstance(holder, ast.Try) or holder.finalbody:
        return False
    if not isinstance(index.parent(holder), ast.Module) and (not index.is_program or _is_under_answer(ctx, node)):
        return False
    rest = [statement for handler in holder.handlers for statement in handler.body]
    if holder.orelse or not rest or not all(sets_none(one) or _only_tells(one) for one in rest):
        return False
    uses = [use for use in _uses(ctx, node) if not index.tree.encloses(holder, use)]  # what fails there is passed over
    if any(map(sets_none, rest)):
        return any(demand_around(ctx, use) is None for use in uses) and not any(_is_asked(ctx, use) for use in uses)
    # Without any value a name cannot be asked for: where it is used, the program ends.
    stores = index.tree.nodes_in(holder, ast.Name, functions=False)
    told = {item.id for item in stores if isinstance(item.ctx, ast.Store)}
    return bool(uses) and not any(
        _is_under_answer(ctx, use, told) or _is_passed_over(ctx, use) or len(index.names.bindings(use)) > 1
        for use in uses
    )


def is_used_always(ctx: FileContext, node: ast.Import | ast.ImportFrom) -> bool:
    """Whether a class or function of the file needs what is imported whatever its options say."""
    ancestors = ([*ctx.index.tree.ancestors(use)] for use in _uses(ctx, node))
    return any(not any(isinstance(one, ast.If | ast.IfExp | ast.Try) for one in around) for around in ancestors)


def _uses(ctx: FileContext, node: ast.Import | ast.ImportFrom) -> list[ast.Name]:
    names = ctx.index.names
    bound = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    return [use for name in bound for use in names.loads(name, names.scope_of(node))]


def sets_none(statement: ast.AST) -> bool:
    """``amp = None``"""
    return isinstance(statement, ast.Assign) and is_none(statement.value)


def _only_tells(statement: ast.stmt) -> bool:
    """``pass``, ``print("no apex")``"""
    is_call = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    return is_call or isinstance(statement, ast.Pass)


def _is_asked(ctx: FileContext, use: ast.expr) -> bool:
    """Whether code goes on without a library: ``if amp is not None``, ``if has_apex``."""
    if demand_around(ctx, use) is not None:
        return False
    parent = ctx.index.parent(use)
    if not isinstance(parent, ast.Attribute | ast.Call | ast.keyword):
        return True
    return _is_under_answer(ctx, use)


def _is_under_answer(ctx: FileContext, node: ast.AST, told: Set[str] = frozenset()) -> bool:
    """Whether a condition around a node asks what is installed, or for a flag that says so."""
    tests = [one.test for one in ctx.index.tree.ancestors(node) if isinstance(one, ast.If | ast.IfExp)]
    names = (one.id for test in tests for one in ast.walk(test) if isinstance(one, ast.Name))
    return any(_IS_THERE.search(ctx.text(test)) for test in tests) or not told.isdisjoint(names)


def _is_passed_over(ctx: FileContext, node: ast.expr) -> bool:
    """Whether what fails where a name is used is caught."""
    return any(isinstance(one, ast.Try) and one.handlers for one in ctx.index.tree.ancestors(node))


def demand_around(ctx: FileContext, use: ast.expr) -> ast.stmt | None:
    """``assert amp is not None``, ``if amp is None: raise ...``"""
    statement = ctx.index.statement_of(use)
    test = statement.test if isinstance(statement, ast.Assert | ast.If) else None
    if test is None or not isinstance(ctx.index.parent(use), ast.Compare | ast.UnaryOp | ast.Assert):
        return None
    if not ctx.index.tree.encloses(test, use) or isinstance(test, ast.BoolOp):
        return None
    if isinstance(statement, ast.If):
        ends = isinstance(statement.body[-1], ast.Raise) and not statement.orelse
        return statement if ends else None
    return statement
