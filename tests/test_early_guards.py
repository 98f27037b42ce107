"""Guards in front of the step boundary that ask for one number: which move behind it, and what they ask there."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest
from command import tpulint, write

PROGRAM = """\
    import math
    import sys

    import numpy as np
    import torch
    import torch.nn.functional as F
    import torch_xla

    device = torch_xla.device()
    model = torch.nn.Linear(4, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


    def train(loader):
        for x, y in loader:
            output = model(x.to(device))
            loss = F.cross_entropy(output, y.to(device))
    GUARD
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            torch_xla.sync()
    BEHIND
    """


def _fixed(folder: Path, guard: str, behind: str = "") -> tuple[str, str]:
    """The program as it was and with all fixes; a second run changes nothing."""
    text = dedent(PROGRAM).replace("GUARD\n", indent(guard, " " * 8) + "\n")
    text = text.replace("BEHIND\n", indent(behind, " " * 8) + "\n" if behind else "")
    path = write(folder / "main.py", text)
    tpulint("--isolated", "--no-cache", "--fix", "--unsafe-fixes", "main.py", cwd=folder)
    fixed = path.read_text()
    tpulint("--isolated", "--no-cache", "--fix", "--unsafe-fixes", "main.py", cwd=folder)
    assert path.read_text() == fixed
    return text, fixed


@pytest.mark.parametrize(
    ("guard", "moved"),
    [
        (
            'if not math.isfinite(loss):\n    sys.exit("no number")',
            'if not math.isfinite(loss_value):\n    sys.exit("no number")',
        ),
        (
            "# the end\nif not torch.isfinite(loss).all():\n    print(loss.item())  # what it is\n    raise ValueError",
            "# the end\nif not math.isfinite(loss_value):\n    print(loss_value)  # what it is\n    raise ValueError",
        ),
        ("if np.isnan(loss.item()):\n    exit()", "if np.isnan(loss_value):\n    exit()"),
        ("if loss != loss:\n    raise ValueError", "if loss_value != loss_value:\n    raise ValueError"),
        (
            "if loss.isnan() or torch.isinf(loss).item():\n    raise ValueError",
            "if math.isnan(loss_value) or math.isinf(loss_value):\n    raise ValueError",
        ),
        ('assert not torch.isnan(loss), "nan"', 'assert not math.isnan(loss_value), "nan"'),
        (
            "if loss.item() > 100:\n    raise ValueError(\n        float(loss),\n    )",
            "if loss_value > 100:\n    raise ValueError(\n        loss_value,\n    )",
        ),
    ],
)
def test_guards_that_move(tmp_path: Path, guard: str, moved: str) -> None:
    text, fixed = _fixed(tmp_path, guard)
    behind = "torch_xla.sync()\nloss_value = loss.item()\n" + moved
    without = text.replace(indent(guard, " " * 8) + "\n", "")
    assert fixed == without.replace(" " * 8 + "torch_xla.sync()", indent(behind, " " * 8))


@pytest.mark.parametrize(
    "guard",
    [
        # goes on with another turn, or none: the update would be made
        "if torch.isnan(loss):\n    continue",
        "if torch.isnan(loss):\n    break",
        "if torch.isnan(loss):\n    return",
        # what comes then is another
        "if torch.isnan(loss):\n    loss = output.sum()",
        "if loss.item() > 3:\n    optimizer.param_groups[0]['lr'] = 0.01",
        # asks for more than numbers
        "if torch.isnan(output).any():\n    raise ValueError",
        "if loss.item() > 3 or output.mean() > 2:\n    raise ValueError",
        "if loss > output.mean():\n    raise ValueError",
        # what is asked for changes before the boundary
        "if torch.isnan(loss):\n    raise ValueError\nloss = loss / 4",
        # gradients are cleared before the boundary
        "if torch.isnan(loss):\n    raise ValueError(model.weight.grad)",
    ],
)
def test_guards_that_stay(tmp_path: Path, guard: str) -> None:
    _, fixed = _fixed(tmp_path, guard)
    assert "loss_value" not in fixed and indent(guard.partition("\n")[0], " " * 8) in fixed


def test_what_numpy_asks_of_the_norm_of_gradients_is_read_behind_the_boundary(tmp_path: Path) -> None:
    """The norm is a tensor of the device, which NumPy refuses; it was a number of Python in older versions of torch."""
    folder = tmp_path / "own"
    folder.mkdir()
    clip = "norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
    _, fixed = _fixed(folder, clip + 'if np.isnan(norm):\n    print("no number")')
    assert "torch_xla.sync()\n        norm_value = norm.item()\n        if np.isnan(norm_value):\n" in fixed
    _, others = _fixed(tmp_path, "if np.isnan(output):\n    raise ValueError")
    assert "if np.isnan(output):" in others, "which is no number"


def test_a_number_is_read_once_for_all(tmp_path: Path) -> None:
    guard = "if not math.isfinite(loss.item()):\n    print(loss.item())\n    sys.exit(1)"
    _, fixed = _fixed(tmp_path, guard, "print(loss.item())")
    expected = """\
        torch_xla.sync()
        loss_value = loss.item()
        if not math.isfinite(loss_value):
            print(loss_value)
            sys.exit(1)
        print(loss_value)
    """
    assert fixed.endswith(indent(dedent(expected), " " * 8))


def test_several_numbers_are_fetched_together(tmp_path: Path) -> None:
    guard = "size = output.pow(2).mean()\nif torch.isnan(loss) or size > 9:\n    raise ValueError(size.item())"
    _, fixed = _fixed(tmp_path, guard)
    expected = """\
        step_values = torch.stack((loss, size)).detach()
        torch_xla.sync()
        loss_value, size_value = step_values.tolist()
        if math.isnan(loss_value) or size_value > 9:
            raise ValueError(size_value)
    """
    assert fixed.endswith(indent(dedent(expected), " " * 8))


def test_math_is_imported(tmp_path: Path) -> None:
    text = dedent(PROGRAM).replace("import math\n", "").replace("BEHIND\n", "")
    path = write(tmp_path / "main.py", text.replace("GUARD\n", "        assert not torch.isnan(loss)\n"))
    tpulint("--isolated", "--no-cache", "--fix", "--unsafe-fixes", "main.py", cwd=tmp_path)
    assert "import math\n" in path.read_text()
    assert path.read_text().endswith("loss_value = loss.item()\n        assert not math.isnan(loss_value)\n")
