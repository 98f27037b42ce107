"""Where operations of a graph come from: the table of locations in StableHLO's text.

MLIR writes ``#loc1 = loc("train.py":3:0)`` and ``#loc9 = loc(callsite(#loc1 at #loc2))``. torch_xla prints the same
without ``loc``, and with a line break in front of ``at``. It does so where XLA_IR_DEBUG=1 and XLA_HLO_DEBUG=1 are set
when torch_xla is imported; else there are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tpulint.planning.tensors import Place

_DEFINITION = re.compile(r"(#loc\d*) = (.*)")
_REFERENCE = re.compile(r"#loc\d*")
_FILE = re.compile(r'"?([^"\n]*?)"?:(\d+):\d+')
_PACKAGES = ("/site-packages/", "/dist-packages/", "/lib/python3", "<frozen ")
_DEEPEST = 400
"""Calls within calls that are followed."""


class Locations:
    """The locations of one text."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._texts: dict[str, str] = {}
        self._found: dict[str, tuple[Place | None, Place | None]] = {}
        last = ""
        for line in lines:
            if line.startswith("#loc"):
                match = _DEFINITION.match(line)
                if match is not None:
                    last, text = match.groups()
                    self._texts[last] = text.removeprefix("loc(callsite(").removeprefix("loc(")
            elif last and line.startswith(" at #loc"):
                self._texts[last] += line

    def place(self, text: str) -> Place | None:
        """The line that a location stands for: the innermost one outside of installed packages, else the innermost.

        ``text`` is what stands behind the types of an operation.
        """
        own, innermost = self._find(text, 0)
        return own or innermost

    def _find(self, text: str, depth: int) -> tuple[Place | None, Place | None]:
        """The innermost line outside of packages, and the innermost of all."""
        if (known := self._found.get(text)) is not None:
            return known
        own = innermost = None
        references = _REFERENCE.findall(text)
        for reference in references:
            inner = self._texts.get(reference)
            if inner is not None and own is None and depth < _DEEPEST:
                own, line = self._find(inner, depth + 1)
                innermost = innermost or line
        if not references and (match := _FILE.search(text)) is not None:
            innermost = Place(match[1], int(match[2]))
            own = None if any(part in innermost.path for part in _PACKAGES) else innermost
        self._found[text] = own, innermost
        return own, innermost
