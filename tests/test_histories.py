"""Values of the device that are kept from step to step and joined in each: longer every time."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree


@pytest.mark.parametrize(
    ("begun", "joined", "is_told"),
    [
        ("deque(maxlen=100)", "list(kept)", True),
        ("deque([], 100)", "tuple(kept)", True),
        ("[]", "tuple(kept)", True),
        ("deque(maxlen=4)", "list(kept)", False),
        ("deque(first, maxlen=100)", "list(kept)", False),
        ("deque(maxlen=size)", "list(kept)", False),
        ("[]", "list(kept)[-4:]", False),
    ],
)
def test_lists_and_queues(tmp_path: Path, begun: str, joined: str, is_told: bool) -> None:
    program = (
        SETUP
        + f"""
    from collections import deque

    kept = {begun}
    for x, y in loader:
        optimizer.zero_grad()
        out = model(x.to(device))
        kept.append(out.detach())
        loss = F.mse_loss(out, y.to(device)) + torch.stack({joined}).mean(){"  # TPU205" * is_told}
        loss.backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU205", main=program)


def test_the_first_is_kept_and_others_join_it(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    kept = short = None
    for x, y in loader:
        optimizer.zero_grad()
        out = model(x.to(device))
        new = out.detach()
        kept = new if kept is None else torch.cat([kept, new])  # TPU205
        short = new if short is None else torch.cat([short, new])
        if len(short) > 64:
            short = short[-64:]
        (F.mse_loss(out, y.to(device)) + kept.mean() + short.mean()).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU205", main=program)


@pytest.mark.parametrize(
    ("before", "within", "end", "is_told"),
    [
        ("history = History()", "pass", "pass", True),
        ("pass", "history = History()", "pass", False),
        ("history = History()", "pass", "history.rows.clear()", False),
        ("history = History()", "pass", "history.rows = []", False),
        ("history = History()", "pass", "history.rows[:] = []", False),
        ("history = History()", "pass", "history.rows[0] = out.detach()", True),
    ],
)
def test_lists_of_objects(tmp_path: Path, before: str, within: str, end: str, is_told: bool) -> None:
    program = (
        SETUP
        + f"""
    class History:
        def __init__(self):
            self.rows = []

        def add(self, row):
            self.rows.append(row)
            return torch.cat(self.rows){"  # TPU205" * is_told}

    {before}
    for x, y in loader:
        {within}
        optimizer.zero_grad()
        out = model(x.to(device))
        (F.mse_loss(out, y.to(device)) + history.add(out.detach()).mean()).backward()
        optimizer.step()
        {end}
    """
    )
    agree(tmp_path, "TPU205", main=program)
