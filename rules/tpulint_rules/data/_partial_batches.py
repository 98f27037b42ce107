"""Whether the last batch of a loader may be smaller than the others."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tpulint.semantic import FUNCTIONS, SemanticIndex
from tpulint.semantic.batches.left_out_batches import leaves_out_smaller
from tpulint.semantic.batches.loaders import Loader
from tpulint.semantic.loops.repeated_batches import loops_of_batch
from tpulint.semantic.project.other_files import Definition, methods, returned
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.nodes import LoopNode


def may_be_partial(index: SemanticIndex, loader: Loader, by_default: bool = False) -> bool:
    """Whether a loader is told a batch size, keeps what is left over, and may have something left over.

    With ``by_default`` an option of the command line is taken to have its default.
    """
    arguments = loader.arguments
    if arguments is None or not arguments.get("batch_size") or is_given(arguments.get("batch_sampler")):
        return False
    if not all(_is_off(index, value) for value in arguments.get("drop_last", ())):
        return False
    sizes = arguments["batch_size"]
    if all(isinstance(size, ast.Constant) and size.value in (None, 1) for size in sizes):
        return False
    if any(_never_ends(index, sampler) for sampler in arguments.get("sampler", ())):
        return False
    return not index.loaders.counts.divides(loader, by_default)


def _is_off(index: SemanticIndex, value: ast.expr) -> bool:
    """Whether an argument is False: written so, or a variable that is nothing else."""
    if isinstance(value, ast.Constant):
        return value.value is False
    bindings = index.flow.reaching(value) if isinstance(value, ast.Name) else ()
    return bool(bindings) and all(
        _is_off_by_default(index, binding) if binding.kind == "parameter" else _is_set_off(binding)
        for binding in bindings
    )


def _is_set_off(binding: Binding) -> bool:
    value = binding.value
    is_false = isinstance(value, ast.Constant) and value.value is False
    return is_false and binding.kind == "assign" and not binding.path


def _is_off_by_default(index: SemanticIndex, binding: Binding) -> bool:
    """Whether a parameter has the default False, which no call says more of."""
    function = binding.statement
    if not isinstance(function, FUNCTIONS) or binding.value is None:
        return False
    calls = index.definitions.calls_of(function)
    if not calls or any(keyword.arg is None for call in calls for keyword in call.keywords):
        return False
    given = index.definitions.arguments.of(function, binding.name)
    return all(isinstance(item, ast.Constant) and item.value is False for item in (binding.value, *given))


def is_partial_unshuffled(index: SemanticIndex, loader: Loader) -> bool:
    """Whether a loader keeps what is left over in the branch that has it shuffle nothing, and leaves it out in others.

    ``if flag == "test": shuffle = drop_last = False``, written in two lines, ``else: shuffle = drop_last = True``.
    """
    arguments = loader.arguments or {}
    named = [arguments.get(name, []) for name in ("drop_last", "shuffle")]
    if not all(len(values) == 1 and isinstance(values[0], ast.Name) for values in named):
        return False
    kept, shuffled = (index.flow.reaching(values[0]) for values in named)  # type: ignore[arg-type]
    sizes = arguments.get("batch_size", [])
    ones = [
        binding
        for binding in (index.flow.bindings_of(sizes[0]) if len(sizes) == 1 else ())
        if isinstance(binding.value, ast.Constant) and binding.value.value == 1
    ]
    branches = _branches(index, filter(_is_set_off, kept)) & _branches(index, filter(_is_set_off, shuffled))
    return bool(branches - _branches(index, ones)) and not index.loaders.counts.divides(loader, by_default=True)


def _branches(index: SemanticIndex, bindings: Iterable[Binding]) -> set[ast.stmt]:
    """The first statements of the branches in which variables get their values."""
    return {index.tree.suite_of(index.statement_of(binding.node))[0] for binding in bindings}


def _never_ends(index: SemanticIndex, sampler: ast.expr) -> bool:
    """Whether a sampler of the project goes on for ever."""
    own = tuple(Definition(index, owner) for owner in index.definitions.classes.made(sampler))
    found = methods(own or index.imported.classes_of(sampler), "__iter__")
    return bool(found) and all(map(_goes_on, found))


def _goes_on(function: Definition, depth: int = 0) -> bool:
    """Whether all that a generator yields stands in ``while True:``, and nothing leaves it.

    Also where a function gives back such a one: ``return iter(places_for_ever(count))``.
    """
    tree = function.file.tree
    nodes = list(tree.inside(function.node, functions=False))
    yields = [node for node in nodes if isinstance(node, ast.Yield | ast.YieldFrom)]
    if not yields and depth == 0:
        given = [_started(function, value) for value in returned(function)]
        return bool(given) and all(item is not None and _goes_on(item, 1) for item in given)
    if not yields or any(isinstance(node, ast.Return | ast.Break) for node in nodes):
        return False
    return all(any(map(_is_endless, tree.ancestors(node))) for node in yields)


def _started(function: Definition, value: ast.expr) -> Definition | None:
    """The generator function of the same file that a value starts."""
    names = function.file.names
    if isinstance(value, ast.Call) and names.qualified(value.func) == "builtins.iter" and len(value.args) == 1:
        value = value.args[0]
    called = function.file.definitions.function_called(value) if isinstance(value, ast.Call) else None
    return None if called is None else Definition(function.file, called)


def _is_endless(node: ast.AST) -> bool:
    return isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)


def is_left_out_by_loops(index: SemanticIndex, loops: list[LoopNode]) -> bool:
    """Whether all loops over a loader go on at once, or end, when a batch is smaller."""
    return bool(loops) and all(leaves_out_smaller(index, loop) for loop in loops)


def gives_others(index: SemanticIndex, loader: Loader) -> bool:
    """Whether a loop that trains nothing takes batches of the same call: what is left out of one is left out of all.

    One function may make the loaders of training and of tests, ``for batch in batches_of(test_set)``.
    """
    function = index.function_of(loader.call)
    if function is None or not index.definitions.calls_of(function):
        return False
    trained = {*loader.loops, *(loop.node for loop in index.step_loops), *index.regions.drivers.loops}
    others = (node for node in index.tree.loops if isinstance(node, ast.For) and node not in trained)
    return any(
        loader.call in index.loaders.makers_of(node)
        for node in others
        if not loops_of_batch(index, node)  # an attack on a batch that the training took
    )


def is_given(values: list[ast.expr] | None) -> bool:
    """Whether an argument may be something else than None."""
    return any(not (isinstance(value, ast.Constant) and value.value is None) for value in values or ())
