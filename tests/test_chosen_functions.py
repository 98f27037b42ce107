"""Functions of a list that a loop goes through, two functions of one name, masks of every third output."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree

LOSS = """\
    import torch
    from torch import nn

    class Loss(nn.Module):
        def plain(self, out, y):
            return nn.functional.cross_entropy(out, y)

        def hard(self, out, y):
            losses = nn.functional.cross_entropy(out, y, reduction="none")
            return losses[losses > 0.3].mean()  # TPU203

        def forward(self, outs, y):
            functions = [self.plain] * (len(outs) - 1) + [self.hard]
            return sum([part(out, y) for out, part in zip(outs, functions)])
    """


def test_methods_of_a_list_that_a_comprehension_goes_through(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    from loss import Loss

    criterion = Loss()
    for x, y in loader:
        optimizer.zero_grad()
        criterion([model(x.to(device))], y.to(device)).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU203", main=program, loss=LOSS)


def test_two_functions_of_one_name_in_branches(tmp_path: Path) -> None:
    """A function of another file returns one of them, and a third file runs it."""
    losses = """\
    from hard import Hard

    def make_loss(kind):
        hard = Hard()
        if kind == "plain":
            def measure(out, y):
                return (out - y).pow(2).mean()
        elif kind == "hard":
            def measure(out, y):
                return hard(out, y)
        return measure
    """
    hard = """\
    class Hard:
        def __call__(self, out, y):
            wrong = (out - y).abs()
            return wrong[wrong > 0.1].mean()  # TPU203
    """
    trainer = """\
    def train(model, loader, optimizer, measure):
        for x, y in loader:
            optimizer.zero_grad()
            measure(model(x.cuda()), y.cuda()).backward()
            optimizer.step()
    """
    program = (
        SETUP
        + """
    from losses import make_loss
    from trainer import train

    train(model, loader, optimizer, make_loss(args.loss))
    """
    )
    agree(tmp_path, "TPU203", main=program, losses=losses, hard=hard, trainer=trainer)


TARGETS = """\
    import torch

    def build(outputs, targets, device):
        found = []
        for i, output in enumerate(outputs):
            if i % 3 == 0:
                near = targets[:, 2:4] % 1.0
                j, k = ((near < 0.5) & (near > 0.1)).T
                chosen = torch.stack((torch.ones_like(j), j, k))
                found.append(targets.repeat((3, 1, 1))[chosen])  # TPU203
        return found
    """


def test_masks_of_every_third_output(tmp_path: Path) -> None:
    """A loop over the outputs of one batch runs to its end in every step: its counter is none of steps."""
    program = (
        SETUP
        + """
    from targets import build

    for x, y in loader:
        outputs = model(x.to(device))
        found = build(outputs, y.to(device), device)
        optimizer.zero_grad()
        sum(part.sum() for part in found).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU203", main=program, targets=TARGETS)


def test_what_a_function_that_another_made_is_given(tmp_path: Path) -> None:
    """It calls one of another file, which calls one of a third: there is a call whose tensors nobody places."""
    program = (
        SETUP
        + """
    from losses import relative

    def make_loss(name):
        def measure(x, out, y):
            if name == "relative":
                return relative(out, y)
            d = out - y
            d[d != d] = 0.0  # TPU204
            return d.pow(2).mean()

        return measure

    criterion = make_loss("relative")
    for x, y in loader:
        optimizer.zero_grad()
        criterion(x, model(x.to(device)), y.to(device)).backward()
        optimizer.step()
    """
    )
    losses = """\
    import torch
    from division import divide

    def relative(out, y, weights: torch.Tensor = None):
        if weights is not None:
            return divide(weights, torch.abs(weights)).mean()
        return divide(torch.abs(out - y), torch.abs(y)).mean()
    """
    division = """\
    import torch

    def divide(a, b):
        quotient = a / b
        quotient[quotient != quotient] = 0.0  # TPU204
        return quotient
    """
    agree(tmp_path, "TPU203,TPU204", main=program, losses=losses, division=division)


