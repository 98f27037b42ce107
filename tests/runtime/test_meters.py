"""Meters that are told of the device's numbers when somebody looks at them."""

from __future__ import annotations

import copy
import pickle
from collections import deque
from typing import Any

import pytest
import torch
from torch import nn
from tpulint_runtime import defer_updates
from tpulint_runtime.backend import XlaBackend

pytestmark = [pytest.mark.xla, pytest.mark.usefixtures("xla_started")]


class Meter:
    """The meter of PyTorch's ImageNet example."""

    def __init__(self, name: str = "loss") -> None:
        self.name = name
        self.kinds: list[type] = []
        self.reset()

    def reset(self) -> None:
        self.val: Any = 0
        self.sum: Any = 0
        self.count = 0

    def update(self, val: Any, n: int = 1) -> None:
        self.kinds.append(type(val))
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

    def __str__(self) -> str:
        return "{name} {val:.3f} ({avg:.3f})".format(**self.__dict__)


class Window:
    def __init__(self) -> None:
        self.last: deque[float] = deque(maxlen=2)

    def add(self, value: float) -> None:
        self.last.append(value)

    def mean(self) -> float:
        return sum(self.last) / len(self.last)


def _on_device(*values: float) -> list[torch.Tensor]:
    backend = XlaBackend()
    found = [torch.tensor([value]).to(backend.device()).sum() for value in values]
    backend.sync(wait=True)
    return found


def _reads(function: Any) -> tuple[Any, int]:
    """What a function gives, and how often the host had fetched from the device when it was there."""
    backend = XlaBackend()
    before = backend.counts()
    result = function()
    return result, backend.counts().since(before).reads


@pytest.mark.parametrize("numbers", [False, True])
def test_all_meters_are_updated_with_one_transfer(numbers: bool) -> None:
    first, second = (defer_updates(Meter(name), numbers=numbers) for name in ("a", "b"))
    values = _on_device(1.0, 2.0, 4.0)

    def turns() -> None:
        for value in values:
            first.update(value, 2)
            second.update(val=value)

    assert _reads(turns)[1] == 0
    shown, reads = _reads(lambda: (str(first), float(second.sum), second.count))
    assert shown == ("a 4.000 (2.333)", 7.0, 3)
    assert reads == 1
    assert set(first.kinds) == {float if numbers else torch.Tensor}
    assert not numbers or type(second.sum) is float


def test_steps_of_a_meter_that_starts_anew_are_compiled_once() -> None:
    def compiled(defers: bool) -> int:
        backend = XlaBackend()
        torch.manual_seed(0)
        model = nn.Linear(5 + defers, 5).to(backend.device())  # shapes of its own: nothing is compiled yet
        optimizer = torch.optim.Adam(model.parameters())
        before = backend.compile_count()
        for _ in range(3):
            meter = defer_updates(Meter()) if defers else Meter()
            for _ in range(3):
                x = torch.randn(7, 5 + defers).to(backend.device())
                loss = model(x).square().mean()
                meter.update(loss.detach(), 7)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                backend.sync()
            assert 0 < float(meter.avg) < 10
        return backend.compile_count() - before

    assert compiled(False) == 3
    assert compiled(True) == 2


def test_what_may_change_beside_a_number_is_told_at_once() -> None:
    class Seen:
        def update(self, value: Any, others: list[int]) -> None:
            self.value, self.others = value, [*others]

    meter, others = defer_updates(Seen(), numbers=True), [1]
    (loss,) = _on_device(3.0)
    meter.update(loss, others)
    others.append(2)
    assert meter.others == [1]
    assert (type(meter.value), meter.value) == (float, 3.0)


def test_numbers_behind_the_boundary_compile_nothing() -> None:
    backend = XlaBackend()
    meter = defer_updates(Meter(), numbers=True)
    values = _on_device(1.0, 2.0, 4.0)
    before = backend.compile_count()
    for value in values:
        meter.update(value.detach(), 2)
        backend.sync(wait=True)
    assert meter.sum == 14.0
    assert backend.compile_count() == before


def test_parts_of_what_was_changed_in_place_are_computed_along() -> None:
    """The accuracy of PyTorch's ImageNet example: a part of ``correct.mul_(100 / n)``, with one dimension more."""
    backend = XlaBackend()
    meter = defer_updates(Meter("accuracy"))
    values = torch.tensor([1.0, 0.0, 1.0, 1.0]).to(backend.device())
    backend.sync(wait=True)
    for _ in range(2):
        correct = values.reshape(-1).sum(0, keepdim=True)
        meter.update(correct.mul_(100 / 4)[0], 4)
        del correct
        backend.sync(wait=True)
    before = backend.counts()
    assert str(meter) == "accuracy 75.000 (75.000)"
    since = backend.counts().since(before)
    assert (since.reads, since.compiles, since.launches) == (1, 0, 0)


def test_meters_of_one_class_stay_of_one_class() -> None:
    assert type(defer_updates(Meter())) is type(defer_updates(Meter()))


def test_other_numbers_come_behind_those_that_wait_for_the_meter() -> None:
    meter, other = defer_updates(Meter(), numbers=True), defer_updates(Meter(), numbers=True)
    one, two = _on_device(1.0, 2.0)
    meter.update(one)
    _, reads = _reads(lambda: other.update(5.0))
    assert reads == 0  # nothing waits for it
    meter.update(7.0)
    meter.update(two)
    assert (meter.val, meter.sum) == (2.0, 10.0)
    assert other.val == 5.0


def test_tensors_of_several_elements_do_not_wait() -> None:
    meter = defer_updates(Meter())
    many = torch.ones(4).to(XlaBackend().device())
    _, reads = _reads(lambda: meter.update(many))
    assert reads == 0
    assert meter.val.device.type == "xla"


def test_a_meter_may_be_reset_set_copied_and_pickled() -> None:
    meter = defer_updates(Meter(), numbers=True)
    one, two = _on_device(1.0, 2.0)
    meter.update(one)
    meter.reset()
    assert meter.sum == 0
    meter.update(two)
    meter.count = 5
    assert (meter.sum, meter.count) == (2.0, 5)
    meter.update(one)
    for again in (copy.deepcopy(meter), copy.copy(meter), pickle.loads(pickle.dumps(meter))):
        assert type(again) is Meter
        assert again.sum == 3.0
    assert isinstance(meter, Meter)


def test_methods_are_named() -> None:
    window = defer_updates(Window(), "add", numbers=True)
    for value in _on_device(1.0, 2.0, 4.0):
        window.add(value)
    assert window.mean() == 3.0


def test_half_of_a_thousand_calls_are_made() -> None:
    meter = defer_updates(Meter(), numbers=True)
    (value,) = _on_device(1.0)
    kinds = meter.kinds
    for _ in range(999):
        meter.update(value)
    assert len(kinds) == 0
    meter.update(value)
    assert len(kinds) == 500
    assert meter.sum == 1000.0


def test_on_the_host_calls_are_made_at_once() -> None:
    meter = defer_updates(Meter())
    kinds = meter.kinds
    meter.update(torch.tensor(2.0))
    meter.update(3.0)
    assert kinds == [torch.Tensor, float]
    assert float(meter.avg) == 2.5


def test_a_class_that_cannot_be_exchanged_is_refused() -> None:
    with pytest.raises(TypeError):
        defer_updates([])
