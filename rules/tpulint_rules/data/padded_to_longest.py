"""Batches as long as their longest sample: nearly every batch has a shape of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding
from tpulint.semantic import FUNCTIONS, FunctionNode
from tpulint.semantic.batches.collating import collating_for_others
from tpulint.semantic.batches.loaders import Loader
from tpulint.semantic.loops.turn_code import STEP
from tpulint.semantic.values.value import is_true
from tpulint_rules.data._counted_padding import leave_where_counted
from tpulint_rules.data._equal_samples import are_cut_to_one_length
from tpulint_rules.data._open_paddings import MULTIPLE, PAD_SEQUENCE, is_open, pads_longest

_COLLATORS = frozenset(
    f"{package}.{name}"
    for package in ("transformers", "transformers.data.data_collator", "transformers.data")
    for name in ("DataCollatorWithPadding", "DataCollatorForSeq2Seq", "DataCollatorForTokenClassification")
)
_FILLERS = frozenset({"torch.nn.functional.pad", "torch.zeros", "torch.full", "torch.ones", "torch.empty"})
"""Functions with which a collate function brings a batch to a length of its own choice."""
_MORE = (
    f"Batches get up to {MULTIPLE - 1} more positions of padding: the same where model and loss leave padding out, "
    "else another training."
)
_LENGTH = 'With `padding="longest"` the length given has no effect; samples longer than it stay as long as they are.'
_SHORT_MODELS = r"\bCLIP[A-Z]|clip-vit"
"""Models that have places for 77 tokens, to which their tokenizers cut."""
_SHORT = 'A text model of CLIP has 77 places: give `max_length=77` and `padding="max_length"`.'
_LEAST = 16
"""With multiples of less there would be nearly as many lengths as without."""
_DEPTH = 4


def check(ctx: FileContext) -> Iterator[Finding]:
    told: set[ast.AST] = set()
    for loader in ctx.index.loaders.of_device:
        if not (loader.feeds or loader.feeds_evaluation) or loader.arguments is None:
            continue
        for node in loader.arguments.get("collate_fn", ()):
            for call in _paddings(ctx, node, 0):
                if call not in told:
                    told.add(call)
                    yield _finding(ctx, call, "training batch" if loader.feeds else "evaluation batch", loader)
    handed = [(_paddings(ctx, value, 0), turn) for value, turn in ctx.index.loaders.handed_collating]
    handed += [(_padding_calls(ctx, function, 0), turn) for function, turn in collating_for_others(ctx.index)]
    for calls, taken_by in handed:
        for call in calls:
            if call not in told:
                told.add(call)
                yield _finding(ctx, call, "training batch" if taken_by == STEP else taken_by, None)
    if not ctx.index.mentions(r"padding\s*=\s*(True|[\"']longest)", "padding") or not ctx.index.turn_code.exists:
        return
    for call in ctx.index.turn_code.nodes(ast.Call):
        if call in told or not pads_longest(ctx.index, call):
            continue
        turn = ctx.index.turn_code.turn_of(call)
        if turn is not None and any(keyword.arg == "return_tensors" for keyword in call.keywords):
            yield _finding(ctx, call, "training batch" if turn == STEP else turn, None)


def _finding(ctx: FileContext, call: ast.Call, where: str, loader: Loader | None) -> Finding:
    name = ctx.index.qualified_name(call.func) or ""
    fix: FixBuilder | None = None
    length = next((keyword.value for keyword in call.keywords if keyword.arg == "max_length"), None)
    multiple = next((keyword.value for keyword in call.keywords if keyword.arg == "pad_to_multiple_of"), None)
    if multiple is not None and not isinstance(multiple, ast.Constant):
        fix = None if length is None else _pad_to(ctx, call, length)
    elif _is_cut_short(call, length):
        fix = ctx.fix("Pad to `max_length`", Applicability.UNSAFE, _MORE)
        fix.replace(next(keyword.value for keyword in call.keywords if keyword.arg == "padding"), '"max_length"')
        leave_where_counted(ctx, fix, call, is_within=True)
    elif name != PAD_SEQUENCE:
        most = _length_cut_to(call, length)
        multiple_of = MULTIPLE if most is None else _divisor(most)
        fix = ctx.fix(f"Pad to multiples of {multiple_of}", Applicability.UNSAFE, _MORE)
        fix.set_argument(call, "pad_to_multiple_of", str(multiple_of))
        leave_where_counted(ctx, fix, call, is_within=most is not None)
        if most is None and ctx.index.mentions(_SHORT_MODELS, "CLIP", "clip"):
            fix.lower(Applicability.DISPLAY, _SHORT)
        from tpulint_rules.data._widths_beside import leave_beside_sequence

        leave_beside_sequence(ctx, fix, call)
    return ctx.finding(
        call,
        f"each {where} is padded to its longest sample: the step is compiled again for each length that occurs",
        fix,
        certainty=Certainty.CERTAIN if name else Certainty.LIKELY,
        related=() if loader is None else ((ctx.index.span(loader.call), "collates its batches with it"),),
    )


def _length_cut_to(call: ast.Call, length: ast.expr | None) -> int | None:
    """The length that no sample of a tokenizer is longer than; None where it is not known."""
    cuts = any(keyword.arg == "truncation" and is_true(keyword.value) for keyword in call.keywords)
    most = length.value if isinstance(length, ast.Constant) else None
    return most if cuts and isinstance(most, int) else None


def _is_cut_short(call: ast.Call, length: ast.expr | None) -> bool:
    """Whether samples are cut to so little that all may be filled up to it, ``max_length=40``, or to an odd length."""
    most = _length_cut_to(call, length)
    return most is not None and (most <= MULTIPLE or _divisor(most) == 0)


def _divisor(most: int) -> int:
    """The largest multiple that a batch can be filled up to without going beyond a length; 0 where there is none."""
    return next((multiple for multiple in range(MULTIPLE, _LEAST - 1, -1) if most % multiple == 0), 0)


def _pad_to(ctx: FileContext, call: ast.Call, length: ast.expr) -> FixBuilder | None:
    """The length that is given, and ignored by `longest`; the longest sample where it is None."""
    padding = next((keyword.value for keyword in call.keywords if keyword.arg == "padding"), None)
    if padding is None or isinstance(length, ast.Constant):
        return None
    fix = ctx.fix("Pad to `max_length` where there is one", Applicability.UNSAFE, _LENGTH)
    fix.replace(padding, f'"longest" if {fix.text(length)} is None else "max_length"')
    return fix


def _paddings(ctx: FileContext, node: ast.expr, depth: int) -> list[ast.Call]:
    """Calls by which a collate function pads to the longest sample."""
    if depth > _DEPTH:
        return []
    index = ctx.index
    for creation in index.moves.creations.of(node):
        made = creation.node
        if isinstance(made, ast.Lambda | ast.FunctionDef):
            return _padding_calls(ctx, made, depth)
        if isinstance(made, ast.Call):
            name = index.qualified_name(made.func) or ""
            if name in _COLLATORS:
                return [made] if is_open(ctx.index, made) and not index.mentions(r"max_length[\"']") else []
            if name == "functools.partial" and made.args:
                return _paddings(ctx, made.args[0], depth + 1)
            owner = index.definitions.class_called(made)
            called = creation.path[0] if creation.path else "__call__"  # `self.fill` of an object that is made there
            method = index.definitions.method(owner, called) if owner is not None and len(creation.path) < 2 else None
            if method is not None:
                return _padding_calls(ctx, method, depth)
            function = index.definitions.function_called(made)
            inner = [] if function is None else index.definitions.returned_by(function)
            return [call for item in inner for call in _paddings(ctx, item, depth + 1)]
    function = _function(ctx, node)
    return [] if function is None else _padding_calls(ctx, function, depth)


def _function(ctx: FileContext, node: ast.expr) -> FunctionNode | None:
    """The function of this file that a name or ``self.name`` means."""
    if isinstance(node, ast.Name):
        bindings = ctx.index.flow.reaching(node)
        found = bindings[0] if len(bindings) == 1 else None
        if found is None:
            return None
        if isinstance(found.node, FUNCTIONS):
            return found.node
        return _function(ctx, found.value) if isinstance(found.value, ast.Name | ast.Attribute) else None
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        owner = ctx.index.tree.class_of(node)
        if owner is not None and node.value.id in ("self", "cls", owner.name):
            return ctx.index.definitions.method(owner, node.attr)
    return None


def _padding_calls(ctx: FileContext, function: FunctionNode | ast.Lambda, depth: int) -> list[ast.Call]:
    """The open paddings in a function, none where it fixes lengths by itself as well."""
    index = ctx.index
    found: list[ast.Call] = []
    for node in index.tree.inside(function):
        if isinstance(node, ast.Constant) and node.value == "max_length":
            return []
        if not isinstance(node, ast.Call):
            continue
        name = index.qualified_name(node.func) or ""
        if name in _FILLERS:
            return []
        if (name == PAD_SEQUENCE and not are_cut_to_one_length(index)) or pads_longest(index, node):
            found.append(node)
        called = index.definitions.function_called(node)
        if called is not None and called is not function and depth < _DEPTH:
            found.extend(_padding_calls(ctx, called, depth + 1))
    return sorted(found, key=index.span)
