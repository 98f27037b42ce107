"""Reads in loops whose steps stand in functions, of the same file or another: agents, closures, evaluations, phases.

Lines that wait for the device are marked with the code of the rule that must speak of them; no other line may be named.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint

HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

device = torch.device("cuda")
"""
AGENT = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, x):
        return self.layer(x)

class Agent:
    def __init__(self, options):
        self.net = Net().to(options.device)
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def select_action(self, state):
        with torch.no_grad():
            state = torch.FloatTensor(state).to("cuda")
            return self.net(state).argmax().item()  # TPU101

    def train(self, batch):
        loss = self.net(batch.to("cuda")).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss

    def report(self):
        return self.net.layer.weight.norm().item()
"""


def named(folder: Path, files: dict[str, str]) -> None:
    """Check a project: what is said of reads must be the marked lines, by file, and nothing else."""
    expected = set()
    (folder / "pyproject.toml").write_text("")
    for name, text in files.items():
        (folder / name).write_text(text)
        for row, line in enumerate(text.splitlines(), 1):
            expected |= {(name, row, code) for code in re.findall(r"TPU\d+", line.partition("#")[2])}
    found = tpulint("check", "--no-cache", "--select", "TPU101,TPU102,TPU103,TPU104,TPU105,TPU108", "--output-format",
                    "json", ".", cwd=folder)  # fmt: skip
    said = {(Path(item["filename"]).name, item["location"]["row"], item["code"]) for item in json.loads(found.out)}
    assert said == expected


def alone(folder: Path, text: str) -> None:
    """The same for one file with the usual beginning."""
    named(folder, {"train.py": HEAD + dedent(text)})


# ---------------------------------------------------------------- loops that run the step of another file


MAIN = """\
import torch
from agents import Agent

def play(env, options):
    agent = Agent(options)
    state, total, seen = env.reset(), 0, []
    for turn in range(options.turns):
        action = agent.select_action(state)
        state, reward, done = env.step(action)
        STEP
        if turn % 1000 == 0:
            print(agent.report())

if __name__ == "__main__":
    play(make_env(), parse())
"""


def test_what_an_agent_reads_beside_its_step(tmp_path: Path) -> None:
    main = MAIN.replace("STEP", "agent.train(env.batch())")
    named(tmp_path, {"agents.py": AGENT, "main.py": main})


def test_what_the_loop_reads_of_the_step(tmp_path: Path) -> None:
    main = MAIN.replace("STEP", "loss = agent.train(env.batch()); total += loss.item()  # TPU101")
    named(tmp_path, {"agents.py": AGENT, "main.py": main})


def test_what_the_loop_shows_now_and_then_behind_a_step_that_lacks_its_boundary(tmp_path: Path) -> None:
    """It belongs at the end of the step, and what is read behind that is only fetched."""
    step = """loss = agent.train(env.batch())
        if turn % 100 == 0:
            print(loss.item())
        seen = loss * 2"""
    main = MAIN.replace("STEP", step)
    named(tmp_path, {"agents.py": AGENT, "main.py": main})
    early = main.replace(
        "        action =", "        if turn % 100 == 99:\n            print(seen.item())  # TPU101\n        action ="
    )
    named(tmp_path, {"agents.py": AGENT, "main.py": early})


def test_a_value_behind_the_boundary_of_that_step_is_fetched_only(tmp_path: Path) -> None:
    agent = AGENT.replace("import torch\n", "import torch\nimport torch_xla\n", 1)
    agent = agent.replace("self.optimizer.step()\n", "self.optimizer.step()\n        torch_xla.sync()\n")
    main = MAIN.replace("STEP", "loss = agent.train(env.batch()); total += loss.item()")
    named(tmp_path, {"agents.py": agent, "main.py": main})


def test_an_agent_that_is_one_of_several(tmp_path: Path) -> None:
    other = AGENT.replace("class Agent", "class Second")
    main = MAIN.replace("STEP", "agent.train(env.batch())").replace(
        "from agents import Agent\n", "from agents import Agent\nfrom others import Second\n"
    )
    main = main.replace(
        "    agent = Agent(options)\n",
        "    if options.name == 'first':\n        agent = Agent(options)\n    elif options.name == 'second':\n"
        "        agent = Second(options)\n",
    )
    named(tmp_path, {"agents.py": AGENT, "others.py": other, "main.py": main})


def test_agents_that_branches_import_under_one_name(tmp_path: Path) -> None:
    other = AGENT.replace("class Agent", "class Second")
    main = MAIN.replace("STEP", "agent.train(env.batch())").replace("from agents import Agent\n", "")
    main = main.replace(
        "    agent = Agent(options)\n",
        "    if options.name == 'first':\n        from agents import Agent\n        agent = Agent(options)\n"
        "    else:\n        from others import Second as Agent\n        agent = Agent(options)\n",
    )
    named(tmp_path, {"agents.py": AGENT, "others.py": other, "main.py": main})


def test_an_agent_that_may_be_anything_is_not_followed(tmp_path: Path) -> None:
    main = MAIN.replace("STEP", "agent.train(env.batch())").replace("agent = Agent(options)", "agent = options.make()")
    named(tmp_path, {"agents.py": AGENT.replace("# TPU101", ""), "main.py": main})


def test_without_a_step_beside_it_an_agent_evaluates(tmp_path: Path) -> None:
    named(tmp_path, {"agents.py": AGENT, "main.py": MAIN.replace("STEP", "pass")})


def test_training_of_whole_epochs_makes_no_step_of_the_loop(tmp_path: Path) -> None:
    agent = AGENT.replace("# TPU101", "").replace(
        '        loss = self.net(batch.to("cuda")).pow(2).mean()\n',
        "        for part in batch:\n            self.one(part)\n\n    def one(self, part):\n"
        '        loss = self.net(part.to("cuda")).pow(2).mean()\n',
    )
    main = """\
