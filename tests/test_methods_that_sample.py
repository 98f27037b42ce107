"""Loops that run a model of another file by a method: ``x = model.inference(x).softmax(-1)``."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint
from marked_files import agree

NET = """
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.steps = 0

        def forward(self, x):
            return self.layer(x)

        def inference(self, x):
            return BODY
"""
ROLL = """
    import torch
    from net import Net

    @torch.no_grad()
    def sample(model: Net, x):
        for i in range(20):LOOP
            x = model.inference(x).softmax(-1)
            print(x[:, : i + 1])END
        return x
"""
MAIN = """
    import torch
    from net import Net
    from roll import sample

    device = torch.device("cuda")
    net = Net().to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        loss = net(sample(net, x.to(device))).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("body", "is_run"), [("self.layer(x)", True), ("self(x)", True), ("x * 2", False)])
def test_a_method_of_another_file_runs_the_module(tmp_path: Path, body: str, is_run: bool) -> None:
    marks = ("  # TPU302", "  # TPU201") if is_run else ("", "")
    roll = ROLL.replace("LOOP", marks[0]).replace("END", marks[1])
    agree(tmp_path, "TPU201,TPU302", net=NET.replace("BODY", body), roll=roll, main=MAIN)


def test_a_parameter_is_named_without_its_annotation(tmp_path: Path) -> None:
    net = NET.replace(
        "(self, x):\n            return BODY", "(self, x, at: int):\n            return self.layer(x)[:, :at]"
    )
    roll = ROLL.replace("LOOP", "").replace("END", "").replace("inference(x)", "inference(x, i)")
    for name, text in {"net": net, "roll": roll, "main": MAIN}.items():
        (tmp_path / f"{name}.py").write_text(dedent(text))
    said = tpulint("--select", "TPU201", ".", cwd=tmp_path).out
    assert "Python's `at` becomes" in " ".join(said.split())
