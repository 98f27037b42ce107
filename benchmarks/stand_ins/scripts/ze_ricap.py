"""Smaller batches."""

import made_up_data
import modules

made_up_data.smaller_batches(12)
modules.put("joblib")
