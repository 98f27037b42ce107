"""Moves behind an optimizer that take nothing from it.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree, fill

SCRIPT = """\
    import torch
    from torch import nn

    class Work:
        def __init__(self, net):
            self.net = net
            self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

        def to(self, device):
            BODY

    SETUP
    for x in loader:
        optimizer.zero_grad()
        model(x.cuda()).sum().backward()
        optimizer.step()
    """
BUILD = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"


@pytest.mark.parametrize(
    "setup",
    [
        f"model = nn.Linear(4, 4)\n{BUILD}\nmodel.cuda()MARK\n{BUILD}",
        f"criterion = nn.L1Loss()\nmodel = nn.Linear(4, 4).cuda()\n{BUILD}\n"
        "optimizer.add_param_group({'params': criterion.parameters()})\ncriterion.cuda()MARK",
    ],
)
def test_moves_that_take_nothing(tmp_path: Path, setup: str) -> None:
    agree(tmp_path, "TPU303", main=fill(SCRIPT, SETUP=setup.replace("MARK", ""), BODY="self.device = device"))


@pytest.mark.parametrize(
    "setup",
    [
        f"model = nn.Linear(4, 4)\n{BUILD}\nmodel.cuda()MARK\nother = torch.optim.SGD(model.parameters(), lr=0.1)",
        f"model = nn.Linear(4, 4)\n{BUILD}\nmodel.cuda()MARK\nfor x in loader:\n    fit(model, optimizer)\n{BUILD}",
        f"criterion = nn.Linear(4, 4)\nmodel = nn.Linear(4, 4).cuda()\n{BUILD}\n"
        "optimizer.add_param_group({'params': criterion.parameters()})\ncriterion.cuda()MARK",
    ],
)
def test_moves_that_take_something(tmp_path: Path, setup: str) -> None:
    text = fill(SCRIPT, SETUP=setup.replace("MARK", "  # TPU303"), BODY="self.device = device")
    agree(tmp_path, "TPU303", main=text)


@pytest.mark.parametrize(("body", "is_told"), [("self.ok = 1", False), ("self.net.to(device)  # TPU303", True)])
def test_a_method_of_that_name_moves_what_its_body_does(tmp_path: Path, body: str, is_told: bool) -> None:
    setup = "model = nn.Linear(4, 4)\nwork = Work(model)\noptimizer = work.optimizer\nwork.to('cuda')MARK"
    text = fill(SCRIPT, SETUP=setup.replace("MARK", "  # TPU303" * is_told), BODY=body)
    agree(tmp_path, "TPU303", main=text)
