"""Calls that give the parameters of a module, and what makes lists of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic import SemanticIndex
from tpulint.semantic.syntax.variables import last_name

GIVES_PARAMETERS = ("parameters", "named_parameters")
_COLLECTIONS = frozenset({"list", "tuple", "set", "dict", "sorted"})


def gives_parameters(call: ast.Call) -> bool:
    """``net.parameters()``"""
    return isinstance(call.func, ast.Attribute) and call.func.attr in GIVES_PARAMETERS


def is_called_optimizer(index: SemanticIndex, call: ast.Call) -> bool:
    """``self.optimizer_class(net.parameters())``, of a class that is given or chosen, or that nobody sees.

    Whatever a class is called, what gets parameters and their learning rate is an optimizer:
    ``getattr(optimizers, name)(net.parameters(), lr=0.1)``.
    """
    # `Optimizer("model", net.parameters(), rate)`
    first = call.args if last_name(call.func).lower().endswith("optimizer") else call.args[:1]
    given = [*first, *(item.value for item in call.keywords if item.arg == "params")]
    parts = (part for item in given for part in (item, *index.tree.inside(item)))
    if not any(isinstance(part, ast.Call) and gives_parameters(part) for part in parts):
        return False
    if isinstance(index.parent(call), ast.Expr):
        return False  # a function that trains them, such as `optimize(net.parameters(), run)`, leaves no optimizer
    return "optim" in last_name(call.func).lower() or any(item.arg == "lr" for item in call.keywords)


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


def added_to(index: SemanticIndex, listed: ast.Name | ast.Attribute, *methods: str) -> Iterator[ast.expr]:
    """What ``.append`` or ``.extend`` puts into a list: all over a class for ``self.groups``, in a scope for a name."""
    scope = index.names.scope_of(listed) if isinstance(listed, ast.Name) else None
    owner, text = index.tree.class_of(listed), index.text(listed)
    for call, receiver in index.method_calls(*methods):
        if isinstance(receiver, ast.Name) and scope is not None:
            if index.text(receiver) == text and index.names.scope_of(receiver) is scope:
                yield from call.args
        elif scope is None and owner is index.tree.class_of(receiver) and index.text(receiver) == text:
            yield from call.args
