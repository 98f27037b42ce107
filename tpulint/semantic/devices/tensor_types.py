"""Tensor classes of CUDA (``torch.cuda.FloatTensor``), which say dtype and device in one, and their uses."""

from __future__ import annotations

import ast

from tpulint.semantic.devices.tensor_modules import TensorModule, tensor_modules
from tpulint.semantic.project.handed_tensor_types import given_by
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.torch_facts import CUDA_TENSOR_TYPES
from tpulint.semantic.syntax.variables import Key
from tpulint.semantic.values.kept_attributes import is_read_elsewhere, loads_of_objects, owner_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_INITIALISERS = frozenset({"fill_", "zero_", "normal_", "uniform_", "random_", "bernoulli_", "exponential_", "copy_"})


class TypeUse:
    """One reference to a CUDA tensor class, with the variable it goes into and what is done with that."""

    __slots__ = (
        "choice", "constructions", "conversions", "elsewhere", "factories", "given", "handed", "module", "name", "node",
        "only", "settings", "statement", "test", "tests", "unknown", "variable",
    )  # fmt: skip

    def __init__(self, node: ast.expr, name: str) -> None:
        self.node = node
        """The reference, or the text that names the class."""
        self.name = name
        """``FloatTensor``."""
        self.variable: Key | None = None
        self.choice: ast.IfExp | None = None
        """The condition between this class and the host's class of the same name."""
        self.module: ast.expr | None = None
        """What a variable holds that the class is taken from: ``torch.cuda if use_cuda else torch``."""
        self.test: ast.expr | None = None
        """The condition that chooses this class, in an expression or by an ``if`` around the assignment."""
        self.statement: ast.stmt | None = None
        """The statement that makes the choice."""
        self.constructions: list[ast.Call] = []
        """Calls of the class or variable."""
        self.conversions: list[ast.Call] = []
        """``x.type(...)``"""
        self.given: list[ast.Call] = []
        """``x.type(dtype)`` in a function that has the class for the default of ``dtype``."""
        self.handed: list[tuple[ast.Call, str]] = []
        """Calls of functions that convert with the class, and whether they give one tensor or a list."""
        self.factories: list[ast.expr] = []
        """The class as what a ``defaultdict`` makes its values with."""
        self.settings: list[ast.Call] = []
        """``torch.set_default_tensor_type(...)``"""
        self.tests: list[ast.Call] = []
        """``isinstance(x, (torch.LongTensor, torch.cuda.LongTensor))``, of nothing but such classes."""
        self.unknown: list[ast.expr] = []
        """Uses that cannot be followed."""
        self.elsewhere = False
        """Whether tensors are made with it where it is taken from objects that nobody sees, or in other files."""
        self.only = True
        """Whether the variable never holds a class of another dtype."""


