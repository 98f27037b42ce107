"""Lines with a tuple in them: what is stacked in front of a boundary, and the numbers that are taken out of it."""

from __future__ import annotations

import ast

from tpulint.context import FixBuilder

WIDTH = 120
"""Lines longer than this are broken."""


def width_at(fix: FixBuilder, statement: ast.stmt) -> int:
    """How long a line may be beside a statement, without what it is indented by."""
    return WIDTH - len(fix.indent_of(statement))


def tuple_line(opening: str, items: list[str], closing: str, width: int) -> str:
    """A line with a tuple in it, broken where it would be too long."""
    text = ", ".join(items)
    line = f"{opening}({text}){closing}" if opening else f"{text}{closing}"
    if len(line) <= width:
        return line
    lines = [f"{opening}(", *(f"    {item}," for item in items), f"){closing}"]
    return "\n".join(lines)
