"""The bodies of answers, as the OpenAPI description has them."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from driftline.serve.bodies import Body, ColumnBody, LabelBody


class AnswerBody(Body):
    """What is said of a row."""

    id: str
    label: LabelBody | None = Field(description="The predicted label; null before any label was learned.")
    answer: LabelBody | None = Field(description="The same where it may be used, null where somebody should decide.")
    confidence: float | None = Field(description="The probability that the label is right.")
    bound: float | None = Field(description="A bound on the probability that the label is wrong.")
    set: list[LabelBody] = Field(description="The labels that can be right.")


class AnswersBody(Body):
    """What is said of rows, in their order."""

    rows: list[AnswerBody]


class OutcomeBody(Body):
    """What became of a label."""

    id: str
    outcome: Literal["learned", "repeated", "unknown", "conflict", "expired"]
    known: LabelBody | None = Field(default=None, description="In a conflict: the label that was learned.")


class OutcomesBody(Body):
    """What became of labels, in their order."""

    learned: int = Field(description="Number of labels that were learned now.")
    refused: int = Field(description="Number of labels that are unknown, in conflict or expired.")
    rows: list[OutcomeBody]


class IntervalBody(Body):
    """An error with its confidence sequence: limits that hold at all times at once, with a probability of 95 %."""

    rows: int
    wrong: int
    error: float | None = Field(description="wrong / rows; null without rows.")
    low: float
    high: float


class AnswersStatus(Body):
    """The answers that were given out, and the error among them."""

    allowed: float | dict[str, float] = Field(description="The share of answers that may be wrong.")
    share: float | None = Field(description="Share of the predicted rows that were answered.")
    error: IntervalBody


class SetsStatus(Body):
    """The sets of labels that were given out."""

    coverage_asked: float
    coverage: float | None = Field(description="Share of the sets that contained the label.")
    mean_size: float | None


class MistakesStatus(Body):
    """All wrong predictions, and the bound on their number."""

    count: int
    bound: float


class MovedColumn(Body):
    """A column whose mean moves in a class."""

    label: LabelBody | None
    column: str
    surprise: float


class AlarmStatus(Body):
    """An alarm that is raised."""

    kind: Literal["tolerated", "rise"]
    raised_at: int = Field(description="The labelled row at which it was raised, counted from 0.")
    since: int = Field(description="The row since which the error has about been higher.")
    n_rows: int = Field(description="Rows since then.")
    n_wrong: int
    level: float = Field(description="The level that the error exceeds.")
    error_before: float | None
    moved: list[MovedColumn]


class ThroughputStatus(Body):
    """Rows per second over the last minute."""

    predicted: float
    labelled: float


class StatusBody(Body):
    """The status of a stream."""

    state: Literal["paused", "waiting", "guarantee violated", "alarm", "healthy"]
    labelled: int = Field(description="Number of labels that were learned.")
    open: int = Field(description="Number of rows that wait for labels.")
    oldest_open_seconds: float | None = Field(description="Age of the oldest of them.")
    throughput: ThroughputStatus
    operations: int = Field(description="Number of requests that changed the stream.")
    classes: dict[str, int] = Field(description="Number of rows of each label.")
    errors: list[float] = Field(description="The error in at most 32 windows, the oldest first.")
    has_shadow: bool
    error: IntervalBody | None
    recent_error: IntervalBody | None = Field(description="The error of the last 1,000 rows.")
    answers: AnswersStatus | None
    sets: SetsStatus | None
    mistakes: MistakesStatus | None
    alarm: AlarmStatus | None


class StreamAnswer(Body):
    """A stream: its settings and its status."""

    name: str
    created: float = Field(description="Seconds since 1970.")
    parameters: dict[str, Any]
    columns: list[ColumnBody] | None
    expire_after: float
    status: StatusBody


class StreamsAnswer(Body):
    """Streams, by the time of their creation."""

    streams: list[StreamAnswer]


class WindowBody(Body):
    """Counts of rows that were labelled one after another."""

    n_rows: int
    n_predicted: int = Field(description="Rows that had a prediction; those before the first label have none.")
    n_wrong: int
    n_asked: int = Field(description="Rows that were predicted ahead of their label.")
    n_answered: int
    n_wrong_answers: int
    n_covered: int = Field(description="Rows whose set contained the label.")
    n_labels: int = Field(description="Number of labels in all sets.")
    n_wrong_shadow: int
    mistake_bound: float | None
    low: float | None
    high: float | None
    time: float = Field(description="Time of the last label, in seconds since 1970.")
    classes: dict[str, int]


class FiguresAnswer(Body):
    """Counts over time."""

    length: int = Field(description="Rows in a window; the last one may have fewer.")
    windows: list[WindowBody]


class DriftRow(Body):
    """How the mean of a column moves in a class."""

    label: LabelBody
    feature: str
    mean: float | None
    mean_error: float | None
    rate: float | None = Field(description="Change of the mean for each label, or each second.")
    rate_error: float | None
    surprise: float | None = Field(description="|rate| / rate_error: from 3 on, the mean moves.")


class DriftAnswer(Body):
    """The drift table, the most surprising row first."""

    rows: list[DriftRow]


class ComparisonBody(Body):
    """The errors of both models on the same rows, and a test of their difference."""

    rows: int
    error: float | None
    shadow_error: float | None
    difference: float | None = Field(description="shadow_error - error.")
    low: float | None
    high: float | None
    p: float | None
    verdict: str


class ShadowAnswer(FiguresAnswer):
    """A shadow, beside the model."""

    parameters: dict[str, Any]
    comparison: ComparisonBody


class KeyAnswer(Body):
    """A key without its secret."""

    id: str
    name: str
    scopes: dict[str, str]
    created: float


class NewKeyAnswer(KeyAnswer):
    """A key that was created."""

    key: str = Field(description="The key to send; it cannot be shown again.")


class KeysAnswer(Body):
    """The keys that have not been revoked."""

    keys: list[KeyAnswer]


class SessionAnswer(Body):
    """Whether requests need a key, and the key of this one."""

    needs_key: bool
    key: KeyAnswer | None


class WebhookAnswer(Body):
    """A webhook without its secret."""

    id: int
    url: str
    created: float


class NewWebhookAnswer(Body):
    """A webhook that was added."""

    id: int
    url: str
    secret: str = Field(description="Signs the events; it cannot be shown again.")


class WebhooksAnswer(Body):
    """The webhooks of a stream."""

    webhooks: list[WebhookAnswer]


class HealthAnswer(Body):
    """That the server lives, or is ready."""

    status: Literal["alive", "ready"]


class ProblemBody(BaseModel):
    """A problem, as RFC 9457 describes it."""

    type: str
    title: str
    status: int
    detail: str
