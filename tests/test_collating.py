"""How loaders get the function that makes their batches, and how that finds out how long the longest sample is.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint
from marked_files import SETUP, agree

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()

COLLATE = """\
    import torch

    class Fill:
        def __init__(self, value=0):
            self.value = value

        def __call__(self, batch):
            LENGTHS
            longest = LONGEST  # TPU513
            rows = torch.LongTensor(len(batch), longest)
            rows.zero_()
            for row, sample in zip(rows, batch):
                row[: len(sample)] = sample
            return rows

    def fill(batch):
        whole = Fill()
        return whole(batch)
    """
PROGRAM = """
    from functools import partial
    from torch.utils.data import DataLoader
    from fillers import Fill, fill

    def loader_of(samples, collate=None):
        MADE
        return DataLoader(samples, batch_size=8, drop_last=True, collate_fn=made)

    for x in loader_of(samples):  # TPU301
        optimizer.zero_grad()
        model(x.to(device)).mean().backward()
        optimizer.step()
    """


@pytest.mark.parametrize(
    ("made", "lengths", "longest"),
    [
        ("made = Fill(0)", "pass", "max(len(x) for x in batch)"),
        ("made = collate if collate else fill", "pass", "max(len(x) for x in batch)"),
        (
            "made = partial(Fill(0))",
            "lengths, order = torch.sort(torch.LongTensor([len(x) for x in batch]), dim=0, descending=True)",
            "lengths[0]",
        ),
        ("made = Fill()", "lengths = torch.LongTensor([len(x) + 2 for x in batch])", "lengths.max().item()"),
    ],
)
def test_longest_samples(tmp_path: Path, made: str, lengths: str, longest: str) -> None:
    fillers = COLLATE.replace("LENGTHS", lengths).replace("LONGEST", longest)
    agree(tmp_path, "TPU301,TPU513", main=SETUP + PROGRAM.replace("MADE", made), fillers=fillers)


@pytest.mark.parametrize(
    ("lengths", "longest"),
    [
        ("lengths, order = torch.sort(torch.LongTensor([len(x) for x in batch]))", "lengths[0]"),
        ("lengths = torch.LongTensor([self.value for x in batch])", "lengths.max().item()"),
        ("lengths = torch.LongTensor([len(x) for x in batch])", "-(-lengths.max().item() // 64) * 64"),
    ],
)
def test_other_lengths(tmp_path: Path, lengths: str, longest: str) -> None:
    """The shortest, one that is given, and one that is rounded."""
    fillers = COLLATE.replace("LENGTHS", lengths).replace("LONGEST", longest).replace("  # TPU513", "")
    agree(tmp_path, "TPU301,TPU513", main=SETUP + PROGRAM.replace("MADE", "made = Fill()"), fillers=fillers)


def test_loaders_of_lightning(tmp_path: Path) -> None:
    """Its loops take what the hooks give, be it through other methods."""
    module = """\
    import pytorch_lightning as pl
    from torch.utils.data import DataLoader
    from fillers import Fill

    class Labelling(pl.LightningModule):
        def training_step(self, batch, batch_idx):
            return self.model(batch).mean()

        def train_dataloader(self):
            return self.loader_of("train")

        def loader_of(self, name):
            loader = DataLoader(self.samples[name], batch_size=8, collate_fn=Fill())
            return loader

    class Plain:
        def train_dataloader(self):
            return DataLoader(self.samples, collate_fn=pad)

    def pad(batch):
        longest = max(len(sample) for sample in batch)
        return [sample + [0] * (longest - len(sample)) for sample in batch]
    """
    fillers = COLLATE.replace("LENGTHS", "pass").replace("LONGEST", "max(len(x) for x in batch)")
    agree(tmp_path, "TPU513", main=module, fillers=fillers)


MADE_ELSEWHERE = """
    from torch.utils.data import DataLoader
    from fillers import fill
    from builders import build

    def pad(batch):
        longest = max(len(x) for x in batch)HERE
        rows = torch.zeros(len(batch), longest)
        for row, sample in zip(rows, batch):
            row[: len(sample)] = sample
        return rows

    def make(conf, samples, **kwargs):
        return DataLoader(samples, batch_size=conf["batch"], drop_last=True, **kwargs)

    def made(conf, samples, collate_fn):
        return DataLoader(samples, batch_size=conf["batch"], drop_last=True, collate_fn=collate_fn)

    def train(loader):
        for x in loader:
            optimizer.zero_grad()
            model(x.to(device)).mean().backward()
            optimizer.step()

    class State:
        pass

    state = State()
    """


@pytest.mark.parametrize(
    ("lines", "where"),
    [
        ("train(make({'batch': 8}, samples, collate_fn=pad))", "HERE"),
        ("train(made({'batch': 8}, samples, collate_fn=pad))", "HERE"),
        ("train(config.loader.make(samples, collate_fn=pad))", "HERE"),
        ("train(build(samples, collate_fn=pad))", "HERE"),
        ("train(config.loader.make(samples, collate_fn=fill))", "THERE"),
        ("train_loader = config.make(samples, collate_fn=fill); state.loader = train_loader; run(state)", "THERE"),
        ("valid_loader = config.make(samples, collate_fn=fill); run(valid_loader)", "THERE"),
        ("device_loader = config.make(samples, collate_fn=fill); run(device_loader)", ""),
        ("loader = make({'batch': 8}, samples, collate_fn=pad)", ""),
        ("first = next(iter(config.make(samples, collate_fn=pad)))", ""),
    ],
)
def test_functions_that_makers_of_loaders_are_given(tmp_path: Path, lines: str, where: str) -> None:
    """By the name of the argument, whoever makes the loader, where a loop takes its batches, or its name tells."""
    program = MADE_ELSEWHERE.replace("HERE", "  # TPU513" if where == "HERE" else "") + f"\n    {lines}\n"
    fillers = """\
    import torch

    def fill(batch):
        longest = max(len(x) for x in batch)THERE
        rows = torch.zeros(len(batch), longest)
        for row, sample in zip(rows, batch):
            row[: len(sample)] = sample
        return rows
    """.replace("THERE", "  # TPU513" if where == "THERE" else "")
    builders = """\
    from torch.utils.data import DataLoader

    def build(samples, collate_fn=None):
        return DataLoader(samples, batch_size=8, drop_last=True, collate_fn=collate_fn)
    """
    agree(tmp_path, "TPU513", main=SETUP + program, fillers=fillers, builders=builders)


LIGHTNING = """\
    import torch
    from torch.nn.utils.rnn import pad_sequence
    from torch.utils.data import DataLoader
    import pytorch_lightning as pl
    from bases import Samples

    class Data(BASE):
        def NAME(self):
            return DataLoader(self.samples, batch_size=4, shuffle=True, collate_fn=self.fill)TOLD

        def fill(self, batch):
            return pad_sequence([torch.tensor(sample) for sample in batch])FILLED

    trainer = pl.Trainer(LIMITS)
    GIVEN
    """


@pytest.mark.parametrize(
    ("base", "name", "limits", "given", "told", "filled"),
    [
        ("pl.LightningDataModule", "train_dataloader", "", "trainer.fit(net, datamodule=Data())", "TPU501", "TPU510"),
        ("Samples", "train_dataloader", "", "trainer.fit(net, Data())", "TPU501", "TPU510"),
        ("pl.LightningDataModule", "val_dataloader", "", "trainer.fit(net, Data())", "TPU516", "TPU510"),
        ("object", "loader", "", "trainer.fit(net, Data().loader())", "TPU501", "TPU510"),
        ("object", "loader", "", "trainer.fit(net, val_dataloaders=[Data().loader()])", "TPU516", "TPU510"),
        ("object", "loader", "", "train = {'a': Data().loader()}; trainer.fit(net, train)", "TPU501", "TPU510"),
        ("object", "loader", "", "trainer.test(net, Data().loader())", "TPU516", "TPU510"),
        ("object", "train_dataloader", "", "other.fit(net, Data().train_dataloader())", "", ""),
        ("object", "loader", "accelerator='cpu'", "trainer.fit(net, Data().loader())", "", ""),
        ("Samples", "train_dataloader", "accelerator='cpu'", "trainer.fit(net, Data())", "", ""),
        ("Samples", "train_dataloader", "accelerator='gpu'", "trainer.fit(net, Data())", "TPU501", "TPU510"),
        ("object", "loader", "", "trainer.tune(net, Data().loader())", "", ""),
    ],
)
def test_what_the_loops_of_lightning_run_over(
    tmp_path: Path, base: str, name: str, limits: str, given: str, told: str, filled: str
) -> None:
    """What its hooks give, be it of a class of another file, and what its trainer is given."""
    program = LIGHTNING.replace("BASE", base).replace("NAME", name).replace("LIMITS", limits).replace("GIVEN", given)
    for place, code in (("TOLD", told), ("FILLED", filled)):
        program = program.replace(place, f"  # {code}" if code else "")
    bases = """\
    import pytorch_lightning as pl

    class Samples(pl.LightningDataModule):
        samples = []
    """
    agree(tmp_path, "TPU501,TPU510,TPU516", main=program, bases=bases)


@pytest.mark.parametrize(
    ("lengths", "end", "is_length"),
    [
        ("longest, _ = lengths.max(0); longest = longest.squeeze()", "longest[0]", True),
        ("longest = lengths.max().item()", "longest", True),
        ("longest = -(-lengths.max().item() // 64) * 64", "longest", False),
        ("longest = self.longest", "longest", False),
    ],
)
def test_batches_that_are_cut_to_their_longest_sample(tmp_path: Path, lengths: str, end: str, is_length: bool) -> None:
    """In an object of another file, on the host; what stays there costs nothing."""
    program = """
    from torch.utils.data import DataLoader, TensorDataset
    from packing import Packer

    packer = Packer(True)
    loader = DataLoader(TensorDataset(torch.randn(64, 40), torch.randint(5, 40, (64, 2))), batch_size=8, drop_last=True)
    for x, lengths in loader:
        x = packer.pack(x, lengths)
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
    """
    packing = """\
    class Packer:
        def __init__(self, is_cuda, longest=40):
            self.is_cuda, self.longest = is_cuda, longest

        def pack(self, x, lengths):
            LENGTHS
            if self.is_cuda:
                x = x[:, 0:END].transpose(0, 1).cuda()  # TPU202
            else:
                x = x[:, 0:END].transpose(0, 1).contiguous()
            return x
    """
    text = packing.replace("LENGTHS", lengths).replace("END", end)
    text = text if is_length else text.replace("  # TPU202", "")
    agree(tmp_path, "TPU202,TPU212", main=SETUP + program, packing=text)


def test_sizes_drawn_for_tensors_that_a_method_is_given_one_by_one(tmp_path: Path) -> None:
    program = """
    import random

    def cropped(scale, *images):
        size = random.choice(range(16, 32))
        return [F.interpolate(image, (size, max(size, 8))) for image in images]  # TPU202

    def kept(scale, *images):
        return [F.interpolate(image, (scale, scale)) for image in images]

    for x, y in loader:
        x, y = cropped(2, x.to(device), y.to(device))
        x, y = kept(64, x, y)
        optimizer.zero_grad()
        F.l1_loss(model(x), y).backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU202", main=SETUP + program)


