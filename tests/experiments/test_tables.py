"""The paper's tables: their specifications, runs, values and texts, and which results are stale."""

import csv
import io
import json

import numpy as np
import pytest

from driftline import CheckpointError, ConfigError
from driftline.experiments import (
    ResultStore,
    ResultTable,
    RunExecutor,
    TableCell,
    experiment_names,
    make_table,
    read_spec,
)
from driftline.experiments.code_digest import code_digest
from driftline.experiments.experiment_runs import StreamRun
from driftline.experiments.experiment_spec import parse_spec
from driftline.experiments.result_store import _checksum
from driftline.experiments.result_table import TableRow, _average_ranks
from driftline.experiments.run_plan import RunPlan
from driftline.experiments.table_formats import format_cell, notes, remarks, to_csv, to_latex, to_markdown

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
        {"row": "Majority", "model": "majority", "ours": True, "note": "ignores the features"},
    ],
}


def made(experiment, store, level="usual", **options):
    return make_table(experiment, level, RunExecutor(store, progress=False, **options))


def change_code_of(monkeypatch, *models):
    for module in ("code_digest", "result_store", "run_executor"):
        monkeypatch.setattr(
            f"driftline.experiments.{module}.code_digest",
            lambda model: "changed" if model in models else code_digest(model),
        )


def test_every_spec_can_be_read_and_has_what_the_paper_has():
    for name in experiment_names():
        experiment = read_spec(name)
        assert experiment.title
        assert experiment.about
        assert bool(experiment.claim) == experiment.is_figure == name.startswith("figure")
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
        ({"method": [{"row": "A", "model": "rbp", "published": [1.0]}]}, "A has 1 published figures for 2 streams"),
        ({"method": [{"row": "A", "model": "rbp", "measure": "errors"}]}, "has the measure 'errors'"),
        ({"method": [{"row": "A", "model": "rbp", "tuned_as": "B"}]}, "tuned as 'B', which is not a row"),
        (
            {
                "method": [
                    {"row": "A", "model": "rbp", "tuned": {}, "one_range": ["chess"]},
                    {"row": "B", "model": "rbp", "tuned_as": "A"},
                ]
            },
            "B is tuned as 'A', but has a different one_range",
        ),
        ({"method": [{"row": "A", "model": "rbp", "remarks": {"email": "Far."}}]}, "A names email"),
        ({"method": [{"row": "A", "model": "rbp", "one_seed": ["email"]}]}, "A names email"),
        ({"method": [{"row": "A", "model": "rbp", "one_range": ["email"]}]}, "A names email"),
        ({"usual": {"all_rows": {"chess": ["B"]}}}, "expected a stream and rows of this experiment"),
        ({"kind": "pie"}, "kind is 'pie'"),
    ],
)
def test_an_invalid_spec_is_refused(change, message):
    with pytest.raises(ConfigError, match=message):
        parse_spec("test", SPEC | change)


def test_a_table_is_made_of_runs_that_are_done_once(tmp_path, small_streams, kept, monkeypatch):
    experiment, store = parse_spec("test", SPEC), ResultStore(tmp_path / "results")
    table = made(experiment, store)
    assert table.columns == ("chess", "german", "average rank")
    assert [row.name for row in table.rows] == ["Forgetron", "RBP", "Majority"]
    for row in table.rows:
        assert all(0 <= cell.value <= 100 for cell in row.cells[:2])
        assert row.cells[0].note == "first 40 rows"
    assert [cell.published for cell in table.rows[1].cells] == [36.5, "N/A", 8.0]
    assert table.rows[2].cells[2].value is None
    assert len(kept(store)) == 2 + 2 + 4 + 2  # scales; Forgetron, RBP with two seeds, Majority
    monkeypatch.setattr(StreamRun, "perform", None)
    assert made(experiment, store) == table


