"""Options of ``accelerate launch`` that ask for GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.model import Applicability, Finding, Severity
from tpulint.text_files import Command, invoked, module_run
from tpulint.text_files.context import TextContext
from tpulint.text_files.words import Word

_MODULES = ("accelerate.commands.launch", "accelerate.launch")
_PRECISION = ("--mixed_precision", "--mixed-precision")
_MULTI_GPU = ("--multi_gpu", "--multi-gpu")
_OTHERS = {
    "--use_deepspeed": "DeepSpeed is made of CUDA kernels", "--use-deepspeed": "DeepSpeed is made of CUDA kernels",
    "--use_megatron_lm": "Megatron-LM is made of CUDA kernels", "--gpu_ids": "it chooses among GPUs",
    "--gpu-ids": "it chooses among GPUs",
}  # fmt: skip


def check_text(ctx: TextContext) -> Iterator[Finding]:
    for command in ctx.index.commands:
        own = list(_own_options(command))
        if any(word.text in ("--tpu", "--cpu") for word in own):
            continue
        for number, word in enumerate(own):
            name, _, value = word.text.partition("=")
            if name in _MULTI_GPU:
                fix = ctx.fix("Launch on TPUs", Applicability.UNSAFE, "It runs on another machine.")
                fix.replace(word.span, "--tpu")
                message = f"`{name}` starts the program on GPUs: on a TPU it is `--tpu`"
                yield ctx.finding(word.span, message, fix, severity=Severity.ERROR)
            elif name in _OTHERS:
                yield ctx.finding(word.span, f"`{name}` asks for GPUs: {_OTHERS[name]}")
            elif name in _PRECISION:
                given = word if value else own[number + 1] if number + 1 < len(own) else None
                if given is not None and given.text.rpartition("=")[2].strip("\"'") in ("fp16", "fp8"):
                    yield _precision(ctx, given)


def _precision(ctx: TextContext, given: Word) -> Finding:
    written = given.text.rpartition("=")[2].strip("\"'")
    fix = ctx.fix("Compute in bfloat16", Applicability.UNSAFE, "bfloat16 rounds more coarsely than float16.")
    if ctx.source.text[given.span.start : given.span.end] == given.text:
        fix.replace(given.span, given.text.removesuffix(written) + "bf16")
    message = f"mixed precision `{written}` is for GPUs: TPUs compute fast in bfloat16, which needs no loss scaling"
    return ctx.finding(given.span, message, fix)


def _own_options(command: Command) -> Iterator[Word]:
    """What stands between ``accelerate launch`` and the program."""
    place = invoked(command, "accelerate", "accelerate-launch")
    module = module_run(command)
    if module is not None and module[1] in _MODULES:
        start = module[0] + 1
    elif place is None:
        return
    elif command.words[place].text.endswith("launch"):
        start = place + 1
    elif place + 1 < len(command.words) and command.words[place + 1].text == "launch":
        start = place + 2
    else:
        return
    for word in command.words[start:]:
        if word.text.endswith(".py"):
            return
        yield word
