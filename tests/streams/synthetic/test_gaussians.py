import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftline import ConfigError
from driftline.streams import DriftingFeatures, GaussianClasses, MovingClass, RotatingGaussians
from helpers.synthetic_distributions import EVERY_KIND

stream = RotatingGaussians()


def test_instances_are_those_of_the_formula():
    """The paper's formula, label by label, for the noise-free part; N(0, 2) has variance 2."""
    X, y = stream.sample(20_000, seed=3)
    t = np.arange(1, 20_001)
    angle = np.pi * ((np.cos(0.1 * t) - 3) / 2 + (y + 1))
    noise = X - 4 * np.column_stack([np.cos(angle), np.sin(angle)])
    assert np.abs(noise.mean(axis=0)).max() < 4 * np.sqrt(2 / 20_000)
    assert np.allclose(np.cov(noise.T), 2 * np.eye(2), atol=4 * 2 * np.sqrt(2 / 20_000))
    assert y.mean() == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(20_000))


@given(st.floats(0, 1000), st.integers(2, 7))
def test_classes_are_equally_far_apart_on_a_circle(t, c):
    rotating = RotatingGaussians(n_classes=c)
    means = rotating.class_means(t)
    assert np.allclose(np.linalg.norm(means, axis=1), 4)
    assert np.allclose(np.linalg.norm(means - np.roll(means, 1, axis=0), axis=1), 8 * np.sin(np.pi / c))
    assert np.allclose(rotating.expectations(t), means / c)


@given(st.floats(0, 1000), st.integers(2, 7))
def test_one_class_moves_and_never_comes_nearer_than_four_to_the_others(t, c):
    moving = MovingClass(n_classes=c)
    means, before = moving.class_means(t), moving.class_means(0)
    assert np.allclose(means[1:], before[1:])
    radius = 4 if c == 2 else 8
    assert np.allclose(means[0], radius * np.array([np.cos(0.01 * t), np.sin(0.01 * t)]))
    assert np.linalg.norm(means[0] - means[1:], axis=1).min() >= 4 - 1e-9


def test_the_best_error_stays_the_same_while_one_class_moves():
    def best(t):
        means = MovingClass().class_means(t)
        return MovingClass().linear_error(t, means, -(means**2).sum(axis=1) / 2).value

    assert np.ptp([best(t) for t in range(0, 700, 50)]) < 1e-12


def test_features_drift_at_their_own_rates():
    features = DriftingFeatures(rates=(0.0, 0.01, 0.02))
    start, half_turn, full_turn = features.class_means([0, 100 * np.pi / 2, 100 * np.pi])
    assert np.allclose(start[:, 0], full_turn[:, 0])  # stands still
    assert np.allclose(start[:, 1], -full_turn[:, 1])
    assert np.allclose(start[:, 2], -half_turn[:, 2])
    assert np.allclose(start[:, 2], full_turn[:, 2])


@given(st.floats(0, 1000), st.integers(2, 6), st.integers(2, 6))
def test_features_with_one_rate_keep_the_means_on_a_sphere(t, c, d):
    means = DriftingFeatures(rates=(0.01,) * d, n_classes=c).class_means(t)
    assert np.allclose(np.linalg.norm(means, axis=1), 4)


def test_standing_classes_have_the_parameters_given():
    concept = GaussianClasses([[1.0, 2.0], [3.0, 5.0]], deviations=[1.0, 4.0], probabilities=[0.25, 0.75])
    assert concept.class_means(17).tolist() == [[1.0, 2.0], [3.0, 5.0]]
    assert concept.label_probabilities(17).tolist() == [0.25, 0.75]
    assert concept.expectations(17).tolist() == [[0.25, 0.5], [2.25, 3.75]]
    assert concept.components(np.ones(1)).deviations.tolist() == [[[1.0, 4.0], [1.0, 4.0]]]


