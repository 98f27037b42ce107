"""What holds tensors of the device that a checkpoint is made of: the state of a module, or of an optimizer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.modules.moves import names_host
from tpulint.semantic.project.other_files import Definition, definition_called, returned
from tpulint.semantic.project.outside import qualified_in_file
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.kinds import Kind, Side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.syntax.bindings import Binding

_DEPTH = 4
_STATES = ("state_dict",)
_OF_HOST = (Kind.SCHEDULER, Kind.SCALER, Kind.LOADER)
_WORDS_OF_HOST = ("sched", "scaler", "loader", "sampler")
"""Parts of the names of objects that keep no tensors of the device."""
_GATHERS = "state_dict_type"
_RECORD = "dataclasses.dataclass"
AS_COPIES = frozenset({"dataclasses.asdict", "dataclasses.astuple"})
"""What gives all that a dataclass holds, and copies it."""
_AS_LISTS = ("list", "tuple", "sorted")
_AS_DICTIONARY = AS_COPIES | {"builtins.vars"}


class SavedStates:
    """Answers about one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def holds(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether an expression is or contains the state of a module or optimizer, as it is on the device."""
        if depth > _DEPTH:
            return False
        if isinstance(node, ast.Call):
            return self._is_state(node, depth)
        if isinstance(node, ast.Dict):
            return any(self.holds(value, depth + 1) for value in node.values)
        if isinstance(node, ast.List | ast.Tuple):
            return any(self.holds(value, depth + 1) for value in node.elts)
        if isinstance(node, ast.IfExp):
            return self.holds(node.body, depth + 1) or self.holds(node.orelse, depth + 1)
        if isinstance(node, ast.Name):
            if self._is_copied_in_place(node):
                return False
            return (
                any(self._is_bound(binding, depth) for binding in self._index.flow.reaching(node))
                or any(self.holds(item, depth + 1) for item in self._index.kinds.contents.of(node))
                or any(self.holds(item, depth + 1) for item in self._put_into(node))
            )  # `data = {}`, `data["model"] = model.state_dict()`
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            return node.slice.value in self.keys_of(node.value, depth + 1)
        if isinstance(node, ast.DictComp):  # `{name: weight for name, weight in model.state_dict().items()}`
            return isinstance(node.value, ast.Name) and self.holds(node.value, depth + 1)
        return False

    def _put_into(self, state: ast.Name) -> Iterator[ast.expr]:
        """What a function puts into a dictionary that it is given: ``state["model"] = model.state_dict()``."""
        index, end = self._index, self._index.span(state).start
        if not any(binding.kind == "parameter" for binding in index.flow.reaching(state)):
            return
        for load in index.names.loads_of(state):
            part = index.parent(load)
            statement = index.parent(part) if isinstance(part, ast.Subscript) else None
            if isinstance(statement, ast.Assign) and part in statement.targets and index.span(load).start < end:
                yield statement.value

    def _is_copied_in_place(self, state: ast.Name) -> bool:
        """``for key in state: state[key] = state[key].cpu()`` in front of where it is saved."""
        index = self._index
        function, start = index.function_of(state), index.span(state).start
        for load in index.names.loads(state.id, index.names.scope_of(state)):
            item = index.parent(load)
            statement = index.parent(item) if isinstance(item, ast.Subscript) else None
            if not isinstance(statement, ast.Assign) or item not in statement.targets or not _is_copy(statement.value):
                continue
            loop = index.parent(statement)
            if isinstance(loop, ast.For) and index.span(loop).end <= start and index.function_of(loop) is function:
                assert isinstance(item, ast.Subscript)
                around = index.parent(loop)
                is_whole = _goes_through(loop, state.id, item.slice)
                if is_whole and any(one is around for one in index.tree.ancestors(state)):
                    return not self._is_added_to(state, index.span(loop).end)
        return False

    def _is_added_to(self, state: ast.Name, behind: int) -> bool:
        """Whether anything is put into a state behind a place: ``state["optimizer"] = ...``, ``state.update(...)``."""
        index = self._index
        for load in index.names.loads(state.id, index.names.scope_of(state)):
            part = index.parent(load)
            is_put = isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store)
            is_filled = isinstance(part, ast.Attribute) and part.attr in ("update", "setdefault")
            if (is_put or is_filled) and index.span(load).start >= behind:
                return True
        return False

    def are_given_by(self, node: ast.expr) -> bool:
        """Whether an expression gives a module of the device: whoever is handed it may save its state."""
        index = self._index
        is_module = index.kinds.mentions_device and index.kind(node) is Kind.MODULE
        return is_module and not index.moves.go_to_host([node])

    @property
    def may_be_of_device(self) -> bool:
        """Whether the file has to do with a device, or others hand it one, states to save, or modules of the device."""
        return self._index.moves.has_device or any(
            call.states or call.modules or any(map(_is_device, call.arguments)) for call in self._index.outside
        )

    def keys_of(self, node: ast.expr, depth: int = 0) -> set[object]:
        """The keys of a dictionary behind which it holds it: ``"net"`` of ``{"net": net.state_dict(), "epoch": 3}``."""
        if depth > _DEPTH:
            return set()
        if isinstance(node, ast.Dict):
            entries = [(key, value) for key, value in zip(node.keys, node.values, strict=True)]
            return {
                key.value for key, value in entries if isinstance(key, ast.Constant) and self.holds(value, depth + 1)
            }
        if isinstance(node, ast.Call):
            is_dict = self._index.qualified_name(node.func) == "builtins.dict"
            return {item.arg for item in node.keywords if item.arg and self.holds(item.value, depth + 1) and is_dict}
        bindings = self._index.flow.reaching(node) if isinstance(node, ast.Name) else ()
        return {key for binding in bindings for key in self._keys_bound(binding, depth)}

    def _keys_bound(self, binding: Binding, depth: int) -> set[object]:
        if binding.kind == "assign" and not binding.path and binding.value is not None:
            return self.keys_of(binding.value, depth + 1)
        if binding.kind != "parameter" or not isinstance(binding.statement, FUNCTIONS):
            return set()
        given = self._index.definitions.arguments.of(binding.statement, binding.name)
        name = qualified_in_file(self._index.tree, binding.statement)
        calls = [call for call in self._index.outside if call.function == name and binding.name in call.states]
        found = {key for item in given for key in self.keys_of(item, depth + 1)}
        return found | {key for call in calls for parameter, key in call.states_by_key if parameter == binding.name}

    def _is_state(self, call: ast.Call, depth: int) -> bool:
        func, index = call.func, self._index
        if not isinstance(func, ast.Attribute) or func.attr != "state_dict":
            name = index.qualified_name(func)
            if name in facts.COPIES or name in _AS_DICTIONARY:
                return any(self.holds(item, depth + 1) for item in call.args[:1])
            if self._makes_record(call):
                return any(self.holds(item, depth + 1) for item in values_given(call))
            if name == "builtins.dict":
                return any(self.holds(item.value, depth + 1) for item in call.keywords)
            return self._is_returned(call, depth)
        named = last_name(func.value).lower()
        if index.kind(func.value) in _OF_HOST or any(word in named for word in _WORDS_OF_HOST):
            return False
        if self._is_gathered(call):
            return False
        return not any(
            isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "cpu"
            for part in index.tree.inside(call)
        )

    def _is_returned(self, call: ast.Call, depth: int) -> bool:
        """Whether a function of the project that is given a module returns its state: ``state_of(net)``"""
        if depth > 1 or not any(map(self.are_given_by, values_given(call))):
            return False
        called = definition_called(self._index, call)
        if called is None or not isinstance(called.node, FUNCTIONS) or not called.file.source.has_any(_STATES):
            return False
        return any(called.file.saved_states.holds(value, 2) for value in returned(called))

    def _makes_record(self, call: ast.Call) -> bool:
        """Whether a call makes an object that keeps what it is given, of a class of the project: a dataclass."""
        own = self._index.definitions.class_called(call)
        made = Definition(self._index, own) if own is not None else self._index.imported.called(call)
        if made is None or not isinstance(made.node, ast.ClassDef):
            return False
        marks = (getattr(item, "func", item) for item in made.node.decorator_list)
        return any(made.file.names.qualified(mark) == _RECORD for mark in marks)

    def _is_gathered(self, call: ast.Call) -> bool:
        """Whether FSDP puts a state together, where its configuration says: ``with FSDP.state_dict_type(model):``."""
        blocks = (one for one in self._index.tree.ancestors(call) if isinstance(one, ast.With))
        opened = (item.context_expr for block in blocks for item in block.items)
        return any(isinstance(one, ast.Call) and last_name(one.func) == _GATHERS for one in opened)

    def _is_bound(self, binding: Binding, depth: int) -> bool:
        """Whether a variable holds it: by its value, or by what calls pass for a parameter, here or in other files."""
        if binding.kind == "assign" and not binding.path and binding.value is not None:
            return self.holds(binding.value, depth + 1)
        if binding.kind == "loop" and binding.path == (1,) and isinstance(binding.value, ast.Call):
            method = binding.value.func  # `for name, weight in state.items():`
            return isinstance(method, ast.Attribute) and method.attr == "items" and self.holds(method.value, depth + 1)
        if binding.kind != "parameter" or not isinstance(binding.statement, FUNCTIONS):
            return False
        given = self._index.definitions.arguments.of(binding.statement, binding.name)
        if any(self.holds(item, depth + 1) for item in given):
            return True
        name = qualified_in_file(self._index.tree, binding.statement)
        return any(binding.name in call.states for call in self._index.outside if call.function == name)


def _is_device(given: tuple[str, str, str]) -> bool:
    """Whether what a call of another file gives for a parameter is a device other than the host."""
    _, kind, side = given
    return kind == Kind.DEVICE.name and side != Side.HOST.name


def _is_copy(value: ast.expr) -> bool:
    """``x.cpu()``, ``x.detach().to("cpu").clone()``"""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if names_host(value):
            return True
        value = value.func.value
    return False


def _goes_through(loop: ast.For, name: str, key: ast.expr) -> bool:
    """Whether a loop takes the keys of a dictionary one by one: ``for key, value in state.items()``."""
    source, target = loop.iter, loop.target
    if isinstance(source, ast.Call) and last_name(source.func) in _AS_LISTS and len(source.args) == 1:
        source = source.args[0]
    method = source.func if isinstance(source, ast.Call) and not source.args else None
    if isinstance(method, ast.Attribute) and method.attr in ("keys", "items"):
        target = target.elts[0] if method.attr == "items" and isinstance(target, ast.Tuple) else target
        source = method.value
    is_its = isinstance(source, ast.Name) and source.id == name
    return is_its and isinstance(key, ast.Name) and isinstance(target, ast.Name) and key.id == target.id
