"""Four series of numbers, one each hour."""

import made_up_data  # noqa: F401
import made_up_tables

made_up_tables.hourly("made.csv", 200, 4)
