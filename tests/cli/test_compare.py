"""Several classifiers on the same stream, side by side."""

import json
from pathlib import Path

import pytest

from driftline.cli import compare as compare_module
from driftline.evaluation import compare, evaluate
from driftline.registry import create
from driftline.streams import open_stream

MODELS = ("amrc-linear", "dwm", "majority")
ARGUMENTS = ("compare", "my.csv", "--label", "class", "--models", ",".join(MODELS))


def test_classifiers_are_ranked_with_what_they_are_behind(folder, command):
    left = command(*ARGUMENTS)
    assert (left.code, left.err) == (0, "")
    assert left.out.count("column 'when' only rises") == 1
    lines = left.out[left.out.index("my: 300") :].splitlines()
    assert lines[0].split() == ["my:", "300", "rows,", "2", "classes"]
    assert [line.split()[0] for line in lines[2:5]] == ["1", "2", "3"]
    assert {line.split()[1] for line in lines[2:5]} == set(MODELS)
    assert max(map(len, lines)) <= 80


def test_figures_for_programs_are_those_of_the_evaluations(folder, command):
    record = json.loads(command(*ARGUMENTS, "--json", "-").out)
    stream = open_stream("my.csv", "class")
    expected = compare({name: evaluate(create(name), stream, progress=False).timeline for name in MODELS})
    assert [entry["name"] for entry in record["models"]] == [place.name for place in expected]
    for entry, place in zip(record["models"], expected, strict=True):
        assert entry["model"] == place.name
        assert entry["rank"] == place.rank
        assert entry["error"] == pytest.approx(place.error)
        assert (entry["low"], entry["high"], entry["p"]) == (place.low, place.high, place.p)
    assert (record["n_rows"], record["finished"]) == (300, True)


def test_the_standard_input_serves_all_of_them(folder, command):
    piped = json.loads(
        command("compare", "-", *ARGUMENTS[2:], "--json", "-", stdin=(folder / "my.csv").read_bytes()).out
    )
    direct = json.loads(command(*ARGUMENTS, "--json", "-").out)
    assert [entry["mistakes"] for entry in piped["models"]] == [entry["mistakes"] for entry in direct["models"]]


def test_a_report_has_all_of_them(folder, command):
    assert command(*ARGUMENTS, "--report", "all.html", "--quiet") == (0, "", "")
    page = (folder / "all.html").read_text(encoding="utf-8")
    assert all(name in page for name in MODELS)


def test_missing_values_are_replaced_for_classifiers_that_cannot_take_them(folder, command):
    text = (folder / "my.csv").read_text().splitlines()
    text[150] = "," + text[150].partition(",")[2]
    (folder / "gap.csv").write_text("\n".join(text))
    left = command("compare", "gap.csv", "--label", "class", "--models", "majority,sklearn-nb", "--json", "c.json")
    assert left.code == 0
    assert "sklearn-nb cannot take missing values: 1 missing value was replaced by the running mean" in left.out
    models = {entry["name"]: entry for entry in json.loads((folder / "c.json").read_text())["models"]}
    assert (models["sklearn-nb"]["n_imputed"], models["majority"]["n_imputed"]) == (1, 0)
    assert models["sklearn-nb"]["estimator"] == "GaussianNB"


def test_one_that_fails_is_listed_with_its_error_and_the_others_go_on(folder, command, monkeypatch):
    evaluate = compare_module.evaluate

    def failing(model, *arguments, **options):
        if type(model).__name__ == "DWM":
            raise RuntimeError("the classifier <b>broke</b>")
        return evaluate(model, *arguments, **options)

    monkeypatch.setattr(compare_module, "evaluate", failing)
    models = "majority,dwm,no-change"
    outputs = ("--json", "c.json", "--report", "c.html")
    left = command("compare", "my.csv", "--label", "class", "--models", models, *outputs)
    assert left.code == 1
    assert "driftline: dwm: RuntimeError: the classifier <b>broke</b>" in left.err
    assert "Traceback" not in left.err
    assert any(line.split()[:3] == ["–", "dwm", "failed"] for line in left.out.splitlines())
    assert "dwm failed: RuntimeError: the classifier <b>broke</b>" in left.out
    record = json.loads((folder / "c.json").read_text())
    assert {entry["name"] for entry in record["models"]} == {"majority", "no-change"}
    assert record["failed"] == [{"name": "dwm", "error": "RuntimeError: the classifier <b>broke</b>"}]
    assert record["finished"] is False
    page = (folder / "c.html").read_text(encoding="utf-8")
    assert "dwm failed and is not compared: RuntimeError: the classifier &lt;b&gt;broke" in page


