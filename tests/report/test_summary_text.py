"""The summary in sentences is true and grammatical for any evaluation."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline.errors import ConfigError
from driftline.evaluation import Change, Comparison, Shift, ShiftKind, Summary, Timeline
from driftline.evaluation.metrics import METRICS
from driftline.guarantees import Alarm, AlarmKind
from driftline.report import ReportEntry, summary_sentences
from driftline.report.analysis import Analysis
from driftline.report.formatting import format_mean_bound, format_pair, format_percent, format_points
from driftline.report.summary_text import analysis_sentences
from helpers.report_entries import entry

SUMMARY = Summary(
    stream="weather",
    model="AMRC",
    n_rows=18_159,
    n_classes=2,
    error=0.192,
    expected_error=0.222,
    majority_error=0.314,
    no_change_error=0.32,
    kappa=0.5,
    kappa_no_change=0.4,
    mean_bound=0.287,
    bound_statuses={"ok": 18_159},
    window=500,
    windows_above_bound=0.0,
    windows_above_bound_deterministic=0.0,
    mistakes=3_481,
    expected_mistakes=4_032.3,
    mistake_bound=5_535.2,
    bounds_held=True,
    delta=0.05,
    n_unlearned=0,
    n_skipped=0,
    seconds=1.0,
    predict_seconds=0.5,
    learn_seconds=0.5,
    rows_per_second=18_159.0,
)
VISIBILITY = Change(
    8_064,
    float("nan"),
    18_159,
    2_048,
    17.0,
    0.17,
    0.2,
    (Shift(ShiftKind.LOCATION, "visibility", 0, 10.0952, 15.8517, 17.0),),
)
SHARE = Change(
    900,
    float("nan"),
    18_159,
    256,
    11.0,
    0.1,
    0.2,
    (Shift(ShiftKind.CLASS_SHARE, None, "spam", 0.008, 0.855, 11.0),),
)


def analysis(
    changes=(), ranking=(), unranked=(), *, name="amrc", finished=True, has_columns=True, others=(), **figures
):
    timeline = Timeline(["visibility"])
    timeline.has_columns = has_columns
    first = ReportEntry(name, replace(SUMMARY, **figures), timeline, finished)
    return Analysis((first, *others), list(changes), list(ranking), list(unranked))


def sentences_of(*args, **kwargs):
    return analysis_sentences(analysis(*args, **kwargs))


def test_a_usual_run_has_four_sentences():
    assert sentences_of([VISIBILITY]) == [
        "On 18,159 rows of weather, amrc made 3,481 mistakes (19.2%); always predicting the most frequent class would "
        "be wrong 31.4% of the time, and repeating the previous label 32.0%.",
        "Before each label was seen, it gave an upper bound on the probability of a mistake, 28.7% on average; the "
        "bound applies to predictions drawn at random from its probabilities, which would be wrong 22.2% of the time.",
        "In total, the bound allows at most 5,535 such mistakes with 95% confidence, and 4,032 were expected; the "
        "bound held in all 36 windows of 500 rows.",
        "The stream changed after row 8,064, when the median of visibility in class 0 went from 10.1 to 15.9.",
    ]


STATED = {
    "error_interval": (0.18, 0.2),
    "error_level": 0.05,
    "answered": 0.861,
    "answered_error": 0.0491,
    "coverage_level": 0.9,
    "set_coverage": 0.9012,
    "set_size": 1.104,
}
ALARM = Alarm(AlarmKind.RISE, 4358, 4331, 100, 15, 0.1, 0.055, (("rain", "wind", 7.0), ("dry", "heat", 4.0)))


def test_what_people_act_on_comes_first():
    first, *others = sentences_of([VISIBILITY], **STATED, alarms=(ALARM,), n_alarms=1)
    assert "made 3,481 mistakes (19.2%, between 18.0% and 20.0% whenever you look); always" in first
    assert others[:3] == [
        "Answering only where it is sure enough, it answers 86.1% of the rows and is wrong in 4.9% of them (5% "
        "allowed).",
        "Its sets of labels contain the true one in 90.1% of rows (90% asked for), with 1.10 labels on average.",
        "An alarm was raised at row 4,358, because the error had risen: it was 15.0% since about row 4,331, 5.5% "
        "before; wind in class rain and heat in class dry moved.",
    ]


@pytest.mark.parametrize(
    ("place", "figures", "text"),
    [
        (0, {"error_interval": (0.1, 0.15)}, "made 3,481 mistakes (19.2%); always"),
        (1, {"answered_error": None, "answered": 0.0}, "It is never sure enough of a row to answer it (5% allowed"),
        (1, {"error_level": {"fraud": 0.01}}, "4.9% of them (a share for each label allowed)."),
        (3, {}, "No alarm was raised."),
        (3, {"alarms": (ALARM,) * 3, "n_alarms": 1_200}, "moved; 1,199 more alarms followed."),
        (
            3,
            {"alarms": (replace(ALARM, kind=AlarmKind.TOLERATED, level=0.05),), "n_alarms": 1},
            "An alarm was raised at row 4,358, because the error exceeded 5%: it was 15.0%",
        ),
        (3, {"alarms": (replace(ALARM, error_before=float("nan"), moved=()),), "n_alarms": 1}, "about row 4,331."),
    ],
)
def test_guarantees_are_told_as_they_are(place, figures, text):
    assert text in sentences_of(**STATED | figures)[place]


def test_a_bound_that_is_void_is_not_given():
    sentences = sentences_of(mistake_bound=None, bounds_held=None)
    assert "Its bound on its error is void, because labels came late and it does not allow for that." in sentences
    assert not any("28.7" in sentence or "at most" in sentence for sentence in sentences)


def test_a_bound_near_guessing_is_called_uninformative():
    text = " ".join(sentences_of(mean_bound=0.46))
    assert "Its bound on the probability of a mistake is uninformative: on average hardly better than guessing." in text
    assert "46" not in text
    assert "at most" not in text
    near = replace(SUMMARY, mean_bound=0.46)
    assert format_mean_bound(near) == "uninformative"
    assert "mean bound uninformative (near guessing)" in str(near)
    assert "its bound did not hold on average" in str(replace(near, bounds_held=False))
    assert "did not hold" in " ".join(sentences_of(mean_bound=0.46, bounds_held=False))
    assert format_mean_bound(replace(near, n_classes=3)) == "46.0%"


@pytest.mark.parametrize(
    ("figures", "text"),
    [
        ({"n_rows": 1, "mistakes": 1, "error": 1.0}, "On 1 row of weather, amrc made 1 mistake (100.0%);"),
        ({"mistakes": 0, "error": 0.0}, "amrc made no mistakes (0.0%);"),
        ({"no_change_error": None}, "would be wrong 31.4% of the time."),
        ({"finished": False}, "The run was stopped after 18,159 rows of weather; up to there, amrc made 3,481 mis"),
        ({"finished": False, "n_rows": 1}, "The run was stopped after 1 row of weather; up to there, amrc"),
    ],
)
def test_the_first_sentence_gives_the_error(figures, text):
    assert text in sentences_of(**figures)[0]


@pytest.mark.parametrize(
    ("figures", "text"),
    [
        ({"windows_above_bound": 1 / 36}, "the bound was exceeded in 1 of 36 windows of 500 rows."),
        ({"windows_above_bound": 0.25}, "the bound was exceeded in 9 of 36 windows of 500 rows."),
        (
            {"windows_above_bound": None, "n_rows": 300},
            "there was no full window of 500 rows on which to check the bound.",
        ),
        ({"n_rows": 700}, "the bound held in the only full window of 500 rows."),
        ({"n_rows": 700, "windows_above_bound": 1.0}, "the bound was exceeded in the only full window of 500 rows."),
        ({"window": 1}, "held in all 18,159 windows of 1 row."),
        (
            {"mistake_bound": 1.2, "expected_mistakes": 0.9},
            "allows at most 1 such mistake with 95% confidence, and 1 was expected;",
        ),
        (
            {"bounds_held": False, "mistake_bound": 4_362.0},
            "On average the bound did not hold, so its sum says nothing about the total; the probabilities alone allow "
            "at most 4,362 such mistakes with 95% confidence, and 4,032 were expected;",
        ),
        ({"delta": 0.001}, "with 99.9% confidence"),
    ],
)
def test_the_third_sentence_says_whether_the_bound_held(figures, text):
    assert text in sentences_of(**figures)[2]


def test_the_lack_of_bounds_is_mentioned():
    sentences = sentences_of(mean_bound=None, mistake_bound=None, windows_above_bound=None, bound_statuses={})
    assert len(sentences) == 3
    assert sentences[1] == "It gives no bound on its error."


@pytest.mark.parametrize(("n", "text"), [(1, "(not valid for 1 row);"), (1_200, "(not valid for 1,200 rows);")])
def test_rows_without_a_bound_are_counted(n, text):
    assert text in sentences_of(bound_statuses={"ok": 5, "empty": n})[1]


def test_changes_are_named_with_the_largest_shift():
    assert sentences_of()[3] == "The stream is too short to search it for changes."
    assert sentences_of([replace(VISIBILITY, shifts=())])[3] == "The stream changed after row 8,064."
    assert sentences_of([SHARE, VISIBILITY])[3] == (
        "The stream changed after rows 900 and 8,064, mostly in the class shares and visibility; the "
        "largest was after row 8,064, when the median of visibility in class 0 went from 10.1 to 15.9."
    )
    assert sentences_of([SHARE])[3].endswith("when the share of class spam went from 0.8% to 85.5%.")
    dead = Shift(ShiftKind.MISSING, "wind", None, 0.0, 0.9, 9.0)
    other_class = Shift(ShiftKind.LOCATION, "visibility", 1, 10.0952, 14.0, 12.0)
    both = replace(VISIBILITY, shifts=(*VISIBILITY.shifts, other_class, dead))
    assert sentences_of([both])[3] == (
        "The stream changed after row 8,064, when the median of visibility in class 0 went from 10.1 to 15.9 and the "
        "share of missing values of wind went from 0.0% to 90.0%."
    )
    many = [replace(SHARE, row=k) for k in range(900, 905)]
    assert sentences_of(many)[3].startswith(
        "The strongest changes in the stream came after rows 900, 901, 902, 903 and 904, "
    )
    assert "too many columns" in sentences_of([SHARE], has_columns=False)[3]


@pytest.mark.parametrize(
    ("skipped", "unlearned", "text"),
    [
        (1, 0, "1 malformed row was skipped."),
        (3, 1, "3 malformed rows were skipped and 1 label had not arrived by the end."),
        (0, 20, "20 labels had not arrived by the end."),
    ],
)
def test_skipped_rows_and_missing_labels_come_last(skipped, unlearned, text):
    assert sentences_of(n_skipped=skipped, n_unlearned=unlearned)[-1] == text


def ranked(name, behind, p):
    return Comparison(name, 1.0, 0.2 + behind, behind, None, None, p, "error", 0.2 + behind, larger_is_better=False)


def by_measure(name, value, behind, by):
    return Comparison(name, 1.0, 0.2, behind, None, None, 0.01, by, value, METRICS[by].larger_is_better)


@pytest.mark.parametrize(
    ("by", "values", "text"),
    [
        (
            "average-precision",
            (0.46, 0.4),
            "Of the 2 classifiers compared, amrc had the highest average precision of spam (0.460), and dwm came "
            "second, 0.060 behind (statistically significant).",
        ),
        (
            "recall",
            (0.75, 0.70),
            "Of the 2 classifiers compared, amrc had the highest recall of spam (75.0%), and dwm came second, 5 "
            "percentage points behind (statistically significant).",
        ),
        (
            "log-loss",
            (0.25, None),
            "Of the 2 classifiers compared, amrc had the lowest log loss (0.250), and dwm has no log loss.",
        ),
        ("log-loss", (None, None), "No classifier has any log loss."),
    ],
)
def test_the_ranking_is_by_the_measure_that_was_asked_for(by, values, text):
    best, other = values
    behind = None if other is None else abs(best - other)
    ranking = [by_measure("amrc", best, 0.0, by), by_measure("dwm", other, behind, by)]
    found = replace(analysis(ranking=ranking, others=[analysis(name="dwm").first], positive="spam"), by=by)
    assert analysis_sentences(found)[4] == text


@pytest.mark.parametrize(
    ("ranking", "text"),
    [
        (
            [ranked("amrc", 0, None), ranked("dwm", 0.034, 0.001), ranked("rbp", 0.1, 0.001)],
            "Of the 3 classifiers compared, amrc had the lowest error (20.0%), and dwm came second, 3.4 percentage "
            "points behind (statistically significant).",
        ),
        (
            [ranked("dwm", 0, None), ranked("rbp", 0.01, 0.5), ranked("amrc", 0.02, 0.3)],
            "Of the 3 classifiers compared, dwm had the lowest error (20.0%), and amrc was 2 percentage points behind "
            "(not statistically significant).",
        ),
        (
            [ranked("amrc", 0, None), ranked("dwm", 0.0, 1.0)],
            "Of the 2 classifiers compared, amrc had the lowest error (20.0%), and dwm had the same error.",
        ),
        (
            [ranked("dwm", 0, None), ranked("amrc", 0.01, None)],
            "Of the 2 classifiers compared, dwm had the lowest error (20.0%), and amrc came second, 1 percentage point "
            "behind.",
        ),
    ],
)
def test_the_ranking_is_summarised(ranking, text):
    assert sentences_of(ranking=ranking, others=[analysis(name="dwm").first])[4] == text


def test_a_classifier_that_was_stopped_is_not_ranked():
    full, other, short = entry(), entry(name="rbp", seed=1), entry(300, name="dwm", finished=False)
    assert summary_sentences([full, short])[4] == (
        "The classifiers cannot be compared: dwm was stopped after 300 rows and is not ranked."
    )
    assert summary_sentences([full, other, short])[4].endswith("; dwm was stopped after 300 rows and is not ranked.")
    assert summary_sentences([short, full, other])[0].startswith("The run was stopped after 300 rows")


def test_invalid_entries_are_refused():
    with pytest.raises(ConfigError, match="at least one"):
        summary_sentences([])
    with pytest.raises(ConfigError, match="different names; got 'amrc' twice"):
        summary_sentences([entry(), entry()])
    with pytest.raises(ConfigError, match="same evaluation; got 100 and 600 rows"):
        summary_sentences([replace(entry(), timeline=entry(100).timeline)])


shares = st.floats(0, 1)
amounts = st.floats(0, 1e7)
shifts = st.builds(
    Shift,
    st.sampled_from(ShiftKind),
    st.sampled_from(["heat", "rain"]),
    st.sampled_from(["ham", True]),
    shares,
    shares,
    st.floats(5, 50),
)
changes = st.builds(
    Change,
    st.integers(1, 10**7),
    st.just(float("nan")),
    st.just(10**7),
    st.just(100),
    st.floats(5, 50),
    shares,
    shares,
    st.lists(shifts, max_size=2).map(tuple),
)
figures = st.fixed_dictionaries(
    {
        "n_rows": st.integers(1, 10**7),
        "error": shares,
        "expected_error": st.none() | shares,
        "majority_error": shares,
        "no_change_error": st.none() | shares,
        "mean_bound": st.none() | st.floats(-1, 1),
        "bound_statuses": st.just({}) | st.integers(1, 10**6).map(lambda n: {"empty": n}),
        "window": st.integers(1, 1000),
        "windows_above_bound": st.none() | shares,
        "mistakes": st.integers(0, 10**7),
        "expected_mistakes": st.none() | amounts,
        "mistake_bound": st.none() | amounts,
        "delta": st.sampled_from([0.5, 0.1, 0.05, 0.01]),
        "n_unlearned": st.integers(0, 10**6),
        "n_skipped": st.integers(0, 10**6),
    }
)


def numbers(text):
    return set(re.findall(r"-?\d{1,3}(?:,\d{3})+|-?\d+(?:\.\d+)?(?:e-?\d+)?", text))


def known_numbers(figures, changes, ranking):
    """Return all numbers that the sentences may contain, as they are formatted."""
    n_whole = figures["n_rows"] // figures["window"]
    above = figures["windows_above_bound"]
    written = [
        *(f"{figures[name]:,}" for name in ("n_rows", "window", "mistakes", "n_unlearned", "n_skipped")),
        *(f"{figures[name] or 0:,.0f}" for name in ("expected_mistakes", "mistake_bound")),
        *(format_percent(figures[name] or 0.0) for name in ("error", "expected_error", "majority_error", "mean_bound")),
        format_percent(figures["no_change_error"] or 0.0),
        f"{100 * (1 - figures['delta']):g}",
        *(f"{n:,}" for n in figures["bound_statuses"].values()),
        *(f"{n:,}" for n in (n_whole, round((above or 0.0) * n_whole), len(ranking))),
        *(f"{change.row:,}" for change in changes),
        *(format_percent(value) for change in changes for s in change.shifts for value in (s.before, s.after)),
        *(text for change in changes for s in change.shifts for text in format_pair(s.before, s.after)),
        *(text for each in ranking for text in (format_percent(each.error), format_points(each.behind))),
    ]
    return {number for text in written for number in numbers(text)}


@given(figures, st.lists(changes, max_size=5), st.booleans(), st.booleans())
def test_sentences_are_three_to_six_and_contain_only_known_numbers(figures, changes, is_compared, finished):
    ranking = [ranked("amrc", 0, None), ranked("dwm", 0.034, 0.01)] if is_compared else []
    others = [analysis(name="dwm").first] if is_compared else []
    sentences = sentences_of(changes, ranking, finished=finished, others=others, **figures)
    assert 3 <= len(sentences) <= 6
    for sentence in sentences:
        assert re.fullmatch(r"[A-Z0-9].*[^.]\.", sentence)
        assert not re.search(r"\.\s|None|nan|\s\s|\b1 (rows|labels|times|mistakes)\b", sentence)
        assert numbers(sentence) <= known_numbers(figures, changes, ranking), sentence


@pytest.mark.parametrize(
    ("figures", "text"),
    [
        ({}, "28.7%"),
        ({"bounds_held": False}, "failed"),
        ({"bounds_held": None, "mistake_bound": None}, "void"),
        ({"bounds_held": None, "mistake_bound": None, "mean_bound": None}, "–"),
    ],
)
def test_a_mean_bound_that_did_not_hold_is_not_shown(figures, text):
    assert format_mean_bound(replace(SUMMARY, **figures)) == text
