"""How the columns of a file are understood: times and identifiers are not learned from, and the user is told."""

import io
import itertools
import sys
import uuid
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline.errors import ConfigError
from driftline.streams import ColumnWarning, open_stream
from driftline.streams.files.columns import Finding, examine_numbers, examine_texts

N = 300


def table(**columns):
    """Return a CSV file with these columns and a label."""
    columns |= {"y": [t % 2 for t in range(len(next(iter(columns.values()))))]}
    lines = [",".join(map(str, cells)) for cells in zip(*columns.values(), strict=True)]
    return "\n".join([",".join(columns), *lines]) + "\n"


@pytest.fixture
def mixed(tmp_path):
    """A file with a time, identifiers of three kinds, and columns to learn from."""
    rng = np.random.default_rng(0)
    path = tmp_path / "mixed.csv"
    path.write_text(
        table(
            when=[f"2026-03-{1 + t // 24:02d}T{t % 24:02d}:00:00" for t in range(N)],
            epoch=(1_700_000_000 + np.cumsum(rng.integers(1, 50, N))).tolist(),
            row=range(1, N + 1),
            key=[uuid.UUID(int=int(rng.integers(2**60))) for _ in range(N)],
            account=rng.permutation(np.arange(10_000_000, 10_000_000 + N)).tolist(),
            mm=["" if t % 10 == 3 else round(x, 3) for t, x in enumerate(rng.normal(size=N).tolist())],
            sky=["clear" if x else "fog" for x in rng.integers(2, size=N)],
            unit=["m"] * N,
        )
    )
    return path


def quietly(path, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)
        return open_stream(path, *arguments, **options)


def test_times_and_identifiers_are_left_out_with_a_warning_each(mixed):
    with pytest.warns(ColumnWarning) as caught:
        stream = open_stream(mixed, "y")
    assert [name.partition("=")[0] for name in stream.columns if "#" not in name] == ["mm", "sky", "sky", "unit"]
    said = [str(warning.message).partition(": ")[2] for warning in caught]
    assert said[0] == (
        "column 'when' only rises, so it looks like time and is not used: pass time='when' to use it as the time, or "
        "use='when' to learn from it"
    )
    assert [text.split("'")[1] for text in said] == ["when", "epoch", "row", "key", "account"]
    assert said[2] == "column 'row' numbers the rows and is not used: pass use='row' to learn from it"


def test_columns_are_described_with_what_they_are(mixed):
    columns = {column.name: column for column in quietly(mixed, "y").describe_columns()}
    assert {name: (column.role, column.kind, column.finding) for name, column in columns.items()} == {
        "when": ("not used", "date", "only rises"),
        "epoch": ("not used", "numeric", "only rises"),
        "row": ("not used", "numeric", "numbers the rows"),
        "key": ("not used", "categorical", "unique in every row"),
        "account": ("not used", "numeric", "unique in every row"),
        "mm": ("feature", "numeric", None),
        "sky": ("feature", "categorical", None),
        "unit": ("feature", "categorical", "constant"),
        "y": ("label", None, None),
    }
    assert (columns["mm"].missing, columns["sky"].n_values, columns["y"].example) == (0.1, 2, "0")


def test_columns_that_the_user_names_are_used_as_named(mixed):
    options = {"time": "epoch", "use": ["row", "account"], "ignore": "key"}
    with pytest.warns(ColumnWarning, match="column 'when' only rises.*: pass use='when' to learn from it"):
        stream = open_stream(mixed, "y", **options)
    assert stream.columns[:3] == ("row", "account", "mm")
    roles = {column.name: column.role for column in stream.describe_columns()}
    assert (roles["epoch"], roles["key"], roles["row"], roles["when"]) == ("time", "ignored", "feature", "not used")
    block = next(stream.blocks())
    assert block.rows[:3, 0].tolist() == [1.0, 2.0, 3.0]
    assert block.times[0] > 1.7e9
    assert quietly(mixed, "y", categorical="row").columns[0] == "row=1"
    with pytest.raises(ConfigError, match="column 'row' is named in two of label, time, ignore, categorical and use"):
        open_stream(mixed, "y", use="row", ignore="row")


def test_a_pipe_has_the_same_rows_as_the_file(mixed, monkeypatch):
    expected = [block.rows for block in quietly(mixed, "y").blocks()]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(mixed.read_bytes())))
    stream = quietly("-", "y")
    assert len(stream.describe_columns()) == 9
    assert np.array_equal(np.concatenate([block.rows for block in stream.blocks()]), *expected, equal_nan=True)


