"""What the linter says, held against what scripts were seen to do on XLA."""
