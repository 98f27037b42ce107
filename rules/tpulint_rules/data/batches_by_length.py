"""Iterators of torchtext: batches of samples of one length, padded to the longest of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic.other_files import Definition
from tpulint.semantic.outside import qualified_in_file

_PACKAGES = ("data", "legacy.data", "data.iterator")
_ITERATORS = tuple(f"torchtext.{package}.BucketIterator{method}" for package in _PACKAGES for method in ("", ".splits"))
_PLAIN = tuple(f"torchtext.{package}.Iterator" for package in _PACKAGES)
"""What fills batches in the order of the samples, unless a class that is derived from it sorts them."""
_BASES = frozenset({*_ITERATORS, *_PLAIN})


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    fed = {call.function for call in index.outside if call.fed}
    if not (index.steps or fed) or index.mentions(r"fix_length\s*="):
        return
    for call in index.calls:
        function = index.function_of(call)
        if not index.steps and (function is None or qualified_in_file(index.tree, function) not in fed):
            continue
        if index.qualified_name(call.func) in _ITERATORS or _is_of_derived(ctx, call):
            yield ctx.finding(
                call,
                "each batch is as long as its longest sample: the step is compiled again for each length that occurs",
                certainty=Certainty.LIKELY,
            )


def _is_of_derived(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a call makes an iterator of a class of the project that sorts samples: the Annotated Transformer's."""
    index = ctx.index
    own = index.definitions.class_called(call)
    made = Definition(index, own) if own is not None else index.imported.called(call)
    if made is None or not isinstance(made.node, ast.ClassDef) or "sort_key" not in made.file.text(made.node):
        return False
    return any(made.file.qualified_name(base) in _BASES for base in made.node.bases)
