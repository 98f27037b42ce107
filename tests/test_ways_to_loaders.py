"""How a data loader gets to the loop that takes its batches: through variables, tuples, calls and other files.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest
from command import tpulint
from marked_files import SETUP, agree

CODES = "TPU501,TPU516"


def test_what_a_progress_bar_goes_through(tmp_path: Path) -> None:
    """By its name as well; what it is only told the length of is another thing."""
    program = (
        SETUP
        + """
    from torch.utils.data import DataLoader
    from tqdm import tqdm

    named = DataLoader(samples, batch_size=8, shuffle=True)  # TPU501
    counted = DataLoader(samples, batch_size=8, shuffle=True)
    checked = DataLoader(samples, batch_size=8)  # TPU516
    bar = tqdm(iterable=named)
    for x, y in bar:
        optimizer.zero_grad()
        F.mse_loss(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
    for x, y in tqdm(pairs, total=len(counted)):
        optimizer.zero_grad()
        F.mse_loss(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
    for x, y in tqdm(iterable=checked):
        print(F.mse_loss(model(x.to(device)), y.to(device)))
    """
    )
    agree(tmp_path, CODES, main=program)


def test_loaders_in_a_part_of_what_a_function_returns(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    from torch.utils.data import DataLoader

    def load():
        train = DataLoader(samples, batch_size=8, shuffle=True)  # TPU501
        test = DataLoader(others, batch_size=8)  # TPU516
        spare = DataLoader(others, batch_size=8)
        return (train, test, spare), 10

    def main():
        loaders, count = load()
        train_loader, test_loader, spare_loader = loaders
        for x, y in train_loader:
            optimizer.zero_grad()
            F.mse_loss(model(x.to(device)), y.to(device)).backward()
            optimizer.step()
        with torch.no_grad():
            for x, y in test_loader:
                print(F.mse_loss(model(x.to(device)), y.to(device)))

    main()
    """
    )
    agree(tmp_path, CODES, main=program)


@pytest.mark.parametrize(
    ("before", "behind", "is_known"),
    [
        ("train, test = split(rows)", "", True),
        ("", "", True),
        ("if fast:\n        train = run", "", False),  # nobody knows which
        ("", "train = compiled(train)", False),
    ],
)
def test_functions_whose_names_were_variables_before(tmp_path: Path, before: str, behind: str, is_known: bool) -> None:
    """``train`` is a table of rows, and a function from its definition on."""
    program = (
        SETUP
        + f"""
    from torch.utils.data import DataLoader

    {before}
    loader = DataLoader(samples, batch_size=8, shuffle=True){"  # TPU501" if is_known else ""}

    def train(batches):
        for x, y in batches:
            optimizer.zero_grad()
            F.mse_loss(model(x.to(device)), y.to(device)).backward()
            optimizer.step()

    {behind}
    train(loader)
    """
    )
    agree(tmp_path, CODES, main=program)


@pytest.mark.parametrize(
    ("test", "is_told"),
    [
        ("if x.size(0) != size:\n            continue", False),
        ("if len(x) < size:\n            break", False),
        ("if y.max() < 3:\n            continue", True),
        ("print(len(x))", True),
    ],
)
@pytest.mark.parametrize("is_quiet", [True, False])
def test_evaluations_that_leave_out_smaller_batches(tmp_path: Path, test: str, is_told: bool, is_quiet: bool) -> None:
    program = (
        SETUP
        + f"""
    from torch.utils.data import DataLoader

    size = 8
    model.eval()
    {"torch.set_grad_enabled(False)" if is_quiet else "total = 0"}
    for x, y in DataLoader(samples, batch_size=size):{"  # TPU516" if is_told else ""}
        {test}
        print(F.mse_loss(model(x.to(device)), y.to(device)))
    """
    )
    agree(tmp_path, CODES, main=program)


def test_evaluations_of_other_files_that_leave_out_smaller_batches(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    from torch.utils.data import DataLoader
    from scores import every, full

    every(model, DataLoader(samples, batch_size=8))  # TPU516
    full(model, DataLoader(samples, batch_size=8), 8)
    """
    )
    scores = """\
    import torch

    def every(model, loader):
        with torch.no_grad():
            for x, y in loader:
                print(model(x.cuda()).mean())

    def full(model, loader, size):
        with torch.no_grad():
            for x, y in loader:
                if len(x) != size:
                    continue
                print(model(x.cuda()).mean())
    """
    agree(tmp_path, CODES, main=program, scores=scores)


def test_loops_over_what_is_called_a_loader_for_short(tmp_path: Path) -> None:
    """The file of the loop shows no model and no loader but by their names."""
    program = """\
    import torch
    from torch.utils.data import DataLoader
    from trainer import Trainer

    train_dl = DataLoader(samples, batch_size=8, shuffle=True)  # TPU501
    test_dl = DataLoader(samples, batch_size=8)  # TPU516
    Trainer(build(), torch.device("cuda")).fit(train_dl, test_dl)
    """
    trainer = """\
    import torch
    import torch.nn.functional as F

    class Trainer:
        def __init__(self, model, device):
            self.model = model
            self.device = device
            self.optimizer = torch.optim.Adam(self.model.parameters())

        def train_once(self, batch):
            self.model.train()
            x, y = batch
            self.optimizer.zero_grad()
            F.mse_loss(self.model(x.to(self.device)), y.to(self.device)).backward()
            self.optimizer.step()

        def test_once(self, batch):
            self.model.eval()
            x, y = batch
            with torch.no_grad():
                self.loss += F.mse_loss(self.model(x.to(self.device)), y.to(self.device))

        def fit(self, train_dl, test_dl):
            for epoch in range(8):
                for batch in train_dl:
                    self.train_once(batch)
                for batch in test_dl:
                    self.test_once(batch)
    """
    agree(tmp_path, CODES, main=program, trainer=trainer)


@pytest.mark.parametrize("module", ["torchvision.datasets", "torchvision.datasets.mnist"])
@pytest.mark.parametrize(("size", "is_told"), [(1000, False), (128, True)])
def test_known_data_sets_by_the_module_that_defines_them(tmp_path: Path, module: str, size: int, is_told: bool) -> None:
    program = (
        SETUP
        + f"""
    from torch.utils.data import DataLoader
    from {module} import MNIST

    for x, y in DataLoader(MNIST("data", train=True), batch_size={size}, shuffle=True):{"  # TPU501" if is_told else ""}
        optimizer.zero_grad()
        F.mse_loss(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, CODES, main=program)


def test_batches_that_a_function_trains_on_several_times(tmp_path: Path) -> None:
    """The loop that counts stands in what the loop over the loader calls; one over samples takes no whole batch."""
    program = (
        SETUP
        + """
    from torch.utils.data import DataLoader

    repeated = DataLoader(samples, batch_size=8, shuffle=True)  # TPU501
    ended = DataLoader(samples, batch_size=8, shuffle=True)
    counted = DataLoader(samples, batch_size=8, shuffle=True)
    looked_at = DataLoader(samples, batch_size=8, shuffle=True)

    def train_on(x, y):
        seen = x.to(device)
        for _ in range(2):
            optimizer.zero_grad()
            F.mse_loss(model(seen), y.to(device)).backward()
            optimizer.step()

    def train_alone(x, y):
        for i in range(len(x)):
            optimizer.zero_grad()
            F.mse_loss(model(x[i].to(device)), y[i].to(device)).backward()
            optimizer.step()

    def train_anyhow(count):
        for _ in range(2):
            optimizer.zero_grad()
            model(torch.ones(8, 4, device=device)).sum().backward()
            optimizer.step()

    def again(x, depth):
        for _ in range(2):
            again(x, depth - 1)
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()

    for x, y in repeated:
        train_on(x, y)
    for i, (x, y) in enumerate(counted):
        train_alone(x, y)
    for i, pair in enumerate(looked_at):
        train_anyhow(i)
    """
    )
    agree(tmp_path, CODES, main=program)
    ending = program.replace("repeated = DataLoader(samples, batch_size=8, shuffle=True)  # TPU501", "repeated = ended")
    ending = ending.replace("in repeated:", "in repeated:\n        if len(x) != 8:\n            continue")
    agree(tmp_path, CODES, main=ending)


@pytest.mark.parametrize("name", ['"sets.{}".format(kind)', '"sets." + kind', 'f"sets.{kind}"', '"sets.%s" % kind'])
def test_loaders_of_a_module_that_an_option_chooses(tmp_path: Path, name: str) -> None:
    """Of each module of the folder that has such a function; the folder need be no package."""
    loaders = """\
    from torch.utils.data import DataLoader

    def load_training(samples):
        return DataLoader(samples, batch_size=8, shuffle=True)  # TPU501

    def load_spare(samples):
        return DataLoader(samples, batch_size=8, shuffle=True)
    """
    program = (
        SETUP
        + f"""
    import importlib
    import sys
    import others.sounds

    kind = sys.argv[1]
    chosen = importlib.import_module({name})
    for x, y in chosen.load_training(samples):
        optimizer.zero_grad()
        F.mse_loss(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
    """
    )
    for folder in ("sets", "others"):
        (tmp_path / folder).mkdir()
    silent = loaders.replace("  # TPU501", "")
    agree(tmp_path, CODES, main=program, **{"sets/digits": loaders, "sets/faces": loaders, "others/sounds": silent})


@pytest.mark.parametrize(
    ("asked", "given", "left_out"),
    [
        ("is_train", "True", "is_train"),
        ("train", "True", "train"),
        ('split == "train"', '"train"', 'split == "train"'),
        ("train", "samples", None),  # what is asked for may be the samples themselves
        ("fast", "True", None),
    ],
)
def test_one_function_that_makes_the_loaders_of_training_and_tests(
    tmp_path: Path, asked: str, given: str, left_out: str | None
) -> None:
    """A parameter that it asks anyhow says what is left out; the test goes through all samples as before."""
    name = asked.split(" ")[0]
    other = '"test"' if given.startswith('"') else "False" if given == "True" else "others"
    program = dedent(SETUP) + dedent(
        f"""
        from torch.utils.data import BatchSampler, DataLoader, RandomSampler, SequentialSampler

        def load(data, {name}):
            if {asked}:
                sampler = RandomSampler(data)
            else:
                sampler = SequentialSampler(data)
            batches = BatchSampler(sampler, 8, drop_last=False)
            return DataLoader(data, batch_sampler=batches)

        for x, y in load(samples, {given}):
            optimizer.zero_grad()
            F.mse_loss(model(x.to(device)), y.to(device)).backward()
            optimizer.step()
        with torch.no_grad():
            for x, y in load(others, {other}):
                print(F.mse_loss(model(x.to(device)), y.to(device)))
        """
    )
    (tmp_path / "main.py").write_text(program)
    answer = tpulint("--fix", "--unsafe-fixes", "--select=TPU501", ".", cwd=tmp_path)
    assert answer.status == 0, answer.out
    text = (tmp_path / "main.py").read_text()
    assert text == program.replace("drop_last=False", f"drop_last={left_out}" if left_out else "drop_last=False")


def test_an_attack_takes_the_batch_of_the_training(tmp_path: Path) -> None:
    """Its loop is no other user of the loader: the partial batch may be left out."""
    program = dedent(SETUP) + dedent(
        """
        from torch.utils.data import DataLoader

        def attack(x, y):
            moved = x
            for _ in range(3):
                moved = moved + F.mse_loss(model(moved), y).detach()
            return moved

        def main():
            loader = DataLoader(samples, batch_size=8, shuffle=True)
            for x, y in loader:
                x, y = x.to(device), y.to(device)
                optimizer.zero_grad()
                F.mse_loss(model(attack(x, y)), y).backward()
                optimizer.step()

        main()
        """
    )
    (tmp_path / "main.py").write_text(program)
    tpulint("--fix", "--unsafe-fixes", "--select=TPU501", ".", cwd=tmp_path)
    assert "shuffle=True, drop_last=True)" in (tmp_path / "main.py").read_text()


@pytest.mark.parametrize("start", ["argparse.ArgumentParser().parse_args()", "Settings()", "None"])
@pytest.mark.parametrize(
    ("put", "taken", "is_known"),
    [
        ("opt.train, opt.test = load()", "opt.train", True),
        ("opt.train = load()[0]", "tqdm(opt.train)", True),
        ("opt.test = load()[0]", "opt.train", False),
        ("other.train = load()[0]", "opt.train", False),
    ],
)
def test_attributes_of_options(tmp_path: Path, start: str, put: str, taken: str, is_known: bool) -> None:
    """What other functions take is the loader where they are given that very object."""
    program = f"""
    import argparse
    from torch.utils.data import DataLoader
    from tqdm import tqdm

    class Settings:
        pass

    def load():
        train = DataLoader(samples, batch_size=8, shuffle=True)  # MARK
        return train, 10

    def train(opt):
        for x, y in {taken}:
            optimizer.zero_grad()
            F.mse_loss(model(x.to(device)), y.to(device)).backward()
            optimizer.step()

    def main():
        opt, other = {start}, Settings()
        {put}
        train(opt)

    main()
    """
    known = is_known and start != "None"
    agree(tmp_path, CODES, main=SETUP + program.replace("MARK", "TPU501" if known else "none"))


@pytest.mark.parametrize("is_elsewhere", [True, False])
@pytest.mark.parametrize(
    ("chosen", "codes"),
    [
        ('if name == "train":\n    found = first\nelse:\n    found = second\nreturn found', ("TPU501", "TPU516")),
        ('return first if name == "train" else second', ("TPU501", "TPU516")),
        ('return second if name == "train" else first', ("TPU516", "TPU501")),
    ],
)
def test_a_function_that_makes_all_and_gives_one(
    tmp_path: Path, is_elsewhere: bool, chosen: str, codes: tuple[str, str]
) -> None:
    """That of the training is chosen by its name: the other has another purpose."""
    makes = f"""\
    from torch.utils.data import DataLoader

    def loader_for(name, size, sets):
        first = DataLoader(sets[0], batch_size=size, shuffle=True)  # {codes[0]}
        second = DataLoader(sets[1], batch_size=size, shuffle=True)  # {codes[1]}
        CHOSEN
    """
    makes = dedent(makes).replace("    CHOSEN", indent(chosen, "    "))
    program = """
    train_loader = loader_for("train", 16, sets)
    dev_loader = loader_for("dev", 16, sets)
    for x, y in train_loader:
        optimizer.zero_grad()
        F.mse_loss(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        for x, y in dev_loader:
            print(model(x.to(device)))
    """
    program = dedent(SETUP) + dedent(program)
    if is_elsewhere:
        agree(tmp_path, CODES, main=f"from pieces import loader_for\n{program}", pieces=makes)
    else:
        agree(tmp_path, CODES, main=makes + program)


@pytest.mark.parametrize("is_elsewhere", [True, False])
@pytest.mark.parametrize(
    ("batches", "is_told"),
    [
        ("((x.to(device), y.to(device)) for x, y in loader)", True),
        ("[(x.to(device), y.to(device)) for x, y in loader]", True),
        ("((x.to(device), y.to(device)) for x, y in loader if len(x) == 8)", False),  # the smaller one is left out
        ("((x, x) for x in samples for _ in loader)", False),  # each has many
        ("(samples.draw() for _ in loader)", False),  # nothing of the loader's
    ],
)
def test_generators_that_move_each_batch(tmp_path: Path, batches: str, is_told: bool, is_elsewhere: bool) -> None:
    epoch = """
    def run_epoch(batches, model, optimizer):
        for x, y in batches:
            optimizer.zero_grad()
            (model(x) - y).square().mean().backward()
            optimizer.step()
    """
    main = f"""
    from torch.utils.data import DataLoader
    {"from epochs import run_epoch" if is_elsewhere else epoch}
    loader = DataLoader(samples, batch_size=8, shuffle=True){"  # TPU501" if is_told else ""}
    run_epoch({batches}, model, optimizer)
    """
    agree(tmp_path, CODES, main=SETUP + main, **({"epochs": epoch} if is_elsewhere else {}))


@pytest.mark.parametrize("handed", ["[train_loader, test_loader]", "(train_loader, test_loader)", "loaders"])
@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_loaders_that_a_function_is_given_in_a_list(tmp_path: Path, handed: str, is_elsewhere: bool) -> None:
    """And unpacks: what it does not go through stays unnamed."""
    step = """
    def train(loaders, steps):
        first, second = loaders
        for x, y in first:
            optimizer.zero_grad()
            F.mse_loss(model(x.to(device)), y.to(device)).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            for x, y in second:
                print(F.mse_loss(model(x.to(device)), y.to(device)))
    """
    use = """
    from torch.utils.data import DataLoader

    def main():
        train_loader = DataLoader(samples, batch_size=8, shuffle=True)  # TPU501
        test_loader = DataLoader(others, batch_size=8)  # TPU516
        spare = DataLoader(others, batch_size=8)
        loaders = [train_loader, test_loader]
        train(HANDED, [spare])

    main()
    """.replace("HANDED", handed)
    if is_elsewhere:
        agree(tmp_path, CODES, main="    from training import train\n" + use, training=SETUP + step)
    else:
        agree(tmp_path, CODES, main=SETUP + step + use)


@pytest.mark.parametrize(
    ("options", "is_told"),
    [
        ("batch_size=8, shuffle=True", True),
        ("batch_size=8, shuffle=True, drop_last=True", False),
        ("batch_size=1, shuffle=True", False),
        ("shuffle=True", False),
        ("**options", False),
    ],
)
def test_a_function_that_hands_on_all_options(tmp_path: Path, options: str, is_told: bool) -> None:
    program = (
        SETUP
        + f"""
    from torch.utils.data import DataLoader

    def make(samples, **options):
        return DataLoader(samples, num_workers=2, **options){"  # TPU501" * is_told}

    for x, y in make(samples, {options}):
        optimizer.zero_grad()
        F.mse_loss(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, CODES, main=program)
