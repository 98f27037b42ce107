"""Trees that come with each sample, and that a model goes through by calling itself for the parts of a node."""

from __future__ import annotations

import ast

from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


class SampleTrees:
    """Answers about one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._known: dict[tuple[FunctionNode, str], bool] = {}

    def has(self, node: ast.Attribute) -> bool:
        """Whether an attribute is one of a node of such a tree: ``tree.place`` beside ``self.forward(tree.left)``."""
        bindings = self._index.flow.reaching(node.value) if isinstance(node.value, ast.Name) else ()
        if len(bindings) != 1 or bindings[0].kind != "parameter" or not isinstance(bindings[0].statement, FUNCTIONS):
            return False
        key = (bindings[0].statement, bindings[0].name)
        if key not in self._known:
            self._known[key] = self._goes_through(*key)
        return self._known[key]

    def _goes_through(self, function: FunctionNode, name: str) -> bool:
        """Whether a function calls itself for parts of a parameter, and all others give it what each sample brings."""
        index = self._index
        passed = index.definitions.arguments.of(function, name)
        others = [item for item in passed if not (index.tree.encloses(function, item) and _root(item) == name)]
        if len(others) == len(passed):
            return False
        if function.name == "forward":
            others += self._given_to(function, name)
        return bool(others) and all(isinstance(item, ast.Name) and self._is_of_forward(item) for item in others)

    def _given_to(self, forward: FunctionNode, name: str) -> list[ast.expr]:
        """What a forward pass is given where other modules of the file run it."""
        index = self._index
        owner = index.tree.class_of(forward)
        at = [argument.arg for argument in forward.args.args].index(name) - 1
        return [
            call.args[at]
            for call in index.tree.calls
            if isinstance(call.func, ast.Attribute)
            and owner in index.definitions.classes.of_variable(call.func)
            and 0 <= at < len(call.args)
        ]

    def _is_of_forward(self, name: ast.Name) -> bool:
        """Whether a forward pass is given a value: another one for each sample."""
        bindings = self._index.flow.reaching(name)
        functions = [binding.statement for binding in bindings if binding.kind == "parameter"]
        return len(functions) == len(bindings) > 0 and all(
            isinstance(function, FUNCTIONS) and function.name == "forward" for function in functions
        )


def _root(node: ast.expr) -> str:
    """The variable whose part an expression is: of ``tree.children[i]`` it is ``tree``."""
    if not isinstance(node, ast.Attribute | ast.Subscript):
        return ""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
