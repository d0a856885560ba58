import sys

from driftline._progress import ProgressBar


def test_a_bar_goes_to_the_standard_error_of_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich's way of being told that there is a terminal
    with ProgressBar("reading", 10, unit="rows", shown=True) as bar:
        bar.advance(4, "error 25.0%")
        bar.advance(6)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "reading" in captured.err


def test_without_a_terminal_nothing_is_shown(capsys):
    with ProgressBar("reading", 10, unit="rows", shown=True) as bar:
        bar.advance(10)
    assert capsys.readouterr().err == ""


def test_a_bar_of_unknown_length_can_be_shown():
    with ProgressBar("downloading", None, unit="bytes", shown=True) as bar:
        bar.advance(4)


def test_without_rich_nothing_is_shown_and_nothing_fails(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "rich", None)
    with ProgressBar("reading", 10, unit="rows", shown=True) as bar:
        bar.advance(10)
    assert capsys.readouterr().err == ""


def test_a_bar_that_is_not_wanted_shows_nothing(capsys):
    with ProgressBar("reading", 10, unit="rows", shown=False) as bar:
        bar.advance(10)
    assert capsys.readouterr().err == ""
