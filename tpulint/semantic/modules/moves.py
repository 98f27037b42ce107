"""Modules moved to the device, and what happens before: on XLA a move makes new parameters."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from tpulint.semantic.devices.device_sites import devices_given
from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.modules.swap_flag import SwapFlag
from tpulint.semantic.project.imported import Imported
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.torch_facts import COPYING_CLASSES, MOVES, RUNTIME
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.collected_objects import COLLECTIONS, CollectedObjects
from tpulint.semantic.values.creations import Creation, Creations
from tpulint.semantic.values.kinds import Kind, Kinds

_CALL_DEPTH = 4
_DEEP_COPY = "copy.deepcopy"
_HOLDS = r"(?i)ema|averag|wrap|model|module|network|diffusion"
"""Words in the names of classes that keep the modules which they are given."""


class Move:
    """One call that puts a module on the device, or what may be one."""

    __slots__ = ("_all", "_creations", "_part", "call", "certain", "module")

    def __init__(
        self, call: ast.Call, module: ast.expr, certain: bool, creations: Creations, part: tuple[str, ...] = ()
    ) -> None:
        self.call = call
        self.module = module
        """The expression that is moved, or a part of what it gives."""
        self._part = part
        self.certain = certain
        """Whether the argument is known to be a device that is not the host."""
        self._all = creations
        self._creations: list[Creation] | None = None

    @property
    def creations(self) -> list[Creation]:
        """Objects that may be moved."""
        if self._creations is None:
            self._creations = self._all.of_part(self.module, self._part)
        return self._creations


class Moves:
    """All moves of modules in one file, and the order in which things happen."""

    def __init__(
        self, tree: SyntaxTree, names: Names, flow: Flow, definitions: Definitions, kinds: Kinds, imported: Imported
    ) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._definitions = definitions
        self._kinds = kinds
        self._imported = imported
        self.creations = Creations(tree, names, flow, definitions)
        self.collected = CollectedObjects(tree, names, definitions, self.creations)
        self.swap_flag = SwapFlag(tree, names)
        self._has_device: bool | None = None

    @cached_property
    def moves(self) -> list[Move]:
        """In order of position."""
        return list(self._find())

    def _find(self) -> Iterator[Move]:
        for call in self._tree.calls:
            func = call.func
            if not isinstance(func, ast.Attribute) or func.attr not in MOVES:
                continue
            certain = self.to_device(call)
            if certain is not None and self._kinds.value(func.value).kind in (Kind.MODULE, Kind.UNKNOWN):
                yield Move(call, func.value, certain, self.creations)

    def moved_by(self, move: Move) -> Iterator[Creation]:
        """What a move takes along: the module, what it keeps, and what it was handed, as a whole, as it was made."""
        for one in self.collected.among(move.creations):
            yield one
            if isinstance(one.node, COLLECTIONS) and not one.path:
                yield from self.collected.among(self.collected.elements(one))
            if not one.path:
                yield from self.collected.parts_kept(one.node)
            made = one.node
            if one.path or not isinstance(made, ast.Call) or not self._takes_modules_along(made):
                continue
            yield from self.collected.parts_given(made)
            for given in values_given(made):
                if not isinstance(given, ast.Starred) and self._kinds.value(given).kind in (Kind.MODULE, Kind.UNKNOWN):
                    yield from (part for part in self.creations.of(given) if not part.path)

    def _takes_modules_along(self, made: ast.Call) -> bool:
        """Whether what a call makes is a module, or of a class nobody sees that holds one, by its name."""
        name, kind = self._names.qualified(made.func) or "", self._kinds.value(made).kind
        if name.startswith((*COPYING_CLASSES, _DEEP_COPY)):
            return False
        if kind is not Kind.UNKNOWN:
            return kind is Kind.MODULE
        last = name.rpartition(".")[2]
        is_class = last[:1].isupper() and "." in name and not name.startswith("torch.")
        return is_class and re.search(_HOLDS, last) is not None and self._imported.definition(made.func) is None

    # ---------------------------------------------------------------- where a move goes

    def to_device(self, call: ast.Call) -> bool | None:
        """Whether ``x.to(...)`` surely goes to the device; None when it does not."""
        func = call.func
        if not isinstance(func, ast.Attribute) or func.attr not in MOVES:
            return None
        if func.attr != "to":
            return True
        place = next(
            (item.value for item in call.keywords if item.arg == "device"), call.args[0] if call.args else None
        )
        if place is None or isinstance(place, ast.Starred) or self.is_dtype(place):
            return None
        return self.is_device(place)

    def is_device(self, node: ast.expr, depth: int = 0) -> bool | None:
        """True for a device that is not the host, False when it may be one, None for the host and what is no device."""
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                return None if node.value in ("cpu", "meta") else True
            return True if isinstance(node.value, int) and not isinstance(node.value, bool) else None
        if isinstance(node, ast.IfExp):
            branches = (self.is_device(node.body, depth + 1), self.is_device(node.orelse, depth + 1))
            return None if branches == (None, None) else any(branches)
        text = _beginning(node)
        if text:
            return None if text.startswith(("cpu", "meta")) else True
        if isinstance(node, ast.Call):
            name = self._names.qualified(node.func)
            if name == "torch.device" and node.args:
                return self.is_device(node.args[0], depth + 1)
            return bool(name is not None and name.startswith(("torch_xla.", "torch.accelerator.", f"{RUNTIME}.")))
        if isinstance(node, ast.Name) and depth < 4:
            bindings = self._flow.reaching(node)
            known = [
                self.is_device(b.value, depth + 1)
                for b in bindings
                if b.kind == "assign" and b.value is not None and not b.path
            ]
            if bindings and len(known) == len(bindings):
                return None if all(item is None for item in known) else any(known)
        # a module takes no number or text but that of a device
        return self._kinds.value(node).kind in (Kind.DEVICE, Kind.HOST)

    def stay_on_host(self, modules: list[ast.expr]) -> bool:
        """Whether one of these modules is put on the host by name, ``model.to("cpu")``, and none ever on a device."""
        if not self.go_to_host(modules):
            return False
        used = [creation for module in modules for creation in self.creations.of(module)]
        return not any(a.overlaps(b) for move in self.moves for a in move.creations for b in used)

    def go_to_host(self, modules: list[ast.expr]) -> bool:
        """Whether one of these modules is put on the host by name anywhere in the file, be it for a while."""
        told = [
            call.func.value for call in self._tree.calls if isinstance(call.func, ast.Attribute) and names_host(call)
        ]
        used = [creation for module in modules for creation in self.creations.of(module)] if told else []
        return any(a.overlaps(b) for item in told for a in self.creations.of(item) for b in used)

    @property
    def has_device(self) -> bool:
        """Whether the file puts anything on a device, or uses torch_xla."""
        if self._has_device is None:
            self._has_device = self._finds_device()
        return self._has_device

    def _finds_device(self) -> bool:
        for call in self._tree.calls:
            if self.to_device(call) is not None:
                return True
            if any(item.arg == "device" and self.is_device(item.value) for item in call.keywords):
                return True
        text = self._tree.source.text
        if "torch_xla" not in text and "tpulint_runtime" not in text:
            return False
        modules = (
            self._names.qualified_binding(binding) or ""
            for bindings in self._names.variables_of(self._names.module).values()
            for binding in bindings
            if binding.kind == "import"
        )
        return any(f"{module}.".startswith(("torch_xla.", f"{RUNTIME}.")) for module in modules)

    def concerns(self, node: ast.AST) -> bool:
        """Whether code at a node has to do with a device: the file uses one, or the code belongs to a module."""
        owner = self._tree.class_of(node)
        return self.has_device or (owner is not None and self._definitions.is_module_class(owner))

    def is_dtype(self, node: ast.expr) -> bool:
        """``torch.float16``, ``weight.dtype``"""
        name = self._names.qualified(node)
        if name is not None and name.startswith("torch.") and name.count(".") == 1:
            return True
        return "dtype" in last_name(node)

    # ---------------------------------------------------------------- order

    @property
    def keeps_parameters(self) -> bool:
        """Whether the file makes all moves keep the parameter objects, by the flag of torch for it."""
        return self.swap_flag.stays

    def keeps_parameters_at(self, call: ast.Call) -> bool:
        """Whether a move keeps the parameter objects: the flag is set around it, or around a call that leads to it."""
        flag = self.swap_flag
        return flag.stays or (flag.is_used and any(flag.is_set_at(place) for _, place in self.places(call)))

    def precedes(self, first: ast.AST, second: ast.AST) -> bool | None:
        """Whether ``first`` runs before ``second``, as far as calls in this file tell; None when they do not."""
        places: dict[FunctionNode | None, list[ast.AST]] = {}
        for function, node in self.places(first):
            places.setdefault(function, []).append(node)
        for function, node in self.places(second):
            for other in places.get(function, ()):
                if other is not node:
                    return None if self.exclude_each_other(other, node) else self._is_first(other, node)
        one, two = self._tree.function_of(first), self._tree.function_of(second)
        owner = self._tree.class_of(first)
        same_class = owner is not None and owner is self._tree.class_of(second)
        if same_class and one is not None and two is not None and (one.name == "__init__") != (two.name == "__init__"):
            return one.name == "__init__"
        return None

    def may_precede(self, first: ast.AST, second: ast.AST) -> bool:
        """Whether ``first`` may run before ``second``; of two branches of one ``if`` only one runs, but in loops."""
        order = self.precedes(first, second)
        is_alone = order is None and self._tree.function_of(first) is self._tree.function_of(second)
        if is_alone and self._tree.loop_of(first) is None:
            return not self.exclude_each_other(first, second)
        return order is not False

    def _is_first(self, one: ast.AST, two: ast.AST) -> bool:
        """Of two nodes of one function. What stands within a call, ``Trainer(model, SGD(...))``, runs before it."""
        if self._tree.encloses(two, one):
            return True
        return not self._tree.encloses(one, two) and self._tree.start(one) < self._tree.start(two)

    def is_on_device(self, module: ast.expr, at: ast.AST) -> bool:
        """Whether a module has surely moved to the device before a node runs, and has not left it since."""
        before = [move for move in self._moves_of(module) if move.certain and self.precedes(move.call, at)]
        if not before:
            return False
        last = max(self._tree.start(move.call) for move in before)
        for call in self._tree.calls:
            if (
                isinstance(call.func, ast.Attribute)
                and call.func.attr in ("cpu", "to")
                and self.to_device(call) is None
            ):
                back = call.func.attr == "cpu" or any(_beginning(item) == "cpu" for item in call.args)
                if back and self._is_same(call.func.value, module) and last < self._tree.start(call):
                    return False
        return True

    def is_moved_behind(self, module: ast.expr, at: ast.AST) -> bool:
        """Whether a module moves to the device, perhaps once more, behind a node."""
        return any(self.precedes(at, move.call) for move in self._moves_of(module) if move.call is not at)

    def _moves_of(self, module: ast.expr) -> list[Move]:
        made = {creation.node for creation in self.creations.of(module)}
        return [move for move in self.moves if any(creation.node in made for creation in move.creations)]

    def _is_same(self, one: ast.expr, two: ast.expr) -> bool:
        """Whether two expressions may be one module."""
        made = {creation.node for creation in self.creations.of(one)}
        return any(creation.node in made for creation in self.creations.of(two))

    def places(self, node: ast.AST) -> Iterator[tuple[FunctionNode | None, ast.AST]]:
        """The node in its function, then the calls that bring it about in theirs, the nearest first."""
        current: list[ast.AST] = [node]
        for _ in range(_CALL_DEPTH):
            following: list[ast.AST] = []
            for place in current:
                function = self._tree.function_of(place)
                yield function, place
                if function is not None:
                    following.extend(self._definitions.calls_of(function))
            current = following[:16]

    def exclude_each_other(self, one: ast.AST, two: ast.AST) -> bool:
        """Whether only one of two nodes of a function can run in one turn: they stand in branches of one ``if``."""
        above = {id(item): item for item in (one, *self._tree.ancestors(one))}
        child: ast.AST = two
        for ancestor in self._tree.ancestors(two):
            if id(ancestor) in above:
                if not isinstance(ancestor, ast.If):
                    return False
                mine = any(id(item) in above for item in ancestor.body)
                return mine != (child in ancestor.body) and child is not ancestor.test
            if isinstance(ancestor, FUNCTIONS):
                return False
            child = ancestor
        return False


def _beginning(node: ast.expr) -> str:
    """The text that a string put together from parts begins with: ``f"cuda:{rank}"``, ``"cuda:%d" % rank``."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return _beginning(node.values[0]) if node.values else ""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        return _beginning(node.left)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return _beginning(node.func.value)
    return ""


def names_host(call: ast.Call) -> bool:
    """``x.cpu()``, ``x.to("cpu")``"""
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    given = devices_given(call)
    if method == "cpu":
        return not given
    return method == "to" and any(isinstance(item, ast.Constant) and item.value == "cpu" for item in given)
