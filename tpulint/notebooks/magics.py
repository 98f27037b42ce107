"""What IPython understands and Python does not: magics, shell lines, questions. Masked, so that offsets stay."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.model import Span
from tpulint.records import NamedTuple

_TIMERS = "time|timeit|prun|memit"
_PYTHON_CELLS = frozenset((*_TIMERS.split("|"), "capture", "debug", "ipytest", "snakeviz", "pyinstrument", "wandb"))
"""Cell magics below which Python stands, run in the notebook's own namespace."""
_SHELL_CELLS = frozenset(("bash", "sh", "shell", "zsh", "system", "sx", "!"))
_INSTALLERS = "pip|pip3|conda|mamba|micromamba|uv"
_SHELL_MAGICS = re.compile(rf"%(?:(?:{_INSTALLERS}|cd)\b|(?P<taken>(?:sx|system)\b))")
_VARIABLE = re.compile(r"%(?:set_)?env[ \t]+(?P<name>\w+)(?P<equals>=|[ \t]+(?=[^\s=]))")

_SUSPECT = re.compile(r"\A\s*\n?[ \t]|^[ \t]*[!%?/,;]|=[ \t]*[!%]|\?[ \t;]*(?:#.*)?$", re.MULTILINE)
"""Without any of these a cell is plain Python."""
_ABOVE_CELL_MAGIC = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\r?\n)*")
_CELL_MAGIC = re.compile(r"%%(?P<name>[\w.!]+)[^\n]*(?:\n|\Z)")
_SCRIPT = re.compile(r"%%script[ \t]+(?:-[^\n]*[ \t])?(?:\S*/)?(?:bash|sh|zsh)\b")
_INDENT = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\r?\n)*(?P<indent>[ \t]+)(?=[^\s#])")
_ESCAPE = re.compile(r"(?P<indent>[ \t]*)(?P<escape>!!?|%%?(?=[A-Za-z_])|\?\??|[,;/](?=[A-Za-z_]))")
_QUESTION = re.compile(r"[ \t]*%{0,2}(?!\d)[\w*]+(?:\.(?!\d)[\w*]+|\[-?\d+\])*\?\??[ \t;]*(?:#[^\n]*)?(?=\r?\n|\Z)")
_ASSIGNED = re.compile(r"[ \t]*(?!\d)(?:[\w.,* \t]|\[[^\]\n]*\])+?=[ \t]*(?P<value>!|%(?=[A-Za-z_]))")
_TIMED = re.compile(rf"(?P<indent>[ \t]*)%%?(?:{_TIMERS})\b(?:[ \t]+-\S+(?:[ \t]+\d+)?)*[ \t]+(?=[^\s!%#-])")
_REST_OF_LINE = re.compile(r"(?:[^\\\n]|\\(?:\r?\n|.)|\\\Z)*")
_TOKEN = re.compile(
    r"#[^\n]*|\"\"\"(?:\\.|[^\\])*?(?:\"\"\"|\Z)|'''(?:\\.|[^\\])*?(?:'''|\Z)"
    r"|\"(?:\\.|[^\\\n\"])*\"?|'(?:\\.|[^\\\n'])*'?|[(\[{]|[)\]}]|\\\r?\n|\n",
    re.DOTALL,
)
_SUPPRESSION = re.compile(r"(?:^|(?<=[ \t]))#[^\n]*(?:noqa|tpulint:)[^\n]*", re.IGNORECASE | re.MULTILINE)
_INTERPOLATED = re.compile(r"\{([^{}]*)\}|\$(\w+)")
_WORD = re.compile(r"[^\W\d]\w*")
_NOT_BLANK = re.compile(r"[^\s]")
_WITHOUT_SIGN = re.compile(
    rf"(?P<indent>[ \t]*)(?P<name>{_INSTALLERS}|apt|apt-get|cd|ls|ll|mkdir|rm|rmdir|cp|mv|cat|less|more|head|tail|man"
    r"|env|set_env|matplotlib|load_ext|reload_ext|run|time|timeit|autoreload|pylab|config|who|whos|reset|git|wget)"
    r"[ \t]+(?P<rest>[^\s=][^\n]*)"
)
"""Magics may stand without their sign where that is no Python."""


class Masked(NamedTuple):
    """A cell as Python reads it, and as a shell does. Both texts are as long as the cell, with the same newlines."""

    code: str
    """Blanks stand for what is not Python; a comment that silences findings stays."""
    shell: str
    """Blanks stand for what no shell reads."""
    stretches: tuple[Span, ...]
    """Where shell text stands: each one is run on its own."""
    magics: tuple[Span, ...]
    """What must stay as it is, where no shell reads it or only the shell does."""
    words: frozenset[str]
    """Names of Python that masked text may use."""


def mask(text: str, *, is_python: bool = True, is_strict: bool = True) -> Masked:
    """Mask one cell. Unless ``is_strict``, magics without their sign are looked for, and timed code is masked too."""
    if not is_python:
        return _whole(text, 0, in_shell=False)
    if is_strict and not _SUSPECT.search(text):
        return Masked(text, "", (), (), frozenset())
    writer = _Writer(text)
    start = 0
    while True:
        above = _ABOVE_CELL_MAGIC.match(text, start)
        first = above.end() if above else start
        cell = _CELL_MAGIC.match(text, first)
        if cell is None:
            break
        if cell["name"] not in _PYTHON_CELLS:
            in_shell = cell["name"] in _SHELL_CELLS or _SCRIPT.match(text, first) is not None
            return _whole(text, cell.end(), in_shell=in_shell)
        if is_strict and _TIMED.match(text, first):
            start = first  # Python stands behind the magic already
            break
        writer.take(first, cell.end())
        start = cell.end()
    indent = _INDENT.match(text, start)
    base = indent["indent"] if indent else ""
    for line_start in _logical_lines(text, start):
        _mask_line(writer, line_start, base, is_strict)
    return writer.masked()


def blank(text: str) -> str:
    """A text of the same length and lines that holds nothing."""
    return _NOT_BLANK.sub(" ", text)


class _Writer:
    """Collects what is masked in one cell."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._code = list(text)
        self._shell = list(blank(text))
        self._stretches: list[Span] = []
        self._magics: list[Span] = []
        self._words: set[str] = set()

    def take(self, start: int, end: int, instead: str = "", shell_from: int | None = None) -> None:
        """Mask a stretch, with ``instead`` at its start; from ``shell_from`` on it is for a shell."""
        written = self.text[start:end]
        kept = _SUPPRESSION.search(written)
        length = kept.start() if kept else len(written)
        self._code[start : start + length] = (instead + blank(written)[len(instead) :])[:length]
        self._magics.append(Span(start, start + len(written[:length].rstrip())))
        if shell_from is None:
            self._words.update(_WORD.findall(written))
            return
        self._shell[shell_from:end] = self.text[shell_from:end]
        self._stretches.append(Span(shell_from, end))
        for inner, name in _INTERPOLATED.findall(written):
            self._words.update(_WORD.findall(inner or name))

    def put(self, start: int, code: str) -> None:
        """Have Python read something else of the same length."""
        self._code[start : start + len(code)] = code

    def keep(self, start: int, end: int) -> None:
        """Have a stretch stay as it is."""
        self._magics.append(Span(start, end))

    def put_for_shell(self, start: int, text: str) -> None:
        """The same for a shell."""
        self._shell[start : start + len(text)] = text

    def masked(self) -> Masked:
        """The result."""
        shell = "".join(self._shell) if self._stretches else ""
        code = "".join(self._code)
        return Masked(code, shell, tuple(self._stretches), tuple(self._magics), frozenset(self._words))


def _whole(text: str, start: int, *, in_shell: bool) -> Masked:
    """A cell that is not Python from its first character on; a shell reads it from ``start`` on."""
    code = blank(text)
    if not in_shell:
        return Masked(code, "", (), (Span(0, len(text)),), frozenset(_WORD.findall(text)))
    for kept in _SUPPRESSION.finditer(text, start):
        code = code[: kept.start()] + kept.group() + code[kept.end() :]
    shell = code[:0] + blank(text[:start]) + text[start:]
    return Masked(code, shell, (Span(start, len(text)),), (Span(0, len(text)),), frozenset())


def _logical_lines(text: str, start: int) -> Iterator[int]:
    """Where the logical lines begin: not within brackets, strings, or behind a backslash."""
    depth, is_first = 0, True
    at = start
    while at < len(text):
        if is_first:
            yield at
            is_first = False
            escape = _ESCAPE.match(text, at)
            if escape is not None and not _TIMED.match(text, at):
                at = _end_of_line(text, at)
        match = _TOKEN.search(text, at)
        if match is None:
            return
        token, at = match.group(), match.end()
        if token == "\n":
            is_first = depth == 0
        elif token in "([{":
            depth += 1
        elif token in ")]}":
            depth = max(0, depth - 1)


def _end_of_line(text: str, at: int) -> int:
    match = _REST_OF_LINE.match(text, at)
    end = match.end() if match else len(text)
    return end - 1 if text[end - 1 : end] == "\r" else end


def _mask_line(writer: _Writer, start: int, base: str, is_strict: bool) -> None:
    text = writer.text
    if base and text.startswith(base, start):
        writer.put(start, " " * (len(base) - 1) + "\f")  # IPython takes this indentation off; a form feed ends it
    timed = _TIMED.match(text, start)
    if timed is not None and is_strict:
        indent = timed["indent"].removeprefix(base)
        length = timed.end() - start
        writer.put(start, " " * (length - 1 - len(indent)) + "\f" + indent)
        writer.keep(timed.end("indent"), timed.end())
        return
    escape = _ESCAPE.match(text, start)
    if escape is not None:
        _mask_magic(writer, escape.end("indent"), is_inner=escape["indent"] != base)
        return
    question = _QUESTION.match(text, start)
    if question is not None:
        first = start + len(text[start:]) - len(text[start:].lstrip(" \t"))
        _mask_magic(writer, first, is_inner=text[start:first] != base)
        return
    assigned = _ASSIGNED.match(text, start)
    if assigned is not None:
        at = assigned.start("value")
        # What a shell prints comes as a list; what a magic gives is not known.
        _mask_magic(writer, at, "[]" if text[at] == "!" else "_")
        return
    if not is_strict:
        bare = _WITHOUT_SIGN.match(text, start)
        if bare is not None and not _is_python(bare.group().strip()):
            at = bare.end("indent")
            is_install = bare["name"] in _INSTALLERS.split("|")
            is_inner = bare["indent"] != base
            writer.take(at, _end_of_line(text, at), _statement(is_inner, 4), at if is_install else None)


def _mask_magic(writer: _Writer, at: int, instead: str = "", *, is_inner: bool = False) -> None:
    text, end = writer.text, _end_of_line(writer.text, at)
    instead = instead or _statement(is_inner, end - at)
    if text[at] == "!":
        writer.take(at, end, instead, at + (2 if text.startswith("!!", at) else 1))
        return
    shell = _SHELL_MAGICS.match(text, at)
    if shell is not None:
        writer.take(at, end, instead, shell.end("taken") if shell["taken"] else at + 1)
        return
    variable = _VARIABLE.match(text, at)
    if variable is None:
        writer.take(at, end, instead)
        return
    writer.take(at, end, instead, variable.start("name"))
    gap = len(variable["equals"])
    if variable["equals"] != "=" and gap == 1:
        writer.put_for_shell(variable.start("equals"), "=")


def _statement(is_inner: bool, length: int) -> str:
    """What stands for a magic where a block needs a statement."""
    if not is_inner:
        return ""
    return "pass" if length >= 4 else "0"


def _is_python(line: str) -> bool:
    try:
        ast.parse(line)
    except (SyntaxError, ValueError):
        return False
    return True
