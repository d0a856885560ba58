"""The header of the file of a fleet: what all of its keys have in common."""

from collections.abc import Mapping
from typing import Any

from driftline.core.checkpoint import MAX_BYTES, check_size
from driftline.core.class_list import ClassList
from driftline.ensemble.estimator import AMRC
from driftline.fleet.inputs import names_of_model
from driftline.utils.validation import whole_number

SHARED_PARAMETERS = (
    "features",
    "n_components",
    "order",
    "scaling",
    "coverage",
    "guarantees",
    "expire_after_labels",
    "random_state",
)
"""Parameters of `AMRC` that all models of a fleet have in common."""


def header_of(model: AMRC, classes: ClassList, *, pools: bool, n_keys: int) -> dict[str, Any]:
    """Return the header, from a model of the fleet, its classes, and whether new keys begin with a common model."""
    return {
        "parameters": model._plain_parameters(),
        "classes": classes.to_json(),
        "n_columns": model.n_features_in_,
        "column_names": names_of_model(model),
        "pools": pools,
        "n_keys": n_keys,
    }


def arguments_from(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with which `AMRCFleet` makes the fleet of a header that `header_of` returned.

    The header is not trusted: if it is not that of a fleet, KeyError, TypeError or ValueError is raised, and
    CheckpointError if its models are larger than those of model files can be.
    """
    parameters = AMRC._parameters_from_plain(dict(header["parameters"]))
    shared = {name: parameters[name] for name in SHARED_PARAMETERS}
    labels, start = ClassList.from_json(header["classes"]).labels, "pooled" if header["pools"] else "blank"
    model, n_columns = AMRC(**shared, memory="light"), whole_number("n_columns", header["n_columns"], at_least=1)
    check_size(model._n_bytes(model._checked_parameters(), n_columns, len(labels)), MAX_BYTES)
    return {"n_columns": n_columns, "classes": labels, "start": start, **shared}


def column_names_from(header: Mapping[str, Any], n_columns: int) -> list[str] | None:
    """Return the names of the columns from a header, which is not trusted; raise TypeError if they are no names."""
    names = header.get("column_names")
    if names is None:
        return None
    if not isinstance(names, list) or len(names) != n_columns or not all(isinstance(name, str) for name in names):
        raise TypeError(f"its column_names are not the names of {n_columns} columns")
    return names
