"""Data loaders that one file builds, and loops of another go through."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest
from command import tpulint
from marked_files import agree

TRAIN = """\
import torch
import torch.nn.functional as F
IMPORT

device = torch.device("cuda")
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train(loader):
    for x, y in loader:  # TPU301
        optimizer.zero_grad()
        F.mse_loss(model(x.to(device)), y.to(device)).backward()
        optimizer.step()

def validate(model, loader):
    model.eval()
    with torch.no_grad():
        for x, y in loader:  # TPU302
            print(F.mse_loss(model(x.to(device)), y.to(device)).item())
"""
CODES = "TPU301,TPU302,TPU501,TPU516"


def test_loaders_behind_keys_that_a_loop_gives(tmp_path: Path) -> None:
    """Branches on the key tell which loader lies behind which name."""
    loaders = """\
    from torch.utils.data import DataLoader

    def build(kinds, args):
        found = {}
        for kind in ["train", "val", "test"]:
            if kind in kinds:
                if kind == "train":
                    loader = DataLoader(read(kind), batch_size=args.size, shuffle=True)  # TPU501
                else:
                    loader = DataLoader(read(kind), batch_size=args.size)  # TPU516
                found[kind] = loader
        return found
    """
    program = (
        TRAIN.replace("IMPORT", "from loaders import build")
        + """
loaders = build(["train", "val"], args)
for epoch in range(8):
    train(loaders["train"])
    validate(model, loaders["val"])
"""
    )
    agree(tmp_path, CODES, main=program, loaders=loaders)


def test_loaders_of_tasks_made_by_one_of_several_functions(tmp_path: Path) -> None:
    loaders = """\
    from torch.utils.data import DataLoader

    def one_task(task, size):
        train = DataLoader(read(task), batch_size=size, shuffle=True)  # TPU501
        test = DataLoader(read(task, train=False), batch_size=256)  # TPU516
        return train, test

    def turned(tasks, size):
        found = {}
        for task in range(1, tasks + 1):
            train, test = one_task(task, size)
            found[task] = {"train": train, "test": test}
        return found

    def mixed(tasks, size):
        return {task: {"train": DataLoader(read(task), size, shuffle=True)} for task in range(tasks)}  # TPU501
    """
    program = (
        TRAIN.replace("IMPORT", "from loaders import mixed, turned")
        + """
def maker(args):
    if args.kind == "turned":
        return turned
    return mixed

def main(args):
    tasks = maker(args)(args.tasks, args.size)
    for task in range(1, args.tasks + 1):
        train(tasks[task]["train"])
        for before in range(1, task + 1):
            validate(model, tasks[before]["test"])
"""
    )
    agree(tmp_path, CODES, main=program, loaders=loaders)


def test_a_loop_that_evaluates_what_only_its_caller_knows_to_be_a_model(tmp_path: Path) -> None:
    """The file of the loop shows a call without gradients, of something that it is given."""
    program = (
        TRAIN.replace("IMPORT", "from torch.utils.data import DataLoader\nfrom scores import measure, count")
        + """
