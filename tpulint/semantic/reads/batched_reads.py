"""Several reads of one turn behind its step boundary, which one transfer can serve."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tpulint.records import NamedTuple
from tpulint.semantic.loops.regions import Pace, Step
from tpulint.semantic.reads.block_reads import reads_by_block
from tpulint.semantic.reads.chosen_reads import choice_around
from tpulint.semantic.reads.fetches import Fetch, Fetches, value_key
from tpulint.semantic.reads.read_arrays import is_array_of_number, is_logged_array
from tpulint.semantic.reads.read_doubts import is_taken_as_tensor, may_be_on_host
from tpulint.semantic.reads.reads import How, Read
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.nodes import FunctionNode, LoopNode
from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_CONDITIONS = (ast.If, ast.IfExp, ast.BoolOp, ast.For, ast.While, ast.Try, ast.comprehension)


class ReadGroup(NamedTuple):
    """Reads behind a boundary whose values can be fetched there once and for all."""

    boundary: ast.stmt
    """Comes to it, by itself or by what it holds."""
    reads: tuple[Read, ...]
    tensors: tuple[ast.expr, ...]
    """The different tensors that are read in every turn and not fetched yet, in order of position."""
    fetch: Fetch | None
    """Values that are fetched behind the boundary already, be it in some turns."""
    names: dict[ast.Assign, ast.expr]
    """Statements ``x = tensor.item()`` that can go when the variable is given its number with the others."""
    optional: frozenset[str] = frozenset()
    """Keys of those of the tensors that are None in some turns, in which nothing reads them."""
    blocks: tuple[ast.stmt, ...] = ()
    """First statements of blocks behind the boundary, not come to in every turn, at whose start they are fetched."""
    arrays: tuple[Read, ...] = ()
    """Those of the reads that give an array of one number, ``loss.cpu().numpy()``."""


class BatchedReads:
    """Finds groups of reads behind the boundary of a step loop."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._fetches = Fetches(index)
        self._memo: dict[LoopNode | FunctionNode, ReadGroup | None] = {}

    def of(self, loop: Step | LoopNode) -> ReadGroup | None:
        """The reads behind the boundary that one transfer can serve, where there are at least two."""
        node = loop.node if isinstance(loop, Step) else loop
        if node not in self._memo:
            boundaries = self._index.boundaries
            if isinstance(loop, Step):
                boundary, pace = boundaries.sync_of(loop), Pace.STEP
            else:
                boundary, pace = boundaries.sync_of_evaluation(loop), Pace.EVALUATION
            self._memo[node] = None if boundary is None else self._group(node, boundary, pace)
        return self._memo[node]

    def are_fetched(self, loop: Step) -> bool:
        """Whether values are fetched together behind the boundary already."""
        boundary = self._index.boundaries.sync_of(loop)
        return boundary is not None and self._fetches.behind(boundary) is not None

    def now_and_then(self, loop: Step) -> list[ReadGroup]:
        """The same of reads that not every turn makes: in blocks behind the boundary, or behind one of their own."""
        boundaries, main = self._index.boundaries, self.of(loop)
        boundary = boundaries.sync_of(loop)
        if boundary is None:
            return []
        groups: list[ReadGroup] = []
        for inner in map(boundaries.sync_at, loop.boundaries):
            group = None if inner is None or inner is boundary else self._group(loop.node, inner, None)
            groups += [] if group is None else [group]
        served = [read for group in (main, *groups) if group is not None for read in group.reads]
        return [*self._in_blocks(loop, boundary, served), *groups]

    def around_calls(self, loop: Step) -> list[ReadGroup]:
        """The same where a function, or the loop itself, comes to the boundary within a statement before the reads.

        ``if self.count % n == 0: self.update()`` and ``return loss.item(), norm.item()``: stacked in front of that.
        """
        main = self.of(loop)
        served = () if main is None else main.reads
        found = []
        for holder in (loop.node, *loop.functions):
            place = self._index.boundaries.passed_within(holder, loop)
            group = None if place is None else self._group(holder, place, Pace.STEP)
            if group is not None and not any(read in served for read in group.reads):
                found.append(group)
        return found

    def _in_blocks(self, loop: Step, boundary: ast.stmt, served: Sequence[Read]) -> list[ReadGroup]:
        made = self._made_in_blocks(loop.node, boundary)
        rare = [(read, item) for read, item, is_steady in made if is_steady and read not in served]
        groups: dict[frozenset[str], ReadGroup] = {}
        for first, reads in reads_by_block(self._index.tree, rare).items():
            tensors = {value_key(read.tensor): read.tensor for read in reads}
            same = groups.get(frozenset(tensors))
            if same is not None:
                groups[frozenset(tensors)] = same._replace(reads=(*same.reads, *reads), blocks=(*same.blocks, first))
            elif len(reads) > 1:
                group = ReadGroup(boundary, tuple(reads), tuple(tensors.values()), None, {}, blocks=(first,))
                groups[frozenset(tensors)] = group
        return list(groups.values())

    def _made_in_blocks(
        self, node: LoopNode | FunctionNode, boundary: ast.stmt
    ) -> Iterator[tuple[Read, ast.stmt, bool]]:
        """Reads in blocks behind a boundary that can be fetched in front of it, with the statements that make them.

        And whether there is a tensor to be read in every turn; else some turns have None.
        """
        from tpulint.semantic.reads.steady_values import is_optional, is_steady
        from tpulint.semantic.reads.whole_numbers import may_lose_its_type

        tree, collected = self._index.tree, {read.node for read in self.collected_in(node)}
        suite = tree.suite_of(boundary)
        for statement in suite[suite.index(boundary) + 1 :]:
            for read in self._index.reads.inside(statement) if isinstance(statement, ast.If) else ():
                item = self._item_of_block(read)
                if item is None or read.node in collected or not self.is_number(read):
                    continue
                if not self.is_ready(read.tensor, boundary, item) or may_be_on_host(self._index, read.tensor, node):
                    continue
                steady = is_steady(self._index, read, boundary)
                if not steady and not is_optional(self._index, read, boundary):
                    continue
                if not may_lose_its_type(self._index, read):
                    yield read, item, steady

    def _item_of_block(self, read: Read) -> ast.stmt | None:
        """The statement that holds a read, in the innermost block of an ``if``, where it makes it unconditionally."""
        tree = self._index.tree
        child: ast.AST = read.node
        for ancestor in tree.ancestors(read.node):
            if isinstance(ancestor, ast.If) and isinstance(child, ast.stmt):
                return child if self._is_unconditional(read, child) else None
            child = ancestor
        return None

    def fetched_in(self, loop: LoopNode) -> list[Read]:
        """The one transfer right behind the boundary of an evaluation loop: ``values = stacked.tolist()``."""
        boundary = self._index.boundaries.sync_of_evaluation(loop)
        suite = [] if boundary is None else self._index.tree.suite_of(boundary)
        behind = suite[suite.index(boundary) + 1 :][:1] if boundary is not None else []
        reads = [read for statement in behind for read in self._index.reads.inside(statement)]
        whole = len(reads) == 1 and isinstance(behind[0], ast.Assign) and behind[0].value is reads[0].node
        return reads if whole else []

    def _group(self, node: LoopNode | FunctionNode, boundary: ast.stmt, pace: Pace | None) -> ReadGroup | None:
        from tpulint.semantic.reads.steady_values import may_be_placeholder, raises_of_none
        from tpulint.semantic.reads.whole_numbers import may_lose_its_type

        index = self._index
        collected = {read.node for read in self.collected_in(node)}
        suite = index.tree.suite_of(boundary)
        rest = suite[suite.index(boundary) + 1 :]
        fetch = self._fetches.behind(boundary)
        ready = [
            (read, statement)
            for statement in rest
            for read in index.reads.inside(statement)
            if read.node not in collected and self.is_ready(read.tensor, boundary, index.statement_of(read.node))
            if not may_lose_its_type(index, read)
        ]
        arrays = [
            read
            for read, _ in ready
            if pace is not None and fetch is None and is_array_of_number(index, read) and not self.is_number(read)
        ]
        always = [
            read
            for read, statement in ready
            if pace in (None, index.pace_of(read.node))
            and self._is_unconditional(read, statement)
            and (self.is_number(read) or read in arrays)
            and not may_be_placeholder(index, read.tensor, boundary)
            and (pace is not None or not may_be_on_host(self._index, read.tensor, node))
        ]
        if pace is Pace.STEP and always:
            chosen = [read for read, _ in ready if index.pace_of(read.node) is pace and self._is_chosen(read, boundary)]
            always = [read for read, _ in ready if read in always or read in chosen]
        # Turns that go on before the first read are not given one.
        begin = None if fetch is not None else self._first_behind_exits(rest, always)
        if begin is not None:
            ready = [(read, statement) for read, statement in ready if rest.index(statement) >= rest.index(begin)]
        if fetch is None and begin is None and pace is Pace.STEP and len(always) > 1:
            fetch = self._fetches.in_block(boundary)
        known = {} if fetch is None else fetch.values
        tensors: dict[str, ast.expr] = {}
        for read in always:
            if value_key(read.tensor) not in known:
                tensors.setdefault(value_key(read.tensor), read.tensor)
        optional = set[str]() if fetch is None else {*fetch.optional}
        if pace is Pace.STEP and (known or len(always) > 1):
            # Where several are fetched in every turn, one more costs nothing.
            at = index.span(begin or boundary).start
            for read, _, steady in self._made_in_blocks(node, boundary):
                if value_key(read.tensor) not in known and index.span(read.node).start > at:
                    tensors.setdefault(value_key(read.tensor), read.tensor)
                    if not steady:
                        optional.add(value_key(read.tensor))
        served = {*known, *tensors}
        # What is fetched anyway serves every other read of the same tensor, however rarely it happens.
        reads = [
            read
            for read, _ in ready
            if value_key(read.tensor) in served and (self._may_be_number(read) or read in arrays)
            if value_key(read.tensor) not in optional or raises_of_none(read)
        ]
        if fetch is not None:
            reads = [read for read in reads if index.statement_of(read.node) is not fetch.statement]
        if not reads or (not known and len(reads) < 2):
            return None
        arrays = [read for read in reads if read in arrays]
        # A variable that is given a number of Python is not given one of NumPy.
        names = self._given_names([read for read in arrays or reads if read in always], boundary)
        blocks = () if begin is None else (begin,)
        return ReadGroup(
            boundary, tuple(reads), tuple(tensors.values()), fetch, names, frozenset(optional), blocks, tuple(arrays)
        )

    # ---------------------------------------------------------------- which reads

    def _first_behind_exits(self, rest: list[ast.stmt], reads: list[Read]) -> ast.stmt | None:
        """Where the turns are again that have not gone on before the first of the reads; None where none can."""
        tree = self._index.tree
        at = next((at for at, item in enumerate(rest) if any(tree.encloses(item, read.node) for read in reads)), 0)
        exits = [number for number, item in enumerate(rest[:at]) if tree.may_go_on(item)]
        return rest[exits[-1] + 1] if exits else None

    def collected_in(self, node: LoopNode | FunctionNode) -> list[Read]:
        """Reads for totals and lists that can stay on the device until the loop ends."""
        if not isinstance(node, LoopNode):
            return []
        totals, lists = self._index.totals.of(node), self._index.filled_lists.of(node)
        return [read for total in totals for read in total.reads] + [read for one in lists for read in one.reads]

    def _is_unconditional(self, read: Read, statement: ast.stmt) -> bool:
        """Whether a read happens whenever its statement is come to."""
        tree = self._index.tree
        child: ast.AST = read.node
        for ancestor in tree.ancestors(read.node):
            if isinstance(ancestor, _CONDITIONS):
                is_first = isinstance(ancestor, ast.If) and child is ancestor.test
                if not (is_first or (isinstance(ancestor, ast.BoolOp) and ancestor.values[0] is child)):
                    return False
            if ancestor is statement:
                return True
            child = ancestor
        return True

    def _is_chosen(self, read: Read, boundary: ast.stmt) -> bool:
        """Whether another number may be taken for that of a tensor which is there in every turn.

        ``recon.item() if x is not None else 0``: beside others, reading it anyway costs nothing.
        """
        from tpulint.semantic.reads.steady_values import is_steady

        choice = choice_around(self._index.tree, read)
        return (
            choice is not None
            and isinstance(read.tensor, ast.Name)
            and self.is_number(read)
            and self._is_unconditional(read._replace(node=choice), self._index.statement_of(choice))
            and is_steady(self._index, read, boundary)
        )

    def is_ready(self, tensor: ast.expr, boundary: ast.stmt, statement: ast.stmt) -> bool:
        """Whether an expression has the value it is read with at the boundary already."""
        index = self._index
        at = index.span(boundary).start
        names, trained = set(), False
        for node in (tensor, *index.tree.inside(tensor)):
            if isinstance(node, ast.NamedExpr | ast.Lambda | ast.Await):
                return False
            if isinstance(node, ast.Call) and not index.scalars.is_pure(node):
                return False
            if isinstance(node, ast.Name) and not index.qualified_name(node):
                bindings = index.flow.reaching(node)
                later = [b for b in bindings if index.span(b.node).start > at]
                if not bindings or (later and not self._is_bound_anew(node, boundary, later)):
                    return False
                names.add(node.id)
            trained = trained or (isinstance(node, ast.Attribute) and node.attr == "grad")
            trained = trained or (isinstance(node, ast.Name | ast.Attribute) and index.kind(node) is Kind.MODULE)
        if trained and (index.effects.trains(boundary) or index.deferrals.trains_between(boundary, statement)):
            return False
        changed = {path[0] for path in index.effects.of(boundary).changes}
        return not names & (changed | index.deferrals.mutated_between(boundary, statement))

    def _is_bound_anew(self, use: ast.Name, boundary: ast.stmt, later: list[Binding]) -> bool:
        """Whether what is bound behind a use, ``total = 0`` for the next turn, is taken up in front of the boundary.

        Or a tensor, too: a loss of the validation below.
        """
        index = self._index
        loop = index.tree.loop_of(boundary)
        if loop is None or any(index.span(b.node).start < index.span(use).end for b in later):
            return False
        if all(isinstance(b.value, ast.Call) and index.kinds.binding_value(b).kind is Kind.TENSOR for b in later):
            return index.tree.loop_of(use) is loop
        earlier = [b for b in index.flow.reaching(use) if b not in later and index.tree.encloses(loop, b.statement)]
        return any(index.flow.dominates(b, boundary) for b in earlier)

    def is_number(self, read: Read) -> bool:
        """Whether a read gives one number, by itself or in a text."""
        if read.how is How.FORMAT:
            return self._index.scalars.has_one_element(read.tensor) and not is_taken_as_tensor(self._index, read)
        if read.how is How.CAST and isinstance(read.node, ast.Call):
            return self._index.qualified_name(read.node.func) in ("builtins.float", "builtins.int")
        return self._index.scalars.is_number(read) or is_logged_array(self._index, read)

    def _may_be_number(self, read: Read) -> bool:
        """Whether the number can stand where the tensor was read, given that the tensor holds one."""
        return self.is_number(read) or (read.how is How.FORMAT and not is_taken_as_tensor(self._index, read))

    def _given_names(self, reads: list[Read], boundary: ast.stmt) -> dict[ast.Assign, ast.expr]:
        """Variables that are given one of the numbers and nothing else, where that may happen earlier."""
        index = self._index
        suite = index.tree.suite_of(boundary)
        found: dict[ast.Assign, ast.expr] = {}
        for read in reads:
            statement = index.statement_of(read.node)
            if not isinstance(statement, ast.Assign) or statement.value is not read.node or statement not in suite:
                continue
            target = statement.targets[0]
            if len(statement.targets) > 1 or not isinstance(target, ast.Name) or read.how is How.FORMAT:
                continue
            if isinstance(read.node, ast.Call) and index.qualified_name(read.node.func) == "builtins.int":
                continue
            if index.number_types.is_integer(read.tensor) or value_key(read.tensor) in map(value_key, found.values()):
                continue
            loop = index.tree.loop_of(statement)
            bound = [b for b in index.names.bindings(target) if loop is None or index.tree.encloses(loop, b.node)]
            begin, end = index.span(boundary).end, index.span(statement).start
            early = [n for n in index.tree.names_called(target.id) if begin <= index.span(n).start < end]
            is_own = isinstance(read.tensor, ast.Name) and read.tensor.id == target.id  # `total = total.item()`
            may_be_early = len(bound) == 1 or (is_own and not _leaves_between(suite, boundary, statement))
            if may_be_early and not early:
                found[statement] = read.tensor
        return found


def _leaves_between(suite: list[ast.stmt], boundary: ast.stmt, statement: ast.stmt) -> bool:
    """Whether a turn may end between two statements of a block."""
    between = suite[suite.index(boundary) + 1 : suite.index(statement)]
    return any(isinstance(part, ast.Continue | ast.Break | ast.Return) for one in between for part in ast.walk(one))
