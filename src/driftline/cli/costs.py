"""The option --costs: a file with the cost of each mistake."""

import json
import math
import tomllib
from pathlib import Path
from typing import Any

from driftline.core.costs import Costs
from driftline.errors import ConfigError, DataError
from driftline.registry import describe


def read_costs(path: Path | None) -> dict[Any, dict[Any, float]] | None:
    """Return the costs in a JSON or TOML file; None without a file.

    Its labels are text. One that reads as a number stands for that number too.
    """
    if path is None:
        return None
    content = _content(path)
    try:
        Costs(content)
    except ConfigError as error:
        raise DataError(f"{path}: {error}") from error
    return {
        true: {form: cost for predicted, cost in row.items() for form in _forms(predicted)}
        for label, row in content.items()
        for true in _forms(label)
    }


def _content(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read ({error}); expected a JSON or TOML file of costs") from error
    kind, parse = ("TOML", tomllib.loads) if path.suffix.lower() == ".toml" else ("JSON", json.loads)
    try:
        return parse(text)
    except (ValueError, RecursionError) as error:
        example = "[fraud]\\nfine = 50" if kind == "TOML" else '{"fraud": {"fine": 50}}'
        raise DataError(f"{path} is no {kind} file ({error}); expected costs such as {example}") from error


def _forms(label: str) -> list[Any]:
    """Return a label as text and, if it reads as one, as a number."""
    for as_number in (int, float):
        try:
            number = as_number(label)
        except ValueError:
            continue
        return [label, number] if math.isfinite(number) else [label]
    return [label]


def own_costs(name: str, costs: Any) -> dict[str, Any]:
    """Return the parameter of a classifier that predicts by costs itself, so that a saved model does too; else none."""
    return {"costs": costs} if costs is not None and "costs" in describe(name).parameters else {}
