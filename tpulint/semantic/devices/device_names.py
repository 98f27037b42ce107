"""Texts that name a CUDA device, and comparisons with them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.semantic.cuda.cuda_branches import is_named_question, names_other_backend
from tpulint.semantic.cuda.cuda_features import CudaFeatures
from tpulint.semantic.cuda.questions import Questions
from tpulint.semantic.devices.compared_devices import is_never_text
from tpulint.semantic.devices.device_flow import DeviceFlow
from tpulint.semantic.devices.device_lists import is_chosen_among
from tpulint.semantic.devices.device_members import DeviceMembers
from tpulint.semantic.devices.device_sites import Role, Site
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.places import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_NEEDS_CUDA = r"(?i)(?:requires?|needs?|only (?:on|for|with)) .*\bcuda\b|\bcuda\b.* (?:required|only)"
"""What a program says where it leaves something out for want of CUDA."""


class DeviceNames:
    """The texts of one file that stand for a device, or are compared with one."""

    def __init__(
        self,
        index: SemanticIndex,
        flow: DeviceFlow,
        features: CudaFeatures,
        questions: Questions,
        members: DeviceMembers,
    ) -> None:
        self._index = index
        self._tree = index.tree
        self._flow = flow
        self._features = features
        self._placement = features.placement
        self._questions = questions
        self._members = members
        self.false_comparisons: list[ast.expr] = []
        """Comparisons with CUDA's name above nothing but code for CUDA: false once the device is another."""

    def found(self) -> Iterator[Site]:
        """The texts; on the way, ``false_comparisons`` is filled."""
        flow = self._flow
        # What names a CUDA device begins with the word, by itself or as the first part of a longer expression.
        texts = [node for node in self._tree.strings if str(node.value).startswith("cuda")]
        candidates: list[ast.expr] = [*texts, *self._tree.fstrings]
        for candidate in candidates:
            node = self._whole_text(candidate)
            number = flow.cuda_index(node)
            if number is None or self._is_name_of_method(node):
                continue
            place = flow.places.of(node)
            if place.kind == "comparison":
                if self._compares_device(node, place.node) and self._is_worth_renaming(place.node):
                    yield Site(node, Role.COMPARISON, number=number, certain=False)
                elif isinstance(place.node, ast.Compare) and self._guards_dead_code(place.node):
                    self.false_comparisons.append(place.node)
            elif self._is_only_a_word(place) or self._is_only_a_key(node, place):
                continue
            elif flow.is_device_place(place) and (
                (chosen := is_chosen_among(self._tree, node))
                or not self._is_call_to(place.node, "torch.device", "torch.Generator")
            ):
                certain = place.kind == "device" or self._is_seen_as_device(place)
                # Of a list of GPUs one is used, whichever it is: that is no script for several.
                yield Site(node, Role.NAME, number="?" if chosen and number else number, certain=certain)
            elif self._members.holds(node):
                yield Site(node, Role.NAME, number=number, certain=False)

    def _guards_dead_code(self, comparison: ast.Compare) -> bool:
        """``if device == "cuda":`` above nothing but what CUDA alone has, and no comment that would go with it."""
        statement = self._tree.parents[comparison]
        is_part = isinstance(comparison.ops[0], ast.In) and isinstance(comparison.left, ast.Constant)
        name = comparison.left if is_part else comparison.comparators[0]
        return (
            (is_part or isinstance(comparison.ops[0], ast.Eq))
            and isinstance(statement, ast.If)
            and statement.test is comparison
            and self._compares_device(name, comparison)
            and self._features.holds_only_cuda(statement.body)
            and "#" not in self._tree.text(statement)
        )

    def _is_worth_renaming(self, comparison: ast.AST | None) -> bool:
        several = isinstance(comparison, ast.Compare) and names_other_backend(
            self._tree.text(comparison.comparators[0])
        )
        if several and not self._index.is_program and not self._is_demanded(comparison):
            return False  # `self.is_gpu = device.type in ("cuda", "xpu")`
        if isinstance(comparison, ast.expr) and not self._index.is_program and self._is_flag_of_cuda(comparison):
            return False
        if isinstance(comparison, ast.Compare) and self._is_told_to_need_cuda(comparison):
            return False
        skips = isinstance(comparison, ast.expr) and self._questions.skips_test(self._placement.root(comparison))
        return not skips and not self._features.guards_cuda_only(comparison)

    def _is_told_to_need_cuda(self, comparison: ast.Compare) -> bool:
        """``if device != "cuda": print("fp8 requires CUDA, ignored")``, whose other branch is for CUDA alone."""
        branch = self._tree.parents[comparison]
        if not isinstance(branch, ast.If) or branch.test is not comparison or not branch.orelse:
            return False
        told = branch.body if isinstance(comparison.ops[0], ast.NotEq) else branch.orelse
        calls = [one.value for one in told if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]
        texts = (item for call in calls for item in self._tree.inside(call) if isinstance(item, ast.Constant))
        return len(calls) == len(told) and any(re.search(_NEEDS_CUDA, str(item.value)) for item in texts)

    def _is_demanded(self, comparison: ast.AST | None) -> bool:
        """``assert device in ["cuda", "mps", "cpu"]``, which fails once the device is called otherwise."""
        if not isinstance(comparison, ast.Compare):
            return False
        holder = self._tree.parents[comparison]
        if isinstance(holder, ast.Assert):
            return isinstance(comparison.ops[0], ast.In)
        refuses = isinstance(comparison.ops[0], ast.NotIn) and isinstance(holder, ast.If) and holder.test is comparison
        return refuses and self._questions.ends_program(comparison)

    def _is_flag_of_cuda(self, comparison: ast.expr) -> bool:
        """``self.is_cuda = device.type == "cuda"``, and what is asked for older versions, behind an exception."""
        statement = self._tree.parents[self._placement.root(comparison)]
        if isinstance(statement, ast.Assign) and is_named_question(last_name(statement.targets[0])):
            return True
        return any(isinstance(item, ast.ExceptHandler) for item in self._tree.ancestors(comparison))

    def _whole_text(self, node: ast.expr) -> ast.expr:
        """``"cuda:" + str(i)``, ``"cuda:%d" % i`` and ``"cuda:{}".format(i)`` as a whole."""
        parent = self._tree.parents[node]
        if isinstance(parent, ast.BinOp) and parent.left is node:
            return parent
        if isinstance(parent, ast.Attribute) and parent.attr == "format":
            call = self._tree.parents[parent]
            return call if isinstance(call, ast.Call) else node
        return node

    def _compares_device(self, node: ast.expr, comparison: ast.AST | None) -> bool:
        """Whether the other side comes from a device site of this file."""
        if isinstance(comparison, ast.Call):
            func = comparison.func
            return isinstance(func, ast.Attribute) and self._flow.derives(func.value)
        if isinstance(comparison, ast.Match):
            return self._is_whole_pattern(node) and self._flow.derives(comparison.subject)
        if not isinstance(comparison, ast.Compare) or len(comparison.ops) != 1:
            return False
        is_same = isinstance(comparison.ops[0], ast.Is | ast.IsNot)
        if not is_same and not isinstance(comparison.ops[0], ast.Eq | ast.NotEq | ast.In | ast.NotIn):
            return False
        sides = [comparison.left, comparison.comparators[0]]
        other = next((side for side in sides if not self._tree.encloses(side, node)), None)
        if other is None or self._flow.compared.is_way(other) or (is_same and is_never_text(self._index, other)):
            return False
        beside = _is_type_of_tensor(other) and self._flow.compared.decides_move(comparison)
        return beside or self._is_asserted_place(comparison, other) or self._flow.derives(other)

    def _is_asserted_place(self, comparison: ast.Compare, other: ast.expr) -> bool:
        """``assert str(x.device) == "cuda:0"``, which fails once x is on another device.

        A type that is asserted may be what a kernel needs.
        """
        asked = other.args[0] if isinstance(other, ast.Call) and len(other.args) == 1 else None
        is_text = asked is not None and self._is_call_to(other, "builtins.str")
        is_place = isinstance(asked, ast.Attribute) and asked.attr == "device"
        is_asserted = isinstance(self._tree.parents[comparison], ast.Assert)
        return is_text and is_place and is_asserted and isinstance(comparison.ops[0], ast.Eq)

    def _is_whole_pattern(self, node: ast.expr) -> bool:
        """Whether ``case "cuda":`` compares the subject itself, not a part of it."""
        pattern: ast.AST = self._tree.parents[node]
        while isinstance(outer := self._tree.parents[pattern], ast.MatchOr):
            pattern = outer
        return isinstance(outer, ast.match_case)

    def _is_name_of_method(self, node: ast.expr) -> bool:
        """Whether a text is one of several by which a method is asked for: ``getattr(x, ("cpu", "cuda")[i])()``."""
        part, holder = node, self._tree.parents[node]
        while isinstance(holder, ast.Tuple | ast.List | ast.Subscript | ast.IfExp):
            part, holder = holder, self._tree.parents[holder]
        is_asked = self._is_call_to(holder, "builtins.getattr")
        return is_asked and isinstance(holder, ast.Call) and holder.args[1:2] == [part]

    def _is_call_to(self, node: ast.AST | None, *names: str) -> bool:
        return isinstance(node, ast.Call) and self._index.qualified_name(node.func) in names

    def _is_only_a_word(self, place: Place) -> bool:
        """Whether a variable of a file that serves others is only compared, or sets the precision of a class.

        A parameter may also go to an autocast or a scaler: those who call give the device.
        """
        if place.kind != "variable" or self._index.is_program or any(key[0] != "name" for key in place.keys):
            return False
        loads = [load for key in place.keys for load in self._flow.variables.loads(key)]
        given = isinstance(place.node, FUNCTIONS)
        return bool(loads) and all(
            self._is_compared_with_others(load) or self._flow.places.is_of_precision(load, functions=given)
            for load in loads
        )

    def _is_only_a_key(self, node: ast.expr, place: Place) -> bool:
        """Whether a variable only looks its text up in dictionaries that know it: ``COSTS = {"cuda": 1}``."""
        if place.kind != "variable" or not isinstance(node, ast.Constant):
            return False
        loads = [load for key in place.keys for load in self._flow.variables.loads(key)]
        return bool(loads) and all(self._is_known_key(load, node.value) for load in loads)

    def _is_known_key(self, load: ast.expr, text: object) -> bool:
        part = self._tree.parents[load]
        if isinstance(part, ast.Call) and part.args[:1] == [load] and isinstance(part.func, ast.Attribute):
            table = part.func.value if part.func.attr == "get" else None
        else:
            table = part.value if isinstance(part, ast.Subscript) and part.slice is load else None
        made: list[ast.expr | None] = [table] if isinstance(table, ast.Dict) else []
        if isinstance(table, ast.Name | ast.Attribute):
            made = [binding.value for binding in self._index.flow.bindings_of(table) if not binding.path]
        return bool(made) and all(
            isinstance(one, ast.Dict) and any(isinstance(key, ast.Constant) and key.value == text for key in one.keys)
            for one in made
        )

    def _is_compared_with_others(self, load: ast.expr) -> bool:
        """``torch.device(d).type == expected``; beside ``"cuda"`` both names must change together."""
        comparison = self._flow.places.of(load).node if self._flow.places.of(load).kind == "comparison" else None
        if not isinstance(comparison, ast.Compare):
            return False
        return all(self._flow.cuda_index(side) is None for side in (comparison.left, *comparison.comparators))

    def _is_seen_as_device(self, place: Place) -> bool:
        """Whether the variable a name is put in is seen to be used as a device."""
        loads = [load for key in place.keys for load in self._flow.variables.loads(key)]
        return any(self._flow.is_device_place(self._flow.places.of(load)) for load in loads)


def _is_type_of_tensor(node: ast.expr) -> bool:
    """``x.device.type``"""
    device = node.value if isinstance(node, ast.Attribute) and node.attr == "type" else None
    return isinstance(device, ast.Attribute) and device.attr == "device"
