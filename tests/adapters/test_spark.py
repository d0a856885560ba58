"""predict_then_learn in Spark, on this machine: run by make test-spark, because starting Spark takes half a minute."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from driftline import AMRC
from driftline.adapters.spark import predict_then_learn
from driftline.adapters.spark.outcomes import FIGURES
from driftline.adapters.spark.settings import fleet_like
from driftline.errors import ConfigError
from driftline.guarantees import Guarantees
from helpers.fleets import CLASSES, rows_of
from helpers.printed_text import prints
from helpers.spark_sessions import FEATURES, SCHEMA, local_session, start, stream_of, write_files

pytestmark = pytest.mark.spark
pytest.importorskip("pyspark", reason="needs pyspark; pip install 'driftline[spark]'")
pd = pytest.importorskip("pandas", reason="needs pandas; pip install 'driftline[spark]'")
if "JAVA_HOME" not in os.environ and shutil.which("java") is None:
    pytest.skip("needs Java 17 or newer", allow_module_level=True)

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "spark.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)
COLUMNS = {"key": "sensor", "features": FEATURES, "label": "state", "time": "at", "classes": CLASSES}
LINEAR = AMRC(memory="light", features="linear")


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    session = local_session(tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()


def table_of(n, n_keys, seed=0):
    """Return rows of sensors, one each second: at least one of each sensor, and most of a few."""
    rng = np.random.default_rng(seed)
    X, y, _ = rows_of(rng, n, 1)
    shares = 1.0 / np.arange(1, n_keys + 1)
    sensors = rng.permutation(np.append(np.arange(n_keys), rng.choice(n_keys, n - n_keys, p=shares / shares.sum())))
    at = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(n), unit="s")
    columns = dict(zip(FEATURES, X.T, strict=True))
    return pd.DataFrame({"sensor": sensors, "at": at, "nr": np.arange(n), **columns, "state": y})


def in_pieces(table, n):
    return [table.iloc[part] for part in np.array_split(np.arange(len(table)), n)]


def run(result, folder):
    """Run a query to its end; return the rows that it wrote and its progress reports."""
    query = start(result, folder)
    query.awaitTermination()
    rows = result.sparkSession.read.schema(result.schema).parquet(f"{folder}/result")
    return as_pandas(rows), query.recentProgress


def as_pandas(rows):
    return rows.toPandas().sort_values(["at", "nr"] if "nr" in rows.columns else "at").reset_index(drop=True)


def assert_results_of_fleet(result, table, model=LINEAR):
    """Assert that a result has what a fleet in this process says of the same rows."""
    fleet = fleet_like(model, 3, CLASSES)
    said = fleet.step(table[FEATURES], table["state"], table["sensor"])
    assert result["sensor"].tolist() == table["sensor"].tolist()
    assert result["prediction"].tolist() == said.labels.tolist()
    assert [None if pd.isna(each) else each for each in result["answer"]] == said.answers.tolist()
    assert result["confidence"].to_numpy().tobytes() == said.confidences.tobytes()
    last = result.groupby("sensor").last()
    status = pd.DataFrame(fleet.status()).set_index("key").sort_index()
    for name in FIGURES:
        assert last[name].tolist() == status[name].tolist(), name


@pytest.mark.parametrize(
    ("n", "n_keys", "n_files"), [(3_000, 400, 3), pytest.param(60_000, 10_000, 4, marks=pytest.mark.slow)]
)
def test_a_stream_has_the_results_of_a_fleet_in_one_process(spark, tmp_path, n, n_keys, n_files):
    table = table_of(n, n_keys)
    write_files(in_pieces(table, n_files), tmp_path / "in")
    rows = stream_of(spark, tmp_path / "in")
    result, _ = run(predict_then_learn(rows, **COLUMNS, model=LINEAR), tmp_path)
    assert table["sensor"].nunique() == n_keys
    assert_results_of_fleet(result, table)
    static = predict_then_learn(spark.read.parquet(str(tmp_path / "in")), **COLUMNS, model=LINEAR)
    pd.testing.assert_frame_equal(as_pandas(static), result)


def test_a_query_that_is_killed_goes_on_from_its_checkpoint_with_nothing_lost_and_nothing_twice(spark, tmp_path):
    table = table_of(4_000, 300)
    write_files(in_pieces(table, 8), tmp_path / "in")
    program = Path(__file__).parent.parent / "helpers" / "spark_sessions.py"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    checkpoint = tmp_path / "checkpoint"

    def run_query(n_cores):
        command = [sys.executable, str(program), str(tmp_path / "in"), str(tmp_path), str(n_cores)]
        with Path(tmp_path, "log").open("a") as log:
            return subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)

    query = run_query(2)
    while not (checkpoint / "commits" / "1").exists() or not (checkpoint / "offsets" / "2").exists():
        assert query.poll() is None, Path(tmp_path, "log").read_text()[-3000:]
        time.sleep(0.01)
    os.killpg(query.pid, signal.SIGKILL)
    query.wait()
    assert len(list((checkpoint / "commits").glob("[0-9]*"))) < 8
    assert run_query(1).wait() == 0, Path(tmp_path, "log").read_text()[-3000:]
    assert_results_of_fleet(as_pandas(spark.read.parquet(f"{tmp_path}/result")), table)


def test_rows_that_cannot_be_used_are_reported_and_stop_no_other_key(spark, tmp_path):
    table = table_of(600, 50)
    bad = table.copy()
    bad.loc[300, "state"] = "cold"
    bad.loc[400, "a"] = np.inf
    bad["at"] = bad["at"].mask(bad.index == 500)
    bad["sensor"] = bad["sensor"].astype("Int64").mask(bad.index == 550)
    write_files(in_pieces(bad, 2), tmp_path / "in")
    rows = stream_of(spark, tmp_path / "in")
    result, _ = run(predict_then_learn(rows, **COLUMNS, id="nr", model=LINEAR), tmp_path)
    refused = result[result["event"] == "refused"]
    for number, problem in ((300, "'cold'"), (400, "is inf"), (500, "has no time"), (550, "has no key")):
        (found,) = refused.loc[refused["nr"] == number, "problem"]
        assert problem in found
    assert len(refused) == 4
    good = table.drop([300, 400, 500, 550])
    assert_results_of_fleet(result[result["event"] == "learned"].astype({"sensor": "int64"}), good)
    static = predict_then_learn(spark.read.parquet(str(tmp_path / "in")), **COLUMNS, id="nr", model=LINEAR)
    pd.testing.assert_frame_equal(*(each.dropna(subset="at") for each in (as_pandas(static), result)))


def test_labels_come_later_rows_expire_and_idle_keys_are_forgotten(spark, tmp_path):
    table = table_of(200, 10).assign(state=pd.Series(pd.NA, range(200), "string"))
    table["sensor"] = table["nr"] % 5
    table.loc[:4, "sensor"] = 99  # has no more rows after these
    hours = [table.iloc[-1:].assign(at=table["at"].iloc[-1] + pd.Timedelta(h, "h"), nr=1000 + h) for h in (1, 2, 3)]
    write_files([table[:100], table[100:], *hours], tmp_path / "rows")
    truth = pd.Series(np.where(table["a"] > 0, "fine", "hot"))
    labels = table.assign(at=table["at"] + pd.Timedelta(20, "s"), state=truth)
    labels = labels[(labels["nr"] % 4 > 0) & (labels["nr"] > 4)]
    is_first = labels["at"] <= table["at"].iloc[99]
    answers = [hour.assign(at=hour["at"] + pd.Timedelta(20, "s"), state="fine") for hour in hours]
    write_files([labels[is_first], labels[~is_first], *answers], tmp_path / "labels")

    def learned_from(rows, labels, **others):
        given = labels.select("sensor", "at", "nr", "state")
        times = {"label_timeout": timedelta(seconds=50), "time_to_live": timedelta(minutes=30)}
        return predict_then_learn(rows, labels=given, id="nr", **COLUMNS, model=LINEAR, **times, **others)

    streams = (stream_of(spark, tmp_path / name).withWatermark("at", "1 minute") for name in ("rows", "labels"))
    (tmp_path / "acknowledged").mkdir()  # which brings nothing, and does not stop the time
    nothing = stream_of(spark, tmp_path / "acknowledged")
    result, progress = run(learned_from(*streams, acknowledged=nothing), tmp_path)
    assert result["event"].value_counts().to_dict() == {
        "observed": 203,
        "labelled": len(labels) + 3,
        "expired": 200 - len(labels),
    }
    assert set(result.loc[result["event"] == "expired", "nr"]) == set(table["nr"]) - set(labels["nr"])
    assert result.loc[result["nr"] == 1001, "n_rows"].tolist() == [0, 1]  # the key began anew
    n_keys = [report.stateOperators[0].numRowsTotal for report in progress]
    assert (n_keys[0], n_keys[-1]) == (6, 1)
    static = learned_from(*(spark.read.parquet(str(tmp_path / name)) for name in ("rows", "labels")))
    in_time = [as_pandas(static), result]
    pd.testing.assert_frame_equal(*(each[each["event"] != "expired"].reset_index(drop=True) for each in in_time))


def test_labels_that_are_read_before_their_rows_wait_for_them_also_when_the_query_starts_again(spark, tmp_path):
    table = table_of(200, 10)
    table.loc[100:, "at"] += pd.Timedelta("1h")
    labels = table.assign(at=table["at"] + pd.Timedelta("20s"), **dict.fromkeys(FEATURES, np.nan))
    labels.loc[150:, "at"] -= pd.Timedelta("30s")  # before the time of their rows
    rows = table.assign(state=pd.Series(pd.NA, range(200), "string"))
    write_files([rows[:100]], tmp_path / "rows")
    write_files([labels], tmp_path / "labels")

    def learned_from(rows, labels):
        given = labels.select("sensor", "at", "nr", "state")
        return predict_then_learn(rows, labels=given, id="nr", **COLUMNS, model=LINEAR)

    def run_again():
        return run(learned_from(*(stream_of(spark, tmp_path / name) for name in ("rows", "labels"))), tmp_path)[0]

    before = run_again()
    assert before["event"].value_counts().to_dict() == {"observed": 100, "labelled": 100, "held": 100}
    write_files([rows[100:]], tmp_path / "rows", first=1)
    after = run_again()
    static = as_pandas(learned_from(*(spark.read.parquet(str(tmp_path / name)) for name in ("rows", "labels"))))
    assert static["event"].value_counts().to_dict() == {"observed": 200, "labelled": 200, "held": 50}
    without = [each[each["event"] != "held"].sort_values(["at", "nr"]) for each in (static, after)]
    pd.testing.assert_frame_equal(*(each.reset_index(drop=True) for each in without))


def test_an_acknowledgement_arms_the_alarm_of_its_key_alone(spark, tmp_path):
    table = table_of(1_200, 2)
    table["sensor"] = table["nr"] % 2
    table["state"] = np.where((table["a"] > 0) == (table["nr"] < 600), "fine", "hot")
    guarantees = Guarantees(errors=0.1, rise=None, tolerated=0.2)
    write_files([table[:1000]], tmp_path / "rows")
    (tmp_path / "acknowledged").mkdir()

    def run_again():
        rows, acknowledged = (stream_of(spark, tmp_path / name) for name in ("rows", "acknowledged"))
        model = AMRC(memory="light", features="linear", guarantees=guarantees)
        rows = rows.withWatermark("at", "1 minute")
        given = {"acknowledged": acknowledged.select("sensor", "at"), "time_to_live": timedelta(days=1)}
        return run(predict_then_learn(rows, **COLUMNS, model=model, **given), tmp_path)

    before, _ = run_again()
    assert before.groupby("sensor")["has_alarm"].last().tolist() == [True, True]
    write_files([table[1000:]], tmp_path / "rows", first=1)
    write_files([table[999:1000].assign(sensor=0)], tmp_path / "acknowledged")
    after, progress = run_again()
    assert after["event"].value_counts().to_dict() == {"learned": 1_200, "acknowledged": 1}
    assert after.groupby("sensor")["has_alarm"].last().tolist() == [False, True]
    assert progress[-1].eventTime["watermark"].startswith("2026-01-01T00:18:59")  # that of the rows


def test_a_query_that_starts_again_with_a_model_that_knows_more_gives_it_to_new_keys_only(spark, tmp_path):
    table = table_of(600, 20)
    table.loc[:299, "sensor"] %= 10
    common = AMRC(memory="light", features="linear").partial_fit(table[FEATURES], table["state"], CLASSES)
    write_files([table[:300]], tmp_path / "in")
    run(predict_then_learn(stream_of(spark, tmp_path / "in"), **COLUMNS, model=LINEAR), tmp_path)
    write_files([table[300:]], tmp_path / "in", first=1)
    result, _ = run(predict_then_learn(stream_of(spark, tmp_path / "in"), **COLUMNS, model=common), tmp_path)
    old = set(table.loc[:299, "sensor"])
    for model, is_of in ((LINEAR, result["sensor"].isin(old)), (common, ~result["sensor"].isin(old))):
        assert is_of.any()
        assert_results_of_fleet(result[is_of], table[table["sensor"].isin(result.loc[is_of, "sensor"])], model)


def test_a_query_that_starts_again_with_its_features_in_another_order_stops(spark, tmp_path):
    table = table_of(60, 3)
    write_files([table[:30]], tmp_path / "in")
    run(predict_then_learn(stream_of(spark, tmp_path / "in"), **COLUMNS, model=LINEAR), tmp_path)
    write_files([table[30:]], tmp_path / "in", first=1)
    changed = COLUMNS | {"features": ["b", "a", "c"]}
    with pytest.raises(Exception, match=r"CheckpointError: .*features \['a', 'b', 'c'\], and this one has \['b', 'a'"):
        run(predict_then_learn(stream_of(spark, tmp_path / "in"), **changed, model=LINEAR), tmp_path)


def test_times_without_a_zone_come_back_as_they_were_also_in_an_hour_that_the_clock_omits(spark):
    times = ["2026-03-29 02:30:00.123456", "2026-03-29 03:10:00", "2026-10-25 02:30:00", None]
    columns = "2L AS sensor, {} AS at, {}L AS nr, 1.0D AS a, 2.0D AS b, 3.0D AS c, 'fine' AS state"
    values = ("CAST(NULL AS timestamp_ntz)" if time is None else f"timestamp_ntz'{time}'" for time in times)
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        rows = spark.sql(" UNION ALL ".join(f"SELECT {columns.format(at, nr)}" for nr, at in enumerate(values)))
        result = predict_then_learn(rows, **COLUMNS, id="nr", model=LINEAR)
        found = result.selectExpr("nr", "CAST(at AS string) AS at", "event", "n_rows").orderBy("nr").collect()
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)
    assert [row["at"] for row in found] == times
    assert [row["event"] for row in found] == ["learned"] * 3 + ["refused"]
    assert [row["n_rows"] for row in found[:3]] == [1, 2, 3]


def test_queries_with_the_classes_false_and_true_and_0_and_1_run_in_one_session(spark):
    rows = spark.createDataFrame(table_of(20, 2)).withColumnRenamed("state", "text")
    for classes, label in (([False, True], "text = 'fine'"), ([0, 1], "CAST(text = 'fine' AS int)")):
        result = predict_then_learn(rows.selectExpr("*", f"{label} AS state"), **COLUMNS | {"classes": classes})
        assert {type(row["prediction"]) for row in result.collect()} == {type(classes[0])}


def test_the_state_of_a_key_is_as_large_as_documented(spark, tmp_path):
    table = table_of(1_000, 50)
    write_files([table], tmp_path / "in")
    run(predict_then_learn(stream_of(spark, tmp_path / "in"), **COLUMNS, model=LINEAR), tmp_path)
    state = spark.read.format("statestore").option("stateVarName", "key").load(f"{tmp_path}/checkpoint")
    sizes = state.selectExpr("length(value.model) AS size").toPandas()["size"]
    assert len(sizes) == table["sensor"].nunique()
    assert sizes.min() > 0
    assert sizes.max() <= fleet_like(LINEAR, 3, CLASSES).n_bytes_per_key + 200


def test_the_page_about_spark_does_what_it_says(spark, tmp_path, capfd):
    names = {}
    in_folder = re.sub(r'"(readings|results|checkpoint)"', rf'"{tmp_path}/\1"', PAGE.read_text(encoding="utf-8"))
    found = BLOCK.findall(in_folder)
    assert len(found) >= 4
    for code, shown in found:
        capfd.readouterr()
        exec(code, names)
        assert prints(shown, capfd.readouterr().out)


def test_what_cannot_run_is_refused_before_it_starts(spark, tmp_path):
    rows = spark.createDataFrame([], SCHEMA)
    for changes, message in (
        ({"features": ["a", "at"]}, "column 'at' must be tinyint or .* or decimal; it is timestamp: cast it"),
        ({"features": ["a", "d"]}, "expected columns 'd'"),
        ({"classes": [0, 1]}, "column 'state' must be tinyint or smallint or int or bigint; it is string"),
        ({"classes": [0.0, 1.0]}, "classes must be texts, whole numbers or booleans"),
        ({"label_timeout": timedelta(1)}, "need id"),
        ({"labels": rows}, "need id"),
        ({"time": "nr", "time_to_live": timedelta(1)}, "need timestamps in the column 'nr'"),
        ({"time_to_live": 3600}, "time_to_live must be a positive timedelta"),
        ({"model": AMRC()}, "memory='light'"),
        ({"id": "sensor"}, "two columns 'sensor'"),
        ({"df": pd.DataFrame({"sensor": [1]})}, r"df must be a DataFrame of Spark; got <class 'pandas.*DataFrame'>"),
        ({"df": rows.selectExpr("array(sensor) AS sensor", "at", "a", "b", "c", "state")}, "must not be array"),
        ({"id": "nr", "labels": rows.drop("nr")}, r"column 'nr' of labels must be bigint, as in df; there are \['s"),
        ({"acknowledged": rows.selectExpr("'7' AS sensor", "at")}, "'sensor' of acknowledged must be bigint.*string"),
    ):
        with pytest.raises(ConfigError, match=message):
            predict_then_learn(**{"df": rows} | COLUMNS | changes)
    stream = stream_of(spark, tmp_path)
    with pytest.raises(ConfigError, match="need a watermark"):
        predict_then_learn(stream, **COLUMNS, time_to_live=timedelta(1))
    with pytest.raises(ConfigError, match="both be streaming"):
        predict_then_learn(stream, **COLUMNS, id="nr", labels=rows)
    store = "spark.sql.streaming.stateStore.providerClass"
    used = spark.conf.get(store)
    spark.conf.set(store, "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider")
    try:
        with pytest.raises(ConfigError, match="expected the state store RocksDB"):
            predict_then_learn(stream, **COLUMNS)
    finally:
        spark.conf.set(store, used)
