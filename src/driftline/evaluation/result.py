"""The result of an evaluation: what a script or a notebook does with it."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from driftline.errors import ConfigError
from driftline.evaluation.records import read_records
from driftline.evaluation.summary import Summary
from driftline.evaluation.summary_table import summary_html
from driftline.evaluation.timeline import MAX_WINDOWS, Timeline
from driftline.utils.atomic_write import replacing
from driftline.utils.extras import import_pandas
from driftline.utils.terminal import visible
from driftline.utils.validation import whole_number
from driftline.utils.versions import versions


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluation:
    """The result of an evaluation. In a notebook it is shown as a table of the figures.

    Attributes
    ----------
    summary : Summary
        The figures; `print(evaluation.summary)`.
    timeline : Timeline
        Errors, bounds, classes and columns over time, and the changes of the stream.
    model : estimator
        The classifier after the last row.
    folder : Path or None
        The folder with the records, for `read_records`.
    finished : bool
        False if the evaluation was interrupted.

    Examples
    --------
    >>> from driftline import AMRC
    >>> from driftline.evaluation import evaluate
    >>> from driftline.streams import ArrayStream, RotatingGaussians
    >>> stream = ArrayStream(*RotatingGaussians().sample(600, seed=0))
    >>> run = evaluate(AMRC(features="linear"), stream, progress=False)
    >>> run.to_frame(most=3)[["first_row", "last_row", "share of 0"]]
       first_row  last_row  share of 0
    0          0       207    0.504808
    1        208       415    0.495192
    2        416       599    0.483696
    """

    summary: Summary
    timeline: Timeline
    model: Any
    folder: Path | None
    finished: bool

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the HTML page that ``driftline run --report`` writes: sentences, charts and tables in one file.

        Parameters
        ----------
        path : path-like
            The file. It is written completely or not at all; an existing one is replaced.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        MissingExtraError
            If jinja2 or plotly is not installed: ``pip install 'driftline[report]'``.
        """
        from driftline.report import ReportEntry, to_html  # noqa: PLC0415  # a layer above, see pyproject.toml

        entry = ReportEntry(self.summary.model, self.summary, self.timeline, self.finished)
        page = to_html([entry], command=f"evaluate({' '.join(repr(self.model).split())}, …)", versions=versions())
        with replacing(path) as file:
            file.write(page.encode())
        return Path(path)

    def plot(self) -> Any:
        """Draw the error over time, with the numbers of the report's chart.

        The band around the error has the limits that hold for all points at once. Vertical lines are changes of the
        stream, triangles on the axis are alarms.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, for example to save with ``savefig``.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed: ``pip install 'driftline[plot]'``.
        """
        from driftline.report import ReportEntry, draw_error  # noqa: PLC0415  # a layer above, see pyproject.toml

        return draw_error(ReportEntry(self.summary.model, self.summary, self.timeline, self.finished))

    def to_frame(self, most: int = MAX_WINDOWS) -> Any:
        """Return the evaluation over time as a table with a row for each window of the timeline.

        Parameters
        ----------
        most : int, default=512
            Largest number of windows; neighbouring ones are merged until there are few enough.

        Returns
        -------
        DataFrame
            The columns are `first_row` and `last_row`, positions in the stream; `end_time`, the time of the last row
            (dates are seconds since 1970; NaN if the stream has no times); `error`; `expected_error`, that of the
            randomised rule, and `bound`, the mean bound on it (NaN for a classifier without them); `answered_share`,
            `answered_error`, `set_size` and `set_coverage`, see `WindowStats`; and for each class, such as late, the
            share of its rows, `share of late`.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        pandas = import_pandas("to_frame()")
        windows = self.timeline.windows(whole_number("most", most, at_least=1))
        figures = "error", "expected_error", "bound", "answered_share", "answered_error", "set_size", "set_coverage"
        shares = self.timeline.class_counts(windows) / np.array([[window.n_rows] for window in windows])
        columns = {
            "first_row": [window.first for window in windows],
            "last_row": [window.first + window.n_rows - 1 for window in windows],
            "end_time": [window.end_time for window in windows],
            **{name: np.array([getattr(window, name) for window in windows], np.float64) for name in figures},
            **{f"share of {label}": shares[:, k] for k, label in enumerate(self.timeline.classes)},
        }
        return pandas.DataFrame(columns)

    def records(self) -> Any:
        """Return the records as a table with a row for each step, if `evaluate` was given a folder for them.

        Returns
        -------
        DataFrame
            The columns that `driftline.evaluation.records` describes. `read_records` returns the same as a table of
            pyarrow, which needs less memory.

        Raises
        ------
        ConfigError
            If no records were kept.
        MissingExtraError
            If pandas is not installed.
        """
        if self.folder is None:
            raise ConfigError("no records were kept; pass checkpoint=FOLDER to evaluate to keep them")
        import_pandas("records()")
        return read_records(self.folder).to_pandas()

    def __repr__(self) -> str:
        """Return one line: classifier, stream, rows and error."""
        s = self.summary
        return f"Evaluation({s.model} on {visible(s.stream)}: {s.n_rows:,} rows, error {s.error:.1%})"

    def _repr_html_(self) -> str:
        notes = [] if self.finished else ["The run was stopped early."]
        return summary_html(self.summary, notes)
