"""Mixed precision, parameters that must survive a move, loaders and checkpoints: rules together, and their traps."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest
from command import tpulint

from tpulint.catalog import Catalogue, load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.model import Applicability, FileResult, Finding
from tpulint.semantic import SemanticIndex
from tpulint.semantic.values.creations import Creation
from tpulint.source import SourceFile

CATALOGUE = load()
REVERSED = Catalogue((), "reversed")
REVERSED.rules = tuple(reversed(CATALOGUE.rules))
FLAG = "torch.__future__.set_swap_module_params_on_conversion(True)"


def port(text: str, *codes: str, unsafe: bool = True, catalogue: Catalogue = CATALOGUE) -> str:
    """The text as these rules (all of them, when none is named) leave it."""
    return run(text, *codes, fix=True, unsafe=unsafe, catalogue=catalogue).text


def run(
    text: str,
    *codes: str,
    fix: bool = False,
    unsafe: bool = False,
    portable: bool = False,
    catalogue: Catalogue = CATALOGUE,
) -> FileResult:
    settings = Settings(select=codes or ("ALL",), preview=True, fix=fix, unsafe_fixes=unsafe, portable=portable)
    result = lint(SourceFile.from_text(textwrap.dedent(text), "train.py"), settings, catalogue)
    assert result.error == ""
    return result


def found(text: str, code: str) -> list[Finding]:
    return [finding for finding in run(text, code).findings if finding.code == code]


def index_of(text: str) -> SemanticIndex:
    text = textwrap.dedent(text)
    return SemanticIndex(SourceFile.from_text(text), ast.parse(text))


MIXED = """\
import torch
from torch import nn, optim
from torch.cuda.amp import GradScaler, autocast
from torch.utils.data import DataLoader


def main(dataset, epochs, use_amp):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader(dataset, batch_size=32, shuffle=True, pin_memory=True)
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.1), nn.Linear(8, 2))
    optimizer = optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    scaler = GradScaler(enabled=use_amp)
    model.to(device)
    model = torch.compile(model)
    for epoch in range(epochs):
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            optimizer.zero_grad(set_to_none=False)
            with autocast(enabled=use_amp):
                loss = nn.functional.cross_entropy(model(x), y)
            if use_amp:
                scaler.scale(loss).backward()
                scaler.unscale_(optimizer)
                nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
                scaler.step(optimizer)
                scaler.update()
            else:
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
                optimizer.step()
        torch.save(model.state_dict(), "model.pt")
