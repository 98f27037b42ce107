"""Boundaries that only some statements of a turn come to: those of loops within the step, and of blocks behind it."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint
from marked_files import agree

CRITIC = """\
import torch
from torch import nn

device = torch.device("xla")
generator, critic = nn.Linear(4, 8).to(device), nn.Linear(8, 1).to(device)
first = torch.optim.Adam(generator.parameters())
second = torch.optim.Adam(critic.parameters())

for turn in range(6):
    generator.zero_grad()
    cost = -critic(generator(torch.randn(16, 4).to(device))).mean()
    cost.backward()
    first.step()
    torch_xla.sync()
    for i in range(3):
        critic.zero_grad()
        fake = generator(torch.randn(16, 4).to(device)).detach()
        gap = critic(fake).mean() - critic(torch.randn(16, 8).to(device)).mean()
        gap.backward()
        second.step()
        torch_xla.sync()
        last = gap * 2
    plot("gap", gap.cpu().data.numpy())
    plot("last", last.cpu().data.numpy())  # TPU101
    plot("cost", cost.cpu().data.numpy())
"""


def test_what_a_loop_within_the_step_ran_by_a_boundary_of_its_own(tmp_path: Path) -> None:
    agree(tmp_path, "TPU101", main=CRITIC.replace("import torch\n", "import torch\nimport torch_xla\n", 1))


def test_values_of_a_block_are_fetched_once(tmp_path: Path) -> None:
    """Behind the boundary of the block, with what is computed there, and not in front of it, too."""
    program = """\
import torch
import torch_xla
from torch import nn

device = torch_xla.device()
model = nn.Linear(8, 3).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, (x, y) in enumerate(data):
    x, y = x.to(device), y.to(device)
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    if i % 4 == 0:
        found = torch.argmax(model(x), 1)
        torch_xla.sync()
        right = torch.eq(found, y).sum().double().item()
        print("loss %.4f" % loss.item(), loss.item(), right)
"""
    (tmp_path / "main.py").write_text(program)
    tpulint("--fix", "--unsafe-fixes", ".", cwd=tmp_path)
    after = (tmp_path / "main.py").read_text()
    assert after.count("loss.item()") == 0
    assert after.count(".tolist()") == 1
    assert "right, loss_value = step_values.tolist()" in after


BASE = """\
import torch

class Trainer:
    def __init__(self, net):
        self.net = net.cuda()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def step(self, x):
        raise NotImplementedError

    def train(self, batches):
        for x in batches:
            loss = self.step(x.cuda())
"""
DERIVED = """\
import torch
from base import Trainer

class Mixing(Trainer):
    def plain(self, x):
        self.optimizer.zero_grad()
        loss = self.net(x).mean()
        loss.backward()
        self.optimizer.step()
        return loss

    def mixed(self, x):
        self.optimizer.zero_grad()
        loss = self.net(x + x.flip(0)).mean()
        loss.backward()
        self.optimizer.step()
        return loss

    def step(self, x):
        BODY

Mixing(torch.nn.Linear(4, 1)).train(batches)
"""


@pytest.mark.parametrize(
    "body",
    [
        "if kind: return self.mixed(x)\nelse: return self.plain(x)",
        "if a: return self.mixed(x)\nelif b: return self.plain(x)\nelse: return self.plain(x * 2)",
        "return self.plain(x) if kind else self.mixed(x)",
    ],
)
def test_nothing_is_put_behind_what_returns(tmp_path: Path, body: str) -> None:
    """The functions that are called end their steps themselves."""
    body = body.replace(": return", ":\n    return").replace("\n", "\n        ")
    (tmp_path / "base.py").write_text(BASE)
    (tmp_path / "main.py").write_text(DERIVED.replace("BODY", body))
    tpulint("--fix", "--unsafe-fixes", ".", cwd=tmp_path)
    after = (tmp_path / "main.py").read_text()
    assert after.count("self.optimizer.step()\n        torch_xla.sync()\n        return loss\n") == 2
    assert after.count("torch_xla.sync()") == 2


def test_each_branch_that_updates_and_returns_ends_the_step(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def step(x):
    if kind:
        model(x).mean().backward()
        optimizer.step()
        return None
    else:
        loss = model(x * 2).mean()
        loss.backward()
        optimizer.step()
        return loss

for x in batches:
    loss = step(x.to(device))
"""
    (tmp_path / "main.py").write_text(program)
    tpulint("--fix", "--unsafe-fixes", ".", cwd=tmp_path)
    after = (tmp_path / "main.py").read_text()
    assert after.count("        optimizer.step()\n        torch_xla.sync()\n        return") == 2
    assert after.count("torch_xla.sync()") == 2


