"""Calls of nvidia-smi, which a TPU machine does not have."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.model import Finding
from tpulint.text_files import invoked
from tpulint.text_files.context import TextContext


def check_text(ctx: TextContext) -> Iterator[Finding]:
    index = ctx.index
    if index.knows_tpus or not index.may_train_with_torch:
        return
    for command in index.commands:
        place = invoked(command, "nvidia-smi", "nvcc")
        if place is None or command.tested:
            continue
        word = command.words[place]
        name = word.text.rpartition("/")[2]
        instead = "`tpu-info` shows a TPU's load" if name == "nvidia-smi" else "there are no CUDA kernels to compile"
        yield ctx.finding(word.span, f"`{name}` is not there on a TPU machine; {instead}")
        return
