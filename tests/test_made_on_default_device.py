"""Tensors that are made without a device lie on the default one: on the device where a program says so in front."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from marked_files import agree

STEPS = """
    model = nn.Linear(4, 2)
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(1000):
        {made}
        loss = model(torch.rand(8, 4)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(rows.max().item()){mark}
    """
CUDA = "torch.set_default_tensor_type('torch.cuda.FloatTensor')"


def program(setting: str, made: str = "rows = torch.randint(0, 9, (4,))", mark: str = "  # TPU101") -> str:
    """A training that shows numbers of a tensor in every step."""
    body = dedent(STEPS).format(made=made, mark=mark)
    return f"import sys\nimport numpy as np\nimport torch\nfrom torch import nn\n\n{setting}\n{body}"


@pytest.mark.parametrize(
    "setting",
    [
        CUDA,
        "torch.set_default_device('cuda')",
        "if torch.cuda.is_available():\n    torch.set_default_tensor_type(torch.cuda.FloatTensor)",
        f"if torch.cuda.is_available():\n    {CUDA}\nelse:\n    torch.set_default_tensor_type('torch.FloatTensor')",
    ],
)
def test_they_lie_there(tmp_path: Path, setting: str) -> None:
    agree(tmp_path, "TPU101", train=program(setting))


@pytest.mark.parametrize(
    ("setting", "made"),
    [
        ("torch.set_default_tensor_type('torch.DoubleTensor')", "rows = torch.randint(0, 9, (4,))"),
        (f"{CUDA}\nif 'host' in sys.argv:\n    torch.set_default_device('cpu')", "rows = torch.randint(0, 9, (4,))"),
        (CUDA, "rows = torch.randint(0, 9, (4,), device='cpu')"),
        (CUDA, "rows = torch.from_numpy(np.arange(4))"),  # which is made on the host whatever the default
        (f"def other():\n    {CUDA}", "rows = torch.randint(0, 9, (4,))"),
        (f"rows = torch.arange(4)\n{CUDA}", "pass"),
    ],
)
def test_what_lies_elsewhere(tmp_path: Path, setting: str, made: str) -> None:
    agree(tmp_path, "TPU101", train=program(setting, made, ""))


def test_places_of_them(tmp_path: Path) -> None:
    made = "rows = order[step % 100]  # TPU201"
    agree(tmp_path, "TPU101,TPU201", train=program(f"{CUDA}\norder = torch.randperm(100)", made))


def test_files_of_a_program_that_sets_it(tmp_path: Path) -> None:
    rays = """\
        import torch

        early = torch.rand(4)

        class Rays(torch.utils.data.Dataset):
            def __getitem__(self, at):
                row = torch.rand(4)
                print(row[0].item())
                return row

        def rays(model, count):
            t = torch.linspace(0.0, 1.0, count)
            print(t.max().item())  # TPU101
            print(early.max().item())
            return model(t)
        """
    train = program(f"{CUDA}\nrows = torch.arange(4)", "rays(model, 4)")
    train = train.replace("import sys\n", "import sys\nfrom rays import rays\n")
    agree(tmp_path, "TPU101", train=train, rays=rays)


def test_a_mask_that_a_step_adds_to_is_no_number_of_python(tmp_path: Path) -> None:
    game = f"""\
import torch
from torch import nn

{CUDA}

class Game:
    def __init__(self):
        self.done = None
        self.count = 0

    def start(self):
        self.done = torch.zeros(4, dtype=torch.bool)
        self.row = torch.zeros(100)

    def turn(self, value):
        self.done = self.done + (value > 3)
        self.count += 1
        return self.row[self.done], self.row[self.count % 100]  # TPU201

game = Game()
"""
    train = game + program("", "rows = game.turn(torch.rand(4))[1]", "").partition("from torch import nn\n")[2]
    agree(tmp_path, "TPU201", train=train)
