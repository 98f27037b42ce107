"""What the cards of the precision, step and checkpoint rules say about torch_xla, tried out on XLA:CPU."""

from __future__ import annotations

from typing import Any

import pytest
from xla_facts import facts_of

PROGRAM = r"""
import io, json, tempfile, warnings
import torch, torch_xla
import torch.utils.checkpoint, torch_xla.utils.checkpoint
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met
from torch import nn

warnings.simplefilter("ignore")
device = torch_xla.device()
facts = {}

def fails(function):
    try:
        function()
        torch_xla.sync()
    except Exception as error:
        return type(error).__name__
    return ""

linear = nn.Linear(4, 4).to(device)
x = torch.randn(2, 4).to(device)
contexts = {
    "cuda": torch.autocast("cuda"),
    "old": torch.cuda.amp.autocast(),
    "xla": torch.autocast("xla", dtype=torch.bfloat16),
}
for name, context in contexts.items():
    with context:
        facts[f"autocast {name}"] = str(linear(x).dtype)
mask, bytes_ = torch.tensor([True, True, False]), torch.ones(300, dtype=torch.uint8)
facts["counts of a mask"] = [mask.to(device).count_nonzero().item(), mask.to(device).sum().item()]
facts["counts of bytes"] = [bytes_.to(device).count_nonzero().item(), bytes_.to(device).sum().item()]
facts["cuda bfloat16"] = fails(lambda: torch.autocast("cuda", dtype=torch.bfloat16).__enter__())

def transfers(scaler):
    model = nn.Linear(4, 4).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    counts = []
    for _ in range(4):
        optimizer.zero_grad()
        scaler.scale(model(x).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        torch_xla.sync()
        counts.append((met.metric_data("TransferFromDeviceTime") or (0,))[0])
    return counts[-1] - counts[-2]

facts["scaler"] = transfers(torch.amp.GradScaler("xla"))
facts["scaler off"] = transfers(torch.amp.GradScaler("xla", enabled=False))

def trains(flag):
    torch.__future__.set_swap_module_params_on_conversion(flag)
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.to(device)
    before = model.weight.detach().cpu().clone()
    model(x).sum().backward()
    optimizer.step()
    torch_xla.sync()
    return not torch.equal(before, model.weight.detach().cpu())

def trains_after_visit(flag):
    # The model goes to the host and back after its optimizer was built.
    torch.__future__.set_swap_module_params_on_conversion(flag)
    model = nn.Linear(4, 4).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    there = {name: value.clone() for name, value in model.cpu().state_dict().items()}
    model.to(device)
    here = {name: value.cpu() for name, value in model.state_dict().items()}
    facts[f"same state {flag}"] = all(torch.equal(there[name], here[name]) for name in there)
    model(x).sum().backward()
    optimizer.step()
    torch_xla.sync()
    return not torch.equal(here["weight"], model.weight.detach().cpu())

class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.ModuleList([nn.Embedding(4, 4), nn.Linear(4, 4, bias=False)])
        self.inner[1].weight = self.inner[0].weight

def tied(flag):
    torch.__future__.set_swap_module_params_on_conversion(flag)
    model = Tied().to(device)
    return model.inner[0].weight is model.inner[1].weight

def load_lstm():
    first, second = nn.LSTM(2, 2), nn.LSTM(2, 2)
    second.load_state_dict(first.state_dict())

def change_device():
    model = nn.Linear(4, 4).to(device)
    out = model(x)
    model.cpu()
    out.sum().backward()

for flag in (False, True):
    facts[f"trains {flag}"], facts[f"tied {flag}"] = trains(flag), tied(flag)
    facts[f"lstm {flag}"], facts[f"change {flag}"] = fails(load_lstm), fails(change_device)
torch.__future__.set_swap_module_params_on_conversion(False)

def inference():
    with torch.inference_mode():
        linear(x)

def no_grad():
    with torch.no_grad():
        linear(x)

facts["inference_mode"], facts["no_grad"] = fails(inference), fails(no_grad)
y = x.clone().requires_grad_()

def checkpointed(function, reentrant):
    return fails(lambda: function(linear, y, use_reentrant=reentrant).sum().backward())

for reentrant in (True, False):
    facts[f"checkpoint {reentrant}"] = checkpointed(torch.utils.checkpoint.checkpoint, reentrant)
    facts[f"checkpoint xla {reentrant}"] = checkpointed(torch_xla.utils.checkpoint.checkpoint, reentrant)

def fused():
    optimizer = torch.optim.AdamW(linear.parameters(), fused=True)
    optimizer.step()

facts["fused"] = fails(fused)
linear(x).sum().backward()
facts["foreach"] = fails(lambda: torch.nn.utils.clip_grad_norm_(linear.parameters(), 1.0, foreach=True))
facts["clip"] = fails(lambda: torch.nn.utils.clip_grad_norm_(linear.parameters(), 1.0))

saved = tempfile.mkdtemp()
torch.save({"x": torch.ones(2)}, f"{saved}/host.pt")
for place in ("cuda", "xla", "cpu"):
    facts[f"load {place}"] = fails(lambda: torch.load(f"{saved}/host.pt", map_location=place))
torch.save(linear.state_dict(), f"{saved}/torch.pt")
xm.save(linear.state_dict(), f"{saved}/xm.pt")
for name in ("torch", "xm"):
    facts[f"saved {name}"] = torch.load(f"{saved}/{name}.pt")["weight"].device.type
one, other = torch.load(f"{saved}/torch.pt"), torch.load(f"{saved}/xm.pt")
facts["same values"] = torch.equal(one["weight"].cpu(), other["weight"])

def draw():
    return torch.rand(4, device=device).cpu()

for name, seed in {"torch": torch.manual_seed, "torch_xla": torch_xla.manual_seed}.items():
    seed(1)
    first = draw()
    seed(1)
    facts[f"{name} seeds"] = torch.equal(first, draw())

for flag in (False, True):
    facts[f"trains after visit {flag}"] = trains_after_visit(flag)
torch.__future__.set_swap_module_params_on_conversion(False)

import torch.distributed as dist
import torch_xla.distributed.xla_backend

normalise = nn.SyncBatchNorm(4).to(device)
facts["sync norm alone"] = fails(lambda: normalise(x))
dist.init_process_group("xla", init_method="xla://")
facts["sync norm in a group"] = fails(lambda: normalise(x))
facts["sync norm in evaluation"] = fails(lambda: normalise.eval()(x))
print("FACTS" + json.dumps(facts))
"""

