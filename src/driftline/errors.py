"""The errors driftline raises: each says what was expected, what came, and what to do."""


class DriftlineError(Exception):
    """Base of every error that driftline raises on purpose."""


class ConfigError(DriftlineError, ValueError):
    """A parameter has a value that cannot work."""


class DataError(DriftlineError, ValueError):
    """The data handed in cannot be used; a model to which they were handed is as it was before the call.

    What only shows as rows are learned, a row that a feature map of the user's own or a classifier of another library
    cannot take, leaves those before it learned.
    """


class DataTypeError(DataError, TypeError):
    """A value in the data is of a type that is not a number."""


class CheckpointError(DriftlineError, ValueError):
    """A saved model cannot be written or read."""


class BusyError(CheckpointError):
    """Another process is at work in a folder; what it has done so far is left alone."""


class MissingExtraError(DriftlineError, ImportError):
    """A package that only this feature needs is not installed; the message says how to install it."""


class DownloadError(DriftlineError, OSError):
    """A file cannot be fetched; the message names it, its address and the folder to put it in by hand."""
