"""Parquet, a batch of rows at a time."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from driftline.errors import DataError, MissingExtraError
from driftline.streams.files.source import Source
from driftline.streams.files.tables import CELL_BYTES, CHUNK_BYTES, Cells, Chunk, Column, Table
from driftline.streams.protocol import BLOCK_ROWS

BUFFER_BYTES = 2**24
"""Read at once of all columns together."""


def read_parquet(source: Source) -> Table:
    """Open a Parquet file; its types say which columns are numbers."""
    try:
        import pyarrow as pa  # noqa: PLC0415  # an extra may be missing
        from pyarrow import parquet  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingExtraError("reading Parquet needs pyarrow; pip install 'driftline[files]'") from error
    failures = pa.ArrowException, OSError, ValueError, MemoryError
    if source.is_pipe:
        raise DataError(f"{source.shown} is Parquet, which cannot be read from a pipe; save it as a file first")
    try:
        metadata = parquet.read_metadata(source.path)
        # Buffered, and not in advance: else a whole group of rows would be in memory, which may be the whole file.
        buffer_size = max(2**12, BUFFER_BYTES // max(metadata.num_columns, 1))
        file = parquet.ParquetFile(
            source.path, metadata=metadata, buffer_size=buffer_size, pre_buffer=False, page_checksum_verification=True
        )
        schema, n_rows = file.schema_arrow, metadata.num_rows
        n_bytes = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    except failures as error:
        raise DataError(f"{source.shown} cannot be read as Parquet: {_one_line(error)}") from error
    if len(set(schema.names)) < len(schema.names):
        raise DataError(f"{source.shown}: two columns have the same name; expected different names")
    columns = tuple(Column(field.name, is_number=_is_number(field.type)) for field in schema)

    def chunks(wanted: Sequence[int]) -> Iterator[Chunk]:
        names = [schema.names[j] for j in wanted]
        row_bytes = sum(8 if columns[j].is_number else CELL_BYTES for j in wanted) + n_bytes // max(n_rows, 1)
        most_rows = max(1, min(BLOCK_ROWS, CHUNK_BYTES // row_bytes))
        n_read = 0
        try:
            with file:
                for batch in file.iter_batches(most_rows, columns=names, use_threads=False):
                    cells = [_cells(batch.column(name)) for name in names]
                    yield Chunk(range(n_read + 1, n_read + 1 + batch.num_rows), cells)
                    n_read += batch.num_rows
        except failures as error:
            raise DataError(f"{source.shown} cannot be read after row {n_read}: {_one_line(error)}") from error

    return Table(columns, chunks, n_rows)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _is_number(kind: Any) -> bool:
    from pyarrow import types  # noqa: PLC0415  # an extra may be missing

    return any(
        check(kind)
        for check in (types.is_integer, types.is_floating, types.is_decimal, types.is_date, types.is_timestamp)
    )


def _cells(column: Any) -> Cells:
    """Return a column as numbers (dates in seconds), or as a list of whatever it holds."""
    import pyarrow as pa  # noqa: PLC0415  # an extra may be missing

    kind = column.type
    if pa.types.is_dictionary(kind):
        return _cells(column.dictionary_decode())
    if pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    elif pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        dates = column.to_numpy(zero_copy_only=False).astype("datetime64[us]")
        return np.where(np.isnat(dates), np.nan, dates.astype(np.float64) / 1e6)
    elif not _is_number(kind) or (pa.types.is_integer(kind) and column.null_count):
        return list(column.to_pylist())
    return np.asarray(column.to_numpy(zero_copy_only=False))
