"""Sequences of which each turn chooses rows before it joins the next column: longer every time."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree


@pytest.mark.parametrize(
    ("joined", "is_told"),
    [
        ("torch.cat([seqs[order], order.unsqueeze(1)], dim=1)", True),
        ("torch.cat([seqs[order, :], order.view(-1, 1)], dim=-1)", True),
        ("torch.cat((seqs.index_select(0, order), order[:, None]), -1)", True),
        ("torch.cat([seqs, order.unsqueeze(1)], dim=1).detach()", True),
        ("torch.cat([seqs.clone(), order.unsqueeze(1)], dim=1).contiguous()", True),
        ("torch.cat([seqs[order], order])", False),
        ("torch.cat([seqs[order], order], dim=-1)", False),
        ("torch.cat([seqs[:, 1:], order.unsqueeze(1)], dim=1)", False),
        ("torch.cat([seqs[order, 1:], order.unsqueeze(1)], dim=1)", False),
        ("torch.cat([seqs, order.unsqueeze(1)], dim=1)[:, -8:]", False),
        ("torch.cat([seqs.index_select(1, order), order.unsqueeze(1)], dim=1)", False),
    ],
)
def test_what_is_joined(tmp_path: Path, joined: str, is_told: bool) -> None:
    program = (
        SETUP
        + f"""
    import torch_xla
    seqs = torch.zeros(2, 1).long().to(device)
    model.eval()
    with torch.no_grad():
        for step in range(20):
            order = model(seqs)[:, -1].argmax(1)
            seqs = {joined}{"  # TPU205" * is_told}
            torch_xla.sync()
    """
    )
    agree(tmp_path, "TPU205", main=program)


@pytest.mark.parametrize(("between", "is_told"), [("seqs[order]", True), ("seqs[:, 1:]", False), ("begun", False)])
def test_rows_chosen_by_a_statement_of_its_own(tmp_path: Path, between: str, is_told: bool) -> None:
    program = (
        SETUP
        + f"""
    import torch_xla
    seqs = begun = torch.zeros(2, 1).long().to(device)
    model.eval()
    with torch.no_grad():
        for step in range(20):
            order = model(seqs)[:, -1].argmax(1)
            seqs = {between}
            seqs = torch.cat([seqs, order.unsqueeze(1)], dim=-1){"  # TPU205" * is_told}
            torch_xla.sync()
    """
    )
    agree(tmp_path, "TPU205", main=program)