def test_a_short_file_and_a_file_with_nothing_else_are_used_as_they_are(mixed, recwarn):
    short = mixed.with_name("short.csv")
    short.write_text("\n".join(mixed.read_text().splitlines()[:100]) + "\n")  # a header and 99 rows
    assert {"when", "epoch", "row", "account", "mm"} < set(open_stream(short, "y").columns)
    only = mixed.with_name("only.csv")
    only.write_text(table(row=range(N)))
    assert open_stream(only, "y").columns == ("row",)
    assert not recwarn.list


def test_the_table_shows_special_columns_and_only_the_first_of_many_others(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "wide.csv"
    columns = {f"x{j}": rng.normal(size=N).round(3) for j in range(60)}
    path.write_text(table(**columns, row=range(N), one=["\x1b[2J"] * N))
    shown = str(quietly(path, "y").describe_columns())
    lines = shown.splitlines()
    assert len(lines) == 1 + 20 + 3 + 1
    assert lines[-1] == "… and 40 more features"
    assert "constant so far" in shown
    assert "not used, numbers the rows" in shown
    assert "\x1b" not in shown


def test_parquet_dates_that_repeat_look_like_time(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    days = np.datetime64("2026-01-01") + np.arange(N) // 24
    path = tmp_path / "days.parquet"
    pq.write_table(pa.table({"day": days, "x": np.arange(N) % 7, "y": np.arange(N) % 2}), path)
    stream = quietly(path, "y")
    assert stream.columns == ("x",)
    assert stream.describe_columns()[0].kind == "date"


floats = st.floats(-1e6, 1e6)


@given(st.lists(floats, min_size=100, max_size=150))
def test_a_finding_agrees_with_its_definition_by_pairs(values):
    array = np.array(values)
    found = examine_numbers(array, is_date=False)
    pairs = list(itertools.pairwise(values))
    is_whole = all(value == int(value) for value in values)
    if found == Finding.RISING:
        assert all(a <= b for a, b in pairs)
        assert len(set(values)) >= 0.95 * len(values) if is_whole else all(a < b for a, b in pairs)
    if found in (Finding.IDENTIFIER, Finding.ROW_NUMBERS):
        assert is_whole
        assert len(set(values)) == len(values)
    assert (found == Finding.CONSTANT) == (len(set(values)) == 1)


@given(st.lists(st.integers(0, 3), min_size=100, max_size=300), st.floats(0.01, 1.0))
def test_a_slowly_rising_sensor_with_repeats_is_kept(steps, unit):
    values = unit * np.cumsum([0.5, *steps, 0])
    found = examine_numbers(values, is_date=False)
    assert found is None or len(np.unique(values)) == 1 or np.array_equal(values, np.rint(values))
    on_time = examine_numbers(values, is_date=True)
    assert on_time == (Finding.RISING if max(steps) > 0 else Finding.CONSTANT)


@pytest.mark.parametrize("seed", range(5))
def test_measurements_are_kept(seed):
    rng = np.random.default_rng(seed)
    for values in (
        rng.normal(size=1000),  # all different, not whole
        rng.integers(0, 50_000, 1000),  # whole numbers that repeat
        np.floor(rng.lognormal(12, 3, 1000)),  # bytes: wide range, may not repeat
        np.floor(rng.uniform(0, 1e9, 1000)),
        np.sort(rng.integers(0, 500, 1000)),  # a counter with repeats
        rng.choice(70_000, 120, replace=False) + 20_000,  # salaries, which need not repeat in so few rows
        rng.choice(900_000, 1000, replace=False) + 100_000,  # prices of houses
    ):
        assert examine_numbers(values.astype(float), is_date=False) is None


@pytest.mark.parametrize("seed", range(5))
def test_identifiers_are_found_also_if_they_are_shuffled_or_random(seed):
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(5000)[:500].astype(float)
    accounts = rng.choice(90_000_000, 500, replace=False) + 10_000_000.0
    assert examine_numbers(shuffled, is_date=False) == Finding.IDENTIFIER
    assert examine_numbers(accounts, is_date=False) == Finding.IDENTIFIER
    assert examine_texts(96, 100) == Finding.IDENTIFIER
    assert examine_texts(99, 99) is None
