"""What reaches a line through a base class, a dictionary of functions, a function's result, or a list that is moved.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint
from marked_files import SETUP, agree

LOSS = """\
import torch
from torch import nn

class Masked(nn.Module):
    def forward(self, y_pred, y_true, mask):
        kept = torch.masked_select(y_pred, mask)  # TPU203
        return (kept - torch.masked_select(y_true, mask)).abs().mean()  # TPU203

def build(task):
    if task == "masked":
        return Masked()
    if task == "plain":
        return nn.MSELoss()
    raise ValueError(task)
"""
RUNNERS = """\
class Base:
    def __init__(self, model, loader, optimizer, loss):
        self.model, self.loader, self.optimizer = model, loader, optimizer
        self.loss = loss

class Plain(Base):
    def train(self, device):
        for x, y, mask in self.loader:
            self.model(x.to(device)).mean().backward()
            self.optimizer.step()

class Masking(Base):
    START
    def train(self, device):
        for x, y, mask in self.loader:
            y, mask = y.to(device), mask.to(device)
            loss = self.loss(self.model(x.to(device)), y, mask)
            loss.backward()
            self.optimizer.step()

def choose(task):
    if task == "masked":
        return "masked", Masking
    return "plain", Plain
"""
OWN_START = """\
def __init__(self, model, loader, optimizer, loss):
        super().__init__(model, loader, optimizer, loss)
"""


@pytest.mark.parametrize("start", ["", OWN_START], ids=["of the base", "its own"])
@pytest.mark.parametrize("made", ["runner_class", "runners.Masking"])
def test_what_a_base_class_of_the_same_file_keeps(tmp_path: Path, start: str, made: str) -> None:
    program = (
        SETUP
        + f"""
    import runners
    from losses import build

    name, runner_class = runners.choose(settings.task)
    runner = {made}(model, loader, optimizer, build(settings.task))
    runner.train(device)
    """
    )
    agree(tmp_path, train=program, losses=LOSS, runners=RUNNERS.replace("START", start or "pass"))


def test_functions_of_a_dictionary(tmp_path: Path) -> None:
    metrics = """\
    import torch

    def accuracy(y, y_pred):
        return torch.eq(y_pred.argmax(dim=-1), y).sum().item() / y_pred.shape[0]  # TPU101

    def count(y, y_pred):
        return y.shape[0]

    METRICS = {"accuracy": accuracy, "count": count}
    """
    program = (
        SETUP
        + """
    from metrics import METRICS

    for x, y in loader:
        out = F.relu(model(x.to(device)))
        y = y.to(device)
        F.mse_loss(out, y).backward()
        optimizer.step()
        print([METRICS[name](y, out) for name in settings.metrics])
    """
    )
    agree(tmp_path, train=program, metrics=metrics)


def test_batches_that_an_option_moves(tmp_path: Path) -> None:
    loss = """\
    import torch
    from torch import nn

    class Loss(nn.Module):
        def __init__(self, cuda):
            super().__init__()
            self.cuda = cuda

        def forward(self, out, targets):
            truth = torch.zeros(8, 4)
            for at in range(len(targets)):
                rows = torch.zeros_like(targets[at])
                truth[at] = rows.cpu()[0]  # TPU101
            if self.cuda:
                truth = truth.type_as(out)
            chosen = truth[..., 3] == 1
            count = torch.sum(chosen)
            if count != 0:  # TPU103
                return (out - truth)[chosen].mean()  # TPU203
            return out.mean()
    """
    program = (
        SETUP
        + """
    from loss import Loss

    criterion = Loss(settings.cuda)
    for batch in torch.utils.data.DataLoader(data, batch_size=8, drop_last=True):
        images, targets = batch[0], batch[1]
        if settings.cuda:
            images = images.cuda()
            targets = [part.cuda() for part in targets]
        criterion(model(images), targets).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, train=program, loss=loss)


