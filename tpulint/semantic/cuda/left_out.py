"""Code of tests that a TPU machine leaves out, or where it is right to fail."""

from __future__ import annotations

import ast
import re

from tpulint.model import Span
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode, LoopNode
from tpulint.semantic.syntax.tree import SyntaxTree

_OF_TESTS = ("pytest", "unittest", "absltest", "TestCase", "assertRaises", "require_", "RunIf(")
# Only tests ask for these: `re` compiles, and keeps, those that are used.
_NEEDS_GPU = (
    r"(?i)@?\w*requires?_(?:\w*_)?(?:cuda|gpus?|multi_gpu|bnb|bitsandbytes|triton|nccl|fp8|apex|deepspeed|non_cpu"
    r"|multi_device|megatron_lm|transformer_engine|flash_attn)(?:_\w+)?"
    r"|(?:\w+\.)*mark\.(?:gpu|cuda|nccl)\w*|@?_?RunIf\((?:.*\W)?(?:min_(?:cuda_)?gpus|bf16_cuda)\s*=\s*[1-9T]"
)
"""Decorators of tests that are skipped on a machine without what they name."""
_SKIPS = r"(?i)(?:\w+\.)*skip(?:If|Unless|if)?(?:OnTpu)?(?:\(|\Z)"
_FOR_LACK = r"(?i)cuda|gpu|\btpu\b|xla"
_OF_DEVICES = r"(?i)device|cuda|gpu|xla|tpu|\.to\(|fabric|accelerat|trainer|engine|spawn|launch"
_RAISES = frozenset({"raises", "assertRaises", "assertRaisesRegex", "raises_regex"})


def left_out(tree: SyntaxTree) -> list[Span]:
    """Tests that need a GPU by their decorators, and blocks that are expected to raise."""
    if not tree.source.has_any(_OF_TESTS):
        return []
    spans = [tree.span(owner) for owner in (*tree.functions, *tree.classes) if _is_skipped(tree, owner)]
    for call in tree.calls:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        item = tree.parents[call]
        block = tree.parents[item] if isinstance(item, ast.withitem) else None
        if name in _RAISES and isinstance(block, ast.With):
            spans.extend(tree.span(statement) for statement in block.body)
    return spans


def skips_test(condition: ast.If) -> bool:
    """``return unittest.skip("needs two GPUs")(test)`` in a branch: of a decorator, which is right for any machine."""
    ends = (branch[-1] for branch in (condition.body, condition.orelse) if branch)
    called = (item.value for item in ends if isinstance(item, ast.Return) and isinstance(item.value, ast.Call))
    return any(isinstance(call.func, ast.Call) and re.match(_SKIPS, ast.unparse(call.func)) for call in called)


def loops_for_devices(tree: SyntaxTree) -> list[LoopNode]:
    """The loops of a file, those left out that stand in tests which speak of no device: they run on the host."""
    tests = {
        function: re.search(_OF_DEVICES, tree.text(function)) is None
        for function in tree.functions
        if function.name.startswith("test_")
    }
    return [
        loop
        for loop in tree.loops
        if not any(tests.get(outer) for outer in tree.ancestors(loop) if isinstance(outer, FUNCTIONS))
    ]


def stands_in_unit_test(tree: SyntaxTree, node: ast.AST) -> bool:
    """Whether a node stands in ``def test_...`` of a file ``test_....py``: what it runs is no part of a program.

    What the file calls itself, ``test_simple()``, or others may give something, is a script that tests a model.
    """
    name = tree.source.path.rpartition("/")[2]
    is_of_tests = name.startswith("test_") or name.endswith("_test.py")
    return is_of_tests and any(
        isinstance(outer, FUNCTIONS) and outer.name.startswith("test_") and _is_unit_test(tree, outer)
        for outer in tree.ancestors(node)
    )


def _is_unit_test(tree: SyntaxTree, function: FunctionNode) -> bool:
    given = [item for item in function.args.args if item.arg != "self"]
    is_mentioned = tree.names_called(function.name) or tree.attributes_called(function.name)
    return not is_mentioned and (not given or tree.source.has_any(_OF_TESTS))


def _is_skipped(tree: SyntaxTree, owner: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    for decorator in owner.decorator_list:
        text = tree.text(decorator)
        if re.match(_NEEDS_GPU, text):
            return True
        skips = re.match(_SKIPS, text)
        if skips and (not isinstance(decorator, ast.Call) or _is_always(text) or re.search(_FOR_LACK, text)):
            return True
    return False


def _is_always(text: str) -> bool:
    """``@skip("broken")``, whatever machine it is."""
    return re.match(r"(?:\w+\.)*skip\(", text) is not None
