"""``tpulint plan SCRIPT``: the numbers that can be read off a script, and the silence about those that cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import tpulint

from tpulint.config import ConfigError
from tpulint.planning.script_numbers import ScriptNumbers, read_numbers

ROOT = Path(__file__).parent.parent
HEAD = "import argparse\nimport torch\nimport torch.nn as nn\nfrom torch.utils.data import DataLoader\n"


def read(tmp_path: Path, code: str, **given: int | str | None) -> ScriptNumbers:
    path = tmp_path / "train.py"
    path.write_text(HEAD + code)
    return read_numbers(str(path), given)


def why(found: ScriptNumbers, name: str) -> str:
    return next(one.why for one in found.missing if one.name == name)


def params(tmp_path: Path, model: str, before: str = "") -> int | str | None:
    found = read(tmp_path, f"{before}model = {model}\noptimizer = torch.optim.AdamW(model.parameters())\n")
    return found.values.get("params")


# ------------------------------------------------------------------------ where numbers stand

OPTIONS = """\
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", "-b", type=int, default=32)
parser.add_argument("--test-batch-size", type=int, default=1000)
parser.add_argument("--seq-len", type=int, default=2 * 256)
parser.add_argument("--epochs", type=int, default=3)
args = parser.parse_args()
"""


def test_defaults_of_options(tmp_path: Path) -> None:
    found = read(tmp_path, OPTIONS)
    assert found.values == {"batch": 32, "seq": 512, "epochs": 3}
    place = next(one.place for one in found.readings if one.name == "epochs")
    assert place is not None and (HEAD + OPTIONS).splitlines()[place.row - 1].startswith(
        'parser.add_argument("--epochs"'
    )


def test_constants_and_fields(tmp_path: Path) -> None:
    code = (
        "BATCH_SIZE, BLOCK_SIZE, VOCABULARY = 16, 64, 100\nclass Config:\n    n_layer: int = 4\n    n_embd = 3 * 128\n"
    )
    code += "    epochs: int = None\n"
    assert read(tmp_path, code).values == {"batch": 16, "seq": 64, "layers": 4, "hidden": 384}


def test_a_block_is_a_sequence_only_among_words(tmp_path: Path) -> None:
    assert "seq" not in read(tmp_path, "block_size = 30  # pixels\n").values


def test_what_a_call_gives_goes_before_the_field(tmp_path: Path) -> None:
    code = "class Config:\n    n_layer: int = 4\nwidth = 96\nconfig = Config(n_layer=2, n_embd=width)\n"
    assert read(tmp_path, code).values == {"layers": 2, "hidden": 96}


LOOP = """\
def batches(size):
    return DataLoader([], batch_size=size)
