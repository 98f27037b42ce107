"""Functions that modules and tensors are told to call in every pass: ``module.register_forward_hook(note)``."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from tpulint.semantic.batches.collating import with_called
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode, LoopNode, is_of_self
from tpulint.semantic.values.creations import Creation, overlap
from tpulint.semantic.values.value import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.functions.definitions import Definitions
    from tpulint.semantic.syntax.tree import SyntaxTree

_TENSORS = {
    "register_forward_hook": 2, "register_forward_pre_hook": 1, "register_full_backward_pre_hook": 1,
    "register_backward_hook": 2, "register_full_backward_hook": 2, "register_hook": 1,
}  # fmt: skip
"""The methods that register hooks, with how many of the last parameters of a hook are tensors, or tuples of them."""
_PARTS = frozenset({
    "modules", "named_modules", "children", "named_children", "parameters", "named_parameters", "values", "items",
})  # fmt: skip
_DEPTH = 4


def hooks_registered(tree: SyntaxTree, definitions: Definitions) -> Iterator[tuple[ast.Call, FunctionNode]]:
    """Calls that register a function of the file as a hook, with the function."""
    for method in _TENSORS:
        for node in tree.attributes_called(method) if method in tree.source.text else ():
            call = tree.parents[node]
            if isinstance(call, ast.Call) and call.func is node and len(call.args) == 1:
                yield from ((call, function) for function in _meant(definitions, call.args[0]))


def tensors_given(call: ast.Call, hook: FunctionNode) -> list[str]:
    """The parameters of a hook that are tensors where it is registered by a call, or tuples of tensors."""
    assert isinstance(call.func, ast.Attribute)
    positional = [*hook.args.posonlyargs, *hook.args.args]
    return [item.arg for item in positional[-_TENSORS[call.func.attr] :]]


def _meant(definitions: Definitions, node: ast.expr) -> list[FunctionNode]:
    """``note``, ``self.note``, and what ``noting("name")`` returns."""
    made = definitions.function_called(node) if isinstance(node, ast.Call) else None
    values = [node] if made is None else definitions.returned_by(made)
    return [function for value in values for function in definitions.functions_meant(value)]


class RegisteredHooks:
    """The hooks of one file that every step runs, since what is trained has them for good."""

    def __init__(self, index: SemanticIndex, loops: Collection[LoopNode], functions: Collection[FunctionNode]) -> None:
        self._index = index
        self._loops = loops
        """What trains, in every turn."""
        self._functions = functions
        """What every turn of it runs."""
        self._trained: list[Creation] | None = None

    def run(self) -> Iterator[FunctionNode]:
        """The hooks that every step runs, each once."""
        index = self._index
        registered = list(hooks_registered(index.tree, index.definitions))
        if not registered or any(not call.args for call, _ in index.method_calls("remove")):
            return  # `handle.remove()`: for as long as somebody looks
        found = {hook: None for call, hook in registered if self._is_run(call)}
        yield from found

    def _is_run(self, call: ast.Call) -> bool:
        assert isinstance(call.func, ast.Attribute)
        index, holder = self._index, call.func.value
        around = index.function_of(call)
        owner = index.tree.class_of(call)
        if around is not None and around.name == "__init__" and owner is not None and is_of_self(_root(holder)):
            forward = index.definitions.method(owner, "forward")
            return forward in self._functions and not self._is_optional(call)
        return not self._is_optional(call) and self._is_in_front(call, 0) and self._is_of_trained(holder)

    def _is_optional(self, call: ast.expr) -> bool:
        """Whether a condition that asks for no module decides: ``if args.debug:``"""
        tests = (around.test for around in self._index.tree.ancestors(call) if isinstance(around, ast.If))
        options = (test for test in tests if "__name__" not in self._index.text(test))
        return any(not any(isinstance(part, ast.Call) for part in ast.walk(test)) for test in options)

    def _is_in_front(self, call: ast.expr, depth: int) -> bool:
        """Whether a call runs in front of the steps, here or where the function around it is called."""
        index = self._index
        around = index.function_of(call) or index.tree.module
        at = index.span(call).end
        for later in index.tree.nodes_in(around, ast.For, ast.While, ast.Call, functions=False):
            if index.span(later).end <= at:
                continue
            if later in self._loops or (isinstance(later, ast.Call) and later is not call and self._trains(later)):
                return True
        if not isinstance(around, FUNCTIONS) or depth > _DEPTH:
            return False
        return any(
            not self._is_optional(caller) and self._is_in_front(caller, depth + 1)
            for caller in index.definitions.calls_of(around)
        )

    def _trains(self, call: ast.Call) -> bool:
        called = self._index.definitions.function_called(call)
        if called is None:
            return False
        return any(
            part in self._functions or any(loop in self._loops for loop in self._index.tree.nodes_in(part, ast.For))
            for part in with_called(self._index, called, set())
        )

    def _is_of_trained(self, holder: ast.expr) -> bool:
        """Whether hooks of a module, of all of its parts, or of a parameter are those of what is trained."""
        creations = self._index.moves.creations
        if self._trained is None:
            parts = (*self._loops, *self._functions)
            calls = (node for part in parts for node in self._index.tree.nodes_in(part, ast.Call, functions=False))
            called = [call.func for call in calls if isinstance(call, ast.Call)]
            modules = [func for func in called if self._index.kind(func) is Kind.MODULE and not is_of_self(func)]
            self._trained = [creation for func in modules for creation in creations.of(func)]
        wholes = self._wholes(holder, 0)
        return any(overlap(creations.of(whole), self._trained) for whole in wholes)

    def _wholes(self, holder: ast.expr, depth: int) -> Iterator[ast.expr]:
        """The module that a holder of hooks is a part of: ``model`` of ``for module in model.modules()``."""
        index, root = self._index, _root(holder)
        yield holder
        bindings = index.flow.reaching(root) if isinstance(root, ast.Name) and depth < _DEPTH else ()
        for binding in bindings:
            if binding.kind == "loop" and binding.value is not None:
                source = binding.value
                if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute):
                    yield from self._wholes(source.func.value, depth + 1) if source.func.attr in _PARTS else ()
            elif binding.kind == "parameter":
                for call, whole in index.method_calls("apply"):
                    given = call.args[0] if len(call.args) == 1 else None
                    is_same = given is binding.statement or (
                        given is not None and binding.statement in index.definitions.functions_meant(given)
                    )
                    yield from self._wholes(whole, depth + 1) if is_same else ()


def _root(holder: ast.expr) -> ast.expr:
    """``module`` of ``module.layer[0].weight``; ``self.layer`` of what an object keeps."""
    while isinstance(holder, ast.Attribute | ast.Subscript) and not is_of_self(holder):
        holder = holder.value
    return holder
