"""What several sources of configuration say, put on top of each other."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from tpulint.config import ConfigError, Configuration, RunSettings, Settings
from tpulint.config_keys import IGNORE_KEYS, PATTERN_KEYS, READERS
from tpulint.patterns import anchor
from tpulint.records import NamedTuple
from tpulint.selectors import nearest
from tpulint.targets import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Layer(NamedTuple):
    """What one file, or the command line, says."""

    values: Mapping[str, object]
    origin: str
    """For messages: the path of the file, or ``command line``."""
    root: str
    """The folder its relative paths and patterns belong to."""


def check(table: Mapping[str, object], origin: str, root: str) -> Layer:
    """The layer of one table. Raises ``ConfigError`` for an unknown key or a value of the wrong type."""
    values: dict[str, object] = {}
    for key, value in table.items():
        if key not in READERS:
            raise ConfigError(f"{origin}: unknown key `{key}`{nearest(key, READERS)}")
        try:
            values[key] = READERS[key](value)
        except ValueError as error:
            raise ConfigError(f"{origin}: `{key}` {error}") from None
    for key in PATTERN_KEYS:
        if key in values:
            values[key] = _anchored(_strings(values[key]), root)
    for key in IGNORE_KEYS:
        if key in values:
            values[key] = _anchored_ignores(values[key], root)
    for key in ("baseline", "cache-dir"):
        if key in values:
            values[key] = os.path.join(root, os.path.expanduser(str(values[key])))
    return Layer(values, origin, root)


def merge(layers: Sequence[Layer], config_file: str, invocation: Mapping[str, object]) -> Configuration:
    """The configuration that results, the last layer on top; ``invocation`` holds fields no layer can set."""
    fields: dict[str, Any] = {}
    origins: dict[str, str] = {}
    rules: dict[str, dict[str, object]] = {}
    target = Target()
    for layer in layers:
        origins.update(dict.fromkeys(layer.values, layer.origin))
        _merge_selection(fields, layer.values)
        for key, value in layer.values.items():
            name = key.replace("-", "_")
            if key == "rules" and isinstance(value, dict):
                for code, options in value.items():
                    rules[code] = {**rules.get(code, {}), **options}
            elif key == "target":
                target = target._replace(name=str(value))
            elif key == "target-version" and isinstance(value, tuple):
                target = target._replace(version=value)
            elif key == "extend-per-file-ignores" and isinstance(value, tuple):
                fields["per_file_ignores"] = (*_strings(fields.get("per_file_ignores")), *value)
            elif key.startswith("extend-") and isinstance(value, tuple):
                fields[name] = (*_strings(fields.get(name)), *value)
            elif key not in ("select", "ignore"):
                fields[name] = value
    fields["target"] = target
    fields["rule_options"] = tuple((code, tuple(options.items())) for code, options in sorted(rules.items()))
    fields["root"] = os.path.dirname(os.path.abspath(config_file)) if config_file else os.getcwd()
    fields["config_file"] = config_file
    fields.update(invocation)
    return Configuration(
        Settings()._replace(**{name: value for name, value in fields.items() if name in Settings._fields}),
        RunSettings()._replace(**{name: value for name, value in fields.items() if name in RunSettings._fields}),
        tuple(sorted(origins.items())),
    )


def _merge_selection(fields: dict[str, Any], values: Mapping[str, object]) -> None:
    """A later ``select`` starts anew; a later ``ignore`` or ``extend-select`` adds, the latter over earlier ignores."""
    if "select" in values:
        fields["select"] = values["select"]
        fields["ignore"] = fields["extend_select"] = ()
    wanted = _strings(values.get("extend-select"))
    earlier = [selector for selector in _strings(fields.get("ignore")) if not selector.startswith(wanted or ("\0",))]
    fields["ignore"] = (*earlier, *_strings(values.get("ignore")))


def _anchored(patterns: Iterable[str], root: str) -> tuple[str, ...]:
    return tuple(anchor(pattern, root)[0] for pattern in patterns)


def _anchored_ignores(value: object, root: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    ignores: list[tuple[str, tuple[str, ...]]] = []
    for pattern, selectors in value if isinstance(value, tuple) else ():
        if pattern.startswith("!"):
            # Two patterns of which either fits cannot be negated: the first one is the name, or the whole path.
            ignores.append((f"!{anchor(pattern[1:], root)[0]}", selectors))
        else:
            ignores.extend((one, selectors) for one in anchor(pattern, root))
    return tuple(ignores)


def _strings(value: object) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()
