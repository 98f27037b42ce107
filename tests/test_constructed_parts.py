"""Objects that a constructor is given in one file and that run through what it makes: networks, miners.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint
from marked_files import SETUP, agree

NETS = """\
    import torch
    from torch import nn

    class Net(nn.Module):
        def forward(self, x):
            if x.sum() > 0:{mark}
                x = x * 2
            return x
    """
BOTH = """\
    from torch import nn

    class Both(nn.Module):
        def __init__(self, device=None, net=None):
            super().__init__()
            {kept}

        def forward(self, x):
            return self.net(x)
    """
TRAINER = """\
    import torch

    class Trainer:
        def __init__(self, model, optimizer):
            self.model, self.optimizer = model, optimizer

        def step(self, x):
            loss = self.model.net(x).mean()
            loss.backward()
            self.optimizer.step()
    """
MAIN = """\
    import torch
    from both import Both
    from nets import Net
    from trainer import Trainer

    device = torch.device("cuda")
    model = {made}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    trainer = Trainer(model, optimizer)
    for x in loader:
        trainer.step(x.to(device))
    """


@pytest.mark.parametrize(
    ("kept", "made", "is_told"),
    [
        ("self.net = net", "Both(device=device, net=Net()).to(device)", True),
        ("self.net = net.to(device) if net is not None else None", "Both(device, Net())", True),
        ("self.net = net", "Both(device, unknown())", False),
        ("self.net = net", "Both(device)", False),
        ("self.net = wrap(net)", "Both(device, Net())", False),
    ],
)
def test_a_network_that_is_called_through_what_was_given_it(
    tmp_path: Path, kept: str, made: str, is_told: bool
) -> None:
    files = {"nets": NETS.format(mark="  # TPU103" if is_told else ""), "both": BOTH.format(kept=kept)}
    agree(tmp_path, "TPU103", **files, trainer=TRAINER, main=MAIN.format(made=made))


def test_one_of_several_calls_gives_what_nobody_knows(tmp_path: Path) -> None:
    files = {"nets": NETS.format(mark=""), "both": BOTH.format(kept="self.net = net")}
    other = """\
    from both import Both
    from elsewhere import unknown

    model = Both(net=unknown())
    """
    agree(tmp_path, "TPU103", **files, trainer=TRAINER, other=other, main=MAIN.format(made="Both(device, Net())"))


MINER = """\
    class Miner:
        def __init__(self, opt):
            self.opt = opt

        def __call__(self, batch):
            return batch.detach().cpu().numpy()  # TPU101
    """
CRITERION = """\
    import torch

    class Criterion(torch.nn.Module):
        def __init__(self, opt, miner):
            super().__init__()
            self.miner = miner

        def forward(self, batch, labels):
            pairs = self.miner(batch)
            return torch.stack([batch[a] - batch[b] for a, b in pairs]).mean()
    """
MINERS = """\
    from miners import near

    MINERS = {"near": near}

    def choose(name, opt):
        return MINERS[name].Miner(opt)
    """
CRITERIA = """\
    from criteria import plain

    def choose(name, opt, miner=None):
        library = {{"plain": plain}}[name]
        {made}
        return criterion, 3
    """


@pytest.mark.parametrize(
    "made",
    [
        "criterion = library.Criterion(opt, miner)",
        """given = {"opt": opt}
        if miner is not None:
            given["miner"] = miner
        criterion = library.Criterion(**given)""",
    ],
)
def test_an_object_without_torch_that_a_table_chooses(tmp_path: Path, made: str) -> None:
    for folder, text in (("miners", MINERS), ("criteria", CRITERIA.format(made=made))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").write_text(dedent(text))
    program = (
        SETUP
        + """
    import criteria
    import miners

    criterion, count = criteria.choose(opt.loss, opt, miners.choose(opt.miner, opt))
    given = {"batch": None}
    for x, y in loader:
        given["labels"] = y
        given["batch"] = model(x.to(device))
        criterion(**given).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU101", train=program, **{"miners/near": MINER, "criteria/plain": CRITERION})


def test_functions_of_modules_that_a_table_chooses(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "__init__.py").write_text("from plain import config\n")
    config = """\
    from nets import Net

    NETS = {"net": Net}

    def get_model(cfg):
        net = cfg["net"]
        if net is not None:
            net = NETS[net]()
        return net
    """
    choice = """\
    import plain

    METHODS = {"plain": plain}

    def get_model(cfg):
        return METHODS[cfg["method"]].config.get_model(cfg)
    """
    program = """\
    import torch
    from choice import get_model

    device = torch.device("cuda")
    model = get_model(cfg).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        model(x.to(device)).mean().backward()
        optimizer.step()
    """
    nets = NETS.format(mark="  # TPU103")
    agree(tmp_path, "TPU103", nets=nets, choice=choice, main=program, **{"plain/config": config})
    (tmp_path / "plain" / "config.py").write_text(dedent(config).replace("    if net is not None:\n    ", ""))
    told = tpulint("--output-format=concise", "--select", "TPU103", ".", cwd=tmp_path).out
    assert "nets.py:6:12: TPU103" in told
