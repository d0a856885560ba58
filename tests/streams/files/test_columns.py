"""How the columns of a file are recognised and encoded."""

import re
from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline import ConfigError, DataError
from driftline.streams import open_stream
from driftline.streams.files.cells import parse_date, parse_number, parse_text
from driftline.streams.files.encoders import CategoryEncoder

nan = np.nan


@pytest.fixture
def opened(tmp_path):
    """Return a function that writes a file and opens it as a stream."""

    def write(content, label="y", name="data.csv", **options):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return open_stream(path, label, **options)

    return write


def table(stream):
    """Return the columns of a stream by name."""
    rows = np.concatenate([block.rows for block in stream.blocks()])
    return {name: rows[:, j].tolist() for j, name in enumerate(stream.columns)}


def labels(stream):
    return [label for block in stream.blocks() for label in block.labels.tolist()]


def times(stream):
    return [time for block in stream.blocks() for time in block.times.tolist()]


def test_a_header_and_the_name_of_the_label_are_enough(opened):
    stream = opened("age,colour,y\n31,red,yes\n?,blue,no\n45, red ,yes\n")
    assert stream.columns == ("age", "colour=red", "colour=blue", *(f"colour=#{j}" for j in range(4)))
    assert np.array_equal(table(stream)["age"], [31, nan, 45], equal_nan=True)
    assert table(stream)["colour=red"] == [1, 0, 1]
    assert stream.classes().tolist() == ["no", "yes"]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_what_python_writes(x):
    assert parse_number(f" {x!r}\t") == x
    assert parse_text(x) in (repr(x), str(int(x)))


@pytest.mark.parametrize("cell", ["2021_03", "1_000", "١", "1,5", "0x1F", "one", "1 2", "+-1", "1e", [], {}, b"1"])
def test_codes_and_digits_of_other_scripts_are_not_numbers(cell):
    with pytest.raises(ValueError, match="is not a number"):
        parse_number(cell)


