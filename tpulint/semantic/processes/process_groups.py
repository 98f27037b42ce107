"""Calls that join a process group, and the backends they ask for."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.torch_facts import RUNTIME
from tpulint.semantic.values.kinds import Side
from tpulint.semantic.values.origins import Origin, origins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

JOIN = "torch.distributed.init_process_group"
RUNTIME_JOIN = f"{RUNTIME}.init_process_group"
_PARAMETERS = (
    "backend", "init_method", "timeout", "world_size", "rank", "store", "group_name", "pg_options", "device_id",
)  # fmt: skip
_DEPTH = 2
"""Files that are looked into one from another."""
_NCCL = re.compile(r"\bnccl\b", re.IGNORECASE)
_NCCL_NAMES = frozenset({
    "torch.distributed.Backend.NCCL", "torch.distributed.get_default_backend_for_device",
    "torch.distributed.distributed_c10d.get_default_backend_for_device",
})  # fmt: skip

KNOWS_XLA = r"backend.*\bxla\b|\bxla\b.*backend|[\"']xla[\"']\s*:\s*[\"']|nccl.*\bxla\b|\bxla\b.*nccl"
"""Where the backend of XLA is chosen too; a device of XLA alone chooses none."""
FOR_GPUS = r"torch\.cuda|\.cuda[.(]|[\"']cuda|device_ids"
_WRAPPER = "torch.nn.parallel.DistributedDataParallel"


class Join:
    """One ``init_process_group(...)``."""

    __slots__ = ("backends", "call", "given", "hides_arguments", "is_portable")

    def __init__(
        self,
        call: ast.Call,
        given: dict[str, ast.expr],
        backends: list[Origin],
        hides_arguments: bool,
        is_portable: bool,
    ) -> None:
        self.call = call
        self.is_portable = is_portable
        """Whether the runtime is asked, which joins a group of XLA where that is the device."""
        self.given = given
        """Arguments by parameter."""
        self.hides_arguments = hides_arguments
        """Whether more arguments come out of a list or a dictionary."""
        self.backends = backends
        """Where the name of the backend may come from."""

    @property
    def is_xla(self) -> bool:
        """Whether the group is one of XLA, by its address."""
        method = self.given.get("init_method")
        return isinstance(method, ast.Constant) and method.value == "xla://"

    @property
    def backend(self) -> ast.expr | None:
        """What is passed for the backend; None when it is left open."""
        given = self.given.get("backend")
        return None if isinstance(given, ast.Constant) and given.value is None else given


class ProcessGroups:
    """All process groups that one file joins."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self.joins = [self._join(call) for call in index.calls_to(JOIN, RUNTIME_JOIN)]

    def _join(self, call: ast.Call) -> Join:
        stars = any(isinstance(item, ast.Starred) for item in call.args)
        given = {} if stars else dict(zip(_PARAMETERS, call.args, strict=False))
        given.update({item.arg: item.value for item in call.keywords if item.arg is not None})
        backend = given.get("backend")
        hides = stars or any(item.arg is None for item in call.keywords)
        is_portable = self._index.qualified_name(call.func) == RUNTIME_JOIN
        return Join(call, given, origins(self._index, backend) if backend is not None else [], hides, is_portable)

    def join_behind(self, call: ast.Call) -> ast.Call | None:
        """The ``init_process_group(...)`` that a call runs before, or the call of another file that has it.

        None when there is none, and where ``launch`` starts the processes: those know their chip from the start.
        """
        launches = self._index.launches
        if launches:
            return None
        here = next((join.call for join in self.joins if call in launches.before(join.call)), None)
        if here is not None or not self._index.imported.knows_others:
            return here
        # `slurm.init_distributed_mode(options)`
        joining = (other for other in self._index.imported.calls if self.of_device_behind(other))
        return next((other for other in joining if call in launches.before(other)), None)

    def of_device_in(self, function: FunctionNode, depth: int = 0) -> bool:
        """Whether a function joins a group of XLA, or one that becomes it, itself or through what it calls."""
        index = self._index
        run = index.launches.closure((function,))
        joins = [join for join in self.joins if any(index.tree.encloses(item, join.call) for item in run)]
        if joins:
            own = (join.is_portable or join.is_xla or self.is_configured_for_gpus(join) for join in joins)
            return self.on_device or any(own)
        if depth > _DEPTH:
            return False
        calls = [call for call in index.imported.calls if any(index.tree.encloses(item, call) for item in run)]
        return any(self.of_device_behind(call, depth + 1) for call in calls)

    def of_device_behind(self, call: ast.Call, depth: int = 0) -> bool:
        """The same of what a call runs in another file, the making of an object included."""
        found = self._index.imported.called(call)
        if found is None:
            return False
        function = found.node
        if isinstance(function, ast.ClassDef):
            function = found.file.definitions.method(function, "__init__") or function
        return isinstance(function, FUNCTIONS) and found.file.process_groups.of_device_in(function, depth)

    def is_nccl(self, node: ast.expr) -> bool:
        """Whether an expression names NCCL, or asks torch for the backend of GPUs."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str) and _NCCL.search(node.value) is not None
        return self._index.qualified_name(node.func if isinstance(node, ast.Call) else node) in _NCCL_NAMES

    def is_gloo_for_device(self, join: Join) -> bool:
        """Whether a group of gloo, which has GPUs as well as the CPU, is to hold a model that lies on the device."""
        nodes = [origin.node for origin in join.backends]
        if not nodes or not all(isinstance(node, ast.Constant) and node.value == "gloo" for node in nodes):
            return False
        if join.hides_arguments or "store" in join.given or self._index.mentions(KNOWS_XLA, "xla"):
            return False
        others = [origin.node for other in self.joins if other is not join for origin in other.backends]
        if any(map(self.is_nccl, others)):
            return False  # it is for machines without NCCL: `if os.name == "nt":`
        return self._wraps_on_device or any(group._wraps_on_device for group in self._groups_around)

    @cached_property
    def _groups_around(self) -> list[ProcessGroups]:
        """Those of files that import this one, and of files that it imports, where a model is wrapped."""
        imported, name = self._index.imported, _WRAPPER.rpartition(".")[2]
        users = [file for file in imported.others_mentioning(name) if imported.is_used_by(file)]
        return [file.process_groups for file in (*users, *imported.files()) if file.mentions(rf"\b{name}\b")]

    @cached_property
    def _wraps_on_device(self) -> bool:
        """Whether the file wraps a model for several processes that lies on a device: a GPU, or that of XLA by now."""
        for call in self._index.calls_to(_WRAPPER):
            given = {item.arg: item.value for item in call.keywords}
            ids = given.get("device_ids")
            has_ids = ids is not None and not (isinstance(ids, ast.Constant) and ids.value is None)
            # What the mended call is told in their place; a loader beside it may be all that names the device.
            is_mended = "gradient_as_bucket_view" in given and self._index.mentions(r"\btorch_xla\b", "torch_xla")
            if has_ids or is_mended or (call.args and self._is_on_device(call.args[0])):
                return True
        return False

    def _is_on_device(self, model: ast.expr) -> bool:
        """Whether a model is moved to a device that this file chooses: of another one this may be a part itself."""
        index = self._index
        if index.value(model).side is Side.DEVICE:
            return True
        made = [model] if not isinstance(model, ast.Name) else [item.value for item in index.flow.reaching(model)]
        for value in made:
            moves = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "to"
            device = value.args[0] if moves and isinstance(value, ast.Call) and value.args else None
            if device is None or self._comes_from_elsewhere(device):
                continue
            if index.devices.flow.derives(device) or index.xla_devices.is_device(device):
                return True
        return False

    def _comes_from_elsewhere(self, device: ast.expr) -> bool:
        made = [item.value for item in self._index.names.bindings(device)] if isinstance(device, ast.Name) else [device]
        return any(isinstance(one, ast.Call) and self._index.imported.called(one) is not None for one in made)

    def is_configured_for_gpus(self, join: Join) -> bool:
        """Whether code for GPUs alone takes the backend of its group from a configuration that is not seen."""
        index = self._index
        nodes = [origin.node for origin in join.backends]
        from_configuration = bool(nodes) and all(isinstance(node, ast.Attribute | ast.Subscript) for node in nodes)
        if not from_configuration or join.hides_arguments or "store" in join.given:
            return False
        if index.mentions("gloo|xla_backend") or index.mentions(KNOWS_XLA, "xla"):
            return False  # it knows others
        if not index.is_program:
            return self._is_for_gpus(join)
        # Once the devices are ported the defaults of the configuration still say what it was made for.
        return index.mentions(FOR_GPUS) or any(
            file.mentions(r"[\"']nccl[\"']", "nccl") for file in index.imported.files()
        )

    def _is_for_gpus(self, join: Join) -> bool:
        """Whether a helper joins a group for the sake of GPUs: it sets that of the process, or wraps the model."""
        index = self._index
        if index.devices.features.serves_several or not index.mentions(rf"{FOR_GPUS}|\btorch_xla\b"):
            return False  # one that has been ported speaks of XLA
        setting = (call for call in index.calls_to("torch.cuda.set_device") if not index.devices.is_for_cuda(call))
        function = index.function_of(join.call)
        return any(index.function_of(call) is function for call in setting) or any(index.calls_to(_WRAPPER))

    @property
    def on_device(self) -> bool:
        """Whether the file joins a group of XLA, or one of NCCL, which becomes that; or one that it imports does.

        Or programs that import it do, and no program that does joins another group.
        """
        if self.joins:
            return self._joins_device
        if any(file.process_groups._joins_device for file in self._index.imported.files()):
            return True
        return self._is_joined_by_users

    @cached_property
    def _is_joined_by_users(self) -> bool:
        imported = self._index.imported
        joining = [file for file in imported.others_mentioning(JOIN.rpartition(".")[2]) if file.process_groups.joins]
        groups = [file.process_groups for file in joining if imported.is_used_by(file)] if joining else []
        return bool(groups) and all(group._joins_device for group in groups)

    @property
    def _joins_device(self) -> bool:
        return any(join.is_portable or self.is_gloo_for_device(join) for join in self.joins) or any(
            self.is_nccl(origin.node) or (isinstance(origin.node, ast.Constant) and origin.node.value == "xla")
            for join in self.joins
            for origin in join.backends
        )
