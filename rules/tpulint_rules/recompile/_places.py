"""Places of tensors that are chosen by a tensor: one graph for all of them."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Span
from tpulint.semantic import Kind
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.sizes.computed_places import indices_of
from tpulint.semantic.syntax.bindings import part_of
from tpulint.semantic.syntax.variables import last_name

LEFT_ALONE = "The chosen rows are copied: what is written into them later no longer changes the tensor."
"""Why it is not safe to choose by a tensor."""
_GIVEN_ON = "The other variable is given the value in the dtype of the tensor."
_CHOOSING = (ast.IfExp, ast.BoolOp)
_DEPTH = 3


def choose_by_tensor(ctx: FileContext, fix: FixBuilder, node: ast.Subscript, item: ast.expr, at: int = 0) -> None:
    """Write ``x[[i]] = y`` for ``x[i] = y``, and ``x[[i]][0]`` where the part is taken; ``at`` is the dimension.

    The dimension that a list keeps is what ``x[i].unsqueeze(0)`` and ``x[i][None]`` give back.
    """
    if at and is_stored(ctx, node) and not _is_one_number(ctx, node):
        # Its dimension comes first, as that of a value that has fewer is added in front.
        others = [ctx.text(other) for other in indices_of(node) if other is not item]
        rest = "" if set(others) == {":"} else "".join(f", {other}" for other in others)
        fix.replace(node, f"{ctx.text(node.value)}.movedim({at}, 0)[[{ctx.text(item)}]{rest}]")
        keep_meaning(ctx, fix, node)
        return
    fix.replace(item, f"[{ctx.text(item)}]")
    restored = _restored(ctx, node, at)
    if restored is not None and isinstance(restored, ast.Call):
        fix.replace_tail(restored, node, "")
    elif restored is not None:
        fix.replace(Span(ctx.index.span(node).end, ctx.index.span(restored).end), "")
    elif not is_stored(ctx, node):
        colons = ":, " * at
        fix.insert(ctx.index.span(node).end, f"[{colons}0]")
    keep_meaning(ctx, fix, node)


def _restored(ctx: FileContext, node: ast.Subscript, at: int) -> ast.expr | None:
    """The expression that gives a part back the dimension in which it was taken: ``x[i].unsqueeze(0)``."""
    parent = ctx.index.parent(node)
    if is_stored(ctx, node) or isinstance(ctx.index.parent(parent) if parent else None, ast.AugAssign):
        return None
    if isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.ctx, ast.Load):
        is_none = isinstance(parent.slice, ast.Constant) and parent.slice.value is None
        is_plainly_written = ctx.text(parent) == f"{ctx.text(node)}[None]"
        return parent if is_none and is_plainly_written and at == 0 else None
    call = ctx.index.parent(parent) if isinstance(parent, ast.Attribute) and parent.attr == "unsqueeze" else None
    if not isinstance(call, ast.Call) or call.func is not parent:
        return None
    given = values_given(call)
    place = given[0] if len(given) == 1 else None
    is_same = isinstance(place, ast.Constant) and type(place.value) is int and place.value == at
    return call if is_same else None


def _is_one_number(ctx: FileContext, node: ast.Subscript) -> bool:
    """Whether what is written has no dimensions, and fits anywhere."""
    statement = ctx.index.statement_of(node)
    value = statement.value if isinstance(statement, ast.Assign | ast.AugAssign) else None
    if value is None:
        return False
    return ctx.index.dimensions.of(value) == 0 or isinstance(value, ast.Constant)


def keep_meaning(ctx: FileContext, fix: FixBuilder, node: ast.Subscript) -> None:
    """What a place that is a tensor does not do by itself: it is no view, and what is written needs the dtype."""
    statement = ctx.index.statement_of(node)
    if not is_stored(ctx, node):
        if _is_written_through(ctx, node):
            fix.give_up()
    elif isinstance(statement, ast.Assign):
        _cast(ctx, fix, node, statement)
    elif not isinstance(statement, ast.AugAssign):
        fix.give_up()


def _cast(ctx: FileContext, fix: FixBuilder, node: ast.Subscript, statement: ast.Assign) -> None:
    """Give the value the dtype of the tensor: ``x[i] = y`` does so by itself, ``x[[i]] = y`` raises for another."""
    value, found, base = statement.value, ctx.index.value(statement.value), ctx.text(node.value)
    if node not in statement.targets:
        fix.give_up()  # one of several values
        return
    if found.kind is Kind.HOST:
        return
    if len(statement.targets) > 1:
        fix.lower(Applicability.UNSAFE, _GIVEN_ON)
        if found.kind is not Kind.TENSOR:
            fix.give_up()
    if found.kind is Kind.TENSOR and found.certain and not _may_choose(ctx, value):
        fix.append(value, f".to({base}.dtype)")
    else:  # now and then it may be a number
        made = f"{fix.use('torch', at=node)}.as_tensor"
        fix.replace(value, f"{made}({ctx.text(value)}, dtype={base}.dtype, device={base}.device)")


def _may_choose(ctx: FileContext, node: ast.AST) -> bool:
    """Whether an expression gives one of several values: ``x if x else 0``, ``max(x, 0)``.

    What a function of torch is given is no matter, ``torch.tensor([max(x, 0) for x in rewards])``: it gives a tensor.
    """
    called = (ctx.index.qualified_name(node.func) or "") if isinstance(node, ast.Call) else ""
    if isinstance(node, _CHOOSING) or called.startswith("builtins."):
        return True
    return not called.startswith("torch.") and any(_may_choose(ctx, part) for part in ast.iter_child_nodes(node))


def is_stored(ctx: FileContext, node: ast.Subscript) -> bool:
    """Whether the part is written, not taken."""
    return not isinstance(node.ctx, ast.Load)


def _is_written_through(ctx: FileContext, node: ast.expr, depth: int = 0) -> bool:
    """Whether something is written into a part that was taken: ``x[i].fill_(0)``, ``row = x[i]; row[0] = 1``."""
    child: ast.AST = node
    while (parent := ctx.index.parent(child)) is not None:
        if isinstance(parent, ast.Attribute):
            if parent.attr.endswith("_"):
                return True
        elif isinstance(parent, ast.Subscript) and parent.value is child:
            if not isinstance(parent.ctx, ast.Load):
                return True
        elif not (isinstance(parent, ast.Call) and parent.func is child):
            break
        child = parent
    if isinstance(parent, ast.keyword):
        return parent.arg == "out"
    if isinstance(parent, ast.Call):
        return last_name(parent.func).endswith("_")
    if isinstance(parent, ast.AugAssign):
        return parent.target is child
    path: tuple[int, ...] = ()
    if isinstance(parent, ast.Tuple) and isinstance(child, ast.expr):
        path, parent = (parent.elts.index(child),), ctx.index.parent(parent)
    if isinstance(parent, ast.Assign | ast.NamedExpr):
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        return any(_is_changed(ctx, part_of(target, path), depth) for target in targets)
    return False


def _is_changed(ctx: FileContext, target: ast.expr | None, depth: int) -> bool:
    """Whether the variable that keeps a part is changed in place, while it keeps it."""
    if not isinstance(target, ast.Name) or depth > _DEPTH:
        return not isinstance(target, ast.Subscript)  # kept in an object, nobody knows; copied into another tensor
    index = ctx.index
    return any(
        (isinstance(use.ctx, ast.Load) or isinstance(index.parent(use), ast.AugAssign))
        and any(binding.node is target for binding in index.flow.reaching(use))
        and _is_written_through(ctx, use, depth + 1)
        for use in index.names.mentions(target.id, index.names.scope_of(target))
    )


def is_plain(node: ast.expr) -> bool:
    """Whether an expression may be written twice: ``x``, ``self.x``, ``x[i]``."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Name | ast.Constant):
            return False
        node = node.value
    return isinstance(node, ast.Name)
