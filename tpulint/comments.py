"""Where the comments of a text stand."""

from __future__ import annotations

import io
import re

from tpulint.languages import PYTHON, language_of
from tpulint.model import Span
from tpulint.source import SourceFile

_NEWLINE = r"\r\n|\r|\n"


def comments_of(source: SourceFile) -> list[Span]:
    """Spans of all comments of a file, in order, whatever its language."""
    if language_of(source.path, source.text) == PYTHON:
        return comment_spans(source.code)
    from tpulint.text_files import comment_spans as comment_spans_of_text

    return comment_spans_of_text(source)


def comment_spans(text: str) -> list[Span]:
    """Spans of all comments of Python code, in order; an unfinished text gives those up to where it breaks off."""
    if "#" not in text:
        return []
    import tokenize

    starts = [0]
    starts.extend(match.end() for match in re.finditer(_NEWLINE, text))
    # tokenize ends lines at "\n" only: give it one line per line of ours, of the same length in code points.
    lines = re.sub(_NEWLINE, lambda match: "\n", text)
    spans = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(lines).readline):
            if token.type == tokenize.COMMENT:
                start = starts[token.start[0] - 1] + token.start[1]
                spans.append(Span(start, start + len(token.string)))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        pass
    return spans
