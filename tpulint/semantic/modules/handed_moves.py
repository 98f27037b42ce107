"""Modules that calls hand to functions of other files, which move them to the device."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tpulint.records import NamedTuple
from tpulint.semantic.devices.device_sites import devices_given
from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.modules.moves import Move
from tpulint.semantic.project.other_files import Definition, definition_called, function_run, method
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode, starts_base
from tpulint.semantic.syntax.variables import says_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 2
"""Files that a module is handed on through."""
_BASES = 4
"""Base classes that a derived class hands on to."""
_WORDS_OF_MOVES = (".to(", ".cuda(", ".xla(")
_MOST_MOVES = 40
"""Of one file: a bound on work for generated code."""


class MovedParameter(NamedTuple):
    """A parameter of a function, or of what made its object, that the function moves, itself or by what it calls."""

    function: FunctionNode
    """Whose call brings the move about."""
    parameter: ast.arg
    place: str
    """The parameter of the function that says where to; empty for none."""
    move: Move
    holder: SemanticIndex
    """The file in which the move stands."""


class MovedPart(NamedTuple):
    """A part of an object that a method of its class moves."""

    function: FunctionNode
    path: tuple[str, ...]
    """Attributes that lead to it from the object."""
    place: str
    """The parameter of the method that says where to; empty for none."""
    move: Move


class HandedMove(NamedTuple):
    """A call that has a module of its file moved by another file."""

    move: Move
    """The call, as if it were the move."""
    function: Definition
    origin: Move
    """The move itself."""
    holder: SemanticIndex
    """The file in which that stands."""


class HandedMoves:
    """Answers about one file; asked by itself, and by the files that call its functions."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._handed: dict[int, list[HandedMove]] = {}
        self._moved: dict[int, list[MovedParameter]] = {}

    @property
    def all(self) -> list[HandedMove]:
        """In order of position."""
        return self._within(_DEPTH)

    def _within(self, depth: int) -> list[HandedMove]:
        if depth not in self._handed:
            calls = self._index.imported.calls if depth else []
            self._handed[depth] = [one for call in calls for one in self._of(call, depth)][:_MOST_MOVES]
        return self._handed[depth]

    def parameters(self, depth: int) -> list[MovedParameter]:
        """Parameters that functions of this file move, or hand on to at most so many others that do."""
        if depth not in self._moved:
            self._moved[depth] = list(self._find_parameters(depth))
        return self._moved[depth]

    def _find_parameters(self, depth: int) -> Iterator[MovedParameter]:
        moves = self._index.moves
        own = [(move, move, self._index) for move in moves.moves[:_MOST_MOVES]]
        for move, origin, holder in [*own, *((one.move, one.origin, one.holder) for one in self._within(depth))]:
            parameters = [one for one in self._parameters_of(move) if isinstance(self._function_of(one), FUNCTIONS)]
            if not parameters:
                continue
            place = self._place_of(origin) if holder is self._index else ""
            for function in dict.fromkeys(function for function, _ in moves.places(move.call)):
                for parameter in parameters if function is not None else ():
                    assert function is not None
                    owner = self._function_of(parameter)
                    is_own = function is self._index.tree.function_of(move.call)
                    if owner is function or self._made(function, owner):
                        yield MovedParameter(function, parameter, place if is_own else "", origin, holder)

    def _parameters_of(self, move: Move) -> Iterator[ast.arg]:
        """Parameters that are moved: those nobody in the file gives a value, and those the function itself has."""
        for creation in self._index.moves.moved_by(move):
            if isinstance(creation.node, ast.arg):
                yield creation.node
        for binding in self._index.flow.reaching(move.module) if isinstance(move.module, ast.Name) else ():
            if binding.kind == "parameter" and isinstance(binding.node, ast.arg):
                yield binding.node

    def _function_of(self, parameter: ast.arg) -> ast.AST | None:
        arguments = self._index.tree.parents.get(parameter)
        return None if arguments is None else self._index.tree.parents.get(arguments)

    def _made(self, function: FunctionNode, start: ast.AST | None) -> bool:
        """Whether ``start`` makes the objects of which a function is a method."""
        owner = self._index.tree.class_of(function)
        if owner is None or not isinstance(start, FUNCTIONS) or start.name != "__init__":
            return False
        return self._index.tree.class_of(start) is owner

    def _place_of(self, move: Move) -> str:
        """The parameter that a device comes in by: ``device`` of ``model.to(device)``."""
        given = devices_given(move.call)
        for node in given:
            for binding in self._index.flow.reaching(node) if isinstance(node, ast.Name) else ():
                if binding.kind == "parameter":
                    return binding.name
        return ""

    @cached_property
    def parts(self) -> list[MovedPart]:
        """What methods of this file move of their own object: ``self.encoder.to(device)``."""
        found = []
        for move in self._index.moves.moves[:_MOST_MOVES]:
            function, path = self._index.tree.function_of(move.call), attributes_of(move.module)
            own = function.args.args[0].arg if function is not None and function.args.args else None
            if function is not None and len(path) > 1 and path[0] == own and self._index.tree.class_of(function):
                found.append(MovedPart(function, path[1:], self._place_of(move), move))
        return found

    # ---------------------------------------------------------------- calls

    def _of(self, call: ast.Call, depth: int) -> Iterator[HandedMove]:
        found = self._index.imported.called(call)
        run = None if found is None else function_run(found)
        if run is None or not isinstance(run.node, FUNCTIONS) or run.file is self._index:
            return
        if depth == 1 and not run.file.source.has_any(_WORDS_OF_MOVES):
            return
        for moved in run.file.handed_moves.parameters(depth - 1):
            if moved.function is not run.node or self._names_host(call, run, moved.place):
                continue
            for module in self._given(call, run, moved.parameter):
                move = Move(call, module, moved.move.certain, self._index.moves.creations)
                yield HandedMove(move, run, moved.move, moved.holder)
        whole = call.func.value if isinstance(call.func, ast.Attribute) else None
        for part in run.file.handed_moves.parts if whole is not None else ():
            if part.function is run.node and not self._names_host(call, run, part.place):
                assert whole is not None
                move = Move(call, whole, part.move.certain, self._index.moves.creations, part.path)
                yield HandedMove(move, run, part.move, run.file)

    def _given(self, call: ast.Call, run: Definition, parameter: ast.arg) -> list[ast.expr]:
        """What a call gives for a parameter, or what made the object gave whose method it calls."""
        assert isinstance(run.node, FUNCTIONS)
        is_method = run.file.tree.class_of(run.node) is not None
        if parameter in (*run.node.args.posonlyargs, *run.node.args.args, *run.node.args.kwonlyargs):
            return [item for name, item in arguments_given(call, run.node, is_method) if name == parameter.arg]
        if parameter is run.node.args.vararg:
            skipped = len(run.node.args.posonlyargs) + len(run.node.args.args) - is_method
            return [item for item in call.args[skipped:] if not isinstance(item, ast.Starred)]
        arguments = run.file.tree.parents.get(parameter)
        start = None if arguments is None else run.file.tree.parents.get(arguments)
        if not isinstance(call.func, ast.Attribute) or not isinstance(start, FUNCTIONS):
            return []
        made = [one.node for one in self._index.moves.creations.of(call.func.value) if not one.path]
        given = [self._given_to(start, node) for node in made if isinstance(node, ast.Call)]
        return [item for items in given for name, item in items if name == parameter.arg]

    def _given_to(self, start: FunctionNode, making: ast.Call) -> list[tuple[str, ast.expr]]:
        """What a call that makes an object gives for the parameters of an ``__init__``, be it that of a base class.

        A derived class hands on what it is given: ``super().__init__(model, optimizer=optimizer)``.
        """
        found = self._index.imported.called(making)
        run = method(found, "__init__") if found is not None and found.is_class else None
        given: list[tuple[str, ast.expr]] | None = None
        for _ in range(_BASES):
            if run is None or not isinstance(run.node, FUNCTIONS):
                break
            if given is None:
                given = arguments_given(making, run.node, is_method=True)
            if run.node is start:
                return given
            above = [call for call in run.file.tree.nodes_in(run.node, ast.Call) if starts_base(call)]
            base = definition_called(run.file, above[0]) if len(above) == 1 else None
            if base is not None and isinstance(base.node, FUNCTIONS):
                had, handed = dict(given), arguments_given(above[0], base.node, is_method=True)
                given = [(name, had[item.id]) for name, item in handed if isinstance(item, ast.Name) and item.id in had]
            run = base
        return []

    def _names_host(self, call: ast.Call, run: Definition, place: str) -> bool:
        """Whether a call says that the move is to the host, itself or by what the function takes instead."""
        assert isinstance(run.node, FUNCTIONS)
        is_method = run.file.tree.class_of(run.node) is not None
        given = dict(arguments_given(call, run.node, is_method))
        arguments = run.node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        taken: list[tuple[ast.arg, ast.expr | None]] = []
        taken += zip(reversed(positional), reversed(arguments.defaults), strict=False)
        taken += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        told = [(name, item, self._index) for name, item in given.items()]
        told += [(item.arg, value, run.file) for item, value in taken if value and item.arg not in given]
        for name, item, file in sorted(told, key=lambda one: one[0] != place):
            is_nothing = isinstance(item, ast.Constant) and item.value is None
            # With no device, an object mostly chooses one.
            if name == place or (says_device(name) and not is_nothing):
                return file.moves.is_device(item) is None
        return False


def attributes_of(node: ast.expr) -> tuple[str, ...]:
    """The names in ``self.encoder.body``; empty for anything else."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return (node.id, *reversed(names)) if isinstance(node, ast.Name) else ()
