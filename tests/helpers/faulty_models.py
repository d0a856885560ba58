"""Online classifiers with one fault each, and the check that must find it."""

import numpy as np
from sklearn.utils.validation import validate_data

from helpers.centroid_classifiers import Centroids, JoiningCentroids


class CountsQuestions(Centroids):
    def predict(self, X):
        self.n_asked = getattr(self, "n_asked", 0) + 1
        return super().predict(X)


class LearnsFromQuestions(Centroids):
    def distances(self, X):
        apart = super().distances(X)
        self._means += 0.01 * (np.mean(X, axis=0) - self._means)
        return apart


class Shuffles(Centroids):
    def read(self, X, y, first):
        X, y = super().read(X, y, first)
        order = np.random.default_rng(0).permutation(len(X))
        return X[order], y[order]


class AveragesBatches(Centroids):
    def read(self, X, y, first):
        X, y = super().read(X, y, first)
        labels = np.unique(y)
        return np.array([X[y == label].mean(axis=0) for label in labels]), labels


class KeepsAllRows(Centroids):
    def learn(self, x, label):
        super().learn(x, label)
        self.rows = [*getattr(self, "rows", []), x.tobytes()]


class SavesNoCounts(Centroids):
    @classmethod
    def load(cls, path):
        model = super().load(path)
        model._counts[:] = 1
        return model


class LoadsDefaults(Centroids):
    @classmethod
    def load(cls, path):
        model = super().load(path)
        return model.set_params(gain=0.5)


class CopiesShareMeans(Centroids):
    def __deepcopy__(self, memo):
        twin = type(self)(self.gain)
        vars(twin).update(vars(self))
        return twin


class ClonesShareMeans(Centroids):
    def __sklearn_clone__(self):
        return self


class SharesACache(Centroids):
    counted = {}  # noqa: RUF012  # what is wrong with it

    def learn(self, x, label):
        key = label, hash(x.tobytes())
        self.counted[key] = self.counted.get(key, 0) + 1
        super().learn(x * self.counted[key], label)


class UsesGlobalNumbers(Centroids):
    def learn(self, x, label):
        super().learn(x + 1e-9 * np.random.random(), label)  # noqa: NPY002  # what is wrong with it


class IgnoresItsSeed(Centroids):
    def __init__(self, gain=0.2, random_state=None):
        super().__init__(gain)
        self.random_state = random_state

    def learn(self, x, label):
        super().learn(x + np.random.default_rng().normal(size=x.shape), label)


class KeepsViews(Centroids):
    def read(self, X, y, first):
        X, y = super().read(X, y, first)
        self.latest = X
        return X, y

    def distances(self, X):
        return super().distances(X + 1e-3 * self.latest.sum())


class AnswersInText(Centroids):
    def predict(self, X):
        return super().predict(X).astype(str)


class NeedsTwoClasses(Centroids):
    def distances(self, X):
        apart = super().distances(X)
        return apart / np.sort(apart, axis=1)[:, 1:2]


class KnowsTenClasses(Centroids):
    def predict_proba(self, X):
        return super().predict_proba(X)[:, :10]


class ForgetsToAddClasses(Centroids):
    def partial_fit(self, X, y, classes=None):
        known = getattr(self, "classes_", y if classes is None else classes)
        kept = np.isin(y, known)
        return super().partial_fit(X[kept], y[kept], classes) if kept.any() else self


class RefusesNewClasses(JoiningCentroids):
    def join(self, label):
        if len(self.classes_) == 2 and label not in self.classes_.tolist():
            raise ValueError("there are two classes already")
        super().join(label)


class NeverNamesNewClasses(JoiningCentroids):
    def distances(self, X):
        apart = super().distances(X)
        apart[:, 2:] += 1e6
        return apart


class LosesLabels(Centroids):
    def read(self, X, y, first):
        n = min(len(X), len(y))
        return super().read(X[:n], y[:n], first)


class DividesByDeviations(Centroids):
    def distances(self, X):
        apart = super().distances(X)
        return apart / self._means.std(axis=0).max() if self._counts.all() else apart


class NormalisesRows(Centroids):
    def distances(self, X):
        X = validate_data(self, X, reset=False)
        return super().distances(X) / (
            np.linalg.norm(X, axis=1, keepdims=True) / (1 + np.linalg.norm(X, axis=1)[:, None])
        )


class ScalesByTheLatestStep(Centroids):
    def learn(self, x, label):
        self.step = np.abs(x - getattr(self, "latest", x + 1)).max()
        self.latest = x.copy()
        super().learn(x, label)

    def predict_proba(self, X):
        h = super().predict_proba(X)
        return h * self.step / self.step if self.step > 0 else np.full_like(h, np.nan)


