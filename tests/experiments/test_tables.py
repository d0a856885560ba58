"""The paper's tables: specs, plans, the store, and what is shown."""

import csv
import io
import json
import time
from types import SimpleNamespace

import numpy as np
import pytest

from driftline import CheckpointError, ConfigError
from driftline.evaluation import evaluate
from driftline.evaluation.run_checkpoint import locked_folder
from driftline.experiments import Cell, Store, Table, Workers, make_table, names, read_spec
from driftline.experiments.render import notes, remarks, shown, to_csv, to_latex, to_markdown
from driftline.experiments.runs import Run
from driftline.experiments.spec import parsed
from driftline.experiments.table import Plan, Row, _ranks
from driftline.experiments.work import under_way
from driftline.streams import ArrayStream

SPEC = {
    "title": "A table",
    "about": "Of little.",
    "kind": "runs",
    "summary": "rank",
    "streams": ["chess", "german"],
    "tuning_rows": 20,
    "usual": {"rows": 40},
    "method": [
        {"row": "Forgetron", "model": "forgetron", "tuned": {}, "published": [33.1, 40.1], "summary": 7.3},
        {"row": "RBP", "model": "rbp", "tuned_as": "Forgetron", "seeds": 2, "published": [36.5, "N/A"], "summary": 8.0},
        {"row": "Majority", "model": "majority", "ours": True, "note": "looks at no column"},
    ],
}


def made(experiment, store, level="usual", **options):
    return make_table(experiment, level, Workers(store, progress=False, **options))


@pytest.fixture
def small_files(tmp_path, monkeypatch):
    """Let two small streams stand for published ones; return a folder."""
    rng = np.random.default_rng(0)
    streams = {}
    for name in ("chess", "german"):
        X = rng.random((60, 5))
        streams[name] = ArrayStream(X, (X[:, 0] > 0.5).astype(int), name=name)
    monkeypatch.setattr("driftline.experiments.runs.load", streams.__getitem__)
    return tmp_path


def test_every_spec_can_be_read_and_has_what_the_paper_has():
    for name in names():
        experiment = read_spec(name)
        assert experiment.title
        assert experiment.about
        assert bool(experiment.says) == experiment.is_figure == name.startswith("figure")
        assert experiment.is_figure or len(experiment.streams) == 12
    methods = read_spec("table1").methods
    assert [method.row for method in methods if not method.ours][-1] == "Deterministic AMRC"
    assert sum(not method.ours for method in methods) == 13
    assert {method.model for method in methods if method.ours} == {
        "amrc",
        "river-arf",
        "river-srp",
        "river-hat",
        "river-lr",
    }


def test_a_mistyped_experiment_is_refused_with_a_suggestion():
    with pytest.raises(ConfigError, match="did you mean table1"):
        read_spec("tabel1")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"streams": ["ches"]}, "ches"),
        ({"method": [{"row": "A", "model": "forgetrn"}]}, "no classifier 'forgetrn'"),
        ({"method": [{"row": "A", "model": "rbp", "published": [1.0]}]}, "A has 1 figures for 2 streams"),
        ({"method": [{"row": "A", "model": "rbp", "measure": "errors"}]}, "has the measure 'errors'"),
        ({"method": [{"row": "A", "model": "rbp", "tuned_as": "B"}]}, "tuned as 'B', which is no row"),
        (
            {
                "method": [
                    {"row": "A", "model": "rbp", "tuned": {}, "one_range": ["chess"]},
                    {"row": "B", "model": "rbp", "tuned_as": "A"},
                ]
            },
            "B is tuned as 'A', but has another one_range",
        ),
        ({"method": [{"row": "A", "model": "rbp", "remarks": {"email": "Far."}}]}, "A names email"),
        ({"method": [{"row": "A", "model": "rbp", "one_seed": ["email"]}]}, "A names email"),
        ({"method": [{"row": "A", "model": "rbp", "one_range": ["email"]}]}, "A names email"),
        ({"usual": {"whole": {"chess": ["B"]}}}, "expected a stream and rows of its own"),
        ({"kind": "pie"}, "the kind is 'pie'"),
    ],
)
def test_a_spec_that_cannot_be_is_refused(change, message):
    with pytest.raises(ConfigError, match=message):
        parsed("test", SPEC | change)


