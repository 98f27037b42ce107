"""Host reads: what whole loops become, with the step boundary they need, and what must be left alone."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from command import tpulint
from marked_files import agree

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.fixer import apply
from tpulint.linter import lint
from tpulint.model import FileResult, Pace
from tpulint.semantic import SemanticIndex
from tpulint.source import SourceFile

CATALOGUE = load()
FAMILY = ("TPU101", "TPU102", "TPU103", "TPU104", "TPU105", "TPU106", "TPU107", "TPU108", "TPU301", "TPU302")
SETUP = """\
import math
import sys
import torch
import torch.nn.functional as F
from tqdm import tqdm
import torch_xla
device = torch_xla.device()
model = torch.nn.Linear(4, 3).to(device)
critic = torch.nn.Linear(4, 1).to(device)
optimizer = torch.optim.Adam(model.parameters())
critic_optimizer = torch.optim.Adam(critic.parameters())
loader = torch.utils.data.DataLoader(dataset, batch_size=4)
"""


def port(text: str, *, unsafe: bool = True, select: tuple[str, ...] = FAMILY, catalogue: Any = CATALOGUE) -> FileResult:
    settings = Settings(select=select, preview=True, fix=True, unsafe_fixes=unsafe)
    result = lint(SourceFile.from_text(text), settings, catalogue)
    assert result.error == ""
    ast.parse(result.text)
    again = lint(SourceFile.from_text(result.text), settings, catalogue)
    assert again.text == result.text, "a second run changes the text"
    return result


def check(text: str, select: tuple[str, ...] = FAMILY) -> list[tuple[str, str]]:
    """Code and severity of what a plain check finds behind the set-up."""
    result = lint(SourceFile.from_text(SETUP + dedent(text)), Settings(select=select, preview=True), CATALOGUE)
    return [(finding.code, finding.severity.label) for finding in result.findings]


def becomes(before: str, after: str, *, left: Sequence[str] = ()) -> None:
    result = port(SETUP + dedent(before))
    assert result.text.removeprefix(SETUP) == dedent(after)
    assert [finding.code for finding in result.findings] == list(left)


def stays(text: str, *, left: Sequence[str] = ()) -> None:
    becomes(text, text, left=left)


# -------------------------------------------------------------------- the same read at other paces

PACES = """
def report(loss):
    {report}


def validate():
    total = torch.zeros((), device=device)
    with torch.no_grad():
        for x, _ in loader:
            loss = model(x.to(device)).mean()
            {evaluation}
            total += loss
            torch_xla.sync()
    {validated}


def main():
    loss = model(torch.ones(1, 4).to(device)).mean()
    {before}
    for size in (1, 2):
        loss = model(torch.ones(size, 4).to(device)).mean()
        {other}
    for epoch in range(3):
        for step, (x, _) in enumerate(loader):
            loss = model(x.to(device)).mean()
            {step}
            loss.backward()
            {behind_backward}
            if step % 100 == 0:
                {interval_in_front}
            optimizer.step()
            torch_xla.sync()
            if step % 100 == 0:
                {interval}
        {epoch}
        report(loss)
        validate()
    {end}
    validate_at_the_end()


def validate_at_the_end():
    with torch.no_grad():
        loss = model(torch.ones(1, 4).to(device)).mean()
        {function_at_the_end}


main()
"""
COSTS = {
    "step": ("TPU101", "error", "per step"),
    "behind_backward": ("TPU101", "error", "per step"),
    "interval_in_front": ("TPU101", "warning", "per log interval"),
    "interval": None,
    "evaluation": ("TPU101", "warning", "per evaluation batch"),
    "epoch": ("TPU109", "info", "per epoch"),
    "report": ("TPU109", "info", "per epoch"),
    "validated": ("TPU109", "info", "per epoch"),
    "before": None,
    "other": None,
    "end": None,
    "function_at_the_end": None,
}


@pytest.mark.parametrize(("place", "cost"), COSTS.items(), ids=COSTS)
def test_the_same_read_costs_what_its_pace_says(place: str, cost: tuple[str, str, str] | None) -> None:
    fields = dict.fromkeys(COSTS, "pass") | {place: "values = total.item()" if place == "validated" else "loss.item()"}
    text = SETUP + PACES.format(**fields)
    settings = Settings(select=("TPU101", "TPU109"), preview=True)
    found = lint(SourceFile.from_text(text), settings, CATALOGUE).findings
    assert [(one.code, one.severity.label, one.pace) for one in found] == ([] if cost is None else [cost])


def test_paces_of_what_stands_outside_of_turns() -> None:
    """A loop stands for its turns, a function for its body; what nobody is known to call tells nothing."""
    text = SETUP + dedent("""
        def unused():
            mark_unused()


        def called(epoch):
            mark_called()


        class Net(torch.nn.Module):
            def forward(self, x):
                mark_forward()
                return x


        net = Net().to(device)
        mark_module()
        for name in names:
            mark_loop()
        for epoch in range(3):
            mark_epoch()
            for name in names:
                mark_loop_of_epoch()
            called(epoch)
            later = lambda: mark_lambda()
            for x, _ in mark_loader(loader):
                loss = net(model(x.to(device))).mean()
                loss.backward()
                optimizer.step()
    """)
    source = SourceFile.from_text(text)
    index = SemanticIndex(source, ast.parse(text))
    paces = {
        call.func.id.removeprefix("mark_"): pace.value if (pace := index.paces.of(call)) is not None else ""
        for call in index.calls
        if isinstance(call.func, ast.Name) and call.func.id.startswith("mark_")
    }
    assert paces == {
        "unused": "", "called": "per epoch", "forward": "per step", "module": "once", "loop": "", "epoch": "per epoch",
        "loop_of_epoch": "per epoch", "lambda": "", "loader": "per epoch",
    }  # fmt: skip
    assert index.paces.of(index.step_loops[0].node) is Pace.STEP
    called = next(function for function in index.tree.functions if function.name == "called")
    assert index.paces.of(called) is Pace.EPOCH


def test_files_that_train_nothing_tell_no_pace() -> None:
    text = "import torch\nx = torch.zeros(3).cuda()\n"
    index = SemanticIndex(SourceFile.from_text(text), ast.parse(text))
    assert index.paces.of(index.calls[0]) is None
    assert "regions" not in index.__dict__, "loops were looked for"


# -------------------------------------------------------------------- functions that a step runs by other names

STEP_OF = """
def train_step(x):
    optimizer.zero_grad()
    loss = model(x.to(device)).mean()
    loss.backward()
    print(loss.item())
    optimizer.step()
"""
EPOCHS = """
for epoch in range(3):
    for x, _ in loader:
        {call}
"""


def step_called(setup: str, call: str) -> str:
    return STEP_OF + dedent(setup) + EPOCHS.format(call=call)


PASSED = """
def run(step_function):
    for x, _ in loader:
        step_function(x)


"""
TRAINER = """
class Trainer:
    def __init__(self, model, optimizer):
        self.model = model.to(device)
        self.optimizer = optimizer
        {init}

    def fit(self):
        {fit}
        for epoch in range(3):
            self.train_epoch()

    def train_epoch(self):
        {train_epoch}
        for x, _ in loader:
            {call}

    def training_step(self, x):
        self.optimizer.zero_grad()
        loss = self.model(x.to(device)).mean()
        self.update(loss)
        print(loss.item())

    def update(self, loss):
        loss.backward()
        self.optimizer.step()


Trainer(model, optimizer).fit()
"""


def trainer(call: str, **fields: str) -> str:
    return TRAINER.format(call=call, **(dict.fromkeys(("init", "fit", "train_epoch"), "pass") | fields))


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


CALLED_PER_STEP = {
    "compiled": step_called("step = torch.compile(train_step)", "step(x)"),
    "compiled for XLA": step_called("step = torch_xla.compile(train_step, full_graph=True)", "step(x)"),
    "compiled under its own name": step_called("train_step = torch.compile(train_step)", "train_step(x)"),
    "compiled now and then": step_called("if fast:\n    train_step = torch.compile(train_step)", "train_step(x)"),
    "one of two names": step_called("step = train_step\nif fast:\n    step = torch.compile(train_step)", "step(x)"),
    "compiled in place": step_called("", "torch.compile(backend='openxla')(train_step)(x)"),
    "decorated": "@torch.compile" + step_called("", "train_step(x)"),
    "decorated for XLA": "@torch_xla.compile(full_graph=True)" + step_called("", "train_step(x)"),
    "partial": step_called("step = functools.partial(train_step)", "step(x)"),
    "partial of compiled": step_called("step = functools.partial(torch.compile(train_step))", "step(x)"),
    "lambda": step_called("step = lambda x: train_step(x)", "step(x)"),
    "alias": step_called("step = train_step", "step(x)"),
    "closure": "def main():\n" + indented(step_called("", "train_step(x)")) + "\n\nmain()\n",
    "passed": STEP_OF + PASSED + "run(train_step)\n",
    "passed by name": STEP_OF + PASSED + "run(step_function=torch.compile(train_step))\n",
    "passed twice": STEP_OF + PASSED + "run(train_step)\nrun(train_step)\n",
    "methods": trainer("self.training_step(x)"),
    "compiled method": trainer("self.step(x)", init="self.step = torch.compile(self.training_step)"),
    "compiled method of its own name": trainer(
        "self.training_step(x)", init="self.training_step = torch_xla.compile(self.training_step)"
    ),
    "compiled method in a variable": trainer("step(x)", train_epoch="step = torch.compile(self.training_step)"),
}


@pytest.mark.parametrize("text", CALLED_PER_STEP.values(), ids=CALLED_PER_STEP)
def test_reads_of_functions_that_a_step_runs_by_other_names(text: str) -> None:
    settings = Settings(select=("TPU101",), preview=True)
    found = lint(SourceFile.from_text("import functools\n" + SETUP + text), settings, CATALOGUE).findings
    assert [(one.severity.label, one.pace) for one in found] == [("error", "per step")]


def test_functions_are_not_guessed() -> None:
    """What a name may stand for besides is not known: neither function counts as run in every step."""
    other = "def look(x):\n    print(model(x.to(device)).mean().item())\n"
    train = "loss = model(x.to(device)).mean()\nloss.backward()\noptimizer.step()\n"
    loop = "for x, _ in loader:\n    {}\n" + indented(train)
    for setup, call in (
        ("step = look\nif fast:\n    step = unknown\n", "step(x)"),
        ("step = torch.jit.trace(look, example)\n", "step(x)"),
        ("step = lambda x: hooks.append(look)\n", "step(x)"),
        ("model_2 = torch.compile(model)\n", "model_2(x.to(device))"),
    ):
        assert check(other + setup + loop.format(call), ("TPU101",)) == [], setup
    run = "def run(step):\n" + indented(loop.format("step(x)"))
    assert check(other + run + "run(look)\n", ("TPU101",)) == [("TPU101", "error")]
    assert check(other + run + "run(look)\nrun(unknown)\n", ("TPU101",)) == []


def test_every_function_that_an_option_may_choose_counts() -> None:
    """One of them runs in every step: each is the step of some run."""
    other = "def see(x):\n    pass\n\ndef look(x):\n    print(model(x.to(device)).mean().item())\n"
    train = "loss = model(x.to(device)).mean()\nloss.backward()\noptimizer.step()\n"
    loop = "for x, _ in loader:\n    {}\n" + indented(train)
    run = "def run(step):\n" + indented(loop.format("step(x)"))
    for text in (
        other + "step = look\nif fast:\n    step = see\n" + loop.format("step(x)"),
        other + "if fast:\n    step = see\nelse:\n    step = look\n" + loop.format("step(x)"),
        other + "step = see if fast else look\n" + loop.format("step(x)"),
        other + run + "run(look)\nrun(see)\n",
        other + run + "chosen = see if fast else look\nrun(chosen)\n",
    ):
        assert check(text, ("TPU101",)) == [("TPU101", "error")], text
    assert check(other + "step = see if fast else look\n" + loop.format("if i % 100 == 0: step(x)"), ("TPU101",)) == []


def test_a_compiled_function_goes_on_returning_the_number() -> None:
    """What is handed on may be called where nobody looks: only one whose calls are all seen gives the tensor."""
    stays(
        """
        def train_step(x):
            loss = model(x.to(device)).mean()
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            return loss.item()

        step = torch.compile(train_step)
        for i, (x, _) in enumerate(loader):
            value = step(x)
            if i % 100 == 0:
                print(value)
        """,
    )


# -------------------------------------------------------------------- whole loops

GAN = """
for epoch in range(2):
    for i, (x, _) in enumerate(loader):
        real = x.to(device)
        critic_optimizer.zero_grad()
        output = critic(real)
        errD_real = F.binary_cross_entropy_with_logits(output, torch.ones_like(output))
        errD_real.backward()
        D_x = output.mean().item()
        fake = model(real)
        output = critic(fake.detach())
        errD_fake = F.binary_cross_entropy_with_logits(output, torch.zeros_like(output))
        errD_fake.backward()
        D_G_z1 = output.mean().item()
        errD = errD_real + errD_fake
        critic_optimizer.step()
        optimizer.zero_grad()
        errG = critic(fake).mean()
        errG.backward()
        optimizer.step()
        print('[%d][%d] %.4f %.4f D(x): %.4f D(G(z)): %.4f'
              % (epoch, i, errD.item(), errG.item(), D_x, D_G_z1))
"""


def test_values_of_a_gan_are_kept_and_fetched_together() -> None:
    """The same name stands for two outputs: what is read early is kept, and all of it is one transfer."""
    becomes(
        GAN,
        """
        for epoch in range(2):
            for i, (x, _) in enumerate(loader):
                real = x.to(device)
                critic_optimizer.zero_grad()
                output = critic(real)
                errD_real = F.binary_cross_entropy_with_logits(output, torch.ones_like(output))
                errD_real.backward()
                D_x = output.mean().detach()
                fake = model(real)
                output = critic(fake.detach())
                errD_fake = F.binary_cross_entropy_with_logits(output, torch.zeros_like(output))
                errD_fake.backward()
                D_G_z1 = output.mean().detach()
                errD = errD_real + errD_fake
                critic_optimizer.step()
                optimizer.zero_grad()
                errG = critic(fake).mean()
                errG.backward()
                optimizer.step()
                step_values = torch.stack((errD, errG, D_x, D_G_z1)).detach()
                torch_xla.sync()
                errD_value, errG_value, D_x_value, D_G_z1_value = step_values.tolist()
                print('[%d][%d] %.4f %.4f D(x): %.4f D(G(z)): %.4f'
                      % (epoch, i, errD_value, errG_value, D_x_value, D_G_z1_value))
        """,
    )


BAR = """
def train(model: torch.nn.Module, loader, optimizer, device, show):
    train_loss = 0
    correct = 0
    total = 0
    for batch_idx, (inputs, targets) in enumerate(loader):
        inputs, targets = inputs.to(device), targets.to(device)
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = F.cross_entropy(outputs, targets)
        loss.backward()
        optimizer.step()

        train_loss += loss.item()
        _, predicted = outputs.max(1)
        total += targets.size(0)
        correct += predicted.eq(targets).sum().item()

        show(batch_idx, len(loader), 'Loss: %.3f | Acc: %.3f%% (%d/%d)'
             % (train_loss/(batch_idx+1), 100.*correct/total, correct, total))
