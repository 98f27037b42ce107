"""No colours, and plots that are not drawn."""

import made_up_data  # noqa: F401
import modules

modules.put("colorama", Fore=modules.Anything())
