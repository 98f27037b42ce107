"""Uses of a name that are right as they stand, whatever a mapping table says of the name."""

from __future__ import annotations

import ast
import re

from tpulint.semantic.cuda.torch_versions import is_for_older_torch
from tpulint.semantic.syntax.nodes import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.context import FileContext

ACCELERATORS = ("torch.cuda.", "torch.accelerator.")
"""Beginnings of the names of what asks or drives a GPU."""
_SHARED_OUT = "torch.nn.parallel."
"""Beginning of the names of what shares a batch out among GPUs."""
_NEWER = r"(?i)xla\w*(?:greater|ge|newer|at_least)|xla.*version.*>|greater\w*\(.*xla"
_SEEDS = ("torch.cuda.manual_seed", "torch.cuda.manual_seed_all")
_BACKENDS = frozenset({"cpu", "cuda", "mps", "xpu", "npu", "hpu", "xla", "tpu"})


def is_annotation(ctx: FileContext, node: ast.expr) -> bool:
    """Whether a name only tells the type of a variable, a parameter or what a function returns."""
    child: ast.AST = node
    while not isinstance(child, ast.stmt):
        parent = ctx.index.parent(child)
        if parent is None or isinstance(parent, ast.arg):
            return parent is not None
        if isinstance(parent, ast.AnnAssign):
            return child is parent.annotation
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef) and child is parent.returns:
            return True
        child = parent
    return False


def is_asked_for(ctx: FileContext, node: ast.expr) -> bool:
    """Whether a class is only asked for, ``isinstance(strategy, FSDPStrategy)``: what is of no such class goes on."""
    held: ast.AST | None = node
    call = ctx.index.parent(node)
    if isinstance(call, ast.Tuple):
        held, call = call, ctx.index.parent(call)
    is_question = isinstance(call, ast.Call) and ctx.index.qualified_name(call.func) == "builtins.isinstance"
    return is_question and isinstance(call, ast.Call) and held in call.args[1:]


def runs_on_cuda_only(ctx: FileContext, node: ast.expr) -> bool:
    """Whether a name of CUDA's runtime stands where CUDA is known to be, or is an entry of a table of backends."""
    name = ctx.index.qualified_name(node) or ""
    if name.startswith(_SHARED_OUT):
        return ctx.index.devices.is_guarded(node) or _is_for_several(ctx, node)
    if not name.startswith(ACCELERATORS):
        return not name.startswith("torch") and (ctx.index.devices.is_guarded(node) or _asks_float16(ctx, node))
    if is_for_older_torch(ctx.index.tree, node):
        return True
    if name in _SEEDS and ctx.index.guards.knows_xla() and ctx.index.mentions(r"set_rng_state|torch_xla\.manual_seed"):
        return True  # XLA is seeded beside
    if ctx.index.callers.use_for_gpus(node) or _knows_tpu(ctx, node, name) or _only_raises(ctx, node, name):
        return True
    parent = ctx.index.parent(node)
    if isinstance(parent, ast.Dict) and node in parent.values:
        return sum(isinstance(key, ast.Constant) and key.value in _BACKENDS for key in parent.keys) > 1
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Subscript):
        key = parent.targets[0].slice  # TABLE["tpu"] = torch.accelerator.synchronize
        if isinstance(key, ast.Constant) and key.value != "xla" and key.value in _BACKENDS:
            return True
    return ctx.index.devices.is_guarded(node)