test_loader = DataLoader(read("test"), batch_size=8)  # TPU516
other_loader = DataLoader(read("test"), batch_size=8)
train(DataLoader(read("train"), batch_size=8, drop_last=True))
measure(test_loader, model, device)
count(other_loader, model, device)
"""
    )
    scores = """\
    import torch
    from tqdm import tqdm

    def measure(loader, net, device):
        found = []
        bar = tqdm(loader)
        for x, y in bar:  # TPU302
            x = x.to(device).float()
            with torch.no_grad():
                found += keep(net(x), y)
        return found

    def count(loader, net, device):
        total = 0
        for x, y in tqdm(loader):
            total += len(x)
        return total
    """
    agree(tmp_path, CODES, main=program, scores=scores)


def test_modules_of_folders_that_a_script_puts_on_its_path(tmp_path: Path) -> None:
    """``lib`` beside the script or above it."""
    for folder in ("tools", "lib", "lib/core"):
        (tmp_path / folder).mkdir()
    (tmp_path / "tools/paths.py").write_text("import sys\nsys.path.insert(0, '../lib')\n")
    program = TRAIN.replace("IMPORT", "import paths\nfrom core.loaders import build")
    program += "train(build(args))\n"
    loaders = """\
    from torch.utils.data import DataLoader

    def build(args):
        return DataLoader(read("train"), batch_size=args.size, shuffle=True)  # TPU501
    """
    agree(tmp_path, "TPU301,TPU302,TPU501", **{"tools/main": program, "lib/core/loaders": loaders})


def test_a_trainer_of_a_folder_that_settings_compute(tmp_path: Path) -> None:
    """``sys.path.insert(0, osp.join(cfg.root, "common"))``: the script itself says nothing of a device."""
    for folder in ("main", "common"):
        (tmp_path / folder).mkdir()
    program = """\
    from config import cfg
    from base import Trainer

    trainer = Trainer()
    trainer.make()
    for x, y in trainer.loader:  # TPU301
        trainer.optimizer.zero_grad()
        loss = (trainer.model(x) - y).pow(2).mean()
        loss.backward()
        trainer.optimizer.step()
        print("%.4f" % loss.detach())  # TPU102
    """
    base = """\
    import torch

    class Trainer:
        def make(self):
            self.loader = torch.utils.data.DataLoader(read(), batch_size=8, drop_last=True)
            self.model = torch.nn.Linear(4, 3).cuda()
            self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
    """
    agree(tmp_path, "TPU301,TPU102", **{"main/main": program, "common/base": base})


def test_a_file_called_test_beside_the_script(tmp_path: Path) -> None:
    program = (
        TRAIN.replace("IMPORT", "from torch.utils.data import DataLoader\nfrom test import measure")
        + """
train(DataLoader(read("train"), batch_size=8, drop_last=True))
measure(model, DataLoader(read("test"), batch_size=8))  # TPU516
"""
    )
    test = """\
    import torch

    def measure(net, loader):
        net.eval()
        with torch.no_grad():
            for x, y in loader:  # TPU302
                print(net(x.cuda()).mean())
    """
    agree(tmp_path, CODES, main=program, test=test)


def test_a_number_that_a_forward_pass_is_given_is_not_read(tmp_path: Path) -> None:
    """What nothing is done with but to make it a whole number is no tensor; what has a method of one is."""
    net = """\
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 40)

        def forward(self, x, task, lengths):
            x = self.layer(x)
            t = task
            first, last = int((t - 1) * 5), int(t * 5)
            if first > 0:
                x[:, :first].fill_(-10e10)
            x[:, last:].fill_(-10e10)
            print(int(lengths.max()))  # TPU101
            return x.sum()
    """
    program = """\
    import torch
    from net import Net

    device = torch.device("cuda")
    model = Net().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(net, loader, task):
        for x, lengths in loader:
            optimizer.zero_grad()
            net(x.to(device), task, lengths.to(device)).backward()
            optimizer.step()

    for task in range(4):
        train(model, loaders[task], task)
    """
    agree(tmp_path, "TPU101,TPU103,TPU201", main=program, net=net)


def test_loaders_in_variables_of_other_files(tmp_path: Path) -> None:
    digits = """\
    from torch.utils.data import DataLoader

    train_loader = DataLoader(read("train"), batch_size=8, shuffle=True)  # TPU501
    test_loader = DataLoader(read("test"), batch_size=8)  # TPU516
    whole_loader = DataLoader(read("test"), batch_size=8)
    """
    program = (
        TRAIN.replace("IMPORT", "import digits\nfrom digits import test_loader")
        + """
def main():
    loader = digits.train_loader
    train(loader)
    validate(model, test_loader)
