"""Branches that run on CUDA only, in files that already know another backend."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

from tpulint.model import Span
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import EXITS
from tpulint.semantic.syntax.torch_facts import RUNTIME
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import is_configuration, last_name

_CUDA_QUESTIONS = frozenset({
    "torch.cuda.is_available", "torch.cuda.is_initialized", "torch.cuda.device_count", "torch.accelerator.is_available",
})  # fmt: skip
_APPLE_QUESTIONS = ("torch.backends.mps.is_available", "torch.mps.is_available")
_XLA_DEVICES = frozenset(
    {
        "torch_xla.device",
        "torch_xla.devices",
        "torch_xla.core.xla_model.xla_device",
        "torch_xla.runtime.device_type",
        "torch_xla.runtime.xla_device",
        f"{RUNTIME}.device",
        f"{RUNTIME}.device_type",
        f"{RUNTIME}.is_available",
    }
)
_XLA_DEVICE_ENDS = frozenset(name.rpartition(".")[2] for name in _XLA_DEVICES)
_ASKS_FOR_CUDA = r"(?i)(is_|has_|use_).*(cuda|gpu|nvidia).*|.*(cuda|gpu)_available.*"
_ASKS_FOR_XLA = (
    r"(is_|has_|use_)?.*(xla|tpu)(_.*)?available.*|(is_|has_|use_|on_)(torch_)?(xla|tpu).*|(XLA|TPU)_AVAILABLE.*"
)
_XLA_OPTIONS = ("xla", "tpu", "xla_device")
_GPU_KIND = r"(?:MULTI_)?(?:GPU|CUDA)S?"
_XLA = ("XLA", "TPU")
_READING = frozenset({"builtins.len", "builtins.bool", "builtins.getattr"})


class Guards:
    """Which code never runs on an XLA device because a condition keeps it for CUDA."""

    def __init__(self, tree: SyntaxTree, names: Names, open_to: Callable[[ast.expr], bool] | None = None) -> None:
        self._tree = tree
        self._names = names
        self._knows_xla: bool | None = None
        self._open_to = open_to
        """Tests that ask for CUDA in words, but are open to other devices as well, or soon will be."""
        self._answers: dict[str, bool] = {}

    def knows_xla(self) -> bool:
        """Whether the file takes an XLA device or asks for one: it has several backends, or is ported already."""
        if self._knows_xla is None:
            self._knows_xla = self._finds_xla()
        return self._knows_xla

    def _finds_xla(self) -> bool:
        # Most of them say "tpu" in "output", which the expression would find out far more slowly.
        text = self._tree.source.text.lower().replace("output", "")
        if "xla" not in text and "tpu" not in text:
            return False
        attributes = self._tree.attributes
        words = {name.id for name in self._tree.names} | {attribute.attr for attribute in attributes}
        named = (word for word in words if any(kind in word.lower().replace("output", "") for kind in ("xla", "tpu")))
        if any(re.fullmatch(_ASKS_FOR_XLA, word) for word in named) or any(node.attr in _XLA for node in attributes):
            return True
        if any(self._names.qualified(node) in _XLA_DEVICES for node in attributes if node.attr in _XLA_DEVICE_ENDS):
            return True
        return any(str(constant.value).lower() in _XLA_OPTIONS for constant in self._tree.strings)

    def cuda_only(self) -> list[Span]:
        """Spans of the branches that never run on XLA; none in a file that knows no other backend.

        A ported file need not say "cuda" any more: what stands beside XLA's branch is still not for it.
        """
        if not self.knows_xla():
            return []
        spans: list[Span] = []
        forks = {fork for node in self._tree.conditions if isinstance(node, ast.If) and (fork := _fork_of(node, _XLA))}
        for node in self._tree.conditions:
            if isinstance(node, ast.If) and forks and _fork_of(node) in forks and not _fork_of(node, _XLA):
                spans.extend(self._tree.span(statement) for statement in node.body)
            if isinstance(node, ast.IfExp):
                self._add(spans, node.test, [node.body], [node.orelse])
            elif isinstance(node, ast.If):
                rest = node.orelse
                if not rest and self.asks_xla(node.test) and isinstance(node.body[-1], EXITS):
                    suite = self._tree.suite_of(node)
                    rest = suite[suite.index(node) + 1 :]
                self._add(spans, node.test, node.body, rest)
            elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
                for number, operand in enumerate(node.values[:-1]):
                    if self.asks_cuda(operand):
                        spans.extend(self._tree.span(later) for later in node.values[number + 1 :])
                        break
        return spans

    def is_for_cuda(self, node: ast.AST) -> bool:
        """Whether a condition around the node holds only where CUDA is, whatever the file knows of other backends."""
        child = node
        for ancestor in self._tree.ancestors(node):
            if isinstance(ancestor, ast.If) and child in ancestor.body and self.asks_cuda(ancestor.test):
                return True
            if isinstance(ancestor, ast.IfExp) and child is ancestor.body and self.asks_cuda(ancestor.test):
                return True
            child = ancestor
        return False

    def _add(self, spans: list[Span], test: ast.expr, body: Sequence[ast.AST], orelse: Sequence[ast.AST]) -> None:
        only: list[ast.AST] = []
        if self.asks_cuda(test):
            only.extend(body)
        if self.asks_xla(test):
            only.extend(orelse)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            if self.asks_xla(test.operand):
                only.extend(body)
            if self.asks_cuda(test.operand):
                only.extend(orelse)
        spans.extend(self._tree.span(node) for node in only)

    def asks_cuda(self, test: ast.expr) -> bool:
        """Whether the test can only hold where CUDA is."""
        if self._open_to is not None and self._open_to(test):
            return False
        if isinstance(test, ast.BoolOp):
            asked = [self.asks_cuda(value) for value in test.values]
            return any(asked) if isinstance(test.op, ast.And) else all(asked)
        if isinstance(test, ast.Call):
            name = self._names.qualified(test.func)
            if name in _CUDA_QUESTIONS:
                return True
            if isinstance(test.func, ast.Attribute) and test.func.attr == "startswith" and test.args:
                return _is_cuda(test.args[0])
            last = last_name(test.func)
            return re.fullmatch(_ASKS_FOR_CUDA, last) is not None and not self._reads_option(last)
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            left, right = test.left, test.comparators[0]
            if isinstance(test.ops[0], ast.Eq):
                return _is_cuda(left) or _is_cuda(right) or _is_kind_of_gpu(right) or _asks_nccl(left, right)
            if isinstance(test.ops[0], ast.In):
                return _is_cuda(left) or (
                    isinstance(right, ast.Tuple | ast.List | ast.Set) and all(_is_cuda(e) for e in right.elts)
                )
            if isinstance(test.ops[0], ast.Gt):
                if not isinstance(left, ast.Call):
                    return False
                if last_name(left.func) == "len" and left.args:  # `len(torch.cuda.default_generators) > 0`
                    return self._names.qualified(left.args[0]) == "torch.cuda.default_generators"
                return self._names.qualified(left.func) in _CUDA_QUESTIONS
            return False
        if isinstance(test, ast.Name):
            bindings = self._names.bindings(test)
            return bool(bindings) and all(
                b.kind == "assign"
                and not b.path
                and b.value is not None
                and not isinstance(b.value, ast.Name)
                and self.asks_cuda(b.value)
                for b in bindings
            )
        if not isinstance(test, ast.Attribute):
            return False
        if test.attr in ("is_cuda", "is_gpu"):
            return not is_configuration(last_name(test.value))  # `args.is_cuda` is what the user wants, as `args.cuda`
        return self._is_answer(test)

    def _reads_option(self, name: str) -> bool:
        """Whether a function of this file tells what the user chose, ``return len(self.options.gpu_ids) > 0``.

        That asks for no GPU: the choice stays as it is where the file is ported.
        """
        functions = [function for function in self._tree.functions if function.name == name]
        last = [function.body[-1] for function in functions]
        returned = [node.value for node in last if isinstance(node, ast.Return) and node.value is not None]
        return bool(last) and len(returned) == len(last) and all(map(self._is_read, returned))

    def _is_read(self, answer: ast.expr) -> bool:
        calls = (node for node in ast.walk(answer) if isinstance(node, ast.Call))
        reads = any(isinstance(node, ast.Attribute) for node in ast.walk(answer))
        return reads and all(self._names.qualified(call.func) in _READING for call in calls)

    def _is_answer(self, test: ast.Attribute) -> bool:
        """Whether ``self.cuda`` holds the answer for CUDA, beside one for XLA: ``is_available() and not self.tpu``."""
        answers = self._answers.get(test.attr)
        if answers is None:
            answers = self._answers[test.attr] = False  # `self.cuda = self.cuda and not self.xla` says nothing new
            for store in self._tree.attributes_called(test.attr):
                statement = self._tree.parents[store]
                if isinstance(store.ctx, ast.Store) and isinstance(store.value, ast.Name) and store.value.id == "self":
                    answers = isinstance(statement, ast.Assign) and self._excludes_xla(statement.value)
                    if not answers:
                        break
            self._answers[test.attr] = answers
        return answers and isinstance(test.value, ast.Name) and test.value.id == "self"

    def _excludes_xla(self, answer: ast.expr) -> bool:
        if not isinstance(answer, ast.BoolOp) or not isinstance(answer.op, ast.And):
            return False
        refused = [v.operand for v in answer.values if isinstance(v, ast.UnaryOp) and isinstance(v.op, ast.Not)]
        return any(map(self.asks_cuda, answer.values)) and any(map(self.asks_xla, refused))

    def asks_xla(self, test: ast.expr) -> bool:
        """Whether the test holds wherever XLA is."""
        if isinstance(test, ast.BoolOp):
            asked = [self.asks_xla(value) for value in test.values]
            return all(asked) if isinstance(test.op, ast.And) else any(asked)
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq | ast.In):
            return any(
                (
                    isinstance(side, ast.Constant)
                    and isinstance(side.value, str)
                    and side.value.lower() in ("xla", "tpu")
                )
                or last_name(side).lower() in ("xla", "tpu")
                for side in (test.left, *test.comparators)
            )
        if isinstance(test, ast.Name | ast.Attribute) and last_name(test).lower() in _XLA_OPTIONS:
            return True  # `cfg.tpu`, `options.xla`
        if isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id in ("getattr", "hasattr"):
            named = test.args[1] if len(test.args) > 1 else None
            return isinstance(named, ast.Constant) and str(named.value).lower() in _XLA_OPTIONS
        last = last_name(test.func if isinstance(test, ast.Call) else test)
        return re.fullmatch(_ASKS_FOR_XLA, last) is not None


def asks_for_host(test: ast.expr) -> bool:
    """Whether a test holds for tensors and devices of the host alone: ``x.device.type == "cpu"``, ``x.is_cpu``."""
    if isinstance(test, ast.Attribute):
        return test.attr == "is_cpu"
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    asked, name = test.left, test.comparators[0]
    if isinstance(name, ast.Call) and last_name(name.func) == "device" and len(name.args) == 1 and not name.keywords:
        name = name.args[0]
    elif isinstance(asked, ast.Attribute) and asked.attr == "type":
        asked = asked.value
    else:
        return False
    return isinstance(name, ast.Constant) and name.value == "cpu" and last_name(asked) == "device"


def asks_for_apple(names: Names, test: ast.expr) -> bool:
    """Whether a test holds on Apple's GPUs alone, where no XLA is: ``"mps" in str(device)``."""
    if isinstance(test, ast.Name):
        bindings = names.bindings(test)
        made = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
        return made is not None and not isinstance(made, ast.Name) and asks_for_apple(names, made)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(asks_for_apple(names, value) for value in test.values)
    if isinstance(test, ast.Call):
        return names.qualified(test.func) in _APPLE_QUESTIONS
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    sides = (test.left, test.comparators[0]) if isinstance(test.ops[0], ast.Eq) else (test.left,)
    is_asked = isinstance(test.ops[0], ast.Eq | ast.In)
    return is_asked and any(isinstance(side, ast.Constant) and side.value == "mps" for side in sides)


def _fork_of(node: ast.If, members: tuple[str, ...] = ()) -> tuple[str, str] | None:
    """What a condition compares with a member of an enumeration, and which: ``self.kind == Kind.XLA``."""
    test = node.test
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return None
    member = test.comparators[0]
    if not isinstance(member, ast.Attribute) or not member.attr.isupper() or not isinstance(member.value, ast.Name):
        return None
    return None if members and member.attr not in members else (ast.dump(test.left), member.value.id)


def _is_cuda(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.split(":", 1)[0] == "cuda"


def _is_kind_of_gpu(node: ast.expr) -> bool:
    """``DistributedType.MULTI_GPU``"""
    return isinstance(node, ast.Attribute) and re.fullmatch(_GPU_KIND, node.attr) is not None


def _asks_nccl(left: ast.expr, right: ast.expr) -> bool:
    """``dist.get_backend() == "nccl"``"""
    asks = isinstance(left, ast.Call) and last_name(left.func) == "get_backend"
    return asks and isinstance(right, ast.Constant) and right.value == "nccl"