FILLED = """\
    import torch

    def fill(batch):
        longest = max(x.size(0) for x in batch)  # TPU513
        rows = batch[0].new(len(batch), longest).fill_(0)
        for row, x in zip(rows, batch):
            row[: x.size(0)] = x
        return rows
    """


@pytest.mark.parametrize(
    ("made", "is_fixed"),
    [("collate_fn=fill", True), ("collate_fn=collate", False)],
)
def test_what_goes_with_rows_that_another_file_fills_up_is_not_known(tmp_path: Path, made: str, is_fixed: bool) -> None:
    program = f"""
    from torch.utils.data import DataLoader
    from filling import fill

    def collate(batch):
        return *fill(batch), torch.tensor([len(x) for x in batch])

    for x, mask, *rest in DataLoader(samples, batch_size=8, drop_last=True, {made}):
        optimizer.zero_grad()
        model(x.to(device), mask.to(device)).mean().backward()
        optimizer.step()
    """
    filled = FILLED.replace("return rows", "return rows, mask_of(rows)")
    agree(tmp_path, "TPU513", main=SETUP + program, filling=filled)
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU513", ".", cwd=tmp_path)
    assert ("// 64" in (tmp_path / "filling.py").read_text()) == is_fixed


@pytest.mark.parametrize(
    ("unpacked", "is_fixed"),
    [
        ("pad_packed_sequence(self.layer(packed)[0])[0]", False),
        ("pad_packed_sequence(self.layer(packed)[0], total_length=x.size(0))[0]", True),
        ("run_padded(self.layer, x, lengths)[0]", False),  # what the first becomes
        ("self.layer(x)[0]", True),
    ],
)
@pytest.mark.parametrize("is_whole", [False, True])
def test_rows_stay_as_long_as_what_a_layer_of_the_project_unpacks(
    tmp_path: Path, unpacked: str, is_fixed: bool, is_whole: bool
) -> None:
    """Its lengths may be counted of a mask, so that none are handed on."""
    layer = f"""\
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from tpulint_runtime import run_padded

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.LSTM(4, 4)

    def forward(self, x):
        mask = x.ne(0)
        lengths = mask.sum(0).cpu()
        packed = pack_padded_sequence(x, lengths)
        return {unpacked} * mask
"""
    program = """
from torch.utils.data import DataLoader
from net import Net
from filling import fill

model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for x in DataLoader(samples, batch_size=8, drop_last=True, collate_fn=fill):
    optimizer.zero_grad()
    model(x.to(device)).mean().backward()
    optimizer.step()
"""
    filled = dedent(FILLED).replace("  # TPU513", "")
    if is_whole:
        layer, program = filled + layer, program.replace("from filling import fill", "from net import fill")
    for name, text in [("net", layer), ("filling", filled), ("main", dedent(SETUP) + program)]:
        (tmp_path / f"{name}.py").write_text(text)
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU301,TPU513", ".", cwd=tmp_path)
    ported = (tmp_path / ("net.py" if is_whole else "filling.py")).read_text()
    # A file that only fills up says nothing of the mask.
    assert ("// 64" in ported) == (is_whole and (is_fixed or "run_padded(self" in unpacked))


