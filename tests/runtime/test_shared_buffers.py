"""What TPU322 says of torch_xla: after ``a.copy_(b)`` both share a buffer, and an update of ``a`` deletes ``b``."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from tpulint_runtime import renew_tensors
from tpulint_runtime.backend import XlaBackend
from tpulint_runtime.loop import Loop

pytestmark = pytest.mark.xla

XLA = XlaBackend()
DELETED = r"deleted|Trying to access XLA data for tensor"
State = dict[str, Any]


def computed(*values: float) -> list[torch.Tensor]:
    """Tensors on the device that nothing is pending for."""
    tensors = [torch.full((4,), value).to(XLA.device()) for value in values]
    XLA.sync()
    return tensors


def test_an_update_of_the_copy_behind_a_boundary_deletes_what_was_copied() -> None:
    a, b = computed(1, 2)
    a.copy_(b)
    XLA.sync()
    a.add_(1)
    XLA.sync()
    with pytest.raises(RuntimeError, match=DELETED):
        b.cpu()


def test_it_does_not_without_a_boundary_between_copy_and_update() -> None:
    a, b = computed(1, 2)
    a.copy_(b)
    a.add_(1)
    XLA.sync()
    assert (a.cpu().tolist(), b.cpu().tolist()) == ([3.0] * 4, [2.0] * 4)


def test_it_does_not_where_only_the_source_is_updated() -> None:
    a, b = computed(1, 2)
    for _ in range(3):
        a.copy_(b)
        XLA.sync()
        b.add_(1)
        XLA.sync()
    assert (a.cpu().tolist(), b.cpu().tolist()) == ([4.0] * 4, [5.0] * 4)


def test_a_product_with_one_gives_the_copy_a_buffer_of_its_own() -> None:
    a, b = computed(1, 2)
    a.copy_(b * 1)
    XLA.sync()
    a.add_(1)
    XLA.sync()
    assert (a.cpu().tolist(), b.cpu().tolist()) == ([3.0] * 4, [2.0] * 4)


def on_device(model: torch.nn.Module) -> State:
    return copy.deepcopy(model.state_dict())


def on_host(model: torch.nn.Module) -> State:
    return {name: value.cpu().clone() for name, value in model.state_dict().items()}


def train_folds(keep: Callable[[torch.nn.Module], State], device: torch.device, evaluates_first: bool) -> list[float]:
    """The loss of the last step of each of three folds that begin with the same weights."""
    torch.manual_seed(0)
    x, y = torch.randn(8, 6).to(device), torch.randn(8, 2).to(device)
    model = torch.nn.Linear(6, 2).to(device)
    initial = keep(model)
    losses = []
    for _ in range(3):
        model.load_state_dict(initial)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        if evaluates_first:
            with torch.no_grad():
                F.mse_loss(model(x), y)
            XLA.sync()
        for _ in range(2):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            XLA.sync()
        losses.append(loss.item())
    return losses


def test_training_again_from_weights_on_the_device_fails_behind_an_evaluation() -> None:
    with pytest.raises(RuntimeError, match=DELETED):
        train_folds(on_device, XLA.device(), evaluates_first=True)


@pytest.mark.parametrize(("keep", "evaluates_first"), [(on_host, True), (on_host, False), (on_device, False)])
def test_the_other_ways_train_each_fold_alike(keep: Callable[[Any], State], evaluates_first: bool) -> None:
    XLA.device()
    expected = train_folds(on_host, torch.device("cpu"), evaluates_first)
    assert len(set(expected)) == 1
    assert train_folds(keep, XLA.device(), evaluates_first) == pytest.approx(expected, rel=1e-5)


def train_folds_in_loops(keep: Callable[[torch.nn.Module], State]) -> list[list[float]]:
    """The losses of three folds that begin with the same weights, each a loop of its own."""
    torch.manual_seed(1)
    batches = [(torch.randn(8, 5), torch.randn(8, 2)) for _ in range(3)]
    model = torch.nn.Linear(5, 2).to(XLA.device())
    initial = keep(model)
    losses = []
    for _ in range(3):
        model.load_state_dict(initial)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loop = Loop(model, optimizer, lambda model, batch: F.mse_loss(model(batch[0]), batch[1]), log_every=1)
        losses.append([record.values["loss"] for record in loop.train(batches, epochs=2).records])
    return losses


def test_loops_train_again_from_weights_on_the_host_not_on_the_device() -> None:
    first, second, third = train_folds_in_loops(on_host)
    assert first == second == third
    assert first[-1] < first[0]
    with pytest.raises(RuntimeError, match=DELETED):  # a loop has a boundary before its first step
        train_folds_in_loops(on_device)


def averaged(keep: Callable[[torch.nn.Module, torch.nn.Module], None], device: torch.device) -> list[float]:
    """The weight of a model, and of its moving average, which begins as ``keep`` fills it. The average comes first in
    the step, with a boundary behind it: an update of what was copied, and the source not yet updated."""
    torch.manual_seed(2)
    model, average = (torch.nn.Linear(1, 1, bias=False).to(device) for _ in range(2))
    x = torch.ones(4, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    XLA.sync()
    keep(average, model)
    XLA.sync()
    for _ in range(3):
        with torch.no_grad():
            average.weight.lerp_(model.weight, 0.5)
        XLA.sync()
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
        XLA.sync()
    return [model.weight.item(), average.weight.item()]


def load(average: torch.nn.Module, model: torch.nn.Module) -> None:
    average.load_state_dict(model.state_dict())


def load_from_host(average: torch.nn.Module, model: torch.nn.Module) -> None:
    average.load_state_dict(on_host(model))


def copy_a_product(average: torch.nn.Module, model: torch.nn.Module) -> None:
    with torch.no_grad():
        for own, other in zip(average.parameters(), model.parameters(), strict=True):
            own.copy_(other * 1)


def test_moving_averages_begin_from_weights_of_the_host_or_a_product() -> None:
    XLA.device()
    expected = averaged(load, torch.device("cpu"))
    for keep in (load_from_host, copy_a_product):
        assert averaged(keep, XLA.device()) == pytest.approx(expected, rel=1e-6)


def test_moving_averages_loaded_from_the_device_fail() -> None:
    with pytest.raises(RuntimeError, match=DELETED):
        averaged(load, XLA.device())


class Rated(torch.nn.Module):
    """A model with what does not change in training, as far as it is asked for."""

    def __init__(self, *parts: str) -> None:
        super().__init__()
        self.first, self.last = torch.nn.Linear(4, 4), torch.nn.Linear(4, 2)
        self.norm = torch.nn.BatchNorm1d(4)
        if "buffers" in parts:
            self.register_buffer("rates", torch.linspace(0.1, 1, 5))
            self.register_buffer("places", torch.arange(3))
            self.register_buffer("mask", torch.tensor([True, False]))
            self.register_buffer("halves", torch.ones(2, dtype=torch.bfloat16))
            self.register_buffer("none", None)
        if "unused" in parts:
            self.unused = torch.nn.Linear(4, 4)
        if "frozen" in parts:
            self.first.requires_grad_(False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.last(self.norm(self.first(x)).relu())
        return found


AVERAGES: dict[str, Any] = {
    "plain": {},
    "moving": {"avg_fn": lambda average, value, _: 0.9 * average + 0.1 * value},
    "moving all": {"multi_avg_fn": get_ema_multi_avg_fn(0.9), "use_buffers": True},
}


def train_averaged(
    device: torch.device, part: str, average: str, is_late: bool = False, is_renewed: bool = False, every: int = 1
) -> list[float]:
    """All numbers of a model that was trained on a device, and of its average."""
    torch.manual_seed(3)
    model, batches = Rated(part).to(device), torch.randn(6, 8, 4)
    averaged = AveragedModel(model, **AVERAGES[average])
    optimizer = torch.optim.SGD([one for one in model.parameters() if one.requires_grad], lr=0.1)
    for step, batch in enumerate(batches):
        (model(batch.to(device)).square().mean() / every).backward()
        if step % every == every - 1:
            optimizer.step()
            optimizer.zero_grad()
        if is_late:
            XLA.sync()
        if is_renewed:
            renew_tensors(model)
        averaged.update_parameters(model)
        XLA.sync()
    states = (model.state_dict(), averaged.module.state_dict())
    return [
        number
        for state in states
        for name, value in state.items()
        if "running_var" not in name  # torch_xla divides by another count, see `divide_norms`
        for number in value.cpu().double().flatten().tolist()
    ]


@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize(
    ("part", "average"),
    [("frozen", "plain"), ("frozen", "moving"), ("unused", "moving all"), ("buffers", "moving all")],
)
def test_what_stays_as_it_is_deletes_itself_by_its_average_unless_renewed(
    part: str, average: str, is_late: bool
) -> None:
    XLA.device()
    with pytest.raises(RuntimeError, match=DELETED):
        train_averaged(XLA.device(), part, average, is_late)
    expected = train_averaged(torch.device("cpu"), part, average, is_renewed=True)  # which changes nothing there
    assert expected == train_averaged(torch.device("cpu"), part, average)
    found = train_averaged(XLA.device(), part, average, is_late, is_renewed=True)
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_weights_that_wait_for_their_update_are_renewed_too() -> None:
    XLA.device()
    with pytest.raises(RuntimeError, match=DELETED):
        train_averaged(XLA.device(), "", "plain", every=3)
    expected = train_averaged(torch.device("cpu"), "", "plain", every=3)
    found = train_averaged(XLA.device(), "", "plain", is_renewed=True, every=3)
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(("part", "average"), [("", "plain"), ("", "moving all"), ("buffers", "moving")])
@pytest.mark.parametrize("is_late", [False, True])
def test_what_each_step_changes_is_averaged_as_it_is(part: str, average: str, is_late: bool) -> None:
    """The statistics of batch normalisations among it; buffers that are only copied."""
    XLA.device()
    expected = train_averaged(torch.device("cpu"), part, average)
    found = train_averaged(XLA.device(), part, average, is_late)
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_between_a_forward_pass_and_its_backward_pass_tensors_may_be_renewed() -> None:
    model = Rated("frozen").to(XLA.device())
    loss = model(torch.ones(3, 4).to(XLA.device())).sum()
    renew_tensors(model)
    loss.backward()
    assert model.last.weight.grad is not None and not model.last.weight.grad.isnan().any().cpu()
