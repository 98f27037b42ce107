"""The flag with which moves keep parameters, set around some moves of a file and not around others."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()
FLAG = "torch.__future__.set_swap_module_params_on_conversion"
START = """\
import torch
from models import Head
from torch import nn, optim

def place(*nets):
    for net in nets:
        net.cuda()

def prepare():
    torch.__future__.set_swap_module_params_on_conversion(True)

def restore(net, path):
    torch.__future__.set_swap_module_params_on_conversion(False)
    net.load_state_dict(torch.load(path, map_location="cpu"))
    torch.__future__.set_swap_module_params_on_conversion(True)

coder, head = nn.LSTM(4, 4), Head()
opts = []
opts.append(optim.Adam(coder.parameters()))
opts.append(optim.Adam(head.parameters()))
loss = nn.MSELoss()
"""
ENGINE = """\
def put(net):
    net.cuda()
"""
MODELS = """\
from torch import nn

class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
"""
ALONE = START.replace(START[START.index("def prepare") : START.index("coder, head")], "")
LOADED = 'coder.load_state_dict(torch.load("coder.pt", map_location="cpu"))\n'


def fixed(text: str) -> str:
    """The text as the fixes leave it, with nothing left to tell."""
    settings = Settings(select=("TPU303",), fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert result.error == "" and not result.findings
    return result.text


@pytest.mark.parametrize(
    ("moved", "ported"),
    [
        ("coder.cuda()\nhead.cuda()\n", "{on}coder.cuda()\nhead.cuda()\n{off}"),
        (
            "if cuda:\n    coder = coder.cuda()\n    head = head.cuda()\n    loss = loss.cuda()\n",
            "if cuda:\n    {on}    coder = coder.cuda()\n    head = head.cuda()\n    loss = loss.cuda()\n    {off}",
        ),
        ("loss.cuda()\nhead.cuda()\nprint(head)\n", "{on}loss.cuda()\nhead.cuda()\n{off}print(head)\n"),
        ("coder.cuda()\nprint(coder)\nhead.cuda()\n", "{on}coder.cuda()\n{off}print(coder)\n{on}head.cuda()\n{off}"),
        (f"coder.cuda()\n{LOADED}head.cuda()\n", f"{{on}}coder.cuda()\n{{off}}{LOADED}{{on}}head.cuda()\n{{off}}"),
        (
            "if cuda:\n    coder.cuda()\nelse:\n    coder.to(other)\n",
            "if cuda:\n    {on}    coder.cuda()\n    {off}else:\n    {on}    coder.to(other)\n    {off}",
        ),
    ],
    ids=["two", "in a branch", "a loss beside", "apart", "loaded between", "in two branches"],
)
def test_the_flag_is_set_around_all_moves_beside(moved: str, ported: str) -> None:
    """Recurrent layers cannot be loaded with the flag: what is behind the moves has to be without it."""
    begun = f"{ALONE}cuda, other = len(opts) > 1, 'xla'\n"
    good = ported.format(on=f"{FLAG}(True)\n", off=f"{FLAG}(False)\n")
    if LOADED not in moved:
        moved, good = moved + LOADED, good + LOADED
    assert fixed(begun + moved) == begun + good


def test_files_that_load_nothing_have_the_flag_set_for_all() -> None:
    moved = "coder = coder.cuda()\nprint(coder)\nhead = head.cuda()\n"
    text = fixed(ALONE + moved)
    assert text.count(FLAG) == 1 and text.endswith(ALONE.partition("def place")[2] + moved)


@pytest.mark.parametrize(
    "body",
    [
        f"{FLAG}(True)\ncoder.cuda()\n{FLAG}(False)\nhead.cuda()  # TPU303",
        f"head.cuda()  # TPU303\n{FLAG}(True)\ncoder.cuda()\n{FLAG}(False)",
        f"{FLAG}(True)\ncoder.cuda()\nhead.cuda()\n{FLAG}(False)",
        f"{FLAG}(True)\nif loss:\n    coder.cuda()\nhead.cuda()\n{FLAG}(False)",
        f"try:\n    {FLAG}(True)\n    coder.cuda()\nfinally:\n    {FLAG}(False)\nhead.cuda()",
        f"{FLAG}(True)\ntry:\n    coder.cuda()\nfinally:\n    {FLAG}(False)\nhead.cuda()  # TPU303",
        f"{FLAG}(True)\nplace(coder, head)\n{FLAG}(False)",
        f"{FLAG}(False)\ncoder.cuda()  # TPU303",
        f"coder.cuda()\nprepare()\n{FLAG}(False)",
        "restore(coder, 'coder.pt')\ncoder.cuda()",
        f"{FLAG}(True)\ncoder.cuda()\n{FLAG}(False)\ncoder.cuda()\nnn.ModuleList([coder, head]).cuda()  # TPU303",
    ],
    ids=[
        "behind",
        "in front",
        "both",
        "in a branch",
        "left on by its block",
        "taken back in the end",
        "in a function",
        "off",
        "set in a function",
        "taken back for a while",
        "again",
    ],
)
def test_moves_beside_the_flag(tmp_path: Path, body: str) -> None:
    start = START if "prepare" in body or "restore" in body else ALONE
    agree(tmp_path, "TPU303", train=f"{start}{body}\n", models=MODELS)


@pytest.mark.parametrize(("before", "told"), [("", "  # TPU303"), (f"{FLAG}(True)\nhead.cuda()\n{FLAG}(False)\n", "")])
def test_moves_of_other_files_behind_the_flag(tmp_path: Path, before: str, told: str) -> None:
    """What has kept its parameters on the way to the device stays the same when it is moved there again."""
    body = f"{before}put(head){told}\n"
    text = ALONE.replace("import torch\n", "import torch\nfrom engine import put\n")
    agree(tmp_path, "TPU303", train=text + body, engine=ENGINE, models=MODELS)


@pytest.mark.parametrize("told", ["", "  # TPU303"])
def test_calls_that_move_in_other_files_with_the_flag(tmp_path: Path, told: str) -> None:
    call = f"put(head){told}\n"
    body = call if told else f"{FLAG}(True)\n{call}{FLAG}(False)\n"
    text = ALONE.replace("import torch\n", "import torch\nfrom engine import put\n")
    agree(tmp_path, "TPU303", train=text + body, engine=ENGINE, models=MODELS)


ALL_KINDS = """\
import torch
from torch import nn
from transformers import GPT2LMHeadModel

