"""The device that one file chooses, where another asks what it is, or parses the option that names it."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import tpulint

STEP = """\
import torch


class Trainer:
    def __init__(self, args, model):
        self.args = args
        self.device = args.device
        self.model = model.to(self.device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def train(self):
        for _ in range(10):
            loss = self.model(torch.randn(8, 4).to(self.device)).sum()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
"""
BASE = "from trainer import Trainer\n\n\nclass Own(Trainer):\n    def __init__(self, args, model):\n        BASE\n"
PARSER = 'parser = argparse.ArgumentParser()\nparser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])\n'
OPTIONS = f"import argparse\nfrom templates import fill\n\n{PARSER}args = parser.parse_args()\nfill(args)\n"
TEMPLATES = (
    'def fill(args):\n    if args.template == "big":\n        args.device = "cuda"\n        args.name = "cuda"\n'
)
MODEL = "import torch\n\n\nclass Net(torch.nn.Linear):\n    pass\n"


def fixed(folder: Path, files: dict[str, str]) -> dict[str, str]:
    """The texts of the files once all fixes were made; a second run changes nothing."""
    for name, text in files.items():
        (folder / name).write_text(text)
    tpulint("--fix", "--unsafe-fixes", "--no-cache", cwd=folder)
    texts = {name: (folder / name).read_text() for name in files}
    tpulint("--fix", "--unsafe-fixes", "--no-cache", cwd=folder)
    assert texts == {name: (folder / name).read_text() for name in files}
    return texts


def changes(files: dict[str, str], ported: dict[str, str]) -> set[str]:
    """Rows that were not in the files, but for imports and boundaries."""
    before = {row for text in files.values() for row in text.splitlines()}
    rows = {row.strip() for text in ported.values() for row in text.splitlines() if row not in before}
    return {row for row in rows if not row.startswith(("import torch_xla", "torch_xla.sync()"))}


PARSED_HERE = {
    "main.py": f"import argparse\nfrom trainer import Trainer\nfrom model import Net\n\n{PARSER}"
    "Trainer(parser.parse_args(), Net(4, 3)).train()\n",
    "trainer.py": STEP,
    "model.py": MODEL,
}
PARSED_ELSEWHERE = {
    "options.py": OPTIONS,
    "templates.py": TEMPLATES,
    "main.py": "from options import args\nfrom trainer import Trainer\nfrom model import Net\n\n"
    "Trainer(args, Net(4, 3)).train()\n",
    "trainer.py": STEP,
    "model.py": MODEL,
}
PARSER_ELSEWHERE = {
    "options.py": f"import argparse\n\n\ndef build():\n    {PARSER}    return parser\n".replace(
        "\nparser.", "\n    parser."
    ),
    "trainer.py": STEP,
    "model.py": MODEL,
}
OPTION = 'parser.add_argument("--device", default="cpu", choices=["cpu", "xla"])'


def test_an_option_that_is_handed_to_the_file_which_uses_it(tmp_path: Path) -> None:
    assert changes(PARSED_HERE, fixed(tmp_path, PARSED_HERE)) == {OPTION}


@pytest.mark.parametrize("parsed", ["args = build().parse_args()\n", "parser = build()\nargs = parser.parse_args()\n"])
def test_an_option_of_a_parser_that_another_file_builds(tmp_path: Path, parsed: str) -> None:
    main = "from options import build\nfrom trainer import Trainer\nfrom model import Net\n\n"
    files = {**PARSER_ELSEWHERE, "main.py": f"{main}{parsed}Trainer(args, Net(4, 3)).train()\n"}
    assert changes(files, fixed(tmp_path, files)) == {OPTION}


def test_an_option_that_a_third_file_parses_and_a_fourth_one_sets(tmp_path: Path) -> None:
    assert changes(PARSED_ELSEWHERE, fixed(tmp_path, PARSED_ELSEWHERE)) == {OPTION, 'args.device = "xla"'}


@pytest.mark.parametrize("start", ["super().__init__(args, model)", "super(Own, self).__init__(args, model)"])
@pytest.mark.parametrize("made", ["Own(args, Net(4, 3))", "TRAINERS[args.name](args, Net(4, 3))"])
def test_an_option_that_the_base_of_a_class_uses(tmp_path: Path, start: str, made: str) -> None:
    imports = "from options import args\nfrom own import Own\nfrom model import Net\n\n"
    main = f"{imports}TRAINERS = {{'own': Own}}\n{made}.train()\n"
    files = {**PARSED_ELSEWHERE, "own.py": BASE.replace("BASE", start), "main.py": main}
    assert changes(files, fixed(tmp_path, files)) == {OPTION, 'args.device = "xla"'}


def test_an_option_that_no_file_uses_as_a_device(tmp_path: Path) -> None:
    files = {**PARSED_ELSEWHERE, "trainer.py": STEP.replace("args.device", '"cpu"')}
    ported = fixed(tmp_path, files)
    assert ported["options.py"] == files["options.py"] and ported["templates.py"] == files["templates.py"]


ASKING = """\
import torch


def accuracy(model, x, device="cpu"):
    if device == "cpu":
        criterion = torch.nn.MSELoss()
    elif "cuda" in device.type:
        criterion = torch.nn.L1Loss()
    return criterion(model(x), x)


def noise(shape, device, seed=0):
    generator = torch.Generator(device).manual_seed(seed)
    return torch.randn(shape, generator=generator, device=device)


class Sampler:
    def __init__(self, device):
        self.device = device
        self.generator = torch.Generator(device=self.device)
        self.half = device.type == "cuda"
        self.name = "cuda" if device.type == "cuda" else "cpu"
"""
CHOOSING = """\
import torch
from asking import Sampler, accuracy, noise

device = DEVICE
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
sampler = Sampler(device)
for _ in range(10):
    loss = model(noise((8, 4), device)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(accuracy(model, noise((8, 4), device), device=device))
"""


@pytest.mark.parametrize(
    "device", ['torch.device("cuda")', 'torch.device("cuda:0" if torch.cuda.is_available() else "cpu")']
)
def test_a_device_that_another_file_asks_about(tmp_path: Path, device: str) -> None:
    files = {"main.py": CHOOSING.replace("DEVICE", device), "asking.py": ASKING}
    ported = fixed(tmp_path, files)
    assert changes(files, {"asking.py": ported["asking.py"]}) >= {
        'elif "xla" in device.type:',
        "generator = torch.Generator().manual_seed(seed)",
        "self.generator = torch.Generator()",
    }
    assert '"cuda"' not in ported["main.py"]


@pytest.mark.parametrize("device", ["torch_xla.device()", 'torch.device("cpu")', "choose()"])
def test_a_device_that_nobody_calls_by_the_name_of_cuda(tmp_path: Path, device: str) -> None:
    """What a project asks that was ported by hand, or that runs on the host, is its own business."""
    main = CHOOSING.replace("DEVICE", device).replace("import torch\n", "import torch\nimport torch_xla\n", 1)
    ported = fixed(tmp_path, {"main.py": main, "asking.py": ASKING})
    assert '"cuda" in device.type' in ported["asking.py"] and 'self.half = device.type == "cuda"' in ported["asking.py"]


def test_a_device_in_the_options_that_another_file_asks_about(tmp_path: Path) -> None:
    asking = """\
import torch


def check(args, model, x):
    loss = model(x.to(args.device)).sum()
    if args.device == "cuda":
        loss = loss.cpu()
    if args.name == "cuda":
        print("named so")
    return loss.detach().numpy()
"""
    main = """\
import argparse

import torch
from asking import check

parser = argparse.ArgumentParser()
parser.add_argument("--name")
args = parser.parse_args()
args.device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.nn.Linear(4, 4).to(args.device)
if __name__ == "__main__":
    print(check(args, model, torch.ones(3, 4)))
"""
    files = {"main.py": main, "asking.py": asking}
    assert changes(files, fixed(tmp_path, files)) == {'if args.device == "xla":', 'args.device = "xla"'}


@pytest.mark.parametrize(
    ("taken", "value", "new"),
    [
        ("torch.device(cfg.device)", '"cuda"', '"xla"'),
        ("torch.device(self.cfg.device)", '"cuda" if base.modality == "state" else "cpu"',
         '"xla" if base.modality == "state" else "cpu"'),
        ("torch.zeros(3, device=cfg.train.device)", '"cuda"', '"xla"'),
        ("torch.ones(3).to(cfg.device)", '"cuda:0"', '"xla"'),
        ("torch.ones(3).to(x.device)", '"cuda"', '"cuda"'),  # where a tensor is
        ("open(cfg.device)", '"cuda"', '"cuda"'),
        ("torch.device(cfg.place)", '"cuda"', '"cuda"'),
        ("torch.device(cfg.device)", '"cpu"', '"cpu"'),
    ],
)  # fmt: skip
def test_a_device_of_settings_that_others_hand_on(tmp_path: Path, taken: str, value: str, new: str) -> None:
    """A file without torch names it in an attribute, and a third takes it for a device."""
    parsing = "from omegaconf import OmegaConf\n\n\ndef parse(path):\n    base = OmegaConf.load(path)\n"
    files = {
        "settings.py": f"{parsing}    base.device = {value}\n    return base\n",
        "memory.py": f"import torch\n\n\nclass Memory:\n    def __init__(self, cfg, x):\n        self.x = {taken}\n",
        "main.py": "from memory import Memory\nfrom settings import parse\n\nmemory = Memory(parse('a'), None)\n",
    }
    ported = fixed(tmp_path, files)
    assert f"    base.device = {new}\n" in ported["settings.py"]
    assert ported["memory.py"] == files["memory.py"]


@pytest.mark.parametrize("made", ["yacs.config.CfgNode()", "dict()"])
def test_a_device_of_a_configuration_of_yacs(tmp_path: Path, made: str) -> None:
    defaults = f"import yacs.config\n\n_C = {made}\n_C.MODEL.DEVICE = 'cuda'\n_C.MODEL.NAME = 'cuda'\n"
    files = {"defaults.py": defaults, "model.py": MODEL}
    expected = {"_C.MODEL.DEVICE = 'xla'"} if "yacs" in made else set()
    assert changes(files, fixed(tmp_path, files)) == expected


HELPERS = """\
import torch


def find_device():
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def start(kind="cuda"):
    assert kind in ["cuda", "mps", "cpu"], "unknown"
    if kind not in ("cuda", "mps", "cpu"):
        raise ValueError(kind)
    return 1, torch.device(kind)


def word():
    return "cuda"
"""
ASKING_HELPERS = """\
import argparse

import torch
from helpers import find_device, start, word

parser = argparse.ArgumentParser()
parser.add_argument("--kind", default="")
args = parser.parse_args()
kind = find_device() if args.kind == "" else args.kind
count, device = start(kind)
wait = torch.cuda.synchronize if kind == "cuda" else lambda: None
name = word()
model = torch.nn.Linear(4, 1).to(device)
if kind == "cuda":
    print("fast")
if device.type == "cuda":
    print("large")
if count == "cuda":
    print("no device")
model(torch.ones(2, 4, device=device)).sum().backward()
wait()
"""
ASKED = {
    'wait = (lambda: torch_xla.sync(wait=True)) if kind == "xla" else lambda: None',
    'if kind == "xla":',
    'if device.type == "xla":',
}


def test_a_device_that_a_function_of_another_file_returns(tmp_path: Path) -> None:
    """The names that it may have change in the function as well, or it would refuse the device."""
    files = {"helpers.py": HELPERS, "main.py": ASKING_HELPERS}
    expected = {
        'return "xla"',
        'def start(kind="xla"):',
        'assert kind in ["xla", "mps", "cpu"], "unknown"',
        'if kind not in ("xla", "mps", "cpu"):',
    }
    assert changes(files, fixed(tmp_path, files)) == ASKED | expected


def test_a_device_that_a_ported_file_returns_is_asked_for_by_its_name_of_before(tmp_path: Path) -> None:
    ported = HELPERS.replace('"cuda"', '"xla"').replace("torch.cuda.is_available()", "True")
    files = {"helpers.py": ported, "main.py": ASKING_HELPERS}
    assert changes(files, fixed(tmp_path, files)) == ASKED


@pytest.mark.parametrize(
    "helpers",
    [
        HELPERS.replace("def ", "import torch_xla\n\n\ndef ", 1).replace('"cpu"', "torch_xla.device()"),
        HELPERS.replace("def find_device", "def find").replace("start(kind=", "start(kind, other=")
        + "find_device = find\n",
        "def find_device():\n    return choose()\n\n\ndef start(kind):\n    return 1, kind\n\n\nword = find_device\n",
        "def find_device():\n    return 'cpu'\n\n\ndef start(kind):\n    return kind, 'cpu'\n\n\nword = find_device\n",
    ],
)
def test_a_device_of_another_file_that_stays_what_it_is_called(tmp_path: Path, helpers: str) -> None:
    """One of several backends, which the other file tells apart, and what nobody knows."""
    files = {"helpers.py": helpers, "main.py": ASKING_HELPERS}
    assert not changes(files, fixed(tmp_path, files)) & ASKED


def test_files_that_ask_each_other_for_the_device(tmp_path: Path) -> None:
    one = (
        "import torch\nimport two\n\n\ndef first():\n    return two.second()\n\n\n"
        'if two.second() == "cuda":\n    print("one")\n'
    )
    two = (
        'import torch\nimport one\n\n\ndef second():\n    return "cuda" if torch.cuda.is_available() else "cpu"\n\n\n'
        'if one.first() == "cuda":\n    print("two")\ntorch.ones(3).to(second())\n'
    )
    files = {"one.py": one, "two.py": two}
    expected = {'if two.second() == "xla":', 'return "xla"', 'if one.first() == "xla":'}
    assert changes(files, fixed(tmp_path, files)) == expected


SETTINGS = (
    "def parse_args(base, args, known):\n"
    '    base.add_argument("--device", default="cuda:0", type=str)\n'
    "    return base.parse_args(args, known)\n"
)
CHOSEN = (
    "import argparse\nimport torch\nimport settings\n\n"
    'FORMATS = {"plain": settings}\n'
    "parser = argparse.ArgumentParser()\n"
    'parser.add_argument("--format", default="plain")\n'
    "args, rest = parser.parse_known_args()\n"
    "args = FORMATS[args.format].parse_args(parser, rest, args)\n"
    "model = torch.nn.Linear(4, 1).to(args.device)\nmodel(torch.ones(2, 4)).sum().backward()\n"
)
FORMATS = (
    "import settings\n\n"
    'FORMATS = {"plain": settings}\n\n\n'
    "def parse(format, base, args, known):\n    return FORMATS[format].parse_args(base, args, known)\n"
)
CHOSEN_ELSEWHERE = (
    "import argparse\nimport torch\nimport formats\nimport backends\n\n\n"
    "def options():\n"
    "    parser = argparse.ArgumentParser()\n"
    '    parser.add_argument("--format", default="plain")\n'
    "    args, rest = parser.parse_known_args()\n"
    "    args = formats.parse(args.format, parser, rest, args)\n"
    "    return args, parser\n\n\n"
    "def main(args):\n"
    "    args = backends.choose(args).adjust(args)\n"
    '    if "cuda" in args.device:\n        print("on a GPU")\n'
    "    model = torch.nn.Linear(4, 1).to(args.device)\n    model(torch.ones(2, 4)).sum().backward()\n\n\n"
    "args, parser = options()\nmain(args)\n"
)


def test_an_option_of_one_of_the_modules_in_a_dictionary(tmp_path: Path) -> None:
    files = {"settings.py": SETTINGS, "main.py": CHOSEN}
    expected = {'base.add_argument("--device", default="xla", type=str)'}
    assert changes(files, fixed(tmp_path, files)) == expected


def test_an_option_that_a_function_chooses_the_module_of(tmp_path: Path) -> None:
    files = {"settings.py": SETTINGS, "formats.py": FORMATS, "main.py": CHOSEN_ELSEWHERE}
    files["backends.py"] = "def choose(args):\n    return args.backend\n"
    expected = {'base.add_argument("--device", default="xla", type=str)', 'if "xla" in args.device:'}
    assert changes(files, fixed(tmp_path, files)) == expected


DRAWN = (
    "import torch\n\n\ndef one_hot(rows, on_gpu=False):\n    ones = torch.zeros(rows, 3)\n"
    "    if on_gpu:\n        ones = ones.cuda()\n    return ones\n\n\n"
    "class Drawn:\n    def __init__(self, on_gpu):\n        self.on_gpu = on_gpu\n\n"
    "    def draw(self, rows):\n        return one_hot(rows, on_gpu=self.on_gpu)\n"
)
ASKS = (
    "import torch\nfrom torch import nn\nfrom drawn import Drawn, one_hot\n\n\n"
    "class Policy(nn.Linear):\n    def forward(self, x):\n"
    "        self.on_gpu = next(self.parameters()).is_cuda\n"
    "        return super().forward(x) * one_hot(len(x), self.on_gpu) + self.noise(x)\n\n"
    "    def noise(self, x):\n        return Drawn(x.is_cuda).draw(len(x))\n"
)


def test_where_a_tensor_lies_is_asked_for_a_function_of_another_file(tmp_path: Path) -> None:
    files = {"drawn.py": DRAWN, "policy.py": ASKS, "main.py": "from policy import Policy\nPolicy(4, 3).cuda()\n"}
    ported = fixed(tmp_path, files)["policy.py"]
    assert 'self.on_gpu = next(self.parameters()).device.type == "xla"' in ported
    assert 'return Drawn(x.device.type == "xla").draw(len(x))' in ported


def test_where_a_tensor_lies_is_asked_for_a_name_of_another_file(tmp_path: Path) -> None:
    named = "def one_hot(rows, on_gpu=False):\n    return 'on a GPU' if on_gpu else 'elsewhere'\n\n\nDrawn = print\n"
    files = {"drawn.py": named, "policy.py": ASKS}
    assert fixed(tmp_path, files)["policy.py"] == ASKS


ASKED_OF_AN_OBJECT = """\
import torch
from torch import nn
from place import Place


class Solver:
    def __init__(self, args, batch):
        self.args, self.place = args, Place(args)
        self.model = nn.Linear(4, 2)
        if WHOSE.is_cuda:
            self.model = self.model.cuda()
"""
PLACE_OF_ARGS = "class Place:\n    def __init__(self, args):\n        self.args = args\n"


@pytest.mark.parametrize(("whose", "is_tensor"), [("batch", True), ("args", False), ("self.args", False)])
def test_what_is_asked_of_a_tensor_and_of_options(tmp_path: Path, whose: str, is_tensor: bool) -> None:
    main = (
        "import argparse\nimport torch\nfrom solver import Solver\n\nargs = argparse.Namespace(lr=0.1)\n"
        "args.is_cuda = torch.cuda.is_available()\nSolver(args, torch.ones(3))\n"
    )
    files = {"main.py": main, "place.py": PLACE_OF_ARGS, "solver.py": ASKED_OF_AN_OBJECT.replace("WHOSE", whose)}
    ported = fixed(tmp_path, files)
    asked = f'{whose}.device.type == "xla"' if is_tensor else f"{whose}.is_cuda"
    assert f"if {asked}:" in ported["solver.py"] and "args.is_cuda = True" in ported["main.py"]


@pytest.mark.parametrize("owner", ["self.place", "dtype"])
def test_objects_and_classes_of_tensors_have_no_device(tmp_path: Path, owner: str) -> None:
    start = PLACE_OF_ARGS.replace("self.args", "self.is_cuda")
    solver = ASKED_OF_AN_OBJECT.replace("WHOSE", owner).replace("args, batch", "args, dtype")
    assert f"if {owner}.is_cuda:" in fixed(tmp_path, {"place.py": start, "solver.py": solver})["solver.py"]


def test_what_options_open_is_ported_where_a_file_knows_xla_already(tmp_path: Path) -> None:
    """``args.is_cuda`` is no question for CUDA alone once the options say yes for a TPU."""
    solver = (
        ASKED_OF_AN_OBJECT.replace("WHOSE", "args") + "\n    def device(self):\n        return torch_xla.device()\n"
    )
    files = {"place.py": PLACE_OF_ARGS, "solver.py": "import torch_xla\n" + solver}
    assert "self.model = self.model.to(torch_xla.device())" in fixed(tmp_path, files)["solver.py"]


@pytest.mark.parametrize(("backend", "is_ported"), [("nccl", True), ("gloo", False)])
def test_a_backend_of_a_configuration_is_ported_beside_the_device(
    tmp_path: Path, backend: str, is_ported: bool
) -> None:
    (tmp_path / "conf.py").write_text(f"config = Node()\nconfig.device = 'cuda'\nconfig.dist.backend = '{backend}'\n")
    (tmp_path / "train.py").write_text("""\
import torch
import torch.distributed as dist
from conf import config

if not torch.cuda.is_available():
    config.device = "cpu"
if __name__ == "__main__":
    dist.init_process_group(backend=config.dist.backend, init_method="env://", rank=0, world_size=2)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4).to(config.device))
