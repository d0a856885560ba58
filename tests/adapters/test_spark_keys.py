"""What happens to the rows of a key on a worker of Spark: without Spark, as a model that gets them one by one."""

import sys
from dataclasses import dataclass, replace
from itertools import permutations
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline import AMRC
from driftline.adapters.spark import key_learner, predict_then_learn, query
from driftline.adapters.spark.key_learner import ROWS_PER_REPORT, KeyLearner, fleet_of
from driftline.adapters.spark.key_state import KeyRow, KeyState
from driftline.adapters.spark.outcomes import FIGURES
from driftline.adapters.spark.settings import Settings, fleet_like
from driftline.errors import CheckpointError, ConfigError, MissingExtraError
from driftline.guarantees import Guarantees
from helpers.fleets import CLASSES, rows_of
from helpers.key_rows import SECOND, labelled, mixed, process, settings

MISSING = [np.nan] * 3
NAMES = ("a", "b", "c")
LINEAR = AMRC(memory="light", features="linear")
UNKNOWN_LABEL = "the label is 'cold'; expected one of classes=['fine', 'hot', 'worn']"


def changing_rows(n, n_before):
    """Return rows whose labels turn round after some of them."""
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, np.where((X[:, 0] > 0) == (np.arange(n) < n_before), "fine", "worn")


def events(outcomes):
    return [outcome["event"] for outcome in outcomes]


@pytest.mark.parametrize("features", ["auto", "linear"])
def test_each_row_gets_what_a_model_of_its_own_says_after_as_many_rows(features):
    X, y = changing_rows(700, 500)
    guarantees = Guarantees(errors=(0.1, 0.05), rise=None, tolerated=0.2)
    model = AMRC(memory="light", features=features, guarantees=guarantees)
    outcomes = process(settings(model), labelled(X, y))
    fleet, was_raised = fleet_like(model, 3, CLASSES), False
    for x, label, outcome in zip(X, y.tolist(), outcomes, strict=True):
        said = fleet.step([x], [label], [0])
        (status,) = fleet.status([0])
        assert {name: outcome[name] for name in FIGURES} == {name: status[name].item() for name in FIGURES}
        assert outcome["prediction"] == said.labels[0]
        assert outcome["answer"] == said.answers.tolist()[0]
        assert outcome["confidence"] == said.confidences[0]
        is_raised = status["has_alarm"] and not was_raised
        assert (outcome.get("alarm_since") is not None) == is_raised
        if is_raised or status["n_rows"] % ROWS_PER_REPORT == 0:
            alone = fleet.model(0)
            surprising = [row for row in alone.drift(columns=["a", "b", "c"])[:5] if row["surprise"] > 3]
            assert [tuple(each.values()) for each in outcome["moved"]] == [
                (row["label"], row["feature"], row["surprise"]) for row in surprising
            ]
            assert not is_raised or outcome["alarm_since"] == alone.alarm_.since
        else:
            assert "moved" not in outcome
        was_raised = bool(status["has_alarm"])
    assert was_raised
    assert outcomes[-1]["n_answered"] > 0


@given(st.data())
def test_the_division_into_calls_changes_nothing(data):
    rows = mixed(np.random.default_rng(data.draw(st.integers(0, 50))), 60)
    common = settings(label_timeout=data.draw(st.sampled_from([None, 5])))
    whole = KeyState()
    expected = process(common, rows, whole)
    state, outcomes, start = KeyState(), [], 0
    while start < len(rows):
        stop = start + data.draw(st.integers(1, 30))
        outcomes += process(common, rows[start:stop], state)
        start = stop
    assert outcomes == expected
    assert state == whole


