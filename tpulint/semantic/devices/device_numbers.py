"""Numbers given where a device is expected: ``x.to(rank)``, ``device=0``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.devices.device_indices import indices_held, is_index_of_tensor
from tpulint.semantic.devices.device_sites import branches, devices_given
from tpulint.semantic.devices.returned_devices import returned_values
from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.project.other_files import Definition
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.variables import says_device
from tpulint.semantic.values.kinds import Kind
from tpulint.semantic.values.value import is_cpu, is_none

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.devices.device_flow import DeviceFlow
    from tpulint.semantic.devices.device_indices import DeviceIndices

_DEPTH = 3
"""Functions that hand a device on."""


class DeviceNumbers:
    """The numbers of one file that stand for a device."""

    def __init__(
        self,
        index: SemanticIndex,
        flow: DeviceFlow,
        indices: DeviceIndices,
        torch_calls: list[tuple[ast.Call, str]],
    ) -> None:
        self._index = index
        self._tree = index.tree
        self._flow = flow
        self._indices = indices
        self._torch_calls = torch_calls

    def found(self) -> Iterator[tuple[ast.expr, ast.expr, bool]]:
        """What is to be rewritten, the argument it becomes, and whether that is certainly a number."""
        for argument in self._places_to_move_to():
            if indices_held(self._index, argument):
                continue  # told below
            if self._indices.is_number(argument) or is_index_of_tensor(self._index, argument):
                origin = self._device_number(argument)
                yield argument if origin is None else origin, argument, True
            elif self._indices.is_likely_number(argument) and not self._is_device_value(argument):
                origin = self._device_number(argument)
                yield argument if origin is None else origin, argument, False
        yield from self._indices_kept()
        yield from self._numbers_beside_devices()
        yield from self._numbers_or_the_host()

    def _numbers_beside_devices(self) -> Iterator[tuple[ast.expr, ast.expr, bool]]:
        """``device = rank % device_count()`` where the other branch says ``device = "cuda"``: a device as well.

        What takes the one takes the other; what only the number reaches has to take it for a device.
        """
        stored = [node for node in self._tree.names if isinstance(node.ctx, ast.Store) and says_device(node.id)]
        for target in stored if len(stored) > 1 else ():
            statement = self._tree.parents[target]
            value = statement.value if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
            if value is None or is_none(value) or is_index_of_tensor(self._index, value):
                continue
            if not self._indices.is_number(value):
                continue
            bindings = self._index.names.bindings(target)
            others = [one.value for one in bindings if one.value is not value and one.kind == "assign" and not one.path]
            beside = [other for other in others if other is not None and not self._indices.is_number(other)]
            known = all(is_cpu(other) or self._is_device_value(other) for other in beside)
            if len(others) < len(bindings) - 1 or not beside or not known:
                continue
            loads = self._index.names.loads_of(target)
            if all(self._takes_device(load) for load in loads if self._indices.is_number(load)):
                yield value, value, True

    def _numbers_or_the_host(self) -> Iterator[tuple[ast.expr, ast.expr, bool]]:
        """``device = args.gpu if args.gpu >= 0 else "cpu"``: what may be the host as well is a device."""
        for choice in self._tree.conditions:
            if not isinstance(choice, ast.IfExp) or isinstance(self._tree.parents[choice], ast.IfExp):
                continue
            parts = list(branches(choice))
            numbers = [part for part in parts if self._indices.is_number(part) and not is_none(part)]
            rest = [part for part in parts if part not in numbers]
            is_choice = bool(numbers) and bool(rest) and all(map(self._is_host, rest))
            if is_choice and self._flow.is_device_place(self._flow.places.of(choice)):
                yield from ((part, part, True) for part in numbers)

    def _is_host(self, node: ast.expr) -> bool:
        """``"cpu"``, ``torch.device("cpu")``"""
        is_device = isinstance(node, ast.Call) and self._index.qualified_name(node.func) == "torch.device"
        return is_cpu(node.args[0] if isinstance(node, ast.Call) and is_device and node.args else node)

    def _indices_kept(self) -> Iterator[tuple[ast.expr, ast.expr, bool]]:
        """``device = x.get_device()`` that is only used as a device; else the places that such a variable is given to.

        Calls of ``cuda`` are rewritten by another rule, which asks for what it is given.
        """
        for call, _ in self._index.method_calls("get_device"):
            target = _variable_of(self._index, call) if is_index_of_tensor(self._index, call) else None
            loads = [] if target is None else self._loads_of(target)
            placed = [load for load in loads if self._moves_there(load)]
            if target is None:
                if _is_returned(self._index, call) and self._is_returned_as_device(call):
                    yield call, call, True
                continue
            returned = [load for load in loads if _is_returned(self._index, load)]
            if returned and self._is_returned_as_device(returned[0]) and self._is_kept_as_device(target, loads):
                yield call, returned[0], True
                continue
            if not placed:
                continue
            if self._is_kept_as_device(target, loads):
                yield call, placed[0], True
            else:
                yield from ((load, load, True) for load in placed if not _is_moved_by_cuda(self._index, load))

    def _loads_of(self, target: ast.Name) -> list[ast.expr]:
        return [load for key in self._flow.variables.keys_of(target) for load in self._flow.variables.loads(key)]

    def _is_kept_as_device(self, target: ast.Name, loads: list[ast.expr]) -> bool:
        """Whether a variable is called a device, holds nothing but one, and is only used, or returned, as one."""
        return (
            says_device(target.id)
            and all(self._takes_index(load) or _is_returned(self._index, load) for load in loads)
            and self._is_one_device(target)
        )

    def _is_one_device(self, target: ast.Name) -> bool:
        """Whether a variable is given nothing but the number of a tensor's GPU, or a device, as of the host."""
        return all(
            binding.kind == "assign" and not binding.path and binding.value is not None
            and all(self._is_device_or_index(item) for item in branches(binding.value))
            for binding in self._index.names.bindings(target)
        )  # fmt: skip

    def _is_device_or_index(self, node: ast.expr) -> bool:
        return self._is_device_itself(node) or is_index_of_tensor(self._index, node)

    def _is_device_itself(self, node: ast.expr) -> bool:
        """``options.device`` is one, too, whoever made the options."""
        return (
            self._is_device_value(node) or is_cpu(node) or (isinstance(node, ast.Attribute) and node.attr == "device")
        )

    def _is_returned_as_device(self, node: ast.expr) -> bool:
        """Whether a function that returns a number returns a device on another way: none can take it for a number."""
        function = self._index.function_of(node)
        returned = [] if function is None else list(returned_values(self._tree, function))
        values = [item for value in returned for item in self._values_of(value)]
        return any(map(self._is_device_itself, values)) and all(map(self._is_device_or_index, values))

    def _values_of(self, returned: ast.expr) -> Iterator[ast.expr]:
        """What an expression may be: all that a variable is given, each way of a condition."""
        bindings = self._index.names.bindings(returned) if isinstance(returned, ast.Name) else ()
        for value in [binding.value for binding in bindings] or [returned]:
            yield from branches(returned if value is None else value)

    def _moves_there(self, load: ast.expr) -> bool:
        return _is_moved_by_cuda(self._index, load) or self._flow.places.of(load).kind == "device"

    def _takes_index(self, load: ast.expr) -> bool:
        return _is_moved_by_cuda(self._index, load) or self._takes_device(load)

    def _places_to_move_to(self) -> Iterator[ast.expr]:
        """Device arguments of calls where torch takes a number for a device."""
        for call, _ in self._index.method_calls("to"):
            given = devices_given(call)
            if given and not isinstance(given[0], ast.Starred):
                yield given[0]
        for call, name in self._torch_calls:
            if not name.startswith(("torch.cuda.", "torch.device", "torch.utils.")):
                yield from (keyword.value for keyword in call.keywords if keyword.arg == "device")
        yield from self._handed_on()

    def _handed_on(self) -> Iterator[ast.expr]:
        """What calls give functions of other files that only move tensors there: ``put(batch, device=self.rank)``."""
        for call in self._index.imported.calls:
            found = self._index.imported.called(call)
            if found is None or not isinstance(found.node, FUNCTIONS) or not found.file.source.has_any((".to(",)):
                continue
            is_method = found.file.tree.class_of(found.node) is not None
            for name, given in arguments_given(call, found.node, is_method):
                if says_device(name) and _only_moves_to(found, name):
                    yield given
        for function in self._tree.functions if self._index.source.has_any(("device=",)) else ():
            names = [item.arg for item in (*function.args.args, *function.args.kwonlyargs) if says_device(item.arg)]
            for name in names:
                if self._is_only_device(function, name):
                    yield from self._index.definitions.arguments.of(function, name)

    def _is_only_device(self, function: FunctionNode, name: str, depth: int = 0) -> bool:
        """Whether a function only takes a parameter for a device, or asks whether it was given one.

        So does one that hands it on to another for that: ``collate(rows, device)``.
        """
        loads = [node for node in self._tree.names_called(name) if self._tree.encloses(function, node)]
        loads = [node for node in loads if isinstance(node.ctx, ast.Load)]
        taken = [load for load in loads if self._takes_device(load) or self._hands_on_device(load, depth)]
        if any(map(self._indices.is_number, taken)):
            return False  # told where it is used
        rest = (load for load in loads if load not in taken)
        return bool(taken) and all(_asks_for_none(self._tree.parents[load]) for load in rest)

    def _hands_on_device(self, load: ast.expr, depth: int) -> bool:
        """Whether a function of the file is given it which only takes it for a device."""
        parent = self._tree.parents[load]
        call = self._tree.parents[parent] if isinstance(parent, ast.keyword) else parent
        definitions = self._index.definitions
        called = definitions.function_called(call) if isinstance(call, ast.Call) and depth < _DEPTH else None
        if called is None or not isinstance(call, ast.Call):
            return False
        given = arguments_given(call, called, self._tree.takes_object(called))
        names = [name for name, item in given if item is load]
        return bool(names) and all(self._is_only_device(called, name, depth + 1) for name in names)

    def _is_device_value(self, node: ast.expr) -> bool:
        derived = self._flow.derives(node) or self._index.xla_devices.is_device(node)
        return derived or self._index.kind(node) is Kind.DEVICE or self._is_made_device(node)

    def _is_made_device(self, node: ast.expr) -> bool:
        """Whether a device always takes the place of the number: ``args.gpu = torch.device("cuda", args.gpu)``."""
        stored = self._flow.variables.stores(node) if isinstance(node, ast.Attribute) else []
        made = [value for value in stored if isinstance(value, ast.Call) and self._index.kind(value) is Kind.DEVICE]
        above = (self._tree.parents[self._index.statement_of(value)] for value in made)
        return any(isinstance(one, (*FUNCTIONS, ast.Module)) for one in above)

    def _device_number(self, node: ast.expr) -> ast.expr | None:
        """The value of a variable that is called a device and only used as one: ``device = rank % device_count()``."""
        if not isinstance(node, ast.Name) or not says_device(node.id):
            return None
        bindings = self._index.names.bindings(node)
        if len(bindings) != 1 or bindings[0].kind != "assign" or bindings[0].path or bindings[0].value is None:
            return None
        if (
            isinstance(bindings[0].value, ast.Call)
            and self._index.qualified_name(bindings[0].value.func) != "builtins.int"
        ):
            return None  # another rule rewrites torch.cuda.current_device()
        loads = [load for key in self._flow.variables.keys_of(node) for load in self._flow.variables.loads(key)]
        return bindings[0].value if all(self._takes_device(load) for load in loads) else None

    def _takes_device(self, load: ast.expr) -> bool:
        parent = self._tree.parents[load]
        if isinstance(parent, ast.List) and isinstance(keyword := self._tree.parents[parent], ast.keyword):
            return keyword.arg == "device_ids"
        if (isinstance(parent, ast.keyword) and parent.arg == "output_device") or isinstance(
            parent, ast.FormattedValue
        ):
            return True
        if isinstance(parent, ast.Call) and self._index.qualified_name(parent.func) in (
            "torch.cuda.set_device",
            "builtins.print",
        ):
            return True
        return self._flow.places.of(load).kind == "device"


