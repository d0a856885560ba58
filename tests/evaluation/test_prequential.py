import signal
import threading
import time
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neural_network import MLPClassifier

from constant import Constant
from driftline import AMRC, CheckpointError, ConfigError, DataError
from driftline.evaluation import TimeDelay, evaluate, read_records
from driftline.evaluation.model_adapters import PartialFitAdapter
from driftline.evaluation.prequential import _parameters
from driftline.evaluation.records import TIMINGS
from driftline.evaluation.run_checkpoint import locked_folder
from driftline.streams import ArrayStream, RangeScaled, RotatingGaussians, open_stream
from driftline.types import Block
from helpers.quick_models import QUICK, assert_same, fourier, linear, plain, small_stream
from helpers.strategies import seeds


def logistic():
    return SGDClassifier(loss="log_loss", random_state=0)


class Listener(Constant):
    learned: ClassVar = []

    def partial_fit(self, X, y, classes=None, timestamps=None):
        self.learned.extend(X[:, 0].tolist())
        assert timestamps is None or (np.diff(timestamps) >= 0).all()


class Slow(Constant):
    def prequential(self, X, y, classes=None, timestamps=None):
        time.sleep(0.001 * len(X))
        return self.assess(X, y)


class Announced(Constant):
    needs_classes = True

    def prequential(self, X, y, classes=None, timestamps=None):
        self.announced = classes
        return self.assess(X, y)


def run(model, stream, folder, **options):
    return evaluate(model, stream, checkpoint=folder, progress=False, **options)


def said(folder):
    """The records without the times, which no two runs share."""
    return read_records(folder).drop_columns(list(TIMINGS)).to_pydict()


MODELS = {
    "amrc": linear,
    "fourier": fourier,
    "paper": lambda: plain(**QUICK),
    "sklearn": logistic,
    "randomised": lambda: linear(deterministic=False),
    "paper, randomised": lambda: plain(deterministic=False, **QUICK),
}
DELAYS = {"at once": 0, "late": 3, "varying": [0, 7, 1, 2, 9] * 20, "in time": TimeDelay(2.5)}


@pytest.mark.parametrize("delay", DELAYS)
@pytest.mark.parametrize(
    "model",
    [
        *("amrc", "paper", "sklearn", "randomised"),
        *(pytest.param(model, marks=pytest.mark.slow) for model in ("fourier", "paper, randomised")),
    ],
)
@settings(max_examples=2)
@given(seed=seeds, cut=st.integers(1, 58))
def test_shuffling_the_future_does_not_change_the_past(tmp_path_factory, model, delay, seed, cut):
    X, y = small_stream(seed)
    rng = np.random.default_rng(seed)
    increments = rng.exponential(size=60)
    order = np.concatenate([np.arange(cut), cut + rng.permutation(60 - cut)])
    changed = np.concatenate([increments[:cut], 100 * increments[cut:]])
    folders = [tmp_path_factory.mktemp("run") for _ in range(2)]
    for folder, rows, passed in zip(folders, [np.arange(60), order], [increments, changed], strict=True):
        stream = ArrayStream(X[rows], y[rows], np.cumsum(passed))
        run(MODELS[model](), stream, folder, delay=DELAYS[delay], classes=[0, 1])
    past, other = ({name: column[:cut] for name, column in said(folder).items()} for folder in folders)
    assert past == other


def test_what_is_recorded_is_what_was_said_before_the_label_was_learned(tmp_path):
    X, y = small_stream(n_classes=3)
    labels = np.array(["a", "b", "c"])[y]
    model, twin = plain(**QUICK), plain(**QUICK)
    evaluation = run(model, ArrayStream(X, labels), tmp_path)
    steps = list(twin.steps(X, labels))
    records = read_records(tmp_path).to_pydict()
    assert_same(model, twin)
    assert evaluation.model is model
    assert records["step"] == list(range(60))
    assert records["label"] == labels.tolist()
    assert records["prediction"] == [None, *(str(twin.classes_[step.prediction]) for step in steps[1:])]
    assert records["bound"] == [step.bound for step in steps]
    assert records["status"] == [step.status.value for step in steps]
    assert records["time"] == [None] * 60
    assert all(seconds > 0 for seconds in records["learn_seconds"])


