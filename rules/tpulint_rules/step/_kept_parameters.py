"""The flag of torch with which a module keeps its parameter objects when it moves."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic import SemanticIndex
from tpulint.semantic.modules.swap_flag import SWAP_FLAG

_FOR_ALL = (
    "The flag is for the whole process; with it a model cannot change its device between forward and backward, "
    "and `load_state_dict` fails on recurrent layers."
)
_FOR_MOVES = "The flag is set for these moves alone: with it `load_state_dict` fails on recurrent layers."
_HOLDS_WEAK_REFERENCES = r"\b(?:LSTM|GRU|RNN)\b"
"""Layers by their names, which may be looked up: ``getattr(nn, "GRU")``."""
_KEEPS_GRAPH = r"\b(?:create|retain)_graph\s*=\s*True"
_SCRIPTED = r"\bjit\.(?:script|trace)\b|\bimport (?:script|trace)\b"


def keep_parameters(
    ctx: FileContext,
    move: ast.Call | None = None,
    *others: ast.Call,
    made_in: Sequence[SemanticIndex] = (),
    while_trained: bool = False,
) -> FixBuilder | None:
    """A fix that sets the flag below the imports; None in a file with layers that cannot stand it.

    Recurrent layers cannot where weights are loaded: there it holds for the ``move`` and those right beside it alone,
    among which the ``others`` must be. The layers may stand in the files that the model is ``made_in``. Not of module
    scope: what wide fixes unfold may let a move be put in front of the optimizer instead.
    """
    index = ctx.index
    files = (index, *made_in)
    if while_trained and may_keep_graph(index):
        return None
    if any(next(file.references("torch.nn.utils.weight_norm"), None) is not None for file in files):
        return None  # its tensors hold on to the graph, and the move fails
    if any(file.mentions(_SCRIPTED, "jit") for file in files):
        return None  # what is in the parameters of such a module cannot be exchanged
    is_for_moves = any(file.mentions(_HOLDS_WEAK_REFERENCES) for file in files) and any(
        file.mentions(r"\bload_state_dict\b") for file in files
    )
    run = _moves_beside(ctx, index.statement_of(move)) if is_for_moves and move is not None else []
    if is_for_moves and (not run or any(index.statement_of(other) not in run for other in others)):
        return None
    reason = _FOR_MOVES if is_for_moves else _FOR_ALL
    fix = ctx.fix("Make moves keep the parameters", Applicability.UNSAFE, reason, Scope.STATEMENT)
    flag = f"{fix.use('torch')}{SWAP_FLAG.removeprefix('torch')}"
    if not run:
        fix.insert_below_imports(f"{flag}(True)")
    else:
        fix.insert_before(run[0], f"{flag}(True)")
        fix.insert_after(run[-1], f"{flag}(False)")
    return fix


def may_keep_graph(index: SemanticIndex) -> bool:
    """Whether the project keeps graphs behind their gradients: ``create_graph=True``. They hold the parameters."""
    files = (file for word in ("create_graph", "retain_graph") for file in index.imported.mentioning(word) or ())
    return any(file.mentions(_KEEPS_GRAPH, "_graph") for file in (index, *files))


def _moves_beside(ctx: FileContext, statement: ast.stmt) -> list[ast.stmt]:
    """A statement that moves something, with those right above and below it that do so, too; none where it loads."""
    tree = ctx.index.tree
    suite, at = tree.suite_of(statement), tree.position_of(statement)
    if not isinstance(statement, ast.Assign | ast.Expr) or "load_state_dict" in ctx.text(statement):
        return []
    moves = {move.call for move in ctx.index.moves.moves}

    def moves_only(item: ast.stmt) -> bool:
        is_move = isinstance(item, ast.Assign | ast.Expr) and item.value in moves
        return is_move and "load_state_dict" not in ctx.text(item)

    above = list(itertools.takewhile(moves_only, reversed(suite[:at])))
    return [*reversed(above), statement, *itertools.takewhile(moves_only, suite[at + 1 :])]
