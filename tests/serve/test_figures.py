import json

from hypothesis import given, settings
from hypothesis import strategies as st

from driftline.serve.figures import FIRST_LENGTH, MAX_WINDOWS, Figures, Window


@settings(max_examples=20)
@given(st.integers(0, 3 * FIRST_LENGTH * MAX_WINDOWS), st.integers(0, 2**32))
def test_windows_are_few_and_lose_nothing(n_rows, seed):
    figures = Figures()
    for t in range(n_rows):
        wrong = (seed >> (t % 32)) & 1
        figures.add(Window(n_rows=1, n_wrong=wrong, time=float(t), classes={str(wrong): 1}))
    assert len(figures.windows) <= MAX_WINDOWS
    assert all(window.n_rows == figures.length for window in figures.windows[:-1])
    for name in ("n_rows", "n_wrong"):
        assert sum(getattr(window, name) for window in figures.windows) == getattr(figures.total, name)
    assert figures.total.n_rows == n_rows == sum(figures.total.classes.values())
    assert figures.total.classes.get("1", 0) == figures.total.n_wrong
    again = Figures.from_json(json.loads(json.dumps(figures.to_json())))
    assert again.windows == figures.windows
    assert again.total == figures.total


def test_bounds_are_those_at_the_end_of_a_window():
    figures = Figures()
    for t in range(FIRST_LENGTH * MAX_WINDOWS + 1):
        figures.add(Window(n_rows=1))
        if figures.is_window_full:
            figures.close_window(float(t), 0.1, 0.2)
    assert figures.length == 2 * FIRST_LENGTH
    assert [window.mistake_bound for window in figures.windows[:2]] == [31.0, 63.0]
    assert figures.windows[-1].mistake_bound is None


def test_rows_without_a_prediction_are_in_no_error():
    figures = Figures()
    for t in range(2 * FIRST_LENGTH):
        figures.add(Window(n_rows=1, n_predicted=int(t >= FIRST_LENGTH), n_wrong=int(t % 4 == 3 and t >= FIRST_LENGTH)))
    assert figures.errors(10) == [0.25]
