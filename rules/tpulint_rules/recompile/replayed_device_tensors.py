"""A replay memory whose entries share tensors of the device: batches drawn from it have other inputs in every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic.turn_code import STEP

_JOINING = frozenset({"torch.cat", "torch.stack", "torch.concat", "torch.vstack"})
_KEEPING = frozenset({"append", "push", "add", "store", "remember", "insert", "save"})
_DRAWING = frozenset({"random.sample", "random.choices"})
_DEPTH = 12


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.exists or "random" not in index.source.text:
        return
    joined: dict[str, ast.Call] = {}
    for call in index.turn_code.nodes(ast.Call):
        if index.qualified_name(call.func) in _JOINING and call.args and index.turn_code.turn_of(call) == STEP:
            memory = _memory(ctx, call.args[0], 0)
            if memory is not None:
                joined.setdefault(memory, call)
    for call in index.tree.calls if joined else ():
        kept = call.func
        if not isinstance(kept, ast.Attribute) or kept.attr not in _KEEPING or ctx.text(kept.value) not in joined:
            continue
        shared = _shared(ctx, call)
        if shared is None:
            continue
        one, next_one = shared
        use = joined[ctx.text(kept.value)]
        joins = " ".join(ctx.text(use).split())
        yield ctx.finding(
            call,
            f"`{next_one}` on the device is kept as the `{one}` of another entry as well: what `{joins}` joins shares "
            "tensors in another way in every step, and each way is another graph to compile",
            certainty=Certainty.LIKELY,
            related=((index.span(use), "joined here"),),
        )


def _shared(ctx: FileContext, call: ast.Call) -> tuple[str, str] | None:
    """Two tensors of the device in one entry, the second of which becomes the first: ``state = next_state``."""
    given = [part for item in call.args for part in (item.elts if isinstance(item, ast.Tuple | ast.List) else [item])]
    given += [part for item in given if isinstance(item, ast.Call) for part in item.args]
    names = [item for item in given if isinstance(item, ast.Name) and ctx.index.is_device_tensor(item)]
    texts = {name.id for name in names}
    for name in names:
        for binding in ctx.index.names.bindings(name):
            value = binding.value if not binding.path else None
            if isinstance(value, ast.Name) and value.id in texts - {name.id}:
                return name.id, value.id
    return None


def _memory(ctx: FileContext, node: ast.AST | None, depth: int) -> str | None:
    """What the parts of a list were drawn from at random, as text."""
    index = ctx.index
    if node is None or depth > _DEPTH:
        return None
    if isinstance(node, ast.Name):
        found = [_memory(ctx, binding.value, depth + 1) for binding in index.flow.reaching(node)]
        return found[0] if len(found) == 1 else None
    if isinstance(node, ast.Attribute):
        return _memory(ctx, node.value, depth + 1)
    if isinstance(node, ast.ListComp):
        return _memory(ctx, node.generators[0].iter, depth + 1)
    if isinstance(node, ast.Starred):
        return _memory(ctx, node.value, depth + 1)
    if not isinstance(node, ast.Call):
        return None
    if index.qualified_name(node.func) in _DRAWING and node.args:
        return ctx.text(node.args[0])
    function = index.definitions.function_called(node)
    if function is not None and isinstance(node.func, ast.Attribute):
        returned = index.definitions.returned_by(function)
        draws = returned and all(_memory(ctx, value, depth + 1) for value in returned)
        return ctx.text(node.func.value) if draws else None
    # `zip(*entries)`, `Transition(*zip(*entries))`, `list(...)`
    return _memory(ctx, node.args[0], depth + 1) if len(node.args) == 1 else None
