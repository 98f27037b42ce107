"""Trained weights that are copied into another model while the training goes on: the two share their memory.

A copy computes nothing, so that both mean one buffer on the device, which the next step cannot update in place: it is
another graph than the steps around it, and compiled once more. What each step copies is alike in all of them.
"""

from __future__ import annotations

import ast

from tpulint.model import Pace
from tpulint.records import NamedTuple
from tpulint.semantic.syntax.nodes import LOOPS
from tpulint.semantic.syntax.variables import root_of
from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.loops.steps import StepLoop
    from tpulint.semantic.syntax.nodes import LoopNode

_SAME = frozenset({"detach", "clone", "data", "contiguous"})
"""What gives a tensor with the memory of the one it is asked of: nothing is computed for a clone."""
_LISTING = frozenset({"parameters", "named_parameters", "state_dict", "buffers", "named_buffers"})
_DEPTH = 4


class SharedCopy(NamedTuple):
    """Copies of trained weights in one block."""

    copies: tuple[ast.stmt, ...]
    states: tuple[ast.expr, ...]
    """``module.state_dict()`` of each copy that loads it."""
    target: ast.expr
    """What the first of them copies into."""
    module: ast.expr
    """The module whose weights the first of them copies."""
    loops: tuple[StepLoop, ...]
    """Those that train the weights: of several, one or the other may run."""


