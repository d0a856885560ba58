"""The paper's figures: simulations, curves, findings and drawings."""

import csv
import io

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline import ConfigError, PaperAMRC
from driftline.errors import DownloadError
from driftline.experiments import ResultStore, RunExecutor, make_figure
from driftline.experiments.experiment_runs import SimulationRun, error_probabilities, kept_times
from driftline.experiments.experiment_spec import parse_spec
from driftline.experiments.figure1 import SEED, OneMovingClass, figure1
from driftline.experiments.figure_drawing import COLOURS, Curve, Finding, Panel, ResultFigure, draw, points_csv
from driftline.experiments.figure_results import _bound_finding, _bounds_panels, _order_finding
from driftline.experiments.reproduction_page import figure_markdown, to_html, to_markdown_page
from driftline.experiments.result_table import ResultTable, TableCell, TableRow
from driftline.paper import rules
from driftline.streams import ArrayStream, RotatingGaussians
from driftline.types import Rule

LINEAR = {"model": "amrc-paper-linear", "parameters": {"scaling": "none", "n_iterations": 50}}
SPEC = {"title": "A figure", "about": "Of little.", "claim": "Nothing.", "steps": 12}
ORDERS = [{"row": f"order {k}", **LINEAR, "parameters": LINEAR["parameters"] | {"order": k}} for k in (0, 1, 2)]


def figure(tmp_path, **content):
    return make_figure(parse_spec("test", SPEC | content), "usual", RunExecutor(ResultStore(tmp_path), progress=False))


def simulation(work="bounds", *, n_steps=15, first_seed=0, n_runs=1):
    return SimulationRun(work, **LINEAR, n_steps=n_steps, first_seed=first_seed, n_runs=n_runs)


def test_the_errors_of_rules_are_those_under_the_known_distribution():
    stream, rng = RotatingGaussians(), np.random.default_rng(0)
    found = [Rule(rng.normal(size=(2, 2)) / 8, -0.3) for _ in range(6)]
    errors = np.mean([error_probabilities(stream, found, seed) for seed in range(40)], axis=0)
    for t, rule in enumerate(found):
        exact = stream.rule_error(t + 1, lambda X, rule=rule: rules.probabilities(rule, X), n_points=4096)
        assert errors[t] == pytest.approx(exact.value, abs=0.01)


def test_a_simulation_compares_each_rule_with_the_bound_that_was_given_with_it():
    X, y = RotatingGaussians().sample(15, seed=4)
    model = PaperAMRC(features="linear", **LINEAR["parameters"])
    bounds, found = [], []
    for row, label in zip(X, y, strict=True):
        found.append(model.rule_ if bounds else Rule(np.zeros((2, 2)), -0.5))
        bounds.append(model.error_bound_ if bounds else 0.5)
        model.partial_fit([row], [label], classes=[0, 1])
    result = simulation(first_seed=4).perform(None)
    errors = error_probabilities(RotatingGaussians(), found, 4)
    assert result["bounds"] == pytest.approx(bounds)
    assert result["errors"] == pytest.approx(errors)
    assert result["squares"] == pytest.approx(errors**2)
    assert result["holds"] == (np.array(bounds) >= errors).astype(float).tolist()
    assert result["times"] == list(range(1, 16))


def test_accumulated_mistakes_are_those_of_the_randomised_rule():
    X, y = RotatingGaussians().sample(300, seed=2)
    answers = PaperAMRC(features="linear", **LINEAR["parameters"]).prequential(X, y, classes=[0, 1])
    result = simulation("mistakes", n_steps=300, first_seed=2).perform(None)
    places = np.array(result["times"]) - 1
    assert result["mistakes"] == pytest.approx(np.cumsum(1 - answers.label_probabilities)[places])
    assert result["bounds"] == pytest.approx(np.cumsum(answers.bounds)[places])