def test_equal_parameters_make_equal_distributions():
    assert RotatingGaussians() == RotatingGaussians(angular_rate=0.1)
    assert GaussianClasses(np.eye(2)) == GaussianClasses([[1, 0], [0, 1]], deviations=[1, 1])
    assert len({DriftingFeatures(rates=np.zeros(2)), DriftingFeatures(rates=[0, 0])}) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RotatingGaussians(angular_rate="fast"), "angular_rate must be finite numbers; got 'fast'"),
        (lambda: RotatingGaussians(angular_rate=np.nan), "angular_rate must be finite numbers"),
        (lambda: RotatingGaussians(angular_rate=[0.1]), r"angular_rate must be one number; got shape \(1,\)"),
        (lambda: RotatingGaussians(n_classes=1), "n_classes must be a whole number from 2 up; got 1"),
        (lambda: MovingClass(n_classes=2.0), "n_classes must be a whole number from 2 up; got 2.0"),
        (lambda: DriftingFeatures(rates=()), r"rates must be numbers of shape \(any\); got shape \(0,\)"),
        (lambda: DriftingFeatures(rates=[[1.0], [1.0, 2.0]]), "rates must be an array of numbers"),
        (lambda: GaussianClasses([1.0, 2.0]), r"means must be numbers of shape \(any, any\); got shape \(2,\)"),
        (lambda: GaussianClasses(np.eye(2), deviations=0.0), "deviations must be positive: one number, one for each"),
        (lambda: GaussianClasses(np.eye(2), deviations=[1, 2, 3]), "for each of the 2 features"),
        (lambda: GaussianClasses(np.eye(2), probabilities=[0.5, 0.6]), "must not be negative and must sum to 1"),
        (lambda: GaussianClasses(np.eye(2), probabilities=[1.5, -0.5]), "must not be negative and must sum to 1"),
        (
            lambda: GaussianClasses(np.eye(2), probabilities=[1.0]),
            r"probabilities must be numbers of shape \(2\); got shape \(1,\)",
        ),
        (lambda: GaussianClasses.on_circle(0), "n_classes must be a whole number from 2 up; got 0"),
        (lambda: GaussianClasses.on_circle(2, turn=None), "turn must be finite numbers; got None"),
    ],
)
def test_parameters_that_cannot_work_are_refused(make, message):
    with pytest.raises(ConfigError, match=message):
        make()


PINNED = {
    "rotating": (
        [[-4.935981901191267, 2.6941984093643225], [-3.505133581987473, -2.3016279591250024]],
        [1, 0, 1, 1, 0, 0, 0],
    ),
    "rotating, 5 classes": (
        [[-2.142281857956659, 6.4766177737966455], [-3.1804688256432736, 0.14909621466315248]],
        [3, 0, 2, 3, 1, 1, 1],
    ),
    "moving": (
        [[-0.9361050651516041, 2.662808976216658], [4.288339632065698, -2.6253729748974197]],
        [1, 0, 1, 1, 0, 0, 0],
    ),
    "moving, 4 classes": (
        [[-2.936105065151606, -0.8012926389210957], [4.428475518097244, -1.5758735600817046]],
        [3, 0, 2, 2, 0, 0, 1],
    ),
    "features": (
        [[-3.7645321898977944, 0.6648099758832404], [1.3690851307658356, 1.9980270651967933]],
        [1, 0, 1, 1, 0, 0, 0],
    ),
    "features, 3 classes": (
        [[-2.512206867926982, 4.295802138072108], [5.042307471086255, -1.551291523762294]],
        [2, 0, 1, 2, 0, 0, 0],
    ),
    "standing": (
        [[-0.6619262394717741, 4.765780568174414], [1.5740096734623272, -3.5032585888575642]],
        [0, 0, 0, 0, 0, 0, 0],
    ),
    "abrupt": (
        [[-4.9361050651516045, 2.6628089762166582], [-3.5715244819027556, -1.5758735600817042]],
        [1, 0, 1, 1, 0, 0, 0],
    ),
    "abrupt, 4 classes": (
        [[-0.9361050651516049, -1.3371910237833422], [0.42847551809724366, -5.575873560081705]],
        [3, 0, 2, 2, 0, 0, 1],
    ),
    "gradual": (
        [[-4.9361050651516045, 2.6628089762166582], [-3.5715244819027556, -1.5758735600817042]],
        [1, 0, 1, 1, 0, 0, 0],
    ),
    "gradual, 3 classes": (
        [[-4.9361050651516045, 2.6628089762166582], [-1.5715244819027547, 1.8882280550560502]],
        [2, 0, 1, 2, 0, 0, 0],
    ),
    "recurring": (
        [[-4.9361050651516045, 2.6628089762166582], [4.428475518097244, -1.5758735600817046]],
        [1, 0, 1, 1, 0, 0, 0],
    ),
    "recurring, 3 classes": (
        [[-2.936105065151606, -0.8012926389210957], [-1.5715244819027574, -5.039975175219459]],
        [2, 0, 1, 2, 0, 0, 0],
    ),
    "reoccurring": (
        [[-2.936105065151606, -0.8012926389210957], [4.428475518097244, -1.5758735600817046]],
        [2, 0, 1, 2, 0, 0, 0],
    ),
    "reoccurring, drifting": (
        [[3.063771770888059, 2.6314195430689944], [-0.2972788809460556, 2.3577355400030124]],
        [1, 0, 1, 1, 0, 0, 0],
    ),
}


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_a_seed_gives_the_same_stream_on_every_machine(kind):
    """To 1e-12, not to the bit: the last bits of cos, sin and log are up to the machine's mathematical library.

    The rows are the first, and one of the second block.
    """
    X, y = EVERY_KIND[kind].sample(5000, seed=7)
    rows, labels = PINNED[kind]
    assert y[[0, 1, 2, 4996, 4997, 4998, 4999]].tolist() == labels
    assert np.allclose(X[[0, 4999], :2], rows, rtol=1e-12, atol=1e-12)
