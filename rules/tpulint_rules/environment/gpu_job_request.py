"""Requests to Slurm for nodes with GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tpulint.model import Finding, Span
from tpulint.text_files import invoked
from tpulint.text_files.context import TextContext

_DIRECTIVE = re.compile(r"#(?:SBATCH|FLUX|PBS|BSUB)\s+(?P<option>[^#\r\n]*)")
_OPTION = re.compile(r"(?:--gres[= ]\s*gpu|--gpus(?:-per-\w+|-\w+)?[= ]|-G\s+\d)\S*|\bngpus=\d+|-gpu\s+\S+|:gpus=\d+")
_PROGRAM = re.compile(r"python|\.py$|\.sh$|torchrun")


def check_text(ctx: TextContext) -> Iterator[Finding]:
    index = ctx.index
    if index.knows_tpus or not index.may_train_with_torch:
        return
    text = ctx.source.text
    for comment in index.comments:
        directive = _DIRECTIVE.match(text, comment.start, comment.end)
        option = None if directive is None else _OPTION.search(text, *directive.span("option"))
        if option is not None:
            yield _asked(ctx, Span(*option.span()))
            return
    for command in index.commands:
        place = invoked(command, "srun", "sbatch", "salloc")
        if place is None:
            continue
        program = next((word for word in command.words[place + 1 :] if _PROGRAM.search(word.text)), command.words[-1])
        option = _OPTION.search(text, command.span.start, program.span.start)
        if option is not None:
            yield _asked(ctx, Span(*option.span()))
            return


def _asked(ctx: TextContext, span: Span) -> Finding:
    return ctx.finding(span, "the job asks Slurm for GPUs: it will run on a node with GPUs, if on any, not on a TPU")