"""


# -------------------------------------------------------------------- together


def test_a_whole_script() -> None:
    ported = port(MIXED)
    for gone in (
        "cuda",
        "GradScaler",
        "scaler",
        "fused",
        "foreach",
        "pin_memory",
        "torch.compile",
        "set_to_none",
        "if use_amp",
    ):
        assert gone not in ported
    for line in (
        'with torch.autocast("xla", dtype=torch.bfloat16, enabled=use_amp):',
        "torch_xla.manual_seed(0)",
        "loader = DataLoader(dataset, batch_size=32, shuffle=True, drop_last=True)",
        'xm.save(model.state_dict(), "model.pt")',
    ):
        assert line in ported
    assert ported.count("loss.backward()") == ported.count("optimizer.step()") == 1
    assert ported.index("model.to(device)") < ported.index("optim.AdamW(")
    assert FLAG not in ported, "the move could be put in front of the optimizer"
    assert port(ported) == ported


def test_order_of_rules_does_not_matter() -> None:
    mine = ("TPU2", "TPU303", "TPU304", "TPU31", "TPU4", "TPU5", "TPU7", "TPU001")
    assert port(MIXED, *mine) == port(MIXED, *mine, catalogue=REVERSED)


def test_group_is_one_fix() -> None:
    findings = found(MIXED, "TPU401")
    assert len(findings) == 2
    assert findings[0].fix is not None
    assert findings[0].fix == findings[1].fix


def test_safe_run_leaves_numerics_alone() -> None:
    ported = port(MIXED, unsafe=False)
    assert "with autocast(enabled=use_amp):" in ported
    assert "scaler.scale(loss).backward()" in ported
    assert "drop_last" not in ported


def test_unfolded_move_is_put_first() -> None:
    """A guard for CUDA hides that both statements stand in one block; once it is folded, no flag is needed."""
    text = """\
        import torch
        from models import GCN

        model = GCN(16)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        if torch.cuda.is_available():
            model.cuda()
        """
    ported = port(text)
    assert FLAG not in ported
    assert ported.index("model.to(") < ported.index("torch.optim.Adam(")


def test_flag_is_set_once() -> None:
    text = """\
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.encoder, self.decoder, self.head = nn.Embedding(8, 4), nn.Linear(4, 8), nn.Linear(4, 8)
                self.decoder.weight = self.encoder.weight
                self.head.weight = self.encoder.weight

        class Trainer:
            def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer, device: torch.device):
                self.model = model.to(device)
                self.optimizer = optimizer
        """
    assert port(text, "TPU303", "TPU304").count(FLAG) == 1


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("head", "place"),
    [
        ("import torch\nfrom models import Net\n\n", "from models import Net\n\nFLAG\n\nmodel"),
        ("import torch\nfrom models import Net\n", "from models import Net\n\nFLAG\n\nmodel"),
        (
            '"""Doc."""\nimport torch  # deep\n'
            "try:\n    from a import Net\nexcept ImportError:\n    from b import Net\n\n\n",
            "    from b import Net\n\nFLAG\n\n\nmodel",
        ),
        (
            "from __future__ import annotations\nimport torch\nimport os; from models import Net\n\n",
            "from models import Net\n\nFLAG\n\nmodel",
        ),
    ],
)
def test_flag_stands_below_the_imports(head: str, place: str, newline: str) -> None:
    text = f'{head}model = Net()\nmodel.out.weight = model.inp.weight\nmodel.to("cuda")\n'
    ported = port(text.replace("\n", newline), "TPU304")
    assert place.replace("FLAG", FLAG) in ported.replace(newline, "\n")


# -------------------------------------------------------------------- the scaler


@pytest.mark.parametrize(
    ("uses", "closed"),
    [
        ("scaler.scale(loss).backward()\nscaler.step(opt)\nscaler.update()", True),
        ("total = scaler.scale(a + b)\nscaler.step(opt, closure)\nscaler.update(2.0)", True),
        ("if clip:\n    scaler.unscale_(opt)", True),
        ("def inner():\n    scaler.step(opt)", True),
        ("save(scaler.state_dict())", False),
        ("train(scaler)", False),
        ("if scaler is not None:\n    scaler.step(opt)", False),
        ("print(scaler.get_scale())", False),
        ("scaler.scale(loss, 2)", False),
        ("done = scaler.update()", False),
        ("scaler.step(*arguments)", False),
        ("scaler.step(optimizer=opt)", False),
        ("scaler = other", False),
        ("def inner():\n    global scaler\n    scaler = None", False),
        ("del scaler", False),
        ("step = scaler.step", False),
    ],
)
def test_closed_scalers(uses: str, closed: bool) -> None:
    index = index_of(f"import torch\nscaler = torch.amp.GradScaler('cuda')\n{uses}\n")
    assert [scaler.closed for scaler in index.mixed_precision.scalers] == [closed]


def test_scaler_of_another_object_is_counted() -> None:
    """`.scaler` may be this one whatever stands before the dot."""
    text = """\
        import torch

        class Trainer:
            def __init__(self):
                self.scaler = torch.amp.GradScaler("cuda")

            def step(self, loss, optimizer):
                self.scaler.scale(loss).backward()
                self.scaler.step(optimizer)
                self.scaler.update()

        def save(trainer):
            return trainer.scaler.state_dict()
        """
    assert 'self.scaler = torch.amp.GradScaler("xla", enabled=False)' in port(text, "TPU401")
    assert "self.scaler.scale(loss)" in port(text, "TPU401")


@pytest.mark.parametrize(
    "branches",
    [
        "if amp:\n    scaler.scale(loss).backward()\nelse:\n    loss.sum().backward()\n",
        "if amp:\n    scaler.scale(loss).backward()\nelif other:\n    loss.backward()\n",
        "if check():\n    scaler.scale(loss).backward()\nelse:\n    loss.backward()\n",
    ],
)
def test_branches_that_differ_stay(branches: str) -> None:
    ported = port(f"import torch\nscaler = torch.amp.GradScaler('cuda')\n{branches}print(torch)\n", "TPU401")
    assert ported == "import torch\n" + branches.replace("scaler.scale(loss)", "loss") + "print(torch)\n"


def test_emptied_branch_goes_with_its_condition() -> None:
    head = "import torch\nscaler = torch.amp.GradScaler('cuda')\n"
    text = f"{head}if clip:\n    scaler.unscale_(opt)\nscaler.step(opt)\nprint(torch)\n"
    assert port(text, "TPU401") == "import torch\nopt.step()\nprint(torch)\n"
    text = text.replace("if clip:", "if clip():")
    assert port(text, "TPU401") == "import torch\nif clip():\n    pass\nopt.step()\nprint(torch)\n"
    text = (
        f"{head}if clip:\n    scaler.unscale_(opt)\nelse:\n    scaler.unscale_(opt)\nscaler.step(opt)\nprint(torch)\n"
    )
    assert port(text, "TPU401") == "import torch\nopt.step()\nprint(torch)\n"


@pytest.mark.parametrize(
    ("asked", "goes"),
    [
        ("def clip():\n    return dist.is_initialized() and level > 0", True),
        ("def clip():\n    'Whether.'\n    return ready()\n\ndef ready():\n    return dist.is_available()", True),
        ("def clip():\n    return start()\n\ndef start():\n    print(level)\n    return True", False),
        ("def clip():\n    return clip()", False),
        ("@counted\ndef clip():\n    return level > 0", False),
        ("def clip():\n    pass", False),
    ],
)
def test_emptied_branch_goes_with_a_question_that_only_looks(asked: str, goes: bool) -> None:
    head = f"import torch\nimport torch.distributed as dist\n{asked}\n"
    text = f"{head}scaler = torch.amp.GradScaler('cuda')\nif clip():\n    scaler.unscale_(opt)\nscaler.step(opt)\n"
    left = "" if goes else "if clip():\n    pass\n"
    assert port(text, "TPU401") == f"{head}{left}opt.step()\n".replace("import torch\nimport", "import", 1)


@pytest.mark.parametrize(
    ("branches", "left"),
    [
        ("elif clip:\n    scaler.unscale_(opt)", ""),
        ("elif clip:\n    scaler.unscale_(opt)\nelse:\n    scaler.unscale_(opt)", ""),
        ("else:\n    if clip:\n        scaler.unscale_(opt)", ""),
        ("else:\n    if clip:\n        pass", "else:\n    if clip:\n        pass\n"),
        ("elif clip():\n    scaler.unscale_(opt)", "elif clip():\n    pass\n"),
        ("# why\nelse:\n    scaler.unscale_(opt)", "# why\nelse:\n    pass\n"),
    ],
)
def test_emptied_ends_of_chains_go(branches: str, left: str) -> None:
    head = "import torch\nscaler = torch.amp.GradScaler('cuda')\n"
    text = f"{head}if norm:\n    print(opt)\n{branches}\nscaler.step(opt)\nprint(torch)\n"
    assert port(text, "TPU401") == f"import torch\nif norm:\n    print(opt)\n{left}opt.step()\nprint(torch)\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("torch.cuda.amp.autocast()", 'torch.autocast("xla", dtype=torch.bfloat16)'),
        ("torch.cuda.amp.autocast(flag)", 'torch.autocast("xla", dtype=torch.bfloat16, enabled=flag)'),
        ("torch.cuda.amp.autocast((flag))", 'torch.autocast("xla", dtype=torch.bfloat16, enabled=(flag))'),
        ("torch.cuda.amp.autocast(flag, torch.half)", 'torch.autocast("xla", enabled=flag, dtype=torch.bfloat16)'),
        ("torch.cuda.amp.autocast(dtype=kind)", 'torch.autocast("xla", dtype=kind)'),
        ("torch.cuda.amp.autocast(enabled=False)", 'torch.autocast("xla", enabled=False)'),
        ("torch.autocast('cuda')", "torch.autocast('xla', dtype=torch.bfloat16)"),
        (
            "torch.autocast(device_type='cuda', enabled=flag)",
            "torch.autocast(device_type='xla', dtype=torch.bfloat16, enabled=flag)",
        ),
        ("torch.amp.autocast('cuda:0', torch.float16)", "torch.amp.autocast('xla', torch.bfloat16)"),
        (
            "functools.partial(torch.cuda.amp.autocast)",
            'functools.partial(torch.autocast, "xla", dtype=torch.bfloat16)',
        ),
        ("functools.partial(torch.autocast, 'cuda')", "functools.partial(torch.autocast, 'xla', dtype=torch.bfloat16)"),
    ],
)
def test_autocast_forms(old: str, new: str) -> None:
    assert (
        port(f"import functools\nimport torch\ncontext = {old}\n", "TPU401")
        == f"import functools\nimport torch\ncontext = {new}\n"
    )


KEPT_TYPE = """\
import torch


