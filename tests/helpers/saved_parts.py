"""The arrays of one part of a model, checked as those of a file."""

from driftline.core.schema import Described, check_names, check_shapes, check_values, expected_in
from driftline.core.state import SavedPart
from driftline.types import State


def check_saved(arrays: State, part: SavedPart, version: int) -> None:
    """Raise CheckpointError unless a file of this version may have these arrays for the part."""
    schema = expected_in(arrays, version, part.schema())
    check_names(arrays, schema)
    check_shapes({name: Described(array.shape, array.dtype) for name, array in arrays.items()}, schema)
    check_values(arrays, schema)