@pytest.mark.parametrize("is_loop", [True, False])
def test_what_modules_of_other_files_fill_up_as_they_compute(tmp_path: Path, is_loop: bool) -> None:
    """Against what a loop of another file fills up for them."""
    net = """\
    from torch import nn
    from expanding import expand

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            return self.linear(expand(x))
    """
    expanding = """\
    from filling import fill

    def expand(xs):
        return fill([x.repeat(2) for x in xs])
    """
    batch = "fill([part for part in x])" if is_loop else "x"
    program = f"""
    from filling import fill
    from net import Net

    model = Net().to(device)
    for x in samples:  # TPU301
        optimizer.zero_grad()
        model({batch}.to(device)).mean().backward()
        optimizer.step()
    """
    filled = FILLED if is_loop else FILLED.replace("  # TPU513", "")
    agree(tmp_path, "TPU301,TPU513", main=SETUP + program, net=net, expanding=expanding, filling=filled)


@pytest.mark.parametrize("made", ["Rows.fill", "Rows().fill", "Short.fill"])
def test_a_static_method_of_a_data_set_of_another_file(tmp_path: Path, made: str) -> None:
    rows = """\
    import torch


    class Rows(torch.utils.data.Dataset):
        @staticmethod
        def fill(batch):
            longest = max([len(x) for x in batch])  # TPU513
            return torch.stack([torch.cat([x, torch.zeros(longest - len(x), 4)]) for x in batch])

        @staticmethod
        def other(batch):
            longest = max([len(x) for x in batch])
            return torch.stack([torch.cat([x, torch.zeros(longest - len(x), 4)]) for x in batch])


    class Short(Rows):
        pass


    class Cut:
        @staticmethod
        def fill(batch):
            return torch.stack([x[: max([len(x) for x in batch])] for x in batch])
    """
    program = (
        SETUP
        + f"""
    from torch.utils.data import DataLoader
    from rows import Cut, Rows, Short

    loader = DataLoader(Rows(), batch_size=8, drop_last=True, collate_fn={made})
    for x in loader:  # TPU301
        optimizer.zero_grad()
        model(x.to(device)).mean().backward()
        optimizer.step()
    """
    )
    agree(tmp_path, select="TPU301,TPU513", main=program, rows=rows)


