"""The alarm: the formula, false alarms on streams without a rise, and rises that it must find."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline.errors import CheckpointError, ConfigError, DataError
from driftline.guarantees import AlarmKind, ErrorAlarm
from helpers.reference_guarantees import first_alarm
from helpers.saved_parts import check_saved
from helpers.strategies import seeds

settings_of_alarms = st.sampled_from(
    [{"tolerated": 0.1}, {"rise": 0.02}, {"rise": 0.0}, {"tolerated": 0.15, "rise": 0.1}, {"tolerated": 0.0}]
)


def changing(seed, n=700):
    """Mistakes of a rate that changes at a random row."""
    rng = np.random.default_rng(seed)
    before, after = rng.choice([0.05, 0.1, 0.2, 0.6], 2)
    return (rng.random(n) < np.where(np.arange(n) < rng.integers(n + 1), before, after)).astype(int)


@settings(max_examples=40)
@given(seeds, settings_of_alarms, st.sampled_from([0.001, 0.05, 0.5]))
def test_the_alarm_is_that_of_a_product_for_each_start(seed, parameters, delta):
    mistakes = changing(seed)
    watch, expected = ErrorAlarm(**parameters, delta=delta), first_alarm(mistakes, delta=delta, **parameters)
    alarm = watch.update(mistakes)
    if expected is None:
        assert alarm is None
        return
    kind, raised_at, since, level = expected
    assert (alarm.kind, alarm.raised_at, alarm.since) == (kind, raised_at, since)
    assert alarm.level == pytest.approx(level, rel=1e-6)
    assert (alarm.n_rows, alarm.n_wrong) == (len(mistakes) - since, mistakes[since:].sum())
    assert alarm.error == mistakes[since:].mean()
    if since > 0:
        assert alarm.rise == pytest.approx(mistakes[since:].mean() - mistakes[:since].mean())
    else:
        assert math.isnan(alarm.rise)


@settings(max_examples=40)
@given(seeds, settings_of_alarms, st.lists(st.integers(0, 150), max_size=10))
def test_grouping_and_saving_do_not_matter(seed, parameters, sizes):
    mistakes = changing(seed, sum(sizes))
    whole, parts, place, returned = ErrorAlarm(**parameters), ErrorAlarm(**parameters), 0, []
    whole.update(mistakes)
    for size in sizes:
        returned.append(parts.update(mistakes[place : place + size]))
        place += size
        saved, parts = parts.state(), ErrorAlarm(**parameters)
        check_saved(saved, parts, version=4)
        parts.restore(saved)
    assert all(np.array_equal(array, parts.state()[name]) for name, array in whole.state().items())
    assert whole.alarm == parts.alarm
    assert sum(alarm is not None for alarm in returned) == (whole.alarm is not None)


@given(seeds, settings_of_alarms)
def test_an_acknowledged_alarm_begins_anew(seed, parameters):
    first, second = changing(seed), changing(seed + 1)
    used, fresh = ErrorAlarm(**parameters), ErrorAlarm(**parameters)
    used.update(first)
    assert used.acknowledge() is None
    if not used.state()["counts"][1]:  # it was not raised, and acknowledging changed nothing
        untouched = ErrorAlarm(**parameters)
        untouched.update(first)
        assert all(np.array_equal(array, untouched.state()[name]) for name, array in used.state().items())
        return
    assert used.alarm is None
    used.update(second)
    fresh.update(second)
    assert (used.alarm is None) == (fresh.alarm is None)
    if fresh.alarm is not None:
        names = ("kind", "n_rows", "n_wrong", "level")
        assert all(getattr(used.alarm, name) == getattr(fresh.alarm, name) for name in names)
        assert used.alarm.since == fresh.alarm.since + len(first)
        assert used.alarm.raised_at == fresh.alarm.raised_at + len(first)


def share_of_alarms(make, parameters, n_streams, delta):
    alarms = [ErrorAlarm(**parameters, delta=delta).update(make(np.random.default_rng(s))) for s in range(n_streams)]
    return np.mean([alarm is not None for alarm in alarms])


def at_level(rng):
    return rng.random(5000) < 0.1


def below_level_in_bursts(rng):
    return rng.random(5000) < np.where(np.arange(5000) // 300 % 3 == 0, 0.1, 0.0)


def reacting(rng):
    """Mistakes at the tolerated rate only where there have been many, as if labels waited for their chance."""
    u, mistakes, lead = rng.random(5000), np.zeros(5000), 0.0
    for t in range(5000):
        rate = 0.1 if lead > -3 else 0.02
        mistakes[t] = u[t] < rate
        lead += mistakes[t] - rate
    return mistakes


def falling(rng):
    return rng.random(5000) < np.linspace(0.1, 0.02, 5000)


@pytest.mark.parametrize("parameters", [{"tolerated": 0.1}, {"rise": 0.0}, {"tolerated": 0.1, "rise": 0.0}])
@pytest.mark.parametrize("make", [at_level, below_level_in_bursts, falling, reacting])
def test_false_alarms_are_rare_on_streams_without_a_rise(make, parameters):
    """At a large δ, so that the test can fail. Bursts are a rise above the mean so far, which must be allowed."""
    if make in (below_level_in_bursts, reacting) and "rise" in parameters:
        parameters = parameters | {"rise": 0.1}
    assert share_of_alarms(make, parameters, 60 if make is reacting else 200, delta=0.3) <= 0.3


def test_a_level_that_is_exceeded_a_little_raises_more_alarms_than_allowed():
    """The counterpart of the test above."""
    assert share_of_alarms(at_level, {"tolerated": 0.09}, 50, delta=0.3) > 0.3


@pytest.mark.parametrize(
    ("before", "after", "rows", "parameters"),
    [
        (0.05, 0.15, 150, {"tolerated": 0.05}),
        (0.10, 0.13, 2500, {"tolerated": 0.10}),
        (0.05, 0.25, 200, {"rise": 0.05}),
    ],
)
def test_a_rise_is_found_in_time_and_its_start_and_size_are_about_right(before, after, rows, parameters):
    """See benchmarks/alarms.py for more change points and streams."""
    alarms = []
    for seed in range(60):
        n = np.arange(2000 + 4 * rows)
        watch = ErrorAlarm(**parameters)
        watch.update(np.random.default_rng(seed).random(len(n)) < np.where(n < 2000, before, after))
        alarms.append(watch.alarm)
    right = [alarm for alarm in alarms if alarm is not None and alarm.raised_at >= 2000]
    assert len(right) >= 54
    assert np.median([alarm.raised_at - 2000 for alarm in right]) <= rows
    assert abs(np.median([alarm.since - 2000 for alarm in right])) <= rows / 2
    assert np.median([alarm.rise for alarm in right]) == pytest.approx(after - before, rel=0.25)


def test_a_slow_rise_is_found_although_the_mean_error_follows_it():
    mistakes = np.random.default_rng(0).random(30_000) < np.linspace(0.05, 0.25, 30_000)
    assert ErrorAlarm(rise=0.05).update(mistakes).kind == AlarmKind.RISE


def test_a_raised_alarm_stays_and_goes_on_counting():
    watch = ErrorAlarm(tolerated=0.1)
    alarm = watch.update(np.r_[np.zeros(1000, int), np.ones(50, int)])
    assert (alarm.kind, alarm.since, alarm.n_rows, alarm.n_wrong, alarm.level) == (
        AlarmKind.TOLERATED,
        1000,
        50,
        50,
        0.1,
    )
    assert (alarm.error, alarm.error_before, alarm.rise) == (1.0, 0.0, 1.0)
    assert watch.update(np.zeros(50, bool)) is None
    later = watch.alarm
    assert (later.raised_at, later.since, later.n_rows, later.n_wrong) == (alarm.raised_at, 1000, 100, 50)
    assert later.error == 0.5


def test_with_both_tests_each_has_half_of_delta():
    mistakes = np.r_[np.zeros(3000, int), np.ones(30, int)]
    both = ErrorAlarm(tolerated=0.1, rise=0.5, delta=0.1).update(mistakes)
    assert both == ErrorAlarm(tolerated=0.1, delta=0.05).update(mistakes)
    assert both.raised_at > ErrorAlarm(tolerated=0.1, delta=0.1).update(mistakes).raised_at


def test_a_level_of_one_is_never_exceeded():
    assert ErrorAlarm(rise=0.95).update(np.ones(2000, int)) is None


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("counts", 3, 2),
        ("counts", 1, 9999),
        ("counts", 2, 9999),
        ("levels", 0, 0.2),
        ("evidence", (0, 0, 0), -1.0),
        ("evidence", (0, 0, 0), np.inf),
        ("starts", (0, 0, 0), -1),
    ],
)
def test_altered_files_are_refused(name, place, value):
    watch = ErrorAlarm(tolerated=0.1, rise=0.1)
    watch.update(np.zeros(100, int))
    arrays = watch.state()
    check_saved(arrays, watch, version=4)
    arrays[name][place] = value
    with pytest.raises(CheckpointError):
        check_saved(arrays, watch, version=4)


@pytest.mark.parametrize("start", [0, 99, 2**53])
@pytest.mark.parametrize("n_wrong", [0, 2**53])
def test_an_alarm_from_an_altered_file_has_possible_rows_and_mistakes(start, n_wrong):
    watch = ErrorAlarm(tolerated=0.1)
    watch.update(np.r_[np.zeros(100, int), np.ones(50, int)])
    watch.acknowledge()
    watch.update(np.ones(3, int))
    arrays = watch.state()
    arrays["evidence"][:] = 1e9
    arrays["starts"][:, 0], arrays["starts"][:, 1] = start, n_wrong
    check_saved(arrays, watch, version=4)
    watch.restore(arrays)
    alarm = watch.update(np.ones(5, int))
    assert 150 <= alarm.since <= alarm.raised_at
    assert 0 <= alarm.n_wrong <= alarm.n_rows
    assert math.isnan(alarm.error_before) or 0 <= alarm.error_before <= 1
    check_saved(watch.state(), watch, version=4)


def test_older_files_have_no_alarm():
    watch = ErrorAlarm(tolerated=0.1)
    check_saved({}, watch, version=2)
    watch.restore({})
    assert watch.alarm is None


def test_the_state_is_small():
    watch = ErrorAlarm(tolerated=0.5, rise=0.2)
    watch.update(np.zeros(50_000, int))
    assert sum(array.nbytes for array in watch.state().values()) < 1024


@pytest.mark.parametrize(
    "parameters",
    [{}, {"tolerated": 1.0}, {"tolerated": -0.1}, {"rise": 1}, {"rise": "5 %"}, {"rise": 0.1, "delta": 0}],
)
def test_wrong_parameters_are_refused(parameters):
    with pytest.raises(ConfigError):
        ErrorAlarm(**parameters)


@pytest.mark.parametrize("mistakes", [[0, 2], [0.5], [[0, 1]], [np.nan], ["wrong"], 1])
def test_wrong_mistakes_are_refused_and_change_nothing(mistakes):
    watch = ErrorAlarm(tolerated=0.1)
    before = watch.state()
    with pytest.raises(DataError, match="mistakes must be"):
        watch.update(np.array(mistakes))
    assert all(np.array_equal(array, before[name]) for name, array in watch.state().items())
