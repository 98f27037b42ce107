"""Pictures of noise are given to every script."""