EXPECTED = {
    "counts of a mask": [True, 2],
    "counts of bytes": [44, 300],
    "autocast cuda": "torch.float32",
    "autocast old": "torch.float32",
    "autocast xla": "torch.bfloat16",
    "cuda bfloat16": "RuntimeError",
    "scaler off": 0,
    "trains False": False,
    "trains True": True,
    "tied False": False,
    "tied True": True,
    "lstm False": "",
    "lstm True": "RuntimeError",
    "change True": "RuntimeError",
    "inference_mode": "RuntimeError",
    "no_grad": "",
    "checkpoint True": "AttributeError",
    "checkpoint False": "AttributeError",
    "checkpoint xla True": "",
    "checkpoint xla False": "ValueError",
    "fused": "RuntimeError",
    "foreach": "RuntimeError",
    "clip": "",
    "load cuda": "RuntimeError",
    "load xla": "RuntimeError",
    "load cpu": "",
    "saved torch": "xla",
    "saved xm": "cpu",
    "same values": True,
    "torch seeds": False,
    "torch_xla seeds": True,
    "trains after visit False": False,
    "trains after visit True": True,
    "same state False": True,
    "same state True": True,
    "sync norm alone": "",
    "sync norm in a group": "ValueError",
    "sync norm in evaluation": "",
}


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    return facts_of(PROGRAM)


@pytest.mark.xla
@pytest.mark.parametrize("name", EXPECTED)
def test_fact(facts: dict[str, Any], name: str) -> None:
    assert facts[name] == EXPECTED[name]


@pytest.mark.xla
def test_enabled_scaler_reads_the_device(facts: dict[str, Any]) -> None:
    assert facts["scaler"] >= 1
