"""What a text is about, by the words in it alone: which rules may speak of it, and what else it is read for."""

from __future__ import annotations

import re
from functools import lru_cache

from tpulint.anchors import Anchors
from tpulint.languages import PYTHON
from tpulint.model import WORDS_OF_CALLERS, WORDS_OF_LOOPS, WORDS_OF_READS
from tpulint.source import trains_by_imports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tpulint.catalog import Catalogue
    from tpulint.config import Settings
    from tpulint.rule import Rule
    from tpulint.source import SourceFile

_MAY_RUN_STEPS = ("__main__", "loader", ".step(", "optimizer_step(")
"""Words of a file that may run the steps of others, or take what a loader deals out."""
_HOLDS_TENSORS = (*WORDS_OF_READS, ".cuda(", ".to(", "xla")
"""Words of a file that reads tensors or moves them, before a port and after it."""
_OF_RESULTS = ("torch", "float(")
"""Words of a file that imports steps, beside those of tensors: what their results are is told there."""
_WORDS_OF_THE_FIELD = (
    "torch", "cuda", "CUDA", "xla:", "'xla'", '"xla"', "XLA", "nccl", "NCCL", "gpu", "GPU", "backward(", "no_grad",
    "inference_mode", "DataLoader", "optimizer", "epoch", "BatchNorm", "Scaler", "accelerator", "accelerate import",
    "transformers import", "lightning",
)  # fmt: skip
"""Without any of these words a file has nothing to do with PyTorch, whatever other words in it rules wait for."""
_ABOUT_PYTORCH = "01234567"
"""First digits of the codes of our rules about PyTorch; the others wait for names of libraries and of variables."""
_GIVES_PARAMETERS = (".parameters()", "optimizer(")
"""Words of files that build an optimizer."""
_OTHER_FRAMEWORKS = ("paddle", "jittor", "mindspore", "oneflow", "megengine", "mxnet")
_IMPORTS_ANOTHER = rf"(?m)^\s*(?:import|from)\s+(?:{'|'.join(_OTHER_FRAMEWORKS)})\b"
_IMPORTS_TORCH = r"(?m)^\s*(?:import|from)\s+(?:torch|lightning|pytorch_lightning|accelerate)"
_NAMES_DEVICE = ('"cuda', "'cuda", '"xla', "'xla", "torch_xla")
"""A device by its name, before a port and after it: what a fix has written must not cut a file off from the others."""
_WORDS_OF_TENSORS = ("torch", ".item()", ".cpu()", ".numpy()", ".tolist()")


def may_suppress(text: str, letters: Iterable[str] = ("",)) -> bool:
    """Whether a comment may silence a finding. With ``letters``, of codes, one that names a code of them."""
    lowered = text.lower()  # far quicker than a search that ignores case
    return "tpulint:" in lowered or ("noqa" in lowered and any(word.lower() in lowered for word in letters))


_WORDS_OF_PARTS = ("torch", "self.model", "self.net")
_BASES = (
    r"Abstract\w*", "Agent", r"Algo\w*", r"Appr\w*", "Base", "Engine", r"Exp\w*", "Learner", "Method", "Runner",
    "Solver", "Strategy", "Task", "Trainer",
)  # fmt: skip
_DERIVES = rf"(?m)^class \w+\((?:[\w.]+, *)*[\w.]*(?:{'|'.join(_BASES)})(?:Base)?[,)]"
"""Classes that are derived from what people call the part of a training that loops."""
_DERIVES_ANY = r"(?m)^class \w+\((?!(?:torch\.)?nn\.|object\b|\w*Exception|\w*Error|\w*Dataset|NamedTuple|Enum)[\w.]+"
"""Classes that are derived from others than those of libraries that everybody derives from."""
_WORDS_OF_BASES = tuple(base.removesuffix(r"\w*") for base in _BASES)
_PLAYS = "env.step("
"""In the loop that asks an agent for its next action, and has it learn: often without a word of PyTorch."""
_HANDED = ("torch", "loader", "args", "opt")
"""Words of what a file gives to the loop that trains."""


def may_drive(text: str) -> bool:
    """Whether a file may hand tensors, loaders or options to other files, or run them in loops."""
    if _PLAYS in text:
        return True
    if "train(" in text:
        return any(word in text for word in _HANDED)
    # What builds an optimizer has a model, which a trainer may be given.
    return ("torch" in text and "__main__" in text) or "optim." in text or _hands_on_loaders(text)


def is_run_by_base(text: str) -> bool:
    """Whether loops of a base class in another file may run what a file defines, by the name of that class."""
    if not any(word in text for word in _WORDS_OF_PARTS) or not any(word in text for word in _WORDS_OF_BASES):
        return False
    return re.search(_DERIVES, text) is not None


def may_derive_steps(text: str) -> bool:
    """Whether a file derives classes, and reads or moves tensors in them, which loops of a base class may run.

    Whether the files that it imports have such loops is asked of these.
    """
    if "import " not in text or not any(word in text for word in _HOLDS_TENSORS):
        return False
    return re.search(_DERIVES_ANY, text) is not None


def may_import_steps(text: str) -> bool:
    """Whether a file has no backward pass, so that what it imports decides whether it has to do with one."""
    return "import " in text and "backward(" not in text


