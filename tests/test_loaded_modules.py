"""Whole modules that `map_location` puts on the device as they are loaded: they have to be moved then."""

from __future__ import annotations

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()
START = """\
import torch
import torch_xla
from torch import nn

device = torch.device("xla")
gpu, path, loader = read()
batch = torch.ones(4, 4).to(device)
"""
ON_GPU = "lambda storage, place: storage.cuda(gpu)"


def fixed(text: str, portable: bool = False) -> str:
    """The text behind the start, as the fixes leave it."""
    settings = Settings(select=("TPU701",), fix=True, unsafe_fixes=True, portable=portable)
    result = lint(SourceFile.from_text(START + text), settings, CATALOGUE)
    assert result.error == "" and not result.findings
    return result.text.partition(".to(device)\n")[2]


@pytest.mark.parametrize(
    "place",
    [
        ON_GPU,
        "lambda storage, place: storage.cuda()",
        'f"cuda:{gpu}"',
        '"cuda:" + str(gpu)',
        '{"cuda:0": f"cuda:{gpu}"}',
        '{"cuda:0": "cuda:1", "cuda:1": "cuda:1"}',
        'torch.device("cuda", gpu)',
        "torch_xla.device()",
    ],
)
@pytest.mark.parametrize(
    "use",
    [
        "model = torch.load(path, map_location={})\nmodel.eval()\n",
        "model = torch.load(path, map_location={})\noptimizer = torch.optim.Adam(model.parameters())\n",
        "model = torch.load(path, map_location={})\nprint(model(batch))\n",
        "model = torch.load(path, map_location={}).eval()\n",
        "model = nn.Linear(4, 4).to(device)\nif gpu:\n    model = torch.load(path, map_location={})\nrun(model)\n",
        "class Runner:\n    def __init__(self):\n        self.model = torch.load(path, map_location={})\n"
        "    def run(self):\n        self.model.eval()\n",
    ],
    ids=["evaluated", "trained", "called", "at once", "in place of another", "kept"],
)
def test_modules_move_behind_the_load(place: str, use: str) -> None:
    good = use.replace("map_location={})", 'map_location="cpu").to(device)')
    assert fixed(use.replace("{}", place)) == good


@pytest.mark.parametrize("value", [ON_GPU, 'f"cuda:{gpu}"', '{"cuda:0": "cuda:1"}'])
def test_places_that_go_with_the_load(value: str) -> None:
    """The device is not read out of a variable that is no more, or holds none."""
    used = "model = torch.load(path, map_location={})\nmodel.eval()\n"
    moved = 'model = torch.load(path, map_location="cpu").to(device)\nmodel.eval()\n'
    assert fixed(f"place = {value}\n{used.format('place')}") == moved
    if value.startswith("f"):
        return  # a text that others read, too, is ported with them
    assert fixed(f"place = {value}\nprint(place)\n{used.format('place')}") == f"place = {value}\nprint(place)\n{moved}"


@pytest.mark.parametrize(
    "use",
    [
        f"model = torch.load(path, map_location={ON_GPU})\nmodel.eval()\nmodel.to(device)\n",
        f"model = torch.load(path, map_location={ON_GPU})\nmodel = model.to(device).eval()\n",
        f"saved = torch.load(path, map_location={ON_GPU})\nmodel.load_state_dict(saved)\n",
        f"other = torch.load(path, map_location={ON_GPU})\nmodel.load_state_dict(other.state_dict())\n",
        f"words = torch.load(path, map_location={ON_GPU})\nprint(words(loader))\n",
        f"model = nn.Linear(4, 4)\nmodel.to(device)\nmodel = torch.load(path, map_location={ON_GPU})\n"
        'print(model["epoch"])\nrun(model)\n',
        f"model = nn.Linear(4, 4)\nmodel.to(device)\nmodel = torch.load(path, map_location={ON_GPU})\n"
        "for name, part in model.items():\n    run(name, part)\n",
        f"net = torch.load(path, map_location={ON_GPU})\nrun(net)\n",
        'model = torch.load(path, map_location="cuda" if gpu else "cpu")\nmodel.eval()\n',
        "model = torch.load(path, map_location=lambda s, p: s.cuda() if gpu else s)\nmodel.eval()\n",
    ],
    ids=[
        "moved",
        "moved with more",
        "a state",
        "a state of it",
        "called without a tensor",
        "read by a key",
        "gone through",
        "not known",
        "perhaps on the host",
        "perhaps on the host, by a function",
    ],
)
def test_what_is_no_module_or_moves_already(use: str) -> None:
    text = fixed(use)
    assert text.count('map_location="cpu"') == 1 and text.count(".to(device)") == use.count(".to(device)")


@pytest.mark.parametrize(
    ("place", "moved"),
    [
        (ON_GPU, "backend.device(gpu)"),
        ("lambda storage, place: storage.cuda()", "device"),
        ('f"cuda:{gpu}"', "backend.device(gpu)"),
        ('{"cuda:0": f"cuda:{gpu}"}', "backend.device(gpu)"),
        ('{"cuda:0": "cuda:1", "cuda:1": "cuda:1"}', ""),
        ("lambda storage, place: storage.cuda() if gpu else storage", ""),
    ],
)
def test_the_number_of_the_gpu_is_kept_for_cuda(place: str, moved: str) -> None:
    text = f"def resume(gpu, path):\n    model = torch.load(path, map_location={place})\n    return model.eval()\n"
    text = fixed(text, portable=True)
    if moved:
        assert f'torch.load(path, map_location="cpu").to({moved})\n' in text
    else:
        assert ".to(" not in text and text.count('if torch.cuda.is_available() else "cpu"') == 1


