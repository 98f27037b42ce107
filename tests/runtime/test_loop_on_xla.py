"""The training loop on real XLA: what it compiles and reads, and that it computes what plain PyTorch does.

Every test has a width of its own, for programs are cached by the process. Curves are compared with loops written by
hand that run on the CPU: in float32 losses agree within 2e-5 of their size; within 1e-4 where a schedule drives Adam,
and 1e-3 with batch normalisation, which both divide small numbers by small ones; in bfloat16 within 2e-2.
"""

from __future__ import annotations

import io
import math
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from rich.console import Console
from torch.utils.data import DataLoader
from tpulint_runtime import (
    BucketBatchSampler,
    Buckets,
    Callback,
    Checkpoints,
    EarlyStopping,
    EpochBatchSampler,
    Evaluation,
    Loop,
    PadLastBatch,
    Preempted,
    Progress,
    RecompileGuard,
    Tally,
    evaluate,
    tally,
    tally_correct,
    tally_cross_entropy,
)
from tpulint_runtime.backend import XlaBackend
from tpulint_runtime.loop.optimizer_numbers import VaryingNumbers
from tpulint_runtime.loop.varying import Inputs

pytestmark = pytest.mark.xla

XLA = XlaBackend()
ROWS = 8
Model = Callable[[], torch.nn.Module]


@pytest.fixture(autouse=True)
def started(xla_started: None) -> None:
    """Curves are compared with those of the CPU."""


def perceptron(width: int) -> torch.nn.Module:
    torch.manual_seed(width)
    return torch.nn.Sequential(torch.nn.Linear(width, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))


def line(width: int) -> torch.nn.Module:
    """Two parameters: the programs of optimizers take a time to compile that grows with their number."""
    torch.manual_seed(width)
    return torch.nn.Linear(width, 1)


def regression(width: int, count: int, rows: int = ROWS) -> list[dict[str, torch.Tensor]]:
    generator = torch.Generator().manual_seed(width)
    batches = []
    for _ in range(count):
        x = torch.randn(rows, width, generator=generator)
        batches.append({"x": x, "y": x.sum(1, keepdim=True)})
    return batches


def squares(model: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    return F.mse_loss(model(batch["x"]), batch["y"])


def by_hand(
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: Iterable[Any],
    loss_of: Callable[[Any, Any], torch.Tensor] = squares,
    scheduler: Any = None,
    clip_norm: float | None = None,
) -> list[float]:
    """The losses of plain PyTorch."""
    losses = []
    for batch in batches:
        optimizer.zero_grad()
        loss = loss_of(model, batch)
        loss.backward()
        if clip_norm:
            norm = torch.nn.utils.get_total_norm([p.grad for p in model.parameters() if p.grad is not None])
            torch.nn.utils.clip_grads_with_norm_(model.parameters(), clip_norm, norm)
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        XLA.sync()
        losses.append(loss.item())
    return losses


OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "SGD": lambda p: torch.optim.SGD(p, 0.02),
    "SGD, momentum": lambda p: torch.optim.SGD(p, 0.02, momentum=0.9, nesterov=True, weight_decay=0.1),
    "Adam": lambda p: torch.optim.Adam(p, 0.02),
    "Adam, weight decay": lambda p: torch.optim.Adam(p, 0.02, weight_decay=0.1, amsgrad=True),
    "AdamW": lambda p: torch.optim.AdamW(p, 0.02, weight_decay=0.1),
    "Adagrad": lambda p: torch.optim.Adagrad(p, 0.02, lr_decay=0.1, initial_accumulator_value=0.1),
    "RMSprop": lambda p: torch.optim.RMSprop(p, 0.02),
    "RMSprop, momentum": lambda p: torch.optim.RMSprop(p, 0.02, momentum=0.9, centered=True, weight_decay=0.1),
    "NAdam": lambda p: torch.optim.NAdam(p, 0.02),
    "Adamax": lambda p: torch.optim.Adamax(p, 0.02),
    "Adadelta": lambda p: torch.optim.Adadelta(p, 0.5),
}


def test_a_loader_of_torch_xla_is_asked_between_two_steps() -> None:
    """It ends the step whenever it is asked for a batch: from another thread, amid what is traced."""
    from torch_xla.distributed.parallel_loader import MpDeviceLoader

    width, batches = 198, regression(198, 5)
    model, plain = line(width).to(XLA.device()), line(width)
    loop = Loop(model, torch.optim.SGD(model.parameters(), 0.02), squares, accumulate=2, log_every=1)
    before = XLA.counts()
    loop.train(MpDeviceLoader(batches, XLA.device()), epochs=2)
    assert loop.steps == 6 and XLA.counts().since(before).compiles == 2  # a batch, and an update
    other = Loop(plain, torch.optim.SGD(plain.parameters(), 0.02), squares, accumulate=2, log_every=1)
    assert loop.history.column("loss") == pytest.approx(other.train(batches, epochs=2).column("loss"), rel=2e-5)


TO_THE_BIT = ("SGD, momentum", "Adam, weight decay", "AdamW", "Adagrad", "RMSprop, momentum", "NAdam")
"""Compared with a loop by hand on XLA, too, which compiles two programs more."""


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_one_program_and_the_state_of_plain_pytorch(name: str) -> None:
    width = 200 + [*OPTIMIZERS].index(name)
    batches = regression(width, 6)
    model = line(width).to(XLA.device())
    optimizer = OPTIMIZERS[name](model.parameters())
    before = XLA.counts()
    history = Loop(model, optimizer, squares, log_every=100, clip_norm=5.0).train(batches, epochs=1)
    work = XLA.counts().since(before)
    assert work.compiles == 1, "the first step has the graph of the others, and nothing was compiled before it"
    assert (work.reads, work.extra_launches) == (1, 0), "the read is that of the log, at the end"

    plain = line(width)
    reference = OPTIMIZERS[name](plain.parameters())
    losses = by_hand(plain, reference, batches, clip_norm=5.0)
    assert history.column("loss") == pytest.approx([sum(losses) / 6], rel=1e-5)
    assert steps_of(optimizer) == steps_of(reference)
    if name not in TO_THE_BIT:
        return
    on_xla = line(width).to(XLA.device())
    same = OPTIMIZERS[name](on_xla.parameters())
    by_hand(on_xla, same, on_device(batches), clip_norm=5.0)
    assert_same_state(optimizer, same)


