"""What the file of a function is told of a call in another file."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from tpulint.model import WORDS_OF_READS
from tpulint.semantic.devices.device_settings import device_options
from tpulint.semantic.functions.default_flags import flags_left
from tpulint.semantic.functions.passed_arguments import arguments_given, named_beside, parameters_of
from tpulint.semantic.graphs.lasting_tensors import are_on_device, values_kept
from tpulint.semantic.modules.module_callers import is_run_by_module
from tpulint.semantic.project.given_values import (
    described_value,
    element_given,
    gpus_in,
    value_given,
    values_by_key,
)
from tpulint.semantic.project.other_files import Definition
from tpulint.semantic.project.outside import (
    ELEMENT_OF,
    NOW_AND_THEN,
    STEP,
    OutgoingCall,
    OutsideCall,
    qualified_in_file,
)
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode, is_of_self
from tpulint.semantic.values.value import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 3
"""Variables that a loss is followed through."""
_MOST_CLASSES = 48
"""Of one object; where there are more, nothing is told of them."""
_QUIET = ("no_grad", "inference_mode")
"""Words of files that call anything where no gradient is recorded."""
SAVES = ("torch.save(", "torch as ", "import save")
"""Words of files that may call `torch.save`."""
_STEPS = ("zero_grad(",)
"""A word of every file that steps an optimizer in a loop."""
_RESIZES = ("resize_(",)
"""A word of files that resize tensors in place."""
_ABOUT_TENSORS = ("torch", *WORDS_OF_READS)
"""Words of files whose classes have to do with tensors, be it that they only read what they are given."""
_MAY_GIVE = (ast.Name, ast.Attribute, ast.Call, ast.IfExp)
"""Expressions that may give an object of a class of the project."""
_MAY_NAME = (ast.Name, ast.Attribute, ast.Call)
"""Expressions that may give a function of the project."""


def described_call(index: SemanticIndex, call: ast.Call, definition: Definition, turn: str) -> OutgoingCall:
    """A call in a file as the file of the function is told of it, which it runs in every turn, or now and then."""
    from tpulint.semantic.project.parsed_options import file_of_options

    assert isinstance(definition.node, FUNCTIONS)
    step = index.step_loop_of(call) if turn == STEP else None
    definitions, owner = definition.file.definitions, definition.file.tree.class_of(definition.node)
    is_method = owner is not None
    is_led = definitions.takes_context(definition.node) if owner and definitions.has_own_gradient(owner) else is_method
    given = arguments_given(call, definition.node, is_led)
    given += index.call_arguments.unpacked(call, parameters_of(definition.node))
    values = [(name, value_given(index, item)) for name, item in given]
    values += [(ELEMENT_OF.format(name), element_given(index, item)) for name, item in given]
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
    known += [one for name, item in given for one in values_by_key(index, name, item)]
    outside = OutsideCall(
        qualified_in_file(definition.file.tree, definition.node),
        turn,
        step is not None and index.boundaries.is_behind(call, step),
        step is not None and bool(step.boundaries),
        tuple((name, *described_value(index, value)) for name, value in known),
        _caller(index, turn),
        changing=tuple(changing),
        lengths=tuple(name for name, item in given if turn and index.changing_lengths.of_list(item) is not None),
        masks=tuple(name for name, item in given if turn and index.masks.is_mask(item)),
        classes=tuple(
            (name, *made)
            for name, item in given
            for made in (*classes_of(index, item), *(_own_functions(index, item) if has_loops(definition) else ()))
        ),
        in_module=turn != NOW_AND_THEN and is_run_by_module(index, call),
        is_repeated=index.tree.loop_of(call) is not None,
        gpus=tuple(f"{name}{part}" for name, item in given for part in gpus_in(index, item)),
        options=tuple(
            (name, path, device_options(index, path))
            for name, item in given
            if (path := file_of_options(index, item)) is not None
        ),
        states=tuple(
            name
            for name, item in (*given, *_starred_first(call, definition.node))
            if definition.file.source.has_any(SAVES) and index.saved_states.holds(item)
        ),
        states_by_key=tuple(
            (name, key)
            for name, item in given
            if definition.file.source.has_any(SAVES)
            for key in sorted(key for key in index.saved_states.keys_of(item) if isinstance(key, str))
        ),
        modules=tuple(
            name
            for name, item in (*given, *_object_called(call, first if is_method else []))
            if definition.file.source.has_any(SAVES) and index.saved_states.are_given_by(item)
        ),
        is_quiet=turn == NOW_AND_THEN and is_quiet(index, call) and has_loops(definition),
        left=flags_left(call, definition.node, given),
        at_intervals=tuple(name for name, item in given if turn and index.regions.intervals.hold(item)),
        trains_on_device=trains_on_device(index, definition)
        if turn == NOW_AND_THEN
        else _steps(index, call, definition),
        gives_loss=step is not None and any(_is_made_by(index, backward, call, 0) for backward in step.backwards),
        results=tuple(name for name, item in given if turn and _is_unseen_result(index, item)),
        ends_step=turn == STEP and _ends_step(index, call),
        lasting=tuple(
            name
            for name, item in given
            if turn and definition.file.source.has_any(_RESIZES) and are_on_device(values_kept(index, item))
        ),
        distributions=tuple(
            (name, kept) for name, item in given for kept in index.kinds.distribution_classes.named(item)
        ),
    )
    return OutgoingCall(definition.file.source.path, outside)


def _caller(index: SemanticIndex, turn: str) -> str:
    """The name of this file, unless the turns are those of a step that it has not: of a module, by which others run."""
    has_steps = turn != STEP or bool(index.steps) or bool(index.regions.drivers.loops)
    return os.path.basename(index.source.path) if has_steps else ""


def _ends_step(index: SemanticIndex, call: ast.Call) -> bool:
    """Whether the turns that make a call come to a boundary in this file, or are told that they need one."""
    step = index.step_loop_of(call)
    if step is not None and index.kinds.mentions_device:
        return True
    step = step or index.regions.called_step_of(call)
    return step is not None and bool(index.regions.boundaries_in(step.node))


def _is_unseen_result(index: SemanticIndex, item: ast.expr) -> bool:
    """Whether all that is known of a value, or of what a dict holds, is that it was made of the device's tensors."""
    is_known = index.kind(item) is not (Kind.HOST if isinstance(item, ast.DictComp) else Kind.UNKNOWN)
    if is_known or element_given(index, item).kind is not Kind.UNKNOWN:
        return False
    return index.kinds.unseen.is_made_of_device(item)


