"""A Trainer whose collator pads each batch to its longest sample."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding

_COLLATORS = frozenset({
    "DataCollatorWithPadding", "DataCollatorForSeq2Seq", "DataCollatorForTokenClassification",
    "DataCollatorForLanguageModeling",
})  # fmt: skip
_FIXED = r"max_length[\"']|group_texts|block_size|packing\s*=\s*True|ConstantLengthDataset"
"""Texts of a file that brings its samples to one length."""
_MULTIPLE = 64
_REASON = f"Batches get up to {_MULTIPLE - 1} more positions of padding, which the loss has to ignore."


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if index.mentions(_FIXED):
        return
    for call in index.calls:
        name = index.qualified_name(call.func) or ""
        if not name.startswith(("transformers.", "trl.")) or not name.endswith("Trainer"):
            continue
        given = next((keyword.value for keyword in call.keywords if keyword.arg == "data_collator"), None)
        if given is None:
            continue
        made = [creation.node for creation in index.moves.creations.of(given) if not creation.path]
        collator = made[0] if len(made) == 1 else None
        if isinstance(collator, ast.Call) and _is_open(ctx, collator):
            fix = ctx.fix(f"Pad to multiples of {_MULTIPLE}", Applicability.UNSAFE, _REASON)
            fix.set_argument(collator, "pad_to_multiple_of", str(_MULTIPLE))
            yield ctx.finding(
                collator,
                "each batch is padded to its longest sample: the step is compiled again for each length that occurs",
                fix,
                related=((index.span(call), "collates its batches with it"),),
            )


def _is_open(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a collator of Transformers is told nothing about lengths."""
    name = ctx.index.qualified_name(call.func) or ""
    if not name.startswith("transformers.") or name.rpartition(".")[2] not in _COLLATORS:
        return False
    passed = ctx.index.call_arguments.of(call)
    if passed is None or len(call.args) > 2:
        return False
    paddings = passed.get("padding", [])
    plain = all(isinstance(value, ast.Constant) and value.value in (True, "longest") for value in paddings)
    return plain and not {"pad_to_multiple_of", "max_length"} & set(passed)
