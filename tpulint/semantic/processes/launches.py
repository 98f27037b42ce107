"""Processes that a file starts: which functions run in them, and what the parent does before."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.functions.passed_over import ends_program
from tpulint.semantic.processes.worker_pools import runs_in_pools
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.torch_facts import RUNTIME
from tpulint.semantic.syntax.tree import SyntaxTree

SPAWN = "torch.multiprocessing.spawn"
START_PROCESSES = "torch.multiprocessing.start_processes"
XMP_SPAWN = "torch_xla.distributed.xla_multiprocessing.spawn"
XLA_LAUNCH = "torch_xla.launch"
RUNTIME_SPAWN = f"{RUNTIME}.spawn"
_PARAMETERS = {
    SPAWN: ("fn", "args", "nprocs", "join", "daemon", "start_method"),
    START_PROCESSES: ("fn", "args", "nprocs", "join", "daemon", "start_method"),
    XMP_SPAWN: ("fn", "args", "nprocs", "join", "daemon", "start_method"),
    XLA_LAUNCH: ("fn", "args", "start_method", "debug_single_process"),
    RUNTIME_SPAWN: ("fn", "args", "nprocs", "join", "daemon", "start_method"),
}
_PROCESSES = ("torch.multiprocessing.Process", "multiprocessing.Process")
_CONTEXTS = ("torch.multiprocessing.get_context", "multiprocessing.get_context")
_CALL_DEPTH = 8


class Launch:
    """One call that runs a function in several processes."""

    __slots__ = ("arguments", "call", "functions", "launcher")

    def __init__(
        self, call: ast.Call, launcher: str, arguments: dict[str, ast.expr], functions: tuple[FunctionNode, ...]
    ) -> None:
        self.call = call
        self.launcher = launcher
        """Qualified name of what is called."""
        self.arguments = arguments
        """Arguments of the call by the launcher's own parameter names."""
        self.functions = functions
        """Functions of this file that may be launched; empty when it is not known which."""

    @property
    def is_xla(self) -> bool:
        """Whether torch_xla starts the processes, one for each chip."""
        return self.launcher in (XMP_SPAWN, XLA_LAUNCH, RUNTIME_SPAWN)

    @property
    def starts_processes(self) -> bool:
        """Whether torch_xla starts a process for each chip, not one call in this process."""
        alone = self.arguments.get("nprocs") or self.arguments.get("debug_single_process")
        if self.launcher == RUNTIME_SPAWN:
            return True  # however many are asked for
        return self.is_xla and not (isinstance(alone, ast.Constant) and alone.value)

    def passed_for(self, function: FunctionNode, name: str) -> ast.expr | None:
        """What the processes get for a parameter of the function that they run, behind the index of each."""
        parameters = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        if name not in parameters[1:] or self.passed is None:
            return None
        at = parameters.index(name) - 1
        return self.passed[at] if at < len(self.passed) else None

    @property
    def passed(self) -> list[ast.expr] | None:
        """What each process gets behind its index; None when it cannot be read off."""
        given = self.arguments.get("args")
        if given is None:
            return []
        if not isinstance(given, ast.Tuple | ast.List) or any(isinstance(item, ast.Starred) for item in given.elts):
            return None
        return given.elts


