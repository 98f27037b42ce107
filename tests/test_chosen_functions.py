"""Functions of a list that a loop goes through, two functions of one name, masks of every third output."""

from __future__ import annotations

from pathlib import Path

from marked_files import SETUP, agree

LOSS = """\
    import torch
    from torch import nn

    class Loss(nn.Module):
        def plain(self, out, y):
            return nn.functional.cross_entropy(out, y)

        def hard(self, out, y):
            losses = nn.functional.cross_entropy(out, y, reduction="none")
            return losses[losses > 0.3].mean()  # TPU203

        def forward(self, outs, y):
            functions = [self.plain] * (len(outs) - 1) + [self.hard]
            return sum([part(out, y) for out, part in zip(outs, functions)])
    """


def test_methods_of_a_list_that_a_comprehension_goes_through(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    from loss import Loss

    criterion = Loss()
    for x, y in loader:
        optimizer.zero_grad()
        criterion([model(x.to(device))], y.to(device)).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU203", main=program, loss=LOSS)


def test_two_functions_of_one_name_in_branches(tmp_path: Path) -> None:
    """A function of another file returns one of them, and a third file runs it."""
    losses = """\
    from hard import Hard

    def make_loss(kind):
        hard = Hard()
        if kind == "plain":
            def measure(out, y):
                return (out - y).pow(2).mean()
        elif kind == "hard":
            def measure(out, y):
                return hard(out, y)
        return measure
    """
    hard = """\
    class Hard:
        def __call__(self, out, y):
            wrong = (out - y).abs()
            return wrong[wrong > 0.1].mean()  # TPU203
    """
    trainer = """\
    def train(model, loader, optimizer, measure):
        for x, y in loader:
            optimizer.zero_grad()
            measure(model(x.cuda()), y.cuda()).backward()
            optimizer.step()
    """
    program = (
        SETUP
        + """
    from losses import make_loss
    from trainer import train

    train(model, loader, optimizer, make_loss(args.loss))
    """
    )
    agree(tmp_path, "TPU203", main=program, losses=losses, hard=hard, trainer=trainer)


TARGETS = """\
    import torch

    def build(outputs, targets, device):
        found = []
        for i, output in enumerate(outputs):
            if i % 3 == 0:
                near = targets[:, 2:4] % 1.0
                j, k = ((near < 0.5) & (near > 0.1)).T
                chosen = torch.stack((torch.ones_like(j), j, k))
                found.append(targets.repeat((3, 1, 1))[chosen])  # TPU203
        return found
    """


def test_masks_of_every_third_output(tmp_path: Path) -> None:
    """A loop over the outputs of one batch runs to its end in every step: its counter is none of steps."""
    program = (
        SETUP
        + """
    from targets import build

    for x, y in loader:
        outputs = model(x.to(device))
        found = build(outputs, y.to(device), device)
        optimizer.zero_grad()
        sum(part.sum() for part in found).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU203", main=program, targets=TARGETS)
