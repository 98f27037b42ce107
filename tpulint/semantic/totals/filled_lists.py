"""Lists of numbers read from the device: ``losses.append(loss.item())``, ``losses += [loss.item()]``."""

from __future__ import annotations

import ast
from functools import cached_property

from tpulint.records import NamedTuple
from tpulint.semantic.loops.regions import Pace
from tpulint.semantic.project.other_files import methods
from tpulint.semantic.reads.reads import Read, Use
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.nodes import LoopNode
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.totals.onlookers import has_onlookers
from tpulint.semantic.values.contained_objects import ContainedObjects
from tpulint.semantic.values.contents import key_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_WITH_LISTS = ("collections.", "typing.")
"""Modules whose classes are made to stand for lists."""


class Append(NamedTuple):
    """One statement that puts one more element into a list."""

    statement: ast.stmt
    target: ast.expr
    """The list."""
    element: ast.expr


class FilledList(NamedTuple):
    """A list that a loop fills with numbers."""

    loop: LoopNode
    target: ast.expr
    """The list, as written in the first append."""
    appends: tuple[Append, ...]
    reads: tuple[Read, ...]
    is_new: bool
    """Whether the list is made empty right in front of the loop, so that it can hold tensors itself meanwhile."""
    gates: tuple[ast.If, ...] = ()
    """Blocks that open now and then and look at the list: there it has to hold numbers."""


