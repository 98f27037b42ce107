"""Random crops and erasures of images that are on the device already: their places are constants of the graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic import SemanticIndex
from tpulint.semantic.project.other_files import objects_returned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.values.creations import Creation

_RANDOM = frozenset({
    "RandomCrop", "RandomResizedCrop", "RandomErasing", "RandomRotation", "RandomAffine", "ColorJitter", "CutMix",
    "RandomZoomOut", "ScaleJitter", "RandomIoUCrop", "RandomShortestSize", "RandomResize", "RandAugment",
    "TrivialAugmentWide", "AutoAugment", "AugMix", "RandomPhotometricDistort",
})  # fmt: skip
"""Transforms with more than a few outcomes."""
_MIXTURES = ("timm.data.Mixup", "timm.data.mixup.Mixup")
_VISION = "torchvision.transforms."
_CHAINS = frozenset({"Compose", "RandomApply", "RandomChoice", "RandomOrder"})
_DEPTH = 4


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.exists:
        return
    for call in index.turn_code.nodes(ast.Call):
        if not call.args or not index.is_device_tensor(call.args[0]) or index.turn_code.turn_of(call) is None:
            continue
        made = next(iter(_random_transforms(ctx.index, call.func, 0)), None)
        if made is None:
            continue
        place, name = made
        yield ctx.finding(
            call,
            f"`{name}` draws on the host, and applies to the device tensor, another place or order in every "
            f"{index.turn_code.turn_of(call)}: each outcome is compiled",
            certainty=Certainty.CERTAIN
            if index.value(call.args[0]).certain and isinstance(place, ast.Call)
            else Certainty.LIKELY,
            related=((index.span(place), "given here" if isinstance(place, ast.arg) else "made here"),),
        )


def _random_transforms(index: SemanticIndex, node: ast.expr, depth: int) -> Iterator[tuple[ast.Call | ast.arg, str]]:
    """Creations of random transforms that a transform is, or is made of; a parameter that is said to be one.

    With the name of the transform. What a function of another file makes stands for its call.
    """
    for creation in index.moves.creations.of(node) if depth <= _DEPTH else ():
        yield from _made(index, creation, depth)


def _made(index: SemanticIndex, creation: Creation, depth: int) -> Iterator[tuple[ast.Call | ast.arg, str]]:
    made = creation.node
    if isinstance(made, ast.arg) and not creation.path and _is_mixture(index, made.annotation):
        yield made, "Mixup"
    if not isinstance(made, ast.Call):
        return
    name = index.qualified_name(made.func) or ""
    last = name.rpartition(".")[2]
    if not creation.path and (name == "torch.nn.Sequential" or (name.startswith(_VISION) and last in _CHAINS)):
        for item in made.args:
            for part in item.elts if isinstance(item, ast.List | ast.Tuple) else [item]:
                yield from _random_transforms(index, part, depth + 1)
    elif not creation.path and ((name.startswith(_VISION) and last in _RANDOM) or (name in _MIXTURES and _cuts(made))):
        yield made, last
    elsewhere = index.imported.called(made) if depth < _DEPTH else None
    if elsewhere is None or elsewhere.is_class:
        return
    for value in objects_returned(elsewhere):
        for other in elsewhere.file.moves.creations.of_part(value, creation.path):
            yield from ((made, found) for _, found in _made(elsewhere.file, other, depth + 1))


def _is_mixture(index: SemanticIndex, annotation: ast.expr | None) -> bool:
    """``Mixup``, ``Optional[Mixup]`` and ``Mixup | None``"""
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.slice
    if isinstance(annotation, ast.BinOp):
        annotation = annotation.left
    return annotation is not None and index.qualified_name(annotation) in _MIXTURES


def _cuts(made: ast.Call) -> bool:
    """Whether a mixture pastes a part of one image into another: by ``cutmix_alpha``, which is 0 if not given."""
    given = [*made.args[1:2], *(item.value for item in made.keywords if item.arg in ("cutmix_alpha", "cutmix_minmax"))]
    return any(not (isinstance(item, ast.Constant) and not item.value) for item in given)
