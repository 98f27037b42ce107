"""One rule: what its card says, and its check, whose Python is imported on first use."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator

from tpulint.card import CardError, Example, MappingRow, Option
from tpulint.card_cache import KeptCard, rest_of
from tpulint.model import Applicability, Certainty, Finding, Severity
from tpulint.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tpulint.context import FileContext
    from tpulint.declarative import NameTable
    from tpulint.text_files.context import TextContext

    Check = Callable[[FileContext], Iterator[Finding]]
    TextCheck = Callable[[TextContext], Iterator[Finding]]

OWN = "tpulint_rules"
"""The package of rules that comes with tpulint."""


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
        return self.package == OWN


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
