"""``x.cuda(async=True)``, which Python reads no more since ``async`` is a keyword: 3.7."""

from __future__ import annotations

import io
import tokenize

from tpulint.model import Span
from tpulint.records import NamedTuple

_WORD, _READ_AS = "async", "Async"
"""What such an argument is called, and what the tree of the text calls it. They are equally long."""
_COPYING = frozenset({"cuda", "to", "type", "copy_"})
"""Methods of tensors whose argument is ``non_blocking`` today."""


class Readable(NamedTuple):
    """A text of equal length in which these arguments have a name that Python reads."""

    code: str
    places: tuple[Span, ...]
    """Where the names stand."""


def readable(text: str) -> Readable | None:
    """What Python is to read in place of a text that it refuses; None where that has no such arguments."""
    starts = [0]
    for line in io.StringIO(text, newline=""):
        starts.append(starts[-1] + len(line))
    places: list[Span] = []
    opened: list[str] = []
    """The names in front of the brackets that are open."""
    before: list[tokenize.TokenInfo] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type == tokenize.OP and token.string in "([{":
                opened.append(before[-1].string if before and before[-1].type == tokenize.NAME else "")
            elif token.type == tokenize.OP and token.string in ")]}" and opened:
                opened.pop()
            is_argument = token.string == "=" and bool(before) and before[-1].string == _WORD
            if is_argument and opened and opened[-1] in _COPYING:
                row, column = before[-1].start
                start = starts[row - 1] + column
                places.append(Span(start, start + len(_WORD)))
            before = [token]
    except (tokenize.TokenError, SyntaxError, IndexError):
        return None
    code, at = "", 0
    for place in places:
        code += text[at : place.start] + _READ_AS
        at = place.end
    return Readable(code + text[at:], tuple(places)) if places else None
