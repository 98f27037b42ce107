"""Code that is right without a GPU, or whose callers decide: libraries, tests, products for GPUs."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from marked_files import agree

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.model import Finding, Severity
from tpulint.source import SourceFile

CATALOGUE = load()
RULES = ("TPU00", "TPU010", "TPU210", "TPU302", "TPU402", "TPU401", "TPU701", "TPU802")


def found(text: str) -> tuple[Finding, ...]:
    """Findings in a file that imports torch."""
    source = SourceFile.from_text("import torch\n" + dedent(text))
    return lint(source, Settings(select=RULES, preview=True), CATALOGUE).findings


def codes(text: str) -> set[str]:
    return {finding.code for finding in found(text)}


# -------------------------------------------------------------------- right as it is

SILENT = {
    "feature that needs a GPU": """
        def make(name):
            if name.startswith("apex."):
                assert torch.cuda.is_available(), "a GPU is needed"
            return torch.zeros(2).to("cpu")

        make("sgd")
        """,
    "dictionaries that are only written": """
        import json

        def describe(file):
            facts = {"cuda": torch.cuda.is_available(), "cuda and more": 1}
            print(json.dumps(facts))
            counts = dict(cuda=torch.cuda.is_available())
            log.info(counts)
            json.dump({"cuda": torch.cuda.is_available()}, file)
        """,
    "report through a variable": """
        def report():
            cuda = torch.cuda.is_available()
            return {"GPU name": name(0) if cuda else None, "GPU version": torch.version.cuda if cuda else None}
        """,
    "another accelerator beside the question": """
        if torch.accelerator.is_available() and torch.accelerator.current_accelerator().type == "neuron":
            names = [torch.neuron.get_device_properties(i).name for i in range(2)]
        """,
    "accelerator that is only compared": """
        def serves(device):
            current = torch.accelerator.current_accelerator()
            return current is not None and current.type == device.type
        """,
    "question of another module": """
        from ..utils import is_torch_cuda_available

        def validate():
            if is_torch_cuda_available():
                major, _ = torch.cuda.get_device_capability()
        """,
    "option of a library behind such a question": """
        from accelerate import Accelerator
        from accelerate.utils import is_cuda_available, is_mps_available

        if is_cuda_available() or is_mps_available():
            accelerator = Accelerator(mixed_precision="fp16")
        """,
    "generators of GPUs": """
        def seed():
            if len(torch.cuda.default_generators) > 0:
                return torch.cuda.default_generators[torch.cuda.current_device()].seed()
        """,
    "GPUs that callers count": """
        def memory(n_gpus):
            return [torch.cuda.mem_get_info(i) for i in range(n_gpus)]
        """,
    "tensor on each GPU there is": """
        def try_all():
            for i in range(torch.cuda.device_count()):
                torch.zeros(1, device=i)
        """,
    "kind of processes": """
        def check(state):
            if state.kind == Kind.MULTI_GPU:
                return torch.cuda.get_rng_state()
        """,
    "states of random numbers that are kept and set": """
        def kept():
            state = {"host": torch.get_rng_state()}
            if torch.cuda.is_available():
                state["device"] = torch.cuda.get_rng_state()
            return state

        def set_again(state):
            torch.set_rng_state(state["host"])
            if torch.cuda.is_available():
                torch.cuda.set_rng_state(state["device"])
        """,
    "NCCL": """
        def wait():
            use_ids = dist.is_initialized() and dist.get_backend() == "nccl"
            dist.barrier(device_ids=[torch.cuda.current_device()]) if use_ids else dist.barrier()
        """,
    "private function that is asked behind a guard": """
        def _is_ampere(device):
            return torch.cuda.get_device_capability(device)[0] >= 8

        def tune(device):
            if device.type == "cuda" and _is_ampere(device):
                print("TF32")
        """,
    "test of the driver": """
        def check():
            if torch.cuda.is_available():
                assert not torch._C._cuda_isInBadFork()
        """,
    "parameter of tests": """
        import pytest

        def devices():
            found = [pytest.param(torch.device("cpu"), id="cpu")]
            if torch.cuda.is_available():
                found.append(pytest.param(torch.device("cuda:0"), id="cuda"))
            return found
        """,
    "export to a product": """
        def to_tensorrt(model, default_device="cuda"):
            return model.to(default_device)
        """,
    "class for a product": """
        class TensorRTBackend:
            def load(self, device):
                stream = torch.cuda.Stream(device)
        """,
    "wrapper of autocast": """
        @maybe_autocast(enabled=False, device_type="cuda")
        def softmax(x):
            return x
        """,
    "method `cuda` of another kind": """
        def store(quantizer, x, meta):
            quantizer.cuda(x, meta=meta, compute=True)
        """,
    "way of its own for TPUs": """
        def bind(kind, rank):
            index = torch.accelerator.current_device_index() if kind == "tpu" else rank
            torch.accelerator.set_device_index(index)
        """,
    "fork after CUDA was started": """
        def check(bad):
            if bad is None and torch.cuda.is_initialized():
                raise RuntimeError("start processes first")
        """,
    "stream where there are streams": """
        def stream(device, module):
            if torch.accelerator.is_available() and hasattr(module, "Stream"):
                return module.Stream(device)
        """,
    "compile put back": """
        def force(model, device):
            model.to(device)
            original = torch.compile

            def patched(*args, **kwargs):
                return original(*args, fullgraph=True, **kwargs)

            torch.compile = patched
        """,
    "cast back": """
        def decode(vae, x, device):
            needs_upcasting = vae.dtype == torch.float16 and vae.config.force_upcast
            x = x.to(device)
            if needs_upcasting:
                vae.to(dtype=torch.float16)
        """,
    "probe of float16": """
        def works(device):
            try:
                torch.zeros(2, dtype=torch.float16).to(device)
                return True
            except RuntimeError:
                return False
        """,
    "load to the host unless told": """
        def read(path, map_location: str | torch.device = "cpu"):
            return torch.load(path, map_location=map_location)
        """,
    "loop over experts": """
        class Experts(torch.nn.Module):
            def __init__(self, device):
                super().__init__()
                self.experts = torch.nn.ModuleList([torch.nn.Linear(2, 2).to(device)])

            @torch.no_grad()
            def run(self, x, ends):
                for i, end in enumerate(ends):
                    expert = self.experts[i]
                    x[:end] = expert(x[:end])
                return x
        """,
    "cuda for XLA on GPUs": """
        from accelerate.utils import is_torch_xla_available

        def kind(state):
            device_type = "cuda" if is_torch_xla_available(check_is_gpu=True) else state.device.type
            return torch.zeros(2, device=device_type)
        """,
    "marks of CUDA graphs": """
        def compile(model):
            if hasattr(torch._inductor, "cudagraph_mark_step_begin") and torch.cuda.is_available():
                torch._inductor.cudagraph_mark_step_begin()
            return model.to("cpu")
        """,
    "provider of another runtime": """
        def device_of(session):
            provider = session.get_providers()[0]
            if provider in ("CUDAExecutionProvider", "TensorrtExecutionProvider"):
                return torch.device("cuda", 0)
            return torch.device("cpu")
        """,
    "device that callers name": """
        def place(device, rank):
            if device == "cuda":
                return torch.zeros(2).to(f"cuda:{rank}")
            return torch.zeros(2)
        """,
    "functions of a device": """
        def get_device_backend(device):
            return getattr(torch, torch.device(device).type)

        def time_sync(device=None):
            backend = get_device_backend(device or "cuda")
            if backend.is_available():
                backend.synchronize()
        """,
    "older torch": """
        def stream():
            return torch.Stream() if _is_torch_greater_or_equal_than_2_7 else torch.cuda.Stream()

        def record():
            if TORCH_2_4:
                return torch.Event()
            return torch.cuda.Event()

        def context(device, enabled):
            if TORCH_1_13:
                return torch.amp.autocast(device, enabled=enabled)
            else:
                return torch.cuda.amp.autocast(enabled and device == "cpu")
        """,
    "probe of a kernel": """
        def has_flash(params, can_use):
            try:
                q = torch.empty(1, device="xla", dtype=torch.float16)
                return bool(can_use(params(q)))
            except Exception:
                return None
        """,
    "method `half`": """
        class Module(torch.nn.Module):
            def half(self):
                self.set(device="xla", dtype=torch.half)
                return super().half()
        """,
    "test of float16": """
        from accelerate import Accelerator

        if is_fp16_available() and not is_hpu_available():
            accelerator = Accelerator(mixed_precision="fp16")
        """,
    "quantization that needs a GPU": """
        def device_map():
            if torch.cuda.is_available():
                return {"": torch.cuda.current_device()}
            elif torch.xpu.is_available():
                return {"": torch.xpu.current_device()}
            else:
                raise RuntimeError("A GPU is needed for quantization")
        """,
    "options of a profiler": """
        def profile(model, prof, device):
            use_cuda = torch.cuda.is_available()
            activities = [Activity.CPU]
            if use_cuda:
                activities.append(Activity.CUDA)
            if prof.memory and torch.cuda.is_available():
                prof.export_memory_timeline("memory.html")
            return model.to(device)
        """,
    "test that looks at GPUs": """
        import os

        WITH_KERNEL = True
        if "PYTEST_CURRENT_TEST" in os.environ and torch.cuda.is_available():
            WITH_KERNEL = False
        """,
    "word that is compared": """
        def count(memory):
            expected_device = "cuda"
            if is_xpu_available():
                expected_device = "xpu"
            return [d for d in memory if torch.device(d).type == expected_device]
        """,
    "device of a scaler": """
        class Scaler:
            def __init__(self, device="cuda"):
                self.scaler = torch.amp.GradScaler(device=device, enabled=False)
        """,
    "other runtime with a GPU": """
        def providers(device=None, available=()):
            if device is None:
                device = "cuda" if torch.cuda.is_available() and "CUDAExecutionProvider" in available else "cpu"
            return torch.device(device)
        """,
    "pinned on GPUs": """
        def send(batch: torch.Tensor, helper, device):
            if not helper.is_gpu:
                return batch
            batch = batch.pin_memory()
            return batch.to(device)
        """,
    "sparse tensor of older torch": """
        def sparse(edges, size):
            if not WITH_PT21:
                return torch.sparse_coo_tensor(edges, torch.ones(3), size, device=edges.device)
            return edges
        """,
    "float16 where CUDA is": """
        from accelerate.utils import is_cuda_available

        def narrow(x):
            x = x.to("xla")
            if is_cuda_available():
                x = x.to(dtype=torch.float16)
            return x
        """,
    "place that callers give": """
        def read(path, map_location: str | None = None):
            return torch.load(path, map_location=map_location)
        """,
    "probe of a GPU in tests": """
        import os

        WITH_KERNEL = True
        if "PYTEST_CURRENT_TEST" in os.environ and torch.cuda.is_available():
            try:
                run(torch.ones(3, device="cuda"))
            except RuntimeError:
                WITH_KERNEL = False
        """,
    "capability of CUDA": """
        def get_cuda_device_capability():
            if torch.cuda.is_available():
                device = torch.device("cuda")
                return torch.cuda.get_device_capability(device)
            return None
        """,
    "number behind a device of callers": """
        def place(device, rank):
            if device == "cuda":
                device = f"cuda:{rank}"
            return torch.zeros(2).to(device)
        """,
    "seed beside that of XLA": """
        import torch_xla.core.xla_model as xm

        def set_seed(seed):
            torch.cuda.manual_seed_all(seed)
            if is_torch_xla_available():
                xm.set_rng_state(seed)
        """,
    "state of CUDA's generators": """
        def devices():
            return list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
        """,
    "cast back through a state": """
        def decode(state, vae, x, device):
            state.needs_upcasting = vae.dtype == torch.float16 and vae.config.force_upcast
            x = x.to(device)
            if state.needs_upcasting:
                vae.to(dtype=torch.float16)
        """,
    "word of older torch": """
        def measure(x):
            device = "device" if WITH_PT24 else "cuda"
            return x.to(device)
        """,
    "product that needs CUDA": """
        def start(model):
            assert torch.cuda.is_available(), "Megatron requires CUDA."
            return model.to("cpu")
        """,
    "devices of CUDA": """
        def find_usable_cuda_devices(numbers):
            return [torch.zeros(1, device=torch.device("cuda", i)) for i in numbers]
        """,
    "autocast where CUDA is": """
        def loss(x):
            if x.device.type == "cuda":
                with torch.autocast(device_type="cuda", enabled=False):
                    return x.sum()
            return x.sum()
        """,
    "cast to what is asked": """
        def cache(x, dtype):
            x = torch.cos(x.to("xla"))
            if dtype in (torch.float16, torch.bfloat16):
                x = x.bfloat16() if dtype == torch.bfloat16 else x.half()
            return x
        """,
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_right_as_it_is(text: str) -> None:
    assert found(text) == ()


COMPARISONS = {
    "error on CUDA": """
        def check(device="cuda"):
            device = torch.device(device)
            try:
                return torch.zeros(2).to(device)
            except RuntimeError:
                if device.type == "cuda":
                    raise ValueError("CUDA is not set up")
        """,
    "memory format": """
        def prepare(model, device="cuda"):
            device = torch.device(device)
            if device.type == "cuda":
                model = model.to(memory_format=torch.channels_last)
        """,
    "several backends": """
        def prepare(device="cuda"):
            device = torch.device(device)
            return device.type in ("cuda", "xpu")
        """,
    "flag by its name": """
        class Loader:
            def __init__(self, device="cuda"):
                device = torch.device(device)
                self.is_cuda = device.type == "cuda"
        """,
    "older function": """
        def autocast_dtype(device="cuda"):
            try:
                return torch.get_autocast_dtype(device)
            except AttributeError:
                assert device == "cuda"
                return torch.get_autocast_gpu_dtype()
        """,
    "flags of CUDA": """
        def prepare(device="cuda"):
            device = torch.device(device)
            if device.type == "cuda":
                torch.backends.cuda.matmul.allow_tf32 = True
        """,
}


@pytest.mark.parametrize("text", COMPARISONS.values(), ids=COMPARISONS)
def test_comparison_that_is_rightly_false(text: str) -> None:
    assert not any("compared" in finding.message for finding in found(text))


TOLD = {
    "error where there is no CUDA": (
        "TPU001",
        """
        device = torch.device("cuda")
        if device.type != "cuda":
            raise ValueError("no GPU")
        """,
    ),
    "program that needs a GPU": (
        "TPU001",
        """
        assert torch.cuda.is_available(), "a GPU is needed"
        model = torch.nn.Linear(2, 2).cuda()
        """,
    ),
    "flag that places": (
        "TPU001",
        """
        cuda = torch.cuda.is_available()
        model = torch.nn.Linear(2, 2).to("cuda" if cuda else "cpu")
        """,
    ),
    "question of this file": (
        "TPU010",
        """
        def has_gpu():
            return torch.cuda.is_available()

        if has_gpu():
            torch.cuda.synchronize()
        """,
    ),
    "GPUs of a program": (
        "TPU001",
        """
        for i in range(torch.cuda.device_count()):
            torch.zeros(1).to(f"cuda:{i}")

        model = torch.nn.Linear(2, 2).to("cuda")
        """,
    ),
    "public function": (
        "TPU010",
        """
        def capability(device):
            return torch.cuda.get_device_capability(device)

        def tune(device):
            if device.type == "cuda":
                print(capability(device))
        """,
    ),
    "move beside the memory format": (
        "TPU001",
        """
        device = torch.device("cuda")
        if device.type == "cuda":
            model = model.to(memory_format=torch.channels_last, dtype=torch.bfloat16)
        """,
    ),
    "compiled model": ("TPU210", "model = torch.nn.Linear(2, 2).to('xla')\nrun = torch.compile(model)\n"),
    "float16 by choice": (
        "TPU402",
        """
        def prepare(model, args, device):
            model.to(device)
            if args.dtype == torch.float16:
                model.to(dtype=torch.float16)
        """,
    ),
    "float16 in `try`": (
        "TPU402",
        """
        def run(device):
            try:
                return torch.zeros(2, dtype=torch.float16).to(device)
            except RuntimeError:
                return None
        """,
    ),
    "load to the device": (
        "TPU701",
        """
        def read(path, map_location="cuda"):
            return torch.load(path, map_location=map_location)

        read("a.pt", map_location="cuda")
        model = torch.load("a.pt", map_location="cuda")
        """,
    ),
    "question that callers ask": ("TPU001", "def may_move():\n    return torch.cuda.is_available()\n\nx.cuda()\n"),
    "flag of an object": (
        "TPU001",
        """
        class Trainer:
            def __init__(self):
                self.use_gpu = torch.cuda.is_available()

            def move(self, model):
                return model.to("cuda") if self.use_gpu else model
        """,
    ),
    "flag that moves": (
        "TPU001",
        """
        def move(model):
            use_gpu = torch.cuda.is_available()
            if use_gpu:
                model = model.cuda()
            return model
        """,
    ),
    "end without a GPU": (
        "TPU001",
        """
        def move(model):
            if not torch.cuda.is_available():
                raise RuntimeError("train on a GPU")
            return model.to("cuda")
        """,
    ),
    "device that callers need not name": (
        "TPU001",
        """
        def place(device="cuda", rank=0):
            if device == "cuda":
                device = f"cuda:{rank}"
            return torch.zeros(2).to(device)
        """,
    ),
    "seed without that of XLA": (
        "TPU010",
        """
        def set_seed(seed):
            torch.cuda.manual_seed_all(seed)
        """,
    ),
    "device of an autocast": (
        "TPU001",
        """
        def step(model, x):
            device_type = "cuda"
            with torch.autocast(device_type):
                return model(x)
        """,
    ),
    "answer at the top of a module": ("TPU001", "use_gpu = flag and torch.cuda.is_available()\ndevice = 'cuda'\n"),
    "torch that has not come": (
        "TPU010",
        """
        def stream():
            return torch.Stream() if TORCH_2_13 else torch.cuda.Stream()
        """,
    ),
    "torch of today": (
        "TPU010",
        """
        def stream():
            return torch.cuda.Stream() if TORCH_2_4 else None
        """,
    ),
    "device that an option names": (
        "TPU001",
        """
        import argparse

        parser = argparse.ArgumentParser()
        parser.add_argument("--device", default="cpu")
        args = parser.parse_args()
        if args.device == "cuda":
            device = torch.device("cuda:0")
        """,
    ),
    "sparse tensor of newer torch": (
        "TPU007",
        """
        def sparse(edges, size):
            if WITH_PT21:
                return torch.sparse_coo_tensor(edges, torch.ones(3), size, device=edges.device)
            return edges
        """,
    ),
    "evaluation": (
        "TPU302",
        """
        def evaluate(model: torch.nn.Module, loader, device):
            model.eval()
            for x in loader:
                with torch.no_grad():
                    print(model(x.to(device)).shape)
        """,
    ),
}


@pytest.mark.parametrize(("code", "text"), TOLD.values(), ids=TOLD)
def test_still_told(code: str, text: str) -> None:
    assert code in codes(text)


# -------------------------------------------------------------------- callers decide

PROGRAM = "\nif __name__ == '__main__':\n    run()\n"


@pytest.mark.parametrize(
    "text",
    [
        "def run(x, device='cuda'):\n    return x.to(device)\n",
        "def run(x, args):\n    return x.to(getattr(args, 'device', 'cuda'))\n",
        "def run(x, device=None):\n    return x.to(device or torch.device('cuda'))\n",
        "def run(x, device):\n    if device == 'auto':\n        return x.to('cuda')\n",
        "def run_quantized(x):\n    return x.to('cuda')\n",
        "import bitsandbytes\n\ndef run(x):\n    return x.to('cuda')\n",
        "def run(model, use_gpu):\n    if use_gpu:\n        model = model.cuda()\n    return model\n",
        "def run(device):\n    if device == 'auto':\n        return torch.cuda.FloatTensor([1.0])\n",
        "def run(x, pin_memory):\n    if pin_memory:\n        x = x.to('cpu').pin_memory()\n    return x\n",
        "def run(x, bits):\n    if bits == '8bit':\n        return x.to('cuda')\n",
        "def sm90_run():\n    return torch.cuda.get_device_capability()\n",
        "import warnings\nwarnings.filterwarnings('ignore')\n\ndef run(x, device='cuda'):\n    return x.to(device)\n",
    ],
)
def test_callers_of_a_library_decide(text: str) -> None:
    rules = ("TPU00", "TPU010")
    alone = [item for item in found(text) if item.code.startswith(rules)]
    assert alone and all(item.severity is Severity.WARNING for item in alone)
    assert any(item.severity is Severity.ERROR for item in found(text + PROGRAM) if item.code.startswith(rules))


@pytest.mark.parametrize(
    "text",
    [
        "device = torch.device('cuda')\n",
        "def run(x):\n    return x.to('cuda')\n",
        "def run(x):\n    return x.cuda()\n",
        "def run(x):\n    torch.cuda.synchronize()\n    return x\n",
        "def run(x, train):\n    if train:\n        x = x.to('cuda')\n    return x\n",
    ],
)
def test_what_fails_in_any_case_is_an_error(text: str) -> None:
    assert any(item.severity is Severity.ERROR for item in found(text))


def test_name_of_an_option_is_no_accelerator() -> None:
    text = """
    def place(accelerator_id):
        device_type = (find() or torch.device("cuda")).type
        return torch.device(f"{device_type}:{accelerator_id}")
    """
    messages = [item.message for item in found(text)]
    assert messages and not any("never answers" in message for message in messages)


@pytest.mark.parametrize(("last", "count"), [("xm.rendezvous('x')", 0), ("print('x')", 1)])
def test_barrier_beside_a_rendezvous(last: str, count: int) -> None:
    text = f"""
