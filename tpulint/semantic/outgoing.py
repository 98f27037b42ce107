"""Calls of functions in other files of the project: those of every turn, and those that hand things to loops."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence

from tpulint.model import WORDS_OF_LOOPS
from tpulint.semantic.chosen_classes import is_module
from tpulint.semantic.default_device import files_told
from tpulint.semantic.default_flags import flags_left
from tpulint.semantic.derived_steps import derived_steps
from tpulint.semantic.device_settings import device_options, settings_used
from tpulint.semantic.other_files import Definition, function_run, methods
from tpulint.semantic.outside import (
    ELEMENT_AT,
    ELEMENT_OF,
    NOW_AND_THEN,
    STEP,
    OutgoingCall,
    OutsideCall,
    qualified_in_file,
)
from tpulint.semantic.passed_arguments import arguments_given, named_beside
from tpulint.semantic.tree import FUNCTIONS
from tpulint.semantic.unfollowed import unfollowed_uses
from tpulint.semantic.values import HOST_DEVICE, UNKNOWN, Kind, Side, Value, is_cpu
from tpulint.semantic.variables import is_configuration, last_name, says_device
from tpulint.semantic.wrapper_reads import files_unwrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_MOST_CALLS = 400
"""Of a file, those to others or not: a bound on work for generated code."""
_MOST_CLASSES = 48
"""Of one object; where there are more, nothing is told of them."""
_ABOUT_DEVICES = ("device", "super(")
"""Words of files that may ask about a device, or hand it on to a base class."""
_QUIET = ("no_grad", "inference_mode")
"""Words of files that call anything where no gradient is recorded."""
_SAVES = ("torch.save(", "torch as ", "import save")
"""Words of files that may call `torch.save`."""
_STEPS = ("zero_grad(",)
"""A word of every file that steps an optimizer in a loop."""
_MAY_GIVE = (ast.Name, ast.Attribute, ast.Call, ast.IfExp)
"""Expressions that may give an object of a class of the project."""
_MAY_HOLD = (ast.Name, ast.Attribute, ast.Dict, ast.List, ast.Tuple)
"""Expressions that may give a list or a dictionary of tensors."""
_MAY_NAME = (ast.Name, ast.Attribute, ast.Call)
"""Expressions that may give a function of the project."""


def outgoing_calls(index: SemanticIndex) -> tuple[OutgoingCall, ...]:
    """The calls, each once, in order of position."""
    calls = index.imported.calls
    if len(index.calls) > _MOST_CALLS:
        first = set(index.calls[:_MOST_CALLS])
        calls = [call for call in calls if call in first]
    found: dict[OutgoingCall, None] = {}
    for call in calls:
        turn = turn_of(index, call)
        if turn is None and not call.args and not call.keywords and not _is_quiet(index, call):
            continue  # it tells nothing
        for definition in _run_by(index, call) if turn is not None else _handed_to(index, call):
            described = described_call(index, call, definition, turn or NOW_AND_THEN)
            # What tells nothing would have the file looked at again for nothing.
            if turn is not None or _tells(described.call):
                found[described] = None
    for call, path, turn in index.loaders.sources_elsewhere if index.imported.knows_others else ():
        described_sources = (_described_source(index, call, one, path, turn) for one in index.imported.all_called(call))
        found.update(dict.fromkeys(source for source in described_sources if source is not None))
    for file, name, turn in index.loaders.variables_elsewhere if index.imported.knows_others else ():
        kept = OutsideCall(name, NOW_AND_THEN, False, False, (), os.path.basename(index.source.path))
        found[OutgoingCall(file.source.path, _feeding(kept, (), turn))] = None
    if (index.imported.knows_others and "collate" in index.source.text) or any(call.collates for call in index.outside):
        found.update(dict.fromkeys((*_collating(index), *_called_collating(index))))
    found.update(dict.fromkeys(derived_steps(index)))
    found.update(dict.fromkeys(settings_used(index)))
    found.update(dict.fromkeys(unfollowed_uses(index)))
    found.update(dict.fromkeys(files_told(index)))
    found.update(dict.fromkeys(files_unwrapped(index)))
    return tuple(found)


def with_gpus_of(before: Sequence[OutgoingCall], calls: Sequence[OutgoingCall]) -> tuple[OutgoingCall, ...]:
    """The calls of a fixed text, and what the text before gave by CUDA's name: others compare it with that name."""
    gpus: dict[tuple[str, str], set[str]] = {}
    for path, call in before:
        gpus.setdefault((path, call.function), set()).update(call.gpus)
    named = ((path, call, sorted(gpus.get((path, call.function), ()))) for path, call in calls)
    found = [OutgoingCall(path, call._replace(gpus=tuple(given))) for path, call, given in named]
    left = {(path, call.function) for path, call in calls}
    found += [one for one in before if one.call.gpus and (one.path, one.call.function) not in left]
    return tuple(found)


