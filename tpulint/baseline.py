"""A baseline: the findings of an old code base that nobody is to be told of again, in a file beside the code."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from tpulint.config import ConfigError
from tpulint.disk import write_private
from tpulint.linter import INVALID_SYNTAX
from tpulint.old_findings import Mark, Marks, marks_of
from tpulint.patterns import with_slashes
from tpulint.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.report.entry import FileReport

DEFAULT_NAME = "tpulint-baseline.json"
_VERSION = 1


class Stale(NamedTuple):
    """Findings of a baseline that are gone."""

    path: str
    """As the baseline writes it."""
    mark: Mark
    number: int


class Baseline:
    """The findings of a file such as ``tpulint-baseline.json``, in files that lie below its folder."""

    def __init__(self, path: str, marks: Marks) -> None:
        self.path = path
        self.marks = marks

    @classmethod
    def read(cls, path: str) -> Baseline:
        """Raises ``ConfigError``, with the reason, when there is no such file or it is not a baseline."""
        try:
            with open(path, "rb") as stream:
                content = json.loads(stream.read())
        except FileNotFoundError:
            raise ConfigError(f"baseline {path} does not exist; `--write-baseline` makes it") from None
        except OSError as error:
            raise ConfigError(f"baseline {path} cannot be read: {error.strerror or error}") from None
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"baseline {path} is not JSON: {error}; `--write-baseline` makes it anew") from None
        version = content.get("version") if isinstance(content, dict) else None
        if version != _VERSION:
            what = f"of version {version}, not {_VERSION}" if version else "not a baseline of tpulint"
            raise ConfigError(f"baseline {path} is {what}; `--write-baseline` makes it anew")
        marks: dict[str, Counter[Mark]] = {}
        try:
            for one in content["findings"]:
                mark, count = Mark(str(one["code"]), str(one["line"])), int(one.get("count", 1))
                marks.setdefault(_absolute(path, str(one["path"])), Counter())[mark] += count
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
            raise ConfigError(
                f"baseline {path}: every finding needs `path`, `code` and `line`; `--write-baseline` makes it anew"
            ) from None
        return cls(path, marks)

    @classmethod
    def read_or_start(cls, path: str) -> Baseline:
        """The baseline to be written anew: what it held of other files stays, where that can still be read."""
        try:
            return cls.read(path)
        except ConfigError:
            return cls(path, {})

    def updated(self, reports: Sequence[FileReport]) -> Baseline:
        """The baseline with what the reports say of their files; files that are gone are left out."""
        marks = {path: found for path, found in self.marks.items() if os.path.exists(path)}
        for report in reports:
            found = Counter(mark for mark in marks_of(report) if mark.code != INVALID_SYNTAX)
            marks[os.path.abspath(report.path)] = found
        return Baseline(self.path, marks)

    def write(self) -> int:
        """Write the file; the number of its findings. Raises ``ConfigError`` when it cannot be written."""
        rows = [
            json.dumps({"path": name, "code": mark.code, "line": mark.line, **({"count": count} if count > 1 else {})},
                       ensure_ascii=False)
            for name, found in sorted((self._name(path), found) for path, found in self.marks.items())
            for mark, count in sorted(found.items()) if count
        ]  # fmt: skip
        listed = "".join(f"\n  {row}," for row in rows)[:-1]
        text = f'{{\n "version": {_VERSION},\n "findings": [{listed}\n ]\n}}\n'
        try:
            write_private(self.path, text.encode(errors="backslashreplace"))
        except OSError as error:
            raise ConfigError(f"baseline {self.path} cannot be written: {error.strerror or error}") from None
        return sum(sum(found.values()) for found in self.marks.values())

    def stale(self, reports: Sequence[FileReport], codes: Collection[str]) -> Iterator[Stale]:
        """Findings of rules that ran which are gone, in files that were looked at or are there no longer."""
        seen = {os.path.abspath(one.path): Counter(marks_of(one)) for one in reports if not one.error}
        for path, marks in sorted(self.marks.items()):
            if path not in seen and os.path.exists(path):
                continue
            left = marks - seen.get(path, Counter())
            yield from (Stale(self._name(path), mark, left[mark]) for mark in sorted(left) if mark.code in codes)

    def _name(self, path: str) -> str:
        folder = os.path.dirname(os.path.abspath(self.path))
        try:
            return with_slashes(os.path.relpath(path, folder))
        except ValueError:  # on another drive
            return with_slashes(path)


def _absolute(baseline: str, name: str) -> str:
    return os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(baseline)), name))
