"""torch and torch_xla of which pip may choose releases that do not go together."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.model import Applicability, Finding
from tpulint.text_files import Requirement
from tpulint.text_files.context import TextContext, TextFix

_REASON = "Which release the other packages want is not known here."


def check_text(ctx: TextContext) -> Iterator[Finding]:
    requirements = ctx.index.installs.requirements
    torch = [one for one in requirements if one.name == "torch"]
    xla = [one for one in requirements if one.name == "torch-xla"]
    if len(torch) != 1 or len(xla) != 1 or torch[0].address or xla[0].address:
        return
    left, right = torch[0], xla[0]
    if left.release is not None and right.release is not None:
        return
    if left.release is None and right.release is not None:
        message = (
            f"torch is not pinned beside torch_xla {_text(right.release)}: pip takes the newest, which may not fit"
        )
        yield ctx.finding(left.span, message, _pinned(ctx, left, right.release))
    elif left.release is not None:
        message = f"torch_xla is not pinned beside torch {_text(left.release)}: pip takes the newest, which may not fit"
        yield ctx.finding(right.span, message, _pinned(ctx, right, left.release))
    else:
        message = "neither torch nor torch_xla is pinned: pip takes the newest of each, which need not fit together"
        yield ctx.finding(right.span, message)


def _pinned(ctx: TextContext, requirement: Requirement, release: tuple[int, int]) -> TextFix | None:
    if requirement.versions:
        return None  # somebody wanted something else
    fix = ctx.fix("Pin it to the same release", Applicability.UNSAFE, _REASON)
    fix.replace(requirement.versions_span, f"~={_text(release)}.0")
    return fix


def _text(release: tuple[int, int]) -> str:
    return ".".join(map(str, release))
