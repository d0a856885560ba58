"""The table of drift of a saved model."""

import json

import numpy as np

from driftline import AMRC


def test_what_moves_is_named_first(folder, command, model):
    left = command("explain", model)
    assert (left.code, left.err) == (0, "")
    rows = [
        line.split() for line in left.out.split("surprise\n" if "surprise\n" in left.out else "\n\n")[-1].splitlines()
    ]
    assert "After 300 rows of my," in " ".join(left.out.split())
    table = AMRC.load(model).drift()
    names = AMRC.load(model).notes_["columns"]
    shown = [row for row in rows if row and row[0] in ("moving", "still")]
    assert (shown[0][0], shown[0][1]) == (table["label"][0], names[int(table["feature"][0][1:])])
    assert shown[0][0] == "moving"
    assert max(map(len, left.out.splitlines())) <= 100


def test_the_table_is_there_for_programs(folder, command, model):
    record = json.loads(command("explain", model, "--json", "-").out)
    loaded = AMRC.load(model)
    table = loaded.drift()
    assert [row["surprise"] for row in record["drift"]] == table["surprise"].tolist()
    assert {row["feature"] for row in record["drift"]} == set(loaded.notes_["columns"])
    assert (record["stream"], record["n_steps"], record["error_bound"]) == ("my", 300, loaded.error_bound_)
    assert record["bound_is_informative"] is (loaded.error_bound_ < 0.45)


def test_as_many_lines_as_wanted_are_shown(folder, command, model):
    left = command("explain", model, "--top", "2")
    n_rows = len(AMRC.load(model).drift())
    assert f"… and {n_rows - 2} more rows; --top shows more" in left.out


def test_a_model_that_does_not_say_what_moves_is_refused(folder, command):
    assert command("run", "my.csv", "--label", "class", "--model", "dwm", "--save", "dwm.driftline").code == 0
    left = command("explain", "dwm.driftline")
    assert left.code == 2
    assert "contains a DWM, which does not track drift" in left.err


def test_a_bound_near_guessing_is_called_uninformative(folder, command):
    rng, model = np.random.default_rng(0), AMRC(features="linear")
    model.partial_fit(rng.normal(size=(400, 2)), rng.integers(0, 2, 400))
    model.save("chance.driftline")
    record = json.loads(command("explain", "chance.driftline", "--json", "-").out)
    assert record["error_bound"] >= 0.45
    assert record["bound_is_informative"] is False
    text = " ".join(command("explain", "chance.driftline").out.split())
    assert "bounded by" not in text
    if record["bound_status"] == "ok":
        assert "The bound on the error of the next step is uninformative: it is hardly better than guessing." in text


def test_a_bound_above_that_of_guessing_is_called_useless(folder, command):
    rng, model = np.random.default_rng(0), AMRC(features="linear")
    model.partial_fit(rng.normal(size=(2, 2)), [0, 1])
    for x in rng.normal(size=(150, 1, 2)):
        model.partial_fit(x, model.classes_[model.predict_proba(x).argmin(axis=1)])
    model.save("wrong.driftline")
    text = " ".join(command("explain", "wrong.driftline").out.split())
    assert "There is no useful bound on the error of the next step: the labels so far showed more mistakes than" in text
    assert "bounded by" not in text
    assert json.loads(command("explain", "wrong.driftline", "--json", "-").out)["bound_status"] == "loose"
