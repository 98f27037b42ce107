"""Forward passes that are the step themselves: ``model(x, optimizer)``.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

NETS = """\
    from torch import nn


    class Flow(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x, optimizer, step, writer):  # TRAINS
            optimizer.zero_grad()
            loss = self.layer(x).square().mean()
            loss.backward()
            optimizer.step()
            writer.add_scalar("loss", loss.item(), step)  # READS
            return loss
    """
MAIN = """\
    import torch
    from nets import Flow

    device = torch.device("cuda")
    model = Flow().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(2):
        for number, x in enumerate(loader):
            RUN
    """


@pytest.mark.parametrize(
    ("run", "is_step"),
    [
        ("model(x.to(device), optimizer, number + 20 * epoch, writer)", True),
        ("out = model(x.to(device), optimizer, number, writer)\n            print(number)", True),
        ("print(model)", False),
    ],
)
def test_forward_passes_of_other_files(tmp_path: Path, run: str, is_step: bool) -> None:
    nets = NETS.replace("TRAINS", "TPU301" if is_step else "").replace("READS", "TPU101" if is_step else "")
    agree(tmp_path, "TPU301,TPU101,TPU102", main=MAIN.replace("RUN", run), nets=nets)


def test_a_boundary_of_the_loop(tmp_path: Path) -> None:
    run = "model(x.to(device), optimizer, number, writer)\n            torch_xla.sync()"
    nets = NETS.replace("TRAINS", "").replace("READS", "TPU101")
    agree(tmp_path, "TPU301,TPU101", main="    import torch_xla\n" + MAIN.replace("RUN", run), nets=nets)


def test_the_step_of_a_log_is_a_number(tmp_path: Path) -> None:
    """Also where nobody knows who runs the pass."""
    net = """\
    import torch
    from torch import nn

    class Net(nn.Module):
        def forward(self, x, writer, step):
            loss = x.square().mean()
            writer.add_scalar("loss", loss, step)  # TPU102
            return loss

    net = Net().to("cuda")
    optimizer = torch.optim.SGD(net.parameters())
    for x, place in loader:
        loss = net(x.cuda(), writer, place)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU102", main=net)
