"""Code that runs where no XLA is, and tensors that stay on the host by a default.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree, fill

APPLE = (
    SETUP
    + """
    def train(loader):
        for x, y in loader:
            x = x.to(device)
            BRANCH
            loss = model(x[x > 0]).mean()  # TPU203
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """
)


@pytest.mark.parametrize(
    ("test", "is_told"),
    [
        ("x.device.type == 'mps'", False),
        ("'mps' in str(x.device)", False),
        ("torch.backends.mps.is_available()", False),
        ("x.device.type != 'mps'", True),
    ],
)
def test_what_only_apple_runs(tmp_path: Path, test: str, is_told: bool) -> None:
    branch = f"if {test}:\n    print(x.sum().item())" + "  # TPU101" * is_told
    agree(tmp_path, "TPU101,TPU203", main=fill(APPLE, BRANCH=branch))


@pytest.mark.parametrize("test", ["x.device.type == 'mps'", "apple"])
def test_what_only_apple_moves_stays_on_the_device_of_others(tmp_path: Path, test: str) -> None:
    branch = f"apple = 'mps' in x.device.type\nif {test}:\n    x = x.cpu()"
    agree(tmp_path, "TPU101,TPU203", main=fill(APPLE, BRANCH=branch))


MAKER = (
    SETUP
    + """
    def sample(size, device="cpu"):
        return torch.empty(size, device=device).log_normal_()MAKES

    def train(loader):
        for x in loader:
            scale = SAMPLE
            print(scale.sum().item())READS
            loss = model(x.to(device) * scale.to(device)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """
)


@pytest.mark.parametrize(
    ("sample", "is_told"), [("sample(4)", False), ("sample(4, device)", True), ("sample(4, device=device)", True)]
)
def test_a_default_of_the_host(tmp_path: Path, sample: str, is_told: bool) -> None:
    text = MAKER.replace("SAMPLE", sample)
    text = text.replace("MAKES", "  # TPU135" * is_told).replace("READS", "  # TPU101" * is_told)
    agree(tmp_path, "TPU101,TPU135", main=text)


def test_a_list_that_is_compared_with_an_empty_one(tmp_path: Path) -> None:
    lines = """\
for i in range(3):
    if parts[i] != []:
        parts[i] = torch.cat(parts[i])
loss = parts[0].mean()
if parts[0] != 0:  # TPU103
    parts.clear()"""
    start = "parts = [[] for _ in range(3)]\nfor i in range(3):\n    parts[i].append(model(x) + i)\n"
    text = APPLE.replace("            loss = model(x[x > 0]).mean()  # TPU203\n", "")
    agree(tmp_path, "TPU103", main=fill(text, BRANCH=start + lines))
