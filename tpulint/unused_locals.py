"""Variables of functions that only read values for what fixes took away: ``n_gpus = torch.cuda.device_count()``."""

from __future__ import annotations

import ast

from tpulint.emptied import has_comment, only_looks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import FunctionNode, SemanticIndex


def unused_locals(before: SemanticIndex, after: SemanticIndex) -> list[ast.stmt]:
    """Assignments of variables that had a use before the fixes and have none now; what they give only looks.

    Other linters report them. A variable is given up whole, or not at all.
    """
    known: dict[tuple[str, ...], FunctionNode | None] = {}
    for function in before.tree.functions:
        chain = _chain(before, function)
        known[chain] = None if chain in known else function  # of several with one name nobody knows which it was
    found: list[ast.stmt] = []
    for function in after.tree.functions:
        was = known.get(_chain(after, function))
        if was is None or ast.dump(was) == ast.dump(function):
            continue
        if any(after.names.reads_any_variable(call) for call in after.tree.nodes_in(function, ast.Call)):
            continue
        names = {
            node.id
            for node in after.tree.nodes_in(function, ast.Name, functions=False)
            if isinstance(node.ctx, ast.Store)
        }
        for name in sorted(names - after.source.other_words):
            if _reads(before, was, name):
                found.extend(_given(after, function, name))
    return found


def _chain(index: SemanticIndex, function: FunctionNode) -> tuple[str, ...]:
    around = [item for item in index.tree.ancestors(function) if isinstance(item, ast.FunctionDef | ast.ClassDef)]
    return (function.name, *(item.name for item in around))


def _reads(index: SemanticIndex, function: FunctionNode, name: str) -> bool:
    """Whether anybody reads the variable of the function, not one of the same name: ``global`` of a function in it."""
    return bool(index.names.loads(name, index.names.scope_of(function.body[0])))


def _given(index: SemanticIndex, function: FunctionNode, name: str) -> list[ast.stmt]:
    """The assignments of a variable that nothing reads; none when one of them does more than that."""
    scope = index.names.scope_of(function.body[0])
    bindings = index.names.bindings_in(scope, name)
    statements: list[ast.stmt] = []
    for binding in bindings:
        statement = binding.statement
        if not isinstance(statement, ast.Assign | ast.AnnAssign) or binding.path:
            return []
        targets = [statement.target] if isinstance(statement, ast.AnnAssign) else statement.targets
        if len(targets) != 1:
            return []
        if index.function_of(statement) is not function or statement.value is None:
            return []  # `nonlocal`
        is_plain = isinstance(targets[0], ast.Name) and only_looks(index, statement.value)
        if not is_plain or has_comment(index, statement):
            return []
        around = index.tree.parents[statement]
        is_guarded = isinstance(around, ast.If) and only_looks(index, around.test)  # which goes when it is empty
        if len(index.tree.suite_of(statement)) < 2 and not is_guarded:
            return []
        statements.append(statement)
    return statements if len(index.names.mentions(name, scope)) == len(statements) else []