def test_scikit_learn_is_asked_then_taught_row_by_row(tmp_path):
    X, y = small_stream(n_classes=3)
    run(logistic(), ArrayStream(X, y), tmp_path)
    records, twin = read_records(tmp_path).to_pydict(), logistic()
    twin.partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    assert records["prediction"][0] is None
    assert records["probability"][0] == 0.0
    for t in range(1, 60):
        assert records["prediction"][t] == twin.predict(X[t : t + 1])[0]
        assert records["probability"][t] == twin.predict_proba(X[t : t + 1])[0, y[t]]
        twin.partial_fit(X[t : t + 1], y[t : t + 1])
    assert records["bound"] == [None] * 60


@pytest.mark.parametrize(
    ("model", "has_probabilities"),
    [
        (SGDClassifier(random_state=0), False),
        (Perceptron(random_state=0), False),
        (GaussianNB(), True),
        (BernoulliNB(), True),
        (MLPClassifier(random_state=0), True),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning:sklearn")  # naive Bayes after one row
def test_classifiers_of_scikit_learn_are_evaluated(model, has_probabilities):
    X, y = small_stream(n_steps=200, n_classes=3)
    summary = evaluate(model, ArrayStream(X, np.array(["a", "b", "c"])[y]), progress=False).summary
    assert summary.error < summary.majority_error
    assert (summary.expected_error is not None) == has_probabilities
    assert summary.mean_bound is None


def test_a_fitted_classifier_goes_on_from_what_it_knows(tmp_path):
    X, y = small_stream()
    run(GaussianNB().fit(X, y), ArrayStream(X, y), tmp_path)
    assert read_records(tmp_path)["prediction"].null_count == 0


def test_late_labels_are_learned_after_so_many_rows(tmp_path):
    X, y = small_stream()
    model, twin, delay = plain(**QUICK), plain(**QUICK), 4
    evaluation = run(model, ArrayStream(X, y), tmp_path, delay=delay)
    records = read_records(tmp_path).to_pydict()
    for t in range(60):
        if t > delay:
            twin.partial_fit(X[t - delay - 1 : t - delay], y[t - delay - 1 : t - delay])
            answers = twin.assess(X[t : t + 1], y[t : t + 1])
            assert records["prediction"][t] == answers.predicted[0]
            assert records["bound"][t] == answers.bounds[0]
        else:
            assert records["prediction"][t] is None
        assert records["pending"][t] == min(t, delay)
    twin.partial_fit(X[55:56], y[55:56])
    assert_same(model, twin)
    assert evaluation.summary.n_unlearned == delay


@pytest.mark.parametrize("classes", [None, [0, 1]])
def test_no_delay_in_any_form_is_the_same(tmp_path, classes):
    X, y = small_stream()
    stream = ArrayStream(X, y, times=np.arange(60.0))
    forms = [0, np.zeros(60, int), TimeDelay(0.0), TimeDelay(np.zeros(60))]
    for i, delay in enumerate(forms):
        run(plain(**QUICK), stream, tmp_path / str(i), delay=delay, classes=classes)
    first, *others = (said(tmp_path / str(i)) for i in range(len(forms)))
    assert all(other == first for other in others)


def test_labels_that_overtake_each_other_are_learned_as_they_arrive(tmp_path):
    learned = Listener.learned
    learned.clear()
    X = np.arange(6.0)[:, None]
    evaluation = run(Listener(), ArrayStream(X, np.zeros(6, int)), tmp_path / "rows", delay=[3, 0, 1, 0, 5, 0])
    assert learned == [1.0, 0.0, 2.0, 3.0, 5.0]  # 0 and 2 and 3 are due after row 3, and 4 never
    assert evaluation.summary.n_unlearned == 1
    learned.clear()
    timed = ArrayStream(X, np.zeros(6, int), times=[0.0, 1.0, 2.0, 2.0, 5.0, 9.0])
    run(Listener(), timed, tmp_path / "times", delay=TimeDelay([3.0, 0.5, 2.0, 0.0, 4.0, 0.1]))
    assert learned == [1.0, 3.0, 0.0, 2.0, 4.0]


def test_times_reach_the_model_in_usual_increments(tmp_path):
    X, y = small_stream()
    hours = 3600.0 * np.arange(60)
    model, twin = plain(**QUICK), plain(**QUICK).partial_fit(X, y, timestamps=np.arange(60.0))
    evaluate(model, ArrayStream(X, y, times=hours), progress=False)
    assert_same(model, twin)
    in_days = plain(**QUICK)
    evaluate(in_days, ArrayStream(X, y, times=hours), time_unit=86400.0, progress=False)
    assert_same(in_days, plain(**QUICK).partial_fit(X, y, timestamps=hours / 86400.0))


def test_the_look_ahead_of_the_paper_is_a_stream(tmp_path):
    X, y = small_stream()
    model, twin = AMRC.paper(scaling="none", **QUICK), AMRC.paper(**QUICK).partial_fit(X, y)
    summary = evaluate(model, RangeScaled(ArrayStream(X, y)), progress=False).summary
    assert np.array_equal(model.predict_proba((X - X.min(axis=0)) / np.ptp(X, axis=0)), twin.predict_proba(X))
    assert summary.mistake_bound == twin.mistake_bound(0.05)


def test_a_limit_ends_the_run(tmp_path):
    X, y = small_stream()
    model = plain(**QUICK)
    assert run(model, ArrayStream(X, y), tmp_path, limit=23).summary.n_rows == 23
    assert_same(model, plain(**QUICK).partial_fit(X[:23], y[:23]))
    more = run(plain(**QUICK), ArrayStream(X, y), tmp_path, limit=40, resume=True)
    assert more.summary.n_rows == 40
    assert_same(more.model, plain(**QUICK).partial_fit(X[:40], y[:40]))


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="Ctrl-C is another thing on Windows")
@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_cleanly_with_what_is_there(tmp_path):
    X, y = small_stream(n_steps=1500)
    main = threading.main_thread().ident
    stopper = threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT))
    handler = signal.getsignal(signal.SIGINT)
    stopper.start()
    evaluation = run(Slow(), ArrayStream(X, y), tmp_path)
    assert signal.getsignal(signal.SIGINT) is handler
    assert not evaluation.finished
    assert 0 < evaluation.summary.n_rows < 1500
    assert read_records(tmp_path).num_rows == evaluation.summary.n_rows
    whole = run(Slow(), ArrayStream(X, y), tmp_path, resume=True)
    assert whole.finished
    assert read_records(tmp_path)["step"].to_pylist() == list(range(1500))


