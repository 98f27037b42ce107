"""Appending a value read from the device to a list, in every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder, short
from tpulint.model import Applicability, Certainty, Finding, Scope, Severity
from tpulint.semantic import LoopNode, SemanticIndex
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.totals.filled_arrays import ListOfArrays
from tpulint.semantic.totals.filled_lists import FilledList
from tpulint_rules.host_sync._device_values import detaching, insert_behind_loop, keep_on_device, torch_text

REASON = "Until the end of the loop the list holds tensors, and what is added to the values is added in float32."
ARRAYS = "Until the end of the loop the device keeps what each step adds to the list, and the list holds tensors."
CHUNK = 64
"""Tensors stacked at a time: compiling one stack of thousands takes minutes."""
WIDTH = 120
"""Lines longer than this are broken."""


def check(ctx: FileContext) -> Iterator[Finding]:
    """Every append of device values to a list that can be filled with tensors."""
    index = ctx.index
    steps = {step.node: step for step in index.step_loops}
    loops: list[tuple[LoopNode, Severity]] = [(node, Severity.ERROR) for node in steps]
    loops += [(node, Severity.ERROR) for node in index.filled_lists.inner_loops]
    loops += [(node, Severity.WARNING) for node in index.regions.evaluation_loops]
    for loop, severity in loops:
        lists = index.filled_lists.of(loop)
        arrays = index.filled_arrays.of(steps[loop]) if loop in steps else []
        if not lists and not arrays:
            continue
        reason = REASON if lists else ARRAYS
        fix = ctx.fix("Collect tensors and read them behind the loop", Applicability.UNSAFE, reason, Scope.LOOP)
        before: list[str] = []
        after: list[str] = []
        gates: dict[ast.If, list[str]] = {}
        for filled in lists:
            collect_on_device(fix, index, filled, before, after, gates)
        for one in arrays:
            collect_arrays(fix, index, one, before, after)
        if before:
            fix.insert_before(loop, "\n".join(before))
        if after:
            insert_behind_loop(fix, loop, "\n".join(after))
        for gate, lines in gates.items():
            fix.insert_before(gate.body[0], "\n".join(lines))
        where = "step" if severity is Severity.ERROR else "evaluation batch"
        reads = [(read, filled.target) for filled in lists for read in filled.reads]
        reads += [(one.read, one.append.target) for one in arrays]
        for read, target in reads:
            yield ctx.finding(
                read.node,
                f"`{short(ctx.text(read.node))}` makes the host wait for the device in every {where}, to append to "
                f"`{ctx.text(target)}`",
                fix,
                severity=severity,
                certainty=Certainty.CERTAIN if read.certain else Certainty.LIKELY,
            )


def collect_on_device(
    fix: FixBuilder,
    index: SemanticIndex,
    filled: FilledList,
    before: list[str],
    after: list[str],
    gates: dict[ast.If, list[str]],
) -> None:
    """Edits for one list; lines to put in front of the loop, behind it, and into blocks are added to the others."""
    torch = torch_text(fix, index, filled.loop)
    target = index.text(filled.target)
    name = target
    is_dead = _is_dead(index, filled)
    if not filled.is_new and not is_dead:
        name = _list_of_steps(index, filled.target, filled.loop, before)
        for append in filled.appends:
            fix.replace(append.target, name)
    for read in filled.reads:
        keep_on_device(fix, index, read, "" if index.scalars.is_scalar(read.tensor) else ".reshape(())")
    if is_dead:
        return
    # Names of a comprehension are its own; only what is used within must not be called the same.
    at, value = ("at", "value") if name not in ("at", "value") else ("begin", "number")
    chunk = f"{torch}.stack({name}[{at} : {at} + {CHUNK}]).tolist()"
    parts = [value, f"for {at} in range(0, len({name}), {CHUNK})", f"for {value} in {chunk}"]
    opening, closing = (f"{target} = [", "]") if filled.is_new else (f"{target}.extend(", ")")
    line = opening + " ".join(parts) + closing
    if len(fix.indent_of(filled.loop)) + len(line) > WIDTH:
        line = "\n".join([opening, *(f"    {part}" for part in parts), closing])
    if not filled.gates or _is_read_behind(index, filled):
        after.append(line)
    for gate in filled.gates:
        gates.setdefault(gate, []).append(f"{line}\n{name}.clear()")


def collect_arrays(
    fix: FixBuilder, index: SemanticIndex, filled: ListOfArrays, before: list[str], after: list[str]
) -> None:
    """Edits for a list of arrays, which are read one by one behind the loop: they need not be of one shape."""
    append, read = filled.append, filled.read
    target = name = index.text(append.target)
    if not filled.is_new:
        name = _list_of_steps(index, append.target, filled.loop, before)
    kept = fix.text(read.tensor) + detaching(index, read)
    fix.replace(append.statement, f"{name}.append({kept})")
    value, row = ("value", "row") if name not in ("value", "row") else ("part", "item")
    whole, tensor = index.span(append.element), index.span(read.tensor)
    text = index.text(append.element)
    array = f"{text[: tensor.start - whole.start]}{value}{text[tensor.end - whole.start :]}"
    parts = (
        f"{row} for {value} in {name} for {row} in {array}" if filled.takes_rows else f"{array} for {value} in {name}"
    )
    after.append(f"{target} = [{parts}]" if filled.is_new else f"{target}.extend({parts})")


def _list_of_steps(index: SemanticIndex, target: ast.expr, loop: LoopNode, before: list[str]) -> str:
    """The name of a list that holds tensors while the loop runs, which is begun in front of it."""
    name = index.names.fresh(f"step_{_identifier(target)}", loop)
    while f"{name} = []" in before:
        name += "_"
    before.append(f"{name} = []")
    return name


def _is_dead(index: SemanticIndex, filled: FilledList) -> bool:
    """Whether a function looks nowhere at a list that it makes and fills: the numbers are not needed at all."""
    target, function = filled.target, index.function_of(filled.loop)
    if function is None or not isinstance(target, ast.Name):
        return False
    bindings, filling = index.names.bindings(target), {append.target for append in filled.appends}
    is_own = all(isinstance(one.value, ast.List) and index.function_of(one.node) is function for one in bindings)
    return bool(bindings) and is_own and all(load in filling for load in index.names.loads_of(target))


def _is_read_behind(index: SemanticIndex, filled: FilledList) -> bool:
    """Whether what the last turns leave in the list may matter: not where only the loop looks at it, and empties it."""
    target, loop = filled.target, filled.loop
    if not isinstance(target, ast.Name) or index.tree.loop_of(loop) is not None:
        return True
    begun_again = any(index.tree.encloses(loop, binding.node) for binding in index.names.bindings(target))
    return not begun_again or not all(index.tree.encloses(loop, load) for load in index.names.loads_of(target))


def _identifier(target: ast.expr) -> str:
    """A name for a list: ``loss`` for ``self.history["loss"]``."""
    if isinstance(target, ast.Subscript):
        key = target.slice.value if isinstance(target.slice, ast.Constant) else None
        return str(key) if isinstance(key, str) and key.isidentifier() else _identifier(target.value)
    return last_name(target) or "values"