def _described_source(
    index: SemanticIndex, call: ast.Call, source: Definition, path: tuple[str, ...], turn: str
) -> OutgoingCall | None:
    """A function of another file that gives what a loop runs over, or a class whose objects keep it."""
    if isinstance(source.node, ast.Module):
        return None
    caller = os.path.basename(index.source.path)
    if isinstance(source.node, ast.ClassDef):
        if len(path) != 1 or not path[0].isidentifier():
            return None
        kept = OutsideCall(f"{source.node.name}.{path[0]}", NOW_AND_THEN, False, False, (), caller)
        return OutgoingCall(source.file.source.path, _feeding(kept, (), turn))
    part = tuple(int(at) if at.isdecimal() else at for at in path if at.isdecimal() or at.startswith("["))
    name = qualified_in_file(source.file.tree, source.node)
    named = index.call_arguments.names(call)
    # A generator goes on as the loop does: it matters where what it cuts lives.
    is_drawn = source.file.kinds.functions.yields(source.node)
    given = described_call(index, call, source, NOW_AND_THEN).call.arguments if is_drawn else ()
    fed = OutsideCall(name, NOW_AND_THEN, False, False, given, caller, keywords=named)
    return OutgoingCall(source.file.source.path, _feeding(fed, part, turn))


def _collating(index: SemanticIndex) -> Iterator[OutgoingCall]:
    """Functions of other files with which data loaders of this file make the batches of loops."""
    from tpulint.semantic.collating import collating_elsewhere, collating_loaders

    caller = os.path.basename(index.source.path)
    for loader, turn in collating_loaders(index):
        for run in collating_elsewhere(index, loader):
            if isinstance(run.node, FUNCTIONS):
                name = qualified_in_file(run.file.tree, run.node)
                told = OutsideCall(name, NOW_AND_THEN, False, False, (), caller, collates=turn)
                yield OutgoingCall(run.file.source.path, told)


def _called_collating(index: SemanticIndex) -> Iterator[OutgoingCall]:
    """Functions of other files that those call which make batches: ``pad_list(samples, 0)``."""
    from tpulint.semantic.collating import handed_on

    caller = os.path.basename(index.source.path)
    for call, turn in handed_on(index):
        run = index.imported.called(call)
        if run is not None and isinstance(run.node, FUNCTIONS):
            name = qualified_in_file(run.file.tree, run.node)
            told = OutsideCall(name, NOW_AND_THEN, False, False, (), caller, collates=turn)
            yield OutgoingCall(run.file.source.path, told)


def _feeding(call: OutsideCall, part: tuple[int | str, ...], turn: str) -> OutsideCall:
    """The call with a part of what it gives as the source of a loop's batches."""
    return call._replace(fed=(part,)) if turn == STEP else call._replace(fed_evaluation=(part,))


def turn_of(index: SemanticIndex, call: ast.Call) -> str | None:
    """What the turn is called in which a call is made every time, be it a turn by what else is called in it."""
    turn = index.turn_code.turn_of(call)
    if turn is None and index.regions.gate_of(call) is None:
        step = index.regions.called_step_of(call)
        turn = None if step is None else step.call.turn
    return turn