""")
    tpulint("--fix", "--unsafe-fixes", ".", cwd=tmp_path)
    text = (tmp_path / "train.py").read_text()
    assert "cuda" not in text
    assert ('init_process_group(backend="xla", init_method="xla://")' in text) is is_ported


MOVES = "import torch\n\n\ndef put(x):\n    return x.cuda()\n\n\ndef shown(x):\n    return x.cpu()\n"
PLACE = """\
import torch
import moves


def place(x):
    if torch.cuda.is_available():
        x = [moves.CALLED(one) for one in x]
    return x


def place_model(model):
    return model.cuda()
"""


@pytest.mark.parametrize(("called", "goes"), [("put", True), ("shown", False)])
def test_a_question_around_calls_of_what_another_file_moves(tmp_path: Path, called: str, goes: bool) -> None:
    program = "from place import place\n\nplace([])\n"
    files = {"moves.py": MOVES, "place.py": PLACE.replace("CALLED", called), "train.py": program}
    assert ("is_available" not in fixed(tmp_path, files)["place.py"]) == goes


ALONE = """\
import torch


def start(args):
    if args.device != "cuda":
        args.distributed = False
        return
    args.distributed = True
    torch.cuda.set_device(args.gpu)
"""
STARTING = """\
import torch
from options import build_parser
from alone import start

