"""What waits when the next loop begins: which statements leave work, which do not, and where a boundary runs it."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.model import Applicability
from tpulint.semantic import SemanticIndex
from tpulint.source import SourceFile

CATALOGUE = load()
SETUP = """\
import copy
import torch
device = torch.device("cuda")
model = torch.nn.Linear(4, 3).to(device)
average_model = torch.nn.Linear(4, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(dataset, batch_size=4)
history, best = [], None


def evaluate():
    model.eval()
    correct, total = 0, 0
    with torch.no_grad():
        for x, y in loader:
            correct += (model(x.to(device)).argmax(1) == y.to(device)).sum()
            total += len(y)
    return correct, total


"""
EPOCHS = """\
for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        loss = model(x.to(device)).mean()
        loss.backward()
        optimizer.step()
    correct, total = evaluate()
"""


def script(rest: str, setup: str = SETUP) -> str:
    """A script for GPUs, without any boundary, with more statements at the end of each epoch."""
    return setup + EPOCHS + indent(dedent(rest).strip(), "    ") + "\n"


def leftovers(text: str) -> list[tuple[list[str], str, str]]:
    """What is left, the loop that takes it, and the statement behind which a boundary belongs."""
    index = SemanticIndex(SourceFile.from_text(text), ast.parse(text))
    return [
        (
            [entry.name for entry in found.entries],
            "evaluation" if found.sink in index.regions.evaluation_loops else "step",
            "" if found.place is None else index.text(found.place),
        )
        for found in index.leftovers.all
    ]


@pytest.mark.parametrize(
    "rest, name",
    [
        ("rate = 100.0 * correct / total", "100.0 * correct / total"),
        ("rate = correct / total\nprint('%.2f' % rate.item(), float(rate), f'{rate:.2f}')", "correct / total"),
        ("history.append(correct / total)", "correct / total"),
        ("rate = correct / total\nshown = '%.2f' % rate\nshown = '{}'.format(rate)", "correct / total"),
        ("best = copy.deepcopy(model.state_dict())", "model"),
        ("kept = loss.detach().view(1)", "loss.detach().view(1)"),
        ("noise = torch.randn(4, device=device)", "torch.randn(4, device=device)"),
        ("stacked = torch.stack([correct, correct])", "torch.stack([correct, correct])"),
        ("alias = (correct / total).detach()", "correct / total"),
        ("rate: object = correct / total", "correct / total"),
        ("rate = -correct if epoch else correct", "-correct"),
    ],
)
def test_a_tensor_that_a_variable_keeps_is_left(rest: str, name: str) -> None:
    assert [(names, sink) for names, sink, _ in leftovers(script(rest))] == [([name], "step")]


@pytest.mark.parametrize(
    "made",
    [
        "means, labels = [], []",
        "means, labels = list(), list()",
        "means, labels = [[] for _ in range(2)]",
        "(labels, total), means = ([], 0), []",
    ],
)
def test_lists_that_are_made_together_hold_what_is_put_into_each(made: str) -> None:
    filled = "for x, y in loader:\n    means.append(model(x.to(device)).detach())\n    labels.append(y)"
    rest = f"{made}\nwith torch.no_grad():\n{indent(filled, '    ')}\n"
    joined = f"{rest}codes.append(torch.cat(means))\nall_labels = torch.cat(labels)"
    assert [(names, sink) for names, sink, _ in leftovers(script(joined))] == [(["torch.cat(means)"], "step")]


@pytest.mark.parametrize(
    "rest",
    [
        "rate = (correct / total).item()",
        "rate = correct / total\nrate = rate.item()",
        "rate = correct / total\ndel rate",
        "rate = correct / total\nprint(rate)",
        "rate = correct / total\nshown = rate.detach().cpu().numpy()",
        "rate = correct / total\nshown = rate.data.cpu()",
        "rate = correct / total\nshown = rate.tolist()",
        "rate = correct / total\nwriter.add_scalar('rate', rate, epoch)",
        "rate = correct / total\ntable.writerow([epoch, rate])",
        "rate = correct / total\nwandb.log({'rate': rate})",
        "import logging\nrate = correct / total\nlogging.info('%s', rate)",
        "rate = correct / total\nshown = '%d: %s' % (epoch, rate)",
        "share = 0\nshare += loss.data[0]\nrate = share / total",
        "print(float(correct / total))",
        "rate = total / 3",
        "alias = correct.detach()",
        "sent = torch.tensor(3.0).to(device)",
        "history.append(float(correct) / total)",
        "def rate():\n    share = correct / total\n    return share.item()\nshare = rate()",
        "rate = correct / total\nfrom others import validate\nvalidate(model)",
        "import torch_xla\nrate = correct / total\ntorch_xla.sync()",
    ],
)
def test_numbers_and_what_is_gone_leave_nothing(rest: str) -> None:
    assert leftovers(script(rest)) == []


def test_an_alias_of_what_waits_keeps_it() -> None:
    assert leftovers(script("rate = correct / total\nbest = rate\nrate = 0")) == [
        (["correct / total"], "step", "rate = correct / total")
    ]


def test_a_name_that_gets_another_value_in_the_next_step_keeps_nothing() -> None:
    assert leftovers(script("loss = correct / total")) == []


def test_an_average_of_weights_is_left() -> None:
    rest = """
    with torch.no_grad():
        for kept, new in zip(average_model.parameters(), model.parameters()):
            kept.mul_(0.9)
    """
    [(names, sink, place)] = leftovers(script(rest))
    assert (names, sink) == (["kept"], "step")
    assert place.startswith("for kept, new in")  # behind the loop, not once for each parameter


@pytest.mark.parametrize("library, found", [("schedulefree", 1), ("others", 0)])
def test_switching_an_optimizer_without_a_schedule_writes_the_weights(library: str, found: int) -> None:
    text = script("optimizer.train()", SETUP.replace("import copy", f"import copy, {library}"))
    assert [sink for _, sink, _ in leftovers(text)] == ["step"] * found


def test_an_object_keeps_what_it_is_given() -> None:
    meter = """
    class Meter:
        def __init__(self):
            self.sum = 0

        def update(self, value):
            self.sum = self.sum + value

    meter = Meter()
    """
    kept = "meter.update(correct / total)"
    local = "def count(share):\n    own = Meter()\n    own.update(share / 2)\ncount(total)"
    setup = SETUP + dedent(meter)
    assert [sink for _, sink, _ in leftovers(script(kept, setup))] == ["step"]
    assert leftovers(script(local, setup)) == []


def test_an_evaluation_takes_what_is_left_in_front_of_it() -> None:
    text = script("rate = correct / total\ncorrect, total = evaluate()")
    assert leftovers(text) == [(["correct / total"], "evaluation", "rate = correct / total")]


def test_what_an_evaluation_records_behind_its_reads_is_left() -> None:
    rest = """
    with torch.no_grad():
        for x, y in loader:
            output = model(x.to(device))
            print(output.mean().item())
            rows = output * 2
    """
    [(names, sink, place)] = leftovers(script(rest))
    assert (names, sink) == (["output * 2"], "step")
    assert place.startswith("for x, y in loader:\n            output")


def test_one_boundary_is_for_all_that_is_left_between_two_loops() -> None:
    rest = """
    rate = correct / total
    if epoch > 1:
        best = copy.deepcopy(model.state_dict())
    """
    [(names, _, place)] = leftovers(script(rest))
    assert names == ["correct / total", "model"]
    assert place.startswith("if epoch > 1:")  # not within: there the rate would wait on in other epochs


def test_what_is_left_once_is_part_of_a_first_step_anyhow() -> None:
    text = SETUP + "weight = torch.zeros(3, device=device)\n" + EPOCHS
    assert leftovers(text) == []


def test_a_function_that_calls_itself_ends() -> None:
    assert leftovers(script("def walk(n):\n    return walk(n - 1)\nrate = walk(3)")) == []


@pytest.mark.parametrize(
    "copies, has_fix",
    [
        ("average_model.load_state_dict(model.state_dict())", False),
        ("average_model.weight.data.copy_(model.weight.data)", False),
        ("average_model.load_state_dict(torch.load('model.pt'))", True),
        ("saved = torch.load('model.pt')\naverage_model.load_state_dict(saved['model'])", True),
    ],
)
def test_no_boundary_is_written_behind_copies_of_tensors(copies: str, has_fix: bool) -> None:
    text = SETUP + copies + "\n" + EPOCHS + "    rate = correct / total\n"
    result = lint(SourceFile.from_text(text), Settings(select=("TPU221",), preview=True), CATALOGUE)
    [finding] = result.findings
    assert (finding.fix is not None) is has_fix
    assert finding.fix is None or finding.fix.applicability is Applicability.UNSAFE


def test_a_copy_behind_the_last_epoch_is_no_obstacle() -> None:
    text = script("best = copy.deepcopy(model.state_dict())") + "model.load_state_dict(best)\n"
    result = lint(SourceFile.from_text(text), Settings(select=("TPU221",), preview=True), CATALOGUE)
    assert [finding.fix is not None for finding in result.findings] == [True]


def test_no_boundary_is_written_behind_the_block_that_holds_the_loop() -> None:
    """There it came too late, and was written again and again."""
    text = script(
        """
        inputs = torch.ones(4, device=device) * 2
        with torch.no_grad():
            doubled = inputs * 2
            for x, y in loader:
                outputs = model(x.to(device) + doubled).argmax(1)
                print(inputs, outputs)
        """
    )
    settings = Settings(select=("TPU221", "TPU301", "TPU302"), fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert not result.error
    assert lint(SourceFile.from_text(result.text), settings, CATALOGUE).text == result.text


STEPS = """
import torch_xla

def train(model, inputs, optimizer):
    for x in inputs:
        model(x).mean().backward()
        optimizer.step()
        torch_xla.sync()

device = torch_xla.device()
model = torch.nn.Linear(2, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs = torch.ones(8, 4, 2).to(device)
graph, model = map(lambda one: one.to(device), (graph, model))
for epoch in range(3):
    train(model, {given}, optimizer)
"""


def test_no_boundary_is_written_behind_the_call_that_runs_the_loop() -> None:
    result = lint(
        SourceFile.from_text("import torch\n" + STEPS.format(given="inputs * 2")),
        Settings(select=("TPU221",), preview=True),
        CATALOGUE,
    )
    assert [(finding.code, finding.fix) for finding in result.findings] == [("TPU221", None)]


@pytest.mark.parametrize("given", ['graph.ndata["feature"]', "inputs"])
def test_what_is_handed_to_steps_as_it_was_is_no_work(given: str) -> None:
    assert leftovers("import torch\n" + STEPS.format(given=given)) == []


def test_what_a_with_block_reads_is_a_number_behind_it() -> None:
    text = script(
        """
        total = torch.zeros(1).to(device)
        with torch.no_grad():
            for x, y in loader:
                total += F.nll_loss(model(x.to(device)), y.to(device))
                torch_xla.sync()
            total = total.item()
        total /= len(loader)
        """
    )
    assert leftovers(text) == []


def test_original_and_port_are_told_the_same() -> None:
    text = script("rate = correct / total\nprint(rate.item())")
    settings = Settings(select=("TPU0", "TPU3", "TPU221"), preview=True, fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert result.error == ""
    assert "rate = correct / total\n    torch_xla.sync()\n    print(rate.item())" in result.text
    assert leftovers(result.text) == []


def turns(rest: str, boundary: str = "torch_xla.sync()") -> list[tuple[list[str], bool]]:
    """What the turns of an evaluation leave behind their boundary, and whether it is for the next turn."""
    text = (
        f"import torch_xla\n{SETUP}for epoch in range(3):\n    for x, y in loader:\n"
        "        model(x.to(device)).mean().backward()\n        optimizer.step()\n        torch_xla.sync()\n"
        "    with torch.no_grad():\n        for x, y in loader:\n            outputs = model(x.to(device))\n"
        f"            {boundary}\n" + indent(dedent(rest).strip(), " " * 12) + "\n"
    )
    index = SemanticIndex(SourceFile.from_text(text), ast.parse(text))
    return [([entry.name for entry in found.entries], found.sink is found.around) for found in index.leftovers.all]


@pytest.mark.parametrize(
    "rest, left",
    [
        ("predicted = outputs.argmax(1)\ncorrect = (predicted == 1).sum().item()", ["outputs.argmax(1)"]),
        ("_, predicted = outputs.max(1)\nshown = predicted.sum().item()", ["outputs.max(1)"]),
        ("if epoch:\n    best = outputs * 2", ["outputs * 2"]),
        ("history.append(outputs * 2)", ["outputs * 2"]),
    ],
)
def test_a_turn_leaves_to_the_next_what_it_computes_behind_its_boundary(rest: str, left: list[str]) -> None:
    assert (left, True) in turns(rest)


@pytest.mark.parametrize(
    "rest",
    [
        "correct = (outputs.argmax(1) == 1).sum().item()",
        "outputs = outputs.argmax(1)\ncorrect = outputs.sum().item()",  # another value before the boundary
        "predicted = outputs.argmax(1)\ndel predicted",
        "predicted = outputs.argmax(1).cpu()",
        "if epoch:\n    best = outputs * 2\n    break",
    ],
)
def test_what_ends_with_the_turn_is_not_left(rest: str) -> None:
    assert not any(is_turn for _, is_turn in turns(rest))


def test_turns_are_left_alone_without_a_boundary() -> None:
    assert not any(
        is_turn for _, is_turn in turns("predicted = outputs.argmax(1)\nprint(predicted.sum().item())", "pass")
    )


def test_of_training_steps_only_those_leave_work_that_some_are() -> None:
    def found(behind: str) -> list[bool]:
        text = f"import torch_xla\n{script('pass')}".replace("optimizer.step()\n", f"optimizer.step()\n{behind}", 1)
        index = SemanticIndex(SourceFile.from_text(text), ast.parse(text))
        return [item.sink is item.around for item in index.leftovers.all if item.sink in index.regions.turn_loops]

    always = "        torch_xla.sync()\n        share = loss / 2\n"
    sometimes = "        torch_xla.sync()\n        if epoch % 10 == 0:\n            share = loss / 2\n"
    assert True not in found(always)
    assert True in found(sometimes)


def test_an_attribute_that_was_given_numbers_is_none_of_the_device() -> None:
    meter = """
    class Meter:
        def __init__(self):
            self.sum, self.count = 0, 0

        def update(self, value):
            self.sum += value * 2
            self.count += 1

        def gather(self):
            everything = torch.tensor([self.sum, self.count], device=device)
            {gathered}
            self.mean = self.sum / self.count

    meter = Meter()
    """

    def found(gathered: str) -> list[str]:
        rest = "meter.update(correct)\ntorch_xla.sync()\nmeter.gather()"
        text = script(rest, "import torch_xla\n" + SETUP + dedent(meter.format(gathered=gathered)))
        return [name for names, _, _ in leftovers(text) for name in names]

    assert found("self.sum, self.count = everything.tolist()") == []
    assert found("pass") == ["self.sum / self.count"]


def test_a_sum_of_what_a_module_gives_beside_the_loss_may_be_a_number() -> None:
    def found(last: str) -> list[str]:
        text = script(last, SETUP + "counter, parts = torch.nn.Linear(4, 3).to(device), []\n")
        behind = "        share, count = counter(x.to(device))\n        parts.append(count)\n"
        text = text.replace("        optimizer.step()\n", "        optimizer.step()\n" + behind)
        return [name for names, _, _ in leftovers(text) for name in names]

    assert found("whole = sum(parts) / 3") == []
    assert found("whole = share / 3") == ["share / 3"]


@pytest.mark.parametrize(
    ("turn", "is_left"),
    [
        ("torch_xla.sync()\nact(y.cpu())", True),
        ("act(y.cpu())\ntorch_xla.sync()", False),  # all is fetched: the boundary runs what was left alone
        ("act(fetched(y))\ntorch_xla.sync()", False),
    ],
)
def test_what_is_left_to_turns_that_fetch_what_they_compute(turn: str, is_left: bool) -> None:
    text = SETUP + dedent(
        """
            import torch_xla

            def fetched(y):
                return y.detach().cpu().numpy()

            for cycle in range(3):
                for x in played:
                    with torch.no_grad():
                        y = model(x.to(device))
                    TURN
                for x, y in loader:
                    optimizer.zero_grad()
                    model(x.to(device)).mean().backward()
                    optimizer.step()
                    torch_xla.sync()
                for old, new in zip(average_model.parameters(), model.parameters()):
                    old.data.copy_(0.9 * old.data + 0.1 * new.data)
            """
    ).replace("TURN", turn.replace("\n", "\n        "))
    assert [sink for _, sink, _ in leftovers(text)] == ["evaluation"] * is_left


@pytest.mark.parametrize(("call", "is_left"), [("generate(x, 5)", False), ("generate(x, 5, 2)", True)])
def test_branch_that_no_call_runs_leaves_nothing(call: str, is_left: bool) -> None:
    text = (
        SETUP
        + f"""
import torch_xla


def generate(text, count, end=None):
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            text = model(text)
            torch_xla.sync()
            if end is not None:
                ends = text == end
                if ends.any():
                    break
    return text


for x, y in loader:
    loss = model(x.to(device)).mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
{call}
"""
    )
    assert any("text == end" in names for names, _, _ in leftovers(text)) is is_left


def test_no_boundary_is_written_where_the_turns_compute_their_loss() -> None:
    setup = SETUP + "def loss_of(x):\n    found = model(x.to(device)).mean()\n    return found\n\n\n"
    text = (
        setup
        + "for step, (x, y) in enumerate(loader):\n    optimizer.zero_grad()\n    loss_of(x).backward()\n"
        + "    optimizer.step()\n    torch_xla.sync()\n    if step % 20 == 0:\n        with torch.no_grad():\n"
        + "            test_loss = loss_of(x)\n            print(test_loss.item())\n"
    ).replace("import copy\n", "import torch_xla\n")
    places = [place for _, _, place in leftovers(text)]
    assert places == ["test_loss = loss_of(x)"]


METERS = """
import time
import torch_xla


class Meter:
    def __init__(self, name="", start=0):
        self.name, self.sum, self.count, self.avg = name, start, 0, start

    def update(self, value, n=1):
        value = value * n
        self.sum += value
        self.count += n
        self.avg = self.sum / self.count

    def divided(self, n):
        return self.avg / n


def validate(losses, times, end):
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            loss = model(x.to(device)).mean()
            losses.update(loss, len(y))
            torch_xla.sync()
            BEHIND
            end = time.time()


for x, y in loader:
    optimizer.zero_grad()
    model(x.to(device)).mean().backward()
    optimizer.step()
    torch_xla.sync()
losses, times = Meter("loss"), Meter("time")
validate(losses, times, time.time())
"""


@pytest.mark.parametrize(
    ("behind", "is_left"),
    [
        ("times.update(time.time() - end)", False),
        ("times.update(n=2, value=time.time() - end)", False),
        ("shown = times.divided(2)", False),
        ("losses.update(time.time() - end)", True),
        ("losses.update(0)", True),
        ("times.update(loss)", True),
        ("shown = losses.divided(2)", True),
    ],
)
def test_what_a_meter_of_numbers_adds_up_is_no_work(behind: str, is_left: bool) -> None:
    # The class of the two meters is the same, and keeps tensors for the other one.
    assert bool(leftovers(SETUP + METERS.replace("BEHIND", behind))) is is_left


@pytest.mark.parametrize(
    ("start", "is_left"), [("0", False), ("len(history)", False), ("torch.zeros(1, device=device)", True)]
)
def test_a_meter_that_begins_with_a_tensor_keeps_tensors(start: str, is_left: bool) -> None:
    text = SETUP + METERS.replace("BEHIND", "times.update(time.time() - end)")
    given = text.replace('Meter("time")', f'Meter("time", {start})')
    made = text.replace("= name, start, 0, start", f"= name, {start}, 0, {start}")
    assert [bool(leftovers(given)), bool(leftovers(made))] == [is_left, is_left]


NOISE = "z = torch.randn(4, 4, device=device)\n"


@pytest.mark.parametrize(
    ("sample", "is_left"),
    [
        ("sample = model(z).cpu()\nsave(sample.view(2, -1), epoch)", True),
        ("sample = model.forward(z).view(3, -1).cpu()\nprint(sample)", True),  # shown, and kept with its gradient
        ("sample = model(z).cpu()\ndel sample", False),
        ("sample = model(z).cpu()\nsample = None", False),
        ("sample = model(z).detach().cpu()", False),
        ("sample = model(z).cpu().numpy()", False),
        ("with torch.no_grad():\n    sample = model(z).cpu()", False),
        ("save(model(z).cpu())", False),
        ("sample = torch.tanh(z).cpu()", False),  # nothing in it is trained
        ("def show():\n    sample = model(z).cpu()\n    save(sample)\nshow()", False),
        ("@torch.no_grad()\ndef draw():\n    sample = model(z).cpu()\n    return sample\ndrawn = draw()", False),
    ],
)
def test_a_copy_on_the_host_keeps_what_its_gradient_needs(sample: str, is_left: bool) -> None:
    """torch_xla computes the copy alone; what was saved for a backward pass that never comes waits on."""
    names = [name for names, _, _ in leftovers(script(NOISE + sample)) for name in names]
    assert any("model" in name for name in names) is is_left


def test_a_copy_waits_for_a_boundary_that_runs_its_gradient_along() -> None:
    text = script(NOISE + "sample = model(z).cpu()\nsave(sample)")
    settings = Settings(select=("TPU221", "TPU301", "TPU302"), fix=True, unsafe_fixes=True)
    fixed = lint(SourceFile.from_text(text), settings, CATALOGUE).text
    assert "    sample = model(z)\n    torch_xla.sync()\n    sample = sample.cpu()\n    save(sample)\n" in fixed
    assert leftovers(fixed) == []


AGENT = """
import random
import torch_xla

target = copy.deepcopy(model)
memory = []


def learn(batch):
    loss = (model(batch.to(device)) - target(batch.to(device))).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()


for step in range(1000):
    memory.append(environment.step())
{turn}
"""


SOFT = (
    "for kept, new in zip(target.parameters(), model.parameters()): kept.data.copy_(0.1 * new.data + 0.9 * kept.data)"
)


@pytest.mark.parametrize(
    ("turn", "is_left"),
    [
        ("learn(memory[-1])\nif step % 10 == 0:\n    SOFT", True),
        ("learn(memory[-1])\nSOFT", False),  # behind each step, and so in each step but the first
        ("if len(memory) > 32:\n    learn(random.choice(memory))\n    if step % 10 == 0:\n        SOFT", True),
        ("if len(memory) > 32:\n    learn(random.choice(memory))\n    SOFT", False),
        ("if step % 4 == 0:\n    learn(random.choice(memory))\n    SOFT", False),
        ("if step % 10 == 0:\n    SOFT\nlearn(memory[-1])", False),  # in front of the boundary
        ("if step % 2 == 0:\n    learn(memory[-1])\nelse:\n    learn(memory[-2])\n    SOFT", False),
    ],
)
def test_work_of_some_turns_behind_a_boundary_in_a_function_that_they_call(turn: str, is_left: bool) -> None:
    text = SETUP + AGENT.format(turn=indent(turn.replace("SOFT", SOFT), "    "))
    index = SemanticIndex(SourceFile.from_text(text), ast.parse(text))
    assert [entry.name for found in index.leftovers.all for entry in found.entries] == ["kept.data"] * is_left


PAIRS = "for kept, new in zip(average_model.parameters(), model.parameters()):\n    "


@pytest.mark.parametrize(
    ("update", "left"),
    [
        ("kept.data.mul_(0.9).add_(new.data, alpha=0.1)", ["kept.data"]),
        ("with torch.no_grad(): kept.mul_(0.9).add_(new, alpha=0.1)", ["kept"]),
        ("kept.data = 0.9 * kept.data + 0.1 * new.data", ["0.9 * kept.data + 0.1 * new.data"]),
        ("kept.requires_grad_(False)", []),
        ("kept.data = new.data", []),
        ("rows[0].mul_(2).add_(1)", []),  # of an object that nobody knows
    ],
)
@pytest.mark.parametrize("is_called", [True, False])
def test_averages_of_weights_that_a_loop_over_parameters_updates(update: str, left: list[str], is_called: bool) -> None:
    function = f"def average():\n{indent(PAIRS + update, '    ')}\n\n\n"
    text = script("average()", SETUP + function) if is_called else script(PAIRS + update)
    index = SemanticIndex(SourceFile.from_text(text), ast.parse(text))
    found = [entry.name for one in index.leftovers.all for entry in one.entries]
    assert [name for name in found if name not in ("correct", "total")] == left
