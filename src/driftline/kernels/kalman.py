"""Kinematic Kalman filters, one for each component, with adaptive noise variances.

A component's state η holds its expectation γ and the first k derivatives of γ in time; Σ is the mean
squared error of η. Arrays have one filter a row: η (d, k+1), Σ and Q (d, k+1, k+1), R and ε (d,).
"""

import numpy as np

from driftline._jit import kernel
from driftline.types import Matrix, Vector


@kernel
def transition(order: int, elapsed: float) -> Matrix:
    r"""Return H with H_ab = Δ^(b-a)/(b-a)! for b ≥ a: a Taylor expansion over the time Δ."""
    H = np.eye(order + 1)
    for a in range(order + 1):
        for b in range(a + 1, order + 1):
            H[a, b] = H[a, b - 1] * elapsed / (b - a)
    return H


@kernel
def propagate(H: Matrix, eta: Matrix, Sigma: Matrix, Q: Matrix) -> None:
    r"""Forecast in place: η ← Hη, Σ ← HΣHᵀ + Q, with H upper triangular and Σ kept exactly symmetric."""
    d, n = eta.shape
    forecast = np.empty((n, n))
    for r in range(d):
        for a in range(n):
            for b in range(a + 1):
                total = 0.0
                for p in range(a, n):
                    for q in range(b, n):
                        total += H[a, p] * Sigma[r, p, q] * H[b, q]
                forecast[a, b] = total + Q[r, a, b]
        for a in range(n):
            level = 0.0
            for p in range(a, n):
                level += H[a, p] * eta[r, p]
            eta[r, a] = level  # entry a needs only entries p ≥ a, not yet overwritten
            for b in range(a + 1):
                Sigma[r, a, b] = Sigma[r, b, a] = forecast[a, b]


@kernel
def forecast_expectations(
    H: Matrix, eta: Matrix, Sigma: Matrix, Q: Matrix, p: Vector, v: Vector
) -> tuple[Matrix, Matrix]:
    r"""Return τ = pγ and λ = √(Σ(v + p²) + γ²v) for every class and feature, changing nothing.

    γ = (Hη)_0 and Σ = (HΣHᵀ + Q)_00 are forecasts, p and v the label probabilities and the variances of their
    estimates. The printed (Σ + γ²)(v + p²) - γ²p² is the same, but rounding can make it negative.
    """
    c, d, n = eta.shape
    tau, lam = np.empty((c, d)), np.empty((c, d))
    for y in range(c):
        for r in range(d):
            gamma, variance = 0.0, Q[y, r, 0, 0]
            for a in range(n):
                gamma += H[0, a] * eta[y, r, a]
                for b in range(n):
                    variance += H[0, a] * Sigma[y, r, a, b] * H[0, b]
            tau[y, r] = p[y] * gamma
            lam[y, r] = np.sqrt(max(variance, 0.0) * (v[y] + p[y] ** 2) + gamma**2 * v[y])
    return tau, lam


@kernel
def adapt_gains(Sigma: Matrix, R: Vector, residual: Vector, forgetting: float) -> Matrix:
    r"""Update R ← αR + (1-α)(ε² + Σ_00) in place and return the gains K = Σe₁/(Σ_00 + R), one a row."""
    d, n, _ = Sigma.shape
    K = np.empty((d, n))
    for r in range(d):
        S = Sigma[r, 0, 0]
        R[r] = forgetting * R[r] + (1.0 - forgetting) * (residual[r] ** 2 + S)
        for a in range(n):
            K[r, a] = Sigma[r, a, 0] / (S + R[r]) if S + R[r] > 0.0 else 0.0
    return K


@kernel
def correct(
    psi: Vector, K: Matrix, eta: Matrix, Sigma: Matrix, Q: Matrix, R: Vector, residual: Vector, forgetting: float
) -> None:
    r"""Correct forecasts in place by an observation ψ, with innovation i = ψ - η_0.

    η ← η + K i;  Σ ← (I - Ke₁ᵀ) Σ (I - Ke₁ᵀ)ᵀ + R KKᵀ (Joseph's form: right for any gain, and a sum of
    positive semi-definite terms);  Q ← αQ + (1-α) i² KKᵀ;  ε ← ψ - η_0.
    """
    d, n = eta.shape
    M = np.empty((n, n))
    for r in range(d):
        innovation = psi[r] - eta[r, 0]
        for a in range(n):
            for b in range(n):
                M[a, b] = Sigma[r, a, b] - K[r, a] * Sigma[r, 0, b]
        for a in range(n):
            eta[r, a] += K[r, a] * innovation
            for b in range(a + 1):
                KK = K[r, a] * K[r, b]
                Sigma[r, a, b] = Sigma[r, b, a] = M[a, b] - M[a, 0] * K[r, b] + R[r] * KK
                Q[r, a, b] = Q[r, b, a] = forgetting * Q[r, a, b] + (1.0 - forgetting) * innovation**2 * KK
        residual[r] = psi[r] - eta[r, 0]