args = build_parser().parse_args()
start(args)
model = torch.nn.Linear(4, 4).to(torch.device(args.device))
"""


@pytest.mark.parametrize(("default", "ported"), [("cuda", "xla"), ("cpu", "cuda")])
def test_a_device_of_options_that_a_file_asks_which_imports_no_other(tmp_path: Path, default: str, ported: str) -> None:
    declared = f'    parser = argparse.ArgumentParser()\n    parser.add_argument("--device", default="{default}")\n'
    options = f"import argparse\n\n\ndef build_parser():\n{declared}    return parser\n"
    texts = fixed(tmp_path, {"main.py": STARTING, "options.py": options, "alone.py": ALONE})
    assert f'args.device != "{ported}"' in texts["alone.py"]
    assert ("set_device" in texts["alone.py"]) == (ported == "cuda")


JOINS = """\
import torch
from torch.nn.parallel import DistributedDataParallel


def begin(args):
    torch.cuda.set_device(args.rank)
    torch.distributed.init_process_group(backend=args.ddp_backend, init_method=args.url, rank=args.rank)
"""
BEGINS = """\
import torch
from joins import begin

device = torch.device("cuda")


def train(args):
    begin(args)
    return torch.nn.Linear(4, 4).to(device)


train(read())
"""


@pytest.mark.parametrize(("asked", "taken"), [("args.ddp_backend", False), ("'gloo'", True)])
def test_a_program_joins_by_a_helper_before_it_takes_the_device(tmp_path: Path, asked: str, taken: bool) -> None:
    """A configuration names the backend of a helper for GPUs: under torchrun that group gives each process its chip."""
    texts = fixed(tmp_path, {"train.py": BEGINS, "joins.py": JOINS.replace("args.ddp_backend", asked)})
    assert ("torch_xla.device()" in texts["train.py"]) is taken
    assert ('backend="xla"' in texts["joins.py"]) is not taken


HOLDING = """\
import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
MODE = "cuda"


