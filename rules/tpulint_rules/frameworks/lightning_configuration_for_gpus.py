"""Configurations that tell Lightning to use GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tpulint.model import Applicability, Finding
from tpulint.text_files.configuration import Entry
from tpulint.text_files.context import TextContext

_WRITTEN = r"\baccelerator[\"']?[ \t]*:[ \t]+[\"']?(?:gpu|cuda)\b"
_STRATEGY = r"(?:dp|ddp|ddp2|fsdp|deepspeed|horovod)(?:_\w+)?"
_FOR_TPUS = (
    ("accelerator", r"gpu|cuda", "tpu"),
    ("strategy", _STRATEGY, "auto"),
    ("precision", r"16|16-mixed|bf16|bf16-mixed", "bf16-true"),
    ("precision", r"64|64-true", "32-true"),
    ("devices", r"-1", "auto"),
)
"""Keys of the trainer, with the values that raise on a TPU and what they become."""
_REASON = "Lightning's strategy for XLA is taken; in bfloat16 losses differ."


def check_text(ctx: TextContext) -> Iterator[Finding]:
    index = ctx.index
    if re.search(_WRITTEN, ctx.source.text) is None or index.knows_tpus or index.is_variant_for_gpus:
        return
    for table in index.tables:
        asked = next((one for one in table if one.key == "accelerator" and one.value in ("gpu", "cuda")), None)
        if asked is None or not index.is_used("accelerator"):
            continue
        fix = ctx.fix("have Lightning use the TPU", Applicability.UNSAFE, _REASON)
        for entry in table:
            for key, values, new in _FOR_TPUS:
                if entry.key == key and re.fullmatch(values, entry.value):
                    fix.replace(entry.value_span, new)
        if any(_chooses_strategy(entry) for other in index.tables if other is not table for entry in other):
            fix.give_up()  # it would still be that of GPUs
        message = f"`accelerator: {asked.value}` asks for a GPU: Lightning raises where there is none"
        yield ctx.finding(asked.span, message, fix)


def _chooses_strategy(entry: Entry) -> bool:
    """Whether a table names a strategy for GPUs: as a class, or as one of the files that are combined."""
    if entry.key == "_target_":
        return entry.value.endswith("Strategy")
    return entry.key.rpartition("/")[2] == "strategy" and re.fullmatch(_STRATEGY, entry.value) is not None
