import numpy as np
import pytest

from driftline import ConfigError, DataError
from driftline.streams import NpzStream, open_stream


@pytest.fixture
def path(tmp_path):
    np.savez(tmp_path / "small.npz", X=[[0.5, 1.0], [0.7, 2.0]], y=["no", "yes"], times=[3.0, 4.0])
    return tmp_path / "small.npz"


def test_npz_is_opened_as_every_other_file(path):
    for stream in (open_stream(path), open_stream(path, "y"), open_stream(path, name="small")):
        assert isinstance(stream, NpzStream)
        assert stream.name == "small"
        (block,) = stream.blocks()
        assert block.labels.tolist() == ["no", "yes"]
        assert block.times.tolist() == [3.0, 4.0]


def test_options_that_npz_has_no_use_for_are_refused(path):
    with pytest.raises(ConfigError, match="leave out label, ignore"):
        open_stream(path, "class", ignore="x0")


def test_a_damaged_npz_is_refused(path):
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError, match=r"small\.npz cannot be read"):
        open_stream(path)
