"""Speed of predict_then_learn on Spark, on two cores of this machine, beside the same rows in a call of a fleet.

    python benchmarks/bench_spark.py [--keys 2000] [--write]

Each micro-batch has a row, ten rows or fifty rows of each key. *fleet* is one call of `AMRCFleet.step` with these rows,
on two threads. *engine* is Spark alone: the same query, whose workers read and write a state of the same size, and
learn nothing. Speeds are by the clock: medians of the micro-batches after the first one, in which the workers start.
`--write` writes the tables to results/spark.md.
"""

import argparse
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd
from pyspark.sql import Row, SparkSession
from pyspark.sql.streaming import StatefulProcessor

from driftline import AMRC
from driftline.adapters.spark import predict_then_learn
from driftline.adapters.spark.key_learner import KeyLearner
from driftline.adapters.spark.key_state import KeyRow, KeyState
from driftline.adapters.spark.settings import Settings
from driftline.fleet import AMRCFleet
from provenance import write_results

COLUMNS, CLASSES = [f"x{j}" for j in range(8)], [0, 1]
SCHEMA = f"key bigint, at bigint, {', '.join(f'{name} double' for name in COLUMNS)}, y bigint"
ROWS_PER_KEY, N_BATCHES = (1, 10, 50), 5
N_CORES = 2
MAX_ROWS = 20_000
"""Rows of a micro-batch, at most: with many rows per key there are fewer keys."""
STORE = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

EXPLANATION = """# Fleets on Spark

`predict_then_learn` on Spark in local mode with {n_cores} cores and two partitions of state in RocksDB; light models
with {n_columns} columns and two classes. Each micro-batch is a Parquet file with so many rows of each key. *fleet* is
one call of `AMRCFleet.step` with the same rows in one process, on {n_cores} threads. *engine* is Spark alone: the same
query with workers that read and write a state of the same size and learn nothing. Rows per second by the clock, medians
of {n_batches} micro-batches after the first one, in which the workers start and load the compiled kernels. The second
table is about one process: processor time of the parts for one key. The load of the machine was {load:.1f} at the end
of the run; above {n_cores}, other programs had a share of its cores.
"""


class Engine(StatefulProcessor):
    """Reads and writes a state of a size for each key, and returns its rows."""

    def __init__(self, state):
        self._state = state

    def init(self, handle):
        """Open the state."""
        self._value = handle.getValueState("key", "model binary")

    def handleInputRows(self, key, rows, timerValues):
        """Read and write the state; return key, time and label of each row."""
        self._value.get()
        self._value.update((self._state,))
        for row in rows:
            yield Row(key=key[0], at=row["at"], y=row["y"])

    def close(self):
        """Do nothing."""