def test_each_row_has_an_outcome_whatever_is_wrong_with_it():
    rows = mixed(np.random.default_rng(1), 200)
    outcomes = process(settings(), rows)
    assert set(events(outcomes)) == {"learned", "observed", "labelled", "held", "predicted", "refused"}
    was_held = {outcome["moment"] for outcome in outcomes if outcome["event"] == "held"}
    first = [each for each in outcomes if not (each["event"] == "labelled" and each["moment"] in was_held)]
    assert len(first) < len(outcomes)
    assert [(outcome["moment"], outcome["id"]) for outcome in first] == [(row.moment, row.id) for row in rows]
    assert all(("problem" in outcome) == (outcome["event"] == "refused") for outcome in outcomes)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"label": "cold"}, UNKNOWN_LABEL),
        ({"x": [0.0, np.inf, 0.0]}, "the feature 'b' is inf; expected a number up to 1e+30"),
        ({"x": [0.0, 0.0, -1e31], "label": None}, "the feature 'c' is -1e+31; expected a number up to 1e+30"),
        ({"id": "i" * 300, "label": None}, "the id takes more than 256 characters"),
        ({"x": MISSING, "label": None}, "neither features nor a label"),
        ({"x": MISSING, "id": "another", "label": "cold"}, UNKNOWN_LABEL),
        ({"x": MISSING, "id": None}, "the label has no id"),
        ({"moment": None}, "has no time"),
    ],
)
def test_rows_that_are_refused_change_nothing_for_the_others(changes, problem):
    X, y, _ = rows_of(np.random.default_rng(0), 250, 1)
    rows = labelled(X, y)
    bad = replace(rows[170], **changes)
    outcomes = process(settings(), [*rows[:170], bad, *rows[171:]])
    (refused,) = (outcome for outcome in outcomes if outcome["event"] == "refused")
    assert problem in refused["problem"]
    assert "prediction" not in refused
    others = [outcome for outcome in outcomes if outcome["event"] != "refused"]
    assert others == process(settings(), [*rows[:170], *rows[171:]])


def test_without_ids_a_row_with_a_label_and_no_features_is_learned():
    row = KeyRow(0, None, MISSING, "fine")
    assert events(process(replace(settings(), has_ids=False), [row])) == ["learned"]


def test_a_row_with_the_id_of_one_that_waits_is_refused_and_that_one_gets_the_label():
    first, second = KeyRow(0, 7, [1.0, 0.0, 0.0], None), KeyRow(1, 7, [2.0, 0.0, 0.0], None)
    outcomes = process(settings(), [first, second, KeyRow(2, 7, MISSING, "fine")])
    assert events(outcomes) == ["observed", "refused", "labelled"]
    assert outcomes[1]["problem"].startswith("a row with the id 7 waits for its label already")


def test_a_label_that_is_unknown_leaves_its_row_waiting():
    state = KeyState()
    outcomes = process(settings(), [KeyRow(0, 7, [1.0] * 3, None), KeyRow(1, 7, MISSING, "cold")], state)
    assert events(outcomes) == ["observed", "refused"]
    assert UNKNOWN_LABEL in outcomes[1]["problem"]
    assert list(state.waiting) == [7]


def test_labels_that_come_later_are_learned_as_by_the_model_itself():
    X, y, _ = rows_of(np.random.default_rng(0), 60, 1)
    rows = labelled(X, y)
    late = rows[30:40]
    state = KeyState()
    process(settings(), [*rows[:30], *(replace(row, label=None) for row in late)], state)
    assert list(state.waiting) == [row.id for row in late]
    with_features = [replace(row, moment=100 * SECOND) for row in late[:5]]
    without = [replace(row, moment=101 * SECOND, x=MISSING) for row in late[5:]]
    outcomes = process(settings(), [*with_features, *without], state)
    assert events(outcomes) == ["labelled"] * 10
    assert [outcome["n_waiting"] for outcome in outcomes] == list(range(9, -1, -1))
    assert not state.waiting
    fleet = fleet_like(AMRC(memory="light", features="linear"), 3, CLASSES)
    fleet.step(X[:30], y[:30], [0] * 30)
    fleet.observe(X[30:40], [0] * 10, [row.id for row in late])
    assert fleet.label([0] * 10, [row.id for row in late], y[30:40]).all()
    assert fleet.key_state(0) == state.model


def test_rows_expire_when_their_labels_do_not_come_in_time():
    common, state = settings(label_timeout=10), KeyState()
    observed = [KeyRow(t * SECOND, t, [1.0, 0.0, 0.0], None) for t in (0, 4)]
    process(common, observed, state)
    assert state.deadline(common) == 10 * SECOND
    assert KeyLearner(common, state).expire(10 * SECOND) == []
    (expired,) = KeyLearner(common, state).expire(10 * SECOND + 1)
    assert (expired["event"], expired["id"], expired["moment"], expired["n_waiting"]) == ("expired", 0, 0, 1)
    late, in_time = (KeyRow(14 * SECOND, row_id, MISSING, "fine") for row_id in (0, 4))
    assert events(process(common, [late, in_time], state)) == ["held", "labelled"]
    assert state.deadline(common) == 24 * SECOND
    assert KeyLearner(common, state).expire(24 * SECOND) == []
    (expired,) = KeyLearner(common, state).expire(24 * SECOND + 1)
    assert (expired["event"], expired["id"], expired["label"]) == ("expired", 0, "fine")
    assert expired["problem"] == "no row with this id came within label_timeout"
    assert state.deadline(common) is None


