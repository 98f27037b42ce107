"""Where device names and device objects come from and end up, through variables, attributes, options and calls."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from tpulint.semantic.names import Binding
from tpulint.semantic.tree import FUNCTIONS, FunctionNode

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 8
_CUDA_TEXT = re.compile(r"cuda(?::(\d+))?\Z")
_CUDA_START = re.compile(r"cuda:(?:%[ds]|\{\d*\})?\Z")
_DEVICE_WORD = re.compile(r"(?:\A|_)(?:devices?|dev)(?:\Z|_|\d)|Device")
_OTHER_DEVICE_NAMES = frozenset({"device_map", "device_ids", "device_id", "device_count", "num_devices", "device_index", "n_devices",
                                 "pin_memory_device", "map_location", "device_mesh", "device_list"})  # fmt: skip
_PRECISION_CALLS = (
    "autocast",
    "GradScaler",
    "custom_fwd",
    "custom_bwd",
    "is_autocast_enabled",
    "is_autocast_available",
)
_OPTION_CALLS = frozenset({"add_argument", "option", "Option", "Argument", "argument", "DEFINE_string"})
_DEVICE_FIRST = frozenset({"torch.device", "torch.set_default_device", "torch.Generator"})
_LOOKUPS = {"get": 1, "pop": 1, "setdefault": 1, "getenv": 1}
"""Methods that answer with a default, and where it stands."""

Key = tuple[str, object, str]
"""A variable: kind (name, attribute, item), the node of the scope for a name, and the name."""


def says_device(name: str) -> bool:
    """Whether a name says that it holds a device."""
    return (
        name.lower() not in _OTHER_DEVICE_NAMES
        and _DEVICE_WORD.search(name if "Device" in name else name.lower()) is not None
    )


class Place(NamedTuple):
    """What becomes of the value of an expression."""

    kind: str
    """device: it says where something lives; variable; return; comparison; empty when it is something else."""
    node: ast.AST | None = None
    """The call, comparison or function."""
    keys: tuple[Key, ...] = ()


NOWHERE = Place("")


class DeviceFlow:
    """Answers about device values of one file. Lazy, memoised, bounded."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._tree = index.tree
        self._names = index.names
        self._loads: dict[Key, list[ast.expr]] | None = None
        self._stores: dict[str, list[ast.expr]] | None = None
        self._options: dict[str, list[ast.Call]] | None = None
        self._device_keys: dict[Key, bool] = {}
        self._derived: dict[ast.expr, bool] = {}

    # ---------------------------------------------------------------- texts

    def cuda_index(self, node: ast.expr) -> str | None:
        """Index in a text that names a CUDA device: ``"0"`` for ``"cuda:0"``, "" for none, "?" for one computed.

        None when the expression is no such text.
        """
        if isinstance(node, ast.Constant):
            match = _CUDA_TEXT.match(node.value) if isinstance(node.value, str) else None
            return (match.group(1) or "") if match else None
        if isinstance(node, ast.JoinedStr):
            return self._formatted_index(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
            left = node.left
            return (
                "?"
                if isinstance(left, ast.Constant) and isinstance(left.value, str) and _CUDA_START.match(left.value)
                else None
            )
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            text = node.func.value
            return (
                "?"
                if isinstance(text, ast.Constant) and isinstance(text.value, str) and _CUDA_START.match(text.value)
                else None
            )
        return None

    def _formatted_index(self, node: ast.JoinedStr) -> str | None:
        """Index in ``f"cuda:{rank}"``, ``f"{accelerator}:{rank}"`` and ``f"{accelerator}:0"``."""
        first, *rest = node.values or [None]
        if (
            isinstance(first, ast.FormattedValue)
            and self.derives(first.value)
            and rest
            and isinstance(rest[0], ast.Constant)
        ):
            text = str(rest[0].value)
            if text == ":" and len(rest) == 2:
                return "?"
            return text[1:] if re.fullmatch(r":\d+", text) and len(rest) == 1 else None
        return "?" if isinstance(first, ast.Constant) and first.value == "cuda:" and len(rest) == 1 else None

    # ---------------------------------------------------------------- where a value goes

    def place(self, node: ast.expr) -> Place:
        """What becomes of the value of an expression."""
        tree = self._tree
        parent = tree.parents[node]
        while True:
            if (
                (isinstance(parent, ast.IfExp) and parent.test is not node)
                or isinstance(parent, ast.BoolOp)
                or (isinstance(parent, ast.Lambda) and parent.body is node)
                or (isinstance(parent, ast.Call) and self.answers_default(parent, node))
            ):
                node, parent = parent, tree.parents[parent]
            else:
                break
        if (
            isinstance(parent, ast.keyword)
            and parent.arg in ("default", "default_factory")
            and self._is_field(tree.parents[parent])
        ):
            node, parent = parent.value, tree.parents[tree.parents[parent]]  # device: str = field(default="cuda")
        if isinstance(parent, ast.NamedExpr):
            return Place("variable", parent, self.keys_of(parent.target))
        if isinstance(parent, ast.Assign):
            keys = [key for target in parent.targets for key in self.keys_of(target)]
            return Place("variable", parent, tuple(keys)) if keys else NOWHERE
        if isinstance(parent, ast.AnnAssign):
            return Place("variable", parent, self.keys_of(parent.target))
        if isinstance(parent, ast.Return):
            return Place("return", tree.function_of(parent))
        if isinstance(parent, ast.Compare):
            return Place("comparison", parent)
        if isinstance(parent, ast.List | ast.Tuple | ast.Set):
            return self._place_in_sequence(parent, node)
        if isinstance(parent, ast.arguments):
            return self._place_of_default(parent, node)
        if isinstance(parent, ast.Dict):
            at = next((i for i, value in enumerate(parent.values) if value is node), None)
            key = parent.keys[at] if at is not None else None
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                return Place("variable", parent, (("item", None, key.value),))
            return NOWHERE
        if isinstance(parent, ast.keyword):
            call = tree.parents[parent]
            return self._place_of_keyword(call, parent) if isinstance(call, ast.Call) else NOWHERE
        if isinstance(parent, ast.Call) and node in parent.args:
            return self._place_of_argument(parent, node)
        return NOWHERE

    def answers_default(self, call: ast.Call, node: ast.expr) -> bool:
        """Whether the call gives this argument back when it finds nothing: ``getattr(args, "device", "cuda")``."""
        if len(call.args) == 3 and call.args[2] is node:
            return self._names.qualified(call.func) == "builtins.getattr"
        func = call.func
        at = _LOOKUPS.get(func.attr) if isinstance(func, ast.Attribute) else None
        return at is not None and len(call.args) == at + 1 and call.args[at] is node

    def _is_field(self, call: ast.AST) -> bool:
        func = call.func if isinstance(call, ast.Call) else None
        last = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        return last in ("field", "Field")

    def _place_in_sequence(self, sequence: ast.expr, node: ast.expr) -> Place:
        parent = self._tree.parents[sequence]
        if isinstance(parent, ast.Compare) and sequence is not parent.left:
            return Place("comparison", parent)
        if isinstance(parent, ast.keyword) and parent.arg == "choices":
            call = self._tree.parents[parent]
            return self._place_of_keyword(call, parent) if isinstance(call, ast.Call) else NOWHERE
        if (
            isinstance(sequence, ast.Tuple)
            and isinstance(parent, ast.Assign)
            and isinstance(parent.targets[0], ast.Tuple)
        ):
            targets = parent.targets[0].elts  # device, n = "cuda", 3
            if len(targets) == len(sequence.elts) and not any(isinstance(t, ast.Starred) for t in targets):
                keys = self.keys_of(targets[sequence.elts.index(node)])
                return Place("variable", parent, keys) if keys else NOWHERE
        return NOWHERE

    def _place_of_default(self, arguments: ast.arguments, node: ast.expr) -> Place:
        owner = self._tree.parents[arguments]
        positional = [*arguments.posonlyargs, *arguments.args]
        parameter: ast.arg | None = None
        if node in arguments.defaults:
            parameter = positional[arguments.defaults.index(node) - len(arguments.defaults)]
        elif node in arguments.kw_defaults:
            parameter = arguments.kwonlyargs[arguments.kw_defaults.index(node)]
        return Place("variable", owner, (("name", owner, parameter.arg),)) if parameter is not None else NOWHERE

    def _place_of_keyword(self, call: ast.Call, keyword: ast.keyword) -> Place:
        name = keyword.arg or ""
        if self._sets_precision(call):
            return NOWHERE
        if name in ("default", "choices", "const", "value"):
            option = self.option_name(call)
            if option is not None:
                return Place("variable", call, (("attribute", None, option),))
        owner = self._callee(call)
        if owner is not None and any(a.arg == name for a in (*owner.args.args, *owner.args.kwonlyargs)):
            return Place("variable", call, (("name", owner, name),))
        return Place("device", call) if says_device(name) else NOWHERE

    def _place_of_argument(self, call: ast.Call, node: ast.expr) -> Place:
        func = call.func
        name = self._names.qualified(func)
        at = call.args.index(node)
        if self._sets_precision(call):
            return NOWHERE
        if name in _DEVICE_FIRST:
            return Place("device", call) if at == 0 else NOWHERE
        if (
            isinstance(func, ast.Attribute)
            and func.attr in ("to", "to_empty")
            and at == 0
            and not (name or "").startswith("torch.")
        ):
            return Place("device", call)
        if isinstance(func, ast.Attribute) and func.attr == "startswith" and at == 0:
            return Place("comparison", call)
        option = self.option_name(call)
        if option is not None and at > 0 and not (isinstance(node, ast.Constant) and str(node.value).startswith("-")):
            return Place("variable", call, (("attribute", None, option),))  # DEFINE_string("device", "cuda", ...)
        owner = self._callee(call)
        if owner is not None and not any(isinstance(item, ast.Starred) for item in call.args[:at]):
            parameters = [*owner.args.posonlyargs, *owner.args.args]
            at += 1 if parameters and parameters[0].arg in ("self", "cls") else 0
            if at < len(parameters):
                return Place("variable", call, (("name", owner, parameters[at].arg),))
        return NOWHERE

    def _sets_precision(self, call: ast.Call) -> bool:
        """Whether the device named is that of an autocast or a scaler: other rules rewrite these."""
        func = call.func
        last = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        return last in _PRECISION_CALLS or (self._names.qualified(func) or "").rpartition(".")[2] in _PRECISION_CALLS

    def _callee(self, call: ast.Call) -> FunctionNode | None:
        definitions = self._index.definitions
        function = definitions.function_called(call)
        if function is None:
            owner = definitions.class_called(call)
            function = definitions.method(owner, "__init__") if owner is not None else None
        return function

    def option_name(self, call: ast.Call) -> str | None:
        """Attribute that a command line option declared by the call is read from."""
        func = call.func
        last = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        if last not in _OPTION_CALLS:
            return None
        for keyword in call.keywords:
            if keyword.arg == "dest" and isinstance(keyword.value, ast.Constant):
                return str(keyword.value.value)
        texts = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        named = [text for text in texts if text.startswith("--")] or texts[:1]
        return named[0].lstrip("-").replace("-", "_") if named else None

    # ---------------------------------------------------------------- variables

    def keys_of(self, node: ast.AST) -> tuple[Key, ...]:
        """The variable an expression reads or writes."""
        if isinstance(node, ast.Name):
            found = self._names.find(node.id, self._names.scope_of(node))
            return (("name", found[0].node, node.id),) if found else ()
        if isinstance(node, ast.Attribute):
            return (("attribute", None, node.attr),)
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, str)
        ):
            return (("item", None, node.slice.value),)
        return ()

    def loads(self, key: Key) -> list[ast.expr]:
        """Expressions that read a variable."""
        if self._loads is None:
            self._loads = {}
            reads: list[ast.expr] = [n for n in self._tree.names if isinstance(n.ctx, ast.Load)]
            reads.extend(n for n in self._tree.attributes if isinstance(n.ctx, ast.Load))
            for node in reads:
                for found in self.keys_of(node):
                    self._loads.setdefault(found, []).append(node)
        return self._loads.get(key, [])

    def stores(self, attribute: str) -> list[ast.expr]:
        """Values given to an attribute of this name, as a field, by assignment or as the default of an option."""
        if self._stores is None:
            self._stores = {}
            for node in self._tree.attributes:
                statement = self._tree.parents[node]
                if (
                    isinstance(node.ctx, ast.Store)
                    and isinstance(statement, ast.Assign | ast.AnnAssign)
                    and statement.value is not None
                ):
                    self._stores.setdefault(node.attr, []).append(statement.value)
            for owner in self._tree.classes:
                for item in owner.body:
                    if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.value is not None:
                        self._stores.setdefault(item.target.id, []).append(item.value)
            for option, calls in self.options.items():
                for call in calls:
                    values = [k.value for k in call.keywords if k.arg == "default"]
                    self._stores.setdefault(option, []).extend(values or call.args[1:2])
        return self._stores.get(attribute, [])

    @property
    def options(self) -> dict[str, list[ast.Call]]:
        """Calls that declare command line options, by the attribute they are read from."""
        if self._options is None:
            self._options = {}
            for call in self._tree.calls:
                name = self.option_name(call)
                if name is not None:
                    self._options.setdefault(name, []).append(call)
        return self._options

    def is_device_variable(self, key: Key, depth: int = 0) -> bool:
        """Whether a variable holds a device: by its name, or because its value is used as one."""
        if says_device(key[2]):
            return True
        found = self._device_keys.get(key)
        if found is None:
            if depth > _DEPTH:
                return False
            self._device_keys[key] = False
            found = self._device_keys[key] = any(self._is_used_as_device(load, depth + 1) for load in self.loads(key))
        return found

    def _is_used_as_device(self, load: ast.expr, depth: int) -> bool:
        place = self.place(load)
        return self.is_device_place(place, depth)

    def is_device_place(self, place: Place, depth: int = 0) -> bool:
        """Whether what ends up at a place is taken as a device."""
        if place.kind == "device":
            return True
        if place.kind == "variable":
            return any(self.is_device_variable(key, depth) for key in place.keys)
        if place.kind == "return" and isinstance(place.node, FUNCTIONS) and depth <= _DEPTH:
            if says_device(place.node.name):
                return True
            calls = self._index.definitions.calls_of(place.node)[:_DEPTH]
            return any(self.is_device_place(self.place(call), depth + 1) for call in calls)
        return False

    # ---------------------------------------------------------------- where a value comes from

    def derives(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a value comes from a place of this file that names a CUDA device or asks for the accelerator."""
        found = self._derived.get(node)
        if found is None:
            if depth > _DEPTH * 2:
                return False
            self._derived[node] = False
            found = self._derived[node] = self._derives(node, depth + 1)
        return found

    def _derives(self, node: ast.expr, depth: int) -> bool:
        if self.cuda_index(node) is not None:
            return True
        if isinstance(node, ast.IfExp):
            return self.derives(node.body, depth) or self.derives(node.orelse, depth)
        if isinstance(node, ast.BoolOp):
            return any(self.derives(item, depth) for item in node.values)
        if isinstance(node, ast.Subscript):
            if (
                isinstance(node.value, ast.Call)
                and isinstance(node.value.func, ast.Attribute)
                and node.value.func.attr == "split"
            ):
                return self.derives(node.value.func.value, depth)  # device.split(":")[0]
            return False
        if isinstance(node, ast.Call):
            return self._call_derives(node, depth)
        if isinstance(node, ast.Attribute):
            if node.attr == "type":
                return self.derives(node.value, depth)
            return (
                any(self.derives(value, depth) for value in self.stores(node.attr)) if says_device(node.attr) else False
            )
        if isinstance(node, ast.Name):
            return any(self._binding_derives(binding, depth) for binding in self._names.bindings(node))
        return False

    def _call_derives(self, node: ast.Call, depth: int) -> bool:
        name = self._names.qualified(node.func)
        if name == "torch.accelerator.current_accelerator":
            return True
        if name in ("torch.device", "builtins.str") and node.args:
            return self.derives(node.args[0], depth)
        function = self._index.definitions.function_called(node)
        if function is not None:
            inside = self._tree.inside(function, functions=False)
            return any(
                isinstance(n, ast.Return) and n.value is not None and self.derives(n.value, depth + 2) for n in inside
            )
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr in ("lower", "strip"):
            return self.derives(func.value, depth)
        return any(self.answers_default(node, item) and self.derives(item, depth) for item in node.args)

    def _binding_derives(self, binding: Binding, depth: int) -> bool:
        if binding.kind == "assign" and binding.value is not None:
            value = binding.value
            for at in binding.path:
                if not isinstance(value, ast.Tuple) or not -len(value.elts) <= at < len(value.elts):
                    return False
                value = value.elts[at]
            return self.derives(value, depth)
        if binding.kind == "parameter":
            if binding.value is not None and self.derives(binding.value, depth):
                return True
            if isinstance(binding.statement, FUNCTIONS):
                passed = self._index.definitions.arguments_for(binding.statement, binding.name)
                return any(self.derives(item, depth + 2) for item in passed)
        return False
