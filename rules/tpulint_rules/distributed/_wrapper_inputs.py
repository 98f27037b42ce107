"""What a wrapper around a model did with its inputs on GPUs: it moved them to the device of the process."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability
from tpulint.semantic import FUNCTIONS, Kind, SemanticIndex, Side, Value
from tpulint.semantic.functions.passed_arguments import arguments_given, values_given
from tpulint.semantic.project.other_files import Definition, definition_called, methods
from tpulint.semantic.syntax.variables import last_name
from tpulint_rules.device._inputs_left import inputs_left, is_as_dealt, is_beside_moved
from tpulint_rules.distributed._calls_elsewhere import calls_elsewhere, calls_of_kept
from tpulint_rules.distributed._conditional_moves import moved_at_times
from tpulint_rules.distributed._dealt_dicts import is_dict_dealt, is_nest_dealt
from tpulint_rules.distributed._parts_left import TEXTS, parts_left
from tpulint_rules.distributed._wrapped_calls import Wrapped

_BESIDE = "Parts of the batch that lie beside what is moved are taken for tensors, and moved as well."
_SHAPED = frozenset({"unsqueeze", "view", "float"})
"""Methods of tensors by which one sample becomes a batch."""
_MOVES = (".to(", ".cuda(")
_WHOLE_BATCHES = frozenset({"batch", "batched_inputs", "batch_data", "data", "sample", "samples"})


def move_inputs(ctx: FileContext, fix: FixBuilder, wrapper: ast.Call, calls: Iterable[ast.Call]) -> bool:
    """Move what is passed to a wrapped model from the host, as the wrapper did. Returns whether there is any.

    Whoever moves one part of a batch may leave others to the wrapper.
    What moves only where the model is not wrapped, ``if gpu is not None: x = x.cuda(gpu)``, moves always then.
    """
    moved = False
    without = _tests_without(ctx, wrapper)
    for call in calls:
        given = [item for item in call.args if not isinstance(item, ast.Starred)]  # `*parts`: some may be moved
        arguments = [*given, *(keyword.value for keyword in call.keywords)]
        tests = (test for item in arguments for test in _moved_if(ctx, item))
        always = {test: True for test in tests if ctx.text(test) in without}
        if always:
            fix.fold(always).write()
            fix.lower(Applicability.UNSAFE, "Inputs that only a chosen GPU was given move always.")
            moved = True
            continue
        values = [(argument, _lying(ctx.index, argument, ctx.index.value(argument))) for argument in arguments]
        left = list(parts_left(ctx, call))
        for part in left:
            fix.lower(Applicability.UNSAFE, _BESIDE)
            _move_part(ctx, fix, wrapper, call, part)
            moved = True
        if left or any(value.kind is Kind.TENSOR and value.side is not Side.HOST for _, value in values):
            continue
        for argument, value in values:
            if value.kind is not Kind.TENSOR or value.side is not Side.HOST:
                continue
            if isinstance(argument, ast.Name) and not value.certain:
                if is_nest_dealt(ctx.index, argument) or _is_dict(ctx, wrapper, call, argument):
                    fix.lower(Applicability.UNSAFE, "The tensors of the batch are moved.")
                    _move_part(ctx, fix, wrapper, call, argument)
                    moved = True
                    continue
                if _is_whole_batch(ctx.index, argument):
                    continue  # a dict or a list, as likely as a tensor
            if not value.certain:
                fix.lower(Applicability.UNSAFE, "What is passed to the model is likely on the host, and is moved now.")
            moved = True
            if _is_list(ctx, argument):
                fix.replace(argument, f"[part.to({fix.device(argument)}) for part in {ctx.text(argument)}]")
            else:
                fix.append(argument, f".to({fix.device(argument)})")
    return moved


def _is_whole_batch(index: SemanticIndex, argument: ast.expr) -> bool:
    """Whether a name says no more than that it holds all that a loader deals out: ``for batch in loader``."""
    is_named = isinstance(argument, ast.Name) and argument.id in _WHOLE_BATCHES
    return is_named and not is_beside_moved(index, argument)


def _leaves_whole_batch(ctx: FileContext, wrapper: ast.Call, call: ast.Call) -> bool:
    """Whether a model is called with a batch of the host, be it a tensor, a list or a dictionary, and nothing else."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    batch = given[0] if len(given) == 1 else None
    if not isinstance(batch, ast.Name) or not _is_whole_batch(ctx.index, batch) or _is_dict(ctx, wrapper, call, batch):
        return False
    value = ctx.index.value(batch)
    is_on_host = value.kind is Kind.TENSOR and value.side is Side.HOST
    return is_on_host and not value.certain and not is_nest_dealt(ctx.index, batch)


