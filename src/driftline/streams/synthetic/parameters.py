"""Checks of the parameters of synthetic streams."""

from typing import Any

import numpy as np

from driftline.errors import ConfigError
from driftline.types import Vector


def finite_array(name: str, values: Any, shape: tuple[int | None, ...] | None = None) -> Vector:
    """Return a parameter as an array of finite numbers; raise a ConfigError if it is not one.

    Parameters
    ----------
    name : str
        Name of the parameter.
    values : object
        Its value.
    shape : tuple of int or None, optional
        The required shape, with None for any length but 0; any shape by default.

    Returns
    -------
    ndarray
        The numbers.
    """
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ConfigError(f"{name} must be an array of numbers; got {values!r}") from error
    if array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        raise ConfigError(f"{name} must be finite numbers; got {values!r}")
    if shape is not None and not _fits(array.shape, shape):
        wanted = ", ".join("any" if n is None else str(n) for n in shape)
        raise ConfigError(
            f"{name} must be {f'numbers of shape ({wanted})' if shape else 'one number'}; got shape {array.shape}"
        )
    return array.astype(np.float64)


def _fits(shape: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(shape) == len(wanted) and all(
        n == m or (m is None and n > 0) for n, m in zip(shape, wanted, strict=True)
    )
