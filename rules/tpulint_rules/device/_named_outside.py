"""Devices beside a question for a GPU that no name of CUDA stands for: settings, or the answer of a guard."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tpulint.context import FileContext
from tpulint.semantic.devices.device_sites import Role
from tpulint.semantic.devices.devices import Devices
from tpulint.semantic.syntax.variables import says_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.context import FixBuilder, Folding

REASON = "The device was named outside of this file."


def choose_named(ctx: FileContext, fix: FixBuilder, folding: Folding, answers: Iterable[ast.expr]) -> bool:
    """Put the device of the machine where a name from outside would be left without its guard, and say whether.

    What is called ``cuda`` there would now be asked for on a machine that has none.
    """
    found = False
    for choice, rest in _choices(ctx, frozenset(answers)):
        call = ctx.index.parent(choice)
        whole = isinstance(call, ast.Call) and ctx.index.qualified_name(call.func) == "torch.device"
        if folding.drops(choice) or not _is_from_outside(ctx, rest):
            continue
        found = True
        if whole and isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords:
            folding.replace(call, fix.device_object(call))
        else:
            folding.replace(choice, fix.emit.device_name(choice))
    return found


def choose_answer(ctx: FileContext, fix: FixBuilder, folding: Folding, question: ast.expr) -> bool:
    """Put the device where a guard that stays answers with the CPU, and say whether it does so.

    What else the guard asks, ``or not args.use_gpu``, is asked in front of it: whoever wants the host gets it.
    """
    devices = ctx.index.devices
    test = devices.features.placement.root(question)
    guard = ctx.index.parent(test)
    answer = guard.body[-1].value if isinstance(guard, ast.If) and isinstance(guard.body[-1], ast.Return) else None
    if not isinstance(guard, ast.If) or answer is None or not is_cpu(ctx, answer):
        return False
    asked, wishes = _parts(ctx, test, question)
    if wishes:
        inner = fix.indent_of(guard.body[0]).removeprefix(fix.indent_of(guard)) or "    "
        if len(guard.body) > 1 or ctx.source.text.startswith("elif", ctx.index.span(guard).start):
            fix.give_up()
        fix.insert_before(guard, f"if {' or '.join(wishes)}:\n{inner}{ctx.text(guard.body[-1])}")
        folding.replace(test, ctx.text(asked))
    if isinstance(answer, ast.Call):
        folding.replace(answer, fix.device_object(answer))
        return True
    if _is_device(devices, answer):
        folding.replace(answer, fix.emit.device_name(answer))
        return True
    return False


def _parts(ctx: FileContext, test: ast.expr, question: ast.expr) -> tuple[ast.expr, list[str]]:
    """The operand of ``not is_available() or not args.use_gpu`` that asks for a GPU, and those that ask the user."""
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.Or):
        return test, []
    asked = next(one for one in test.values if ctx.index.tree.encloses(one, question))
    others = [one for one in test.values if one is not asked]
    if any(_asks_machine(ctx, one) for one in others):
        return test, []
    return asked, [ctx.text(one) for one in others]


def _asks_machine(ctx: FileContext, test: ast.expr) -> bool:
    nodes = [test, *ctx.index.tree.inside(test)]
    names = (ctx.index.qualified_name(node) or "" for node in nodes if isinstance(node, ast.expr))
    return any(name.startswith("torch.") for name in names) or any(
        ctx.index.device_counts.is_count(node) for node in nodes if isinstance(node, ast.expr)
    )


def tell_from_host(ctx: FileContext, folding: Folding, name: ast.expr) -> bool:
    """Let ``"cuda" if args.device == "cuda" else "cpu"`` take the host for ``cpu`` alone, and say whether it is one.

    Whoever goes on saying ``--device cuda`` would else train on the host, without a word.
    """
    comparison = ctx.index.devices.flow.places.of(name).node
    if not isinstance(comparison, ast.Compare) or comparison.comparators != [name]:
        return False
    variables, option = ctx.index.devices.flow.variables, comparison.left
    keys = variables.keys_of(option) if isinstance(option, ast.Attribute) else ()
    declared = variables.options.get(keys[0][2], []) if keys else []
    defaults = [keyword.value for call in declared for keyword in call.keywords if keyword.arg == "default"]
    # An option that is not given may stand for the host: `default=None`.
    if not isinstance(comparison.ops[0], ast.Eq) or not defaults or not all(map(_is_text, defaults)):
        return False
    test: ast.AST = comparison
    while isinstance(parent := ctx.index.parent(test), ast.BoolOp) and isinstance(parent.op, ast.And):
        test = parent
    sides = _chosen_by(ctx, test)
    if sides is None or not _is_site(ctx, sides[0]) or not is_cpu(ctx, sides[1]):
        return False
    quote = ctx.text(name)[-1]
    folding.replace(comparison, f"{ctx.text(option)} != {quote}cpu{quote}")
    return True


def _chosen_by(ctx: FileContext, test: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """The two values that a condition decides between."""
    choice = ctx.index.parent(test)
    if isinstance(choice, ast.IfExp) and choice.test is test:
        return choice.body, choice.orelse
    if isinstance(choice, ast.If) and choice.test is test and len(choice.body) == len(choice.orelse) == 1:
        one, two = choice.body[0], choice.orelse[0]
        if isinstance(one, ast.Assign) and isinstance(two, ast.Assign):
            same = [ctx.text(target) for target in one.targets] == [ctx.text(target) for target in two.targets]
            return (one.value, two.value) if same else None
    return None


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(node.value)


def _is_site(ctx: FileContext, node: ast.expr) -> bool:
    """Whether a value names the device of a GPU, ``torch.device("cuda")`` as well."""
    found = [site.node for site in ctx.index.devices.sites if site.role in (Role.NAME, Role.ACQUISITION)]
    return node in found or (isinstance(node, ast.Call) and len(node.args) == 1 and node.args[0] in found)


def falls_back(ctx: FileContext, question: ast.expr) -> bool:
    """``if not torch.cuda.is_available(): cfg.device = "cpu"`` about settings that another file, or the user, makes."""
    return _fallback(ctx, question) is not None


def fall_back_to_xla(ctx: FileContext, folding: Folding, question: ast.expr) -> None:
    """``if cfg.device != "cpu": cfg.device = "xla"``: whoever asks for the host gets it."""
    fallback = _fallback(ctx, question)
    if fallback is None:
        return
    test, target, host = fallback
    quote = ctx.text(host)[0]
    folding.replace(test, f"{ctx.text(target)} != {ctx.text(host)}")
    folding.replace(host, f"{quote}xla{quote}")


def _fallback(ctx: FileContext, question: ast.expr) -> tuple[ast.expr, ast.expr, ast.expr] | None:
    """The condition, the setting and the host that it becomes."""
    test = ctx.index.parent(question)
    guard = ctx.index.parent(test) if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else None
    if not isinstance(guard, ast.If) or guard.test is not test or guard.orelse or not isinstance(test, ast.UnaryOp):
        return None
    for statement in guard.body:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Constant):
            continue
        target = statement.targets[0]
        if statement.value.value == "cpu" and len(statement.targets) == 1 and _is_kept_outside(ctx, target):
            return test, target, statement.value
    return None


def _is_kept_outside(ctx: FileContext, target: ast.expr) -> bool:
    """Whether a setting that says it is a device gets no name of one in this file."""
    if not isinstance(target, ast.Attribute | ast.Subscript):
        return False
    variables = ctx.index.devices.flow.variables
    keys = variables.keys_of(target)
    if not keys or not says_device(keys[0][2]) or keys[0][2] in variables.options:
        return False
    holder = target.value.value if isinstance(target.value, ast.Attribute) else target.value
    if isinstance(holder, ast.Name) and holder.id in ("self", "cls"):
        return False
    values = variables.stores(target) if isinstance(target, ast.Attribute) else []
    named = (site for site in ctx.index.devices.sites if site.role is not Role.QUESTION)
    return not any(key in keys for site in named for key in ctx.index.devices.flow.places.of(site.node).keys) and all(
        isinstance(value, ast.Constant) and value.value == "cpu" for value in values
    )


def _choices(ctx: FileContext, answers: frozenset[ast.expr]) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Devices under a question for a GPU, with what is left of them where there is one."""
    index, devices = ctx.index, ctx.index.devices
    for node in index.tree.conditions:
        if isinstance(node, ast.IfExp) and _asks(ctx, node.test, answers) and is_cpu(ctx, node.orelse):
            if _is_device(devices, node):
                yield node, node.body
        elif isinstance(node, ast.If) and _asks(ctx, node.test, answers) and node.orelse:
            for statement in node.body:
                value = statement.value if isinstance(statement, ast.Assign | ast.Return) else None
                if isinstance(value, ast.Call) and index.qualified_name(value.func) == "torch.device" and value.args:
                    yield value.args[0], value.args[0]


