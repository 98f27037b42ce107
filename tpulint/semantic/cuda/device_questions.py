"""Places that ask whether there is a GPU."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.semantic.cuda.cuda_branches import names_other_backend
from tpulint.semantic.cuda.harmful_questions import HarmfulQuestions
from tpulint.semantic.devices.device_flow import DeviceFlow
from tpulint.semantic.devices.device_sites import Role, Site, device_argument
from tpulint.semantic.syntax.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_QUESTIONS = frozenset({
    "torch.cuda.is_available", "torch.accelerator.is_available", "torch.cuda.is_bf16_supported",
    "torch.backends.cuda.is_built",
})  # fmt: skip
_COUNTS = frozenset({"torch.cuda.device_count", "torch.accelerator.device_count"})
_CUDA_WORD = r"cuda\Z|cuda:|CUDA"


class DeviceQuestions:
    """The questions of one file whose answer on a TPU machine does harm."""

    def __init__(
        self, index: SemanticIndex, flow: DeviceFlow, harmful: HarmfulQuestions, torch_calls: list[tuple[ast.Call, str]]
    ) -> None:
        self._index = index
        self._tree = index.tree
        self._flow = flow
        self._harmful = harmful
        self._torch_calls = torch_calls

    def found(self) -> Iterator[Site]:
        """The questions, each with what it answers where there is an accelerator."""
        for call, name in self._torch_calls:
            if name in _QUESTIONS:
                node: ast.expr = call
                answer = True
            elif name in _COUNTS:
                counted = self._counted(call)
                if counted is None:
                    continue
                node, answer = counted
            else:
                continue
            if self._harmful.has(node) and not self._names_cuda_beside(node):
                yield Site(node, Role.QUESTION, answer)

    def _counted(self, call: ast.Call) -> tuple[ast.expr, bool] | None:
        """``device_count() > 0`` and its like ask the same question; other comparisons ask for more."""
        parent = self._tree.parents[call]
        if isinstance(parent, ast.Compare) and parent.left is call and len(parent.ops) == 1:
            right = parent.comparators[0]
            if isinstance(right, ast.Constant) and type(right.value) is int:
                at_least_one = (type(parent.ops[0]), right.value) in ((ast.Gt, 0), (ast.GtE, 1), (ast.NotEq, 0))
                none = (type(parent.ops[0]), right.value) in ((ast.Eq, 0), (ast.Lt, 1), (ast.LtE, 0))
                if at_least_one or none:
                    return parent, at_least_one
            elif (
                isinstance(parent.ops[0], ast.Gt | ast.GtE)
                and not isinstance(right, ast.Constant)
                and self._opens_device(parent)
            ):
                return parent, True
            return None
        node: ast.AST = call
        while isinstance(parent, ast.BoolOp):  # `if wanted and device_count():`; `device_count() or 1` is a number
            node, parent = parent, self._tree.parents[parent]
        truth = (isinstance(parent, ast.If | ast.IfExp | ast.While) and parent.test is node) or (
            isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
        )
        return (call, True) if truth else None

    def _opens_device(self, comparison: ast.Compare) -> bool:
        """``if torch.cuda.device_count() > i: return torch.device(f"cuda:{i}")``"""
        statement = self._tree.parents[comparison]
        if not isinstance(statement, ast.If) or statement.test is not comparison or len(statement.body) != 1:
            return False
        value = getattr(statement.body[0], "value", None)
        if not isinstance(value, ast.Call) or self._index.qualified_name(value.func) != "torch.device":
            return False
        argument = device_argument(value)
        return argument is not None and self._flow.cuda_index(argument) is not None

    def _names_cuda_beside(self, question: ast.expr) -> bool:
        """``device.type == "cuda" and is_available()``: the other half stays false, whatever the question answers."""
        node: ast.AST = question
        while isinstance(node, ast.expr) and not (isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And)):
            node = self._tree.parents[node]
        for operand in node.values if isinstance(node, ast.BoolOp) else ():
            if self._tree.encloses(operand, question):
                continue
            asks = isinstance(operand, ast.Call) and last_name(operand.func).endswith("available")
            if asks and names_other_backend(self._tree.text(operand)):
                return True  # `torch.backends.mps.is_available() and not torch.cuda.is_available()`
            if isinstance(operand, ast.Compare):
                sides = [operand.left, *operand.comparators]
                texts = [s.value for s in sides if isinstance(s, ast.Constant) and isinstance(s.value, str)]
                equal = isinstance(operand.ops[0], ast.Eq | ast.In)
                if equal and any(names_other_backend(text) for text in texts):
                    return True  # `is_available() and current_accelerator().type == "neuron"`
                if equal and any(re.match(_CUDA_WORD, text) for text in texts):
                    others = [side for side in sides if not isinstance(side, ast.Constant)]
                    # A variable that the file itself names CUDA for is compared with the name of XLA then.
                    is_named = all(isinstance(side, ast.Name) for side in others)
                    if isinstance(operand.ops[0], ast.Eq) and not is_named and not self._index.is_program:
                        return True  # `self.is_cuda = device.type == "cuda" and is_available()`
                    return not any(self._flow.derives(side) for side in others)
        return False