class TensorTypes:
    """The CUDA tensor classes of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._tree = index.tree
        modules = list(tensor_modules(index))
        taken = {node for module in modules for node in module.classes}
        references: list[tuple[ast.expr, str]] = []
        for node, name in index.references("torch.cuda"):
            head, _, last = name.rpartition(".")
            if node in taken or head != "torch.cuda" or last not in CUDA_TENSOR_TYPES:
                continue
            if not self._is_variable(node):
                references.append((node, last))
        for text in index.tree.strings:
            if not str(text.value).startswith("torch.cuda."):
                continue
            head, _, last = str(text.value).rpartition(".")
            if head == "torch.cuda" and last in CUDA_TENSOR_TYPES:
                references.append((text, last))
        self.uses = [self._use(node, name) for node, name in references]
        self.uses += [self._taken_from(module, node) for module in modules for node in module.classes]

    def _is_variable(self, node: ast.expr) -> bool:
        """Whether a name is a variable that holds the class; what it is used for is found from its assignment."""
        return isinstance(node, ast.Name) and any(
            binding.kind == "assign" for binding in self._index.names.bindings(node)
        )

    def _use(self, node: ast.expr, name: str) -> TypeUse:
        use = TypeUse(node, name)
        whole = node
        parent = self._tree.parents[node]
        if isinstance(parent, ast.IfExp) and parent.test is not node:
            other = parent.orelse if parent.body is node else parent.body
            if self._host_class(other) == name:
                use.choice = parent
                whole, parent = parent, self._tree.parents[parent]
            else:
                use.unknown.append(node)
                return use
        self._find_test(use, parent)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            keys = self._index.devices.flow.variables.keys_of(parent.targets[0])
            if keys and keys[0][0] == "name":
                use.variable = keys[0]
                use.only = self._holds_only(keys[0], name)
                for load in self._index.devices.flow.variables.loads(keys[0]):
                    self._sort(use, load)
                return use
            owner = owner_of(self._index, parent.targets[0])
            if owner is not None and isinstance(parent.targets[0], ast.Attribute):
                use.variable = keys[0]
                use.only = self._keeps_only(owner, parent.targets[0], name)
                for load in loads_of_objects(self._index, owner, parent.targets[0]):
                    self._sort(use, load)
                use.elsewhere = is_read_elsewhere(self._index, owner, parent.targets[0])
                return use
        self._sort(use, whole)
        return use

    def _taken_from(self, module: TensorModule, node: ast.Attribute) -> TypeUse:
        """One class of a module that a variable holds."""
        use = TypeUse(node, node.attr)
        use.module, use.variable, use.elsewhere = module.value, module.variable, module.is_read_elsewhere
        if isinstance(module.value, ast.IfExp):
            use.test, use.statement = module.value.test, module.statement
        else:
            self._find_test(use, module.statement)
        self._sort(use, node)
        use.unknown += module.others
        return use

    def _find_test(self, use: TypeUse, parent: ast.AST) -> None:
        if use.choice is not None:
            use.test = use.choice.test if use.choice.body is use.node else None
            use.statement = self._tree.statement_of(use.choice)
            return
        around = self._tree.parents[parent] if isinstance(parent, ast.Assign) else None
        if not isinstance(around, ast.If):
            return
        test = around.test
        if parent in around.body:
            use.test, use.statement = test, around
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):  # `if not cuda: ... else: dtype = ...`
            use.test, use.statement = test.operand, around

    def _keeps_only(self, owner: ast.ClassDef, target: ast.Attribute, name: str) -> bool:
        for binding in self._index.names.attribute_bindings(owner, target.attr):
            value = binding.value
            branches = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
            if any(branch is None or self._host_class(branch) != name for branch in branches):
                return False
        return True

    def _host_class(self, node: ast.expr) -> str | None:
        name = self._index.qualified_name(node) or ""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value
        head, _, last = name.rpartition(".")
        if head in ("torch", "torch.cuda") and last in CUDA_TENSOR_TYPES:
            return last
        return "FloatTensor" if name == "torch.Tensor" else None

    def _holds_only(self, key: Key, name: str) -> bool:
        for node in self._tree.names_called(key[2]):
            if isinstance(node.ctx, ast.Load):
                continue
            if self._index.devices.flow.variables.keys_of(node) != (key,):
                continue
            statement = self._tree.parents[node]
            if not isinstance(statement, ast.Assign):
                return False
            value = statement.value
            branches = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
            if any(self._host_class(branch) != name for branch in branches):
                return False
        return True

    def _sort(self, use: TypeUse, node: ast.expr) -> None:
        """Put one occurrence of the class where it belongs."""
        parent = self._tree.parents[node]
        if isinstance(parent, ast.Call) and parent.func is node:
            use.constructions.append(parent)
        elif (
            isinstance(parent, ast.Call)
            and parent.args[:1] == [node]
            and isinstance(parent.func, ast.Attribute)
            and parent.func.attr == "type"
        ):
            use.conversions.append(parent)
        elif (
            isinstance(parent, ast.Call) and self._index.qualified_name(parent.func) == "torch.set_default_tensor_type"
        ):
            use.settings.append(parent)
        elif (
            isinstance(parent, ast.Call)
            and parent.args == [node]
            and use.variable is not None
            and self._index.qualified_name(parent.func) == "collections.defaultdict"
        ):
            use.factories.append(node)
        elif (test := self._test_by(node)) is not None:
            use.tests.append(test)
        elif isinstance(parent, ast.Call) and node in parent.args and use.variable is not None and use.only:
            kind = given_by(self._index, parent, node)
            # One of the device would go to the host and back.
            if kind is None or any(map(self._index.reads.is_on_device, parent.args)):
                use.unknown.append(node)
            else:
                use.handed.append((parent, kind))
        elif not isinstance(parent, ast.arguments) or not self._sort_parameter(use, node, parent):
            use.unknown.append(node)

    def _test_by(self, node: ast.expr) -> ast.Call | None:
        """The ``isinstance`` that asks for a class, alone or in a tuple of others of its like."""
        classes: ast.AST = node
        call = self._tree.parents[node]
        if isinstance(call, ast.Tuple):
            classes, call = call, self._tree.parents[call]
        if not isinstance(call, ast.Call) or self._index.qualified_name(call.func) != "builtins.isinstance":
            return None
        is_asked = (
            len(call.args) == 2 and call.args[1] is classes and isinstance(call.args[0], ast.Name | ast.Attribute)
        )
        named = ((self._index.qualified_name(item) or "").rpartition(".") for item in asked_classes(call))
        known = is_asked and all(
            head in ("torch", "torch.cuda") and last in CUDA_TENSOR_TYPES for head, _, last in named
        )
        return call if known else None

    def _sort_parameter(self, use: TypeUse, node: ast.expr, arguments: ast.arguments) -> bool:
        """Follow the class into the parameter whose default it is; whether all that is done with it are conversions."""
        function = self._tree.parents[arguments]
        parameters = [*arguments.posonlyargs, *arguments.args]
        named: dict[ast.arg, ast.expr | None] = {}
        named |= zip(reversed(parameters), reversed(arguments.defaults), strict=False)
        named |= dict(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
        parameter = next((item for item, default in named.items() if default is node), None)
        if parameter is None or not isinstance(function, FUNCTIONS):
            return False
        conversions: list[ast.Call] = []
        for load in self._tree.names_called(parameter.arg):
            if self._tree.function_of(load) is not function:
                continue
            call = self._tree.parents[load]
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "type":
                return False
            if call.args != [load] or self._index.reads.is_on_device(call.func.value):
                return False
            conversions.append(call)
        use.given += conversions
        return True

    def filled(self, call: ast.Call) -> ast.Call:
        """The construction with the calls that fill it in place: ``Tensor(n, 1).fill_(1.0)``."""
        while True:
            attribute = self._tree.parents[call]
            if not isinstance(attribute, ast.Attribute) or attribute.attr not in _INITIALISERS:
                return call
            outer = self._tree.parents[attribute]
            if not isinstance(outer, ast.Call) or outer.func is not attribute:
                return call
            call = outer


def asked_classes(test: ast.Call) -> list[ast.expr]:
    """The classes that an ``isinstance`` asks for."""
    classes = test.args[1]
    return classes.elts if isinstance(classes, ast.Tuple) else [classes]
