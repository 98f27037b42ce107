"""Tensors that become NumPy arrays, which know float16 and no bfloat16."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.semantic import Binding, FunctionNode, Kind, SemanticIndex
from tpulint.semantic.cuda.mixed_precision import Autocast
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.syntax.variables import last_name
from tpulint_rules.precision._problems import is_off

_ARRAYS = ("numpy.asarray", "numpy.array", "numpy.ascontiguousarray")
_PASSING = frozenset({"cpu", "detach", "contiguous", "clone", "resolve_conj", "resolve_neg"})
"""Methods between a tensor and its array that leave the dtype alone."""
_KEEPING = _PASSING | frozenset({
    "abs", "add", "amax", "amin", "bfloat16", "chunk", "clamp", "cos", "div", "exp", "expand", "flatten", "flip",
    "half", "index_select", "log", "log_softmax", "matmul", "mean", "mul", "norm", "permute", "pow", "prod", "relu",
    "repeat", "reshape", "select", "sigmoid", "sin", "softmax", "split", "sqrt", "squeeze", "std", "stack", "sub",
    "sum", "t", "tanh", "to", "transpose", "unbind", "unflatten", "unsqueeze", "var", "view", "cat", "concat",
    "normalize", "interpolate", "gelu", "logsigmoid", "cosine_similarity", "minimum", "maximum", "where", "square",
    "max", "min", "topk", "sort", "median", "mode", "kthvalue", "cummax",
})  # fmt: skip
"""Functions and methods whose result (of several, the first) has the dtype of what they are given."""
_WITH_INDICES = frozenset({"max", "min", "topk", "sort", "median", "mode", "kthvalue", "cummax"})
_OTHER = frozenset({
    "argmax", "argmin", "argsort", "bincount", "bool", "byte", "count_nonzero", "decode", "double", "eq", "float", "ge",
    "generate", "gt", "int", "isfinite", "isinf", "isnan", "item", "le", "logical_and", "logical_not", "logical_or",
    "long", "lt", "multinomial", "ne", "nonzero", "numel", "numpy", "randint", "sample", "size", "tolist",
})  # fmt: skip
"""Functions and methods that return no bfloat16, whatever they are given."""
_PASSES_OF_MODULES = frozenset({
    "forward", "forward_features", "encode", "encode_image", "encode_text", "extract_features", "get_image_features",
    "get_text_features",
})  # fmt: skip
"""Methods by which modules of others give features."""
_DEPTH = 8


def goes_to_numpy(ctx: FileContext, node: ast.expr) -> bool:
    """Whether a tensor becomes an array as it is: ``node.cpu().numpy()``, ``np.asarray(node)``."""
    parent = ctx.index.parent(node)
    while isinstance(parent, ast.Attribute) and isinstance(call := ctx.index.parent(parent), ast.Call):
        if call.func is parent and parent.attr == "numpy":
            return True
        if call.func is not parent or not _passes(call):
            return False
        node, parent = call, ctx.index.parent(call)
    return isinstance(parent, ast.Call) and parent.args[:1] == [node] and _is_array(ctx.index, parent)


def read_in_float32(ctx: FileContext, fix: FixBuilder, autocasts: list[Autocast]) -> None:
    """Write ``.float()`` in front of what makes an array of a value that these autocast contexts compute."""
    values = _ShortValues(ctx.index, autocasts)
    if not values.blocks:
        return
    for tensor in dict.fromkeys(_read(ctx.index)):
        if values.is_computed(tensor) and not fix.covers(ctx.index.span(tensor)):
            write_float(ctx, fix, tensor)


def results_read(ctx: FileContext, *, cast_here: bool) -> list[ast.expr] | None:
    """What modules give that arrays are made of, where such modules change to bfloat16; None where not all is seen.

    So where a function makes the array of what it is given, ``array_of(model(x))``, of labels as well, and where one
    file casts the module and another makes the array: both have to be of one format.
    """
    found = _results(ctx.index)
    if found is None or (not cast_here and not found):
        return found
    imported = ctx.index.imported
    beside = (file for files in (imported.files(anywhere=True), imported.importers()) for file in files)
    return None if any(map(_may_read_results if cast_here else _casts_module, beside)) else found


def _is_of_another_library(index: SemanticIndex, tensor: ast.expr) -> bool:
    """``x if isinstance(x, np.ndarray) else x.numpy()``: what has a ``numpy`` may have no ``float``."""
    name = index.text(tensor)
    tests = (item.test for item in index.tree.ancestors(tensor) if isinstance(item, ast.If | ast.IfExp))
    return any(f"isinstance({name}," in index.text(test) for test in tests)


def _casts_module(index: SemanticIndex) -> bool:
    return any(index.kind(receiver) is Kind.MODULE for _, receiver in index.method_calls("half"))


def _may_read_results(index: SemanticIndex) -> bool:
    return _results(index) != []


def _results(index: SemanticIndex) -> list[ast.expr] | None:
    """What modules give that a file makes arrays of; None where a function of it may be given it."""
    values = _ShortValues(index, [], of_modules=True)
    read = [tensor for tensor in dict.fromkeys(_read(index)) if not _is_of_another_library(index, tensor)]
    return None if any(map(values.may_be_given, read)) else [tensor for tensor in read if values.is_computed(tensor)]


def write_float(ctx: FileContext, fix: FixBuilder, tensor: ast.expr) -> None:
    """Write ``.float()`` behind a tensor."""
    parent = ctx.index.parent(tensor)
    if isinstance(parent, ast.Attribute):  # behind parentheses, which are not part of what they hold
        name = ctx.index.span(parent).end - len(parent.attr)
        fix.insert(ctx.source.text.rfind(".", 0, name), ".float()")
    else:
        fix.append(tensor, ".float()")


def read_as_arrays(ctx: FileContext, autocasts: list[Autocast]) -> Iterator[tuple[ast.expr, bool]]:
    """Tensors in bfloat16 that become arrays: cast to it, or computed under these autocast contexts.

    With each, whether that is certain, because the cast stands beside it.
    """
    values = _ShortValues(ctx.index, autocasts, casts=True)
    for tensor in dict.fromkeys(_read(ctx.index)):
        if values.is_computed(tensor):
            yield tensor, values.is_cast_beside(tensor)


def _read(index: SemanticIndex) -> Iterator[ast.expr]:
    """Tensors that become arrays, without the move to the host."""
    for call, receiver in index.method_calls("numpy"):
        if not call.args:
            yield _moved(receiver)
    for call in index.calls:
        if call.args and _is_array(index, call) and isinstance(call.args[0], ast.Call) and _passes(call.args[0]):
            yield _moved(call.args[0])


def _moved(node: ast.expr) -> ast.expr:
    """What a chain moves to the host: ``x`` of ``x.cpu()`` and ``x.to("cpu")``."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr not in ("cpu", "to") or not _passes(node):
            break
        node = node.func.value
    return node


