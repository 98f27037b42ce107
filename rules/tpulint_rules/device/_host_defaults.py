"""Options that name the host unless the user says otherwise, ``--device cpu``, beside a question for a GPU.

``torch.device(args.device if torch.cuda.is_available() else "cpu")`` without its question trains on the host as before
where nothing is given, and fails where ``--device cuda`` is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from tpulint.context import FileContext
from tpulint.semantic.devices.device_sites import Role
from tpulint_rules.device._option_help import default_in_help, name_in_help

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.context import FixBuilder

REASON = "An option names the device: its default is no longer the host, and whoever asks it for CUDA gets an error."
_HOST = "cpu"
_DEPTH = 1
"""Variables that hold the answer."""


def name_device(ctx: FileContext, fix: FixBuilder, answers: Mapping[ast.expr, bool]) -> bool:
    """Let such options name the XLA device, and say whether there are any.

    What is called ``--buffer_device`` may be on the host on purpose: it stays there.
    """
    variables = ctx.index.devices.flow.variables
    found = False
    for name in sorted({name for question in answers for name in _options_guarded(ctx, question, answers)}):
        if _is_compared(ctx, name):
            found = True  # `args.device == "cuda"` would not hold
            continue
        for call in variables.options[name]:
            default = next((item.value for item in call.keywords if item.arg == "default"), None)
            is_site = any(ctx.index.tree.encloses(call, site.node) for site in ctx.index.devices.sites)
            found = True
            if any(_is_taken_apart(ctx, around, answers) for around in ctx.index.tree.ancestors(call)):
                continue
            if not is_site and (listed := name_in_help(ctx, call.args[0])) is not None:
                fix.replace(listed, "xla")
            if isinstance(default, ast.Constant) and default.value == _HOST and "_" not in name:
                fix.replace(default, ctx.text(default).replace(_HOST, "xla"))
                if (told := default_in_help(ctx, default)) is not None:
                    fix.replace(told, "xla")
    return found


def _options_guarded(ctx: FileContext, question: ast.expr, answers: Mapping[ast.expr, bool]) -> Iterator[str]:
    """Options of the file that name a device where there is a GPU, and the host takes their place where there is none.

    Those whose default is a device of CUDA are among the places that choose one.
    """
    devices = ctx.index.devices
    if devices.questions.ends_program(question):
        return
    sites = [site.node for site in devices.sites if site.role is Role.NAME]
    named = {devices.option_of(site) for site in sites if not _is_choice(ctx, site)}
    for taken, other in _branches(ctx, question, answers[question]):
        read = [node for node in _attributes(ctx, taken) if isinstance(node.ctx, ast.Load)]
        for node in (*read, *(node for node in _attributes(ctx, other) if _is_sent_to_host(ctx, node))):
            is_option = node.attr in devices.flow.variables.options and node.attr not in named
            is_device = is_option and devices.flow.is_device_variable(("attribute", None, node.attr))
            if is_device and not devices.indices.is_number(node):
                yield node.attr


def _is_compared(ctx: FileContext, name: str) -> bool:
    """Whether the file goes by the text that an option is given."""
    users = (ctx.index.parent(node) for node in ctx.index.tree.attributes_called(name))
    return any(
        isinstance(user, ast.Compare) and any(isinstance(item, ast.Constant) for item in (user.left, *user.comparators))
        for user in users
    )


def _attributes(ctx: FileContext, code: Sequence[ast.AST]) -> Iterator[ast.Attribute]:
    for part in code:
        yield from (node for node in (part, *ctx.index.tree.inside(part)) if isinstance(node, ast.Attribute))


def _branches(
    ctx: FileContext, question: ast.expr, answer: bool, depth: int = 0
) -> Iterator[tuple[Sequence[ast.AST], Sequence[ast.AST]]]:
    """What runs where there is a GPU, and where there is none, by a question or a variable that holds its answer."""
    devices = ctx.index.devices
    root = devices.features.placement.root(question)
    choice = ctx.index.parent(root)
    if isinstance(choice, ast.If) and choice.test is root:
        taken, other = devices.questions.branches(choice, question)
        yield (taken, other) if answer else (other, taken)
    elif isinstance(choice, ast.IfExp) and choice.test is root:
        negated = isinstance(root, ast.UnaryOp) and isinstance(root.op, ast.Not)
        yield ([choice.body], [choice.orelse]) if answer is not negated else ([choice.orelse], [choice.body])
    elif isinstance(choice, ast.Assign) and depth < _DEPTH:
        for load in devices.features.placement.reads_of(choice):
            yield from _branches(ctx, load, answer, depth + 1)


def _is_sent_to_host(ctx: FileContext, target: ast.Attribute) -> bool:
    """``args.device = "cpu"``"""
    statement = ctx.index.parent(target)
    value = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(value, ast.Constant) and value.value == _HOST


def _is_taken_apart(ctx: FileContext, around: ast.AST, answers: Mapping[ast.expr, bool]) -> bool:
    """Whether a branch is opened by one of the questions, and is written anew without it."""
    return isinstance(around, ast.If) and any(ctx.index.tree.encloses(around.test, question) for question in answers)


def _is_choice(ctx: FileContext, name: ast.expr) -> bool:
    """Whether a name is one of those that the user may give."""
    given = next((node for node in ctx.index.tree.ancestors(name) if isinstance(node, ast.keyword)), None)
    return given is not None and given.arg == "choices"
