"""Random transforms of images that modules of other files apply to what is on the device.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from marked_files import SETUP, agree

TWINS = """\
    from torch import nn
    from torchvision import transforms as T

    def given(value, usual):
        return usual if value is None else value

    class Twins(nn.Module):
        def __init__(self, net, augment=None):
            super().__init__()
            self.net = net
            usual = nn.Sequential(T.RandomHorizontalFlip(), TRANSFORM)
            self.augment = given(augment, usual)

        def forward(self, x):
            one = self.net(self.augment(x))  # MARK
            return (one - self.net(x)).pow(2).mean()
    """
BY_HAND = """\
    import torch
    from torch import nn
    from twins import Twins

    device = torch.device("DEVICE")
    twins = Twins(nn.Flatten()).to(device)
    optimizer = torch.optim.Adam(twins.parameters())
    for x in loader:BOUNDARY
        loss = twins(x.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
ACCELERATED = """\
    import torch
    from accelerate import Accelerator
    from torch import nn
    from torch.utils.data import DataLoader
    from twins import Twins

    class Trainer:
        def __init__(self, net, samples):
            self.accelerator = Accelerator()
            self.twins = Twins(net)
            self.optimizer = torch.optim.Adam(self.twins.parameters())
            self.loader = DataLoader(samples, batch_size=8, drop_last=True)
            self.twins, self.optimizer, self.loader = self.accelerator.prepare(ORDER)

        def train(self):
            for x in self.loader:
                loss = self.twins(x)
                self.accelerator.backward(loss)
                self.optimizer.step()
                self.optimizer.zero_grad()

    Trainer(nn.Flatten(), images).train()
    """


@pytest.mark.parametrize(
    ("transform", "device", "is_told"),
    [
        ("T.RandomResizedCrop((16, 16))", "cuda", True),
        ("T.RandomGrayscale()", "cuda", False),
        ("T.RandomResizedCrop((16, 16))", "cpu", False),
    ],
)
def test_modules_of_other_files(tmp_path: Path, transform: str, device: str, is_told: bool) -> None:
    twins = dedent(TWINS).replace("TRANSFORM", transform).replace("MARK", "TPU209" if is_told else "none")
    main = BY_HAND.replace("DEVICE", device).replace("BOUNDARY", "  # TPU301" if device == "cuda" else "")
    agree(tmp_path, "TPU209,TPU301", main=main, twins=twins)


@pytest.mark.parametrize(
    ("order", "is_told"),
    [("self.twins, self.optimizer, self.loader", True), ("self.optimizer, self.twins, self.loader", False)],
)
def test_modules_that_accelerate_hands_back(tmp_path: Path, order: str, is_told: bool) -> None:
    """Each in the place in which it was given."""
    twins = dedent(TWINS).replace("TRANSFORM", "T.RandomCrop(16)").replace("MARK", "TPU209" if is_told else "none")
    agree(tmp_path, "TPU209,TPU301", main=ACCELERATED.replace("ORDER", order), twins=twins)


def test_a_mixture_that_a_function_of_another_file_returns(tmp_path: Path) -> None:
    build = """
    import torch
    from timm.data import Mixup

    def build(samples, is_mixed):
        loader = torch.utils.data.DataLoader(samples, batch_size=8, drop_last=True)
        mix, blend = None, None
        if is_mixed:
            mix = Mixup(0.8, 1.0)
            blend = Mixup(0.8)
        return loader, mix, blend
    """
    program = (
        SETUP
        + """
    from build import build

    loader, mixup, blend = build(samples, True)
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        x, y = mixup(x, y)  # TPU209
        x, y = blend(x, y)
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU209", build=build, train=program)
