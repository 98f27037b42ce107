"""Images that bring CUDA."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tpulint.model import Finding
from tpulint.text_files.context import TextContext

_IMAGES = (
    (re.compile(r"(?:docker\.io/)?nvidia/(?:cuda|cudagl|cuda-dl-base)\b"), "it brings CUDA"),
    (re.compile(r"nvcr\.io/nvidia/(?:pytorch|pytorch-\w+)\b"), "it brings CUDA, and a torch of NVIDIA's own"),
    (re.compile(r"nvcr\.io/nvidia/(?:cuda|cuda-dl-base|k8s/cuda)\b"), "it brings CUDA"),
    (re.compile(r"(?:docker\.io/)?pytorch/pytorch\b(?!.*cpu)"), "it brings CUDA, and torch built for it"),
    (re.compile(r"(?:docker\.io/)?rocm/pytorch\b"), "it brings ROCm, and torch built for it"),
    (re.compile(r"huggingface/\S*(?:gpu|deepspeed)"), "it brings CUDA, and torch built for it"),
    (re.compile(r"\S*deeplearning-platform-release/pytorch-gpu"), "it brings CUDA, and torch built for it"),
)  # fmt: skip


def check_text(ctx: TextContext) -> Iterator[Finding]:
    index = ctx.index
    if index.is_variant_for_gpus or index.knows_tpus or not index.concerns_torch:
        return
    images = [(one.name, one.span) for one in index.dockerfile.images]
    images.extend((line.value, line.value_span) for line in index.yaml_lines if line.key == "image")
    for name, span in images:
        brings = next((text for pattern, text in _IMAGES if pattern.match(name)), None)
        if brings is not None:
            yield ctx.finding(span, f"`{name}` is an image for GPUs: {brings}; for a TPU a plain Python image will do")
