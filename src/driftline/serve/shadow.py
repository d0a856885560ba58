"""The comparison of a shadow with the model beside which it learns."""

from typing import Any

import numpy as np

from driftline.evaluation.significance import SIGNIFICANCE, student_test
from driftline.serve.figures import Figures

MAX_BATCHES = 40
"""Batches into which the rows are cut for the test, as in `compare`."""


def compare_with_shadow(figures: Figures) -> dict[str, Any]:
    """Return the errors of both models on the same rows and a test of their difference, as JSON values.

    The test is that of `driftline compare`. Of a better shadow, `difference` is negative.

    Examples
    --------
    >>> from driftline.serve.figures import Window
    >>> figures = Figures()
    >>> for t in range(400):
    ...     figures.add(Window(n_rows=1, n_wrong=t % 3 == 0, n_wrong_shadow=t % 4 == 0))
    >>> found = compare_with_shadow(figures)
    >>> round(found["difference"], 3), found["verdict"]
    (-0.085, 'the shadow is better')
    """
    total, batches = figures.total, figures.merged(MAX_BATCHES)
    if not total.n_rows:
        return {"rows": 0, "error": None, "shadow_error": None, "difference": None, "low": None, "high": None} | {
            "p": None,
            "verdict": "both models have predicted no row yet",
        }
    difference = (total.n_wrong_shadow - total.n_wrong) / total.n_rows
    lengths = np.array([batch.n_rows for batch in batches])
    of_batches = np.array([(batch.n_wrong_shadow - batch.n_wrong) / batch.n_rows for batch in batches])
    test = student_test(difference, of_batches, lengths, 1)
    return {
        "rows": total.n_rows,
        "error": total.n_wrong / total.n_rows,
        "shadow_error": total.n_wrong_shadow / total.n_rows,
        "difference": difference,
        "low": None if test is None else test.low,
        "high": None if test is None else test.high,
        "p": None if test is None else test.p,
        "verdict": _verdict(difference, None if test is None else test.p),
    }


def _verdict(difference: float, p: float | None) -> str:
    if p is None:
        return "too few rows to tell"
    if p >= SIGNIFICANCE:
        return "no significant difference"
    return "the shadow is better" if difference < 0 else "the shadow is worse"
