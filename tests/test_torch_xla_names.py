"""Names of torch_xla: what every version has is never called stale, what a version took away always is."""

from __future__ import annotations

from textwrap import dedent

import pytest
from made_rules import run

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

RULE = load().get("stale-torch-xla-name")

# Present and not deprecated in every version from 2.1 to 2.9, by module.
KEPT = {
    "torch_xla.core.xla_model": """
        get_local_ordinal is_master_ordinal master_print mesh_reduce optimizer_step reduce_gradients add_step_closure
        save rendezvous xla_rendezvous all_reduce all_gather wait_device_ops unlazy set_rng_state get_rng_state
        get_memory_info
        get_xla_supported_devices xla_device_hw xla_real_devices broadcast_master_param do_on_ordinals is_xla_tensor
        send_cpu_data_to_device RateTracker collective_broadcast xla_replication_devices set_replication
        check_view_sharing get_stablehlo optimization_barrier_""",
    "torch_xla.runtime": """
        world_size global_ordinal local_ordinal global_device_count local_device_count addressable_device_count
        process_index process_count device_type set_device_type is_bf16_supported use_spmd is_spmd
        global_runtime_device_count host_index local_process_count initialize_cache""",
    "torch_xla.distributed.xla_multiprocessing": "spawn MpModelWrapper MpSerialExecutor",
    "torch_xla.distributed.parallel_loader": "ParallelLoader MpDeviceLoader PerDeviceLoader",
    "torch_xla.distributed.fsdp": "XlaFullyShardedDataParallel checkpoint_module",
    "torch_xla.distributed.spmd": "mark_sharding Mesh XLAShardedTensor",
    "torch_xla.debug.profiler": "start_server trace StepTrace Trace",
    "torch_xla.debug.metrics": "metrics_report short_metrics_report counter_value clear_all metric_data",
    "torch_xla.utils.serialization": "save load",
    "torch_xla.utils.checkpoint": "checkpoint",
    "torch_xla.amp": "autocast",
    "torch_xla.amp.syncfree": "SGD Adam AdamW",
    "torch_xla.core.functions": "all_gather",
    "torch_xla.experimental": "eager_mode",
    "torch_xla": "device devices device_count sync step compile launch manual_seed",
}

# Module, name, version that deprecated it, version that removed it.
CHANGED = [
    ("torch_xla.core.xla_model", "xla_device", (2, 8), None),
    ("torch_xla.core.xla_model", "mark_step", (2, 8), None),
    ("torch_xla.core.xla_model", "xrt_world_size", (2, 5), (2, 7)),
    ("torch_xla.core.xla_model", "get_ordinal", (2, 5), (2, 7)),
    ("torch_xla.core.xla_model", "parse_xla_device", (2, 5), (2, 7)),
    ("torch_xla.runtime", "using_pjrt", None, (2, 5)),
    ("torch_xla.runtime", "xla_device", None, (2, 8)),
    ("torch_xla.experimental", "compile", (2, 5), (2, 7)),
    ("torch_xla.experimental.pjrt", "rendezvous", (2, 1), (2, 5)),
    ("torch_xla.experimental.pjrt", "spawn", (2, 1), (2, 5)),
    ("torch_xla.experimental.xla_sharding", "Mesh", (2, 2), (2, 5)),
    ("torch_xla.core.functions", "nms", None, (2, 4)),
    ("torch_xla.amp", "GradScaler", None, (2, 9)),
]
VERSIONS = [(2, minor) for minor in range(1, 10)]


def found(module: str, name: str, version: tuple[int, ...]) -> list[str]:
    """The labels of severity that TPU901 gives to a call of the name."""
    assert RULE is not None
    text = f"import {module} as m\n\nm.{name}()\n"
    return [finding.severity.label for finding in run(RULE, text, fix=False, version=version).findings]


@pytest.mark.parametrize(("module", "names"), KEPT.items(), ids=KEPT)
def test_kept_names_are_never_stale(module: str, names: str) -> None:
    for name in names.split():
        for version in VERSIONS:
            assert found(module, name, version) == [], (name, version)


@pytest.mark.parametrize(("module", "name", "deprecated", "removed"), CHANGED, ids=lambda value: str(value))
def test_changed_names_are_stale_from_their_version_on(
    module: str, name: str, deprecated: tuple[int, int] | None, removed: tuple[int, int] | None
) -> None:
    for version in VERSIONS:
        if removed is not None and version >= removed:
            expected = ["error"]
        elif deprecated is not None and version >= deprecated:
            expected = ["warning"]
        else:
            expected = []
        assert found(module, name, version) == expected, version


# Files that run without torch_xla too, and what they become.
GUARDED = {
    "try": (
        """
        try:
            import torch_xla.core.xla_model as xm
        except ImportError:
            xm = None
        def step():
            if xm is not None:
                xm.mark_step()
        """,
        """
        try:
            import torch_xla.core.xla_model as xm
            import torch_xla
        except ImportError:
            xm = None
        def step():
            if xm is not None:
                torch_xla.sync()
        """,
    ),
    "imported beside": (
        """
        if is_torch_xla_available():
            import torch_xla
            import torch_xla.core.xla_model as xm
        def step():
            xm.mark_step()
        """,
        """
        if is_torch_xla_available():
            import torch_xla
            import torch_xla.core.xla_model as xm
        def step():
            torch_xla.sync()
        """,
    ),
    "function": (
        """
        def step(device):
            if device.type == "xla":
                import torch_xla.core.xla_model as xm
                xm.mark_step()
            if device.type == "xla":
                print(xm.xrt_world_size())
                xm.mark_step()
        """,
        """
        def step(device):
            if device.type == "xla":
                import torch_xla.runtime as xr
                import torch_xla
                torch_xla.sync()
            if device.type == "xla":
                print(xr.world_size())
                torch_xla.sync()
        """,
    ),
}


@pytest.mark.parametrize(("before", "after"), GUARDED.values(), ids=GUARDED)
def test_what_is_imported_under_a_condition_stays_so(before: str, after: str) -> None:
    settings = Settings(fix=True, unsafe_fixes=True, select=("TPU901",))
    result = lint(SourceFile.from_text(dedent(before)), settings, load())
    assert result.text == dedent(after)
