"""The nouns of a rule's card: examples, options, rows of a mapping table, errors."""

from __future__ import annotations

from tpulint.records import NamedTuple

STATUSES = ("preview", "stable", "deprecated", "removed")
AVAILABILITIES = ("always", "sometimes", "none")
PORTABLE = ("fix", "display", "silent")
"""What becomes of a rule in portable code: its fixes are written for it, are only shown, or it does not speak."""

OPTION_TYPES = ("int", "float", "str", "bool", "strings")
ACTIONS = (
    "rename", "rename-module", "replace", "delete", "drop-argument", "rename-argument", "set-argument", "take-out",
    "unsupported",
)  # fmt: skip

CATEGORIES = {
    "device": 0, "host_sync": 1, "recompile": 2, "step": 3, "precision": 4,
    "data": 5, "distributed": 6, "checkpoint": 7, "frameworks": 8, "versions": 9, "environment": 9,
}  # fmt: skip
"""Folder of our own rules to the first digit of their codes."""


class CardError(ValueError):
    """A card that cannot be understood."""

    def __init__(self, path: str, row: int, message: str) -> None:
        super().__init__(f"{path}:{row}: {message}")
        self.path = path
        self.row = row
        self.message = message


class Example(NamedTuple):
    """A piece of code the rule speaks about (``bad``), or one it must leave alone (``ok``)."""

    bad: str = ""
    good: str = ""
    """What ``bad`` becomes when fixed; empty when there is no fix for it."""
    portable: str = ""
    """What ``bad`` becomes with the setting ``portable``; empty where that is not shown."""
    ok: str = ""
    unsafe: bool = False
    """The fix needs ``--unsafe-fixes``."""
    prelude: str = ""
    """Name of the text the example stands in; empty when it stands alone."""
    file: str = ""
    """Name of the file it stands in, which tells its language; empty for that of the rule's first language."""


class Option(NamedTuple):
    """A setting of one rule, ``[tool.tpulint.rules.TPU123]``."""

    type: str
    default: object
    help: str

    def accepts(self, value: object) -> bool:
        """Whether a value has the option's type."""
        if self.type == "strings":
            return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
        if self.type == "float":
            return isinstance(value, int | float) and not isinstance(value, bool)
        if self.type == "int":
            return isinstance(value, int) and not isinstance(value, bool)
        return isinstance(value, bool if self.type == "bool" else str)


class MappingRow(NamedTuple):
    """One name of a mapping table and what is done about it. ``tpulint.declarative`` explains the keys."""

    old: str
    action: str
    new: str = ""
    effect: str = ""
    note: str = ""
    arguments: tuple[str, ...] | None = None
    """Parameters of the old name that the new one takes too; None keeps the argument list as it is."""
    argument: str = ""
    position: int | None = None
    allowed: tuple[object, ...] = ()
    given: tuple[object, ...] | None = None
    unless: tuple[tuple[str, tuple[object, ...]], ...] = ()
    assigned: bool = False
    with_item: bool = False
    acquires_device: bool = False
    since: str = ""
    deprecated_in: str = ""
    removed_in: str = ""
    severity: str = ""
    applicability: str = ""
    reason: str = ""
    portable: str = ""
    """In portable code: ``keep``, a name or expression in place of ``new``, or empty."""
    as_number: str = ""
    """In place of ``new`` where what the call gives is compared with a number."""
    in_step_loop: MappingRow | None = None

    def as_dict(self) -> dict[str, object]:
        """The keys that differ from their defaults, as plain data."""
        plain = {key: value for key, value in self._asdict().items() if value != self._field_defaults.get(key)}
        if self.in_step_loop is not None:
            plain["in_step_loop"] = self.in_step_loop.as_dict()
        return plain

    @classmethod
    def from_dict(cls, plain: dict[str, object]) -> MappingRow:
        """The row that ``as_dict`` was taken of, also after a round trip through JSON."""
        values: dict[str, object] = {}
        for key, value in plain.items():
            if isinstance(value, list):
                value = tuple(value)
            values[key] = cls.from_dict(value) if isinstance(value, dict) else value
        return cls(**values)  # type: ignore[arg-type]
