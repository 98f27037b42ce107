"""Gradients through the GRU of torch_xla: those of the CPU, whatever ran before."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
import torch
from torch import nn
from tpulint_runtime import support_gru_gradients

pytestmark = [pytest.mark.xla, pytest.mark.usefixtures("xla_started")]


class Net(nn.Module):
    def __init__(self, layer: Any, size: int, layers: int) -> None:
        super().__init__()
        self.front = nn.Linear(4, 4)
        self.gru = layer(4, size, num_layers=layers, batch_first=True)

    def forward(self, x: torch.Tensor, through: bool) -> torch.Tensor:
        output: torch.Tensor = self.gru(self.front(x) if through else x)[0]
        return output.sum()


@pytest.fixture
def scan() -> Iterator[Any]:
    """The module of torch_xla's GRU, as it was again afterwards."""
    gru = import_module("torch_xla.experimental.gru")
    before = gru.scan
    yield gru
    gru.scan = before


def gradients(length: int, through: bool, evaluated: bool, size: int, layers: int) -> tuple[Any, Any]:
    """Of each parameter, on XLA and on the CPU; shapes of other ``length`` are new to the process."""
    torch.manual_seed(0)
    here = Net(torch.nn.modules.rnn.GRU, size, layers)
    import torch_xla  # puts its class in the place of the GRU

    there = Net(nn.GRU, size, layers)
    there.load_state_dict(copy.deepcopy(here.state_dict()))
    there = there.to(torch_xla.device())
    x = torch.rand(length, 5, 4)
    if evaluated:
        with torch.no_grad():
            there(x.to(torch_xla.device()), through)
    there(x.to(torch_xla.device()), through).backward()
    here(x, through).backward()
    found = [None if one.grad is None else one.grad.cpu() for one in there.parameters()]
    return found, [one.grad for one in here.parameters()]


@pytest.mark.parametrize("evaluated", [True, False])
@pytest.mark.parametrize("through", [True, False])
@pytest.mark.parametrize(("size", "layers"), [(6, 1), (4, 2)])
def test_gradients_are_those_of_the_cpu(scan: Any, evaluated: bool, through: bool, size: int, layers: int) -> None:
    support_gru_gradients()
    support_gru_gradients()  # twice is once
    for mine, other in zip(*gradients(3, through, evaluated, size, layers), strict=True):
        if other is None:
            assert mine is None
        else:
            torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-4)


def test_what_torch_xla_does(scan: Any) -> None:
    """Where this fails, torch_xla is mended, and neither the function nor its rule is needed for that version."""
    found, expected = gradients(7, True, True, 6, 1)
    assert expected[0].abs().sum() > 0 and found[0] is None
    found, expected = gradients(8, False, False, 4, 2)
    assert expected[2].abs().sum() > 0 and found[2].abs().sum() == 0
