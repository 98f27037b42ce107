"""Gradients through a model in evaluation mode: none go back through a value that is cut off from them.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

PROGRAM = """\
import torch
import torchvision
from torch import nn
from torch.autograd import Variable

def apart(x):
    return x.mean(0)

teacher = torchvision.models.resnet18().to("xla")
FROZEN
model = nn.Linear(1000, 2).to("xla")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
teacher.eval()
for x, y in loader:
    x, y, kept, last = x.to("xla"), y.to("xla"), [], 0
    BODY
    optimizer.zero_grad()
    loss.backward()  # MARK
    optimizer.step()
"""


def _agree(tmp_path: Path, is_told: bool, body: str, frozen: str = "") -> None:
    text = PROGRAM.replace("FROZEN", frozen).replace("BODY", body.replace("\n", "\n    "))
    agree(tmp_path, "TPU323", main=text.replace("MARK", "TPU323" if is_told else ""))


@pytest.mark.parametrize(
    "body",
    [
        "loss = model(teacher(x).detach()).mean()",
        "t = teacher(x)\nloss = model(t.detach()).mean() + t.data.sum()",
        "t = teacher(x)\nloss = model(Variable(t.data)).mean()",
        "t = torch.relu(teacher(x))\nt = t.detach()\nloss = model(t).mean()",
        "a, *rest = teacher(x)\nloss = model(a.detach()).mean()",
        "t = teacher(x)\nloss = model(t[-1].detach()).mean()",
        "for one in x:\n    kept.append(teacher(one))\nloss = model(torch.stack(kept).detach()).mean()",
        "for one in x:\n    kept.append(teacher(one).detach())\nloss = model(torch.stack(kept)).mean()",
        "loss = model(torch.stack([teacher(one) for one in x]).detach()).mean()",
        "t = teacher(x)\nright = t.argmax(1) == y\nloss = model(apart(t).detach()).mean()",
        "t = teacher(x)\nwith torch.no_grad():\n    t = t.softmax(1)\nloss = model(t).mean()",
    ],
)
def test_results_that_are_cut_off(tmp_path: Path, body: str) -> None:
    _agree(tmp_path, is_told=False, body=body)


@pytest.mark.parametrize(
    "body",
    [
        "loss = model(teacher(x)).mean()",
        "t = teacher(x)\nloss = model(t.detach()).mean() + t.mean()",
        "t = teacher(x.detach())\nloss = model(t).mean()",
        "for one in x:\n    kept.append(teacher(one))\nloss = model(torch.stack(kept)).mean() + kept[0].sum()",
        "t = teacher(x)\nif last:\n    t = t.detach()\nloss = model(t).mean()",
        "loss = model(x.add(teacher(x))).mean()",
    ],
)
def test_results_that_are_not(tmp_path: Path, body: str) -> None:
    _agree(tmp_path, is_told=True, body=body)


@pytest.mark.parametrize(
    ("condition", "is_told"),
    [
        ('name not in ["fc.weight", "fc.bias"]', False),
        ('not name.startswith("fc.")', False),
        ('"classifier" not in name', False),
        ('"layer4" not in name', True),
        ('"fc" in name', True),
    ],
)
def test_layers_that_are_trained_behind_frozen_ones(tmp_path: Path, condition: str, is_told: bool) -> None:
    """A gradient goes back as far as something is trained."""
    frozen = f"for name, p in teacher.named_parameters():\n    if {condition}:\n        p.requires_grad = False"
    _agree(tmp_path, is_told, "loss = teacher(x).mean()", frozen)
