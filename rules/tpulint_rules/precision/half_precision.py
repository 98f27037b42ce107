"""float16 has no units on a TPU; bfloat16 has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Span
from tpulint.semantic import Kind, Side, Value
from tpulint.semantic.syntax.torch_facts import COPIES, MODULE_SELF_METHODS
from tpulint.semantic.syntax.variables import is_configuration, last_name
from tpulint.semantic.values.origins import written_at
from tpulint.semantic.values.value import is_true
from tpulint_rules.precision._chosen_halves import chosen_halves
from tpulint_rules.precision._copied_weights import is_copied_weight
from tpulint_rules.precision._float32_norms import casts_for_module, norms_in_float32
from tpulint_rules.precision._half_classes import HALF_CLASS, half_classes
from tpulint_rules.precision._host_arrays import goes_to_numpy, results_read, write_float

_FLOAT16 = ("torch.float16", "torch.half")
_ARGUMENTS = ("dtype", "torch_dtype")
_REASON = "bfloat16 has more range and fewer digits than float16."
_ARRAYS = "NumPy arrays may be made of its results, which raises in bfloat16: `.float()` is needed in front of them."
_OTHERS = "Another file names float16 for what goes into the model: both have to be of one format."


def check(ctx: FileContext) -> Iterator[Finding]:
    if not ctx.index.kinds.mentions_device:
        return
    autocasts = {
        value for autocast in ctx.index.mixed_precision.autocasts for value in (autocast.arguments or {}).values()
    }
    halves = [
        (call, _value_of(ctx, call, receiver))
        for call, receiver in ctx.index.method_calls("half")
        if not (call.args or call.keywords or _is_right(ctx, call) or _is_own(ctx, receiver))
        and not (goes_to_numpy(ctx, call) or _is_cast_back(ctx, call) or _is_kept_copy(ctx, call))
        and not is_copied_weight(ctx.index, call)
    ]
    # What meets a model in float16 is a tensor in float16: one changed without the other fails.
    with_model = any(kind.kind is Kind.MODULE for _, kind in halves)
    halves = [(call, kind) for call, kind in halves if not _is_for_host(ctx, call, kind, with_model)]
    with_others = any(kind.kind in (Kind.TENSOR, Kind.MODULE) for _, kind in halves)
    read = results_read(ctx, cast_here=with_model) if with_others else []
    for call, kind in halves:
        is_met = with_others and kind.kind is Kind.UNKNOWN and _is_variable(call)  # not `deepcopy(model).half()`, kept
        if kind.kind not in (Kind.TENSOR, Kind.MODULE) and not is_met:
            continue
        fix = ctx.fix("Use bfloat16", Applicability.UNSAFE, _REASON)
        end = ctx.index.span(call.func).end
        fix.replace(Span(end - len("half"), end), "bfloat16")
        _read_in_float32(ctx, fix, read)
        if _is_of_weights(ctx, call) and _is_named_elsewhere(ctx):
            fix.lower(Applicability.DISPLAY, _OTHERS)
        certainty = Certainty.CERTAIN if kind.certain else Certainty.LIKELY
        yield ctx.finding(
            call, "`.half()` computes in float16, for which a TPU has no units; use bfloat16", fix, certainty=certainty
        )
    shortened = (ctx.index.kind(receiver) for _, receiver in ctx.index.method_calls("bfloat16"))
    if (with_model or Kind.MODULE in shortened) and not casts_for_module(ctx):
        yield from norms_in_float32(ctx)
    named = [
        (node, name)
        for node, name in ctx.index.references(*_FLOAT16)
        if name in _FLOAT16
        and node not in autocasts
        and (_sets_dtype(ctx, node) or (with_model and _asks_dtype(ctx, node)))
        and not _is_for_runtime(ctx, node)
    ]
    named += [(node, HALF_CLASS) for node in half_classes(ctx, with_model)]
    named += chosen_halves(ctx, _FLOAT16)
    read = results_read(ctx, cast_here=True) if named else []
    for node, name in named:
        if _is_right(ctx, node) or _casts_for_host(ctx, node) or _loads_on_host(ctx, node):
            continue
        if name in _FLOAT16 and is_copied_weight(ctx.index, ctx.index.parent(node)):
            continue
        fix = ctx.fix("Use bfloat16", Applicability.UNSAFE, _REASON)
        place = written_at(ctx.index, node)
        place = place if ctx.index.qualified_name(place) in _FLOAT16 else node
        fix.replace(place, f"{fix.use('torch', at=place)}.bfloat16")
        _read_in_float32(ctx, fix, read)
        yield ctx.finding(node, f"`{name}` has no units on a TPU; use `torch.bfloat16`", fix)


def _read_in_float32(ctx: FileContext, fix: FixBuilder, read: list[ast.expr] | None) -> None:
    """Write ``.float()`` behind what arrays are made of, or leave the change to the reader where not all is seen."""
    for tensor in read or ():
        if not fix.covers(ctx.index.span(tensor)):
            write_float(ctx, fix, tensor)
    if read is None:
        fix.lower(Applicability.DISPLAY, _ARRAYS)


def _is_own(ctx: FileContext, receiver: ast.expr) -> bool:
    """Whether a class of this file that is no module has a ``half`` of its own, and this may be an instance of it."""
    index = ctx.index
    owners = (index.tree.class_of(function) for function in index.tree.functions if function.name == "half")
    are_others = any(owner is not None and not index.definitions.is_module_class(owner) for owner in owners)
    return are_others and index.kind(receiver) is Kind.UNKNOWN


def _value_of(ctx: FileContext, call: ast.Call, receiver: ast.expr) -> Value:
    """What is made float16; nothing but a module has ``eval``: ``net.cuda().eval().half()``."""
    value = ctx.index.value(receiver)
    if value.kind in (Kind.UNKNOWN, Kind.TENSOR) and _is_of_weights(ctx, call):
        return Value(Kind.MODULE, certain=False)
    if value.kind is not Kind.UNKNOWN or not _is_variable(call):
        return value
    if "eval" in _chain(call)[1]:
        return Value(Kind.MODULE, certain=False)
    return Value(Kind.TENSOR, Side.DEVICE, certain=False) if _is_moved_then(ctx, call) else value


def _is_kept_copy(ctx: FileContext, call: ast.Call) -> bool:
    """``{"model": deepcopy(model).half()}``, ``deepcopy(model).half().state_dict()``: kept, and nothing is computed."""
    begins, holder = _chain(call)[0], ctx.index.parent(call)
    if not isinstance(begins, ast.Call) or ctx.index.qualified_name(begins.func) not in COPIES:
        return False
    is_state = isinstance(holder, ast.Attribute) and holder.attr == "state_dict"
    return is_state or isinstance(holder, ast.Dict)


def _is_of_weights(ctx: FileContext, call: ast.Call) -> bool:
    """``layer.weight.data = layer.weight.data.half()``: a model becomes float16 parameter by parameter."""
    statement, receiver = ctx.index.parent(call), call.func.value if isinstance(call.func, ast.Attribute) else None
    if not isinstance(receiver, ast.Attribute) or receiver.attr != "data" or not isinstance(statement, ast.Assign):
        return False
    return [ctx.text(target) for target in statement.targets] == [ctx.text(receiver)]


def _is_named_elsewhere(ctx: FileContext) -> bool:
    """``self.dtype = torch.float16`` of a module in another file, which makes its weights so by a function of this."""
    others = (file for word in ("float16", ".half") for file in ctx.index.imported.others_mentioning(word))
    return any(next(file.references(*_FLOAT16), None) is not None for file in others)


def _is_moved_then(ctx: FileContext, call: ast.Call) -> bool:
    """``if args.half: x = x.half()``, and then ``x.to(device)``: an input of what is in that format, too."""
    statement = ctx.index.parent(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    begins, methods = _chain(call)
    if not isinstance(target, ast.Name) or not isinstance(begins, ast.Name) or begins.id != target.id or methods:
        return False
    return any(
        isinstance(name, ast.Name)
        and name.id == target.id
        and any(binding.value is call for binding in ctx.index.flow.reaching(name))
        and ctx.index.moves.to_device(move) is not None
        for move, name in ctx.index.method_calls("to", "cuda")
    )


def _chain(call: ast.Call) -> tuple[ast.expr, list[str]]:
    """What a chain of methods begins with, and the methods in front of the last, the last of them first.

    ``net``, with ``eval`` and ``cuda``, of ``net.cuda().eval().half()``.
    """
    methods: list[str] = []
    node: ast.expr = call
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        methods.append(node.func.attr)
        node = node.func.value
    return node, methods[1:]


def _is_variable(call: ast.Call) -> bool:
    """``net.half()`` and ``net.cuda().eval().half()``."""
    begins, methods = _chain(call)
    return not isinstance(begins, ast.Call) and MODULE_SELF_METHODS.issuperset(methods)


def _is_for_host(ctx: FileContext, call: ast.Call, value: Value, with_model: bool) -> bool:
    """``state.half().cpu()`` and ``state.cpu().half()``: the format of what is kept, in which nothing is computed.

    A batch, ``x.half().cuda()``, goes into a model in float16, where there is one.
    """
    if value.kind is not Kind.TENSOR:
        return False
    user = ctx.index.parent(call)
    taken = isinstance(user, ast.Attribute) and user.attr == "cpu"
    saved = isinstance(user, ast.Call) and ctx.index.qualified_name(user.func) == "torch.save"
    kept = not with_model or saved or _is_from_cpu(call) or _is_kept_for_arrays(ctx, user)
    return taken or (value.side is Side.HOST and kept)


def _is_kept_for_arrays(ctx: FileContext, statement: ast.AST | None) -> bool:
    """``cache[key] = x.half()``, and an array is made of ``cache[key]``."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    kept = ctx.text(target.value) if isinstance(target, ast.Subscript) else ""
    return kept != "" and any(
        isinstance(receiver, ast.Subscript) and ctx.text(receiver.value) == kept
        for _, receiver in ctx.index.method_calls("numpy")
    )