def test_the_runs_are_those_of_the_spec(tmp_path, small_streams, kept):
    experiment, store = parse_spec("test", SPEC), ResultStore(tmp_path / "results")
    made(experiment, store)
    runs = [run for run in kept(store) if run["run"]["stream"] == "chess"]
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


def test_a_stream_is_scaled_by_one_range_where_the_spec_says_so(tmp_path, small_streams, kept):
    method = {"row": "RBP", "model": "rbp", "tuned": {}, "one_range": ["german"], "published": [36.5, 40.5]}
    store = ResultStore(tmp_path / "results")
    made(parse_spec("test", SPEC | {"method": [method]}), store)
    runs = kept(store)
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


def test_a_short_stream_is_run_once_for_all_levels(tmp_path, small_streams, kept):
    experiment, store = parse_spec("test", SPEC | {"usual": {"rows": 100_000}}), ResultStore(tmp_path / "results")
    whole = made(experiment, store)
    n_results = len(kept(store))
    assert made(experiment, store, level="full").rows == whole.rows
    assert len(kept(store)) == n_results


def test_some_methods_can_be_run_on_whole_streams(tmp_path, small_streams):
    spec = SPEC | {"usual": {"rows": 40, "all_rows": {"chess": ["RBP"]}}}
    table = made(parse_spec("test", spec), ResultStore(tmp_path / "results"))
    notes = {row.name: [cell.note for cell in row.cells[:2]] for row in table.rows}
    assert notes["RBP"] == ["first 60 rows", "first 40 rows"]  # of all that the file has
    assert notes["Majority"] == ["first 40 rows", "first 40 rows"]


def test_kept_results_are_used_unless_resume_is_off(tmp_path, small_streams, monkeypatch):
    experiment, store = parse_spec("test", SPEC), ResultStore(tmp_path / "results")
    made(experiment, store)
    done = []
    perform = StreamRun.perform
    monkeypatch.setattr(StreamRun, "perform", lambda run, unfinished: done.append(run) or perform(run, unfinished))
    made(experiment, store)
    assert not done
    made(experiment, store, resume=False)
    assert len(done) == 10


def test_a_remark_goes_with_its_cell(tmp_path, small_streams):
    methods = [SPEC["method"][0] | {"remarks": {"german": "Other scales were tried."}}, *SPEC["method"][1:]]
    table = made(parse_spec("test", SPEC | {"method": methods}), ResultStore(tmp_path / "results"))
    assert [cell.remark for cell in table.rows[0].cells] == ["", "Other scales were tried.", ""]
    assert remarks(table)[0].startswith("Forgetron, german: ")
    assert remarks(table)[0] in to_markdown(table)
    near = [methods[0] | {"published": [33.1, table.rows[0].cells[1].value + 3.0]}, *SPEC["method"][1:]]
    table = made(parse_spec("test", SPEC | {"method": near}), ResultStore(tmp_path / "results"))
    assert [cell.remark for cell in table.rows[0].cells] == ["", "", ""]


def test_a_table_says_what_made_it(tmp_path, small_streams):
    table = made(parse_spec("test", SPEC), ResultStore(tmp_path / "results"))
    assert "`driftline paper test`" in table.provenance
    assert "from 10 results of" in table.provenance
    assert np.__version__ in table.provenance
    assert table.provenance in to_markdown(table)
    assert table.provenance in to_latex(table)
    assert "RBP: mean over the seeds 0 to 1" in notes(table)


def test_a_table_shows_the_digests_of_the_code(tmp_path, small_streams):
    table = made(parse_spec("test", SPEC), ResultStore(tmp_path))
    for model in ("forgetron", "majority"):
        assert f"{code_digest(model)} of {model}" in table.provenance
    assert "stale" not in table.provenance


def test_results_of_other_code_are_shown_as_stale_and_not_repeated(tmp_path, small_streams, monkeypatch):
    experiment, store = parse_spec("test", SPEC), ResultStore(tmp_path)
    fresh = made(experiment, store)
    change_code_of(monkeypatch, "forgetron", "rbp", "majority")
    monkeypatch.setattr(StreamRun, "perform", None)
    for options in ({}, {"run": False}):
        stale = made(experiment, store, **options)
        assert stale.rows == fresh.rows
        assert stale.provenance == fresh.provenance + (
            " All 10 results are stale (made by other code). `driftline paper test --rerun-stale` runs them again."
        )


