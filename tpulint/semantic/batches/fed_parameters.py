"""Parameters of functions that a loop takes its batches from, and loaders that are handed to such functions."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable

from tpulint.records import NamedTuple
from tpulint.semantic.batches.batch_loops import batches_of, gone_through
from tpulint.semantic.batches.left_out_batches import leaves_out_smaller
from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.loops.repeated_batches import loops_of_batch
from tpulint.semantic.project.other_files import function_run, methods
from tpulint.semantic.project.outside import EVALUATION, STEP, qualified_in_file
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode, LoopNode
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.value import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.loops.regions import StepLoop
    from tpulint.semantic.syntax.bindings import Binding

ANY = "[:]"
"""The part of a dictionary that a variable key stands for: ``loaders[phase]``."""
_DEPTH = 6
_LOADER = "loader"
"""What stands in files that hand on what they are given for the loops of others."""


class Handed(NamedTuple):
    """An argument of a call, or a part of it, that loops of another file take their batches from."""

    item: ast.expr
    path: tuple[str, ...]
    """``("0",)`` where the function unpacks it, ``("['train']",)`` where it takes what lies behind a key."""
    turns: set[str]
    """What the turns of the loops are called."""


class FedParameters:
    """Answers about one file, asked for by the files that call its functions."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._fed: dict[tuple[str, str], dict[tuple[str, ...], set[str]]] = {}
        self._is_looked_for = False

    def loops_of(self, function: str, parameter: str) -> dict[tuple[str, ...], set[str]]:
        """What the turns of the loops are called that take their batches from a parameter of a function, or a part.

        Loops of other files count, too, which the function hands it on to. Files that ask each other in a circle are
        told what is known so far.
        """
        if not self._is_looked_for:
            self._is_looked_for = True
            self._look()
        return self._fed.get((function, parameter), {})

    def is_evaluated_on(self, function: FunctionNode, parameter: str, modules: Container[str]) -> bool:
        """Whether a loop runs a module over the batches of a parameter, without gradients.

        Only the caller knows which parameters are ``modules``: in this file the loop may be one of any kind.
        """
        index = self._index
        for loop in index.tree.loops:
            is_over = (
                isinstance(loop, ast.For)
                and index.tree.encloses(function, loop)
                and self._leads(loop.iter, parameter)
                and not leaves_out_smaller(index, loop)
            )
            for call in index.tree.nodes_in(loop, ast.Call, functions=False) if is_over else ():
                assert isinstance(call, ast.Call)
                is_run = isinstance(call.func, ast.Name) and call.func.id in modules
                if is_run and index.regions.evaluation.switches.is_under_no_grad(call):
                    return True
        return False

    def _leads(self, node: ast.expr, parameter: str, depth: int = 0) -> bool:
        """Whether what a loop runs over is a parameter, or what calls make of it: ``enumerate(tqdm(loader))``."""
        if isinstance(node, ast.Call) and depth < _DEPTH:
            return any(self._leads(item, parameter, depth + 1) for item in gone_through(node))
        bindings = self._index.flow.reaching(node) if isinstance(node, ast.Name) and depth < _DEPTH else ()
        return any(
            binding.name == parameter
            if binding.kind == "parameter"
            else binding.value is not None and self._leads(binding.value, parameter, depth + 1)
            for binding in bindings
        )

    def _look(self) -> None:
        index = self._index
        if index.has_turn_loops:
            for loop in index.step_loops:
                by_purpose = self._by_purpose(loop)
                for turn, items in by_purpose.items():
                    for item in items:
                        self._note(item, turn, 0)
                iterated = getattr(loop.node, "iter", None) if by_purpose else None
                for item in sources_of(index, loop.node, loop.functions):
                    if item is not iterated:
                        self._note(item, STEP, 0)
            for node in index.regions.evaluation_loops:
                for item in sources_of(index, node) if not leaves_out_smaller(index, node) else ():
                    self._note(item, EVALUATION, 0)
            for listed in index.regions.listed_evaluations:
                self._note(listed.generators[0].iter, EVALUATION, 0)
        calls = index.tree.calls if _LOADER in index.source.text and index.imported.knows_others else ()
        for call in calls:
            given = (*call.args, *(keyword.value for keyword in call.keywords))
            if not any(isinstance(one, ast.Name | ast.Attribute) and _LOADER in last_name(one) for one in given):
                continue
            for handed in fed_elsewhere(index, call):
                for turn in handed.turns:
                    self._note(handed.item, turn, 0, handed.path)

    def _by_purpose(self, loop: StepLoop) -> dict[str, list[ast.expr]]:
        """What a loop goes through in turns that train, and in others: ``train_loader if train else test_loader``."""
        from tpulint.semantic.functions.ruled_out import sources_by_purpose

        found = sources_by_purpose(self._index, loop)
        return {EVALUATION if evaluates else STEP: items for evaluates, items in found.items()}

    def _note(self, node: ast.expr, turn: str, depth: int, path: tuple[str, ...] = ()) -> None:
        """Follow what a loop runs over to parameters, through variables, attributes and calls around it.

        With a path the part that is meant of what an expression gives.
        """
        if depth > _DEPTH:
            return
        if isinstance(node, ast.Call):
            for item in gone_through(node) if not path else ():
                self._note(item, turn, depth + 1)
        elif (changed := batches_of(node)) is not None:
            if not path:
                self._note(changed, turn, depth + 1)
        elif isinstance(node, ast.Tuple):  # `self.model, self.loader = model, loader`
            if path and path[0].isdecimal() and int(path[0]) < len(node.elts):
                self._note(node.elts[int(path[0])], turn, depth + 1, path[1:])
        elif isinstance(node, ast.Subscript):
            at = f"[{node.slice.value!r}]" if isinstance(node.slice, ast.Constant) else ANY
            self._note(node.value, turn, depth + 1, (at, *path))
        elif isinstance(node, ast.Name | ast.Attribute):
            bindings = self._index.flow.bindings_of(node)
            for binding in bindings:
                self._note_binding(binding, turn, depth, path)
            if isinstance(node, ast.Attribute) and not bindings:
                self._note(node.value, turn, depth + 1, (node.attr, *path))

    def _note_binding(self, binding: Binding, turn: str, depth: int, path: tuple[str, ...]) -> None:
        function, definitions = binding.statement, self._index.definitions
        if binding.kind == "parameter" and isinstance(function, FUNCTIONS):
            name = qualified_in_file(self._index.tree, function)
            known = self._fed.setdefault((name, binding.name), {}).setdefault(path, set())
            if turn in known:
                return
            known.add(turn)
            given = definitions.arguments.of(function, binding.name)
            for item in (*given, *definitions.arguments.of_derived(function, binding.name)):
                self._note(item, turn, depth + 1, path)
        elif binding.kind == "with" and isinstance(binding.value, ast.Call) and not binding.path:
            self._note(binding.value, turn, depth + 1, path)  # `with tqdm(loader) as bar:`
        elif binding.kind == "assign" and binding.value is not None and all(at >= 0 for at in binding.path):
            self._note(binding.value, turn, depth + 1, (*map(str, binding.path), *path))


