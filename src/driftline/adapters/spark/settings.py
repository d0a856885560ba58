"""What all keys have in common, in a form that travels to the workers."""

import pickle
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from driftline.ensemble.estimator import AMRC
from driftline.errors import ConfigError
from driftline.fleet import AMRCFleet
from driftline.guarantees.settings import checked_guarantees

FLEET_PARAMETERS = ("features", "n_components", "order", "scaling", "coverage", "guarantees", "random_state")
"""The parameters of AMRC that fleets have, too; a model for Spark has the default of all others but `memory`."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What all keys have in common. It can be pickled, and is equal to a copy of itself.

    Attributes
    ----------
    columns : tuple of str
        Names of the features.
    classes : tuple
        The labels that can occur.
    label_type : type
        Their type: without it, settings with the classes (0, 1) would be equal to those with (False, True).
    model : bytes
        The pickled AMRC that every key begins with.
    delta : float
        Probability with which the limits of the error of a key ever fail.
    label_timeout, time_to_live : int or None
        How long a row waits for its label, and how long an idle key is kept; in microseconds.
    has_ids : bool
        Whether rows have ids, by which labels that come later find them.
    """

    columns: tuple[str, ...]
    classes: tuple[Any, ...]
    label_type: type
    model: bytes
    delta: float
    label_timeout: int | None
    time_to_live: int | None
    has_ids: bool

    @classmethod
    def of(
        cls,
        model: AMRC,
        columns: Sequence[str],
        classes: Any,
        label_timeout: int | None = None,
        time_to_live: int | None = None,
        *,
        has_ids: bool = True,
    ) -> "Settings":
        """Return settings for the model that every key begins with; raise ConfigError if fleets have no such models."""
        names = list(getattr(model, "feature_names_in_", columns))
        if names != list(columns):
            raise ConfigError(
                f"features must be the columns that the model has learned from, in their order, {names}; got "
                f"{list(columns)}"
            )
        known = tuple(fleet_like(model, len(columns), classes).classes_.tolist())
        delta, data = checked_guarantees(model.guarantees).delta, pickle.dumps(model)
        return cls(tuple(columns), known, type(known[0]), data, delta, label_timeout, time_to_live, has_ids)

    @property
    def has_durations(self) -> bool:
        """Whether something happens to keys because time passes."""
        return self.label_timeout is not None or self.time_to_live is not None

    def new_fleet(self) -> AMRCFleet:
        """Return a fleet without keys, which uses one thread: Spark runs a worker for each core."""
        return fleet_like(pickle.loads(self.model), len(self.columns), self.classes)


def fleet_like(model: AMRC, n_columns: int, classes: Any) -> AMRCFleet:
    """Return a fleet whose keys begin as a model; raise ConfigError if fleets have no such models."""
    if not isinstance(model, AMRC):
        raise ConfigError(f"model must be an AMRC, such as AMRC(memory='light'); got {model!r}")
    if isinstance(classes, str | bytes) or not isinstance(classes, Iterable):
        raise ConfigError(f"classes must be all labels that can occur, such as ['fine', 'worn']; got {classes!r}")
    given = model.get_params(deep=False)
    parameters = {name: given[name] for name in FLEET_PARAMETERS}
    expected = AMRC(memory="light", **parameters).get_params(deep=False)
    others = [name for name in given if given[name] != expected[name]]
    if others:
        raise ConfigError(
            f"model must be an AMRC with memory='light' and the defaults of all parameters but {FLEET_PARAMETERS}; got "
            f"{', '.join(f'{name}={given[name]!r}' for name in others)}"
        )
    start = model if hasattr(model, "classes_") else "blank"
    return AMRCFleet(n_columns, list(classes), start=start, n_threads=1, **parameters)