class Config:
    device = torch.device(DEVICE)


cfg = Config()
"""
ASKING_VARIABLES = """\
import torch

IMPORT

model = torch.nn.Linear(4, 1)
model.load_state_dict(torch.load("model.pth", map_location=NAMED))
if NAMED == "cuda":
    print("fast")
if "cuda" in str(KEPT):
    print("large")
if KEPT.type == "cuda":
    print("two")
if WORD == "cuda":
    print("no device")
numbers = torch.Generator(device=NAMED)
torch.save(model.to(KEPT).state_dict(), "model.pth")
"""
ASKED_OF_VARIABLES = {
    'model.load_state_dict(torch.load("model.pth", map_location="cpu"))',
    'if NAMED == "xla":',
    'if "xla" in str(KEPT):',
    'if KEPT.type == "xla":',
    "numbers = torch.Generator()",
    'xm.save(model.to(KEPT).state_dict(), "model.pth")',
}


def asks(imports: str, named: str, kept: str, word: str) -> dict[str, str]:
    """What stands for the name of the device, the object and a word that is no device."""
    return {"IMPORT": imports, "NAMED": named, "KEPT": kept, "WORD": word}


@pytest.mark.parametrize(
    "said",
    [
        asks("import settings", "settings.DEVICE", "settings.cfg.device", "settings.MODE"),
        asks("import settings as s", "s.DEVICE", "s.Config.device", "s.MODE"),
        asks("from settings import DEVICE, MODE, cfg", "DEVICE", "cfg.device", "MODE"),
        asks("from settings import *", "DEVICE", "Config.device", "MODE"),
        asks("from package import DEVICE, MODE, Config\n\nmine = Config()", "DEVICE", "mine.device", "MODE"),
    ],
)
@pytest.mark.parametrize("is_ported", [False, True])
def test_a_device_that_a_variable_of_another_file_holds(tmp_path: Path, said: dict[str, str], is_ported: bool) -> None:
    def filled(text: str) -> str:
        for word, meant in said.items():
            text = text.replace(word, meant)
        return text

    settings = HOLDING.replace('"cuda" if torch.cuda.is_available() else "cpu"', '"xla"') if is_ported else HOLDING
    files = {
        "settings.py": settings.replace('MODE = "cuda"', 'MODE = "fast"') if is_ported else settings,
        "package.py": "from settings import DEVICE, MODE, Config\n",
        "main.py": filled(ASKING_VARIABLES),
    }
    own = set() if is_ported else {'DEVICE = "xla"'}
    assert changes(files, fixed(tmp_path, files)) == {filled(row) for row in ASKED_OF_VARIABLES} | own


@pytest.mark.parametrize(
    "settings",
    [
        'DEVICE = "cpu"\nMODE = "cuda"\n',
        'import sys\n\nDEVICE = sys.argv[1]\nMODE = "cuda"\n',
        'import torch\nimport torch_xla\n\nMODE = "cuda"\n'
        'DEVICE = "cuda" if torch.cuda.is_available() else torch_xla.device()\n',
        'import torch\n\nMODE = "cuda"\n\n\ndef DEVICE():\n    return "cuda"\n',
    ],
)
def test_a_variable_of_another_file_that_is_no_device_of_cuda(tmp_path: Path, settings: str) -> None:
    text = ASKING_VARIABLES.replace("IMPORT", "import settings").replace("WORD", "settings.MODE")
    files = {"settings.py": settings, "main.py": text.replace("NAMED", "settings.DEVICE").replace("KEPT", "kept")}
    ported = fixed(tmp_path, files)
    for row in files["main.py"].splitlines():
        if "settings." in row:
            assert row in ported["main.py"].splitlines()


DEFAULTS = """\
from easydict import EasyDict
from dataclasses import dataclass

