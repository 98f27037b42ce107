"""What a condition on the device opens: code for any accelerator, or features that only CUDA has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tpulint.semantic.torch_facts import CUDA_ACTIONS, CUDA_ONLY_NAMES, CUDA_REPORTS

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_ROOTS = tuple(sorted({name.partition(".")[0] for name in CUDA_ONLY_NAMES}))
_REPORTS = CUDA_ONLY_NAMES | CUDA_REPORTS
_CUDA_ONLY_ARGUMENTS = frozenset({"fused", "pin_memory", "pin_memory_device"})
_PRINTING = frozenset({"print", "info", "debug", "warning", "warn", "log", "write", "pprint", "error"})
_MOVES = frozenset({"cuda", "to"})
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

    def _references(self, names: frozenset[str]) -> frozenset[ast.AST]:
        """References to these names and what lies below them."""
        found = self._found.get(names)
        if found is None:
            nodes = [node for node, name in self._index.references(*_ROOTS) if _lies_below(name, names)]
            found = self._found[names] = frozenset(nodes)
        return found

    def is_worth_folding(self, question: ast.expr) -> bool:
        """Whether a false answer on a TPU machine does harm.

        It does none where the answer is only shown, where it switches on a feature that only CUDA has, and where all it
        guards are calls that would raise.
        """
        root = self._root(question)
        parent = self._tree.parents[root]
        if self.mentions_cuda_only(root):
            return False  # another part of the condition asks what only CUDA can tell
        if isinstance(parent, ast.keyword):
            return self._is_wanted_argument(parent)
        if isinstance(parent, ast.Call) and root in parent.args:
            return self._belongs_to_file(parent)
        if isinstance(parent, ast.FormattedValue | ast.List | ast.Tuple | ast.Set):
            return False
        if isinstance(parent, ast.If) and parent.test is root and not any(self._places(item) for item in parent.orelse):
            return not self._holds_only_cuda(parent.body)
        if isinstance(parent, ast.IfExp) and parent.test is root:
            return not self._asks_cuda(parent.body) and not self._is_worse(parent)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            loads = self._loads(parent.targets[0])
            return not loads or not all(self._is_shown(load) or self._opens_only_cuda(load) for load in loads)
        return True

    def opens_runtime_calls(self, question: ast.expr) -> bool:
        """Whether a question opens nothing but calls into the CUDA runtime, such as seeding or emptying its cache."""
        root = self._root(question)
        parent = self._tree.parents[root]
        if not isinstance(parent, ast.If) or parent.test is not root or parent.orelse:
            return False
        return all(
            isinstance(item, ast.Expr) and isinstance(item.value, ast.Call)
            and (self._index.qualified_name(item.value.func) or "").startswith(("torch.cuda.", "torch.accelerator."))
            for item in parent.body
        )  # fmt: skip

    def ends_program(self, question: ast.expr) -> bool:
        """Whether the program ends where the answer is no: ``if not is_available(): raise``."""
        root = self._root(question)
        parent = self._tree.parents[root]
        if isinstance(parent, ast.Assert):
            return True
        return isinstance(parent, ast.If) and parent.test is root and any(_leaves_program(item) for item in parent.body)

    def _is_worse(self, choice: ast.IfExp) -> bool:
        """Whether what a GPU wants is worse on a TPU than what the CPU gets: float16, ``accelerator="gpu"``."""
        if self._index.qualified_name(choice.body) in ("torch.float16", "torch.half"):
            return True
        keyword = self._tree.parents[choice]
        if isinstance(keyword, ast.keyword) and keyword.arg in ("gpus", "devices", "accelerator"):
            return True
        return isinstance(choice.body, ast.Constant) and choice.body.value in ("gpu", "fp16", "16-mixed")

    def _asks_cuda(self, node: ast.expr) -> bool:
        """Whether an expression asks the CUDA runtime for something: what stands beside it is right without a GPU."""
        if self.mentions_cuda_only(node):
            return True
        calls = [item for item in (node, *self._tree.inside(node)) if isinstance(item, ast.Call)]
        names = [self._index.qualified_name(call.func) or "" for call in calls]
        return any(
            name.startswith(("torch.cuda.", "torch.accelerator.")) and not name.endswith(_PLACING) for name in names
        )

    def _loads(self, target: ast.Name) -> list[ast.Name]:
        """Places that read a variable."""
        names = self._index.names
        home = names.find(target.id, names.scope_of(target))
        return [
            name for name in self._tree.names
            if name.id == target.id and isinstance(name.ctx, ast.Load)
            and names.find(name.id, names.scope_of(name)) == home
        ]  # fmt: skip

    def _is_shown(self, node: ast.expr) -> bool:
        """Whether a value is only turned into text."""
        parent = self._tree.parents[node]
        if isinstance(parent, ast.FormattedValue):
            return True
        return (
            isinstance(parent, ast.Call)
            and node in parent.args
            and _last(parent) in (*_PRINTING, "str", "repr", "format")
        )

    def _opens_only_cuda(self, node: ast.expr) -> bool:
        parent = self._tree.parents[node]
        return (
            isinstance(parent, ast.If)
            and parent.test is node
            and not any(self._places(item) for item in parent.orelse)
            and self._holds_only_cuda(parent.body)
        )

    def opens_placement(self, test: ast.expr, depth: int = 0) -> bool:
        """Whether a condition decides where something is put, itself or through one variable."""
        root = self._root(test)
        parent = self._tree.parents[root]
        if isinstance(parent, ast.If) and parent.test is root:
            return any(self._places(item) for item in (*parent.body, *parent.orelse))
        if isinstance(parent, ast.IfExp) and parent.test is root:
            return self._places(parent.body) or self._places(parent.orelse)
        if (
            isinstance(parent, ast.Assign)
            and len(parent.targets) == 1
            and isinstance(parent.targets[0], ast.Name)
            and depth < 2
        ):
            return any(self.opens_placement(load, depth + 1) for load in self._loads(parent.targets[0]))
        return False

    def _places(self, code: ast.AST) -> bool:
        """Whether code moves something, names a device or makes tensors of CUDA."""
        for node in (code, *self._tree.inside(code)):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and (node.value == "cuda" or node.value.startswith("cuda:"))
            ):
                return True
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MOVES:
                return True
            if isinstance(node, ast.Attribute) and (self._index.qualified_name(node) or "").endswith(_PLACING):
                return True
        return False

    def _root(self, node: ast.expr) -> ast.expr:
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

    def _is_wanted_argument(self, keyword: ast.keyword) -> bool:
        call = self._tree.parents[keyword]
        if not isinstance(call, ast.Call) or keyword.arg in _CUDA_ONLY_ARGUMENTS or keyword.arg is None:
            return False
        last = _last(call)
        if last == "GradScaler" or last in _PRINTING:
            return False
        return last in ("autocast", "add_argument", "option", "Option", "dict") or self._belongs_to_file(call)

    def _belongs_to_file(self, call: ast.Call) -> bool:
        definitions = self._index.definitions
        return definitions.function_called(call) is not None or definitions.class_called(call) is not None

    # ---------------------------------------------------------------- CUDA only

    def mentions_cuda_only(self, node: ast.AST) -> bool:
        """Whether code uses what only CUDA has."""
        return self._mentions(node, CUDA_ONLY_NAMES)

    def _mentions(self, code: ast.AST, names: frozenset[str]) -> bool:
        found = self._references(names)
        return bool(found) and any(item in found for item in (code, *self._tree.inside(code)))

    def _holds_only_cuda(self, body: list[ast.stmt]) -> bool:
        """Whether a branch tells about GPUs or uses what only CUDA has, and neither places nor does anything else."""
        if not any(self._mentions(statement, _REPORTS) for statement in body):
            return False
        return not any(self._places(statement) or self._mentions(statement, CUDA_ACTIONS) for statement in body)

    def cuda_reports(self, body: list[ast.stmt]) -> Iterator[ast.stmt]:
        """Statements that only print or log what CUDA alone can tell."""
        for statement in body:
            call = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(call, ast.Call) and _last(call) in _PRINTING and self.mentions_cuda_only(statement):
                yield statement

    def guards_cuda_only(self, comparison: ast.AST | None) -> bool:
        """Whether a comparison with CUDA's name opens only what CUDA alone has: then it is rightly false."""
        if not isinstance(comparison, ast.expr):
            return False
        root = self._root(comparison)
        parent = self._tree.parents[root]
        if self.mentions_cuda_only(root):
            return True  # another part of the condition asks what only CUDA can tell
        if isinstance(parent, ast.If) and parent.test is root:
            return self._holds_only_cuda(parent.body)
        if isinstance(parent, ast.IfExp) and parent.test is root:
            return self.mentions_cuda_only(parent.body) or self._feeds_cuda_only(parent)
        return self._feeds_cuda_only(root)

    def _feeds_cuda_only(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a value only ever becomes ``fused=`` and the like, itself or through one variable."""
        parent = self._tree.parents[node]
        if isinstance(parent, ast.keyword):
            call = self._tree.parents[parent]
            return parent.arg in _CUDA_ONLY_ARGUMENTS or (isinstance(call, ast.Call) and _last(call) == "GradScaler")
        if isinstance(parent, ast.IfExp) and parent.test is node:
            return any(
                isinstance(n, ast.keyword) and n.arg in _CUDA_ONLY_ARGUMENTS for n in self._tree.inside(parent.body)
            )
        if (
            isinstance(parent, ast.Assign)
            and len(parent.targets) == 1
            and isinstance(parent.targets[0], ast.Name)
            and depth < 3
        ):
            target = parent.targets[0]
            if "fused" in target.id:
                return True
            loads = self._loads(target)
            return bool(loads) and all(self._feeds_cuda_only(load, depth + 1) for load in loads)
        return False


def _is_bool(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _lies_below(name: str, names: frozenset[str]) -> bool:
    while name not in names:
        name = name.rpartition(".")[0]
        if not name:
            return False
    return True


def _leaves_program(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return _last(statement.value) in ("exit", "_exit", "quit", "abort")
    return isinstance(statement, ast.Raise)


def _last(call: ast.Call) -> str:
    func = call.func
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