def test_an_evaluation_works_outside_the_main_thread():
    X, y = small_stream()
    results = []
    thread = threading.Thread(target=lambda: results.append(evaluate(Constant(), ArrayStream(X, y), progress=False)))
    thread.start()
    thread.join()
    assert results[0].finished


def test_a_row_that_the_model_refuses_is_named_and_records_before_it_are_kept(tmp_path):
    X, y = small_stream()
    X[40, 1] = np.nan
    with pytest.raises(DataError, match=r"the classifier cannot use rows? .* of arrays: .*it has missing values"):
        run(logistic(), ArrayStream(X, y), tmp_path)
    assert read_records(tmp_path).num_rows <= 40
    X[40, 1] = 0.0
    resumed = run(logistic(), ArrayStream(X, y), tmp_path, resume=True)
    assert resumed.summary.n_rows == 60
    assert np.array_equal(resumed.model.coef_, evaluate(logistic(), ArrayStream(X, y), progress=False).model.coef_)


def test_a_stream_that_fails_leaves_a_run_that_can_go_on(tmp_path):
    X, y = small_stream()

    class Failing(ArrayStream):
        def blocks(self, start=0):
            yield next(ArrayStream(X[:30], y[:30]).blocks(start))
            raise DataError("line 31 is malformed")

    with pytest.raises(DataError, match="line 31"):
        run(plain(**QUICK), Failing(X, y), tmp_path)
    assert read_records(tmp_path).num_rows == 30
    resumed = run(plain(**QUICK), ArrayStream(X, y), tmp_path, resume=True)
    assert_same(resumed.model, plain(**QUICK).partial_fit(X, y))


