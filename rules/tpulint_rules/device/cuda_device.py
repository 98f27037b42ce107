"""All places of a file that choose a CUDA device, and the one fix that chooses the XLA device in their stead."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from tpulint.context import FileContext, short
from tpulint.model import Applicability, Certainty, Finding, Fix, Scope, Severity
from tpulint.semantic.devices.compared_devices import device_compared, leaves_unseeded
from tpulint.semantic.devices.device_indices import is_index_of_tensor
from tpulint.semantic.devices.device_sites import Role, Site
from tpulint.semantic.devices.devices import Devices
from tpulint_rules.device._about_cuda import is_about_cuda
from tpulint_rules.device._choice_doubts import doubt, gpu_numbers
from tpulint_rules.device._flags_of_cuda import reads_for_cuda
from tpulint_rules.device._generators_beside import generators_beside
from tpulint_rules.device._host_defaults import REASON as _BY_OPTIONS
from tpulint_rules.device._host_defaults import name_device
from tpulint_rules.device._layer_values import devices_left_out, give_parameters
from tpulint_rules.device._loads_to_host import loads_to_host
from tpulint_rules.device._named_outside import REASON as _NAMED_OUTSIDE
from tpulint_rules.device._named_outside import (
    choose_answer,
    choose_named,
    fall_back_to_xla,
    falls_back,
    tell_from_host,
)
from tpulint_rules.device._spent_flags import spent_flags
from tpulint_rules.device._torch_of_others import is_for_torch_of_others
from tpulint_rules.distributed._state_prefixes import strip_of_dropped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.context import FixBuilder, Folding

_REASON = "Every place that chooses the device is certain, and they change together."
_SILENT = "so without a GPU this trains on the host CPU without a word"
_MODEL_PARALLEL = (
    "The file uses several GPUs by number: one process drives one XLA device, "
    "so the parts of the model must share it or be sharded with `torch_xla.distributed.spmd`"
)

_PARTS_OF_TORCH = ("accelerator", "cuda")
_GUARDS_CUDA = (
    "What follows asks the CUDA driver, which a TPU machine does not have: write the answer for the XLA device"
)
_NO_GENERATOR = "random generators exist for the CPU and for GPUs only"
_DRAWN_ON_HOST = "The numbers are drawn on the host, and others than on a GPU."
_DEMANDS = "A check that CUDA is set up as the program wants it is left out."
_BESIDE = "Branches that need GPUs go, where others do the same without them."
_NAMED = "The device is named in another file, where it is one of CUDA: name the XLA device there, and choose that"

_TEXT = 'Nothing here takes the text that is chosen for a device: if it is one, write `"xla"` in its place'


def check(ctx: FileContext) -> Iterator[Finding]:
    if is_about_cuda(ctx):
        return
    yield from _beside_tensors(ctx)
    devices = ctx.index.devices
    sites = devices.sites
    if ctx.portable:
        from tpulint_rules.device._portable_choice import choose_device, heeded

        sites = heeded(ctx, sites)
    if not _has_torch(ctx) and not any(is_for_torch_of_others(ctx.index, site) for site in sites):
        return
    numbers = gpu_numbers(sites)
    fix = None
    questions = [site.node for site in sites if site.role is Role.QUESTION]
    named = {node for node in questions if devices.members.is_chosen_by(node)}
    texts = {node for node in questions if devices.chosen_texts.are_all_of(node)}
    left = named | texts | {node for node in questions if devices.questions.guards_cuda(node)}
    if len(numbers) < 2:
        fix = choose_device(ctx, sites) if ctx.portable else _choose_xla(ctx, devices, left)
    for site in sites:
        certainty = Certainty.CERTAIN if site.certain else Certainty.LIKELY
        idle = site.role is Role.QUESTION and devices.questions.opens_runtime_calls(site.node)
        severity = Severity.WARNING if idle or _serves_others(ctx, site) else None
        message = _message(ctx, site, "so what it guards never runs" if idle else _SILENT)
        yield ctx.finding(
            site.node,
            message,
            None if site.node in texts else fix,
            severity=severity,
            certainty=certainty,
            help=_MODEL_PARALLEL
            if len(numbers) > 1
            else _NAMED
            if site.node in named
            else _TEXT
            if site.node in texts
            else _GUARDS_CUDA
            if site.node in left
            else "",
        )


def _beside_tensors(ctx: FileContext) -> Iterator[Finding]:
    """``torch.Generator(device=x.device)``"""
    for call in generators_beside(ctx.index):
        fix = ctx.fix("Draw by a generator of the host", Applicability.UNSAFE, _DRAWN_ON_HOST)
        if ctx.portable:
            fix.give_up()
        fix.replace(call, f"{ctx.text(call.func)}()")
        message = f"`{short(ctx.text(call), 60)}` raises: {_NO_GENERATOR}"
        yield ctx.finding(call, message, fix, certainty=Certainty.LIKELY)


def _has_torch(ctx: FileContext) -> bool:
    """Whether a file imports torch, or something of it, or gets it with ``from module import *``."""
    index = ctx.index
    return index.imports_torch or (index.names.has_star_import and index.mentions(r"\btorch\."))


def _serves_others(ctx: FileContext, site: Site) -> bool:
    """Whether what the place does depends on other files: a helper may be right to ask, or is told the device."""
    if site.role in (Role.QUESTION, Role.COMPARISON) and not ctx.index.is_program:
        return True
    return ctx.index.callers.decide(site.node)


def _message(ctx: FileContext, site: Site, consequence: str) -> str:
    text = " ".join(ctx.text(site.node).split())
    text = f"`{text}`" if len(text) <= 60 else f"`{text[:57]}...`"
    if site.role is Role.QUESTION:
        return f"{text} answers for GPUs only, {consequence}"
    if "current_accelerator(" in text or (site.role is Role.ACQUISITION and "auto" in text):
        return f"{text} never answers with the XLA device, {_SILENT}"
    if site.role is Role.COMPARISON:
        return f"the device is compared with {text}, which it is not on a TPU machine"
    if site.role is Role.NUMBER:
        return f"{text} stands for a GPU by its number, and a TPU machine has none"
    if site.role is Role.GENERATOR:
        return f"{text} raises: {_NO_GENERATOR}"
    return f"{text} chooses a GPU, and moving anything there fails on a TPU machine"


def _choose_xla(ctx: FileContext, devices: Devices, left: Collection[ast.expr]) -> Fix | None:
    """The one fix; questions that are left guard what cannot be changed."""
    fix = ctx.fix("Choose the XLA device", Applicability.SAFE, _REASON, Scope.MODULE)
    open_choices = [use.choice for use in ctx.index.tensor_types.uses if use.choice is not None and use.unknown]
    kept = {choice.test for choice in open_choices}  # the class of the host, while nobody knows how CUDA's is used
    questions = [site for site in devices.sites if site.role is Role.QUESTION]
    fallbacks = {site.node for site in questions if falls_back(ctx, site.node)}.difference(left, kept)
    answers = {
        site.node: site.answer
        for site in questions
        if site.node not in left and site.node not in kept and site.node not in fallbacks
    }
    never = dict.fromkeys(devices.false_comparisons, False) if not ctx.portable else {}
    known = {**never, **_present(ctx, devices), **answers, **_answered_flags(ctx, devices, answers)}
    for_cuda = reads_for_cuda(ctx, fix, [site for site in devices.sites if answers.get(site.node, True)])
    asked = {load for load, question in for_cuda.items() if question.startswith(f"{load.id} ")}
    flags = spent_flags(ctx, fix, known, kept | asked, for_cuda.keys() - asked)
    known |= {load: flag.value for flag in flags for load in flag.loads}
    beside = dict(devices.gpu_branches.needing_gpus(answers))
    folding = fix.fold({**known, **loads_to_host(ctx, known), **beside})
    for flag in flags:
        folding.delete(flag.statement)
    for load, question in for_cuda.items():
        folding.replace(load, question)
    numbered: list[ast.Call] = []
    left_out = devices_left_out(ctx.index)
    for site in devices.sites:
        node = site.node
        if node in kept or node in left_out:
            continue
        if node in left:
            choose_answer(ctx, fix, folding, node)
            continue
        if node in fallbacks:
            fall_back_to_xla(ctx, folding, node)
            continue
        if site.role is Role.QUESTION:
            for given in devices.questions.half_options.given(node) if site.answer else ():
                folding.replace(given, "False")  # XLA has no float16: the option stays as it was without a GPU
            continue
        if folding.drops(node):
            continue
        if site.role is Role.NAME and (call := _device_call(ctx, folding, node)) is not None:
            _write_device(ctx, fix, folding, call)
        elif site.role is Role.NAME:
            folding.replace(node, _name(ctx, node))
            if (whole := _numbered_call(ctx, node)) is not None and whole not in numbered:
                numbered.append(whole)
            if devices.is_option_default(node):
                from tpulint_rules.device._option_help import name_in_help

                if (listed := name_in_help(ctx, node)) is not None:
                    fix.replace(listed, "xla")
        elif site.role is Role.COMPARISON and tell_from_host(ctx, folding, node):
            continue
        elif site.role is Role.COMPARISON:
            text = _text_compared(ctx, node)
            if text is not None and _may_have_no_number(ctx, text.args[0]):
                folding.replace(text, f"{fix.use('torch', at=text)}.device({ctx.text(text.args[0])}).type")
                text = None
            folding.replace(node, _name(ctx, node, "" if text is None else ":0"))
            if (device := leaves_unseeded(ctx.index, node)) is not None:
                folding.replace(device, f"{ctx.text(device)}.type")
        elif isinstance(node, ast.Call) and site.role is Role.GENERATOR:
            folding.replace(node, f"{ctx.text(node.func)}()")
        elif is_index_of_tensor(ctx.index, node):
            folding.replace(node, f"{ctx.text(node).rpartition('.')[0]}.device")
        else:
            _write_device(ctx, fix, folding, node)
    for whole in numbered:
        fix.delete_arguments(whole, _numbers_of(whole))  # a process has one XLA device
    for node in (site.node for site in devices.sites if site.node in left_out):
        fix.delete_arguments(left_out[node], [item for item in left_out[node].keywords if item.value is node])
    named_outside = choose_named(ctx, fix, folding, answers)
    by_options = name_device(ctx, fix, answers)
    mentions = devices.features.mentions
    reports = [statement for body in folding.kept for statement in mentions.cuda_reports(body)]
    taken = [*folding.kept, *(devices.questions.left_to_gpus(node) for node in answers)]
    demands = list(dict.fromkeys(item for body in taken for item in mentions.cuda_demands(body)))
    for statement in (*reports, *demands):
        folding.delete(statement)
    strip_of_dropped(ctx, fix, folding)
    folding.write()
    give_parameters(ctx, fix)
    named = any(site.role is not Role.QUESTION and site.node not in {*kept, *left_out} for site in devices.sites)
    if named or named_outside or fallbacks or by_options:
        fix.use("torch_xla")
    outside = _NAMED_OUTSIDE if named_outside or fallbacks else _BY_OPTIONS if by_options else ""
    rest = _BESIDE if beside else outside
    reason = _DEMANDS if demands else doubt(ctx, bool(reports)) or rest
    if reason:
        fix.lower(Applicability.UNSAFE, reason)
    return fix.build()


def _present(ctx: FileContext, devices: Devices) -> dict[ast.expr, bool]:
    """``hasattr(torch, "accelerator")`` around a choice of the device: the torch of torch_xla has these modules."""
    index = ctx.index
    found: dict[ast.expr, bool] = {}
    for call in index.calls_to("builtins.hasattr"):
        if len(call.args) != 2 or index.qualified_name(call.args[0]) != "torch":
            continue
        name = call.args[1].value if isinstance(call.args[1], ast.Constant) else None
        statement = index.statement_of(call)
        if name in _PARTS_OF_TORCH and any(index.tree.encloses(statement, site.node) for site in devices.sites):
            found[call] = True
    return found


def _answered_flags(ctx: FileContext, devices: Devices, answers: dict[ast.expr, bool]) -> dict[ast.expr, bool]:
    """Flags that hold nothing but the answer, where they choose the device: ``"cuda" if use_cuda else "cpu"``."""
    flags: dict[ast.expr, bool] = {}
    for site in devices.sites:
        for ancestor in ctx.index.tree.ancestors(site.node):
            if isinstance(ancestor, ast.IfExp) and isinstance(ancestor.test, ast.Name):
                bindings = ctx.index.names.bindings(ancestor.test)
                if (
                    len(bindings) == 1
                    and bindings[0].kind == "assign"
                    and bindings[0].value in answers
                    and not bindings[0].path
                ):
                    assert bindings[0].value is not None
                    flags[ancestor.test] = answers[bindings[0].value]
            elif not isinstance(ancestor, ast.IfExp):
                break
    return flags


def _device_call(ctx: FileContext, folding: Folding, node: ast.expr) -> ast.Call | None:
    """The ``torch.device(...)`` around a name when nothing but the name is left in it."""
    child: ast.AST = node
    for parent in ctx.index.tree.ancestors(node):
        if isinstance(parent, ast.Call):
            whole = ctx.index.qualified_name(parent.func) == "torch.device" and parent.args[:1] == [child]
            return parent if whole and folding.rest(parent.args[0]) is node else None
        if not isinstance(parent, ast.IfExp):
            return None
        child = parent
    return None


def _write_device(ctx: FileContext, fix: FixBuilder, folding: Folding, node: ast.expr) -> None:
    """The device object; a comparison with it asks for the type, as the other may have a number or none."""
    other = device_compared(ctx.index, node)
    if other is None:
        folding.replace(node, fix.device_object(node))
    else:
        folding.replace(other, f"{ctx.text(other)}.type")
        folding.replace(node, _name(ctx, node))


def _numbered_call(ctx: FileContext, node: ast.expr) -> ast.Call | None:
    """``torch.device("cuda" if ... else "cpu", rank)`` around one of its names, with the number of a GPU."""
    whole = next((item for item in ctx.index.tree.ancestors(node) if not isinstance(item, ast.IfExp)), None)
    if not isinstance(whole, ast.Call) or ctx.index.qualified_name(whole.func) != "torch.device":
        return None
    return whole if _numbers_of(whole) else None


def _numbers_of(call: ast.Call) -> list[ast.expr | ast.keyword]:
    return [*call.args[1:2], *(item for item in call.keywords if item.arg == "index")]


def _name(ctx: FileContext, node: ast.expr, suffix: str = "") -> str:
    quotes = [character for character in ctx.text(node) if character in "\"'"]
    # An attribute such as `.type` has no quotes to keep; the file's habit decides.
    habit = max("\"'", key=ctx.source.text.count)
    quote = quotes[0] if quotes else habit
    return f"{quote}xla{suffix}{quote}"


def _text_compared(ctx: FileContext, node: ast.expr) -> ast.Call | None:
    """``str(device)`` of ``str(device) == "cuda"``: the text of the XLA device has its number in it."""
    parent = ctx.index.parent(node)
    if not isinstance(parent, ast.Compare) or not isinstance(parent.ops[0], ast.Eq | ast.NotEq):
        return None
    return next(
        (
            side for side in (parent.left, *parent.comparators)
            if isinstance(side, ast.Call) and len(side.args) == 1
            and ctx.index.qualified_name(side.func) == "builtins.str"
        ),
        None,
    )  # fmt: skip


def _may_have_no_number(ctx: FileContext, device: ast.expr) -> bool:
    """Whether a device comes from who calls the function: ``"xla"``, ``torch.device("xla")``, or the device of XLA."""
    bindings = ctx.index.flow.reaching(device) if isinstance(device, ast.Name) else ()
    return any(binding.kind == "parameter" for binding in bindings)
