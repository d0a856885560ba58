"""Which columns of a DataFrame mean what, and the same columns under the names that the workers use."""

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from driftline.adapters.spark.outcomes import result_columns
from driftline.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

WHOLE_NUMBERS = ("tinyint", "smallint", "int", "bigint")
TIMESTAMPS = ("timestamp", "timestamp_ntz")
NUMBERS = (*WHOLE_NUMBERS, "float", "double", "boolean", "decimal")
NESTED = ("array", "struct", "map", "variant")
"""Types that a key cannot have."""
EPOCH = "1970-01-01"
"""The time from which times without a zone are counted."""
WATERMARK = "spark.watermarkDelayMs"
"""Where the schema of a DataFrame says that a column has a watermark."""
LABEL_TYPES: dict[type, str] = {str: "string", int: "bigint", bool: "boolean"}
"""Types of labels in Spark, by those in Python."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns that mean something.

    Attributes
    ----------
    key, time, label : str
        The key, the time and the label of a row.
    features : tuple of str
        Its features.
    id : str or None
        By which labels that come later find their rows.
    label_type : str
        The type of labels in Spark.
    """

    key: str
    time: str
    label: str
    features: tuple[str, ...]
    id: str | None
    label_type: str

    @property
    def of_row(self) -> tuple[str, ...]:
        """The columns of a row that the result has, too."""
        return (self.key, self.time, *([] if self.id is None else [self.id]), self.label)

    def check(self) -> None:
        """Raise ConfigError unless the result has a name for each column, and the label is not a feature."""
        for role in ("key", "time", "label", *([] if self.id is None else ["id"])):
            if not isinstance(getattr(self, role), str):
                raise ConfigError(f"{role} must be the name of a column; got {getattr(self, role)!r}")
        twice = _alike([*self.of_row, *result_columns(self.label_type)])
        if twice:
            raise ConfigError(
                f"the result would have two columns {', '.join(map(repr, twice))} (by default Spark does not "
                "tell small from capital letters); rename those of the DataFrame, or give different columns as key, "
                "time, id and label"
            )
        if _alike([self.label, *self.features]):
            raise ConfigError(f"features must not have the label {self.label!r} among them; got {list(self.features)}")

    def check_types(self, df: "DataFrame", features: tuple[str, ...]) -> None:
        """Raise ConfigError unless a DataFrame has these columns, of types that can be used."""
        types = dict(df.dtypes)
        missing = [name for name in (*self.of_row, *features) if name not in types]
        if missing:
            raise ConfigError(f"expected columns {', '.join(map(repr, missing))}; the DataFrame has {df.columns}")
        if types[self.key].startswith(NESTED):
            raise ConfigError(
                f"column {self.key!r} must not be {' or '.join(NESTED)}; it is {types[self.key]}: give a column of "
                "texts or numbers as key"
            )
        of_label = WHOLE_NUMBERS if self.label_type == "bigint" else (self.label_type,)
        wanted: dict[str, tuple[str, ...]] = {self.label: of_label, self.time: (*WHOLE_NUMBERS, *TIMESTAMPS)}
        wanted |= {} if self.id is None else {self.id: (*WHOLE_NUMBERS, "string")}
        wanted |= dict.fromkeys(features, NUMBERS)
        for name, types_allowed in wanted.items():
            if types[name].split("(")[0] not in types_allowed:
                raise ConfigError(f"column {name!r} must be {' or '.join(types_allowed)}; it is {types[name]}: cast it")

    def id_type(self, df: "DataFrame") -> str:
        """Return the type of ids in Spark."""
        return "bigint" if self.id is not None and dict(df.dtypes)[self.id] in WHOLE_NUMBERS else "string"

    def is_timestamp(self, df: "DataFrame") -> bool:
        """Return whether times are timestamps, and not numbers."""
        return dict(df.dtypes)[self.time] in TIMESTAMPS

    def has_watermark(self, df: "DataFrame") -> bool:
        """Return whether the times have a watermark."""
        return WATERMARK in (df.schema[self.time].metadata or {})

    def rows(self, df: "DataFrame", features: tuple[str, ...]) -> "DataFrame":
        """Return key, time, moment, id, label and x of each row; without features, x is missing."""
        from pyspark.sql import functions as F  # noqa: N812, PLC0415

        missing = F.lit(None).cast("double")
        x = [F.col(_quoted(name)).cast("double") for name in features] or [missing] * len(self.features)
        id_type = self.id_type(df)
        row_id = F.lit(None) if self.id is None else F.col(_quoted(self.id))
        return df.select(
            F.col(_quoted(self.key)).alias("key"),
            F.col(_quoted(self.time)).alias("time"),
            self._moment(df).alias("moment"),
            row_id.cast(id_type).alias("id"),
            F.col(_quoted(self.label)).cast(self.label_type).alias("label"),
            F.array(*x).alias("x"),
        )

    def acknowledgements(self, df: "DataFrame", rows: "DataFrame") -> "DataFrame":
        """Return key, time and moment of each acknowledgement, with the other columns of rows, all null."""
        from pyspark.sql import functions as F  # noqa: N812, PLC0415

        others = [F.lit(None).cast(dict(rows.dtypes)[name]).alias(name) for name in ("id", "label", "x")]
        key, time = (F.col(_quoted(name)).alias(alias) for name, alias in ((self.key, "key"), (self.time, "time")))
        return df.select(key, time, self._moment(df).alias("moment"), *others)

    def _moment(self, df: "DataFrame") -> "Column":
        from pyspark.sql import functions as F  # noqa: N812, PLC0415

        time, time_type = F.col(_quoted(self.time)), dict(df.dtypes)[self.time]
        if time_type == "timestamp_ntz":  # cast to timestamp, hours that a change of the clock omits would be moved
            seconds = (time - F.lit(EPOCH).cast(time_type)).cast("decimal(20, 6)")
            return (seconds * 1_000_000).cast("bigint")
        return F.unix_micros(time) if time_type == "timestamp" else time.cast("bigint")

    def results(self, outcomes: "DataFrame", df: "DataFrame") -> "DataFrame":
        """Return a row for each outcome, with the names and types that these columns have in a DataFrame."""
        from pyspark.sql import functions as F  # noqa: N812, PLC0415

        types, of_row = dict(df.dtypes), {"moment": "bigint", "id": self.id_type(df), "label": self.label_type}
        fields = (of_row | result_columns(self.label_type)).items()
        schema = f"array<struct<{', '.join(f'{name}: {type_name}' for name, type_name in fields)}>>"
        read = F.from_json("outcomes", schema, {"mode": "FAILFAST"})
        result = outcomes.select("key", F.explode(read).alias("outcome")).select("key", "outcome.*")
        values: list[Any] = [F.col("key").alias(self.key), _time(types[self.time]).alias(self.time)]
        values += [] if self.id is None else [F.col("id").cast(types[self.id]).alias(self.id)]
        label = F.col("label").cast(types[self.label]).alias(self.label)
        return result.select(*values, label, *result_columns(self.label_type))


