"""The lines that changed since a revision, asked of git."""

from __future__ import annotations

import os
import re
import subprocess
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property

from tpulint.config import ConfigError
from tpulint.languages import is_notebook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.report.entry import Place

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(?P<row>\d+)(?:,(?P<count>\d+))? @@")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_LETTERS = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


Position = tuple[int, int]
"""A cell of a notebook, 0 in other files, and a row of it."""


class Rows:
    """Rows of one file, in order, each stretch with its first and its last one."""

    def __init__(self, stretches: Iterable[tuple[Position, Position]]) -> None:
        self._stretches = sorted(stretches)
        self._starts = [first for first, _ in self._stretches]

    def touch(self, place: Place) -> bool:
        """Whether one of the rows belongs to a place."""
        at = bisect_right(self._starts, (place.cell, max(place.row, place.end_row)))
        return at > 0 and self._stretches[at - 1][1] >= (place.cell, place.row)


class ChangedRows:
    """Rows of the working tree that changed since the current branch left ``revision``.

    Lines that are gone count as the two around them. Files that git does not know are new as a whole.
    Raises ``ConfigError`` where git cannot tell.
    """

    def __init__(self, revision: str, folder: str) -> None:
        self._revision = revision
        self._folder = folder
        self._repositories: dict[str, str] = {}
        self.left_out: set[str] = set()
        """Files that were asked about and lie in another repository."""
        self._top = os.path.realpath(self._git("rev-parse", "--show-toplevel").decode(errors="surrogateescape").strip())
        self._from = self._base()
        self._rows = self._diff()
        listed = self._git("ls-files", "--full-name", "-z", "--", self._top)
        self._tracked = {os.path.join(self._top, os.fsdecode(name)) for name in listed.split(b"\0") if name}

    def of(self, path: str) -> Rows | None:
        """The changed rows of a file; None when all of it counts as new. Of a file in another repository there are
        none: it is kept in ``left_out``."""
        real = os.path.realpath(path)
        if self._repository_of(os.path.dirname(real)) != self._top:
            self.left_out.add(path)
            return Rows(())
        if real not in self._tracked:
            return None
        if is_notebook(path):
            return self._in_cells(real)
        return self._rows[real] if real in self._rows else self._in_binary(real)

    def _diff(self, *words: str) -> dict[str, Rows]:
        """By path: the rows that changed, of files that git takes for text."""
        told = self._git("--literal-pathspecs", "diff", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv",
                         "--find-renames", "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules", self._from,
                         *(words or ("--",)))  # fmt: skip
        return {
            os.path.join(self._top, name): Rows(((0, first), (0, last)) for first, last in found)
            for name, found in _read(told).items()
        }

    @cached_property
    def _former_names(self) -> dict[str, str]:
        """By path: the name that a file with other content had, empty for one that was not there."""
        told = self._git(
            "diff", "--raw", "-z", "--find-renames", "--ignore-submodules", "--no-ext-diff", self._from, "--"
        )
        words = iter(os.fsdecode(told).split("\0"))
        found = {}
        for state in words:
            if not state:
                break
            status = state.rpartition(" ")[2]
            former = next(words)
            name = next(words) if status[0] in "RC" else former
            if status != "R100":
                found[os.path.join(self._top, name)] = "" if status == "A" else former
        return found

    def _in_binary(self, path: str) -> Rows | None:
        """The changed rows of a file that git was told to take for binary, as ``.gitattributes`` may."""
        former = self._former_names.get(path)
        if former is None:
            return Rows(())
        if not former:
            return None
        return self._diff("--text", "--", os.path.join(self._top, former), path).get(path, Rows(()))

    def _in_cells(self, path: str) -> Rows | None:
        """The changed rows of a notebook's cells."""
        if path not in self._former_names:
            return Rows(())
        former = self._former_names[path]
        if not former:
            return None
        from tpulint.notebooks.changed_cells import changed_stretches
        from tpulint.notebooks.document import NotANotebook

        # As it would be checked out: what is stored may be less, such as a pointer.
        before = self._git("cat-file", "--filters", f"{self._from}:{former}")
        try:
            with open(path, "rb") as file:
                return Rows(changed_stretches(before, file.read()))
        except (NotANotebook, OSError):
            return None

    def _repository_of(self, folder: str) -> str:
        """The folder of the repository that a folder belongs to; a submodule, or a clone within another, is its own."""
        if folder not in self._repositories:
            above = os.path.dirname(folder)
            is_top = folder in (self._top, above) or os.path.exists(os.path.join(folder, ".git"))
            self._repositories[folder] = folder if is_top else self._repository_of(above)
        return self._repositories[folder]

    def _base(self) -> str:
        if self._revision.startswith("-"):
            raise ConfigError(f"--diff-base: {self._revision!r} is not a revision")
        self._git("rev-parse", "--verify", "--quiet", f"{self._revision}^{{commit}}")
        try:
            return self._git("merge-base", self._revision, "HEAD").decode().strip()
        except ConfigError:
            return self._revision  # no common ancestor, or a shallow clone: then the revision itself

    def _git(self, *words: str) -> bytes:
        # Settings of the user that would change what is told, and that older versions of git have no flags against.
        settings = ("core.quotepath=on", "diff.relative=false", "diff.interHunkContext=0")
        command = ["git", "-C", self._folder, *(word for one in settings for word in ("-c", one)), *words]
        try:
            done = subprocess.run(command, capture_output=True, check=False)
        except OSError as error:
            raise ConfigError(f"--diff-base: git cannot be run: {error.strerror or error}") from None
        if done.returncode == 0:
            return done.stdout
        said = done.stderr.decode(errors="replace").strip().split("\n")[-1].removeprefix("fatal: ")
        if words[0] == "rev-parse" and "--verify" in words:
            raise ConfigError(
                f"--diff-base: git knows no revision `{self._revision}`; in a shallow clone fetch it first "
                f"(`git fetch origin {self._revision.rpartition('/')[2]}`, or `fetch-depth: 0` for actions/checkout)"
            )
        raise ConfigError(f"--diff-base: git in {self._folder}: {said or f'exit status {done.returncode}'}")


def _read(diff: bytes) -> dict[str, list[tuple[int, int]]]:
    """Changed rows by name of the file, of a diff without context."""
    found: dict[str, list[tuple[int, int]]] = {}
    rows: list[tuple[int, int]] = []
    skipped = 0
    for line in diff.split(b"\n"):
        if skipped:  # lines of a hunk may look like anything
            skipped -= not line.startswith(b"\\")
        elif line.startswith(b"+++ "):
            rows = found.setdefault(os.fsdecode(_name(line[4:]).removeprefix(b"b/")), [])
        elif match := _HUNK.match(line.decode("ascii", "replace")):
            removed = re.match(rb"@@ -\d+(?:,(\d+))?", line)
            count = int(match["count"] or 1)
            skipped = count + int((removed and removed[1]) or 1)
            row = int(match["row"])
            rows.append((row, row + count - 1) if count else (row, row + 1))
    return found


def _name(written: bytes) -> bytes:
    """A path as git writes it: in quotes when it holds odd characters, with a tab behind it when it holds blanks."""
    if not written.startswith(b'"'):
        return written.rstrip(b"\t")
    inner = written[1 : written.rindex(b'"')]
    return _ESCAPE.sub(
        lambda match: bytes([int(match[1], 8)]) if len(match[1]) == 3 else _LETTERS.get(match[1], match[1]), inner
    )
