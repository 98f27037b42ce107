"""Random crops and erasures of images that are on the device already: their places are constants of the graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding

_RANDOM = frozenset({
    "RandomCrop", "RandomResizedCrop", "RandomErasing", "RandomRotation", "RandomAffine", "ColorJitter", "CutMix",
    "RandomZoomOut", "ScaleJitter", "RandomIoUCrop", "RandomShortestSize", "RandomResize", "RandAugment",
    "TrivialAugmentWide", "AutoAugment", "AugMix", "RandomPhotometricDistort",
})  # fmt: skip
"""Transforms with more than a few outcomes."""
_MIXTURES = ("timm.data.Mixup", "timm.data.mixup.Mixup")
_CHAINS = frozenset({"Compose", "RandomApply", "RandomChoice", "RandomOrder"})
_DEPTH = 4


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.exists:
        return
    for call in index.turn_code.nodes(ast.Call):
        if not call.args or not index.is_device_tensor(call.args[0]) or index.turn_code.turn_of(call) is None:
            continue
        made = next(iter(_random_transforms(ctx, call.func, 0)), None)
        if made is None:
            continue
        name = "Mixup" if isinstance(made, ast.arg) else (index.qualified_name(made.func) or "").rpartition(".")[2]
        yield ctx.finding(
            call,
            f"`{name}` draws on the host, and applies to the device tensor, another place or order in every "
            f"{index.turn_code.turn_of(call)}: each outcome is compiled",
            certainty=Certainty.CERTAIN
            if index.value(call.args[0]).certain and isinstance(made, ast.Call)
            else Certainty.LIKELY,
            related=((index.span(made), "given here" if isinstance(made, ast.arg) else "made here"),),
        )


def _random_transforms(ctx: FileContext, node: ast.expr, depth: int) -> Iterator[ast.Call | ast.arg]:
    """Creations of random transforms that a transform is, or is made of; a parameter that is said to be one."""
    if depth > _DEPTH:
        return
    index = ctx.index
    for creation in index.moves.creations.of(node):
        made = creation.node
        if isinstance(made, ast.arg) and not creation.path and _is_mixture(ctx, made.annotation):
            yield made
        if not isinstance(made, ast.Call) or creation.path:
            continue
        name = index.qualified_name(made.func) or ""
        last = name.rpartition(".")[2]
        if name == "torch.nn.Sequential" or (name.startswith("torchvision.transforms.") and last in _CHAINS):
            for item in made.args:
                for part in item.elts if isinstance(item, ast.List | ast.Tuple) else [item]:
                    yield from _random_transforms(ctx, part, depth + 1)
        elif (name.startswith("torchvision.transforms.") and last in _RANDOM) or (name in _MIXTURES and _cuts(made)):
            yield made


def _is_mixture(ctx: FileContext, annotation: ast.expr | None) -> bool:
    """``Mixup``, ``Optional[Mixup]`` and ``Mixup | None``"""
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.slice
    if isinstance(annotation, ast.BinOp):
        annotation = annotation.left
    return annotation is not None and ctx.index.qualified_name(annotation) in _MIXTURES


def _cuts(made: ast.Call) -> bool:
    """Whether a mixture pastes a part of one image into another: by ``cutmix_alpha``, which is 0 if not given."""
    given = [*made.args[1:2], *(item.value for item in made.keywords if item.arg in ("cutmix_alpha", "cutmix_minmax"))]
    return any(not (isinstance(item, ast.Constant) and not item.value) for item in given)
