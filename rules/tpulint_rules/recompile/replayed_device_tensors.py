"""A replay memory whose entries share tensors of the device: batches drawn from it have other inputs in every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic import SemanticIndex
from tpulint.semantic.loops.turn_code import STEP
from tpulint.semantic.project.other_files import Definition, definition_called, method, returned

_JOINING = frozenset({"torch.cat", "torch.stack", "torch.concat", "torch.vstack"})
_KEEPING = frozenset({"append", "push", "add", "store", "remember", "insert", "save"})
_SAMPLING = frozenset({"sample", "sample_batch", "get_batch", "get_sample", "draw"})
"""Methods by which a memory of another file is asked for a batch."""
_CONVERTING = frozenset({"cpu", "numpy", "from_numpy", "asarray", "array", "tolist", "np"})
_MENTIONS = ("random", ".sample")
_DRAWING = frozenset({"random.sample", "random.choices"})
_DEPTH = 12


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.exists or not index.source.has_any(_MENTIONS):
        return
    used: dict[str, tuple[ast.Call, str]] = {}
    for call in index.turn_code.nodes(ast.Call):
        found = _use(index, call)
        if found is not None and index.turn_code.turn_of(call) == STEP:
            memory, does = found
            used.setdefault(memory, (call, does))
    for call in index.tree.calls if used else ():
        kept = call.func
        if not isinstance(kept, ast.Attribute) or kept.attr not in _KEEPING or ctx.text(kept.value) not in used:
            continue
        shared = None if _is_converted(index, call) else _shared(ctx, call)
        if shared is None:
            continue
        one, next_one = shared
        use, does = used[ctx.text(kept.value)]
        shown = " ".join(ctx.text(use).split())
        yield ctx.finding(
            call,
            f"`{next_one}` on the device is kept as the `{one}` of another entry as well: what `{shown}` {does} shares "
            "tensors in another way in every step, and each way is another graph to compile",
            certainty=Certainty.LIKELY,
            related=((index.span(use), "joined here" if does == "joins" else "drawn here"),),
        )


def _use(index: SemanticIndex, call: ast.Call) -> tuple[str, str] | None:
    """A memory of whose entries a call joins parts, as text; or of another file, and asked for some of them.

    Entries on the device can only be joined, wherever that is done.
    """
    memory = None
    if call.args and index.qualified_name(call.func) in _JOINING:
        memory = _memory(index, call.args[0], 0)
        return None if memory is None else (memory, "joins")
    if isinstance(call.func, ast.Attribute) and call.func.attr in _SAMPLING:
        run = _method_run(index, call)
        memory = _memory(index, call, 0) if run is not None and run.file is not index else None
    return None if memory is None else (memory, "draws")


def _method_run(index: SemanticIndex, call: ast.Call) -> Definition | None:
    """What a call runs; of a memory that a branch may load instead, the method of the class that is made."""
    called, func = definition_called(index, call), call.func
    if called is not None or not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
        return called
    for binding in index.names.bindings(func.value):
        owner = definition_called(index, binding.value) if isinstance(binding.value, ast.Call) else None
        if owner is not None and owner.is_class and not binding.path:
            return method(owner, func.attr)
    return None


def _is_converted(index: SemanticIndex, call: ast.Call) -> bool:
    """Whether a memory keeps something else than what it is given: arrays, or tensors of the host."""
    keeper = _method_run(index, call)
    if keeper is None:
        return False
    nodes = keeper.file.tree.nodes_in(keeper.node, ast.Attribute, ast.Name)
    names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    names.update(node.id for node in nodes if isinstance(node, ast.Name))
    return not names.isdisjoint(_CONVERTING)


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


def _memory(index: SemanticIndex, node: ast.AST | None, depth: int) -> str | None:
    """What the parts of a list were drawn from at random, as text."""
    if node is None or depth > _DEPTH:
        return None
    if isinstance(node, ast.Name):
        found = [_memory(index, binding.value, depth + 1) for binding in index.flow.reaching(node)]
        return found[0] if len(found) == 1 else None
    if isinstance(node, ast.Attribute | ast.Subscript):
        return _memory(index, node.value, depth + 1)
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        return _memory(index, node.generators[0].iter, depth + 1)
    if isinstance(node, ast.Starred):
        return _memory(index, node.value, depth + 1)
    if not isinstance(node, ast.Call):
        return None
    if index.qualified_name(node.func) in _DRAWING and node.args:
        return index.text(node.args[0])
    called = _method_run(index, node) if isinstance(node.func, ast.Attribute) else None
    if called is not None and isinstance(node.func, ast.Attribute):
        made = returned(called)
        draws = made and all(_memory(called.file, value, depth + 1) for value in made)
        return index.text(node.func.value) if draws else None
    # `zip(*entries)`, `Transition(*zip(*entries))`, `list(...)`
    return _memory(index, node.args[0], depth + 1) if len(node.args) == 1 else None
