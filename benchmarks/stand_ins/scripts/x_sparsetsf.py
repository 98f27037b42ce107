"""Hours of three series, as a table."""

import made_up_data  # noqa: F401
import made_up_tables

made_up_tables.hourly("made/table.csv", 330, 3)
