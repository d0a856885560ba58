"""Lines of a pipe, each as soon as it has come."""

import codecs
from collections import deque

from driftline.errors import DataError
from driftline.streams.files.input_file import MAX_LINE_CHARACTERS, READ_ERRORS, InputFile, Line, LineReader

READ_BYTES = 2**16
"""Most bytes that are read at once."""


class LiveLineReader(LineReader):
    """Iterator over the lines of a pipe, which never waits for more than the next line.

    Lines end with a line feed, also those that end with a carriage return and a line feed.

    Parameters
    ----------
    file : InputFile
        The pipe.
    encoding : str
        Its encoding, unless it begins with a byte order mark.
    """

    def __init__(self, file: InputFile, encoding: str) -> None:
        super().__init__(file, encoding)
        self._decoder = codecs.getincrementaldecoder(self._encoding)("surrogateescape")
        self._complete: deque[str] = deque()
        self._rest = ""
        self._has_ended = False

    @property
    def would_wait(self) -> bool:
        """Whether the next line has not come yet."""
        return not self._complete and not self._pushed_back

    def peek(self, n_lines: int, n_characters: int) -> list[Line]:
        """Return the next lines that have come, at the beginning one at least, and push them back."""
        return [] if self._number and self.would_wait else super().peek(n_lines, n_characters)

    def _read(self) -> str:
        while not self._complete and not self._has_ended:
            try:
                read = self._opened.read1(READ_BYTES)
                text = self._rest + self._decoder.decode(read, final=not read)
            except READ_ERRORS as error:
                raise DataError(f"{self.file_name} cannot be read after line {self._number}: {error}") from error
            self._has_ended = not read
            *lines, self._rest = text.split("\n")
            for line in lines:
                self._add(f"{line}\n")
            if self._has_ended or len(self._rest) > MAX_LINE_CHARACTERS:
                self._add(self._rest)
                self._rest = ""
        return self._complete.popleft() if self._complete else ""

    def _add(self, line: str) -> None:
        """Add a line, in pieces if it is too long."""
        self._complete += (line[i : i + MAX_LINE_CHARACTERS] for i in range(0, len(line), MAX_LINE_CHARACTERS))