BAD_ARGUMENTS = {
    "limit must be": {"limit": 0},
    "window must be": {"window": 0},
    "delta must lie": {"delta": 1.0},
    "time_unit must be": {"time_unit": 0.0},
    "delay must be": {"delay": -1},
    "delay must be a": {"delay": 1.5},
    "delay must be a number": {"delay": [[1]]},
    "delay must be a number of rows": {"delay": TimeDelay(np.inf)},
    "resume=True needs the folder": {"resume": True},
    "stream must be a Stream": {"stream": [[1.0]]},
    "use scaling=.none. with RangeScaled": {"model": AMRC.paper()},
    "model must be a classifier": {"model": AMRC},
}


@pytest.mark.parametrize("message", BAD_ARGUMENTS)
def test_arguments_that_cannot_work_are_refused(message):
    X, y = small_stream()
    arguments = {"model": plain(**QUICK), "stream": ArrayStream(X, y), "progress": False} | BAD_ARGUMENTS[message]
    with pytest.raises(ConfigError, match=message):
        evaluate(**arguments)


def test_delays_that_the_stream_cannot_give_are_refused():
    X, y = small_stream()
    with pytest.raises(DataError, match=r"^delay=TimeDelay.* needs a stream with timestamps"):
        evaluate(plain(**QUICK), ArrayStream(X, y), delay=TimeDelay(1.0), progress=False)
    with pytest.raises(DataError, match=r"^delay has 10 values"):
        evaluate(plain(**QUICK), ArrayStream(X, y), delay=[1] * 10, progress=False)


def test_a_folder_with_a_run_is_not_written_over(tmp_path):
    X, y = small_stream()
    stream = ArrayStream(X, y)
    run(plain(**QUICK), stream, tmp_path)
    with pytest.raises(CheckpointError, match="already contains a run"):
        run(plain(**QUICK), stream, tmp_path)
    with pytest.raises(CheckpointError, match="another model"):
        run(plain(order=0, **QUICK), stream, tmp_path, resume=True)
    for changed, arguments in {
        "delay": {"delay": 2},
        "classes": {"classes": [0, 1]},
        "time_unit": {"time_unit": 2.0},
        "window": {"window": 7},
    }.items():
        with pytest.raises(CheckpointError, match=f"another {changed}"):
            run(plain(**QUICK), stream, tmp_path, resume=True, **arguments)
    with pytest.raises(CheckpointError, match="another stream"):
        run(plain(**QUICK), RangeScaled(stream), tmp_path, resume=True)
    with pytest.raises(CheckpointError, match="another columns"):
        run(plain(**QUICK), ArrayStream(X, y, columns=["a", "b", "c"]), tmp_path, resume=True)
    with pytest.raises(CheckpointError, match="a run of 60 rows, and the stream has 50"):
        run(plain(**QUICK), ArrayStream(X[:50], y[:50]), tmp_path, resume=True)
    assert run(plain(**QUICK), stream, tmp_path, resume=True).summary.n_rows == 60


def test_an_empty_stream_is_refused():
    with pytest.raises(DataError, match="no rows"):
        evaluate(plain(), ArrayStream(np.zeros((0, 2)), np.zeros(0, int)), progress=False)


def test_a_classifier_that_cannot_be_saved_is_refused_at_the_start(tmp_path):
    class Local(Constant):
        pass

    X, y = small_stream()
    with pytest.raises(CheckpointError, match="cannot be pickled"):
        run(Local(), ArrayStream(X, y), tmp_path)
    assert evaluate(Local(), ArrayStream(X, y), progress=False).finished


def test_no_bound_on_mistakes_is_claimed_where_labels_come_late():
    stream = RotatingGaussians().stream(600, seed=0)
    late = evaluate(plain(**QUICK), stream, delay=20, window=100, progress=False).summary
    assert late.mistake_bound is None
    assert late.bounds_held is None
    assert "its bound is void: labels came late" in str(late)
    assert f"{late.mean_bound:.1%}" not in str(late)
    assert late.windows_above_bound is not None  # what is seen is still said
    assert evaluate(plain(**QUICK), stream, progress=False).summary.mistake_bound > 0


