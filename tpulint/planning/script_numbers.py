"""The numbers of a training run that can be read off its script, without executing it: what a plan begins with.

A number is taken where it is written once, or several times alike. What may be one of several numbers stays unknown.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tpulint.config import ConfigError
from tpulint.disk import read
from tpulint.planning.tensors import Place
from tpulint.planning.visible_model import Obstacle, VisibleModel, read_model
from tpulint.planning.visible_numbers import Visible, VisibleNumbers, fields_of
from tpulint.semantic import SemanticIndex
from tpulint.source import SourceFile, UnreadableSource

FLAGS = {
    "params": "--params", "batch": "--batch", "seq": "--seq", "layers": "--layers", "hidden": "--hidden",
    "optimizer": "--optimizer", "steps_per_epoch": "--steps-per-epoch", "epochs": "--epochs",
}  # fmt: skip
"""What is looked for, and the option of ``tpulint plan`` that gives it."""
NEEDED = ("params", "seq", "batch")
"""Without these there is no estimate."""
_ACCUMULATION = ("gradient_accumulation_steps", "grad_accum_steps", "accumulation_steps", "accumulate_grad_batches",
                 "grad_accumulation_steps", "accum_steps", "gradient_accumulation")  # fmt: skip
_NAMES = {
    "batch": ("batch_size", "train_batch_size", "batchsize", "bsz"),
    "accumulation": _ACCUMULATION,
    "seq": ("seq_len", "seq_length", "sequence_length", "block_size", "max_seq_len", "max_seq_length", "context_length",
            "max_sequence_length", "bptt", "context_size", "seqlen"),
    "layers": ("num_layers", "n_layer", "n_layers", "num_hidden_layers", "nlayers"),
    "hidden": ("hidden_size", "d_model", "n_embd", "embed_dim", "hidden_dim", "emb_dim", "model_dim", "emsize"),
    "epochs": ("epochs", "num_epochs", "n_epochs", "max_epochs", "num_train_epochs", "nepochs", "epoch_count"),
    "steps": ("max_steps", "max_iters", "total_steps", "train_steps", "num_train_steps", "max_train_steps"),
}  # fmt: skip
"""What such numbers are called, in lower case with underscores."""
_BLOCK, _OF_WORDS = "block_size", r"(?i)token|vocab|n_embd|attention|transformer|gpt"
"""A name that means a sequence where the script is about such things; elsewhere it is a size of images or of points."""
_OPTIMIZERS = {"AdamW": "adamw", "Adam": "adamw", "NAdam": "adamw", "RAdam": "adamw", "SGD": "sgd"}


class Reading(NamedTuple):
    """One number or word, and where it is from."""

    name: str
    """A key of ``FLAGS``."""
    value: int | str
    place: Place | None
    """None where the user gave it."""
    about: str
    """How it came about, such as ``default of an option``; empty where there is nothing to say."""


class Missing(NamedTuple):
    """What could not be read."""

    name: str
    flag: str
    why: str
    """Empty where nothing speaks of it."""


class ScriptNumbers(NamedTuple):
    """What a script says about its run."""

    path: str
    readings: tuple[Reading, ...]
    missing: tuple[Missing, ...]
    """Without what an estimate does not need."""
    has_convolutions: bool
    """Whether the model has convolutions: formulas of transformers do not speak of it."""

    @property
    def values(self) -> dict[str, int | str]:
        """By name."""
        return {one.name: one.value for one in self.readings}


def read_numbers(path: str, given: Mapping[str, int | str | None] | None = None) -> ScriptNumbers:
    """Read a script; what the user gave takes the place of what it says. Raises ``ConfigError``.

    ``given`` has keys of ``FLAGS``; None stands for what was not given.
    """
    try:
        source = SourceFile.from_bytes(read(path).data, path)
        index = SemanticIndex(source, source.parse())
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None
    except (UnreadableSource, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from None
    try:
        return _Reader(index, path.replace(os.sep, "/")).read({k: v for k, v in (given or {}).items() if v is not None})
    finally:
        index.release()


class _Reader:
    def __init__(self, index: SemanticIndex, path: str) -> None:
        self._index, self._path = index, path
        self._numbers = VisibleNumbers(index)
        self._why: dict[str, str] = {}
        self._defaults: set[ast.expr] = set()
        """Of options of the command line."""

    def read(self, given: Mapping[str, int | str]) -> ScriptNumbers:
        model = read_model(self._index, self._numbers)
        found = {name: Reading(name, value, None, "given") for name, value in given.items()}
        for one in self._read(model):
            found.setdefault(one.name, one)
        missing = [Missing(name, FLAGS[name], self._why.get(name, "")) for name in NEEDED if name not in found]
        ordered = tuple(found[name] for name in FLAGS if name in found)
        return ScriptNumbers(self._path, ordered, tuple(missing), model.has_convolutions)

    def _read(self, model: VisibleModel) -> Iterator[Reading]:
        if model.params is not None:
            yield self._reading("params", model.params, model.row, f"{model.layers} layers with visible sizes")
        elif model.obstacles:
            self._why["params"] = "; ".join(map(self._obstacle, model.obstacles[:3]))
        batch = self._batch()
        accumulation = self._named("accumulation") if batch is not None else None
        if batch is not None and "accumulation" not in self._why:
            parts = accumulation.value if accumulation is not None else 1
            about = (
                _about(batch)
                if accumulation is None
                else f"{batch.value} x {parts} accumulated in row {accumulation.row}"
            )
            yield self._reading("batch", batch.value * parts, batch.row, about)
        elif batch is not None:
            self._why["batch"] = f"how many batches are accumulated is not clear: {self._why['accumulation']}"
        for name in ("seq", "layers", "epochs"):
            if (one := self._named(name)) is not None:
                yield self._reading(name, one.value, one.row, _about(one))
        if (hidden := self._of_layers() or self._named("hidden")) is not None:
            yield self._reading("hidden", hidden.value, hidden.row, _about(hidden))
        if (steps := self._named("steps")) is not None and self._named("epochs") is None:
            yield self._reading("steps_per_epoch", steps.value, steps.row, "steps of the run, without epochs")
        yield from self._optimizer()

    def _reading(self, name: str, value: int | str, row: int, about: str) -> Reading:
        return Reading(name, value, Place(self._path, row), about)

    def _obstacle(self, one: Obstacle) -> str:
        return f"{one.message} ({self._path}:{one.row})" if one.row else one.message

    # ---------------------------------------------------------------- where numbers stand

    def _batch(self) -> Visible | None:
        """The batch size of the loaders that training takes its batches from; without any, what is called so."""
        feeding = [one for one in self._index.loaders.all if one.feeds]
        sizes = [value for one in feeding for value in (one.arguments or {}).get("batch_size", [])]
        return self._alike("batch", sizes) if sizes else self._named("batch")

    def _of_layers(self) -> Visible | None:
        """``d_model`` of torch's own transformer layers."""
        calls = self._index.calls_to("torch.nn.TransformerEncoderLayer", "torch.nn.TransformerDecoderLayer")
        return self._alike("hidden", [call.args[0] for call in calls if call.args])

    def _optimizer(self) -> Iterator[Reading]:
        found: dict[str, int] = {}
        for node, name in self._index.references("torch.optim"):
            kind = _OPTIMIZERS.get(name.rpartition(".")[2])
            if kind is not None:
                found.setdefault(kind, node.lineno)
        if len(found) == 1:
            yield from (self._reading("optimizer", kind, row, "") for kind, row in found.items())

    def _named(self, quantity: str) -> Visible | None:
        """A number by what it is called: the first sort of places in which it is written decides."""
        for places in (self._declared(quantity), self._fields(quantity), self._local(quantity)):
            if places:
                return self._alike(quantity, places)
        return None

    def _alike(self, quantity: str, places: list[ast.expr]) -> Visible | None:
        found = [self._numbers.of(node) for node in places]
        values = {one.value if one is not None else None for one in found}
        first = found[0] if found else None
        if len(values) == 1 and first is not None and first.value > 0:
            return first._replace(by_user=first.by_user or any(node in self._defaults for node in places))
        rows = ", ".join(f"{self._path}:{row}" for row in sorted({node.lineno for node in places})[:4])
        if places:
            self._why[quantity] = f"{'several numbers' if len(values) > 1 else 'no visible number'} in {rows}"
        return None

    def _declared(self, quantity: str) -> list[ast.expr]:
        """Variables of the module, options of the command line, arguments of classes."""
        found = [value for name, value, scoped in self._assigned() if not scoped and self._is_called(name, quantity)]
        for call in self._index.calls:
            if isinstance(call.func, ast.Attribute) and call.func.attr in ("add_argument", "option"):
                given = {item.arg: item.value for item in call.keywords}
                default, words = given.get("default"), [*call.args, given.get("dest")]
                names = [word.value for word in words if isinstance(word, ast.Constant) and isinstance(word.value, str)]
                if default is not None and any(self._is_called(name.lstrip("-"), quantity) for name in names):
                    found.append(default)
                    self._defaults.add(default)
            elif self._gives(call) or (self._makes_an_object(call) and quantity != "batch"):
                found += [item.value for item in call.keywords if item.arg and self._is_called(item.arg, quantity)]
        return [value for value in found if not _is_nothing(value)]

    def _is_called(self, name: str, quantity: str) -> bool:
        plain = name.lower().replace("-", "_")
        return plain in _NAMES[quantity] and (plain != _BLOCK or self._index.mentions(_OF_WORDS))

    def _gives(self, call: ast.Call) -> bool:
        return isinstance(call.func, ast.Attribute) and call.func.attr == "set_defaults"

    def _makes_an_object(self, call: ast.Call) -> bool:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        qualified = self._index.qualified_name(call.func) or ""
        is_torch = qualified.startswith("torch.") and not qualified.startswith("torch.nn.Transformer")
        return name[:1].isupper() and not is_torch

    def _fields(self, quantity: str) -> list[ast.expr]:
        classes = [node for node in ast.walk(self._index.tree.module) if isinstance(node, ast.ClassDef)]
        found = [value for one in classes for name, value in fields_of(one) if self._is_called(name, quantity)]
        return [value for value in found if not _is_nothing(value)]

    def _local(self, quantity: str) -> list[ast.expr]:
        return [value for name, value, scoped in self._assigned() if scoped and self._is_called(name, quantity)]

    def _assigned(self) -> Iterator[tuple[str, ast.expr, bool]]:
        """Variables with what they are given, and whether they are a function's own."""
        for node in ast.walk(self._index.tree.module):
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                scoped = self._index.function_of(node) is not None
                if self._index.tree.class_of(node) is not None and not scoped:
                    continue
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    parts = target.elts if isinstance(target, ast.Tuple) else [target]
                    values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                    if len(parts) == len(values):
                        for part, value in zip(parts, values, strict=True):
                            if isinstance(part, ast.Name):
                                yield part.id, value, scoped


def _is_nothing(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _about(one: Visible) -> str:
    return "default of an option" if one.by_user else ""
