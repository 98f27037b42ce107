"""Which values are devices: what names a CUDA device, what is used as a device, what comes from either."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cached_property

from tpulint.model import Span
from tpulint.semantic.cuda.compared_names import ComparedNames
from tpulint.semantic.devices.device_settings import (
    GPU_NAMES,
    attribute,
    is_used_as_device,
    option,
    part_returned_by,
    returned_by,
)
from tpulint.semantic.devices.returned_devices import gives_device, holds_device, returned_values
from tpulint.semantic.project.outside import qualified_in_file
from tpulint.semantic.syntax.bindings import Binding, part_of
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.variables import Key, Variables, says_device
from tpulint.semantic.values.places import Place, Places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 8
_XLA_DEVICES = ("torch_xla.device", "torch_xla.core.xla_model.xla_device")
_CUDA_TEXT = re.compile(r"cuda(?::(\d+))?\Z")
_CUDA_START = r"cuda:(?:%[dis]|\{\d*(?::d)?\})?\Z"


class DeviceFlow:
    """Answers about device values of one file. Lazy, memoised, bounded."""

    def __init__(self, index: SemanticIndex, outside: Callable[[], tuple[Span, ...]]) -> None:
        self._index = index
        self._find_outside = outside
        self._tree = index.tree
        self._names = index.names
        self.variables = Variables(index)
        self.places = Places(index, self.variables)
        self.compared = ComparedNames(index)
        self._device_keys: dict[Key, bool] = {}
        self._derived: dict[ast.expr, bool] = {}

    @cached_property
    def outside(self) -> tuple[Span, ...]:
        """Code that is left alone: what it names is no device of the file."""
        return self._find_outside()

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
                if isinstance(left, ast.Constant) and isinstance(left.value, str) and re.match(_CUDA_START, left.value)
                else None
            )
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            text = node.func.value
            return (
                "?"
                if isinstance(text, ast.Constant) and isinstance(text.value, str) and re.match(_CUDA_START, text.value)
                else None
            )
        return None

    def _formatted_index(self, node: ast.JoinedStr) -> str | None:
        """Index in ``f"cuda:{rank}"``, ``f"{accelerator}:{rank}"`` and ``f"{accelerator}:0"``."""
        if not node.values:
            return None
        first, *rest = node.values
        if isinstance(first, ast.Constant):
            if not rest:
                return self.cuda_index(first)  # `f"cuda"`
            return "?" if first.value == "cuda:" and len(rest) == 1 else None
        text = str(rest[0].value) if rest and isinstance(rest[0], ast.Constant) else ""
        computed = text == ":" and len(rest) == 2
        if not computed and (len(rest) != 1 or not re.fullmatch(r":\d+", text)):
            return None
        derived = isinstance(first, ast.FormattedValue) and self.derives(first.value) and not _repeats(rest)
        return ("?" if computed else text[1:]) if derived else None

    # ---------------------------------------------------------------- where a value goes

    def is_device_variable(self, key: Key, depth: int = 0) -> bool:
        """Whether a variable holds a device: by its name, or because its value is used as one."""
        if says_device(key[2]):
            return True
        found = self._device_keys.get(key)
        if found is None:
            if depth > _DEPTH:
                return False
            self._device_keys[key] = False
            used = any(self._is_used(load, depth) for load in self.variables.loads(key)) or self._is_field(key, depth)
            found = self._device_keys[key] = used or self._is_used_elsewhere(key)
        return found

    def _is_used(self, load: ast.expr, depth: int) -> bool:
        return self.is_device_place(self.places.of(load), depth + 1) or self.compared.asks_for_place(load)

    def _is_field(self, key: Key, depth: int) -> bool:
        """Whether a variable of a class, read as an attribute, holds a device; members ``CUDA`` are looked at apart."""
        kind, scope, name = key
        if kind != "name" or not isinstance(scope, ast.ClassDef) or any(word in name.lower() for word in GPU_NAMES):
            return False
        return self.is_device_variable(("attribute", None, name), depth + 1)

    def _is_used_elsewhere(self, key: Key) -> bool:
        """Whether another file takes a variable of this one, or an attribute of what this one makes, for a device."""
        kind, scope, name = key
        if kind == "attribute" and name in self.variables.options and self._is_option_used_elsewhere(name):
            return True
        if not self._index.outside:
            return False
        if kind == "name" and isinstance(scope, ast.ClassDef | ast.Module):
            return is_used_as_device(self._index, name if isinstance(scope, ast.Module) else attribute(name))
        return kind == "attribute" and is_used_as_device(self._index, attribute(name))

    def _is_option_used_elsewhere(self, name: str) -> bool:
        if is_used_as_device(self._index, option(name)):
            return True
        if not self._index.imported.knows_others:
            return False
        from tpulint.semantic.project.unpacked_options import is_unpacked_for_device

        return is_unpacked_for_device(self._index, name)

    def is_device_place(self, place: Place, depth: int = 0) -> bool:
        """Whether what ends up at a place is taken as a device."""
        if place.kind == "device":
            return True
        if place.kind == "variable":
            return any(self.is_device_variable(key, depth) for key in place.keys)
        if place.kind == "part" and isinstance(place.node, FUNCTIONS):
            name = part_returned_by(qualified_in_file(self._tree, place.node), place.at)
            used = (self.is_device_variable(key, depth) for key in place.keys)
            return any(used) or is_used_as_device(self._index, name)
        if place.kind == "return" and isinstance(place.node, FUNCTIONS) and depth <= _DEPTH:
            if says_device(place.node.name):
                return True
            calls = self._index.definitions.calls_of(place.node)[:_DEPTH]
            if any(self.is_device_place(self.places.of(call), depth + 1) for call in calls):
                return True
            name = returned_by(qualified_in_file(self._tree, place.node))
            return is_used_as_device(self._index, name)
        return False

    # ---------------------------------------------------------------- where a value comes from

    def is_outside(self, node: ast.expr) -> bool:
        """Whether an expression stands in code that is left alone."""
        span = self._index.span(node) if self.outside else None
        return span is not None and any(one.start <= span.start and span.end <= one.end for one in self.outside)

    def derives(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a value comes from a place of this file that names a CUDA device or asks for the accelerator."""
        found = self._derived.get(node)
        if found is None:
            if depth > _DEPTH * 2 or self.is_outside(node):
                return False
            self._derived[node] = False
            found = self._derived[node] = self._derives(node, depth + 1)
        return found

    def _derives(self, node: ast.expr, depth: int) -> bool:
        if self.cuda_index(node) is not None:
            place = self.places.of(node)
            # A word that only a comparison takes for something stays, and the comparison with it.
            return place.kind != "variable" or self.is_device_place(place) or _is_member(place)
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
            if isinstance(node.value, ast.List | ast.Tuple) and not isinstance(node.slice, ast.Slice):
                return any(self.derives(item, depth) for item in node.value.elts)  # ["cuda:0", "cuda:1"][number]
            # `config["device"]`
            is_device = any(map(self.is_device_variable, self.variables.keys_of(node)))
            return is_device and any(self.derives(value, depth) for value in self.variables.items(node))
        if isinstance(node, ast.Call):
            return self._call_derives(node, depth)
        if isinstance(node, ast.Attribute):
            if node.attr == "type":
                return self.derives(node.value, depth)
            stored = self.variables.stores(node)
            if says_device(node.attr):
                derived = any(self.derives(value, depth) for value in stored)
                return derived or self._is_given_in(node) or self._is_of_other_file(node)
            found = [self.derives(value, depth) for value in stored]
            is_used = any(found) and any(map(self.is_device_variable, self.variables.keys_of(node)))
            return is_used or (bool(stored) and all(found))
        if isinstance(node, ast.Name):
            derived = any(self._binding_derives(binding, depth) for binding in self._names.bindings(node))
            return derived or holds_device(self._index, node)
        return False

    def _call_derives(self, node: ast.Call, depth: int) -> bool:
        name = self._names.qualified(node.func)
        if name == "torch.accelerator.current_accelerator":
            return True
        if name in ("torch.device", "builtins.str") and node.args:
            return self.derives(node.args[0], depth) or (name == "torch.device" and self._is_number(node.args[0]))
        if self._returned_derives(node, (), depth):
            return True
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr in ("lower", "strip"):
            return self.derives(func.value, depth)
        return any(self.places.answers_default(node, item) and self.derives(item, depth) for item in node.args)

    def _is_number(self, node: ast.expr) -> bool:
        """Whether a device is that of a number: a GPU."""
        from tpulint.semantic.devices.device_indices import DeviceIndices

        return DeviceIndices(self._index, self).is_number(node)

    def _returned_derives(self, node: ast.Call, path: tuple[int, ...], depth: int) -> bool:
        """Whether what a function returns, or a part of it, comes from such a place, of this file or of another."""
        function = self._index.definitions.function_called(node)
        if function is None:
            return gives_device(self._index, node, path)
        parts = (part_of(value, path) for value in returned_values(self._tree, function))
        return any(part is not None and self.derives(part, depth + 2) for part in parts)

    def _binding_derives(self, binding: Binding, depth: int) -> bool:
        if binding.kind == "assign" and binding.value is not None:
            value = binding.value
            if binding.path and isinstance(value, ast.Call):
                return self._returned_derives(value, binding.path, depth)
            part = part_of(value, binding.path)
            return part is not None and self.derives(part, depth)
        if binding.kind == "parameter":
            if binding.value is not None and self.derives(binding.value, depth):
                return True
            if isinstance(binding.statement, FUNCTIONS):
                passed = self._index.definitions.arguments.of(binding.statement, binding.name)
                return any(self.derives(item, depth + 2) for item in passed) or self._is_given(binding)
        return False

    def _is_given_in(self, node: ast.Attribute) -> bool:
        """``args.device`` of what calls in other files give for a parameter."""
        bindings = self._names.bindings(node.value) if isinstance(node.value, ast.Name) and self._index.outside else ()
        return any(binding.kind == "parameter" and self._is_given(binding, f".{node.attr}") for binding in bindings)

    def _is_of_other_file(self, node: ast.Attribute) -> bool:
        """``config.DEVICE``, and ``args.device`` of options that another file parses."""
        return holds_device(self._index, node) or self._is_parsed_elsewhere(node)

    def _is_parsed_elsewhere(self, node: ast.Attribute) -> bool:
        """``args.device`` of options that another file parses, where it names a device of CUDA, or of XLA by now."""
        if not self._index.imported.knows_others:
            return False
        from tpulint.semantic.project.parsed_options import files_of_options

        others = map(self._index.imported.file, files_of_options(self._index, node.value))
        return any(
            _is_xla(other, value) or other.devices.flow.derives(value)
            for other in others
            if other is not None
            for value in other.devices.flow.variables.stores(node)
        )

    def _is_given(self, binding: Binding, part: str = "") -> bool:
        """Whether calls in other files give a device for a parameter, or in it, that they call by CUDA's name."""
        calls = [call for call in self._index.outside if call.gpus]
        if not calls or not isinstance(binding.statement, FUNCTIONS):
            return False
        function = qualified_in_file(self._tree, binding.statement)
        return any(call.function == function and f"{binding.name}{part}" in call.gpus for call in calls)


def _is_member(place: Place) -> bool:
    """Whether a class gives a value a name: what reads it decides."""
    return any(isinstance(scope, ast.ClassDef) for _, scope, _ in place.keys)


def _is_xla(index: SemanticIndex, node: ast.expr) -> bool:
    """``"xla"``, ``torch_xla.device()``"""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value.startswith("xla")
    return isinstance(node, ast.Call) and index.qualified_name(node.func) in _XLA_DEVICES


def _repeats(rest: list[ast.expr]) -> bool:
    """``f"{device.type}:{device.index}"``: a device of any kind, written out."""
    inside = (node for part in rest for node in ast.walk(part))
    return any(isinstance(node, ast.Attribute) and node.attr == "index" for node in inside)