import torch
import torch.distributed as dist
import torch_xla.core.xla_model as xm

dist.init_process_group("xla")

def wait(kind):
    if kind == "gpu":
        dist.barrier()
    elif kind == "xla":
        {last}
"""
    source = SourceFile.from_text(text)
    assert len(lint(source, Settings(select=("TPU618",), preview=True), CATALOGUE).findings) == count


@pytest.mark.parametrize(("head", "count"), [("is_cuda_available()", 0), ("asked", 1)])
def test_number_of_gpus_where_cuda_is(head: str, count: int) -> None:
    text = f"""
import torch
from accelerate.utils import is_cuda_available, is_xpu_available

def config(asked):
    if {head}:
        n = torch.cuda.device_count()
        if n > 1:
            return "MULTI_GPU"
        else:
            return "NO"
"""
    source = SourceFile.from_text(text)
    assert len(lint(source, Settings(select=("TPU605",), preview=True), CATALOGUE).findings) == count


def test_call_behind_a_question_never_runs() -> None:
    (message,) = (item.message for item in found(QUESTION) if item.code == "TPU010")
    assert message.startswith("`torch.cuda.synchronize` never runs on a TPU machine")


QUESTION = """
def wait(x):
    x.to("cuda")
    if torch.cuda.is_available():
        torch.cuda.synchronize()
