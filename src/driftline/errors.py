"""The errors that driftline raises. A message says what was expected, what was received and what to do."""

import shlex
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that an error message mentions, with a value if the message gives one.

    Messages show it as Python code; the command line shows it as an option.

    Attributes
    ----------
    name : str
        Name of the parameter.
    value : object, optional
        The value to show; None shows the name alone.

    Examples
    --------
    >>> print(Parameter("on_bad_row", "skip"), Parameter("label"))
    on_bad_row='skip' label
    >>> Parameter("on_bad_row", "skip").as_option(), Parameter("header", False).as_option()
    ('--on-bad-row skip', '--no-header')
    """

    name: str
    value: object = None

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value!r}"

    def as_option(self) -> str:
        """Return the parameter as an option of the command line."""
        name = self.name.replace("_", "-")
        if isinstance(self.value, bool):
            return f"--{name}" if self.value else f"--no-{name}"
        return f"--{name}" if self.value is None else f"--{name} {shlex.quote(str(self.value))}"


class DriftlineError(Exception):
    """Base of every error that driftline raises on purpose.

    Its arguments are the parts of the message: texts, the parameters that it mentions, and other errors that it quotes.

    Examples
    --------
    >>> error = DriftlineError("'time=5' is not a number (", Parameter("on_bad_row", "skip"), " skips such rows)")
    >>> print(error)
    'time=5' is not a number (on_bad_row='skip' skips such rows)
    >>> print(error.for_command_line())
    'time=5' is not a number (--on-bad-row skip skips such rows)
    """

    def __str__(self) -> str:
        return "".join(map(str, self.args))

    def for_command_line(self) -> str:
        """Return the message with parameters as options of the command line."""
        return "".join(map(_for_command_line, self.args))


def _for_command_line(part: object) -> str:
    if isinstance(part, Parameter):
        return part.as_option()
    return part.for_command_line() if isinstance(part, DriftlineError) else str(part)


class ConfigError(DriftlineError, ValueError):
    """A parameter has an invalid value."""


class PositiveLabelError(ConfigError):
    """The label that was chosen as the positive class does not occur in the stream."""


class DataError(DriftlineError, ValueError):
    """The data cannot be used; the call has not changed the model.

    One exception: if a row is rejected only while it is learned, by a custom feature map or by a classifier of another
    library, then the rows before it have been learned.
    """


class DataTypeError(DataError, TypeError):
    """A value in the data is of a type that is not a number."""


class CheckpointError(DriftlineError, ValueError):
    """A saved model cannot be written or read."""


class BusyError(CheckpointError):
    """Another process is working in a folder; the results that it has written are left unchanged."""


class MissingExtraError(DriftlineError, ImportError):
    """A package that only this feature needs is not installed; the message says how to install it."""


class DownloadError(DriftlineError, OSError):
    """A file cannot be downloaded; the message names it, its address and the folder to put it in by hand."""