model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in batches({size}):
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
test = DataLoader([], batch_size=1000)
"""


def test_the_loader_that_feeds_training_decides(tmp_path: Path) -> None:
    found = read(tmp_path, "batch_size = 7\n" + LOOP.format(size=24))
    assert (found.values["batch"], found.values["optimizer"]) == (24, "sgd")


def test_batches_are_accumulated(tmp_path: Path) -> None:
    assert read(tmp_path, "batch_size = 12\ngradient_accumulation_steps = 5 * 8\n").values["batch"] == 480
    unclear = read(tmp_path, "batch_size = 12\ngradient_accumulation_steps = 64 // torch.cuda.device_count()\n")
    assert "batch" not in unclear.values and "train.py:6" in why(unclear, "batch")


def test_given_numbers_go_before_those_of_the_script(tmp_path: Path) -> None:
    found = read(tmp_path, OPTIONS, batch=8, params=None)
    assert found.values == {"batch": 8, "seq": 512, "epochs": 3}
    assert next(one for one in found.readings if one.name == "batch").place is None


@pytest.mark.parametrize(
    "code",
    [
        "batch_size = len(data)\n",
        "batch_size = 8\nif large:\n    batch_size = 16\n",
        "parser.add_argument('--batch-size', default=8)\nbatch_size = 16\n",
        "parser.add_argument('--batch-size', type=int)\n",
        "parser.add_argument('--batch-size', default='auto')\n",
        "batch_size = -1\n",
        "batch_size = True\n",
        "eval_batch_size = 8\n",
        LOOP.format(size="choose()"),
        "def f(dim):\n    return torch.zeros(3).sum(dim=1)\n",
    ],
)
def test_unknown_stays_unknown(tmp_path: Path, code: str) -> None:
    found = read(tmp_path, code)
    assert "batch" not in found.values
    assert {"batch", "seq"} <= {one.name for one in found.missing}


def test_defaults_that_are_changed_are_not_taken(tmp_path: Path) -> None:
    taken = "loader = DataLoader([], batch_size=args.batch_size)\n"
    changed = OPTIONS.replace("args = ", "parser.set_defaults(batch_size=64)\nargs = ")
    loop = LOOP.format(size="args.batch_size")
    assert read(tmp_path, OPTIONS + taken + loop).values["batch"] == 32
    assert "batch" not in read(tmp_path, changed + taken + loop).values


# ------------------------------------------------------------------------ parameters

LINEAR = 5 * 7 + 7


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("nn.Linear(5, 7)", LINEAR),
        ("nn.Linear(5, 7, bias=False)", 35),
        ("nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Dropout(0.1), nn.Linear(7, 5))", LINEAR + 7 * 5 + 5),
        ("nn.Sequential(*[nn.Linear(5, 5) for _ in range(2, 6)])", 4 * 30),
        ("nn.Embedding(100, 8)", 800),
        ("nn.Conv2d(4, 6, 3, groups=2)", 6 * 2 * 9 + 6),
        ("nn.Conv1d(4, 6, kernel_size=(5,), bias=False)", 6 * 4 * 5),
        ("nn.ConvTranspose2d(4, 6, (3, 5))", 4 * 6 * 15 + 6),
        ("nn.LayerNorm(8)", 16),
        ("nn.LayerNorm(8, bias=False)", 8),
        # Queries, keys, values and output; two linear layers; two norms.
        ("nn.TransformerEncoderLayer(8, 2, 20)", 4 * (64 + 8) + 2 * 8 * 20 + 20 + 8 + 2 * 16),
        (
            "nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 20, bias=False), 3)",
            3 * (4 * 64 + 2 * 8 * 20 + 2 * 8),
        ),
        # Two attentions and three norms.
        ("nn.TransformerDecoderLayer(8, 2, 20)", 8 * (64 + 8) + 2 * 8 * 20 + 20 + 8 + 3 * 16),
        ("nn.LSTM(5, 7, num_layers=2)", 4 * (7 * 5 + 7 * 7 + 14) + 4 * (7 * 7 + 7 * 7 + 14)),
        # The second layer reads both directions of the first.
        ("nn.GRU(5, 7, 2, bidirectional=True)", 2 * 3 * (7 * 5 + 7 * 7 + 14) + 2 * 3 * (7 * 14 + 7 * 7 + 14)),
        ("nn.GRUCell(5, 7)", 3 * (7 * 5 + 7 * 7 + 14)),
    ],
)
def test_layers_of_torch(tmp_path: Path, model: str, expected: int) -> None:
    assert params(tmp_path, model) == expected


NETWORK = """\
class Config:
    def __init__(self, hidden, n_layer=3):
        self.hidden = hidden
        self.n_layer = n_layer
def wide(size, factor=4):
    return nn.Linear(size, factor * size, bias=False)
class Block(nn.Module):
    def __init__(self, config, inner):
        super().__init__()
        self.up = wide(config.hidden)
        self.down = nn.Linear(inner, config.hidden)
class Base(nn.Module):
    def __init__(self, words, hidden):
        super().__init__()
        self.embed = nn.Embedding(words, hidden)
class Net(Base):
    def __init__(self, config):
        super().__init__(1000, config.hidden)
        self.scale = nn.Parameter(torch.ones(1, config.hidden))
        self.blocks = nn.ModuleList([Block(config, config.hidden * 4) for _ in range(config.n_layer)])
        self.small = nn.Sequential(Block(Config(2), 6), Block(Config(5), 6))
    def forward(self, x):
        return x
