"""A model that is trained on batches of the device and is put there nowhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Certainty, Finding
from tpulint.semantic import Kind, SemanticIndex, Side
from tpulint.semantic.functions.passed_arguments import arguments_given, values_given
from tpulint.semantic.loops.turn_code import STEP
from tpulint.semantic.modules.moves import Move
from tpulint.semantic.syntax.torch_facts import MODULE_LISTS
from tpulint.semantic.syntax.variables import root_of
from tpulint.semantic.values.creations import Creation, overlap
from tpulint_rules.step._built_optimizers import builds_optimizer, taken_for

_MOVED_OTHERWISE = (
    r"set_default_\w+\(|DataParallel|accelerat|[Ff]abric|[Ll]ightning|deepspeed|horovod|with torch\.device\("
)
_MOVING = (".to(", ".cuda(", "device")
"""Words of classes that put something on a device themselves."""
_KNOWN_MODULES = ("torch.nn.", "torchvision.models.")
_TAKING = ("torch.", "builtins.", "torchvision.")
"""Starts of the names of functions that leave a model they are given where it is."""
_WITH_INPUTS = (
    "The model goes where its inputs are, in front of its optimizer: with it on the host the first layer raises."
)


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.exists or index.mentions(_MOVED_OTHERWISE) or not index.moves.has_device:
        return
    trained = [
        creation
        for call in index.calls
        if builds_optimizer(ctx, call)
        for taken in taken_for(ctx, call)
        for creation in index.moves.collected.of(taken.module)
    ]
    for creation in dict.fromkeys(trained):
        fed = _fed_on_device(index, creation) if _is_left(index, creation) else None
        if fed is None or not isinstance(creation.node, ast.Call):
            continue
        made = creation.node
        fix = ctx.fix("Move it to the XLA device", Applicability.UNSAFE, _WITH_INPUTS)
        fix.append(made, f".to({fix.device(made)})")
        yield ctx.finding(
            made,
            "the model stays on the host, and is called with tensors of the device: its first layer raises",
            fix,
            certainty=Certainty.LIKELY,
            related=((index.span(fed), "called here"),),
        )


def _is_left(index: SemanticIndex, creation: Creation) -> bool:
    """Whether a model is made and kept by a statement, and nothing in sight moves it, or may."""
    made = creation.node
    holder = index.parent(made)
    if not isinstance(made, ast.Call) or creation.path or creation.way:
        return False
    if not isinstance(holder, ast.Assign) or holder.value is not made or len(holder.targets) != 1:
        return False
    owner = index.tree.class_of(made)
    if owner is not None and index.definitions.is_module_class(owner):
        return False  # it moves with what it is a part of
    if not _is_known(index, made) or index.moves.go_to_host([made]):
        return False
    if any(index.kind(item) is Kind.DEVICE for item in (*made.args, *(keyword.value for keyword in made.keywords))):
        return False
    if any(_may_move(index, move, creation) for move in index.moves.moves):
        return False
    target = holder.targets[0]
    loads = index.names.loads_of(target) if isinstance(target, ast.Name) else _reads_of(index, target)
    if any(_is_handed_out(index, load) for load in loads):
        return False
    put_in = [item for load in loads for item in _put_into(index, load)]
    return not any(
        _may_be_moved(index, part, made) for item in (*values_given(made), *put_in) for part in ast.walk(item)
    )


def _put_into(index: SemanticIndex, load: ast.expr) -> list[ast.expr]:
    """What becomes a part of a model later: ``model.head = head``, ``model.add_module("head", head)``."""
    part = index.parent(load)
    holder = index.parent(part) if isinstance(part, ast.Attribute) and part.value is load else None
    if isinstance(holder, ast.Assign) and part in holder.targets:
        return [holder.value]
    return values_given(holder) if isinstance(holder, ast.Call) and holder.func is part else []


def _may_be_moved(index: SemanticIndex, part: ast.AST, whole: ast.Call) -> bool:
    """Whether a part of which a model is made is on the device, or may be: ``Net(encoder, nn.ReLU().cuda())``."""
    if isinstance(part, ast.Call) and (index.moves.to_device(part) is not None or _is_made_somewhere(part)):
        return True
    if not isinstance(part, ast.Name | ast.Attribute) or index.qualified_name(part) is not None:
        return False
    kind = index.kind(part)
    if kind is not Kind.MODULE and not (kind is Kind.UNKNOWN and _is_run(index, part, whole)):
        return False
    return any(
        not isinstance(one.node, ast.Call)
        or (one.node is not whole and not _is_known(index, one.node))
        or _is_made_somewhere(one.node)
        or any(_may_move(index, move, one) for move in index.moves.moves)
        for one in index.moves.collected.of(part)
    )


def _is_run(index: SemanticIndex, part: ast.expr, whole: ast.Call) -> bool:
    """Whether a model runs what it is given, as ``Net(encoder)`` does by ``self.encoder(x)``: it is a module."""
    if index.qualified_name(whole.func) in MODULE_LISTS:
        return True
    file, owner = index, index.definitions.class_called(whole)
    if owner is None and (found := index.imported.called(whole)) is not None and isinstance(found.node, ast.ClassDef):
        file, owner = found.file, found.node
    start = None if owner is None else file.definitions.method(owner, "__init__")
    if start is None:
        return False
    for name, given in arguments_given(whole, start, True):
        for load in file.names.loads(name, file.names.scope_of(start.body[0])) if given is part else ():
            kept = next((item for item in file.tree.ancestors(load) if isinstance(item, ast.stmt)), None)
            targets = kept.targets if isinstance(kept, ast.Assign) else ()
            for target in (node for item in targets for node in ast.walk(item) if isinstance(node, ast.Attribute)):
                if any(_is_called(file, use) for use in file.tree.attributes_called(target.attr)):
                    return True
    return False


def _is_called(index: SemanticIndex, use: ast.expr) -> bool:
    call = index.parent(use)
    return isinstance(call, ast.Call) and call.func is use


def _is_made_somewhere(made: ast.Call) -> bool:
    """Whether a call tells where what it makes lies: ``nn.Linear(4, 4, device="cuda")``."""
    return any(keyword.arg == "device" for keyword in made.keywords)


def _is_known(index: SemanticIndex, made: ast.Call) -> bool:
    """Whether a model is of a class that is known to move nothing."""
    if (index.qualified_name(made.func) or "").startswith(_KNOWN_MODULES):
        return True
    if index.definitions.class_called(made) is not None:
        modules = (owner for owner in index.tree.classes if index.definitions.is_module_class(owner))
        return not any(word in index.text(owner) for owner in modules for word in _MOVING)
    found = index.imported.called(made)
    return found is not None and found.is_class and not found.file.source.has_any(_MOVING)


def _may_move(index: SemanticIndex, move: Move, creation: Creation) -> bool:
    """Whether a move is one of a model; what a loop deals out is its batch."""
    root = root_of(move.module)
    bindings = () if root is None else index.flow.reaching(root)
    if bindings and all(one.kind == "loop" and one.statement in index.turn_code.loops for one in bindings):
        return False
    known = move.creations
    return overlap(known, [creation]) or any(not isinstance(one.node, ast.Call) for one in known) or not known


def _reads_of(index: SemanticIndex, target: ast.expr) -> list[ast.expr]:
    if not isinstance(target, ast.Attribute):
        return [target]
    return [node for node in index.tree.attributes_called(target.attr) if isinstance(node.ctx, ast.Load)]


def _is_handed_out(index: SemanticIndex, load: ast.expr) -> bool:
    """Whether a model goes into something that may move it: a call of another file, a collection."""
    around = index.parent(load)
    call = index.parent(around) if isinstance(around, ast.keyword) else around
    if isinstance(call, ast.Call) and call.func is not load:
        is_here = index.definitions.function_called(call) is not None
        return not is_here and not (index.qualified_name(call.func) or "").startswith(_TAKING)
    return isinstance(around, ast.List | ast.Tuple | ast.Dict | ast.Set | ast.Starred | ast.Yield | ast.NamedExpr)


def _fed_on_device(index: SemanticIndex, creation: Creation) -> ast.Call | None:
    """The call of a model in a step that is given a tensor of the device, where none is given one of the host alone."""
    fed: ast.Call | None = None
    for call in index.calls:
        if index.kind(call.func) is not Kind.MODULE or not overlap(index.moves.creations.of(call.func), [creation]):
            continue
        given = map(index.value, (*call.args, *(item.value for item in call.keywords)))
        sides = {value.side for value in given if value.kind is Kind.TENSOR}
        if Side.HOST in sides and Side.DEVICE not in sides:
            return None
        if fed is None and Side.DEVICE in sides and index.turn_code.turn_of(call) == STEP:
            fed = call
    return fed