def on_device(batches: Iterable[dict[str, torch.Tensor]]) -> Iterator[dict[str, torch.Tensor]]:
    for batch in batches:
        yield {name: tensor.to(XLA.device()) for name, tensor in batch.items()}


def assert_same_state(optimizer: torch.optim.Optimizer, expected: torch.optim.Optimizer) -> None:
    """Bit for bit, all parameters and all that belongs to them."""
    ours, theirs = optimizer.state_dict()["state"], expected.state_dict()["state"]
    assert [*ours] == [*theirs]
    for number, state in theirs.items():
        assert sorted(ours[number]) == sorted(state)
        for key, value in state.items():
            assert (value is None) or torch.equal(ours[number][key].cpu(), value.cpu()), key
            assert (value is None) or ours[number][key].device == value.device, key
    for group, other in zip(optimizer.param_groups, expected.param_groups, strict=True):
        for parameter, same in zip(group["params"], other["params"], strict=True):
            assert torch.equal(parameter.cpu(), same.cpu())


def steps_of(optimizer: torch.optim.Optimizer) -> list[float]:
    return [float(state["step"]) for state in optimizer.state.values() if "step" in state]


# ---------------------------------------------------------------- numbers that change


def warmup_and_cosine(optimizer: torch.optim.Optimizer) -> Any:
    """From 0 up to the rate in 3 steps, and down to 0 at the 12th."""

    def factor(step: int) -> float:
        return step / 3 if step < 3 else max(0.0, 0.5 * (1 + math.cos(math.pi * (step - 3) / 8)))

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def one_cycle_of(steps: int, optimizer: torch.optim.Optimizer) -> Any:
    return torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.05, total_steps=steps)


STEPS = 10
SCHEDULERS: dict[str, Callable[[Any], Any]] = {
    "LambdaLR": warmup_and_cosine,
    "OneCycleLR": lambda o: torch.optim.lr_scheduler.OneCycleLR(o, 1.0, STEPS),
    "CosineAnnealingLR": lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, STEPS - 1),
    "LinearLR": lambda o: torch.optim.lr_scheduler.LinearLR(o, 1.0, 0.0, STEPS - 2),
    "CyclicLR": lambda o: torch.optim.lr_scheduler.CyclicLR(o, 0.0, 1.0, 3, cycle_momentum=False),
}
SPECIAL = {"LambdaLR": (0.0, 1.0), "CosineAnnealingLR": (0.0, 1.0), "LinearLR": (0.0, 1.0), "CyclicLR": (0.0, 1.0)}
"""Rates that come up, and that torch_xla makes constants."""
SCHEDULED: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "SGD": lambda p: torch.optim.SGD(p, 1.0, momentum=0.9, weight_decay=0.1),
    "Adam": lambda p: torch.optim.Adam(p, 1.0, weight_decay=0.01),
    "AdamW": lambda p: torch.optim.AdamW(p, 1.0, weight_decay=0.1),
    "RMSprop": lambda p: torch.optim.RMSprop(p, 1.0, momentum=0.5),
}


@pytest.mark.parametrize("kind", SCHEDULERS)
@pytest.mark.parametrize("name", SCHEDULED)
def test_schedules_are_inputs_of_the_graph(name: str, kind: str) -> None:
    """Also a rate of 0 or 1, at the first step, between, and at the last. OneCycleLR changes momentum and beta, too."""
    width = 260 + 5 * [*SCHEDULED].index(name) + [*SCHEDULERS].index(kind)
    schedule = SCHEDULERS[kind]
    batches = [{key: 0.01 * tensor for key, tensor in batch.items()} for batch in regression(width, STEPS)]
    model = line(width).to(XLA.device())
    optimizer = SCHEDULED[name](model.parameters())
    before = XLA.counts()
    loop = Loop(model, optimizer, squares, scheduler=schedule(optimizer), log_every=1)
    history = loop.train(batches, epochs=1)
    work = XLA.counts().since(before)
    assert (work.compiles, work.reads, work.extra_launches) == (1, STEPS, 0)
    plain = line(width)
    reference = SCHEDULED[name](plain.parameters())
    scheduler = schedule(reference)
    rates = []

    def noted(model: Any, batch: Any) -> torch.Tensor:
        rates.append(scheduler.get_last_lr()[0])
        return squares(model, batch)

    losses = by_hand(plain, reference, batches, noted, scheduler)
    assert history.column("loss") == pytest.approx(losses, rel=1e-4)
    assert history.column("lr") == rates and {*SPECIAL.get(kind, ())} <= {*rates}
    assert type(optimizer.param_groups[0]["lr"]) is float
    assert optimizer.param_groups[0]["lr"] == reference.param_groups[0]["lr"]


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_a_weight_decay_that_changes_is_an_input_also_at_0_and_1(name: str) -> None:
    width = 285 + ["SGD", "Adam", "AdamW"].index(name)
    decays = [0.04, 0.3, 1.0, 0.4, 0.0, 0.2]

    def decayed(optimizer: torch.optim.Optimizer) -> Callable[[Any, Any], torch.Tensor]:
        left = iter(decays)

        def loss_of(model: Any, batch: Any) -> torch.Tensor:
            optimizer.param_groups[0]["weight_decay"] = next(left)
            return squares(model, batch)

        return loss_of

    model, plain = line(width).to(XLA.device()), line(width)
    optimizer, reference = (getattr(torch.optim, name)(each.parameters(), 0.001) for each in (model, plain))
    before = XLA.compile_count()
    losses = Loop(model, optimizer, decayed(optimizer), log_every=1).train(regression(width, 6), epochs=1)
    assert XLA.compile_count() == before + 1
    expected = by_hand(plain, reference, regression(width, 6), decayed(reference))
    assert losses.column("loss") == pytest.approx(expected, rel=1e-4)
    assert optimizer.param_groups[0]["weight_decay"] == 0.2


