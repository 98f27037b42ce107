"""What the files of a project know of each other: kinds through imports, how often functions run through calls."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import Answer, environment, tpulint
from notebook_files import notebook

from tpulint.cache import Cache
from tpulint.digest import Stamp
from tpulint.examination import Examined
from tpulint.library import Library
from tpulint.model import OutgoingCall, OutsideCall
from tpulint.report.entry import FileReport
from tpulint.semantic import Kind, SemanticIndex, Side
from tpulint.source import SourceFile

TRAIN = """\
import torch
import torch_xla
from lib.metrics import Meter, accuracy
from lib import models
from lib.data import loaders

device = torch_xla.device()
model = models.build(10).to(device)
criterion = torch.nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
train_loader, test_loader = loaders()
meter = Meter()
for x, y in train_loader:
    x, y = x.to(device), y.to(device)
    out = model(x)
    loss = criterion(out, y)
    BEFORE
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    AFTER
"""
FILES = {
    "pyproject.toml": "",
    "lib/__init__.py": "",
    "lib/metrics.py": """\
def accuracy(output, target):
    correct = output.argmax(1).eq(target).float().sum()
    return correct.item() / target.size(0)


class Meter:
    def __init__(self):
        self.total = 0.0

    def update(self, value, n=1):
        self.total += value.item() * n


def never_called(output):
    return output.sum().item()
""",
    "lib/models.py": """\
from torch import nn

from .blocks import Block


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.block = Block()
        self.head = nn.Linear(8, n)

    def forward(self, x):
        return self.head(self.block(x))


def build(n):
    model = Net(n)
    return model
""",
    "lib/blocks.py": """\
from torch import nn


