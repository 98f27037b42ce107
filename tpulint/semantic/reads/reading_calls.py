"""Calls of functions that compute something of a batch and read it: ``total += accuracy(output, target)``."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.graphs.statement_work import Work
from tpulint.semantic.project.other_files import Definition, definition_called
from tpulint.semantic.reads.reads import CASTS, COPIES, adds_to_itself
from tpulint.semantic.syntax.nodes import FUNCTIONS, LOOPS, FunctionNode, LoopNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


class ReadingCalls:
    """Answers about the turns of evaluation loops of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def run_turns(self, loop: LoopNode) -> bool:
        """Whether one read in each turn, the last thing done for the device there, runs all that the turn records.

        What else it made, ``output``, is forgotten in the next turn. A boundary would run it once more, on either side
        of the read. It would be needed where a turn leaves something to the next one: ``total += loss``, or the
        statistics of layers that are not in evaluation mode.
        """
        is_still = self._index.regions.evaluation.switches.is_behind_eval(loop)
        return (is_still and self._ends_with_read(loop.body)) or self._is_left_to_readers(loop, is_still)

    def hands_to_reader(self, holder: ast.AST) -> bool:
        """Whether a loop or function always hands a tensor to a function, of any file, that copies to the host.

        ``R = extract(start, end)`` with ``start.argmax(-1).cpu()`` there.
        """
        index = self._index
        calls = (call for call in index.tree.nodes_in(holder, ast.Call, functions=False) if call.args or call.keywords)
        for call in calls:
            if not any(map(index.reads.is_on_device, values_given(call))) or index.regions.gate_of(call) is not None:
                continue
            called = definition_called(index, call)
            if called is None or not isinstance(called.node, FUNCTIONS):
                continue
            inside = called.file.tree.nodes_in(called.node, ast.Call, functions=False)
            if any(
                _fetched(called.file, one) is not None and called.file.regions.gate_in(one, called.node) is None
                for one in inside
            ):
                return True
        return False

    def _is_left_to_readers(self, loop: LoopNode, is_still: bool) -> bool:
        """Whether all that a turn records is made by functions of this file that read it, and give numbers back.

        ``total += self.evaluate(x, y)``, which returns ``loss.item()``: what else it made is forgotten behind it.
        """
        index = self._index
        work = [index.statement_work.of(item) for item in loop.body]
        calls = index.tree.nodes_in(loop, ast.Call, functions=False) if work.count(Work.READ) == 1 else []
        called = {index.definitions.function_called(call): None for call in calls if index.reads.inside(loop) == []}
        functions = [one for one in called if one is not None]
        if not functions or Work.DEVICE in work or not all(map(self._gives_numbers, functions)):
            return False
        return is_still or all(map(self._is_still, functions))

    def _is_still(self, function: FunctionNode) -> bool:
        """Whether a function switches what it runs to ``eval()`` itself."""
        evaluation = self._index.regions.evaluation
        calls = self._index.tree.nodes_in(function, ast.Call, functions=False)
        runs = [call for call in calls if evaluation.runs.is_run(call)]
        return bool(runs) and all(map(evaluation.switches.is_behind_eval, runs))

    def _gives_numbers(self, function: FunctionNode) -> bool:
        index = self._index
        values = [
            part
            for value in index.definitions.returned_by(function)
            for part in (value.elts if isinstance(value, ast.Tuple | ast.List) else [value])
        ]
        kept = any(isinstance(node.ctx, ast.Store) for node in index.tree.nodes_in(function, ast.Attribute))
        is_read = any(index.regions.gate_in(read.node, function) is None for read in index.reads.inside(function))
        return is_read and bool(values) and not kept and not any(map(index.reads.is_on_device, values))

    def _ends_with_read(self, suite: Sequence[ast.stmt]) -> bool:
        work = self._index.statement_work
        reading = next((item for item in suite if work.of(item) is Work.READ), None)
        if reading is None:
            return False
        at = suite.index(reading)
        if any(map(self._keeps, suite[:at])) or any(work.of(item) is not Work.HOST for item in suite[at + 1 :]):
            return False
        if isinstance(reading, ast.With):
            return self._ends_with_read(reading.body)
        return self._reads_what_it_computes(reading)

    def _keeps(self, statement: ast.stmt) -> bool:
        """Whether what a statement records outlives its turn: it is added up, collected, or put into an object."""
        tree, reads = self._index.tree, self._index.reads
        for node in (statement, *tree.inside(statement, functions=False)):
            if isinstance(node, ast.AugAssign) and reads.is_on_device(node.value):
                return True
            if isinstance(node, ast.Assign) and reads.is_on_device(node.value):
                targets = [part for target in node.targets for part in ast.walk(target)]
                if adds_to_itself(node) or any(isinstance(part, ast.Attribute | ast.Subscript) for part in targets):
                    return True
            given = values_given(node.value) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else ()
            if any(map(reads.is_on_device, given)):
                return True
        return False

    def _reads_what_it_computes(self, statement: ast.stmt) -> bool:
        index = self._index
        if not isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr) or index.reads.inside(statement):
            return False
        calls = (node for node in index.tree.nodes_in(statement, ast.Call, functions=False))
        called = [(call, definition_called(index, call)) for call in calls if isinstance(call, ast.Call)]
        own = [(call, function) for call, function in called if function is not None]
        return len(own) == 1 and all(
            any(map(index.reads.is_on_device, values_given(call))) and _computes_and_reads_once(function)
            for call, function in own
        )


def _computes_and_reads_once(function: Definition) -> bool:
    """Whether a function reads once, in every call, and something else than what it is given."""
    node, tree = function.node, function.file.tree
    if not isinstance(node, FUNCTIONS):
        return False
    calls = [call for call in tree.nodes_in(node, ast.Call, functions=False) if isinstance(call, ast.Call)]
    read: dict[int, ast.expr] = {}
    for call in calls:
        if definition_called(function.file, call) is not None or function.file.reads.is_output(call):
            return False
        fetched = _fetched(function.file, call)
        if fetched is not None:
            while isinstance(fetched, ast.Call) and (inner := _fetched(function.file, fetched)) is not None:
                fetched = inner
            read[id(fetched)] = fetched
    if len(read) != 1:
        return False
    (tensor,) = read.values()
    given = {argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    around = (item for item in tree.ancestors(tensor) if tree.encloses(node, item) and item is not node)
    is_now_and_then = any(isinstance(item, (*LOOPS, ast.If, ast.IfExp, ast.comprehension)) for item in around)
    return not is_now_and_then and not (isinstance(tensor, ast.Name) and tensor.id in given)


def _fetched(file: SemanticIndex, call: ast.Call) -> ast.expr | None:
    """What a call copies to the host: ``x.item()``, ``float(x)``."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in COPIES:
        return call.func.value
    is_cast = file.qualified_name(call.func) in CASTS and len(call.args) == 1
    return call.args[0] if is_cast and not isinstance(call.args[0], ast.Constant) else None
