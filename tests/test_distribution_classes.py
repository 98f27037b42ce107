"""Classes of distributions that objects keep, and call as they compute: ``self.prior = Laplace``."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

STEPS = """
model = Net().to("cuda")
optimizer = torch.optim.Adam(model.parameters())
for x in batches:
    loss = goal(model, x.to("cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
BASE = """\
class Base(nn.Module):
    def __init__(self, prior, posterior=dist.Normal):
        super().__init__()
        self.prior = prior
        self.posterior = posterior
        self.layer = nn.Linear(4, 4)

    def spread(self, x):
        return self.layer(x), self.layer(x).exp()

    def forward(self, x):
        posterior = self.posterior(*self.spread(x))  # TPU131
        return posterior, posterior.rsample()

    def show(self):
        self.eval()
        return self.prior(torch.zeros(4), self.layer.weight.exp()).sample()
"""
NET = """\
class Net(Base):
    def __init__(self):
        super().__init__(dist.Laplace)
        self.mean = nn.Parameter(torch.zeros(4))
"""
GOAL = """\
def goal(model, x):
    posterior, z = model(x)
    prior = model.prior(model.mean, model.mean.exp())  # TPU131
    return (posterior.log_prob(z) - prior.log_prob(z)).sum()
"""
IMPORTS = "import torch\nfrom torch import distributions as dist, nn\n"


def test_a_class_that_a_constructor_is_given(tmp_path: Path) -> None:
    agree(tmp_path, "TPU131", train=IMPORTS + BASE + NET + GOAL + STEPS)


def test_one_that_another_file_gives(tmp_path: Path) -> None:
    base = "import torch\nfrom torch import nn\n" + BASE.replace("=dist.Normal", "")
    net = IMPORTS + "from base import Base\n" + NET.replace("(dist.Laplace)", "(dist.Laplace, dist.Normal)")
    train = "import torch\nfrom goal import goal\nfrom net import Net\n" + STEPS
    agree(tmp_path, "TPU131", base=base, net=net, goal=GOAL, train=train)


@pytest.mark.parametrize(
    ("kept", "called", "mark"),
    [
        ("dist.Normal", "self.kind(self.layer(x), 1.0)", "  # TPU131"),
        ("dist.Normal if wide else dist.Laplace", "self.kind(self.layer(x), 1.0)", "  # TPU131"),
        ("dist.Normal", "self.kind(self.layer(x), 1.0, validate_args=False)", ""),
        ("dist.Normal", "self.kind(0.0, 1.0)", ""),
        ("dist.Normal", "self.kind(*self.bounds)", ""),  # numbers of the host
        ("dist.Normal if wide else Unchecked", "self.kind(self.layer(x), 1.0)", ""),
        ("dist.AffineTransform", "self.kind(self.layer(x), 1.0)", ""),
        ("given", "self.kind(self.layer(x), 1.0)", ""),
    ],
)
def test_what_is_called(tmp_path: Path, kept: str, called: str, mark: str) -> None:
    net = f"""\
class Net(nn.Module):
    def __init__(self, given=None, wide=True):
        super().__init__()
        self.kind = {kept}
        self.bounds = (0.0, 1.0)
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return {called}.rsample() + self.layer(x){mark}

def goal(model, x):
    return model(x).sum()
"""
    agree(tmp_path, "TPU131", train=IMPORTS + "from checks import Unchecked\n" + net + STEPS)


def test_samples_of_it_are_on_the_device(tmp_path: Path) -> None:
    shown = """\
    z = model.prior(*(model.mean, 1.0)).sample()  # TPU131
    print(z.mean().item())  # TPU101
"""
    agree(tmp_path, "TPU101,TPU131", train=IMPORTS + BASE + NET + GOAL + STEPS + shown)
