"""Only what every script is given."""

import made_up_data  # noqa: F401
