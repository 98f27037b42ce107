"""Methods of the project with the name of a logger's: what they do decides.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree, fill

HISTORY = """\
    class History:
        def __init__(self):
            self.kept = []

        def METHOD(self, value, step=0):
            BODY
    """
LOOP = """
    history = History()

    def train(loader):
        for step, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            history.METHOD(loss)MARK
    """


@pytest.mark.parametrize("method", ["log", "add_scalar", "write"])
@pytest.mark.parametrize(
    ("body", "is_told"),
    [
        ("self.kept.append(value.detach())", False),
        ("if step % 100 == 0:\n    print(value)", False),
        ("self.kept.append(value)\nself.show(value)", True),
    ],
)
@pytest.mark.parametrize("is_imported", [False, True])
def test_what_a_method_does_decides(tmp_path: Path, method: str, body: str, is_told: bool, is_imported: bool) -> None:
    history = fill(HISTORY, BODY=body).replace("METHOD", method)
    loop = LOOP.replace("METHOD", method).replace("MARK", "  # TPU102" if is_told else "")
    if is_imported:
        agree(tmp_path, "TPU102", history=history, main=SETUP + "\n    from history import History\n" + loop)
    else:
        agree(tmp_path, "TPU102", main=SETUP + "\n" + history + loop)