class Block(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            x = x * 2
        return x
""",
    "lib/data.py": """\
from torch.utils.data import DataLoader


def loaders():
    return DataLoader([1], batch_size=2, drop_last=True), DataLoader([2], batch_size=2, drop_last=True)
""",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path, before="accuracy(out, y)", after="pass")


def write(folder: Path, before: str, after: str) -> Path:
    train = TRAIN.replace("BEFORE", before).replace("AFTER", after)
    for name, text in {**FILES, "train.py": train}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


def found(answer: Answer) -> set[str]:
    """``file:row code`` of every finding."""
    return {
        f"{Path(entry['filename']).name}:{entry['location']['row']} {entry['code']}" for entry in json.loads(answer.out)
    }


def lint(folder: Path, *args: str) -> set[str]:
    return found(tpulint("--output-format=json", "--select", "TPU101,TPU103", *args, cwd=folder))


def indexed(folder: Path, name: str) -> SemanticIndex:
    path = folder / name
    return SemanticIndex(SourceFile.from_text(path.read_text(), str(path)), ast.parse(path.read_text()), Library())


def value_of(index: SemanticIndex, name: str) -> tuple[Kind, Side]:
    node = next(node for node in index.tree.names if node.id == name and isinstance(node.ctx, ast.Load))
    value = index.value(node)
    return value.kind, value.side


# ------------------------------------------------------------------------ kinds through imports


def test_kinds_come_through_imports(project: Path) -> None:
    index = indexed(project, "train.py")
    assert value_of(index, "model")[0] is Kind.MODULE
    assert value_of(index, "train_loader")[0] is Kind.LOADER
    assert value_of(index, "out") == (Kind.TENSOR, Side.DEVICE)


def test_a_number_that_an_imported_function_returns_is_no_tensor(project: Path) -> None:
    (project / "use.py").write_text("from lib.metrics import never_called\nvalue = never_called(1)\nprint(value)\n")
    assert value_of(indexed(project, "use.py"), "value")[0] is Kind.HOST


@pytest.mark.parametrize(
    "line",
    [
        "from lib.models import build",
        "from lib.models import build as build",
        "from lib import models; build = models.build",
        "import lib.models; build = lib.models.build",
        "from lib.models import *",
        "from shortcut import build",
    ],
)
def test_ways_to_import(project: Path, line: str) -> None:
    (project / "shortcut.py").write_text("from lib.models import build\n")
    (project / "use.py").write_text(f"{line}\nmodel = build(3)\nprint(model)\n")
    assert value_of(indexed(project, "use.py"), "model")[0] is Kind.MODULE


def test_a_name_bound_in_two_ways_is_unknown(project: Path) -> None:
    imported = "try:\n    from lib.models import build\nexcept ImportError:\n    build = None\n"
    (project / "use.py").write_text(f"{imported}model = build(3)\nprint(model)\n")
    assert value_of(indexed(project, "use.py"), "model")[0] is Kind.UNKNOWN


def test_imports_in_a_circle_end(project: Path) -> None:
    (project / "one.py").write_text("from two import make\ndef other():\n    return make()\n")
    (project / "two.py").write_text("from one import other\ndef make():\n    return other()\n")
    (project / "use.py").write_text("from one import other\nvalue = other()\nprint(value)\n")
    assert value_of(indexed(project, "use.py"), "value")[0] is Kind.UNKNOWN


@pytest.mark.parametrize("content", [b"def build(:\n", b"\x00", b"\xff\xfe", b""])
def test_an_imported_file_that_cannot_be_read_says_nothing(project: Path, content: bytes) -> None:
    (project / "lib" / "models.py").write_bytes(content)
    assert value_of(indexed(project, "train.py"), "model")[0] is not Kind.LOADER
    # and its own finding stays its own
    answer = tpulint("--output-format=json", "train.py", cwd=project)
    assert {entry["filename"].rpartition("/")[2] for entry in json.loads(answer.out)} <= {"train.py"}


# ------------------------------------------------------------------------ how often functions run


def test_reads_in_functions_called_from_another_file(project: Path) -> None:
    # In front of the boundary, and through two files: the forward pass of a block of the model.
    assert lint(project, ".") == {"metrics.py:3 TPU101", "blocks.py:6 TPU103"}


def test_who_calls_is_said(project: Path) -> None:
    answer = tpulint("--output-format=json", "--select", "TPU101", cwd=project)
    (entry,) = json.loads(answer.out)
    assert "in every step of train.py" in entry["message"]
    assert entry["fix"] is None  # what becomes of the number is decided elsewhere


def test_behind_the_boundary_it_is_no_matter(project: Path) -> None:
    write(project, before="pass", after="meter.update(loss)")
    assert lint(project, ".") == {"blocks.py:6 TPU103"}


def test_what_is_computed_behind_the_boundary_is_a_graph_of_its_own(project: Path) -> None:
    write(project, before="pass", after="accuracy(out, y)")
    assert lint(project, ".") == {"metrics.py:3 TPU101", "blocks.py:6 TPU103"}
    answer = tpulint("--output-format=json", "--select", "TPU101", cwd=project)
    (entry,) = json.loads(answer.out)
    assert "computed and copied to the host behind the step boundary of train.py" in entry["message"]
    write(project, before="pass", after="if epoch % 10 == 0: accuracy(out, y)")
    assert lint(project, ".") == {"blocks.py:6 TPU103"}


@pytest.mark.parametrize("before", ["if epoch % 10 == 0: accuracy(out, y)", "pass"])
def test_now_and_then_is_not_every_step(project: Path, before: str) -> None:
    write(project, before=before, after="pass")
    assert "metrics.py:3 TPU101" not in lint(project, ".")


def test_methods_of_imported_classes(project: Path) -> None:
    write(project, before="meter.update(loss)", after="pass")
    assert lint(project, ".") == {"metrics.py:11 TPU101", "blocks.py:6 TPU103"}


def test_numbers_of_the_host_are_no_reads(project: Path) -> None:
    write(project, before="meter.update(numpy_value.mean())", after="pass")
    text = (project / "train.py").read_text()
    (project / "train.py").write_text(f"import numpy as np\nnumpy_value = np.ones(3)\n{text}")
    assert lint(project, ".") == {"blocks.py:6 TPU103"}


def test_an_evaluation_in_another_file(project: Path) -> None:
    text = re.sub(r"    optimizer.*\n|    loss.backward.*\n", "", (project / "train.py").read_text())
    (project / "train.py").write_text(text.replace("for x, y in train_loader:", "for x, y in test_loader:").replace(
        "    out = model(x)", "    with torch.no_grad():\n        out = model(x)"))  # fmt: skip
    answer = tpulint("--output-format=json", "--select", "TPU101", cwd=project)
    assert [entry["message"].partition(" of train.py")[1] for entry in json.loads(answer.out)] == [" of train.py"]
    assert "in every evaluation batch" in answer.out


# ------------------------------------------------------------------------ runs


def test_one_file_alone_is_told_the_same(project: Path) -> None:
    """A hook is given only what changed."""
    assert lint(project, "lib/metrics.py", "--no-cache") == {"metrics.py:3 TPU101"}


def test_of_a_file_beside_a_run_only_calls_are_known(project: Path) -> None:
    """Its own findings are looked for when it is its turn, and one file alone is still told the same."""
    write(project, before="accuracy(out, y), print(loss.item())", after="pass")
    own = lint(project, "train.py", "--no-cache")
    time.sleep(0.06)  # a file just written is not remembered
    assert own and lint(project, "lib/metrics.py") == lint(project, "lib/metrics.py") == {"metrics.py:3 TPU101"}
    assert lint(project, "train.py") == lint(project, "train.py") == own


def test_the_cache_knows_what_a_report_depends_on(project: Path) -> None:
    expected = {"metrics.py:3 TPU101", "blocks.py:6 TPU103"}
    assert lint(project, ".") == lint(project, ".") == expected
    assert lint(project, "lib/metrics.py") == {"metrics.py:3 TPU101"}
    write(project, before="pass", after="pass")  # the caller changes, the file called does not
    assert lint(project, ".") == {"blocks.py:6 TPU103"}
    write(project, before="accuracy(out, y)", after="pass")
    assert lint(project, ".") == expected
    models = project / "lib" / "models.py"
    models.write_text(models.read_text().replace("self.head(self.block(x))", "self.head(x)"))
    assert lint(project, ".") == {"metrics.py:3 TPU101"}


def test_calls_are_followed_through_a_file_of_which_no_rule_may_speak(project: Path) -> None:
    blocks = project / "lib" / "blocks.py"
    begins = "def forward(self, x):"
    text = "import torch\n" + blocks.read_text().replace(begins, begins + "\n        x = torch.fft.rfft(x)")
    blocks.write_text(text)
    row = text.splitlines().index("        x = torch.fft.rfft(x)") + 1
    answer = tpulint("--output-format=json", "--select", "TPU135", ".", cwd=project)
    assert found(answer) == {f"blocks.py:{row} TPU135"}


def test_a_second_run_over_files_that_call_each_other_opens_none(project: Path) -> None:
    time.sleep(0.06)  # a file just written is not remembered
    first = tpulint(cwd=project)
    program = (
        "import sys\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == 'open' else None)\n"
        "from tpulint.cli import run\n"
        "run([])\n"
        "sys.stdout.flush()\n"
        "names = ('train.py', 'metrics.py', 'models.py', 'blocks.py', 'data.py')\n"
        "print([path for path in opened if path.endswith(names)], file=sys.stderr)\n"
    )
    env = environment(project.parent / "user-cache")
    done = subprocess.run([sys.executable, "-P", "-c", program], cwd=project, env=env, capture_output=True, check=True)
    assert done.stderr.decode() == "[]\n"
    assert done.stdout.decode() == first.out


def test_the_cache_gives_back_all_that_is_known_of_calls(tmp_path: Path) -> None:
    place = str(tmp_path / "lib.py")
    call = OutsideCall(
        "Meter.update", "step", True, True, (("value", "TENSOR", "DEVICE"),), "train.py", ((0, "['x']"),), ((),),
        ("at",), ("rows",), ("mask",), (("net", place, "Net"),), ("**",), "step", True, True, True, ("gpu",),
        (("args", place, "device"),), True, ("state",), (("state", "model"),), ("net",), ("verbose",), True, True, True,
        True, ("values",), True, ("log",), True, ("size",), ("images",), (("prior", "Laplace"),),
    )  # fmt: skip
    assert len(call) == len(OutsideCall._fields)
    assert all(getattr(call, name) != default for name, default in OutsideCall._field_defaults.items())
    (tmp_path / "train.py").write_text("")
    report = FileReport(str(tmp_path / "train.py"))
    examined = Examined(report, Stamp(1, 2, "digest"), (OutgoingCall(place, call),), (call, call._replace(left=())))
    cache = Cache(str(tmp_path / "cache"), str(tmp_path), "key")
    cache.keep(examined)
    cache.save()
    again = Cache(str(tmp_path / "cache"), str(tmp_path), "key")
    again.load()
    kept = again.find(report.path, 1, 2)
    assert kept is not None
    assert (kept.calls, kept.outside) == (examined.calls, examined.outside)


def test_an_imported_file_that_appears_later_counts(project: Path) -> None:
    blocks = project / "lib" / "blocks.py"
    kept = blocks.read_text()
    blocks.unlink()
    assert lint(project, ".") == {"metrics.py:3 TPU101"}
    blocks.write_text(kept)
    assert lint(project, ".") == {"metrics.py:3 TPU101", "blocks.py:6 TPU103"}


def test_an_imported_folder_that_appears_later_counts(project: Path) -> None:
    """Where there is no folder nothing is looked for in it, and that is remembered with the report."""
    train, lib, away = project / "train.py", project / "lib", project / ".away"
    text = train.read_text().replace("from lib import models\n", "").replace("models.build", "torch.nn.Linear")
    train.write_text(text)
    (lib / "__init__.py").unlink()
    lib.rename(away)
    assert lint(project, ".") == set()
    away.rename(lib)
    assert lint(project, ".") == {"metrics.py:3 TPU101"}


def test_a_suppression_in_the_file_called_is_used(project: Path) -> None:
    metrics = project / "lib" / "metrics.py"
    metrics.write_text(metrics.read_text().replace("target.size(0)", "target.size(0)  # noqa: TPU101"))
    for paths in ([], ["lib/metrics.py"]):
        answer = tpulint("--output-format=json", "--extend-select", "TPU101", *paths, cwd=project)
        assert not [entry for entry in json.loads(answer.out) if "metrics" in entry["filename"]]


def test_fixing_in_waves_comes_to_rest(project: Path) -> None:
    first = tpulint("--fix", "--unsafe-fixes", cwd=project)
    texts = {path: path.read_bytes() for path in project.rglob("*.py")}
    second = tpulint("--fix", "--unsafe-fixes", cwd=project)
    assert texts == {path: path.read_bytes() for path in project.rglob("*.py")}
    assert first.status == second.status == 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_is_left_is_told_of_the_files_as_they_are_fixed(tmp_path: Path, jobs: int) -> None:
    """A program comes before what it calls: that the step there has its boundary is known when all is written."""
    (tmp_path / "steps.py").write_text(
        "import torch\n\n\ndef step_of(optimizer):\n    def step(model, x):\n        optimizer.zero_grad()\n"
        "        loss = model(x).mean()\n        loss.backward()\n        optimizer.step()\n        return loss\n\n"
        "    return step\n"
    )
    (tmp_path / "train.py").write_text(
        "import torch\nfrom steps import step_of\n\nmodel = torch.nn.Linear(4, 4).cuda()\n"
        "step = step_of(torch.optim.SGD(model.parameters(), lr=0.1))\n"
        "loader = torch.utils.data.DataLoader(torch.ones(8, 4), 2)\n"
        "for x in loader:\n    loss = step(model, x.cuda())\n    print(loss.item())\n"
    )
    for number in range(230 * (jobs - 1)):
        (tmp_path / f"other_{number}.py").write_text("import torch\nprint(torch.ones(3).cuda())\n")
    assert found(tpulint("--output-format=json", cwd=tmp_path)) >= {"train.py:9 TPU101", "steps.py:5 TPU301"}
    fixing = tpulint("--fix", "--unsafe-fixes", "--output-format=json", f"--jobs={jobs}", cwd=tmp_path)
    assert found(fixing) == found(tpulint("--output-format=json", cwd=tmp_path)) == set()
    assert "loss.item()" in (tmp_path / "train.py").read_text()


def test_processes_tell_each_other(project: Path) -> None:
    for number in range(230):
        (project / f"other_{number}.py").write_text("import torch\nprint(torch.ones(3).cuda())\n")
    assert lint(project, ".", "--jobs=2", "--no-cache") == lint(project, ".", "--jobs=1", "--no-cache")


def test_a_loss_that_a_function_of_another_file_makes_of_what_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text(
        "import torch.nn.functional as F\nimport torch_xla\n\n\n"
        "def loss_of(net, x, y):\n    return F.mse_loss(net(x), y)\n"
    )
    (tmp_path / "train.py").write_text(
        "import torch\nimport torch_xla\nfrom parts import loss_of, model, batches\n\nnet = model(4)\n"
        "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\ntotal = 0.0\nfor x, y in batches(4):\n"
        "    optimizer.zero_grad()\n    loss = loss_of(net, x, y)\n    loss.backward()\n    total += loss.item()\n"
        "    optimizer.step()\n    torch_xla.sync()\n"
    )
    answer = tpulint("--output-format=json", "--select", "TPU104", cwd=tmp_path)
    assert found(answer) == {"train.py:12 TPU104"}


METER = """\
class AverageMeter:
    def __init__(self):
        self.sum = self.count = self.avg = self.most = 0

    def update(self, val, n=1):
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count
"""


@pytest.mark.parametrize(
    ("more", "waits"),
    [
        ("", False),
        ("        self.most = max(val, self.most)\n", True),
        ("        if val > self.most:\n            pass\n", True),
    ],
)
def test_a_meter_of_another_file_that_compares_what_it_is_given(tmp_path: Path, more: str, waits: bool) -> None:
    """It gets the number when it is looked at."""
    (tmp_path / "meters.py").write_text(METER + more)
    (tmp_path / "train.py").write_text(
        "import torch\nimport torch_xla\nfrom meters import AverageMeter\n\n"
        "net = torch.nn.Linear(4, 4).to(torch_xla.device())\n"
        "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nlosses = AverageMeter()\nfor x in batches:\n"
        "    loss = net(x).mean()\n    loss.backward()\n    optimizer.step()\n    torch_xla.sync()\n"
        "    losses.update(loss.item(), 4)\n"
    )
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU101", cwd=tmp_path)
    fixed = (tmp_path / "train.py").read_text()
    assert "losses.update(loss.detach(), 4)" in fixed
    assert ("defer_updates(AverageMeter(), numbers=True)" in fixed) is waits


def test_tensors_and_modules_that_another_file_made_are_moved(tmp_path: Path) -> None:
    """A function named ``cuda`` is none of theirs, nor is what nobody sees."""
    (tmp_path / "data.py").write_text("import torch\nweights = torch.ones(4)\ndef cuda(things):\n    return things\n")
    (tmp_path / "nets.py").write_text("import torch\nnet = torch.nn.Linear(4, 4)\n")
    (tmp_path / "train.py").write_text(
        "import torch\nimport data, elsewhere\nfrom nets import net\n"
        "loss = torch.nn.NLLLoss(weight=data.weights.cuda()).cuda()\nnet.cuda()\n"
        "data.cuda([1])\nelsewhere.tools.cuda()\n"
    )
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU002", cwd=tmp_path)
    assert (
        (tmp_path / "train.py")
        .read_text()
        .endswith(
            "loss = torch.nn.NLLLoss(weight=data.weights.to(device)).to(device)\nnet.to(device)\n"
            "data.cuda([1])\nelsewhere.tools.cuda()\n"
        )
    )


def test_device_before_a_group_that_another_file_joins(tmp_path: Path) -> None:
    """The runtime starts when the group has told the process its chip, wherever that stands."""
    (tmp_path / "joining.py").write_text(
        "import torch.distributed as dist\ndef join(args):\n"
        '    dist.init_process_group(backend="nccl", init_method=args.url, world_size=args.size, rank=args.rank)\n'
    )
    main = "import torch\nfrom joining import join\ndef main(args):\n    {}\n    model = torch.nn.Linear(4, 4).cuda()\n"
    (tmp_path / "train.py").write_text(main.format("join(args)") + 'if __name__ == "__main__":\n    main(parse())\n')
    (tmp_path / "alone.py").write_text(main.format("pass") + 'if __name__ == "__main__":\n    main(parse())\n')
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU002,TPU602,TPU616", cwd=tmp_path)
    assert 'device = torch.device("xla")' in (tmp_path / "train.py").read_text()
    assert "device = torch_xla.device()" in (tmp_path / "alone.py").read_text()


@pytest.mark.parametrize("made", ["start(args)", "Run(args)"])
def test_device_before_a_group_that_is_joined_several_calls_away(tmp_path: Path, made: str) -> None:
    """By a function that the one called calls, in its own file or another, or as an object is made."""
    (tmp_path / "joining.py").write_text(
        "import torch.distributed as dist\ndef join(args):\n"
        '    dist.init_process_group("nccl", init_method=args.url, world_size=args.size, rank=args.rank)\n'
    )
    (tmp_path / "starting.py").write_text(
        "from joining import join\ndef prepare(args):\n    join(args)\ndef start(args):\n    prepare(args)\n"
        "def look(args):\n    pass\nclass Run:\n    def __init__(self, args):\n        start(args)\n"
    )
    main = (
        "import torch\nfrom starting import Run, look, start\ndef main(args):\n    {}\n"
        '    model = torch.nn.Linear(4, 4).cuda()\nif __name__ == "__main__":\n    main(parse())\n'
    )
    (tmp_path / "train.py").write_text(main.format(made))
    (tmp_path / "alone.py").write_text(main.format("look(args)"))
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU002,TPU602,TPU616", cwd=tmp_path)
    assert 'device = torch.device("xla")' in (tmp_path / "train.py").read_text()
    assert "device = torch_xla.device()" in (tmp_path / "alone.py").read_text()


LOADERS = """\
from torch.utils.data import DataLoader

def make_loaders(train_set, valid_set, test_set, size):
    train_loader = DataLoader(train_set, batch_size=size, shuffle=True)
    valid_loader = DataLoader(valid_set, batch_size=size)
    test_loader = DataLoader(test_set, batch_size=size)
    return train_loader, valid_loader, test_loader
"""
EVALUATOR = """\
import torch

class Evaluator:
    def __init__(self, model: torch.nn.Module):
        self.model = model

    def evaluate(self, batches):
        self.model.eval()
        hits = 0
        with torch.no_grad():
            for x, y in batches:
                hits += (self.model(x).argmax(1) == y).sum()
        return hits
"""
MAIN = """\
import torch
import torch_xla
from loaders import make_loaders
from evaluator import Evaluator

device = torch_xla.device()
model = torch.nn.Linear(8, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
train_loader, valid_loader, test_loader = make_loaders(a, b, c, 16)
evaluator = Evaluator(model)
for epoch in range(3):
    for x, y in train_loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
        torch_xla.sync()
    print(evaluator.evaluate(valid_loader))
print(len(test_loader))
"""


def test_loaders_of_one_file_that_the_loops_of_others_go_through(tmp_path: Path) -> None:
    for name, text in {"loaders.py": LOADERS, "evaluator.py": EVALUATOR, "main.py": MAIN}.items():
        (tmp_path / name).write_text(text)
    expected = {"loaders.py:4 TPU501", "loaders.py:5 TPU516"}
    for _ in range(2):  # the second time what the files tell each other comes from the cache
        assert found(tpulint("--output-format=json", "--select", "TPU5", cwd=tmp_path)) == expected
    (tmp_path / "main.py").write_text(MAIN.replace("evaluate(valid_loader)", "evaluate(test_loader)"))
    expected = {"loaders.py:4 TPU501", "loaders.py:6 TPU516"}
    assert found(tpulint("--output-format=json", "--select", "TPU5", cwd=tmp_path)) == expected


OPTIONS = """\
from argparse import ArgumentParser


def get_arguments():
    parser = ArgumentParser()
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--backend", default="cuda")
    return parser.parse_args()
"""


@pytest.mark.parametrize(
    ("imported", "used", "told"),
    [
        (
            "from options import get_arguments\nargs = get_arguments()",
            "torch.device(args.device)",
            {"options.py:6 TPU001"},
        ),
        (
            "import options\nargs = options.get_arguments()",
            "model.to(args.device); loss.backward()",
            {"options.py:6 TPU001"},
        ),
        ("from options import get_arguments\nargs = get_arguments()", "print(args.device)", set()),
        ("from options import get_arguments\nargs = parse()", "torch.device(args.device)", set()),
    ],
)
def test_an_option_of_another_file_that_is_a_device(tmp_path: Path, imported: str, used: str, told: set[str]) -> None:
    """Without torch in its own file nobody knows what ``cuda`` is the name of."""
    (tmp_path / "options.py").write_text(OPTIONS)
    (tmp_path / "main.py").write_text(f"import torch\n{imported}\nmodel = torch.nn.Linear(4, 4)\n{used}\n")
    assert {row for row in found(tpulint("--output-format=json", cwd=tmp_path)) if "options" in row} == told


ENDING_EARLY = """\
from data import make_loader
import torch

model = torch.nn.Linear(4, 4).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = make_loader(8)
for i, x in enumerate(loader):
    if i == loader.dataset.__len__() // 8:
        break
    optimizer.zero_grad()
    model(x.cuda()).mean().backward()
    optimizer.step()
"""


def test_a_loop_of_another_file_that_ends_before_a_smaller_batch(tmp_path: Path) -> None:
    made = (
        "from torch.utils.data import DataLoader\n\ndef make_loader(n):\n    return DataLoader(samples, batch_size=n)\n"
    )
    (tmp_path / "data.py").write_text(made)
    (tmp_path / "main.py").write_text(ENDING_EARLY)
    assert found(tpulint("--output-format=json", "--select", "TPU5", cwd=tmp_path)) == set()
    (tmp_path / "main.py").write_text(ENDING_EARLY.replace("        break\n", "        print(i)\n"))
    assert found(tpulint("--output-format=json", "--select", "TPU5", cwd=tmp_path)) == {"data.py:4 TPU501"}


HANDED_ON = {
    "data.py": """\
from torch.utils.data import DataLoader


def get_loader(root, size):
    loader = DataLoader(read(root), batch_size=size, shuffle=True)
    return loader


def get_both(root, size):
    train_loader = DataLoader(read(root), batch_size=size, shuffle=True)
    return train_loader, DataLoader(read(root), batch_size=size)


class Samples:
    def __init__(self, root):
        self.root = root

    def train_loader(self, size):
        return DataLoader(read(self.root), batch_size=size, shuffle=True)
""",
    "solver.py": """\
import torch


class Base:
    def __init__(self):
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def train_an_epoch(self, loader):
        for x in loader:
            loss = self.model(x).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


class Drawing:
    def __init__(self, loader):
        self.loader = loader
        self.model = torch.nn.Linear(8, 2)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def train(self):
        batches = iter(self.loader)
        for _ in range(1000):
            try:
                x = next(batches)
            except StopIteration:
                batches = iter(self.loader)
                x = next(batches)
            loss = self.model(x).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
""",
    "engines.py": """\
import torch
from solver import Base


class Engine(Base):
    def __init__(self):
        self.model = torch.nn.Linear(8, 2)
        super().__init__()
""",
}


@pytest.mark.parametrize(("program", "row"), [
    ("from data import get_loader\nfrom solver import Drawing\n\n"
     "loader = get_loader('d', 32)\nsolver = Drawing(loader)\nsolver.train()\n", 5),
    ("from data import get_both\nfrom engines import Engine\n\nengine = Engine()\n"
     "train_loader, _ = get_both('d', 32)\nfor _ in range(3):\n    engine.train_an_epoch(train_loader)\n", 10),
    ("from data import Samples\nfrom engines import Engine\n\nsamples, engine = Samples('d'), Engine()\n"
     "for _ in range(3):\n    engine.train_an_epoch(samples.train_loader(32))\n", 19),
])  # fmt: skip
def test_a_loader_that_a_program_hands_from_one_file_to_another(tmp_path: Path, program: str, row: int) -> None:
    for name, text in {**HANDED_ON, "main.py": program}.items():
        (tmp_path / name).write_text(text)
    for _ in range(2):  # the second time from the cache
        answer = tpulint("--output-format=json", "--select", "TPU501,TPU516", cwd=tmp_path)
        assert found(answer) == {f"data.py:{row} TPU501"}


def test_what_a_program_runs_once_per_epoch_is_no_turn(tmp_path: Path) -> None:
    evaluation = """

class Evaluating(Base):
    def __init__(self):
        self.model = torch.nn.Linear(8, 2)
        super().__init__()

    def evaluate(self, data):
        self.model.eval()
        with torch.no_grad():
            scores = self.model(data.to("xla"))
            return scores.cpu()
"""
    (tmp_path / "solver.py").write_text(HANDED_ON["solver.py"] + evaluation)
    (tmp_path / "main.py").write_text(
        "from solver import Evaluating\n\nengine = Evaluating()\nfor _ in range(3):\n"
        "    engine.train_an_epoch(make_loader())\n    engine.evaluate(data)\n"
    )
    assert found(tpulint("--output-format=json", "--select", "TPU101", cwd=tmp_path)) == set()


def test_a_file_of_the_project_that_is_named_like_a_library(tmp_path: Path) -> None:
    (tmp_path / "datasets.py").write_text(LOADERS)
    (tmp_path / "evaluator.py").write_text(EVALUATOR)
    (tmp_path / "main.py").write_text(MAIN.replace("from loaders", "from datasets"))
    expected = {"datasets.py:4 TPU501", "datasets.py:5 TPU516"}
    assert found(tpulint("--output-format=json", "--select", "TPU5", cwd=tmp_path)) == expected


MOVING = """\
import torch
import torch_xla


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 2)
        self.optimizer = torch.optim.Adam(self.parameters())

    def forward(self, x):
        return self.layer(x)


def put(thing):
    return thing.to(torch_xla.device())


def run(model, batches):
    for x, y in batches:
        model.optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(put(torch.Tensor(x))), put(torch.Tensor(y)))
        loss.backward()
        model.optimizer.step()
