"""Whether the last batch of a loader may be smaller than the others."""

from __future__ import annotations

import ast

from tpulint.semantic import FunctionNode, SemanticIndex
from tpulint.semantic.loaders import Loader


def may_be_partial(index: SemanticIndex, loader: Loader, by_default: bool = False) -> bool:
    """Whether a loader is told a batch size, keeps what is left over, and may have something left over.

    With ``by_default`` an option of the command line is taken to have its default.
    """
    arguments = loader.arguments
    if arguments is None or not arguments.get("batch_size") or is_given(arguments.get("batch_sampler")):
        return False
    if any(not (isinstance(value, ast.Constant) and value.value is False) for value in arguments.get("drop_last", ())):
        return False
    sizes = arguments["batch_size"]
    if all(isinstance(size, ast.Constant) and size.value in (None, 1) for size in sizes):
        return False
    return not index.loaders.divides(loader, by_default)


def is_given(values: list[ast.expr] | None) -> bool:
    """Whether an argument may be something else than None."""
    return any(not (isinstance(value, ast.Constant) and value.value is None) for value in values or ())


def rest_handed_on(index: SemanticIndex, function: FunctionNode) -> ast.If | None:
    """Where a generator that fills batches yields one that is not full: ``if batch: yield batch`` behind its loops."""
    for node in index.tree.nodes_in(function, ast.Yield, functions=False):
        holder = index.parent(index.statement_of(node))
        value = node.value if isinstance(node, ast.Yield) else None
        loop = index.tree.loop_of(node)
        if not isinstance(holder, ast.If) or not isinstance(value, ast.Name):
            continue
        if loop is not None and index.tree.encloses(function, loop):
            continue
        names = {part.id for part in ast.walk(holder.test) if isinstance(part, ast.Name)}
        if value.id in names and "drop_last" not in index.text(holder.test):
            return holder
    return None
