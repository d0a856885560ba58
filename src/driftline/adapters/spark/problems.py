"""Why a row cannot be used, in the words of the query."""

import json
from typing import Any

from driftline.adapters.spark.key_state import KeyRow
from driftline.adapters.spark.settings import Settings
from driftline.errors import DataError
from driftline.types import LARGEST_VALUE
from driftline.utils.validation import MAX_ID_LENGTH


def problem_of(row: KeyRow, settings: Settings, error: DataError, *, is_waiting: bool) -> str:
    """Return why a fleet has refused a row with an error; `is_waiting` says whether a row with its id waits."""
    if row.label is not None and row.label not in settings.classes:
        return unknown_label(row.label, settings)
    for name, value in zip(settings.columns, row.x or (), strict=False):
        if abs(value) > LARGEST_VALUE:
            return (
                f"the feature {name!r} is {value}; expected a number up to {LARGEST_VALUE:g}, not infinite, or null "
                "where it is missing"
            )
    if isinstance(row.id, str) and len(json.dumps(row.id)) > MAX_ID_LENGTH:
        return f"the id takes more than {MAX_ID_LENGTH} characters as JSON; use a shorter one"
    if is_waiting:
        return f"a row with the id {row.id!r} waits for its label already; give each row of a key an id of its own"
    return str(error)


def unknown_label(label: Any, settings: Settings) -> str:
    """Return what is wrong with a label that is not one of the classes."""
    return (
        f"the label is {label!r}; expected one of classes={list(settings.classes)}: correct the row, or begin a query "
        "with all labels that can occur"
    )
