"""Metrics of torchmetrics check predictions and labels by reading them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic import Pace, SemanticIndex
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.loops.turn_code import STEP
from tpulint_rules.host_sync._argument_checks import checking, is_open, uses

_PREFIX = "torchmetrics"
_COLLECTIONS = ("torchmetrics.MetricCollection", "torchmetrics.collections.MetricCollection")
_TASKS = ("Binary", "Multiclass", "Multilabel")
_OF_SCORES = frozenset({
    "AUROC", "AveragePrecision", "EER", "LogAUC", "PrecisionAtFixedRecall", "PrecisionRecallCurve", "ROC",
    "RecallAtFixedPrecision", "SensitivityAtSpecificity", "SpecificityAtSensitivity",
})  # fmt: skip
"""Classes that check the labels whatever the task is."""
_OF_CLASSES = frozenset({
    "Accuracy", "CohenKappa", "ConfusionMatrix", "ExactMatch", "F1Score", "FBetaScore", "HammingDistance",
    "JaccardIndex", "MatthewsCorrCoef", "NegativePredictiveValue", "Precision", "Recall", "Specificity", "StatScores",
})  # fmt: skip
"""Classes that check both for two classes and for several labels, but of many classes only predicted numbers."""
_UNCHECKED = frozenset({"AUROC", "LogAUC"})
"""Classes that check nothing for two classes, whatever they are told."""
_WITH_PLACES = frozenset({"max", "topk", "sort"})
_MOVES = frozenset({"to", "cuda"})
_METHODS = frozenset({"update", "forward"})


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    for call, name in _made(index):
        asked = [one for one in _asked(index, call) if _is_read(index, call, name, one)]
        turns = [_turn_of(index, one) for one in asked]
        if not asked:
            continue
        certain = any(index.value(item).certain for one in asked for item in values_given(one))
        message = f"`{name}` reads what it is given from the device to check it, in every "
        message += STEP if STEP in turns else str(turns[0])
        yield checking(ctx, call, message, asked, Certainty.CERTAIN if certain else Certainty.LIKELY)


def _made(index: SemanticIndex) -> Iterator[tuple[ast.Call, str]]:
    for node, name in index.references(_PREFIX):
        call, last = index.parent(node), name.rpartition(".")[2]
        is_known = _base(last) in _OF_SCORES | _OF_CLASSES
        if is_known and isinstance(call, ast.Call) and call.func is node and is_open(call):
            yield call, last


def _base(name: str) -> str:
    """``Accuracy`` of ``BinaryAccuracy``."""
    task = next((task for task in _TASKS if name.startswith(task)), "")
    return name.removeprefix(task)


def _task(call: ast.Call, name: str) -> str:
    """``binary``, ``multiclass`` or ``multilabel``; empty when it is not known."""
    task = next((task for task in _TASKS if name.startswith(task)), "")
    given = next((item.value for item in call.keywords if item.arg == "task"), call.args[0] if call.args else None)
    said = given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else ""
    return (task or said).lower()


def _asked(index: SemanticIndex, call: ast.Call) -> Iterator[ast.Call]:
    """Calls in turns that give the metric values: ``metric.update(predicted, y)``, ``metric(predicted, y)``."""
    for use in uses(index, _kept(index, call)):
        parent = index.parent(use)
        is_method = isinstance(parent, ast.Attribute) and parent.attr in _METHODS
        func = parent if is_method else use
        one = index.parent(func) if func is not None else None
        if isinstance(one, ast.Call) and one.func is func and _turn_of(index, one) is not None:
            yield one


def _kept(index: SemanticIndex, call: ast.Call) -> ast.expr:
    """What a variable is given of it: ``Accuracy(...).to(device)``, ``MetricCollection([Accuracy(...)])``."""
    kept: ast.expr = call
    while True:
        parent = index.parent(kept)
        around = index.parent(parent) if isinstance(parent, ast.Attribute | ast.List | ast.Dict) else parent
        if not isinstance(around, ast.Call):
            return kept
        is_moved = isinstance(parent, ast.Attribute) and parent.attr in _MOVES and around.func is parent
        if not is_moved and index.qualified_name(around.func) not in _COLLECTIONS:
            return kept
        kept = around


def _turn_of(index: SemanticIndex, call: ast.Call) -> str | None:
    function = index.function_of(call)
    if index.pace_of(call) is Pace.STEP or any(hook.function is function for hook in index.kinds.hooks.all):
        return STEP
    return index.turn_code.turn_of(call)


def _is_read(index: SemanticIndex, made: ast.Call, name: str, asked: ast.Call) -> bool:
    """Whether tensors of the device are given, and read for this task."""
    given = values_given(asked)
    if not given or not any(map(index.is_device_tensor, given)):
        return False
    task = _task(made, name)
    if task == "multiclass" and _base(name) in _OF_CLASSES:
        return _holds_classes(index, given[0])  # of scores, no values are checked
    return task in ("multiclass", "multilabel") or (task == "binary" and _base(name) not in _UNCHECKED)


def _holds_classes(index: SemanticIndex, predicted: ast.expr) -> bool:
    """Whether predictions are numbers of classes: ``logits.argmax(1)``, ``_, predicted = logits.max(1)``."""
    if index.number_types.is_integer(predicted):
        return True
    if isinstance(predicted, ast.Subscript):
        return _gives_places(predicted.value) and index.text(predicted.slice) == "1"
    if isinstance(predicted, ast.Attribute):
        return predicted.attr == "indices" and _gives_places(predicted.value)
    bindings = index.flow.reaching(predicted) if isinstance(predicted, ast.Name) else ()
    return bool(bindings) and all(
        binding.value is not None
        and (
            (binding.path == (1,) and _gives_places(binding.value))
            or (binding.path == () and not isinstance(binding.value, ast.Name) and _holds_classes(index, binding.value))
        )
        for binding in bindings
    )


def _gives_places(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _WITH_PLACES
