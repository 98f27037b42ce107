"""``tensor.is_cuda``, ``"cuda" in tensor.type()``: false for every tensor on an XLA device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Span
from tpulint.semantic import Kind, SemanticIndex
from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.project.other_files import Definition, function_run
from tpulint.semantic.project.parsed_options import file_of_options
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.variables import is_configuration, last_name
from tpulint_rules.device._wrapped_models import wrapped_model

_BINDS_TIGHTER = (ast.Compare, ast.BinOp)
_DEPTH = 2


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    is_own = _is_given(ctx)
    for node, tensor in (*_tests(index), *_tests_of_type(index)):
        if any(isinstance(ancestor, ast.JoinedStr) for ancestor in index.tree.ancestors(node)):
            continue
        if (model := wrapped_model(index, node)) is not None:
            yield _finding_wrapped(ctx, node, model)
            continue
        if index.devices.is_for_cuda(node) or _knows_others(ctx, node):
            continue
        # What else it may guard, such as kernels written for CUDA, is rightly left out.
        places = index.devices.features.placement.is_decided_by(node) or _is_handed_on(index, node)
        if not places or index.devices.features.guards_cuda_only(node):
            continue
        certain = index.kind(tensor) is Kind.TENSOR
        if not certain and (is_own or _is_other_object(index, tensor)):
            continue
        message = f"`{ctx.text(node)}` is false for a tensor on an XLA device"
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.NotIn):
            message = f"`{ctx.text(node)}` is true for a tensor on an XLA device"
        fix = _ask_for_xla(ctx, node, tensor)
        yield ctx.finding(node, message, fix, certainty=Certainty.CERTAIN if certain else Certainty.LIKELY)


def _finding_wrapped(ctx: FileContext, node: ast.expr, model: ast.expr) -> Finding:
    """A model that is on no GPU may be wrapped all the same: the names in its state begin with ``module.`` then."""
    name = ctx.text(model)
    message = (
        f"`{ctx.text(node)}` is false on an XLA device, where a wrapped model keeps its wrapper, and the names of its "
        "parameters begin with `module.`"
    )
    fix = ctx.fix("Ask for the wrapper", Applicability.UNSAFE, "The model itself may have a part of that name.")
    fix.replace(node, f'hasattr({name}, "module")')
    return ctx.finding(node, message, fix)


def _tests(index: SemanticIndex) -> Iterator[tuple[ast.expr, ast.expr]]:
    """``x.is_cuda``, with the tensor."""
    for node in index.tree.attributes:
        if node.attr != "is_cuda" or not isinstance(node.ctx, ast.Load) or index.qualified_name(node) is not None:
            continue
        parent = index.parent(node)
        if not isinstance(parent, ast.Call) or parent.func is not node:
            yield node, node.value


def _tests_of_type(index: SemanticIndex) -> Iterator[tuple[ast.expr, ast.expr]]:
    """``"cuda" in x.type()``, ``x.type().startswith("torch.cuda")``, with the tensor: the text says ``torch.xla``."""
    for call, tensor in index.method_calls("type"):
        if call.args or call.keywords:
            continue
        parent = index.parent(call)
        if isinstance(parent, ast.Compare):
            is_part = len(parent.ops) == 1 and isinstance(parent.ops[0], ast.In | ast.NotIn) and parent.left is not call
            if is_part and _says_cuda(parent.left):
                yield parent, tensor
        test = index.parent(parent) if isinstance(parent, ast.Attribute) and parent.attr == "startswith" else None
        if isinstance(test, ast.Call) and len(test.args) == 1 and _says_cuda(test.args[0]):
            yield test, tensor


def _says_cuda(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in ("cuda", "torch.cuda", "torch.cuda.", ".cuda", ".cuda.")


def _ask_for_xla(ctx: FileContext, node: ast.expr, tensor: ast.expr) -> FixBuilder:
    fix = ctx.fix(
        "Ask for the XLA device",
        Applicability.UNSAFE,
        "What the test guards now runs for tensors on the XLA device.",
    )
    start, end = ctx.index.span(node)
    fix.replace(Span(ctx.index.span(tensor).end, end), f".{fix.emit.is_on_device()}")
    opening = "not " if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.NotIn) else ""
    if isinstance(ctx.index.parent(node), _BINDS_TIGHTER):
        opening = f"({opening}"
        fix.insert(end, ")")
    if node is not tensor:
        fix.replace(Span(start, ctx.index.span(tensor).start), opening)
    return fix


def _is_handed_on(index: SemanticIndex, node: ast.expr, depth: int = 0) -> bool:
    """``self.edges(count, cuda=x.is_cuda)``, kept before or not: whether what is called decides a place by it."""
    statement = index.parent(node)
    kept = index.devices.features.placement.reads_of(statement) if isinstance(statement, ast.Assign) else []
    for item in (node, *kept):
        for function, name in _taken_by(index, item):
            file = function.file
            asked = file.names.loads(name, file.names.scope_of(function.node.body[0]))
            if any(map(file.devices.features.placement.is_decided_by, asked)):
                return True
            if depth < _DEPTH and any(_is_handed_on(file, load, depth + 1) for load in asked):
                return True
    return False


def _taken_by(index: SemanticIndex, item: ast.expr) -> Iterator[tuple[Definition, str]]:
    """Functions, of other files too, that an argument is given to, each with its parameter."""
    parent = index.parent(item)
    call = index.parent(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call):
        return
    here = index.definitions.function_called(call)
    called = index.imported.all_called(call) if here is None else (Definition(index, here),)
    for one in called:
        function = function_run(one)
        if function is not None and isinstance(function.node, FUNCTIONS):
            is_method = function.file.tree.class_of(function.node) is not None
            given = arguments_given(call, function.node, is_method)
            yield from ((function, name) for name, value in given if value is item)


def _is_given(ctx: FileContext) -> bool:
    """Whether objects of the file have an ``is_cuda`` of their own, as no tensor is given one."""
    return any("is_cuda" in given for given in ctx.index.names.attributes.values()) or any(
        function.name == "is_cuda" for function in ctx.index.tree.functions
    )


def _is_other_object(index: SemanticIndex, owner: ast.expr) -> bool:
    """Whether a value has no device: options, ``args.is_cuda``, a class of tensors, an object of the project."""
    name = last_name(owner)
    if is_configuration(name) or name.endswith("type") or file_of_options(index, owner) is not None:
        return True
    return bool(index.imported.classes_here(owner, index))


def _knows_others(ctx: FileContext, node: ast.expr) -> bool:
    """Whether the condition asks for XLA as well: ``x.is_cuda or x.device.type == "xla"``."""
    condition: ast.AST = node
    while isinstance(parent := ctx.index.parent(condition), ast.BoolOp):
        condition = parent
    return "xla" in ctx.text(condition)
