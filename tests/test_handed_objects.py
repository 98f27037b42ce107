"""Objects whose class a main program knows and a trainer of another file does not: what runs of them, and how often.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint
from marked_files import SETUP, agree

MODEL = """\
import torch
from torch import nn

class Part(nn.Module):
    def forward(self, x):
        if x.sum() > 0:  # TPU103
            x = x * 2
        return x

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x):
        if not self.training:
            print(x.mean().item())
        x = self.part(x)
        return x * x.mean().item()  # TPU101

    def describe(self, x):
        return x.sum().item()
"""
TRAINER = """\
import torch

class Trainer:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer
        self.device = torch.device("cuda")

    def train(self, loader):
        for x in loader:
            loss = self.model(x.to(self.device)).sum()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
"""
MAIN = """\
import torch
from models import Net
from trainer import Trainer

model = Net().to("cuda")
trainer = Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1))
trainer.train([torch.ones(2)])
"""
FILES = {"main.py": MAIN, "models.py": MODEL, "trainer.py": TRAINER}


def write(folder: Path, files: dict[str, str]) -> Path:
    """Put a project into a folder."""
    for name, text in {"pyproject.toml": "", **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(dedent(text))
    return folder


def lint(folder: Path, *args: str) -> set[str]:
    """``file:row code`` of what is said of reads and changing graphs."""
    codes = "TPU101,TPU103,TPU131,TPU201,TPU501,TPU516"
    answer = tpulint("--output-format=json", "--select", codes, *args, ".", cwd=folder)
    return {
        f"{Path(one['filename']).relative_to(folder).as_posix()}:{one['location']['row']} {one['code']}"
        for one in json.loads(answer.out)
    }


def marked(folder: Path) -> set[str]:
    """The same of the marks."""
    return {
        f"{path.relative_to(folder).as_posix()}:{row} {code}"
        for path in folder.rglob("*.py")
        for row, line in enumerate(path.read_text().splitlines(), 1)
        for code in re.findall(r"# (TPU\d+)", line)
    }


def test_a_model_that_a_program_hands_to_a_trainer(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    assert lint(tmp_path) == marked(tmp_path)
    answer = tpulint("--output-format=json", "--select", "TPU101", ".", cwd=tmp_path)
    (entry,) = json.loads(answer.out)
    assert "in every step of trainer.py" in entry["message"]


def test_a_model_that_nobody_trains_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path, {**FILES, "main.py": "import torch\nfrom models import Net\n\nmodel = Net().to('cuda')\n"})
    assert lint(tmp_path) == set()


@pytest.mark.parametrize(
    "made",
    [
        "move(Net())",
        "torch.nn.DataParallel(Net()).cuda()",
        "NETS[name]()",
        "FILES[name].Net()",
        "build(name)",
    ],
)
def test_ways_to_make_it(tmp_path: Path, made: str) -> None:
    other = "import torch\n\nclass Plain(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
    setup = """\
        import torch
        import models
        import other
        from models import Net
        from other import Plain
        from placing import build, move
        from trainer import Trainer

        NETS = {"net": Net, "plain": Plain}
        FILES = {"net": models}
        name = input()
        """
    placing = """\
        import torch
        from models import Net
        from other import Plain

        def move(module):
            return module.to("cuda")

        def build(name):
            model = None
            if name == "net":
                model = Net()
            else:
                model = Plain()
            return model
        """
    main = dedent(setup) + MAIN.split("\n\n", 1)[1].replace('Net().to("cuda")', made)
    write(tmp_path, {**FILES, "main.py": main, "other.py": other, "placing.py": placing})
    assert lint(tmp_path) == marked(tmp_path)


def test_sizes_that_a_forward_pass_is_given_are_no_tensors(tmp_path: Path) -> None:
    model = """\
        import torch
        from torch import nn

        def divides(number, by):
            return number % by == 0

        class Bias(nn.Module):
            def forward(self, i, j):
                if self.slopes.shape[-1] >= j:
                    return self.slopes
                return torch.arange(i)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.bias = Bias()

            def forward(self, x):
                keys = x.shape[1]
                assert divides(keys, 4) or divides(x, 2)
                return x + self.bias(x.shape[0], keys)
        """
    write(tmp_path, {**FILES, "models.py": model})
    assert lint(tmp_path) == {"models.py:20 TPU103"}


def test_a_trainer_whose_base_class_keeps_the_model(tmp_path: Path) -> None:
    base = """\
        import torch

        class Base:
            def __init__(self, model, optimizer):
                self.device = torch.device("cuda")
                self.model = model.to(self.device)
                self.optimizer = optimizer
        """
    head, _, tail = TRAINER.partition("    def __init__")
    trainer = (
        head.replace("class Trainer:", "from base import Base\n\nclass Trainer(Base):")
        + "    def __init__(self, model, optimizer):\n        super().__init__(model, optimizer=optimizer)\n\n"
        + "    def train"
        + tail.partition("    def train")[2]
    )
    write(tmp_path, {**FILES, "base.py": base, "trainer.py": trainer})
    assert lint(tmp_path) == marked(tmp_path)


def test_a_base_class_that_asks_for_the_model(tmp_path: Path) -> None:
    base = """\
        import torch

        class Base:
            def __init__(self):
                self.device = torch.device("cuda")
                self.model = self.make().to(self.device)
                self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

            def make(self):
                raise NotImplementedError
        """
    made = "\n    def make(self):\n        return Net().float()\n\n    def train"
    head, _, tail = TRAINER.partition("    def __init__")
    head = head.replace("class Trainer:", "from base import Base\nfrom models import Net\n\nclass Trainer(Base):")
    trainer = head + made.lstrip("\n") + tail.partition("    def train")[2]
    write(tmp_path, {"base.py": base, "trainer.py": trainer, "models.py": MODEL})
    assert lint(tmp_path) == marked(tmp_path)


def test_through_a_file_that_only_hands_on(tmp_path: Path) -> None:
    middle = """\
        import torch
        from trainer import Trainer

        def train(net, loader):
            Trainer(net, torch.optim.SGD(net.parameters(), lr=0.1)).train(loader)
        """
    main = """\
        import torch
        from models import Net
        from middle import train

        train(Net().to("cuda"), [torch.ones(2)])
        """
    write(tmp_path, {**FILES, "main.py": main, "middle.py": middle})
    assert lint(tmp_path) == marked(tmp_path)


def test_a_class_beside_the_function_that_is_handed_it(tmp_path: Path) -> None:
    net = """\
        import torch
        from torch import nn

        def to_host(x):
            return x.cpu()  # TPU101

        class Net(nn.Module):
            def forward(self, x):
                return x

            def score(self, x):
                return torch.relu(x)

        def evaluate(model, loader):
            model.eval()
            with torch.no_grad():
                for x in loader:
                    print(to_host(model.score(torch.as_tensor(x).to("cuda"))).numpy())
        """
    main = """\
        import torch
        from net import Net, evaluate

        if __name__ == "__main__":
            evaluate(Net().cuda(), [torch.ones(2)])
        """
    write(tmp_path, {"main.py": main, "net.py": net})
    assert lint(tmp_path) == marked(tmp_path)


def test_loaders_that_an_object_makes(tmp_path: Path) -> None:
    data = """\
        from torch.utils.data import DataLoader

        class Data:
            def loaders(self, batch_size):
                train = DataLoader(self.train, batch_size=batch_size)  # TPU501
                test = DataLoader(self.test, batch_size=batch_size)
                return train, test
        """
    trainer = TRAINER.replace("(self, loader)", "(self, data)").replace(
        "        for x in loader", "        loader, _ = data.loaders(8)\n        for x in loader"
    )
    main = MAIN.replace("import torch\n", "import torch\nfrom data import Data\n", 1)
    main = main.replace("[torch.ones(2)]", "Data()")
    write(tmp_path, {**FILES, "data.py": data, "main.py": main, "trainer.py": trainer})
    assert lint(tmp_path) == marked(tmp_path)


def test_what_is_kept_of_a_run_moves_with_the_project(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    write(here, FILES)
    assert lint(here) == lint(here) == marked(here)
    shutil.copytree(here, there)
    (there / "main.py").write_text(MAIN.replace("from models", "from other"))
    write(there, {"other.py": MODEL.replace("  # TPU101", "").replace("x * x.mean().item()", "x")})
    found = {"models.py:6 TPU103", "models.py:18 TPU101", "other.py:6 TPU103"}
    assert lint(there) == lint(there) == found - {"models.py:6 TPU103", "models.py:18 TPU101"}


def test_values_that_a_distribution_checks_are_related(tmp_path: Path) -> None:
    policy = """\
        import torch
        from torch import nn
        from torch.distributions import Normal

        class Policy(nn.Module):
            def forward(self, x):
                if self.training:
                    normal = Normal(x, x.exp())  # TPU131
                    value = normal.rsample()
                    return normal.log_prob(value)
                else:
                    return Normal(x, x.exp()).mean
        """
    main = MAIN.replace("from models import Net", "from policy import Policy").replace("Net()", "Policy()")
    write(tmp_path, {"main.py": main, "policy.py": policy, "trainer.py": TRAINER})
    assert lint(tmp_path) == marked(tmp_path)
    (entry,) = json.loads(tpulint("--output-format=json", "--select", "TPU131", ".", cwd=tmp_path).out)
    assert [place["location"]["row"] for place in entry["related"]] == [10]


@pytest.mark.parametrize(
    ("chosen", "is_known"),
    [
        ("kind = {'net': Net, 'other': Other}.get(name, None)", True),
        ("kind = {'net': Net, 'other': Other}[name]", True),
        ("kinds = {'net': Net}\nkind = kinds.get(name)", True),
        ("kind = Net if name else Other", True),
        ("if name:\n    kind = Net\nelse:\n    kind = Other", True),
        ("kind = {'net': Net, 'made': make}.get(name)", True),  # whatever that gives, Net may be chosen
        ("kind = Net\nif name:\n    kind = make", False),
    ],
)
def test_classes_that_are_chosen_before_they_are_called(tmp_path: Path, chosen: str, is_known: bool) -> None:
    other = "from models import Net\n\nclass Other(Net):\n    pass\n"
    main = MAIN.replace("import Net\n", f"import Net\nfrom other import Other\n{chosen}\n").replace("Net()", "kind()")
    model = MODEL if is_known else MODEL.replace("  # TPU101", "").replace("  # TPU103", "")
    write(tmp_path, {"main.py": main, "models.py": model, "trainer.py": TRAINER, "other.py": other})
    assert lint(tmp_path) == marked(tmp_path)


def test_values_that_a_distribution_checks_where_a_policy_is_asked(tmp_path: Path) -> None:
    main = """\
        import torch
        from torch import nn
        from torch.distributions import Categorical

        class Policy(nn.Module):
            def forward(self, x):
                return Categorical(logits=x), x.sum()  # TPU131

        policy = Policy().cuda()
        optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
        other = Categorical(logits=torch.zeros(4), validate_args=False)
        for x in batches:
            chosen, value = policy(x.cuda())
            action = chosen.sample()
            fixed = Categorical(logits=x, validate_args=False)
            (chosen.log_prob(action) * value + fixed.log_prob(action)).mean().backward()
            optimizer.step()
        print(other.log_prob(action))
        """
    write(tmp_path, {"main.py": main})
    assert lint(tmp_path) == marked(tmp_path)
    (entry,) = json.loads(tpulint("--output-format=json", "--select", "TPU131", ".", cwd=tmp_path).out)
    assert [place["location"]["row"] for place in entry["related"]] == [16]
    assert [place["location"]["column"] for place in entry["related"]] == [6]


def test_what_is_moved_on_a_condition_is_on_the_device(tmp_path: Path) -> None:
    batching = """\
        def batchify(data, count, cuda):
            data = data.narrow(0, 0, count).contiguous()
            if cuda:
                data = data.cuda()
            return data

        def get_batch(source, i):
            return source[i:i + 8]  # TPU201
        """
    main = """\
        import torch
        from batching import batchify, get_batch

        model = torch.nn.Linear(2, 2).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        data = batchify(torch.load("data"), 64, True)
        for i in range(0, 64, 8):
            loss = model(get_batch(data, i)).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """
    write(tmp_path, {"main.py": main, "batching.py": batching})
    assert lint(tmp_path) == marked(tmp_path)


@pytest.mark.parametrize(
    "drawn",
    [
        "while True:\n        for batch in loader:\n            yield batch",
        "batches = iter(loader)\n    while True:\n        yield next(batches)",
        "while True:\n        yield from loader",
    ],
)
def test_batches_that_a_generator_draws(tmp_path: Path, drawn: str) -> None:
    head = """\
        import torch
        from torch.utils.data import DataLoader

        def sample_data(data):
            loader = DataLoader(data, batch_size=8)  # TPU501
        """
    tail = """\

        model = torch.nn.Linear(2, 2).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        batches = iter(sample_data(torch.load("data")))
        for step in range(9):
            loss = model(next(batches).cuda()).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """
    write(tmp_path, {"main.py": f"{dedent(head)}    {drawn}\n{dedent(tail)}"})
    assert lint(tmp_path) == marked(tmp_path)


def test_method_cuda_of_a_class_of_another_file(tmp_path: Path) -> None:
    """Only torch's own `.cuda()` can be replaced by `.to(device)`."""
    (tmp_path / "tables.py").write_text(
        "import torch\n\nclass Table:\n    def __init__(self):\n        self.rows = torch.zeros(3)\n\n"
        "    def cuda(self):\n        self.rows = self.rows.cuda()\n"
    )
    main = tmp_path / "net.py"
    main.write_text(
        "import torch\nfrom tables import Table\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.table = Table()\n        self.table.cuda()\n"
        "        self.scale = torch.ones(3).cuda()\n"
    )
    tpulint("--fix", "--unsafe-fixes", "--no-cache", ".", cwd=tmp_path)
    assert "self.table.cuda()" in main.read_text() and "torch.ones(3).to(" in main.read_text()
    assert "self.rows.to(torch_xla.device())" in (tmp_path / "tables.py").read_text()


