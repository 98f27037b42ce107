"""Nothing is missing but plots."""

import made_up_data  # noqa: F401