class Trainer:
    def __init__(self, half):
        self.device = "xla"
        self.dtype = {kept}

    def step(self, net, x):
        with torch.autocast(device_type=self.device, dtype=self.dtype):
            return net(x)
"""


@pytest.mark.parametrize(
    ("kept", "is_told"),
    [
        ("torch.float16", True),
        ("torch.half", True),
        ("torch.bfloat16", False),
        ("torch.float16 if half else torch.float32", False),  # only where it is asked for
        ("half", False),
    ],
)
def test_autocast_of_a_type_that_an_object_keeps(kept: str, is_told: bool) -> None:
    text = KEPT_TYPE.format(kept=kept)
    assert port(text, "TPU401") == (text.replace("dtype=self.dtype", "dtype=torch.bfloat16") if is_told else text)


HANDED_ON = """\
import torch


def run_epoch(loader, model, optimizer, scaler):
    for x in loader:
        step(model(x).sum(), optimizer, scaler=scaler)


def step(loss, optimizer, scaler):
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


def main(loader, model, optimizer):
    scaler = torch.cuda.amp.GradScaler()
    for _ in range(3):
        run_epoch(loader, model, optimizer, scaler)
"""


def test_scaler_is_followed_into_functions() -> None:
    ported = port(HANDED_ON, "TPU401")
    assert "scaler" not in ported
    assert "def run_epoch(loader, model, optimizer):" in ported
    assert "        step(model(x).sum(), optimizer)\n" in ported
    assert "    loss.backward()\n    optimizer.step()\n" in ported


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    scaler.update()\n", "    scaler.update()\n    return scaler.get_scale()\n"),
        ("def step(loss, optimizer, scaler)", "@torch.no_grad()\ndef step(loss, optimizer, scaler)"),
        ("def step(loss, optimizer, scaler)", "def step(loss, optimizer, scaler=None)"),
        ("def step(loss, optimizer, scaler)", "def step(loss, optimizer, **scaler)"),
        ("for _ in range(3):", "for _ in map(step, ()):"),
        ("for _ in range(3):", "for _ in step(loss, optimizer, other):"),
        ("import torch\n", "import torch\n__all__ = ['step']\n"),
        ("step(model(x).sum(), optimizer, scaler=scaler)", "step(*(model(x).sum(), optimizer), scaler=scaler)"),
    ],
)
def test_scaler_that_cannot_be_followed_is_switched_off(old: str, new: str) -> None:
    assert old in HANDED_ON
    ported = port(HANDED_ON.replace(old, new), "TPU401")
    assert ported == HANDED_ON.replace(old, new).replace(
        "torch.cuda.amp.GradScaler()", 'torch.amp.GradScaler("xla", enabled=False)'
    )


def test_scaler_that_older_torch_has_elsewhere_goes() -> None:
    text = """
    import torch

    try:
        from torch import GradScaler
    except ImportError:
        from torch.cuda.amp import GradScaler

    scaler = GradScaler(enabled=True)
    for x in loader:
        loss = model(x).mean()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
    """
    assert "loss.backward()\n    optimizer.step()\n" in port(text, "TPU401")


def test_two_scalers_leave_one_function_together() -> None:
    text = """\
        import torch

        def step(a, b, first, second):
            first.scale(a).backward()
            second.scale(b).backward()

        first, unrelated = torch.amp.GradScaler("cuda"), 1
        one = torch.amp.GradScaler("cuda")
        two = torch.amp.GradScaler("cuda")
        step(x, y, one, two)
        """
    ported = port(text, "TPU401")
    assert "def step(a, b):" in ported
    assert "step(x, y)" in ported


# -------------------------------------------------------------------- objects and their order


def test_two_calls_of_a_factory_are_two_objects() -> None:
    index = index_of(
        """\
        from torch import nn

        def make(width):
            layer = nn.Linear(width, 1)
            return layer, width

        first, _ = make(3)
        second, _ = make(3)
        again = first.train()
        part = first.inner
        """
    )

    def of(name: str) -> Creation:
        binding = index.names.bindings_in(index.names.module, name)[0]
        assert binding.value is not None
        (creation,) = index.moves.creations._part(binding.value, binding.path, 0)
        return creation

    first, second, again, part = of("first"), of("second"), of("again"), of("part")
    assert not first.overlaps(second)
    assert first.overlaps(again)
    assert first.overlaps(part)
    assert not part.overlaps(second)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("first()\nsecond()\n", True),
        ("second()\nfirst()\n", False),
        ("if a:\n    first()\nelse:\n    second()\n", None),
        ("if a:\n    first()\nsecond()\n", True),
        ("def f():\n    first()\ndef g():\n    second()\nf()\ng()\n", True),
        ("def f():\n    first()\ndef g():\n    second()\ng()\nf()\n", False),
        ("def f():\n    first()\ndef g():\n    f()\n    second()\n", True),
        ("def f():\n    first()\ndef g():\n    second()\n", None),
        ("class A:\n    def run(self):\n        second()\n    def __init__(self):\n        first()\n", True),
        (
            "class A:\n    def __init__(self):\n        second()\n        self.go()\n"
            "    def go(self):\n        first()\n",
            False,
        ),
    ],
)
def test_order_of_events(text: str, expected: bool | None) -> None:
    index = index_of(text)
    calls = {call.func.id: call for call in index.calls if isinstance(call.func, ast.Name)}
    assert index.moves.precedes(calls["first"], calls["second"]) is expected


@pytest.mark.parametrize(
    "between",
    [
        "device = torch.device('cuda:1')",
        "model = wrap(model)",
    ],
)
def test_move_that_depends_on_what_is_between_is_not_reordered(between: str) -> None:
    text = f"""\
        import torch
        from models import Net, wrap

        device = torch.device("cuda")
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        {between}
        model.to(device)
        """
    ported = port(text, "TPU303")
    assert ported.index("optim.SGD") < ported.index("model.to(device)")


def test_moved_statement_keeps_its_comment_and_stays_safe() -> None:
    text = """\
        import torch
        from models import Net

        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model.to("cuda")  # 80 GB
        """
    fix = found(text, "TPU303")[0].fix
    assert fix is not None
    assert fix.applicability is Applicability.SAFE
    assert 'model.to("cuda")  # 80 GB\noptimizer' in port(text, "TPU303")


@pytest.mark.parametrize(
    "statement",
    [
        "model = Net(device='cuda')",
        "model = Net(torch.device('cuda'))",
        "model = Net.load('x', device_map='auto')",
        "model = Net().cuda().train()",
    ],
)
def test_models_made_on_the_device_are_left_alone(statement: str) -> None:
    built = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"
    text = f"import torch\nfrom models import Net\n{statement}\n{built}\nmodel.to('cuda')\n"
    assert found(text, "TPU303") == []


# -------------------------------------------------------------------- loaders


@pytest.mark.parametrize(
    ("made", "keys"),
    [
        ("options = {'a': 1, **{'b': 2}}", {"a", "b"}),
        ("options = dict(a=1)\noptions['b'] = 2", {"a", "b"}),
        ("options = {'a': 1} if flag else {}", {"a"}),
        ("more = {'b': 2}\noptions = {'a': 1}\nif flag:\n    options.update(more, c=3)", {"a", "b", "c"}),
        ("options = {'a': 1}\noptions |= {'b': 2}", {"a", "b"}),
        ("options = vars(arguments)", None),
        ("options = {key: 1}", None),
        ("options = {'a': 1}\noptions[key] = 2", None),
        ("options = {'a': 1}\noptions.setdefault('b', 2)", None),
        ("options = {'a': 1}\noptions.update(unknown)", None),
    ],
)
def test_dictionaries_of_arguments(made: str, keys: set[str] | None) -> None:
    index = index_of(f"from torch.utils.data import DataLoader\n{made}\nloader = DataLoader(dataset, **options)\n")
    arguments = index.loaders.all[0].arguments
    assert (None if arguments is None else set(arguments) - {"dataset"}) == keys


@pytest.mark.parametrize(
    ("dataset", "size", "divides"),
    [
        ("TensorDataset(torch.randn(64, 8))", "16", True),
        ("TensorDataset(torch.randn(64, 8))", "2**4", True),
        ("TensorDataset(torch.randn(64, 8))", "48", False),
        ("TensorDataset(torch.randn(64, 8))", "128", True),
        ("TensorDataset(torch.zeros((60, 8)))", "20", True),
        ("TensorDataset(data)", "16", False),
        ("datasets.CIFAR10('d', train=True)", "100", True),
        ("datasets.CIFAR10('d', train=True)", "128", False),
        ("datasets.CIFAR10('d', train=flag)", "100", False),
        ("datasets.CIFAR10('d')", "arguments.batch_size", False),
    ],
)
def test_sizes_that_divide(dataset: str, size: str, divides: bool) -> None:
    index = index_of(
        "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\nfrom torchvision import datasets\n"
        f"loader = DataLoader({dataset}, batch_size={size})\n"
    )
    assert index.loaders.counts.divides(index.loaders.all[0]) is divides


# -------------------------------------------------------------------- checkpoints


@pytest.mark.parametrize(
    ("use", "safe"),
    [
        ("model.load_state_dict(checkpoint)", True),
        ("model.load_state_dict(checkpoint['model'])\ndel checkpoint", True),
        ("model.load_state_dict(checkpoint, assign=True)", False),
        ("start = checkpoint['epoch']", False),
        ("print(checkpoint)", False),
    ],
)
def test_what_is_loaded_decides_the_safety(use: str, safe: bool) -> None:
    text = f"import torch\nmodel.to('cuda')\ncheckpoint = torch.load('c.pt', map_location='cuda')\n{use}\n"
    fix = found(text, "TPU701")[0].fix
    assert fix is not None
    assert (fix.applicability is Applicability.SAFE) is safe


@pytest.mark.parametrize("seed", ["next(seeds)", "int(time.time())", "(value := 3)"])
def test_seed_that_may_change_is_not_written_twice(seed: str) -> None:
    text = f"import time\nimport torch\nmodel.to('cuda')\ntorch.manual_seed({seed})\n"
    assert [finding.fix for finding in found(text, "TPU702")] == [None]


# -------------------------------------------------------------------- arrays


@pytest.mark.parametrize(
    "read",
    [
        "x.half().numpy()",
        "x.detach().half().cpu().numpy()",
        "x.to(torch.float16).cpu().numpy()",
        "x.to(dtype=torch.half).to('cpu').numpy()",
        "np.asarray(x.half().cpu())",
    ],
)
def test_float16_of_an_array_stays(read: str) -> None:
    text = f'import numpy as np\nimport torch\n\nx = torch.ones(2, device="cuda")\ny = {read}\n'
    assert found(text, "TPU402") == []
    assert found(text.replace(read, "x.half().sum().cpu().numpy()"), "TPU402"), "computed in float16"


@pytest.mark.parametrize(
    ("kept", "used"),
    [("cache[0] = x.half()", "print(cache[0].numpy())"), ("torch.save(x.half(), 'x.pt')", "")],
)
def test_what_is_kept_beside_a_model_in_float16_stays(kept: str, used: str) -> None:
    text = f"""\