"""


@pytest.mark.parametrize(
    "moved", ["thing.to(torch_xla.device())", "thing.cuda()", "thing.cuda() if torch.cuda.is_available() else thing"]
)
def test_a_model_that_a_function_moves_as_it_moves_tensors(tmp_path: Path, moved: str) -> None:
    (tmp_path / "parts.py").write_text(MOVING.replace("thing.to(torch_xla.device())", moved))
    (tmp_path / "main.py").write_text(
        "from parts import *\n\n\ndef main():\n    model = put(Net())\n    for epoch in range(5):\n"
        '        run(model, read())\n\n\nif __name__ == "__main__":\n    main()\n'
    )
    answer = tpulint("--output-format=json", "--select", "TPU001,TPU301", cwd=tmp_path)
    assert "parts.py:20 TPU301" in found(answer)


WINDOWS = """\
import torch
import torch_xla
from batches import get_batch

device = torch_xla.device()
model = torch.nn.Linear(8, 8).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
series = torch.randn(400, 8).to(device)
at = 0
while at < series.size(0) - 1:
    x, y = get_batch(series, PLACE, 16)
    (model(x) - y).pow(2).mean().backward()
    optimizer.step()
    torch_xla.sync()
    at += 16
"""
BATCHES = """\
def get_batch(source, at, length):
    length = min(length, len(source) - 1 - at)
    return source[at : at + length], source[at + 1 : at + 1 + length]
