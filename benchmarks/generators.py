"""Generated streams with known changes: those used to choose AMRC's configuration, and those left out of the choice.

    from generators import generator_streams
    X, y, nominal = generator_streams()["agrawal"](20_000, seed=0)

`CHOICE` and `VALIDATION` list the names of the two groups. The rows come from River's generators, and the same name,
number of rows and seed always give the same rows. Changes between concepts happen at fixed fractions of the number of
rows, so that a short stream has all changes of a long one; its rows are not the first rows of the long one. Concepts
that move at every row (hyperplane, rbf_drift) move at a fixed speed per row. The small files of the validation group
are given from their first row, in their own order, whatever the seed; they may have fewer rows than requested.
"""

from functools import partial
from itertools import islice

import numpy as np
from river import datasets
from river.datasets import synth
from sklearn.datasets import load_digits

GRADUAL = 0.1
"""Width of a gradual change as a fraction of the number of rows."""


def rows_of(stream, n_rows, nominal=()):
    """Return the rows and labels of a stream of River, and the positions of its nominal columns."""
    pairs = list(islice(iter(stream), n_rows))
    columns = list(pairs[0][0])
    X = np.array([[x[column] for column in columns] for x, _ in pairs], dtype=float)
    labels = [y for _, y in pairs]
    codes = {label: code for code, label in enumerate(sorted(set(labels)))} if isinstance(labels[0], str) else {}
    y = np.array([codes.get(label, label) for label in labels], dtype=int)
    return X, y, [position for position, column in enumerate(columns) if str(column).startswith(tuple(nominal))]


def concepts_in_turn(make, concepts, width, nominal, n_rows, seed):
    """Return rows of concepts that follow each other, each for the same number of rows.

    `make(concept, seed)` returns River's stream of a concept. With width > 0 the change is gradual: a row at distance d
    from the change, as a fraction of the number of rows, is one of the new concept with probability
    1/(1 + exp(−4 d/width)). A concept that returns continues its stream, with the same concept but new rows.
    """
    rng = np.random.default_rng(seed)
    kinds = sorted(set(concepts))
    seeds = dict(zip(kinds, rng.integers(2**31, size=len(kinds)).tolist(), strict=True))
    changes = np.arange(1, len(concepts)) / len(concepts)
    distance = (np.arange(n_rows)[:, None] / n_rows - changes) / max(width, 1e-9)
    turn = np.sum(rng.random(n_rows)[:, None] < 1 / (1 + np.exp(np.clip(-4 * distance, -500, 500))), axis=1)
    of_row = np.array(concepts)[turn]
    X = y = columns = None
    for kind in kinds:
        chosen = np.flatnonzero(of_row == kind)
        if not len(chosen):
            continue
        rows, labels, columns = rows_of(make(kind, seeds[kind]), len(chosen), nominal)
        if X is None:
            X, y = np.empty((n_rows, rows.shape[1])), np.empty(n_rows, dtype=int)
        X[chosen], y[chosen] = rows, labels
    return X, y, columns


def one_concept(make, nominal, n_rows, seed):
    """Return rows of one generator, made by `make(seed)`."""
    return rows_of(make(seed), n_rows, nominal)


def in_turn(make, concepts, width=0.0, nominal=()):
    """Return a function of the number of rows and the seed, which returns the rows of concepts in turn."""
    return partial(concepts_in_turn, make, concepts, width, nominal)


def one(make, nominal=()):
    """Return a function of the number of rows and the seed, which returns the rows of one generator."""
    return partial(one_concept, make, nominal)


def bundled(make):
    """Return a function of the number of rows and the seed (ignored), which returns the first rows of a small file."""
    return lambda n_rows, seed: rows_of(make(), n_rows)


def digits(n_rows, seed):
    """Return the first rows of scikit-learn's handwritten digits; the seed is ignored."""
    X, y = load_digits(return_X_y=True)
    return X[:n_rows], y[:n_rows], []