def _starred_first(call: ast.Call, function: FunctionNode) -> list[tuple[str, ast.expr]]:
    """What a call that names nothing gives first to a function which takes whatever it is given: ``def save(*args)``"""
    beside, others = function.args.vararg, [*function.args.posonlyargs, *function.args.args]
    return [] if beside is None or others or call.keywords else [(beside.arg, item) for item in call.args[:1]]


def _object_called(call: ast.Call, first: list[ast.arg]) -> Iterator[tuple[str, ast.expr]]:
    """``self`` of a method, and ``model`` of ``model.save(path)``, which it is given."""
    if first and isinstance(call.func, ast.Attribute):
        yield first[0].arg, call.func.value


def tells_anything(call: OutsideCall) -> bool:
    """Whether a call that no loop makes in its turns says what its function is given."""
    given = (call.arguments, call.classes, call.gpus, call.options, call.states, call.modules, call.distributions)
    return any(given) or call.is_quiet or call.trains_on_device


def _is_made_by(index: SemanticIndex, backward: ast.expr, call: ast.Call, depth: int) -> bool:
    """Whether a backward pass is run of what a call gives, as it is or in a sum: ``loss, other = elbo(x)``."""
    for node in index.tree.inside(backward):
        for binding in index.flow.reaching(node) if isinstance(node, ast.Name) else ():
            value = binding.value if binding.kind in ("assign", "augment") else None
            if value is call or (value is not None and depth < _DEPTH and _is_made_by(index, value, call, depth + 1)):
                return True
    return False


def _steps(index: SemanticIndex, call: ast.Call, run: Definition) -> bool:
    """Whether a file that has to do with a device steps an optimizer that is a class of another file.

    Or a class of it runs a step of a base class, whose objects it has: ``class Trainer(Iterations, Models)``, and
    ``self.iterate()``.
    """
    if not index.kinds.mentions_device:
        return False
    return is_of_self(call.func) or run.file.kinds.own_optimizers.is_step(run.node)


def trains_on_device(index: SemanticIndex, run: Definition | None) -> bool:
    """Whether a file that has to do with a device calls a function with a loop that steps an optimizer."""
    if run is None or not index.kinds.mentions_device or not run.file.source.has_any(_STEPS):
        return False
    loops = [loop for loop in run.file.tree.loops if run.file.tree.encloses(run.node, loop)]
    called = (run.file.tree.attributes_called(name) for name in ("zero_grad", "step"))
    return all(any(run.file.tree.encloses(loop, node) for loop in loops for node in nodes) for nodes in called)


def is_quiet(index: SemanticIndex, call: ast.Call) -> bool:
    """Whether a call is made under ``torch.no_grad()`` or the like, once or in every epoch.

    A loop within the turn of another may be a short one: of scales, or of flips.
    """
    if not index.source.has_any(_QUIET) or not index.regions.evaluation.switches.is_under_no_grad(call):
        return False
    loop = index.tree.loop_of(call)
    return loop is None or index.paces.is_epoch_loop(loop)


def has_loops(item: Definition) -> bool:
    return isinstance(item.node, FUNCTIONS) and any(
        item.file.tree.encloses(item.node, loop) for loop in item.file.tree.loops
    )


def classes_of(index: SemanticIndex, item: ast.expr) -> Iterator[tuple[str, str]]:
    """The classes that an object may be of that a call gives, those that have to do with tensors, with their files.

    Functions that it gives count as well; of a list that is written out, what is in it.
    """
    if isinstance(item, _MAY_NAME):
        for function in index.imported.functions.of(item) if index.imported.knows_others else ():
            assert isinstance(function.node, FUNCTIONS)
            yield os.path.abspath(function.file.source.path), qualified_in_file(function.file.tree, function.node)
    if isinstance(item, ast.List | ast.Tuple | ast.ListComp):
        for part in [item.elt] if isinstance(item, ast.ListComp) else item.elts:
            yield from classes_of(index, part)
        return
    made = index.imported.classes_here(item, index) if isinstance(item, _MAY_GIVE) else ()
    itself = _class_of_self(index, item)  # `Trainer(self, args)`
    if not made and itself is not None:
        made = (Definition(index, itself),)
    for owner in made if len(made) <= _MOST_CLASSES else ():
        if isinstance(owner.node, ast.ClassDef) and owner.file.source.has_any(_ABOUT_TENSORS):
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
