"""A file is opened once for each pass, and its head is examined once, when the stream is opened."""

import builtins
import gzip
import pickle
import zipfile

import numpy as np
import pytest

from driftline import DataError
from driftline.streams import open_stream
from driftline.streams.files import RowFile, numeric_layout
from driftline.streams.files.input_file import LineReader

CSV = b"x;z;y\n" + b"".join(b"%d;%d;%d\n" % (i, i * i, i % 2) for i in range(3000))
JSON = b"".join(b'{"x": %d, "y": "%s"}\n' % (i, b"ab"[i % 2 :][:1]) for i in range(3000))
ARFF = b"@attribute x real\n@attribute y {0, 1}\n@data\n" + b"1,0\n2,1\n" * 1500
FILES = {
    "rows.csv": CSV,
    "rows.csv.gz": gzip.compress(CSV),
    "rows": CSV,
    "compressed": gzip.compress(CSV),
    "rows.jsonl": JSON,
    "objects": JSON,
    "rows.arff": ARFF,
    "attributes": ARFF,
}


@pytest.fixture
def opened(monkeypatch):
    """The names of the files opened so far."""
    names = []
    real = builtins.open

    def counting(file, *rest, **options):
        names.append(file)
        return real(file, *rest, **options)

    monkeypatch.setattr(builtins, "open", counting)
    return names


@pytest.fixture
def peeked(monkeypatch):
    """An entry for each time that lines were examined before they were read."""
    calls = []
    real = LineReader.peek

    def counting(self, *limits):
        calls.append(limits)
        return real(self, *limits)

    monkeypatch.setattr(LineReader, "peek", counting)
    return calls


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_opened_once_for_its_head_and_once_for_each_pass(tmp_path, name, opened):
    path = tmp_path / name
    path.write_bytes(FILES[name])
    opened.clear()
    stream = open_stream(path, "y")
    assert opened == [str(path)]
    for n_opened in (2, 3):
        assert sum(len(block.rows) for block in stream.blocks()) == 3000
        assert opened == [str(path)] * n_opened


@pytest.mark.parametrize("label", ["y", -1])
@pytest.mark.parametrize("name", ["rows.csv", "rows", "rows.jsonl"])
def test_no_pass_examines_the_head_again(tmp_path, name, label, peeked):
    path = tmp_path / name
    path.write_bytes(FILES[name])
    stream = open_stream(path, label)
    n_peeked = len(peeked)
    assert n_peeked == (2 if label == -1 and "json" not in name else 1)  # for the delimiter, and for a header
    assert np.concatenate([block.rows for block in stream.blocks()])[:3, 0].tolist() == [0, 1, 2]
    assert stream.classes().size == 2
    assert len(peeked) == n_peeked


@pytest.mark.parametrize("name", ["rows.csv", "compressed"])
def test_rows_to_predict_are_opened_once(tmp_path, name, opened):
    path = tmp_path / name
    path.write_bytes(FILES[name])
    layout = open_stream(path, "y").layout
    opened.clear()
    assert sum(len(rows) for _, rows in RowFile(path, layout).blocks()) == 3000
    assert opened == [str(path)]


def test_arrays_to_predict_are_opened_once(tmp_path, monkeypatch):
    path = tmp_path / "rows.npz"
    np.savez(path, X=np.ones((3, 2)))
    names = []
    real = zipfile.ZipFile.__init__
    monkeypatch.setattr(zipfile.ZipFile, "__init__", lambda self, *rest: (names.append(rest[0]), real(self, *rest))[1])
    assert sum(len(rows) for _, rows in RowFile(path, numeric_layout(2)).blocks()) == 3
    assert names == [path]


def test_a_stream_that_was_opened_holds_no_open_file_and_can_be_pickled(tmp_path):
    path = tmp_path / "compressed"
    path.write_bytes(FILES["compressed"])
    stream = pickle.loads(pickle.dumps(open_stream(path, "y")))
    assert sum(len(block.rows) for block in stream.blocks()) == 3000


def test_objects_read_in_a_later_pass_have_the_keys_of_the_opening(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(JSON)
    stream = open_stream(path, "y")
    path.write_bytes(JSON.replace(b'"x": 1,', b'"w": 1,'))
    with pytest.raises(DataError, match=r"line 2: key 'w' is in no object of the first 1,000 lines"):
        list(stream.blocks())
