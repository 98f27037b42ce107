"""Models that run under autocast wherever they are called: in bfloat16, with float32 outside."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn
from tpulint_runtime import autocast_model

pytestmark = [pytest.mark.xla, pytest.mark.usefixtures("xla_started")]


class Pair(nn.Module):
    """Returns a list in a dictionary, and notes what its layer gave."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)
        self.seen: list[torch.dtype] = []

    def forward(self, x: torch.Tensor) -> dict[str, Any]:
        found = self.layer(x)
        self.seen.append(found.dtype)
        if x.size(0) == 1:
            raise ValueError("one row")
        return {"parts": [found, x.size(0)], "places": found.argmax(-1)}


@pytest.mark.parametrize("device", ["cpu", "xla"])
def test_a_model_computes_in_bfloat16_and_returns_float32(device: str) -> None:
    torch.manual_seed(0)
    model = Pair().to(device)
    plain, x = copy.deepcopy(model), torch.randn(5, 4).to(device)
    assert autocast_model(model) is model
    found, expected = model(x), plain(x)
    assert (model.seen, plain.seen) == ([torch.bfloat16], [torch.float32])
    assert found["parts"][0].dtype == torch.float32 and found["parts"][1] == 5
    assert found["places"].dtype == torch.long
    torch.testing.assert_close(found["parts"][0], expected["parts"][0], rtol=2e-2, atol=2e-2)
    found["parts"][0].square().sum().backward()
    assert model.layer.weight.grad is not None and model.layer.weight.grad.dtype == torch.float32
    assert model.layer(x).dtype == torch.float32, "nothing is left entered"
    with pytest.raises(ValueError, match="one row"):
        model(x[:1])
    assert model.layer(x).dtype == torch.float32, "nothing is left entered by what failed"
    other = copy.deepcopy(model)
    nn.init.zeros_(other.layer.weight)
    nn.init.zeros_(other.layer.bias)
    assert not other(x)["parts"][0].any(), "a copy runs itself"


def test_several_at_once_and_none() -> None:
    models, off = [Pair(), Pair()], Pair()
    assert autocast_model(models) is models
    assert autocast_model(off, enabled=False) is off
    for model in (*models, off):
        model(torch.ones(2, 4))
    assert [model.seen for model in (*models, off)] == [[torch.bfloat16], [torch.bfloat16], [torch.float32]]
