"""Packing, a recurrent layer and unpacking, as one run of the layer on the padded batch."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.records import NamedTuple

_PAD = "torch.nn.utils.rnn.pad_packed_sequence"
_UNPACKING = frozenset({"batch_first", "padding_value", "total_length"})
_LAYERS = frozenset({"torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN"})
_REASON = (
    "The output is as long as the batch was padded, not as its longest sequence, and dropout between layers draws "
    "other numbers."
)


class _Pad(NamedTuple):
    """``padded, _ = pad_packed_sequence(output)`` or ``pad_packed_sequence(output)[0]``."""

    call: ast.Call
    value: ast.expr
    """The padded output itself: the call, where its result is unpacked, or its first element."""
    output: str
    """The variable with the output of the layer; empty where the call is given it at once."""
    target: ast.expr | None
    """All that an assignment binds with it; None where it is part of another expression."""
    name: str
    """The variable that the padded output is kept in."""


def padded_run(ctx: FileContext, pack: ast.Call) -> FixBuilder | None:
    """``run_padded(layer, x, lengths)`` for all three; None where the packed sequence goes anywhere else."""
    run, given = _run_of(ctx, pack), argument(pack, 0, "input")
    lengths = argument(pack, 1, "lengths")
    if run is None or given is None or lengths is None or not _is_known_layer(ctx, run):
        return None
    batch_first = _flag(argument(pack, 2, "batch_first"))
    pads = _pads(ctx, run)
    if pads is None or batch_first is None:
        return None
    if any(_flag(argument(pad.call, 1, "batch_first")) is not batch_first for pad in pads):
        return None
    if not all(_is_as_long(ctx, argument(pad.call, 3, "total_length"), given, int(batch_first)) for pad in pads):
        return None
    state = argument(run, 1, "hx")
    fix = ctx.fix("Run the layer on the padded batch", Applicability.UNSAFE, _REASON, Scope.MODULE)
    copied = _copied_for(ctx, lengths)
    if copied is not None:
        statement, kept = ctx.index.statement_of(copied), ctx.text(_without_copies(copied))
        if [ctx.text(target) for target in getattr(statement, "targets", ())] == [kept]:
            fix.delete(statement)  # `lengths = lengths.cpu()`
        else:
            fix.replace(copied, kept)
    parts = [ctx.text(run.func), ctx.text(given), ctx.text(_without_copies(lengths))]
    parts += [ctx.text(state)] if state is not None else []
    parts += ["batch_first=True"] if batch_first else []
    padded = f"{fix.use('tpulint_runtime', at=run)}.run_padded({', '.join(parts)})"
    if run.args[0] is not pack:
        fix.delete(ctx.index.statement_of(pack))
    if pads and not pads[0].output:
        (pad,) = pads
        fix.replace(pad.value, f"{padded}[0]")
        if pad.target is not None:
            fix.replace(pad.target, pad.name)
        return fix
    fix.replace(run, padded)
    for pad in pads:
        statement = ctx.index.statement_of(pad.call)
        if pad.target is None:
            fix.replace(pad.value, pad.output)
        elif pad.name == pad.output:
            fix.delete(statement)
        elif len(pads) == 1 and _follows(ctx, run, statement):
            fix.replace(_output_of(ctx, run), pad.name)
            fix.delete(statement)
        else:
            fix.replace(pad.target, pad.name)
            fix.replace(pad.value, pad.output)
    return fix


def _follows(ctx: FileContext, run: ast.Call, statement: ast.stmt) -> bool:
    """Whether a statement stands right behind the run of the layer."""
    suite = ctx.index.tree.suite_of(statement)
    at = suite.index(statement)
    return at > 0 and suite[at - 1] is ctx.index.statement_of(run)


def _output_of(ctx: FileContext, run: ast.Call) -> ast.expr:
    """Where ``output, hidden = layer(packed)`` puts the output."""
    outer = ctx.index.parent(run)
    assert isinstance(outer, ast.Assign) and isinstance(outer.targets[0], ast.Tuple)
    return outer.targets[0].elts[0]


def _run_of(ctx: FileContext, pack: ast.Call) -> ast.Call | None:
    """The one call that is given the packed sequence, behind it in the same block."""
    index = ctx.index
    outer = index.parent(pack)
    if isinstance(outer, ast.Call) and outer.args[:1] == [pack]:
        return outer
    if not isinstance(outer, ast.Assign) or outer.value is not pack:
        return None
    loads = _loads_of(ctx, outer.targets)
    call = index.parent(loads[0]) if loads is not None and len(loads) == 1 else None
    if loads is None or not isinstance(call, ast.Call) or call.args[:1] != loads:
        return None
    suite, statement = index.tree.suite_of(outer), index.statement_of(call)
    if statement not in suite:
        return None
    between = suite[suite.index(outer) + 1 : suite.index(statement)]
    used = {node.id for node in ast.walk(pack) if isinstance(node, ast.Name)}
    rebound = (node for other in between for node in ast.walk(other) if isinstance(node, ast.Name))
    if any(node.id in used and not isinstance(node.ctx, ast.Load) for node in rebound):
        return None
    return call


def _is_known_layer(ctx: FileContext, run: ast.Call) -> bool:
    """Whether what is called is one of torch's recurrent layers."""
    made = [creation.node for creation in ctx.index.moves.creations.of(run.func)]
    return bool(made) and all(
        isinstance(node, ast.Call)
        and (ctx.index.qualified_name(node.func) in _LAYERS or _is_chosen_by_name(ctx, node.func))
        for node in made
    )


