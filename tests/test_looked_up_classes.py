"""Classes that a function looks up in a module of a package by their names: CycleGAN's way to make a model.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

FIND = """
    import importlib
    from models.base_model import BaseModel, Other

    def find(name):
        filename = "models." + name + "_model"
        module = importlib.import_module(filename)
        model = None
        for key, cls in module.__dict__.items():
            if key.lower() == name + "model" and issubclass(cls, BASE):
                model = cls
        if model is None:
            exit(0)
        return model

    def create_model(options):
        model = find(options.model)
        instance = model(options)
        return instance
"""
BASE = """
    import torch

    class BaseModel:
        def __init__(self, options):
            self.device = torch.device("cuda")

        def optimize_parameters(self):
            pass

    class Other:
        pass
"""
MODEL = """
    import torch
    from torch import nn
    from models.base_model import BaseModel

    class LineModel(BaseModel):
        def __init__(self, options):
            BaseModel.__init__(self, options)
            self.net = nn.Linear(8, 2).to(self.device)
            self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

        def set_input(self, data):
            self.x = data["x"].to(self.device)

        def optimize_parameters(self):
            self.optimizer.zero_grad()
            self.loss = self.net(self.x).square().mean()
            self.loss.backward()
            self.optimizer.step()
"""
TRAIN = """
    import torch
    from models import create_model

    def train(samples, options):
        loader = torch.utils.data.DataLoader(samples, batch_size=8, shuffle=True)MARK
        model = create_model(options)
        for data in loader:
            model.set_input(data)
            model.optimize_parameters()
            print(model.loss.item())READ
"""


@pytest.mark.parametrize(("base", "is_told"), [("BaseModel", True), ("Other", False)])
def test_loops_over_steps_of_a_class_that_is_looked_up(tmp_path: Path, base: str, is_told: bool) -> None:
    (tmp_path / "models").mkdir()
    marks = {"MARK": "  # TPU501", "READ": "  # TPU101"} if is_told else {"MARK": "", "READ": ""}
    train = TRAIN
    for name, mark in marks.items():
        train = train.replace(name, mark)
    files = {"models/__init__": FIND.replace("BASE", base), "models/base_model": BASE, "models/line_model": MODEL}
    agree(tmp_path, "TPU101,TPU501", train=train, **files)
