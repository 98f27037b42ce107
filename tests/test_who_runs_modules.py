"""Modules that are run behind methods, attributes and objects: which loops evaluate, and what is read there.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint
from test_handed_objects import marked


def _assert_marked(folder: Path, rules: str, **files: str) -> None:
    (folder / "pyproject.toml").touch()
    for name, text in files.items():
        (folder / f"{name}.py").write_text(dedent(text))
    answer = tpulint("--output-format=json", "--select", rules, ".", cwd=folder)
    said = {f"{Path(one['filename']).name}:{one['location']['row']} {one['code']}" for one in json.loads(answer.out)}
    assert said == marked(folder)


POLICIES = """
    import torch
    from torch import nn
    from torch.distributions import Normal

    class Fixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(4, 2)

        def forward(self, x):
            return self.net(x)

        @torch.no_grad()
        def act(self, state, device="cpu"):
            return self(torch.tensor(state, device=device)).cpu().numpy()  # TPU101

    class Random(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(4, 2)

        def forward(self, x):
            return Normal(self.net(x), 1.0, validate_args=False)

        @torch.no_grad()
        def act(self, state, device="cpu"):
            action = self(torch.tensor(state, device=device)).mean
            return action.cpu().numpy()  # TPU101

    @torch.no_grad()
    def play(game, actor: nn.Module, device):
        actor.eval()
        state, done = game.reset(), False
        while not done:
            action = actor.act(state, device)
            state, done = game.step(action)

    class Trainer:
        def __init__(self, actor, optimizer, device):
            self.actor = actor
            self.optimizer = optimizer
            self.device = device

    def main(game, options):
        device = torch.device("cuda")
        actor = (Fixed() if options.fixed else Random()).to(device)
        parts = {"actor": actor, "optimizer": torch.optim.Adam(actor.parameters()), "device": device}
        trainer = Trainer(**parts)
        actor = trainer.actor
        for _ in range(100):
            play(game, actor, device)
"""


def test_a_method_that_runs_its_module_evaluates(tmp_path: Path) -> None:
    """And the object is of one of two classes, and was handed over in a dictionary."""
    _assert_marked(tmp_path, "TPU101", policies=POLICIES)


def test_a_method_that_runs_nothing_does_not(tmp_path: Path) -> None:
    """It is a number of the host that it gives."""
    quiet = POLICIES.replace("self(torch", "abs(torch").replace("device=device)", 'device="cpu")')
    _assert_marked(tmp_path, "TPU101", policies=quiet.replace("  # TPU101", ""))


def test_the_model_of_an_object_that_is_handed_over(tmp_path: Path) -> None:
    """Nobody sees its class: what is told to evaluate is a module."""
    runner = """
        import torch
        from torch.utils.data import DataLoader

        def predict(dataset, device):
            dataset.model.eval()
            found = []
            for batch in DataLoader(dataset, batch_size=8, drop_last=True):
                scores = dataset.model(batch.to(device))["scores"]
                found.extend(scores.cpu().numpy())  # TPU101
            return found

        def train(dataset, device):
            dataset.runner.train()
            for batch in DataLoader(dataset, batch_size=8, drop_last=True):
                scores = dataset.runner(batch)["scores"]
                dataset.found.extend(scores.cpu().numpy())
    """
    _assert_marked(tmp_path, "TPU101", runner=runner)


ADVERSARY = """
    import torch
    from torch import nn
    from torch.nn import functional as F

    device = torch.device("cuda")

    def changed(model, x, y):
        delta = torch.zeros_like(x, requires_grad=True)
        for _ in range(3):
            F.cross_entropy(model(x + delta), y).backward()
            delta.data = delta.data + 0.1 * delta.grad.sign()
            delta.grad.zero_()
        return delta.detach()

    def test(model: nn.Module, batches):
        model.eval()
        total = 0.0
        for x, y in batches:
            x, y = x.to(device), y.to(device)
            output = model(x + changed(model, x, y))
            total += F.cross_entropy(output, y).item()  # TPU104
        return total
"""


def test_an_adversary_goes_backward_in_an_evaluation(tmp_path: Path) -> None:
    """The gradient is that of the batch."""
    _assert_marked(tmp_path, "TPU104", adversary=ADVERSARY)


def test_whoever_updates_trains(tmp_path: Path) -> None:
    """A model in evaluation mode may be trained all the same."""
    text = ADVERSARY.replace("total += ", "step.run()\n            step.step()\n            total += ")
    _assert_marked(tmp_path, "TPU302", adversary=text.replace("  # TPU104", ""))


BATCHES = """
    import torch
    from torch import nn
    from torch.utils.data import DataLoader

    device = torch.device("cuda")

    class Batches:
        def __init__(self, dataset, size, drop_last=False):
            self.loader = DataLoader(dataset, batch_size=size, shuffle=True, drop_last=drop_last)  # TPU501

        def __iter__(self):
            return ((x.to(device), y.to(device)) for x, y in self.loader)

    def main(dataset):
        model = nn.Linear(4, 2).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        batches = Batches(dataset, 32)
        for _ in range(3):
            for x, y in batches:
                loss = nn.functional.cross_entropy(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
"""


def test_an_object_that_goes_through_its_own_loader(tmp_path: Path) -> None:
    """And nothing is said of the last batch where it is made."""
    _assert_marked(tmp_path, "TPU501", batches=BATCHES)


def test_an_object_that_is_told_of_its_last_batch(tmp_path: Path) -> None:
    """The call says what the parameter does not."""
    told = BATCHES.replace("Batches(dataset, 32)", "Batches(dataset, 32, drop_last=True)")
    _assert_marked(tmp_path, "TPU501", batches=told.replace("  # TPU501", ""))


LENGTHS = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.LSTM(8, 8)

        def forward(self, x, lengths):
            packed = nn.utils.rnn.pack_padded_sequence(x, lengths.cpu().numpy())  # TPU101
            return self.words(packed)[1].sum()
"""
LENGTHS_MAIN = """
    import torch
    from net import Net

    device = torch.device("cuda")

    def batch(rows):
        lengths = torch.LongTensor(list(map(len, rows)))
        x = torch.zeros(len(rows), 8).to(device)
        return x, lengths.to(device)

    model = Net().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for rows in open("rows").readlines():
        x, lengths = batch(rows)
        loss = model(x, lengths)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_lengths_that_stay_on_the_host(tmp_path: Path) -> None:
    """What other files give a forward pass is where it was left; nothing is said of what was not moved."""
    _assert_marked(tmp_path, "TPU101", net=LENGTHS, main=LENGTHS_MAIN)
    quiet = {"net": LENGTHS.replace("  # TPU101", ""), "main": LENGTHS_MAIN.replace("lengths.to(device)", "lengths")}
    _assert_marked(tmp_path, "TPU101", **quiet)


BASE = """
    import torch
    import torch_xla

    class Base:
        def __init__(self, model, device):
            self.model = model
            self.device = device

        def loss_of(self, x):
            out = self.model(x)
            print(out.mean().item())  # TPU101
            return out.sum()

        def accuracy(self, loader):
            self.model.eval()
            for x, y in loader:
                with torch.no_grad():
                    out = self.model(x.to(self.device))
                torch_xla.sync()
"""
DERIVED = """
    import torch
    import torch_xla
    from base import Base

    class Derived(Base):
        def train(self, loader, test_loader):
            optimizer = torch.optim.SGD(self.model.parameters(), momentum=0.9, lr=0.1)
            for epoch in range(3):
                correct = 0
                for x, y in loader:
                    loss = self.loss_of(x.to(self.device))
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    torch_xla.sync()
                    values, best = torch.max(self.model(x.to(self.device)), dim=1)  # TPU221
                    correct += (best.cpu() == y).sum()  # TPU101
                self.accuracy(test_loader)
"""


def test_methods_of_a_base_class_in_another_file(tmp_path: Path) -> None:
    """What every step calls of them runs in every step; an evaluation there takes what a step leaves."""
    _assert_marked(tmp_path, "TPU101,TPU221", base=BASE, derived=DERIVED)


def test_a_method_that_is_replaced_runs_instead(tmp_path: Path) -> None:
    """The class of this file has one of the same name."""
    own = "\n        def loss_of(self, x):\n            return self.model(x).sum()\n\n        def train("
    derived = DERIVED.replace("\n        def train(", own)
    _assert_marked(tmp_path, "TPU101,TPU221", base=BASE.replace("  # TPU101", ""), derived=derived)


def test_what_a_list_of_moved_tensors_was_made_of_does_not_make_it_one_of_the_host(tmp_path: Path) -> None:
    """A variable may have been a batch of the loader before."""
    net = """
        import torch
        from torch import nn

        class Loss(nn.Module):
            def forward(self, scores, targets):
                best = targets[0] * scores
                best[targets[0] < 0.5] = 0  # TPU204
                return best.sum()
    """
    main = """
        import torch
        from torch import nn
        from torch.utils.data import DataLoader
        from net import Loss

        device = torch.device("cuda")

        def train(dataset, model: nn.Module, options):
            criterion = Loss()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            batches = iter(DataLoader(dataset, batch_size=8, drop_last=True))
            for step in range(100):
                x, targets = next(batches)
                if options.cuda:
                    x = x.cuda()
                    targets = [item.cuda() for item in targets]
                loss = criterion(model(x), targets)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    """
    _assert_marked(tmp_path, "TPU204", net=net, main=main)


BLOCKS = """
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate = nn.Parameter(torch.tensor(0.1))

        def forward(self, x):
            return x * torch.sigmoid(self.gate).item(){mark}
    """
FLOW = """
    from torch import nn

    class Flow(nn.Module):
        def __init__(self, parts):
            super().__init__()
            self.chain = nn.ModuleList(parts)

        def forward(self, x):
            for i in range(len(self.chain)):
                x = self.chain[i](x)
            return x
    """
FILLED = """
    import torch
    from torch import nn
    from blocks import Block
    from flow import Flow

    def other(blocks):
        blocks.append(nn.Linear(4, 4))

    def another():
        blocks = []
        {elsewhere}

    blocks = []
    for _ in range(3):
        {here}
    model = {whole}.cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for x in loader:
        optimizer.zero_grad()
        model(x.cuda()).sum().backward()
        optimizer.step()
    """


@pytest.mark.parametrize("whole", ["nn.Sequential(*blocks)", "Flow(blocks)"])
@pytest.mark.parametrize(
    ("here", "elsewhere", "is_told"),
    [
        ("blocks.append(Block())", "pass", True),
        ("blocks.append(nn.Linear(4, 4)); blocks.append(Block())", "pass", True),
        ("blocks.append(nn.Linear(4, 4))", "blocks.append(Block())", False),
    ],
)
def test_modules_that_a_list_of_the_file_is_filled_with(
    tmp_path: Path, whole: str, here: str, elsewhere: str, is_told: bool
) -> None:
    blocks = BLOCKS.format(mark="  # TPU101" if is_told else "")
    train = FILLED.format(whole=whole, here=here, elsewhere=elsewhere)
    _assert_marked(tmp_path, "TPU101", blocks=blocks, flow=FLOW, train=train)