PLAYER = """\
import torch

def move(place, *parts):
    return [part.to(place) for part in parts]

class Player:
    def __init__(self, policy, device):
        self.policy = policy
        self.device = device

    def play(self):
        move(torch.device("cpu"), self.policy)
        result = self.policy(torch.ones(3)).tolist()
        move(self.device, self.policy)
        return result
"""
PLAYED = """\
import torch
from player import Player

device = torch.device("cuda")
policy = torch.nn.Linear(3, 3).to(device)
other = torch.nn.Linear(3, 3).to(device)
optimizer = torch.optim.Adam(policy.parameters())
player = Player(policy, device)
for epoch in range(3):
    player.play()
    optimizer.zero_grad()
    policy(torch.ones(3).to(device)).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("Player(policy, device)", "Player(other, device)"),
        ('move(torch.device("cpu"), self.policy)', "pass"),
        ("        move(self.device, self.policy)\n", ""),
    ],
    ids=["goes and comes", "is not trained", "stays", "does not come back"],
)
def test_trained_model_that_another_file_takes_to_the_host_and_back(tmp_path: Path, old: str, new: str) -> None:
    (tmp_path / "player.py").write_text(PLAYER.replace(old, new) if old else PLAYER)
    main = tmp_path / "main.py"
    main.write_text(PLAYED.replace(old, new) if old else PLAYED)
    tpulint("--fix", "--unsafe-fixes", "--no-cache", ".", cwd=tmp_path)
    assert ("set_swap_module_params_on_conversion(True)" in main.read_text()) is not bool(old)


STEPS = """\
import torch
from torch import nn
from losses import loss_of

