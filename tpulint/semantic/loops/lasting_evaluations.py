"""Evaluations in the turns of a training loop that leave the model in evaluation mode, which nothing there undoes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.semantic.project.other_files import Definition, definition_called
from tpulint.semantic.syntax.nodes import FUNCTIONS, LOOPS, FunctionNode, LoopNode
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_HOPS = 3
"""Calls that a model is followed through."""
_PUT_BACK = r"\.train\((?!\s*(?:mode\s*=\s*)?False\b)|\.training\b|\byield\b|set_mode|train_mode|mode\s*=\s*.train"
"""What stands in code that undoes an evaluation mode, or may."""
_TRAINS = r"(?i)train|\bfit|mode(?!l)|phase"
"""Words in names of functions that may do so, of which the code is not in sight."""


def is_switched_off(call: ast.Call) -> bool:
    """``eval()`` or ``train(False)``."""
    modes = [*call.args, *(item.value for item in call.keywords)]
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("eval", "train"):
        return False
    if call.func.attr == "eval":
        return not modes
    return len(modes) == 1 and isinstance(modes[0], ast.Constant) and modes[0].value is False


class LastingEvaluations:
    """Answers about one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def around(self, call: ast.Call, depth: int = 0) -> Iterator[tuple[ast.Call, str, ast.expr | None]]:
        """Calls in a loop around this one after which a model is in evaluation mode in all turns to come; with the
        name of the model there, and what to ask of its class."""
        tree, function = self._index.tree, self._index.function_of(call)
        around = [item for item in tree.ancestors(call) if isinstance(item, LOOPS)]
        for loop in (item for item in around if tree.function_of(item) is function):
            if self._is_put_back(loop):
                return
            for other in tree.nodes_in(loop, ast.Call, functions=False):
                if not tree.encloses(other, call) and self._goes_on(other, loop):
                    for name, model in self._left_by(Definition(self._index, tree.module), other).items():
                        if not self._is_bound_in(loop, name):
                            yield other, name, model
        if isinstance(function, FUNCTIONS) and depth < _HOPS and not self._says_put_back(self._index.text(function)):
            for caller in self._index.definitions.calls_of(function):
                yield from self.around(caller, depth + 1)

    # ---------------------------------------------------------------- what an evaluation leaves

    def _left_by(self, file: Definition, call: ast.Call, depth: int = 0) -> dict[str, ast.expr | None]:
        """Models that a call leaves in evaluation mode, by what they are called where it stands."""
        index = file.file
        if is_switched_off(call) and isinstance(call.func, ast.Attribute):
            model = call.func.value
            is_model = isinstance(model, ast.Name | ast.Attribute)
            return {index.text(model): model} if is_model and index.kind(model) in (Kind.MODULE, Kind.UNKNOWN) else {}
        found = definition_called(index, call)
        if found is None or depth == _HOPS or not isinstance(found.node, FUNCTIONS):
            return {}
        left: dict[str, ast.expr | None] = {}
        for inner in found.file.tree.nodes_in(found.node, ast.Call, functions=False):
            if _is_always_run(found.file, inner, found.node):
                for name, left_model in self._left_by(found, inner, depth + 1).items():
                    root, _, rest = name.partition(".")
                    given = _given_for(found, call, root)
                    if given is not None and not _is_copied(found, root):
                        left[index.text(given) + (f".{rest}" if rest else "")] = None if rest else given
                    elif given is None and found.file is index and not _binds(found, root):
                        left[name] = left_model
        return left

    def _goes_on(self, call: ast.Call, loop: LoopNode) -> bool:
        """Whether turns follow behind a call: its block does not leave the loop, and is not that of the last turn."""
        tree = self._index.tree
        node: ast.AST = tree.statement_of(call)
        while node is not loop:
            if isinstance(node, ast.stmt) and isinstance(tree.suite_of(node)[-1], ast.Return | ast.Break | ast.Raise):
                return False
            above = tree.parent(node)
            if isinstance(above, ast.If):
                test = above.test
                is_now_and_then = "%" in self._index.text(test)
                last = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq)
                if "exit(" in self._index.text(above) or (not is_now_and_then and (last or is_switched_off(call))):
                    return False
            if above is None or isinstance(above, (*FUNCTIONS, ast.Lambda)):
                return False
            node = above
        return True

    def _is_bound_in(self, loop: LoopNode, model: str) -> bool:
        """Whether a loop makes a model anew: ``model = Net()``, but not ``model = model.to(device)``."""
        tree, owner = self._index.tree, self._index.tree.class_of(loop)
        stored: list[ast.AST] = [
            node
            for node in tree.inside(loop, functions=False)
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store)
            if self._index.text(node) == model
        ]
        if model.startswith("self.") and owner is not None:
            attribute = model.removeprefix("self.").partition(".")[0]
            bindings = self._index.names.attribute_bindings(owner, attribute)
            elsewhere = ((binding.node, tree.function_of(binding.node)) for binding in bindings)
            stored += [node for node, within in elsewhere if within is not None and within.name != "__init__"]
        statements = map(tree.statement_of, stored)
        return not all(
            isinstance(item, ast.Assign) and self._index.text(item.value).startswith(f"{model}.") for item in statements
        )

    # ---------------------------------------------------------------- what undoes it

    def _is_put_back(self, loop: LoopNode) -> bool:
        if self._says_put_back(self._index.text(loop)):
            return True
        calls = self._index.tree.nodes_in(loop, ast.Call, functions=False)
        seen: set[ast.AST] = set()
        return any(self._may_put_back(self._index, call, seen) for call in calls)

    def _may_put_back(self, index: SemanticIndex, call: ast.Call, seen: set[ast.AST]) -> bool:
        found = definition_called(index, call)
        if found is None:
            func = call.func
            is_of_torch = (index.qualified_name(func) or "").startswith(("torch.", "builtins."))
            return not is_of_torch and re.search(_TRAINS, last_name(func)) is not None
        if found.node in seen:
            return False
        seen.add(found.node)
        if self._says_put_back(found.file.text(found.node)):
            return True
        calls = found.file.tree.nodes_in(found.node, ast.Call)
        return any(self._may_put_back(found.file, inner, seen) for inner in calls)

    @staticmethod
    def _says_put_back(text: str) -> bool:
        return re.search(_PUT_BACK, text) is not None


