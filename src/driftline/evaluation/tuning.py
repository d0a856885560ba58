"""Choice of the scale of a kernel by cross-validation in two stages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from driftline.errors import ConfigError, DataError
from driftline.streams import Stream
from driftline.types import LabelArray, Matrix
from driftline.utils.progress import ProgressBar
from driftline.utils.validation import whole_number

FIRST_STAGE = tuple(2.0**i for i in (-6, -3, 0, 3, 6))
"""The scales of the paper's first stage."""
SECOND_STAGE = tuple(2.0**i for i in (-2, -1, 0, 1, 2))
"""Factors for the best scale of the first stage, tried in the second stage."""
N_FOLDS = 5


@dataclass(frozen=True, slots=True)
class ScaleChoice:
    """A scale, and the errors by which it was chosen.

    Attributes
    ----------
    scale : float
        The scale with the smallest error; if there are several, the smallest scale.
    errors : dict of float to float
        The cross-validation error of each scale that was tried.
    n_rows : int
        Number of rows that were used, from the beginning of the stream.
    """

    scale: float
    errors: dict[float, float]
    n_rows: int


def choose_scale(
    model: Any,
    stream: Stream,
    *,
    n_rows: int | None = None,
    first_stage: Sequence[float] = FIRST_STAGE,
    second_stage: Sequence[float] = SECOND_STAGE,
    n_jobs: int = 1,
    progress: bool = True,
) -> ScaleChoice:
    """Choose the scale of a classifier's kernel by five-fold cross-validation, first coarsely and then finely.

    Rows are assigned to the folds in turn and are never shuffled. For each fold a classifier goes through the stream
    in order: it predicts the rows of the fold and learns the others. (With contiguous folds, a classifier that follows
    a drift would be tested on rows from a distant past.)

    Parameters
    ----------
    model : estimator
        A classifier with a parameter `scale` and `partial_fit`. It is not changed.
    stream : Stream
        Labelled rows in order.
    n_rows : int, optional
        Number of rows to use, from the beginning of the stream. The error of the classifier on the rows after them is
        then unbiased. By default all rows are used, as in the paper, and the error on the same stream is optimistic.
    first_stage : sequence of float
        Scales to try; by default the paper's 2^-6, 2^-3, 1, 2^3, 2^6.
    second_stage : sequence of float
        Factors for the best of them to try; by default the paper's 1/4, 1/2, 1, 2, 4.
    n_jobs : int, default=1
        Number of parallel processes; -1 for one for each core.
    progress : bool, default=True
        Whether to show a progress bar on the standard error.

    Returns
    -------
    ScaleChoice
        The scale, and the errors of all scales that were tried.

    Examples
    --------
    >>> from driftline.baselines import FOGD
    >>> from driftline.streams import ArrayStream, RotatingGaussians
    >>> from driftline.evaluation import choose_scale
    >>> stream = ArrayStream(*RotatingGaussians().sample(300, seed=0))
    >>> choice = choose_scale(FOGD(), stream, progress=False)
    >>> choice.n_rows, len(choice.errors), choice.scale in choice.errors
    (300, 9, True)
    """
    can = not isinstance(model, type) and all(hasattr(model, name) for name in ("partial_fit", "predict", "get_params"))
    if not can or "scale" not in model.get_params():
        raise ConfigError(f"model must be a classifier with partial_fit and a parameter scale; got {model!r}")
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise ConfigError(f"n_jobs must be a whole number, or -1 for one process for each core; got {n_jobs!r}")
    X, y = _rows(stream, n_rows)
    first, factors = _scales("first_stage", first_stage), _scales("second_stage", second_stage)
    errors: dict[float, float] = {}
    bar = ProgressBar(
        f"scale of {type(model).__name__} on {stream.name}",
        N_FOLDS * (len(first) + len(factors)),
        unit="runs",
        shown=progress,
    )
    with bar:
        _try(model, X, y, first, errors, n_jobs, bar)
        best = _best(errors)
        _try(model, X, y, [best * factor for factor in factors], errors, n_jobs, bar)
    return ScaleChoice(_best(errors), dict(sorted(errors.items())), len(X))


def _scales(name: str, values: Sequence[float]) -> list[float]:
    given = np.asarray(values)
    are_numbers = given.ndim == 1 and given.size > 0 and given.dtype.kind in "iuf"
    if not are_numbers or not np.all((given > 0) & (given < np.inf)):
        raise ConfigError(f"{name} must be a sequence of positive numbers; got {values!r}")
    scales: list[float] = np.unique(given.astype(float)).tolist()
    return scales


def _rows(stream: Stream, n_rows: int | None) -> tuple[Matrix, LabelArray]:
    if not isinstance(stream, Stream):
        raise ConfigError(f"stream must be a Stream, such as ArrayStream(X, y) or load(name); got {type(stream)}")
    wanted = None if n_rows is None else whole_number("n_rows", n_rows, at_least=2 * N_FOLDS)
    rows, labels, n = [], [], 0
    for block in stream.blocks():
        rows.append(block.rows)
        labels.append(block.labels)
        n += len(block.rows)
        if wanted is not None and n >= wanted:
            break
    if n < 2 * N_FOLDS:
        raise DataError(f"{stream.name} has {n} rows, and cross-validation needs at least {2 * N_FOLDS}")
    return np.concatenate(rows)[:wanted], np.concatenate(labels)[:wanted]


def _best(errors: dict[float, float]) -> float:
    return min(sorted(errors), key=errors.__getitem__)


def _try(
    model: Any, X: Matrix, y: LabelArray, scales: list[float], errors: dict[float, float], n_jobs: int, bar: ProgressBar
) -> None:
    """Compute the errors of the scales that were not tried yet, and add them to `errors`."""
    new = [scale for scale in scales if scale not in errors]
    bar.advance(N_FOLDS * (len(scales) - len(new)))
    folds = range(N_FOLDS)
    tasks = (delayed(_mistakes)(clone(model).set_params(scale=scale), X, y, fold) for scale in new for fold in folds)
    counts: Iterator[int] = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
    for scale in new:
        total = 0
        for _ in folds:
            total += next(counts)
            bar.advance(1, f"scale {scale:g}")
        errors[scale] = total / len(X)


def _mistakes(model: Any, X: Matrix, y: LabelArray, fold: int) -> int:
    """Count the mistakes on the rows of the fold, while learning the other rows."""
    classes = np.unique(y)
    mistakes = int(fold == 0)  # nothing was learned before the first row
    learned = 1 if fold == 0 else 0
    for t in range(fold or N_FOLDS, len(X), N_FOLDS):
        model.partial_fit(X[learned:t], y[learned:t], classes=classes)
        mistakes += int(model.predict(X[t : t + 1])[0] != y[t])
        learned = t + 1
    return mistakes
