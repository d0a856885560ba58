"""The options --error, --coverage and --tolerated, and the classifiers that follow them."""

from typing import Any

from driftline.errors import ConfigError
from driftline.guarantees import Guarantees
from driftline.registry import create, describe


def chosen_guarantees(error: float | None, coverage: float | None, tolerated: float | None) -> Guarantees | None:
    """Return the levels with the given ones first and the usual ones behind them; None if none is given."""
    given = {"--error": error, "--coverage": coverage, "--tolerated": tolerated}
    for option, share in given.items():
        if share is not None and not 0.0 < share < 1.0:
            example = "0.9 for 90 %" if option == "--coverage" else "0.05 for 5 %"
            raise ConfigError(f"{option} must be a share between 0 and 1, such as {example}; got {share:g}")
    if all(share is None for share in given.values()):
        return None
    usual = Guarantees()
    return Guarantees(
        errors=_with_first(error, usual.errors),
        coverages=_with_first(coverage, usual.coverages),
        tolerated=tolerated,
    )


def _with_first(level: float | None, usual: tuple[float, ...]) -> tuple[float, ...]:
    return usual if level is None else (level, *(other for other in usual if other != level))


def create_model(name: str, guarantees: Guarantees | None, parameters: dict[str, Any]) -> Any:
    """Return a new classifier by name; one that has guarantees of its own gets the given ones, if any are given."""
    if "guarantees" in parameters:
        raise ConfigError("--set cannot set guarantees; use --error, --coverage and --tolerated")
    if guarantees is not None and "guarantees" in describe(name).parameters:
        parameters = {"guarantees": guarantees} | parameters
    return create(name, **parameters)
