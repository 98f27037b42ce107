"""What reaches a line through what is chosen or handed on: flags, classes by name, modules that come back, prefetchers.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint
from marked_files import SETUP, agree


def test_flags_that_no_call_sets(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    from shown import check

    def step(x, y, report=False, quiet=True, writer=None):
        loss = F.mse_loss(model(x.to(device)), y.to(device))
        if report:
            print(loss.item())
        if not quiet:
            print(loss.item())
        if writer is not None and quiet:
            writer.add_scalar("loss", loss.item())
        loss.backward()
        optimizer.step()
        check(loss, 3)
        return loss

    def told(x, y, report=False):
        loss = step(x, y)
        if report:
            print(loss.item())  # TPU101
        return loss

    for x, y in loader:
        step(x, y)
        check(told(x, y, report=settings.report), 4, deep=False)
    """
    )
    shown = """\
    def check(loss, width, deep=False, wide=False, strict=True):
        if deep:
            assert loss.item() < width  # TPU103
        if wide:
            for at in range(width):
                assert loss.item() < at
        if strict and not wide:
            assert loss.item() > 0  # TPU103
    """
    agree(tmp_path, train=program, shown=shown)


def test_what_a_configuration_gives_for_a_parameter(tmp_path: Path) -> None:
    program = """\
    import torch
    from torch import nn

    class Retriever(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.config = config
            self.layer = nn.Linear(4, 4)

        def forward(self, x, scores=None, count=None, size=None):
            count = count if count is not None else self.config.count
            size = self.size if size is None else size
            assert scores.shape[1] % count == 0
            if size > 3:  # TPU103
                x = x + 1
            return self.layer(x).sum()

    model = Retriever(config).to("cuda")
    optimizer = torch.optim.Adam(model.parameters())
    for batch in loader:
        model(batch.to("cuda"), **batch.rest).backward()
        optimizer.step()
    """
    agree(tmp_path, train=program)


def test_a_module_that_something_unknown_is_given_and_gives_back(tmp_path: Path) -> None:
    program = """\
    import apex
    import torch
    from net import Net

    def warm_start(path, model):
        model.load_state_dict(torch.load(path, map_location="cpu"))
        return model

    def load(path, model, optimizer):
        return model, optimizer, 0

    def build():
        model = Net().cuda()
        if wanted:
            model = apex.prepare(model)
        return model

    model = build()
    optimizer = torch.optim.Adam(model.parameters())
    if half:
        model, optimizer = apex.amp.initialize(model, optimizer, opt_level="O2")
    if path and warm:
        model = warm_start(path, model)
    elif path:
        model, optimizer, at = load(path, model, optimizer)
    for x in loader:
        model(x.cuda()).backward()
        optimizer.step()
    """
    net = """\
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x):
            x = self.layer(x)
            print(x.max().item())  # TPU101
            return x.sum()
    """
    agree(tmp_path, train=program, net=net)


