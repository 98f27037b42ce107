"""Configurations that name a GPU as the device."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tpulint.model import Applicability, Finding
from tpulint.text_files.context import TextContext

_WRITTEN = r"\b(?:device|type)[\"']?[ \t]*:[ \t]+[\"']?cuda\b"
_CUDA = r"cuda(?::\d+)?"
_HELP = "`device: xla` is known to programs that import torch_xla"
_REASON = "The program must import torch_xla, and no longer does what it does for CUDA alone."


def check_text(ctx: TextContext) -> Iterator[Finding]:
    index = ctx.index
    if re.search(_WRITTEN, ctx.source.text) is None or index.knows_tpus or index.is_variant_for_gpus:
        return
    named = [one for table in index.tables for one in table if re.fullmatch(_CUDA, one.value)]
    found = [(one, "device") for one in named if one.key == "device"]
    found += [(one, "device.type") for one in named if (one.under, one.key) == ("device", "type")]
    used = {key for key in dict.fromkeys(key for _, key in found) if index.is_used(key)}
    for entry, key in found:
        if key not in used:
            continue
        fix = ctx.fix("name the XLA device", Applicability.UNSAFE, _REASON)
        fix.replace(entry.value_span, "xla")
        message = f"`{key}: {entry.value}` names a GPU: what is moved to it fails on a TPU machine"
        yield ctx.finding(entry.span, message, fix, help=_HELP)
