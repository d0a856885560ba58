"""Base class of the classifiers for what concerns their state: files, pickles, copies, and access by threads."""

import os
import threading
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from driftline.core.checkpoint import MAX_BYTES, ModelFile, check_size, opened_checkpoint, write_checkpoint
from driftline.core.class_list import ClassList
from driftline.core.model_content import ModelContent
from driftline.core.protocols import Learner
from driftline.core.state import copy_with, independent_copy
from driftline.errors import CheckpointError, ConfigError
from driftline.types import LabelArray, Matrix
from driftline.utils.validation import checked_notes

READER_WAIT = 0.001
"""Seconds after which a thread that waits for a copy of the model looks whether another thread has made one."""
UNSAVED = ("_shared",)
"""Attributes that are neither pickled nor copied."""


class Access:
    """How threads share a model: the lock of those that learn, and the copy of the model for those that only read."""

    __slots__ = ("copy", "holder", "is_awaited", "is_stale", "lock", "n_copies")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.copy: Any = None
        """A copy of the model that nothing changes."""
        self.is_stale = True
        """Whether the model has changed since the copy was made."""
        self.is_awaited = False
        """Whether a thread waits for a copy; then the thread that learns makes one when it has learned a batch."""
        self.n_copies = 0
        self.holder: int | None = None
        """The thread within `exclusive`, which reads the model itself."""


