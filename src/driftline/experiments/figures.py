"""The paper's figures made: from runs on its synthetic stream, and on German and Usenet1."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from driftline.experiments.figure import Curve, Figure, Finding, Panel
from driftline.experiments.opening import opening
from driftline.experiments.provenance import command_of, provenance
from driftline.experiments.simulation import Simulation
from driftline.experiments.spec import Experiment, Level, Method
from driftline.experiments.table import Plan
from driftline.experiments.work import Outcome, Workers
from driftline.types import Vector

DELTA = 0.05
"""Probability with which the paper's bound on accumulated mistakes may fail."""
TIGHT = 0.15
"""What a bound may be above an error to be called tight here, or close: the paper gives no figure."""
STEPS_AT_A_TIME = 140_000
"""Steps of simulations whose sums are kept together: about half a minute."""
Made = tuple[tuple[Panel, ...], tuple[Finding, ...]]
NOTHING: Made = ((), ())


def make_figure(experiment: Experiment, level: str, workers: Workers) -> Figure:
    """Do what is not done yet of an experiment, and return its figure.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    level : {"quick", "usual", "full"}
        How much of it.
    workers : Workers
        Who does it, and where results are kept.

    Returns
    -------
    Figure
        Its curves, and what they show.
    """
    about = Figure(experiment.title, experiment.about, experiment.says, (), ())
    command = command_of(experiment.name, level)
    if experiment.kind == "opening":
        panels, findings = opening(experiment.steps)
        return replace(about, panels=panels, findings=findings, provenance=provenance(command, []))
    make = _followed if experiment.kind == "course" else _simulated
    outcomes, (panels, findings) = make(experiment, experiment.levels[level], workers)
    reasons = _reasons(outcomes)
    made = [outcome.made for outcome in outcomes.values() if outcome.made]
    return replace(about, panels=panels, findings=findings, reasons=reasons, provenance=provenance(command, made))


def _parts(experiment: Experiment, n_runs: int) -> dict[str, list[Simulation]]:
    """Return for each curve the simulations that it is the mean of."""
    at_a_time = max(STEPS_AT_A_TIME // experiment.steps, 1)
    return {
        method.row: [
            Simulation(
                experiment.kind,
                method.model,
                method.parameters,
                experiment.steps,
                first,
                min(at_a_time, n_runs - first),
            )
            for first in range(0, n_runs, at_a_time)
        ]
        for method in experiment.methods
    }


def _simulated(experiment: Experiment, level: Level, workers: Workers) -> tuple[dict[str, Outcome], Made]:
    """Run what a figure of the synthetic stream is made of, and make it unless something failed."""
    parts = _parts(experiment, level.simulations)
    tasks = [part for some in parts.values() for part in some]
    with workers.bar(experiment.name, len(tasks)) as bar:
        outcomes = workers.carry_out(tasks, bar)
    if _reasons(outcomes):
        return outcomes, NOTHING
    means = {row: _means([outcomes[part.key].result or {} for part in some]) for row, some in parts.items()}
    return outcomes, (_bounds if experiment.kind == "bounds" else _mistakes)(means)


def _followed(experiment: Experiment, level: Level, workers: Workers) -> tuple[dict[str, Outcome], Made]:
    """Run what a figure of a stream is made of, and make it unless something failed."""
    plan = Plan(experiment, level)
    chosen, followed = plan.carry_out(workers)
    outcomes = chosen | followed
    return outcomes, NOTHING if _reasons(outcomes) else _course(experiment, plan, chosen, followed)


def _reasons(outcomes: dict[str, Outcome]) -> tuple[str, ...]:
    """Return why runs gave nothing, each reason once."""
    return tuple(sorted({outcome.reason for outcome in outcomes.values() if outcome.result is None}))


def _means(results: list[dict[str, Any]]) -> dict[str, Vector]:
    """Return means over all runs, from sums over some."""
    n_runs = sum(result["n_runs"] for result in results)
    names = results[0].keys() - {"n_runs", "times"}
    means = {name: np.sum([result[name] for result in results], axis=0) / n_runs for name in names}
    return means | {"times": np.array(results[0]["times"]), "n_runs": np.array(n_runs)}


def _bounds(means: dict[str, dict[str, Vector]]) -> Made:
    """Return a panel for each order: R(U_t) and R(h_t), means over the runs."""
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
                f"{row}: the bound is not below the error probability at {share:.1%} of all steps of "
                f"{int(mean['n_runs']):,} runs, nor is the mean bound at {above} of {len(mean['times'])} times; on "
                f"average it is {100 * gap:.1f} points above ({100 * TIGHT:.0f} count as tight). The standard error of "
                f"the mean error probability is at most {100 * spread:.2g} points.",
                holds=share > 0.5 and above > len(mean["times"]) / 2 and gap <= TIGHT,
            )
        )
    return tuple(panels), tuple(findings)


