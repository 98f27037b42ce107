"""Where configuration comes from: ``pyproject.toml``, ``tpulint.toml``, ``.tpulint.toml`` and flags."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from tpulint import __version__, user_cache
from tpulint.config import COMMAND_LINE, ConfigError, Configuration
from tpulint.config_layers import Layer, check, merge
from tpulint.targets import satisfies

FILE_NAMES = (".tpulint.toml", "tpulint.toml", "pyproject.toml")
"""In the order in which the files of one folder are preferred."""
_KEPT_FILES = 64
"""Parsed files in the user's cache folder: one for each text that the files of all projects have."""


def load(
    paths: Sequence[str] = (".",),
    flags: Mapping[str, object] | None = None,
    configs: Sequence[str] = (),
    isolated: bool = False,
    invocation: Mapping[str, object] | None = None,
) -> Configuration:
    """The configuration for some paths. Raises ``ConfigError``.

    ``flags`` (by key) win over files; ``configs`` names a file to take instead of the nearest one, or holds
    ``key = value`` texts that win over files; ``invocation`` holds fields that belong to this run alone.
    """
    if "" in paths:  # a variable of the shell that is not set
        raise ConfigError(f"{COMMAND_LINE}: a path is empty; the working directory is `.`")
    invocation = {"paths": tuple(paths), **(invocation or {})}
    files = [text for text in configs if "=" not in text or os.path.exists(text)]
    if len(files) > 1:
        raise ConfigError(f"{COMMAND_LINE}: `--config` names more than one file")
    if files and isolated:
        raise ConfigError(f"{COMMAND_LINE}: `--isolated` contradicts `--config {files[0]}`")
    found = ""
    if not isolated:
        found = files[0] if files else find(str(invocation.get("stdin_filename") or paths[0]))
    layers = _read_chain(found) if found else []
    invocation["extended_files"] = tuple(layer.origin for layer in layers[:-1])
    layers.extend(_parse_inline(text) for text in configs if text not in files)
    layers.append(check(flags or {}, COMMAND_LINE, os.getcwd()))
    return merge(layers, found, invocation)


def find(start: str) -> str:
    """The nearest configuration file in the folder of ``start`` or above it; empty if there is none."""
    folder = os.path.abspath(start)
    if not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    while True:
        for name in FILE_NAMES:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and (name != "pyproject.toml" or _speaks_of_us(path)):
                return path
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above


def read(path: str) -> Layer:
    """What one file says. Raises ``ConfigError``."""
    shown = _shown(path)
    table = _table(_read_bytes(path), shown)
    if os.path.basename(path) == "pyproject.toml":
        tool = table.get("tool")
        ours = tool.get("tpulint", {}) if isinstance(tool, dict) else {}
        if not isinstance(ours, dict):
            raise ConfigError(f"{shown}: `tool.tpulint` must be a table")
        table = ours
    elif isinstance(table.get("tool"), dict):
        raise ConfigError(
            f"{shown}: [tool.tpulint] belongs into pyproject.toml; here keys stand at the top, without a table, and "
            "tables without the prefix, such as [per-file-ignores]"
        )
    layer = check(table, shown, os.path.dirname(os.path.abspath(path)))
    _require_version(layer)
    return layer


def _read_chain(path: str) -> list[Layer]:
    """The file and those it extends, the most general first."""
    layers: list[Layer] = []
    seen: list[str] = []
    while True:
        real = os.path.realpath(path)
        if real in seen:
            raise ConfigError(f"{_shown(path)}: `extend` leads in a circle")
        seen.append(real)
        layer = read(path)
        layers.insert(0, layer)
        extended = layer.values.get("extend")
        if extended is None:
            return layers
        path = os.path.join(layer.root, os.path.expanduser(str(extended)))


def _speaks_of_us(path: str) -> bool:
    """Whether a ``pyproject.toml`` has a table of ours. A broken one that never names us is not our business."""
    try:
        data = _read_bytes(path)
    except ConfigError:
        return False
    if b"tpulint" not in data:
        return False
    tool = _table(data, _shown(path)).get("tool")
    return isinstance(tool, dict) and "tpulint" in tool


def _read_bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError as error:
        raise ConfigError(f"{_shown(path)}: cannot be read: {error.strerror or error}") from None


def _table(data: bytes, origin: str) -> dict[str, object]:
    """What the text of a file says: to load the parser takes a seventh of the time of a check of one file."""
    digest = user_cache.digest()
    digest.update(data)
    name = f"settings-{digest.hexdigest()}.table"
    kept: dict[str, object] | None = user_cache.read(name)
    if kept is not None:
        return kept
    table = _parse(data, origin)
    user_cache.keep(name, table, _KEPT_FILES)
    return table


def _parse(data: bytes, origin: str) -> dict[str, object]:
    import tomllib

    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ConfigError(f"{origin}: not valid TOML: byte {error.start} is not UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{origin}: not valid TOML: {error}") from None


def _parse_inline(text: str) -> Layer:
    origin = f"--config {text!r}"
    return check(_parse(text.encode(errors="replace"), origin), origin, os.getcwd())


def _require_version(layer: Layer) -> None:
    wanted = str(layer.values.get("required-version", ""))
    if not wanted:
        return
    current = tuple(int(part) for part in __version__.split(".")[:3] if part.isdigit())
    try:
        met = satisfies(current, wanted if wanted[:1] in ("<", ">", "=") else f"=={wanted}")
    except ValueError:
        raise ConfigError(
            f"{layer.origin}: `required-version` must be a version, or conditions such as `>=0.1,<1`, not {wanted!r}"
        ) from None
    if not met:
        raise ConfigError(f"{layer.origin}: `required-version` asks for tpulint {wanted}, this is {__version__}")


def _shown(path: str) -> str:
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative
