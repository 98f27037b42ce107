"""Parts of a batch that go into a model as they come from a loader, where other parts of it are moved."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from tpulint.semantic import Binding, Kind, SemanticIndex
from tpulint.semantic.project.other_files import Definition
from tpulint.semantic.values.origins import origins

_TENSOR_ONLY = frozenset({"size", "shape", "dim", "ndim", "numel", "float", "data", "detach"})
_IMAGES = frozenset({"image", "images", "img", "imgs", "input", "inputs"})
_MOVED_OTHERWISE = r"DataParallel|accelerat|[Ff]abric|lightning|DeviceLoader"
_MOVES = frozenset({"to", "cuda"})
_PLAIN = frozenset({
    "torch.utils.data.DataLoader", "builtins.enumerate", "builtins.zip", "tqdm.tqdm", "tqdm.auto.tqdm",
})  # fmt: skip


def inputs_left(index: SemanticIndex, model_calls: Collection[ast.Call] = ()) -> Iterator[tuple[ast.Name, str]]:
    """What a model is called with as it comes from a loader, and the part of the same batch that is moved.

    Whoever moves the labels and not the images has a wrapper that moves them. Whether the part is a tensor is told by
    its name or by what it is asked for. Calls may be known to be those of a model.
    """
    if index.mentions(_MOVED_OTHERWISE) or not index.kinds.mentions_device:
        return  # the rule about the wrapper moves what it moved, and frameworks move it all
    moved: dict[ast.AST, str] = {}
    for call, receiver in index.method_calls("cuda", "to"):
        if index.moves.to_device(call) is not None:
            moved.update((part.statement, part.name) for part in _parts(index, receiver) if part.statement not in moved)
    if not moved:
        return
    for call in index.calls:
        given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg is not None)]
        if not given or (call not in model_calls and index.kind(call.func) is not Kind.MODULE):
            continue
        others = (item for item in given if not _parts(index, _inside_variable(index, item)))
        if any(index.kind(item) is Kind.TENSOR for item in others):
            continue  # a loss or a measure, on the side where that tensor is
        if any(isinstance(origin.node, ast.Call) for origin in origins(index, call.func)):
            continue  # made here without a wrapper: the model itself moves what it is given
        if any(map(_moves_inputs, index.imported.classes_of(call.func))):
            continue
        for argument in given:
            parts = _parts(index, _inside_variable(index, argument))
            if not isinstance(argument, ast.Name) or not parts or not all(_is_tensor(index, part) for part in parts):
                continue
            sibling = moved.get(parts[0].statement, "")
            if not _is_dealt_plainly(index, parts[0]):
                continue
            if sibling and all(part.name != sibling and part.statement is parts[0].statement for part in parts):
                yield argument, sibling


def is_as_dealt(index: SemanticIndex, argument: ast.expr) -> bool:
    """Whether what goes into a model is a batch, or a part of one, as a loop deals it out, or a ``Variable`` of it."""
    parts = _parts(index, _inside_variable(index, argument), or_whole=True)
    return bool(parts) and all(_is_dealt_plainly(index, part) for part in parts)


def is_beside_moved(index: SemanticIndex, argument: ast.expr) -> bool:
    """Whether an argument is a part of a batch as a loop deals it out, a tensor likely, and another part is moved."""
    parts = _parts(index, _inside_variable(index, argument))
    if not parts or not all(_is_tensor(index, part) or _is_dealt_plainly(index, part) for part in parts):
        return False
    return any(
        other.statement is part.statement and other.name != part.name
        for call, receiver in index.method_calls("cuda", "to")
        if index.moves.to_device(call) is not None
        for other in _parts(index, receiver)
        for part in parts
    )


def _is_dealt_plainly(index: SemanticIndex, part: Binding) -> bool:
    """Whether a batch comes from nobody knows where, or from a data loader that makes batches as all do."""
    for creation in index.moves.creations.of(part.value) if part.value is not None else ():
        call = creation.node
        if creation.path and not creation.path[-1].isdecimal():
            continue  # an attribute of what is made, `trainer.loader`
        if isinstance(call, ast.Call) and index.qualified_name(call.func) not in _PLAIN:
            return False
        if isinstance(call, ast.Call) and any(keyword.arg in ("collate_fn", None) for keyword in call.keywords):
            return False
    return True


def _moves_inputs(model: Definition) -> bool:
    """Whether a class of another file moves anything itself."""
    calls = (call.func for call in model.file.tree.nodes_in(model.node, ast.Call))
    return any(isinstance(func, ast.Attribute) and func.attr in _MOVES for func in calls)


def _parts(index: SemanticIndex, node: ast.expr, or_whole: bool = False) -> tuple[Binding, ...]:
    """The places where a loop deals a variable out as a part of its batch; none when it may be something else."""
    bindings = index.flow.reaching(node) if isinstance(node, ast.Name) else ()
    dealt = all(binding.kind == "loop" and isinstance(binding.statement, ast.For) for binding in bindings)
    return (
        bindings if dealt and all(len(binding.path) + or_whole > _depth(index, binding) for binding in bindings) else ()
    )


def _depth(index: SemanticIndex, binding: Binding) -> int:
    """How deep a batch lies in what the loop is given: ``enumerate`` puts a number beside it."""
    name = index.qualified_name(binding.value.func) if isinstance(binding.value, ast.Call) else None
    return 1 if name in ("builtins.enumerate", "builtins.zip") else 0


def _inside_variable(index: SemanticIndex, node: ast.expr) -> ast.expr:
    """``x`` of a variable that is ``Variable(x)``."""
    bindings = index.flow.reaching(node) if isinstance(node, ast.Name) else ()
    value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" and not bindings[0].path else None
    is_variable = isinstance(value, ast.Call) and index.qualified_name(value.func) == "torch.autograd.Variable"
    return value.args[0] if is_variable and isinstance(value, ast.Call) and value.args else node


def _is_tensor(index: SemanticIndex, part: Binding) -> bool:
    if part.name.lower() in _IMAGES:
        return True
    uses = (use for name in _TENSOR_ONLY for use in index.tree.attributes_called(name))
    return any(
        isinstance(use.value, ast.Name) and use.value.id == part.name and part in index.flow.reaching(use.value)
        for use in uses
    )
