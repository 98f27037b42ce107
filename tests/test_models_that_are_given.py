"""Models of which a file has nothing but a parameter: what they compute, and the loops that run them.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

CODES = "TPU101,TPU103,TPU203,TPU204,TPU213,TPU302"

TRAINED = """\
import torch


def train(model, loader, criterion, opt):
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        out = model(x)
        loss = criterion(GIVEN, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if out.max() > 3:MARK
            print("large")
        print((out > 0).sum().item())MARK1


class Trainer:
    def __init__(self, model, criterion, opt):
        self.model = model.cuda()
        self.criterion, self.opt = criterion, opt

    def step(self, x, y):
        out = self.model(x.cuda())
        loss = self.criterion(GIVEN, y.cuda())
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        if out.max() > 3:MARK
            print("large")

    def fit(self, loader):
        for x, y in loader:
            self.step(x, y)
"""


@pytest.mark.parametrize(
    ("given", "is_told"), [("out", True), ("out.view(-1, 4)", True), ("out['x']", False), ("out[0]", False)]
)
def test_what_a_given_model_computes_for_a_given_loss(tmp_path: Path, given: str, is_told: bool) -> None:
    text = TRAINED.replace("GIVEN", given)
    text = text.replace("MARK1", "  # TPU101" if is_told else "").replace("MARK", "  # TPU103" if is_told else "")
    agree(tmp_path, CODES, main=text)


def test_samples_chosen_by_what_a_given_model_computes(tmp_path: Path) -> None:
    text = """\
    import torch.nn.functional as F

    def train(model, loader, opt):
        for x, y in loader:
            x, y = x.cuda(), y.cuda()
            out = model(x)
            keep = out.softmax(1).max(1)[0] > 0.9
            loss = F.cross_entropy(out[keep], y[keep])  # TPU213
            opt.zero_grad()
            loss.backward()
            opt.step()
    """
    agree(tmp_path, CODES, main=text)


EXTRACTED = """\
import torch


def extract(model, loader):
    kept = []
    HEAD
        for images, names in loader:MARK
            images = images.MOVE
            features = model(images)
            kept.append(features.cpu())MARK1
    return torch.cat(kept)


class Engine:
    def __init__(self, model):
        self.model = model

    @torch.no_grad()
    def extract(self, loader):
        kept = []
        for images, names in loader:MARK2
            features = self.model(images.MOVE)
            kept.append(features.cpu())MARK3
        return torch.cat(kept)
"""


@pytest.mark.parametrize(
    ("head", "move", "is_told"),
    [
        ("with torch.no_grad():", "cuda()", True),
        ("with torch.no_grad():", "to(device)", True),
        ("with torch.no_grad():", "to(torch.float)", False),
        ("with torch.no_grad():", "float()", False),
        ("if True:", "cuda()", False),
    ],
)
def test_loops_that_run_a_given_model_without_gradients(tmp_path: Path, head: str, move: str, is_told: bool) -> None:
    is_moved = move in ("cuda()", "to(device)")
    text = EXTRACTED.replace("HEAD", head).replace("MOVE", move)
    text = text.replace("MARK3", "  # TPU101" if is_moved else "").replace("MARK2", "  # TPU302" if is_moved else "")
    text = text.replace("MARK1", "  # TPU101" if is_told else "").replace("MARK", "  # TPU302" if is_told else "")
    agree(tmp_path, CODES, main=text + "\n\ndevice = torch.device('cuda')\n")


def test_functions_within_methods(tmp_path: Path) -> None:
    """They see the object of the method, and their first parameter is not the object."""
    text = """\
    import torch
    from torch import nn

    class Engine:
        def __init__(self, model):
            self.model = model.cuda()

        def evaluate(self, queries, gallery):
            def extract(loader):
                kept = []
                with torch.no_grad():
                    for images, names in loader:  # TPU302
                        kept.append(self.model(images.cuda()).cpu())  # TPU101
                return torch.cat(kept)

            self.model.eval()
            return extract(queries), extract(gallery)

    class Attacked(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def attack(self, x):
            def replaced(loss, x):
                x[loss > 0] = 0  # TPU204
                if loss.sum() > 0:  # TPU103
                    print("large")
                return x

            return replaced(self.layer(x).sum(1), x.clone())

        def forward(self, x):
            return self.layer(self.attack(x)).sum()

    def train(loader):
        model = Attacked().cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in loader:
            loss = model(x.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """
    agree(tmp_path, CODES, main=text)
