"""Reading and writing model files without any of the checks that driftline makes."""

import io
import json
import zipfile

import numpy as np

from driftline.core import checkpoint


def read_model_file(path):
    """Return header and arrays of a model file, under the names that it has for them."""
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    return json.loads(arrays.pop(checkpoint.HEADER).tobytes()), arrays


def write_model_file(path, header, arrays, *, compression=zipfile.ZIP_STORED, signs=True):
    """Write a model file; with `signs`, its checksum matches its content."""
    if signs:
        unsigned = {key: value for key, value in header.items() if key != "sha256"}
        header = unsigned | {"sha256": checkpoint.digest(unsigned, arrays)}
    entries = {checkpoint.HEADER: np.frombuffer(json.dumps(header).encode(), np.uint8)} | arrays
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, array in entries.items():
            archive.writestr(f"{name}.npy", npy_bytes(array))


def npy_bytes(array):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asanyarray(array), version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def alter(path, change):
    """Apply `change` to the content and the arrays of a model file, and let the checksum match."""
    header, arrays = read_model_file(path)
    change(header["content"], arrays)
    write_model_file(path, header, arrays)
