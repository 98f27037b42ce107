"""Conditions that guard what only CUDA has: features and kernels for GPUs, and what belongs to its runtime."""

from __future__ import annotations

import ast
import re

from tpulint.semantic.cuda.cuda_branches import names_other_backend
from tpulint.semantic.cuda.cuda_features import CudaFeatures, branch_bodies
from tpulint.semantic.cuda.questions import Questions
from tpulint.semantic.syntax.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_FEATURES = r"(?i)quantiz|kernel|tensorrt|apex|bitsandbytes|triton|flash|megatron"
_ATTENTION = r"(?i)flash_?attn|flash_?attention|xformers|triton"
_CONTAINERS = ("builtins.list", "builtins.dict", "builtins.set")


class CudaGuards:
    """Answers about the conditions of one file."""

    def __init__(self, index: SemanticIndex, features: CudaFeatures, questions: Questions) -> None:
        self._index = index
        self._tree = index.tree
        self._features = features
        self._placement = features.placement
        self._questions = questions

    def is_for_feature(self, statement: ast.If | ast.Assert, question: ast.expr) -> bool:
        """``if name.startswith("apex."): assert torch.cuda.is_available()``: who wants the feature needs a GPU."""
        if not self._questions.ends_program(question):
            return False
        said = statement.msg if isinstance(statement, ast.Assert) else None
        if said is not None and not self._index.is_program and re.search(_FEATURES, self._tree.text(said)):
            return True
        child: ast.AST = statement
        for ancestor in self._tree.ancestors(statement):
            holds = isinstance(ancestor, ast.If) and child in ancestor.body
            if holds and isinstance(ancestor, ast.If) and re.search(_FEATURES, self._tree.text(ancestor.test)):
                return True
            child = ancestor
        return False

    def speaks_of_feature(self, statement: ast.If, question: ast.expr) -> bool:
        """``if not is_available(): raise RuntimeError("quantization needs a GPU")``, asked from another file."""
        if not self._questions.ends_program(question) or not re.search(_FEATURES, self._tree.text(statement.body[-1])):
            return False
        return self._questions.is_alone(question)

    def raises_for_feature(self, statement: ast.If) -> bool:
        """Whether the last branch of a chain raises because a feature of GPUs is wanted."""
        orelse = statement.orelse
        while len(orelse) == 1 and isinstance(orelse[0], ast.If):
            orelse = orelse[0].orelse
        raised = orelse[-1] if orelse else None
        return isinstance(raised, ast.Raise) and re.search(_FEATURES, self._tree.text(raised)) is not None

    def is_cuda_part(self, statement: ast.If, taken: list[ast.stmt], other: list[ast.stmt]) -> bool:
        """Whether a GPU only gets what CUDA alone has, or calls into its runtime beside another backend's branch."""
        if self._features.holds_only_cuda(taken):
            return True
        # `elif torch.xpu.is_available(): torch.xpu.empty_cache()`: each backend has its own branch
        if taken is not statement.body or len(other) != 1 or not isinstance(other[0], ast.If):
            return False
        return self._calls_runtime(taken) and names_other_backend(self._tree.text(other[0].test))

    def names_state_of_cuda(self, condition: ast.BoolOp) -> bool:
        """``is_available() and self._cuda_timers is not None``: whether something of CUDA is in use."""
        others = [
            value.left
            for value in condition.values
            if isinstance(value, ast.Compare)
            and isinstance(value.ops[0], ast.Is | ast.IsNot)
            and isinstance(value.comparators[0], ast.Constant)
            and value.comparators[0].value is None
        ]
        return any("cuda" in last_name(other).lower() for other in others)

    def are_apart(self, statement: ast.If, taken: list[ast.stmt], other: list[ast.stmt]) -> bool:
        """Whether both branches serve their machines well as they are."""
        return self._feeds_kept_branch(statement) or self._chooses_kernels(taken, other) or self._keeps_of_cuda(taken)

    def _keeps_of_cuda(self, taken: list[ast.stmt]) -> bool:
        """Whether a GPU only gets containers named after CUDA: ``self._cuda_timers = deque()``, for events of CUDA.

        A flag, ``cuda = True``, may choose the device.
        """
        given = [item for item in taken if isinstance(item, ast.Assign) and self._is_container(item.value)]
        named = all("cuda" in last_name(target).lower() for item in given for target in item.targets)
        return 0 < len(taken) == len(given) and named and not any(map(self._placement.places, taken))

    def _is_container(self, value: ast.expr) -> bool:
        made = (self._index.qualified_name(value.func) or "") if isinstance(value, ast.Call) else ""
        return isinstance(value, ast.List | ast.Dict) or made.startswith("collections.") or made in _CONTAINERS

    def _chooses_kernels(self, taken: list[ast.stmt], other: list[ast.stmt]) -> bool:
        """Whether a GPU gets kernels of its own for what operations of torch compute elsewhere: flash attention."""
        if not other or any(map(self._placement.places, (*branch_bodies(taken), *branch_bodies(other)))):
            return False
        return any(re.search(_ATTENTION, self._tree.text(item)) for item in taken)

    def _feeds_kept_branch(self, statement: ast.If) -> bool:
        """Whether both branches give a variable a value that goes with the same question further on, which stays.

        ``form = "{memory}"`` under one question, ``print(form.format(memory=max_memory_allocated()))`` under the other.
        """
        if not statement.orelse or any(map(self._placement.places, (*statement.body, *statement.orelse))):
            return False
        asked = self._tree.text(statement.test)
        given, otherwise = _variables(statement.body), _variables(statement.orelse)
        loads = [load for name in given.keys() & otherwise.keys() for load in self._index.names.loads_of(given[name])]
        return any(
            isinstance(ancestor, ast.If)
            and ancestor is not statement
            and self._tree.text(ancestor.test) == asked
            and self._features.holds_only_cuda(ancestor.body)
            for load in loads
            for ancestor in self._tree.ancestors(load)
        )

    def _calls_runtime(self, body: list[ast.stmt]) -> bool:
        for item in body:
            value = item.value if isinstance(item, ast.Expr | ast.Assign | ast.Return) else None
            name = self._index.qualified_name(value.func) if isinstance(value, ast.Call) else None
            if name is None or not name.startswith("torch.cuda."):
                return False
        return True


def _variables(body: list[ast.stmt]) -> dict[str, ast.Name]:
    """Variables that the statements of a branch give a value, by name."""
    targets = [target for item in body if isinstance(item, ast.Assign) for target in item.targets]
    return {target.id: target for target in targets if isinstance(target, ast.Name)}
