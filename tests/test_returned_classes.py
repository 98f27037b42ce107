"""Models of a class that a function returns: ``pick(name)(width)``, ``kind = models.pick(name)`` and ``kind(width)``.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

NETS = """
    from torch import nn

    class Net(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.layer = nn.Linear(4, width)

        def forward(self, x):
            x = self.layer(x)
            return x[x > 0]  # TPU203

    class Wide(Net):
        pass
"""
OF_TABLE = """
    from nets import Net, Wide

    NETS = {"net": Net, "wide": Wide}

    def pick(name):
        if name not in NETS:
            raise KeyError(name)
        return NETS[name]
"""
OF_BRANCHES = """
    def pick(name):
        if name == "wide":
            from nets import Wide
            return Wide
        from nets import Net
        return Net
"""
OF_OTHERS = """
    from nets import Net

    class Unseen:
        pass

    def pick(name):
        return Net if name == "net" else load(name)
"""
TRAINING = """
    import sys
    import torch
    from data import loader
    from picking import pick

    device = torch.device("cuda")
    kind = pick(sys.argv[1])
    net = kind(4).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        loss = net(x.to(device)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
AT_ONCE = TRAINING.replace("    kind = pick(sys.argv[1])\n", "").replace("kind(4)", "pick(sys.argv[1])(4)")
IN_PLACE = AT_ONCE.replace(
    "    from picking import pick\n",
    '    from nets import Net, Wide\n\n    def pick(name):\n        return Net if name == "net" else Wide\n',
)


@pytest.mark.parametrize(
    "picking, training", [(OF_TABLE, TRAINING), (OF_BRANCHES, AT_ONCE), (OF_OTHERS, IN_PLACE)], ids=range(3)
)
def test_forward_passes_of_classes_that_a_function_returns(tmp_path: Path, picking: str, training: str) -> None:
    agree(tmp_path, "TPU203", nets=NETS, picking=picking, train=training)


def test_a_function_that_may_return_something_else(tmp_path: Path) -> None:
    agree(tmp_path, "TPU203", nets=NETS.replace("  # TPU203", ""), picking=OF_OTHERS, train=TRAINING)
