"""Glob patterns over paths, as ruff understands them in ``exclude`` and ``per-file-ignores``."""

from __future__ import annotations

import os
import re
from functools import lru_cache

_SPECIAL = re.compile(r"[*?\[\]{}\\!]")
_NOTHING = "(?!)"
_ANY_SUFFIX = re.compile(r"\*\.[\w.]+\Z")


class PathPatterns:
    """A set of patterns, asked as one.

    A pattern without a slash is compared with the last part of a path, one with a slash with the whole absolute path.
    """

    __slots__ = ("_heads", "_names", "_others", "_paths", "_suffixes", "_tails")

    def __init__(self, patterns: tuple[str, ...]) -> None:
        names = [pattern for pattern in patterns if "/" not in pattern]
        self._names = frozenset(name for name in names if name and not _SPECIAL.search(name))
        self._suffixes = tuple(name[1:] for name in names if _ANY_SUFFIX.match(name))
        others = [name for name in names if name not in self._names and not _ANY_SUFFIX.match(name)]
        paths = [pattern for pattern in patterns if "/" in pattern]
        self._others, self._paths = tuple(others), tuple(paths)
        # Nearly every name of a big tree is told from all patterns by its last letters, far quicker than by a search.
        tails = {(pattern, _literal_tail(pattern)) for pattern in (*others, *paths)}
        self._heads = tuple(_literal_head(pattern) for pattern, tail in tails if not tail)
        self._tails = tuple(tail for _, tail in tails if tail)

    def match(self, path: str) -> bool:
        """Whether any pattern covers an absolute path (itself; the folders above it are the caller's matter)."""
        name = path.rpartition(os.sep)[2]
        if name in self._names or name.endswith(self._suffixes):
            return True
        if not name.endswith(self._tails) and not name.startswith(self._heads):
            return False
        if self._others and _union(self._others).match(name):
            return True
        return bool(self._paths) and _union(self._paths).match(with_slashes(path)) is not None


@lru_cache(maxsize=256)
def path_patterns(patterns: tuple[str, ...]) -> PathPatterns:
    """The compiled form of some patterns."""
    return PathPatterns(patterns)


def anchor(pattern: str, root: str) -> tuple[str, ...]:
    """A pattern as written in a file in ``root``, made independent of that place.

    One without a slash fits names anywhere, and, as a second pattern, paths that start in ``root``.
    """
    root = "".join(f"[{char}]" if char in "*?[{" else char for char in with_slashes(root).rstrip("/"))
    pattern = os.path.expanduser(with_slashes(pattern)).rstrip("/")
    if os.path.isabs(pattern):
        return (pattern,)
    absolute = f"{root}/{pattern.removeprefix('./')}"
    return (absolute,) if "/" in pattern else (pattern, absolute)


def mistake_in(glob: str) -> str:
    """Why a pattern means nothing that anybody would write; empty for one that is right."""
    index = 0
    while index < len(glob):
        char = glob[index]
        index += 1
        if char == "\\":
            index += 1
        elif char == "[":
            end, text = _translate_class(glob, index)
            if end == index:
                return "a bracket `[` is not closed"
            if text == _NOTHING:
                return f"the range `[{glob[index:end]}` runs backwards"
            index = end
        elif char == "{" and "}" not in glob[index:]:
            return "a brace `{` is not closed"
    return ""


def translate(glob: str, *, crosses_folders: bool = False, braces: bool = False) -> str:
    """A regular expression for a glob pattern; ``**`` as a whole part stands for any number of folders.

    ``crosses_folders``: whether ``*`` and ``?`` fit a slash; ``braces``: whether ``{a,b}`` is a choice.
    """
    one = "." if crosses_folders else "[^/]"
    parts: list[str] = []
    open_braces = index = 0
    while index < len(glob):
        char = glob[index]
        index += 1
        if char == "*":
            index, text = _translate_stars(glob, index - 1, one)
            parts.append(text)
        elif char == "?":
            parts.append(one)
        elif char == "[":
            index, text = _translate_class(glob, index)
            parts.append(text)
        elif char == "\\" and index < len(glob):
            parts.append(re.escape(glob[index]))
            index += 1
        elif braces and char == "{" and "}" in glob[index:]:
            open_braces += 1
            parts.append("(?:")
        elif open_braces and char == "}":
            open_braces -= 1
            parts.append(")")
        elif open_braces and char == ",":
            parts.append("|")
        else:
            parts.append(re.escape(char))
    return "".join(parts) + ")" * open_braces


def with_slashes(path: str) -> str:
    """The path with ``/`` between its parts on every system."""
    return path if os.sep == "/" else path.replace(os.sep, "/")


def _translate_stars(glob: str, start: int, one: str) -> tuple[int, str]:
    end = start
    while end < len(glob) and glob[end] == "*":
        end += 1
    is_whole_part = end - start == 2 and (start == 0 or glob[start - 1] == "/")
    if is_whole_part and end == len(glob):
        return end, ".+" if start else ".*"
    if is_whole_part and glob[end] == "/":
        return end + 1, "(?:.*/)?"
    return end, f"{one}*"


def _translate_class(glob: str, start: int) -> tuple[int, str]:
    """``[abc]``, ``[!a-c]``; without a closing bracket the opening one stands for itself."""
    index = first = start + 1 if glob[start : start + 1] in ("!", "^") else start
    body = ""
    while index < len(glob) and (glob[index] != "]" or index == first):
        escaped = glob[index] == "\\" and index + 1 < len(glob)
        char = glob[index + escaped]
        body += char if char == "-" and not escaped else re.escape(char)
        index += 1 + escaped
    if index >= len(glob):
        return start, re.escape("[")
    try:
        # A class never stands for the slash, whatever it holds.
        text = f"(?!/)[{'^' if first > start else ''}{body}]"
        re.compile(text)
    except re.error:  # a range that runs backwards fits nothing
        text = _NOTHING
    return index + 1, text


def _literal_head(glob: str) -> str:
    """The letters that a name begins with whenever it fits the pattern; none for patterns of whole paths."""
    return "" if "/" in glob else _SPECIAL.split(glob)[0]


def _literal_tail(glob: str) -> str:
    """The letters that a name ends with whenever it fits the pattern: those behind the last sign, of its last part."""
    return _SPECIAL.split(glob)[-1].rpartition("/")[2]


@lru_cache(maxsize=256)
def _union(globs: tuple[str, ...]) -> re.Pattern[str]:
    """Compiled when a name may fit: most are told apart by their last letters."""
    translated = (translate(glob, crosses_folders=True, braces=True) for glob in globs)
    return re.compile("|".join(f"(?:{text})\\Z" for text in translated), re.DOTALL)