HANDED = """\
import functools
import torch
import torch_xla
from torch import nn
from objective import Objective

class Trainer:
    def __init__(self, model: nn.Module, data):
        self.model, self.data, self.objective = model.to("xla"), data, Objective()
        self.optimizer = torch.optim.Adam(model.parameters())

    def run(self):
        for x in self.data:
            self.train_step(x.to("xla"))

    def train_step(self, x):
        self.backward(x)
        self.optimizer.step()
        torch_xla.sync()

    def backward(self, x):
        {measure}
        weight = torch.ones(8).to("xla")
        show({{key: value * weight for key, value in losses.items()}})  # in front of the boundary
        losses["loss"].mean().backward()

def show(losses):
    for key, value in losses.items():
        log(key, value.mean().item())  # TPU101

Trainer(nn.Linear(4, 4), [torch.ones(8, 4)]).run()
"""
OBJECTIVE = """\
class Objective:
    def losses(self, model, x):
        return {"loss": (model(x) - x) ** 2}
"""


@pytest.mark.parametrize(
    "measure",
    [
        "losses = self.objective.losses(self.model, x)",
        "measure = functools.partial(self.objective.losses, self.model, x)\n        losses = measure()",
    ],
)
def test_reads_behind_what_is_given_the_model(tmp_path: Path, measure: str) -> None:
    """They stand in front of the boundary of their turn, not behind that of the turn before."""
    agree(tmp_path, "TPU101", main=HANDED.format(measure=measure), objective=OBJECTIVE)


HELPER = """\
import torch
import torch_xla
import torch.nn.functional as F
from torch import nn

device = torch_xla.device()
model = nn.Linear(8, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def one_of(y, count):
    wanted = torch.zeros(y.size(0), count)
    for row, label in enumerate(y):
        wanted[row, label] = 1  # TPU101
    return wanted.to(device)

def show(value):
    print(value.item()) {shown}

for x, y in loader:
    x, y = x.to(device), y.to(device)
    loss = F.mse_loss(model(x), one_of(y, 3))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {lines}
"""


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ("torch_xla.sync()\n    show(loss)", ""),
        ("show(loss)\n    torch_xla.sync()", "# TPU101"),
    ],
)
def test_reads_in_functions_in_front_of_the_boundary(tmp_path: Path, lines: str, shown: str) -> None:
    """What a function reads of the batch of the turn, too; behind the boundary the same function is free to read."""
    agree(tmp_path, "TPU101", main=HELPER.format(lines=lines, shown=shown))


STEP_OF_TRAINER = """\
import torch
import torch_xla

class Trainer:
    def __init__(self, config, loader, model, optimizer, device):
        self.config, self.loader, self.model, self.optimizer, self.device = config, loader, model, optimizer, device
        self.losses = {"first": 0.0, "left": 0.0}

    def run(self):
        for batch in self.loader:
            self.step(batch)

    def step(self, batch):
        x, y = [item.to(self.device) for item in batch]
        if self.config["first"]:
            loss = (self.model["first"](x) - y).abs().mean()
            self.losses["first"] += loss.item()  # TPU101
            self.optimizer["first"].zero_grad()
            loss.backward()
            self.optimizer["first"].step()
        torch_xla.sync()
        self.losses["left"] += loss.item()
"""


def test_reads_in_front_of_the_boundary_of_the_function_that_holds_both(tmp_path: Path) -> None:
    """That the function comes to a boundary is no reason to think that all of it stands behind that."""
    agree(tmp_path, "TPU101", main=STEP_OF_TRAINER)


BRANCHES = """\
import torch
import torch_xla
import torch.nn.functional as F

def train(model: torch.nn.Module, optimizer, loader, mode):
    device = torch_xla.device()
    for i, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        if mode == "plain":
            loss = F.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if i % 10 == 0:
                print(loss.item())
        elif mode == "scaled":
            loss = F.mse_loss(model(x * 2), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
{last}
"""