"""
    )
    agree(tmp_path, CODES, main=program, digits=digits)


def test_batches_that_a_method_draws_for_the_step_of_another_file(tmp_path: Path) -> None:
    """A loader of all samples has no last batch."""
    user = """\
    from torch.utils.data import DataLoader

    class User:
        def __init__(self, data, size):
            self.count = len(data)
            self.loader = DataLoader(data, size)  # TPU501
            self.whole = DataLoader(data, self.count)
            self.drawn = iter(self.loader)
            self.all = iter(self.whole)

        def next_batch(self):
            try:
                x, y = next(self.drawn)
            except StopIteration:
                self.drawn = iter(self.loader)
                x, y = next(self.drawn)
            return x.cuda(), y.cuda()

        def every(self):
            return next(self.all)
    """
    program = """\
    import torch
    import torch.nn.functional as F
    from user import User

    class Learner(User):
        def train(self, model, optimizer):
            for step in range(100):  # TPU301
                x, y = self.next_batch()
                optimizer.zero_grad()
                F.mse_loss(model(x), y).backward()
                optimizer.step()
                self.every()
    """
    agree(tmp_path, CODES, main=program, user=user)


def test_loaders_that_come_by_star(tmp_path: Path) -> None:
    """Of torch where the file that is read imports it; a class of its own is another thing."""
    program = (
        TRAIN.replace("IMPORT", "from shared import *")
        + """
def build(split, shuffle=True):
    return DataLoader(read(split), batch_size=8, shuffle=shuffle)  # TPU501

train(build("train"))
"""
    )
    shared = "import numpy as np\nfrom further import *\n"
    further = "import torch\nfrom torch.utils.data import DataLoader, Dataset\n"
    other = program.replace("from shared import *", "from own import *").replace("  # TPU501", "")
    own = "class DataLoader:\n    def __init__(self, data, batch_size, shuffle):\n        self.data = data\n"
    agree(tmp_path, "TPU301,TPU302,TPU501", main=program, shared=shared, further=further, other=other, own=own)


def test_iterators_of_torchtext_that_a_class_sorts(tmp_path: Path) -> None:
    batches = """\
    from torchtext import data

    class MyIterator(data.Iterator):
        def create_batches(self):
            self.batches = pool(self.data(), self.batch_size, self.sort_key)

    class InOrder(data.Iterator):
        pass

    def build(source):
        return MyIterator(source, batch_size=64, sort_key=len)  # TPU515

    def other(source):
        return InOrder(source, batch_size=64)
    """
    program = (
        TRAIN.replace("IMPORT", "from batches import build, other") + "train(build(source))\ntrain(other(source))\n"
    )
    agree(tmp_path, "TPU301,TPU302,TPU515", main=program, batches=batches)


CORPUS = """\
from torchtext import data


class Corpus:
    def __init__(self, options):
        self.text, self.label = data.Field(FIX), data.Field(sequential=False)
        self.train, self.dev = read(self.text, self.label)
        self.train_iter, self.dev_iter = data.KIND.splits((self.train, self.dev), batch_size=32)  # TPU515
        self.others = data.KIND(self.dev, batch_size=32)
"""


@pytest.mark.parametrize("kind", ["Iterator", "BucketIterator"])
def test_iterators_of_torchtext_that_an_object_of_another_file_keeps(kind: str, tmp_path: Path) -> None:
    program = TRAIN.replace("IMPORT", "from corpus import Corpus") + "train(Corpus(options).train_iter)\n"
    corpus = CORPUS.replace("KIND", kind).replace("FIX", "lower=True")
    agree(tmp_path, "TPU301,TPU302,TPU515", main=program, corpus=corpus)


def test_iterators_of_torchtext_at_the_top_of_another_file(tmp_path: Path) -> None:
    program = TRAIN.replace("IMPORT", "import corpus") + "train(corpus.train_iter)\n"
    corpus = """\
    from torchtext import data

    text, label = data.Field(lower=True), data.Field(sequential=False)
    train_set, dev_set = read(text, label)
    train_iter, dev_iter = data.Iterator.splits((train_set, dev_set), batch_size=32)  # TPU515
    others = data.BucketIterator(dev_set, batch_size=32)
    """
    agree(tmp_path, "TPU301,TPU302,TPU515", main=program, corpus=corpus)


@pytest.mark.parametrize("change", [
    ("FIX", "lower=True, fix_length=64"),  # of one length
    ("FIX", "sequential=False"),  # numbers have no length
    ("batch_size=32)  #", "batch_size=32, train=False)  #"),  # for evaluations
])  # fmt: skip
def test_iterators_of_torchtext_that_stay(change: tuple[str, str], tmp_path: Path) -> None:
    program = TRAIN.replace("IMPORT", "from corpus import Corpus") + "train(Corpus(options).train_iter)\n"
    corpus = CORPUS.replace(*change).replace("FIX", "lower=True").replace("KIND", "Iterator").replace("  # TPU515", "")
    agree(tmp_path, "TPU301,TPU302,TPU515", main=program, corpus=corpus)


PHASES = """\
import torch
import torch.nn.functional as F
from loaders import build