"""


@pytest.mark.parametrize(("place", "expected"), [("at", {"batches.py:3 TPU201"}), ("0", set())])
def test_a_number_that_changes_in_the_loop_of_another_file(tmp_path: Path, place: str, expected: set[str]) -> None:
    (tmp_path / "batches.py").write_text(BATCHES)
    (tmp_path / "train.py").write_text(WINDOWS.replace("PLACE", place))
    assert found(tpulint("--output-format=json", "--select", "TPU201", cwd=tmp_path)) == expected
    assert found(tpulint("--output-format=json", "--select", "TPU201", cwd=tmp_path)) == expected, "from the cache"


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("import config\ndevice = torch.device(config.DEVICE)\n", {"config.py:1 TPU001"}),
        ("from config import DEVICE\nmodel.to(DEVICE)\n", {"config.py:1 TPU001"}),
        ("from config import DEVICE as gpu_device\nx = torch.zeros(2, device=gpu_device)\n", {"config.py:1 TPU001"}),
        ("import config\nprint(config.DEVICE)\n", set()),
        ("from config import SIZE\nmodel.to(SIZE)\n", set()),
    ],
)
def test_device_of_a_file_of_settings_that_does_not_import_torch(
    tmp_path: Path, program: str, expected: set[str]
) -> None:
    (tmp_path / "config.py").write_text('DEVICE = "cuda"\nSIZE = 8\n')
    (tmp_path / "train.py").write_text("import torch\n" + program + "loss.backward()\noptimizer.step()\n")
    assert {row for row in found(tpulint("--output-format=json", cwd=tmp_path)) if "config" in row} == expected
    tpulint("--fix", "--unsafe-fixes", cwd=tmp_path)
    assert ('DEVICE = "xla"' in (tmp_path / "config.py").read_text()) == bool(expected)


@pytest.mark.parametrize(
    ("given", "is_device"),
    [
        ('train({"device": "cuda:0", "n": 3})', True),
        ('config = {"device": "cuda:0", "n": 3}\ntrain(config)', True),
        ('train({"card": "cuda:0", "n": 3})', False),
    ],
)
def test_device_in_a_dict_that_another_file_is_given(tmp_path: Path, given: str, is_device: bool) -> None:
    (tmp_path / "main.py").write_text(f"from training import train\n\n{given}\n")
    (tmp_path / "training.py").write_text(
        "import torch\n\n\ndef train(config):\n    return torch.ones(config['n'], device=config['device'])\n"
    )
    tpulint("--fix", "--unsafe-fixes", cwd=tmp_path)
    assert ('"device": "xla"' in (tmp_path / "main.py").read_text()) == is_device


TRAINER = """\
import torch


