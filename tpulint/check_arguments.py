"""The arguments of ``tpulint check``, read without click, which takes longer to load than a small file to check."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tpulint.check_options import OPTIONS, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def read(words: Sequence[str]) -> tuple[tuple[str, ...], dict[str, Any]] | None:
    """Paths, and the values of all options by parameter: what click makes of these words behind ``tpulint``.

    None where click has to look: another command, ``--help``, a mistake, options in variables of the environment, and
    forms that are seldom used, such as several letters behind one dash.
    """
    left = list(reversed(words))
    if left and left[-1] == "check":
        left.pop()
    elif left and not _is_no_command(left[-1]):
        return None
    if any(option.envvar in os.environ for option in OPTIONS if option.envvar is not None):
        return None
    forms = {form: (option, value) for option in OPTIONS for form, value in _forms(option)}
    given: dict[str, Any] = {option.parameter: option.absent for option in OPTIONS}
    paths = []
    while left:
        word = left.pop()
        if not word.startswith("-") or word == "-":
            paths.append(word)
            continue
        form, equals, text = word.partition("=")
        if form not in forms or (equals and not form.startswith("--")):
            return None
        option, answer = forms[form]
        if answer is not None and equals:
            return None
        value = _value(option, text if equals or not left else left.pop()) if answer is None else answer
        if value is None:
            return None
        given[option.parameter] = (*given[option.parameter], value) if option.multiple else value
    return tuple(paths), given


def _is_no_command(word: str) -> bool:
    """Whether the first word is an option or a path: no command has a dot or a separator in its name."""
    return word.startswith("-") or "." in word or os.sep in word


def _forms(option: Option) -> list[tuple[str, bool | None]]:
    """How an option is written, and the value that this gives it; None where a value is to follow."""
    if option.is_pair:
        yes, _, no = option.forms[0].partition("/")
        return [(yes, True), (no, False)]
    return [(form, True if option.is_flag else None) for form in option.forms if form.startswith("-")]


def _value(option: Option, text: str) -> str | int | None:
    """What click makes of a value; None where it has to look itself."""
    if not text or text.startswith("-") or (option.choices and text not in option.choices):
        return None
    if option.takes == "number":
        return int(text) if text.isascii() and text.isdecimal() else None
    return text
