"""What a dictionary or list holds that is written out, or built for many keys."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.creations import Creation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


def entries(node: ast.AST) -> list[tuple[ast.expr | None, ast.expr]]:
    """Keys and values of a dictionary; what is built for many keys has none."""
    if isinstance(node, ast.DictComp):
        return [(None, node.value)]
    return list(zip(node.keys, node.values, strict=True)) if isinstance(node, ast.Dict) else []


def entries_named(creation: Creation) -> Iterator[ast.expr]:
    """What an element may be that a constant key names in a dictionary, or any index in a list."""
    if len(creation.path) != 1:
        return
    wanted = creation.path[0]
    if isinstance(creation.node, ast.List | ast.Tuple) and wanted.startswith("["):
        items = enumerate(creation.node.elts)
        yield from (item for at, item in items if wanted == f"[{at}]" or not wanted[1:-1].isdigit())
    for key, value in entries(creation.node) if wanted.startswith("[") else ():
        if key is None or (isinstance(key, ast.Constant) and f"[{key.value!r}]" == wanted):
            yield value


def elements_of_loop(index: SemanticIndex, creation: Creation) -> Iterator[ast.expr]:
    """What the target of a loop may be that goes through lists which are written out: ``for i, x in enumerate(xs)``."""
    target = creation.node
    bindings = index.names.bindings(target) if isinstance(target, ast.Name) and not creation.path else ()
    for binding in bindings:
        source, path = binding.value, binding.path
        name = index.qualified_name(source.func) if isinstance(source, ast.Call) else None
        if binding.node is not target or binding.kind != "loop":
            continue
        if isinstance(source, ast.Call) and path and name in ("builtins.enumerate", "builtins.zip"):
            at = 0 if name == "builtins.enumerate" else path[0]
            is_counter = name == "builtins.enumerate" and path[0] != 1
            source, path = None if is_counter or at >= len(source.args) else source.args[at], path[1:]
        for made in index.moves.creations.of(source) if source is not None and not path else ():
            if isinstance(made.node, ast.List | ast.Tuple) and not made.path:
                yield from made.node.elts
