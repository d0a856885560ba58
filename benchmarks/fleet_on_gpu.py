"""Speed of a fleet on a GPU, and the least time that its bytes and operations need: `bench_fleet.py --device cuda`."""

import time
from statistics import median

import numpy as np

from driftline.fleet import AMRCFleet
from driftline.fleet.cuda_kernels import cuda_arrays
from driftline.fleet.device_streams import STREAMS_PER_BUFFER
from driftline.guarantees.statement_arrays import blank_statements
from driftline.kernels.descent import ROWS_PER_STEP, STEPS_PER_LABEL
from driftline.kernels.ensemble import COLUMN_FILTERS, FILTERS, FIRST_SPACE, MEMBERS, N_SPACE_ARRAYS
from driftline.kernels.filter_bank import FilterBank
from driftline.kernels.fleet import EARLY, RECENT, learn_streams
from driftline.kernels.packing import SHAPE, START, STOP

N_COLUMNS, CLASSES = 8, [0, 1]
N_KEYS, N_WARM_UP, N_TIMED, N_STEPS = (10_000, 100_000, 1_000_000), 150, 64, 5
CASES = [("linear", n) for n in N_KEYS] + [(features, n) for features in ("auto", "fourier") for n in N_KEYS[1:]]
INTEGER_OPERATIONS, DOUBLE_OPERATIONS = 12, 20
"""Fewest operations of a draw, and of a filter for a row: those that the formulas name."""
LANES, SCHEDULERS = 32, 4
COLUMNS = ("features", "keys", "bytes of a key", "ms there", "there, million rows/s", "from host", "step")

EXPLANATION = f"""# Fleets on a GPU

Light models with {N_COLUMNS} columns and two classes on one {{gpu}}; each learns one row in a call, with all that is
said of it, and has learned {N_WARM_UP} before. *there*: slots, rows and labels are on the GPU, and the results stay
there; a mean of {N_TIMED} calls by the clock of the GPU. *from host*: rows come from arrays of the host, and the
results go back. *step*: `AMRCFleet.step`, which looks up keys in Python. The last two are medians of {N_STEPS} calls.
"""


class Rows:
    """Random rows on the GPU, other ones at each call, whose labels follow a fixed rule with a tenth of mistakes."""

    def __init__(self, cupy, n):
        rng = cupy.random.default_rng(0)
        self._n, self._n_calls, self._n_more = n, 0, 300_000
        self._X = rng.standard_normal((n + self._n_more, N_COLUMNS))
        weights = cupy.asarray([1.0, -0.5, 0.8, 0.0, 0.3, 0.0, -1.0, 0.6])
        self._y = ((self._X @ weights > 0) ^ (rng.random(len(self._X)) < 0.1)).astype(np.int64)

    def next(self):
        """Return the rows and labels of the next call."""
        first = self._n_calls * 1201 % self._n_more
        self._n_calls += 1
        return self._X[first : first + self._n], self._y[first : first + self._n]


def blank_results(cupy, fleet, n):
    """Return arrays on the GPU for what is said of n rows."""
    guarantees = fleet._model._learner.tracker.guarantees
    said = [np.empty((1, len(CLASSES))), np.empty(1), *blank_statements(1, len(CLASSES), guarantees)]
    return [cupy.empty((n, *array.shape[1:]), array.dtype) for array in said]


def milliseconds(cupy, call, n_calls):
    """Return the time of a call by the clock of the GPU, a mean: what is done every 32 or 64 rows is in it."""
    start, stop = cupy.cuda.Event(), cupy.cuda.Event()
    start.record()
    for _ in range(n_calls):
        call()
    stop.record()
    stop.synchronize()
    return cupy.cuda.get_elapsed_time(start, stop) / n_calls


def new_fleet(n, features="linear"):
    """Return a fleet on the GPU with n streams that nobody has named yet, and their slots."""
    fleet = AMRCFleet(N_COLUMNS, CLASSES, features=features, start="blank", device="cuda")
    slots = np.array(fleet._streams.take(n))
    fleet._streams.put(slots, fleet._start.new_stream())
    return fleet, slots


def measured(features, n):
    """Return a line of the table: milliseconds with the data there, and millions of rows per second."""
    fleet, slots = new_fleet(n, features)
    streams, cupy = fleet._streams, fleet._streams.kernels.cupy
    rows, results = Rows(cupy, n), blank_results(cupy, fleet, n)
    on_device = cupy.asarray(slots), cupy.arange(n, dtype=np.int32)

    def advance():
        streams.kernels.advance(streams.places, *on_device, *rows.next(), results)

    for _ in range(N_WARM_UP):
        advance()
    there = milliseconds(cupy, advance, N_TIMED)
    from_host, by_step = [], []
    back = [result.get() for result in results]
    for _ in range(N_STEPS):
        X, y = (array.get() for array in rows.next())
        start = time.perf_counter()
        streams.run(learn_streams, slots, X, y, *back)
        from_host.append(1e3 * (time.perf_counter() - start))
    fleet._slots.update(enumerate(slots.tolist()))
    for _ in range(N_STEPS):
        X, y = (array.get() for array in rows.next())
        start = time.perf_counter()
        fleet.step(X, y, np.arange(n))
        by_step.append(1e3 * (time.perf_counter() - start))
    speeds = (n / (1e3 * ms) for ms in (there, median(from_host), median(by_step)))
    n_bytes = streams.n_bytes // len(streams.places) // STREAMS_PER_BUFFER
    return features, f"{n:,}", f"{n_bytes:,}", f"{there:.2f}", *(f"{speed:.2f}" for speed in speeds)