class NeedsTwoColumns(Centroids):
    def distances(self, X):
        return super().distances(X) + 0 * np.asarray(X)[:, 1:2]


class OverflowsQuietly(Centroids):
    def predict_proba(self, X):
        h = np.exp(-self.distances(X))
        return h / h.sum(axis=1, keepdims=True)


class LearnsUntilItMeetsTrouble(Centroids):
    def read(self, X, y, first):
        bad = np.flatnonzero(~np.isfinite(X).all(axis=1))
        if bad.size and not first:
            for x, label in zip(X[: bad[0]], y[: bad[0]], strict=True):
                self.learn(x, label)
        return super().read(X, y, first)


class TakesAnyNumber(Centroids):
    def read(self, X, y, first):
        if first:
            return super().read(X, y, first)
        return np.nan_to_num(X, posinf=1e9, neginf=-1e9), y


class FillsFromTheFirstRow(Centroids):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def read(self, X, y, first):
        X, y = validate_data(self, X, y, reset=first, ensure_all_finite="allow-nan")
        if first:
            self.filling = X[0].copy()
        return np.where(np.isnan(X), self.filling, X), y

    def distances(self, X):
        X = validate_data(self, X, reset=False, ensure_all_finite="allow-nan")
        return super().distances(np.where(np.isnan(X), self.filling, X))


class CutsColumns(Centroids):
    def read(self, X, y, first):
        return super().read(X if first else X[:, : self.n_features_in_], y, first)

    def distances(self, X):
        return super().distances(X[:, : self.n_features_in_])


class TakesNoRowsForAnAnswer(Centroids):
    def partial_fit(self, X, y, classes=None):
        return super().partial_fit(X, y, classes) if len(X) else self


class NeverLearns(Centroids):
    def predict_proba(self, X):
        return super().predict_proba(X)[:, ::-1]


class PeeksAtTheLabel(JoiningCentroids):
    def prequential(self, X, y, classes=None, timestamps=None):
        self.partial_fit(X, y)
        return self.assess(X, y)


class AssessesOtherwise(JoiningCentroids):
    def assess(self, X, y, classes=None, asked=0):
        assessed = super().assess(X, y)
        if asked == 0 and hasattr(self, "classes_"):
            assessed.predicted[:] = self.classes_[0]
        return assessed


class TakesNoteOfQuestions(JoiningCentroids):
    def assess(self, X, y, classes=None, asked=0):
        if hasattr(self, "classes_"):
            self.learn(X[0], self.predict(X)[0])
        return super().assess(X, y)


BROKEN = {
    CountsQuestions: "prediction_changes_nothing",
    LearnsFromQuestions: "prediction_changes_nothing",
    Shuffles: "grouping_into_batches_changes_nothing",
    AveragesBatches: "grouping_into_batches_changes_nothing",
    KeepsAllRows: "memory_is_bounded",
    SavesNoCounts: "saved_models_continue_identically",
    LoadsDefaults: "saved_models_continue_identically",
    CopiesShareMeans: "copies_are_independent",
    ClonesShareMeans: "copies_are_independent",
    SharesACache: "same_rows_give_same_model",
    IgnoresItsSeed: "same_rows_give_same_model",
    UsesGlobalNumbers: "global_random_state_is_unchanged",
    KeepsViews: "input_arrays_are_not_changed",
    AnswersInText: "labels_may_have_any_type",
    NeedsTwoClasses: "one_class_is_enough",
    KnowsTenClasses: "many_classes_are_supported",
    ForgetsToAddClasses: "unannounced_class_is_added_or_refused",
    RefusesNewClasses: "unannounced_class_is_added",
    NeverNamesNewClasses: "unannounced_class_is_added",
    LosesLabels: "wrong_number_of_labels_is_refused",
    DividesByDeviations: "constant_columns_do_no_harm",
    NormalisesRows: "rows_of_zeros_do_no_harm",
    ScalesByTheLatestStep: "repeated_rows_do_no_harm",
    NeedsTwoColumns: "one_column_is_enough",
    OverflowsQuietly: "scales_do_no_harm",
    FillsFromTheFirstRow: "missing_values_are_learned_and_predicted",
    LearnsUntilItMeetsTrouble: "missing_values_are_refused",
    TakesAnyNumber: "infinities_are_refused",
    CutsColumns: "wrong_number_of_columns_is_refused",
    TakesNoRowsForAnAnswer: "empty_batches_are_refused",
    NeverLearns: "easy_classes_are_learned",
    PeeksAtTheLabel: "prequential_matches_manual_loop",
    AssessesOtherwise: "evaluation_matches_manual_loop",
    TakesNoteOfQuestions: "evaluation_with_late_labels_matches_manual_loop",
}
"""The faulty classifiers, and the check that must find the fault of each."""
