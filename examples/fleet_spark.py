"""A fleet of sensors on Spark: CSV files → predict_then_learn → Parquet → a page on how the sensors are doing.

    python examples/fleet_spark.py [--sensors 1000] [--rows 480] [--folder fleet]

It needs Java 17 or newer and ``pip install 'driftline[spark]'``. The sensors are made up: each measures vibration,
temperature and current once a minute, and has its own limit of vibration above which its machine is worn. Sensor 7
breaks after half of the time and sensor 11 a little later; then they show noise. Later all sensors of hall 3 are moved
to machines whose state they cannot tell. Do the alarms say so? Run it a second time: it goes on from its checkpoint,
and finds that nothing is left to do. It takes about a minute on two cores.
"""

import argparse
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from pyspark.sql import SparkSession

from driftline import AMRC
from driftline.adapters.spark import predict_then_learn
from driftline.guarantees import Guarantees

COLUMNS = ["vibration", "temperature", "current"]
SCHEMA = "sensor string, at timestamp, vibration double, temperature double, current double, state string"
N_FILES, N_HALLS = 8, 5
BROKEN = {7: 0.5, 11: 0.6}
"""Sensors that break, and when."""
MOVED_HALL, MOVED_AT = 3, 0.7
ERROR, TOLERATED = 0.1, 0.2
"""The share of wrong answers that is allowed, and the error above which an alarm is raised."""
ABOVE = f"above {TOLERATED:.0%}?"
ALLOWANCE = 26
"""So many wrong answers more than ERROR * answers are possible, as is proved (docs/how-to/guarantees.md). Rows on trial
allow more, and the results do not count them."""
ANSWERS, VERDICTS = f"at most {ERROR:.0%}?", ("yes", "no, as allowed", "not known")
"""Whether the guarantee of the answers of a sensor holds."""
WINDOW, MANY = pd.Timedelta("20min"), 5
"""So many sensors whose error rises within so long of each other drift together."""
MODEL = AMRC(memory="light", features="linear", guarantees=Guarantees(errors=ERROR, tolerated=TOLERATED, rise=None))
STYLE = "body{font:15px sans-serif;margin:2em}td,th{padding:.2em .8em;text-align:right;white-space:nowrap}"


def make_files(folder: Path, n_sensors: int, n_rows: int) -> None:
    """Write the readings of all sensors as CSV files, each with an eighth of the time."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    sensors, limits = np.arange(n_sensors), rng.normal(scale=0.5, size=n_sensors)
    names = [f"hall {k % N_HALLS} sensor {k}" for k in sensors]
    breaks_at = np.array([BROKEN.get(k, 1.0) for k in sensors]) * n_rows
    for number, minutes in enumerate(np.array_split(np.arange(n_rows), N_FILES)):
        tables = []
        for minute in minutes:
            X = rng.normal(size=(n_sensors, len(COLUMNS)))
            worn = X[:, 0] + 0.3 * rng.normal(size=n_sensors) > limits
            noise = rng.normal(size=(n_sensors, len(COLUMNS)))
            cannot_tell = (breaks_at <= minute) | ((sensors % N_HALLS == MOVED_HALL) & (minute >= MOVED_AT * n_rows))
            X = np.where(cannot_tell[:, None], noise, X)
            table = pd.DataFrame(X.round(4), columns=COLUMNS).assign(state=np.where(worn, "worn", "fine"))
            at = pd.Timestamp("2026-01-01") + pd.Timedelta(int(minute), "min")
            tables.append(table.assign(sensor=names, at=at)[["sensor", "at", *COLUMNS, "state"]])
        path = folder / f"{number}.csv"
        pd.concat(tables).to_csv(path, index=False)
        os.utime(path, (1_700_000_000 + number,) * 2)  # Spark reads files in the order of their times


def start_spark():
    """Return a session on two cores of this machine, with the state in RocksDB."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    store = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "2g")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.streaming.stateStore.providerClass", store)
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )


