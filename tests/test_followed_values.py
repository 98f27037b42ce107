"""What reaches a line through functions, dicts and unpacking: on which side a value lives that several ways lead to.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest
from command import tpulint
from marked_files import SETUP, agree


def test_a_name_that_is_another_dict_where_tensors_are_put_into_it(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    def resume(path):
        start = 0
        if path:
            state = torch.load(path)
            start = state["step"]
            for state in optimizer.state.values():
                for name, value in state.items():
                    state[name] = value.cuda()
        return start

    step = resume(None)
    for x, y in loader:
        F.mse_loss(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
        if step % 100 == 0:
            print(step)
        step += 1
    """
    )
    agree(tmp_path, main=program)


def test_a_dict_that_tensors_are_put_into(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    for x, y in loader:
        state = {}
        state["loss"] = F.mse_loss(model(x.to(device)), y.to(device))
        state["loss"].backward()
        optimizer.step()
        if state["loss"] > 9:  # TPU103
            break
    """
    )
    agree(tmp_path, main=program)


NETWORK = """\
    from torch import nn


    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x, state, step):
            if step == 0 or STATE:
                state = state * 2
            return self.layer(x) + state if step > 0 else x
    """
DECODING = """\
    import torch
    from network import Decoder

    decoder = Decoder().cuda()
    optimizer = torch.optim.Adam(decoder.parameters())
    for x, state in loader:
        x, state = x.cuda(), state.cuda()
        loss = 0
        for at in range(5):
            loss = loss + decoder(x, state, at).mean()
        loss.backward()
        optimizer.step()
    """


def test_a_number_that_another_file_gives_a_module(tmp_path: Path) -> None:
    agree(tmp_path, network=NETWORK.replace("STATE", "False"), main=DECODING)


def test_what_another_file_gives_a_module_and_is_no_number(tmp_path: Path) -> None:
    network = NETWORK.replace("STATE:", "state.sum() > 0:  # TPU103")
    agree(tmp_path, network=network, main=DECODING)


def test_a_list_that_another_file_gives_a_module_is_no_number(tmp_path: Path) -> None:
    network = """\
        from torch import nn


        class Joined(nn.Module):
            def forward(self, x, states):
                first = states[0]
                return x + first if first.sum() > 0 else x  # TPU103
        """
    program = DECODING.replace("Decoder", "Joined").replace("state, at", "[state]")
    agree(tmp_path, network=network, main=program)


SMOOTHING = """\
    class Smoothing:
        def __init__(self, start):
            self.start = start

        def smooth(self, x, epoch):
            if epoch < self.start:  # MARK
                return x
            return x * 0.5
    """
SMOOTHED = """\
    from torch import nn
    from smoothing import Smoothing


    class Net(nn.Module):
        def __init__(self, start=1):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.start = start
            self.smoothing = Smoothing(start)

        def forward(self, x, epoch=None):
            x = self.layer(x)
            if epoch >= self.start:  # MARK
                x = self.smoothing.smooth(x, epoch)
            return x
    """
EPOCHS = """\
    import torch
    from net import Net

    model = Net().cuda()
    optimizer = torch.optim.Adam(model.parameters())


    def train(epoch):
        for x in loader:
            x = x.cuda()
            loss = model(x, GIVEN).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


    for epoch in range(3):
        train(epoch)
    """


@pytest.mark.parametrize(("given", "mark"), [("epoch", ""), ("x.mean()", "TPU103")])
def test_a_number_that_a_module_hands_on(tmp_path: Path, given: str, mark: str) -> None:
    files = {"smoothing": SMOOTHING, "net": SMOOTHED, "main": EPOCHS}
    agree(tmp_path, **{name: text.replace("MARK", mark).replace("GIVEN", given) for name, text in files.items()})


def test_a_function_that_is_given_tensors_of_either_side(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    def overlap(a, b, corners=True):
        top = torch.max(a[:, None, :2], b[:, :2]) if corners else a[:, None, :2] - b[:, :2]
        return top.prod(dim=2)

    anchors = torch.ones(9, 4)
    for x, y in loader:
        found = overlap(torch.zeros(3, 4), anchors)
        mask = found.argmax(dim=1) == 1
        if sum(mask) == 0:
            continue
        output = model(x.to(device))
        best = overlap(output, y.to(device), corners=False)
        if best.max() > 0.5:  # TPU103
            continue
        output.mean().backward()
        optimizer.step()
    """
    )
    agree(tmp_path, main=program)


def test_a_function_that_moves_what_it_is_given(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    def placed(a: torch.Tensor):
        return torch.relu(a.to(device))

    for x, y in loader:
        output = model(placed(x))
        if placed(y).max() > 0.5:  # TPU103
            continue
        output.mean().backward()
        optimizer.step()
    """
    )
    agree(tmp_path, main=program)


def test_a_function_that_hands_on_what_it_is_given(tmp_path: Path) -> None:
    """What one call gives it says nothing of what another does."""
    agree(
        tmp_path,
        train=SETUP
        + """
    def as_tuple(value, length=1):
        return value if isinstance(value, tuple) else (value,) * length

    def train(loader, stages):
        for x, y in loader:
            for stage in stages:
                start, end = as_tuple(stage, 2)
                assert start <= end
            (logits,) = as_tuple(model(x.to(device)))
            assert logits.mean() > 0  # TPU103
            F.cross_entropy(logits, y.to(device)).backward()
            optimizer.step()
    """,
    )


def test_a_function_that_runs_a_model(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    def place(text):
        return torch.tensor([ord(part) for part in text]).to(device)

    def train(x, y):
        loss = F.mse_loss(model(place(x)), place(y))
        loss.backward()
        optimizer.step()
        return loss / 2

    for x, y in torch.utils.data.DataLoader(texts, batch_size=4, drop_last=True):
        if train(x[0], y[0]) > 9:  # TPU103
            break
    """
    )
    agree(tmp_path, main=program)


METRICS = """\
    import torch


    def accuracy(output, target, topk=(1,)):
        _, pred = output.topk(max(topk), 1, True, True)
        correct = pred.t().eq(target.view(1, -1).expand_as(pred.t()))
        found = []
        for k in topk:
            right = correct[:k].reshape(-1).float().sum(0, keepdim=True)
            found.append(right.mul_(100.0 / target.size(0)))
        return found


    def chosen(output, target, weights):
        if weights is None:
            return accuracy(output, target, (1, 5))
        parts = []
        for at in range(2):
            part = 0
            for weight, other in zip(weights, [accuracy(output, target, (1, 5))]):
                part += weight * other[at]
            parts.append(part)
        return tuple(parts)
    """


def test_a_list_of_tensors_that_a_function_of_another_file_fills(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    from metrics import accuracy, chosen

    for x, y in loader:
        x, y = x.to(device), y.to(device)
        output = model(x)
        F.cross_entropy(output, y).backward()
        optimizer.step()
        one, five = accuracy(output, y, (1, 5))
        print(float(one))  # TPU101
        first, second = chosen(output, y, None)
        print(first.item())  # TPU101
        print(float(accuracy(x.cpu(), y.cpu())[0]))  # TPU101
    """
    )
    agree(tmp_path, metrics=METRICS, main=program)


def test_parts_of_a_batch_that_a_comprehension_moves(tmp_path: Path) -> None:
    program = """\
    import torch
    from torch import nn

    model = nn.Linear(4, 4).cuda()
    optimizer = torch.optim.Adam(model.parameters())

    def loss_of(output, target, valid):
        valid = (valid >= 0.5) & (target.sum(1) < 400)
        error = (output - target).sum(1)
        error = error[valid]  # TPU203
        return error.mean()

    for at, batch in enumerate(loader):
        image, target, valid = [part.cuda() for part in batch]
        loss = loss_of(model(image), target, valid)
        loss.backward()
        optimizer.step()
    """
    agree(tmp_path, main=program)


def test_methods_of_a_model_that_nobody_sees(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    from models import Net
    import library

    net = Net().to(device)
    stack = library.Stack()
    for x, y in loader:
        loss, kl = net.loss(x, y)
        loss = loss.mean(dim=-1)
        loss.backward()
        optimizer.step()
        kl = kl.sum()
        print(kl.item())  # TPU101
        height = stack.height(x, y)
        height = height.sum()
        print(height.item())
    """
    )
    models = """\
    from torch import nn


    class Net(nn.Module):
        def loss(self, x, y):
            return self.compare(x, y)
    """
    agree(tmp_path, models=models, main=program)


METER = """\
    class Meter:
        def __init__(self):
            self.reset()

        def reset(self):
            self.total, self.last = 0, None
            self.sum = 0
            self.count = 0

        def update(self, value, n=1):
            self.sum += value * n
            self.count += n

        def read(self, value):
            self.sum += value.item()
    """
METERED = """\
    import torch
    import torch_xla
    from meters import Meter

    device = torch_xla.device()
    model = torch.nn.Linear(4, 4).to(device)
    optimizer = torch.optim.OPTIMIZER(model.parameters())
    losses = Meter()
    for epoch in range(3):
        losses.reset()MARK
        own = Meter()MARK
        numbers = Meter()
        for x, y in loader:
            loss = (model(x.to(device)) - y.to(device)).pow(2).mean()
            loss.backward()
            optimizer.step()
            losses.update(loss.detach(), len(y))
            own.update(value=loss.detach())
            numbers.read(loss)
            torch_xla.sync()
    """


@pytest.mark.parametrize(
    ("optimizer", "mark"),
    [("Adam", "  # TPU223"), ("SGD", ""), ("Adagrad", "")],
)
def test_sums_that_an_object_of_another_file_begins_anew(tmp_path: Path, optimizer: str, mark: str) -> None:
    program = METERED.replace("OPTIMIZER", optimizer).replace("MARK", mark)
    agree(tmp_path, "TPU223", meters=METER, main=program)
    old = program.replace("loss.detach()", "loss.data[0]").replace("  # TPU223", "")  # a number, before 0.5
    agree(tmp_path, "TPU223", meters=METER, main=old)


def test_totals_that_begin_anew_in_attributes_and_now_and_then(tmp_path: Path) -> None:
    program = """\
        import torch
        import torch_xla

        device = torch_xla.device()


        class Trainer:
            def __init__(self, model):
                self.model = model.to(device)
                self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
                self.total = 0.0
                self.steps = 0

            def step(self, x):
                loss = self.model(x.to(device)).mean()
                loss.backward()
                self.optimizer.step()
                self.total += loss.detach()
                torch_xla.sync()

            def train(self, loader, epoch):
                best, seen, old = 0, 0, 0
                for at, x in enumerate(loader):
                    self.step(x)
                    self.steps += 1
                    seen = seen + len(x)
                    old = old + get_loss(x)
                    if at % 100 == 0:
                        print(self.total)
                        self.total = 0.0  # TPU223


        def get_loss(x):
            return x.to(device).sum().data[0]


        Trainer(model).train(loader, 0)
        """
    agree(tmp_path, "TPU223", main=program)


