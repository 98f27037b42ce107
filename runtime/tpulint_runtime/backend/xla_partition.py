"""Devices of torch_xla's SPMD mode: one process sees them as one, and marks say how tensors are divided among them."""

from __future__ import annotations

from typing import Any

import torch

from tpulint_runtime.backend.partition import AXES, Spec, batch_spec


class XlaPartition:
    """All devices, ``fsdp`` of them in a column. Opening it turns the SPMD mode on, for good."""

    def __init__(self, fsdp: int) -> None:
        import torch_xla
        import torch_xla.core.xla_model
        import torch_xla.distributed.spmd
        import torch_xla.runtime

        runtime: Any = torch_xla.runtime
        self._model: Any = torch_xla.core.xla_model
        package: Any = torch_xla
        self._functions = package._XLAC  # private, as in torch_xla's own SPMD: tests fail when names change
        self._spmd: Any = torch_xla.distributed.spmd
        if not runtime.is_spmd():
            runtime.use_spmd()
        count = int(runtime.global_runtime_device_count())
        column = count if fsdp == -1 else fsdp
        if column < 1 or count % column:
            raise ValueError(f"{count} devices cannot be put into columns of {fsdp}: fsdp has to divide their number")
        self.sizes = {"data": count // column, "fsdp": column}
        self.hosts = int(runtime.process_count())
        self._own_devices = int(runtime.addressable_runtime_device_count())
        self._mesh = self._spmd.Mesh(list(range(count)), tuple(self.sizes.values()), AXES)
        self._device: torch.device = package.device()

    def mark(self, tensor: torch.Tensor, spec: Spec) -> None:
        if self.divided(tensor):
            self._functions._xla_clear_sharding(tensor)
        self._functions._xla_mark_sharding(tensor, self._mesh.get_op_sharding(spec))

    def divided(self, tensor: torch.Tensor) -> str:
        return str(self._functions._get_xla_sharding_spec(tensor)) if tensor.device.type == "xla" else ""

    def input_sharding(self) -> Any:
        # Of several hosts, each sends the rows of its own devices.
        return RowSharding(self._spmd, self._mesh, self._own_devices, minibatch=self.hosts > 1)

    def send(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        sent: list[torch.Tensor] = self._model.send_cpu_data_to_device(tensors, self._device, self.input_sharding())
        return sent


class RowSharding:
    """What a device loader takes as ``input_sharding``: torch_xla's own is of one number of dimensions, and leaves
    tensors of another undivided; this one divides the first dimension of any."""

    def __init__(self, spmd: Any, mesh: Any, devices: int, minibatch: bool) -> None:
        self._spmd = spmd
        self._mesh = mesh
        self._devices = devices
        self.minibatch = minibatch
        self._by_dimensions: dict[int, Any] = {}

    def can_apply(self, tensor: torch.Tensor) -> bool:
        """Whether there are rows."""
        return bool(tensor.dim())

    def xla_spec(self, tensor: torch.Tensor) -> Any:
        """The mark for ``tensor``. Raises ValueError if its rows cannot be divided evenly."""
        if not tensor.dim():
            return None
        check_rows(tensor, self._devices)
        spec = self._by_dimensions.get(tensor.dim())
        if spec is None:
            spec = self._spmd.ShardingSpec(self._mesh, batch_spec(tensor.dim()), minibatch=self.minibatch)
            self._by_dimensions[tensor.dim()] = spec
        return spec.xla_spec(tensor)


def check_rows(tensor: torch.Tensor, devices: int) -> None:
    """Raises ValueError if the rows of ``tensor`` cannot be divided evenly."""
    if tensor.size(0) % devices:
        raise ValueError(
            f"a batch of shape {tuple(tensor.shape)} cannot be divided among {devices} devices: its first dimension, "
            "the batch size, has to be a multiple of their number (drop_last=True, or PadLastBatch)"
        )
