"""torch_xla. Only this module and those beside it whose names begin with ``xla`` name it.

It is imported by the methods that need it, so that scripts on CPU and CUDA never pay for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from tpulint_runtime.backend.partition import Partition
from tpulint_runtime.backend.protocol import Counts, Place
from tpulint_runtime.backend.xla_partition import XlaPartition


def _torch_xla() -> Any:
    """The package, as Any: its functions have no types."""
    import torch_xla

    return torch_xla


def _metrics() -> Any:
    import torch_xla.debug.metrics

    return torch_xla.debug.metrics


_ACTIVITY = (
    "UncachedCompile", "CachedCompile", "aten::_local_scalar_dense", "xla::_to_cpu", "xla::_copy_from", "xla::_to_copy",
)  # fmt: skip
"""Counters of which one changes whenever a graph is run or a value is read. They cost a tenth of a microsecond each;
the metric that counts reads has its samples copied."""


class XlaBackend:
    """torch_xla. Counters are of the process: threads that share it are counted together."""

    name = "xla"
    counts_work = True

    def device_type(self) -> str:
        _torch_xla()  # which tells torch of the device type
        return "xla"

    def device(self, index: int | None = None) -> torch.device:
        """See :meth:`Backend.device`. Each process drives one device: there is nothing to choose."""
        device: torch.device = _torch_xla().device()
        return device

    def sync(self, wait: bool = False) -> None:
        # Host sync, deliberate, with wait=True only: the caller asked to stand still until the device is done.
        _torch_xla().sync(wait=wait)

    def counts(self) -> Counts:
        metrics = _metrics()

        def counter(name: str) -> int:
            return int(metrics.counter_value(name) or 0)

        def samples(name: str) -> int:
            return int((metrics.metric_data(name) or (0,))[0])

        compiling = metrics.metric_data("CompileTime") or (0, 0.0)
        # Launches are counted where they are asked for. The metric ExecuteTime is sampled by the thread that waits for
        # the device, some steps later. What torch.compile runs is asked for, without a boundary of its own.
        asked_by_dynamo = samples("RunCachedGraphInputData")
        return Counts(
            compiles=int(compiling[0]),
            compile_seconds=float(compiling[1]) * 1e-9,  # nanoseconds
            launches=max(0, counter("UncachedCompile") + counter("CachedCompile") - asked_by_dynamo),
            boundaries=counter("MarkStep"),
            reads=samples("TransferFromDeviceTime"),
            fallbacks={str(name): counter(name) for name in metrics.counter_names() if name.startswith("aten::")},
        )

    def activity(self) -> Callable[[], object]:
        value = _torch_xla()._XLAC._xla_counter_value
        one, two, three, four, five, six = _ACTIVITY
        return lambda: (value(one), value(two), value(three), value(four), value(five), value(six))

    def compile_count(self) -> int:
        return int((_metrics().metric_data("CompileTime") or (0,))[0])

    def graph_hash(self, tensors: Iterable[torch.Tensor]) -> str | None:
        """See :meth:`Backend.graph_hash`. The graph is known before the step boundary, not after it.

        Raises TypeError for a tensor that is not on XLA, ValueError without a tensor."""
        asked = list(tensors)
        if not asked:
            raise ValueError("a graph hash needs at least one tensor")
        for tensor in asked:
            if tensor.device.type != "xla":  # torch_xla would end the process, not raise
                raise TypeError(f"a graph hash needs tensors on XLA, not on {tensor.device}")
        # A private name: the test of this method fails when a version of torch_xla has it no longer.
        return str(_torch_xla()._XLAC._get_graph_hash(asked).hex())

    def seed(self, seed: int) -> None:
        _torch_xla().manual_seed(seed)

    def is_bf16_supported(self) -> bool:
        return True

    def autocast(self, enabled: bool, dtype: torch.dtype | None, cache_enabled: bool | None) -> torch.autocast:
        # There are no units for float16, and what needs its range scaled does not in bfloat16.
        dtype = torch.bfloat16 if dtype in (None, torch.float16) else dtype
        _torch_xla()
        return torch.autocast("xla", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)

    def pin_memory(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor

    def save(self, obj: object, file: Any) -> None:
        # Host sync, deliberate: what is saved is fetched, all of it at once. Whoever calls, writes.
        import torch_xla.core.xla_model

        model: Any = torch_xla.core.xla_model
        model.save(obj, file, master_only=False)

    def checkpoint(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        import torch_xla.utils.checkpoint

        # It always is reentrant, which gives parameters no gradient where no input asks for one.
        if options.pop("use_reentrant", True) is False and torch.is_grad_enabled():
            args = _asking_for_gradient(args)
        module: Any = torch_xla.utils.checkpoint
        return module.checkpoint(function, *args, **options)

    def join_group(self, backend: str | None, *args: Any, **options: Any) -> None:
        import torch_xla.distributed.xla_backend  # noqa: F401  # makes the backend "xla" known

        # The runtime knows the number of the process, and how many there are.
        kept = {name: value for name, value in options.items() if name in ("timeout", "group_name")}
        torch.distributed.init_process_group("xla", init_method="xla://", **kept)

    def spawn(self, function: Callable[..., Any], args: tuple[Any, ...], nprocs: int, **options: Any) -> Any:
        """See :meth:`Backend.spawn`. One process for each chip, however many are asked for."""
        _torch_xla().launch(function, args=args, start_method=options.get("start_method", "spawn"))

    def launch(self, function: Callable[..., object], args: tuple[Any, ...], start_method: str) -> None:
        _torch_xla().launch(function, args=args, start_method=start_method)

    def world_size(self, wanted: int) -> int:
        import torch_xla.runtime

        runtime: Any = torch_xla.runtime
        return int(runtime.world_size())

    def place(self) -> Place:
        import torch_xla.runtime

        runtime: Any = torch_xla.runtime
        if runtime.is_spmd():  # one program on all devices: processes are those of the machines
            return Place(int(runtime.process_index()), int(runtime.process_count()))
        return Place(int(runtime.global_ordinal()), int(runtime.world_size()))

    def gather(self, value: str) -> list[str]:
        if self.place().processes == 1:
            return [value]
        import torch_xla.core.xla_model

        model: Any = torch_xla.core.xla_model
        return [found.decode() for found in model.rendezvous("tpulint_runtime", value.encode())]

    def send(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        # Not tensor.to(device): a single 0 or 1 would become a constant of the graph. Private, as in
        # xm.send_cpu_data_to_device, which takes twice as long: a test fails when a version has it no longer.
        functions = _torch_xla()._XLAC
        of_host = [tensor.detach() for tensor in tensors if tensor.device.type == "cpu"]
        if not of_host:
            return tensors
        device = functions._xla_get_default_device()
        sent = iter(functions._xla_tensors_from_aten(of_host, [device] * len(of_host), None))
        return [next(sent) if tensor.device.type == "cpu" else tensor for tensor in tensors]

    def partition(self, fsdp: int) -> Partition:
        return XlaPartition(fsdp)

    def add_up(self, tensors: list[torch.Tensor], scale: float = 1.0) -> None:
        """See :meth:`Backend.add_up`. One collective for all tensors.

        Of copies, which are copied back: a sum in place is lost, without a message, where the tensor is written to
        through an alias, as clipping does: before it, or behind it if the gradient is of two backwards or more."""
        import torch_xla.core.xla_model

        model: Any = torch_xla.core.xla_model
        summed = [tensor.clone() for tensor in tensors]
        model.all_reduce(model.REDUCE_SUM, summed, scale=scale)
        for tensor, sum_of_all in zip(tensors, summed, strict=True):
            tensor.copy_(sum_of_all)

    def copy_first(self, tensors: list[torch.Tensor]) -> None:
        import torch_xla.core.xla_model
        import torch_xla.runtime

        model: Any = torch_xla.core.xla_model
        runtime: Any = torch_xla.runtime
        if runtime.world_size() > 1 and not runtime.is_spmd():
            model.collective_broadcast(tensors)

    def fetch(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        on_device = [tensor for tensor in tensors if tensor.device.type == "xla"]
        functions = _torch_xla()._XLAC  # private, as in xm.save: a test fails when a version has them no longer
        # Host sync, deliberate: all at once. Without a boundary of its own, which would move the random numbers on.
        functions._xla_sync_multi(on_device, devices=[], wait=True, sync_xla_data=False)
        fetched = iter(functions._xla_get_cpu_tensors(on_device))
        return [next(fetched) if tensor.device.type == "xla" else tensor.clone() for tensor in tensors]

    def fetches_together(self) -> bool:
        import torch_xla.runtime

        runtime: Any = torch_xla.runtime
        return bool(runtime.is_spmd()) and int(runtime.process_count()) > 1

    def random_state(self) -> Any:
        import torch_xla.core.xla_model

        model: Any = torch_xla.core.xla_model
        state = int(model.get_rng_state())
        # Behind a boundary this changes nothing. Amid a step, the next boundary would start from the seed of the step,
        # not from what is read here: now a run that goes on and one that is resumed draw the same.
        model.set_rng_state(state)
        return state

    def set_random_state(self, state: Any) -> None:
        import torch_xla.core.xla_model

        model: Any = torch_xla.core.xla_model
        model.set_rng_state(int(state))


def _asking_for_gradient(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same inputs; where none requires a gradient, the first tensor of fractions among them does."""
    tensors = [item for item in inputs if isinstance(item, torch.Tensor)]
    first = next((item for item in tensors if item.is_floating_point()), None)
    if first is None or any(item.requires_grad for item in tensors):
        return inputs
    return tuple(item.detach().requires_grad_() if item is first else item for item in inputs)
