"""Tensors of the device that are recorded and not yet run, and the variables that keep them."""

from __future__ import annotations

import ast

from tpulint.records import NamedTuple
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.nodes import FunctionNode
from tpulint.semantic.syntax.variables import root_of
from tpulint.semantic.values.computed import is_computed_elsewhere
from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_SAME = frozenset({"detach", "to", "cuda", "xla", "requires_grad_", "contiguous", "data"})
"""Methods that record nothing when the tensor already lies where, and as what, it is wanted."""
_CASTS = frozenset({"float", "double", "half", "bfloat16", "int", "long", "type"})
_SETTLING = frozenset({"cpu", "tolist", "numpy"})
"""Methods that run what a tensor needs and keep the result; ``item`` runs it and keeps nothing."""
_UPLOADS = frozenset({"torch.tensor", "torch.as_tensor", "torch.from_numpy"})
_CHOOSING = frozenset({"builtins.max", "builtins.min", "builtins.next", "builtins.iter"})
"""Calls that give one of the tensors they are given: ``next(model.parameters())`` computes nothing."""
GROWING = frozenset({"append", "add", "extend", "insert", "appendleft", "put"})
"""Methods by which a list or its like keeps what it is given."""
_KNOWN = ("torch.", "torch_xla.", "builtins.", "math.", "numpy.", "os.", "time.", "copy.", "logging.")
"""Beginnings of names of functions whose effect is known."""
_DEPTH = 3
"""Functions that are looked into one from another."""
_SHOWING = frozenset({"builtins.print", "builtins.str", "builtins.repr"})
_OBJECTS = frozenset({Kind.TENSOR, Kind.MODULE, Kind.OPTIMIZER, Kind.SCHEDULER})


class Key(NamedTuple):
    """Something that keeps a tensor alive."""

    scope: ast.AST
    name: str
    is_holder: bool = False
    """Whether the variable is not the tensor but holds it: a list, an object with attributes."""
    is_graph: bool = False
    """Whether the tensor itself is on the host, and what waits is kept for its gradient."""


class Entry(NamedTuple):
    """A tensor that waits to be run."""

    source: ast.stmt
    """The statement that recorded it."""
    name: str
    """What it is called there."""
    chain: tuple[ast.stmt, ...]
    """Where every function that was running then stood, the outermost first."""