class Trainer:
    def __init__(self, model):
        BEFORE
        self.optimizer = torch.optim.SGD(MODEL.parameters(), lr=0.1)
"""


@pytest.mark.parametrize(
    ("before", "model", "is_whole"),
    [
        ("self.model = model", "self.model.module", False),
        ("self.model = model", "model.module", False),
        ("own = model", "own.module", False),
        ("own = torch.nn.DataParallel(model)", "own.module", True),  # of a wrapper of its own
        ("own = model if self else torch.nn.DataParallel(model)", "own.module", False),
        ("self.model = model.module if hasattr(model, 'module') else model", "self.model", True),
        ("self.module = model", "self.module", True),
        ("self.model = model", "self.model", True),
    ],
)
def test_wrapper_whose_model_another_file_takes_out(tmp_path: Path, before: str, model: str, is_whole: bool) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine/__init__.py").write_text("from .trainer import Trainer\n")
    (tmp_path / "engine/trainer.py").write_text(TRAINER.replace("BEFORE", before).replace("MODEL", model))
    (tmp_path / "main.py").write_text(
        "import torch\nfrom engine import Trainer\n\nmodel = torch.nn.DataParallel(torch.nn.Linear(2, 2))\n"
        "Trainer(model)\n"
    )
    tpulint("--fix", "--unsafe-fixes", cwd=tmp_path)
    assert ("DataParallel" not in (tmp_path / "main.py").read_text()) == is_whole


@pytest.mark.parametrize(("read", "is_whole"), [("model.module.width", False), ("model.width", True)])
def test_wrapper_whose_model_a_file_takes_out_that_a_function_imports(
    tmp_path: Path, read: str, is_whole: bool
) -> None:
    (tmp_path / "evaluation.py").write_text(f"def validate(model, x):\n    return model(x).sum() * {read}\n")
    (tmp_path / "main.py").write_text(
        "import torch\n\n\ndef main(options):\n    if options.deep:\n        from evaluation import validate\n"
        "    model = torch.nn.DataParallel(torch.nn.Linear(2, 2))\n    validate(model, torch.ones(2, 2))\n"
    )
    tpulint("--fix", "--unsafe-fixes", cwd=tmp_path)
    assert ("DataParallel" not in (tmp_path / "main.py").read_text()) == is_whole


@pytest.mark.parametrize(
    ("read", "is_whole"),
    [
        ("model.module.weight", False),
        ("model.weight", True),
        ("model.module.weight if hasattr(model, 'module') else model.weight", True),
        ("opt.module", True),
    ],
)
def test_wrapper_whose_model_a_file_takes_out_that_imports_it(tmp_path: Path, read: str, is_whole: bool) -> None:
    (tmp_path / "model.py").write_text(
        "import torch\n\n\ndef build(opt):\n    model = torch.nn.Linear(2, 2)\n    if opt.gpu_ids:\n"
        "        model = torch.nn.DataParallel(model, device_ids=opt.gpu_ids)\n    return model\n"
    )
    (tmp_path / "models.py").write_text("from model import build\n")
    (tmp_path / "main.py").write_text(
        "import torch\nimport argparse\nfrom models import build\n\n"
        'parser = argparse.ArgumentParser()\nparser.add_argument("--gpu_ids")\nparser.add_argument("--module")\n'
        "opt = parser.parse_args()\nmodel = build(opt)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for x in torch.ones(4, 3, 2):\n    optimizer.zero_grad()\n    model(x).sum().backward()\n"
        "    optimizer.step()\n"
        f"print({read})\n"
    )
    tpulint("--fix", "--unsafe-fixes", cwd=tmp_path)
    assert ("DataParallel" not in (tmp_path / "model.py").read_text()) == is_whole


@pytest.mark.parametrize(
    ("read", "base", "is_whole"),
    [
        ("net.module.state_dict()", "BaseModel", False),
        ("net.state_dict()", "BaseModel", True),
        ("(net.module if isinstance(net, torch.nn.DataParallel) else net).state_dict()", "BaseModel", True),
        ("net.module.state_dict()", "Other", True),  # of a class of the file that makes the models no base
    ],
)
def test_wrapper_whose_model_a_base_class_takes_out(tmp_path: Path, read: str, base: str, is_whole: bool) -> None:
    (tmp_path / "base_model.py").write_text(
        "import torch\n\n\nclass Other:\n    pass\n\n\nclass BaseModel(Other):\n    def save(self):\n"
        f'        for name in self.names:\n            net = getattr(self, "net" + name)\n            print({read})\n'
    )
    (tmp_path / "networks.py").write_text(
        "import torch\n\n\ndef build(opt):\n    model = torch.nn.Linear(2, 2)\n    if opt.gpu_ids:\n"
        "        model = torch.nn.DataParallel(model, device_ids=opt.gpu_ids)\n    return model\n"
    )
    (tmp_path / "pix_model.py").write_text(
        f"import torch\nimport networks\nfrom base_model import BaseModel, Other\n\n\nclass PixModel({base}):\n"
        "    def __init__(self, opt):\n        self.names = ['G']\n        self.netG = networks.build(opt)\n"
        "        self.optimizer = torch.optim.SGD(self.netG.parameters(), lr=0.1)\n\n    def step(self, x):\n"
        "        self.optimizer.zero_grad()\n        self.netG(x).sum().backward()\n        self.optimizer.step()\n"
    )
    tpulint("--fix", "--unsafe-fixes", cwd=tmp_path)
    assert ("DataParallel" not in (tmp_path / "networks.py").read_text()) == is_whole


RENDERING = """\
import torch

