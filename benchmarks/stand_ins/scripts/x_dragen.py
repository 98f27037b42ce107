"""Smaller batches, and a method of iterators that older versions had."""

import made_up_data

made_up_data.smaller_batches(16)