from agents import Agent

def main(options, loader):
    agent = Agent(options)
    for epoch in range(9):
        agent.train(loader)
        print(agent.report())

if __name__ == "__main__":
    main()
"""
    named(tmp_path, {"agents.py": agent, "main.py": main})


def test_a_test_of_a_module_of_another_file(tmp_path: Path) -> None:
    model = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

class Base(nn.Module):
    def one_batch(self, x, y):
        out = self(x)
        right = out.argmax(1).eq(y).cpu().sum()  # TPU101
        return right, F.nll_loss(out, y)

class Small(Base):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, x):
        return self.layer(x)

class Large(Small):
    pass
"""
    main = """\
import torch
from models import Large, Small

model = Large() if big else Small()
model.cuda()

def test(xs, ys):
    model.eval()
    losses, rights = [], []
    for at in range(len(xs)):
        right, loss = model.one_batch(xs[at].cuda(), ys[at].cuda())
        rights.append(right.item())
        losses.append(loss.item())  # TPU101
    return losses
"""
    named(tmp_path, {"models.py": model, "main.py": main})


def test_an_evaluation_that_is_handed_a_loader(tmp_path: Path) -> None:
    metrics = """\
import torch

def hits(model, batches):
    found = []
    for users, items in batches:
        users, items = users.cuda(), items.cuda()
        scores = model(users, items)
        found.append(scores.topk(3)[1].cpu().tolist())  # TPU105
    return found
"""
    main = """\
import torch
from metrics import hits
from torch.utils.data import DataLoader

model = torch.nn.Bilinear(3, 3, 1).cuda()
batches = DataLoader(data, batch_size=9)

if __name__ == "__main__":
    model.eval()
    print(hits(model, batches))
"""
    named(tmp_path, {"metrics.py": metrics.replace("TPU105", "TPU101"), "main.py": main})


@pytest.mark.parametrize("moves", [True, False])
def test_a_model_that_another_file_puts_on_the_device(tmp_path: Path, moves: bool) -> None:
    models = """\
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)
        MOVE

    def forward(self, x):
        return self.layer(x).pow(2).mean()
"""
    train = """\
import torch
from models import Net

net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0
for x in batches:
    loss = net(x)
    loss.backward()
    optimizer.step()
    total += loss.item()  # TPU104
"""
    named(tmp_path, {
        "models.py": models.replace("MOVE", "self.cuda()" if moves else ""),
        "train.py": train if moves else train.replace("  # TPU104", ""),
    })  # fmt: skip


def test_what_a_function_of_another_file_gives_back(tmp_path: Path) -> None:
    ranks = """\
import torch.distributed as dist

def mean(value, ranks):
    value = value.clone()
    dist.all_reduce(value)
    value /= ranks
    return value

def rows(found, least):
    kept = [None] * len(found)
    for at in range(len(found)):
        kept[at] = found[at][found[at][:, 0] > least].contiguous()
    return kept
"""
    train = (
        HEAD
        + """\
from ranks import mean, rows
net = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in batches:
    out = net(x.to(device))
    loss = out.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(mean(loss, 8))  # TPU102
    kept = rows(out, 0.5)
    for part in kept:
        store(part.tolist())  # TPU101
"""
    )
    named(tmp_path, {"ranks.py": ranks, "train.py": train})


# ---------------------------------------------------------------- steps within one file


def test_a_step_that_a_function_makes(tmp_path: Path) -> None:
    alone(tmp_path, """
        def make_step(net, optimizer):
            def run(phase, x, y):
                net.train() if phase == "train" else net.eval()
                loss = F.cross_entropy(net(x), y)
                if phase == "train":
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                return loss.item()  # TPU101
            return run

        def main(x, y):
            net = nn.Linear(4, 2).to(device)
            step = make_step(net, torch.optim.SGD(net.parameters(), lr=0.1))
            for epoch in range(99):
                step("train", x, y)
                with torch.no_grad():
                    step("test", x, y)
    """)  # fmt: skip


def test_methods_of_an_object_that_a_function_is_given(tmp_path: Path) -> None:
    alone(tmp_path, """
        class Agent:
            def __init__(self):
                self.net = nn.Linear(4, 2).to(device)
                self.optimizer = torch.optim.Adam(self.net.parameters())

            def act(self, x):
                return self.net(torch.tensor(x, device=device)).argmax().item()  # TPU101

            def learn(self, x):
                loss = self.net(x.to(device)).pow(2).mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                return loss.item()  # TPU101

        def play(env, agent):
            for turn in range(1000):
                state = env.step(agent.act(env.state))
                agent.learn(state)

        agent = Agent()
        play(make(), agent)
    """)  # fmt: skip


