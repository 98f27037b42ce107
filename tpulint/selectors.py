"""What a selector stands for: ``TPU101``, the prefix ``TPU1``, a rule's name, or ``ALL``."""

from __future__ import annotations

import re
from collections.abc import Iterable

OWN_CODES = ("invalid-syntax", "unused-suppression")
"""Codes, and names, of what the tool itself reports."""

EVERYTHING = "ALL"

_PREFIX = r"[A-Z]+[0-9]*$"


def matches(selector: str, code: str, name: str = "") -> bool:
    """Whether a selector stands for the rule with this code and name."""
    if selector in (code, name, EVERYTHING):
        return True
    return re.match(_PREFIX, selector) is not None and code.startswith(selector)


def matches_any(selectors: Iterable[str], code: str, name: str = "") -> bool:
    """Whether one of the selectors stands for the rule."""
    return any(matches(selector, code, name) for selector in selectors)


def nearest(word: str, words: Iterable[str]) -> str:
    """``; did you mean `...`?`` when one of the words is close, else nothing."""
    from difflib import SequenceMatcher

    matcher = SequenceMatcher()
    matcher.set_seq2(_plain(word))
    best, best_ratio = "", 0.6
    for known in words:
        matcher.set_seq1(_plain(known))
        if matcher.quick_ratio() > best_ratio and (ratio := matcher.ratio()) > best_ratio:
            best, best_ratio = known, ratio
    return f"; did you mean `{best}`?" if best else ""


def _plain(word: str) -> str:
    """Small letters, and the letter O where a zero is meant: ``TPU0O2``."""
    return word.lower().replace("o", "0")