@pytest.mark.parametrize(("x", "label"), [([1.0, 0.0, 0.0], None), (MISSING, "fine")])
def test_the_deadline_is_that_of_the_earliest_row_or_label_whichever_came_first(x, label):
    common, state = settings(label_timeout=60), KeyState()
    process(common, [KeyRow(100 * SECOND, 1, x, label)], state)
    process(common, [KeyRow(50 * SECOND, 2, x, label)], state)
    assert state.deadline(common) == 110 * SECOND
    assert [outcome["id"] for outcome in KeyLearner(common, state).expire(110 * SECOND + 1)] == [2]
    assert state.deadline(common) == 160 * SECOND


def test_a_key_that_was_idle_too_long_begins_anew():
    X, y, _ = rows_of(np.random.default_rng(0), 20, 1)
    common, state = settings(time_to_live=100), KeyState()
    waits, is_held = KeyRow(20 * SECOND, "waits", [0.0] * 3, None), KeyRow(20 * SECOND, "held", MISSING, "fine")
    process(common, [*labelled(X, y), waits, is_held], state)
    assert state.deadline(common) == 120 * SECOND
    assert KeyLearner(common, state).expire(120 * SECOND) == []
    assert events(process(common, [KeyRow(10 * SECOND, None, [0.0] * 3, None)], state)) == ["predicted"]  # late
    assert state.deadline(common) == 120 * SECOND
    again = process(common, labelled(X, y, first=121), state)
    assert events(again) == ["expired"] * 2 + ["learned"] * 20
    assert [outcome["id"] for outcome in again[:2]] == ["waits", "held"]
    names = set(again[-1]) - {"moment", "id"}
    first = process(settings(), labelled(X, y))
    assert [{name: each[name] for name in names} for each in again[2:]] == [
        {name: each[name] for name in names} for each in first
    ]
    assert KeyLearner(common, state).expire(300 * SECOND) == []
    assert state == KeyState()


def test_a_label_of_a_row_that_the_model_has_given_up_is_refused():
    state = KeyState()
    process(settings(), [KeyRow(0, "waits", [0.0] * 3, None)], state)
    state.waiting["given up"] = 0
    assert events(process(settings(), [KeyRow(1, "given up", MISSING, "fine")], state)) == ["refused"]
    assert list(state.waiting) == ["waits"]


def test_the_oldest_row_is_given_up_when_too_many_wait(monkeypatch):
    monkeypatch.setattr(key_learner, "MAX_WAITING", 3)
    state = KeyState()
    outcomes = process(settings(), [KeyRow(t, t, [0.0] * 3, None) for t in range(5)], state)
    assert events(outcomes) == ["observed"] * 4 + ["expired", "observed", "expired"]
    assert list(state.waiting) == [2, 3, 4]


def test_the_order_in_which_rows_of_one_time_arrive_changes_nothing():
    rows = [
        KeyRow(0, 1, [0.5, np.nan, 0.0], "fine"),
        KeyRow(0, 2, [-0.5, 0.0, 0.0], None),
        KeyRow(0, 2, MISSING, "worn"),
        KeyRow(0, None, [0.1, 0.0, 0.0], None),
        KeyRow(1, 3, [0.2, 0.0, 0.0], "hot"),
    ]
    expected = repr(process(settings(), rows))
    assert "refused" not in expected
    for shuffled in permutations(rows):
        assert repr(process(settings(), shuffled)) == expected


def test_every_key_begins_with_what_a_model_has_learned():
    X, y, _ = rows_of(np.random.default_rng(0), 200, 1)
    model = AMRC(memory="light", features="linear").partial_fit(X, y, CLASSES)
    first = process(settings(model), labelled(X[:1], y[:1]))[0]
    assert first["prediction"] == model.predict(X[:1])[0]
    assert first["n_rows"] == 1
    assert process(settings(), labelled(X[:1], y[:1]))[0]["confidence"] != first["confidence"]


