"""Generating text with a cache that grows by one position for each token."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint_rules.frameworks._models import GENERATING, class_of

_DECIDES = frozenset({"cache_implementation", "past_key_values", "generation_config", "use_cache", "custom_generate"})
_MESSAGE = (
    "the cache of `generate` grows by one position for each token, and the model is compiled again for each length; "
    '`cache_implementation="static"` gives it one length'
)


def check(ctx: FileContext) -> Iterator[Finding]:
    if ctx.index.mentions(r"cache_implementation\b"):
        return  # chosen somewhere, or at least thought of
    for call, receiver in ctx.index.method_calls("generate"):
        if not class_of(ctx, receiver).endswith(GENERATING):
            continue
        passed = ctx.index.call_arguments.of(call)
        named = {keyword.arg for keyword in call.keywords} if passed is None else set(passed)
        if named & _DECIDES:
            continue
        fix = ctx.fix(
            "Use a cache of one length",
            Applicability.UNSAFE,
            "The whole cache is held from the start, and not all models know this cache.",
        )
        # No dictionary has it: the file does not say its name. `**inputs` is what a tokenizer gives.
        fix.set_argument(call, "cache_implementation", '"static"', may_be_hidden=False)
        yield ctx.finding(call, _MESSAGE, fix)
