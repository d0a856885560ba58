"""Small streams in place of published ones, and access to kept results."""

import json

import numpy as np
import pytest

from driftline.streams import ArrayStream


@pytest.fixture
def small_streams(tmp_path, monkeypatch):
    """Replace two published streams by small ones."""
    rng = np.random.default_rng(0)
    streams = {}
    for name in ("chess", "german"):
        X = rng.random((60, 5))
        streams[name] = ArrayStream(X, (X[:, 0] > 0.5).astype(int), name=name)
    monkeypatch.setattr("driftline.experiments.experiment_runs.load", streams.__getitem__)


@pytest.fixture
def kept():
    """Return a function that gives the content of every line in a result store."""
    return lambda store: [json.loads(line) for path in store.folder.glob("*.jsonl") for line in path.open()]
