"""Nothing is missing."""

import made_up_data  # noqa: F401
