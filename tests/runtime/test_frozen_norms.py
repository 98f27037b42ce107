"""Gradients through batch normalisations that use their running statistics: those of the CPU."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from tpulint_runtime import support_frozen_batch_norm

pytestmark = [pytest.mark.xla, pytest.mark.usefixtures("xla_started")]

NORMS = {
    "plain": (nn.BatchNorm2d(3), (4, 3, 5, 5)),
    "without weights": (nn.BatchNorm2d(3, affine=False), (4, 3, 5, 5)),
    "rows": (nn.BatchNorm1d(3, eps=1e-3), (4, 3)),
    "volumes": (nn.BatchNorm3d(3), (2, 3, 4, 4, 2)),
    "statistics of the batch": (nn.BatchNorm2d(3, track_running_stats=False), (4, 3, 5, 5)),
}


@pytest.fixture(autouse=True)
def own_function() -> Iterator[None]:
    """What the process had before, afterwards."""
    before = F.batch_norm
    support_frozen_batch_norm()
    support_frozen_batch_norm()  # twice is once
    yield
    F.batch_norm = before


def results(layer: nn.Module, x: torch.Tensor, device: str, needs: bool) -> list[torch.Tensor]:
    layer, x = copy.deepcopy(layer).to(device), x.to(device).requires_grad_(needs)
    found = layer(x)
    (found**3).sum().backward()
    gradients = [x.grad, *(one.grad for one in layer.parameters())]
    return [one.detach().cpu() for one in (found, *gradients) if one is not None]


@pytest.mark.parametrize("frozen", [True, False])
@pytest.mark.parametrize(
    ("name", "needs"),
    # Without weights, and of an input that needs none, nothing has a gradient.
    [(name, needs) for name, (layer, _) in NORMS.items() for needs in (True, False) if needs or [*layer.parameters()]],
)
def test_values_and_gradients_are_those_of_the_cpu(name: str, frozen: bool, needs: bool) -> None:
    torch.manual_seed(0)
    layer, shape = NORMS[name]
    layer = copy.deepcopy(layer).train(not frozen)
    for numbers in (*layer.parameters(), layer.running_mean, layer.running_var):
        if numbers is not None:
            numbers.data.uniform_(0.5, 1.5)
    x = torch.randn(shape)
    for mine, other in zip(*(results(layer, x, to, needs) for to in ("xla", "cpu")), strict=True):
        torch.testing.assert_close(mine, other, rtol=2e-4, atol=2e-4)


def test_half_precision_comes_back_as_it_went() -> None:
    layer = nn.BatchNorm2d(3).eval().to("xla")
    x = torch.randn(2, 3, 4, 4).to("xla", torch.bfloat16).requires_grad_()
    found = layer(x)
    found.sum().backward()
    assert found.dtype == torch.bfloat16
    assert x.grad is not None and x.grad.dtype == torch.bfloat16


def test_a_frozen_layer_is_trained_through() -> None:
    torch.manual_seed(1)
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(8, 2))
    model[1].eval()
    images = torch.randn(3, 1, 4, 4)
    weights = []
    for device in ("xla", "cpu"):
        trained = copy.deepcopy(model).to(device)
        optimizer = torch.optim.SGD(trained.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            trained(images.to(device)).square().mean().backward()
            optimizer.step()
        weights.append([one.detach().cpu() for one in trained.parameters()])
    for mine, other in zip(*weights, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-5)
