"""Functions that others run: what a decorator puts in front, `apply` of a module, an object that keeps one."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

TRAIN = """\
import functools
import torch
from torch import nn

{above}
model = {model}.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = (model(x.cuda()) - y.cuda()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {use}
"""
DECORATORS = {
    "function": """\
def shown(f):
    @functools.wraps(f)
    def wrapper(value):
        print(value.item())  # TPU101
        return f(value)
    return wrapper

@shown
""",
    "with arguments": """\
def shown(name):
    def outer(f):
        def wrapper(value, *rest):
            print(name, value.item())  # TPU101
            return f(value, *rest)
        return wrapper
    return outer

@shown("loss")
""",
    "class": """\
class Shown:
    def __init__(self, f):
        self.f = f

    def __call__(self, value):
        print(value.item())  # TPU101
        return self.f(value)

@Shown
""",
    "what is never put in front": """\
def shown(f):
    def wrapper(value):
        print(value.item())
        return f(value)
    return f

@shown
""",
    "of numbers": """\
def shown(f):
    def wrapper(value):
        print(f(value).item())
        return f(value)
    return wrapper

@shown
def other(value):
    return value

""",
}


@pytest.mark.parametrize("decorator", DECORATORS.values(), ids=DECORATORS)
def test_what_a_decorator_puts_in_front(tmp_path: Path, decorator: str) -> None:
    above = f"{decorator}def half(value):\n    return value / 2\n"
    agree(tmp_path, "TPU101", train=TRAIN.format(above=above, model="nn.Linear(3, 3)", use="half(loss)"))


def test_a_decorator_of_what_another_file_calls(tmp_path: Path) -> None:
    metrics = """\
    import torch

    def for_each(f):
        def wrapper(a, b):
            if a.mean() < 0.1:  # TPU103
                return 0
            return torch.stack([f(a[i], b[i]) for i in range(len(a))])
        return wrapper

    @for_each
    def distance(a, b):
        return (a - b).abs().mean()
    """
    program = TRAIN.format(
        above="from metrics import distance\n", model="nn.Linear(3, 3)", use="distance(x.cuda(), y.cuda())"
    )
    agree(tmp_path, "TPU103", metrics=metrics, train=program)


CLIP = """\
def clip(part):
    if hasattr(part, "weight") and part.weight.norm() > 1:{mark}
        part.weight.data /= part.weight.norm()
"""
CLIPPING = """\
class Clip:
    def __call__(self, part):
        if hasattr(part, "weight") and part.weight.norm() > 1:{mark}
            part.weight.data /= part.weight.norm()
"""


@pytest.mark.parametrize(
    ("above", "use"),
    [
        (CLIP, "model.apply(clip)"),
        (CLIPPING, "model.apply(Clip())"),
        (CLIPPING + "\nclip = Clip()\n", "model.apply(clip)"),
    ],
)
def test_what_is_applied_to_the_parts_of_a_module(tmp_path: Path, above: str, use: str) -> None:
    program = TRAIN.format(above=above.format(mark="  # TPU103"), model="nn.Linear(3, 3)", use=use)
    agree(tmp_path, "TPU103", train=program)


@pytest.mark.parametrize("use", ["frame.apply(clip)", "pass\nmodel.apply(clip)", "frame.apply(clip, 1)"])
def test_what_is_applied_to_something_else(tmp_path: Path, use: str) -> None:
    """Or once, behind the loop."""
    program = TRAIN.format(above=CLIP.format(mark=""), model="nn.Linear(3, 3)", use=use)
    agree(tmp_path, "TPU103", train=program)


NET = """\
def first(x):
    print(x.sum().item()){mark}
    return x.relu()

class Net(nn.Module):
    def __init__(self, first, name=""):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        {kept}

    def forward(self, x):
        return self.{called}(self.layer(x))
"""


@pytest.mark.parametrize("given", ["first", "first=first", "first, name='a'"])
@pytest.mark.parametrize(
    ("kept", "called"), [("self.first = first", "first"), ("self.name, self.run = name, first", "run")]
)
def test_functions_that_a_constructor_is_given(tmp_path: Path, given: str, kept: str, called: str) -> None:
    above = NET.format(mark="  # TPU101", kept=kept, called=called)
    agree(tmp_path, "TPU101", train=TRAIN.format(above=above, model=f"Net({given})", use="pass"))


@pytest.mark.parametrize("given", ["nn.ReLU()", "other", "LAYERS[0]"])
def test_functions_that_it_is_not_given(tmp_path: Path, given: str) -> None:
    above = NET.format(mark="", kept="self.first = first", called="first")
    agree(tmp_path, "TPU101", train=TRAIN.format(above=above, model=f"Net({given})", use="pass"))
