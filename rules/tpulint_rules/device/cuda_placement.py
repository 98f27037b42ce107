"""``.cuda()``: moving to a device that a TPU machine does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder, short
from tpulint.model import Applicability, Certainty, Finding, Severity, Span
from tpulint.semantic import FunctionNode, Kind
from tpulint.semantic.devices.device_indices import indices_held, is_index_of_tensor
from tpulint.semantic.devices.device_sites import devices_given
from tpulint.semantic.project.other_files import Definition, methods
from tpulint.semantic.syntax.nodes import FUNCTIONS, is_super
from tpulint.semantic.syntax.variables import last_name, says_device
from tpulint_rules.device._choice_doubts import is_plain
from tpulint_rules.device._gpu_numbers import number_text
from tpulint_rules.device._set_data import INSTEAD, REFUSED, make_parameter, tensor_set
from tpulint_rules.device._storages import is_loaded_storage, is_new_storage, left_as_it_came

_KNOWN = (Kind.TENSOR, Kind.MODULE)
_NEVER = (Kind.NUMPY, Kind.DEVICE, Kind.LOADER, Kind.OPTIMIZER, Kind.SCHEDULER)
_LIGHTNING = (
    "lightning.LightningModule", "lightning.pytorch.LightningModule", "pytorch_lightning.LightningModule",
    "pytorch_lightning.core.LightningModule",
)  # fmt: skip
_OWN = "Define `to(self, *args, **kwargs)` in its place, and call that with the device"
_KEPT = frozenset({"non_blocking", "memory_format", "device"})


def check(ctx: FileContext) -> Iterator[Finding]:
    devices = ctx.index.devices
    calls = [
        (call, receiver)
        for call, receiver in (*ctx.index.method_calls("cuda"), *_calls_on_imported(ctx))
        if _moves(ctx, receiver)
        and _takes_device(call)
        and not devices.is_for_cuda(call)
        and not devices.is_map_location(call)
        and not _has_other_branch(ctx, call)
    ]
    several = len({number for call, _ in calls if (number := _number(call)) is not None}) > 1
    for call, receiver in calls:
        value = ctx.index.value(receiver)
        certain = value.kind in _KNOWN and value.certain
        fix = None if several else _move_to_xla(ctx, call)
        message = f"`{short(ctx.text(receiver), 40)}.cuda()` fails on a TPU machine, where no CUDA device exists"
        severity = Severity.WARNING if ctx.index.callers.decide(call) else None
        if _is_loss_without_tensors(ctx, receiver):
            message = f"`{short(ctx.text(receiver), 40)}.cuda()` moves nothing: a loss without weights has no tensors"
            severity = Severity.INFO
        help = "Parts on different GPUs must share the one XLA device of a process" if several else ""
        if (tensor := tensor_set(ctx.index, call)) is not None:
            fix = make_parameter(ctx, fix, call, tensor)
            message, help = f"{message}, and {REFUSED}", INSTEAD
        yield ctx.finding(
            call,
            message,
            fix,
            severity=severity,
            certainty=Certainty.CERTAIN if certain else Certainty.LIKELY,
            help=help,
        )
    yield from _own_methods(ctx)


def _own_methods(ctx: FileContext) -> Iterator[Finding]:
    """Calls of a module's own ``def cuda(self): super().cuda(); ...``, which moves more than torch's."""
    index = ctx.index
    for call, receiver in index.method_calls("cuda"):
        itself = _class_of_itself(ctx, receiver)
        owners = index.imported.classes_here(receiver, index) if itself is None else (Definition(index, itself),)
        own = methods(owners, "cuda")
        if is_super(receiver) or _moves(ctx, receiver):
            continue
        if any(map(_moves_module, own)) and not index.devices.is_for_cuda(call):
            message = f"`{short(ctx.text(receiver), 40)}.cuda()` fails on a TPU machine, where no CUDA device exists"
            yield ctx.finding(call, message, help=_OWN, certainty=Certainty.LIKELY)


def _moves_module(method: Definition) -> bool:
    """Whether a method calls that of the base, ``super().cuda()`` or ``nn.Module.cuda(self, device)``."""
    calls = method.file.tree.nodes_in(method.node, ast.Call)
    return isinstance(method.node, FUNCTIONS) and any(
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "cuda"
        and (is_super(call.func.value) or _is_given_itself(call, method.node))
        for call in calls
    )


def _is_given_itself(call: ast.Call, method: FunctionNode) -> bool:
    itself = method.args.args[0].arg if method.args.args else None
    return bool(call.args) and isinstance(call.args[0], ast.Name) and call.args[0].id == itself


def _calls_on_imported(ctx: FileContext) -> Iterator[tuple[ast.Call, ast.expr]]:
    """``data.weights.cuda()``: of tensors and modules that an imported file of the project made."""
    for call in ctx.index.calls:
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "cuda":
            continue
        made = ctx.index.imported.variable(call.func.value) if ctx.index.qualified_name(call.func) is not None else None
        if made is None:
            continue
        file, name = made
        bindings = file.names.bindings_in(file.names.module, name)
        if all(file.kinds.binding_value(binding).kind in _KNOWN for binding in bindings):
            yield call, call.func.value


def _moves(ctx: FileContext, receiver: ast.expr) -> bool:
    """Whether ``receiver.cuda()`` is torch's own method, or stands beside a ``to`` in a class of the project."""
    index = ctx.index
    if index.kind(receiver) in _NEVER:
        return False
    owner = None
    if isinstance(receiver, ast.Name | ast.Attribute):
        owner = index.definitions.classes.one_of_variable(receiver)
        owner = _class_of_itself(ctx, receiver) if owner is None else owner
    elif isinstance(receiver, ast.Call):
        if isinstance(receiver.func, ast.Name) and receiver.func.id == "super":
            return False
        owner = index.definitions.class_called(receiver)
    if owner is None:
        classes = index.imported.classes_of(receiver)
        return not methods(classes, "cuda") or all(_has_both(ctx, one, receiver) for one in classes)
    own = index.definitions.method(owner, "cuda")
    to = index.definitions.method(owner, "to")
    return own is None or (_calls(ctx, own, "cuda") and _takes_place(to) and not _calls_itself(ctx, to))


