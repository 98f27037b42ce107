"""Libraries that training does without."""

import made_up_data  # noqa: F401
import modules

modules.put("gpytorch.lazy")
modules.put("gpytorch.distributions")
modules.put("tabulate", tabulate=lambda *_, **__: "a\nb\nc")
