"""Numbers of a batch that functions give who are handed it: the step is unrolled as often.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from marked_files import SETUP, agree

PARTS = """
    import numpy as np
    import torch

    def parts_of(batch, most=0):
        words = torch.from_numpy(batch.words).cuda()
        lens = batch.lens
        longest = LONGEST
        return words, longest
    """
PROGRAM = """
    cell = nn.GRUCell(4, 4).to(device)
    for step in range(100):
        batch = TAKEN
        words, longest = parts_of(batch)
        state = torch.zeros(4, 4).to(device)
        for t in range(TURNS):  # MARK
            state = cell(words[:, t], state)
        optimizer.zero_grad()
        state.mean().backward()
        optimizer.step()
        torch_xla.sync()
    """


@pytest.mark.parametrize("is_elsewhere", [True, False])
@pytest.mark.parametrize(
    ("longest", "taken", "turns", "is_told"),
    [
        ("np.max(lens)", "batches.next_batch()", "min(longest, 9)", True),
        ("max(batch.lens)", "next(batches)", "longest", True),
        ("max(lens)", "batches.next_batch()", "longest - 1", True),
        ("np.max(lens)", "batches.next_batch()", "max(longest, 9)", False),
        ("np.max(lens)", "batches.next_batch()", "min(longest, 2)", False),
        ("np.max(lens)", "batches.next_batch()", "min(longest // 16 * 16, 64)", False),
        ("max(most, 3)", "batches.next_batch()", "longest", False),
        ("np.max(most)", "batches.next_batch()", "longest", False),
        ("np.max(lens)", "whole", "longest", False),
    ],
)
def test_turns_within_a_step(
    tmp_path: Path, is_elsewhere: bool, longest: str, taken: str, turns: str, is_told: bool
) -> None:
    parts = dedent(PARTS).replace("LONGEST", longest)
    program = dedent(PROGRAM).replace("TAKEN", taken).replace("TURNS", turns)
    program = program.replace("MARK", "TPU217" if is_told else "none")
    if is_elsewhere:
        agree(tmp_path, "TPU217", main=f"from parts import parts_of\n{dedent(SETUP)}{program}", parts=parts)
    else:
        agree(tmp_path, "TPU217", main=parts + dedent(SETUP) + program)
