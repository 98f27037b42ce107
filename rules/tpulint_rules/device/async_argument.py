"""``x.cuda(async=True)``: since ``async`` is a keyword, Python reads nothing of such a file."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding, Scope

_MESSAGE = "`async` is a keyword since Python 3.7, and nothing of this file runs: the argument is `non_blocking`"
_REASON = "PyTorch itself calls the argument so since 0.4."


def check(ctx: FileContext) -> Iterator[Finding]:
    for name in ctx.index.source.old_keywords:
        fix = ctx.fix("Write `non_blocking`", Applicability.SAFE, _REASON, Scope.MODULE)
        fix.replace(name, "non_blocking")
        yield ctx.finding(name, _MESSAGE, fix)