def test_optimizers_that_step_in_parts_and_those_given_as_none(tmp_path: Path) -> None:
    alone(tmp_path, """
        from lookahead import Lookahead

        def run(net, batches, optimizer=None):
            for x in batches:
                loss = net(x.to(device)).mean()
                print(loss.item())  # TPU101
                if optimizer is not None:
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()

        class Around(torch.optim.Optimizer):
            def first_step(self, zero_grad=False): ...
            def second_step(self, zero_grad=False): ...

        net = nn.Linear(4, 1).to(device)
        run(net, batches, optimizer=choose(net))
        run(net, batches, optimizer=None)
        around = Around(net.parameters(), {})
        for x in batches:
            out = net(x.to(device))
            out.mean().backward()
            around.first_step(zero_grad=True)
            net(x.to(device)).mean().backward()
            around.second_step(zero_grad=True)
            report(out.cpu())  # TPU101
    """)  # fmt: skip


def test_evaluations(tmp_path: Path) -> None:
    alone(tmp_path, """
        net = nn.Linear(4, 2).to(device)

        def accuracy(batches):  # without a word of gradients: all of its calls are made under no_grad
            right = 0
            for x, y in batches:
                right += net(x.to(device)).argmax(1).eq(y.to(device)).sum().item()  # TPU104
            return right

        def recur(test_loader):
            net.eval()
            for x, y in test_loader:
                state, parts = x.to(device), []
                for t in range(9):
                    state = net(state)
                    parts.append(state)
                out = net(state)
                print(out.mean().item())  # TPU101

        def features(train_loader):
            found = []
            for x, y in train_loader:
                found.append(net(x.to(device)).cpu().numpy())  # TPU101
                labels(y.numpy())
            return found

        def likelihood(flow, loader):
            flow.eval()
            total = 0
            for x, y in loader:
                total += flow.log_prob(x.to(device)).sum().item()  # TPU104

        with torch.no_grad():
            accuracy(batches)
        likelihood(load_flow().to(device), loader)
    """)  # fmt: skip


def test_rare_reads_stay_unnamed(tmp_path: Path) -> None:
    alone(tmp_path, """
        net = nn.Linear(4, 2).to(device)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for i, x in enumerate(batches):
            show = False
            if i % 100 == 0:
                show = True
            out = net(x.to(device))
            loss = out.mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if show:
                draw(out.cpu())
            if i % 20 == 0 or i < 8:
                keep(out.cpu())
            if i % 20 == 0 or x.mean() < 8:
                keep(out.cpu())  # TPU101
            x = x.numpy()
    """)  # fmt: skip


def test_first_turn_of_a_loop_over_a_progress_bar_is_rare(tmp_path: Path) -> None:
    alone(tmp_path, """
        from tqdm import trange

        net = nn.Linear(4, 2).to(device)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        with trange(1, 1001) as bar:
            for step in bar:
                out = net(next(batches).to(device))
                optimizer.zero_grad()
                out.mean().backward()
                optimizer.step()
                if step == 1 or step % 100 == 0:
                    draw(out.cpu())
                if state == 1 or step % 100 == 0:
                    draw(out.cpu())  # TPU101
    """)  # fmt: skip


def test_first_turn_that_an_attribute_counts_is_rare(tmp_path: Path) -> None:
    alone(tmp_path, """
        class Training:
            def __init__(self):
                self.net = nn.Linear(4, 2).to(device)
                self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
                self.step = 0
                self.state = 0

            def run(self, batches):
                for x in batches:
                    out = self.net(x.to(device))
                    self.optimizer.zero_grad()
                    out.mean().backward()
                    self.optimizer.step()
                    self.step += 1
                    if self.step == 1 or self.step % 100 == 0:
                        draw(out.cpu())
                    if self.state == 1 or self.step % 100 == 0:
                        draw(out.cpu())  # TPU101
    """)  # fmt: skip


def test_first_turn_that_a_step_method_asks_for_is_rare(tmp_path: Path) -> None:
    """By a parameter that all calls give the number of the turn, or an attribute that the loop sets."""
    alone(tmp_path, """
        class Training:
            def __init__(self, loader):
                self.net = nn.Linear(4, 2).to(device)
                self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
                self.bar = enumerate(loader)
                if shown:
                    self.bar = tqdm(self.bar)

            def run(self):
                for self.step, x in self.bar:
                    self.update(self.net(x.to(device)), self.step)

            def other(self, loader):
                for step, x in enumerate(loader):
                    out = self.net(x.to(device))
                    self.update(out, step)
                    for i, part in enumerate(parts):
                        self.look(out, i, step)

            def update(self, out, step):
                self.optimizer.zero_grad()
                out.mean().backward()
                self.optimizer.step()
                if self.step == 0:
                    self.draw(out)
                if step == 0:
                    self.draw(out + 1)

            def look(self, out, i, step):
                if shown and step == 0:
                    self.draw(out)
                if i == 0:
                    keep(out.cpu())  # TPU101

            def draw(self, out):
                draw(out.cpu())

        from tqdm import tqdm
    """)  # fmt: skip


def test_what_a_forward_pass_calls_at_an_interval_is_rare(tmp_path: Path) -> None:
    alone(tmp_path, """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(4, 2)

            def rarely(self, x):
                draw(x.sum().item())

            def always(self, x):
                draw(x.sum().item())  # TPU101

            def forward(self, x, step):
                if step % 100 == 0:
                    self.rarely(x)
                    self.always(x)
                self.always(x)
                return self.lin(x)

        net = Net().to(device)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for step, x in enumerate(batches):
            optimizer.zero_grad()
            net(x.to(device), step).mean().backward()
            optimizer.step()
    """)  # fmt: skip


