"""The functions that rewritten code calls: what they ask of torch on CUDA, and do where there is neither GPU nor XLA.

There is no GPU here: what torch is asked is recorded. What XLA does is in ``test_on_xla``.
"""

from __future__ import annotations

import inspect
import io
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.distributed
import torch.multiprocessing
import torch.utils.checkpoint
from tpulint_runtime import backend

pytestmark = pytest.mark.xla  # where torch is, torch_xla is


@pytest.fixture(autouse=True)
def fresh_choice() -> Iterator[None]:
    """The backend is chosen once a process; here once a test."""
    backend.own.cache_clear()
    yield
    backend.own.cache_clear()


@pytest.fixture
def on_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)


@pytest.fixture
def on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "_is_installed", lambda package: False)


class Recorder:
    """Stands in for a function of torch."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, module: object, name: str) -> None:
        self.calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
        monkeypatch.setattr(module, name, self)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        self.calls.append((args, kwargs))


@pytest.mark.usefixtures("on_cuda")
class TestCuda:
    def test_cuda_comes_before_xla(self) -> None:
        assert backend.device_type() == "cuda"
        assert backend.device() == torch.device("cuda")
        assert backend.device(1) == torch.device("cuda", 1)
        assert backend.is_available()

    def test_boundary_does_not_wait(self, monkeypatch: pytest.MonkeyPatch) -> None:
        waits = Recorder(monkeypatch, torch.cuda, "synchronize")
        backend.sync()
        assert waits.calls == []
        backend.sync(wait=True)
        assert len(waits.calls) == 1

    def test_precision_is_what_was_asked_for(self) -> None:
        assert backend.autocast(dtype=torch.float16).fast_dtype is torch.float16
        cast = backend.autocast(False)
        assert cast.device == "cuda" and not cast._enabled

    def test_all_gpus_are_seeded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        seeds = Recorder(monkeypatch, torch.cuda, "manual_seed_all")
        backend.manual_seed(5)
        assert seeds.calls == [((5,), {})]

    def test_processes_get_what_was_passed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        started = Recorder(monkeypatch, torch.multiprocessing, "spawn")
        backend.spawn(print, (1, 2), 4, join=True)
        assert started.calls == [((print, (1, 2), 4), {"join": True})]
        assert backend.world_size(4) == 4

    def test_group_gets_what_was_passed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        joined = Recorder(monkeypatch, torch.distributed, "init_process_group")
        backend.init_process_group("nccl", "env://", rank=1, world_size=2, device_id=torch.device("cuda", 1))
        options = {"rank": 1, "world_size": 2, "device_id": torch.device("cuda", 1)}
        assert joined.calls == [(("nccl", "env://"), options)]


@pytest.mark.usefixtures("on_cpu")
class TestCpu:
    def test_host_is_the_device(self) -> None:
        assert backend.device() == backend.device(3) == torch.device("cpu")
        assert backend.device_type() == "cpu"
        assert not backend.is_available()
        assert not backend.is_bf16_supported()

    def test_step_is_as_without_a_gpu(self) -> None:
        layer = torch.nn.Linear(4, 2)
        with backend.autocast(dtype=torch.float16):
            assert layer(torch.ones(3, 4)).dtype is torch.float32
        backend.sync()
        backend.sync(wait=True)
        backend.manual_seed(1)
        x = torch.ones(2)
        assert backend.pin_memory(x) is x

    def test_autocast_decorates(self) -> None:
        @backend.autocast()
        def double(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        assert double(torch.ones(1)).item() == 2

    def test_checkpoint_takes_the_arguments_of_torch(self) -> None:
        assert backend.checkpoint(torch.relu, torch.ones(2), use_reentrant=False).sum().item() == 2

    def test_saved_state_loads(self) -> None:
        file = io.BytesIO()
        backend.save({"x": torch.ones(2)}, file)
        file.seek(0)
        assert torch.load(file)["x"].sum().item() == 2

    def test_no_gpu_is_one_process(self, monkeypatch: pytest.MonkeyPatch) -> None:
        started = Recorder(monkeypatch, torch.multiprocessing, "spawn")
        backend.spawn(print, args=(0,), nprocs=0)
        assert started.calls == [((print, (0,), 1), {})]
        assert backend.world_size(0) == 1
        assert backend.world_size(2) == 2

    def test_group_is_one_of_the_host(self, monkeypatch: pytest.MonkeyPatch) -> None:
        joined = Recorder(monkeypatch, torch.distributed, "init_process_group")
        backend.init_process_group(backend="nccl", rank=0, world_size=0, device_id=torch.device("cpu"))
        assert joined.calls == [(("gloo",), {"rank": 0, "world_size": 1})]
        backend.init_process_group("nccl", world_size=-1)  # left open, for the environment to tell
        assert joined.calls[1] == (("gloo",), {"world_size": -1})


def test_package_that_is_kept_out_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch_xla", None)
    assert not backend._is_installed("torch_xla")
    assert backend.current().name == "cpu"
    assert backend._is_installed("torch")
    assert not backend._is_installed("a_package_nobody_has")


@pytest.mark.parametrize(
    ("own", "of_torch"),
    [(backend.spawn, torch.multiprocessing.spawn), (backend.autocast, torch.cuda.amp.autocast.__init__)],
)
def test_arguments_by_position_mean_the_same(own: Any, of_torch: Any) -> None:
    ours = [name for name, item in inspect.signature(own).parameters.items() if item.kind != item.VAR_KEYWORD]
    theirs = [name for name in inspect.signature(of_torch).parameters if name != "self"]
    assert ours == theirs[: len(ours)]


def test_everything_rewritten_code_calls_is_there() -> None:
    assert set(backend.__all__) <= set(dir(backend))
