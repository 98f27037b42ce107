"""Functions: which one a call runs, what it is given, and what it gives back."""