model = nn.Linear(4, 4).to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, lengths in torch.load("batches"):
    x, lengths = x.to("cuda"), lengths.to("cuda")
    loss = loss_of(model(x), lengths)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("tried", [True, False])
def test_what_a_file_tries_out_when_it_is_run_itself(tmp_path: Path, tried: bool) -> None:
    """What it gives lies on the host, and what the step gives is read in the step."""
    losses = f"""\
import torch

def scaled(x):
    return x / x.max().item()  # TPU101

def loss_of(x, lengths):
    return scaled(x).sum()

{'if __name__ == "__main__":' if tried else "if True:"}
    x = torch.ones(2, 4)
    print(loss_of(x, torch.tensor([2, 1])))
"""
    write(tmp_path, {"main.py": STEPS, "losses.py": losses})
    assert lint(tmp_path) == marked(tmp_path)


@pytest.mark.parametrize("moved", [True, False])
def test_elements_of_lengths_of_another_file(tmp_path: Path, moved: bool) -> None:
    """Those on the device are read in every step; others may be the same in each."""
    losses = f"""\
import torch

def mask_of(x, lengths, order):
    mask = torch.ones_like(x)
    for row in range(2):
        mask[row, lengths[row]:] = 0{"  # TPU212" if moved else ""}
        mask[row, order[row]:] = 0
    return mask

def loss_of(x, lengths):
    return (x * mask_of(x, lengths, [3, 4])).sum()
"""
    main = STEPS if moved else STEPS.replace(', lengths.to("cuda")', ", torch.full((2,), 3)")
    write(tmp_path, {"main.py": main, "losses.py": losses})
    read = {"losses.py:6 TPU101"} if moved else set()
    assert lint(tmp_path, "--select", "TPU212") == marked(tmp_path) | read


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("*parts, kept", True),
        ("*parts", True),
        ("kept, *parts", False),
    ],
)
def test_parts_of_a_result_that_a_call_unpacks(tmp_path: Path, given: str, said: bool) -> None:
    main = f"""\
import torch

class Net(torch.nn.Module):
    def forward(self, x):
        return x.mean(), x.std()

def shown(mean, std, kept=None):
    print(mean.item()){"  # TPU101" if said else ""}

def train(model, optimizer, batches, kept):
    for x in batches:
        parts = model(x.to("cuda"))
        shown({given})
        loss = parts[0]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

model = Net().to("cuda")
train(model, torch.optim.SGD(model.parameters(), lr=0.1), [torch.ones(2)], 3)
"""
    write(tmp_path, {"main.py": main})
    assert lint(tmp_path) == marked(tmp_path)


