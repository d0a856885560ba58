"""What each array of a model file must be: its shape, its type and its range, checked before a model is restored."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftline.errors import CheckpointError
from driftline.types import State

MOST_COUNTED = float(2**53)
"""Largest count in a model file: up to here, floats represent every whole number."""
ROUNDING = 1e-9
"""Tolerance for rounding when numbers that sum to 1 are checked."""


@dataclass(frozen=True, slots=True)
class Length:
    """Length of an axis that only the file knows, such as a number of stored rows.

    Attributes
    ----------
    name : str
        Its name: axes of the same part with the same name have the same length.
    at_most : int
        Largest length.
    at_least : int, default=0
        Smallest length.
    """

    name: str
    at_most: int
    at_least: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class ArraySpec:
    """What an array of a model file must be.

    Attributes
    ----------
    shape : tuple of int or Length
        Length of each axis.
    dtype : type, default=float
        Type of its values; `str` stands for texts of any length up to 64.
    low, high : float or ndarray
        Smallest and largest value, by default any finite number; arrays give a range for each entry.
    allows_nan : bool, default=False
        Whether values may be missing.
    equals : ndarray, optional
        The only content allowed.
    condition : callable, optional
        Called with the array; returns whether it can be used.
    meaning : str, default=""
        What the condition asks for, to complete "expected values that …".
    is_optional : bool, default=False
        Whether the array may be missing, together with all other optional ones of its part.
    since : int, default=1
        Version of the format of model files that introduced the array, or gave it this description.
    before : ArraySpec, optional
        The description of the array in files of earlier versions, if they have it.
    """

    shape: tuple[int | Length, ...]
    dtype: type[Any] = float
    low: Any = -np.finfo(float).max
    high: Any = np.finfo(float).max
    allows_nan: bool = False
    equals: NDArray[Any] | None = None
    condition: Callable[[NDArray[Any]], bool] | None = None
    meaning: str = ""
    is_optional: bool = False
    since: int = 1
    before: "ArraySpec | None" = None

    @property
    def allows_inf(self) -> bool:
        """Whether infinity is in the range."""
        return bool(np.isinf(self.high).any())


Schema = dict[str, ArraySpec]
"""What the arrays of a part of a model must be, by name."""


class Described:
    """An array as the header of its file describes it, before it is read."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: "np.dtype[Any]") -> None:
        self.shape = shape
        self.dtype = dtype

    @property
    def n_bytes(self) -> int:
        """Size of the array in memory."""
        n = self.dtype.itemsize
        for length in self.shape:
            n *= length
        return n


def whole_numbers(shape: tuple[int | Length, ...], at_most: float = MOST_COUNTED) -> ArraySpec:
    """Return the description of whole numbers from 0 up."""
    return ArraySpec(shape, np.int64, 0, at_most)


def sums_to_one(axis: int) -> Callable[[NDArray[Any]], bool]:
    """Return a condition: whether the values sum to 1 along an axis."""
    return lambda array: bool(np.all(np.abs(array.sum(axis=axis) - 1.0) <= ROUNDING))


def probabilities(shape: tuple[int | Length, ...]) -> ArraySpec:
    """Return the description of numbers between 0 and 1 that sum to 1 along the last axis."""
    return ArraySpec(shape, low=0.0, high=1.0, condition=sums_to_one(-1), meaning="sum to 1")


def nested_schema(parts: Mapping[str, Schema]) -> Schema:
    """Return the descriptions of the arrays of all parts, each named ``part/array``."""
    return {f"{part}/{name}": spec for part, schema in parts.items() for name, spec in schema.items()}


def expected_in(names: Collection[str], version: int, schema: Schema) -> Schema:
    """Return the part of a schema that applies to a file with these arrays and this version of the format.

    It lacks the arrays that later versions introduced, and the optional arrays of parts of which the file has none.
    """
    parts = {name.rpartition("/")[0] for name in names if name in schema}
    specs = {name: spec if spec.since <= version else spec.before for name, spec in schema.items()}
    return {
        name: spec
        for name, spec in specs.items()
        if spec is not None and (not spec.is_optional or name.rpartition("/")[0] in parts)
    }


