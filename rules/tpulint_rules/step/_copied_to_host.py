"""A copy on the host, for what is done there with a model that is trained on the device."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic.modules.moves import Move

_REASON = "What the model learns while it is on the host, running statistics among it, is learned by the copy alone."
_CANNOT_BE_COPIED = r"\b(?:weight_norm|spectral_norm)\b|\bjit\.(?:script|trace)\b|\bimport (?:script|trace)\b"
_ASKED = ("state_dict", "parameters", "named_parameters", "modules", "named_modules", "forward")
"""Methods that leave a module as it is."""


def copied_to_host(ctx: FileContext, call: ast.Call, back: Move) -> FixBuilder | None:
    """``net_on_host = copy.deepcopy(net).cpu()`` for what stands between two moves of one block, which go.

    None where something there changes the model, or may reach it otherwise than by its name.
    """
    tree, names = ctx.index.tree, ctx.index.names
    away, home = tree.statement_of(call), tree.statement_of(back.call)
    module = call.func.value if isinstance(call.func, ast.Attribute) else None
    suite = tree.suite_of(away)
    if not isinstance(module, ast.Name) or not _is_alone(away, call) or not _is_alone(home, back.call):
        return None
    if home not in suite or ctx.text(back.module) != module.id or ctx.index.mentions(_CANNOT_BE_COPIED):
        return None
    found, between = names.find_name(module), suite[suite.index(away) + 1 : suite.index(home)]
    if found is None or found[0] is not names.scope_of(away):
        return None
    mentions = names.mentions(module.id, found[0])
    if any(names.scope_of(node) is not found[0] for node in mentions):
        return None  # a function that is called in between may use it
    used = [node for node in mentions if any(tree.encloses(statement, node) for statement in between)]
    if not used or not all(_leaves_as_it_is(ctx, node) for node in used):
        return None
    fix = ctx.fix("Work with a copy on the host", Applicability.UNSAFE, _REASON, Scope.STATEMENT)
    name = names.fresh(f"{module.id}_on_host", call)
    fix.insert_before(away, f"{name} = {fix.use('copy', at=call)}.deepcopy({module.id}).cpu()")
    fix.delete(away)
    for node in used:
        fix.replace(node, name)
    fix.delete(home)
    return fix


def _is_alone(statement: ast.stmt, call: ast.Call) -> bool:
    return isinstance(statement, ast.Expr) and statement.value is call


def _leaves_as_it_is(ctx: FileContext, use: ast.Name) -> bool:
    """Whether a use of a model is a call of it, hands it to one, or asks what changes nothing."""
    above = ctx.index.parent(use)
    if not isinstance(use.ctx, ast.Load):
        return False
    if isinstance(above, ast.Attribute):
        return above.attr in _ASKED
    while isinstance(above, ast.List | ast.Tuple | ast.keyword):
        above = ctx.index.parent(above)
    return isinstance(above, ast.Call)
