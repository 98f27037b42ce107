"""Where code names what only CUDA has: to use it, to ask for it, or to tell people of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.semantic.devices.placement import PLACING
from tpulint.semantic.syntax.torch_facts import CUDA_ONLY_NAMES, CUDA_REPORTS
from tpulint.semantic.syntax.variables import is_configuration, last_name, says_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_ROOTS = tuple(sorted({name.partition(".")[0] for name in CUDA_ONLY_NAMES}))
REPORTS = CUDA_ONLY_NAMES | CUDA_REPORTS
PRINTING = frozenset({"print", "info", "debug", "warning", "warn", "log", "write", "pprint", "error"})
_DUMPING = frozenset({"dump", "dumps", "safe_dump"})
"""Functions that turn a value into text for others to read, beside those that print."""
READINGS = frozenset({
    "torch.cuda.mem_get_info", "torch.cuda.get_device_properties", "torch.cuda.get_device_capability",
    "torch.cuda.utilization", "torch.cuda.memory_usage", "torch.cuda.temperature", "torch.cuda.power_draw",
    "torch.cuda.can_device_access_peer", "pynvml", "nvidia_smi", "GPUtil",
})  # fmt: skip
"""What tells about a GPU and has no answer without one."""
_VARIABLES = ("CUDA_", "NVIDIA_")
"""Beginnings of the names of environment variables that only CUDA reads."""
_CUDA_PRODUCTS = r"(?i)rocm|nvidia|tensorrt|CUDAExecution|(?<![A-Za-z])hip(?![A-Za-z])|cuda_?graph|['\"]Stream['\"]"


class CudaMentions:
    """Answers about the code of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._tree = index.tree
        self._found: dict[frozenset[str], frozenset[ast.AST]] = {}

    def references(self, names: frozenset[str]) -> frozenset[ast.AST]:
        """References to these names and what lies below them."""
        found = self._found.get(names)
        if found is None:
            nodes = [node for node, name in self._index.references(*_ROOTS) if _lies_below(name, names)]
            found = self._found[names] = frozenset(nodes)
        return found

    def are_in(self, code: ast.AST, names: frozenset[str] = CUDA_ONLY_NAMES) -> bool:
        """Whether code uses what only CUDA has, or any other of these names and what lies below them."""
        found = self.references(names)
        return bool(found) and any(item in found for item in (code, *self._tree.inside(code)))

    def asks_cuda(self, node: ast.expr) -> bool:
        """Whether an expression asks the CUDA runtime for something: what stands beside it is right without a GPU."""
        if self.are_in(node):
            return True
        calls = [item for item in (node, *self._tree.nodes_in(node, ast.Call)) if isinstance(item, ast.Call)]
        names = [self._index.qualified_name(call.func) or "" for call in calls]
        return any(
            name.startswith(("torch.cuda.", "torch.accelerator.")) and not name.endswith(PLACING) for name in names
        )

    def asks_cuda_only(self, condition: ast.expr) -> bool:
        """Whether a condition asks, besides, what only CUDA can tell."""
        return self.are_in(condition) or (
            isinstance(condition, ast.BoolOp) and re.search(_CUDA_PRODUCTS, self._tree.text(condition)) is not None
        )

    def reads_cuda(self, code: ast.AST) -> bool:
        """Whether code reads what the CUDA driver alone can tell, and raises where there is none."""
        return self.are_in(code, READINGS)

    # ---------------------------------------------------------------- what is only told

    def is_report(self, statement: ast.stmt) -> bool:
        """Whether a statement tells something about GPUs."""
        return self.are_in(statement, REPORTS)

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
        if isinstance(parent, ast.Dict | ast.keyword) and self._is_written_out(node):
            return True
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
        if isinstance(parent, ast.Dict) and self._is_option(parent, key.value):
            return False
        text = self._index.source.text  # a key that is written twice is read somewhere
        return text.count(f"'{key.value}'") + text.count(f'"{key.value}"') == 1

    def _is_option(self, options: ast.Dict, name: str) -> bool:
        """Whether what a dictionary holds is read as an attribute: ``opt = make({"cuda": x})``, ``if opt.cuda:``."""
        made = self._tree.parents[options]
        made = self._tree.parents[made] if isinstance(made, ast.keyword) else made
        kept = self._tree.parents[made] if isinstance(made, ast.Call) else None
        target = kept.targets[0] if isinstance(kept, ast.Assign) and len(kept.targets) == 1 else None
        if not isinstance(target, ast.Name):
            return False
        reads = map(self._tree.parents.get, self._index.names.loads_of(target))
        return is_configuration(target.id) or any(isinstance(one, ast.Attribute) and one.attr == name for one in reads)

    def _is_written_out(self, node: ast.expr) -> bool:
        """Whether a dictionary that holds a value, or the variable it is kept in, is only printed, dumped or logged."""
        parent = self._tree.parents[node]
        if isinstance(parent, ast.Dict):
            return self._is_written_out(parent)
        if isinstance(parent, ast.keyword):
            call = self._tree.parents[parent]
            is_dict = isinstance(call, ast.Call) and self._index.qualified_name(call.func) == "builtins.dict"
            return is_dict and isinstance(call, ast.Call) and self._is_written_out(call)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            loads = self._index.names.loads_of(parent.targets[0])
            return bool(loads) and all(map(self._is_written_out, loads))
        if not isinstance(parent, ast.Call) or node not in parent.args:
            return False
        return last_name(parent.func) in (*PRINTING, *_DUMPING)

    def cuda_reports(self, body: list[ast.stmt]) -> Iterator[ast.stmt]:
        """Statements that only print or log what CUDA alone can tell."""
        told = set[ast.stmt]()
        for statement in body:
            call = statement.value if isinstance(statement, ast.Expr) else None
            prints = isinstance(call, ast.Call) and last_name(call.func) in PRINTING
            if (prints and self.are_in(statement)) or statement in told or self.is_report_loop(statement):
                yield statement
            elif (uses := self._told_of(statement)) and all(use in body for use in uses):
                told.update(uses)
                yield statement

    def cuda_demands(self, body: list[ast.stmt]) -> Iterator[ast.stmt]:
        """Statements that end the program where CUDA is not set up as they want: `assert CUDA_VISIBLE_DEVICES`."""
        for statement in body:
            if not isinstance(statement, ast.If | ast.Assert) or not self._asks_only_of_setup(statement.test):
                continue
            if isinstance(statement, ast.Assert) or [type(item) for item in statement.body] == [ast.Raise]:
                yield statement

    def _asks_only_of_setup(self, test: ast.expr) -> bool:
        """Whether a condition asks nothing but what CUDA's driver tells, or variables that are set for it."""
        if isinstance(test, ast.BoolOp):
            return all(map(self._asks_only_of_setup, test.values))
        return self.reads_cuda(test) or any(
            isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(_VARIABLES)
            for name, _ in self._index.references("os.environ", "os.getenv")
            if self._tree.encloses(test, name)
            for node in self._tree.inside(test)
        )

    def _told_of(self, statement: ast.stmt) -> list[ast.stmt]:
        """The messages that tell what a variable has read of a GPU; none where it is used otherwise."""
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if not isinstance(target, ast.Name) or not self.reads_cuda(statement):
            return []
        uses = [self._tree.statement_of(name) for name in self._index.names.loads_of(target)]
        return uses if all(tells(use) for use in uses) else []

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
            elif not tells(item):
                return False
        function = self._tree.function_of(statement)
        return not any(
            isinstance(name.ctx, ast.Load)
            and self._tree.function_of(name) is function
            and not self._tree.encloses(statement, name)
            for word in own
            for name in self._tree.names_called(word)
        )


def tells(statement: ast.stmt) -> bool:
    """``print(...)``, or text that is added to other text."""
    if isinstance(statement, ast.AugAssign):
        return isinstance(statement.op, ast.Add) and is_text(statement.value)
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and last_name(call.func) in PRINTING


def is_text(node: ast.expr) -> bool:
    """An f-string, or a text that is filled in."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        node = node.func.value
    if isinstance(node, ast.BinOp):
        return is_text(node.left)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _lies_below(name: str, names: frozenset[str]) -> bool:
    while name not in names:
        name = name.rpartition(".")[0]
        if not name:
            return False
    return True
