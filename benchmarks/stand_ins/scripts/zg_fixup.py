"""General stand-ins."""

import made_up_data  # noqa: F401