def _lying(index: SemanticIndex, argument: ast.expr, value: Value) -> Value:
    """A tensor that is made of what a call gives, ``transform(image).unsqueeze(0)``, lies on the host, likely.

    Whoever makes it of no tensor leaves the move to the wrapper; should it be there already, nothing happens.
    So does whoever moves the labels of a batch and not the images.
    """
    is_open = value.kind is Kind.UNKNOWN or (value.kind is Kind.TENSOR and value.side is Side.UNKNOWN)
    if is_open and not re.search(TEXTS, last_name(argument)) and is_beside_moved(index, argument):
        return Value(Kind.TENSOR, Side.HOST, False)
    if value.kind is not Kind.TENSOR or value.side is not Side.UNKNOWN:
        return value
    made = argument
    while isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr in _SHAPED:
        made = made.func.value
    bindings = index.flow.reaching(made) if isinstance(made, ast.Name) else ()
    sources = [binding.value if binding.kind == "assign" and not binding.path else None for binding in bindings]
    is_new = bool(sources) and all(
        isinstance(source, ast.Call) and _takes_no_tensor(index, source) for source in sources
    )
    return Value(Kind.TENSOR, Side.HOST, False) if is_new else value


def _takes_no_tensor(index: SemanticIndex, call: ast.Call) -> bool:
    given = values_given(call)
    if not given or not isinstance(call.func, ast.Name) or index.kind(call.func) is Kind.MODULE:
        return False
    made = definition_called(index, call)
    if made is not None and any(move in made.file.tree.text(made.node) for move in _MOVES):
        return False
    told = (Kind.TENSOR, Kind.MODULE, Kind.DEVICE)
    return not any(index.kind(item) in told or index.devices.flow.derives(item) for item in given)


def moves_for_others(ctx: FileContext, fix: FixBuilder, wrapper: ast.Call, wrappers: Wrapped) -> str:
    """The statement that lets a model move its inputs, where nothing that is written beside them can; else empty.

    So it is of a batch that may be a tensor, a list or a dictionary, `model(batch)`. What other files pass cannot be
    moved from here, and `model(*parts)` has no place for it. Where the label of the batch is moved in another file, the
    rule about inputs left on the host moves its image there.
    """
    statement = ctx.index.statement_of(wrapper)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Name | ast.Attribute):
        return ""
    here = [call for call in wrappers.calls_of(wrapper) if any(isinstance(item, ast.Starred) for item in call.args)]
    calls = [(ctx.index, call) for call in here]
    calls += calls_elsewhere(ctx.index, lambda node: wrappers.gave(wrapper, node))
    calls += calls_of_kept(ctx.index, lambda node: wrappers.gave(wrapper, node))
    is_hidden = not calls and not wrappers.calls_of(wrapper) and _is_put_away(ctx.index, target)
    is_left = is_hidden and not moves_tensors(ctx.index, wrapper)
    is_left |= any(_leaves_whole_batch(ctx, wrapper, call) for call in wrappers.calls_of(wrapper))
    is_left |= any(moved_at_times(ctx, call) for call in wrappers.calls_of(wrapper))
    for file in dict.fromkeys(file for file, _ in calls):
        of_file = [call for other, call in calls if other is file]
        moved = {argument for argument, _ in inputs_left(file, of_file)}
        left = (call for call in of_file if _is_left(file, call))
        is_left |= any(not moved & {*call.args} for call in left)
    if not is_left:
        return ""
    fix.lower(Applicability.UNSAFE, "The model is made to move what it is called with, as the wrapper did.")
    return f"{fix.use('tpulint_runtime')}.move_inputs({ctx.text(target)})"


def _is_put_away(index: SemanticIndex, target: ast.expr) -> bool:
    """Whether a model goes into a list, ``nets.append((net, loader))``: who calls what is taken out does not show."""
    for load in index.names.loads_of(target) if isinstance(target, ast.Name) else ():
        holder = index.parent(load)
        holder = index.parent(holder) if isinstance(holder, ast.Tuple) else holder
        if isinstance(holder, ast.Call) and isinstance(holder.func, ast.Attribute) and holder.func.attr == "append":
            return True
    return False


def moves_tensors(index: SemanticIndex, wrapper: ast.Call) -> bool:
    """Whether a file moves anything but modules, as it does where it does not leave all to the wrapper."""
    inside = {wrapper, *index.tree.inside(wrapper)}
    return any(
        index.moves.to_device(call) is not None and call not in inside and index.kind(receiver) is not Kind.MODULE
        for call, receiver in index.method_calls("to", "cuda")
    )


def _is_left(file: SemanticIndex, call: ast.Call) -> bool:
    """Whether a model is called with tensors of the host, or parts of unknown side, and with none of the device.

    A model that was wrapped took every part of a batch for a tensor.
    """
    given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg is not None)]
    sides = set()
    for item in given:
        if isinstance(item, ast.Starred):
            is_moved = file.kinds.holds_device(item.value, 0) or any(map(_moves, file.kinds.contents.of(item.value)))
            sides |= set() if _is_passed_on(file, item) else {Side.DEVICE if is_moved else Side.HOST}
        elif (value := file.value(item)).kind is Kind.TENSOR:
            sides.add(value.side)
        elif value.kind is Kind.UNKNOWN and is_as_dealt(file, item):
            sides.add(Side.HOST)
    return sides == {Side.HOST}