"""


def test_classes_are_followed_with_what_each_call_gives_them(tmp_path: Path) -> None:
    def block(hidden: int, inner: int) -> int:
        return 4 * hidden * hidden + inner * hidden + hidden

    expected = 1000 * 16 + 16 + 2 * block(16, 64) + block(2, 6) + block(5, 6)
    assert params(tmp_path, "Net(Config(16, n_layer=2))", NETWORK) == expected
    assert params(tmp_path, "Net(Config(16)).to('cuda')", NETWORK) == expected + block(16, 64)


@pytest.mark.parametrize(
    ("model", "before", "reason"),
    [
        ("torchvision.models.resnet50()", "import torchvision\n", "torchvision.models.resnet50"),
        ("make()", "from models import make\n", "make"),
        ("nn.Linear(width, 7)", "", "nn.Linear"),
        ("Net()", "class Net(nn.Module):\n    def __init__(self, deep=True):\n        super().__init__()\n"
         "        self.a = nn.Linear(2, 2)\n        if deep:\n            self.b = nn.Linear(2, 2)\n",
         "under a condition"),
        ("Net()", "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
         "        self.a = nn.ModuleList([nn.Linear(2, 2) for _ in open('x')])\n", "how often"),
        ("Net()", "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
         "        self.a = nn.Embedding(9, 2)\n        self.b = nn.Linear(2, 9)\n"
         "        self.b.weight = self.a.weight\n",
         "tied"),
        ("Net()", "from timm import Base\nclass Net(Base, nn.Module):\n    pass\n", "Base"),
        ("Net(*sizes)", "class Net(nn.Module):\n    def __init__(self, a, b):\n        super().__init__()\n"
         "        self.a = nn.Linear(a, b)\n", "hidden by *"),
        ("nn.Sequential(*layers)", "layers = [nn.Linear(2, 2)]\nlayers.append(nn.Linear(2, 2))\n", "layers"),
        ("nn.Bilinear(2, 3, 4)", "", "nn.Bilinear"),
        ("nn.AdaptiveLogSoftmaxWithLoss(8, 9, [3])", "", "nn.AdaptiveLogSoftmaxWithLoss"),
    ],
)  # fmt: skip
def test_a_layer_that_is_not_seen_leaves_it_unknown(tmp_path: Path, model: str, before: str, reason: str) -> None:
    found = read(tmp_path, f"{before}model = {model}\noptimizer = torch.optim.AdamW(model.parameters())\n")
    assert "params" not in found.values
    assert reason in why(found, "params") and "train.py:" in why(found, "params")


def test_without_an_optimizer_no_model_is_counted(tmp_path: Path) -> None:
    found = read(tmp_path, "model = nn.Linear(5, 7)\n")
    assert "params" not in found.values and "no optimizer" in why(found, "params")


# ------------------------------------------------------------------------ the command line


def test_plan_of_a_script(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        HEAD + OPTIONS + NETWORK + "model = Net(Config(16))\nopt = torch.optim.SGD(model.parameters(), lr=1)\n"
    )
    done = tpulint("plan", "train.py", "--epochs", "5", cwd=tmp_path)
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].startswith("estimate, not compiled") and "train.py, which was not executed" in lines[2]
    assert any(line.split()[:2] == ["batch", "32"] and "train.py:6 (default of an option)" in line for line in lines)
    assert any(line.split() == ["epochs", "5", "given"] for line in lines)
    assert "step         32 sequences of 512, sgd, bf16" in done.out
    assert "scp train.py" in done.out


def test_plan_of_a_script_as_json(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEAD + OPTIONS)
    done = tpulint("plan", "train.py", "--params", "1M", "--output-format", "json", cwd=tmp_path)
    data = json.loads(done.out)
    assert (data["kind"], data["compiled"], data["workload"]["batch"]) == ("estimate", False, 32)
    readings = {one["name"]: one for one in data["script"]["readings"]}
    assert readings["seq"]["place"] == {"filename": "train.py", "row": 8} and readings["params"]["place"] is None


def test_what_is_missing_names_its_option(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEAD + "batch_size = 8\n")
    done = tpulint("plan", "train.py", cwd=tmp_path)
    assert done.status == 2 and done.out == ""
    for part in ("give --params (no optimizer", "give --seq", "Read: batch 8 (row 5)"):
        assert part in done.err, part


def test_nothing_is_executed_or_imported(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEAD + OPTIONS + "open('written', 'w').close()\nraise SystemExit(7)\n")
    assert tpulint("plan", "train.py", "--params", "1M", cwd=tmp_path).status == 0
    assert not (tmp_path / "written").exists()


@pytest.mark.parametrize("code", ["def f(:\n", "\0"])
def test_a_script_that_cannot_be_read(tmp_path: Path, code: str) -> None:
    (tmp_path / "train.py").write_text(code)
    with pytest.raises(ConfigError, match=r"cannot read .*train\.py"):
        read_numbers(str(tmp_path / "train.py"))


def test_scripts_of_this_project() -> None:
    """Layers of the example: two convolutions with norms, and 128 features to ten classes."""
    found = read_numbers(str(ROOT / "examples" / "train_gpu.py"))
    convolutions = (3 * 16 * 9 + 16) + 2 * 16 + (16 * 32 * 9 + 32) + 2 * 32
    assert found.values == {"params": convolutions + 128 * 10 + 10, "batch": 64, "epochs": 3, "optimizer": "sgd"}
    assert found.has_convolutions
