"""Kernels for CUDA that a project builds itself."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding
from tpulint.semantic.cuda.built_kernels import calls_building


def check(ctx: FileContext) -> Iterator[Finding]:
    for call in calls_building(ctx.index):
        message = (
            f"`{ctx.text(call.func)}` builds kernels for CUDA, which cannot be built on a TPU machine and take no "
            "XLA tensor; write what they do with operations of torch, which XLA fuses"
        )
        yield ctx.finding(call, message)
