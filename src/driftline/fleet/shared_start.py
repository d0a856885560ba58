"""What the model of a new key begins with: nothing, what a common model knows, or what a given model knows."""

from typing import Any

import numpy as np

from driftline.ensemble.estimator import AMRC
from driftline.errors import ConfigError
from driftline.fleet.device_streams import AnyStreams
from driftline.fleet.inputs import names_of_model
from driftline.fleet.layout import Bytes
from driftline.types import Indices

POOLED_ROWS_PER_CALL = 64
"""Rows of each call that a common model learns, evenly spaced."""
STARTS = ("pooled", "blank")


class SharedStart:
    """What new streams of a fleet begin with.

    Parameters
    ----------
    start : {"pooled", "blank"} or AMRC
        As in `AMRCFleet`.
    blank : AMRC
        A model that has learned nothing.
    streams : Streams or DeviceStreams
        The streams of the fleet, one of which becomes that of the common model.
    """

    def __init__(self, start: Any, blank: AMRC, streams: AnyStreams) -> None:
        memory = streams.memory
        self._streams = streams
        self._blank = memory.stored(blank._learner)
        self.learns = isinstance(start, str) and start == "pooled"
        self.slot, self._newcomer = streams.take(2)
        streams.put([self.slot], self._blank)
        if isinstance(start, AMRC):
            check_fits(start, blank)
            streams.put([self.slot], memory.stored(start._learner))
        elif not isinstance(start, str) or start not in STARTS:
            raise ConfigError(f"start must be 'pooled', 'blank' or an AMRC; got {start!r}")

    def new_stream(self) -> Bytes:
        """Return the bytes that a new stream begins with."""
        stream, memory = self._blank.copy(), self._streams.memory
        known = memory.knowledge
        stream[known] = self._streams.stream(self.slot)[known]
        return stream

    def newcomer(self) -> int:
        """Return a slot with a stream that has just begun, for predictions."""
        self._streams.put([self._newcomer], self.new_stream())
        return self._newcomer

    def sample(self, n_rows: int) -> Indices:
        """Return which of so many rows the common model learns."""
        n_sampled = min(n_rows, POOLED_ROWS_PER_CALL) if self.learns else 0
        return np.arange(n_sampled) * n_rows // max(n_sampled, 1)


def check_fits(model: Any, blank: AMRC) -> None:
    """Raise ConfigError unless a model has the columns, classes and parameters of those of the fleet."""
    if not isinstance(model, AMRC) or not hasattr(model, "_learner"):
        raise ConfigError(f"expected an AMRC that has learned rows; got {model!r}")
    given, expected = model._parameters, blank._parameters
    names = [name for name in expected if given[name] != expected[name]]
    if names:
        raise ConfigError(
            f"the model differs from those of the fleet in {', '.join(names)}: it has "
            f"{', '.join(f'{name}={given[name]!r}' for name in names)}; make it with the parameters of the fleet"
        )
    given_names, expected_names = names_of_model(model), names_of_model(blank)
    if given_names is not None and expected_names is not None and given_names != expected_names:
        raise ConfigError(f"the model has learned from the columns {given_names}, and the fleet from {expected_names}")
    if model.n_features_in_ != blank.n_features_in_ or model.classes_.tolist() != blank.classes_.tolist():
        raise ConfigError(
            f"the model has {model.n_features_in_} columns and the classes {model.classes_.tolist()}, and those of the "
            f"fleet have {blank.n_features_in_} and {blank.classes_.tolist()}; give `classes` at the model's first call"
        )
