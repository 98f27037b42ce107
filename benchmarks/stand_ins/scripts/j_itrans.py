"""A table of four series by the hour."""

import made_up_data  # noqa: F401
import made_up_tables

made_up_tables.hourly("made/made.csv", 260, 4)