def test_stale_results_are_named(tmp_path, small_streams, monkeypatch):
    experiment, store = parse_spec("test", SPEC), ResultStore(tmp_path)
    made(experiment, store)
    change_code_of(monkeypatch, "majority")
    text = made(experiment, store).provenance
    assert "2 of 10 results are stale (made by other code: majority on chess and german)." in text


def test_results_without_a_digest_are_stale(tmp_path, small_streams, kept):
    experiment, store = parse_spec("test", SPEC), ResultStore(tmp_path)
    rows = made(experiment, store).rows
    contents = kept(store)
    for content in contents:
        del content["made"]["code"]
        content["sha256"] = _checksum(content)
    store.path("test").write_text("".join(f"{json.dumps(content)}\n" for content in contents))
    table = made(experiment, store)
    assert table.rows == rows
    assert "code unknown). All 10 results are stale (made before the digest of the code was recorded)." in (
        table.provenance
    )


def test_only_stale_results_are_repeated_on_request(tmp_path, small_streams, kept, monkeypatch):
    experiment, store = parse_spec("test", SPEC), ResultStore(tmp_path)
    made(experiment, store)
    change_code_of(monkeypatch, "majority")
    repeated, perform = [], StreamRun.perform
    monkeypatch.setattr(StreamRun, "perform", lambda run, folder: repeated.append(run.model) or perform(run, folder))
    assert "stale" not in made(experiment, store, rerun_stale=True).provenance
    assert repeated == ["majority", "majority"]
    assert len(kept(store)) == 10
    assert {one["made"]["code"] for one in kept(store) if one["run"]["model"] == "majority"} == {"changed"}


def test_cells_are_means_over_seeds_in_percent(tmp_path, small_streams, monkeypatch):
    def perform(self, unfinished):
        seed = self.parameters.get("random_state", 0)
        return {"scale": 1.0} if self.work == "scale" else {"error": 0.2 + 0.1 * seed, "n_rows": 40}

    monkeypatch.setattr(StreamRun, "perform", perform)
    table = made(parse_spec("test", SPEC), ResultStore(tmp_path))
    assert [row.cells[0].value for row in table.rows] == pytest.approx([20.0, 25.0, 20.0])
    forgetron, rbp, majority = SPEC["method"]
    table = made(
        parse_spec("test", SPEC | {"method": [forgetron, rbp | {"one_seed": ["german"]}, majority]}),
        ResultStore(tmp_path),
    )
    assert [cell.value for cell in table.rows[1].cells[:2]] == pytest.approx([25.0, 20.0])
    assert "RBP: mean over the seeds 0 to 1, seed 0 only on german" in notes(table)


def test_an_error_in_one_run_does_not_stop_the_others(tmp_path, small_streams, monkeypatch):
    perform = StreamRun.perform

    def failing(self, unfinished):
        if self.model == "majority":
            raise ZeroDivisionError("of a classifier")
        return perform(self, unfinished)

    monkeypatch.setattr(StreamRun, "perform", failing)
    table = made(parse_spec("test", SPEC), ResultStore(tmp_path / "results"))
    assert [cell.note for cell in table.rows[2].cells[:2]] == ["ZeroDivisionError: of a classifier"] * 2
    assert table.rows[0].cells[0].value is not None
    assert not list((tmp_path / "results").glob("unfinished/*/*"))


@pytest.mark.parametrize("done_before", [False, True])
def test_the_progress_bar_reaches_its_end(tmp_path, small_streams, monkeypatch, done_before):
    store, bars = ResultStore(tmp_path / "results"), []

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
        made(parse_spec("test", SPEC), store)
    monkeypatch.setattr("driftline.experiments.run_executor.ProgressBar", Bar)
    made(parse_spec("test", SPEC), store)
    assert [(bar.description, bar.total, bar.done) for bar in bars] == [("test", 10, 10)]


