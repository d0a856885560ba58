import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline import DataError
from driftline.streams.files.arff import Attribute, read_arff
from helpers.random_tables import quoted, texts

HEADER = """% weather in Bilbao
@RELATION 'the weather'

@attribute temperature NUMERIC   % degrees
@Attribute "wind speed" real
@attribute sky{clear,'partly cloudy', "sea mist"}
@attribute rain {no, yes}
@DATA
"""


def read(text, reject=None):
    attributes, rows = read_arff(io.StringIO(text), "weather.arff", reject)
    return attributes, list(rows)


def test_attributes_have_their_names_and_lists():
    attributes, rows = read(HEADER)
    assert attributes == (
        Attribute("temperature"),
        Attribute("wind speed"),
        Attribute("sky", ("clear", "partly cloudy", "sea mist")),
        Attribute("rain", ("no", "yes")),
    )
    assert rows == []


def test_rows_have_their_lines_and_missing_cells():
    _, rows = read(HEADER + "1,2,clear,no\n\n%comment\n ?, 3 ,'partly cloudy',yes\r\n")
    assert rows == [(9, ["1", "2", "clear", "no"]), (12, [None, "3", "partly cloudy", "yes"])]


def test_a_sparse_row_omits_zeros_and_first_values():
    _, rows = read(HEADER + "{}\n{1 2.5, 3 yes}\n{ 2 'sea mist' ,0 ? }\n")
    assert [cells for _, cells in rows] == [
        ["0", "0", "clear", "no"],
        ["0", "2.5", "clear", "yes"],
        [None, "0", "sea mist", "no"],
    ]


def test_string_and_date_attributes_are_text():
    text = '@attribute note string\n@attribute day date "yyyy-MM-dd"\n@data\n"a, b",2021-03-04\n'
    attributes, rows = read(text)
    assert attributes == (Attribute("note", is_text=True), Attribute("day", is_text=True))
    assert rows == [(4, ["a, b", "2021-03-04"])]


@given(st.data())
def test_what_is_written_is_read_back_dense_or_sparse(data):
    values = data.draw(st.lists(texts, min_size=1, max_size=4, unique=True))
    names = data.draw(st.lists(texts, min_size=2, max_size=2))
    cells = st.tuples(st.integers(-3, 3).map(str), st.none() | st.sampled_from(values))
    table = data.draw(st.lists(cells, max_size=5))
    header = (
        f"@attribute {quoted(names[0])} real\n"
        f"@attribute {quoted(names[1])} {{{','.join(map(quoted, values))}}}\n@data\n"
    )
    dense = "".join(f"{number},{quoted(value)}\n" for number, value in table)
    sparse = "".join(
        f"{{{', '.join(f'{j} {quoted(cell)}' for j, cell in enumerate(row) if cell not in ('0', values[0]))}}}\n"
        for row in table
    )
    for rows in (dense, sparse):
        attributes, found = read(header + rows)
        assert attributes == (Attribute(names[0]), Attribute(names[1], tuple(values)))
        assert found == [(line, list(row)) for line, row in enumerate(table, start=4)]


BAD_HEADERS = {
    "": "ended before",
    "@attribute a real\n": "ended before",
    "@data\n1\n": "there is none",
    "1,2\n": "line 1: expected @relation",
    "@attribute a\n@data\n": "line 1: expected '@attribute name type'",
    "@attribute 'a real\n@data\n": "line 1: expected '@attribute name type'",
    "@attribute a relational\n@data\n": "line 1: attribute 'a' is of type 'relational'",
    "@attribute a numeric {0.5}\n@data\n": "weights are not supported",
    "@attribute a {x, y\n@data\n": "quotes closed",
    "@attribute a {x, 'y}\n@data\n": "quotes closed",
    "@attribute a {x, y} {2}\n@data\n": "nothing after the list",
    "@attribute a {}\n@data\n": "none of them empty",
    "@attribute a {x, x}\n@data\n": "different values",
}

BAD_ROWS = {
    "1,2,clear": "expected 4 cells, one for each attribute; got 3",
    "1,2,clear,no,5": "expected 4 cells, one for each attribute; got 5",
    "1,2,clear,no,{5}": "weights are not supported",
    "1,2,foggy,no": "'foggy' is not in the list of attribute 'sky'",
    "1,2,'clear,no": "quotes closed",
    "1,2,'clear'x,no": "quotes closed",
    "{1 2": "must end with '}'",
    "{1 2}, {5}": "expected cells",
    "{4 1}": "there are 4, counted from 0",
    "{1 2, 1 3}": "twice",
    "{1}": "expected cells",
    "{one 2}": "expected cells",
    "{2 foggy}": "not in the list",
}


@pytest.mark.parametrize("text", BAD_HEADERS)
def test_a_header_that_cannot_be_read_stops_with_the_reason(text):
    with pytest.raises(DataError, match=r"weather\.arff") as caught:
        read(text, reject=lambda line, reason: None)
    assert BAD_HEADERS[text] in str(caught.value)


@pytest.mark.parametrize("row", BAD_ROWS)
def test_a_row_that_cannot_be_read_stops_with_its_line_or_is_left_out(row):
    with pytest.raises(DataError, match=r"weather\.arff, line 10: ") as caught:
        read(f"{HEADER}1,2,clear,no\n{row}\n")
    assert BAD_ROWS[row] in str(caught.value)
    rejected = []
    _, rows = read(f"{HEADER}1,2,clear,no\n{row}\n3,4,clear,yes\n", lambda *told: rejected.append(told))
    assert [line for line, _ in rows] == [9, 11]
    assert [line for line, _ in rejected] == [10]


def test_a_sparse_row_that_omits_text_is_refused():
    with pytest.raises(DataError, match="must not omit 'note'"):
        read("@attribute a real\n@attribute note string\n@data\n{0 1}\n")
