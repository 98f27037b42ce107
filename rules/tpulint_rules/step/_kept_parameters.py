"""The flag of torch with which a module keeps its parameter objects when it moves."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic import SemanticIndex
from tpulint.semantic.moves import SWAP_FLAG

_FOR_ALL = (
    "The flag is for the whole process; with it a model cannot change its device between forward and backward, "
    "and `load_state_dict` fails on recurrent layers."
)
_FOR_ONE = "The flag is set for this move alone: with it `load_state_dict` fails on recurrent layers."
_HOLDS_WEAK_REFERENCES = r"\b(?:LSTM|GRU|RNN)\b"
"""Layers by their names, which may be looked up: ``getattr(nn, "GRU")``."""
_SCRIPTED = r"\bjit\.(?:script|trace)\b|\bimport (?:script|trace)\b"


def keep_parameters(
    ctx: FileContext, move: ast.Call | None = None, made_in: Sequence[SemanticIndex] = ()
) -> FixBuilder | None:
    """A fix that sets the flag below the imports; None in a file with layers that cannot stand it.

    Recurrent layers cannot where weights are loaded: there it holds for the ``move`` alone. The layers may stand in the
    files that the model is ``made_in``. Not of module scope: what wide fixes unfold may let a move be put in front of
    the optimizer instead.
    """
    index = ctx.index
    files = (index, *made_in)
    if any(next(file.references("torch.nn.utils.weight_norm"), None) is not None for file in files):
        return None  # its tensors hold on to the graph, and the move fails
    if any(file.mentions(_SCRIPTED, "jit") for file in files):
        return None  # what is in the parameters of such a module cannot be exchanged
    is_for_one = any(file.mentions(_HOLDS_WEAK_REFERENCES) for file in files) and any(
        file.mentions(r"\bload_state_dict\b") for file in files
    )
    statement = index.statement_of(move) if is_for_one and move is not None else None
    is_alone = isinstance(statement, ast.Assign | ast.Expr) and "load_state_dict" not in ctx.text(statement)
    if is_for_one and not is_alone:
        return None
    reason = _FOR_ONE if is_for_one else _FOR_ALL
    fix = ctx.fix("Make moves keep the parameters", Applicability.UNSAFE, reason, Scope.STATEMENT)
    flag = f"{fix.use('torch')}{SWAP_FLAG.removeprefix('torch')}"
    if statement is None:
        fix.insert_below_imports(f"{flag}(True)")
    else:
        fix.insert_before(statement, f"{flag}(True)")
        fix.insert_after(statement, f"{flag}(False)")
    return fix
