"""What touches the device in a process that joins others: only once the process knows which chip is its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic import FUNCTIONS, LOOPS, FunctionNode
from tpulint.semantic.functions.passed_arguments import values_given

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.fixes import FixBuilder
    from tpulint.semantic import SemanticIndex

_SEEDS = frozenset({
    "torch.manual_seed", "torch.cuda.manual_seed", "torch.cuda.manual_seed_all", "torch_xla.manual_seed",
    "tpulint_runtime.backend.manual_seed",
})  # fmt: skip
"""Functions that seed the device, in CUDA's version or XLA's."""
_DEPTH = 4


def write_behind(fix: FixBuilder, index: SemanticIndex, statement: ast.stmt, join: ast.Call, text: str) -> bool:
    """Write what touches the device behind the statement that joins, under the condition that a statement stands under.

    False where that would be behind the training, or where it is not clear what comes when: nothing is written.
    """
    tree = index.tree
    joining = _joining(index, statement, join)
    if joining is None:
        body = (index.function_of(statement) or tree.module).body
        guard = tree.parent(statement)
        if not isinstance(guard, ast.If) or guard not in body or statement not in guard.body:
            return False
        text = f"if {index.text(guard.test)}:\n    {text}"
        joining = _joining(index, guard, join)
    if joining is None or isinstance(joining, ast.Return | ast.With | ast.Try):
        return False
    if _seeds_anew(index, statement, joining):
        return False  # what stands behind that would seed the device with what was meant for before
    fix.insert_after(joining, text)
    return True


def _joining(index: SemanticIndex, statement: ast.stmt, join: ast.Call) -> ast.stmt | None:
    """The statement that joins behind this one, in its block, or in the function that the rest of the module calls."""
    suite = index.tree.suite_of(statement)
    behind = suite[suite.index(statement) + 1 :]
    found = next((item for item in behind if _joins(index, item, join)), None)
    # What the module does last trains as well.
    if suite is not index.tree.module.body or (found is not None and found is not suite[-1]):
        return found
    return next((inner for item in behind for inner in _joining_in_called(index, statement, item, join)), None)


def _joining_in_called(index: SemanticIndex, statement: ast.stmt, item: ast.stmt, join: ast.Call) -> Iterator[ast.stmt]:
    """``if distributed: set_up()`` in ``main`` of ``if __name__ == "__main__": main()``, in front of all loops."""
    calls = () if isinstance(item, (*FUNCTIONS, ast.ClassDef)) else (item, *index.tree.inside(item))
    for call in calls:
        function = index.definitions.function_called(call) if isinstance(call, ast.Call) else None
        if (
            function is None
            or len(index.definitions.calls_of(function)) != 1
            or _hides_names_of(index, function, statement)
        ):
            continue
        for number, inner in enumerate(function.body):
            if _joins(index, inner, join):
                run = [node for early in function.body[: number + 1] for node in _nodes_run(index, early)]
                if not any(isinstance(node, LOOPS) for node in run):
                    yield inner
                break


def _hides_names_of(index: SemanticIndex, function: FunctionNode, statement: ast.stmt) -> bool:
    """Whether a variable that a statement of the module reads is another one in a function, or may have changed."""
    names = [node for node in index.tree.inside(statement) if isinstance(node, ast.Name)]
    own = index.names.variables_of(index.names.scope_of(function.body[0]))
    return any(name.id in own or len(index.names.bindings(name)) > 1 for name in names)


def _joins(index: SemanticIndex, statement: ast.stmt, join: ast.Call) -> bool:
    """Whether running a statement runs the call, or calls a short function of the file that does."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return False
    if index.tree.encloses(statement, join):
        return True
    callee: FunctionNode | None = index.function_of(join)
    if callee is None or any(isinstance(node, LOOPS) for node in _nodes_run(index, callee)):
        return False
    return any(index.tree.encloses(statement, call) for call in index.definitions.calls_of(callee))


def _nodes_run(index: SemanticIndex, node: ast.AST, depth: int = 0) -> Iterator[ast.AST]:
    """What running a node runs, in functions of the file that it calls, too."""
    for inner in (node, *index.tree.inside(node)):
        yield inner
        function = index.definitions.function_called(inner) if isinstance(inner, ast.Call) and depth < _DEPTH else None
        if function is not None:
            yield from _nodes_run(index, function, depth + 1)


def _seeds_anew(index: SemanticIndex, statement: ast.stmt, joining: ast.stmt) -> bool:
    """Whether another seed than that of a statement is given behind it, up to where the process joins."""
    suite = index.tree.suite_of(joining)
    holder = next((item for item in suite if index.tree.encloses(item, statement)), None)
    if holder is None:  # the function that joins runs behind the statement
        module = index.tree.module.body
        first = next(at for at, item in enumerate(module) if index.tree.encloses(item, statement))
        calls = index.definitions.calls_of(index.tree.function_of(joining))  # type: ignore[arg-type]
        last = next(at for at, item in enumerate(module) if any(index.tree.encloses(item, call) for call in calls))
        before = [item for item in module[first:last] if not isinstance(item, (*FUNCTIONS, ast.ClassDef))]
        start = 0
    else:
        before, start = [], suite.index(holder)
    mine = {_given(call) for call in _seeds(index, statement)}
    between = [*before, *suite[start : suite.index(joining) + 1]]
    return bool(mine) and any(_given(call) not in mine for item in between for call in _seeds(index, item))


def _seeds(index: SemanticIndex, statement: ast.stmt) -> list[ast.Call]:
    return [
        node
        for node in _nodes_run(index, statement)
        if isinstance(node, ast.Call) and index.qualified_name(node.func) in _SEEDS
    ]


def _given(call: ast.Call) -> str:
    return "".join(ast.dump(item) for item in values_given(call))
