"""Models that a function makes by another one of its file, and tables of functions that make models.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

NETS = """\
    from torch import nn


    class Net(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.fc = nn.Linear(4, width)

        def forward(self, x):
            x = self.fc(x)
            return x / 2 if x.max() > 1 else x  # TPU103


    class Other(Net):
        def forward(self, x):
            return x / 3 if x.min() > 1 else x{other}


    def make(width, again=False):
        if again:
            return make(width)
    {made}


    def small():
        return {small}


    def large():
        return Other(8)
    """
PROGRAM = """\
    import torch
    from nets import {imported}

    {table}
    net = {net}.cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.utils.data.DataLoader(list(torch.zeros(64, 4)), batch_size=8, drop_last=True):
        loss = net(x.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """


@pytest.mark.parametrize("small", ["make(width=4)", "make(4).eval()"])
@pytest.mark.parametrize("made", ["return Net(width)", "net = Net(width)\n        return net"])
def test_functions_that_return_what_others_make(tmp_path: Path, made: str, small: str) -> None:
    nets = NETS.format(other="", made=f"    {made}", small=small)
    agree(tmp_path, nets=nets, train=PROGRAM.format(imported="small", table="", net="small()"))


def test_entries_of_a_table_that_cannot_be_followed_are_left_out(tmp_path: Path) -> None:
    nets = NETS.format(other="  # TPU103", made="    return Net(width)", small="make(4)")
    table = 'TABLE = {"a": small, "b": large, "c": lambda: unknown(), "d": missing}'
    net = "TABLE[input()]()"
    agree(tmp_path, nets=nets, train=PROGRAM.format(imported="small, large", table=table, net=net))


def test_what_is_made_of_an_unknown_function_is_not_known(tmp_path: Path) -> None:
    nets = NETS.format(other="", made="    return (Net if width else unknown)(width)", small="make(4)")
    nets = nets.replace("  # TPU103", "")
    agree(tmp_path, nets=nets, train=PROGRAM.format(imported="small", table="", net="small()"))
