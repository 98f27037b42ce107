"""Trainers that leave a part of the step to derived classes, and the files that make what they go through."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint
from marked_files import agree
from test_handed_objects import lint, marked, write

BASE = """\
    from abc import ABCMeta, abstractmethod

    import torch
    from tqdm import tqdm


    class Trainer(metaclass=ABCMeta):
        def __init__(self, args, model, train_loader, test_loader):
            self.device = args.device
            self.model = model.to(self.device)
            self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
            self.train_loader = train_loader
            self.test_loader = test_loader

        @abstractmethod
        def loss(self, batch):
            pass

        @abstractmethod
        def metrics(self, batch):
            pass

        def end(self):
            pass

        def train(self):
            for batch in tqdm(self.train_loader):
                batch = [part.to(self.device) for part in batch]
                self.optimizer.zero_grad()
                self.loss(batch).backward()
                self.optimizer.step()
            self.end()

        def test(self):
            self.model.eval()
            loader = tqdm(self.test_loader)
            with torch.no_grad():
                for i, batch in enumerate(loader):
                    batch = [part.to(self.device) for part in batch]
                    print(self.metrics(batch))
    """
OWN = """\
    from trainers.base import Trainer
    from trainers.scores import hits


    class OwnTrainer(Trainer):
        def loss(self, batch):
            x, y = batch
            out = self.model(x)
            print(out.mean().item())  # TPU101
            return (out - y).pow(2).mean()

        def metrics(self, batch):
            x, y = batch
            return hits(self.model(x), y)

        def end(self):
            print(self.model(self.last).sum().item())

        def alone(self, batch):
            return self.model(batch[0]).sum().item()
    """
SCORES = """\
    def hits(scores, labels):
        return (scores.argmax(1) == labels).float().mean().cpu().item()  # TPU101
    """
TRAINERS = """\
    from .own import OwnTrainer

    TRAINERS = {OwnTrainer.__name__: OwnTrainer}


    def make_trainer(args, model, train_loader, test_loader):
        trainer = TRAINERS[args.trainer]
        return trainer(args, model, train_loader, test_loader)
    """
DATA = """\
    from .pairs import Pairs

    DATA = {"pairs": Pairs}


    def make_loaders(args):
        data = DATA[args.data]
        data = data(args)
        train, test, spare = data.loaders()
        return train, test
    """
PAIRS = """\
    from torch.utils.data import DataLoader


    class Pairs:
        def __init__(self, args):
            self.args = args

        def loaders(self):
            spare = DataLoader(read("spare"), batch_size=8)
            return self.train_loader(), self.test_loader(), spare

        def train_loader(self):
            loader = DataLoader(read("train"), batch_size=8, shuffle=True)  # TPU501
            return loader

        def test_loader(self):
            return DataLoader(read("test"), batch_size=8)  # TPU516
    """
MAIN = """\
    import torch
    from data import make_loaders
    from options import args
    from trainers import make_trainer

    train_loader, test_loader = make_loaders(args)
    trainer = make_trainer(args, torch.nn.Linear(4, 4), train_loader, test_loader)
    trainer.train()
    trainer.test()
    """
FILES = {
    "main.py": MAIN,
    "options.py": "import argparse\n\nparser = argparse.ArgumentParser()\n"
    'parser.add_argument("--device", default="cuda")\nargs = parser.parse_args()\n',
    "data/__init__.py": DATA,
    "data/pairs.py": PAIRS,
    "trainers/__init__.py": TRAINERS,
    "trainers/base.py": BASE,
    "trainers/own.py": OWN,
    "trainers/scores.py": SCORES,
}


def test_what_loops_of_a_base_class_run_in_derived_ones(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    assert lint(tmp_path) == marked(tmp_path)
    assert lint(tmp_path) == marked(tmp_path), "the second time what files tell each other comes from the cache"


DERIVED = "class {}({}):\n    pass\n\n\n"


@pytest.mark.parametrize(
    "between",
    [
        DERIVED.format("MiddleTrainer", "Trainer"),
        DERIVED.format("FirstTrainer", "Trainer") + DERIVED.format("MiddleTrainer", "FirstTrainer"),
    ],
)
def test_classes_between_them(tmp_path: Path, between: str) -> None:
    own = OWN.replace("trainers.base import Trainer", "trainers.middle import MiddleTrainer").replace(
        "(Trainer)", "(MiddleTrainer)"
    )
    write(
        tmp_path,
        {**FILES, "trainers/own.py": own, "trainers/middle.py": "from trainers.base import Trainer\n\n\n" + between},
    )
    assert lint(tmp_path) == marked(tmp_path)


def test_another_class_than_the_one_that_loops(tmp_path: Path) -> None:
    write(tmp_path, {**FILES, "trainers/own.py": OWN.replace("(Trainer)", "(Other)").replace("  # TPU101", "")})
    found = lint(tmp_path)
    assert not any("own.py" in row or "scores.py" in row for row in found), found


def test_a_loop_over_batches_that_leaves_nothing_to_others_evaluates_nothing(tmp_path: Path) -> None:
    base = BASE.replace("        @abstractmethod\n        def metrics(self, batch):\n            pass\n", "")
    assert base != BASE
    base = base.replace("self.metrics(batch)", "len(batch)")
    write(tmp_path, {**FILES, "trainers/base.py": base})
    assert {row for row in marked(tmp_path) if "scores" not in row and "TPU516" not in row} == lint(tmp_path)


def test_loaders_that_no_loop_goes_through(tmp_path: Path) -> None:
    write(tmp_path, {**FILES, "main.py": MAIN.replace("train_loader, test_loader)\n", "None, None)\n")})
    assert not any("pairs" in row for row in lint(tmp_path))


STEP = """\
    import torch
    from trainers.base import Trainer


    class OwnTrainer(Trainer):
        def step(self, batch):
            loss = self.model(batch).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            return loss.detach().cpu().item()
    """
PLAIN = """\
    import torch


    class Trainer:
        def __init__(self, model, loader):
            self.model = model
            self.loader = loader
            self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def loss(self, batch):
            raise NotImplementedError

        def step(self, batch):
            loss = self.loss(batch)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            return loss.item()

        def train(self):
            losses = []
            self.model.train()
            for at in range(10):
                batch = self.loader[at]
                losses.append(self.step(batch))
            return sum(losses)
    """
LOSS = """\
    from trainers.base import Trainer


    class OwnTrainer(Trainer):
        def loss(self, batch):
            loss = self.model(batch).mean()
            print(loss.item())
            return loss
    """


@pytest.mark.parametrize("own", [STEP, LOSS])
@pytest.mark.parametrize("base", [PLAIN, PLAIN.replace("self.loader[at]", "self.loader[at].cuda()")])
def test_a_second_run_changes_nothing(tmp_path: Path, base: str, own: str) -> None:
    main = "import torch\nfrom trainers.own import OwnTrainer\n\n"
    main += 'OwnTrainer(torch.nn.Linear(4, 4).to("cuda"), [torch.ones(2, 4).to("cuda")]).train()\n'
    write(tmp_path, {"main.py": main, "trainers/__init__.py": "", "trainers/base.py": base, "trainers/own.py": own})
    texts = []
    for _ in range(2):
        tpulint("--fix", "--unsafe-fixes", "--no-cache", ".", cwd=tmp_path)
        texts.append({path: path.read_text() for path in tmp_path.rglob("*.py")})
    assert texts[0] == texts[1]
    assert "torch_xla" in texts[0][tmp_path / "main.py"]


def test_steps_that_a_class_leaves_to_its_base(tmp_path: Path) -> None:
    program = """\
    import torch
    from torch import nn
    import torch.nn.functional as F

    class Named:
        name = "hard"

    class Hard(nn.Module):
        def forward(self, out, y):
            losses = F.cross_entropy(out, y, reduction="none")
            return losses[losses > 0.5].mean()  # TPU203

        def share(self, out):
            return (out > 0).float().mean().item()  # TPU101

    class Weighted(Named, Hard):
        def __init__(self, weight):
            super().__init__()
            self.weight = weight

        def forward(self, out, y):
            self.last = super(Weighted, self).share(out)
            return self.weight * super().forward(out, y)

    model = nn.Linear(4, 4).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    criterion = Weighted(0.5)
    for x, y in loader:
        criterion(model(x.cuda()), y.cuda()).backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU101,TPU203", main=program)