def test_a_table_is_made_of_runs_that_are_done_once(small_files, monkeypatch):
    experiment, store = parsed("test", SPEC), Store(small_files / "results")
    table = made(experiment, store)
    assert table.columns == ("chess", "german", "average rank")
    assert [row.name for row in table.rows] == ["Forgetron", "RBP", "Majority"]
    for row in table.rows:
        assert all(0 <= cell.value <= 100 for cell in row.cells[:2])
        assert row.cells[0].note == "first 40 rows"
    assert [cell.published for cell in table.rows[1].cells] == [36.5, "N/A", 8.0]
    assert table.rows[2].cells[2].value is None
    assert len(list(store.folder.glob("*.json"))) == 2 + 2 + 4 + 2  # scales; Forgetron, RBP with two seeds, the floor
    monkeypatch.setattr(Run, "perform", None)
    assert made(experiment, store) == table


def test_the_plan_is_what_the_spec_says(small_files):
    experiment, store = parsed("test", SPEC), Store(small_files / "results")
    made(experiment, store)
    runs = [json.loads(path.read_text()) for path in store.folder.glob("*-chess-*.json")]
    done = {(run["run"]["work"], run["run"]["model"]): run for run in runs}
    assert {work: run["run"]["n_rows"] for (work, _), run in done.items()} == {"scale": 20, "evaluation": 40}
    scale = done["scale", "forgetron"]["result"]["scale"]
    assert done["evaluation", "forgetron"]["run"]["parameters"] == {"scale": scale}
    assert done["evaluation", "rbp"]["run"]["parameters"]["scale"] == scale  # as whose it is tuned
    assert {model: run["run"]["ranges"] for (_, model), run in done.items()} == {
        "forgetron": "column",
        "rbp": "column",
        "majority": None,
    }
    assert not list(store.folder.glob("unfinished/*/*"))


def test_a_stream_is_scaled_by_one_range_where_the_spec_says_so(small_files):
    method = {"row": "RBP", "model": "rbp", "tuned": {}, "one_range": ["german"], "published": [36.5, 40.5]}
    store = Store(small_files / "results")
    made(parsed("test", SPEC | {"method": [method]}), store)
    runs = [json.loads(path.read_text()) for path in store.folder.glob("*.json")]
    assert {(run["run"]["work"], run["run"]["stream"]): run["run"]["ranges"] for run in runs} == {
        ("scale", "chess"): "column",
        ("evaluation", "chess"): "column",
        ("scale", "german"): "array",
        ("evaluation", "german"): "array",
    }
    assert {run["result"]["stream"] for run in runs if run["run"]["work"] == "evaluation"} == {
        "chess, scaled by range",
        "german, scaled by one range",
    }


def test_a_stream_that_is_short_is_run_once_for_all_levels(small_files):
    experiment, store = parsed("test", SPEC | {"usual": {"rows": 100_000}}), Store(small_files / "results")
    whole = made(experiment, store)
    n_results = len(list(store.folder.glob("*.json")))
    assert made(experiment, store, level="full").rows == whole.rows
    assert len(list(store.folder.glob("*.json"))) == n_results


def test_some_methods_can_be_run_on_whole_streams(small_files):
    spec = SPEC | {"usual": {"rows": 40, "whole": {"chess": ["RBP"]}}}
    table = made(parsed("test", spec), Store(small_files / "results"))
    notes = {row.name: [cell.note for cell in row.cells[:2]] for row in table.rows}
    assert notes["RBP"] == ["first 60 rows", "first 40 rows"]  # of all that the file has
    assert notes["Majority"] == ["first 40 rows", "first 40 rows"]


def test_what_was_done_counts_unless_all_is_to_be_done_anew(small_files, monkeypatch):
    experiment, store = parsed("test", SPEC), Store(small_files / "results")
    made(experiment, store)
    done = []
    perform = Run.perform
    monkeypatch.setattr(Run, "perform", lambda run, partial: done.append(run) or perform(run, partial))
    made(experiment, store)
    assert not done
    made(experiment, store, resume=False)
    assert len(done) == 10


def test_a_remark_goes_with_its_cell(small_files):
    methods = [SPEC["method"][0] | {"remarks": {"german": "Other scales were tried."}}, *SPEC["method"][1:]]
    table = made(parsed("test", SPEC | {"method": methods}), Store(small_files / "results"))
    assert [cell.remark for cell in table.rows[0].cells] == ["", "Other scales were tried.", ""]
    assert remarks(table)[0].startswith("Forgetron, german: ")
    assert remarks(table)[0] in to_markdown(table)
    near = [methods[0] | {"published": [33.1, table.rows[0].cells[1].value + 3.0]}, *SPEC["method"][1:]]
    table = made(parsed("test", SPEC | {"method": near}), Store(small_files / "results"))
    assert [cell.remark for cell in table.rows[0].cells] == ["", "", ""]


