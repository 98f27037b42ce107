"""What the text of a file imports, read without a tree: what is read wrong costs time and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tpulint.records import NamedTuple

_IMPORT = rb"\n([ \t]*)(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]+)|import[ \t]+([^\n#]+))"
_NAME = rb"([\w.]+)(?:[ \t]+as[ \t]+\w+)?"


class ImportRead(NamedTuple):
    """One module, or a member of one, which may be a module itself."""

    is_late: bool
    """Whether the statement is indented: within a function, mostly because imports at the top would run in a circle."""
    level: int
    """How many dots stand in front of the name."""
    name: str


def imports_in(data: bytes) -> Iterator[ImportRead]:
    """Imports of a text, in order: of ``from a import b`` both ``a.b`` and ``a``."""
    for indent, module, members, modules in re.findall(_IMPORT, b"\n" + data):
        is_late = bool(indent)
        if modules:
            for name in re.findall(_NAME, modules):
                yield ImportRead(is_late, 0, name.decode(errors="replace"))
            continue
        name = module.decode(errors="replace").lstrip(".")
        level = len(module) - len(module.lstrip(b"."))
        for member in re.findall(_NAME, members):
            yield ImportRead(is_late, level, f"{name}.{member.decode(errors='replace')}")
        yield ImportRead(is_late, level, name)
