"""The progress bar is a submodule of the repository, and not in the snapshot."""

import made_up_data  # noqa: F401
