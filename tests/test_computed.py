"""What methods of objects whose class stands in another file compute, and leave to the step that comes next."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

FLOW = """
    import torch
    import torch_xla
    import torch.nn as nn

    class Flow(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(4, 4)
            self.table = torch.zeros(4)
            self.seen = None

        def forward(self, x):
            return self.net(x)

        def both(self, x):
            return self.net(x), x.sum(1)

        def one(self, x):
            hidden = self.net(x)
            if x.size(0) > 4:
                hidden = hidden * 2
            return hidden.detach()

        def through(self, x):
            z, _ = self.both(x)
            return z

        def beside(self, x):
            return x, self.net(x)

        def kept(self):
            return self.net.weight

        def same(self, x):
            return x.detach()

        def some(self, x):
            hidden = x
            if x.size(0) > 4:
                hidden = self.net(x)
            return hidden

        def fetched(self, x):
            hidden = self.net(x)
            print(hidden.cpu())
            return hidden

        def run(self, x):
            hidden = self.net(x)
            torch_xla.sync()
            return hidden

        def parts(self, x):
            for row in x:
                yield self.net(row)

        def either(self, x):
            if x.size(0) > 4:
                return self.net(x)
            return self.net(x), x
    """
PROGRAM = """
    import torch
    import torch_xla
    from torch.utils.data import DataLoader
    from flow import Flow

    def main(samples):
        device = torch_xla.device()
        model = Flow().to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loader = DataLoader(samples, batch_size=4, drop_last=True)
        for i, x in enumerate(loader):
            x = x.to(device)
            loss = model(x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            if i % 4 == 3:
                with torch.no_grad():
                    {}

    main([])
    """


@pytest.mark.parametrize(
    "shown",
    [
        "z, _ = model.both(x)",
        "z = model.one(x)",
        "z = model.through(x)",
        "_, z = model.beside(x)",
        "z, _ = model.beside(x)",  # the other name keeps it
        "z = model.both(x)[0]",
    ],
)
def test_what_a_method_of_another_file_computes_is_left(tmp_path: Path, shown: str) -> None:
    agree(tmp_path, "TPU221", flow=FLOW, main=PROGRAM.format(f"{shown}  # TPU221"))


@pytest.mark.parametrize(
    "shown",
    [
        "z = model.kept()",
        "z = model.same(x)",
        "z = model.beside(x)[0]",
        "z = model.some(x)",
        "z = model.fetched(x)",
        "z = model.run(x)",
        "parts = list(model.parts(x))",
        "z = model.one(x).cpu()",
        "print(model.one(x).sum().item())",
        "z, _ = model.both(x); z, _ = z.cpu(), None",
        "z, _ = model.both(x); del z, _",
    ],
)
def test_what_was_there_before_or_has_been_run_is_not_left(tmp_path: Path, shown: str) -> None:
    agree(tmp_path, "TPU221", flow=FLOW, main=PROGRAM.format(shown))


def test_a_method_that_another_class_has_otherwise(tmp_path: Path) -> None:
    """Of two classes one gives back what it is given."""
    other = """
    from torch import nn

    class Plain(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(4, 4)

        def forward(self, x):
            return self.net(x)

        def one(self, x):
            return x
    """
    chosen = PROGRAM.replace("from flow import Flow", "from flow import Flow\n    from plain import Plain").replace(
        "Flow().to(device)", "(Flow() if len(samples) > 9 else Plain()).to(device)"
    )
    agree(tmp_path, "TPU221", flow=FLOW, plain=other, main=chosen.format("z = model.one(x)"))
    agree(tmp_path, "TPU221", flow=FLOW, plain=other, main=chosen.format("z = model(x)  # TPU221"))
