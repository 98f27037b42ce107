"""What statements do for the device: record work, read what it computed, or nothing of either."""

from __future__ import annotations

import ast
from enum import IntEnum

from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.reads.reads import COPIES
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.values.kinds import Kind, Side

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
_WITHOUT_DEVICE = frozenset(
    f"torch.distributed.{name}"
    for name in (
        "get_world_size", "get_rank", "get_backend", "is_initialized", "is_available", "is_nccl_available", "barrier",
    )
)  # fmt: skip
"""What needs nothing of the device: questions, and a barrier, for which torch_xla's process group does nothing."""
_OF_HOST = (
    "builtins.", "math.", "collections.", "itertools.", "copy.",
    "packaging.version.", "distutils.version.", "pkg_resources.parse_version", "torch.torch_version.",
)  # fmt: skip
"""Beginnings of the names of what computes with values of the host, the versions of packages among them."""
_METRICS = ("torchmetrics.", "torcheval.metrics.")


class Work(IntEnum):
    """What running a statement does, where the step boundary is concerned: the highest of what its parts do."""

    HOST = 0
    """Nothing that concerns the device: counts, bookkeeping."""
    DEVICE = 1
    """Records work for the device; belongs in front of the boundary."""
    READ = 2
    """Reads, prints, looks at the clock, leaves the loop, or nobody knows: belongs behind the boundary."""


class StatementWork:
    """Answers about the statements of one file. Lazy, memoised."""

    def __init__(self, index: SemanticIndex) -> None:
        self._tree = index.tree
        self._names = index.names
        self._kinds = index.kinds
        self._definitions = index.definitions
        self._reads = index.reads
        self._imported = index.imported
        self._memo: dict[ast.AST, Work] = {}

    def of(self, statement: ast.stmt, depth: int = 0) -> Work:
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
            elif isinstance(node, ast.Assign | ast.AugAssign) and self._records(node):
                work = max(work, Work.DEVICE)
            if work is Work.READ:
                return work
        return work

    def _records(self, statement: ast.Assign | ast.AugAssign) -> bool:
        """Whether a tensor of the device is given, or added to, be it a number: ``total += count``."""
        total = statement.target if isinstance(statement, ast.AugAssign) else None
        is_added_to = isinstance(total, ast.Name) and self._kinds.is_on_device(total)
        return is_added_to or self._reads.is_on_device(statement.value)

    def _call(self, call: ast.Call, depth: int) -> Work:
        name = self._names.qualified(call.func)
        if self._reads.is_output(call):
            return Work.READ
        if name is not None:
            if name == "torch.cuda.synchronize":
                return Work.HOST  # the boundary takes its place, if nothing behind it reads
            if name in _COLLECTIVES:
                return Work.DEVICE
            if name in _WITHOUT_DEVICE:
                return Work.HOST
            if name.startswith(("torch.cuda.", "torch.save", "torch.distributed.", "torch.accelerator.")):
                return Work.READ
            if name.startswith(_OF_HOST):
                return Work.HOST if name not in ("builtins.open", "builtins.input", "builtins.exit") else Work.READ
            if name.startswith(("torch.", "torch_xla.", "tpulint_runtime.")):
                return Work.DEVICE
        if (done := self._done_by(call, depth)) is not None:
            given = any(self._reads.is_on_device(item) for item in call.args)
            return max(done, Work.DEVICE if given else Work.HOST)
        if self._kinds.value(call.func).kind is Kind.MODULE:
            return Work.DEVICE
        if self._makes_module(call):
            return Work.HOST
        if (body := self._lambda_body(call)) is not None and depth < _DEPTH:
            if self._reads.inside(body):
                return Work.READ
            calls = [node for node in (body, *self._tree.inside(body)) if isinstance(node, ast.Call)]
            return max((self._call(item, depth + 1) for item in calls), default=Work.DEVICE)
        arguments = [self._kinds.value(item).kind for item in values_given(call)]
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
            if call.func.attr == "wait" and self._is_collective(call.func.value):
                return Work.HOST  # what is recorded waits for nothing
        return Work.DEVICE if self._gives_tensor(call) else Work.READ

    def _done_by(self, call: ast.Call, depth: int) -> Work | None:
        """What the function does that a call runs, in this file or another; None where it is not seen."""
        function = self._definitions.function_run(call)
        if function is not None:
            wrappers = self._definitions.decorations.wrappers_of(function)
            around = [one for one in wrappers if not self._tree.encloses(one, call)]  # which calls the function itself
            return max(self.of_body(one, depth) for one in (function, *around))
        other = self._imported.called(call)
        if other is None or not isinstance(other.node, FUNCTIONS):
            return None
        return other.file.statement_work.of_body(other.node, depth)

    def _makes_module(self, call: ast.Call) -> bool:
        """Whether a call makes a module, ``Criterion()(output, y)``, and is none of a module, ``model.to(device)``."""
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        made_of_one = owner is not None and self._kinds.value(owner).kind is Kind.MODULE
        return self._kinds.value(call).kind is Kind.MODULE and not made_of_one

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
        if isinstance(call.func, ast.Subscript) and any(map(self._reads.is_on_device, call.args)):
            return True  # one of several criteria: `self.criteria[0](output, y)`
        target = statement.targets[0]
        if isinstance(target, ast.Name) and any(map(self._is_added_to_tensor, self._names.loads_of(target))):
            return True
        targets = target.elts if isinstance(target, ast.Tuple) else [target]
        bound = [self._kinds.binding_value(b) for b in map(self._names.binding_at, targets) if b is not None]
        return any(value.kind is Kind.TENSOR and value.side is Side.DEVICE for value in bound)

    def _is_added_to_tensor(self, given: ast.expr) -> bool:
        """Whether what a call gives is added to a tensor of the device: ``total += measure(output, y).mean()``."""
        node: ast.AST = given
        while isinstance(parent := self._tree.parents[node], ast.Call | ast.Attribute | ast.BinOp):
            if isinstance(parent, ast.Call) and parent.func is not node:
                return False  # what a function is given
            node = parent
        if not isinstance(parent, ast.AugAssign) or parent.value is not node:
            return False
        return isinstance(parent.target, ast.Name) and self._kinds.is_on_device(parent.target)

    def _is_collective(self, node: ast.expr) -> bool:
        """Whether an expression is what a collective gives that is told not to wait, ``async_op=True``."""
        bindings = self._names.bindings(node) if isinstance(node, ast.Name) else []
        values = [binding.value for binding in bindings] if bindings else [node]
        return all(
            isinstance(value, ast.Call) and self._names.qualified(value.func) in _COLLECTIVES for value in values
        )

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

    def of_body(self, function: FunctionNode, depth: int) -> Work:
        """What running the body of a function of this file does, whichever file calls it."""
        if depth >= _DEPTH:
            return Work.READ
        return max((self.of(statement, depth + 1) for statement in function.body), default=Work.HOST)