@pytest.mark.parametrize("work", ["bounds", "mistakes"])
def test_runs_of_a_simulation_add_up(work):
    together = simulation(work, first_seed=3, n_runs=3).perform(None)
    alone = [simulation(work, first_seed=seed).perform(None) for seed in (3, 4, 5)]
    assert together["n_runs"] == 3
    for name in together.keys() - {"n_runs", "times"}:
        assert together[name] == pytest.approx(np.sum([one[name] for one in alone], axis=0))


@given(st.integers(1, 100_000))
def test_kept_times_go_from_the_first_to_the_last_and_are_at_most_200(n_steps):
    times = kept_times(n_steps)
    assert times[0] == 1
    assert times[-1] == n_steps
    assert len(times) <= 200
    assert np.all(np.diff(times) > 0)


def test_bounds_have_a_panel_and_a_finding_for_each_order(tmp_path):
    made = figure(tmp_path, kind="bounds", simulations=3, method=ORDERS)
    assert [panel.title for panel in made.panels] == ["order 0", "order 1", "order 2"]
    for panel in made.panels:
        bound, error = panel.curves
        assert (bound.style, error.style, bound.colour) == ("bound", "line", error.colour)
        assert len(bound.x) == len(error.y) == 12
    assert all("3 runs" in finding.text for finding in made.findings)
    assert "from 3 results" in made.provenance  # three simulations of three runs
    assert figure(tmp_path, kind="bounds", simulations=3, method=ORDERS) == made


@pytest.mark.parametrize(("bound", "holds"), [(0.3, True), (0.36, False), (0.1, False)])
def test_bounds_must_be_tight_and_above(bound, holds):
    mean = {
        "times": np.arange(1, 4),
        "n_runs": np.array(5),
        "bounds": np.full(3, bound),
        "errors": np.full(3, 0.2),
        "squares": np.full(3, 0.05),
        "holds": np.full(3, float(bound > 0.2)),
    }
    assert _bounds_panels({"order 1": mean})[1][0].holds is holds


def test_means_are_over_all_parts_of_a_simulation(tmp_path, kept, monkeypatch):
    whole = figure(tmp_path / "a", kind="mistakes", simulations=5, method=ORDERS)
    monkeypatch.setattr("driftline.experiments.figure_results.STEPS_PER_RUN", 24)  # two runs at a time
    parts = figure(tmp_path / "b", kind="mistakes", simulations=5, method=ORDERS)
    assert len(kept(ResultStore(tmp_path / "b"))) == 9
    for one, other in zip(whole.panels[0].curves, parts.panels[0].curves, strict=True):
        assert one.y == pytest.approx(other.y)


def test_the_bound_on_mistakes_is_that_of_order_1_with_its_margin(tmp_path):
    (panel,) = figure(tmp_path, kind="mistakes", simulations=2, method=ORDERS).panels
    assert panel.logarithmic
    *orders, bound = panel.curves
    assert [curve.label for curve in orders] == ["order 0", "order 1", "order 2"]
    assert (bound.style, bound.colour) == ("bound", 1)
    order = {"n_steps": 12, "first_seed": 0, "n_runs": 2}
    sums = SimulationRun("mistakes", LINEAR["model"], ORDERS[1]["parameters"], **order).perform(None)["bounds"]
    t = np.arange(1, 13)
    assert bound.y == pytest.approx(np.array(sums) / 2 / t + np.sqrt(2 * np.log(20) / t))


def test_the_finding_names_the_time_from_which_a_higher_order_has_fewer_mistakes():
    times = np.array([1, 10, 100])
    rates = {"low": np.array([0.3, 0.3, 0.3]), "high": np.array([0.4, 0.2, 0.25])}
    later = _order_finding(rates, times, "low", "high")
    assert later.holds
    assert "from t = 10 on" in later.text
    never = _order_finding(rates, times, "high", "low")
    assert not never.holds
    assert "has not made fewer" in never.text
    always = _order_finding(rates | {"best": np.array([0.1, 0.1, 0.1])}, times, "low", "best")
    assert not always.holds  # the paper says that it is worse at first
    assert "has never made more" in always.text