cfg = EasyDict()
cfg.TRAIN = EasyDict()
cfg.TRAIN.WHERE = "cuda:0"
cfg.TRAIN.KIND = "cuda"
WHERE = "cuda"
KIND = "cuda"


@dataclass
class Config:
    place: str = "cuda"
    kind: str = "cuda"


class Plain:
    here = "cuda"
    kind = "cuda"
"""
PLACES = {"cfg.TRAIN.WHERE": 'cfg.TRAIN.WHERE = "xla"', "WHERE": 'WHERE = "xla"'} | {
    "Plain.here": 'here = "xla"',
    "Config().place": 'place: str = "xla"',
}


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("used", ["torch.nn.Linear(4, 3).to({}).cpu()", "torch.ones(4, device={})", "torch.device({})"])
def test_a_device_of_settings_is_known_by_what_others_use_it_for(tmp_path: Path, where: str, used: str) -> None:
    files = {
        "defaults.py": DEFAULTS,
        "main.py": "import torch\nfrom defaults import WHERE, KIND, cfg, Config, Plain\n\n"
        f"made = {used.format(where)}\ntorch.nn.Linear(4, 1)(torch.ones(3, 4)).sum().backward()\n"
        "print(KIND, cfg.TRAIN.KIND, Config().kind, Plain.kind)\n",
    }
    assert changes(files, fixed(tmp_path, files)) == {PLACES[where]}


@pytest.mark.parametrize("used", ["print({})", "made.open({})", "made.to(dtype={})", "torch.load('x', {0}, mode={0})"])
def test_a_setting_that_nobody_uses_as_a_device(tmp_path: Path, used: str) -> None:
    main = "import torch\nimport defaults\n\nmade = torch.ones(3)\n"
    rows = "\n".join(used.format(f"defaults.{where}") for where in PLACES)
    files = {"defaults.py": DEFAULTS, "main.py": f"{main}{rows}\n"}
    assert fixed(tmp_path, files)["defaults.py"] == DEFAULTS


HELPER_OF_NUMBERS = """\
import torch


def choose(gpus, seed):
    if isinstance(gpus, KINDS):
        gpus = [gpus]
    devices = []
    for gpu in reversed(gpus):
        device = torch.device(gpu)
        devices.append(device)
        if device.type == "cuda":
            assert torch.cuda.is_available()
            torch.cuda.set_device(device)
            torch.cuda.manual_seed(seed)
    return devices[0]
"""
PROGRAM_OF_NUMBERS = """\
import argparse
import torch
from helper import choose

parser = argparse.ArgumentParser()
parser.add_argument("--gpu", type=int, default=0)
args = parser.parse_args()
model = torch.nn.Linear(4, 1).to(choose(args.gpu, 0))
"""


@pytest.mark.parametrize(
    ("kinds", "is_number"), [("int", True), ("(str, int)", True), ("str", False), ("tuple", False)]
)
def test_a_helper_that_takes_one_number_or_several(tmp_path: Path, kinds: str, is_number: bool) -> None:
    files = {"helper.py": HELPER_OF_NUMBERS.replace("KINDS", kinds), "main.py": PROGRAM_OF_NUMBERS}
    ported = fixed(tmp_path, files)["helper.py"]
    written = ("device = torch_xla.device()", 'if device.type == "xla":', "torch_xla.manual_seed(seed)")
    assert [row in ported for row in written] == [is_number] * 3
    assert ("torch.device(gpu)" in ported) != is_number


CONFIGURED = """\
import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
device = torch.device(DEVICE)
MODE = "cuda"
"""
USING = """\
import torch
import config
from config import DEVICE, device, MODE


