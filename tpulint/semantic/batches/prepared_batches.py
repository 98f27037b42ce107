"""What Accelerate is given for batches: it sets step boundaries in the loaders that it makes of others."""

from __future__ import annotations

import ast

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.kinds import Kind, Kinds

_NOT_LOADERS = (Kind.MODULE, Kind.OPTIMIZER, Kind.SCHEDULER)


def are_drawn_by_hand(tree: SyntaxTree, kinds: Kinds) -> bool:
    """Whether ``prepare`` is given models and optimizers only, in a file without a word of loaders.

    A loader that another file makes may have been prepared there.
    """
    calls = [call for method in tree.attributes_called("prepare") if isinstance(call := tree.parents[method], ast.Call)]
    if not calls or "loader" in tree.source.text.lower():
        return False
    return all(kinds.value(item).kind in _NOT_LOADERS for call in calls for item in call.args)


def are_generators(tree: SyntaxTree, names: Names, definitions: Definitions) -> bool:
    """Whether ``prepare`` is given generators, ``cycle(loader)``, and no loader: it leaves them as they are."""
    calls = [tree.parents[method] for method in tree.attributes_called("prepare")]
    items = [item for call in calls if isinstance(call, ast.Call) for item in call.args]
    values = list(items)
    for item in items:
        bindings = names.bindings(item) if isinstance(item, ast.Name) else []
        values += [binding.value for binding in bindings if binding.value is not None and not binding.path]
    made = [value for value in values if isinstance(value, ast.Call)]
    if any((names.qualified(call.func) or "").endswith("DataLoader") for call in made):
        return False
    makers = [maker for call in made if (maker := definitions.function_called(call)) is not None]
    return any(
        isinstance(node, ast.Yield | ast.YieldFrom) for maker in makers for node in tree.inside(maker, functions=False)
    )