@pytest.mark.parametrize(
    ("last", "count"),
    [
        ("            print(loss.item())", 2),
        ("", 2),  # the second branch ends at the boundary behind both
        ("            print(loss.item())\n        else:\n            model(x).mean().backward()", 3),
        ("            print(loss.item())\n        seen = model(x).mean()", 3),
    ],
)
def test_branches_that_hold_a_step_and_a_boundary_each(tmp_path: Path, last: str, count: int) -> None:
    """Behind them there is nothing left to run, but where a branch has no boundary, or only a backward pass."""
    path = tmp_path / "main.py"
    path.write_text(BRANCHES.format(last=last))
    tpulint("--fix", "--select", "TPU301", "main.py", cwd=tmp_path)
    assert path.read_text().count("torch_xla.sync()") == count


@pytest.mark.parametrize(
    ("helper", "moves"),
    [
        ("torch.autograd.grad(y.sum(), [x], create_graph=True)[0]", False),  # `backward()` frees what it needs
        ("y.sum() * x", True),
    ],
)
def test_what_differentiates_stays_in_front_of_the_backward_pass(tmp_path: Path, helper: str, moves: bool) -> None:
    (tmp_path / "maths.py").write_text(f"import torch\n\ndef gradient(y, x):\n    return {helper}\n")
    (tmp_path / "train.py").write_text("""\
import torch
from maths import gradient

device = torch.device("xla")
model = torch.nn.Linear(2, 1).to(device)
optimizer = torch.optim.Adam(model.parameters())


def slope(y, x):
    return gradient(y, x).norm()


for step, x in enumerate(loader):
    x = x.to(device).requires_grad_()
    y = model(x)
    loss = y.mean()
    if step % 10 == 0:
        steep = slope(y, x)
        print(steep.item())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""")
    tpulint("--fix", "--unsafe-fixes", ".", cwd=tmp_path)
    text = (tmp_path / "train.py").read_text()
    assert (text.index("loss.backward()") < text.index("steep = ")) is moves


VALIDATING = """\
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(8, 8).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(100):
    EARLY
    if step % 25 == 0:
        model.eval()
        with torch.no_grad():
            value = 0.0
            for _ in range(4):
                value += model(torch.randn(4, 8).to(device)).pow(2).mean()
        BEHIND
        print(f"validation loss: {value.item():.4f}")  CODE
    model.train()
    optimizer.zero_grad()
    loss = model(torch.randn(4, 8).to(device)).pow(2).mean()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("early", "behind", "code"),
    [
        ("pass", "pass", ""),
        ("value = model(torch.randn(4, 8).to(device)).mean()", "pass", ""),  # the validation has run it
        ("pass", "value += model(torch.randn(4, 8).to(device)).pow(2).mean()", "# TPU101"),
        ("pass", "with torch.no_grad():\n            value += model(torch.randn(4, 8).to(device)).mean()", "# TPU101"),
    ],
)
@pytest.mark.parametrize("has_boundary", [False, True])
def test_reads_behind_an_evaluation_that_a_turn_begins_with(
    tmp_path: Path, early: str, behind: str, code: str, has_boundary: bool
) -> None:
    """Nothing of the step is recorded yet: its batches have run where each ends with its boundary, or will."""
    program = VALIDATING.replace("EARLY", early).replace("BEHIND", behind).replace("CODE", code)
    if has_boundary:
        program = program.replace("import torch\n", "import torch\nimport torch_xla\n", 1)
        inner = "                value += model(torch.randn(4, 8).to(device)).pow(2).mean()\n"
        program = program.replace(inner, inner + "                torch_xla.sync()\n")
        program = program.replace("    optimizer.step()\n", "    optimizer.step()\n    torch_xla.sync()\n")
    agree(tmp_path, "TPU101,TPU102", main=program)


EVALUATED_WITHIN = """\
import torch
import torch_xla
from torch import nn


def train(args, loader, held_out, model):
    optimizer = torch.optim.Adam(model.parameters())
    for step, (x, y) in enumerate(loader):
        model.train()
        nn.functional.mse_loss(model(x.to(args.device)), y.to(args.device)).backward()
        if (step + 1) % args.accumulation == 0:
            optimizer.step()
            model.zero_grad()
            if step % args.logging_steps == 0:
                evaluate(args, model, held_out)