# ---------------------------------------------------------------- what is a tensor


def test_what_is_asked_of_an_unknown_result(tmp_path: Path) -> None:
    alone(tmp_path, """
        from elsewhere import criteria, measure, head
        net = nn.Linear(4, 2).to(device)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for i, (x, y) in enumerate(batches):
            x, y = x.to(device), y.to(device)
            out = net(x)
            distance = (criteria["kd"](out, y) + criteria["ce"](out, y)) / 2.0
            distance.backward()
            optimizer.step()
            optimizer.zero_grad()
            print(distance.item())  # TPU101
            print(measure(out, y).mean().item())  # TPU101
            print(measure(i).mean().item())
            keep(y.cpu())  # TPU101
            keep(measure(out, y))
    """)  # fmt: skip


def test_variables_that_a_loop_binds_anew(tmp_path: Path) -> None:
    alone(tmp_path, """
        net = nn.Linear(4, 2).to(device)
        net.eval()
        with torch.no_grad():
            for x in loader:
                x = x.to(device)
                with torch.autocast("cuda"):
                    if wide:
                        out = net(x)[0]
                    else:
                        out = net(x)
                out = out.detach().cpu().numpy()  # TPU101
                try:
                    kept = net(x)
                except RuntimeError:
                    raise ValueError
                kept = kept.pow(2).sum(1)
                if wide:
                    kept = kept.cpu()  # TPU101
                store(out, kept)
    """)  # fmt: skip


def test_what_an_option_moves(tmp_path: Path) -> None:
    alone(tmp_path, """
        net = nn.Linear(4, 2).cuda()
        net.eval()
        for x, y in torch.utils.data.DataLoader(data):
            if options.cuda:
                x, y = x.cuda(), y.cuda()
            net(x)
            keep(y.cpu())  # TPU101
            z = net(x)
            if options.slim:
                z = z.cpu()  # TPU101
            keep(z.cpu())
    """)  # fmt: skip


def test_distributions(tmp_path: Path) -> None:
    alone(tmp_path, """
        from torch.distributions import Categorical, Normal, kl_divergence
        net = nn.Linear(4, 2).to(device)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        prior = Normal(torch.zeros(2), torch.ones(2))
        for x in batches:
            chosen = Categorical(logits=net(x.to(device)), validate_args=False)
            action = chosen.sample()
            env.step(action.item())  # TPU101
            print(kl_divergence(chosen, chosen).mean().item())  # TPU101
            print(prior.sample()[0].item())
            print(chosen.probs.max().item())  # TPU101
            loss = -chosen.log_prob(action).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """)  # fmt: skip


def test_numbers_given_to_a_forward_pass(tmp_path: Path) -> None:
    alone(tmp_path, """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 2)

            def forward(self, x, drop=None):
                if drop > 0:
                    x = x * 2
                if x.mean() > 0:  # TPU103
                    x = x / 2
                return self.layer(x)

            def both(self, x):
                return self.forward(x, drop=0.5), self.forward(x, drop=0.0)

        net = Net().to(device)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for x in batches:
            loss = net.both(x.to(device))[0].mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """)  # fmt: skip


def test_gradients_elements_and_scaled_losses(tmp_path: Path) -> None:
    alone(tmp_path, """
        from elsewhere import losses
        from timm.utils import accuracy

        class Trainer:
            def __init__(self, net):
                self.net = nn.Linear(4, 2).to(device)
                self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

            def norm(self, parameters):
                total = 0.0
                for p in parameters:
                    total += p.grad.data.norm(2).item()  # TPU104
                return total

            def run(self, batches):
                for x, y in batches:
                    out = self.net(x.to(device))
                    loss = losses.of(self).mean()
                    self.optimizer.zero_grad()
                    loss.div(4).backward()
                    self.optimizer.step()
                    self.norm(self.net.parameters())
                    keep(loss.item())  # TPU101
                    first, fifth = accuracy(out, y.to(device), topk=(1, 5))
                    keep(first.item())  # TPU101
                    keep([part.item() for part in out.mean(1)])  # TPU101
                    keep([count.item() for count in range(3)])

        Trainer(1).run(batches)
    """)  # fmt: skip


def test_parts_of_objects(tmp_path: Path) -> None:
    agents = """\
import torch
import torch.nn as nn

class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, x):
        return self.layer(x)

    def choose(self, x):
        return self.forward(torch.tensor(x, device="cuda")).detach().cpu().numpy()  # TPU101

class Agent:
    def __init__(self):
        self.actor = Actor().to("cuda")
        self.optimizer = torch.optim.Adam(self.actor.parameters())

    def update(self, x):
        loss = self.actor(x.cuda()).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
"""
    main = """\
import torch
from agents import Agent

if __name__ == "__main__":
    agent = Agent()
    while True:
        agent.update(env.step(agent.actor.choose(env.state)))
"""
    named(tmp_path, {"agents.py": agents, "main.py": main})