@pytest.mark.parametrize("make", [torch.optim.SGD, torch.optim.AdamW])
def test_a_rate_that_is_a_tensor_is_an_input_also_at_0_and_1(make: Any) -> None:
    width = 224 + (make is torch.optim.AdamW)
    model, plain = line(width).to(XLA.device()), line(width)
    optimizer, reference = (make(each.parameters(), torch.tensor(0.01)) for each in (model, plain))

    def schedule(optimizer: torch.optim.Optimizer) -> Any:
        return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: (0.0, 1.0, 2.0, 100.0, 0.5, 0.0)[step % 6])

    before = XLA.compile_count()
    loop = Loop(model, optimizer, squares, scheduler=schedule(optimizer), clip_norm=1.0, log_every=1)
    losses = loop.train(regression(width, 6), epochs=1).column("loss")
    assert XLA.compile_count() == before + 1
    expected = by_hand(plain, reference, regression(width, 6), scheduler=schedule(reference), clip_norm=1.0)
    assert losses == pytest.approx(expected, rel=1e-4)
    assert loop.history.column("lr") == pytest.approx([0.0, 0.01, 0.02, 1.0, 0.005, 0.0])
    assert torch.is_tensor(optimizer.param_groups[0]["lr"])


@pytest.mark.parametrize("kind", ["of the batch", "of one element"])
def test_a_weight_of_a_loss_that_changes_is_an_input_where_it_is_a_tensor(kind: str) -> None:
    weights = [0.0, 0.25, 1.0, -1.0, 0.5]
    width = 226 + ["of the batch", "of one element"].index(kind)
    batches = [
        {**batch, "weight": torch.tensor(weight), "number": weight}
        for batch, weight in zip(regression(width, 5), weights, strict=True)
    ]

    def loss_of(model: Any, batch: Any) -> torch.Tensor:
        x = batch["x"]
        weight = batch["weight"] if kind == "of the batch" else torch.tensor([batch["number"]], device=x.device)[0]
        found: torch.Tensor = squares(model, batch) + weight * model(x).abs().mean()
        return found

    model, plain = line(width).to(XLA.device()), line(width)
    before = XLA.counts()
    losses = Loop(model, torch.optim.SGD(model.parameters(), 0.002), loss_of, log_every=1).train(batches, epochs=1)
    work = XLA.counts().since(before)
    assert (work.compiles, work.reads, work.extra_launches) == (1, 5, 0)
    expected = by_hand(plain, torch.optim.SGD(plain.parameters(), 0.002), batches, loss_of)
    assert losses.column("loss") == pytest.approx(expected, rel=1e-5)


def test_groups_that_start_at_the_same_rate_and_part_are_one_program() -> None:
    def optimizer_of(model: torch.nn.Module) -> torch.optim.Optimizer:
        first, *rest = model.parameters()
        return torch.optim.SGD([{"params": [first], "lr": 0.01}, {"params": rest, "lr": 0.05}])

    model, plain = perceptron(230).to(XLA.device()), perceptron(230)
    optimizer, reference = optimizer_of(model), optimizer_of(plain)
    before = XLA.compile_count()
    loop = Loop(model, optimizer, squares, scheduler=warmup_and_cosine(optimizer), log_every=1)
    losses = loop.train(regression(230, 6), epochs=1).column("loss")
    assert XLA.compile_count() == before + 1
    expected = by_hand(plain, reference, regression(230, 6), scheduler=warmup_and_cosine(reference))
    assert losses == pytest.approx(expected, rel=1e-4)


def two_groups(kind: str, model: torch.nn.Module) -> torch.optim.Optimizer:
    first, second = model.parameters()
    groups = [{"params": [first], "lr": 0.01}, {"params": [second], "lr": 0.02, "weight_decay": 0.3}]
    optimizer: torch.optim.Optimizer = getattr(torch.optim, kind)(groups, weight_decay=0.1)
    return optimizer


def crossing(optimizer: torch.optim.Optimizer) -> Any:
    """Rates of two groups that are equal in the third step, and never else."""
    return torch.optim.lr_scheduler.LambdaLR(optimizer, [lambda step: 1.0 + step, lambda step: 2.5 - 0.5 * step])


@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])
def test_groups_whose_numbers_are_equal_in_one_step_are_one_program(kind: str) -> None:
    width = 170 + ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"].index(kind)
    decays = {1: 0.2, 4: 0.1}  # of the second group

    def cross(optimizer: torch.optim.Optimizer) -> Callable[[Any, Any], torch.Tensor]:
        steps = iter(range(6))

        def loss_of(model: Any, batch: Any) -> torch.Tensor:
            group = optimizer.param_groups[1]
            group["weight_decay"] = decays.get(next(steps), group["weight_decay"])
            return squares(model, batch)

        return loss_of

    model = line(width).to(XLA.device())
    optimizer = two_groups(kind, model)
    before = XLA.compile_count()
    Loop(model, optimizer, cross(optimizer), scheduler=crossing(optimizer)).train(regression(width, 6), epochs=1)
    assert XLA.compile_count() == before + 1
    same = line(width).to(XLA.device())
    reference = two_groups(kind, same)
    by_hand(same, reference, on_device(regression(width, 6)), cross(reference), crossing(reference))
    assert_same_state(optimizer, reference)


