"""Code that looks like a pitfall and is none: where other linters and porting tools report or rewrite too much."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.model import Severity
from tpulint.source import SourceFile

CATALOGUE = load()


def codes(text: str, head: str = "import torch\n") -> list[str]:
    """Codes of all findings but those that only inform, rules in preview included."""
    source = SourceFile.from_text(head + dedent(text))
    result = lint(source, Settings(select=("ALL",), preview=True), CATALOGUE)
    assert result.error is None or result.error == ""
    return [finding.code for finding in result.findings if finding.severity is not Severity.INFO]


LOOP = """
from torch import nn
from torch.utils.data import DataLoader
import torch_xla

device = torch_xla.device()
model = nn.Linear(3, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(dataset, batch_size=8, drop_last=True)
for epoch in range(3):
    for step, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        {line}
        torch_xla.sync()
"""


def in_step(line: str, head: str = "") -> list[str]:
    """Codes of a line in front of the step boundary of a training loop that is right."""
    return codes(head + LOOP.replace("{line}", line))


def test_the_loop_itself_is_right_and_a_read_in_it_is_found() -> None:
    assert in_step("pass") == []
    assert in_step("value = loss.item()") == ["TPU101"]


# -------------------------------------------------------------------- arguments in a dictionary

LOADERS = {
    # TorchFix TOR401 and the advice of ms_fmk_transplt call the argument missing although it is passed.
    "visible": "loader_args = dict(batch_size=8, num_workers=4, pin_memory=True, drop_last=True)",
    "displayed": 'loader_args = {"batch_size": 8, "num_workers": 4, "drop_last": True}',
    "filled under a condition": 'loader_args = {"batch_size": 8}\nif fast:\n    loader_args["drop_last"] = True',
    "updated under a condition": 'loader_args = {"batch_size": 8}\nif fast:\n    loader_args.update(drop_last=True)',
    "unknown": "loader_args = options()",
    "imported": "from settings import loader_args",
}


@pytest.mark.parametrize("name", LOADERS)
def test_arguments_of_a_loader_in_a_dictionary(name: str) -> None:
    made = "loader = DataLoader(dataset, batch_size=8, drop_last=True)"
    text = LOOP.replace(made, f"{LOADERS[name]}\nloader = DataLoader(dataset, shuffle=True, **loader_args)")
    assert "TPU501" not in codes(text.replace("{line}", "pass"))


def test_visible_dictionary_without_the_argument_is_found() -> None:
    made = "loader = DataLoader(dataset, batch_size=8, drop_last=True)"
    text = LOOP.replace(made, "loader_args = dict(batch_size=8)\nloader = DataLoader(dataset, **loader_args)")
    assert "TPU501" in codes(text.replace("{line}", "pass"))


# -------------------------------------------------------------------- host values in the step loop

IN_STEP = {
    "item of an array": ("value = array.item()", "import numpy as np\narray = np.array([1.0])\n"),
    "item of a mean of an array": ("value = np.mean([1.0, 2.0]).item()", "import numpy as np\n"),
    "items of a dictionary": ("pairs = {'a': 1}.items()", ""),
    "items of a state": ("names = [name for name, _ in model.state_dict().items()]", ""),
    "item that is not called": ("read = loss.item", ""),
    "length of a batch": ("print(len(x))", ""),
    "shape of a batch": ("print(x.shape, x.size(0), x.dtype, x.device)", ""),
    "number of an epoch": ('print(f"{epoch} {step}/{len(loader)}")', ""),
    "a rate of the command line": ("rate = float(args.lr)", ""),
    "a length as a number": ("count = int(len(x))", ""),
    "a size as a number": ("count = int(x.size(0)) + float(x.shape[0])", ""),
    "an array as a number": ("loss_value = float(values[0])", "import numpy as np\nvalues = np.zeros(3)\n"),
    "a rate of the optimizer": ('print(optimizer.param_groups[0]["lr"])', ""),
    "a condition on the step": ("if step % 10 == 0 and len(x) == 8:\n            print(step)", ""),
    "a condition on None": ("if loss is None:\n            break", ""),
    "a condition on a size": ("if x.size(0) != 8:\n            continue", ""),
    "a word about a device": ('print("to save memory on cuda:0 call loss.item() less often")', ""),
    "progress without values": ("bar.update(1)", "from tqdm import tqdm\nbar = tqdm(range(10))\n"),
    "a table written": ('table.to_csv("log.csv")', "import pandas as pd\ntable = pd.DataFrame()\n"),
    "time": ("seconds = round(time.time() - begin, 2)", "import time\nbegin = time.time()\n"),
}


@pytest.mark.parametrize("name", IN_STEP)
def test_host_values_in_the_step_loop(name: str) -> None:
    line, head = IN_STEP[name]
    assert in_step(line, head) == []


# -------------------------------------------------------------------- names that others have too

SILENT = {
    # ms_fmk_transplt and `sed` recipes rewrite every `.cuda`.
    "flag of a namespace": """
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("--cuda", action="store_true")
        args = parser.parse_args()
        if args.cuda:
            print("asked for")
        opt.cuda = False
        print(args.cuda, opt.cuda)
        """,
    "methods of a class of one's own": """
        class Basket:
            def cuda(self):
                return self

            def item(self):
                return 3

            def to(self, place):
                return self

            def cpu(self):
                return self

        basket = Basket()
        for _ in range(3):
            print(basket.cuda().to("home").item(), float(basket.item()), basket.cpu())
        """,
    "parameter called torch": """
        def light(torch):
            torch.cuda.synchronize()
            return torch.load("flame")
        """,
    "numbers of the host": """
        import numpy as np
        for row in np.zeros((3, 3)):
            print(row.item(0), float(row.sum()), row.tolist())
            if row.sum() > 0:
                break
        """,
    "pandas": """
        import pandas as pd
        frame = pd.read_csv("a.csv")
        for name in frame.columns:
            frame[name].to_csv("b.csv")
            print(frame[name].item(), frame.to("csv"))
        """,
    "half as an attribute": """
        model = load_model()
        if model.half:
            print(model.half, config.double, config.bfloat16)
        """,
    "a loader of one's own": """
        class DataLoader:
            def __init__(self, source, shuffle=False):
                self.source = source

        for batch in DataLoader("words", shuffle=True):
            print(batch)
        """,
    "words": '''
        """Trains on "cuda" when torch.cuda.is_available(); call .cuda() and .item() with care."""
        import logging

        logging.info("cuda is not used, nor cuda:0")
        HELP = {"cuda": "NVIDIA", "cpu": "any"}
        print("cuda", "NCCL", ".cuda()")
        ''',
    "printed only": """
        print(torch.__version__, "GPU:", torch.cuda.is_available())
        """,
    "spaCy": """
        import spacy
        nlp = spacy.load("en_core_web_sm", device="cuda")
        """,
    "onnxruntime": """
        import onnxruntime
        session = onnxruntime.InferenceSession("m.onnx", providers=["CUDAExecutionProvider"], device="cuda")
        """,
    "faiss and XGBoost": """
        import faiss
        import xgboost as xgb
        index = faiss.Index(device="cuda")
        model = xgb.XGBClassifier(device="cuda:0")
        params = {"device": "cuda", "max_depth": 3}
        booster = xgb.train(params, data)
        """,
    "vLLM": """
        from vllm import LLM
        llm = LLM("facebook/opt-125m", device="cuda")
        """,
    "tensorflow in the same file": """
        import tensorflow as tf
        with tf.device("/GPU:0"):
            x = tf.constant([1.0])
        for step in range(3):
            loss = tf.reduce_mean(x)
            print(loss.numpy(), float(loss))
            if loss > 0:
                break
        """,
    "JAX in the same file": """
        import jax
        import jax.numpy as jnp
        x = jax.device_put(jnp.ones(3), jax.devices("cuda")[0])
        for step in range(3):
            print(x.sum().item(), float(x[0]))
            x = x.at[0].set(1.0)
            if x.sum() > 0:
                break
        """,
    "host copy in a test": """
        import unittest

        class Test(unittest.TestCase):
            def test_sum(self):
                self.assertEqual(torch.ones(3).cpu().sum().item(), 3)
        """,
    "progress over numbers": """
        from tqdm import tqdm, trange
        for epoch in tqdm(range(3)):
            print(f"{epoch}")
        for epoch in trange(3):
            print(epoch)
        """,
}


@pytest.mark.parametrize("name", SILENT)
def test_names_that_others_have_too(name: str) -> None:
    assert codes(SILENT[name]) == []


SHADOWED = {
    "another module under the name": "import numpy as torch\n",
    "a file of the project": "from . import torch\n",
    "a variable": "torch = make()\n",
    "a class": "class torch:\n    pass\n",
}


@pytest.mark.parametrize("name", SHADOWED)
def test_something_else_that_is_called_torch(name: str) -> None:
    text = """
        device = torch.device("cuda")
        x = torch.zeros(3, device=device)
        torch.cuda.synchronize()
        torch.cuda.manual_seed_all(1)
        model = torch.load("m.pt")
        """
    assert codes(text, SHADOWED[name]) == []


# -------------------------------------------------------------------- where one finding is due, and no more


def test_flag_that_guards_a_placement() -> None:
    text = """
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("--cuda", action="store_true")
        args = parser.parse_args()
        model = torch.nn.Linear(3, 3)
        if args.cuda:
            model.cuda()
        """
    assert codes(text) == ["TPU002"]


def test_device_of_torch_beside_one_of_another_library() -> None:
    text = """
        import spacy
        nlp = spacy.load("en_core_web_sm", device="cuda")
        x = torch.zeros(3, device="cuda")
        """
    assert codes(text) == ["TPU001"]


def test_method_of_a_class_of_ones_own_beside_torchs() -> None:
    text = """
        class Basket:
            def cuda(self):
                return self

        Basket().cuda()
        torch.zeros(3).cuda()
        """
    assert codes(text) == ["TPU002"]
