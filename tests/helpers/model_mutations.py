"""Random changes of model files, of the kinds that somebody makes who wants to break the program that loads them."""

import copy
import json
import zipfile

import numpy as np

from driftline.core import checkpoint
from helpers.model_files import npy_bytes, write_model_file

NUMBERS = (
    *(np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-320, 1e-30, 1e15, -1e15, 1e30, -1e30),
    *(3e38, -3e38, 1e100, 1e200, 1.7e308, -1.7e308, 2.0**31, 2.0**32, 2.0**53, 2.0**62, -(2.0**63)),
)
DTYPES = ("<f8", ">f8", "<f4", "<f2", "<i8", ">i8", "<i4", "<u8", "|u1", "|b1", "<c16", "<U3", "|S3", "<M8[s]", "|V8")
JSON_VALUES = (
    *(None, True, False, 0, 1, 2, 3, 5, 100, -1, 2**31 - 1, 2**31, 2**63, 10**30, 0.5, -0.5, 1e308, float("nan")),
    *(float("inf"), "", "x", "linear", "fourier", "auto", "running", "file", "none", "<U99999999", "|O", [], {}, [1]),
    *(["a", "a"], ["a", "b", "c"], {"dtype": "<i8", "values": [0, 1, 2, 3]}, [[[[[[]]]]]], "\x1b[31m", "AMRC", "RBP"),
)


def mutate(rng, header, arrays, path):
    """Write a file with one to three random changes, and a checksum that matches."""
    header, arrays = copy.deepcopy(header), dict(arrays)
    for _ in range(rng.integers(1, 4)):
        CHANGES[rng.choice(len(CHANGES), p=SHARES)](rng, header, arrays)
    if rng.random() < 0.05:
        spoil_container(rng, header, arrays, path)
    else:
        write_model_file(path, header, arrays)


def pick(rng, options):
    return options[rng.integers(len(options))]


def pick_array(rng, arrays):
    return pick(rng, sorted(arrays)) if arrays else None


def with_number(array, place, number):
    with np.errstate(all="ignore"):
        array.flat[place] = np.array(number).astype(array.dtype) if array.dtype.kind in "iub" else number


def set_values(rng, header, arrays):
    name = pick_array(rng, arrays)
    if name is None or arrays[name].dtype.kind not in "fiub" or arrays[name].size == 0:
        return
    array = arrays[name].copy()
    n = pick(rng, (1, 1, 2, array.size))
    places = rng.integers(array.size, size=n)
    with_number(array, places, pick(rng, NUMBERS) if rng.random() < 0.7 else rng.normal() * 10.0 ** rng.integers(-3, 9))
    arrays[name] = array


def scale_values(rng, header, arrays):
    name = pick_array(rng, arrays)
    if name is not None and arrays[name].dtype.kind in "fi":
        with np.errstate(all="ignore"):
            arrays[name] = (arrays[name] * 10.0 ** rng.integers(-20, 21)).astype(arrays[name].dtype)


def shuffle_values(rng, header, arrays):
    name = pick_array(rng, arrays)
    if name is not None:
        arrays[name] = rng.permutation(arrays[name].ravel()).reshape(arrays[name].shape)


def change_shape(rng, header, arrays):
    name = pick_array(rng, arrays)
    if name is None:
        return
    array = arrays[name]
    axis = rng.integers(max(array.ndim, 1))
    arrays[name] = pick(
        rng,
        (
            array.T,
            array.ravel(),
            array[None],
            array[..., None],
            array[:0],
            array[:-1],
            np.concatenate([array, array]),
            np.repeat(array, 2, axis=axis),
            np.delete(array, 0, axis=axis) if array.shape[axis] else array,
            np.asfortranarray(array),
        ),
    )


def change_type(rng, header, arrays):
    name = pick_array(rng, arrays)
    if name is not None:
        with np.errstate(all="ignore"):
            try:
                arrays[name] = arrays[name].astype(pick(rng, DTYPES))
            except (ValueError, TypeError, RuntimeError):
                arrays[name] = np.zeros(arrays[name].shape, [("a", "<f8"), ("b", "<i4")])


def remove_array(rng, header, arrays):
    arrays.pop(pick_array(rng, arrays), None)


