"""What a selector stands for: ``TPU101``, the prefix ``TPU1``, a rule's name, or ``ALL``."""

from __future__ import annotations

import re
from collections.abc import Iterable

OWN_CODES = ("invalid-syntax", "unused-suppression")
"""Codes, and names, of what the tool itself reports."""

EVERYTHING = "ALL"

_PREFIX = re.compile(r"[A-Z]+[0-9]*$")


def matches(selector: str, code: str, name: str = "") -> bool:
    """Whether a selector stands for the rule with this code and name."""
    if selector in (code, name, EVERYTHING):
        return True
    return _PREFIX.match(selector) is not None and code.startswith(selector)


def matches_any(selectors: Iterable[str], code: str, name: str = "") -> bool:
    """Whether one of the selectors stands for the rule."""
    return any(matches(selector, code, name) for selector in selectors)


def nearest(word: str, words: Iterable[str]) -> str:
    """``; did you mean `...`?`` when one of the words is close, else nothing."""
    from difflib import get_close_matches

    by_lower = {known.lower(): known for known in words}
    close = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return f"; did you mean `{by_lower[close[0]]}`?" if close else ""
