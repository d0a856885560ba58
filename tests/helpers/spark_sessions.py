"""Sessions of Spark on this machine, folders that a stream reads file by file, and a query that can be killed."""

import os
import sys
import warnings
from pathlib import Path

FEATURES = ["a", "b", "c"]
SCHEMA = "sensor bigint, at timestamp, nr bigint, a double, b double, c double, state string"


def local_session(folder, n_cores=2):
    """Return a session whose workers run this Python with its modules."""
    from pyspark.sql import SparkSession  # noqa: PLC0415  # may be missing

    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    options = {
        "spark.driver.memory": "2g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.streaming.stateStore.providerClass": (
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
        ),
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.local.dir": f"{folder}/local",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master(f"local[{n_cores}]")
    for name, value in options.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def write_files(tables, folder, first=0):
    """Write pandas tables to Parquet files with these and the next numbers, which a stream reads in this order."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for number, table in enumerate(tables, first):
        path = Path(folder, f"{number:03}.parquet")
        table.to_parquet(path, coerce_timestamps="us")
        os.utime(path, (1_700_000_000 + 60 * number,) * 2)


def stream_of(spark, folder):
    """Return a streaming DataFrame with a micro-batch for each file of a folder."""
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder))


def start(result, folder):
    """Start a query that writes a streaming DataFrame into a folder, until its source has no more files."""
    writer = result.writeStream.format("parquet").option("checkpointLocation", f"{folder}/checkpoint")
    return writer.trigger(availableNow=True).start(f"{folder}/result")


def main(source, folder, n_cores):
    """Run a query to its end, if nobody kills it."""
    from driftline import AMRC  # noqa: PLC0415
    from driftline.adapters.spark import predict_then_learn  # noqa: PLC0415
    from helpers.fleets import CLASSES  # noqa: PLC0415

    result = predict_then_learn(
        stream_of(local_session(folder, n_cores), source),
        key="sensor",
        features=FEATURES,
        label="state",
        time="at",
        id="nr",
        classes=CLASSES,
        model=AMRC(memory="light", features="linear"),
    )
    start(result, folder).awaitTermination()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