@pytest.mark.parametrize("layer", ["layer=-1", "*, layer=-1", "layer=1"])
def test_a_number_that_a_model_has_a_default_for(tmp_path: Path, layer: str) -> None:
    model = f"""\
import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x, {layer}):
        if layer < 0:
            layer += 3
        if x.sum() > 0:  # TPU103
            x = x * layer
        return x
"""
    write(tmp_path, {**FILES, "models.py": model})
    assert lint(tmp_path) == marked(tmp_path)


@pytest.mark.parametrize(
    ("tensors", "loader", "said"),
    [
        ('x.to("cuda"), y.to("cuda")', "DataLoader(data, batch_size=8)", True),
        ('x.to("cuda"), y.to("cuda")', "DataLoader(dataset=data, batch_size=8)", True),
        ('x.to("cuda"), y', "DataLoader(data, batch_size=8)", False),
        ("x, y", "DataLoader(data, batch_size=8)", False),
        ('x.to("cuda"), y.to("cuda")', "DataLoader(data, batch_size=8, collate_fn=stacked)", False),
    ],
)
def test_batches_of_a_dataset_on_the_device(tmp_path: Path, tensors: str, loader: str, said: bool) -> None:
    main = f"""\
import torch
from torch.utils.data import DataLoader, TensorDataset
from evaluation import evaluate
from collating import stacked

x, y = torch.ones(16, 2), torch.ones(16)
data = TensorDataset({tensors})
loader = {loader}
evaluate(torch.nn.Linear(2, 2).to("cuda"), loader)
"""
    evaluation = f"""\
import torch

def evaluate(model, loader):
    model.eval()
    kept = []
    with torch.no_grad():
        for x, y in loader:
            kept.append(y.cpu()){"  # TPU101" if said else ""}
            model(x)
    return kept
"""
    collating = "import torch\n\ndef stacked(samples):\n    return [torch.stack(parts) for parts in zip(*samples)]\n"
    write(tmp_path, {"main.py": main, "evaluation.py": evaluation, "collating.py": collating})
    assert {one for one in lint(tmp_path) if one.endswith("TPU101")} == marked(tmp_path)


