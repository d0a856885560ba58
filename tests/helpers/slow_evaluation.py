"""An evaluation that is slow enough to be killed while it runs, and gives the same records without its pauses."""

import time

import numpy as np

from driftline import PaperAMRC
from driftline.evaluation import evaluate
from driftline.streams import ArrayStream, RotatingGaussians

N_ROWS = 600


class SlowAMRC(PaperAMRC):
    """Pauses for each row."""

    pause = 0.0
    """In seconds."""

    def assess(self, X, y, classes=None, asked=0):
        time.sleep(SlowAMRC.pause * len(X))
        return super().assess(X, y, classes=classes, asked=asked)

    def prequential(self, X, y, classes=None, timestamps=None):
        time.sleep(SlowAMRC.pause * len(X))
        return super().prequential(X, y, classes=classes, timestamps=timestamps)


def main(folder, delay, pause):
    SlowAMRC.pause = pause
    X, y = RotatingGaussians().sample(N_ROWS, seed=3)
    times = np.cumsum(np.random.default_rng(3).exponential(size=N_ROWS))
    stream = ArrayStream(X, np.where(y == 1, "one", "other"), times)
    model = SlowAMRC(features="linear", scaling="running", n_iterations=100, n_subgradients=20, deterministic=False)
    evaluate(model, stream, delay=delay, checkpoint=folder, resume=True, progress=False)