"""


def test_totals_that_are_shown_in_every_step() -> None:
    """Summed on the device, one transfer a step for what is shown; whole numbers stay whole."""
    becomes(
        BAR,
        """
        def train(model: torch.nn.Module, loader, optimizer, device, show):
            train_loss = torch.zeros(1).to(device)
            correct = torch.zeros(1, dtype=torch.long).to(device)
            total = 0
            for batch_idx, (inputs, targets) in enumerate(loader):
                inputs, targets = inputs.to(device), targets.to(device)
                optimizer.zero_grad()
                outputs = model(inputs)
                loss = F.cross_entropy(outputs, targets)
                loss.backward()
                optimizer.step()

                train_loss += loss.detach()
                _, predicted = outputs.max(1)
                total += targets.size(0)
                correct += predicted.eq(targets).sum()
                step_values = torch.stack((train_loss.reshape(()), correct.reshape(()))).detach()
                torch_xla.sync()
                train_loss_value, correct_value = step_values.tolist()

                show(batch_idx, len(loader), 'Loss: %.3f | Acc: %.3f%% (%d/%d)'
                     % (train_loss_value/(batch_idx+1), 100.*int(correct_value)/total, int(correct_value), total))
        """,
    )


def test_totals_that_start_in_one_row_are_shown_by_one_transfer() -> None:
    becomes(
        """
        def train(model: torch.nn.Module, loader, optimizer, device, show):
            train_loss, correct, total = 0, 0, 0
            for at, (x, y) in enumerate(loader):
                y = y.to(device)
                outputs = model(x.to(device))
                loss = F.cross_entropy(outputs, y)
                loss.backward()
                optimizer.step()
                train_loss += loss.item()
                total += y.size(0)
                correct += (y == outputs.max(1)[1]).sum().item()
                show(at, "%.3f (%d/%d)" % (train_loss / (at + 1), correct, total))
        """,
        """
        def train(model: torch.nn.Module, loader, optimizer, device, show):
            train_loss, correct, total = torch.zeros(1).to(device), torch.zeros(1, dtype=torch.long).to(device), 0
            for at, (x, y) in enumerate(loader):
                y = y.to(device)
                outputs = model(x.to(device))
                loss = F.cross_entropy(outputs, y)
                loss.backward()
                optimizer.step()
                train_loss += loss.detach()
                correct += (y == outputs.max(1)[1]).sum()
                total += y.size(0)
                step_values = torch.stack((train_loss.reshape(()), correct.reshape(()))).detach()
                torch_xla.sync()
                train_loss_value, correct_value = step_values.tolist()
                show(at, "%.3f (%d/%d)" % (train_loss_value / (at + 1), int(correct_value), total))
        """,
    )


GUARDED = """
for step, x in enumerate(loader):
    loss = model(x.to(device)).mean()
    loss_value = loss.item()
    if not math.isfinite(loss_value):
        print("Loss is {}, stopping training".format(loss_value))
        sys.exit(1)
    loss /= 4
    loss.backward()
    if (step + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
    meters.update(loss=loss_value)
"""


def test_guard_on_a_loss_that_changes_behind_it() -> None:
    """The loss is divided in place before the boundary: the tensor is kept as it was, the guard moves."""
    becomes(
        GUARDED,
        """
        for step, x in enumerate(loader):
            loss = model(x.to(device)).mean()
            loss_value = loss.detach().clone()
            loss /= 4
            loss.backward()
            if (step + 1) % 4 == 0:
                optimizer.step()
                optimizer.zero_grad()
            torch_xla.sync()
            loss_value = loss_value.item()
            if not math.isfinite(loss_value):
                print("Loss is {}, stopping training".format(loss_value))
                sys.exit(1)
            meters.update(loss=loss_value)
        """,
    )


def test_what_is_kept_of_a_loss_that_changes_behind_it_is_a_copy() -> None:
    """A detached tensor shares its memory: `loss /= 4` would change what is kept. A sum is a new tensor."""
    becomes(
        """
        history = []
        total = 0.0
        for x in loader:
            loss = model(x.to(device)).mean()
            history.append(loss.item())
            total += loss.item()
            loss /= 4
            loss.backward()
            optimizer.step()
            torch_xla.sync()
        print(max(history), total)
        """,
        """
        history = []
        total = torch.zeros(1).to(device)
        for x in loader:
            loss = model(x.to(device)).mean()
            history.append(loss.detach().clone())
            total += loss.detach()
            loss /= 4
            loss.backward()
            optimizer.step()
            torch_xla.sync()
        history = [value for at in range(0, len(history), 64) for value in torch.stack(history[at : at + 64]).tolist()]
        total = total.item()
        print(max(history), total)
        """,
    )


def test_items_of_a_dict_of_lists_are_filled_behind_the_loop() -> None:
    becomes(
        """
        class Trainer:
            def train(self):
                self.history = {"loss": [], "size": []}
                for x in loader:
                    output = model(x.to(device))
                    loss = output.mean()
                    self.history["loss"].append(loss.item())
                    loss.backward()
                    optimizer.step()
                    self.history["size"].append(output.norm().item())
        """,
        """
        class Trainer:
            def train(self):
                self.history = {"loss": [], "size": []}
                step_loss = []
                step_size = []
                for x in loader:
                    output = model(x.to(device))
                    loss = output.mean()
                    step_loss.append(loss.detach())
                    loss.backward()
                    optimizer.step()
                    step_size.append(output.norm().detach())
                    torch_xla.sync()
                self.history["loss"].extend(
                    value
                    for at in range(0, len(step_loss), 64)
                    for value in torch.stack(step_loss[at : at + 64]).tolist()
                )
                self.history["size"].extend(
                    value
                    for at in range(0, len(step_size), 64)
                    for value in torch.stack(step_size[at : at + 64]).tolist()
                )
        """,
    )


def test_list_that_is_looked_at_now_and_then_holds_numbers_there() -> None:
    becomes(
        """
        losses = []
        for step, x in enumerate(loader):
            loss = model(x.to(device)).mean()
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            losses.append(loss.item())
            if step % 10 == 0:
                print(sum(losses[-10:]) / 10)
        print(max(losses))
        """,
        """
        losses = []
        step_losses = []
        for step, x in enumerate(loader):
            loss = model(x.to(device)).mean()
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            step_losses.append(loss.detach())
            if step % 10 == 0:
                losses.extend(
                    value
                    for at in range(0, len(step_losses), 64)
                    for value in torch.stack(step_losses[at : at + 64]).tolist()
                )
                step_losses.clear()
                print(sum(losses[-10:]) / 10)
        losses.extend(
            value
            for at in range(0, len(step_losses), 64)
            for value in torch.stack(step_losses[at : at + 64]).tolist()
        )
        print(max(losses))
        """,
    )


def test_list_that_only_the_loop_looks_at_is_not_filled_behind_it() -> None:
    becomes(
        """
        losses = []
        for step, x in enumerate(loader):
            loss = model(x.to(device)).mean()
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            losses.append(loss.item())
            if step % 10 == 0:
                print(sum(losses) / 10)
                losses = []
        """,
        """
        losses = []
        step_losses = []
        for step, x in enumerate(loader):
            loss = model(x.to(device)).mean()
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            step_losses.append(loss.detach())
            if step % 10 == 0:
                losses.extend(
                    value
                    for at in range(0, len(step_losses), 64)
                    for value in torch.stack(step_losses[at : at + 64]).tolist()
                )
                step_losses.clear()
                print(sum(losses) / 10)
                losses = []
        """,
    )


SUMMED_LIST = """
def train():
    parts = {start}
    for x in loader:
        losses = [model(x.to(device)).mean(), model(x.to(device)).std()]
        sum(losses).backward()
        optimizer.step()
        for i, loss in enumerate(losses):
            {addition}{look}
        torch_xla.sync()
    {behind}return parts
"""


@pytest.mark.parametrize("start", ["[0.0, 0.0]", "[0] * 2", "[0.0 for _ in range(2)]"])
def test_a_list_of_sums_holds_tensors_until_the_end_of_the_loop(start: str) -> None:
    before = SUMMED_LIST.format(start=start, addition="parts[i] += loss.item() / 2", look="", behind="")
    behind = "parts = [float(value) for value in parts]\n    "
    becomes(before, SUMMED_LIST.format(start=start, addition="parts[i] += loss.detach() / 2", look="", behind=behind))


@pytest.mark.parametrize(
    ("start", "addition", "look"),
    [
        ("[0.0, 0.0]", "parts[i] += loss.item()", "\n            print(parts)"),
        ("numpy.zeros(2)", "parts[i] += loss.item()", ""),
        ("[0.0, 0.0]", "parts[i] += (loss > 0).sum().item()", ""),
        ("[0.0, 0.0]", "parts[i] += loss.item()", "\n            parts[i] *= 0.9"),
        ("[0.0, 0.0]", "parts[i] = loss.item()", ""),
    ],
)
def test_a_list_of_which_more_is_made_than_sums_is_left_alone(start: str, addition: str, look: str) -> None:
    text = SUMMED_LIST.format(start=start, addition=addition, look=look, behind="")
    fixed = port(SETUP + text).text
    assert addition + look in fixed
    assert "in parts]" not in fixed


@pytest.mark.parametrize(
    ("text", "fetched"),
    [
        ('"{:.3f} {:.3f}".format({}, {})', True),
        ('"%.3f %.3f" % ({}, {})', True),
        ('f"{{{}:.3f}} {{{}:.3f}}"', True),
        ("(tell({}), {})", False),
    ],
)
def test_arrays_of_one_number_in_a_text_are_fetched_together(text: str, fetched: bool) -> None:
    program = """
for x in loader:
    loss = model(x.to(device)).mean()
    size = model(x.to(device)).abs().mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    show({})
"""
    arrays = ("loss.detach().cpu().numpy()", "size.data.cpu().numpy()")
    shown = text.replace("{:.3f}", "{{:.3f}}") if ".format" in text else text
    fixed = port(SETUP + program.format(shown.format(*arrays))).text
    assert ("step_values.tolist()" in fixed) is fetched
    assert ("numpy()" not in fixed) is fetched


def test_dict_of_lists_that_is_looked_at_in_the_loop_is_left_alone() -> None:
    for look in ("show(history)", "print(history['loss'][-1])", "history[name].append(0.0)"):
        text = f"""
        history = {{"loss": []}}
        for x in loader:
            loss = model(x.to(device)).mean()
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            history["loss"].append(loss.item())
            {look}
        """
        stays(text)


STEP_FUNCTION = """
def train_step(x, y):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()

for epoch in range(3):
    epoch_loss = 0
    history = []
    for i, (x, y) in enumerate(loader):
        loss = train_step(x.to(device), y.to(device))
        epoch_loss += loss
        history.append(loss)
        if i % 10 == 0:
            print(f"loss {loss}")
    print(epoch_loss, max(history))
"""


def test_function_of_a_step_returns_the_tensor() -> None:
    """What the loop does with it on the device belongs to the step: the boundary stands behind that."""
    becomes(
        STEP_FUNCTION,
        """
        def train_step(x, y):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            return loss.detach()

        for epoch in range(3):
            epoch_loss = torch.zeros(1).to(device)
            history = []
            for i, (x, y) in enumerate(loader):
                loss = train_step(x.to(device), y.to(device))
                epoch_loss += loss
                history.append(loss)
                torch_xla.sync()
                if i % 10 == 0:
                    print(f"loss {loss.item()}")
            history = [<numbers>]
            epoch_loss = epoch_loss.item()
            print(epoch_loss, max(history))
        """.replace(
            "<numbers>",
            "value for at in range(0, len(history), 64) for value in torch.stack(history[at : at + 64]).tolist()",
        ),
    )


METERS = """
class AverageMeter:
    def __init__(self, name):
        self.name = name
        self.reset()

    def reset(self):
        self.val = self.sum = self.count = self.avg = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

    def __str__(self):
        return "{name} {val:.3f} ({avg:.3f})".format(**self.__dict__)

def train(epoch):
    losses = AverageMeter("loss")
    for i, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        loss = F.cross_entropy(model(x), y)
        losses.update(loss.item(), x.size(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 10 == 0:
            print(losses)
    return losses.avg
"""


def test_meter_is_given_tensors() -> None:
    result = port(SETUP + METERS)
    assert "        losses.update(loss.detach(), x.size(0))\n" in result.text
    assert "    return float(losses.avg)\n" in result.text
    assert result.findings == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.val = val", "self.val = round(val, 3)"),
        ("self.val = val", "if val > self.val: self.val = val"),
        ("self.count += n", "self.count += n if val == val else 0"),
    ],
    ids=["rounded", "compared", "asked"],
)
def test_meter_that_needs_numbers(old: str, new: str) -> None:
    """It gets them when it is looked at."""
    assert old in METERS
    result = port(SETUP + METERS.replace(old, new))
    assert 'losses = tpulint_runtime.defer_updates(AverageMeter("loss"), numbers=True)\n' in result.text
    assert "        losses.update(loss.detach(), x.size(0))\n" in result.text
    assert result.findings == ()


def test_meter_that_is_printed_in_every_step() -> None:
    """The read cannot be avoided, only moved behind the boundary."""
    result = port(SETUP + METERS.replace("if i % 10 == 0:\n            print(losses)", "print(losses)"))
    assert "torch_xla.sync()\n        losses.update(loss.item(), x.size(0))\n" in result.text


NAMED = METERS.replace(
    "losses.update(loss.item(), x.size(0))", "value = loss.item()\n        losses.update(value * 2, x.size(0))"
)


def test_meter_is_given_a_tensor_by_a_name() -> None:
    result = port(SETUP + NAMED.replace("print(losses)", "print(losses, value)"))
    assert "        value = loss.detach()\n        losses.update(value * 2, x.size(0))\n" in result.text
    assert "            print(losses, value.item())\n" in result.text
    assert "    return float(losses.avg)\n" in result.text
    assert result.findings == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.val = val", "self.val = round(val, 3)"),
        ("        if i % 10", "        print(value)\n        if i % 10"),
        ("        losses.update", "        best = min(value, 3)\n        losses.update"),
        ("        losses.update", "        if i % 3:\n            value = 2\n        losses.update"),
    ],
    ids=["meter that rounds", "printed in every step", "compared", "another number"],
)
def test_meter_is_given_the_number_by_a_name(old: str, new: str) -> None:
    assert old in NAMED
    result = port(SETUP + NAMED.replace(old, new))
    assert "value = loss.detach()\n        losses.update(value" not in result.text
    assert "losses.update(value * 2, x.size(0))" in result.text and "    return losses.avg\n" in result.text


def test_meter_of_an_evaluation_is_given_a_tensor_by_a_name() -> None:
    evaluation = """
def evaluate():
    right = AverageMeter("right")
    with torch.no_grad():
        for x, y in loader:
            part = (model(x.to(device)).argmax(1) == y.to(device)).float().mean().item()
            right.update(part, len(x))
    return right.avg
"""
    text = port(SETUP + METERS + evaluation).text
    assert "            part = (model(x.to(device)).argmax(1) == y.to(device)).float().mean()\n" in text
    assert "            right.update(part, len(x))\n" in text and "    return float(right.avg)\n" in text


PROGRESS = """
bar = tqdm(loader)
for x, y in bar:
    loss = F.cross_entropy(model(x.to(device)), y.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    bar.set_description(f"loss {loss.item():.3f}")
"""


def test_progress_bar() -> None:
    becomes(
        PROGRESS,
        """
        bar = tqdm(loader)
        for step, (x, y) in enumerate(bar):
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            if step % 10 == 0:
                bar.set_description(f"loss {loss.item():.3f}")
        """,
    )


@pytest.mark.parametrize(
    ("test", "pace"),
    [
        ("step % 4 == 0 or step + 1 == len(loader)", ["TPU101 warning"]),
        ("step + 1 == len(loader)", ["TPU101 warning"]),
        ("step % 4 == 0 or count + 1 == len(loader)", ["TPU101 error"]),
        ("step % 4 == 0 or step + count == len(loader)", ["TPU101 error"]),
    ],
)
def test_the_last_turn_counted_from_one(test: str, pace: list[str]) -> None:
    text = f"""
    def train(count):
        for step, (x, y) in enumerate(loader):
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            if {test}:
                kept = loss.cpu()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            torch_xla.sync()
    """
    assert [" ".join(found) for found in check(text)] == pace


CHECKED = """
for x, y in loader:
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x.to(device)), y.to(device))
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    assert norm >= 0
    {between}if isinstance(norm, torch.Tensor):
        norm = norm.item()
    optimizer.step()
    torch_xla.sync()
    print(norm)
"""


def test_a_check_moves_with_what_it_stands_in_front_of() -> None:
    ported = port(SETUP + CHECKED.format(between="")).text
    assert ported.index("torch_xla.sync()") < ported.index("assert norm >= 0") < ported.index("norm.item()")


def test_a_check_stays_in_front_of_what_changes_what_it_checks() -> None:
    ported = port(SETUP + CHECKED.format(between="norm = norm.clamp(max=2) * model.weight.norm()\n    ")).text
    assert ported.index("assert norm >= 0") < ported.index("torch_xla.sync()")


TEXT_OF_BAR = """
def train():
    total = 0
    bar = tqdm(enumerate(loader), total=len(loader))
    for step, (x, y) in bar:
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        text = "loss %.3f" % (total / (step + 1))
        bar.set_description(text, refresh=True)
"""


def test_text_of_a_bar_in_a_variable() -> None:
    becomes(
        TEXT_OF_BAR,
        """
        def train():
            total = torch.zeros(1).to(device)
            bar = tqdm(enumerate(loader), total=len(loader))
            for step, (x, y) in bar:
                loss = F.cross_entropy(model(x.to(device)), y.to(device))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.detach()
                torch_xla.sync()
                if step % 10 == 0:
                    text = "loss %.3f" % (total.item() / (step + 1))
                    bar.set_description(text, refresh=True)
        """,
    )


@pytest.mark.parametrize(
    ("shown", "summed", "throttled"),
    [
        ("print(text)", True, False),
        ("bar.set_description(text)\n        print(text)", True, False),
        ("bar.set_description(text)\n        bar.set_postfix_str(text)", True, True),
        ("bar.set_description(text)\n        size = len(x)\n        bar.set_postfix_str(text)", True, False),
        ("bar.set_description(text.upper())", False, False),
        ("bar.set_description(text)\n        texts.append(text)", False, False),
        ("bar.set_description(text)\n    return text", False, False),
        ("if step > 2:\n            bar.set_description(text)", False, False),
    ],
)
def test_text_in_a_variable_that_is_shown_otherwise(shown: str, summed: bool, throttled: bool) -> None:
    """All that shows it is left out in a turn together: a bar is never given a text that was not made yet."""
    before = TEXT_OF_BAR.replace("bar.set_description(text, refresh=True)", shown)
    text = port(SETUP + "texts = []\n" + before).text
    assert ("total += loss.detach()" in text) is summed
    assert ("if step % 10 == 0:" in text) is throttled


@pytest.mark.parametrize("head", ["with trange(len(x)) as bar:", "with tqdm(range(len(x))) as bar:"])
def test_progress_bar_of_a_counter(head: str) -> None:
    text = f"""
from tqdm.auto import tqdm, trange

x = torch.ones(3, 2)
{head}
    for at in bar:
        loss = model(x.to(device)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        bar.set_postfix(loss="%.3f" % loss)
"""
    shown = '        if at % 10 == 0:\n            bar.set_postfix(loss="%.3f" % loss)\n'
    assert port(SETUP + text).text.endswith(shown)


@pytest.mark.parametrize(
    ("made", "targets", "source", "counter"),
    [
        ("tqdm(range(8))", "at, (x, y)", "zip(bar, loader)", "at"),
        ("tqdm(zip(loader, range(8)))", "(x, y), at", "bar", "step"),  # which of them counts is not followed so far
        ("tqdm(loader)", "(x, y), at", "zip(bar, range(8))", "at"),
        ("tqdm(range(8))", "at, (x, y)", "tqdm(zip(bar, loader))", "at"),
        ("tqdm(kept)", "at, (x, y)", "zip(bar, loader)", "step"),
        ("tqdm(kept)", "at, (x, y)", "enumerate(bar)", "at"),
    ],
)
def test_progress_bar_beside_a_counter(made: str, targets: str, source: str, counter: str) -> None:
    text = f"""
bar = {made}
for {targets} in {source}:
    loss = model(x.to(device)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    bar.set_postfix(loss=loss.item())
"""
    ported = port(SETUP + text).text
    assert ported.endswith(f"    if {counter} % 10 == 0:\n        bar.set_postfix(loss=loss.item())\n")
    assert ("enumerate(" in ported) is (counter == "step" or "enumerate" in source)


class Reordered:
    """The catalogue with its rules in another order."""

    def __init__(self, seed: int) -> None:
        self._order = random.Random(seed)

    def select(self, settings: Settings) -> tuple[object, ...]:
        rules = list(CATALOGUE.select(settings))
        self._order.shuffle(rules)
        return tuple(rules)


@pytest.mark.parametrize("text", [GAN, BAR, GUARDED, STEP_FUNCTION, METERS, PROGRESS])
def test_order_of_the_rules_does_not_matter(text: str) -> None:
    expected = port(SETUP + text)
    for seed in range(3):
        assert port(SETUP + text, catalogue=Reordered(seed)) == expected


# -------------------------------------------------------------------- totals


def total(before: str, after: str, *, start: str = "total = 0.0", end: str = "print(total)") -> None:
    """A step loop that adds to a total in its last statements."""
    head = "for i, (x, y) in enumerate(loader):\n    loss = F.cross_entropy(model(x.to(device)), y.to(device))\n"
    head += "    loss.backward()\n    optimizer.step()\n    torch_xla.sync()\n"
    text = SETUP + f"{start}\n{head}    {before}\n{end}\n"
    boundary = "    torch_xla.sync()\n"  # the additions may come in front of it
    expected = dedent(after).replace("<step>\n", head).replace(boundary, "")
    assert port(text).text.removeprefix(SETUP).replace(boundary, "") == expected


def test_total_with_weights_and_quotients() -> None:
    total(
        "total += loss.item() * x.size(0) / len(loader)",
        """\
        total = torch.zeros(1).to(device)
        <step>
            total += loss.detach() * x.size(0) / len(loader)
        total = total.item()
        print(total)
        """,
    )


def test_total_that_nobody_needs_behind_the_loop_is_not_read_there() -> None:
    total(
        "total += loss.item()\n    if i % 10 == 0: print(total / (i + 1)); total = 0",
        """\
        total = torch.zeros(1).to(device)
        <step>
            total += loss.detach()
            if i % 10 == 0: print(total.item() / (i + 1)); total = torch.zeros(1).to(device)
        print()
        """,
        end="print()",
    )


def test_total_shared_by_a_chain_gets_a_line_of_its_own() -> None:
    """`a = b = 0` with one tensor for both would add to both."""
    total(
        "total += loss.item(); count += 1",
        """\
        total = count = 0
        total = torch.zeros(1).to(device)
        <step>
            total += loss.detach(); count += 1
        total = total.item()
        print(total)
        """,
        start="total = count = 0",
    )


def test_mean_of_a_total_looked_at_now_and_then() -> None:
    total(
        "total += loss.item()\n    mean = total / (i + 1)\n    if i % 10 == 0: print(mean)",
        """\
        total = torch.zeros(1).to(device)
        <step>
            total += loss.detach()
            mean = total / (i + 1)
            if i % 10 == 0: print(mean.item())
        print()
        """,
        end="print()",
    )


def test_total_that_is_a_tensor_already() -> None:
    total(
        "total[0] += loss.item()",
        """\
        total = torch.zeros(2).to(device)
        <step>
            total[0] += loss.detach()
        print(total)
        """,
        start="total = torch.zeros(2).to(device)",
    )


def test_total_that_lives_longer_than_the_loop() -> None:
    total(
        "state.total += loss.item()",
        """\
        state = load()
        device_total = torch.zeros(1).to(device)
        <step>
            device_total += loss.detach()
        state.total += device_total.item()
        print(state)
        """,
        start="state = load()",
        end="print(state)",
    )


def test_total_that_a_function_shows_behind_the_loop() -> None:
    """The function sees the number there: the variable itself must not be a tensor meanwhile."""
    total(
        "total += loss.item()",
        """\
        total = 0.0
        def show(): print(total)
        device_total = torch.zeros(1).to(device)
        <step>
            device_total += loss.detach()
        total += device_total.item()
        show()
        """,
        start="total = 0.0\ndef show(): print(total)",
        end="show()",
    )


def test_norm_of_all_gradients() -> None:
    """One read instead of one for each parameter, and that one behind the boundary."""
    becomes(
        """
        for x in loader:
            loss = model(x.to(device)).mean()
            loss.backward()
            norm = 0
            for p in model.parameters():
                norm += p.grad.norm(2).item() ** 2
            optimizer.step()
            optimizer.zero_grad()
            torch_xla.sync()
            print(norm ** 0.5)
        """,
        """
        for x in loader:
            loss = model(x.to(device)).mean()
            loss.backward()
            norm = 0
            for p in model.parameters():
                norm += p.grad.norm(2).detach() ** 2
            optimizer.step()
            optimizer.zero_grad()
            torch_xla.sync()
            norm = float(norm)
            print(norm ** 0.5)
        """,
    )


@pytest.mark.parametrize(
    ("start", "body", "end"),
    [
        ("total = 0.0", "total += loss.item()\n    if total > 100: break", ""),
        ("total = 0.0", "total += loss.item()\n    rate = schedule(total)", ""),
        ("total = 0.0\nshow = lambda: print(total)", "total += loss.item()", ""),
        ("total = 1.0", "total += loss.item()\n    if i % 9 == 0: print(total)", ""),
        ("total = 0.0", "total += round(loss.item(), 3)", ""),
        ("total = 0.0", "total += loss.item() if i else 0.0", ""),
        ("total = 0.0", "total += int(loss)", ""),
        ("totals = [0.0, 0.0]", "totals[i % 2] += loss.item()", ""),
        ("total = 0.0", "total += loss.item()\n    total = max(total, 1.0)", ""),
    ],
)
def test_totals_that_stay_on_the_host(start: str, body: str, end: str) -> None:
    """Somebody looks at the number in every step, or it cannot be computed where it is: the read stays."""
    text = f"{start}\nfor i, x in enumerate(loader):\n    loss = model(x.to(device)).mean()\n    loss.backward()\n"
    text += f"    optimizer.step()\n    torch_xla.sync()\n    {body}\n{end}"
    assert port(SETUP + text, select=("TPU104",)).text == SETUP + text


# -------------------------------------------------------------------- lists


def test_list_that_the_loop_looks_at() -> None:
    stays(
        """
        losses = []
        for x in loader:
            loss = model(x.to(device)).mean()
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            losses.append(loss.item())
            if len(losses) > 3:
                break
        """
    )


def test_list_of_pairs_and_list_of_a_function() -> None:
    """Neither is a list of numbers, or nobody knows which list it is."""
    stays(
        """
        pairs = []
        for i, x in enumerate(loader):
            loss = model(x.to(device)).mean()
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            pairs.append((i, loss.item()))
        """
    )
    stays(
        """
        for x in loader:
            loss = model(x.to(device)).mean()
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            history().append(loss.item())
        """
    )


# -------------------------------------------------------------------- moving behind the boundary

RECORDED = """
for step, (x, y) in enumerate(loader):
    loss = F.cross_entropy(model(x.to(device)), y.to(device))
    writer.add_scalar("loss", loss, step)
    if step % 100 == 0:
        writer.add_image("weights", model.weight, step)
        writer.add_scalar("test", F.mse_loss(model(held_out), wanted).detach(), step)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
"""


def test_a_record_of_a_step_moves_past_others() -> None:
    """The writer has its step: which record comes first is nobody's business."""
    text = port(SETUP + RECORDED).text
    assert text.endswith('    optimizer.step()\n    torch_xla.sync()\n    writer.add_scalar("loss", loss, step)\n')
    assert '    if step % 100 == 0:\n        writer.add_image("weights", model.weight, step)\n' in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('writer.add_scalar("loss", loss, step)', 'writer.add_scalar("loss", loss)'),
        ('writer.add_scalar("loss", loss, step)', 'print("loss", loss)'),
        ('writer.add_image("weights", model.weight, step)', 'print("test")'),
        ('writer.add_image("weights", model.weight, step)', "writer.close()"),
        ('writer.add_image("weights", model.weight, step)', "loss = loss * 2"),
    ],
    ids=["no step", "printed", "beside what is printed", "closed", "another value"],
)
def test_what_is_shown_in_order_stays(old: str, new: str) -> None:
    """What stands between runs the model, whose weights are others behind the boundary."""
    assert old in RECORDED
    text = SETUP + RECORDED.replace(old, new)
    shown = new if old.endswith("loss, step)") else 'writer.add_scalar("loss", loss, step)'
    assert f"    {shown}\n    if step % 100 == 0:" in port(text).text


def moved(body: str, expected: str) -> None:
    """Statements between the forward pass and the update of a step loop with a boundary."""
    before = "for i, x in enumerate(loader):\n    loss = model(x.to(device)).mean()\n"
    after = "    loss.backward()\n    optimizer.step()\n    torch_xla.sync()\n"
    result = port(SETUP + before + body + after, select=("TPU101", "TPU102"))
    assert result.text.removeprefix(SETUP + before) == expected.replace("<step>\n", after)


def test_comments_and_order_are_kept() -> None:
    moved(
        "    # first\n    print(loss.item())  # one\n    print('step', i)\n    print(f'{loss}')  # two\n",
        "<step>\n    # first\n    print(loss.item())  # one\n    print('step', i)\n    print(f'{loss}')  # two\n",
    )


@pytest.mark.parametrize(
    "body",
    [
        "    print(loss.item(), scheduler.get_last_lr())\n    scheduler.step()\n",
        "    print(loss.item(), i)\n    i = i + 1\n",
        "    print(model.weight.sum().item())\n",
        "    print(loss.item()); x = 1\n",
        "    values = [loss.item()]\n    rate = schedule(values)\n    loss = loss * rate\n",
        "    if i:\n        print(loss.item())\n        loss = loss * 2\n",
    ],
    ids=["learning rate", "counter", "parameter", "shared line", "needed for the step", "within the step"],
)
def test_statements_that_would_show_something_else_behind_the_update(body: str) -> None:
    text = SETUP + f"for i, x in enumerate(loader):\n    loss = model(x.to(device)).mean()\n{body}"
    text += "    loss.backward()\n    optimizer.step()\n    torch_xla.sync()\n"
    result = port(text, select=("TPU101", "TPU102"))
    assert result.text == text
    assert result.findings != ()


def test_no_fix_moves_a_read_without_a_boundary() -> None:
    text = "for x in loader:\n    loss = model(x.to(device)).mean()\n    print(loss.item())\n"
    text += "    loss.backward()\n    optimizer.step()\n"
    assert port(SETUP + text, select=("TPU101",)).text == SETUP + text


# -------------------------------------------------------------------- what is found, and how bad it is


def step(body: str, behind: str = "pass") -> str:
    return f"""
for i, (x, y) in enumerate(loader):
    x = x.to(device)
    output = model(x)
    loss = F.cross_entropy(output, y.to(device))
    {body}
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    {behind}
"""


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("a = loss.item()", "TPU101"),
        ("a = float(loss)", "TPU101"),
        ("a = output.tolist()", "TPU101"),
        ("a = output.detach().cpu().numpy()", "TPU101"),
        ("a = output.to('cpu')", "TPU101"),
        ("a = output.to(torch.device('cpu'), non_blocking=True)", "TPU101"),
        ("a = math.exp(loss)", "TPU101"),
        ("print(loss)", "TPU102"),
        ("a = f'{i} {loss:.3f}'", "TPU102"),
        ("a = '%.3f' % loss", "TPU102"),
        ("a = '{:.3f}'.format(loss)", "TPU102"),
        ("a = str(loss)", "TPU102"),
        ("log.info('%s', loss)", "TPU102"),
        ("bar.set_postfix({'loss': loss})", "TPU102"),
        ("writer.add_scalar('loss', loss, i)", "TPU102"),
        ("writer.add_scalars('losses', {'train': loss}, i)", "TPU102"),
        ("writer.log_value('loss', loss, i)", "TPU102"),
        ("from tensorboard_logger import log_value; log_value('loss', loss, i)", "TPU102"),
        ("assert loss < 10", "TPU103"),
        ("a = 1 if loss > 1 else 2", "TPU103"),
        ("a = [t for t in (1, 2) if loss > t]", "TPU103"),
    ],
)
def test_reads_of_every_sort(body: str, code: str) -> None:
    assert check(step(body)) == [(code, "error")]


