"""Where plots and weights go."""

import made_up_data  # noqa: F401
