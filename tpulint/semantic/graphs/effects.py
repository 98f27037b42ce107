"""What statements read, bind and may change: whether one can run behind others."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tpulint.records import NamedTuple
from tpulint.semantic.modules.held_weights import holds_weight
from tpulint.semantic.project.other_files import Definition, definition_called
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.values.contents import key_of
from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 3
_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
_STEP_METHODS = ("backward", "step", "zero_grad", "unscale_", "requires_grad_")
_GRADIENTS = ("torch.autograd.grad", "torch.autograd.backward")
_SET_ONCE = frozenset({"is_main_process", "is_local_main_process"})
"""What Accelerate says of a process, whatever else it is told to do."""
_CHANGING = frozenset({
    "append", "appendleft", "extend", "extendleft", "insert", "pop", "popleft", "popitem", "remove", "discard", "clear",
    "add", "update", "setdefault", "sort", "reverse", "rotate", "subtract", "fill", "put", "resize", "partition",
})  # fmt: skip
"""Methods that change lists, dicts, sets, queues and arrays."""
_RECORDING = frozenset({
    "add_scalar", "add_scalars", "add_histogram", "add_image", "add_images", "add_figure", "add_text", "add_video",
})  # fmt: skip
"""Methods of TensorBoard's writers, which keep a value under its name and the number of its step."""
_TRAINED = (Kind.MODULE, Kind.OPTIMIZER, Kind.SCALER)

_ORDER = "order of keys"
"""Stands for a part of a dict that every new key changes."""

Path = tuple[str, ...]
"""A variable or a part of one: ``("self", "history", "'loss'")`` for ``self.history["loss"]``."""


class Effect(NamedTuple):
    """What one statement has to do with variables, and with the outside."""

    reads: frozenset[Path]
    binds: frozenset[Path]
    changes: frozenset[Path]
    """Objects it may change: receivers of methods, targets of stores, arguments of a call made for its effect."""
    modules: frozenset[Path]
    """Modules it reads."""
    is_output: bool
    is_record: bool
    """Whether it puts out nothing but values with the number of their step: it does not matter which comes first."""
    is_movable: bool
    """Whether running it a little later only changes when its effect is seen."""
    updates: bool
    """Whether it updates parameters, and with them every module."""


