"""Variables of any kind by a key: names, attributes, items, command line options; who reads and writes them."""

from __future__ import annotations

import ast
import re

from tpulint.semantic.syntax import torch_facts as facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEVICE_WORD = r"(?:\A|_)(?:devices?|dev)(?:\Z|_|\d)|Device"
_OTHER_DEVICE_NAMES = frozenset({
    "device_map", "device_ids", "device_id", "device_count", "num_devices", "device_index", "n_devices",
    "pin_memory_device", "map_location", "device_mesh", "device_list",
})  # fmt: skip
_OPTION_CALLS = frozenset({"add_argument", "option", "Option", "Argument", "argument", "DEFINE_string"})

_CONFIGURATION = r"(?i)(?:args?|opts?|options|cfg|conf|config|hparams|hps?|params|flags|settings|self|cls)\Z"

Key = tuple[str, object, str]
"""A variable: kind (name, attribute, item), the node of the scope for a name, and the name."""


def says_device(name: str) -> bool:
    """Whether a name says that it holds a device."""
    searched = name if "Device" in name else name.lower()
    return name.lower() not in _OTHER_DEVICE_NAMES and re.search(_DEVICE_WORD, searched) is not None


def is_configuration(name: str) -> bool:
    """Whether a name says that it holds the options of a program: ``args``."""
    return name not in ("self", "cls") and re.match(_CONFIGURATION, name) is not None


def itself(value: ast.expr) -> ast.expr:
    """The module that ``module.to(device).eval()`` is."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr not in facts.MODULE_SELF_METHODS:
            break
        value = value.func.value
    return value


def last_name(node: ast.AST) -> str:
    """``config`` of ``self.config``; empty for what has no name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def root_of(node: ast.expr) -> ast.Name | None:
    """The variable that an attribute or item begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node if isinstance(node, ast.Name) else None


class Variables:
    """The variables of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._tree = index.tree
        self._names = index.names
        self._loads: dict[Key, list[ast.expr]] | None = None
        self._stores: dict[str, list[tuple[str, ast.expr]]] | None = None
        self._options: dict[str, list[ast.Call]] | None = None

    def keys_of(self, node: ast.AST) -> tuple[Key, ...]:
        """The variable an expression reads or writes."""
        if isinstance(node, ast.Name):
            found = self._names.find_name(node)
            return (("name", found[0].node, node.id),) if found else ()
        if isinstance(node, ast.Attribute):
            return (("attribute", None, node.attr),)
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, str)
        ):
            return (("item", None, node.slice.value),)
        return ()

    def loads(self, key: Key) -> list[ast.expr]:
        """Expressions that read a variable."""
        if self._loads is None:
            self._loads = {}
            reads: list[ast.expr] = [n for n in self._tree.names if isinstance(n.ctx, ast.Load)]
            reads.extend(n for n in self._tree.attributes if isinstance(n.ctx, ast.Load))
            items = (self._tree.parents[text] for text in self._tree.strings)
            reads.extend(n for n in items if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load))
            for node in reads:
                for found in self.keys_of(node):
                    self._loads.setdefault(found, []).append(node)
        return self._loads.get(key, [])

    def stores(self, node: ast.Attribute) -> list[ast.expr]:
        """Values that an attribute may have where it is read.

        Those given to the same attribute of a variable of the same name; for what is called like a configuration also
        the fields of classes and the defaults of command line options.
        """
        if self._stores is None:
            self._stores = self._find_stores()
        holder = last_name(node.value)
        stores = self._stores.get(node.attr, [])
        return [value for name, value in stores if name == holder or (not name and re.search(_CONFIGURATION, holder))]

    def items(self, read: ast.Subscript) -> list[ast.expr]:
        """Values that the variable of an item is given for its key: as the dictionary is written, or later."""
        key, holder = self.keys_of(read), self.keys_of(read.value)
        found: list[ast.expr] = []
        for text in self._tree.strings if key and holder else ():
            place = self._tree.parents[text] if text.value == key[0][2] else None
            statement = None if place is None else self._tree.parents[place]
            if not isinstance(statement, ast.Assign):
                continue
            if isinstance(place, ast.Dict) and text in place.keys:
                if holder in map(self.keys_of, statement.targets):
                    found.append(place.values[place.keys.index(text)])
            elif isinstance(place, ast.Subscript) and place in statement.targets:
                found += [statement.value] if self.keys_of(place.value) == holder else []
        return found

    def _find_stores(self) -> dict[str, list[tuple[str, ast.expr]]]:
        """Attribute to the variables and values it is stored with; no variable for fields and options."""
        found: dict[str, list[tuple[str, ast.expr]]] = {}
        for node in self._tree.attributes:
            statement = self._tree.parents[node]
            value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
            if value is not None and isinstance(node.ctx, ast.Store):
                found.setdefault(node.attr, []).append((last_name(node.value), value))
        for owner in self._tree.classes:
            for item in owner.body:
                targets = (
                    item.targets
                    if isinstance(item, ast.Assign)
                    else [item.target]
                    if isinstance(item, ast.AnnAssign)
                    else []
                )
                value = item.value if isinstance(item, ast.Assign | ast.AnnAssign) else None
                for target in targets:
                    if isinstance(target, ast.Name) and value is not None:
                        found.setdefault(target.id, []).extend([("", value), (owner.name, value)])
        for option, calls in self.options.items():
            for call in calls:
                values = [keyword.value for keyword in call.keywords if keyword.arg == "default"] or call.args[1:2]
                # what the user may choose besides
                for keyword in call.keywords:
                    if keyword.arg == "choices" and isinstance(keyword.value, ast.List | ast.Tuple | ast.Set):
                        values = [*values, *keyword.value.elts]
                found.setdefault(option, []).extend(("", value) for value in values)
        return found

    @property
    def options(self) -> dict[str, list[ast.Call]]:
        """Calls that declare command line options, by the attribute they are read from."""
        if self._options is None:
            self._options = {}
            for call in self._tree.calls:
                name = self.option_name(call)
                if name is not None:
                    self._options.setdefault(name, []).append(call)
        return self._options

    def option_name(self, call: ast.Call) -> str | None:
        """Attribute that a command line option declared by the call is read from."""
        if last_name(call.func) not in _OPTION_CALLS:
            return None
        for keyword in call.keywords:
            if keyword.arg == "dest" and isinstance(keyword.value, ast.Constant):
                return str(keyword.value.value)
        texts = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        named = [text for text in texts if text.startswith("--")] or texts[:1]
        return named[0].lstrip("-").replace("-", "_") if named else None


def is_in_place(method: str) -> bool:
    """Whether the name of a method says that it writes the tensor it is called on."""
    return method.endswith("_") and not method.endswith("__")


def written_by(func: ast.Attribute) -> ast.expr:
    """What a method in place writes: of ``slow.mul_(keep).add_(fast)``, the tensor that all of the chain write."""
    written = func.value
    while isinstance(written, ast.Call) and isinstance(written.func, ast.Attribute) and is_in_place(written.func.attr):
        written = written.func.value
    return written
