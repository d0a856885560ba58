"""Random inputs for property tests."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from driftline.types import Matrix, UncertaintySet

moderate = st.floats(-10, 10, allow_subnormal=False)
seeds = st.integers(0, 2**32 - 1)
paper_configurations = st.fixed_dictionaries(
    {
        "order": st.integers(0, 2),
        "features": st.sampled_from(["linear", "fourier", "fourier-printed"]),
        "n_components": st.just(7),
        "scaling": st.sampled_from(["running", "none", "file"]),
        "label_variance": st.sampled_from(["binomial", "sample", "printed"]),
        "unobserved": st.sampled_from(["propagate", "hold"]),
        "gain": st.sampled_from(["multidimensional", "unidimensional"]),
        "deterministic": st.booleans(),
    }
)
"""Parameters of the paper's method."""


def scores(max_classes: int = 7) -> st.SearchStrategy[Matrix]:
    """Return a strategy for the scores of one instance."""
    return st.integers(1, max_classes).flatmap(lambda c: arrays(float, c, elements=moderate))


@st.composite
def problems(draw: st.DrawFn, *, max_classes: int = 4) -> tuple[Matrix, UncertaintySet]:
    """Draw instances, and an uncertainty set around the expectations of a distribution on them."""
    rng = np.random.default_rng(draw(seeds))
    n, c, d = draw(st.integers(1, 8)), draw(st.integers(2, max_classes)), draw(st.integers(1, 5))
    instances = rng.uniform(-1, 1, (n, d))
    p = rng.dirichlet(np.full(n * c, 0.3)).reshape(n, c)
    width = draw(st.sampled_from([0.0, 0.02, 0.2])) * rng.random((c, d))
    mean = p.T @ instances + rng.uniform(-1, 1, (c, d)) * width
    return instances, UncertaintySet(mean, width)
