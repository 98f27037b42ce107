"""Models of a class that a function looks up by a dotted text: ``import_class(args.model)(4)``.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

NETS = """\
    import torch
    from torch import nn


    class Base(nn.Module):
        def forward(self, x):
            return x if (x < 0).any() else x - 1


    class Net(Base):
        def __init__(self):
            super(Net, self).__init__()
            self.part = Part()

        def forward(self, x):
            if (x > 0).any():  # TOLD
                x = x + 1
            return self.part(x)


    class Part(nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else x + 1  # TOLD


    if __name__ == "__main__":
        print(Net())
    """
MAIN = """\
    import argparse
    import importlib
    import sys
    import torch
    from torch import nn
    IMPORT

    def find(text):
        LOOK

    parser = argparse.ArgumentParser()
    parser.add_argument("--model")
    args = parser.parse_args()
    model = find(args.model)()
    model = model.to("cuda")
    layer = nn.Linear(4, 4).to("cuda")
    optimizer = torch.optim.SGD(layer.parameters())
    for x, y in loader:
        loss = (model(layer(x.cuda())) - y.cuda()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
PARTS = 'parts = text.split(".")\n        found = __import__(parts[0])\n        for part in parts[1:]:\n'
PARTS += "            found = getattr(found, part)\n        return found"
MODULE = 'module, _, name = text.rpartition(".")\n        return getattr(importlib.import_module(module), name)'


@pytest.mark.parametrize(
    ("brought", "look", "is_told"),
    [
        ("", PARTS, True),
        ("", MODULE, True),
        ("from nets import Net\n    print(Net())", PARTS, False),  # it is made
        ("", "return getattr(sys.modules[__name__], text)", False),
        ("", 'return getattr(importlib.import_module("torch.nn"), text)', False),
    ],
)
def test_module_classes_that_no_code_makes(tmp_path: Path, brought: str, look: str, is_told: bool) -> None:
    nets = NETS.replace("TOLD", "TPU103" if is_told else "")
    agree(tmp_path, "TPU103", main=MAIN.replace("IMPORT", brought).replace("LOOK", look), nets=nets)