import torch
from torch import nn

net = nn.Linear(4, 4).cuda().half()
cache = {{}}
x = torch.rand(2, 4)
{kept}
y = net(x.half().cuda())
{used}
"""
    fixed = port(text, "TPU402")
    assert kept in fixed
    assert "net(x.bfloat16().cuda())" in fixed


def test_normalization_that_the_model_casts_for_stays_in_float32() -> None:
    text = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.norm = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)

    def forward(self, x):
        return self.norm(self.layer(x).float())

def lower(net):
    net.half()
    for m in net.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.float()
    return net

net = lower(Net().cuda())
"""
    assert port(text, "TPU402") == text.replace("net.half()", "net.bfloat16()")
    plain = text.replace(".float())", ")")
    assert "m.float()" not in port(plain, "TPU402")
    trainer = "\n\nclass Trainer:\n    def step(self, x, y):\n        return self.criterion(self.model(x).float(), y)\n"
    assert "m.float()" not in port(plain + trainer, "TPU402"), "the loss is no part of the model"


def test_half_of_another_class_stays() -> None:
    text = """\
import torch
from torch import nn

class Cut:
    def half(self):
        return 0.5

def shrink(shape):
    return shape.half()

def half(net):
    net.half()
    return net

net = half(nn.Linear(4, 4).cuda())
y = net(torch.rand(2, 4).cuda().half())
print(shrink(Cut()))
"""
    fixed = port(text, "TPU402")
    assert fixed == text.replace("net.half()", "net.bfloat16()").replace("cuda().half()", "cuda().bfloat16()")


