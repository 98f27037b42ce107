"""What a progress bar shows, held in a dict: the bar is thinned with it, where nothing else looks at it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest
from command import tpulint

PROGRAM = """\
    import math
    from collections import OrderedDict

    import torch
    import torch_xla
    from tqdm import tqdm

    device = torch_xla.device()
    model = torch.nn.Linear(4, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    bar = tqdm(loader)
    for step, x in enumerate(bar):
        loss = model(x.to(device)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
    """


def thinned(folder: Path, turn: str, behind: str) -> str:
    """What the turn ends with, once the fix is done."""
    path = folder / "train.py"
    path.write_text(dedent(PROGRAM) + indent(turn, "    ") + behind)
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU107", str(path), cwd=folder)
    return dedent(path.read_text().partition("    torch_xla.sync()\n")[2].removesuffix(behind))


@pytest.mark.parametrize("turn", [
    "shown = OrderedDict(loss=loss.item(), ppl=math.exp(loss.item()))\nbar.set_postfix(shown)\n",
    'shown = OrderedDict([("loss", loss.item())])\nbar.set_postfix(shown)\n',
    'shown = {"loss": loss.item()}\nbar.set_postfix(**shown)\n',
    'shown = dict(loss=loss.item())\nbar.set_postfix(ordered_dict=shown)\n',
])  # fmt: skip
def test_goes_under_the_condition_of_its_bar(turn: str, tmp_path: Path) -> None:
    assert thinned(tmp_path, turn, "") == "if step % 10 == 0:\n" + indent(turn, "    ")


@pytest.mark.parametrize(("turn", "behind"), [
    ('shown = {"loss": loss.item()}\nbar.set_postfix(shown)\nhistory.append(shown)\n', ""),
    ('shown = {"loss": loss.item()}\nbar.set_postfix(shown)\n', "print(shown)\n"),
    ('shown = {"loss": loss.item()}\nbar.update(shown)\n', ""),
    ('shown = {**others, "loss": loss.item()}\nbar.set_postfix(shown)\n', ""),
    ("shown = dict(others, loss=loss.item())\nbar.set_postfix(shown)\n", ""),
    ('shown = {"loss": loss.item()}\nstep += 1\nbar.set_postfix(shown)\n', ""),
])  # fmt: skip
def test_stays_where_something_else_looks_at_it(turn: str, behind: str, tmp_path: Path) -> None:
    assert thinned(tmp_path, turn, behind) == turn
