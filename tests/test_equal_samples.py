"""Data sets whose samples are all of one length, and those that are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree

PROGRAM = (
    SETUP
    + """
    import random
    from torch.nn.utils.rnn import pad_sequence

    class Speech(torch.utils.data.Dataset):
        def __init__(self, rows, size):
            self.rows, self.size = rows, size

        def __len__(self):
            return 32

        def __getitem__(self, index):
            rows = random.sample(self.rows, 3)
            lefts = [random.randint(0, len(row) - self.size) for row in rows]
            ends = [len(row) for row in rows]
            parts = {parts}
            return parts

    def collate(batch):
        return pad_sequence([row for rows in batch for row in rows], batch_first=True){mark}

    loader = torch.utils.data.DataLoader(Speech(rows, 10), batch_size=8, collate_fn=collate, drop_last=True)
    for x in loader:
        optimizer.zero_grad()
        model(x.to(device)).mean().backward()
        optimizer.step()
    """
)


@pytest.mark.parametrize(
    ("parts", "is_told"),
    [
        ("[row[left : left + self.size, :] for row, left in zip(rows, lefts)]", False),
        ("[row[left : left + 20] for row, left in zip(rows, lefts)]", False),
        ("[row[left:end] for row, left, end in zip(rows, lefts, ends)]", True),
        ("[row[: self.size] for row in rows]", True),  # shorter ones stay shorter
        ("rows", True),
    ],
)
def test_samples_cut_to_one_length(tmp_path: Path, parts: str, is_told: bool) -> None:
    agree(tmp_path, "TPU510", main=PROGRAM.format(parts=parts, mark="  # TPU510" * is_told))
