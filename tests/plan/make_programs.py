"""Writes programs for the compiler, as torch_xla would: ``python make_programs.py FOLDER``, with a Python that has jax.

Each stands for what a compiler may say: it compiles, it is too large, an operator is refused.
"""

import sys
from pathlib import Path

from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

SIDE = 120_000
"""So many rows and columns in f32 are 57.6 GB: more than a v5e has."""


def program(type_: str, operation: str, folder: Path) -> str:
    """One operation, called by line 22 of a script."""
    place = f'loc("aten__mm"("{folder}/train.py":22:0))'
    return (
        f"module @m {{ func.func @main(%arg0: {type_}) -> {type_} {{\n"
        f"%0 = stablehlo.{operation} {place}\nreturn %0 : {type_} }} }}\n"
    )


def product(type_: str) -> str:
    """A matrix with itself."""
    return f"dot_general %arg0, %arg0, contracting_dims = [1] x [0] : ({type_}, {type_}) -> {type_}"


def main(folder: Path) -> None:
    """Write all of them."""
    small, large, whole, double = (
        f"tensor<{sides}x{dtype}>"
        for sides, dtype in (
            ("256x256", "f32"), (f"{SIDE}x{SIDE}", "f32"), ("256x256", "i64"), ("256x256", "complex<f64>"),
        )
    )  # fmt: skip
    texts = {
        "fits": program(small, f"add %arg0, %arg0 : {small}", folder),
        "large": program(large, product(large), folder),
        "whole_numbers": program(whole, product(whole), folder),
        "spectrum": program(double, f"fft %arg0, type = FFT, length = [256] : ({double}) -> {double}", folder),
        "kernel": program(small, f"custom_call @a_gpu_kernel(%arg0) : ({small}) -> {small}", folder),
    }
    # As torch_xla prints it where values wait on the device: it returns them, and reads them nowhere.
    texts["waiting"] = (
        f"module @m {{ func.func @main(%arg0: {large}, %arg1: {small}) -> ({large}, {small}, {small}) {{\n"
        f"%0 = stablehlo.add %arg1, %arg1 : {small}\nreturn %arg0, %0, %arg1 : {large}, {small}, {small} }} }}\n"
    )
    for name, text in texts.items():
        with mlir.make_ir_context():
            code = stablehlo.serialize_portable_artifact(ir.Module.parse(text), stablehlo.get_minimum_version())
        (folder / name).write_bytes(code)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