def agrawal(function, seed):
    """Return Agrawal's loan applicants, with 5 % perturbation."""
    return synth.Agrawal(classification_function=function, seed=seed, perturbation=0.05)


def deep_tree(seed):
    """Return a random tree with another depth, three classes, and other numbers of columns."""
    return synth.RandomTree(
        seed_tree=seed,
        seed_sample=seed + 1,
        n_classes=3,
        n_num_features=10,
        n_cat_features=2,
        n_categories_per_feature=8,
        max_tree_depth=8,
        first_leaf_level=4,
    )


def moving_clusters(seed):
    """Return five classes in fifty clusters that move."""
    return synth.RandomRBFDrift(seed_model=seed, seed_sample=seed + 1, n_classes=5, change_speed=0.001)


def hyperplane(n_features, n_drift_features, speed, seed):
    """Return a moving hyperplane with 5 % noise."""
    return synth.Hyperplane(seed, n_features, n_drift_features, mag_change=speed)


def led_with_swapped_columns(n_swapped, seed):
    """Return the digits of an LED display with 10 % noise, and relevant columns swapped with irrelevant ones."""
    return synth.LEDDrift(seed, 0.1, irrelevant_features=True, n_drift_features=n_swapped)


AGRAWAL_NOMINAL = ("elevel", "car", "zipcode")

_CHOICE = {
    "agrawal": in_turn(agrawal, (0, 4, 6, 2), nominal=AGRAWAL_NOMINAL),  # abrupt
    "random_tree": in_turn(  # abrupt, recurring
        lambda _, seed: synth.RandomTree(seed_tree=seed, seed_sample=seed + 1), (0, 1, 0, 1), nominal=["x_cat"]
    ),
    "sea": in_turn(lambda variant, seed: synth.SEA(variant, noise=0.1, seed=seed), (0, 3, 1, 2), GRADUAL),
    "led": one(lambda seed: synth.LED(seed, 0.1, irrelevant_features=True), nominal=[""]),  # without changes
    "hyperplane": one(partial(hyperplane, 10, 10, 0.001)),  # moves at every row
    "rbf_drift": one(moving_clusters),  # moves at every row
    "sine": in_turn(lambda function, seed: synth.Sine(function, seed, has_noise=True), (0, 1, 2, 3)),  # abrupt
    "mixed": in_turn(synth.Mixed, (0, 1, 0, 1), GRADUAL, nominal=["0", "1"]),  # gradual, recurring
}
_VALIDATION = {
    "waveform": one(lambda seed: synth.Waveform(seed, has_noise=True)),  # without changes
    "stagger": in_turn(synth.STAGGER, (0, 1, 2), nominal=["size", "color", "shape"]),  # abrupt
    "agrawal_gradual": in_turn(agrawal, (1, 5), GRADUAL, AGRAWAL_NOMINAL),
    "deep_tree": one(deep_tree, nominal=["x_cat"]),  # without changes
    "led_drift": in_turn(led_with_swapped_columns, (0, 3, 5, 0), nominal=[""]),  # abrupt, recurring
    "rbf": one(  # without changes
        lambda seed: synth.RandomRBF(seed_model=seed, seed_sample=seed + 1, n_classes=4, n_features=20)
    ),
    "fast_hyperplane": one(partial(hyperplane, 20, 5, 0.01)),  # moves at every row
    "noisy_sea": in_turn(lambda variant, seed: synth.SEA(variant, noise=0.2, seed=seed), (2, 1, 2)),  # recurring
    "phishing": bundled(datasets.Phishing),
    "bananas": bundled(datasets.Bananas),
    "image_segments": bundled(datasets.ImageSegments),
    "digits": digits,
}
CHOICE = tuple(_CHOICE)
VALIDATION = tuple(_VALIDATION)


def generator_streams():
    """Return a function (n_rows, seed) → (rows, labels, positions of nominal columns) for each name."""
    return _CHOICE | _VALIDATION
