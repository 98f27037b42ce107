"""Which rules a set of selectors means: codes, prefixes of codes, names, ALL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tpulint.selectors import EVERYTHING, matches, nearest
from tpulint.targets import satisfies

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.config import Settings
    from tpulint.rule import Rule

_OWN_RANGE = r"TPU\d?\Z"
"""Ranges of codes that mean something even before a rule of theirs exists."""

_EXACT = 100


class UnknownSelector(ValueError):
    """A selector that means no rule."""


def specificity(selector: str, rule: Rule) -> int | None:
    """How exactly a selector means a rule: 0 for ALL, more for a longer prefix, most for code or name; None if not."""
    if selector in (rule.code, rule.name):
        return _EXACT
    if rule.status == "removed" or not matches(selector, rule.code, rule.name):
        return None
    return 0 if selector == EVERYTHING else len(selector)


def enabled(rules: Iterable[Rule], settings: Settings) -> tuple[Rule, ...]:
    """The rules that run under these settings.

    For each rule the most specific selector decides; of equally specific ones ``ignore`` wins. Preview rules need
    ``preview`` or their own code or name, deprecated rules always their own code or name.
    """
    chosen = []
    for rule in rules:
        if rule.status == "removed" or not applies_to(rule, settings.target.name, settings.target.version):
            continue
        wanted = _most_specific((*(settings.select or ()), *settings.extend_select), rule)
        if wanted is None and settings.select is None and rule.status in ("stable", "preview"):
            wanted = -1  # on by default, less specific than anything
        if wanted is None or (wanted < _EXACT and not _may_run(rule, settings.preview)):
            continue
        unwanted = _most_specific(settings.ignore, rule)
        if unwanted is None or unwanted < wanted:
            chosen.append(rule)
    return tuple(chosen)


def _may_run(rule: Rule, preview: bool) -> bool:
    return rule.status == "stable" or (rule.status == "preview" and preview)


def _most_specific(selectors: Sequence[str], rule: Rule) -> int | None:
    if not selectors:
        return None
    found = [level for level in (specificity(selector, rule) for selector in selectors) if level is not None]
    return max(found, default=None)


def applies_to(rule: Rule, target: str, version: tuple[int, ...]) -> bool:
    """Whether a rule has something to say for a target; a card without conditions speaks for all of them."""
    if not rule.targets:
        return True
    condition = rule.targets.get(target)
    return condition is not None and satisfies(version, condition)


def codes_of(rules: Iterable[Rule], selectors: Sequence[str]) -> frozenset[str]:
    """Codes of all rules that any of the selectors means."""
    return frozenset(rule.code for rule in rules if _most_specific(selectors, rule) is not None)


def check_selectors(selectors: Iterable[str], rules: Sequence[Rule], others: Sequence[str] = ()) -> None:
    """Raise ``UnknownSelector`` for the first selector that means no rule and is not one of ``others``."""
    for selector in selectors:
        if selector == EVERYTHING or selector in others or re.match(_OWN_RANGE, selector):
            continue
        meant = [rule for rule in rules if specificity(selector, rule) is not None]
        if not meant:
            known = [word for rule in rules for word in (rule.code, rule.name)]
            raise UnknownSelector(f"unknown rule `{selector}`{nearest(selector, [*known, *others])}")
        for rule in meant:
            if rule.status == "removed":
                raise UnknownSelector(f"rule `{rule.code}` ({rule.name}) was removed: {rule.summary}")
