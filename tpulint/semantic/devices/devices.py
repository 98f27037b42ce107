"""Device sites: every place of a file that names a CUDA device, asks for an accelerator or acquires one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from tpulint.model import Span
from tpulint.semantic.cuda.cuda_branches import CudaBranches
from tpulint.semantic.cuda.cuda_features import CudaFeatures
from tpulint.semantic.cuda.device_questions import DeviceQuestions
from tpulint.semantic.cuda.gpu_branches import GpuBranches
from tpulint.semantic.cuda.harmful_questions import HarmfulQuestions
from tpulint.semantic.cuda.questions import Questions
from tpulint.semantic.cuda.torch_versions import is_for_older_torch
from tpulint.semantic.devices.chosen_texts import ChosenTexts
from tpulint.semantic.devices.device_flow import DeviceFlow
from tpulint.semantic.devices.device_indices import DeviceIndices
from tpulint.semantic.devices.device_members import DeviceMembers
from tpulint.semantic.devices.device_names import DeviceNames
from tpulint.semantic.devices.device_numbers import DeviceNumbers
from tpulint.semantic.devices.device_sites import Role, Site, branches, device_argument
from tpulint.semantic.syntax.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_ROUNDS = 3
_ACCELERATOR = "torch.accelerator.current_accelerator"
_GEOMETRIC = "torch_geometric.device"
"""PyG's own choice among CUDA, MPS, XPU and the host, ``device("auto")``."""


