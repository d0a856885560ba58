"""Which columns of a DataFrame mean what, and the same columns under the names that the workers use."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from driftline.adapters.spark.outcomes import result_columns
from driftline.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

WHOLE_NUMBERS = ("tinyint", "smallint", "int", "bigint")
TIMESTAMPS = ("timestamp", "timestamp_ntz")
NUMBERS = (*WHOLE_NUMBERS, "float", "double", "boolean", "decimal")
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
        """Raise ConfigError unless the result has a name for each column."""
        names = [*self.of_row, *result_columns(self.label_type)]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ConfigError(
                f"the result would have two columns {', '.join(map(repr, twice))}; rename those of the DataFrame, or "
                "give different columns as key, time, id and label"
            )

    def check_types(self, df: "DataFrame", features: tuple[str, ...]) -> None:
        """Raise ConfigError unless a DataFrame has these columns, of types that can be used."""
        types = dict(df.dtypes)
        missing = [name for name in (*self.of_row, *features) if name not in types]
        if missing:
            raise ConfigError(f"expected columns {', '.join(map(repr, missing))}; the DataFrame has {df.columns}")
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

        time = F.col(_quoted(self.time))
        return F.unix_micros(time.cast("timestamp")) if self.is_timestamp(df) else time.cast("bigint")

    def results(self, outcomes: "DataFrame", df: "DataFrame") -> "DataFrame":
        """Return a row for each outcome, with the names and types that these columns have in a DataFrame."""
        from pyspark.sql import functions as F  # noqa: N812, PLC0415

        types, of_row = dict(df.dtypes), {"moment": "bigint", "id": self.id_type(df), "label": self.label_type}
        fields = (of_row | result_columns(self.label_type)).items()
        schema = f"array<struct<{', '.join(f'{name}: {type_name}' for name, type_name in fields)}>>"
        read = F.from_json("outcomes", schema, {"mode": "FAILFAST"})
        result = outcomes.select("key", F.explode(read).alias("outcome")).select("key", "outcome.*")
        moment = F.col("moment")
        time = F.timestamp_micros(moment) if self.is_timestamp(df) else moment
        values: list[Any] = [F.col("key").alias(self.key), time.cast(types[self.time]).alias(self.time)]
        values += [] if self.id is None else [F.col("id").cast(types[self.id]).alias(self.id)]
        label = F.col("label").cast(types[self.label]).alias(self.label)
        return result.select(*values, label, *result_columns(self.label_type))


def _quoted(name: str) -> str:
    """Return a name of a column as Spark reads it, also where it has dots."""
    return f"`{name.replace('`', '``')}`"
