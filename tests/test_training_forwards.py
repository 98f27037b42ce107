"""Modules whose forward pass runs a backward pass itself: the loop that calls them and updates is a step loop."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from marked_files import agree

IMPORTS = "import torch\nfrom torch import nn\n"
WRAPPER = """\

class Wrapper(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, backward=False):
        count = (x > 0).sum().item()%s
        loss = self.model(x).pow(2).sum() / count
        go = backward and True
        if go:
            loss.backward()
        return loss
"""
SETUP = """\

wrapper = Wrapper(nn.Linear(8, 1)).cuda()
optimizer = torch.optim.Adam(wrapper.parameters())
"""
TOLD = "  # TPU101"


def _agree(folder: Path, is_elsewhere: bool, is_told: bool, program: str, wrapper: str = WRAPPER) -> None:
    """Check what is told of a program, in whose file the wrapper stands, or in whose project."""
    defined = IMPORTS + wrapper % (TOLD if is_told else "")
    used = SETUP + dedent(program)
    if is_elsewhere:
        agree(folder, "TPU101,TPU301,TPU302", wrap=defined, train=IMPORTS + "from wrap import Wrapper\n" + used)
    else:
        agree(folder, "TPU101,TPU301,TPU302", train=defined + used)


@pytest.mark.parametrize("is_elsewhere", [False, True])
@pytest.mark.parametrize("asked", ["backward=True", "True", "backward=trains"])
def test_a_loop_that_asks_for_it_is_a_step_loop(tmp_path: Path, is_elsewhere: bool, asked: str) -> None:
    program = f"""\
    for x in loader:  # TPU301
        loss = wrapper(x.cuda(), {asked})
        print(loss.item())  # TPU101
        optimizer.step()
        optimizer.zero_grad()
    """
    _agree(tmp_path, is_elsewhere, True, program)


@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_a_loop_that_goes_backward_itself_stays_one(tmp_path: Path, is_elsewhere: bool) -> None:
    program = """\
    for x in loader:  # TPU301
        loss = wrapper(x.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
    _agree(tmp_path, is_elsewhere, True, program)


@pytest.mark.parametrize("is_elsewhere", [False, True])
@pytest.mark.parametrize("asked", ["", ", backward=False", ", False", ", None"])
def test_what_does_not_ask_for_it_evaluates(tmp_path: Path, is_elsewhere: bool, asked: str) -> None:
    program = f"""\
    wrapper.eval()
    for x in loader:  # TPU302
        print(wrapper(x.cuda(){asked}).item())  # TPU101
    """
    _agree(tmp_path, is_elsewhere, True, program)


@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_in_training_alone(tmp_path: Path, is_elsewhere: bool) -> None:
    wrapper = WRAPPER.replace("if go:", "if self.training:")
    program = """\
    for epoch in range(10):
        wrapper.train()
        for x in loader:  # TPU301
            wrapper(x.cuda())
            optimizer.step()
            optimizer.zero_grad()
        wrapper.eval()
        for x in loader:  # TPU302
            print(wrapper(x.cuda()).item())  # TPU101
    """
    _agree(tmp_path, is_elsewhere, True, program, wrapper)


@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_where_no_gradient_is_recorded(tmp_path: Path, is_elsewhere: bool) -> None:
    program = """\
    with torch.no_grad():
        for x in loader:  # TPU302
            print(wrapper(x.cuda(), backward=flag).item())  # TPU101
    """
    _agree(tmp_path, is_elsewhere, True, program)


def test_no_step_without_an_update(tmp_path: Path) -> None:
    program = """\
    for x in loader:
        wrapper(x.cuda(), backward=True)
    """
    _agree(tmp_path, False, False, program)


def _with_unseen(folder: Path, program: str) -> None:
    """A model of a library that nobody sees."""
    setup = "import torch\n\nmodel = torch.nn.Linear(8, 1).cuda()\noptimizer = torch.optim.Adam(model.parameters())\n"
    agree(folder, "TPU101,TPU301", train=setup + dedent(program))


def test_a_wrapper_hands_on_that_it_is_asked_for(tmp_path: Path) -> None:
    wrapper = (
        WRAPPER
        + """\

class Outer(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.inner = Wrapper(model)

    def forward(self, x, backward=False):
        return self.inner(x, backward=backward)
"""
    )
    program = """\
    outer = Outer(nn.Linear(8, 1)).cuda()
    optimizer = torch.optim.Adam(outer.parameters())
    for i in range(100):  # TPU301
        total = 0.0
        for j in range(2):
            total += outer(next(batches).cuda(), backward=True)
        print(total.item())  # TPU101
        torch.nn.utils.clip_grad_norm_(outer.parameters(), 0.5)
        optimizer.step()
        optimizer.zero_grad()
    """
    for is_elsewhere in (False, True):
        folder = tmp_path / str(is_elsewhere)
        folder.mkdir()
        names = program if not is_elsewhere else "    from wrap import Outer\n" + program
        _agree(folder, is_elsewhere, True, names, wrapper)


def test_a_loop_that_clears_gradients_and_updates_is_one(tmp_path: Path) -> None:
    """Whoever runs the backward pass: here a function that nobody sees."""
    program = """\
    for x in loader:  # TPU301
        optimizer.zero_grad()
        loss = model(x.cuda()).mean()
        go_back(loss)
        optimizer.step()
        print(loss.item())  # TPU101
    """
    _with_unseen(tmp_path, program)


@pytest.mark.parametrize(
    "turn",
    [
        "model(x.cuda())\n    optimizer.step()",  # whose gradients?
        "optimizer.zero_grad()\n    optimizer.step()\n    schedule.step()",
        "with torch.no_grad():\n        model(x.cuda())\n    optimizer.zero_grad()\n    optimizer.step()",
        "optimizer.zero_grad()\n    model(x.cuda())\n    other.step(1)",
    ],
)
def test_a_loop_that_does_not_is_none(tmp_path: Path, turn: str) -> None:
    _with_unseen(tmp_path, f"for x in loader:\n    {turn}\n")