class Effects:
    """Works out the effect of statements. Lazy, memoised."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._memo: dict[ast.stmt, Effect] = {}
        self._methods: dict[FunctionNode, frozenset[Path]] = {}
        self._differentiating: dict[ast.AST, bool] = {}
        self._outer: dict[FunctionNode, tuple[frozenset[Path], frozenset[Path]]] = {}

    def of(self, statement: ast.stmt) -> Effect:
        """The effect of running a statement."""
        found = self._memo.get(statement)
        if found is None:
            nodes = [statement, *self._index.tree.inside(statement, functions=True)]
            names = [node for node in nodes if isinstance(node, ast.Name)]
            paths = [self._path_around(name) for name in names if isinstance(name.ctx, ast.Load)]
            reads = {path for path in paths if path[-1] not in _SET_ONCE}
            if isinstance(statement, ast.AugAssign):
                reads.add(path_of(statement.target))
            for function in self._functions_called(nodes):
                reads |= self._of_others(function, 0)[0]
            orders = self._orders_set(nodes) if not isinstance(statement, ast.AugAssign) else set()
            reads |= orders
            trained = [node for node in nodes if isinstance(node, ast.Name | ast.Attribute) and self._is_module(node)]
            outputs = [node for node in nodes if isinstance(node, ast.Call) and self._index.reads.is_output(node)]
            found = self._memo[statement] = Effect(
                frozenset(reads),
                frozenset((name.id,) for name in names if not isinstance(name.ctx, ast.Load)),
                self._changes(statement, nodes, 0) | orders,
                frozenset(map(path_of, trained)),
                bool(outputs),
                all(map(_records, outputs)),
                self._is_movable(statement, nodes),
                bool(self._index.regions.updates_in(statement)),
            )
        return found

    def read_by(self, nodes: Iterable[ast.expr]) -> frozenset[Path]:
        """All that expressions read."""
        every = (name for node in nodes for name in (node, *self._index.tree.inside(node)))
        return frozenset(self._path_around(name) for name in every if isinstance(name, ast.Name))

    def changed_by(self, statements: Iterable[ast.stmt]) -> frozenset[Path]:
        """All that statements bind or may change."""
        return frozenset().union(*(self.of(item).binds | self.of(item).changes for item in statements))

    def clash(self, statement: ast.stmt, others: list[ast.stmt], given: frozenset[Path] = frozenset()) -> bool:
        """Whether a statement does something else, or lets others do so, when it runs behind them.

        What is ``given`` anew in between does not count.
        """
        mine = self.of(statement)
        for other in map(self.of, others):
            if meet(mine.reads - given, other.binds | other.changes) or (other.updates and mine.modules):
                return True
            if meet(mine.binds, other.binds | other.reads) or meet(mine.changes, other.reads):
                return True
        return False

    def trains(self, statement: ast.stmt) -> bool:
        """Whether a statement updates weights, or has to do with their gradients."""
        calls = (node for node in self._index.tree.inside(statement) if isinstance(node, ast.Call))
        methods = (call.func.attr for call in calls if isinstance(call.func, ast.Attribute))
        return self.of(statement).updates or any(method in _STEP_METHODS for method in methods)

    # ---------------------------------------------------------------- variables

    def _path_around(self, name: ast.Name) -> Path:
        """The path of the longest attribute or item that begins with a name."""
        node: ast.expr = name
        parent = self._index.parent(node)
        while isinstance(parent, ast.Attribute) or (isinstance(parent, ast.Subscript) and parent.value is node):
            node, parent = parent, self._index.parent(parent)
        return path_of(node)

    def _is_module(self, node: ast.Name | ast.Attribute) -> bool:
        if not isinstance(node.ctx, ast.Load):
            return False
        return self._index.kind(node) is Kind.MODULE or (isinstance(node, ast.Name) and holds_weight(self._index, node))

    # ---------------------------------------------------------------- changes

    def _changes(self, statement: ast.AST, nodes: list[ast.AST], depth: int) -> frozenset[Path]:
        index = self._index
        result: set[Path] = set()
        for node in nodes:
            if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
                result.add(path_of(node))
            elif isinstance(node, ast.AugAssign) and index.kind(node.target) is Kind.TENSOR:
                result |= index.shared_tensors.others(node.target)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                result |= self._changed_by_method(node, node.func, depth)
        for function in self._functions_called(nodes) if depth < _DEPTH else ():
            result |= self._of_others(function, depth)[1]
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and not (index.qualified_name(call.func) or "").startswith("builtins."):
            # Called for what it does: what it is given may be what it changes.
            result |= {path_of(item) for item in call.args if self._may_be_changed(item)}
        return frozenset(result - {()})

    def _orders_set(self, nodes: list[ast.AST]) -> set[Path]:
        """The orders of keys in dicts that items are put into: that of two of them shows when the dict is printed."""
        stores = (node for node in nodes if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store))
        return {(*path_of(node.value), _ORDER) for node in stores if isinstance(key_of(node), str)}

    def _functions_called(self, nodes: list[ast.AST]) -> list[FunctionNode]:
        calls = (node for node in nodes if isinstance(node, ast.Call))
        found = (self._index.definitions.function_called(call) for call in calls)
        return [function for function in dict.fromkeys(found) if function is not None]

    def _of_others(self, function: FunctionNode, depth: int) -> tuple[frozenset[Path], frozenset[Path]]:
        """What a function reads, and what it may change, of the variables around it: ``history.append(value)``."""
        found = self._outer.get(function)
        if found is None:
            self._outer[function] = frozenset(), frozenset()  # recursion adds nothing
            nodes = list(self._index.tree.inside(function))
            names = [node for node in nodes if isinstance(node, ast.Name)]
            around = [name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names]
            stored = {name.id for name in names if not isinstance(name.ctx, ast.Load)}
            own = (stored | {node.arg for node in nodes if isinstance(node, ast.arg)}) - set(around)
            read = (self._path_around(name) for name in names if name.id not in own and self._is_variable(name))
            changed = self._changes(function, nodes, depth + 1)
            found = self._outer[function] = (
                frozenset(read),
                frozenset(path for path in changed if path[0] not in own) | {(name,) for name in around},
            )
        return found

    def _is_variable(self, name: ast.Name) -> bool:
        """Whether a name is read, and stands for no function, class or module."""
        found = self._index.names.find_name(name) if isinstance(name.ctx, ast.Load) else None
        return found is not None and any(binding.kind not in ("import", "function", "class") for binding in found[1])

    def _may_be_changed(self, argument: ast.expr) -> bool:
        """Whether a function may change what it is given: an object or container, no number or tensor."""
        kind = self._index.kind(argument)
        if kind is Kind.HOST and isinstance(argument, ast.Name):
            return any(isinstance(binding.value, _DISPLAYS) for binding in self._index.flow.reaching(argument))
        return kind not in (Kind.TENSOR, Kind.HOST)

    def _changed_by_method(self, call: ast.Call, func: ast.Attribute, depth: int) -> frozenset[Path]:
        index = self._index
        if index.qualified_name(func) is not None:
            return frozenset()
        kind = index.kind(func.value)
        if not func.attr.endswith("_") and (kind is Kind.TENSOR or (kind is Kind.HOST and func.attr not in _CHANGING)):
            return frozenset()
        receiver = path_of(func.value)
        if _records(call):
            return frozenset()
        if index.flow.reaching_attribute(func):
            return frozenset({(*receiver, func.attr)})  # an object that is called: `self.model(x)`
        method = index.definitions.function_called(call)
        if method is None or not isinstance(func.value, ast.Name) or not method.args.args or depth >= _DEPTH:
            return frozenset({receiver})
        if method not in self._methods:
            self._methods[method] = frozenset()  # recursion adds nothing
            self._methods[method] = self._changes(method, list(index.tree.inside(method)), depth + 1)
        own = method.args.args[0].arg
        return frozenset((*receiver, *path[1:]) for path in self._methods[method] if path[0] == own)

    # ---------------------------------------------------------------- what can move

    def _is_movable(self, statement: ast.stmt, nodes: list[ast.AST]) -> bool:
        if isinstance(statement, ast.If | ast.For):
            if not all(self.of(item).is_movable for item in (*statement.body, *statement.orelse)):
                return False
        elif isinstance(statement, ast.With):
            # The body runs no module, or it would be part of the step.
            if not all(self.of(item).is_movable for item in statement.body):
                return False
        elif not isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Raise | ast.Assert):
            return False  # an error ends the training as `sys.exit()` does
        for node in nodes:
            if isinstance(node, ast.Yield | ast.YieldFrom | ast.Await):
                return False
            if isinstance(node, ast.Attribute) and node.attr == "grad":
                return False  # gradients may be cleared in between
            if isinstance(node, ast.Call) and self._trains(node):
                return False
        return True

    def _trains(self, call: ast.Call) -> bool:
        """Whether a call is part of the step: runs a module, a backward pass, or anything of an optimizer."""
        index = self._index
        if index.kind(call.func) is Kind.MODULE:
            return True
        called = definition_called(index, call)
        if called is not None and self._differentiates(called, 0):
            return True
        if not isinstance(call.func, ast.Attribute):
            return False
        return call.func.attr in _STEP_METHODS or index.kind(call.func.value) in _TRAINED

    def _differentiates(self, run: Definition, depth: int) -> bool:
        """Whether a function takes gradients, itself or by what it calls: the backward pass frees what they need."""
        found = self._differentiating.get(run.node)
        if found is None:
            self._differentiating[run.node] = False  # recursion adds nothing
            tree = run.file.tree
            taking = (*run.file.calls_to(*_GRADIENTS), *tree.attributes_called("backward"))
            takes = any(tree.encloses(run.node, node) for node in taking)
            calls = tree.nodes_in(run.node, ast.Call) if isinstance(run.node, FUNCTIONS) and depth < _DEPTH else []
            further = (definition_called(run.file, call) for call in calls) if not takes else ()
            found = takes or any(one is not None and self._differentiates(one, depth + 1) for one in further)
            self._differentiating[run.node] = found
        return found


def _records(call: ast.Call) -> bool:
    """``writer.add_scalar("loss", loss, step)``"""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _RECORDING:
        return False
    return len(call.args) > 2 or any(keyword.arg == "global_step" for keyword in call.keywords)


def path_of(node: ast.expr) -> Path:
    """The path of a name, attribute or item; of anything else that of what it begins with."""
    parts: list[str] = []
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Subscript):
            # Any item: as much as is known is the whole.
            parts = [*parts, repr(key_of(node))] if key_of(node) is not None else []
            node = node.value
        elif isinstance(node, ast.Call):
            parts, node = [], node.func
            node = node.value if isinstance(node, ast.Attribute) else node
        else:
            return ()
    return (node.id, *reversed(parts))


def meet(some: frozenset[Path], others: frozenset[Path]) -> bool:
    """Whether something is, or is part of, or holds one of the others."""
    for path in some:
        for other in others:
            shorter = min(len(path), len(other))
            if shorter and path[:shorter] == other[:shorter]:
                return True
    return False