def may_run_steps(text: str) -> bool:
    """Whether a file with tensors that imports steps may run them: in loops, or as methods of a class above its own.

    What it does with their results may be no more than to make numbers of them, or to show them: ``float(loss)``.
    """
    if not any(word in text for word in (*_HOLDS_TENSORS, *_OF_RESULTS)):
        return False
    return "for " in text or "while " in text or re.search(_DERIVES_ANY, text) is not None


def _hands_on_loaders(text: str) -> bool:
    """Whether a file may give a loader that one file makes to a loop of another, by the names of things."""
    return "loader" in text and "train" in text


_KEEPS_CLASS = r"\.\w+ *= *(?:[^\n=]* else )?\w+\.cuda(?:\.\w+Tensor)?\b(?![.(])"
"""``self.Tensor = torch.cuda.FloatTensor``, or the module that it is taken from."""
_OF_GROUPS = (".barrier(", "gather_object(", "_object_list(", "ReduceOp.AVG")
_SPARSE = ("torch.sparse", "sparse_coo", "sparse_cs", "to_sparse")
_GIVES_SETTING = r"(?:\.to\(|\bmap_location=|\bdevice=)(?:device=)?(?:(?:\w+\.)*[A-Z]\w|(?:cfg|conf|config|settings)\.)"
"""Devices that a file of settings may name: ``x.to(config.DEVICE)``, ``map_location=DEVICE``."""

_TIES = r"\.weight *= *\w+\.[\w.]*weight\b"


def uses_imports(source: SourceFile) -> bool:
    """Whether what a file imports may matter, that no other file calls: it does where code runs in turns."""
    text = source.text
    return (
        source.has_any((*WORDS_OF_CALLERS, "collate_fn"))
        or _hands_on_loaders(text)
        or ".cuda()" in text  # of a class of another file, that may have a method of that name
        or ".is_cuda" in text  # which a function of another file may be told
        or "DataParallel(" in text  # around a model that another file may take out again
        # Of a model that another file may move behind it; or what moves here, which another may use as a model.
        or ("optim" in text and source.has_any((*_GIVES_PARAMETERS, ".to(")))
        # A name that another file takes for a device, or a variable for programs of GPUs, which other files make it.
        or ("torch" not in text and ("cuda" in text or "CUDA_VISIBLE" in text))
        or source.has_any(_NAMES_DEVICE)  # which a function of another file may have chosen
        # Of an option, maybe, that another file parses; or of torch_xla, where what another file holds is moved.
        or ".device(" in text
        or re.search(_GIVES_SETTING, text) is not None
        or (".cuda" in text and re.search(_KEEPS_CLASS, text) is not None)  # which other files may take from an object
        or source.has_any(_OF_GROUPS)  # that other files join, maybe
        or ("gloo" in text and "init_process_group" in text)  # which may hold a model of another file
        or source.has_any(_SPARSE)  # which other files may put on a device
        or (".weight" in text and re.search(_TIES, text) is not None)  # of a model that another file may load
        or trains_by_imports(text)
        or _PLAYS in text
        or is_run_by_base(text)
    )


def is_of_another_framework(text: str) -> bool:
    """Whether a file computes with another framework alone, of which much is called as it is in PyTorch.

    Whatever other files of the project it names, or has the names of: its tensors are none of PyTorch.
    """
    if not any(word in text for word in _OTHER_FRAMEWORKS):
        return False
    return re.search(_IMPORTS_ANOTHER, text) is not None and re.search(_IMPORTS_TORCH, text) is None


def has_functions(text: str) -> bool:
    """Whether a file defines functions that may have to do with tensors."""
    return "def " in text and any(word in text for word in _WORDS_OF_TENSORS)


@lru_cache(maxsize=2)
def applicable(text: str, language: str, settings: Settings, catalogue: Catalogue, called: bool) -> tuple[Rule, ...]:
    """Enabled rules that have an anchor in the text: of a file that no rule can speak about no index is made.

    A file that is ``called`` in the turns of loops elsewhere needs no word of a loop itself, nor does a program that
    holds tensors, whose loops may run the steps of other files, or a file that holds what a loader deals out.
    """
    rules = _in_language(catalogue.select(settings), language)
    if language == PYTHON and is_of_another_framework(text):
        rules = tuple(rule for rule in rules if not rule.place.is_own)
    elif language == PYTHON and not called and not any(word in text for word in _WORDS_OF_THE_FIELD):
        rules = _beyond_the_field(rules)
    present = _anchors(rules).present(text)
    may_run_steps = not (present.isdisjoint(_MAY_RUN_STEPS) or present.isdisjoint(_HOLDS_TENSORS))
    if called or may_run_steps or (language == PYTHON and trains_by_imports(text)):
        present.update(WORDS_OF_LOOPS)
    return tuple(rule for rule in rules if not present.isdisjoint(rule.anchors))


@lru_cache(maxsize=16)
def _in_language(rules: tuple[Rule, ...], language: str) -> tuple[Rule, ...]:
    return tuple(rule for rule in rules if language in rule.files)


@lru_cache(maxsize=16)
def _beyond_the_field(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    return tuple(rule for rule in rules if not rule.place.is_own or rule.code[3] not in _ABOUT_PYTORCH)


@lru_cache(maxsize=8)
def _anchors(rules: tuple[Rule, ...]) -> Anchors:
    """Every anchor once, for many rules share theirs, and what else is asked of a text."""
    return Anchors({*(anchor for rule in rules for anchor in rule.anchors), *_MAY_RUN_STEPS, *_HOLDS_TENSORS})
