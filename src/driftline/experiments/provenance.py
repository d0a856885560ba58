"""Sentences that say what made a table or a figure, and which of its results are stale."""

from collections.abc import Collection, Iterable

from driftline import __version__
from driftline.experiments.code_digest import is_stale
from driftline.experiments.run_executor import RunOutcome

VERSIONED = ("driftline", "python", "numpy", "numba", "scikit-learn")
"""What is named with its version."""


def command_of(name: str, level: str) -> str:
    """Return the command that makes an experiment.

    Examples
    --------
    >>> command_of("table1", "usual"), command_of("table1", "quick")
    ('driftline paper table1', 'driftline paper table1 --quick')
    """
    return f"driftline paper {name}" + ("" if level == "usual" else f" --{level}")


def provenance(command: str, outcomes: Iterable[RunOutcome]) -> str:
    """Return the command, dates, versions and code digests of some results, and which results are stale.

    Examples
    --------
    >>> provenance("driftline paper table2", [])
    'Made by `driftline paper table2` with driftline 0.1.0.'
    """
    done = [outcome for outcome in outcomes if outcome.result is not None]
    if not done:
        return f"Made by `{command}` with driftline {__version__}."
    dates = sorted({outcome.made["date"] for outcome in done})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    versions = (f"{name} {' and '.join(sorted({outcome.made[name] for outcome in done}))}" for name in VERSIONED)
    made = f"Made by `{command}` from {len(done)} result{'s' if len(done) > 1 else ''} of {when}"
    return f"{made} ({', '.join(versions)}; code {_digests(done)}).{_stale_results(command, done)}"


def _digests(outcomes: Iterable[RunOutcome]) -> str:
    """Return the digests of the code, each with the classifiers whose results it made."""
    models: dict[str, set[str]] = {}
    for outcome in outcomes:
        models.setdefault(outcome.made.get("code", "unknown"), set()).add(outcome.run.model)
    if list(models) == ["unknown"]:
        return "unknown"
    return ", ".join(f"{digest} of {' and '.join(sorted(some))}" for digest, some in sorted(models.items()))


def _stale_results(command: str, outcomes: Collection[RunOutcome]) -> str:
    """Return which results are stale, why, and how to run them again; an empty text if none is."""
    by_reason: dict[str, list[RunOutcome]] = {}
    for outcome in outcomes:
        if is_stale(outcome.run.model, outcome.made):
            is_known = "code" in outcome.made
            reason = "made by other code" if is_known else "made before the digest of the code was recorded"
            by_reason.setdefault(reason, []).append(outcome)
    n_stale = sum(map(len, by_reason.values()))
    if not n_stale:
        return ""
    which = "; ".join(
        reason if len(some) == len(outcomes) else f"{reason}: {_models_and_streams(some)}"
        for reason, some in by_reason.items()
    )
    count = f"All {n_stale}" if n_stale == len(outcomes) else f"{n_stale} of {len(outcomes)}"
    return f" {count} results are stale ({which}). `{command} --rerun-stale` runs them again."


def _models_and_streams(outcomes: Iterable[RunOutcome]) -> str:
    streams: dict[str, dict[str, None]] = {}
    for outcome in outcomes:
        streams.setdefault(outcome.run.model, {})[outcome.run.stream] = None
    return ", ".join(f"{model} on {' and '.join(some)}" for model, some in streams.items())
