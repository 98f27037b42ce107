"""Where a device that is named puts a tensor."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from tpulint.semantic.functions.default_flags import DefaultFlags
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.torch_facts import CUDA_TENSOR_TYPES
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import is_configuration, last_name
from tpulint.semantic.values.value import Kind, Side, is_cpu

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.values.kinds import Kinds


class Sides:
    """Devices as they are written: constants, ``torch.device``, options, the device of another tensor."""

    def __init__(self, kinds: Kinds, tree: SyntaxTree, names: Names, flags: DefaultFlags, host_only: bool) -> None:
        self._kinds = kinds
        self._tree = tree
        self._names = names
        self._flags = flags
        self._host_only = host_only

    def of_device(self, device: ast.expr) -> Side:
        """Where a tensor lives that is put on this device."""
        if self._host_only:
            return Side.HOST
        if isinstance(device, ast.Constant):
            if device.value is None:
                return Side.UNKNOWN
            return Side.HOST if device.value == "cpu" else Side.DEVICE
        if isinstance(device, ast.Call) and self._names.qualified(device.func) == "torch.device" and device.args:
            return self.of_device(device.args[0])
        if self.is_host(device) or (isinstance(device, ast.Name | ast.Attribute) and _is_called_host(device)):
            return Side.HOST
        if isinstance(device, ast.Name) and self._flags.is_left_at(device, "cpu"):
            return Side.HOST
        if isinstance(device, ast.Attribute) and device.attr == "device":
            given = self._set.get(last_name(device.value))
            if given is not None:
                return Side.HOST if all(self.is_host(value) for value in given) else Side.DEVICE
            owner = self._kinds.value(device.value)
            if owner.kind is Kind.TENSOR or (owner.kind is Kind.UNKNOWN and self._may_be_tensor(device.value)):
                return owner.side
            # of a trainer, or an option: `args.device`
        return Side.DEVICE

    @cached_property
    def _set(self) -> dict[str, list[ast.expr]]:
        """What the file gives objects as their device, by their names, ``params.device = ...``: tensors take none."""
        found: dict[str, list[ast.expr]] = {}
        for node in self._tree.binders:
            if not isinstance(node, ast.Attribute) or node.attr != "device" or not isinstance(node.value, ast.Name):
                continue
            statement = self._tree.parents[node]
            if isinstance(statement, ast.Assign) and not self._is_self(node.value):
                found.setdefault(node.value.id, []).append(statement.value)
        return found

    def is_host(self, device: ast.expr, *, surely: bool = False) -> bool:
        """Whether a device is that of the host: by its name, or as the ``torch.device`` that a variable holds.

        A variable that may hold something unknown as well is not ``surely``.
        """
        if isinstance(device, ast.Name | ast.Attribute):
            held = self._kinds.value(device)
            return held.kind is Kind.DEVICE and held.side is Side.HOST and (held.certain or not surely)
        if isinstance(device, ast.Call) and self._names.qualified(device.func) == "torch.device" and device.args:
            device = device.args[0]
        return is_cpu(device)

    def is_host_class(self, node: ast.expr) -> bool:
        """Whether an expression is a tensor class of the host: ``x.type(torch.FloatTensor)`` copies x there."""
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        name = str(node.value) if isinstance(node, ast.Constant) and is_text else self._names.qualified(node) or ""
        head, _, last = name.rpartition(".")
        return head == "torch" and last in CUDA_TENSOR_TYPES

    def _may_be_tensor(self, owner: ast.expr) -> bool:
        """Whether the owner of a ``device`` may be a tensor of either side: no ``self``, and none of the options."""
        while isinstance(owner, ast.Attribute):
            if isinstance(owner.value, ast.Name) and self._is_self(owner.value):
                return False
            owner = owner.value
        return not (isinstance(owner, ast.Name) and (self._is_self(owner) or is_configuration(owner.id)))

    def _is_self(self, name: ast.Name) -> bool:
        """Whether a name is the object whose method it stands in."""
        function = self._tree.function_of(name)
        within = function is not None and self._tree.class_of(name) is not None
        return bool(within and function is not None and function.args.args and function.args.args[0].arg == name.id)

    def of_move(self, item: ast.expr, depth: int) -> Side:
        """Where ``x.to(item)`` puts x; UNKNOWN for a dtype."""
        if isinstance(item, ast.Constant):
            return Side.UNKNOWN if not isinstance(item.value, str | int) else self.of_device(item)
        name = self._names.qualified(item)
        if name is not None and name.startswith("torch.") and not name.startswith("torch.cuda"):
            return Side.UNKNOWN
        value = self._kinds.value(item, depth)
        if value.kind is Kind.TENSOR:
            return value.side
        if self._is_dtype(item, depth):
            return Side.UNKNOWN
        return self.of_device(item)

    def _is_dtype(self, item: ast.expr, depth: int) -> bool:
        """Whether an expression says what the numbers become, and nothing of the place, by its name.

        ``x.type(self.dtype)`` may be given a class of tensors, which says both; ``x.to()`` takes none.
        """
        move = self._tree.parents[item]
        if isinstance(move, ast.Call) and isinstance(move.func, ast.Attribute) and move.func.attr == "to":
            return last_name(item).endswith("dtype")
        return (
            isinstance(item, ast.Attribute)
            and item.attr == "dtype"
            and self._kinds.value(item.value, depth).kind is Kind.TENSOR
        )


def _is_called_host(device: ast.expr) -> bool:
    """``self._cpu_device``, which a base class of another file sets."""
    return re.fullmatch(r"_*(?:cpu|host)(?:_device)?|_*device_(?:cpu|host)", last_name(device)) is not None