def _run_by(index: SemanticIndex, call: ast.Call) -> list[Definition]:
    """The functions of other files that a call may run: of an instance of a module class, the forward pass."""
    found = index.imported.all_called(call)
    if not found:
        owners = index.imported.classes_of(call.func)
        found = methods(owners, "forward") or methods(owners, "__call__")
    runs = [run for run in map(function_run, found) if run is not None and isinstance(run.node, FUNCTIONS)]
    gradients = [(one.file, one.file.definitions.gradient_of(one.node)) for one in runs]  # type: ignore[arg-type]
    return [*runs, *(Definition(file, gradient) for file, gradient in gradients if gradient is not None)]


def _handed_to(index: SemanticIndex, call: ast.Call) -> list[Definition]:
    """The functions that a call now and then runs, in files with loops that may use what they are given."""
    from tpulint.semantic.parsed_options import file_of_options

    found = index.imported.all_called(call)
    given = [*call.args, *(item.value for item in call.keywords)] if found else []
    runs = (
        function_run(item)
        for item in found
        if item.file.source.has_any(WORDS_OF_LOOPS)
        or any(index.kind(value) is Kind.LOADER for value in given)
        or (
            item.file.source.has_any(_ABOUT_DEVICES)
            and any(_says_device(index, value) or file_of_options(index, value) is not None for value in given)
        )
        or (_is_quiet(index, call) and _has_loops(item))
        or (item.file.source.has_any(_SAVES) and any(map(index.saved_states.holds, given)))
        or (
            ("train" in item.file.source.text or is_module(item))
            and any(True for value in given for _ in _classes_of(index, value))
        )
        or (is_module(item) and any(index.kind(value) is Kind.MODULE for value in given))
        or (bool(given) and _trains_on_device(index, function_run(item)))
    )
    return [run for run in runs if run is not None]


def _trains_on_device(index: SemanticIndex, run: Definition | None) -> bool:
    """Whether a file that has to do with a device calls a function with a loop that steps an optimizer."""
    if run is None or not index.kinds.mentions_device or not run.file.source.has_any(_STEPS):
        return False
    loops = [loop for loop in run.file.tree.loops if run.file.tree.encloses(run.node, loop)]
    called = (run.file.tree.attributes_called(name) for name in ("zero_grad", "step"))
    return all(any(run.file.tree.encloses(loop, node) for loop in loops for node in nodes) for nodes in called)


def _says_device(index: SemanticIndex, given: ast.expr) -> bool:
    """Whether what a call gives is a device, that of the host or one which the file calls by CUDA's name."""
    return index.kinds.sides.is_host(given, surely=True) or any(True for _ in _gpus_in(index, given))


def _is_quiet(index: SemanticIndex, call: ast.Call) -> bool:
    """Whether a call is made under ``torch.no_grad()`` or the like, once or in every epoch.

    A loop within the turn of another may be a short one: of scales, or of flips.
    """
    if not index.source.has_any(_QUIET) or not index.regions.evaluation.switches.is_under_no_grad(call):
        return False
    loop = index.tree.loop_of(call)
    return loop is None or index.paces.is_epoch_loop(loop)


def _has_loops(item: Definition) -> bool:
    return isinstance(item.node, FUNCTIONS) and any(
        item.file.tree.encloses(item.node, loop) for loop in item.file.tree.loops
    )