@pytest.mark.parametrize(
    "body",
    [
        "a = loss.detach()",
        "a = output.argmax(1) == y.to(device)",
        "a = torch.isnan(loss)",
        "a = loss.shape, loss.size(), loss.dim(), loss.numel(), loss.dtype, loss.device, len(output)",
        "a = y.sum().item() + float(y[0]) + len(y.tolist())",
        "a = y.numpy().mean(); print(y, a)",
        "a = torch.tensor([1.0, 2.0]).tolist()",
        "a = {'loss': loss}.items()",
        "a = [part for part in output]",
        "a = sum([loss, loss])",
        "a = torch.where(loss > 1, loss, 2 * loss)",
        "a = loss is None or loss.requires_grad",
        "a = 1 if loss.nelement != 0 and output.size != 1 and output.dim else 2",
        "a = lambda: loss.item()",
        "print('step', i, len(x), output.shape, f'{output.size(0)}')",
        "save(output, 'step %d' % i)",
        "a = settings.item() if callable(settings.item) else settings.cpu()",
    ],
)
def test_what_does_not_read(body: str) -> None:
    assert check(step(body)) == []


HARMLESS = [
    # asked of a tensor, and answered without it
    "len(output)", "output.shape[0]", "output.size(0)", "output.numel()", "output.dim()", "output.ndim", "loss.device",
    "loss.dtype", "loss is None", "loss is not None", "loss == None", "{loss: 1}[loss]", "hash(loss)", "id(loss)",
    "loss.data_ptr()", "output.is_contiguous()", "loss.requires_grad", "loss.grad_fn", "isinstance(loss, torch.Tensor)",
    "torch.is_tensor(loss)", "output.stride()", "loss.is_leaf", "output.element_size()", "output.storage_offset()",
    # recorded
    "[row for row in output]", "next(iter(output))", "torch.isnan(loss)", "loss.isnan()",
    "torch.isfinite(output).all()",
    "sum([loss, loss])", "torch.stack([loss, loss])", "torch.cat([output, output])", "loss.clone()", "loss.detach()",
    "copy.deepcopy(model.weight)", "abs(loss) ** 2", "loss // 1", "output.argmax(1)", "output.topk(2)[0]",
    "F.kl_div(output.log_softmax(1), output.softmax(1), reduction='batchmean')", "F.dropout(output, 0.3)",
    "torch.clamp(output, -1, 1)", "output.masked_fill(output > 0, 0.5)", "torch.full((2,), 0.5, device=device)",
    "F.cross_entropy(output, y.to(device), label_smoothing=0.1)", "0.7 * loss", "loss / 3.0", "output > 0.5",
    "torch.autograd.grad(loss, model.parameters(), create_graph=True)", "torch.lerp(loss, loss, 0.9)",
    "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
    "torch.nn.utils.clip_grad_value_(model.parameters(), 1.0)",
    "torch.tensor(0.5, device=device)", "torch.randperm(4, device=device)",
    # done by the host
    "scheduler.step()", "scheduler.get_last_lr()[0]", "optimizer.param_groups[0]['lr']", "optimizer.zero_grad()",
    "optimizer.param_groups[0].update(lr=0.1 / (i + 1))", "bar.update(1)", "time.time()", "y.tolist()",
    "y.float().mean().item()",
    "float(y[0])", "print(len(x), i)", "i % 10 == 0", "y.numpy()", "{'a': 1}.items()", "np.mean([1.0, 2.0])",
    # named like a read
    "queue.item()", "settings.cpu()", "config.numpy", "fruits.tolist()",
    # torch_xla's own
    "xm.add_step_closure(print, args=(loss,))", "xm.add_step_closure(lambda: print(loss.item()))",
    "xm.wait_device_ops()", "xm.get_memory_info(device)",
]  # fmt: skip


@pytest.mark.parametrize("where", ["in front of the boundary", "behind it"])
@pytest.mark.parametrize("expression", HARMLESS)
def test_no_rule_minds_what_costs_nothing(expression: str, where: str) -> None:
    """No read and no recompilation: of all rules none may find anything that is not there anyway."""

    def found(body: str) -> list[tuple[str, str]]:
        lines = (body, "pass") if where == "in front of the boundary" else ("pass", body)
        names = "import copy, time\nimport numpy as np\nimport torch_xla.core.xla_model as xm\n"
        scheduler = "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)\n"
        return check(names + scheduler + step(*lines), select=("ALL",))

    assert found(f"a = {expression}") == found("pass")


def test_one_read_behind_the_boundary_is_what_logging_costs() -> None:
    assert check(step("pass", "print(loss.item())")) == []


def test_branch_behind_the_boundary_is_a_transfer_in_every_step() -> None:
    assert check(step("pass", "if loss > 100: break")) == [("TPU103", "warning")]


@pytest.mark.parametrize(
    "gate",
    [
        "if i % 10 == 0:",
        "if (i + 1) % 10 == 0 and i > 0:",
        "if not i % 10:",
        "if i == 0:",
        "if i % 10 == 0 or i == 5:",
        "if i < 3:",
        "if i <= 2 and len(x) > 1:",
    ],
)
def test_log_interval(gate: str) -> None:
    assert check(step("pass", f"{gate} print(loss.item(), output)")) == []
    assert check(step("pass", f"{gate} print(loss.item(), output.mean().item())")) == [("TPU106", "info")] * 2
    assert check(step(f"{gate} print(loss.item())")) == [("TPU101", "warning")]


def test_flag_that_its_own_condition_asks_for() -> None:
    """Asking whether the condition is an interval ends."""
    turn = "if filled or len(x) > 2:\n        note(x)\n        filled = True\n"
    turn += "    print(loss.item(), output.mean().item(), loss)"
    start = "filled = False\ndef note(x): return len(x)\n"
    assert ("TPU106", "warning") in check(start + step("pass", turn))


def test_read_for_a_total_or_a_list_is_told_of_once() -> None:
    """Their fixes leave nothing to fetch in the step."""
    turn = "total += loss.item()\n    losses.append(loss.item())"
    assert check("total, losses = 0.0, []\n" + step("pass", turn)) == [("TPU104", "error"), ("TPU105", "error")]


@pytest.mark.parametrize("backward", ["loss.backward()", "(loss / 4).backward()", "scaler.scale(loss / 4).backward()"])
def test_what_is_propagated_back_is_one_number(backward: str) -> None:
    """Whatever computes it, and whether it is scaled or not."""
    text = f"""
    scaler = torch.amp.GradScaler("cuda")
    losses = []
    for x, y in loader:
        loss = objective(model(x.to(device)), y.to(device))
        {backward}
        scaler.step(optimizer)
        losses.append(loss.detach().cpu().numpy())
        torch_xla.sync()
    """
    assert check(text) == [("TPU108", "error")]


def test_condition_that_is_no_interval() -> None:
    assert ("TPU106", "warning") in check(
        step("pass", "if verbose: pass\n    print(loss.item(), output.mean().item(), loss)")
    )


def test_evaluation_batches() -> None:
    text = """
    with torch.no_grad():
        for i, (x, y) in enumerate(loader):
            output = model(x.to(device))
            torch_xla.sync()
            {}
    """
    assert check(text.format("outputs.append(output.cpu())")) == [("TPU101", "warning")]
    assert check(text.format("print(output)")) == [("TPU102", "warning")]
    assert check(text.format("if output.max() > 1: break")) == [("TPU103", "warning")]
    assert check(text.format("if i == 0: print(output.cpu())")) == []


def test_script_without_a_device_reads_nothing_from_it() -> None:
    text = """
    import torch
    model = torch.nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters())
    for x in batches:
        loss = model(x).mean()
        print(loss.item())
        loss.backward()
        optimizer.step()
    """
    result = lint(SourceFile.from_text(dedent(text)), Settings(select=FAMILY, preview=True), CATALOGUE)
    assert result.findings == ()


def test_read_of_something_unknown() -> None:
    text = "for x in batches:\n    score = metric(x)\n    print(score.item(), float(score))\n    loss.backward()\n"
    text += "    optimizer.step()\n    torch_xla.sync()\n"
    assert check(text) == []


# -------------------------------------------------------------------- one transfer for all


def test_every_read_of_a_fetched_value_uses_it() -> None:
    """Also reads that happen rarely, decide a branch, or show a total that is no loss by name."""
    becomes(
        """
        for step, x in enumerate(loader):
            total = 0.0
            for part in x:
                loss = model(part.to(device)).mean()
                total += loss.detach()
                loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            torch_xla.sync()
            writer.add_scalar("loss", total, step)
            print(f"loss {total.item():.3f} norm {norm:.3f}")
            if step % 10 == 0:
                logger.info("%d", int(norm))
            if norm.item() > 10 and step > 5:
                print(total)
        """,
        """
        for step, x in enumerate(loader):
            total = 0.0
            for part in x:
                loss = model(part.to(device)).mean()
                total += loss.detach()
                loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            step_values = torch.stack((total, norm)).detach()
            torch_xla.sync()
            total_value, norm_value = step_values.tolist()
            writer.add_scalar("loss", total_value, step)
            print(f"loss {total_value:.3f} norm {norm_value:.3f}")
            if step % 10 == 0:
                logger.info("%d", int(norm_value))
            if norm_value > 10 and step > 5:
                print(total_value)
        """,
    )


def test_variable_that_holds_the_number_anyway_is_given_it() -> None:
    becomes(
        """
        for step, x in enumerate(loader):
            output = model(x.to(device))
            loss = output.pow(2).mean()
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            loss_value = loss.item()
            spread = output.std().item()  # of the batch
            print(loss_value, spread)
        """,
        """
        for step, x in enumerate(loader):
            output = model(x.to(device))
            loss = output.pow(2).mean()
            loss.backward()
            optimizer.step()
            step_values = torch.stack((loss, output.std().reshape(()))).detach()
            torch_xla.sync()
            loss_value, output_std_value = step_values.tolist()
            spread = output_std_value  # of the batch
            print(loss_value, spread)
        """,
    )


def test_more_values_join_those_fetched_already() -> None:
    becomes(
        """
        for step, x in enumerate(loader):
            output = model(x.to(device))
            loss = output.pow(2).mean()
            penalty = output.abs().mean()
            loss.backward()
            optimizer.step()
            values = torch.stack((loss, output.mean())).detach()
            torch_xla.sync()
            loss_value, mean = values.tolist()
            print(loss_value, mean, loss.item(), penalty.item())
        """,
        """
        for step, x in enumerate(loader):
            output = model(x.to(device))
            loss = output.pow(2).mean()
            penalty = output.abs().mean()
            loss.backward()
            optimizer.step()
            values = torch.stack((loss, output.mean(), penalty)).detach()
            torch_xla.sync()
            loss_value, mean, penalty_value = values.tolist()
            print(loss_value, mean, loss_value, penalty_value)
        """,
    )


def test_values_that_change_behind_the_boundary_are_not_fetched_in_front_of_it() -> None:
    stays(
        """
        for step, x in enumerate(loader):
            loss = model(x.to(device)).mean()
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            print(loss.item())
            loss.mul_(2)
            print(loss.item())
        """,
        left=["TPU106", "TPU106"],
    )


# -------------------------------------------------------------------- values of functions that are not seen


def test_results_that_are_asked_for_a_number_are_tensors() -> None:
    """What an imported function makes of tensors is recorded in front of the boundary and read behind it."""
    becomes(
        """
        from project.metrics import accuracy
        for x, y in loader:
            output, y = model(x.to(device)), y.to(device)
            loss = F.cross_entropy(output, y)
            loss.backward()
            optimizer.step()
            top1, top5 = accuracy(output, y, topk=(1, 5))
            print(loss.item(), top1.item(), top5[0].item())
        """,
        """
        from project.metrics import accuracy
        for x, y in loader:
            output, y = model(x.to(device)), y.to(device)
            loss = F.cross_entropy(output, y)
            loss.backward()
            optimizer.step()
            top1, top5 = accuracy(output, y, topk=(1, 5))
            step_values = torch.stack((loss, top1.reshape(()), top5[0].reshape(()))).detach()
            torch_xla.sync()
            loss_value, top1_value, top5_0_value = step_values.tolist()
            print(loss_value, top1_value, top5_0_value)
        """,
    )


@pytest.mark.parametrize(
    "use",
    [
        "from sklearn.metrics import f1_score\nscore = f1_score(labels, names)\nprint(score.item())",
        "from project import measure\nscore = measure(labels)\nprint(score.item())",
        "from project import measure\nscore = measure(output)\nprint(score)",
    ],
)
def test_results_that_may_live_on_the_host_are_left_alone(use: str) -> None:
    lines = "".join(f"    {line}\n" for line in use.splitlines())
    loop = "for x, labels, names in loader:\n    output = model(x.to(device))\n    loss = output.mean()\n"
    step = "    loss.backward()\n    optimizer.step()\n    torch_xla.sync()\n"
    assert check("\n" + loop + step + lines) == []


def test_elements_of_lists_and_dicts_are_known() -> None:
    """What ``accuracy`` of many scripts returns: a list filled with ``append``."""
    found = check(
        """
        def accuracy(output, target, topk=(1,)):
            _, pred = output.topk(max(topk), 1, True, True)
            correct = pred.t().eq(target.view(1, -1))
            result = []
            for k in topk:
                result.append(correct[:k].reshape(-1).float().sum(0).mul_(100.0 / len(target)))
            return result

        for x, y in loader:
            output, y = model(x.to(device)), y.to(device)
            losses = {"class": F.cross_entropy(output, y)}
            losses["size"] = output.pow(2).mean()
            parts = []
            parts.append(output.abs().mean())
            sum(losses.values()).backward()
            optimizer.step()
            print(accuracy(output, y)[0].item())
            print(losses["size"].item())
            print(parts[0].item())
            for name, part in losses.items():
                print(name, part.item())
            torch_xla.sync()
        """
    )
    assert found == [("TPU101", "error")] * 4


# -------------------------------------------------------------------- statements that move


