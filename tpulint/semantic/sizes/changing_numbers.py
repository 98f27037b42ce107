"""Numbers of the host that differ from one turn of a step or evaluation loop to the next."""

from __future__ import annotations

import ast

from tpulint.semantic.batches.sample_trees import SampleTrees
from tpulint.semantic.loops.numbered_turns import numbers_turns
from tpulint.semantic.loops.turn_code import EVALUATION, STEP
from tpulint.semantic.project.outside import qualified_in_file
from tpulint.semantic.sizes.capped_numbers import goes_to_bound
from tpulint.semantic.sizes.drawn_arrays import DrawnArrays
from tpulint.semantic.sizes.drawn_numbers import drawn_places, drawn_tensor, draws_one, is_draw
from tpulint.semantic.sizes.growing_numbers import adds_to_itself, goes_round, grows
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode, is_of_self
from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 32
_KEEPING = frozenset({
    "builtins.int", "builtins.float", "builtins.round", "builtins.abs", "math.floor", "math.ceil", "math.sqrt",
    "math.exp", "math.log", "math.cos", "math.sin", "math.pow", "numpy.clip", "numpy.int64", "numpy.int",
    "numpy.sqrt", "numpy.exp", "numpy.floor", "numpy.ceil", "numpy.round",
})  # fmt: skip
"""Functions of one number that have another result for another one."""
_OF_SEVERAL = frozenset({
    "builtins.max", "builtins.min", "builtins.sum", "numpy.max", "numpy.min", "numpy.sum", "numpy.amax", "numpy.amin",
})  # fmt: skip
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_RANDOM = ("random",)
"""What names the modules that draw numbers."""
_OF_ARRAY = frozenset({"max", "min", "sum"})
"""Methods of an array that make one number of it."""


