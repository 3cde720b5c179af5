"""What a drop-in raises by itself."""


class DropinError(RuntimeError):
    """The files beside model_new.py do not fit together."""
