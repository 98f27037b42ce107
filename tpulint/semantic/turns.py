"""One turn of a loop: which statements only record work for the device, and where its step boundary belongs."""

from __future__ import annotations

import ast
from enum import IntEnum

from tpulint.semantic import torch_facts as facts
from tpulint.semantic.kinds import Kind, Side
from tpulint.semantic.reads import COPIES
from tpulint.semantic.regions import Step
from tpulint.semantic.tree import FUNCTIONS, FunctionNode, LoopNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 4
_TRAINED = (Kind.MODULE, Kind.OPTIMIZER, Kind.SCALER, Kind.SCHEDULER)
_HARMLESS_METHODS = frozenset({
    "append", "update", "extend", "size", "dim", "numel", "items", "keys", "values", "get", "parameters",
    "named_parameters", "buffers", "named_buffers", "modules", "named_modules", "children", "named_children",
    "state_dict",
})  # fmt: skip
"""Methods that do not look at the clock, print or read, whatever the object is."""
_COLLECTIVES = frozenset(
    f"torch.distributed.{name}"
    for name in ("all_reduce", "reduce", "broadcast", "all_gather", "all_gather_into_tensor", "reduce_scatter_tensor")
)
"""What is recorded like any other work, where it is given tensors."""
_ANSWERS = frozenset(
    f"torch.distributed.{name}"
    for name in ("get_world_size", "get_rank", "get_backend", "is_initialized", "is_available", "is_nccl_available")
)
"""What is asked of the process group, and needs nothing of the device."""
_METRICS = ("torchmetrics.", "torcheval.metrics.")


class Work(IntEnum):
    """What running a statement does, where the step boundary is concerned: the highest of what its parts do."""

    HOST = 0
    """Nothing that concerns the device: counts, bookkeeping."""
    DEVICE = 1
    """Records work for the device; belongs in front of the boundary."""
    READ = 2
    """Reads, prints, looks at the clock, leaves the loop, or nobody knows: belongs behind the boundary."""


