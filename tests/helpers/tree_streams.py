"""Streams whose classes follow rules on single columns, and comparisons of models with trees."""

import numpy as np


def rule_stream(n=2000, seed=0):
    """Rows with six columns; label = (x0 < a) xor (x3 > b), and a and b change in the middle."""
    X = np.random.default_rng(seed).uniform(size=(n, 6))
    is_later = np.arange(n) >= n // 2
    a, b = np.where(is_later, 0.7, 0.3), np.where(is_later, 0.2, 0.6)
    return X, ((X[:, 0] < a) ^ (X[:, 3] > b)).astype(int)
