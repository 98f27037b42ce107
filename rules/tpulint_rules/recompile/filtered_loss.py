"""A cross entropy of the samples that a mask chooses, where the loss itself can leave samples out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding
from tpulint.semantic import Kind
from tpulint_rules.recompile._filtered_losses import FUNCTIONS, FilteredLoss, filtered_loss

_IGNORED = -100
_ALL = "The loss runs over all samples: one that is left out and has an infinite or NaN output spoils its gradient."
_FLAT = ("view(-1", "reshape(-1", "flatten(")


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.exists:
        return
    for call in index.turn_code.nodes(ast.Call):
        loss = filtered_loss(index, call)
        turn = index.turn_code.turn_of(call) if loss is not None else None
        if loss is None or turn is None:
            continue
        certain = index.value(loss.mask).certain
        yield ctx.finding(
            call,
            f"the samples are chosen by a mask of the device, which the host reads in every {turn}, "
            "and the loss is compiled for each number of them",
            _fix(ctx, loss),
            certainty=Certainty.CERTAIN if certain else Certainty.LIKELY,
            related=((index.span(loss.output), "outputs of some"), (index.span(loss.target), "labels of some")),
        )


def _fix(ctx: FileContext, loss: FilteredLoss) -> FixBuilder | None:
    """All samples, those left out by their label."""
    if not loss.is_known or not all(_is_harmless(option) for option in loss.options):
        return None
    fix = ctx.fix("Leave samples out by their label", Applicability.UNSAFE, _ALL)
    flat = _is_flat(ctx, loss.output.value)
    output, target = fix.text(loss.output.value), fix.text(loss.target.value)
    label = _label(ctx, loss)
    is_function = ctx.index.qualified_name(loss.call.func) in FUNCTIONS
    given = next((option.value for option in loss.options if option.arg == "ignore_index"), None)
    ignored = _IGNORED if given is None else _value(given)
    if label is None or not ((is_function and given is None) or _value(label) == ignored):
        mask = fix.text(loss.mask)
        target = f"{target}.masked_fill(~{mask}, {ignored})"
    elif _value(label) != ignored:
        fix.set_argument(loss.call, "ignore_index", ctx.text(label))
        if not loss.call.keywords and loss.target in loss.call.args:  # written behind the target, replaced as well
            fix = ctx.fix("Leave samples out by their label", Applicability.UNSAFE, _ALL)
            fix.replace(loss.output, output if flat else f"{output}.flatten(0, -2)")
            fix.replace(loss.target, f"{target if flat else f'{target}.flatten()'}, ignore_index={ctx.text(label)}")
            return fix
    fix.replace(loss.output, output if flat else f"{output}.flatten(0, -2)")
    fix.replace(loss.target, target if flat else f"{target}.flatten()")
    return fix


def _is_harmless(option: ast.keyword) -> bool:
    """Whether an option of the loss holds for all samples as for those chosen."""
    if option.arg == "reduction":
        return isinstance(option.value, ast.Constant) and option.value.value in ("mean", "sum")
    return option.arg in ("weight", "label_smoothing") or (
        option.arg == "ignore_index" and _value(option.value) is not None
    )


def _label(ctx: FileContext, loss: FilteredLoss) -> ast.expr | None:
    """The label that is left out by ``target != label``."""
    test: ast.expr | None = loss.mask
    target = loss.target.value
    if isinstance(test, ast.Name):
        bindings = ctx.index.flow.reaching(test)
        test = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.NotEq) or len(test.ops) > 1:
        return None
    label = test.comparators[0]
    if not isinstance(test.left, ast.Name) or not isinstance(target, ast.Name) or test.left.id != target.id:
        return None
    if ctx.index.flow.reaching(test.left) != ctx.index.flow.reaching(target):
        return None
    is_number = _value(label) is not None or (isinstance(label, ast.Name) and _is_number(ctx, label))
    return label if is_number else None


def _is_number(ctx: FileContext, label: ast.Name) -> bool:
    """Whether a variable is a number, or called as one whose labels are none: it may be the labels of another batch."""
    if ctx.index.kind(label) is Kind.HOST:
        return True
    says_so = "pad" in label.id.lower() or "ignore" in label.id.lower()
    return says_so and not ctx.index.is_device_tensor(label)


def _value(node: ast.expr) -> object:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return -node.operand.value if isinstance(node.operand.value, int) else None
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _is_flat(ctx: FileContext, output: ast.expr) -> bool:
    """Whether outputs are known to have two dimensions."""
    if isinstance(output, ast.Name):
        values = [binding.value for binding in ctx.index.flow.reaching(output) if not binding.path]
        return len(values) == 1 and values[0] is not None and _is_flat(ctx, values[0])
    return isinstance(output, ast.Call) and any(part in ctx.text(output) for part in _FLAT)
