"""A file is read in constant memory, whatever its size."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

pytest.importorskip("resource", reason="Windows does not tell the peak of memory this way")

# On Linux the peak that getrusage tells includes that of the process which started this one.
READ = """
import re, resource, sys
from pathlib import Path
from driftline.streams import open_stream
n_rows = sum(len(block.rows) for block in open_stream(sys.argv[1], "y", on_bad_row="skip").blocks())
status = Path("/proc/self/status")
if status.exists():
    kilobytes = int(re.search("VmHWM:\\s+([0-9]+) kB", status.read_text())[1])
else:
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(n_rows, kilobytes)
"""


def peak_megabytes(path):
    """Read a file in a process of its own; return how many rows came and its peak of resident memory."""
    run = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True)
    n_rows, kilobytes = map(int, run.stdout.split())
    return n_rows, kilobytes / 1024


def write(path, n_bytes):
    """Write a CSV file of about some size by repeating a part; return its number of rows."""
    rng = np.random.default_rng(0)
    rows = zip(rng.normal(size=(1000, 10)).tolist(), rng.integers(0, 3, 1000).tolist(), strict=True)
    part = "".join(f"{','.join(map(repr, row))},{'red' if label else ''},{label}\n" for row, label in rows).encode()
    n_parts = -(-n_bytes // len(part))
    with path.open("wb") as file:
        file.write(",".join(f"x{j}" for j in range(10)).encode() + b",colour,y\n")
        for _ in range(n_parts):
            file.write(part)
    return 1000 * n_parts


def test_four_times_the_rows_take_the_same_memory(tmp_path):
    peaks = []
    for n_bytes in (5_000_000, 20_000_000):
        n_written = write(tmp_path / "rows.csv", n_bytes)
        n_rows, peak = peak_megabytes(tmp_path / "rows.csv")
        assert n_rows == n_written
        peaks.append(peak)
    assert peaks[1] < peaks[0] + 10


@pytest.mark.slow
def test_a_gigabyte_is_read_in_less_than_400_megabytes(tmp_path):
    n_written = write(tmp_path / "rows.csv", 10**9)
    n_rows, peak = peak_megabytes(tmp_path / "rows.csv")
    assert n_rows == n_written
    assert peak < 400


@pytest.mark.slow
def test_parquet_takes_little_memory_even_as_one_group_of_rows(tmp_path):
    path, n_rows = tmp_path / "rows.parquet", 4_000_000
    columns = np.random.default_rng(0).normal(size=(10, n_rows))
    table = pa.table({**{f"x{j}": column for j, column in enumerate(columns)}, "y": np.arange(n_rows) % 3})
    parquet.write_table(table, path, row_group_size=n_rows)
    assert path.stat().st_size > 200_000_000
    n_read, peak = peak_megabytes(path)
    assert n_read == n_rows
    assert peak < 400


@pytest.mark.slow
def test_wide_rows_long_texts_and_bad_rows_take_little_memory_too(tmp_path):
    wide = ",".join(["0.125"] * 20_000)
    contents = {
        "wide": (",".join(f"x{j}" for j in range(20_000)) + ",y\n", f"{wide},1\n", 400),
        "long": ("x,text,y\n", f"1,{'a' * 1_000_000},1\n", 200),
        "bad": ("x,z,y\n1,2,3\n", "1,2\n", 5_000_000),
    }
    for name, (header, row, n_rows) in contents.items():
        path = tmp_path / f"{name}.csv"
        path.write_text(header + row * n_rows)
        assert peak_megabytes(path)[1] < 400, name