ALWAYS = torch.Tensor([1.0])
to_decibel = lambda x: -10.0 * torch.log(x) / torch.log(torch.Tensor([10.0]))


def far_end(rays: torch.Tensor):
    near = torch.Tensor(2, 1).fill_(0.5)
    return torch.cat([rays, near], -1), torch.Tensor([2.0]).numpy()


def build(net):
    return torch.optim.Adam(net.parameters())


class Rays(torch.utils.data.Dataset):
    def __getitem__(self, at):
        return torch.Tensor([3.0])
"""


@pytest.mark.parametrize(
    ("setting", "follows"),
    [
        ("torch.set_default_tensor_type(torch.cuda.FloatTensor)", True),
        ("torch.set_default_tensor_type('torch.cuda.FloatTensor')", True),
        ("torch.set_default_tensor_type(torch.DoubleTensor)", False),
    ],
)
def test_tensors_that_follow_a_default_of_another_file(tmp_path: Path, setting: str, follows: bool) -> None:
    (tmp_path / "rendering.py").write_text(RENDERING)
    (tmp_path / "main.py").write_text(
        f"import torch\nfrom rendering import *\n\ndef train():\n    return torch.Tensor([1.0])\n\n{setting}\ntrain()\n"
    )
    for _ in range(2):
        tpulint("--fix", "--unsafe-fixes", cwd=tmp_path)
    assert ("torch.Tensor([1.0]).to(" in (tmp_path / "main.py").read_text()) == follows
    text = (tmp_path / "rendering.py").read_text()
    if not follows:
        assert text == RENDERING
        return
    assert "ALWAYS = torch.Tensor([1.0])\n" in text
    assert "torch.log(torch.Tensor([10.0]).to(device))" in text
    assert "torch.Tensor(2, 1).fill_(0.5).to(device)" in text
    assert "torch.Tensor([2.0]).numpy()" in text
    assert "return torch.Tensor([3.0])\n" in text
    assert "torch.optim.Adam(net.parameters(), capturable=True)" in text


@pytest.mark.parametrize(
    ("set_in_module", "told"),
    [
        ("torch.set_default_device('xla')", True),
        ("def start():\n    torch.set_default_device('xla')", False),
        ("torch.set_default_device('cpu')", False),
        ("if __name__ == '__main__':\n    torch.set_default_device('xla')", False),
    ],
)
def test_a_default_that_a_module_sets_as_it_is_imported(tmp_path: Path, set_in_module: str, told: bool) -> None:
    (tmp_path / "settings.py").write_text(f"import torch\nimport torch_xla\n\n{set_in_module}\nRATE = 0.1\n")
    training = "import torch\nimport torch_xla\nfrom settings import RATE\n\n"
    training += "net = torch.nn.Linear(4, 4).to('xla')\nopt = torch.optim.Adam(net.parameters(), lr=RATE)\n"
    (tmp_path / "train.py").write_text(training)
    found = tpulint("check", "--select", "TPU136", "--output-format", "concise", ".", cwd=tmp_path)
    assert ("TPU136" in found.out) is told


@pytest.mark.parametrize(
    ("set_in_module", "told"),
    [
        ("torch.set_default_device('cuda')", True),
        ("def start():\n    torch.set_default_device('cuda')", False),
        ("if __name__ == '__main__':\n    torch.set_default_device('cuda')", False),
        ("torch.set_default_device('cpu')", False),
    ],
)
def test_training_on_a_default_that_a_module_sets(tmp_path: Path, set_in_module: str, told: bool) -> None:
    """Of a file that names no device itself."""
    (tmp_path / "settings.py").write_text(f"import torch\n\n{set_in_module}\nRATE = 0.1\n")
    training = "import torch\nfrom settings import RATE\n\nnet = torch.nn.Linear(4, 4)\n"
    training += "opt = torch.optim.SGD(net.parameters(), lr=RATE)\nfor i in range(3):\n"
    training += "    net(torch.ones(2, 4)).sum().backward()\n    opt.step()\n"
    (tmp_path / "train.py").write_text(training)
    found = tpulint("check", "--select", "TPU301", "--output-format", "concise", ".", cwd=tmp_path)
    assert ("TPU301" in found.out) is told


def test_a_default_of_a_notebook_says_nothing_of_files_that_others_share(tmp_path: Path) -> None:
    cell = "torch.set_default_tensor_type(torch.cuda.FloatTensor)\nfar_end(torch.zeros(2))"
    (tmp_path / "rendering.py").write_text(RENDERING)
    (tmp_path / "main.ipynb").write_bytes(notebook(["import torch\nfrom rendering import *", cell]))
    for _ in range(2):
        tpulint("--fix", "--unsafe-fixes", cwd=tmp_path)
    assert (tmp_path / "rendering.py").read_text() == RENDERING


REDUCING = """\
import torch
import torch.distributed as dist


