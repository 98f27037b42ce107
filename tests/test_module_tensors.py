"""Parameters and buffers of modules are where their module is; what is chosen in branches runs; flows go two ways."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest
from test_followed_values import SETUP, agree

TRAINING = """
    for x in range(9):
        loss = net(torch.rand(4, 4).to(device)).mean()
        loss.backward()
        optimizer.step()
    """


def of_module(made: str, forward: str, parameters: str = "self, x") -> str:
    """A training whose model makes tensors, and uses them."""
    return (
        SETUP
        + (
            "\n    class Net(nn.Module):\n"
            "        def __init__(self):\n            super().__init__()\n" + indent(made, " " * 12) + "\n"
            f"        def forward({parameters}):\n" + indent(forward, " " * 12) + "\n"
            "\n    net = Net().to(device)\n"
        )
        + TRAINING
    )


def test_parameters_and_buffers_are_on_the_device(tmp_path: Path) -> None:
    made = """\
self.scale = nn.Parameter(torch.ones(4))
print(self.scale.item())
self.register_buffer("mask", torch.ones(4, 4))
self.register_buffer("later", None)
self.register_buffer("count", torch.tensor(3))
self.table = torch.arange(4)
if self.mask.sum() > 3:
    print("on the host so far")"""
    forward = """\
print(self.scale.mean().item())  # TPU101
if self.mask.sum() > 3:  # TPU103
    x = x * 2
x = (x @ self.scale)[self.mask[0] > 0]  # TPU203
print(self.table.max().item(), self.later.item())
x = x[: self.count]  # TPU101
return x"""
    agree(tmp_path, train=of_module(made, forward))


def test_options_that_a_module_keeps_are_none_of_its_parts(tmp_path: Path) -> None:
    made = """\
self.options, self.p, self.part, self.built = options, options, part, build()"""
    forward = """\
if self.p.bias:
    x = x + 1
if self.options.weight > 0:
    x = x + 1
if self.built.bias.sum() > 0:  # TPU103
    x = x + 1
if self.part.bias.sum() > 0:  # TPU103
    x = x + 1
return self.part(x)"""
    text = of_module(made, forward).replace("__init__(self)", "__init__(self, options=None, part=None)")
    agree(tmp_path, train=text)


def test_modules_that_nothing_moves_stay_on_the_host(tmp_path: Path) -> None:
    text = of_module("self.scale = nn.Parameter(torch.ones(4))", "return x * self.scale.mean().item()")
    agree(tmp_path, train=text.replace('"cuda"', '"cpu"'))


def test_flows_that_are_run_backwards_do_not_train(tmp_path: Path) -> None:
    made = "self.scale = nn.Parameter(torch.ones(4))"
    marks = ("", "  # TPU101")
    for flag in ("reverse", "loud"):  # nor does anything run what stands behind a flag that no call gives
        forward = f"""\
if {flag}:
    print(self.scale.min().item()){marks[0]}
else:
    print(self.scale.max().item()){marks[1]}
return x * self.scale"""
        agree(tmp_path, train=of_module(made, forward, f"self, x, {flag}=False"))


def test_a_distribution_that_a_property_makes_is_asked_by_the_chosen_loss(tmp_path: Path) -> None:
    text = (
        SETUP
        + """
    class Flow(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mean", torch.zeros(4))
            self.layer = nn.Linear(4, 4)

        @property
        def prior(self):
            return torch.distributions.Normal(self.mean, 1.0)  # TPU131

        def forward(self, x):
            return self.layer(x)

    def likelihood(flow, x):
        return -flow.prior.log_prob(flow(x)).sum()

    def distance(flow, x):
        print(flow(torch.rand(4, 4).to(device)).sum().item())  # TPU101
        return flow(x).square().sum()

    def never(flow, x):
        print(flow(torch.rand(4, 4).to(device)).sum().item())

    def train(flow, loss_function):
        for x in range(9):
            loss = loss_function(flow, torch.rand(4, 4).to(device))
            loss.backward()
            optimizer.step()

    if args.dense:
        loss_function = likelihood
    else:
        loss_function = distance
    train(Flow().to(device), loss_function)
    """
    )
    agree(tmp_path, "TPU101,TPU131", train=text)


@pytest.mark.parametrize(
    ("made", "is_told"),
    [
        ("Independent(Normal(mean, 1.0, validate_args=False), 1)", False),
        ("Independent(Normal(mean, mean.exp()), 1)", True),
    ],
)
def test_a_distribution_that_checks_nothing_itself(tmp_path: Path, made: str, is_told: bool) -> None:
    program = f"""\
        import torch
        from torch import nn
        from torch.distributions import Independent, Normal

        net = nn.Linear(4, 4).cuda()
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for x in loader:
            mean = net(x.cuda())
            policy = {made}{"  # TPU131" if is_told else ""}
            opt.zero_grad()
            policy.log_prob(mean).mean().backward()
            opt.step()
        """
    agree(tmp_path, "TPU131", main=program)
