"""Loops that run a model batch by batch without training it: which ones they are, and where their boundaries go."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint
from marked_files import agree

CODES = "TPU301,TPU302"
EPOCHS = """\
    import torch
    from torch import nn
    from torch.utils.data import DataLoader
    from estimates import with_estimate

    def announced(text, it):
        for k, item in enumerate(it):
            print(text)
            yield k, item

    def endless(model, steps):
        for _ in steps:
            yield model

    class App:
        def __init__(self, data):
            self.device = torch.device("cuda")
            self.model = nn.Linear(4, 2).to(self.device)
            self.valid = DataLoader(data, batch_size=8)

        def loss_of(self, batch, sums):
            x, y = batch
            loss = nn.functional.cross_entropy(self.model(x.to(self.device)), y.to(self.device))
            sums[0] = loss.detach()
            return loss

        def note(self, batch):
            print(batch)

        def validate(self, sums, options):
            with torch.no_grad():
                self.model.eval()
                LOOP:
                    CALL
    """


@pytest.mark.parametrize(
    ("loop", "call", "is_told"),
    [
        ("for batch in self.valid", "self.loss_of(batch, sums)", True),
        ("for k, batch in announced('valid', self.valid)", "self.loss_of(batch, sums)", True),
        ("for k, batch in announced('valid', it=self.valid)", "self.loss_of(batch, sums)", True),
        ("for k, batch in with_estimate(self.valid, desc='valid')", "self.loss_of(batch, sums)", True),
        ("for batch in self.valid", "sums.append(options.criterion(self.model, batch[0].to(self.device)))", True),
        ("for batch in self.valid", "options.show(self.model, batch)", False),  # of nobody knows what
        ("for batch in self.valid", "self.note(batch)", False),  # it runs no model
        ("for batch in options.parts", "self.loss_of(batch, sums)", False),  # of nobody knows what
        ("for model in endless(self.valid, options)", "self.loss_of(model, sums)", False),  # it does not go over it
    ],
)
def test_loss_that_a_method_computes(tmp_path: Path, loop: str, call: str, is_told: bool) -> None:
    estimates = """\
        def with_estimate(it, desc):
            for k, item in enumerate(it):
                print(desc, k)
                yield k, item
        """
    text = EPOCHS.replace("LOOP:", f"{loop}:{'  # TPU302' if is_told else ''}").replace("CALL", call)
    agree(tmp_path, select=CODES, estimates=estimates, train=text)


def test_boundary_behind_the_method(tmp_path: Path) -> None:
    text = EPOCHS.replace("LOOP", "for batch in self.valid").replace("CALL", "self.loss_of(batch, sums)")
    agree(tmp_path, select="TPU301", train=text)
    tpulint("--fix", "--select", CODES, ".", cwd=tmp_path)
    assert (tmp_path / "train.py").read_text().endswith(
        "            for batch in self.valid:\n"
        "                self.loss_of(batch, sums)\n"
        "                torch_xla.sync()\n"
    )  # fmt: skip


FISHER = """\
    import torch
    from torch import nn

    device = torch.device("cuda")

    def importance(model, LOADER, optimizer, fisher):
        for x, y in LOADER:
            model.zero_grad()
            loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            for n, p in model.named_parameters():
                GATHER
    """


@pytest.mark.parametrize(
    ("gather", "loader", "is_told"),
    [
        ("fisher[n] += p.grad.detach() ** 2", "train_loader", True),
        ("fisher[n].data += p.grad.data.pow(2) / len(train_loader)", "train_loader", True),
        ("fisher[n].add_(p.grad ** 2)", "train_loader", True),
        ("fisher[n] += p.grad.detach() ** 2", "samples", False),  # of which nobody knows whether they are batches
        ("p.data += fisher[n] * p.grad", "train_loader", False),  # it changes the parameter
        ("print(p.grad.norm())", "train_loader", False),
    ],
)
def test_loop_that_adds_up_gradients(tmp_path: Path, gather: str, loader: str, is_told: bool) -> None:
    text = FISHER.replace("LOADER:", f"{loader}:{'  # TPU302' if is_told else ''}")
    agree(tmp_path, select=CODES, train=text.replace("LOADER", loader).replace("GATHER", gather))
    tpulint("--fix", "--select", CODES, ".", cwd=tmp_path)
    behind = f"            {gather}\n        torch_xla.sync()\n"
    assert (tmp_path / "train.py").read_text().endswith(behind) == is_told


def test_loop_that_adds_up_gradients_and_updates(tmp_path: Path) -> None:
    text = FISHER.replace("LOADER:", "train_loader:  # TPU301").replace("LOADER", "train_loader")
    agree(
        tmp_path,
        select=CODES,
        train=text.replace("GATHER", "fisher[n] += p.grad ** 2") + "            optimizer.step()\n",
    )


@pytest.mark.parametrize(("rows", "is_inner"), [("out", False), ("x", True)])
def test_what_a_model_gives_is_gone_through_by_number(tmp_path: Path, rows: str, is_inner: bool) -> None:
    """The boundary belongs behind the batch: each head is a part of one graph."""
    program = """\
    import torch
    from torch import nn

    device = torch.device("cuda")
    model = nn.Linear(4, 4).to(device)
    softmax = nn.Softmax(dim=1).to(device)
    model.eval()
    kept = []
    with torch.no_grad():
        for x in loader:  # TPU302
            out = model(x.to(device))
            for b in range(heads):INNER
                kept.append(softmax(ROWS[b].to(device)))
    """.replace("ROWS", rows)
    agree(tmp_path, select=CODES, main=program.replace("INNER", "  # TPU302" if is_inner else ""))


def test_one_part_of_every_batch_is_given_to_the_model(tmp_path: Path) -> None:
    program = """\
    import torch

    device = torch.device("cuda")
    model = torch.nn.Linear(4, 4).to(device)
    model.eval()
    kept = []
    with torch.no_grad():
        for batch in loader:  # TPU302
            for i, part in enumerate(batch):
                if i == 0:
                    part = model(part.to(device)).cpu()  # TPU101
                kept.append(part)
        for i, batch in enumerate(loader):  # TPU302
            for part in batch:
                if i == 0:
                    print(model(part.to(device)).cpu())
        for images, labels in loader:
            for image in images:  # TPU302
                kept.append(model(image.to(device)).cpu())  # TPU101
    """
    agree(tmp_path, "TPU101,TPU102,TPU302", main=program)


@pytest.mark.parametrize("mode", ["eval", "train"])
def test_a_function_that_is_told_the_mode_of_modules(tmp_path: Path, mode: str) -> None:
    """``set_mode("eval", [encoder, head])``, and a loop over two loaders at once whose parts run elsewhere."""
    program = """\
    import torch

    device = torch.device("cuda")

    def test(encoder: torch.nn.Module, head: torch.nn.Module, first_loader, second_loader):
        set_mode("eval", [encoder, head])
        right = 0
        for step, (first, second) in enumerate(zip(first_loader, second_loader)):
            out = run(encoder, head, first.to(device))
            right += out.eq(second.to(device)).sum().item()  # TPU104
        return right

    def run(encoder, head, x):
        return head(encoder(x)).argmax(1)
    """
    told = program if mode == "eval" else program.replace("  # TPU104", "")
    agree(tmp_path, "TPU104", main=told.replace('"eval"', f'"{mode}"'))


@pytest.mark.parametrize(("step", "is_told"), [("forward", False), ("move", True)])
def test_a_forward_pass_that_an_evaluation_calls_too(tmp_path: Path, step: str, is_told: bool) -> None:
    """Who runs the module in training is not in sight: a boundary in its loop would cut those steps."""
    program = """\
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.Linear(4, 4)

        @torch.no_grad()
        def sample(self, x):
            return self.STEP(x)

        def STEP(self, x):
            out = []
            for part in x.split(4, dim=1):
                out.append(self.cell(part))
            return torch.cat(out, 1)

    net = Net().to("cuda")
    """
    told = program.replace("dim=1):", "dim=1):  # TPU302") if is_told else program
    agree(tmp_path, "TPU302", main=told.replace("STEP", step))


def test_evaluations_behind_a_loop_that_calls_its_steps(tmp_path: Path) -> None:
    """Nothing switches gradients off: the loop is told by what it calls, and by the training in front of it."""
    network = """\
    import torch
    from torch import nn

    class Network:
        def __init__(self):
            self.model = nn.Linear(3, 3).cuda()
            self.optimizer = torch.optim.SGD(self.model.parameters(), 0.1)

        def fit(self, x, y):
            self.optimizer.zero_grad()
            loss = (self.model(x.cuda()) - y.cuda()).abs().mean()
            loss.backward()
            self.optimizer.step()
            return loss

        def score(self, x, y):
            return (self.model(x.cuda()) - y.cuda()).abs().mean(), 1
    """
    program = """\
    from network import Network

    def run(train_loader, test_loader, epochs):
        network = Network()
        for epoch in range(epochs):
            for x, y in train_loader:
                loss = network.fit(x, y)
                print(loss.item())  # TPU101
            if epoch % 5 == 0:
                total = 0.0
                for x, y in test_loader:
                    loss, count = network.score(x, y)
                    total += loss.item() / count  # TPU101
                print(total)
        for x, y in test_loader:
            loss, count = network.score(x, y)
            total += loss.item() / count  # TPU101

    def adjust(train_loader, test_loader, losses):
        network = Network()
        for x, y in train_loader:
            network.fit(x, y)
        for x, y in test_loader:
            loss, count = network.score(x, y)
            losses.append(loss.item())
        loss.backward()
    """
    agree(tmp_path, "TPU101,TPU104", main=program, network=network)


HANDED_ON = """\
import torch
import objectives
from torch import nn
from torch.utils.data import DataLoader

