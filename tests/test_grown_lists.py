"""Lists of the host that each turn makes longer and brings to the device."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree


@pytest.mark.parametrize(
    ("begun", "used", "added", "is_told"),
    [
        ("[1]", "torch.tensor([tokens]).to(device)", "tokens.append(token)", True),
        ("list(prompt)", "torch.tensor(tokens, device=device)", "tokens += [token]", True),
        ("prompt", "torch.LongTensor(tokens).unsqueeze(0).cuda()", "tokens = tokens + [token]", True),
        ("[1]", "torch.tensor([tokens]).to(device)", "if token == 2: break\n            tokens.append(token)", True),
        ("[1]", "torch.tensor([tokens])", "tokens.append(token)", False),
        ("[1]", "torch.tensor([tokens[-8:]]).to(device)", "tokens.append(token)", False),
        ("[1]", "torch.tensor([tokens[-1]]).to(device)", "tokens.append(token)", False),
        ("[1]", "torch.tensor([tokens]).to(device)", "tokens = [token]", False),
        ("[1]", "torch.tensor([tokens]).to(device)", "tokens.append(token); tokens.pop(0)", False),
        ("[1]", "torch.tensor([tokens]).to(device)", "tokens.append(token); del tokens[0]", False),
        ("[1]", "torch.tensor([tokens]).to(device)", "while len(tokens) < 9: tokens.append(0)", False),
        ("deque([1], maxlen=8)", "torch.tensor(list(tokens)).to(device)", "tokens.append(token)", False),
    ],
)
def test_a_list(tmp_path: Path, begun: str, used: str, added: str, is_told: bool) -> None:
    program = (
        SETUP
        + f"""
    from collections import deque

    tokens = {begun}
    model.eval()
    with torch.no_grad():
        for step in range(20):
            x = {used}{"  # TPU202" * is_told}
            token = model(x)[0, -1].argmax().item()
            {added}
    """
    )
    agree(tmp_path, "TPU202", main=program)


@pytest.mark.parametrize(("gone", "is_told"), [("kept", True), ("kept[-4:]", False)])
def test_a_loop_within_a_step(tmp_path: Path, gone: str, is_told: bool) -> None:
    program = (
        SETUP
        + f"""
    kept = []
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x.to(device)), y.to(device))
        kept.append(x)
        for old in {gone}:{"  # TPU217" * is_told}
            loss = loss + model(old.to(device)).mean()
        loss.backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU217", main=program)