def test_the_randomised_rule_draws_anew_for_each_row_while_labels_wait(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 1)), rng.integers(0, 2, 300)  # nothing to learn: the rule is a coin
    run(plain(deterministic=False, **QUICK), ArrayStream(X, y), tmp_path, delay=[5] * 20 + [500] * 280, classes=[0, 1])
    predictions = read_records(tmp_path)["prediction"].to_numpy()[30:]
    assert 0.3 < predictions.mean() < 0.7
    assert 0.3 < np.mean(predictions[1:] != predictions[:-1]) < 0.7


def test_the_randomised_rule_begins_its_draws_anew_with_each_label(tmp_path):
    X, y = small_stream()
    run(plain(deterministic=False, **QUICK), ArrayStream(X, y), tmp_path, delay=1)
    recorded, twin = read_records(tmp_path)["prediction"].to_pylist(), plain(deterministic=False, **QUICK)
    for t in range(2, 60):
        twin.partial_fit(X[t - 2 : t - 1], y[t - 2 : t - 1])
        assert recorded[t] == twin.predict(X[t : t + 1])[0]


def test_an_assessment_of_a_block_draws_as_predict_does():
    X, y = small_stream()
    model = plain(deterministic=False, **QUICK).partial_fit(X, y)
    together = model.assess(X, y).predicted
    assert np.array_equal(together, model.predict(X))
    assert together[10:].tolist() == model.assess(X[10:], y[10:], asked=10).predicted.tolist()


class Plain:
    """A classifier that knows nothing of scikit-learn's conventions."""

    def partial_fit(self, X, y):
        self.seen = y[-1]

    def predict(self, X):
        return [self.seen] * len(X)


def test_a_classifier_needs_no_more_than_partial_fit_and_predict():
    X, y = small_stream()
    summary = evaluate(Plain(), ArrayStream(X, y), progress=False).summary
    assert summary.mistakes == 1 + np.sum(y[1:] != y[:-1])


def test_a_classifier_that_knows_more_classes_goes_on():
    X, y = small_stream(n_classes=3)
    model = GaussianNB().fit(X, y)
    assert evaluate(model, ArrayStream(X[y < 2], y[y < 2]), progress=False).finished


def test_other_columns_than_the_model_knows_are_refused():
    X, y = small_stream()
    model = plain(**QUICK).fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    with pytest.raises(ConfigError, match="model has the columns a, b, c; the stream has x0, x1, x2"):
        evaluate(model, ArrayStream(X, y), progress=False)


def test_a_run_with_a_random_state_of_its_own_is_resumed(tmp_path):
    X, y = small_stream()

    def model():
        return SGDClassifier(loss="log_loss", random_state=np.random.RandomState(0))

    assert len({_parameters(each) for each in [model(), model()]}) == 1  # both alive, at different addresses
    run(model(), ArrayStream(X, y), tmp_path / "cut", limit=30)
    run(model(), ArrayStream(X, y), tmp_path / "cut", resume=True)
    run(model(), ArrayStream(X, y), tmp_path / "whole")
    assert said(tmp_path / "cut") == said(tmp_path / "whole")


def test_limits_and_resumption_hold_over_several_blocks(tmp_path):
    n = 9000
    rng = np.random.default_rng(0)
    stream = ArrayStream(rng.normal(size=(n, 2)), rng.integers(0, 2, n), times=np.arange(n))
    run(Constant(), stream, tmp_path, limit=np.int64(4500))
    assert read_records(tmp_path).num_rows == 4500
    run(Constant(), stream, tmp_path, limit=8999, resume=True)
    assert read_records(tmp_path)["time"].to_pylist() == list(range(8999))