def test_a_table_says_what_made_it(small_files):
    table = made(parsed("test", SPEC), Store(small_files / "results"))
    assert "`driftline paper test`" in table.provenance
    assert "from 10 results of" in table.provenance
    assert np.__version__ in table.provenance
    assert table.provenance in to_markdown(table)
    assert table.provenance in to_latex(table)
    assert "RBP: mean over the seeds 0 to 1" in notes(table)


def test_runs_that_are_under_way_are_named_with_their_rows(tmp_path):
    store, runs = (
        Store(tmp_path),
        [Run("evaluation", name, "chess", {}, None, False) for name in ("rbp", "dwm", "nogd")],
    )
    for run in runs[:2]:
        (store.partial(run) / "records").mkdir(parents=True)
    (store.partial(runs[0]) / "records" / f"{0:012}-{1500:012}.parquet").touch()
    assert under_way(runs, store, since=0.0) == ["rbp on chess, row 1,500", "dwm on chess"]
    assert under_way(runs, store, since=time.time() + 10.0) == []  # left by runs that were killed
    (store.partial(runs[0]) / "records" / f"{1600:012}-{1700:012}.parquet").touch()  # while parts are merged
    assert under_way(runs, store, since=0.0) == ["dwm on chess"]


def test_cells_are_means_over_seeds_in_percent(small_files, monkeypatch):
    def perform(self, partial):
        seed = self.parameters.get("random_state", 0)
        return {"scale": 1.0} if self.work == "scale" else {"error": 0.2 + 0.1 * seed, "n_rows": 40}

    monkeypatch.setattr(Run, "perform", perform)
    table = made(parsed("test", SPEC), Store(small_files))
    assert [row.cells[0].value for row in table.rows] == pytest.approx([20.0, 25.0, 20.0])
    forgetron, rbp, majority = SPEC["method"]
    table = made(
        parsed("test", SPEC | {"method": [forgetron, rbp | {"one_seed": ["german"]}, majority]}), Store(small_files)
    )
    assert [cell.value for cell in table.rows[1].cells[:2]] == pytest.approx([25.0, 20.0])
    assert "RBP: mean over the seeds 0 to 1, seed 0 alone on german" in notes(table)


def test_an_evaluation_that_was_interrupted_is_no_result(small_files, monkeypatch):
    run = Run("evaluation", "majority", "chess", {}, None, ranges=None)
    evaluation = SimpleNamespace(finished=False)
    monkeypatch.setattr("driftline.experiments.runs.evaluate", lambda *_, **__: evaluation)
    with pytest.raises(KeyboardInterrupt):
        run.perform(None)


def test_whatever_goes_wrong_with_a_run_the_others_go_on(small_files, monkeypatch):
    perform = Run.perform

    def failing(self, partial):
        if self.model == "majority":
            raise ZeroDivisionError("of a classifier")
        return perform(self, partial)

    monkeypatch.setattr(Run, "perform", failing)
    table = made(parsed("test", SPEC), Store(small_files / "results"))
    assert [cell.note for cell in table.rows[2].cells[:2]] == ["ZeroDivisionError: of a classifier"] * 2
    assert table.rows[0].cells[0].value is not None
    assert not list((small_files / "results").glob("unfinished/*/*"))


def test_a_run_that_cannot_be_resumed_begins_anew(tmp_path, small_files):
    store, run = Store(tmp_path), Run("evaluation", "majority", "chess", {}, 30, ranges=None)
    store.partial(run).mkdir(parents=True)
    (store.partial(run) / "run.ckpt").write_bytes(b"no checkpoint")
    (store.partial(run) / "records").mkdir()
    (store.partial(run) / "records" / f"{0:012}-{20:012}.parquet").write_bytes(b"no records")
    workers = Workers(store, progress=False)
    outcome = workers.carry_out([run], workers.bar("", 1))[run.key]
    assert outcome.result["n_rows"] == 30


def test_a_run_that_another_process_is_doing_is_left_alone(tmp_path, small_files):
    store, run = Store(tmp_path), Run("evaluation", "majority", "chess", {}, 30, ranges=None)
    workers = Workers(store, progress=False)
    with locked_folder(store.partial(run)):
        (store.partial(run) / "checkpoint").write_bytes(b"hours of work")
        outcome = workers.carry_out([run], workers.bar("", 1))[run.key]
        assert outcome.result is None
        assert outcome.reason.startswith("another run is using")
        assert (store.partial(run) / "checkpoint").read_bytes() == b"hours of work"
        anew = Workers(store, resume=False, progress=False)
        assert anew.carry_out([run], anew.bar("", 1))[run.key].reason == outcome.reason
        assert (store.partial(run) / "checkpoint").read_bytes() == b"hours of work"


