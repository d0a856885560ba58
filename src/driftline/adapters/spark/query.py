"""predict_then_learn: a DataFrame of Spark becomes one with predictions, figures and alarms."""

from collections.abc import Sequence
from datetime import timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any

from driftline.adapters.spark.columns import LABEL_TYPES, Columns, checked_features
from driftline.adapters.spark.settings import Settings
from driftline.ensemble.estimator import AMRC
from driftline.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NEEDED = ("pyspark.sql", "pandas", "pyarrow", "google.protobuf")
STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def predict_then_learn(
    df: "DataFrame",
    *,
    key: str,
    features: Sequence[str],
    label: str,
    time: str,
    classes: Any,
    id: str | None = None,  # noqa: A002  # the name that the argument has in `observe` and `label` is ids
    labels: "DataFrame | None" = None,
    model: AMRC | None = None,
    label_timeout: timedelta | None = None,
    time_to_live: timedelta | None = None,
    acknowledged: "DataFrame | None" = None,
) -> "DataFrame":
    """Predict each row of a DataFrame by the model of its key, then let that model learn its label.

    A streaming DataFrame becomes a streaming one; the models are in Spark's state, as versioned bytes, one for each
    key. A static DataFrame becomes a static one, with the same results: each key from its first row on, in the order of
    time.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The rows.
    key : str
        The column with the key: a customer, a machine, a sensor.
    features : sequence of str
        The columns to predict from. They are numbers; null and NaN are missing values.
    label : str
        The column with the label; null where it is not known yet.
    time : str
        The column by which the rows of a key are ordered: timestamps or whole numbers.
    classes : array-like
        The labels that can occur: texts, whole numbers or booleans, as in the column.
    id : str, optional
        The column with a text or a number by which a label that comes later finds its row. With it, a row without a
        label waits for its label. A row with a label and without any feature is the label of an earlier row; so is each
        row whose id waits. If the id of such a label is null, it is refused. Without `id`, a row without a label is
        predicted and not learned.
    labels : pyspark.sql.DataFrame, optional
        Labels that come later, with the same columns as df for key, id, label and time (when the label came); the same
        as if these rows were in df, with features that are null. A label that comes before its row is held until the
        row comes, at most 1,000 of a key.
    model : AMRC, optional
        The model that every key begins with, of ``memory="light"``: its parameters, and what it has learned. By default
        ``AMRC(memory="light")``, which has learned nothing.
    label_timeout : timedelta, optional
        How long a row waits for its label, and a label for its row, in the time of the rows. By default they wait until
        1,000 rows or labels of the key wait, of which the one that came first is given up.
    time_to_live : timedelta, optional
        How long the model of a key is kept without a row of this key. By default it is kept for ever.
    acknowledged : pyspark.sql.DataFrame, optional
        Acknowledgements of alarms, with the same columns as df for key and time: each arms the raised alarm of its key
        again, from the next row on, as `AMRC.acknowledge_alarm`. It should have no watermark.

    Returns
    -------
    pyspark.sql.DataFrame
        A row for each row of df, `labels` and `acknowledged`, and another one for each row that is given up and for
        each label that was held: key, time, id and label as they were; `event`, one of "learned", "predicted",
        "observed", "labelled", "held", "expired", "acknowledged" and "refused"; `prediction`, the most probable label
        before the label was learned, and `answer`, the same, or null where the row should be handed over;
        `confidence`; the figures of the key after the row, as in `AMRCFleet.status`; `alarm_since`, on the row that
        raises an alarm the number of the row (the label), counted from 0, since which the error is higher; `moved`, on
        this row and on each hundredth, the columns that move; and `problem`, why a row was refused or given up.

    Raises
    ------
    ConfigError
        If the columns, their types, the model or the session of Spark cannot be used; the message says what can.
    MissingExtraError
        If Spark is not installed, or is older than 4.1.

    See Also
    --------
    driftline.fleet.AMRCFleet : The same without Spark.

    Examples
    --------
    >>> def watch(sensors):  # a streaming DataFrame
    ...     return predict_then_learn(
    ...         sensors, key="sensor", features=["x", "y"], label="state", time="at", classes=["fine", "worn"]
    ...     )
    """
    _check_installed()
    _check_frames(df, labels=labels, acknowledged=acknowledged)
    model = AMRC(memory="light") if model is None else model
    durations = _microseconds("label_timeout", label_timeout), _microseconds("time_to_live", time_to_live)
    settings = Settings.of(model, checked_features(features), classes, *durations, has_ids=id is not None)
    label_type = LABEL_TYPES.get(settings.label_type)
    if label_type is None:
        raise ConfigError(f"classes must be texts, whole numbers or booleans; got {list(settings.classes)}")
    columns = Columns(key, time, label, settings.columns, id, label_type)
    _check(df, columns, settings, labels=labels, acknowledged=acknowledged)
    rows = columns.rows(df, columns.features)
    if labels is not None:
        rows = rows.unionByName(columns.rows(labels, ()))
    if acknowledged is not None:
        rows = rows.unionByName(columns.acknowledgements(acknowledged, rows))
    outcomes = _stream(rows, settings) if df.isStreaming else _back_test(rows, settings)
    return columns.results(outcomes, df)