def test_statements_that_move_keep_their_order() -> None:
    """Together with a branch that needs the value: all use the one that is fetched."""
    becomes(
        """
        best = float("inf")
        running = None
        for step, x in enumerate(loader):
            loss = model(x.to(device)).mean()
            if step % 5 == 0:
                print("step", step, "loss", loss.item())
            running = loss.item() if running is None else 0.9 * running + 0.1 * loss.item()
            if loss.item() < best:
                best = loss.item()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
        """
        best = float("inf")
        running = None
        for step, x in enumerate(loader):
            loss = model(x.to(device)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            loss_value = loss.item()
            if step % 5 == 0:
                print("step", step, "loss", loss_value)
            running = loss_value if running is None else 0.9 * running + 0.1 * loss_value
            if loss_value < best:
                best = loss_value
        """,
    )


@pytest.mark.parametrize(
    "between",
    [
        "if len(history) > 5: optimizer.zero_grad()",
        "history = []",
        "loss = loss * 2",
        "optimizer.add_param_group(history)",
    ],
)
def test_statement_that_others_depend_on_stays(between: str) -> None:
    text = f"""
        for x in loader:
            loss = model(x.to(device)).mean()
            history.put(loss.item())
            {between}
            loss.backward()
            optimizer.step()
            torch_xla.sync()
        """
    stays(text, left=["TPU101"])


def test_what_is_bound_in_front_of_a_statement_moves_along_or_stays() -> None:
    becomes(
        """
        for x in loader:
            output = model(x.to(device))
            loss = output.mean()
            print(loss.item())
            spread = output.std()
            scale = 2
            print(spread.item() * scale)
            loss.backward()
            optimizer.step()
            torch_xla.sync()
        """,
        """
        for x in loader:
            output = model(x.to(device))
            loss = output.mean()
            spread = output.std()
            scale = 2
            loss.backward()
            optimizer.step()
            step_values = torch.stack((loss, spread.reshape(()))).detach()
            torch_xla.sync()
            loss_value, spread_value = step_values.tolist()
            print(loss_value)
            print(spread_value * scale)
        """,
    )


METER = """
class Meter:
    def __init__(self):
        self.sum = self.count = self.avg = 0

    def update(self, val, n=1):
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

criterion = torch.nn.CrossEntropyLoss()
"""


def test_meter_is_given_numbers_not_vectors() -> None:
    """A tensor of one dimension cannot be formatted with ``:.3f``; of what is one number nothing needs to be taken."""
    becomes(
        METER
        + """
losses, tops = Meter(), Meter()
for step, (x, y) in enumerate(loader):
    output, y = model(x.to(device)), y.to(device)
    loss = criterion(output, y)
    top = output.argmax(1).eq(y).float().sum(0, keepdim=True)
    losses.update(loss.item(), len(x))
    tops.update(top.item(), len(x))
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"{losses.avg:.3f} {tops.avg:.3f}")
""",
        METER
        + """
losses, tops = Meter(), Meter()
for step, (x, y) in enumerate(loader):
    output, y = model(x.to(device)), y.to(device)
    loss = criterion(output, y)
    top = output.argmax(1).eq(y).float().sum(0, keepdim=True)
    losses.update(loss.detach(), len(x))
    tops.update(top.reshape(()), len(x))
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    if step % 10 == 0:
        print(f"{losses.avg:.3f} {tops.avg:.3f}")
""",
    )


OF_AN_OPTION = """
class Trainer:
    def __init__(self, args, loader):
        self.args, self.loader = args, loader
        self.criterion = torch.nn.CrossEntropyLoss()
        self.model = torch.nn.Linear(4, 2)
        if args.cuda:
            self.model = self.model.to("xla")
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def train(self):
        total = 0.0
        for x, y in self.loader:
            if self.args.cuda:
                x, y = x.to("xla"), y.to("xla")
            loss = self.criterion(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        print(total)
"""


@pytest.mark.parametrize(
    ("old", "new", "is_kept"),
    [
        ("", "", True),
        ("self.model", "self.loss_net", False),
        ("            if self.args", "            self.model = self.model.train()\n            if self.args", False),
    ],
    ids=["model of the object", "a loss may have no parameters", "set in the loop"],
)
def test_total_beside_a_model_that_an_object_keeps(old: str, new: str, is_kept: bool) -> None:
    """The batches are moved under a condition: the total lies where the model does."""
    text = port(SETUP + OF_AN_OPTION.replace(old, new)).text
    assert ("total = torch.zeros(1).to(next(self.model.parameters()).device)" in text) == is_kept


HANDING_ON = """
class Meter:
    def __init__(self):
        self.sum = self.count = self.avg = 0

    def add(self, value, weight):
        ADDS

    def update(self, val, n=1):
        self.count += n
        UPDATES
        self.avg = AVERAGE

criterion = torch.nn.CrossEntropyLoss()
losses = Meter()
for step, (x, y) in enumerate(loader):
    loss = criterion(model(x.to(device)), y.to(device))
    losses.update(loss.item(), len(x))
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"{losses.avg:.3f}")
"""


@pytest.mark.parametrize(
    ("adds", "updates", "average", "given"),
    [
        ("pass", "self.sum += val * n", "self.sum / self.count if self.count != 0 else 0", "tensor"),
        ("pass", "self.sum += val * n", "self.sum / self.count if self.sum > 0 else 0", "later"),
        ("self.sum += value * weight", "self.add(val, n)", "self.sum / self.count", "tensor"),
        ("self.sum += value * weight; print(value)", "self.add(val, n)", "self.sum / self.count", "number"),
        ("self.sum += value * weight", "self.add(value=val, weight=n)", "self.sum / self.count", "later"),
        ("self.sum += value * weight", "self.keep(val, n)", "self.sum / self.count", "number"),
    ],
    ids=["choice", "choice by the sum", "own method", "own method that prints", "by name", "unknown method"],
)
def test_meter_that_chooses_or_hands_on(adds: str, updates: str, average: str, given: str) -> None:
    before = HANDING_ON.replace("ADDS", adds).replace("UPDATES", updates).replace("AVERAGE", average)
    text = port(SETUP + before).text
    assert ("losses.update(loss.detach(), len(x))" in text) is (given != "number")
    assert ("tpulint_runtime.defer_updates(" in text) is (given == "later")


# -------------------------------------------------------------------- NumPy


def test_accuracy_that_numpy_computes_is_one_of_the_values_fetched() -> None:
    becomes(
        """
        import numpy as np
        for x, y in loader:
            output, y = model(x.to(device)), y.to(device)
            loss = F.cross_entropy(output, y)
            pred = np.concatenate([output.data.cpu().numpy(), output.detach().cpu().numpy()], axis=0)
            gt = np.concatenate([y.data.cpu().numpy(), y.cpu().numpy()], axis=0)
            acc = np.mean(np.argmax(pred, axis=1) == gt)
            loss.backward()
            optimizer.step()
            print("%f acc %d%%" % (loss.item(), 100 * acc))
        """,
        """
        for x, y in loader:
            output, y = model(x.to(device)), y.to(device)
            loss = F.cross_entropy(output, y)
            pred = torch.cat([output.data, output.detach()], dim=0)
            gt = torch.cat([y.data, y], dim=0)
            acc = torch.mean((torch.argmax(pred, dim=1) == gt).float())
            loss.backward()
            optimizer.step()
            step_values = torch.stack((loss, acc)).detach()
            torch_xla.sync()
            loss_value, acc_value = step_values.tolist()
            print("%f acc %d%%" % (loss_value, 100 * acc_value))
        """,
    )


@pytest.mark.parametrize(
    ("use", "is_number"),
    [
        ("print(right)", True),
        ("print(100 * right / total)", True),
        ("meter.update(right, total)", True),
        ("print(np.around(right * 100 / total, 2))", True),
        ("print(to_numpy(right) / total)", False),
        ("print(tools.to_numpy(right) / total)", False),
        ("print(right.numpy())", False),
    ],
)
def test_totals_of_the_host_become_numbers_only_where_nobody_asks_for_tensors(use: str, is_number: bool) -> None:
    """``to_numpy`` of another file may ask ``x.is_cuda``."""
    text = f"""
import numpy as np
import tools
from tools import to_numpy
right, total = 0, 0
for x, y in loader:
    output, y = model(x.to(device)), y.to(device)
    F.cross_entropy(output, y).backward()
    optimizer.step()
    right += output.argmax(1).eq(y).cpu().sum()
    total += len(y)
{use}
"""
    assert ("right = right.item()" in port(SETUP + text).text) is is_number
    early = "result = output.argmax(1).eq(y)\n    torch_xla.sync()\n    right += result.cpu().sum()"
    assert (early in port(SETUP + text).text) is not is_number


def test_totals_that_are_seen_by_other_ways_in_the_loop_stay() -> None:
    """A property that reads the attribute, ``locals()``, and elements that are taken for arrays."""
    step = """
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        torch_xla.sync()
"""
    by_property = f"""
class Trainer:
    def __init__(self):
        self.total, self.count = 0.0, 0

    @property
    def average(self):
        return self.total / self.count

    def fit(self):
      for x, y in loader:
        {step.strip()}
        self.total += loss.item()
        self.count += 1
        if self.count % 10 == 0:
            print(self.average)
"""
    by_name = f"""
def fit():
    total = 0.0
    for x, y in loader:
        {step.strip()}
        total += loss.item()
        text = "total {{total:.3f}}".format(**locals())
    print(text)
"""
    as_arrays = f"""
def fit():
    losses = []
    for x, y in loader:
        {step.strip()}
        losses.append(loss.data.cpu().numpy())
    print(losses[-1].shape)
"""
    for text in (by_property, by_name, as_arrays):
        assert port(SETUP + text).text == SETUP + text
    assert "torch.stack(losses" in port(SETUP + as_arrays.replace("losses[-1].shape", "losses[-1]")).text


@pytest.mark.parametrize(
    ("ask", "is_summed"),
    [
        ("print(vars(args), dir(loss))", True),
        ("print(vars())", False),
        ("print(vars(sys.modules[__name__]))", False),
        ("print(dir(sys))", False),
    ],
)
def test_what_one_object_is_asked_for_reads_no_variables(ask: str, is_summed: bool) -> None:
    text = f"""
total = 0.0
{ask}
for x, y in loader:
    loss = F.cross_entropy(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    total += loss.item()
print(total)
"""
    assert ("total += loss.item()" not in port(SETUP + text).text) is is_summed


def test_an_object_that_shows_all_its_attributes_keeps_its_total() -> None:
    text = """
class Trainer:
    def fit(self):
        self.total = 0.0
        for x, y in loader:
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            self.total += loss.item()
            print(vars(self))
"""
    assert "self.total += loss.item()" in port(SETUP + text).text


ONLOOKERS = {
    "handler": """
def fit():
    total, losses = 0.0, []
    try:
        for x, y in loader:
            {step}
            total += loss.item()
            losses.append(loss.item())
    except KeyboardInterrupt:
        print(round(total, 4), len(losses))
""",
    "callback": """
class Trainer:
    def fit(self, callback):
        self.total, self.losses = 0.0, []
        for x, y in loader:
            {step}
            self.total += loss.item()
            self.losses.append(loss.item())
            callback.end_batch(self)
""",
    "object that holds the list": """
def fit():
    losses = []
    plot = Plot(losses)
    for x, y in loader:
        {step}
        losses.append(loss.item())
        plot.draw()
""",
    "lambda": """
def fit():
    losses = []
    last = lambda: losses[-1]
    for x, y in loader:
        {step}
        losses.append(loss.item())
        print(last())
""",
}


@pytest.mark.parametrize("text", ONLOOKERS.values(), ids=ONLOOKERS)
def test_what_somebody_else_looks_at_in_the_loop_is_kept_up_to_date(text: str) -> None:
    step = "loss = F.cross_entropy(model(x.to(device)), y.to(device)); loss.backward(); optimizer.step()"
    fixed = port(SETUP + text.format(step=step)).text
    assert "device_" not in fixed and "step_losses" not in fixed and "zeros(" not in fixed
    alone = text.format(step=step).replace("print(round(total, 4), len(losses))", "pass").replace("(losses)", "()")
    alone = alone.replace("callback.end_batch(self)", "pass").replace("lambda: losses[-1]", "print")
    fixed = port(SETUP + alone).text
    assert "step_losses" in fixed or "torch.stack(losses" in fixed or "losses.append(loss.detach())" in fixed


def test_a_total_that_others_get_stays_a_tensor() -> None:
    text = """
def count():
    right = 0
    for x, y in loader:
        output, y = model(x.to(device)), y.to(device)
        F.cross_entropy(output, y).backward()
        optimizer.step()
        right += output.argmax(1).eq(y).cpu().sum()
    return right
"""
    assert "cpu().sum()" in port(SETUP + text).text
    assert "right = right.item()" in port(SETUP + text + "print(count() / 100)\n").text


@pytest.mark.parametrize(
    ("behind", "is_number"),
    [
        ("print(count() / 100)", True),
        ("share = count() / 100\nprint(round(share, 2), '%d' % share)", True),
        ("shares = [count() for _ in range(2)]\nprint(shares.index(max(shares)))", True),
        ("print(count().item())", False),
        ("share = 100.0 * count()\nprint(share.numpy())", False),
        ("share = -count()\nbest = share\nprint(best.item())", False),
        ("def again():\n    return count() / 2\n\nprint(again().item())", False),
        ("def again():\n    return 3, count()\n\nnumber, right = again()\nprint(number.real, right)", True),
        ("def again():\n    return 3, count()\n\nnumber, right = again()\nprint(number, right.item())", False),
        ("def again():\n    return 3, count()\n\nprint(again()[0].real, again()[1])", True),
        ("def again():\n    return 3, count()\n\nprint(again()[1].item())", False),
        ("total = 0\ntotal += count()\nprint(total.item())", False),
    ],
)
@pytest.mark.parametrize("returned", ["right", "right / 4"])
def test_what_a_function_returns_stays_a_tensor_where_callers_ask_it_as_one(
    behind: str, is_number: bool, returned: str
) -> None:
    text = f"""
def count():
    right = 0
    for x, y in loader:
        output, y = model(x.to(device)), y.to(device)
        F.cross_entropy(output, y).backward()
        optimizer.step()
        right += output.argmax(1).eq(y).cpu().sum()
    right = {returned}
    return right

"""
    assert ("right = right.item()" in port(SETUP + text + behind + "\n").text) is is_number


@pytest.mark.parametrize(
    ("behind", "is_number"),
    [
        ("share = 100.0 * right / 8\nprint(share)", True),
        ("share = 100.0 * right / 8\nprint(share.item())", False),
        ("right = right / 8\nprint(right.numpy())", False),
        ("print('%d' % right + '.'.strip())", True),
    ],
)
def test_shares_of_totals_that_are_asked_as_tensors(behind: str, is_number: bool) -> None:
    text = f"""
right = 0
for x, y in loader:
    output, y = model(x.to(device)), y.to(device)
    F.cross_entropy(output, y).backward()
    optimizer.step()
    right += output.argmax(1).eq(y).cpu().sum()
{behind}
"""
    assert ("right = right.item()" in port(SETUP + text).text) is is_number


@pytest.mark.parametrize(
    ("made", "item"),
    [
        ("penalty = F.mse_loss(output, y)", "loss"),
        ("penalty = criterion(output, y)", "loss"),
        ("penalty = model.penalty(x)", "loss.reshape(())"),
        ("scores, penalty = model(x)", "loss.reshape(())"),
        ("penalty = torch.zeros(1).to(device)\n    penalty += output.mean()", "loss.reshape(())"),
        ("penalty = torch.autograd.Variable(torch.zeros(1)).to(device)", "loss.reshape(())"),
        ("penalty = torch.zeros(()).to(device)\n    penalty += output.mean()", "loss"),
        ("penalty = torch.tensor([0.0]).to(device)", "loss.reshape(())"),
        ("gain = 1 - model(x)\n    penalty = -output * gain.detach()", "loss.reshape(())"),  # of one sample each
        ("penalty = (1 - model(x)).mean() * output.mean()", "loss"),
        ("penalty = 2 * criterion(output, y)", "loss"),
        ("penalty = torch.tensor(0.0).to(device)", "loss"),
    ],
)
def test_losses_that_may_have_one_element_are_stacked_as_numbers(made: str, item: str) -> None:
    """``(1,)`` and ``()`` cannot be stacked, though both are read by ``float`` and allow ``backward()``."""
    text = f"""
for x, y in loader:
    output, y = model(x.to(device)), y.to(device)
    {made}
    loss = F.cross_entropy(output, y) + penalty
    loss.backward()
    optimizer.step()
    print(float(loss), float(output.sum()))
"""
    assert f"torch.stack(({item}, output.sum()))" in port(SETUP + text).text


def test_losses_that_may_have_one_element_are_formatted_as_numbers() -> None:
    text = """
for x, y in loader:
    scores, loss = model(x.to(device))
    loss.backward()
    optimizer.step()
    print("%f %f" % (loss, scores.mean()))
"""
    assert "torch.stack((loss.reshape(()), scores.mean()))" in port(SETUP + text).text


def test_totals_of_what_numpy_computes_stay_on_the_device() -> None:
    becomes(
        """
        import numpy as np
        right = 0
        total = 0.0
        for x, y in loader:
            output, y = model(x.to(device)), y.to(device)
            loss = F.cross_entropy(output, y)
            loss.backward()
            optimizer.step()
            pred = output.detach().cpu().numpy().argmax(axis=1)
            right += np.sum(pred == y.cpu().numpy())
            total += loss.data.cpu().numpy() * len(x)
        print(right, total)
        """,
        """
        right = torch.zeros(1, dtype=torch.long).to(device)
        total = torch.zeros(1).to(device)
        for x, y in loader:
            output, y = model(x.to(device)), y.to(device)
            loss = F.cross_entropy(output, y)
            loss.backward()
            optimizer.step()
            pred = output.detach().argmax(dim=1)
            right += torch.sum(pred == y)
            total += loss.data * len(x)
            torch_xla.sync()
        right = right.item()
        total = total.item()
        print(right, total)
        """,
    )


@pytest.mark.parametrize(
    "use",
    [
        "kept.append(pred)\nprint(np.mean(pred))",  # the array is needed
        "print(np.median(pred))",  # torch means something else by it
        "print(np.mean(pred, axis=0, keepdims=True))",
        "print(np.max(pred, axis=1).mean())",  # torch gives positions too
        "print(scipy.stats.mode(pred).mode)",
        "show = lambda: np.mean(pred)\nshow()",
        "pred[0] = 0\nprint(np.mean(pred))",
        "for row in pred:\n    print(row)",
        "print(pred.mean().round(3), pred)",
        "print(pred.mean().round(3))",  # a number of Python has no such method
    ],
)
def test_arrays_that_are_needed_are_copied(use: str) -> None:
    loop = "\nimport numpy as np\nimport scipy.stats\nfor x in loader:\n    output = model(x.to(device))\n"
    step = "    output.mean().backward()\n    optimizer.step()\n    torch_xla.sync()\n"
    copy = "    pred = output.detach().cpu().numpy()\n" + "".join(f"    {line}\n" for line in use.splitlines())
    stays(loop + step + copy)


def test_tensors_of_containers_are_fetched_together() -> None:
    """By loops, comprehensions and generators; of tensors that may have a dimension the one number is taken."""
    setting = """
        for step, x in enumerate(loader):
            output = model(x.to(device))
            losses = {"a": output.mean(), "b": output.pow(2).mean()}
            losses["a"].backward()
            optimizer.step()
        """
    for container, before, stacked, after in (
        ("losses", "for k, v in losses.items(): writer.add_scalar(k, v.item(), step)", "list(losses.values())",
         "for k, v in zip(losses, step_values.tolist()): writer.add_scalar(k, v, step)"),
        ("losses", "print(sum(v.item() for v in losses.values()))", "list(losses.values())",
         "print(sum(step_values.tolist()))"),
        ("losses", "print(' '.join(f'{k} {v:.3f}' for k, v in losses.items()))", "list(losses.values())",
         "print(' '.join(f'{k} {v:.3f}' for k, v in zip(losses, step_values.tolist())))"),
        ("losses", "show({f'train/{k}': float(v) for k, v in losses.items()})", "list(losses.values())",
         "show({f'train/{k}': v for k, v in zip(losses, step_values.tolist())})"),
    ):  # fmt: skip
        assert container in before
        sync = "    torch_xla.sync()\n"
        stack = f"    step_values = torch.stack({stacked}).detach()\n"
        becomes(dedent(setting) + f"{sync}    {before}\n", dedent(setting) + f"{stack}{sync}    {after}\n")


@pytest.mark.parametrize(
    "use",
    [
        "print({k: v.item() for k, v in losses.items() if v.dim() == 0})",
        "print({k: v.detach().max() for k, v in losses.items()})",
        "if step > 5: print({k: v.item() for k, v in losses.items()})",
        "for k, v in losses.items(): print(v.item(), v.dtype)",
        "losses['c'] = output.std()\n    print({k: v.item() for k, v in losses.items()})",
    ],
)
def test_containers_of_which_more_is_needed(use: str) -> None:
    stays(
        f"""
for step, x in enumerate(loader):
    output = model(x.to(device))
    losses = {{"a": output.mean(), "b": output.pow(2).mean()}}
    losses["a"].backward()
    optimizer.step()
    torch_xla.sync()
    {use}
""",
        left=["TPU106"] * use.startswith("for k, v"),  # told all the same
    )


def test_a_dict_of_one_value_is_one_transfer() -> None:
    stays(
        """
for step, x in enumerate(loader):
    losses = {"all": model(x.to(device)).mean()}
    losses["all"].backward()
    optimizer.step()
    torch_xla.sync()
    for k, v in losses.items(): print(v.item(), v.dtype)
"""
    )


@pytest.mark.parametrize(
    ("made", "together"), [("measure(output, y)", False), ("output.std()", True), ("torch.zeros(1).to(device)", True)]
)
def test_what_an_unknown_function_gives_is_not_stacked_for_a_log_interval(made: str, together: bool) -> None:
    """It may lie on the host, where nothing is stacked with tensors of the device."""
    turn = "if step % 10 == 0: print(loss.item(), measured.item())"
    ported = port(SETUP + "from elsewhere import measure\n" + step(f"measured = {made}", turn)).text
    assert ("step_values.tolist()" in ported) == together


OWN_LOGGER = """
class Losses:
    def log(self, losses):
        for name, loss in losses.items():
            print(name, LOSS)

history = Losses()
for x, y in loader:
    output = model(x.to(device))
    loss = F.cross_entropy(output, y.to(device))
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    history.log({"loss": loss, "mean": output.mean()})
"""


@pytest.mark.parametrize(("used", "together"), [("loss", True), ("loss.item()", False), ("loss.data", False)])
def test_what_a_method_of_the_project_is_given_may_have_to_be_a_tensor(used: str, together: bool) -> None:
    ported = port(SETUP + OWN_LOGGER.replace("LOSS", used)).text
    assert ("step_values.tolist()" in ported) == together
    assert ('{"loss": loss, "mean": output.mean()}' in ported) != together


def test_long_lists_of_values_are_broken_into_lines() -> None:
    names = [f"penalty_of_the_generator_number_{at}" for at in range(4)]
    made = "".join(f"    {name} = output.pow({at}).mean()\n" for at, name in enumerate(names))
    shown = ", ".join(f"{name}.item()" for name in names)
    begin = "\nfor step, x in enumerate(loader):\n    output = model(x.to(device))\n"
    update = f"    {names[0]}.backward()\n    optimizer.step()\n"
    fetched = "".join(f"        {name},\n" for name in names)
    values = "".join(f"        {name}_value,\n" for name in names)
    becomes(
        f"{begin}{made}{update}    print({shown})\n",
        f"{begin}{made}{update}    step_values = torch.stack((\n{fetched}    )).detach()\n    torch_xla.sync()\n"
        f"    (\n{values}    ) = step_values.tolist()\n    print({', '.join(f'{name}_value' for name in names)})\n",
    )


def test_function_that_returns_several_values() -> None:
    """Each is read where it is needed, be it now and then or behind the loop."""
    becomes(
        """
        def test(x, y):
            with torch.no_grad():
                output = model(x)
                loss = F.cross_entropy(output, y)
            return loss.item(), (output.argmax(1) == y).sum().item() / len(y), len(y)

        for step, (x, y) in enumerate(loader):
            x, y = x.to(device), y.to(device)
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
            loss, accuracy, count = test(x, y)
            if step % 10 == 0:
                print(f"{loss:.3f} {accuracy:.3f} {count}")
        """,
        """
        def test(x, y):
            with torch.no_grad():
                output = model(x)
                loss = F.cross_entropy(output, y)
            return loss.detach(), (output.argmax(1) == y).sum() / len(y), len(y)

        for step, (x, y) in enumerate(loader):
            x, y = x.to(device), y.to(device)
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
            loss, accuracy, count = test(x, y)
            step_values = torch.stack((loss, accuracy)).detach()
            torch_xla.sync()
            if step % 10 == 0:
                loss_value, accuracy_value = step_values.tolist()
                print(f"{loss_value:.3f} {accuracy_value:.3f} {count}")
        """,
    )


@pytest.mark.parametrize(
    ("read", "name"),
    [
        ("real_loss + fake_loss", "loss_sum_value"),
        ("loss_1 + loss_2", "loss_value"),
        ("0.1 * real_loss", "real_loss_value"),
        ("real_loss / 2", "real_loss_value"),
        ("real_loss + norm", "real_loss_plus_norm_value"),
        ("real_loss - fake_loss", "real_loss_minus_fake_loss_value"),
        ("the_loss_of_real_images * norm_of_gradients", "step_value"),
        ("output.argmin()", "output_argmin_value"),
        ("torch.exp(norm)", "norm_exp_value"),
        ("output.detach().mean()", "output_value"),
        ("(output.argmax(1) == y).sum()", "matches_value"),
    ],
)
def test_numbers_are_called_after_all_that_they_are_computed_of(read: str, name: str) -> None:
    losses = ("real_loss", "fake_loss", "loss_1", "loss_2", "the_loss_of_real_images", "norm_of_gradients")
    text = dedent(
        """
        def train(loader):
            for step, (x, y) in enumerate(loader):
                x, y = x.to(device), y.to(device)
                output = model(x)
                total = F.cross_entropy(output, y)
                norm = output.pow(2).mean()
        MADE
                total.backward()
                optimizer.step()
                print((READ).item(), total.item())

        def other(NAME):
            print(NAME)
        """
    )
    made = "\n".join(f"        {loss} = (output - {at}).mean()" for at, loss in enumerate(losses))
    ported = port(
        SETUP + text.replace("MADE", made).replace("READ", read).replace("NAME", name), select=("TPU106", "TPU301")
    )
    assert f"{name}, total_value = step_values.tolist()" in ported.text


def test_values_fetched_together_in_an_evaluation_are_its_one_read() -> None:
    becomes(
        """
        model.eval()
        with torch.no_grad():
            for x in loader:
                output = model(x.to(device))
                print(output.mean().item(), output.std().item())
        """,
        """
        model.eval()
        with torch.no_grad():
            for x in loader:
                output = model(x.to(device))
                step_values = torch.stack((output.mean(), output.std().reshape(()))).detach()
                torch_xla.sync()
                output_value, output_std_value = step_values.tolist()
                print(output_value, output_std_value)
        """,
    )


def test_what_moves_leaves_no_double_blank_line() -> None:
    becomes(
        """
        for x in loader:
            loss = model(x.to(device)).mean()

            # what it costs
            print(loss.item())

            loss.backward()
            optimizer.step()
        """,
        """
        for x in loader:
            loss = model(x.to(device)).mean()

            loss.backward()
            optimizer.step()
            torch_xla.sync()
            # what it costs
            print(loss.item())
        """,
    )


TRAINER = """
class Trainer:
    def __init__(self):
        self.model = torch.nn.Linear(4, 3).to(device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.best, self.count, self.shown = 1.0, 0, []

    def note(self, value):
        self.shown.append(value)

    def advance(self):
        self.count += 1

"""


def test_attributes_of_a_trainer_are_told_apart() -> None:
    """An update of ``self.optimizer`` does not keep what belongs to ``self.best`` from moving."""
    before = """
        def train(self):
            for x in loader:
                loss = self.model(x.to(device)).mean()
                self.best = min(self.best, loss.item())
                self.note(loss.item())
                loss.backward()
                self.optimizer.step()
                self.advance()
                torch_xla.sync()
        """
    after = """
        def train(self):
            for x in loader:
                loss = self.model(x.to(device)).mean()
                loss.backward()
                self.optimizer.step()
                self.advance()
                torch_xla.sync()
                loss_value = loss.item()
                self.best = min(self.best, loss_value)
                self.note(loss_value)
        """
    method = [dedent(text).strip("\n").replace("\n", "\n    ") for text in (before, after)]
    becomes(f"{TRAINER}    {method[0]}\n", f"{TRAINER}    {method[1]}\n")


@pytest.mark.parametrize(
    "statement",
    ["print(self.count, loss.item())", "print(self.model.weight.sum(), loss.item())", "self.count += loss.item() > 0"],
)
def test_attributes_that_change_in_front_of_the_boundary(statement: str) -> None:
    text = f"""{TRAINER}    def train(self):
        for x in loader:
            loss = self.model(x.to(device)).mean()
            {statement}
            self.advance()
            loss.backward()
            self.optimizer.step()
            torch_xla.sync()
"""
    result = port(SETUP + text)
    assert result.text == SETUP + text
    assert {finding.code for finding in result.findings} <= {"TPU101", "TPU102"} and result.findings


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("right += output.argmax(1).eq(y).cpu().sum()", "right += output.argmax(1).eq(y).sum()"),
        ("right += output.argmax(1).eq(y).cpu().sum().item()", "right += output.argmax(1).eq(y).sum()"),
        ("right += output.argmax(1).eq(y).to('cpu').sum()", "right += output.argmax(1).eq(y).sum()"),
    ],
)
def test_sums_of_copies_are_sums_on_the_device(before: str, after: str) -> None:
    loop = """
        right = {start}
        for x, y in loader:
            output, y = model(x.to(device)), y.to(device)
            F.cross_entropy(output, y).backward()
            optimizer.step()
            {line}{end}
        print(right)
        """
    finished = "\n            torch_xla.sync()\n        right = right.item()"
    becomes(
        loop.format(start="0", line=before, end=""),
        loop.format(start="torch.zeros(1, dtype=torch.long).to(device)", line=after, end=finished),
    )


@pytest.mark.parametrize(
    ("use", "after"),
    [
        ("print(right.item() / len(x))", "print(right.item() / len(x))"),
        ("print('%d of %d' % (right, len(x)))", "print('%d of %d' % (right.item(), len(x)))"),
        ("print(f'{right / len(x):.2f}')", "print(f'{right.item() / len(x):.2f}')"),
        ("print('{}'.format(100 * right))", "print('{}'.format(100 * right.item()))"),
        ("best = max(best, int(right))", "best = max(best, int(right))"),
    ],
)
def test_sums_of_copies_that_are_named_are_sums_on_the_device(use: str, after: str) -> None:
    loop = """
        best = 0
        for x, y in loader:
            output, y = model(x.to(device)), y.to(device)
            F.cross_entropy(output, y).backward()
            optimizer.step()
            right = output.argmax(1).eq(y){copy}.sum(){boundary}
            {use}
        """
    becomes(
        loop.format(copy=".cpu()", use=use, boundary=""),
        loop.format(copy="", use=after, boundary="\n            torch_xla.sync()"),
    )


@pytest.mark.parametrize(
    "use",
    ["counts.append(right)", "print(right.float().mul(100))", "keep(right)", "total = right\n    print(total.shape)"],
)
def test_named_sum_of_a_copy_of_which_more_is_needed(use: str) -> None:
    """It stays one of the host; the graph of the step computes what is copied."""
    text = """
        counts = []
        for x, y in loader:
            output, y = model(x.to(device)), y.to(device)
            F.cross_entropy(output, y).backward()
            optimizer.step()
            {early}torch_xla.sync()
            right = {copied}.cpu().sum()
            {use}
        """
    use = use.replace(chr(10), chr(10) + " " * 8)
    becomes(
        text.format(early="", copied="output.argmax(1).eq(y)", use=use),
        text.format(early="right = output.argmax(1).eq(y)\n            ", copied="right", use=use),
    )


def test_sum_of_a_copy_of_which_more_is_needed() -> None:
    text = """
        right = 0
        for x, y in loader:
            output, y = model(x.to(device)), y.to(device)
            F.cross_entropy(output, y).backward()
            optimizer.step()
            {early}torch_xla.sync()
            right += {copied}.cpu().sum()
        print(right.item())
        """
    becomes(
        text.format(early="", copied="output.argmax(1).eq(y)"),
        text.format(early="result = output.argmax(1).eq(y)\n            ", copied="result"),
    )


def test_sum_of_parts_in_a_block_is_read_behind_the_step() -> None:
    text = """
        for x, y in loader:
            total = 0.0
            with memories(x) as kept:
                for part in x.chunk(2):
                    loss = model(part.to(device)).mean()
                    total += loss{read}
                    loss.backward()
            {early}optimizer.step()
            torch_xla.sync(){late}
        """
    becomes(
        text.format(read=".item()", early="print(total)\n            ", late=""),
        text.format(read=".detach()", early="", late="\n            total = float(total)\n            print(total)"),
    )


def test_total_starts_with_a_tensor_of_the_device_that_branches_chose() -> None:
    text = """
if use_xla:
    chosen = torch_xla.device()
else:
    chosen = torch.device("cpu")
total = 0
with torch.no_grad():
    for x, y in loader:
        total += F.nll_loss(model(x.to(chosen)), y.to(chosen)).item()
        torch_xla.sync()
print(total)
"""
    start, end = (
        "total = torch.zeros(1).to(chosen)\nwith",
        "        torch_xla.sync()\n    total = total.item()\nprint(total)\n",
    )
    ported = port(SETUP + text).text
    assert start in ported and ported.endswith(end)


# -------------------------------------------------------------------- totals where the device is an option

OPTIONAL_DEVICE = """\
import torch, torch_xla
from torch import nn
net = nn.Linear(3, 3)
{head}
if use_device:
    net.to("xla")
def test(loader):
    total = 0.0
    for x, y in loader:
        if use_device:
            x, y = x.to("xla"), y.to("xla")
        with torch.no_grad():
            total += nn.functional.cross_entropy(net(x), y).item()
        torch_xla.sync()
    return total
"""


@pytest.mark.parametrize(
    ("head", "start"),
    [
        ("use_device = args.cuda", "torch.zeros(1).to(next(net.parameters()).device)"),
        ("use_device = True", "torch.zeros(1).to(device)"),
    ],
    ids=["an option", "always"],
)
def test_total_starts_where_the_loss_is(head: str, start: str) -> None:
    """`if args.cuda: x = x.cuda()`: without the option the model stays on the host, and so must the total."""
    settings = Settings(fix=True, unsafe_fixes=True, select=("TPU104",))
    result = lint(SourceFile.from_text(OPTIONAL_DEVICE.format(head=head)), settings, CATALOGUE)
    assert f"total = {start}\n" in result.text


@pytest.mark.parametrize(
    ("turn", "head", "start"),
    [
        ("if aligner is not None:\n            x = aligner(x)\n        out = net(x)", "", "net"),
        ("if options.align:\n            x = aligner(x)\n        out = net(x)", "", "net"),
        ("x = aligner(x)\n        out = net(x)", "", "aligner"),
        ("if options.align:\n            x = aligner(x)\n        out = net(x)", "aligner.eval()", "aligner"),
        ("if options.align:\n            x = aligner(x)\n        out = net(x)", "if aligner: aligner.eval()", "net"),
        ("out = net(x) if options.deep else aligner(x)", "", None),
    ],
)
def test_total_starts_where_a_module_is_that_is_always_there(turn: str, head: str, start: str | None) -> None:
    text = f"""\
import torch, torch_xla
from torch import nn
@torch.no_grad()
def test(loader, aligner, net, options):
    {head or "pass"}
    total = 0.0
    for x, y in loader:
        if options.cuda:
            x, y = x.to("xla"), y.to("xla")
        {turn}
        total += nn.functional.cross_entropy(out, y).item()
        torch_xla.sync()
    return total
aligner, net = nn.Linear(3, 3), nn.Linear(3, 3)
"""
    text += "test(loader, aligner if options.align else None, net, options)\n"
    settings = Settings(fix=True, unsafe_fixes=True, select=("TPU104",))
    result = lint(SourceFile.from_text(text), settings, CATALOGUE).text
    if start is None:
        assert result == text
    else:
        assert f"total = torch.zeros(1).to(next({start}.parameters()).device)\n" in result


@pytest.mark.parametrize(
    ("made", "is_seen"),
    [
        ("nn.DataParallel(net) if len(x) > 10 else net", True),
        ("nn.DataParallel(net)", True),
        ("net", True),
        ("net.forward", True),
        ("nn.DataParallel(net) if len(x) > 10 else other", False),
        ("build(net)", False),
    ],
)
def test_total_starts_where_the_module_is_that_each_turn_wraps(made: str, is_seen: bool) -> None:
    text = OPTIONAL_DEVICE.format(head="use_device = args.cuda\nother = nn.Linear(3, 3)")
    called, made = ("net.forward", "None") if made == "net.forward" else ("used", made)
    text = text.replace("(net(x), y)", f"({called}(x), y)").replace(
        "        with", f"        used = {made}\n        with"
    )
    settings = Settings(fix=True, unsafe_fixes=True, select=("TPU104",))
    result = lint(SourceFile.from_text(text), settings, CATALOGUE).text
    assert ("torch.zeros(1).to(next(net.parameters()).device)" in result) == is_seen
    assert (result != text) == is_seen


@pytest.mark.parametrize(
    ("turn", "start"),
    [
        ("loss, size = net.losses_of(x, y)", "net"),
        ("loss = net.head(x).mean()", "net"),
        ("loss = other_loss.measure(x, y)", None),  # which may have no parameters
        ("net.register_buffer('seen', x); loss = x.mean()", None),
    ],
)
def test_total_starts_where_the_module_is_of_which_a_method_or_a_part_is_run(turn: str, start: str | None) -> None:
    text = f"""\
import torch, torch_xla
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(3, 3)

    def losses_of(self, x, y):
        out = self.head(x)
        return nn.functional.mse_loss(out, y), out.pow(2).mean()

    def measure(self, x, y):
        return nn.functional.mse_loss(x, y)

def train(loader, net, other_loss, optimizer, options):
    total = 0.0
    for x, y in loader:
        if options.cuda:
            x, y = x.to("xla"), y.to("xla")
        {turn}
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        total += loss.item()
    return total

net, other_loss = Net().to("xla"), Net().to("xla")
train(loader, net, other_loss, torch.optim.SGD(net.parameters(), 0.1), options)
"""
    settings = Settings(fix=True, unsafe_fixes=True, select=("TPU104",))
    result = lint(SourceFile.from_text(text), settings, CATALOGUE).text
    if start is None:
        assert result == text
    else:
        assert f"total = torch.zeros(1).to(next({start}.parameters()).device)\n" in result


TWO_METERS = """\
import torch, torch_xla
model = torch.nn.Linear(3, 3).to("xla")
class Meter:
    def __init__(self):
        self.avg = self.sum = self.count = 0
    def update(self, value, n):
        self.sum += value * n
        self.count += n
        self.avg = self.sum / self.count
def train(loader, optimizer):
    losses = Meter()
    top = Meter()
    for x, y in loader:
        x, y = x.to("xla"), y.to("xla")
        optimizer.zero_grad()
        out = model(x)
        loss = torch.nn.functional.cross_entropy(out, y)
        losses.update(loss.item(), len(x))
        top.update(out.argmax(1).eq(y).sum(), len(x))
        loss.backward()
        optimizer.step()
        torch_xla.sync()
    return losses.avg, top.avg
"""


def test_only_the_meter_that_gets_a_tensor_is_read_as_one() -> None:
    """Another meter of the class may always have held tensors: its user expects them back."""
    settings = Settings(fix=True, unsafe_fixes=True, select=("TPU101",))
    result = lint(SourceFile.from_text(TWO_METERS), settings, CATALOGUE)
    assert "losses.update(loss.detach(), len(x))" in result.text
    assert "return float(losses.avg), top.avg\n" in result.text


GRADIENT_PENALTY = """\
import torch, torch_xla
class Solver:
    def __init__(self, D):
        self.D = D.to("xla")
        self.optimizer = torch.optim.Adam(self.D.parameters())
    def penalty(self, y, x):
        weight = torch.ones(y.size()).to(self.device)
        slope = torch.autograd.grad(outputs=y, inputs=x, grad_outputs=weight, create_graph=True)[0]
        return torch.mean((slope.norm(dim=1) - 1) ** 2)
    def train(self, loader):
        for x in loader:
            x = x.to("xla").requires_grad_()
            penalty = self.penalty(self.D(x), x)
            print(penalty.item())
            penalty.backward()
            self.optimizer.step()
            torch_xla.sync()
"""


def test_gradients_lie_where_their_outputs_do() -> None:
    found = lint(SourceFile.from_text(GRADIENT_PENALTY), Settings(select=("TPU101",)), CATALOGUE).findings
    assert [GRADIENT_PENALTY[finding.span.start : finding.span.end] for finding in found] == ["penalty.item()"]


EPOCHS_OF_A_TRAINER = """
class Trainer:
    def __init__(self, model, loader):
        self.model = model
        self.loader = loader
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.losses, self.running_loss, self.last = [], 0.0, 0.0

    def train_step(self, batch):
        x, y = batch
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(x.to(device)), y.to(device))
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def train_epoch(self):
        total = 0.0
        for i, batch in enumerate(self.loader):
            loss = self.train_step(batch)
            {use}
        return self.running_loss / len(self.loader)
"""


@pytest.mark.parametrize("use", ["total += {}", "self.losses.append({})", "self.running_loss += {}"])
def test_fix_in_a_trainer_takes_the_read_out_of_its_own_finding(use: str) -> None:
    """The number is read where it is added up, which another rule speaks about, and not beside the call."""
    text = SETUP + EPOCHS_OF_A_TRAINER.format(use=use.format("loss"))
    settings = Settings(select=("TPU101",))
    (finding,) = lint(SourceFile.from_text(text), settings, CATALOGUE).findings
    assert finding.fix is not None
    source = SourceFile.from_text(text)
    fixed = apply(SemanticIndex(source, ast.parse(text)), [finding.fix])
    assert not lint(SourceFile.from_text(fixed), settings, CATALOGUE).findings
    assert f"loss = self.train_step(batch)\n            {use.format('loss.item()')}\n" in fixed


@pytest.mark.parametrize("copied", ["loss.detach().cpu().numpy()", "loss.cpu().data.numpy()"])
def test_one_number_that_is_only_copied_is_a_read_like_any_other(copied: str) -> None:
    """Reading it otherwise, in front of the boundary, would be no gain."""
    uses = (f"print({copied})", f"value = {copied}\n    print(value)", f"writer.add_scalar('loss', {copied}, 0)")
    for use in uses:
        text = f"""
for x, y in loader:
    loss = F.cross_entropy(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()
    {use}
"""
        assert {code for code, _ in check(text)} == {"TPU101", "TPU301"}


# -------------------------------------------------------------------- steps that some turns have


def test_logging_in_a_step_of_every_tenth_turn_moves_behind_its_boundary() -> None:
    becomes(
        """
        for turn in range(1000):
            values = model(torch.tensor(state, device=device))
            state = world.move(values.argmax(dim=1).cpu().numpy())
            if turn % 10 == 0:
                x, y = memory.sample()
                output = model(x.to(device))
                loss = F.mse_loss(output, y.to(device))
                if turn % 100 == 0:
                    writer.add_scalar("loss", loss, turn)
                    writer.add_scalar("output", output.mean().item(), turn)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        """,
        """
        for turn in range(1000):
            values = model(torch.tensor(state, device=device))
            state = world.move(values.argmax(dim=1).cpu().numpy())
            if turn % 10 == 0:
                x, y = memory.sample()
                output = model(x.to(device))
                loss = F.mse_loss(output, y.to(device))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                step_values = torch.stack((loss, output.mean())).detach()
                torch_xla.sync()
                if turn % 100 == 0:
                    loss_value, output_value = step_values.tolist()
                    writer.add_scalar("loss", loss_value, turn)
                    writer.add_scalar("output", output_value, turn)
        """,
        left=["TPU101"],
    )


@pytest.mark.parametrize(("line", "held"), [("from models import *", True), ("from models import net", False)])
def test_torch_that_a_star_may_bind(line: str, held: bool) -> None:
    """A file may have the name from `import *`; one that has it from nowhere is left alone."""
    step = """
    total = 0
    for x, y in loader:
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        total += loss.item()
    print(total / len(loader))
    """
    text = SETUP.replace("import torch\n", f"{line}\nimport torch_xla\n", 1) + dedent(step)
    assert ("total += loss.detach()" in port(text).text) is held


# -------------------------------------------------------------------- meters of another file

IMPORTED_METER = """
from project.tools import AverageMeter, accuracy

def train(epoch):
    losses, right = AverageMeter(), AverageMeter()
    with tqdm(total=len(loader)) as bar:
        for x, y in loader:
            output = model(x.to(device))
            loss = F.cross_entropy(output, y.to(device))
            losses.update(loss.item(), len(x))
            first = accuracy(output, y)
            right.update(first[0].item(), len(x))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            bar.set_postfix(loss="{:.6f}".format(losses.avg))
    print("right", right.avg)
    return losses.avg
"""


def test_imported_average_meter_is_given_tensors_and_its_bar_shown_less_often() -> None:
    becomes(
        IMPORTED_METER,
        """
        from project.tools import AverageMeter, accuracy

        def train(epoch):
            losses, right = AverageMeter(), AverageMeter()
            with tqdm(total=len(loader)) as bar:
                for step, (x, y) in enumerate(loader):
                    output = model(x.to(device))
                    loss = F.cross_entropy(output, y.to(device))
                    losses.update(loss.detach(), len(x))
                    first = accuracy(output, y)
                    right.update(first[0].detach().reshape(()), len(x))
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    torch_xla.sync()
                    if step % 10 == 0:
                        bar.set_postfix(loss="{:.6f}".format(losses.avg))
            print("right", float(right.avg))
            return float(losses.avg)
        """,
    )


def test_meter_shown_by_a_text_in_a_variable() -> None:
    written = IMPORTED_METER.replace(
        'bar.set_postfix(loss="{:.6f}".format(losses.avg))',
        'text = "{:.6f}".format(losses.avg)\n            bar.set_postfix_str(text)',
    )
    assert "text = " in written
    text = port(SETUP + written).text
    throttled = """\
            if step % 10 == 0:
                text = "{:.6f}".format(losses.avg)
                bar.set_postfix_str(text)
"""
    assert "losses.update(loss.detach(), len(x))" in text and throttled in text


def test_meter_of_the_same_name_in_another_function() -> None:
    other = """
def evaluate():
    losses = AverageMeter()
    with torch.no_grad():
        for x, y in loader:
            losses.update(F.cross_entropy(model(x.to(device)), y.to(device)).item())
            print(losses.avg)
"""
    assert "losses.update(loss.detach(), len(x))" in port(SETUP + IMPORTED_METER + other).text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("AverageMeter", "WindowMeter"),
        ("return losses.avg", "return losses"),
        ("return losses.avg", "return losses.history"),
        ("bar.set_postfix(loss=", "print("),
        ("losses.update(loss.item(), len(x))", "losses.update(len(x), loss.item())"),
    ],
    ids=["another class", "handed on", "another attribute", "printed in every step", "as the weight"],
)
def test_imported_meters_that_may_need_numbers(old: str, new: str) -> None:
    assert old in IMPORTED_METER
    result = port(SETUP + IMPORTED_METER.replace(old, new))
    assert "losses.update(loss.detach()" not in result.text


def test_printed_meter_is_printed_as_a_number() -> None:
    result = port(SETUP + METERS.replace("    return losses.avg", '    print("mean", losses.avg)'))
    assert '    print("mean", float(losses.avg))\n' in result.text


@pytest.mark.parametrize(
    ("shown", "held"),
    [
        ('if step % 10 == 0: print("{m.val:.3f} ({m.avg:.3f})".format(m=losses))', True),
        ('if step % 10 == 0: print("{m.val} ({m.avg:.3f})".format(m=losses))', False),
        ('if step % 10 == 0: print("{m}".format(m=losses))', False),
        ('print("{m.val:.3f} ({m.avg:.3f})".format(m=losses))', False),
        ('text = "{:.3f}".format(losses.avg)', False),
        ("text.append(losses.avg)", True),
    ],
    ids=["now and then", "not as a number", "whole", "in every step", "made a text in every step", "kept"],
)
def test_imported_meter_in_a_text(shown: str, held: bool) -> None:
    before = f"""
    from project.tools import AverageMeter
    losses = AverageMeter()
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.update(loss.item(), len(x))
        {shown}
    """
    assert ("losses.update(loss.detach(), len(x))" in port(SETUP + dedent(before)).text) is held


def test_text_of_a_bar_of_the_package_progress() -> None:
    becomes(
        """
        for step, (x, y) in enumerate(loader):
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            bar.suffix = "{at}: {loss:.4f}".format(at=step, loss=loss.item())
            bar.next()
        """,
        """
        for step, (x, y) in enumerate(loader):
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            if step % 10 == 0:
                bar.suffix = "{at}: {loss:.4f}".format(at=step, loss=loss.item())
            bar.next()
        """,
    )


def test_list_that_a_number_is_added_to() -> None:
    """Lists of one element that are added, as in implementations of PPO."""
    becomes(
        """
        fractions = []
        for epoch in range(4):
            for x, y in loader:
                loss = F.cross_entropy(model(x.to(device)), y.to(device))
                fractions += [(loss > 1).float().mean().item()]
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        print(sum(fractions) / len(fractions))
        """,
        """
        fractions = []
        for epoch in range(4):
            step_fractions = []
            for x, y in loader:
                loss = F.cross_entropy(model(x.to(device)), y.to(device))
                step_fractions += [(loss > 1).float().mean()]
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                torch_xla.sync()
            fractions.extend(
                value
                for at in range(0, len(step_fractions), 64)
                for value in torch.stack(step_fractions[at : at + 64]).tolist()
            )
        print(sum(fractions) / len(fractions))
        """,
    )


@pytest.mark.parametrize("added", ["[loss.item(), 1]", "[*loss.tolist()]", "names + [loss.item()]"])
def test_other_things_added_to_a_list(added: str) -> None:
    result = port(
        SETUP + f"values = []\nfor x, y in loader:\n    loss = F.cross_entropy(model(x.to(device)), y.to(device))\n"
        f"    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n    values += {added}\n"
    )
    assert "torch.stack" not in result.text


@pytest.mark.parametrize(("gate", "found"), [("if step % 100 == 0:", False), ("if step > 100:", True)])
def test_loop_under_a_log_interval(gate: str, found: bool) -> None:
    """What stands around a loop that a turn runs to its end holds for all of its turns."""
    text = f"""
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        {gate}
            for name, value in model.named_parameters():
                if torch.isnan(value).any():
                    print(name)
    """
    assert ("TPU103" in [code for code, _ in check(text)]) is found


# -------------------------------------------------------------------- numbers returned beside the loss

MEASURE = """
def measure(output, target, padding):
    loss = F.cross_entropy(output, target)
    kept = target.ne(padding)
    right = (output.argmax(1).eq(target) & kept).sum().item()
    words = kept.sum().item()
    return loss, right, words

def train():
    total, seen, correct = 0, 0, 0
    for batch in loader:
        x, y = map(lambda part: part.to(device), batch)
        loss, right, words = measure(model(x), y, 0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen += words
        correct += right
        total += loss.item()
    return total / seen, correct / seen

def evaluate():
    seen, correct = 0, 0
    model.eval()
    with torch.no_grad():
        for batch in loader:
            x, y = map(lambda part: part.to(device), batch)
            loss, right, words = measure(model(x), y, 0)
            seen += words
            correct += right
    return correct / seen
"""


def test_numbers_returned_beside_the_loss_are_added_up_on_the_device() -> None:
    result = port(SETUP + MEASURE)
    assert result.findings == ()
    assert "    right = (output.argmax(1).eq(target) & kept).sum()\n    words = kept.sum()\n" in result.text
    assert result.text.count("torch.zeros(1, dtype=torch.long)") == 4
    assert result.text.count("seen = seen.item()\n") == result.text.count("correct = correct.item()\n") == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        seen += words\n", "        seen += words\n        schedule(words)\n"),
        ("    return loss, right, words", "    print(words)\n    return loss, right, words"),
        ("def evaluate():", "score = measure\n\ndef evaluate():"),
        ("    loss = F.cross_entropy(output, target)\n",
         "    if padding is None:\n        return output, 0, 0\n    loss = F.cross_entropy(output, target)\n"),
    ],
    ids=["needed in every step", "needed in the function", "handed on", "two ways out"],
)  # fmt: skip
def test_returned_numbers_that_are_needed(old: str, new: str) -> None:
    assert old in MEASURE
    assert "words = kept.sum().item()" in port(SETUP + MEASURE.replace(old, new, 1)).text


# -------------------------------------------------------------------- functions of math


def test_functions_of_math_become_those_of_torch() -> None:
    result = port(
        SETUP
        + """
from math import log10
total, errors = 0, []
model.eval()
with torch.no_grad():
    for x, y in loader:
        error = F.mse_loss(model(x.to(device)), y.to(device))
        ratio = 10 * log10(1 / error.item())
        total += ratio
        errors.append(math.sqrt(error.item()))
print(total, errors)
"""
    )
    assert "import math" not in result.text
    assert "from math" not in result.text
    assert "        ratio = 10 * torch.log10(1 / error)\n        total += ratio\n" in result.text
    assert "        step_errors.append(torch.sqrt(error))\n" in result.text
    assert "    total = total.item()\n" in result.text
    assert result.findings == ()


@pytest.mark.parametrize(
    "use", ["total += ratio\n        print(ratio)", "best = max(best, ratio)", "total += math.floor(ratio)"]
)
def test_numbers_of_evaluation_that_are_needed_at_once(use: str) -> None:
    text = f"""
best, total = 0, 0
model.eval()
with torch.no_grad():
    for x, y in loader:
        error = F.mse_loss(model(x.to(device)), y.to(device))
        ratio = 10 * math.log10(1 / error.item())
        {use}
print(total)
"""
    assert "ratio = 10 * math.log10(1 / error.item())" in port(SETUP + text).text


LATE_DEVICE = """\
import torch, torch_xla
def test(loader, model, flag):
    model.eval()
    correct = 0
    if flag:
        device = torch_xla.device()
    else:
        device = torch.device("cpu")
    with torch.no_grad():
        for x, y in loader:
            predicted = model(x).argmax(1).to(device)
            correct += predicted.eq(y.to(device)).sum().item()
    return correct
"""


def test_total_starts_where_the_device_is_known() -> None:
    settings = Settings(fix=True, unsafe_fixes=True, select=("TPU104",))
    text = lint(SourceFile.from_text(LATE_DEVICE), settings, CATALOGUE).text
    assert "    correct = 0\n    if flag:" in text
    assert "        correct = torch.zeros(1, dtype=torch.long).to(device)\n        for x, y in loader:" in text


def test_property_of_a_meter_is_read_where_it_is_used() -> None:
    without = TWO_METERS.replace("        self.avg = self.sum / self.count\n", "").replace("self.avg = ", "")
    average = "    @property\n    def avg(self):\n        return self.sum / self.count\n"
    text = without.replace("def train(", f"{average}def train(")
    settings = Settings(fix=True, unsafe_fixes=True, select=("TPU101",))
    fixed = lint(SourceFile.from_text(text), settings, CATALOGUE).text
    assert "losses.update(loss.detach(), len(x))" in fixed
    assert "return float(losses.avg), top.avg\n" in fixed


def test_meter_is_given_what_is_computed_with_the_tensor() -> None:
    text = TWO_METERS.replace("losses.update(loss.item(), len(x))", "losses.update(loss.item() * 4, len(x))")
    settings = Settings(fix=True, unsafe_fixes=True, select=("TPU101",))
    assert "losses.update(loss.detach() * 4, len(x))" in lint(SourceFile.from_text(text), settings, CATALOGUE).text


def test_a_model_that_a_base_class_of_another_file_holds() -> None:
    found = check(
        """\
        from base import BaseTrainer


        class Trainer(BaseTrainer):
            def train_epoch(self):
                self.model.train()
                for data, target in self.loader:
                    data, target = data.to(self.device), target.to(self.device)
                    self.optimizer.zero_grad()
                    loss = self.criterion(self.model(data), target)
                    loss.backward()
                    self.optimizer.step()
                    torch_xla.sync()

            def validate(self):
                self.model.eval()
                with torch.no_grad():
                    for data, target in self.valid_loader:
                        output = self.model(data.to(self.device))
                        loss = self.criterion(output, target.to(self.device))
                        self.metrics.update(loss.item())
                        torch_xla.sync()
        """
    )
    assert found == [("TPU101", "warning")]


def test_the_loss_of_a_function_that_returns_a_tuple_or_a_tensor() -> None:
    found = check(
        """\
        def test_epoch(loader, net, loss_fn):
            net.eval()
            total = 0
            with torch.no_grad():
                for data, target in loader:
                    output = net(data.to(device))
                    made = loss_fn(output, target.to(device))
                    loss = made[0] if type(made) in (tuple, list) else made
                    print(loss.item())
                    size = sizes(target)
                    count = size[0] if type(size) is tuple else size
                    print(count.item())
                    torch_xla.sync()
        """
    )
    assert found == [("TPU101", "warning")], "what is computed of values of the host alone stays there"


def test_average_meter_of_a_star_import() -> None:
    with_star = IMPORTED_METER.replace("import AverageMeter, accuracy", "import *")
    assert "losses.update(loss.detach(), len(x))" in port(SETUP + with_star).text
    own = "def AverageMeter():\n    return Window()\n\n"
    assert "losses.update(loss.detach()" not in port(SETUP + own + with_star).text


# -------------------------------------------------------------------- terms of a loss


POLICY = """\
class Learner:
    def __init__(self, actor, rounds):
        self.actor = actor.to(device)
        self.rounds = rounds

    def update(self, rollouts):
        value_total = 0
        entropy_total = 0
        for observed, returns, weight in rollouts.batches():
            values, entropy = self.actor.judge(observed)
            value_loss = F.mse_loss(values, returns)
            optimizer.zero_grad()
            (value_loss - weight * entropy).backward()
            optimizer.step()
            value_total += value_loss.item()
            entropy_total += entropy.item()
        return value_total, entropy_total
"""


def test_what_a_loss_is_summed_of_is_a_tensor_when_it_is_asked_for_its_number() -> None:
    text = port(SETUP + POLICY).text
    assert "            value_total += value_loss.detach()\n" in text
    assert "            entropy_total += entropy.detach()\n" in text
    named = "loss = value_loss - weight * entropy\n            loss.backward()"
    by_name = POLICY.replace("(value_loss - weight * entropy).backward()", named)
    assert "entropy_total += entropy.detach()" in port(SETUP + by_name).text
    apart = POLICY.replace("(value_loss - weight * entropy)", "value_loss")
    assert "entropy_total += entropy.item()" in port(SETUP + apart).text


@pytest.mark.parametrize(
    ("line", "is_followed"),
    [
        ("loss = value_loss + (entropy if entropy is not None else 0.0)", True),
        ("loss = sum([value_loss, weight * entropy])", True),
        ("parts = {'value': value_loss, 'entropy': entropy}; loss = sum(parts.values())", True),
        ("parts = [value_loss, entropy]; loss = torch.stack(parts).sum()", True),
        ("parts = [value_loss]; parts = [sum(parts), entropy]; loss = sum(parts)", True),
        ("parts = {'value': value_loss, 'entropy': entropy}; loss = parts['value']", False),
        ("loss = value_loss if entropy is not None else value_loss * 2", False),
        ("loss = value_loss * len([entropy])", False),
    ],
)
def test_what_a_loss_is_put_together_of_by_a_choice_or_a_sum(line: str, is_followed: bool) -> None:
    lines = "".join(f"            {part.strip()}\n" for part in line.split(";"))
    program = POLICY.replace(
        "            (value_loss - weight * entropy).backward()\n", f"{lines}            loss.backward()\n"
    )
    assert ("entropy_total += entropy.detach()" in port(SETUP + program).text) is is_followed


MEANS = """\
class Runner:
    def train(self, epoch):
        epoch_loss = 0
        for batch in self.loader:
            parts = self.judge(self.model(batch.to(self.device)))
            batch_loss = torch.sum(parts)
            mean_loss = batch_loss / len(parts)
            if self.decay:
                total_loss = mean_loss + self.decay * self.norm()
            else:
                total_loss = mean_loss
            optimizer.zero_grad()
            total_loss.backward()
            optimizer.step()
            with torch.no_grad():
                epoch_loss += batch_loss.item()
        return epoch_loss
"""


def test_what_a_loss_is_summed_of_may_be_a_sum_itself() -> None:
    assert "epoch_loss += batch_loss\n" in port(SETUP + MEANS).text
    apart = MEANS.replace("mean_loss = batch_loss / len(parts)", "mean_loss = parts.mean()")
    assert "epoch_loss += batch_loss.item()\n" in port(SETUP + apart).text


@pytest.mark.parametrize("ending", ['raise ValueError("stopping training")', "assert math.isfinite(loss_value)"])
def test_guard_that_raises_moves_like_one_that_exits(ending: str) -> None:
    text = port(SETUP + GUARDED.replace("sys.exit(1)", ending)).text
    moved = text[text.index("torch_xla.sync()") :]
    assert "loss_value = loss_value.item()" in moved
    assert ending in moved


# -------------------------------------------------------------------- lists filled within a step

NORMS = """\
def clip(limit):
    norms = []
    for p in model.parameters():
        norm = p.grad.data.norm(2)
        norms.append(norm.item())
        p.grad.mul_((limit / norm).clamp(max=1))
    return norms

for x, y in loader:
    loss = F.cross_entropy(model(x.to(device)), y.to(device))
    loss.backward()
    clip(1.0)
    optimizer.step()
    torch_xla.sync()
"""


def test_list_that_is_filled_and_handed_on_within_a_step() -> None:
    text = port(SETUP + NORMS).text
    assert "        norms.append(norm.detach().reshape(()))\n" in text
    assert "    norms = [value for at in range(0, len(norms), 64)" in text


def test_list_of_all_steps_is_not_filled_within_one() -> None:
    """What is in it already are numbers, and nobody knows when the next step begins."""
    kept = NORMS.replace("    norms = []\n", "").replace("def clip", "norms = []\n\ndef clip")
    assert "norms.append(norm.item())" in port(SETUP + kept).text


# -------------------------------------------------------------------- objects that train


@pytest.mark.parametrize(
    ("call", "moves"),
    [
        ("train()", False),
        ("train(was_training)", False),
        ("train(loader)", True),
        ("train(setting, 3)", True),
        ("train(train_set)", True),
        ("train(isTrain)", False),
        ("train(training_mode)", False),
    ],
)
def test_object_that_is_given_work_is_no_module(call: str, moves: bool) -> None:
    """What is shown of a module is not shown behind its update; what is shown of another object may be."""
    text = port(
        SETUP
        + dedent(f"""
        def run(experiment):
            experiment.{call}
            for step, (x, y) in enumerate(loader):
                loss = F.cross_entropy(model(x.to(device)), y.to(device))
                print(experiment.name, loss.item())
                loss.backward()
                optimizer.step()
                torch_xla.sync()
        """)
    ).text
    assert (text.index("loss.item()") > text.index("optimizer.step()")) is moves


# -------------------------------------------------------------------- dicts of one step

KEPT_DICT = """
for step, (x, y) in enumerate(loader):
    loss = F.cross_entropy(model(x.to(device)), y.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    shown = {}
    shown["loss"] = loss.item()
    if step % 2 == 0:
        other = critic(x.to(device)).mean()
        critic_optimizer.zero_grad()
        other.backward()
        critic_optimizer.step()
        shown["critic"] = other.item()
    if step % 10 == 0:
        for name, value in shown.items():
            print("{}: {:.4f}".format(name, value))
    torch_xla.sync()
"""


def test_dict_that_is_looked_at_now_and_then_holds_tensors() -> None:
    becomes(
        KEPT_DICT,
        """
        for step, (x, y) in enumerate(loader):
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            shown = {}
            shown["loss"] = loss.detach()
            if step % 2 == 0:
                other = critic(x.to(device)).mean()
                critic_optimizer.zero_grad()
                other.backward()
                critic_optimizer.step()
                shown["critic"] = other.detach()
            torch_xla.sync()
            if step % 10 == 0:
                shown = {key: float(value) for key, value in shown.items()}
                for name, value in shown.items():
                    print("{}: {:.4f}".format(name, value))
        """,
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    if step % 10 == 0:\n", "    if shown:\n"),
        ("    shown = {}\n", "    shown = dict(history)\n"),
        ('shown["loss"] = loss.item()', 'shown["loss"] = str(loss.item())'),
        ("    torch_xla.sync()", "    torch_xla.sync()\n    keep(shown)"),
    ],
    ids=["in every step", "holds other things", "no number", "handed on"],
)
def test_dicts_that_need_numbers(old: str, new: str) -> None:
    assert old in KEPT_DICT
    assert 'shown["loss"] = loss.detach()' not in port(SETUP + KEPT_DICT.replace(old, new)).text


NO_TENSORS = """
def default(value, other):
    return value if value is not None else other

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 3)

    def forward(self, x, cache, parts, question: List[str], size: "Size", other: "OptTensor", exact=None, length=None):
        exact = default(exact, self.training)
        rows, columns = x.shape
        length = default(length, columns)
        y = default(self.layer(x), x)
        first = parts.pop() if parts else None
        for name, part in parts.items():
            y = y + part
        return WANTED

net = Net().to(device)
"""


@pytest.mark.parametrize(
    ("wanted", "on_device"),
    [
        ("y", True),
        ("cache.keys", True),
        ("other", True),
        ("question[0]", False),
        ("size[0] != size[1]", False),
        ("exact", False),
        ("length", False),
        ("length > columns", False),
        ("parts", False),
        ("name", False),
        ('cache.layer_kind == "a"', False),
        ("x.shape[1] - cache.cache_length > 1", False),
    ],
)
def test_arguments_of_a_forward_pass_that_are_no_tensors(wanted: str, on_device: bool) -> None:
    source = SourceFile.from_text(SETUP + NO_TENSORS.replace("WANTED", wanted))
    module = ast.parse(source.text)
    index = SemanticIndex(source, module)
    returned = [node for node in ast.walk(module) if isinstance(node, ast.Return)][-1].value
    assert returned is not None
    assert index.kinds.is_on_device(returned) == on_device


SHOWN_AND_RESET = """
running = 0.0
correct = 0
for epoch in range(3):
    for step, (x, y) in enumerate(loader):
        out = model(x.to(device))
        loss = F.cross_entropy(out, y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
        correct += (out.argmax(1) == y.to(device)).sum().item()
        if step % 100 == 99:
            writer.add_scalar("loss", running / 100, step)
            share = correct / 100
            writer.add_scalar("correct", share, step)
            running = 0.0
            correct = 0
"""


def test_total_that_starts_before_the_epochs_and_anew_where_it_is_shown() -> None:
    becomes(
        SHOWN_AND_RESET,
        """
        running = torch.zeros(1).to(device)
        correct = torch.zeros(1, dtype=torch.long).to(device)
        for epoch in range(3):
            for step, (x, y) in enumerate(loader):
                out = model(x.to(device))
                loss = F.cross_entropy(out, y.to(device))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                running += loss.detach()
                correct += (out.argmax(1) == y.to(device)).sum()
                step_values = torch.stack((running.reshape(()), correct.reshape(()))).detach()
                torch_xla.sync()
                if step % 100 == 99:
                    running_value, correct_value = step_values.tolist()
                    writer.add_scalar("loss", running_value / 100, step)
                    share = int(correct_value) / 100
                    writer.add_scalar("correct", share, step)
                    running = torch.zeros(1).to(device)
                    correct = torch.zeros(1, dtype=torch.long).to(device)
        """,
    )


def test_totals_that_share_their_start_start_in_front_of_the_epochs() -> None:
    text = port(SETUP + SHOWN_AND_RESET.replace("running = 0.0\ncorrect = 0", "running = correct = 0", 1)).text
    assert "running += loss.detach()" in text
    starts = """\
running = torch.zeros(1).to(device)
correct = torch.zeros(1, dtype=torch.long).to(device)
for epoch in range(3):
    for step,"""
    assert starts in text


def test_totals_that_are_set_back_together_get_a_tensor_each() -> None:
    """`a = b = 0` with one tensor for both would add to both."""
    apart = "running = 0.0\n            correct = 0"
    assert apart in SHOWN_AND_RESET
    text = port(SETUP + SHOWN_AND_RESET.replace(apart, "running = correct = at = 0")).text
    resets = """\
            running = correct = at = 0
            running = torch.zeros(1).to(device)
            correct = torch.zeros(1, dtype=torch.long).to(device)
"""
    assert resets in text


def test_total_whose_device_is_chosen_in_every_epoch_is_left_alone() -> None:
    text = SETUP + SHOWN_AND_RESET.replace("running = 0.0\ncorrect = 0", "running = correct = 0", 1)
    text = text.replace("device = torch_xla.device()\n", "").replace(").to(device)\n", ")\n")
    text = text.replace("    for step", "    device = torch_xla.device()\n    model.to(device)\n    for step")
    assert "torch.zeros(1" not in port(text).text


def test_total_of_all_epochs_that_is_shown_behind_each_stays_a_number() -> None:
    text = SETUP + SHOWN_AND_RESET + "    print(running, correct)\n"
    assert "running += loss.detach()" not in port(text).text


def test_functions_of_numpy_around_a_number_become_those_of_torch() -> None:
    result = port(
        SETUP
        + """
import numpy as np
total, perplexities = 0, []
for x, y in loader:
    loss = F.cross_entropy(model(x.to(device)), y.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += np.exp(loss.item())
    perplexities.append(np.exp(loss.item()))
    torch_xla.sync()
print(total, perplexities)
"""
    )
    assert "    total += torch.exp(loss.detach())\n" in result.text
    assert "erplexities.append(torch.exp(loss.detach()))\n" in result.text
    assert result.findings == ()


@pytest.mark.parametrize(("added", "stays"), [("np.sqrt(loss.item() * scale)", False), ("loss.item() * 2.0", True)])
def test_arrays_are_not_multiplied_with_tensors_of_the_device(added: str, stays: bool) -> None:
    text = (
        SETUP
        + f"""
import numpy as np
scale = np.array([1.0, 2.0])
total = 0
for x, y in loader:
    loss = F.cross_entropy(model(x.to(device)), y.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += {added}
    torch_xla.sync()
print(total)
"""
    )
    assert ("loss.detach()" in port(text).text) == stays


def test_bar_that_one_process_shows() -> None:
    text = (
        SETUP
        + """
bar = tqdm(total=10)
total = 0
for step, (x, y) in enumerate(loader):
    loss = F.cross_entropy(model(x.to(device)), y.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.item()
    if rank == 0:
        bar.set_postfix(**{"loss": total / (step + 1)})
        bar.update(1)
"""
    )
    shown = """\
    torch_xla.sync()
    if rank == 0:
        if step % 10 == 0:
            bar.set_postfix(**{"loss": total.item() / (step + 1)})
        bar.update(1)
"""
    assert port(text).text.endswith(shown)


AVERAGED = """
total = 0
for step, (x, y) in enumerate(loader):
    loss = F.cross_entropy(model(x.to(device)), y.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.item()
    if step % 100 == 0:
        total = total / 100
        print("%5.2f %5.2f" % (total, math.exp(total)))
        total = 0
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("total = total / 100", "total = total.item() / 100"),
        ("total /= 100", "total = total.item()\n        total /= 100"),
    ],
)
def test_total_that_becomes_its_average_where_it_is_shown(before: str, after: str) -> None:
    text = """
total = torch.zeros(1).to(device)
for step, (x, y) in enumerate(loader):
    loss = F.cross_entropy(model(x.to(device)), y.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.detach()
    torch_xla.sync()
    if step % 100 == 0:
        AVERAGE
        print("%5.2f %5.2f" % (total, math.exp(total)))
        total = torch.zeros(1).to(device)
"""
    becomes(AVERAGED.replace("total = total / 100", before), text.replace("AVERAGE", after))


@pytest.mark.parametrize("average", ["total = total / 100", "total /= 100", "total -= 100"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        total = 0\n", ""),
        ("        total = 0\n", "        if reset: total = 0\n"),
        ("    if step % 100 == 0:", "    if True:"),
        ("        total = 0\n", "        if total < 0.1:\n            break\n        total = 0\n"),
    ],
    ids=["goes on with the average", "may go on with it", "in every step", "leaves the loop with it"],
)
def test_average_that_needs_the_number_in_every_step(old: str, new: str, average: str) -> None:
    assert old in AVERAGED
    text = AVERAGED.replace(old, new).replace("total = total / 100", average)
    assert "total += loss.detach()" not in port(SETUP + text).text


BEHIND = """
for step, (x, y) in enumerate(loader):
    loss = F.cross_entropy(model(x.to(device)), y.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
{between}
    if step % 100 == 0:
        print("loss %.3f" % (loss.detach()))
"""


@pytest.mark.parametrize(
    ("between", "is_behind"),
    [
        ("    if step % 1000 == 0:\n        show(model(samples).cpu())", True),
        (
            "    for k in range(4):\n        critic_optimizer.zero_grad()\n"
            "        critic(x.to(device)).mean().backward()\n        critic_optimizer.step()\n        torch_xla.sync()",
            True,
        ),
        ("    loss = critic(x.to(device)).mean()", False),
        ("    if step > 3:\n        loss = critic(x.to(device)).mean()", False),
        ("    for k in range(4):\n        loss = critic(x.to(device)).mean()", False),
    ],
    ids=["now and then", "a loop with a boundary", "computed anew", "in most steps", "a loop without a boundary"],
)
def test_work_between_the_boundary_and_a_read(between: str, is_behind: bool) -> None:
    found = check(BEHIND.replace("{between}", between), ("TPU101", "TPU102"))
    assert [code for code, _ in found if code == "TPU102"] == ([] if is_behind else ["TPU102"])


def test_list_that_is_filled_now_and_then_holds_numbers() -> None:
    """A number that is read behind the boundary in one step of five hundred costs nothing to speak of."""
    becomes(
        """
        history, total = [], 0
        for epoch in range(9):
            for step, (x, y) in enumerate(loader):
                loss = F.cross_entropy(model(x.to(device)), y.to(device))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item()
                if step % 500 == 0:
                    history.append(total / (step + 1))
                    history.append(loss.item())
        """,
        """
        history, total = [], torch.zeros(1).to(device)
        for epoch in range(9):
            for step, (x, y) in enumerate(loader):
                loss = F.cross_entropy(model(x.to(device)), y.to(device))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.detach()
                step_values = torch.stack((total.reshape(()), loss)).detach()
                torch_xla.sync()
                if step % 500 == 0:
                    total_value, loss_value = step_values.tolist()
                    history.append(total_value / (step + 1))
                    history.append(loss_value)
        """,
    )


# -------------------------------------------------------------------- what is known to be one number

PARTS = """
import torch
import torch_xla
from networks import Coder

device = torch.device("xla")
model = Coder().to(device)
optimizer = torch.optim.Adam(model.parameters())

def train(loader, variance):
    errors, entropies = [], []
    for x in loader:
        x = x.to(device)
        optimizer.zero_grad()
        distance, found, entropy = model(x)
        error = (found - x).square().flatten(1) / variance
        error = REDUCED
        loss = error + 0.5 * distance
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        errors.append(error.detach().cpu().numpy())
        entropies.append(entropy.cpu().detach().numpy())
    return errors, entropies
"""
NETWORKS = """
import torch
from torch import nn

class Codes(nn.Module):
    def forward(self, z):
        share = z.mean(0)
        return (z.detach() - z).square().mean(), z, ENTROPY

class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.codes = Codes()

    def forward(self, x):
        distance, found, entropy = self.codes(x)
        return distance, found, entropy
"""


@pytest.mark.parametrize("entropy", ["torch.exp(-torch.sum(share * torch.log(share)))", "share * torch.log(share)"])
def test_parts_of_what_a_forward_pass_returns_are_numbers_where_it_says_so(tmp_path: Path, entropy: str) -> None:
    """A term of the loss is one number, whatever it was computed by."""
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "networks.py").write_text(NETWORKS.replace("ENTROPY", entropy))
    (tmp_path / "train.py").write_text(PARTS.replace("REDUCED", "reduce(error)"))
    tpulint("--fix", "--unsafe-fixes", "--select=TPU108", ".", cwd=tmp_path)
    ported = (tmp_path / "train.py").read_text()
    assert "errors.append(error.detach().item())" in ported
    assert ("entropies.append(entropy.detach().item())" in ported) is entropy.startswith("torch.exp")


# -------------------------------------------------------------------- sums in a dict that a function is given

SUMMED = (
    SETUP
    + """
from collections import defaultdict

def measure(output, target, sums, weight=0.5):
    distance = F.binary_cross_entropy_with_logits(output, target)
    loss = OTHER
    sums["distance"] += distance.item() * len(target)
    sums["loss"] += loss.data.cpu().numpy() * len(target)
    return loss

def run(phase):
    sums = defaultdict(float)
    count = 0
    for x, y in loader:
        optimizer.zero_grad()
        loss = measure(model(x.to(device)), y.to(device), sums)
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        count += len(x)
    print({name: value / count for name, value in sums.items()})
"""
)


@pytest.mark.parametrize(("other", "read"), [("distance + distance", "item()"), ("mix(distance)", "cpu().numpy()[()]")])
def test_sums_in_a_dict_of_the_caller_stay_on_the_device(other: str, read: str) -> None:
    ported = port(SUMMED.replace("OTHER", other)).text
    assert '    sums["distance"] += distance.detach() * len(target)\n' in ported
    assert '    sums["loss"] += loss.data * len(target)\n' in ported
    assert f"        count += len(x)\n    sums = {{key: value.{read} for key, value in sums.items()}}\n" in ported


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        count += len(x)\n", "        count += sums['loss']\n"),
        ("    return loss\n", "    print(sums)\n    return loss\n"),
        ("defaultdict(float)", "load(phase)"),
        ("    count = 0\n", "    count = measure(x0, y0, sums)\n"),
    ],
)
def test_sums_in_a_dict_that_is_looked_at_earlier_are_left_alone(old: str, new: str) -> None:
    assert "loss.data.cpu().numpy()" in port(SUMMED.replace("OTHER", "distance + distance").replace(old, new)).text


HELD_ON_THE_HOST = """\
import torch, torch_xla
class Agent:
    def __init__(self, device, options):
        self.net = torch.nn.Linear(3, 3).to(device)
        self.log_weight = torch.zeros(1, requires_grad=True)
        self.optimizer = torch.optim.Adam(self.net.parameters())
        self.device = device
        self.weighted = options.weighted
    def learn(self, x, y):
        x = x.to(self.device)
        loss = torch.nn.functional.cross_entropy(self.net(x), y.to(self.device))
        gap = loss * 2
        weight = torch.FloatTensor([0.0])
        if self.weighted:
            weight = torch.clamp(self.log_weight.exp(), min=0.0).to(self.device)
            gap = weight * gap
        self.optimizer.zero_grad()
        (loss + gap.sum()).backward()
        self.optimizer.step()
        torch_xla.sync()
        return loss.item(), weight.item()
agent = Agent(torch_xla.device(), options)
for x, y in loader:
    agent.learn(x, y)
"""


def test_what_another_branch_puts_on_the_device_may_be_on_the_host() -> None:
    """The tensor that is kept without the option cannot be stacked with those of the device."""
    settings = Settings(fix=True, unsafe_fixes=True, preview=True)
    result = lint(SourceFile.from_text(HELD_ON_THE_HOST), settings, CATALOGUE)
    assert "weight.item()" in result.text
    assert "torch.stack" not in result.text


COMPARED_WITH_NONE = """\
import torch, torch_xla
device = torch_xla.device()
model = torch.nn.Linear(3, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, weight in loader:
    x, weight = x.to(device), weight.to(device)
    if weight == None:
        x = x * 2
    loss = model(x).mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
"""


def test_comparison_with_none_reads_nothing() -> None:
    """`tensor == None` is False at once, whatever the tensor holds."""
    result = lint(SourceFile.from_text(COMPARED_WITH_NONE), Settings(select=("TPU1",), preview=True), CATALOGUE)
    assert not [finding for finding in result.findings if "None" in finding.message]


DECODER_HANDED_OVER = """\
import torch, torch_xla
device = torch_xla.device()
class Recognizer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 3)
    def forward(self, x, lengths, decoder=None):
        y = self.fc(x)
        if decoder is not None and decoder.applies_to_all:
            y = decoder(y)
        return y
def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        for x, lengths in loader:
            y, layers = model(x.to(device), lengths.to(device))
            places = []
            for name in layers.keys():
                if "encoder" in name:
                    places.append(int(name.split("_")[1]))
            for key in layers:
                places.append(int(key.split("-")[1]))
            print(y.cpu(), max(places))
            torch_xla.sync()
model = Recognizer().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, lengths in loader:
    loss = model(x.to(device), lengths.to(device)).mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
"""


def test_what_is_called_and_the_names_in_a_dict_are_no_tensors() -> None:
    result = lint(SourceFile.from_text(DECODER_HANDED_OVER), Settings(select=("TPU1",), preview=True), CATALOGUE)
    messages = " ".join(finding.message for finding in result.findings)
    assert "`y`" in messages
    assert "applies_to_all" not in messages
    assert "name.split" not in messages
    assert "key.split" not in messages


LAST_LOSS = """\
import torch, torch_xla
device = torch_xla.device()
model = torch.nn.Linear(3, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    last = {first}
    for x in loader:
        loss = model(x.to(device)).mean()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        last = loss.item()
    print(f"epoch {{epoch}}: {{last:.4f}}")
"""


@pytest.mark.parametrize(("first", "kept"), [("0.0", True), ("None", False)], ids=["a number", "nothing"])
def test_the_last_loss_is_read_behind_the_loop(first: str, kept: bool) -> None:
    """A loop without turns leaves the number of before, which is no tensor: `float` takes both."""
    settings = Settings(fix=True, unsafe_fixes=True, select=("TPU1",), preview=True)
    text = lint(SourceFile.from_text(LAST_LOSS.format(first=first)), settings, CATALOGUE).text
    assert ("last = loss.detach()\n" in text) is kept
    assert ("{float(last):.4f}" in text) is kept


LATE_VALUE = """
class Trainer:
    def __init__(self):
        self.aux = None

    def fit(self):
        aux = FIRST
        for step, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            output = model(x.to(device))
            loss = F.mse_loss(output, y.to(device))
            if step >= 5:
                AUX = output.pow(2).mean()
                loss = loss + AUX
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            SHOWN
"""


@pytest.mark.parametrize("first", ["None", "0", "-1.0", "None if debug else 0.0"])
@pytest.mark.parametrize(
    ("aux", "shown"),
    [
        ("aux", "if step % 10 == 9: print(loss.item(), aux.item())"),
        ("aux", "if step % 10 == 9 and aux is not None: print(loss.item(), aux.item())"),
        ("aux", "print(loss.item(), output.mean().item())\n            if step % 10 == 9: print(aux.item())"),
        ("aux", "print(float(loss), float(aux))"),
        ("aux", "if step < 5: continue\n            print(loss.item(), aux.item())"),
        ("self.aux", "if step % 10 == 9: print(loss.item(), self.aux.item())"),
        ("self.aux", "if self.aux is not None: print(loss.item(), self.aux.item())"),
    ],
)
def test_what_is_none_or_a_number_at_first_is_not_stacked(first: str, aux: str, shown: str) -> None:
    text = LATE_VALUE.replace("FIRST", first).replace("AUX", aux).replace("SHOWN", shown)
    ported = port(SETUP + text, select=("TPU106",)).text
    stacked = [line for line in ported.splitlines() if "torch.stack" in line]
    assert not any("aux" in line for line in stacked), stacked


@pytest.mark.parametrize(
    ("held", "guard", "together"),
    [
        ("aux", "step % 10 == 9", True),
        ("aux", "aux is not None", False),
        ("aux", "step % 10 == 9 and aux is not None", False),
        ("self.aux", "step % 10 == 9", True),
        ("self.aux", "self.aux is not None", False),
    ],
)
def test_what_every_turn_sets_is_stacked_unless_it_is_asked_for(held: str, guard: str, together: bool) -> None:
    text = (
        LATE_VALUE.replace("FIRST", "None")
        .replace("step >= 5", "step < 0")
        .replace(
            "SHOWN",
            f"""\
if {guard}:
                print(loss.item(), {held}.item())""",
        )
    )
    text = text.replace(
        "            loss.backward()", f"            {held} = output.std()\n            loss.backward()"
    )
    ported = port(SETUP + text.replace("AUX", "extra"), select=("TPU106",)).text
    assert ("step_values.tolist()" in ported) == together


@pytest.mark.parametrize(
    ("shown", "stacked"),
    [
        ("if extra: print(aux.item())", "loss, norm, loss if aux is None else aux"),
        ("if aux is not None: print(float(aux))", "loss, norm, loss if aux is None else aux"),
        ("if aux is not None and step % 10 == 9: print(aux.item())", "loss, norm, loss if aux is None else aux"),
        ("if extra: print(aux.item())\n    if extra: print(aux)", "loss, norm, loss if aux is None else aux"),
        ("if extra: print(aux)", "loss, norm"),  # it may print None
        ("if extra: print(bool(aux))", "loss, norm"),
        ("print(aux.item() if extra else 0)", "loss, norm"),
    ],
)
def test_another_value_stands_in_for_what_some_turns_do_not_have(shown: str, stacked: str) -> None:
    text = f"""
for step, (x, y) in enumerate(loader):
    output = model(x.to(device))
    loss, norm = F.mse_loss(output, y.to(device)), output.norm()
    aux = None
    if extra:
        aux = output.mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    print(loss.item(), norm.item())
    {shown}
"""
    ported = port(SETUP + text, select=("TPU106",)).text
    assert f"torch.stack(({stacked}))" in ported
    assert ("print(aux)" in ported) == ("print(aux)" in shown)
    number = port(SETUP + text.replace("aux = None", "aux = 0.0"), select=("TPU106",)).text
    assert "torch.stack((loss, norm))" in number and "aux_value" not in number


LATE_ELEMENT = """
logs = LOGS
history = []
for step, (x, y) in enumerate(loader):
    output = model(x.to(device))
    loss = F.mse_loss(output, y.to(device))
    loss.backward()
    PUT
    optimizer.step()
    torch_xla.sync()
    if step % 10 == 9:
        print(loss.item(), SHOWN.item())
"""


@pytest.mark.parametrize(
    ("logs", "put", "shown", "together"),
    [
        ("{}", 'if step > 4: logs["late"] = output.mean()', 'logs["late"]', False),
        ("{}", 'logs["late"] = output.mean()', 'logs["late"]', True),
        ("{}", 'logs["other"] = output.mean()', 'logs["late"]', False),
        ('{"late": output.mean()}', "pass", 'logs["late"]', True),
        ("[]", "if step % 2: history.append(loss.detach())", "history[-1]", False),
        ("[]", "history.append(output.mean().detach())", "history[-1]", True),
        ("[]", "history.append(output.mean().detach())", "history[-2]", False),
    ],
)
def test_what_a_dict_or_list_may_not_hold_yet_is_not_stacked(logs: str, put: str, shown: str, together: bool) -> None:
    text = LATE_ELEMENT.replace("LOGS", logs).replace("PUT", put).replace("SHOWN", shown)
    if "output" in logs:
        text = text.replace(f"logs = {logs}\n", "").replace(
            "    loss.backward()", f"    logs = {logs}\n    loss.backward()"
        )
    ported = port(SETUP + text, select=("TPU106",)).text
    assert ("step_values.tolist()" in ported) == together


FETCHED_IN_BLOCK = """
seen = {}
for step, (x, y) in enumerate(loader):
    output = model(x.to(device))
    loss, norm, mean = F.mse_loss(output, y.to(device)), output.norm(), output.mean()
    loss.backward()
    optimizer.step()
    step_values = torch.stack((norm, loss)).detach()
    torch_xla.sync()
    ADDED
    if step % 10 == 0:
        norm_value, loss_value = step_values.tolist()
        SHOWN
"""


@pytest.mark.parametrize(
    ("added", "stacked", "fetched"),
    [
        ("print(LOSS)\n    seen.update(norm=NORM)", "norm, loss", "norm_value, loss_value"),
        ("seen.update(loss=LOSS)\n    print(MEAN)", "norm, loss, mean", "norm_value, loss_value, mean_value"),
        ("last = MEAN\n    print(NORM, last)", "norm, loss, mean", "norm_value, loss_value, last"),
    ],
)
def test_values_that_some_steps_fetch_are_fetched_in_each_with_those_of_each(
    added: str, stacked: str, fetched: str
) -> None:
    text = FETCHED_IN_BLOCK.replace("SHOWN", "print(norm_value, loss_value)")
    read = added
    for name in ("loss", "norm", "mean"):
        read = read.replace(name.upper(), f"{name}.item()")
        added = added.replace(f"last = {name.upper()}\n    ", "").replace(name.upper(), f"{name}_value")
    expected = text.replace("(norm, loss))", f"({stacked}))")
    expected = expected.replace("        norm_value, loss_value = step_values.tolist()\n", "")
    expected = expected.replace("    ADDED", f"    {fetched} = step_values.tolist()\n    {added}")
    assert port(SETUP + text.replace("ADDED", read), select=("TPU106",)).text == SETUP + expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # What else needs the numbers of the last block, or its variables, would see those of other steps.
        ("SHOWN\n", "print(norm_value)\nprint(loss_value)\n"),
        ("    ADDED", "    norm_value = 0.0\n    ADDED"),
        ("        SHOWN\n", "        print(norm_value)\n    if step % 20 == 0:\n        print(loss_value)\n"),
        ("        SHOWN\n", ""),
        ("    if step", "    for _ in range(2):\n     if step"),
    ],
)
def test_values_that_some_steps_fetch_and_others_may_need_are_left_as_they_are(before: str, after: str) -> None:
    text = FETCHED_IN_BLOCK.replace(before, after).replace("SHOWN", "print(norm_value)")
    fixed = port(SETUP + text.replace("ADDED", "print(norm.item(), loss.item())"), select=("TPU106",)).text
    assert "norm_value, loss_value = step_values.tolist()\n    print" not in fixed
    assert "step_values_2.tolist()" in fixed


def test_one_value_of_each_step_is_read_by_itself() -> None:
    text = FETCHED_IN_BLOCK.replace("SHOWN", "print(norm_value, loss_value)").replace("ADDED", "print(loss.item())")
    result = port(SETUP + text, select=("TPU106",))
    assert result.text == SETUP + text and not result.findings


@pytest.mark.parametrize(("later", "together"), [("", True), ("print(value.shape)", False), ("value = 1", True)])
def test_the_last_tensor_of_a_dict_stays_one_for_what_follows_its_loop(later: str, together: bool) -> None:
    text = f"""
for step, (x, y) in enumerate(loader):
    output = model(x.to(device))
    losses = {{"a": F.mse_loss(output, y.to(device)), "b": output.pow(2).mean()}}
    sum(losses.values()).backward()
    optimizer.step()
    torch_xla.sync()
    for name, value in losses.items():
        writer.add_scalar(name, value.item(), step)
    {later}
"""
    assert (".tolist()" in port(SETUP + text, select=("TPU106",)).text) == together


LEAVING = """
losses = []
for step, (x, y) in enumerate(loader):
    loss = F.cross_entropy(model(x.to(device)), y.to(device))
    loss.backward()
    losses.append(loss.item())
    GUARD
    optimizer.step()
    optimizer.zero_grad()
    torch_xla.sync()
    print(sum(losses))
    losses = []
"""


@pytest.mark.parametrize(
    ("guard", "moves"),
    [
        ("if step % 4: continue", False),
        ("if step > 90: break", False),
        ("for p in model.parameters():\n        if p.grad is None: continue", True),
        ("pass", True),
    ],
)
def test_what_a_turn_that_is_left_has_done_does_not_move_behind_the_boundary(guard: str, moves: bool) -> None:
    ported = port(SETUP + LEAVING.replace("GUARD", guard), select=("TPU101",)).text
    assert (ported.index("losses.append") > ported.index("torch_xla.sync()")) == moves


WINDOW = """
MADE
for step, (x, y) in enumerate(loader):
    loss = F.cross_entropy(model(x.to(device)), y.to(device))
    loss.backward()
    window.append(loss.item())
    KEPT
    optimizer.step()
    optimizer.zero_grad()
    torch_xla.sync()
"""


@pytest.mark.parametrize("made", ["window = []", "window, names = [], []", "window = collections.deque()"])
@pytest.mark.parametrize(
    "kept", ["if len(window) > 3:\n        window.pop(0)", "window.sort()", "while len(window) > 3: window.clear()"]
)
def test_what_takes_from_a_list_does_not_go_before_what_is_put_into_it(made: str, kept: str) -> None:
    text = "import collections\n" + SETUP + WINDOW.replace("MADE", made).replace("KEPT", kept)
    ported = port(text, select=("TPU101", "TPU106")).text
    assert ported.index("window.append") < ported.index(kept.partition("\n")[0])


NOTING = """
noted = []
def note(value):
    noted.append(value)
def count():
    return len(noted)
for step, (x, y) in enumerate(loader):
    loss = F.cross_entropy(model(x.to(device)), y.to(device))
    loss.backward()
    note(loss.item())
    KEPT
    optimizer.step()
    optimizer.zero_grad()
    torch_xla.sync()
"""


@pytest.mark.parametrize("kept", ["noted.pop()", "if len(noted) > 3: noted.clear()", "numbers.append(count())"])
def test_functions_change_and_read_what_stands_around_them(kept: str) -> None:
    text = "numbers = []\n" + SETUP + NOTING.replace("KEPT", kept)
    ported = port(text, select=("TPU101", "TPU106")).text
    assert ported.index("    note(loss") < ported.index(kept)


WHOLE = """
names = ["a", "b", "c"]
for step, (x, y) in enumerate(loader):
    y = y.to(device)
    output = model(x.to(device))
    loss = F.cross_entropy(output, y)
    norm = output.norm()
    found = search(output) if step < 0 else torch.relu(output)[0, 0]
    best = output.argmax(-1)[0]
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    TURN
"""


@pytest.mark.parametrize("turn", ["if step % 10 == 0: ", ""])
@pytest.mark.parametrize(
    "used",
    [
        "idx = y.max().item(); name = names[idx]",
        "idx = found.item(); name = names[idx - 1]",
        "longest = found.item(); print(list(range(longest + 1)))",
        "first = y[0].item(); print(names[:first])",
        "k = found.item(); print(f'{k:d}')",
        "k = found.item(); print('{:4d}'.format(k))",
        "k = found.item(); print('{:.2f} {:4d}'.format(step, k))",
        "k = found.item(); print('{1:4d} {0}'.format(step, k))",
        "k = found.item(); print('{:4d} {}'.format(*(k, step)))",
        "k = found.item(); print('{:{}} {:d}'.format(step, 4, k))",
        "print(isinstance(found.item(), int))",
        "print(bool(found.item()))",
        "print(y.max().item())",
        "print(y[0].item(), torch.max(y).item())",
        "print((y == 1).any().item())",
        "print((y == 1).all().item())",
        "print(torch.isfinite(output).all().item())",
        "print(output.max(1)[0].isnan().any().item())",
    ],
)
def test_integers_and_booleans_are_not_fetched_as_floats(turn: str, used: str) -> None:
    lines = WHOLE.replace("TURN", f"{turn}{used}; print(loss.item(), norm.item())")
    ported = port(SETUP + lines, select=("TPU106",)).text
    assert "step_values = torch.stack((loss, norm)).detach()" in ported
    assert used.replace("; ", "\n    ").splitlines()[0] in ported


@pytest.mark.parametrize(
    "shown",
    ["'{:4d} {:.4f}'.format(step, LOSS)", "'{0:4d} {1:.4f} {1}'.format(step, LOSS)", "'{1:4d} {0}'.format(LOSS, step)"],
)
def test_what_is_shown_beside_an_integer_is_fetched_with_the_others(shown: str) -> None:
    lines = WHOLE.replace("TURN", f"print(norm.item()); print({shown})".replace("LOSS", "loss.item()"))
    ported = port(SETUP + lines, select=("TPU106",)).text
    assert shown.replace("LOSS", "loss_value") in ported


@pytest.mark.parametrize("turn", ["if step % 10 == 0: ", ""])
@pytest.mark.parametrize(
    ("used", "becomes_one"),
    [
        ("idx = best.item(); name = names[idx]", "int(best_value)"),
        ("print((y == 1).sum().item())", "int(matches_value)"),
        ("print(int(y.max()))", "int(y_max_value)"),
        ("k = int(output[0, 0]); name = names[k]", "k = int(output_value)"),
        ("print(best is None or loss.item() < best, loss.item())", "step_values"),
        ("print(y.float().mean().item())", "print(y_value)"),
        ("print(output.max().item())", "print(output_max_value)"),
    ],
)
def test_numbers_of_known_sort_are_fetched_together(turn: str, used: str, becomes_one: str) -> None:
    lines = WHOLE.replace("TURN", f"{turn}{used}; print(loss.item(), norm.item())")
    ported = port(SETUP + lines, select=("TPU106",)).text
    assert becomes_one in ported


# -------------------------------------------------------------------- an `else` of the loop

LEFT_BY_ELSE = """
losses = []
for epoch in range(3):
    total = 0.0
    for x, _ in loader:
        loss = model(x.to(device)).mean()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        {kept}
        if stop():
            break
    else:
        continue
    break
print(losses, total)
"""


@pytest.mark.parametrize(
    ("kept", "code"), [("losses.append(loss.item())", "TPU105"), ("total += loss.item()", "TPU104")]
)
def test_what_an_else_of_the_loop_would_skip_is_not_put_behind_it(kept: str, code: str) -> None:
    text = LEFT_BY_ELSE.format(kept=kept)
    result = port(SETUP + text, select=("TPU104", "TPU105"))
    assert result.text.removeprefix(SETUP) == text
    assert [finding.code for finding in result.findings] == [code]


def test_sums_in_a_dict_are_not_read_behind_a_loop_with_an_else() -> None:
    text = """
    def train():
        for epoch in range(3):
            sums = {"loss": 0.0}
            for x, _ in loader:
                loss = model(x.to(device)).mean()
                loss.backward()
                optimizer.step()
                torch_xla.sync()
                sums["loss"] += loss.item()
            ELSE
            print(sums)
    """
    mended = port(SETUP + dedent(text.replace("            ELSE\n", ""))).text
    assert ".item()" not in mended.partition("+=")[2].partition("\n")[0]
    given_up = dedent(text.replace("ELSE", "else:\n                continue"))
    assert port(SETUP + given_up, select=("TPU101", "TPU104")).text.removeprefix(SETUP) == given_up


@pytest.mark.parametrize(
    ("other", "is_summed"),
    [
        ('sums["norm"] += norm.item()', True),
        ('sums["count"] += len(x)', True),
        ('print(sums["count"])', True),
        ('sums["count"] = 3', True),
        ('print(sums["loss"])', False),
        ("print(sums)", False),
        ("print(sums[NAME])", False),
        ('print(sums.get("count"))', False),
        ("for key in sums: print(key)", False),
        ('print(others.sums["count"])', False),  # it may be the same
    ],
)
def test_sum_in_a_dict_with_other_entries(other: str, is_summed: bool) -> None:
    text = f"""
for epoch in range(3):
    sums = {{"loss": 0.0, "norm": 0.0, "count": 0}}
    for x, _ in loader:
        loss, norm = model(x.to(device)).mean(), model.weight.norm()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        sums["loss"] += loss.item()
        {other}
    print(sums)
"""
    mended = port(SETUP + text, select=("TPU101", "TPU104")).text
    assert ('    sums["loss"] += device_loss.item()\n' in mended) is is_summed
    if "norm.item()" in other:
        assert '    sums["norm"] += device_norm.item()\n' in mended


# -------------------------------------------------------------------- what is put together early

EARLY = """
import random
import time
ids, stack, t0 = iter(range(9)), [1], 0
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
for step, (x, _) in enumerate(loader):
    optimizer.zero_grad()
    loss = model(x.to(device)).mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    {early}
    if step % 10 == 0:
        {late}
"""


@pytest.mark.parametrize(
    "value",
    [
        "[next(ids), loss.item()]",
        '{"i": stack.pop(), "loss": loss.item()}',
        'f"{tick()} {loss.item():.3f}"',
        "(time.time() - t0, loss.item())",
        "[random.random(), loss.item()]",
        "[*ids, loss.item()]",
        "[[i for i in ids], loss.item()]",
        '"{} {}".format(next(ids), loss.item())',
        "[torch.rand(1), loss.item()]",
    ],
)
def test_what_does_more_than_look_is_put_together_in_every_step(value: str) -> None:
    text = EARLY.format(early=f"line = {value}", late="print(line)")
    result = port(SETUP + text, select=("TPU101", "TPU102"))
    assert result.text.removeprefix(SETUP) == text


@pytest.mark.parametrize(
    "value",
    [
        '{"lr": optimizer.param_groups[0]["lr"], "loss": round(float(loss), 3)}',
        "[len(loader), loss.detach().cpu().numpy(), scheduler.get_last_lr()]",
        'f"{math.exp(loss.item()):.3f}"',
        '"{} {:.3f}".format(step, loss.item())',
    ],
)
def test_what_only_looks_is_put_together_where_it_is_shown(value: str) -> None:
    result = port(SETUP + EARLY.format(early=f"line = {value}", late="print(line)"), select=("TPU101",))
    assert result.text.removeprefix(SETUP) == EARLY.format(
        early="", late=f"line = {value}\n        print(line)"
    ).replace("    \n", "")


def test_a_rate_is_looked_at_before_the_scheduler_changes_it() -> None:
    early = 'line = [optimizer.param_groups[0]["lr"], loss.item()]\n    scheduler.step()'
    text = EARLY.format(early=early, late="print(line)")
    assert port(SETUP + text, select=("TPU101",)).text.removeprefix(SETUP) == text


def test_what_is_put_together_in_one_block_keeps_its_order() -> None:
    lines = ["a = [loss.item()]", 'b = {"loss": loss.item()}', 'c = f"{loss.item():.3f}"']
    result = port(SETUP + EARLY.format(early="\n    ".join(lines), late="print(a, b, c)"), select=("TPU101", "TPU102"))
    late = "\n        ".join([*lines, "print(a, b, c)"])
    assert result.text.removeprefix(SETUP) == EARLY.format(early="", late=late).replace("    \n", "")


COPIED = """
import numpy as np
for step, (x, y) in enumerate(loader):
    output, y = model(x.to(device)), y.to(device)
    loss = F.cross_entropy(output, y)
    loss.backward()
    {early}
    optimizer.step()
    torch_xla.sync()
    if {gate}:
        {late}
"""


@pytest.mark.parametrize(
    "lines",
    [
        ["image = output.detach().cpu().numpy()"],
        ["image = output.cpu().data.numpy().copy()", "image = np.argmin(image, axis=1)"],
        ["image = output.detach().cpu().numpy()", "flat = image.reshape(-1)", "image = np.clip(image, 0, flat.max())"],
        ["image = output.detach().softmax(1).cpu()"],
    ],
)
@pytest.mark.parametrize("gate", ["step % 20 == 1", "np.mod(step, 20) == 1", "not math.fmod(step, 20)"])
def test_what_is_copied_in_every_step_and_looked_at_in_some_is_copied_there(lines: list[str], gate: str) -> None:
    result = port(SETUP + COPIED.format(early="\n    ".join(lines), gate=gate, late="show(image)"), select=("TPU101",))
    late = "\n        ".join([*lines, "show(image)"])
    assert result.text.removeprefix(SETUP) == COPIED.format(early="", gate=gate, late=late).replace("    \n", "")
    assert not result.findings


def test_copies_of_several_keep_their_order() -> None:
    lines = ["image = output.cpu().data.numpy()", "image = np.argmin(image, axis=1)", "truth = y.cpu().numpy().copy()"]
    text = COPIED.format(early="\n    ".join(lines), gate="step % 20 == 1", late="show(image, truth)")
    late = "\n        ".join([*lines, "show(image, truth)"])
    assert port(SETUP + text, select=("TPU101",)).text.removeprefix(SETUP) == COPIED.format(
        early="", gate="step % 20 == 1", late=late
    ).replace("    \n", "")


@pytest.mark.parametrize(
    "early",
    [
        "image = output.detach().cpu().numpy()\n    show(image)",  # looked at in every step
        "image = output.detach().cpu().numpy()\n    image = augment(image)",  # by what may do more than look
        "image = output.detach().cpu().numpy()\n    image = np.random.permutation(image)",
        "weight = model.weight\n    image = weight.detach().cpu().numpy()",  # which the update changes
        "weight = model.weight.detach()\n    image = weight.view(-1).cpu().numpy()",
        "image = model.weight.detach().cpu().numpy()",
        "image = output.detach().cpu().numpy()\n    output.mul_(2)",
    ],
)
def test_copies_that_another_time_would_make_otherwise_stay(early: str) -> None:
    text = COPIED.format(early=early, gate="step % 20 == 1", late="show(image)")
    assert "if step % 20 == 1:\n        show(image)\n" in port(SETUP + text, select=("TPU101",)).text


SHOWN_AND_KEPT = """
losses = []
for step, (x, _) in enumerate(loader):
    optimizer.zero_grad()
    loss = model(x.to(device)).mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    losses.append(loss.item())
    {other}
"""


@pytest.mark.parametrize("other", ["print(step, loss.item())", "if loss.item() < 1:\n        best = step"])
def test_a_list_takes_the_number_that_each_step_asks_for_anyway(other: str) -> None:
    result = port(SETUP + SHOWN_AND_KEPT.format(other=other))
    assert result.text.removeprefix(SETUP) == SHOWN_AND_KEPT.format(other=other).replace(
        "    losses", "    loss_value = loss.item()\n    losses", 1
    ).replace("append(loss.item())", "append(loss_value)").replace(other, other.replace("loss.item()", "loss_value"))


@pytest.mark.parametrize(
    "other",
    [
        "if step % 10 == 0:\n        print(step, loss.item())",
        "print(step, x.shape)",
        "bar.set_postfix(loss=loss.item())",
    ],
)
def test_a_list_keeps_tensors_where_no_step_asks_for_the_number(other: str) -> None:
    result = port(SETUP + SHOWN_AND_KEPT.format(other=other))
    assert "losses.append(loss.detach())" in result.text


GRADIENT_READ = """
for step, (x, _) in enumerate(loader):
    loss = model(x.to(device)).mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    print(step, loss.item())
    {between}
    print(loss.item(), {read})
"""


@pytest.mark.parametrize(
    ("between", "read", "moves"),
    [
        ("optimizer.zero_grad(set_to_none=False)", "model.weight.grad.norm().item()", False),
        ("optimizer.step()", "model.weight.norm().item()", False),
        ("pass", "model.weight.grad.norm().item()", True),
        ("optimizer.zero_grad(set_to_none=False)", "loss.sqrt().item()", True),
    ],
)
def test_what_is_fetched_together_is_read_before_weights_and_gradients_change(
    between: str, read: str, moves: bool
) -> None:
    result = port(SETUP + GRADIENT_READ.format(between=between, read=read), select=("TPU101", "TPU106"))
    assert ("torch.stack(" in result.text) == moves
    assert (f", {read})" in result.text) != moves


CONFUSION = """
confusion = {made}
{default}
with torch.no_grad():
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        for t, p in zip(y.view(-1), model(x).argmax(1).view(-1)):
            confusion[t.long(), p.long()] += 1
"""


@pytest.mark.parametrize(
    ("made", "default", "told"),
    [
        ("torch.zeros(3, 3)", "", [("TPU101", "warning")] * 2),
        ("torch.zeros(3, 3, device=device)", "", [("TPU201", "error")]),  # a place of no dimensions is a number, too
        ("torch.zeros(3, 3)", "torch.set_default_device(device)", []),
        ("{}", "", []),
    ],
)
def test_places_that_are_tensors(made: str, default: str, told: list[tuple[str, str]]) -> None:
    assert check(CONFUSION.format(made=made, default=default), ("TPU101", "TPU201")) == told


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("kept[step] = loss", 1),
        ("kept[step] = loss.detach()", 1),
        ("kept[step] = step", 0),
        ("shared[step] = loss", 0),
        ("kept[step].copy_(loss)", 1),
        ("shared[step].copy_(loss)", 0),
        ("table[step] = loss.detach()", 1),
        ("table[step] += loss.detach()", 1),
        ("table[step] += step", 0),
        ("shared[step] += loss", 0),
        ("first, second = map(float, [loss, step])", 1),
        ("tracker.debug('loss', loss)", 0),
    ],
)
def test_what_is_put_into_a_tensor_on_the_host(line: str, told: int) -> None:
    text = f"""
        import numpy
        from labml import tracker
        kept, shared, table = torch.zeros(9), torch.zeros(9, device=device), numpy.zeros(9)
        for step, (x, _) in enumerate(loader):
            loss = model(x.to(device)).mean()
            loss.backward()
            optimizer.step()
            {line}
            torch_xla.sync()
    """
    assert len(check(text, ("TPU101", "TPU102"))) == told