class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(4, 4), nn.Linear(4, 4, bias=False)
        self.out.weight = self.words.weight{mark_304}

class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(4, 4), nn.Linear(4, 4, bias=False)

{first}
model, pair, reader = nn.Linear(4, 4), Pair(), GPT2LMHeadModel.from_pretrained("gpt2")
pair.out.weight = pair.words.weight{mark_304}
weight = model.weight{mark_305}
{on}
model.cuda()
pair.cuda()
reader.cuda(){mark_825}
{off}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
print(weight.sum())
for step in range(30):
    model(torch.rand(4, 4).cuda()).sum().backward()
    optimizer.step()
    if step % 10 == 0:
        {on}
        model.cpu(){mark_314}
        print(model)
        model.cuda()
        {off}
"""


@pytest.mark.parametrize("where", ["around", "elsewhere", "before all", "nowhere"])
def test_what_else_asks_for_the_flag(tmp_path: Path, where: str) -> None:
    """Ties, parameters taken before, ways to the host and back, and language models."""
    is_told = where in ("elsewhere", "nowhere")
    marks = {f"mark_{code}": f"  # TPU{code}" if is_told else "" for code in (304, 305, 314, 825)}
    on, off = f"{FLAG}(True)", f"{FLAG}(False)"
    first = {"elsewhere": f"{on}\nnn.Linear(4, 4).cuda()\n{off}", "before all": on}.get(where, "")
    around = {"on": on, "off": off} if where == "around" else {"on": "", "off": ""}
    text = ALL_KINDS.format(first=first, **around, **marks)
    if where == "elsewhere":  # the module that ties parts of itself may be the one that moves there
        text = text.replace("self.words.weight  # TPU304", "self.words.weight")
    agree(tmp_path, "TPU304,TPU305,TPU314,TPU825", train=text)


def test_parameters_of_layers_in_plain_lists(tmp_path: Path) -> None:
    """The list of parameters moves and the layers stay behind; not where the layers are parts, or have moved before."""
    agree(
        tmp_path,
        "TPU304",
        model="""
        from torch import nn

        class Stacks(nn.Module):
            def __init__(self, device):
                super().__init__()
                self.stacks = []
                self.listed = []
                for _ in range(2):
                    self.stacks.append(self.create())
                self.listed = nn.ParameterList(self.listed)  # TPU304
                self.to(device)

            def create(self):
                blocks = []
                for _ in range(3):
                    block = nn.Linear(4, 4)
                    self.listed.extend(block.parameters())
                    blocks.append(block)
                return blocks

        class Written(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = [nn.Linear(4, 4), nn.Linear(4, 4)]
                self.listed = nn.ParameterList(  # TPU304
                    [p for layer in self.layers for p in layer.parameters()]
                )
                self.first = nn.ParameterList(self.layers[0].parameters())  # TPU304

        class Registered(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = [nn.Linear(4, 4), nn.Linear(4, 4)]
                for i, layer in enumerate(self.layers):
                    setattr(self, f"layer{i}", layer)
                self.listed = nn.ParameterList([p for layer in self.layers for p in layer.parameters()])

        class Part(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 4)
                self.listed = nn.ParameterList(list(self.layer.parameters()))
                self.scales = nn.ParameterList([nn.Parameter(p.clone()) for p in self.given])

        class MovedBefore(nn.Module):
            def __init__(self, device):
                super().__init__()
                self.blocks, params = [], []
                for _ in range(2):
                    block = nn.Linear(4, 4).to(device)
                    params.extend(block.parameters())
                    self.blocks.append(block)
                self.params = nn.ParameterList(params)
        """,
    )


LAYERS = """\
    from torch import nn

    class Predictions(nn.Module):
        def __init__(self, width, shared):
            super().__init__()
            self.decoder = nn.Linear(width, 8, bias=False)
            self.put(shared)

        def put(self, shared):
            self.decoder.weight = shared

    class Head(nn.Module):
        def __init__(self, width, words):
            super().__init__()
            self.predictions = Predictions(width, shared=words)

    class Keeper(nn.Module):
        def __init__(self, words):
            super().__init__()
            self.words = words

    class Reader(nn.Module):
        def __init__(self, words):
            super().__init__()
            self.size = words.size(0)
            words = nn.Parameter(words.detach().clone())
            self.words = words
"""
USING_LAYERS = """\
    from torch import nn
    from layers import Head, Keeper, Reader

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(8, 4)
            self.head = Head(4, self.words.weight)  # TPU304
            self.kept = Keeper(words=self.words.weight)  # TPU304
            self.read = Reader(self.words.weight)
            size = Keeper(self.words.weight)
            self.scale = nn.Parameter(self.words.weight)

    model = Model().cuda()
"""


def test_parameters_that_another_module_is_given(tmp_path: Path) -> None:
    agree(tmp_path, "TPU304", layers=LAYERS, train=USING_LAYERS)


TWO = """\
import torch
from torch import nn

device = torch.device("cuda")

class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(10, 4)

class Pair(nn.Module):
    def __init__(self, one, two):
        super().__init__()
        self.one, self.two = one, two

first, second = Coder(), Coder()
{tie}
{move}
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
"""
TIE = "second.words.weight = first.words.weight"
BOTH = "first = first.to(device)\nsecond = second.to(device)"


@pytest.mark.parametrize(
    ("tie", "move", "is_told"),
    [
        (TIE, BOTH, True),
        (TIE, "second = second.to(device)", False),  # the first gives its weight away
        (TIE, "first = first.to(device)", False),
        (BOTH, TIE, False),
        # As parts of one.
        (TIE, "both = nn.Sequential(first, second)\nboth.to(device)", True),
        (TIE, "both = Pair(first, second).to(device)", True),
        (TIE, "only = nn.Sequential(second)\nonly.to(device)", False),
        ("both = nn.Sequential(first, second).to(device)", TIE, False),
    ],
)
def test_weights_of_two_models_that_are_tied(tmp_path: Path, tie: str, move: str, is_told: bool) -> None:
    agree(tmp_path, "TPU304", main=TWO.format(tie=tie + "  # TPU304" if is_told else tie, move=move))
