"""Attention of Transformers that asks in every forward pass whether the mask hides anything."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Certainty, Finding
from tpulint_rules.frameworks._encoders import masked_runs
from tpulint_rules.frameworks._models import CAUSAL

_LOADS = frozenset({"from_pretrained", "from_config"})
_MESSAGE = (
    "the default attention reads the attention mask in every forward pass to see whether it hides anything: "
    'the host waits for the device; `attn_implementation="eager"` computes the same and does not ask'
)
_FOUR_DIMENSIONS = (
    "with Transformers 5 and the default attention, `attention_mask=mask[:, None, None, :].bool()` is taken as it is"
)
_REASON = "The attention is the same, and rounded differently."


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if index.mentions(r"attn_implementation|_attn_implementation|use_flash_attention_2|packing\s*=\s*True"):
        return
    for call, name, turn in masked_runs(ctx):
        asked = f"reads its attention mask in every {turn} to see whether it hides anything"
        message = f"`{name}` {asked}: the host waits for the device"
        yield ctx.finding(call, message, certainty=Certainty.LIKELY, help=_FOUR_DIMENSIONS)
    if not _trains(ctx):
        return
    for call in index.calls:
        name = index.qualified_name(call.func) or ""
        owner, _, method = name.rpartition(".")
        if not name.startswith("transformers.") or method not in _LOADS or not owner.endswith(CAUSAL):
            continue
        if any(keyword.arg is None for keyword in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args):
            continue
        fix = ctx.fix("Use the eager attention", Applicability.UNSAFE, _REASON)
        fix.set_argument(call, "attn_implementation", '"eager"')
        yield ctx.finding(call, _MESSAGE, fix)


def _trains(ctx: FileContext) -> bool:
    """Whether the file trains with a Trainer or in a loop of its own."""
    if ctx.index.step_loops:
        return True
    return any(
        isinstance(ctx.index.parent(node), ast.Call) and name.endswith("Trainer")
        for node, name in ctx.index.references("transformers", "trl")
    )
