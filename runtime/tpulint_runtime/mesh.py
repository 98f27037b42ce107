"""One process for many devices: torch_xla's SPMD mode, in which a script is written as for one.

XLA divides the work by what is marked: the rows of batches, and the parameters, if they are to be shared out as FSDP
does. It puts in the collectives by itself. A divided model is the same module, with the same names in its state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch

from tpulint_runtime import backend
from tpulint_runtime.backend.partition import Spec, batch_spec
from tpulint_runtime.nested import is_leaf, items, leaves, rebuild
from tpulint_runtime.norms import divide_norms
from tpulint_runtime.settings import checked_whole, kind_of


class Mesh:
    """All devices, with the axes ``data`` and ``fsdp``.

    .. code-block:: python

        mesh = Mesh(fsdp=-1)                        # before anything is on the device
        model = Model().to(backend.device())
        mesh.shard_model(model)
        optimizer = torch.optim.AdamW(model.parameters())
        mesh.shard_optimizer(optimizer)
        for batch in MpDeviceLoader(loader, device, input_sharding=mesh.input_sharding()):
            ...                                     # as for one device

    fsdp
        Devices that share one copy of the parameters and of the state of the optimizer; ``-1``: all. With 1 each device
        has all of them: data parallel. In both cases each device has its share of the rows of a batch, and the loss is
        that of the whole batch: there is nothing to reduce.

    On the CPU and on CUDA there is one device, and nothing is divided.

    Raises ValueError if ``fsdp`` does not divide the number of devices. On XLA this turns the SPMD mode on for the
    whole process, and :func:`launch` cannot be used any more; torch_xla warns, and copies, if tensors are on the device
    before.
    """

    def __init__(self, *, fsdp: int = 1) -> None:
        self._partition = backend.own().partition(checked_whole("fsdp", fsdp))
        self._specs: dict[int, Spec] = {}
        """By the identity of a parameter, for the state of optimizers."""

    @property
    def sizes(self) -> dict[str, int]:
        """Devices along each axis: ``{"data": 2, "fsdp": 4}``."""
        return dict(self._partition.sizes)

    @property
    def devices(self) -> int:
        """The number of devices. What divides the rows of a batch: of all hosts together, if there are several."""
        return self._partition.sizes["data"] * self._partition.sizes["fsdp"]

    def shard_model(self, model: torch.nn.Module, *, smallest: int = 1024) -> dict[str, int | None]:
        """Divides the parameters of ``model`` along ``fsdp``, each along its longest dimension that can be divided; see
        :func:`plan_shards`. Those with less than ``smallest`` entries, and those that cannot be divided, are on every
        device, and so are buffers. Returns the dimension for each name of a parameter.

        The outputs of modules that own a divided parameter are marked as divided by rows, so that XLA gathers weights
        where they are needed, rather than dividing the activations by columns. Normalisations are computed as
        :func:`divide_norms` has them; batch normalisations take the statistics of the whole batch, as on one device.

        Call it behind ``model.to(device)`` and before the first step. Raises ValueError for parameters on the host."""
        named = dict(model.named_parameters())
        plan = plan_shards({name: own.shape for name, own in named.items()}, self.sizes["fsdp"], smallest)
        for name, parameter in named.items():
            if parameter.device.type != backend.own().device_type():
                raise ValueError(f"{name} is on {parameter.device}: move the model to the device first")
            dim = plan[name]
            spec: Spec = tuple(("fsdp",) if dim == place else None for place in range(parameter.dim()))
            self._partition.mark(parameter, spec)
            self._specs[id(parameter)] = spec
        if self.devices > 1:
            divide_norms(model)
        for module in model.modules():
            if any(any(self._specs[id(own)]) for own in module.parameters(recurse=False)):
                module.register_forward_hook(self._mark_outputs)
        return plan

    def shard_optimizer(self, optimizer: torch.optim.Optimizer) -> None:
        """Divides the state of ``optimizer`` as its parameters are: what it has now, what its steps make, and what is
        loaded. Parameters have to be those of :meth:`shard_model`; the state of others is left alone.

        Raises TypeError for what is no optimizer, and ValueError for one without any parameter of :meth:`shard_model`:
        made before the model moved to the device, it has others, and trains nothing."""
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise TypeError(f"optimizer is {kind_of(optimizer)}: give a torch.optim.Optimizer")
        if not any(id(parameter) in self._specs for group in optimizer.param_groups for parameter in group["params"]):
            raise ValueError(
                "the optimizer has no parameter of a model that was divided: make it of model.parameters(), behind "
                "model.to(device) and shard_model(model)"
            )
        seen: dict[int, int] = {}

        def mark(optimizer: torch.optim.Optimizer, *_: object) -> None:
            for parameter, state in optimizer.state.items():
                spec = self._specs.get(id(parameter))
                if spec is None or seen.get(id(parameter)) == id(state):
                    continue
                seen[id(parameter)] = id(state)
                for value in state.values():
                    own = isinstance(value, torch.Tensor) and value.device == parameter.device
                    if own and value.shape == parameter.shape:
                        self._partition.mark(value, spec)

        mark(optimizer)
        optimizer.register_step_post_hook(mark)
        optimizer.register_load_state_dict_post_hook(mark)

    def input_sharding(self) -> Any:
        """For ``MpDeviceLoader(loader, device, input_sharding=...)``: every tensor of a batch is divided by its first
        dimension, those without dimensions are on every device. Of several hosts, each loads its own part of a batch:
        a sampler needs ``num_replicas`` and ``rank`` of ``backend.place()``. None where there is nothing to divide.

        The loader raises ValueError for a batch whose first dimension is no multiple of the number of devices."""
        return self._partition.input_sharding()

    def send(self, batch: Any) -> Any:
        """``batch`` on the device, divided as by :meth:`input_sharding`: tensors of the host in mappings, tuples, lists
        and dataclasses.

        Raises ValueError for a batch whose first dimension is no multiple of the number of devices."""
        found = [leaf for _, leaf in leaves(batch) if isinstance(leaf, torch.Tensor)]
        sent = iter(self._partition.send(found))

        def place(value: Any) -> Any:
            if not is_leaf(value):
                return rebuild(value, [place(child) for _, child in items(value)])
            return next(sent) if isinstance(value, torch.Tensor) else value

        return place(batch)

    def divided(self, tensor: torch.Tensor) -> str:
        """How XLA divides a tensor that was computed, or marked, for tests and reports: ``{devices=[4,1]0,1,2,3}`` or
        ``{replicated}``. Empty while it is not known, for tensors of the host, and on the CPU and CUDA."""
        return self._partition.divided(tensor)

    def _mark_outputs(self, module: torch.nn.Module, inputs: object, output: Any) -> None:
        for _, leaf in leaves(output):
            if isinstance(leaf, torch.Tensor) and leaf.dim() > 1 and leaf.size(0) % self.devices == 0:
                self._partition.mark(leaf, batch_spec(leaf.dim()))


def plan_shards(shapes: Mapping[str, Iterable[int]], parts: int, smallest: int = 1024) -> dict[str, int | None]:
    """The dimension along which to divide a tensor of each of ``shapes`` into ``parts``: the longest that ``parts``
    divides, the first of several; None for tensors with less than ``smallest`` entries, and where none is divisible."""
    plan: dict[str, int | None] = {}
    for name, shape in shapes.items():
        sizes = list(shape)
        entries = 1
        for size in sizes:
            entries *= size
        fitting = [place for place, size in enumerate(sizes) if size and size % parts == 0]
        divides = parts > 1 and entries >= smallest and fitting
        plan[name] = max(fitting, key=lambda place: (sizes[place], -place)) if divides else None
    return plan
