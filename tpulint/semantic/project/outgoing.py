"""Calls of functions in other files of the project: those of every turn, and those that hand things to loops."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence

from tpulint.model import WORDS_OF_LOOPS
from tpulint.semantic.cuda.started_programs import functions_started
from tpulint.semantic.devices.default_device import files_told
from tpulint.semantic.devices.device_settings import settings_used
from tpulint.semantic.functions.default_flags import literal
from tpulint.semantic.functions.methods_by_name import methods_like, pattern_given
from tpulint.semantic.functions.passed_arguments import arguments_given, values_given
from tpulint.semantic.functions.texts_given import texts_given
from tpulint.semantic.modules.wrapper_reads import files_unwrapped
from tpulint.semantic.project.chosen_classes import is_module
from tpulint.semantic.project.derived_results import derived_results
from tpulint.semantic.project.derived_steps import derived_steps
from tpulint.semantic.project.described_calls import (
    SAVES,
    classes_of,
    described_call,
    has_loops,
    is_quiet,
    tells_anything,
    trains_on_device,
)
from tpulint.semantic.project.given_values import gives_device, is_place_of_options
from tpulint.semantic.project.handed_objects import started_by
from tpulint.semantic.project.other_files import Definition, function_run, method, methods, returned, with_bases
from tpulint.semantic.project.outside import (
    NOW_AND_THEN,
    STEP,
    OutgoingCall,
    OutsideCall,
    qualified_in_file,
)
from tpulint.semantic.project.read_properties import properties_read
from tpulint.semantic.project.unfollowed import unfollowed_uses
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.values.value import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_MOST_CALLS = 400
"""Of a file, those to others or not: a bound on work for generated code."""
_ABOUT_DEVICES = ("device", "cuda", "xla", "super(")
"""Words of files that may ask about a device, or hand it on to a base class."""
_LOADS = ("torch.load(",)
"""What puts what it loads where it is told."""
_MOVING = (".cuda(", ".to(")
_TAKES_MODULES = ("train", "Train", ".cuda(", ".to(")
"""Words of files that may train or move what they are given."""


def outgoing_calls(index: SemanticIndex) -> tuple[OutgoingCall, ...]:
    """The calls, each once, in order of position."""
    calls = index.imported.calls
    if len(index.calls) > _MOST_CALLS:
        first = set(index.calls[:_MOST_CALLS])
        calls = [call for call in calls if call in first]
    found: dict[OutgoingCall, None] = {}
    for call in calls:
        turn = turn_of(index, call)
        if turn is None and not call.args and not call.keywords and not is_quiet(index, call):
            continue  # it tells nothing
        for definition in _run_by(index, call) if turn is not None else _handed_to(index, call):
            described = described_call(index, call, definition, turn or NOW_AND_THEN)
            # What tells nothing would have the file looked at again for nothing.
            if turn is not None or tells_anything(described.call):
                found[described] = None
        found.update(dict.fromkeys(_given_to_inherited(index, call)))
    for call, path, turn in index.loaders.sources.calls if index.imported.knows_others else ():
        described_sources = (_described_source(index, call, one, path, turn) for one in index.imported.all_called(call))
        found.update(dict.fromkeys(source for source in described_sources if source is not None))
    for owner, path, turn in index.loaders.sources.inherited if index.imported.knows_others else ():
        found.update(dict.fromkeys(_kept_by(index, owner, path, turn)))
    for file, name, path, turn in index.loaders.sources.variables if index.imported.knows_others else ():
        kept = OutsideCall(name, NOW_AND_THEN, False, False, (), os.path.basename(index.source.path))
        found[OutgoingCall(file.source.path, _feeding(kept, _part(path), turn))] = None
    if (index.imported.knows_others and "collate" in index.source.text) or any(call.collates for call in index.outside):
        found.update(dict.fromkeys((*_collating(index), *_called_collating(index))))
    found.update(dict.fromkeys(properties_read(index)))
    found.update(dict.fromkeys(derived_steps(index)))
    found.update(dict.fromkeys(derived_results(index)))
    found.update(dict.fromkeys(settings_used(index)))
    found.update(dict.fromkeys(unfollowed_uses(index)))
    found.update(dict.fromkeys(files_told(index)))
    found.update(dict.fromkeys(files_unwrapped(index)))
    found.update(dict.fromkeys(functions_started(index)))
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


def _given_to_inherited(index: SemanticIndex, call: ast.Call) -> Iterator[OutgoingCall]:
    """Objects that the constructor of a base class is given, told to the file of the derived class that has none.

    ``OwnTrainer(Net(), loader)``, whose methods run the ``self.model`` that ``Trainer.__init__`` of another file keeps.
    """
    for made in index.imported.all_called(call) if call.args or call.keywords else ():
        start = function_run(made)
        if start is None or start.file is made.file or made.file is index or not isinstance(made.node, ast.ClassDef):
            continue
        classes = described_call(index, call, start, NOW_AND_THEN).call.classes
        if classes:
            caller = os.path.basename(index.source.path)
            told = OutsideCall(started_by(made.node), NOW_AND_THEN, False, False, (), caller, classes=classes)
            yield OutgoingCall(made.file.source.path, told)


def _described_source(
    index: SemanticIndex, call: ast.Call, source: Definition, path: tuple[str, ...], turn: str
) -> OutgoingCall | None:
    """A function of another file that gives what a loop runs over, or a class whose objects keep it."""
    if isinstance(source.node, ast.Module):
        return None
    caller = os.path.basename(index.source.path)
    if isinstance(source.node, ast.ClassDef):
        going = None if path else method(source, "__iter__")
        if going is None or not isinstance(going.node, FUNCTIONS):
            return next(_kept_by(index, source, path, turn), None)
        fed = OutsideCall(qualified_in_file(going.file.tree, going.node), NOW_AND_THEN, False, False, (), caller)
        return OutgoingCall(going.file.source.path, _feeding(fed, (), turn))
    part = _part(path)
    name = qualified_in_file(source.file.tree, source.node)
    named = index.call_arguments.names(call)
    # A generator goes on as the loop does: it matters where what it cuts lives.
    is_drawn = source.file.kinds.functions.yields(source.node)
    given = described_call(index, call, source, NOW_AND_THEN).call.arguments if is_drawn else ()
    ones = tuple(
        parameter
        for parameter, item in arguments_given(call, source.node, source.file.tree.takes_object(source.node))
        if literal(item) == (1,)
    )
    fed = OutsideCall(name, NOW_AND_THEN, False, False, given, caller, keywords=named, ones=ones)
    return OutgoingCall(source.file.source.path, _feeding(fed, part, turn))


def _kept_by(index: SemanticIndex, owner: Definition, path: tuple[str, ...], turn: str) -> Iterator[OutgoingCall]:
    """What objects of a class of another file keep in an attribute, which loops run over."""
    if isinstance(owner.node, ast.ClassDef) and path and path[0].isidentifier():
        caller = os.path.basename(index.source.path)
        kept = OutsideCall(f"{owner.node.name}.{path[0]}", NOW_AND_THEN, False, False, (), caller)
        yield OutgoingCall(owner.file.source.path, _feeding(kept, _part(path[1:]), turn))


def _part(path: tuple[str, ...]) -> tuple[int | str, ...]:
    """The places, keys and attributes of a path, as other files are told them."""
    return tuple(int(at) if at.isdecimal() else at for at in path)


def _collating(index: SemanticIndex) -> Iterator[OutgoingCall]:
    """Functions of other files with which data loaders of this file make the batches of loops."""
    from tpulint.semantic.batches.collating import collating_elsewhere

    caller = os.path.basename(index.source.path)
    for run, turn in collating_elsewhere(index):
        if isinstance(run.node, FUNCTIONS):
            name = qualified_in_file(run.file.tree, run.node)
            told = OutsideCall(name, NOW_AND_THEN, False, False, (), caller, collates=turn)
            yield OutgoingCall(run.file.source.path, told)


def _called_collating(index: SemanticIndex) -> Iterator[OutgoingCall]:
    """Functions of other files that those call which make batches: ``pad_list(samples, 0)``."""
    from tpulint.semantic.batches.collating import handed_on

    caller = os.path.basename(index.source.path)
    for call, turn in handed_on(index):
        run = index.imported.called(call)
        if run is not None and isinstance(run.node, FUNCTIONS):
            name = qualified_in_file(run.file.tree, run.node)
            told = OutsideCall(name, NOW_AND_THEN, False, False, (), caller, collates=turn, is_part=True)
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
        found = (*methods(owners, "forward"), *(one for owner in owners for one in _chosen_by_forward(owner, call)))
    runs = [run for run in map(function_run, found) if run is not None and isinstance(run.node, FUNCTIONS)]
    gradients = [(one.file, one.file.definitions.gradient_of(one.node)) for one in runs]  # type: ignore[arg-type]
    return [*runs, *(Definition(file, gradient) for file, gradient in gradients if gradient is not None)]


def _chosen_by_forward(owner: Definition, run: ast.Call) -> Iterator[Definition]:
    """Methods of a class that ``forward`` of a base class in another file runs: ``getattr(self, "_" + mode)(x)``.

    Of those only the ones that the call of the module may choose.
    """
    forward = method(owner, "forward")
    if forward is None or forward.file is owner.file or "getattr(" not in forward.file.source.text:
        return
    assert isinstance(owner.node, ast.ClassDef)
    assert isinstance(forward.node, FUNCTIONS)
    for call in forward.file.tree.nodes_in(forward.node, ast.Call):
        texts = texts_given(forward.file.names, call, forward.node, run)
        pattern = pattern_given(forward.file.tree, forward.file.names, call, texts)
        for one in with_bases(owner) if pattern is not None else ():
            assert isinstance(one.node, ast.ClassDef)
            if one.file is not forward.file:
                yield from (Definition(one.file, run) for run in methods_like(one.file.tree, one.node, pattern or ""))


def _gives_what_is_saved(index: SemanticIndex, call: ast.Call, given: Sequence[ast.expr]) -> bool:
    """Whether a call gives states, or modules whose states may be saved: ``model.save(path)`` gives the model."""
    called = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    states = index.saved_states
    return any(map(states.holds, given)) or any(map(states.are_given_by, (*given, *called)))


def _moves_for_others(item: Definition) -> bool:
    """Whether a function may move what it is given in a file that does not import torch: ``return x.to(device)``."""
    return not item.file.imports_torch and item.file.source.has_any(_MOVING)


def _uses_modules(item: Definition) -> bool:
    """Whether a module that is given may be moved, or kept beside tensors: ``Loss(layer)``."""
    return is_module(item) or _moves_for_others(item) or (item.is_class and item.file.imports_torch)


def _makes_module(function: Definition) -> bool:
    """Whether a function returns a module of a class, which may keep what it is given: ``build(criterion)``."""
    values = (
        part for value in returned(function) for part in (value.elts if isinstance(value, ast.Tuple) else [value])
    )
    made = (one for value in values for one in function.file.imported.classes_here(value, function.file))
    return any(map(is_module, made))


def _handed_to(index: SemanticIndex, call: ast.Call) -> list[Definition]:
    """The functions that a call now and then runs, in files with loops that may use what they are given."""
    from tpulint.semantic.project.parsed_options import file_of_options

    found = index.imported.all_called(call)
    given = values_given(call) if found else []
    hidden = [keyword.value for keyword in call.keywords if keyword.arg is None] if found else []
    given += [value for item in hidden for _, value in index.call_arguments.entries(item) or ()]
    runs = (
        function_run(item)
        for item in found
        if item.file.source.has_any(WORDS_OF_LOOPS)
        or any(index.kind(value) is Kind.LOADER for value in given)
        or (
            item.file.source.has_any(_ABOUT_DEVICES)
            and any(gives_device(index, value) or file_of_options(index, value) is not None for value in given)
        )
        or (item.file.source.has_any(_LOADS) and any(is_place_of_options(index, value) for value in given))
        or (is_quiet(index, call) and has_loops(item))
        or (item.file.source.has_any(SAVES) and _gives_what_is_saved(index, call, given))
        or (
            (item.file.source.has_any(_TAKES_MODULES) or is_module(item) or _makes_module(item))
            and any(True for value in given for _ in classes_of(index, value))
        )
        or (_uses_modules(item) and any(index.kind(one) is Kind.MODULE for one in given))
        or any(index.kinds.distribution_classes.named(value) for value in given)
        or (bool(given) and trains_on_device(index, function_run(item)))
    )
    return [run for run in runs if run is not None]
