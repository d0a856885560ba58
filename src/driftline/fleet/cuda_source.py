"""The CUDA source of a fleet's kernels: the files of the folder `cuda`, after constants that describe the streams."""

from collections.abc import Iterable
from importlib.resources import files
from typing import Any

import numpy as np

from driftline.errors import ConfigError
from driftline.fleet.cuda_kernels import BLOCK_BYTES, TEAM, THREADS, WARP
from driftline.fleet.device_layout import GAP, DeviceLayout
from driftline.fleet.layout import StreamMemory
from driftline.kernels import alarm, error_interval
from driftline.kernels.column_scales import NEW_SPREAD
from driftline.kernels.descent import ROWS_PER_STEP, STEPS_PER_LABEL
from driftline.kernels.ensemble import (
    ALARM,
    CALIBRATION,
    COLUMN_FILTERS,
    COUNTS,
    FILTERS,
    FIRST_SPACE,
    FOREST,
    LONG_TREES,
    MEMBERS,
    N_SPACE_ARRAYS,
    RECENT_TREES,
    SCHEME_WEIGHTS,
    SUMS,
    TARGETS,
    WEIGHTS,
    WORKSPACE,
    has_forest,
    n_forest_features,
)
from driftline.kernels.filter_bank import FilterBank
from driftline.kernels.fleet import COUNT, EARLY, IS_BINARY, MEAN, MISSING, RECENT, RECENT_FIGURES, SQUARES, STATEMENTS
from driftline.kernels.forest import LONG_CREDIT, RECENT_CREDIT, ForestStore, n_tried_columns
from driftline.kernels.member_state import Members, MemberWorkspace, RowStore
from driftline.kernels.packing import SHAPE, START, STOP
from driftline.kernels.statements import unpacked
from driftline.kernels.trees import Trees
from driftline.types import Indices

FILES = (
    *("numbers", "store", "columns", "filters", "draws", "space"),
    *("losses", "losses_of_two", "losses_of_many", "gradients", "memories", "members"),
    *("staging", "confidence", "thresholds", "statements", "bounds", "rows", "limits"),
)
"""In this order each uses what those before it define."""
FOREST_FILES, FOURIER_FILES = ("trees", "forest"), ("fourier",)
"""They follow if the streams have trees or Fourier features."""
BANK = ("level", "n_rows", "age", "mean_gap", "mean_inverse_squared_gap")
"""Arrays of a filter bank in the order in which the kernels expect their places."""
OTHERS = {
    "COUNT_AT": COUNT,
    "MEAN_AT": MEAN,
    "SQUARES_AT": SQUARES,
    "IS_BINARY_AT": IS_BINARY,
    "MISSING_AT": MISSING,
    "EARLY_AT": EARLY,
    "RECENT_AT": RECENT,
    "RECENT_FIGURES_AT": RECENT_FIGURES,
    "STATEMENTS_AT": STATEMENTS,
}
OF_STREAM = {
    "STEP_SUMS_AT": SUMS,
    "WEIGHTS_AT": WEIGHTS,
    "SCHEME_WEIGHTS_AT": SCHEME_WEIGHTS,
    "FIGURES_AT": CALIBRATION,
    "WINDOW_AT": CALIBRATION + 1,
    "STRETCHES_AT": CALIBRATION + 2,
    "TOTALS_AT": COUNTS,
    "BY_CLASS_AT": COUNTS + 1,
    "BY_PREDICTION_AT": COUNTS + 2,
    "BLOCKS_AT": COUNTS + 3,
    "ALARM_COUNTS_AT": ALARM,
    "N_TESTED_AT": ALARM + 1,
    "LEVELS_AT": ALARM + 2,
    "EVIDENCE_AT": ALARM + 3,
    "STARTS_AT": ALARM + 4,
    "ORIGIN_AT": COLUMN_FILTERS,
}
OF_STORE = ("rows", "n_seen", "mean_squared_norm", "random_state")
OF_MEMBERS = ("mu", "average", "sums", "mass", "n_since_cut", "partner_lead", "loss", "margin", "n_halvings", "n_cuts")
OF_SPACE = {
    **{f"{name.upper()}_AT": RowStore._fields.index(name) for name in OF_STORE},
    **{f"{name.upper()}_AT": MEMBERS + Members._fields.index(name) for name in OF_MEMBERS},
    "SQUARE_SUMS_AT": MEMBERS + Members._fields.index("squares"),
    "CENTRES_AT": WORKSPACE + MemberWorkspace._fields.index("centres"),
}
OF_FOREST = {"ORIGIN": FOREST, **{name.upper(): FOREST + 1 + k for k, name in enumerate(ForestStore._fields)}}
"""For each constant of the kernels, the number of the array whose first byte it is."""


