"""Buffers and parameters of module classes that no training step changes: ``register_buffer("betas", betas)``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.records import NamedTuple
from tpulint.semantic.project.other_files import Definition, loads_of_parameter, with_bases
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode, is_of_self
from tpulint.semantic.values.value import is_none

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_PARAMETERS = ("torch.nn.Parameter", "torch.nn.parameter.Parameter")
_WRITING = ("batch_norm", "instance_norm")
"""Functions of torch that write to what they are given."""
_BY_NAME = r"\bsetattr\(self\b|\b(?:named_)?buffers\(|\b_buffers\b"
"""What a class may write to any buffer by."""
_NO_WRITE = ("requires_grad_", "detach_", "share_memory_")
_BY_NUMBERS = r"\b(?:tensor|as_tensor|full|from_numpy)\((?!.*(?:\d\.|\de-))"
"""What holds what it is given, no number with a point among it."""
_INTEGERS = r"\b(?:long|u?int\d*|bool|arange|randperm|LongTensor|BoolTensor|bincount|argsort)\b|[<>]|[=!]="
_DEPTH = 3


class ConstantTensor(NamedTuple):
    """A tensor that a class makes where its objects are made, and that nothing writes to."""

    name: str
    node: ast.AST
    """What makes it."""


def constant_buffers(owner: Definition, floating: bool) -> Iterator[ConstantTensor]:
    """Those of a class itself; of some averages only those that hold floating-point numbers matter."""
    starts = starting_functions(owner)
    for function in starts:
        for name, call, value in _registered(owner.file, function):
            holds_floats = not floating or not _may_be_integer(owner.file, value, 0)
            if holds_floats and not _is_written(owner, name, starts):
                yield ConstantTensor(name, call)


def constant_parameters(owner: Definition) -> Iterator[ConstantTensor]:
    """Those that need no gradient from the start: ``self.places = nn.Parameter(places, requires_grad=False)``."""
    tree, starts = owner.file.tree, starting_functions(owner)
    for call in (call for function in starts for call in tree.nodes_in(function, ast.Call)):
        if owner.file.qualified_name(call.func) not in _PARAMETERS:
            continue
        given = [item.value for item in call.keywords if item.arg == "requires_grad"] + call.args[1:2]
        holder = tree.parents[call]
        target = holder.targets[0] if isinstance(holder, ast.Assign) else None
        if not given or not isinstance(given[0], ast.Constant) or given[0].value is not False:
            continue
        if target is not None and is_of_self(target) and not _is_written(owner, target.attr, starts):
            yield ConstantTensor(target.attr, call)


def starting_functions(owner: Definition) -> list[FunctionNode]:
    """The ``__init__`` of a class, and methods of the class that it calls."""
    tree, definitions = owner.file.tree, owner.file.definitions
    assert isinstance(owner.node, ast.ClassDef)
    found = [item for item in owner.node.body if isinstance(item, FUNCTIONS) and item.name == "__init__"]
    for function in found:
        for call in tree.nodes_in(function, ast.Call):
            run = definitions.function_called(call)
            if run is not None and run not in found and tree.class_of(run) is owner.node:
                found.append(run)
    return found


def _registered(file: SemanticIndex, function: FunctionNode) -> Iterator[tuple[str, ast.Call, ast.expr]]:
    """Names and values of the buffers that a function registers, itself or by a function made for that."""
    tree = file.tree
    calls = sorted(tree.nodes_in(function, ast.Call), key=tree.start)
    for call in calls:
        value = _tensor(call)
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "register_buffer" or value is None:
            continue
        name, within = call.args[0], tree.lambda_of(call)
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield name.value, call, value
        elif within is not None and isinstance(name, ast.Name) and [name.id] == [a.arg for a in within.args.args[:1]]:
            holder = tree.parents[within]
            targets = holder.targets if isinstance(holder, ast.Assign) else []
            named = targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""
            for use in calls:
                first = use.args[0] if use.args else None
                if isinstance(use.func, ast.Name) and use.func.id == named and isinstance(first, ast.Constant):
                    yield str(first.value), use, value


def _tensor(call: ast.Call) -> ast.expr | None:
    given = [*call.args[1:2], *(item.value for item in call.keywords if item.arg == "tensor")]
    return given[0] if call.args and given and not is_none(given[0]) else None


def _may_be_integer(file: SemanticIndex, value: ast.expr, depth: int) -> bool:
    """Whether a tensor may hold integers or booleans, by what is written where it is made."""
    if file.number_types.is_floating(value):
        return False
    text = file.text(value)
    if re.search(r"\.float\(\)|\.double\(\)|dtype=torch\.float|torch\.float32\b", text):
        return False
    if re.search(_INTEGERS, text) or re.search(_BY_NUMBERS, " ".join(text.split())) or depth > _DEPTH:
        return True
    bindings = file.flow.reaching(value) if isinstance(value, ast.Name) else ()
    return any(one.value is not None and _may_be_integer(file, one.value, depth + 1) for one in bindings)


def _is_written(owner: Definition, name: str, starts: list[FunctionNode]) -> bool:
    """Whether code of the class, or of its file, may write to a tensor of this name once the object is made."""
    for one in with_bases(owner):
        if re.search(_BY_NAME, one.file.text(one.node)):
            return True
    tree = owner.file.tree
    return any(
        tree.function_of(use) not in starts and _writes(owner.file, use, 0) for use in tree.attributes_called(name)
    )


def _writes(file: SemanticIndex, use: ast.expr, depth: int) -> bool:
    """Whether a use of a tensor changes it: ``self.count += 1``, ``self.queue[at] = x``, ``self.mean.lerp_(x, 1)``."""
    tree = file.tree
    if not isinstance(getattr(use, "ctx", None), ast.Load):
        return True
    holder = tree.parents[use]
    if isinstance(holder, ast.Subscript) and holder.value is use:
        return _writes(file, holder, depth)
    if isinstance(holder, ast.Attribute):
        if holder.attr.endswith("_") and not holder.attr.endswith("__"):
            return holder.attr not in _NO_WRITE
        return _writes(file, holder, depth)
    if isinstance(holder, ast.keyword):
        return holder.arg == "out"
    if isinstance(holder, ast.Assign) and holder.value is use:
        loads = [load for target in holder.targets if isinstance(target, ast.Name)
                 for load in file.flow.loads_of(target, use)]  # fmt: skip
        return depth < _DEPTH and any(_writes(file, load, depth + 1) for load in loads)
    if not isinstance(holder, ast.Call) or holder.func is use:
        return False
    if (file.qualified_name(holder.func) or "").rpartition(".")[2] in _WRITING:
        return True
    here = file.definitions.function_called(holder)
    called = Definition(file, here) if here is not None else file.imported.called(holder)
    if called is None or depth == _DEPTH:
        return False
    return any(_writes(called.file, load, depth + 1) for load in loads_of_parameter(called, holder, use))
