"""Backward passes and updates that functions of other files run for their callers: ``trainer.backward(loss)``."""

from __future__ import annotations

import ast

from tpulint.records import NamedTuple
from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.loops.gradient_switches import GradientSwitches
from tpulint.semantic.loops.training_forwards import FORWARD
from tpulint.semantic.modules.updates import gives_gradients
from tpulint.semantic.project.imported import Imported
from tpulint.semantic.project.other_files import Definition, methods
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode, is_of_self

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.syntax.bindings import Binding

_METHODS = ("backward", "step")
_SCALES = ("scale", "scale_loss")
_DEPTH = 5


class Delegation(NamedTuple):
    """What a function of another file does with what one call gives it."""

    losses: tuple[ast.expr, ...]
    """Arguments whose backward pass it runs."""
    has_own_loss: bool
    """Whether it runs the backward pass of a loss that it makes itself, and leaves the update to its caller."""
    updates: bool
    """Whether it updates parameters, with an optimizer that it has or makes itself."""
    stepped: tuple[ast.expr, ...]
    """Arguments whose ``step()`` it calls: updates, where they are optimizers."""
    may_update: bool
    """Whether it runs a backward pass and calls ``step()`` of what its object keeps, which may be an optimizer."""
    has_boundary: bool


class DelegatedEvents:
    """Answers about the calls of one file.

    What is asked of the other file is what stands in it alone: nothing here waits for the steps of a third file.
    """

    def __init__(self, imported: Imported) -> None:
        self._imported = imported

    def of(self, call: ast.Call, modes: GradientSwitches) -> list[Delegation]:
        """What a call delegates, for each function that it may run; empty where one of them trains by itself."""
        found = self._imported.all_called(call) or self._forwards_run(call, modes)
        delegations = [_delegation(call, one) for one in found]
        known = [one for one in delegations if one is not None]
        return known if len(known) == len(delegations) else []

    def _forwards_run(self, call: ast.Call, modes: GradientSwitches) -> tuple[Definition, ...]:
        """The forward passes that a call of a module may run, where each runs a backward pass for it."""
        if not isinstance(call.func, ast.Name | ast.Attribute):
            return ()
        found = methods(self._imported.classes_of(call.func), FORWARD)
        return found if all(_goes_backward(one, call, modes) for one in found) else ()

    def gives_gradients(self, call: ast.Call) -> bool:
        """Whether what a call runs gives gradients to parameters: ``p.grad = gradient``."""
        return any(
            isinstance(one.node, FUNCTIONS) and gives_gradients(one.file.tree, one.node)
            for one in self._imported.all_called(call)
        )


def _goes_backward(forward: Definition, call: ast.Call, modes: GradientSwitches) -> bool:
    file = forward.file
    if not isinstance(forward.node, FUNCTIONS) or not any(file.tree.attributes_called("backward")):
        return False
    return file.own_events.training_forwards.goes_backward(forward.node, call, modes)


def _delegation(call: ast.Call, called: Definition) -> Delegation | None:
    """What a call delegates to a function; None when that is nothing, or more than a part of a step."""
    function, file = called.node, called.file
    if not isinstance(function, FUNCTIONS):
        return None
    methods = (item for name in _METHODS for item in file.tree.attributes_called(name))
    if not any(file.tree.function_of(item) is not None for item in methods):
        return None  # most files: what a module tries out below `if __name__ == "__main__"` is no matter
    events = file.own_events.of(function)
    if not (events.backwards or events.updates or events.manual_updates or events.candidates):
        return None
    arguments = dict(arguments_given(call, function, is_method=file.tree.class_of(function) is not None))
    given = [arguments.get(_parameter(called, function, _loss_of(backward), 0)) for backward in events.backwards]
    losses = [loss for loss in given if loss is not None]
    is_half = not (events.updates or events.manual_updates or events.candidates)
    if len(losses) < len(given) and not is_half:
        return None
    objects = [item.func.value for item in events.candidates if isinstance(item.func, ast.Attribute)]
    stepped = (arguments.get(_parameter(called, function, item, 0)) for item in objects)
    return Delegation(
        losses=tuple(losses),
        has_own_loss=len(losses) < len(given),
        updates=bool(events.updates or events.manual_updates),
        stepped=tuple(item for item in stepped if item is not None),
        may_update=bool(losses) and any(map(is_of_self, objects)),
        has_boundary=bool(events.boundaries),
    )


def _loss_of(backward: ast.Call) -> ast.expr:
    """The loss in ``loss.backward()``, ``accelerator.backward(loss)``."""
    if isinstance(backward.func, ast.Attribute) and not backward.args:
        return backward.func.value
    return backward.args[0] if backward.args else backward


def _parameter(called: Definition, function: FunctionNode, node: ast.expr, depth: int) -> str:
    """The parameter of a function that an expression below it is, scaled perhaps; empty for any other value."""
    name = _carrier(node)
    if name is None or depth > _DEPTH:
        return ""
    found = {_bound(called, function, binding, depth) for binding in called.file.flow.reaching(name)}
    return found.pop() if len(found) == 1 else ""


def _bound(called: Definition, function: FunctionNode, binding: Binding, depth: int) -> str:
    holder = binding.statement
    if binding.kind == "parameter" and isinstance(holder, FUNCTIONS):
        if holder is function:
            return binding.name
        given = called.file.definitions.arguments.of(holder, binding.name)
        found = {_parameter(called, function, item, depth + 1) for item in given}
        return found.pop() if len(found) == 1 else ""
    if binding.kind in ("assign", "with") and binding.value is not None and not binding.path:
        return _parameter(called, function, binding.value, depth + 1)
    return ""


def _carrier(node: ast.expr) -> ast.Name | None:
    """The variable that a loss is made of by numbers alone: ``loss`` of ``scaler.scale(loss.mean() / n)``."""
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        if any(isinstance(side, ast.Call) and _carrier(side) is None for side in sides):
            return None  # `F.mse_loss(out, x) * weight`: what is computed here, and not its weight
        return _carrier(node.left) or _carrier(node.right)
    if isinstance(node, ast.Subscript):
        return _carrier(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _SCALES and node.args:
            return _carrier(node.args[0])
        return _carrier(node.func.value) if node.func.attr in facts.TENSOR_METHODS else None
    return node if isinstance(node, ast.Name) else None
