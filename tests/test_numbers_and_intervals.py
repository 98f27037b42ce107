"""Numbers of Python that forward passes are given, and intervals that other code tells.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree

TRAINER = """\
    import torch
    from torch import nn

    class Trainer(nn.Module):
        def __init__(self, device):
            super().__init__()
            self.nets = nn.ModuleList(nn.Linear(4, 4) for _ in range(3)).to(device)
            self.optimizer = torch.optim.Adam(self.parameters())

        def checked(self, number):
            assert 0 < number <= len(self.nets)MARK
            return number

        def shown(self, number):
            at = number - 1
            print(getattr(self, f"net{at}"))

        def forward(self, images, number=None):
            number = self.checked(number)
            self.optimizer.zero_grad()
            USE
            loss.backward()
            self.optimizer.step()
    """


@pytest.mark.parametrize(
    ("use", "is_number"),
    [
        ("loss = self.nets[number - 1](images).sum()", True),
        ("loss = getattr(self, f'net{number - 1}')(images).sum()", True),
        ("self.shown(number); loss = self.nets[0](images).sum()", True),
        ("loss = (self.nets[0](images) * number).sum()", False),
    ],
)
def test_number_that_chooses_a_module(tmp_path: Path, use: str, is_number: bool) -> None:
    text = TRAINER.replace("USE", use).replace("MARK", "" if is_number else "  # TPU103")
    agree(tmp_path, "TPU102,TPU103", main=text)


DECAYED = """\
    import torch
    from torch import nn

    def make():
        return Net()

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x, given):
            loss = self.layer(x).pow(2).mean()
            USE
            return loss
    """
DECAYING = """\
    import torch
    import net
    import unseen

    given = GIVEN
    model = net.make().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for x in torch.utils.data.DataLoader(torch.ones(8, 4)):
        loss = model(x.cuda(), given)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
OPTIONS = "{'decay': 0.1, 'limit': 2}"
LOSSES = "{'decay': x.cuda().mean(), 'limit': 2}"


@pytest.mark.parametrize(
    ("given", "use", "is_number"),
    [
        (OPTIONS, "decay = given['decay']; loss = loss * decay if decay > 0 else loss", True),
        ("unseen.settings()", "loss = loss * given['decay'] if given['decay'] > 0 else loss", True),
        ("unseen.settings()", "loss = loss * given['decay'] if not given['decay'] else loss", True),
        ("unseen.settings()", "loss = loss if loss > 1 and given['decay'] else loss * 2", False),
        ("unseen.settings()", "decay = given.get('decay', 0.5); loss = loss * decay if decay > 0 else loss", True),
        ("unseen.settings()", "decay = given['decay'].mean(); loss = loss * decay if decay > 0 else loss", False),
        (LOSSES, "loss = loss * given['decay'] if given['decay'] > 0 else loss", False),
        (LOSSES, "loss = loss * given['limit'] if given['limit'] > 0 else loss", True),
    ],
)
def test_options_that_a_forward_pass_is_given(tmp_path: Path, given: str, use: str, is_number: bool) -> None:
    """What is asked for by a text is no tensor, unless what is given has one under it, or it is used as one."""
    mark = "" if is_number else "  # TPU103"
    main = DECAYING.replace("model(x.cuda(), given)", f"model(x.cuda(), {given})") if given == LOSSES else DECAYING
    agree(tmp_path, "TPU103", net=DECAYED.replace("USE", use + mark), main=main.replace("GIVEN", given, 1))


@pytest.mark.parametrize(("parsed", "is_number"), [("yaml.safe_load('decay: 0.5')", True), ("unseen.read()", False)])
def test_number_out_of_a_configuration_that_is_read(tmp_path: Path, parsed: str, is_number: bool) -> None:
    use = "loss = loss * given if given > 0 else loss" + ("" if is_number else "  # TPU103")
    main = DECAYING.replace("GIVEN", parsed).replace("model(x.cuda(), given)", "model(x.cuda(), given['decay'])")
    main = main.replace("import net", "import net\n    import yaml")
    agree(tmp_path, "TPU103", net=DECAYED.replace("USE", use), main=main)


@pytest.mark.parametrize("name", ["inner_args", "cfg"])
def test_options_by_their_name(tmp_path: Path, name: str) -> None:
    use = "decay = given['decay']\n            loss = loss * decay if decay > 0 else loss"
    net = DECAYED.replace("USE", use)
    agree(tmp_path, "TPU103", net=net.replace("given", name), main=DECAYING.replace("GIVEN", "unseen.settings()"))


COUNTER = """\
    class Counter:
        def __init__(self, size, interval):
            self.size, self.interval, self.total = size, interval, 0

        def shows(self):
            return ANSWER
    """
SHOWN = """
    COUNTER

    counter = Counter(4, 400)
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        if counter.shows():
            show({"loss": loss})

    def show(losses):
        for name, value in losses.items():
            print("%s: %.3f" % (name, value.mean()))MARK
    """


