"""The compiled kernels in plain NumPy, written from the formulas and not from the kernels."""

import math
from itertools import combinations
from typing import Any

import numpy as np

from driftline.types import Matrix, Vector


def support_value(scores: Vector) -> float:
    """Return φ_x, the maximum over all label subsets."""
    labels = range(scores.size)
    subsets = (subset for size in range(1, scores.size + 1) for subset in combinations(labels, size))
    return max((scores[list(subset)].sum() - 1) / len(subset) for subset in subsets)


def randomised_rule(scores: Vector, offset: float) -> Vector:
    """Return eq. (prob) of the paper, with φ raised to cover the instance."""
    above = np.maximum(scores - max(offset, support_value(scores)), 0)
    return above / above.sum() if above.sum() > 0 else np.full(scores.size, 1 / scores.size)


def transition(order: int, elapsed: float) -> Matrix:
    """H = I + Σ_s Δ^s U_s / s!, with U_s the ones on the s-th upper diagonal."""
    H = np.eye(order + 1)
    for s in range(1, order + 1):
        H += elapsed**s * np.eye(order + 1, k=s) / math.factorial(s)
    return H


def objective(weights: Matrix, instances: Matrix, mean: Matrix, width: Matrix) -> float:
    """1 - τᵀμ + λᵀ|μ| + max_x φ_x."""
    phi = max(support_value(weights @ psi) for psi in instances)
    return float(1 - (mean * weights).sum() + (width * np.abs(weights)).sum() + phi)


def active_labels(scores: Vector) -> tuple[int, ...]:
    """Return the largest label subset that attains φ_x up to rounding, by trying all of them."""
    labels, phi = range(scores.size), support_value(scores)
    subsets = (subset for size in range(1, scores.size + 1) for subset in combinations(labels, size))
    attaining = [subset for subset in subsets if (scores[list(subset)].sum() - 1) / len(subset) >= phi - 1e-12]
    return max(attaining, key=len)


def xorshift(state: int) -> tuple[float, int]:
    """Return a number in [0, 1) and the next state, computed with Python's integers."""
    state ^= state << 13 & (1 << 64) - 1
    state ^= state >> 7
    state ^= state << 17 & (1 << 64) - 1
    return (state >> 11) / 2**53, state


def age_of(u: float, b: int, n: int, gain: float) -> int:
    """Return the b-th of 64 stratified draws of an age below n: geometric modulo n, or uniform for a gain of 0."""
    if gain == 0:
        return min(int((b + u) * n / 64), n - 1)
    quantile = (16 * b + int(16 * u) + 0.5) / 1024
    return int(math.log(1 - quantile) / math.log(1 - gain)) % n


class ReferenceFilterBank:
    """Filters of the class means, with separate arrays for each class."""

    def __init__(self, gains: Matrix, n_classes: int, n_components: int) -> None:
        self.gains = gains
        shape = (gains.shape[1], n_classes, n_components)
        self.level, self.rate, self.log_weight, self.weight = (np.zeros(shape) for _ in range(4))
        self.variance, self.largest = np.zeros(shape[1:]), np.zeros(shape[1:])
        self.n_rows, self.age, self.mean_gap, self.mean_inverse_squared_gap = (np.zeros(n_classes) for _ in range(4))

    def lines(self, y: int, horizon: float) -> Matrix:
        return np.clip(self.level[:, y] + self.rate[:, y] * horizon, -2 * self.largest[y], 2 * self.largest[y])

    def forecast(self, y: int, ahead: float) -> Vector:
        horizon = min(self.age[y] + ahead, 10 * max(self.mean_gap[y], ahead))
        return (self.weight[:, y] * self.lines(y, horizon)).sum(axis=0)

    def update(self, x: Vector, y: int, elapsed: float) -> None:
        centre = self.forecast(y, elapsed)
        self.age += elapsed
        n, age = self.n_rows[y], self.age[y]
        if n == 0:
            self.level[:, y], self.weight[:, y] = x, 1 / self.gains.shape[1]
        else:
            self.variance[y] += max(0.02, 1 / n) * ((x - centre) ** 2 - self.variance[y])
            lines, limit = self.lines(y, min(age, 10 * max(self.mean_gap[y], elapsed))), 2 * self.largest[y]
            error = x - lines
            if age > 1e-9:
                rate = np.clip(self.rate[:, y], (-limit - self.level[:, y]) / age, (limit - self.level[:, y]) / age)
                self.rate[:, y] = rate + self.gains[1][:, None] * error / age
            self.level[:, y] = lines + np.maximum(self.gains[0], 1 / (n + 1))[:, None] * error
            self.log_weight[:, y] = 0.98 * self.log_weight[:, y] - 0.5 * error**2 / (self.variance[y] + 1e-30)
            weights = np.exp(self.log_weight[:, y] - self.log_weight[:, y].max(axis=0))
            self.weight[:, y] = weights / weights.sum(axis=0)
            self.mean_gap[y] += max(0.02, 1 / n) * (age - self.mean_gap[y])
            if age > 1e-9:
                self.mean_inverse_squared_gap[y] += max(0.02, 1 / n) * (age**-2 - self.mean_inverse_squared_gap[y])
        self.largest[y] = np.maximum(self.largest[y], np.abs(x))
        self.n_rows[y] += 1
        self.age[y] = 0


