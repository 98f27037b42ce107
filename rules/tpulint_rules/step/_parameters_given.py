"""Calls that give the parameters of a module, and what makes lists of them."""

from __future__ import annotations

import ast

from tpulint.semantic import SemanticIndex
from tpulint.semantic.variables import last_name

GIVES_PARAMETERS = ("parameters", "named_parameters")
_COLLECTIONS = frozenset({"list", "tuple", "set", "dict", "sorted"})


def gives_parameters(call: ast.Call) -> bool:
    """``net.parameters()``"""
    return isinstance(call.func, ast.Attribute) and call.func.attr in GIVES_PARAMETERS


def is_called_optimizer(call: ast.Call) -> bool:
    """``self.optimizer_class(net.parameters())``, of a class that is given or chosen."""
    given = [*call.args[:1], *(item.value for item in call.keywords if item.arg == "params")]
    gives = any(isinstance(item, ast.Call) and gives_parameters(item) for item in given)
    return gives and "optim" in last_name(call.func).lower()


def is_gone_through(index: SemanticIndex, node: ast.AST, root: ast.AST) -> bool:
    """Whether an expression makes a list of what a part of it gives: ``list(...)``, ``[p for p in ...]``, ``[*x]``."""
    while node is not root:
        above = index.tree.parents[node]
        if isinstance(above, ast.ListComp | ast.SetComp | ast.DictComp | ast.Starred | ast.For | ast.AsyncFor):
            return not isinstance(above, ast.For | ast.AsyncFor) or node is above.iter
        if isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id in _COLLECTIONS:
            return True
        node = above
    return False
