"""Code that is kept for CUDA on purpose: by the name of what holds it, or by a condition that nobody rewrites."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence, Set

from tpulint.model import Span
from tpulint.semantic.cuda.built_kernels import is_for_kernels
from tpulint.semantic.cuda.cuda_features import OTHER_BACKEND, OTHER_BACKENDS
from tpulint.semantic.cuda.guards import Guards
from tpulint.semantic.syntax.nodes import EXITS, FUNCTIONS, FunctionNode, is_super
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import is_configuration, last_name, says_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.cuda.cuda_features import CudaFeatures

_NAMED_QUESTION = r"(?i)(?:is_|has_)(?:.*_)?(?:cuda|gpu|nvidia)(?:_.*)?|.*(?:cuda|gpu)_(?:is_)?available"
_CUDA_CLASS = r"_?(?:CUDA|Cuda)[A-Z_]?|.*[a-z](?:CUDA|Cuda)\Z"
_GPU_COUNTS = frozenset({"n_gpus", "n_gpu", "num_gpus", "num_gpu", "ngpus", "gpu_count", "n_gpus_per_node"})
_PROVIDER = r"(?:CUDA|Cuda|Tensor[Rr][Tt])\w*Provider"
_OBJECT = "builtins.object"


class CudaBranches:
    """Spans of one file that never run on a TPU machine and are right as they are."""

    def __init__(self, index: SemanticIndex, features: CudaFeatures, rewritten: Set[ast.expr]) -> None:
        self._index = index
        self._tree = index.tree
        self._features = features
        self._rewritten = rewritten
        """Device sites: a condition that has one of them changes."""
        self._guards = Guards(index.tree, index.names, self._is_open)
        self.named = list(self._named())
        """Functions and classes that are CUDA's by their name, or by the kernels that they launch."""
        self._branches: tuple[list[Span], list[Span]] | None = None

    @property
    def guarded(self) -> list[Span]:
        """Branches that run on CUDA only."""
        return self._found()[0]

    @property
    def kept(self) -> list[Span]:
        """Those of them that are CUDA's part of code for several backends."""
        return self._found()[1]

    def _found(self) -> tuple[list[Span], list[Span]]:
        """Both sorts of branches, looked for when the first is asked for: most files have no device to be kept."""
        if self._branches is None:
            self._branches = ([], [])
            self._look()
        return self._branches

    def _look(self) -> None:
        index = self._index
        for node in self._tree.conditions:
            if isinstance(node, ast.BoolOp):
                self._look_at_operands(node)
            else:
                self._look_at(node)
            if isinstance(node, ast.If) and self._asks_parameter(node.test):
                self.kept.extend(self._tree.span(statement) for statement in node.body)
        for loop in self._tree.loops:
            if isinstance(loop, ast.For) and self._counts_gpus(loop.iter):
                turns = [self._tree.span(statement) for statement in loop.body]
                self.guarded.extend(turns)
                if not index.is_program:
                    self.kept.extend(turns)
        for comprehension in self._tree.list_comprehensions:
            if self._counts_gpus(comprehension.generators[0].iter):
                self.guarded.append(self._tree.span(comprehension.elt))

        self.guarded.extend(self._reached_through())

    def _asks_parameter(self, test: ast.expr) -> bool:
        """``if device == "cuda": device = f"cuda:{rank}"`` of what callers of a library give."""
        if self._index.is_program or not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
            return False
        asked, given = test.left, test.comparators[0]
        if not isinstance(given, ast.Constant) or given.value != "cuda" or not isinstance(asked, ast.Name):
            return False
        function = self._tree.function_of(asked)
        if function is None:
            return False
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        defaults = [*function.args.defaults, *function.args.kw_defaults]
        named = any(isinstance(item, ast.Constant) and str(item.value).startswith("cuda") for item in defaults)
        return not named and any(item.arg == asked.id for item in arguments)

    def _reached_through(self) -> Iterator[Span]:
        """Functions for this file alone, all calls of which stand where CUDA is."""
        for function in self._tree.functions if self.guarded else ():
            if function.name.startswith("_") and not function.name.startswith("__"):
                calls = [self._index.span(call) for call in self._index.definitions.calls_of(function)]
                if calls and all(any(o.start <= c.start and c.end <= o.end for o in self.guarded) for c in calls):
                    yield self._tree.span(function)

    # ---------------------------------------------------------------- names

    def _named(self) -> Iterator[Span]:
        for owner in self._tree.classes:
            bases = [self._index.qualified_name(base) or "" for base in owner.bases]
            is_named = "cuda" in owner.name.lower() and re.match(_CUDA_CLASS, owner.name)
            # One that is derived from nothing, and asks the CUDA driver nothing, may be what moves the batches.
            is_plain = bases == [_OBJECT] and "torch.cuda." not in self._tree.text(owner)
            is_own = bool(bases) and not is_plain and not any(base.startswith("torch.") for base in bases)
            is_for_gpus = self._features.is_wrapper_for_gpus(owner) or is_for_kernels(self._index, owner)
            if (is_named and is_own) or is_for_gpus:
                yield self._tree.span(owner)
        for function in self._tree.functions:
            # the method that torch's own `cuda()` is
            holder = self._tree.class_of(function) if function.name == "cuda" else None
            if holder is not None and not self._is_only_move(function, holder):
                yield self._tree.span(function)

    def _is_only_move(self, function: FunctionNode, owner: ast.ClassDef) -> bool:
        """Whether a method ``cuda``, told of no device, is the one way to move objects of a class: to any device."""
        is_plain = not any(self._index.qualified_name(base) != _OBJECT for base in owner.bases)
        others = [item for item in owner.body if isinstance(item, FUNCTIONS) and item.name in ("to", "xla", "apply")]
        is_told_nothing = len(function.args.args) == 1 and not others
        return is_told_nothing and (is_plain or self._moves_parts_alone(function))

    def _moves_parts_alone(self, function: FunctionNode) -> bool:
        """``self.model = self.model.cuda()`` in a module's own ``cuda``, in place of what torch's would do."""
        moves = [
            item.value
            for item in self._tree.attributes_called("cuda")
            if self._tree.function_of(item) is function and _is_called(self._tree, item)
        ]
        return bool(moves) and not any(map(is_super, moves))

    # ---------------------------------------------------------------- conditions

    def _is_open(self, test: ast.expr) -> bool:
        if isinstance(test, ast.BoolOp | ast.Name):
            return False  # their parts are looked at
        if isinstance(test, ast.Attribute):
            # `x.is_cuda` where something is put beside x
            return self._features.placement.is_decided_by(test) and not self._features.guards_cuda_only(test)
        if isinstance(test, ast.Call) and not (self._index.qualified_name(test.func) or "").startswith("torch."):
            # A question of another module is answered there; one of this file has its sites here.
            func = test.func
            starts = isinstance(func, ast.Attribute) and func.attr == "startswith"
            known = self._index.definitions.function_called(test) is not None
            if not starts and (known or not (self._features.serves_several or self._is_named_elsewhere(func))):
                return True
        return any(node in self._rewritten for node in (test, *self._tree.inside(test)))

    def _is_named_elsewhere(self, func: ast.expr) -> bool:
        """``is_torch_cuda_available`` of another module, which says by its name what it answers."""
        if not isinstance(func, ast.Name):
            return is_named_question((self._index.qualified_name(func) or "").rpartition(".")[2])
        bindings = self._index.names.bindings(func)
        return is_named_question(func.id) and bool(bindings) and all(item.kind == "import" for item in bindings)

    def _asks(self, test: ast.expr) -> bool:
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):  # `is_cuda_available() or is_mps_available()`
            others = [value for value in test.values if not names_other_backend(self._tree.text(value))]
            return bool(others) and all(map(self._asks, others))
        return self._guards.asks_cuda(test) or self._asks_by_class(test) or self._asks_product(test)

    def _asks_product(self, test: ast.expr) -> bool:
        """``provider in ("CUDAExecutionProvider", "TensorrtExecutionProvider")``"""
        if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq | ast.In):
            return False
        sides = [part for side in (test.left, *test.comparators) for part in getattr(side, "elts", [side])]
        texts = [side.value for side in sides if isinstance(side, ast.Constant) and isinstance(side.value, str)]
        return bool(texts) and all("Provider" in text and re.match(_PROVIDER, text) for text in texts)

    def _asks_by_class(self, test: ast.expr) -> bool:
        """``CUDAAccelerator.is_available()``"""
        func = test.func if isinstance(test, ast.Call) else None
        if isinstance(func, ast.Attribute) and func.attr == "is_available" and isinstance(func.value, ast.Name):
            return re.match(_CUDA_CLASS, func.value.id) is not None
        return False

    def _asks_not(self, test: ast.expr) -> bool:
        """Whether the test holds wherever CUDA is not."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._asks(test.operand)
        if isinstance(test, ast.BoolOp):
            asked = [self._asks_not(value) for value in test.values]
            return any(asked) if isinstance(test.op, ast.Or) else all(asked)
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.NotEq | ast.NotIn):
            turned: ast.cmpop = ast.Eq() if isinstance(test.ops[0], ast.NotEq) else ast.In()
            if self._is_open(test):
                return False
            return self._guards.asks_cuda(ast.Compare(test.left, [turned], test.comparators))
        return False

    def _is_chosen_by_option(self, node: ast.If | ast.IfExp) -> bool:
        """``if args.use_gpu and args.gpu_type == "cuda": device = torch.device("cuda:0")``: an option of the program.

        Its other values choose devices, too. What it is called in the program stays; the device is another.
        """
        if self._features.serves_several or not isinstance(node, ast.If) or not node.orelse:
            return False
        given = [item.value for item in node.body if isinstance(item, ast.Assign | ast.Return)]
        calls = [value for value in given if isinstance(value, ast.Call)]
        if not any(self._index.qualified_name(call.func) == "torch.device" for call in calls):
            return False
        tests = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
        return any(map(_asks_option, tests))

    def _look_at(self, node: ast.If | ast.IfExp) -> None:
        if self._is_chosen_by_option(node):
            return
        body: Sequence[ast.AST] = node.body if isinstance(node, ast.If) else [node.body]
        orelse: Sequence[ast.AST] = node.orelse if isinstance(node, ast.If) else [node.orelse]
        branches: Sequence[ast.AST] = ()
        if self._asks(node.test):
            branches = body
        elif self._asks_not(node.test):
            branches = orelse
            if isinstance(node, ast.If) and not orelse and isinstance(node.body[-1], EXITS):
                suite = self._tree.suite_of(node)
                branches = suite[suite.index(node) + 1 :]
        self._keep([self._tree.span(branch) for branch in branches], node.test)

    def _look_at_operands(self, node: ast.BoolOp) -> None:
        asks = self._asks if isinstance(node.op, ast.And) else self._asks_not
        for number, operand in enumerate(node.values[:-1]):
            if asks(operand):
                self._keep([self._tree.span(later) for later in node.values[number + 1 :]], operand)
                return

    def _counts_gpus(self, turns: ast.expr) -> bool:
        """``for i in range(torch.cuda.device_count())``: no turn without GPUs"""
        if not isinstance(turns, ast.Call) or len(turns.args) != 1 or turns.args[0] in self._rewritten:
            return False
        if isinstance(turns.args[0], ast.Name | ast.Attribute):  # `for i in range(n_gpus)`, where callers count them
            return last_name(turns.args[0]) in _GPU_COUNTS and not self._index.is_program
        counted = turns.args[0].func if isinstance(turns.args[0], ast.Call) else turns
        return self._index.qualified_name(counted) == "torch.cuda.device_count"

    def _keep(self, spans: list[Span], test: ast.expr) -> None:
        self.guarded.extend(spans)
        # In a file of definitions callers answer what stays, but for a question that another module answers.
        asks_torch = not isinstance(test, ast.Call) or (self._index.qualified_name(test.func) or "").startswith(
            "torch."
        )
        answered = (asks_torch and not self._index.is_program) or self._features.mentions.asks_cuda_only(test)
        if self._features.serves_several or answered or self._asks_by_class(test) or _asks_device_object(test):
            self.kept.extend(spans)


def _is_called(tree: SyntaxTree, attribute: ast.Attribute) -> bool:
    call = tree.parents[attribute]
    return isinstance(call, ast.Call) and call.func is attribute


def _asks_device_object(test: ast.expr) -> bool:
    """``device.type == "cuda" and device.index is None``: where that holds, there is a device already."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(_asks_device_object(value) for value in test.values)
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Attribute) and test.left.attr == "type"


def _asks_option(test: ast.expr) -> bool:
    """``args.gpu_type == "cuda"``; an option that is a device changes with its name."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return False
    option, value = test.left, test.comparators[0]
    return (
        isinstance(option, ast.Attribute)
        and is_configuration(last_name(option.value))
        and not says_device(option.attr)
        and isinstance(value, ast.Constant)
        and value.value == "cuda"
    )


def is_named_question(name: str) -> bool:
    """Whether a function asks for a GPU by its name, so that yes would be a lie elsewhere: ``is_cuda_available``."""
    return re.fullmatch(_NAMED_QUESTION, name) is not None


def names_other_backend(text: str) -> bool:
    """Whether a condition asks for a backend other than CUDA, the CPU and XLA."""
    may_name = any(backend in text for backend in OTHER_BACKENDS)
    return may_name and re.search(OTHER_BACKEND, text) is not None
