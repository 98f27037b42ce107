"""The arguments a call is given, those of ``**`` dictionaries included where these can be seen."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from tpulint.semantic.values.value import is_none

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.syntax.bindings import Binding

_DEPTH = 6
_Entries = list[tuple[str, ast.expr]]


class CallArguments:
    """Answers about the calls of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def of(self, call: ast.Call, parameters: Sequence[str] = ()) -> dict[str, list[ast.expr]] | None:
        """Values each argument may have, by name; None when some are hidden.

        ``parameters`` names those that may be passed by position.
        """
        if any(isinstance(item, ast.Starred) for item in call.args):
            return None
        found: dict[str, list[ast.expr]] = {name: [value] for name, value in zip(parameters, call.args, strict=False)}
        for keyword in call.keywords:
            if keyword.arg is not None:
                found.setdefault(keyword.arg, []).append(keyword.value)
                continue
            entries = self.entries(keyword.value)
            if entries is None:
                return None
            for name, value in entries:
                found.setdefault(name, []).append(value)
        return found

    def hidden(self, call: ast.Call, name: str) -> list[ast.expr] | None:
        """Values that an argument may have from ``**`` dictionaries; None where it is not known what these hold."""
        dicts = [self.entries(keyword.value) for keyword in call.keywords if keyword.arg is None]
        if any(entries is None for entries in dicts):
            return None
        return [value for entries in dicts for key, value in entries or () if key == name]

    def unpacked(self, call: ast.Call, names: Collection[str]) -> list[tuple[str, ast.expr]]:
        """What ``**`` dictionaries give for parameters, each of which they have one value for.

        None, ``given = {"batch": None}``, is what stands there until ``given["batch"] = batch``.
        """
        found: dict[str, list[ast.expr]] = {}
        for keyword in call.keywords:
            for name, value in (self.entries(keyword.value) or ()) if keyword.arg is None else ():
                if name in names and not is_none(value):
                    found.setdefault(name, []).append(value)
        return [(name, values[0]) for name, values in found.items() if len(values) == 1]

    def own_value(self, call: ast.Call, name: str) -> ast.expr | None:
        """The one value of an argument in the ``**`` dictionary of a call that nothing else takes.

        ``options = dict(shuffle=True, drop_last=False)`` and ``DataLoader(samples, **options)``.
        """
        found: list[ast.expr] = []
        for keyword in call.keywords:
            made = keyword.value if keyword.arg is None else None
            if isinstance(made, ast.Name):
                bindings = self._index.flow.bindings_of(made)
                if len(bindings) != 1 or bindings[0].kind != "assign" or bindings[0].path:
                    return None
                if len(list(self._index.names.loads(made.id, bindings[0].scope))) != 1:
                    return None
                made = bindings[0].value
            if isinstance(made, ast.Dict):
                found += [
                    value
                    for key, value in zip(made.keys, made.values, strict=True)
                    if isinstance(key, ast.Constant) and key.value == name
                ]
            elif isinstance(made, ast.Call):
                found += [item.value for item in made.keywords if item.arg == name]
        return found[0] if len(found) == 1 else None

    def names(self, call: ast.Call) -> tuple[str, ...]:
        """The names of what a call gives by name; ``**`` stands for those of a dictionary that is not known."""
        found: dict[str, None] = {}
        for keyword in call.keywords:
            entries = [(keyword.arg, keyword.value)] if keyword.arg else self.entries(keyword.value)
            found.update(dict.fromkeys(["**"] if entries is None else (name for name, _ in entries)))
        return tuple(found)

    def entries(self, node: ast.expr, depth: int = 0) -> _Entries | None:
        """Keys and values a dictionary may hold; None when that is not known."""
        if depth > _DEPTH:
            return None
        parts: list[_Entries | None] = []
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is None:
                    parts.append(self.entries(value, depth + 1))
                elif isinstance(key, ast.Constant) and isinstance(key.value, str):
                    parts.append([(key.value, value)])
                else:
                    return None
        elif isinstance(node, ast.Call) and self._index.qualified_name(node.func) == "builtins.dict":
            parts.extend(self.entries(item, depth + 1) for item in node.args)
            for keyword in node.keywords:
                parts.append([(keyword.arg, keyword.value)] if keyword.arg else self.entries(keyword.value, depth + 1))
        elif isinstance(node, ast.IfExp):
            parts.extend((self.entries(node.body, depth + 1), self.entries(node.orelse, depth + 1)))
        elif isinstance(node, ast.Name):
            bindings = self._index.flow.reaching(node)
            if not bindings:
                return None
            for binding in bindings:
                if binding.kind == "augment":
                    continue  # among the changes below
                whole = binding.kind == "assign" and not binding.path and binding.value is not None
                parts.append(self.entries(binding.value, depth + 1) if whole and binding.value is not None else None)
            parts.extend(self._changes(node, bindings, depth))
        else:
            return None
        result: _Entries = []
        for part in parts:
            if part is None:
                return None
            result.extend(part)
        return result

    def _changes(self, name: ast.Name, bindings: tuple[Binding, ...], depth: int) -> Iterator[_Entries | None]:
        """What ``d.update(...)`` and ``d["key"] = ...`` add to a dictionary."""
        index = self._index
        scope = bindings[0].scope
        for other in index.tree.names_called(name.id):
            if other is name:
                continue
            found = index.names.find_name(other)
            if found is None or found[0] is not scope:
                continue
            parent = index.parent(other)
            if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store):
                statement = index.parent(parent)
                key = parent.slice
                is_plain = isinstance(statement, ast.Assign) and isinstance(key, ast.Constant)
                yield [(str(key.value), statement.value)] if is_plain else None  # type: ignore[attr-defined, union-attr]
            elif isinstance(parent, ast.Attribute) and parent.attr in ("update", "setdefault", "pop"):
                call = index.parent(parent)
                if not isinstance(call, ast.Call) or parent.attr != "update":
                    yield None
                    continue
                for item in call.args:
                    yield self.entries(item, depth + 1)
                for keyword in call.keywords:
                    yield [(keyword.arg, keyword.value)] if keyword.arg else None
            elif isinstance(parent, ast.AugAssign) and parent.target is other:
                yield self.entries(parent.value, depth + 1)
