"""Comparing classifiers over many streams: mean ranks and tests of significance.

See J. Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7, 2006.
"""

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range, wilcoxon

LEVEL = 0.05


def mean_ranks(errors):
    """Return the mean rank of each column of a matrix (streams × classifiers); 1 is the smallest error of its row.

    Equal errors share the mean of their ranks.
    """
    return rankdata(errors, axis=1).mean(axis=0)


def critical_difference(n_classifiers, n_streams):
    """Return the difference from which on two mean ranks differ significantly by Nemenyi's test, at the level 0.05."""
    quantile = studentized_range.ppf(1 - LEVEL, n_classifiers, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_classifiers * (n_classifiers + 1) / (6 * n_streams)))


def friedman(errors):
    """Return the p-value of Friedman's test that all columns of a matrix (streams × classifiers) rank alike."""
    return float(friedmanchisquare(*errors.T).pvalue)


def signed_rank_tests(errors):
    """Return p-values of Wilcoxon's signed-rank test of the first column against each other one.

    They are corrected by Holm's procedure. Rows in which the two errors are equal, or one is NaN, do not count;
    without others, the p-value is 1.
    """
    differences = (errors[:, [0]] - errors[:, 1:]).T
    counted = [each[~np.isnan(each) & (each != 0)] for each in differences]
    return holm([wilcoxon(each).pvalue if len(each) else 1.0 for each in counted])


def holm(p_values):
    """Return p-values corrected for their number by Holm's step-down procedure."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p)))))
    return corrected
