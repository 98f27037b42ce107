"""Tensors that a loop makes longer in every turn and reads nowhere else: joined once, behind it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability
from tpulint.semantic import Kind, LoopNode
from tpulint.semantic.syntax.nodes import is_of_self
from tpulint.semantic.syntax.variables import last_name

_JOINS = ("torch.cat", "torch.concat", "torch.concatenate")
_KEPT = "Until the end of the loop a list holds the parts, which are joined there."


def joined_behind(ctx: FileContext, loop: LoopNode, calls: list[ast.Call]) -> FixBuilder | None:
    """``parts.append(new)`` for ``x = torch.cat((x, new))``, and ``x = torch.cat((x, *parts))`` behind the loop.

    None where one of them cannot wait: each turn would be another graph as before.
    """
    if loop.orelse or not all(_may_wait(ctx, loop, call) for call in calls):
        return None
    fix = ctx.fix("Join the parts behind the loop", Applicability.UNSAFE, _KEPT)
    before, after = [], []
    for call in calls:
        statement, (own, new) = ctx.index.statement_of(call), _items(call)
        name = ctx.index.names.fresh(f"{last_name(own)}_parts", loop)
        text, start = ctx.text(call), ctx.index.span(call).start
        span = ctx.index.span(new)
        before.append(f"{name} = []")
        after.append(f"{ctx.text(own)} = {text[: span.start - start]}*{name}{text[span.end - start :]}")
        fix.replace(statement, f"{name}.append({ctx.text(new)})")
    fix.insert_before(loop, "\n".join(before))
    fix.insert_after(loop, "\n".join(after))
    return fix


def _items(call: ast.Call) -> tuple[ast.expr, ast.expr]:
    joined = call.args[0]
    assert isinstance(joined, ast.List | ast.Tuple)
    own, new = joined.elts
    return own, new


def _may_wait(ctx: FileContext, loop: LoopNode, call: ast.Call) -> bool:
    """Whether a loop looks at what it joins nowhere else, and each turn makes the part that is joined anew."""
    index, joined, statement = ctx.index, call.args[0], ctx.index.parent(call)
    if index.qualified_name(call.func) not in _JOINS or not isinstance(joined, ast.List | ast.Tuple):
        return False
    own, new = joined.elts if len(joined.elts) == 2 else (call, call)
    if not isinstance(own, ast.Name | ast.Attribute) or "\n" in ctx.text(call):
        return False
    if not all(isinstance(item, ast.Constant | ast.UnaryOp) for item in _dimensions(call)):
        return False
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if index.tree.loop_of(call) is not loop or not isinstance(target, ast.Name | ast.Attribute):
        return False
    if isinstance(own, ast.Attribute):
        if not isinstance(target, ast.Attribute) or ctx.text(target) != ctx.text(own) or not is_of_self(own):
            return False
        return not _is_looked_at(ctx, loop, own, target) and _is_made_anew(ctx, loop, new)
    found = index.names.find_name(own)
    if not isinstance(target, ast.Name) or target.id != own.id or found is None:
        return False
    for mention in index.names.mentions(own.id, found[0]):
        if mention in (own, target):
            continue
        if index.tree.encloses(loop, mention) or index.function_of(mention) is not index.function_of(loop):
            return False
    return _is_made_anew(ctx, loop, new)


def _is_looked_at(ctx: FileContext, loop: LoopNode, own: ast.Attribute, target: ast.Attribute) -> bool:
    """Whether a loop, or a function of the file that it may run, has to do with an attribute beyond what it joins."""
    index = ctx.index
    others = [each for each in index.tree.attributes_called(own.attr) if each not in (own, target)]
    if any(index.tree.encloses(loop, each) for each in others) or index.tree.nodes_in(loop, ast.Return):
        return True
    holders = {function.name for each in others if (function := index.function_of(each)) is not None}
    reached, found = {""}, _names_called(ctx, loop)
    while found - reached:
        reached |= found
        inside = (function for function in index.tree.functions if function.name in found)
        found = {name for function in inside for name in _names_called(ctx, function)}
    return not reached.isdisjoint(holders)


def _names_called(ctx: FileContext, holder: ast.AST) -> set[str]:
    """The names of what is called, ``forward`` of what may be a module."""
    calls = ctx.index.tree.nodes_in(holder, ast.Call)
    return {name for call in calls if isinstance(call, ast.Call) for name in (last_name(call.func), "forward")}


def _dimensions(call: ast.Call) -> Iterator[ast.expr]:
    yield from call.args[1:]
    yield from (keyword.value for keyword in call.keywords)


def _is_made_anew(ctx: FileContext, loop: LoopNode, part: ast.expr) -> bool:
    """Whether a part is another tensor in each turn, which nothing of the loop changes in place."""
    if isinstance(part, ast.Call):
        receiver = part.func.value if isinstance(part.func, ast.Attribute) else None
        is_of_tensor = receiver is not None and ctx.index.kind(receiver) is Kind.TENSOR
        return receiver is None or not is_of_tensor or _is_made_anew(ctx, loop, receiver)
    if not isinstance(part, ast.Name):
        return False
    bindings = ctx.index.flow.reaching(part)
    if not bindings or not all(ctx.index.tree.encloses(loop, binding.node) for binding in bindings):
        return False
    if any(binding.kind == "augment" for binding in ctx.index.names.bindings(part)):
        return False
    loads = ctx.index.names.loads_of(part)
    return not any(ctx.index.tree.encloses(loop, use) and _is_changed(ctx, use) for use in loads)


def _is_changed(ctx: FileContext, use: ast.Name) -> bool:
    """``out += 1``, ``out[0] = 1``, ``out.clamp_(0)``."""
    holder = ctx.index.parent(use)
    if isinstance(holder, ast.Attribute):
        return holder.attr.endswith("_") and isinstance(ctx.index.parent(holder), ast.Call)
    return isinstance(holder, ast.Subscript) and not isinstance(holder.ctx, ast.Load)