def test_a_bound_must_be_above_the_mistakes_and_near_them():
    rates = {"AMRC": np.full(10, 0.3), "near": np.full(10, 0.4), "far": np.full(10, 0.9), "below": np.full(10, 0.2)}
    assert [_bound_finding(bound, "AMRC", rates).holds for bound in ("near", "far", "below")] == [True, False, False]
    assert "10.0 points below" in _bound_finding("below", "AMRC", rates).text


METHODS = [
    {"row": "AMRC", "model": "amrc-paper-linear", "parameters": {"n_iterations": 50}, "measure": "expected_error"},
    {"row": "DWM", "model": "dwm", "measure": "error"},
    {"row": "Bound AMRC", "model": "amrc-paper-linear", "parameters": {"n_iterations": 50}, "measure": "mean_bound"},
]


def test_mistakes_on_a_stream_are_followed_row_by_row(tmp_path, monkeypatch):
    X = np.random.default_rng(0).random((60, 3))
    y = (X[:, 0] > 0.5).astype(int)
    stream = ArrayStream(X, y, name="german")
    monkeypatch.setattr("driftline.experiments.experiment_runs.load", lambda _: stream)
    made = figure(tmp_path, kind="course", streams=["german"], tuning_rows=10, method=METHODS)
    amrc, dwm, bound = made.panels[0].curves
    assert [curve.colour for curve in (amrc, dwm, bound)] == [0, 1, 0]
    scaled = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    model = PaperAMRC(features="linear", scaling="none", n_iterations=50)
    answers = model.prequential(scaled, y, classes=[0, 1])
    t = np.arange(1, 61)
    assert amrc.y == pytest.approx(np.cumsum(1 - answers.label_probabilities) / t)
    assert bound.y == pytest.approx(np.cumsum(answers.bounds) / t + np.sqrt(2 * np.log(20) / t))
    assert list(amrc.x) == t.tolist()
    assert len(made.findings) == 1


def test_a_figure_that_cannot_be_made_says_why(tmp_path, monkeypatch):
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path))
    monkeypatch.setenv("DRIFTLINE_CACHE", str(tmp_path))

    def unreachable(original, folder, timeout):
        raise DownloadError(f"{original.address}: there is no network")

    monkeypatch.setattr("driftline.streams.catalogue.loading.fetch_file", unreachable)
    made = figure(tmp_path / "results", kind="course", streams=["creditcard"], tuning_rows=10, method=METHODS)
    assert not made.panels
    assert "creditcard" in made.reasons[0]
    assert f"- not drawn: {made.reasons[0]}" in figure_markdown("test", made)


def test_in_figure_1_one_class_moves():
    panels, (finding,) = figure1(120)
    assert [panel.title[:4] for panel in panels] == ["time", "time", "trac"]
    assert finding.holds
    stream = OneMovingClass(120)
    moved = np.abs(stream.class_means(120) - stream.class_means(40)).max(axis=1)
    assert moved[1] == 0 < moved[0]
    for panel, t in zip(panels, (40, 120), strict=False):
        found = PaperAMRC(features="linear", scaling="none")
        X, y = stream.sample(120, seed=SEED)
        weights = found.partial_fit(X[:t], y[:t], classes=[0, 1]).rule_.weights
        (rule,) = (curve for curve in panel.curves if curve.label == "rule")
        along = np.array([rule.x[1] - rule.x[0], rule.y[1] - rule.y[0]])
        assert abs(along @ (weights[0] - weights[1])) <= 1e-9 * np.linalg.norm(along)
        marks = [(curve.x[0], curve.y[0]) for curve in panel.curves if curve.style == "mark"]
        assert np.allclose(marks, stream.class_means(t))


SMALL = ResultFigure(
    "A <figure>",
    "Of little.",
    "Much.",
    (Panel("one", "x", "y", (Curve("a", [1, 2], [3, 4]), Curve("", [1], [2], "mark", 1)), (0, 3), (0, 5)),),
    (Finding("It is so.", True), Finding("It is not.", False)),
    "Made by hand.",
)


