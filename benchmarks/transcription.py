"""Algorithms 3 and 4 of the paper in NumPy, as printed: references for speed and for correctness.

Misprints are corrected: the width is that of the estimated label probabilities, and the extrapolation of Alg. 4 is
Nesterov's. Vectors of the joint features are flat, class by class, as in the paper.
"""

import itertools
import math

import numpy as np


class NumpyTracker:
    """Alg. 3: for i = 1, 2, …, m, the recursion of Theorem 2, with the noise variances adapted online."""

    def __init__(self, n_classes, n_features, *, order, window=200):
        n = order + 1
        self.n_classes, self.n_features, self.window = n_classes, n_features, window
        self.e1 = np.eye(n)[0]
        self.H = np.eye(n)
        for s in range(1, n):
            self.H += np.eye(n, k=s) / math.factorial(s)
        m = n_classes * n_features
        self.labels = []
        self.Q = [1e-3 * np.eye(n) for _ in range(m)]
        self.r2 = np.full(m, 1e-3)
        self.residual = np.zeros(m)
        self.eta = [np.zeros(n) for _ in range(m)]
        self.Sigma = [self.H @ np.eye(n) @ self.H.T + Q for Q in self.Q]

    def update(self, psi, label):
        """Add an instance with its label; return the mean τ and the width λ of the next uncertainty set."""
        self.labels = [*self.labels, label][-self.window :]
        tau, lam = np.zeros(self.r2.size), np.zeros(self.r2.size)
        for j in range(self.n_classes):
            p = self.labels.count(j) / len(self.labels)
            v = p * (1 - p) / len(self.labels)
            for r in range(self.n_features):
                i = j * self.n_features + r
                self.recur(i, psi[r], observed=j == label)
                gamma, error = self.e1 @ self.eta[i], self.e1 @ self.Sigma[i] @ self.e1
                tau[i] = p * gamma
                lam[i] = math.sqrt((error + gamma**2) * (v + p**2) - gamma**2 * p**2)
        return tau, lam

    def recur(self, i, observation, *, observed):
        """Equations (eta_pred), (sigma_pred) and (gain_vector)."""
        H, e1, eta, Sigma = self.H, self.e1, self.eta[i], self.Sigma[i]
        k = np.zeros(len(e1))
        innovation = observation - e1 @ eta
        if observed:
            self.r2[i] = 0.3 * self.r2[i] + 0.7 * (self.residual[i] ** 2 + e1 @ Sigma @ e1)
            gain = Sigma @ e1 / (e1 @ Sigma @ e1 + self.r2[i])
            self.Q[i] = 0.3 * self.Q[i] + 0.7 * innovation**2 * np.outer(gain, gain)
            self.residual[i] = observation - e1 @ (eta + gain * innovation)
            k = H @ gain
        self.eta[i] = H @ eta - (e1 @ eta - observation) * k
        self.Sigma[i] = H @ Sigma @ H.T + self.Q[i] - np.outer(k, e1 @ Sigma @ H.T)


class NumpyOptimiser:
    """Alg. 4: K iterations over the N most recently used subgradients and all of the newest instance."""

    def __init__(self, n_classes, n_features, *, n_subgradients=100, n_iterations=2000):
        self.n_classes, self.n_features = n_classes, n_features
        self.n_subgradients, self.n_iterations = n_subgradients, n_iterations
        self.mu = np.zeros(n_classes * n_features)
        self.F = np.empty((0, n_classes * n_features))
        self.h = np.empty(0)
        self.last_used = np.empty(0, dtype=int)  # -1: never
        self.clock = 0

    def append_rows(self, psi):
        """Append the rows of all label subsets, except those that are already there."""
        for size in range(1, self.n_classes + 1):
            for subset in itertools.combinations(range(self.n_classes), size):
                f = np.zeros((self.n_classes, self.n_features))
                f[list(subset)] = psi / size
                f = f.ravel()
                if ((f == self.F).all(axis=1) & (self.h == 1 / size)).any():
                    continue
                self.F = np.vstack([self.F, f])
                self.h = np.append(self.h, 1 / size)
                self.last_used = np.append(self.last_used, -1)

    def solve(self, psi, tau, lam):
        """Return the best iterate, its risk, and φ there."""
        self.append_rows(psi)
        F, h = self.F, self.h
        mu = mu_bar = best_mu = self.mu
        best_risk = np.inf
        for l in range(1, self.n_iterations + 1):  # noqa: E741  # the paper's letter
            a, theta, theta_next = 1 / (l + 1) ** 1.5, 2 / (l + 1), 2 / (l + 2)
            values = F @ mu - h
            i = np.argmax(values)
            risk = 1 - tau @ mu + values[i] + lam @ np.abs(mu)
            if risk < best_risk:
                best_risk, best_mu = risk, mu
            mu_bar_next = mu + a * (tau - F[i] - lam * np.sign(mu))
            mu = mu_bar_next + theta_next * (1 / theta - 1) * (mu_bar_next - mu_bar)
            mu_bar = mu_bar_next
            self.last_used[i] = self.clock + l
        risk = 1 - tau @ mu + (F @ mu - h).max() + lam @ np.abs(mu)
        if risk < best_risk:
            best_risk, best_mu = risk, mu
        phi = (F @ best_mu - h).max()
        self.clock += self.n_iterations
        self.mu = best_mu
        self.prune()
        return best_mu, best_risk, phi

    def prune(self):
        """Keep the rows used most recently, in the order in which they were appended."""
        kept = np.flatnonzero(self.last_used >= 0)
        if kept.size > self.n_subgradients:
            kept = np.sort(kept[np.argsort(self.last_used[kept])[-self.n_subgradients :]])
        self.F, self.h, self.last_used = self.F[kept], self.h[kept], self.last_used[kept]