def test_operations_on_the_host(tmp_path: Path) -> None:
    text = HEAD + dedent("""
        from torch.distributions import Beta, Categorical, Normal
        from torch.nn.utils.weight_norm import WeightNorm

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.utils.weight_norm(nn.Linear(4, 4))  # TPU135
                self.second = nn.utils.spectral_norm(nn.Linear(4, 4))
                WeightNorm.apply(self.second, "weight", dim=0)  # TPU135
                self.gate = nn.GLU()
                self.bags, self.sizes = self.make()

            def make(self):
                bags = nn.ModuleList()
                for size in (3, 4):
                    bags.append(nn.EmbeddingBag(size, 4))
                return bags, (3, 4)

            def look(self, bags, rows):
                parts = []
                for at, row in enumerate(rows):
                    bag = bags[at]
                    parts.append(bag(row))  # TPU135
                return sum(parts)

            def forward(self, x, rows):
                x = self.second(self.first(x)) + self.look(self.bags, rows)
                with torch.no_grad():
                    torch.cdist(x, x)
                return self.gate(x)  # TPU135

        net = Net().to(device)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for x, rows in batches:
            x = x.to(device)
            out = net(x, rows)
            bounded = Beta(out.exp(), out.exp(), validate_args=False)
            free = Normal(out, 1.0, validate_args=False)
            either = bounded if options.bounded else free
            drawn = bounded.rsample() + free.rsample()  # TPU135
            loss = either.log_prob(drawn).mean() - free.entropy().mean() - bounded.mean.mean()
            loss = loss + torch.cdist(out, x).mean()  # TPU135
            loss = loss + torch.pdist(out).mean()  # TPU135
            loss = loss + torch.special.entr(out.exp()).sum()  # TPU135
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """)
    (tmp_path / "train.py").write_text(text)
    expected = {row for row, line in enumerate(text.splitlines(), 1) if "TPU135" in line}
    found = tpulint("check", "--no-cache", "--select", "TPU135", "--output-format", "json", ".", cwd=tmp_path)
    assert {item["location"]["row"] for item in json.loads(found.out)} == expected


# ---------------------------------------------------------------- modules of other files


ENCODER = """\
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

device = torch.device("cuda")

class Encoder(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.embedding = embedding
        self.gru = nn.GRU(8, 8, bidirectional=True)

    def forward(self, words, lengths):
        return self.gru(pack_padded_sequence(self.embedding(words), lengths))
"""
TRAINING = """\
import torch
from torch import nn
from model import Encoder, device

def step(words, lengths, encoder, optimizer):
    loss = encoder(words.to(device), lengths)[0].data.mean()
    loss.backward()
    optimizer.step()

def train(batches):
    encoder = Encoder(nn.Embedding(9, 8)).to(device)
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
    for words, lengths in batches:
        step(words, lengths, encoder, optimizer)
"""


@pytest.mark.parametrize("others", [{}, {"train.py": TRAINING}], ids=["alone", "trained"])
def test_sequence_packed_by_a_module_of_unknown_parts(tmp_path: Path, others: dict[str, str]) -> None:
    """Knowing the loop that trains a module takes nothing away from what its file tells alone."""
    for name, text in {"pyproject.toml": "", "model.py": ENCODER, **others}.items():
        (tmp_path / name).write_text(text)
    found = tpulint("check", "--no-cache", "--select", "TPU320", "--output-format", "json", "model.py", cwd=tmp_path)
    assert [item["location"]["row"] for item in json.loads(found.out)] == [14]


KEYWORDS = {
    "attention.py": """\
from torch import nn

class Attention(nn.Module):
    def forward(self, *, query, mask):
        print(mask)
        return query
""",
    "train.py": """\
import torch
from torch import nn
from attention import Attention

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()

    def forward(self, x):
        return self.attention(query=x, mask=torch.zeros(3))

def train(batches):
    layer = Layer().to("cuda")
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for x in batches:
        layer(x.to("cuda")).mean().backward()
        optimizer.step()
""",
}


def test_forward_that_takes_nothing_but_keyword_arguments(tmp_path: Path) -> None:
    for name, text in {"pyproject.toml": "", **KEYWORDS}.items():
        (tmp_path / name).write_text(text)
    found = tpulint("check", "--no-cache", "--select", "TPU102", "attention.py", cwd=tmp_path)
    assert (found.status, found.err) == (0, "")


OWN_OPTIMIZER = {
    "model.py": """\
from torch import nn, optim

class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.{layer}(4, 4)
        self.optimizer = optim.Adam({parameters})

    def losses(self, x):
        return {{"rec": (self.layer(x) - x).pow(2).mean()}}

    def step(self, losses):
        self.optimizer.zero_grad()
        losses["rec"].backward()
        self.optimizer.step()

class Denoiser(Autoencoder):
    def __init__(self):
        super().__init__()
        self.critic = nn.Linear(4, 1)
        self.critic_optimizer = optim.Adam(self.critic.parameters())

    def step(self, losses):
        super().step(losses)
        self.critic_optimizer.zero_grad()
        losses["critic"].backward()
        self.critic_optimizer.step()
""",
    "train.py": """\
import sys
import torch
from model import Autoencoder, Denoiser

device = torch.device("cuda")
model = {{"plain": Autoencoder, "denoising": Denoiser}}[sys.argv[1]]().to(device)
model.load_state_dict(torch.load("model.pt", map_location="cpu"))
for x in torch.randn(12, 8, 4):
    model.step(model.losses(x.to(device)))
""",
}


