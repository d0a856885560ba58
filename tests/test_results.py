"""What the model achieves, measured: on the paper's synthetic stream and on real ones where they are."""

import numpy as np
import pytest

from driftline import AMRC
from driftline.cli.demo import follow


@pytest.mark.parametrize("order", [0, 1, 2])
def test_on_the_synthetic_stream_the_bound_mostly_holds(order, record_property):
    """R(U_t) is above R(h_t) at most steps, not at all: the width λ knows the noise of the tracker, not its lag."""
    run = follow(order, n_steps=10_000, seed=0)
    record_property("steps with R(U_t) >= R(h_t)", run.holds)
    record_property("mean gap", run.gap)
    assert run.holds >= 0.80
    assert 0.0 < run.gap < 0.15
    assert run.drawn_mistakes <= run.mistake_bound
    assert run.expected_mistakes.mean() == pytest.approx(run.true_errors.mean(), abs=0.01)


PUBLISHED = {"unobserved": "hold", "label_variance": "sample"}


def deterministic_error(model, X, y):
    return 100 * np.mean([step.mistake for step in model.steps(X, y)])


def test_usenet2_with_linear_features_is_as_published(real_stream):
    X, y = real_stream("usenet2")
    error = deterministic_error(AMRC.paper(features="linear", **PUBLISHED), X, y)
    assert 22.0 <= error <= 24.5
