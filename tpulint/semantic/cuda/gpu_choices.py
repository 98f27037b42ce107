"""Choices by whether there is a GPU, of which a TPU wants what a machine without one gets."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from tpulint.semantic.values.value import is_cpu

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

PRODUCTS = r"[a-z]-gpu\b|ExecutionProvider\b|\bflash_attention_\d"
"""Packages and parts of them that are chosen for a GPU, and are none of torch: ``onnxruntime-gpu``."""
_ONLY_WITH_GPUS = ("gpus", "devices", "accelerator", "fused")

_OF_TREES = (
    ("tree_method", "gpu_hist"), ("predictor", "gpu_predictor"), ("task_type", "GPU"), ("device_type", "gpu"),
)  # fmt: skip
"""Settings of XGBoost, CatBoost and LightGBM that ask for a GPU."""


def is_worse(index: SemanticIndex, choice: ast.IfExp) -> bool:
    """Whether what a GPU wants is worse on a TPU than what the CPU gets: float16, ``accelerator="gpu"``.

    ``map_location = None if is_available() else "cpu"`` must load to the host, too.
    """
    if re.search(PRODUCTS, index.text(choice)) or loads_to_host(index, [choice.body], [choice.orelse]):
        return True
    places = [choice.body, choice.orelse]
    if any(isinstance(place, ast.Constant) and place.value is None for place in places):
        return any(_is_cpu(index, place) for place in places)
    if index.qualified_name(choice.body) in ("torch.float16", "torch.half"):
        return True
    keyword = index.parent(choice)
    if isinstance(keyword, ast.keyword) and keyword.arg in _ONLY_WITH_GPUS:
        return True
    if isinstance(choice.body, ast.Dict) and any(
        isinstance(key, ast.Constant) and key.value == "fused" for key in choice.body.keys
    ):
        return True  # no optimizer is fused for XLA: `{"fused": True} if is_available() else {}`
    return isinstance(choice.body, ast.Constant) and choice.body.value in ("gpu", "fp16", "16-mixed")


def loads_to_host(index: SemanticIndex, taken: Iterable[ast.AST], other: Iterable[ast.AST]) -> bool:
    """Whether branches load a checkpoint to where it was saved, a GPU perhaps, and where there is none to the host."""
    loads = [_loads_in(index, taken), _loads_in(index, other)]
    given = [{keyword.arg for load in found for keyword in load.keywords} for found in loads]
    return all(loads) and "map_location" in given[1] and "map_location" not in given[0]


def sets_up_trees(branch: Iterable[ast.stmt]) -> bool:
    """Whether a branch has trees of another library grown on a GPU: ``config["tree_method"] = "gpu_hist"``."""
    return any(
        isinstance(item, ast.Assign)
        and isinstance(item.value, ast.Constant)
        and isinstance(target := item.targets[0], ast.Subscript)
        and isinstance(target.slice, ast.Constant)
        and (target.slice.value, item.value.value) in _OF_TREES
        for item in branch
    )


def _loads_in(index: SemanticIndex, branch: Iterable[ast.AST]) -> list[ast.Call]:
    nodes = (node for item in branch for node in (item, *index.tree.nodes_in(item, ast.Call)))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    return [call for call in calls if index.qualified_name(call.func) == "torch.load"]


def _is_cpu(index: SemanticIndex, node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and index.qualified_name(node.func) == "torch.device":
        return bool(node.args) and _is_cpu(index, node.args[0])
    return is_cpu(node)
