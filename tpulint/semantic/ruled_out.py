"""What constants in one call rule out: ``run(loader, train=False)`` does not run what stands under ``if train:``."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from tpulint.semantic.default_flags import is_open, literal
from tpulint.semantic.other_files import Definition
from tpulint.semantic.passed_arguments import arguments_given
from tpulint.semantic.tree import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_Constants = Mapping[str, object]


def only_evaluates(call: ast.Call, run: Definition) -> bool:
    """Whether a call trains nothing with the step loops of its function: constants that it gives leave out updates."""
    file, function = run.file, run.node
    loops = [loop for loop in file.step_loops if file.tree.encloses(function, loop.node)]
    updates = [update for loop in loops for update in loop.updates]
    if not updates or not all(file.function_of(update) is function for update in updates):
        return False
    given = _constants(call, run)
    return bool(given) and all(_is_left_out(file, update, given) for update in updates)


def _constants(call: ast.Call, run: Definition) -> _Constants:
    """Parameters that hold a constant throughout the call: given, or left at a default that is written out."""
    function, file = run.node, run.file
    if not isinstance(function, FUNCTIONS) or is_open(call):
        return {}
    scope = file.names.scope_of(function.body[0])
    given = dict(arguments_given(call, function, file.tree.class_of(function) is not None))
    found: dict[str, object] = {}
    for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
        bindings = file.names.bindings_in(scope, argument.arg)
        value = given.get(argument.arg, bindings[0].value) if len(bindings) == 1 else None
        constant = None if value is None else literal(value)
        if constant is not None:
            found[argument.arg] = constant[0]
    return found


def _is_left_out(file: SemanticIndex, node: ast.AST, given: _Constants) -> bool:
    child = node
    for ancestor in file.tree.ancestors(node):
        if isinstance(ancestor, FUNCTIONS):
            return False
        if isinstance(ancestor, ast.If) and child is not ancestor.test:
            answer = _answer(ancestor.test, given)
            if answer is not None and answer is not file.tree.in_body(ancestor, child):
                return True
        child = ancestor
    return False


def _answer(test: ast.expr, given: _Constants) -> bool | None:
    """What a condition answers where parameters hold these constants; None where that is not known."""
    if isinstance(test, ast.Name):
        return bool(given[test.id]) if test.id in given else None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        answer = _answer(test.operand, given)
        return None if answer is None else not answer
    if isinstance(test, ast.BoolOp):
        answers = [_answer(value, given) for value in test.values]
        decides = isinstance(test.op, ast.Or)
        return decides if decides in answers else None if None in answers else not decides
    if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id in given:
        other = literal(test.comparators[0]) if len(test.ops) == 1 else None
        if other is not None and isinstance(test.ops[0], ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
            return (given[test.left.id] == other[0]) is isinstance(test.ops[0], ast.Eq | ast.Is)
    return None
