"""Batches of eight digits."""

import made_up_data

made_up_data.smaller_batches(8)