def test_an_averaged_model_is_a_model(tmp_path: Path) -> None:
    main = """\
        import torch
        from torch.optim.swa_utils import AveragedModel

        averaged = AveragedModel(torch.nn.Linear(2, 2).to("cuda"))
        averaged.eval()
        kept = []
        with torch.no_grad():
            for x in torch.load("batches"):
                kept.append(averaged(x.to("cuda")).cpu())  # TPU101
        """
    write(tmp_path, {"main.py": main})
    assert lint(tmp_path) == marked(tmp_path)


def test_values_that_a_distribution_of_another_file_checks(tmp_path: Path) -> None:
    files = {
        "main.py": """
            import torch
            from agent import Agent
            from policies import Plain, Policy

            policy = Plain() if torch.rand(1) > 2 else Policy()
            agent = Agent(policy, torch.optim.SGD(policy.parameters(), lr=0.1))
            agent.train([(torch.ones(2, 4), torch.ones(2, 2))])
            """,
        "agent.py": """
            import torch
            from torch.distributions import kl_divergence

            class Agent:
                def __init__(self, policy, optimizer):
                    self.policy = policy.cuda()
                    self.optimizer = optimizer

                def train(self, loader):
                    for x, y in loader:
                        self.update(x.cuda(), y.cuda())

                def update(self, x, y):
                    out = self.policy(x)
                    told, _ = self.policy.both(x)
                    loss = self.loss(out, y) - told.log_prob(y).mean()  # TPU131
                    loss = loss - self.policy.free(x).log_prob(y).mean()
                    self.optimizer.zero_grad()
                    loss.backward()
                    self.optimizer.step()

                def loss(self, out, y):
                    if torch.is_tensor(out):
                        return (out - y).pow(2).mean()
                    return -out.log_prob(y).mean()  # TPU131
            """,
        "policies.py": """
            import torch
            from torch import nn
            from torch.distributions import Normal

            class Plain(nn.Module):
                def forward(self, x):
                    return x

            class Policy(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.mean = nn.Linear(4, 2)

                def forward(self, x):
                    return Normal(self.mean(x), 1.0)  # TPU131

                def both(self, x):
                    return Normal(self.mean(x), 1.0), x  # TPU131
            """,
    }
    write(tmp_path, files)
    assert lint(tmp_path) == marked(tmp_path)


