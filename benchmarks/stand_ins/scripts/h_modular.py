"""Batches that are small enough for few pictures."""

import made_up_data

made_up_data.smaller_batches(8)
