import os
import sys
from types import SimpleNamespace

import pytest

from driftline.utils.progress import ProgressBar


def test_a_bar_goes_to_the_standard_error_of_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich's way of being told that there is a terminal
    with ProgressBar("reading", 10, unit="rows", shown=True) as bar:
        bar.advance(4, "error 25.0%")
        bar.advance(6)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "reading" in captured.err


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr("driftline.utils.progress.time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def test_without_a_terminal_short_work_says_nothing(capsys, clock):
    with ProgressBar("reading", 10, unit="rows", shown=True) as bar:
        bar.advance(4)
        clock.now = 59.0
        bar.advance(6)
    assert capsys.readouterr().err == ""


def test_without_a_terminal_long_work_says_a_line_a_minute(capsys, clock):
    with ProgressBar("reading", 10_000, unit="rows", shown=True) as bar:
        for _ in range(10):
            clock.now += 20.0
            bar.advance(1_000, "error 25.0%")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "reading: 3,000 of 10,000 rows, error 25.0%",
        "reading: 6,000 of 10,000 rows, error 25.0%",
        "reading: 9,000 of 10,000 rows, error 25.0%",
    ]


def test_a_line_of_work_of_unknown_length_says_what_is_done(capsys, clock):
    with ProgressBar("downloading", None, unit="bytes", shown=True) as bar:
        clock.now = 60.0
        bar.advance(4_096)
    assert capsys.readouterr().err == "downloading: 4,096 bytes\n"


def test_work_goes_on_if_nobody_listens(monkeypatch, clock):
    bar = ProgressBar("reading", 10, unit="rows", shown=True)
    clock.now = 60.0
    monkeypatch.setattr(sys, "stderr", None)
    bar.advance(5)
    with open(os.devnull) as not_to_be_written_to:
        clock.now = 120.0
        monkeypatch.setattr(sys, "stderr", not_to_be_written_to)
        bar.advance(5)


def test_without_rich_there_are_lines_on_a_terminal_too(capsys, clock, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setitem(sys.modules, "rich", None)
    with ProgressBar("reading", 10, unit="rows", shown=True) as bar:
        clock.now = 60.0
        bar.advance(10)
    assert capsys.readouterr().err == "reading: 10 of 10 rows\n"


def test_a_bar_that_is_not_wanted_shows_nothing(capsys, clock):
    with ProgressBar("reading", 10, unit="rows", shown=False) as bar:
        clock.now = 60.0
        bar.advance(10)
    assert capsys.readouterr().err == ""


@pytest.fixture
def notebook(monkeypatch):
    """What the page of a notebook shows: the element that was displayed, as it was each time."""
    shown = []
    handle = SimpleNamespace(update=lambda content, raw: shown.append(content))

    def display(content, raw, display_id):
        shown.append(content)
        return handle

    ipython = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=None))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    return shown


def test_in_a_notebook_one_element_is_updated_and_its_text_is_left(notebook, capsys, clock):
    with ProgressBar("<b>reading", 10_000, unit="rows", shown=True) as bar:
        for _ in range(100):
            clock.now += 0.125
            bar.advance(100, "error 25.0%")
    assert capsys.readouterr() == ("", "")
    assert notebook[0]["text/plain"] == "<b>reading: 0 of 10,000 rows"
    assert len(notebook) == 2 + 100 / 2  # every 0.2 seconds at most
    middle = notebook[10]
    assert 'value="2000" max="10000"' in middle["text/html"]
    assert middle["text/html"].endswith("&lt;b&gt;reading: 2,000 of 10,000 rows, error 25.0%</div>")
    assert notebook[-1]["text/html"] == "<div>&lt;b&gt;reading: 10,000 of 10,000 rows, error 25.0%</div>"


def test_in_a_notebook_work_of_unknown_length_has_a_bar_without_a_value(notebook):
    with ProgressBar("reading", None, unit="rows", shown=True) as bar:
        bar.advance(5)
    assert "<progress style" in notebook[0]["text/html"]
    assert notebook[-1]["text/plain"] == "reading: 5 rows"


def test_in_a_notebook_a_bar_that_is_not_wanted_shows_nothing(notebook):
    with ProgressBar("reading", 10, unit="rows", shown=False) as bar:
        bar.advance(10)
    assert notebook == []