device = torch.device("cuda")
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loaders = build(args.size)
for phase in ["train", "val"]:
    for x, y in loaders[phase]:
        with torch.set_grad_enabled(phase == "train"):
            loss = F.mse_loss(model(x.to(device)), y.to(device))
            if phase == "train":
                loss.backward()
                optimizer.step()
"""


@pytest.mark.parametrize(
    "built",
    [
        """\
        return {n: DataLoader(read(n), batch_size=size, shuffle=True) for n in ["train", "val"]}  # TPU501 TPU516
        """,
        """\
        return {
            "train": DataLoader(read("train"), batch_size=size, shuffle=True),  # TPU501
            "val": DataLoader(read("val"), batch_size=size),  # TPU516
        }
        """,
        """\
        names = ["train", "val"]
        made = {name: DataLoader(read(name), batch_size=size, shuffle=True, drop_last=True) for name in names}
        return made
        """,
    ],
)
def test_loaders_of_several_phases_in_a_dictionary(tmp_path: Path, built: str) -> None:
    loaders = "from torch.utils.data import DataLoader\n\ndef build(size):\n" + indent(dedent(built), "    ")
    agree(tmp_path, "TPU501,TPU516", main=PHASES, loaders=loaders)


BY_OPTIMIZER = """\
import torch
import torch.nn.functional as F
from loaders import build

device = torch.device("cuda")

def run(model, loader, optimizer):
    for x, y in loader:
        loss = F.mse_loss(model(x.to(device)), y.to(device))
        if optimizer:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

def main(size):
    train, validation, test = build(size)
    model = torch.nn.Linear(4, 4).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    run(model, train, optimizer)
    with torch.no_grad():
        run(model, validation, None)
    run(model, TEST)
"""


@pytest.mark.parametrize(("test", "code"), [("test, None", "TPU516"), ("test, optimizer", "TPU501")])
def test_a_loop_that_trains_with_an_optimizer_only(tmp_path: Path, test: str, code: str) -> None:
    """What it is given beside none feeds evaluations, be it told to keep its last batch or not."""
    loaders = f"""\
    from torch.utils.data import DataLoader

    def build(size):
        train = DataLoader(read("train"), batch_size=size, shuffle=True)  # TPU501
        validation = DataLoader(read("train"), batch_size=size, sampler=some, drop_last=False)  # TPU516
        test = DataLoader(read("test"), batch_size=size)  # {code}
        return train, validation, test
    """
    agree(tmp_path, "TPU501,TPU516", main=BY_OPTIMIZER.replace("TEST", test), loaders=loaders)


@pytest.mark.parametrize(
    ("length", "made", "code", "drops"),
    [
        ("1", "Whole(values, other)", "", False),  # each batch is the one sample
        ("5", "Whole(values, other)", "# TPU501", False),  # with the batch size that the option has, none would be left
        ("len(self.values)", "Whole(torch.rand(4, 2), other)", "# TPU501", False),
        ("len(self.values)", "Whole(torch.rand(400, 2), other)", "# TPU501", True),
        ("len(self.values)", "Whole(values, other)", "# TPU501", True),
        (
            "len(self.values) // 2",
            "Whole(torch.rand(4, 2), other)",
            "# TPU501",
            False,
        ),  # a sample of each row, it seems
    ],
)
def test_a_class_that_says_how_many_samples_it_has(
    tmp_path: Path, length: str, made: str, code: str, drops: bool
) -> None:
    samples = f"""\
    from torch.utils.data import Dataset

    class Whole(Dataset):
        def __init__(self, values, other):
            self.values = values
            self.other = other

        def __len__(self):
            return {length}
    """
    main = f"""\
    import argparse
    import torch
    from samples import Whole

    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=8)
    args = parser.parse_args()
    model = torch.nn.Linear(2, 2).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    loader = torch.utils.data.DataLoader({made}, args.batch_size, shuffle=True)  {code}
    for x in loader:
        optimizer.zero_grad()
        model(x.cuda()).mean().backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU501", main=main, samples=samples)
    tpulint("--fix", "--unsafe-fixes", ".", cwd=tmp_path)
    assert ("drop_last=True" in (tmp_path / "main.py").read_text()) is drops


