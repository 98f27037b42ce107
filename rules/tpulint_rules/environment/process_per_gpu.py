"""Launchers that start one process for each GPU."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.model import Certainty, Finding, Severity, Span
from tpulint.text_files import invoked, module_run
from tpulint.text_files.context import TextContext

_MODULES = ("torch.distributed.launch", "torch.distributed.run")


def check_text(ctx: TextContext) -> Iterator[Finding]:
    if ctx.index.knows_tpus:
        return
    for command in ctx.index.commands:
        module = module_run(command)
        place = invoked(command, "torchrun", "torch-distributed-launch")
        if module is not None and module[1] in _MODULES:
            first, last, name = command.words[module[0] - 1], command.words[module[0]], module[1]
            span = Span(first.span.start, last.span.end)
        elif place is not None and len(command.words) > place + 1:
            span, name = command.words[place].span, command.words[place].text.rpartition("/")[2]
        else:
            continue
        message = (
            f"`{name}` starts one process for each GPU; on a TPU the program itself starts them, by `torch_xla.launch`"
        )
        severity = Severity.WARNING if name == "torch.distributed.launch" else None
        help_text = 'torchrun stays possible with `init_method="xla://"` and one process for each chip'
        # Once for each file: the others are the same command for another model.
        yield ctx.finding(span, message, severity=severity, certainty=Certainty.LIKELY, help=help_text)
        return