@pytest.mark.parametrize(
    ("answer", "is_rare"),
    [
        ("(self.total % self.interval) < self.size", True),
        ("self.total % self.interval == 0 and self.size > 0", True),
        ("self.total < self.interval", False),
        ("not self.total % self.interval == 0", False),
    ],
)
def test_interval_that_a_method_tells(tmp_path: Path, answer: str, is_rare: bool) -> None:
    counter = COUNTER.replace("ANSWER", answer)
    text = SETUP + SHOWN.replace("MARK", "" if is_rare else "  # TPU102")
    agree(tmp_path, "TPU102", main=text.replace("COUNTER", "from counters import Counter"), counters=counter)
    (tmp_path / "counters.py").unlink()
    agree(tmp_path, "TPU102", main=text.replace("COUNTER", counter.strip()))


def test_what_asks_whether_to_train_is_no_interval(tmp_path: Path) -> None:
    """``if self.is_update():`` lets whole steps through, as often as it is true."""
    program = """\
    import torch

    class Agent:
        def __init__(self, net: torch.nn.Module):
            self.net = net.cuda()
            self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
            self.steps = 0

        def is_update(self):
            return self.steps % 4 == 0

        def run(self, env):
            for state in env:
                self.steps += 1
                if self.is_update():
                    self.learn(state)

        def learn(self, state):
            loss = self.net(state.cuda()).mean()
            self.optimizer.zero_grad()
            loss.backward()
            print(loss.item())  # TPU101
            self.optimizer.step()
    """
    agree(tmp_path, "TPU101", main=program)


def test_what_the_control_of_a_trainer_says(tmp_path: Path) -> None:
    """Its answers come from callbacks, every n-th turn: what they let through is told as such, or not at all."""
    program = (
        SETUP
        + """
    class Trainer:
        def train(self):
            total = torch.zeros(1).to(device)
            for x, y in loader:
                loss = F.mse_loss(model(x.to(device)), y.to(device))
                loss.backward()
                optimizer.step()
                total += loss.detach()
                self.log(total)

        def log(self, total):
            if self.control.should_log:
                print(total.item())
    """
    )
    agree(tmp_path, "TPU101", main=program)


PIECES = f"""{SETUP}\
states = torch.randn(64, 4).to(device)
    order, n = torch.randperm(64), 66 / 4
    for j in range(3):
        loss = model(states[PIECE]).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """


@pytest.mark.parametrize(
    ("piece", "is_new"),
    [
        ("order[int(j * n) : int((j + 1) * n)]", False),  # as many, or one more
        ("order[int(j * 66 / 4) : int((j + 1) * 66 / 4)]", False),
        ("order[round(j * (66 / n)) : round(j * (66 / n) + 66 / n)]", False),
        ("order[int(j * n) : int(j * j * n)]", True),
        ("order[int(66 / (j + 1)) : int(132 / (j + 1))]", True),
        ("order[: int(j * n)]", True),
        ("order[int(j) : int(j * 2)]", True),
    ],
)
def test_pieces_whose_ends_are_rounded(tmp_path: Path, piece: str, is_new: bool) -> None:
    text = PIECES.replace("states[PIECE]).sum()", f"states[{piece}]).sum()" + ("  # TPU201" if is_new else ""))
    agree(tmp_path, "TPU201", main=text)


DUE = """\
    import torch
    from torch import nn

    net = nn.Linear(4, 1).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    due = 100
    for i, x in enumerate(torch.utils.data.DataLoader(range(64), batch_size=8)):
        loss = net(x.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        GUARD
            print(loss.item())MARK
            RENEWED
    """


@pytest.mark.parametrize(
    ("guard", "renewed", "is_rare"),
    [
        ("if i - due >= 10:", "due = i", True),
        ("if i - due >= 10:", "due = 0", False),
        ("if i - due >= 10:", "pass", False),
        ("if x.shape[0] > 3 and i - due >= 10:", "due += 10", True),
        ("if i >= due:", "due += 100", True),
        ("if i >= due:", "due = i + 100", True),
        ("if i >= due:", "due = i", False),
        ("if i >= due:", "due += 1", False),
        ("if i - due >= 1:", "due = i", False),
        ("if i <= due:", "due += 1", False),
        ("count = i + 1\n        if i % 10 == 0 or count == 64:", "pass", True),
        ("part = i // 4\n        if part == 3:", "pass", True),
        ("part = i // 4\n        if part > 3:", "pass", False),
        ("part = len(x)\n        if part == 3:", "pass", False),
        ("if i in (3, 5):", "pass", True),
        ("shown = [3, 5]\n        if i in shown:", "pass", True),
        ("if i in net.shown:", "pass", True),
        ("shown = net.shown\n        if i in shown:", "pass", True),
        ("if i in range(60):", "pass", False),
        ("for part in range(4):\n          if part in (1, 3):", "pass", False),
        ("part = len(x)\n        if part in (3, 5):", "pass", False),
    ],
)
def test_guards_that_few_steps_pass(tmp_path: Path, guard: str, renewed: str, is_rare: bool) -> None:
    text = DUE.replace("GUARD", guard).replace("RENEWED", renewed).replace("MARK", "" if is_rare else "  # TPU101")
    agree(tmp_path, "TPU101", main=text)
