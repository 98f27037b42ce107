"""Tensors that the code shows to lie on the device: what is moved there, computed by a module, or handed on."""

from __future__ import annotations

import ast

from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.values.element_values import SEQUENCES
from tpulint.semantic.values.kinds import Kind, Side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 6
"""Variables and functions that a tensor is followed back through."""


class MovedTensors:
    """Questions about expressions of one file. What only its use tells to be of the device is none of these."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def has(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether an expression is moved to the device, or computed by a module, or calls in this file give such a one.

        Parameters of other functions, and what loops take of them, are followed: ``for row in rows: self.grow(row)``.
        """
        index = self._index
        for part in ast.walk(node):
            if isinstance(part, ast.Call) and (
                index.moves.to_device(part) is not None
                or index.kind(part.func) is Kind.MODULE
                or self._is_made_there(part)
            ):
                return True
        return depth < _DEPTH and any(
            self._is_handed_in(binding) or any(self.has(value, depth + 1) for value in self._values_of(binding))
            for name in self._followed(node, depth)
            for binding in index.flow.reaching(name)
            if binding.kind != "loop" or len(binding.path) < 2  # `for i, (edges, size) in enumerate(parts)`
        )

    def _is_made_there(self, call: ast.Call) -> bool:
        """``torch.zeros(n, device=x.device)``"""
        has_device = any(keyword.arg == "device" for keyword in call.keywords)
        return has_device and self._index.is_device_tensor(call)

    def _followed(self, node: ast.expr, depth: int) -> list[ast.Name]:
        """The tensors that an expression is made of, or the list that one of them was taken out of."""
        container = node.value if isinstance(node, ast.Subscript) else node
        if depth and isinstance(container, ast.Name) and self._index.kind(container) is not Kind.TENSOR:
            return [container]
        names = [part for part in ast.walk(node) if isinstance(part, ast.Name) and not self._is_measured(part)]
        return [name for name in names if self._index.kind(name) is Kind.TENSOR]

    def _is_measured(self, name: ast.Name) -> bool:
        """Whether a tensor only gives a number of the host: ``x.shape[1]``, ``len(x)``."""
        user = self._index.tree.parents[name]
        if isinstance(user, ast.Attribute):
            return user.attr in facts.TENSOR_HOST_ATTRIBUTES or user.attr in facts.TENSOR_HOST_METHODS
        return isinstance(user, ast.Call) and self._index.qualified_name(user.func) == "builtins.len"

    def _is_handed_in(self, binding: Binding) -> bool:
        """Whether calls in other files give a tensor of the device for a parameter."""
        function = binding.statement
        return (
            binding.kind == "parameter"
            and isinstance(function, FUNCTIONS)
            and self._index.kinds.parameters.is_given_device_tensor(function, binding.name)
        )

    def _values_of(self, binding: Binding) -> list[ast.expr]:
        function, calls = binding.statement, self._index.module_calls
        if binding.kind == "parameter" and isinstance(function, FUNCTIONS):
            arguments, name = self._index.definitions.arguments, binding.name
            given = [*arguments.of(function, name), *(item for item, _ in arguments.unpacked(function, name))]
            if function.name != "forward":
                return given or arguments.when_chosen(function, name)
            for whole, at in calls.unpacked_for(function, name):
                if at is not None and self._index.kinds.elements.part(whole, (at,)).kind is Kind.HOST:
                    return []  # a list of numbers beside tensors
                given += ([] if at is None else self._index.kinds.contents.of(whole, at)) or [whole]
            return [*given, *calls.given_for(function, name), *self._index.module_rows.begun_with(function, name)]
        # What is unpacked of several results, `out, lengths = decoder(x)`, may be a list of numbers.
        is_result = bool(binding.path) and isinstance(binding.value, ast.Call) and not self._is_part(binding)
        is_followed = binding.kind == "loop" or (binding.kind == "assign" and not is_result)
        forward = self._taken_by(binding.value) if binding.kind == "assign" and len(binding.path) == 1 else None
        if forward is not None:
            return calls.given_at(forward, binding.path[0])
        return [binding.value] if is_followed and binding.value is not None else []

    def _taken_by(self, value: ast.expr | None) -> FunctionNode | None:
        """The forward pass of which a value is all that it is given: ``inputs`` or ``tuple(inputs)`` of ``*inputs``."""
        if isinstance(value, ast.Call) and len(value.args) == 1:
            value = value.args[0] if self._index.qualified_name(value.func) in SEQUENCES else None
        bindings = self._index.flow.reaching(value) if isinstance(value, ast.Name) else ()
        function = bindings[0].statement if len(bindings) == 1 and bindings[0].kind == "variadic" else None
        if not isinstance(function, FUNCTIONS) or function.name != "forward":
            return None
        return function if function.args.vararg is bindings[0].node else None

    def _is_part(self, binding: Binding) -> bool:
        """Whether what is unpacked is a tensor that a forward pass, which is seen, returns at that place."""
        call = binding.value
        if not isinstance(call, ast.Call) or self._index.kind(call.func) is not Kind.MODULE:
            return False
        part, is_own = self._index.kinds.elements.run_part(call, binding.path)
        return part.kind is Kind.TENSOR and (part.side is Side.DEVICE or (is_own and part.side is Side.UNKNOWN))
