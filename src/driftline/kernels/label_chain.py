r"""Rules that know the last labels: a Markov chain of the labels, and the choice between four rules.

The rules, for an instance x, the label ℓ learned last, and the probabilities h(y|x) of the members that know x:

0. h itself.
1. The combined rule q(y) ∝ (h(y|x) + ε)^a P(y|ℓ)^b P(y|ℓ, r)^b' P(y)^d, where r says whether ℓ is also the label
   before the last. The exponents begin at a = 1, b = b' = 1/2 and d = -1, so that q is h(y|x) P(y|ℓ) / P(y), and then
   follow the gradient of log q(y).
2. The last label.
3. The most frequent label.

The rule that made the fewest mistakes is used. Rules 1 to 3 begin a few mistakes behind, and no rule is ever further
behind than `MAX_BEHIND`, so that one that becomes the best is used after so many mistakes. Rules 0 and 1 are used only
if they are ahead of rules 2 and 3 by a share of the mistakes of these: where labels are hardly predictable, the rule
that was right more often by chance would change all the time.
"""

import math
from typing import NamedTuple

import numpy as np

from driftline._jit import inner_kernel, kernel
from driftline.types import Indices, Labels, Matrix, Vector

INSTANCE, COMBINED, LAST, MAJORITY = range(4)
"""Positions of the four rules."""
N_RULES = 4
N_TERMS = 4
"""Factors of the combined rule: h, P(y|ℓ), P(y|ℓ, r) and P(y)."""
GAIN = 0.005
"""How fast counts forget: by this share whenever their label is again the last one."""
PRIOR_LABELS = 2.0
"""Number of labels by which a row of counts counts that has none yet."""
SMALLEST_FACTOR = 0.02
"""ε, so that a class that has probability 0 in h can be predicted."""
FIRST_EXPONENTS = (1.0, 0.5, 0.5, -1.0)
MAX_EXPONENT = 10.0
STEP = 0.2
"""Length of the first steps of the exponents; later ones are shorter, by the sum of squared gradients."""
FIRST_BEHIND = (0, 5, 5, 5)
"""Mistakes by which each rule begins behind the best."""
MAX_BEHIND = 40
LEAD_SHARE, MAX_LEAD = 0.05, 15.0
"""Lead that rules 0 and 1 must have over rules 2 and 3: a share of the mistakes of these, and the most it can be."""
CHOSEN_SHARE = 2.0 / 3.0
"""Probability that rules 1 to 3 add to the label that they predict; the rest is that of the combined rule."""


class LabelState(NamedTuple):
    """What the four rules know; c is the number of classes."""

    last: Indices
    """The last label learned and the one before it, -1 if there is none, (2,)."""
    transitions: Vector
    """Counts of y after ℓ: of all, and of those where ℓ did not and did repeat the label before it, (3, c, c)."""
    repeats: Vector
    """Counts of labels that repeat the one before them, and of all labels, (2,)."""
    recent: Vector
    """Counts of each class, which forget, (c,)."""
    counts: Indices
    """Counts of each class, which do not, (c,)."""
    exponents: Vector
    """Exponents of the combined rule, (4,)."""
    squares: Vector
    """Sums of the squared gradients of the exponents, (4,)."""
    behind: Indices
    """Mistakes by which each rule is behind the best, (4,)."""
    mistakes: Indices
    """Mistakes of rules 2 and 3, (2,)."""
    chosen: Indices
    """The rule that is used, (1,)."""
    accuracy: Vector
    """Of rules 1 to 3: Σw, Σw², Σwa and Σwa², for the probabilities a of the true labels and weights w, (3, 4)."""


