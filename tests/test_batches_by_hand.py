"""Batches that a loop or a generator cuts by hand, the last of which may be smaller."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree


@pytest.mark.parametrize(
    ("count", "is_told"),
    [
        ("math.ceil(len(rows) / 8)", True),
        ("len(rows) // 8", False),
    ],
)
def test_both_ends_in_one_line(tmp_path: Path, count: str, is_told: bool) -> None:
    program = (
        SETUP
        + f"""
    import math

    for at in range({count}):{"  # TPU511" * is_told}
        first, last = at * 8, min((at + 1) * 8, len(rows))
        optimizer.zero_grad()
        F.mse_loss(model(rows[first:last].to(device)), goals[first:last].to(device)).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU511", main=program)


def test_what_a_generator_has_left_is_made_a_batch(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    def chunks(samples, size):
        batch = []
        for sample in samples:
            batch.append(sample)
            if len(batch) == size:
                yield torch.stack([x for x, _ in batch]), torch.stack([y for _, y in batch])
                batch = []
        if batch:
            yield torch.stack([x for x, _ in batch]), torch.stack([y for _, y in batch])  # TPU511

    def whole_chunks(samples, size, more):
        batch = []
        for sample in samples:
            batch.append(sample)
            if len(batch) == size:
                yield torch.stack([x for x, _ in batch]), torch.stack([y for _, y in batch])
                batch = []
        if more:
            yield torch.zeros(size, 4), torch.zeros(size, 4)

    for x, y in chunks(samples, 8):
        optimizer.zero_grad()
        F.mse_loss(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
    for x, y in whole_chunks(samples, 8, more):
        optimizer.zero_grad()
        F.mse_loss(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU511", main=program)


BROKEN_OFF = (
    SETUP
    + """
    def batches(rows, size):
        count = (len(rows) + (size - 1)) // size
        for at in range({count}):{mark}
            x = []
            for i in range(size):
                place = at * size + i
                if place >= len(rows):
                    break
                x.append(rows[place])
            {end}

    for x in batches(rows, 16):
        optimizer.zero_grad()
        model(x.to(device)).mean().backward()
        optimizer.step()
    """
)


@pytest.mark.parametrize(
    ("count", "end", "is_told"),
    [
        ("count", "yield torch.stack(x)", True),
        ("len(rows) // size", "yield torch.stack(x)", False),
        ("count", "if len(x) == size: yield torch.stack(x)", False),
    ],
)
def test_a_batch_is_left_where_there_are_no_more_samples(tmp_path: Path, count: str, end: str, is_told: bool) -> None:
    program = BROKEN_OFF.format(count=count, end=end, mark="  # TPU511" * is_told)
    agree(tmp_path, "TPU511", main=program)
