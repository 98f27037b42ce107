"""Numbers of processes that a parent hands to those it starts."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from tpulint.records import NamedTuple
from tpulint.semantic.functions.passed_over import ends_program
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.processes.launches import Launch

SAYS_HOW_MANY = ("world_size", "num_replicas")
"""Keywords whose value is the number of all processes."""
_SHARING = (ast.Div, ast.FloorDiv)
_ROUNDING = frozenset({"builtins.int", "builtins.max", "builtins.round"})


class Handover(NamedTuple):
    """One number of processes that launched functions get, as an argument or in a namespace such as ``args``."""

    item: ast.expr
    """What stands in the launch's ``args``."""
    parameters: tuple[tuple[FunctionNode, ast.arg], ...]
    """The parameter it arrives in, for each function that may be launched."""
    attribute: str = ""
    """Attribute of the item that holds the number; empty when the item is the number."""


class Passage(NamedTuple):
    """A parameter that takes the number to the launch, and what its callers pass for it."""

    function: FunctionNode
    parameter: ast.arg
    arguments: tuple[tuple[ast.Call, ast.expr | ast.keyword], ...]


class Handovers:
    """What one launch hands over, and what of its file is left without a use when it no longer does."""

    def __init__(self, index: SemanticIndex, launch: Launch) -> None:
        self._index = index
        self._launch = launch
        # However many processes are asked for, that many there are.
        self._counts = index.device_counts.with_seed(launch.arguments.get("nprocs"))
        self.known = launch.passed is not None and bool(launch.functions)
        """Whether it can be told where each number arrives."""
        self.items = self._find() if self.known else []
        self.answers = self._conditions()
        """Comparisons of the number that decide an ``if`` or ``assert`` of the parent, and what they say.

        A machine with several devices is assumed: with a single one, a launch does what its other branch does.
        """

    def _find(self) -> list[Handover]:
        found: list[Handover] = []
        for at, item in enumerate(self._launch.passed or ()):
            attributes = [""] if self._counts.is_count(item) else self._counted_attributes(item)
            if not attributes:
                continue
            parameters = [(function, _parameter(function, at)) for function in self._launch.functions]
            known = tuple((function, parameter) for function, parameter in parameters if parameter is not None)
            self.known = self.known and len(known) == len(parameters)
            found.extend(Handover(item, known, attribute) for attribute in attributes)
        return found

    def _counted_attributes(self, item: ast.expr) -> list[str]:
        """Attributes of a namespace that hold the number."""
        if not isinstance(item, ast.Name):
            return []
        return list(dict.fromkeys(
            node.attr for node in self._index.tree.attributes
            if isinstance(node.value, ast.Name) and node.value.id == item.id
            and (self._counts.is_count(node) or (self._counts.is_multiple(node) and self._says_how_many(node.attr)))
        ))  # fmt: skip

    def _says_how_many(self, attribute: str) -> bool:
        """Whether an attribute is passed where the number of all processes belongs, or was until that was mended."""
        if attribute in SAYS_HOW_MANY:
            return True
        parents = [self._index.parent(load) for load in _attribute_loads(self._index, attribute)]
        return any(isinstance(parent, ast.keyword) and parent.arg in SAYS_HOW_MANY for parent in parents)

    def is_needed(self, handover: Handover, parameter: ast.arg) -> bool:
        """Whether a launched function uses the number."""
        if not handover.attribute:
            scope = self._index.names.scope_of(parameter)
            loads: Sequence[ast.expr] = [
                load for load in self._index.names.loads(parameter.arg, scope) if self._is_handed(load)
            ]
        else:
            loads = [node for node in _attribute_loads(self._index, handover.attribute) if self._is_launched(node)]
        return bool(loads)

    def _is_handed(self, load: ast.Name) -> bool:
        """Whether a variable may still hold what it was handed."""
        reaching = self._index.flow.reaching(load)
        return not reaching or any(binding.kind == "parameter" for binding in reaching)

    def _is_launched(self, node: ast.AST) -> bool:
        return self._index.launches.launch_of(node) is not None

    # ---------------------------------------------------------------- the parent

    @property
    def makings(self) -> list[ast.expr]:
        """Where the parent asks the number for what it hands over: ``parts = split(data, n)``, one for each process."""
        handed = [item for item in self._launch.passed or () if not any(one.item is item for one in self.items)]
        return [node for item in handed for value in self._values(item) for node in self._numbers_in(value)]

    def _values(self, item: ast.expr) -> list[ast.expr]:
        """What an item is: all that a variable of the parent may hold."""
        bindings = self._index.flow.reaching(item) if isinstance(item, ast.Name) else ()
        if not bindings:
            return [item]
        assigned = [binding.value for binding in bindings if binding.kind == "assign" and binding.value is not None]
        return [value for value in assigned if not self._counts.is_count(value)]

    def _numbers_in(self, value: ast.expr) -> list[ast.expr]:
        """The number in a value, but for what it divides: that is told by itself, and is a number again."""
        nodes = [node for node in ast.walk(value) if isinstance(node, ast.Name | ast.Attribute | ast.Call)]
        return [
            node for node in nodes
            if self._counts.is_zero(node) and not isinstance(self._index.parent(node), ast.BinOp | ast.Compare)
        ]  # fmt: skip

    def shares(self, handover: Handover) -> list[ast.Assign]:
        """What the parent divides by the number for each process: ``args.batch_size = args.batch_size // args.n_gpus``.

        Only where launched functions know the namespace by the same name, and the parent at most shows the result.
        """
        item, attribute = handover.item, handover.attribute
        if not isinstance(item, ast.Name) or any(known.arg != item.id for _, known in handover.parameters):
            return []
        loads = _attribute_loads(self._index, attribute) if attribute else []
        users = [self._index.parent(load) for load in loads if not self._is_launched(load)]
        divisions = [node for node in users if isinstance(node, ast.BinOp) and isinstance(node.op, _SHARING)]
        found = {self._index.statement_of(node): node.right for node in divisions if node.right in loads}
        return [one for one, by in found.items() if isinstance(one, ast.Assign) and self._is_share(one, item, by)]

    def _is_share(self, statement: ast.Assign, namespace: ast.Name, divisor: ast.expr) -> bool:
        index, target = self._index, statement.targets[0]
        if not isinstance(target, ast.Attribute) or len(statement.targets) != 1:
            return False
        if not isinstance(target.value, ast.Name) or target.value.id != namespace.id:
            return False
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        if any(node.id != namespace.id and index.qualified_name(node) not in _ROUNDING for node in names):
            return False
        is_launching = index.function_of(statement) is index.function_of(self._launch.call)
        if not is_launching or self._is_early(statement, divisor):
            return False
        branches = [node for node in index.tree.ancestors(statement) if not isinstance(node, (*FUNCTIONS, ast.Module))]
        if not all(isinstance(node, ast.If) and self._is_met(node.test) for node in branches):
            return False
        others = [load for load in _attribute_loads(index, target.attr) if not self._is_launched(load)]
        return all(index.tree.encloses(statement, load) or self._is_shown(load) for load in others)

    def _is_early(self, statement: ast.Assign, divisor: ast.expr) -> bool:
        """Whether the number is set behind a statement only: what it divides by is that of the machines, say."""
        stores = self._counts.attribute_stores(divisor) if isinstance(divisor, ast.Attribute) else []
        return bool(stores) and all(
            self._index.function_of(store) is self._index.function_of(statement)
            and self._index.span(store).start > self._index.span(statement).start
            for store in stores
        )

    def _is_met(self, test: ast.expr) -> bool:
        """Whether a condition asks for GPUs, as all that start processes for them is taken to."""
        asks = isinstance(test, ast.Call) and self._index.qualified_name(test.func) == "torch.cuda.is_available"
        return asks or bool(self._counts.answer(test))

    def _is_shown(self, load: ast.expr) -> bool:
        calls = [node for node in self._index.tree.ancestors(load) if isinstance(node, ast.Call)]
        return any(self._index.reads.is_output(call) for call in calls)

    def _conditions(self) -> dict[ast.expr, bool]:
        found: dict[ast.expr, bool] = {}
        for statement in self._index.tree.parents:
            if isinstance(statement, ast.If | ast.Assert) and not self._is_launched(statement):
                is_turned_down = isinstance(statement, ast.If) and self._turns_down(statement)
                for node in _operands(statement.test):
                    answer = self._counts.answer(node)
                    if answer is not None and not (is_turned_down and answer is not self._is_denied(node, statement)):
                        found[node] = answer
        return found

    def _turns_down(self, condition: ast.If) -> bool:
        """``if n > 1 and not args.distributed: return``: what turns several devices down, and starts nothing itself."""
        last = condition.body[-1]
        if not isinstance(last, ast.Return | ast.Raise) and not ends_program(self._index.names, last):
            return False
        starts = [place for _, place in self._index.moves.places(self._launch.call)]
        return not any(self._lies_in(place, condition.body) for place in starts)

    def _is_denied(self, node: ast.expr, statement: ast.stmt) -> bool:
        """Whether the test of a statement holds where one of its parts does not."""
        between = [one for one in self._index.tree.ancestors(node) if self._index.tree.encloses(statement, one)]
        return sum(isinstance(one, ast.UnaryOp) for one in between) % 2 == 1

    def unread(
        self, gone: Sequence[ast.AST], drops: Callable[[ast.AST], bool]
    ) -> tuple[list[ast.Assign], list[Passage]]:
        """What the parent no longer needs the number for, once these nodes, and what ``drops`` tells, are gone."""
        statements: list[ast.Assign] = []
        passages: list[Passage] = []
        outer = list(gone)
        size = -1
        while len(outer) > size:
            size = len(outer)
            for statement in self._assignments():
                if statement not in statements and self._are_gone(self._loads(statement), outer, drops):
                    statements.append(statement)
                    outer.append(statement)
            for passage in self._passages():
                loads = self._index.names.loads(passage.parameter.arg, self._index.names.scope_of(passage.parameter))
                if passage not in passages and self._are_gone(loads, outer, drops):
                    passages.append(passage)
                    outer.extend(argument for _, argument in passage.arguments)
        return statements, passages

    def _are_gone(self, loads: Sequence[ast.expr], outer: Sequence[ast.AST], drops: Callable[[ast.AST], bool]) -> bool:
        return bool(loads) and all(drops(load) or self._lies_in(load, outer) for load in loads)

    def _passages(self) -> list[Passage]:
        """Parameters of the parent's functions that bring the number on its way to the launch."""
        function = self._index.function_of(self._launch.call)
        if function is None or self._index.tree.class_of(function) is not None:
            return []
        calls = self._index.definitions.calls_of(function)
        if len(self._index.names.loads(function.name, self._index.names.scope_of(function))) != len(calls):
            return []
        found = []
        for at, parameter in enumerate(function.args.args):
            arguments: list[tuple[ast.Call, ast.expr | ast.keyword]] = []
            for call in calls:
                keywords = [keyword for keyword in call.keywords if keyword.arg == parameter.arg]
                if keywords or at < len(call.args):
                    arguments.append((call, keywords[0] if keywords else call.args[at]))
            values = [item.value if isinstance(item, ast.keyword) else item for _, item in arguments]
            if len(arguments) == len(calls) and all(self._counts.is_count(value) for value in values):
                found.append(Passage(function, parameter, tuple(arguments)))
        return found

    def _lies_in(self, node: ast.AST, outer: Sequence[ast.AST]) -> bool:
        return any(self._index.tree.encloses(other, node) for other in outer)

    def _assignments(self) -> list[ast.Assign]:
        """Assignments ``n = torch.cuda.device_count()``, and of that number to other names, in the parent."""
        index = self._index
        nodes: list[ast.Name | ast.Attribute] = [*index.tree.names, *index.tree.attributes]
        statements = [index.parent(node) for node in nodes if isinstance(node.ctx, ast.Store)]
        return [
            statement for statement in statements
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1
            and self._is_plain(statement.value) and not self._is_launched(statement)
        ]  # fmt: skip

    def _is_plain(self, value: ast.expr) -> bool:
        """Whether the number is read off without doing anything else that matters."""
        plain = value in self._index.device_counts.calls or isinstance(value, ast.Name | ast.Attribute)
        return plain and self._index.device_counts.is_count(value)

    def _loads(self, statement: ast.Assign) -> Sequence[ast.expr]:
        index, target = self._index, statement.targets[0]
        if isinstance(target, ast.Name):
            found = index.names.find_name(target)
            if found is None or len(found[1]) != 1:
                return []
            return index.names.loads(target.id, found[0])
        if not isinstance(target, ast.Attribute) or len(index.device_counts.attribute_stores(target)) != 1:
            return []
        # Launched processes get their own number; only reads in the parent count.
        return [node for node in _attribute_loads(index, target.attr) if not self._is_launched(node)]


def _parameter(function: FunctionNode, position: int) -> ast.arg | None:
    parameters = [*function.args.posonlyargs, *function.args.args]
    return parameters[position + 1] if position + 1 < len(parameters) else None


def _operands(test: ast.expr) -> list[ast.expr]:
    """The parts that ``and``, ``or`` and ``not`` join."""
    if isinstance(test, ast.BoolOp):
        return [part for value in test.values for part in _operands(value)]
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _operands(test.operand)
    return [test]


def _attribute_loads(index: SemanticIndex, attribute: str) -> list[ast.Attribute]:
    return [node for node in index.tree.attributes_called(attribute) if isinstance(node.ctx, ast.Load)]
