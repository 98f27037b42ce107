"""Moves behind an optimizer that take nothing from it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tpulint.context import FileContext
from tpulint.semantic import FUNCTIONS
from tpulint.semantic.modules.moves import Move
from tpulint.semantic.project.other_files import Definition
from tpulint.semantic.syntax.nodes import LOOPS
from tpulint.semantic.syntax.torch_facts import PLAIN_MODULES


def moves_nothing(ctx: FileContext, move: Move) -> bool:
    """Whether no parameter moves: of ``nn.L1Loss()``, or by a method ``to`` of the project that only notes a device."""
    made = move.creations
    if made and all(isinstance(one.node, ast.Call) and not one.path for one in made):
        names = {ctx.index.qualified_name(one.node.func) for one in made if isinstance(one.node, ast.Call)}
        if names <= PLAIN_MODULES:
            return True
    own = ctx.index.definitions.function_called(move.call)
    runs = ctx.index.imported.all_called(move.call) if own is None else (Definition(ctx.index, own),)
    return bool(runs) and all(isinstance(run.node, FUNCTIONS) and not _moves(run) for run in runs)


def _moves(run: Definition) -> bool:
    """Whether a function calls anything that may move what its object keeps."""
    calls = run.file.tree.nodes_in(run.node, ast.Call)
    return any(not isinstance(call.func, ast.Name) or call.func.id not in ("print", "isinstance") for call in calls)


def is_built_anew(ctx: FileContext, optimizer: ast.Call, move: Move, others: Iterable[ast.Call]) -> bool:
    """Whether the same name gets another optimizer behind a move, before anything is trained with the first."""
    tree = ctx.index.tree
    first = tree.statement_of(optimizer)
    if not isinstance(first, ast.Assign) or first.value is not optimizer:
        return False
    suite, names = tree.suite_of(first), set(map(tree.text, first.targets))
    for other in others:
        later = tree.statement_of(other)
        if not isinstance(later, ast.Assign) or later.value is not other or tree.suite_of(later) is not suite:
            continue
        between = suite[tree.position_of(first) + 1 : tree.position_of(later)]
        is_behind = any(tree.encloses(statement, move.call) for statement in between)
        trains = any(isinstance(node, LOOPS) for statement in between for node in (statement, *tree.inside(statement)))
        if is_behind and not trains and names <= set(map(tree.text, later.targets)):
            return True
    return False
