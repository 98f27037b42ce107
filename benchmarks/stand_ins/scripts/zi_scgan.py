"""Nothing is missing; older Python's iterators had ``next``."""

import made_up_data  # noqa: F401
