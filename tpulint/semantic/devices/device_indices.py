"""Numbers that stand for a device: ranks, GPU ids, ``LOCAL_RANK``."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from tpulint.semantic.devices.device_sites import branches
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.kinds import Kind
from tpulint.semantic.values.value import is_none

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.devices.device_flow import DeviceFlow

_DEPTH = 8
_NUMBER_NAMES = frozenset(
    {"rank", "local_rank", "global_rank", "gpu", "gpu_id", "gpu_idx", "gpu_index", "device_id", "cuda_id"}
)
_OPTIONS = r"(?i)arg|opt|cfg|conf|hparam|hps?\Z|param|flag|setting|namespace"
"""Words in the name of what holds options, or of the function that reads them."""
_NUMBER_LISTS = frozenset({"gpu_ids", "device_ids", "gpus", "gpu_list"})
_NUMBERS = frozenset({
    "builtins.int", "builtins.len", "torch.distributed.get_rank", "torch.distributed.get_node_local_rank",
    "torch.cuda.current_device", "torch.cuda.device_count", "torch.accelerator.current_device_index",
    "torch.accelerator.device_count",
})  # fmt: skip

_REPLICA = "torch.nn.parallel.DistributedDataParallel"
_SAME_ELEMENTS = ("builtins.reversed", "builtins.list", "builtins.sorted")


class DeviceIndices:
    """Which expressions of one file are certainly whole numbers."""

    def __init__(self, index: SemanticIndex, flow: DeviceFlow) -> None:
        self._index = index
        self._device_flow = flow
        self._memo: dict[ast.expr, bool] = {}

    def is_number(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether all that the expression may hold are whole numbers; None beside them is allowed."""
        found = self._memo.get(node)
        if found is None:
            if depth > _DEPTH:
                return False
            self._memo[node] = False
            found = self._memo[node] = self._is_number(node, depth + 1)
        return found

    def _is_number(self, node: ast.expr, depth: int) -> bool:
        if isinstance(node, ast.Constant):
            return isinstance(node.value, int) and not isinstance(node.value, bool)
        if isinstance(node, ast.Call):
            return self._index.qualified_name(node.func) in _NUMBERS or is_index_of_tensor(self._index, node)
        if isinstance(node, ast.BinOp):
            return (
                isinstance(node.op, ast.Mod | ast.Add | ast.Sub | ast.FloorDiv)
                and self.is_number(node.left, depth)
                and (isinstance(node.op, ast.Mod) or self.is_number(node.right, depth))
            )
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.USub) and self.is_number(node.operand, depth)  # rank=-1: not told
        if isinstance(node, ast.IfExp):
            return self._all([node.body, node.orelse], depth)
        if isinstance(node, ast.Name):
            bindings = self._index.flow.reaching(node)
            return bool(bindings) and all(self._binding(binding, depth) for binding in bindings)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, depth)
        return False

    def is_likely_number(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether something given as a device is a number by its name: ``rank``, ``args.gpu``, ``gpu_ids[0]``.

        So is a variable that holds it, ``device = cfg.GPU_ID``, and a parameter that calls in the file give it for.
        """
        if isinstance(node, ast.Subscript):
            return last_name(node.value) in _NUMBER_LISTS and not isinstance(node.slice, ast.Slice)
        if last_name(node).lower() in _NUMBER_NAMES or self._is_drawn_for_replica(node):
            return True
        bindings = self._index.flow.reaching(node) if isinstance(node, ast.Name) and depth < _DEPTH else ()
        values = [self._likely_values(binding) for binding in bindings]
        return bool(values) and all(
            given and all(self.is_likely_number(item, depth + 1) for item in given) for given in values
        )

    def may_be_given_number(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a parameter, be it of a function that hands it on, may get the number of a GPU in one of its calls.

        ``def noise(n, device): return torch.randn(n).cuda(device)`` and ``noise(8, self.rank)``. What calls through a
        variable give, ``get = noise if wide else plain``, is not seen.
        """
        definitions = self._index.definitions
        for binding in self._index.flow.reaching(node) if isinstance(node, ast.Name) and depth < _DEPTH else ():
            function = binding.statement
            if binding.kind != "parameter" or not isinstance(function, FUNCTIONS):
                continue
            for mention in self._index.names.mentions_of(function):
                user = self._index.parent(mention)
                if isinstance(mention.ctx, ast.Load) and not (isinstance(user, ast.Call) and user.func is mention):  # type: ignore[attr-defined]
                    return True
            for given in definitions.arguments.of(function, binding.name):
                if self.is_number(given) or self.is_likely_number(given) or self.may_be_given_number(given, depth + 1):
                    return True
        return False

    def _likely_values(self, binding: Binding) -> list[ast.expr]:
        """What a variable is given, as far as it may be a number by its name; nothing where it is something else."""
        if binding.kind == "assign" and binding.value is not None and not binding.path:
            return [binding.value]
        is_open = isinstance(binding.node, ast.arg) and binding.node.annotation is None and binding.value is None
        if binding.kind != "parameter" or not is_open or not isinstance(binding.statement, FUNCTIONS):
            return []
        return self._index.definitions.arguments.of(binding.statement, binding.name)

    def is_used_as_number(self, node: ast.expr) -> bool:
        """Whether a variable is compared with a number, ``self.device >= 0``, or a parameter of such a default."""
        tree, names = self._index.tree, self._index.names
        mentions: Sequence[ast.expr] = ()
        bindings: Sequence[Binding] = ()
        if isinstance(node, ast.Attribute):
            owner, text = tree.class_of(node), tree.text(node)
            called = tree.attributes_called(node.attr)
            mentions = [one for one in called if tree.class_of(one) is owner and tree.text(one) == text]
            bindings = self._index.flow.reaching_attribute(node)
        elif isinstance(node, ast.Name):
            bindings = self._index.flow.reaching(node)
            mentions = names.mentions(node.id, names.scope_of(node))
        given = [item for one in bindings if isinstance(one.value, ast.Name) for item in names.bindings(one.value)]
        defaults = [one.value for one in (*bindings, *given) if one.kind == "parameter" and one.value is not None]
        return any(map(_is_whole_number, defaults)) or any(map(self._is_ordered, mentions))

    def _is_ordered(self, node: ast.expr) -> bool:
        """``device >= 0`` and ``device != -1``, which no device answers."""
        asked = self._index.parent(node)
        if not isinstance(asked, ast.Compare) or len(asked.ops) != 1:
            return False
        if isinstance(asked.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot):
            return False
        return any(_is_whole_number(side) for side in (asked.left, asked.comparators[0]))

    def _is_drawn_for_replica(self, node: ast.expr) -> bool:
        """``one = pool[rank]``, which ``DistributedDataParallel(model, device_ids=[one])`` is given."""
        bindings = self._index.flow.reaching(node) if isinstance(node, ast.Name) else ()
        values = [binding.value for binding in bindings if binding.kind == "assign" and not binding.path]
        if not values or len(values) != len(bindings):
            return False
        if not all(isinstance(value, ast.Subscript) and not isinstance(value.slice, ast.Slice) for value in values):
            return False
        calls = self._index.calls_to(_REPLICA)
        given = [keyword.value for call in calls for keyword in call.keywords if keyword.arg == "device_ids"]
        alone = [ids.elts[0] for ids in given if isinstance(ids, ast.List) and len(ids.elts) == 1]
        return any(isinstance(one, ast.Name) and self._index.flow.reaching(one) == bindings for one in alone)

    def _all(self, values: list[ast.expr], depth: int) -> bool:
        numbers = [value for value in values if not (isinstance(value, ast.Constant) and value.value is None)]
        return bool(numbers) and all(self.is_number(value, depth) for value in numbers)

    def _attribute(self, node: ast.Attribute, depth: int) -> bool:
        own = self._index.flow.reaching_attribute(node)
        if own:
            return all(self._binding(binding, depth) for binding in own)
        if not isinstance(node.value, ast.Name):
            return False
        calls = self._device_flow.variables.options.get(node.attr, [])
        if calls and node.attr == "device" and not self._may_hold_options(node.value):
            return False  # a tensor's own device
        if calls and not all(self._is_number_option(call) for call in calls):
            return False
        values = self._stores(node.value.id, node.attr)
        return (
            bool(calls or values)
            and all(is_none(value) or self.is_number(value, depth) for value in values)
            and (bool(calls) or not all(is_none(value) for value in values))
        )

    def _may_hold_options(self, owner: ast.Name) -> bool:
        made = [b.value.func for b in self._index.names.bindings(owner) if isinstance(b.value, ast.Call)]
        return any(re.search(_OPTIONS, name) for name in (owner.id, *map(last_name, made)))

    def _stores(self, owner: str, attribute: str) -> list[ast.expr]:
        """Values given to ``owner.attribute`` in the file."""
        tree = self._index.tree
        values: list[ast.expr] = []
        for node in tree.attributes_called(attribute):
            if isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name) and node.value.id == owner:
                statement = tree.parents[node]
                values.append(statement.value if isinstance(statement, ast.Assign) else node)
        return values

    def _is_number_option(self, call: ast.Call) -> bool:
        return any(k.arg == "type" and isinstance(k.value, ast.Name) and k.value.id == "int" for k in call.keywords)

    def _binding(self, binding: Binding, depth: int) -> bool:
        if binding.kind == "parameter":
            return self._parameter(binding, depth)
        if binding.kind == "loop" and binding.value is not None and not binding.path:
            return self._is_one_of_several(binding.value)
        if isinstance(binding.statement, ast.AnnAssign) and self._says_int(binding.statement.annotation):
            return True
        if binding.kind == "assign" and binding.value is not None and not binding.path:
            return self._all([binding.value], depth)
        return False

    def _is_one_of_several(self, looped: ast.expr) -> bool:
        """``range(n)``, and ``reversed(devices)`` where ``if isinstance(devices, (str, int)): devices = [devices]``."""
        name = self._index.qualified_name(looped.func) if isinstance(looped, ast.Call) else None
        if name == "builtins.range":
            return True
        if isinstance(looped, ast.Call) and name in _SAME_ELEMENTS and len(looped.args) == 1:
            looped = looped.args[0]
        if not isinstance(looped, ast.Name):
            return False
        bindings = self._index.names.bindings(looped)
        return any(self._wraps_number(binding) for binding in bindings) and all(
            binding.kind == "parameter" or self._wraps_number(binding) for binding in bindings
        )

    def _wraps_number(self, binding: Binding) -> bool:
        """``gpus = [gpus]`` where it is asked whether it is a whole number."""
        value, choice = binding.value, self._index.parent(binding.statement)
        if not isinstance(value, ast.List) or len(value.elts) != 1 or not isinstance(choice, ast.If):
            return False
        test, item = choice.test, value.elts[0]
        if not isinstance(test, ast.Call) or self._index.qualified_name(test.func) != "builtins.isinstance":
            return False
        kinds = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else test.args[1:]
        return (
            isinstance(item, ast.Name)
            and item.id == binding.name == last_name(test.args[0])
            and binding.statement in choice.body
            and any(self._says_int(kind) for kind in kinds)
        )

    def _parameter(self, binding: Binding, depth: int) -> bool:
        assert isinstance(binding.node, ast.arg)
        if self._says_int(binding.node.annotation):
            return True
        if binding.node.annotation is not None or not isinstance(binding.statement, FUNCTIONS):
            return False
        function = binding.statement
        for launch in self._index.launches.launches:
            # What spawn and launch call gets its number as first argument.
            if function in launch.functions and [*function.args.posonlyargs, *function.args.args][:1] == [binding.node]:
                return True
        passed = self._index.definitions.arguments.of(function, binding.name)
        if binding.value is not None and not is_none(binding.value):
            passed = [*passed, binding.value]
        return self._all(passed, depth + 1)

    def _says_int(self, annotation: ast.expr | None) -> bool:
        if isinstance(annotation, ast.BinOp):
            return self._says_int(annotation.left) and is_none(annotation.right)
        if isinstance(annotation, ast.Subscript):
            return (self._index.qualified_name(annotation.value) or "").endswith("Optional") and self._says_int(
                annotation.slice
            )
        return annotation is not None and self._index.qualified_name(annotation) == "builtins.int"


def _is_whole_number(node: ast.expr) -> bool:
    """``0`` or ``-1``, written out."""
    value = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    return isinstance(value, ast.Constant) and type(value.value) is int


def is_index_of_tensor(index: SemanticIndex, node: ast.expr) -> bool:
    """``x.get_device()``: the number of the GPU that holds a tensor; of other objects it is a method of their own."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "get_device"
        and not node.args
        and index.kind(node.func.value) is Kind.TENSOR
    )


def indices_held(index: SemanticIndex, node: ast.expr) -> list[ast.expr]:
    """The calls of ``x.get_device()`` that a variable may hold, whatever ``x`` is."""
    bindings = index.flow.reaching(node) if isinstance(node, ast.Name) else ()
    values = (item for binding in bindings if binding.value is not None for item in branches(binding.value))
    return [
        item
        for item in values
        if isinstance(item, ast.Call) and isinstance(item.func, ast.Attribute) and item.func.attr == "get_device"
    ]
