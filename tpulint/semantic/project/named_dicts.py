"""Dictionaries that a project keeps under a name of their own: ``**args.loader_args``, ``**settings["loader_args"]``.

What holds them is handed from file to file, so that nobody follows it: what is known is what stands under that name
anywhere in the project.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.syntax.tree import SyntaxTree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_Entries = list[tuple[str, ast.expr]]
_CHANGING = frozenset({"update", "setdefault", "pop", "popitem", "clear"})
"""Methods by which a dictionary gets other entries than it was written with."""


def name_of(node: ast.expr) -> str | None:
    """The name under which something keeps what an expression gives."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        return node.slice.value
    return None


def dicts_named(index: SemanticIndex, node: ast.expr) -> list[dict[str, ast.expr]] | None:
    """What the dictionaries have in them that an expression may give; None where not all of them are known.

    Values that another file makes are known where they are written out, and else left out with the whole.
    """
    name = name_of(node)
    files = index.imported.mentioning(name) if name is not None else None
    found: list[dict[str, ast.expr]] = []
    for file in files or ():
        given = list(_given(file.tree, name or ""))
        for value in given:
            entries = None if value is None else file.call_arguments.entries(value)
            if entries is None:
                return None
            if file.source.path != index.source.path and not all(_is_plain(item) for _, item in entries):
                return None
            found.append(dict(entries))
    return found or None


def _given(tree: SyntaxTree, name: str) -> Iterator[ast.expr | None]:
    """What stands under a name in one file; None for what is done with it that cannot be followed."""
    for attribute in tree.attributes_called(name):
        yield from _of_place(tree, attribute, name)
    for text in tree.strings:
        if text.value != name:
            if str(text.value).lstrip("-").replace("-", "_") == name:
                yield None  # an option of the command line
            continue
        parent = tree.parent(text)
        if isinstance(parent, ast.Dict):
            yield from (value for key, value in zip(parent.keys, parent.values, strict=True) if key is text)
        elif isinstance(parent, ast.Subscript):
            yield from _of_place(tree, parent, name)
        else:
            yield None
    for call in tree.calls:
        yield from (one.value for one in call.keywords if one.arg == name and name_of(one.value) != name)


def _of_place(tree: SyntaxTree, place: ast.Attribute | ast.Subscript, name: str) -> Iterator[ast.expr | None]:
    """What an attribute or an entry is given, or how it is changed."""
    parent = tree.parent(place)
    if not isinstance(place.ctx, ast.Load):
        is_plain = isinstance(parent, ast.Assign) and isinstance(place.ctx, ast.Store)
        value = parent.value if isinstance(parent, ast.Assign) and is_plain and place in parent.targets else None
        if value is None or name_of(value) != name:
            yield value
    elif isinstance(parent, ast.Subscript | ast.Attribute) and parent.value is place:
        is_changed = isinstance(parent, ast.Attribute) and parent.attr in _CHANGING
        if is_changed or not isinstance(parent.ctx, ast.Load):
            yield None


def _is_plain(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant)
