"""Hooks of modules and tensors: functions that run in every step, though no step is seen to call them.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

PROGRAM = """\
import functools
import torch
from torch import nn

seen = []


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        KEPT

    def note(self, module, given, output):
        self.mean = OF_NET

    def forward(self, x):
        return self.layer(x)


def watch(model):
    def note(module, given, gradients):
        seen.append(gradients[0].norm().item())MARK

    REGISTERED


def note_gradient(gradient):
    seen.append(float(gradient.norm()))GRADIENT


def train(model, optimizer):
    for step in range(10):
        loss = model(torch.ones(4, 4).to("cuda")).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    model, other = Net().to("cuda"), Net().to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    BEFORE
    train(model, optimizer)
    AFTER


if __name__ == "__main__":
    main()
"""
TOLD = "  # TPU101"
_OF_PARTS = "for module in model.modules():\n        module.register_full_backward_hook(note)"


def program(**parts: str) -> str:
    filled = {"KEPT": "pass", "OF_NET": "output.mean()", "REGISTERED": "pass", "MARK": "", "GRADIENT": ""}
    text = PROGRAM
    for name, part in (filled | {"BEFORE": "pass", "AFTER": "pass"} | parts).items():
        text = text.replace(name, part)
    return text


@pytest.mark.parametrize(
    ("registered", "before", "is_told"),
    [
        (_OF_PARTS, "watch(model)", True),
        ("model.apply(lambda module: module.register_backward_hook(note))", "watch(model)", True),
        ("for name, part in model.named_modules():\n        part.register_forward_hook(note)", "watch(model)", True),
        ("for part in model.children():\n        if isinstance(part, nn.Linear):\n            "
         "part.register_forward_hook(functools.partial(note))", "watch(model)", True),
        ("model.layer.register_forward_hook(note)", "watch(model)", True),
        ("model.layer.register_forward_hook(note)", "watch(other)", False),
        ("handle = model.layer.register_forward_hook(note)\n    handle.remove()", "watch(model)", False),
        (_OF_PARTS, "pass", False),
        (_OF_PARTS, "pass\n    if debug:\n        watch(model)", False),
    ],
)  # fmt: skip
def test_hooks_that_a_function_registers(tmp_path: Path, registered: str, before: str, is_told: bool) -> None:
    text = program(REGISTERED=registered, BEFORE=before, MARK=TOLD if is_told else "")
    agree(tmp_path, "TPU101,TPU103", main=text)


def test_hooks_that_are_registered_behind_the_training(tmp_path: Path) -> None:
    agree(tmp_path, "TPU101,TPU103", main=program(REGISTERED=_OF_PARTS, AFTER="watch(model)"))


@pytest.mark.parametrize("of_net", ["output.mean().item()" + TOLD, "output.detach().mean()", "module.training"])
def test_hooks_that_a_module_registers_of_its_own_parts(tmp_path: Path, of_net: str) -> None:
    kept = "self.layer.register_forward_hook(self.note)"
    agree(tmp_path, "TPU101,TPU103", main=program(KEPT=kept, OF_NET=of_net))


@pytest.mark.parametrize(
    ("before", "is_told"),
    [
        ("model.layer.weight.register_hook(note_gradient)", True),
        ("for p in model.parameters():\n        p.register_hook(note_gradient)", True),
        ("other.layer.weight.register_hook(note_gradient)", False),
    ],
)
def test_hooks_of_parameters(tmp_path: Path, before: str, is_told: bool) -> None:
    agree(tmp_path, "TPU101,TPU103", main=program(BEFORE=before, GRADIENT=TOLD if is_told else ""))


def test_hooks_of_a_file_that_trains_nothing(tmp_path: Path) -> None:
    text = program(REGISTERED=_OF_PARTS, BEFORE="watch(model)").replace("        optimizer.step()\n", "")
    agree(tmp_path, "TPU101,TPU103", main=text.replace("        loss.backward()\n", ""))