class ChangingNumbers:
    """Finds where the change comes from. A number that may be the same for many turns is not said to change."""

    def __init__(self, index: SemanticIndex, within: FunctionNode | None = None) -> None:
        self._index = index
        self._within = within
        """A function that turns of another file run."""
        self._trees = SampleTrees(index)
        self._arrays = DrawnArrays(index)
        self._bound: dict[Binding, ast.AST | None] = {}
        self._returned: dict[tuple[FunctionNode, tuple[int, ...]], ast.AST | None] = {}
        self._asked: set[tuple[ast.ClassDef | None, str]] = set()
        """Attributes that are being asked about: ``self.share = self.share - self.less`` is made of itself."""

    def cause(self, node: ast.expr, depth: int = 0) -> ast.AST | None:
        """The loop counter or random draw that gives an expression another value in every turn; None if unknown."""
        if depth > _DEPTH:
            return None
        if isinstance(node, ast.Name):
            if self._index.kind(node) is Kind.TENSOR:
                return None
            return next(filter(None, (self._of_binding(b, depth) for b in self._index.flow.reaching(node))), None)
        if isinstance(node, ast.Attribute):
            return self._of_attribute(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            return self.of_difference(node.left, node.right, depth)
        if isinstance(node, ast.BinOp):
            found = self.cause(node.left, depth + 1) or self.cause(node.right, depth + 1)
            if not isinstance(node.op, ast.Mod | ast.FloorDiv) or isinstance(found, ast.Call):
                return found
            # Of a counter: the same for many turns, or one of few. A place in a ring of many is another in each turn.
            if found is None or isinstance(node.op, ast.FloorDiv):
                return None
            from tpulint.semantic.sizes.ring_sizes import is_large

            return found if is_large(self._index, node.right) else None
        if isinstance(node, ast.UnaryOp):
            return None if isinstance(node.op, ast.Not) else self.cause(node.operand, depth + 1)
        if isinstance(node, ast.IfExp):  # `length if length else self.length`
            return self.cause(node.body, depth + 1) or self.cause(node.orelse, depth + 1)
        if isinstance(node, ast.Call):
            return self._of_call(node, depth)
        if isinstance(node, ast.ListComp):
            return self.cause(node.elt, depth + 1)
        if isinstance(node, ast.List | ast.Tuple):
            return next(filter(None, (self.cause(item, depth + 1) for item in node.elts)), None)
        return None

    def draw(self, node: ast.expr, depth: int = 0) -> ast.Call | None:
        """The draw of a random number that decides a test in every turn: ``random.random() < p``."""
        if depth > _DEPTH:
            return None
        if isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            return next((found for side in sides if (found := self._drawn(side)) is not None), None)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.draw(node.operand, depth + 1)
        if isinstance(node, ast.BoolOp):  # `self.training and random.random() < p`
            return next((found for part in node.values if (found := self.draw(part, depth + 1)) is not None), None)
        if isinstance(node, ast.IfExp):  # `True if random.random() < p else False`
            return self.draw(node.test, depth + 1)
        made = self._made_in_turn(node)
        return None if made is None else self.draw(made, depth + 1)

    def _drawn(self, node: ast.expr, depth: int = 0) -> ast.Call | None:
        if isinstance(node, ast.Call) and self._index.qualified_name(node.func) == "torch.rand":
            return None if any(k.arg == "device" for k in node.keywords) else node
        made = self._made_in_turn(node) if depth < _DEPTH else None
        if made is not None and self._index.kind(node) is Kind.TENSOR:  # `probability = torch.rand([])`
            return self._drawn(made, depth + 1)
        found = self.cause(node)
        return found if isinstance(found, ast.Call) else None

    def _made_in_turn(self, node: ast.expr) -> ast.expr | None:
        """What a variable is, where a turn makes it and nothing else does."""
        bindings = self._index.flow.reaching(node) if isinstance(node, ast.Name) else ()
        plain = [b for b in bindings if b.kind == "assign" and not b.path and b.value is not None]
        if len(plain) != 1 or len(bindings) != 1 or self._index.turn_code.turn_of(plain[0].statement) is None:
            return None
        return plain[0].value

    def separates_turns(self, loop: ast.AST) -> bool:
        """Whether each turn of a loop is a graph of its own; a short evaluation without reads is one graph in all."""
        turn = self._index.turn_code.turn_made_in(loop)
        if turn != EVALUATION:
            return turn is not None
        return bool(self._index.reads.inside(loop) or self._index.regions.boundaries_in(loop))

    def of_difference(self, given: ast.expr, lower: ast.expr, depth: int = 0) -> ast.AST | None:
        """What changes in ``end - start``; nothing where ``end = min(start + size, total)``, but in the last turn."""
        from tpulint.semantic.sizes.changing_distances import cause_of_distance

        return cause_of_distance(self._index, given, lower, self.cause, depth)

    # ---------------------------------------------------------------- calls

    def _of_call(self, call: ast.Call, depth: int) -> ast.AST | None:
        name = self._index.qualified_name(call.func)
        if is_draw(self._index, call):
            return call if draws_one(self._index, call) and self._is_in_turn(call) else None
        if name in _KEEPING and call.args:
            given = call.args[0]
            return self.cause(given, depth + 1) or self._of_tensor(given)
        if name in ("builtins.min", "builtins.max") and len(call.args) > 1:
            causes = [self.cause(item, depth + 1) for item in call.args]
            drawn = next((found for found in causes if is_draw(self._index, found)), None)
            return drawn or (causes[0] if all(causes) else goes_to_bound(self._index, call, causes))
        if name in _OF_SEVERAL and len(call.args) == 1:
            found = self.cause(call.args[0], depth + 1)
            return found if is_draw(self._index, found) else self._arrays.draw(call.args[0], self._is_in_turn)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "item" and not call.args:
            return self._of_tensor(call.func.value)
        if isinstance(call.func, ast.Attribute) and call.func.attr in _OF_ARRAY and not call.args and name is None:
            return self._arrays.draw(call.func.value, self._is_in_turn)
        return self._of_returned(call, (), depth)

    def _of_tensor(self, node: ast.expr) -> ast.AST | None:
        """What changes in a tensor of the host that is made into a number: one that is drawn, or written into."""
        drawn = drawn_tensor(self._index, node)
        return drawn if drawn is not None and self._is_in_turn(drawn) else self._of_written(node)

    def _of_written(self, node: ast.expr) -> ast.AST | None:
        """Where every turn writes into a tensor that is made into a number: ``int(self.at)``, ``self.at[0] = at``."""
        if not isinstance(node, ast.Name | ast.Attribute) or self._index.kind(node) is not Kind.TENSOR:
            return None
        text = self._index.text(node)
        return next(
            (
                place
                for place in self._index.turn_code.nodes(ast.Subscript)
                if isinstance(place.ctx, ast.Store) and self._index.text(place.value) == text
            ),
            None,
        )

    def _of_returned(self, call: ast.Call, path: tuple[int, ...], depth: int) -> ast.AST | None:
        """What changes in the number, or the part of a tuple, that a function returns: the call, if in another file."""
        function = self._index.definitions.function_called(call)
        if function is not None:
            return self._of_results(function, path, depth)
        elsewhere = self._index.imported.called(call) if self._is_in_turn(call) else None
        if elsewhere is None or not isinstance(elsewhere.node, FUNCTIONS):
            return None
        there = ChangingNumbers(elsewhere.file, elsewhere.node)
        return None if there._of_results(elsewhere.node, path, depth) is None else call

    def _of_results(self, function: FunctionNode, path: tuple[int, ...], depth: int) -> ast.AST | None:
        if (function, path) not in self._returned:
            self._returned[function, path] = None  # what a function returns of itself says nothing of it
            self._returned[function, path] = self._find_in_results(function, path, depth)
        return self._returned[function, path]

    def _find_in_results(self, function: FunctionNode, path: tuple[int, ...], depth: int) -> ast.AST | None:
        causes: list[ast.AST | None] = []
        for value in self._index.definitions.returned_by(function):
            if self._is_before_or_behind(value, depth):
                continue
            part: ast.expr | None = value
            for at in path:
                part = part.elts[at] if isinstance(part, ast.Tuple) and at < len(part.elts) else None
            causes.append(None if part is None else self.cause(part, depth + 1))
        return causes[0] if causes and all(causes) else None

    def _is_before_or_behind(self, value: ast.expr, depth: int) -> bool:
        """Whether a function returns a number that stays where the turns have not begun to change it, or are done.

        ``if step < self.start: return 20``
        """
        branch = self._index.parent(self._index.statement_of(value))
        test = branch.test if isinstance(branch, ast.If) else None
        if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], _ORDERS) or len(test.ops) > 1:
            return False
        is_plain = self.cause(value, depth + 1) is None
        return is_plain and any(self.cause(side, depth + 1) for side in (test.left, *test.comparators))

    def _is_in_turn(self, node: ast.AST) -> bool:
        if self._within is not None and self._index.tree.encloses(self._within, node):
            return True
        return self._index.turn_code.turn_of(node) is not None

    # ---------------------------------------------------------------- variables

    def _of_binding(self, binding: Binding, depth: int) -> ast.AST | None:
        if binding not in self._bound:
            self._bound[binding] = None  # what depends on itself changes by an augmented assignment, or not at all
            self._bound[binding] = self._bind(binding, depth + 1)
        return self._bound[binding]

    def _bind(self, binding: Binding, depth: int) -> ast.AST | None:
        index = self._index
        if binding.kind == "loop":
            drawn = drawn_places(index, binding)
            if drawn is not None and self._is_in_turn(drawn) and binding.statement not in index.turn_code.loops:
                return drawn
            return binding.node if self.separates_turns(binding.statement) and numbers_turns(index, binding) else None
        if binding.kind == "parameter":
            if not isinstance(binding.statement, FUNCTIONS):
                return None
            arguments, function = index.definitions.arguments, binding.statement
            passed = arguments.of(function, binding.name) or arguments.when_chosen(function, binding.name)
            if function.name == "forward":  # `model(x, width)`
                passed = [*passed, *arguments.of_object(function, binding.name)]
            found = next(filter(None, (self.cause(item, depth + 1) for item in passed)), None)
            return found or (binding.node if self._changes_outside(binding.statement, binding.name) else None)
        if binding.kind == "augment":
            return binding.node if grows(index, binding, self.separates_turns) else None
        if binding.kind == "assign" and binding.value is not None:
            if not self._is_in_turn(binding.statement):
                return None
            if binding.path:
                return self._of_part(binding.value, binding.path, depth)
            if adds_to_itself(index, binding) and grows(index, binding, self.separates_turns):
                return binding.node
            return self.cause(binding.value, depth)
        return None

    def _changes_outside(self, function: FunctionNode, parameter: str) -> bool:
        """Whether the turns of a loop in another file give a parameter another number each."""
        calls = [call for call in self._index.outside if parameter in call.changing]
        return bool(calls) and qualified_in_file(self._index.tree, function) in {call.function for call in calls}

    def _of_part(self, node: ast.expr, path: tuple[int, ...], depth: int) -> ast.AST | None:
        """What changes in one part of what is unpacked."""
        if isinstance(node, ast.Call):
            if is_draw(self._index, node):  # `top, left = np.random.randint(0, 4, 2)`
                return node if len(path) == 1 and self._is_in_turn(node) else None
            return self._of_returned(node, path, depth)
        if isinstance(node, ast.Tuple | ast.List) and -len(node.elts) <= path[0] < len(node.elts):
            part = node.elts[path[0]]
            return self.cause(part, depth) if len(path) == 1 else self._of_part(part, path[1:], depth)
        return None

    def _of_attribute(self, node: ast.Attribute) -> ast.AST | None:
        """``self.steps``, that every turn adds to and only ``__init__`` sets; what a node of a sample's tree has."""
        if self._trees.has(node):
            return node
        bindings = self._index.flow.reaching_attribute(node)
        in_turns = [b for b in bindings if self._index.turn_code.turn_of(b.statement) is not None]
        added = [b for b in in_turns if b.kind == "augment" or adds_to_itself(self._index, b)]
        set_again = [b for b in in_turns if b not in added and not goes_round(self._index, b, added)]
        drawn = self._draw_kept(node, set_again)
        if drawn is not None:
            return drawn
        if not added or set_again or not self._has_turns_apart() or self._index.kind(node) is Kind.TENSOR:
            return None
        return added[0].node

    def _draw_kept(self, node: ast.Attribute, in_turns: list[Binding]) -> ast.AST | None:
        """The draw that a turn keeps on an object: ``self.width = random.choice(widths)``, or ``net.width = ...``."""
        index = self._index
        if not index.source.has_any(_RANDOM) or not self._has_turns_apart():
            return None
        values = [b.value for b in in_turns if b.kind == "assign" and not b.path and b.value is not None]
        owner = index.tree.class_of(node) if is_of_self(node) else None
        for place in index.tree.attributes_called(node.attr) if owner is not None else ():
            statement = index.parent(place)
            if isinstance(statement, ast.Assign) and place in statement.targets and not is_of_self(place):
                held = place.value if isinstance(place.value, ast.Name | ast.Attribute) else None
                made = None if held is None else index.definitions.classes.one_of_variable(held)
                if made is owner and index.turn_code.turn_of(statement) is not None:
                    values.append(statement.value)
        key = index.tree.class_of(node), node.attr
        if key in self._asked:
            return None
        self._asked.add(key)
        found = (self.cause(value, _DEPTH // 2) for value in values)
        drawn = next((cause for cause in found if is_draw(index, cause)), None)
        self._asked.discard(key)
        return drawn

    def _has_turns_apart(self) -> bool:
        """Whether some code of the file runs in turns that are graphs of their own, be they those of another file."""
        called = self._index.regions.called_steps
        return any(map(self.separates_turns, self._index.turn_code.loops)) or any(
            one.call.turn == STEP or self._index.reads.inside(one.node) for one in called
        )  # an agent is asked for an action, which is read, in every turn
