"""A service that is missing."""

import made_up_data  # noqa: F401
import modules

modules.put("setproctitle")
