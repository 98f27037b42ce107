"""YAML by lines: keys with their values, items of lists, and the keys they stand under."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tpulint.model import Span
from tpulint.records import NamedTuple

_LINE = re.compile(
    r"^(?P<indent>[ ]*)(?P<dashes>(?:-[ \t]+)*)(?:(?P<key>[\w.-]+|\"[\w.-]+\"|'[\w.-]+')[ \t]*:(?=[ \t\r\n]|\Z))?[ \t]*"
    r"(?P<value>[^\r\n]*)",
    re.MULTILINE,
)
_CLOSING = {"{": "}", "[": "]"}
_FLOW_ITEM = re.compile(r"(?:\"[^\"]*\"|'[^']*'|\{[^{}]*\}|\[[^\[\]]*\]|[^,\"'{}\[\]])+")
_FLOW_VALUE = r"(?P<value>[^\s\"'{}\[\]](?:[^\"'{}\[\]]*[^\s\"'{}\[\]])?)"
_FLOW_PAIR = {
    "{": re.compile(
        r"\s*(?P<key>[\"']?)(?P<name>[A-Za-z_]\w*)(?P=key)[ \t]*:(?:[ \t]+|(?=[\"']))"
        rf"(?P<quote>[\"']?){_FLOW_VALUE}(?P=quote)\s*"
    ),
    "[": re.compile(rf"\s*(?P<quote>[\"']?)(?P<name>[A-Za-z_]\w*)={_FLOW_VALUE}(?P=quote)\s*"),
}
_COMMENT = re.compile(r"(?:^|(?<=\s))#")


class YamlLine(NamedTuple):
    """One line that says something."""

    path: tuple[str, ...]
    """The keys around it, from the outside."""
    key: str
    """Empty for an item of a list that is no table."""
    value: str
    """Without quotes."""
    value_span: Span
    span: Span


def read(text: str) -> Iterator[YamlLine]:
    """The lines of a text, as far as YAML is written one thing a line."""
    above: list[tuple[int, str]] = []
    for match in _LINE.finditer(text):
        indent = len(match["indent"])
        start, end = match.span("value")
        comment = _COMMENT.search(text, start, end)
        if comment is not None:
            end = comment.start()
        while end > start and text[end - 1] in " \t":
            end -= 1
        if not match["dashes"] and not match["key"] and start == end:
            continue
        # The items of a list may stand as far to the left as the key they belong to.
        while above and (above[-1][0] > indent or (above[-1][0] == indent and not match["dashes"])):
            above.pop()
        path = tuple(key for _, key in above)
        key = (match["key"] or "").strip("\"'")
        if end - start > 1 and text[start] in "\"'" and text[end - 1] == text[start]:
            start, end = start + 1, end - 1
        first = match.start("key") if match["key"] else start
        yield YamlLine(path, key, text[start:end], Span(start, end), Span(first, max(end, match.end("key"))))
        if key and start == end:
            above.append((indent + len(match["dashes"]), key))


def read_flow(line: YamlLine) -> Iterator[tuple[str, str, Span, Span]]:
    """Names and values in ``{NAME: value, ...}`` or ``[NAME=value, ...]``, with the spans of the pair and of the value.

    Nothing where the brackets do not close on the line. What is no plain text, or has no value, is left out.
    """
    text = line.value
    if text[:1] not in _CLOSING or not text.endswith(_CLOSING[text[0]]):
        return
    start = line.value_span.start
    for item in _FLOW_ITEM.finditer(text, 1, len(text) - 1):
        pair = _FLOW_PAIR[text[0]].fullmatch(text, *item.span())
        if pair is not None:
            first, last = pair.span("value")
            yield (
                pair["name"],
                pair["value"],
                Span(start + item.start(), start + last),
                Span(start + first, start + last),
            )


def comments(text: str) -> list[Span]:
    """The comments of a text of lines in which ``#`` begins one at the start of a line or behind a blank."""
    found = []
    for match in re.finditer(r"[^\r\n]+", text):
        comment = _COMMENT.search(text, *match.span())
        if comment is not None:
            found.append(Span(comment.start(), match.end()))
    return found
