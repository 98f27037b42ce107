"""Parameters that layers share stay shared on XLA, whatever moves the module and whatever is loaded into it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import nn
from tpulint_runtime import keep_ties

pytestmark = [pytest.mark.xla, pytest.mark.usefixtures("xla_started")]


@keep_ties
class Words(nn.Module):
    """A language model with recurrent layers, whose last layer has the weight of the first."""

    def __init__(self, tied: bool = True) -> None:
        super().__init__()
        self.encoder = nn.Embedding(7, 4)
        self.rnn = nn.LSTM(4, 4, batch_first=True)
        self.decoder = nn.Linear(4, 7)
        if tied:
            self.decoder.weight = self.encoder.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self.rnn(self.encoder(x))[0]
        logits: torch.Tensor = self.decoder(states)
        return logits


class Derived(Words):
    """One that adds nothing."""


class Whole(nn.Module):
    """A model that such a module is a part of."""

    def __init__(self) -> None:
        super().__init__()
        self.words = Words()


def is_tied(model: nn.Module) -> bool:
    words = model.words if isinstance(model, Whole) else model
    encoder, decoder = words.encoder, words.decoder
    assert isinstance(encoder, nn.Embedding) and isinstance(decoder, nn.Linear)
    return encoder.weight is decoder.weight


@pytest.fixture(params=[Words, Derived, Whole])
def model(request: pytest.FixtureRequest) -> Iterator[nn.Module]:
    torch.manual_seed(0)
    yield request.param()


def test_ties_outlast_moves(model: nn.Module) -> None:
    count = len([*model.parameters()])
    for device in ("xla", "cpu", "xla"):
        model.to(device)
        assert is_tied(model)
        assert len([*model.parameters()]) == count
        assert {one.device.type for one in model.parameters()} == {device}
    assert is_tied(copy.deepcopy(model))


def test_weights_are_loaded_into_recurrent_layers_too(model: nn.Module, tmp_path: Path) -> None:
    torch.save(model.state_dict(), tmp_path / "model.pt")
    model.to("xla")
    model.load_state_dict(torch.load(tmp_path / "model.pt", map_location="cpu"))
    assert is_tied(model)


def test_what_is_not_shared_stays_apart() -> None:
    assert not is_tied(Words(tied=False).to("xla"))


def test_training_is_that_of_the_cpu() -> None:
    torch.manual_seed(0)
    start, tokens = Words(), torch.randint(0, 7, (3, 6))
    losses = []
    for device in ("cpu", "xla"):
        trained, x = copy.deepcopy(start).to(device), tokens.to(device)
        optimizer = torch.optim.SGD(trained.parameters(), lr=0.5)
        found = []
        for _ in range(4):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(trained(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        losses.append(found)
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
