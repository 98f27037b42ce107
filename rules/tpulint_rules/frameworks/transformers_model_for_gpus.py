"""Models of Transformers that are loaded for GPUs: onto one, in kernels for them, or quantized by them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope, Severity
from tpulint.records import NamedTuple
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.origins import origins
from tpulint.semantic.values.value import is_true

_LIBRARIES = r"(?m)^\s*(?:from|import)\s+(?:transformers|peft|trl|optimum|sentence_transformers|unsloth)\b"
_LOADS = frozenset({"from_pretrained", "from_config"})
_WITHOUT_WEIGHTS = re.compile(r"(?:Tokenizer(?:Fast)?|Processor|FeatureExtractor|Config)$")
"""Classes that load no model: they have nothing to put anywhere, and no method ``to``."""
_QUANTIZED = frozenset({"load_in_8bit", "load_in_4bit"})
_KERNELS = ("flash_attention_2", "flash_attention_3")
_CURRENT = ("torch.cuda.current_device", "torch.accelerator.current_device_index")
_MOVE_IT = "Leave the entry out, and move the model where it is loaded: `from_pretrained(name).to(device)`"
_SPREAD = ("auto", "balanced", "balanced_low_0", "sequential")


class _Problem(NamedTuple):
    message: str
    fix: FixBuilder | None
    severity: Severity = Severity.ERROR
    certainty: Certainty = Certainty.CERTAIN


def check(ctx: FileContext) -> Iterator[Finding]:
    if not ctx.index.mentions(_LIBRARIES, "transformers", "peft", "trl", "optimum", "unsloth"):
        return
    maps: dict[ast.expr, str] = {}
    for call in ctx.index.calls:
        name = ctx.index.qualified_name(call.func) or ""
        last = call.func.attr if isinstance(call.func, ast.Attribute) else name.rpartition(".")[2]
        if last in _LOADS:
            if _WITHOUT_WEIGHTS.search(_class_of(ctx, call.func)):
                continue
            check_argument = _loading
        elif name in ("transformers.pipeline", "transformers.pipelines.pipeline"):
            check_argument = _in_pipeline
        elif name.endswith(".BitsAndBytesConfig") and name.startswith("transformers."):
            check_argument = _in_quantization
        else:
            continue
        if last in _LOADS:
            maps.update(_mapped_by_options(ctx, call))
        for keyword in call.keywords:
            problem = check_argument(ctx, call, keyword)
            if problem is not None:
                severity = problem.severity
                if severity is Severity.ERROR and ctx.index.callers.decide(keyword.value):
                    severity = Severity.WARNING
                yield ctx.finding(keyword, problem.message, problem.fix, severity=severity, certainty=problem.certainty)
    for value, where in maps.items():
        yield ctx.finding(
            value, _message_of(f'"device_map": {" ".join(ctx.text(value).split())}', where), help=_MOVE_IT
        )


def _class_of(ctx: FileContext, func: ast.expr) -> str:
    """The name of the class whose method loads."""
    owner = func.value if isinstance(func, ast.Attribute) else func
    return (ctx.index.qualified_name(owner) or "").rpartition(".")[2]


def _loading(ctx: FileContext, call: ast.Call, keyword: ast.keyword) -> _Problem | None:
    if keyword.arg == "device_map":
        return _mapped(ctx, call, keyword)
    if keyword.arg in _QUANTIZED:
        return _in_quantization(ctx, call, keyword)
    if keyword.arg == "attn_implementation":
        names = [o.node.value for o in origins(ctx.index, keyword.value) if isinstance(o.node, ast.Constant)]
        kernels = next((name for name in names if name in _KERNELS), None)
        if kernels is None:
            return None
        message = f'`"{kernels}"` is made of CUDA kernels: the model cannot be loaded with it on a TPU machine'
        return _Problem(message, _default_attention(ctx, call, keyword))
    if keyword.arg == "use_flash_attention_2" and _is_true(ctx, keyword.value):
        message = "`use_flash_attention_2` asks for CUDA kernels: the model cannot be loaded with it on a TPU machine"
        return _Problem(message, _default_attention(ctx, call, keyword))
    return None


def _in_pipeline(ctx: FileContext, call: ast.Call, keyword: ast.keyword) -> _Problem | None:
    if keyword.arg == "device" and ctx.index.devices.indices.is_number(keyword.value):
        value = keyword.value
        if isinstance(value, ast.Constant) and isinstance(value.value, int) and value.value < 0:
            return None
        if isinstance(value, ast.UnaryOp) or not isinstance(value, ast.Constant | ast.Name):
            return None
        fix = ctx.fix(
            "Run the pipeline on the XLA device", Applicability.UNSAFE, "What ran on the CPU runs on the device."
        )
        fix.replace(value, fix.device(call))
        message = f"`device={ctx.text(value)}` is the CPU for a pipeline where there is no GPU, without a word"
        certainty = Certainty.CERTAIN if isinstance(value, ast.Constant) else Certainty.LIKELY
        return _Problem(message, fix, certainty=certainty)
    if keyword.arg == "device_map":
        where = _map_of(ctx, keyword.value)
        if where is None:
            return None
        fix = ctx.fix("Run the pipeline on the XLA device", Applicability.UNSAFE, "The whole model goes to one device.")
        fix.replace(keyword, f"device={fix.device(call)}")
        if any(item.arg == "device" for item in call.keywords):
            fix.give_up()
        return _Problem(_map_message(ctx, keyword, where), fix)
    return None


def _in_quantization(ctx: FileContext, call: ast.Call, keyword: ast.keyword) -> _Problem | None:
    if keyword.arg in _QUANTIZED and _is_true(ctx, keyword.value):
        return _Problem(f"`{keyword.arg}` quantizes with bitsandbytes, whose kernels do not run on a TPU", None)
    return None


# -------------------------------------------------------------------- where a model is put


def _mapped_by_options(ctx: FileContext, call: ast.Call) -> Iterator[tuple[ast.expr, str]]:
    """``options = {"device_map": "balanced"}`` of ``from_pretrained(name, **options)``: the value and what it names."""
    for unpacked in (item.value for item in call.keywords if item.arg is None):
        for options in (origin.node for origin in origins(ctx.index, unpacked)):
            for key, value in zip(options.keys, options.values, strict=True) if isinstance(options, ast.Dict) else ():
                is_map = isinstance(key, ast.Constant) and key.value == "device_map"
                where = _map_of(ctx, value) if is_map else None
                if where is not None:
                    yield value, where


def _mapped(ctx: FileContext, call: ast.Call, keyword: ast.keyword) -> _Problem | None:
    where = _map_of(ctx, keyword.value)
    if where is None:
        return None
    return _Problem(_map_message(ctx, keyword, where), _moved_later(ctx, call, keyword))


def _map_message(ctx: FileContext, keyword: ast.keyword, where: str) -> str:
    return _message_of(" ".join(ctx.text(keyword).split()), where)


def _message_of(text: str, where: str) -> str:
    if where in _SPREAD:
        return f"`{text}` looks for GPUs and puts the whole model on the CPU where there are none, without a word"
    return f"`{text}` loads the model onto a GPU, which a TPU machine lacks"


def _map_of(ctx: FileContext, node: ast.expr) -> str | None:
    """The GPU, or the way of finding some, that a ``device_map`` names; None when it names neither."""
    for origin in origins(ctx.index, node):
        value = origin.node
        if isinstance(value, ast.Dict):
            # {"": 0}: the whole model; more entries spread it over several devices
            named = [_map_of(ctx, item) for item in value.values]
            if any(named):
                return next(name for name in named if name)
        elif isinstance(value, ast.Constant) and isinstance(value.value, str):
            if value.value in _SPREAD or value.value == "cuda" or value.value.startswith("cuda:"):
                return value.value
        elif isinstance(value, ast.Constant) and type(value.value) is int:
            return str(value.value)
        elif ctx.index.devices.flow.cuda_index(value) is not None or _is_current_gpu(ctx, value):
            return "cuda"
    return None


def _is_current_gpu(ctx: FileContext, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ctx.index.qualified_name(node.func) in _CURRENT


def _moved_later(ctx: FileContext, call: ast.Call, keyword: ast.keyword) -> FixBuilder | None:
    """The model loaded on the host and moved at once."""
    value = keyword.value
    if isinstance(value, ast.Dict) and len(value.values) != 1:
        return None  # parts on several devices
    others = {item.arg for item in call.keywords}
    if others & _QUANTIZED or "quantization_config" in others or "max_memory" in others:
        return None
    fix = ctx.fix(
        "Load on the host, then move to the XLA device",
        Applicability.UNSAFE,
        "The whole model must fit on one device.",
        Scope.STATEMENT,
    )
    fix.delete_argument(call, keyword)
    if not _has_trainer(ctx, call):
        fix.append(call, f".to({fix.device(call)})")
    return fix


def _has_trainer(ctx: FileContext, load: ast.Call) -> bool:
    """Whether Accelerate, or a trainer that is made behind the load or in another function, moves the model itself."""
    names = {name.rpartition(".")[2] for _, name in ctx.index.references("transformers", "trl", "accelerate")}
    if any(name.endswith("Accelerator") for name in names):
        return True
    if not any(name.endswith("Trainer") for name in names):
        return False
    made = [call for call in ctx.index.calls if last_name(call.func).endswith("Trainer")]
    function, start = ctx.index.function_of(load), ctx.index.tree.start(load)
    elsewhere = any(ctx.index.function_of(call) is not function for call in made)
    return not made or elsewhere or any(ctx.index.tree.start(call) > start for call in made)


def _default_attention(ctx: FileContext, call: ast.Call, keyword: ast.keyword) -> FixBuilder:
    fix = ctx.fix(
        "Use the default attention",
        Applicability.UNSAFE,
        "It computes the same attention with operations of torch, and rounds differently.",
        Scope.STATEMENT,
    )
    fix.delete_argument(call, keyword)
    return fix


def _is_true(ctx: FileContext, node: ast.expr) -> bool:
    """``True``, or a variable that nobody gives anything else."""
    found = origins(ctx.index, node)
    return bool(found) and all(is_true(one.node) for one in found)
