"""Branches that need GPUs, beside others that do the same without them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from tpulint.semantic.syntax.torch_facts import NEEDING_GPUS
from tpulint.semantic.syntax.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_Branch = Sequence[ast.AST]
_DEPTH = 2
_WORDS = frozenset(name.rpartition(".")[2] for name in NEEDING_GPUS)


class GpuBranches:
    """Choices of one file between what GPUs alone can do and what any device can."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._tree = index.tree

    def needing_gpus(self, asked: Iterable[ast.expr]) -> Iterator[tuple[ast.expr, bool]]:
        """Conditions with one of these questions in them, and the answers that lead to where no GPUs are needed.

        ``if use_cuda: y = data_parallel_workaround(model, x)``, then ``else: y = model(x)``, which any device can do. A
        variable that holds the answer to a question is one, too.
        """
        nodes = [node for one in asked for node in (one, *self._flags(one))]
        tests = dict.fromkeys(test for node in nodes if (test := self._test(node)) is not None)
        for test in tests:
            choice = self._tree.parents[test]
            assert isinstance(choice, ast.If | ast.IfExp)
            taken: _Branch = choice.body if isinstance(choice, ast.If) else [choice.body]
            other: _Branch = choice.orelse if isinstance(choice, ast.If) else [choice.orelse]
            if not other or self._tree.is_elif(other[0]) or not self._is_plain(test):
                continue
            needed = self._need_gpus(taken), self._need_gpus(other)
            if needed == (True, False) and self._stands_in(choice, other, taken):
                yield test, False
            elif needed == (False, True) and self._stands_in(choice, taken, other):
                yield test, True

    def _flags(self, question: ast.expr) -> list[ast.Name]:
        """Where a variable is read that holds the answer to a question, and nothing else."""
        holder = self._tree.parents[question]
        target = holder.targets[0] if isinstance(holder, ast.Assign) and len(holder.targets) == 1 else None
        loads = self._index.names.loads_of(target) if isinstance(target, ast.Name) else []
        return [load for load in loads if len(self._index.names.bindings(load)) == 1]

    def _test(self, node: ast.expr) -> ast.expr | None:
        """The condition of a branch that a question is, or is part of."""
        while isinstance(parent := self._tree.parents[node], ast.BoolOp | ast.UnaryOp):
            node = parent
        return node if isinstance(parent, ast.If | ast.IfExp) and parent.test is node else None

    def _is_plain(self, test: ast.expr) -> bool:
        """Whether nothing is done to answer a condition but to ask torch."""
        calls = [node for node in (test, *self._tree.nodes_in(test, ast.Call)) if isinstance(node, ast.Call)]
        return all((self._index.qualified_name(call.func) or "").startswith("torch.cuda.") for call in calls)

    def _need_gpus(self, branch: _Branch) -> bool:
        from tpulint.semantic.cuda.cuda_kernels import CudaKernels

        kernels = CudaKernels(self._index, self._index.devices.features)
        return any(kernels.run_in(item) or _needs_gpus(self._index, item, 0) for item in branch)

    def _stands_in(self, choice: ast.If | ast.IfExp, branch: _Branch, other: _Branch) -> bool:
        """Whether a branch gives all that is read later on, and what goes with the other one moves nothing."""
        placement = self._index.devices.features.placement
        if any(map(placement.places, other)):
            return False
        if isinstance(choice, ast.IfExp):
            return True
        leaves = [isinstance(side[-1], ast.Return) for side in (branch, other)]
        if leaves[0] != leaves[1] or any(isinstance(item, ast.Raise) for item in branch):
            return False
        missing = {name.id: name for name in self._stored(other)}
        for name in self._stored(branch):
            missing.pop(name.id, None)
        return (leaves[0] or any(True for _ in self._stored(branch))) and not any(
            not self._tree.encloses(choice, load)
            for name in missing.values()
            for load in self._index.names.loads_of(name)
        )

    def _stored(self, branch: _Branch) -> Iterator[ast.Name]:
        for item in branch:
            for node in self._tree.nodes_in(item, ast.Name):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node


def _needs_gpus(index: SemanticIndex, code: ast.AST, depth: int) -> bool:
    """Whether code shares work out among GPUs, or calls a function of the project that does."""
    text = index.tree.text(code)  # the devices of another file are not looked for because of any function
    if any(word in text for word in _WORDS) and index.devices.features.mentions.are_in(code, NEEDING_GPUS):
        return True
    if depth == _DEPTH:
        return False
    for call in (code, *index.tree.nodes_in(code, ast.Call)):
        if not isinstance(call, ast.Call) or not last_name(call.func):
            continue
        function = index.definitions.function_called(call)
        if function is not None and _needs_gpus(index, function, depth + 1):
            return True
        found = index.imported.called(call) if function is None else None
        is_function = found is not None and isinstance(found.node, ast.FunctionDef)
        if is_function and found is not None and _needs_gpus(found.file, found.node, depth + 1):
            return True
    return False
