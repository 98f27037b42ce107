"""What of Keras the library calls."""

import made_up_data  # noqa: F401
import modules


class Callback(modules.Anything):
    """Does nothing."""


class CallbackList(modules.Anything):
    """Knows its model."""

    def set_model(self, model):
        self.model = model


class History(Callback):
    """Keeps nothing."""

    history: dict = {}


modules.put(
    "tensorflow.python.keras.callbacks", CallbackList=CallbackList, EarlyStopping=Callback, ModelCheckpoint=Callback,
    History=History, Callback=Callback,
)  # fmt: skip
