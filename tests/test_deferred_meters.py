"""Meters that get the numbers of the device when they are looked at: which may wait, and what the fixes write."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest
from command import tpulint, write
from marked_files import fill

METER = """\
    class AverageMeter:
        def __init__(self, name=""):
            self.name = name
            self.reset()

        def reset(self):
            self.val = self.avg = self.sum = self.count = 0

        def update(self, val, n=1):
            self.val = val
            self.sum += val * n
            self.count += n
            self.avg = self.sum / self.count
            EFFECT

        def __str__(self):
            return "{name} {val:.3f} ({avg:.3f})".format(**self.__dict__)


    class Progress:
        def __init__(self, meters):
            self.meters = meters

        def show(self):
            print(*map(str, self.meters))
    """
PROGRAM = """\
    import time

    import torch
    import torch_xla
    from torch import nn
    from meters import AverageMeter, Progress

    device = torch_xla.device()
    model = nn.Linear(4, 2).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters())


    def train(loader, epoch):
        BEFORE
        for step, (x, y) in enumerate(loader):
            x, y = x.to(device), y.to(device)
            output = model(x)
            loss = criterion(output, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            INSIDE
            torch_xla.sync()
            BEHIND
        return losses.avg


    for epoch in range(3):
        print(train(batches, epoch))
    """
MADE = 'losses = AverageMeter("loss")'
SHOWN = "progress = Progress([losses])"
EVERY_TENTH = "if step % 10 == 0:\n    progress.show()"
TOLD = "losses.update(loss.item(), x.size(0))"


def _lines(folder: Path, before: str, inside: str, behind: str = "pass", effect: str = "pass") -> set[str]:
    """The lines of the program that are others with all fixes; what is found is fixed."""
    text = fill(dedent(PROGRAM), BEFORE=before, INSIDE=inside, BEHIND=behind)
    path = write(folder / "main.py", text)
    write(folder / "meters.py", dedent(METER).replace("EFFECT", effect))
    tpulint("--isolated", "--no-cache", "--fix", "--unsafe-fixes", ".", cwd=folder)
    fixed = path.read_text()
    tpulint("--isolated", "--no-cache", "--fix", "--unsafe-fixes", ".", cwd=folder)
    assert path.read_text() == fixed
    return {line.strip() for line in fixed.splitlines() if line not in text.splitlines()}


def _deferred(options: str, made: str = 'AverageMeter("loss")') -> str:
    return f"losses = tpulint_runtime.defer_updates({made}{options})"


@pytest.mark.parametrize(
    ("before", "inside", "behind", "expected"),
    [
        # shown by an object of the project, now and then
        (
            f"{MADE}\n{SHOWN}",
            TOLD,
            EVERY_TENTH,
            {_deferred(", numbers=True"), "losses.update(loss.detach(), x.size(0))"},
        ),
        # given tensors from the start: no numbers are expected
        (
            f"{MADE}\n{SHOWN}",
            "losses.update(loss.detach(), x.size(0))",
            EVERY_TENTH,
            {_deferred("")},
        ),
        # computed with a number of Python, given by name
        (
            f"{MADE}\n{SHOWN}",
            "losses.update(val=loss.item() * 4, n=4)",
            EVERY_TENTH,
            {_deferred(", numbers=True"), "losses.update(val=loss.detach() * 4, n=4)"},
        ),
        # a number that has a name of its own, read behind the update of the step
        (
            f"{MADE}\n{SHOWN}",
            "value = loss.item()\nlosses.update(value, x.size(0))",
            f"{EVERY_TENTH}\n    print(value)",
            {_deferred(", numbers=True"), "value = loss.detach()", "print(value.item())"},
        ),
        (
            f"{MADE}\n{SHOWN}",
            "loss = loss.item()\nlosses.update(val=loss)",
            EVERY_TENTH,
            {_deferred(", numbers=True"), "loss = loss.detach()"},
        ),
        # two places that give it numbers
        (
            f"{MADE}\n{SHOWN}",
            f"{TOLD}\nlosses.update(output.mean().item())",
            EVERY_TENTH,
            {
                _deferred(", numbers=True"),
                "losses.update(loss.detach(), x.size(0))",
                "losses.update(output.mean().detach())",
            },
        ),
    ],
)
def test_meters_that_wait(tmp_path: Path, before: str, inside: str, behind: str, expected: set[str]) -> None:
    assert _lines(tmp_path, before, inside, behind) == {"import tpulint_runtime", *expected}


@pytest.mark.parametrize(
    ("before", "inside", "behind", "effect"),
    [
        # looked at in every step
        (f"{MADE}\n{SHOWN}", TOLD, "progress.show()", "pass"),
        (f"{MADE}\n{SHOWN}", TOLD, "if losses.avg > 3:\n    break", "pass"),
        # another number comes in every step
        (f"{MADE}\n{SHOWN}", f"{TOLD}\nlosses.update(time.time())", EVERY_TENTH, "pass"),
        # the number is needed in every step
        (f"{MADE}\n{SHOWN}", "value = loss.item()\nlosses.update(value)\nprint(value)", EVERY_TENTH, "pass"),
        (f"{MADE}\n{SHOWN}", "value = loss.item()\nlosses.update(value)\nlosses.update(step)", EVERY_TENTH, "pass"),
        # what the method gives back is used
        (f"{MADE}\n{SHOWN}", f"{TOLD}\nlast = losses.update(loss.item())", EVERY_TENTH, "pass"),
        # its method does more than to keep it
        (f"{MADE}\n{SHOWN}", TOLD, EVERY_TENTH, "print(self.avg)"),
        (f"{MADE}\n{SHOWN}", TOLD, EVERY_TENTH, "return self.avg"),
        (f"{MADE}\n{SHOWN}", TOLD, EVERY_TENTH, "show(self)"),
        # made elsewhere, or known by another name as well
        ("losses = make_meter()\nprogress = Progress([losses])", TOLD, EVERY_TENTH, "pass"),
        (f'losses = other = AverageMeter("loss")\n{SHOWN}', TOLD, EVERY_TENTH, "pass"),
    ],
)
def test_meters_that_do_not_wait(tmp_path: Path, before: str, inside: str, behind: str, effect: str) -> None:
    assert not any("tpulint_runtime" in line for line in _lines(tmp_path, before, inside, behind, effect))


def test_meters_that_an_object_keeps(tmp_path: Path) -> None:
    text = """\
        import torch
        from torch import nn
        from meters import AverageMeter, Progress


        class Trainer:
            def __init__(self, model):
                self.model = model.cuda()
                self.optimizer = torch.optim.Adam(self.model.parameters())
                self.losses = AverageMeter()  # of an epoch
                self.progress = Progress([self.losses])

            def train(self, loader):
                self.losses.reset()
                for step, (x, y) in enumerate(loader):
                    loss = nn.functional.cross_entropy(self.model(x.cuda()), y.cuda())
                    self.optimizer.zero_grad()
                    loss.backward()
                    self.optimizer.step()
                    self.losses.update(loss.item(), len(x))
                print(self.losses)


        trainer = Trainer(nn.Linear(4, 2))
        for epoch in range(3):
            trainer.train(batches)
        """
    path = write(tmp_path / "main.py", dedent(text))
    write(tmp_path / "meters.py", dedent(METER).replace("EFFECT", "pass"))
    tpulint("--isolated", "--no-cache", "--fix", "--unsafe-fixes", ".", cwd=tmp_path)
    fixed = path.read_text()
    assert "self.losses = tpulint_runtime.defer_updates(AverageMeter(), numbers=True)  # of an epoch" in fixed
    assert "self.losses.update(loss.detach(), len(x))" in fixed


def test_numbers_with_names_in_an_evaluation(tmp_path: Path) -> None:
    text = dedent(PROGRAM).partition("def train")[0] + dedent("""\
        def validate(loader):
            losses = AverageMeter("loss")
            accuracy = AverageMeter("accuracy")
            model.eval()
            with torch.no_grad():
                for step, (x, y) in enumerate(loader):
                    output = model(x.to(device))
                    loss = criterion(output, y.to(device))
                    value = loss.item()
                    share = (output.argmax(1) == y.to(device)).float().mean().item()
                    losses.update(value, len(x))
                    accuracy.update(share, len(x))
            print(losses, accuracy)
        """)
    path = write(tmp_path / "main.py", text)
    write(tmp_path / "meters.py", dedent(METER).replace("EFFECT", "pass"))
    tpulint("--isolated", "--no-cache", "--fix", "--unsafe-fixes", "main.py", cwd=tmp_path)
    fixed = path.read_text()
    assert 'losses = tpulint_runtime.defer_updates(AverageMeter("loss"), numbers=True)' in fixed
    assert 'accuracy = tpulint_runtime.defer_updates(AverageMeter("accuracy"), numbers=True)' in fixed
    assert ".item()" not in fixed and "losses.update(value, len(x))" in fixed


def test_a_meter_is_told_once(tmp_path: Path) -> None:
    meter = dedent(METER).replace("EFFECT", "pass").partition("\n\n\nclass Progress")[0]
    text = dedent(PROGRAM).replace("from meters import AverageMeter, Progress\n", "\n\n" + meter + "\n\n")
    text = fill(text, BEFORE=MADE, INSIDE="losses.update(loss.detach())", BEHIND="pass")
    write(tmp_path / "main.py", text)
    out = tpulint("--isolated", "--no-cache", "--output-format", "concise", "main.py", cwd=tmp_path).out
    assert [line.partition("`")[2].partition("`")[0] for line in out.splitlines() if "TPU223" in line] == ["losses"]
    tpulint("--isolated", "--no-cache", "--fix", "--unsafe-fixes", "main.py", cwd=tmp_path)
    assert "TPU223" not in tpulint("--isolated", "--no-cache", "main.py", cwd=tmp_path).out


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("class AverageMeter:", "class AverageMeter(Base):"),
        ("class AverageMeter:", "class AverageMeter(metaclass=Registry):"),
        ("class AverageMeter:\n", "class AverageMeter:\n    __slots__ = ('val', 'avg', 'sum', 'count', 'name')\n\n"),
        ("class AverageMeter:", "@register\nclass AverageMeter:"),
        ("    pass\n", "    ALL.append(val)\n"),  # a list of the file
        ("    pass\n", "    AverageMeter.total += val\n"),  # of the class
        ("    pass\n", "    print(type(self), self.__class__)\n"),
        ("    pass\n", "    self.optimizer.lr = val\n"),  # of what it was handed
        ("    pass\n", "    self.seen = COUNTS[0]\n"),
    ],
)
def test_classes_that_notice(tmp_path: Path, old: str, new: str) -> None:
    """A class cannot be derived from them, or what they do is seen by others."""
    meter = dedent(METER).replace("EFFECT", "pass")
    assert old in meter
    text = fill(dedent(PROGRAM), BEFORE=f"{MADE}\n{SHOWN}", INSIDE=TOLD, BEHIND="pass")
    path = write(tmp_path / "main.py", text)
    meter = meter.replace("self.name = name", "self.name = name\n        self.optimizer = name", 1)
    write(tmp_path / "meters.py", "ALL, COUNTS = [], [0]\n\n\n" + meter.replace(old, new, 1))
    tpulint("--isolated", "--no-cache", "--fix", "--unsafe-fixes", "main.py", cwd=tmp_path)
    assert "defer_updates" not in path.read_text()


@pytest.mark.parametrize(
    ("sent", "waits"),
    [
        # a tensor that is made of what it keeps
        ("total = torch.tensor([self.sum, self.count])\ndist.all_reduce(total, dist.ReduceOp.SUM)", True),
        ("total = torch.tensor([self.sum, self.count])\ndist.all_reduce(total, op=dist.ReduceOp.SUM)", True),
        # what it keeps, which has to be on the device
        ("dist.all_reduce(self.sum, dist.ReduceOp.SUM)", False),
        ("dist.all_reduce(self.sum)", False),
    ],
)
def test_meters_of_several_processes(tmp_path: Path, sent: str, waits: bool) -> None:
    meter = dedent(METER).replace("EFFECT", "pass").partition("\n\n\nclass Progress")
    method = "\n\n    def all_reduce(self):\n" + indent(sent, " " * 8)
    text = fill(dedent(PROGRAM), BEFORE=f"{MADE}\n{SHOWN}", INSIDE=TOLD, BEHIND=EVERY_TENTH)
    path = write(tmp_path / "main.py", text.replace("return losses.avg", "losses.all_reduce()\n    return losses.avg"))
    imports = "import torch\nimport torch.distributed as dist\n\n\n"
    write(tmp_path / "meters.py", imports + meter[0] + method + meter[1] + meter[2])
    tpulint("--isolated", "--no-cache", "--fix", "--unsafe-fixes", "main.py", cwd=tmp_path)
    assert (_deferred(", numbers=True") in path.read_text()) is waits


@pytest.mark.parametrize(
    ("inside", "behind", "waits"),
    [
        ("losses.keep(loss.item())", "print(max(losses.values))", True),
        ("losses.keep(loss.item())", "values = losses.values", False),  # not filled in time
        ("losses.keep(loss.item())", "plot(losses.values)", False),
        ("try:\n    losses.keep(loss.item())\nexcept ValueError:\n    pass", "pass", False),
        ("losses.keep(1 - (output > 0).any().item())", "pass", False),  # no number of torch
    ],
)
def test_what_is_kept_is_looked_at(tmp_path: Path, inside: str, behind: str, waits: bool) -> None:
    meter = """\
        class Values:
            def __init__(self):
                self.values = []

            def keep(self, val):
                self.values.append(val)
        """
    text = dedent(PROGRAM).replace("return losses.avg", "return 0").replace("AverageMeter, Progress", "Values")
    text = fill(text, BEFORE="losses = Values()", INSIDE=inside, BEHIND=f"if step % 10 == 0:\n    {behind}")
    path = write(tmp_path / "main.py", text)
    write(tmp_path / "meters.py", dedent(meter))
    tpulint("--isolated", "--no-cache", "--fix", "--unsafe-fixes", "main.py", cwd=tmp_path)
    assert ('defer_updates(Values(), "keep", numbers=True)' in path.read_text()) is waits