@pytest.mark.parametrize(
    ("cast", "becomes"),
    [
        ("x.type(torch.HalfTensor).cuda()", "x.type(torch.bfloat16).cuda()"),
        (
            "x.type('torch.HalfTensor').to(device, non_blocking=True)",
            "x.type(torch.bfloat16).to(device, non_blocking=True)",
        ),
        ("x.type(torch.HalfTensor).numpy()", ""),
        ("x.type(torch.HalfTensor).to('cpu')", ""),
        ("x.type(torch.HalfTensor).to(torch.float32)", ""),
        ("x.type(torch.HalfTensor).to(dtype)", ""),
        ("x.cpu().type(torch.HalfTensor).cuda()", ""),
        ("torch.save(x.type(torch.HalfTensor), path)", ""),
        ("model(x.to(device)).type(torch.HalfTensor).to(device)", ""),
        ("isinstance(x, torch.HalfTensor)", ""),
        ("x.type(torch.FloatTensor).cuda()", ""),
    ],
)
def test_class_of_the_host_that_casts_what_is_moved(cast: str, becomes: str) -> None:
    text = f"""\
import torch

device = torch.device("cuda")
model = torch.nn.Linear(4, 2).to(device)

def cast(x, dtype, path):
    return {cast}
"""
    assert port(text, "TPU402") == text.replace(cast, becomes or cast)