"""


# -------------------------------------------------------------------- scripts that choose the CPU

ON_CPU = """\
import torch
{choice}
torch.manual_seed(0)
model = torch.nn.Linear(3, 1){moved}
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for i in range(3):
    loss = model(torch.randn(2, 3){batch}).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
torch.save(model.state_dict(), "x.pt")
"""


def of_script(choice: str, moved: str, batch: str) -> set[str]:
    source = SourceFile.from_text(ON_CPU.format(choice=choice, moved=moved, batch=batch))
    return {finding.code for finding in lint(source, Settings(preview=True), CATALOGUE).findings}


@pytest.mark.parametrize(
    ("choice", "moved", "batch"),
    [
        ("", '.to("cpu")', ""),
        ('device = torch.device("cpu")', ".to(device)", ".to(device)"),
        ('name = "cpu"\ndevice = torch.device(name)', ".to(device=device)", ".to(device, torch.float32)"),
        ('device = "cpu"', "\nmodel.to(device)", ""),
        ('device = torch.device("cpu")  # or cuda', ".to(device)", ".to(device)"),
    ],
)
def test_silent_where_the_cpu_is_chosen(choice: str, moved: str, batch: str) -> None:
    assert of_script(choice, moved, batch) == set()


@pytest.mark.parametrize(
    ("choice", "moved", "batch"),
    [
        ("from settings import device", ".to(device)", ".to(device)"),
        ("from settings import device", '.to("cpu")', ".to(device)"),
        ('device = torch.device("cpu")\nif settings.fast:\n    device = settings.place', ".to(device)", ""),
        ('device = torch.device("cpu")', ".to(settings.device)", ".to(device)"),
        ("from settings import place", '.to("cpu")', ".to(place)"),
    ],
)
def test_heard_where_another_device_may_be_chosen(choice: str, moved: str, batch: str) -> None:
    assert "TPU301" in of_script(choice, moved, batch)


@pytest.mark.parametrize(("made", "mark"), [("", ""), ("\n        self.to('cuda')", "  # TPU301")])
def test_models_of_another_file_on_the_cpu(tmp_path: Path, made: str, mark: str) -> None:
    """A class of another file is a module that goes where it is moved; one that speaks of a device may go there."""
    model = f"""\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4){made}

    def forward(self, x):
        return self.layer(x)