def test_a_model_among_several_things_that_a_function_returns(tmp_path: Path) -> None:
    files = {
        "main.py": """
            import torch
            from building import build
            from trainer import Trainer

            model, optimizer = build(0.1)
            trainer = Trainer(model, optimizer)
            trainer.train([torch.ones(2)])
            """,
        "building.py": """
            import torch
            from models import Net

            def build(rate):
                model = Net().to("cuda")
                return model, torch.optim.SGD(model.parameters(), lr=rate)
            """,
        "models.py": MODEL,
        "trainer.py": TRAINER,
    }
    write(tmp_path, files)
    assert lint(tmp_path) == marked(tmp_path)


CHOSEN_MODULE = {
    "main.py": """\
        import importlib
        import torch
        from data import get_loaders

        model = torch.nn.Linear(4, 4).to("cuda")
        Way = getattr(importlib.import_module(name=NAME), "Way")
        way = Way(model)
        train_loaders, test_loaders = get_loaders(3)
        for task in range(3):
            way.train(task, train_loaders[task])
            for seen in range(task + 1):
                way.test(seen, test_loaders[seen])
        """,
    "data.py": """\
        from torch.utils.data import DataLoader


        def get_loaders(count):
            train_loaders, test_loaders, others = [], [], []
            for task in range(count):
                train_loaders.append(DataLoader(read(task), batch_size=8, shuffle=True))  # TPU501
                test_loaders.append(DataLoader(read(task), batch_size=8))  # TPU516
                others.append(DataLoader(read(task), batch_size=8))
            return train_loaders, test_loaders
        """,
    "ways/__init__.py": "",
    "ways/base.py": """\
        import torch


        class Base:
            def __init__(self, model):
                self.model = model
                self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

            def train(self, task, loader):
                for x in loader:
                    self.optimizer.zero_grad()
                    self.loss(x).backward()
                    self.optimizer.step()

            def test(self, task, loader):
                with torch.no_grad():
                    for x in loader:
                        self.model(x.to("cuda"))
        """,
    "ways/plain.py": """\
        from ways.base import Base


        class Way(Base):
            def loss(self, x):
                return self.model(x.to("cuda")).mean()
        """,
    "ways/square.py": """\
        import torch
        from ways.base import Base


        class Way(Base):
            def loss(self, x):
                return (self.model(x.to("cuda")) ** 2).mean()

            def test(self, task, loader):
                self.model.eval()
                with torch.no_grad():
                    for x in loader:
                        self.model(x.to("cuda"))
        """,
}


