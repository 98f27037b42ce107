"""Processes: what starts them, what they share, and what differs between them."""
