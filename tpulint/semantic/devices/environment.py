"""Environment variables that a program sets for itself."""

from __future__ import annotations

import ast
from functools import cached_property

from tpulint.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_SETTERS = ("os.environ.setdefault", "os.putenv")
_READERS = ("os.environ.get", "os.getenv", "os.environ.pop")

_VISIBLE = "CUDA_VISIBLE_DEVICES"
_ASKED_FIRST = rf"{_VISIBLE}['\"] (?:not )?in\b"


class VariableSet(NamedTuple):
    """An environment variable gets a value."""

    name: str
    value: ast.expr
    node: ast.expr
    statement: ast.stmt | None
    """The statement that does nothing else; None when it does more."""
    extends: bool = False
    """Whether it appends to the value that the variable has, and so fails where nothing has set it."""

    @property
    def text(self) -> str:
        """The value where it is written down as a string, else how it is worked out."""
        if isinstance(self.value, ast.Constant) and isinstance(self.value.value, str):
            return self.value.value
        return ast.unparse(self.value)


class Environment:
    """What a file writes into ``os.environ``, and what it reads from there."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    @cached_property
    def sets(self) -> list[VariableSet]:
        """Variables that get a value, in order of position."""
        index, found = self._index, list[VariableSet]()
        for node, name in index.references("os.environ", "os.environ.setdefault", "os.putenv", "os.environ.update"):
            parent = index.parent(node)
            if name == "os.environ" and isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store):
                statement = index.parent(parent)
                key = _text_of(parent.slice)
                if key and isinstance(statement, ast.Assign):
                    alone = statement if len(statement.targets) == 1 else None
                    found.append(VariableSet(key, statement.value, parent, alone))
                elif key and isinstance(statement, ast.AugAssign):
                    found.append(VariableSet(key, statement.value, parent, statement, extends=True))
            elif isinstance(parent, ast.Call) and parent.func is node:
                found.extend(self._by_call(parent, name))
        return sorted(found, key=lambda one: index.span(one.node))

    @cached_property
    def visible_counts(self) -> list[ast.Call]:
        """``len(os.environ["CUDA_VISIBLE_DEVICES"].split(","))``, in order of position: how many GPUs a process sees.

        None where the file sets the variable itself, or looks first whether it is set.
        """
        index, found = self._index, list[ast.Call]()
        for node, name in index.references("os.environ", *_READERS):
            read = index.parent(node)
            if name == "os.environ":
                key = read.slice if isinstance(read, ast.Subscript) and isinstance(read.ctx, ast.Load) else None
            else:
                key = read.args[0] if isinstance(read, ast.Call) and read.func is node and len(read.args) == 1 else None
            if _text_of(key) != _VISIBLE:
                continue
            split = index.parent(read) if read is not None else None
            parts = index.parent(split) if isinstance(split, ast.Attribute) and split.attr == "split" else None
            count = index.parent(parts) if isinstance(parts, ast.Call) else None
            if not isinstance(count, ast.Call) or index.qualified_name(count.func) != "builtins.len":
                continue
            if not any(isinstance(item, ast.Try) for item in index.tree.ancestors(count)):
                found.append(count)
        is_known = bool(found) and (any(one.name == _VISIBLE for one in self.sets) or index.mentions(_ASKED_FIRST))
        return [] if is_known else found

    def _by_call(self, call: ast.Call, name: str) -> list[VariableSet]:
        holder = self._index.parent(call)
        alone = holder if isinstance(holder, ast.Expr) else None
        if name in _SETTERS:
            key = _text_of(call.args[0]) if len(call.args) == 2 else ""
            return [VariableSet(key, call.args[1], call, alone)] if key else []
        if name != "os.environ.update":
            return []
        found = [VariableSet(item.arg, item.value, item.value, None) for item in call.keywords if item.arg]
        if call.args and isinstance(call.args[0], ast.Dict):
            for written, value in zip(call.args[0].keys, call.args[0].values, strict=True):
                key = _text_of(written)
                if key and written is not None:
                    found.append(VariableSet(key, value, written, None))
        return found

    def extensions(self, name: str) -> list[ast.stmt]:
        """The statements that append to a variable: they go with the one that sets it."""
        return [one.statement for one in self.sets if one.extends and one.name == name and one.statement is not None]

    @cached_property
    def names_read(self) -> frozenset[str]:
        """Variables that the file reads, or deletes, which fails as well where nothing has set them."""
        index, found = self._index, set[str]()
        for node, name in index.references("os.environ", *_READERS):
            parent = index.parent(node)
            if name == "os.environ" and isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Store):
                found.add(_text_of(parent.slice))
            elif isinstance(parent, ast.Compare):
                found.add(_text_of(parent.left))
            elif name in _READERS and isinstance(parent, ast.Call) and parent.func is node and parent.args:
                found.add(_text_of(parent.args[0]))
        return frozenset(found)


def _text_of(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