def _check_installed() -> None:
    for name in NEEDED:
        try:
            import_module(name)
        except ImportError as error:
            raise MissingExtraError(
                f"predict_then_learn needs {name.split('.')[0]}; pip install 'driftline[spark]'"
            ) from error
    if not hasattr(import_module("pyspark.sql").GroupedData, "transformWithState"):
        raise MissingExtraError(
            f"predict_then_learn needs pyspark 4.1 or newer; found {import_module('pyspark').__version__}: "
            "pip install --upgrade 'driftline[spark]'"
        )


def _check_frames(df: Any, **others: Any) -> None:
    """Raise ConfigError unless df is a DataFrame of Spark, and so are the others that are given."""
    for name, frame in {"df": df, **{name: frame for name, frame in others.items() if frame is not None}}.items():
        if not hasattr(frame, "isStreaming"):
            raise ConfigError(
                f"{name} must be a DataFrame of Spark; got {type(frame)}: spark.createDataFrame makes one of a "
                "table of pandas"
            )


def _microseconds(name: str, duration: timedelta | None) -> int | None:
    if duration is None:
        return None
    if not isinstance(duration, timedelta) or duration <= timedelta(0):
        raise ConfigError(f"{name} must be a positive timedelta, or None; got {duration!r}")
    return duration // timedelta(microseconds=1)


def _check(
    df: "DataFrame",
    columns: Columns,
    settings: Settings,
    *,
    labels: "DataFrame | None",
    acknowledged: "DataFrame | None",
) -> None:
    """Raise ConfigError unless the query can run."""
    columns.check()
    columns.check_types(df, columns.features)
    if labels is not None:
        _check_like(df, labels, "labels", columns.of_row)
    if acknowledged is not None:
        _check_like(df, acknowledged, "acknowledged", (columns.key, columns.time))
    if columns.id is None and (labels is not None or settings.label_timeout is not None):
        raise ConfigError("labels that come later need id, the column by which they find their rows")
    if settings.has_durations:
        _check_times({"df": df} | ({} if labels is None else {"labels": labels}), columns)
    if df.isStreaming and df.sparkSession.conf.get(STATE_STORE, "") != ROCKSDB:
        raise ConfigError(f"expected the state store RocksDB; set {STATE_STORE} to {ROCKSDB}")


def _check_like(df: "DataFrame", other: "DataFrame", name: str, needed: Sequence[str]) -> None:
    """Raise ConfigError unless another DataFrame has some of the columns of df, and is streaming if df is."""
    if other.isStreaming != df.isStreaming:
        raise ConfigError(f"df and {name} must both be streaming DataFrames, or both static ones")
    expected, given = dict(df.dtypes), dict(other.dtypes)
    for column in needed:
        if given.get(column) != expected[column]:
            has = f"it is {given[column]}: cast it" if column in given else f"there are {other.columns}"
            raise ConfigError(f"column {column!r} of {name} must be {expected[column]}, as in df; {has}")


def _check_times(sources: "dict[str, DataFrame]", columns: Columns) -> None:
    """Raise ConfigError unless it can be known that a time has passed."""
    for name, source in sources.items():
        if not columns.is_timestamp(source):
            raise ConfigError(
                f"label_timeout and time_to_live need timestamps in the column {columns.time!r} of {name}"
            )
        if source.isStreaming and not columns.has_watermark(source):
            raise ConfigError(
                "label_timeout and time_to_live need a watermark, which tells how late rows may come: pass "
                f"{name}.withWatermark({columns.time!r}, '10 minutes'), for example"
            )


def _stream(rows: "DataFrame", settings: Settings) -> "DataFrame":
    """Return the outcomes of a streaming DataFrame, whose models are in Spark's state."""
    from driftline.adapters.spark.workers import KeyProcessor  # noqa: PLC0415  # an extra may be missing

    time_mode = "EventTime" if settings.has_durations else "None"  # by the watermark of the column time
    rows = rows if settings.has_durations else rows.drop("time")
    processor = KeyProcessor(settings, dict(rows.dtypes)["id"])
    return rows.groupBy("key").transformWithState(processor, _schema(rows), "Append", time_mode)


def _back_test(rows: "DataFrame", settings: Settings) -> "DataFrame":
    """Return the outcomes of a static DataFrame."""
    from driftline.adapters.spark.workers import back_test  # noqa: PLC0415  # an extra may be missing

    return rows.drop("time").groupBy("key").applyInArrow(back_test(settings), _schema(rows))


def _schema(rows: "DataFrame") -> str:
    return f"key {dict(rows.dtypes)['key']}, outcomes string"
