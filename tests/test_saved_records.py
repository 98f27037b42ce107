"""Checkpoints in objects that keep what they are given: dataclasses, and the dictionaries made of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

TEXT = """\
import dataclasses
from dataclasses import asdict, dataclass
from typing import NamedTuple

import torch

model = torch.nn.Linear(4, 2).cuda()


@dataclass
class Snapshot:
    state: dict
    epoch: int = 0


@dataclasses.dataclass(frozen=True)
class Frozen:
    state: dict


class Pair(NamedTuple):
    state: dict


class Plain:
    def __init__(self, state):
        self.names = list(state)


def save(epoch, args):
    {made}
    torch.save({saved}, "snapshot.pt")
"""


@pytest.mark.parametrize(
    ("made", "saved", "is_told", "is_copied"),
    [
        ("snapshot = Snapshot(model.state_dict(), epoch)", "snapshot", True, False),
        ("snapshot = Snapshot(epoch=epoch, state=model.state_dict())", "vars(snapshot)", True, False),
        ("snapshot = Frozen(model.state_dict())", "asdict(snapshot)", True, True),
        ("snapshot = asdict(Snapshot(model.state_dict()))", "snapshot", True, True),
        ("snapshot = Snapshot(model.cpu().state_dict())", "asdict(snapshot)", False, False),
        ("snapshot = Snapshot({}, epoch)", "asdict(snapshot)", False, False),
        ("snapshot = Pair(model.state_dict())", "snapshot", False, False),  # xm.save makes a list of it
        ("snapshot = Plain(model.state_dict())", "snapshot", False, False),
        ("snapshot = args", "vars(snapshot)", False, False),
    ],
)
def test_dataclasses_that_hold_states(made: str, saved: str, is_told: bool, is_copied: bool) -> None:
    text = TEXT.format(made=made, saved=saved)
    found = lint(SourceFile.from_text(text), Settings(select=("TPU703",)), load()).findings
    assert [finding.code for finding in found] == ["TPU703"] * is_told
    assert any("copies each tensor" in finding.help for finding in found) is is_copied
    ported = lint(SourceFile.from_text(text), Settings(select=("TPU703",), fix=True), load()).text
    assert (f'xm.save({saved}, "snapshot.pt")' in ported) is is_told


def test_dataclass_of_another_file(tmp_path: Path) -> None:
    agree(
        tmp_path,
        "TPU703",
        records="""\
            from dataclasses import dataclass

            @dataclass
            class Snapshot:
                state: dict
            """,
        train="""\
            import torch
            from records import Snapshot

            model = torch.nn.Linear(4, 2).cuda()
            torch.save(Snapshot(model.state_dict()), "snapshot.pt")  # TPU703
            """,
    )


COPIED_IN_PLACE = """\
    import torch
    from torch import nn

    model = nn.Linear(4, 2).to("cuda")

    def save(path):
        state = model.state_dict()
        for key, value in state.items():
            state[key] = value.detach().to("cpu")
        torch.save({"model": state}, path)

    def save_twice(path):
        state = model.state_dict()
        torch.save(state, path)  # TPU703
        for key in list(state):
            state[key] = state[key].cpu()
        torch.save(state, path)

    def save_some(path, is_plain):
        state = model.state_dict()
        if is_plain:
            for key in state:
                state[key] = state[key].cpu()
        for key in state:
            state["own." + key] = state[key].cpu()
        torch.save(state, path)  # TPU703

    def save_more(path, other):
        state = model.state_dict()
        for key in state:
            state[key] = state[key].cpu()
        state["other"] = model.state_dict()
        torch.save(state, path)  # TPU703
"""


def test_states_that_a_loop_copies_to_the_host(tmp_path: Path) -> None:
    agree(tmp_path, "TPU703", train=COPIED_IN_PLACE)


PARTS_OF_STATES = """\
    import torch
    from torch import nn

    model = nn.Linear(4, 2).to("cuda")

    def save_trained(path):
        state = model.state_dict()
        torch.save({name: weight for name, weight in state.items() if "adapter" in name}, path)  # TPU703

    def save_renamed(path):
        state = {}
        for name, weight in model.state_dict().items():
            state[name.removeprefix("module.")] = weight
        torch.save({"model": state}, path)  # TPU703

    def save_of_host(path):
        torch.save({name: weight.cpu() for name, weight in model.state_dict().items()}, path)
        state = {}
        for name, weight in model.state_dict().items():
            weight = weight.cpu()
            state[name] = weight
        torch.save(state, path)

    def save_loaded(path):
        torch.save({name: weight for name, weight in torch.load(path).items()}, path)

    def save_sizes(path):
        torch.save({name: weight.shape for name, weight in model.state_dict().items()}, path)
"""


def test_parts_of_states(tmp_path: Path) -> None:
    agree(tmp_path, "TPU703", train=PARTS_OF_STATES)
