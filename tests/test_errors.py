import pickle

import pytest

from driftline.errors import ConfigError, DataError, DownloadError, DriftlineError, MissingExtraError, Parameter


@pytest.mark.parametrize(
    ("parameter", "python", "option"),
    [
        (Parameter("label"), "label", "--label"),
        (Parameter("label", "class"), "label='class'", "--label class"),
        (Parameter("label", "my class"), "label='my class'", "--label 'my class'"),
        (Parameter("label", 0), "label=0", "--label 0"),
        (Parameter("on_bad_row", "skip"), "on_bad_row='skip'", "--on-bad-row skip"),
        (Parameter("header", True), "header=True", "--header"),
        (Parameter("header", False), "header=False", "--no-header"),
    ],
)
def test_a_parameter_is_shown_as_python_or_as_an_option(parameter, python, option):
    assert str(parameter) == python
    assert parameter.as_option() == option


def test_a_message_keeps_its_parameters_where_another_error_quotes_it():
    inner = DataError("'time=5' is not a number; name it in ", Parameter("ignore"))
    error = ConfigError("my.csv: ", inner, " (", Parameter("on_bad_row", "skip"), ")")
    assert str(error) == "my.csv: 'time=5' is not a number; name it in ignore (on_bad_row='skip')"
    assert error.for_command_line() == "my.csv: 'time=5' is not a number; name it in --ignore (--on-bad-row skip)"
    assert str(DataError(f"my.csv: {inner}")) == "my.csv: 'time=5' is not a number; name it in ignore"


@pytest.mark.parametrize("kind", [DriftlineError, ConfigError, DataError, DownloadError, MissingExtraError])
def test_an_error_is_the_same_after_pickling(kind):
    for error in (kind("a text"), kind("column 3: ", DataError("a ", Parameter("label", "x")))):
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is kind
        assert str(copy) == str(error)
        assert copy.for_command_line() == error.for_command_line()