class SavedClassifier(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier whose models can be saved, copied and read by several threads."""

    n_features_in_: int
    feature_names_in_: LabelArray
    _classes: ClassList
    _parameters: dict[str, Any]
    _seed: int
    _last_time: float | None
    _n_first_columns: int
    _learner: Learner
    """The learner, which only a thread that holds `_lock` may use."""
    _also_reads: "tuple[type[SavedClassifier], ...]" = ()
    """Other classes whose files `load` reads."""
    _plan_version = 1
    """Version of the plan that says which members a model has; a loaded model keeps that of its file."""

    @abstractmethod
    def _checked_parameters(self) -> dict[str, Any]:
        """Return the parameters as plain Python values; raise ConfigError if one is invalid."""

    @abstractmethod
    def _assemble(self, parameters: Mapping[str, Any], rows: Matrix, seed: int) -> Learner:
        """Return a new learner, without classes, for a stream whose first block is `rows`."""

    def _n_bytes(self, parameters: Mapping[str, Any], n_columns: int, n_classes: int) -> int:
        """Return about how much memory a learner takes: files of models that take too much are not loaded."""
        return 0

    def _widen(self, n: int) -> None:
        """Add n columns to the learner."""
        raise ConfigError(f"{type(self).__name__} cannot add columns to those of the first call")

    def _replace_learner(self, learner: Learner, **attributes: Any) -> None:
        """Set the learner and the attributes that belong to it, all at once; the lock must be held."""
        self.__dict__.update(attributes, _learner=learner)
        self._mark_changed()

    def _mark_changed(self) -> None:
        """Let readers make a new copy of the model, or make it if one of them waits for it; the lock must be held."""
        self._access.is_stale = True
        if self._access.is_awaited:
            with suppress(MemoryError):  # the rows are learned; the reader will try again
                self._copy_for_readers()

    def _copy_for_readers(self) -> None:
        """Make a copy of the model that nothing changes; the lock must be held."""
        access = self._access
        access.copy = copy_with(self, _learner=self._learner.snapshot(), _shared=Access())
        access.is_stale = access.is_awaited = False
        access.n_copies += 1

    def _wait_for_copy(self) -> None:
        """Wait for a copy of the model that has all rows learned before this call; make it if no thread learns.

        A copy costs more than many a prediction, so none is made for rows that nobody asks about in between.
        """
        access = self._access
        n_before = access.n_copies
        while access.n_copies == n_before:
            access.is_awaited = True
            if access.lock.acquire(timeout=READER_WAIT):
                try:
                    if access.is_stale:
                        self._copy_for_readers()
                    return
                finally:
                    access.lock.release()

    @contextmanager
    def exclusive(self) -> Iterator[Self]:
        """Let this thread alone change the model within a ``with`` block, in which its own reads need no copy of it.

        Use it in a program with several threads where one thread predicts and learns in turn. Other threads that learn
        wait until the block ends, and those that read may wait for a copy.

        Examples
        --------
        >>> from driftline import AMRC
        >>> model = AMRC(features="linear").partial_fit([[0.0], [1.0]], ["no", "yes"])
        >>> with model.exclusive():
        ...     label = model.predict([[0.9]])[0]
        ...     model = model.partial_fit([[0.9]], ["yes"])
        >>> str(label)
        'yes'
        """
        with self._lock:
            access, before = self._access, self._access.holder
            access.holder = threading.get_ident()
            try:
                yield self
            finally:
                access.holder = before

    @property
    def _access(self) -> "Access":
        # Not made in __init__: scikit-learn allows nothing but parameters there.
        access: Access | None = self.__dict__.get("_shared")
        return self.__dict__.setdefault("_shared", Access()) if access is None else access

    @property
    def _lock(self) -> Any:  # the type of a reentrant lock has no public name
        """The lock of the threads that learn."""
        return self._access.lock

    def save(self, path: str | os.PathLike[str], notes: Mapping[str, Any] | None = None) -> None:
        """Write the model to one file, atomically.

        Parameters
        ----------
        path : path-like
            The file. An existing file is replaced only when the new one is complete.
        notes : mapping, optional
            JSON values to save with the model, such as the source of its rows. After `load` they are the attribute
            `notes_`. By default, the existing `notes_` are saved, if there are any.
        """
        check_is_fitted(self)
        known_notes = checked_notes(getattr(self, "notes_", {}) if notes is None else notes)
        with self._lock:
            content = ModelContent(
                estimator=type(self).__name__,
                parameters=self._plain_parameters(),
                classes=self._classes,
                n_columns=self.n_features_in_,
                n_first_columns=self._n_first_columns,
                column_names=list(getattr(self, "feature_names_in_", [])),
                seed=self._seed,
                plan_version=self._plan_version,
                last_time=self._last_time,
                notes=known_notes,
            )
            arrays = {name: array.copy() for name, array in self._learner.state().items()}
        write_checkpoint(path, content.to_json(), arrays)  # without the lock, so that others can learn meanwhile

    def _plain_parameters(self) -> dict[str, Any]:
        """Return the parameters as JSON values."""
        state = self._parameters.get("random_state")
        if "random_state" not in self._parameters or isinstance(state, int):
            return self._parameters
        # A RandomState has changed since it was used; the seed drawn from it is saved separately.
        return self._parameters | {"random_state": int(state) if isinstance(state, np.integer) else None}

    @classmethod
    def _parameters_from_plain(cls, plain: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters from what `_plain_parameters` returned; raise ConfigError if that is not possible."""
        return plain

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> "SavedClassifier":
        """Read a model that `save` wrote; it continues as if it had never stopped.

        Everything in the file is checked before it is used, so files from strangers can be loaded.

        Parameters
        ----------
        path : path-like
            A file written by `save`.
        max_bytes : int, default=2**30
            Largest size of the model in memory. A file that would take more is refused before its arrays are read.

        Returns
        -------
        SavedClassifier
            The model, an instance of the class that was saved.
        """
        with opened_checkpoint(path, max_bytes) as file:
            return cls._restored(file, ModelContent.from_json(file.content), {})

    @classmethod
    def _restored(cls, file: ModelFile, content: ModelContent, overrides: Mapping[str, Any]) -> "SavedClassifier":
        """Return the model of a model file, with some parameters overridden; raise CheckpointError if it is invalid."""
        model = cls._kind(content.estimator)._without_state(content, overrides, file.max_bytes)
        schema = model._learner.schema()
        if "features" not in overrides:
            arrays = file.read_arrays(schema)
        else:
            try:
                arrays = file.read_arrays(schema, ignored_part="features")
            except CheckpointError as error:
                raise CheckpointError(*error.args, "; load it with the feature map that it was trained with") from error
        model._learner.restore(arrays)
        model._replace_learner(model._learner)
        return model

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes to pickle or copy: an independent copy of the learner, and no lock."""
        with self._lock:
            state = {name: value for name, value in vars(self).items() if name not in UNSAVED}
            if "_learner" in state:
                state["_learner"] = independent_copy(self._learner)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Continue from what `__getstate__` returned.

        Parameters
        ----------
        state : dict
            The attributes.
        """
        super().__setstate__(state)
        if "_learner" in state:
            self._replace_learner(self._learner)

    @classmethod
    def _without_state(cls, content: ModelContent, overrides: Mapping[str, Any], max_bytes: int) -> Self:
        """Return a model with the parameters, classes and columns of a file, which has learned nothing."""
        try:
            model = cls(**{**cls._parameters_from_plain(content.parameters), **overrides})
            model._parameters = model._checked_parameters()
        except (TypeError, ValueError, OverflowError) as error:  # ConfigError is a ValueError
            raise CheckpointError(f"its parameters are not those of {cls.__name__}: ", error) from error
        if content.plan_version > cls._plan_version:
            raise CheckpointError(
                f"its 'plan' is {content.plan_version}, and this driftline knows {cls.__name__} up to "
                f"{cls._plan_version}; upgrade driftline to load it"
            )
        model._plan_version = content.plan_version
        n_first, n_classes = content.n_first_columns, len(content.classes.labels)
        check_size(model._n_bytes(model._parameters, content.n_columns, n_classes), max_bytes)
        model.n_features_in_ = model._n_first_columns = n_first
        if content.column_names:
            model.feature_names_in_ = np.array(content.column_names, dtype=object)
        model._seed, model._last_time = content.seed, content.last_time
        model.notes_ = content.notes
        model._classes = content.classes
        try:
            model._learner = model._assemble(model._parameters, np.zeros((2, n_first)), model._seed)
            model._learner.add_classes(n_classes)
            if content.n_columns > n_first:
                model._widen(content.n_columns - n_first)
        except ConfigError as error:
            raise CheckpointError("its parameters and columns do not fit: ", error) from error
        return model

    @classmethod
    def _kind(cls, name: str) -> "type[SavedClassifier]":
        """Return the class of the saved model: this class, or another class whose files it reads."""
        kinds: dict[str, type[SavedClassifier]] = {kind.__name__: kind for kind in (*cls._also_reads, cls)}
        if name not in kinds:
            raise CheckpointError(f"it contains a model of the class {name}: load it with {name}.load")
        return kinds[name]
