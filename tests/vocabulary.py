"""The words of generated training programs: each tuple holds ways in which real scripts write one thing.

In templates ``$model``, ``$loss``, ``$x`` ... stand for the local names of one program. A row of a template that ends
with a colon takes the rows after it as its body.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Block(NamedTuple):
    """A compound statement."""

    header: str
    body: Sequence[Statement]


Statement = str | Block


class Acquisition(NamedTuple):
    """One way of choosing the device."""

    setup: tuple[Statement, ...]
    device: str
    """The expression that the rest of the program writes where it means the device."""


class Precision(NamedTuple):
    """One way of writing mixed precision."""

    imports: tuple[str, ...]
    context: str
    """Header expression of the ``with`` around the forward pass; empty for none."""
    scaler: str
    """Expression that builds the scaler; empty for none."""


ACQUISITIONS = (
    Acquisition(('device = "cuda" if torch.cuda.is_available() else "cpu"',), "device"),
    Acquisition(('device = torch.device("cuda" if torch.cuda.is_available() else "cpu")',), "device"),
    Acquisition(("DEVICE = torch.device('cuda:0' if torch.cuda.is_available() else 'cpu')",), "DEVICE"),
    Acquisition(('device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")',), "device"),
    Acquisition(
        (
            "use_cuda = not args.no_cuda and torch.cuda.is_available()",
            'device = torch.device("cuda" if use_cuda else "cpu")',
        ),
        "device",
    ),
    Acquisition(
        (
            "parser = argparse.ArgumentParser()",
            'parser.add_argument("--device", default="cuda", help="cuda or cpu")',
            'parser.add_argument("--gpu", type=int, default=0)',
            'parser.add_argument("--no-cuda", action="store_true")',
            "args = parser.parse_args()",
        ),
        "args.device",
    ),
    Acquisition(
        (
            "@dataclass",
            Block("class Config:", ("lr: float = 1e-3", 'device: str = "cuda"', "steps: int = 4")),
            "config = Config()",
        ),
        "config.device",
    ),
    Acquisition(
        (
            "device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() "
            'else torch.device("cpu")',
        ),
        "device",
    ),
    Acquisition(('rank = int(os.environ["LOCAL_RANK"])', "torch.cuda.set_device(rank)"), "rank"),
    Acquisition(('rank = int(os.environ.get("LOCAL_RANK", 0))', 'device = f"cuda:{rank}"'), "device"),
    Acquisition(
        (
            Block("if torch.cuda.is_available():", ('device = torch.device("cuda")', "torch.cuda.empty_cache()")),
            Block("else:", ('device = torch.device("cpu")',)),
        ),
        "device",
    ),
    Acquisition(
        (
            Block("if torch.cuda.is_available():", ('device = "cuda"',)),
            Block("elif torch.backends.mps.is_available():", ('device = "mps"',)),
            Block("else:", ('device = "cpu"',)),
        ),
        "device",
    ),
    Acquisition((), '"cuda"'),
    Acquisition(("device = 'cuda'",), "device"),
    Acquisition(("import torch_xla.core.xla_model as xm", "device = xm.xla_device()"), "device"),
)

MODULE_PLACEMENTS = (
    "$module = $module.to($device)",
    "$module.to($device)",
    "$module = $module.cuda()",
    "$module = $module.cuda(args.gpu)",
    "$module = nn.DataParallel($module).cuda()",
    "if torch.cuda.is_available(): $module.cuda()",
    "if torch.cuda.is_available():\n$module = $module.cuda()",
    "$module = $module.to(device=$device)",
)

BATCH_PLACEMENTS = (
    "$x, $y = $x.to($device), $y.to($device)",
    "$x = $x.to($device, non_blocking=True)\n$y = $y.to($device, non_blocking=True)",
    "$x = $x.cuda(args.gpu, non_blocking=True)\n$y = $y.cuda(args.gpu, non_blocking=True)",
    "$x, $y = $x.cuda(), $y.cuda()",
    "$x = $x.cuda(); $y = $y.cuda()",
    "$x, $y = Variable($x.cuda()), Variable($y.cuda())",
    '$x, $y = $x.to("cuda"), $y.to("cuda")',
    "($x, $y) = [item.to($device) for item in ($x, $y)]",
    "$x = $x.view($x.size(0), -1).cuda().float()\n$y = $y.cuda()",
    "$x = $x.cuda() if torch.cuda.is_available() else $x\n$y = $y.to($x.device)",
)

PRECISIONS = (
    Precision((), "", ""),
    Precision((), "torch.cuda.amp.autocast()", "torch.cuda.amp.GradScaler()"),
    Precision(("from torch.cuda.amp import autocast, GradScaler",), "autocast()", "GradScaler()"),
    Precision(
        ("from torch.cuda.amp import autocast as half_precision", "from torch.cuda.amp import GradScaler as Scaler"),
        "half_precision(enabled=True)",
        "Scaler(enabled=True, init_scale=2.**16)",
    ),
    Precision(("from torch.cuda import amp",), "amp.autocast(enabled=use_amp)", "amp.GradScaler(enabled=use_amp)"),
    Precision(("import torch.cuda.amp as amp",), "amp.autocast(dtype=torch.float16)", "amp.GradScaler()"),
    Precision((), 'torch.amp.autocast("cuda")', 'torch.amp.GradScaler("cuda")'),
    Precision((), 'torch.amp.autocast(device_type="cuda", dtype=torch.float16)', "torch.amp.GradScaler(device='cuda')"),
    Precision((), 'torch.autocast(device_type="cuda", dtype=torch.bfloat16, enabled=use_amp)', ""),
    Precision(("from torch import autocast",), 'autocast("cuda", dtype=torch.bfloat16)', ""),
    Precision((), 'nullcontext() if args.no_cuda else torch.amp.autocast("cuda")', ""),
)

LOADERS = (
    "$loader = DataLoader(dataset, batch_size=8, shuffle=True)",
    "$loader = DataLoader(dataset, batch_size=8, shuffle=True, num_workers=2, pin_memory=True)",
    '$loader = torch.utils.data.DataLoader(dataset, 8, True, pin_memory=True, pin_memory_device="cuda")',
    "options = dict(batch_size=8, num_workers=0, pin_memory=True)\n$loader = DataLoader(dataset, **options)",
    "$loader = DataLoader(dataset, batch_size=8, drop_last=True)",
    'options = {"num_workers": 2, "pin_memory": True} if torch.cuda.is_available() else {}\n'
    "$loader = data.DataLoader(dataset, batch_size=8, **options)",
)

SETUP = (
    "torch.cuda.manual_seed_all(0)",
    "torch.manual_seed(0); torch.cuda.manual_seed(0)",
    "torch.backends.cudnn.benchmark = True",
    "torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark = True, False",
    "torch.backends.cuda.matmul.allow_tf32 = True",
    "torch.set_float32_matmul_precision('high')",
    "torch.cuda.empty_cache()",
    "print(torch.cuda.get_device_name(0), torch.cuda.device_count())",
    "print(f'on {torch.cuda.device_count()} # devices')",
    'state = torch.load("last.pt")\n$model.load_state_dict(state["model"])',
    'if os.path.exists("last.pt"): $model.load_state_dict(torch.load("last.pt", map_location="cuda"))',
    '$model.load_state_dict(torch.load("last.pt", map_location=$device)["model"], strict=False)',
    "$model = torch.compile($model)",
    "weight = torch.cuda.FloatTensor([1.0, 2.0])",
    "noise = torch.randn(8, 32, device=$device)",
    "mask = torch.ones(8, device='cuda', dtype=torch.float16)",
    "import torch_xla.core.xla_model as xm\nprint(xm.xrt_world_size(), xm.get_ordinal())",
    "import torch_xla.runtime as xr\nprint(xr.using_pjrt())",
    "import torch_xla.debug.metrics as met\nprint(met.metrics_report())",
    "größe = sum(p.numel() for p in $model.parameters()); print('größe 😀', größe)",
    "start_event = torch.cuda.Event(enable_timing=True)",
    'dist.init_process_group(backend="nccl", init_method="env://")',
    "torch.autograd.set_detect_anomaly(True)",
)

OPTIMIZERS = (
    "$optimizer = optim.SGD($model.parameters(), lr=0.1, momentum=0.9)",
    "$optimizer = torch.optim.AdamW($model.parameters(), lr=3e-4, fused=True)",
    "$optimizer = torch.optim.Adam(filter(lambda p: p.requires_grad, $model.parameters()), lr=1e-3)",
)

LOOPS = (
    "for $x, $y in $loader:",
    "for $i, ($x, $y) in enumerate($loader):",
    "for $i, batch in enumerate($loader, 0):\n$x, $y = batch",
    "for $x, $y in tqdm($loader, desc='train'):",
    "bar = tqdm(enumerate($loader), total=len($loader))\nfor $i, ($x, $y) in bar:",
    "batches = iter($loader)\n$i = 0\nwhile $i < 4:\n$x, $y = next(batches)\n$i += 1",
    "$i = 0\nwhile True:\n$x, $y = next(iter($loader))\n$i += 1\nif $i > 4: break",
    "for $i, ($x, $y) in zip(range(4), $loader):",
)

FORWARDS = (
    "$out = $model($x)\n$loss = criterion($out, $y)",
    "$out = $model($x)\n$loss = F.cross_entropy($out, $y)",
    "$loss = criterion(($out := $model($x)), $y)",
    "$out, $loss = $model($x), None\n$loss = criterion($out, $y) + sum(p.pow(2).sum() for p in $model.parameters())",
)

STEPS = (
    "$optimizer.zero_grad()\n$backward\n$step",
    "$backward\n$step\n$optimizer.zero_grad(set_to_none=True)",
    "$optimizer.zero_grad()\n$backward\n$clip\n$step\nscheduler.step()",
    "$loss = $loss / 2\n$backward\nif ($i + 1) % 2 == 0:\n$step\n$optimizer.zero_grad()",
    "$backward\nif $i % 2 == 1: $step; $optimizer.zero_grad()",
    "critic_optimizer.zero_grad(); $optimizer.zero_grad()\n$backward\n$step\ncritic_optimizer.step()",
    "$optimizer.zero_grad()\n$backward\n$step\nxm.mark_step()",
    "$optimizer.zero_grad()\n$backward\nxm.optimizer_step($optimizer)",
)

READS = (
    "$total += $loss.item()",
    "$total += float($loss)",
    "$total = $total + $loss.item() * $x.size(0)",
    "$total += $loss.detach()",
    "correct += ($out.argmax(1) == $y).sum().item()",
    "pred = $out.argmax(dim=1, keepdim=True)\ncorrect += pred.eq($y.view_as(pred)).sum().item()",
    "losses.append($loss.item())",
    "losses.append($loss.detach().cpu().numpy())",
    "print('loss', $loss.item())",
    'print(f"#{$i} loss {$loss.item():.4f}")',
    "print('%d: %.3f' % ($i, $loss))",
    "print('é {}'.format($loss.data.item()))",
    "if $i % 10 == 0:\nprint(f'{$i}: {$loss:.3f}')",
    "if $i % 10 == 0: print('{:>3} # {}'.format($i, $loss.item())); torch.cuda.synchronize()",
    "if $i % 100 == 99:\nprint('[%d] %.3f' % ($i + 1, $total / 100)); $total = 0.0",
    "progress.set_postfix(loss=$loss.item(), acc='%.1f%%' % (100. * correct / len(dataset)))",
    "progress.set_description(f'{$loss.item():.2f}')",
    "if not math.isfinite($loss.item()): sys.exit(1)",
    "if torch.isnan($loss): break",
    'writer.add_scalar("loss", $loss, $i)',
    "meter.update($loss.item(), $x.size(0))",
    "torch.cuda.synchronize()",
    "torch.cuda.synchronize(); elapsed = time.time() - began",
    "if $i % 50 == 0: print(torch.cuda.memory_allocated() / 1e9, torch.cuda.max_memory_allocated())",
    "del $out; torch.cuda.empty_cache()",
    "lr = scheduler.get_last_lr()[0]",
    "best = min(best, $loss.item())",
    'if $i % 100 == 0: torch.save({"model": $model.state_dict(), "step": $i}, "last.pt")',
)

EVALUATIONS = (
    "with torch.no_grad():",
    "with torch.inference_mode():",
    "with torch.no_grad(), torch.cuda.amp.autocast():",
)

ENDINGS = (
    "",
    'torch.save($model.state_dict(), "last.pt")',
    'torch.save({"model": $model.state_dict(), "optimizer": $optimizer.state_dict()}, "last.pt")',
    "xm.save($model.state_dict(), 'last.pt')",
    "print(torch.cuda.max_memory_allocated() // 2 ** 20, 'MiB')",
    "print($total / len($loader), 'done')",
)

HEADS = (
    (),
    ('"""Train a small network. # not a comment"""',),
    ("from __future__ import annotations",),
    ("#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n'''Two\n\nlines'''", "from __future__ import annotations"),
)

