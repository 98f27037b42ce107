"""What runs in the turns of a loop of another file, and what only some of its turns run.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint
from marked_files import SETUP, agree

MODEL = """\
    import torch
    from torch import nn


    class Embedder:
        def __init__(self):
            self.encoder = nn.Linear(4, 4).cuda()
            self.optimizer = torch.optim.Adam(self.encoder.parameters())
            self.steps = 0

        def embed(self, x):
            return self.encoder(x.cuda())

        def train_step(self, x):
            self.steps += 1
            self.optimizer.zero_grad()
            self.embed(x).pow(2).mean().backward()
            self.optimizer.step()
    """
EVALUATION = """\
    import torch


    def encode(model, loader):
        model.encoder.eval()
        total = 0
        for x in loader:
            with torch.no_grad():
                found = model.embed(x)
            total += found.sum().item()  # {}
        return total
    """
PROGRAM = """\
    import torch
    from torch.utils.data import DataLoader
    from model import Embedder
    from evaluation import encode


    def validate(loader, model):
        return encode(model, loader)


    def train(loader, held_out, model):
        for x in loader:
            model.train_step(x)
            {}validate(held_out, model)


    train(DataLoader(torch.ones(8, 4)), DataLoader(torch.ones(8, 4)), Embedder())
    """


def test_an_evaluation_that_only_some_steps_run(tmp_path: Path) -> None:
    program = PROGRAM.replace("{}", "if model.steps % 100 == 0:\n                ")
    agree(tmp_path, "TPU101", main=program, model=MODEL, evaluation=EVALUATION.format("TPU101"))
    assert "every evaluation batch" in _told(tmp_path)


def test_an_evaluation_that_every_step_runs(tmp_path: Path) -> None:
    agree(tmp_path, "TPU101", main=PROGRAM.format(""), model=MODEL, evaluation=EVALUATION.format("TPU101"))
    assert "every step of main.py" in _told(tmp_path)


def _told(folder: Path) -> str:
    return tpulint("--output-format=concise", "--select", "TPU101", ".", cwd=folder).out


def test_what_one_of_two_modules_has_fetched(tmp_path: Path) -> None:
    """Which of them runs is not known, and so it is not said that the device has to be waited for."""
    parts = """\
    import torch.nn.functional as F
    from torch import nn


    class Values(nn.Module):
        def forward(self, x, y):
            far = F.l1_loss(x, y).cpu()  # TPU101
            return x, far, F.mse_loss(x, y)


    class Classes(nn.Module):
        def forward(self, x, y):
            loss = F.cross_entropy(x, y)
            return x, loss, x.argmax(1).eq(y).sum().item() / len(y)  # TPU101
    """
    program = """\
    import torch
    from torch import nn
    from parts import Classes, Values


    class Model(nn.Module):
        def __init__(self, counts):
            super().__init__()
            self.first = nn.Linear(4, 4)
            self.last = Classes()
            if counts:
                self.last = Values()

        def forward(self, x, y):
            return self.last(self.first(x.cuda()), y.cuda())


    def train(model, batches, optimizer, counts):
        for x, y in batches:
            if counts:
                out, far, loss = model(x, y)
                shown = "%0.5f" % far
            else:
                out, loss, hits = model(x, y)
                shown = "%0.5f" % hits
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(shown)


    model = Model(False)
    model.cuda()
    train(model, [(torch.ones(8, 4), torch.ones(8))], torch.optim.SGD(model.parameters(), lr=0.1), False)
    """
    agree(tmp_path, "TPU101,TPU102", main=program, parts=parts)


def test_a_loader_of_one_file_that_a_generator_of_another_goes_through_for_a_third(tmp_path: Path) -> None:
    loaders = """\
    from torch.utils.data import DataLoader


    def make_loader(samples, size):
        return DataLoader(samples, batch_size=size, shuffle=True)  # TPU501


    def make_cut_loader(samples, size):
        return DataLoader(samples, batch_size=size, shuffle=True)
    """
    generators = """\
    def for_ever(batches):
        source = iter(batches)
        while True:
            try:
                batch = next(source)
                yield batch
            except StopIteration:
                source = iter(batches)


    def once_more(batches):
        for _ in range(2):
            for batch in batches:
                yield batch


    def full_ones(batches, size):
        batches = iter(batches)
        for batch in batches:
            batches = iter(batches)
            yield batch[: len(batch) // size]
    """
    program = """\
    import torch
    from torch import nn
    from generators import for_ever, full_ones, once_more
    from loaders import make_cut_loader, make_loader


    class Solver:
        def __init__(self, samples):
            self.loader = make_loader(samples, 8)
            self.batches = {}(self.loader)
            self.model = nn.Linear(4, 4).cuda()
            self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

        def step(self, x):
            loss = self.model(x.cuda()).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

        def train(self, count):
            for _ in range(count):
                self.step(next(self.batches))


    Solver(torch.randn(20, 4)).train(12)
    """
    for name, expected in (("for_ever", loaders), ("once_more", loaders)):
        agree(tmp_path, "TPU501", main=program.replace("{}", name), loaders=expected, generators=generators)
    cut = program.replace("make_loader(", "make_cut_loader(").replace("{}(self.loader)", "full_ones(self.loader, 4)")
    agree(tmp_path, "TPU501", main=cut, loaders=loaders.replace("  # TPU501", ""), generators=generators)


def test_a_number_that_a_generator_of_another_file_counts(tmp_path: Path) -> None:
    generators = """\
    def with_estimate(batches, text):
        for k, batch in enumerate(batches):
            print(text, k)
            yield k, batch


    def with_text(batches, text):
        for batch in batches:
            yield text, batch


    def of_itself(batches):
        for k, batch in of_itself(batches):
            yield k, batch
    """
    program = """\
    import torch
    from torch import nn
    from generators import of_itself, with_estimate, with_text

    device = torch.device("cuda")
    model = nn.Linear(4, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


    def step(k, x, losses):
        optimizer.zero_grad()
        loss = model(x.to(device)).pow(2).squeeze(1)
        start = k * 8
        end = start + x.size(0)
        losses[0, start:end] = loss.detach()  # TPU201
        loss.mean().backward()
        optimizer.step()


    def train(batches):
        losses = torch.zeros(2, 800, device=device)
        for k, x in with_estimate(batches, "training"):
            step(k, x, losses)


    def train_with_text(batches):
        losses = torch.zeros(2, 800, device=device)
        for k, x in with_text(batches, 3):
            optimizer.zero_grad()
            model(x.to(device)).pow(2).mean().backward()
            losses[0, k:4] = 0
            optimizer.step()
        for k, x in of_itself(batches):
            optimizer.zero_grad()
            model(x.to(device)).pow(2).mean().backward()
            losses[0, k:4] = 0
            optimizer.step()
    """
    agree(tmp_path, "TPU201", main=program, generators=generators)


AGENT = """\
    import torch
    from torch import nn


    class Agent:
        def __init__(self, rate, device):
            self.critic = nn.Linear(4, 1).to(device)
            self.optimizer = torch.optim.Adam(self.critic.parameters(), lr=rate)
            self.seen = {seen}

        def update_critic(self, x):
            metrics = dict()
            loss = self.critic(x).pow(2).mean()
            metrics["loss"] = loss.item(){read}
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            return metrics

        def update(self, x):{step}
            metrics = {{}}
            metrics.update(self.update_critic(x))
            self.seen.update(x)
            return metrics
    """


def test_a_step_called_as_a_method_of_dictionaries_is(tmp_path: Path) -> None:
    """Who calls the agent is not seen: it is made by its name in a configuration."""
    held = AGENT.replace("            self.seen = {seen}\n", "").replace("            self.seen.update(x)\n", "")
    agree(tmp_path, "TPU101,TPU301", agent=held.format(read="  # TPU101", step="  # TPU301"))


def test_a_method_of_what_may_be_another_agent(tmp_path: Path) -> None:
    """It trains a step, whoever that is."""
    agree(tmp_path, "TPU101,TPU301", agent=AGENT.format(seen="make()", read="  # TPU101", step="  # TPU301"))


def test_what_a_tensor_class_of_cuda_makes_is_on_the_device(tmp_path: Path) -> None:
    program = """\
    import torch
    from torch import nn

    model = nn.Linear(4, 4).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in batches:
        gate = torch.cuda.FloatTensor([0]).bernoulli_(0.5)
        if gate.item() == 0:  # TPU103
            x = x + torch.FloatTensor([0]).bernoulli_(0.5).item()
        model(x.cuda()).mean().backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU101,TPU103", main=program)


def test_what_is_added_to_an_array_behind_the_boundary_of_another_file(tmp_path: Path) -> None:
    """The device adds it up, in a graph of its own, whatever the step has computed: measured on XLA."""
    network = """\
    import torch
    import torch_xla

    class Network:
        def __init__(self, device):
            self.model = torch.nn.Linear(3, 3).to(device)
            self.optimizer = torch.optim.SGD(self.model.parameters(), 0.1)

        def fit(self, x, y):
            self.optimizer.zero_grad()
            loss = (self.model(x) - y).abs().mean()
            loss.backward()
            self.optimizer.step()
            torch_xla.sync()
            return loss
    """
    program = """\
    import numpy as np
    import torch_xla
    from network import Network

    device = torch_xla.device()
    network = Network(device)
    sums = np.zeros(9)
    for epoch in range(9):
        for x, y in loader:
            loss = network.fit(x.to(device), y.to(device))
            sums[epoch] += loss  # TPU101
            sums[epoch] += loss.item()
    """
    agree(tmp_path, "TPU101", network=network, main=program)
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU101", ".", cwd=tmp_path)
    assert "sums[epoch] += loss.item()  # TPU101" in (tmp_path / "main.py").read_text()
    assert "TPU101" not in _told(tmp_path)


def test_a_part_of_a_tensor_behind_the_boundary_is_a_graph_of_its_own(tmp_path: Path) -> None:
    """Measured: `x[2].item()` executes, `x.cpu()` and `x.detach().cpu()` only fetch."""
    program = (
        SETUP
        + """
    import torch_xla

    for x, y in loader:
        optimizer.zero_grad()
        losses = F.mse_loss(model(x.to(device)), y.to(device), reduction="none")
        parts = {"loss": losses}
        losses.mean().backward()
        optimizer.step()
        torch_xla.sync()
        show(losses[:2].cpu())  # TPU101
        show(losses[0, 0].item())  # TPU101
        show(losses.detach().cpu(), parts["loss"].cpu())
    """
    )
    agree(tmp_path, "TPU101", main=program)


def test_what_a_function_computes_behind_the_boundary_is_a_graph_of_its_own(tmp_path: Path) -> None:
    program = (
        """\
    import torch_xla

    def accuracy(output, target, topk):
        _, found = output.topk(max(topk), 1)
        correct = found.eq(target.view(-1, 1))
        return [correct[:, :k].float().sum() for k in topk]

    def first_of(values):
        return values[0]

    def trained(x, y):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        return loss
"""
        + SETUP
        + """
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        out = model(x)
        optimizer.zero_grad()
        loss = F.cross_entropy(out, y)
        early, _ = accuracy(out.data, y, (1, 5))
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        for part in (out, out):
            one, five = accuracy(part.data, y, (1, 5))
            show(one.item())  # TPU101
            show(five.item())  # TPU101
        show(first_of([loss]).item())
        show(early.item())

    for x, y in loader:
        loss = trained(x.to(device), y.to(device))
        show(loss.item())
    """
    )
    agree(tmp_path, "TPU101", main=program)


RING = """\
    import torch


    class Ring:
        def __init__(self, size, device):
            self.size, self.at, self.filled = size, 0, 0
            self.rows = torch.zeros((size, 4), device=device)

        def add(self, row):
            self.rows[self.at] = row  # {}
            self.at = (self.at + 1) % self.size
            self.filled = min(self.filled + 1, self.size)

        def sample(self, number):
            return self.rows[torch.randint(0, self.filled, (number,), device=self.rows.device)]
    """
PLAYING = """
    from ring import Ring

    ring = Ring(64, {device})
    for step in range(100):
        ring.add(torch.rand(4))
        optimizer.zero_grad()
        model(ring.sample(8).to(device)).mean().backward()
        optimizer.step()
    """


def test_a_ring_of_another_file_on_the_device_is_written_at_another_place_in_every_step(tmp_path: Path) -> None:
    agree(tmp_path, "TPU201,TPU202", main=SETUP + PLAYING.format(device="device"), ring=RING.format("TPU201"))


def test_a_ring_of_another_file_on_the_host_may_be_written_anywhere(tmp_path: Path) -> None:
    agree(tmp_path, "TPU201,TPU202", main=SETUP + PLAYING.format(device='"cpu"'), ring=RING.format("the host's"))


def test_the_host_is_named_by_any_text_that_every_call_gives(tmp_path: Path) -> None:
    own = RING.replace("device):", "device: str):")
    for devices, code in (('"cpu"',), "the host's"), (('"cpu"', "device"), "TPU201"), (('"cpu"', '"cuda:0"'), "TPU201"):
        others = "".join(f"\n    another_{at} = Ring(64, {device})" for at, device in enumerate(devices))
        playing = PLAYING.replace("from ring import Ring", "").format(device=devices[0])
        agree(tmp_path, "TPU201,TPU202", main=SETUP + own.replace("import torch", "").format(code) + others + playing)


MEASURED = """
    from measures import likeness, scale

    batches = torch.utils.data.DataLoader(data, 8)
    model.eval()
    found = []
    with torch.no_grad():
        for x, y in batches:
            out = model(x.to(device))
            total = out.sum()
            torch_xla.sync()
            VALUE
            found.append(value)
    """
LIKENESS = """\
    import torch.nn.functional as F


    def likeness(one, other):
        return F.cosine_similarity(one, other).mean()


    def scale(number):
        return number * 2
    """


def test_what_a_function_of_another_file_computes_behind_the_boundary_of_an_evaluation_is_waited_for(
    tmp_path: Path,
) -> None:
    for value in (
        "value = likeness(out, y.to(device)).item()  # TPU101",
        "value = likeness(out, y.to(device)).detach().cpu()  # TPU101",
        "value = total.item()",
        "value = total.detach().cpu()",
        "value = scale(len(x))",
    ):
        program = SETUP.replace("import torch\n", "import torch\n    import torch_xla\n", 1) + MEASURED
        agree(tmp_path, "TPU101", main=program.replace("VALUE", value), measures=LIKENESS)


ENGINE = """\
class Engine:
    def train(self, model, loader, make, settings):
        state = {"model": model, "optimizer": make(model.parameters(), **settings)}
        for state["sample"] in loader:  #told
            state["optimizer"].zero_grad()
            loss, _ = state["model"].loss(state["sample"])
            loss.backward()
            state["optimizer"].step()

    def close(self, closure, params, count):
        optimizer = self.make(params)
        for _ in range(count):  #told
            optimizer.zero_grad()
            closure()
            optimizer.step()
"""


@pytest.mark.parametrize(("places", "is_there"), [("model.cuda()", True), ("model.train()", False)])
def test_an_engine_that_names_no_device_trains_for_a_file_that_does(
    tmp_path: Path, places: str, is_there: bool
) -> None:
    main = f"""\
    from engine import Engine
    from models import load

    options = {{"model": load(), "loader": load()}}
    model = options["model"]
    {places}
    Engine().train(**options, make=load(), settings=dict())
    Engine().close(load(), model.parameters(), 8)
    """
    models = "def load():\n    return registry['x']()\n"
    told = "# TPU301" if is_there else "#"
    agree(tmp_path, "TPU301", main=main, engine=ENGINE.replace("#told", told), models=models)


@pytest.mark.parametrize(
    ("task", "told"),
    [
        ("import torch\n\nclass Task:\n    def __init__(self, net):\n        self.parts = net.cuda()\n", "# TPU301"),
        ("import tensorflow as tf\n\nclass Task:\n    where = tf.device('/gpu:0')\n", ""),
    ],
)
def test_a_program_whose_models_other_files_import(tmp_path: Path, task: str, told: str) -> None:
    training = f"""\
    from helper import Helper

    def train(model, optimizer, loader):
        for x in loader:  {told}
            model.zero_grad()
            model(x).mean().backward()
            optimizer.step()

    if __name__ == "__main__":
        train(*Helper().parts())
    """
    helper = "from task import Task\n\nclass Helper:\n    def parts(self):\n        return Task().parts\n"
    agree(tmp_path, "TPU301", training=training, helper=helper, task=task)


def test_a_function_that_is_handed_to_a_loop_of_another_file(tmp_path: Path) -> None:
    main = """\
    import torch
    from torch import nn
    from engine import close

    net = nn.Linear(4, 2).cuda()
    x = torch.rand(8, 4).cuda()

    def closure():
        loss = net(x).mean()
        loss.backward()
        print(loss.item())  # TPU101

    def once():
        loss = net(x).mean()
        loss.backward()
        print(loss.item())

    close(closure, net.parameters(), 8)
    once()
    """
    engine = """\
    import torch

    def close(closure, params, count):
        optimizer = torch.optim.Adam(params)
        for _ in range(count):
            optimizer.zero_grad()
            closure()
            optimizer.step()
    """
    agree(tmp_path, "TPU101", main=main, engine=engine)


def test_a_function_with_a_step_loop_of_its_own_is_told_once(tmp_path: Path) -> None:
    main = """\
    import torch
    from torch import nn
    from engine import run

    net = nn.Linear(4, 2).cuda()
    optimizer = torch.optim.Adam(net.parameters())

    def update(parts):
        for part in parts:
            loss = net(part.cuda()).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(loss.item())  # TPU101

    run(update, net, optimizer, batches)
    """
    engine = """\
    import torch

    def run(update, net, optimizer, batches):
        for batch in batches:
            optimizer.zero_grad()
            net(batch.cuda()).sum().backward()
            optimizer.step()
            update(batch)
    """
    agree(tmp_path, "TPU101", main=main, engine=engine)
    assert tpulint("--select", "TPU101", ".", cwd=tmp_path).out.count("TPU101 ") == 1


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("for t in reversed(range(6))", ""),
        ("for t in torch.arange(6).to(device)", "# TPU103"),
        ("for t in [torch.ones(1).to(device)]", "# TPU103"),
    ],
)
def test_a_number_that_a_module_of_another_file_is_given(tmp_path: Path, given: str, code: str) -> None:
    main = f"""\
    import torch
    from critic import Critic

    device = torch.device("cuda")
    critic = Critic().to(device)
    optimizer = torch.optim.Adam(critic.parameters())
    for x in loader:
        {given}:
            optimizer.zero_grad()
            critic(x.to(device), t).mean().backward()
            optimizer.step()
    """
    critic = f"""\
    import torch
    from torch import nn

    class Critic(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 1)

        def forward(self, x, t=None):
            return self.layer(self.inputs(x, t))

        def inputs(self, x, t=None):
            if t == 0:  {code}
                x = torch.zeros_like(x)
            return x
    """
    agree(tmp_path, "TPU103", main=main, critic=critic)


