"""Runs that a script starts side by side, each on GPUs of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tpulint.model import Applicability
from tpulint.text_files import ONE_CHIP, Command, Setting, python_at
from tpulint.text_files.context import TextContext, TextFix

CHOICE = "CUDA_VISIBLE_DEVICES"
_NUMBER = re.compile(r"\d+|\$\w+|\$\{\w+\}")
_QUOTES = "\"'"


class RunsBeside:
    """The runs of one script that do not wait for each other, and which of them a choice of GPUs is for."""

    def __init__(self, ctx: TextContext) -> None:
        self._ctx = ctx
        self._choices = [one for one in ctx.index.settings if one.name == CHOICE]
        self._waits = [one.span.start for one in ctx.index.commands if one.program == "wait"]
        self._groups = list(self._beside()) if self._choices else []

    def of(self, setting: Setting) -> bool:
        """Whether a choice is for a run that another is started beside."""
        return any(setting in group for group in self._groups)

    def one_chip_each(self, setting: Setting) -> TextFix | None:
        """The fix that gives the run the chip of the number; None where two runs would get one, or one run two."""
        values = [one.value.strip(_QUOTES) for group in self._groups if setting in group for one in group]
        is_read = re.search(rf"\$\{{?{CHOICE}\b", self._ctx.index.code) is not None
        if is_read or len(set(values)) < len(values) or not all(map(_NUMBER.fullmatch, values)):
            return None
        given = self._ctx.source.text[setting.value_span.start : setting.value_span.end]
        reason = "There may be fewer chips than there were GPUs."
        fix = self._ctx.fix("Give each run a chip", Applicability.UNSAFE, reason)
        fix.replace(setting.span, ONE_CHIP.format(given))
        return fix

    def _beside(self) -> Iterator[list[Setting]]:
        """Choices between one ``wait`` and the next, from the first on that the script does not wait for."""
        ends = [*self._waits, len(self._ctx.source.text)]
        for start, end in zip([0, *self._waits], ends, strict=True):
            group = [one for one in self._choices if start <= one.span.start < end]
            while group and not self._starts(group[0]):
                group.pop(0)
            in_loop = any("$" in one.value and one.command.depth for one in group)
            if len(group) > 1 or in_loop:
                yield group

    def _starts(self, setting: Setting) -> bool:
        return any(one.beside and python_at(one) is not None for one in self._runs(setting))

    def _runs(self, setting: Setting) -> Iterator[Command]:
        """The command that a choice is in front of, or those behind it up to the next choice."""
        if setting.is_prefix:
            yield setting.command
            return
        later = [one.span.start for one in self._choices if one.span.start > setting.span.start]
        end = min(later, default=len(self._ctx.source.text))
        yield from (one for one in self._ctx.index.commands if setting.span.end <= one.span.start < end)
