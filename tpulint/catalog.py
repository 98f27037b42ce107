"""The rules: cards read from packages of rules, and kept parsed."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable

from tpulint import card_cache, user_cache
from tpulint.card import CardError
from tpulint.card_cache import KeptCard, parted
from tpulint.records import NamedTuple
from tpulint.rule import OWN, Place, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.config import Settings

__all__ = ["CardError", "Catalogue", "Rule", "load"]

MEASUREMENTS = "measurements.yaml"
"""Name of the one file beside the folders of cards that is no card."""


class Catalogue:
    """All rules of some packages."""

    def __init__(self, rules: Iterable[Rule], digest: str) -> None:
        self.rules = tuple(sorted(rules, key=lambda rule: rule.code))
        self.digest = digest
        """Changes whenever a card or the Python of a rule changes."""
        self.letters = frozenset(rule.code.rstrip("0123456789") for rule in self.rules)
        """What the codes begin with: ``TPU``, and the letters of rules from plugins."""
        self._by_word = {word: rule for rule in self.rules for word in (rule.code, rule.name)}
        self._selected: dict[Settings, tuple[Rule, ...]] = {}

    def get(self, code_or_name: str) -> Rule | None:
        """The rule of that code or name."""
        return self._by_word.get(code_or_name)

    def holds(self, package: str) -> bool:
        """Whether any of the rules is from this package."""
        return any(rule.place.package == package for rule in self.rules)

    def select(self, settings: Settings) -> tuple[Rule, ...]:
        """The rules that run under these settings. ``check_selectors`` tells unknown selectors beforehand."""
        found = self._selected.get(settings)
        if found is None:
            from tpulint.selection import enabled

            found = self._selected[settings] = enabled(self.rules, settings)
        return found

    def codes_of(self, selectors: tuple[str, ...]) -> frozenset[str]:
        """Codes of all rules that any of the selectors means."""
        from tpulint.selection import codes_of

        return codes_of(self.rules, selectors)


def load(packages: tuple[str, ...] = (OWN,)) -> Catalogue:
    """The rules of these packages. Raises ``CardError`` for a bad card, ``ImportError`` for a package that is none."""
    places: list[Place] = []
    cards, code = user_cache.digest(), user_cache.digest()
    # Cards parsed by another edition of the parser are not the same cards.
    for module in ("card.py", "card_cache.py", "user_cache.py", "card_parser.py", "strict_yaml.py"):
        cards.update(_stamp(module, os.stat(os.path.join(os.path.dirname(__file__), module))).encode())
    for package in packages:
        found = _scan(package)
        places.extend(found.places)
        cards.update("\n".join((package, *found.of_cards)).encode())
        code.update("\n".join(found.of_code).encode())
    name = cards.hexdigest()
    code.update(name.encode())
    parsed = card_cache.read(name)
    if parsed is None:
        parsed = _parse(places)
        card_cache.keep(name, parsed)
    return Catalogue([Rule(card, place) for card, place in zip(parsed, places, strict=True)], code.hexdigest())


class _Found(NamedTuple):
    """What lies in the folders of a package."""

    places: list[Place]
    """Cards in order of path."""
    of_cards: list[str]
    """What tells each card from the others and from its earlier texts."""
    of_code: list[str]
    """The same of every Python file that rules may consist of."""


def _scan(package: str) -> _Found:
    try:
        module = importlib.import_module(package)
    except (ImportError, TypeError, ValueError):
        raise
    except (Exception, SystemExit) as error:  # whatever the package does when it is imported
        raise ImportError(f"{package} cannot be imported: {type(error).__name__}: {error}") from error
    roots = getattr(module, "__path__", None)
    if roots is None:
        raise ImportError(f"{package} is a module, not a package with folders of rules")
    found = _Found([], [], [])
    for root in roots:
        for category in _entries(root):
            if category.is_dir():
                _scan_category(package, category, found)
            elif category.name.endswith(".yaml") and category.name != MEASUREMENTS:
                raise CardError(category.path, 1, "a card must lie in the folder of its category")
    return found


def _scan_category(package: str, category: os.DirEntry[str], found: _Found) -> None:
    files = {entry.name: entry for entry in _entries(category.path)}
    for name, entry in files.items():
        stem, dot, suffix = name.rpartition(".")
        if suffix == "py":
            found.of_code.append(_stamp(name, entry.stat()))
        elif dot and suffix == "yaml":
            place = Place(package, category.name, stem, entry.path, f"{stem}.py" in files)
            found.places.append(place)
            # The time of change stands for the text: reading all cards would take as long as all else at the start.
            found.of_cards.append(f"{category.name}/{place.has_python}/{_stamp(name, entry.stat())}")


def _entries(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _stamp(name: str, state: os.stat_result) -> str:
    """Changes when the file does."""
    return f"{name}:{state.st_mtime_ns}:{state.st_size}"


def _parse(places: list[Place]) -> list[KeptCard]:
    from tpulint.card_parser import parse

    parsed = []
    for place in places:
        with open(place.path, "rb") as file:
            data = file.read()
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            row = data.count(b"\n", 0, error.start) + 1
            raise CardError(place.path, row, "not UTF-8") from None
        card = parse(text, place.path, place.category, place.stem, own=place.is_own, has_python=place.has_python)
        parsed.append(parted(card))
    _check_unique([Rule(card, place) for card, place in zip(parsed, places, strict=True)])
    return parsed


def _check_unique(rules: list[Rule]) -> None:
    seen: dict[str, Rule] = {}
    for rule in rules:
        for what, word in (("code", rule.code), ("name", rule.name)):
            other = seen.setdefault(word, rule)
            if other is not rule:
                raise CardError(
                    rule.place.path, _row_of(rule.place.path, what), f"{what} {word!r} is taken by {other.place.path}"
                )


def _row_of(path: str, key: str) -> int:
    with open(path, encoding="utf-8") as file:
        return next((row for row, line in enumerate(file, 1) if line.startswith(f"{key}:")), 1)
