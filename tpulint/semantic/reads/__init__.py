"""Host reads: where a value of the device is fetched, and whether that can wait."""
