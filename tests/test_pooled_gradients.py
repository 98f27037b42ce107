"""Averages over windows that end behind the image: in files of their own, and where no gradient is asked of them."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint
from marked_files import SETUP, agree
from xla_facts import facts_of

BLOCK = """\
from torch import nn


class Block(nn.Module):
    def __init__(self, pool):
        super().__init__()
        layers = []
        if pool:
            layers.append(nn.AvgPool2d(2, 2, ceil_mode=True))%s
        layers.append(nn.Conv2d(3, 3, 3))
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)
"""
TRAINING = """\
import torch
from blocks import Block

device = torch.device("cuda")
block = Block(True).to(device)
optimizer = torch.optim.Adam(block.parameters())
for x in loader:
    optimizer.zero_grad()
    block(x.to(device)).sum().backward()
    optimizer.step()
"""
EVALUATING = """\
import torch
from blocks import Block

device = torch.device("cuda")
block = Block(True).to(device).eval()
with torch.no_grad():
    for x in loader:
        print(block(x.to(device)).sum().item())  # TPU101
"""


MEASURED = """\
import json
import torch, torch.nn.functional as F, torch_xla
import torch_xla.debug.metrics as met

def measure(dimensions, **options):
    torch.manual_seed(0)
    pool = getattr(F, f"avg_pool{dimensions}d")
    start = torch.rand(2, 3, *[7] * dimensions)
    x = start.to(torch_xla.device()).requires_grad_()
    met.clear_all()
    y = pool(x, 2, **options)
    y.square().sum().backward()
    torch_xla.sync()
    return any(name.startswith("aten::") for name in met.counter_names()), y.tolist(), x.grad.tolist()

found = {}
for at in (1, 2, 3):
    counted = measure(at, ceil_mode=True)
    uncounted = measure(at, ceil_mode=True, count_include_pad=False)
    found[at] = [counted[0], uncounted[0], measure(at)[0], counted[1] == uncounted[1], counted[2] == uncounted[2]]
found["padded"] = measure(2, ceil_mode=True, padding=1)[0]
found["divided"] = measure(2, divisor_override=3)[0]
print("FACTS" + json.dumps(found))
"""


@pytest.mark.xla
def test_what_the_host_computes() -> None:
    """Which gradients are computed there, and that nothing else is counted where nothing is padded."""
    found = facts_of(MEASURED)
    same = [True, False, False, True, True]
    assert found == {"1": same, "2": same, "3": same, "padded": True, "divided": True}


def test_blocks_of_a_file_of_their_own(tmp_path: Path) -> None:
    agree(tmp_path, "TPU101,TPU135", blocks=BLOCK % "  # TPU135", train=TRAINING)


def test_blocks_that_are_evaluated_only(tmp_path: Path) -> None:
    agree(tmp_path, "TPU101,TPU135", blocks=BLOCK % "", test=EVALUATING)


def test_what_is_made_for_the_data(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    smaller = nn.AvgPool2d(2, ceil_mode=True)
    for x, y in loader:
        loss = F.mse_loss(model(smaller(x).to(device)), y.to(device))
        loss.backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU135", train=program)


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("2, ceil_mode=True", "2, ceil_mode=True, count_include_pad=False"),
        ("2, 2, (0, 0), True", "2, 2, (0, 0), True, count_include_pad=False"),
        ("2, 2, 0, True, True", "2, 2, 0, True, False"),
        ("2, ceil_mode=True, count_include_pad=True", "2, ceil_mode=True, count_include_pad=False"),
        ("2, ceil_mode=True, padding=1", ""),
        ("2, ceil_mode=True, padding=padding", ""),
        ("2, 2, (0, 1), True", ""),
        ("2, ceil_mode=True, divisor_override=4", ""),
    ],
)
@pytest.mark.parametrize("is_layer", [True, False])
def test_no_padding_is_counted_where_there_is_none(tmp_path: Path, is_layer: bool, given: str, written: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(_program(is_layer, given))
    assert "TPU135" in tpulint("--select", "TPU135", "train.py", cwd=tmp_path).out
    tpulint("--select", "TPU135", "--fix", "--unsafe-fixes", "train.py", cwd=tmp_path)
    assert script.read_text() == _program(is_layer, written or given)


def _program(is_layer: bool, given: str) -> str:
    """A training loop with an average that is a layer of the model, or a function behind it."""
    setup = dedent(SETUP)
    if is_layer:
        setup = setup.replace("nn.Linear(4, 4)", f"nn.Sequential(nn.Conv2d(3, 3, 3), nn.AvgPool2d({given}))")
    loss = "model(x.to(device))" if is_layer else f"F.avg_pool2d(model(x.to(device)), {given})"
    return setup + dedent(f"""
        for x, y in loader:
            loss = {loss}.sum()
            loss.backward()
            optimizer.step()
        """)