def described_call(index: SemanticIndex, call: ast.Call, definition: Definition, turn: str) -> OutgoingCall:
    """A call in a file as the file of the function is told of it, which it runs in every turn, or now and then."""
    from tpulint.semantic.parsed_options import file_of_options

    assert isinstance(definition.node, FUNCTIONS)
    step = index.step_loop_of(call) if turn == STEP else None
    definitions, owner = definition.file.definitions, definition.file.tree.class_of(definition.node)
    is_method = owner is not None
    is_led = definitions.takes_context(definition.node) if owner and definitions.has_own_gradient(owner) else is_method
    given = arguments_given(call, definition.node, is_led)
    values = [(name, _value_given(index, item)) for name, item in given]
    values += [(ELEMENT_OF.format(name), _element_given(index, item)) for name, item in given]
    kwargs = definition.node.args.kwarg
    for item, named in named_beside(call, definition.node) if kwargs is not None else ():
        held = index.kinds.content(item, None, 0) if named is None else index.value(item)
        values.append((ELEMENT_OF.format(kwargs.arg), held))  # type: ignore[union-attr]
    first = [*definition.node.args.posonlyargs, *definition.node.args.args][:1]
    run = index.value(call.func)
    if is_method and first and run.kind is Kind.MODULE:  # a module that is called is where its tensors are
        values.append((first[0].arg, run))
    elif is_method and first and isinstance(call.func, ast.Attribute) and index.kind(call.func.value) is Kind.MODULE:
        values.append((first[0].arg, index.value(call.func.value)))
    changing = (
        name
        for name, item in given
        if turn and (index.changing_numbers.cause(item) is not None or index.batch_measures.are_lengths(item))
    )
    known = [(name, value) for name, value in values if value.kind is not Kind.UNKNOWN]
    known += [one for name, item in given for one in _by_key(index, name, item)]
    outside = OutsideCall(
        qualified_in_file(definition.file.tree, definition.node),
        turn,
        step is not None and index.deferrals.is_behind_boundary(call, step),
        step is not None and bool(step.boundaries),
        tuple((name, *_described_value(index, value)) for name, value in known),
        os.path.basename(index.source.path),
        changing=tuple(changing),
        masks=tuple(name for name, item in given if turn and index.masks.is_mask(item)),
        classes=tuple(
            (name, *made)
            for name, item in given
            for made in (*_classes_of(index, item), *(_own_functions(index, item) if _has_loops(definition) else ()))
        ),
        is_repeated=index.tree.loop_of(call) is not None,
        gpus=tuple(f"{name}{part}" for name, item in given for part in _gpus_in(index, item)),
        options=tuple(
            (name, path, device_options(index, path))
            for name, item in given
            if (path := file_of_options(index, item)) is not None
        ),
        states=tuple(
            name for name, item in given if definition.file.source.has_any(_SAVES) and index.saved_states.holds(item)
        ),
        is_quiet=turn == NOW_AND_THEN and _is_quiet(index, call) and _has_loops(definition),
        left=flags_left(call, definition.node, [name for name, _ in given]),
        trains_on_device=turn == NOW_AND_THEN and _trains_on_device(index, definition),
    )
    return OutgoingCall(definition.file.source.path, outside)


def _value_given(index: SemanticIndex, item: ast.expr) -> Value:
    """What a call gives; a list of tensors, ``[part.to(device) for part in batch]``, as the batch that it is."""
    value = HOST_DEVICE if is_cpu(item) else index.value(item)
    bindings = index.flow.made(item) if isinstance(item, ast.Name) and value.kind is Kind.HOST else ()
    parts = [index.value(one.value.elt) for one in bindings if isinstance(one.value, ast.ListComp)]
    is_batch = bool(parts) and len(parts) == len(bindings) and all(part.kind is Kind.TENSOR for part in parts)
    return parts[0]._replace(certain=False) if is_batch else value


def _element_given(index: SemanticIndex, item: ast.expr) -> Value:
    """What is in a list or a dictionary that a call gives."""
    is_known = index.kind(item) not in (Kind.HOST, Kind.UNKNOWN)
    return UNKNOWN if is_known or not isinstance(item, _MAY_HOLD) else index.kinds.content(item, None, 0)


