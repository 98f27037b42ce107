"""Operations whose gradient alone runs on the host, where what becomes of them wants none."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree

QUANTIZER = """
    codes = nn.Embedding(16, 4).to(device)
    for x in torch.randn(9, 8, 4):
        x = x.to(device)
        MARK
        loss = F.mse_loss(model(codes(places)), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
FAR = "far = torch.cdist(x, codes.weight)"


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (f"{FAR}\nplaces = far.argmin(dim=-1)", False),
        (f"{FAR}\nplaces = torch.argmin(far, dim=-1)", False),
        (f"{FAR}\nplaces = (-far.pow(2)).topk(1).indices[:, 0]", False),
        (f"{FAR}\n_, places = far.min(1)", False),
        (f"{FAR}\nplaces = torch.min(far, 1)[1]", False),
        (f"{FAR}\nprint(far.shape, far.detach().mean())\nplaces = (far < 3).long().argmax(1)", False),
        (f"{FAR}\nlow, places = far.min(1)\nx = x + low[:, None]", True),
        (f"{FAR}\nplaces = torch.min(far, 1)[1]\nx = x + far.mean()", True),
        (f"{FAR}\nplaces = chosen(far)", True),  # it may be more than that
    ],
)
def test_distances_that_only_choose_places(tmp_path: Path, lines: str, told: bool) -> None:
    text = lines.replace(FAR, f"{FAR}  # TPU135" if told else FAR).replace("\n", "\n        ")
    agree(tmp_path, "TPU135", train=SETUP + QUANTIZER.replace("MARK", text))