def _has_both(ctx: FileContext, owner: Definition, receiver: ast.expr) -> bool:
    """Whether a class of another file has ``to(self, device)`` beside its ``cuda``; the answer must not be used."""
    call = ctx.index.parent(ctx.index.parent(receiver) or receiver)
    if call is None or not isinstance(ctx.index.parent(call), ast.Expr):
        return False
    both = [methods((owner,), name) for name in ("cuda", "to")]
    if not all(len(found) == 1 and found[0].file is owner.file for found in both):
        return False
    own, to = (found[0].node for found in both)
    if not isinstance(own, FUNCTIONS) or not isinstance(to, FUNCTIONS) or not _takes_place(to):
        return False
    is_device = says_device(to.args.args[1].arg)
    calls = [node.func for node in owner.file.tree.nodes_in(to, ast.Call) if isinstance(node.func, ast.Attribute)]
    hands_back = any(func.attr == "cuda" for func in calls)
    return is_device and not hands_back and any(func.attr == "to" for func in calls)


def _class_of_itself(ctx: FileContext, receiver: ast.expr) -> ast.ClassDef | None:
    """The class of ``self`` in one of its methods."""
    function = ctx.index.function_of(receiver) if isinstance(receiver, ast.Name) else None
    first = function.args.args[0].arg if function is not None and function.args.args else ""
    is_itself = isinstance(receiver, ast.Name) and first == receiver.id
    return ctx.index.tree.class_of(function) if function is not None and is_itself else None


def _calls_itself(ctx: FileContext, to: FunctionNode | None) -> bool:
    """``def to(self, device): ... self.cuda()``, which that would call for ever."""
    itself = to.args.args[0].arg if to is not None and to.args.args else None
    return to is not None and any(
        isinstance(receiver, ast.Name) and receiver.id == itself and ctx.index.tree.encloses(to, call)
        for call, receiver in ctx.index.method_calls("cuda")
    )


def _calls(ctx: FileContext, function: FunctionNode, method: str) -> bool:
    """Whether a method hands on to that of what the object holds: ``self.x = self.x.cuda()``."""
    calls = (node.func for node in ctx.index.tree.nodes_in(function, ast.Call) if isinstance(node, ast.Call))
    return any(isinstance(func, ast.Attribute) and func.attr == method for func in calls)


def _takes_place(to: FunctionNode | None) -> bool:
    """``def to(self, device)``"""
    return to is not None and len(to.args.args) > 1


def _is_loss_without_tensors(ctx: FileContext, receiver: ast.expr) -> bool:
    """``nn.CrossEntropyLoss()``, whose move does nothing even where there is no GPU."""
    made = [creation.node for creation in ctx.index.moves.creations.of(receiver) if not creation.path]
    return bool(made) and all(isinstance(node, ast.Call) and _makes_plain_loss(ctx, node) for node in made)


def _makes_plain_loss(ctx: FileContext, call: ast.Call) -> bool:
    name = ctx.index.qualified_name(call.func) or ""
    weighted = call.args or any(keyword.arg in ("weight", "pos_weight", None) for keyword in call.keywords)
    return name.startswith("torch.nn.") and name.endswith("Loss") and not weighted


def _has_other_branch(ctx: FileContext, call: ast.Call) -> bool:
    """Whether ``device.type == "cuda"`` keeps the move for CUDA, with another branch for all other devices."""
    child: ast.AST = call
    for ancestor in ctx.index.tree.ancestors(call):
        if isinstance(ancestor, ast.If) and child in ancestor.body and ancestor.orelse:
            test = ancestor.test
            parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
            if any(map(_asks_type, parts)):
                return True
        child = ancestor
    return False