def test_totals_that_begin_anew_with_every_update(tmp_path: Path) -> None:
    agree(
        tmp_path,
        "TPU223",
        main="""
            import torch
            import torch_xla

            device = torch_xla.device()
            model = torch.nn.Linear(4, 4).to(device)
            optimizer = torch.optim.Adam(model.parameters())
            total = 0
            for step, x in enumerate(loader):
                total += model(x.to(device)).mean()
                if step % 4 == 3:
                    total.backward()
                    optimizer.step()
                    total = 0
                torch_xla.sync()

            shown = 0
            for step, x in enumerate(loader):
                loss = model(x.to(device)).mean()
                loss.backward()
                optimizer.step()
                shown += loss.detach()
                torch_xla.sync()
                if step % 100 == 0:
                    print(shown)
                    shown = 0  # TPU223
            """,
    )


def test_what_is_computed_and_read_behind_the_boundary(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    import torch_xla

    correct = 0
    for x, y in tqdm(loader):
        x, y = x.to(device), y.to(device)
        output = model(x)
        loss = F.cross_entropy(output, y)
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        show(loss.item())
        pred = output.argmax(1)
        correct += (pred == y).sum().item()  # TPU101
        show(correct / len(loader))
        scaled = loss * 2
        show(scaled.item())  # TPU101
    """
    )
    agree(tmp_path, main=program)


LOADING = """\
    from torch.utils.data import DataLoader


    def get_loader(name, size=4, shuffle=True, **options):
        return DataLoader(name, batch_size=size, shuffle=shuffle, **options)MARK
    """
FEEDING = """\
    import torch
    from loading import get_loader
    from training import Trainer

    model = torch.nn.Linear(4, 4).cuda()
    trainer = Trainer(model, torch.optim.Adam(model.parameters()))
    trainer(get_loader("cars", size=8, OPTIONS), epochs=3)
    """
TRAINING = """\
    class Trainer:
        def __init__(self, model, optimizer):
            self.model, self.optimizer = model, optimizer

        def __call__(self, loader, epochs):
            for epoch in range(epochs):
                self.train_epoch(loader)

        def train_epoch(self, loader):
            for x, y in loader:
                loss = (self.model(x.cuda()) - y.cuda()).mean()
                loss.backward()
                self.optimizer.step()
    """


@pytest.mark.parametrize(
    ("options", "mark"),
    [("num_workers=2", "  # TPU501"), ("drop_last=True", ""), ("**more", "")],
)
def test_a_loader_whose_function_hands_on_what_it_is_given(tmp_path: Path, options: str, mark: str) -> None:
    loading = LOADING.replace("MARK", mark)
    agree(tmp_path, "TPU501", loading=loading, training=TRAINING, main=FEEDING.replace("OPTIONS", options))


def test_an_element_of_a_device_tensor_as_a_place(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    def reorder(source, order):
        found = torch.zeros_like(source)
        wide = torch.zeros(4, 3, 3, 4).to(device)
        for b in range(4):
            for c in range(3):
                found[b, c] = source[b, order[b][c]]  # TPU201
                wide[b, c] = source[b, order[b]]
        return found

    for x, y in loader:
        output = model(x.to(device))
        order = output.sum(2).argsort(1)
        loss = F.mse_loss(reorder(output, order), y.to(device))
        loss.backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU201", main=program)


def test_an_element_that_is_read_and_put_back_is_at_a_place_of_one_number(tmp_path: Path) -> None:
    """Whether what is put elsewhere is one number, nobody says."""
    program = (
        SETUP
        + """
    def rank(batches, known):
        model.eval()
        for batch in batches:
            places = torch.tensor(batch[:, 2]).to(device)
            scores = model(batch.to(device))
            for j in range(len(batch)):
                kept = scores[j, places[j]].item()
                scores[j, known[j]] = 0.0
                scores[j, places[j]] = kept  # TPU201
                scores[places[j], j] = kept
            torch_xla.sync()
    """
    ).replace("import torch\n", "import torch\n    import torch_xla\n", 1)
    agree(tmp_path, "TPU201", main=program)


def test_keys_of_a_dict_of_tensors_are_none(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    for x, y in loader:
        out = model(x.to(device))
        losses = {name: out.mean() * weight for name, weight in parts.items()}
        text = ""
        for name in losses:
            text += "{}".format(name)
            text += "{}".format(losses[name])  # TPU102
        sum(losses.values()).backward()
        optimizer.step()
        torch_xla.sync()
    """
    )
    agree(tmp_path, "TPU102", main=program)


def test_two_prefetchers_draw_from_loaders_of_their_own(tmp_path: Path) -> None:
    """The loader of the evaluation does not feed the training for being given to an object of the same class."""
    program = """
    import torch
    from torch.utils.data import DataLoader

    device = torch.device("cuda")

    class Prefetcher:
        def __init__(self, loader):
            self.loader = iter(loader)
            self.preload()

        def preload(self):
            self.pair = next(self.loader, (None, None))

        def next(self):
            pair = self.pair
            self.preload()
            return pair

    def main():
        ready = DataLoader(samples, batch_size=8, shuffle=True)  # TPU501
        others = DataLoader(more_samples, batch_size=8)
        train(ready)
        validate(others)

    def train(batches):
        prefetcher = Prefetcher(batches)
        x, y = prefetcher.next()
        while x is not None:
            optimizer.zero_grad()
            criterion(model(x.to(device)), y.to(device)).backward()
            optimizer.step()
            x, y = prefetcher.next()

    def validate(batches):
        prefetcher = Prefetcher(batches)
        x, y = prefetcher.next()
        while x is not None:
            with torch.no_grad():
                show(model(x.to(device)).argmax(1) == y.to(device))
            x, y = prefetcher.next()

    main()
    """
    agree(tmp_path, "TPU501", main=program)


def test_a_box_that_a_function_of_another_file_draws(tmp_path: Path) -> None:
    """CutMix in a method that is given a whole batch; what is drawn once, in front of the loop, does not change."""
    boxes = """
    import numpy as np

    def draw(size, lam):
        center = np.random.randint(size[2])
        half = int(size[2] * lam) // 2
        return np.clip(center - half, 0, size[2]), np.clip(center + half, 0, size[2])

    def middle(size):
        return size[2] // 4, size[2] // 2
    """
    program = """
    import torch
    from torch import nn
    from boxes import draw, middle

    class Trainer:
        def __init__(self, model, args):
            self.device = torch.device("cuda")
            self.model, self.args = model.to(self.device), args
            self.optimizer = torch.optim.Adam(model.parameters())
            self.first, self.last = draw((8, 3, 32), 0.5)

        def step(self, batch):
            x, y = batch
            x, y = x.to(self.device), y.to(self.device)
            order = torch.randperm(x.size(0)).to(self.device)
            a, b = draw(x.size(), 0.5)
            x[:, :, a:b] = x[order, :, a:b]  # TPU201
            c, d = middle(x.size())
            x[:, :, c:d] = x[order, :, c:d]
            x[:, :, self.first : self.last] = 0
            self.optimizer.zero_grad()
            nn.functional.cross_entropy(self.model(x), y).backward()
            self.optimizer.step()

        def fit(self, batches):
            for batch in batches:
                self.step(batch)
    """
    agree(tmp_path, "TPU201", main=program, boxes=boxes)


def test_a_function_of_another_file_that_an_object_keeps(tmp_path: Path) -> None:
    agree(
        tmp_path,
        losses="""
            import torch
            import torch.nn.functional as F

            def of_words(out, y):
                kept = y[y > 0]  # TPU203
                return F.cross_entropy(out[: len(kept)], kept)

            def of_pairs(out, y):
                return F.cross_entropy(out, y) * (y > 0).sum().item()  # TPU101

            def of_none(out, y):
                return F.cross_entropy(out, y[y > 0])
            """,
        main="""
            import torch
            from torch import nn
            from losses import of_none, of_pairs, of_words

            class Trainer:
                def __init__(self, pairs):
                    self.device = torch.device("cuda")
                    self.model = nn.Linear(4, 4).to(self.device)
                    self.optimizer = torch.optim.Adam(self.model.parameters())
                    if pairs:
                        self.criterion = of_pairs
                    else:
                        self.criterion = of_words
                    self.other = of_none if pairs else print

                def train(self, loader):
                    for x, y in loader:
                        loss = self.criterion(self.model(x.to(self.device)), y.to(self.device))
                        self.other(loss, loss)
                        loss.backward()
                        self.optimizer.step()

            Trainer(True).train([])
            """,
    )


def test_batches_that_a_function_of_another_file_makes(tmp_path: Path) -> None:
    agree(
        tmp_path,
        select="TPU201,TPU511,TPU513",
        batches="""
            import torch

            def drawn(x, size):
                for at in range(0, len(x), size):  # TPU511
                    yield x[at : at + size]  # TPU201

            class Samples:
                def __init__(self, rows):
                    self.rows = rows

                def fill(self, rows):
                    longest = max(len(row) for row in rows)  # TPU513
                    return torch.tensor([row + [0] * (longest - len(row)) for row in rows])

                def cut(self, size):
                    made = []
                    for at in range(0, len(self.rows), size):  # TPU511
                        made.append(self.fill(self.rows[at : at + size]))
                    return made

            def shown(x, size):
                for at in range(0, len(x), size):
                    yield x[at : at + size]
            """,
        main=SETUP
        + """
    from batches import Samples, drawn, shown

    x = torch.randn(64, 4).to(device)
    for batch in drawn(x, 16):
        model(batch).mean().backward()
        optimizer.step()
    whole = Samples([[1, 2], [3]]).cut(16)
    for i in range(len(whole)):
        model(whole[i].to(device).float()).mean().backward()
        optimizer.step()
    for batch in shown(x, 16):
        print(batch.shape)
    """,
    )


def test_batches_in_a_list_that_is_written_out(tmp_path: Path) -> None:
    agree(
        tmp_path,
        select="TPU511,TPU516",
        batches="""
            def cut(x, size):
                return [x[at : at + size] for at in range(0, len(x), size)]  # TPU511
            """,
        main=SETUP
        + """
    from batches import cut

    def train(x, size):
        model.train()
        parts = [x[at : at + size] for at in range(0, len(x), size)]  # TPU511
        parts = [torch.tensor(part) for part in parts]
        for number, part in enumerate(parts):
            model(part.to(device)).mean().backward()
            optimizer.step()
        for part in cut(x, size):
            model(part.to(device)).mean().backward()
            optimizer.step()

    def train_on_whole_ones(x, size):
        parts = [x[at : at + size] for at in range(0, len(x), size)]
        parts.pop()
        for part in parts:
            model(part.to(device)).mean().backward()
            optimizer.step()
        others = [x[at : at + size] for at in range(0, len(x), size)]
        for part in others:
            if len(part) < size:
                continue
            model(part.to(device)).mean().backward()
            optimizer.step()

    def test(x, y, size):
        model.eval()
        inputs = [x[at : at + size] for at in range(0, len(x), size)]  # TPU516
        evens = [y[at : at + 16] for at in range(0, 64, 16)]
        with torch.no_grad():
            for part in inputs:
                print(model(part.to(device)).cpu())
            for part in evens:
                print(model(part.to(device)).cpu())

    train([[1.0]], 8)
    train_on_whole_ones([[1.0]], 8)
    test([[1.0]], [[1.0]], 8)
    """,
    )


