"""What a file of definitions alone leaves to those who use it: whether a place for CUDA is ever reached."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from tpulint.semantic.syntax.nodes import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_MADE_OF_CUDA = (
    r"(?m)^\s*(?:import|from)\s+(?:bitsandbytes|triton|tensorrt|torch_tensorrt|apex|amp_C|deepspeed|transformer_engine"
    r"|flash_attn|xformers|pynvml|cupy|pycuda|numba\.cuda|nvidia\.dali|tinycudann|megatron)\b"
)
# These are long, and few files ask for them: `re` compiles, and keeps, those that are used.
_FOR_GPUS = (
    r"(?i)cuda|(?<![a-z])gpu|nccl|nvtx|nvml|tensorrt|(?<![a-z])trt|(?<![a-z])bnb|bitsandbytes|triton|quanti[zs]|awq|gptq|hqq"
    r"|(?<!distributed )data ?parallel|(?<![a-z])sm ?\d\d|gemm(?![a-z])|(?<![a-z])(?:ampere|hopper|blackwell)"
    r"|(?<![a-z])(?:fp8|int8|int4|apex|megatron|deepspeed|nvidia)"
)
"""Names of functions and classes that are about GPUs, or about what only GPUs compute."""
_FOR_PRODUCT = (
    r"(?i)nccl|nvtx|nvml|tensorrt|(?<![a-z])trt(?![a-z])|bitsandbytes|(?<![a-z])bnb|triton|cuda ?graph|cudart"
    r"|transformer ?engine|cuda.*capability|gpu (?:memory|usage|info)|for cuda|cuda devices"
)
"""Those that cannot be about anything else."""
_ASKS = (
    r"(?i)cuda|gpu|xpu|nccl|nvtx|nvml|tensorrt|sagemaker|(?<![a-z])(?:mps|npu|hpu|rocm|hip)(?![a-z])|device|accelerator|['\"]cpu|backend|stream|quanti[zs]"
    r"|offload|pin_memory|[48][-_]?bit"
)
"""Words of a condition that chooses between devices."""


_SETTING_UP = ("warnings.", "logging.", "sys.path.", "os.environ.", "torch.fx.")
"""Calls at the top of a module that only prepare what it defines."""


class Callers:
    """Answers about one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._tree = index.tree

    @cached_property
    def is_program(self) -> bool:
        """Whether the file trains, or does something when it is run; a file of definitions alone serves others."""
        return any(map(self._does_something, self._tree.module.body)) or bool(self._index.step_loops)

    def _does_something(self, statement: ast.stmt) -> bool:
        """Whether a statement of a module is more than a definition: a loop, a call, the guard ``__name__``."""
        if isinstance(statement, ast.If):
            return any(isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(statement.test))
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            return not (self._index.qualified_name(statement.value.func) or "").startswith(_SETTING_UP)
        return isinstance(statement, ast.For | ast.While | ast.With)

    def decide(self, node: ast.expr) -> bool:
        """Whether those who use the file decide if the node matters on a TPU machine.

        They do not in a program, nor where the node stands in a function under no condition and by no name of CUDA.
        """
        if self.is_program:
            return False
        return self._is_default(node) or self._is_about_gpus(node) or self._index.mentions(_MADE_OF_CUDA)

    def use_for_gpus(self, node: ast.expr) -> bool:
        """Whether a function that the file only defines is about a product for GPUs, by its name: ``to_tensorrt``."""
        if self.is_program:
            return False
        owners = (owner for owner in self._tree.ancestors(node) if isinstance(owner, (*FUNCTIONS, ast.ClassDef)))
        names = (name for owner in owners for name in (owner.name, _words(owner.name)))
        return any(re.search(_FOR_PRODUCT, name) for name in names)

    def _is_default(self, node: ast.expr) -> bool:
        """``def move(x, device="cuda")``, ``getattr(args, "device", "cuda")``, ``device or torch.device("cuda")``"""
        child: ast.AST = node
        for ancestor in self._tree.ancestors(node):
            if isinstance(ancestor, ast.arguments):
                return True
            if isinstance(ancestor, ast.BoolOp) and isinstance(ancestor.op, ast.Or) and child is not ancestor.values[0]:
                return True
            if isinstance(ancestor, ast.Call) and isinstance(child, ast.expr):
                if self._index.devices.flow.places.answers_default(ancestor, child):
                    return True
            elif isinstance(ancestor, ast.stmt):
                return False
            child = ancestor
        return False

    def _is_about_gpus(self, node: ast.expr) -> bool:
        """Whether a condition around the node asks for a device, or a name around it says what it is for."""
        child: ast.AST = node
        for ancestor in self._tree.ancestors(node):
            if isinstance(ancestor, ast.If | ast.IfExp):
                if child is not ancestor.test and re.search(_ASKS, self._tree.text(ancestor.test)):
                    return True
            elif isinstance(ancestor, (*FUNCTIONS, ast.ClassDef)):
                made = " ".join(map(self._tree.text, ancestor.decorator_list))
                if re.search(_FOR_GPUS, _words(ancestor.name)) or "custom_op" in made or "triton" in made:
                    return True
            child = ancestor
        return False


def _words(name: str) -> str:
    """``load_trt_engine`` and ``NvtxRange`` with spaces between their words."""
    return re.sub(r"_|(?<=[a-z0-9])(?=[A-Z])", " ", name)