def _passes(call: ast.Call) -> bool:
    """Whether a call is one of a tensor's methods that leave the dtype alone."""
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr == "to":
        given = call.args[0] if len(call.args) == 1 and not call.keywords else None
        return isinstance(given, ast.Constant) and given.value == "cpu"
    return call.func.attr in _PASSING


def _is_array(index: SemanticIndex, call: ast.Call) -> bool:
    return index.qualified_name(call.func) in _ARRAYS


class _ShortValues:
    """Values that are in the dtype of autocast, or of modules."""

    def __init__(
        self, index: SemanticIndex, autocasts: list[Autocast], *, casts: bool = False, of_modules: bool = False
    ) -> None:
        self._index = index
        self._casts = casts
        self._of_modules = of_modules
        self._calls = {autocast.call for autocast in autocasts if not is_off(autocast.call)}
        self.blocks: list[ast.AST] = []
        """``with`` statements and decorated functions."""
        for call in self._calls:
            statement = index.statement_of(call)
            if isinstance(statement, ast.With | ast.AsyncWith | ast.FunctionDef | ast.AsyncFunctionDef):
                self.blocks.append(statement)
            elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                for name in index.tree.names_called(statement.targets[0].id):
                    if isinstance(index.parent(name), ast.withitem):
                        self.blocks.append(index.statement_of(name))

    def is_computed(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a value may have the dtype of autocast."""
        if depth > _DEPTH:
            return False
        if isinstance(node, ast.Name):
            return any(self._is_bound(binding, depth) for binding in self._index.flow.reaching(node))
        if isinstance(node, ast.Call):
            return self._is_result(node, depth)
        if isinstance(node, ast.Attribute):
            if node.attr in ("shape", "indices", "dtype", "device", "ndim"):
                return False
            return self.is_computed(node.value, depth + 1)
        if isinstance(node, ast.Subscript):
            chosen = node.slice.value if isinstance(node.slice, ast.Constant) else 0
            return not (chosen and _gives_indices(node.value)) and self.is_computed(node.value, depth + 1)
        if isinstance(node, ast.BinOp):
            return self.is_computed(node.left, depth + 1) or self.is_computed(node.right, depth + 1)
        if isinstance(node, ast.UnaryOp):
            return not isinstance(node.op, ast.Not) and self.is_computed(node.operand, depth + 1)
        if isinstance(node, ast.IfExp):
            return self.is_computed(node.body, depth + 1) or self.is_computed(node.orelse, depth + 1)
        if isinstance(node, ast.ListComp):
            return self.is_computed(node.elt, depth + 1)
        if isinstance(node, ast.List | ast.Tuple):
            return any(self.is_computed(item, depth + 1) for item in node.elts)
        return False

    def _is_bound(self, binding: Binding, depth: int) -> bool:
        if binding.value is None or binding.kind not in ("assign", "augment", "loop"):
            return False
        if binding.path and binding.path[0] and _gives_indices(binding.value):
            return False
        value = binding.value
        for at in binding.path:  # outputs, labels = [], []
            if not isinstance(value, ast.List | ast.Tuple) or not 0 <= at < len(value.elts):
                break
            value = value.elts[at]
        return self.is_computed(value, depth + 1) or (isinstance(value, ast.List) and self._is_filled(binding, depth))

    def _is_filled(self, binding: Binding, depth: int) -> bool:
        """Whether a list gets such values: ``outputs.append(output)``."""
        function = self._index.function_of(binding.node)
        given = [
            call.args[0]
            for call, receiver in self._index.method_calls("append", "extend")
            if isinstance(receiver, ast.Name) and receiver.id == binding.name and call.args
            if self._index.function_of(call) is function
        ]
        return any(self.is_computed(item, depth + 1) for item in given)

    def _is_result(self, call: ast.Call, depth: int) -> bool:
        name = last_name(call.func)
        if self._casts and self._is_cast(call, name):
            return True
        if name in _OTHER or any(item.arg == "dtype" for item in call.keywords):
            return False
        if self._of_modules and self._runs_module(call):
            return True
        function = self._index.definitions.function_called(call)
        if function is not None and self._returns(function, depth):
            return True
        qualified = self._index.qualified_name(call.func)
        named = ((self._index.qualified_name(item) or "").startswith("torch.") for item in call.args)
        if name in ("to", "view", "type") and any(named):
            return False  # another dtype, or the same bits read as one: `x.view(torch.int16)`
        if name in _KEEPING:
            given = call.args if qualified is not None else call.args[:1] if name in ("where", "matmul") else []
            receiver = [call.func.value] if isinstance(call.func, ast.Attribute) and qualified is None else []
            return any(self.is_computed(item, depth + 1) for item in (*receiver, *given))
        if qualified is not None and qualified.startswith("torch.") and not qualified.startswith("torch.nn."):
            return False
        return qualified is None or qualified.startswith("torch.") if self._is_inside(call) else False

    def is_cast_beside(self, node: ast.expr) -> bool:
        """Whether a chain of methods begins its way to the array with a cast: ``x.bfloat16().detach()``."""
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if self._is_cast(node, node.func.attr):
                return True
            if node.func.attr not in _PASSING:
                return False
            node = node.func.value
        return False

    def _is_cast(self, call: ast.Call, name: str) -> bool:
        """Whether a call is ``x.bfloat16()`` or ``x.to(torch.bfloat16)``."""
        if not isinstance(call.func, ast.Attribute) or self._index.qualified_name(call.func) is not None:
            return False
        given = values_given(call)
        named = any(self._index.qualified_name(item) == "torch.bfloat16" for item in given)
        return name == "bfloat16" or (name in ("to", "type") and named)

    def _returns(self, function: FunctionNode, depth: int) -> bool:
        """Whether a function of this file returns such a value."""
        returned = [
            node.value
            for node in self._index.tree.inside(function, functions=False)
            if isinstance(node, ast.Return) and node.value is not None
        ]
        return any(not isinstance(value, ast.Tuple) and self.is_computed(value, depth + 1) for value in returned)

    def may_be_given(self, tensor: ast.expr) -> bool:
        """Whether calls of this file give such a value for a parameter that is, or begins, what becomes an array."""
        index, node = self._index, tensor
        while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
            node = node.func if isinstance(node, ast.Call) else node.value
        function = index.function_of(node)
        if not isinstance(node, ast.Name) or function is None:
            return False
        if all(binding.kind != "parameter" for binding in index.flow.reaching(node)):
            return False
        return any(self.is_computed(given) for given in index.definitions.arguments.of(function, node.id))

    def _runs_module(self, call: ast.Call) -> bool:
        """``model(x)``, ``self.model(x)`` and ``model.encode(x)``."""
        func, index = call.func, self._index
        if isinstance(func, ast.Attribute) and func.attr in _PASSES_OF_MODULES:
            func = func.value
        return index.kind(func) is Kind.MODULE

    def _is_inside(self, node: ast.AST) -> bool:
        return any(self._index.tree.encloses(block, node) for block in self.blocks)


def _gives_indices(node: ast.expr) -> bool:
    """Whether what follows the first result of a call are indices: ``values, indices = x.max(1)``."""
    name = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    return name in _WITH_INDICES