VOCABULARIES: dict[str, tuple[str, ...]] = {
    "model": ("model", "net", "modèle", "netz_größe"),
    "optimizer": ("optimizer", "opt", "optimizer"),
    "loss": ("loss", "loss", "loss_value", "verlust_ß", "ﬁnal_loss"),
    "x": ("x", "images", "données"),
    "y": ("y", "labels", "y"),
    "out": ("out", "logits", "出力"),
    "loader": ("loader", "train_loader", "loader"),
    "total": ("total", "running_loss", "总数"),
    "i": ("i", "step", "batch_idx"),
}
"""Local names; some outside ASCII, so that columns in bytes and in code points differ, and one that is not in NFKC."""

DEFINITIONS: dict[str, tuple[Statement, ...]] = {
    "args": (
        "parser = argparse.ArgumentParser()",
        "parser.add_argument('--gpu', type=int, default=0)",
        "parser.add_argument('--no-cuda', action='store_true')",
        "args = parser.parse_args()",
    ),
    "use_amp": ("use_amp = True",),
    "Net": (
        Block(
            "class Net(nn.Module):",
            (
                Block("def __init__(self):", ("super().__init__()", "self.fc = nn.Linear(32, 10)")),
                Block("def forward(self, x):", ("return self.fc(x)",)),
            ),
        ),
    ),
    "Meter": (
        Block(
            "class Meter:",
            (
                "total = 0.0",
                Block("def update(self, value, n=1):", ("self.total += value * n",)),
            ),
        ),
    ),
    "dataset": ("dataset = TensorDataset(torch.randn(64, 32), torch.randint(0, 10, (64,)))",),
    "criterion": ("criterion = nn.CrossEntropyLoss()",),
    "meter": ("meter = Meter()",),
    "losses": ("losses = []",),
    "correct": ("correct = 0",),
    "best": ("best = float('inf')",),
    "began": ("began = time.time()",),
    "progress": ("progress = tqdm(total=4)",),
    "writer": ("writer = SummaryWriter()",),
}
"""What a program means by a name that its chosen parts use but do not bind."""