@pytest.mark.parametrize(
    "name", ['"ways." + options.way', 'f"ways.{options.way}"', "options.way", '"others." + options.way']
)
def test_a_class_of_any_module_of_a_package(tmp_path: Path, name: str) -> None:
    """``getattr(importlib.import_module("ways." + name), "Way")``"""
    write(tmp_path, {**CHOSEN_MODULE, "main.py": CHOSEN_MODULE["main.py"].replace("NAME", name)})
    found = lint(tmp_path)
    assert found == (marked(tmp_path) if "ways" in name else set())


RESUMED = """
    import sys
    from nets import Decoder, Other

    net = Decoder()
    if len(sys.argv) > 1:
        saved = torch.load(sys.argv[1], map_location="cpu")
        RESUME
    net = net.to(device)
    optimizer = torch.optim.Adam(net.parameters())
    for x, lengths in loader:
        optimizer.zero_grad()
        net(x.to(device), lengths.to(device)).mean().backward()
        optimizer.step()
    """
DECODER = """\
    from torch import nn

    class Decoder(nn.Module):
        def forward(self, x, lengths):
            return self.layer(x) / lengths.max().item()  # {}

    class Other(nn.Module):
        def forward(self, x, lengths):
            return self.layer(x)
    """


@pytest.mark.parametrize(
    ("resume", "is_known"),
    [
        ('net = saved["net"]', True),
        ('net = saved.get("net")', True),
        ("net = torch.load(sys.argv[1])['nets'][0]", True),
        ("net = saved", True),
        ("net = saved.to(device)", True),
        ("net = torch.load(sys.argv[1], map_location='cpu').to(device).eval()", True),
        ("net = Other()", True),  # it may be of either class
        ("net = make(saved)", False),
        ("net = make(saved).to(device)", False),
    ],
)
def test_a_module_that_may_have_been_saved_before_is_of_the_class_of_the_one_that_is_made(
    tmp_path: Path, resume: str, is_known: bool
) -> None:
    nets = DECODER.format("TPU101" if is_known else "unknown")
    agree(tmp_path, "TPU101", main=SETUP + RESUMED.replace("RESUME", resume), nets=nets)


def test_the_same_of_a_class_of_the_file(tmp_path: Path) -> None:
    program = RESUMED.replace(
        "from nets import Decoder, Other", DECODER.format("TPU101").replace("from torch", "\n    from torch")
    )
    agree(tmp_path, "TPU101", main=SETUP + program.replace("RESUME", 'net = saved["net"]'))


STEPPED = """\
    import torch

    def build(args, model, optim, rate):
        return Trainer(args, model, optim, rate)

    class Trainer:
        def __init__(self, args, model, optim, rate):
            self.args, self.model, self.optim, self.rate = args, model, optim, rate

        def train(self, loader):
            for batch in loader:  # {}
                self.model.zero_grad()
                loss = self.model(batch.x).sum()
                loss.backward()
                self.optim.step()
    """
BUILDS = """\
    import torch
    from torch import nn
    from trainer import build

    def test(args, model):
        return build(args, model, GIVEN, 0.1).train([])

    def train(args, saved, loader):
        model = nn.Linear(4, 4).to("cuda")
        build(args, model, saved["optim"], 0.1).train(loader)
    """


