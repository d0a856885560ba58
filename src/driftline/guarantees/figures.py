"""The figures of classifiers that come with guarantees: how wrong they have been."""

from abc import abstractmethod
from typing import Any

import numpy as np

from driftline.errors import ConfigError
from driftline.guarantees.error_interval import ErrorInterval, error_interval
from driftline.guarantees.tracker import GuaranteeTracker


class GuaranteeFigures:
    """The errors so far, with intervals that may be looked at any time."""

    @property
    @abstractmethod
    def _tracker(self) -> GuaranteeTracker:
        """What keeps the guarantees."""

    @abstractmethod
    def _known_labels(self) -> list[Any]:
        """Return the labels of the classes, by their positions."""

    def error_interval(
        self, *, last: int | None = None, label: Any = None, predicted: Any = None, delta: float | None = None
    ) -> ErrorInterval:
        """Return the error of the predictions so far, with an interval that may be looked at any time.

        Parameters
        ----------
        last : {100, 1000, 10000}, optional
            Only about so many recent rows.
        label : optional
            Only the rows of this class: its error is 1 - recall.
        predicted : optional
            Only the rows predicted as this class: their error is 1 - precision.
        delta : float, optional
            Probability that the interval ever fails; by default that of `guarantees`.

        Returns
        -------
        ErrorInterval
            Number of rows, mistakes, and limits of the error.
        """
        tracker = self._tracker
        share = tracker.guarantees.delta if delta is None else delta
        if (last is not None) + (label is not None) + (predicted is not None) > 1:
            raise ConfigError("only one of last, label and predicted can be given; call it once for each")
        if last is not None:
            return tracker.intervals.recent(last, share)
        if label is not None:
            return tracker.intervals.of_class(self._position("label", label), share)
        if predicted is not None:
            return tracker.intervals.of_prediction(self._position("predicted", predicted), share)
        return tracker.intervals.overall(share)

    def answered_error(self, error: Any = None, *, predicted: Any = None, delta: float | None = None) -> ErrorInterval:
        """Return the error among the rows that `decide` answered, with an interval that may be looked at any time.

        Parameters
        ----------
        error : float or mapping, optional
            The level, as in `decide`.
        predicted : optional
            Only the answers with this label; for a level that differs between labels.
        delta : float, optional
            Probability that the interval ever fails; by default that of `guarantees`.

        Returns
        -------
        ErrorInterval
            Number of rows answered, mistakes among them, and limits of their error.
        """
        tracker = self._tracker
        position = tracker.guarantees.error_position(error)
        if predicted is not None and not isinstance(tracker.guarantees.errors[position], dict):
            raise ConfigError("predicted can be given for a level that differs between labels, and this one does not")
        group = None if predicted is None else self._position("predicted", predicted)
        counts = tracker.rows.answer_counts(position, group)
        return error_interval(counts.n_answered, counts.n_wrong, tracker.guarantees.delta if delta is None else delta)

    def _position(self, name: str, label: Any) -> int:
        labels = self._known_labels()
        if isinstance(label, np.ndarray | list) or label not in labels:
            raise ConfigError(f"{name} must be one of the classes, {', '.join(map(repr, labels[:20]))}; got {label!r}")
        position: int = labels.index(label)
        return position