@pytest.mark.parametrize("begin", [150, 330, 710])
def test_bias_correction_that_has_grown_to_one_is_no_new_program(begin: int) -> None:
    """With a beta of 0.9 it is 1 as a float32 from step 158 on, with 0.95 from step 338, as a float64 from step 717."""
    width = 231 + begin
    model = line(width).to(XLA.device())
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, betas=(0.9, 0.95))
    loop = Loop(model, optimizer, squares)
    loop.prepare()
    for state in optimizer.state.values():
        state["step"].fill_(begin)
    before = XLA.compile_count()
    loop.train(regression(width, 12), epochs=1)
    assert XLA.compile_count() == before + 1


@pytest.mark.parametrize("begin", [150, 330])
def test_layers_that_have_taken_other_numbers_of_steps_are_one_program_on_and_on(begin: int) -> None:
    """One was unfrozen later. Their bias corrections are equal as soon as both are 1."""
    width = 178 + begin
    model = line(width).to(XLA.device())
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    Loop(model, optimizer, squares).prepare()
    for late, state in enumerate(optimizer.state.values()):
        state["step"].fill_(begin + 8 * late)
    before = XLA.compile_count()
    Loop(model, optimizer, squares).train(regression(width, 20), epochs=1)
    assert XLA.compile_count() == before + 1