def sources_of(
    index: SemanticIndex, loop: LoopNode | FunctionNode, functions: Iterable[FunctionNode] = ()
) -> list[ast.expr]:
    """What a loop takes its batches from: what it runs over, and what ``next(...)`` draws in it and its functions.

    Also a list that it runs over by places, as in ``for i in range(len(batches))``, and ``batches[i]``, and what the
    loop around it takes the batch from that each of its turns trains on.
    """
    found = [loop.iter] if isinstance(loop, ast.For | ast.AsyncFor) else []
    found += _lists_by_places(index, loop)
    found += [around.iter for around in loops_of_batch(index, loop)]
    for call in index.calls_to("builtins.next"):
        # `next(iter(loader))` begins anew each time, and never comes to the last batch.
        is_drawn = call.args and not isinstance(call.args[0], ast.Call)
        if is_drawn and any(index.tree.encloses(place, call) for place in (loop, *functions)):
            found += _given_to_object(index, loop, call.args[0]) or [call.args[0]]
    for call, drawn in index.method_calls("next", "__next__"):  # as Python 2 wrote it
        if not call.args and any(index.tree.encloses(place, call) for place in (loop, *functions)):
            found.append(drawn)
    return found


def _given_to_object(index: SemanticIndex, loop: ast.AST, drawn: ast.expr) -> list[ast.expr]:
    """What the object was made with whose method draws for a loop: ``prefetcher.next()`` of one of two prefetchers."""
    owner = index.tree.class_of(drawn)
    if owner is None or index.tree.encloses(loop, drawn):
        return []
    objects = {
        call.func.value.id: call.func.value
        for call in index.tree.nodes_in(loop, ast.Call, functions=False)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and index.definitions.classes.one_of_variable(call.func.value) is owner
    }
    made = [creation.node for item in objects.values() for creation in index.moves.creations.of(item)]
    return [item for call in made if isinstance(call, ast.Call) for item in call.args if isinstance(item, ast.Name)]


