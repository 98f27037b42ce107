"""A checkpoint cannot be loaded straight onto an XLA device, nor onto a GPU that is not there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope, Severity
from tpulint.semantic import Binding, Kind
from tpulint.semantic.devices.device_sites import device_argument
from tpulint.semantic.devices.returned_devices import holds_device
from tpulint_rules.checkpoint._copied_states import CopiedStates
from tpulint_rules.checkpoint._kept_averages import averages_given
from tpulint_rules.checkpoint._loaded_modules import device_of, is_module
from tpulint_rules.checkpoint._loaded_optimizers import holds_optimizer
from tpulint_rules.checkpoint._loaded_parts import holds_state, is_made_into_state, is_of_facts, is_only_state
from tpulint_rules.checkpoint._loaded_tensors import are_tensors, is_tensor

_LOADERS = {"torch.load": 1, "torch.hub.load_state_dict_from_url": 2}
"""Functions that load, with the position of ``map_location``."""
_ON_CUDA = "torch.cuda.is_available()"
_NUMBERS = ("torch.cuda.current_device", "torch.distributed.get_rank")
"""Functions that tell the number of the GPU, and do nothing else."""
_COPIED = "`load_state_dict` copies the values to where the parameters are."
_KEPT = "What a class of the project keeps of a state is sent to the device, where its tensors were."
_TO_BE_MOVED = "Tensors of the file that are used as they are must be moved to the device."


def check(ctx: FileContext) -> Iterator[Finding]:
    for call in ctx.index.calls_to(*_LOADERS):
        name = ctx.index.qualified_name(call.func) or ""
        if any(isinstance(item, ast.Starred) for item in call.args) or any(item.arg is None for item in call.keywords):
            continue
        place = next((item.value for item in call.keywords if item.arg == "map_location"), None)
        if place is None and len(call.args) > _LOADERS[name]:
            place = call.args[_LOADERS[name]]
        if place is None:
            yield from _loaded_to_where_it_was(ctx, call, name)
            continue
        certain = _goes_to_device(ctx, place)
        if certain is None:
            continue
        message = f"`{name}` cannot put tensors on an XLA device, nor on a GPU that is not there; load them to the host"
        certainty = Certainty.CERTAIN if certain else Certainty.LIKELY
        given = isinstance(place, ast.Name) and any(b.kind == "parameter" for b in ctx.index.names.bindings(place))
        severity = Severity.WARNING if given and not ctx.index.is_program else ctx.rule.severity
        fix = None if holds_optimizer(ctx.index, call) else _loaded_to_host(ctx, call, place)
        yield ctx.finding(place, message, fix, severity=severity, certainty=certainty)


def _loaded_to_where_it_was(ctx: FileContext, call: ast.Call, name: str) -> Iterator[Finding]:
    """A file that is loaded without a place: tensors go back to the GPU that they were saved on."""
    if not ctx.index.moves.has_device and not _saves_states(ctx):
        return
    is_copied = _is_state(ctx, call) or _is_moved_later(ctx, call)
    is_whole = not is_copied and is_module(ctx.index, call)
    is_read_twice = is_of_facts(ctx.index, call) and _is_state_elsewhere(ctx, call)
    is_used = is_copied or is_whole or is_read_twice or is_made_into_state(ctx.index, call)
    is_used = is_used or holds_state(ctx.index, call)
    if not _is_one_of_two(ctx, call) and (not is_used or _saves_host_tensors(ctx)):
        return
    if holds_optimizer(ctx.index, call):
        return  # from what the port saves it comes back on the device, where its weights are
    # Not later than what makes `xm.save` of `torch.save`, behind which nothing is said.
    fix = ctx.fix('Load with `map_location="cpu"`', Applicability.SAFE, _COPIED, Scope.STATEMENT)
    fix.set_argument(call, "map_location", '"cpu"')
    if not is_copied and not is_read_twice:
        fix.lower(Applicability.UNSAFE, _TO_BE_MOVED)
    if is_whole:
        fix.append(call, f".to({fix.device(call)})")  # nothing else would move it from the host
    message = f"`{name}` fails on a file that was saved on a GPU where there is none; load it to the host"
    yield ctx.finding(call, message, fix, severity=Severity.INFO)


def _is_state_elsewhere(ctx: FileContext, call: ast.Call) -> bool:
    """Whether the same file is loaded once more, for a state: it was read for its epoch first."""
    paths = [(other, other.args[0]) for other in ctx.index.calls_to(*_LOADERS) if other.args]
    own = next((ctx.text(path) for other, path in paths if other is call), None)
    return any(other is not call and ctx.text(path) == own and _is_state(ctx, other) for other, path in paths)


def _is_one_of_two(ctx: FileContext, call: ast.Call) -> bool:
    """Whether the file is loaded to the host in the branch for machines without a GPU: `if self.use_cuda:`."""
    index = ctx.index
    statement = index.statement_of(call)
    branch = index.parent(statement)
    if not isinstance(branch, ast.If) or not isinstance(statement, ast.Assign | ast.Expr | ast.Return):
        return False
    suites = [suite for suite in (branch.body, branch.orelse) if statement not in suite]
    others = (other for other in index.calls_to(*_LOADERS) if index.statement_of(other) in suites[0])
    return len(suites) == 1 and any(
        item.arg == "map_location" and not _goes_to_device(ctx, item.value)
        for other in others
        for item in other.keywords
    )


def _saves_states(ctx: FileContext) -> bool:
    """Whether the file writes states of modules that are on the device in another file: it loads such ones."""
    states = ctx.index.saved_states
    return states.may_be_of_device and any(
        states.holds(call.args[0]) for call in ctx.index.calls_to("torch.save") if call.args
    )


def _saves_host_tensors(ctx: FileContext) -> bool:
    """Whether the file writes its checkpoints with ``xm.save``, so that they load anywhere."""
    return next(ctx.index.references("torch_xla.core.xla_model.save"), None) is not None


def _is_device_name(default: ast.expr | None) -> bool:
    """``def load(path, device="cuda")``, or by now ``"xla"``"""
    return isinstance(default, ast.Constant) and str(default.value).startswith(("cuda", "xla"))


def _goes_to_device(ctx: FileContext, place: ast.expr) -> bool | None:
    """Whether a ``map_location`` means the device; None when it does not, or that is not known."""
    if ctx.portable and isinstance(place, ast.IfExp) and ctx.text(place.test) == _ON_CUDA:
        return _goes_to_device(ctx, place.orelse)
    named = _named_by(ctx, place)
    if named is not None:
        return None if _named_by(ctx, named) is not None else _goes_to_device(ctx, named)
    if isinstance(place, ast.Dict):
        found = [_goes_to_device(ctx, value) for value in place.values]
        return any(found) if any(item is not None for item in found) else None
    if isinstance(place, ast.Lambda):
        return (
            True if any(_is_cuda(node) for node in ctx.index.tree.inside(place.body)) or _is_cuda(place.body) else None
        )
    if isinstance(place, ast.Name):
        # a dictionary or lambda made beforehand
        bindings = ctx.index.flow.reaching(place)
        for binding in bindings:
            if binding.kind == "assign" and isinstance(binding.value, ast.Dict | ast.Lambda):
                return _goes_to_device(ctx, binding.value)
            if binding.kind == "parameter" and place.id == "map_location" and _is_host_by_default(binding):
                return None
            if _is_host_for_xla(ctx, binding):
                return None
            if binding.kind == "parameter" and _is_device_name(binding.value):
                return True
    is_made = isinstance(place, ast.Call) and ctx.index.qualified_name(place.func) == "torch.device"
    given = device_argument(place) if isinstance(place, ast.Call) and is_made else None
    if isinstance(given, ast.Name) and _goes_to_device(ctx, given):
        return True  # `torch.device(device)`
    if isinstance(place, ast.Name | ast.Attribute):
        if holds_device(ctx.index, place):
            return True
        if ctx.index.imported.variable(place) is not None:
            return None  # of another file, which gives it the host, or what is not known
    certain = ctx.index.moves.is_device(place)
    if certain is False:
        if _is_numbered(ctx, place) or _holds_made_device(ctx, place):
            return True
        # what tensors are moved to elsewhere in the file is a device
        text = ctx.text(place)
        moved = (call for call, _ in ctx.index.method_calls("to", "cuda") if call.args)
        return True if any(ctx.text(call.args[0]) == text for call in moved) else None
    return certain


def _named_by(ctx: FileContext, place: ast.expr) -> ast.expr | None:
    """The device whose name a place is: ``str(device)``, which may be a variable."""
    values = [binding.value for binding in ctx.index.flow.reaching(place)] if isinstance(place, ast.Name) else [place]
    made = values[0] if len(values) == 1 else None
    if not isinstance(made, ast.Call) or ctx.index.qualified_name(made.func) != "builtins.str":
        return None
    return made.args[0] if len(made.args) == 1 and not isinstance(made.args[0], ast.Starred) else None


def _is_numbered(ctx: FileContext, place: ast.expr) -> bool:
    """``torch.device(gpu)`` of a number, which is that of a GPU: the host has none."""
    made = [binding.value for binding in ctx.index.flow.reaching(place)] if isinstance(place, ast.Name) else [place]
    calls = [item for item in made if isinstance(item, ast.Call)]
    given = [device_argument(call) for call in calls if ctx.index.qualified_name(call.func) == "torch.device"]
    is_number = ctx.index.devices.indices.is_number
    return len(given) == len(made) > 0 and all(item is not None and is_number(item) for item in given)


def _holds_made_device(ctx: FileContext, place: ast.expr) -> bool:
    """Whether a device is put under the name anywhere in the file: ``args.gpu = torch.device("cuda", args.gpu)``."""
    stored = ctx.index.devices.flow.variables.stores(place) if isinstance(place, ast.Attribute) else []
    return any(isinstance(value, ast.Call) and ctx.index.moves.is_device(value) is True for value in stored)


def _is_host_by_default(parameter: Binding) -> bool:
    """Whether a function loads to the host unless it is told otherwise: ``def load(path, map_location=None)``."""
    return isinstance(parameter.value, ast.Constant) and parameter.value.value in ("cpu", None)


def _is_host_for_xla(ctx: FileContext, binding: Binding) -> bool:
    """``if has_xla: device = "cpu"``"""
    if not isinstance(binding.value, ast.Constant) or binding.value.value != "cpu":
        return False
    around = ctx.index.parent(binding.statement)
    return isinstance(around, ast.If) and binding.statement in around.body and ctx.index.guards.asks_xla(around.test)


def _is_cuda(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "cuda"


def _loaded_to_host(ctx: FileContext, call: ast.Call, place: ast.expr) -> FixBuilder:
    fix = ctx.fix('Load with `map_location="cpu"`', Applicability.SAFE, _COPIED)
    is_state = _is_state(ctx, call)
    is_whole = not is_state and ctx.index.kind(call) is not Kind.HOST and is_module(ctx.index, call)
    device = device_of(ctx, fix, call, place) if is_whole else None
    if ctx.portable and not is_state and device in (None, ctx.text(place)):
        # What is used as it is stays on the GPU where there is one.
        fix.append(place, f' if {fix.emit.cuda_question(call)} else "cpu"')
    else:
        fix.replace(place, '"cpu"')
        made = _made_for(ctx, place)
        if made is not None:
            fix.delete(made)
    kept = [] if ctx.portable else list(averages_given(ctx.index, call))
    for state in kept:
        fix.lower(Applicability.UNSAFE, _KEPT)
        sends = f"{fix.use('torch_xla.core.xla_model', alias='xm', at=state)}.send_cpu_data_to_device"
        fix.replace(state, f"{sends}({ctx.text(state)}, {fix.emit.device(state)})")
    if is_state or kept:
        return fix
    fix.lower(Applicability.UNSAFE, _TO_BE_MOVED)
    target = _variable(ctx, call)
    if not is_whole and not ctx.portable and is_tensor(ctx.index, call):
        moved = None if _is_moved_later(ctx, call) else device_of(ctx, fix, call, place)
        if moved is not None:
            fix.append(call, f".to({moved})")
    elif target is not None and not ctx.portable and _is_data(ctx, call, target):
        sends = f"{fix.use('torch_xla.core.xla_model', alias='xm', at=call)}.send_cpu_data_to_device"
        fix.insert(ctx.index.span(call).start, f"{sends}(")
        fix.append(call, f", {fix.emit.device(call)})")
    elif device is not None:
        fix.append(call, f".to({device})")
    return fix


def _made_for(ctx: FileContext, place: ast.expr) -> ast.stmt | None:
    """The statement that makes a dictionary, lambda or name of a GPU which nothing but the load reads."""
    bindings = ctx.index.names.bindings(place) if isinstance(place, ast.Name) else []
    if len(bindings) != 1 or bindings[0].kind != "assign" or not isinstance(place, ast.Name):
        return None
    statement, value = bindings[0].statement, bindings[0].value
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or bindings[0].path:
        return None
    if value is None or len(ctx.index.names.loads_of(place)) != 1:
        return None
    if not isinstance(value, ast.Dict | ast.Lambda) and ctx.index.devices.flow.cuda_index(value) is None:
        return None
    calls_something = not isinstance(value, ast.Lambda) and any(
        isinstance(node, ast.Call | ast.NamedExpr) and not _only_tells(ctx, node)
        for node in ctx.index.tree.inside(value)
    )
    return None if calls_something else statement


def _only_tells(ctx: FileContext, node: ast.AST) -> bool:
    """Whether a call has no effect: ``"cuda:{}".format(rank)``, ``torch.cuda.current_device()``."""
    if not isinstance(node, ast.Call):
        return False
    formats = isinstance(node.func, ast.Attribute) and node.func.attr == "format"
    return formats or ctx.index.qualified_name(node.func) in _NUMBERS


def _variable(ctx: FileContext, call: ast.expr) -> ast.Name | None:
    statement = ctx.index.parent(call)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0]
    return None


def _is_state(ctx: FileContext, call: ast.Call) -> bool:
    """Whether all that is loaded is copied to a device or is none of tensors, whatever is filtered or handed on."""
    return CopiedStates(ctx.index).is_one(call) or is_only_state(ctx.index, call)


def _is_moved_later(ctx: FileContext, call: ast.Call) -> bool:
    """``net = torch.load(path)["model"]``, and ``net.to(device)``: whole modules are moved from where they come.

    So is what is moved at once, ``torch.load(path).cuda()``.
    """
    whole: ast.expr = call
    while isinstance(part := ctx.index.parent(whole), ast.Subscript) and part.value is whole:
        whole = part
    if isinstance(part, ast.Attribute) and isinstance(move := ctx.index.parent(part), ast.Call) and move.func is part:
        given = move.args[0] if move.args else None
        return part.attr == "cuda" or (
            part.attr == "to" and given is not None and ctx.index.moves.is_device(given) is True
        )
    target = _variable(ctx, whole)
    uses = [] if target is None else ctx.index.flow.loads_of(target, whole)
    methods = [ctx.index.parent(name) for name in uses]
    called = [item.attr for item in methods if isinstance(item, ast.Attribute)]
    return len(called) == len(uses) and any(method in ("to", "cuda") for method in called)


def _is_data(ctx: FileContext, call: ast.Call, target: ast.Name) -> bool:
    """Whether what is loaded are tensors under names, ``data["images"]``, or in a list, and no state to load."""
    index = ctx.index
    here = index.function_of(call)
    if any(index.function_of(other) is here for other, _ in index.method_calls("load_state_dict")):
        return False
    uses = index.flow.loads_of(target, call)
    return bool(uses) and (all(_is_named_part(ctx, name) for name in uses) or are_tensors(index, target))


def _is_named_part(ctx: FileContext, name: ast.Name) -> bool:
    part = ctx.index.parent(name)
    key = part.slice if isinstance(part, ast.Subscript) and part.value is name else None
    return isinstance(key, ast.Constant) and isinstance(key.value, str) and "state" not in key.value
