"""Encoders of Transformers whose default attention asks in every forward pass whether the mask hides anything."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.semantic import SemanticIndex, Side
from tpulint.semantic.values.origins import origins
from tpulint.semantic.values.value import is_none

_CLASSES = (
    r"(?:Bert|Roberta|XLMRoberta|Camembert|Electra|Albert|DistilBert|ModernBert|MobileBert|Ernie|Data2VecText)"
    r"(?:Model|For(?!CausalLM)\w+)\Z"
)
"""Those that take a mask with four dimensions as it is: others add it to the scores, and must not be given truths."""
_CHOSEN = r"AutoModel(?:For(?:SequenceClassification|TokenClassification|QuestionAnswering|MaskedLM|MultipleChoice))?\Z"
_NAMES = r"(?i)(?<!de)(?<!squeeze)(?<!conv)(?<!/i)(?<!hu)(?<!megatron-)(?<!visual)bert|electra|ernie"
"""Names of their checkpoints."""
_LOADS = (".from_pretrained", ".from_config")
_MASK = "attention_mask"
_SHAPING = frozenset({"unsqueeze", "view", "reshape", "expand", "get_extended_attention_mask"})


def masked_runs(ctx: FileContext) -> Iterator[tuple[ast.Call, str, str]]:
    """Calls of such encoders with a mask of the device in every turn, with the class and what the turn is called."""
    index = ctx.index
    if not index.kinds.mentions_device and not index.outside:
        return
    for call in index.turn_code.nodes(ast.Call):
        if index.qualified_name(call.func) is not None or not _is_given_mask(index, call):
            continue
        turn = index.turn_code.turn_of(call)
        name = _class_of(index, call.func) if turn is not None else ""
        if turn is not None and name:
            yield call, name, turn


def _is_given_mask(index: SemanticIndex, call: ast.Call) -> bool:
    """Whether a call gives a mask with a row for each sample, on the device; ``model(**batch)`` does, as it seems."""
    given = [item.value for item in call.keywords if item.arg == _MASK]
    if not given and len(call.args) > 1 and not any(isinstance(item, ast.Starred) for item in call.args[:2]):
        given = call.args[1:2]
    if not given:
        names = index.call_arguments.names(call)
        return _MASK in names or "**" in names
    (mask,) = given
    if index.value(mask).side is Side.HOST:
        return False
    return not any(is_none(origin.node) or _is_shaped(origin.node) for origin in origins(index, mask))


def _is_shaped(mask: ast.expr) -> bool:
    """Whether a mask is given more dimensions: ``mask[:, None, None, :].bool()``."""
    while isinstance(mask, ast.Call) and isinstance(mask.func, ast.Attribute):
        if mask.func.attr in _SHAPING:
            return True
        mask = mask.func.value
    places = mask.slice.elts if isinstance(mask, ast.Subscript) and isinstance(mask.slice, ast.Tuple) else []
    return any(is_none(place) for place in places)


def _class_of(index: SemanticIndex, module: ast.expr) -> str:
    """The class that all of what a module may be is made as; empty for any other."""
    made = index.moves.creations.of(module)
    names = {_made_as(index, creation.node) if not creation.path else "" for creation in made}
    return names.pop() if len(names) == 1 else ""


def _made_as(index: SemanticIndex, node: ast.AST) -> str:
    name = index.qualified_name(node.func) if isinstance(node, ast.Call) else None
    if name is None or not isinstance(node, ast.Call) or not name.startswith("transformers."):
        return ""
    is_loaded = name.endswith(_LOADS)
    last = (name.rpartition(".")[0] if is_loaded else name).rpartition(".")[2]
    if re.match(_CLASSES, last):
        return last
    if not is_loaded or not re.match(_CHOSEN, last):
        return ""
    path = next((item.value for item in node.keywords if item.arg == "pretrained_model_name_or_path"), None)
    path = node.args[0] if node.args else path
    texts = [origin.node for origin in origins(index, path)] if path is not None else []
    known = [text.value for text in texts if isinstance(text, ast.Constant) and isinstance(text.value, str)]
    return last if known and all(re.search(_NAMES, text) for text in known) else ""
