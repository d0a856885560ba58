"""The runs that experiments are made of: described by plain values, so that each is done once and kept."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driftline import registry
from driftline.evaluation import evaluate
from driftline.streams import RangeScaled, Stream, load
from driftline.tuning import choose_scale


@dataclass(frozen=True)
class Run:
    """A run of a classifier on a stream.

    Attributes
    ----------
    work : {"evaluation", "scale"}
        Whether it is evaluated, or the scale of its kernel is chosen.
    model, stream : str
        By name.
    parameters : mapping
        Of the classifier.
    n_rows : int or None
        How many rows of the stream, from the first; None for all.
    looks_ahead : bool
        Whether columns are scaled by their range over the whole stream, as the paper does, rather than by the
        classifier.
    """

    work: str
    model: str
    stream: str
    parameters: Mapping[str, Any]
    n_rows: int | None
    looks_ahead: bool

    def to_dict(self) -> dict[str, Any]:
        """Return what it is, as values that JSON knows."""
        return {
            "work": self.work,
            "model": self.model,
            "stream": self.stream,
            "parameters": dict(sorted(self.parameters.items())),
            "n_rows": self.n_rows,
            "looks_ahead": self.looks_ahead,
        }

    @property
    def key(self) -> str:
        """The same for the same run, whoever describes it."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()[:16]

    def perform(self, partial: Path | None) -> dict[str, Any]:
        """Do it, and return what came of it.

        Parameters
        ----------
        partial : Path or None
            A folder to keep the state of a long evaluation in; it is continued from there.

        Returns
        -------
        dict
            Values that JSON knows.
        """
        stream: Stream = RangeScaled(load(self.stream)) if self.looks_ahead else load(self.stream)
        scales = self.looks_ahead and "scaling" in registry.describe(self.model).parameters
        model = registry.create(self.model, **({"scaling": "none"} if scales else {}) | dict(self.parameters))
        if self.work == "scale":
            choice = choose_scale(model, stream, n_rows=self.n_rows, progress=False)
            errors = {f"{scale:g}": error for scale, error in choice.errors.items()}
            return {"scale": choice.scale, "errors": errors, "n_rows": choice.n_rows}
        evaluation = evaluate(
            model,
            stream,
            limit=self.n_rows,
            classes=stream.classes(),
            progress=False,
            checkpoint=partial,
            resume=partial is not None,
        )
        if not evaluation.finished:
            raise KeyboardInterrupt
        summary = evaluation.summary.to_dict()
        step = (summary["predict_seconds"] + summary["learn_seconds"]) / summary["n_rows"]
        return summary | {"milliseconds": 1e3 * step}
