"""Rows of one key as Spark's workers get them, and settings for these."""

import numpy as np

from driftline import AMRC
from driftline.adapters.spark.key_learner import KeyLearner
from driftline.adapters.spark.key_state import KeyRow, KeyState
from driftline.adapters.spark.settings import Settings
from helpers.fleets import CLASSES

SECOND = 1_000_000


def settings(model=None, *, label_timeout=None, time_to_live=None):
    """Return settings for rows with three columns; durations are in seconds."""
    model = AMRC(memory="light", features="linear") if model is None else model
    durations = (None if each is None else each * SECOND for each in (label_timeout, time_to_live))
    return Settings.of(model, ("a", "b", "c"), CLASSES, *durations)


def labelled(X, y, first=0):
    """Return rows with labels, one each second."""
    rows = enumerate(zip(X.tolist(), y.tolist(), strict=True))
    return [KeyRow((first + t) * SECOND, f"id {first + t}", x, label) for t, (x, label) in rows]


def process(given, rows, state=None):
    """Return what happens to rows, all in one call."""
    return KeyLearner(given, KeyState() if state is None else state).process(rows)


def mixed(rng, n):
    """Return rows of which some have labels, some wait for them, some are labels, and some cannot be used."""
    rows = []
    for t in range(n):
        x, label = rng.normal(size=3), CLASSES[rng.integers(3)]
        kind = rng.choice(
            ["learned", "observed", "label", "label again", "early label", "wrong label", "infinite", "empty", "no id"]
        )
        row_id = f"id {t}"
        if kind in ("label", "label again", "early label", "wrong label"):
            later = rng.integers(t, t + 5) if kind == "early label" else rng.integers(max(t, 1))
            x, row_id = np.full(3, np.nan), f"id {later}"
        if kind == "infinite":
            x[rng.integers(3)] = np.inf
        if kind == "empty":
            x = np.full(3, np.nan)
        if kind in ("observed", "empty", "no id"):
            label = None
        label = "cold" if kind == "wrong label" else label
        rows.append(KeyRow(t * SECOND, None if kind == "no id" else row_id, x.tolist(), label))
    return rows
