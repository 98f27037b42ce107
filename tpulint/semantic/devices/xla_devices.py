"""Variables that hold the XLA device, and where they can be read."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tpulint.semantic.syntax.bindings import Binding, element_of
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.scopes import Scope
from tpulint.semantic.syntax.torch_facts import DEVICE_FACTORIES
from tpulint.semantic.syntax.variables import says_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 8


class XlaDevices:
    """Answers about XLA devices of one file. Lazy, memoised, bounded."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._tree = index.tree
        self._names = index.names
        self._memo: dict[ast.expr, bool] = {}
        self._variables: dict[tuple[ast.AST, str], bool] = {}
        self._device_names: dict[ast.AST, list[tuple[str, list[Binding]]]] = {}
        self._taken_in_place: set[FunctionNode] | None = None

    # ---------------------------------------------------------------- values

    def is_device(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether an expression gives the XLA device, or its name, at least on one of its ways."""
        found = self._memo.get(node)
        if found is None:
            if depth > _DEPTH:
                return False
            self._memo[node] = False
            found = self._memo[node] = self._is_device(node, depth + 1)
        return found

    def _is_device(self, node: ast.expr, depth: int) -> bool:
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str) and (node.value == "xla" or node.value.startswith("xla:"))
        if isinstance(node, ast.IfExp):
            return self.is_device(node.body, depth) or self.is_device(node.orelse, depth)
        if isinstance(node, ast.BoolOp):
            return any(self.is_device(item, depth) for item in node.values)
        if isinstance(node, ast.Call):
            return self._call_gives_device(node, depth)
        if isinstance(node, ast.Name):
            return any(self._binding_gives_device(binding, depth) for binding in self._names.bindings(node))
        if isinstance(node, ast.Attribute) and says_device(node.attr):
            return any(self.is_device(value, depth) for value in self._index.devices.flow.variables.stores(node))
        return False

    def _call_gives_device(self, node: ast.Call, depth: int) -> bool:
        name = self._names.qualified(node.func)
        if name in DEVICE_FACTORIES:
            return True
        if name == "torch.device":
            return bool(node.args) and self.is_device(node.args[0], depth)
        function = self._index.definitions.function_called(node)
        if function is None:
            flow = self._index.devices.flow
            return any(flow.places.answers_default(node, item) and self.is_device(item, depth) for item in node.args)
        inside = self._tree.inside(function, functions=False)
        return any(
            isinstance(n, ast.Return) and n.value is not None and self.is_device(n.value, depth + 2) for n in inside
        )

    def _binding_gives_device(self, binding: Binding, depth: int = 0) -> bool:
        given = element_of(binding) if binding.kind == "assign" else None
        if given is not None:
            return self.is_device(given, depth)
        if binding.kind == "parameter":
            return self._is_device_parameter(binding, depth)
        return False

    def _is_device_parameter(self, binding: Binding, depth: int) -> bool:
        assert isinstance(binding.node, ast.arg)
        if (isinstance(binding.value, ast.Constant) and binding.value.value is None) or not isinstance(
            binding.statement, FUNCTIONS
        ):
            return False
        if binding.value is not None and self.is_device(binding.value, depth):
            return True
        if self._index.definitions.arguments.of(binding.statement, binding.name):
            passed = self._index.definitions.arguments.of(binding.statement, binding.name)
            return any(self.is_device(item, depth + 2) for item in passed)
        annotation = binding.node.annotation
        if annotation is not None:
            return self._names.qualified(annotation) == "torch.device"
        flow = self._index.devices.flow
        key = ("name", binding.statement, binding.name)
        uses = (flow.places.of(load) for load in flow.variables.loads(key))
        return says_device(binding.name) and any(place.kind == "device" for place in uses)

    # ---------------------------------------------------------------- variables

    def variable_at(self, node: ast.AST) -> str | None:
        """Text of a variable that holds the XLA device where the node runs; None when there is none."""
        scope: Scope | None = self._names.scope_of(node)
        home = scope
        while scope is not None:
            names = [
                name
                for name, bindings in self._device_variables(scope)
                if self._is_readable(scope, name, bindings, node, scope is home)
            ]
            if names:
                return "device" if "device" in names else names[0]
            if scope is home or not scope.is_module:
                attribute = self._own_attribute(node) if scope is home else None
                if attribute is not None:
                    return attribute
            scope = scope.parent
        return None

    def _is_readable(self, scope: Scope, name: str, bindings: list[Binding], node: ast.AST, at_home: bool) -> bool:
        if isinstance(scope.node, ast.ClassDef) and not at_home:
            return False
        found = self._names.find(name, self._names.scope_of(node))
        if found is None or found[0] is not scope:
            return False
        values = [binding for binding in bindings if binding.kind != "delete"]
        if scope.is_module and not at_home:
            # A function runs after the module's own statements, as far as these are not behind a condition.
            return self._always_bound(values, self._tree.module) and self._bound_first(values, node)
        return self._bound_before(values, node)

    def _device_variables(self, scope: Scope) -> list[tuple[str, list[Binding]]]:
        """Variables of a scope that hold the XLA device: few of many, looked for once."""
        if scope.node not in self._device_names:
            self._device_names[scope.node] = [
                (name, bindings)
                for name, bindings in list(self._names.variables_of(scope).items())
                if self._is_device_variable(scope, name, bindings)
            ]
        return self._device_names[scope.node]

    @property
    def taken_in_place(self) -> set[FunctionNode]:
        """Functions that move things with ``.to(torch_xla.device())``."""
        if self._taken_in_place is None:
            holders = {
                self._tree.function_of(call)
                for call, _ in self._index.method_calls("to")
                if call.args
                and isinstance(call.args[0], ast.Call)
                and self._names.qualified(call.args[0].func) in DEVICE_FACTORIES
            }
            self._taken_in_place = {function for function in holders if function is not None}
        return self._taken_in_place

    def _is_device_variable(self, scope: Scope, name: str, bindings: list[Binding]) -> bool:
        """Whether a variable holds the XLA device on one way, and some device on every way."""
        variable = (scope.node, name)
        if variable not in self._variables:
            values = [binding for binding in bindings if binding.kind != "delete"]
            self._variables[variable] = any(self._binding_gives_device(binding) for binding in values) and all(
                self._is_some_device(binding) for binding in values
            )
            self._variables[variable] &= not self._names_backend(name, values)
        return self._variables[variable]

    def _is_some_device(self, binding: Binding) -> bool:
        """Whether a binding gives a device of any kind: the XLA device on one way, the CPU on another."""
        if self._binding_gives_device(binding):
            return True
        value = binding.value
        if isinstance(value, ast.Constant):
            return isinstance(value.value, str) and value.value in ("cpu", "mps", "xpu")
        return isinstance(value, ast.Call) and self._names.qualified(value.func) == "torch.device"

    def _names_backend(self, name: str, bindings: list[Binding]) -> bool:
        """Whether a variable names the backend of process groups, which is called like the device: ``"xla"``."""
        if says_device(name):
            return False
        backends = {origin.node for join in self._index.process_groups.joins for origin in join.backends}
        return "backend" in name.lower() or any(binding.value in backends for binding in bindings)

    def _bound_before(self, bindings: Sequence[Binding], node: ast.AST) -> bool:
        flow = self._index.flow
        if any(
            flow.dominates(b, node) and (b.kind == "parameter" or self._ends_before(b.statement, node))
            for b in bindings
        ):
            return True
        for binding in bindings:
            statement = self._tree.parents.get(binding.statement)
            if (
                isinstance(statement, ast.If)
                and self._ends_before(statement, node)
                and self._covers(statement, bindings)
            ):
                outermost = self._outermost_if(statement)
                beside = self._tree.child_towards(self._tree.parents[outermost], node)
                if isinstance(beside, ast.stmt) and self._tree.suite_of(beside) is self._tree.suite_of(outermost):
                    return True
        return False

    def _always_bound(self, bindings: Sequence[Binding], holder: ast.Module | FunctionNode) -> bool:
        for binding in bindings:
            if self._tree.parents.get(binding.statement) is holder:
                return True
            statement = self._tree.parents.get(binding.statement)
            if (
                isinstance(statement, ast.If)
                and self._tree.parents.get(self._outermost_if(statement)) is holder
                and self._covers(statement, bindings)
            ):
                return True
        return False

    def _outermost_if(self, statement: ast.If) -> ast.If:
        """The ``if`` that an ``elif`` belongs to."""
        parent = self._tree.parents.get(statement)
        while isinstance(parent, ast.If) and parent.orelse == [statement]:
            statement, parent = parent, self._tree.parents.get(parent)
        return statement

    def _covers(self, statement: ast.If, bindings: Sequence[Binding]) -> bool:
        """Whether every branch binds the variable."""
        statement = self._outermost_if(statement)
        while True:
            if not any(binding.statement in statement.body for binding in bindings):
                return False
            if len(statement.orelse) == 1 and isinstance(statement.orelse[0], ast.If):
                statement = statement.orelse[0]
                continue
            return any(binding.statement in statement.orelse for binding in bindings)

    def _ends_before(self, statement: ast.AST, node: ast.AST) -> bool:
        return self._tree.end(statement) <= self._tree.start(node)

    def _own_attribute(self, node: ast.AST) -> str | None:
        """``self.device`` where the class gives it the XLA device."""
        owner, function = self._tree.class_of(node), self._tree.function_of(node)
        if owner is None or function is None or not function.args.args or self._tree.class_of(function) is not owner:
            return None
        for name, bindings in self._names.attributes.get(owner, {}).items():
            if not all(self._is_some_device(binding) for binding in bindings):
                continue
            if not any(self._binding_gives_device(binding) for binding in bindings):
                continue
            if self._names_backend(name, bindings):
                continue
            here = [binding for binding in bindings if self._tree.function_of(binding.statement) is function]
            start = next(
                (at for b in bindings if (at := self._tree.function_of(b.statement)) and at.name == "__init__"), None
            )
            if start is None or (here and not self._bound_before(here, node)):
                continue
            first = [binding for binding in bindings if self._tree.function_of(binding.statement) is start]
            if function is start or (self._always_bound(first, start) and self._bound_first(first, node)):
                return f"{function.args.args[0].arg}.{name}"
        return None

    def _bound_first(self, bindings: Sequence[Binding], node: ast.AST) -> bool:
        """Whether no function around a node runs before a variable of the module, or of an object, gets its value."""
        early = self._index.early_calls
        return not any(
            isinstance(function, FUNCTIONS) and early.may_run_before(function, binding.statement)
            for function in self._tree.ancestors(node)
            for binding in bindings
            if isinstance(binding.statement, ast.stmt)
        )

    def may_be_host(self, variable: str, node: ast.AST) -> bool:
        """Whether a variable that holds the XLA device may hold the CPU instead, as a flag wants it."""
        owner = self._tree.class_of(node)
        found = self._names.find(variable, self._names.scope_of(node))
        bindings = found[1] if found is not None else []
        if "." in variable and owner is not None:
            bindings = self._names.attribute_bindings(owner, variable.rpartition(".")[2])
        for binding in bindings:
            value = binding.value
            if binding.kind == "parameter" or value is None:
                return True  # the caller chooses
            inside = (value, *self._tree.inside(value))
            if any(isinstance(item, ast.Constant) and item.value == "cpu" for item in inside):
                return True
        return False

    def is_taken(self, name: str, node: ast.AST) -> bool:
        """Whether a name means something in the module, or where the node runs."""
        return any(
            self._names.find(name, scope) is not None for scope in (self._names.module, self._names.scope_of(node))
        )
