"""What a guard costs in a step, next to the other ways of finding the line of an operation.

Times are those of the processor for tracing a step on XLA:CPU: the device does nothing meanwhile. The variants take
turns; the least of the rounds counts. Run: ``python benchmarks/guard_cost.py``.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "runtime"))
os.environ.setdefault("PJRT_DEVICE", "CPU")
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")

WIDTH = 32


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()

    import torch
    import torch_xla
    from tpulint_runtime import RecompileGuard

    native: Any = torch_xla._XLAC
    device = torch_xla.device()
    layers = [
        torch.nn.TransformerEncoderLayer(WIDTH, 2, 64, batch_first=True, dropout=0.0) for _ in range(options.layers)
    ]
    model = torch.nn.Sequential(*layers).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    batch = {"x": torch.randn(2, 8, WIDTH).to(device), "y": torch.randn(2, 8, WIDTH).to(device)}
    torch_xla.sync()

    def train() -> Any:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(batch["x"]), batch["y"])
        loss.backward()
        optimizer.step()
        return loss

    def guarded(lines: bool) -> Callable[[], Any]:
        guard = RecompileGuard(warmup=10**6, lines=lines)

        def run() -> Any:
            with guard:
                guard.step(batch)
                return train()

        return run

    @contextmanager
    def ir_debug() -> Iterator[None]:
        native._set_ir_debug(True)
        try:
            yield
        finally:
            native._set_ir_debug(False)

    def with_ir_debug() -> Any:
        with ir_debug():
            return train()

    def hashed() -> Any:
        loss = train()
        native._get_graph_hash([loss, *model.parameters()])
        return loss

    def dumped() -> Any:
        loss = train()
        native._get_xla_tensors_hlo([loss, *model.parameters()])
        return loss

    variants = {
        "no guard": train, "guard": guarded(False), "guard, lines=True": guarded(True), "hash_graph": hashed,
        "XLA_IR_DEBUG": with_ir_debug, "text of the graph": dumped,
    }  # fmt: skip
    least = dict.fromkeys(variants, float("inf"))
    for number in range(options.rounds):
        for name, run in variants.items():
            started = time.process_time()
            loss = run()
            taken = time.process_time() - started
            torch_xla.sync(wait=True)
            del loss
            if number:
                least[name] = min(least[name], taken)
    for name, seconds in least.items():
        print(f"{name:20} {seconds * 1000:7.1f} ms  {seconds / least['no guard']:5.2f}")


if __name__ == "__main__":
    main()
