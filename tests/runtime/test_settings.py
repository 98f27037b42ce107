"""What cannot be meant is refused where it is given, with its name and what to give."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy
import pytest
import torch
import torch.nn.functional as F
from tpulint_runtime import (
    BucketBatchSampler,
    Checkpoints,
    EarlyStopping,
    EpochBatchSampler,
    Evaluation,
    Loop,
    Mesh,
    PackedDataset,
    PackedStream,
    RecompileGuard,
    plan_buckets,
    tally,
)
from tpulint_runtime.backend import XlaBackend


@pytest.fixture(autouse=True)
def started(xla_started: None) -> None:
    """Gradients are computed on the CPU."""


X = torch.ones(2)
BATCHES = [(torch.ones(2, 3), torch.ones(2, 1))] * 2


def model_of() -> torch.nn.Module:
    return torch.nn.Linear(3, 1)


def squares(model: Any, batch: Any) -> torch.Tensor:
    return F.mse_loss(model(batch[0]), batch[1])


def loop_of(loss_of: Any = squares, **settings: Any) -> Loop:
    model = settings.pop("model", None) or model_of()
    optimizer = settings.pop("optimizer", None) or torch.optim.SGD(model.parameters(), 0.1)
    return Loop(model, optimizer, loss_of, **settings)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"clip_norm": math.nan}, ValueError, "clip_norm is nan: give more than 0, or None"),
        ({"clip_norm": -1.0}, ValueError, "clip_norm is -1.0: give more than 0, or None"),
        ({"clip_norm": 0}, ValueError, "clip_norm is 0: give more than 0, or None"),
        ({"clip_norm": "1.0"}, TypeError, "clip_norm is '1.0': give a number, or None"),
        ({"clip_norm": True}, TypeError, "clip_norm is True: give a number, or None"),
        ({"accumulate": 0}, ValueError, "accumulate is 0: give at least 1"),
        ({"accumulate": 1.5}, TypeError, "accumulate is 1.5: give a whole number"),
        ({"accumulate": True}, TypeError, "accumulate is True: give a whole number"),
        ({"log_every": 0}, ValueError, "log_every is 0: give at least 1"),
        ({"log_every": -5}, ValueError, "log_every is -5: give at least 1"),
        ({"backend": "xla"}, TypeError, "backend is 'xla': give what current() returns, or None"),
        ({"backend": XlaBackend}, TypeError, "backend is the class XlaBackend: give what current() returns"),
        ({"log_every": 2.5}, TypeError, "log_every is 2.5: give a whole number"),
        ({"ahead": -1}, ValueError, "ahead is -1: give at least 0"),
        ({"ahead": None}, TypeError, "ahead is None: give a whole number"),
        ({"bf16": "no"}, TypeError, "bf16 is 'no': give True or False"),
        ({"model": squares, "optimizer": 0.1}, TypeError, "model is a function: give a torch.nn.Module"),
        ({"optimizer": torch.optim.SGD}, TypeError, "optimizer is the class SGD: give a torch.optim.Optimizer"),
        ({"optimizer": 0.1}, TypeError, "optimizer is a float: give a torch.optim.Optimizer"),
        (
            {"optimizer": torch.optim.LBFGS([torch.ones(1, requires_grad=True)])},
            TypeError,
            "optimizer is a LBFGS, which computes the loss again by itself: write a loop of your own for it",
        ),
        ({"loss_of": "mse"}, TypeError, "loss_of is a str: give a function of the model and a batch"),
        ({"scheduler": 0.1}, TypeError, "scheduler is a float: give something with step(), or None"),
        (
            {"scheduler": torch.optim.lr_scheduler.StepLR},
            TypeError,
            "scheduler is the class StepLR: give something with step(), or None",
        ),
        ({"callbacks": EarlyStopping()}, TypeError, "callbacks is a EarlyStopping: give a list of callbacks"),
        ({"callbacks": [EarlyStopping]}, TypeError, "callbacks has the class EarlyStopping: give an instance of it"),
        (
            {"callbacks": [print]},
            TypeError,
            "callbacks has a builtin_function_or_method, which would never be called: give hooks",
        ),
        ({"callbacks": "bar"}, TypeError, "callbacks is a str: give a list of callbacks"),
    ],
)
def test_settings_of_a_loop(settings: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        loop_of(**settings)


def test_what_can_be_meant_is_taken() -> None:
    class Counted:  # hooks without the base class
        def on_step_end(self) -> None:
            self.seen = True

    counted = Counted()
    loop = loop_of(clip_norm=math.inf, accumulate=2, log_every=1, callbacks=(counted, RecompileGuard()))
    loop.train(BATCHES, epochs=1)
    assert counted.seen and loop.history.column("grad_norm")[0] > 0  # an infinite norm: measured, and nothing clipped
    loop_of(clip_norm=1, scheduler=None, callbacks=iter([counted]))


def test_a_scheduler_that_wants_a_value_or_is_of_another_optimizer() -> None:
    model = model_of()
    optimizer, other = (torch.optim.SGD(model.parameters(), 0.1) for _ in range(2))
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    with pytest.raises(TypeError, match=r"scheduler is a ReduceLROnPlateau, whose step wants a value: .*callback"):
        Loop(model, optimizer, squares, scheduler=plateau)
    with pytest.raises(ValueError, match="scheduler is made of another optimizer than the loop has"):
        Loop(model, optimizer, squares, scheduler=torch.optim.lr_scheduler.StepLR(other, 3))


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({}, ValueError, "how long to train is not said: give epochs or steps"),
        ({"epochs": 1.5}, TypeError, "epochs is 1.5: give a whole number"),
        ({"epochs": -1}, ValueError, "epochs is -1: give at least 0"),
        ({"steps": "10"}, TypeError, "steps is '10': give a whole number"),
        ({"epochs": 1, "checkpoints": "runs/a"}, TypeError, "checkpoints is a str: give Checkpoints('runs/a')"),
        ({"epochs": 1, "checkpoints": True}, TypeError, "checkpoints is a bool: give Checkpoints"),
        ({"epochs": 1, "evaluation": squares}, TypeError, "evaluation is a function: give Evaluation"),
        ({"epochs": 1, "evaluation": BATCHES}, TypeError, "evaluation is a list: give Evaluation"),
    ],
)
def test_arguments_of_a_training(settings: dict[str, Any], error: type[Exception], message: str) -> None:
    loop = loop_of()
    with pytest.raises(error, match=re.escape(message)):
        loop.train(BATCHES, **settings)
    assert loop.steps == 0


def test_a_loader_that_is_none() -> None:
    with pytest.raises(TypeError, match="loader is a int: give what batches can be taken from"):
        loop_of().train(3, epochs=1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"every": -1}, ValueError, "every is -1: give at least 1"),
        ({"every": 0}, ValueError, "every is 0: give at least 1"),
        ({"every": 2.0}, TypeError, "every is 2.0: give a whole number"),
        ({"tallies_of": "accuracy"}, TypeError, "tallies_of is a str: give a function of the model and a batch"),
        ({"loader": 3}, TypeError, "loader is a int: give what batches can be taken from"),
    ],
)
def test_settings_of_an_evaluation(settings: dict[str, Any], error: type[Exception], message: str) -> None:
    given: dict[str, Any] = {"loader": BATCHES, "tallies_of": lambda model, batch: {}, **settings}
    with pytest.raises(error, match=re.escape(message)):
        Evaluation(**given)


@pytest.mark.parametrize("name", ["budget", "sync_budget", "warmup"])
def test_settings_of_a_guard(name: str) -> None:
    with pytest.raises(TypeError, match=f"{name} is 1.5: give a whole number"):
        RecompileGuard(**{name: 1.5})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=f"{name} is -1: give at least 0"):
        RecompileGuard(**{name: -1})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["keep", "every", "notice_every"])
def test_settings_of_checkpoints(tmp_path: Any, name: str) -> None:
    with pytest.raises(TypeError, match=f"{name} is 1.5: give a whole number"):
        Checkpoints(tmp_path, **{name: 1.5})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=f"{name} is 0: give at least 1"):
        Checkpoints(tmp_path, **{name: 0})  # type: ignore[arg-type]


def test_settings_of_checkpoints_that_are_no_numbers() -> None:
    with pytest.raises(TypeError, match="per_process is 'model': give a list of names"):
        Checkpoints("runs", per_process="model")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="path is empty: give a folder, or a URL"):
        Checkpoints("")


def test_a_guard_of_no_backend() -> None:
    with pytest.raises(TypeError, match="backend is 'xla': give what current"):
        RecompileGuard(backend="xla")  # type: ignore[arg-type]


def test_numbers_of_numpy_are_taken(tmp_path: Any) -> None:
    two = numpy.int64(2)
    loop = loop_of(accumulate=two, log_every=two, ahead=two, clip_norm=numpy.float32(0.5))
    loop.train(BATCHES, epochs=two, checkpoints=None)
    assert loop.steps == 2 and type(loop.accumulate) is int and type(loop.clip_norm) is float
    guard = RecompileGuard(budget=two, sync_budget=two, warmup=two)
    guard.report().to_json()
    checkpoints = Checkpoints(tmp_path, keep=two, every=two)
    assert type(checkpoints.keep) is int and checkpoints.is_due(1)
    assert Evaluation(BATCHES, lambda model, batch: {}, every=two).every == 2


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: EpochBatchSampler(10, 4.0), TypeError, "batch_size is 4.0: give a whole number"),  # type: ignore[arg-type]
        (lambda: EpochBatchSampler(10.0, 4), TypeError, "data is 10.0: give a whole number"),  # type: ignore[arg-type]
        (lambda: EpochBatchSampler(10, 4, seed=1.5), TypeError, "seed is 1.5: give a whole"),  # type: ignore[arg-type]
        (lambda: EpochBatchSampler(10, 4, rank=2, num_replicas=2), ValueError, "rank is 2 of 2 processes"),
        (lambda: EpochBatchSampler(10, 4, num_replicas=2.0), TypeError, "num_replicas is 2.0: give"),  # type: ignore[arg-type]
        (lambda: BucketBatchSampler([3], [4.0], 2), TypeError, "a size is 4.0: give a whole number"),  # type: ignore[list-item]
        (lambda: BucketBatchSampler([3], [4], 2.5), TypeError, "batch_size is 2.5: give a whole"),  # type: ignore[arg-type]
        (lambda: BucketBatchSampler([3], [4], {4: 1.5}), TypeError, "batch_size is 1.5: give"),  # type: ignore[dict-item]
        (lambda: BucketBatchSampler([3], [4], 2, seed="a"), TypeError, "seed is 'a': give"),  # type: ignore[arg-type]
        (lambda: BucketBatchSampler([3, -1], [4], 2), ValueError, "a sample has length -1"),
        (lambda: plan_buckets([3], 1.5), TypeError, "count is 1.5: give a whole number"),  # type: ignore[arg-type]
        (lambda: plan_buckets([3], 1, multiple=0), ValueError, "multiple is 0: give at least 1"),
        (lambda: plan_buckets([3], 1).rows(8, 0), ValueError, "multiple is 0: give at least 1"),
        (lambda: PackedDataset([X], [2], 4.5), TypeError, "length is 4.5: give a whole number"),  # type: ignore[arg-type]
        (lambda: PackedDataset([X], [2], 0), ValueError, "length is 0: give at least 1"),
        (lambda: PackedDataset([X], [2], 4, values=[0]), TypeError, "values is [0]: give"),  # type: ignore[arg-type]
        (lambda: PackedStream([X], 4.5), TypeError, "length is 4.5: give a whole number"),  # type: ignore[arg-type]
        (lambda: PackedStream([X], 4, value="x"), TypeError, "value is 'x': give a number"),  # type: ignore[arg-type]
        (lambda: EarlyStopping(3), TypeError, "value is 3: give the name of a value"),  # type: ignore[arg-type]
        (lambda: EarlyStopping(least="0"), TypeError, "least is '0': give a number"),  # type: ignore[arg-type]
        (lambda: Mesh(fsdp=2.0), TypeError, "fsdp is 2.0: give a whole number"),  # type: ignore[arg-type]
    ],
)
def test_settings_of_what_makes_batches(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        make()


def test_samplers_take_numbers_of_numpy_and_any_seed() -> None:
    two = numpy.int64(2)
    sampler = EpochBatchSampler(numpy.int64(6), two, seed=2**80, num_replicas=two, rank=numpy.int64(1))
    assert len(list(sampler)) == 1 and json.dumps(sampler.state_dict())
    buckets = BucketBatchSampler([1, 2, 3], numpy.array([4]), two, seed=2**80)
    assert len(list(buckets)) == 2 and json.dumps(buckets.state_dict())


def test_settings_of_early_stopping() -> None:
    with pytest.raises(TypeError, match=r"patience is 1\.5: give a whole number"):
        EarlyStopping(patience=1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="patience is 0: give at least 1"):
        EarlyStopping(patience=0)
    with pytest.raises(ValueError, match="least is nan: give at least 0"):
        EarlyStopping(least=math.nan)


# ---------------------------------------------------------------- the loss


@pytest.mark.parametrize(
    ("loss_of", "error", "message"),
    [
        (
            lambda model, batch: squares(model, batch).detach(),
            ValueError,
            "the loss has no gradient: it was detached, computed under no_grad, or of nothing that is trained",
        ),
        (
            lambda model, batch: tally((model(batch[0]) - batch[1]).detach() ** 2),
            ValueError,
            "the loss has no gradient",
        ),
        (lambda model, batch: model(batch[0]), ValueError, "the loss has shape (2, 1): give its mean, or a Tally"),
        (lambda model, batch: squares(model, batch).item(), TypeError, "loss_of gave float for the loss"),
        (lambda model, batch: None, TypeError, "loss_of gave NoneType for the loss"),
        (
            lambda model, batch: squares(model, batch).to("meta"),
            ValueError,
            "the loss is on meta, the model on cpu: compute it where the model is",
        ),
    ],
)
def test_losses_that_cannot_be_trained(loss_of: Any, error: type[Exception], message: str) -> None:
    loop = loop_of(loss_of)
    with pytest.raises(error, match=re.escape(message)):
        loop.train(BATCHES, epochs=1)
    assert loop.steps == 0


@pytest.mark.xla
def test_a_loss_on_the_host_of_a_model_on_the_device() -> None:
    device = XlaBackend().device()
    model = model_of().to(device)
    loop = loop_of(lambda model, batch: squares(model, batch).cpu(), model=model)
    with pytest.raises(ValueError, match="the loss is on cpu, the model on xla: compute it where the model is"):
        loop.train(BATCHES, epochs=1)
