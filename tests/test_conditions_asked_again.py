"""Conditions that are asked once more: what the first branch made of a variable, the second has made anew.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree, fill

EVALUATION = (
    SETUP
    + """
    def evaluate(loader, config, shown):
        model.eval()
        for x, y in loader:
            if config.gpus:
                x = x.cuda()
                y = y.cuda()
            with torch.no_grad():
                output = model(x)
            BETWEEN
            if TEST:
                y = y.cpu()  # TPU101
            shown.send(y[0].item())MARK
    """
)


@pytest.mark.parametrize(
    ("test", "between", "is_read"),
    [
        ("config.gpus", "pass", False),
        ("config.gpus", "shown.send(x.shape)", False),
        ("config.others", "pass", True),
        ("not config.gpus", "pass", True),
        ("config.gpus", "config = shown.config", True),
    ],
)
def test_what_comes_back_under_the_condition_that_moved_it(
    tmp_path: Path, test: str, between: str, is_read: bool
) -> None:
    text = fill(EVALUATION.replace("TEST", test), BETWEEN=between).replace("MARK", "  # TPU101" if is_read else "")
    agree(tmp_path, "TPU101", main=text)