@pytest.mark.parametrize(
    ("layer", "parameters", "flags"),
    [
        ("Linear", "self.parameters()", ["True"]),
        ("GRU", "self.parameters()", ["True", "False"]),
        ("Linear", "[]", ["True"]),
    ],
)
def test_module_that_steps_an_optimizer_of_its_own(
    tmp_path: Path, layer: str, parameters: str, flags: list[str]
) -> None:
    """The loop of one file runs the step of a class of another, which a dictionary chooses and which is moved there."""
    for name, text in {"pyproject.toml": "", **OWN_OPTIMIZER}.items():
        (tmp_path / name).write_text(text.format(layer=layer, parameters=parameters))
    tpulint("--fix", "--unsafe-fixes", "--no-cache", ".", cwd=tmp_path)
    model, train = (tmp_path / "model.py").read_text(), (tmp_path / "train.py").read_text()
    # One boundary for each turn, whatever steps it runs.
    assert (
        train.endswith("    model.step(model.losses(x.to(device)))\n    torch_xla.sync()\n") and "sync()" not in model
    )
    assert re.findall(r"set_swap_module_params_on_conversion\((\w+)\)", train) == flags


def test_class_of_this_file_that_a_dictionary_chooses(tmp_path: Path) -> None:
    files = {name: text.format(layer="Linear", parameters="self.parameters()") for name, text in OWN_OPTIMIZER.items()}
    (tmp_path / "train.py").write_text(files["model.py"] + files["train.py"].replace("from model import", "# "))
    found = tpulint("check", "--no-cache", "--select", "TPU301", "--output-format", "json", "train.py", cwd=tmp_path)
    assert [item["location"]["row"] for item in json.loads(found.out)] == [35]


SAMPLER = {
    "diffusion.py": """\
import torch
from torch import nn

class Diffusion(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def sample(self, count, device):
        x = torch.randn(count, 8, device=device)
        for step in range(1000):
            x = x - self.model(x) / 1000
        return x
""",
    "train.py": """\
import torch
from torch import nn
from diffusion import Diffusion

def draw(device="cuda"):
    diffusion = Diffusion(nn.Linear(8, 8)).to(device)
    {context}
        return diffusion.sample(16, device)

if __name__ == "__main__":
    draw()
""",
}


@pytest.mark.parametrize(
    ("context", "told"),
    [
        ("with torch.no_grad():", [11]),
        ("if diffusion.training:", []),
        ("with torch.no_grad():\n      for size in (1, 2):", []),
    ],
)
def test_loop_of_a_function_that_another_file_calls_without_gradients(
    tmp_path: Path, context: str, told: list[int]
) -> None:
    for name, text in {"pyproject.toml": "", **SAMPLER}.items():
        (tmp_path / name).write_text(text.replace("{context}", context))
    for _ in range(2):  # the second time from the cache
        found = tpulint("check", "--select", "TPU302", "--output-format", "json", ".", cwd=tmp_path)
        assert [item["location"]["row"] for item in json.loads(found.out)] == told


SAVING = {
    "checkpoints.py": """\
import torch

def save(state, path):
    torch.save(state, path)

def keep(table, path):
    torch.save(table, path)
    torch.save(table["model"], path)


def save_parts(table, path):
    torch.save(table, path)
    weights = table["model"]
    torch.save(weights, path)
    torch.save(table["optimizer"], path)
    torch.save(table["epoch"], path)
    torch.save(table[0], path)
""",
    "train.py": """\
import torch
from checkpoints import keep, save, save_parts

if __name__ == "__main__":
    model = torch.nn.Linear(4, 4).to("cuda")
    save({"epoch": 1, "model": model.state_dict()}, "model.pt")
    keep({"epoch": 1}, "table.pt")
    table = dict(epoch=1, model=model.state_dict(), optimizer=torch.optim.Adam(model.parameters()).state_dict())
    save_parts(table, "table.pt")
""",
}


def test_states_that_another_file_gives_to_be_saved(tmp_path: Path) -> None:
    for name, text in {"pyproject.toml": "", **SAVING}.items():
        (tmp_path / name).write_text(text)
    for _ in range(2):  # the second time from the cache
        found = tpulint("check", "--select", "TPU703", "--output-format", "json", ".", cwd=tmp_path)
        assert [item["location"]["row"] for item in json.loads(found.out)] == [4, 12, 14, 15]


SAVING_MODULES = {
    "keeping.py": """\
        import torch

        def save(model, path):
            torch.save(model.state_dict(), path)

        def save_gathered(model, path):
            with FSDP.state_dict_type(model, KIND, FullStateDictConfig(offload_to_cpu=True)):
                state = model.state_dict()
            torch.save(state, path)

        class Keeper:
            def save(self, model, path):
                torch.save({"model": model.state_dict(), "epoch": 1}, path)
        """,
    "nets.py": """\
        import torch

        class Net(torch.nn.Module):
            def save(self, path):
                torch.save(self.state_dict(), path)
        """,
    "train.py": """\
        import torch
        from keeping import Keeper, save
        from nets import Net

        if __name__ == "__main__":
            model, keeper = Net().to(DEVICE), Keeper()
            x = torch.randn(4, 4, device=DEVICE)
            model(x).sum().backward()
            SAVED
        """,
}