device = torch.device("cuda")
model = nn.Linear(4, 4).to(device)
objective = getattr(objectives, "elbo")

def test(data):
    total = 0
    with torch.no_grad():
        for x in DataLoader(data, batch_size=8):{told}
            x = x.to(device)
            loss = -{call}
            total += loss
    return total
"""


@pytest.mark.parametrize(("call", "told"), [("objective(model, x)", "  # TPU302"), ("objective(x)", "")])
def test_loss_that_nobody_knows_and_that_is_given_the_model(tmp_path: Path, call: str, told: str) -> None:
    agree(tmp_path, select=CODES, main=HANDED_ON.format(call=call, told=told))


@pytest.mark.parametrize(
    ("head", "turn", "is_told_of_batches"),
    [
        ("for t in range(steps)", "rate += net(noise(x))", True),
        ("for t in range(steps)", "rate += net(noise(x)).mean().item()", False),  # read in each
        ("for part in x.split(8)", "rate += net(part)", False),  # parts of one batch are given one by one
    ],
)
def test_results_of_one_batch_that_are_added_up(tmp_path: Path, head: str, turn: str, is_told_of_batches: bool) -> None:
    outer, inner = ("  # TPU302", "") if is_told_of_batches else ("", "  # TPU302")
    train = f"""\
        import torch
        from torch import nn
        from torch.utils.data import DataLoader

        device = torch.device("cuda")
        net = nn.Linear(4, 2).to(device)

        def test(data, noise, steps):
            net.eval()
            hits = 0
            with torch.no_grad():
                for x, y in DataLoader(data, batch_size=8):{outer}
                    x, y = x.to(device), y.to(device)
                    rate = 0.0
                    {head}:{inner}
                        {turn}
                    hits += (rate.argmax(1) == y).sum().item()
            return hits
        """
    agree(tmp_path, select=CODES, train=train)


@pytest.mark.parametrize(
    ("kept", "outer", "mark"),
    [
        ("rows.append((sequence + mean).cpu().numpy())", "  # TPU302", "  # TPU101"),
        ("rows.append(sequence)", "", ""),
    ],
)
def test_batches_whose_sequences_a_model_goes_on_with(tmp_path: Path, kept: str, outer: str, mark: str) -> None:
    train = f"""\
        import torch
        from torch import nn

        device = torch.device("cuda")
        net = nn.Transformer(8, 2, 1, 1).to(device)
        mean = torch.zeros(8).to(device)

        def test(val_loader, steps):
            net.eval()
            rows = []
            with torch.no_grad():
                for x in val_loader:{outer}
                    x = x.to(device)
                    sequence = torch.zeros(4, 1, 8, device=device)
                    for t in range(steps):  # TPU302
                        sequence = torch.cat((sequence, net(x, sequence)[:, -1:]), 1)
                    {kept}{mark}
            return rows
        """
    agree(tmp_path, select="TPU101,TPU302", train=train)


@pytest.mark.parametrize(
    ("computed", "outer", "mark"),
    [
        ("criterion(head(torch.cat(parts)), y)", "  # TPU302", "  # TPU104"),
        ("torch.cat(parts).mean()", "", ""),  # the loop computes nothing of its own by a model
    ],
)
def test_what_is_gathered_of_one_bag_is_computed_by_another_model(
    tmp_path: Path, computed: str, outer: str, mark: str
) -> None:
    train = f"""\
        import torch
        from torch import nn

        device = torch.device("cuda")
        body = nn.Linear(4, 4).to(device)
        head = nn.Linear(4, 2).to(device)
        criterion = nn.CrossEntropyLoss()

        def test(bags, y, repeats, chunks):
            body.eval()
            head.eval()
            total = 0.0
            with torch.no_grad():
                for bag in bags:
                    bag = bag.to(device)
                    for repeat in range(repeats):{outer}
                        parts = []
                        for chunk in chunks:  # TPU302
                            parts.append(body(bag.index_select(0, chunk.to(device))))
                        loss = {computed}
                        total += loss.item(){mark}
            return total
        """
    agree(tmp_path, select="TPU104,TPU302", train=train)


@pytest.mark.parametrize(
    ("asked", "behind"),
    [
        ("total /= torch.distributed.get_world_size()", "loss = reduced(out.mean())"),
        ("torch.distributed.barrier()", "loss = reduced(out.mean())"),
        ("torch.distributed.broadcast_object_list([total])", "out = model(x.to(device))"),
    ],
)
def test_what_asks_the_process_group_needs_nothing_of_the_device(tmp_path: Path, asked: str, behind: str) -> None:
    (tmp_path / "train.py").write_text(f"""\
