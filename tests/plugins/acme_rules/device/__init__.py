"""Everything acme."""
