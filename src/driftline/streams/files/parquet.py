"""Parquet, read one batch of rows at a time."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, Self

import numpy as np

from driftline.errors import DataError, MissingExtraError
from driftline.streams.files.cells import CELL_BYTES, CHUNK_BYTES, Cells, Chunk, FileColumn
from driftline.streams.files.input_file import InputFile
from driftline.streams.protocol import BLOCK_ROWS

BUFFER_BYTES = 2**24
"""Number of bytes read at once, of all columns together."""


class ParquetTable:
    """An open Parquet file, whose types state which columns are numbers; a context manager that closes it.

    Parameters
    ----------
    file : InputFile
        The file.

    Attributes
    ----------
    columns : tuple of FileColumn
        The columns.
    n_rows : int
        Number of rows.
    """

    def __init__(self, file: InputFile) -> None:
        try:
            import pyarrow as pa  # noqa: PLC0415  # an extra may be missing
            from pyarrow import parquet  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise MissingExtraError("reading Parquet needs pyarrow; pip install 'driftline[files]'") from error
        self._file_name = file.name
        self._failures = pa.ArrowException, OSError, ValueError, MemoryError
        if file.is_pipe:
            raise DataError(f"{file.name} is Parquet, which cannot be read from a pipe; save it as a file first")
        with ExitStack() as opened:
            try:
                source = opened.enter_context(pa.OSFile(file.path))
                metadata = parquet.read_metadata(source)
                # Buffered, without reading ahead: otherwise a whole row group, perhaps the whole file, is in memory.
                buffer_size = max(2**12, BUFFER_BYTES // max(metadata.num_columns, 1))
                self._parquet = parquet.ParquetFile(
                    source,
                    metadata=metadata,
                    buffer_size=buffer_size,
                    pre_buffer=False,
                    page_checksum_verification=True,
                )
                schema, self.n_rows = self._parquet.schema_arrow, metadata.num_rows
                n_bytes = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
            except self._failures as error:
                raise DataError(f"{file.name} cannot be read as Parquet: {_one_line(error)}") from error
            if len(set(schema.names)) < len(schema.names):
                raise DataError(f"{file.name}: two columns have the same name; expected different names")
            self._opened = opened.pop_all()
        self._mean_row_bytes = n_bytes // max(self.n_rows, 1)
        self.columns = tuple(
            FileColumn(field.name, is_number=_is_number(field.type), is_date=_is_date(field.type)) for field in schema
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self._opened.close()

    def chunks(self, positions: Sequence[int]) -> Iterator[Chunk]:
        """Yield the rows as chunks of the columns at some positions."""
        columns = [self.columns[j] for j in positions]
        row_bytes = sum(8 if column.is_number else CELL_BYTES for column in columns) + self._mean_row_bytes
        max_rows = max(1, min(BLOCK_ROWS, CHUNK_BYTES // row_bytes))
        names = [column.name for column in columns]
        n_read = 0
        try:
            for batch in self._parquet.iter_batches(max_rows, columns=names, use_threads=False):
                cells = [_cells(batch.column(name)) for name in names]
                yield Chunk(range(n_read + 1, n_read + 1 + batch.num_rows), cells)
                n_read += batch.num_rows
        except self._failures as error:
            raise DataError(f"{self._file_name} cannot be read after row {n_read}: {_one_line(error)}") from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _is_number(arrow_type: Any) -> bool:
    from pyarrow import types  # noqa: PLC0415  # an extra may be missing

    return any(check(arrow_type) for check in (types.is_integer, types.is_floating, types.is_decimal, _is_date))


def _is_date(arrow_type: Any) -> bool:
    from pyarrow import types  # noqa: PLC0415  # an extra may be missing

    return bool(types.is_date(arrow_type) or types.is_timestamp(arrow_type))


def _cells(column: Any) -> Cells:
    """Return a column as an array of numbers, with dates in seconds, or as a list if it holds anything else."""
    import pyarrow as pa  # noqa: PLC0415  # an extra may be missing

    arrow_type = column.type
    if pa.types.is_dictionary(arrow_type):
        return _cells(column.dictionary_decode())
    if pa.types.is_decimal(arrow_type):
        column = column.cast(pa.float64())
    elif _is_date(arrow_type):
        dates = column.to_numpy(zero_copy_only=False).astype("datetime64[us]")
        return np.where(np.isnat(dates), np.nan, dates.astype(np.float64) / 1e6)
    elif not _is_number(arrow_type) or (pa.types.is_integer(arrow_type) and column.null_count):
        return list(column.to_pylist())
    return np.asarray(column.to_numpy(zero_copy_only=False))
