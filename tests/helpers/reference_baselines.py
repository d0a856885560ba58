"""The baselines in plain Python, as in their publications: with two classes, y = ±1.

With more classes a function is a vector, an entry for each; a step leads half to the class and half from its rival.
"""

import math

import numpy as np


class Plain:
    """Base class. Labels are positions; with two classes, position 1 is y = +1."""

    def __init__(self, n_classes, scale):
        self.c, self.scale = n_classes, scale
        self.supports, self.coefficients = [], []

    def k(self, a, b):
        return math.exp(-(self.scale**2) * float(np.sum((a - b) ** 2)) / 2)

    def row(self, x):
        return np.array([self.k(s, x) for s in self.supports])

    def f(self, x):
        zero = 0.0 if self.c == 2 else np.zeros(self.c)
        return sum((a * self.k(s, x) for s, a in zip(self.supports, self.coefficients, strict=True)), zero)

    def scores(self, x):
        """Return a score for each class; with two classes, these are -f/2 and f/2."""
        f = self.f(x)
        return np.array([-f / 2, f / 2]) if self.c == 2 else f

    def predict(self, x):
        f = self.f(x)
        return int(f >= 0) if self.c == 2 else int(np.argmax(f))

    def direction(self, x, y):
        """Return the direction in which a step changes f, and the margin before it."""
        f = self.f(x)
        if self.c == 2:
            sign = 2 * y - 1
            return sign, sign * f
        r = max((j for j in range(self.c) if j != y), key=lambda j: (f[j], -j))
        e = np.eye(self.c)
        return (e[y] - e[r]) / 2, f[y] - f[r]


class PlainRBP(Plain):
    def __init__(self, n_classes, scale, budget, draws):
        super().__init__(n_classes, scale)
        self.budget, self.draws = budget, iter(draws)

    def learn(self, x, y):
        draw, (sign, _) = next(self.draws), self.direction(x, y)
        if self.predict(x) == y:
            return
        if len(self.supports) < self.budget:
            self.supports.append(x)
            self.coefficients.append(sign)
        else:
            place = int(draw * self.budget)
            self.supports[place], self.coefficients[place] = x, sign


class PlainForgetron(Plain):
    def __init__(self, n_classes, scale, budget):
        super().__init__(n_classes, scale)
        self.budget, self.Q, self.M, self.phis = budget, 0.0, 0, []

    def learn(self, x, y):
        sign, margin = self.direction(x, y)
        if margin > 0:
            return
        self.M += 1
        self.supports.append(x)
        self.coefficients.append(sign)
        if len(self.supports) <= self.budget:
            return
        oldest = self.coefficients[0]
        f = self.f(self.supports[0])
        if self.c == 2:
            s, m = abs(oldest), np.sign(oldest) * f
        else:
            s, m = oldest.max() - oldest.min(), f[oldest.argmax()] - f[oldest.argmin()]
        phi = self.shrink(s, m)
        self.phis.append(phi)
        self.coefficients = [phi * a for a in self.coefficients[1:]]
        self.supports = self.supports[1:]
        self.Q += (s * phi) ** 2 + 2 * s * phi * (1 - phi * m)

    def shrink(self, s, m):
        """Use the case distinction of the publication."""
        A, b, C = s * s - 2 * s * m, 2 * s, self.Q - 15 * self.M / 32
        d = b * b - 4 * A * C
        if A > 0:
            return min(1.0, (-b + math.sqrt(d)) / (2 * A))
        if A == 0:
            return min(1.0, -C / b)
        if d <= 0 or (-b - math.sqrt(d)) / (2 * A) <= 1:
            return 1.0
        return min(1.0, (-b + math.sqrt(d)) / (2 * A))


