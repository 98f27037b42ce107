"""Parts of a batch that a script leaves on the host for a wrapper to move, in a file that does not see the wrapper."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Certainty, Finding
from tpulint.semantic import Binding, Kind, Side
from tpulint.semantic.device_sites import devices_given
from tpulint.semantic.origins import origins
from tpulint.semantic.other_files import Definition

_TENSOR_ONLY = frozenset({"size", "shape", "dim", "ndim", "numel", "float", "data", "detach"})
_IMAGES = frozenset({"image", "images", "img", "imgs", "input", "inputs"})
_MOVED_OTHERWISE = r"DataParallel|accelerat|[Ff]abric|lightning|DeviceLoader"
_MOVES = frozenset({"to", "cuda"})
_PLAIN = frozenset({
    "torch.utils.data.DataLoader", "builtins.enumerate", "builtins.zip", "tqdm.tqdm", "tqdm.auto.tqdm",
})  # fmt: skip
_LEFT = "The model is taken to be on the device: what moved its inputs is not in this file."


def check(ctx: FileContext) -> Iterator[Finding]:
    if ctx.index.mentions(_MOVED_OTHERWISE) or not ctx.index.kinds.mentions_device:
        return  # the rule about the wrapper moves what it moved, and frameworks move it all
    for argument, sibling in _inputs_left(ctx):
        fix = ctx.fix("Move it to the XLA device", Applicability.UNSAFE, _LEFT)
        fix.append(argument, f".to({fix.device(argument)})")
        yield ctx.finding(
            argument,
            f"`{argument.id}` is left on the host, where `{sibling}` of the same batch is moved: nothing takes it to "
            "the TPU, as `DataParallel` did to the GPUs",
            fix,
            certainty=Certainty.LIKELY,
        )


def _inputs_left(ctx: FileContext) -> Iterator[tuple[ast.Name, str]]:
    """What a model is called with as it comes from a loader, and the part of the same batch that is moved.

    Whoever moves the labels and not the images has a wrapper that moves them. Whether the part is a tensor is told by
    its name or by what it is asked for.
    """
    index = ctx.index
    moved: dict[ast.AST, str] = {}
    for call, receiver in index.method_calls("cuda", "to"):
        if _goes_to_device(ctx, call):
            moved.update((part.statement, part.name) for part in _parts(ctx, receiver) if part.statement not in moved)
    if not moved:
        return
    for call in index.calls:
        given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg is not None)]
        if not given or index.kind(call.func) is not Kind.MODULE:
            continue
        others = (item for item in given if not _parts(ctx, _inside_variable(ctx, item)))
        if any(index.kind(item) is Kind.TENSOR for item in others):
            continue  # a loss or a measure, on the side where that tensor is
        if any(isinstance(origin.node, ast.Call) for origin in origins(index, call.func)):
            continue  # made here without a wrapper: the model itself moves what it is given
        if any(map(_moves_inputs, index.imported.classes_of(call.func))):
            continue
        for argument in given:
            parts = _parts(ctx, _inside_variable(ctx, argument))
            if not isinstance(argument, ast.Name) or not parts or not all(_is_tensor(ctx, part) for part in parts):
                continue
            sibling = moved.get(parts[0].statement, "")
            if not _is_dealt_plainly(ctx, parts[0]):
                continue
            if sibling and all(part.name != sibling and part.statement is parts[0].statement for part in parts):
                yield argument, sibling


def _goes_to_device(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a call moves to a device beside the CPU: ``x.cuda()``, ``x.to(device)``, no ``x.to(torch.float32)``."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "cuda":
        return True
    given = devices_given(call)
    return any(_is_device(ctx, item) for item in given)


def _is_device(ctx: FileContext, item: ast.expr) -> bool:
    """Whether something stands for another device than the CPU, as far as is known."""
    sides = ctx.index.kinds.sides
    bindings = ctx.index.flow.reaching(item) if isinstance(item, ast.Name) else ()
    values = [binding.value for binding in bindings if binding.kind == "assign" and binding.value is not None]
    if values and len(values) == len(bindings):
        return any(sides.of_move(value, 0) is not Side.HOST for value in values)
    return sides.of_move(item, 0) is Side.DEVICE


def _is_dealt_plainly(ctx: FileContext, part: Binding) -> bool:
    """Whether a batch comes from nobody knows where, or from a data loader that makes batches as all do."""
    for creation in ctx.index.moves.creations.of(part.value) if part.value is not None else ():
        call = creation.node
        if isinstance(call, ast.Call) and ctx.index.qualified_name(call.func) not in _PLAIN:
            return False
        if isinstance(call, ast.Call) and any(keyword.arg in ("collate_fn", None) for keyword in call.keywords):
            return False
    return True


def _moves_inputs(model: Definition) -> bool:
    """Whether a class of another file moves anything itself."""
    calls = (call.func for call in model.file.tree.nodes_in(model.node, ast.Call))
    return any(isinstance(func, ast.Attribute) and func.attr in _MOVES for func in calls)


def _parts(ctx: FileContext, node: ast.expr) -> tuple[Binding, ...]:
    """The places where a loop deals a variable out as a part of its batch; none when it may be something else."""
    bindings = ctx.index.flow.reaching(node) if isinstance(node, ast.Name) else ()
    dealt = all(binding.kind == "loop" and isinstance(binding.statement, ast.For) for binding in bindings)
    return bindings if dealt and all(len(binding.path) > _depth(ctx, binding) for binding in bindings) else ()


def _depth(ctx: FileContext, binding: Binding) -> int:
    """How deep a batch lies in what the loop is given: ``enumerate`` puts a number beside it."""
    name = ctx.index.qualified_name(binding.value.func) if isinstance(binding.value, ast.Call) else None
    return 1 if name in ("builtins.enumerate", "builtins.zip") else 0


def _inside_variable(ctx: FileContext, node: ast.expr) -> ast.expr:
    """``x`` of a variable that is ``Variable(x)``."""
    bindings = ctx.index.flow.reaching(node) if isinstance(node, ast.Name) else ()
    value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" and not bindings[0].path else None
    is_variable = isinstance(value, ast.Call) and ctx.index.qualified_name(value.func) == "torch.autograd.Variable"
    return value.args[0] if is_variable and isinstance(value, ast.Call) and value.args else node


def _is_tensor(ctx: FileContext, part: Binding) -> bool:
    if part.name.lower() in _IMAGES:
        return True
    uses = (use for name in _TENSOR_ONLY for use in ctx.index.tree.attributes_called(name))
    return any(
        isinstance(use.value, ast.Name) and use.value.id == part.name and part in ctx.index.flow.reaching(use.value)
        for use in uses
    )
