"""What counts operations."""

import modules

modules.put("thop")
