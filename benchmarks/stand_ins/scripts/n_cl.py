"""Libraries that are not installed."""

import made_up_data  # noqa: F401
