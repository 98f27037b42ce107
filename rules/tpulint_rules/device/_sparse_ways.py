"""Where sparse tensors are made, and where they go."""

from __future__ import annotations

import ast

from tpulint.context import FileContext
from tpulint.records import NamedTuple
from tpulint.semantic.values.value import Kind, Side

_MAKERS = frozenset({
    "torch.sparse_coo_tensor", "torch.sparse_csr_tensor", "torch.sparse_csc_tensor", "torch.sparse.FloatTensor",
    "torch.sparse.DoubleTensor", "torch.sparse.HalfTensor", "torch.sparse.LongTensor", "torch.sparse.IntTensor",
})  # fmt: skip
_COMPRESSED = ("csr_tensor", "csc_tensor")
"""Ends of the names of those that take two tensors of places in front of the elements."""
_OF_TENSORS = "torch.sparse."
"""How the names of those begin that take tensors alone."""
_PARTS = ("indices", "values", "size")
_CONVERSIONS = ("to_sparse", "to_sparse_coo", "to_sparse_csr", "to_sparse_csc")
_STAYS_SPARSE = frozenset({
    "coalesce", "float", "double", "half", "long", "type", "t", "transpose", "detach", "clone", "requires_grad_",
})  # fmt: skip
_NEEDS_SPARSE = ("_indices", "_values", "_nnz", "indices", "coalesce", "is_coalesced")
"""Methods that a dense tensor does not have."""
_SAMPLE = "__getitem__"
"""The method that gives the samples of a dataset."""
_RESIZING = ("resize_", "resize_as_", "sparse_resize_", "sparse_resize_and_clear_")
"""Methods that widen a sparse tensor by zeros, and a dense one by what lies in memory."""
_SAID_OF_SPARSE = ("_indices", "_values", "_nnz", "coalesce", "is_coalesced")
"""Those of them that no other object has."""
_NEEDS_SPARSE_FUNCTIONS = (
    "torch.sparse.sum", "torch.sparse.softmax", "torch.sparse.log_softmax", "torch.sparse.sampled_addmm", "torch.hspmm",
)  # fmt: skip


class Way(NamedTuple):
    """Where one sparse tensor goes."""

    moves: tuple[ast.Call, ...] = ()
    """Calls that put it on the device."""
    on_device: bool = False
    """Whether it is made of tensors that are on the device already; else others get it."""
    is_certain: bool = True
    """Whether these are known to be there; where a step of a module runs they may have come along."""