def test_branches_that_only_run_without_python_or_when_something_fails(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    def count(index, size=None):
        if size is not None:
            return size
        if torch.jit.is_tracing():
            return index.max() + 1
        return int(index.max()) + 1  # TPU101

    def pick(x, index):
        if not torch.jit.is_scripting():
            size = count(index)
            assert size == x.size(0)
        elif index.max() > 9:
            return x
        try:
            return x[index]
        except IndexError as error:
            raise IndexError(f"{index.min().item()}") from error
        except AttributeError:
            print(index.min().item())  # TPU101
        return x

    for x, y, index in loader:
        F.mse_loss(pick(model(x.to(device)), index.to(device)), y.to(device)).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, main=program)


def test_objects_that_a_step_makes(tmp_path: Path) -> None:
    """What makes one runs in every step, in this file and in another; masks tell what they are taken of."""
    program = (
        SETUP
        + """
    from routes import Routes

    class Pairs:
        def __init__(self, out):
            self.sizes = (out > 0).sum(0).tolist()  # TPU101

    for x, y, boxes in loader:
        out = model(x.to(device))
        pairs = Pairs(out)
        routes = Routes(out, boxes)
        F.mse_loss(out, y.to(device)).backward()
        optimizer.step()
    """
    )
    routes = """\
    import torch

    class Routes:
        def __init__(self, out, boxes):
            self.places = torch.nonzero(out)  # TPU203
            far = out > out.mean()
            rows, columns = boxes[0]
            self.rows = rows[far]  # TPU203
            self.counts = torch.bincount(self.rows)  # TPU135
            columns[far] = 0.0  # TPU204
    """
    agree(tmp_path, "TPU101,TPU135,TPU203,TPU204", main=program, routes=routes)


@pytest.mark.parametrize(
    ("choice", "is_known"),
    [
        ("run = train", True),
        ("run = train if plain else train_far", True),
        ("if plain:\n        run = train\n    else:\n        run = train_far", True),
        ("run = other", False),
        ("run = train if plain else other", False),
    ],
)
def test_loader_that_a_chosen_function_takes(tmp_path: Path, choice: str, is_known: bool) -> None:
    program = (
        SETUP
        + f"""
    def train(batches, loss=F.mse_loss):
        for x, y in batches:
            loss(model(x.to(device)), y.to(device)).backward()
            optimizer.step()

    def train_far(batches):
        for x, y in batches:
            F.l1_loss(model(x.to(device)), y.to(device)).backward()
            optimizer.step()

    loader = torch.utils.data.DataLoader(rows, batch_size=8, shuffle=True)
    {choice}
    for epoch in range(9):
        run(loader)
    """
    )
    mark = "shuffle=True)"
    agree(tmp_path, "TPU501", main=program.replace(mark, f"{mark}  # TPU501") if is_known else program)


@pytest.mark.parametrize(
    ("parameter", "made", "called", "is_told"),
    [
        ("criterion=focal", "pass", "train(loader)", True),
        ("criterion=focal", "pass", "train(loader, plain)", False),
        ("criterion=None", "pass", "train(loader)", False),
        ("criterion=focal", "pass", "train(*options)", False),
        ("name", "criterion = partial(focal)", "train(loader, 'a')", True),
        ("name", "criterion = partial(focal, factor=2)", "train(loader, 'a')", True),
        ("name", "criterion = partial(plain, factor=2)", "train(loader, 'a')", False),
        ("name", "criterion = LOSSES[name]", "train(loader, 'a')", True),
        ("name", "criterion = {'a': plain, 'b': plain}[name]", "train(loader, 'a')", False),
        ("name", "criterion = OTHERS[name]", "train(loader, 'a')", False),
    ],
)
def test_functions_that_are_not_called_by_their_names(
    tmp_path: Path, parameter: str, made: str, called: str, is_told: bool
) -> None:
    program = f"""\
    from functools import partial

    import torch
    from torch import nn

    def focal(out, y, factor=1):
        if y.sum() == 0:{"  # TPU103" if is_told else ""}
            return factor * out.mean()
        return factor * (out - y).abs().mean()

    def plain(out, y, factor=1):
        return factor * (out - y).abs().mean()

    LOSSES = {{"focal": focal, "plain": plain}}
    OTHERS = {{"focal": focal, "other": make_other()}}
    model = nn.Linear(4, 4).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(loader, {parameter}):
        {made}
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x.to("cuda")), y.to("cuda")).backward()
            optimizer.step()

    {called}
    """
    agree(tmp_path, "TPU103", main=program)


