"""No logs."""

import modules

modules.put("tensorboard_logger")
