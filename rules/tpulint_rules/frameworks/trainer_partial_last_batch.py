"""The last batch of an epoch of the Trainer of Transformers has a shape of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding

_ARGUMENTS = frozenset({"TrainingArguments", "Seq2SeqTrainingArguments", "SFTConfig", "DPOConfig", "RewardConfig"})
_EVALUATES = frozenset({"eval_strategy", "evaluation_strategy", "do_eval", "eval_steps", "do_predict"})
_SETTLED = frozenset({"dataloader_drop_last", "packing", "use_cpu", "no_cuda"})
_MESSAGE = (
    "the last batch of each epoch may be smaller, and the training step is compiled again for its shape; "
    "`dataloader_drop_last=True` leaves it out, in evaluations too"
)
_REASON = "Up to a batch of samples takes no part in each epoch."
_HELP = "Evaluations would leave out their last batch too: choose a batch size that divides the data, or pad it."


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if index.mentions(r"\bIterableDataset\b|streaming\s*=\s*True|ConstantLengthDataset"):
        return
    for call in index.calls:
        name = index.qualified_name(call.func) or ""
        if not name.startswith(("transformers.", "trl.")) or name.rpartition(".")[2] not in _ARGUMENTS:
            continue
        passed = index.call_arguments.of(call)
        if passed is None or _SETTLED & set(passed) or _is_one(passed.get("per_device_train_batch_size", ())):
            continue
        # Without a size it is told elsewhere, or the script only evaluates.
        if "per_device_train_batch_size" not in passed:
            continue
        fix: FixBuilder | None = None
        if not _EVALUATES & set(passed) and not index.mentions(r"eval_dataset|\.evaluate\(|\.predict\("):
            fix = ctx.fix("Leave out the partial batch", Applicability.UNSAFE, _REASON)
            fix.set_argument(call, "dataloader_drop_last", "True")
        yield ctx.finding(call, _MESSAGE, fix, help="" if fix is not None else _HELP)


def _is_one(sizes: list[ast.expr] | tuple[()]) -> bool:
    return bool(sizes) and all(isinstance(size, ast.Constant) and size.value == 1 for size in sizes)
