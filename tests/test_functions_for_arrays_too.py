"""Functions of another file that are written for tensors and for arrays or numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree

TRAIN = (
    "    from boxes import changed\n"
    + SETUP
    + """\
for x, y in loader:
        out = model(x.to(device))
        part = changed(GIVEN)
        print(part.sum().item())MARK
        optimizer.zero_grad()
        out.mean().backward()
        optimizer.step()
    """
)
ASKED = "    y = x.clone() if isinstance(x, torch.Tensor) else np.copy(x)\n    y[:, 0] = x[:, 0] / 2\n    return y\n"
BRANCHES = "    if torch.is_tensor(x):\n        y = x.clone()\n    else:\n        y = np.copy(x)\n    return y\n"


@pytest.mark.parametrize(
    ("body", "given", "is_told"),
    [
        (ASKED, "out", True),
        (ASKED, "y", False),
        (ASKED, "y.numpy()", False),
        (BRANCHES, "out", True),
        (BRANCHES, "y", False),
        ("    return x * 2 if scale else 0.0\n", "out", True),
        ("    if not scale:\n        return 0.0\n    return x * 2\n", "out", True),
        ("    return x * 2 if scale else 0.0\n", "y", False),
        ("    return x.cpu().numpy() if isinstance(x, torch.Tensor) else np.copy(x)  # TPU101\n", "out", False),
        ("    return np.copy(x)\n", "out", False),
    ],
)
def test_what_is_given_says_what_comes_back(tmp_path: Path, body: str, given: str, is_told: bool) -> None:
    boxes = "import numpy as np\nimport torch\n\ndef changed(x, scale=True):\n" + body
    train = TRAIN.replace("GIVEN", given).replace("MARK", "  # TPU101" if is_told else "")
    agree(tmp_path, "TPU101", train=train, boxes=boxes)


def test_numbers_beside_numbers(tmp_path: Path) -> None:
    boxes = "def changed(x, scale=True):\n    return len(x) * 2 if scale else 0\n"
    train = TRAIN.replace("part.sum().item()", "float(part * 2)").replace("GIVEN", "out").replace("MARK", "")
    agree(tmp_path, "TPU101", train=train, boxes=boxes)
