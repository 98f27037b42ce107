"""Questions for a GPU: what they open, end, and leave out."""

from __future__ import annotations

import ast

from tpulint.semantic.cuda.cuda_features import CudaFeatures
from tpulint.semantic.cuda.cuda_mentions import PRINTING
from tpulint.semantic.cuda.half_options import HalfOptions
from tpulint.semantic.syntax.nodes import EXITS
from tpulint.semantic.syntax.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_SKIPS = frozenset({"skipUnless", "skipIf", "skipif", "skip", "skipTest", "SkipTest", "xfail", "importorskip"})
_ENDS = frozenset({"exit", "_exit", "quit", "abort"})


class Questions:
    """Answers about the questions of one file."""

    def __init__(self, index: SemanticIndex, features: CudaFeatures) -> None:
        self._index = index
        self._tree = index.tree
        self._mentions = features.mentions
        self._placement = features.placement
        self.half_options = HalfOptions(index)

    def opens_runtime_calls(self, question: ast.expr) -> bool:
        """Whether a question opens nothing but calls into the CUDA runtime, such as seeding or emptying its cache."""
        root = self._placement.root(question)
        parent = self._tree.parents[root]
        if not isinstance(parent, ast.If) or parent.test is not root or parent.orelse:
            return False
        return all(
            isinstance(item, ast.Expr) and isinstance(item.value, ast.Call)
            and (self._index.qualified_name(item.value.func) or "").startswith(("torch.cuda.", "torch.accelerator."))
            for item in parent.body
        )  # fmt: skip

    def opens_cuda_statements(self, question: ast.expr) -> bool:
        """Whether a condition opens nothing but calls and flags of CUDA, all of which do nothing on another device."""
        root = self._placement.root(question)
        parent = self._tree.parents[root]
        if not isinstance(parent, ast.If) or parent.test is not root or parent.orelse or root is not question:
            return False
        return all(self._is_cuda_statement(item) for item in parent.body)

    def _is_cuda_statement(self, statement: ast.stmt) -> bool:
        if isinstance(statement, ast.Assign):
            names = [self._index.qualified_name(target) or "" for target in statement.targets]
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            names = [self._index.qualified_name(statement.value.func) or ""]
            if last_name(statement.value.func) in PRINTING:
                return self._mentions.is_report(statement)
        else:
            return False
        return all(name.startswith(("torch.cuda.", "torch.backends.cud", "torch.accelerator.")) for name in names)

    def ends_program(self, question: ast.expr) -> bool:
        """Whether the program ends where the answer is no: ``if not is_available(): raise``."""
        root = self._placement.root(question)
        parent = self._tree.parents[root]
        if isinstance(parent, ast.Assert):
            return True
        return isinstance(parent, ast.If) and parent.test is root and any(_leaves_program(item) for item in parent.body)

    def guards_cuda(self, question: ast.expr) -> bool:
        """Whether a function is left without a GPU because what follows asks for what only CUDA can tell.

        ``if not is_available(): return "cpu"`` in front of ``free, _ = torch.cuda.mem_get_info()``, which raises.
        """
        taken = self.left_to_gpus(question)
        gone = {*self._mentions.cuda_reports(taken), *self._mentions.cuda_demands(taken)}
        return any(self._mentions.reads_cuda(item) for item in taken if item not in gone)

    def left_to_gpus(self, question: ast.expr) -> list[ast.stmt]:
        """What follows in a function that is left without a GPU; nothing where it is not."""
        root = self._placement.root(question)
        parent = self._tree.parents[root]
        if not isinstance(parent, ast.If) or parent.test is not root or self._tree.function_of(question) is None:
            return []
        taken, other = self.branches(parent, question)
        is_left = other is parent.body and taken is not parent.orelse and isinstance(other[-1], ast.Return | ast.Raise)
        return taken if is_left else []

    def is_alone(self, question: ast.expr) -> bool:
        """Whether a question only ends or tells something in a function that places nothing and is called elsewhere.

        Such a function speaks about a feature of GPUs, unless something else of the file chooses the device.
        """
        root = self._placement.root(question)
        parent = self._tree.parents[root]
        function = self._tree.function_of(question)
        if not isinstance(parent, ast.If | ast.Assert) or parent.test is not root:
            return False
        if isinstance(parent, ast.If) and self.only_tells_where_asked(parent, question):
            return True
        if function is None or self._index.definitions.calls_of(function):
            return False
        if any(function in launch.functions for launch in self._index.launches.launches):
            return False  # a process runs it
        if isinstance(parent, ast.If) and not self.ends_program(question):
            _, other = self.branches(parent, question)
            if not other or not all(only_tells(item) for item in other):
                return False
        return not self._placement.places(function)

    def only_tells_where_asked(self, statement: ast.If, question: ast.expr) -> bool:
        """``if torch.cuda.is_available(): print("a GPU")``"""
        taken, other = self.branches(statement, question)
        return taken is statement.body and not other and all(only_tells(item) for item in taken)

    def skips_test(self, root: ast.expr) -> bool:
        """Whether a condition leaves a test out: ``@unittest.skipUnless(...)``."""
        child: ast.AST = root
        for ancestor in self._tree.ancestors(root):
            if isinstance(ancestor, ast.Call) and last_name(ancestor.func) in _SKIPS:
                return True
            if isinstance(ancestor, ast.If) and ancestor.test is child:
                return any(_skips(item) for item in ancestor.body)
            if isinstance(ancestor, ast.stmt):
                return False
            child = ancestor
        return False

    def branches(self, statement: ast.If, question: ast.expr) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """What runs where the answer is yes, and where it is no."""
        negated = False
        node: ast.AST = question
        while node is not statement.test:
            node = self._tree.parents[node]
            negated ^= isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        if not negated:
            return statement.body, statement.orelse
        if statement.orelse or not isinstance(statement.body[-1], EXITS):
            return statement.orelse, statement.body
        suite = self._tree.suite_of(statement)
        return suite[suite.index(statement) + 1 :], statement.body


def leaves(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], EXITS)


def only_tells(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Return):
        return statement.value is None
    value = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(value, ast.Call):
        return False
    return last_name(value.func) in PRINTING or last_name(value.func).startswith(("warn", "print", "log"))


def _leaves_program(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return last_name(statement.value.func) in _ENDS
    return isinstance(statement, ast.Raise)


def _skips(statement: ast.stmt) -> bool:
    value: ast.AST | None = None
    if isinstance(statement, ast.Raise):
        value = statement.exc
    elif isinstance(statement, ast.Expr | ast.Return):
        value = statement.value
    if isinstance(value, ast.Name | ast.Attribute):
        return last_name(value) == "SkipTest"
    while isinstance(value, ast.Call):  # `unittest.skip("no GPU")(test)`
        if last_name(value.func) in _SKIPS:
            return True
        value = value.func
    return False
