"""What a condition on the device opens: code for any accelerator, or features that only CUDA has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from tpulint.semantic.cuda.cuda_mentions import REPORTS, CudaMentions
from tpulint.semantic.devices.placement import Placement
from tpulint.semantic.modules.wrapper_reads import asks_first, is_unwrapped_elsewhere, unwrapped
from tpulint.semantic.syntax.torch_facts import CUDA_ACTIONS, SHARED_OUT
from tpulint.semantic.syntax.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.cuda.cuda_bindings import CudaBindings

_WRAPPERS = frozenset({"torch.nn.DataParallel"})
CUDA_ONLY_ARGUMENTS = frozenset({"fused", "pin_memory", "pin_memory_device"})
OTHER_BACKENDS = ("xpu", "npu", "hpu", "mlu", "musa", "sdaa", "neuron", "mps")
OTHER_BACKEND = rf"(?<![A-Za-z])(?:{'|'.join(OTHER_BACKENDS)})(?![A-Za-z])"


class CudaFeatures:
    """Answers about conditions of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._tree = index.tree
        self.mentions = CudaMentions(index)
        self.placement = Placement(index, self.mentions)
        self._only_cuda: dict[ast.AST, bool] = {}

    @cached_property
    def serves_several(self) -> bool:
        """Whether the file chooses among backends: CUDA is one row of its table."""
        text = self._index.source.text
        may_serve = sum(backend in text for backend in OTHER_BACKENDS) > 1
        return may_serve and len(set(re.findall(OTHER_BACKEND, text))) > 1

    def opens_only_cuda(self, node: ast.expr) -> bool:
        parent = self._tree.parents[node]
        return (
            isinstance(parent, ast.If)
            and parent.test is node
            and not any(self.placement.places(item) for item in branch_bodies(parent.orelse))
            and (self.holds_only_cuda(parent.body) or all(_names_cuda(item) for item in parent.body))
        )

    # ---------------------------------------------------------------- CUDA only

    def is_wrapper_for_gpus(self, owner: ast.ClassDef) -> bool:
        """Whether a class is a copy of ``DataParallel``, which calls its module alone where there are no GPUs.

        ``if not torch.cuda.is_available(): self.device_ids = []``
        """
        starts = [item for item in owner.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"]
        leaves = (item for start in starts for item in start.body if isinstance(item, ast.If))
        leaves_early = any(_leaves_without_gpus(self._index, item) for item in leaves)
        return leaves_early and self.mentions.are_in(owner, SHARED_OUT)

    def holds_only_cuda(self, body: Sequence[ast.AST]) -> bool:
        """Whether a branch tells about GPUs or uses what only CUDA has, and neither places nor does anything else.

        What it gives names to is read by such branches only, which are for CUDA as well.
        """
        if not body:
            return False  # the other branch of a condition that has none
        found = self._only_cuda.get(body[0])
        if found is None:
            found = self._uses_only_cuda(body) and not self._bindings.are_needed_elsewhere(body)
            found = found or self._bindings.feed(body)
            self._only_cuda[body[0]] = found
        return found

    def opens_what_needs(self, answer: ast.expr, names: frozenset[str]) -> bool:
        """Whether a variable, or it and other conditions, opens nothing but what needs these functions of CUDA."""
        root = answer
        while isinstance(parent := self._tree.parents[root], ast.BoolOp) and isinstance(parent.op, ast.And):
            root = parent
        others = self._beside(answer)
        if others and self._bindings.feed(others, lambda branch: self._need(branch, names)):
            return True
        if isinstance(parent, ast.IfExp) and parent.test is root:
            return self._need([parent.body], names) and not self.placement.places(parent)
        if not isinstance(parent, ast.If) or parent.test is not root or any(map(self.placement.places, parent.orelse)):
            return False
        return self._need(parent.body, names)

    def reads_what_cuda_gives(self, node: ast.expr) -> bool:
        """Whether an expression reads what has a value only where CUDA is: ``start.elapsed_time(end)``."""
        return self._bindings.feed([node])

    def is_asked_with_cuda(self, question: ast.expr) -> bool:
        """Whether another part of the condition reads such a value: ``use_cuda and facts.major >= 8``."""
        others = self._beside(question)
        return bool(others) and self._bindings.feed(others)

    def _beside(self, question: ast.expr) -> list[ast.expr]:
        """The other parts of the condition that a question is part of."""
        root = self.placement.root(question)
        parts = root.values if isinstance(root, ast.BoolOp) else []
        return [part for part in parts if not self._tree.encloses(part, question)]

    def _need(self, body: Sequence[ast.AST], names: frozenset[str]) -> bool:
        """Whether a branch for CUDA does more with these functions than to tell what they answer, or its likes do."""
        if not self.holds_only_cuda(body):
            return False
        told = set(self.mentions.cuda_reports([item for item in body if isinstance(item, ast.stmt)]))
        if any(self.mentions.are_in(item, names) for item in body if item not in told):
            return True
        return self._bindings.feed(body, lambda other: other is not body and self._need(other, names))

    def _uses_only_cuda(self, body: Sequence[ast.AST]) -> bool:
        if not any(self.mentions.are_in(statement, REPORTS) for statement in body):
            return False
        if self._wraps_what_is_unwrapped(body):
            return False
        return not any(self.placement.places(item) or self.mentions.are_in(item, CUDA_ACTIONS) for item in body)

    @cached_property
    def _bindings(self) -> CudaBindings:
        from tpulint.semantic.cuda.cuda_bindings import CudaBindings

        return CudaBindings(self._index, self.mentions, self.placement, self.holds_only_cuda)

    def _wraps_what_is_unwrapped(self, body: Sequence[ast.AST]) -> bool:
        """Whether a branch wraps a model whose ``model.module`` is read by code that does not look for the wrapper.

        What else the code asks, ``if args.parallel:``, may hold without GPUs, too.
        """
        if not any(self.mentions.are_in(statement, _WRAPPERS) for statement in body):
            return False
        index = self._index
        return any(not asks_first(index, read) for read in unwrapped(index)) or is_unwrapped_elsewhere(index)

    def guards_cuda_only(self, comparison: ast.AST | None) -> bool:
        """Whether a comparison with CUDA's name opens only what CUDA alone has: then it is rightly false."""
        if not isinstance(comparison, ast.expr):
            return False
        root = self.placement.root(comparison)
        parent = self._tree.parents[root]
        if self.mentions.asks_cuda_only(root) or self.is_asked_with_cuda(comparison):
            return True  # another part of the condition asks what only CUDA can tell
        if isinstance(parent, ast.If) and parent.test is root:
            if root is comparison and _asks_equal(comparison) and isinstance(parent.body[-1], ast.Raise):
                return True  # what is an error on CUDA
            if all(_sets_nccl(item) or _only_orders_memory(item) or self._sets_flag(item) for item in parent.body):
                return True
            return self.holds_only_cuda(parent.body)
        if isinstance(parent, ast.IfExp) and parent.test is root:
            asks = self.mentions.are_in(parent.body) or self.reads_what_cuda_gives(parent.body)
            return asks or self._feeds_cuda_only(parent)
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