class State:
    """What waits, by what keeps it, in the order in which it was recorded."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self.waiting: dict[Key, Entry] = {}
        self.chain: list[ast.stmt] = []

    def entry(self, statement: ast.stmt, name: str) -> Entry:
        """Something that a statement records now."""
        return Entry(statement, name, tuple(self.chain))

    # ---------------------------------------------------------------- variables

    def key(self, name: ast.Name, is_holder: bool = False) -> Key:
        """What a name stands for."""
        names = self._index.names
        scope = names.scope_of(name)
        found = names.find(name.id, scope)
        return Key(scope.node if found is None else found[0].node, name.id, is_holder)

    def bind(self, target: ast.expr, entry: Entry | None) -> None:
        """Give a variable a tensor that waits, or anything else."""
        if isinstance(target, ast.Starred):
            target = target.value
        if isinstance(target, ast.Name):
            self.drop(target)
            if entry is not None:
                self.waiting[self.key(target)] = entry
        elif isinstance(target, ast.Tuple | ast.List):
            for item in target.elts:
                self.bind(item, entry)
        elif entry is not None and self._may_hold(target):
            if isinstance(target, ast.Attribute) and target.attr == "data" and self._goes_on(target):
                self.write(target, entry)
            else:
                self.hold(target, entry)

    def write(self, written: ast.expr, entry: Entry) -> None:
        """Let a tensor be changed in place."""
        if self._goes_on(written):
            self.waiting[Key(entry.source, "", is_holder=True)] = entry
        elif (root := root_of(written)) is not None:
            self.bind(root, entry)

    def _goes_on(self, written: ast.expr) -> bool:
        """Whether a tensor is one of a loop over parameters, whose variable goes on; the parameter stays."""
        root = root_of(written)
        return root is not None and any(binding.kind == "loop" for binding in self._index.names.bindings(root))

    def _may_hold(self, target: ast.expr) -> bool:
        """Whether a place keeps the tensor itself: an array of NumPy, or a tensor on the host, takes its value."""
        if not isinstance(target, ast.Subscript):
            return True
        value = self._index.value(target.value)
        return value.kind is not Kind.NUMPY and (value.kind is not Kind.TENSOR or self.is_on_device(target.value))

    def bind_copy(self, target: ast.expr, entry: Entry) -> None:
        """Give a variable a copy on the host, whose gradient would go back to what waits on the device."""
        self.bind(target, None)
        if isinstance(target, ast.Name):
            self.waiting[self.key(target)._replace(is_graph=True)] = entry

    def hold(self, holder: ast.expr, entry: Entry) -> None:
        """Let a list or object keep a tensor that waits."""
        root = root_of(holder)
        if root is not None:
            key = self.key(root, is_holder=True)
            self.waiting.pop(key, None)
            self.waiting[key] = entry

    def drop(self, name: ast.Name) -> None:
        """A variable that gets another value, or goes, keeps nothing alive."""
        self._run(name)
        self.waiting.pop(self.key(name)._replace(is_graph=True), None)

    def _run(self, name: ast.Name) -> None:
        """A variable whose tensor has been run."""
        self.waiting.pop(self.key(name), None)
        self.waiting.pop(self.key(name, is_holder=True), None)

    def leave(self, function: FunctionNode) -> None:
        """Forget the variables of a function that has ended."""
        for key in [key for key in self.waiting if key.scope is function]:
            del self.waiting[key]

    # ---------------------------------------------------------------- expressions

    def is_on_device(self, node: ast.expr) -> bool:
        """Whether an expression is a tensor of the device."""
        value = self._index.value(node)
        if value.kind is not Kind.TENSOR or not self._index.reads.is_on_device(node) or self.is_old_number(node):
            return False
        return value.certain or not any(map(self._may_be_number, (node, *self._index.tree.inside(node))))

    def _may_be_number(self, node: ast.AST) -> bool:
        """Whether what is taken to be a tensor may be a number: a sum of a list, an attribute that got numbers."""
        index = self._index
        if isinstance(node, ast.Call):
            return index.qualified_name(node.func) == "builtins.sum"
        function = index.function_of(node) if isinstance(node, ast.Attribute) else None
        if function is None:
            return False
        text = index.text(node)
        return any(
            index.kind(item.value) is Kind.HOST and any(index.text(part) == text for part in _parts(item.targets))
            for item in index.tree.inside(function, functions=False)
            if isinstance(item, ast.Assign)
        )

    def is_old_number(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a value is made of ``loss.data[0]``, which was a number once: who ports that makes it one again."""
        for item in (node, *self._index.tree.inside(node, functions=False)):
            if _is_first_of_data(item):
                return True
            function = self._index.definitions.function_called(item) if isinstance(item, ast.Call) else None
            if function is not None and depth < _DEPTH:
                returned = self._index.definitions.returned_by(function)
                if any(self.is_old_number(value, depth + 1) for value in returned):
                    return True
            if isinstance(item, ast.Name):
                for binding in self._index.names.bindings(item):
                    parts = () if binding.value is None else ast.walk(binding.value)
                    if binding.kind in ("assign", "augment") and any(map(_is_first_of_data, parts)):
                        return True
        return False

    def of(self, node: ast.expr, statement: ast.stmt) -> Entry | None:
        """What waits to be run before an expression has a value; functions of this file are followed elsewhere."""
        if isinstance(node, ast.Name):
            return self.waiting.get(self.key(node)) or self.waiting.get(self.key(node, is_holder=True))
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return self._first(node.elts, statement)
        if isinstance(node, ast.Dict):
            return self._first(node.values, statement)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            return self.of(node.elt, statement)
        if isinstance(node, ast.DictComp):
            return self.of(node.value, statement)
        if isinstance(node, ast.IfExp):
            return self._first([node.body, node.orelse], statement)
        if isinstance(node, ast.NamedExpr | ast.Starred):
            return self.of(node.value, statement)
        if isinstance(node, ast.Call):
            return self._of_call(node, statement)
        if not self.is_on_device(node):
            return None
        if isinstance(node, ast.Attribute) and node.attr not in ("T", "mT", "H"):
            return self._of_attribute(node, statement)
        if isinstance(node, ast.Subscript) and (_names_item(node.slice) or not self.is_on_device(node.value)):
            if is_computed_elsewhere(self._index, node):
                return self.entry(statement, self._index.text(node))
            return self._first([node.value], statement)  # an element of a list or dictionary
        if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare | ast.Subscript | ast.Attribute):
            return self.entry(statement, self._index.text(node))
        return None

    def _of_attribute(self, node: ast.Attribute, statement: ast.stmt) -> Entry | None:
        if node.attr == "data":
            return self.of(node.value, statement)
        root = root_of(node)
        return None if root is None else self.waiting.get(self.key(root, is_holder=True))

    def _of_call(self, node: ast.Call, statement: ast.stmt) -> Entry | None:
        func = node.func
        name = self._index.qualified_name(func)
        if name in facts.COPIES and node.args:
            return self._of_copy(node.args[0], statement)
        if name in facts.VARIABLES and node.args:
            return self.of(node.args[0], statement)
        if name in _CHOOSING:
            return self._first(node.args, statement)
        if name in _UPLOADS or not self.is_on_device(node):
            return None
        if isinstance(func, ast.Attribute) and name is None:
            if func.attr in _SAME or func.attr in _CASTS:
                return self.of(func.value, statement)
            known = self._index.kind(func.value) is Kind.TENSOR or self._index.kind(func) is Kind.MODULE
            if not known and not is_computed_elsewhere(self._index, node):
                return None  # of an object that nobody knows, or what it has already
        elif name is None and self._index.kind(func) is not Kind.MODULE:
            return None
        return self.entry(statement, self._index.text(node))

    def _of_copy(self, what: ast.expr, statement: ast.stmt) -> Entry | None:
        """A copy of tensors on the device is work like any other: ``copy.deepcopy(model.state_dict())``."""
        index = self._index
        if isinstance(what, ast.Call) and isinstance(what.func, ast.Attribute) and what.func.attr == "state_dict":
            what = what.func.value
        if index.kind(what) is Kind.MODULE and index.moves.is_on_device(what, statement):
            return self.entry(statement, index.text(what))
        return self.entry(statement, index.text(what)) if self.is_on_device(what) else self.of(what, statement)

    def _first(self, nodes: list[ast.expr], statement: ast.stmt) -> Entry | None:
        return next((found for node in nodes if (found := self.of(node, statement)) is not None), None)

    # ---------------------------------------------------------------- what is settled

    def settle(self, statement: ast.stmt) -> None:
        """Take out what a statement runs for good: a copy to the host keeps what was computed for it."""
        for node in self._index.tree.inside(statement, functions=False):
            if isinstance(node, ast.BinOp):
                if isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant) and _shows(node.left.value):
                    self._settle_parts(node.right)
            elif isinstance(node, ast.Call):
                func = node.func
                if isinstance(func, ast.Attribute) and func.attr in _SETTLING:
                    self._settle(func.value)
                elif isinstance(func, ast.Attribute) and func.attr == "to":
                    if any(isinstance(item, ast.Constant) and item.value == "cpu" for item in node.args):
                        self._settle(func.value)
                elif self._may_settle(node):
                    for item in (*node.args, *(keyword.value for keyword in node.keywords)):
                        self._settle_parts(item)

    def _may_settle(self, call: ast.Call) -> bool:
        """Whether a call may show or copy what it is given, as loggers and writers of tables do: any that nobody knows.

        A float, or a number put into a text, is read and not kept; so it is with ``format``.
        """
        index, func = self._index, call.func
        name = index.qualified_name(func) or ""
        if name.startswith(_KNOWN):
            return name in _SHOWING or name.startswith("logging.")
        if index.definitions.function_called(call) is not None:
            return False
        if not isinstance(func, ast.Attribute):
            return index.kind(func) is not Kind.MODULE
        return func.attr not in GROWING and func.attr != "format" and index.kind(func.value) not in _OBJECTS

    def _settle_parts(self, node: ast.expr) -> None:
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            for item in node.elts:
                self._settle_parts(item)
        elif isinstance(node, ast.Dict):
            for item in node.values:
                self._settle_parts(item)
        else:
            self._settle(node)

    def _settle(self, node: ast.expr) -> None:
        while True:  # x.detach().data
            part = node.func if isinstance(node, ast.Call) else node
            if not isinstance(part, ast.Attribute) or part.attr not in _SAME:
                break
            node = part.value
        if isinstance(node, ast.Name):
            self._run(node)
        elif (root := root_of(node)) is not None and isinstance(node, ast.Attribute | ast.Subscript):
            self.waiting.pop(self.key(root, is_holder=True), None)


def _shows(text: object) -> bool:
    """Whether a text with places for values shows one as ``str`` does, which keeps what was read for it."""
    return isinstance(text, str) and ("%s" in text or "%r" in text)


def _parts(targets: list[ast.expr]) -> list[ast.expr]:
    """Targets, the parts of tuples one by one."""
    return [part for item in targets for part in (item.elts if isinstance(item, ast.Tuple) else [item])]


def _names_item(index: ast.expr) -> bool:
    """``graph.ndata["feat"]``: no tensor takes a text."""
    return isinstance(index, ast.Constant) and isinstance(index.value, str)


def _is_first_of_data(node: ast.AST) -> bool:
    """``x.data[0]``"""
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and node.slice.value == 0
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "data"
    )
