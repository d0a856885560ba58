"""A user's file as bytes and as lines: its format, its compression, its encoding."""

import codecs
import gzip
import io
import stat
import sys
import zlib
from collections import deque
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Self, cast

from driftline.errors import ConfigError, DataError, Parameter
from driftline.streams.files.cells import Reason

MAX_LINE_CHARACTERS = 2**22
"""Most characters in a line; a longer one is skipped and never held in memory."""

STDIN = "-"

Line = tuple[int, str, Reason | None]
"""Number of a line, its text, and why it cannot be used (None if it can)."""

_FORMATS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".dat": "csv", ".data": "csv",
    ".jsonl": "json", ".ndjson": "json", ".json": "json",
    ".arff": "arff", ".parquet": "parquet", ".pq": "parquet", ".npz": "npz",
}  # fmt: skip
_GZIP = b"\x1f\x8b"
_OTHER_COMPRESSIONS = {b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"(\xb5/\xfd": "zstandard"}
_BYTE_ORDER_MARKS = {  # the longer ones first: the mark of UTF-32 begins with that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip
READ_ERRORS = OSError, EOFError, zlib.error, UnicodeError
"""What can be raised while a file is read."""


class InputFile:
    """A file, which can be opened several times, or a pipe, which can be opened once.

    Parameters
    ----------
    path : str
        Path of the file; "-" is the standard input.

    Attributes
    ----------
    path : str
        As given.
    name : str
        Name of the file in errors.
    is_pipe : bool
        Whether the file can be read only once.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.name = "standard input" if path == STDIN else path
        self.is_pipe = path == STDIN or not self._is_regular()
        self._was_opened = False
        self._unread: io.BufferedReader | None = None

    def _is_regular(self) -> bool:
        try:
            mode = Path(self.path).stat().st_mode
        except (OSError, ValueError) as error:
            raise DataError(f"cannot open {self.path!r}: {getattr(error, 'strerror', None) or error}") from error
        if stat.S_ISDIR(mode):
            raise DataError(f"{self.path} is a folder; expected a file")
        return stat.S_ISREG(mode)

    @property
    def stem(self) -> str:
        """The name of the file without its extension."""
        if self.path == STDIN:
            return "stdin"
        name = Path(self.path).name
        return Path(name.removesuffix(".gz")).stem or name

    @cached_property
    def format(self) -> str:
        """One of "csv", "json", "arff", "parquet" and "npz": by the extension, or else by the first bytes."""
        extension = Path(self.path.lower().removesuffix(".gz")).suffix
        if extension in _FORMATS:
            return _FORMATS[extension]
        file = self.open()
        try:
            found = self._format_of(file.peek(1))
        except DataError:
            self.close(file)
            raise
        if found == "parquet":  # which pyarrow opens
            self.close(file)
        else:
            self._unread = file
        return found

    def _format_of(self, start: bytes) -> str:
        for magic, compression in _OTHER_COMPRESSIONS.items():
            if start.startswith(magic):
                hint = " (an Excel workbook is such a file: export it as CSV)" if compression == "zip" else ""
                raise DataError(
                    f"{self.name} is compressed with {compression}{hint}; decompress it, or compress it with gzip"
                )
        if start.startswith(b"PAR1"):
            return "parquet"
        lines = start.decode(_marked_encoding(start) or "utf-8", "replace").splitlines()
        first = next((line.strip() for line in lines if line.strip() and not line.lstrip().startswith("%")), "")
        if first.lower().startswith(("@relation", "@attribute")):
            return "arff"
        return "json" if first.startswith("{") else "csv"

    def open(self) -> io.BufferedReader:
        """Return the file opened at its first byte, decompressed if it is gzip; `close` closes it."""
        if self._unread is not None:  # opened for its format
            unread, self._unread = self._unread, None
            return unread
        if self.is_pipe and self._was_opened:
            raise DataError(f"{self.name} can be read only once; save it as a file to read it more than once")
        self._was_opened = True
        try:
            file = _standard_input() if self.path == STDIN else open(self.path, "rb")  # noqa: SIM115  # the caller closes
            try:
                if file.peek(2)[:2] == _GZIP:
                    file = io.BufferedReader(gzip.GzipFile(fileobj=file))
                file.peek(1)
            except READ_ERRORS:
                self.close(file)
                raise
        except READ_ERRORS as error:
            raise DataError(f"{self.name} cannot be read: {error}") from error
        return file

    def close(self, file: io.BufferedReader) -> None:
        """Close a file that `open` returned; the standard input stays open."""
        if self.path == STDIN:
            return
        compressed = getattr(file.raw, "fileobj", None)  # the file that a GzipFile reads, and does not close
        file.close()
        if compressed is not None:
            compressed.close()


def _standard_input() -> io.BufferedReader:
    if sys.stdin is None:
        raise DataError("there is no standard input to read from; pass the path of a file")
    buffer = sys.stdin.buffer
    return buffer if isinstance(buffer, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, buffer))


def _marked_encoding(start: bytes) -> str | None:
    """Return the encoding whose byte order mark a file begins with, if any."""
    return next((encoding for mark, encoding in _BYTE_ORDER_MARKS.items() if start.startswith(mark)), None)


class LineReader:
    """Iterator over the lines of a file with their numbers; a context manager that closes the file.

    A line longer than `MAX_LINE_CHARACTERS` is never held in memory as a whole.

    Parameters
    ----------
    file : InputFile
        The file.
    encoding : str
        Its encoding, unless it begins with a byte order mark.

    Attributes
    ----------
    file_name : str
        Name of the file in errors.
    n_characters : int
        Number of characters read, without lines that were pushed back.
    """

    def __init__(self, file: InputFile, encoding: str) -> None:
        self.file_name = file.name
        self.n_characters = 0
        self._number = 0
        self._pushed_back: deque[Line] = deque()
        opened = self._opened = file.open()
        self._encoding = _marked_encoding(opened.peek(4)) or encoding
        try:
            # Bytes that the encoding does not allow become lone surrogates, so that only their lines are lost.
            self._text = io.TextIOWrapper(opened, self._encoding, errors="surrogateescape", newline="")
        except LookupError as error:
            file.close(opened)
            raise ConfigError(
                Parameter("encoding"), f" must be one that Python knows, such as 'latin-1'; got {encoding!r}"
            ) from error
        self._close = partial(file.close, opened)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self._text.detach()  # so that it does not close the standard input
        self._close()

    def __iter__(self) -> Self:
        return self

    @property
    def would_wait(self) -> bool:
        """Whether the rows so far should be used before the next line is read; False for files."""
        return False

    def __next__(self) -> Line:
        if self._pushed_back:
            line = self._pushed_back.popleft()
            self.n_characters += len(line[1])
            return line
        text = self._read()
        if not text:
            raise StopIteration
        self._number += 1
        self.n_characters += len(text)
        if text.isascii() and "\0" not in text and len(text) < MAX_LINE_CHARACTERS:
            return self._number, text, None
        return self._number, text, self._check(text)

    def _read(self) -> str:
        try:
            return self._text.readline(MAX_LINE_CHARACTERS)
        except READ_ERRORS as error:
            raise DataError(f"{self.file_name} cannot be read after line {self._number}: {error}") from error

    def _check(self, text: str) -> Reason | None:
        """Return why a line cannot be used, None if it can; skips the rest of a line that is too long."""
        if text[-1] not in "\r\n" and len(text) == MAX_LINE_CHARACTERS:
            while text and text[-1] not in "\r\n":
                text = self._read()
            return f"the line is longer than {MAX_LINE_CHARACTERS:,} characters"
        if "\0" in text:
            return "the line holds a NUL byte: the file is damaged, binary, or in another encoding"
        try:
            text.encode()
        except UnicodeEncodeError as error:
            mark = len("".encode(self._encoding))
            byte = len(text[: error.start].encode(self._encoding, "replace")) - mark + 1
            value = ord(text[error.start]) & 0xFF
            return DataError(
                f"byte {byte} of the line is 0x{value:02X}, not {self._encoding}; pass ",
                Parameter("encoding", "latin-1"),
                " or another encoding",
            )
        return None

    def push_back(self, lines: Sequence[Line]) -> None:
        """Push lines back onto the reader, which returns them next, in the same order."""
        self._pushed_back.extendleft(reversed(lines))
        self.n_characters -= sum(len(text) for _, text, _ in lines)

    def peek(self, n_lines: int, n_characters: int) -> list[Line]:
        """Return the next lines, up to a number of lines or of characters, and push them back."""
        taken: list[Line] = []
        enough = self.n_characters + n_characters
        for line in self:
            taken.append(line)
            if len(taken) == n_lines or self.n_characters >= enough or self.would_wait:
                break
        self.push_back(taken)
        return taken
