"""Numbers of the host that differ from one turn of a step or evaluation loop to the next."""

from __future__ import annotations

import ast

from tpulint.semantic.bindings import Binding, part_of
from tpulint.semantic.capped_numbers import goes_to_bound
from tpulint.semantic.drawn_arrays import DrawnArrays
from tpulint.semantic.drawn_numbers import drawn_places, drawn_tensor, draws_one, is_draw
from tpulint.semantic.growing_numbers import adds_to_itself, goes_round, grows
from tpulint.semantic.kinds import Kind
from tpulint.semantic.nodes import FUNCTIONS, FunctionNode, is_of_self
from tpulint.semantic.numbered_turns import numbers_turns
from tpulint.semantic.outside import qualified_in_file
from tpulint.semantic.passed_arguments import arguments_given
from tpulint.semantic.sample_trees import SampleTrees
from tpulint.semantic.turn_code import EVALUATION, STEP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 32
_CALLS = 8
"""Calls of one function that are looked at."""
_KEEPING = frozenset({
    "builtins.int", "builtins.float", "builtins.round", "builtins.abs", "math.floor", "math.ceil", "math.sqrt",
    "math.exp", "math.log", "math.cos", "math.sin", "math.pow", "numpy.clip", "numpy.int64", "numpy.int",
    "numpy.sqrt", "numpy.exp", "numpy.floor", "numpy.ceil", "numpy.round",
})  # fmt: skip
"""Functions of one number that have another result for another one."""
_OF_SEVERAL = frozenset({
    "builtins.max", "builtins.min", "builtins.sum", "numpy.max", "numpy.min", "numpy.sum", "numpy.amax", "numpy.amin",
})  # fmt: skip
_RING = 64
"""Places, as many as graphs are compiled for."""
_LARGE = 4
"""Variables that such a number is looked for behind."""
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
            return found if isinstance(node.op, ast.Mod) and self._is_large(node.right) else None
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

    def _is_large(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a divisor is a number of many, ``step % 1000``, or a variable, or the size of a tensor, that is."""
        if isinstance(node, ast.Name | ast.Attribute) and depth < _LARGE:
            bindings = self._index.flow.bindings_of(node)
            one = bindings[0] if len(bindings) == 1 and not bindings[0].path else None
            given: list[ast.expr] = [] if one is None or one.value is None else [one.value]
            if one is not None and one.kind == "parameter" and isinstance(one.statement, FUNCTIONS):
                given += self._index.definitions.arguments.of(one.statement, one.name)
            elif one is None or one.kind != "assign":
                return False
            return bool(given) and all(self._is_large(item, depth + 1) for item in given)
        sized = self._sized(node)
        if sized is not None:
            made = self._index.moves.creations.of(sized)
            sizes = [self._index.graph_numbers.sizes(item.node) for item in made if isinstance(item.node, ast.Call)]
            known = [size[0] for size in sizes if size]
            return len(known) == len(made) > 0 and all(self._is_large(size, depth + 1) for size in known)
        return isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value >= _RING

    def _sized(self, node: ast.expr) -> ast.expr | None:
        """The tensor whose first size a number is: ``len(bank)``, ``bank.shape[0]``, ``bank.size(0)``."""
        of_first = [item.value == 0 for item in ast.walk(node) if isinstance(item, ast.Constant)]
        if isinstance(node, ast.Call) and self._index.qualified_name(node.func) == "builtins.len":
            return node.args[0] if len(node.args) == 1 else None
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return node.value.value if of_first == [True] else None
        is_asked = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "size"
        return node.func.value if is_asked and of_first == [True] else None  # type: ignore[attr-defined]

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
        from tpulint.semantic.linear import Linear

        whole = Linear(self._index, roughly=True).difference(given, lower)
        if whole == [] or self._are_given_together(given, lower):
            return None
        function = self._parameters_of(given, lower)
        if function is not None:
            return self._of_distance_given(function, given, lower, depth)
        bindings = self._index.flow.reaching(given) if isinstance(given, ast.Name) else ()
        made = [part_of(one.value, one.path) if one.kind == "assign" else None for one in bindings]
        # Where a branch sets another end, `if start + size > total: end = total`, it may be for the last turn.
        ends = [value for value in made if value is not None] if made and all(made) else [given]
        upper = ends[0]
        if len(ends) == 1:
            is_least = isinstance(upper, ast.Call) and self._index.qualified_name(upper.func) == "builtins.min"
            ends = upper.args if is_least and isinstance(upper, ast.Call) and len(upper.args) > 1 else [given]
        causes = []
        for end in ends:
            parts = Linear(self._index, roughly=True).difference(end, lower)
            either = (end, lower) if parts is None else parts
            causes.append(next(filter(None, (self.cause(part, depth + 1) for part in either)), None))
        return causes[0] if all(causes) else None

    def _parameters_of(self, *numbers: ast.expr) -> FunctionNode | None:
        """The function all of these are parameters of: ``def cut(rows, start, end): return rows[start:end]``."""
        bindings = [self._index.flow.reaching(item) if isinstance(item, ast.Name) else () for item in numbers]
        if not all(len(found) == 1 and found[0].kind == "parameter" for found in bindings):
            return None
        functions = {found[0].statement for found in bindings}
        function = functions.pop() if len(functions) == 1 else None
        return function if isinstance(function, FUNCTIONS) else None

    def _of_distance_given(
        self, function: FunctionNode, upper: ast.expr, lower: ast.expr, depth: int
    ) -> ast.AST | None:
        """What changes between two numbers that the calls in this file give; of other files that is not known."""
        index = self._index
        is_method = index.tree.class_of(function) is not None
        for call in index.definitions.calls_of(function)[:_CALLS] if depth < _DEPTH else ():
            given = dict(arguments_given(call, function, is_method))
            ends = given.get(index.text(upper)), given.get(index.text(lower))
            if ends[0] is not None and ends[1] is not None:
                found = self.of_difference(ends[0], ends[1], depth + 1)
                if found is not None:
                    return found
        return None

    def _are_given_together(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether a call gives both numbers: ``start, end = bounds(step)`` may be as far apart every time."""
        given = [self._index.flow.reaching(item) if isinstance(item, ast.Name) else () for item in (one, other)]
        values = [{binding.value for binding in bindings if binding.path} for bindings in given]
        return any(isinstance(value, ast.Call) for value in values[0] & values[1])

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
