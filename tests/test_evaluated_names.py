"""Models of a class whose name Python evaluates: ``eval(args.model)(4)``.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

NETS = """\
    import torch
    from torch import nn


    class Net(nn.Module):
        def forward(self, x):
            if (x > 0).any():  # NET
                x = x + 1
            return x


    class Other(nn.Module):
        def forward(self, x):
            if (x < 0).any():  # OTHER
                x = x - 1
            return x
    """
MAIN = """\
    import argparse
    import torch
    from torch import nn
    IMPORT

    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="Net")
    args = parser.parse_args()
    model = MADE.to("cuda")
    layer = nn.Linear(4, 4).to("cuda")
    optimizer = torch.optim.SGD(layer.parameters())
    for x, y in loader:
        loss = (model(layer(x.cuda())) - y.cuda()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """


@pytest.mark.parametrize(
    ("brought", "made", "told"),
    [
        ("from nets import Net", "eval(args.model)()", "NET"),
        ("from nets import Net, Other", "eval(args.model)()", "NET OTHER"),
        ("from shown import *", "eval(args.model)()", "NET OTHER"),
        ("from nets import Net, Other\n    other = Other", "eval(args.model)()", "NET"),
        ("import nets", "eval(args.model)()", ""),
        ("from nets import Net", 'eval("nn.Linear")(4, 4)', ""),
        ("from nets import Net", 'eval("nn." + args.model)(4, 4)', ""),
    ],
)
def test_names_that_are_evaluated(tmp_path: Path, brought: str, made: str, told: str) -> None:
    nets = NETS.replace("# NET", "# TPU103" if "NET" in told else "")
    nets = nets.replace("# OTHER", "# TPU103" if "OTHER" in told else "")
    main = MAIN.replace("IMPORT", brought).replace("MADE", made)
    agree(tmp_path, "TPU103", main=main, nets=nets, shown="    from nets import Net, Other\n")