class FilledLists:
    """Finds them in step loops and evaluation loops, and in the loops within a step."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._memo: dict[LoopNode, list[FilledList]] = {}

    @cached_property
    def inner_loops(self) -> list[LoopNode]:
        """Loops within a step, such as one over all parameters, that fill lists."""
        index = self._index
        loops = [loop for loop in index.tree.loops if loop not in index.regions.turn_loops]
        return [loop for loop in loops if index.pace_of(loop) is Pace.STEP and self.of(loop)]

    def accepts(self, use: ast.expr) -> bool:
        """Whether a name is appended to a list that could hold tensors instead."""
        statement = self._index.statement_of(use)
        append, loop = _appended(statement), self._index.tree.loop_of(statement)
        if append is None or loop not in self._index.regions.turn_loops or append.element is not use:
            return False
        if self._is_rare(append) or self._takes_elements_for_arrays(append.target):
            return False
        assert loop is not None
        return self._filled(loop, [append], use) is not None

    def _takes_elements_for_arrays(self, target: ast.expr) -> bool:
        """``losses[-1].shape``: numbers have nothing of what arrays and tensors have."""
        items = (node.value for node in self._index.tree.attributes if isinstance(node.value, ast.Subscript))
        return any(last_name(item.value) == last_name(target) for item in items)

    def _is_rare(self, append: Append) -> bool:
        """Whether a step appends now and then only: behind the boundary, what is read for it costs next to nothing."""
        return self._index.pace_of(append.statement) is Pace.LOG_INTERVAL

    def of(self, loop: LoopNode) -> list[FilledList]:
        """Lists that can be filled with tensors and turned into numbers behind the loop."""
        if loop not in self._memo:
            self._memo[loop] = self._find(loop)
        return self._memo[loop]

    def _find(self, loop: LoopNode) -> list[FilledList]:
        index = self._index
        around = self._step_around(loop)
        filled_there = set() if around is None else {index.text(other.target) for other in self.of(around)}
        groups: dict[str, list[Append]] = {}
        for node in index.tree.nodes_in(loop, ast.Expr, ast.AugAssign, functions=False):
            append, own = _appended(node), index.tree.loop_of(node)
            if append is None or own is None or self._is_rare(append) or index.text(append.target) in filled_there:
                continue
            if own is not loop and self._step_around(own) is not loop:
                continue
            reads = index.reads.inside(append.element)
            if reads and all(read.use is Use.LIST for read in reads) and not all(map(self._is_read_anyway, reads)):
                groups.setdefault(index.text(append.target), []).append(append)
        result = []
        for appends in groups.values():
            filled = self._filled(loop, sorted(appends, key=lambda append: index.span(append.statement)))
            # Within a step only a list that is made there is of that step.
            if filled is not None and (filled.is_new or loop in index.regions.turn_loops):
                result.append(filled)
        return sorted(result, key=lambda item: index.span(item.target))

    def _step_around(self, loop: LoopNode) -> LoopNode | None:
        """The step loop whose turns run this one to its end: several updates for one."""
        tree, nodes = self._index.tree, {step.node for step in self._index.step_loops}
        outer = tree.loop_of(loop) if loop in nodes else None
        return outer if outer in nodes and tree.function_of(outer) is tree.function_of(loop) else None

    def _is_read_anyway(self, read: Read) -> bool:
        """Whether each turn asks for the same number for something else, or shows it: one fetch serves the list, too.

        So it is where the boundary stands in the loop itself.
        """
        index = self._index
        loop, step = index.tree.loop_of(read.node), index.step_loop_of(read.node)
        if loop is None or (step is not None and not all(index.tree.encloses(loop, item) for item in step.updates)):
            return False
        return any(
            other.use in (Use.BRANCH, Use.LOG)
            and ast.dump(other.tensor) == ast.dump(read.tensor)
            and index.tree.loop_of(other.node) is loop
            and index.pace_of(other.node) is index.pace_of(read.node)
            and not index.reads.is_bar(index.statement_of(other.node))
            for other in index.reads.inside(loop)
        )

    def _filled(self, loop: LoopNode, appends: list[Append], number: ast.expr | None = None) -> FilledList | None:
        """The list that these fill, if it can be; ``number`` stands for one, whatever it is."""
        index = self._index
        reads = [read for append in appends for read in index.reads.inside(append.element)]
        nodes = {read.node for read in reads}
        if not all(index.scalars.is_number(read) for read in reads if read.node is not number):
            return None
        if not all(index.scalars.is_arithmetic(append.element, nodes) for append in appends):
            return None
        gates = self.gates_of(loop, appends)
        if gates is None:
            return None
        target = appends[0].target
        is_new = not gates and self.is_new(loop, target)
        return FilledList(loop, target, tuple(appends), tuple(reads), is_new, gates)

    def gates_of(self, loop: LoopNode, appends: list[Append]) -> tuple[ast.If, ...] | None:
        """Blocks of a loop that look at a list now and then; None where it has to hold what it held at any time."""
        index, target = self._index, appends[0].target
        if any(self._is_own_append(append) for append in appends) or self._is_of_class(target):
            return None
        root: ast.expr = target
        while isinstance(root, ast.Attribute | ast.Subscript):
            if isinstance(root, ast.Subscript) and key_of(root) is None:
                return None
            root = root.value
        if not isinstance(root, ast.Name) or has_onlookers(index, loop, target):
            return None
        receivers = {append.target for append in appends}
        gates: list[ast.If] = []
        for region in (loop, *index.regions.functions_in(loop)):
            for node in index.tree.inside(region, functions=True):
                if isinstance(node, ast.Return) and region is loop:
                    return None
                if node in receivers or index.parent(node) in receivers or not self._may_be(node, target):
                    continue
                gate = index.regions.gate_of(node)
                if not isinstance(gate, ast.If) or index.function_of(node) is not index.function_of(loop):
                    return None
                if not any(index.tree.encloses(one, node) for one in gate.body):
                    return None
                gates.append(gate)
        found = sorted(dict.fromkeys(gates), key=index.span)
        return tuple(gate for gate in found if not any(index.tree.encloses(o, gate) for o in found if o is not gate))

    def _is_own_append(self, append: Append) -> bool:
        """Whether a class of the project says what is done with the element: it need not know ``extend``."""
        call = append.statement.value if isinstance(append.statement, ast.Expr) else None
        if not isinstance(call, ast.Call):
            return False
        index = self._index
        return index.definitions.function_called(call) is not None or bool(index.imported.all_called(call))

    def _is_of_class(self, target: ast.expr) -> bool:
        """Whether the object may be of a class with an ``append`` of its own, or of one that nobody has seen."""
        return any(
            isinstance(creation.node, ast.Call) and not creation.path and self._makes_no_list(creation.node)
            for creation in self._contained.of(target)
        )

    def _makes_no_list(self, call: ast.Call) -> bool:
        index = self._index
        name = index.qualified_name(call.func) or ""
        if not last_name(call.func)[:1].isupper() or name.startswith(_WITH_LISTS):
            return False
        owner, imported = index.definitions.class_called(call), index.imported.called(call)
        if owner is not None:
            return index.definitions.method(owner, "append") is not None
        return imported is None or bool(methods((imported,), "append"))

    @cached_property
    def _contained(self) -> ContainedObjects:
        return ContainedObjects(self._index)

    def _may_be(self, node: ast.AST, target: ast.expr) -> bool:
        """Whether an expression may stand for the list: the same variable or attribute, or what holds the item."""
        whole = target.value if isinstance(target, ast.Subscript) else target
        if not last_name(node) or last_name(node) != last_name(whole):
            return False
        parent = self._index.parent(node)
        if isinstance(target, ast.Subscript) and isinstance(parent, ast.Subscript) and parent.value is node:
            return key_of(parent) in (None, key_of(target))  # or another item
        return True

    def is_new(self, loop: LoopNode, target: ast.expr) -> bool:
        """Whether a variable is bound to ``[]`` in front of the loop, and nothing happens to it in between."""
        index = self._index
        if not isinstance(target, ast.Name):
            return False
        found = index.names.find_name(target)
        if found is None or found[0] is not index.names.scope_of(loop):
            return False
        begin = index.span(loop).start
        before: list[Binding] = [b for b in found[1] if index.span(b.node).start < begin]
        if not before or before[-1].kind != "assign" or not _is_empty_list(before[-1]):
            return False
        start = before[-1]
        outer = index.tree.loop_of(loop)
        if not index.flow.dominates(start, loop) or (
            outer is not None and not index.tree.encloses(outer, start.statement)
        ):
            return False
        end = index.span(start.statement).end
        function = index.function_of(loop)
        return not any(
            end <= index.span(name).start < begin or index.function_of(name) is not function
            for name in index.names.loads(target.id, found[0])
        )


def _appended(node: ast.AST) -> Append | None:
    """What a statement ``xs.append(x)`` or ``xs += [x]`` does."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        call = node.value
        if node.value.func.attr == "append" and len(call.args) == 1 and not call.keywords:
            return None if isinstance(call.args[0], ast.Starred) else Append(node, node.value.func.value, call.args[0])
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(node.value, ast.List):
        elements = node.value.elts
        if len(elements) == 1 and not isinstance(elements[0], ast.Starred):
            return Append(node, node.target, elements[0])
    return None


def _is_empty_list(binding: Binding) -> bool:
    value = binding.value
    if binding.path or not isinstance(binding.statement, ast.Assign | ast.AnnAssign):
        return False
    if isinstance(binding.statement, ast.Assign) and len(binding.statement.targets) > 1:
        return False
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id == "list" and not value.args
    return isinstance(value, ast.List) and not value.elts


__all__ = ["Append", "FilledList", "FilledLists"]