def first_spaces(memory: StreamMemory) -> range:
    """Return the number of the first array of each space."""
    return range(FIRST_SPACE, len(memory.layout.places), N_SPACE_ARRAYS)


def source_of(memory: StreamMemory, device: DeviceLayout, streams_per_buffer: int) -> str:
    """Return the source of the kernels for the streams of a fleet."""
    _check_statements(memory)
    constants = [*_sizes(memory, device.n_bytes, streams_per_buffer), *_of_stream(memory, device)]
    constants += _of_spaces(memory, device.starts)
    names = list(FILES)
    if memory.layout.n_directions.any():
        constants.append(f"constexpr int N_DIRECTIONS = {len(memory.layout.directions)};")
        names += FOURIER_FILES
    if has_forest(memory.layout.places):
        constants += _of_forest(memory, device.starts)
        names += FOREST_FILES
    folder = files("driftline.fleet") / "cuda"
    return "\n".join([*constants, *((folder / f"{name}.cu").read_text("utf-8") for name in names)])


def _check_statements(memory: StreamMemory) -> None:
    """Raise an error if what a stream keeps for its statements, without the bins, does not fit into a block."""
    place, sizes = memory.layout.other_places[STATEMENTS], memory.layout.sizes
    state = unpacked(np.empty((place[STOP] - place[START]) // 8), sizes)
    n_bytes = int(place[STOP] - place[START] - state.answers.rows.nbytes - state.sets.rows.nbytes)
    most = BLOCK_BYTES - 512  # the parts begin at multiples of 16 bytes
    if n_bytes > most:
        raise ConfigError(
            f"what a stream keeps for its statements takes {n_bytes} bytes, and a fleet on a GPU has {most} for it; "
            "give guarantees that are not by class, or device='cpu'"
        )


def n_trees(memory: StreamMemory) -> int:
    """Return the number of trees of both forests together; 0 if there are none."""
    places = memory.layout.places
    return int(places[RECENT_TREES, SHAPE] + places[LONG_TREES, SHAPE])


def features_before_forest(memory: StreamMemory) -> int:
    """Return the number of features of a row before those that the trees give: linear ones, then those of Fourier."""
    p, n_directions = memory.layout.other_places[COUNT, SHAPE], memory.layout.n_directions
    return int(1 + p + 2 * n_directions.max())


def n_features(memory: StreamMemory) -> int:
    """Return the number of features of a row, of all spaces."""
    layout = memory.layout
    return features_before_forest(memory) + n_forest_features(layout.places, int(layout.sizes[4]))


def ages_of(memory: StreamMemory) -> "np.ndarray[Any, np.dtype[np.uint16]]":
    """Return the ages that members draw, a row for each member of all spaces; then those folded back to its reach."""
    quantiles = _of_members(memory, "age_quantiles", np.float64)
    reach = _of_members(memory, "reach", np.int64)[:, None]
    ages = np.maximum(quantiles, 0.0).astype(np.int64)
    return np.concatenate([ages, ages % reach]).astype(np.uint16)


def _of_members(memory: StreamMemory, name: str, dtype: Any) -> Any:
    """Return one array of the members of all spaces."""
    number = MEMBERS + Members._fields.index(name)
    return np.concatenate([memory.shared_array(first + number, dtype) for first in first_spaces(memory)])


def _sizes(memory: StreamMemory, n_bytes: int, streams_per_buffer: int) -> list[str]:
    layout = memory.layout
    n_errors, n_groups, n_sets, n_set_groups, c = layout.sizes.tolist()
    spaces = first_spaces(memory)
    part = layout.places[spaces[0] + MEMBERS + 4, SHAPE + 1] // ROWS_PER_STEP
    whole = {
        "C": c,
        "P": layout.other_places[COUNT, SHAPE],
        "N_ERRORS": n_errors,
        "N_GROUPS": n_groups,
        "N_SETS": n_sets,
        "N_SET_GROUPS": n_set_groups,
        "N_FEATURES": n_features(memory),
        "N_MEMBERS": layout.places[WEIGHTS, SHAPE],
        "N_COLUMN_FILTERS": layout.places[COLUMN_FILTERS + 1, SHAPE + 1],
        "N_BLOCK_SIZES": layout.places[COUNTS + 4, SHAPE],
        "N_BYTES": n_bytes,
        "STREAMS_PER_BUFFER": streams_per_buffer,
        "PART_BITS": int(part).bit_length() - 1,
        "HAS_ALARM": int(layout.places[ALARM, STOP] > layout.places[ALARM, START]),
        "STANDARDISES": int(layout.standardises),
        "STEPS_PER_LABEL": STEPS_PER_LABEL,
        "ROWS_PER_STEP": ROWS_PER_STEP,
        "GAP": GAP,
        "WARP": WARP,
        "TEAM": TEAM,
        "THREADS": THREADS,
        "BLOCK_BYTES": BLOCK_BYTES,
    }
    numbers = {"COUNTED_SHARE": layout.counted_share, "NEW_SPREAD_VALUE": NEW_SPREAD}
    return [
        *(f"constexpr int {name} = {int(value)};" for name, value in whole.items()),
        *(f"constexpr double {name} = {float(value).hex()};" for name, value in numbers.items()),
        _array("double", "TARGETS", memory.shared_array(TARGETS, np.float64)),
        _array("long long", "BLOCK_ROWS", memory.shared_array(COUNTS + 4, np.int64)),
        _array("double", "ALARM_WEIGHTS", alarm.RATE_WEIGHTS),
        _array("double", "ALARM_RISES", alarm.RISES),
        _array("double", "ALARM_GAINS", alarm.GAINS),
        _array("double", "LIMIT_RATES", error_interval.RATES),
        _array("double", "LIMIT_WEIGHTS", error_interval.WEIGHTS),
        _array("double", "LIMIT_RISES", error_interval.RISES),
        _array("double", "LIMIT_FALLS", error_interval.FALLS),
    ]


def _of_stream(memory: StreamMemory, device: DeviceLayout) -> list[str]:
    """Return where the arrays of a stream are that belong to no space."""
    return [
        *(f"constexpr int {name} = {device.starts[k]};" for name, k in OF_STREAM.items()),
        *(f"constexpr int {name} = {device.other_starts[k]};" for name, k in OTHERS.items()),
        _array("int", "COLUMN_BANK_AT", device.starts[_bank_arrays(COLUMN_FILTERS + 1)]),
        _matrix("double", "COLUMN_GAINS", memory.shared_array(COLUMN_FILTERS + 1, np.float64)),
    ]


def _of_spaces(memory: StreamMemory, starts: Indices) -> list[str]:
    """Return the sizes of each space, the constants of its members, and where its arrays are."""
    shapes = memory.layout.places[:, SHAPE:]
    spaces = first_spaces(memory)
    n_members = [int(shapes[first + MEMBERS, 0]) for first in spaces]
    n_filters = [int(shapes[first + FILTERS, 1]) for first in spaces]
    has_trees = has_forest(memory.layout.places)
    compensated = next(first for first, n in zip(spaces, n_filters, strict=True) if n)

    is_uniform = _of_members(memory, "age_quantiles", np.float64)[:, 0] < 0.0
    return [
        _array("int", "SPACE_ROWS", [shapes[first, 0] for first in spaces]),
        _array("int", "SPACE_FEATURES", [shapes[first, 1] for first in spaces]),
        _array("int", "FIRST_FEATURE", [0] * (len(spaces) - has_trees) + [features_before_forest(memory)] * has_trees),
        _array("int", "SPACE_MEMBERS", n_members),
        _array("int", "SPACE_FILTERS", n_filters),
        _array("int", "FIRST_MEMBER", np.cumsum([0, *n_members[:-1]])),
        _array("double", "MEMBER_GAIN", _of_members(memory, "gain", np.float64)),
        _array("double", "MEMBER_AVERAGE_GAIN", _of_members(memory, "average_gain", np.float64)),
        _array("double", "MEMBER_WIDTH", _of_members(memory, "width", np.float64)),
        _array("long long", "MEMBER_REACH", _of_members(memory, "reach", np.int64)),
        _array("double", "MEMBER_SHARE_OF_REACH", 1.0 / _of_members(memory, "reach", np.int64)),
        _array("int", "MEMBER_PARTNER", _of_members(memory, "partner", np.int64)),
        _array("int", "MEMBER_IS_UNIFORM", is_uniform),
        _matrix("double", "SPACE_GAINS", memory.shared_array(compensated + FILTERS, np.float64)),
        _matrix("int", "SPACE_BANK_AT", [starts[_bank_arrays(first + FILTERS)] for first in spaces]),
        *(_array("int", name, [starts[first + k] for first in spaces]) for name, k in OF_SPACE.items()),
    ]


def _of_forest(memory: StreamMemory, starts: Indices) -> list[str]:
    """Return the sizes of the store of rows and of the trees, and where their arrays are."""
    shapes = memory.layout.places[:, SHAPE:]
    first, forests = Trees._fields.index, (RECENT_TREES, LONG_TREES)
    p = int(memory.layout.other_places[COUNT, SHAPE])
    n_tried = n_tried_columns(p)
    if n_tried > WARP:
        raise ConfigError(
            f"trees on a GPU try at most {WARP} columns at each node, and those of {p} columns try {n_tried}; "
            "give features='linear' or device='cpu'"
        )
    most_nodes = [shapes[k + first("column"), 1] for k in forests]
    return [
        f"constexpr int N_STORED = {shapes[FOREST + 1, 0]}, N_TRIED = {n_tried}, LARGEST_TREE = {max(most_nodes)};",
        f"constexpr int FOREST_FEATURE = {features_before_forest(memory)};",
        _array("int", "N_TREES", [shapes[k, 0] for k in forests]),
        _array("int", "MAX_NODES", most_nodes),
        _array("int", "MAX_LEAVES", [shapes[k + first("counts"), 1] for k in forests]),
        _array("double", "CREDIT", [memory.layout.pace * credit for credit in (RECENT_CREDIT, LONG_CREDIT)]),
        *(f"constexpr int FOREST_{name}_AT = {starts[k]};" for name, k in OF_FOREST.items()),
        *(
            _array("int", f"TREE_{name.upper()}_AT", [starts[forest + k] for forest in forests])
            for k, name in enumerate(Trees._fields)
        ),
    ]


def _bank_arrays(first: int) -> list[int]:
    return [first + FilterBank._fields.index(name) for name in BANK]


def _text(values: Iterable[Any], dtype: str) -> str:
    return ", ".join(float(value).hex() if dtype == "double" else str(int(value)) for value in values)


def _array(dtype: str, name: str, values: Any) -> str:
    """Return the definition of an array that kernels can use as a constant."""
    return f"__constant__ constexpr {dtype} {name}[] = {{{_text(values, dtype)}}};"


def _matrix(dtype: str, name: str, rows: Any) -> str:
    listed = ", ".join(f"{{{_text(row, dtype)}}}" for row in rows)
    return f"__constant__ constexpr {dtype} {name}[][{len(rows[0])}] = {{{listed}}};"
