"""What values are, and on which side they live: kinds, where they come from, and where they go."""