"""
    program = f"""\
import torch
from model import Net

DEVICE = torch.device("cpu")
net = Net()
net.to(DEVICE)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in batches:{mark}
    loss = net(x.to(DEVICE)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    agree(tmp_path, "TPU301", model=model, train=program)


def test_results_of_a_model_of_others_come_from_a_device() -> None:
    text = """
        def train(model, optimizer, loader, kept):
            for x in loader:
                loss = model(x).sum()
                loss.backward()
                optimizer.step()
                kept.append(loss.to("cpu"))
        """
    source = SourceFile.from_text(dedent(text))
    assert "TPU301" in {finding.code for finding in lint(source, Settings(preview=True), CATALOGUE).findings}


BY_KERNELS = """
from os.path import dirname, join
from torch.utils.cpp_extension import load

SETUP


class Distance(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        found = torch.zeros(x.size(0))
        if not x.is_cuda:
            kernels.forward(x, found)
        else:
            found = found.cuda()
            kernels.forward_cuda(x, found)
        return found


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * torch.ones(3).cuda()
"""
SQUARE = BY_KERNELS[: BY_KERNELS.index("x * torch")].count("\n") + 2
SOURCES = 'sources = [join(dirname(__file__), name) for name in ("bind.cpp", "distance.cu")]\n'


@pytest.mark.parametrize(
    ("setup", "is_for_cuda"),
    [
        (f'{SOURCES}kernels = load(name="distance", sources=sources)', True),
        (f'{SOURCES}kernels = load("distance", ["bind.cpp", *sources])', True),
        ('sources = ["bind.cpp"]\nsources.append("distance.cu")\nkernels = load("distance", sources)', True),
        ('kernels = load("distance", ["bind.cpp"], with_cuda=True)', True),
        ('sources = ["bind.cpp", "distance.cpp"]\nkernels = load("distance", sources)', False),
        ('kernels = load("distance", ["bind.cpp"], with_cuda=False)', False),
        (f'{SOURCES}kernels = load("distance", ["bind.cpp"])', False),
        (f'{SOURCES}try:\n    kernels = load("distance", sources)\nexcept OSError:\n    kernels = None', False),
        (f'{SOURCES}if torch.version.cuda:\n    kernels = load("distance", sources)', False),
        (
            'sources = ["bind.cpp"]\nif CUDA:\n    sources += ["distance.cu"]\nkernels = load("distance", sources)',
            False,
        ),
    ],
)
def test_what_chooses_kernels_that_the_file_builds(setup: str, is_for_cuda: bool) -> None:
    source = SourceFile.from_text("import torch\n" + BY_KERNELS.replace("SETUP", setup))
    selected = Settings(select=("TPU830", "TPU002", "TPU005"), preview=True)
    told = {(source.position(one.span.start)[0], one.code) for one in lint(source, selected, CATALOGUE).findings}
    beside = {(SQUARE + setup.count("\n"), "TPU002")}
    if is_for_cuda:
        assert told == beside | {(6 + setup.count("\n"), "TPU830")}
    else:
        assert beside < told and {code for _, code in told} == {"TPU002", "TPU005"}
