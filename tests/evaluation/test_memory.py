import bench_evaluation


def test_ten_times_the_rows_take_the_same_memory():
    short, long = bench_evaluation.peak_megabytes(30_000), bench_evaluation.peak_megabytes(300_000)
    assert long < short + 6  # 22 bytes for each of the other rows