class Turns:
    """Sorts the statements of loop bodies. Lazy, memoised."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._tree = index.tree
        self._names = index.names
        self._kinds = index.kinds
        self._definitions = index.definitions
        self._reads = index.reads
        self._imported = index.imported
        self._memo: dict[ast.AST, Work] = {}
        self._boundary_places: dict[Step, list[ast.stmt]] = {}

    # ---------------------------------------------------------------- the boundary

    def boundary_places(self, loop: Step) -> list[ast.stmt]:
        """Statements behind which the step boundary of a step loop belongs; empty when that cannot be told."""
        if loop not in self._boundary_places:
            self._boundary_places[loop] = self._find_places(loop)
        return self._boundary_places[loop]

    def _find_places(self, loop: Step) -> list[ast.stmt]:
        events = [*loop.updates, *loop.manual_updates]
        functions = {self._tree.function_of(event) for event in events}
        is_function = isinstance(loop.node, FUNCTIONS)
        inside = [
            event
            for event in events
            if self._tree.encloses(loop.node, event)
            if not is_function or self._tree.function_of(event) is loop.node
        ]
        if len(inside) == len(events):
            gated = self._gated_suite(loop, inside)
            if gated is not None:
                return self._places(gated, self._last(gated, events))
            return self._places(loop.node.body, self._last(loop.node.body, events))
        holders = [
            statement
            for statement in loop.node.body
            if not isinstance(statement, FUNCTIONS)
            if any(self._tree.encloses(statement, event) for event in inside)
            or self._index.regions.updates_in(statement)
        ]
        if holders and _always_returns(holders[-1]):
            return self._places_of_returned(holders[-1], events)
        function = functions.pop()
        if not inside and not functions and function is not None:
            anchor = self._last(function.body, events)
            if anchor is None or not holders or not self._leaves_work(function, anchor, loop.node, holders):
                return self._places(function.body, anchor)
        return self._places(loop.node.body, holders[-1] if holders else None)

    def _places_of_returned(self, last: ast.stmt, events: list[ast.AST]) -> list[ast.stmt]:
        """Behind a statement that returns nothing runs: the functions that it calls end their steps themselves."""
        called = dict.fromkeys(self._tree.function_of(event) for event in events)
        places = self._inner_places(last)
        for function in called:
            if function is not None and function is not self._tree.function_of(last):
                places += self._places(function.body, self._last(function.body, events))
        return places

    def _gated_suite(self, loop: Step, events: list[ast.AST]) -> list[ast.stmt] | None:
        """The block that holds the whole step and opens every n-th turn, where the other turns read their own results.

        The work of those turns is run by their reads; a boundary at their end would run it again. So it would in
        front of the first step of a game: ``if step > learning_starts`` holds the step, turns read their action above.
        """
        interval = self._index.regions.gate_of(events[0])
        for gate in self._tree.ancestors(events[0]):
            if gate is loop.node:
                break
            branch = self._whole_branch(gate, (*events, *loop.backwards)) if isinstance(gate, ast.If) else None
            if branch is not None and (gate is interval or gate in loop.node.body):
                outside = [
                    read.node for read in self._reads.inside(loop.node)
                    if not self._tree.encloses(gate, read.node) and self._index.regions.gate_of(read.node) is None
                ]  # fmt: skip
                before = all(self._tree.span(node).start < self._tree.span(gate).start for node in outside)
                return branch if outside and (gate is interval or before) else None
        return None

    def _whole_branch(self, gate: ast.If, step: tuple[ast.AST, ...]) -> list[ast.stmt] | None:
        """The branch that holds a whole step."""
        branches = (gate.body, gate.orelse)
        return next((b for b in branches if all(any(self._tree.encloses(i, event) for i in b) for event in step)), None)

    def _leaves_work(
        self, function: FunctionNode, update: ast.stmt, loop: LoopNode | FunctionNode, holders: list[ast.stmt]
    ) -> bool:
        """Whether the loop goes on recording for the device behind a function without reads behind its update.

        With what that returns, or with the next update: a turn that updates twice is one step.
        """
        rest = function.body[function.body.index(update) + 1 :]
        if any(self._reads.inside(item) for item in rest):
            return False
        return len(holders) > 1 or self._forward(loop.body, holders[0]) is not holders[0]

    def evaluation_place(self, loop: LoopNode) -> ast.stmt:
        """Statement of the body behind which the boundary of an evaluation loop belongs."""
        runs = [at for at, statement in enumerate(loop.body) if self._index.regions.runs_module(statement)]
        first = runs[-1] if runs else len(loop.body) - 1
        return self._forward(loop.body, loop.body[first])

    def _last(self, suite: list[ast.stmt], events: list[ast.AST]) -> ast.stmt | None:
        holders = [statement for statement in suite if any(self._tree.encloses(statement, event) for event in events)]
        return holders[-1] if holders else None

    def _places(self, suite: list[ast.stmt], anchor: ast.stmt | None) -> list[ast.stmt]:
        if anchor is None:
            return []
        outer = self._forward(suite, anchor)
        # A block that updates and goes on with the next turn never comes to the boundary behind it.
        early = [
            place
            for statement in suite[: suite.index(anchor)]
            if isinstance(statement, ast.If) and self._skips(statement)
            for place in self._inner_places(statement)
        ]
        if not isinstance(anchor, ast.If | ast.With | ast.AsyncWith | ast.Try) or self.work(anchor) is not Work.READ:
            return [*early, outer]
        # The update stands in a block that also reads: there the boundary has to come before the reads.
        inner = self._inner_places(anchor)
        if inner and (self._always_comes_to(anchor) or _always_returns(anchor)):
            return [*early, *inner]
        front = suite[: suite.index(anchor)]
        is_all = outer is anchor and isinstance(anchor, ast.If) and self._ends_all_branches(anchor)
        if is_all and not any(map(self._begins_step, front)):
            return [*early, *inner]
        return [*early, *inner, outer]

    def _begins_step(self, statement: ast.stmt) -> bool:
        regions = self._index.regions
        return regions.runs_module(statement) or bool(regions.events.events_in(statement).backwards)

    def _ends_all_branches(self, anchor: ast.If) -> bool:
        """Whether each branch that holds a step has a read behind it, and so a boundary of its own."""
        for block in (anchor.body, anchor.orelse):
            if len(block) == 1 and isinstance(block[0], ast.If):
                if not self._ends_all_branches(block[0]):
                    return False
                continue
            holders = [statement for statement in block if self._index.regions.updates_in(statement)]
            if not holders and any(map(self._begins_step, block)):
                return False
            if not holders:
                continue
            rest = block[block.index(holders[-1]) + 1 :]
            if isinstance(holders[-1], ast.If | ast.With | ast.Try) or not any(map(self._reads.inside, rest)):
                return False
        return True

    def _always_comes_to(self, anchor: ast.stmt) -> bool:
        """Whether a turn that goes well runs the body of a block, and all its updates with it."""
        if isinstance(anchor, ast.Try):
            return not any(self._index.regions.updates_in(item) for handler in anchor.handlers for item in handler.body)
        return isinstance(anchor, ast.With | ast.AsyncWith)

    def _skips(self, statement: ast.If) -> bool:
        return any(block and isinstance(block[-1], ast.Continue) for block in (statement.body, statement.orelse))

    def _inner_places(self, anchor: ast.stmt) -> list[ast.stmt]:
        """Places within the blocks of a compound statement that hold an update with a read behind it."""
        result = []
        for field in ("body", "orelse", "finalbody"):
            block: list[ast.stmt] = getattr(anchor, field, None) or []
            holders = [statement for statement in block if self._index.regions.updates_in(statement)]
            if not holders:
                continue
            at = block.index(holders[-1])
            if isinstance(holders[-1], ast.If | ast.With | ast.Try) and self.work(holders[-1]) is Work.READ:
                nested = self._inner_places(holders[-1])
                own = nested and isinstance(holders[-1], ast.If) and self._always_comes_to(anchor)
                result.extend([*nested, self._forward(block, holders[-1])] if own else nested)
            elif isinstance(holders[-1], ast.Return):
                continue  # what it calls ends the step
            elif isinstance(block[-1], ast.Continue | ast.Return) or any(
                self._reads.inside(item) for item in block[at + 1 :]
            ):
                result.append(self._forward(block, holders[-1]))
        return result

    def _forward(self, suite: list[ast.stmt], anchor: ast.stmt) -> ast.stmt:
        """The last of the statements from ``anchor`` on that still record work, with no read in between."""
        place = anchor
        for statement in suite[suite.index(anchor) + 1 :]:
            work = self.work(statement)
            if work is Work.READ:
                break
            if work is Work.DEVICE:
                place = statement
        return place

    # ---------------------------------------------------------------- statements

    def work(self, statement: ast.stmt, depth: int = 0) -> Work:
        """What running a statement does."""
        found = self._memo.get(statement)
        if found is None:
            self._memo[statement] = Work.READ  # recursion: nobody knows
            found = self._memo[statement] = self._work(statement, depth)
        return found

    def _work(self, statement: ast.stmt, depth: int) -> Work:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return Work.HOST
        if self._reads.inside(statement):
            return Work.READ
        work = Work.HOST
        for node in (statement, *self._tree.inside(statement, functions=False)):
            if isinstance(node, ast.Break | ast.Continue | ast.Raise | ast.Yield | ast.YieldFrom | ast.Await):
                return Work.READ
            if isinstance(node, ast.Return) and depth == 0:
                return Work.READ
            if isinstance(node, ast.Call):
                work = max(work, self._call(node, depth))
            elif isinstance(node, ast.Assign | ast.AugAssign) and self._reads.is_on_device(node.value):
                work = max(work, Work.DEVICE)
            if work is Work.READ:
                return work
        return work

    def _call(self, call: ast.Call, depth: int) -> Work:
        name = self._names.qualified(call.func)
        if self._reads.is_output(call):
            return Work.READ
        if name is not None:
            if name == "torch.cuda.synchronize":
                return Work.HOST  # the boundary takes its place, if nothing behind it reads
            if name in _COLLECTIVES:
                return Work.DEVICE
            if name in _ANSWERS:
                return Work.HOST
            if name.startswith(("torch.cuda.", "torch.save", "torch.distributed.", "torch.accelerator.")):
                return Work.READ
            if name.startswith(("builtins.", "math.", "collections.", "itertools.", "copy.")):
                return Work.HOST if name not in ("builtins.open", "builtins.input", "builtins.exit") else Work.READ
            if name.startswith(("torch.", "torch_xla.", "tpulint_runtime.")):
                return Work.DEVICE
        if (done := self._done_by(call, depth)) is not None:
            given = any(self._reads.is_on_device(item) for item in call.args)
            return max(done, Work.DEVICE if given else Work.HOST)
        if self._kinds.value(call.func).kind is Kind.MODULE:
            return Work.DEVICE
        if (body := self._lambda_body(call)) is not None and depth < _DEPTH:
            if self._reads.inside(body):
                return Work.READ
            calls = [node for node in (body, *self._tree.inside(body)) if isinstance(node, ast.Call)]
            return max((self._call(item, depth + 1) for item in calls), default=Work.DEVICE)
        arguments = [
            self._kinds.value(item).kind for item in (*call.args, *(keyword.value for keyword in call.keywords))
        ]
        if isinstance(call.func, ast.Attribute):
            value = self._kinds.value(call.func.value)
            receiver = value.kind
            if receiver is Kind.TENSOR and call.func.attr in COPIES:
                return Work.HOST if value.side is Side.HOST else Work.READ
            if receiver in _TRAINED or receiver is Kind.TENSOR:
                return Work.DEVICE
            if self._is_metric(call.func.value):
                return Work.DEVICE if call.func.attr in ("update", "forward") else Work.READ
            if Kind.MODULE in arguments and call.func.attr.startswith("update"):
                return Work.DEVICE  # an exponential moving average of the weights
            if call.func.attr in facts.TENSOR_METHODS and not isinstance(self._tree.parents[call], ast.Expr):
                return Work.DEVICE
            if call.func.attr in ("zero_grad", "step"):
                return Work.DEVICE
            if call.func.attr in _HARMLESS_METHODS:
                return Work.DEVICE if any(kind is Kind.TENSOR for kind in arguments) else Work.HOST
            if call.func.attr in facts.IN_PLACE_METHODS:
                return Work.DEVICE
        return Work.DEVICE if self._gives_tensor(call) else Work.READ

    def _done_by(self, call: ast.Call, depth: int) -> Work | None:
        """What the function does that a call runs, in this file or another; None where it is not seen."""
        function = self._definitions.function_called(call)
        if function is not None:
            return self.body(function, depth)
        other = self._imported.called(call)
        if other is None or not isinstance(other.node, FUNCTIONS):
            return None
        return other.file.turns.body(other.node, depth)

    def _lambda_body(self, call: ast.Call) -> ast.expr | None:
        """What a call computes by a lambda that a variable is set to: ``right = lambda logits, y: ...``."""
        bindings = self._names.bindings(call.func) if isinstance(call.func, ast.Name) else []
        value = bindings[0].value if len(bindings) == 1 else None
        return value.body if isinstance(value, ast.Lambda) else None

    def _gives_tensor(self, call: ast.Call) -> bool:
        """Whether a function that is not seen makes a tensor of tensors: ``acc1, acc5 = accuracy(output, target)``."""
        made = self._kinds.value(call)
        if made.kind is Kind.TENSOR and made.side is Side.DEVICE:
            return True
        statement = self._tree.parents[call]
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return self._is_added_to_tensor(call)
        targets = statement.targets[0].elts if isinstance(statement.targets[0], ast.Tuple) else statement.targets
        bound = [self._kinds.binding_value(b) for b in map(self._names.binding_at, targets) if b is not None]
        return any(value.kind is Kind.TENSOR and value.side is Side.DEVICE for value in bound)

    def _is_added_to_tensor(self, call: ast.Call) -> bool:
        """Whether what a call gives is added to a tensor of the device: ``total += measure(output, y).mean()``."""
        node: ast.AST = call
        while isinstance(parent := self._tree.parents[node], ast.Call | ast.Attribute | ast.BinOp):
            if isinstance(parent, ast.Call) and parent.func is not node:
                return False  # what a function is given
            node = parent
        if not isinstance(parent, ast.AugAssign) or parent.value is not node:
            return False
        return isinstance(parent.target, ast.Name) and self._kinds.is_on_device(parent.target)

    def _is_metric(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Name):
            return False
        for binding in self._names.bindings(node):
            if binding.kind == "assign" and isinstance(binding.value, ast.Call):
                value: ast.expr = binding.value
                while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "to":
                    value = value.func.value
                if isinstance(value, ast.Call) and (self._names.qualified(value.func) or "").startswith(_METRICS):
                    return True
        return False

    def body(self, function: FunctionNode, depth: int) -> Work:
        """What running the body of a function of this file does, whichever file calls it."""
        if depth >= _DEPTH:
            return Work.READ
        return max((self.work(statement, depth + 1) for statement in function.body), default=Work.HOST)


def _always_returns(statement: ast.stmt) -> bool:
    """Whether nothing behind a statement runs, since it returns on every way."""
    if isinstance(statement, ast.If):
        blocks = (statement.body, statement.orelse)
        return all(block and _always_returns(block[-1]) for block in blocks)
    return isinstance(statement, ast.Return)