@inner_kernel
def set_terms(state: LabelState, h: Matrix, t: int, last: int, before: int, terms: Matrix) -> None:
    """Set terms, (4, c), to the logarithms of the factors of the combined rule for row t of h and the last two labels.

    P(y|ℓ) is smoothed by a chain that only knows how often labels repeat, and P(y|ℓ, r) by P(y|ℓ).
    """
    c = state.counts.size
    total = 0.0
    for y in range(c):
        total += state.recent[y]
    for y in range(c):
        share = (state.recent[y] + 0.5) / (total + 0.5 * c)
        terms[0, y] = math.log(h[t, y] + SMALLEST_FACTOR)
        terms[1, y] = terms[2, y] = terms[3, y] = math.log(share)
    if last < 0:
        return
    context = 2 if last == before else 1
    n, n_context = PRIOR_LABELS, PRIOR_LABELS
    for y in range(c):
        n += state.transitions[0, last, y]
        n_context += state.transitions[context, last, y]
    repeated = (state.repeats[0] + 1.0 / c) / (state.repeats[1] + 1.0)
    others = total + 0.5 * c - state.recent[last] - 0.5
    for y in range(c):
        smooth = repeated if y == last else (1.0 - repeated) * (state.recent[y] + 0.5) / others
        p = (state.transitions[0, last, y] + PRIOR_LABELS * smooth) / n
        terms[1, y] = math.log(p)
        terms[2, y] = math.log((state.transitions[context, last, y] + PRIOR_LABELS * p) / n_context)


@inner_kernel
def set_combined(exponents: Vector, terms: Matrix, q: Vector) -> None:
    """Set q to the combined rule, ∝ exp(Σ_j exponent_j terms_j)."""
    largest = -np.inf
    for y in range(q.size):
        q[y] = 0.0
        for j in range(N_TERMS):
            q[y] += exponents[j] * terms[j, y]
        largest = max(largest, q[y])
    total = 0.0
    for y in range(q.size):
        q[y] = math.exp(q[y] - largest)
        total += q[y]
    for y in range(q.size):
        q[y] /= total


@inner_kernel
def largest_of(probabilities: Vector) -> int:
    """Return the position of the largest, the first among equals."""
    best = 0
    for y in range(1, probabilities.size):
        if probabilities[y] > probabilities[best]:
            best = y
    return best


@inner_kernel
def most_frequent(counts: Indices) -> int:
    """Return the class with the most labels, the first among equals."""
    best = 0
    for y in range(1, counts.size):
        if counts[y] > counts[best]:
            best = y
    return best


@inner_kernel
def set_rules(state: LabelState, h: Matrix, t: int, terms: Matrix, q: Vector, rules: Matrix) -> None:
    """Set rules, (4, c), to the probabilities of each rule for row t of h, with the last labels learned.

    Rules 1 to 3 give the label that they predict the share `CHOSEN_SHARE`, and the rest to all by the combined rule.
    """
    last = state.last[0]
    set_terms(state, h, t, last, state.last[1], terms)
    set_combined(state.exponents, terms, q)
    for y in range(q.size):
        rules[INSTANCE, y] = h[t, y]
        for k in range(1, N_RULES):
            rules[k, y] = (1.0 - CHOSEN_SHARE) * q[y]
    rules[COMBINED, largest_of(q)] += CHOSEN_SHARE
    rules[LAST, max(last, 0)] += CHOSEN_SHARE
    rules[MAJORITY, most_frequent(state.counts)] += CHOSEN_SHARE