def _is_from_cpu(call: ast.Call) -> bool:
    """``state.cpu().half()``"""
    begins, methods = _chain(call)
    return not isinstance(begins, ast.Call) and "cpu" in methods


def _is_cast_back(ctx: FileContext, call: ast.Call) -> bool:
    """``model.half().float()`` rounds, and computes nothing in float16."""
    attribute = ctx.index.parent(call)
    return isinstance(attribute, ast.Attribute) and attribute.attr == "float"


def _is_right(ctx: FileContext, node: ast.expr) -> bool:
    """Whether float16 was there before, is only tried out or asked for by name, or stands in code for a GPU product."""
    function = ctx.index.function_of(node)
    if (
        ctx.index.callers.use_for_gpus(node)
        or ctx.index.devices.is_guarded(node)
        or (function is not None and function.name == "half" and ctx.index.tree.class_of(function) is not None)
    ):
        return True
    child: ast.AST = node
    for ancestor in ctx.index.tree.ancestors(node):
        if isinstance(ancestor, ast.If) and child in ancestor.body and _asks_float16(ctx, ancestor.test):
            return True  # casts back: `if x.dtype == torch.float16`
        if isinstance(ancestor, ast.IfExp) and child is ancestor.body and _asks_float16(ctx, ancestor.test):
            return True
        if isinstance(ancestor, ast.Try) and child in ancestor.body and any(map(_returns_true, ancestor.body)):
            return True
        child = ancestor
    return False


