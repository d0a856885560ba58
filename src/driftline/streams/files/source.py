"""A user's file as bytes and as lines: what it is packed in, how it is encoded, what format it has."""

import codecs
import gzip
import io
import stat
import sys
import zlib
from collections import deque
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Self, cast

from driftline.errors import ConfigError, DataError

LONGEST_LINE = 2**22
"""Most characters in a line; a longer one is passed over without being held in memory."""

STDIN = "-"

Line = tuple[int, str, str | None]
"""Number of a line, its text, and why it cannot be used (None if it can)."""

_EXTENSIONS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".dat": "csv", ".data": "csv",
    ".jsonl": "json", ".ndjson": "json", ".json": "json",
    ".arff": "arff", ".parquet": "parquet", ".pq": "parquet", ".npz": "npz",
}  # fmt: skip
_PACKED = {b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"(\xb5/\xfd": "zstandard"}
_MARKS = {  # the longer ones first: the mark of UTF-32 begins with that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip
_DAMAGE = OSError, EOFError, zlib.error, UnicodeError


class Source:
    """Where the bytes come from: a file, which can be opened again, or a pipe, which cannot.

    Parameters
    ----------
    path : str
        Path of the file; "-" is the standard input.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.shown = "standard input" if path == STDIN else path
        self.is_pipe = path == STDIN or self._is_special()
        self._pipe: io.BufferedReader | None = None

    def _is_special(self) -> bool:
        try:
            mode = Path(self.path).stat().st_mode
        except (OSError, ValueError) as error:
            raise DataError(f"cannot open {self.path!r}: {getattr(error, 'strerror', None) or error}") from error
        if stat.S_ISDIR(mode):
            raise DataError(f"{self.path} is a folder; expected a file")
        return not stat.S_ISREG(mode)

    def open(self) -> io.BufferedReader:
        """Return the bytes, unpacked if they are gzip's: those of a file from the beginning, of a pipe what is left."""
        if self._pipe is not None:
            return self._pipe
        try:
            file = _standard_input() if self.path == STDIN else open(self.path, "rb")  # noqa: SIM115  # the caller closes
            if file.peek(2)[:2] == b"\x1f\x8b" and self.is_pipe:
                file = io.BufferedReader(gzip.GzipFile(fileobj=file))
            elif file.peek(2)[:2] == b"\x1f\x8b":
                file.close()
                file = io.BufferedReader(gzip.GzipFile(self.path))
            file.peek(1)
        except _DAMAGE as error:
            raise DataError(f"{self.shown} cannot be read: {error}") from error
        if self.is_pipe:
            self._pipe = file
        return file

    def close(self, file: io.BufferedReader) -> None:
        """Close what `open` returned, but for the standard input, which is not ours."""
        if self.path != STDIN:
            file.close()

    @property
    def stem(self) -> str:
        """The name of the file without its extension."""
        if self.path == STDIN:
            return "stdin"
        name = Path(self.path).name
        return Path(name.removesuffix(".gz")).stem or name

    def format(self) -> str:
        """Return "csv", "json", "arff", "parquet" or "npz": by the extension, or else by how the content begins."""
        extension = Path(self.path.lower().removesuffix(".gz")).suffix
        if extension in _EXTENSIONS:
            return _EXTENSIONS[extension]
        file = self.open()
        start = file.peek(1)
        if not self.is_pipe:
            self.close(file)
        for magic, packing in _PACKED.items():
            if start.startswith(magic):
                hint = " (an Excel workbook is such a file: export it as CSV)" if packing == "zip" else ""
                raise DataError(f"{self.shown} is packed with {packing}{hint}; unpack it, or pack it with gzip")
        if start.startswith(b"PAR1"):
            return "parquet"
        lines = start.decode(_marked_encoding(start) or "utf-8", "replace").splitlines()
        first = next((line.strip() for line in lines if line.strip() and not line.lstrip().startswith("%")), "")
        if first.lower().startswith(("@relation", "@attribute")):
            return "arff"
        return "json" if first.startswith("{") else "csv"


def _standard_input() -> io.BufferedReader:
    if sys.stdin is None:
        raise DataError("there is no standard input to read from; pass the path of a file")
    buffer = sys.stdin.buffer
    return buffer if isinstance(buffer, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, buffer))


def _marked_encoding(start: bytes) -> str | None:
    return next((encoding for mark, encoding in _MARKS.items() if start.startswith(mark)), None)


class Lines:
    """The lines of a file with their numbers; none is ever held whole that is longer than `LONGEST_LINE`.

    Parameters
    ----------
    source : Source
        The file.
    encoding : str
        Its encoding; a byte order mark at the beginning overrules it.

    Attributes
    ----------
    source : str
        What to call the file in errors.
    characters : int
        How many were read, without those given back.
    """

    def __init__(self, source: Source, encoding: str) -> None:
        self.source = source.shown
        self.characters = 0
        self._number = 0
        self._returned: deque[Line] = deque()
        file = source.open()
        self._encoding = _marked_encoding(file.peek(4)) or encoding
        try:
            # Bytes that the encoding does not know become lone surrogates, so that only their lines are lost.
            self._text = io.TextIOWrapper(file, self._encoding, errors="surrogateescape", newline="")
        except LookupError as error:
            source.close(file)
            raise ConfigError(f"encoding must be one that Python knows, such as 'latin-1'; got {encoding!r}") from error
        self._close = partial(source.close, file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self._text.detach()  # so that it does not close the standard input
        self._close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Line:
        if self._returned:
            line = self._returned.popleft()
            self.characters += len(line[1])
            return line
        text = self._read()
        if not text:
            raise StopIteration
        self._number += 1
        self.characters += len(text)
        if text.isascii() and "\0" not in text and len(text) < LONGEST_LINE:
            return self._number, text, None
        return self._number, text, self._flaw(text)

    def _read(self) -> str:
        try:
            return self._text.readline(LONGEST_LINE)
        except _DAMAGE as error:
            raise DataError(f"{self.source} cannot be read after line {self._number}: {error}") from error

    def _flaw(self, text: str) -> str | None:
        """Return why a line cannot be used, if so; what is left of one that is too long is passed over."""
        if text[-1] not in "\r\n" and len(text) == LONGEST_LINE:
            while text and text[-1] not in "\r\n":
                text = self._read()
            return f"the line is longer than {LONGEST_LINE:,} characters"
        if "\0" in text:
            return "the line holds a NUL byte: the file is damaged, binary, or in another encoding"
        try:
            text.encode()
        except UnicodeEncodeError as error:
            mark = len("".encode(self._encoding))
            byte = len(text[: error.start].encode(self._encoding, "replace")) - mark + 1
            value = ord(text[error.start]) & 0xFF
            return f"byte {byte} of the line is 0x{value:02X}, not {self._encoding}; pass encoding='latin-1' or another"
        return None

    def give_back(self, lines: Sequence[Line]) -> None:
        """Let lines, in order, be the next ones."""
        self._returned.extendleft(reversed(lines))
        self.characters -= sum(len(text) for _, text, _ in lines)

    def peek(self, n_lines: int, n_characters: int) -> list[Line]:
        """Return the next lines, up to some number of them or of characters, and leave them to be read."""
        taken: list[Line] = []
        enough = self.characters + n_characters
        for line in self:
            taken.append(line)
            if len(taken) == n_lines or self.characters >= enough:
                break
        self.give_back(taken)
        return taken
