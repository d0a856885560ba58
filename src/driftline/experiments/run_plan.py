"""The runs of an experiment at a level: scales are chosen first, then the methods are run with them."""

from driftline.experiments.experiment_runs import StreamRun
from driftline.experiments.experiment_spec import ExperimentSpec, LevelSpec, MethodSpec
from driftline.experiments.run_executor import RunExecutor, RunOutcome
from driftline.registry import describe as describe_model
from driftline.streams.catalogue import describe

Outcomes = dict[str, RunOutcome]
"""Outcomes by the keys of their runs."""


class RunPlan:
    """The runs of an experiment on streams of the catalogue."""

    def __init__(self, experiment: ExperimentSpec, level: LevelSpec) -> None:
        self.level = level
        self._name = experiment.name
        self._is_course = experiment.kind == "course"
        self._methods = {method.row: method for method in experiment.methods}

    def outcomes(self, executor: RunExecutor) -> tuple[Outcomes, Outcomes]:
        """Return the outcomes of the runs that choose scales, and of the other runs."""
        chosen: Outcomes = {}
        evaluated: Outcomes = {}
        smallest_first = sorted(self.level.streams, key=lambda stream: describe(stream).rows)
        with executor.progress_bar(self._name, self._n_runs()) as bar:
            for stream in smallest_first:
                chosen |= executor.outcomes(self._name, self.scale_runs(stream), bar)
                evaluated |= executor.outcomes(self._name, self._method_runs(stream, chosen), bar)
        return chosen, evaluated

    def _n_runs(self) -> int:
        """Return the number of runs, which does not depend on the scales that are chosen."""
        total = 0
        for stream in self.level.streams:
            any_scale = {run.key: RunOutcome(run, {"scale": 1.0}) for run in self.scale_runs(stream)}
            total += len(any_scale) + len({run.key for run in self._method_runs(stream, any_scale)})
        return total

    def scale_runs(self, stream: str) -> list[StreamRun]:
        """Return the runs that choose scales; those of AMRC are the last rows and take longest, so they come first."""
        tuned = [method for method in self._methods.values() if method.tuned is not None]
        return [self._scale_run(method, stream) for method in reversed(tuned)]

    def _method_runs(self, stream: str, chosen: Outcomes) -> list[StreamRun]:
        return [run for method in reversed(self._methods.values()) for run in self.runs(method, stream, chosen)]

    def _scale_run(self, method: MethodSpec, stream: str) -> StreamRun:
        n_rows = min(method.tuning_rows or self.level.tuning_rows, self.level.tuning_rows)
        parameters = method.parameters | (method.tuned or {})
        return StreamRun("scale", method.model, stream, parameters, n_rows, _ranges(method, stream))

    def scale_outcome(self, method: MethodSpec, stream: str, chosen: Outcomes) -> RunOutcome | None:
        """Return the outcome of the run that chooses the scale of a method; None if the method has no scale."""
        source = self._methods[method.tuned_as] if method.tuned_as else method
        return None if source.tuned is None else chosen[self._scale_run(source, stream).key]

    def runs(self, method: MethodSpec, stream: str, chosen: Outcomes) -> list[StreamRun]:
        """Return the runs of a method on a stream, one for each seed; none if its scale could not be chosen."""
        scale = self.scale_outcome(method, stream, chosen)
        if scale is not None and scale.result is None:
            return []
        parameters = method.parameters | (
            {} if scale is None or scale.result is None else {"scale": scale.result["scale"]}
        )
        seeded = "random_state" in describe_model(method.model).parameters
        return [
            StreamRun(
                "course" if self._is_course else "timing" if method.measure == "milliseconds" else "evaluation",
                method.model,
                stream,
                parameters | ({"random_state": seed} if seeded else {}),
                self._n_rows(method, stream),
                _ranges(method, stream),
            )
            for seed in range(1 if stream in method.one_seed else method.seeds)
        ]

    def _n_rows(self, method: MethodSpec, stream: str) -> int | None:
        """Return the number of rows; None for all, so that levels which run all rows of a stream share the result."""
        n_rows = None if method.row in self.level.all_rows.get(stream, ()) else self.level.rows
        return None if n_rows is None or n_rows >= describe(stream).rows else n_rows


def _ranges(method: MethodSpec, stream: str) -> str | None:
    """Return how a stream is scaled for a method: the `ranges` of a `StreamRun`."""
    if method.ours:
        return None
    return "array" if stream in method.one_range else "column"
