"""What a dictionary holds that is written out, or built for many keys."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.creations import Creation


def entries(node: ast.AST) -> list[tuple[ast.expr | None, ast.expr]]:
    """Keys and values of a dictionary; what is built for many keys has none."""
    if isinstance(node, ast.DictComp):
        return [(None, node.value)]
    return list(zip(node.keys, node.values, strict=True)) if isinstance(node, ast.Dict) else []


def entries_named(creation: Creation) -> Iterator[ast.expr]:
    """What an element of a dictionary may be that a constant key names."""
    if len(creation.path) != 1:
        return
    wanted = creation.path[0]
    for key, value in entries(creation.node) if wanted[:2] in ("['", '["') else ():
        if key is None or (isinstance(key, ast.Constant) and f"[{key.value!r}]" == wanted):
            yield value
