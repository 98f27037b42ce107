"""Weights kept on the device, and loaded into a model again and again: folds and clients that all begin alike."""

from __future__ import annotations

import ast

from tpulint.records import NamedTuple
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.values.kinds import Kind
from tpulint.semantic.values.origins import origins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.syntax.nodes import LoopNode

_COPIES = ("clone", "detach")


class KeptState(NamedTuple):
    """One ``load_state_dict`` in a loop that trains, of weights that were copied before the loop."""

    load: ast.Call
    copy: ast.expr
    """What copied the weights."""
    module: ast.expr
    """The module whose weights they are."""


class GivenState(NamedTuple):
    """One ``load_state_dict`` of weights that a function is given, trains on and returns the outcome of."""

    load: ast.Call
    state: ast.Name
    """The parameter of the function."""


class KeptStates:
    """Answers about one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self.loaded_again = tuple(
            found
            for call, receiver in index.method_calls("load_state_dict")
            if (found := self._kept(call, receiver)) is not None
        )
        """Loads whose source lies on the device and is needed once more after the model has been trained on."""
        self.given = tuple(
            GivenState(call, call.args[0])
            for call, receiver in index.method_calls("load_state_dict")
            if call.args and isinstance(call.args[0], ast.Name) and self._is_given(call, call.args[0], receiver)
        )
        """Loads of what a caller still has: each client of federated learning begins with the weights of the server."""
        self.are_deleted = bool(self.loaded_again or self.given)
        """Whether a step boundary could let an update delete weights that are needed again."""

    def _kept(self, call: ast.Call, receiver: ast.expr) -> KeptState | None:
        tree = self._index.tree
        loop = tree.loop_of(call)
        if loop is None or not call.args or not isinstance(call.args[0], ast.Name):
            return None
        bindings = self._index.flow.reaching(call.args[0])
        if len(bindings) != 1 or bindings[0].kind != "assign" or bindings[0].path or bindings[0].value is None:
            return None
        binding, copy = bindings[0], bindings[0].value
        module = self._copied(copy)
        if module is None or tree.encloses(loop, binding.statement) or self._ends_turns(call, loop):
            return None
        if self._index.kind(receiver) is not Kind.MODULE or not self._index.moves.is_on_device(module, call):
            return None
        if not self._index.moves.is_on_device(module, binding.statement) or not self._trains(loop, call):
            return None
        return KeptState(call, copy, module)

    def _is_given(self, call: ast.Call, state: ast.Name, receiver: ast.expr) -> bool:
        """Whether a function loads a parameter of its own, trains behind it, and returns the weights."""
        tree, bindings = self._index.tree, self._index.flow.reaching(state)
        function = tree.function_of(call)
        if not isinstance(function, FUNCTIONS) or self._index.kind(receiver) not in (Kind.MODULE, Kind.UNKNOWN):
            return False
        if not bindings or any(
            binding.kind != "parameter" or binding.statement is not function for binding in bindings
        ):
            return False
        given = self._index.definitions.arguments.of(function, state.id)
        if any(self._is_on_host(origin.node) for item in given for origin in origins(self._index, item)):
            return False
        end = self._index.span(call).end
        trains = any(
            tree.function_of(step.node) is function
            and self._index.span(step.node).start > end
            and any(
                isinstance(node, ast.Call) and tree.text(node.func) == tree.text(receiver)
                for node in tree.inside(step.node)
            )
            for step in self._index.step_loops
        )
        return trains and any(
            (module := _stateful(part)) is not None and tree.text(module) == tree.text(receiver)
            for value in self._index.definitions.returned_by(function)
            for part in ast.walk(value)
        )

    def _is_on_host(self, value: ast.expr) -> bool:
        """Whether weights come from a file, or are copied to the host one by one."""
        if isinstance(value, ast.Call):
            return self._index.qualified_name(value.func) == "torch.load"
        return isinstance(value, ast.DictComp) and any(
            isinstance(node, ast.Attribute) and node.attr in ("cpu", "numpy") for node in ast.walk(value.value)
        )

    def _copied(self, value: ast.expr) -> ast.expr | None:
        """The module whose state is copied: by ``copy.deepcopy``, or tensor by tensor with ``clone``."""
        if isinstance(value, ast.Call) and len(value.args) == 1:
            name = self._index.qualified_name(value.func)
            return _stateful(value.args[0]) if name == "copy.deepcopy" else None
        if not isinstance(value, ast.DictComp) or len(value.generators) != 1:
            return None
        source = value.generators[0].iter
        if not (
            isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) and source.func.attr == "items"
        ):
            return None
        item: ast.expr = value.value
        copies = set()
        while isinstance(item, ast.Call) and isinstance(item.func, ast.Attribute) and item.func.attr in _COPIES:
            copies.add(item.func.attr)
            item = item.func.value
        return _stateful(source.func.value) if isinstance(item, ast.Name) and "clone" in copies else None

    def _trains(self, loop: LoopNode, load: ast.Call) -> bool:
        """Whether a step loop runs in the turns of a loop, here or in a function that it calls."""
        tree = self._index.tree
        for step in self._index.step_loops:
            if step.node is loop:
                continue
            if tree.encloses(loop, step.node):
                return True
            function = tree.function_of(step.node)
            if isinstance(function, FUNCTIONS) and function is not tree.function_of(load):
                calls = self._index.definitions.calls_of(function)
                if any(tree.encloses(loop, call) for call in calls):
                    return True
        return False

    def _ends_turns(self, call: ast.Call, loop: LoopNode) -> bool:
        """Whether the loop is left behind the load: nothing is loaded again."""
        statement = self._index.tree.statement_of(call)
        suite = self._index.tree.suite_of(statement)
        behind = suite[suite.index(statement) :]
        return suite is not loop.body and any(isinstance(item, ast.Break | ast.Return | ast.Raise) for item in behind)


def _stateful(node: ast.AST) -> ast.expr | None:
    """``model`` of ``model.state_dict()``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "state_dict":
        return node.func.value
    return None