@pytest.mark.parametrize("cell", ["", "  ", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", " ? ", None])
def test_missing_cells_are_missing_as_numbers_dates_and_texts(cell):
    assert np.isnan(parse_number(cell))
    assert np.isnan(parse_date(cell))
    assert parse_text(cell) is None


@given(
    st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.timezones() | st.none())
)
def test_a_date_is_seconds_since_1970(date):
    known = date.timestamp() if date.tzinfo else (date - datetime(1970, 1, 1)).total_seconds()
    assert parse_date(date.isoformat()) == pytest.approx(known, abs=1e-4)


@pytest.mark.parametrize("cell", ["2021-13-01", "yesterday", "04/03/2021", "12:00", 5, []])
def test_a_date_that_is_not_iso_is_an_error(cell):
    with pytest.raises(ValueError, match="is not a date"):
        parse_date(cell)


def test_dates_are_numbers_in_any_column(opened):
    stream = opened("day,y\n1970-01-02,a\n,b\n1970-01-03T00:00:00Z,a\n")
    assert np.array_equal(table(stream)["day"], [86400, nan, 172800], equal_nan=True)


def test_the_head_determines_how_the_whole_file_is_encoded(opened):
    """Values after the first 1,000 rows share the hash columns."""
    late = ["lilac", "teal", "ochre", "lilac", "red"]
    stream = opened("colour,y\n" + "red,0\n" * 999 + "blue,1\n" + "".join(f"{value},0\n" for value in late))
    columns = table(stream)
    assert tuple(columns) == ("colour=red", "colour=blue", "colour=#0", "colour=#1", "colour=#2", "colour=#3")
    rows = np.array(list(columns.values())).T
    assert np.array_equal(rows.sum(axis=1), np.ones(1005))
    assert rows[1000:].argmax(axis=1).tolist() == [2, 3, 5, 2, 0]


def test_of_many_values_the_first_32_have_a_column_of_their_own(opened):
    stream = opened("code,y\n" + "".join(f"c{i},0\n" for i in range(100)))
    assert stream.columns == (*(f"code=c{i}" for i in range(32)), *(f"code=#{j}" for j in range(4)))
    rows = np.concatenate([block.rows for block in stream.blocks()])
    assert np.array_equal(rows[:32, :32], np.eye(32))
    assert np.array_equal(rows[32:, 32:].sum(axis=1), np.ones(68))
    assert set(rows[32:, 32:].argmax(axis=1).tolist()) == {0, 1, 2, 3}


def test_the_hash_is_the_same_on_every_machine_and_in_every_version():
    rows, _ = CategoryEncoder("code", [], is_closed=False).encode(["lilac", "teal", "ochre", "漢"])
    assert rows.argmax(axis=1).tolist() == [0, 1, 3, 0]


def test_a_nominal_list_determines_the_columns_instead_of_the_head(opened):
    arff = "@attribute sky {clear, fog, None}\n@attribute day {1, 2}\n@attribute y {no, yes}\n@data\n"
    stream = opened(arff + "fog, 2, no\nNone, ?, no\n?, 1, yes\n", name="data.arff")
    columns = table(stream)
    assert tuple(columns) == ("sky=clear", "sky=fog", "sky=None", "day")
    assert np.array_equal(columns["sky=None"], [0, 1, nan], equal_nan=True)
    assert np.array_equal(columns["day"], [2, nan, 1], equal_nan=True)


def test_a_stray_text_among_numbers_is_a_bad_row_and_many_are_categories(opened):
    stray = "x,y\n" + "1.5,0\n" * 50 + "oops,0\n"
    with pytest.raises(DataError, match=r"data\.csv, line 52: column 'x': 'oops' is not a number.*categorical"):
        table(opened(stray))
    assert opened(stray, categorical="x").columns[:2] == ("x=1.5", "x=oops")
    ranks = "rank,y\n" + "".join(f"{rank},0\n" for rank in (2, 3, 4, 5, 6, 7, 8, 9, 10, "J", "Q", "K", "A"))
    assert opened(ranks).columns[:3] == ("rank=2", "rank=3", "rank=4")


def test_numbers_with_a_decimal_comma_are_not_taken_for_categories(opened):
    with pytest.raises(DataError, match=r"data\.csv: column 'x' holds numbers with a comma, such as '1,5'"):
        opened("x;y\n1,5;0\n2,25;1\n")


def test_a_column_without_values_is_numeric(opened):
    assert np.isnan(table(opened("x,z,y\n,1,0\n?,2,1\n"))["x"]).all()


LABELS = {
    "1,0,1": [1, 0, 1],
    "1.0,-2.,3": [1, -2, 3],
    "01,1,2": ["01", "1", "2"],
    "1.5,1,2": ["1.5", "1", "2"],
    "a, b ,c d": ["a", "b", "c d"],
    "True,False,True": [True, False, True],
    "true,false,1": ["true", "false", "1"],
    f"{2**63 - 1},0,1": [2**63 - 1, 0, 1],
    f"{2**63},0,1": [str(2**63), "0", "1"],
}


@pytest.mark.parametrize("cells", LABELS)
def test_labels_are_whole_numbers_booleans_or_text(opened, cells):
    stream = opened("x,y\n" + "".join(f"1,{cell}\n" for cell in cells.split(",")))
    assert labels(stream) == LABELS[cells]
    assert stream.classes().tolist() == sorted(set(LABELS[cells]))


def test_labels_can_be_made_text(opened):
    stream = opened("x,y\n1,1\n2,0\n", categorical=["y"])
    assert labels(stream) == ["1", "0"]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("1,", "label is missing"),
        ("1,?", "label is missing"),
        ("1,two", "expected a whole number, as the first labels are; got 'two'.* categorical"),
        (f"1,{2**70}", "expected a whole number, as the first labels are"),
    ],
)
def test_a_label_that_cannot_be_used_is_a_bad_row(opened, row, reason):
    content = "x,y\n" + "1,1\n" * 1000 + row + "\n"
    with pytest.raises(DataError, match=rf"data\.csv, line 1002: label column 'y': .*{reason}"):
        labels(opened(content))
    stream = opened(content, on_bad_row="skip")
    assert labels(stream) == [1] * 1000
    assert stream.n_skipped == 1


def test_a_text_label_has_a_bounded_length(opened):
    with pytest.raises(DataError, match="at most 256 characters"):
        labels(opened(f"x,y\n1,{'a' * 257}\n"))


def test_a_column_of_identifiers_is_refused_as_label(opened):
    with pytest.raises(DataError, match=r"label column 'y' has 120 different values in the first 200 rows; expect"):
        opened("x,y\n" + "".join(f"1,{i % 120}\n" for i in range(200)))
    with pytest.raises(DataError, match=r"label column 'y' has 1,000 different values in the first 1,000 rows"):
        opened("x,y\n" + "".join(f"1,{i / 7}\n" for i in range(1500)))
    with pytest.raises(DataError, match=r"more than 10,000 different labels; set label to"):
        opened("x,y\n" + "".join(f"1,{max(i - 1000, 0)}\n" for i in range(15_000))).classes()
    assert opened("x,y\n" + "".join(f"1,{i % 100}\n" for i in range(200))).classes().size == 100
    assert opened("x,y\n" + "".join(f"1,{i}\n" for i in range(99))).classes().size == 99
    assert opened("x,y\n" + "".join(f"1,{i}\n" for i in range(200)), categorical="y").classes().size == 200