def test_a_table_of_times_consists_of_timing_runs(tmp_path, small_streams, kept):
    methods = [{"row": "Majority", "model": "majority", "measure": "milliseconds", "summary": 3.0}]
    store = ResultStore(tmp_path / "results")
    table = made(parse_spec("test", SPEC | {"method": methods, "summary": "mean"}), store)
    assert {run["run"]["work"] for run in kept(store)} == {"timing"}
    assert (table.digits, table.in_percent) == (3, False)


def test_a_summary_of_fewer_streams_than_the_paper_has_is_not_compared(tmp_path, small_streams):
    experiment = parse_spec("test", SPEC | {"quick": {"streams": ["chess"], "rows": 40}})
    cell = made(experiment, ResultStore(tmp_path / "results"), level="quick").rows[0].cells[-1]
    assert (cell.note, cell.published, cell.difference) == ("over 1 of 2 streams", 7.3, None)


def test_a_scale_is_not_chosen_on_more_rows_than_the_level_allows():
    methods = [SPEC["method"][0] | {"tuning_rows": 1000}, SPEC["method"][0] | {"row": "Other", "tuning_rows": 15}]
    experiment = parse_spec("test", SPEC | {"method": methods})
    runs = RunPlan(experiment, experiment.levels["usual"]).scale_runs("chess")
    assert sorted(run.n_rows for run in runs) == [15, 20]


def test_a_failed_run_gives_its_reason_and_is_tried_again(tmp_path, small_streams, monkeypatch):
    experiment, store = parse_spec("test", SPEC), ResultStore(tmp_path / "results")
    perform = StreamRun.perform

    def failing(self, unfinished):
        if self.stream == "german" and self.model == "majority":
            raise CheckpointError("no space left\nsecond line")
        return perform(self, unfinished)

    monkeypatch.setattr(StreamRun, "perform", failing)
    row = made(experiment, store).rows[2]
    assert row.cells[0].value is not None
    assert (row.cells[1].value, row.cells[1].note) == (None, "no space left")
    monkeypatch.setattr(StreamRun, "perform", perform)
    assert made(experiment, store).rows[2].cells[1].value is not None


def test_ranks_are_of_the_papers_rows_and_over_the_streams_that_they_have():
    rows = [
        TableRow("a", (TableCell(1.0), TableCell(5.0), TableCell(2.0))),
        TableRow("b", (TableCell(2.0), TableCell(None), TableCell(2.0))),
        TableRow("c", (TableCell(3.0), TableCell(4.0), TableCell(7.0))),
        TableRow("ours", (TableCell(0.0), TableCell(0.0), TableCell(0.0)), ours=True),
    ]
    assert _average_ranks(rows) == {
        "a": pytest.approx(4.5 / 3),
        "b": pytest.approx(1.75),
        "c": pytest.approx(7 / 3),
        "ours": None,
    }


TABLE = ResultTable(
    "Errors",
    "Of little.",
    ("one & two", "mean"),
    (
        TableRow("λ-p_1", (TableCell(12.34, 10.0, "first 5 rows"), TableCell(None, "N/A", "failed"))),
        TableRow("mine", (TableCell(2.0), TableCell(3.0)), ours=True, note="looks at 5 %"),
    ),
)


def test_a_table_is_written_for_people_programs_and_papers():
    assert format_cell(TableCell(1234.5, 1000), 0) == "1,234 (1,000)"
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
    row = TableRow("AMRC", (TableCell(1.0, note="first rows"), TableCell(2.0)), note="mean over seeds")
    lines = list(csv.DictReader(io.StringIO(to_csv(ResultTable("T", "", ("a", "b"), (row,))))))
    assert [line["note"] for line in lines] == ["first rows; mean over seeds", "mean over seeds"]