@given(st.data())
def test_labels_that_are_read_before_their_rows_are_learned_as_if_they_were_not(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 50)))
    X, y, _ = rows_of(rng, 30, 1)
    rows = [replace(row, label=None) if rng.random() < 0.7 else row for row in labelled(X, y)]
    waits = rng.integers(0, 10, len(rows))  # a label may have the time of its row
    labels = [
        KeyRow((t + int(wait)) * SECOND, row.id, MISSING, label)
        for t, (row, wait, label) in enumerate(zip(rows, waits, y.tolist(), strict=True))
        if row.label is None
    ]
    in_time, early = KeyState(), KeyState()
    expected = process(settings(), rows + labels, in_time)
    is_early = data.draw(st.lists(st.booleans(), min_size=len(labels), max_size=len(labels)))
    first = [label for label, before in zip(labels, is_early, strict=True) if before]
    assert set(events(process(settings(), first, early))) <= {"held"}
    restored = KeyState(last=early.last)
    restored.restore(early.to_bytes(settings()), settings())
    assert restored == early
    rest = [label for label in labels if label not in first]
    assert process(settings(), rows + rest, restored) == expected
    assert restored == in_time


def test_a_label_with_an_earlier_time_than_its_row_is_learned_when_the_row_comes():
    label, row = KeyRow(0, 7, MISSING, "worn"), KeyRow(5 * SECOND, 7, [1.0, 0.0, 0.0], None)
    for division in ([[label, row]], [[label], [row]], [[row, label]]):
        state = KeyState()
        outcomes = [outcome for rows in division for outcome in process(settings(), rows, state)]
        assert events(outcomes) == ["held", "observed", "labelled"]
        assert [outcome["moment"] for outcome in outcomes] == [0, 5 * SECOND, 0]
        assert outcomes[1]["prediction"] is not None
        assert (outcomes[2]["label"], outcomes[2]["n_rows"], outcomes[2]["n_waiting"]) == ("worn", 1, 0)
        assert state.held == state.waiting == {}
        fleet = fleet_like(AMRC(memory="light", features="linear"), 3, CLASSES)
        fleet.observe([row.x], [0], [7])
        fleet.label([0], [7], ["worn"])
        assert state.model == fleet.key_state(0)


def test_a_second_label_for_a_row_that_has_not_come_is_refused_and_the_first_one_is_learned():
    first, second = KeyRow(0, 7, MISSING, "worn"), KeyRow(1, 7, MISSING, "fine")
    outcomes = process(settings(), [first, second, KeyRow(2, 7, [1.0, 0.0, 0.0], None)])
    assert events(outcomes) == ["held", "refused", "observed", "labelled"]
    assert outcomes[1]["problem"] == "another label for the row with the id 7 is held already"
    assert outcomes[3]["label"] == "worn"


def test_a_label_is_reported_as_held_once_also_if_its_row_is_refused():
    state, label = KeyState(), KeyRow(9, 7, MISSING, "worn")
    bad, good = (KeyRow(moment, 7, [value, 0.0, 0.0], None) for moment, value in ((1, np.inf), (2, 1.0)))
    outcomes = [each for row in (label, bad, good) for each in process(settings(), [row], state)]
    assert events(outcomes) == ["held", "refused", "observed", "labelled"]


def test_the_oldest_label_is_given_up_when_too_many_are_held(monkeypatch):
    monkeypatch.setattr(key_learner, "MAX_WAITING", 3)
    state = KeyState()
    outcomes = process(settings(), [KeyRow(t, t, MISSING, "fine") for t in range(5)], state)
    assert events(outcomes) == ["held"] * 4 + ["expired", "held", "expired"]
    assert [outcome["id"] for outcome in outcomes if outcome["event"] == "expired"] == [0, 1]
    assert list(state.held) == [2, 3, 4]


@given(
    st.dictionaries(
        st.one_of(st.integers(-(2**63), 2**63 - 1), st.text()),
        st.tuples(st.integers(-(2**63), 2**63 - 1), st.one_of(st.text(), st.integers(), st.booleans())),
    ),
    st.one_of(st.none(), st.binary(min_size=1)),
    st.lists(st.text()),
)
def test_held_labels_and_the_model_are_kept_as_bytes(labels, model, names):
    held = {row_id: KeyRow(moment, row_id, [], label) for row_id, (moment, label) in labels.items()}
    state, restored = KeyState(model, held=held), KeyState()
    given = replace(settings(), columns=tuple(names))
    restored.restore(state.to_bytes(given), given)
    assert restored == state
    assert list(restored.held) == list(held)
    assert (state.to_bytes(given) is None) == (model is None and not held)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"columns": ("b", "a", "c")}, r"features \['a', 'b', 'c'\], and this one has \['b', 'a', 'c'\]"),
        ({"columns": ("a", "b", "d")}, r"features \['a', 'b', 'c'\], and this one has \['a', 'b', 'd'\]"),
        ({"columns": ("a", "b")}, r"features \['a', 'b', 'c'\], and this one has \['a', 'b'\]"),
        ({"classes": ("cold", "hot")}, r"classes \[.*\], and this one has \['cold', 'hot'\]"),
    ],
)
@pytest.mark.parametrize("x", [[0.0] * 3, MISSING])  # a row, or a label that is held while there is no model
def test_a_state_of_other_features_or_classes_is_refused_and_changes_nothing(x, change, message):
    state, other = KeyState(), KeyState(b"before")
    process(settings(), [KeyRow(0, 1, x, "fine")], state)
    with pytest.raises(CheckpointError, match=message):
        other.restore(state.to_bytes(settings()), replace(settings(), **change))
    assert other == KeyState(b"before")


