"""Detectors of torchvision choose boxes by their values: tens of reads, and of graphs, in every batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic import SemanticIndex

_PREFIX = "torchvision.models.detection"
_MAKERS = (
    "fasterrcnn_", "FasterRCNN", "maskrcnn_", "MaskRCNN", "keypointrcnn_", "KeypointRCNN",
    "retinanet_", "RetinaNet", "fcos_", "FCOS", "ssd300_", "ssdlite320_", "SSD",
)  # fmt: skip
"""How the names of functions and classes begin that make a detector; ``FasterRCNN_..._Weights`` makes none."""
_WEIGHTS = "_Weights"


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.kinds.mentions_device:
        return
    for made in _made(index):
        runs = [call for call in index.turn_code.nodes(ast.Call) if _is_run(index, call, made)]
        turn = index.turn_code.turn_of(runs[0]) if runs else None
        yield ctx.finding(
            runs[0] if runs else made,
            f"detectors of torchvision choose boxes by values: tens of reads and of graphs in every {turn or 'batch'}",
            certainty=Certainty.LIKELY,
            related=((index.span(made), "the detector is made here"),) if runs else (),
        )


def _made(index: SemanticIndex) -> Iterator[ast.Call]:
    for node, name in index.references(_PREFIX):
        call, last = index.parent(node), name.rpartition(".")[2]
        is_maker = last.startswith(_MAKERS) and not last.endswith(_WEIGHTS)
        if is_maker and isinstance(call, ast.Call) and call.func is node:
            yield call


def _is_run(index: SemanticIndex, call: ast.Call, made: ast.Call) -> bool:
    if not isinstance(call.func, ast.Name | ast.Attribute):
        return False
    return any(one.node is made and not one.path for one in index.moves.creations.of(call.func))
