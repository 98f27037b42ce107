"""Copies of the weights of a model in float16, for a file that is handed on: nothing is computed in that format.

``[weight.to(torch.float16) for weight in net.parameters()]``
"""

from __future__ import annotations

import ast

from tpulint.semantic import SemanticIndex

_WEIGHTS = frozenset({"parameters", "named_parameters", "state_dict"})
_PARTS = frozenset({"items", "values"})


def is_copied_weight(index: SemanticIndex, cast: ast.AST | None) -> bool:
    """Whether a cast is what a comprehension makes of each weight of a model."""
    if not isinstance(cast, ast.Call) or not isinstance(cast.func, ast.Attribute):
        return False
    holder = index.parent(cast)
    if isinstance(holder, ast.ListComp):
        kept = holder.elt
    elif isinstance(holder, ast.DictComp):
        kept = holder.value
    else:
        return False
    return kept is cast and len(holder.generators) == 1 and _gives_weights(holder.generators[0].iter)


def _gives_weights(dealt: ast.expr) -> bool:
    """``net.parameters()`` and ``net.state_dict().items()``"""
    if not isinstance(dealt, ast.Call) or not isinstance(dealt.func, ast.Attribute):
        return False
    if dealt.func.attr in _PARTS:
        return _gives_weights(dealt.func.value)
    return dealt.func.attr in _WEIGHTS
