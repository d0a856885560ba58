import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from driftline.kernels.packing import ALIGNMENT, matrix_at, packed, stack_at, vector_at
from helpers.strategies import seeds

AT = {1: vector_at, 2: matrix_at, 3: stack_at}
kinds = st.sampled_from([np.float64, np.float32, np.int64])
shapes = st.lists(st.integers(0, 4), min_size=1, max_size=3).map(tuple)


@given(seeds, st.lists(st.tuples(kinds, shapes), min_size=1, max_size=8))
def test_packed_arrays_are_found_again_and_share_memory_with_the_buffer(seed, described):
    rng = np.random.default_rng(seed)
    arrays = [rng.integers(-9, 9, shape).astype(kind) for kind, shape in described]
    (buffer, places), parts = packed(arrays)
    for k, (array, part) in enumerate(zip(arrays, parts, strict=True)):
        found = AT[array.ndim](buffer, places, k, array.dtype.type)
        assert found.dtype == array.dtype
        assert np.array_equal(found, array)
        assert places[k, 0] % ALIGNMENT == 0
        part[...] += 1
        assert np.array_equal(found, array + 1)


def test_rows_of_a_long_array_are_all_copied():
    array = np.zeros((3500, 2))
    array[[0, 999, 1000, 3499]] = 1.0
    _, (part,) = packed([array])
    assert np.array_equal(part, array)