def test_steps_that_a_base_leaves_to_a_class_of_the_same_file(tmp_path: Path) -> None:
    """The loop stands in the base, which has no method of that name itself."""
    program = """\
    import torch
    from torch import nn

    class Base:
        def run(self):
            for x in self.loader:  # TPU301
                self.optimize(x)

    class Own(Base):
        def __init__(self, loader):
            self.loader = loader
            self.net = nn.Linear(4, 1).cuda()
            self.optimizer = torch.optim.Adam(self.net.parameters())

        def optimize(self, x):
            loss = self.net(x.cuda()).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if loss.item() < 1e-5:  # TPU103
                print("done")
    """
    agree(tmp_path, "TPU103,TPU301", main=program)


@pytest.mark.parametrize(("base", "step", "told"), [("Sac", "loss.backward()", True), ("Sac", "pass", False)])
def test_base_classes_of_any_name_whose_files_train(tmp_path: Path, base: str, step: str, told: bool) -> None:
    mark = "  # TPU101" if told else ""
    files = {
        "sac": f"""\
        import torch
        from torch import nn

        class {base}:
            def __init__(self):
                self.net = nn.Linear(8, 2).cuda()
                self.opt = torch.optim.Adam(self.net.parameters())

            def run(self, batches):
                for x, y in batches:
                    self.learn(x.cuda(), y.cuda())

            def learn(self, x, y):
                out, action = self.produce(x)
                loss = (out - y).mean()
                self.opt.zero_grad()
                {step}
                self.opt.step()

            def produce(self, x):
                return self.net(x), None
        """,
        "discrete": f"""\
        import torch
        from sac import {base}

        class Discrete({base}):
            def produce(self, x):
                out = self.net(x)
                return out, out.argmax(1).cpu(){mark}
        """,
        "main": "from discrete import Discrete\nDiscrete().run(batches)\n",
    }
    agree(tmp_path, "TPU101", **files)


