"""Lines of a pipe are those of a file, and come as soon as they are there."""

import io
import os

from hypothesis import given
from hypothesis import strategies as st

from driftline.streams.files import RowFile, input_file, numeric_layout
from driftline.streams.files.input_file import InputFile, LineReader
from driftline.streams.files.live_lines import LiveLineReader

texts = st.lists(st.sampled_from(["a", "é", ",", "\n", "\r\n", "\x85", "漢", "\0"]), max_size=60).map("".join)


@given(texts, st.integers(1, 7))
def test_lines_are_those_of_a_file_however_the_bytes_come(tmp_path_factory, text, n_bytes):
    path = tmp_path_factory.mktemp("lines") / "lines.txt"
    path.write_bytes(text.encode())
    with LineReader(InputFile(str(path)), "utf-8") as reader:
        expected = list(reader)
    with LiveLineReader(InputFile(str(path)), "utf-8") as reader:
        reader._opened = Trickle(path.read_bytes(), n_bytes)
        assert [(n, line, str(flaw)) for n, line, flaw in reader] == [(n, line, str(f)) for n, line, f in expected]


class Trickle(io.BytesIO):
    """Bytes of which a few come at a time."""

    def __init__(self, content, n_bytes):
        super().__init__(content)
        self._n_bytes = n_bytes

    def read1(self, n=-1):
        return self.read(min(n, self._n_bytes))


def test_a_line_that_is_too_long_is_skipped_as_in_a_file(tmp_path, monkeypatch):
    path = tmp_path / "long.txt"
    path.write_text("ab\n" + "x" * 5000 + "\ncd\n")
    for module in ("input_file", "live_lines"):
        monkeypatch.setattr(f"driftline.streams.files.{module}.MAX_LINE_CHARACTERS", 1000)
    assert input_file.MAX_LINE_CHARACTERS == 1000
    read = {}
    for kind in (LineReader, LiveLineReader):
        with kind(InputFile(str(path)), "utf-8") as reader:
            read[kind] = [(n, line[:2], flaw is None) for n, line, flaw in reader]
    assert read[LiveLineReader] == read[LineReader]
    assert [ok for *_, ok in read[LiveLineReader]] == [True, False, True]


def test_a_block_has_the_rows_that_have_come(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.write(descriptor, b"a,b\n1,2\n3,4\n5,")
        rows = RowFile(path, numeric_layout(["a", "b"]))
        blocks = rows.blocks()
        assert next(blocks)[1].tolist() == [[1.0, 2.0], [3.0, 4.0]]
        os.write(descriptor, b"6\n")
        assert next(blocks)[1].tolist() == [[5.0, 6.0]]
        blocks.close()
    finally:
        os.close(descriptor)
