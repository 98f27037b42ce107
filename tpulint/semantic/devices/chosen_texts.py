"""Texts of CUDA that a question for a GPU chooses, of which nobody knows whether they are devices."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.cuda.questions import only_tells
from tpulint.semantic.devices.device_sites import branches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.cuda.questions import Questions
    from tpulint.semantic.devices.device_flow import DeviceFlow
    from tpulint.semantic.devices.placement import Placement


class ChosenTexts:
    """Answers about the questions of one file."""

    def __init__(self, index: SemanticIndex, flow: DeviceFlow, placement: Placement, questions: Questions) -> None:
        self._index = index
        self._flow = flow
        self._placement = placement
        self._questions = questions

    def are_all_of(self, question: ast.expr) -> bool:
        """Whether a question chooses a text of CUDA that nothing here takes for a device, and nothing else.

        ``return "cuda:0" if torch.cuda.is_available() else "cpu"`` of a function that is called nowhere. Such a text
        stays what it is, and a program that it is given without the question asks for a GPU.
        """
        found = list(self._chosen_by(question))
        values = [one for value in found if value is not None for one in branches(value)]
        return None not in found and any(map(self._is_unknown, values))

    def _is_unknown(self, value: ast.expr) -> bool:
        flow = self._flow
        return flow.cuda_index(value) is not None and not flow.is_device_place(flow.places.of(value))

    def _chosen_by(self, question: ast.expr) -> Iterator[ast.expr | None]:
        """What a variable is given, or a function returns, under a question; None for whatever else it decides."""
        tree = self._index.tree
        root = self._placement.root(question)
        holder = tree.parents[root]
        named = holder.targets[0] if isinstance(holder, ast.Assign) and len(holder.targets) == 1 else None
        for asked in self._index.names.loads_of(named) if isinstance(named, ast.Name) else [question]:
            test = self._placement.root(asked)
            choice = tree.parents[test]
            if isinstance(choice, ast.IfExp) and choice.test is test:
                yield from (choice.body, choice.orelse)
            elif isinstance(choice, ast.If) and choice.test is test:
                for suite in self._questions.branches(choice, asked):
                    yield from map(self._given, (item for item in suite if not only_tells(item)))
            else:
                yield None

    def _given(self, statement: ast.stmt) -> ast.expr | None:
        """The text, or another constant, that a statement gives a variable or returns."""
        value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign | ast.Return) else None
        is_plain = value is not None and all(
            isinstance(one, ast.Constant) or self._flow.cuda_index(one) is not None for one in branches(value)
        )
        return value if is_plain else None