NOTED = """\
import torch
from torch.utils.data import DataLoader


def collate(batch):
    longest = max([x.shape[0] for x in batch])
    rows = torch.zeros(len(batch), longest, 4)
    noted = MADE
    for i, x in enumerate(batch):
        size = x.size(0)
        rows[i, :size] = x
        NOTE
    return GIVEN


def train(net, optimizer, samples, device):
    for x, lengths in DataLoader(samples, batch_size=8, drop_last=True, collate_fn=collate):
        mask = torch.arange(WIDTH)[None] < lengths[:, None]
        optimizer.zero_grad()
        (net(x.to(device)) * mask.to(device)).sum().backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("made", "note", "given", "width", "is_fixed"),
    [
        ("torch.zeros(len(batch)).long()", "noted[i] = x.shape[0]", "rows, noted", "lengths.max()", False),
        ("torch.LongTensor(len(batch))", "noted[i] = size", "rows, noted", "max(lengths)", False),
        ("[]", "noted.append(len(x))", "rows, torch.tensor(noted).long()", "lengths.max()", False),
        ("[]", "noted.append(size)", "(rows, (torch.LongTensor(noted)))", "torch.max(lengths)", False),
        ("[]", "noted.append(size)", '{"x": rows, "rest": (batch, noted)}', "lengths.max()", False),
        ("torch.zeros(len(batch)).long()", "noted[i] = size", "rows, noted", "x.size(1)", True),
        ("torch.zeros(len(batch)).long()", "noted[i] = x.sum()", "rows, noted", "lengths.max()", True),
        ("torch.zeros(len(batch)).long()", "size = noted[i]", "rows, noted", "lengths.max()", True),
        ("[]", "noted.append(len(x))", "rows, rows", "lengths.max()", True),
    ],
)
def test_lengths_that_are_noted_one_by_one(made: str, note: str, given: str, width: str, is_fixed: bool) -> None:
    """A mask that is as wide as the longest of them does not fit a batch that is filled up further."""
    text = NOTED.replace("MADE", made).replace("NOTE", note).replace("GIVEN", given).replace("WIDTH", width)
    settings = Settings(select=("TPU513",), fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert result.error == ""
    assert ("// 64" in result.text) == is_fixed
    assert len(result.findings) == (0 if is_fixed else 1)


@pytest.mark.parametrize(
    ("made", "mark"),
    [
        ("np.array([fill(x, longest) for x in batch])", "  # TPU513"),
        ("np.stack([fill(x, length=longest) for x in batch])", "  # TPU513"),
        ("np.array([fill_to(x, longest) for x in batch])", "  # TPU513"),
        ("np.array([fill(x, 64) for x in batch])", ""),
        ("np.array([fill(x, -(-longest // 8) * 8) for x in batch])", ""),
        ("np.array([cut(x, longest) for x in batch])", ""),
        ("np.array([widened(x, longest) for x in batch])", ""),
    ],
)
def test_samples_that_a_function_fills_up_to_the_longest(tmp_path: Path, made: str, mark: str) -> None:
    filling = """\
    import numpy as np

    def fill_to(sample, size):
        missing = size - len(sample)
        return np.pad(sample, (0, missing))
    """
    program = f"""
    import numpy as np
    from torch.utils.data import DataLoader
    from filling import fill_to

    def fill(sample, length):
        return np.pad(sample, (0, length - len(sample)), mode="constant")

    def cut(sample, length):
        return sample[:min(length, 8)]

    def widened(sample, length):
        length = 64
        return np.pad(sample, (0, length - len(sample)))

    def collate(batch):
        longest = np.max([len(x) for x in batch]){mark}
        return torch.tensor({made})

    for x in DataLoader(samples, batch_size=8, drop_last=True, collate_fn=collate):
        optimizer.zero_grad()
        model(x.to(device)).mean().backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU513", main=SETUP + program, filling=filling)


