"""Rules about an API that does not exist: what they find never changes with ours."""