def test_times_that_run_backwards_are_refused(tmp_path):
    X, y = small_stream()

    class Backwards(ArrayStream):
        def blocks(self, start=0):
            yield Block(X, y, np.concatenate([np.arange(30.0), np.arange(30.0)]))

    with pytest.raises(DataError, match="must not decrease"):
        evaluate(plain(**QUICK), Backwards(X, y), delay=TimeDelay(1.0), progress=False)


def test_two_runs_do_not_work_in_one_folder(tmp_path):
    X, y = small_stream()
    with locked_folder(tmp_path), pytest.raises(CheckpointError, match="another run is using"):
        run(Constant(), ArrayStream(X, y), tmp_path)
    assert run(Constant(), ArrayStream(X, y), tmp_path).finished


def test_a_folder_that_is_none_is_refused(tmp_path):
    X, y = small_stream()
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="cannot be used for records"):
        run(Constant(), ArrayStream(X, y), tmp_path / "file")


def test_files_of_others_in_the_folder_stay(tmp_path):
    X, y = small_stream()
    others = [tmp_path / "records" / "customers.parquet", tmp_path / "records" / ".gitignore", tmp_path / ".gitignore"]
    (tmp_path / "records").mkdir()
    for path in others:
        path.write_text("")
    run(Constant(), ArrayStream(X, y), tmp_path)
    assert all(path.exists() for path in others)
    assert read_records(tmp_path).num_rows == 60


def test_a_run_whose_checkpoint_is_gone_is_not_erased(tmp_path):
    X, y = small_stream()
    run(Constant(), ArrayStream(X, y), tmp_path)
    (tmp_path / "checkpoint").unlink()
    with pytest.raises(CheckpointError, match="no checkpoint to resume from"):
        run(Constant(), ArrayStream(X, y), tmp_path, resume=True)
    assert read_records(tmp_path).num_rows == 60


def test_figures_do_not_depend_on_how_fast_the_machine_was(tmp_path):
    X, y = small_stream(n_steps=300)
    figures = []
    for folder in ("whole", "cut"):
        if folder == "cut":
            run(plain(**QUICK), ArrayStream(X, y), tmp_path / folder, limit=137, window=50)
        evaluation = run(plain(**QUICK), ArrayStream(X, y), tmp_path / folder, resume=True, window=50)
        summary = evaluation.summary.to_dict()
        times = [name for name in summary if "second" in name]
        assert len(times) == 4
        assert all(summary.pop(name) > 0 for name in times)
        figures.append(summary)
    assert figures[0] == figures[1]


@pytest.mark.usefixtures("interruptible")
def test_an_interruption_after_the_last_row_is_none(tmp_path):
    X, y = small_stream()

    class Interrupting(ArrayStream):
        def blocks(self, start=0):
            yield from super().blocks(start)
            signal.raise_signal(signal.SIGINT)

    assert evaluate(Constant(), Interrupting(X, y), progress=False).finished


@pytest.mark.usefixtures("interruptible")
def test_an_interruption_before_the_first_row_is_no_empty_stream():
    class Interrupting(ArrayStream):
        def blocks(self, start=0):
            signal.raise_signal(signal.SIGINT)
            yield from super().blocks(start)

    with pytest.raises(KeyboardInterrupt):
        evaluate(Constant(), Interrupting(*small_stream()), progress=False)


@pytest.mark.usefixtures("interruptible")
def test_a_second_interruption_stops_at_once(tmp_path):
    X, y = small_stream()

    class Insistent(ArrayStream):
        def blocks(self, start=0):
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            yield from super().blocks(start)

    with pytest.raises(KeyboardInterrupt):
        evaluate(Constant(), Insistent(X, y), progress=False)