REPEATED = """\
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

device = torch.device("cuda")
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(read("train"), batch_size=size, shuffle=True)  # TPU501
noise = torch.zeros(size, 4, device=device)

for i, (x, y) in enumerate(loader):
    images, labels = x.to(device), y.to(device)
    for j in range(repeats):
        optimizer.zero_grad()
        F.mse_loss(model(images + noise[: len(images)]), labels).backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("old", "new", "is_told"),
    [
        ("", "", True),
        ("images, labels = x.to(device), y.to(device)", "images, labels = move(x), move(y)", True),
        ("    images, labels", "    if len(x) != size:\n        continue\n    images, labels", False),
        ("range(repeats)", "range(len(x))", False),  # one after the other of its samples
        ("images, labels = x.to(device), y.to(device)", "images, labels = noise, noise", False),
        ("for i, (x, y) in enumerate(loader)", "for i, (x, y) in enumerate(pairs)", False),
        ("shuffle=True)", "shuffle=True, drop_last=True)", False),
    ],
)
def test_batches_that_are_trained_on_several_times(tmp_path: Path, old: str, new: str, is_told: bool) -> None:
    """The batches of a loop that counts come from the one around it, whose last may be smaller."""
    assert old in REPEATED
    text = REPEATED.replace(old, new)
    agree(tmp_path, "TPU501", train=text if is_told else text.replace("  # TPU501", ""))


@pytest.mark.parametrize("loader", ["self.loader", 'self.loaders["train"]'])
def test_loaders_that_a_base_class_of_another_file_keeps(tmp_path: Path, loader: str) -> None:
    base = """\
    import torch
    from torch.utils.data import DataLoader

    class Processor:
        def __init__(self, data):
            self.model = torch.nn.Linear(4, 4).cuda()
            self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
            self.loader = DataLoader(data, batch_size=8, shuffle=True)KEPT
            self.loaders = dict()
            self.loaders["train"] = DataLoader(data, batch_size=8, shuffle=True)PUT
            self.loaders["other"] = DataLoader(data, batch_size=8)
            self.unused = DataLoader(data, batch_size=8)
    """
    derived = f"""\
    from base import Processor

    class Own(Processor):
        def train(self):
            loader = {loader}
            for x in loader:  # TPU301
                loss = self.model(x.cuda()).sum()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()

    Own(data).train()
    """
    is_kept = loader == "self.loader"
    mark = "  # TPU501"
    base = base.replace("KEPT", mark * is_kept).replace("PUT", mark * (not is_kept))
    agree(tmp_path, CODES, base=base, derived=derived)


@pytest.mark.parametrize(("other", "is_told"), [("1", False), ("size", True), ("", True)])
def test_loaders_of_one_sample_that_a_call_asks_for(tmp_path: Path, other: str, is_told: bool) -> None:
    """A batch of one is never smaller; where one of several calls asks for more, or leaves the default, it may be."""
    data = f"""\
    from torch.utils.data import DataLoader

    def held_out(samples, batch_size=64):
        return DataLoader(samples, batch_size, shuffle=False){"  # TPU516" if is_told else ""}
    """
    program = f"""\
    import torch
    from data import held_out

    model = torch.nn.Linear(8, 4).cuda().eval()
    first, second = held_out(samples, 1), held_out(others, {other})
    with torch.no_grad():
        for x in first:
            print(model(x.cuda()).sum().item())
        for x in second:
            print(model(x.cuda()).sum().item())
    """
    agree(tmp_path, "TPU516", data=data, main=program)