import torch

device = torch.device("xla")
model = torch.nn.Linear(4, 2).to(device)


def reduced(tensor):
    total = tensor.clone()
    torch.distributed.all_reduce(total)
    {asked}
    return total


model.eval()
with torch.no_grad():
    for x in loader:
        out = model(x.to(device))
        loss = reduced(out.mean())
        print(loss.item())
""")
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU302", ".", cwd=tmp_path)
    assert f"        {behind}\n        torch_xla.sync()\n" in (tmp_path / "train.py").read_text()


_SOMETIMES = "if i % 10 == 0:\n                    model.sample(x)"


@pytest.mark.parametrize(
    ("turn", "call", "is_told"),
    [
        ("x = self.p_sample(x, t)", _SOMETIMES, True),
        ("new = self.p_sample(x, t)\n                    x = new", _SOMETIMES, True),
        ("x = self.p_sample(x, t)", "model.sample(x)", False),  # a part of every training step
        ("found.append(self.p_sample(first, t))", _SOMETIMES, False),
        ("found = [self.p_sample(item, t) for item in found]", _SOMETIMES, False),
        ("x = self.keep(x, t)", _SOMETIMES, False),
    ],
)
def test_a_sample_that_is_made_step_by_step(tmp_path: Path, turn: str, call: str, is_told: bool) -> None:
    train = f"""\
        import torch
        from torch import nn

        class Diffusion(nn.Module):
            def __init__(self, net: nn.Module):
                super().__init__()
                self.net = net

            def forward(self, x):
                return self.net(x).pow(2).mean()

            def p_sample(self, x, t):
                return x - self.net(x) / t

            def keep(self, x, t):
                return x * t

            @torch.no_grad()
            def sample(self, x):
                found, first = [], x
                for t in range(1, 1000):{"  # TPU302" if is_told else ""}
                    {turn}
                return x, found

        model = Diffusion(nn.Linear(4, 4)).cuda()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for i, x in enumerate(loader):
                x = x.cuda()
                {call}
                optimizer.zero_grad()
                model(x).backward()
                optimizer.step()
                torch_xla.sync()
        """
    agree(tmp_path, select="TPU302", train=train)


def test_a_tensor_decides_in_a_function_that_every_turn_of_an_evaluation_runs(tmp_path: Path) -> None:
    train = """\
        import torch
        from torch import nn

        device = torch.device("cuda")
        net = nn.Linear(4, 4).to(device)

        def moved(x, t):
            y = net(x)
            if t == 0:  # TPU103
                return y
            if x.shape[0] == 1:
                return y * 2
            return y + torch.randn_like(x)

        @torch.no_grad()
        def sample(x):
            times = torch.linspace(1.0, 0.0, 10, device=device)
            for i in range(10):
                x = moved(x, times[i])
            return x
        """
    agree(tmp_path, select="TPU103", train=train)


@pytest.mark.parametrize(
    ("turn", "last", "is_told"),
    [
        ("tokens = torch.cat([tokens, logits.argmax(-1)], 1)", "print(tokens.tolist())", True),
        ("found.append(logits)", "print(found)", False),  # it gives the model nothing of its own
        ("tokens = torch.cat([tokens, logits.argmax(-1)], 1)", "logits.sum().backward()", False),
    ],
)
def test_a_text_that_is_gone_on_with_behind_the_training(tmp_path: Path, turn: str, last: str, is_told: bool) -> None:
    train = f"""\
        import torch
        from torch import nn

        model = nn.Sequential(nn.Embedding(10, 8), nn.Linear(8, 10)).cuda()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for x in loader:
            optimizer.zero_grad()
            model(x.cuda()).sum().backward()
            optimizer.step()
            torch_xla.sync()

        tokens, found = torch.ones(1, 2, dtype=torch.long).cuda(), []
        for _ in range(40):{"  # TPU302" if is_told else ""}
            logits = model(tokens)
            {turn}
        {last}
        """
    agree(tmp_path, select="TPU302", train=train)


def test_what_a_comprehension_gives_a_function_is_no_sample_that_is_gone_on_with(tmp_path: Path) -> None:
    train = """\
        import torch
        from torch import nn

        device = torch.device("cuda")
        net = nn.Linear(8, 8).to(device)

        def encode(x):
            return net(x)

        @torch.no_grad()
        def encoded(x, rows):
            for i in range(10):
                longest = max(len(row) for row in rows[i])
                rows[i].fill(longest)
            for row in range(1000):  # TPU302
                x = encode(x)
            return x
        """
    agree(tmp_path, select="TPU302", train=train)


PROBED = """\
    import torch
    from torch import nn

    device = torch.device("cuda")
    net = nn.Linear(4, 4)
    net.eval()
    BETWEEN
    net.to(device)

    def run(loader, totals):
        START
        for x, y in loader:MARK
            totals += net(x.to(device)).detach()

    run([], torch.zeros(4, device=device))
    """


@pytest.mark.parametrize(
    ("between", "start", "is_told"),
    [
        ("print(net)", "print(loader)", True),
        ("del net; net = nn.Linear(4, 4)", "print(loader)", False),  # another module
        ("net = nn.Linear(4, 4)", "print(loader)", False),
        ("net = nn.DataParallel(net)", "print(loader)", True),  # the same one still
        ("if device.index: net = nn.Linear(4, 4)", "print(loader)", True),  # perhaps the same one
        ("print(net)", "net.train()", False),  # switched back where it is called
        ("print(net)", "net.train(); net.eval()", True),
    ],
)
def test_evaluation_mode_of_another_module(tmp_path: Path, between: str, start: str, is_told: bool) -> None:
    text = PROBED.replace("BETWEEN", between).replace("START", start).replace("in loader", "in train_loader")
    text = text.replace("run(loader,", "run(train_loader,").replace("print(loader)", "print(train_loader)")
    agree(tmp_path, select="TPU302", train=text.replace("MARK", "  # TPU302" if is_told else ""))


WITHIN_STEP = """\
    import torch
    from torch import nn

    device = torch.device("cuda")
    net = nn.Linear(4, 4).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def next_batch():
        return torch.randn(8, 4).to(device), torch.randn(8, 4).to(device)

    for step in range(100):
        if step % 10 == 0:
            net.eval()
            total = 0.0
            for _ in range(20):MARK
                x, y = next_batch()
                GUARD
                    loss = (net(x) - y).pow(2).mean()
                    total += loss
            print(total / 20)
            net.train()
        x, y = next_batch()
        (net(x) - y).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        torch_xla.sync()
    """


@pytest.mark.parametrize(("guard", "is_told"), [("with torch.no_grad():", True), ("if True:", False)])
def test_evaluation_in_front_of_the_step_of_the_turn(tmp_path: Path, guard: str, is_told: bool) -> None:
    """The backward pass behind it is that of another batch."""
    text = WITHIN_STEP.replace("GUARD", guard).replace("MARK", "  # TPU302" if is_told else "")
    agree(tmp_path, select="TPU302", train=text)


HEADS = """\
    import torch
    from torch import nn

    device = torch.device("cuda")
    net = nn.Linear(4, 4).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    train_loader = []

    def train(criterion):
        for x, y in train_loader:
            x, y = x.to(device), y.to(device)
            net.eval()  # its statistics stay
            loss = torch.zeros((), device=device)
            GUARD
                for i in range(3):MARK
                    loss = loss + further(loss, net(x), y)
            optimizer.zero_grad()
            BEHIND
            optimizer.step()
            torch_xla.sync()

    def further(loss, out, y):
        return net(out * loss).sum() - y.sum()

    net.eval()
    train(nn.CrossEntropyLoss())
    """


@pytest.mark.parametrize(
    ("guard", "behind", "is_told"),
    [
        ("if True:", "loss.backward()", False),
        ("if True:", "torch.mean(net(x)).backward()", False),  # behind it all the same
        ("with torch.no_grad():", "net(loss * x).sum().backward()", True),  # labels that are guessed
    ],
)
def test_loop_that_a_backward_pass_goes_through(tmp_path: Path, guard: str, behind: str, is_told: bool) -> None:
    text = HEADS.replace("GUARD", guard).replace("BEHIND", behind)
    agree(tmp_path, select="TPU302", train=text.replace("MARK", "  # TPU302" if is_told else ""))


MEASURED = """\
    import torch
    from torch import nn
    from metrics import accuracy

    device = torch.device("cuda")
    model = nn.Linear(4, 2).to(device)
    MODE
    right, summed = 0.0, torch.zeros((), device=device)
    for x, y in test_loader:  # TPU302
        x, y = x.to(device), y.to(device)
        with torch.no_grad():
            out = model(x)
            READ
    """
ACCURACY = "def accuracy(out, y):\n    return (out.argmax(1) == y).float().mean().item()\n"
ADDED = "right += accuracy(out, y)"


@pytest.mark.parametrize(
    ("measure", "read", "is_told"),
    [
        (ACCURACY, ADDED, False),
        (ACCURACY, "right = accuracy(out, y); count = 1", False),
        (ACCURACY.replace(".item()", ".cpu().numpy()"), ADDED, False),
        ("def accuracy(out, y):\n    return out.item()\n", ADDED, True),  # computed already
        (ACCURACY.replace("return", "print(out.sum())\n    return"), ADDED, True),
        (ACCURACY.replace("return", "n = out.sum().item()\n    return n +"), ADDED, True),
        (ACCURACY.replace("return", "if len(y) > 1:\n        return"), ADDED, True),  # not in every turn
        (ACCURACY, f"{ADDED} + out.sum().item()", True),
        (ACCURACY, f"{ADDED}; print(out.sum())", True),  # another read needs the same pass
        (ACCURACY, f"summed += out.sum(); {ADDED}", True),  # left to the next turn
        (ACCURACY, f"outs.append(out); {ADDED}", True),
    ],
)
def test_read_that_runs_the_whole_turn(tmp_path: Path, measure: str, read: str, is_told: bool) -> None:
    """What is left is forgotten; a boundary would run it once more."""
    text = MEASURED.replace("READ", read).replace("MODE", "model.eval()")
    agree(tmp_path, select="TPU302", metrics=measure, train=text if is_told else text.replace("  # TPU302", ""))


def test_read_that_leaves_the_statistics_of_layers(tmp_path: Path) -> None:
    """Layers that are not in evaluation mode change theirs in every turn, and no read needs them."""
    training = """\
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in batches:
        model(batch.to(device)).sum().backward()
        optimizer.step()
        torch_xla.sync()
