"""Optimizers that a project writes itself: their ``step`` runs in every step, over parameters of the device.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest
from marked_files import SETUP, agree

OPTIMIZER = """\
    import torch
    from torch.optim.optimizer import Optimizer


    class Scaled(BASE):
        def step(self, closure=None):
            for number, group in enumerate(self.param_groups):
                if group["lr"] == 0:
                    continue
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    if len(self.state[p]) == 0:
                        self.state[p]["step"] = 0
                    norm, size = p.data.norm(), p.grad.norm()
                    ratio = norm / size if norm != 0 else 1  # 103
                    self.largest = size.item()  # 101
                    p.data.add_(p.grad, alpha=-group["lr"])
    """
PROGRAM = """\
    for x, y in loader:
        F.mse_loss(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
    """


def _text(base: str, is_told: bool) -> str:
    return dedent(OPTIMIZER).replace("BASE", base).replace("# 1", "# TPU1" if is_told else "# no 1")


@pytest.mark.parametrize(
    ("base", "is_told"), [("Optimizer", True), ("torch.optim.SGD", True), ("object", False), ("Other", False)]
)
def test_reads_in_the_step_of_an_optimizer_of_another_file(tmp_path: Path, base: str, is_told: bool) -> None:
    main = f"from scaled import Scaled\n{dedent(SETUP)}optimizer = Scaled(model.parameters())\n{dedent(PROGRAM)}"
    agree(tmp_path, "TPU101,TPU103", main=main, scaled=_text(base, is_told))


def test_reads_in_the_step_of_an_optimizer_of_the_same_file(tmp_path: Path) -> None:
    text = dedent(SETUP) + _text("Optimizer", True) + "\noptimizer = Scaled(model.parameters())\n" + dedent(PROGRAM)
    agree(tmp_path, "TPU101,TPU103", main=text)


def test_an_optimizer_that_nothing_steps_on_a_device(tmp_path: Path) -> None:
    program = dedent(SETUP).replace('"cuda"', '"cpu"') + "optimizer = Scaled(model.parameters())\n" + dedent(PROGRAM)
    agree(tmp_path, "TPU101,TPU103", main=f"from scaled import Scaled\n{program}", scaled=_text("Optimizer", False))


def test_groups_of_what_is_no_optimizer(tmp_path: Path) -> None:
    schedule = """
    class Schedule(torch.optim.lr_scheduler.LRScheduler):
        def step(self):
            for group in self.param_groups:
                for p in group["params"]:
                    print(p.item())
    """
    program = dedent(PROGRAM) + indent("Schedule(optimizer).step()\n", "    ")
    agree(tmp_path, "TPU101,TPU103", main=dedent(SETUP) + dedent(schedule) + "\n" + program)


HAVING = """\
    import math
    import torch


    class Clipped:
        def __init__(self, params):
            self.params, self.others = list(params), []
            self.make()

        def make(self):
            self.optimizer = MADE

        def step(self):
            total = 0.0
            for p in self.params:
                total += math.pow(p.grad.data.norm(), 2)  # 101
            for p in self.params:
                if total > 1:
                    p.grad.data.div_(math.sqrt(total))
            for p in self.others:
                print(float(p.sum()))
            self.optimizer.step()
            return total
    """


@pytest.mark.parametrize(
    ("made", "device", "is_told"),
    [
        ("torch.optim.SGD(self.params, lr=0.1)", "cuda", True),
        ("torch.optim.Adam(params=self.params)", "cuda", True),
        ("torch.optim.SGD(self.params, lr=0.1)", "cpu", False),
        ("torch.optim.swa_utils.AveragedModel(self.params)", "cuda", False),
        ('torch.optim.SGD([{"params": self.params}], lr=0.1)', "cuda", False),
        ("Other(self.params)", "cuda", False),
    ],
)
@pytest.mark.parametrize("name", ["optimizer", "given"])
def test_reads_in_the_step_of_what_has_an_optimizer(
    tmp_path: Path, made: str, device: str, is_told: bool, name: str
) -> None:
    """Of another file, be it that the loop is given the object."""
    text = dedent(HAVING).replace("MADE", made).replace("# 1", "# TPU1" if is_told else "# no 1")
    setup = dedent(SETUP).replace('"cuda"', f'"{device}"').splitlines()
    loop = f"def train(loader, {name}):\n" + indent(dedent(PROGRAM).replace("optimizer", name), "    ")
    run = "train(loader, Clipped(model.parameters()))\n"
    main = "\n".join(["from clipped import Clipped", *setup[:-1], loop, run])
    agree(tmp_path, "TPU101,TPU103", main=main, clipped=text)