@pytest.mark.parametrize(("model", "becomes"), [("net.half()", "torch.bfloat16"), ("net.float()", "torch.HalfTensor")])
def test_class_of_the_host_beside_a_model_in_half_precision(model: str, becomes: str) -> None:
    text = f"""\
import torch

net = torch.nn.Linear(4, 2).cuda()
{model}
for x in torch.utils.data.DataLoader(torch.ones(4, 4)):
    x = x.type(torch.HalfTensor)
    y = net(x.cuda())
"""
    assert f"x = x.type({becomes})" in port(text, "TPU402")


COMPUTED = """\
import numpy as np
import torch
import torch.nn.functional as F


def predict(model, loader, device):
    outputs, arrays = [], []
    for x, y in loader:
        x = x.to(device)
        with torch.no_grad(), torch.autocast("cuda"):
            out = model(x)
            loss = F.cross_entropy(out, y)
            features = model.features(x)["pooled"]
        arrays.append({read})
        outputs.append(out.detach())
    return outputs, arrays
"""


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        ("out.softmax(1).cpu().numpy()", "out.softmax(1).float().cpu().numpy()"),
        ("out.numpy()", "out.float().numpy()"),
        ("out.detach().cpu().numpy()", "out.detach().float().cpu().numpy()"),
        ("out.to('cpu').numpy()", "out.float().to('cpu').numpy()"),
        ("np.asarray(F.softmax(out, 1).cpu())", "np.asarray(F.softmax(out, 1).float().cpu())"),
        ("features.cpu().numpy()", "features.float().cpu().numpy()"),
        ("(out / 2).cpu().numpy()", "(out / 2).float().cpu().numpy()"),
        ("out.max(1)[0].cpu().numpy()", "out.max(1)[0].float().cpu().numpy()"),
        ("torch.cat(outputs).cpu().numpy()", "torch.cat(outputs).float().cpu().numpy()"),
        ("torch.cat([o.cpu() for o in outputs]).numpy()", "torch.cat([o.cpu() for o in outputs]).float().numpy()"),
    ],
)
def test_what_autocast_computes_is_read_in_float32(read: str, expected: str) -> None:
    text = COMPUTED.replace("{read}", read)
    ported = port(text, "TPU401")
    assert f"arrays.append({expected})" in ported
    assert port(ported, "TPU401") == ported
    result = run(text, "TPU401", fix=True, portable=True)
    assert f"arrays.append({expected})" in result.text


@pytest.mark.parametrize(
    "read",
    [
        "out.float().cpu().numpy()",
        "out.argmax(1).cpu().numpy()",
        "torch.argmax(out, dim=1).cpu().numpy()",
        "out.max(1)[1].cpu().numpy()",
        "torch.max(out, 1)[1].cpu().numpy()",
        "(out > 0).cpu().numpy()",
        "(out.argmax(1) == y).cpu().numpy()",
        "y.cpu().numpy()",
        "x.cpu().numpy()",
        "out.max(1).indices.cpu().numpy()",
        "(out > 0).long().sum().cpu().numpy()",
        "out.to(torch.float32).cpu().numpy()",
        "model.generate(x).cpu().numpy()",
    ],
)
def test_what_is_no_bfloat16_is_read_as_it_is(read: str) -> None:
    assert f"arrays.append({read})" in port(COMPUTED.replace("{read}", read), "TPU401")