@inner_kernel
def compare(state: LabelState, rules: Matrix, y: int) -> None:
    """Count whether each rule was right about label y, and choose the rule that is used next."""
    for k in range(1, N_RULES):
        sums = state.accuracy[k - 1]
        sums[0] = (1.0 - GAIN) * sums[0] + 1.0
        sums[1] = (1.0 - GAIN) ** 2 * sums[1] + 1.0
        sums[2] = (1.0 - GAIN) * sums[2] + rules[k, y]
        sums[3] = (1.0 - GAIN) * sums[3] + rules[k, y] ** 2
    least = MAX_BEHIND + 1
    for k in range(N_RULES):
        state.behind[k] += 1 if largest_of(rules[k]) != y else 0
        least = min(least, state.behind[k])
    for k in range(N_RULES):
        state.behind[k] = min(state.behind[k] - least, MAX_BEHIND)
    for k in range(2):
        state.mistakes[k] += 1 if largest_of(rules[LAST + k]) != y else 0
    lead = min(MAX_LEAD, LEAD_SHARE * min(state.mistakes[0], state.mistakes[1]))
    for k in range(N_RULES):
        chosen = state.chosen[0]
        if state.behind[k] + (lead if k < LAST else 0.0) < state.behind[chosen] + (lead if chosen < LAST else 0.0):
            state.chosen[0] = k


@inner_kernel
def improve(state: LabelState, terms: Matrix, q: Vector, y: int) -> None:
    """Move the exponents of the combined rule q along the gradient of log q(y)."""
    for j in range(N_TERMS):
        gradient = terms[j, y]
        for k in range(q.size):
            gradient -= q[k] * terms[j, k]
        state.squares[j] += gradient**2
        moved = state.exponents[j] + STEP * gradient / math.sqrt(state.squares[j])
        state.exponents[j] = min(max(moved, -MAX_EXPONENT), MAX_EXPONENT)


@inner_kernel
def count(state: LabelState, last: int, before: int, y: int) -> None:
    """Count label y, of a row that was predicted when the last two labels were these; it is now the last label."""
    for k in range(state.counts.size):
        state.recent[k] *= 1.0 - GAIN
    state.recent[y] += 1.0
    state.counts[y] += 1
    if last >= 0:
        context = 2 if last == before else 1
        for k in range(state.counts.size):
            state.transitions[0, last, k] *= 1.0 - GAIN
            state.transitions[context, last, k] *= 1.0 - GAIN
        state.transitions[0, last, y] += 1.0
        state.transitions[context, last, y] += 1.0
        state.repeats[0] = (1.0 - GAIN) * state.repeats[0] + (1.0 if y == last else 0.0)
        state.repeats[1] = (1.0 - GAIN) * state.repeats[1] + 1.0
    state.last[1] = state.last[0]
    state.last[0] = y


@kernel
def count_label(state: LabelState, last: int, before: int, y: int) -> None:
    """Count a label without comparing the rules."""
    count(state, last, before, y)


@kernel
def label_rules(state: LabelState, h: Matrix) -> Vector:
    """Return the probabilities of the four rules for each row of h, (n, 4, c), all with the last labels learned."""
    n, c = h.shape
    rules, terms, q = np.empty((n, N_RULES, c)), np.empty((N_TERMS, c)), np.empty(c)
    for t in range(n):
        set_rules(state, h, t, terms, q, rules[t])
    return rules


@kernel
def choose_and_learn(state: LabelState, h: Matrix, labels: Labels) -> None:
    """Replace each row of h by the rule that is used for it, and learn its label before the next row."""
    n, c = h.shape
    rules, terms, q = np.empty((N_RULES, c)), np.empty((N_TERMS, c)), np.empty(c)
    for t in range(n):
        set_rules(state, h, t, terms, q, rules)
        h[t] = rules[state.chosen[0]]
        compare(state, rules, labels[t])
        improve(state, terms, q, labels[t])
        count(state, state.last[0], state.last[1], labels[t])


@kernel
def learn_late(state: LabelState, rules: Matrix, last: int, before: int, y: int) -> None:
    """Learn a label that comes late: the rules were those given when the last two labels were `last` and `before`."""
    terms, q = np.empty((N_TERMS, rules.shape[1])), np.empty(rules.shape[1])
    compare(state, rules, y)
    set_terms(state, rules, INSTANCE, last, before, terms)
    set_combined(state.exponents, terms, q)
    improve(state, terms, q, y)
    count(state, last, before, y)
