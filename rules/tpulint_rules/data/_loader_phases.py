"""Loaders that one function makes for the training and for other phases, ``load(root, phase)``."""

from __future__ import annotations

import ast

from tpulint.semantic import FUNCTIONS, FunctionNode, SemanticIndex
from tpulint.semantic.batches.loaders import Loader
from tpulint_rules.data._phase_branches import is_asked_around, is_branch_of_training

_FLAGS = frozenset({"train", "is_train", "training", "is_training", "for_training"})
"""Parameters that say whether the loaders of the training are to be made."""
_PHASES = _FLAGS | {"phase", "split", "mode", "stage", "subset", "partition"}
"""The same, and those that say of what the samples are for which a loader is made."""


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

    ``chosen = train_loader if name == "train" else test_loader`` in a function that makes both, and
    the loader that is made in ``if mode == "warmup":``.
    """
    if is_branch_of_training(index, loader.call):
        return True
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
        if is_asked_around(index, call, test):
            continue  # `mode == "train"` is never so in `if mode == "warmup":`
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
