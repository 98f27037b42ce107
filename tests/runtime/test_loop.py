"""The training loop on the CPU, where nothing is traced: the numbers of a loop written by hand, and the same hooks."""

from __future__ import annotations

import copy
import io
import os
import random
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from rich.console import Console
from torch.utils.data import DataLoader, TensorDataset
from tpulint_runtime import (
    BucketBatchSampler,
    Callback,
    CheckpointError,
    Checkpoints,
    EarlyStopping,
    EpochBatchSampler,
    Evaluation,
    Loop,
    PadLastBatch,
    Preempted,
    Progress,
    Record,
    Tally,
    evaluate,
    tally,
)
from tpulint_runtime.backend import Place, PlainBackend, XlaBackend
from tpulint_runtime.checkpoint.folder import Folder
from tpulint_runtime.loop import device_batches
from tpulint_runtime.loop.optimizer_numbers import VaryingNumbers
from tpulint_runtime.loop.varying import Inputs, Varying


@pytest.fixture(autouse=True)
def started(xla_started: None) -> None:
    """Gradients are computed on the CPU."""


def model_of(seed: int = 0) -> torch.nn.Module:
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Tanh(), torch.nn.Dropout(0.1), torch.nn.Linear(5, 1))


def data(samples: int = 40) -> TensorDataset:
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(samples, 6, generator=generator)
    return TensorDataset(x, x.sum(1, keepdim=True))


def batches(count: int = 10, rows: int = 4) -> list[Any]:
    return [*DataLoader(data(count * rows), batch_size=rows)]


def squares(model: Any, batch: Any) -> torch.Tensor:
    return F.mse_loss(model(batch[0]), batch[1])


def weighted(model: Any, batch: Any) -> Tally:
    return tally((model(batch[0]) - batch[1]) ** 2)


def loop_of(loss_of: Any = squares, model: torch.nn.Module | None = None, **settings: Any) -> Loop:
    model = model or model_of()
    return Loop(model, torch.optim.AdamW(model.parameters(), 0.01), loss_of, **settings)


# ---------------------------------------------------------------- what it computes


def test_every_bit_is_that_of_a_loop_by_hand() -> None:
    loop = loop_of(log_every=1, clip_norm=0.5)
    loop.scheduler = torch.optim.lr_scheduler.OneCycleLR(loop.optimizer, 0.1, total_steps=21)
    torch.manual_seed(1)
    history = loop.train(batches(), epochs=2)

    model = model_of()
    optimizer = torch.optim.AdamW(model.parameters(), 0.01)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=21)
    torch.manual_seed(1)
    losses, norms, rates = [], [], []
    for batch in batches() * 2:
        optimizer.zero_grad()
        loss = squares(model, batch)
        loss.backward()
        norms.append(float(torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)))
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    assert history.column("loss") == losses
    assert history.column("grad_norm") == norms and history.column("lr") == rates
    assert [record.step for record in history.records] == [*range(1, 21)]
    assert [record.epoch for record in history.records] == [0] * 10 + [1] * 10
    for parameter, expected in zip(loop.model.parameters(), model.parameters(), strict=True):
        assert torch.equal(parameter, expected)
    assert str(loop.optimizer.state_dict()) == str(optimizer.state_dict())


