"""Batches of images that a collate function brings to a size it draws: ``F.interpolate(image, size=self.size)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic import SemanticIndex
from tpulint.semantic.batches.collating import collating_functions, with_called
from tpulint.semantic.project.outside import STEP
from tpulint.semantic.sizes.drawn_numbers import draws_one
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode, is_of_self
from tpulint.semantic.syntax.variables import last_name

_FUNCTIONAL = "torch.nn.functional."
_TRANSFORMS = "torchvision.transforms."
_RESIZES = {
    f"{_FUNCTIONAL}interpolate": (1, ("size",)),
    f"{_FUNCTIONAL}upsample": (1, ("size",)),
    f"{_TRANSFORMS}functional.resize": (1, ("size",)),
    f"{_TRANSFORMS}Resize": (0, ("size",)),
    "cv2.resize": (1, ("dsize",)),
}
"""Where the size stands in what brings images to one."""
_OTHER_SIZE = ("pad", "crop", "paste", "zeros", "ones", "full", "empty")
"""How functions are called that bring images to another size behind it."""
_DEPTH = 6

Collating = FunctionNode | ast.Lambda


def drawn_images(ctx: FileContext) -> Iterator[Finding]:
    """Sizes that are drawn for each batch, of batches that come to the device."""
    index = ctx.index
    told: set[ast.AST] = set()
    for function, turn in collating_functions(index):
        parts = list(with_called(index, function, set()))
        if any(_has_other_size(index, part) for part in parts):
            continue
        for call in (node for part in parts for node in index.tree.nodes_in(part, ast.Call)):
            size = _size(index, call) if isinstance(call, ast.Call) and call not in told else None
            draw = None if size is None else _draw(index, size, parts, 0)
            if draw is None:
                continue
            told.add(call)
            batch = "training batch" if turn == STEP else turn
            yield ctx.finding(
                call,
                f"each {batch} is brought to a size from Python's `{ctx.text(draw)}`: each size is another graph to "
                "compile",
                certainty=Certainty.LIKELY,
                related=((index.span(draw), "drawn here"),),
            )


def _has_other_size(index: SemanticIndex, function: Collating) -> bool:
    calls = (node for node in index.tree.nodes_in(function, ast.Call) if isinstance(node, ast.Call))
    return any(word in last_name(call.func).lower() for call in calls for word in _OTHER_SIZE)


def _size(index: SemanticIndex, call: ast.Call) -> ast.expr | None:
    place, names = _RESIZES.get(index.qualified_name(call.func) or "", (0, ()))
    if not names:
        return None
    given = [keyword.value for keyword in call.keywords if keyword.arg in names] + call.args[place : place + 1]
    return given[0] if given else None


def _draw(index: SemanticIndex, node: ast.expr, parts: list[Collating], depth: int) -> ast.Call | None:
    """The draw of a batch that a size is computed of, be it given to a function or kept on the object."""
    if depth > _DEPTH:
        return None
    for part in (node, *index.tree.inside(node)):
        if isinstance(part, ast.Call) and draws_one(index, part):
            return part if any(index.tree.encloses(function, part) for function in parts) else None
        values: list[ast.expr | None] = []
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            for binding in index.flow.reaching(part):
                values.append(binding.value)
                if binding.kind == "parameter" and isinstance(function := index.function_of(binding.node), FUNCTIONS):
                    values += index.definitions.arguments.of(function, part.id)
        elif isinstance(part, ast.Attribute) and is_of_self(part):
            owner = index.tree.class_of(part)
            kept = [] if owner is None else index.names.attribute_bindings(owner, part.attr)
            values += [one.value for one in kept if index.function_of(one.node) in parts]
        draws = (_draw(index, value, parts, depth + 1) for value in values if value is not None)
        found = next((draw for draw in draws if draw is not None), None)
        if found is not None:
            return found
    return None