def test_an_ignored_interruption_stays_ignored():
    X, y = small_stream()

    class Interrupting(ArrayStream):
        def blocks(self, start=0):
            signal.raise_signal(signal.SIGINT)
            yield from super().blocks(start)

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert evaluate(Constant(), Interrupting(X, y), progress=False).finished
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_name_with_brackets_is_shown_as_it_is(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    X, y = small_stream()
    evaluate(Constant(), ArrayStream(X, y, name="a[/b]"))
    assert "a[/b]" in capsys.readouterr().err


def test_a_stream_that_has_changed_is_not_continued(tmp_path):
    X, y = small_stream()
    run(Constant(), ArrayStream(X, y), tmp_path, limit=30)
    with pytest.raises(CheckpointError, match="row 29 of arrays is not the last row of the run"):
        run(Constant(), ArrayStream(X + 1, y), tmp_path, resume=True)
    with pytest.raises(CheckpointError, match="the stream has changed"):
        run(Constant(), ArrayStream(X, 1 - y), tmp_path, resume=True)
    assert run(Constant(), ArrayStream(X, y), tmp_path, resume=True).summary.n_rows == 60


def test_skipped_rows_are_counted_once_whatever_is_resumed(tmp_path):
    rows = [f"{i},{i % 2}" for i in range(50)]
    rows[10] = "oops"
    path = tmp_path / "some.csv"
    path.write_text("\n".join(["x,y", *rows]))
    for options in ({"limit": 20}, {"limit": 20}, {}, {}):
        stream = open_stream(path, "y", on_bad_row="skip")
        summary = run(Constant(), stream, tmp_path / "run", resume=True, **options).summary
        assert summary.n_skipped == 1
    assert summary.n_rows == 49


@pytest.mark.parametrize("delay", [np.int64(0), [0] * 60, TimeDelay(0.0)])
def test_labels_that_come_at_once_are_not_late_however_that_is_said(delay):
    X, y = small_stream()
    stream = ArrayStream(X, y, times=np.arange(60.0))
    assert evaluate(plain(**QUICK), stream, delay=delay, progress=False).summary.mistake_bound is not None


def test_a_fitted_classifier_that_refuses_its_first_row_is_not_taken_for_an_unfitted_one():
    X, y = small_stream()
    model = logistic().fit(X, y)
    X[0, 0] = np.nan
    with pytest.raises(DataError, match="the classifier cannot use row 0 of arrays"):
        evaluate(model, ArrayStream(X, y), delay=3, progress=False)


def test_a_class_that_the_classifier_does_not_know_gets_no_probability(tmp_path):
    X, y = small_stream(n_classes=3)
    model = GaussianNB().fit(X[y < 2], y[y < 2])
    with pytest.raises(DataError):  # it cannot learn the third class either
        run(model, ArrayStream(X[y == 2], y[y == 2]), tmp_path / "third")
    adapter = PartialFitAdapter(model, np.arange(3))
    answers = adapter.assess(Block(X[y == 2][:1], y[y == 2][:1], np.full(1, np.nan)), 0)
    assert answers.label_probabilities[0] == 0.0


def test_late_labels_are_learned_one_at_a_time(tmp_path):
    X, y = small_stream()
    late = run(logistic(), ArrayStream(X, y), tmp_path, delay=[30] * 30 + [0] * 30).model
    twin = logistic()
    for t in [*(t for pair in zip(range(30), range(30, 60), strict=True) for t in pair)]:
        twin.partial_fit(X[t : t + 1], y[t : t + 1], classes=[0, 1])
    assert np.array_equal(late.coef_, twin.coef_)


def test_classes_are_announced_to_those_that_need_them_and_to_no_other_that_takes_blocks():
    stream = ArrayStream(*small_stream(n_classes=3))
    assert evaluate(Announced(), stream, progress=False).model.announced.tolist() == [0, 1, 2]
    other = type("Other", (Announced,), {"needs_classes": False})
    assert evaluate(other(), stream, progress=False).model.announced is None


def test_predictions_in_a_column_are_read_and_those_of_another_shape_refused():
    class Columnar(Perceptron):
        n_columns = 1

        def predict(self, X):
            return np.repeat(super().predict(X)[:, None], self.n_columns, axis=1)

    X, y = small_stream()
    stream = ArrayStream(X, y)
    plain_errors, errors = (evaluate(kind(), stream, progress=False).summary.error for kind in (Perceptron, Columnar))
    assert errors == plain_errors
    Columnar.n_columns = 2
    with pytest.raises(DataError, match=r"predict returned an array of shape \(1, 2\) for 1 rows"):
        evaluate(Columnar(), stream, progress=False)