def test_losses_of_several_kinds_that_are_added_up() -> None:
    text = """
        for images, targets in loader:
            losses = model(images.to(device), targets)
            total = sum(loss for loss in losses.values())
            print(total.item())
            total.backward()
            optimizer.step()
            torch_xla.sync()
    """
    assert check(text, ("TPU101",)) == [("TPU101", "error")]


def test_total_of_a_declared_type() -> None:
    becomes(
        """
        total: float = 0.0  # of all batches
        for x, y in loader:
            loss = model(x.to(device)).mean()
            loss.backward()
            optimizer.step()
            total += loss.item()
            torch_xla.sync()
        print(total)
        """,
        """
        total = torch.zeros(1).to(device)  # of all batches
        for x, y in loader:
            loss = model(x.to(device)).mean()
            loss.backward()
            optimizer.step()
            total += loss.detach()
            torch_xla.sync()
        total = total.item()
        print(total)
        """,
    )


def test_share_of_a_batch_that_is_added_up_behind_the_update() -> None:
    """Arithmetic on the number does not matter where no boundary is set yet: that one comes behind it."""
    before = """
        total = 0.0
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            optimizer.zero_grad()
            output = model(x)
            F.cross_entropy(output, y).backward()
            optimizer.step()
            share = (output.argmax(1) == y).sum().item() / y.size(0)
            total += share
        print(total)
    """
    after = """
        total = torch.zeros(1).to(device)
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            optimizer.zero_grad()
            output = model(x)
            F.cross_entropy(output, y).backward()
            optimizer.step()
            share = (output.argmax(1) == y).sum() / y.size(0)
            total += share.detach()
            torch_xla.sync()
        total = total.item()
        print(total)
    """
    becomes(before, after)


