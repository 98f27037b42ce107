"""Small, valid, realistic GPU training programs, drawn by hypothesis from the forms that real scripts use."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Sequence
from string import Template

from hypothesis import strategies as st
from layouts import laid_out
from vocabulary import (
    ACQUISITIONS,
    ASIDES,
    BATCH_PLACEMENTS,
    DEFINITIONS,
    ENDINGS,
    EVALUATIONS,
    FORWARDS,
    HEADS,
    IMPORTS,
    LOADERS,
    LOOPS,
    MODULE_PLACEMENTS,
    OPTIMIZERS,
    PRECISIONS,
    READS,
    SETUP,
    STEPS,
    VOCABULARIES,
    Block,
    Statement,
)


def unbound_names(text: str) -> frozenset[str]:
    """Names that a program reads and nothing in it binds, scopes aside."""
    read: set[str] = set()
    bound: set[str] = {"__name__", "__file__", *dir(builtins)}
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                read.add(name)
            case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
            case ast.alias(name=name, asname=alias):
                bound.add(alias or name.partition(".")[0])
            case ast.ExceptHandler(name=str(name)):
                bound.add(name)
    return frozenset(read - bound)


def render(statements: Iterable[Statement], unit: str, depth: int = 0) -> str:
    """The text of statements, one line each."""
    lines = []
    for statement in statements:
        if isinstance(statement, Block):
            lines.append(f"{unit * depth}{statement.header}\n{render(statement.body, unit, depth + 1)}")
        else:
            lines.append(f"{unit * depth}{statement}\n")
    return "".join(lines)


def folded(template: str, names: dict[str, str], rest: Sequence[Statement] = ()) -> list[Statement]:
    """The statements of a template: a line ending with a colon takes the following ones, and ``rest``, as its body."""
    lines: list[Statement] = []
    parts = Template(template).substitute(names).split("\n")
    for at, part in enumerate(parts):
        if part.endswith(":"):
            return [*lines, Block(part, [*parts[at + 1 :], *rest])]
        if part:
            lines.append(part)
    return [*lines, *rest]


@st.composite
def step_bodies(draw: st.DrawFn, names: dict[str, str], context: str, scaler: bool) -> list[Statement]:
    """What happens to one batch: placement, forward, backward, update, reads."""

    def pick(options: Sequence[str]) -> list[Statement]:
        return folded(draw(st.sampled_from(options)), words)

    words = names | {"backward": f"{names['loss']}.backward()", "step": f"{names['optimizer']}.step()", "clip": ""}
    if draw(st.booleans()):
        words["clip"] = f"torch.nn.utils.clip_grad_norm_({names['model']}.parameters(), 1.0)"
    if scaler:
        words["backward"] = f"{names['scaler']}.scale({names['loss']}).backward()"
        words["step"] = "\n".join(
            Template(line).substitute(names) for line in ("$scaler.step($optimizer)", "$scaler.update()")
        )
        words["clip"] = f"{names['scaler']}.unscale_({names['optimizer']})\n{words['clip']}"
    forward = pick(FORWARDS)
    body = pick(BATCH_PLACEMENTS)
    body += [Block(f"with {context}:", forward)] if context else forward
    template = draw(st.sampled_from(STEPS))
    if scaler:
        template = template.replace(": $step; ", ":\n$step\n")
    body += folded(template, words)
    for read in draw(st.lists(st.sampled_from(READS), max_size=3, unique=True)):
        body += folded(read, words)
    return body


@st.composite
def training(draw: st.DrawFn, names: dict[str, str], context: str, scaler: bool) -> list[Statement]:
    """The training part: a bare loop, a function, a step function or a trainer class."""
    form = draw(st.sampled_from(("loop", "epochs", "function", "step function", "trainer", "nested")))
    held = ("model", "optimizer", "scaler", "loader", "device")
    inner = names
    if form == "trainer":
        inner = names | {name: f"self.{name}" for name in held}
    elif form in ("function", "step function"):
        inner = names | {"device": "device"}
    body = draw(step_bodies(inner, context, scaler))
    before = [f"{names['total']} = 0.0"]
    if form == "step function":
        parameters = ", ".join(inner[word] for word in ("x", "y", "model", "optimizer", "i", "device"))
        arguments = ", ".join(names[word] for word in ("x", "y", "model", "optimizer", "i", "device"))
        call: list[Statement] = [f"{names['total']} += train_step({arguments}).item()"]
        function = Block(
            f"def train_step({parameters}):",
            [f"global {names['total']}", *without_break(body), f"return {inner['loss']}"],
        )
        return [*before, function, *folded(draw(st.sampled_from(LOOPS)), names, call)]
    loop = [*before, f"{names['i']} = 0", *folded(draw(st.sampled_from(LOOPS)), inner, body)]
    match form:
        case "loop":
            return loop
        case "epochs":
            return [Block("for epoch in range(2):", loop)]
        case "trainer":
            constructor = [f"self.{name} = {name}" for name in held]
            values = ", ".join(names[name] if name != "scaler" or scaler else "None" for name in held)
            return [
                Block(
                    "class Trainer:",
                    (
                        Block(f"def __init__(self, {', '.join(held)}):", constructor),
                        Block("def fit(self):", [*loop, f"return {names['total']}"]),
                    ),
                ),
                f"Trainer({values}).fit()",
            ]
        case "nested":
            nested = Block("def run(epoch):", ["label = f'# {epoch}'", *loop, f"return {names['total']}"])
            return [Block("def train():", [nested, Block("for epoch in range(2):", ["print(run(epoch))"])]), "train()"]
    parameters = ", ".join(names[word] for word in ("model", "loader", "optimizer"))
    function = Block(f"def train({parameters}, device, epoch):", [*loop, f"return {names['total']} / 4"])
    call = [f"average = train({parameters}, {names['device']}, epoch)", "print(f'{epoch=} {average:.3f}')"]
    return [function, Block("for epoch in range(2):", call)]


def without_break(statements: Iterable[Statement]) -> list[Statement]:
    """Statements with every ``break`` turned into ``pass``, so that they can stand in a function."""
    return [
        Block(one.header, without_break(one.body)) if isinstance(one, Block) else one.replace("break", "pass")
        for one in statements
    ]


def completed(statements: Sequence[Statement], head: Sequence[Statement], unit: str) -> str:
    """The program's text, with a definition or an import for every name that it would leave unbound."""
    body = render(statements, unit)
    while defined := [name for name in unbound_names(body) if name in DEFINITIONS]:
        body = render([line for name in sorted(defined) for line in DEFINITIONS[name]], unit) + body
    missing = unbound_names(body) | {"torch"}  # a parameter of that name does not import it
    return render([*head, *(line for name, line in IMPORTS.items() if name in missing)], unit) + body


