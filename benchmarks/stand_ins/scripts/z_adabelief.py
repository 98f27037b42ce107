"""None of a library that is not called."""

import made_up_data  # noqa: F401
import modules

modules.put("adabound", AdaBound=modules.Anything)


class Plain:
    RED = BLUE = GREEN = YELLOW = RESET = RESET_ALL = BRIGHT = ""


modules.put("colorama", Fore=Plain, Back=Plain, Style=Plain)
modules.put("tabulate", tabulate=lambda *_, **__: "")