@settings(max_examples=4, deadline=None)
@given(st.sampled_from(["line", "bound", "truth", "points", "mark", "path"]), st.integers(0, 12), st.booleans())
def test_every_curve_is_drawn_the_same_each_time(style, colour, logarithmic):
    curve = Curve("a curve", [1, 2, 3], [1, 2, 1], style, colour)
    panel = Panel("a panel", "x", "y", (curve,), (1, 10), (0, 3), logarithmic=logarithmic)
    files = [draw(ResultFigure("", "", "", (panel,), ())) for _ in range(2)]
    assert files[0] == files[1]
    assert files[0][".png"].startswith(b"\x89PNG")
    assert ">a curve<" in files[0][".svg"].decode()


def svg(*curves, **options):
    panel = Panel("", "x", "y", curves, (1, 1000), (0, 3), **options)
    return draw(ResultFigure("", "", "", (panel,), ()))[".svg"].decode()


def test_curves_can_be_told_apart():
    line, bound, other = (Curve("", [1, 9], [1, 2], style, n) for style, n in (("line", 0), ("bound", 0), ("line", 1)))
    assert "stroke-dasharray: 8" in svg(bound)
    assert "stroke-dasharray: 8" not in svg(line)
    assert COLOURS[0].lower() in svg(line)
    assert COLOURS[1].lower() in svg(other)
    assert len(set(COLOURS)) == len(COLOURS)


def test_time_can_be_logarithmic():
    assert ">100<" in svg(Curve("", [1, 9], [1, 2]), logarithmic=True)
    assert ">100<" not in svg(Curve("", [1, 9], [1, 2]))


def test_a_figure_does_not_depend_on_the_settings_of_its_user():
    plain = svg(Curve("", [1, 9], [1, 2]))
    with mpl.rc_context({"axes.facecolor": "black", "lines.linewidth": 7.0}):
        assert svg(Curve("", [1, 9], [1, 2])) == plain


def test_a_simulation_of_other_features_is_refused():
    other = SimulationRun("bounds", "amrc-paper-linear", {"scaling": "none", "intercept": True}, 5, 0, 1)
    with pytest.raises(ConfigError, match="needs linear features"):
        other.perform(None)


def test_points_are_written_for_programs():
    rows = list(csv.DictReader(io.StringIO(points_csv(SMALL))))
    assert [(row["panel"], row["curve"], float(row["y"])) for row in rows] == [
        ("one", "a", 3),
        ("one", "a", 4),
        ("one", "mark", 2),
    ]


TABLE = ResultTable(
    "Errors",
    "Of <little>.",
    ("one",),
    (
        TableRow("theirs", (TableCell(14.0, 10.0, remark="Far."),)),
        TableRow("near", (TableCell(11.0, 10.0),)),
        TableRow("mine", (TableCell(2.0),), True),
    ),
    provenance="Made by hand.",
    in_percent=True,
)


def test_a_page_shows_published_beside_ours_with_the_difference():
    page = to_html("Both", {"table": TABLE, "figure": SMALL})
    assert '<td>14.0<small>10.0 <span class="far">+4.0</span></small></td>' in page
    assert "<td>11.0<small>10.0 <span>+1.0</span></small></td>" in page
    assert '<tr class="ours"><th>mine</th><td>2.0</td></tr>' in page
    assert "<li>theirs, one: 14.0 (10.0). Far.</li>" in page
    assert "Of &lt;little&gt;." in page
    assert "A &lt;figure&gt;" in page
    assert 'src="data:image/svg+xml;base64,' in page
    assert '<li class="yes">It is so.</li><li class="no">It is not.</li>' in page
    assert page.count("Made by hand.") == 2
    assert "Within 3 points of the published figure: theirs 0 of 1, near 1 of 1." in page


def test_the_page_of_the_documentation_marks_findings_that_do_not_hold():
    page = to_markdown_page("Both", "At first.", {"table": TABLE, "figure": SMALL})
    assert page.startswith("# Both\n\nAt first.\n\n## Errors\n")
    assert "- It is so.\n- **Does not hold here.** It is not." in page
    assert "![A <figure>](figure.svg)" in page
