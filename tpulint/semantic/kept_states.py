"""Weights kept on the device, and loaded into a model again and again: folds that all begin alike."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpulint.records import NamedTuple
from tpulint.semantic.kinds import Kind
from tpulint.semantic.tree import FUNCTIONS

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.tree import LoopNode

_COPIES = ("clone", "detach")


class KeptState(NamedTuple):
    """One ``load_state_dict`` in a loop that trains, of weights that were copied before the loop."""

    load: ast.Call
    copy: ast.expr
    """What copied the weights."""
    module: ast.expr
    """The module whose weights they are."""


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


def _stateful(node: ast.expr) -> ast.expr | None:
    """``model`` of ``model.state_dict()``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "state_dict":
        return node.func.value
    return None