"""
    text = MEASURED.replace("READ", ADDED).replace("    MODE\n", training)
    agree(tmp_path, select="TPU302", metrics=ACCURACY, train=text)


WITHIN_STEPS = """\
import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Linear(4, 2).to("cuda")
optimizer = torch.optim.Adam(model.parameters())
loader, tests = DataLoader(data, batch_size=8), DataLoader(others, batch_size=8)
for i, (x, y) in enumerate(loader):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x.to("cuda")), y.to("cuda"))
    BEFORE
    loss.backward()
    optimizer.step()
    BEHIND
"""
TESTED = """\
{head}
        right = 0
        for x, y in {loader}:
            right += ({call}.argmax(1).cpu() == y).sum()
"""


@pytest.mark.parametrize(
    ("place", "head", "loader", "call", "is_told"),
    [
        ("BEHIND", "if i % 500 == 0:", "tests", 'model(x.to("cuda"))', True),
        ("BEHIND", "if i % 500 == 0:", "tests", "guess(x)", False),  # it runs no model
        ("BEHIND", "if i % 500 == 0:", "parts_of(x)", 'model(x.to("cuda"))', False),  # no batches, as far as is known
        ("BEHIND", "with timer:", "tests", 'model(x.to("cuda"))', False),  # a part of every step
        ("BEFORE", "if i % 500 == 0:", "tests", 'model(x.to("cuda"))', False),  # in front of the update
    ],
)
def test_a_branch_of_a_step_that_goes_through_batches(
    tmp_path: Path, place: str, head: str, loader: str, call: str, is_told: bool
) -> None:
    """As the tutorials of the deep learning wizard do it, without a word of gradients."""
    branch = TESTED.format(head=head, loader=loader, call=call).rstrip()
    program = WITHIN_STEPS.replace(place, branch)
    (tmp_path / "train.py").write_text(program.replace("    BEFORE\n", "").replace("    BEHIND\n", ""))
    answer = tpulint("--select=TPU101,TPU302", "--output-format=concise", "train.py", cwd=tmp_path)
    assert ("TPU302" in answer.out) is is_told
    assert ("in every evaluation batch" in answer.out) is is_told


SAMPLER = """\
    import torch
    from torch import nn
    from accelerate import Accelerator

    class Sampler(nn.Module):
        def __init__(self, net, steps):
            super().__init__()
            self.net, self.steps = net, steps

        def p_sample(self, x, t):
            return x - self.net(x) / (t + 1)

        @torch.no_grad()
        def sample(self, batches):
            x = torch.randn((4, 8), device=next(self.parameters()).device)
            hidden = x
            for t in LOOP:
                CALL
            return x

    accelerator = Accelerator()
    sampler = Sampler(nn.Linear(8, 8), 50)
    optimizer = torch.optim.Adam(sampler.parameters())
    loader = torch.utils.data.DataLoader(samples, batch_size=16, drop_last=True)
    sampler, optimizer, loader = accelerator.prepare(sampler, optimizer, loader)
    """


@pytest.mark.parametrize(
    ("loop", "call", "is_told"),
    [
        ("reversed(range(self.steps))", "x = x - self.net(x) / (t + 1)", True),
        ("range(self.steps)", "x = self.p_sample(x, t)", True),
        ("loader", "hidden = self.net(hidden) + t", False),  # that of Accelerate sets them
        ("batches", "print(self.net(t))", False),
        ("range(self.steps)", "print(self.net(batches[t]))", False),
    ],
)
def test_loops_beside_those_of_a_framework(tmp_path: Path, loop: str, call: str, is_told: bool) -> None:
    """Those that go on from what they made themselves have no boundary of its loaders."""
    program = SAMPLER.replace("LOOP:", f"{loop}:{'  # TPU302' if is_told else ''}").replace("CALL", call)
    agree(tmp_path, CODES, main=program)


@pytest.mark.parametrize("holder", ["loader", "samples"])
@pytest.mark.parametrize(
    ("mode", "returned", "is_told"),
    [
        ("self.model.eval()", "loss", True),
        ("self.model.eval()", "loss.item()", False),  # the read runs all of it
        ("self.quiet = True", "loss.item()", True),  # running statistics are left to the next read
        ("self.model.train()", "loss", True),  # no gradient is recorded
    ],
)
def test_batches_that_a_method_evaluates(tmp_path: Path, mode: str, returned: str, is_told: bool, holder: str) -> None:
    """What goes through something else may be anything."""
    program = f"""\
        import torch
        from torch import nn

        class Trainer:
            def __init__(self):
                self.device = torch.device("cuda")
                self.model = nn.Sequential(nn.Linear(4, 2), nn.BatchNorm1d(2)).to(self.device)

            def evaluate(self, {holder}):
                total = 0
                for x, y in {holder}:{"  # TPU302" if is_told and holder == "loader" else ""}
                    total += self.evaluate_batch(x, y)
                return total

            def evaluate_batch(self, x, y):
                {mode}
                with torch.no_grad():
                    loss = nn.functional.cross_entropy(self.model(x.to(self.device)), y.to(self.device))
                    return {returned}
        """
    agree(tmp_path, CODES, main=program)


@pytest.mark.parametrize(
    ("kept", "base", "is_told"),
    [
        ("net", "nn.Module", True),
        ("len(net)", "nn.Module", False),  # nothing that can be called
        ("net", "object", False),  # an object of which nothing is known
    ],
)
def test_samples_that_a_model_given_to_a_module_makes(tmp_path: Path, kept: str, base: str, is_told: bool) -> None:
    program = f"""\
        import torch
        from torch import nn

        class Diffusion({base}):
            def __init__(self, net):
                super().__init__()
                self.net = {kept}

            @torch.no_grad()
            def turn(self, x, t):
                return self.net(x) * t

            @torch.no_grad()
            def sample(self, count):
                x = torch.randn(count, 4, device="cuda")
                for t in reversed(range(100)):{"  # TPU302" if is_told else ""}
                    x = self.turn(x, t)
                return x
        """
    agree(tmp_path, CODES, main=program)


@pytest.mark.parametrize(
    ("extracted", "reason"),
    [
        ("start.argmax(-1).cpu().numpy()", "only its reads run the batches"),
        ("start.argmax(-1)", "all of its batches become one graph"),
    ],
)
def test_what_a_function_of_another_file_reads_of_each_batch(tmp_path: Path, extracted: str, reason: str) -> None:
    (tmp_path / "marks.py").write_text(f"def extract(start):\n    return {extracted}\n")
    (tmp_path / "main.py").write_text(
        dedent("""\
        import torch
        from marks import extract

        device = torch.device("cuda")

        def predict(model, loader):
            results = []
            for x in loader:
                model.eval()
                with torch.no_grad():
                    start, end = model(x.to(device))[:2]
                results.append(extract(start))
            return results
        """)
    )
    answer = tpulint("--output-format=concise", "--select=TPU302", "main.py", cwd=tmp_path)
    assert f"TPU302 evaluation loop has no step boundary: {reason}" in answer.out


@pytest.mark.parametrize(
    ("turns", "turn", "is_told"),
    [
        ("for cloud in clouds", "found.append(self.encode(cloud))", False),
        ("for i, cloud in enumerate(clouds)", "found.append(self.encode(cloud))", False),
        ("for i in range(len(clouds))", "found.append(self.encode(clouds[i]))", False),
        ("for i in range(clouds.size(0))", "found.append(self.encode(clouds[i]))", False),
        ("for cloud in loader", "found.append(self.encode(cloud))", True),
        ("for t in range(steps)", "clouds = self.encode(clouds)", True),  # a sampler
        ("for t in times", "clouds = self.encode(clouds)", True),
    ],
)
def test_a_forward_pass_that_goes_through_the_samples_of_its_batch(
    tmp_path: Path, turns: str, turn: str, is_told: bool
) -> None:
    """A boundary in each turn would cut the step that runs it into as many pieces."""
    layers = f"""\
        import torch
        from torch import nn

        class Encoder(nn.Module):
            def __init__(self):
                super().__init__()
                self.encode = nn.Linear(4, 4)

            @torch.no_grad()
            def forward(self, clouds, loader=None, times=(), steps=9):
                found = []
                {turns}:{"  # TPU302" if is_told else ""}
                    {turn}
                return found or clouds

        encoder = Encoder().cuda()
        """
    agree(tmp_path, select="TPU302", layers=layers)


LEFT_ON_HOST = """\
import torch
from torch import nn