GRAND = """\
    import torch
    from nets import Net

    class Trainer:
        def __init__(self, loader, size):
            self.device = torch.device("cuda")
            self.loader = loader
            self.model = torch.nn.Linear(size, 4).to(self.device)
            self.net = Net(size)
            self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

        def parse(self, batch):
            return batch["x"].to(self.device), batch["y"].to(self.device)

        def backward_and_update(self, loss):
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

        def train(self):
            for batch in self.loader:
                self.step(batch)
    """
NETS = """\
    from torch import nn

    class Net(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.linear = nn.Linear(size, 4)

        def forward(self, x):
            y = self.linear(x)
            return y / y.max().item(){}
    """
SUB = """\
    import torch.nn.functional as F
    from {} import Middle

    class Own(Middle):
        def step(self, batch):
            x, y = self.parse(batch)
            out = self.model(x)
            loss = F.cross_entropy(out + self.net(x), y)
            self.backward_and_update(loss)
            return (out.argmax(1) == y).sum().item(){}
    """
MIDDLE = """\

    class Middle({}):
        def name(self):
            return "middle"
    """


@pytest.mark.parametrize("where", ["base", "middle"])
def test_what_a_class_above_the_base_class_keeps(tmp_path: Path, where: str) -> None:
    files = {"base": GRAND, "nets": NETS.format("  # TPU101"), "sub": SUB.format(where, "  # TPU101")}
    above = MIDDLE.format("Trainer")
    files[where] = GRAND + above if where == "base" else "    from base import Trainer\n" + above
    agree(tmp_path, "TPU101", **files)


