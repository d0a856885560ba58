"""Figures of the paper: made from runs on its synthetic stream, and on German and Usenet1."""

import math
from typing import Any

import numpy as np

from driftline.experiments.experiment_runs import SimulationRun
from driftline.experiments.experiment_spec import ExperimentSpec, LevelSpec, MethodSpec
from driftline.experiments.figure1 import figure1
from driftline.experiments.figure_drawing import Curve, Finding, Panel, ResultFigure
from driftline.experiments.provenance import command_of, provenance
from driftline.experiments.run_executor import RunExecutor
from driftline.experiments.run_plan import Outcomes, RunPlan
from driftline.types import Vector

DELTA = 0.05
"""Probability that the paper's bound on accumulated mistakes fails."""
TIGHT = 0.15
"""Largest gap between a bound and an error that is called tight, or close, here; the paper gives no number."""
STEPS_PER_RUN = 140_000
"""Steps of simulations that are kept as one result: they take about half a minute."""
PanelsAndFindings = tuple[tuple[Panel, ...], tuple[Finding, ...]]


def make_figure(experiment: ExperimentSpec, level: str, executor: RunExecutor) -> ResultFigure:
    """Do the runs of an experiment that have no result yet, and return its figure.

    Parameters
    ----------
    experiment : ExperimentSpec
        The experiment.
    level : {"quick", "usual", "full"}
        How much of it is run.
    executor : RunExecutor
        Does the runs and keeps their results.

    Returns
    -------
    ResultFigure
        The figure; without panels, and with the reasons, if a run failed.
    """
    if experiment.kind == "opening":
        outcomes: Outcomes = {}
        panels, findings = figure1(experiment.steps)
    else:
        make = _stream_figure if experiment.kind == "course" else _simulation_figure
        outcomes, (panels, findings) = make(experiment, experiment.levels[level], executor)
    return ResultFigure(
        experiment.title,
        experiment.about,
        experiment.claim,
        panels,
        findings,
        provenance(command_of(experiment.name, level), outcomes.values()),
        _reasons(outcomes),
    )


