"""A module of an older PyTorch."""

import made_up_data  # noqa: F401
import modules

modules.when_imported("torch", lambda torch: modules.put("torch._six", inf=torch.inf))
