"""The adaptive minimax risk classifier of Álvarez, Mazuelas and Lozano (ICML 2022), as published."""

from driftline.paper.estimator import PaperAMRC
from driftline.paper.theorem import alpha, beta, smallest_minimax_risk

__all__ = ["PaperAMRC", "alpha", "beta", "smallest_minimax_risk"]