def test_what_is_unpacked_later_and_what_a_dictionary_gives(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    from torch.utils.data import DataLoader
    from loaders import make_loaders

    def prepare(args):
        train = DataLoader(data, batch_size=args.size, shuffle=True)  # TPU501
        test = DataLoader(held_out, batch_size=args.size, drop_last=False)  # TPU516
        return train, test, 3

    @torch.no_grad()
    def embed(test_loader):
        return torch.cat([part for part in parts(test_loader)])

    @torch.no_grad()
    def features(loader):
        found = []
        for x in loader:  # TPU302
            found.append(model.features(x.to(device)))
        return torch.cat(found)

    parts = prepare(args)
    train_loader, test_loader, count = parts
    for x, y in train_loader:  # TPU301
        F.mse_loss(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
    features(test_loader)

    settings = {"num_workers": 4, "pin_memory": False}
    more_loader, sure_loader = make_loaders(args, **settings)
    for x, y in more_loader:  # TPU301
        F.mse_loss(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
    """
    )
    loaders = """\
    from torch.utils.data import DataLoader

    def make_loaders(args, **kwargs):
        return DataLoader(data, batch_size=args.size, **kwargs), None  # TPU501
    """
    agree(tmp_path, "TPU301,TPU302,TPU501,TPU516", train=program, loaders=loaders)
    (tmp_path / "train.py").write_text((tmp_path / "train.py").read_text().replace("4, ", '4, "drop_last": last, '))
    told = tpulint("--output-format=concise", "--select", "TPU501", ".", cwd=tmp_path).out
    assert "loaders.py" not in told and "train.py" in told


@pytest.mark.parametrize(
    "given",
    ['{"model": model, "loader": loader, "ema": EMA(model)}', "dict(ema=EMA(model), model=model, loader=loader)"],
)
def test_what_a_function_is_given_by_a_dictionary_is_known_there(tmp_path: Path, given: str) -> None:
    (tmp_path / "average.py").write_text("""\
class EMA:
    def __init__(self, model):
        self.model = model
        self.kept = {name: value.clone() for name, value in model.state_dict().items()}

    def update(self):
        for name, value in self.model.state_dict().items():
            self.kept[name].copy_(0.9 * self.kept[name] + 0.1 * value)
""")
    (tmp_path / "train.py").write_text(f"""\
import torch
from average import EMA


def train(optimizer, model, loader, ema):
    for x in loader:
        optimizer.zero_grad()
        model(x.cuda()).sum().backward()
        optimizer.step()
        ema.update()


model = torch.nn.Linear(4, 2).cuda()
settings = {given}
train(torch.optim.SGD(model.parameters(), 0.1), **settings)
""")
    tpulint("--fix", "--select", "TPU301", ".", cwd=tmp_path)
    assert "        ema.update()\n        torch_xla.sync()\n" in (tmp_path / "train.py").read_text()


def test_flags_that_are_compared(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    def step(x, y, beams=-1, mode="train"):
        loss = F.mse_loss(model(x.to(device)), y.to(device))
        if beams > 0:
            print(loss.item())
        if mode == "test":
            print(loss.item())
        if mode != "test":
            print(loss.item())  # TPU101
        loss.backward()
        optimizer.step()
        return loss

    for epoch in range(3):
        for i, (x, y) in enumerate(loader):
            loss = step(x, y)
            if i > 3:
                print(loss.item())  # TPU101
    """
    )
    agree(tmp_path, train=program)


def test_a_function_that_a_data_set_and_the_step_call(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    def norm(y):
        if torch.min(y) < -1.0:  # TPU103
            print("low")
        return y.abs()

    class Data(torch.utils.data.Dataset):
        def __getitem__(self, i):
            return norm(torch.FloatTensor([0.5] * 8))

    for x in torch.utils.data.DataLoader(Data(), batch_size=8, drop_last=True):
        norm(model(x.to(device))).mean().backward()
        optimizer.step()
    """
    )
    agree(tmp_path, train=program)


def test_elements_that_make_a_tensor_of_the_host(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    for x, y in loader:
        scores = F.relu(model(x.to(device)))
        values, places = scores.topk(1)
        words = torch.LongTensor([[places[i][0] for i in range(4)]])  # TPU101
        F.mse_loss(scores, y.to(device)).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU101", train=program)


def test_elements_that_python_goes_through_to_make_a_tensor(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    for x, y in loader:
        kinds, names = y.to(device), ["a", "b"]
        a = torch.ByteTensor(tuple(map(lambda s: s == 0, kinds)))  # TPU220
        b = torch.tensor(list(map(lambda s: -s + 1, kinds.data)))  # TPU220
        c = torch.BoolTensor([s == 0 for s in kinds.view(-1)])  # TPU101
        d = torch.BoolTensor(tuple(s == 0 for s in kinds.view(-1)))  # TPU101
        e = torch.ByteTensor(tuple(map(lambda s: s == 0, y)))
        f = torch.tensor(list(map(lambda s: len(s), kinds)))
        g = torch.tensor(list(map(lambda s: s is None, kinds)))
        h = torch.stack(list(map(lambda s: s == 0, kinds)))
        i = torch.tensor(list(map(lambda s: ord(s), names)))
        j = torch.tensor(list(map(lambda s, t: s == 0, kinds, names)))
        F.mse_loss(model(x.to(device)), kinds).backward()
        optimizer.step()
    kept = torch.ByteTensor(tuple(map(lambda s: s == 0, kinds)))
    """
    )
    agree(tmp_path, "TPU101,TPU220", train=program)


def test_a_step_that_a_class_of_its_own_makes(tmp_path: Path) -> None:
    loss = """\
    class LossCompute:
        def __init__(self, criterion, opt):
            self.criterion, self.opt = criterion, opt

        def __call__(self, out, y):  # TPU301
            loss = self.criterion(out, y).sum()
            rows = out[out > 0]  # TPU203
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            return loss.item()  # TPU101
    """
    program = (
        SETUP
        + """
    from loss import LossCompute

    compute = LossCompute(nn.CrossEntropyLoss(), optimizer)
    for x, y in loader:
        print(compute(model(x.to(device)), y.to(device)))  # goes backward there
    """
    )
    agree(tmp_path, "TPU101,TPU203,TPU301", train=program, loss=loss)


def test_a_model_that_runs_in_an_argument(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    import torch_xla

    def criterion(out, d):
        count = int((d > 0).sum())  # TPU101
        return out.sum() / count

    for x, d in loader:
        x, d = x.to(device), d.to(device)
        loss = criterion(model(x), d)
        loss.backward()
        optimizer.step()
        torch_xla.sync()
    """
    )
    agree(tmp_path, train=program)


def test_losses_that_an_option_chooses_among_functions_and_classes(tmp_path: Path) -> None:
    transfer = """\
    from torch import nn
    from coral import coral
    from mmd import MMD

    class Transfer(nn.Module):
        def __init__(self, name):
            super().__init__()
            if name == "mmd":
                self.loss = MMD()
            elif name == "coral":
                self.loss = coral
            else:
                self.loss = lambda x, y: 0

        def forward(self, x, y):
            return self.loss(x, y)
    """
    mmd = """\
    import torch
    from torch import nn

    class MMD(nn.Module):
        def forward(self, x, y):
            if torch.isnan(x - y).any():  # TPU103
                return (x * 0).sum()
            return (x - y).mean()
    """
    coral = """\
    def coral(x, y):
        return (x - y).pow(2).mean()
    """
    program = (
        SETUP
        + """
    from transfer import Transfer

    criterion = Transfer(args.loss).to(device)
    for x, y in loader:
        loss = criterion(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
    """
    )
    agree(tmp_path, train=program, transfer=transfer, mmd=mmd, coral=coral)


@pytest.mark.parametrize(
    "made",
    [
        "getattr(nets, args.net)(3)",
        "nets.__dict__[args.net](3)",
        "vars(nets)[args.net](3)",
        "nets.named(args.net)(3)",
        "nets.CLASSES[args.net][1](3)",
        "nets.CLASSES[args.net][1].from_pretrained(args.path)",
        "load(args.path) if args.path else nets.Small(3)",
    ],
)
def test_models_that_are_chosen_by_name(tmp_path: Path, made: str) -> None:
    nets = """\
    import torch
    from torch import nn

    class Small(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.layer = nn.Linear(4, n)

        def forward(self, x):
            y = self.layer(x)
            print(y.max().item())  # TPU101
            return y

    def named(name):
        if name not in globals():
            raise NotImplementedError(name)
        return globals()[name]

    CLASSES = {"small": ("tiny", Small), "other": ("large", Small)}
    """
    program = f"""\
    import pickle
    import nets
    import torch

    def load(path):
        with open(path, "rb") as file:
            return pickle.load(file)

    if args.fresh:
        model = nets.Small(3)
    else:
        model = {made}
    model.cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for x in loader:
        model(x.cuda()).sum().backward()
        optimizer.step()
    """
    agree(tmp_path, train=program, nets=nets)


@pytest.mark.parametrize(
    ("made", "code"),
    [
        ("opt.model_class(opt)", "TPU101"),
        ("self.opt.model_class(opt)", "TPU101"),
        ("other.model_class(opt)", ""),
        ("opt.other_class(opt)", ""),
    ],
)
def test_classes_that_are_chosen_into_options(tmp_path: Path, made: str, code: str) -> None:
    net = """\
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self, opt):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, inputs):
            x, mask = inputs
            length = mask.sum(dim=1)
            return self.layer(x) * len(length.cpu().numpy())  # {}

    class Unused(nn.Module):
        def forward(self, x):
            return x * len(x.cpu().numpy())
    """
    program = """\
    import torch
    from net import Net

    class Trainer:
        def __init__(self, opt, other):
            self.opt = opt
            self.model = {made}.to(opt.device)
            self.optimizer = torch.optim.Adam(self.model.parameters())

        def run(self, loader):
            for at, batch in enumerate(loader):
                inputs = [batch[name].to(self.opt.device) for name in self.opt.columns]
                loss = self.model(inputs).mean() + batch["y"].to(self.opt.device).mean()
                loss.backward()
                self.optimizer.step()

    if __name__ == "__main__":
        opt = parser.parse_args()
        classes = {{"net": Net, "again": Net}}
        opt.model_class = classes[opt.name]
        opt.device = torch.device("cuda")
        Trainer(opt, load_options()).run(make_loader())
    """
    agree(tmp_path, net=net.format(code), train=program.format(made=made))


def test_layers_of_lists_of_lists(tmp_path: Path) -> None:
    layers = """\
    from torch import nn
    from torch.nn.utils import weight_norm

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = weight_norm(nn.Linear(4, 4))  # TPU135

        def up(self, x):
            print(x.mean().item())  # TPU101
            return self.inner(x)

        def down(self, x):
            print(x.mean().item())  # TPU101
            return x

        def extra(self, x):
            print(x.mean().item())
            return self.inner(x)

    class Unused(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(4, 4)

        def up(self, x):
            print(x.mean().item())
            return self.inner(x)
    """
    unused = """\
    from torch import nn
    from torch.nn.utils import weight_norm

    class Tall(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = weight_norm(nn.Linear(4, 4))

        def side(self, x):
            return self.inner(x)

        def _other(self, x):
            return self.inner(x)
    """
    program = """\
    import torch
    from torch import nn
    from layers import Layer, Unused
    from unused import Tall

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            blocks = []
            for _ in range(3):
                block = []
                for _ in range(2):
                    block += [Layer()]
                blocks += [nn.ModuleList(block)]
            self.blocks = nn.ModuleList(blocks)
            self.others = nn.ModuleList([Unused()])
            self.tall = nn.ModuleList([Tall()])

        def forward(self, x):
            for block in self.blocks:
                for layer in block:
                    x = layer.up(x)
            for at, block in enumerate(reversed(self.blocks)):
                for layer in reversed(block):
                    x = layer.down(x)
            return x

    net = Net().to("cuda")
    optimizer = torch.optim.Adam(net.parameters())
    for x in loader:
        net(x.to("cuda")).mean().backward()
        optimizer.step()
    """
    agree(tmp_path, select="TPU101,TPU135", train=program, layers=layers, unused=unused)


def test_a_loader_that_moves_its_batches_ahead(tmp_path: Path) -> None:
    ahead = """\
    class Prefetcher:
        def __init__(self, loader, device):
            self.loader, self.device = loader, device
            self.batch = None

        def preload(self):
            try:
                self.batch, self.labels = next(self.rows)
            except StopIteration:
                self.batch = None
                return
            self.batch = self.batch.to(self.device, non_blocking=True)
            self.labels = self.labels.to(self.device, non_blocking=True)

        def __iter__(self):
            self.rows = iter(self.loader)
            self.preload()
            while self.batch is not None:
                batch, labels = self.batch, self.labels
                self.preload()
                yield batch, labels
    """
    program = (
        SETUP
        + """
    from ahead import Prefetcher

    for x, y in Prefetcher(loader, device):
        loss = F.mse_loss(model(x), y)
        print(y.sum().item())  # TPU101
        loss.backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU101", train=program, ahead=ahead)


def test_numbers_that_are_tensors(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    def match(truths, places, table, kept, i):
        for j in range(places.size(0)):
            table[places[j]] = j  # TPU201
        kept[i] = truths  # TPU101
        return table

    for x, y in loader:
        y = y.to(device)
        out = F.relu(model(x.to(device)))
        kept = torch.zeros(8, 4)
        match(out[0], out.argmax(1), torch.zeros(9, device=device), kept, 1)
        out = out.clamp(0, y.max() - 1)  # TPU101
        out = out.clamp(y.min(), y.max()).add(out, alpha=y.max())  # TPU101
        F.mse_loss(out, y).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU101,TPU201", train=program)


def test_numbers_of_torch_that_are_elements_of_what_is_moved(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    def clip(boxes, sizes, limits):
        for i in range(boxes.size(0)):
            boxes[i].clamp_(0, sizes[i, 1] - 1)  # TPU101
            boxes[i].clamp_(sizes[i, 0], sizes[i, 1])
        return boxes.clamp(0, limits[0])

    for x, y in loader:
        x, y = x.to(device), y.to(device)
        level = x[0, 0]
        out = clip(model(x), y, x.shape)
        a = torch.full((4,), level, device=device)  # TPU101
        b = F.leaky_relu(out, level)  # TPU101
        c = F.dropout(out, p=level)  # TPU101
        d = torch.nan_to_num(out, nan=level)  # TPU101
        e = torch.empty_like(out).uniform_(0, level)  # TPU101
        f = F.smooth_l1_loss(out, y, beta=level)  # TPU101
        g = torch.addmm(out, out, out, beta=level)  # TPU101
        h = out.masked_fill(out > 0, level).lerp(out, level).clamp(min=level) / level
        i = torch.where(out > 0, out, level).pow(level).clamp_min(level)
        k = out.topk((x > 0).sum())  # TPU101
        l = torch.kthvalue(out, k=2)[0] + out.topk(x.shape[0])[0]
        j = F.dropout(out, 0.5) + F.pad(out, (1, 1), "constant", 0.0)
        F.mse_loss(out, y).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), level)  # TPU101
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU101", train=program)


def test_rows_that_methods_of_a_module_hand_on(tmp_path: Path) -> None:
    program = """\
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def lengthen(self, x, sizes):
            return torch.stack([self.grow(row, size) for row, size in zip(x, sizes)])

        def grow(self, row, size):
            parts = []
            for i, part in enumerate(row):
                parts.append(part.expand(int(size[i].item()), -1))  # TPU101
            return torch.cat(parts, 0)

        def forward(self, x, d):
            for row, size in zip(x, d):
                x = self.grow(row, size)
            return self.lengthen(self.layer(x), d)

    model = Net().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for x, d in loader:
        model(x.cuda(), d.cuda()).mean().backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU101", train=program)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("@click.option('--report')\n", ""),
        ("", "shown = functools.partial(step, report=True)"),
        ("", "jobs.append(step)"),
        ("", "unknown(x, report=True)"),
    ],
    ids=["decorator", "partial", "handed on", "a call of nobody knows what"],
)
def test_flags_that_may_be_set_otherwise(tmp_path: Path, before: str, after: str) -> None:
    program = f"""\
import torch

model = torch.nn.Linear(4, 4).cuda()
optimizer = torch.optim.Adam(model.parameters())

{before}def step(x, report=False):
    loss = model(x.cuda()).sum()
    if report:
        print(loss.item())  # TPU101
    loss.backward()
    optimizer.step()

for x in loader:
    step(x)
    {after}
"""
    agree(tmp_path, "TPU101", train=program)


def test_bounds_and_places_that_are_no_numbers(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    for x, y in loader:
        scores = F.relu(model(x.to(device)))
        a = scores.clamp(None, scores.max())
        b = torch.clamp(scores, torch.tensor(0.0), scores.max())
        c = scores.clamp(0, scores.max())  # TPU101
        place = scores.mean().long()
        d = scores[place]  # TPU201
        F.mse_loss(scores, y.to(device)).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU101,TPU201", train=program)


def test_branches_for_tensors_of_the_host(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    def scale(t):
        if t.device.type == "cpu":
            print(t.mean().item())
        elif t.device != torch.device("cpu"):
            print(t.sum().item())  # TPU101
        return t * 2

    class Data(torch.utils.data.Dataset):
        def __getitem__(self, i):
            return scale(torch.rand(4))

    for x, y in loader:
        loss = F.mse_loss(scale(model(x.to(device))), y.to(device))
        if loss.is_cpu or loss.device == torch.device("cpu"):
            print(loss.item())
        if loss.is_cpu and args.verbose:
            print(loss.item())
        loss.backward()
        optimizer.step()
    """
    )
    agree(tmp_path, train=program)


def test_functions_that_hand_rows_to_each_other(tmp_path: Path) -> None:
    count = 8

    def walk(at: int) -> str:
        step, over, far = ((at + by) % count for by in (1, 2, 3))
        return f"""
    def walk{at}(rows):
        for r in rows:
            walk{step}(r)
            walk{over}(rows)
            walk{far}(r)
            small = torch.nonzero(r)  # TPU203
    """

    program = (
        SETUP
        + "".join(map(walk, range(count)))
        + """
    for x, y in loader:
        x = x.to(device)
        walk0(x)
        F.mse_loss(model(x), y.to(device)).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU203", train=program)


def test_a_package_whose_files_import_all_of_each_other(tmp_path: Path) -> None:
    count = 60
    package = tmp_path / "nets"
    package.mkdir()
    for at in range(count):
        (package / f"net{at}.py").write_text(
            "import torch\nfrom torch import nn\nfrom . import *\n\n\n"
            f"class Net{at}(nn.Module):\n    def forward(self, x):\n        return unknown{at}(x)\n"
        )
    (package / "__init__.py").write_text("".join(f"from .net{at} import *\n" for at in range(count)))
    program = """\
    import torch
    import nets

    model = nets.__dict__[args.net](3).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for x in loader:
        loss = model(x.cuda()).sum()
        loss.backward()
        optimizer.step()
        print(loss.item())  # TPU101
    """
    agree(tmp_path, "TPU101", train=program)


def test_an_engine_that_evaluates_a_batch_with_gradients(tmp_path: Path) -> None:
    engine = """\
    import torch
    from torch import nn

    class Engine:
        def __init__(self, device):
            self.model = nn.Linear(4, 4).to(device)
            self.optimizer = torch.optim.Adam(self.model.parameters())

        def train(self, x, y):
            self.model.train()
            loss = (self.model(x) - y).abs().mean()
            loss.backward()
            self.optimizer.step()
            return loss.item()  # TPU101

        def eval(self, x, y):
            self.model.eval()
            loss = (self.model(x) - y).abs().mean()
            return loss.item()  # TPU101
    """
    program = """\
    import torch
    from engine import Engine

    device = torch.device("cuda")
    engine = Engine(device)
    for epoch in range(9):
        for x, y in loader:
            engine.train(x.to(device), y.to(device))
        for x, y in held_out:
            engine.eval(x.to(device), y.to(device))
    """
    agree(tmp_path, train=program, engine=engine)


def test_elements_that_a_forward_pass_of_the_file_reads_of_what_it_is_given(tmp_path: Path) -> None:
    program = """\
    import torch
    from torch import nn

    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x, valid=None, lengths=None):
            out = self.layer(x)
            for i in range(4):
                if valid[i].item() == 1:  # TPU103
                    out[i] = 0
                if lengths[i].item() > 2:
                    out[i] = 1
            return out

    class Other(nn.Module):
        def forward(self, x, valid):
            return x if valid[0].item() == 1 else -x

    device = torch.device("cuda")
    model = Tagger.from_pretrained("tagger")
    model.to(device)
    optimizer = torch.optim.Adam(model.parameters())
    if args.half:
        model, optimizer = amp.initialize(model, optimizer)
    if args.count > 1:
        model = nn.DataParallel(model)
    other = Other()
    for batch in loader:
        lengths = batch[2]
        batch = tuple(part.to(device) for part in batch[:2])
        x, valid = batch
        loss = model(x, valid, lengths=lengths).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        other(x, valid_of(batch))
    """
    agree(tmp_path, train=program)


def test_devices_that_a_file_sets_in_an_object_of_options(tmp_path: Path) -> None:
    options = """\
    class Params:
        def __init__(self, values):
            self.__dict__.update(values)
    """
    program = """\
    import options
    import torch
    from torch import nn
    from torch.utils.data import DataLoader

    def train(model, optimizer, loader: DataLoader, params: options.Params, hosts, weight):
        for x, y in loader:
            x, y = x.float().to(params.device), y.float().to(params.device)
            if torch.sum(y == 0) > 3:  # TPU103
                continue
            print(y.sum().item())  # TPU101
            kept = torch.zeros(4, device=hosts.device)
            print(kept.sum().item(), torch.zeros(4, device=weight.device).sum().item())
            loss = (model(x) - y).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    params = options.Params({"rate": 0.1})
    hosts = options.Params({})
    hosts.device = torch.device("cpu")
    if torch.cuda.is_available():
        params.device = torch.device("cuda")
        model = nn.Linear(4, 4).cuda()
    else:
        params.device = torch.device("cpu")
        model = nn.Linear(4, 4)
    optimizer = torch.optim.Adam(model.parameters(), lr=params.rate)
    train(model, optimizer, loader, params, hosts, read_weight())
    """
    agree(tmp_path, train=program, options=options)


def test_layers_of_the_file_that_a_loop_over_a_list_calls(tmp_path: Path) -> None:
    net = """\
    import torch
    from torch import nn

    class Head(nn.Module):
        def forward(self, x, labels=None):
            places = labels.cpu()  # TPU101
            return x[:, int(places[0])]

    class Sized(nn.Module):
        def forward(self, x, sizes):
            return x[:, : int(sizes[0])]

    def make_layers():
        layers = nn.ModuleList()
        layers.append(nn.Linear(4, 4))
        layers.append(Head())
        return layers

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = make_layers()
            self.others = nn.ModuleList([Sized()])

        def forward(self, x, labels=None):
            found = []
            for i, layer in enumerate(self.layers):
                if i == 1:
                    found.append(layer(x, labels))
                else:
                    x = layer(x)
            return sum(found) + self.others[0](x, [1, 2]).sum()
    """
    program = """\
    import torch
    from net import Net

    device = torch.device("cuda")
    model = Net().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, labels in loader:
        loss = model(x.to(device), labels.to(device)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU101,TPU103", train=program, net=net)


def test_loaders_that_come_through_several_methods(tmp_path: Path) -> None:
    train = """\
    import torch
    from torch.utils.data import DataLoader

    class Run:
        def __init__(self, config):
            self.epochs, self.size = config["epochs"], config["size"]

        def read(self, path, size):
            return DataLoader(dataset(path), size, shuffle=True)  # TPU501

        def make(self, path):
            return DataLoader(dataset(path), 1, shuffle=True)

        def get_data(self):
            first = self.read("a", self.size)
            single = self.make("b")
            return first, single

        def train(self, loader, model, optimizer):
            for x, y in tqdm(loader):
                loss = (model(x) - y).pow(2).mean()
                model.zero_grad()
                loss.backward()
                optimizer.step()

        def first(self, model, first, single, optimizer):
            for i in range(self.epochs):
                self.train(first, model, optimizer)
                self.train(single, model, optimizer)

        def main(self):
            model = torch.nn.Linear(4, 4).cuda()
            first, single = self.get_data()
            self.first(model, first, single, torch.optim.SGD(model.parameters(), 0.1))

    Run(config).main()
    """
    agree(tmp_path, "TPU501", train=train)


PLACES = """\
import torch
from torch import nn

device = torch.device("cuda")
net = nn.Linear(4, 2).to(device)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    output = net(x.to(device))
    MADE
    for i in range(8):
        if predicted[i] == 1:  # SAID
            hits[i] += 1
    output.sum().backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("predicted = output.max(1)[1]", "TPU220"),
        ("_, predicted = torch.max(output, 1)", "TPU220"),
        ("_, predicted = ask(output)", "none"),  # perhaps a list
        ("predicted = ask(output)[1]", "none"),
    ],
)
def test_places_that_an_operation_gives_beside_values(tmp_path: Path, made: str, said: str) -> None:
    agree(tmp_path, "TPU220", train=PLACES.replace("MADE", made).replace("SAID", said))
