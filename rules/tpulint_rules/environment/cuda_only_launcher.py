"""Launchers of libraries that are made of CUDA kernels."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.model import Finding
from tpulint.text_files import invoked, module_run
from tpulint.text_files.context import TextContext

_TEXTS = {
    "deepspeed": "shard with `torch_xla.distributed.fsdp` or SPMD, and start the program by `python`",
    "horovodrun": "average gradients with `xm.optimizer_step`, and start the program by `python`",
}
_MODULES = {"deepspeed.launcher.runner": "deepspeed", "horovod.runner": "horovodrun"}


def check_text(ctx: TextContext) -> Iterator[Finding]:
    for command in ctx.index.commands:
        place = invoked(command, *_TEXTS)
        module = module_run(command)
        if module is not None and module[1] in _MODULES:
            place, name = module
            name = _MODULES[name]
        elif place is not None:
            name = command.words[place].text.rpartition("/")[2]
        else:
            continue
        # With a word behind it that is a program: `deepspeed --version` asks for something else.
        if any(word.text.endswith(".py") or word.text.startswith("$") for word in command.words[place + 1 :]) or (
            name == "horovodrun"
        ):
            yield ctx.finding(command.words[place].span, f"`{name}` knows no TPUs: {_TEXTS[name]}")
            return
