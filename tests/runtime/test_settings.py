"""What cannot be meant is refused where it is given, with its name and what to give."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from tpulint_runtime import Checkpoints, EarlyStopping, Evaluation, Loop, RecompileGuard, tally
from tpulint_runtime.backend import XlaBackend


@pytest.fixture(autouse=True)
def started(xla_started: None) -> None:
    """Gradients are computed on the CPU."""


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
