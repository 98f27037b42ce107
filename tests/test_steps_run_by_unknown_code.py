"""Functions that train one step: what may be a call of them takes nothing away, nor does handing them on."""

from __future__ import annotations

from textwrap import dedent

import pytest
from marked_files import agree

HEAD = """\
import torch
import torch_xla


class Agent:
    def __init__(self, device, meter):
        self.device = device
        self.meter = meter
        self.net = torch.nn.Linear(4, 2).to(device)
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def update(self, x):{step}
        loss = self.net(x.to(self.device)).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        {own}
        return loss.item()  # TPU101


"""
RULES = "TPU101,TPU301"


@pytest.mark.parametrize(
    ("code", "own"),
    [
        ("def log(bar, loss):\n    bar.update(loss)", ""),
        ("def log(bar, loss):\n    for update in loss:\n        print(update)", ""),
        ("def run(agent, buffer):\n    for i in range(9):\n        agent.update(buffer.sample())", ""),
        ("", "self.meter.update(1)"),
        # The step has a boundary where it is run, if it is that.
        ("def run(agent, x):\n    for i in range(9):\n        agent.update(x)\n        torch_xla.sync()", None),
        ("def run(agent):\n    for i in range(9):\n        go(agent)\n        torch_xla.sync()\n"
         "def go(agent):\n    agent.update(1)", None),
        # Nobody can be meant who is given something else.
        ("def run(bar, x):\n    for i in range(9):\n        bar.update(x, 1)\n        torch_xla.sync()", ""),
        ("import wandb\nfor i in range(9):\n    wandb.config.update({})\n    torch_xla.sync()", ""),
        ("from tqdm import tqdm\nbar = tqdm(total=3)\nfor i in range(9):\n    bar.update(1)\n    torch_xla.sync()", ""),
    ],
)  # fmt: skip
def test_calls_of_that_name(tmp_path, code: str, own: str | None) -> None:
    mark = "" if own is None else "  # TPU301"
    agree(tmp_path, RULES, agent=HEAD.format(step=mark, own=own or "pass") + code + "\n")


CLOSURE = """\
import torch
import torch_xla
from timer import timed, Timer


def main(loader):
    device = torch_xla.device()
    model = torch.nn.Linear(4, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        def train_step():{step}
            loss = model(x.to(device)).mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            return float(loss)  # TPU101
        {call}
"""


@pytest.mark.parametrize(
    ("call", "timer", "is_told"),
    [
        ("print(timed(train_step))", "def timed(f):\n    return f()\n", True),
        ("print(timed(f=train_step))", "def timed(f):\n    return f()\n", True),
        ("Timer(train_step).run()", "class Timer:\n    def __init__(self, f):\n        self.f = f\n", True),
        # What ends the step, or is not seen, may set the boundary.
        ("timed(train_step)", "import torch_xla\ndef timed(f):\n    f()\n    torch_xla.sync()\n", False),
        ("timed(train_step); torch_xla.sync()", "def timed(f):\n    return f()\n", False),
        ("print(timed(train_step))", "", False),
    ],
)
def test_steps_that_are_handed_on(tmp_path, call: str, timer: str, is_told: bool) -> None:
    main = CLOSURE.format(step="  # TPU301" if is_told else "", call=call)
    agree(tmp_path, RULES, main=dedent(main), **({"timer": timer} if timer else {}))
