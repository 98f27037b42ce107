"""tpulint for editors: a language server."""