def test_a_layer_that_had_no_gradient_once_is_one_program_on_and_on() -> None:
    """Bias corrections of 0.5 are 1 from step 54 on, and those of all layers are equal then."""

    def loss_of(model: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        skips_one = loop.steps == 1
        return squares(model[1:] if skips_one else model, batch)

    torch.manual_seed(31)
    model = torch.nn.Sequential(*[torch.nn.Linear(31, 31) for _ in range(2)]).to(XLA.device())
    loop = Loop(model, torch.optim.AdamW(model.parameters(), 1e-3, betas=(0.5, 0.5)), loss_of)
    batch = {name: value.to(XLA.device()) for name, value in {"x": torch.randn(4, 31), "y": torch.randn(4, 31)}.items()}
    for _ in range(3):
        loop.step([batch])
    before = XLA.compile_count()
    for _ in range(57):
        loop.step([batch])
    assert XLA.compile_count() == before


def test_steps_that_an_optimizer_counts_on_the_device_are_not_read() -> None:
    model = line(27).to(XLA.device())
    parameter = next(model.parameters())
    optimizer = torch.optim.Adam(model.parameters())
    optimizer.state[parameter]["step"] = XLA.send([torch.zeros(1)])[0]
    parameter.grad = torch.zeros_like(parameter)
    before = XLA.counts().reads
    with VaryingNumbers(optimizer, XLA):
        pass
    assert XLA.counts().reads == before


def test_rate_of_zero_leaves_every_bit() -> None:
    model = perceptron(240)
    torch.nn.init.zeros_(model[0].bias)
    model.to(XLA.device())
    expected = [parameter.cpu().clone() for parameter in model.parameters()]
    for optimizer in (torch.optim.SGD(model.parameters(), 0.0), torch.optim.AdamW(model.parameters(), 0.0)):
        Loop(model, optimizer, squares).train(regression(240, 2), epochs=1)
    for parameter, before in zip(model.parameters(), expected, strict=True):
        assert torch.equal(parameter.cpu(), before)


# ---------------------------------------------------------------- which parameter uses which number


def layers_of_one_shape() -> torch.nn.Module:
    torch.manual_seed(71)
    return torch.nn.Sequential(*[torch.nn.Linear(71, 71, bias=False) for _ in range(4)])


def assert_learns_as_on_the_cpu(
    optimizer_of: Callable[[torch.nn.Module], torch.optim.Optimizer],
    steps: int,
    prepare: Callable[[torch.nn.Module, int], None] = lambda model, step: None,
) -> None:
    """A program of other groups moves parameters by a thousandth and more.

    Where a gradient is next to nothing, Adam makes 1e-5 of what processors round differently.
    """
    x, y = torch.randn(8, 71, generator=torch.Generator().manual_seed(71)), torch.ones(8, 71)
    model, plain = layers_of_one_shape().to(XLA.device()), layers_of_one_shape()
    optimizer, reference = optimizer_of(model), optimizer_of(plain)
    loop = Loop(model, optimizer, lambda model, batch: F.mse_loss(model(batch[0]), batch[1]))
    for step in range(steps):
        prepare(model, step)
        prepare(plain, step)
        loop.step([(x.to(XLA.device()), y.to(XLA.device()))])
        F.mse_loss(plain(x), y).backward()
        reference.step()
        reference.zero_grad()
    for ours, expected in zip(model.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(ours.cpu(), expected, rtol=0.0, atol=1e-4)


@pytest.mark.parametrize("decays", [[0.5, 0.1, 0.5, 0.1], [0.5, 0.1, 0.1, 0.1], [0.5, 0.1, 0.1, 0.5]], ids=str)
def test_each_training_of_a_process_runs_its_own_program(decays: list[float]) -> None:
    """Two decays, divided among four layers of one shape: graphs that differ only in which layer has which."""

    def optimizer_of(model: torch.nn.Module) -> torch.optim.Optimizer:
        groups = zip(model.parameters(), decays, strict=True)
        return torch.optim.AdamW([{"params": [layer], "weight_decay": decay} for layer, decay in groups], 1e-2)

    assert_learns_as_on_the_cpu(optimizer_of, 4)


def test_layers_that_are_frozen_in_turn_have_their_own_numbers_of_steps() -> None:
    """Adam computes from how often a layer was trained: second and last once less, then the third once less, too. With
    a first beta of 0, as GANs have it, or after 350 steps with 0.9, a single number tells so."""

    def prepare(model: torch.nn.Module, step: int) -> None:
        frozen = {2: (1, 3), 5: (2,)}.get(step, ())
        for number, layer in enumerate(model.parameters()):
            layer.requires_grad_(number not in frozen)

    assert_learns_as_on_the_cpu(lambda model: torch.optim.Adam(model.parameters(), 1e-2, betas=(0.0, 0.99)), 8, prepare)


# ---------------------------------------------------------------- gradients


def weighted(model: Any, batch: dict[str, torch.Tensor]) -> Tally:
    return tally((model(batch["x"]) - batch["y"]) ** 2)


def test_accumulation_is_one_program_a_shape_and_one_for_the_update() -> None:
    """Batches of two shapes in all combinations, and one left over at the end: the update is that of all rows."""
    rows = [8, 3, 8, 8, 3, 3, 3, 8, 8, 8]
    batches = [regression(241, number, count)[-1] for number, count in enumerate(rows, start=1)]
    model, plain = perceptron(241).to(XLA.device()), perceptron(241)
    before = XLA.counts()
    loop = Loop(model, torch.optim.AdamW(model.parameters(), 0.01), weighted, accumulate=3, clip_norm=9.0, log_every=1)
    losses = loop.train(batches, epochs=1).column("loss")
    work = XLA.counts().since(before)
    assert work.compiles == 2 + 1
    assert (loop.steps, work.reads, work.extra_launches) == (4, 4, 0)
    together = [
        {name: torch.cat([batch[name] for batch in batches[at : at + 3]]) for name in ("x", "y")}
        for at in range(0, len(batches), 3)
    ]
    expected = by_hand(plain, torch.optim.AdamW(plain.parameters(), 0.01), together, clip_norm=9.0)
    assert losses == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("accumulate", [1, 2])
@pytest.mark.parametrize("name", ["SGD, momentum", "Adam"])
def test_what_is_trained_from_some_step_on_is_one_program_more(name: str, accumulate: int) -> None:
    """A layer that is unfrozen, and one that comes in a group of its own."""
    width = 72 + 2 * accumulate + (name == "Adam")
    model = perceptron(width)
    model[0].requires_grad_(False)
    model.to(XLA.device())
    first, second = model[0].parameters(), model[2].parameters()
    optimizer = OPTIMIZERS[name]([*first, next(second)])
    loop = Loop(model, optimizer, weighted, accumulate=accumulate)
    compiles = []
    for number in range(9):
        if number == 3:
            model[0].requires_grad_(True)
        if number == 6:
            optimizer.add_param_group({"params": [*second]})
        before = XLA.compile_count()
        loop.step([*on_device(regression(width, accumulate))])
        compiles.append(XLA.compile_count() - before)
    each = 1 if accumulate == 1 else 2  # the update has a program of its own
    assert compiles == [each, 0, 0, each, 0, 0, each, 0, 0]


def test_gradients_that_no_optimizer_takes_are_not_computed() -> None:
    """The head of a model is trained, and nobody has frozen the rest."""
    model = perceptron(78).to(XLA.device())
    loop = Loop(model, torch.optim.Adam(model[2].parameters(), 0.01), squares)
    before = XLA.compile_count()
    for batch in on_device(regression(78, 3)):
        loop.step([batch])
        assert all(parameter.grad is None for parameter in model.parameters())
    assert XLA.compile_count() == before + 1


class Two(torch.nn.Module):
    """Two ways through, of which a batch takes one, and weights that are not trained."""

    def __init__(self, width: int) -> None:
        super().__init__()
        torch.manual_seed(width)
        self.frozen = torch.nn.Linear(width, 4).requires_grad_(False)
        self.ways = torch.nn.ModuleList([torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)])

    def forward(self, x: torch.Tensor, way: int) -> torch.Tensor:
        found: torch.Tensor = self.ways[way](self.frozen(x))
        return found


@pytest.mark.parametrize("accumulate", [1, 2])
def test_parameters_without_a_gradient_are_left_alone(accumulate: int) -> None:
    width = 242 + accumulate
    data = regression(width, 8)
    ways = [0, 0, 1, 1, 0, 0, 1, 1]

    def loss_of(model: Any, batch: Any) -> torch.Tensor:
        return F.mse_loss(model(batch["x"], batch["way"]), batch["y"])

    batches = [{**batch, "way": way} for batch, way in zip(data, ways, strict=True)]
    model, plain = Two(width).to(XLA.device()), Two(width)
    optimizer = torch.optim.AdamW(model.parameters(), 0.01, weight_decay=0.5)
    Loop(model, optimizer, loss_of, accumulate=accumulate).train(batches, epochs=1)
    reference = torch.optim.AdamW(plain.parameters(), 0.01, weight_decay=0.5)
    for at in range(0, 8, accumulate):
        reference.zero_grad()
        for batch in batches[at : at + accumulate]:
            (loss_of(plain, batch) / accumulate).backward()
        reference.step()
    for parameter, expected in zip(model.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(parameter.cpu(), expected, rtol=1e-4, atol=1e-6)
    assert steps_of(optimizer) == steps_of(reference) == [4 / accumulate] * 4
    assert not {id(parameter) for parameter in model.frozen.parameters()} & {id(key) for key in optimizer.state}


# ---------------------------------------------------------------- models


class Convolutional(torch.nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        torch.manual_seed(width)
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(1, 4, 3, padding=1),
            torch.nn.BatchNorm2d(4),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(2),
            torch.nn.Flatten(),
            torch.nn.Linear(4 * 3 * (width // 2), 5),
        )

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.layers(images)
        return found


def classes(model: Any, batch: Any) -> torch.Tensor:
    return F.cross_entropy(model(batch[0]), batch[1])


def cast(loss_of: Callable[[Any, Any], torch.Tensor], bf16: bool) -> Callable[[Any, Any], torch.Tensor]:
    """For a loop by hand on the CPU, whose forward pass is under autocast."""

    def found(model: Any, batch: Any) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            return loss_of(model, batch)

    return found


@pytest.mark.parametrize(("bf16", "tolerance"), [(False, 2e-5), (True, 2e-2)], ids=["float32", "bfloat16"])
def test_perceptron_learns_as_on_the_cpu(bf16: bool, tolerance: float) -> None:
    width = 66 + bf16
    batches = [(batch["x"], (batch["y"] > 0).long().squeeze(1)) for batch in regression(width, 8)]

    def made() -> torch.nn.Module:
        torch.manual_seed(width)
        layers = [torch.nn.Linear(width, 16), torch.nn.ReLU(), torch.nn.Linear(16, 16), torch.nn.ReLU()]
        return torch.nn.Sequential(*layers, torch.nn.Linear(16, 2))

    model, plain = made().to(XLA.device()), made()
    before = XLA.counts()
    loop = Loop(model, torch.optim.SGD(model.parameters(), 0.1, momentum=0.9), classes, bf16=bf16, log_every=1)
    losses = loop.train(batches, epochs=2).column("loss")
    work = XLA.counts().since(before)
    assert (work.compiles, work.reads, work.extra_launches) == (1, 16, 0)
    reference = torch.optim.SGD(plain.parameters(), 0.1, momentum=0.9)
    expected = by_hand(plain, reference, batches * 2, cast(classes, bf16))
    assert losses == pytest.approx(expected, rel=tolerance)
    assert expected[-1] < 0.9 * expected[0]


@pytest.mark.parametrize(("bf16", "tolerance"), [(False, 1e-3), (True, 2e-2)], ids=["float32", "bfloat16"])
def test_convolutional_network_learns_as_on_the_cpu(bf16: bool, tolerance: float) -> None:
    width = 244 + 2 * bf16
    generator = torch.Generator().manual_seed(width)
    images, labels = torch.randn(48, 1, 6, width, generator=generator), torch.arange(48) % 5
    batches = [(images[at : at + 8], labels[at : at + 8]) for at in range(0, 48, 8)]
    model, plain = Convolutional(width).to(XLA.device()), Convolutional(width)
    XLA.sync()  # the counter of batch normalisation, a number without dimensions, is pending after .to()
    before = XLA.counts()
    optimizer = torch.optim.SGD(model.parameters(), 0.002, momentum=0.9)
    losses = Loop(model, optimizer, classes, bf16=bf16, log_every=1).train(batches, epochs=2).column("loss")
    work = XLA.counts().since(before)
    assert (work.compiles, work.reads, work.extra_launches) == (1, 12, 0)
    reference = torch.optim.SGD(plain.parameters(), 0.002, momentum=0.9)
    assert losses == pytest.approx(by_hand(plain, reference, batches * 2, cast(classes, bf16)), rel=tolerance)
    statistics = model.layers[1].running_mean.cpu()
    torch.testing.assert_close(statistics, plain.layers[1].running_mean, rtol=tolerance, atol=1e-3 if bf16 else 1e-5)


class Speaker(torch.nn.Module):
    """A transformer of one layer, for next tokens."""

    def __init__(self, width: int) -> None:
        super().__init__()
        torch.manual_seed(width)
        self.embedding = torch.nn.Embedding(40, width)
        self.mixed = torch.nn.Linear(width, 3 * width)
        self.norm = torch.nn.LayerNorm(width)
        self.wide = torch.nn.Sequential(torch.nn.Linear(width, 2 * width), torch.nn.GELU())
        self.head = torch.nn.Linear(2 * width, 40)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        hidden = self.embedding(ids)
        q, k, v = self.mixed(hidden).unsqueeze(1).chunk(3, -1)
        hidden = self.norm(hidden + F.scaled_dot_product_attention(q, k, v, is_causal=True).squeeze(1))
        found: torch.Tensor = self.head(self.wide(hidden))
        return found


def sentences(count: int) -> list[torch.Tensor]:
    return [(torch.arange(2 + index * 37 % 22) * 7 + index) % 39 + 1 for index in range(count)]


def text_loader(count: int = 45, batch_size: int = 8) -> DataLoader[Any]:
    data = sentences(count)
    sampler = BucketBatchSampler([len(sentence) for sentence in data], [12, 24], batch_size, seed=3)
    collate = PadLastBatch(batch_size, collate=Buckets([12, 24]))
    return DataLoader(data, batch_sampler=sampler, collate_fn=collate)  # type: ignore[arg-type]


def next_tokens(model: Any, batch: Any) -> Tally:
    (ids, mask), _rows = batch
    return tally_cross_entropy(model(ids[:, :-1]), ids[:, 1:], mask[:, 1:])


def spoken(model: torch.nn.Module, epochs: int, bf16: bool) -> list[float]:
    """Losses of plain PyTorch on the same ragged batches, as it comes to the same: the mean over the real tokens."""

    def loss_of(model: Any, batch: Any) -> torch.Tensor:
        (ids, mask), _rows = batch
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            logits = model(ids[:, :-1])
        return F.cross_entropy(logits.float()[mask[:, 1:]], ids[:, 1:][mask[:, 1:]])

    loader = text_loader()
    batches = []
    for epoch in range(epochs):
        loader.batch_sampler.set_epoch(epoch)  # type: ignore[union-attr]
        batches += [*loader]
    return by_hand(model, torch.optim.SGD(model.parameters(), 0.2), batches, loss_of)


@pytest.mark.parametrize(("bf16", "tolerance"), [(False, 2e-5), (True, 2e-2)], ids=["float32", "bfloat16"])
def test_transformer_learns_ragged_text_as_on_the_cpu(bf16: bool, tolerance: float) -> None:
    width = 46 + 2 * bf16
    model = Speaker(width).to(XLA.device())
    before = XLA.counts()
    loop = Loop(model, torch.optim.SGD(model.parameters(), 0.2), next_tokens, bf16=bf16, log_every=5)
    history = loop.train(text_loader(), epochs=3)
    work = XLA.counts().since(before)
    assert work.compiles == 2, "one for each bucket"
    assert (work.reads, work.extra_launches) == (-(-loop.steps // 5), 0)
    assert not any(work.fallbacks.values()), work.fallbacks
    losses = spoken(Speaker(width), 3, bf16)
    assert len(losses) == loop.steps > 15
    # Means of five steps each, by tokens: plain PyTorch's have to be weighted the same way.
    tokens = []
    loader = text_loader()
    for epoch in range(3):
        loader.batch_sampler.set_epoch(epoch)  # type: ignore[union-attr]
        tokens += [int(mask[:, 1:].sum()) for (_, mask), _ in loader]
    expected = []
    for at in range(0, len(losses), 5):
        pairs = [*zip(losses[at : at + 5], tokens[at : at + 5], strict=True)]
        expected.append(sum(loss * count for loss, count in pairs) / sum(count for _, count in pairs))
    assert history.column("loss") == pytest.approx(expected, rel=tolerance)
    assert losses[-1] < 0.8 * losses[0]


# ---------------------------------------------------------------- the whole loop


def words(model: Any, batch: Any) -> dict[str, Tally]:
    (ids, mask), _rows = batch
    logits = model(ids[:, :-1])
    return {
        "loss": tally_cross_entropy(logits, ids[:, 1:], mask[:, 1:]),
        "accuracy": tally_correct(logits, ids[:, 1:], mask[:, 1:]),
    }


def test_evaluation_is_right_over_a_padded_batch_and_reads_once() -> None:
    model, plain = Speaker(50).to(XLA.device()), Speaker(50)
    before = XLA.counts()
    found = evaluate(model, text_loader(), words)
    again = evaluate(model, text_loader(), words)
    work = XLA.counts().since(before)
    assert (work.compiles, work.reads, work.extra_launches) == (2, 2, 0) and found == again
    total, right, count = 0.0, 0.0, 0
    with torch.no_grad():
        for sentence in sentences(45):
            logits = plain(sentence[None, :-1])[0]
            total += F.cross_entropy(logits, sentence[1:], reduction="sum").item()
            right += (logits.argmax(-1) == sentence[1:]).sum().item()
            count += len(sentence) - 1
    assert found["loss"] == pytest.approx(total / count, rel=1e-5)
    assert found["accuracy"] == pytest.approx(right / count)


class Guarded(Callback):
    """A guard of recompilations as a callback."""

    def __init__(self) -> None:
        self.guard = RecompileGuard(mode="raise", warmup=0, budget=2)

    def on_train_begin(self, loop: Loop) -> None:
        self.guard.__enter__()

    def on_step_begin(self, batch: Any) -> None:
        self.guard.step(batch)

    def on_train_end(self) -> None:
        self.guard.__exit__(None, None, None)

    def expected(self) -> Any:
        return self.guard.expected()


def test_whole_loop_has_no_hidden_host_sync(tmp_path: Path) -> None:
    """With a bar, evaluations, early stopping, checkpoints and further values to log."""
    model = Speaker(52).to(XLA.device())
    optimizer = torch.optim.AdamW(model.parameters(), 0.01)

    def loss_of(model: Any, batch: Any) -> Any:
        tallies = words(model, batch)
        return tallies["loss"], {"accuracy": tallies["accuracy"], "entropy": tallies["loss"].mean()}

    guarded, shown = Guarded(), io.StringIO()
    bar = Progress(Console(file=shown, force_terminal=True, width=200))
    loop = Loop(
        model, optimizer, loss_of, scheduler=warmup_and_cosine(optimizer), clip_norm=1.0, log_every=4,
        callbacks=[guarded, bar, EarlyStopping("loss", patience=9)],
    )  # fmt: skip
    with Checkpoints(tmp_path, every=5) as checkpoints:
        loop.train(text_loader(), epochs=3, evaluation=Evaluation(text_loader(), words), checkpoints=checkpoints)
    report = guarded.guard.report()
    assert report.steps == loop.steps and report.compiles == report.layouts == 2, str(report)
    assert (report.waits, report.reads, report.extra_launches) == (0, 0, 0), str(report)
    assert len(loop.history.evaluations) == 3
    assert {"loss", "accuracy", "entropy", "grad_norm", "lr"} == {*loop.history.records[0].values}
    assert "accuracy" in shown.getvalue() and f"{loop.steps}/{loop.steps}" in shown.getvalue()


def test_interrupted_loop_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    class Interrupt(Callback):
        loop: Loop

        def on_train_begin(self, loop: Loop) -> None:
            self.loop = loop

        def on_step_end(self) -> None:
            if self.loop.steps == 12:
                raise KeyboardInterrupt

    def run(folder: str, *callbacks: Callback) -> Loop:
        model = Speaker(54).to(XLA.device())
        optimizer = torch.optim.AdamW(model.parameters(), 0.01)
        loop = Loop(
            model, optimizer, next_tokens, scheduler=one_cycle_of(40, optimizer), log_every=4, callbacks=callbacks
        )
        with Checkpoints(tmp_path / folder, every=3) as checkpoints:
            loop.train(text_loader(), epochs=3, checkpoints=checkpoints)
        return loop

    whole = run("whole")
    with pytest.raises(KeyboardInterrupt):
        run("parts", Interrupt())
    before = XLA.compile_count()
    resumed = run("parts")
    assert XLA.compile_count() == before, "a resumed step is the graph of any step"
    assert resumed.steps == whole.steps
    assert [(record.step, record.values) for record in resumed.history.records] == [
        (record.step, record.values) for record in whole.history.records
    ]
    for parameter, expected in zip(resumed.model.parameters(), whole.model.parameters(), strict=True):
        assert torch.equal(parameter.cpu(), expected.cpu())


def test_sigterm_amid_an_evaluation_moves_no_random_numbers_of_the_device(tmp_path: Path) -> None:
    """Each boundary does, those of an evaluation too: broken off and made again, it has to begin where it had begun."""

    def run(folder: str, told_at: int = -1) -> tuple[Loop, int]:
        batches = 0

        def tallies_of(model: Any, batch: Any) -> dict[str, Tally]:
            nonlocal batches
            batches += 1
            if batches == told_at:
                os.kill(os.getpid(), signal.SIGTERM)
            return {"loss": weighted(model, batch)}

        torch.manual_seed(58)
        model = torch.nn.Sequential(torch.nn.Dropout(0.5), line(58)).to(XLA.device())
        XLA.seed(3)
        data = regression(58, 6)
        loop = Loop(model, torch.optim.AdamW(model.parameters(), 0.01), squares, log_every=1)
        sampler = EpochBatchSampler(len(data), 1, seed=2)
        loader = DataLoader(
            data, batch_sampler=sampler, collate_fn=lambda samples: samples[0], generator=torch.Generator()
        )  # type: ignore[arg-type, var-annotated]
        evaluation = Evaluation(data[:4], tallies_of, every=3)
        with Checkpoints(tmp_path / folder, every=100) as checkpoints:
            loop.train(loader, epochs=2, evaluation=evaluation, checkpoints=checkpoints)
        return loop, batches

    whole, batches = run("whole")
    assert batches == 4 * 4
    with pytest.raises(Preempted) as end:
        run("parts", told_at=6)
    assert end.value.step == 5
    resumed, batches = run("parts")
    assert batches == 3 * 4
    for name in ("loss", "lr"):
        assert resumed.history.column(name) == whole.history.column(name)
    assert resumed.history.evaluated("loss") == whole.history.evaluated("loss")
    assert_same_state(resumed.optimizer, whole.optimizer)


def test_an_error_of_the_loader_is_raised_at_its_batch() -> None:
    def batches() -> Iterator[Any]:
        yield from regression(56, 3)
        raise OSError("no such file")

    model = perceptron(56).to(XLA.device())
    loop = Loop(model, torch.optim.SGD(model.parameters(), 0.1), squares)
    with pytest.raises(OSError, match="no such file"):
        loop.train(batches(), epochs=1)
    assert loop.steps == 3
    assert not [thread for thread in threading.enumerate() if thread.name == "device batches"]


def test_numbers_of_one_element_that_are_sent_are_no_constants() -> None:
    before = XLA.compile_count()
    x = XLA.send([torch.arange(57.0)])[0]
    for value in (0.0, 1.0, 0.5):
        (factor,) = XLA.send([torch.tensor(value)])
        product = x * factor
        XLA.sync()
        assert product.cpu().sum().item() == value * 57 * 28
    assert XLA.compile_count() == before + 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("compute", [torch.Tensor.mul, torch.Tensor.div])
def test_numbers_are_those_of_the_cpu_in_any_dtype(compute: Any, dtype: torch.dtype) -> None:
    """A program by hand would divide a tensor in bfloat16 by a number that is rounded to bfloat16."""
    x = torch.rand(999).to(dtype)
    (sent,) = XLA.send([x])
    inputs = Inputs(XLA)
    inputs.begin()
    for number in (0.1, 0.00999500374):
        found = compute(sent, inputs.tensor(number, torch.float64 if dtype is torch.float64 else torch.float32))
        assert found.dtype is dtype and torch.equal(found.cpu(), compute(x, number))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("add", ["add", "add_", "addcdiv", "addcdiv_"])
def test_scaled_sums_are_those_of_the_cpu_in_any_dtype(add: str, dtype: torch.dtype) -> None:
    """But for how they round the last bit of a float. A program by hand rounds each product to bfloat16: a tenth of
    the sums are others."""
    total, *terms = (torch.rand(999, generator=torch.Generator().manual_seed(n)).to(dtype) + 0.5 for n in range(3))
    terms, scale = (terms, "value") if "div" in add else (terms[:1], "alpha")
    optimizer = torch.optim.SGD([{"params": [torch.nn.Parameter(torch.ones(()))], "lr": lr} for lr in (0.3, 0.00711)])
    sent = XLA.send([total, *terms])
    with VaryingNumbers(optimizer, XLA):
        numbers = [group["lr"] for group in optimizer.param_groups]
        found = [getattr(sent[0].clone(), add)(*sent[1:], **{scale: number}) for number in numbers]
    expected = [getattr(total.clone(), add)(*terms, **{scale: float(number)}) for number in numbers]
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.dtype is dtype
        torch.testing.assert_close(ours.cpu(), theirs, rtol=4 * torch.finfo(dtype).eps, atol=0.0)
        assert dtype is not torch.bfloat16 or (ours.cpu() != theirs).sum() <= 9  # of 999


@pytest.mark.parametrize("name", ["Adam", "AdamW", "NAdam", "Adagrad", "RAdam"])
def test_optimizers_that_take_many_tensors_at_once_or_divide_by_them(name: str) -> None:
    """Also behind the fifth update, where RAdam divides a number by a tensor."""
    options = {} if name == "RAdam" else {"foreach": True}
    model = line(23).to(XLA.device())
    loop = Loop(model, getattr(torch.optim, name)(model.parameters(), 0.02, **options), squares, log_every=1)
    losses = loop.train(regression(23, 8), epochs=1).column("loss")
    plain = line(23)
    expected = by_hand(plain, getattr(torch.optim, name)(plain.parameters(), 0.02, **options), regression(23, 8))
    assert losses == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("option", ["fused", "capturable"])
def test_kernels_of_cuda_are_refused(option: str) -> None:
    model = perceptron(24).to(XLA.device())
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    optimizer.param_groups[0][option] = True
    with pytest.raises(ValueError, match=f"{option}=True is for CUDA"):
        Loop(model, optimizer, squares)


def test_a_rate_on_the_device_is_refused() -> None:
    model = perceptron(25).to(XLA.device())
    optimizer = torch.optim.SGD(model.parameters(), torch.tensor(0.1).to(XLA.device()))
    with pytest.raises(ValueError, match="the learning rate is a tensor on the device, read in every step: give a nu"):
        Loop(model, optimizer, squares)
