"""Compiles one program for one TPU, in a process of its own. To be run by its path, with a Python that has jax.

Reads a request, one JSON object, from the file named by the first argument, and writes the answer into the file that
the request names. libtpu may hang at exit: the process is left at once.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import time
from typing import Any

SETTINGS = {
    "TPU_SKIP_MDS_QUERY": "1",  # without it libtpu waits for a metadata server
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_WORKER_ID": "0",
    "JAX_PLATFORMS": "cpu",
    "TPU_LOG_DIR": "disabled",
    "TPU_STDERR_LOG_LEVEL": "3",
    "TPU_MIN_LOG_LEVEL": "3",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",  # no lock file in /tmp: nothing is run on a TPU
}

_END_WITH_PARENT = 1
"""``PR_SET_PDEATHSIG`` of Linux."""


def compile_program(request: dict[str, Any]) -> dict[str, Any]:
    """What the compiler says: ``memory``, ``flops``, ``bytes_accessed``; else ``error`` and the ``stage`` of it."""
    stage = "start"
    try:
        import jax
        import numpy
        from jax._src.interpreters import mlir
        from jax._src.lib import xla_client
        from jax.experimental import topologies
        from jaxlib.mlir import ir
        from jaxlib.mlir.dialects import stablehlo

        stage = "topology"
        topology = topologies.get_topology_desc(request["topology"], platform="tpu", **request["configuration"])
        device = topology.devices[0]
        stage = "parse"
        with mlir.make_ir_context() as context, open(request["program"], "rb") as file:
            module: Any = stablehlo.deserialize_portable_artifact(context, file.read())
            _donate(module, request["donated"], ir)
            if request["leave_out"]:
                _leave_out_what_only_passes(module, ir)
            stage = "compile"
            options: Any = xla_client.CompileOptions()
            options.executable_build_options.num_replicas = 1
            options.executable_build_options.num_partitions = 1
            options.device_assignment = xla_client.DeviceAssignment.create(numpy.array([[device.id]]))
            client: Any = device.client
            started = time.monotonic()
            done = client.compile(module, xla_client.DeviceList((device,)), options)
            seconds = time.monotonic() - started
        stats, costs = done.get_compiled_memory_stats(), done.cost_analysis()
        costs = costs[0] if isinstance(costs, list) else costs
        return {
            "memory": [
                stats.argument_size_in_bytes, stats.output_size_in_bytes, stats.alias_size_in_bytes,
                stats.temp_size_in_bytes, stats.generated_code_size_in_bytes,
            ],
            "flops": costs.get("flops"), "bytes_accessed": costs.get("bytes accessed"), "seconds": seconds,
            "kind": device.device_kind, "jax": jax.__version__,
        }  # fmt: skip
    except Exception as error:
        return {"error": f"{error}" or type(error).__name__, "type": type(error).__name__, "stage": stage}


def _donate(module: Any, positions: list[int], ir: Any) -> None:
    """Allow outputs to lie in the buffers of some arguments."""
    if not positions:
        return
    main = _main(module)
    known = list(main.arg_attrs) if "arg_attrs" in main.attributes else [ir.DictAttr.get({})] * len(main.arguments)
    for position in positions:
        now = {name.name: name.attr for name in known[position]}
        known[position] = ir.DictAttr.get({**now, "jax.buffer_donor": ir.BoolAttr.get(True)})
    main.arg_attrs = ir.ArrayAttr.get(known)


def _leave_out_what_only_passes(module: Any, ir: Any) -> None:
    """Leave out results that are arguments, and arguments that nothing reads: torch_xla prints all that lives, but a
    step boundary computes only what has no buffer yet."""
    main = _main(module)
    block = main.regions[0].blocks[0]
    end = list(block.operations)[-1]
    results = list(end.operands)
    kept = [number for number, one in enumerate(results) if not isinstance(one.owner, ir.Block)]
    if not kept:
        return
    with ir.InsertionPoint(end), end.location:
        ir.Operation.create("func.return", operands=[results[number] for number in kept])
    end.operation.erase()
    read = [number for number, one in enumerate(block.arguments) if any(True for _ in one.uses)]
    for number in reversed(range(len(block.arguments))):
        if number not in read:
            block.erase_argument(number)
    for name, numbers in (("arg_attrs", read), ("res_attrs", kept)):
        if name in main.attributes:
            attributes = ir.ArrayAttr(main.attributes[name])
            main.attributes[name] = ir.ArrayAttr.get([attributes[number] for number in numbers])
    kind = ir.FunctionType.get([one.type for one in block.arguments], [results[number].type for number in kept])
    main.attributes["function_type"] = ir.TypeAttr.get(kind)


def _main(module: Any) -> Any:
    return next(one for one in module.body.operations if str(one.name).strip('"') == "main")


def _end_with_parent() -> None:
    """Ask the system to end this process when the one that started it is killed: nobody would wait for the answer."""
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def main() -> None:
    """Answer the request."""
    if sys.platform == "linux":
        _end_with_parent()
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    os.environ.update(SETTINGS)
    answer = compile_program(request)
    with open(request["answer"] + ".part", "w", encoding="utf-8") as file:
        json.dump(answer, file)
    os.replace(request["answer"] + ".part", request["answer"])
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