def _is_for_several(ctx: FileContext, node: ast.expr) -> bool:
    """Whether code runs for several devices alone: behind ``if len(device_ids) == 1: return model(x)``.

    A class derived from ``DataParallel`` calls its module alone where there are no GPUs.
    """
    owner = ctx.index.tree.class_of(node)
    bases = [] if owner is None else [ctx.index.qualified_name(base) or "" for base in owner.bases]
    if any(base.endswith(".DataParallel") for base in bases):
        return True
    child: ast.AST = node
    for ancestor in ctx.index.tree.ancestors(node):
        if isinstance(ancestor, ast.If | ast.IfExp) and child is not ancestor.test:
            is_other = child in ancestor.orelse if isinstance(ancestor, ast.If) else child is ancestor.orelse
            if (_asks_for_one if is_other else _asks_for_several)(ancestor.test):
                return True
        if isinstance(child, ast.stmt) and not isinstance(ancestor, ast.Module):
            suite = ctx.index.tree.suite_of(child)
            before = (item for item in suite[: suite.index(child)] if isinstance(item, ast.If))
            if any(_asks_for_one(item.test) and isinstance(item.body[-1], ast.Return) for item in before):
                return True
        if isinstance(ancestor, FUNCTIONS):
            return False
        child = ancestor
    return False


def _asks_for_one(test: ast.expr) -> bool:
    """``len(device_ids) == 1``, ``n_gpu <= 1``, ``not self.device_ids``"""
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq | ast.LtE | ast.Lt):
        most = test.comparators[0]
        return isinstance(most, ast.Constant) and most.value == (2 if isinstance(test.ops[0], ast.Lt) else 1)
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _asks_for_several(test: ast.expr) -> bool:
    """``len(device_ids) > 1``, alone or with more"""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(map(_asks_for_several, test.values))
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Gt):
        return False
    least = test.comparators[0]
    return isinstance(least, ast.Constant) and least.value == 1


def _asks_float16(ctx: FileContext, node: ast.expr) -> bool:
    """Whether a condition around the node asks if there is float16: ``if is_fp16_available():``."""
    tests = [item.test for item in ctx.index.tree.ancestors(node) if isinstance(item, ast.If)]
    return any(re.search(r"(?:fp|float)16_available", ctx.text(test)) for test in tests)


def _knows_tpu(ctx: FileContext, node: ast.expr, name: str) -> bool:
    """Whether a function that asks the accelerator has a way of its own for TPUs: ``device_type == "tpu"``."""
    function = ctx.index.function_of(node) if name.startswith("torch.accelerator.") else None
    return function is not None and re.search(r"""[=!]=\s*["']tpu["']""", ctx.text(function)) is not None


def _only_raises(ctx: FileContext, node: ast.expr, name: str) -> bool:
    """``if torch.cuda.is_initialized(): raise``: no is the right answer."""
    if name != "torch.cuda.is_initialized":
        return False
    condition: ast.AST = node
    while isinstance(parent := ctx.index.parent(condition), ast.Call | ast.BoolOp):
        condition = parent
    if isinstance(parent, ast.IfExp) and parent.test is condition:
        return "torch.cuda." in ctx.text(parent.body)
    return isinstance(parent, ast.If) and parent.test is condition and isinstance(parent.body[-1], ast.Raise)


def is_for_older_versions(ctx: FileContext, node: ast.expr) -> bool:
    """Whether a test for a newer version keeps the node for older ones: ``if _XLA_GREATER_EQUAL_2_1: return ...``."""
    tree = ctx.index.tree
    child: ast.AST = node
    for ancestor in tree.ancestors(node):
        if isinstance(ancestor, ast.If | ast.IfExp) and _asks_for_newer(ctx, ancestor.test):
            orelse = ancestor.orelse if isinstance(ancestor.orelse, list) else [ancestor.orelse]
            if child in orelse:
                return True
        if isinstance(child, ast.stmt) and not isinstance(ancestor, ast.Module):
            for before in tree.suite_of(child):
                if before is child:
                    break
                leaves = isinstance(before, ast.If) and isinstance(before.body[-1], ast.Return | ast.Raise)
                if leaves and isinstance(before, ast.If) and _asks_for_newer(ctx, before.test):
                    return True
        child = ancestor
    return False


def _asks_for_newer(ctx: FileContext, test: ast.expr) -> bool:
    return re.search(_NEWER, ctx.text(test)) is not None