def _lists_by_places(index: SemanticIndex, loop: ast.AST) -> list[ast.expr]:
    heads = (loop.iter, *index.tree.inside(loop.iter)) if isinstance(loop, ast.For | ast.AsyncFor) else ()
    counted = {
        node.args[0].id: node.args[0]
        for node in heads
        if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.args[0], ast.Name)
        and index.qualified_name(node.func) == "builtins.len"
    }  # fmt: skip
    taken = index.tree.nodes_in(loop, ast.Subscript, functions=False) if counted else ()
    names = [node.value.id for node in taken if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)]
    return [item for name, item in counted.items() if name in names]


def fed_elsewhere(index: SemanticIndex, call: ast.Call) -> list[Handed]:
    """Arguments of a call that loops of another file take their batches from, with what their turns are called."""
    found = index.imported.all_called(call) if call.args or call.keywords else ()
    if not found and isinstance(call.func, ast.Name) and (call.args or call.keywords):
        objects = methods(index.imported.classes_of(call.func), "__call__")  # `trainer(loader)`
        found = objects if len(objects) == 1 else ()
    fed: dict[tuple[ast.expr, tuple[str, ...]], set[str]] = {}
    if found:
        from tpulint.semantic.functions.ruled_out import only_evaluates
    for run in (function_run(item) for item in found):
        if run is None or not isinstance(run.node, FUNCTIONS):
            continue
        if not run.file.has_turn_loops and _LOADER not in run.file.source.text:
            continue
        name = qualified_in_file(run.file.tree, run.node)
        is_method = run.file.tree.class_of(run.node) is not None
        evaluates = only_evaluates(index, call, run)
        given = arguments_given(call, run.node, is_method)
        modules = [parameter for parameter, item in given if index.kind(item) is Kind.MODULE]
        found_in: list[tuple[ast.expr, tuple[str, ...], set[str]]] = []
        for parameter, item in given:
            parts = run.file.fed_parameters.loops_of(name, parameter)
            if modules and not parts and run.file.fed_parameters.is_evaluated_on(run.node, parameter, modules):
                parts = {(): {EVALUATION}}
            found_in += [(item, path, turns) for path, turns in parts.items()]
        # Where it chooses others for that, it does not evaluate on what it trains with.
        is_chosen = any(EVALUATION in turns for _, _, turns in found_in)
        for item, path, turns in found_in:
            left = turns & {EVALUATION} if is_chosen else {EVALUATION} if turns else turns
            fed.setdefault((item, path), set()).update(left if evaluates else turns)
    return [Handed(item, path, turns) for (item, path), turns in fed.items() if turns]
