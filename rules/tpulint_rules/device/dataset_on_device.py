"""Datasets whose tensors lie on the device: each sample is cut out of them by a number that is part of the graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope
from tpulint.semantic.batches.loaders import Loader
from tpulint.semantic.syntax.bindings import part_of
from tpulint.semantic.syntax.variables import last_name

_DATASET = "torch.utils.data.TensorDataset"
_ONE_BY_ONE = "samples of tensors on the device are cut out one by one: a graph of its own for each batch"
_BASES = ("Dataset", "VisionDataset")
_PUBLIC = "torchvision.datasets."


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    for dataset in index.calls_to(_DATASET):
        tensors = [item for item in dataset.args if index.is_device_tensor(item)]
        loaders = [loader for loader in index.loaders.all if _draws(ctx, loader, dataset)] if tensors else []
        if loaders:
            related = tuple((index.span(loader.call), "samples are drawn here") for loader in loaders)
            yield ctx.finding(dataset, _ONE_BY_ONE, _fix(ctx, dataset, tensors, loaders), related=related)
    for owner in index.tree.classes:
        cut = _cut_out(ctx, owner)
        if cut is not None:
            related = ((index.span(cut[1]), "moved to the device here"),)
            yield ctx.finding(cut[0], _ONE_BY_ONE, certainty=Certainty.LIKELY, related=related)


def _cut_out(ctx: FileContext, owner: ast.ClassDef) -> tuple[ast.Subscript, ast.expr] | None:
    """``self.images[number]`` in a dataset that moves all its images as it is made."""
    index = ctx.index
    taking = index.definitions.method(owner, "__getitem__")
    number = taking.args.args[-1].arg if taking is not None and len(taking.args.args) == 2 else None
    if taking is None or not any(_is_dataset(ctx, base) for base in owner.bases):
        return None
    for node in index.tree.nodes_in(taking, ast.Subscript, functions=False):
        is_sample = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name) and node.slice.id == number
        if not is_sample or not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Attribute):
            continue
        bindings = index.flow.reaching(node.slice) if isinstance(node.slice, ast.Name) else ()
        moved = _moved_last(ctx, owner, node.value) if [b.kind for b in bindings] == ["parameter"] else None
        if moved is not None:
            return node, moved
    return None


def _is_dataset(ctx: FileContext, base: ast.expr) -> bool:
    return last_name(base) in _BASES or (ctx.index.qualified_name(base) or "").startswith(_PUBLIC)


def _moved_last(ctx: FileContext, owner: ast.ClassDef, attribute: ast.Attribute) -> ast.expr | None:
    """What makes the tensor of an attribute that lies on the device from the beginning."""
    index = ctx.index
    making = index.definitions.method(owner, "__init__")
    is_own = isinstance(attribute.value, ast.Name) and attribute.value.id == "self"
    bindings = index.names.attribute_bindings(owner, attribute.attr) if is_own else ()
    # What another method sets, or only a branch, may lie elsewhere.
    if not bindings or any(index.parent(binding.statement) is not making for binding in bindings):
        return None
    last = max(bindings, key=lambda binding: index.span(binding.statement))
    value = None if last.value is None else part_of(last.value, last.path)
    is_moved = isinstance(value, ast.Call) and index.moves.to_device(value) is True
    return value if value is not None and (is_moved or index.is_device_tensor(value)) else None


def _draws(ctx: FileContext, loader: Loader, dataset: ast.Call) -> bool:
    """Whether a loader takes its samples from a dataset itself, not from a part of it."""
    given = (loader.arguments or {}).get("dataset", [])
    return len(given) == 1 and any(made.node is dataset for made in ctx.index.moves.creations.of(given[0]))


def _fix(ctx: FileContext, dataset: ast.Call, tensors: list[ast.expr], loaders: list[Loader]) -> FixBuilder | None:
    """Keeps the samples on the host, and moves each batch as a whole."""
    for loader in loaders:
        arguments = loader.arguments or {}
        workers = [ctx.index.loaders.counts.number(value) for value in arguments.get("num_workers", [])]
        if "collate_fn" in arguments or "batch_sampler" in arguments or any(count != 0 for count in workers):
            return None
    if len(tensors) < len(dataset.args) or not _is_only_drawn(ctx, dataset, loaders):
        return None
    reason = "The samples stay on the host, and each batch is moved when it is put together."
    fix = ctx.fix("Keep the samples on the host", Applicability.UNSAFE, reason, Scope.MODULE)
    for tensor in tensors:
        fix.append(tensor, ".cpu()")
    for loader in loaders:
        collate = fix.use("torch.utils.data", "default_collate", at=loader.call)
        moved = f"[part.to({fix.device(loader.call)}) for part in {collate}(samples)]"
        fix.set_argument(loader.call, "collate_fn", f"lambda samples: {moved}")
    return fix


def _is_only_drawn(ctx: FileContext, dataset: ast.Call, loaders: list[Loader]) -> bool:
    """Whether a dataset is given to loaders and nothing else."""
    statement = ctx.index.parent(dataset)
    drawn = {value for loader in loaders for value in (loader.arguments or {})["dataset"]}
    if dataset in drawn:
        return True
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Name):
        return False
    reaching = {
        use: [binding.statement for binding in ctx.index.flow.reaching(use)]
        for use in ctx.index.names.loads(target.id, ctx.index.names.scope_of(target))
    }
    uses = [use for use, statements in reaching.items() if statement in statements]
    return bool(uses) and all(use in drawn and reaching[use] == [statement] for use in uses)