def test_what_numpy_makes_of_a_tensor_and_moves_back(tmp_path: Path) -> None:
    loss = """\
    import numpy as np
    import torch.nn.functional as F

    def small(y, t, count):
        each = F.cross_entropy(y, t, reduction="none")
        order = np.argsort(each.cpu().data).cuda()  # TPU101
        return each[order[:count].cpu()].mean()  # TPU101
    """
    program = (
        SETUP
        + """
    from loss import small

    for x, y in loader:
        small(model(x.to(device)), y.to(device), 4).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, train=program, loss=loss)


CLIP = """\
import torch

class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        if x.abs().max() > 3:  # TPU103
            x = x / 2
        return x.sign()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad = grad_output.clone()
        grad[x.ge(1)] = 0  # TPU204
        print(ctx.needs_input_grad)
        return grad
"""


@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_functions_with_a_gradient_of_their_own(tmp_path: Path, is_elsewhere: bool) -> None:
    net = """\
from torch import nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)

    def forward(self, x):
        return Clip.apply(self.first(x))

device = torch.device("cuda")
net = Net().to(device)
optimizer = torch.optim.Adam(net.parameters())
for x, y in loader:
    F.mse_loss(net(x.to(device)), y.to(device)).backward()
    optimizer.step()
"""
    select = "TPU101,TPU103,TPU203,TPU204"
    if is_elsewhere:
        agree(tmp_path, select, clip=CLIP, train="import torch\nfrom clip import Clip\n" + net)
    else:
        agree(tmp_path, select, train=CLIP + net)


@pytest.mark.parametrize(
    ("how", "made"),
    [
        ("from torch.nn.utils.weight_norm import weight_norm", "weight_norm(nn.Linear(4, 4))"),
        ("import torch.nn.utils.weight_norm as wn", "wn(nn.Linear(4, 4), name='weight')"),
        ("", "nn.utils.weight_norm(nn.Linear(4, 4))"),
    ],
)
def test_weight_norm_by_any_name(tmp_path: Path, how: str, made: str) -> None:
    program = f"""\
    import torch
    from torch import nn
    {how}

    net = nn.Sequential({made}, nn.ReLU()).cuda()  # TPU135
    optimizer = torch.optim.Adam(net.parameters())
    for x in loader:
        net(x.cuda()).sum().backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU135", train=program)


@pytest.mark.parametrize(
    ("parameter", "choice", "is_told"),
    [
        ("old=True", "norm = weight_norm if old else spectral_norm", True),
        ("old=True", "norm = spectral_norm\n            if old:\n                norm = weight_norm", True),
        ("norm=weight_norm", "pass", True),
        ("old=True", "norm = spectral_norm if old else nn.Sequential", False),
        ("norm=nn.Sequential", "print(weight_norm)", False),
    ],
)
def test_weight_norm_that_is_chosen(tmp_path: Path, parameter: str, choice: str, is_told: bool) -> None:
    program = (
        SETUP
        + f"""
    from torch.nn.utils import spectral_norm, weight_norm

    class Net(nn.Module):
        def __init__(self, {parameter}):
            super().__init__()
            {choice}
            self.layers = nn.ModuleList([norm(nn.Linear(4, 4))])

        def forward(self, x):
            return self.layers[0](x)

    net = Net().to(device)
    for x in loader:
        net(x.to(device)).sum().backward()
        optimizer.step()
    """
    )
    mark = "norm(nn.Linear(4, 4))])"
    agree(tmp_path, "TPU135", train=program.replace(mark, f"{mark}  # TPU135") if is_told else program)
    tpulint("--fix", "--unsafe-fixes", "--select=TPU135", "train.py", cwd=tmp_path)
    assert ("tpulint_runtime.weight_norm" in (tmp_path / "train.py").read_text()) is is_told


def test_weight_norm_that_is_chosen_out_of_two(tmp_path: Path) -> None:
    """Told once, and left whole where one of the two stays."""
    program = """\
    import torch
    from torch import nn
    from torch.nn.utils import weight_norm
    from torch.nn.utils.parametrizations import weight_norm as new_norm

    norm = new_norm if new else weight_norm
    net = nn.Sequential(norm(nn.Linear(4, 4))).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        net(x.cuda()).sum().backward()
        optimizer.step()
    """
    (tmp_path / "train.py").write_text(dedent(program))
    told = tpulint("--select=TPU135", "--output-format=concise", "train.py", cwd=tmp_path)
    assert told.out.count("TPU135") == 1
    tpulint("--fix", "--unsafe-fixes", "--select=TPU135", "train.py", cwd=tmp_path)
    assert (tmp_path / "train.py").read_text() == dedent(program)


