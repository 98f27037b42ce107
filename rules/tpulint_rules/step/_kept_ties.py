"""The class of a module that ties layers while it is made, which keeps them tied."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint_rules.step._kept_parameters import keep_parameters

_KEEP = "tpulint_runtime.keep_ties"
_REASON = "The class ties its layers again behind every move, which is likely what is meant."


def keep_ties(ctx: FileContext, tie: ast.AST) -> FixBuilder | None:
    """A fix that keeps what the class around a node ties: by the flag of torch, or where that does harm, by the class.

    What harms may stand in another file, such as the one that loads weights."""
    fix = keep_parameters(ctx, made_in=ctx.index.imported.others_mentioning("load_state_dict"))
    owner = ctx.index.tree.class_of(tie)
    if fix is not None or owner is None:
        return fix
    fix = ctx.fix("Keep layers of this class tied", Applicability.UNSAFE, _REASON, Scope.STATEMENT)
    fix.insert_before(owner, f"@{fix.use('tpulint_runtime')}.keep_ties")
    return fix


def keeps_ties(ctx: FileContext, tie: ast.AST) -> bool:
    """Whether the class around a node keeps ties by itself."""
    owner = ctx.index.tree.class_of(tie)
    return owner is not None and any(ctx.index.qualified_name(one) == _KEEP for one in owner.decorator_list)