class ReferenceMembers:
    """Members with a store, in double precision: `predict_and_learn` for one row.

    `store`, `members` and `centres` are those of the kernel, from which it sets out; `learn` takes the deviations
    and forecast class means of a drift-compensated store from its caller.
    """

    def __init__(self, store: Any, members: Any, centres: Matrix) -> None:
        self.__dict__ |= {name: np.array(array, dtype=float) for name, array in members._asdict().items()}
        self.labels, self.rows = store.labels.copy(), store.rows.astype(float)
        self.n_seen, self.random_state = int(store.n_seen[0]), int(store.random_state[0])
        self.mean_squared_norm = float(store.mean_squared_norm[0])
        self.centres = centres.astype(float)

    def predict(self, psi: Vector) -> Matrix:
        factors = np.append(0.5 ** np.arange(4), 0)[self.n_halvings.astype(int)]
        scores = factors[:, None] * (self.average @ psi)
        return np.array([np.maximum(s - support_value(s), 0) for s in scores])

    def learn(self, psi: Vector, kept: Vector, y: int, probabilities: Matrix, *, is_compensated: bool) -> None:
        place = self.n_seen % len(self.labels)
        self.rows[place], self.labels[place] = kept, y
        self.n_seen += 1
        self.mean_squared_norm += (psi @ psi - self.mean_squared_norm) / self.n_seen
        for m in range(len(self.gain)):
            if not self.update_memory(m, kept, y, probabilities):
                self.descend(m, self.width_of(m), is_compensated=is_compensated)
            self.average[m] += self.average_gain[m] * (self.mu[m] - self.average[m])
            self.margin[m, 0] = np.sum(self.width_of(m) * np.abs(self.average[m]))
            usable = np.flatnonzero(self.bounds_of(m) <= 1 - 1 / self.mu.shape[1])
            self.n_halvings[m] = usable[0] if usable.size else 4

    def bounds_of(self, m: int) -> Vector:
        """Return the bounds of the rules with weights μ, μ/2, μ/4, μ/8."""
        return self.loss[m] + self.margin[m].sum() * 0.5 ** np.arange(4)

    def update_memory(self, m: int, kept: Vector, y: int, probabilities: Matrix) -> bool:
        gain, partner = self.gain[m], int(self.partner[m])
        if partner >= 0:
            self.partner_lead[m] = max(self.partner_lead[m] + probabilities[partner, y] - probabilities[m, y], 0)
            if self.partner_lead[m] > 3:
                for name in ("mu", "average", "sums", "squares", "mass", "loss", "margin"):
                    getattr(self, name)[m] = getattr(self, name)[partner]
                self.n_since_cut[m], self.partner_lead[m], self.n_cuts[m] = 10, 0, self.n_cuts[m] + 1
                return True
            self.n_since_cut[m] += 1
            gain = 0 if self.n_since_cut[m] <= self.reach[m] else 1 / self.reach[m]
        for sums, row in ((self.sums, kept), (self.squares, kept**2)):
            sums[m] *= 1 - gain
            sums[m, y] += row
        self.mass[m] = np.array([1 - gain, (1 - gain) ** 2]) * self.mass[m] + 1
        return False

    def width_of(self, m: int) -> Matrix:
        """Return λ. Single precision as in the kernel: a variance near 0 is a difference of larger, rounded numbers."""
        first, second, mass = np.float32(self.sums[m]), np.float32(self.squares[m]), np.float32(self.mass[m, 0])
        variance = np.maximum(second / mass - (first / mass) ** 2, 0)
        return self.width[m] * np.sqrt(variance.astype(float) * self.mass[m, 1]) / self.mass[m, 0]

    def descend(self, m: int, lam: Matrix, *, is_compensated: bool) -> None:
        n = int(
            min(self.n_seen, self.reach[m])
            if self.partner[m] < 0
            else min(self.n_seen, self.reach[m], self.n_since_cut[m])
        )
        eta, losses, phis = 6 / max(self.mean_squared_norm, 1e-6), [[], [], [], []], []
        measures_all = self.bounds_of(m)[0] > 0.8 * (1 - 1 / self.mu.shape[1])
        for step_number in range(3):
            gradient = np.zeros_like(self.mu[m])
            for b in range(64):
                age = 0
                if b:
                    u, self.random_state = xorshift(self.random_state)
                    age = age_of(u, b, n, self.gain[m])
                i = (self.n_seen - 1 - age) % len(self.labels)
                label = self.labels[i]
                x = self.rows[i] + (self.centres[label] if is_compensated else 0)
                scores = self.mu[m] @ x
                phi = support_value(scores)
                if step_number == 0 or len(scores) > 2:
                    phis.append(phi)
                losses[0].append(1 - scores[label] + phi)
                if step_number == 0:
                    for k in (1, 2, 3):
                        losses[k].append(1 - scores[label] / 2**k + support_value(scores / 2**k))
                active = list(active_labels(scores))
                gradient[active] += x / len(active) / 64
                gradient[label] -= x / 64
            step = self.mu[m] - eta * gradient
            self.mu[m] = np.sign(step) * np.maximum(np.abs(step) - eta * lam, 0)
        measured = 4 if measures_all else 1
        self.loss[m, :measured] += 0.5 * (np.array([np.mean(each) for each in losses]) - self.loss[m])[:measured]
        effective = self.mass[m, 0] ** 2 / self.mass[m, 1]
        self.margin[m, 1] = self.width[m] * np.std(phis) / math.sqrt(effective)