def test_what_a_class_above_an_unknown_base_class_keeps(tmp_path: Path) -> None:
    above = "    from base import Trainer\n    from elsewhere import wrapped\n" + MIDDLE.format("wrapped(Trainer)")
    agree(tmp_path, "TPU101", base=GRAND, nets=NETS.format(""), sub=SUB.format("middle", ""), middle=above)


LEAVES_UPDATE = """\
    import torch
    from torch.utils.data import DataLoader


    class Trainer:
        def __init__(self, net, samples):
            self.loader = DataLoader(samples, batch_size=8, shuffle=True)  # TPU501
            self.optimizer = torch.optim.Adam(net.parameters())
    ASKED
        def start(self):
            for data in self.loader:  # TPU301
                losses = self.train_step(data)
                self.optimizer.step()
                self.optimizer.zero_grad()
                self.show(losses)

        def show(self, losses):
            pass
    """
GOES_BACKWARD = """\
    import torch
    from trainers.base import Trainer

    net = torch.nn.Linear(3, 3).cuda()


    class Own(Trainer):
        def train_step(self, data):
            loss = net(data.cuda()).pow(2).mean()
            loss.backward()
            return {"loss": loss.item()}  # TPU101

        def once(self, data):
            return net(data.cuda()).mean().item()


    Own(net, torch.ones(64, 3)).start()
    """


@pytest.mark.parametrize("asked", ["raise NotImplementedError", "pass", ""])
def test_a_backward_pass_whose_update_is_the_base_class_s(tmp_path: Path, asked: str) -> None:
    """Also where the base class has no method of the name; without the backward pass nothing is trained."""
    codes = "TPU301,TPU501,TPU101"
    method = f"\n        def train_step(self, data):\n            {asked}\n" if asked else ""
    base = LEAVES_UPDATE.replace("    ASKED\n", method)
    (tmp_path / "trainers").mkdir()
    agree(tmp_path, codes, **{"trainers/base": base, "main": GOES_BACKWARD})
    assert "in every step of base.py" in tpulint("--select=TPU101", ".", cwd=tmp_path).out
    plain = "\n".join(line.partition("  # TPU")[0] for line in base.splitlines())
    own = GOES_BACKWARD.replace("loss.backward()", "self.losses.append(loss)").replace("  # TPU101", "")
    agree(tmp_path, codes, **{"trainers/base": plain, "main": own})


def test_steps_of_a_class_beside_the_one_that_moves(tmp_path: Path) -> None:
    """The file of the step names no device: the class derived from both, which calls it, has what was moved."""
    iterations = """\
        import torch

        class Iterations:
            def iterate(self, x):
                self.optimizer.zero_grad()
                self.find_loss(x)
                print(self.loss.item()){mark}
                self.loss.backward()
                self.optimizer.step()
        """
    models = """\
        import torch
        from torch import nn

        class Models:
            def build(self):
                self.network = nn.Linear(4, 4){move}
                self.optimizer = torch.optim.SGD(self.network.parameters(), lr=0.1)

            def find_loss(self, x):
                self.loss = self.network(x).mean()
        """
    trainer = """\
        from iterations import Iterations
        from models import Models

        class Trainer(Iterations, Models):
            def train(self):
                for x in self.loader:
                    self.iterate(x)
        """
    for mark, move in (("  # TPU101", ".cuda()"), ("", "")):
        agree(
            tmp_path,
            "TPU101",
            iterations=dedent(iterations).format(mark=mark),
            models=dedent(models).format(move=move),
            trainer=trainer,
        )