def load(model, path):
    model.load_state_dict(torch.load(path, map_location=config.DEVICE))
    model.load_state_dict(torch.load(path, map_location=device))


def main():
    mixed = DEVICE == "cuda"
    size = 64 if config.device.type == "cuda" else 4
    other = MODE == "cuda"
    generator = torch.Generator(device=config.DEVICE)
    model = torch.nn.Linear(4, 1).to(config.DEVICE)
    print(mixed, other, model(torch.ones(size, 4).to(DEVICE)), generator)


if __name__ == "__main__":
    main()
"""
USED = {
    'model.load_state_dict(torch.load(path, map_location="cpu"))',
    'mixed = DEVICE == "xla"',
    'size = 64 if config.device.type == "xla" else 4',
    "generator = torch.Generator()",
}


@pytest.mark.parametrize(
    "config", [CONFIGURED, CONFIGURED.replace('"cuda" if torch.cuda.is_available() else "cpu"', '"xla"')]
)
def test_a_device_that_is_a_variable_of_another_file(tmp_path: Path, config: str) -> None:
    """Ported before or not: what is compared with its name goes with it."""
    files = {"config.py": config, "train.py": USING}
    found = changes(files, fixed(tmp_path, files)) - {'DEVICE = "xla"', "from config import DEVICE, MODE"}
    assert found == USED


def test_a_variable_of_another_file_that_is_the_host(tmp_path: Path) -> None:
    files = {"config.py": CONFIGURED.replace('"cuda" if torch.cuda.is_available() else ', ""), "train.py": USING}
    assert not changes(files, fixed(tmp_path, files))


PUTTING = """\
def put(x, place):
    if place == "cuda":
        return x.cuda()
    elif place == "cpu":
        return x.cpu()
    else:
        raise ValueError(place)


def put_unless(x, place):
    if place != "cuda":
        return x
    return x.cuda()


def put_where(x, where="cuda"):
    return x.cuda() if where.startswith("cuda") else x
"""
PUT = """\
import torch
from putting import put, put_unless, put_where

device = "cuda" if torch.cuda.is_available() else "cpu"
model = put(torch.nn.Linear(4, 4), GIVEN)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    loss = model(put_unless(put_where(torch.randn(8, 4)), place=device)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
MOVING = {
    'if place == "xla":',
    'if place != "xla":',
    "return x.to(torch_xla.device())",
    'def put_where(x, where="xla"):',
    'return x.to(where) if where.startswith("xla") else x',
}


@pytest.mark.parametrize("given", ["device", '"cuda"', 'place="cuda"'])
@pytest.mark.parametrize("start", ["", "import torch\n\n\n"])
def test_a_move_that_a_comparison_in_another_file_decides(tmp_path: Path, given: str, start: str) -> None:
    """The condition goes with the move, in a file that imports nothing of torch as well."""
    files = {"putting.py": start + PUTTING, "main.py": PUT.replace("GIVEN", given)}
    rows = {'device = "xla"'}
    if given != "device":
        rows.add(f"model = put(torch.nn.Linear(4, 4), {given.replace('cuda', 'xla')})")
    assert changes(files, fixed(tmp_path, files)) == MOVING | rows


def test_a_word_that_another_file_only_compares_stays(tmp_path: Path) -> None:
    """Nothing is moved where it is what it is compared with."""
    running = 'def run(x, way):\n    if way == "cuda":\n        print("fast")\n    return x * 2\n'
    main = 'import torch\nfrom running import run\n\nmodel = torch.nn.Linear(4, 4).cuda()\nrun(model.weight, "cuda")\n'
    files = {"running.py": running, "main.py": main}
    assert changes(files, fixed(tmp_path, files)) == {
        "device = torch_xla.device()",
        "model = torch.nn.Linear(4, 4).to(device)",
    }


def test_texts_that_functions_and_classes_of_other_files_take_for_their_device(tmp_path: Path) -> None:
    pruner = """\
import torch


class Pruner:
    def __init__(self, net, device, way):
        self.net = net.to(device)
        self.way = way


def prune(net, ratio, device, count=10):
    return net(torch.ones(3, 3).to(device)) * ratio
"""
    main = """\
from torch import nn
from pruner import Pruner, prune

net = nn.Linear(3, 3)
prune(net, 0.1, "cuda", count=3)
Pruner(net, "cuda:0", "cuda")
"""
    texts = fixed(tmp_path, {"main.py": main, "pruner.py": pruner})
    assert texts["main.py"].endswith('prune(net, 0.1, "xla", count=3)\nPruner(net, "xla", "cuda")\n'), texts["main.py"]
    assert texts["pruner.py"] == pruner


CHOOSER = """\
import torch


def choose():
    if torch.cuda.is_available():
        return "cuda:0"
    else:
        return "cpu"


class Hardware:
    def pick(self):
        return "cuda" if torch.cuda.is_available() else "cpu"
"""


TAKEN_FROM = (
    "import torch\nimport util\nfrom util import Hardware, choose\n\n"
    "torch.nn.Linear(4, 1)(torch.ones(3, 4)).sum().backward()\n"
)


@pytest.mark.parametrize("called", ["util.choose()", "choose()", "Hardware().pick()"])
@pytest.mark.parametrize(
    "used",
    [
        "there = {}\nnet = torch.nn.Linear(4, 1).to(there)\n",
        "net = torch.nn.Linear(4, 1, device={})\n",
        "class Own:\n    def __init__(self):\n        self.on = {}\n        self.net = torch.ones(3).to(self.on)\n",
    ],
)
def test_what_a_function_returns_is_known_by_what_others_use_it_for(tmp_path: Path, called: str, used: str) -> None:
    """The one that nobody uses stays with its question: without it the text would ask for a GPU."""
    files = {"util.py": CHOOSER, "main.py": TAKEN_FROM + used.format(called)}
    ported = fixed(tmp_path, files)
    assert changes(files, ported) == {'return "xla"'}
    assert ported["util.py"].count("torch.cuda.is_available()") == 1


@pytest.mark.parametrize("used", ["print(choose())\n", "there, _ = choose()\nnet.to(there)\n", "open(choose())\n"])
def test_what_a_function_returns_that_nobody_uses_as_a_device(tmp_path: Path, used: str) -> None:
    files = {"util.py": CHOOSER, "main.py": TAKEN_FROM + used}
    assert fixed(tmp_path, files)["util.py"] == CHOOSER


def test_a_class_in_a_file_that_python_reads_no_more_has_a_method_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "reader.py").write_text(
        "from torch import nn\n\n"
        "class Reader:\n"
        "    def __init__(self):\n"
        "        self.network = nn.Linear(4, 2)\n\n"
        "    def read(self, x):\n"
        "        return self.network(x.cuda(async=True))\n\n"
        "    def cuda(self):\n"
        "        self.network.cuda()\n"
    )
    (tmp_path / "train.py").write_text(
        "import torch\nfrom reader import Reader\n\n"
        "reader = Reader()\nreader.cuda()\nreader.read(torch.ones(2, 4).cuda())\n"
    )
    tpulint("--fix", "--unsafe-fixes", cwd=tmp_path)
    assert "\nreader.cuda()\n" in (tmp_path / "train.py").read_text()
    assert "self.network.to(torch_xla.device())\n" in (tmp_path / "reader.py").read_text()
    before = {path: path.read_text() for path in tmp_path.glob("*.py")}
    tpulint("--fix", "--unsafe-fixes", cwd=tmp_path)
    assert before == {path: path.read_text() for path in before}


