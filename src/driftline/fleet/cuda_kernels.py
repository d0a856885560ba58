"""The kernels of a fleet on a GPU: compiled for its streams, and launched for rows whose data are on the GPU."""

from typing import Any, NamedTuple

import numpy as np

from driftline.errors import ConfigError, MissingExtraError
from driftline.kernels.descent import ROWS_PER_STEP, STEPS_PER_LABEL

ROWS_PER_LAUNCH = 1 << 20
"""Intermediate results are kept for so many rows."""
THREADS, MAX_THREADS = 128, 1024
"""Usual number of threads of a block, and the largest."""
GROWING_BLOCKS = 5
"""Blocks for each multiprocessor that grow trees, while other kernels run."""
WARP, TEAM = 32, 8
"""Threads of a warp, and those that share the sums over a stream for its thresholds and bounds."""
BLOCK_BYTES = 48 << 10
"""Shared memory of a block whose size is known when it is compiled."""


class FleetShape(NamedTuple):
    """What the streams of a fleet have in common, for their kernels."""

    source: str
    """The source of the kernels."""
    n_bytes: int
    """Number of bytes of a stream."""
    n_columns: int
    n_classes: int
    ages: Any
    """(members of all spaces, quantiles): what the draws of each member are taken from."""
    directions: Any
    """(directions, columns): of the Fourier features; there may be none."""
    n_trees: int
    """Number of trees of both forests together; 0 if there are none."""
    row_features: int
    """Number of features of a row: linear ones, those of Fourier, and those that the trees give."""
    store_rows: list[int]
    """Stored rows of each space."""
    n_features: list[int]
    """Number of features of each space."""
    n_members: list[int]
    """Number of members of each space."""


def cuda_arrays() -> Any:
    """Return the module CuPy; raise an error that says what is missing if there is no CuPy, or no GPU for it."""
    try:
        import cupy  # noqa: PLC0415  # only where it is used
    except ImportError as error:
        raise MissingExtraError(f"device='cuda' needs CuPy ({error}); pip install 'driftline[gpu]'") from error
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise ConfigError(f"device='cuda' needs an NVIDIA GPU and its driver: {error}; give device='cpu'") from error
    if n_devices == 0:
        raise ConfigError("device='cuda' needs an NVIDIA GPU, and this machine has none; give device='cpu'")
    return cupy


