"""What is loaded and used as it lies, in another function or kept by a class, goes to the device all the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

MAIN = """\
import torch
from averages import Average
from files import read

device = torch.device("cuda")
net = torch.nn.Linear(4, 3).to(device)
average = Average(net.parameters())
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
{}
"""
AVERAGES = """\
class Average:
    def __init__(self, parameters):
        self.shadow = [each.clone().detach() for each in parameters]

    def load_state_dict(self, state):
        {}
"""
FILES = """\
import torch


def read(path, device="cpu"):
    {}
"""
LOADED = "torch.load(path, map_location=device)"


def ported(folder: Path, name: str, **files: str) -> str:
    """One of the files after all fixes; a second run changes nothing."""
    for each, text in files.items():
        (folder / f"{each}.py").write_text(text)
    tpulint("check", "--fix", "--unsafe-fixes", ".", cwd=folder)
    text = (folder / f"{name}.py").read_text()
    tpulint("check", "--fix", "--unsafe-fixes", ".", cwd=folder)
    assert text == (folder / f"{name}.py").read_text()
    return text


@pytest.mark.parametrize(
    ("body", "use", "is_moved"),
    [
        (f"return {LOADED}", "table[net(x).argmax(1)]", True),
        (f"table = {LOADED}\n    return table", "net(x) * table", True),
        (f"return {LOADED}", "show(net(x), table)", True),
        (f"return {LOADED}", "table.unsqueeze(0)", True),
        (f"return {LOADED}", "torch.from_numpy(table[: table.shape[0]])", False),  # it may be an array
        (f"return {LOADED}", "net.load_state_dict(table)", False),
        (f'return {LOADED}["rows"]', "table.keys()", False),
    ],
)
def test_tensors_that_a_function_returns(tmp_path: Path, body: str, use: str, is_moved: bool) -> None:
    lines = "\n\ndef show(out, rows):\n    print(out * rows)\n\n\n"
    lines += f'table = read("t.pt", device)\nfor step in range(4):\n    x = torch.randn(8, 4, device=device)\n    {use}'
    text = ported(
        tmp_path, "files", main=MAIN.format(lines), averages=AVERAGES.format("pass"), files=FILES.format(body)
    )
    assert 'torch.load(path, map_location="cpu")' in text
    assert (".to(device)" in text) is is_moved


@pytest.mark.parametrize(
    ("body", "is_sent"),
    [
        ('self.shadow = state["shadow"]', True),
        ("for one, other in zip(self.shadow, state):\n            one.copy_(other)", False),
        ('self.shadow = state["shadow"].cpu()', False),
        ('self.decay = state["decay"]', False),
    ],
)
@pytest.mark.parametrize("given", ['state["average"]', "part"])
def test_averages_that_a_class_keeps(tmp_path: Path, body: str, is_sent: bool, given: str) -> None:
    """They stayed on the host, and each step copied all weights there."""
    lines = (
        'state = torch.load("a.pt", map_location=device)\nnet.load_state_dict(state["net"])\n'
        f'part = state["average"]\naverage.load_state_dict({given})'
    )
    text = ported(tmp_path, "main", main=MAIN.format(lines), averages=AVERAGES.format(body), files=FILES.format("pass"))
    assert 'torch.load("a.pt", map_location="cpu")' in text
    assert (f"(xm.send_cpu_data_to_device({given}, torch_xla.device()))" in text) is is_sent
    assert 'net.load_state_dict(state["net"])' in text