COMPUTED_LATE = """
for step, (x, y) in enumerate(loader):
    x, y = x.to(device), y.to(device)
    output = model(x)
    F.cross_entropy(output, y).backward()
    optimizer.step()
    optimizer.zero_grad()
    {early}torch_xla.sync()
    {late}
"""


@pytest.mark.parametrize(
    ("late", "early", "left"),
    [
        (
            "right = torch.eq(output.argmax(1), y).sum().item()\n    print(right)",
            "right = torch.eq(output.argmax(1), y).sum()",
            "right = right.item()\n    print(right)",
        ),
        (
            "share = output.argmax(1).eq(y).sum().item() / len(y)\n    print(share)",
            "result = output.argmax(1).eq(y).sum()",
            "share = result.item() / len(y)\n    print(share)",
        ),
        (
            "wrong = output.argmax(1).ne(y).cpu().sum()\n    share = 100.0 * wrong / len(y)\n    print(f'{share:.2f}')",
            "wrong = output.argmax(1).ne(y)",
            "wrong = wrong.cpu().sum()\n    share = 100.0 * wrong / len(y)\n    print(f'{share:.2f}')",
        ),
        (
            "answers = output.topk(k=1)[1].view(-1).cpu().numpy()\n    keep(answers)",
            "answers = output.topk(k=1)[1].view(-1)",
            "answers = answers.cpu().numpy()\n    keep(answers)",
        ),
        ("keep(output.argmax(1).tolist())", "result = output.argmax(1)", "keep(result.tolist())"),
        ("keep((output > 0).tolist())", "result = output > 0", "keep(result.tolist())"),
        ("right = (output > y).cpu().numpy()", "right = output > y", "right = right.cpu().numpy()"),
    ],
)
def test_what_is_read_behind_the_boundary_is_computed_in_front_of_it(late: str, early: str, left: str) -> None:
    becomes(COMPUTED_LATE.format(early="", late=late), COMPUTED_LATE.format(early=early + "\n    ", late=left))