def _asks_for_none(node: ast.AST) -> bool:
    """``device is None``"""
    return (
        isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot) and is_none(node.comparators[0])
    )


def _only_moves_to(function: Definition, name: str) -> bool:
    """Whether a function does nothing with a parameter but move tensors there."""
    file = function.file
    loads = [node for node in file.tree.names_called(name) if file.tree.encloses(function.node, node)]
    calls = [(load, file.tree.parents[load]) for load in loads if isinstance(load.ctx, ast.Load)]
    return len(calls) == len(loads) > 0 and all(
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "to"
        and call.args[:1] == [load]
        for load, call in calls
    )


def _variable_of(index: SemanticIndex, call: ast.Call) -> ast.Name | None:
    """The variable that a call is assigned to, perhaps under a condition."""
    value: ast.AST = call
    while isinstance(parent := index.parent(value), ast.IfExp) and parent.test is not value:
        value = parent
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
        return None
    return parent.targets[0] if isinstance(parent.targets[0], ast.Name) else None


def _is_returned(index: SemanticIndex, node: ast.expr) -> bool:
    """Whether a function returns this by itself, perhaps under a condition."""
    value: ast.AST = node
    while isinstance(parent := index.parent(value), ast.IfExp) and parent.test is not value:
        value = parent
    return isinstance(parent, ast.Return)


def _is_moved_by_cuda(index: SemanticIndex, load: ast.expr) -> bool:
    """``x.cuda(device)``, ``x.cuda(device=device)``"""
    parent = index.parent(load)
    call = index.parent(parent) if isinstance(parent, ast.keyword) and parent.arg == "device" else parent
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "cuda"
        and load in devices_given(call)
    )