def make(n):
    return nn.Sequential(nn.Embedding(n, 8), nn.Linear(8, n))

def inference():
    model = make(11)
    model.eval()
    tokens = torch.zeros(1, 1).long(){setup}
    for i in range(9):{mark}
        out = model(tokens)[:, -1]
        tokens = torch.cat([tokens, out.argmax(-1, keepdim=True)], dim=1)
    print(tokens)

def main(loader):
    model = make(100)
    model.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x.cuda()).mean(1), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("setup", "is_told"),
    [("", False), ("\n    tokens, model = tokens.cuda(), model.cuda()", True), ("\n    prepare(model)", True)],
)
def test_models_that_a_function_makes_and_leaves_on_the_host(tmp_path: Path, setup: str, is_told: bool) -> None:
    agree(tmp_path, "TPU302", main=LEFT_ON_HOST.format(setup=setup, mark="  # TPU302" if is_told else ""))


ACTING = """\
import torch
from torch import nn

class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Linear(4, 2)

    def act(self, state):
        return self.actor(state).argmax(-1)

    def start(self, state):
        return state * 2

device = torch.device("cuda")
agent = Agent().to(device)
optimizer = torch.optim.Adam(agent.parameters())
states = torch.zeros(128, 4, device=device)
for turn in range(100):
    for t in range(128):{mark}
        with torch.no_grad():
            action = agent.{method}(states[0])
        state = environment.step(action.cpu().numpy()){read}
    for batch in loader:
        loss = agent.act(batch.to(device)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("method", "is_told"), [("act", True), ("start", False)])
def test_methods_that_run_a_part_of_a_model(tmp_path: Path, method: str, is_told: bool) -> None:
    marks = ("  # TPU302", "  # TPU101") if is_told else ("", "")
    agree(tmp_path, "TPU302,TPU101", main=ACTING.format(method=method, mark=marks[0], read=marks[1]))


@pytest.mark.parametrize(
    ("source", "is_told"),
    [
        ("zip(data.image_batches, data.label_batches)", True),
        ("batches", True),
        ("range(8)", False),  # rounds of samples
    ],
)
def test_samples_of_each_batch(tmp_path: Path, source: str, is_told: bool) -> None:
    """What stands around the loop over samples is read once for each batch."""
    target = "x, y" if "zip" in source else "x"
    train = f"""\
        import torch
        from torch import nn

        model = nn.Linear(4, 4).cuda()

        def test(data, batches):
            model.eval()
            with torch.no_grad():
                for i, {f"({target})" if "," in target else target} in enumerate({source}):
                    x = torch.tensor(x).cuda()
                    print(x.cpu().numpy()){"  # TPU101" if is_told else ""}
                    for _ in range(20):
                        print(model(x).cpu().numpy())  # TPU101
                    print(model.forward(x).max().item()){"  # TPU101" if is_told else ""}
        """
    agree(tmp_path, select="TPU101", train=train)


@pytest.mark.parametrize(("caller", "is_told"), [("forward", False), ("sample", True)])
def test_loops_of_a_method_that_a_forward_pass_calls(tmp_path: Path, caller: str, is_told: bool) -> None:
    """What a training step runs ends where the step does; what goes on by itself is an evaluation."""
    train = f"""\
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 4)

            def embed(self, x):
                return self.layer(x)

            def momentum(self, x):
                with torch.no_grad():
                    for i in range(3):{"  # TPU302" if is_told else ""}
                        x = self.embed(x)
                return x

            def {caller}(self, x):
                return self.embed(self.momentum(x))

        net = Net().cuda()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for x in batches:
            optimizer.zero_grad()
            net(x.cuda()).mean().backward()
            optimizer.step()
        """
    agree(tmp_path, select="TPU302", train=train)


KEPT = """\
import torch
from torch import nn

