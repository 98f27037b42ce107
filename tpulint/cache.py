"""Results of earlier checks, so that an unchanged file is neither read nor parsed again.

One JSON file per combination of tool, settings and rules. JSON, because the folder may come with somebody's
repository: whatever it holds, reading it can at worst give wrong findings.
"""

from __future__ import annotations

import os
import sys

from tpulint import __version__
from tpulint.digest import digest_of
from tpulint.disk import write_private
from tpulint.library import Stamp as FileStamp
from tpulint.library import stamp_of_file
from tpulint.model import OutgoingCall, OutsideCall
from tpulint.records import NamedTuple
from tpulint.report.entry import FileReport, thaw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tpulint.digest import Stamp
    from tpulint.examination import Examined

FOLDER = ".tpulint_cache"

_FORMAT = 8
_PARTS = 9
"""Of what is kept about a file."""
_KEPT_FILES = 8
"""Combinations kept on disk: switching between a few sets of flags stays cheap."""
_NOTES = {
    ".gitignore": b"# Created by tpulint.\n*\n",
    "CACHEDIR.TAG": b"Signature: 8a477f597d28d172789f06886806bc55\n# Created by tpulint.\n",
}


class Kept(NamedTuple):
    """What an earlier run learned about a file."""

    report: FileReport
    size: int
    calls: tuple[OutgoingCall, ...]
    """What the file calls in other files in every turn of its loops."""
    outside: tuple[OutsideCall, ...]
    """How others called its functions, as the report knew it."""
    serves: bool