def test_indices_beside_values_stay_integers() -> None:
    text = COMPUTED.replace("arrays.append({read})", "_, best = torch.max(out, 1)\n        best = best.cpu().numpy()")
    assert "best = best.cpu().numpy()" in port(text, "TPU401")


def test_autocast_kept_in_a_variable_or_a_decorator() -> None:
    text = """\
        import torch

        ctx = torch.autocast("cuda", dtype=torch.float16)


        def one(model, x):
            with ctx:
                out = model(x)
            return out.cpu().numpy()


        @torch.autocast("cuda")
        def two(model, x):
            return model(x).cpu().numpy()


        def three(model, x):
            return model(x).cpu().numpy()
        """
    ported = port(text, "TPU401")
    assert "return out.float().cpu().numpy()" in ported
    assert ported.count("return model(x).float().cpu().numpy()") == 1
    assert "def three(model, x):\n    return model(x).cpu().numpy()" in ported


@pytest.mark.parametrize("default", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    ("chosen", "is_known"),
    [
        ("getattr(torch, args.amp_dtype)", False),
        ('{"float16": torch.float16, "bfloat16": torch.bfloat16}[args.amp_dtype]', False),
        ("torch.float16 if args.half else torch.float32", False),
        ("torch.bfloat16 if args.half else torch.float32", True),
        ("torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16", True),
    ],
)
def test_what_may_be_float16_is_not_computed_unscaled(default: str, chosen: str, is_known: bool) -> None:
    """The scaler goes, so float16 must go with it, whoever asks for it."""
    text = f"""\
import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--amp-dtype", default="{default}")
parser.add_argument("--half", action="store_true")
args = parser.parse_args()
amp_dtype = {chosen}
scaler = torch.amp.GradScaler("cuda")


def step(model, x, optimizer):
    with torch.autocast("cuda", dtype=amp_dtype):
        loss = model(x)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
"""
    ported = port(text, "TPU401")
    other = "amp_dtype" if is_known else "torch.bfloat16 if amp_dtype == torch.float16 else amp_dtype"
    assert f'torch.autocast("xla", dtype={other})' in ported
    assert not found(ported, "TPU401")
    assert port(ported, "TPU401") == ported
    assert port(text, "TPU401", unsafe=False) == text


@pytest.mark.parametrize(("default", "is_told"), [("float16", True), ("bfloat16", False)])
def test_default_of_an_option_is_told(default: str, is_told: bool) -> None:
    text = f"""\
import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--amp-dtype", default="{default}")
args = parser.parse_args()


def step(model, x):
    with torch.autocast("xla", dtype=getattr(torch, args.amp_dtype)):
        return model(x)
"""
    told = found(text, "TPU401")
    assert [("make bfloat16 the default" in each.message, each.fix) for each in told] == [(True, None)] * is_told


@pytest.mark.parametrize(
    ("uses", "is_gone"),
    [
        ("", False),
        ("    def close(self):\n        self.scaler.update()\n", False),
        (
            "    def train(self, loss):\n        self.scaler.scale(loss).backward()\n"
            "        self.scaler.step(self.optimizer)\n        self.scaler.update()\n",
            True,
        ),
    ],
    ids=["of no use here", "used elsewhere, too", "all of it"],
)
def test_scaler_of_an_object_that_other_files_use(uses: str, is_gone: bool) -> None:
    """`runner.state.scaler.step(optimizer)` in another file fails where the attribute is gone."""
    text = (
        "import torch\n\n\nclass State:\n    def __init__(self, optimizer):\n        self.optimizer = optimizer\n"
        f"        self.scaler = torch.cuda.amp.GradScaler()\n\n{uses}"
    )
    ported = port(text, "TPU401")
    assert ("GradScaler" not in ported) is is_gone
    assert is_gone or 'self.scaler = torch.amp.GradScaler("xla", enabled=False)' in ported


@pytest.mark.parametrize(
    ("dtype", "is_fixed"), [("torch.float16", False), ("torch.half", False), ("layer.weight.dtype", True)]
)
def test_weights_that_a_function_makes_float16_for_a_model_of_another_file(
    tmp_path: Path, dtype: str, is_fixed: bool
) -> None:
    """Both have to be of one format: what goes into the layers is cast there."""
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'own'\n")
    (tmp_path / "making.py").write_text(
        "import torch\n\n\ndef make_half(layer):\n    if isinstance(layer, torch.nn.Linear):\n"
        "        layer.weight.data = layer.weight.data.half()\n\n\ndef put(x):\n    return x.cuda()\n"
    )
    (tmp_path / "net.py").write_text(
        "import torch\nfrom making import make_half\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
        f"        layer = self.layer.apply(make_half)\n        return layer(x.type({dtype}))\n"
    )
    tpulint("--select", "TPU402", "--fix", "--unsafe-fixes", ".", cwd=tmp_path)
    assert ("layer.weight.data.bfloat16()" in (tmp_path / "making.py").read_text()) is is_fixed


