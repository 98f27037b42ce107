"""Tensors that a variable keeps from turn to turn, resized by a function that they are given to."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

TRAIN = """\
import torch
import torch_xla
{imported}
device = torch_xla.device()
model = torch.nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(dataset, batch_size=8, drop_last=True)
x = torch.zeros(8, 4){move}
for batch, _ in loader:
    {made}
    fill(x, batch)
    loss = model(x.to(device)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
"""
FILL = """

def fill(into, values):
    with torch.no_grad():
        into{alias}.resize_(values.size()).copy_(values)

"""


@pytest.mark.parametrize("is_imported", [True, False])
@pytest.mark.parametrize(
    ("move", "made", "alias", "code"),
    [
        (".to(device)", "pass", "", "TPU219"),
        (".to(device)", "pass", ".data", "TPU022"),
        ("", "pass", "", ""),  # on the host
        (".to(device)", "x = torch.zeros(8, 4).to(device)", "", ""),  # another one in each turn
    ],
)
def test_a_function_resizes_what_it_is_given(
    tmp_path: Path, is_imported: bool, move: str, made: str, alias: str, code: str
) -> None:
    fill = FILL.format(alias=alias)
    train = TRAIN.format(imported="from filling import fill\n" if is_imported else fill, move=move, made=made)
    (tmp_path / "train.py").write_text(train)
    if is_imported:
        (tmp_path / "filling.py").write_text(f"import torch\n{fill.rstrip()}\n")
    options = ("--select", "TPU219,TPU022", "--preview", "--no-cache", "--output-format", "concise")
    told = tpulint(*options, cwd=tmp_path).out
    name = "filling.py" if is_imported else "train.py"
    lines = (tmp_path / name).read_text().splitlines()
    row = next(at for at, line in enumerate(lines, 1) if "resize_" in line)
    assert (f"{name}:{row}:9: {code} " in told) is bool(code)
    assert told.count("TPU") == bool(code)
    tpulint("--fix", "--unsafe-fixes", *options, cwd=tmp_path)
    assert (tmp_path / name).read_text().splitlines() == lines
