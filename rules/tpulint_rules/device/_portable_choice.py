"""Every place that chooses a GPU, choosing the accelerator there is in its stead: CUDA, XLA, or none."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Fix, Scope
from tpulint.semantic.devices.device_indices import is_index_of_tensor
from tpulint.semantic.devices.device_sites import Role, Site, device_argument
from tpulint_rules.device._choice_doubts import calls_cuda
from tpulint_rules.device._flags_of_cuda import reads_for_cuda
from tpulint_rules.device._gpu_numbers import number_text
from tpulint_rules.device._named_outside import REASON, choose_answer, choose_named, is_cpu

_REASON = "On CUDA and the CPU the same is chosen as before."
_QUESTIONS = {"torch.cuda.is_bf16_supported": "is_bf16_supported"}
"""What the runtime asks beside ``is_available``."""


def heeded(ctx: FileContext, sites: list[Site]) -> list[Site]:
    """The sites that matter in portable code: what is kept for CUDA on purpose may stay."""
    return [site for site in sites if not _is_kept(ctx, site)]


def _is_kept(ctx: FileContext, site: Site) -> bool:
    """Whether a condition opens nothing but what CUDA alone has: calls into its runtime, memory that a GPU reads."""
    index = ctx.index
    if site.role is Role.QUESTION:
        return index.devices.questions.opens_cuda_statements(site.node)
    if site.role is not Role.COMPARISON:
        return False
    comparison = _comparison(ctx, site.node)
    branch = index.parent(comparison)
    if _mentions_xla(ctx, comparison):
        return True
    if isinstance(branch, ast.If) and branch.test is comparison:
        if index.devices.questions.opens_cuda_statements(comparison):
            return True
        calls = [node for statement in branch.body for node in index.tree.inside(statement)]
        return bool(branch.orelse) and any(isinstance(n, ast.Attribute) and n.attr == "pin_memory" for n in calls)
    return False


def _mentions_xla(ctx: FileContext, comparison: ast.expr) -> bool:
    """Whether the condition asks for XLA as well: ``device.type in ("cuda", "xla")``."""
    condition: ast.AST = comparison
    while isinstance(parent := ctx.index.parent(condition), ast.BoolOp):
        condition = parent
    return any(isinstance(node, ast.Constant) and node.value == "xla" for node in ctx.index.tree.inside(condition))


def _comparison(ctx: FileContext, name: ast.expr) -> ast.expr:
    """The comparison that a name of CUDA is part of."""
    node = ctx.index.devices.flow.places.of(name).node
    return node if isinstance(node, ast.expr) else name


# -------------------------------------------------------------------- the fix


def choose_device(ctx: FileContext, sites: list[Site]) -> Fix | None:
    """The device from the runtime at all sites; None where one of them cannot be written so."""
    fix = ctx.fix("Choose the device there is", Applicability.SAFE, _REASON, Scope.MODULE)
    known = {site.node: True for site in sites if _only_chooses(ctx, sites, site)}
    folding = fix.fold({**known, **_answered_flags(ctx, sites)})
    for load, question in reads_for_cuda(ctx, fix, [site for site in sites if site.answer]).items():
        folding.replace(load, question)
    for site in sites:
        node = site.node
        if folding.drops(node):
            continue
        if site.role is Role.QUESTION and ctx.index.devices.questions.guards_cuda(node):
            choose_answer(ctx, fix, folding, node)
        elif site.role is Role.QUESTION:
            if node not in known:
                folding.replace(node, _question(ctx, fix, site))
            for given in ctx.index.devices.questions.half_options.given(node) if site.answer else ():
                if not isinstance(given, ast.Name):
                    fix.give_up()
                folding.replace(given, ctx.text(node))  # XLA has no float16: a GPU alone switches the option on
        elif site.role is Role.COMPARISON:
            _ask_for_both(ctx, fix, node)
        elif site.role is Role.GENERATOR:
            _make_generator(ctx, fix, node)
        elif is_index_of_tensor(ctx.index, node):
            folding.replace(node, f"{ctx.text(node).rpartition('.')[0]}.device")
        elif site.role is Role.NAME and (call := _device_call(ctx, folding.rest, node)) is not None:
            folding.replace(call, fix.device_object(call, number_text(ctx, fix, node)))
        elif site.role is Role.NAME:
            folding.replace(node, fix.emit.device_name(node, number=number_text(ctx, fix, node)))
        else:
            folding.replace(node, fix.device_object(node, number_text(ctx, fix, node)))
    if choose_named(ctx, fix, folding, [site.node for site in sites if site.role is Role.QUESTION and site.answer]):
        fix.lower(Applicability.UNSAFE, REASON)
    folding.write()
    _lower(ctx, fix, sites)
    return fix.build()


def _lower(ctx: FileContext, fix: FixBuilder, sites: list[Site]) -> None:
    roles = {site.role for site in sites}
    if any(_qualified(ctx, site.node).startswith(("torch.accelerator.", "torch_geometric.")) for site in sites):
        fix.lower(Applicability.UNSAFE, "Accelerators other than CUDA and XLA are no longer chosen.")
    elif Role.COMPARISON in roles:
        fix.lower(Applicability.UNSAFE, "What comparisons with the name of the device guard now runs on XLA as well.")
    elif not all(site.certain for site in sites):
        fix.lower(Applicability.UNSAFE, "Not every value that names the device is seen to be used as one.")
    elif calls_cuda(ctx):
        fix.lower(Applicability.UNSAFE, "Code that calls into CUDA now runs on XLA as well.")


def _qualified(ctx: FileContext, node: ast.expr) -> str:
    """The function that a site calls; of ``current_accelerator().type`` as well."""
    call = node.value if isinstance(node, ast.Attribute) else node
    return (ctx.index.qualified_name(call.func) or "") if isinstance(call, ast.Call) else ""


# -------------------------------------------------------------------- questions


def _only_chooses(ctx: FileContext, sites: list[Site], site: Site) -> bool:
    """Whether a question decides between the device and the CPU, which the runtime decides by itself."""
    if site.role is not Role.QUESTION or not site.answer:
        return False
    node = site.node
    parent = ctx.index.parent(node)
    negated = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
    if negated:
        assert isinstance(parent, ast.UnaryOp)
        node, parent = parent, ctx.index.parent(parent)
    elif isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And):
        node, parent = parent, ctx.index.parent(parent)
    if isinstance(parent, ast.IfExp) and parent.test is node:
        chosen, other = (parent.orelse, parent.body) if negated else (parent.body, parent.orelse)
        return _is_site(sites, chosen) and is_cpu(ctx, other)
    if isinstance(parent, ast.If) and parent.test is node and len(parent.body) == len(parent.orelse) == 1:
        one, two = parent.body[0], parent.orelse[0]
        if negated:
            one, two = two, one
        return (
            isinstance(one, ast.Assign)
            and isinstance(two, ast.Assign)
            and [ctx.text(target) for target in one.targets] == [ctx.text(target) for target in two.targets]
            and _is_site(sites, one.value)
            and is_cpu(ctx, two.value)
        )
    return False


def _answered_flags(ctx: FileContext, sites: list[Site]) -> dict[ast.expr, bool]:
    """Flags that hold nothing but the answer, where they choose the device: ``"cuda" if use_cuda else "cpu"``."""
    questions = [site.node for site in sites if site.role is Role.QUESTION and site.answer]
    flags: dict[ast.expr, bool] = {}
    for site in sites:
        choice = ctx.index.parent(site.node)
        if not isinstance(choice, ast.IfExp):
            choice = ctx.index.parent(choice) if isinstance(choice, ast.Call) else None
        if not isinstance(choice, ast.IfExp) or not isinstance(choice.test, ast.Name):
            continue
        bindings = ctx.index.names.bindings(choice.test)
        if len(bindings) != 1 or bindings[0].kind != "assign" or bindings[0].path:
            continue
        if bindings[0].value in questions and _is_site(sites, choice.body) and is_cpu(ctx, choice.orelse):
            flags[choice.test] = True
    return flags


def _is_site(sites: list[Site], node: ast.expr) -> bool:
    """Whether an expression is a device that is rewritten, or ``torch.device`` of its name."""
    places = (Role.NAME, Role.ACQUISITION)
    found = [site.node for site in sites if site.role in places]
    return node in found or (isinstance(node, ast.Call) and bool(node.args) and node.args[0] in found)


def _question(ctx: FileContext, fix: FixBuilder, site: Site) -> str:
    node = site.node
    if isinstance(node, ast.Compare) and not isinstance(node.comparators[0], ast.Constant):
        fix.give_up()  # which of several GPUs there are is another question
    asked = _QUESTIONS.get(_qualified(ctx, node), "is_available")
    text = f"{fix.emit.runtime(asked, node)}()"
    if site.answer:
        return text
    return f"(not {text})" if isinstance(ctx.index.parent(node), ast.Compare | ast.UnaryOp) else f"not {text}"


# -------------------------------------------------------------------- devices


def _device_call(ctx: FileContext, rest: object, node: ast.expr) -> ast.Call | None:
    """The ``torch.device(...)`` around a name when nothing but the name is left in it."""
    child: ast.AST = node
    for parent in ctx.index.tree.ancestors(node):
        if isinstance(parent, ast.Call):
            whole = ctx.index.qualified_name(parent.func) == "torch.device" and parent.args == [child]
            return parent if whole and callable(rest) and rest(parent.args[0]) is node else None
        if not isinstance(parent, ast.IfExp):
            return None
        child = parent
    return None


# -------------------------------------------------------------------- comparisons and generators


def _ask_for_both(ctx: FileContext, fix: FixBuilder, name: ast.expr) -> None:
    """Let a comparison with CUDA's name hold on XLA as well."""
    comparison = _comparison(ctx, name)
    quote = ctx.text(name)[-1]
    if isinstance(comparison, ast.Call) and comparison.args == [name]:
        fix.replace(name, f"({ctx.text(name)}, {quote}xla{quote})")  # startswith takes a tuple
        return
    if not isinstance(comparison, ast.Compare) or not isinstance(name, ast.Constant) or name.value != "cuda":
        fix.give_up()
        return
    operator, right = comparison.ops[0], comparison.comparators[0]
    other = right if comparison.left is name else comparison.left
    subject = _beside(ctx, other)
    if not isinstance(other, ast.Name | ast.Attribute | ast.Call) or subject is None:
        fix.give_up()
    elif isinstance(operator, ast.Eq | ast.NotEq):
        word = "in" if isinstance(operator, ast.Eq) else "not in"
        fix.replace(comparison, f"{subject} {word} ({ctx.text(name)}, {quote}xla{quote})")
    elif comparison.left is name and isinstance(operator, ast.In | ast.NotIn):
        word, join = ("in", "or") if isinstance(operator, ast.In) else ("not in", "and")
        text = ctx.text(other)
        fix.replace(comparison, f"({ctx.text(name)} {word} {text} {join} {quote}xla{quote} {word} {text})")
    elif ctx.index.parent(name) is right and isinstance(right, ast.List | ast.Tuple | ast.Set):
        fix.replace(name, f"{ctx.text(name)}, {quote}xla{quote}")  # one of the names that it may be
    else:
        fix.give_up()


def _beside(ctx: FileContext, other: ast.expr) -> str | None:
    """Text of what is compared with CUDA's name; the type of a device whose text has its number in it."""
    if isinstance(other, ast.Call):
        is_text = ctx.index.qualified_name(other.func) == "builtins.str" and len(other.args) == 1
        return f'{ctx.text(other)}.split(":")[0]' if is_text else None
    return ctx.text(other)


def _make_generator(ctx: FileContext, fix: FixBuilder, node: ast.expr) -> None:
    """XLA has no generators; one of the host draws for it."""
    argument = device_argument(node) if isinstance(node, ast.Call) else None
    if not isinstance(argument, ast.Name | ast.Attribute):
        fix.give_up()
        return
    fix.replace(argument, f'{ctx.text(argument)} if {fix.emit.cuda_question(node)} else "cpu"')
