"""Single numbers on the device: their shape and dtype, and what can be computed with them where they are."""

from __future__ import annotations

import ast

from tpulint.semantic.graphs.losses import Losses, may_have_dimension, reduces
from tpulint.semantic.project.other_files import Definition, methods, returned
from tpulint.semantic.reads.reads import How, Read
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.values.contents import key_of
from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 8
_GRADIENT_OF_THEIR_TENSOR = frozenset({"clone", "reshape", "squeeze", "float", "double", "sum", "mean"})
"""Methods whose result has a gradient only if the tensor they are called on has one; integers have none."""
MATH_OF_TORCH = frozenset(
    f"{module}.{name}"
    for module in ("math", "numpy")
    for name in ("exp", "log", "log10", "log2", "log1p", "expm1", "sqrt")
)
"""Functions of one number that torch has by the same name."""
_OF_EACH_ELEMENT = frozenset(
    f"torch.{name}" for name in ("exp", "log", "log10", "log2", "sqrt", "rsqrt", "abs", "square")
)


class Scalars:
    """Questions about expressions; what is not known is answered with no."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self.losses = Losses(index)

    def is_number(self, read: Read) -> bool:
        """Whether a read gives one number that the tensor itself can stand in for."""
        if not read.scalar:
            return self._is_list_of_none(read)
        if read.how is How.CAST and isinstance(read.node, ast.Call):
            name = self._index.qualified_name(read.node.func)
            if name == "builtins.int":
                return self._index.number_types.is_integer(read.tensor)
            return name == "builtins.float"
        return True

    def _is_list_of_none(self, read: Read) -> bool:
        """``loss.tolist()``: of a tensor without dimensions that is the number itself."""
        func = read.node.func if isinstance(read.node, ast.Call) else None
        return isinstance(func, ast.Attribute) and func.attr == "tolist" and self.is_scalar(read.tensor)

    def is_arithmetic(self, node: ast.expr, reads: set[ast.expr]) -> bool:
        """Whether an expression is sums, products, quotients and the like of these reads and of host values."""
        if node in reads:
            return True
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.Pow):
                return self.is_arithmetic(node.left, reads) and isinstance(node.right, ast.Constant)
            plain = isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div)
            return plain and self.is_arithmetic(node.left, reads) and self.is_arithmetic(node.right, reads)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self.is_arithmetic(node.operand, reads)
        if isinstance(node, ast.Call) and self._index.qualified_name(node.func) in MATH_OF_TORCH:
            return len(node.args) == 1 and not node.keywords and self.is_arithmetic(node.args[0], reads)
        # An array times a tensor of the device is an error, and more than one number.
        return self._index.kind(node) is not Kind.NUMPY and not self._index.reads.inside(node)

    def is_pure(self, call: ast.Call) -> bool:
        """Whether a call only computes a tensor of tensors, and may do so earlier."""
        name = self._index.qualified_name(call.func)
        if name is not None:
            return name.startswith("torch.") and name.removeprefix("torch.") in facts.TENSOR_METHODS
        if not isinstance(call.func, ast.Attribute):
            return False
        pure = call.func.attr in facts.TENSOR_METHODS and not call.func.attr.endswith("_")
        return pure and self._index.kind(call.func.value) is Kind.TENSOR

    # ---------------------------------------------------------------- gradient

    def is_detached(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a tensor is known to be no part of a gradient."""
        index = self._index
        if depth > _DEPTH:
            return False
        if isinstance(node, ast.Attribute):
            return node.attr == "data"
        if isinstance(node, ast.Name):
            bindings = index.flow.reaching(node)
            return bool(bindings) and all(
                b.kind == "assign" and not b.path and b.value is not None and self.is_detached(b.value, depth + 1)
                for b in bindings
            )
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr == "detach":
                return True
            if isinstance(node.func, ast.Attribute) and node.func.attr in _GRADIENT_OF_THEIR_TENSOR:
                inner = node.func.value
                return index.number_types.is_integer(inner) or self.is_detached(inner, depth + 1)
            function = index.definitions.function_called(node)
            returned = [] if function is None else index.definitions.returned_by(function)
            return bool(returned) and all(self.is_detached(value, depth + 1) for value in returned)
        return False

    # ---------------------------------------------------------------- change

    def may_change(self, tensor: ast.expr) -> bool:
        """Whether a tensor may be changed in place later in the turn: ``loss /= 4``, an updated parameter."""
        index, root = self._index, tensor
        while isinstance(root, ast.Attribute | ast.Subscript) or _is_alias(root):
            if isinstance(root, ast.Attribute) and any(
                self._is_parameter(b) for b in index.flow.reaching_attribute(root)
            ):
                return True
            assert isinstance(root, ast.Attribute | ast.Subscript | ast.Call)
            root = root.func if isinstance(root, ast.Call) else root.value
        if not isinstance(root, ast.Name):
            return False  # computed here
        begin = index.span(root).start
        for binding in index.names.bindings(root):
            if binding.kind == "augment" and index.span(binding.node).start > begin:
                return True
        for call, receiver in index.method_calls(*facts.IN_PLACE_METHODS):
            if isinstance(receiver, ast.Name) and receiver.id == root.id and index.span(call).start > begin:
                return True
        # What lives longer than the turn, such as a parameter, may be changed by anybody.
        holder = index.tree.loop_of(root)
        lives_longer = holder is not None and any(
            binding.kind == "assign" and not index.tree.encloses(holder, binding.node)
            for binding in index.flow.reaching(root)
        )
        return lives_longer or index.shared_tensors.is_changed_behind(tensor)

    def _is_parameter(self, binding: Binding) -> bool:
        value = binding.value
        made = self._index.qualified_name(value.func) if isinstance(value, ast.Call) else None
        return binding.kind == "augment" or made == "torch.nn.Parameter"

    # ---------------------------------------------------------------- shape

    def has_one_element(self, node: ast.expr) -> bool:
        """Whether a tensor is known to hold a single number, with dimensions or without."""
        return (isinstance(node, ast.Name) and self.losses.is_loss(node)) or self.is_scalar(node)

    def is_scalar(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a tensor is known to have no dimensions: a loss, a mean, a sum."""
        index = self._index
        if depth > _DEPTH:
            return False
        if isinstance(node, ast.Name):
            if self.losses.is_loss(node) and not may_have_dimension(index, node):
                return True
            return self._are_scalar(index.flow.reaching(node), depth)
        if isinstance(node, ast.Subscript):
            elements = index.kinds.contents.of(node.value, key_of(node))
            return bool(elements) and all(self.is_scalar(item, depth + 1) for item in elements)
        if isinstance(node, ast.BinOp):
            sides = (node.left, node.right)
            return all(
                self.is_scalar(side, depth + 1) or _is_size(side) or index.kind(side) is Kind.HOST for side in sides
            )
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.USub) and self.is_scalar(node.operand, depth + 1)
        if isinstance(node, ast.Attribute):
            return node.attr == "data" and self.is_scalar(node.value, depth + 1)
        return isinstance(node, ast.Call) and self._gives_scalar(node, depth)

    def _are_scalar(self, bindings: tuple[Binding, ...], depth: int) -> bool:
        """Whether all of these give a single number, one of them of the device: ``total = 0.0``, ``total += loss``."""
        values: list[ast.expr] = []
        is_returned = False
        for binding in bindings:
            if binding.value is None or binding.kind not in ("assign", "augment") or len(binding.path) > 1:
                return False
            if binding.path:
                elements = self._index.kinds.contents.of(binding.value, binding.path[0])
                if not elements:
                    is_returned = self._returns_scalar(binding.value, binding.path[0], depth)
                    if not is_returned:
                        return False
                values += elements
            else:
                values.append(binding.value)
        number = [isinstance(value, ast.Constant) for value in values]
        return (is_returned or not all(number)) and all(
            is_number or self.is_scalar(value, depth + 1) for value, is_number in zip(values, number, strict=True)
        )

    def _returns_scalar(self, call: ast.expr, at: int | None, depth: int) -> bool:
        """Whether what runs in a call is known, and returns a single number, at a place of a tuple or by itself.

        That is a function of another file, or the forward pass of a module.
        """
        index = self._index
        if not isinstance(call, ast.Call) or depth > _DEPTH:
            return False
        found = index.imported.all_called(call) or methods(index.imported.classes_of(call.func), "forward")
        if not found and isinstance(call.func, ast.Name | ast.Attribute):
            owners = index.definitions.classes.of_variable(call.func)
            found = methods(tuple(Definition(index, owner) for owner in owners), "forward")
        results = [(function.file, value) for function in found for value in returned(function) or (None,)]
        return bool(results) and all(
            value is not None and self._is_scalar_at(file, value, at, depth) for file, value in results
        )

    def _is_scalar_at(self, file: SemanticIndex, value: ast.expr, at: int | None, depth: int) -> bool:
        """Whether an expression of a file, or the element at a place of it, is a single number."""
        if at is None:
            return file.scalars.is_scalar(value, depth + 1)
        parts = value.elts if isinstance(value, ast.Tuple) else []
        return 0 <= at < len(parts) and file.scalars.is_scalar(parts[at], depth + 1)

    def _gives_scalar(self, call: ast.Call, depth: int) -> bool:
        name = self._index.qualified_name(call.func) or ""
        whole = not any(k.arg in ("dim", "axis", "keepdim") for k in call.keywords)
        if name.startswith("torch.nn.functional."):
            return reduces(call) and ("loss" in name or name.endswith(("entropy", "kl_div", "_with_logits")))
        if name in ("torch.mean", "torch.sum", "torch.norm"):
            return whole and len(call.args) == 1
        if name in _OF_EACH_ELEMENT:
            return len(call.args) == 1 and self.is_scalar(call.args[0], depth + 1)
        if not name and isinstance(call.func, ast.Attribute):
            if call.func.attr in ("mean", "sum", "norm"):
                over = call.args[0].value if len(call.args) == 1 and isinstance(call.args[0], ast.Constant) else None
                return whole and (not call.args or (over in (0, -1) and _is_flat(call.func.value)))
            if call.func.attr in ("detach", "float", "clone", "item", "mul", "mul_", "div", "div_"):
                return self.is_scalar(call.func.value, depth + 1)
        function = self._index.definitions.function_called(call)
        returned = [] if function is None else self._index.definitions.returned_by(function)
        if returned:
            return all(self.is_scalar(value, depth + 1) for value in returned)
        if name == "torch.nn.utils.clip_grad_norm_" or self.losses.is_module(call.func):
            return True
        return not name and self._returns_scalar(call, None, depth)


def _is_size(node: ast.expr) -> bool:
    """``x.shape[0]``, ``x.size(0)``, ``x.numel()``: a number of Python, whatever the tensor is."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Attribute) and node.value.attr == "shape" and _is_place(node.slice)
    method = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    return isinstance(node, ast.Call) and (method == "numel" or (method == "size" and len(node.args) == 1))


def _is_place(node: ast.expr) -> bool:
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


def _is_flat(node: ast.expr) -> bool:
    """Whether a tensor has one dimension: ``correct.view(-1).float()``."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        arguments = [argument.operand.value for argument in node.args if isinstance(argument, ast.UnaryOp)
                     and isinstance(argument.operand, ast.Constant)]  # fmt: skip
        if node.func.attr in ("view", "reshape"):
            return len(node.args) == 1 and arguments == [1]
        if node.func.attr == "flatten":
            return not node.args
        if node.func.attr not in ("float", "double", "int", "long"):
            return False
        node = node.func.value
    return False


def _is_alias(node: ast.expr) -> bool:
    """Whether a call only gives another view of a tensor."""
    views = ("detach", "view", "reshape", "squeeze", "unsqueeze", "flatten")
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in views