@pytest.mark.parametrize(("fill", "is_fed"), [("loaders.append(loader)", True), ("others.append(loader)", False)])
def test_loaders_in_a_list(tmp_path: Path, fill: str, is_fed: bool) -> None:
    feeds, longest = ("  # TPU516", "  # TPU513") if is_fed else ("", "")
    program = (
        "import numpy as np\nfrom torch.utils.data import DataLoader\n"
        + dedent(SETUP)
        + f"""
def collate(samples):
    lengths = [len(sample[0]) for sample in samples]
    longest = int(np.max(lengths)){longest}
    x = torch.zeros(len(samples), longest)
    for row, sample in enumerate(samples):
        x[row, : lengths[row]] = sample[0]
    return x

loaders, others = [], []
for part in ("train", "test"):
    loader = DataLoader(read(part), batch_size=8, shuffle=part == "train", collate_fn=collate){feeds}
    {fill}

def train(batches):
    for x in batches:
        model(x.to(device)).mean().backward()
        optimizer.step()

def test(batches):
    model.eval()
    with torch.no_grad():
        for x in batches:
            print(model(x.to(device)).cpu())

train(loaders[0])
test(loaders[1])
"""
    )
    agree(tmp_path, select="TPU501,TPU513,TPU516", main=program)


def test_loaders_put_into_a_list_one_by_one(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    from torch.utils.data import DataLoader

    loaders = []
    loaders.append(DataLoader(read("train"), batch_size=8, shuffle=True))  # TPU501
    loaders.append(DataLoader(read("test"), batch_size=8))  # TPU516

    for x in loaders[0]:
        model(x.to(device)).mean().backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        for x in loaders[1]:
            print(model(x.to(device)).cpu())
    """
    )
    agree(tmp_path, select="TPU501,TPU516", main=program)


def test_lambdas_that_fetch_what_every_turn_gives_them(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    import torch_xla

    fetched = lambda x: x.detach().cpu().numpy()
    chosen = lambda x: x.max(1)[1].cpu()  # TPU101
    parts = lambda x: x.split(1)
    other = lambda x: x.max(1)[1].cpu()

    for x, y in loader:
        out = model(x.to(device))
        F.mse_loss(out, y.to(device)).backward()
        optimizer.step()
        torch_xla.sync()
        keep(fetched(out), chosen(out), parts(out), other(y))
    """
    )
    agree(tmp_path, select="TPU101", main=program)
    agree(
        tmp_path, select="TPU101", main=program.replace("torch_xla.sync()", "").replace("numpy()", "numpy()  # TPU101")
    )


@pytest.mark.parametrize("stored", ["scores[y > 0] = -math.inf", "scores[0] = 1.0", "scores[:, 1] = 0.0"])
def test_numbers_that_are_written_into_a_tensor_of_the_device(tmp_path: Path, stored: str) -> None:
    program = (
        "import math\n"
        + dedent(SETUP)
        + f"""
for x, y in loader:
    scores = model(x.to(device))
    {stored}
    assert not torch.isnan(torch.softmax(scores, 1)).any()  # TPU103
    parts = [1.0, 2.0]
    parts[0] = 3.0
    assert torch.tensor(parts).any()
    F.mse_loss(scores, y.to(device)).backward()
    optimizer.step()
"""
    )
    agree(tmp_path, select="TPU103", main=program)


LAYERS = """
    import torch
    from torch import nn

    class Layer(nn.Module):
        def forward(self, x):
            x[(x > 0).all(dim=1)] = x[0]  # TPU204
            return x * x.mean().item()  # TPU101

    class Other(nn.Module):
        def forward(self, x):
            return x * x.mean().item()
    """


HANDED = """
    import torch
    from torch import nn

    class Attention(nn.Module):
        def forward(self, x):
            return x * x.mean().item()  # TPU101

    class Shift:
        def __call__(self, x):
            return x + x.mean().item()  # TPU101

    class Unused(nn.Module):
        def forward(self, x):
            return x * x.mean().item()
    """

BLOCKS = """
    from torch import nn

    class Block(nn.Module):
        def __init__(self, attention, shift=None):
            super().__init__()
            self.attention = attention
            self.shift = shift

        def forward(self, x):
            if self.shift is not None:
                x = self.shift(x)
            return self.attention(x) * x.mean().item()  # TPU101

    class Encoder(nn.Module):
        def __init__(self, layers, others=()):
            super().__init__()
            self.layers = nn.ModuleList(layers)
            self.others = others

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x
    """


@pytest.mark.parametrize(
    "layers", ["[Block(Attention(), Shift()) for _ in range(2)]", "[Block(attention, shift=shift)]"]
)
def test_modules_that_modules_of_another_file_are_given(tmp_path: Path, layers: str) -> None:
    program = (
        "from blocks import Block, Encoder\nfrom layers import Attention, Shift, Unused\n"
        + dedent(SETUP)
        + f"""
attention, unused = Attention(), Unused()
shift = Shift()
model = Encoder({layers}).to(device)
for x, y in loader:
    F.mse_loss(model(x.to(device)), y.to(device)).backward()
    optimizer.step()
"""
    )
    agree(tmp_path, select="TPU101", layers=HANDED, blocks=BLOCKS, main=program)


SCORES = """
    import torch

    def _share(right, count):
        return right / count

    def accuracy(output, target):
        return torch.sum(output.argmax(1) == target).item() / len(target)  # TPU101

    def top(output, target, k=3):
        correct = 0
        best = torch.topk(output, k, dim=1)[1]
        for i in range(k):
            correct += torch.sum(best[:, i] == target).item()  # TPU101
        return correct / len(target)
    """

BASE = """
    class BaseTrainer:
        def __init__(self, model, criterion, metrics, optimizer):
            self.model = model
            self.criterion = criterion
            self.metrics = metrics
            self.optimizer = optimizer
    """

TRAINER = """
    import torch
    from base import BaseTrainer

    class Trainer(BaseTrainer):
        def __init__(self, model, criterion, metrics, optimizer, loader, device):
            super().__init__(model, criterion, metrics, optimizer)
            self.loader = loader
            self.device = device

        def _score(self, output, target):
            return [metric(output, target) for metric in self.metrics]

        def train(self):
            for x, y in self.loader:
                x, y = x.to(self.device), y.to(self.device)
                self.optimizer.zero_grad()
                output = self.model(x)
                self.criterion(output, y).backward()
                self.optimizer.step()
                for i, metric in enumerate(self.metrics):
                    metric(output, y)
    """


@pytest.mark.parametrize(
    ("chosen", "without"),
    [
        ("[getattr(metrics, name) for name in config['metrics']]", ""),
        ("[metrics.accuracy, metrics.top]", ""),
        ("[getattr(metrics, 'accuracy')]", "top"),
    ],
)
def test_functions_of_a_module_that_a_configuration_names(tmp_path: Path, chosen: str, without: str) -> None:
    program = (
        "import metrics\nfrom trainer import Trainer\n"
        + dedent(SETUP)
        + f"""
scores = {chosen}
trainer = Trainer(model, F.mse_loss, scores, optimizer, loader, device)
trainer.train()
"""
    )
    table = SCORES.partition("def top")[0] if without else SCORES
    agree(tmp_path, select="TPU101", metrics=table, base=BASE, trainer=TRAINER, main=program)


def test_objects_that_are_called(tmp_path: Path) -> None:
    program = (
        dedent(SETUP)
        + """
class Augment:
    def __init__(self, flips):
        self.flips = flips

    def __call__(self, x):
        return torch.fft.rfft(x).real  # TPU135

class Other:
    def __call__(self, x):
        return torch.fft.rfft(x).real

class Net(nn.Module):
    def __init__(self, augment):
        super().__init__()
        self.augment = augment
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(self.augment(x))

other = Other()
model = Net(Augment(True)).to(device)
for x, y in loader:
    F.mse_loss(model(x.to(device)), y.to(device)).backward()
    optimizer.step()
"""
    )
    agree(tmp_path, select="TPU135", main=program)