class CudaKernels:
    """The kernels for the streams of a fleet.

    Parameters
    ----------
    shape : FleetShape
        What the streams have in common.
    """

    def __init__(self, shape: FleetShape) -> None:
        self.cupy = cupy = cuda_arrays()
        self._shape = shape
        for n_rows, n in zip(shape.store_rows, shape.n_features, strict=True):
            self._check_block(4 * n_rows * n, "members", "learn")  # compiling what is too large takes a minute
        names = ("store_rows", "predict_rows", "draw_rows", "learn_space", "set_warp_bytes")
        spaces = range(len(shape.n_members))
        expressions = [f"{name}<{s}>" for name in names for s in spaces]
        module = cupy.RawModule(
            code=shape.source, options=("--std=c++20", "--fmad=false"), name_expressions=expressions
        )
        self._store, self._predict, self._draw, self._learn, self._size = (
            [module.get_function(f"{name}<{s}>") for s in spaces] for name in names
        )
        self._find, self._prepare, self._track = map(
            module.get_function, ("find_streams", "prepare_columns", "track_columns")
        )
        self._state, self._count, self._set_thresholds, self._calibrate = map(
            module.get_function, ("state_rows", "count_rows", "set_thresholds", "calibrate_bounds")
        )
        self._rows_of_blocks = self._numbers_of([module.get_function("set_staged_lanes")], 2)
        self._ages, self._directions = cupy.asarray(shape.ages), cupy.asarray(shape.directions)
        if len(shape.directions):
            self._fourier = module.get_function("set_fourier_features")
        of_warps = self._numbers_of(self._size, len(spaces))
        self._warps = [
            self._warps_of(learn, of_warp, "members", "learn")
            for learn, of_warp in zip(self._learn, of_warps, strict=True)
        ]
        if shape.n_trees:
            self._prepare_forests(module)
        self._memory: dict[str, Any] = {}

    def _prepare_forests(self, module: Any) -> None:
        """Set what is needed to launch the kernels of the trees."""
        self._walk, self._grow, sizes = map(module.get_function, ("walk_trees", "grow_trees", "set_forest_bytes"))
        of_warp, self._walk_bytes = self._numbers_of([sizes], 2)
        self._walk.max_dynamic_shared_size_bytes = THREADS // self._shape.n_trees * self._walk_bytes
        self._growing = self._warps_of(self._grow, of_warp, "trees", "grow")
        self._growing_stream = self.cupy.cuda.Stream(non_blocking=True)
        self._n_multiprocessors = self.cupy.cuda.Device().attributes["MultiProcessorCount"]

    def _numbers_of(self, kernels: list[Any], n: int) -> list[int]:
        """Return the n numbers that some kernels set."""
        numbers = self.cupy.zeros(n, np.int64)
        for kernel in kernels:
            kernel((1,), (1,), (numbers,))
        return list(numbers.tolist())

    def _warps_of(self, kernel: Any, of_warp: int, parts: str, verb: str) -> tuple[int, int]:
        """Return the number of warps of a block of a kernel and the bytes of the block, with so many of each warp."""
        most = self._check_block(of_warp, parts, verb)
        n_warps = max(1, min(THREADS // WARP, most // of_warp))
        kernel.max_dynamic_shared_size_bytes = n_warps * of_warp
        return n_warps, n_warps * of_warp

    def _check_block(self, n_bytes: int, parts: str, verb: str) -> int:
        """Return the largest shared memory of a block; raise an error if so much does not fit into it."""
        most = int(self.cupy.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"])
        if n_bytes > most:
            raise ConfigError(
                f"the {parts} of a model need {n_bytes} bytes or more while they {verb}, and a block of this GPU has "
                f"{most}; give fewer columns or classes, or device='cpu'"
            )
        return most

    def _scratch(self, n: int) -> dict[str, Any]:
        """Return memory for intermediate results of n rows."""
        cupy, shape = self.cupy, self._shape
        if not self._memory or len(self._memory["cuts"]) < n:
            self._memory = {}  # the old memory is free before more is taken
            n_members = sum(shape.n_members)
            self._memory = {
                "stream_rows": cupy.empty((n, 2), np.uint64),
                "features": cupy.empty((n, shape.row_features), np.float32),
                "due": cupy.empty(n + 1, np.int32),
                "members": cupy.empty((n, n_members, shape.n_classes), np.float64),
                "cuts": cupy.empty((n, n_members), np.uint8),
                "drawn": [
                    cupy.empty((n, m, STEPS_PER_LABEL, ROWS_PER_STEP), np.uint8 if n_rows <= 256 else np.uint16)
                    for m, n_rows in zip(shape.n_members, shape.store_rows, strict=True)
                ],
            }
        return self._memory

    def advance(self, buffers: Any, slots: Any, rows: Any, X: Any, labels: Any, results: list[Any]) -> None:
        """Set the results of rows, and learn the rows if there are labels; all arrays are on the GPU.

        Parameters
        ----------
        buffers : array of uint64
            Where each buffer of streams begins.
        slots, rows : array
            The slot of each row, all different, and its number in X, labels and the results.
        X : array of shape (n_samples, n_columns)
            All rows.
        labels : array or None
            The positions of their classes.
        results : list of array
            The mixture, the bounds and the statements, as `driftline.kernels.fleet.learn_streams` sets them.
        """
        for start in range(0, len(slots), ROWS_PER_LAUNCH):
            part = slots[start : start + ROWS_PER_LAUNCH], rows[start : start + ROWS_PER_LAUNCH]
            self._advance_part(buffers, *part, X, labels, results)

    def _advance_part(self, buffers: Any, slots: Any, rows: Any, X: Any, labels: Any, results: list[Any]) -> None:
        """Do the same for so few rows that there is memory for their intermediate results."""
        shape, learns, n = self._shape, labels is not None, len(slots)
        labels = rows if labels is None else labels  # not read
        scratch = self._scratch(n)
        common = np.int32(n), scratch["stream_rows"]
        features, members, cuts = (scratch[name] for name in ("features", "members", "cuts"))
        by_row = (-(-n // THREADS),), (THREADS,)
        self._find(*by_row, (common[0], buffers, slots, rows, labels, learns, common[1]))
        _launch(self._prepare, n, shape.n_columns, (*common, X, features, learns))
        if len(self._directions):
            _launch(self._fourier, n, len(self._directions), (np.int32(n), self._directions, features))
        if shape.n_trees:
            self._advance_forests(common, X, features, scratch["due"], learns)
        if learns:
            _launch(self._track, n, shape.n_columns, (*common, X))
        for s, drawn in enumerate(scratch["drawn"]):
            if learns:
                _launch(self._store[s], n, shape.n_features[s], (*common, features))
            grid = (-(-n * shape.n_members[s] // THREADS),)
            self._predict[s](grid, (THREADS,), (*common, features, members))
            if learns:
                self._draw[s](*by_row, (*common, features, self._ages, members, drawn, cuts))
                n_warps, n_bytes = self._warps[s]
                grid, block = (-(-n // n_warps),), (n_warps * WARP,)
                self._learn[s](grid, block, (*common, drawn, cuts), shared_mem=n_bytes)
        h, bounds, predicted, *others = results
        state_grid, count_grid, team_grid = ((-(-n // k),) for k in (*self._rows_of_blocks, WARP // TEAM))
        self._state(state_grid, (WARP,), (*common, members, h, predicted, *others, learns))
        if learns:
            self._count(count_grid, (WARP,), (*common, predicted))
            self._set_thresholds(team_grid, (WARP,), (*common, predicted))
        self._calibrate(team_grid, (WARP,), (*common, h, bounds, learns))
        if learns and shape.n_trees:
            self.cupy.cuda.get_current_stream().wait_event(self._growing_stream.record())

    def _advance_forests(self, common: Any, X: Any, features: Any, due: Any, learns: bool) -> None:
        """Set the features that the trees give rows, and let the trees learn the rows if there are labels."""
        n, stream_rows = common
        n_due, due = due[:1], due[1:]
        n_due.fill(0)
        arguments = (*common, X, features, n_due, due, learns)
        _launch(self._walk, int(n), self._shape.n_trees, arguments, self._walk_bytes)
        if learns:
            n_warps, n_bytes = self._growing
            n_blocks = min(-(-int(n) // n_warps), GROWING_BLOCKS * self._n_multiprocessors)
            self._growing_stream.wait_event(self.cupy.cuda.get_current_stream().record())
            with self._growing_stream:
                self._grow((n_blocks,), (n_warps * WARP,), (stream_rows, n_due, due), shared_mem=n_bytes)


def _launch(kernel: Any, n: int, n_parts: int, arguments: tuple[Any, ...], n_bytes: int = 0) -> None:
    """Launch a kernel with a thread for each part of each of n rows; the threads of a row are in one block.

    `n_bytes` is how much shared memory each row has.
    """
    if n_parts > MAX_THREADS:
        raise ConfigError(f"a fleet on a GPU has at most {MAX_THREADS - 1} columns; give device='cpu'")
    per_block = max(1, THREADS // n_parts)
    kernel((-(-n // per_block),), (per_block * n_parts,), arguments, shared_mem=per_block * n_bytes)