class PlainProjectron(Plain):
    def __init__(self, n_classes, scale, budget, tolerance):
        super().__init__(n_classes, scale)
        self.budget, self.tolerance = budget, tolerance

    def projection(self, x):
        """Return the coefficients, the squared length and the squared distance, by solving the linear system."""
        if not self.supports:
            return np.zeros(0), 0.0, 1.0
        K, row = np.array([self.row(s) for s in self.supports]), self.row(x)
        d = np.linalg.solve(K, row)
        return d, row @ d, max(1 - row @ d, 0.0)

    def move(self, step, d):
        self.coefficients = [a + step * part for a, part in zip(self.coefficients, d, strict=True)]

    def learn(self, x, y):
        sign, margin = self.direction(x, y)
        if self.predict(x) != y:
            d, _, distance = self.projection(x)
            near = 1e-4 if self.tolerance is None else max(self.tolerance**2, 1e-4)
            if distance <= near or len(self.supports) == self.budget:
                self.move(sign, d)
            else:
                self.supports.append(x)
                self.coefficients.append(sign)
        else:
            self.learn_margin(x, sign, margin)

    def learn_margin(self, x, sign, margin):
        pass


class PlainProjectronPlusPlus(PlainProjectron):
    def learn_margin(self, x, sign, margin):
        if not 0 < margin < 1:
            return
        (d, P2, D2), loss = self.projection(x), 1 - margin
        D = math.sqrt(D2)
        if self.tolerance is None:
            U = math.sqrt((self.budget + 1) / math.log(self.budget + 1)) / 4
            tau = min(loss / P2, 1)
            if tau * (2 * loss - tau * P2 - 2 * U * D) >= 0:
                self.move(tau * sign, d)
        elif loss >= D / self.tolerance:
            self.move(min(1, loss / P2, 2 * (loss - D / self.tolerance) / P2) * sign, d)


class PlainNORMA(Plain):
    def __init__(self, n_classes, scale, budget, eta, decay, nu, margin, intercept):
        super().__init__(n_classes, scale)
        self.budget, self.eta, self.decay, self.nu, self.rho, self.intercept = budget, eta, decay, nu, margin, intercept
        self.b = 0.0 if n_classes == 2 else np.zeros(n_classes)

    def f(self, x):
        return super().f(x) + self.b

    def learn(self, x, y):
        sign, margin = self.direction(x, y)
        errs = margin <= self.rho
        self.coefficients = [(1 - self.eta * self.decay) * a for a in self.coefficients]
        if errs:
            self.supports, self.coefficients = [*self.supports, x], [*self.coefficients, self.eta * sign]
            self.supports, self.coefficients = self.supports[-self.budget :], self.coefficients[-self.budget :]
            if self.intercept:
                self.b = self.b + self.eta * sign
        if self.nu is not None:
            self.rho = max(0, self.rho + self.eta * (self.nu - errs))


class PlainFOGD(Plain):
    """With features of the same norm as in the publication."""

    def __init__(self, n_classes, directions, eta):
        super().__init__(n_classes, 1.0)
        self.directions, self.eta = directions, eta
        self.w = np.zeros(2 * directions.shape[1]) if n_classes == 2 else np.zeros((n_classes, 2 * directions.shape[1]))

    def z(self, x):
        return np.concatenate([np.cos(x @ self.directions), np.sin(x @ self.directions)])

    def f(self, x):
        return self.w @ self.z(x)

    def learn(self, x, y):
        sign, margin = self.direction(x, y)
        if margin < 1:
            self.w = self.w + self.eta * (sign * self.z(x) if self.c == 2 else np.outer(sign, self.z(x)))


class PlainNOGD(Plain):
    def __init__(self, n_classes, scale, budget, rank, eta):
        super().__init__(n_classes, scale)
        self.budget, self.rank, self.eta, self.M = budget, rank, eta, None

    def f(self, x):
        return super().f(x) if self.M is None else self.w @ (self.M @ self.row(x))

    def learn(self, x, y):
        sign, margin = self.direction(x, y)
        if margin >= 1:
            return
        if self.M is None and len(self.supports) < self.budget:
            self.supports.append(x)
            self.coefficients.append(self.eta * sign)
            return
        if self.M is None:
            E, V = np.linalg.eigh(np.array([self.row(s) for s in self.supports]))
            E, V = E[-self.rank :], V[:, -self.rank :]
            E, V = E[E > 1e-10], V[:, E > 1e-10]
            self.M = np.diag(E**-0.5) @ V.T
            self.w = np.array(self.coefficients).T @ V @ np.diag(E**0.5)
            sign, margin = self.direction(x, y)  # by the new features
            if margin >= 1:
                return
        z = self.M @ self.row(x)
        self.w = self.w + self.eta * (sign * z if self.c == 2 else np.outer(sign, z))


