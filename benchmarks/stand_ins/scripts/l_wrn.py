"""A logger that does nothing."""

import modules

modules.put("tensorboard_logger")
