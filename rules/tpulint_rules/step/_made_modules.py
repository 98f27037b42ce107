"""What modules do as they are made, before anybody moves them: they build optimizers."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tpulint.semantic import FUNCTIONS, Binding, Kind, SemanticIndex
from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.project.other_files import Definition, method, with_bases
from tpulint.semantic.syntax.torch_facts import OPTIMIZER_PREFIXES
from tpulint.semantic.values.creations import Creation
from tpulint_rules.step._parameters_given import GIVES_PARAMETERS, is_called_optimizer

_TRAINING = frozenset({"step", "backward"})
_MOVES = frozenset({"to", "cuda"})
_DEPTH = 4
"""Variables and parameters that a class is followed through."""


def makings(creations: Iterable[Creation]) -> Iterator[ast.Call]:
    """The calls that make whole objects, of these."""
    for creation in creations:
        if isinstance(creation.node, ast.Call) and not creation.path:
            yield creation.node


def classes_made(index: SemanticIndex, call: ast.Call) -> Iterator[Definition]:
    """The classes, of this file or others, of which a call may make an object."""
    here = index.definitions.class_called(call)
    if here is not None:
        yield Definition(index, here)
    yield from index.imported.classes_of(call)
    yield from _classes_given(index, call.func)


def _classes_given(index: SemanticIndex, func: ast.expr, depth: int = 0) -> Iterator[Definition]:
    """The classes that a variable or attribute stands for, which calls in this file give: ``Work(Policy)``."""
    found = index.imported.definition(func)
    if found is not None and found.is_class and depth:
        yield found
    for binding in index.flow.bindings_of(func) if depth < _DEPTH else ():
        given: list[ast.expr] = []
        if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
            given = index.definitions.arguments.of(binding.statement, binding.name)
        elif binding.kind == "assign" and binding.value is not None and not binding.path:
            given = [binding.value]
        for item in given:
            yield from _classes_given(index, item, depth + 1)


def begun(owner: Definition) -> list[Definition]:
    """What runs as an object of a class is made: ``__init__`` and the methods it calls, ``self.build()``."""
    start = method(owner, "__init__")
    found = [start] if start is not None and isinstance(start.node, FUNCTIONS) else []
    for run in found:
        for call in _calls_in(run):
            if isinstance(call.func, ast.Attribute) and _is(call.func.value, own_name(run)):
                further = method(owner, call.func.attr)
                if further is not None and isinstance(further.node, FUNCTIONS) and further not in found:
                    found.append(further)
    return found


def calls_on_host(owner: Definition) -> list[tuple[Definition, ast.Call]]:
    """The calls that run as an object is made, each in its function; none where one of them moves something."""
    found = [(run, call) for run in begun(owner) for call in _calls_in(run)]
    return [] if _move(call for _, call in found) else found


def _move(calls: Iterable[ast.Call]) -> bool:
    return any(isinstance(call.func, ast.Attribute) and call.func.attr in _MOVES for call in calls)


def _calls_in(run: Definition) -> list[ast.Call]:
    return run.file.tree.nodes_in(run.node, ast.Call, functions=False)


def own_name(run: Definition) -> str:
    """What a method calls its object: ``self``."""
    assert isinstance(run.node, FUNCTIONS)
    return run.node.args.args[0].arg if run.node.args.args else ""


def builds_its_own(owner: Definition) -> bool:
    """Whether a class builds an optimizer of its own parameters where it is made, and moves nothing there."""
    return any(_builds_of_itself(run, call) for run, call in calls_on_host(owner))


def modules_made(owner: Definition, depth: int = 0) -> Iterator[Definition]:
    """The classes of a module's parts, and of theirs, that build optimizers as it is made: ``self.world = World()``.

    Not those that it moves there itself.
    """
    if not isinstance(owner.node, ast.ClassDef) or not owner.file.definitions.is_module_class(owner.node):
        return
    for run in begun(owner) if depth < _DEPTH else ():
        own = own_name(run)
        moving = [call.func.value for call in _calls_in(run) if _move([call]) and isinstance(call.func, ast.Attribute)]
        for statement in _set_by(run):
            made = statement.value if isinstance(statement, ast.Assign) else None
            if not isinstance(made, ast.Call) or made in moving or _move([made]):
                continue
            kept = {run.file.text(one) for one in statement.targets} if isinstance(statement, ast.Assign) else set()
            if any(run.file.text(one) in (own, *kept) for one in moving):
                continue
            for part in classes_made(run.file, made):
                if not isinstance(part.node, ast.ClassDef) or not part.file.definitions.is_module_class(part.node):
                    continue
                if builds_its_own(part) and not is_told_otherwise(run.file, made, part):
                    yield part
                else:
                    yield from modules_made(part, depth + 1)


def is_told_otherwise(index: SemanticIndex, making: ast.Call, owner: Definition) -> bool:
    """Whether a call answers what a class asks as it is made: ``Net(no_optim=True)``, ``Net(**{"no_optim": True})``.

    Also by what the file puts in a dictionary, ``config["no_optim"] = True`` and ``Net(**config)``.
    """
    asked: set[str] = set()
    leaving: set[str] = set()
    for run in begun(owner):
        assert isinstance(run.node, FUNCTIONS)
        parameters = {item.arg for item in (*run.node.args.args, *run.node.args.kwonlyargs)}
        for branch in run.file.tree.nodes_in(run.node, ast.If, functions=False):
            test = branch.test if isinstance(branch, ast.If) else branch
            found = parameters & {part.id for part in ast.walk(test) if isinstance(part, ast.Name)}
            asked |= found
            leaving |= found if isinstance(branch, ast.If) and isinstance(branch.body[-1], ast.Return) else set()
    texts = (part.value for part in ast.walk(making) if isinstance(part, ast.Constant) and isinstance(part.value, str))
    if asked & {*texts, *(item.arg for item in making.keywords if item.arg)}:
        return True
    return bool(leaving) and not leaving.isdisjoint(_keys_given(index, making))


def _keys_given(index: SemanticIndex, making: ast.Call) -> Iterator[str]:
    """The keys that a file puts in dictionaries which a call unpacks."""
    for item in making.keywords:
        given = item.value
        if item.arg is not None or not isinstance(given, ast.Name):
            continue
        displays = [one.value for one in index.names.bindings(given) if one.value is not None]
        stores = [
            part.slice
            for use in index.tree.names_called(given.id)
            if index.function_of(use) is index.function_of(given)
            and isinstance(part := index.parent(use), ast.Subscript)
            and isinstance(part.ctx, ast.Store)
        ]
        keys = [*stores, *(key for one in displays if isinstance(one, ast.Dict) for key in one.keys)]
        yield from (key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str))
        yield from (
            word.arg for one in displays if isinstance(one, ast.Call) for word in one.keywords if word.arg is not None
        )


def _builds_of_itself(run: Definition, call: ast.Call) -> bool:
    """Whether a call in a method builds an optimizer of the parameters of its object."""
    name = run.file.qualified_name(call.func) or ""
    builds = name.startswith(OPTIMIZER_PREFIXES) or is_called_optimizer(run.file, call)
    return builds and any(_is_part(run, module, own_name(run)) for module in modules_given(run, call))


def parts_building(index: SemanticIndex, making: ast.Call, owner: Definition) -> Iterator[ast.expr | None]:
    """The parts that an object has build an optimizer as it is made: ``self.optimizer = self.net.get_optimizer()``.

    Of a part that the call gives, that is the argument; nothing of one that the object makes itself.
    """
    for run, call in calls_on_host(owner):
        part = call.func.value if isinstance(call.func, ast.Attribute) else None
        if part is None or is_kept_nowhere(run.file, call) or not _is_part(run, part, own_name(run)):
            continue
        assert isinstance(call.func, ast.Attribute)
        for given, made in _parts(index, making, run, part):
            file = run.file if given is None else index
            methods = (method(one, call.func.attr) for one in classes_made(file, made))
            if any(builds_of_object(one) for one in methods if one is not None):
                yield given


def _parts(
    index: SemanticIndex, making: ast.Call, run: Definition, part: ast.expr
) -> Iterator[tuple[ast.expr | None, ast.Call]]:
    """What makes a part of an object, and the argument that it comes in by."""
    assert isinstance(run.node, FUNCTIONS)
    for creation in run.file.moves.creations.of(part):
        if isinstance(creation.node, ast.Call) and not creation.path:
            yield None, creation.node
        elif isinstance(creation.node, ast.arg) and not creation.path:
            handed = dict(arguments_given(making, run.node, is_method=True)).get(creation.node.arg)
            for made in makings(index.moves.creations.of(handed)) if handed is not None else ():
                yield handed, made


def is_kept_nowhere(index: SemanticIndex, call: ast.Call) -> bool:
    """Whether a call stands alone, ``net.fit()``: what it builds may be long done with when the next line runs."""
    return isinstance(index.parent(call), ast.Expr)


def builds_of_object(run: Definition) -> bool:
    """Whether a method builds an optimizer of the parameters of its object, and moves nothing."""
    calls = _calls_in(run) if isinstance(run.node, FUNCTIONS) else []
    return not _move(calls) and any(_builds_of_itself(run, call) for call in calls)


def keeps_optimizer(run: Definition) -> bool:
    """Whether a method gives its object an optimizer to keep, which others step: ``self.optimizer = Adam(...)``."""
    steps = any(isinstance(call.func, ast.Attribute) and call.func.attr in _TRAINING for call in _calls_in(run))
    return not steps and builds_of_object(run) and any(_builds(run, statement) for statement in _set_by(run))


def keeps_nothing_else(run: Definition) -> bool:
    """Whether optimizers and schedules are all that a method gives its object, of which it asks nothing else."""
    own, tree = own_name(run), run.file.tree
    used = (node for node in tree.nodes_in(run.node, ast.Attribute) if _is(node.value, own))
    asked = (
        tree.parents[node] for node in used if node.attr not in GIVES_PARAMETERS and isinstance(node.ctx, ast.Load)
    )
    calls_itself = any(isinstance(call, ast.Call) and _is_method(call.func, own) for call in asked)
    return not calls_itself and all(_builds(run, one) or _schedules(run, one) for one in _set_by(run))


def _set_by(run: Definition) -> list[ast.AST]:
    """The statements of a method that set attributes of its object."""
    own, tree = own_name(run), run.file.tree
    stored = (node for node in tree.nodes_in(run.node, ast.Attribute) if not isinstance(node.ctx, ast.Load))
    return [tree.parents[node] for node in stored if _is(node.value, own)]


def _builds(run: Definition, statement: ast.AST) -> bool:
    value = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(value, ast.Call) and _builds_of_itself(run, value)


def _schedules(run: Definition, statement: ast.AST) -> bool:
    value = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(value, ast.Call) and (run.file.qualified_name(value.func) or "").startswith("torch.optim.")


def _is_method(func: ast.expr, own: str) -> bool:
    return isinstance(func, ast.Attribute) and _is(func.value, own)


def modules_given(start: Definition, optimizer: ast.Call) -> Iterator[ast.expr]:
    """``generator`` of ``Adam(params=generator.parameters())``, or of a list of them that was made before.

    A list may be filled by a loop: ``for p in generator.parameters(): groups += [{"params": [p]}]``.
    """
    tree = start.file.tree
    waiting: list[ast.expr] = [optimizer]
    seen: set[Binding] = set()
    for given in waiting:  # grows while it is walked
        for node in (given, *tree.inside(given)):
            if (
                isinstance(node, ast.Attribute)
                and node.attr in GIVES_PARAMETERS
                and isinstance(tree.parents[node], ast.Call)
            ):
                yield node.value
            for binding in start.file.flow.reaching(node) if isinstance(node, ast.Name) else ():
                if binding.kind in ("assign", "augment", "loop") and binding.value is not None and binding not in seen:
                    seen.add(binding)
                    waiting.append(binding.value)


def stepping_methods(owner: Definition) -> set[str]:
    """The methods of a class, its bases included, that step an optimizer, themselves or by another method of it."""
    classes = [(one.file, one.node) for one in with_bases(owner) if isinstance(one.node, ast.ClassDef)]
    methods = [(file, item) for file, one in classes for item in one.body if isinstance(item, FUNCTIONS)]
    called = {
        item.name: {
            call.func.attr for call in file.tree.nodes_in(item, ast.Call) if isinstance(call.func, ast.Attribute)
        }
        for file, item in reversed(methods)
    }
    found = {name for name, names in called.items() if "step" in names}
    while True:
        further = {name for name, names in called.items() if names & found} - found
        if not further:
            return found
        found |= further


def _is_part(start: Definition, module: ast.expr, own: str) -> bool:
    """Whether a module is the object that is made, or a part of it: ``self.net``, ``self.add_module("net", net)``.

    A part of a part, too: ``self.net.body``. What ``self.args.net`` is part of, with ``args`` handed in, is not known.
    """
    if _is(module, own) or (isinstance(module, ast.Attribute) and _is(module.value, own)):
        return True
    whole = module
    while isinstance(whole, ast.Attribute) and isinstance(whole.value, ast.Attribute):
        whole = whole.value
    if whole is not module and isinstance(whole, ast.Attribute) and _is(whole.value, own):
        made = start.file.moves.creations.of(whole)
        return start.file.kind(whole) is Kind.MODULE or any(isinstance(one.node, ast.Call) for one in made)
    for use in start.file.tree.names_called(module.id) if isinstance(module, ast.Name) else ():
        holder = start.file.tree.parents[use]
        if start.file.tree.function_of(use) is not start.node:
            continue
        if isinstance(holder, ast.Assign) and holder.value is use:
            targets = [target.value for target in holder.targets if isinstance(target, ast.Attribute)]
        else:
            adding = holder.func if isinstance(holder, ast.Call) and use in holder.args else None
            adds = isinstance(adding, ast.Attribute) and adding.attr == "add_module"
            targets = [adding.value] if adds and isinstance(adding, ast.Attribute) else []
        if any(_is(target, own) for target in targets):
            return True
    return False


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
