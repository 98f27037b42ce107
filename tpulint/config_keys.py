"""Every key of the configuration, and how its value is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tpulint.config import ORDERS, OUTPUT_FORMATS, SELECTOR_KEYS
from tpulint.patterns import mistake_in
from tpulint.selectors import nearest
from tpulint.targets import KNOWN_TARGETS, VERSIONS, parse_version

PATTERN_KEYS = ("exclude", "extend-exclude", "include", "extend-include")
IGNORE_KEYS = ("per-file-ignores", "extend-per-file-ignores")
BOOLEAN_KEYS = (
    "fix",
    "unsafe-fixes",
    "fix-only",
    "show-fixes",
    "preview",
    "portable",
    "force-exclude",
    "respect-gitignore",
)


def describe(value: object) -> str:
    """What a value of the wrong type is, in the words of TOML."""
    kinds = {bool: "a boolean", str: "a string", int: "a number", float: "a number", list: "a list", dict: "a table"}
    return kinds.get(type(value), "a date or time")


def read_boolean(value: object) -> bool:
    """Each reader gives the value in its frozen form, or raises ``ValueError`` with the end of a sentence."""
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {describe(value)}")
    return value


def read_string(value: object) -> str:
    """A string."""
    if not isinstance(value, str):
        raise ValueError(f"must be a string, not {describe(value)}")
    if "\0" in value:
        raise ValueError("must not hold a null character")
    return value


def read_strings(value: object) -> tuple[str, ...]:
    """A list of strings."""
    if not isinstance(value, list | tuple):
        raise ValueError(f"must be a list of strings, not {describe(value)}")
    for item in value:
        if not isinstance(item, str):
            raise ValueError(f"must be a list of strings, but holds {describe(item)}")
    return tuple(value)


def read_patterns(value: object) -> tuple[str, ...]:
    """A list of patterns of paths."""
    patterns = read_strings(value)
    for pattern in patterns:
        _check_pattern(pattern)
    return patterns


def _check_pattern(pattern: str) -> None:
    mistake = mistake_in(pattern)
    if mistake:
        raise ValueError(f"holds {pattern!r}, which is no pattern: {mistake}")


def read_selectors_by_pattern(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """A table from patterns of paths to lists of selectors."""
    if not isinstance(value, dict):
        raise ValueError(f"must be a table from patterns to lists of rules, not {describe(value)}")
    for pattern in value:
        _check_pattern(pattern)
    return tuple((pattern, read_strings(selectors)) for pattern, selectors in value.items())


def read_rules(value: object) -> dict[str, dict[str, object]]:
    """A table of tables, one per rule."""
    if not isinstance(value, dict) or not all(isinstance(options, dict) for options in value.values()):
        raise ValueError("must hold one table per rule, named by its code, such as `rules.TPU101`")
    return {code: {key: _freeze(option) for key, option in options.items()} for code, options in value.items()}


def read_jobs(value: object) -> int:
    """A number of processes."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError("must be a number of processes, or 0 for as many as there are cores")
    return value


def read_target_version(value: object) -> tuple[int, ...]:
    """A version of the target."""
    if isinstance(value, float):
        raise ValueError(f'must be a string: write "{value}", since 2.10 as a number is 2.1')
    oldest, newest = (".".join(map(str, version)) for version in VERSIONS)
    try:
        version = parse_version(read_string(value))
    except ValueError:
        raise ValueError(f'must be a version of the target, such as "{newest}", not {value!r}') from None
    if not VERSIONS[0] <= version[:2] <= VERSIONS[1]:
        raise ValueError(f"must be a version from {oldest} to {newest}, not {value!r}")
    return version


def read_choice(value: object, choices: Sequence[str]) -> str:
    """One of some words."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(f"`{choice}`" for choice in choices)
        raise ValueError(f"must be one of {listed}, not {value!r}{nearest(str(value), choices)}")
    return value


READERS: dict[str, Callable[[object], object]] = {
    **dict.fromkeys(SELECTOR_KEYS, read_strings),
    **dict.fromkeys(PATTERN_KEYS, read_patterns),
    **dict.fromkeys(BOOLEAN_KEYS, read_boolean),
    **dict.fromkeys(IGNORE_KEYS, read_selectors_by_pattern),
    **dict.fromkeys(("baseline", "cache-dir", "extend", "required-version"), read_string),
    "plugins": read_strings,
    "rules": read_rules,
    "jobs": read_jobs,
    "output-format": lambda value: read_choice(value, OUTPUT_FORMATS),
    "order": lambda value: read_choice(value, ORDERS),
    "runtime": lambda value: read_choice(value, ("auto", "never")),
    "target": lambda value: read_choice(value, [target.name for target in KNOWN_TARGETS]),
    "target-version": read_target_version,
}
"""Key to the function that checks its value."""


def _freeze(value: object) -> object:
    """The same value, hashable."""
    if isinstance(value, dict):
        return tuple((key, _freeze(inner)) for key, inner in value.items())
    if isinstance(value, list):
        return tuple(_freeze(inner) for inner in value)
    return value