def test_a_state_in_another_format_is_refused():
    state = KeyState()
    process(settings(), [KeyRow(0, 1, [0.0] * 3, "fine")], state)
    with pytest.raises(CheckpointError, match="another version of driftline; begin with a new checkpoint"):
        KeyState().restore(state.model, settings())


def test_an_acknowledged_alarm_is_armed_again_as_by_the_model_itself():
    X, y = changing_rows(900, 500)
    y[700:] = y[700:][::-1].copy()  # now they have nothing to do with the rows
    guarantees = Guarantees(errors=0.1, rise=None, tolerated=0.1)
    common, state = settings(AMRC(memory="light", features="linear", guarantees=guarantees)), KeyState()
    rows = labelled(X, y)
    acknowledgement = KeyRow(rows[599].moment, None, None, None)
    outcomes = process(common, [acknowledgement, *rows[:700]], state)
    outcomes += process(common, rows[700:], state)
    assert [outcome["event"] for outcome in outcomes[599:602]] == ["learned", "acknowledged", "learned"]
    assert [outcome["has_alarm"] for outcome in outcomes[599:601]] == [True, False]
    assert sum(outcome.get("alarm_since") is not None for outcome in outcomes) == 2  # raised once more
    alone = AMRC(memory="light", features="linear", guarantees=guarantees)
    alone.partial_fit(X[:600], y[:600], CLASSES).acknowledge_alarm()
    alone.partial_fit(X[600:], y[600:])
    assert alone.alarm_ is not None
    fleet = fleet_like(AMRC(memory="light", features="linear", guarantees=guarantees), 3, CLASSES)
    assert fleet.put(0, alone).key_state(0) == state.model


def test_an_acknowledgement_without_an_alarm_is_refused_and_changes_nothing():
    X, y, _ = rows_of(np.random.default_rng(0), 20, 1)
    rows = labelled(X, y)
    outcomes = process(settings(), [*rows[:10], KeyRow(rows[9].moment, None, None, None), *rows[10:]])
    refused = outcomes.pop(10)
    assert (refused["event"], refused["problem"]) == ("refused", "no alarm of the key is raised")
    assert outcomes == process(settings(), rows)


@pytest.mark.parametrize("package", ["pyspark.sql", "pyarrow", "google.protobuf"])
def test_without_spark_the_message_says_what_to_install(monkeypatch, package):
    for name in ("pyspark.sql", "pandas", "pyarrow", "google.protobuf"):
        monkeypatch.setitem(sys.modules, name, None if name == package else ModuleType(name))
    message = rf"needs {package.split('.')[0]}; pip install 'driftline\[spark\]'"
    with pytest.raises(MissingExtraError, match=message):
        predict_then_learn(None, key="k", features=["x"], label="y", time="t", classes=[0, 1])


@dataclass
class Frame:
    """A static DataFrame without Spark: what is looked at before a query is built."""

    dtypes: list
    isStreaming = False  # noqa: N815  # named by Spark

    @property
    def columns(self):
        return [name for name, _ in self.dtypes]


ROWS = Frame([("k", "string"), ("t", "timestamp"), ("i", "bigint"), ("a", "double"), ("b", "double"), ("y", "string")])


def query_with(monkeypatch, df=ROWS, *, methods=("transformWithState",), **changes):
    """Call predict_then_learn where a Spark is installed that does nothing."""
    monkeypatch.setattr(query, "NEEDED", ("pyspark.sql",))
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace(__version__="4.0.1"))
    grouped = SimpleNamespace(**dict.fromkeys(methods))
    monkeypatch.setitem(sys.modules, "pyspark.sql", SimpleNamespace(GroupedData=grouped))
    given = {"key": "k", "features": ["a", "b"], "label": "y", "time": "t", "classes": ["no", "yes"], "model": LINEAR}
    return predict_then_learn(df, **given | changes)