def _mistakes(means: dict[str, dict[str, Vector]]) -> Made:
    """Return accumulated mistakes per time, and the bound of order 1."""
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
    findings = [_later(rates, times, rows[0], rows[1]), _later(rates, times, rows[1], rows[2])]
    above = float(np.mean(bound >= rates[rows[1]]))
    ends = f"{bound[-1]:.3f} against {rates[rows[1]][-1]:.3f}"
    findings.append(
        Finding(
            f"The bound of {rows[1]} is above its mistakes at {above:.0%} of the times shown; in the end {ends}.",
            above > 0.5,
        )
    )
    return (panel,), tuple(findings)


def _later(rates: dict[str, Vector], times: Vector, low: str, high: str) -> Finding:
    """Say whether the higher order has made more mistakes at first, and from when on fewer."""
    worse = np.flatnonzero(rates[high] > rates[low])
    ends = f"in the end {rates[high][-1]:.4f} against {rates[low][-1]:.4f}"
    if worse.size and worse[-1] == len(times) - 1:
        return Finding(f"{high} has not made fewer mistakes than {low} by the end: {ends}.", holds=False)
    if not worse.size:
        return Finding(f"{high} has never made more mistakes than {low}: {ends}.", holds=False)
    since = int(times[worse[-1] + 1])
    return Finding(
        f"{high} has made more mistakes than {low} at first, and fewer from t = {since:,} on: {ends}.", holds=True
    )


def _course(experiment: Experiment, plan: Plan, chosen: dict[str, Outcome], outcomes: dict[str, Outcome]) -> Made:
    """Return accumulated mistakes per time of some methods on a stream, and bounds."""
    (stream,) = experiment.streams
    rates: dict[str, Vector] = {}
    curves = []
    for method in experiment.methods:
        (run,) = plan.runs(method, stream, chosen)
        result = outcomes[run.key].result or {}
        rates[method.row] = _rate(method, result)
        style = "bound" if method.measure == "mean_bound" else "line"
        times = range(1, len(rates[method.row]) + 1)
        curves.append(Curve(method.row, times, rates[method.row].tolist(), style, _colour(method, experiment.methods)))
    n_rows = len(next(iter(rates.values())))
    panel = Panel("", "time t", "accumulated mistakes per time", tuple(curves), (0, float(n_rows)), (0.1, 1.0))
    findings = [
        _close(method.row, method.row.removeprefix("Bound "), rates)
        for method in experiment.methods
        if method.measure == "mean_bound"
    ]
    return (panel,), tuple(findings)


def _rate(method: Method, result: dict[str, Any]) -> Vector:
    """Return a curve: mistakes per time, or the bound of the paper on them."""
    totals = np.array(result[method.measure])
    times = np.arange(1.0, len(totals) + 1.0)
    rate: Vector = totals / times + (_margin(times) if method.measure == "mean_bound" else 0.0)
    return rate


def _margin(times: Vector) -> Vector:
    """Return by how much mistakes per time may exceed the mean of their probabilities."""
    margin: Vector = np.sqrt(2.0 * math.log(1.0 / DELTA) / times)
    return margin


def _colour(method: Method, methods: tuple[Method, ...]) -> int:
    """Return a number for each method, the same for a bound as for what it bounds."""
    rows = [other.row for other in methods if other.measure != "mean_bound"]
    return rows.index(method.row.removeprefix("Bound "))


def _close(bound: str, row: str, rates: dict[str, Vector]) -> Finding:
    above = float(np.mean(rates[bound] >= rates[row]))
    gap = float(rates[bound][-1] - rates[row][-1])
    return Finding(
        f"{bound} is above the mistakes of {row} at {above:.0%} of the steps, and in the end {100 * abs(gap):.1f} "
        f"points {'above' if gap >= 0 else 'below'} them ({rates[bound][-1]:.3f} against {rates[row][-1]:.3f}; "
        f"{100 * TIGHT:.0f} count as close).",
        holds=above > 0.5 and abs(gap) <= TIGHT,
    )
