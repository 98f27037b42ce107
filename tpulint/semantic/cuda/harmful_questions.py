"""Questions for a GPU whose answer on a TPU machine does harm."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from tpulint.semantic.cuda.cuda_branches import is_named_question, names_other_backend
from tpulint.semantic.cuda.cuda_features import CUDA_ONLY_ARGUMENTS, CudaFeatures, branch_bodies
from tpulint.semantic.cuda.cuda_mentions import PRINTING
from tpulint.semantic.cuda.gpu_choices import PRODUCTS, is_worse, loads_to_host, sets_up_trees
from tpulint.semantic.cuda.questions import Questions, leaves, only_tells
from tpulint.semantic.syntax.variables import is_configuration, last_name
from tpulint.semantic.values.places import LIBRARIES_WITHOUT_XLA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.cuda.cuda_guards import CudaGuards
    from tpulint.semantic.cuda.cuda_kernels import CudaKernels

_HAVING_ONE = r"(?i)\byou have a (?:cuda|gpu)\b"
"""What messages say where there is a GPU that is not used."""


class HarmfulQuestions:
    """Answers about the questions of one file."""

    def __init__(self, index: SemanticIndex, features: CudaFeatures, questions: Questions) -> None:
        self._index = index
        self._tree = index.tree
        self._features = features
        self._mentions = features.mentions
        self._placement = features.placement
        self._questions = questions

    def has(self, question: ast.expr) -> bool:
        """Whether a false answer on a TPU machine does harm.

        It does none where the answer is only shown or reported, where it switches on a feature that only CUDA has,
        where all it guards are calls that would raise, and where a test is left out.
        """
        root = self._placement.root(question)
        parent = self._tree.parents[root]
        is_asked = self._mentions.asks_cuda_only(root) or self._features.is_asked_with_cuda(question)
        if is_asked or self._calls_cuda_only(root):
            return False  # another part of the condition asks what only CUDA can tell
        if self._mentions.is_reported(root) or self._questions.skips_test(root):
            return False
        if self._questions.half_options.take(root):
            return False
        if isinstance(parent, ast.keyword):
            return self._is_wanted_argument(parent)
        if isinstance(parent, ast.Call) and root in parent.args:
            return self._belongs_to_project(parent)
        if isinstance(parent, ast.FormattedValue | ast.List | ast.Tuple | ast.Set):
            return False
        if isinstance(parent, ast.Return) and root is question:
            return not self._is_named_answer(parent)
        if isinstance(parent, ast.Return) and isinstance(root, ast.BoolOp) and self._guards.names_state_of_cuda(root):
            return False
        if "PYTEST" in self._tree.text(root) or self._decides_nothing(root, parent, question):
            return False
        if isinstance(parent, ast.If | ast.Assert) and self._guards.is_for_feature(parent, question):
            return False
        if isinstance(parent, ast.If) and parent.test is root and all(map(_adds_test_parameter, parent.body)):
            return False
        if isinstance(parent, ast.If) and parent.test is root:
            taken, other = self._questions.branches(parent, question)
            if self._questions.only_tells_where_asked(parent, question) and names_other_backend(self._tree.text(root)):
                return False
            if taken is parent.body and not other and all(map(self._says_there_is_one, taken)):
                return False
            if self._guards.are_apart(parent, taken, other):
                return False
            if self._kernels.are_chosen_by(root) or self._kernels.are_needed_by(taken):
                return False
            if self._guards.speaks_of_feature(parent, question):
                return False
            if loads_to_host(self._index, taken, other) and not any(map(self._placement.places, taken)):
                return False
            if sets_up_trees(taken) and not any(map(self._placement.places, taken)):
                return False
            harmed = any(self._placement.places(item) for item in branch_bodies(other))
            return harmed or not self._guards.is_cuda_part(parent, taken, other)
        if isinstance(parent, ast.IfExp) and parent.test is root:
            asks = self._mentions.asks_cuda(parent.body) or self._features.reads_what_cuda_gives(parent.body)
            asks = asks or self._kernels.are_chosen_by(root) or self._is_of_other_library(parent)
            return not asks and not is_worse(self._index, parent) and not self._is_report(parent)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            loads = self._index.names.loads_of(parent.targets[0])
            # `cuda = cuda and is_available()` reads what the variable was before
            later = [load for load in loads if not self._tree.encloses(parent, load)]
            return not later or not all(map(self._is_harmless, later))
        return True

    def _is_of_other_library(self, choice: ast.IfExp) -> bool:
        """``WhisperModel(size, device="cuda" if is_available() else "cpu")``: a library that knows no XLA."""
        given = self._index.parent(choice)
        call = self._index.parent(given) if isinstance(given, ast.keyword) else given
        if not isinstance(choice.body, ast.Constant) or not str(choice.body.value).startswith("cuda"):
            return False
        name = self._index.qualified_name(call.func) if isinstance(call, ast.Call) else None
        return (name or "").partition(".")[0] in LIBRARIES_WITHOUT_XLA

    def _is_harmless(self, answer: ast.Name) -> bool:
        """Whether a variable with the answer is only shown there, or opens what CUDA alone has."""
        if self._mentions.is_shown(answer) or self._features.opens_only_cuda(answer):
            return True
        given = self._tree.parents[answer]
        if isinstance(given, ast.keyword) and given.arg in CUDA_ONLY_ARGUMENTS:
            return True
        root = self._placement.root(answer)
        if self._questions.half_options.take(answer) or self._kernels.are_chosen_by(root):
            return True
        choice = self._tree.parents[answer]  # `{"GPU": name(0) if cuda else None}`
        if not isinstance(choice, ast.IfExp) or choice.test is not answer or self._placement.places(choice):
            return False
        return self._mentions.is_reported(choice) or re.search(PRODUCTS, self._tree.text(choice)) is not None

    def _says_there_is_one(self, statement: ast.stmt) -> bool:
        """``if not args.cuda: print("WARNING: You have a CUDA device, ...")``, which is untrue of any other device."""
        if isinstance(statement, ast.If):
            return not statement.orelse and all(map(self._says_there_is_one, statement.body))
        return only_tells(statement) and re.search(_HAVING_ONE, self._tree.text(statement)) is not None

    def _decides_nothing(self, root: ast.expr, parent: ast.AST, question: ast.expr) -> bool:
        """Whether the answer places nothing in a file that serves others, and ends nothing: options of a profiler."""
        if self._index.is_program or self._tree.function_of(question) is None:
            return False
        if self._questions.ends_program(question) or self._questions.opens_runtime_calls(question):
            return False
        if isinstance(parent, ast.If) and parent.test is root:
            if self._guards.raises_for_feature(parent):
                return True  # `else: raise RuntimeError("quantization needs a GPU")`
            if any(map(_sends_settings_to_host, parent.body)):
                return False
            return not self._placement.is_decided_by(root) and not parent.orelse and not leaves(parent.body)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            loads = self._index.names.loads_of(parent.targets[0])
            tests = [self._tree.parents[self._placement.root(load)] for load in loads]
            return all(isinstance(test, ast.If) for test in tests) and not self._placement.is_decided_by(root)
        return False

    def _calls_cuda_only(self, root: ast.expr) -> bool:
        """Whether the condition calls a function of this file that asks what only CUDA can tell."""
        for node in self._tree.inside(root):
            function = self._index.definitions.function_called(node) if isinstance(node, ast.Call) else None
            if function is not None and self._mentions.are_in(function):
                return True
        return False

    def _is_named_answer(self, statement: ast.Return) -> bool:
        """``def is_cuda_available(): return torch.cuda.is_available()``, which nothing in this file asks."""
        function = self._tree.function_of(statement)
        return (
            function is not None and is_named_question(function.name) and not self._index.definitions.calls_of(function)
        )

    def _is_report(self, choice: ast.IfExp) -> bool:
        """``info["gpu"] = name(0) if torch.cuda.is_available() else None``"""
        return self._mentions.is_reported(choice) and not self._placement.is_decided_by(choice.test)

    @cached_property
    def _kernels(self) -> CudaKernels:
        from tpulint.semantic.cuda.cuda_kernels import CudaKernels

        return CudaKernels(self._index, self._features)

    @cached_property
    def _guards(self) -> CudaGuards:
        from tpulint.semantic.cuda.cuda_guards import CudaGuards

        return CudaGuards(self._index, self._features, self._questions)

    def _is_wanted_argument(self, keyword: ast.keyword) -> bool:
        call = self._tree.parents[keyword]
        if not isinstance(call, ast.Call) or keyword.arg in CUDA_ONLY_ARGUMENTS or keyword.arg is None:
            return False
        name = last_name(call.func)
        if name == "GradScaler" or name in PRINTING:
            return False
        return name in ("autocast", "add_argument", "option", "Option", "dict") or self._belongs_to_project(call)

    def _belongs_to_project(self, call: ast.Call) -> bool:
        definitions = self._index.definitions
        is_here = definitions.function_called(call) is not None or definitions.class_called(call) is not None
        return is_here or bool(self._index.imported.all_called(call))


def _sends_settings_to_host(statement: ast.stmt) -> bool:
    """``cfg.device = "cpu"``, which other files read."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    value = statement.value if isinstance(statement, ast.Assign) else None
    is_host = isinstance(value, ast.Constant) and value.value == "cpu"
    return (
        is_host
        and isinstance(target, ast.Attribute)
        and target.attr == "device"
        and is_configuration(last_name(target.value))
    )


def _adds_test_parameter(statement: ast.stmt) -> bool:
    """``devices.append(pytest.param("cuda:0"))``"""
    value = statement.value if isinstance(statement, ast.Expr) else None
    given = value.args if isinstance(value, ast.Call) else []
    return bool(given) and all(isinstance(item, ast.Call) and last_name(item.func) == "param" for item in given)