def checked_features(features: Any) -> tuple[str, ...]:
    """Return the names of the features; raise ConfigError unless they are a sequence of different names."""
    has_order = isinstance(features, Collection) and not isinstance(features, str | bytes | Set | Mapping)
    if not has_order or not len(features) or not all(isinstance(name, str) for name in features):
        raise ConfigError(f"features must be a sequence of one or more names of columns; got {features!r}")
    twice = _alike(features)
    if twice:
        raise ConfigError(f"features must name each column once; got {', '.join(map(repr, twice))} more than once")
    return tuple(map(str, features))


def _alike(names: Collection[str]) -> list[str]:
    """Return the names that Spark does not tell from another one, sorted: it ignores small and capital letters."""
    lower = [name.lower() for name in names]
    return sorted({name for name in names if lower.count(name.lower()) > 1})


def _time(time_type: str) -> "Column":
    """Return the time of a row, of a type in Spark."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    moment = F.col("moment")
    if time_type == "timestamp_ntz":
        return F.timestamp_add("MICROSECOND", moment, F.lit(EPOCH).cast(time_type))
    return F.timestamp_micros(moment) if time_type == "timestamp" else moment.cast(time_type)


def _quoted(name: str) -> str:
    """Return a name of a column as Spark reads it, also where it has dots."""
    return f"`{name.replace('`', '``')}`"
