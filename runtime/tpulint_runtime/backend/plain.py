"""CPU and CUDA, as torch itself runs them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.distributed

from tpulint_runtime.backend.partition import OnePart, Partition
from tpulint_runtime.backend.protocol import Counts, Place


class PlainBackend:
    """CPU and CUDA: operations run as they are called, nothing is traced, nothing is counted."""

    counts_work = False

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._is_cuda = device.type == "cuda"

    @property
    def name(self) -> str:
        return str(self._device.type)

    def device_type(self) -> str:
        return str(self._device.type)

    def device(self, index: int | None = None) -> torch.device:
        return self._device if index is None or not self._is_cuda else torch.device("cuda", index)

    def sync(self, wait: bool = False) -> None:
        if wait and self._is_cuda:
            # Host sync, deliberate: the caller asked to stand still until the device is done.
            torch.cuda.synchronize(self._device)

    def counts(self) -> Counts:
        return Counts()

    def activity(self) -> Callable[[], object]:
        return lambda: None

    def compile_count(self) -> int:
        return 0

    def graph_hash(self, tensors: Iterable[torch.Tensor]) -> str | None:
        return None

    def seed(self, seed: int) -> None:
        if self._is_cuda:
            torch.cuda.manual_seed_all(seed)

    def is_bf16_supported(self) -> bool:
        return self._is_cuda and bool(torch.cuda.is_bf16_supported())

    def autocast(self, enabled: bool, dtype: torch.dtype | None, cache_enabled: bool | None) -> torch.autocast:
        if not self._is_cuda:
            return torch.autocast("cpu", enabled=False)  # as CUDA's own does where there is no GPU
        return torch.autocast("cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)

    def pin_memory(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.pin_memory() if self._is_cuda else tensor

    def save(self, obj: object, file: Any) -> None:
        torch.save(obj, file)

    def checkpoint(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        import torch.utils.checkpoint

        return torch.utils.checkpoint.checkpoint(function, *args, **options)

    def join_group(self, backend: str | None, *args: Any, **options: Any) -> None:
        if not self._is_cuda:
            backend = "gloo"  # NCCL is for GPUs
            options.pop("device_id", None)
            if "world_size" in options:
                options["world_size"] = self.world_size(options["world_size"])
        torch.distributed.init_process_group(backend, *args, **options)

    def spawn(self, function: Callable[..., Any], args: tuple[Any, ...], nprocs: int, **options: Any) -> Any:
        from torch import multiprocessing

        spawn: Callable[..., Any] = getattr(multiprocessing, "spawn")  # noqa: B009 - torch's stubs do not export it
        return spawn(function, args, self.world_size(nprocs), **options)

    def launch(self, function: Callable[..., object], args: tuple[Any, ...], start_method: str) -> None:
        if not {"RANK", "WORLD_SIZE", "MASTER_ADDR"} <= os.environ.keys():  # what torchrun tells its processes
            function(0, *args)
            return
        index = int(os.environ.get("LOCAL_RANK", os.environ["RANK"]))
        if self._is_cuda:
            torch.cuda.set_device(index)
        joins = not _is_group()
        if joins:
            self.join_group("nccl", init_method="env://")
        function(index, *args)
        if joins and _is_group():  # not after an exception: the others may wait for this process in a collective
            if not self._is_cuda:
                torch.distributed.barrier()  # a process of gloo whose peer is gone may abort as it ends
            torch.distributed.destroy_process_group()

    def world_size(self, wanted: int) -> int:
        # Without a GPU the count of GPUs is 0, and the script runs in a single process. -1 leaves it open.
        return 1 if wanted == 0 and not self._is_cuda else wanted

    def place(self) -> Place:
        if not _is_group():
            return Place(0, 1)
        return Place(torch.distributed.get_rank(), torch.distributed.get_world_size())

    def gather(self, value: str) -> list[str]:
        if not _is_group():
            return [value]
        found = [""] * torch.distributed.get_world_size()
        torch.distributed.all_gather_object(found, value)
        return found

    def send(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        return [self.pin_memory(tensor).to(self._device, non_blocking=True) for tensor in tensors]

    def partition(self, fsdp: int) -> Partition:
        if fsdp not in (1, -1):
            raise ValueError(f"1 device cannot be put into columns of {fsdp}: fsdp has to divide their number")
        return OnePart(self._device)

    def add_up(self, tensors: list[torch.Tensor], scale: float = 1.0) -> None:
        if not _is_group():
            return
        dense = [tensor.contiguous() for tensor in tensors]
        for running in [torch.distributed.all_reduce(tensor, async_op=True) for tensor in dense]:
            running.wait()
        for tensor, summed in zip(tensors, dense, strict=True):
            if summed is not tensor:
                tensor.copy_(summed)
            if scale != 1.0:
                tensor.mul_(scale)

    def copy_first(self, tensors: list[torch.Tensor]) -> None:
        if not _is_group():
            return
        for tensor in tensors:
            dense = tensor.contiguous()
            torch.distributed.broadcast(dense, 0)
            if dense is not tensor:
                tensor.copy_(dense)

    def fetch(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        if not self._is_cuda:
            return [tensor.clone() if tensor.device.type == "cpu" else tensor.cpu() for tensor in tensors]
        copies = [
            torch.empty_like(tensor, device="cpu", pin_memory=True).copy_(tensor, non_blocking=True)
            if tensor.device.type == "cuda"
            else tensor.clone()
            for tensor in tensors
        ]
        torch.cuda.synchronize(self._device)  # host sync, deliberate: once for all the copies
        return copies

    def fetches_together(self) -> bool:
        return False

    def random_state(self) -> Any:
        return torch.cuda.get_rng_state(self._device) if self._is_cuda else None

    def set_random_state(self, state: Any) -> None:
        if self._is_cuda and state is not None:
            torch.cuda.set_rng_state(state, self._device)


def _is_group() -> bool:
    return bool(torch.distributed.is_available() and torch.distributed.is_initialized())
