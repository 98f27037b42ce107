"""What keeps the choice of the XLA device from being certain."""

from __future__ import annotations

from collections.abc import Sequence

from tpulint.context import FileContext
from tpulint.semantic.devices.device_sites import Role, Site

_QUESTIONS = ("torch.cuda.is_available", "torch.cuda.is_bf16_supported")
# What chooses the GPU of a process or frees memory is removed by a safe fix of its own: it keeps nothing back.
_REMOVED = ("torch.cuda.set_device", "torch.cuda.empty_cache")


def gpu_numbers(sites: Sequence[Site]) -> set[str]:
    """The numbers of GPUs that these places write down."""
    return {site.number for site in sites if site.role is not Role.COMPARISON and site.number.isdigit()}


def doubt(ctx: FileContext, drops_reports: bool = False) -> str:
    """Why choosing the XLA device in this file needs a person to look; empty where it does not."""
    devices = ctx.index.devices
    roles = {site.role for site in devices.sites}
    if Role.COMPARISON in roles:
        return "Comparisons with the name of the device change as well, and with them what they guard."
    if any(site.role is Role.NAME and devices.is_option_default(site.node) for site in devices.sites):
        return "The default of a command line option changes."
    if any(devices.members.holds(site.node) for site in devices.sites if site.role is Role.NAME and not site.certain):
        return "The value of a member changes that a class gives a device: who asks for the old one gets none."
    if not all(site.certain for site in devices.sites):
        return "Not every value that names the device is seen to be used as one."
    if any(site.role is Role.QUESTION and devices.questions.ends_program(site.node) for site in devices.sites):
        return "A check that ends the program without a GPU is left out."
    if drops_reports:
        return "Messages about the GPU are left out."
    if "device_map" in ctx.source.text and ctx.index.mentions(r"\bdevice_map\s*="):
        return "Models may still be put on a GPU by a `device_map`."
    if Role.QUESTION in roles and calls_cuda(ctx, *_REMOVED):
        return "Code that was skipped without a GPU now runs, and it calls into CUDA."
    return ""


def calls_cuda(ctx: FileContext, *but: str) -> bool:
    """Whether code of the file uses something of ``torch.cuda``, some functions apart, or moves anything to a GPU."""
    names = (name for _, name in ctx.index.references("torch.cuda"))
    return any(ctx.index.method_calls("cuda")) or any(name not in (*_QUESTIONS, *but) for name in names)


def is_plain(ctx: FileContext) -> bool:
    """Whether the device is chosen without any condition, so that moves can change together with the choice."""
    sites = ctx.index.devices.sites
    if any(site.role is Role.QUESTION for site in sites) or len(gpu_numbers(sites)) > 1:
        return False
    return not doubt(ctx)
