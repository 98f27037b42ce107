"""A library of colours of text, and a kind that einops asks for."""

import made_up_data  # noqa: F401
import modules


class _None:
    def __getattr__(self, _):
        return ""


modules.put("colorama", Fore=_None(), Style=_None())
modules.put("tensorflow", Tensor=modules.Anything, Variable=modules.Anything)