def _is_chosen_by_name(ctx: FileContext, maker: ast.expr) -> bool:
    """``getattr(nn, kind)``: of torch's layers the recurrent ones alone take packed sequences."""
    if not isinstance(maker, ast.Call) or ctx.index.qualified_name(maker.func) != "builtins.getattr":
        return False
    return len(maker.args) == 2 and ctx.index.qualified_name(maker.args[0]) == "torch.nn"


def _pads(ctx: FileContext, run: ast.Call) -> list[_Pad] | None:
    """The calls that unpack the output of the layer; None where it goes anywhere else."""
    outer = ctx.index.parent(run)
    if isinstance(outer, ast.Subscript) and outer.value is run and isinstance(outer.slice, ast.Constant):
        if outer.slice.value in (1, -1):
            return []
        pad = _pad_of(ctx, outer, "") if outer.slice.value == 0 else None
        return [pad] if pad is not None else None
    if not isinstance(outer, ast.Assign) or outer.value is not run or len(outer.targets) != 1:
        return None
    target = outer.targets[0]
    output = target.elts[0] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else None
    loads = _loads_of(ctx, [output]) if isinstance(output, ast.Name) else None
    if loads is None or not isinstance(output, ast.Name):
        return None
    pads = [_pad_of(ctx, load, output.id) for load in loads]
    return [pad for pad in pads if pad is not None] if None not in pads else None


def _pad_of(ctx: FileContext, load: ast.expr, output: str) -> _Pad | None:
    index = ctx.index
    call = index.parent(load)
    if not isinstance(call, ast.Call) or index.qualified_name(call.func) != _PAD or call.args[:1] != [load]:
        return None
    if len(call.args) > 2 or any(keyword.arg not in _UNPACKING for keyword in call.keywords):
        return None
    padding = argument(call, 2, "padding_value")
    if padding is not None and not (isinstance(padding, ast.Constant) and padding.value == 0):
        return None
    value: ast.expr = call
    outer = index.parent(call)
    if isinstance(outer, ast.Subscript) and isinstance(outer.slice, ast.Constant) and outer.slice.value == 0:
        value, outer = outer, index.parent(outer)
        is_kept = isinstance(outer, ast.Assign) and len(outer.targets) == 1 and outer.value is value
        target = outer.targets[0] if is_kept and isinstance(outer, ast.Assign) else None
        if isinstance(target, ast.Name):
            return _Pad(call, value, output, target, target.id)
        return _Pad(call, value, output, None, "")
    target = outer.targets[0] if isinstance(outer, ast.Assign) and len(outer.targets) == 1 else None
    names = target.elts if isinstance(target, ast.Tuple) else []
    if len(names) != 2 or not isinstance(names[0], ast.Name) or _loads_of(ctx, [names[1]]) != []:
        return None
    return _Pad(call, value, output, target, names[0].id)


