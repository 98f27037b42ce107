"""Steps that an optimizer makes in functions of other files, and optimizers that objects of their classes build."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.semantic import FUNCTIONS, SemanticIndex
from tpulint.semantic.functions.passed_arguments import arguments_given, values_given
from tpulint.semantic.project.other_files import Definition
from tpulint.semantic.syntax.torch_facts import OPTIMIZER_PREFIXES
from tpulint.semantic.values.creations import Creation
from tpulint_rules.step._made_modules import begun, makings, modules_given
from tpulint_rules.step._parameters_given import is_called_optimizer

_DEPTH = 3
"""Files that a step is looked for in, one calling the next."""


def training_calls(ctx: FileContext, optimizer: ast.Call) -> list[ast.Call]:
    """Calls that step an optimizer: ``train_epoch(model, optimizer)``, ``trainer.epoch()`` of what was given it."""
    calls = [call for call in ctx.index.imported.calls if _is_held(ctx, call, optimizer)]
    return [call for call in calls if _trains(ctx.index.imported.all_called(call))]


def trainers(ctx: FileContext) -> Iterator[tuple[ast.Call, list[Creation]]]:
    """Calls that make an object of another file which builds an optimizer of what it is given: ``Trainer(model)``."""
    creations = ctx.index.moves.creations
    for call in ctx.index.imported.calls:
        found = ctx.index.imported.called(call)
        for run in begun(found) if found is not None and found.is_class else ():
            given = dict(arguments_given(call, run.node, is_method=True)) if isinstance(run.node, FUNCTIONS) else {}
            built = [one for one in run.file.tree.nodes_in(run.node, ast.Call) if _builds(run.file, one)]
            for module in (module for one in built for module in modules_given(run, one)):
                made = [one.node for one in run.file.moves.creations.of(module) if not one.path]
                handed = [given[one.arg] for one in made if isinstance(one, ast.arg) and one.arg in given]
                if handed:
                    yield call, [one for item in handed for one in creations.of(item)]


def _builds(file: SemanticIndex, call: ast.Call) -> bool:
    name = file.qualified_name(call.func) or ""
    return name.startswith(OPTIMIZER_PREFIXES) or is_called_optimizer(file, call)


def _is_held(ctx: FileContext, call: ast.Call, optimizer: ast.Call) -> bool:
    """Whether a call is given an optimizer, or its object was when it was made, be it among others in a list."""
    index = ctx.index
    given = values_given(call)
    if isinstance(call.func, ast.Attribute):
        objects = list(makings(index.moves.creations.of(call.func.value)))
        if any(made is optimizer for made in objects):
            return True
        given = [*given, *(item for made in objects for item in values_given(made))]
    held = (node for item in given for node in (item, *index.tree.inside(item)))
    return any(
        made is optimizer
        for node in held
        if isinstance(node, ast.Name | ast.Attribute | ast.Call)
        for made in makings(index.moves.creations.of(node))
    )


def _trains(called: tuple[Definition, ...], depth: int = 0) -> bool:
    """Whether functions run a backward pass and an update, each of them, by functions of further files perhaps."""
    return bool(called) and all(_trains_by(one, depth) for one in called)


def _trains_by(called: Definition, depth: int) -> bool:
    file, function = called.file, called.node
    if not isinstance(function, FUNCTIONS):
        return False
    if file.regions.events.of(function).has_step:
        return True
    run = (function, *file.regions.functions_in(function)) if depth < _DEPTH else ()
    return any(
        _trains(file.imported.all_called(call), depth + 1) for one in run for call in file.tree.nodes_in(one, ast.Call)
    )
