"""Running totals of a loop that are kept on the host: ``total += loss.item()``."""

from __future__ import annotations

import ast
from enum import Enum

from tpulint.model import Span
from tpulint.records import NamedTuple
from tpulint.semantic.bindings import Binding
from tpulint.semantic.kinds import Kind, Side
from tpulint.semantic.onlookers import has_onlookers
from tpulint.semantic.reads import Read, adds_to_itself
from tpulint.semantic.regions import Pace
from tpulint.semantic.tree import LoopNode
from tpulint.semantic.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


class Home(Enum):
    """Where the sum can be kept on the device."""

    VARIABLE = "in the variable itself, which starts anew with the loop"
    INNER_VARIABLE = "in the variable itself, of a loop within a step"
    NEW_VARIABLE = "in a new variable, added to the target behind the loop"
    TENSOR = "in the target, which is a tensor on the device already"


class Total(NamedTuple):
    """One total and everything that must change when it moves to the device."""

    loop: LoopNode
    target: ast.expr
    """What is added to, as written in the first addition."""
    additions: tuple[ast.stmt, ...]
    reads: tuple[Read, ...]
    """All host reads in the additions."""
    is_count: bool
    """Whether only whole numbers are added."""
    home: Home
    start: Binding | None = None
    """Where the variable is set to 0, in front of the loop."""
    resets: tuple[ast.expr, ...] = ()
    """Literals that set the variable back to 0 inside the loop."""
    uses: tuple[ast.Name, ...] = ()
    """Places inside the loop that need the number."""
    averages: tuple[ast.AugAssign, ...] = ()
    """Statements that divide the variable itself, which is a number from there to its reset."""
    is_used_behind: bool = True
    """Whether the number is needed outside of the loop."""


