"""What ``.gitignore`` files leave out, as git reads them."""

from __future__ import annotations

import warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from pathspec import GitIgnoreSpec

FILE_NAMES = (".gitignore", ".ignore")


class IgnoreFile:
    """The patterns of one ``.gitignore``."""

    __slots__ = ("_spec",)

    def __init__(self, text: str) -> None:
        lines = [line.removesuffix("\r") for line in text.split("\n")]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python dislikes the regular expression of `[[]`
            try:
                self._spec = _spec(lines)
            except ValueError:
                self._spec = _spec(line for line in lines if _is_pattern(line))

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        """True to ignore, False to bring back, None to leave it to other files.

        ``path`` is relative to the folder of the file, with ``/`` between its parts. Paths are asked about from the
        top: what lies in an ignored folder cannot be brought back.
        """
        return self._spec.check_file(f"{path}/" if is_folder else path).include


def _spec(lines: Iterable[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # late: a run over named files needs none

    return GitIgnoreSpec.from_lines(lines)


def _is_pattern(line: str) -> bool:
    """Whether a line can be read; git passes over one that cannot, such as a lone backslash."""
    try:
        _spec([line])
    except ValueError:
        return False
    return True
