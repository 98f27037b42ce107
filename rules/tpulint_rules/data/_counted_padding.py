"""Losses that count padding as if it were data: with more of it they teach another model."""

from __future__ import annotations

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability

_LOSSES = (
    "torch.nn.CrossEntropyLoss", "torch.nn.NLLLoss",
    "torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss",
)  # fmt: skip
_LEAVES_OUT = r"(?i)mask|ignore|lengths|pack_padded|seq_?len|-\s*100\b|reduction\s*=\s*[\"']none"
"""How a file tells padding from data, in a loss, in a model or between them."""
_REASON = "Nothing in the file leaves padding out of the loss: more padding would train another model."


def leave_where_counted(ctx: FileContext, fix: FixBuilder) -> FixBuilder:
    """Only show a fix that adds padding, where the loss in sight counts all positions."""
    if next(ctx.index.calls_to(*_LOSSES), None) is not None and not ctx.index.mentions(_LEAVES_OUT):
        fix.lower(Applicability.DISPLAY, _REASON)
    return fix