class Totals:
    """Finds running totals."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._memo: dict[LoopNode, list[Total]] = {}
        self._loops: dict[LoopNode, str] | None = None

    @property
    def loops(self) -> dict[LoopNode, str]:
        """Loops that run in steps or evaluation, with what a turn of theirs belongs to."""
        if self._loops is None:
            regions = self._index.regions
            names = {Pace.STEP: "step", Pace.LOG_INTERVAL: "", Pace.EVALUATION: "evaluation batch"}
            self._loops = {}
            for loop in self._index.tree.loops if regions.turn_loops else ():
                if loop in regions.evaluation_loops:
                    self._loops[loop] = "evaluation batch"
                elif loop in regions.turn_loops:
                    self._loops[loop] = "step"
                elif (pace := regions.pace_of(loop)) is not None and (name := names.get(pace)):
                    self._loops[loop] = name
        return self._loops

    def of(self, loop: LoopNode) -> list[Total]:
        """Totals of a loop that can move to the device, in order of position."""
        if loop not in self._memo:
            self._memo[loop] = self._find(loop)
        return self._memo[loop]

    def accepts(self, use: ast.expr) -> bool:
        """Whether a name is added to a total that could move to the device if the name stood for a tensor."""
        index = self._index
        statement = index.statement_of(use)
        target, loop = added_to(statement), index.tree.loop_of(statement)
        if target is None or loop not in self.loops or not self._is_operand(use, statement):
            return False
        total = Total(loop, target, (statement,), (), False, Home.NEW_VARIABLE)
        if self._is_device_tensor(target):
            return True
        if isinstance(target, ast.Name) and self._in_own_variable(total, target) is not None:
            return True
        return isinstance(statement, ast.AugAssign) and self._is_unused_inside(total)

    def _is_operand(self, use: ast.expr, statement: ast.stmt) -> bool:
        """Whether only arithmetic lies between a name and its statement."""
        for ancestor in self._index.tree.ancestors(use):
            if ancestor is statement:
                return True
            if not isinstance(ancestor, ast.BinOp | ast.UnaryOp):
                return False
        return False

    def _find(self, loop: LoopNode) -> list[Total]:
        index = self._index
        groups: dict[str, list[ast.stmt]] = {}
        for node in index.tree.nodes_in(loop, ast.AugAssign, ast.Assign, functions=False):
            target = added_to(node)
            if target is None or index.tree.loop_of(node) is not loop:
                continue
            assert isinstance(node, ast.AugAssign | ast.Assign)
            if index.reads.inside(node.value):
                groups.setdefault(index.text(target), []).append(node)
        totals = [self._total(loop, sorted(additions, key=index.span)) for additions in groups.values()]
        return sorted((total for total in totals if total is not None), key=lambda total: index.span(total.target))

    # ---------------------------------------------------------------- one total

    def _total(self, loop: LoopNode, additions: list[ast.stmt]) -> Total | None:
        index = self._index
        target = added_to(additions[0])
        assert target is not None
        if self._reads_all_variables(loop) or has_onlookers(index, loop, target):
            return None
        reads: list[Read] = []
        for statement in additions:
            assert isinstance(statement, ast.AugAssign | ast.Assign)
            found = index.reads.inside(statement)
            if not index.scalars.is_arithmetic(statement.value, {read.node for read in found}):
                return None
            reads.extend(found)
        if not all(index.scalars.is_number(read) for read in reads):
            return None
        counts = all(self._adds_integer(statement) for statement in additions)
        total = Total(loop, target, tuple(additions), tuple(reads), counts, Home.NEW_VARIABLE)
        if self._is_device_tensor(target):
            return total._replace(home=Home.TENSOR)
        if isinstance(target, ast.Name):
            own = self._in_own_variable(total, target)
            if own is not None:
                return own
        if any(isinstance(statement, ast.Assign) for statement in additions):
            return None
        return total if self._is_unused_inside(total) else None

    def _reads_all_variables(self, loop: LoopNode) -> bool:
        """``"total {total:.3f}".format(**locals())``"""
        function = self._index.function_of(loop)
        return any(self._index.function_of(call) is function for call in self._index.names.calls_reading_any_variable())

    def _adds_integer(self, statement: ast.stmt) -> bool:
        assert isinstance(statement, ast.AugAssign | ast.Assign)
        target = added_to(statement)
        tensors = {read.node: read.tensor for read in self._index.reads.inside(statement)}

        def integer(node: ast.expr) -> bool:
            if node in tensors:
                casts = isinstance(node, ast.Call) and self._index.qualified_name(node.func) == "builtins.float"
                return not casts and self._index.scalars.is_integer(tensors[node])
            if isinstance(node, ast.BinOp):
                plain = isinstance(node.op, ast.Add | ast.Sub | ast.Mult)
                return plain and integer(node.left) and integer(node.right)
            if isinstance(node, ast.Name) and isinstance(target, ast.Name) and node.id == target.id:
                return True
            return isinstance(node, ast.Constant) and isinstance(node.value, int)

        return integer(statement.value)

    # ---------------------------------------------------------------- where the variable lives

    def _is_device_tensor(self, target: ast.expr) -> bool:
        index = self._index
        if isinstance(target, ast.Subscript | ast.Attribute):
            value = index.value(target.value)
            return isinstance(target, ast.Subscript) and value.kind is Kind.TENSOR and value.side is Side.DEVICE
        if isinstance(target, ast.Name):
            found = [b for b in index.names.bindings(target) if b.kind == "assign"]
            values = [index.kinds.binding_value(binding) for binding in found]
            return bool(values) and all(value.kind is Kind.TENSOR and value.side is Side.DEVICE for value in values)
        return False

    def _in_own_variable(self, total: Total, target: ast.Name) -> Total | None:
        """The total kept in its own variable: possible when everything that happens to the variable is seen."""
        index, loop = self._index, total.loop
        found = index.names.find_name(target)
        if found is None or found[0] is not index.names.scope_of(loop):
            return None
        start = self._start(loop, found[1])
        if start is None or not isinstance(start.statement, ast.stmt):
            return None
        resets: list[ast.expr] = []
        averaged: list[Span] = []
        averages: list[ast.AugAssign] = []
        for binding in found[1]:
            if not index.tree.encloses(loop, binding.node) or binding.statement in total.additions:
                continue
            stretch = self._averaged(binding)
            if stretch is not None:
                averaged.append(stretch)
                if isinstance(binding.statement, ast.AugAssign):
                    averages.append(binding.statement)
                continue
            element = element_of(binding)
            if binding.kind != "assign" or element is None or not _is_zero(element):
                return None
            if index.tree.loop_of(binding.statement) is not loop:
                return None
            resets.append(element)
        uses: list[ast.Name] = []
        used_behind = False
        begin, end = index.span(loop)
        for name in index.names.loads(target.id, found[0]):
            if index.function_of(name) is not index.function_of(loop) or index.tree.lambda_of(name) is not None:
                return None  # another function sees the variable, at a time nobody knows
            at = index.span(name).start
            if index.span(start.statement).end <= at < begin:
                return None
            if not begin <= at < end:
                used_behind = True
                continue
            if any(stretch.start <= at < stretch.end for stretch in averaged):
                continue
            if any(index.tree.encloses(statement, name) for statement in total.additions):
                continue
            if not any(index.tree.encloses(item, name) for item in loop.body):
                return None
            derived = [name] if self._may_read(name) else self._derived_uses(name)
            if derived is None:
                return None
            uses.extend(derived)
        is_inner = loop not in index.regions.turn_loops
        return total._replace(
            home=Home.INNER_VARIABLE if is_inner else Home.VARIABLE,
            start=start,
            resets=tuple(resets),
            uses=tuple(sorted(dict.fromkeys(uses), key=index.span)),
            is_used_behind=used_behind,
            averages=tuple(averages),
        )

    def _averaged(self, binding: Binding) -> Span | None:
        """Where a variable is a number: from ``total = total / 100``, now and then, to the ``total = 0`` behind it."""
        index, statement = self._index, binding.statement
        if isinstance(statement, ast.AugAssign):
            if not isinstance(statement.op, ast.Div | ast.Mult):
                return None
        elif not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or binding.path:
            return None
        if not index.scalars.is_arithmetic(statement.value, set()) or _is_zero(statement.value):
            return None
        if index.pace_of(statement) is not Pace.LOG_INTERVAL:
            return None
        suite = index.tree.suite_of(statement)
        for later in suite[suite.index(statement) + 1 :]:
            names = later.targets if isinstance(later, ast.Assign) and _is_zero(later.value) else []
            if any(isinstance(name, ast.Name) and name.id == binding.name for name in names):
                between = suite[suite.index(statement) + 1 : suite.index(later)]
                if any(isinstance(node, ast.Break | ast.Continue) for item in between for node in ast.walk(item)):
                    return None  # the number is seen elsewhere, too
                return Span(index.span(statement).end, index.span(later).start)
        return None

    def _start(self, loop: LoopNode, bindings: list[Binding]) -> Binding | None:
        """The binding to a literal 0 that holds whenever the loop begins."""
        index = self._index
        begin = index.span(loop).start
        before = [b for b in bindings if b.kind in ("parameter", "import") or index.span(b.node).start < begin]
        if not before:
            return None
        start = before[-1]
        if start.kind != "assign" or not _is_zero(element_of(start)) or not index.flow.dominates(start, loop):
            return None
        outer = index.tree.loop_of(loop)
        starts_anew = outer is None or index.tree.encloses(outer, start.statement)
        return start if starts_anew or not self._is_seen_outside(loop, start) else None

    def _is_seen_outside(self, loop: LoopNode, start: Binding) -> bool:
        """Whether anything but the loop and the start says what a variable holds: it would be a number there."""
        index = self._index
        assert isinstance(start.node, ast.Name)
        found = index.names.find_name(start.node)
        if found is None:
            return True
        mentions = (*index.names.loads(start.name, found[0]), *(b.node for b in found[1] if b is not start))
        return any(not index.tree.encloses(loop, node) for node in mentions)

    def _may_read(self, use: ast.Name) -> bool:
        """Whether reading the total here costs no more than what was read before."""
        index = self._index
        if index.pace_of(use) is Pace.LOG_INTERVAL or isinstance(index.statement_of(use), ast.Return):
            return True
        for ancestor in index.tree.ancestors(use):
            if isinstance(ancestor, ast.Call) and index.reads.is_output(ancestor):
                return True
            if isinstance(ancestor, ast.stmt):
                break
        return False

    def _derived_uses(self, use: ast.Name) -> list[ast.Name] | None:
        """Uses of a variable computed from the total, where they are all that becomes of it: ``mean = total / n``."""
        index = self._index
        statement = index.statement_of(use)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        target = statement.targets[0]
        if not isinstance(target, ast.Name) or not index.scalars.is_arithmetic(statement.value, set()):
            return None
        if not self._is_operand(use, statement):
            return None
        uses = index.held_values.uses_of(statement, target)
        return uses if uses and all(self._may_read(one) for one in uses) else None

    def _is_unused_inside(self, total: Total) -> bool:
        """Whether nothing in the loop looks at the target, so that a variable of its own can stand in for it."""
        index, target = self._index, total.target
        name = last_name(target.value if isinstance(target, ast.Subscript) else target)
        if isinstance(target, ast.Name) and self._is_seen_by_lambda(target):
            return False
        if not name or (isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Constant)):
            return False
        regions: list[ast.AST] = [total.loop, *index.regions.functions_in(total.loop)]
        for region in regions:
            for node in index.tree.inside(region, functions=False):
                if isinstance(node, ast.Attribute):
                    regions += [item for item in index.definitions.properties(node.attr) if item not in regions]
                if isinstance(node, ast.Return) and region is total.loop:
                    return False
                if last_name(node) == name and not any(index.tree.encloses(item, node) for item in total.additions):
                    return False
        return True

    def _is_seen_by_lambda(self, target: ast.Name) -> bool:
        """Whether a lambda looks at a variable: it may be called in the loop, by anybody."""
        index = self._index
        return any(index.tree.lambda_of(use) is not None for use in index.names.loads_of(target))


def added_to(node: ast.AST) -> ast.expr | None:
    """What a statement adds to."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        return node.target
    if isinstance(node, ast.Assign) and adds_to_itself(node):
        return node.targets[0]
    return None


def element_of(binding: Binding) -> ast.expr | None:
    """The part of the assigned expression that a binding takes."""
    value = binding.value
    for at in binding.path:
        if not isinstance(value, ast.Tuple | ast.List) or not 0 <= at < len(value.elts):
            return None
        value = value.elts[at]
    return value


def _is_zero(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value == 0
