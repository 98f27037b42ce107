"""Modules that move what they are called with."""

from __future__ import annotations

import copy
import pickle
from typing import Any, NamedTuple

import torch
from torch import nn
from tpulint_runtime import move_inputs


class Pair(NamedTuple):
    first: torch.Tensor
    name: str


class Looks(nn.Module):
    """Gives what it is called with."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return args, kwargs


def test_tensors_in_containers_go_along() -> None:
    module = Looks()
    move_inputs(module)
    module.to("meta")  # where it is when it is called, not when it is made
    x = torch.ones(2)
    (plain, inner, text), named = module(x, [x, (x, 3)], "text", pair=Pair(x, "name"), table={"x": x, "n": None})
    assert [plain.device.type, inner[0].device.type, inner[1][0].device.type] == ["meta"] * 3
    assert named["pair"].first.device.type == named["table"]["x"].device.type == "meta"
    assert (text, inner[1][1], named["pair"].name, named["table"]["n"]) == ("text", 3, "name", None)
    assert isinstance(named["pair"], Pair)
    assert isinstance(inner[1], tuple)


def test_what_is_there_stays_what_it_is() -> None:
    module = Looks()
    move_inputs(module)
    batch = {"x": torch.ones(2), "names": ["a"]}
    (same,), _ = module(batch)
    assert same is batch
    assert same["x"] is batch["x"]


def test_twice_is_once_and_copies_move_too() -> None:
    module = Looks()
    move_inputs(module)
    move_inputs(module)
    assert len(module._forward_pre_hooks) == 1
    for copied in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        (moved,), _ = copied.to("meta")(torch.ones(2))
        assert moved.device.type == "meta"


def test_a_module_without_parameters_takes_inputs_as_they_come() -> None:
    module = nn.Identity()
    move_inputs(module)
    x = torch.ones(2)
    assert module(x) is x