def test_two_networks_against_each_other_are_trained_as_by_hand() -> None:
    """What the step of one leaves behind in the other is no part of the other's next update."""
    torch.manual_seed(0)
    noise, real = torch.randn(12, 4, 3), torch.randn(12, 4, 2)
    networks = [torch.nn.Linear(3, 2), torch.nn.Linear(2, 1)]
    by_hand = [copy.deepcopy(network) for network in networks]

    def fooled(generator: Any, critic: Any, batch: torch.Tensor) -> torch.Tensor:
        return -critic(generator(batch)).mean()

    def told_apart(critic: Any, generator: Any, batch: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        return (critic(generator(batch[0]).detach()) ** 2 + (critic(batch[1]) - 1) ** 2).mean()

    optimizers = [torch.optim.Adam(network.parameters(), 0.05) for network in networks]
    generating = Loop(networks[0], optimizers[0], lambda model, batch: fooled(model, networks[1], batch))
    judging = Loop(networks[1], optimizers[1], lambda model, batch: told_apart(model, networks[0], batch))
    expected = [torch.optim.Adam(network.parameters(), 0.05) for network in by_hand]
    for start, goal in zip(noise, real, strict=True):
        generating.step([start])
        judging.step([(start, goal)])
        for optimizer, loss in ((expected[0], fooled), (expected[1], told_apart)):
            optimizer.zero_grad()
            given = (start,) if loss is fooled else ((start, goal),)
            loss(*(by_hand if loss is fooled else by_hand[::-1]), *given).backward()
            optimizer.step()
    for network, other in zip(networks, by_hand, strict=True):
        for parameter, wanted in zip(network.parameters(), other.parameters(), strict=True):
            assert torch.equal(parameter, wanted)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_tallies_of_unequal_batches_weigh_every_row_alike(dtype: torch.dtype) -> None:
    """Rows of 5, 1 and 2 in one update: that of a batch of 8, and not the mean of their means."""
    x, y = (tensor.to(dtype) for tensor in data(8).tensors)
    parts = [(part_x, part_y) for part_x, part_y in zip(x.split([5, 1, 2]), y.split([5, 1, 2]), strict=True)]
    model, whole = (torch.nn.Linear(6, 1, dtype=dtype) for _ in range(2))
    whole.load_state_dict(model.state_dict())
    loop = Loop(model, torch.optim.SGD(model.parameters(), 0.1), weighted, accumulate=3, log_every=1)
    (loss,) = loop.train(parts, epochs=1).column("loss")
    optimizer = torch.optim.SGD(whole.parameters(), 0.1)
    expected = F.mse_loss(whole(x), y)
    expected.backward()
    optimizer.step()
    tolerance = 1e-12 if dtype is torch.float64 else 2e-2
    torch.testing.assert_close(model.weight, whole.weight, rtol=tolerance, atol=tolerance / 10)
    assert loss == pytest.approx(expected.item(), rel=tolerance)


def test_batches_that_are_left_over_are_an_update_of_their_own() -> None:
    loop = loop_of(accumulate=4)
    loop.train(batches(10), epochs=2)
    assert (loop.steps, loop.epoch) == (6, 2)


@pytest.mark.parametrize("accumulate", [1, 2])
def test_layers_that_are_trained_later_are_trained_as_by_hand(accumulate: int) -> None:
    """The first is unfrozen before the third update; the second, whose gradients nobody takes before, joins then."""
    model, plain = model_of().eval(), model_of().eval()
    given = batches(5 * accumulate)

    def optimizer_of(model: Any) -> torch.optim.Optimizer:
        model[0].weight.requires_grad_(False)
        return torch.optim.AdamW([*model[0].parameters(), model[3].weight], 0.01)

    def change(model: Any, optimizer: torch.optim.Optimizer) -> None:
        model[0].weight.requires_grad_(True)
        optimizer.add_param_group({"params": [model[3].bias], "lr": 0.1})

    loop = Loop(model, optimizer_of(model), weighted, accumulate=accumulate)
    reference = optimizer_of(plain)
    for number in range(5):
        here = given[number * accumulate : (number + 1) * accumulate]
        if number == 2:
            change(model, loop.optimizer)
            change(plain, reference)
        loop.step(here)
        plain.zero_grad()
        weighted(plain, tuple(map(torch.cat, zip(*here, strict=True)))).mean().backward()
        reference.step()
    for parameter, expected in zip(model.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(parameter, expected, rtol=1e-5, atol=1e-6)
    assert not any(parameter.grad is not None for parameter in model.parameters())


def test_logged_values_are_means_over_the_interval() -> None:
    def loss_of(model: Any, batch: Any) -> Any:
        return squares(model, batch), {"rows": float(len(batch[0])), "share": Tally(batch[0].sum(), torch.tensor(7))}

    model = torch.nn.Linear(6, 1)
    given = [(torch.full((rows, 6), 1.0), torch.zeros(rows, 1)) for rows in (1, 2, 6)]
    history = Loop(model, torch.optim.SGD(model.parameters(), 0.0), loss_of, log_every=2).train(given, epochs=1)
    assert history.column("rows") == [1.5, 6]
    assert history.column("share") == [(6 + 12) / 14, 36 / 7]
    assert [record.step for record in history.records] == [2, 3]


class OwnRate(torch.optim.Optimizer):
    """Finds its rate by itself, as Transformers' Adafactor does unless it is given one."""

    def __init__(self, parameters: Any) -> None:
        super().__init__(parameters, {"lr": None})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for parameter in self.param_groups[0]["params"]:
            parameter -= 0.01 * parameter.grad


def test_an_optimizer_without_a_rate_logs_none(tmp_path: Path) -> None:
    for epochs in (1, 2):  # the second goes on where the first ended
        model = model_of()
        loop = Loop(model, OwnRate(model.parameters()), squares, log_every=1)
        loader = DataLoader(data(), batch_sampler=EpochBatchSampler(data(), 8))
        with Checkpoints(tmp_path, every=5) as checkpoints:
            loop.train(loader, epochs=epochs, checkpoints=checkpoints)
    assert len(loop.history.column("loss")) == 2 * 5
    assert loop.history.column("lr") == []


def test_a_value_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(4, 6\): give one number"):
        loop_of(lambda model, batch: (squares(model, batch), {"input": batch[0]})).train(batches(), epochs=1)
    with pytest.raises(ValueError, match=r"the loss has shape \(4, 1\): give its mean, or a Tally"):
        loop_of(lambda model, batch: model(batch[0])).train(batches(), epochs=1)


# ---------------------------------------------------------------- evaluation


def test_means_over_a_padded_last_batch_are_those_of_the_rows() -> None:
    model = model_of()
    model[2].eval()  # type: ignore[index]

    def tallies_of(model: Any, batch: Any) -> dict[str, Tally]:
        (x, y), rows = batch
        return {"loss": tally((model(x) - y) ** 2, rows)}

    loader = DataLoader(data(11), batch_size=4, collate_fn=PadLastBatch(4))
    model.train()
    model[1].eval()  # type: ignore[index]
    found = evaluate(model, loader, tallies_of)
    assert [module.training for module in model] == [True, False, True, True]  # type: ignore[union-attr]
    x, y = data(11).tensors
    assert found == {"loss": pytest.approx(F.mse_loss(model.eval()(x), y).item(), rel=1e-5)}


def test_a_mean_is_no_tally() -> None:
    with pytest.raises(TypeError, match=r"loss is a Tensor, not a Tally: give tally\(values, mask\)"):
        evaluate(model_of(), batches(), lambda model, batch: {"loss": squares(model, batch)})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="the loader has no batch"):
        evaluate(model_of(), [], lambda model, batch: {"loss": weighted(model, batch)})


def test_evaluations_come_when_they_are_due() -> None:
    every = Evaluation(batches(2), lambda model, batch: {"loss": weighted(model, batch)}, every=4)
    history = loop_of().train(batches(10), epochs=1, evaluation=every)
    assert [record.step for record in history.evaluations] == [4, 8]
    each_epoch = Evaluation(batches(2), lambda model, batch: {"loss": weighted(model, batch)})
    history = loop_of().train(batches(10), epochs=2, evaluation=each_epoch)
    assert [(record.step, record.epoch) for record in history.evaluations] == [(10, 0), (20, 1)]
    assert len(history.evaluated("loss")) == 2


# ---------------------------------------------------------------- callbacks


def test_hooks_come_in_order_and_need_not_be_there() -> None:
    told: list[str] = []

    class Listener(Callback):
        def __getattribute__(self, name: str) -> Any:
            if name.startswith("on_"):
                return lambda *args: told.append(name)
            return super().__getattribute__(name)

    class Deaf:
        pass

    evaluation = Evaluation(batches(1), lambda model, batch: {"loss": weighted(model, batch)})
    loop_of(callbacks=[Deaf(), Listener()], log_every=2).train(batches(2), epochs=1, evaluation=evaluation)
    step = ["on_step_begin", "on_boundary", "on_step_end"]
    assert told == [
        "on_train_begin", "on_epoch_begin", *step, *step, "on_log", "on_evaluation_end", "on_epoch_end", "on_train_end",
    ]  # fmt: skip


def test_training_ends_for_callbacks_also_when_it_fails() -> None:
    class Ending(Callback):
        ended = False

        def on_train_end(self) -> None:
            self.ended = True

    def fail(model: Any, batch: Any) -> torch.Tensor:
        raise ArithmeticError

    ending = Ending()
    with pytest.raises(ArithmeticError):
        loop_of(fail, callbacks=[ending]).train(batches(), epochs=1)
    assert ending.ended


@pytest.mark.parametrize(
    ("better", "values", "stops_after", "best"),
    [
        ("lower", [3, 2, 2.5, 2.4, 1], 4, 2),
        ("lower", [3, float("nan"), float("nan"), 1], 3, 3),
        ("lower", [3, 2.95, 2.92, 2.85, 2.80], 3, 3),
        ("higher", [0.1, 0.5, 0.4, 0.9, 0.8, 0.7, 0.9], 6, 0.9),
        ("lower", [float("nan"), float("nan"), 1], 2, None),
    ],
)
def test_training_that_gets_no_better_is_stopped(
    better: Any, values: list[float], stops_after: int, best: float | None
) -> None:
    coming = iter(values)

    def tallies_of(model: Any, batch: Any) -> dict[str, Tally]:
        return {"score": Tally(torch.tensor(next(coming)), torch.tensor(1))}

    stopping = EarlyStopping("score", better=better, patience=2, least=0.1)
    loop = loop_of(callbacks=[stopping])
    history = loop.train(batches(3), epochs=len(values), evaluation=Evaluation(batches(1), tallies_of))
    assert len(history.evaluations) == stops_after and loop.is_stopping
    assert stopping.best == (best if best is None else pytest.approx(best))


def test_stopping_by_a_name_that_is_not_there_is_told() -> None:
    with pytest.raises(KeyError, match="evaluations have no recall; they have loss"):
        EarlyStopping("recall").on_evaluation_end(Record(1, 0, {"loss": 1.0}, 0.0))


def test_bar_shows_what_was_read() -> None:
    shown = io.StringIO()
    bar = Progress(Console(file=shown, force_terminal=True, width=160))
    evaluation = Evaluation(batches(1), lambda model, batch: {"loss": weighted(model, batch)})
    history = loop_of(callbacks=[bar], log_every=5).train(batches(5), epochs=2, evaluation=evaluation)
    text = shown.getvalue()
    assert "10/10" in text and "epoch 1" in text
    assert f"loss {history.column('loss')[-1]:.4g}" in text
    assert f"evaluated loss {history.evaluated('loss')[-1]:.4g}" in text


# ---------------------------------------------------------------- going on


class Stop(Callback):
    """Interrupts after so many steps."""

    def __init__(self, step: int) -> None:
        self.step = step

    def on_train_begin(self, loop: Loop) -> None:
        self.loop = loop

    def on_step_end(self) -> None:
        if self.loop.steps == self.step:
            raise KeyboardInterrupt


class Halt(Stop):
    """Ends the training as it should be ended."""

    def on_step_end(self) -> None:
        if self.loop.steps == self.step:
            self.loop.stop()


def numbers(records: list[Record]) -> list[Any]:
    """All but the time it took."""
    return [(record.step, record.epoch, record.values) for record in records]


@pytest.mark.parametrize("accumulate", [1, 3])
@pytest.mark.parametrize("step", [1, 4, 5, 9])
def test_interrupted_and_resumed_it_loses_what_it_would_have(step: int, accumulate: int, tmp_path: Path) -> None:
    """Also amid an interval of logging, amid an epoch, and with dropout; histories and states are equal."""

    def run(folder: str, *callbacks: Any) -> Loop:
        sampler = EpochBatchSampler(data(), 4, seed=2)
        loader = DataLoader(data(), batch_sampler=sampler, generator=sampler.generator)
        stopping = EarlyStopping(patience=9)
        loop = loop_of(accumulate=accumulate, log_every=4, callbacks=[stopping, *callbacks])
        loop.scheduler = torch.optim.lr_scheduler.OneCycleLR(loop.optimizer, 0.1, total_steps=100)
        torch.manual_seed(3)
        evaluation = Evaluation(batches(2), lambda model, batch: {"loss": weighted(model, batch)})
        with Checkpoints(tmp_path / folder, every=2) as checkpoints:
            loop.train(loader, epochs=3, evaluation=evaluation, checkpoints=checkpoints)
        return loop

    whole = run("whole")
    with pytest.raises(KeyboardInterrupt):
        run("parts", Stop(step))
    resumed = run("parts")
    assert resumed.steps == whole.steps
    assert numbers(resumed.history.records) == numbers(whole.history.records)
    assert numbers(resumed.history.evaluations) == numbers(whole.history.evaluations)
    assert resumed.callbacks[0].state_dict() == whole.callbacks[0].state_dict()
    for parameter, expected in zip(resumed.model.parameters(), whole.model.parameters(), strict=True):
        assert torch.equal(parameter, expected)


class Noisy(torch.utils.data.Dataset[Any]):
    """Draws random numbers for every sample, of all kinds, and not always as many."""

    def __len__(self) -> int:
        return 40

    def __getitem__(self, place: int) -> tuple[torch.Tensor, torch.Tensor]:
        x, y = data()[place]
        drawn = torch.rand(6) + random.random() + np.random.rand()
        for _ in range(random.randrange(3)):
            random.random()
        return x + 0.1 * drawn, y


@pytest.mark.parametrize(
    ("kind", "workers", "has_generator"),
    [("epochs", 0, False), ("epochs", 2, True), ("buckets", 0, True), ("buckets", 2, False)],
)
def test_a_loader_of_any_kind_goes_on_amid_an_epoch(
    kind: str, workers: int, has_generator: bool, tmp_path: Path
) -> None:
    """Resumed after an interruption, and where `train` is called again, with all random numbers, also of workers."""

    def run(folder: str, *steps: int) -> Loop:
        sampler: Any = EpochBatchSampler(40, 4, seed=2)
        if kind == "buckets":
            sampler = BucketBatchSampler([5 + place % 3 * 4 for place in range(40)], (5, 9, 13), 4, seed=2)
        loader: Any = DataLoader(
            Noisy(),
            batch_sampler=sampler,
            num_workers=workers,
            generator=sampler.generator if has_generator else None,
        )
        loop = loop_of(log_every=4)
        torch.manual_seed(3)
        random.seed(3)
        np.random.seed(3)
        for number in steps:
            if folder:
                with Checkpoints(tmp_path / folder, every=2) as checkpoints:
                    loop.train(loader, steps=number, checkpoints=checkpoints)
            else:
                loop.train(loader, steps=number)
        return loop

    whole = run("", 14)
    run("parts", 7)
    for other in (run("", 3, 8, 14), run("parts", 14)):
        assert other.steps == 14
        for parameter, expected in zip(other.model.parameters(), whole.model.parameters(), strict=True):
            assert torch.equal(parameter, expected)


def test_callbacks_may_be_set_and_may_fail_at_the_boundary() -> None:
    class Failing(Callback):
        def on_boundary(self, *computed: Any) -> None:
            if loop.steps == 2:
                raise KeyboardInterrupt

    loop = loop_of()
    loop.callbacks = [*loop.callbacks, Failing()]
    with pytest.raises(KeyboardInterrupt):
        loop.train(batches(5), epochs=1)
    assert (loop.steps, loop.batches) == (2, 2), "the update is done"
    with pytest.raises(TypeError, match="give an instance"):
        loop.callbacks = [Failing]


def test_workers_that_are_started_have_no_signal_yet(tmp_path: Path) -> None:
    held: list[bool] = []

    class Watched(DataLoader[Any]):
        def __iter__(self) -> Any:
            held.append(is_held())
            return super().__iter__()

    def is_held() -> bool:
        return signal.SIGTERM in signal.pthread_sigmask(signal.SIG_BLOCK, [])

    loader = Watched(data(), batch_sampler=EpochBatchSampler(data(), 8), num_workers=1)
    loop_of().train(loader, steps=1)
    loop_of().train(loader, steps=1, checkpoints=Checkpoints(tmp_path))
    assert held == [False, True] and not is_held(), "where it makes the training save, and no longer"


def test_steps_may_end_with_an_epoch() -> None:
    """Then it is over, as it would be with epochs."""
    told: list[str] = []

    class Ends(Callback):
        def on_epoch_end(self) -> None:
            told.append("epoch")

    def loop_with(**settings: Any) -> Loop:
        return loop_of(callbacks=[Ends(), *settings.pop("callbacks", [])], **settings)

    evaluation = Evaluation(batches(1), lambda model, batch: {"loss": weighted(model, batch)})
    for accumulate, steps in ((1, 10), (2, 6)):
        told.clear()
        loop = loop_with(accumulate=accumulate)
        loop.train(batches(5), steps=steps, evaluation=evaluation)
        assert (loop.epoch, loop.batches, len(loop.history.evaluations), len(told)) == (2, 0, 2, 2)
        loop.train(batches(5), epochs=3)
        assert loop.steps == steps // 2 * 3, "no epoch is trained twice"
    loop = loop_with(callbacks=[Halt(5)])
    loop.train(batches(5), epochs=9, evaluation=evaluation)
    assert (loop.epoch, len(loop.history.evaluations)) == (1, 1)
    loop = loop_with()
    loop.train(batches(5), steps=9, evaluation=evaluation)
    assert (loop.epoch, loop.batches, len(loop.history.evaluations)) == (1, 4, 1), "this one is not"


def test_an_epoch_that_ends_with_the_training_is_resumed_in_its_evaluation(tmp_path: Path) -> None:
    def run(folder: str, *failing: int) -> Loop:
        evaluated: list[int] = []

        def tallies_of(model: Any, batch: Any) -> dict[str, Tally]:
            evaluated.append(1)
            if len(evaluated) in failing:
                raise KeyboardInterrupt
            return {"loss": weighted(model, batch)}

        loader = DataLoader(data(20), batch_sampler=EpochBatchSampler(20, 4))
        loop = loop_of()
        with Checkpoints(tmp_path / folder, every=5) as checkpoints:
            loop.train(loader, steps=10, evaluation=Evaluation(batches(1), tallies_of), checkpoints=checkpoints)
        return loop

    whole = run("whole")
    with pytest.raises(KeyboardInterrupt):
        run("parts", 2)
    resumed = run("parts")
    assert numbers(resumed.history.evaluations) == numbers(whole.history.evaluations)
    assert (resumed.steps, resumed.epoch, resumed.batches) == (whole.steps, whole.epoch, whole.batches) == (10, 2, 0)
    again = run("parts")
    assert (again.steps, numbers(again.history.evaluations)) == (10, numbers(whole.history.evaluations))


def test_a_stream_without_a_length_is_trained() -> None:
    class Stream(torch.utils.data.IterableDataset[Any]):
        def __iter__(self) -> Iterator[Any]:
            return iter(data())

    loop = loop_of()
    loop.train(DataLoader(Stream(), batch_size=8), epochs=2)
    assert (loop.steps, loop.epoch, loop.planned_steps) == (2 * -(-len(data()) // 8), 2, None)
    loop.train(DataLoader(Stream(), batch_size=8), steps=loop.steps + 2)
    assert (loop.epoch, loop.batches) == (2, 2)


def test_the_end_is_saved_once(tmp_path: Path) -> None:
    def train(steps: int) -> Loop:
        sampler = EpochBatchSampler(data(), 4)
        loop = loop_of()
        with Checkpoints(tmp_path) as checkpoints:
            loop.train(DataLoader(data(), batch_sampler=sampler), steps=steps, checkpoints=checkpoints)
        return loop

    trained = train(8)
    model = model_of(1)
    assert Checkpoints(tmp_path).load(model=model) == 7
    assert all(map(torch.equal, model.parameters(), trained.model.parameters()))
    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert train(8).steps == 8
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == written


def test_checkpoints_are_closed_when_training_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though nobody else has them: SIGTERM ends the process again, and what was not written is told."""

    def train(*callbacks: Any) -> None:
        loader = DataLoader(data(), batch_sampler=EpochBatchSampler(data(), 4))
        loop_of(callbacks=callbacks).train(loader, steps=2, checkpoints=Checkpoints(tmp_path, every=None))

    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt):
        train(Stop(1))
    assert signal.getsignal(signal.SIGTERM) is before
    monkeypatch.setattr(Folder, "write", fail_to_write)
    with pytest.raises(CheckpointError, match="no space left"):
        train()
    assert signal.getsignal(signal.SIGTERM) is before
    monkeypatch.undo()
    train()
    assert signal.getsignal(signal.SIGTERM) is before and Checkpoints(tmp_path).load(model=model_of()) == 1


def fail_to_write(*args: Any) -> None:
    raise CheckpointError("no space left")


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (lambda: batches(1)[0][0], (TypeError, "Tensor: give a list of batches")),
        (list, (ValueError, "0 batches")),
        (lambda: batches(3), (ValueError, "3 batches for an update with accumulate=2")),
    ],
)
def test_a_step_refuses_what_are_not_its_batches(given: Callable[[], Any], error: Any) -> None:
    loop = loop_of(accumulate=2)
    before = copy.deepcopy(loop.model.state_dict())
    with pytest.raises(error[0], match=error[1]):
        loop.step(given())
    assert loop.steps == 0 and str(loop.model.state_dict()) == str(before)
    loop.step(batches(2))
    loop.step(batches(1))
    assert loop.steps == 2


@pytest.mark.parametrize("every", [None, 3, 4], ids=["after the epoch", "amid it", "where it saves anyway"])
def test_sigterm_amid_an_evaluation_is_not_kept_waiting(every: int | None, tmp_path: Path) -> None:
    """The evaluation is broken off, and made by the run that is resumed, with the random numbers it would have had."""
    evaluated: list[int] = []

    def run(folder: str, told_at: int = -1) -> Loop:
        evaluated.clear()

        def tallies_of(model: Any, batch: Any) -> dict[str, Tally]:
            evaluated.append(loop.steps)
            if len(evaluated) == told_at:
                os.kill(os.getpid(), signal.SIGTERM)
            return {"loss": weighted(model, batch), "drawn": tally(torch.rand(3))}

        sampler = EpochBatchSampler(data(), 4, seed=2)
        loader = DataLoader(data(), batch_sampler=sampler, generator=sampler.generator)
        loop = loop_of(log_every=4)
        torch.manual_seed(3)
        with Checkpoints(tmp_path / folder, every=4) as checkpoints:
            loop.train(
                loader, epochs=2, evaluation=Evaluation(batches(5), tallies_of, every=every), checkpoints=checkpoints
            )
        return loop

    whole = run("whole")
    with pytest.raises(Preempted) as end:
        run("parts", told_at=7)  # the second evaluation, its second batch
    assert len(evaluated) == 7, "no batch after the one that was under way"
    assert end.value.step == evaluated[-1] - 1
    resumed = run("parts")
    assert evaluated[:5] == [end.value.step + 1] * 5, "all of it"
    assert numbers(resumed.history.evaluations) == numbers(whole.history.evaluations)
    assert numbers(resumed.history.records) == numbers(whole.history.records)
    assert all(map(torch.equal, resumed.model.parameters(), whole.model.parameters()))


def test_training_goes_on_where_it_was_left() -> None:
    def loader() -> DataLoader[Any]:
        sampler = EpochBatchSampler(data(), 4, seed=2)
        return DataLoader(data(), batch_sampler=sampler, generator=sampler.generator)

    whole, parts = loop_of(log_every=1), loop_of(log_every=1)
    for module in (*whole.model, *parts.model):  # type: ignore[misc]
        module.eval()
    whole.train(loader(), steps=23)
    same = loader()
    for steps in (4, 10, 23):
        parts.train(same, steps=steps)
    assert parts.history.column("loss") == whole.history.column("loss")
    assert (parts.epoch, parts.batches) == (whole.epoch, whole.batches) == (2, 3)


def test_checkpoints_need_a_loader_with_a_position(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="give the DataLoader an EpochBatchSampler"):
        loop_of().train(DataLoader(data(), batch_size=4), epochs=1, checkpoints=Checkpoints(tmp_path))


# ---------------------------------------------------------------- several processes


class Member(PlainBackend):
    """One of two processes, which are threads here."""

    def __init__(self, rank: int, meeting: threading.Barrier, brought: list[Any]) -> None:
        super().__init__(torch.device("cpu"))
        self.rank, self.meeting, self.brought = rank, meeting, brought

    def place(self) -> Place:
        return Place(self.rank, 2)

    def gather(self, value: Any) -> list[Any]:
        self.brought[self.rank] = value
        self.meeting.wait(30)
        found = [*self.brought]
        self.meeting.wait(30)
        return found

    def add_up(self, tensors: list[torch.Tensor]) -> None:
        for own, *others in zip(tensors, *self.gather([tensor.clone() for tensor in tensors]), strict=True):
            own.copy_(sum(others))


class Freeze(Callback):
    """The first layer, after the first update."""

    def on_train_begin(self, loop: Loop) -> None:
        self.loop = loop

    def on_step_end(self) -> None:
        self.loop.model[0].requires_grad_(False)  # type: ignore[index]


@pytest.mark.parametrize("accumulate", [1, 2])
@pytest.mark.parametrize("is_frozen", [False, True])
def test_processes_that_train_together_take_the_steps_of_one(accumulate: int, is_frozen: bool) -> None:
    """Batches of 3 and 1 rows in each step: gradients and evaluations weigh every row alike. What is frozen from the
    second update on stays as it is in all of them."""
    meeting, brought = threading.Barrier(2), [None, None]
    given = [[(x.split([3, 1])[rank], y.split([3, 1])[rank]) for x, y in batches(6)] for rank in range(2)]
    loops = [
        Loop(model, torch.optim.AdamW(model.parameters(), 0.01), weighted, accumulate=accumulate, clip_norm=0.5,
             backend=Member(rank, meeting, brought), callbacks=[Freeze()] if is_frozen else [])
        for rank, model in enumerate([model_of().eval(), model_of().eval()])
    ]  # fmt: skip
    found: list[Any] = [None, None]

    def run(rank: int) -> None:
        loops[rank].train(given[rank], epochs=1)
        found[rank] = loops[rank].evaluate(given[rank], lambda model, batch: {"loss": weighted(model, batch)})

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    callbacks = [Freeze()] if is_frozen else []
    alone = loop_of(weighted, model_of().eval(), accumulate=accumulate, clip_norm=0.5, callbacks=callbacks)
    alone.train(batches(6), epochs=1)
    expected = alone.evaluate(batches(6), lambda model, batch: {"loss": weighted(model, batch)})
    assert found[0] == found[1] == pytest.approx(expected, rel=1e-5)
    for loop in loops:
        assert loop.steps == alone.steps
        for parameter, same in zip(loop.model.parameters(), alone.model.parameters(), strict=True):
            torch.testing.assert_close(parameter, same, rtol=1e-4, atol=1e-6)


# ---------------------------------------------------------------- what cannot be


@pytest.mark.parametrize("settings", [{"accumulate": 0}, {"log_every": 0}, {"ahead": -1}, {"clip_norm": 0.0}])
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        loop_of(**settings)


def test_length_of_a_training_has_to_be_said() -> None:
    with pytest.raises(ValueError, match="give epochs or steps"):
        loop_of().train(batches())
    with pytest.raises(ValueError, match="no batch"):
        loop_of().train(iter(batches()), epochs=2)


def test_optimizer_of_a_model_elsewhere_is_refused() -> None:
    optimizer = torch.optim.SGD(torch.nn.Linear(2, 1, device="meta").parameters(), 0.1)
    with pytest.raises(ValueError, match=r"on meta, the model on cpu: make the optimizer after model\.to"):
        Loop(torch.nn.Linear(2, 1), optimizer, squares)


# ---------------------------------------------------------------- parts


class Elsewhere(PlainBackend):
    """Has a thread that sends batches, as on a device."""

    name = "elsewhere"


def test_batches_ahead_keep_type_and_order_and_end_with_the_loop() -> None:
    read: list[int] = []

    def loader() -> Iterator[dict[str, Any]]:
        for number in range(9):
            read.append(number)
            yield {"x": (torch.tensor([number]), "name"), "n": number}

    backend = Elsewhere(torch.device("cpu"))
    seen = []
    for batch in device_batches(loader(), backend, 2):
        assert type(batch) is dict and type(batch["x"]) is tuple and batch["x"][1] == "name"
        seen.append(batch["n"])
        if len(seen) == 3:
            break
    assert seen == [0, 1, 2] and len(read) <= 3 + 2 + 1
    del batch
    assert [batch["n"] for batch in device_batches(loader(), backend, 0)] == [*range(9)]
    assert [batch["n"] for batch in device_batches(loader(), backend, 3)] == [*range(9)]
    assert not [thread for thread in threading.enumerate() if thread.name == "device batches" and thread.is_alive()]


def varied(lr: float) -> Any:
    """A learning rate as the optimizer finds it in its step."""
    optimizer = torch.optim.SGD(model_of().parameters(), lr)
    with VaryingNumbers(optimizer, XlaBackend()):
        return optimizer.param_groups[0]["lr"]


@pytest.mark.parametrize(
    ("compute", "expected"),
    [
        (lambda lr: 1 - lr * 0.1, 1 - 0.25 * 0.1),
        (lambda lr: -lr / (1 - 0.5), -0.5),
        (lambda lr: 2 / lr + lr, 8.25),
        (lambda lr: (lr - 0.05) ** 0.5, 0.2**0.5),
        (lambda lr: 0.5 - lr + 1, 1.25),
    ],
)
def test_numbers_that_vary_compute_as_floats_do(compute: Callable[[float], float], expected: float) -> None:
    number = varied(0.25)
    found = compute(number)
    assert compute(number) is found, "for the next parameter it is the same input"
    assert found == pytest.approx(expected, rel=1e-15) and type(found) is Varying
    plain = torch.full((3,), 2.0)
    assert torch.equal(plain * found, plain * expected)
    assert torch.equal(plain.add(plain, alpha=found), plain.add(plain, alpha=expected))


def test_a_tensor_computes_its_own_power_of_a_beta() -> None:
    optimizer = torch.optim.Adam(model_of().parameters())
    step = torch.tensor(3.0)
    with VaryingNumbers(optimizer, XlaBackend()):
        power = optimizer.param_groups[0]["betas"][0] ** step
    assert isinstance(power, torch.Tensor) and torch.equal(power, 0.9**step)


@pytest.mark.parametrize(("number", "as_float32"), [(0.0, 2.0**-149), (1.0, 1.0), (-1.0, -1.0)])
def test_numbers_that_vary_are_never_what_torch_xla_makes_constants(number: float, as_float32: float) -> None:
    found = varied(0.5) * (2 * number)
    assert found not in (0.0, 1.0, -1.0)
    assert torch.tensor(float(found), dtype=torch.float32).item() == as_float32


def test_numbers_that_stay_are_sent_once() -> None:
    sent: list[float] = []
    lengths: list[int] = []

    class Counting(PlainBackend):
        def send(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
            sent.extend(tensor[0].item() for tensor in tensors)
            lengths.extend(len(tensor) for tensor in tensors)
            return super().send(tensors)

    inputs = Inputs(Counting(torch.device("cpu")))

    def update(*numbers: float) -> list[torch.Tensor]:
        inputs.begin()
        return [inputs.tensor(number, torch.float32) for number in numbers]

    first = update(0.5, 0.25, 0.25)
    assert first[1].data_ptr() != first[2].data_ptr(), "equal by chance: one for both would be another graph"
    second = update(0.5, 0.75, 0.25, 2.0)
    assert [number.item() for number in second] == [0.5, 0.75, 0.25, 2.0]
    assert [number.item() for number in update(0.75, 0.75)] == [0.75, 0.75]
    assert sent == [0.5, 0.25, 0.25, 0.75, 2.0, 0.75]
    assert lengths == [1, 2, 3, 2, 4, 1], "torch_xla tells inputs apart by their shapes"
    assert [number.item() for number in first] == [0.5, 0.25, 0.25], "what a step was given stays as it was"


# ---------------------------------------------------------------- what goes wrong amid a step


@pytest.mark.parametrize("accumulate", [1, 5])
def test_an_update_that_was_broken_off_leaves_nothing(accumulate: int) -> None:
    """As in a notebook whose cell is interrupted and run again."""
    calls = 0

    def interrupted(model: Any, batch: Any) -> torch.Tensor:
        nonlocal calls
        calls += 1
        loss = squares(model, batch)
        if calls == 2 and accumulate > 1:
            raise KeyboardInterrupt
        return loss

    model = model_of().eval()  # no random numbers
    torn = loop_of(interrupted, model, accumulate=accumulate, log_every=1)
    if accumulate == 1:
        handle = torn.optimizer.register_step_pre_hook(lambda *given: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        torn.train(batches(), epochs=1)
    if accumulate == 1:
        handle.remove()
    assert torn.steps == 0
    whole = loop_of(model=model_of().eval(), accumulate=accumulate, log_every=1)
    assert torn.train(batches(), epochs=1).column("loss") == whole.train(batches(), epochs=1).column("loss")
    assert all(map(torch.equal, torn.model.parameters(), whole.model.parameters()))


def test_the_end_is_told_to_all_and_hides_no_error() -> None:
    told = []

    class First(Callback):
        def on_train_end(self) -> None:
            raise ValueError("first")

    class Second(Callback):
        def on_train_end(self) -> None:
            told.append("second")

    def broken(model: Any, batch: Any) -> torch.Tensor:
        raise KeyError("the cause")

    with pytest.raises(KeyError, match="the cause"), pytest.warns(UserWarning, match="first"):
        loop_of(broken, callbacks=[First(), Second()]).train(batches(), epochs=1)
    with pytest.raises(ValueError, match="first"):
        loop_of(callbacks=[First(), Second()]).train(batches(), epochs=1)
    assert told == ["second", "second"]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (None, "loss_of gave NoneType"),
        (1.5, "loss_of gave float"),
        ((torch.ones(()), torch.ones(())), "loss_of gave Tensor beside the loss"),
        ((torch.ones(()), {"loss": 1.0}), "loss is logged anyway"),
        ((torch.ones((), requires_grad=True), {"text": "x"}), "text is 'x'"),
    ],
)
def test_what_is_no_loss_is_told_by_name(given: Any, error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        loop_of(lambda model, batch: given).train(batches(), epochs=1)
