"""Functions that fit something once, with an optimizer of their own: no loop runs them step by step.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

from marked_files import agree

PROGRAM = """\
import torch
import torch_xla


class Scaled(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model.to(torch_xla.device())
        self.temperature = torch.nn.Parameter(torch.ones(1))
        self.optimizer = torch.optim.Adam(self.parameters())

    def set_temperature(self, logits, labels):
        print(torch.nn.functional.cross_entropy(logits, labels).item())
        optimizer = torch.optim.LBFGS([self.temperature], lr=0.01, max_iter=50)

        def closure():
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(logits / self.temperature, labels)
            loss.backward()
            return loss

        optimizer.step(closure)
        print(self.temperature.item())

    def train_step(self, x):  # TPU301
        loss = self.model(x).mean()
        optimizer = self.optimizer
        loss.backward()
        optimizer.step()
        print(loss.item())  # TPU101


def calibrate(logits, labels):
    temperature = torch.nn.Parameter(torch.ones(1, device=torch_xla.device()))
    optimizer = torch.optim.Adam([temperature], lr=0.01)
    loss = torch.nn.functional.cross_entropy(logits / temperature, labels)
    loss.backward()
    optimizer.step()
    print(temperature.item())
"""


def test_functions_with_an_optimizer_of_their_own(tmp_path: Path) -> None:
    agree(tmp_path, "TPU301,TPU101", main=PROGRAM)
