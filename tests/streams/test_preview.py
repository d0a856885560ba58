"""What a notebook shows of a stream."""

import os
import re
import threading

import numpy as np
import pytest

from driftline.streams import ArrayStream, NpzStream, RangeScaled, RotatingGaussians, load, open_stream
from helpers.csv_stream import write_rows

HOSTILE = "<img src=x onerror=alert(1)>"


def cells(html):
    """Return the texts of the cells, row by row."""
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", html)]


def test_the_first_rows_are_shown_with_times_columns_and_labels():
    html = load("flights")._repr_html_()
    header, *rows = cells(html)
    assert "8,857 rows, 12 columns; 2 classes: late, on time" in html
    assert header[:3] == ["time", "carrier", "minutes"]
    assert header[-2:] == ["…", "label"]
    assert [row[0] for row in rows[:2]] == ["2013-01-01 06:00 UTC", "2013-01-01 06:30 UTC"]
    assert len(rows) == 5
    assert {len(row) for row in rows} == {len(header)} == {11}


def test_rows_without_times_and_missing_values_have_no_text():
    html = ArrayStream([[1.5, np.nan]], ["yes"], name="one")._repr_html_()
    assert cells(html) == [["x0", "x1", "label"], ["1.5", "", "yes"]]
    assert "1 row, 2 columns; 1 classes: yes" in html


def test_the_columns_of_a_file_are_shown_as_a_table_too(tmp_path):
    (tmp_path / "my.csv").write_text("<b>,class\n1,yes\n2,no\n1,yes\n")
    columns = open_stream(tmp_path / "my.csv", "class").describe_columns()
    assert cells(columns._repr_html_())[1:] == [
        ["&lt;b&gt;", "numeric", "", "1"],
        ["class", "label, 2 values", "", "yes"],
    ]


def test_as_text_a_stream_has_its_kind_name_and_size():
    assert repr(ArrayStream([[1.5, 2.0]], ["yes"], name="one")) == "ArrayStream(one: 1 row, 2 columns)"
    assert repr(load("flights")).endswith("(flights: 8,857 rows, 12 columns)")


def test_no_name_or_label_is_interpreted():
    columns = [HOSTILE, "\x1b[31m", "a" * 1000]
    stream = ArrayStream(np.ones((2, 3)), [HOSTILE, "b" * 1000], name=HOSTILE, columns=columns)
    for each in (stream, RangeScaled(stream)):
        html = each._repr_html_()
        assert "<img" not in html
        assert "&lt;img src=x onerror=alert(1)&gt;" in html
        assert "\\x1b[31m" in html
        assert "a" * 41 not in html
        assert "b" * 41 not in html


def test_colours_are_those_of_the_page():
    html = load("flights")._repr_html_()
    assert not re.search("color|background|<script|<style", html)


def test_showing_a_file_does_not_change_what_is_known_of_it(tmp_path):
    path = tmp_path / "my.csv"
    write_rows(path)
    path.write_text(path.read_text().replace("red", "red,", 1))
    stream = open_stream(path, "class", on_bad_row="skip")
    html = stream._repr_html_()
    assert "rows not counted yet" in html
    assert len(cells(html)) == 6
    assert (stream.n_skipped, stream.n_rows) == (0, None)
    n = sum(len(block.rows) for block in stream.blocks())
    assert (stream.n_skipped, stream.n_rows) == (1, n)
    assert "299 rows" in stream._repr_html_()
    assert (stream.n_skipped, len(stream.skipped)) == (1, 1)
    stream.classes()
    assert "2 classes: moving, still" in stream._repr_html_()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_not_read(tmp_path):
    write_rows(tmp_path / "my.csv")
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=[(tmp_path / "my.csv").read_bytes()])
    writer.start()
    stream = open_stream(path, "class")
    assert cells(stream._repr_html_()) == []
    assert sum(len(block.rows) for block in stream.blocks()) == 300
    writer.join()


def test_a_file_that_is_gone_is_shown_without_rows(tmp_path):
    np.savez(tmp_path / "a.npz", X=[[1.0], [2.0]], y=[0, 1])
    stream = NpzStream(tmp_path / "a.npz")
    assert cells(stream._repr_html_())[1:] == [["1", "0"], ["2", "1"]]
    (tmp_path / "a.npz").unlink()
    html = stream._repr_html_()
    assert "2 rows, 1 column" in html
    assert cells(html) == []


def test_rows_that_are_drawn_are_shown():
    stream = RotatingGaussians().stream(100, seed=0)
    header, first, *_ = cells(stream._repr_html_())
    block = next(stream.blocks())
    assert header == ["time", "x0", "x1", "label"]
    assert first == ["1", *(f"{value:.6g}" for value in block.rows[0]), str(block.labels[0])]


def test_a_stream_of_another_kind_is_shown_without_rows():
    class Other:
        name, columns, n_rows = "other", ("a",), 1

        def blocks(self, start=0):
            yield from ArrayStream([[1.0]], [0]).blocks(start)

        def classes(self):
            return np.array([0])

    assert "other" in RangeScaled(Other())._repr_html_()
