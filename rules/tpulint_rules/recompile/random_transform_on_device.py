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
_CHAINS = frozenset({"Compose", "RandomApply", "RandomChoice", "RandomOrder"})
_DEPTH = 4


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.loops:
        return
    for call in index.turn_code.nodes(ast.Call):
        if not call.args or not index.is_device_tensor(call.args[0]) or index.turn_code.turn_of(call) is None:
            continue
        made = next(iter(_random_transforms(ctx, call.func, 0)), None)
        if made is None:
            continue
        name = (index.qualified_name(made.func) or "").rpartition(".")[2]
        yield ctx.finding(
            call,
            f"`{name}` draws on the host, and applies to the device tensor, another place or order in every "
            f"{index.turn_code.turn_of(call)}: each outcome is compiled",
            certainty=Certainty.CERTAIN if index.value(call.args[0]).certain else Certainty.LIKELY,
            related=((index.span(made), "made here"),),
        )


def _random_transforms(ctx: FileContext, node: ast.expr, depth: int) -> Iterator[ast.Call]:
    """Creations of random transforms that a transform is, or is made of."""
    if depth > _DEPTH:
        return
    index = ctx.index
    for creation in index.moves.creations.of(node):
        made = creation.node
        if not isinstance(made, ast.Call) or creation.path:
            continue
        name = index.qualified_name(made.func) or ""
        last = name.rpartition(".")[2]
        if name == "torch.nn.Sequential" or (name.startswith("torchvision.transforms.") and last in _CHAINS):
            for item in made.args:
                for part in item.elts if isinstance(item, ast.List | ast.Tuple) else [item]:
                    yield from _random_transforms(ctx, part, depth + 1)
        elif name.startswith("torchvision.transforms.") and last in _RANDOM:
            yield made
