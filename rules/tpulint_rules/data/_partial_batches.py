"""Whether the last batch of a loader may be smaller than the others."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tpulint.semantic import FUNCTIONS, FunctionNode, SemanticIndex
from tpulint.semantic.bindings import Binding
from tpulint.semantic.left_out_batches import leaves_out_smaller
from tpulint.semantic.loaders import Loader
from tpulint.semantic.other_files import Definition, methods, returned
from tpulint.semantic.repeated_batches import loops_of_batch
from tpulint.semantic.tree import LoopNode
from tpulint.semantic.variables import last_name

_FLAGS = frozenset({"train", "is_train", "training", "is_training", "for_training"})
"""Parameters that say whether the loaders of the training are to be made."""
_PHASES = _FLAGS | {"phase", "split", "mode", "stage", "subset", "partition"}
"""The same, and those that say of what the samples are for which a loader is made."""
_PLACES = 3
"""What ``range(0, n, size)`` is given."""
_DATA = frozenset({"data_source", "dataset", "data"})
"""Attributes under which samplers keep the samples."""


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


def phases_trained(index: SemanticIndex, loader: Loader) -> str | None:
    """The condition for training, ``name == "train"``, where one expression builds the loaders of all phases.

    Also where that of all calls shuffles under it, ``shuffle=(name == "train")``, by a parameter of its function, which
    may be the answer itself.
    """
    shuffle = (loader.arguments or {}).get("shuffle", [])
    if len(shuffle) == 1 and (_is_for_training(index, shuffle[0]) or _is_yes_and_no(index, shuffle[0])):
        return index.text(shuffle[0])
    holder = index.parent(loader.call)
    if not isinstance(holder, ast.DictComp) or len(holder.generators) > 1 or holder.value is not loader.call:
        return _asked_by_function(index, loader.call)
    source, key = holder.generators[0], holder.key
    if not isinstance(source.target, ast.Name) or not isinstance(key, ast.Name) or key.id != source.target.id:
        return None
    lists = [made.node for made in index.moves.creations.of(source.iter) if not made.path]
    names = lists[0].elts if len(lists) == 1 and isinstance(lists[0], ast.List | ast.Tuple) else []
    trained = [name for name in names if isinstance(name, ast.Constant) and str(name.value).lower().startswith("train")]
    return f"{key.id} == {index.text(trained[0])}" if len(trained) == 1 < len(names) else None


def chosen_for_training(index: SemanticIndex, loader: Loader) -> bool | None:
    """Whether a condition of training, ``name == "train"``, chooses a loader, or leaves it to others; None for neither.

    ``chosen = train_loader if name == "train" else test_loader`` in a function that makes both.
    """
    holder, function = index.parent(loader.call), index.function_of(loader.call)
    target = holder.targets[0] if isinstance(holder, ast.Assign) and len(holder.targets) == 1 else None
    uses = index.names.loads(target.id, index.names.scope_of(target)) if isinstance(target, ast.Name) else ()
    for node in index.tree.nodes_in(function, ast.If, ast.IfExp, functions=False) if function is not None else ():
        if not uses or not isinstance(node, ast.If | ast.IfExp) or not _is_for_training(index, node.test):
            continue
        for is_chosen, branch in ((True, node.body), (False, node.orelse)):
            parts = branch if isinstance(branch, list) else [branch]
            if all(any(use is part or index.tree.encloses(part, use) for part in parts) for use in uses):
                return is_chosen
    return None


def _asked_by_function(index: SemanticIndex, call: ast.Call) -> str | None:
    """What the function that makes a loader asks of a parameter beside it: ``is_train``, ``split == "train"``."""
    function = index.function_of(call)
    for node in index.tree.nodes_in(function, ast.If, ast.IfExp, functions=False) if function is not None else ():
        test = node.test if isinstance(node, ast.If | ast.IfExp) else None
        if test is None or index.tree.encloses(node, call):
            continue  # a branch makes a loader of its own
        if function is not None and len(_phases_named(index, function, test)) > 1:
            return None  # `phase == "train_plain"` beside `phase == "train"`: which of them trains does not show
        if _is_for_training(index, test) or (isinstance(test, ast.Name) and _is_flag_of_training(index, test)):
            return index.text(test)
    return None


def _phases_named(index: SemanticIndex, function: FunctionNode, test: ast.expr) -> set[str]:
    """Texts that begin with ``train`` which a function compares the same parameter with."""
    asked = test.left.id if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) else None
    return {
        part.value
        for node in index.tree.nodes_in(function, ast.Compare)
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id == asked
        for part in node.comparators
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.lower().startswith("train")
    }


def may_make_others(index: SemanticIndex, loader: Loader) -> bool:
    """Whether a function makes the loaders of several phases, ``load(root, phase)``, as far as its parameters tell.

    What is seen of the loops that take batches may not be all. Calls that all name the training make no others.
    """
    function = index.function_of(loader.call)
    if function is None:
        return False
    for parameter in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
        if parameter.arg not in _PHASES:
            continue
        given = index.definitions.arguments.of(function, parameter.arg)
        calls = index.definitions.calls_of(function)
        if not calls or len(given) < len(calls) or not all(map(_names_training, given)):
            return True
    return False


def _names_training(given: ast.expr) -> bool:
    value = given.value if isinstance(given, ast.Constant) else None
    return value is True or (isinstance(value, str) and value.lower().startswith("train"))


def _is_flag_of_training(index: SemanticIndex, test: ast.Name) -> bool:
    """Whether a name is a parameter that says if the loaders of the training are to be made: yes or no."""
    bindings = index.flow.reaching(test) if test.id in _FLAGS else ()
    functions = [one.statement for one in bindings if one.kind == "parameter"]
    if not functions or len(functions) != len(bindings):
        return False
    return test.id != "train" or all(
        isinstance(given, ast.Constant) and isinstance(given.value, bool)
        for function in functions
        if isinstance(function, FUNCTIONS)
        for given in (index.definitions.arguments.of(function, test.id) or [ast.Constant(None)])
    )


def _is_yes_and_no(index: SemanticIndex, flag: ast.expr) -> bool:
    """Whether a name is a parameter for which some calls give True and the others False."""
    bindings = index.flow.reaching(flag) if isinstance(flag, ast.Name) else ()
    function = bindings[0].statement if len(bindings) == 1 and bindings[0].kind == "parameter" else None
    given = index.definitions.arguments.of(function, bindings[0].name) if isinstance(function, FUNCTIONS) else []
    answers = [item.value for item in given if isinstance(item, ast.Constant)]
    return (
        len(answers) == len(given)
        and any(answer is True for answer in answers)
        and any(answer is False for answer in answers)
    )


def _is_for_training(index: SemanticIndex, test: ast.expr) -> bool:
    """``phase == "train"`` of a parameter."""
    if not isinstance(test, ast.Compare) or not isinstance(test.left, ast.Name) or not isinstance(test.ops[0], ast.Eq):
        return False
    name = test.comparators[0].value if len(test.ops) == 1 and isinstance(test.comparators[0], ast.Constant) else None
    trains = isinstance(name, str) and name.lower().startswith("train")
    return trains and all(binding.kind == "parameter" for binding in index.flow.reaching(test.left))


def is_given(values: list[ast.expr] | None) -> bool:
    """Whether an argument may be something else than None."""
    return any(not (isinstance(value, ast.Constant) and value.value is None) for value in values or ())


def _asks_for_any(test: ast.expr, names: set[str]) -> bool:
    """Whether a condition asks only whether anything is in one of these lists: ``if batch``, ``if len(batch) > 0``."""
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Gt | ast.NotEq):
        counted = test.left.args if isinstance(test.left, ast.Call) and test.left.args else [test.left]
        test = counted[0]
    return isinstance(test, ast.Name) and test.id in names


def rest_handed_on(index: SemanticIndex, function: FunctionNode) -> ast.If | None:
    """Where a generator that fills batches yields one that is not full: ``if batch: yield batch`` behind its loops."""
    for node in index.tree.nodes_in(function, ast.Yield, functions=False):
        holder = index.parent(index.statement_of(node))
        value = node.value if isinstance(node, ast.Yield) else None
        loop = index.tree.loop_of(node)
        if not isinstance(holder, ast.If) or value is None:
            continue
        if loop is not None and index.tree.encloses(function, loop):
            continue
        names = {part.id for part in ast.walk(holder.test) if isinstance(part, ast.Name)}
        made_of = {part.id for part in ast.walk(value) if isinstance(part, ast.Name)}  # `yield torch.stack(batch)`
        is_rest = value.id in names if isinstance(value, ast.Name) else _asks_for_any(holder.test, made_of)
        if is_rest and "drop_last" not in index.text(holder.test):
            return holder
    return None


def last_slice_handed_on(index: SemanticIndex, function: FunctionNode) -> ast.Yield | None:
    """Where a generator yields all slices of a list: ``for i in range(0, len(rows), n): yield rows[i : i + n]``.

    The last is shorter; not so where the list itself was cut, or the loop may end or go on before.
    """
    for node in index.tree.nodes_in(function, ast.Yield, functions=False):
        statement = index.statement_of(node)
        loop, value = index.parent(statement), node.value if isinstance(node, ast.Yield) else None
        if not isinstance(loop, ast.For) or not isinstance(value, ast.Subscript) or not isinstance(loop.iter, ast.Call):
            continue
        cut, places = value.slice, loop.iter.args
        is_counted = index.qualified_name(loop.iter.func) == "builtins.range" and len(places) == _PLACES
        if not is_counted or not isinstance(cut, ast.Slice) or not isinstance(cut.upper, ast.BinOp) or cut.step:
            continue
        at, size, whole = index.text(loop.target), index.text(places[2]), places[1]
        is_next = isinstance(cut.upper.op, ast.Add) and {index.text(cut.upper.left), index.text(cut.upper.right)}
        is_whole = isinstance(whole, ast.Call) and index.qualified_name(whole.func) == "builtins.len"
        if not is_whole or cut.lower is None or index.text(cut.lower) != at or is_next != {at, size}:
            continue
        ends = index.tree.nodes_in(loop, ast.Break, ast.Continue, functions=False)
        if isinstance(node, ast.Yield) and not any(True for _ in ends) and not _is_cut(index, whole):
            return node
    return None


def _is_cut(index: SemanticIndex, count: ast.expr) -> bool:
    """Whether the list may be cut whose length is asked for, ``order = order[:n // size * size]``."""
    given = count.args[0] if isinstance(count, ast.Call) and len(count.args) == 1 else None
    if not isinstance(given, ast.Name):
        return not isinstance(given, ast.Attribute) or last_name(given) not in _DATA
    bindings = index.flow.reaching(given)
    made = [one.value for one in bindings if one.kind == "assign" and not one.path and one.value is not None]
    parts = [part for value in made for part in ast.walk(value)]
    return len(made) != 1 or len(bindings) != 1 or any(isinstance(p, ast.Slice | ast.operator) for p in parts)
