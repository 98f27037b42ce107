"""The prefix `module.` that a wrapper around a model puts in front of the keys of what is saved."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.modules.wrapper_reads import unwrapped
from tpulint.semantic.project.other_files import definition_called, loads_of_parameter
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.variables import itself, last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.context import Folding
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.syntax.bindings import Binding

WRAPPER = "torch.nn.DataParallel"
_LOADS = "load_state_dict"
_LOADING = (f".{_LOADS}(",)
_ADDS = r"""["']module\.["']\s*\+|f["']module\.\{"""
_CUTS_OFF = r"""\[len\(["']module\.["']\)\s*:|\w\[7:\]"""
_ASKS = r"""startswith\(\s*["']module|["']module\.?["']\s+(?:not\s+)?in\b|\[0?:7\]"""
_SPEAKS = r"""["']module\.?["']"""
_STRIP = ".nn.modules.utils.consume_prefix_in_state_dict_if_present"


def strip_of_dropped(ctx: FileContext, fix: FixBuilder, folding: Folding) -> None:
    """Let models load what they saved while a branch for GPUs wrapped them, which falls away.

    ``if device == "cuda": net = torch.nn.DataParallel(net)``
    """
    for call in ctx.index.calls_to(WRAPPER):
        statement = ctx.index.statement_of(call)
        if folding.drops(call) and isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            strip_prefixes(ctx, fix, call, statement.targets[0], folding)


def strip_of_guarded(ctx: FileContext, fix: FixBuilder, folding: Folding) -> None:
    """The same where the branch asks for several GPUs, unless the file deals with the prefix itself."""
    if not unwrapped(ctx.index) and not ctx.index.mentions(_SPEAKS):
        strip_of_dropped(ctx, fix, folding)


def strip_prefixes(
    ctx: FileContext, fix: FixBuilder, wrapper: ast.Call, target: ast.expr | None, folding: Folding | None = None
) -> bool:
    """Let the model load states of the wrapped one as well; false where the prefix is added, or the state is not plain.

    With ``strict=False`` nothing would be loaded, and nobody told. Where the wrapper falls away in any case, with a
    branch that ``folding`` drops, what other files add to their own states keeps nothing from that.
    """
    index = ctx.index
    if any(map(_waits_for_prefix, _files_of_states(index) if folding is None else [index])):
        return False
    wrapped = index.statement_of(wrapper)
    if folding is None and _is_loaded_elsewhere(index, wrapper, target, wrapped):
        return False
    for call, loaded in index.method_calls(_LOADS):
        is_copy = target is not None and not same(target, loaded) and _is_copy(ctx, loaded, target)
        is_named = target is not None and same(target, loaded)
        if not (is_named or is_copy or _is_same_object(index, loaded, wrapper)):
            continue
        bindings = index.flow.reaching(loaded) if isinstance(loaded, ast.Name) and not is_copy else ()
        if bindings and not any(_may_be_wrapped(index, one, wrapped) for one in bindings):
            continue  # in front of the wrapper, whose prefix such a state has not
        if folding is not None and (folding.drops(call) or _is_of_a_model(index, call)):
            continue
        if any(_wraps_for_processes(index, binding) for binding in bindings):
            return False  # another branch has a wrapper, too, which stays
        if not strip_prefix(ctx, fix, call):
            return False
    return True


def _is_of_a_model(index: SemanticIndex, call: ast.Call) -> bool:
    """Whether a call loads what a model of this run has: ``target.load_state_dict(net.state_dict())``."""
    state = call.args[0] if call.args else None
    values = [one.value for one in index.flow.reaching(state)] if isinstance(state, ast.Name) else [state]
    return bool(values) and all(value is not None and _is_live_state(value) for value in values)


def _is_live_state(value: ast.expr) -> bool:
    """``net.state_dict()``, ``copy.deepcopy(net.state_dict())``"""
    if not isinstance(value, ast.Call):
        return False
    is_copy = last_name(value.func) in ("copy", "deepcopy") and len(value.args) == 1
    return _is_live_state(value.args[0]) if is_copy else last_name(value.func) == "state_dict"


def _is_loaded_elsewhere(index: SemanticIndex, wrapper: ast.Call, target: ast.expr | None, wrapped: ast.stmt) -> bool:
    """Whether a function of another file, which says nothing of the prefix, loads into it: ``load(net, path)``."""
    if not index.imported.knows_others:
        return False
    for call in index.imported.calls:
        called = definition_called(index, call)
        if called is None or not called.file.source.has_any(_LOADING) or called.file.mentions(_SPEAKS):
            continue
        for given in values_given(call):
            is_named = target is not None and same(target, given)
            if not (is_named or given is wrapper or _is_same_object(index, given, wrapper)):
                continue
            bindings = index.flow.reaching(given) if isinstance(given, ast.Name) else ()
            if bindings and not any(_may_be_wrapped(index, one, wrapped) for one in bindings):
                continue
            uses = [called.file.tree.parents[load] for load in loads_of_parameter(called, call, given)]
            if any(isinstance(use, ast.Attribute) and use.attr == _LOADS for use in uses):
                return True
    return False


def _is_same_object(index: SemanticIndex, loaded: ast.expr, wrapper: ast.Call) -> bool:
    """Whether it is the wrapper's model under another name: ``old = net``, or what a function is given or gives."""
    creations = index.moves.creations
    made = creations.of(wrapper)
    return any(one.overlaps(other) and one.path == other.path for one in creations.of(loaded) for other in made)


def _may_be_wrapped(index: SemanticIndex, binding: Binding, wrapped: ast.stmt) -> bool:
    """Whether a variable holds what the wrapper made, be it moved since, ``net = net.cuda()``, or nobody knows."""
    if binding.kind != "assign":
        return True
    waiting: list[Binding] = [binding]
    seen: set[Binding] = set()
    while waiting:
        one = waiting.pop()
        if one.statement is wrapped:
            return True
        values = [one.value] if one.kind == "assign" and one.value is not None else []
        if one.kind == "parameter" and isinstance(one.statement, FUNCTIONS):
            values = index.definitions.arguments.of(one.statement, one.name)
        seen.add(one)
        for value in values:
            bare = itself(value)
            if isinstance(bare, ast.Call):
                maker = index.definitions.function_called(bare)
                if maker is not None and index.tree.encloses(maker, wrapped):
                    return True
            reaching = index.flow.bindings_of(bare)
            if any(further.kind != "assign" for further in reaching) and bare is not value:
                return True
            waiting += [further for further in reaching if further not in seen]
    return False


def _files_of_states(index: SemanticIndex) -> list[SemanticIndex]:
    """This file, and those of its project that load states."""
    return [index, *(index.imported.mentioning(_LOADS) or ())]


def _waits_for_prefix(file: SemanticIndex) -> bool:
    """Whether a file takes the prefix off keys, or puts it in front of them, without asking whether it is there."""
    if file.mentions(_ADDS):
        return True
    return file.mentions(_CUTS_OFF) and not file.mentions(_ASKS)


def _wraps_for_processes(index: SemanticIndex, binding: Binding) -> bool:
    value = binding.value if binding.kind == "assign" else None
    return isinstance(value, ast.Call) and last_name(value.func) == "DistributedDataParallel"


def strip_prefix(ctx: FileContext, fix: FixBuilder, call: ast.Call) -> bool:
    """Free the state that one call loads of the prefix; false where the state is not plain."""
    index = ctx.index
    statement = index.statement_of(call)
    if not isinstance(statement, ast.Expr) or not call.args:
        return False
    given, lines = call.args[0], []
    state = ctx.text(given)
    if isinstance(given, ast.DictComp) and any(part.ifs for part in given.generators):
        return False  # keys with the prefix may have been left out
    from tpulint_rules.distributed._filled_states import fillings

    if filled := fillings(index, given):
        return _strip_filled(ctx, fix, filled, state)
    if any(isinstance(part, ast.Call) for part in ast.walk(given)):
        name = index.names.fresh("state", statement)
        if isinstance(given, ast.Call) and _loads_anywhere(ctx, given):
            # Written on a GPU, maybe; this is the last time it shows.
            state = f'{state[:-1].rstrip().rstrip(",")}, map_location="cpu")'
        lines.append(f"{name} = {state}")
        fix.replace(given, name)
        state = name
    elif not isinstance(given, ast.Name | ast.Attribute | ast.Subscript):
        return False
    lines.append(f'{fix.use("torch", at=statement)}{_STRIP}({state}, "module.")')
    fix.insert_before(statement, "\n".join(lines))
    return True


def _strip_filled(ctx: FileContext, fix: FixBuilder, filled: list[ast.expr], state: str) -> bool:
    """Free what came out of a file as it comes: behind the choice of names that the model knows, nothing is left."""
    from tpulint_rules.distributed._filled_states import where_read

    read = [where_read(ctx.index, item, state) for item in filled]
    for binding in dict.fromkeys(read):
        if binding is None:
            return False
        statement = binding.statement
        if isinstance(statement, FUNCTIONS):
            told = isinstance(statement.body[0], ast.Expr) and isinstance(statement.body[0].value, ast.Constant)
            first = statement.body[int(told and len(statement.body) > 1)]
            fix.insert_before(first, f'{fix.use("torch", at=first)}{_STRIP}({binding.name}, "module.")')
        elif isinstance(statement, ast.stmt):
            fix.insert_after(statement, f'{fix.use("torch", at=statement)}{_STRIP}({binding.name}, "module.")')
    return True


def _loads_anywhere(ctx: FileContext, call: ast.Call) -> bool:
    """``torch.load(path)``"""
    return ctx.index.qualified_name(call.func) == "torch.load" and len(call.args) == 1 and not call.keywords


def _is_copy(ctx: FileContext, node: ast.expr, target: ast.expr) -> bool:
    """``copy.deepcopy(model)``, which loads what the model does."""
    values = [binding.value for binding in ctx.index.flow.reaching(node)] if isinstance(node, ast.Name) else []
    return any(
        isinstance(value, ast.Call)
        and ctx.index.qualified_name(value.func) == "copy.deepcopy"
        and bool(value.args)
        and same(target, value.args[0])
        for value in values
    )


def same(left: ast.expr, right: ast.expr) -> bool:
    """Whether two expressions are the same variable, attribute or element, ``nets[i]``."""
    if isinstance(left, ast.Name) and isinstance(right, ast.Name):
        return left.id == right.id
    if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
        return left.value == right.value
    if isinstance(left, ast.Attribute) and isinstance(right, ast.Attribute):
        return left.attr == right.attr and same(left.value, right.value)
    if isinstance(left, ast.Subscript) and isinstance(right, ast.Subscript):
        return same(left.slice, right.slice) and same(left.value, right.value)
    return False
