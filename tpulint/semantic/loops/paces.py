"""How often any line runs: what belongs to no turn runs once per epoch, once, or nobody knows how often."""

from __future__ import annotations

import ast

from tpulint.model import Pace
from tpulint.semantic.loops.regions import may_have_turns
from tpulint.semantic.project.outside import STEP
from tpulint.semantic.reads.reads import Read
from tpulint.semantic.syntax.nodes import FUNCTIONS, LOOPS, FunctionNode, LoopNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 8


class Paces:
    """Answers about one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        # Most files with findings train nothing: their loops are not looked for.
        may_have = may_have_turns(index.source, index.outside) or "__main__" in index.source.text
        self.are_known = may_have and index.regions.have_turns
        """Whether there is anything to tell."""
        self._of_functions: dict[FunctionNode, Pace | None] = {}
        self._of_loops: dict[LoopNode, bool] = {}

    def of(self, node: ast.AST) -> Pace | None:
        """How often a node runs, forward passes included; of a loop or function, how often its turns do."""
        if not self.are_known:
            return None
        if isinstance(node, FUNCTIONS):
            node = node.body[0]
        elif isinstance(node, LOOPS):
            inside = self._in_turn(node.body[0])
            if inside is not None:
                return inside
        return self._in_turn(node) or self.outside_of_turns(node)

    def _in_turn(self, node: ast.AST) -> Pace | None:
        pace = self._index.regions.pace_of(node)
        if pace is None:
            turn = self._index.turn_code.turn_of(node)
            if turn is not None:
                return Pace.STEP if turn == STEP else Pace.EVALUATION
        return pace

    def outside_of_turns(self, node: ast.AST, depth: int = 0) -> Pace | None:
        """How often a node runs that belongs to no turn; None where a loop or a caller is not known."""
        tree = self._index.tree
        child, in_other_loop = node, False
        for ancestor in tree.ancestors(node):
            if isinstance(ancestor, LOOPS) and tree.in_body(ancestor, child):
                if self.is_epoch_loop(ancestor):
                    return Pace.EPOCH
                in_other_loop = True
            elif isinstance(ancestor, ast.Lambda):
                return None
            elif isinstance(ancestor, FUNCTIONS) and tree.in_body(ancestor, child):
                pace = self._of_function(ancestor, depth)
                return None if in_other_loop and pace is Pace.ONCE else pace
            child = ancestor
        return None if in_other_loop else Pace.ONCE

    def reads_per_epoch(self) -> list[Read]:
        """Host reads that each epoch makes outside of its turns, those in functions it calls included, by position."""
        if not self.are_known:
            return []
        index = self._index
        holders: list[ast.AST] = [loop for loop in index.tree.loops if self.is_epoch_loop(loop)]
        holders += [function for function in index.tree.functions if self._of_function(function, 0) is Pace.EPOCH]
        found = {read.node: read for holder in holders for read in index.reads.inside(holder)}
        reads = (read for read in found.values() if self.of(read.node) is Pace.EPOCH)
        return sorted(reads, key=lambda read: index.span(read.node))

    def is_epoch_loop(self, loop: LoopNode) -> bool:
        """Whether each turn of a loop runs a step or evaluation loop, itself or through functions."""
        found = self._of_loops.get(loop)
        if found is None:
            regions, tree = self._index.regions, self._index.tree
            found = False
            if loop not in regions.turn_loops:
                functions = regions.functions_in(loop)
                found = any(
                    tree.encloses(loop, turns) or tree.function_of(turns) in functions for turns in regions.turn_loops
                )
            self._of_loops[loop] = found
        return found

    def _of_function(self, function: FunctionNode, depth: int) -> Pace | None:
        """How often a function is called, by the costliest of its calls."""
        if function in self._of_functions:
            return self._of_functions[function]
        if depth > _DEPTH:
            return None
        self._of_functions[function] = None  # one that calls itself
        calls = self._index.definitions.calls_of(function)
        paces = {self._index.regions.pace_of(call) or self.outside_of_turns(call, depth + 1) for call in calls}
        if Pace.EPOCH in paces:
            pace: Pace | None = Pace.EPOCH
        elif not calls:
            launched = any(function in launch.functions for launch in self._index.launches.launches)
            pace = Pace.ONCE if launched else None
        else:
            pace = Pace.ONCE if paces == {Pace.ONCE} else None
        self._of_functions[function] = pace
        return pace
