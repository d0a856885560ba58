"""The arrays of a model as one flat dictionary: those of a part have its name and a slash before their own."""

from collections.abc import Mapping
from typing import ClassVar, Protocol

from driftline.types import State


class Stateful(Protocol):
    """A part of a model whose arrays are saved with it."""

    def state(self) -> State:
        """Return the arrays that `restore` needs."""

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""


def nested_state(parts: Mapping[str, Stateful]) -> State:
    """Return the arrays of all parts, each named ``part/array``."""
    return {f"{name}/{array_name}": array for name, part in parts.items() for array_name, array in part.state().items()}


def state_of(name: str, state: State) -> State:
    """Return the arrays of one part, under their own names.

    Examples
    --------
    >>> state_of("columns", {"columns/mean": 1, "columns/count": 2, "weights": 3})
    {'mean': 1, 'count': 2}
    """
    prefix = f"{name}/"
    return {key.removeprefix(prefix): array for key, array in state.items() if key.startswith(prefix)}


def restore_parts(parts: Mapping[str, Stateful], state: State) -> None:
    """Restore each part from its arrays in what `nested_state` returned."""
    for name, part in parts.items():
        part.restore(state_of(name, state))


class ArrayState:
    """A part whose state is some of its attributes, all of them arrays."""

    _kept: ClassVar[tuple[str, ...]]
    """Names of these attributes, without the leading underscore."""

    def state(self) -> State:
        """Return copies of the arrays."""
        return {name: getattr(self, f"_{name}").copy() for name in self._kept}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned."""
        for name in self._kept:
            setattr(self, f"_{name}", state[name].copy())