def _is_always_run(index: SemanticIndex, call: ast.Call, function: FunctionNode) -> bool:
    """Whether no branch of a function leads past a call."""
    around = (item for item in index.tree.ancestors(call) if index.tree.encloses(function, item))
    return not any(isinstance(item, ast.If | ast.IfExp | ast.ExceptHandler | ast.Lambda) for item in around)


def _given_for(function: Definition, call: ast.Call, name: str) -> ast.expr | None:
    """The variable that a call gives for a parameter: ``model`` of ``evaluate(loader, model)``."""
    assert isinstance(function.node, FUNCTIONS)
    names = [item.arg for item in (*function.node.args.posonlyargs, *function.node.args.args)]
    given: ast.expr | None = next((item.value for item in call.keywords if item.arg == name), None)
    if given is None and name in names:
        is_method = function.file.tree.class_of(function.node) is not None and isinstance(call.func, ast.Attribute)
        at = names.index(name) - is_method
        if at < 0 and isinstance(call.func, ast.Attribute):
            given = call.func.value
        elif at < len(call.args) and not any(isinstance(item, ast.Starred) for item in call.args):
            given = call.args[at]
    return given if isinstance(given, ast.Name | ast.Attribute) else None


def _binds(function: Definition, name: str) -> bool:
    """Whether a name is one of the function's own."""
    assert isinstance(function.node, FUNCTIONS)
    owns = function.file.tree.inside(function.node)
    return any(
        (isinstance(item, ast.Name) and item.id == name and isinstance(item.ctx, ast.Store))
        or (isinstance(item, ast.arg) and item.arg == name)
        for item in owns
    )


def _is_copied(function: Definition, name: str) -> bool:
    """Whether a function puts another object in the place of what it is given: ``model = copy.deepcopy(model)``."""
    assert isinstance(function.node, FUNCTIONS)
    word = re.escape(name)
    body = (function.file.text(statement) for statement in function.node.body)
    return any(re.search(rf"(?<![\w.]){word}\s*=(?!=)(?!\s*{word}\.)", text) for text in body)
