"""What constants in one call rule out: ``run(loader, train=False)`` does not run what stands under ``if train:``."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from tpulint.semantic.batch_loops import batches_of
from tpulint.semantic.default_flags import Branches, is_open, literal
from tpulint.semantic.other_files import Definition
from tpulint.semantic.passed_arguments import arguments_given, values_given
from tpulint.semantic.tree import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.names import Names
    from tpulint.semantic.regions import StepLoop
    from tpulint.semantic.tree import SyntaxTree

_Constants = Mapping[str, tuple[object]]


class _ConstantBranches(Branches):
    """Of a function whose parameters hold these constants."""

    def __init__(self, tree: SyntaxTree, names: Names, given: _Constants) -> None:
        super().__init__(tree, names)
        self._given = given

    def _constant(self, name: ast.Name) -> tuple[object] | None:
        return self._given.get(name.id)


def only_evaluates(call: ast.Call, run: Definition) -> bool:
    """Whether a call trains nothing with the step loops of its function: constants that it gives leave out updates."""
    file, function = run.file, run.node
    loops = [loop for loop in file.step_loops if file.tree.encloses(function, loop.node)]
    updates = [update for loop in loops for update in loop.updates]
    if not updates or not all(file.function_of(update) is function for update in updates):
        return False
    given = _constants(call, run)
    branches = _ConstantBranches(file.tree, file.names, given)
    return bool(given) and all(map(branches.leave_out, updates))


def given_by_purpose(index: SemanticIndex, loop: StepLoop) -> dict[bool, list[ast.expr]]:
    """Variables and generators given by calls that run the function of a step loop: by those that evaluate, and others.

    Of a function with a single call nothing is said.
    """
    function = index.function_of(loop.node)
    given: dict[bool, list[ast.expr]] = {}
    if function is None or len(calls := index.definitions.calls_of(function)) < 2:
        return given
    for call in calls:
        arguments = values_given(call)
        variables = [item for item in arguments if isinstance(item, ast.Name) or batches_of(item) is not None]
        given.setdefault(only_evaluates(call, Definition(index, function)), []).extend(variables)
    return given


def _constants(call: ast.Call, run: Definition) -> _Constants:
    """Parameters that hold a constant throughout the call: given, or left at a default that is written out."""
    function, file = run.node, run.file
    if not isinstance(function, FUNCTIONS) or is_open(call):
        return {}
    scope = file.names.scope_of(function.body[0])
    given = dict(arguments_given(call, function, file.tree.class_of(function) is not None))
    found: dict[str, tuple[object]] = {}
    for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
        bindings = file.names.bindings_in(scope, argument.arg)
        value = given.get(argument.arg, bindings[0].value) if len(bindings) == 1 else None
        constant = None if value is None else literal(value)
        if constant is not None:
            found[argument.arg] = constant
    return found
