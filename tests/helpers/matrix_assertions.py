"""Assertions about matrices."""

import numpy as np


def assert_positive_semi_definite(Sigma):
    """Assert it after scaling to unit diagonal, so that the tolerance is relative to each component."""
    assert np.array_equal(Sigma, Sigma.swapaxes(-1, -2))
    scale = np.sqrt(np.einsum("...aa->...a", Sigma))
    assert np.all(np.isfinite(scale))
    unit = Sigma / np.maximum(scale[..., :, None] * scale[..., None, :], 1e-300)
    assert np.linalg.eigvalsh(unit).min() >= -1e-9