class Runner:
    def __init__(self, data):
        self.data = data
        self.net = nn.Linear(4, 2).cuda()

    def run(self, x):
        self.logits = self.net(x)

    def look(self, x):
        self.seen = x.mean()

    def logits_of(self, phase, train=False):
        MODE
        outputs = []
        for x, y in SOURCE:
            MOVE
            with BLOCK:
                CALL
                outputs.append(self.logits)
        return outputs
"""


@pytest.mark.parametrize(
    ("mode", "source", "move", "block", "call", "is_told"),
    [
        ("self.net.eval()", "self.data[phase]", "x = x.cuda()", "torch.no_grad()", "self.run(x)", True),
        ("pass", "self.data[phase]", "x, y = x.cuda(), y.cuda()", "torch.no_grad()", "self.run(x)", True),
        ("pass  # no_grad", "self.data[phase]", "x = x.cuda()", "torch.set_grad_enabled(False)", "self.run(x)", True),
        ("self.net.eval()", "self.data[phase]", "x = y.cuda()", "torch.no_grad()", "self.look(x)", False),  # runs none
        ("pass  # no_grad", "self.data[phase]", "x = x.cuda()", "torch.set_grad_enabled(train)", "self.run(x)", False),
        ("self.net.eval()", "self.data[phase]", "x = y * 2", "torch.no_grad()", "self.run(x)", False),  # of what?
    ],
)
def test_outputs_that_a_method_keeps_in_a_field(
    tmp_path: Path, mode: str, source: str, move: str, block: str, call: str, is_told: bool
) -> None:
    text = KEPT.replace("MODE", mode).replace("MOVE", move).replace("BLOCK", block).replace("CALL", call)
    agree(tmp_path, "TPU302", main=text.replace("SOURCE:", f"{source}:{'  # TPU302' if is_told else ''}"))


ATTACKED = """\
import torch
from torch import nn