def bytes_of_row(fleet):
    """Return the fewest bytes that a row reads and writes in the memory of the GPU.

    All of a stream is read but early and recent values and the column filters of the other class; of this, stored rows,
    their labels, windows and counts of bins get one new value, and everything else is written.
    """
    memory, layout = fleet._memory, fleet._memory.layout
    sizes = layout.places[:, STOP] - layout.places[:, START]
    of_filters = [FilterBank._fields.index(name) for name in ("level", "rate", "log_weight", "weight")]
    filters = [COLUMN_FILTERS + 1 + k for k in of_filters]
    others = layout.other_places[:, STOP] - layout.other_places[:, START]
    read = memory.n_bytes - others[EARLY] - others[RECENT] - sizes[filters].sum() / 2
    stores = [first + k for first in range(FIRST_SPACE, len(sizes), N_SPACE_ARRAYS) for k in (0, 1)]
    space_filters = [
        first + FILTERS + k for first in range(FIRST_SPACE, len(sizes), N_SPACE_ARRAYS) for k in of_filters
    ]
    kept = sizes[stores].sum() + sizes[5] + sizes[6] + (192 + 160) * 8 + sizes[space_filters].sum() / 2
    results = 8 * (len(CLASSES) * 2 + 1 + 1 + 5 + 1 + 3) + 4 + 8
    return read + (read - kept) + 8 * (N_COLUMNS + 2) + results


def operations_of_row(fleet):
    """Return the fewest operations of a row: draws, products and sums of the steps, and filters."""
    layout = fleet._memory.layout
    total = 0
    for first in range(FIRST_SPACE, len(layout.places), N_SPACE_ARRAYS):
        n_members, d = layout.places[first + MEMBERS, SHAPE], layout.places[first, SHAPE + 1]
        drawn = n_members * STEPS_PER_LABEL * ROWS_PER_STEP
        total += drawn * (INTEGER_OPERATIONS + 2 * d - 1 + 2 * d)
        total += layout.places[first + FILTERS, SHAPE + 1] * d * DOUBLE_OPERATIONS
    return total + layout.places[COLUMN_FILTERS + 1, SHAPE + 1] * N_COLUMNS * DOUBLE_OPERATIONS


def floors(n, there):
    """Return the least times for n rows with linear features by bytes and by operations, beside the measured time."""
    fleet, _ = new_fleet(1)
    cupy = fleet._streams.kernels.cupy
    source, target = (cupy.ones(1 << 29, np.float64) for _ in range(2))
    ms = milliseconds(cupy, lambda: cupy.copyto(target, source), 10)
    bandwidth = 2 * source.nbytes / ms / 1e-3
    attributes = cupy.cuda.Device().attributes
    rate = attributes["MultiProcessorCount"] * SCHEDULERS * LANES * attributes["ClockRate"] * 1e3
    by_bytes, by_operations = bytes_of_row(fleet) * n / bandwidth * 1e3, operations_of_row(fleet) * n / rate * 1e3
    return (
        f"{n:,} rows: {bytes_of_row(fleet) / 1e3:.1f} kB of a row at the {bandwidth / 1e12:.2f} TB/s of a copy take "
        f"{by_bytes:.1f} ms; {operations_of_row(fleet) / 1e3:.0f} thousand operations of a row at a peak of "
        f"{rate / 1e12:.1f} · 10¹²/s take {by_operations:.1f} ms. Measured: {there:.1f} ms, "
        f"{there / max(by_bytes, by_operations):.1f} times the larger one."
    )


def largest_fleet():
    """Return how many streams with linear features fit into the memory of the GPU, and the speed with a row of each."""
    fleet, _ = new_fleet(1)
    streams, cupy = fleet._streams, fleet._streams.kernels.cupy
    slots = np.zeros(0, np.int64)
    reserve = cupy.empty(6 << 30, np.uint8)  # for rows, results and intermediate results
    try:
        while True:
            slots = np.append(slots, streams.take(64 * STREAMS_PER_BUFFER))
    except MemoryError:
        del reserve
        cupy.get_default_memory_pool().free_all_blocks()
    streams.put(slots, fleet._start.new_stream())
    rows, results = Rows(cupy, len(slots)), blank_results(cupy, fleet, len(slots))
    on_device = cupy.asarray(slots), cupy.arange(len(slots), dtype=np.int32)
    ms = milliseconds(cupy, lambda: streams.kernels.advance(streams.places, *on_device, *rows.next(), results), 3)
    return (
        f"Largest fleet: {len(slots):,} streams, {streams.n_bytes / 1e9:.0f} GB; a "
        f"row of each takes {ms:.0f} ms ({len(slots) / ms / 1e3:.1f} million rows/s, first rows)"
    )


def results():
    """Return the explanation, the lines of the table, and sentences on the least times and on the largest fleet."""
    lines = [measured(*case) for case in CASES]
    there = next(float(line[3]) for line, case in zip(lines, CASES, strict=True) if case == ("linear", N_KEYS[-1]))
    cupy = cuda_arrays()
    gpu = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    return EXPLANATION.format(gpu=gpu), lines, (floors(N_KEYS[-1], there), largest_fleet())