@pytest.mark.parametrize("models", ["", "amrc", "dwm,dwm", ",,"])
def test_one_classifier_is_no_comparison(folder, command, models):
    left = command("compare", "my.csv", "--label", "class", "--models", models)
    assert left.code == 2
    assert "--models expects two or more different names" in left.err


def test_a_file_that_grows_is_compared_up_to_the_same_row(folder, command, monkeypatch):
    evaluate = compare_module.evaluate

    def growing(*arguments, **options):
        run = evaluate(*arguments, **options)
        with open("my.csv", "a") as file:
            file.write(Path("new.csv").read_text().partition("\n")[2])
        return run

    monkeypatch.setattr(compare_module, "evaluate", growing)
    left = command("compare", "my.csv", "--label", "class", "--models", "majority,no-change", "--json", "-")
    assert left.code == 0, left.err
    assert {entry["n_rows"] for entry in json.loads(left.out)["models"]} == {300}


def write_frauds():
    rows = (f"{(7 * t) % 11 + 5 * (t % 10 == 0)},{'fraud' if t % 10 == 0 else 'fine'}" for t in range(400))
    Path("frauds.csv").write_text("\n".join(["amount,class", *rows]) + "\n", encoding="utf-8")


FRAUDS = ("compare", "frauds.csv", "--label", "class", "--models", "sklearn-nb,amrc-linear,dwm")


def test_classifiers_can_be_ranked_by_how_well_they_find_a_class(folder, command):
    write_frauds()
    left = command(*FRAUDS, "--by", "average-precision", "--json", "found.json", "--report", "found.html")
    assert (left.code, left.err) == (0, "")
    lines = left.out.partition("\n\n")[2].splitlines()
    assert lines[0].rstrip() == "frauds: 400 rows, 2 classes, by average precision of fraud (larger is better)"
    models = json.loads((folder / "found.json").read_text())["models"]
    values = [entry["value"] for entry in models]
    assert [(entry["by"], entry["larger_is_better"]) for entry in models] == [("average-precision", True)] * 3
    assert values[:2] == sorted(values[:2], reverse=True)
    assert [entry["value"] == entry["average_precision"] for entry in models] == [True] * 3
    assert (models[2]["name"], models[2]["value"]) == ("dwm", None)  # it gives no probabilities
    assert [entry["positive"] for entry in models] == ["fraud"] * 3
    page = (folder / "found.html").read_text(encoding="utf-8")
    assert f"{models[0]['name']} had the highest average precision of fraud ({values[0]:.3f})" in page
    assert f'<td data-name="Average precision">{values[1]:.3f}</td>' in page
    assert f"{values[0]:.3f}" in lines[3]
    assert [line.split()[1] for line in lines[2:6]] == ["model", *(entry["name"] for entry in models)]


def test_no_cell_is_cut_off_in_a_narrow_terminal(folder, command, monkeypatch):
    write_frauds()
    monkeypatch.setenv("COLUMNS", "30")
    names = ("windowed-majority", "no-change", "sklearn-nb")
    left = command("compare", "frauds.csv", "--label", "class", "--models", ",".join(names), "--by", "recall")
    assert (left.code, "…" in left.out) == (0, False)
    assert {line.split()[1] for line in left.out.splitlines() if line[:4].strip().isdigit()} <= set(names)
    assert all(f"  {name}  " in left.out for name in names)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--positive", "frod"), "the positive class 'frod' never occurs; choose a label that does: 'fine', 'fraud'"),
        (("--by", "recal"), "got 'recal'; did you mean recall?"),
    ],
)
def test_an_unknown_class_or_measure_is_told_once(folder, command, options, message):
    write_frauds()
    left = command(*FRAUDS, *options)
    assert left.code == 2
    assert left.err.count(message) == 1
    assert "rank" not in left.out


def test_a_measure_of_one_of_many_classes_asks_which_after_the_first_classifier(folder, command):
    rows = (f"{t % 3},{'abc'[t % 3]}" for t in range(60))
    Path("three.csv").write_text("\n".join(["x,class", *rows]) + "\n", encoding="utf-8")
    left = command("compare", "three.csv", "--label", "class", "--models", "majority,no-change", "--by", "recall")
    assert left.code == 2
    assert "recall is about one class, and 3 occur; pass --positive with a label" in left.err
    done = command(
        "compare",
        "three.csv",
        "--label",
        "class",
        "--models",
        "majority,no-change",
        "--by",
        "recall",
        "--positive",
        "b",
    )
    assert (done.code, done.err) == (0, "")
    assert "by recall of b (larger is better)" in done.out