@pytest.mark.parametrize(("given", "code"), [("None", "TPU301"), ("0", "a number"), ('"adam"', "a name")])
def test_nothing_that_a_call_gives_does_not_say_what_the_others_do(tmp_path: Path, given: str, code: str) -> None:
    """An optimizer that came out of a file, which a test does without."""
    agree(tmp_path, "TPU301", trainer=STEPPED.format(code), main=BUILDS.replace("GIVEN", given))


@pytest.mark.parametrize(
    ("given", "is_read"),
    [
        ("model.parameters()", True),
        ("list(model.parameters())", True),
        ("list(model.parameters()) + list(other.parameters())", True),
        ("weights", True),
        ("[p.grad for p in model.parameters()]", True),
        ("(p for p in other.parameters())", True),
        ("model.weight", True),
        ("[len(x), 2]", False),
        ("[torch.zeros(2) for _ in range(2)]", False),
        ("numbers.values()", False),
    ],
)
def test_what_another_file_goes_through(tmp_path: Path, given: str, is_read: bool) -> None:
    measured = """\
    import torch

    def measure(parts):
        if isinstance(parts, torch.Tensor):
            parts = [parts]
        total = 0
        for part in parts:
            total += part.norm().item() ** 2
        return total
    """
    program = (
        SETUP
        + f"""
    from measured import measure

    other = nn.Linear(4, 4).to(device)
    weights = list(other.parameters())
    numbers = dict(rate=0.1)
    for x, y in loader:
        F.mse_loss(model(x.to(device)), y.to(device)).backward()
        measure({given})
        optimizer.step()
    """
    )
    marked = measured.replace(" ** 2", " ** 2  # TPU101") if is_read else measured
    agree(tmp_path, "TPU101,TPU104", train=program, measured=marked)


@pytest.mark.parametrize(
    "given", ["list(model.parameters())", "model.parameters()", "list(model.weight) + [model.bias]"]
)
def test_a_tensor_alone_becomes_a_list(tmp_path: Path, given: str) -> None:
    program = (
        SETUP
        + f"""
    def measure(parts):
        if isinstance(parts, torch.Tensor):
            parts = [parts]
        largest = max(part.grad.abs().max().item() for part in parts)  # TPU101
        if not parts:
            return 0
        return largest

    for x, y in loader:
        F.mse_loss(model(x.to(device)), y.to(device)).backward()
        measure({given})
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU101,TPU103", train=program)


@pytest.mark.parametrize(
    ("start", "told"),
    [
        ("", True),
        ("    def __init__(self, net, loader):\n        super().__init__(net, loader)\n\n", True),
        ("    def __init__(self, net, loader):\n        super().__init__(Other(), loader)\n\n", False),
    ],
)
def test_models_that_the_constructor_of_a_base_class_is_given(tmp_path: Path, start: str, told: bool) -> None:
    files = {
        "trainer.py": """
            import torch
            from abc import ABC, abstractmethod

            class Trainer(ABC):
                def __init__(self, net, loader):
                    self.device = torch.device("cuda")
                    self.net = net.to(self.device)
                    self.loader = loader
                    self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

                @abstractmethod
                def loss_of(self, batch):
                    pass

                def train(self):
                    for batch in self.loader:
                        batch = {key: value.to(self.device) for key, value in batch.items()}
                        self.optimizer.zero_grad()
                        loss = self.loss_of(batch)
                        loss.backward()
                        self.optimizer.step()
            """,
        "own.py": """
            from trainer import Trainer
            from net import Other

            class OwnTrainer(Trainer):
            START    def loss_of(self, batch):
                    return self.net(batch)["loss"]
            """,
        "net.py": """
            from torch import nn

            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.layer = nn.Linear(4, 4)

                def forward(self, batch):
                    x = self.layer(batch["x"])
                    there = batch["y"] > 0
                    return {"loss": x[there.nonzero().squeeze()].mean()}

            class Other(nn.Module):
                def forward(self, batch):
                    return {"loss": batch["x"].sum()}
            """,
        "main.py": """
            from net import Net
            from own import OwnTrainer

            OwnTrainer(Net(), loader).train()
            """,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(dedent(text).replace("START", start))
    found = tpulint("check", ".", "--select", "TPU203", "--output-format", "concise", cwd=tmp_path)
    assert ("net.py" in found.out) is told