@st.composite
def plain_programs(draw: st.DrawFn) -> str:
    """Programs in an ordinary layout."""
    names = {name: draw(st.sampled_from(options)) for name, options in VOCABULARIES.items()} | {"scaler": "scaler"}
    acquisition = draw(st.sampled_from(ACQUISITIONS))
    names["device"] = acquisition.device
    precision = draw(st.sampled_from(PRECISIONS))
    scaled = bool(precision.scaler) and draw(st.integers(0, 3)) > 0

    def pick(options: Sequence[str], **words: str) -> list[Statement]:
        return folded(draw(st.sampled_from(options)), names | words)

    placement = pick(MODULE_PLACEMENTS, module=names["model"])
    optimizer = pick(OPTIMIZERS)
    if draw(st.integers(0, 3)) == 0:
        optimizer, placement = placement, optimizer
    body: list[Statement] = [*acquisition.setup, f"{names['model']} = Net()"]
    body += [*placement, *optimizer, *pick(LOADERS)]
    for line in draw(st.lists(st.sampled_from(SETUP), max_size=3, unique=True)):
        body += folded(line, names)
    for at in draw(st.lists(st.integers(0, len(ASIDES) - 1), max_size=3, unique=True)):
        body += ASIDES[at]
    if scaled:
        body.append(f"scaler = {precision.scaler}")
    trained = draw(training(names, precision.context, scaled))
    text = render(trained, " ")
    if "critic_optimizer" in text:
        body.append(f"critic_optimizer = torch.optim.Adam({names['model']}.parameters(), lr=1e-4)")
    if "scheduler" in text:
        body.append(f"scheduler = optim.lr_scheduler.StepLR({names['optimizer']}, 1)")
    body += trained
    if draw(st.booleans()):
        score = ["$out = $model($x.to($device))", "hits += ($out.argmax(1) == $y.to($device)).sum().item()"]
        loop = Block(
            Template("for $x, $y in $loader:").substitute(names), [Template(line).substitute(names) for line in score]
        )
        body += [f"{names['model']}.eval()", "hits = 0", Block(draw(st.sampled_from(EVALUATIONS)), [loop])]
        body.append("print('accuracy', hits / len(dataset))")
    body += pick(ENDINGS)
    if draw(st.integers(0, 3)) == 0 and "global " not in text:
        body = [Block("def main():", body), Block('if __name__ == "__main__":', ["main()"])]
    unit = draw(st.sampled_from(("    ", "    ", "  ", "\t")))
    return completed(body, [*draw(st.sampled_from(HEADS)), *precision.imports], unit)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Programs in any layout that Python accepts, as text that may hold any newline."""
    return draw(laid_out(draw(plain_programs())))
