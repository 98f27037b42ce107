"""Configurations that name a GPU as the device."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tpulint.model import Applicability, Finding
from tpulint.text_files.context import TextContext

_WRITTEN = r"\bdevice[\"']?[ \t]*:[ \t]+[\"']?cuda\b"
_CUDA = r"cuda(?::\d+)?"
_HELP = "`device: xla` is known to programs that import torch_xla"
_REASON = "The program must import torch_xla, and no longer does what it does for CUDA alone."


def check_text(ctx: TextContext) -> Iterator[Finding]:
    index = ctx.index
    if re.search(_WRITTEN, ctx.source.text) is None or index.knows_tpus or index.is_variant_for_gpus:
        return
    found = [one for table in index.tables for one in table if one.key == "device" and re.fullmatch(_CUDA, one.value)]
    if not found or not index.is_used("device"):
        return
    for entry in found:
        fix = ctx.fix("name the XLA device", Applicability.UNSAFE, _REASON)
        fix.replace(entry.value_span, "xla")
        message = f"`device: {entry.value}` names a GPU: what is moved to it fails on a TPU machine"
        yield ctx.finding(entry.span, message, fix, help=_HELP)