def _simulation_runs(experiment: ExperimentSpec, n_simulations: int) -> dict[str, list[SimulationRun]]:
    """Return the runs for each curve, which is the mean over their simulations."""
    at_a_time = max(STEPS_PER_RUN // experiment.steps, 1)
    return {
        method.row: [
            SimulationRun(
                experiment.kind,
                method.model,
                method.parameters,
                experiment.steps,
                first,
                min(at_a_time, n_simulations - first),
            )
            for first in range(0, n_simulations, at_a_time)
        ]
        for method in experiment.methods
    }


def _simulation_figure(
    experiment: ExperimentSpec, level: LevelSpec, executor: RunExecutor
) -> tuple[Outcomes, PanelsAndFindings]:
    """Do the runs of a figure of the synthetic stream, and make it if none failed."""
    runs_by_row = _simulation_runs(experiment, level.simulations)
    runs = [run for some in runs_by_row.values() for run in some]
    with executor.progress_bar(experiment.name, len(runs)) as bar:
        outcomes = executor.outcomes(experiment.name, runs, bar)
    if _reasons(outcomes):
        return outcomes, ((), ())
    means = {row: _means([outcomes[run.key].result or {} for run in some]) for row, some in runs_by_row.items()}
    return outcomes, (_bounds_panels if experiment.kind == "bounds" else _mistakes_panel)(means)


def _stream_figure(
    experiment: ExperimentSpec, level: LevelSpec, executor: RunExecutor
) -> tuple[Outcomes, PanelsAndFindings]:
    """Do the runs of a figure of a stream of the catalogue, and make it if none failed."""
    plan = RunPlan(experiment, level)
    chosen, followed = plan.outcomes(executor)
    outcomes = chosen | followed
    return outcomes, ((), ()) if _reasons(outcomes) else _stream_panel(experiment, plan, chosen, followed)


def _reasons(outcomes: Outcomes) -> tuple[str, ...]:
    """Return why runs have no result, each reason once."""
    return tuple(sorted({outcome.reason for outcome in outcomes.values() if outcome.result is None}))


def _means(results: list[dict[str, Any]]) -> dict[str, Vector]:
    """Return means over all simulations, from the sums in each result."""
    n_runs = sum(result["n_runs"] for result in results)
    names = results[0].keys() - {"n_runs", "times"}
    means = {name: np.sum([result[name] for result in results], axis=0) / n_runs for name in names}
    return means | {"times": np.array(results[0]["times"]), "n_runs": np.array(n_runs)}


def _bounds_panels(means: dict[str, dict[str, Vector]]) -> PanelsAndFindings:
    """Return a panel for each order: R(U_t) and R(h_t), means over the simulations."""
    panels, findings = [], []
    for colour, (row, mean) in enumerate(means.items()):
        curves = (
            Curve("bound R(U_t)", mean["times"].tolist(), mean["bounds"].tolist(), "bound", colour),
            Curve("error probability R(h_t)", mean["times"].tolist(), mean["errors"].tolist(), "line", colour),
        )
        panels.append(Panel(row, "time t", "error probability", curves, (0, 140), (0.1, 0.55)))
        gap = float(np.mean(mean["bounds"] - mean["errors"]))
        above, share = int(np.sum(mean["bounds"] >= mean["errors"])), float(mean["holds"].mean())
        spread = float(np.sqrt((mean["squares"] - mean["errors"] ** 2).clip(0) / mean["n_runs"]).max())
        findings.append(
            Finding(
                f"{row}: the error probability does not exceed the bound at {share:.1%} of all steps of "
                f"{int(mean['n_runs']):,} runs, nor its mean the mean bound at {above} of {len(mean['times'])} times. "
                f"The bound is {100 * gap:.1f} points higher on average ({100 * TIGHT:.0f} or less is called tight). "
                f"The standard error of the mean error probability is at most {100 * spread:.2g} points.",
                holds=share > 0.5 and above > len(mean["times"]) / 2 and gap <= TIGHT,
            )
        )
    return tuple(panels), tuple(findings)


def _mistakes_panel(means: dict[str, dict[str, Vector]]) -> PanelsAndFindings:
    """Return accumulated mistakes per time step for each order, and the bound of order 1."""
    curves, rates = [], {}
    for colour, (row, mean) in enumerate(means.items()):
        rates[row] = mean["mistakes"] / mean["times"]
        curves.append(Curve(row, mean["times"].tolist(), rates[row].tolist(), "line", colour))
    rows, times = list(means), next(iter(means.values()))["times"]
    bound = means[rows[1]]["bounds"] / times + _margin(times)
    curves.append(Curve(f"bound, {rows[1]}", times.tolist(), bound.tolist(), "bound", 1))
    panel = Panel(
        "",
        "time t",
        "accumulated mistakes per time",
        tuple(curves),
        (1, float(times[-1])),
        (0.15, 0.65),
        logarithmic=True,
    )
    above = float(np.mean(bound >= rates[rows[1]]))
    at_the_end = f"{bound[-1]:.3f} compared with {rates[rows[1]][-1]:.3f}"
    findings = (
        _order_finding(rates, times, rows[0], rows[1]),
        _order_finding(rates, times, rows[1], rows[2]),
        Finding(
            f"The bound of {rows[1]} is above its mistakes at {above:.0%} of the times shown; at the end {at_the_end}.",
            above > 0.5,
        ),
    )
    return (panel,), findings


def _order_finding(rates: dict[str, Vector], times: Vector, low: str, high: str) -> Finding:
    """Return whether the higher order makes more mistakes at first and fewer later."""
    worse = np.flatnonzero(rates[high] > rates[low])
    at_the_end = f"at the end {rates[high][-1]:.4f} compared with {rates[low][-1]:.4f}"
    if worse.size and worse[-1] == len(times) - 1:
        return Finding(f"{high} has not made fewer mistakes than {low} by the end: {at_the_end}.", holds=False)
    if not worse.size:
        return Finding(f"{high} has never made more mistakes than {low}: {at_the_end}.", holds=False)
    since = int(times[worse[-1] + 1])
    return Finding(
        f"{high} has made more mistakes than {low} at first, and fewer from t = {since:,} on: {at_the_end}.", holds=True
    )


def _stream_panel(experiment: ExperimentSpec, plan: RunPlan, chosen: Outcomes, followed: Outcomes) -> PanelsAndFindings:
    """Return accumulated mistakes per time step of some methods on a stream, and their bounds."""
    (stream,) = experiment.streams
    rates: dict[str, Vector] = {}
    curves = []
    for method in experiment.methods:
        (run,) = plan.runs(method, stream, chosen)
        rates[method.row] = _rate(method, followed[run.key].result or {})
        style = "bound" if method.measure == "mean_bound" else "line"
        times = range(1, len(rates[method.row]) + 1)
        curves.append(Curve(method.row, times, rates[method.row].tolist(), style, _colour(method, experiment.methods)))
    n_rows = len(next(iter(rates.values())))
    panel = Panel("", "time t", "accumulated mistakes per time", tuple(curves), (0, float(n_rows)), (0.1, 1.0))
    findings = [
        _bound_finding(method.row, method.row.removeprefix("Bound "), rates)
        for method in experiment.methods
        if method.measure == "mean_bound"
    ]
    return (panel,), tuple(findings)


def _rate(method: MethodSpec, result: dict[str, Any]) -> Vector:
    """Return the accumulated mistakes per time step, or the paper's bound on them."""
    totals = np.array(result[method.measure])
    times = np.arange(1.0, len(totals) + 1.0)
    rate: Vector = totals / times + (_margin(times) if method.measure == "mean_bound" else 0.0)
    return rate


def _margin(times: Vector) -> Vector:
    """Return √(2 log(1/δ)/t): with probability 1 - δ, mistakes per time exceed their mean probability by no more."""
    margin: Vector = np.sqrt(2.0 * math.log(1.0 / DELTA) / times)
    return margin


def _colour(method: MethodSpec, methods: tuple[MethodSpec, ...]) -> int:
    """Return the colour of a method; its bound has the same."""
    rows = [other.row for other in methods if other.measure != "mean_bound"]
    return rows.index(method.row.removeprefix("Bound "))


def _bound_finding(bound: str, row: str, rates: dict[str, Vector]) -> Finding:
    """Return whether a bound is above the mistakes of a method and close to them."""
    above = float(np.mean(rates[bound] >= rates[row]))
    gap = float(rates[bound][-1] - rates[row][-1])
    return Finding(
        f"{bound} is above the mistakes of {row} at {above:.0%} of the steps, and at the end {100 * abs(gap):.1f} "
        f"points {'above' if gap >= 0 else 'below'} them ({rates[bound][-1]:.3f} compared with {rates[row][-1]:.3f}; "
        f"{100 * TIGHT:.0f} or less is called close).",
        holds=above > 0.5 and abs(gap) <= TIGHT,
    )
