"""What functions of the project give: returned or yielded, in this file or in another."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cached_property, partial

from tpulint.semantic.functions.default_flags import Branches
from tpulint.semantic.functions.definitions import Definitions, is_abstract
from tpulint.semantic.functions.passed_arguments import arguments_given, defaults_of, values_given
from tpulint.semantic.project.imported import Imported
from tpulint.semantic.project.other_files import Definition, method, returned, unpacked
from tpulint.semantic.syntax.circles import Circles
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.value import LARGEST_DEPTH, UNKNOWN, Kind, Path, Side, Value, is_cpu, join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.functions.passing import Passing
    from tpulint.semantic.values.kinds import Kinds

_YIELDS = (ast.Yield, ast.YieldFrom)
_Question = tuple[str, FunctionNode, Path]
"""What is asked of a function, and of which part of it."""


class FunctionValues:
    """Lazy and memoised. A function that returns what it returns itself adds nothing."""

    def __init__(
        self,
        kinds: Kinds,
        tree: SyntaxTree,
        names: Names,
        flow: Flow,
        definitions: Definitions,
        imported: Imported,
        circles: Circles,
    ) -> None:
        self._kinds = kinds
        self._tree = tree
        self._names = names
        self._flow = flow
        self._definitions = definitions
        self._imported = imported
        self._circles = circles
        self._answers: dict[_Question, Value] = {}
        self._generators: dict[FunctionNode, bool] = {}

    def by_import(self, node: ast.Call, path: Path, depth: int) -> Value:
        """What a call of a definition in another file gives, or the part of it that a path says."""
        found = self._imported.all_called(node)
        if not found or depth > LARGEST_DEPTH - 3:
            return UNKNOWN
        given = join(self.given_by(called, node, path, depth) for called in found)
        kept = self._kinds.kept.shown(node, depth) if given.kind in (Kind.UNKNOWN, Kind.HOST) and not path else UNKNOWN
        return given if kept.kind is Kind.UNKNOWN else kept

    def given_by(self, called: Definition, node: ast.Call, path: Path, depth: int) -> Value:
        other = called.file.kinds
        if isinstance(called.node, ast.ClassDef):
            return UNKNOWN if path else other.instance(called.node)
        if not isinstance(called.node, FUNCTIONS):
            return UNKNOWN
        moved = self._moved(called, node, path, depth)
        if moved is not None:
            return moved
        chosen = None if path else self.chosen(other.functions.passing, called.node, node, depth + 2)
        if chosen is not None:
            return chosen._replace(certain=False)
        found = other.functions.returned(called.node, path, depth + 2)
        value = found._replace(certain=False)
        if value.kind is Kind.HOST and not path and any(_is_dict(called, item) for item in returned(called)):
            return UNKNOWN  # `{"loss": loss}`: what is in it is another matter
        if value.kind is Kind.HOST and not path and _reduced(called):
            value = UNKNOWN
        if found.kind in (Kind.HOST, Kind.NUMPY) and not found.certain and not path:
            passed = self._passed(called, called.node, node, path, depth)
            if passed is not None and passed.kind is Kind.TENSOR:  # `x.clone() if torch.is_tensor(x) else np.copy(x)`
                return passed._replace(certain=False)
        if value.kind is Kind.UNKNOWN and len(path) == 1:
            passed = self._passed(called, called.node, node, path, depth)
            if passed is not None and passed.kind is Kind.TENSOR:
                return passed._replace(certain=False)  # `x, mask = with_mask(x)`
        if value.kind in (Kind.UNKNOWN, Kind.TENSOR) and not path:
            passed = self._passed(called, called.node, node, path, depth)
            # What `move(x)` gives in its own file, where it is given tensors, says nothing of a model.
            if passed is not None and (value.kind is Kind.UNKNOWN or passed.kind is Kind.MODULE):
                is_number = passed.kind in (Kind.HOST, Kind.NUMPY) and value.kind is Kind.UNKNOWN
                if not is_number or not other.functions.passing.is_beside_others(called.node):
                    return passed._replace(certain=False)
        return self.beside(value, node, called, depth)

    def chosen(self, passing: Passing, function: FunctionNode, node: ast.Call, depth: int) -> Value | None:
        """What ``default(mask, other)`` gives, which hands back one of its arguments, whatever other calls give it.

        What stands in for a missing value is of its kind: where kinds differ, neither is known.
        """
        names = passing.choice(function)
        if not names:
            return None
        given = [item for name, item in arguments_given(node, function, False) if name in names]
        if function.args.vararg is not None and function.args.vararg.arg in names:
            given += node.args[len(function.args.posonlyargs) + len(function.args.args) :]
        values = [self._kinds.value(item, depth) for item in given]
        known = [value for value in values if value.kind is not Kind.UNKNOWN]
        alike = len({value.kind for value in known}) == 1
        # A guess beside what nobody knows says nothing: `default(query_len, seqlen)`
        return join(values) if alike and (known == values or known[0].certain) else UNKNOWN

    def _moved(self, called: Definition, node: ast.Call, path: Path, depth: int) -> Value | None:
        """What a call gives to a function of another file that hands it back on the device: ``to_cuda(batch)``."""
        assert isinstance(called.node, FUNCTIONS)
        parameter = called.file.kinds.functions.passing.moved(called.node, path)
        if parameter is None or any(isinstance(item, ast.Constant) and item.value == "cpu" for item in node.args):
            return None
        is_method = called.file.tree.class_of(called.node) is not None
        for name, item in arguments_given(node, called.node, is_method):
            if name == parameter:
                value = self._kinds.elements.part(item, path, depth + 2)
                if value.kind is Kind.TENSOR:
                    return Value(Kind.TENSOR, Side.DEVICE, certain=False)
                return value._replace(certain=False) if value.kind is Kind.MODULE else None
        return None

    def _passed(
        self, called: Definition, function: FunctionNode, node: ast.Call, path: Path, depth: int
    ) -> Value | None:
        """What a call gives to a function of another file that hands it back, by itself or beside other values."""
        parameter = called.file.kinds.functions.passing.parameter(function, path)
        parameter = parameter if parameter is not None or path else _reduced(called)
        is_method = called.file.tree.class_of(function) is not None
        for name, item in arguments_given(node, function, is_method) if parameter is not None else ():
            if name == parameter:
                return self._kinds.value(item, depth + 2)
        return None

    def gives_moved(self, node: ast.expr) -> bool:
        """Whether a call runs a function, of this file or another, that moves what it gives: ``unpack(x, device)``."""
        if not isinstance(node, ast.Call) or any(self._kinds.sides.is_host(item) for item in values_given(node)):
            return False
        here = self._definitions.function_called(node)
        if here is not None:
            return self.passing.gives_moved(here) and not _is_left_on_host(here, node, self._tree.takes_object(here))
        others = self._imported.all_called(node)
        return bool(others) and all(
            isinstance(one.node, FUNCTIONS)
            and not _is_left_on_host(one.node, node, one.file.tree.takes_object(one.node))
            and one.file.kinds.functions.passing.gives_moved(one.node)
            for one in others
        )

    def given_here(self, function: FunctionNode, node: ast.Call, path: Path, depth: int) -> Value:
        """What a call of a function of this file gives, or a part of it: where its own arguments are.

        Tensors of both sides cannot be calculated with: a function that moves none gives what lies where these do.
        """
        value = self.returned(function, path, depth)
        if value.kind is not Kind.TENSOR or not self.passing.moves_nothing(function):
            return value
        given = [self._kinds.value(item, depth + 2) for item in values_given(node)]
        is_sure = value.certain and value.side is not Side.UNKNOWN
        if not is_sure and all(item.kind in (Kind.UNKNOWN, Kind.HOST) for item in given):
            return UNKNOWN  # it makes none, and others may give it one
        return _beside_given(value, given, is_sure)

    def given_by_any(self, node: ast.Call, path: Path, depth: int) -> Value:
        """What a call gives that runs one of several functions of this file, where all give the like."""
        several = self._definitions.functions_of_several(node)
        # The only one that is known, as a default is, need not be the one that runs.
        values = [self.given_here(one, node, path, depth) for one in several] if len(several) > 1 else [UNKNOWN]
        is_known = all(value.kind is not Kind.UNKNOWN for value in values)
        return join(values)._replace(certain=False) if is_known else UNKNOWN

    def beside(self, value: Value, node: ast.Call, called: Definition, depth: int) -> Value:
        """What a function of another file gives, on the device where it is given something of that."""
        if value.kind in (Kind.TENSOR, Kind.DISTRIBUTION) and value.side is not Side.DEVICE:
            # The other file alone does not tell where its parameters live.
            assert isinstance(called.node, FUNCTIONS)
            given = values_given(node)
            stays = value.side is Side.UNKNOWN or called.file.kinds.functions.passing.stays(called.node)
            if stays and (
                self._is_of_module(node.func, depth) or any(self._kinds.holds_device(i, depth) for i in given)
            ):
                return value._replace(side=Side.DEVICE)
        elif (
            value.kind is Kind.TENSOR
            and isinstance(called.node, FUNCTIONS)
            and called.file.kinds.functions.passing.moves_nothing(called.node)
        ):
            # Others may give it what lies on the device.
            return _beside_given(value, [self._kinds.value(item, depth + 2) for item in values_given(node)], True)
        return value

    def _is_of_module(self, func: ast.expr, depth: int) -> bool:
        """Whether a method belongs to a module, in a file that puts modules on a device."""
        owner = func.value if isinstance(func, ast.Attribute) else None
        return owner is not None and self._kinds.mentions_device and self._kinds.value(owner, depth).kind is Kind.MODULE

    @cached_property
    def passing(self) -> Passing:
        """Functions of the file that give back what they are given."""
        from tpulint.semantic.functions.passing import Passing

        return Passing(self._tree, self._names, self._flow, self._definitions)

    def returned(self, function: FunctionNode, path: Path, depth: int) -> Value:
        """Value (or unpacked part) that a function of this file returns."""
        return self.answer(("returned", function, path), partial(self._find_returned, function, path), depth)

    def yielded(self, function: FunctionNode, path: Path, depth: int) -> Value:
        """Value (or unpacked part) of what a generator function of this file yields."""
        return self.answer(("yielded", function, path), partial(self._find_yielded, function, path), depth)

    def answer(self, key: _Question, find: Callable[[int], Value], depth: int) -> Value:
        """The answer to a question about a function, which is looked for once."""
        if depth > LARGEST_DEPTH - 3:
            return UNKNOWN
        found = self._answers.get(key)
        if found is not None:
            if self._circles.are_open:
                self._circles.use(key)
            return found
        self._answers[key] = UNKNOWN  # a function that gives what it gives itself adds nothing
        outer = self._circles.enter(key)
        result = find(depth)
        self._circles.leave(self._answers, key, result, outer)
        return result

    def _find_returned(self, function: FunctionNode, path: Path, depth: int) -> Value:
        nodes = self._tree.nodes_in(function, ast.Return, functions=False)
        if self.yields(function):
            return UNKNOWN
        replacing = self._definitions.overriding(function) if is_abstract(function) else []
        if replacing:
            return join(self.returned(one, path, depth + 1) for one in replacing)._replace(certain=False)
        branches = Branches(self._tree, self._names)
        given = [node.value for node in nodes if node.value is not None and not branches.leave_out(node)]
        given = unpacked(given) if path else given
        values = [self._kinds.elements.part(item, path, depth + 2) for item in given]
        joined = join(values if path else self._kinds.branches.without_numbers(given, values))
        if (
            joined.kind is Kind.TENSOR
            and joined.side is Side.UNKNOWN
            and function.name == "forward"
            and self._kinds.mentions_device
        ):
            return joined._replace(side=Side.DEVICE)
        return joined

    def generator_called(self, call: ast.Call) -> tuple[FunctionValues, FunctionNode] | None:
        """The generator function that a call starts, with what is known of its file."""
        function = self._definitions.function_called(call)
        if function is not None:
            return (self, function) if self.yields(function) else None
        return generator_of(self._imported.called(call))

    def iterated(self, node: ast.expr) -> tuple[FunctionValues, FunctionNode] | None:
        """The generator ``__iter__`` of the class that an expression gives an instance of: ``Prefetcher(loader)``."""
        here = self._definitions.classes.made(node)
        if here:
            function = self._definitions.method(here[0], "__iter__") if len(here) == 1 else None
            return (self, function) if function is not None and self.yields(function) else None
        owner = self._imported.class_of(node)
        return None if owner is None else generator_of(method(owner, "__iter__"))

    def iterated_by(self, function: FunctionNode) -> set[str]:
        """Names of the variables that the loops of a function of this file go over, by themselves or in a call."""
        loops = self._tree.nodes_in(function, ast.For, ast.AsyncFor, functions=False)
        sources = [loop.iter for loop in loops if isinstance(loop, ast.For | ast.AsyncFor)]
        return {node.id for source in sources for node in ast.walk(source) if isinstance(node, ast.Name)}

    def yields(self, function: FunctionNode) -> bool:
        """Whether a function is a generator."""
        found = self._generators.get(function)
        if found is None:
            found = self._generators[function] = bool(self._tree.nodes_in(function, *_YIELDS, functions=False))
        return found

    def _find_yielded(self, function: FunctionNode, path: Path, depth: int) -> Value:
        values = []
        for node in self._tree.nodes_in(function, *_YIELDS, functions=False):
            if isinstance(node, ast.Yield) and node.value is not None:
                values.append(self._kinds.elements.part(node.value, path, depth + 2))
            elif isinstance(node, ast.YieldFrom):
                values.append(self._kinds.elements.element(node.value, path, depth + 2))
        return join(values)._replace(certain=False)


def _beside_given(value: Value, given: list[Value], is_sure: bool) -> Value:
    """A tensor of a function that moves nothing, on the side of those that a call gives it.

    What is sure otherwise is not where others are, unless all that the call gives is known.
    """
    tensors = [item for item in given if item.kind is Kind.TENSOR]
    sides = {item.side for item in tensors}
    are_known = Side.UNKNOWN not in sides and all(item.kind is not Kind.UNKNOWN for item in given)
    if not sides - {Side.UNKNOWN} or (is_sure and not are_known):
        return value
    return value._replace(side=Side.DEVICE if Side.DEVICE in sides else Side.HOST, certain=False)


def generator_of(called: Definition | None) -> tuple[FunctionValues, FunctionNode] | None:
    """A definition of another file with what is known of that file, if it is a generator function."""
    if called is None or not isinstance(called.node, FUNCTIONS):
        return None
    values = called.file.kinds.functions
    return (values, called.node) if values.yields(called.node) else None


def _is_left_on_host(function: FunctionNode, call: ast.Call, is_method: bool) -> bool:
    """Whether a call leaves ``device="cpu"`` of a function as it is."""
    left = {name for name, value in defaults_of(function).items() if is_cpu(value)}
    return not left <= {name for name, _ in arguments_given(call, function, is_method)}


def _reduced(called: Definition) -> str | None:
    """The dictionary of values that a function of another file adds up over all processes, or gives back for one."""
    given: list[str] = []
    for value in returned(called):
        bindings = called.file.names.bindings(value) if isinstance(value, ast.Name) else []
        if bindings and isinstance(value, ast.Name) and all(binding.kind == "parameter" for binding in bindings):
            given.append(value.id)
        elif not all(isinstance(item, ast.Dict | ast.DictComp) for item in [b.value for b in bindings] or [value]):
            return None
    return given[0] if len(given) == 1 else None


def _is_dict(called: Definition, node: ast.expr) -> bool:
    return isinstance(node, ast.Dict) or (
        isinstance(node, ast.Call) and called.file.qualified_name(node.func) == "builtins.dict"
    )
