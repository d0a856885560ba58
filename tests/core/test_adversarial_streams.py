"""Streams that an adversary makes: no model bound leaves its range."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from driftline import Status
from helpers.quick_models import fourier, linear, paper, widened
from helpers.strategies import seeds

N_STEPS = 60


def random_rows(rng, t):
    return rng.normal(size=2)


def constant_rows(rng, t):
    return np.array([1.0, -2.0])


def zero_rows(rng, t):
    return np.zeros(2)


def repeated_rows(rng, t):
    return np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])[rng.integers(3)]


def rows_of_changing_scale(rng, t):
    return rng.normal(size=2) * 10.0 ** rng.integers(-12, 13)


def rows_that_jump(rng, t):
    return rng.normal(size=2) + 1e6 * (t // 15)


def against_the_prediction(rng, t, h):
    return int(np.argmin(h))


def one_then_another(rng, t, h):
    return int(t >= N_STEPS // 2)


def sudden_flips(rng, t, h):
    return (t // 7) % len(h)


def at_random(rng, t, h):
    return int(rng.integers(len(h)))


def always_the_first(rng, t, h):
    return 0


ROWS = [random_rows, constant_rows, zero_rows, repeated_rows, rows_of_changing_scale, rows_that_jump]
LABELS = [against_the_prediction, one_then_another, sudden_flips, at_random, always_the_first]
adversaries = st.tuples(st.sampled_from(ROWS), st.sampled_from(LABELS), st.integers(2, 4), seeds)


def followed(model, rows, labels, c, seed):
    """Yield the model after each row that the adversary chose."""
    rng = np.random.default_rng(seed)
    h = np.full(c, 1 / c)
    for t in range(N_STEPS):
        x = rows(rng, t)[None]
        if t:
            h = model.predict_proba(x)[0]
        model.partial_fit(x, [labels(rng, t, h)], classes=list(range(c)))
        yield model


def out_of_range(bound, c):
    return not -1e-12 <= bound <= 1 - 1 / c + 1e-12


@pytest.mark.parametrize("scaling", ["running", "none"])
@pytest.mark.parametrize(
    ("make", "options"),
    [
        (linear, {}),
        (fourier, {}),
        (widened, {"order": 1}),
        pytest.param(linear, {"order": 0}, marks=pytest.mark.slow),
        *(pytest.param(widened, {"order": order}, marks=pytest.mark.slow) for order in (0, 2)),
    ],
)
@settings(max_examples=6)
@given(adversary=adversaries)
@example(adversary=(rows_of_changing_scale, against_the_prediction, 2, 0))
@example(adversary=(rows_that_jump, one_then_another, 3, 0))
def test_no_stream_drives_the_model_bound_out_of_its_range(make, options, scaling, adversary):
    rows, labels, c, seed = adversary
    for model in followed(make(scaling=scaling, **options), rows, labels, c, seed):
        assert not out_of_range(model.model_bound_, c)
        assert model.bound_status_ is Status.OK


@pytest.mark.parametrize("order", range(3))
def test_such_streams_drive_the_bound_of_the_paper_out_of_its_range(order):
    """So that the test above can fail."""
    models = followed(paper(order=order), random_rows, one_then_another, 2, 0)
    assert any(out_of_range(model.model_bound_, 2) for model in models)
