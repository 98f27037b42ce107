"""Pictures are given to every script; nothing else is needed."""
