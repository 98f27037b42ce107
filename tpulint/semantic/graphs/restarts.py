"""Values that go on from step to step, and begin anew now and then with a number: a constant of that step's graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.model import Pace
from tpulint.records import NamedTuple
from tpulint.semantic.graphs.pending import State
from tpulint.semantic.loops.steps import StepLoop
from tpulint.semantic.project.other_files import Definition
from tpulint.semantic.project.outside import qualified_in_file
from tpulint.semantic.syntax.bindings import Binding, element_of
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_WITHOUT_STATE = frozenset({"torch.optim.Adagrad"})
"""Optimizers whose state is there before the first step."""
_SGD = "torch.optim.SGD"
_EPOCH = "epoch"


class Restart(NamedTuple):
    """One value, where it begins anew."""

    start: ast.AST
    """Where it gets a number: a target, or a call that makes or resets the object that keeps it."""
    name: str
    carried: tuple[ast.AST, ...]
    """Places in a step that make its next value of it."""
    loop: StepLoop


class Restarts:
    """Finds them in the step loops of one file.

    The first step of all is a graph of its own, since the optimizer makes its state in it: one in which the value
    begins anew later, with the state there, is a graph that was not compiled yet.
    """

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._pending = State(index)
        loops = index.step_loops if index.kinds.mentions_device else []
        found: dict[ast.AST, Restart] = {}
        for loop in loops:
            if loop.boundaries and self.has_state(loop):
                for restart in (*self._of_variables(loop), *self._of_objects(loop)):
                    found.setdefault(restart.start, restart)
        self.all = sorted(found.values(), key=lambda restart: index.span(restart.start))

    def has_state(self, loop: StepLoop) -> bool:
        """Whether an optimizer of a loop makes state in its first step, or may do so."""
        return any(self._makes_state(call) for call in loop.updates)

    def is_called_again(self, function: FunctionNode) -> bool:
        """Whether a loop of another file calls a function of this one again and again."""
        name = qualified_in_file(self._index.tree, function)
        return any(call.is_repeated and call.function == name for call in self._index.outside)

    def _makes_state(self, update: ast.Call) -> bool:
        given = [*update.args, *([update.func.value] if isinstance(update.func, ast.Attribute) else [])]
        optimizers = [item for item in given if self._index.kind(item) is Kind.OPTIMIZER]
        made = [creation.node for item in optimizers for creation in self._index.moves.creations.of(item)]
        return not made or not all(isinstance(call, ast.Call) and self._is_without_state(call) for call in made)

    def _is_without_state(self, call: ast.Call) -> bool:
        name = self._index.qualified_name(call.func)
        if name != _SGD:
            return name in _WITHOUT_STATE
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        momentum = given.get("momentum")
        is_zero = momentum is None or (isinstance(momentum, ast.Constant) and momentum.value == 0)
        return len(call.args) < 3 and None not in given and is_zero

    def _in_step(self, loop: StepLoop) -> Iterator[ast.AST]:
        """What runs in every step of a loop."""
        for region in (loop.node, *loop.functions):
            yield from self._index.tree.inside(region, functions=False)

    def _is_of_step(self, node: ast.AST, loop: StepLoop) -> bool:
        return self._index.step_loop_of(node) is loop and self._index.pace_of(node) is Pace.STEP

    # ---------------------------------------------------------------- variables

    def _of_variables(self, loop: StepLoop) -> Iterator[Restart]:
        index = self._index
        groups: dict[str, list[tuple[ast.stmt, ast.Name | ast.Attribute]]] = {}
        for node in self._in_step(loop):
            use = self._carried(node) if isinstance(node, ast.Assign | ast.AugAssign) else None
            if use is not None and isinstance(node, ast.stmt) and self._is_of_step(node, loop):
                groups.setdefault(index.text(use), []).append((node, use))
        for carried in groups.values():
            statements = tuple(statement for statement, _ in carried)
            bindings = {binding for _, use in carried for binding in self._index.flow.bindings_of(use)}
            if not any(binding.statement in statements for binding in bindings):
                continue  # another value in every step
            for binding in bindings:
                is_plain = isinstance(binding.statement, ast.Assign) and _is_number(element_of(binding))
                is_own = is_plain and self._is_at_home(binding, loop) and not self._is_of_update(binding, loop)
                is_own = is_own and not self._is_set_anew(binding)
                if is_own and self._comes_again(binding.statement, loop):
                    yield Restart(binding.node, index.text(binding.node), statements, loop)

    def _carried(self, statement: ast.Assign | ast.AugAssign) -> ast.Name | ast.Attribute | None:
        """The variable that gets a device tensor made of its last value; of tensors in other variables none."""
        index = self._index
        target = statement.target if isinstance(statement, ast.AugAssign) else statement.targets[0]
        if not isinstance(target, ast.Name | ast.Attribute):
            return None
        if not self._pending.is_on_device(statement.value) and not self._is_copied(target, statement):
            return None
        if isinstance(statement, ast.AugAssign):
            return target
        text = index.text(target)
        terms = [statement.value, *index.tree.inside(statement.value)] if isinstance(statement.value, ast.BinOp) else []
        uses = (term for term in terms if isinstance(term, ast.Name | ast.Attribute) and index.text(term) == text)
        return next(uses, None)

    def _is_copied(self, target: ast.Name | ast.Attribute, statement: ast.Assign | ast.AugAssign) -> bool:
        """Whether a sum of ``loss.data[0]`` is copied to the host at last, ``total.cpu()``: a tensor, not a number."""
        index = self._index
        text, function = index.text(target), index.function_of(statement)
        return index.is_device_tensor(statement.value) and any(
            index.function_of(copy) is function and index.text(copy.value) == text
            for copy in index.tree.attributes_called("cpu")
        )

    def _comes_again(self, statement: ast.AST, loop: StepLoop) -> bool:
        """Whether a statement runs again while the training goes on: in every epoch, or in some steps."""
        index = self._index
        pace = index.paces.of(statement)
        if pace is None:
            function = index.function_of(statement)
            within = isinstance(function, FUNCTIONS) and index.tree.encloses(function, loop.node)
            if not within or function is None:
                return False
            return _EPOCH in {item.arg for item in function.args.args} or self.is_called_again(function)
        return pace in (Pace.EPOCH, Pace.LOG_INTERVAL)

    def _is_at_home(self, binding: Binding, loop: StepLoop) -> bool:
        """Whether it is no attribute of another class than that of the loop: those are told by their objects."""
        owner = self._index.tree.class_of(binding.node) if isinstance(binding.node, ast.Attribute) else None
        return owner is None or owner is self._index.tree.class_of(loop.node)

    def _is_set_anew(self, binding: Binding) -> bool:
        """Whether the next statement gives the variable something else: ``total = other = 0``, ``total = zeros``."""
        suite = self._index.tree.suite_of(self._index.statement_of(binding.node))
        text = self._index.text(binding.node)
        for later in suite[suite.index(self._index.statement_of(binding.node)) + 1 :]:
            if not isinstance(later, ast.Assign):
                return False
            if text in map(self._index.text, later.targets):
                return not any(self._index.text(node) == text for node in self._index.tree.inside(later.value))
        return False

    def _is_of_update(self, binding: Binding, loop: StepLoop) -> bool:
        """Whether it begins anew with every update: steps that add up gradients are all compiled by the second one."""
        tree = self._index.tree
        if not isinstance(binding.statement, ast.stmt) or not tree.encloses(loop.node, binding.statement):
            return False
        suite = tree.suite_of(binding.statement)
        return any(self._index.statement_of(update) in suite for update in loop.updates)

    # ---------------------------------------------------------------- objects

    def _of_objects(self, loop: StepLoop) -> Iterator[Restart]:
        """Meters that are given tensors: ``meter.update(loss, n)``, and ``meter.reset()`` in every epoch."""
        index = self._index
        for call in self._in_step(loop):
            func = call.func if isinstance(call, ast.Call) and isinstance(index.parent(call), ast.Expr) else None
            holder = func.value if isinstance(func, ast.Attribute) else None
            if not isinstance(call, ast.Call) or not isinstance(func, ast.Attribute):
                continue
            if not isinstance(holder, ast.Name | ast.Attribute) or not self._is_of_step(call, loop):
                continue
            given = [
                item
                for item in (*call.args, *(key.value for key in call.keywords))
                if index.is_device_tensor(item) and not self._pending.is_old_number(item)
            ]
            owner = self._class_of(holder) if given else None
            if owner is None:
                continue
            from tpulint.semantic.totals.kept_sums import parameters_given, sums_grown

            parameters = frozenset(parameters_given(owner, func.attr, call, given))
            sums = sums_grown(owner, func.attr, parameters) if parameters else frozenset()
            for start in self._starts(holder, owner, sums) if sums else ():
                if self._comes_again(index.statement_of(start), loop):
                    yield Restart(start, index.text(holder), (call,), loop)

    def _class_of(self, holder: ast.Name | ast.Attribute) -> Definition | None:
        found = self._index.imported.classes_here(holder, self._index)
        return found[0] if len(found) == 1 else None

    def _starts(self, holder: ast.Name | ast.Attribute, owner: Definition, sums: frozenset[str]) -> Iterator[ast.AST]:
        """Where these sums of an object are numbers again: calls that make it, or of a method that resets them."""
        from tpulint.semantic.totals.kept_sums import set_to_numbers

        index = self._index
        bindings = index.flow.bindings_of(holder)
        for binding in bindings:
            if isinstance(binding.value, ast.Call) and not binding.path and sums & set_to_numbers(owner, "__init__"):
                yield binding.value
        for node in index.tree.attributes:
            call = index.parent(node)
            if not isinstance(call, ast.Call) or call.func is not node or call.args or call.keywords:
                continue
            if not isinstance(node.value, ast.Name | ast.Attribute) or index.text(node.value) != index.text(holder):
                continue
            if set(index.flow.bindings_of(node.value)) & set(bindings) and sums & set_to_numbers(owner, node.attr):
                yield call


def _is_number(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)
