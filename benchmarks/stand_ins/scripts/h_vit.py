"""A small transformer in place of a large one, without weights."""

import sys
from pathlib import Path
from typing import Any

import modules
import numpy


class _Settings(dict):  # type: ignore[type-arg]
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__  # type: ignore[assignment]
    __delattr__ = dict.__delitem__  # type: ignore[assignment]


modules.put("ml_collections", ConfigDict=_Settings)


def _change(module: Any) -> None:
    settings = module.CONFIGS["ViT-B_16"]
    settings.hidden_size = 16
    settings.patches["size"] = (8, 8)
    settings.transformer.mlp_dim, settings.transformer.num_heads, settings.transformer.num_layers = 32, 2, 2
    module.VisionTransformer.load_from = lambda *_: None


modules.when_imported("models.modeling", _change)
Path("checkpoint").mkdir(exist_ok=True)
numpy.savez("checkpoint/ViT-B_16.npz")


class _Writer(modules.Anything):
    """A summary writer: like the real one, it reads the tensors that it is given."""

    def add_scalar(self, _: str, scalar_value: Any, *__: Any, **___: Any) -> None:
        if hasattr(scalar_value, "detach"):
            scalar_value.detach().cpu()


def _write(_: Any) -> None:
    sys.modules["torch.utils.tensorboard"].SummaryWriter = _Writer  # type: ignore[attr-defined]


modules.when_imported("torch", _write)