def _is_passed_on(file: SemanticIndex, parts: ast.Starred) -> bool:
    """Whether a function passes on whatever it is called with: ``def forward(self, *args): self.module(*args)``."""
    function = file.function_of(parts)
    own = None if function is None else function.args.vararg
    return own is not None and isinstance(parts.value, ast.Name) and parts.value.id == own.arg


def _is_dict(ctx: FileContext, wrapper: ast.Call, call: ast.Call, batch: ast.Name) -> bool:
    """Whether a batch, or a part of one, is a dict.

    It is unpacked, or texts choose parts of it, where it is or in the forward pass that it is given to, or what deals
    it out makes one.
    """
    index = ctx.index
    if any(item.arg is None and item.value is batch for item in call.keywords):
        return True  # `model(**batch)`
    places: list[tuple[SemanticIndex, ast.AST, str]] = [
        (index, index.function_of(batch) or index.tree.module, batch.id),
        *((forward.file, forward.node, name) for forward, name in _taken(index, wrapper, call, batch)),
    ]
    return is_dict_dealt(index, batch) or any(
        isinstance(use.slice, ast.Constant) and isinstance(use.slice.value, str) and use.value.id == name
        for file, holder, name in places
        for use in file.tree.nodes_in(holder, ast.Subscript)
        if isinstance(use, ast.Subscript) and isinstance(use.value, ast.Name)
    )


def _taken(
    index: SemanticIndex, wrapper: ast.Call, call: ast.Call, given: ast.Name
) -> Iterable[tuple[Definition, str]]:
    """The forward passes of what is wrapped, with the parameter that takes an argument of a call."""
    for model in [*wrapper.args[:1], *(item.value for item in wrapper.keywords if item.arg == "module")]:
        owners = [Definition(index, owner) for owner in index.definitions.classes.made(model)]
        for forward in methods(tuple(owners) or index.imported.classes_of(model), "forward"):
            assert isinstance(forward.node, FUNCTIONS)
            yield from ((forward, name) for name, item in arguments_given(call, forward.node, True) if item is given)


def _move_part(ctx: FileContext, fix: FixBuilder, wrapper: ast.Call, call: ast.Call, part: ast.expr) -> None:
    """Move a part of a batch, or the tensors in it where it is a list or a dictionary, however deep they lie."""
    if isinstance(part, ast.Name) and is_nest_dealt(ctx.index, part):
        if ctx.portable:
            fix.give_up()
            return
        sends = f"{fix.use('torch_xla.core.xla_model', alias='xm', at=part)}.send_cpu_data_to_device"
        fix.replace(part, f"{sends}({ctx.text(part)}, {fix.device(part)})")
    elif isinstance(part, ast.Name) and _is_dict(ctx, wrapper, call, part):
        fix.replace(part, _moved_dict(ctx, fix, part))
    else:
        fix.append(part, f".to({fix.device(part)})")


def _moved_dict(ctx: FileContext, fix: FixBuilder, batch: ast.Name) -> str:
    """The batch with its tensors on the device; what else is in it stays."""
    torch = fix.use("torch", at=batch)
    chosen = f"value.to({fix.device(batch)}) if {torch}.is_tensor(value) else value"
    return f"{{key: {chosen} for key, value in {ctx.text(batch)}.items()}}"


def _tests_without(ctx: FileContext, wrapper: ast.Call) -> set[str]:
    """Conditions that do not hold where a wrapper is called, each as text: it stands behind ``else``."""
    found = set()
    child: ast.AST = wrapper
    for ancestor in ctx.index.tree.ancestors(wrapper):
        if isinstance(ancestor, ast.If) and child in ancestor.orelse:
            found.add(ctx.text(ancestor.test))
        child = ancestor
    return found


def _moved_if(ctx: FileContext, node: ast.expr) -> Iterable[ast.expr]:
    """Conditions under which a variable is moved, in branches that do nothing but move."""
    for binding in ctx.index.flow.bindings_of(node) if isinstance(node, ast.Name) else ():
        branch = ctx.index.parent(binding.statement)
        if isinstance(branch, ast.If) and not branch.orelse and all(map(_is_move, branch.body)):
            yield branch.test


def _is_move(statement: ast.stmt) -> bool:
    """``x = x.cuda(gpu)``"""
    return isinstance(statement, ast.Assign) and _moves(statement.value)


def _moves(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ("cuda", "to")


def _is_list(ctx: FileContext, node: ast.expr) -> bool:
    """Whether a part of a batch is a list: ``crops[0].size(0)`` counts the samples of the first view."""
    return isinstance(node, ast.Name) and any(
        isinstance(part := use.value, ast.Subscript)
        and isinstance(part.value, ast.Name)
        and part.value.id == node.id
        and isinstance(part.slice, ast.Constant)
        and ctx.index.tree.function_of(part) is ctx.index.tree.function_of(node)
        for name in ("size", "shape")
        for use in ctx.index.tree.attributes_called(name)
    )
