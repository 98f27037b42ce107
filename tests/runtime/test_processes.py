"""Several processes: on two devices of XLA:CPU, in a group of two on the host, and alone.

How ``replicas.py`` gets XLA:CPU to run collectives is told there. Its processes are threads of one process, and the
devices are the host's: what a TPU's network does with the same graphs is not shown by it.
"""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import tpulint_runtime
from tpulint_runtime import (
    backend,
    broadcast_parameters,
    call_once,
    launch,
    print_once,
    reduce_gradients,
    sum_over_processes,
)
from tpulint_runtime.backend import XlaBackend

pytestmark = pytest.mark.xla

SCRIPT = Path(__file__).parent / "replicas.py"
RUNTIME = os.path.dirname(os.path.dirname(tpulint_runtime.__file__))


# ---------------------------------------------------------------- two devices of XLA:CPU


ATTEMPTS = 5
"""The two replicas are threads of one process, and of the same pools of threads. When these run out, one waits in a
collective for the other, until XLA ends the process. That was seen on a busy machine while XLA's own pool had a thread
for each core. It could not be provoked any more, with 13 times as many busy processes as cores, with the larger pool or
without. With graphs that differ between replicas it happens always."""
ENDED_BY_XLA = ("rendezvous.cc", "terminated abruptly")
"""What is said where XLA ends the process; the latter once, of a segmentation fault within torch_xla's own library."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What each of two replicas saw, and what one process makes of it."""
    file = tmp_path_factory.mktemp("replicas") / "results.json"
    for _ in range(ATTEMPTS):
        done = subprocess.run(
            [sys.executable, str(SCRIPT), str(file)],
            env={**os.environ, "PYTHONPATH": RUNTIME},
            capture_output=True,
            text=True,
            check=False,
            timeout=500,
        )
        if not any(words in done.stderr for words in ENDED_BY_XLA):
            break
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(file.read_text())
    return {**found, "printed": done.stdout.splitlines()}


def replicas(run: dict[str, Any], training: str) -> tuple[dict[str, Any], dict[str, Any]]:
    first, second = run["replicas"]
    return first[training], second[training]


def test_two_replicas_train_as_one_process_with_all_their_samples(run: dict[str, Any]) -> None:
    first, second = replicas(run, "reduced")
    alone = run["one_process"]
    assert first["weights"] == second["weights"] != first["start"]
    for found, expected in zip(first["weights"], alone["weights"], strict=True):
        torch.testing.assert_close(torch.tensor(found), torch.tensor(expected), rtol=1e-4, atol=1e-5)
    for replica in (first, second):
        assert replica["total"] == pytest.approx(alone["total"], rel=1e-5)
        assert replica["count"] == run["samples"] * run["epochs"]


def test_without_reduction_replicas_diverge(run: dict[str, Any]) -> None:
    first, second = replicas(run, "alone")
    assert first["weights"] != second["weights"], "then the test above shows nothing"
    assert not any(first["collectives"])


