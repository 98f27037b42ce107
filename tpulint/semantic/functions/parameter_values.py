"""What parameters of functions are given: by annotation, by hook, by call site in this file and in others."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property

from tpulint.semantic.functions.default_flags import DefaultFlags
from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.functions.number_parameters import NumberParameters
from tpulint.semantic.functions.parameter_uses import ParameterUses, is_called_options, is_left_at_plain
from tpulint.semantic.functions.passed_arguments import named_beside
from tpulint.semantic.functions.relayed_parameters import RelayedParameters
from tpulint.semantic.project.outside import ELEMENT_AT, ELEMENT_OF, OutsideCall, qualified_in_file
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.contents import key_of
from tpulint.semantic.values.value import (
    HOST,
    HOST_DEVICE,
    NUMPY,
    UNKNOWN,
    Kind,
    Side,
    Value,
    is_cpu,
    is_none,
    is_text,
    join,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.functions.forward_parameters import ForwardParameters
    from tpulint.semantic.values.kinds import Kinds

_ANNOTATIONS = {
    "torch.Tensor": Value(Kind.TENSOR), "torch.FloatTensor": Value(Kind.TENSOR), "torch.LongTensor": Value(Kind.TENSOR),
    "torch.nn.Module": Value(Kind.MODULE), "torch.optim.Optimizer": Value(Kind.OPTIMIZER),
    "torch.optim.optimizer.Optimizer": Value(Kind.OPTIMIZER), "torch.utils.data.DataLoader": Value(Kind.LOADER),
    "torch.device": Value(Kind.DEVICE), "numpy.ndarray": NUMPY, "builtins.int": HOST, "builtins.float": HOST,
    "builtins.str": HOST, "builtins.bool": HOST, "builtins.dict": HOST, "torch.cuda.amp.GradScaler": Value(Kind.SCALER),
    "torch.amp.GradScaler": Value(Kind.SCALER),
}  # fmt: skip
_CALLS = 8
"""Calls of a lambda that are looked at."""


class ParameterValues:
    """Of the functions of one file."""

    def __init__(
        self,
        kinds: Kinds,
        tree: SyntaxTree,
        names: Names,
        flow: Flow,
        definitions: Definitions,
        flags: DefaultFlags,
        outside: Sequence[OutsideCall],
    ) -> None:
        self._kinds = kinds
        self._tree = tree
        self._names = names
        self._flow = flow
        self._definitions = definitions
        self._flags = flags
        self._outside = outside
        self._numbers = NumberParameters(tree, names, definitions)
        self._uses = ParameterUses(tree, names)
        self._relayed = RelayedParameters(kinds, tree, names, definitions)

    @cached_property
    def _hooked(self) -> dict[FunctionNode, list[str]]:
        """Hooks of modules and tensors, with what is a tensor of what they are given."""
        if not self._tree.source.has_any(("_hook(",)):
            return {}
        from tpulint.semantic.functions.registered_hooks import hooks_registered, tensors_given

        return {hook: tensors_given(call, hook) for call, hook in hooks_registered(self._tree, self._definitions)}

    @cached_property
    def _forward(self) -> ForwardParameters:
        """What forward passes are given."""
        from tpulint.semantic.functions.forward_parameters import ForwardParameters

        return ForwardParameters(
            self._kinds, self._tree, self._flow, self._definitions, self._flags, self._numbers, self._uses
        )

    def annotated(self, annotation: ast.expr | None) -> Value:
        """What an annotation says; of one in quotes nothing."""
        if annotation is None:
            return UNKNOWN
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            return UNKNOWN
        if isinstance(annotation, ast.Subscript) and isinstance(annotation.value, ast.Name | ast.Attribute):
            if (self._names.qualified(annotation.value) or "").endswith("Optional"):
                return self.annotated(annotation.slice)
            return UNKNOWN
        if isinstance(annotation, ast.BinOp):
            return self.annotated(annotation.left)
        return _ANNOTATIONS.get(self._names.qualified(annotation) or "", UNKNOWN)

    def value(self, binding: Binding, depth: int) -> Value:
        """What a parameter holds when its function begins."""
        assert isinstance(binding.node, ast.arg)
        known = self.annotated(binding.node.annotation)
        if known.kind is Kind.TENSOR and known.side is Side.UNKNOWN:
            given = self._given(binding, depth)  # an annotation does not say where a tensor is
            return known._replace(side=given.side, certain=False) if given.kind is Kind.TENSOR else known
        if known.kind is Kind.DEVICE or known == HOST:  # `device: str`
            given = self._given(binding, depth)
            return given if given.kind is Kind.DEVICE else known
        return self._given(binding, depth) if known.kind is Kind.UNKNOWN else known

    def is_left_none(self, binding: Binding) -> bool:
        """Whether a parameter is None in all calls that are known."""
        return self._flags.is_left_none(binding)

    def without_none(self, bindings: tuple[Binding, ...]) -> tuple[Binding, ...]:
        """Those that give a variable a value: ``if n is None: n = x.max()``, where all calls leave it at None."""
        if len(bindings) < 2:
            return bindings
        left = [one for one in bindings if one.kind == "parameter" and self._flags.is_left_none(one)]
        return tuple(one for one in bindings if one not in left) if left else bindings

    def element(self, binding: Binding, key: str | int | None, depth: int) -> Value:
        """What is in the list or dictionary that calls, here and in other files, give for a parameter."""
        function = binding.statement
        if not isinstance(function, FUNCTIONS):
            return UNKNOWN

        def find(depth: int) -> Value:
            here = self._definitions.arguments.of(function, binding.name)
            if function.name == "forward":  # `model((words, masks))`
                here = [*here, *self._definitions.arguments.of_object(function, binding.name)]
            outside = self.given_outside(function, ELEMENT_AT.format(binding.name, key))
            outside = outside or self.given_outside(function, ELEMENT_OF.format(binding.name))
            values = [*(self._kinds.placed_or_held(item, key, depth + 2) for item in here), *outside]
            return _join_sides(values)._replace(certain=False)

        # Functions that hand a list on to each other, and to themselves, are each asked once.
        return self._kinds.functions.answer((f"element of {binding.name}", function, (key,)), find, depth)

    def is_option(self, node: ast.Subscript, depth: int) -> bool:
        """Whether what a forward pass asks a parameter for by a text is no tensor: ``args["decay"]``."""
        if not is_text(node.slice) or not isinstance(node.value, ast.Name):
            return False
        bindings = self._flow.reaching(node.value)
        function = bindings[0].statement if len(bindings) == 1 and bindings[0].kind == "parameter" else None
        if not isinstance(function, FUNCTIONS) or function.name != "forward":
            return False
        given = [self._kinds.value(item, depth + 2) for item in self._definitions.arguments.of(function, node.value.id)]
        given += self.given_outside(function, node.value.id)
        element = self.element(bindings[0], key_of(node), depth)
        if any(value.kind is Kind.TENSOR for value in (*given, element)):
            return False  # a batch of a loader, or a loss in a dictionary
        return is_called_options(node.value.id) or element.kind is Kind.HOST or self._numbers.decides(function, node)

    def variadic_element(self, binding: Binding, key: str | int | None, depth: int) -> Value:
        """What is in ``*inputs``: what calls give; of a forward pass tensors, where that of the file's modules runs.

        In ``**values`` of any function is what calls give it under names that are no parameters.
        """
        function = binding.statement
        if not isinstance(function, FUNCTIONS):
            return UNKNOWN
        if function.args.kwarg is binding.node:
            return self._element_named(function, key, depth)
        if function.args.vararg is not binding.node:
            return UNKNOWN
        owner = self._tree.class_of(function)
        named = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        named = named[int(self._tree.takes_object(function)) :]
        if function.name == "forward" and owner is not None and self._definitions.is_module_class(owner):
            is_of_host = isinstance(key, int) and self._is_of_host(function, len(named) + key, depth)
            return HOST._replace(certain=False) if is_of_host else self._kinds.parameter_tensor()
        relayed = self._relayed.at(function, len(named) + key, depth) if isinstance(key, int) else UNKNOWN
        if relayed.kind is not Kind.UNKNOWN:
            return relayed
        calls = self._definitions.calls_of(function)[:_CALLS]
        given = [item for call in calls for item in call.args[len(named) :]]
        if any(isinstance(item, ast.Starred) for item in given):
            return UNKNOWN
        return _join_sides([self._kinds.value(item, depth + 2) for item in given])._replace(certain=False)

    def _is_of_host(self, forward: FunctionNode, at: int, depth: int) -> bool:
        """Whether all that runs of a module give at a place is numbers and the like: ``net(x, 3)``."""
        runs = self._definitions.arguments.calls_of_object(forward)[:_CALLS]
        whole = [call.args for call in runs if not any(isinstance(item, ast.Starred) for item in call.args)]
        given = [items[at] for items in whole if 0 <= at < len(items)]
        return bool(given) and all(self._kinds.value(item, depth + 2).kind is Kind.HOST for item in given)

    def _element_named(self, function: FunctionNode, key: str | int | None, depth: int) -> Value:
        """What calls give for ``**values`` of a function under one name, or of what is given under any: tensors."""
        kwargs = function.args.kwarg
        assert kwargs is not None
        calls = self._definitions.calls_of(function)
        if function.name == "forward":
            calls = [*calls, *self._definitions.arguments.calls_of_object(function)]
        here = [part for call in calls[:_CALLS] for part in named_beside(call, function)]
        if isinstance(key, str):
            values = [self._kinds.value(value, depth + 2) for value, name in here if name == key]
            return _join_sides([*values, *self.given_outside(function, key)])._replace(certain=False)
        values = [
            self._kinds.content(value, None, depth + 2) if name is None else self._kinds.value(value, depth + 2)
            for value, name in here
        ]
        joined = _join_sides([*values, *self.given_outside(function, ELEMENT_OF.format(kwargs.arg))])
        return joined._replace(certain=False) if joined.kind is Kind.TENSOR else UNKNOWN

    def _given(self, binding: Binding, depth: int) -> Value:
        """What the framework, the class of the function or its calls give for a parameter."""
        assert isinstance(binding.node, ast.arg)
        function = binding.statement
        if isinstance(function, FUNCTIONS):
            if binding.name in self._kinds.hooks.batch_parameters(function):
                return Value(Kind.TENSOR, Side.DEVICE, certain=False)
            if binding.name in self._hooked.get(function, ()):
                return self._kinds.parameter_tensor()
            if binding.name in self._kinds.hooks.model_parameters(function):
                return Value(Kind.MODULE, certain=False)
            owner = self._tree.class_of(function)
            if function.name == "backward" and owner is not None and self._definitions.has_own_gradient(owner):
                is_context = function.args.args[:1] == [binding.node]
                return UNKNOWN if is_context else self._kinds.parameter_tensor()  # a gradient
            of_module = owner is not None and self._definitions.is_module_class(owner)
            if of_module and self._is_first(binding.node, function):
                return Value(Kind.MODULE)
            if of_module and function.name == "forward":
                return self._forward.value(function, binding, depth)
            passed = self._definitions.arguments.of(function, binding.name)
            given = [*((item, None) for item in passed), *self._definitions.arguments.unpacked(function, binding.name)]
            outside = self.given_outside(function, binding.name)
            if not given:
                chosen = self._definitions.arguments.when_chosen(function, binding.name)
                # `super().__init__(generator)` of a derived class
                chosen = chosen or ([] if outside else self._definitions.arguments.of_derived(function, binding.name))
                given = [(item, None) for item in chosen]
            if outside:  # What a file tries out when it is run itself is not what the project gives it.
                given = [(item, at) for item, at in given if not self._definitions.is_of_main(item)]
            values = [self._given_value(item, depth, at) for item, at in given if not is_none(item)]
            values.extend(outside)
            joined = _join_sides(values)
            if joined.kind is Kind.TENSOR and not joined.certain and self._uses.is_asked(function, binding.name):
                return UNKNOWN
            if joined.kind is not Kind.UNKNOWN:
                return joined._replace(certain=False)
            relayed = self._relayed.value(function, binding.node, depth)
            if relayed.kind is not Kind.UNKNOWN:
                return relayed
            if function.name == "__init__" and is_left_at_plain(binding.value):
                return HOST._replace(certain=False)  # `def __init__(self, rate=0.1)`
        elif isinstance(function, ast.Lambda):
            joined = join(self._kinds.value(given, depth + 2) for given in self._given_to_lambda(function, binding))
            return joined._replace(certain=False)
        return UNKNOWN

    def _given_value(self, argument: ast.expr, depth: int, at: int | None = None) -> Value:
        """What an argument is, or the part at a place of what is unpacked: ``criterion(*model(x), y)``."""
        if is_cpu(argument):
            return HOST_DEVICE
        value = self._kinds.value(argument, depth + 2)
        is_part = at is not None and value.kind is Kind.TENSOR
        return self._kinds.elements.part(argument, (at,), depth + 2) if is_part else value

    def _given_to_lambda(self, function: ast.Lambda, binding: Binding) -> Iterator[ast.expr]:
        """What calls give for a parameter of a lambda that has a name: ``as_array = lambda x: x.cpu().numpy()``."""
        statement = self._tree.parents.get(function)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(target, ast.Name) or binding.node not in function.args.args:
            return
        at = function.args.args.index(binding.node)
        for use in self._names.loads(target.id, self._names.scope_of(target))[:_CALLS]:
            call = self._tree.parents.get(use)
            if isinstance(call, ast.Call) and call.func is use and at < len(call.args):
                yield call.args[at]

    def given_by_calls(self, function: FunctionNode, name: str, depth: int) -> list[Value]:
        """What calls give for a parameter, those of objects among them, here and in other files."""
        arguments = self._definitions.arguments
        given = [*arguments.of(function, name), *arguments.of_object(function, name)]
        values = [self._given_value(item, depth) for item in given if not is_none(item)]
        return values + self.given_outside(function, name)

    def _is_first(self, parameter: ast.arg, function: FunctionNode) -> bool:
        """Whether a parameter is the object whose method a function is, which no function within a method has."""
        outer = self._tree.function_of(function)
        if outer is not None and self._tree.class_of(outer) is self._tree.class_of(function):
            return False
        first = [*function.args.posonlyargs, *function.args.args][:1]
        return first == [parameter] and not any(isinstance(item, ast.Name) for item in function.decorator_list)

    def is_given_device_tensor(self, function: FunctionNode, name: str) -> bool:
        """Whether calls in other files give a tensor of the device for a parameter."""
        given = self.given_outside(function, name)
        return any(value.kind is Kind.TENSOR and value.side is Side.DEVICE for value in given)

    def given_outside(self, function: FunctionNode, name: str) -> list[Value]:
        """What calls in other files give for a parameter."""
        called = qualified_in_file(self._tree, function)
        return [
            Value(Kind[kind], Side[side], certain=False)
            for call in self._outside
            if call.function == called
            for parameter, kind, side in call.arguments
            if parameter == name
        ]


def _join_sides(values: list[Value]) -> Value:
    """What a parameter is, of the device where any call gives it a tensor from there, wherever those of others are.

    A function that a data set calls and the step, too, waits in the step.
    """
    joined = join(values)
    sides = {value.side for value in values}
    if joined.kind is Kind.TENSOR and Side.DEVICE in sides:
        return joined._replace(side=Side.DEVICE, certain=False)
    if joined.kind is Kind.DEVICE and any(value.kind is not Kind.DEVICE for value in values):
        return joined._replace(side=Side.UNKNOWN, certain=False)  # `"cpu"` here, `"cuda"` there
    return joined
