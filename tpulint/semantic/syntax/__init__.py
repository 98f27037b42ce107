"""What follows from the text of a file alone: its tree, names, scopes, and which bindings reach a use."""