class SharedWeights:
    """Finds the copies of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self.all = self._find()

    def _find(self) -> list[SharedCopy]:
        index = self._index
        loops = index.step_loops if index.kinds.mentions_device else []
        loops = [loop for loop in loops if loop.boundaries and index.restarts.has_state(loop)]
        found: dict[ast.stmt, SharedCopy] = {}
        for target, value, statement in self._copies() if loops else ():
            module, state = self._weights(value)
            if module is None or index.text(module) == index.text(target) or not self._is_there(target, statement):
                continue
            behind = tuple(one for one in loops if self._is_between(statement, one) and self._trains(one, module))
            if not behind:
                continue
            first = index.tree.suite_of(statement)[0]
            known = found.get(first)
            copy = known or SharedCopy((), (), target, module, behind)
            states = copy.states if state is None else (*copy.states, state)
            found[first] = copy._replace(copies=(*copy.copies, statement), states=states)
        return sorted(found.values(), key=lambda copy: index.span(copy.copies[0]))

    def _copies(self) -> list[tuple[ast.expr, ast.expr, ast.stmt]]:
        """What is copied into what: ``target.load_state_dict(weights)`` and ``target.copy_(weight)``."""
        tree = self._index.tree
        found = []
        for name in ("load_state_dict", "copy_"):
            for call, receiver in self._index.method_calls(name):
                statement = tree.statement_of(call)
                if len(call.args) != 1 or not isinstance(statement, ast.Expr) or statement.value is not call:
                    continue
                if name == "load_state_dict":
                    found.append((receiver, call.args[0], statement))
                elif (whole := self._whole(receiver)) is not None:
                    found.append((whole, call.args[0], statement))
        return sorted(found, key=lambda copy: self._index.span(copy[2]))

    def _whole(self, tensor: ast.expr) -> ast.expr | None:
        """What a tensor is one of: the module whose parameter a loop is at, ``best`` of ``best[name]``."""
        tensor = _plain(tensor)
        if isinstance(tensor, ast.Subscript):
            return tensor.value
        return self._listed(tensor) if isinstance(tensor, ast.Name) else None

    # ---------------------------------------------------------------- whose weights

    def _weights(self, value: ast.expr, depth: int = 0) -> tuple[ast.expr | None, ast.expr | None]:
        """The module whose weights a value holds, with their memory; and the call that gives its state."""
        index, value = self._index, _plain(value)
        if isinstance(value, ast.Call) and depth < _DEPTH:
            if index.qualified_name(value.func) == "copy.deepcopy" and len(value.args) == 1:
                return self._weights(value.args[0], depth + 1)[0], None
            is_state = isinstance(value.func, ast.Attribute) and value.func.attr == "state_dict" and not value.args
            module = value.func.value if isinstance(value.func, ast.Attribute) and is_state else None
            return (module, value) if module is not None and index.kind(module) is Kind.MODULE else (None, None)
        return (self._listed(value), None) if isinstance(value, ast.Name) else (None, None)

    def _listed(self, name: ast.Name) -> ast.expr | None:
        """The module that a loop goes through the weights of: ``for name, weight in model.named_parameters():``."""
        bindings = self._index.flow.reaching(name)
        loop = bindings[0].statement if len(bindings) == 1 and bindings[0].kind == "loop" else None
        if not isinstance(loop, ast.For):
            return None
        target, source = loop.target, loop.iter
        named = self._index.qualified_name(source.func) if isinstance(source, ast.Call) else None
        if isinstance(source, ast.Call) and named == "builtins.zip" and isinstance(target, ast.Tuple):
            if len(target.elts) != len(source.args):
                return None
            places = [at for at, part in enumerate(target.elts) if _binds(part, name.id)]
            target, source = (target.elts[places[0]], source.args[places[0]]) if len(places) == 1 else (target, target)
        if isinstance(target, ast.Tuple) and not (
            len(target.elts) == 2 and isinstance(target.elts[1], ast.Name) and target.elts[1].id == name.id
        ):
            return None
        while isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute):
            if source.func.attr in _LISTING:
                return source.func.value if self._index.kind(source.func.value) is Kind.MODULE else None
            if source.func.attr not in ("items", "values"):
                break
            source = source.func.value
        return None

    # ---------------------------------------------------------------- where, and between which steps

    def _is_there(self, target: ast.expr, statement: ast.stmt) -> bool:
        """Whether something lies on the device: a module that was moved, or a copy of what lies there."""
        index = self._index
        if index.kind(target) is Kind.MODULE and index.moves.is_on_device(target, statement):
            return True
        made = [creation.node for creation in index.moves.creations.of(target) if not creation.path]
        return bool(made) and all(isinstance(call, ast.expr) and self._is_copy(call) for call in made)

    def _is_copy(self, made: ast.expr) -> bool:
        """Whether something was made of a module's weights, or is a copy of a module, and nothing went to the host."""
        index = self._index
        if isinstance(made, ast.Call) and index.qualified_name(made.func) == "copy.deepcopy":
            whole = made.args[0] if made.args else None
            return whole is not None and (
                index.kind(whole) is Kind.MODULE or self._weights(whole) != (None, None)
            ) and not self._is_on_host(whole, made)  # fmt: skip
        nodes = list(index.tree.inside(made))
        names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        return bool(names & _LISTING) and bool(names & {"clone"}) and not names & {"cpu", "numpy", "to"}

    def _is_on_host(self, module: ast.expr, at: ast.expr) -> bool:
        """Whether a module has not moved yet where it is copied, while it does so behind that."""
        moves = self._index.moves
        return moves.is_moved_behind(module, at) and not moves.is_on_device(module, at)

    def _is_between(self, statement: ast.stmt, loop: StepLoop) -> bool:
        """Whether a statement runs between some steps of a loop and not between others."""
        index = self._index
        if index.step_loop_of(statement) is loop:
            return self._is_conditional(statement, loop)
        return index.paces.of(statement) is Pace.EPOCH and any(
            self._runs(around, statement) and self._runs(around, loop.node)
            for around in index.tree.loops
            if index.paces.is_epoch_loop(around)
        )

    def _runs(self, around: LoopNode, node: ast.AST) -> bool:
        """Whether the turns of a loop run a node, itself or through functions."""
        tree = self._index.tree
        return tree.encloses(around, node) or tree.function_of(node) in self._index.regions.functions_in(around)

    def _is_conditional(self, statement: ast.stmt, loop: StepLoop) -> bool:
        """Whether a condition that the step itself does not wait for decides of it."""
        index = self._index
        if index.pace_of(statement) is Pace.LOG_INTERVAL:
            return True
        child: ast.AST = statement
        for ancestor in index.tree.ancestors(statement):
            if ancestor is loop.node:
                return False
            if isinstance(ancestor, ast.If) and child is not ancestor.test:
                return not any(index.tree.encloses(ancestor, one) for one in (*loop.boundaries, *loop.updates))
            child = ancestor
        return False

    def _trains(self, loop: StepLoop, module: ast.expr) -> bool:
        """Whether the optimizer of a loop, made once for all of its rounds, has the weights of a module."""
        index = self._index
        for update in loop.updates:
            optimizer = update.func.value if isinstance(update.func, ast.Attribute) else None
            for creation in index.moves.creations.of(optimizer) if optimizer is not None else ():
                made = creation.node
                if isinstance(made, ast.Call) and not creation.path and self._is_given(made, module):
                    return not any(isinstance(one, LOOPS) and index.tree.encloses(one, loop.node)
                                   for one in index.tree.ancestors(made))  # fmt: skip
        return False

    def _is_given(self, optimizer: ast.Call, module: ast.expr) -> bool:
        index = self._index
        text, root = index.text(module), root_of(module)
        for node in index.tree.inside(optimizer):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr not in _LISTING or index.text(node.func.value) != text:
                continue
            other = root_of(node.func.value)
            if root is not None and other is not None and self._are_one(root, other):
                return True
        return False

    def _are_one(self, one: ast.Name, other: ast.Name) -> bool:
        """Whether two names of the same text stand for one variable, or for the object of one class."""
        names, tree = self._index.names, self._index.tree
        if one.id == "self":
            return tree.class_of(one) is tree.class_of(other)
        found = names.find_name(one), names.find_name(other)
        return None not in found and found[0][0] is found[1][0]  # type: ignore[index]


def _plain(value: ast.expr) -> ast.expr:
    """What a tensor is, without what computes nothing: ``weight`` of ``weight.data.clone()``."""
    while True:
        part = value.func if isinstance(value, ast.Call) and not value.args else value
        if not isinstance(part, ast.Attribute) or part.attr not in _SAME:
            return value
        value = part.value


def _binds(target: ast.expr, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(target))