@pytest.mark.parametrize(
    ("body", "is_moved"),
    [
        ("print(net(torch.randn(2, 4, device=device)))", True),
        ("answer = net(other)\n    print(answer.detach())", True),
        ("inner(net, other)", True),
        ("print(net(other))", False),
        ("print(net, other(batch))", False),
        ("net.load_state_dict(other)", False),
        ("net = nn.Linear(4, 4)\n    print(net(batch))", False),
    ],
)
def test_modules_that_a_function_is_given(body: str, is_moved: bool) -> None:
    text = f"def inner(model, x):\n    return model(x).detach()\n\ndef show(net, other):\n    {body}\n\n"
    load = 'torch.load(path, map_location=f"cuda:{gpu}")'
    moved = 'torch.load(path, map_location="cpu")' + ".to(device)" * is_moved
    assert fixed(f"{text}kept = {load}\nshow(kept, loader)\n") == f"{text}kept = {moved}\nshow(kept, loader)\n"


@pytest.mark.parametrize(
    ("use", "moved"),
    [
        ("print(kept.shape)", "{}.to(device)"),
        ("print(kept.unsqueeze(0))", "{}.to(device)"),
        ("print(kept[batch.argmax(0)])", "{}.to(device)"),
        ("print(batch * kept)", "{}.to(device)"),
        ("print(kept[len(batch)])", "{}"),
        ("print(kept.shape)\nkept = kept.to(device)", "{}"),
        ("print([one.shape for one in kept])", "xm.send_cpu_data_to_device({}, torch_xla.device())"),
        ("print(kept[-1].detach())", "xm.send_cpu_data_to_device({}, torch_xla.device())"),
        ("for one in kept:\n    print(one.ndim)", "xm.send_cpu_data_to_device({}, torch_xla.device())"),
        ("for one in kept:\n    print(one(batch))", "{}"),  # modules, whose parameters such a call spoils
        ('print(kept["words"].shape, kept["epoch"], kept)', "{}"),
        ("print(kept[0])", "{}"),
        ("print(kept[0].shape)\nmodel.load_state_dict(kept[1])", "{}"),
    ],
)
def test_tensors_move_behind_the_load(use: str, moved: str) -> None:
    """They were on the GPU, alone or in a list."""
    loaded = moved.format('torch.load(path, map_location="cpu")')
    assert fixed(f'kept = torch.load(path, map_location=f"cuda:{{gpu}}")\n{use}\n') == f"kept = {loaded}\n{use}\n"


SAVED_BESIDE = """\
import torch

net = torch.nn.Linear(4, 3).cuda()


def save(path):
    {}


def load(path):
    net.load_state_dict(torch.load(path))
"""


@pytest.mark.parametrize(
    "saving",
    [
        "torch.save(net.cpu().state_dict(), path)\n    if torch.cuda.is_available():\n        net.cuda()",
        "torch.save(net.cpu().state_dict(), path)\n    net.cuda()",
        "torch.save(net.state_dict(), path)",
    ],
)
def test_files_are_loaded_to_the_host_whatever_writes_them_from_now_on(saving: str) -> None:
    """What is loaded may come from a GPU, also where `torch.save` has become `xm.save` in the same run."""
    settings = Settings(fix=True, unsafe_fixes=True)
    text = lint(SourceFile.from_text(SAVED_BESIDE.format(saving)), settings, CATALOGUE).text
    assert "xm.save(net.state_dict(), path)" in text and 'torch.load(path, map_location="cpu")' in text


@pytest.mark.parametrize(
    ("use", "is_whole"),
    [
        ('optimizer = saved["optimizer"]\noptimizer.step()\n', True),
        ('optimizer = torch.optim.Adam(net.parameters())\noptimizer = saved["optimizer"]\nrun(net, optimizer)\n', True),
        ('state = saved["optimizer"]\noptimizer = torch.optim.Adam(net.parameters())\n'
         "optimizer.load_state_dict(state)\noptimizer.step()\n", False),
    ],
)  # fmt: skip
def test_what_an_optimizer_keeps_is_not_loaded_to_the_host(use: str, is_whole: bool) -> None:
    text = 'net = saved["net"].to(device)\n' + use
    assert ("map_location" in fixed("saved = torch.load(path)\n" + text)) is not is_whole
    named = START + 'saved = torch.load(path, map_location="cuda")\n' + text
    settings = Settings(select=("TPU701",), unsafe_fixes=True)
    findings = lint(SourceFile.from_text(named), settings, CATALOGUE).findings
    assert [one.fix is None for one in findings] == [is_whole]


@pytest.mark.parametrize(("kept", "is_moved"), [("rows.to(device)", True), ("rows.to(dtype=batch.dtype)", False)])
def test_another_type_is_no_move_from_the_host(kept: str, is_moved: bool) -> None:
    text = f'data = torch.load(path)\nrows = data["rows"]\nprint({kept} * batch, data["labels"])\n'
    assert ('map_location="cpu"' in fixed(text)) is is_moved


@pytest.mark.parametrize(("place", "codes"), [("torch.device('cpu')", []), ("torch.device('cuda')", ["TPU301"])])
def test_a_script_of_the_host_that_loads_what_lay_on_a_device(place: str, codes: list[str]) -> None:
    text = (
        START.replace(".to(device)", "").replace('device = torch.device("xla")\n', "").replace("import torch_xla\n", "")
    )
    text += f"""\
net = nn.Linear(4, 4)
net.load_state_dict(torch.load(path, map_location={place}))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
"""
    result = lint(SourceFile.from_text(text), Settings(select=("TPU301", "TPU702")), CATALOGUE)
    assert [finding.code for finding in result.findings] == codes