net = nn.Linear(4, 4).cuda()

def attacked(loader, attack=False):
    net.MODE()
    right = 0
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        if attack:
            x.requires_grad_(True)
            nn.functional.cross_entropy(net(x), y).backward()
            CHANGE
        with torch.no_grad():
            right += (net(x).argmax(1) == y).sum().item()
    return right
"""


@pytest.mark.parametrize(
    ("mode", "change", "is_told"),
    [
        ("eval", "x = x + x.grad.sign()", True),
        ("eval", "step = x.grad.sign()\n            x = x + 0.1 * step", True),
        ("train", "x = x + x.grad.sign()", False),  # it may be a training
        ("eval", "x = x + 1", False),  # who takes the gradients is not seen
    ],
)
def test_attacks_behind_a_flag(tmp_path: Path, mode: str, change: str, is_told: bool) -> None:
    text = ATTACKED.replace("MODE", mode).replace("CHANGE", change)
    marks = ("  # TPU302", "  # TPU104") if is_told else ("", "")
    text = text.replace("in loader:", f"in loader:{marks[0]}").replace(".sum().item()", f".sum().item(){marks[1]}")
    agree(tmp_path, "TPU302,TPU104", main=text)


RATED = """\
import numpy as np
import torch

device = torch.device("cuda")