def _by_key(index: SemanticIndex, name: str, item: ast.expr) -> Iterator[tuple[str, Value]]:
    """What is in a dictionary that a call writes out, where a tensor stands beside what is none."""
    keys = [key.value for key in item.keys if isinstance(key, ast.Constant)] if isinstance(item, ast.Dict) else []
    values = [index.value(value) for value in item.values] if isinstance(item, ast.Dict) and keys else []
    if len(keys) == len(values) and len({value.kind for value in values}) > 1:
        for key, value in zip(keys, values, strict=True):
            yield ELEMENT_AT.format(name, key), value


def _tells(call: OutsideCall) -> bool:
    """Whether a call that no loop makes in its turns says what its function is given."""
    told = (call.arguments, call.classes, call.gpus, call.options, call.is_quiet, call.states, call.trains_on_device)
    return any(told)


def _gpus_in(index: SemanticIndex, item: ast.expr) -> Iterator[str]:
    """Where in what a call gives there is a device that its file calls by CUDA's name: ``.device`` of ``args``."""
    if _is_gpu(index, item):
        yield ""
    if not isinstance(item, ast.Name) or not is_configuration(item.id):
        return
    for node in index.tree.attributes:
        if not says_device(node.attr) or not isinstance(node.value, ast.Name) or node.value.id != item.id:
            continue
        given = index.parent(node) if isinstance(node.ctx, ast.Store) else None
        if isinstance(given, ast.Assign) and index.devices.flow.derives(given.value):
            yield f".{node.attr}"


def _is_gpu(index: SemanticIndex, item: ast.expr) -> bool:
    """Whether a call gives a device that its file calls by CUDA's name."""
    is_text = isinstance(item, ast.Constant) and isinstance(item.value, str)
    if not is_text and not (isinstance(item, ast.Name | ast.Attribute) and says_device(last_name(item))):
        return False
    return index.devices.flow.derives(item)


def _classes_of(index: SemanticIndex, item: ast.expr) -> Iterator[tuple[str, str]]:
    """The classes that an object may be of that a call gives, those that have to do with tensors, with their files.

    Functions that it gives count as well; of a list that is written out, what is in it.
    """
    if isinstance(item, _MAY_NAME):
        for function in index.imported.functions.of(item) if index.imported.knows_others else ():
            assert isinstance(function.node, FUNCTIONS)
            yield os.path.abspath(function.file.source.path), qualified_in_file(function.file.tree, function.node)
    if isinstance(item, ast.List | ast.Tuple | ast.ListComp):
        for part in [item.elt] if isinstance(item, ast.ListComp) else item.elts:
            yield from _classes_of(index, part)
        return
    made = index.imported.classes_here(item, index) if isinstance(item, _MAY_GIVE) else ()
    itself = _class_of_self(index, item)  # `Trainer(self, args)`
    if not made and itself is not None:
        made = (Definition(index, itself),)
    for owner in made if len(made) <= _MOST_CLASSES else ():
        if isinstance(owner.node, ast.ClassDef) and "torch" in owner.file.source.text:
            yield os.path.abspath(owner.file.source.path), owner.node.name


def _own_functions(index: SemanticIndex, item: ast.expr) -> Iterator[tuple[str, str]]:
    """The functions of the file itself that an expression may be: ``closure`` of ``optimize(closure, count)``."""
    for own in index.definitions.functions_meant(item) if isinstance(item, ast.Name | ast.Attribute) else ():
        yield os.path.abspath(index.source.path), qualified_in_file(index.tree, own)


def _class_of_self(index: SemanticIndex, item: ast.expr) -> ast.ClassDef | None:
    """The class of which a method hands its object to a call."""
    function = index.function_of(item) if isinstance(item, ast.Name) else None
    first = function.args.args[:1] if function is not None else []
    is_self = isinstance(item, ast.Name) and [argument.arg for argument in first] == [item.id]
    return index.tree.class_of(function) if function is not None and is_self else None


def _described_value(index: SemanticIndex, value: Value) -> tuple[str, str]:
    """Kind and side of a value; a module of a file that has to do with a device is taken to be there."""
    on_device = value.kind is Kind.MODULE and index.kinds.mentions_device
    return value.kind.name, Side.DEVICE.name if on_device else value.side.name