class PlainLambdaPerceptron(Plain):
    def __init__(self, n_classes, n_columns, alpha):
        super().__init__(n_classes, 1.0)
        self.alpha, self.factor = alpha, 1.0
        shape = (n_columns + 1,) if n_classes == 2 else (n_classes, n_columns + 1)
        self.w, self.psi = np.zeros(shape), np.zeros(shape)

    def f(self, x):
        return self.w @ np.append(x, 1.0)

    def learn(self, x, y):
        sign, _ = self.direction(x, y)
        z, errs = np.append(x, 1.0), self.predict(x) != y
        if errs:
            # ψ_y - ψ_r of halves that are taken twice
            slope = sign * (self.psi @ z) if self.c == 2 else 2 * sign @ (self.psi @ z)
            self.factor = min(max(self.factor + self.alpha * slope, 0.9), 1.0)
        self.psi = self.w + self.factor * self.psi
        self.w = self.factor * self.w
        if errs:
            self.w = self.w + (sign * z if self.c == 2 else np.outer(sign, z))


class PlainAdaRaker:
    """One against all others; with two classes, this is the binary form twice, with opposite signs."""

    def __init__(self, n_classes, directions):
        self.c, self.directions, self.t = n_classes, directions, 0
        self.machines = [([], [], []) for _ in range(n_classes)]

    def scores(self, x):
        return np.array([self.outputs(j, x, self.t + 1)[0] for j in range(self.c)])

    def predict(self, x):
        scores = self.scores(x)
        return int(scores[1] >= scores[0]) if self.c == 2 else int(np.argmax(scores))

    def z(self, x):
        return [np.concatenate([np.sin(V @ x), np.cos(V @ x)]) for V in self.directions]

    def eta(self, k):
        return min(0.5, 2 ** (-k / 2))

    def outputs(self, j, x, t):
        theta, q, h = self.machines[j]
        n, z = int(math.log2(t)) + 1, self.z(x)
        while len(h) < n:
            theta.append([np.zeros(len(part)) for part in z])
            q.append(np.full(len(z), 1 / len(z)))
            h.append(1.0)
        weights = [self.eta(k) if (t - 1) % 2 ** (k - 1) == 0 else h[k - 1] for k in range(1, n + 1)]
        f = [[theta[k][p] @ z[p] for p in range(len(z))] for k in range(n)]
        F = [np.dot(q[k] / q[k].sum(), f[k]) for k in range(n)]
        return float(np.dot(weights, F)), weights, f, F, z

    def learn(self, x, y):
        self.t += 1
        for j in range(self.c):
            theta, q, h = self.machines[j]
            _, weights, f, F, z = self.outputs(j, x, self.t)
            sign, n = (1 if j == y else -1), len(F)
            for k in range(n):
                eta = self.eta(k + 1)
                for p in range(len(z)):
                    q[k][p] = q[k][p] * 0.5 ** (sign * f[k][p] < 0) + 1e-4
                    step = eta * sign / (1 + math.exp(sign * f[k][p]))
                    theta[k][p] = (1 - eta * 5e-4) * theta[k][p] + step * z[p]
            E = np.array([float(sign * F[k] < 0) for k in range(n)])
            half = (E.max() - E.min()) / 2
            if half > 0:
                weights = np.array(weights) * self.eta(n) ** ((E - (E.max() + E.min()) / 2) / half)
            h[:n] = (np.array(weights) / np.sum(weights)).tolist()
