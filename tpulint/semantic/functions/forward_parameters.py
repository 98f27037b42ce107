"""What the forward passes of modules are given: tensors, unless what is known of a parameter speaks against that."""

from __future__ import annotations

import ast

from tpulint.semantic.functions.default_flags import DefaultFlags
from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.functions.number_parameters import NumberParameters
from tpulint.semantic.functions.parameter_uses import ParameterUses, is_called_options, is_left_at_plain
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.nodes import FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.value import HOST, NUMPY, UNKNOWN, Kind, Side, Value, is_none

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.values.kinds import Kinds


class ForwardParameters:
    """Asked by :class:`ParameterValues` for parameters of ``forward`` but the module itself."""

    def __init__(
        self,
        kinds: Kinds,
        tree: SyntaxTree,
        flow: Flow,
        definitions: Definitions,
        flags: DefaultFlags,
        numbers: NumberParameters,
        uses: ParameterUses,
    ) -> None:
        self._kinds = kinds
        self._tree = tree
        self._flow = flow
        self._definitions = definitions
        self._flags = flags
        self._numbers = numbers
        self._uses = uses

    def value(self, function: FunctionNode, binding: Binding, depth: int) -> Value:
        """What the forward pass of a module is given: tensors, unless what is known of it speaks against that."""
        assert isinstance(binding.node, ast.arg)
        if is_left_at_plain(binding.value) or _are_plain(binding.value):
            return HOST._replace(certain=False)  # `ratio=0.5`, `return_attention=False`, `layers=(0, 1, 2)`
        if self._flags.is_left_none(binding):
            return UNKNOWN  # `forward(self, x, temp=None)`, `self.quantize(x)`
        if self._is_given_numbers(function, binding.name):
            return HOST._replace(certain=False)  # `self.forward(x, drop=0.)`
        if self._is_given_values_of_host(function, binding.name, depth):
            return HOST._replace(certain=False)  # `for t in reversed(range(n)): model(x, t)`
        if self._is_given_arrays(function, binding.name, depth):
            return NUMPY._replace(certain=False)  # `model(x, lengths.numpy())`
        if self._uses.is_asked(function, binding.name):
            return UNKNOWN  # `forward(self, x, states=None)`, `if states:`
        if self._uses.is_called(function, binding.name) or self._uses.is_stepped(function, binding.name):
            return UNKNOWN  # `forward(self, x, decoder=None)`, `decoder(x)`
        if self._uses.is_made_set(function, binding.name):
            return UNKNOWN  # `forward(self, nodes)`, `set(nodes)`
        if self._numbers.has(function, binding.name):
            return UNKNOWN  # `forward(self, x, task)`, `int((task - 1) * 5)`
        is_compared = self._numbers.is_compared_in_training(function, binding.name)
        if is_compared and not self._is_given_tensor(function, binding.name, depth):
            return UNKNOWN  # `forward(self, x, prob)`, `if self.training and prob > 0.0:`
        if is_called_options(binding.name) and not self._is_given_tensor(function, binding.name, depth):
            return UNKNOWN  # `forward(self, x, args=None)`, `box = args.box`
        if self._uses.is_option(function, binding.name):
            return UNKNOWN  # `count = self.config.count if count is None else count`
        annotation = binding.node.annotation
        if annotation is not None and "Tensor" not in self._tree.text(annotation):
            return UNKNOWN  # `question: List[str]`, `size: Size`
        if function.args.args and function.args.args[0].arg != binding.name:
            if self._is_left_on_host(function, binding.name):
                return Value(Kind.TENSOR, Side.HOST, certain=False)
            if self._uses.moves_parts(function, binding.name):
                return Value(Kind.TENSOR, Side.UNKNOWN, certain=False)
            if self._kinds.shape_numbers.are_handed_in(function, binding.name):
                return HOST._replace(certain=False)  # `for block in self.blocks: x = block(x, x.shape)`
            return Value(Kind.TENSOR, Side.DEVICE if self._kinds.mentions_device else Side.UNKNOWN, certain=False)
        return UNKNOWN

    def _is_given_values_of_host(self, function: FunctionNode, name: str, depth: int) -> bool:
        """Whether all calls that are known, here and in other files, give no tensor but a value of the host.

        A list of tensors is such a value, too: what is taken apart, or asked for an attribute, is none.
        """
        if self._uses.is_taken_apart(function, name):
            return False
        values = self._kinds.parameters.given_by_calls(function, name, depth)
        return bool(values) and all(value.kind is Kind.HOST for value in values)

    def _is_given_arrays(self, function: FunctionNode, name: str, depth: int) -> bool:
        """Whether all calls that are known give an array of NumPy or an element of one, or else a number of Python."""
        values = self._kinds.parameters.given_by_calls(function, name, depth)
        kinds = {value.kind for value in values}
        is_either = kinds == {Kind.HOST, Kind.NUMPY} and not self._uses.is_taken_apart(function, name)
        return is_either or kinds == {Kind.NUMPY}

    def _is_given_tensor(self, function: FunctionNode, name: str, depth: int) -> bool:
        """Whether a call that is known, here or in another file, gives a tensor."""
        return any(value.kind is Kind.TENSOR for value in self._kinds.parameters.given_by_calls(function, name, depth))

    def _is_given_numbers(self, function: FunctionNode, name: str) -> bool:
        """Whether calls in this file give nothing but constants for a parameter, or those in others a value of Python.

        A list of tensors is such a value, too: what is taken apart is none.
        """
        given = [item for item in self._definitions.arguments.of(function, name) if not is_none(item)]
        if given:
            return all(isinstance(item, ast.Constant) for item in given)
        outside = self._kinds.parameters.given_outside(function, name)
        is_python = bool(outside) and all(value == HOST._replace(certain=False) for value in outside)
        return is_python and self._uses.is_number(function, name)

    def _is_left_on_host(self, function: FunctionNode, name: str) -> bool:
        """Whether all calls in other files give a forward pass a tensor of the host: lengths, for packed sequences.

        Not what it is given first, which what is wrapped around the module may move; and only where nothing is done
        with it but to copy it to the host, or to hand it on: what was taken for a tensor may be a list of them.
        """
        first = function.args.args[1:2]
        given = self._kinds.parameters.given_outside(function, name)
        if not given or (first and first[0].arg == name):
            return False
        if not all(value.kind is Kind.TENSOR and value.side is Side.HOST for value in given):
            return False
        loads = self._uses.loads(function, name)
        return all(self._uses.is_copied(load) or not self._is_first_value(load) for load in loads)

    def _is_first_value(self, name: ast.Name) -> bool:
        """Whether a variable may still be what its function was given, not only an array made of it."""
        bindings = self._flow.reaching(name)
        made = [binding for binding in bindings if binding.kind != "parameter"]
        return len(made) < len(bindings) and not any(map(self._kinds.branches.is_converted, made))


def _are_plain(default: ast.expr | None) -> bool:
    """Whether a parameter is a list of numbers or texts by default."""
    elements = default.elts if isinstance(default, ast.List | ast.Tuple) else []
    return bool(elements) and all(map(is_left_at_plain, elements))