def start_spark():
    """Return a session on two cores, with two partitions of state."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    builder = SparkSession.builder.master(f"local[{N_CORES}]").config("spark.driver.memory", "2g")
    builder = builder.config("spark.sql.shuffle.partitions", N_CORES).config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR")
    return builder.config("spark.sql.streaming.stateStore.providerClass", STORE).getOrCreate()


def batch_of(rng, number, n_keys, n_rows):
    """Return a table with so many rows of each key."""
    keys = np.tile(np.arange(n_keys), n_rows)
    X = rng.normal(size=(len(keys), len(COLUMNS)))
    y = (X[:, 0] + 0.5 * rng.normal(size=len(keys)) > 0).astype(int)
    times = number * n_rows + np.repeat(np.arange(n_rows), n_keys)
    return pd.DataFrame(X, columns=COLUMNS).assign(key=keys, at=times, y=y)


def seconds_of(spark, folder, result, name):
    """Run a query on all files of a folder; return the seconds of the micro-batches after the first."""
    writer = result.writeStream.format("parquet").option("checkpointLocation", f"{folder}/{name}/checkpoint")
    query = writer.trigger(availableNow=True).start(f"{folder}/{name}/out")
    query.awaitTermination()
    return [batch.durationMs["triggerExecution"] / 1000 for batch in query.recentProgress[1:]]


def new_fleet(model, n_threads):
    """Return a fleet of models with the parameters of a model."""
    return AMRCFleet(len(COLUMNS), CLASSES, start="blank", features=model.features, n_threads=n_threads)


def compare(spark, model, n_keys, n_rows):
    """Return a line of the first table."""
    rng = np.random.default_rng(0)
    n_keys = min(n_keys, MAX_ROWS // n_rows)
    batches = [batch_of(rng, number, n_keys, n_rows) for number in range(N_BATCHES + 1)]
    fleet = new_fleet(model, N_CORES)
    of_fleet = []
    for batch in batches:
        start = time.perf_counter()
        fleet.step(batch[COLUMNS].to_numpy(), batch["y"].to_numpy(), batch["key"].to_numpy())
        of_fleet.append(time.perf_counter() - start)
    with tempfile.TemporaryDirectory() as folder:
        for number, batch in enumerate(batches):
            path = Path(folder, f"{number}.parquet")
            batch.to_parquet(path)
            os.utime(path, (1_700_000_000 + 60 * number,) * 2)
        rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(f"{folder}/*.parquet")
        state = fleet.key_state(0)
        kept = "key bigint, at bigint, y bigint"
        copied = rows.groupBy("key").transformWithState(Engine(state), kept, "Append", "None")
        learned = predict_then_learn(
            rows, key="key", features=COLUMNS, label="y", time="at", classes=CLASSES, model=model
        )
        engine = seconds_of(spark, folder, copied, "engine")
        spark_seconds = seconds_of(spark, folder, learned, "learned")
    n = n_keys * n_rows
    speeds = [n / median(seconds) for seconds in (spark_seconds, engine, of_fleet[1:])]
    return (
        model.features,
        f"{n_keys:,} × {n_rows}",
        f"{len(state) / 1024:.0f}",
        *(f"{speed:,.0f}" for speed in speeds),
        f"{speeds[2] / speeds[0]:.1f} ×",
        f"{1e6 * N_CORES * (1 / speeds[0] - 1 / speeds[1]):,.0f}",
    )


def cost_of_parts(model):
    """Return a line of the second table: processor time of the parts of a worker's work, for one key."""
    rng = np.random.default_rng(0)
    batch = batch_of(rng, 0, 1, 500)
    fleet = new_fleet(model, 1)
    X, y = batch[COLUMNS].to_numpy(), batch["y"].to_numpy()
    fleet.step(X, y, [0] * 500)
    state = fleet.key_state(0)
    settings = Settings.of(model, COLUMNS, CLASSES)
    rows = [KeyRow(t, None, x, label) for t, (x, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True))]
    parts = (
        (lambda: fleet.set_key_state(0, state, trusted=True), 1),
        (lambda: fleet.key_state(0), 1),
        (lambda: fleet.set_key_state(0, state), 1),
        (lambda: fleet.step(X, y, [0] * 500), 500),
        (lambda: KeyLearner(settings, KeyState(state)).process(rows[:1]), 1),
        (lambda: KeyLearner(settings, KeyState(state)).process(rows[:50]), 50),
    )
    return model.features, *(f"{processor_micros(call) / n:,.0f}" for call, n in parts)


def processor_micros(call):
    """Return the microseconds of processor time that a call takes: the median of some."""
    taken = []
    for _ in range(50):
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    return 1e6 * median(taken[10:])


def markdown(columns, lines):
    """Return a table as lines of Markdown."""
    return [f"| {' | '.join(each)} |" for each in (columns, ["---:"] * len(columns), *lines)]


def main():
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--keys", type=int, default=2000, help="most keys in a micro-batch")
    parser.add_argument("--write", action="store_true", help="write the tables to results/spark.md")
    given = parser.parse_args()
    models = [AMRC(memory="light", features=features) for features in ("linear", "auto")]
    spark = start_spark()
    speeds = [compare(spark, model, given.keys, n_rows) for model in models for n_rows in ROWS_PER_KEY]
    spark.stop()
    columns = ["features", "keys × rows", "KiB each", "Spark rows/s", "engine rows/s", "fleet rows/s", "fleet to Spark"]
    lines = markdown([*columns, "µs a row beside the engine"], speeds)
    columns = ["features", "µs to restore a key", "to serialise it", "to check all of it", "to learn a row"]
    costs = [cost_of_parts(model) for model in models]
    lines += ["", *markdown([*columns, "a call with 1 row", "a row of a call with 50"], costs)]
    print("\n".join(lines))
    if given.write:
        sizes = {"n_cores": N_CORES, "n_columns": len(COLUMNS), "n_batches": N_BATCHES}
        explanation = EXPLANATION.format(**sizes, load=os.getloadavg()[0])
        write_results("spark", explanation, lines, ["pyspark", "pyarrow"])


if __name__ == "__main__":
    main()