def _asks(ctx: FileContext, test: ast.expr, answers: frozenset[ast.expr]) -> bool:
    """Whether a condition is a question for a GPU, or a variable that holds its answer."""
    if isinstance(test, ast.Name):
        bindings = ctx.index.names.bindings(test)
        return len(bindings) == 1 and bindings[0].kind == "assign" and bindings[0].value in answers
    return test in answers


def _is_device(devices: Devices, node: ast.expr) -> bool:
    return devices.flow.is_device_place(devices.flow.places.of(node))


def is_cpu(ctx: FileContext, node: ast.expr) -> bool:
    """``"cpu"``, ``torch.device("cpu")``"""
    if isinstance(node, ast.Call) and ctx.index.qualified_name(node.func) == "torch.device" and len(node.args) == 1:
        node = node.args[0]
    return isinstance(node, ast.Constant) and node.value == "cpu"


def _is_from_outside(ctx: FileContext, node: ast.expr, depth: int = 0) -> bool:
    """Whether a value is read from settings, and none of the places of this file that name a device sets it."""
    index, devices = ctx.index, ctx.index.devices
    if devices.flow.derives(node) or index.xla_devices.is_device(node) or devices.indices.is_number(node):
        return False
    if isinstance(node, ast.Name):
        bindings = index.names.bindings(node)
        return depth < 2 and bool(bindings) and all(
            binding.kind == "assign" and binding.value is not None and not binding.path
            and _is_from_outside(ctx, binding.value, depth + 1)
            for binding in bindings
        )  # fmt: skip
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "getenv")
    if not isinstance(node, ast.Subscript | ast.Attribute):
        return False
    keys = devices.flow.variables.keys_of(node)
    named = (key for site in devices.sites if site.role is Role.NAME for key in devices.flow.places.of(site.node).keys)
    if not keys or any(key in keys for key in named):
        return False
    stored = devices.flow.variables.stores(node) if isinstance(node, ast.Attribute) else []
    return all(index.tree.encloses(value, node) for value in stored)  # `args.device = torch.device(args.device if ...)`
