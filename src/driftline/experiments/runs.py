"""The runs that experiments are made of: described by plain values, so that each is done once and kept."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast

import numpy as np

from driftline import registry
from driftline.evaluation import choose_scale, evaluate
from driftline.streams import RangeScaled, Stream, load

N_WARM_UP = 50
"""Rows on which a classifier is run before it is timed."""


class Task(ABC):
    """Work whose result is kept: a dataclass of plain values, so that the same work has the same key."""

    work: str
    model: str
    stream: str
    parameters: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return what it is, as values that JSON knows."""
        values = {one.name: getattr(self, one.name) for one in fields(cast(Any, self))}
        return values | {"stream": self.stream, "parameters": dict(self.parameters)}

    @property
    def key(self) -> str:
        """The same for the same work, whoever describes it."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()[:16]

    @abstractmethod
    def perform(self, partial: Path | None) -> dict[str, Any]:
        """Do it, and return what came of it.

        Parameters
        ----------
        partial : Path or None
            A folder to keep the state of long work in; it is continued from there.

        Returns
        -------
        dict
            Values that JSON knows.
        """


@dataclass(frozen=True)
class Run(Task):
    """A run of a classifier on a stream.

    Attributes
    ----------
    work : {"evaluation", "timing", "course", "scale"}
        Whether it is evaluated, or its steps are timed, or its course is followed row by row, or the scale of its
        kernel is chosen.
    model, stream : str
        By name.
    parameters : mapping
        Of the classifier.
    n_rows : int or None
        How many rows of the stream, from the first; None for all.
    ranges : {"column", "array", None}
        Whether the stream is scaled by the range over the whole of it, of each column or one for all, as the paper
        does; None if that is left to the classifier.
    """

    work: str
    model: str
    stream: str
    parameters: Mapping[str, Any]
    n_rows: int | None
    ranges: str | None

    def perform(self, partial: Path | None) -> dict[str, Any]:
        """Do it, and return what came of it."""
        stream = load(self.stream)
        if self.ranges is not None:
            stream = RangeScaled(stream, by=self.ranges)
        if self.work == "scale":
            choice = choose_scale(self._model(), stream, n_rows=self.n_rows, progress=False)
            errors = {f"{scale:g}": error for scale, error in choice.errors.items()}
            return {"scale": choice.scale, "errors": errors, "n_rows": choice.n_rows}
        if self.work == "course":
            return self._course(stream)
        if self.work == "timing":
            return self._timing(stream)
        return self._evaluation(stream, partial)

    def _model(self) -> Any:
        scales = self.ranges is not None and "scaling" in registry.describe(self.model).parameters
        return registry.create(self.model, **({"scaling": "none"} if scales else {}) | dict(self.parameters))

    def _timing(self, stream: Stream) -> dict[str, Any]:
        """Return how long a step takes, once everything is compiled."""
        for n_rows in (N_WARM_UP, self.n_rows):
            summary = evaluate(self._model(), stream, limit=n_rows, classes=stream.classes(), progress=False).summary
        seconds = summary.predict_seconds + summary.learn_seconds
        return {"n_rows": summary.n_rows, "milliseconds": 1e3 * seconds / summary.n_rows}

    def _evaluation(self, stream: Stream, partial: Path | None) -> dict[str, Any]:
        evaluation = evaluate(
            self._model(),
            stream,
            limit=self.n_rows,
            classes=stream.classes(),
            progress=False,
            checkpoint=partial,
            resume=partial is not None,
        )
        if not evaluation.finished:
            raise KeyboardInterrupt
        return evaluation.summary.to_dict()

    def _course(self, stream: Stream) -> dict[str, Any]:
        """Return, after each row, the mistakes, the expected ones of the randomised rule, and the sum of R(U_t)."""
        blocks = list(stream.blocks())
        X, y = (
            np.concatenate([getattr(block, name) for block in blocks])[: self.n_rows] for name in ("rows", "labels")
        )
        answers = self._model().prequential(X, y, classes=stream.classes())
        columns = {
            "error": answers.predictions != y,
            "expected_error": 1.0 - answers.probabilities,
            "mean_bound": answers.bounds,
        }
        known = {name: values for name, values in columns.items() if not np.isnan(values.astype(float)).any()}
        return {"n_rows": len(y)} | {name: np.cumsum(values).tolist() for name, values in known.items()}
