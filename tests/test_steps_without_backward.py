"""Steps without a backward pass or a loader in sight, and devices that options of other files name."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

META = """\
import torch
import torch.nn.functional as F

device = torch.device("cuda")
model = torch.nn.Linear(8, 2).to(device)
optimizer = torch.optim.Adam(model.parameters())

def train(loader):
    for x, y in loader:  # TPU301
        sums = [0 for _ in model.parameters()]
        for task in range(2):
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            found = torch.autograd.grad(loss, model.parameters())
            for i, gradient in enumerate(found):
                sums[i] += gradient.detach()
        for i, p in enumerate(model.parameters()):
            p.grad = sums[i] / 2.0
        optimizer.step()
"""


def test_gradients_that_are_asked_for_and_given_to_parameters(tmp_path: Path) -> None:
    agree(tmp_path, "TPU301", main=META)


def test_gradients_of_inputs_are_no_step(tmp_path: Path) -> None:
    """Nothing is given to parameters, or only taken away from them."""
    agree(tmp_path, "TPU301", main=META.replace("  # TPU301", "").replace("p.grad = sums[i] / 2.0", "p.grad = None"))


HANDED = (
    META[: META.index("        for i, p in")]
    + """\
        give(model, sums)
        optimizer.step()
"""
)
GIVER = """\
def give(model, gradients):
    for p, gradient in zip(model.parameters(), gradients):
        p.grad = gradient
"""


def test_gradients_that_another_function_gives_to_parameters(tmp_path: Path) -> None:
    agree(tmp_path, "TPU301", main=GIVER + HANDED)
    agree(tmp_path, "TPU301", main="from gradients import give\n" + HANDED, gradients=GIVER)


def test_gradients_that_another_function_only_looks_at(tmp_path: Path) -> None:
    text = HANDED.replace("  # TPU301", "")
    giver = GIVER.replace("p.grad = gradient", "print(p.grad, gradient)")
    agree(tmp_path, "TPU301", main=giver + text)
    agree(tmp_path, "TPU301", main="from gradients import give\n" + text, gradients=giver)


PREPARED = """\
import torch
from accelerate import Accelerator

model = torch.nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters())
accelerator = Accelerator()
model, optimizer = accelerator.prepare(model, optimizer)

def train(batches):
    for state, reward in batches:  # TPU301
        state = state.to(accelerator.device)
        loss = (model(state).max(1)[0] - reward.to(accelerator.device)).pow(2).mean()
        optimizer.zero_grad()
        accelerator.backward(loss)
        optimizer.step()
"""


def test_accelerate_without_a_loader_sets_no_boundary(tmp_path: Path) -> None:
    agree(tmp_path, "TPU301", main=PREPARED)


@pytest.mark.parametrize("change", [("batches", "loader"), ("(model, optimizer)", "(model, optimizer, data)")])
def test_accelerate_may_have_prepared_a_loader(tmp_path: Path, change: tuple[str, str]) -> None:
    """One that another file makes, or something of which nobody knows that it is none."""
    agree(tmp_path, "TPU301", main=PREPARED.replace(*change).replace("  # TPU301", ""))


ONE_OF_TWO = """\
import torch
from accelerate import Accelerator

device = torch.device("cuda")
model = torch.nn.Linear(4, 2).to(device)
optimizer = torch.optim.Adam(model.parameters())
mixed = False
MADE
for x, y in loader:  # TPU301
    loss = (model(x.to(device)) - y.to(device)).pow(2).mean()
    if mixed:
        accelerator.backward(loss)
    else:
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize(
    ("made", "sets_boundary"),
    [
        ("if mixed:\n    accelerator = Accelerator()\n    loader = accelerator.prepare(loader)", False),
        ("accelerator = Accelerator()\nloader = accelerator.prepare(loader)", True),
        ("if other:\n    accelerator = Accelerator()\n    loader = accelerator.prepare(loader)", True),
    ],
)
def test_accelerate_that_is_made_under_a_flag(tmp_path: Path, made: str, sets_boundary: bool) -> None:
    text = ONE_OF_TWO.replace("MADE", made)
    agree(tmp_path, "TPU301", main=text.replace("  # TPU301", "") if sets_boundary else text)


