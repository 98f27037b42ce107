"""Lists of another length in every turn that functions and modules are given."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree

NET = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.codes = nn.Embedding(9, 4)

        def forward(self, visits):
            parts = []
            for visit in visits:{mark}
                parts.append(self.codes(torch.LongTensor(visit).cuda()).mean(0))
            return torch.stack(parts)
    """
LOOP = """
    net = Net().to(device)
    for patient in patients:
        for i in range(len(patient)):
            optimizer.zero_grad()
            loss = net({given}).mean()
            loss.backward()
            optimizer.step()
    """


@pytest.mark.parametrize(
    ("given", "is_told"), [("patient[: i + 1]", True), ("patient[i : i + 3]", False), ("patient[:3]", False)]
)
@pytest.mark.parametrize("is_elsewhere", [True, False])
def test_a_module_that_goes_through_it(tmp_path: Path, given: str, is_told: bool, is_elsewhere: bool) -> None:
    net, loop = NET.format(mark="  # TPU217" * is_told), LOOP.format(given=given)
    if is_elsewhere:
        imports = "\n    import torch\n    from torch import nn\n"
        agree(tmp_path, "TPU217", main=f"{SETUP}\n    from net import Net\n    {loop}", net=imports + net)
    else:
        agree(tmp_path, "TPU217", main=SETUP + net + loop)


@pytest.mark.parametrize(("given", "is_told"), [("row[: i + 1]", True), ("row[i : i + 3]", False), ("row", False)])
@pytest.mark.parametrize("is_elsewhere", [True, False])
def test_a_function_that_brings_it_to_the_device(tmp_path: Path, given: str, is_told: bool, is_elsewhere: bool) -> None:
    function = f"""
    def moved(part):
        return torch.tensor(part).to("cuda"){"  # TPU202" * (is_told and is_elsewhere)}
    """
    loop = f"""
    for row in rows:
        for i in range(9):
            optimizer.zero_grad()
            loss = model(moved({given})).mean(){"  # TPU202" * (is_told and not is_elsewhere)}
            loss.backward()
            optimizer.step()
    """
    if is_elsewhere:
        main = f"{SETUP}\n    from moving import moved\n    {loop}"
        agree(tmp_path, "TPU202", main=main, moving="\n    import torch\n" + function)
    else:
        agree(tmp_path, "TPU202", main=SETUP + function + loop)