ASKS_SCALER = """\
import torch

amp = True


class Trainer:
    def __init__(self, args, amps):
        self.amps = amps
        self.scaler = torch.cuda.amp.GradScaler(TOLD)

    def step(self, x):
        with torch.cuda.amp.autocast(enabled=ASKED):
            loss = self.net(x).mean()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
"""


@pytest.mark.parametrize(
    ("told", "asked", "kept", "new"),
    [
        ("", "self.scaler.is_enabled()", "", "True"),
        ("enabled=True", "self.scaler.is_enabled()", "", "True"),
        ("enabled=amp", "self.scaler.is_enabled()", "", "amp"),
        ("enabled=amps", "self.scaler.is_enabled()", "amps", "self.autocast_enabled"),
        ("enabled=not args.slow", "self.scaler.is_enabled()", "not args.slow", "self.autocast_enabled"),
        ("enabled=not args.slow", "x.ndim > 1 and self.scaler.is_enabled()", "not args.slow",
         "x.ndim > 1 and self.autocast_enabled"),
        ("enabled=amp", "self.amps", "", "self.amps"),
        ("enabled=not args.slow", "other.scaler.is_enabled()", "not args.slow", "other.autocast_enabled"),
    ],
)  # fmt: skip
def test_autocast_that_is_on_where_a_scaler_is(told: str, asked: str, kept: str, new: str) -> None:
    """The scaler is switched off: what it was told goes on deciding."""
    ported = port(ASKS_SCALER.replace("TOLD", told).replace("ASKED", asked), "TPU401")
    assert f'with torch.autocast("xla", dtype=torch.bfloat16, enabled={new}):\n' in ported
    before = f"        self.autocast_enabled = {kept}\n        self.scaler = torch.amp.GradScaler"
    assert (before in ported) is bool(kept), ported
    assert ported.count("autocast_enabled") == 2 * bool(kept)


@pytest.mark.parametrize(("told", "new"), [("", "True"), ("enabled=amp", "amp"), ("enabled=args.amp", "")])
@pytest.mark.parametrize("held", [True, False])
def test_autocast_that_is_on_where_a_scaler_is_that_it_is_given(told: str, new: str, held: bool) -> None:
    """What means the same everywhere is written; else autocast stays as it is, and is told."""
    text = f"""\
    import torch

    amp = True


    def train(model, x, scaler):
        {"on = scaler.is_enabled()" if held else "pass"}
        with torch.cuda.amp.autocast(enabled={"on" if held else "scaler.is_enabled()"}):
            loss = model(x).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)


    def main(args):
        train(build(), load(), torch.cuda.amp.GradScaler({told}))
    """
    result = run(text, "TPU401", fix=True, unsafe=True)
    told_still = [finding for finding in result.findings if "autocast" in finding.message]
    assert ("torch.cuda.amp.autocast(" in result.text) is not bool(new)
    assert len(told_still) == int(not new)
    assert new == "" or f"on = {new}\n" in result.text or f"enabled={new})" in result.text


def test_scalers_that_nobody_asks_for_autocast_are_left_to_answer() -> None:
    text = ASKS_SCALER.replace("TOLD", "enabled=amp").replace("ASKED", "amp")
    ported = port(text + "        if self.scaler.is_enabled():\n            self.count += 1\n", "TPU401")
    assert "        if self.scaler.is_enabled():\n" in ported


@pytest.mark.parametrize(
    ("fallback", "is_known"),
    [
        ("class GradScaler:\n        def scale(self, loss):\n            return loss", True),
        ("def GradScaler():\n        return None", False),  # perhaps of other arguments
    ],
)
def test_a_scaler_with_a_class_in_its_place_for_older_torch(fallback: str, is_known: bool) -> None:
    text = f"""\
import torch

try:
    from torch.cuda.amp import GradScaler
except ImportError:
    {fallback}

scaler = GradScaler()
for x in loader:
    loss = model(x.cuda()).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
"""
    ported = port(text, "TPU401")
    assert ("    loss.backward()\n    optimizer.step()\n" in ported) is is_known
    assert "try:\n    from torch.cuda.amp import GradScaler\nexcept" in ported


@pytest.mark.parametrize(
    ("kept", "told"),
    [
        ('torch.save({"model": deepcopy(model).half()}, "a.pt")', []),
        ('torch.save(deepcopy(model).half().state_dict(), "a.pt")', []),
        ("half = deepcopy(model).half(); half(x.to(device))", ["TPU402"]),
        ("deepcopy(model).half()(x.to(device))", ["TPU402"]),
    ],
)
def test_a_copy_that_is_only_kept_computes_nothing(kept: str, told: list[str]) -> None:
    text = (
        "from copy import deepcopy\nimport torch\n\ndevice = torch.device('cuda')\n"
        f"model = torch.nn.Linear(4, 2).to(device)\nx = torch.ones(8, 4)\n{kept}\n"
    )
    found = lint(SourceFile.from_text(text), Settings(select=("TPU402",)), CATALOGUE).findings
    assert [finding.code for finding in found] == told
