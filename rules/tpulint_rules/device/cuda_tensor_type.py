"""``torch.cuda.FloatTensor`` and its like: tensor classes that put what they make on a GPU."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Fix, Scope, Severity, Span
from tpulint.semantic import Kind, Side
from tpulint.semantic.devices.default_device import constructions, setter_of
from tpulint.semantic.devices.tensor_types import TypeUse, asked_classes
from tpulint.semantic.project.handed_tensor_types import TENSOR
from tpulint.semantic.syntax.torch_facts import CUDA_TENSOR_TYPES
from tpulint.semantic.values.kept_attributes import owner_of
from tpulint.semantic.values.value import is_true
from tpulint_rules.device._default_types import FOLLOWERS_OF_DEFAULT, set_back, set_default
from tpulint_rules.device._filled_tensors import fill_on_device, is_filled_on_device
from tpulint_rules.device._storages import makes_storages

_SAME = "`x.type_as(y)` is `x.type(y.type())`, on any device."
_STORAGE = "Make it `x.type_as(y)` if it is a tensor; a storage, which no XLA device has, lacks that method"
_RUNTIME = "tpulint_runtime.backend"
_REASON = "The class of the host is used and its tensors are moved, which gives the same values on the XLA device."

_ELSEWHERE = "Objects hand the class to code elsewhere: use `torch`'s there and move what it makes to the device"

_KEPT_DEVICE = "tensor_device"


def check(ctx: FileContext) -> Iterator[Finding]:
    yield from _types_of_tensors(ctx)
    yield from _under_a_default(ctx)
    uses = [
        use
        for use in ctx.index.tensor_types.uses
        if not ctx.index.devices.is_for_cuda(use.node) and not _is_looked_up(ctx, use)
    ]
    if not uses:
        return
    fix = _change_types(ctx, uses)
    for use in uses:
        help = _help(use)
        message = f"`torch.cuda.{use.name}` makes tensors on a GPU, which a TPU machine lacks"
        severity = Severity.WARNING if ctx.index.callers.decide(use.node) else None
        yield ctx.finding(use.node, message, fix, severity=severity, help=help)


def _help(use: TypeUse) -> str:
    """What is to be done by hand where the class cannot be followed."""
    if use.unknown:
        return "Test `tensor.device.type` and `tensor.dtype` instead of the class"
    return _ELSEWHERE if use.elsewhere else ""


def _types_of_tensors(ctx: FileContext) -> Iterator[Finding]:
    """``x.type(y.type())``: the text that names the class of a tensor on an XLA device names no class of torch."""
    index = ctx.index
    knows_device = index.kinds.mentions_device or bool(index.outside) or index.turn_code.exists
    for call, _ in index.method_calls("type"):
        owner = index.tree.class_of(call)
        # What a function of a library is given lies where its callers have it.
        serves = index.function_of(call) is not None and not index.is_program
        if not (knows_device or serves or (owner is not None and index.definitions.is_module_class(owner))):
            continue
        asked = call.args[0] if len(call.args) == 1 and not call.keywords else None
        if not isinstance(asked, ast.Call) or asked.args or asked.keywords or not isinstance(call.func, ast.Attribute):
            continue
        if not isinstance(asked.func, ast.Attribute) or asked.func.attr != "type":
            continue
        pattern = index.value(asked.func.value)
        if pattern.side is Side.HOST and pattern.certain:
            continue
        message = f"`{ctx.text(asked)}` names a class that torch has not, where the tensor is on an XLA device"
        converted = index.value(call.func.value)
        if not (converted.kind is Kind.TENSOR and converted.certain) and makes_storages(index):
            yield ctx.finding(call, message, certainty=Certainty.LIKELY, help=_STORAGE)
            continue
        fix = ctx.fix("Make it the type of the other tensor", Applicability.UNSAFE, _SAME)
        end = index.span(call.func).end
        fix.replace(Span(end - len("type"), end), "type_as")
        fix.replace(asked, ctx.text(asked.func.value))
        yield ctx.finding(call, message, fix, certainty=Certainty.LIKELY)


def _under_a_default(ctx: FileContext) -> Iterator[Finding]:
    """``torch.Tensor(...)`` in a file that one imports which sets the default: it made tensors on the GPU too."""
    if setter := setter_of(ctx.index):
        for call in constructions(ctx.index):
            fix = ctx.fix("Move it to the device", Applicability.UNSAFE, FOLLOWERS_OF_DEFAULT, Scope.LOOP)
            fix.append(ctx.index.tensor_types.filled(call), f".to({fix.device(call)})")
            message = f"`torch.Tensor` makes its tensor on the host: it follows no default device, as {setter} sets one"
            yield ctx.finding(call, message, fix, certainty=Certainty.LIKELY)


def _is_looked_up(ctx: FileContext, use: TypeUse) -> bool:
    """``torch.cuda.HalfTensor in buckets`` asks for a class and makes no tensor."""
    parent = ctx.index.parent(use.node)
    return isinstance(parent, ast.Compare) and parent.left is use.node and isinstance(parent.ops[0], ast.In | ast.NotIn)


def _change_types(ctx: FileContext, uses: list[TypeUse]) -> Fix | None:
    """One fix for the file: a class that several variables share must not be changed in half of them."""
    # Narrower than the choice of the device, so that its result, and the device's variable, are there already.
    fix = ctx.fix("Make tensors on the host and move them", Applicability.UNSAFE, _REASON, Scope.LOOP)
    if any(use.unknown or use.elsewhere for use in uses):
        fix.give_up()
        return None
    chosen = _define_chosen_device(ctx, fix, uses)
    for module in dict.fromkeys(use.module for use in uses if use.module is not None):
        fix.replace(module, fix.use("torch", at=module))
    for use in uses:
        if _is_for_others(ctx, use):
            _define_function(ctx, fix, use)
        elif use.choice is not None:
            other = use.choice.orelse if use.choice.body is use.node else use.choice.body
            fix.replace(use.choice, ctx.text(other))
        elif any(is_filled_on_device(ctx, use, call) for call in use.constructions):
            pass  # the class goes with the call
        elif use.module is None and not use.tests and (use.variable is not None or use.constructions):
            fix.replace(use.node, f"{fix.use('torch', at=use.node)}.{use.name}")
        for call in use.constructions:
            device = _chosen_at(ctx, use, call.func, chosen)
            if is_filled_on_device(ctx, use, call):
                fill_on_device(ctx, fix, call, device or fix.device(call))
                continue
            fix.append(ctx.index.tensor_types.filled(call), f".to({device or _device(ctx, fix, use, call)})")
        for call in use.conversions:
            device = _chosen_at(ctx, use, call.args[0], chosen)
            _convert(ctx, fix, use, call, device or _device(ctx, fix, use, call))
        for call in use.given:
            device = chosen if _is_dynamic(ctx, use) else None
            fix.append(call, f".to({device or _device(ctx, fix, use, call)})")
        for call, kind in use.handed:
            keys_of = ctx.index.devices.flow.variables.keys_of
            taken = next((item for item in call.args if use.variable in keys_of(item)), call.func)
            _move_result(ctx, fix, call, kind, _chosen_at(ctx, use, taken, chosen))
        for factory in use.factories:
            device = _chosen_at(ctx, use, factory, chosen)
            fix.replace(factory, f"lambda: {ctx.text(factory)}().to({device or fix.device(factory)})")
        for call in use.settings:
            set_default(ctx, fix, use, call)
        for call in use.tests:
            _test_dtype(ctx, fix, call)
    set_back(ctx, fix, [call for use in uses for call in use.settings])
    return fix.build()


def _chosen_at(ctx: FileContext, use: TypeUse, taken: ast.expr, chosen: str | None) -> str | None:
    """The variable for the chosen device where the class is taken: objects that keep the one keep the other."""
    if chosen is None or not _is_dynamic(ctx, use):
        return None
    kept = taken.value if use.module is not None and isinstance(taken, ast.Attribute) else taken
    is_kept = use.variable is not None and use.variable[0] == "attribute" and isinstance(kept, ast.Attribute)
    return f"{ctx.text(kept.value)}.{_KEPT_DEVICE}" if is_kept and isinstance(kept, ast.Attribute) else chosen


def _move_result(ctx: FileContext, fix: FixBuilder, call: ast.Call, kind: str, chosen: str | None) -> None:
    """Move what a function gives that converts with the class of the host now."""
    device = chosen or fix.device(call)
    if kind == TENSOR:
        fix.append(call, f".to({device})")
        return
    part = ctx.index.names.fresh("part", call)
    fix.insert(ctx.index.span(call).start, f"[{part}.to({device}) for {part} in ")
    fix.append(call, "]")


def _test_dtype(ctx: FileContext, fix: FixBuilder, test: ast.Call) -> None:
    """No class of torch is that of a tensor on an XLA device: ask for its dtype, and its device if that was asked."""
    tensor, torch = ctx.text(test.args[0]), fix.use("torch", at=test)
    names = [(ctx.index.qualified_name(item) or "").rpartition(".") for item in asked_classes(test)]
    dtypes = list(dict.fromkeys(f"{torch}.{CUDA_TENSOR_TYPES[name]}" for _, _, name in names))
    is_dtype = f"== {dtypes[0]}" if len(dtypes) == 1 else f"in ({', '.join(dtypes)})"
    text = f"isinstance({tensor}, {torch}.Tensor) and {tensor}.dtype {is_dtype}"
    if all(head == "torch.cuda" for head, _, _ in names):
        if ctx.portable:
            fix.give_up()
        text += f' and {tensor}.device.type == "xla"'
    is_whole = isinstance(ctx.index.parent(test), ast.Assert | ast.If | ast.While | ast.Return | ast.Assign)
    fix.replace(test, text if is_whole else f"({text})")


def _is_for_others(ctx: FileContext, use: TypeUse) -> bool:
    """Whether a variable of a module holds the class, and nothing in this file uses it: other files make tensors."""
    statement = ctx.index.parent(use.choice or use.node)
    return (
        use.variable is not None
        and not ctx.index.is_program
        and isinstance(statement, ast.Assign)
        and isinstance(statement.targets[0], ast.Name)
        and statement in ctx.index.tree.module.body
        and not any((use.constructions, use.conversions, use.given, use.handed, use.factories, use.settings))
    )


def _define_function(ctx: FileContext, fix: FixBuilder, use: TypeUse) -> None:
    """``Tensor(...)`` for other files: the class of the host, and a move to the device."""
    statement = ctx.index.statement_of(use.node)
    assert isinstance(statement, ast.Assign)
    device = fix.emit.device(statement)
    if use.test is not None and _is_dynamic(ctx, use):
        device = f'{device} if {ctx.text(use.test)} else "cpu"'
    made = f"{fix.use('torch', at=use.node)}.{use.name}(*given).to({device})"
    behind = ctx.source.text[ctx.index.span(statement).end :].lstrip(" ")
    gap = "\n" if re.match(r"\n[^\n]", behind) else ""
    fix.replace(statement, f"def {ctx.text(statement.targets[0])}(*given):\n    return {made}{gap}")


def _is_dynamic(ctx: FileContext, use: TypeUse) -> bool:
    """Whether a flag that the user sets chooses between the GPU and the host."""
    if _partner(ctx, use) is not None:
        return False
    test = use.test
    if isinstance(test, ast.Name):
        bindings = ctx.index.names.bindings(test)
        # The default of a parameter is no answer: whoever calls may say no.
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
        return not is_true(value) and not _is_answer(ctx, value)
    if isinstance(test, ast.Attribute) and (owner := owner_of(ctx.index, test)) is not None:
        # `self.use_cuda = torch.cuda.is_available()` was what the runtime answers, and is true now.
        kept = [binding.value for binding in ctx.index.names.attribute_bindings(owner, test.attr)]
        return not kept or not all(is_true(value) or _is_answer(ctx, value) for value in kept)
    return test is not None or use.choice is not None


def _is_answer(ctx: FileContext, value: ast.expr | None) -> bool:
    """Whether a flag is what the runtime answers, which chooses the host by itself where there is no accelerator."""
    if isinstance(value, ast.IfExp):
        both = (value.body, value.orelse)
        if [item.value for item in both if isinstance(item, ast.Constant)] != [True, False]:
            return False
        value = value.test
    return isinstance(value, ast.Call) and ctx.index.qualified_name(value.func) == f"{_RUNTIME}.is_available"


def _define_chosen_device(ctx: FileContext, fix: FixBuilder, uses: list[TypeUse]) -> str | None:
    """A variable for the device that the flag chooses, where no variable does that yet."""
    dynamic = [use for use in uses if _is_dynamic(ctx, use) and not _is_for_others(ctx, use)]
    calls = [call for use in dynamic for call in (*use.constructions, *use.conversions, *use.given, *use.factories)]
    calls += [call for use in dynamic for call, _ in use.handed]
    if all(_follows_flag(ctx, call) for call in calls):
        return None
    tests = {ctx.text(use.test) if use.test is not None else "" for use in dynamic}
    first, test = dynamic[0].statement, dynamic[0].test
    if len(tests) != 1 or first is None or test is None or any(use.variable is None for use in dynamic):
        fix.give_up()
        return None
    name = _name_for(ctx, dynamic, first, calls)
    if not name:
        fix.give_up()
        return None
    torch = fix.use("torch", at=first)
    # The variable stands where the class's own stands, so whoever can read the one can read the other.
    line = f'{name} = {fix.emit.device(first)} if {ctx.text(test)} else {torch}.device("cpu")'
    flag = _flag_statement(ctx, first, test)
    if flag is not None:
        fix.insert_after(flag, line)
    else:
        fix.insert_before(first, line)
    return name


def _name_for(ctx: FileContext, uses: list[TypeUse], first: ast.stmt, calls: list[ast.expr]) -> str:
    """A new variable or attribute that stands where the classes do; empty where there is none for all of them."""
    holders = {use.variable[0] for use in uses if use.variable is not None}
    if holders == {"attribute"}:
        owners = {ctx.index.tree.class_of(use.node) for use in uses}
        owner, function = owners.pop(), ctx.index.function_of(first)
        if owners or owner is None or function is None or ctx.index.names.attribute_bindings(owner, _KEPT_DEVICE):
            return ""
        return f"{function.args.args[0].arg}.{_KEPT_DEVICE}"
    taken = ctx.index.xla_devices.is_taken
    name = next((name for name in ("device", _KEPT_DEVICE) if not taken(name, first)), "")
    scopes = {use.variable[1] for use in uses if use.variable is not None}
    return "" if len(holders) > 1 or len(scopes) > 1 or any(taken(name, call) for call in calls) else name


def _flag_statement(ctx: FileContext, first: ast.stmt, test: ast.expr) -> ast.stmt | None:
    """The last statement in front of the choice, in its block, that sets the flag."""
    names = {node.id for node in (test, *ctx.index.tree.inside(test)) if isinstance(node, ast.Name)}
    found: ast.stmt | None = None
    for statement in ctx.index.tree.suite_of(first):
        if statement is first:
            break
        if isinstance(statement, ast.Assign):
            stored = (node for target in statement.targets for node in (target, *ctx.index.tree.inside(target)))
            if any(isinstance(node, ast.Name) and node.id in names for node in stored):
                found = statement
        elif any(
            isinstance(n, ast.Name) and n.id in names and isinstance(n.ctx, ast.Store)
            for n in ctx.index.tree.inside(statement)
        ):
            return None  # set in a branch or loop; only directly in front of the choice it is certainly done
    return found


def _follows_flag(ctx: FileContext, call: ast.expr) -> bool:
    variable = ctx.index.xla_devices.variable_at(call)
    return variable is not None and ctx.index.xla_devices.may_be_host(variable, call)


def _partner(ctx: FileContext, use: TypeUse) -> str | None:
    """The tensor beside which new ones are put: x in ``torch.cuda.FloatTensor if x.is_cuda else torch.FloatTensor``."""
    test = use.choice.test if use.choice is not None else None
    if (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Attribute)
        and isinstance(test.left.value, ast.Attribute)
    ):
        asked = test.left.value.value if (test.left.attr, test.left.value.attr) == ("type", "device") else None
    else:
        asked = test.value if isinstance(test, ast.Attribute) and test.attr == "is_cuda" else None
    if not isinstance(asked, ast.Name) or len(ctx.index.names.bindings(asked)) != 1:
        return None
    return asked.id


def _device(ctx: FileContext, fix: FixBuilder, use: TypeUse, call: ast.Call) -> str:
    partner = _partner(ctx, use)
    if partner is not None and use.choice is not None:
        if ctx.index.function_of(use.choice) is ctx.index.function_of(call):
            return f"{partner}.device"
        fix.give_up()
    return fix.device(call)


def _convert(ctx: FileContext, fix: FixBuilder, use: TypeUse, call: ast.Call, device: str) -> None:
    """``x.type(Tensor)`` also moves a tensor that is elsewhere: say device and dtype."""
    assert isinstance(call.func, ast.Attribute)
    if not use.only:
        fix.give_up()
        return
    end = ctx.index.span(call.func).end
    fix.replace(Span(end - len("type"), end), "to")
    fix.replace(fix.pieces(call)[0].span, f"{device}, {fix.use('torch', at=call)}.{CUDA_TENSOR_TYPES[use.name]}")
