"""Models in evaluation mode that code of another file takes gradients through."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

ATTACKS = """
    import torch
    import torch.nn.functional as F

    class Attack:
        def attack(self, model, x, y):
            return self.one_step(model, x, y)

        def one_step(self, model, x, y):
            x = x.clone().requires_grad_()
            F.cross_entropy(model(x), y).backward()
            return x.detach() + x.grad.sign()

    class Report:
        def attack(self, model, x, y):
            print(model(x).mean())
    """
TRAIN = """
    import torch
    import torch.nn.functional as F
    from torch import nn
    from attacks import Attack, Report
    from library import pgd_of, logits_of

    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.NORM(4), nn.Flatten()).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    attacker = MADE()
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        model.eval()
        CALL
        model.train()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
    """


@pytest.mark.parametrize(
    ("made", "call", "norm"),
    [
        ("Attack", "x = attacker.attack(model, x, y)  # TPU323", "BatchNorm2d"),
        ("Attack", "x = attacker.attack(x=x, y=y, model=model)  # TPU323", "BatchNorm2d"),
        ("Attack", "x = pgd_of(model, x)  # TPU323", "BatchNorm2d"),  # by its name
        ("Report", "x = attacker.attack(model, x, y)", "BatchNorm2d"),  # takes none
        ("Attack", "x = logits_of(model, x)", "BatchNorm2d"),
        ("Attack", "x = attacker.attack(other, x, y)", "BatchNorm2d"),
        ("Attack", "x = attacker.attack(model, x, y)", "GroupNorm"),
        ("Attack", "x = x + 1; model.train(); x = attacker.attack(model, x, y)", "BatchNorm2d"),
    ],
)
def test_what_is_handed_a_model_in_evaluation_mode(tmp_path: Path, made: str, call: str, norm: str) -> None:
    text = TRAIN.replace("MADE", made).replace("CALL", call).replace("NORM", norm)
    agree(tmp_path, "TPU323", train=text, attacks=ATTACKS)
