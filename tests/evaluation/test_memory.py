import pytest

import bench_evaluation


@pytest.mark.slow  # the memory of its parts is tested in test_timeline.py and tests/checks
def test_five_times_the_rows_take_the_same_memory():
    short, long = bench_evaluation.peak_megabytes(60_000), bench_evaluation.peak_megabytes(300_000)
    assert long < short + 12  # 50 bytes for each of the other rows; the peak varies by 4 megabytes