@pytest.mark.parametrize(
    ("given", "code"), [("", ""), (", None", ""), (", x.norm()", "# TPU103"), (", *self.rest(x)", "# TPU103")]
)
def test_a_parameter_of_a_forward_pass_that_every_call_leaves_at_none(tmp_path: Path, given: str, code: str) -> None:
    layers = f"""\
    from torch import nn

    class Quantizer(nn.Module):
        def __init__(self):
            super().__init__()
            self.codes = nn.Embedding(16, 8)

        def forward(self, z, temp=None):
            assert temp is None or temp == 1.0  {code}
            return z + self.codes((z[:, None] - self.codes.weight).pow(2).sum(-1).argmin(1)).detach()
    """
    model = f"""\
    from torch import nn
    from layers import Quantizer

    class Coder(nn.Module):
        def __init__(self):
            super().__init__()
            self.encode = nn.Linear(8, 8)
            self.quantize = Quantizer()

        def forward(self, x):
            x = self.encode(x)
            return self.quantize(x{given})
    """
    main = """\
    import torch
    from model import Coder

    model = Coder().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for x in torch.utils.data.DataLoader(torch.ones(16, 8), 4):
        optimizer.zero_grad()
        model(x.cuda()).pow(2).mean().backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU103", main=main, model=model, layers=layers)


def test_a_number_that_goes_through_methods_into_the_forward_pass(tmp_path: Path) -> None:
    main = """\
    import torch
    from torch import nn

    class Learner(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(4, 4)
            self.to("cuda")
            self.optimizer = torch.optim.Adam(self.net.parameters())

        def forward(self, x, epoch, weight):
            if epoch < 4:
                x = x + 1
            if weight > 2:  # TPU103
                x = x * weight
            return self.net(x)

        def loss_of(self, x, epoch):
            return self.forward(x, epoch=epoch, weight=x.mean())

        def train_on(self, x, epoch):
            epoch = int(epoch)
            self.optimizer.zero_grad()
            self.loss_of(x.cuda(), epoch).mean().backward()
            self.optimizer.step()

    learner = Learner()
    for number, x in enumerate(loader):
        learner.train_on(x, number / 5)
    """
    agree(tmp_path, "TPU103", main=main)


@pytest.mark.parametrize(
    ("parameters", "test", "given", "code"),
    [
        ("x, prob", "self.training and prob > 0.0", "x, self.prob", ""),
        ("x, prob", "self.training", "x, self.prob", "# TPU103"),  # it is asked elsewhere only
        ("x, prob", "self.training and prob > 0.0", "x, x.mean()", "# TPU103"),
        ("prob, x", "prob > 0.0", "self.norm(x), x", "# TPU103"),  # what a pass is given first is a tensor
    ],
)
def test_a_number_that_a_pass_asks_itself_and_hands_on(
    tmp_path: Path, parameters: str, test: str, given: str, code: str
) -> None:
    layers = f"""\
    import torch

    def drop_path(x, prob):
        if prob > 0.0:  {code}
            x = x * torch.empty(x.size(0), 1, device=x.device).bernoulli_(1.0 - prob)
        return x
    """
    told_here = code if "prob" in test else ""
    model = f"""\
    from torch import nn
    from layers import drop_path

    class Cell(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, {parameters}):
            h = self.layer(x)
            if {test}:  {told_here}
                h = drop_path(h, prob)
            return h

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = Cell()

        def forward(self, x):
            return self.cell({given})
    """
    main = """\
    import torch
    from model import Net

    model = Net().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(4):
        model.prob = 0.2 * epoch
        for x in torch.utils.data.DataLoader(torch.ones(16, 4), 4):
            optimizer.zero_grad()
            model(x.cuda()).pow(2).mean().backward()
            optimizer.step()
    """
    agree(tmp_path, "TPU103", main=main, model=model, layers=layers)


@pytest.mark.parametrize(
    ("call", "is_told"),
    [
        ("update(scaler, criterion(model(x), x), optimizer)", True),
        ("loss = criterion(model(x), x)\n        update(scaler, loss, optimizer)", True),
        ("update(scaler, given, optimizer)", False),  # the loss is that of whoever calls it
    ],
)
def test_a_step_whose_update_is_a_third_function(tmp_path: Path, call: str, is_told: bool) -> None:
    training = f"""\
    import torch

    def rate(count):
        return min(count / 3, 1.0)

    def update(scaler, loss, optimizer):
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()

    def step(state, model, criterion, scaler, optimizer, batch, device, given=None):{"  # TPU301" if is_told else ""}
        x = batch.to(device)
        optimizer.param_groups[0]["lr"] = rate(state.step)
        {call}
    """
    train = """\
    import torch
    from training import step

    device = torch.device("cuda")
    model = torch.nn.Linear(4, 4).to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cuda")
    while state.step < 20:
        step(state, model, torch.nn.functional.mse_loss, scaler, optimizer, next(batches), device)
        state.step = state.step + 1
    """
    agree(tmp_path, select="TPU301", train=train, training=training)


@pytest.mark.parametrize(
    ("base", "kept", "is_told"),
    [
        ("torch.autograd.Function", "self.act = Binary.apply", True),
        ("torch.autograd.Function", "self.act = torch.sign", False),
        ("Rounding", "self.act = Binary.apply", False),  # nobody knows what applying it runs
    ],
)
def test_a_gradient_of_its_own_that_an_attribute_applies(tmp_path: Path, base: str, kept: str, is_told: bool) -> None:
    functions = f"""\
    import torch
    from rounding import Rounding

    class Binary({base}):
        @staticmethod
        def forward(ctx, input):
            ctx.save_for_backward(input)
            output = torch.zeros_like(input)
            output[input > 0] = 1.0{"  # TPU204" if is_told else ""}
            return output

        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            gradient = grad_output.clone()
            gradient[input.ge(1)] = 0{"  # TPU204" if is_told else ""}
            return gradient
    """
    layers = f"""\
    import torch
    from functions import Binary
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            {kept}
            self.layer = nn.Linear(4, 4)

        def forward(self, x):
            return self.act(self.layer(x))
    """
    train = """\
    import torch
    from layers import Net

    model = Net().cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for x in loader:
        optimizer.zero_grad()
        model(x.cuda()).sum().backward()
        optimizer.step()
        torch_xla.sync()
    """
    agree(tmp_path, select="TPU204", train=train, layers=layers, functions=functions)
    together = functions.replace("    from rounding import Rounding\n", "") + layers.replace(
        "    from functions import Binary\n", ""
    )
    one = tmp_path / "one"
    one.mkdir()
    if base != "Rounding":
        agree(one, select="TPU204", train=together + train.replace("    from layers import Net\n", ""))


def test_masks_of_a_model_in_a_class_of_another_file(tmp_path: Path) -> None:
    pruning = """\
    import torch
    from torch import nn


    class Pruner:
        def __init__(self, model, tree):
            self.model = model
            self.tree = tree
            self.masks = {}
            for i, module in enumerate(model.modules()):
                if isinstance(module, nn.Linear):
                    self.masks[i] = (module.weight.data.abs() > 0.1).cuda()

        def prune(self):
            for i, module in enumerate(self.model.modules()):
                if isinstance(module, nn.Linear):
                    module.weight.data[self.masks[i].eq(0)] = 0.0  # TPU204
            for name, weight in self.model.named_parameters():
                weight.data[weight.grad.abs() < 0.1] = 0.0  # TPU204

        def count(self):
            for node in Tree().modules():
                node.weight[node.weight > 0] = 0.0
            for node in self.tree.modules("leaf"):
                node.weight[node.weight > 0] = 0.0


    class Tree:
        def modules(self):
            return self.nodes
    """
    main = (
        SETUP
        + """
    from pruning import Pruner

    pruner = Pruner(model, None)
    for x, y in loader:
        F.mse_loss(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
        pruner.prune()
        pruner.count()
    """
    )
    agree(tmp_path, select="TPU204", main=main, pruning=pruning)


def test_a_bank_of_another_file_that_is_filled_in_turns(tmp_path: Path) -> None:
    bank = """\
    from functools import cached_property

    import torch


    class Bank:
        def __init__(self, size):
            self.size = size
            self.rows = torch.zeros(size, 4).cuda()
            self.at = 0
            self.kept = 0

        @property
        def is_full(self):
            return self.rows[-1, 0].item() != 0  # TPU101

        @cached_property
        def scale(self):
            return self.rows.mean().item()

        @property
        def total(self):
            return self.rows.sum().item()

        def get(self):
            if self.is_full:
                return self.rows * self.scale
            return self.rows[: self.at]  # TPU201

        def put(self, rows):
            n = len(rows)
            if self.at + n > self.size:
                self.rows[-n:] = rows
                self.at = 0
            else:
                self.rows[self.at : self.at + n] = rows  # TPU201
                self.at += n
            if self.size > 0:
                self.kept = 0
            self.rows[self.kept] = rows[0]
            self.kept += 1
    """
    main = (
        SETUP
        + """
    from bank import Bank

    bank = Bank(64)
    for x, y in loader:
        rows = model(x.to(device))
        bank.put(rows.detach())
        (rows @ bank.get().t()).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    print(bank.total)
    """
    )
    agree(tmp_path, select="TPU101,TPU201", main=main, bank=bank)


HELPED = """\
    def elbo(encoder, score, optimizer, x):
        inner = score(encoder(x).detach()).pow(2).mean()
        optimizer.zero_grad()
        inner.backward()
        optimizer.step()
        return score(encoder(x)).mean(), inner
    """
OUTER = """\
    import torch
    from torch import nn
    from helped import elbo

    encoder, score = nn.Linear(4, 4).cuda(), nn.Linear(4, 4).cuda()
    first, second = torch.optim.Adam(encoder.parameters()), torch.optim.Adam(score.parameters())
    for x in torch.ones(8, 2, 4):  # TPU301
        x = x.cuda()
        loss, inner = elbo(encoder, score, second, x)
        total = loss + encoder.weight.pow(2).sum()
        first.zero_grad()
        {}
        first.step()
    """


@pytest.mark.parametrize("backward", ["loss.backward()", "(2 * total).backward()", "encoder(x).sum().backward()"])
def test_step_that_helps_with_the_loss_of_another(tmp_path: Path, backward: str) -> None:
    """A boundary between the two passes would have everything in between kept: the step ends where it is called."""
    agree(tmp_path, "TPU301", helped=HELPED, main=OUTER.format(backward))


def test_a_ring_that_is_filled_while_an_agent_is_asked(tmp_path: Path) -> None:
    """The turns are graphs of their own, since each reads the action; without a read all may be one."""
    agent = """\
    import torch
    from torch import nn

    class Agent:
        def __init__(self, device):
            self.net = nn.Linear(4, 2).to(device)
            self.optimizer = torch.optim.Adam(self.net.parameters())
            self.ring = Ring(device)
            self.device = device

        def ask(self, state):
            with torch.no_grad():
                return self.net(torch.as_tensor(state).to(self.device)).argmax()READ

        def train(self):
            loss = self.net(self.ring.draw(8)).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    class Ring:
        def __init__(self, device):
            self.states = torch.zeros(64, 4, device=device)
            self.at = 0

        def add(self, state):
            self.states[self.at] = torch.as_tensor(state)MARK
            self.at = (self.at + 1) % 64

        def draw(self, count):
            return self.states[torch.randint(64, (count,), device=self.states.device)]
    """
    program = """\
    import torch
    from agent import Agent

    agent = Agent(torch.device("cuda"))
    for step in range(1000):
        action = agent.ask(state)
        agent.ring.add(state)
        if step % 50 == 0:
            for _ in range(50):
                agent.train()
    """
    for read, mark in ((".item()", "  # TPU201"), ("", "")):
        agree(tmp_path, "TPU201", main=program, agent=agent.replace("READ", read).replace("MARK", mark))


@pytest.mark.parametrize(
    ("gate", "first", "then", "later"),
    [
        ("turn > 4 and turn % 4 == 0", "  # TPU101", "", "pass"),  # all of a step
        ("turn % 4 == 0", "  # TPU101", "", "pass"),
        ("turn % 4 == 0", "", "", "learn(turn)"),  # the other turns train as well
        ("turn > 4", "  # TPU101", "", "pass"),
    ],
)
def test_a_gate_that_holds_all_of_a_step(tmp_path: Path, gate: str, first: str, then: str, later: str) -> None:
    """What is read there is read in every step; what is read in some of these is not."""
    program = f"""
    def learn(turn):
        loss = model(samples[turn].to(device)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    def learn_and_tell(turn):
        loss = learn(turn)
        errors.append(loss.detach().cpu().numpy()){first}
        if turn % 100 == 0:
            print(loss.item()){then}

    for turn in range(1000):  # TPU301
        {later}
        if {gate}:
            learn_and_tell(turn)
    """
    agree(tmp_path, "TPU101,TPU301", main=SETUP + program)


@pytest.mark.parametrize(
    ("places", "mark"),
    [("range(0, len(rows), size)", "  # TPU511"), ("range(0, len(rows) // size * size, size)", "")],
)
def test_batches_that_are_cut_for_a_step_of_another_file(tmp_path: Path, places: str, mark: str) -> None:
    """Nothing in the file says that it trains, and what the step steps is known to nobody."""
    stepping = """\
    import torch

    def take_step(x, net, opt):
        net.zero_grad()
        net(x).square().mean().backward()
        opt.step()
    """
    program = f"""\
    import numpy as np
    import torch
    from stepping import take_step

    size = 16
    rows = np.random.randn(100, 8).astype("float32")
    net = torch.nn.Linear(8, 3).cuda()
    opt = torch.optim.Adam(net.parameters())
    for at in {places}:{mark}
        take_step(torch.from_numpy(rows[at : at + size]).cuda(), net, opt)
    """
    agree(tmp_path, "TPU511", main=program, stepping=stepping)


EVALUATES_BY_HELPER = """
    import torch
    from torch import nn


    class Trainer:
        def __init__(self):
            self.net = nn.Linear(8, 8).to("cuda")
            self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

        def loss_of(self, x):
            return HELPER

        def train(self, x):
            self.net.train()
            loss = self.loss_of(x)
            loss.backward()
            self.optimizer.step()

        WITHOUT
        def test(self, x):
            return self.loss_of(x).item()MARK

        def again(self, x):
            return self.again(x)
"""


@pytest.mark.parametrize(
    ("helper", "without", "is_told"),
    [
        ("self.net(x.to('cuda')).pow(2).mean()", "@torch.no_grad()", True),
        ("self.net(x.to('cuda')).pow(2).mean() if x is not None else self.loss_of(x)", "@torch.no_grad()", True),
        ("self.net(x.to('cuda')).pow(2).mean()", "@torch.enable_grad()", False),
        ("torch.ones(3, device='cuda') * len(x)", "@torch.no_grad()", False),
    ],
)
def test_evaluations_whose_model_a_helper_runs(tmp_path: Path, helper: str, without: str, is_told: bool) -> None:
    """``trainer.test(x)`` in a loop of another file, and ``self.loss_of(x)`` in there."""
    program = """
    from trainer import Trainer

    trainer = Trainer()
    for x in test_loader:
        print(trainer.test(x), trainer.again(x))
    """
    text = EVALUATES_BY_HELPER.replace("HELPER", helper).replace("WITHOUT", without)
    agree(tmp_path, "TPU101", main=program, trainer=text.replace("MARK", "  # TPU101" if is_told else ""))


@pytest.mark.parametrize(
    "kept",
    ["total += loss.item()  # TPU101", "total += loss.detach()", "pass"],
    ids=["read", "summed", "dropped"],
)
@pytest.mark.parametrize("moved", [".cuda()", '.to("xla")', ".to(torch_xla.device())"])
def test_what_a_program_runs_of_others_is_followed_whether_or_not_it_reads(
    tmp_path: Path, kept: str, moved: str
) -> None:
    """A fix that takes the read away must not take what is found beside it with it."""
    engine = """\
    import torch.nn.functional as F


    def train_step(model, optimizer, x, y):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss
    """
    program = f"""\
    import torch
    import torch_xla
    from engine import train_step

    if __name__ == "__main__":
        model = torch.nn.Linear(8, 3){moved}
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        data = torch.randn(100, 8){moved}
        target = torch.randint(0, 3, (100,)){moved}
        total = 0.0
        for i in range(100):
            keep = data[:, 0] > 0
            loss = train_step(model, optimizer, data[keep], target[keep])  # TPU203
            {kept}
    """
    agree(tmp_path, engine=engine, main=program)


LEAVES_PENDING = """
    import torch
    from torch import nn


    class Trainer:
        def __init__(self):
            self.net = nn.Linear(8, 8).to("cuda")

        @torch.no_grad()
        def test(self, x):
            y = self.net(x.to("cuda"))
            loss = y.pow(2).mean()
            END
            return GIVEN
"""


@pytest.mark.parametrize(
    ("given", "end", "loop", "turn", "is_told"),
    [
        ("loss.item(), y", "pass", "for x in test_loader", "loss, y = trainer.test(x)", True),
        ("loss.item(), y * 2", "pass", "for i, x in enumerate(test_loader)", "loss, y = trainer.test(x)", True),
        ("y", "pass", "for x in test_loader", "y = trainer.test(x)", True),
        ("loss.item()", "pass", "for x in test_loader", "y = trainer.test(x)", False),  # nothing is left
        ("loss.item(), y.cpu()", "pass", "for x in test_loader", "loss, y = trainer.test(x)", False),
        ("loss.item(), y", "torch_xla.sync()", "for x in test_loader", "loss, y = trainer.test(x)", False),
        ("loss.item(), y", "pass", "for x in test_loader", "loss, y = trainer.test(x)\n        print(y.cpu())", False),
        (
            "loss.item(), y",
            "pass",
            "for x in test_loader",
            "loss, y = trainer.test(x)\n        torch_xla.sync()",
            False,
        ),
        ("loss.item(), y", "pass", "for x in range(3)", "loss, y = trainer.test(x)", False),  # no batches
    ],
)
def test_what_an_evaluation_in_another_file_leaves_to_be_computed(
    tmp_path: Path, given: str, end: str, loop: str, turn: str, is_told: bool
) -> None:
    """The boundary stands behind the call, in a file that names no device itself, where the other one reads nothing."""
    program = f"""
    import torch
    import torch_xla
    from trainer import Trainer

    def run(test_loader):
        trainer, total = Trainer(), 0
        {loop}:{"  # TPU302" if is_told else ""}
            {turn.replace("        ", "            ")}
            total += 1
        print(total)
    """
    trainer = LEAVES_PENDING.replace("GIVEN", given).replace("END", end)
    agree(
        tmp_path,
        "TPU302",
        main=program,
        trainer=trainer.replace("import torch\n", "import torch\n    import torch_xla\n"),
    )
    tpulint("--fix", "--select", "TPU302", ".", cwd=tmp_path)
    behind = f"        {turn}\n        torch_xla.sync()\n"
    is_fixed = is_told and ".item()" not in given  # else each batch would be run once more
    assert (behind in (tmp_path / "main.py").read_text()) is is_fixed


def test_a_step_is_named_by_the_file_that_has_it(tmp_path: Path) -> None:
    """The file of a module, whose forward pass hands on what it makes, has none."""
    shown = """\
    def show(x):
        print(x.sum().item())  # TPU101
    """
    net = """\
    import torch
    from shown import show

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 2)

        def forward(self, x):
            y = self.linear(x)
            show(y)
            return y
    """
    program = """\
    import torch
    from net import Net

    net = Net().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        net(x.cuda()).mean().backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU101", main=program, net=net, shown=shown)
    assert "in every step: " in _told(tmp_path)
