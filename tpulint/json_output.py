"""JSON that every reader takes: valid UTF-8 once decoded, whatever the names of files are made of."""

from __future__ import annotations

import json
import re

_HALVES = re.compile(r"(\\\\|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2})|\\ud[89a-f][0-9a-f]{2}")
"""A backslash or a whole pair, or else half a pair: what Python makes of a byte of a name that is not UTF-8."""


def serialize(data: object, indent: int | None = 2) -> str:
    """The data as ASCII, on one line without ``indent``. Half a surrogate pair is written as text, ``\\\\udcff``.

    Raises ``ValueError`` for numbers that JSON does not have.
    """
    separators = None if indent is not None else (",", ":")
    written = json.dumps(data, indent=indent, separators=separators, allow_nan=False)
    return _HALVES.sub(lambda match: match[1] or f"\\{match[0]}", written) if "\\ud" in written else written