def test_what_was_begun_does_not_count_if_all_is_to_be_done_anew(small_files, monkeypatch):
    store, found = Store(small_files), []
    run = Run("evaluation", "majority", "chess", {}, 30, ranges=None)
    store.partial(run).mkdir(parents=True)
    (store.partial(run) / "left").touch()
    monkeypatch.setattr(Run, "perform", lambda _, partial: found.append(list(partial.iterdir())) or {"error": 0.5})
    workers = Workers(store, resume=False, progress=False)
    workers.carry_out([run], workers.bar("", 1))
    assert found == [[]]


@pytest.mark.parametrize("done_before", [False, True])
def test_the_bar_goes_to_its_end(small_files, monkeypatch, done_before):
    store, bars = Store(small_files / "results"), []

    class Bar:
        def __init__(self, description, total, **_):
            self.description, self.total, self.done = description, total, 0
            bars.append(self)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def advance(self, amount, note=""):
            self.done += amount

    if done_before:
        made(parsed("test", SPEC), store)
    monkeypatch.setattr("driftline.experiments.work.ProgressBar", Bar)
    made(parsed("test", SPEC), store)
    assert [(bar.description, bar.total, bar.done) for bar in bars] == [("test", 10, 10)]


def test_steps_are_timed_after_a_warm_up(small_files, monkeypatch):
    limits = []
    monkeypatch.setattr(
        "driftline.experiments.runs.evaluate",
        lambda *a, limit, **k: limits.append(limit) or evaluate(*a, limit=limit, **k),
    )
    result = Run("timing", "majority", "chess", {}, 40, ranges=None).perform(None)
    assert limits == [50, 40]
    assert result["n_rows"] == 40
    assert 0 < result["milliseconds"] < 1000


def test_a_table_of_times_times_its_runs(small_files):
    methods = [{"row": "Majority", "model": "majority", "measure": "milliseconds", "summary": 3.0}]
    table = made(parsed("test", SPEC | {"method": methods, "summary": "mean"}), Store(small_files / "results"))
    assert {path.name.split("-")[0] for path in (small_files / "results").glob("*.json")} == {"timing"}
    assert (table.digits, table.in_percent) == (3, False)


def test_a_summary_of_fewer_streams_than_the_paper_has_is_not_compared(small_files):
    experiment = parsed("test", SPEC | {"quick": {"streams": ["chess"], "rows": 40}})
    cell = made(experiment, Store(small_files / "results"), level="quick").rows[0].cells[-1]
    assert (cell.note, cell.published, cell.difference) == ("over 1 of 2 streams", 7.3, None)


def test_a_scale_is_not_chosen_on_more_rows_than_the_level_allows():
    methods = [SPEC["method"][0] | {"tuning_rows": 1000}, SPEC["method"][0] | {"row": "Other", "tuning_rows": 15}]
    experiment = parsed("test", SPEC | {"method": methods})
    runs = Plan(experiment, experiment.levels["usual"]).scale_runs("chess")
    assert sorted(run.n_rows for run in runs) == [15, 20]


def test_the_course_of_a_run_ends_where_it_is_to(small_files):
    result = Run("course", "majority", "chess", {}, 30, ranges=None).perform(None)
    assert result["n_rows"] == len(result["error"]) == 30


def test_what_fails_says_why_and_is_tried_again(small_files, monkeypatch):
    experiment, store = parsed("test", SPEC), Store(small_files / "results")
    perform = Run.perform

    def failing(self, partial):
        if self.stream == "german" and self.model == "majority":
            raise CheckpointError("no space left\nsecond line")
        return perform(self, partial)

    monkeypatch.setattr(Run, "perform", failing)
    row = made(experiment, store).rows[2]
    assert row.cells[0].value is not None
    assert (row.cells[1].value, row.cells[1].note) == (None, "no space left")
    monkeypatch.setattr(Run, "perform", perform)
    assert made(experiment, store).rows[2].cells[1].value is not None