@pytest.mark.parametrize(
    "late",
    [
        "output = output * 2\n    print(output.sum().item())",
        "output.mul_(2)\n    print(output.sum().item())",
        "print([part.sum().item() for part in output])",
        "print(score(output).sum().item())",
        "print(output.sum().item() if step else 0)",
        "show(output)\n    print(output.sum().item())",
        "parts = output.detach()\n    parts.mul_(2)\n    print(output.sum().item())",
        "torch.clamp(output, max=0, out=output)\n    print(output.sum().item())",
        "print(output[step].sum().item())",
        "output.mul_(2)\n    keep(output.argmax(1).cpu().numpy())",
        "keep([part.argmax(0).tolist() for part in output])",
        "keep([(part > 0).tolist() for part in output])",
        "keep((output * step).tolist())",
    ],
)
def test_what_cannot_be_computed_earlier(late: str) -> None:
    text = SETUP + COMPUTED_LATE.format(early="", late=late)
    assert port(text, select=("TPU101",)).text == text


def test_what_an_evaluation_fetches_is_computed_in_front_of_its_boundary() -> None:
    before = """
        model.eval()
        with torch.no_grad():
            for x, _ in loader:
                output = model(x.to(device))
                torch_xla.sync()
                answers = output.detach().max(dim=1)[1].cpu().numpy()
                keep(answers)
    """
    after = before.replace("torch_xla", "answers = output.detach().max(dim=1)[1]\n                torch_xla").replace(
        "answers = output.detach().max(dim=1)[1].cpu", "answers = answers.cpu"
    )
    becomes(before, after)


