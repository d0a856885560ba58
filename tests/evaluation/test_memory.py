import bench_evaluation


def test_a_million_rows_take_the_memory_of_a_hundred_thousand():
    short, long = bench_evaluation.peak_megabytes(100_000), bench_evaluation.peak_megabytes(1_000_000)
    assert long < short + 20
