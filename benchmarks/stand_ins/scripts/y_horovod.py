"""A library that lets processes work together, for one process."""

import made_up_data  # noqa: F401
import modules

modules.put(
    "horovod.torch", init=lambda: None, rank=lambda: 0, size=lambda: 1, local_rank=lambda: 0,
    broadcast_parameters=lambda *_, **__: None, broadcast_optimizer_state=lambda *_, **__: None,
    DistributedOptimizer=lambda optimizer, **_: optimizer, allreduce=lambda tensor, **_: tensor,
)  # fmt: skip