class Cache:
    """Reports by file, for one combination of tool, settings and rules."""

    def __init__(self, folder: str, root: str, key: str) -> None:
        self._folder = folder
        self._inside = os.path.join(os.path.abspath(root), "")
        # Outside of the project the folder may be shared; inside, it may move together with the project.
        owner = "" if os.path.abspath(folder).startswith(self._inside) else self._inside
        self._path = os.path.join(folder, __version__, f"{digest_of(key.encode(), os.fsencode(owner))}.json")
        self._files: dict[str, list[Any]] = {}
        self._stamps: dict[str, FileStamp] = {}
        self._changed = False

    def load(self) -> None:
        """Read what is kept. A file that is damaged, or not ours, counts as none."""
        import json

        try:
            with open(self._path, "rb") as stream:
                kept = json.loads(stream.read())
            if kept["format"] == _FORMAT and isinstance(kept["files"], dict):
                self._files = kept["files"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            self._files = {}

    def find(self, path: str, changed_ns: int, size: int, *, only_calls: bool = False) -> Kept | None:
        """What is known of a file that was not written since, nor those that it imports.

        Of some files nothing is known but their calls: for who asks for ``only_calls`` that is enough.
        """
        kept = self._files.get(self._name(path))
        try:
            if kept is None or kept[0] != changed_ns or kept[1] != size or not self._is_current(kept[8]):
                return None
            if kept[3] is None and not only_calls:
                return None
            calls = tuple(OutgoingCall(self._full(name), self._outside_call(call)) for name, call in kept[5])
            outside = tuple(self._outside_call(call) for call in kept[6])
            return Kept(thaw(path, kept[3] or (), kept[4]), size, calls, outside, bool(kept[7]))
        except (IndexError, KeyError, TypeError, ValueError, AttributeError):
            return None

    def _is_current(self, dependencies: dict[str, list[int] | None]) -> bool:
        """Whether the files that a report depends on are what they were."""
        for name, stamp in dependencies.items():
            if name not in self._stamps:
                self._stamps[name] = stamp_of_file(self._full(name))
            if self._stamps[name] != (None if stamp is None else tuple(stamp)):
                return False
        return True

    def is_worth_reading(self, path: str, size: int) -> bool:
        """Whether the content of a file may still be the one that is known, under a new time stamp."""
        kept = self._files.get(self._name(path))
        return isinstance(kept, list) and len(kept) == _PARTS and kept[1] == size

    def find_content(self, path: str, stamp: Stamp) -> Kept | None:
        """What is known of a file whose content is the one that is known."""
        kept = self._files[self._name(path)]
        if kept[2] != stamp.digest:
            return None
        found = self.find(path, kept[0], stamp.size)
        if found is not None and kept[0] != stamp.changed_ns:
            kept[0] = stamp.changed_ns
            self._changed = True
        return found

    def keep(self, examined: Examined) -> None:
        """Remember the result of a check."""
        if examined.stamp is None:
            return
        report = examined.report
        calls = [(self._name(outgoing.path), self._movable(outgoing.call)) for outgoing in examined.calls]
        outside = [self._movable(call) for call in examined.outside]
        dependencies = {self._name(path): stamp for path, stamp in examined.dependencies.items()}
        entries = None if examined.only_calls else report.entries
        self._files[self._name(report.path)] = [
            *examined.stamp, entries, report.fixes, calls, outside, examined.serves, dependencies
        ]  # fmt: skip
        self._changed = True

    def save(self) -> None:
        """Write what was learned. A folder that cannot be written only costs time later."""
        if not self._changed:
            return
        import json

        try:
            for name in [*self._files]:
                if not os.path.exists(os.path.join(self._inside, name)):
                    del self._files[name]
            text = json.dumps({"format": _FORMAT, "files": self._files}, separators=(",", ":"))
            # Lone surrogates, in names of files, survive as \\u escapes: json writes ASCII.
            write_private(self._path, text.encode("ascii"))
            self._mark_folder()
            self._drop_old()
        except OSError:
            return

    def _name(self, path: str) -> str:
        """Relative below the root, so that the cache may move with the project."""
        return os.path.abspath(path).removeprefix(self._inside)

    def _full(self, name: str) -> str:
        return os.path.join(self._inside, name)

    def _movable(self, call: OutsideCall) -> OutsideCall:
        """A call with names of files as they are kept."""
        return call._replace(
            classes=tuple((given, self._name(path), name) for given, path, name in call.classes),
            options=tuple((given, self._name(path), names) for given, path, names in call.options),
        )

    def _outside_call(self, values: list[Any]) -> OutsideCall:
        call = OutsideCall._make(map(_frozen, values))
        return call._replace(
            classes=tuple((given, self._full(path), name) for given, path, name in call.classes),
            options=tuple((given, self._full(path), names) for given, path, names in call.options),
        )

    def _mark_folder(self) -> None:
        """Keep the folder out of version control and backups."""
        for name, text in _NOTES.items():
            if not os.path.exists(os.path.join(self._folder, name)):
                write_private(os.path.join(self._folder, name), text)

    def _drop_old(self) -> None:
        with os.scandir(os.path.dirname(self._path)) as entries:
            kept = sorted(
                (entry for entry in entries if entry.name.endswith(".json")), key=lambda e: e.stat().st_mtime_ns
            )
        for entry in kept[:-_KEPT_FILES]:
            os.unlink(entry.path)


def _frozen(value: object) -> object:
    """What JSON read, with tuples for its lists."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def is_cache(folder: str) -> bool:
    """Whether a folder was made by ``Cache.save``."""
    try:
        with open(os.path.join(folder, "CACHEDIR.TAG"), "rb") as stream:
            return stream.read() == _NOTES["CACHEDIR.TAG"]
    except OSError:
        return False


def engine_key() -> str:
    """Changes with the tool, also while it is being worked on, and with the Python that parses."""
    newest = count = 0
    here = os.path.dirname(__file__)
    folders = [here, *(os.path.join(here, name) for name in ("semantic", "text_files", "notebooks"))]
    for folder in folders:
        with os.scandir(folder) as entries:
            for entry in entries:
                if "." not in entry.name and folder != here and entry.name != "__pycache__":
                    folders.append(entry.path)  # a package of the semantic index
                elif entry.name.endswith((".py", ".yaml", ".json")):
                    count += 1
                    newest = max(newest, entry.stat().st_mtime_ns)
    return f"{__version__} {sys.version_info[:2]} {newest} {count}"
