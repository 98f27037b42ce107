"""Lists of its parameters that a module makes as it is made, before anybody moves it: ``self.weights = list(...)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic import FUNCTIONS
from tpulint.semantic.devices.device_sites import branches
from tpulint.semantic.project.other_files import Definition, method, returned
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.variables import last_name
from tpulint_rules.step._made_modules import calls_on_host, own_name
from tpulint_rules.step._parameters_given import gives_parameters, is_gone_through

_PARAMETERS = ("torch.nn.Parameter", "torch.nn.parameter.Parameter")
_FILLING = ("append", "extend")


def gives_list(owner: Definition, name: str) -> bool:
    """Whether an attribute of a class is such a list, or a method gives what stands in one."""
    asked = method(owner, name)
    if asked is None or not isinstance(asked.node, FUNCTIONS):
        return _lists_parameters(owner, name)
    return any(_lists_parameters(owner, one.attr) for one in _attributes_given(asked))


def _attributes_given(asked: Definition) -> Iterator[ast.Attribute]:
    """``self.weights`` of ``return self.weights``, or of a loop over it that yields."""
    tree = asked.file.tree
    yields = [node for node in tree.nodes_in(asked.node, ast.Yield, functions=False) if node.value is not None]
    loops = {above for node in yields for above in tree.ancestors(node) if isinstance(above, ast.For)}
    given = [*returned(asked), *(loop.iter for loop in loops if tree.encloses(asked.node, loop))]
    for value in given:
        for node in _joined(value):
            if isinstance(node, ast.Attribute) and _is(node.value, own_name(asked)):
                yield node


def _joined(value: ast.expr) -> Iterator[ast.expr]:
    """``self.slow`` and ``self.fast`` of ``[{"params": self.slow}, {"params": self.fast}]``, and of their sum."""
    parts = [value]
    for part in parts:  # grows while it is walked
        if isinstance(part, ast.List | ast.Tuple | ast.Dict):
            parts += _members(part)
        elif isinstance(part, ast.ListComp | ast.GeneratorExp):
            parts += [one.iter for one in part.generators]
        elif isinstance(part, ast.BinOp):
            parts += [part.left, part.right]
        else:
            yield part


def _lists_parameters(owner: Definition, attribute: str) -> bool:
    """Whether a class fills a list with its parameters as it is made, and never makes the list anew."""
    begun = calls_on_host(owner)
    runs = {run.node: run for run, _ in begun}
    assert isinstance(owner.node, ast.ClassDef)
    stored = [node for node in owner.file.tree.attributes_called(attribute) if isinstance(node.ctx, ast.Store)]
    places = [(owner.file.tree.function_of(node), node) for node in stored]
    if any(function not in runs for function, _ in places):
        return False
    if any(_puts_into(run, call, attribute) for run, call in begun):
        return True
    return any(function is not None and _holds_own(runs[function], node) for function, node in places)


def _puts_into(run: Definition, call: ast.Call, attribute: str) -> bool:
    """Whether a call gives parameters to a list, or puts one of a loop over them into it."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in _FILLING:
        items = [part for item in call.args for part in _members(item)]
        parts = (part for part in items if isinstance(part, ast.Name))
        drawn = (binding for part in parts for binding in run.file.flow.reaching(part))
        kept = any(_is_kept(run, one, attribute) for one in branches(call.func.value))
        return kept and any(map(_draws_parameter, drawn))
    statement = run.file.tree.statement_of(call) if gives_parameters(call) else None
    if not isinstance(statement, ast.Assign | ast.AugAssign) or not is_gone_through(run.file, call, statement):
        return False
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return any(_is_kept(run, target, attribute) for target in targets)


def _members(item: ast.expr) -> list[ast.expr]:
    """``p`` of ``(name, p)`` or of ``{"params": p}``."""
    if isinstance(item, ast.Tuple | ast.List):
        return item.elts
    return item.values if isinstance(item, ast.Dict) else [item]


def _draws_parameter(binding: Binding) -> bool:
    """``p`` of ``for name, p in self.named_parameters()``, not its name."""
    value = binding.value
    if binding.kind != "loop" or not isinstance(value, ast.Call) or not gives_parameters(value):
        return False
    return binding.path != (0,) or last_name(value.func) == "parameters"


def _holds_own(run: Definition, node: ast.Attribute) -> bool:
    """``self.weights = [self.alpha]``, of an ``nn.Parameter`` that the module keeps."""
    statement = run.file.tree.parents[node]
    value = statement.value if isinstance(statement, ast.Assign) else None
    items = value.elts if isinstance(value, ast.List | ast.Tuple) else []
    return any(_is_parameter(run, item) for item in items)


def _is_parameter(run: Definition, node: ast.expr) -> bool:
    if not isinstance(node, ast.Attribute) or not _is(node.value, own_name(run)):
        return False
    made = [binding.value for binding in run.file.flow.bindings_of(node)]
    return bool(made) and all(
        isinstance(value, ast.Call) and run.file.qualified_name(value.func) in _PARAMETERS for value in made
    )


def _is_kept(run: Definition, node: ast.expr, attribute: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == attribute and _is(node.value, own_name(run))


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