OPTIONS = """\
import argparse
import torch

def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default=DEFAULT)
    return parser.parse_args()
"""
COMPARED = """\
import contextlib
import torch
import options

def main(args):
    model = torch.nn.Linear(8, 8).to(args.device)
    kind = "half" if "cuda" in args.device else "float"  # MARK
    if args.device == "cuda":  # MARK
        context = torch.autocast("cpu", dtype=torch.bfloat16)
    else:
        context = contextlib.nullcontext()
    with context:
        print(model(torch.ones(8).to(args.device)), kind)

if __name__ == "__main__":
    main(options.parse())
"""


@pytest.mark.parametrize("default", ['"cuda"', '"cuda:0"', '"xla"'])
def test_a_device_that_another_file_names_in_an_option(tmp_path: Path, default: str) -> None:
    """Also when it names XLA already: the comparison is false from then on."""
    options = OPTIONS.replace("DEFAULT", default) + ("" if "xla" in default else "\n")
    options = options.replace(f"default={default})", f"default={default})" + ("" if "xla" in default else "  # TPU001"))
    agree(tmp_path, "TPU001", main=COMPARED.replace("MARK", "TPU001"), options=options)


def test_a_device_of_the_host_that_another_file_names(tmp_path: Path) -> None:
    agree(tmp_path, "TPU001", main=COMPARED.replace("  # MARK", ""), options=OPTIONS.replace("DEFAULT", '"cpu"'))


CLOSURE = """\
import torch

def optimize(parameters, closure, rate, rounds):
    parameters = [p.to("xla") for p in parameters]
    optimizer = torch.optim.Adam(parameters, lr=rate)
    for _ in range(rounds):  # TPU301
        optimizer.zero_grad()
        closure()
        optimizer.step()
"""


def test_closures_that_run_the_backward_pass(tmp_path: Path) -> None:
    agree(tmp_path, "TPU301", common=CLOSURE)


@pytest.mark.parametrize(
    "change",
    [
        ("optimizer.zero_grad()", "other.zero_grad()"),
        ("optimizer.zero_grad()", "pass"),
        ("optimizer.step()", "pass"),
        ("closure()", "closure(parameters)"),
        ("closure()", "print()"),
        ('p.to("xla")', "p"),
        ("        closure()\n        optimizer.step()", "        optimizer.step()\n        closure()"),
    ],
)
def test_closures_of_which_that_is_not_known(tmp_path: Path, change: tuple[str, str]) -> None:
    text = CLOSURE.replace("  # TPU301", "")
    assert change[0] in text
    agree(tmp_path, "TPU301", common=text.replace(*change))


ASKED = """\
import torch
from torch import nn
from torch.nn import functional as F

device = torch.device("cuda")
model = nn.Linear(4, 2).to(device)

def train(loader, rate, eps):
    weight = torch.randn(2, 2, device=device, requires_grad=True)
    for x, y in loader:MARK
        x, y = x.to(device).requires_grad_(), y.to(device)
        noise = torch.zeros_like(x, requires_grad=True)
        loss = F.cross_entropy(model(x + noise) @ weight, y)
        found = torch.autograd.grad(loss, ASKED)
        with torch.no_grad():
            CHANGE
"""


@pytest.mark.parametrize(
    ("asked", "change", "is_told"),
    [
        ("model.parameters()", "for p, g in zip(model.parameters(), found): p.sub_(rate * g)", True),
        ("list(model.parameters())", "for p, g in zip(model.parameters(), found): p.data -= rate * g", True),
        ("[weight]", "weight -= rate * found[0]", True),
        ("weight", "weight.data.copy_(weight - rate * found[0])", True),
        ("model.parameters()", "print(sum(g.norm() for g in found))", False),  # looked at
        ("model.parameters()", "fast = [p - rate * g for p, g in zip(model.parameters(), found)]", False),  # made anew
        ("x", "x += eps * found[0].sign()", False),  # an attack
        ("noise", "noise += eps * found[0].sign()", False),
    ],
)
def test_gradients_that_are_asked_for_and_change_parameters(
    tmp_path: Path, asked: str, change: str, is_told: bool
) -> None:
    text = ASKED.replace("ASKED)", f"{asked})").replace("CHANGE", change)
    agree(tmp_path, "TPU301", main=text.replace("MARK", "  # TPU301" if is_told else ""))
