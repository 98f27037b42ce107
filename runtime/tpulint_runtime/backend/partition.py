"""What a mesh asks of the machinery below torch: to divide tensors among devices, or nothing where there is one."""

from __future__ import annotations

from typing import Any, Protocol

import torch

AXES = ("data", "fsdp")

Spec = tuple[tuple[str, ...] | None, ...]
"""For each dimension of a tensor the axes it is divided along, or None where every device has all of it."""


def batch_spec(dimensions: int) -> Spec:
    """That of a tensor whose first dimension is rows of a batch: all devices share them."""
    return (AXES, *[None] * (dimensions - 1)) if dimensions else ()


class Partition(Protocol):
    """Devices in rows and columns, with a name for each direction."""

    @property
    def sizes(self) -> dict[str, int]:
        """Devices along each axis."""

    @property
    def hosts(self) -> int:
        """Processes whose devices are in it: one for each machine."""

    def mark(self, tensor: torch.Tensor, spec: Spec) -> None:
        """Divides a tensor of the device. One that is divided already is divided anew."""

    def divided(self, tensor: torch.Tensor) -> str:
        """How a tensor of the device is divided, in the words of the backend; empty if that is not known yet."""

    def input_sharding(self) -> Any:
        """Tells a device loader to divide batches by rows while it sends them; None if there is nothing to divide."""

    def send(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        """Tensors of the host on the device, divided by rows."""


class OnePart:
    """A single device: nothing is divided."""

    hosts = 1

    def __init__(self, device: torch.device) -> None:
        self.sizes = dict.fromkeys(AXES, 1)
        self._device = device

    def mark(self, tensor: torch.Tensor, spec: Spec) -> None:
        return

    def divided(self, tensor: torch.Tensor) -> str:
        return ""

    def input_sharding(self) -> Any:
        return None

    def send(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        return [tensor.to(self._device) for tensor in tensors]