def makes_sparse(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a call makes a sparse tensor."""
    name = ctx.index.qualified_name(call.func)
    if name is None:
        return isinstance(call.func, ast.Attribute) and call.func.attr in _CONVERSIONS
    return name in _MAKERS


def way_of(ctx: FileContext, call: ast.Call) -> Way | None:
    """Where a new sparse tensor goes; None where that is nowhere near a device."""
    elements = _elements(ctx, call)
    if elements is not None and _is_on_device(ctx, elements):
        return Way(on_device=True)
    moved, whole = follow(ctx, call)
    if moved is not None:
        return Way((moved,))
    if whole is None:
        return None
    if _is_made_on_device(ctx, call):
        return Way(on_device=True, is_certain=False)
    holder = ctx.index.parent(whole)
    if isinstance(holder, ast.Assign) and len(holder.targets) == 1:
        target = holder.targets[0]
        if isinstance(target, ast.Name):
            return _way_of_variable(ctx, target, whole)
        # an attribute of a module moves with it
        owner = ctx.index.tree.class_of(call)
        is_part = isinstance(target, ast.Attribute) and owner is not None
        return Way() if is_part and owner is not None and ctx.index.definitions.is_module_class(owner) else None
    return Way() if _is_returned(ctx, whole) else None


def follow(ctx: FileContext, call: ast.expr) -> tuple[ast.Call | None, ast.expr | None]:
    """The move that a value goes into by method calls; else the last of the calls, None where it is sparse no more."""
    whole: ast.expr = call
    while isinstance(attribute := ctx.index.parent(whole), ast.Attribute):
        method = ctx.index.parent(attribute)
        if not isinstance(method, ast.Call) or method.func is not attribute:
            return None, None
        if ctx.index.moves.to_device(method) is not None:
            return method, None
        if attribute.attr not in _STAYS_SPARSE:
            return None, None
        whole = method
    return None, whole


def _way_of_variable(ctx: FileContext, target: ast.Name, value: ast.expr) -> Way | None:
    moves, returned = [], False
    for name in ctx.index.tree.names:
        if name.id != target.id or not isinstance(name.ctx, ast.Load):
            continue
        if not any(binding.value is value for binding in ctx.index.flow.reaching(name)):
            continue
        moved, whole = follow(ctx, name)
        if moved is not None:
            moves.append(moved)
        returned = returned or (whole is not None and _is_returned(ctx, whole))
    if moves:
        return Way(tuple(moves))
    return Way() if returned else None


def _is_returned(ctx: FileContext, node: ast.expr) -> bool:
    parent = ctx.index.parent(node)
    if isinstance(parent, ast.Tuple | ast.List):
        parent = ctx.index.parent(parent)
    return isinstance(parent, ast.Return)


def parts_of(ctx: FileContext, call: ast.Call) -> tuple[ast.expr, ast.expr, ast.expr] | None:
    """The places, the elements and the size that a sparse tensor is made of, where it is told nothing else."""
    name = ctx.index.qualified_name(call.func) or ""
    if name not in _MAKERS or name.endswith(_COMPRESSED):
        return None
    given = ctx.index.call_arguments.of(call, _PARTS) or {}
    found = [given[part][0] for part in _PARTS if len(given.get(part, ())) == 1]
    return (found[0], found[1], found[2]) if len(found) == len(_PARTS) == len(given) else None


def takes_tensors(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a sparse tensor is made of tensors alone: ``sparse_coo_tensor`` takes lists and arrays as well."""
    name = ctx.index.qualified_name(call.func) or ""
    parts = parts_of(ctx, call)
    return parts is not None and (
        name.startswith(_OF_TENSORS) or all(ctx.index.kind(part) is Kind.TENSOR for part in parts[:2])
    )


def _elements(ctx: FileContext, call: ast.Call) -> ast.expr | None:
    """The tensor whose elements a sparse one gets: of ``x.to_sparse()`` the whole."""
    name = ctx.index.qualified_name(call.func)
    if name is None:
        return call.func.value if isinstance(call.func, ast.Attribute) else None
    at = 2 if name.endswith(_COMPRESSED) else 1
    named = (item.value for item in call.keywords if item.arg == _PARTS[1])
    return call.args[at] if len(call.args) > at else next(named, None)


def _is_on_device(ctx: FileContext, node: ast.expr) -> bool:
    """Whether a tensor is on the device, or a way here moves it there: ``if cuda: values = values.cuda()``."""
    if ctx.index.value(node).side is Side.DEVICE:
        return True
    bindings = ctx.index.flow.reaching(node) if isinstance(node, ast.Name) else ()
    values = [binding.value for binding in bindings if binding.kind == "assign" and not binding.path]
    return any(isinstance(value, ast.Call) and ctx.index.moves.to_device(value) for value in values)


def _is_made_on_device(ctx: FileContext, call: ast.Call) -> bool:
    """Whether the tensors it is made of are on the device: by its argument, or because a step of a module runs here."""
    for keyword in call.keywords:
        if keyword.arg == "device" and ctx.index.moves.is_device(keyword.value) is not None:
            return True
    owner, function = ctx.index.tree.class_of(call), ctx.index.function_of(call)
    if owner is None or function is None or function.name == "__init__":
        return False
    if _has_host_values(ctx, call):
        return False
    is_step = any(ctx.index.qualified_name(base) == "torch.autograd.Function" for base in owner.bases)
    return is_step or ctx.index.definitions.is_module_class(owner)


def _has_host_values(ctx: FileContext, call: ast.Call) -> bool:
    """Whether the elements are a tensor that was made on the host: ``torch.sparse.FloatTensor(at, torch.ones(n))``."""
    elements = _elements(ctx, call) if ctx.index.qualified_name(call.func) in _MAKERS else None
    if elements is None:
        return False
    value = ctx.index.value(elements)
    return value.kind is Kind.TENSOR and value.side is Side.HOST


def is_sample(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a sparse tensor is made for a sample of a dataset, which goes into a batch."""
    function = ctx.index.function_of(call)
    return function is not None and function.name == _SAMPLE


def needs_sparse(ctx: FileContext, makers: list[ast.Call]) -> bool:
    """Whether the file makes sparse tensors, and it or another of the project does with them what cannot be done with
    dense ones: what a function gives back, or an object keeps, may come to any of them."""
    if not makers:
        return False
    said = (*_SAID_OF_SPARSE, *_RESIZING) if any(is_sample(ctx, call) for call in makers) else _SAID_OF_SPARSE
    if any(ctx.index.imported.others_mentioning(word) for word in said):
        return True
    if any(ctx.index.value(tensor).side is not Side.DEVICE for _, tensor in ctx.index.method_calls(*_RESIZING)):
        return True
    if next(ctx.index.calls_to(*_NEEDS_SPARSE_FUNCTIONS), None) is not None:
        return True
    ends = {follow(ctx, call)[1] for call in makers}
    needing = (call for call, _ in ctx.index.method_calls(*_NEEDS_SPARSE))
    return any(call not in ends and follow(ctx, call)[0] is None for call in needing)
