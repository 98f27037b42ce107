"""Builds of torch for CUDA, and the addresses they are fetched from."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tpulint.model import Applicability, Finding, Span
from tpulint.text_files import PackageIndex, Requirement
from tpulint.text_files.context import TextContext

_TORCH = ("torch", "torchvision", "torchaudio", "torchtext", "pytorch", "functorch")
_CUDA_BUILD = re.compile(r"cu\d{2,3}\Z|.*cuda?\d|cuda\*?")
_CUDA_ADDRESS = re.compile(r"(?:download|download-r2)\.pytorch\.org/whl/(?:\w+/)*cu\d+|/whl/cu\d+")
_ANY_BUILD = re.compile(r"download\.pytorch\.org/whl/torch_stable\.html\Z")
_CONDA_CUDA = ("pytorch-cuda", "cudatoolkit", "cuda-toolkit", "pytorch-gpu")
_REASON = "Another build of torch is installed; on a GPU machine you may want this one."
_WHAT = "on a TPU nothing uses it, and torch_xla is built for the torch of PyPI"
_OLDEST = (2, 0)
"""The first release of torch whose torch_xla is of any use for what fixes write."""
_OLD = "on a TPU nothing uses it, and no torch_xla as old as that runs programs written for today's"


def check_text(ctx: TextContext) -> Iterator[Finding]:
    index = ctx.index
    if index.is_variant_for_gpus:
        return
    installs = index.installs
    groups = {one.group for one in installs.requirements} | {one.group for one in installs.indexes}
    for group in sorted(groups):
        requirements = [one for one in installs.requirements if one.group == group]
        indexes = [one for one in installs.indexes if one.group == group]
        yield from _in_group(ctx, requirements, indexes)


def _in_group(ctx: TextContext, requirements: list[Requirement], indexes: list[PackageIndex]) -> Iterator[Finding]:
    built = [one for one in requirements if one.name in _TORCH and _CUDA_BUILD.match(one.build)]
    addresses = [one for one in indexes if _CUDA_ADDRESS.search(one.address)]
    toolkits = [one for one in requirements if one.is_conda and one.name in _CONDA_CUDA]
    if addresses and not any(one.name in _TORCH for one in requirements) and ctx.index.language != "requirements":
        return  # another package of that address
    places = sorted([*(one.span for one in built), *(one.span for one in addresses), *(one.span for one in toolkits)])
    if not places:
        return
    fix = None
    releases = [one.release for one in requirements if one.name in ("torch", "pytorch")]
    old = any(release is not None and release < _OLDEST for release in releases)
    if not (old or toolkits) and not any(one.is_conda or one.address for one in built) and not _is_bound(ctx, places):
        fix = ctx.fix("Install the build of PyPI", Applicability.UNSAFE, _REASON)
        for one in built:
            at = ctx.source.text.index("+", one.versions_span.start)
            fix.replace(one.versions_span._replace(start=at), "")
        for address in [*addresses, *(one for one in indexes if _ANY_BUILD.search(one.address) and built)]:
            if ctx.index.language == "requirements":
                fix.delete_lines(address.span)
            else:
                fix.delete_word(address.span)
    names = [ctx.source.text[place.start : place.end] for place in places]
    yield ctx.finding(places[0], f"`{names[0]}` is for CUDA: {_OLD if old else _WHAT}", fix)


def _is_bound(ctx: TextContext, places: list[Span]) -> bool:
    """Whether what stands there is part of a JSON array, or of a line with the hash of its file."""
    text = ctx.source.text
    for place in places:
        first, last = text.rfind("\n", 0, place.start) + 1, text.find("\n", place.end)
        line = text[first : last if last >= 0 else len(text)]
        follows = line.rstrip().endswith("\\") and "--hash" in text[place.end :]
        if "--hash" in line or follows or re.search(r"\[\s*\"", line):
            return True
    return False
