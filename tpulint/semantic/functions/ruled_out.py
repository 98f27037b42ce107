"""What constants in one call rule out: ``run(loader, train=False)`` does not run what stands under ``if train:``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from tpulint.semantic.batches.batch_loops import batches_of, gone_through
from tpulint.semantic.functions.default_flags import Branches, is_open, literal
from tpulint.semantic.functions.passed_arguments import arguments_given, values_given
from tpulint.semantic.project.other_files import Definition
from tpulint.semantic.syntax.nodes import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.loops.regions import StepLoop
    from tpulint.semantic.syntax.names import Names
    from tpulint.semantic.syntax.tree import SyntaxTree

_DEPTH = 4
"""Variables and calls that a source of batches is followed through."""
_RECORDING_AGAIN = ("enable_grad", "set_grad_enabled")
_Constants = Mapping[str, tuple[object]]


class _ConstantBranches(Branches):
    """Of a function whose parameters hold these constants."""

    def __init__(self, tree: SyntaxTree, names: Names, given: _Constants) -> None:
        super().__init__(tree, names)
        self._given = given

    def _constant(self, name: ast.Name) -> tuple[object] | None:
        return self._given.get(name.id)


class _AssumedBranches(Branches):
    """Where a condition has one answer, wherever it is asked."""

    def __init__(self, tree: SyntaxTree, names: Names, test: ast.expr, answer: bool) -> None:
        super().__init__(tree, names)
        while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, answer = test.operand, not answer
        self._asked = ast.dump(test)
        self._assumed = answer

    def _answer(self, test: ast.expr) -> bool | None:
        return self._assumed if ast.dump(test) == self._asked else super()._answer(test)


def only_evaluates(index: SemanticIndex, call: ast.Call, run: Definition) -> bool:
    """Whether a call of a file trains nothing with the step loops of its function.

    Constants that it gives leave out updates. Under ``torch.no_grad()`` a backward pass would raise, and behind
    ``model.eval()`` nothing is updated that stands under ``if model.training:``.
    """
    file, function = run.file, run.node
    loops = [loop for loop in file.step_loops if file.tree.encloses(function, loop.node)]
    updates = [update for loop in loops for update in loop.updates]
    if not updates or not all(file.function_of(update) is function for update in updates):
        return False
    switches = index.regions.evaluation.switches
    if switches.is_under_no_grad(call) and not file.source.has_any(_RECORDING_AGAIN):
        return True
    if all(_is_of_training(file.tree, update) for update in updates) and switches.is_behind_eval(call):
        return True
    given = _constants(call, run)
    branches = _ConstantBranches(file.tree, file.names, given)
    return bool(given) and all(map(branches.leave_out, updates))


def _is_of_training(tree: SyntaxTree, update: ast.AST) -> bool:
    """Whether an update is made by a model that trains alone: ``if model.training: loss.backward()``."""
    child = update
    for ancestor in tree.ancestors(update):
        if isinstance(ancestor, FUNCTIONS):
            return False
        test = ancestor.test if isinstance(ancestor, ast.If) else None
        if isinstance(test, ast.Attribute) and test.attr == "training" and tree.in_body(ancestor, child):
            return True
        child = ancestor
    return False


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
        given.setdefault(only_evaluates(index, call, Definition(index, function)), []).extend(variables)
    return given


def sources_by_purpose(index: SemanticIndex, loop: StepLoop) -> dict[bool, list[ast.expr]]:
    """What a step loop takes its batches from where it only evaluates, and otherwise.

    ``loader = train_loader if train else test_loader``, and ``if train: loss.backward(); optimizer.step()`` in it.
    """
    tree, names = index.tree, index.names
    found: dict[bool, list[ast.expr]] = {}
    iterated = loop.node.iter if isinstance(loop.node, ast.For | ast.AsyncFor) else None
    if iterated is None or not all(tree.encloses(loop.node, update) for update in loop.updates):
        return found
    for test, answer, source in _chosen_sources(index, loop, iterated):
        branches = None if test is None else _AssumedBranches(tree, names, test, answer)
        evaluates = branches is not None and all(branches.leave_out(update, loop.node) for update in loop.updates)
        found.setdefault(evaluates, []).append(source)
    return found


def _chosen_sources(
    index: SemanticIndex, loop: StepLoop, source: ast.expr, depth: int = 0
) -> Iterator[tuple[ast.expr | None, bool, ast.expr]]:
    """What a loop may go through, with the condition that chooses it and the answer to that; None for no condition."""
    if isinstance(source, ast.IfExp):
        yield source.test, True, source.body
        yield source.test, False, source.orelse
    elif isinstance(source, ast.Call) and depth < _DEPTH and (through := gone_through(source)):
        for item in through:
            yield from _chosen_sources(index, loop, item, depth + 1)
    elif isinstance(source, ast.Name) and depth < _DEPTH and (bindings := index.flow.reaching(source)):
        branches = {one: index.parent(one.statement) for one in bindings}
        chosen = {
            one: branch
            for one, branch in branches.items()
            if isinstance(branch, ast.If) and not index.tree.encloses(branch, loop.node)
        }
        for binding in bindings:
            branch = chosen.get(binding)
            if binding.value is None or binding.path or binding.kind != "assign":
                yield None, True, source
            elif branch is not None:
                yield branch.test, index.tree.in_body(branch, binding.statement), binding.value
            elif len(chosen) == 1:  # what it holds where the branch is not taken
                other, branch = next(iter(chosen.items()))
                yield branch.test, not index.tree.in_body(branch, other.statement), binding.value
            else:
                yield from _chosen_sources(index, loop, binding.value, depth + 1)
    else:
        yield None, True, source


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
