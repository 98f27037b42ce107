"""What is asked of a part: an element of what a call gives, of a dictionary that is handed on, a method that is kept.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree

MEASURES = """\
    def accuracy(output, target, topk=(1,)):
        result = []
        for k in topk:
            hits = output.argmax(1).unsqueeze(0).eq(target.view(1, -1))
            result.append(hits[:k].float().sum())
        return result


    def measures(output, target):
        return {"best": accuracy(output, target)[0], "size": len(target)}
    """


def test_an_element_of_what_a_function_of_another_file_gives(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    from measures import *

    for x, y in loader:
        x, y = x.to(device), y.to(device)
        output = model(x)
        F.cross_entropy(output, y).backward()
        optimizer.step()
        print(accuracy(output, y)[0].item())  # TPU101
        found = accuracy(output, y, (1, 5))
        print(found[1].item())  # TPU101
        named = measures(output, y)
        if named["best"] > 0.5:  # TPU103
            break
        if named["size"] > 3:
            break
    """
    )
    agree(tmp_path, main=program, measures=MEASURES)


def test_a_dictionary_of_losses_that_a_base_class_of_another_file_is_given(tmp_path: Path) -> None:
    base = """\
    class Trainer:
        def average(self, losses, sizes):
            shown = {}
            for name, value in losses.items():
                shown[name] = value.mean().item()  # TPU101
            for name, value in sizes.items():
                shown[name] = value.mean().item()
            return shown
    """
    trainer = """\
    import torch.nn.functional as F

    from base import Trainer


    class Images(Trainer):
        def __init__(self, model, optimizer, device):
            self.model, self.optimizer, self.device = model.to(device), optimizer, device

        def step(self, x, y):
            losses = {}
            losses["pixels"] = F.mse_loss(self.model(x.to(self.device)), y.to(self.device))
            losses["pixels"].backward()
            self.optimizer.step()
            self.shown = self.average(losses, {"rows": x})
    """
    program = (
        SETUP
        + """
    from trainer import Images

    images = Images(model, optimizer, device)
    for x, y in loader:
        images.step(x, y)
    """
    )
    agree(tmp_path, main=program, trainer=trainer, base=base)


SAMPLER = """\
    import torch
    from torch import nn


    class Sampler:
        def __init__(self, method):
            if method == "hard":
                self.give = self.hard
            else:
                self.give = self.easy

        def hard(self, rows, labels):
            far = (rows - rows[0]).pow(2).sum(1)
            return far.argsort().tolist()  # TPU101

        def easy(self, rows, labels):
            return [0] * len(labels)

        def unused(self, rows, labels):
            return rows.sum().item()


    class Margin(nn.Module):
        def __init__(self, method):
            super().__init__()
            self.sampler = Sampler(method)

        def forward(self, rows, labels):
            if isinstance(labels, torch.Tensor):
                labels = labels.detach().cpu().numpy()
            places = self.sampler.give(rows, labels)
            if labels[0] > 3:
                places = places[:3]
            return rows[places[0]].sum()
    """


