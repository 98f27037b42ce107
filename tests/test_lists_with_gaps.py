"""Lists of modules in which some places are None, and lists of tensors that ``map`` moves.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree

LOSS = """\
    from torch import nn

    class Part(nn.Module):
        def forward(self, tags, joints):
            return tags.mean() * joints.sum().item(){mark}

    class Whole(nn.Module):
        def __init__(self, flags):
            super().__init__()
            self.parts = nn.ModuleList([{part} for flag in flags])

        def forward(self, outputs, joints):
            total = 0
            for i, output in enumerate(outputs):
                if self.parts[i]:
                    total = total + self.parts[i](output, joints[i])
            return total
    """


@pytest.mark.parametrize(
    ("part", "moved", "is_told"),
    [
        ("Part() if flag else None", "[part.to(device) for part in joints]", True),
        ("None if flag else Part()", "list(map(lambda part: part.to(device), joints))", True),
        ("Part()", "list(map(lambda part: part.cuda(non_blocking=True), joints))", True),
        ("Part()", "list(map(unknown, joints))", True),  # the joints may be those of the loader, on the device
        ("unknown() if flag else None", "[part.to(device) for part in joints]", False),
    ],
)
def test_parts_and_what_they_are_given(tmp_path: Path, part: str, moved: str, is_told: bool) -> None:
    program = (
        SETUP
        + f"""
    from loss import Whole

    criterion = Whole([True, False]).to(device)
    for x, joints in loader:
        joints = {moved}
        optimizer.zero_grad()
        criterion([model(x.to(device))], joints).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU101", loss=LOSS.format(part=part, mark="  # TPU101" * is_told), main=program)