def test_each_update_has_one_collective_and_replicas_run_the_same_graphs(run: dict[str, Any]) -> None:
    first, second = replicas(run, "reduced")
    assert first["collectives"] == second["collectives"] == [0, 1] * (len(first["graphs"]) // 2)
    assert len(first["graphs"]) > 4
    for training in ("reduced", "alone"):
        first, second = replicas(run, training)
        assert first["graphs"] == second["graphs"]


def test_parameters_start_as_those_of_the_first_replica(run: dict[str, Any]) -> None:
    for replica in replicas(run, "reduced"):
        for found, expected in zip(replica["start"], run["one_process"]["start"], strict=True):
            torch.testing.assert_close(torch.tensor(found), torch.tensor(expected))


def test_replicas_share_the_samples_of_each_epoch(run: dict[str, Any]) -> None:
    assert [replica["place"] for replica in run["replicas"]] == [[0, 2], [1, 2]]
    seen = [replica["seen"] for replica in replicas(run, "reduced")]
    size = len(seen[0]) // run["epochs"]
    assert len(seen[0]) == len(seen[1]) == run["epochs"] * size
    for start in range(0, len(seen[0]), size):
        rows = [row for share in seen for batch in share[start : start + size] for row in batch]
        assert sorted(rows) == list(range(run["samples"]))
    assert seen[0][:size] != seen[0][size:], "set_epoch changes the order"


def test_output_is_of_the_first_replica_and_of_numbers(run: dict[str, Any]) -> None:
    first, second = replicas(run, "reduced")
    assert second["lines"] == [] and len(first["lines"]) == len(first["seen"])
    lines = first["lines"] + replicas(run, "alone")[0]["lines"]
    assert [line for line in run["printed"] if line.startswith("loss")] == [f"loss {losses[0]}" for losses in lines]


@pytest.mark.parametrize("accumulate", [1, 2])
def test_loops_of_two_replicas_take_the_steps_of_one(run: dict[str, Any], accumulate: int) -> None:
    """Of unequal shares: four real rows in each batch of one replica, one in those of the other."""
    name = f"loop {accumulate}"
    first, second = replicas(run, name)
    assert first["weights"] == second["weights"]
    for found, expected in zip(first["weights"], run[name]["weights"], strict=True):
        torch.testing.assert_close(torch.tensor(found), torch.tensor(expected), rtol=1e-4, atol=1e-5)
    # With each update one sum of gradients, and one of what they count, which are of other dtypes. None in between.
    update = [2] if accumulate == 1 else [0, 0, 2]
    steps = run["samples"] // 8 // accumulate * run["epochs"]
    assert first["collectives"] == second["collectives"] == update * steps


def test_synchronized_norms_of_two_replicas_are_those_of_the_whole_batch(run: dict[str, Any]) -> None:
    first, second = replicas(run, "synchronized")
    assert first["state"] == second["state"]
    for name, expected in run["normed_alone"].items():
        torch.testing.assert_close(torch.tensor(first["state"][name]), torch.tensor(expected), rtol=1e-5, atol=1e-6)
    # The gradients, and mean and variance of one layer, forwards and backwards.
    assert first["collectives"] == second["collectives"] == [5] * len(first["collectives"])
    first, second = replicas(run, "by itself")
    assert first["state"] != second["state"], "then the above shows nothing"


# ---------------------------------------------------------------- one replica, with the collective kept


def gradients_of(clip: str, backwards: int) -> tuple[list[torch.nn.Parameter], torch.optim.Optimizer]:
    model = torch.nn.Linear(4, 2).to(XlaBackend().device())
    parameters = list(model.parameters())
    XlaBackend().sync()
    for _ in range(backwards):
        model(torch.ones(3, 4).to(XlaBackend().device())).pow(2).mean().backward()
    if clip == "before":
        torch.nn.utils.clip_grad_norm_(parameters, 0.01)
    return parameters, torch.optim.SGD(parameters, lr=0.1)


def all_reduces(tensors: list[Any]) -> int:
    import torch_xla

    return int(torch_xla._XLAC._get_xla_tensors_hlo(tensors).count(" all-reduce("))


@pytest.mark.parametrize("backwards", [1, 2])
@pytest.mark.parametrize("clip", ["before", "after", "never"])
def test_reduction_is_not_lost_to_clipping(clip: str, backwards: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_ALWAYS_ALLREDUCE", "1")
    parameters, optimizer = gradients_of(clip, backwards)
    expected = [parameter.grad.tolist() for parameter in parameters if parameter.grad is not None]
    reduce_gradients(optimizer)
    averaged = [parameter.grad for parameter in parameters]
    assert all_reduces(averaged) == 1
    if clip == "after":
        torch.nn.utils.clip_grad_norm_(parameters, 0.01)
    optimizer.step()
    assert all_reduces(parameters) == 1
    XlaBackend().sync()
    norm = float(torch.cat([torch.tensor(gradient).flatten() for gradient in expected]).norm())
    for parameter, gradient in zip(parameters, expected, strict=True):
        assert parameter.grad is not None
        factor = 0.01 / norm if clip == "after" else 1.0  # a mean over one is the number itself
        torch.testing.assert_close(parameter.grad.cpu(), torch.tensor(gradient) * factor, rtol=1e-3, atol=1e-6)


def test_reduction_in_place_is_lost_to_clipping(monkeypatch: pytest.MonkeyPatch) -> None:
    """Why the gradients are not reduced in place, as ``xm.reduce_gradients`` does it. When this fails, they may be."""
    import torch_xla.core.xla_model as xm

    monkeypatch.setenv("XLA_ALWAYS_ALLREDUCE", "1")
    parameters, optimizer = gradients_of("never", 2)
    xm.all_reduce(xm.REDUCE_SUM, [parameter.grad.data for parameter in parameters if parameter.grad is not None])
    torch.nn.utils.clip_grad_norm_(parameters, 0.01)
    optimizer.step()
    assert all_reduces(parameters) == 0


def test_reduction_of_one_replica_is_nothing() -> None:
    parameters, optimizer = gradients_of("never", 1)
    reduce_gradients(optimizer)
    optimizer.step()
    assert all_reduces(parameters) == 0
    total = torch.ones(3, device=XlaBackend().device())
    assert sum_over_processes(total).tolist() == [1.0] * 3


# ---------------------------------------------------------------- on the host


@pytest.fixture
def on_cpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(backend, "_is_installed", lambda package: False)
    backend.own.cache_clear()
    yield
    backend.own.cache_clear()


GROUP = """
import os, sys
import torch
from tpulint_runtime import EpochBatchSampler, backend, call_once, launch, print_once
from tpulint_runtime import broadcast_parameters, reduce_gradients, sum_over_processes, synchronize_batch_norms

backend._is_installed = lambda package: False


def train(index, answer):
    place = backend.place()
    assert (index, place.processes, answer) == (place.rank, 2, 42)
    torch.manual_seed(place.rank)
    model = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1), torch.nn.Flatten(), torch.nn.Linear(8, 1))
    model = model.to(memory_format=torch.channels_last)
    broadcast_parameters(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(9)
    data = torch.randn(8, 2, 2, 2)
    reference = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1), torch.nn.Flatten(), torch.nn.Linear(8, 1))
    reference.load_state_dict(model.state_dict())
    seen = []
    for rows in EpochBatchSampler(8, 2, num_replicas=place.processes, rank=place.rank):
        seen += rows
        (model(data[rows]).pow(2).mean() / 2).backward()
    reduce_gradients(optimizer)
    reference(data).pow(2).mean().backward()
    for own, other in zip(model.parameters(), reference.parameters()):
        torch.testing.assert_close(own.grad, other.grad)
    assert sum_over_processes(torch.tensor(len(seen))).item() == 8
    compare_norms(place.rank)
    print_once("seen", sum_over_processes(torch.tensor(sum(seen))))
    call_once(lambda rank: print("called by", rank), place.rank)
    sys.stdout.flush()


def compare_norms(rank):
    layers = [torch.nn.BatchNorm1d(3), torch.nn.BatchNorm1d(3, affine=False, momentum=None), torch.nn.SyncBatchNorm(3)]
    model = torch.nn.Sequential(*layers)
    whole = torch.nn.Sequential(*map(torch.nn.BatchNorm1d, (3, 3, 3)))
    whole[1] = torch.nn.BatchNorm1d(3, affine=False, momentum=None)
    names = list(model.state_dict())
    assert synchronize_batch_norms(model) is model and list(model.state_dict()) == names
    assert isinstance(model[0], torch.nn.BatchNorm1d) and isinstance(model[2], torch.nn.SyncBatchNorm)
    weights = torch.linspace(0, 1, 24).reshape(8, 3)
    for step in range(3):
        x = 100 + torch.randn(8, 3, generator=torch.Generator().manual_seed(step))
        mine, theirs = (x[4 * rank :][:4].clone().requires_grad_(), x.clone().requires_grad_())
        found, expected = model(mine), whole(theirs)
        (found**3 * weights[4 * rank :][:4]).sum().backward()
        (expected**3 * weights).sum().backward()
        torch.testing.assert_close(found, expected[4 * rank :][:4], rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(mine.grad, theirs.grad[4 * rank :][:4], rtol=1e-3, atol=1e-3)
        for own, other in zip(model.buffers(), whole.buffers()):
            torch.testing.assert_close(own, other, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(model.eval()(x), whole.eval()(x), rtol=1e-4, atol=1e-4)
    one = x[4 * rank :][:4]
    alone = torch.nn.BatchNorm1d(3)(one)
    assert not torch.allclose(model[0].train()(one), alone, atol=1e-2), "then the above shows nothing"


if __name__ == "__main__":
    launch(train, (42,))
    assert not torch.distributed.is_initialized()
"""


def test_processes_of_torchrun_join_and_average(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(GROUP)
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = str(found.getsockname()[1])
    group = {"PYTHONPATH": RUNTIME, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2"}
    group["OMP_NUM_THREADS"] = "1"
    running = [
        subprocess.Popen(
            [sys.executable, str(script)],
            env={**os.environ, **group, "RANK": rank, "LOCAL_RANK": rank},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in ("0", "1")
    ]
    printed = [process.communicate(timeout=300)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0], "\n".join(printed)
    assert "seen 28" in printed[0] and "called by 0" in printed[0]
    assert "seen" not in printed[1] and "called" not in printed[1]


called: list[Any] = []


def remember(index: int, *args: Any) -> None:
    called.append((index, *args))


@pytest.mark.usefixtures("on_cpu")
class TestAlone:
    def test_one_process_runs_in_place(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "LOCAL_RANK"):
            monkeypatch.delenv(name, raising=False)
        called.clear()
        launch(remember, ("a", 1))
        assert called == [(0, "a", 1)]
        assert backend.place() == (0, 1)

    def test_function_that_could_not_be_sent_is_refused_everywhere(self) -> None:
        def inner(index: int) -> None: ...

        for function in (inner, lambda index: None):
            with pytest.raises(ValueError, match="define it at the top of the module"):
                launch(function)
        launch(inner, start_method="fork")

    def test_values_are_fetched_for_the_function(self) -> None:
        found: list[Any] = []
        loss = torch.tensor(0.5, requires_grad=True)
        call_once(found.append, {"loss": loss, "rows": [torch.ones(2)], "name": "a"})
        (values,) = found
        assert values["loss"] == 0.5 and type(values["loss"]) is float
        assert values["rows"][0].tolist() == [1.0, 1.0] and values["name"] == "a"
        stream = io.StringIO()
        print_once("loss", loss, "at", 3, sep="|", file=stream)
        assert stream.getvalue() == "loss|0.5|at|3\n"

    def test_parameters_and_sums_are_their_own(self) -> None:
        module = torch.nn.Linear(2, 2)
        before = module.weight.clone()
        broadcast_parameters(module)
        assert torch.equal(module.weight, before)
        total = torch.ones(2)
        summed = sum_over_processes(total)
        summed += 1
        assert total.tolist() == [1.0, 1.0], "the sum has memory of its own"


def optimizer_with_gradients() -> torch.optim.Optimizer:
    weight = torch.nn.Parameter(torch.ones(2))
    weight.grad = torch.ones(2)
    return torch.optim.SGD([weight, torch.nn.Parameter(torch.ones(3))], lr=0.1)


def accumulate(optimizer: torch.optim.Optimizer) -> None:
    for parameter in optimizer.param_groups[0]["params"][:1]:
        parameter.grad = torch.ones(2) if parameter.grad is None else parameter.grad.add_(1)


def test_second_reduction_is_refused() -> None:
    optimizer = optimizer_with_gradients()
    reduce_gradients(optimizer)
    with pytest.raises(RuntimeError, match="once for each update"):
        reduce_gradients(optimizer)
    accumulate(optimizer)
    with pytest.raises(RuntimeError, match="behind its last backward"):
        reduce_gradients(optimizer)


@pytest.mark.parametrize("to_none", [True, False])
def test_each_update_is_reduced_once(to_none: bool) -> None:
    optimizer = optimizer_with_gradients()
    for _ in range(3):
        reduce_gradients(optimizer)
        optimizer.step()
        optimizer.zero_grad(set_to_none=to_none)
        accumulate(optimizer)


def test_update_that_was_skipped_is_reduced_anew() -> None:
    optimizer = optimizer_with_gradients()
    for _ in range(3):
        reduce_gradients(optimizer)
        optimizer.zero_grad()
        accumulate(optimizer)


def test_two_optimizers_do_not_know_of_each_other() -> None:
    first, second = optimizer_with_gradients(), optimizer_with_gradients()
    reduce_gradients(first)
    reduce_gradients(second)


def test_what_cannot_be_reduced_is_named() -> None:
    with pytest.raises(TypeError, match="takes an optimizer, not Linear"):
        reduce_gradients(torch.nn.Linear(1, 1))  # type: ignore[arg-type]
    optimizer = optimizer_with_gradients()
    weight = torch.nn.Parameter(torch.ones(2, 2))
    weight.grad = torch.ones(2, 2).to_sparse()
    optimizer.add_param_group({"params": [weight]})
    with pytest.raises(TypeError, match="sparse=False"):
        reduce_gradients(optimizer)
    reduce_gradients(torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1))  # no gradient: nothing to do
