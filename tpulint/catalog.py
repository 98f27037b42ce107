"""The rules: cards read from packages of rules, kept parsed, their Python imported on first use."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Iterator

from tpulint import card_cache, user_cache
from tpulint.card import CardError, Example, MappingRow, Option
from tpulint.card_cache import KeptCard, parted, rest_of
from tpulint.model import Applicability, Certainty, Finding, Severity
from tpulint.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tpulint.config import Settings
    from tpulint.context import FileContext
    from tpulint.declarative import NameTable
    from tpulint.text_files.context import TextContext

    Check = Callable[[FileContext], Iterator[Finding]]
    TextCheck = Callable[[TextContext], Iterator[Finding]]

__all__ = ["CardError", "Catalogue", "Rule", "load"]

MEASUREMENTS = "measurements.yaml"
"""Name of the one file beside the folders of cards that is no card."""


class Place(NamedTuple):
    """Where a rule stands."""

    package: str
    category: str
    stem: str
    path: str
    """Path of the card."""
    has_python: bool

    @property
    def is_own(self) -> bool:
        """Whether the rule comes with tpulint, not from a plugin."""
        return self.package == "tpulint_rules"


class Rule:
    """One thing we look for: what its card says, and its check."""

    __slots__ = (
        "_card", "_check", "_check_text", "_rest", "_table", "anchors", "applicability", "blocks", "category",
        "certainty", "code", "files", "fix_availability", "moves", "name", "place", "portable", "severity", "since",
        "status", "targets",
    )  # fmt: skip

    def __init__(self, card: KeptCard, place: Place) -> None:
        self._card = card
        self._rest: dict[str, Any] | None = None
        self._check: Check | None = None
        self._check_text: TextCheck | None = None
        self._table: NameTable | None = None
        self.place = place
        self.category = place.category
        head = card.head
        self.code: str = head["code"]
        self.name: str = head["name"]
        self.status: str = head["status"]
        """preview, stable, deprecated or removed."""
        self.since: str = head["since"]
        self.severity = Severity[head["severity"].upper()]
        self.certainty = Certainty[head["certainty"].upper()]
        """The best the rule can claim."""
        self.fix_availability: str = head["fix_availability"]
        """always, sometimes or none."""
        self.applicability = Applicability[head["applicability"].upper()]
        self.portable: str = head["portable"]
        """fix, display or silent: what becomes of the rule in portable code."""
        self.moves: bool = head["moves"]
        """Whether its findings choose or use a GPU as the place for data."""
        self.blocks: bool = head["blocks"]
        """Whether what it finds has no counterpart on a TPU, so that something else must take its place."""
        self.anchors: tuple[str, ...] = tuple(head["anchors"])
        """The rule speaks only about a file whose text holds at least one of these."""
        self.files: tuple[str, ...] = tuple(head["files"])
        """Languages of the files it speaks about."""
        self.targets: dict[str, str] = dict(head["targets"])
        """Backend to version condition; empty for all."""

    def __repr__(self) -> str:
        return f"<Rule {self.code} {self.name}>"

    @property
    def default(self) -> bool:
        """Whether the rule runs without being selected."""
        return self.status == "stable"

    def _of_rest(self, key: str) -> Any:
        if self._rest is None:
            self._rest = rest_of(self._card)
        return self._rest[key]

    @property
    def summary(self) -> str:
        """What it finds, in a line."""
        return self._of_rest("summary")  # type: ignore[no-any-return]

    @property
    def why(self) -> str:
        """What is wrong with what it finds."""
        return self._of_rest("why")  # type: ignore[no-any-return]

    @property
    def fix_safety(self) -> str:
        """When its fixes are safe, and when not."""
        return self._of_rest("fix_safety")  # type: ignore[no-any-return]

    @property
    def advice(self) -> str:
        """What to do by hand."""
        return self._of_rest("advice")  # type: ignore[no-any-return]

    @property
    def when_to_ignore(self) -> str:
        """Where its findings do no harm."""
        return self._of_rest("when_to_ignore")  # type: ignore[no-any-return]

    @property
    def references(self) -> tuple[str, ...]:
        """Where to read on."""
        return tuple(self._of_rest("references"))

    @property
    def prelude(self) -> str:
        """Name of the text around its examples."""
        return self._of_rest("prelude")  # type: ignore[no-any-return]

    @property
    def examples(self) -> tuple[Example, ...]:
        """Code the rule speaks about, and code it leaves alone."""
        return tuple(Example(*item) for item in self._of_rest("examples"))

    @property
    def mapping(self) -> tuple[MappingRow, ...]:
        """The rows of the card's mapping table."""
        return tuple(MappingRow.from_dict(item) for item in self._of_rest("mapping"))

    @property
    def table(self) -> NameTable:
        """The mapping table, ready for look-ups."""
        if self._table is None:
            from tpulint.declarative import NameTable

            self._table = NameTable(self.mapping)
        return self._table

    @property
    def options(self) -> dict[str, Option]:
        """The settings this rule has of its own."""
        return {name: Option(*item) for name, item in self._card.head["options"].items()}

    def option_values(self, overrides: Iterable[tuple[str, object]] = ()) -> dict[str, object]:
        """Defaults of the options with these values in their place. Raises ``ValueError`` naming a wrong one."""
        options = self.options
        values = {name: option.default for name, option in options.items()}
        for name, value in overrides:
            option = options.get(name)
            if option is None:
                known = f"; its options are {', '.join(options)}" if options else "; it has no options"
                raise ValueError(f"unknown option {name!r} of {self.code}{known}")
            if not option.accepts(value):
                raise ValueError(f"option {name!r} of {self.code} must be of type {option.type}, not {value!r}")
            values[name] = value
        return values

    @property
    def fragment(self) -> str:
        """The part of the documentation's address that names this rule."""
        return f"{self.code.lower()}-{self.name}"

    @property
    def check(self) -> Check:
        """The function that yields the rule's findings in one Python file."""
        if self._check is None:
            self._check = self._load_check()
        return self._check

    @property
    def check_text(self) -> TextCheck:
        """The function that yields the rule's findings in one file that is not Python."""
        if self._check_text is None:
            self._check_text = self._function("check_text")
        return self._check_text

    def _function(self, name: str) -> Callable[..., Iterator[Finding]]:
        place = self.place
        module = importlib.import_module(f"{place.package}.{place.category}.{place.stem}")
        function = getattr(module, name, None)
        if not callable(function):
            raise CardError(place.path, 1, f"{place.stem}.py beside this card must define {name}(ctx)")
        return function  # type: ignore[no-any-return]

    def _load_check(self) -> Check:
        if self.place.has_python:
            return self._function("check")
        from tpulint.declarative import check as check_table

        return check_table

    def __reduce__(self) -> tuple[object, ...]:
        # Another process imports the Python of a rule when it needs it.
        return Rule, (self._card, self.place)


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


def load(packages: tuple[str, ...] = ("tpulint_rules",)) -> Catalogue:
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