@pytest.mark.parametrize(
    ("saved", "device", "told"),
    [
        ('save(model, "x.pt")', '"cuda"', ["keeping.py:4", "keeping.py:13"]),
        ('save(path="x.pt", model=model)', '"cuda"', ["keeping.py:4", "keeping.py:13"]),
        ('keeper.save(model, "x.pt")', '"cuda"', ["keeping.py:4", "keeping.py:13"]),
        ('model.save("x.pt")', '"cuda"', ["nets.py:5"]),
        # Nothing is on a device, nothing is handed over, or it goes back to the host.
        ('save(model, "x.pt")', '"cpu"', []),
        ('model.save("x.pt")', '"cpu"', []),
        ('save(x, "x.pt")', '"cuda"', []),
        ('save(model.cpu(), "x.pt")', '"cuda"', []),
        ('model.to("cpu"); save(model, "x.pt")', '"cuda"', []),
        ('model.cpu(); model.save("x.pt")', '"cuda"', []),
    ],
)
def test_modules_whose_states_another_file_saves(tmp_path: Path, saved: str, device: str, told: list[str]) -> None:
    for name, text in {"pyproject.toml": "", **SAVING_MODULES}.items():
        (tmp_path / name).write_text(dedent(text).replace("SAVED", saved).replace("DEVICE", device))
    for _ in range(2):  # the second time from the cache
        found = tpulint("check", "--select", "TPU703", "--output-format", "json", ".", cwd=tmp_path)
        places = [f"{Path(item['filename']).name}:{item['location']['row']}" for item in json.loads(found.out)]
        assert places == told


COUNTING = """\
import torch
from torch import nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
        self.to("cuda")
        self.optimizer = torch.optim.SGD(self.parameters(), lr=0.1)

    def fit(self, batches):
        right = 0
        for x, y in batches:
            y = y.to("cuda")
            output = self.fc(x.to("cuda"))
            self.optimizer.zero_grad()
            F.cross_entropy(output, y).backward()
            self.optimizer.step()
            right += output.argmax(1).eq(y).cpu().sum()
        return right
"""


@pytest.mark.parametrize(
    ("used", "is_summed"),
    [
        ("print(net.fit(batches) / 10)", True),
        ("net.fit(batches)", True),
        ("print(net.fit(batches).item())", False),
        ("share = net.fit(batches) / 10\nprint(share.numpy())", False),
        ("print(net)", False),  # nobody sees who calls it
        ("net.fit = print", False),
        ("find().fit(batches)", False),  # anything's
        ("print(find().fit(batches) / 10)", True),
        ("print(find().fit(batches).item())", False),
    ],
)
def test_totals_whose_function_another_file_calls(tmp_path: Path, used: str, is_summed: bool) -> None:
    main = f"from lib import find\nfrom net import Net\n\nnet, batches = Net(), []\n{used}\n"
    for name, text in {"pyproject.toml": "", "net.py": COUNTING, "main.py": main}.items():
        (tmp_path / name).write_text(text)
    told = tpulint("check", "--diff", "--unsafe-fixes", ".", cwd=tmp_path).out
    assert ("+        right = right.item()" in told) is is_summed
    assert "+            torch_xla.sync()" in told


OWN_LOOP = """\
import torch
from model import Autoencoder

device = torch.device("cuda")
model = Autoencoder().to(device)
for x in torch.randn(12, 8, 4):
    losses = model.losses(x.to(device))
    model.step(losses)
    for name, value in losses.items():
        print(name, value.item())
    for part in x:
        print(part.item())
"""


def test_losses_of_several_kinds_that_a_module_of_another_file_gives(tmp_path: Path) -> None:
    """Each element of what a module gives, and is asked for a number, is on the device."""
    model = OWN_OPTIMIZER["model.py"].format(layer="Linear", parameters="self.parameters()")
    for name, text in {"pyproject.toml": "", "model.py": model, "train.py": OWN_LOOP}.items():
        (tmp_path / name).write_text(text)
    found = tpulint("check", "--no-cache", "--select", "TPU1", "--output-format", "json", ".", cwd=tmp_path)
    assert [(item["code"], item["location"]["row"]) for item in json.loads(found.out)] == [("TPU101", 10)]


PLAYER = """\
from abc import ABC, abstractmethod

import torch


class Player(ABC):
    def __init__(self, env, cuda=True):
        self.env = env
        self.turns = 0
        self.device = torch.device("cuda" if cuda else "cpu")

    def best(self, state):
        with torch.no_grad():
            return self.net.values(torch.tensor(state).to(self.device)).argmax().item()  # TPU101

    @abstractmethod
    def learn(self):
        pass

    def play(self):
        state, done = self.env.reset(), False
        while not done:
            state, done = self.env.step(self.best(state))
            self.turns += 1
            self.behind_turn()

    def behind_turn(self):
        if self.turns % 4 == 0:
            self.learn()
"""
LEARNER = """\
import torch
from player import Player


class Learner(Player):
    def __init__(self, env, net, memory):
        super().__init__(env)
        self.net, self.memory = net.to(self.device), memory
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def METHOD(self):
        loss = self.net.values(self.memory.draw().to(self.device)).mean()
        loss.backward()
        self.optimizer.step()
"""


def test_step_that_derived_classes_have_in_the_place_of_an_empty_method(tmp_path: Path) -> None:
    named(tmp_path, {"player.py": PLAYER, "learner.py": LEARNER.replace("METHOD", "learn")})