def reduce_dict(values):
    if dist.get_world_size() < 2:
        return values
    summed = torch.stack(list(values.values()))
    dist.all_reduce(summed)
    reduced = {name: value for name, value in zip(values, summed)}
    return reduced
"""
DETECTION = """\
import torch
import torch_xla
import sums

model = Detector().to("xla")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    losses = model(x.to("xla"), y.to("xla"))
    loss = sum(losses.values())
    value = sum(sums.reduce_dict(losses).values()).item()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    print(value)
"""


@pytest.mark.parametrize(
    ("old", "new", "is_read"),
    [
        ("", "", True),
        ("        return values\n", "        return {name: float(value) for name, value in values.items()}\n", False),
        ("    return reduced\n", "    return summed.numpy()\n", False),
    ],
    ids=["handed back or added up", "always made anew", "something else"],
)
def test_values_that_another_file_adds_up_over_processes(tmp_path: Path, old: str, new: str, is_read: bool) -> None:
    (tmp_path / "sums.py").write_text(REDUCING.replace(old, new))
    (tmp_path / "main.py").write_text(DETECTION)
    rows = found(tpulint("--output-format=json", "--select", "TPU101", cwd=tmp_path))
    assert ("main.py:10 TPU101" in rows) == is_read


def test_different_parts_of_what_a_function_of_another_file_gives(tmp_path: Path) -> None:
    (tmp_path / "memory.py").write_text(
        "import torch\n\n\nclass Memory:\n    def everything(self):\n"
        "        return torch.stack(self.xs), torch.stack(self.ys)\n"
    )
    loop = (
        "    for (x,) in DataLoader(TensorDataset(xs), batch_size=4):\n        model(x.cuda()).sum().backward()\n"
        "        optimizer.step()\n"
    )
    (tmp_path / "train.py").write_text(
        "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\nfrom memory import Memory\n\n\n"
        "def fit(model, optimizer):\n    memory = Memory()\n    kept = memory.everything()\n    xs = kept[0]\n"
        f"{loop}    xs, ys = memory.everything()\n{loop}"
    )
    answer = tpulint("--output-format=json", ".", cwd=tmp_path)
    assert {entry["code"] for entry in json.loads(answer.out)} >= {"TPU301", "TPU501"}