@pytest.mark.parametrize(
    ("made", "used"),
    [
        ("nn.ModuleList([Layer() for _ in range(4)])", "layer = self.layers[0]\nx = layer(x)"),
        ("nn.ModuleList([nn.Linear(4, 4), Layer()])", "for layer in self.layers:\n    x = layer(x)"),
        ("[Layer(), Layer()]", "for i, layer in enumerate(self.layers):\n    x = layer(x)"),
        ("nn.Sequential(nn.Linear(4, 4), Layer())", "x = self.layers(x)"),
        ("nn.ModuleList()\nself.layers.append(Layer())", "for a, layer in zip(x, self.layers):\n    x = layer(x)"),
    ],
)
def test_modules_of_another_file_in_a_list(tmp_path: Path, made: str, used: str) -> None:
    program = (
        "from layers import Layer, Other\n"
        + dedent(SETUP)
        + f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = {indent(made, " " * 8).lstrip()}
        self.others = [Other()]

    def forward(self, x):
{indent(used, " " * 8)}
        return x

model = Net().to(device)
for x, y in loader:
    F.mse_loss(model(x.to(device)), y.to(device)).backward()
    optimizer.step()
"""
    )
    agree(tmp_path, select="TPU101,TPU204", layers=LAYERS, main=program)


def test_a_module_that_each_turn_hands_on(tmp_path: Path) -> None:
    agree(
        tmp_path,
        net="""
            import torch

            class Net(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.weight = torch.nn.Parameter(torch.ones(4))

                def scores(self, x):
                    assert (x > 0).all()  # TPU103
                    return self.combine(x)

                def combine(self, x):
                    raise NotImplementedError

                def describe(self, x):
                    return x.sum().item()

            class Mean(Net):
                def combine(self, x):
                    return x * self.weight.mean().item()  # TPU101
            """,
        main="from net import Mean\n"
        + dedent(SETUP)
        + dedent("""
            model = Mean()
            model = model.to(device)
            for x, y in loader:
                model = model.train()
                F.mse_loss(model.scores(x.to(device)), y.to(device)).backward()
                optimizer.step()
            """),
    )


def test_numbers_that_are_needed_without_being_asked_for(tmp_path: Path) -> None:
    agree(
        tmp_path,
        main=SETUP
        + """
    best, sizes = 0, torch.tensor([1, 2])
    for x, y in loader:
        x = x.to(device)
        out = model(x)
        count = (x > 0).sum()
        part = torch.arange(count)  # TPU101
        row = [0] * count  # TPU101
        for i in range(count):  # TPU101
            pass
        best = max(best, out.mean())  # TPU101
        finite = all(torch.isfinite(p).all() for p in (out, out.exp()))  # TPU101
        both = torch.tensor([out.mean(), out.sum()])  # TPU101
        least = min(sizes)
        least = max(len(x), 4)
        largest = max(len(row) for row in x)
        part = torch.zeros(out.size(0), x.shape[1])
        part = [0] * len(x)
        twice = out * out
        loss = out.mean()
        loss.backward()
        optimizer.step()
    """,
    )


def test_places_ends_counts_and_truths_that_python_asks_for(tmp_path: Path) -> None:
    agree(
        tmp_path,
        main="import numpy as np\n"
        + dedent(SETUP)
        + dedent("""
    names = ["a", "b"]
    right = [0] * 4
    table = {}
    counts = np.zeros((4, 4))
    rows = torch.zeros(4, 4)
    class Heads(nn.Module):
        def split(self, x):
            return x * 2

    for x, y in loader:
        x, y = x.to(device), y.to(device)
        out = model(x)
        best = out.argmax()
        name = names[best]  # TPU101
        label = y[0]
        right[label] += 1  # TPU101
        right[y.data[1]] += 1  # TPU101
        table[y.data[1]] = 1
        counts[label, best] += 1  # TPU101
        part = rows[: out.sum().long()]  # TPU101
        first = y[:best]  # TPU101
        wide = rows.repeat(best, 1)  # TPU101
        heads = Heads().split(best)
        largest = out.topk(best)  # TPU101
        empty = out.new_zeros(best, 2)  # TPU101
        zeros = torch.zeros((best, 2))  # TPU101
        numbers = list(map(float, out[0]))  # TPU101
        bad = torch.isnan(out).any() or len(y) > 3  # TPU103
        fine = not torch.isnan(out).any()  # TPU103
        known = best in (1, 2)  # TPU103
        table[best] = 1
        other = table.get(best)
        present = best in table
        some = names[len(y) - 3 :]
        wide = rows.repeat(len(y), 1)
        kept = y is None or not names
        empty = out.new_zeros(y.size())
        view = out.view(y.size(0), -1)
        twice = map(torch.exp, out)
        out.mean().backward()
        optimizer.step()
    """),
    )


def test_annotated_parameters_lie_where_what_they_are_given_does(tmp_path: Path) -> None:
    agree(
        tmp_path,
        metrics="""
            import torch
            from torch import Tensor

            def rank(scores: Tensor, truth: torch.Tensor) -> float:
                places = (scores.argsort() == truth).nonzero()[:, 1]  # TPU203
                return (1.0 / (places + 1)).sum().item()  # TPU101

            def count(sizes: Tensor) -> int:
                return sizes.sum().item()
            """,
        main="from metrics import count, rank\n"
        + dedent(SETUP)
        + dedent("""
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(4, 4)

        def forward(self, x: torch.Tensor, weights: torch.Tensor | None = None) -> torch.Tensor:
            assert not torch.isnan(x).any()  # TPU103
            return self.body(x)

    def accuracy(out: torch.Tensor, y: torch.Tensor) -> float:
        return (out == y).float().mean().item()  # TPU101

    net = Net().to(device)
    for x, y in loader:
        size = count(torch.tensor([len(x), 2]))
        x, y = x.to(device), y.to(device)
        out = net(x)
        right = accuracy(out, y)
        place = rank(out, y)
        out.mean().backward()
        optimizer.step()
    """),
    )


def test_loaders_that_an_object_of_another_file_keeps(tmp_path: Path) -> None:
    agree(
        tmp_path,
        select="TPU501,TPU516",
        samples="""
            import torch
            from torch.utils.data import DataLoader

            class Samples:
                def __init__(self, train, test, size):
                    self.train = DataLoader(train, batch_size=size, shuffle=True)  # TPU501
                    self.test = None
                    self.whole = DataLoader(train, batch_size=size)
                    self.open(test, size)

                def open(self, test, size):
                    self.test = DataLoader(test, batch_size=size)  # TPU516

                @property
                def trial(self):
                    return DataLoader(self.whole.dataset, batch_size=3)  # TPU516
            """,
        main="from samples import Samples\n"
        + dedent(SETUP)
        + dedent("""
    samples = Samples(read("train"), read("test"), 8)
    test = samples.test
    for epoch in range(3):
        for step, (x, y) in enumerate(samples.train):
            F.mse_loss(model(x.to(device)), y.to(device)).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            for x, y in test:
                model(x.to(device))
            for x, y in samples.trial:
                model(x.to(device))
    """),
    )


def test_loaders_in_dictionaries_that_another_file_returns(tmp_path: Path) -> None:
    agree(
        tmp_path,
        select="TPU501,TPU516",
        samples="""
            from torch.utils.data import DataLoader

            def get_loaders(train, test, size):
                loaders = {
                    "all": DataLoader(train, batch_size=size),
                    "test": iter(DataLoader(test, batch_size=size)),  # TPU516
                }
                loaders["train"] = DataLoader(train, batch_size=size, shuffle=True)  # TPU501
                loaders["spare"] = DataLoader(train, batch_size=size)
                loaders["endless"] = DataLoader(train, batch_size=size, sampler=Endless(len(train)))
                return loaders

            class Endless:
                def __init__(self, count):
                    self.count = count

                def __iter__(self):
                    while True:
                        for place in range(self.count):
                            yield place
            """,
        main="from samples import get_loaders\n"
        + dedent(SETUP)
        + dedent("""
    def test(model, loaders):
        model.eval()
        with torch.no_grad():
            for x, y in loaders["test"]:
                model(x.to(device))

    loaders = get_loaders(read("train"), read("test"), 8)
    for epoch in range(3):
        for x, y in loaders["train"]:
            F.mse_loss(model(x.to(device)), y.to(device)).backward()
            optimizer.step()
        for step, (x, y) in zip(range(20), loaders["endless"]):
            F.mse_loss(model(x.to(device)), y.to(device)).backward()
            optimizer.step()
        test(model, loaders)
    """),
    )


def test_rows_that_a_generator_of_another_file_filters_for_each_turn(tmp_path: Path) -> None:
    agree(
        tmp_path,
        tables="""
            class Table:
                def __init__(self, frame):
                    self.frame = frame

                def by_query(self):
                    for query in self.frame.query.unique():
                        found = self.frame[self.frame.query == query]  # TPU203
                        yield found[["a", "b"]].values, found.label.values

                def by_place(self):
                    for place in range(4):
                        chosen = self.frame[self.frame.fold == 3]
                        yield chosen.shape, self.frame[place]

                def unused(self):
                    for query in self.frame.query.unique():
                        yield self.frame[self.frame.query == query]

            def load(path):
                return Table(path), 3
            """,
        main="from tables import load\n"
        + dedent(SETUP)
        + dedent("""
    table, count = load("x")
    for x, y in table.by_query():
        F.mse_loss(model(torch.tensor(x, device=device)), torch.tensor(y, device=device)).backward()
        optimizer.step()
    for x, y in table.by_place():
        F.mse_loss(model(torch.tensor(x, device=device)), torch.tensor(y, device=device)).backward()
        optimizer.step()
    """),
    )


def test_sums_that_an_object_keeps_of_device_tensors(tmp_path: Path) -> None:
    meters = """
        class Meter:
            def __init__(self):
                self.reset()

            def reset(self):
                self.last = self.sum = self.avg = self.count = 0

            def update(self, value, n=1):
                self.last = value.detach()
                self.sum += self.last * n
                self.count += n
                self.avg = self.sum / self.count

            @property
            def half(self):
                return self.avg / 2

        class Numbers(Meter):
            def update(self, value, n=1):
                value = value.item()  # TPU101
                self.last = value
                self.sum += value * n
        """
    agree(
        tmp_path,
        meters=meters,
        main="from meters import Meter, Numbers\n"
        + dedent(SETUP)
        + dedent("""
    losses, sizes, numbers = Meter(), Meter(), Numbers()
    class Trainer:
        def __init__(self):
            self.seen = Meter()

        def fit(self):
            for x, y in loader:
                loss = F.mse_loss(model(x.to(device)), y.to(device))
                loss.backward()
                optimizer.step()
                self.seen.update(loss, len(x))
                print(f"{self.seen.avg:.3f}")  # TPU102
                print(f"{self.seen.count}")

    for x, y in loader:
        loss = F.mse_loss(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        losses.update(loss, len(x))
        sizes.update(len(x))
        numbers.update(loss)
        print("%.3f" % losses.avg)  # TPU102
        print("{:.3f}".format(losses.half))  # TPU102
        if losses.last > 3:  # TPU103
            break
        print("%.3f %d" % (sizes.avg, losses.count))
        print("%.3f" % numbers.sum)
    """),
    )


def test_a_batch_sampler_of_another_file(tmp_path: Path) -> None:
    agree(
        tmp_path,
        select="TPU501",
        samplers="""
            class Filled:
                def __init__(self, places, size):
                    self.places, self.size = places, size

                def __iter__(self):
                    batch = []
                    for place in self.places:
                        batch.append(place)
                        if len(batch) == self.size:
                            yield batch
                            batch = []

            class Batches(Filled):
                def __iter__(self):
                    batch = []
                    for place in self.places:
                        batch.append(place)
                        if len(batch) == self.size:
                            yield batch
                            batch = []
                    if len(batch) > 0:
                        yield batch
            """,
        main="from samplers import Batches, Filled\nfrom torch.utils.data import DataLoader\n"
        + dedent(SETUP)
        + dedent("""
            for x, y in DataLoader(samples, batch_sampler=Batches(places, 16)):  # TPU501
                F.mse_loss(model(x.to(device)), y.to(device)).backward()
                optimizer.step()
            for x, y in DataLoader(samples, batch_sampler=Filled(places, 16)):
                F.mse_loss(model(x.to(device)), y.to(device)).backward()
                optimizer.step()
            """),
    )


def test_a_model_that_a_function_of_the_program_builds_of_another_file(tmp_path: Path) -> None:
    agree(
        tmp_path,
        net="""
            import torch

            class Net(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.layer = torch.nn.Linear(4, 4)

                def project(self, x):
                    return self.layer(x)

            def build(size):
                net = Net()
                return net
            """,
        main="""
            import torch
            from net import build

            def get_model(size):
                model = build(size)
                return model

            def decode(model, x):
                scores = model.project(x)
                best, place = torch.max(scores, dim=1)
                return place.item()  # TPU101

            def evaluate(model, loader):
                model.eval()
                with torch.no_grad():
                    for x in loader:
                        out = model(x.to("cuda"))
                        decode(model, out)

            model = get_model(4).to("cuda")
            evaluate(model, [])
            """,
    )


def test_a_dict_that_a_forward_pass_of_another_file_returns(tmp_path: Path) -> None:
    agree(
        tmp_path,
        select="TPU101,TPU102",
        net="""
            import torch

            class Net(torch.nn.Module):
                def forward(self, x):
                    return {"loss": x.mean()}

            def build(size):
                return Net()
            """,
        main="""
            import torch
            from net import build
            from tqdm import tqdm

            def get_model(size):
                return build(size)

            model = get_model(4).to("cuda")
            optimizer = torch.optim.Adam(model.parameters())
            bar = tqdm(loader)
            for x in bar:
                found = model.forward(x.to("cuda"))
                found["loss"].mean().backward()
                optimizer.step()
                bar.set_postfix(found)  # TPU102
                print(found)  # TPU102
            """,
    )


def test_a_parameter_that_is_called_is_no_tensor(tmp_path: Path) -> None:
    agree(
        tmp_path,
        net="""
            import torch

            class Net(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.fc = torch.nn.Linear(3, 3)

                def forward(self, x, size, decoder=None):
                    y = self.fc(x)
                    if decoder is not None and decoder.applies_to_all:
                        y = decoder(x, y)
                    if y.sum() > size:  # TPU103
                        y = y * 2
                    return y
            """,
        main="""
            import torch
            from net import Net

            class Solver:
                def __init__(self, device="cuda"):
                    self.device = device
                    self.model = Net().to(self.device)
                    self.decoder = Decoder().to(self.device)
                    self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

                def train(self, loader):
                    for x in loader:
                        loss = self.model(x.to(self.device), 3, decoder=self.decoder).mean()
                        loss.backward()
                        self.optimizer.step()
            """,
    )


FILLING = """
import torch
from torch.nn.utils.rnn import pad_sequence

def fill(samples):
    lengths = [len(x) for x, y in samples]
    rows = torch.zeros(len(samples), max(lengths)).long()  # TPU513
    for row, (x, y) in enumerate(samples):
        rows[row, : lengths[row]] = torch.tensor(x)
    return rows, torch.tensor([y for x, y in samples])

class Stack:
    def __call__(self, samples):
        return pad_sequence([x for x, y in samples]), torch.stack([y for x, y in samples])  # TPU510

class Texts(torch.utils.data.Dataset):
    def collate(self, samples):
        return self.fill(samples)

    def fill(self, samples):
        return pad_sequence([x for x, y in samples]), torch.stack([y for x, y in samples])  # TPU510

def unused(samples):
    return pad_sequence([x for x, y in samples]), torch.stack([y for x, y in samples])

def to_one_length(samples):
    return torch.stack([torch.cat([x, x.new_zeros(64 - len(x))]) for x, y in samples]), 0
"""


def test_functions_of_other_files_that_fill_up_batches(tmp_path: Path) -> None:
    loop = """
    for x, y in DataLoader({data}, batch_size=8, drop_last=True, collate_fn={function}):
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        torch_xla.sync()
"""
    functions = ("fill", "Stack()", "texts.collate", "to_one_length")
    program = (
        SETUP
        + """
    from torch.utils.data import DataLoader
    from filling import Stack, Texts, fill, to_one_length, unused

    texts = Texts()
    left = DataLoader([], batch_size=8, collate_fn=unused)
"""
        + "".join(loop.format(data="texts", function=function) for function in functions)
        + """
    if __name__ == "__main__":
        print("trained")
"""
    )
    agree(tmp_path, "TPU510,TPU513", filling=FILLING, main=program)


AGENT = """
import torch
from torch import nn

class Agent:
    def __init__(self):
        self.device = torch.device("cuda")
        self.net = nn.Linear(4, 4).to(self.device)
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def update(self, batch):
        self.net.train()
        loss = self.net(batch.to(self.device)).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def predict(self, batch):
        self.net.eval()
        with torch.no_grad():
            return self.net(batch.to(self.device))
"""


def test_batches_of_loops_whose_steps_stand_in_another_file(tmp_path: Path) -> None:
    program = """
    import torch
    from torch.utils.data import DataLoader
    from agent import Agent

    def fill(samples):
        longest = max(len(x) for x in samples)  # TPU513
        return torch.tensor([x + [0] * (longest - len(x)) for x in samples])

    class Batches:
        def __init__(self, samples, size):
            self.batches = [samples[at : at + size] for at in range(0, len(samples), size)]

        def __iter__(self):
            for batch in self.batches:
                rows = torch.zeros(len(batch), max(len(x) for x in batch)).long()  # TPU513
                for row, x in enumerate(batch):
                    rows[row, : len(x)] = torch.tensor(x)
                yield rows

    def main(samples, others):
        agent = Agent()
        training = DataLoader(samples, batch_size=8, shuffle=True, collate_fn=fill)  # TPU501
        testing = DataLoader(others, batch_size=8)  # TPU516
        unused = DataLoader(others, batch_size=8)
        for epoch in range(10):
            for batch in training:
                agent.update(batch)
            for batch in Batches(samples, 8):
                agent.update(batch)
            for batch in testing:
                agent.predict(batch)

    if __name__ == "__main__":
        main([], [])
    """
    agree(tmp_path, "TPU501,TPU513,TPU516", agent=AGENT, main=program)


@pytest.mark.parametrize(
    ("call", "mark"), [("for _ in range(9):\n            train(model, [])", "  # TPU221"), ("train(model, [])", "")]
)
def test_what_the_epochs_of_another_file_begin_anew(tmp_path: Path, call: str, mark: str) -> None:
    engine = f"""
    import torch
    import torch_xla
    import torch.nn.functional as F

    def train(model, loader):
        optimizer = torch.optim.Adam(model.parameters())
        device = torch_xla.device()
        total, correct = 0.0, 0
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            outputs = model(x)
            loss = F.cross_entropy(outputs, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            predicted = outputs.argmax(1){mark}
            correct += predicted.eq(y).sum().item()
        return correct
    """
    program = f"""
    import torch_xla
    from torch import nn
    from engine import train

    def main():
        model = nn.Linear(4, 4).to(torch_xla.device())
        {call}

    if __name__ == "__main__":
        main()
    """
    agree(tmp_path, "TPU221", engine=engine, main=program)


def test_loaders_of_a_class_of_their_own_that_fill_up_batches_by_another_file(tmp_path: Path) -> None:
    filling = """
    def fill(samples, value):
        longest = max(x.size(0) for x in samples)  # TPU513
        rows = samples[0].new(len(samples), longest, *samples[0].size()[1:]).fill_(value)
        for row, x in enumerate(samples):
            rows[row, : x.size(0)] = x
        return rows

    def unused(samples, value):
        longest = max(x.size(0) for x in samples)
        return samples[0].new(len(samples), longest).fill_(value)
    """
    loaders = """
    import torch.utils.data as data
    from filling import fill

    class Sounds(data.DataLoader):
        def __init__(self, *args, rate=1, **kwargs):
            super().__init__(*args, **kwargs)
            self.collate_fn = Collate(rate)

    class Collate:
        def __init__(self, rate):
            self.rate = rate

        def __call__(self, samples):
            return joined(samples[0])

    def joined(samples):
        return fill([x for x, y in samples], 0)
    """
    agree(tmp_path, "TPU501,TPU513", filling=filling, loaders=loaders)


def test_models_that_are_loaded_whole_where_a_training_goes_on(tmp_path: Path) -> None:
    parts = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            x = self.linear(x)
            if x.sum() > 0:  # TPU103
                return x
            return -x
    """
    program = """
    import torch
    from torch import nn
    import torch.nn.functional as F
    from parts import Net

    def main(path, loader):
        device = torch.device("cuda")
        if path:
            model = torch.load(path)
        else:
            model = Net()
        model = model.to(device)
        optimizer = torch.optim.Adam(model.parameters())
        for x, y in loader:
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()

    if __name__ == "__main__":
        main("", [])
    """
    agree(tmp_path, parts=parts, main=program)


def test_copies_of_modules_and_of_tensors(tmp_path: Path) -> None:
    net = """\
    import copy

    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x):
            out = self.layer(x)
            print(out.mean().item())  # TPU101
            return out

    class Average:
        def __init__(self, model):
            self.module = copy.deepcopy(model)

        def update(self, model):
            for mine, other in zip(self.module.parameters(), model.parameters()):
                mine.copy_(other)
    """
    program = """\
    import copy
    import torch
    from torch import nn
    from net import Average, Net

    device = torch.device("cuda")
    model = nn.Linear(4, 4).to(device)
    average = copy.deepcopy(model)
    other = copy.deepcopy(Net().to(device))
    kept = Average(model)
    options = copy.deepcopy(vars(args))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        loss = model(x.to(device)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        kept.update(model)
        print(average(x.to(device)).sum().item())  # TPU101
        print(copy.deepcopy(loss).item())  # TPU101
        print(options["scale"].item(), copy.copy(x).sum().item())
        other(x.to(device))
    """
    agree(tmp_path, "TPU101", train=program, net=net)


def test_a_model_of_chosen_modules_that_a_method_builds(tmp_path: Path) -> None:
    net = """\
    from torch import nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x):
            print(self.layer(x).mean().item())  # TPU101
            return self.layer(x)
    """
    base = """\
    class Base:
        def __init__(self):
            self.model = self.build().cuda()

        def build(self):
            raise NotImplementedError
    """
    program = """\
    import torch
    import large
    import net
    import small
    from base import Base

    class Run:
        def __init__(self, args):
            self.args = args
            self.device = torch.device("cuda")
            self.model = self.build().to(self.device)

        def build(self):
            models = {"net": net, "large": large}
            return models[self.args.model].Model().float()

        def train(self):
            optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
            for x in loader:
                loss = self.model(x.to(self.device)).sum()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

    class Other(Base):
        def build(self):
            return small.Model()

        def train(self):
            optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

            def run(x):
                return self.model(x)

            for x in loader:
                loss = run(x.cuda()).sum()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    """
    agree(tmp_path, "TPU101", train=program, net=net, large=net, small=net, base=base)


@pytest.mark.parametrize(("count", "is_told"), [("size - window", True), ("size - 1", False), ("size", False)])
def test_batches_of_places_of_windows(tmp_path: Path, count: str, is_told: bool) -> None:
    """Nobody chooses their number to fit."""
    program = """\
    import numpy as np
    import torch
    from torch import nn

    def train(rows, batch, size, window):
        net = nn.Linear(4, 4).to("cuda")
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        order = np.random.permutation(COUNT)
        for at in range(0, COUNT, batch):
            places = order[at : at + batch]
            net(rows[places].to("cuda")).mean().backward()
            optimizer.step()
    """
    told = program.replace("batch):\n   ", "batch):  # TPU511\n   ") if is_told else program
    agree(tmp_path, "TPU511", main=told.replace("COUNT", count))


@pytest.mark.parametrize(
    ("count", "cut", "is_told"),
    [
        ("int(np.ceil(places.shape[-1] / size))", "places[:, at * size : (at + 1) * size]", True),
        ("int(np.ceil(places.shape[-1] / size))", "places[:, :, at * size : (at + 1) * size]", True),
        ("0, places.shape[1], size", "places[:, at : at + size]", True),
        ("0, places.shape[1], size", "places[:, at : at + 1]", False),  # of another length than the steps
        ("0, places.shape[1], size", "places[:, 0]", False),
        ("0, places.shape[0], size", "places[at, at : at + size]", False),  # the axis cut is another
        ("places.shape[1] // size", "places[:, at * size : (at + 1) * size]", False),
    ],
)
def test_batches_that_are_cut_along_another_axis(tmp_path: Path, count: str, cut: str, is_told: bool) -> None:
    """Each network of an ensemble has its own order of the samples."""
    program = f"""\
    import numpy as np
    import torch
    from torch import nn

    def train(rows, networks, size):
        net = nn.Linear(4, 4).to("cuda")
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        places = np.random.randint(len(rows), size=[networks, len(rows)])
        for at in range({count}):{"  # TPU511" if is_told else ""}
            net(torch.from_numpy(rows[{cut}]).to("cuda")).mean().backward()
            optimizer.step()
    """
    agree(tmp_path, "TPU511", main=program)


POLICY = """\
    import torch
    from torch import nn


    class Policy(nn.Module):
        def __init__(self):
            super().__init__()
            self.mean = nn.Linear(4, 2)

        def forward(self, x):
            self.spread = torch.distributions.Normal(self.mean(x), 1.0, validate_args=False)
            return self.spread.loc

        @property
        def entropy(self):
            return self.spread.entropy().sum(dim=-1)

        @property
        def width(self):
            return 2

        @property
        def range(self) -> torch.Tensor:
            return self.bounds.range
    """
POLICY_TRAINING = """\
    class Trainer:
        def __init__(self, policy):
            self.policy = policy.to("xla")
            self.optimizer = torch.optim.Adam(policy.parameters())

        def train(self, loader):
            for x in loader:
                loss = self.policy(x.to("xla")).mean()
                entropy, width = self.policy.entropy[:8], self.policy.width
                loss.backward()
                self.optimizer.step()
                show(entropy.mean().item(), width.real)  # TPU101
                show(self.policy.range.mean().item())  # TPU101


    Trainer(Policy()).train(loader)
    """


@pytest.mark.parametrize("files", [1, 2])
def test_what_a_property_computes(tmp_path: Path, files: int) -> None:
    if files == 1:
        agree(tmp_path, main=POLICY + "\n\n" + POLICY_TRAINING)
    else:
        agree(tmp_path, policy=POLICY, main="    import torch\n    from policy import Policy\n\n\n" + POLICY_TRAINING)


DISTANCE = """\
    import torch
    from torch import nn


    class Distance(nn.Module):
        def forward(self, found, wanted, valid):
            gap = found[valid] - wanted[valid]  # MARK
            return gap.abs().mean()
    """
MEASURED = """\
    for _ in range(9):
        x = torch.rand(4, 4).to(device)
        optimizer.zero_grad()
        loss = distance(model(x), x, GIVEN)
        loss.backward()
        optimizer.step()
    """


@pytest.mark.parametrize(
    ("given", "mark"),
    [("x > 1.0", "TPU203"), ("(x > 1.0).to(torch.bool)", "TPU203"), ("torch.arange(4).to(device)", "none")],
)
@pytest.mark.parametrize("imported", ["", "from distance import Distance", "if True:\n        from distance import *"])
def test_masks_that_a_criterion_is_given(tmp_path: Path, imported: str, given: str, mark: str) -> None:
    """In this file, or in another, whose import an ``if`` may choose."""
    measured = "    distance = Distance()\n" + MEASURED.replace("GIVEN", given)
    setup, distance = SETUP.rstrip(" "), DISTANCE.replace("MARK", mark).rstrip(" ")
    if imported:
        agree(tmp_path, "TPU203", main=f"{setup}    {imported}\n\n{measured}", distance=distance)
    else:
        agree(tmp_path, "TPU203", main=setup + distance + measured)


@pytest.mark.parametrize(
    ("loss", "read", "mark"),
    [
        ("F.cross_entropy(output, y)", "(output.argmax(1) == y).sum().item()", "TPU105"),
        ("F.mse_loss(output, y) / 4", "output.mean().item()", "TPU105"),
        ("measured(output, y)", "(output.argmax(1) == y).sum().item()", "none"),  # of which nobody knows what it does
        ("F.cross_entropy(output.logits, y)", "len(output)", "none"),
    ],
)
def test_what_a_loss_is_computed_of(tmp_path: Path, loss: str, read: str, mark: str) -> None:
    """What runs the model is not known: ``with copied(model) as run:``."""
    main = f"""\
        import torch
        import torch.nn.functional as F
        from torch import nn
        from libraries import copied, draw, measured

        def train(model: nn.Module, optimizer, hits):
            model.to(torch.device("cuda"))
            for step in range(9):
                x, y = draw(step)
                optimizer.zero_grad()
                with copied(model) as run:
                    output = run(x)
                    loss = {loss}
                    hits.append({read})  # {mark}
                    loss.backward()
                optimizer.step()
        """
    agree(tmp_path, "TPU101,TPU105", main=main)


def test_modules_without_weights_compute_where_their_input_lies(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    for x, y in loader:
        out = model(x.to(device))
        F.mse_loss(out, y.to(device)).backward()
        optimizer.step()
        kept = out.detach().cpu()  # TPU101
        shares = nn.Softmax(dim=1)(kept)
        print(shares.max().item(), nn.MSELoss()(kept, y).item())
        print(nn.Softmax(dim=1)(out).max().item())  # TPU101
    """
    )
    agree(tmp_path, "TPU101", main=program)


def test_a_device_of_the_host_that_an_object_keeps(tmp_path: Path) -> None:
    """What comes to the loss by ``.to(loss_device)`` is on the host."""
    agree(
        tmp_path,
        "TPU017,TPU101,TPU203",
        similarity="""
    import numpy as np
    import torch
    from torch import nn

    class Similarity(nn.Module):
        def __init__(self, device, loss_device):
            super().__init__()
            self.loss_device = loss_device
            self.body = nn.Linear(4, 4).to(device)

        def loss(self, rows):
            table = torch.zeros(6, 6).to(self.loss_device)
            others = 1 - np.eye(6, dtype=int)
            for at in range(6):
                mask = np.where(others[at])[0]
                table[mask, at] = (rows[mask] * rows[at]).sum(dim=1)
            return table.mean(), table.detach().numpy()

    """,
        main="""
    import torch
    from similarity import Similarity

    device = torch.device("cuda")
    loss_device = torch.device("cpu")
    model = Similarity(device, loss_device)
    optimizer = torch.optim.Adam(model.parameters())
    for x in loader:
        rows = model.body(x.to(device))
        loss, table = model.loss(rows.to(loss_device))
        loss.backward()
        optimizer.step()
    """,
    )


@pytest.mark.parametrize(("chosen", "told"), [("", " # TPU101"), ("if given:\n    loss_device = given.device\n", "")])
def test_a_device_of_the_host_in_a_variable(tmp_path: Path, chosen: str, told: str) -> None:
    program = f"""\
import torch
from torch import nn

loss_device = torch.device("cpu")
{chosen}
model = nn.Linear(4, 4).to("cuda")
optimizer = torch.optim.Adam(model.parameters())
for x in loader:
    loss = model(x.to("cuda")).to(loss_device).square().mean(){told}
    loss.backward()
    optimizer.step()
"""
    agree(tmp_path, "TPU101", main=program)


def test_what_the_other_branch_of_a_condition_gives(tmp_path: Path) -> None:
    """It has not run where its ``else`` does, unless an earlier turn of a loop came to it."""
    program = (
        SETUP
        + """
    def moved(x, kind):
        x = x.cpu()
        if kind == "half":
            x = x.half().to(device)
        elif kind == "double":
            x = x.type(torch.DoubleTensor).to(device)
        else:
            x = x.type(torch.FloatTensor).to(device)
        return x

    def moved_in_turn(x, kinds):
        for kind in kinds:
            if kind == "half":
                x = x.half().to(device)
            else:
                x = x.type(torch.FloatTensor)  # TPU101

    for x, y in loader:
        loss = F.mse_loss(model(moved(x, "half")), y.to(device))
        loss.backward()
        optimizer.step()
        moved_in_turn(y.to(device), ["half", "float"])
    """
    )
    agree(tmp_path, "TPU101,TPU103", main=program)


def test_tensors_made_of_tensors_are_where_these_are(tmp_path: Path) -> None:
    """A tensor of a parameter is mostly one of a list."""
    agree(
        tmp_path,
        main=SETUP
        + """
    def show(lengths):
        print(torch.tensor(lengths).sum().item())

    shown = 0
    for x, y, names in loader:
        out = model(x.to(device))
        right = out.argmax(1) == y.to(device)
        part = torch.tensor(right, dtype=torch.float32).mean()
        count = torch.as_tensor([len(name) for name in names]).sum()
        shown = shown + count.item()
        show([len(name) for name in names])
        if part > shown:  # TPU103
            shown = 0
        out.mean().backward()
        optimizer.step()
    """,
    )


def test_what_a_network_writes_into_a_memory_is_no_text(tmp_path: Path) -> None:
    agree(
        tmp_path,
        "TPU102",
        main=SETUP
        + """
    class Memory(nn.Module):
        def __init__(self):
            super().__init__()
            self.write = nn.Linear(4, 4)
            self.seen = []

        def forward(self, x):
            read = x * 2
            self.write(read)
            return self.write(read)

    memory = Memory().to(device)
    for x, y in loader:
        loss = memory(x.to(device)).mean()
        file.write(loss)  # TPU102
        loss.backward()
        optimizer.step()
    """,
    )


def test_the_terms_of_a_loss_that_a_function_returns(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    nets = {"d": model}

    def losses(nets, x, scale):
        real = adversarial(nets["d"](x), 1)
        fake = adversarial(nets["d"](-x), 0)
        weight = scale.item()
        loss = real + 0.5 * fake
        return loss, dict(real=real.item(), fake=fake.item())  # TPU101

    def adversarial(logits, target):
        return F.mse_loss(logits, torch.full_like(logits, target))

    def counts(answers):
        right = answers["right"].sum()
        return right + answers["wrong"].sum(), dict(right=right.item())

    for x, y in loader:
        loss, parts = losses(nets, x.to(device), y)
        number, shares = counts(y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
    )
    agree(tmp_path, main=program)


def test_a_term_that_a_branch_adds_to_a_loss(tmp_path: Path) -> None:
    """Models and criteria stand in dictionaries that nobody sees into."""
    program = """\
    import torch


    class Trainer:
        def __init__(self, models, criteria, optimizers, device):
            self.models, self.criteria, self.optimizers = models, criteria, optimizers
            self.device, self.steps = device, 0

        def step(self, x, sizes):
            x = x.to(self.device)
            y = self.models["generator"](x)
            loss = self.criteria["mse"](y, x)
            if self.steps > 4:
                adversarial = self.criteria["mse"](self.models["critic"](y), x)
                self.note(adversarial.item())  # TPU101
                loss += 0.5 * adversarial
                lengths = self.count(sizes)
                self.note(lengths.item())
                total = 0
                total += lengths
            self.optimizers["generator"].zero_grad()
            loss.backward()
            self.optimizers["generator"].step()
            self.steps += 1


    device = torch.device("cuda")
    trainer = Trainer(made(device), criteria(), optimizers(), device)
    for x, sizes in batches():
        trainer.step(x, sizes)
    """
    agree(tmp_path, main=program)


def test_what_a_number_of_the_host_stands_in_for(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    for x, y in loader:
        loss = F.mse_loss(model(x.to(device)), y.to(device))
        if y.size(0) > 4:
            extra = model(x.to(device)).mean()
            right = model(x.to(device)) > 0
            loss = loss + extra
        else:
            extra = torch.tensor(0)
            right = torch.tensor([0.0])
        if y.size(0) > 8:
            length = torch.tensor(y.size(0))
            kept = model(x.to(device)).mean().cpu()
        else:
            length = torch.tensor(0)
            kept = torch.tensor(0)
        sums.append((extra.item(), length.item(), kept.item()))  # TPU101
        counts.append((right.sum().item(), y[0].item()))  # TPU101
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
    )
    text = program.replace("kept = model(x.to(device)).mean().cpu()", "kept = x.mean()")
    agree(tmp_path, main=text)


def test_a_stand_in_is_returned_with_the_others(tmp_path: Path) -> None:
    program = dedent(
        SETUP
        + """
    def run(x, y):
        loss = F.mse_loss(model(x.to(device)), y.to(device))
        if y.size(0) > 4:
            extra = model(x.to(device)).mean()
            extra.backward()
        else:
            extra = torch.tensor([0.0])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item(), extra.item()

    def train(loader):
        for i, (x, y) in enumerate(loader):
            loss, extra = run(x, y)
            if i % 100 == 0:
                print(loss, extra)

    train(loader)
    """
    )
    (tmp_path / "main.py").write_text(program)
    tpulint("--fix", "--unsafe-fixes", "main.py", cwd=tmp_path)
    fixed = (tmp_path / "main.py").read_text()
    assert "return loss.detach(), extra.detach()\n" in fixed
    assert "print(loss.item(), extra.item())\n" in fixed


def test_what_an_object_of_another_file_gives_when_it_is_called(tmp_path: Path) -> None:
    guessing = """\
    import torch


    class Guessor:
        def __init__(self, least):
            self.least = least

        def __call__(self, model, x):
            scores, found = torch.max(model(x), dim=1)
            return found.detach(), scores > self.least, scores.shape


    class Norm:
        def __init__(self, scale):
            self.scale = scale

        def __call__(self, x):
            return x / self.scale
    """
    program = (
        SETUP
        + """
    from guessing import Guessor, Norm

    guess, norm = Guessor(0.5), Norm(2.0)
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        found, is_sure, shape = guess(model, x)
        rows = norm(x)[is_sure]  # TPU203
        first = x[shape[0] // 2]
        if norm(x).mean() > 0:  # TPU103
            F.mse_loss(model(norm(x)), y).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, main=program, guessing=guessing)


@pytest.mark.parametrize(
    ("given", "mark"),
    [
        ("dict(total=far + wide, far=far.mean())", "  # TPU103"),
        ('{"total": far + wide, "far": far.mean()}', "  # TPU103"),
        ("dict(total=far + wide, far=3)", ""),
    ],
)
@pytest.mark.parametrize("call", ["net.forward(x)", "net(x)"])
def test_parts_of_a_dictionary_that_a_module_of_another_file_returns(
    tmp_path: Path, given: str, mark: str, call: str
) -> None:
    net = f"""\
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x):
            out = self.layer(x)
            far, wide = out.pow(2).mean(), out.abs().mean()
            return {given}
    """
    program = f"""
    from net import Net

    net = Net().to(device)
    optimizer = torch.optim.Adam(net.parameters())
    for x in samples:
        x = x.to(device)
        optimizer.zero_grad()
        parts = {call}
        parts["total"].backward()
        if parts["far"] < 4:{mark}
            optimizer.step()
    """
    agree(tmp_path, "TPU103", main=SETUP + program, net=net)


@pytest.mark.parametrize(
    "made", ["build(model.parameters()) if build else None", "None if build is None else build(model)"]
)
def test_what_an_option_leaves_out_is_what_it_is_otherwise(tmp_path: Path, made: str) -> None:
    program = f"""
    def load(build=None):
        optimizer = {made}
        return model, optimizer

    def train(model, optimizer):
        for x in samples:  # TPU301
            optimizer.zero_grad()
            loss = model(x.to(device)).mean()
            loss.backward()
            optimizer.step()
            print(loss.item())  # TPU101

    model, optimizer = load(choose())
    train(model, optimizer)
    """
    agree(tmp_path, "TPU101,TPU301", main=SETUP + program)


@pytest.mark.parametrize(("rest", "mark"), [("unique = set(nodes)", ""), ("unique = len(nodes)", "  # TPU101")])
def test_what_a_forward_pass_puts_in_a_set_is_no_tensor(tmp_path: Path, rest: str, mark: str) -> None:
    program = f"""
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x, nodes):
            {rest}
            rows = [int(node) for node in nodes]{mark}
            return self.layer(x)[rows]

    model = Net().to(device)
    for x, nodes in samples:
        optimizer.zero_grad()
        model(x.to(device), nodes).mean().backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU101", main=SETUP + program)


def test_one_of_several_values_that_a_function_of_another_file_makes_of_what_it_is_given(tmp_path: Path) -> None:
    others = """\
    import torch

    def with_mask(x):
        x = x.squeeze(dim=1)
        x = x.transpose(1, 0)
        return x, x != 0

    def with_table(x):
        return table, x.size(0)
    """
    train = SETUP + dedent(
        """\
        from others import with_mask, with_table

        for x, y in torch.utils.data.DataLoader(rows):
            x, mask = with_mask(x)
            y, count = with_table(y)
            if device == torch.device("cuda"):
                x = x.to(device)
                y = y.to(device)
            kept = x[:, 0][x[:, 0] != 0]  # TPU203
            others = y[:, 0][y[:, 0] != 0]
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
        """
    ).replace("\n", "\n    ")
    agree(tmp_path, select="TPU203", train=train, others=others)


def test_a_batch_that_an_option_moves_within_another_block(tmp_path: Path) -> None:
    train = (
        SETUP
        + """
    for x, y in torch.utils.data.DataLoader(rows):
        y = y.squeeze(-1)
        if args.use_cuda:
            with torch.cuda.device(0):
                x, y = x.cuda(), y.cuda()
                if args.is_class:
                    y = y.long()
        kept = y[y != 0]  # TPU203
        {other}
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
    """
    )
    agree(tmp_path, select="TPU203", train=train.format(other=""))
    by_another = train.replace("y = y.squeeze(-1)", "y = read(x)").replace("x.cuda(), y.cuda()", "x.cuda(), rows[0].y")
    agree(tmp_path, select="TPU203", train=by_another.replace("  # TPU203", "").format(other=""))


@pytest.mark.parametrize(
    ("place", "mark"), [("self._cpu_device", ""), ("self.host_device", ""), ("self.cpu_or_gpu", "  # TPU101")]
)
def test_a_device_of_the_host_by_its_name(tmp_path: Path, place: str, mark: str) -> None:
    """A base class of another file may set it."""
    program = f"""
    from evaluating import Evaluator

    class Scorer(Evaluator):
        def add(self, outputs):
            for output in outputs:
                scores = output["scores"].to({place})
                print(scores.tolist()){mark}

    scorer = Scorer()
    with torch.no_grad():
        for x in samples:
            scorer.add(model(x.to(device)))
    """
    agree(tmp_path, "TPU101", main=SETUP + program)


@pytest.mark.parametrize(
    ("grows", "mark"),
    [
        ("turn += 1\n        if turn > 6:\n            turn = 0", "  # TPU217"),
        ("if mean < 0.1:\n            turn += 1\n        if turn > 6:\n            turn = 6", ""),
    ],
)
def test_a_stage_of_a_training_is_the_same_for_many_turns(tmp_path: Path, grows: str, mark: str) -> None:
    net = f"""\
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(7))

        def forward(self, x, turn=0):
            for at in range(turn, -1, -1):{mark}
                x = self.layers[at](x)
            return x
    """
    program = f"""
    from net import Net

    net = Net().to(device)
    turn, mean = 0, 1.0
    for x in samples:
        optimizer.zero_grad()
        net(x.to(device), turn=turn).mean().backward()
        optimizer.step()
        {grows}
    """
    agree(tmp_path, "TPU217", main=SETUP + program, net=net)


@pytest.mark.parametrize(
    ("dealt", "place", "mark"),
    [
        ("for feature, label in zip(features, labels):", "label", "  # TPU201"),
        ("for row, score in zip(labels, scores): for label, one in zip(row, score):", "label", ""),
    ],
)
def test_labels_of_which_a_sample_has_several(tmp_path: Path, dealt: str, place: str, mark: str) -> None:
    """They are a list, whose numbers are on the host."""
    rows, _, within = dealt.partition(": ")
    inner = f"{rows}:\n            {within}\n                " if within else f"{dealt}\n            "
    program = f"""
    centers = torch.zeros(10, 4, device=device)
    for x, labels, scores in samples:
        labels, scores = labels.to(device), scores.to(device)
        features = model(x.to(device))
        optimizer.zero_grad()
        features.mean().backward()
        optimizer.step()
        {inner}centers[{place}] = 0.9 * centers[{place}]{mark}
    """
    agree(tmp_path, "TPU201", main=SETUP + program)


LISTED_LAYERS = """\
    class Stack(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
            self.heads = nn.ModuleDict({"first": nn.Linear(4, 4)})

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
                print(x)  # TPU102
            for layer in self.layers[1:]:
                print(layer(x))  # TPU102
            for number, layer in enumerate(self.layers):
                print(number, layer.in_features)
            for name in self.heads:
                print(name)
            return x


    stack = Stack().to(device)
    for x, y in batches:
        loss = F.mse_loss(stack(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
    """


def test_what_an_element_of_a_list_of_modules_computes(tmp_path: Path) -> None:
    agree(tmp_path, "TPU102", main=dedent(SETUP) + dedent(LISTED_LAYERS))


DRAWN = """\
    batches = iter(loader)
    for step in range(len(loader)):
        x, y = DRAW
        x, y = x.to(device), y.to(device)
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        print(y)MARK
    """


@pytest.mark.parametrize(
    ("draw", "mark"),
    [
        ("next(batches)", "  # TPU102"),
        ("batches.next()", "  # TPU102"),
        ("batches.__next__()", "  # TPU102"),
        ("queue.next()", ""),
    ],
)
def test_what_an_iterator_of_batches_gives_next(tmp_path: Path, draw: str, mark: str) -> None:
    loader = "loader = torch.utils.data.DataLoader(samples, batch_size=4)\n"
    text = dedent(DRAWN).replace("DRAW", draw).replace("MARK", mark)
    if not mark:
        text = text.replace("    x, y = x.to(device), y.to(device)\n", "    x = x.to(device)\n")
    agree(tmp_path, "TPU102", main=dedent(SETUP) + loader + text)


LEFT_TO_DERIVED = """\
    class Trainer:
        def __init__(self, net, loader):
            self.net = net
            self.loader = loader
            self.optimizer = torch.optim.SGD(net.parameters(), 0.1)

        def loss_of(self, x, y):
            raise NotImplementedError

        def name_of(self, x):
            raise NotImplementedError

        def train(self):
            for x, y in self.loader:
                x, y = x.to(device), y.to(device)
                output, loss = self.loss_of(x, y)
                print(f"{self.name_of(x)} {loss:.3f}")  # TPU102


    class Plain(Trainer):
        def loss_of(self, x, y):
            output = self.net(x)
            loss = F.mse_loss(output, y)
            loss.backward()
            self.optimizer.step()
            return output, loss

        def name_of(self, x):
            return "plain"


    class Weighted(Plain):
        def loss_of(self, x, y):
            output = self.net(x)
            loss = F.mse_loss(output, y) * 2
            loss.backward()
            self.optimizer.step()
            return output, loss

        def name_of(self, x):
            return "weighted"


    Weighted(model, batches).train()
    """


def test_what_methods_of_derived_classes_give_for_one_without_a_body(tmp_path: Path) -> None:
    agree(tmp_path, "TPU102", main=dedent(SETUP) + dedent(LEFT_TO_DERIVED))


@pytest.mark.parametrize(
    ("converted", "is_read"),
    [
        ("weights.to(dtype)", False),
        ("weights.to(out.dtype)", False),
        ("weights.to(self_dtype)", False),
        ("weights.type(other.type())", False),
        ("out.to(dtype)", True),
        ("out.type(other.type()).to(device)", True),
        ("weights.type(out.type())", True),
        ("weights.type_as(out)", True),
        ("weights.to(out)", True),
        ("weights.to(place)", True),
        ("weights.type(dtype)", True),
    ],
)
def test_what_is_only_given_another_dtype_stays_where_it_is(tmp_path: Path, converted: str, is_read: bool) -> None:
    program = (
        SETUP
        + f"""
    for x, y in loader:
        out = model(x.to(device))
        weights = torch.rand(4)
        other = torch.rand(4)
        F.mse_loss(out, y.to(device)).backward()
        if ({converted}).max() > 0.5:{"  # TPU103" * is_read}
            print("much")
        optimizer.step()
    """
    )
    agree(tmp_path, main=program)


@pytest.mark.parametrize(
    ("asked", "is_told"),
    [
        ("results[-1].loss", True),
        ("results[0].loss", False),  # of another element nobody knows
        ("results[-1].size", False),
        ("results[turn].loss", False),
    ],
)
def test_losses_of_objects_in_a_list(tmp_path: Path, asked: str, is_told: bool) -> None:
    """Gradients go back through it, so that it is a tensor of the step."""
    program = f"""
    for turn, (x, y) in enumerate(loader):
        results = []
        results.append(run(model, x.to(device), y))
        assert torch.isfinite({asked}){"  # TPU103" if is_told else ""}
        results[-1].loss.backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU103", main=SETUP + program)


ASKED = """\
    class Prior(nn.Module):
        def __init__(self):
            super().__init__()
            self.place = nn.Parameter(torch.zeros(1, 3))

        def forward(self, x):
            QUESTION:
                count = BODY
            else:
                count = OTHER
            return self.place.expand((count, 3))


    prior = Prior().to(device)
    for x, y in batches:
        loss = F.mse_loss(prior(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
    """


@pytest.mark.parametrize(
    ("question", "body", "other"),
    [
        ("if torch.is_tensor(x)", "x.shape[0]", "int(x)"),
        ("if isinstance(x, torch.Tensor)", "int(x)  # TPU101", "int(x)"),
        ("if not torch.is_tensor(x)", "int(x)", "int(x)  # TPU101"),
        ("if len(x) > 3", "x.shape[0]", "int(x)  # TPU101"),
        ("if torch.is_tensor(self.place)", "x.shape[0]", "int(x)  # TPU101"),
    ],
)
def test_what_a_condition_has_found_to_be_no_tensor(tmp_path: Path, question: str, body: str, other: str) -> None:
    text = dedent(ASKED).replace("QUESTION", question).replace("BODY", body).replace("OTHER", other)
    agree(tmp_path, "TPU101", main=dedent(SETUP) + text)


def test_a_variable_that_is_bound_to_a_call_of_itself(tmp_path: Path) -> None:
    """Beside a function that makes another, what it calls was asked for without an end."""
    text = """
        import torch

        def load(path):
            model = model({})
            return model

        @torch.no_grad()
        def show(model, images, device="cuda"):  # TPU001
            model = model.to(device)
            logits = model(images.to(device))
            for row in range(3):
                print(logits[row].cpu())

        def unwrap(name):
            def decorator(kind):
                first = kind.__init__

                def __init__(self, *args):
                    first(self, *args)
                    model = getattr(self, name)
                    setattr(self, name, Wrapper(model))
                kind.__init__ = __init__
                return kind
            return decorator
        """
    agree(tmp_path, "TPU001", main=text)


MEAN_METER = """\
    class Meter:
        def __init__(self):
            self.total = self.steps = 0

        def update(self, value):
            self.total += value
            self.steps += 1

        def mean(self):
            return self.total / float(self.steps)

        def text(self):
            return "%.3f" % self.total  # TPU102

        def steps_done(self):
            return self.steps

        def __call__(self):
            return self.mean() if self.steps == 0 else self.total / self.steps
    """


def test_what_a_meter_of_another_file_shows_when_it_is_asked(tmp_path: Path) -> None:
    program = """
    from meter import Meter

    shown, counted = Meter(), Meter()
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        shown.update(loss.detach())
        counted.update(len(x))
        print("{:.3f}".format(shown.mean()))  # TPU102
        print("{:.3f}".format(shown()))  # TPU102
        print("{} {}".format(shown.steps_done(), counted.mean()))
        print(shown.text())
    """
    agree(tmp_path, main=SETUP + program, meter=MEAN_METER)


def test_what_is_moved_to_where_a_parameter_is(tmp_path: Path) -> None:
    actor = """
    from torch import nn
    from torch.distributions import Categorical


    class Actor(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, state):
            return self.layer(state).softmax(-1)

        def chosen(self, state):
            odds = self.forward(state)
            action = Categorical(odds, validate_args=False).sample().to(state.device)
            return action.detach().cpu(), odds  # TPU101
    """
    program = """
    from actor import Actor

    actor = Actor().to(device)
    optimizer = torch.optim.Adam(actor.parameters())


    def learn(experiences):
        states, rewards = experiences
        _, odds = actor.chosen(states)
        optimizer.zero_grad()
        (odds * rewards).sum().backward()
        optimizer.step()


    for _ in range(100):
        learn(memory.sample())
    """
    agree(tmp_path, main=SETUP + program, actor=actor)


def test_what_is_sorted(tmp_path: Path) -> None:
    program = """
    for x in loader:
        losses = {"first": model(x.to(device)).mean()}
        losses["first"].backward()
        optimizer.step()
        for name, value in sorted(losses.items(), key=lambda item: item[0]):
            print(name, value.item())  # TPU101
        for name in sorted(losses):
            print(name)


    def train(model, loader, optimizer):
        for x, y in loader:
            x, y = x.cuda(), y.cuda()
            parts = model(x, y)
            loss = parts["first"]
            loss.backward()
            optimizer.step()
            for name, value in sorted(parts.items()):
                print(name, value.item())  # TPU101
    """
    agree(tmp_path, main=SETUP + program)


def test_defaults_tell_what_is_kept(tmp_path: Path) -> None:
    """Of a parameter that no call gives, and of an option that may not be there."""
    program = """
    class Loss:
        def __init__(self):
            self.criterion = nn.NLLLoss()
            self.sum = 0

        def add(self, out, y):
            self.sum = self.criterion(out, y)

        def get(self):
            return self.sum.item()  # TPU101


    class Trainer:
        def __init__(self, args, loss=Loss()):
            self.loss = loss
            self.other = getattr(args, "criterion", nn.MSELoss())
            self.name = getattr(args, "name", "net")

        def step(self, x, y):
            out = model(x)
            self.loss.add(out, y)
            extra = self.other(out, y)
            print(extra.item())  # TPU101
            optimizer.zero_grad()
            self.loss.sum.backward()
            optimizer.step()
            return self.loss.get()

        def train(self, loader):
            for x, y in loader:
                self.step(x.to(device), y.to(device))

    Trainer(args).train(loader)
    """
    agree(tmp_path, main=SETUP + program)


@pytest.mark.parametrize("shown", ['getattr(net, "module", net).size()', "net.train().size()", "made.size()"])
@pytest.mark.parametrize("kind", ["Net", "Other"])
def test_methods_of_what_is_under_a_wrapper(tmp_path: Path, shown: str, kind: str) -> None:
    """Of a class nobody sees nothing is told."""
    program = f"""
    from elsewhere import Other

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 1)

        def forward(self, x):
            return self.layer(x)

        def size(self):
            return self.layer.weight.norm().item(){"  # TPU101" if kind == "Net" else ""}

    net = {kind}().to(device)
    made = getattr(net, "module", net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(net(x.to(device)), y.to(device)).backward()
        optimizer.step()
        print({shown})
    """
    agree(tmp_path, "TPU101", main=SETUP + program)


@pytest.mark.parametrize(
    ("device", "is_told"),
    [("torch.cuda.current_device()", True), ("torch.device('cuda')", True), ("torch.device('cpu')", False)],
)
def test_a_device_that_a_branch_puts_in_the_place_of_the_host(tmp_path: Path, device: str, is_told: bool) -> None:
    program = f"""\
        import torch
        from torch import nn

        class Learner(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 4)
                self.device = torch.device("cpu")
                if torch.cuda.is_available():
                    self.device = {device}
                    self.to(self.device)

            def step(self, x):
                x = x.to(device=self.device)
                print(x.sum().item()){"  # TPU101" if is_told else ""}
                return self.layer(x).mean()

        learner = Learner()
        optimizer = torch.optim.SGD(learner.parameters(), lr=0.1)
        for x in torch.utils.data.DataLoader(data, batch_size=8, drop_last=True):
            loss = learner.step(x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """
    agree(tmp_path, "TPU101", main=program)