def check_names(names: Collection[str], schema: Schema, ignored_part: str | None = None) -> None:
    """Raise CheckpointError if arrays are missing, or if there are others that no part of the model has.

    Arrays of the part `ignored_part`, which may be a part of another part, are not checked.
    """
    for name in schema:
        if name not in names:
            raise CheckpointError(
                f"it lacks the array {name!r}: it was saved by another version of driftline, or altered; "
                "fit the model again and save it"
            )
    for name in names:
        if name not in schema and ignored_part not in name.split("/")[:-1]:
            raise CheckpointError(f"it has an array {name[:100]!r}, which a model with these parameters does not have")


def check_shapes(described: Mapping[str, Described], schema: Schema) -> None:
    """Raise CheckpointError if an array has another shape or type than the schema says."""
    lengths: dict[tuple[str, str], int] = {}
    for name, spec in schema.items():
        shape, dtype = described[name].shape, described[name].dtype
        if not _same_type(dtype, spec.dtype):
            raise CheckpointError(f"its array {name!r} has the type {dtype.str}; expected {_type_name(spec.dtype)}")
        part = name.rpartition("/")[0]
        expected = [
            _expected_length(axis, lengths, part, given) for axis, given in zip(spec.shape, shape, strict=False)
        ]
        if len(shape) != len(spec.shape) or list(shape) != expected:
            raise CheckpointError(
                f"its array {name!r} has the shape {shape}; expected {_shape_text(spec.shape, lengths, part)}"
            )


def _expected_length(axis: int | Length, lengths: dict[tuple[str, str], int], part: str, given: int) -> int:
    """Return the length that an axis must have; the first axis with a name decides for the others."""
    if not isinstance(axis, Length):
        return axis
    decided = lengths.setdefault((part, axis.name), given)
    return decided if axis.at_least <= decided <= axis.at_most else -1


def _shape_text(shape: tuple[int | Length, ...], lengths: dict[tuple[str, str], int], part: str) -> str:
    axes = []
    for axis in shape:
        if isinstance(axis, Length):
            decided = lengths.get((part, axis.name), -1)
            fits = axis.at_least <= decided <= axis.at_most
            axes.append(str(decided) if fits else f"{axis.at_least} to {axis.at_most}")
        else:
            axes.append(str(axis))
    return f"({', '.join(axes)})"


def _same_type(dtype: "np.dtype[Any]", expected: type[Any]) -> bool:
    if expected is str:
        return dtype.kind == "U" and dtype.itemsize <= 4 * 64
    return dtype.newbyteorder("=") == np.dtype(expected)


def _type_name(expected: type[Any]) -> str:
    return "text of at most 64 characters" if expected is str else np.dtype(expected).str


def check_values(arrays: State, schema: Schema) -> None:
    """Raise CheckpointError if values of an array are outside the range that the schema says."""
    for name, spec in schema.items():
        array = arrays[name]
        if spec.dtype is not str:
            _check_range(name, array, spec)
        if spec.equals is not None and not np.array_equal(array, spec.equals):
            raise CheckpointError(f"its array {name!r} differs from what the parameters of the model determine")
        if spec.condition is not None and not spec.condition(array):
            raise CheckpointError(f"its array {name!r} has values that cannot be; expected values that {spec.meaning}")


def _check_range(name: str, array: NDArray[Any], spec: ArraySpec) -> None:
    with np.errstate(invalid="ignore"):
        fits = (array >= spec.low) & (array <= spec.high)
    if spec.allows_nan and array.dtype.kind == "f":
        fits |= np.isnan(array)
    if fits.all():
        return
    place = tuple(int(i) for i in np.argwhere(~fits)[0])
    low, high = (np.broadcast_to(limit, array.shape)[place] for limit in (spec.low, spec.high))
    raise CheckpointError(
        f"its array {name!r} has {array[place]} at {list(place)}; expected numbers from {low:.6g} to {high:.6g}"
    )
