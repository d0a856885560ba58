"""Layout files: written, edited and read again."""

import tomllib
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline.errors import ConfigError, DataError
from driftline.streams import ColumnWarning, open_stream
from driftline.streams.files.layout_file import COMMENTS, read_layout, write_layout

texts = st.text(st.characters(codec="utf-8"), max_size=12)
columns = st.one_of(texts, st.integers(-99, 99))
layouts = st.fixed_dictionaries(
    {},
    optional={
        "label": columns,
        "time": columns,
        "ignore": st.lists(columns, max_size=4),
        "categorical": st.lists(columns, max_size=4),
        "numeric": st.lists(columns, max_size=4),
        "header": st.booleans(),
        "delimiter": texts,
        "encoding": texts,
    },
)


@given(layouts)
def test_what_is_written_is_read_again(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("layout") / "my.toml"
    write_layout(path, values)
    assert read_layout(path) == values
    assert tomllib.loads(path.read_text(encoding="utf-8"))["version"] == 1
    assert path.read_text(encoding="utf-8").count("\n# ") == len(values)


@pytest.fixture
def log(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{t};{1.7e9 + 60 * t:.0f};{t % 5};{x:.2f};{'ab'[t % 2]}" for t, x in enumerate(rng.normal(size=200))]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(['id;when;"a code";x;class', *lines]) + "\n")
    return path


def same(one, other):
    return all(
        np.array_equal(a.rows, b.rows)
        and np.array_equal(a.labels, b.labels)
        and np.array_equal(a.times, b.times, equal_nan=True)
        for a, b in zip(one.blocks(), other.blocks(), strict=True)
    )


def test_a_stream_opened_with_its_layout_is_the_same_without_warnings(log, recwarn):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)
        stream = open_stream(log, "class", time="when", categorical="a code")
    layout = log.with_name("log.toml")
    stream.write_layout(layout)
    values = read_layout(layout)
    assert (values["label"], values["time"], values["ignore"]) == ("class", "when", ["id"])
    assert (values["categorical"], values["numeric"], values["delimiter"]) == (["a code"], ["x"], ";")
    again = open_stream(log, layout=layout)
    assert again.columns == stream.columns
    assert same(again, stream)
    assert not recwarn.list
    layout.write_text(layout.read_text().replace('["id"]', "[]").replace('["x"]', '["x", "id"]'))
    assert open_stream(log, layout=layout).columns[0] == "id"


def test_a_file_without_a_header_is_described_by_positions(log):
    bare = log.with_name("bare.csv")
    bare.write_text(log.read_text().partition("\n")[2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)
        stream = open_stream(bare, -1, header=False)
    stream.write_layout(log.with_name("bare.toml"))
    values = read_layout(log.with_name("bare.toml"))
    assert (values["label"], values["header"], values["numeric"]) == (4, False, [2, 3])
    assert same(open_stream(bare, layout=log.with_name("bare.toml")), stream)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "version must be 1, .* got None"),
        ("version = 2", "version must be 1, .* got 2"),
        ("version = 1\nlable = 'x'", f"'lable' is no key of a layout; expected {', '.join(COMMENTS)}"),
        ("version = 1\nignore = 'x'", r"ignore must be a list of names or positions of columns.* got 'x'"),
        ("version = 1\nlabel = 1.5", "label must be the name or the position of a column; got 1.5"),
        ("version = 1\nheader = 1", "header must be true or false; got 1"),
        ("version = 1\ndelimiter = 1", "delimiter must be a text; got 1"),
        ("version = ", "my.toml is not a layout in TOML: Invalid value"),
    ],
)
def test_a_wrong_layout_is_an_error_that_names_file_and_key(tmp_path, text, message):
    path = tmp_path / "my.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message) as error:
        read_layout(path)
    assert "my.toml" in str(error.value)


def test_a_layout_that_does_not_fit_the_file_is_an_error(log):
    layout = log.with_name("log.toml")
    layout.write_text('version = 1\nlabel = "x"\nnumeric = ["class"]\ncategorical = ["id"]\n')
    with pytest.raises(DataError, match="column 'class' begins with 'a'; expected numbers or dates, since the layout"):
        open_stream(log, layout=layout, label="a code")
    layout.write_text('version = 1\nlabel = "class"\nnumeric = ["y"]\n')
    with pytest.raises(
        DataError, match=r"numeric='y' is not the name of a column.*\(the layout .*log\.toml names columns too\)"
    ):
        open_stream(log, layout=layout)
    with pytest.raises(ConfigError, match=r"cannot open the layout .*gone\.toml"):
        open_stream(log, layout=log.with_name("gone.toml"))
