"""Nothing is missing."""
