"""CPU and CUDA, as torch itself runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from tpulint_runtime.backend.protocol import Counts


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

    def world_size(self, wanted: int) -> int:
        # Without a GPU the count of GPUs is 0, and the script runs in a single process. -1 leaves it open.
        return 1 if wanted == 0 and not self._is_cuda else wanted