class Launches:
    """All launches of one file. Cheap when there are none."""

    def __init__(self, tree: SyntaxTree, names: Names, definitions: Definitions) -> None:
        self._tree = tree
        self._names = names
        self._definitions = definitions
        self.launches = [launch for call in names.calls_to(*_PARAMETERS) if (launch := self._launch(call)) is not None]
        self._launched: dict[FunctionNode, Launch] = {}
        for launch in self.launches:
            for function in self.closure(launch.functions):
                self._launched.setdefault(function, launch)

    def __bool__(self) -> bool:
        return bool(self.launches)

    # ---------------------------------------------------------------- finding launches

    def _launch(self, call: ast.Call) -> Launch | None:
        launcher = self._names.qualified(call.func)
        if launcher is None or launcher not in _PARAMETERS or any(isinstance(item, ast.Starred) for item in call.args):
            return None
        if any(keyword.arg is None for keyword in call.keywords):
            return None
        arguments = dict(zip(_PARAMETERS[launcher], call.args, strict=False))
        arguments.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None})
        function = arguments.get("fn")
        return Launch(call, launcher, arguments, tuple(self._functions_meant(function)) if function is not None else ())

    def _functions_meant(self, node: ast.expr, depth: int = 0) -> Iterator[FunctionNode]:
        """Functions of this file that an expression may stand for, looking through partial() and parameters."""
        if depth > 3:
            return
        if isinstance(node, ast.Call) and self._names.qualified(node.func) == "functools.partial" and node.args:
            yield from self._functions_meant(node.args[0], depth + 1)
        if not isinstance(node, ast.Name):
            return
        for binding in self._names.bindings(node):
            if isinstance(binding.node, FUNCTIONS):
                yield binding.node
            elif binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
                for argument in self._definitions.arguments.of(binding.statement, binding.name):
                    yield from self._functions_meant(argument, depth + 1)

    def closure(self, functions: tuple[FunctionNode, ...]) -> list[FunctionNode]:
        """The functions and what they run in turn; of a class they make an instance of, every method."""
        found: list[FunctionNode] = []
        waiting = list(functions)
        while waiting:
            function = waiting.pop()
            if function in found:
                continue
            found.append(function)
            for node in self._tree.inside(function):
                if isinstance(node, FUNCTIONS):
                    waiting.append(node)
                elif isinstance(node, ast.Call):
                    waiting.extend(self._run_by(node))
        return found

    def _run_by(self, call: ast.Call) -> list[FunctionNode]:
        """Functions of this file that a call runs, or will run through the object it makes."""
        function = self._definitions.function_called(call)
        if function is not None:
            return [function]
        owner = self._definitions.class_called(call)
        return [item for item in owner.body if isinstance(item, FUNCTIONS)] if owner is not None else []

    # ---------------------------------------------------------------- queries

    def started_by_hand(self) -> Iterator[tuple[ast.Call, list[FunctionNode]]]:
        """Calls ``Process(target=fn)``, each with the functions of this file that run in the process."""
        for call in (*self._names.calls_to(*_PROCESSES), *self._made_in_contexts()):
            target = next((keyword.value for keyword in call.keywords if keyword.arg == "target"), None)
            if target is not None:
                yield call, self.closure(tuple(self._functions_meant(target)))

    def _made_in_contexts(self) -> Iterator[ast.Call]:
        """``context.Process(target=fn)`` of ``context = torch.multiprocessing.get_context("spawn")``"""
        for node in self._tree.attributes_called("Process") if "get_context" in self._tree.source.text else ():
            call = self._tree.parents.get(node)
            bindings = self._names.bindings(node.value) if isinstance(node.value, ast.Name) else []
            made = [binding.value for binding in bindings] or [node.value]
            are_contexts = all(
                isinstance(one, ast.Call) and self._names.qualified(one.func) in _CONTEXTS for one in made
            )
            if isinstance(call, ast.Call) and call.func is node and are_contexts:
                yield call

    def run_in_pools(self) -> Iterator[tuple[ast.Call, list[FunctionNode]]]:
        """Calls ``pool.map(fn, values)``, each with the functions of this file that run in the processes."""
        for call, function in runs_in_pools(self._tree, self._names):
            yield call, self.closure(tuple(self._functions_meant(function)))

    def launch_of(self, node: ast.AST) -> Launch | None:
        """The launch in whose processes the node runs."""
        if not self.launches:
            return None
        for ancestor in (node, *self._tree.ancestors(node)):
            if isinstance(ancestor, FUNCTIONS) and ancestor in self._launched:
                return self._launched[ancestor]
        return None

    def is_only_launched(self, function: FunctionNode, drops: Callable[[ast.AST], bool] | None = None) -> bool:
        """Whether the file uses a launched function for nothing else, not counting uses that ``drops`` tells."""
        loads = self._names.loads(function.name, self._names.scope_of(function))
        return sum(drops is None or not drops(load) for load in loads) == 1

    def before(self, call: ast.Call) -> list[ast.AST]:
        """Nodes that a process runs before this call, in its function, in its callers and in what these call."""
        found: list[ast.AST] = []
        places: list[ast.AST] = [call]
        seen: list[ast.AST] = []
        while places:
            place = places.pop()
            if place in seen or len(seen) > _CALL_DEPTH:
                continue
            seen.append(place)
            function = self._tree.function_of(place)
            for node in self._preceding(place, function or self._tree.module):
                found.append(node)
                if isinstance(node, ast.Call):
                    found.extend(self._inner(node))
            if function is not None:
                places.extend(self._definitions.calls_of(function))
        return list(dict.fromkeys(found))

    def is_before_any(self, call: ast.Call) -> bool:
        """Whether the parent runs a call before it starts processes, and the processes run it, too.

        What stands in no function runs in each process that is started. What the parent alone runs can go.
        """
        if not self.launches or not any(call in self.before(launch.call) for launch in self.launches):
            return False
        if self._tree.function_of(call) is None:
            return not self._definitions.is_of_main(call)
        return self.launch_of(call) is not None

    def _preceding(self, place: ast.AST, scope: ast.AST) -> Iterator[ast.AST]:
        """Nodes of the same scope that stand above a place and do not exclude it.

        As those do that are in another branch of the same ``if``, or in one that leaves: ``if alone: run(0); return``.
        """
        at = self._tree.start(place)
        others = self._other_branches(place)
        stack = [scope]
        while stack:
            current = stack.pop()
            for child in ast.iter_child_nodes(current):
                if isinstance(child, (*FUNCTIONS, ast.Lambda)) or child in others:
                    continue
                if isinstance(child, ast.expr) and self._tree.end(child) <= at:
                    yield child
                stack.append(child)

    def _other_branches(self, place: ast.AST) -> set[ast.AST]:
        others: set[ast.AST] = set()
        child = place
        for ancestor in self._tree.ancestors(place):
            if isinstance(child, ast.stmt):
                for branch in self._tree.suite_of(child)[: self._tree.position_of(child)]:
                    ways = (branch.body, branch.orelse) if isinstance(branch, ast.If) else ()
                    others.update(statement for way in ways if way and self._leaves(way[-1]) for statement in way)
            if isinstance(ancestor, FUNCTIONS):
                break
            if isinstance(ancestor, ast.If):
                if self._tree.in_body(ancestor, child):
                    others.update(ancestor.orelse)
                elif child in ancestor.orelse:
                    others.update(ancestor.body)
            child = ancestor
        return others

    def _leaves(self, statement: ast.stmt) -> bool:
        """``return``, ``raise``, ``sys.exit()``"""
        return ends_program(self._names, statement) or isinstance(statement, ast.Return | ast.Raise)

    def _inner(self, call: ast.Call) -> list[ast.AST]:
        function = self._definitions.function_called(call)
        owner = self._definitions.class_called(call)
        if owner is not None:
            function = self._definitions.method(owner, "__init__")
        if function is None:
            return []
        result: list[ast.AST] = []
        for inner in self.closure((function,)):
            result.extend(self._tree.inside(inner, functions=False))
        return result
