"""Batches of 256 are written into the script."""

import made_up_data

made_up_data.smaller_batches(2)