def rename_array(rng, header, arrays):
    name = pick_array(rng, arrays)
    if name is not None:
        arrays[pick(rng, (f"{name}x", "x", "features/directions", "/", "../x", name.rpartition("/")[0]))] = arrays.pop(
            name
        )


def swap_arrays(rng, header, arrays):
    one, other = pick_array(rng, arrays), pick_array(rng, arrays)
    if one is not None:
        arrays[one], arrays[other] = arrays[other], arrays[one]


def change_content(rng, header, arrays):
    """Replace, remove or add a value somewhere in the content."""
    node, key = header, "content"
    if key not in header:
        return
    while isinstance(node[key], dict | list) and node[key] and rng.random() < 0.85:
        node = node[key]
        key = pick(rng, list(node)) if isinstance(node, dict) else int(rng.integers(len(node)))
    action = rng.random()
    if action < 0.15:
        del node[key]
    elif action < 0.25 and isinstance(node, dict):
        node[pick(rng, ("x", "budget", "n_components", "classes"))] = pick(rng, JSON_VALUES)
    else:
        node[key] = copy.deepcopy(pick(rng, JSON_VALUES))


def change_parameter(rng, header, arrays):
    content = header.get("content")
    parameters = content.get("parameters") if isinstance(content, dict) else None
    if isinstance(parameters, dict) and parameters:
        parameters[pick(rng, sorted(parameters))] = copy.deepcopy(pick(rng, JSON_VALUES))


def change_classes(rng, header, arrays):
    content = header.get("content")
    classes = content.get("classes") if isinstance(content, dict) else None
    if isinstance(classes, dict) and isinstance(classes.get("values"), list):
        values = classes["values"]
        classes["values"] = pick(
            rng, (values[:-1], [*values, 7], [*values, "y"], values * 2, values[::-1], list(range(50)))
        )


def change_columns(rng, header, arrays):
    content = header.get("content")
    if isinstance(content, dict):
        content[pick(rng, ("columns", "columns_begun"))] = pick(
            rng, ([1, []], [2, []], [4, []], [1000, []], [2, ["a", "b"]], 1, 2, 4, 10**6, [10**9, []])
        )


def change_header(rng, header, arrays):
    header[pick(rng, ("format", "version", "content", "sha256"))] = copy.deepcopy(pick(rng, JSON_VALUES))


CHANGES = (
    *(set_values, scale_values, shuffle_values, change_shape, change_type, remove_array, rename_array, swap_arrays),
    *(change_content, change_parameter, change_classes, change_columns, change_header),
)
WEIGHTS = np.array([40, 8, 6, 10, 8, 2, 2, 4, 8, 6, 3, 2, 1], dtype=float)
SHARES = WEIGHTS / WEIGHTS.sum()


def spoil_container(rng, header, arrays, path):
    """Write a file whose archive or whose array headers are not as `save` writes them."""
    name = pick(rng, [checkpoint.HEADER, *arrays])
    how = rng.integers(8)
    compression = pick(rng, (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, zipfile.ZIP_DEFLATED))
    write_model_file(path, header, arrays, compression=compression if how == 0 else zipfile.ZIP_STORED)
    if how == 0:
        return
    with zipfile.ZipFile(path) as archive:
        entries = {info.filename: archive.read(info) for info in archive.infolist()}
    entry = f"{name}.npy"
    content = entries[entry]
    spoiled = {
        1: content[: rng.integers(len(content))],
        2: content + b"x" * 100,
        3: content.replace(b"'shape': (", b"'shape': (9", 1),
        4: content.replace(b"'descr': '<f8'", b"'descr': '|O' ", 1),
        5: b"\x93NUMPY\x03\x00" + content[8:],
        6: b"\x93NUMPY\x02\x00" + (2**31).to_bytes(4, "little") + content[10:],
        7: json.dumps([[]] * 1000).encode()
        if rng.random() < 0.5
        else npy_bytes(np.frombuffer(b"[" * 200_000, np.uint8)),
    }[how]
    entries[entry] = spoiled
    with zipfile.ZipFile(path, "w") as archive:
        for filename, data in entries.items():
            archive.writestr(filename, data)
        if rng.random() < 0.2:
            archive.writestr(pick(rng, ("x.txt", "../x.npy", "x.npy")), b"x")