def run(spark, folder: Path) -> pd.DataFrame:
    """Let Spark predict and learn all files that it has not read yet; return all results."""
    readings = spark.readStream.schema(SCHEMA).option("header", True).option("maxFilesPerTrigger", 1)
    results = predict_then_learn(
        readings.csv(str(folder / "in")),
        key="sensor",
        features=COLUMNS,
        label="state",
        time="at",
        classes=["fine", "worn"],
        model=MODEL,
    )
    query = (
        results.writeStream.format("parquet")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / "out"))
    )
    query.awaitTermination()
    for batch in query.recentProgress:
        print(f"{batch.numInputRows:,} rows in {batch.batchDuration / 1000:.1f} s")
    return spark.read.parquet(str(folder / "out")).toPandas().sort_values("at")


def status_of(results: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each sensor: how wrong it and its answers have been, if that is too much, and if it drifts."""
    last = results.groupby("sensor").last()
    table = pd.DataFrame({"rows": last["n_rows"], "error": last["error"], "at least": last["low"]})
    table["at most"], table["answered"] = last["high"], last["n_answered"] / last["n_rows"]
    table["wrong answers"] = last["n_wrong_answers"] / last["n_answered"]
    n_beyond = last["n_wrong_answers"] - ERROR * last["n_answered"]
    table[ANSWERS] = np.select([n_beyond <= 0, n_beyond <= ALLOWANCE], VERDICTS[:2], VERDICTS[2])
    table[ABOVE] = np.select([last["low"] > TOLERATED, last["high"] <= TOLERATED], ["yes", "no"], "not known")
    raised = results[results["alarm_since"].notna()].set_index("sensor")
    times = results.set_index(["sensor", "n_rows"])["at"]
    since = pd.Series({key: times[key, int(row) + 1] for key, row in raised["alarm_since"].items()}, dtype=times.dtype)
    table["worse since"] = since
    table["drifts"] = since.map(lambda at: "together" if ((since - at).abs() <= WINDOW).sum() >= MANY else "alone")
    return table.sort_values(["worse since", "error"], ascending=[True, False])


def write_page(table: pd.DataFrame, path: Path) -> None:
    """Write the sensors with an alarm, and the ten worst of the others, as a page."""
    drifting = table["worse since"].notna()
    shown = pd.concat([table[drifting], table[~drifting].head(10)])
    shares = ["error", "at least", "at most", "answered", "wrong answers"]
    body = shown.rename_axis(None).to_html(formatters=dict.fromkeys(shares, "{:.1%}".format), na_rep="", border=0)
    counts, answers = table["drifts"].value_counts(), table[ANSWERS].value_counts()
    summary = (
        f"{len(table):,} sensors. {counts.get('together', 0)} drift together, {counts.get('alone', 0)} alone. "
        f"Error above the tolerated {TOLERATED:.0%}: "
        f"{', '.join(f'{n} {what}' for what, n in table[ABOVE].value_counts().items())} "
        "(for each sensor, the limits of its error hold with 95% probability). "
        f"Answers at most {ERROR:.0%} wrong: {'; '.join(f'{answers.get(what, 0)} {what}' for what in VERDICTS)} "
        f"(the proof allows each sensor {ALLOWANCE} wrong answers more, and further ones if rows were on trial)."
    )
    path.write_text(f"<meta charset=utf-8><title>Fleet</title><style>{STYLE}</style><h1>Fleet</h1><p>{summary}{body}")
    print(summary)
    print(shown.drop(columns=["rows", "at most"]).head(12).to_string(float_format="{:.2f}".format))
    print("written:", path)


def main() -> None:
    """Make the files if there are none, run Spark on them, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sensors", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=480)
    parser.add_argument("--folder", type=Path, default=Path("fleet"))
    given = parser.parse_args()
    if not (given.folder / "in").exists():
        make_files(given.folder / "in", given.sensors, given.rows)
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    spark = start_spark()
    write_page(status_of(run(spark, given.folder)), given.folder / "fleet.html")
    spark.stop()


if __name__ == "__main__":
    main()
