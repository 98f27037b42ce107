"""One function that trains and evaluates: which of its calls take batches for what, by the constants that they give.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from marked_files import SETUP, agree

EPOCH = """\
    import torch


    def run_epoch(loader, model, criterion, optimizer, mode="train", train=True):
        for x, y in loader:
            if CONDITION:
                optimizer.zero_grad()
                criterion(model(x.cuda()), y.cuda()).backward()
                optimizer.step()
            else:
                with torch.no_grad():
                    criterion(model(x.cuda()), y.cuda())
    """
LOADERS = """
    from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset

    criterion = nn.CrossEntropyLoss()
    samples = TensorDataset(torch.randn(42, 4), torch.randint(0, 2, (42,)))
    trained = DataLoader(samples, batch_size=8, shuffle=True)  # TPU501
    checked = DataLoader(samples, batch_size=8, sampler=SubsetRandomSampler(range(12)))  # TPU516
    for epoch in range(3):
        run_epoch(trained, model, criterion, optimizer)
        run_epoch(loader=checked, model=model, criterion=criterion, optimizer=optimizer, GIVEN)
    """


@pytest.mark.parametrize(
    ("condition", "given"),
    [
        ("train", "train=False"),
        ("train and mode", "mode=None"),
        ("mode == 'train'", "mode='val'"),
        ("not (mode != 'train' or not train)", "train=False"),
    ],
)
@pytest.mark.parametrize("is_apart", [True, False])
def test_constants_with_which_nothing_is_trained(tmp_path: Path, condition: str, given: str, is_apart: bool) -> None:
    epoch, loaders = EPOCH.replace("CONDITION", condition), SETUP + LOADERS.replace("GIVEN", given)
    files = {"main": loaders.replace("import torch\n", "import torch\n    from epochs import run_epoch\n", 1)}
    if is_apart:
        files["epochs"] = epoch
    else:
        files["main"] = dedent(epoch) + dedent(loaders)
    agree(tmp_path, "TPU501,TPU516", **files)


@pytest.mark.parametrize("given", ["train=1", "train=is_checked", "mode='train'", "**options"])
def test_what_may_train(tmp_path: Path, given: str) -> None:
    program = SETUP + LOADERS.replace("GIVEN", given).replace("TPU516", "TPU501")
    agree(tmp_path, "TPU501,TPU516", main=dedent(EPOCH.replace("CONDITION", "train")) + dedent(program))


CHOOSING = """\
def run_epoch(first, second, model, optimizer, train):
    CHOICE
    for x, y in SOURCE:
        loss = ((model(x.to("cuda")) - y.to("cuda")) ** 2).mean()
        if train:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""

CHOSEN = """\
from torch.utils.data import DataLoader

first = DataLoader(samples, batch_size=8, shuffle=True)  # TPU501
second = DataLoader(checked, batch_size=8)  # TPU516
for epoch in range(3):
    run_epoch(first, second, model, optimizer, True)
    run_epoch(first, second, model, optimizer, False)
"""


@pytest.mark.parametrize(
    ("choice", "source"),
    [
        ("loader = first if train else second", "loader"),
        ("if train:\n        loader = first\n    else:\n        loader = second", "enumerate(loader)"),
        ("loader = second\n    if train:\n        loader = first", "loader"),
        ("loader = second if not train else first", "tqdm(loader)"),
        ("pass", "(first if train else second)"),
    ],
)
@pytest.mark.parametrize("is_apart", [True, False])
def test_loaders_chosen_where_nothing_is_trained(tmp_path: Path, choice: str, source: str, is_apart: bool) -> None:
    epoch = CHOOSING.replace("CHOICE", choice).replace("SOURCE", source)
    setup = dedent(SETUP) + "from tqdm import tqdm\n"
    files = {"main": setup + ("from epochs import run_epoch\n" if is_apart else epoch) + CHOSEN}
    if is_apart:
        files["epochs"] = "from tqdm import tqdm\n\n" + epoch
    agree(tmp_path, "TPU501,TPU516", **files)


def test_loaders_chosen_by_something_else(tmp_path: Path) -> None:
    epoch = CHOOSING.replace("CHOICE", "loader = first if is_large else second").replace("SOURCE", "loader")
    agree(tmp_path, "TPU501,TPU516", main=dedent(SETUP) + epoch + CHOSEN.replace("TPU516", "TPU501"))


BY_MODE = """\
import torch
from torch import nn
{imported}
from torch.utils.data import DataLoader, TensorDataset

samples = TensorDataset(torch.randn(42, 4), torch.randn(42, 2))
trained = DataLoader(samples, batch_size=8, shuffle=True)  # TPU501
checked = DataLoader(samples, batch_size=8, shuffle=True)  # {code}
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    model.train()
    run_epoch(trained, model, optimizer)
    {called}
"""
MODE_ASKED = """\
def run_epoch(loader, model, optimizer):
    for x, y in loader:
        loss = ((model(x.cuda()) - y.cuda()) ** 2).mean()
        if {condition}:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""


@pytest.mark.parametrize(
    ("called", "condition", "code"),
    [
        ("with torch.no_grad():\n        run_epoch(checked, model, optimizer)", "model.training", "TPU516"),
        ("with torch.no_grad():\n        run_epoch(checked, model, optimizer)", "loss.requires_grad", "TPU516"),
        ("model.eval()\n    run_epoch(checked, model, optimizer)", "model.training", "TPU516"),
        ("model.eval()\n    run_epoch(checked, model, optimizer)", "optimizer", "TPU501"),  # frozen batch norms
        ("run_epoch(checked, model, optimizer)", "model.training", "TPU501"),
    ],
)
@pytest.mark.parametrize("is_apart", [True, False])
def test_calls_that_record_no_gradient(tmp_path: Path, called: str, condition: str, code: str, is_apart: bool) -> None:
    epoch = MODE_ASKED.format(condition=condition)
    imported = "from epochs import run_epoch" if is_apart else epoch
    files = {"main": BY_MODE.format(imported=imported, called=called, code=code)}
    files |= {"epochs": epoch} if is_apart else {}
    agree(tmp_path, "TPU501,TPU516", **files)