GIVEN_TORCH = "from base import Trainer\n\ntrainer = Trainer()\nfor x in trainer.loader:\n    "


@pytest.mark.parametrize(
    ("turn", "is_told"),
    [
        ('loss = trainer.model(x.to("cuda")).mean()\n    loss.backward()\n    trainer.optimizer.step()', True),
        ('print(trainer.model(x.to("cuda")))', False),  # of whatever library
        ('loss = trainer.model(x, where="cuda")\n    loss.backward()\n    trainer.optimizer.step()', False),
    ],
)
def test_moves_of_a_file_that_trains_and_leaves_torch_to_others(tmp_path: Path, turn: str, is_told: bool) -> None:
    (tmp_path / "train.py").write_text(GIVEN_TORCH + turn)
    answer = tpulint("--select=TPU001", "--output-format=concise", "train.py", cwd=tmp_path)
    assert ("chooses a GPU" in answer.out) is is_told


COMMON = """\
import torch


def main(device, epochs, way="cuda"):
    print(way)
    return torch.nn.Linear(4, 4).to(device)


class Trainer:
    def __init__(self, epochs, device=None):
        self.model = torch.nn.Linear(4, 4).to(device)
"""


@pytest.mark.parametrize(
    ("program", "ported"),
    [
        ('def main(device="cuda", epochs=5):\n    return common.main(device, epochs)\n', 'device="xla"'),
        ('def main(epochs, *, device="cuda:0"):\n    common.main(epochs=epochs, device=device)\n', 'device="xla"'),
        ('def main(device="cuda"):\n    run(device)\n\ndef run(where):\n    common.main(where, 5)\n', 'device="xla"'),
        ('def main(device):\n    common.Trainer(5, device)\n\nmain(device="cuda")\n', 'device="xla"'),
        ('where = "cuda"\ntrainer = common.Trainer(5, device=where)\n', 'where = "xla"'),
        ('def main(device="cuda", epochs=5):\n    return common.main("cpu", epochs, way=device)\n', ""),
        ('def main(device="cuda"):\n    print(device)\n', ""),
        ('def main(device="cuda"):\n    return other.main(device, 5)\n', ""),
    ],
)
def test_a_device_that_a_file_without_torch_hands_on(tmp_path: Path, program: str, ported: str) -> None:
    files = {"common.py": COMMON, "speech.py": "import common\nimport other\n\n" + program}
    text = fixed(tmp_path, files)["speech.py"]
    assert (ported in text) if ported else (text == files["speech.py"])


AGENT = """\
import torch
from argparse import Namespace


class Base:
    def start(self, **kwargs):
        START


class Agent(Base):
    def __init__(self, GIVEN):
        KEEP
        self.net = torch.nn.Linear(4, 2).to(USED)

    def act(self, x):
        return self.net(x)
"""
UNPACKING = (
    "import argparse\n{}from agent import Agent\n\nparser = argparse.ArgumentParser()\n"
    "parser.add_argument('--where', default='cuda', help='cpu or cuda')\n"
    "parser.add_argument('--name', default='cuda')\nargs = parser.parse_args()\n{}\n"
)
UNPACKED = "parser.add_argument('--where', default='xla', help='cpu or xla')"


def unpacked(folder: Path, given: str, keep: str, used: str, program: str = "") -> set[str]:
    """What changes in a program that unpacks its options for an agent of another file."""
    agent = AGENT.replace("GIVEN", given).replace("KEEP", keep).replace("USED", used)
    agent = agent.replace("START", "self.__dict__.update(kwargs)")
    files = {"main.py": program or UNPACKING.format("", "agent = Agent(**vars(args))"), "agent.py": agent}
    return changes(files, fixed(folder, files))


@pytest.mark.parametrize(
    ("given", "keep", "used"),
    [
        ("**kwargs", "self.__dict__.update(kwargs)", "self.where"),
        ("**kwargs", "for key, value in kwargs.items():\n            setattr(self, key, value)", "self.where"),
        ("**kwargs", "self.args = Namespace(**kwargs)", "self.args.where"),
        ("**kwargs", "self.where = torch.device(kwargs['where'])", "self.where"),
        ("**kwargs", "self.start(**kwargs)", "self.where"),
        ("where, **kwargs", "self.rest = kwargs", "where"),
        ("name, where", "self.place = where", "self.place"),
    ],
)
def test_an_option_that_is_unpacked_for_an_object_of_another_file(
    tmp_path: Path, given: str, keep: str, used: str
) -> None:
    assert unpacked(tmp_path, given, keep, used) == {UNPACKED}