def test(model, users):
    items = model.items()
    total = 0
    for i in range(10):
        batch = torch.LongTensor(np.array(users[i * 8 : (i + 1) * 8])).to(device)
        rates = model.rating(batch, items){read}
        total += rates.sum()
    return total
"""
RATING = """\
import torch
from torch import nn
from rates import test

class Ratings(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(80, 4))

    def items(self):
        return self.weight * 2

    def rating(self, users, items):
        return self.weight[users] @ items.t()

    def forward(self, users):
        return self.weight[users].sum(1).mean()

device = torch.device("cuda")
model = Ratings().to(device)
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(10):
    for users in torch.utils.data.DataLoader(data, batch_size=8, shuffle=True, drop_last=True):
        loss = model(users.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    test(model, list(range(80)))
"""


@pytest.mark.parametrize(
    ("read", "is_told"),
    [(".detach().cpu()", True), (".detach().cpu().numpy()", True), (".detach()", False), (".cpu()", False)],
)
def test_results_that_are_cut_off_and_read(tmp_path: Path, read: str, is_told: bool) -> None:
    """Neither `eval()` nor `no_grad`: what is read without its gradient is evaluated."""
    agree(tmp_path, "TPU101", rates=RATED.format(read=f"{read}{'  # TPU101' if is_told else ''}"), train=RATING)


@pytest.mark.parametrize("trains", [True, False])
def test_an_endless_loop_around_a_training_is_one_of_epochs(tmp_path: Path, trains: bool) -> None:
    program = f"""
    import torch
    from torch import nn

    class Dynamics:
        def __init__(self):
            self.model = nn.Linear(4, 2).cuda()
            self.optimizer = torch.optim.Adam(self.model.parameters())

        def train(self, rows, most):
            epoch = 0
            while True:
                epoch += 1
                {"self.learn(rows)" if trains else "pass"}
                print(self.validate(rows))
                if epoch > most:
                    break

        def learn(self, rows):
            for row in rows:
                loss = self.model(row.cuda()).pow(2).mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()

        @torch.no_grad()
        def validate(self, rows):
            self.model.eval()
            return self.model(rows[0].cuda()).mean().cpu().numpy(){"" if trains else "  # TPU101"}

    Dynamics().train(torch.randn(32, 8, 4), 4)
    """
    agree(tmp_path, "TPU101", main=program)


@pytest.mark.parametrize(
    ("parts", "step", "is_told"),
    [
        ("[-1, -2]", "loss.backward()", False),
        ("listed[1:]", "loss.backward()", False),
        ("drawn", "loss.backward()", True),
        ("[-1, -2]", "pass", True),
    ],
)
def test_few_turns_in_front_of_a_backward_pass(tmp_path: Path, parts: str, step: str, is_told: bool) -> None:
    """A boundary in each of them would cut the forward pass in two that the backward pass goes through."""
    program = f"""\
    import torch
    from data import drawn

    net, pose = torch.nn.Linear(6, 3).cuda(), torch.nn.Linear(6, 3).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    listed = [0, -1, -2]

    for x in torch.utils.data.DataLoader(torch.randn(64, 6)):
        loss = net(x.cuda()).square().mean()
        with torch.no_grad():
            for part in {parts}:{"  # TPU302" if is_told else ""}
                loss = loss - pose(x.cuda() + part).mean()
        {step}
        {"optimizer.step()" if step != "pass" else ""}
    """
    agree(tmp_path, "TPU302", main=program)
