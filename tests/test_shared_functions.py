"""Functions that training and evaluation share: what they give lies where the arguments of each call do.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

SHARED = """\
import torch

def positive(scores):
    return torch.relu(scores)

def accuracy(output, target):
    _, chosen = torch.max(output, 1)
    return torch.eq(chosen, target).float().mean()
"""
PROGRAM = """\
import torch
from torch import nn

device = torch.device("xla")
model = nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def count(scores):
    return positive(scores).sum().item()

def train(loader):
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        output = model(x)
        loss = positive(output).mean() + accuracy(output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(accuracy(output, y).item())  # TPU101
        print(positive(torch.zeros(3, 3)).sum().item())

def test(loader):
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            scores = model(x.to(device)).cpu()  # TPU101
            print(count(scores), positive(scores).sum().item())
            print("%.3f" % accuracy(scores, y))

def test_there(loader):
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            scores = model(x.to(device))
            print(positive(scores).sum().item())  # TPU101
            print("%.3f" % accuracy(scores, y.to(device)))  # TPU102

loader = torch.utils.data.DataLoader(data)
train(loader)
test(loader)
test_there(loader)
"""


@pytest.mark.parametrize("is_imported", [False, True])
def test_results_lie_where_the_arguments_of_a_call_do(tmp_path: Path, is_imported: bool) -> None:
    if is_imported:
        agree(tmp_path, "TPU101,TPU102", main=f"from shared import accuracy, positive\n{PROGRAM}", shared=SHARED)
    else:
        agree(tmp_path, "TPU101,TPU102", main=SHARED + PROGRAM)
