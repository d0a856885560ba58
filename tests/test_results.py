"""What the model achieves, measured: on the paper's synthetic stream and on real ones where they are."""

import pytest

from driftline.cli.demo import follow
from published import AS_PUBLISHED, errors, fourier_scale


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


def test_usenet2_with_linear_features_is_as_published(real_stream):
    deterministic, _, _ = errors(*real_stream("usenet2"), features="linear", **AS_PUBLISHED)
    assert 22.0 <= deterministic <= 24.5


def test_usenet2_with_fourier_features_is_as_published(real_stream):
    """At the scale that the paper's two grids lead to, see `published.fourier_scale`."""
    deterministic, _, _ = errors(*real_stream("usenet2"), scale=0.5, **AS_PUBLISHED)
    assert deterministic == pytest.approx(29.9, abs=2)


@pytest.mark.slow
def test_the_grids_of_the_paper_lead_to_that_scale(real_stream):
    assert fourier_scale(*real_stream("usenet2")) == 0.5
