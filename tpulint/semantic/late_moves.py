"""Modules that move to the device when their optimizer has been built: on XLA it keeps the old parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tpulint.records import NamedTuple
from tpulint.semantic.built_optimizers import builds_optimizer, modules_of
from tpulint.semantic.creations import Creation
from tpulint.semantic.kinds import Kind
from tpulint.semantic.moves import Move

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


class LateMove(NamedTuple):
    """A move of a module behind what builds its optimizer."""

    optimizer: ast.AST
    """The call that builds it; the parameter or item that hands it in beside the model."""
    move: Move | None
    """None where a module builds an optimizer of its own parameters, before whoever makes it can move it."""
    certain: bool


class LateMoves:
    """What one file has of them, in the order of the optimizers."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    @cached_property
    def all(self) -> list[LateMove]:
        """None where moves keep the parameters."""
        moves = self._index.moves
        if not moves.moves:
            return []
        optimizers = [
            (call, modules_of(self._index, call)) for call in self._index.calls if builds_optimizer(self._index, call)
        ]
        # Where no optimizer is built, one may still come in from another file, to be stepped here.
        if not (optimizers or self._index.mentions(r"\.step\(|Optimizer\b|optim\w*[\"']\]")) or moves.keeps_parameters:
            return []
        behind = list(self._behind(optimizers))
        told = [late.move for late in behind]
        beside = (
            LateMove(built, move, False)
            for move in moves.moves
            if move not in told and (built := self._passed_beside(move)) is not None
        )
        own = (LateMove(call, None, False) for call, modules in optimizers if self._is_of_itself(call, modules))
        return [*behind, *beside, *(own if not told else ())]

    def _behind(self, optimizers: list[tuple[ast.Call, list[ast.expr]]]) -> Iterator[LateMove]:
        """Moves behind the calls that build optimizers, each once."""
        moves = self._index.moves
        told: list[Move] = []
        for optimizer, modules in optimizers:
            for module in modules:
                creations = moves.creations.of(module)
                if self._is_on_device(optimizer, creations):
                    continue
                for move in moves.moves:
                    shared = [
                        creation for creation in move.creations if any(creation.overlaps(other) for other in creations)
                    ]
                    if not shared or move in told or moves.precedes(optimizer, move.call) is not True:
                        continue
                    told.append(move)
                    known = move.certain and not any(isinstance(creation.node, ast.arg) for creation in shared)
                    yield LateMove(optimizer, move, known)

    def _is_of_itself(self, optimizer: ast.Call, modules: list[ast.expr]) -> bool:
        """Whether a module builds the optimizer of ``self.parameters()`` while it is made, on the host."""
        index = self._index
        owner, function = index.tree.class_of(optimizer), index.function_of(optimizer)
        if owner is None or function is None or function.name != "__init__" or not function.args.args:
            return False
        own = function.args.args[0].arg
        if not index.definitions.is_module_class(owner) or not any(
            isinstance(module, ast.Name) and module.id == own for module in modules
        ):
            return False
        placed = any(
            index.moves.to_device(call) is not None or any(item.arg == "device" for item in call.keywords)
            for call in index.calls
            if index.tree.encloses(owner, call) and not index.tree.encloses(optimizer, call)
        )
        return not placed

    def _is_on_device(self, optimizer: ast.Call, creations: list[Creation]) -> bool:
        """Whether the module has moved, or may have, when the optimizer is built."""
        moves = self._index.moves
        for creation in creations:
            if any(moves.to_device(call) is not None for call in creation.way):
                return True
            if isinstance(creation.node, ast.Call):
                arguments = [*creation.node.args, *(item.value for item in creation.node.keywords)]
                if any(item.arg in ("device", "device_map") for item in creation.node.keywords):
                    return True
                if any(self._index.kind(item) is Kind.DEVICE for item in arguments):
                    return True
            for move in moves.moves:
                if (
                    any(creation.overlaps(other) for other in move.creations)
                    and moves.precedes(move.call, optimizer) is not False
                ):
                    return True
        return self._index.mentions(r"set_default_(device|tensor_type)|with torch\.device\(")

    def _passed_beside(self, move: Move) -> ast.arg | ast.Subscript | None:
        """The optimizer that comes in through the same parameter list as the model that is moved."""
        function = self._index.function_of(move.call)
        if function is None or self._index.definitions.calls_of(function):
            return None
        if isinstance(move.module, ast.Subscript):
            return self._packed_beside(move.module)
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        if not any(creation.node in arguments and not creation.way for creation in move.creations):
            return None
        for argument in arguments:
            if self._is_optimizer(argument):
                return argument
        return None

    def _packed_beside(self, module: ast.Subscript) -> ast.Subscript | None:
        """``kwargs["optimizer"]`` beside ``kwargs["model"]``, of one parameter."""
        if not isinstance(module.value, ast.Name):
            return None
        packed = self._index.names.bindings(module.value)
        if len(packed) != 1 or packed[0].kind not in ("parameter", "variadic"):
            return None
        for node in self._index.tree.parents:
            if (
                isinstance(node, ast.Subscript)
                and isinstance(node.value, ast.Name)
                and isinstance(node.slice, ast.Constant)
                and "optim" in str(node.slice.value).lower()
                and isinstance(node.ctx, ast.Load)
                and self._index.names.bindings(node.value) == packed
            ):
                return node
        return None

    def _is_optimizer(self, argument: ast.arg) -> bool:
        kinds, names = self._index.kinds, self._index.names
        bindings = names.bindings_in(names.scope_of(argument), argument.arg)
        if any(
            binding.node is argument and kinds.binding_value(binding).kind is Kind.OPTIMIZER for binding in bindings
        ):
            return True
        # `self.optimizer = optimizer`: how the attribute is used tells
        for node in self._index.tree.attributes:
            statement = self._index.parent(node)
            if (
                isinstance(statement, ast.Assign)
                and node in statement.targets
                and isinstance(statement.value, ast.Name)
            ):
                found = names.bindings(statement.value)
                if any(binding.node is argument for binding in found):
                    values = [
                        kinds.binding_value(b)
                        for owner in names.attributes.values()
                        for b in owner.get(node.attr, ())
                        if b.node is node
                    ]
                    if any(value.kind is Kind.OPTIMIZER for value in values):
                        return True
        return False
