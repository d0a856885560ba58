"""The state of a model as one flat dictionary of arrays, whose keys are ``part/array``."""

from abc import abstractmethod
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from driftline.core.schema import Schema
from driftline.types import State

T = TypeVar("T")
PLAIN = (int, float, str)
"""Types of most attributes that need not be copied."""


class Stateful(Protocol):
    """A part of a model whose arrays are saved with it."""

    def state(self) -> State:
        """Return the arrays that `restore` needs."""

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""


class SavedPart(Stateful, Protocol):
    """A part of a model that says what its arrays must be in a file."""

    def schema(self) -> Schema:
        """Return what each of these arrays must be in a file, for the classes and columns that the part has now."""


def nested_state(parts: Mapping[str, Stateful]) -> State:
    """Return the arrays of all parts, each named ``part/array``."""
    return {f"{name}/{array_name}": array for name, part in parts.items() for array_name, array in part.state().items()}


def state_of(name: str, state: State) -> State:
    """Return the arrays of one part, without its name in their keys.

    Examples
    --------
    >>> state_of("columns", {"columns/mean": 1, "columns/count": 2, "weights": 3})
    {'mean': 1, 'count': 2}
    """
    prefix = f"{name}/"
    return {key.removeprefix(prefix): array for key, array in state.items() if key.startswith(prefix)}


def restore_parts(parts: Mapping[str, Stateful], state: State) -> None:
    """Restore each part from the dictionary that `nested_state` returned."""
    for name, part in parts.items():
        part.restore(state_of(name, state))


def copy_with(part: T, **changed: Any) -> T:
    """Return a copy of a part that has other values of some attributes, and shares the rest."""
    copied = object.__new__(type(part))
    copied.__dict__.update(part.__dict__, **changed)
    return copied


def independent_copy(part: T) -> T:
    """Return a copy of a part with its own arrays, containers and parts, so that either can learn without the other.

    Feature maps are shared, because nothing changes them after their start.
    """
    return copy_with(part, **{name: _independent(value) for name, value in part.__dict__.items()})


def _independent(value: Any) -> Any:
    """Return an independent copy of the value of an attribute; the value itself if it cannot change."""
    if isinstance(value, np.ndarray | deque | set):
        return value.copy()
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, list):
        return [_independent(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _independent(entry) for key, entry in value.items()}
    if hasattr(value, "_fields"):  # a named tuple
        return value.copy() if hasattr(value, "copy") else type(value)(*map(_independent, value))
    return _independent_part(value) if hasattr(value, "restore") and not hasattr(value, "transform") else value


def _independent_part(part: Any) -> Any:
    return part.copy() if hasattr(part, "copy") else independent_copy(part)


_NAMES: dict[type, tuple[str, ...]] = {}
"""Names of the arrays of each class of parts."""


class ArrayState:
    """Base class of parts whose state is a fixed set of array attributes, those that `schema` describes."""

    @abstractmethod
    def schema(self) -> Schema:
        """Return what each array must be in a file, by the name of its attribute without the leading underscore."""

    @property
    def _kept(self) -> tuple[str, ...]:
        """Names of these arrays, which are the same for all parts of a class."""
        kind = type(self)
        if kind not in _NAMES:
            _NAMES[kind] = tuple(self.schema())
        return _NAMES[kind]

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays, which may be replaced by others with the same values."""
        return tuple(getattr(self, f"_{name}") for name in self._kept)

    @arrays.setter
    def arrays(self, arrays: Sequence[Any]) -> None:
        for name, array in zip(self._kept, arrays, strict=True):
            setattr(self, f"_{name}", array)

    def state(self) -> State:
        """Return copies of the arrays."""
        return {name: getattr(self, f"_{name}").copy() for name in self._kept}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        for name in self._kept:
            setattr(self, f"_{name}", state[name].copy())