def test_a_result_says_what_was_run_and_by_what(small_files, monkeypatch):
    run, store = Run("evaluation", "majority", "chess", {}, 10, ranges=None), Store(small_files / "results")
    assert store.read(run) is None
    store.write(run, {"error": 0.5})
    assert store.read(run).result == {"error": 0.5}
    content = json.loads(store.path(run).read_text())
    assert content["run"] == run.to_dict()
    assert {"date", "python", "numpy"} <= content["made"].keys()
    assert store.read(run).made == content["made"]
    store.path(run).write_text(json.dumps(content | {"result": {"error": 0.4}}))
    with pytest.raises(CheckpointError, match="its checksum does not match"):
        store.read(run)
    with monkeypatch.context() as earlier:
        earlier.setattr("driftline.experiments.store.__version__", "0.0.1")
        store.write(run, {"error": 0.5})
    assert store.read(run) is None  # another version begins anew
    store.path(run).write_text("{")
    with pytest.raises(CheckpointError, match="is no result of a run, or is damaged"):
        store.read(run)


def test_runs_that_differ_have_other_keys():
    run = Run("evaluation", "rbp", "chess", {"scale": 1.0}, None, ranges="column")
    others = [
        Run("scale", "rbp", "chess", {"scale": 1.0}, None, ranges="column"),
        Run("evaluation", "norma", "chess", {"scale": 1.0}, None, ranges="column"),
        Run("evaluation", "rbp", "german", {"scale": 1.0}, None, ranges="column"),
        Run("evaluation", "rbp", "chess", {"scale": 2.0}, None, ranges="column"),
        Run("evaluation", "rbp", "chess", {"scale": 1.0}, 10, ranges="column"),
        Run("evaluation", "rbp", "chess", {"scale": 1.0}, None, ranges="array"),
        Run("evaluation", "rbp", "chess", {"scale": 1.0}, None, ranges=None),
    ]
    assert len({run.key, *(other.key for other in others)}) == 8
    assert (
        Run("scale", "rbp", "chess", {"b": 1, "a": 2}, 3, None).key
        == Run("scale", "rbp", "chess", {"a": 2, "b": 1}, 3, None).key
    )


def test_ranks_are_of_the_papers_rows_and_over_the_streams_that_they_have():
    rows = [
        Row("a", (Cell(1.0), Cell(5.0), Cell(2.0))),
        Row("b", (Cell(2.0), Cell(None), Cell(2.0))),
        Row("c", (Cell(3.0), Cell(4.0), Cell(7.0))),
        Row("ours", (Cell(0.0), Cell(0.0), Cell(0.0)), ours=True),
    ]
    assert _ranks(rows) == {
        "a": pytest.approx(4.5 / 3),
        "b": pytest.approx(1.75),
        "c": pytest.approx(7 / 3),
        "ours": None,
    }


TABLE = Table(
    "Errors",
    "Of little.",
    ("one & two", "mean"),
    (
        Row("λ-p_1", (Cell(12.34, 10.0, "first 5 rows"), Cell(None, "N/A", "failed"))),
        Row("mine", (Cell(2.0), Cell(3.0)), ours=True, note="looks at 5 %"),
    ),
)


def test_a_table_is_written_for_people_programs_and_papers():
    assert shown(Cell(1234.5, 1000), 0) == "1,234 (1,000)"
    assert notes(TABLE) == ["λ-p_1: one & two: first 5 rows", "λ-p_1: mean: failed", "mine: looks at 5 %"]
    lines = list(csv.DictReader(io.StringIO(to_csv(TABLE))))
    assert len(lines) == 4
    assert float(lines[0]["difference"]) == pytest.approx(2.34)
    assert lines[1] == {
        "row": "λ-p_1",
        "column": "mean",
        "ours": "",
        "published": "N/A",
        "difference": "",
        "note": "failed",
    }
    assert "| *mine* | 2.0 | 3.0 |" in to_markdown(TABLE)
    assert "| λ-p_1 | 12.3 (10.0) | – (N/A) |" in to_markdown(TABLE)
    latex = to_latex(TABLE)
    assert r"one \& two" in latex
    assert r"$\lambda$-p\_1 & 12.3 (10.0) & -- (N/A) \\" in latex
    assert latex.index(r"\hline" + "\nmine") > 0


def test_in_csv_the_note_of_a_cell_does_not_hide_that_of_its_row():
    row = Row("AMRC", (Cell(1.0, note="first rows"), Cell(2.0)), note="mean over seeds")
    lines = list(csv.DictReader(io.StringIO(to_csv(Table("T", "", ("a", "b"), (row,))))))
    assert [line["note"] for line in lines] == ["first rows; mean over seeds", "mean over seeds"]
