"""Optimizers that functions of other files build of models which they give, with the optimizer, before they move."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic import FUNCTIONS, SemanticIndex
from tpulint.semantic.modules.moves import Move
from tpulint.semantic.project.other_files import Definition, returned
from tpulint.semantic.syntax.torch_facts import OPTIMIZER_PREFIXES
from tpulint.semantic.syntax.variables import last_name, says_device
from tpulint_rules.step._made_modules import modules_given
from tpulint_rules.step._parameters_given import is_called_optimizer

_MOST = 60
"""Expressions that are looked at to see what a function gives."""


def built_together(index: SemanticIndex, move: Move) -> Definition | None:
    """The function of another file that gives what is moved, and beside it an optimizer of its parameters.

    ``model, optimizer = create(args)``, ``parts = create(args)`` and ``parts["model"].to(device)``.
    """
    for creation in move.creations:
        made = creation.node
        found = index.imported.called(made) if isinstance(made, ast.Call) and creation.path else None
        has_moved = any(index.moves.to_device(call) is not None for call in creation.way)
        if found is None or not isinstance(found.node, FUNCTIONS) or has_moved or _may_move(found):
            continue
        if any(_builds_of(found, part) for part in _parts_given(found, creation.path[0])):
            return found
    return None


def _may_move(run: Definition) -> bool:
    """Whether a function puts something on a device, or has to do with one."""
    inside = run.file.tree.inside(run.node)
    return any(
        run.file.moves.to_device(node) is not None if isinstance(node, ast.Call) else says_device(last_name(node))
        for node in inside
        if isinstance(node, ast.Call | ast.Name | ast.Attribute)
    )


def _builds_of(run: Definition, model: ast.expr) -> bool:
    """Whether a function gives an optimizer that it builds of a model's parameters."""
    made = run.file.moves.creations.of(model)
    return any(
        any(one.overlaps(other) for one in run.file.moves.creations.of(module) for other in made)
        for call in _given(run)
        if isinstance(call, ast.Call) and _builds_optimizer(run.file, call)
        for module in modules_given(run, call)
    )


def _builds_optimizer(file: SemanticIndex, call: ast.Call) -> bool:
    name = file.qualified_name(call.func) or ""
    is_class = name.startswith(OPTIMIZER_PREFIXES) and "lr_scheduler" not in name
    return is_class or (file.definitions.function_called(call) is None and is_called_optimizer(file, call))


def _given(run: Definition) -> list[ast.expr]:
    """What may be part of what a function gives: through variables, and what is put into an object of its own."""
    found = [*returned(run)]
    for value in found:  # grows while it is walked
        if len(found) > _MOST:
            break
        parts: list[ast.expr] = []
        if isinstance(value, ast.Tuple | ast.List):
            parts = value.elts
        elif isinstance(value, ast.Dict):
            parts = value.values
        elif isinstance(value, ast.Call):
            parts = [*value.args, *(item.value for item in value.keywords)]
        elif isinstance(value, ast.Name):
            parts = [binding.value for binding in run.file.flow.bindings_of(value) if binding.value is not None]
            parts += [given for _, given in _put_into(run, value.id)]
        found.extend(part for part in parts if part not in found)
    return found


def _parts_given(run: Definition, step: str) -> Iterator[ast.expr]:
    """What a function gives at one place of a tuple, under a key, or as an attribute."""
    waiting = [*returned(run)]
    for value in waiting:  # grows while it is walked
        if isinstance(value, ast.Name) and len(waiting) < _MOST:
            bound = (binding.value for binding in run.file.flow.bindings_of(value))
            waiting += [item for item in bound if item is not None and item not in waiting]
            for target, given in _put_into(run, value.id):
                if _key_of(target) == step:
                    yield from (given, target)
        elif isinstance(value, ast.Tuple | ast.List):
            at = step.strip("[]")
            if at.isdecimal() and int(at) < len(value.elts):
                yield value.elts[int(at)]
        elif isinstance(value, ast.Dict):
            pairs = zip(value.keys, value.values, strict=True)
            yield from (item for key, item in pairs if isinstance(key, ast.Constant) and f"[{key.value!r}]" == step)
        elif isinstance(value, ast.Call):
            yield from (item.value for item in value.keywords if item.arg in (step, step.strip("[]'")))


def _put_into(run: Definition, name: str) -> Iterator[tuple[ast.Attribute | ast.Subscript, ast.expr]]:
    """What a function puts into an object that a variable holds, with the place: ``s.model = net``."""
    for node in run.file.tree.nodes_in(run.node, ast.Assign, functions=False):
        for target in node.targets:
            holder = target.value if isinstance(target, ast.Attribute | ast.Subscript) else None
            if isinstance(holder, ast.Name) and holder.id == name:
                assert isinstance(target, ast.Attribute | ast.Subscript)
                yield target, node.value


def _key_of(target: ast.Attribute | ast.Subscript) -> str:
    return target.attr if isinstance(target, ast.Attribute) else f"[{ast.unparse(target.slice)}]"