def test_old_value_of_a_variable_that_is_looked_at_before_it_is_read_anew() -> None:
    late = "print(right)\n    right = torch.eq(output.argmax(1), y).sum().item()"
    early = "result = torch.eq(output.argmax(1), y).sum()\n    "
    left = "print(right)\n    right = result.item()"
    before, after = COMPUTED_LATE.format(early="", late=late), COMPUTED_LATE.format(early=early, late=left)
    becomes(f"right = 0{before}", f"right = 0{after}")


# -------------------------------------------------------------------- metrics that check what they are given


def of_metric(made: str, given: str) -> list[tuple[str, str]]:
    """What is found where a step gives a metric values."""
    return check(
        f"""
        import torchmetrics
        from torchmetrics import MetricCollection, classification
        metric = {made}
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            out = model(x)
            _, predicted = torch.max(out, 1)
            loss = F.cross_entropy(out, y)
            loss.backward()
            optimizer.step()
            {given}
            torch_xla.sync()
        """,
        ("TPU143",),
    )


@pytest.mark.parametrize(
    ("made", "given"),
    [
        ('torchmetrics.Accuracy(task="multiclass", num_classes=3).to(device)', "metric(predicted, y)"),
        ('torchmetrics.Accuracy("multiclass", num_classes=3).to(device)', "metric.update(out.max(1)[1], y)"),
        ("classification.MulticlassF1Score(3).to(device)", "metric(out.max(1).indices, target=y)"),
        ("classification.MulticlassAUROC(3).to(device)", "metric.update(out, y)"),
        ("classification.BinaryPrecision().to(device)", "metric.update(out[:, 0], y == 1)"),
        ('MetricCollection({"f": torchmetrics.F1Score("binary")}).to(device)', "metric.update(out[:, 0], y == 1)"),
    ],
)
def test_metric_checks_what_a_step_gives_it(made: str, given: str) -> None:
    assert of_metric(made, given) == [("TPU143", "warning")]


@pytest.mark.parametrize(
    ("made", "given"),
    [
        ('torchmetrics.Accuracy(task="multiclass", num_classes=3).to(device)', "metric(out, y)"),
        ('torchmetrics.Accuracy(task="multiclass", num_classes=3)', "metric(predicted.cpu(), y.cpu())"),
        ('torchmetrics.Accuracy(task="multiclass", num_classes=3, **options)', "metric(predicted, y)"),
        ("torchmetrics.Accuracy(task=task, num_classes=3).to(device)", "metric(predicted, y)"),
        ("classification.BinaryAUROC().to(device)", "metric.update(out[:, 0], y == 1)"),
        ("classification.BinaryAccuracy(validate_args=False).to(device)", "metric.update(out[:, 0], y == 1)"),
        ("torchmetrics.MeanSquaredError().to(device)", "metric.update(out, out)"),
        ("classification.BinaryAccuracy().to(device)", "metric.reset()"),
        ("classification.BinaryAccuracy().to(device)", "metric.update()"),
    ],
)
def test_metric_that_reads_nothing_of_the_device(made: str, given: str) -> None:
    assert of_metric(made, given) == []


SEVERAL_UPDATES = """
history = {"inner": [], "outer": []}
for epoch in range(epochs):
    PREPARE
    for _ in range(5):
        loss = model(torch.rand(8, 4).to(device)).mean()
        loss.backward()
        optimizer.step()
        TARGET.append(loss.item())
    LOOK
    loss = model(torch.rand(8, 4).to(device)).mean()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("prepare", "target", "look", "is_outside"),
    [
        ("pass", 'history["inner"]', "pass", True),
        ("pass", 'history["inner"]', 'print(sum(history["inner"]))', False),  # it needs the numbers in every turn
        ("inner = []", "inner", 'history["inner"].append(sum(inner) / 5)', False),  # it is of this turn
    ],
)
def test_list_of_several_updates_for_one(prepare: str, target: str, look: str, is_outside: bool) -> None:
    """What an inner loop of a step collects is read once behind all turns: no graph of its own in every turn."""
    text = SEVERAL_UPDATES.replace("PREPARE", prepare).replace("TARGET", target).replace("LOOK", look)
    result = port(SETUP + text, select=("TPU105",))
    assert (result.text.index(".tolist()") > result.text.rindex("optimizer.step()")) == is_outside


LISTED = """\
total, losses = 0.0, []
for x, y in loader:
    outputs = model(x.to(device))
    loss = criterion(outputs, y.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += VALUE
    losses.append(VALUE)
print(total, losses)
"""


@pytest.mark.parametrize("value", ["loss.tolist()", "loss.detach().cpu().tolist()"])
def test_list_of_a_tensor_without_dimensions_is_its_number(value: str) -> None:
    listed, number = (
        port(SETUP + LISTED.replace("VALUE", item), select=("TPU104", "TPU105")).text for item in (value, "loss.item()")
    )
    assert listed == number
    assert "total += loss.detach()" in listed


@pytest.mark.parametrize("value", ["outputs.tolist()", "loss.view(1).tolist()", "loss.numpy().tolist()"])
def test_list_of_other_values_is_no_number(value: str) -> None:
    text = SETUP + LISTED.replace("VALUE", value)
    assert port(text, select=("TPU104", "TPU105")).text == text


@pytest.mark.parametrize(
    ("added", "told"),
    [
        ("loss += weight * extra", 1),
        ("loss -= extra / 2", 1),
        ("loss = loss + weight * extra", 1),
        ("kept.append(weight * extra)", 0),
        ("total += weight * extra", 0),
    ],
)
def test_what_a_branch_adds_to_the_loss_is_a_tensor_of_the_device(added: str, told: int) -> None:
    """Nobody knows what the criterion is; what is only asked for a number may be anything."""
    text = f"""
        from criteria import find
        parts, kept, total, weight = {{}}, [], 0.0, 0.5
        for step, (x, y) in enumerate(loader):
            loss = criterion(model(x.to(device)), y.to(device))
            if step > start:
                extra = find("extra")(x, y)
                parts["extra"] = extra.item() + weight
                {added}
            loss.backward()
            optimizer.step()
            torch_xla.sync()
    """
    assert check(text, ("TPU101",)) == [("TPU101", "error")] * told


KEPT = """\
class Average:
    def __init__(self):
        self.value, self.count = 0, 0

    def append(self, value):
        self.value = (value + self.count * self.value) / (self.count + 1)
        self.count += 1


class Window:
    def __init__(self):
        self.values = []

    def append(self, value):
        self.values = self.values[-99:] + [value]


class Lasting(list):
    pass


MADE
for x, y in loader:
    loss = criterion(model(x.to(device)), y.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    WHERE.append(loss.item())
print(WHERE)
"""


@pytest.mark.parametrize(
    ("made", "where"),
    [
        ('seen = {"train": Window(), "test": Window()}', 'seen["train"]'),
        ("from unseen import Recent\nseen = Recent()", "seen"),
        ("import unseen\nseen = unseen.Recent(100)", "seen"),
    ],
)
def test_what_is_no_list_is_not_extended(made: str, where: str) -> None:
    """An object that knows ``append`` need not know ``extend``; nor may numbers that it counts come all at once."""
    text = SETUP + KEPT.replace("MADE", made).replace("WHERE", where)
    assert port(text, select=("TPU101", "TPU105")).text == text


def test_what_is_no_list_is_appended_to_when_it_is_looked_at() -> None:
    text = port(SETUP + KEPT.replace("MADE", "seen = Window()").replace("WHERE", "seen")).text
    assert 'seen = tpulint_runtime.defer_updates(Window(), "append", numbers=True)\n' in text
    assert "    seen.append(loss.detach())\n" in text


@pytest.mark.parametrize(
    ("made", "where"),
    [
        ("import collections\nseen = collections.deque(maxlen=100)", "seen"),
        ("from collections import UserList\nseen = UserList()", "seen"),
        ('seen = {"train": [], "test": Window()}', 'seen["train"]'),
        ("seen = Lasting()", "seen"),
        ("from unseen import recent\nseen = recent()", "seen"),
    ],
)
def test_what_may_be_a_list_is_extended(made: str, where: str) -> None:
    text = SETUP + KEPT.replace("MADE", made).replace("WHERE", where)
    assert f"\n{where}.extend(" in port(text, select=("TPU101", "TPU105")).text


def test_an_average_that_appends_holds_the_tensor() -> None:
    text = SETUP + KEPT.replace("MADE", "seen = Average()").replace("WHERE", "seen")
    assert "\n    seen.append(loss.detach())\n" in port(text, select=("TPU101", "TPU105")).text


@pytest.mark.parametrize(("between", "is_own"), [("print(x.shape)", True), ("if not y: continue", False)])
def test_numbers_of_sums_get_their_own_names(between: str, is_own: bool) -> None:
    """Not where the turn may end in front of them: what follows the loop would find another value."""
    text = f"""{SETUP}
for x, y in loader:
    right, spread = 0, 0
    for i in range(2):
        output = model(x.to(device))
        right += output.softmax(1).mean().detach()
        spread += output.std().detach()
    optimizer.zero_grad()
    output.mean().backward()
    optimizer.step()
    torch_xla.sync()
    {between}
    right = right.item()
    spread = spread.item()
    right /= 2
    print(right, spread)
"""
    after = port(text).text
    assert ("    right, spread = step_values.tolist()" in after) == is_own
    assert ("    right = right_value" in after) != is_own


def test_totals_of_one_name_in_several_containers_are_kept_apart() -> None:
    text = port(
        SETUP
        + """
train, other, sums = {"loss": 0.0}, {"loss": 0.0}, [0.0, 0]
for x, y in loader:
    output = model(x.to(device))
    loss, size = F.cross_entropy(output, y.to(device)), output.pow(2).mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    train["loss"] += loss.item()
    other["loss"] += size.item()
    sums[0] += size.item()
    sums[1] += (output.argmax(1) == y.to(device)).sum().item()
print(train, other, sums)
""",
        select=("TPU104",),
    ).text
    read = dict(re.findall(r"^(\S+\[.*\]) \+= (\w+)\.item\(\)$", text, re.M))
    added = dict(re.findall(r"^    (\w+) \+= (.*)$", text, re.M))
    assert [added[read[name]].partition(".")[0] for name in ('train["loss"]', 'other["loss"]', "sums[0]")] == [
        "loss", "size", "size",
    ]  # fmt: skip
    assert len(set(read.values())) == 4


STEP_METHOD = """
class Trainer:
    def __init__(self):
        self.optimizer = torch.optim.Adam(model.parameters())
        BEGIN

    def step(self, x):
        loss = model(x).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def train(self, scheduler):
        for turn, (x, _) in enumerate(loader):
            loss = self.step(x.to(device))
            if turn % 10 == 0:
                print(loss)
            EACH
"""


@pytest.mark.parametrize(
    ("begin", "each", "kept"),
    [
        ("pass", "pass", True),
        ("step = 0; print(step)", "pass", True),
        ("self.other = torch.optim.SGD(critic.parameters(), lr=0.1)", "self.other.step()", True),
        ("self.show = self.step", "pass", False),
        ("pass", "self.run(self.step)", False),
        ("pass", "scheduler.agent.step(x)", False),  # nobody knows whose
    ],
)
def test_method_that_is_called_as_an_update_is(begin: str, each: str, kept: bool) -> None:
    ported = port(SETUP + STEP_METHOD.replace("BEGIN", begin).replace("EACH", each), select=("TPU101",)).text
    assert ("return loss.detach()" in ported) is kept and ("print(loss.item())" in ported) is kept


ACCURACY = """
for epoch in range(3):
    losses, hits = 0, 0
    for x, y in loader:
        optimizer.zero_grad()
        output, y = model(x.to(device)), y.to(device)
        loss = F.cross_entropy(output, y)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            accuracy = MEAN
        losses += loss.item()
        hits += accuracy.item()
    print(losses, hits)
"""


@pytest.mark.parametrize(
    ("mean", "kept"),
    [
        ("torch.mean((output.argmax(1) == y).type(torch.FloatTensor))", "torch.mean((output.argmax(1) == y).float())"),
        ("(output.argmax(1) == y).type('torch.FloatTensor').mean()", "(output.argmax(1) == y).float().mean()"),
        ("torch.sum((output.argmax(1) == y).cpu())", "torch.sum((output.argmax(1) == y))"),
    ],
)
def test_accuracy_of_a_copy_is_added_up_within_the_step(mean: str, kept: str) -> None:
    ported = port(SETUP + ACCURACY.replace("MEAN", mean)).text
    assert f"accuracy = {kept}\n" in ported
    assert "hits += accuracy" in ported and ported.index("hits += accuracy") < ported.index("torch_xla.sync()")
    assert "hits = hits.item()\n" in ported


@pytest.mark.parametrize(
    "mean",
    [
        "torch.mean(output.type(torch.FloatTensor), 0).max()",
        "torch.mean(output.type(torch.DoubleTensor))",
        "shown(torch.mean(output.type(torch.FloatTensor)))",
    ],
)
def test_other_copies_for_a_dtype_stay(mean: str) -> None:
    assert f"accuracy = {mean}\n" in port(SETUP + ACCURACY.replace("MEAN", mean)).text


@pytest.mark.parametrize(
    ("made", "there"),
    [
        ("torch.LongTensor([[best[i][0] for i in range(8)]]).to(device)", "best[:8, 0].unsqueeze(0).long().to(device)"),
        ("torch.tensor([best[i] for i in range(n)]).to(device)", "best[:n].detach().to(device)"),
        ("torch.LongTensor([[best[i][0] for i in range(8)]])", ""),  # not moved
        ("torch.LongTensor([[best[i][0] for i in range(1, 8)]]).to(device)", ""),
        ("torch.LongTensor([[best[i][0] for i in range(8) if i]]).to(device)", ""),
        ("torch.LongTensor([[best[i][i] for i in range(8)]]).to(device)", ""),
    ],
)
def test_elements_that_go_over_the_host_and_back(made: str, there: str) -> None:
    text = SETUP + dedent(
        f"""
        for x, y in loader:
            output = model(x.to(device))
            _, best = output.topk(1)
            tokens = {made}
            F.cross_entropy(output, y.to(device)).backward()
            optimizer.step()
            torch_xla.sync()
        """
    )
    result = port(text).text
    assert (f"tokens = {there}\n" in result) if there else ("range(" in result)


def test_messages_of_what_is_asserted(tmp_path: Path) -> None:
    """They are only formatted where it fails."""
    program = """\
    import torch
    from torch import nn

    model = nn.Linear(4, 4).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        out = model(x.to("cuda"))
        assert (out < 3).all(), f"{out}"  # TPU103
        print(f"{out}")  # TPU102
        optimizer.zero_grad()
        out.mean().backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU102,TPU103", main=program)
