import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline.serve.problems import Problem
from driftline.serve.row_schema import Column, RowSchema

NUMBERS = st.one_of(st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.floats(-1e30, 1e30))


@given(st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=1, max_size=5))
def test_numbers_are_themselves_and_null_is_missing(rows):
    schema = RowSchema([Column(name, "number") for name in "abc"])
    expected = [[math.nan if cell is None else float(cell) for cell in row] for row in rows]
    assert np.array_equal(schema.encode(rows), expected, equal_nan=True)
    named = [dict(zip("abc", row, strict=True)) for row in rows]
    assert np.array_equal(schema.encode(named), expected, equal_nan=True)


def test_a_row_is_read_alike_alone_and_among_others():
    schema = RowSchema([Column("n", "number"), Column("when", "date"), Column("shop", "category", ("north", "south"))])
    rows = [
        {"n": 1.5, "when": "1970-01-02", "shop": "north"},
        {"shop": "elsewhere", "n": None},
        {"when": "1970-01-01T01:00:00Z", "n": 3, "shop": None},
    ]
    alone = np.concatenate([schema.encode([row]) for row in rows])
    assert np.array_equal(schema.encode(rows), alone, equal_nan=True)
    assert alone[0, :4].tolist() == [1.5, 86_400.0, 1.0, 0.0]
    assert np.nansum(alone[1]) == 1.0  # one of the columns that other values share
    assert np.isnan(alone[2, 2:]).all()


def test_the_first_rows_decide_what_columns_are():
    rows = [{"a": 1, "b": None, "c": "2026-01-01", "d": "x"}, {"a": 2.5, "d": " y ", "e": True, "c": None}]
    schema = RowSchema.from_rows(rows)
    assert [(column.name, column.kind) for column in schema.columns] == [
        ("a", "number"),
        ("b", "number"),
        ("c", "date"),
        ("d", "category"),
        ("e", "number"),
    ]
    assert schema.columns[3].values == ("x", "y")
    assert RowSchema.from_json(schema.to_json()).columns == schema.columns
    assert [column.name for column in RowSchema.from_rows([[1, 2], [3, 4]]).columns] == ["x0", "x1"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"a": math.nan}, "row 1, column 'a': got NaN; expected null"),
        ({"a": math.inf}, "row 1, column 'a'"),
        ({"a": 1e308}, "beyond 1e[+]30"),
        ({"a": 10**400}, "row 1, column 'a'"),
        ({"a": "three"}, "expected a number; 'three' is not a number"),
        ({"a": 1, "z": 2}, "row 1 has unknown columns"),
        ([1, 2], "row 1 has 2 values; expected 1"),
    ],
)
def test_rows_that_cannot_be_used_are_named(row, message):
    schema = RowSchema([Column("a", "number")])
    with pytest.raises(Problem, match=message):
        schema.encode([[1.0], row])


def test_rows_are_objects_or_arrays_and_have_values():
    with pytest.raises(Problem, match="all be objects, or all be arrays"):
        RowSchema.from_rows([{"a": 1}, [1]])
    with pytest.raises(Problem, match="at least one column"):
        RowSchema.from_rows([{}])
