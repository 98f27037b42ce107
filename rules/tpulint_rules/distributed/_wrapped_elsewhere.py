"""States of models that functions of other files wrap: their keys begin with the wrapper's prefix."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Certainty, Finding, Scope
from tpulint.semantic import FUNCTIONS, SemanticIndex
from tpulint.semantic.modules.wrapper_reads import is_unwrapped_elsewhere, unwrapped
from tpulint.semantic.project.other_files import Definition, returned
from tpulint.semantic.syntax.variables import itself
from tpulint_rules.distributed._state_prefixes import WRAPPER, same, strip_prefix

_STRIPPED = "consume_prefix_in_state_dict_if_present"
_REASON = "The other file must leave the wrapper out, too: with it the prefix is needed."


def states_of_wrapped(ctx: FileContext) -> Iterator[Finding]:
    """``model = create_model()`` that is wrapped there, and ``model.load_state_dict(state)`` here."""
    index = ctx.index
    # Where `.module` is read the wrapper stays, and a prefix that the file speaks of it deals with.
    if ctx.portable or not index.imported.knows_others or unwrapped(index):
        return
    if index.mentions(_STRIPPED) or index.mentions(r"""["']module\."""):
        return
    for call, loaded in index.method_calls("load_state_dict"):
        maker = next((found for found in _makers(index, loaded) if _wraps_what_it_gives(found)), None)
        if maker is None or not isinstance(maker.node, FUNCTIONS) or is_unwrapped_elsewhere(maker.file):
            continue
        fix = ctx.fix("Take the prefix off the keys", Applicability.UNSAFE, _REASON, Scope.STATEMENT)
        if not strip_prefix(ctx, fix, call):
            fix.give_up()
        message = (
            f"`{maker.node.name}` wraps the model in `DataParallel`: the keys of a state that was saved so begin with "
            "`module.`, and the model has none of them without its wrapper"
        )
        yield ctx.finding(call, message, fix, certainty=Certainty.LIKELY)


def _makers(index: SemanticIndex, model: ast.expr) -> Iterator[Definition]:
    """The functions of other files that a model may come from."""
    for creation in index.moves.creations.of(model):
        found = index.imported.called(creation.node) if isinstance(creation.node, ast.Call) else None
        if found is not None and isinstance(found.node, FUNCTIONS) and not creation.path:
            yield found


def _wraps_what_it_gives(function: Definition) -> bool:
    """Whether a function puts a model into the wrapper, whatever it is given, and returns that."""
    tree = function.file.tree
    given = [itself(value) for value in returned(function)]
    for call in function.file.calls_to(WRAPPER):
        statement = tree.statement_of(call)
        if tree.parents[statement] is not function.node or isinstance(tree.parents[call], ast.IfExp):
            continue
        targets = statement.targets if isinstance(statement, ast.Assign) and statement.value is call else []
        if call in given or any(same(target, value) for target in targets for value in given):
            return True
    return False