class Devices:
    """The device sites of one file, in order of position."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._tree = index.tree
        self.features = CudaFeatures(index)
        self.questions = Questions(index, self.features)
        self._harmful = HarmfulQuestions(index, self.features, self.questions)
        self.gpu_branches = GpuBranches(index)
        parents = index.tree.parents
        self._torch_calls = [
            (parent, name)
            for node, name in index.references("torch")
            if isinstance(parent := parents.get(node), ast.Call) and parent.func is node
        ]
        """Calls of functions of torch, with their qualified names."""
        guards = index.guards
        self._knows_xla = guards.knows_xla()
        self._for_cuda = guards.cuda_only()
        self._named: list[Span] = []
        self._asked_for: list[Span] | None = None
        self.sites: list[Site] = []
        self._look(())
        if not self.sites:  # fewer there cannot be: the branches are looked for when somebody asks
            branches = self.branches
            self._follow(lambda: (*branches.named, *branches.kept))
        for _ in range(_ROUNDS if self.sites else 0):
            # What stands in CUDA's part of the file is no device of it: comparisons with it fall away in turn.
            branches = self.branches
            kept = (*branches.named, *branches.kept)
            if not kept or kept == self.flow.outside:
                break
            self._look(kept)
        if self.sites and not self._places_anything():
            self.sites = []

    def _look(self, outside: tuple[Span, ...]) -> None:
        """Find the sites that stand outside of these spans."""
        self._follow(lambda: outside)
        asked = DeviceQuestions(self._index, self.flow, self._harmful, self._torch_calls)
        questions = () if self._knows_xla else asked.found()
        names = DeviceNames(self._index, self.flow, self.features, self.questions, self.members)
        self.false_comparisons = names.false_comparisons
        # In a file with several backends the question is what keeps CUDA's branch apart, and so is a comparison.
        named = (site for site in names.found() if not self._knows_xla or site.role is not Role.COMPARISON)
        sites = [*questions, *named, *self._acquisitions(), *self._numbers(), *self._generators()]
        unique = {site.node: site for site in sites if self._counts(site.node)}
        self.sites = sorted(unique.values(), key=lambda site: self._index.span(site.node))
        self.branches = CudaBranches(self._index, self.features, unique.keys())
        self._named = self.branches.named

    def _follow(self, outside: Callable[[], tuple[Span, ...]]) -> None:
        self.flow = DeviceFlow(self._index, outside)
        self.indices = DeviceIndices(self._index, self.flow)
        self.members = DeviceMembers(self._index, self.flow, self.features.placement)
        self.chosen_texts = ChosenTexts(self._index, self.flow, self.features.placement, self.questions)

    def _places_anything(self) -> bool:
        """Whether the file chooses or uses a device, beyond functions that only ask for a GPU."""
        if any(site.role is not Role.QUESTION or not self.questions.is_alone(site.node) for site in self.sites):
            return True
        return any(self._index.method_calls("cuda")) or any(self._index.references("torch.cuda.FloatTensor"))

    def _counts(self, node: ast.expr) -> bool:
        if self.is_for_cuda(node) or self.flow.is_outside(node) or self.features.placement.is_asked_about(node):
            return False
        if is_for_older_torch(self._tree, node):
            return False
        return self._stands_in_text(node) and not self._is_kept_by_users(node) and not self._is_chosen_for_xla(node)

    def _is_chosen_for_xla(self, node: ast.expr) -> bool:
        """``"cuda" if is_xla_available(check_is_gpu=True) else "cpu"``: XLA runs on GPUs as well."""
        choice = self._tree.parents[node] if self._knows_xla else None
        chosen = isinstance(choice, ast.IfExp) and choice.body is node
        return chosen and isinstance(choice, ast.IfExp) and "xla" in self._tree.text(choice.test).lower()

    def _is_kept_by_users(self, node: ast.expr) -> bool:
        """Whether the device is one parameter of tests, or stands in a function about a product for GPUs."""
        for ancestor in self._tree.ancestors(node):
            if isinstance(ancestor, ast.Call) and last_name(ancestor.func) in ("param", "parametrize"):
                return True
            if isinstance(ancestor, ast.stmt):
                break
        return self._index.callers.use_for_gpus(node)

    def is_for_cuda(self, node: ast.AST) -> bool:
        """Whether the node stands in a branch that runs on CUDA only, of a file that has a branch for XLA too, or in
        what is CUDA's by its name, such as a method ``cuda``.
        """
        return _stands_in(self._index.span(node), (*self._for_cuda, *self._named))

    def is_guarded(self, node: ast.AST) -> bool:
        """Whether a condition that stays as it is keeps the node from running without a GPU."""
        return _stands_in(self._index.span(node), (*self._for_cuda, *self._named, *self.branches.guarded))

    def is_asked_for(self, node: ast.AST) -> bool:
        """Whether a question for a GPU keeps the node from running without one, until it is answered."""
        if self._asked_for is None:
            self._asked_for = CudaBranches(self._index, self.features, frozenset()).guarded
        return _stands_in(self._index.span(node), self._asked_for)

    def _stands_in_text(self, node: ast.expr) -> bool:
        """Positions inside f-strings differ between Python versions, so nothing is rewritten there."""
        return not any(isinstance(ancestor, ast.JoinedStr) for ancestor in self._tree.ancestors(node))

    # ---------------------------------------------------------------- objects

    def _acquisitions(self) -> Iterator[Site]:
        for call in self._index.calls_to(_GEOMETRIC):
            if [item.value for item in call.args if isinstance(item, ast.Constant)] == ["auto"]:
                yield Site(call, Role.ACQUISITION)
        for call, name in self._torch_calls:
            if name == _ACCELERATOR:
                parent = self._tree.parents[call]
                if isinstance(parent, ast.Attribute) and parent.attr == "type":
                    if not self._is_told_apart(parent):
                        yield Site(parent, Role.NAME, certain=True)
                elif not self.is_map_location(call) and not self._is_only_compared(call):
                    yield Site(call, Role.ACQUISITION)
            elif name == "torch.device" and not self.is_map_location(call):
                argument = device_argument(call)
                if argument is None:
                    continue
                number = self.flow.cuda_index(argument)
                if number is not None:
                    yield Site(call, Role.ACQUISITION, number=number or self._second(call))
                elif self.indices.is_number(argument):
                    yield Site(call, Role.ACQUISITION, number=_constant(argument))
                else:
                    # only names in branches; they are rewritten one by one
                    for node in branches(argument):
                        number = self.flow.cuda_index(node)
                        if number is not None:
                            yield Site(node, Role.NAME, number=number)

    def _is_told_apart(self, node: ast.expr) -> bool:
        """``torch.accelerator.current_accelerator().type == "neuron"``"""
        parent = self._tree.parents[node]
        if not isinstance(parent, ast.Compare):
            return False
        sides = (side for side in (parent.left, *parent.comparators) if side is not node)
        return not any(self.flow.cuda_index(side) is not None for side in sides)

    def _is_only_compared(self, call: ast.Call) -> bool:
        """``current = current_accelerator()``, read only by ``current is not None and current.type == device.type``."""
        parent = self._tree.parents[call]
        if (
            not isinstance(parent, ast.Assign)
            or len(parent.targets) != 1
            or not isinstance(parent.targets[0], ast.Name)
        ):
            return False
        loads = self._index.names.loads_of(parent.targets[0])
        reads = [p if isinstance(p := self._tree.parents[load], ast.Attribute) else load for load in loads]
        compares = [self._tree.parents[read] for read in reads]
        if not loads or not all(isinstance(item, ast.Compare) for item in compares):
            return False
        sides = (side for item in compares if isinstance(item, ast.Compare) for side in (item.left, *item.comparators))
        return not any(self.flow.cuda_index(side) is not None for side in sides)

    def _generators(self) -> Iterator[Site]:
        for call, name in self._torch_calls:
            if name != "torch.Generator":
                continue
            argument = device_argument(call)
            if isinstance(argument, ast.IfExp) and self._index.guards.asks_cuda(argument.test):
                continue
            if argument is not None and (self.flow.derives(argument) or self._index.xla_devices.is_device(argument)):
                yield Site(call, Role.GENERATOR, certain=False)

    def _second(self, call: ast.Call) -> str:
        """Index in ``torch.device("cuda", 1)``."""
        given = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "index")]
        return _constant(given[0]) if given else ""

    def _numbers(self) -> Iterator[Site]:
        numbers = DeviceNumbers(self._index, self.flow, self.indices, self._torch_calls)
        for node, argument, certain in numbers.found():
            yield Site(node, Role.NUMBER, number=_constant(argument) if certain else "", certain=certain)

    def is_option_default(self, node: ast.expr) -> bool:
        """Whether a name is the default, or one of the choices, of a command line option."""
        return self.option_of(node) is not None

    def option_of(self, node: ast.expr) -> str | None:
        """The command line option whose default, or one of whose choices, a name is; None for any other name."""
        call = self.flow.places.of(node).node
        return self.flow.variables.option_name(call) if isinstance(call, ast.Call) else None

    def is_map_location(self, node: ast.expr) -> bool:
        """``torch.load`` cannot restore to an XLA device; another rule takes care of where it loads to."""
        for ancestor in self._tree.ancestors(node):
            if isinstance(ancestor, ast.keyword) and ancestor.arg == "map_location":
                return True
            if isinstance(ancestor, ast.Call) and self._index.qualified_name(ancestor.func) == "torch.load":
                return True
            if isinstance(ancestor, ast.stmt):
                return False
        return False


def _stands_in(span: Span, spans: Iterable[Span]) -> bool:
    return any(outer.start <= span.start and span.end <= outer.end for outer in spans)


def _constant(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else "?"
