"""The choice of a kernel's scale."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import SGDClassifier

from driftline import ConfigError, DataError
from driftline.baselines import FOGD, Forgetron
from driftline.evaluation.tuning import FIRST_STAGE, SECOND_STAGE, choose_scale
from driftline.streams import ArrayStream


class Recorder(ClassifierMixin, BaseEstimator):
    """Errs on a share |log2(scale) - 4|/100 of the rows it is asked about, and keeps what it saw."""

    log: ClassVar[dict] = {}

    def __init__(self, scale=1.0):
        self.scale = scale

    def partial_fit(self, X, y, classes=None):
        self.learned_ = [*getattr(self, "learned_", []), *X[:, 0].tolist()]
        return self

    def predict(self, X):
        number = int(X[0, 0])
        Recorder.log.setdefault((self.scale, number % 5), []).append((number, self.learned_))
        return [(number + (number // 5 % 100 < abs(np.log2(self.scale) - 4))) % 2]


@pytest.fixture
def recorded():
    Recorder.log = {}
    n = np.arange(1000)
    return ArrayStream(n[:, None].astype(float), n % 2)


def test_the_scale_with_the_least_error_is_found_in_two_stages(recorded):
    choice = choose_scale(Recorder(), recorded, progress=False)
    assert choice.scale == 16.0  # near 2^3 of the first stage, and twice that in the second
    assert sorted(choice.errors) == sorted({*FIRST_STAGE, *(8.0 * factor for factor in SECOND_STAGE)})
    assert choice.errors[8.0] == pytest.approx(0.01, abs=0.002)
    assert choice.n_rows == 1000


def test_each_row_is_asked_about_once_when_those_before_it_in_other_folds_are_learned(recorded):
    choose_scale(Recorder(), recorded, progress=False)
    for scale in FIRST_STAGE:
        asked = [number for fold in range(5) for number, _ in Recorder.log[scale, fold]]
        assert sorted(asked) == list(range(1, 1000))  # before the first there is nothing to ask
        for fold in range(5):
            for number, learned in Recorder.log[scale, fold]:
                assert learned == [other for other in range(number) if other % 5 != fold]


def test_only_the_part_that_may_be_seen_is_seen(recorded):
    choice = choose_scale(Recorder(), recorded, n_rows=200, progress=False)
    assert choice.n_rows == 200
    assert max(number for asked in Recorder.log.values() for number, _ in asked) == 199


def test_a_stream_without_end_is_read_no_further_than_that():
    class Endless(ArrayStream):
        def blocks(self, start=0):
            while True:
                yield from super().blocks(start)

    rng = np.random.default_rng(0)
    stream = Endless(rng.normal(size=(30, 2)), rng.integers(0, 2, 30))
    assert choose_scale(Forgetron(), stream, n_rows=100, progress=False).n_rows == 100


@pytest.mark.parametrize("stages", [(FIRST_STAGE, SECOND_STAGE), ([0.5, 1, 2], [0.5, 1, 2]), ([1.0], [2.0])])
def test_the_bar_ends_where_the_work_does(recorded, monkeypatch, stages):
    class Bar:
        def __init__(self, description, total, **_):
            self.left = total
            bars.append(self)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def advance(self, amount, note=""):
            self.left -= amount

    bars = []
    monkeypatch.setattr("driftline.evaluation.tuning.ProgressBar", Bar)
    choose_scale(Recorder(), recorded, first_stage=stages[0], second_stage=stages[1])
    assert bars[0].left == 0


def test_of_scales_that_are_alike_the_smallest_is_chosen(recorded):
    choice = choose_scale(Recorder(), recorded, first_stage=[32.0, 8.0], second_stage=[1.0], progress=False)
    assert choice.errors[8.0] == choice.errors[32.0]
    assert choice.scale == 8.0


def test_several_processes_choose_as_one_does():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    stream = ArrayStream(X, (np.sin(3 * X[:, 0]) > X[:, 1]).astype(int))
    alone = choose_scale(Forgetron(scaling="none"), stream, progress=False)
    assert choose_scale(Forgetron(scaling="none"), stream, n_jobs=2, progress=False) == alone
    assert alone.errors[alone.scale] < alone.errors[2.0**-6]


def test_the_model_is_left_as_it_is():
    model = FOGD(scale=3.0, n_components=5)
    rng = np.random.default_rng(0)
    stream = ArrayStream(rng.normal(size=(60, 2)), rng.choice(["a", "b"], 60))
    choose_scale(model, stream, progress=False)
    assert model.scale == 3.0
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize(
    ("model", "options", "error", "message"),
    [
        (SGDClassifier(), {}, ConfigError, "a parameter scale; got SGDClassifier"),
        (FOGD(), {"n_rows": 3}, ConfigError, "n_rows must be a whole number from 10 up; got 3"),
        (FOGD, {}, ConfigError, "model must be a classifier with partial_fit"),
        (FOGD(), {"n_jobs": 0}, ConfigError, "n_jobs must be a whole number, or -1 for"),
        (FOGD(), {"first_stage": 3}, ConfigError, "first_stage must be a sequence of positive numbers; got 3"),
        (FOGD(), {"first_stage": ["a"]}, ConfigError, "first_stage must be a sequence of positive numbers"),
        (FOGD(), {"first_stage": []}, ConfigError, "first_stage must be a sequence of positive numbers"),
        (FOGD(), {"second_stage": [0.0]}, ConfigError, "second_stage must be a sequence of positive numbers"),
    ],
)
def test_what_cannot_work_is_refused(recorded, model, options, error, message):
    with pytest.raises(error, match=message):
        choose_scale(model, recorded, progress=False, **options)


def test_a_stream_must_be_one_and_have_rows():
    with pytest.raises(ConfigError, match="stream must be a Stream"):
        choose_scale(FOGD(), np.zeros((9, 2)), progress=False)
    with pytest.raises(DataError, match="has 3 rows, and cross-validation needs at least 10"):
        choose_scale(FOGD(), ArrayStream(np.zeros((3, 1)), [0, 1, 0]), progress=False)