def _asks_float16(ctx: FileContext, test: ast.expr, depth: int = 0) -> bool:
    """Whether a condition holds only where a tensor or model is in float16 already."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(_asks_float16(ctx, value, depth) for value in test.values)
    if isinstance(test, ast.Name) and depth < 2:
        values = [binding.value for binding in ctx.index.flow.reaching(test) if binding.kind == "assign"]
        return bool(values) and all(value is not None and _asks_float16(ctx, value, depth + 1) for value in values)
    if isinstance(test, ast.Attribute) and depth < 2:  # state.needs_upcasting
        stored = ctx.index.devices.flow.variables.stores(test)
        return bool(stored) and any(_asks_float16(ctx, value, depth + 1) for value in stored)
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq | ast.In):
        return False
    asked, given = test.left, test.comparators[0]
    if isinstance(asked, ast.Name):  # dtype = x.dtype
        bindings = ctx.index.flow.reaching(asked)
        if len(bindings) == 1 and bindings[0].kind == "parameter" and asked.id == "dtype":
            return any(ctx.index.qualified_name(item) in _FLOAT16 for item in getattr(given, "elts", [given]))
        asked = bindings[0].value or asked if len(bindings) == 1 and bindings[0].kind == "assign" else asked
    if isinstance(asked, ast.IfExp):
        asked = asked.body
    if not isinstance(asked, ast.Attribute) or asked.attr != "dtype" or is_configuration(last_name(asked.value)):
        return False
    return any(ctx.index.qualified_name(item) in _FLOAT16 for item in getattr(given, "elts", [given]))


def _casts_for_host(ctx: FileContext, node: ast.expr) -> bool:
    """Whether a dtype is that of an array or a file: ``x.to(torch.float16).cpu().numpy()``, ``x.cpu().to(...)``."""
    parent = ctx.index.parent(node)
    cast = ctx.index.parent(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(cast, ast.Call) or not isinstance(cast.func, ast.Attribute):
        return False
    return cast.func.attr in ("to", "type") and (_is_fetched(cast.func.value) or goes_to_numpy(ctx, cast))


def _is_fetched(node: ast.expr) -> bool:
    """``weight.cpu()`` and ``weight.to("cpu")``"""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    given = node.args[0] if node.args else None
    to_host = node.func.attr == "to" and isinstance(given, ast.Constant) and given.value == "cpu"
    return node.func.attr == "cpu" or to_host


def _loads_on_host(ctx: FileContext, node: ast.expr) -> bool:
    """``from_pretrained(..., device_map="cpu")``: the format in which a model is merged or converted on the host."""
    call = ctx.index.parent(ctx.index.parent(node) or node)
    for keyword in call.keywords if isinstance(call, ast.Call) else []:
        if keyword.arg == "device_map":
            value = keyword.value
            named = value.values if isinstance(value, ast.Dict) else [value]
            return all(isinstance(item, ast.Constant) and item.value == "cpu" for item in named)
    return False


def _returns_true(statement: ast.stmt) -> bool:
    """Whether a statement says that what came before it works."""
    value = statement.value if isinstance(statement, ast.Return) else None
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "bool"
    return is_true(value)


def _is_for_runtime(ctx: FileContext, node: ast.expr) -> bool:
    """Whether the dtype goes to ``tpulint_runtime``, which takes bfloat16 for it on XLA."""
    call = ctx.index.parent(ctx.index.parent(node) or node)
    return isinstance(call, ast.Call) and (ctx.index.qualified_name(call.func) or "").startswith("tpulint_runtime.")


def _asks_dtype(ctx: FileContext, node: ast.expr) -> bool:
    """Whether a condition asks parameters that are cast here for float16, and nothing it decides names that dtype."""
    compare = next((a for a in ctx.index.tree.ancestors(node) if not isinstance(a, ast.Tuple | ast.List)), None)
    statement = ctx.index.statement_of(node)
    return (
        isinstance(compare, ast.Compare)
        and isinstance(compare.left, ast.Attribute)
        and compare.left.attr == "dtype"
        and len(re.findall(r"\bhalf\b|float16", ctx.text(statement))) == 1
    )


def _sets_dtype(ctx: FileContext, node: ast.expr) -> bool:
    """Whether a dtype decides what tensors are made of, rather than being compared with or looked up."""
    parent = ctx.index.parent(node)
    if isinstance(parent, ast.keyword):
        return parent.arg in _ARGUMENTS
    if isinstance(parent, ast.Dict) and node in parent.values:  # model_kwargs={"torch_dtype": torch.float16}
        key = parent.keys[parent.values.index(node)]
        return isinstance(key, ast.Constant) and key.value == "torch_dtype"
    if isinstance(parent, ast.arguments) and node in parent.defaults:
        names = [argument.arg for argument in (*parent.posonlyargs, *parent.args)][-len(parent.defaults) :]
        return names[parent.defaults.index(node)] == "torch_dtype"
    if not isinstance(parent, ast.Call) or node not in parent.args:
        return False
    func = parent.func
    if ctx.index.qualified_name(func) == "torch.set_default_dtype":
        return True
    return isinstance(func, ast.Attribute) and func.attr in ("to", "type") and ctx.index.qualified_name(func) is None
