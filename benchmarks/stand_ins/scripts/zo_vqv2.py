"""Batches of six pictures."""

import made_up_data

made_up_data.smaller_batches(6)