def test_steps_of_other_names_replace_nothing(tmp_path: Path) -> None:
    unmarked = PLAYER.replace("  # TPU101", "")
    named(tmp_path, {"player.py": unmarked, "learner.py": LEARNER.replace("METHOD", "fit")})


def test_a_step_in_the_place_of_a_method_with_a_body(tmp_path: Path) -> None:
    with_body = PLAYER.replace("  # TPU101", "").replace("        pass\n", "        self.turns += self.env.wait()\n")
    named(tmp_path, {"player.py": with_body, "learner.py": LEARNER.replace("METHOD", "learn")})


def test_program_that_plays_with_an_agent_and_knows_nothing_of_torch(tmp_path: Path) -> None:
    program = """\
        import gym
        from agents import Agent

        env = gym.make("Pendulum-v1")
        agent = Agent(parse())

        def play(games, turns):
            for game in range(games):
                state = env.reset()
                for turn in range(turns):
                    action = agent.select_action(state)
                    state, reward, done, _ = env.step(action)
                    agent.train(state)

        play(100, 300)
        """
    named(tmp_path, {"agents.py": AGENT, "play.py": dedent(program)})


def test_numbers_that_a_forward_pass_yields_beside_its_losses(tmp_path: Path) -> None:
    alone(
        tmp_path,
        """
        class Parts(nn.Module):
            def __init__(self, net):
                super().__init__()
                self.net = net

            def forward(self, x, count):
                for i, part in enumerate(x.chunk(count)):
                    is_last = i == count - 1
                    yield self.net(part).mean(), is_last

        model = Parts(nn.Linear(8, 8)).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in torch.utils.data.DataLoader(data, batch_size=8, drop_last=True):
            for loss, is_last in model(x.to(device), 2):
                loss.backward()
                if is_last:
                    optimizer.step()
    """,
    )


HOLDING = {
    "keeping.py": """\
        import torch

        class Keeper:
            def __init__(self, model, optimizer=None):
                self.model, self.optimizer = model, optimizer

            def save(self, path, **others):
                DATA
                data.update(others)
                torch.save(data, path)
        """,
    "train.py": """\
        import torch
        from keeping import Keeper

        model = torch.nn.Linear(4, 4).to(DEVICE)
        keeper = Keeper(model)
        for x in torch.utils.data.DataLoader(torch.ones(8, 4)):
            model(x.to(DEVICE)).sum().backward()
            torch.save(x, "x.pt")
        keeper.save("x.pt", epoch=3)
        """,
}


@pytest.mark.parametrize(
    ("data", "device", "told"),
    [
        ('data = {"model": self.model.state_dict()}', '"cuda"', ["keeping.py:10"]),
        ('data = {}; data["model"] = self.model.state_dict()', '"cuda"', ["keeping.py:10"]),
        ('data = dict(epoch=1); data["model"] = self.model.state_dict()', '"cuda"', ["keeping.py:10"]),
        ('data = {}; data["lr"] = self.rate', '"cuda"', []),
        ('data = {}; data["scheduler"] = self.scheduler.state_dict()', '"cuda"', []),
        ('data = {}; data["model"] = self.model.state_dict(); data = {}', '"cuda"', []),
        ('data = {}; data["model"] = self.model.state_dict()', '"cpu"', []),
    ],
)
def test_modules_that_an_object_of_another_file_holds(tmp_path: Path, data: str, device: str, told: list[str]) -> None:
    for name, text in {"pyproject.toml": "", **HOLDING}.items():
        (tmp_path / name).write_text(dedent(text).replace("DATA", data).replace("DEVICE", device))
    found = tpulint("check", "--select", "TPU703", "--output-format", "json", ".", cwd=tmp_path)
    places = [f"{Path(item['filename']).name}:{item['location']['row']}" for item in json.loads(found.out)]
    assert places == told


ROLLOUT = """\
    import torch
    from torch import nn

    class Agent:
        def __init__(self):
            self.net = nn.Linear(4, 2).to("cuda")
            self.optimizer = torch.optim.Adam(self.net.parameters())

        def act(self, state):
            return self.net(state.to("cuda")).argmax()RETURNED

        def learn(self, states):
            for _ in range(3):
                loss = self.net(states.to("cuda")).square().mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
    """
GAMES = """\
    def play(environment):
        agent = Agent()
        state = environment.reset()
        while True:
            states = []
            for _ in range(128):
                state = environment.step(agent.act(state))
                states.append(state)
            BEHIND

    if __name__ == "__main__":
        play(make())
    """


@pytest.mark.parametrize("is_elsewhere", [True, False])
@pytest.mark.parametrize(
    ("returned", "behind", "is_told"),
    [
        (".item()", "agent.learn(torch.stack(states))", True),
        (".cpu().numpy()", "agent.learn(torch.stack(states))", True),
        ("", "agent.learn(torch.stack(states))", False),  # nothing is read
        (".item()", "print(len(states))", False),  # how often it plays nobody knows
    ],
)
def test_games_beside_what_learns_of_them(
    tmp_path: Path, returned: str, behind: str, is_told: bool, is_elsewhere: bool
) -> None:
    agent = dedent(ROLLOUT).replace("RETURNED", returned + ("  # TPU101" if is_told else ""))
    games = dedent(GAMES).replace("BEHIND", behind)
    files = {"agent.py": agent, "main.py": "import torch\nfrom agent import Agent\n" + games}
    named(tmp_path, files if is_elsewhere else {"main.py": agent + games})
