"""What a report is about."""

from dataclasses import dataclass

from driftline.evaluation import Course, Summary


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """An evaluated classifier.

    Attributes
    ----------
    name : str
        What the reader knows it by, such as "amrc".
    summary : Summary
        The figures of its evaluation.
    course : Course
        The course of its evaluation.
    finished : bool
        False if the evaluation was interrupted.

    Examples
    --------
    >>> from driftline.evaluation import Course, evaluate
    >>> from driftline.registry import create
    >>> from driftline.report import Entry, story
    >>> from driftline.streams import ArrayStream, RotatingGaussians
    >>> stream = ArrayStream(*RotatingGaussians().sample(400, seed=0))
    >>> run = evaluate(create("majority"), stream, course=Course(stream.columns), progress=False)
    >>> for sentence in story([Entry("majority", run.summary, run.course, run.finished)])[1:]:
    ...     print(sentence)
    It gives no bound on its error, so how wrong it could have been is not known.
    No change in the stream stands out from chance.
    """

    name: str
    summary: Summary
    course: Course
    finished: bool
