"""Nothing is missing but a table of what came out."""

import made_up_data  # noqa: F401
import modules

modules.when_imported("plot", lambda module: setattr(module, "plot_results", lambda *_, **__: None))