@pytest.mark.parametrize(
    ("head", "call"),
    [
        ("import torch\n", "agent = Agent(**vars(args))"),
        ("", "agent = Agent(**args.__dict__)"),
        ("", "given = vars(args)\nagent = Agent(**given)"),
        ("import torch\n", "def main(opt):\n    return Agent(**vars(opt))\n\n\nmain(args)"),
    ],
)
def test_options_that_are_unpacked_in_other_words(tmp_path: Path, head: str, call: str) -> None:
    program = UNPACKING.format(head, call)
    assert unpacked(tmp_path, "**kwargs", "self.__dict__.update(kwargs)", "self.where", program) == {UNPACKED}


def test_options_of_a_third_file_that_are_unpacked(tmp_path: Path) -> None:
    agent = AGENT.replace("GIVEN", "**kwargs").replace("KEEP", "self.start(**kwargs)").replace("USED", "self.where")
    main = "from options import args\nfrom agent import Agent\n\nagent = Agent(**vars(args))\nagent.train(args)\n"
    files = {
        "options.py": UNPACKING.format("", "").replace("from agent import Agent\n", ""),
        "main.py": main,
        "agent.py": agent.replace("START", "self.__dict__.update(kwargs)"),
    }
    assert changes(files, fixed(tmp_path, files)) == {UNPACKED}


@pytest.mark.parametrize(
    ("given", "keep", "used", "call"),
    [
        ("**kwargs", "self.__dict__.update(kwargs)\n        print(self.where)", "'cpu'", "vars(args)"),
        ("**kwargs", "self.where = 'cpu'", "self.where", "vars(args)"),  # the options are given to nothing
        ("**kwargs", "self.__dict__.update(kwargs)", "self.where", "dict(lr=0.1)"),
        ("**kwargs", "self.__dict__.update(kwargs)", "self.where", "load('settings.json')"),
        ("where, name", "self.where = where", "name.device", "vars(args)"),
    ],
)
def test_an_option_that_is_unpacked_for_something_else(
    tmp_path: Path, given: str, keep: str, used: str, call: str
) -> None:
    assert unpacked(tmp_path, given, keep, used, UNPACKING.format("", f"agent = Agent(**{call})")) == set()


def test_a_device_that_is_given_by_a_name_which_an_object_keeps(tmp_path: Path) -> None:
    keep = "self.__dict__.update(kwargs)"
    program = "from agent import Agent\n\nagent = Agent(where='cuda', name='cuda')\n"
    assert unpacked(tmp_path, "**kwargs", keep, "self.where", program) == {"agent = Agent(where='xla', name='cuda')"}


@pytest.mark.parametrize("taken", ["self.__dict__.update(vars(opt))", "vars(self).update(opt.__dict__)"])
def test_an_object_that_takes_in_the_options_it_is_given(tmp_path: Path, taken: str) -> None:
    program = UNPACKING.format("", "agent = Agent(args)")
    train = "\n    def train(self, x):\n        self.net(x).sum().backward()\n"
    assert unpacked(tmp_path, "opt", taken, f"self.where){train}#", program) == {UNPACKED}


@pytest.mark.parametrize("taken", ["self.__dict__.update(vars(self.best))", "self.best.__dict__.update(vars(opt))"])
def test_an_object_that_takes_in_something_else(tmp_path: Path, taken: str) -> None:
    program = UNPACKING.format("", "agent = Agent(args)")
    train = "\n    def train(self, x):\n        self.net(x).sum().backward()\n"
    assert unpacked(tmp_path, "opt", taken, f"self.where){train}#", program) == set()


LOGGING = (
    "import torch\nfrom . import log\n\nlogger = LOGGER\n\n\n"
    "def share(values):\n    return torch.tensor(values).cuda()\n"
)
LAUNCHER = """\
import torch
import torch.multiprocessing as mp
from lib.helpers import share


def work(rank):
    print(share([1.0, 2.0]))


if __name__ == "__main__":
    mp.spawn(work, nprocs=torch.cuda.device_count())
"""


@pytest.mark.parametrize("logger", ["log.get_logger(__name__)", 'log.get_logger("share")'])
@pytest.mark.parametrize("is_imported", [True, False])
def test_a_module_of_functions_takes_no_device_when_it_is_imported(
    tmp_path: Path, logger: str, is_imported: bool
) -> None:
    (tmp_path / "lib").mkdir()
    files = {"lib/__init__.py": "", "lib/log.py": "def get_logger(name):\n    return name\n"}
    files["lib/helpers.py"] = LOGGING.replace("LOGGER", logger)
    files["main.py"] = LAUNCHER if is_imported else "import torch\n"
    is_script = not is_imported and "__name__" not in logger
    assert ("\ndevice = torch_xla.device()\n" in fixed(tmp_path, files)["lib/helpers.py"]) is is_script


PLACING = """\
def place(x, device="cuda"):
    return x.to(device)


def put(x):
    return x.to("cuda:0", non_blocking=True)
"""


@pytest.mark.parametrize("use", ["net(place(x)) + net(put(x))", "net(x)"])
def test_devices_that_a_file_without_torch_moves_to(tmp_path: Path, use: str) -> None:
    """What others give it are tensors; where nobody is seen to give it anything, nobody knows."""
    start = "import torch\nfrom placing import place, put\n\nnet = torch.nn.Linear(4, 2).cuda()\n"
    loop = f"for x in torch.ones(3, 2, 4):\n    loss = ({use}).sum()\n    loss.backward()\n    optimizer.step()\n"
    files = {"placing.py": PLACING, "main.py": f"{start}optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n{loop}"}
    ported = fixed(tmp_path, files)["placing.py"]
    is_told = "place" in use
    assert ('device="xla"):\n    return x.to' in ported) is is_told
    assert ('x.to("xla", non_blocking=True)' in ported) is is_told


def test_modules_that_a_file_without_torch_moves(tmp_path: Path) -> None:
    """And a word by which a function only looks something up is no device."""
    placing = """\
COSTS = {"cuda": 1, "cpu": 2}


def place(net, device="cuda"):
    return net.to(device)


def cost(net, device="cuda"):
    return COSTS[device] + COSTS.get(device)
"""
    start = "import torch\nfrom placing import place\n\nnet = place(torch.nn.Linear(4, 2))\n"
    loop = "for x in torch.ones(3, 2, 4):\n    net(x.cuda()).sum().backward()\n    optimizer.step()\n"
    main = f"{start}optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n{loop}"
    ported = fixed(tmp_path, {"placing.py": placing, "main.py": main})["placing.py"]
    assert 'def place(net, device="xla")' in ported
    assert 'def cost(net, device="cuda")' in ported