def _loads_of(ctx: FileContext, targets: Sequence[ast.expr]) -> list[ast.Name] | None:
    """Where a variable is read that was bound here and nowhere else on the way; None for anything but one name."""
    target = targets[0] if len(targets) == 1 else None
    if not isinstance(target, ast.Name):
        return None
    names, flow = ctx.index.names, ctx.index.flow
    binding = names.binding_at(target)
    loads = [load for load in names.loads(target.id, names.scope_of(target)) if binding in flow.reaching(load)]
    return loads if binding is not None and all(flow.reaching(load) == (binding,) for load in loads) else None


def argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    """An argument given by its place or its name."""
    named = [keyword.value for keyword in call.keywords if keyword.arg == name]
    return named[0] if named else call.args[position] if len(call.args) > position else None


def _is_as_long(ctx: FileContext, total: ast.expr | None, given: ast.expr, dim: int) -> bool:
    """Whether a length that is asked for is that of the padded batch: ``x.size(1)`` of the ``x`` that is packed, or a
    variable that holds it."""
    index = ctx.index
    if isinstance(total, ast.Name):
        bindings = index.flow.reaching(total)
        held = bindings[0] if len(bindings) == 1 and bindings[0].kind == "assign" else None
        value = held.value if held is not None and not held.path else None
        return value is not None and _is_as_long(ctx, value, given, dim)
    if total is None or (isinstance(total, ast.Constant) and total.value is None):
        return True
    asked: ast.expr | None = None
    if isinstance(total, ast.Call) and isinstance(total.func, ast.Attribute) and total.func.attr == "size":
        asked, which = total.func.value, argument(total, 0, "dim")
    elif isinstance(total, ast.Subscript) and isinstance(total.value, ast.Attribute) and total.value.attr == "shape":
        asked, which = total.value.value, total.slice
    if not (isinstance(asked, ast.Name) and isinstance(given, ast.Name) and asked.id == given.id):
        return False
    is_dim = isinstance(which, ast.Constant) and which.value == dim
    return is_dim and index.flow.reaching(asked) == index.flow.reaching(given)


def _flag(node: ast.expr | None) -> bool | None:
    """What a flag says, False where it is not given; None where only the run tells."""
    if node is None:
        return False
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, bool) else None


def _copied_for(ctx: FileContext, lengths: ast.expr) -> ast.expr | None:
    """What a variable is given that holds a copy of the lengths for the packing alone: ``mask.sum(1).cpu()``."""
    bindings = ctx.index.flow.reaching(lengths) if isinstance(lengths, ast.Name) else ()
    statement = bindings[0].statement if len(bindings) == 1 and bindings[0].kind == "assign" else None
    if not isinstance(statement, ast.Assign) or _loads_of(ctx, statement.targets) != [lengths]:
        return None
    return statement.value if _without_copies(statement.value) is not statement.value else None


def _without_copies(lengths: ast.expr) -> ast.expr:
    """``lengths`` of ``lengths.cpu().tolist()``: on the device nobody has to read them."""
    while isinstance(lengths, ast.Call) and isinstance(lengths.func, ast.Attribute):
        given = [item.value for item in lengths.args if isinstance(item, ast.Constant)]
        if not (
            (lengths.func.attr in ("cpu", "tolist", "numpy") and not lengths.args and not lengths.keywords)
            or (lengths.func.attr == "to" and given == ["cpu"] and len(lengths.args) == 1 and not lengths.keywords)
        ):
            break
        lengths = lengths.func.value
    return lengths