IMPORTS = {
    "argparse": "import argparse",
    "math": "import math",
    "os": "import os",
    "sys": "import sys",
    "time": "import time",
    "nullcontext": "from contextlib import nullcontext",
    "dataclass": "from dataclasses import dataclass",
    "torch": "import torch",
    "nn": "import torch.nn as nn",
    "F": "import torch.nn.functional as F",
    "optim": "from torch import optim",
    "dist": "import torch.distributed as dist",
    "data": "from torch.utils import data",
    "DataLoader": "from torch.utils.data import DataLoader",
    "TensorDataset": "from torch.utils.data import TensorDataset",
    "SummaryWriter": "from torch.utils.tensorboard import SummaryWriter",
    "Variable": "from torch.autograd import Variable",
    "xm": "import torch_xla.core.xla_model as xm",
    "tqdm": "from tqdm import tqdm",
}

ASIDES: tuple[tuple[Statement, ...], ...] = (
    (
        Block("try:", ("from torch.cuda.amp import custom_fwd",)),
        Block("except ImportError:", ("custom_fwd = None",)),
    ),
    (Block("try:", ("torch.cuda.synchronize()",)), Block("finally:", ("torch.cuda.empty_cache()",))),
    ('usage = """\ntorch.cuda.synchronize()  # not a comment\n\tloss.item()\n"""',),
    ("@torch.no_grad()", Block("def predict(batch):", ("return batch.cuda(non_blocking=True)",))),
    ("@torch.cuda.amp.autocast()", Block("def head(t): # half", ("torch.cuda.empty_cache()", "return t.half()"))),
    ("move = lambda t: t.cuda() if torch.cuda.is_available() else t",),
    (Block("if 1 > 2:", ("torch.cuda.synchronize()",)), Block("else:", ("torch.cuda.empty_cache()",))),
    ("if 1 < 2: torch.cuda.empty_cache(); torch.cuda.synchronize()",),
    ("left = 1; torch.cuda.empty_cache(); right = 2",),
    (Block("def collect():", ('"""Free what is cached."""', "torch.cuda.empty_cache()")), "collect()"),
    (Block("class Cleaner:", ("torch.cuda.empty_cache()", Block("def run(self):", ("torch.cuda.ipc_collect()",)))),),
    (Block("def shadow(torch):", ("torch.cuda.synchronize()", "return torch.cuda.is_available()")),),
    (Block("match 0:", (Block("case 0:", ("torch.cuda.empty_cache()",)), Block("case _:", ("pass",)))),),
    ('assert torch.cuda.is_available(), "needs a GPU (# or two)"',),
    (Block("if not torch.cuda.is_available():", ("raise SystemExit('no CUDA')",)),),
    ("torch.cuda.manual_seed(torch.cuda.current_device() + torch.cuda.device_count())",),
    ("pair = [t.cuda() for t in (torch.ones(1), torch.ones(2).cuda())]",),
    ("nested = torch.zeros(1).to(torch.device('cuda'), non_blocking=True).cuda().add_(torch.ones(1).cuda())",),
    ("where = {'device': torch.device('cuda')}; zeros = torch.zeros(2, **where)",),
    (Block("with torch.cuda.device(0):", ("zeros = torch.zeros(2, device='cuda')",)),),
    (Block("for _ in range(2):", ("torch.cuda.empty_cache()",)),),
    (Block("while torch.cuda.device_count() > 99: # never", ("torch.cuda.synchronize()", "torch.cuda.empty_cache()")),),
    ("from torch import cuda, device as Device", "cuda.synchronize(); here = Device('cuda', 0)"),
    ("import torch as th", "th.cuda.manual_seed(1)", "print(f'{th.cuda.is_available()!r:>5} # {1:{2}}')"),
    (
        "from torch_xla.core.xla_model import mark_step, xla_device as pick_device",
        "mark_step()",
        "here = pick_device()",
    ),
    ("import torch_xla", "import torch_xla.core.xla_model as xla", "xla.mark_step(); print(xla.get_ordinal())"),
    ("import torch_xla.distributed.xla_multiprocessing as xmp", "spawn = lambda run: xmp.spawn(run, nprocs=8)"),
    ("import torch_xla.distributed.parallel_loader as pl", "wrap = lambda l, d: pl.MpDeviceLoader(l, d)"),
    ("from torch_xla.amp import syncfree", "fast = syncfree.AdamW([torch.nn.Parameter(torch.ones(1))])"),
    ("torch_cuda = 'torch.cuda.synchronize()'; sync = torch.cuda.synchronize", "sync()"),
    ("memory = torch.cuda.memory_allocated() if torch.cuda.is_available() else 0",),
    ("cuda_ok: bool = torch.cuda.is_available()", "print('cuda' if cuda_ok else 'cpu')"),
    ("torch_xla = 'taken'; xm_ = torch_xla",),
    ("print(f'é {torch.cuda.device_count()} {1}{torch.cuda.device_count()}' f\"{'x'} {torch.cuda.device_count()=}\")",),
    ('print(f"""{torch.cuda.device_count()}\n  {torch.cuda.is_available()} # {{torch.cuda.device_count()}}\n""")',),
    ("print('😀' f'{torch.cuda.current_device():>{torch.cuda.device_count()}}')",),
)
"""Statements around the training: deletions that empty a block, shadowed names, nested calls, imports in odd forms."""