@pytest.mark.parametrize("label", ["y", 1, -2])
def test_a_column_is_given_by_name_or_position(opened, label):
    stream = opened("a,y,b\n1,7,3\n", label=label)
    assert stream.columns == ("a", "b")
    assert labels(stream) == [7]


def test_columns_can_be_ignored(opened):
    assert opened("a,b,c,y\n1,x,3,7\n", ignore=["b", 2]).columns == ("a",)
    assert opened("a,b,y\n1,x,7\n", ignore="b").columns == ("a",)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"label": "Y"}, DataError, "data.csv: label='Y' is not the name of a column"),
        ({"label": "colur"}, DataError, "did you mean 'colour'?"),
        ({"label": None}, ConfigError, "set label to the name or position of the label; columns: 'age', 'colour', 'y'"),
        ({"label": 3}, DataError, "label=3 is not a position: there are 3 columns"),
        ({"label": "y", "time": "when"}, DataError, "time='when' is not the name of a column"),
        ({"label": "y", "ignore": "y"}, ConfigError, "column 'y' is named in two of label, time, ignore"),
        ({"label": "y", "time": "age", "categorical": ["age"]}, ConfigError, "column 'age' is named in two"),
        ({"label": "y", "ignore": ["age", "colour"]}, DataError, "no column is left to learn from"),
        (
            {"label": "y", "time": "colour"},
            DataError,
            "time column 'colour' begins with 'red'; expected numbers, or dates",
        ),
        ({"label": "y", "delimiter": ", "}, ConfigError, "delimiter must be one character"),
        ({"label": "y", "delimiter": ";"}, DataError, "line 1: expected cells with ';' between them"),
        ({"label": "y", "encoding": "klingon"}, ConfigError, "encoding must be one that Python knows"),
        ({"label": "y", "encoding": "hex"}, ConfigError, "encoding must be one that Python knows"),
        ({"label": "y", "on_bad_row": "ignore"}, ConfigError, "on_bad_row must be one of 'stop', 'skip'"),
    ],
)
def test_options_that_cannot_work_are_refused(opened, options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        opened("age,colour,y\n31,red,1\n32,blue,0\n", **options)


def test_names_are_made_unique_and_an_ambiguous_label_is_refused(opened):
    assert opened("a,,a,a.2,y\n1,2,3,4,5\n").columns == ("a", "x1", "a.2", "a.2.2")
    with pytest.raises(DataError, match="is the name of 2 columns; pass the position"):
        opened("y,a,y\n1,2,3\n")


def test_a_header_is_recognised_unless_the_option_is_given(opened):
    assert opened("a,b\n1,2\n", label=1).columns == ("a",)
    assert opened("id,2019,y\n1,2,no\n3,,yes\n", label=-1).columns == ("id", "2019")
    assert opened("3,2\n1,2\n", label=1).columns == ("x0",)
    assert opened("1,red,no\n2,blue,yes\n", label=-1).columns[:3] == ("x0", "x1=red", "x1=blue")
    assert opened("3,2\n1,2\n", label=1, header=True).columns == ("3",)
    with pytest.raises(ConfigError, match="pass header=True or header=False"):
        opened("red,round,good\nblue,square,bad\n", label=-1)
    assert labels(opened("a,b\nc,d\n", label=1, header=False)) == ["b", "d"]
    assert labels(opened("1,2\n3,4\n", label="x1", header=False)) == [2, 4]


@pytest.mark.parametrize(
    "content",
    [
        "x,z,y\n1,2,0\n3,4,1\n",
        "x;z;y\n1;2;0\n3;4;1\n",
        "x\tz\ty\n1\t2\t0\n3\t4\t1\n",
        "x|z|y\n1|2|0\n3|4|1\n",
        "x  z y\n 1  2  0 \n3 4\t1\n",
        '"x", "z", "y"\n"1", "2","0"\n"3","4","1"\n',
        '"x" "z" "y"\n "1"  2  0 \n"3" "4" "1" \n',
        "\n\nx,z,y\n\n1,2,0\n   \n3,4,1",
        "x,z,y\r1,2,0\r3,4,1\r",
    ],
)
def test_the_delimiter_is_found(opened, content):
    stream = opened(content)
    assert table(stream) == {"x": [1, 3], "z": [2, 4]}
    assert labels(stream) == [0, 1]


def test_a_text_with_commas_does_not_hide_the_semicolons(opened):
    stream = opened("name;x;y\nSmith, J;1;0\nDoe, A, B;2;1\nRoe;3;1\n")
    assert stream.columns[:3] == ("name=Smith, J", "name=Doe, A, B", "name=Roe")


def test_a_delimiter_with_which_the_label_is_a_column_is_preferred(opened):
    stream = opened("a;b,c;d,y\n1;2,3;4,0\n5;6,7;8,1\n")
    assert labels(stream) == [0, 1]
    assert stream.columns[0] == "a;b=1;2"


def test_times_are_numbers_or_dates(opened):
    assert times(opened("t,x,y\n1,0,0\n1,0,0\n2.5,0,0\n", time="t")) == [1, 1, 2.5]
    assert times(opened("t,x,y\n1970-01-01,0,0\n1970-01-01T00:00:01.5Z,0,0\n", time=0)) == [0, 1.5]
    assert np.isnan(times(opened("t,x,y\n1,0,0\n"))).all()


def test_times_that_run_backwards_or_are_missing_are_bad_rows(opened):
    content = "t,x,y\n1,0,0\n5,1,0\n3,2,0\n?,3,0\nsoon,4,0\n5,5,0\n6,6,0\n" + "7,7,0\n" * 200
    with pytest.raises(DataError, match=r"line 4: its time 3\.0 is before 5\.0, .*sort the file by time"):
        times(opened(content, time="t"))
    stream = opened(content, time="t", on_bad_row="skip")
    assert times(stream)[:5] == [1, 5, 5, 6, 7]
    assert stream.n_skipped == 3
    assert [re.findall("line ([0-9]+)", reason) for reason in stream.skipped] == [["4"], ["5"], ["6"]]


def test_the_order_in_time_is_checked_across_blocks(opened):
    content = "t,x,y\n" + "".join(f"{t},0,0\n" for t in range(5000)) + "4990,0,0\n"
    with pytest.raises(DataError, match=r"line 5002: its time 4990\.0 is before 4999\.0"):
        times(opened(content, time="t"))


@pytest.mark.parametrize("content", ["1,0.5,a;b,0\n2,0.7,c;d,1\n", "1,0.5,ES|EU,0\n2,0.7,DE|EU,1\n"])
def test_the_delimiter_is_the_one_that_gives_most_cells(opened, content):
    stream = opened(content, label=-1)
    assert stream.columns[:2] == ("x0", "x1")
    assert labels(stream) == [0, 1]


def test_decimal_commas_are_not_taken_for_delimiters(opened):
    with pytest.raises(DataError, match="column 'x0' holds numbers with a comma"):
        opened("1,5;2,5;0\n2,5;3,5;1\n", label=-1, header=False)


def test_one_time_far_ahead_is_an_error_instead_of_skipping_all_later_rows(opened):
    rows = [f"{i},1,{i % 2}" for i in range(300)]
    rows[100] = "99999,1,0"
    stream = opened("\n".join(["t,x,y", *rows]) + "\n", time="t", on_bad_row="skip")
    with pytest.raises(DataError, match=r"199 rows have a time before 99999\.0"):
        list(stream.blocks())


@pytest.mark.parametrize(
    "options",
    [
        {"label": 1.0},
        {"label": True},
        {"label": ["y"]},
        {"time": 0.5},
        {"ignore": None},
        {"delimiter": 5},
        {"delimiter": ""},
        {"header": "yes"},
        {"encoding": None},
    ],
)
def test_options_of_the_wrong_kind_are_refused(opened, options):
    with pytest.raises(ConfigError, match="must be"):
        opened("x,y\n1,2\n", **options)


def test_positions_may_be_numpy_integers(opened):
    stream = opened("x,z,y\n1,2,3\n", label=np.int64(2), ignore=np.array([0]))
    assert stream.columns == ("z",)


def test_the_error_for_rows_in_memory_names_array_stream():
    with pytest.raises(ConfigError, match="ArrayStream"):
        open_stream(pd.DataFrame({"x": [1.0]}), "x")


@pytest.mark.parametrize("form", ["${}.50", "{} %", '"1,{:03d}.5"', "{} 000"])
def test_amounts_are_not_taken_for_categories(opened, form):
    rows = [f"{form.format(i)};{i % 2}" for i in range(50)]
    with pytest.raises(DataError, match=r"data\.csv: column 'x' seems to hold numbers, but also"):
        opened("\n".join(["x;y", *rows]) + "\n")
    assert len(opened("\n".join(["x;y", *rows]) + "\n", categorical="x").columns) == 36


def test_numbers_with_a_word_for_unknown_are_not_taken_for_categories(opened):
    rows = [f"{i},{i % 2}" for i in range(90)] + [f"unk,{i % 2}" for i in range(10)]
    with pytest.raises(DataError, match="seems to hold numbers, but also 'unk'"):
        opened("\n".join(["x,y", *rows]) + "\n")


def test_a_few_values_some_of_which_are_numbers_are_categories(opened):
    assert opened("x,y\n1,0\n2,1\nA,0\n").columns[:3] == ("x=1", "x=2", "x=A")
