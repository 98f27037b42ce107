"""What a condition on the device opens: code for any accelerator, or features that only CUDA has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from tpulint.semantic.torch_facts import CUDA_ACTIONS, CUDA_ONLY_NAMES, CUDA_REPORTS, SHARED_OUT
from tpulint.semantic.variables import is_configuration, last_name, says_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_ROOTS = tuple(sorted({name.partition(".")[0] for name in CUDA_ONLY_NAMES}))
_REPORTS = CUDA_ONLY_NAMES | CUDA_REPORTS
_ASKS_FOR_WRAPPER = r"(?i)parallel|distributed|module|cuda|gpu|device"
_WRAPPERS = frozenset({"torch.nn.DataParallel"})
CUDA_ONLY_ARGUMENTS = frozenset({"fused", "pin_memory", "pin_memory_device"})
PRINTING = frozenset({"print", "info", "debug", "warning", "warn", "log", "write", "pprint", "error"})
_READINGS = frozenset({
    "torch.cuda.mem_get_info", "torch.cuda.get_device_properties", "torch.cuda.get_device_capability",
    "torch.cuda.utilization", "torch.cuda.memory_usage", "torch.cuda.temperature", "torch.cuda.power_draw",
    "torch.cuda.can_device_access_peer", "pynvml", "nvidia_smi", "GPUtil",
})  # fmt: skip
"""What tells about a GPU and has no answer without one."""
_MOVES = frozenset({"cuda", "to"})
_CUDA_PRODUCTS = r"(?i)rocm|nvidia|tensorrt|CUDAExecution|(?<![A-Za-z])hip(?![A-Za-z])|cuda_?graph|['\"]Stream['\"]"
OTHER_BACKENDS = ("xpu", "npu", "hpu", "mlu", "musa", "sdaa", "neuron", "mps")
OTHER_BACKEND = rf"(?<![A-Za-z])(?:{'|'.join(OTHER_BACKENDS)})(?![A-Za-z])"
_PLACING = (
    "torch.device",
    ".set_default_device",
    ".current_device",
    ".current_accelerator",
    "Tensor",
    ".set_default_tensor_type",
)
"""Ends of names that choose a device."""


class CudaFeatures:
    """Answers about conditions of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._tree = index.tree
        self._found: dict[frozenset[str], frozenset[ast.AST]] = {}

    @cached_property
    def serves_several(self) -> bool:
        """Whether the file chooses among backends: CUDA is one row of its table."""
        text = self._index.source.text
        may_serve = sum(backend in text for backend in OTHER_BACKENDS) > 1
        return may_serve and len(set(re.findall(OTHER_BACKEND, text))) > 1

    def _references(self, names: frozenset[str]) -> frozenset[ast.AST]:
        """References to these names and what lies below them."""
        found = self._found.get(names)
        if found is None:
            nodes = [node for node, name in self._index.references(*_ROOTS) if _lies_below(name, names)]
            found = self._found[names] = frozenset(nodes)
        return found

    def asks_cuda(self, node: ast.expr) -> bool:
        """Whether an expression asks the CUDA runtime for something: what stands beside it is right without a GPU."""
        if self.mentions_cuda_only(node):
            return True
        calls = [item for item in (node, *self._tree.nodes_in(node, ast.Call)) if isinstance(item, ast.Call)]
        names = [self._index.qualified_name(call.func) or "" for call in calls]
        return any(
            name.startswith(("torch.cuda.", "torch.accelerator.")) and not name.endswith(_PLACING) for name in names
        )

    def is_shown(self, node: ast.expr) -> bool:
        """Whether a value is only turned into text, or put into a report under a key."""
        parent = self._tree.parents[node]
        if isinstance(parent, ast.FormattedValue) or self.is_reported(node):
            return True
        return (
            isinstance(parent, ast.Call)
            and node in parent.args
            and last_name(parent.func) in (*PRINTING, "str", "repr", "format")
        )

    def is_reported(self, node: ast.expr) -> bool:
        """Whether a value is kept under a text: ``{"gpu": x}``, ``info["gpu"] = x``; a device is none to report."""
        parent = self._tree.parents[node]
        key: ast.expr | None = None
        if isinstance(parent, ast.Dict) and node in parent.values:
            key = parent.keys[parent.values.index(node)]
        elif isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            target = parent.targets[0]
            key = target.slice if isinstance(target, ast.Subscript) else None
            if isinstance(target, ast.Subscript) and is_configuration(last_name(target.value)):
                return False  # `config["gpu"] = x` is read by those who are handed the options
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str) or says_device(key.value):
            return False
        text = self._index.source.text  # a key that is written twice is read somewhere
        return text.count(f"'{key.value}'") + text.count(f'"{key.value}"') == 1

    def opens_only_cuda(self, node: ast.expr) -> bool:
        parent = self._tree.parents[node]
        return (
            isinstance(parent, ast.If)
            and parent.test is node
            and not any(self.places(item) for item in branch_bodies(parent.orelse))
            and (self.holds_only_cuda(parent.body) or all(_names_cuda(item) for item in parent.body))
        )

    def opens_placement(self, test: ast.expr, depth: int = 0) -> bool:
        """Whether a condition decides where something is put, itself or through one variable or attribute."""
        root = self.root(test)
        parent = self._tree.parents[root]
        if isinstance(parent, ast.If) and parent.test is root:
            taken = (*parent.body, *parent.orelse)
            return any(map(self.places, taken)) or (depth < 2 and any(self._flag_places(item, depth) for item in taken))
        if isinstance(parent, ast.IfExp) and parent.test is root:
            return self.places(parent.body) or self.places(parent.orelse)
        if isinstance(parent, ast.Assign) and depth < 2:
            return any(self.opens_placement(load, depth + 1) for load in self._reads_of(parent))
        if isinstance(parent, ast.Return) and depth < 2:
            function = self._tree.function_of(parent)
            calls = [] if function is None else self._index.definitions.calls_of(function)
            return any(self.opens_placement(call, depth + 1) for call in calls)
        return False

    def _flag_places(self, statement: ast.stmt, depth: int) -> bool:
        """Whether a statement sets a flag, ``self.use_cuda = True``, that decides where something is put."""
        if not isinstance(statement, ast.Assign) or not _is_bool(statement.value):
            return False
        return any(self.opens_placement(load, depth + 1) for load in self._reads_of(statement))

    def _reads_of(self, statement: ast.Assign) -> list[ast.expr]:
        """Where a variable or attribute is read that a statement sets."""
        target = statement.targets[0]
        if len(statement.targets) != 1 or not isinstance(target, ast.Name | ast.Attribute):
            return []
        if isinstance(target, ast.Name):
            return list[ast.expr](self._index.names.loads_of(target))
        return [node for node in self._tree.attributes_called(target.attr) if isinstance(node.ctx, ast.Load)]

    def places(self, code: ast.AST) -> bool:
        """Whether code moves something, names a device or makes tensors of CUDA."""
        for node in (code, *self._tree.inside(code)):
            if self.is_asked_about(node):
                continue
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and node.value.partition(":")[0] in ("cuda", "xla")  # "xla" once the device has been chosen anew
            ):
                return True
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MOVES:
                return True
            if isinstance(node, ast.Attribute) and (self._index.qualified_name(node) or "").endswith(_PLACING):
                return True
        return False

    def is_asked_about(self, node: ast.AST) -> bool:
        """Whether a device is only named to ask what CUDA alone can tell: ``get_device_properties("cuda")``."""
        if not isinstance(node, ast.expr):
            return False
        asked = self._references(CUDA_ONLY_NAMES)
        child: ast.AST = node
        while asked and isinstance(child, ast.expr):
            parent = self._tree.parents[child]
            if isinstance(parent, ast.Call) and child is not parent.func and parent.func in asked:
                return True
            child = parent
        return False

    def root(self, node: ast.expr) -> ast.expr:
        while True:
            parent = self._tree.parents[node]
            negated = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
            # `bool(x)` and `x == True` say the same as x
            as_bool = isinstance(parent, ast.Call) and self._index.qualified_name(parent.func) == "builtins.bool"
            compared = isinstance(parent, ast.Compare) and _is_bool(parent.comparators[0])
            if not (isinstance(parent, ast.BoolOp) or negated or as_bool or compared):
                return node
            assert isinstance(parent, ast.expr)
            node = parent

    # ---------------------------------------------------------------- CUDA only

    def mentions_cuda_only(self, node: ast.AST) -> bool:
        """Whether code uses what only CUDA has."""
        return self._mentions(node, CUDA_ONLY_NAMES)

    def is_wrapper_for_gpus(self, owner: ast.ClassDef) -> bool:
        """Whether a class is a copy of ``DataParallel``, which calls its module alone where there are no GPUs.

        ``if not torch.cuda.is_available(): self.device_ids = []``
        """
        starts = [item for item in owner.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"]
        leaves = (item for start in starts for item in start.body if isinstance(item, ast.If))
        return any(_leaves_without_gpus(self._index, item) for item in leaves) and self._mentions(owner, SHARED_OUT)

    def reads_cuda(self, code: ast.AST) -> bool:
        """Whether code reads what the CUDA driver alone can tell, and raises where there is none."""
        return self._mentions(code, _READINGS)

    def asks_cuda_only(self, condition: ast.expr) -> bool:
        """Whether a condition asks, besides, what only CUDA can tell."""
        return self.mentions_cuda_only(condition) or (
            isinstance(condition, ast.BoolOp) and re.search(_CUDA_PRODUCTS, self._tree.text(condition)) is not None
        )

    def _mentions(self, code: ast.AST, names: frozenset[str]) -> bool:
        found = self._references(names)
        return bool(found) and any(item in found for item in (code, *self._tree.inside(code)))

    def holds_only_cuda(self, body: list[ast.stmt]) -> bool:
        """Whether a branch tells about GPUs or uses what only CUDA has, and neither places nor does anything else."""
        if not any(self._mentions(statement, _REPORTS) for statement in body):
            return False
        if self._wraps_what_is_unwrapped(body):
            return False
        return not any(self.places(statement) or self._mentions(statement, CUDA_ACTIONS) for statement in body)

    def _wraps_what_is_unwrapped(self, body: list[ast.stmt]) -> bool:
        """Whether a branch wraps a model whose ``model.module`` is read whatever the condition was."""
        if not any(self._mentions(statement, _WRAPPERS) for statement in body):
            return False
        reads = (node for node in self._tree.attributes_called("module") if isinstance(node.ctx, ast.Load))
        return any(
            self._index.qualified_name(read) is None
            and not any(
                isinstance(ancestor, ast.If | ast.IfExp)
                and re.search(_ASKS_FOR_WRAPPER, self._tree.text(ancestor.test))
                for ancestor in self._tree.ancestors(read)
            )
            for read in reads
        )

    def is_report(self, statement: ast.stmt) -> bool:
        """Whether a statement tells something about GPUs."""
        return self._mentions(statement, _REPORTS)

    def cuda_reports(self, body: list[ast.stmt]) -> Iterator[ast.stmt]:
        """Statements that only print or log what CUDA alone can tell."""
        told = set[ast.stmt]()
        for statement in body:
            call = statement.value if isinstance(statement, ast.Expr) else None
            prints = isinstance(call, ast.Call) and last_name(call.func) in PRINTING
            if (prints and self.mentions_cuda_only(statement)) or statement in told or self.is_report_loop(statement):
                yield statement
            elif (uses := self._told_of(statement)) and all(use in body for use in uses):
                told.update(uses)
                yield statement

    def _told_of(self, statement: ast.stmt) -> list[ast.stmt]:
        """The messages that tell what a variable has read of a GPU; none where it is used otherwise."""
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if not isinstance(target, ast.Name) or not self.reads_cuda(statement):
            return []
        uses = [self._tree.statement_of(name) for name in self._index.names.loads_of(target)]
        return uses if all(_tells(use) for use in uses) else []

    def is_report_loop(self, statement: ast.AST) -> bool:
        """Whether a loop tells about each GPU and does nothing else: ``for i in range(n): s += properties(i).name``."""
        if not isinstance(statement, ast.For) or statement.orelse or not self.reads_cuda(statement):
            return False
        own = {node.id for node in self._tree.nodes_in(statement.target, ast.Name) if isinstance(node, ast.Name)}
        own |= {statement.target.id} if isinstance(statement.target, ast.Name) else set()
        for item in statement.body:
            if isinstance(item, ast.Assign) and all(isinstance(target, ast.Name) for target in item.targets):
                own |= {target.id for target in item.targets if isinstance(target, ast.Name)}
                if not self.reads_cuda(item):
                    return False
            elif not _tells(item):
                return False
        function = self._tree.function_of(statement)
        return not any(
            isinstance(name.ctx, ast.Load)
            and self._tree.function_of(name) is function
            and not self._tree.encloses(statement, name)
            for word in own
            for name in self._tree.names_called(word)
        )

    def guards_cuda_only(self, comparison: ast.AST | None) -> bool:
        """Whether a comparison with CUDA's name opens only what CUDA alone has: then it is rightly false."""
        if not isinstance(comparison, ast.expr):
            return False
        root = self.root(comparison)
        parent = self._tree.parents[root]
        if self.asks_cuda_only(root):
            return True  # another part of the condition asks what only CUDA can tell
        if isinstance(parent, ast.If) and parent.test is root:
            if root is comparison and _asks_equal(comparison) and isinstance(parent.body[-1], ast.Raise):
                return True  # what is an error on CUDA
            if all(_sets_nccl(item) or _only_orders_memory(item) or self._sets_flag(item) for item in parent.body):
                return True
            return self.holds_only_cuda(parent.body)
        if isinstance(parent, ast.IfExp) and parent.test is root:
            return self.mentions_cuda_only(parent.body) or self._feeds_cuda_only(parent)
        return self._feeds_cuda_only(root)

    def _sets_flag(self, statement: ast.stmt) -> bool:
        """``torch.backends.cuda.matmul.allow_tf32 = True``"""
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        names = [self._index.qualified_name(target) or "" for target in targets]
        return bool(names) and all(name.startswith("torch.backends.cud") for name in names)

    def _feeds_cuda_only(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a value only ever becomes ``fused=`` and the like, itself or through one variable."""
        parent = self._tree.parents[node]
        if isinstance(parent, ast.keyword):
            call = self._tree.parents[parent]
            scales = isinstance(call, ast.Call) and last_name(call.func) == "GradScaler"
            return scales or parent.arg in CUDA_ONLY_ARGUMENTS
        if isinstance(parent, ast.IfExp) and parent.test is node:
            return any(given.arg in CUDA_ONLY_ARGUMENTS for given in self._tree.nodes_in(parent.body, ast.keyword))
        if (
            isinstance(parent, ast.Assign)
            and len(parent.targets) == 1
            and isinstance(parent.targets[0], ast.Name)
            and depth < 3
        ):
            target = parent.targets[0]
            if "fused" in target.id:
                return True
            loads = self._index.names.loads_of(target)
            return bool(loads) and all(self._feeds_cuda_only(load, depth + 1) for load in loads)
        return False


def _leaves_without_gpus(index: SemanticIndex, branch: ast.If) -> bool:
    """``if not torch.cuda.is_available(): ...; return``"""
    asked = branch.test.operand if isinstance(branch.test, ast.UnaryOp) else None
    is_asked = isinstance(asked, ast.Call) and index.qualified_name(asked.func) == "torch.cuda.is_available"
    return is_asked and isinstance(branch.body[-1], ast.Return)


def branch_bodies(orelse: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of all branches of an ``else`` or a chain of ``elif``, without the conditions."""
    for item in orelse:
        if isinstance(item, ast.If) and len(orelse) == 1:
            yield from item.body
            yield from branch_bodies(item.orelse)
        else:
            yield item


def _names_cuda(statement: ast.stmt) -> bool:
    """``backend_name = "CUDA"``: a word for people, not what torch calls a device."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    text = value.value if isinstance(value, ast.Constant) else None
    return isinstance(text, str) and text != "cuda" and text.lower() == "cuda"


def _sets_nccl(statement: ast.stmt) -> bool:
    """``os.environ["TORCH_NCCL_BLOCKING_WAIT"] = "1"``"""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    key = target.slice if isinstance(target, ast.Subscript) else None
    return isinstance(key, ast.Constant) and isinstance(key.value, str) and "NCCL" in key.value


def _only_orders_memory(statement: ast.stmt) -> bool:
    """``model = model.to(memory_format=torch.channels_last)``: XLA chooses the order itself."""
    value = statement.value if isinstance(statement, ast.Assign | ast.Expr) else None
    return (
        isinstance(value, ast.Call)
        and last_name(value.func) == "to"
        and not value.args
        and [item.arg for item in value.keywords] == ["memory_format"]
    )


def _asks_equal(comparison: ast.expr) -> bool:
    return isinstance(comparison, ast.Compare) and isinstance(comparison.ops[0], ast.Eq | ast.In)


def _tells(statement: ast.stmt) -> bool:
    """``print(...)``, or text that is added to other text."""
    if isinstance(statement, ast.AugAssign):
        return isinstance(statement.op, ast.Add) and _is_text(statement.value)
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and last_name(call.func) in PRINTING


def _is_text(node: ast.expr) -> bool:
    """An f-string, or a text that is filled in."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        node = node.func.value
    if isinstance(node, ast.BinOp):
        return _is_text(node.left)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_bool(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _lies_below(name: str, names: frozenset[str]) -> bool:
    while name not in names:
        name = name.rpartition(".")[0]
        if not name:
            return False
    return True
