"""Words, commands and settings: what a shell script and a Dockerfile are made of."""

from __future__ import annotations

import re
from collections.abc import Callable

from tpulint.model import Span
from tpulint.records import NamedTuple


class Word(NamedTuple):
    """One word of a command."""

    text: str
    """Without its quotes and continuation lines; what the shell would put in stands as it is written."""
    span: Span
    literal: bool = True
    """Whether the shell puts nothing in."""


class Command(NamedTuple):
    """One simple command, with the continuation lines it stands on."""

    words: tuple[Word, ...]
    assignments: tuple[Word, ...]
    """``NAME=value`` in front of the words, or alone."""
    span: Span
    depth: int = 0
    """Number of blocks around it."""
    tested: bool = False
    """Whether the script goes on when it fails: a condition, or a part of ``a || b`` and ``a && b``."""
    alone: bool = True
    """Whether no other command stands on its lines."""
    beside: bool = False
    """Whether the script goes on while it runs: ``train &``, also as a part of ``train | tee log &``."""

    @property
    def program(self) -> str:
        """Name of what is run, without its folder; empty for assignments alone."""
        return self.words[0].text.rpartition("/")[2] if self.words else ""

    def after(self, *option: str) -> Word | None:
        """The value of an option, ``--name value`` or ``--name=value``; None without."""
        for number, word in enumerate(self.words):
            if word.text in option:
                return self.words[number + 1] if number + 1 < len(self.words) else None
            name, equals, value = word.text.partition("=")
            if equals and name in option:
                skipped = word.span.end - len(value)
                return Word(value, Span(skipped, word.span.end), word.literal)
        return None


class Setting(NamedTuple):
    """An environment variable that gets a value."""

    name: str
    value: str
    span: Span
    """``NAME=value``."""
    value_span: Span
    """What stands behind the equals sign, quotes included."""
    command: Command
    is_prefix: bool
    """Whether it holds for one command only, which stands behind it."""
    literal: bool


# fmt: off
WRAPPERS = frozenset((
    "sudo", "time", "nohup", "exec", "env", "srun", "mpirun", "taskset", "numactl", "nice", "xvfb-run", "uv", "poetry",
    "pipenv", "conda", "mamba", "micromamba", "rye", "stdbuf", "command", "eval", "singularity", "apptainer", "ibrun",
))
# fmt: on
"""Programs that run the one which is named behind them."""


def invoked(command: Command, *programs: str) -> int | None:
    """Place of the word that runs one of these programs, also through ``sudo``, ``srun`` and their like."""
    return _place(command, lambda name: name in programs)


def _place(command: Command, is_meant: Callable[[str], object]) -> int | None:
    for place, word in enumerate(command.words):
        name = word.text.rpartition("/")[2]
        if is_meant(name):
            return place
        if place == 0 and name not in WRAPPERS:
            return None
    return None


_PYTHON = re.compile(r"python(?:[23](?:\.\d+)?)?\Z|\$\{?PYTHON\w*\}?\Z")


def python_at(command: Command) -> int | None:
    """Place of the word that runs Python."""
    return _place(command, _PYTHON.match)


def module_run(command: Command) -> tuple[int, str] | None:
    """What ``python -m`` runs, with the place of its word."""
    at = python_at(command)
    if at is None:
        return None
    for place in range(at + 1, len(command.words) - 1):
        text = command.words[place].text
        if text == "-m":
            return place + 1, command.words[place + 1].text
        if not text.startswith("-"):
            return None
    return None