@pytest.mark.parametrize(("given", "is_told"), [("", True), (", choose=numbers_of", False)])
def test_what_a_default_function_gives(tmp_path: Path, given: str, is_told: bool) -> None:
    program = f"""\
    import torch
    from torch import nn

    def largest(logits, size):
        values, places = torch.topk(logits, size)
        return torch.full_like(logits, float("-inf")).scatter_(1, places, values)

    def numbers_of(logits, size):
        return unseen(logits, size)

    class Writer(nn.Module):
        def __init__(self, net):
            super().__init__()
            self.net = net

        @torch.no_grad()
        def write(self, out, end, choose=largest):
            for _ in range(20):
                chosen = choose(self.net(out)[:, -1], 4)
                word = torch.multinomial(chosen.softmax(-1), 1)
                out = torch.cat((out, word), dim=-1)
                if (word == end).all():{"  # TPU103" if is_told else ""}
                    break
            return out

    writer = Writer(nn.Sequential(nn.Embedding(16, 8), nn.Linear(8, 16))).to("cuda")
    writer.write(torch.zeros(4, 1, dtype=torch.long, device="cuda"), 0{given})
    """
    agree(tmp_path, "TPU103", main=program)


@pytest.mark.parametrize(
    ("kept", "is_told"),
    [
        ("self.model, self.run_step = model, run_step", True),
        ("(self.model, self.run_step), self.rate = (model, run_step), 0.1", True),
        ("self.model, self.run_step = chosen(model, run_step)", False),
        ("self.model, *self.run_step = model, run_step", False),
    ],
)
def test_function_that_an_object_keeps_beside_others(tmp_path: Path, kept: str, is_told: bool) -> None:
    mark = "  # TPU103" if is_told else ""
    step = f"""\
    def step(model, batch):
        out = model(batch.cuda())
        if (out > 0).sum() == 0:{mark}
            return out.sum()
        return out.mean()
    """
    trainer = f"""\
    class Trainer:
        def __init__(self, model, run_step, optimizer):
            {kept}
            self.optimizer = optimizer

        def train(self, loader):
            for batch in loader:
                self.optimizer.zero_grad()
                self.run_step(self.model, batch).backward()
                self.optimizer.step()
    """
    main = """\
    import torch
    from torch import nn
    import steps
    from trainer import Trainer

    model = nn.Linear(4, 2).cuda()
    Trainer(model, steps.step, torch.optim.SGD(model.parameters(), lr=0.1)).train(loader)
    """
    agree(tmp_path, "TPU103", main=main, trainer=trainer, steps=step)


@pytest.mark.parametrize("hint", ["", "out: torch.Tensor", "out: object"])
def test_parameter_of_which_a_line_says_what_it_is(tmp_path: Path, hint: str) -> None:
    program = f"""\
    import torch
    from torch import nn

    def score(out):
        {hint}
        return out.max().item()  # TPU101

    model = nn.Linear(4, 4).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        out = model(x.to("cuda"))
        print(score(out))
        optimizer.zero_grad()
        out.mean().backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU101", main=program)


def test_functions_that_a_call_does_not_fit(tmp_path: Path) -> None:
    """Of those that a name may stand for, what a call gives too many arguments is not the one."""
    program = """\
    import torch

    class Cell(torch.nn.Module):
        def __init__(self, wide):
            super().__init__()
            self.linear, self.wide = torch.nn.Linear(4, 4), wide

        def forward(self, x, state):
            run = self.run_wide if self.wide else self.run
            return run(x, x, state, 8, start=1.0)

        def run(self, x, state, size, start=0.0):
            return self.linear(x) if size > 2 else x

        def run_wide(self, x, other, state, size, start=0.0):
            return self.linear(x) if state.sum() > size else x  # TPU103

    model = Cell(True).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, state in loader:
        loss = model(x.cuda(), state.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU103", main=program)
