"""torch and torch_xla of different releases."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.model import Finding
from tpulint.text_files.context import TextContext


def check_text(ctx: TextContext) -> Iterator[Finding]:
    requirements = ctx.index.installs.requirements
    torch = [one for one in requirements if one.name in ("torch", "pytorch")]
    xla = [one for one in requirements if one.name == "torch-xla"]
    releases = {one.release for one in xla}
    if len(releases) != 1 or len({one.release for one in torch}) != 1:
        return  # several variants in one file
    wanted, found = xla[0].release, torch[0].release
    if wanted is not None and found is not None and wanted != found:
        numbers = [".".join(map(str, release)) for release in (wanted, found)]
        message = f"torch_xla {numbers[0]} needs torch {numbers[0]}: with torch {numbers[1]} it cannot be imported"
        yield ctx.finding(torch[0].span, message)