def evaluate(args, model, loader):
    model.eval()
    total = torch.zeros(1, device=args.device)
    with torch.no_grad():
        for x, y in loader:
            total += nn.functional.mse_loss(model(x.to(args.device)), y.to(args.device))
            torch_xla.sync()
    print(total.item())


args = options()
args.device = torch_xla.device()
train(args, batches(), batches(), nn.Linear(4, 4).to(args.device))
"""


def test_an_evaluation_behind_the_update_of_some_turns(tmp_path: Path) -> None:
    """The update is run in front of it; turns without one end behind the block."""
    path = tmp_path / "main.py"
    path.write_text(EVALUATED_WITHIN)
    assert tpulint("--fix", "--select", "TPU101,TPU102,TPU301,TPU302", str(path), cwd=tmp_path).status == 0
    expected = EVALUATED_WITHIN.replace(
        "model.zero_grad()\n", "model.zero_grad()\n            torch_xla.sync()\n"
    ).replace("held_out)\n\n\ndef evaluate", "held_out)\n        torch_xla.sync()\n\n\ndef evaluate")
    assert path.read_text() == expected
    path.write_text(EVALUATED_WITHIN.replace("evaluate(args, model, held_out)", "note(step)"))
    tpulint("--fix", "--select", "TPU301", str(path), cwd=tmp_path)
    assert path.read_text().count("torch_xla.sync()") == 2  # at the end of every turn, and in the evaluation


def test_what_an_evaluation_reads_behind_its_own_boundaries(tmp_path: Path) -> None:
    """Nothing of the step is pending by then; in front of them it is."""
    ended = EVALUATED_WITHIN.replace(
        "held_out)\n\n\ndef evaluate", "held_out)\n        torch_xla.sync()\n\n\ndef evaluate"
    )
    agree(tmp_path, "TPU101,TPU102", main=ended)
    early = "    print(model(torch.ones(4, 4).to(args.device)).sum().item())  # TPU101\n    with torch.no_grad():\n"
    agree(tmp_path, "TPU101,TPU102", main=ended.replace("    with torch.no_grad():\n", early))


READERS = """\
import torch
import torch_xla
from torch import nn

device = torch_xla.device()
model = nn.Linear(8, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def show(part):
    if hasattr(part, "weight"):
        WORK


def told(function):
    def wrapper(weight):
        part = model
        WORK
        return function(weight)

    return wrapper


@told
def note(weight):
    pass


def train(batches):
    for x in batches:
        model(x.to(device)).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        CALL
"""


@pytest.mark.parametrize("call", ["model.apply(show)", "note(model.weight)"])
@pytest.mark.parametrize(
    ("work", "is_read"), [("print(part.weight.norm().item())", True), ("part.weight.data.clamp_(-1, 1)", False)]
)
def test_what_is_run_through_others_reads_behind_the_boundary(
    tmp_path: Path, call: str, work: str, is_read: bool
) -> None:
    text = READERS.replace("WORK", work).replace("CALL", call)
    last = "        optimizer.zero_grad()\n"
    sync = "        torch_xla.sync()\n"
    expected = text.replace(last, last + sync) if is_read else text + sync
    (tmp_path / "main.py").write_text(text)
    tpulint("--select=TPU301", "--fix", "--unsafe-fixes", "main.py", cwd=tmp_path)
    assert (tmp_path / "main.py").read_text() == expected


def test_a_function_that_a_turn_defines_updates_where_it_is_called(tmp_path: Path) -> None:
    """Behind the last call of it, and not behind its definition."""
    program = """\
import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(8, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, (x, y) in enumerate(data):
    x, y = x.to(device), y.to(device)

    def go_back(loss):
        if scaler is not None:
            scaler(loss, optimizer, need_update=i % 2 == 0)
        else:
            loss.backward()
            optimizer.step()

    if i % 2:
        with wait():
            loss = torch.nn.functional.cross_entropy(model(x), y)
            go_back(loss)
    else:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        go_back(loss)
    optimizer.zero_grad()
    print(loss.item())
"""
    path = tmp_path / "train.py"
    path.write_text(program)
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU301", "train.py", cwd=tmp_path)
    told = "    optimizer.zero_grad()\n    print"
    assert path.read_text() == program.replace(told, "    optimizer.zero_grad()\n    torch_xla.sync()\n    print")
