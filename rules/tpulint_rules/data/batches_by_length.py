"""Iterators of torchtext: batches of samples of one length, padded to the longest of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic.project.other_files import Definition
from tpulint.semantic.project.outside import qualified_in_file

_PACKAGES = ("data", "legacy.data", "data.iterator")
_ITERATORS = tuple(f"torchtext.{package}.BucketIterator{method}" for package in _PACKAGES for method in ("", ".splits"))
_PLAIN = tuple(f"torchtext.{package}.Iterator{method}" for package in _PACKAGES for method in ("", ".splits"))
"""What fills batches in the order of the samples, unless a class that is derived from it sorts them; padded as well."""
_BASES = frozenset({*_ITERATORS, *_PLAIN})
_FIELDS = tuple(
    f"torchtext.{package}.{name}" for package in (*_PACKAGES, "data.field") for name in ("Field", "ReversibleField")
)


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    fed = {call.function for call in index.outside if call.fed}
    if not (index.steps or fed) or index.mentions(r"fix_length\s*="):
        return
    for call in index.calls:
        if not index.steps and not fed.intersection(_asked_by(ctx, call)):
            continue
        if index.qualified_name(call.func) in _ITERATORS or _is_of_derived(ctx, call) or _is_plain(ctx, call):
            yield ctx.finding(
                call,
                "each batch is as long as its longest sample: the step is compiled again for each length that occurs",
                certainty=Certainty.LIKELY,
            )


def _asked_by(ctx: FileContext, call: ast.Call) -> Iterator[str]:
    """The names by which another file may ask for what a call makes: of its function, or of what holds it.

    ``Corpus.train_iter`` of an object, ``train_iter`` of a variable at the top of the file.
    """
    index = ctx.index
    function = index.function_of(call)
    if function is not None:
        yield qualified_in_file(index.tree, function)
    statement = index.parent(call)
    for target in statement.targets if isinstance(statement, ast.Assign) else ():
        for held in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
            owner = index.tree.class_of(held)
            if isinstance(held, ast.Attribute) and owner is not None:
                yield f"{owner.name}.{held.attr}"
            elif isinstance(held, ast.Name) and function is None:
                yield held.id


def _is_plain(ctx: FileContext, call: ast.Call) -> bool:
    """``data.Iterator.splits(...)`` in a file that makes a field of texts; evaluations, ``train=False``, are few."""
    index = ctx.index
    if index.qualified_name(call.func) not in _PLAIN or _says(call, "train", False):
        return False
    return any(not _says(field, "sequential", False) for field in index.calls_to(*_FIELDS))


def _says(call: ast.Call, name: str, value: bool) -> bool:
    given = (keyword.value for keyword in call.keywords if keyword.arg == name)
    return any(isinstance(item, ast.Constant) and item.value is value for item in given)


def _is_of_derived(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a call makes an iterator of a class of the project that sorts samples: the Annotated Transformer's."""
    index = ctx.index
    own = index.definitions.class_called(call)
    made = Definition(index, own) if own is not None else index.imported.called(call)
    if made is None or not isinstance(made.node, ast.ClassDef) or "sort_key" not in made.file.text(made.node):
        return False
    return any(made.file.qualified_name(base) in _BASES for base in made.node.bases)
