"""Device objects that are compared with a text, which they never equal: ``torch.device("cuda") == "cuda"``."""

from __future__ import annotations

import ast

from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.values.value import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

SEEDING = frozenset({"torch.cuda.manual_seed", "torch.cuda.manual_seed_all", "torch_xla.manual_seed"})


def object_compared(index: SemanticIndex, text: ast.expr) -> ast.expr | None:
    """What a text is asked to equal, where that is a device object: the answer is no."""
    comparison = index.parent(text)
    if not isinstance(comparison, ast.Compare) or len(comparison.ops) != 1:
        return None
    if not isinstance(comparison.ops[0], ast.Eq | ast.Is):
        return None
    sides = (comparison.left, comparison.comparators[0])
    other = next(side for side in sides if side is not text)
    if isinstance(comparison.ops[0], ast.Is):
        return other if is_never_text(index, other) else None
    value = index.value(other) if isinstance(other, ast.Name | ast.Attribute | ast.Call) else None
    return other if value is not None and value.kind is Kind.DEVICE and value.certain else None


def device_compared(index: SemanticIndex, node: ast.expr) -> ast.expr | None:
    """The variable of ``device == torch.device("cuda")``, where it holds a device object."""
    parent = index.parent(node)
    if not isinstance(parent, ast.Compare) or len(parent.ops) != 1 or not isinstance(parent.ops[0], ast.Eq | ast.NotEq):
        return None
    other = parent.left if parent.left is not node else parent.comparators[0]
    value = index.value(other) if isinstance(other, ast.Name | ast.Attribute) else None
    return other if value is not None and value.kind is Kind.DEVICE and value.certain else None


def is_never_text(index: SemanticIndex, node: ast.expr) -> bool:
    """Whether an expression ``is`` no text of the program: a device, and its ``type``, a text made when it is read."""
    if isinstance(node, ast.Attribute) and node.attr == "type":
        return True
    return isinstance(node, ast.Name | ast.Attribute | ast.Call) and index.kind(node) is Kind.DEVICE


def is_never_seeded(index: SemanticIndex, seeding: ast.AST) -> bool:
    """Whether what seeds the device never runs: ``if device == "xla": torch_xla.manual_seed(seed)``."""
    child = seeding
    for ancestor in index.tree.ancestors(seeding):
        if isinstance(ancestor, ast.If) and child in ancestor.body and isinstance(ancestor.test, ast.Compare):
            sides = (ancestor.test.left, *ancestor.test.comparators)
            texts = [side for side in sides if isinstance(side, ast.Constant) and isinstance(side.value, str)]
            if any(object_compared(index, text) is not None for text in texts):
                return True
        child = ancestor
    return False


def leaves_unseeded(index: SemanticIndex, text: ast.expr) -> ast.expr | None:
    """The device object of ``if device == "cuda": torch.cuda.manual_seed_all(seed)``, with nothing but such calls.

    On a GPU ``torch.manual_seed(seed)`` has seeded the device all the same; on another one nothing would. Another seed
    was never asked for, ``args.seed`` beside ``torch.manual_seed(config["seed"])``: there may be none of that name.
    """
    condition = index.statement_of(text)
    if not isinstance(condition, ast.If) or condition.test is not index.parent(text) or condition.orelse:
        return None
    calls = [item.value if isinstance(item, ast.Expr) else None for item in condition.body]
    function = index.function_of(condition)
    known = {_seed(index, call) for call in index.calls_to("torch.manual_seed") if index.function_of(call) is function}
    seeds = all(
        isinstance(call, ast.Call) and index.qualified_name(call.func) in SEEDING and _seed(index, call) in known
        for call in calls
    )
    return object_compared(index, text) if seeds else None


def _seed(index: SemanticIndex, call: ast.Call) -> str:
    return ", ".join(index.tree.text(value) for value in values_given(call))
