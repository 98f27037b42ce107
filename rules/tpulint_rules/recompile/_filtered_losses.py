"""Losses of chosen samples: ``F.cross_entropy(output[kept], y[kept])``."""

from __future__ import annotations

import ast

from tpulint.records import NamedTuple
from tpulint.semantic import SemanticIndex

FUNCTIONS = ("torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss")
_MODULES = ("torch.nn.CrossEntropyLoss", "torch.nn.NLLLoss")


class FilteredLoss(NamedTuple):
    """One call of a loss function on what one mask chooses of outputs and targets."""

    call: ast.Call
    output: ast.Subscript
    target: ast.Subscript
    options: list[ast.keyword]
    """Keyword arguments of the function, or of the module that is called."""
    is_known: bool
    """Whether these are all the options the loss has."""

    @property
    def mask(self) -> ast.expr:
        """What chooses."""
        return self.output.slice


def filtered_loss(index: SemanticIndex, call: ast.AST | None) -> FilteredLoss | None:
    """The filtered loss that a node is; None when it is none."""
    if not isinstance(call, ast.Call) or len(call.args) != 2:
        return None
    output, target = (_chosen(index, argument) for argument in call.args)
    if not isinstance(output, ast.Subscript) or not isinstance(target, ast.Subscript):
        return None
    if ast.dump(output.slice) != ast.dump(target.slice) or not index.masks.is_mask(output.slice):
        return None
    names = [mask for mask in (output.slice, target.slice) if isinstance(mask, ast.Name)]
    if len({tuple(index.flow.reaching(name)) for name in names}) > 1:
        return None
    if index.qualified_name(call.func) in FUNCTIONS:
        return FilteredLoss(call, output, target, call.keywords, True)
    made = [creation.node for creation in index.moves.creations.of(call.func) if not creation.path]
    if len(made) != 1 or not isinstance(made[0], ast.Call) or index.qualified_name(made[0].func) not in _MODULES:
        return None
    return FilteredLoss(call, output, target, made[0].keywords, not made[0].args and not call.keywords)


def loss_of(index: SemanticIndex, chosen: ast.expr) -> FilteredLoss | None:
    """The filtered loss of which an expression is the output or the target."""
    user = index.parent(chosen)
    if isinstance(user, ast.Assign) and len(user.targets) == 1 and isinstance(user.targets[0], ast.Name):
        name = user.targets[0]
        uses = index.names.loads(name.id, index.names.scope_of(name))
        user = index.parent(uses[0]) if len(uses) == 1 else None
    return filtered_loss(index, user)


def _chosen(index: SemanticIndex, argument: ast.expr) -> ast.expr:
    """An argument, or what the variable that it is was set to for this one use: ``active = logits[kept]``."""
    if not isinstance(argument, ast.Name):
        return argument
    bindings = index.flow.reaching(argument)
    value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" and not bindings[0].path else None
    uses = index.names.loads(argument.id, index.names.scope_of(argument))
    return value if isinstance(value, ast.Subscript) and len(uses) == 1 else argument
