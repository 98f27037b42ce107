"""Optimizers that a base class builds before a derived class moves the model, and those of functions that choose."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint, write

BASE = """\
import torch


class Base:
    def __init__(self, model, rate=0.1):
        self.model = model
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=rate)
"""
TRAINER = """

class Trainer(Base):
    def __init__(self, model):
        super().__init__(model)
        self.device = torch.device("cuda")
        self.model = self.model.to(self.device)

    def train(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            torch.nn.functional.cross_entropy(self.model(x.to(self.device)), y.to(self.device)).backward()
            self.optimizer.step()


def main(loader):
    Trainer(torch.nn.Linear(4, 2)).train(loader)
"""
MOVE = "        self.model = self.model.to(self.device)\n"
FLAG = "torch.__future__.set_swap_module_params_on_conversion(True)\n"


def found(folder: Path, **files: str) -> str:
    for name, text in files.items():
        write(folder / f"{name}.py", text)
    return tpulint("--isolated", "--no-cache", "--select", "TPU303", ".", cwd=folder).out


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (MOVE, MOVE),
        (MOVE, "        self.model.cuda()\n"),
        ("def train(self, loader):\n", "def train(self, loader):\n        self.model.cuda()\n"),
        ("    def __init__(self, model):\n        super().__init__(model)\n", "    def prepare(self):\n"),
    ],
)
def test_the_move_of_a_derived_class_comes_late(tmp_path: Path, before: str, after: str) -> None:
    trainer = TRAINER.replace(before, after)
    if before != MOVE:
        trainer = trainer if "prepare" in after else trainer.replace(MOVE, "")
    together = tmp_path / "together"
    assert "after `Base` built its optimizer" in found(together, main=BASE + trainer)
    apart = tmp_path / "apart"
    assert "after `Base` built its optimizer" in found(
        apart, base=BASE, main="import torch\nfrom base import Base\n" + trainer
    )
    tpulint("--isolated", "--no-cache", "--fix", "--unsafe-fixes", ".", cwd=apart)
    assert FLAG in (apart / "main.py").read_text() and found(apart) == found(tmp_path / "none", none="")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (MOVE, ""),
        ("super().__init__(model)", "super().__init__(model.cuda())"),
        ("Trainer(torch.nn.Linear(4, 2))", "Trainer(torch.nn.Linear(4, 2).cuda())"),
        ("        self.model = model\n", "        self.model = model.cuda()\n"),
        ("self.model.parameters()", "self.other.parameters()"),
        (MOVE, "        self.model = torch.nn.Linear(4, 2)\n        self.model.cuda()\n"),
        ("super().__init__(model)", "self.model = model"),
        (
            "        super().__init__(model)\n        self.device",
            "        self.model = model.cuda()\n        super().__init__(self.model)\n        self.device",
        ),
    ],
)
def test_moves_that_come_in_time(tmp_path: Path, before: str, after: str) -> None:
    text = (BASE + TRAINER).replace(before, after, 1)
    assert text != BASE + TRAINER
    assert "TPU303" not in found(tmp_path, main=text)


def test_functions_that_choose_an_optimizer_of_torch_optim_build_it(tmp_path: Path) -> None:
    text = dedent("""\
        import torch


        def build(module, name, *args, **kwargs):
            return getattr(module, name)(*args, **kwargs)


        def main(loader, config):
            model = torch.nn.Linear(4, 2)
            optimizer = build(torch.optim, config["optimizer"], model.parameters(), lr=0.1)
            model.to("cuda")
            for x, y in loader:
                torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda()).backward()
                optimizer.step()
        """)
    assert "TPU303" in found(tmp_path, main=text)
    moved = text.replace('    model.to("cuda")\n', "").replace("Linear(4, 2)\n", 'Linear(4, 2)\n    model.to("cuda")\n')
    assert "TPU303" not in found(tmp_path, main=moved)
    of_torch = text.replace("build(torch.optim, ", "build(torch, ").replace("    optimizer.step()\n", "    pass\n")
    assert "TPU303" not in found(tmp_path, main=of_torch.replace(", lr=0.1", "").replace("optimizer = ", "count = "))