def test_methods_of_which_an_attribute_keeps_one_and_labels_that_become_an_array(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    from margin import Margin

    def train(criterion):
        for x, y in torch.utils.data.DataLoader(data):
            loss = criterion(model(x.to(device)), y)
            loss.backward()
            optimizer.step()

    train(Margin("hard").to(device))
    """
    )
    agree(tmp_path, main=program, margin=SAMPLER)


def test_a_dictionary_of_several_kinds(tmp_path: Path) -> None:
    data = """\
    import numpy as np


    class Scaler:
        def back(self, rows):
            return rows * 2


    def read(names):
        data = {}
        for name in names:
            data["x_" + name] = np.zeros((3, 4))
        data["scaler"] = Scaler()
        return data
    """
    program = (
        SETUP
        + """
    from data import read

    scaler = read(["a"])["scaler"]
    for x, y in loader:
        found = scaler.back(model(x.to(device)))
        loss = F.mse_loss(found, scaler.back(y.to(device)))
        loss[loss != loss] = 0  # TPU204
        loss.backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU103,TPU204", main=program, data=data)


def test_bounds_that_calls_give_the_same_distance_apart(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    def cut(start, end):
        rows = torch.as_tensor(data[start:end])
        return rows.to(device)

    def cut_at(start, end):
        rows = torch.as_tensor(data[start:end])  # TPU202
        return rows.to(device)

    start = 0
    while start < len(data):
        loss = model(cut(start, start + 8)).sum() + model(cut_at(0, start)).sum()
        loss.backward()
        optimizer.step()
        start += 8
    """
    )
    agree(tmp_path, "TPU202", main=program)


def test_what_one_of_several_losses_of_another_file_gives(tmp_path: Path) -> None:
    losses = """\
    from torch import nn


    class Plain(nn.Module):
        def forward(self, output, target):
            return (output - target).pow(2).sum(), (target != 0).sum().item()  # TPU101


    class Smooth(nn.Module):
        def forward(self, output, target):
            return (output - target).abs().sum(), len(target)
    """
    program = (
        SETUP
        + """
    from losses import Plain, Smooth

    criterion = Smooth() if smooth else Plain()
    for x, y in loader:
        loss, count = criterion(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        assert count == len(x)
        if loss > 3:  # TPU103
            break
    """
    )
    agree(tmp_path, "TPU101,TPU103", main=program, losses=losses)


MOVING = """\
    import torch
    from torch.autograd import Variable


    def to_var(x, volatile=False):
        if torch.cuda.is_available():
            x = x.cuda()
        return Variable(x)


    def both(x, lengths):
        return x.cuda(non_blocking=True), lengths


    def all_of(batch, device):
        return [part.to(device) for part in batch]


    def mapped(batch):
        return tuple(map(lambda part: part.cuda(), batch))


    def any_of(batch, device):
        if isinstance(batch, (list, tuple)):
            return [any_of(part, device) for part in batch]
        if isinstance(batch, dict):
            return {name: any_of(part, device) for name, part in batch.items()}
        return batch.to(device)


    def cast(x, kind):
        return x.to(torch.float32)


    def back(x):
        return x.detach().cpu()
    """


def test_what_functions_of_another_file_move(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    from moving import *

    for x, y in torch.utils.data.DataLoader(data):
        output = model(to_var(x))
        output.sum().backward()
        optimizer.step()
        moved, lengths = both(x, y)
        first, second = all_of((x, y), device)
        third, fourth = mapped((x, y))
        number = to_var(y).sum().item()  # TPU101
        number = moved.sum().item()  # TPU101
        number = lengths.sum().item()
        number = second.sum().item()  # TPU101
        number = third.sum().item()  # TPU101
        number = any_of(y, device).sum().item()  # TPU101
        number = any_of(y, "cpu").sum().item()
        number = cast(y, device).sum().item()
        number = back(y).sum().item()
    """
    )
    agree(tmp_path, "TPU101", main=program, moving=MOVING)


def test_ends_of_slices_that_are_elements_of_tensors(tmp_path: Path) -> None:
    glimpses = """\
    import torch
    from torch import nn

    class Retina:
        def patches(self, x, place, size):
            start = self.denormalize(8, place)
            end = start + size
            return [x[i, start[i, 1] : end[i, 1]] for i in range(4)]  # TPU101

        def denormalize(self, size, place):
            return (0.5 * ((place + 1.0) * size)).long()

    class Glimpse(nn.Module):
        def __init__(self):
            super().__init__()
            self.retina = Retina()
            self.layer = nn.Linear(4, 4)

        def forward(self, x, place, sizes, boxes, shares):
            kept = [x[i, : sizes[i]] for i in range(4)]
            cut = [x[box[0] : box[1]] for box in boxes]
            begun = x[: int(0.5 * len(shares))]
            return self.layer(self.retina.patches(x, place, 4)[0]), kept, cut, begun

    class Unused(nn.Module):
        def forward(self, x, bounds):
            return x[bounds[0] : bounds[1]]
    """
    program = """\
    import torch
    from glimpses import Glimpse

    device = torch.device("cuda")
    model = Glimpse().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, place in loader:
        out, *_ = model(x.to(device), place.to(device), [4, 3, 2, 1], [(0, 2), (1, 3)], [0.5, 0.5])
        loss = out.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU101,TPU102,TPU103", train=program, glimpses=glimpses)


def test_functions_that_make_themselves(tmp_path: Path) -> None:
    made = """\
    def make(kind):
        make_one = make_one(kind)
        return make_one
    """
    program = (
        SETUP
        + """
    from made import make

    step = make("a")
    step = step(step)
    for x, y in loader:
        loss = step(model(x.to(device)))
        loss.backward()
        optimizer.step()
        print(loss.item())  # TPU101
    """
    )
    agree(tmp_path, "TPU101", main=program, made=made)


LOOP = """
    for x, y in loader:
        model(x.to(device)).sum().backward()
        optimizer.step()
        f0([unknown() for _ in range(3)])
    """


def test_lists_that_are_handed_on_by_many_functions(tmp_path: Path) -> None:
    """Each function is asked once for the elements of what it is given: there are 3 to the 30 ways here."""
    functions = "\n".join(
        f"    def f{at}(rows):\n        f{at + 1}(rows)\n        f{at + 1}(rows)\n        f{at + 1}(rows)\n"
        for at in range(30)
    )
    last = "    def f30(rows):\n        print(rows[0].sum().item())\n"
    program = SETUP + "\n" + functions + last + LOOP
    agree(tmp_path, "TPU101", main=program)


def test_what_only_looks_like_a_tensor(tmp_path: Path) -> None:
    model = """\
    from torch import nn


    class Net(nn.Module):
        def forward(self, graph, x):
            if graph.is_block:
                x = x[: graph.number_of_nodes()]
            for at in range(2):
                self.show(float(graph.num_edges()))
            if not graph.has_value():
                x = x + 1
            if x.max() > 3:  # TPU103
                x = x / 2
            return {"scores": x, "name": "all"}
    """
    program = (
        SETUP
        + """
    from net import Net

    net = Net().to(device)
    for x, graph, sizes in loader:
        found = net(graph.to(device), x.to(device))
        found["scores"].sum().backward()
        optimizer.step()
        out, lengths = other(x.to(device))
        for row in range(4):
            rows = out[row, : lengths[row]]
    """
    )
    agree(tmp_path, "TPU101,TPU102,TPU103", main=program, net=model)


def test_what_a_forward_pass_of_any_number_of_tensors_is_given(tmp_path: Path) -> None:
    head = """\
    import torch
    from torch import nn


    class Head(nn.Module):
        def forward(self, *inputs):
            points, sizes = inputs
            turned = torch.matmul(inputs[0], points)
            if torch.det(turned) < 0:  # TPU103
                turned = -turned
            return self.named(*sizes), turned

        def named(self, *names):
            return [name.item() for name in names]
    """
    program = (
        SETUP
        + """
    from head import Head

    head = Head().to(device)
    for x, y in loader:
        _, out = head(model(x.to(device)), ["a", "b"])
        out.sum().backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU101,TPU103", main=program, head=head)


def test_what_dict_is_called_with(tmp_path: Path) -> None:
    program = """\
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(4, 4)

        def forward(self, x):
            out = self.head(x)
            return dict(loss=out.mean(), size=len(x))

    def train(model, optimizer, batches):
        for x in batches:
            found = model.forward(x.to("cuda"))
            found["loss"].backward()
            bad = torch.isnan(found["loss"])
            show(dict(bad=1 if bad else 0))  # TPU103
            if found["size"] > 2:
                optimizer.step()

    net = Net().to("cuda")
    train(net, torch.optim.SGD(net.parameters(), 0.1), [torch.rand(4, 4)])
    """
    agree(tmp_path, "TPU103", main=program)


PACKED = (
    SETUP
    + """
    from torch.nn.utils.rnn import pack_padded_sequence

    def hits(scores, targets):
        return scores.argmax(1).eq(targets).float().sum().item(){}

    for x, y in loader:
        lengths = [3, 2]
        packed = pack_padded_sequence({}(x), lengths)
        targets, sizes, *_ = pack_padded_sequence(y.to(device), lengths)
        loss = F.cross_entropy(packed.data, targets)
        loss.backward()
        optimizer.step()
        print(hits(packed[0], targets), sizes.tolist(), packed.batch_sizes.sum().item())
    """
)


def test_elements_of_packed_sequences(tmp_path: Path) -> None:
    """How many there are at each place is known on the host."""
    agree(tmp_path, "TPU101", program=PACKED.format("  # TPU101", "model"))


def test_elements_of_sequences_packed_on_the_host(tmp_path: Path) -> None:
    program = (
        PACKED.format("", "torch.flip").replace("y.to(device)", "y.cpu()").replace("flip(x)", "flip(x.cpu(), [0])")
    )
    agree(tmp_path, "TPU101", program=program.replace("loss.backward()", "model(x.to(device)).sum().backward()"))


LOSSES = (
    SETUP.replace("import torch\n", "import functools\n    import torch\n", 1)
    + """
    from unseen import losses_of

    def log(losses):
        for name, values in losses.items():
            print(name, values.mean().item(), values.detach().cpu().numpy()){}

    for x, y in loader:
        x = x.to(device)
        {}
        log({{name: values * 0.5 for name, values in losses.items()}})
        loss = model(x).mean() + losses["loss"].mean()
        loss.backward()
        optimizer.step()
    """
)


def test_values_of_a_dictionary_of_losses_that_is_handed_on(tmp_path: Path) -> None:
    marked = LOSSES.replace("cpu().numpy()){}", "cpu().numpy())  # TPU101")
    agree(tmp_path, "TPU101", program=marked.format("losses = losses_of(model(x), x)"))
    given = "compute = functools.partial(losses_of, x, weight=2)\n        losses = compute()"
    agree(tmp_path, "TPU101", program=marked.format(given))


def test_values_of_a_dictionary_that_nothing_of_the_device_was_given_for(tmp_path: Path) -> None:
    agree(tmp_path, "TPU101", program=LOSSES.format("", "losses = losses_of(y.numpy(), 3)"))
    given = "compute = functools.partial(losses_of, 3, weight=2)\n        losses = compute()"
    agree(tmp_path, "TPU101", program=LOSSES.format("", given))


@pytest.mark.parametrize(
    ("made", "given", "is_told"),
    [
        ("losses_of(model(x), x)", "{name: values * 0.5 for name, values in losses.items()}", True),
        ("losses_of(model(x), x)", "losses", True),
        ("noise.losses_of(model, x)", "losses", True),
        ("losses_of(y.numpy(), 3)", "losses", False),
        ("losses_of(model(x), x)", "{'rate': 0.5}", False),
        ("dict(zip(names, [1.0]))", "losses", False),
    ],
)
def test_a_dictionary_of_losses_that_a_function_of_another_file_is_given(
    tmp_path: Path, made: str, given: str, is_told: bool
) -> None:
    start, _, turn = LOSSES.partition("    def log(losses):\n")
    body, _, loop = turn.partition("\n\n    for x, y")
    program = (
        start.replace("losses_of\n", "losses_of, noise, names\n    from logs import log\n") + "\n    for x, y" + loop
    )
    program = program.format(f"losses = {made}")
    program = program.replace("{name: values * 0.5 for name, values in losses.items()}", given)
    logs = "    def log(losses):\n" + body.format("  # TPU101" if is_told else "") + "\n"
    agree(tmp_path, "TPU101", program=program, logs=logs)


@pytest.mark.parametrize(
    ("asked", "trained", "is_told"),
    [
        ("batch[at : at + 4].to(device)", "parts['loss'].backward()", True),
        ("batch[at : at + 4].to(device)", "pass", False),
        ("batch.layers[at : at + 4].to(device)", "parts['loss'].backward()", False),
    ],
)
def test_a_few_samples_of_what_a_function_is_given_to_train_on(
    tmp_path: Path, asked: str, trained: str, is_told: bool
) -> None:
    program = f"""
    from unseen import losses_of

    def train(batch):
        for at in range(0, 8, 4):
            parts = losses_of({asked})
            {trained}
            print(parts["size"].detach().cpu().numpy()){"  # TPU101" if is_told else ""}

    for x, y in loader:
        train(x)
        model(y.to(device)).sum().backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU101", program=SETUP + program)


@pytest.mark.parametrize(
    ("use", "is_told"),
    [
        ("print(x.max(), x)", True),
        ("other = x * 2; print(x)", True),
        ("mask = x != 0; print(x)", True),
        ("print(x)", False),
        ("print(x.num_graphs, x)", False),
        ("x = x.float(); print(x)", False),
        ("print(x) if x != 'end' else None", False),
    ],
)
@pytest.mark.parametrize("loop", ["for x in stream:", "for i, x in enumerate(stream):"])
def test_batch_that_is_dealt_out_whole(tmp_path: Path, loop: str, use: str, is_told: bool) -> None:
    """A graph, or a record of tensors, moves as well: only what is used as a tensor is one."""
    program = f"""\
    import torch
    from torch import nn

    net = nn.Linear(4, 1).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    {loop}
        x = x.cuda()
        loss = net(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        {use}{"  # TPU102" if is_told else ""}
    """
    agree(tmp_path, "TPU102", main=program)


@pytest.mark.parametrize(
    ("test", "otherwise", "is_told"),
    [
        ("cuda", "batch[:-1]", True),
        ("args.use_gpu", "batch[:-1]", True),
        ("len(batch) > 2", "batch[:-1]", False),
        ("cuda", "[part.cuda() for part in batch]", True),
    ],
)
def test_parts_of_a_batch_that_a_flag_moves(tmp_path: Path, test: str, otherwise: str, is_told: bool) -> None:
    mark = "  # TPU101" if is_told else ""
    program = f"""\
    import torch
    from torch import nn

    net = nn.Linear(4, 1).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(samples, batch_size=4)
    for batch in loader:
        x, y = [part.cuda() for part in batch[:-1]] if {test} else {otherwise}
        print(y.data.cpu().numpy()){mark}
        net(x).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    """
    agree(tmp_path, "TPU101", main=program)


@pytest.mark.parametrize("gone_through", ["zip(losses, losses.values())", "zip(losses, shown.tolist())"])
def test_keys_of_a_dictionary_that_a_call_gives(tmp_path: Path, gone_through: str) -> None:
    program = (
        SETUP
        + f"""
    from loss import Loss

    criterion = Loss()
    for x, y in loader:
        loss, losses = criterion(model(x.to(device)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        shown = torch.stack(list(losses.values())).detach().cpu()
        for name, value in {gone_through}:
            print("train/" + name)
    """
    )
    loss = """\
    from torch import nn

    class Loss(nn.Module):
        def forward(self, out):
            losses = {"mean": out.mean()}
            return sum(losses.values()), losses
    """
    agree(tmp_path, "TPU102", loss=loss, main=program)