def test_a_spark_that_is_too_old_is_refused(monkeypatch):
    with pytest.raises(MissingExtraError, match=r"needs pyspark 4.1 or newer; found 4.0.1: pip install --upgrade"):
        query_with(monkeypatch, methods=())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": None}, "features must be a sequence of one or more names of columns; got None"),
        ({"features": (name for name in "ab")}, "features must be a sequence .*; got <generator"),
        ({"features": []}, r"features must be a sequence of one or more names of columns; got \[\]"),
        ({"features": "ab"}, "features must be a sequence of one or more names of columns; got 'ab'"),
        ({"features": {"a", "b"}}, "features must be a sequence of one or more names of columns; got {"),
        ({"features": ["a", 1]}, "features must be a sequence of one or more names of columns; got"),
        ({"features": ["a", "b", "a"]}, "features must name each column once; got 'a' more than once"),
        ({"features": ["a", "A"]}, "features must name each column once; got 'A', 'a' more than once"),
        ({"features": ["a", "y"]}, "features must not have the label 'y' among them"),
        ({"classes": None}, r"classes must be all labels that can occur, such as .*; got None"),
        ({"classes": "yes"}, "classes must be all labels that can occur, such as .*; got 'yes'"),
        ({"model": "amrc"}, r"model must be an AMRC, such as AMRC\(memory='light'\); got 'amrc'"),
        ({"model": AMRC}, r"model must be an AMRC, such as AMRC\(memory='light'\); got <class"),
        ({"df": None}, "df must be a DataFrame of Spark; got <class 'NoneType'>"),
        ({"df": [1]}, "df must be a DataFrame of Spark; got <class 'list'>: spark.createDataFrame makes one"),
        ({"id": "i", "labels": [1]}, "labels must be a DataFrame of Spark; got <class 'list'>"),
        ({"acknowledged": [1]}, "acknowledged must be a DataFrame of Spark; got <class 'list'>"),
        ({"key": None}, "key must be the name of a column; got None"),
        ({"key": "Event"}, "the result would have two columns 'Event', 'event'"),
        ({"key": "k", "id": "K"}, "the result would have two columns 'K', 'k'"),
        ({"key": "n_rows"}, "the result would have two columns 'n_rows'"),
        (
            {"df": Frame([("k", "array<int>"), *ROWS.dtypes[1:]])},
            "column 'k' must not be array or .*; it is array<int>",
        ),
        ({"df": Frame([("k", "map<int,int>"), *ROWS.dtypes[1:]])}, "column 'k' must not be .*; it is map<int,int>"),
        ({"df": Frame([("k", "struct<p:int>"), *ROWS.dtypes[1:]])}, "column 'k' must not be .*; it is struct<p:int>"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused_with_what_was_expected_and_what_came(monkeypatch, changes, message):
    with pytest.raises(ConfigError, match=message):
        query_with(monkeypatch, **changes)


def test_a_model_that_has_learned_from_the_columns_in_another_order_is_refused():
    pd = pytest.importorskip("pandas")
    X, y, _ = rows_of(np.random.default_rng(0), 20, 1)
    model = AMRC(memory="light", features="linear").partial_fit(pd.DataFrame(X, columns=["b", "a", "c"]), y, CLASSES)
    with pytest.raises(ConfigError, match=r"in their order, \['b', 'a', 'c'\]; got \['a', 'b', 'c'\]"):
        Settings.of(model, NAMES, CLASSES)
    assert Settings.of(model, ["b", "a", "c"], CLASSES).columns == ("b", "a", "c")


def test_queries_whose_classes_are_equal_and_of_another_type_have_fleets_of_their_own():
    of_numbers, of_booleans = (Settings.of(LINEAR, NAMES, classes) for classes in ([0, 1], [False, True]))
    assert of_numbers != of_booleans
    assert of_numbers == Settings.of(LINEAR, NAMES, [0, 1])
    for each, label_type in ((of_numbers, int), (of_booleans, bool)):
        assert [type(label) for label in fleet_of(each).classes_.tolist()] == [label_type] * 2


def test_models_that_fleets_do_not_have_are_refused():
    with pytest.raises(ConfigError, match=r"memory='light'.*got memory='full'"):
        fleet_like(AMRC(), 3, CLASSES)
    with pytest.raises(ConfigError, match="got label_memory=True"):
        fleet_like(AMRC(memory="light", label_memory=True), 3, CLASSES)