def _asks_type(test: ast.expr) -> bool:
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return False
    other = test.comparators[0]
    is_type = isinstance(test.left, ast.Attribute) and test.left.attr == "type"
    return is_type and isinstance(other, ast.Constant) and other.value == "cuda"


def _takes_device(call: ast.Call) -> bool:
    """Whether a call gives no more than torch's own method takes; ``quantizer.cuda(x, meta=meta)`` is another."""
    return len(call.args) <= 2 and all(item.arg is None or item.arg in _KEPT | {"async"} for item in call.keywords)


def _number(call: ast.Call) -> int | None:
    given = devices_given(call)
    if given and isinstance(given[0], ast.Constant) and type(given[0].value) is int:
        return given[0].value
    return None


def _move_to_xla(ctx: FileContext, call: ast.Call) -> FixBuilder | None:
    assert isinstance(call.func, ast.Attribute)
    known = all(keyword.arg in _KEPT for keyword in call.keywords)
    if (
        not known
        or len(call.args) > 2
        or any(isinstance(item, ast.Starred) for item in call.args)
        or _in_fstring(ctx, call)
    ):
        return None
    if is_loaded_storage(ctx.index, call.func.value):
        return left_as_it_came(ctx, call)
    if is_new_storage(ctx.index, call.func.value):
        return None  # a storage has no `to`, and none lies on an XLA device
    fix = ctx.fix(
        "Move to the XLA device", Applicability.SAFE, "`.to(device)` moves tensors and modules as `.cuda()` does."
    )
    if ctx.index.devices.sites and not is_plain(ctx):
        fix.lower(Applicability.UNSAFE, "Other places of the file still choose a GPU or the CPU.")
    end = ctx.index.span(call.func).end
    fix.replace(Span(end - len("cuda"), end), "to")
    given = next((k.value for k in call.keywords if k.arg == "device"), call.args[0] if call.args else None)
    if given is None:
        text = _device_of_lightning(ctx, call) or fix.device(call)
        pieces = fix.pieces(call)
        if pieces:
            fix.insert(pieces[0].span.start, f"{text}, ")
        else:
            fix.insert(ctx.index.span(call).end - 1, text)
    elif is_index_of_tensor(ctx.index, given):
        fix.replace(given, f"{ctx.text(given).rpartition('.')[0]}.device")
    elif numbers := indices_held(ctx.index, given):
        if not _become_devices(ctx, numbers):
            fix.replace(given, fix.device(call))
    elif not ctx.index.xla_devices.is_device(given):
        if _is_device_by_name(ctx, given):
            fix.lower(Applicability.UNSAFE, f"`{last_name(given)}` is taken for a device by its name.")
        elif ctx.portable and says_device(last_name(given)) and not ctx.index.devices.indices.is_number(given):
            return None  # a device or the number of one, which `backend.device` takes alone
        else:
            fix.replace(given, fix.device(call, number_text(ctx, fix, given) if ctx.portable else ""))
    if len(call.args) == 2:
        fix.insert(ctx.index.span(call.args[1]).start, "non_blocking=")
    return fix


def _is_device_by_name(ctx: FileContext, given: ast.expr) -> bool:
    """``device``, ``args.device`` and what the file makes a device; ``dev_id`` is as often a number."""
    indices, named = ctx.index.devices.indices, last_name(given)
    if indices.is_number(given) or indices.is_likely_number(given) or indices.is_used_as_number(given):
        return False
    if indices.may_be_given_number(given):
        return False
    return named.strip("_") == "device" or (says_device(named) and ctx.index.kind(given) is Kind.DEVICE)


def _become_devices(ctx: FileContext, numbers: list[ast.expr]) -> bool:
    """Whether all that a variable holds, ``device = x.get_device()``, is rewritten where it is assigned."""
    sites = [site.node for site in ctx.index.devices.sites]
    return all(number in sites for number in numbers)


def _device_of_lightning(ctx: FileContext, node: ast.AST) -> str:
    """``self.device`` in a method of a LightningModule: its trainer chooses the device, in processes started later."""
    function, owner = ctx.index.function_of(node), ctx.index.tree.class_of(node)
    if function is None or owner is None or ctx.index.parent(function) is not owner or not function.args.args:
        return ""
    bound = {ctx.text(item) for item in function.decorator_list}
    if function.name == "__init__" or bound & {"staticmethod", "classmethod"}:
        return ""  # the module is not moved yet, or there is none
    if not any(ctx.index.qualified_name(base) in _LIGHTNING for base in owner.bases):
        return ""
    return f"{function.args.args[0].arg}.device"


def _in_fstring(ctx: FileContext, node: ast.AST) -> bool:
    return any(isinstance(ancestor, ast.JoinedStr) for ancestor in ctx.index.tree.ancestors(node))