def test_a_batch_that_is_a_dictionary_is_no_tensor_of_the_host(tmp_path: Path) -> None:
    base = """\
    class Model:
        def __init__(self, device):
            self.device = device

        def place(self, x):
            if isinstance(x, dict):
                for key, item in x.items():
                    x[key] = item.to(self.device)
                x["kept"] = x["kept"].to(self.device)
            return x
    """
    program = (
        SETUP
        + """
    from base import Model

    placing = Model(device)
    for batch in torch.utils.data.DataLoader(data, batch_size=8, drop_last=True):
        batch = placing.place(batch)
        F.mse_loss(model(batch["x"]), batch["y"]).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, train=program, base=base)


def test_masks_of_another_boundary(tmp_path: Path) -> None:
    """What is computed between two boundaries of a step is there when the second has run."""
    program = (
        SETUP
        + """
    import torch_xla

    for x, y in loader:
        out = model(x.to(device))
        loss = F.mse_loss(out, y.to(device))
        loss.backward()
        optimizer.step()
        if settings.tune:
            torch_xla.sync()
            kept.append(loss.item())
        values = torch.stack((loss, out.max())).detach()
        torch_xla.sync()
        values.tolist()
        late = (out > 0).float()
        late[:3].cpu()  # TPU101
    """
    )
    agree(tmp_path, "TPU101", train=program)


def test_casts_move_nothing(tmp_path: Path) -> None:
    program = """\
    import torch
    from torch import nn

    model = nn.Linear(8, 4)
    optimizer = torch.optim.Adam(model.parameters())
    for x in loader:
        x = (x > 0.5).to(torch.bfloat16).to(dtype=torch.float32).to(model.weight.dtype)
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        print(loss.item())
    """
    agree(tmp_path, "TPU101,TPU301", train=program)


@pytest.mark.parametrize("parts", ["[0, 1]", "SCALES", "views"])
def test_the_loop_over_batches_is_the_one_that_evaluates(tmp_path: Path, parts: str) -> None:
    program = (
        SETUP
        + f"""
    SCALES = (0, 1)

    @torch.no_grad()
    def embed(loader):
        for label, *views in loader:  # TPU302
            found = []
            for part in {parts}:
                found.append(model(part.to(device)))
            for row, kept in zip(label, F.relu(model(views[0].to(device)))):
                kept.add_(1)
        return found
    """
    )
    agree(tmp_path, "TPU302", train=program)


def test_what_an_accelerator_gathers(tmp_path: Path) -> None:
    program = """\
    from accelerate import Accelerator
    import torch
    from torch import nn
    import torch.nn.functional as F

    accelerator = Accelerator()
    model = nn.Linear(8, 4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    loader = torch.utils.data.DataLoader(data, batch_size=8, drop_last=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        with accelerator.accumulate(model):
            losses = F.cross_entropy(model(x), y, reduction="none")
            seen.append(accelerator.gather(losses).mean().item())  # TPU105
            accelerator.backward(losses.mean())
            norm = accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            print(norm.item(), settings.clip_grad_norm_(1.0).item())  # TPU101
    """
    agree(tmp_path, train=program)


def test_a_length_that_another_file_draws(tmp_path: Path) -> None:
    batches = """\
    def get_batch(source, i, length=None):
        length = min(length if length else 35, len(source) - 1 - i)
        return source[i : i + length], source[i + 1 : i + 1 + length]  # TPU201
    """
    program = (
        SETUP
        + """
    import numpy as np
    from batches import get_batch

    text = torch.randint(0, 50, (2000, 4)).to(device)
    i = 0
    while i < 2000:
        length = max(5, int(np.random.normal(35, 5)))
        x, y = get_batch(text, i, length)
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        i += length
    """
    )
    agree(tmp_path, "TPU201", train=program, batches=batches)
    told = tpulint("--output-format=concise", "--select", "TPU201", ".", cwd=tmp_path).out
    assert "takes a new length" in told and "takes another place" not in told
    assert "fixable" not in told


def test_what_a_scaler_of_unknown_class_gives_back(tmp_path: Path) -> None:
    loss = """\
    import torch

    def masked_mae(y_pred, y_true):
        mask = (y_true != 0).float()
        loss = torch.abs(y_pred - y_true) * mask
        loss[loss != loss] = 0  # TPU204
        return loss.mean()
    """
    program = (
        SETUP
        + """
    from loss import masked_mae

    class Supervisor:
        def __init__(self, data):
            self.scaler = data["scaler"]

        def compute(self, y_true, y_predicted):
            return masked_mae(self.scaler.inverse_transform(y_predicted), self.scaler.inverse_transform(y_true))

        def train(self, loader):
            for x, y in loader:
                self.compute(y.to(device), model(x.to(device))).backward()
                optimizer.step()
    """
    )
    agree(tmp_path, "TPU101,TPU204", train=program, loss=loss)


def test_lists_of_tensors_are_true_by_their_length(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    for batch in torch.utils.data.DataLoader(data, batch_size=8, drop_last=True):
        images, targets = batch[0].to(device), batch[1]
        if settings.cuda:
            targets = [part.cuda() for part in targets]
        if not targets or (len(targets) > 2 and targets):
            continue
        assert targets
        F.mse_loss(model(images), targets[0]).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, train=program)


def test_contexts_of_gradients(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(x, flag, factor):
            if flag:
                x = x * factor
            if x.max() > 3:  # TPU103
                x = x / 2
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, grad):
            if ctx.saved_tensors:
                grad = grad * ctx.saved_tensors[0]
            return grad, None, None

    class Buffer:
        def __init__(self):
            self.saved_tensors = []

        def drain(self):
            while self.saved_tensors:
                self.saved_tensors.pop()

    buffer = Buffer()
    for x, y in loader:
        F.mse_loss(Scale.apply(model(x.to(device)), settings.flag, 2.0), y.to(device)).backward()
        buffer.drain()
        optimizer.step()
    """
    )
    agree(tmp_path, train=program)


def test_places_computed_in_front_of_the_loop_are_read(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    best = torch.rand(4).to(device).argmax()
    for x, y in loader:
        scores = F.relu(model(x.to(device)))
        F.mse_loss(scores[:, best], y.to(device)).backward()  # TPU101
        late = scores[0].argmax()
        print(scores.shape, scores[:, late].shape)  # TPU201
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU101,TPU201", train=program)


@pytest.mark.parametrize("parts", ["video", "range(src.size(1))", "range(0, src.size(1) - 8, 4)", "enumerate(src)"])
def test_parts_of_a_batch_of_any_number_are_batches_of_their_own(tmp_path: Path, parts: str) -> None:
    program = (
        SETUP
        + f"""
    @torch.no_grad()
    def predict(loader):
        for src, video in loader:
            for part in {parts}:  # TPU302
                model(src.to(device)[:, :2])
    """
    )
    agree(tmp_path, "TPU302", train=program)


def test_what_is_on_the_host_though_a_loop_deals_it_out(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    history = torch.zeros(2)
    for x, y in loader:
        loss = F.mse_loss(model(x.to(device)), y.to(device))
        if x.device.type == "cpu":
            print(loss.item())  # TPU101
        for place, value in {0: loss, 1: loss * 2}.items():
            history[place] = value  # TPU101
        loss.backward()
        optimizer.step()
    """
    )
    agree(tmp_path, train=program)


def test_what_a_step_moves_is_no_model(tmp_path: Path) -> None:
    program = """\
    import torch

    def step(model, batch, optimizer):
        loss = model(batch.cuda()).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def step_of_variable(model, x, optimizer):
        x = x.cuda()
        loss = model(x).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def fit(net, optimizer, loader):
        net.cuda()  # TPU303
        for x in loader:
            net(x.cuda()).sum().backward()
            optimizer.step()
    """
    agree(tmp_path, "TPU303", train=program)


@pytest.mark.parametrize(
    ("kept", "taken", "is_mask"),
    [
        ("np.zeros(size, dtype=bool)", "self.ends[rows]", True),
        ("np.zeros(size, dtype=np.bool_)", "self.ends[rows]", True),
        ("np.zeros(size)", "self.ends[rows].astype(bool)", True),
        ("np.zeros(size)", "self.ends[rows]", False),
        ("np.zeros(size, dtype=np.int64)", "self.ends[rows]", False),
        ("np.zeros(size, dtype=bool)", "self.ends[rows].astype(np.int64)", False),
    ],
)
def test_truth_values_that_an_array_of_another_file_holds(tmp_path: Path, kept: str, taken: str, is_mask: bool) -> None:
    memory = f"""\
    import numpy as np

    class Memory:
        def __init__(self, size):
            self.states = np.zeros((size, 4), dtype=np.float32)
            self.ends = {kept}

        def put(self, at, state, end):
            self.states[at] = state
            self.ends[at] = end

        def draw(self, count):
            rows = np.random.choice(len(self.states), count)
            states = self.states[rows]
            ends = {taken}
            return states, ends
    """
    program = (
        SETUP
        + f"""
    from memory import Memory

    class Agent:
        def __init__(self):
            self.memory = Memory(1000)

        def draw(self):
            states, ends = self.memory.draw(32)
            return torch.tensor(states).to(device), torch.tensor(ends).to(device)

        def train(self):
            for _ in range(1000):
                states, ends = self.draw()
                values = model(states).max(dim=1)[0]
                values[ends] = 0.0{"  # TPU204" if is_mask else ""}
                loss = values.mean()
                loss.backward()
                optimizer.step()
    """
    )
    agree(tmp_path, "TPU204", train=program, memory=memory)


@pytest.mark.parametrize(
    ("test", "derived", "is_told"),
    [
        ("isinstance(layer, Binary)", "", True),
        ("count > 1 and isinstance(layer, (Binary, Binary))", "", True),
        ("isinstance(layer, Binary) or count", "", False),
        ("isinstance(other, Binary)", "", False),
        ("isinstance(layer, Binary)", "\nclass Wide(Binary):\n    def tell(self):\n        pass\n", False),
    ],
)
@pytest.mark.parametrize("is_one_file", [True, False])
def test_a_class_that_a_condition_asks_about(
    tmp_path: Path, test: str, derived: str, is_told: bool, is_one_file: bool
) -> None:
    layers = f"""\
import torch
from torch import nn


class Binary(nn.Linear):
    def tell(self):
        print(self.weight.abs().max().item()){"  # TPU101" if is_told else ""}
{derived}
"""
    train = f"""\
import torch
{"" if is_one_file else "from layers import Binary"}

model = make(options).cuda()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for count, x in enumerate(loader):
    optimizer.zero_grad()
    model(x.cuda()).sum().backward()
    for layer in model.modules():
        if {test}:
            layer.tell()
    optimizer.step()
    torch_xla.sync()
"""
    if is_one_file:
        agree(tmp_path, train=layers + train)
    else:
        agree(tmp_path, train=train, layers=layers)


def test_an_object_of_another_file_that_appends_is_no_list(tmp_path: Path) -> None:
    """``extend`` of a list is put behind the loop; a class of the project says itself what it does with a value."""
    averages = """\
    class Average:
        def __init__(self):
            self.value, self.count = 0, 0

        def append(self, value):
            self.value = (value + self.count * self.value) / (self.count + 1)
            self.count += 1


    class Values(list):
        pass
    """
    program = """\
    import torch
    import torch.nn.functional as F
    from averages import Average, Values


    def validate(net, loader, device):
        averages, values = Average(), Values()
        with torch.no_grad():
            for x, y in loader:
                loss = F.cross_entropy(net(x.to(device)), y.to(device))
                averages.append(loss.item())  # TPU101
                values.append(loss.item())  # TPU105
        return averages, values


    def collect(averages, net, loader, device):
        with torch.no_grad():
            for x, y in loader:
                averages.append(F.cross_entropy(net(x.to(device)), y.to(device)).item())  # TPU101
        return averages


    def main(loader):
        device = torch.device("cuda")
        net = torch.nn.Linear(4, 2).to(device)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for x, y in loader:
            loss = F.cross_entropy(net(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        validate(net, loader, device)
        collect(Average(), net, loader, device)
    """
    agree(tmp_path, averages=averages, main=program)


@pytest.mark.parametrize(
    ("pushed", "drawn", "is_told"),
    [
        ("self.entries[self.at] = Transition(*parts)", "random.sample(self.entries, size)", True),
        ("self.entries[self.at] = Transition(*parts)", "self.entries[:size]", False),
        ("self.entries[self.at] = [part.cpu() for part in parts]", "random.sample(self.entries, size)", False),
    ],
)
def test_entries_on_the_device_in_a_memory_of_another_file(
    tmp_path: Path, pushed: str, drawn: str, is_told: bool
) -> None:
    memory = f"""\
    import random
    from collections import namedtuple

    Transition = namedtuple("Transition", ("state", "action", "next_state"))

    class Memory:
        def __init__(self, size):
            self.entries, self.at = [None] * size, 0

        def push(self, *parts):
            {pushed}
            self.at = (self.at + 1) % len(self.entries)

        def sample(self, size):
            return {drawn}
    """
    agent = """\
    import torch

    class Agent:
        def __init__(self, net, optimizer):
            self.net, self.optimizer = net, optimizer

        def learn(self, batch):
            loss = self.net(torch.cat(batch.state)).mean() + self.net(torch.cat(batch.next_state)).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
    """
    train = """\
    import torch
    from agent import Agent
    from memory import Memory, Transition

    device = torch.device("cuda")
    net = torch.nn.Linear(4, 4).to(device)
    agent = Agent(net, torch.optim.SGD(net.parameters(), 0.1))
    memory = Memory(100)
    others = Memory(100)
    if args.resume:
        start, memory = load(args.resume)
    state = torch.Tensor([env.reset()]).to(device)
    while True:
        next_state = torch.Tensor([env.step()]).to(device)
        memory.push(state, 1, next_state)TOLD
        others.push(state, 1, state + next_state)
        state = next_state
        agent.learn(Transition(*zip(*memory.sample(32))))
        agent.learn(Transition(*zip(*others.sample(32))))
    """.replace("TOLD", "  # TPU226" if is_told else "")
    agree(tmp_path, select="TPU226", train=train, agent=agent, memory=memory)


TESTER = """\
    import torch
    from torch import nn

    class Tester:
        def __init__(self):
            self.model = {model}
    """
TEST = """\
    {imports}

    tester = Tester()
    rows = []
    with torch.no_grad():
        for x in loader:
            rows.append(tester.model(x.cuda()).cpu().numpy()){mark}
    """


@pytest.mark.parametrize("is_elsewhere", [False, True])
@pytest.mark.parametrize(("model", "mark"), [("nn.Linear(4, 1).cuda().eval()", "  # TPU101"), ("Table()", "")])
def test_a_model_that_an_object_keeps(tmp_path: Path, is_elsewhere: bool, model: str, mark: str) -> None:
    """Of what a class is that nobody sees nothing is known."""
    made = TESTER.format(model=model)
    if is_elsewhere:
        imports = "import torch\n    from tester import Tester"
        agree(tmp_path, "TPU101", tester=made, main=TEST.format(imports=imports, mark=mark))
    else:
        agree(tmp_path, "TPU101", main=made + TEST.format(imports="", mark=mark))


@pytest.mark.parametrize(
    ("made", "moved", "is_told"),
    [
        ("nn.Linear(4, 2).eval()", "", False),
        ("nn.Linear(4, 2).eval()", "tester.model.cuda()", True),
        ("nn.Linear(4, 2).cuda().eval()", "", True),
        ("model.eval()", "", True),
    ],
)
def test_model_that_an_object_keeps_on_the_host(tmp_path: Path, made: str, moved: str, is_told: bool) -> None:
    program = f"""\
    import torch
    from torch import nn

    class Tester:
        def __init__(self, model):
            self.model = {made}

    tester = Tester(nn.Linear(4, 2).cuda())
    total = 0
    {moved}
    with torch.no_grad():
        for x in loader:{"  # TPU302" if is_told else ""}
            total = total + tester.model(x).sum()
    """
    agree(tmp_path, "TPU302", main=program)


@pytest.mark.parametrize(
    ("made", "given", "is_told"),
    [
        ("model or nn.Linear(4, 2)", "", False),
        ("nn.Linear(4, 2) if model is None else model", "", False),
        ("model or nn.Linear(4, 2)", "nn.Linear(4, 2).cuda()", True),
        ("model or nn.Linear(4, 2).cuda()", "", True),
    ],
)
def test_model_in_the_place_of_none(tmp_path: Path, made: str, given: str, is_told: bool) -> None:
    """Where no call gives a model, what the class makes itself stays on the host."""
    program = f"""\
    import torch
    from torch import nn

    class Tester:
        def __init__(self, model=None):
            self.model = {made}
            self.model.eval()

    tester, other = Tester({given}), nn.Linear(4, 2).cuda()
    total = 0
    with torch.no_grad():
        for x in loader:{"  # TPU302" if is_told else ""}
            total = total + tester.model(x).sum()
    """
    agree(tmp_path, "TPU302", main=program)
