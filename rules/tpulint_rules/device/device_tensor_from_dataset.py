"""Samples that go to the device one by one, in the dataset."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding, Severity
from tpulint.semantic import FUNCTIONS, FunctionNode, Kind
from tpulint.semantic.syntax.variables import last_name

_DATASETS = frozenset({"Dataset", "IterableDataset", "TensorDataset", "ImageFolder", "DatasetFolder", "VisionDataset"})
_SAMPLING = ("__getitem__", "__iter__", "__next__", "__getitems__")


def check(ctx: FileContext) -> Iterator[Finding]:
    seen: set[ast.AST] = set()
    for function, worked in _functions(ctx):
        for call in ctx.index.tree.inside(function):
            if call in seen or not isinstance(call, ast.Call) or not _moves(ctx, call):
                continue
            seen.add(call)
            if worked:
                message = "a worker of the loader cannot send a device tensor: it raises, and the loop waits for ever"
            else:
                message = "every sample is uploaded by itself; move the batch in the loop"
            sure = ctx.index.moves.to_device(call)
            yield ctx.finding(
                call,
                message,
                severity=Severity.ERROR if worked else Severity.WARNING,
                certainty=Certainty.CERTAIN if sure else Certainty.LIKELY,
            )


def _functions(ctx: FileContext) -> Iterator[tuple[FunctionNode, bool]]:
    """Functions that make samples and batches, and whether workers surely run them."""
    index = ctx.index
    loaders = [loader for loader in index.loaders.all if loader.arguments is not None]
    for owner in index.tree.classes:
        if not any(last_name(base) in _DATASETS for base in owner.bases):
            continue
        worked = any(
            isinstance(made.node, ast.Call) and index.definitions.class_called(made.node) is owner
            for loader in loaders
            if _has_workers(ctx, loader.arguments or {})
            for dataset in (loader.arguments or {}).get("dataset", [])
            for made in index.moves.creations.of(dataset)
        )
        for item in owner.body:
            if isinstance(item, FUNCTIONS) and item.name in _SAMPLING:
                yield item, worked
    for loader in loaders:
        for collate in (loader.arguments or {}).get("collate_fn", []):
            if isinstance(collate, ast.Name):
                for binding in index.names.bindings(collate):
                    if isinstance(binding.node, FUNCTIONS):
                        yield binding.node, _has_workers(ctx, loader.arguments or {})


def _has_workers(ctx: FileContext, arguments: dict[str, list[ast.expr]]) -> bool:
    counts = [ctx.index.loaders.counts.number(value) for value in arguments.get("num_workers", [])]
    return bool(counts) and all(counts)


def _moves(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a call takes a tensor to the device."""
    if not isinstance(call.func, ast.Attribute) or ctx.index.kind(call.func.value) is Kind.MODULE:
        return False
    goes = ctx.index.moves.to_device(call)
    return goes is True or (goes is False and "device" in ctx.text(call))
