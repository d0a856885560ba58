"""Calibration and choice by cost in plain NumPy: the twin of driftline.kernels.cost_rule."""

import numpy as np

from driftline.kernels.cost_rule import FORGETTING, MAX_LOG_ODDS, MAX_WEIGHT, SMOOTHING


class ReferenceCostRule:
    def __init__(self, costs):
        c = len(costs)
        self.costs = costs
        self.weights = np.tile([0.0, 1.0], (c, 1))
        self.covariances = np.tile(np.eye(2), (c, 1, 1))

    def probabilities(self, h):
        scores = self.weights[:, 0] + self.weights[:, 1] * log_odds(h)
        q = 1 / (1 + np.exp(-np.clip(scores, -MAX_LOG_ODDS, MAX_LOG_ODDS)))
        return q / q.sum(axis=-1, keepdims=True)

    def choose(self, h):
        return int(np.argmin(self.probabilities(h) @ self.costs))

    def learn(self, h, label):
        for y, f in enumerate(np.stack([np.ones(len(h)), log_odds(h)], axis=1)):
            q = 1 / (1 + np.exp(-np.clip(self.weights[y] @ f, -MAX_LOG_ODDS, MAX_LOG_ODDS)))
            S = self.covariances[y]
            gain = S @ f / (1 + q * (1 - q) * f @ S @ f)
            self.weights[y] = np.clip(self.weights[y] + gain * ((y == label) - q), -MAX_WEIGHT, MAX_WEIGHT)
            S = S - q * (1 - q) * np.outer(gain, S @ f)
            self.covariances[y] = (1 - FORGETTING) * S + FORGETTING * np.eye(2)


def log_odds(h):
    return np.log((h + SMOOTHING) / (1 - h + SMOOTHING))