@pytest.mark.parametrize(
    ("kept", "width", "is_fixed"),
    [
        ("rows", "batch.rows.size(1)", True),
        ("lengths", "batch.rows.size(1)", True),
        ("lengths", "max(batch.lengths)", False),
    ],
)
def test_samples_to_which_a_list_of_what_is_missing_is_added(kept: str, width: str, is_fixed: bool) -> None:
    """What an object keeps beside them may be what masks are made of, as wide as the longest of them."""
    text = f"""\
import torch
from torch import nn

class Holder:
    def __init__(self, batch):
        longest = max(len(x) for x in batch)
        lengths = torch.tensor([len(x) for x in batch])
        rows = []
        for x in batch:
            rest = longest - len(x)
            rows.append(x + [0] * rest)
        self.rows = torch.tensor(rows)
        self.{kept} = {kept}

def train(model, optimizer, samples, device):
    for at in range(0, 160, 8):
        batch = Holder(samples[at : at + 8])
        optimizer.zero_grad()
        place = torch.arange({width}, device=device)
        nn.functional.cross_entropy(model(batch.rows.to(device), place), place, ignore_index=0).backward()
        optimizer.step()
"""
    settings = Settings(select=("TPU513",), fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert ("// 64" in result.text) == is_fixed
    assert len(result.findings) == (0 if is_fixed else 1)


BESIDE = """\
import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


def labels_of(batch):
    return LABELS


def collate(batch):
    x = ROWS
    return x, labels_of(batch)


def train(net, optimizer, samples, device):
    for x, y in DataLoader(samples, batch_size=8, drop_last=True, collate_fn=collate):
        optimizer.zero_grad()
        F.cross_entropy(net(x.to(device)), y.to(device), ignore_index=-100).backward()
        optimizer.step()


def shown(batch):
    return pad_sequence([x for x, y in batch])
"""


@pytest.mark.parametrize(
    ("rows", "labels", "fixed"),
    [
        ("filled([x for x, y in batch])", "pad_sequence([y for x, y in batch])", 0),
        ("filled([x for x, y in batch])", "tokenizer([y for x, y in batch], padding=True)", 2),
        ("filled([x for x, y in batch])", "tokenizer([y for x, y in batch], padding=True, pad_to_multiple_of=8)", 0),
        ("filled([x for x, y in batch])", "filled([y for x, y in batch])", 1),
        ("filled([x for x, y in batch])", "torch.stack([y for x, y in batch])", 1),
        ("tokenizer([x for x, y in batch], padding=True)", "pad_sequence([y for x, y in batch])", 0),
        ("tokenizer([x for x, y in batch], padding=True)", "torch.stack([y for x, y in batch])", 1),
    ],
)
def test_what_is_padded_to_the_longest_beside_a_batch(rows: str, labels: str, fixed: int) -> None:
    """What nothing makes wider does not fit what is: the fix is only shown."""
    filled = """

def filled(rows):
    longest = max(len(row) for row in rows)
    return torch.tensor([row + [0] * (longest - len(row)) for row in rows])
"""
    text = BESIDE.replace("ROWS", rows).replace("LABELS", labels) + filled
    settings = Settings(select=("TPU510", "TPU513"), fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert result.error == ""
    assert result.text.count("// 64") + result.text.count("pad_to_multiple_of=64") == fixed
    assert bool(result.findings) == (fixed == 0)


LEFT_OUT = """\
import torch
from torch import nn
from torch.utils.data import DataLoader

MOST = 77


def collate(batch):
    PREPARED
    longest = max(len(x) for x in batch)
    rows = torch.zeros(len(batch), longest).long()
    for row, x in zip(rows, batch):
        row[: len(x)] = torch.tensor(x)
    return rows


def train(net, optimizer, samples, device):
    for x in DataLoader(samples, batch_size=8, drop_last=True, collate_fn=collate):
        optimizer.zero_grad()
        USED.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("prepared", "used", "is_fixed"),
    [
        ("pass", "net(x.to(device)).mean()", False),
        ("lengths = [len(x) for x in batch]", "net(x.to(device)).mean()", False),  # which nobody looks at
        ("pass", "(net(x.to(device)).mean() / len(x))", False),
        ("pass", "net(x.to(device), src_key_padding_mask=x.eq(0).to(device)).mean()", True),
        ("pass", "net(x.to(device)).mul(x.ne(0).to(device)).masked_select(x > 0).mean()", True),
        ("pass", "nn.functional.cross_entropy(net(x.to(device)), x.to(device), ignore_index=0)", True),
        ("batch = [x[:MOST] for x in batch]", "net(x.to(device), mask=x > 0).mean()", False),
        ("batch = [x[:100] for x in batch]", "net(x.to(device), mask=x > 0).mean()", False),
        ("batch = [x[:512] for x in batch]", "net(x.to(device), mask=x > 0).mean()", True),
        ("batch = [x[:2] + x for x in batch]", "net(x.to(device), mask=x > 0).mean()", True),
    ],
)
def test_padding_is_left_out_and_within_what_samples_are_cut_to(prepared: str, used: str, is_fixed: bool) -> None:
    """More of it trained another model, or went beyond its table of positions: the fix is only shown."""
    text = LEFT_OUT.replace("PREPARED", prepared).replace("USED", used)
    result = lint(SourceFile.from_text(text), Settings(select=("TPU513",), fix=True, unsafe_fixes=True), CATALOGUE)
    assert ("// 64" in result.text) == is_fixed
    assert len(result.findings) == (0 if is_fixed else 1)


@pytest.mark.parametrize(
    ("given", "is_fixed"),
    [("rows, mask", True), ("out", True), ('{"ids": rows, "mask": mask}', True), ("rows", False)],
)
def test_a_file_that_only_fills_up_gives_a_mask_with_the_batch(tmp_path: Path, given: str, is_fixed: bool) -> None:
    filling = f"""\
import torch

def fill(batch):
    lengths = torch.tensor([len(x) for x in batch])
    longest = max(len(x) for x in batch)
    rows = torch.zeros(len(batch), longest).long()
    mask = torch.zeros(len(batch), longest)
    for row, kept, x in zip(rows, mask, batch):
        row[: len(x)] = torch.tensor(x)
        kept[: len(x)] = 1
    out = rows, mask
    return {given}
"""
    program = """
from torch.utils.data import DataLoader
from filling import fill

for batch in DataLoader(samples, batch_size=8, drop_last=True, collate_fn=fill):
    optimizer.zero_grad()
    model(batch).mean().backward()
    optimizer.step()
"""
    (tmp_path / "filling.py").write_text(filling)
    (tmp_path / "main.py").write_text(dedent(SETUP) + program)
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU513", ".", cwd=tmp_path)
    assert ("// 64" in (tmp_path / "filling.py").read_text()) == is_fixed


@pytest.mark.parametrize(
    ("options", "taken", "padded"),
    [
        ("max_length=77", "**x", 'padding="max_length", truncation=True, max_length=77'),
        ("max_length=200", "**x", "truncation=True, max_length=200, pad_to_multiple_of=50"),
        ("max_length=512", "**x", "max_length=512, pad_to_multiple_of=64"),
        ("max_length=MOST", "**x", ""),
        ("max_length=512", 'x["input_ids"]', ""),
        ("max_length=512", 'x["input_ids"], x["attention_mask"]', "max_length=512, pad_to_multiple_of=64"),
    ],
)
def test_a_tokenizer_fills_up_within_what_it_cuts_to(options: str, taken: str, padded: str) -> None:
    text = f"""\
import torch
from torch.utils.data import DataLoader


def collate(texts):
    return tokenizer(texts, return_tensors="pt", padding=True, truncation=True, {options})


def train(net, optimizer, samples, device):
    for x in DataLoader(samples, batch_size=8, drop_last=True, collate_fn=collate):
        optimizer.zero_grad()
        net({taken}).loss.backward()
        optimizer.step()
"""
    result = lint(SourceFile.from_text(text), Settings(select=("TPU510",), fix=True, unsafe_fixes=True), CATALOGUE)
    assert padded in result.text
    assert len(result.findings) == (0 if padded else 1)


SORTED = """\
import operator
import torch
from torch.utils.data import DataLoader


def collate(batch):
    MADE
    longest = LONGEST
    rows = torch.zeros(len(batch), longest).long()
    for row, sample in zip(rows, batch):
        row[: len(sample)] = torch.tensor(sample)
    return GIVEN


def train(net, optimizer, samples, device):
    for x in DataLoader(samples, batch_size=8, drop_last=True, collate_fn=collate):
        optimizer.zero_grad()
        net(x.to(device), mask=(x > 0).to(device)).mean().backward()
        optimizer.step()
"""
_PAIRS = "[(len(x), i) for i, x in enumerate(batch)]"


@pytest.mark.parametrize(
    ("made", "longest", "is_told"),
    [
        (f"order = sorted({_PAIRS}, reverse=True)", "order[0][0]", True),
        (f"order = sorted({_PAIRS})", "order[-1][0]", True),
        (f"order = {_PAIRS}\n    order.sort(reverse=True)", "order[0][0]", True),
        ("order = [(0, len(x)) for x in batch]\n    order.sort(key=lambda x: x[1])", "order[-1][1]", True),
        (f"order = sorted({_PAIRS}, key=operator.itemgetter(0), reverse=True)", "order[0][0]", True),
        ("order = sorted(map(len, batch), reverse=True)", "order[0]", True),
        ("pass", "sorted([len(x) for x in batch])[-1]", True),
        (f"lengths, places = zip(*sorted({_PAIRS}, reverse=True))", "lengths[0]", True),
        (f"lengths, places = zip(*sorted({_PAIRS}, reverse=True))\n    kept = list(lengths)", "kept[0]", True),
        (f"lengths, places = zip(*sorted({_PAIRS}, reverse=True))", "places[0]", False),
        (f"order = sorted({_PAIRS})", "order[0][0]", False),  # the shortest
        (f"order = sorted({_PAIRS}, reverse=True)", "order[0][1]", False),  # its place
        (f"order = {_PAIRS}", "order[0][0]", False),  # in no order
        (f"order = sorted({_PAIRS}, key=lambda x: x[1], reverse=True)", "order[0][0]", False),
        ("order = sorted([(sum(x), i) for i, x in enumerate(batch)], reverse=True)", "order[0][0]", False),
        (f"order = sorted({_PAIRS}, reverse=True)", "-(-order[0][0] // 8) * 8", False),
    ],
)
def test_the_longest_of_a_sorted_list(made: str, longest: str, is_told: bool) -> None:
    text = SORTED.replace("MADE", made).replace("LONGEST", longest).replace("GIVEN", "rows")
    result = lint(SourceFile.from_text(text), Settings(select=("TPU513",), fix=True, unsafe_fixes=True), CATALOGUE)
    assert result.error == ""
    assert (f"longest = -(-{longest} // 64) * 64" in result.text) == is_told
    assert not result.findings


def test_lengths_that_go_on_with_what_is_sorted() -> None:
    """A mask that is as wide as the longest of them does not fit a batch that is filled up further."""
    text = SORTED.replace("MADE", f"order = sorted({_PAIRS}, reverse=True)").replace("LONGEST", "order[0][0]")
    text = text.replace("GIVEN", "rows, [one[0] for one in order]").replace("for x in", "for x, lengths in")
    text = text.replace("net(x", "net(torch.arange(max(lengths)), x")
    result = lint(SourceFile.from_text(text), Settings(select=("TPU513",), fix=True, unsafe_fixes=True), CATALOGUE)
    assert "// 64" not in result.text
    assert len(result.findings) == 1


TRIMMED = """\
    import torch

    def collate(batch):
        ids, mask, lens, labels = map(torch.stack, zip(*batch))
        LONGEST
        return CUT
    """
TAKEN = """
    from torch.utils.data import DataLoader
    from fillers import collate

    for ids, mask, labels in DataLoader(samples, batch_size=8, drop_last=True, collate_fn=collate):  # TPU301
        optimizer.zero_grad()
        loss = F.cross_entropy(model(ids.to(device)).flatten(0, 1), labels.to(device).flatten(), ignore_index=0)
        loss.backward()
        optimizer.step()
    """


@pytest.mark.parametrize(
    ("longest", "cut"),
    [
        ("longest = max(lens).item()  # TPU513", "ids[:, :longest], mask[:, :longest], labels[:, :longest]"),
        ("longest = int(mask.sum(1).max())  # TPU513", "ids[:, :longest], mask[:, :longest], labels[:, :longest]"),
        ("longest = max(lens.tolist())  # TPU513", "[part[:, :longest] for part in (ids, mask, labels)]"),
        ("longest = min(max(lens).item(), 40)  # TPU513", "ids[:, :longest], mask[:, :longest], labels[:, :longest]"),
        ("longest = -(-max(lens).item() // 64) * 64", "ids[:, :longest], mask[:, :longest], labels[:, :longest]"),
        ("longest = max((8, 16))", "ids[:, :longest], mask[:, :longest], labels[:, :longest]"),
        ("first = max(lens).item()", "ids[:first], mask[:first], labels[:first]"),
        ("start = min(lens).item()", "ids[:, :start], mask[:, :start], labels[:, :start]"),
        ("offset = max(lens).item()", "ids[:, offset:], mask, labels"),
    ],
)
def test_trimmed_batches(tmp_path: Path, longest: str, cut: str) -> None:
    """Samples that are padded already, which are cut to the longest of their batch."""
    fillers = TRIMMED.replace("LONGEST", longest).replace("CUT", cut)
    agree(tmp_path, "TPU301,TPU513", main=SETUP + TAKEN, fillers=fillers)


KEPT = """\
import torch
import torch.nn.functional as F
from torch import nn

def collate(batch):
    images, boxes = zip(*batch)
    most = 0
    for i, b in enumerate(boxes):
        FIRST
        SECOND
    REST
    return torch.stack(images), torch.stack([F.pad(b, (0, 0, 0, most - b.shape[0])) for b in boxes])

model = nn.Conv2d(3, 3, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, b in torch.utils.data.DataLoader(data, batch_size=8, shuffle=True, drop_last=True, collate_fn=collate):
    loss = model(x.cuda()).mean() - b.cuda().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("first", "second", "rest"),
    [
        ("n = b.shape[0]  # TPU513", "if n > most: most = n", "pass"),
        ("n = len(boxes[i])  # TPU513", "if most < n: most = n", "pass"),
        ("pass", "most = max(most, int(b.shape[0]))  # TPU513", "pass"),
        ("pass", "if b.shape[0] > most: most = b.shape[0]  # TPU513", "pass"),
        ("n = b.shape[0]", "if n > most: most = n", "most = 64"),
        ("n = b.shape[0]", "if n > most: most = n", "most = (most + 63) // 64 * 64"),
        ("n = b.shape[0]", "if n < most: most = n", "pass"),  # the smallest
        ("n = b.mean()", "if n > most: most = n", "pass"),
    ],
)
def test_largest_length_that_a_loop_keeps(tmp_path: Path, first: str, second: str, rest: str) -> None:
    text = KEPT.replace("FIRST", first).replace("SECOND", second).replace("REST", rest)
    agree(tmp_path, "TPU513", main=text)
    before = (tmp_path / "main.py").read_text()
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU513", ".", cwd=tmp_path)
    assert (tmp_path / "main.py").read_text() == before
