"""Malformed and damaged files give a clear error each, never an error of another kind or a hang."""

import bz2
import csv
import gzip
import io
import lzma
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from driftline import DataError, DriftlineError
from driftline.errors import MissingExtraError
from driftline.streams import open_stream

CSV = b"x,z,y\n" + b"".join(b"%d,%d,%d\n" % (i, i * i, i % 2) for i in range(30))
JSONL = b"".join(b'{"x": %d, "z": "v%d", "y": "%s"}\n' % (i, i % 3, b"ab"[i % 2 :][:1]) for i in range(30))
ARFF = b"@relation r\n@attribute x real\n@attribute 'the z' {a, b}\n@attribute y {0, 1}\n@data\n" + b"".join(
    b"%d,%s,%d\n{0 %d, 1 'b'}\n" % (i, b"ab"[i % 2 :][:1], i % 2, i) for i in range(15)
)


def as_parquet(**columns):
    file = io.BytesIO()
    parquet.write_table(pa.table(columns), file)
    return file.getvalue()


def as_zip(content):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("data.csv", content)
    return file.getvalue()


PARQUET = as_parquet(x=np.arange(500.0), z=[f"v{i % 7}" for i in range(500)], y=np.arange(500) % 2)
GZ = gzip.compress(b"x,z,y\n" + b"".join(b"%d,%d,%d\n" % (i * i, i**3, i % 2) for i in range(3000)))
HEAD = b"x,z,y\n" + b"1,2,0\n" * 1000
DEEP = b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b', "y": 1}\n'

# Name, content and the beginning of the error message after the name of the file.
HAND_MADE = [
    ("empty.csv", b"", " is empty"),
    ("newlines.csv", b"\n\n\n", " is empty"),
    ("spaces.csv", b"   \n\t\n", " is empty"),
    ("mark.csv", b"\xef\xbb\xbf", " is empty"),
    ("header.csv", b"x,z,y\n", " has no rows; expected some"),
    ("header_without_end.csv", b"x,z,y", " has no rows; expected some"),
    ("header_and_blanks.csv", b"x,z,y\n\n  \n", " has no rows; expected some"),
    ("one_column.csv", b"y\n1\n2\n", ", line 1: expected cells with"),
    ("other_delimiter.csv", b"x~y\n1~2\n3~4\n", ", line 1: expected cells with"),
    ("no_label.csv", b"x,z,w\n1,2,3\n", ": label='y' is not the name of a column"),
    ("label_with_case.csv", b"x,z,Y\n1,2,3\n", ": label='y' is not the name of a column; did you mean 'Y'?"),
    ("two_labels.csv", b"y,z,y\n1,2,3\n", ": label='y' is the name of 2 columns"),
    ("only_label.jsonl", b'{"y": 1}\n', ": no column is left to learn from"),
    ("nul_in_header.csv", b"x,\0z,y\n1,2,3\n", ", line 1: the line holds a NUL byte"),
    ("nul_in_row.csv", b"x,z,y\n1,2,3\n1,\0,3\n", ", line 3: the line holds a NUL byte"),
    ("nul_everywhere.csv", bytes(10_000), ", line 1: the line holds a NUL byte"),
    ("nul_at_end.csv", CSV + bytes(4096), ", line 32: the line holds a NUL byte"),
    ("short_row.csv", b"x,z,y\n1,2,3\n1,2\n", ", line 3: expected 3 cells, as in the first row; got 2"),
    ("long_row.csv", b"x,z,y\n1,2,3\n1,2,3,4\n", ", line 3: expected 3 cells, as in the first row; got 4"),
    ("row_names.csv", b"x,z,y\nr1,1,2,3\nr2,1,2,3\n", ", line 2: expected 3 cells"),
    ("trailing_comma.csv", b"x,z,y\n1,2,3,\n", ", line 2: expected 3 cells"),
    ("title.csv", b"My data\nx,z,y\n1,2,3\n", ", line 1: expected cells with"),
    ("footer.csv", CSV + b"30 rows selected.\n", ", line 32: expected 3 cells"),
    ("cut.csv", CSV[:-4], ", line 31: expected 3 cells"),
    ("open_quote.csv", b'x,z,y\n1,2,3\n"1,2,3\n4,5,6\n', ", line 3: expected quotes to be closed"),
    ("open_quote_before_others.csv", b'x,z,y\n"1,2,3\n"4",5,6\n', ", line 2: expected quotes to be closed"),
    ("text_after_quote.csv", b'x,z,y\n"1"a,2,3\n', ", line 2: expected quotes to be closed"),
    ("open_quote_in_header.csv", b'"x,z,y\n1,2,3\n', ", line 1: expected quotes to be closed"),
    ("long_quote.csv", b'x,z,y\n"' + b"1,2,3\n" * 100_000, ", line 2: expected quotes to be closed"),
    ("many_line_breaks.csv", b'x,z,y\n"' + b"\n" * 5000 + b'",2,3\n', ", line 2: expected quotes to be closed"),
    ("reopened_quotes.csv", b"x,z,y\n" + b'a"b,"c\n' * 3000, ", line 2: expected quotes to be closed"),
    ("huge_quoted_cell.csv", b'x,z,y\n"' + b"a" * 200_000 + b'",2,3\n', ", line 2: expected quotes to be closed"),
    ("huge_line.csv", b"x,z,y\n1,2," + b"3" * 5_000_000 + b"\n", ", line 2: the line is longer than"),
    ("huge_header.csv", b"x" * 5_000_000, ", line 1: the line is longer than"),
    ("huge_without_lines.csv", b"x,y," * 2_000_000, ", line 1: the line is longer than"),
    ("huge_number.csv", b"x,z,y\n" + b"9" * 100_000 + b",2,3\n", ", line 2: column 'x': '999"),
    ("huge_label.csv", b"x,z,y\n1,2," + b"a" * 100_000 + b"\n", ", line 2: label column 'y': expected a label"),
    ("latin.csv", "x,z,y\n1,2,3\n1,café,3\n".encode("latin-1"), ", line 3: byte 6 of the line is 0xE9, not utf-8"),
    ("latin_header.csv", "x,é,y\n1,2,3\n".encode("latin-1"), ", line 1: byte 3 of the line is 0xE9, not utf-8"),
    ("latin_after_mark.csv", b"\xef\xbb\xbfx,z,y\n1,\xe9,3\n", ", line 2: byte 3 of the line is 0xE9, not utf-8"),
    ("cut_character.csv", "x,z,y\n1,2,é".encode()[:-1], ", line 2: byte 5 of the line is 0xC3"),
    ("surrogate.csv", b"x,z,y\n1,\xed\xa0\x80,3\n", ", line 2: byte 3 of the line is 0xED"),
    ("overlong.csv", b"x,z,y\n1,\xc0\xaf,3\n", ", line 2: byte 3 of the line is 0xC0"),
    ("utf16_without_mark.csv", "x,z,y\n1,2,3\n".encode("utf-16-le"), ", line 1: the line holds a NUL byte"),
    ("utf16_cut.csv", "x,z,y\n1,2,3\n".encode("utf-16")[:-1], " cannot be read after line"),
    ("utf16_broken.csv", b"\xff\xfex\0,\0y\0\n\0" + b"\x00\xdc" * 3 + b"\n\0", " cannot be read after line 0"),
    ("utf32_broken.csv", b"\xff\xfe\0\0" + b"\xff" * 8, ", line 1: byte 1 of the line is 0xFF"),
    ("infinite.csv", b"x,z,y\n1,2,3\ninf,2,3\n", ", line 3: column 'x': 'inf' is beyond 1e+30"),
    ("minus_infinity.csv", b"x,z,y\n-Infinity,2,3\n", ", line 2: column 'x': '-Infinity' is beyond 1e+30"),
    ("overflow.csv", b"x,z,y\n1,1e999,3\n", ", line 2: column 'z': '1e999' is beyond 1e+30"),
    ("too_large.csv", b"x,z,y\n1,-1e31,3\n", ", line 2: column 'z': '-1e31' is beyond 1e+30"),
    ("no_number.csv", HEAD + b"one,2,0\n", ", line 1002: column 'x': 'one' is not a number"),
    ("underscore.csv", HEAD + b"1_0,2,0\n", ", line 1002: column 'x': '1_0' is not a number"),
    ("other_digits.csv", HEAD + "١,2,0\n".encode(), ", line 1002: column 'x': '١' is not a number"),
    ("missing_label.csv", b"x,z,y\n1,2,\n", ", line 2: label column 'y': the label is missing"),
    ("question_label.csv", b"x,z,y\n1,2,?\n", ", line 2: label column 'y': the label is missing"),
    ("late_text_label.csv", HEAD + b"1,2,b\n", ", line 1002: label column 'y': expected a whole number"),
    ("fraction_label.csv", HEAD + b"1,2,0.5\n", ", line 1002: label column 'y': expected a whole number"),
    ("decimal_commas.csv", b"x;z;y\n1,5;2,5;0\n", ": column 'x' holds numbers with a comma"),
    ("object.csv", b'{"x": 1, "z": 2, "y": 3}\n', ", line 1: expected quotes"),
    ("html.csv", b"<!DOCTYPE html>\n<html>\n<title>404, not found</title>\n", ": label='y' is not the name of a"),
    ("image.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)), ", line 1: byte 1 of the line is 0x89"),
    ("parquet.csv", PARQUET, ", line 1: "),
    ("program", b"\x7fELF\x02\x01\x01" + bytes(1000), ", line 1: the line holds a NUL byte"),
    ("archive", as_zip(CSV), " is compressed with zip (an Excel workbook is such a file"),
    ("archive.bin", bz2.compress(CSV), " is compressed with bzip2; decompress it"),
    ("archive.xz", lzma.compress(CSV), " is compressed with xz; decompress it"),
    ("archive.zst", b"(\xb5/\xfd" + bytes(100), " is compressed with zstandard; decompress it"),
    ("cut.csv.gz", GZ[:-100], " cannot be read after line"),
    ("no_checksum.csv.gz", GZ[:-8], " cannot be read after line"),
    ("wrong_checksum.csv.gz", GZ[:-8] + b"\1\2\3\4" + GZ[-4:], " cannot be read after line"),
    ("damaged.csv.gz", GZ[:9000] + b"\xff" * 50 + GZ[9050:], " cannot be read after line"),
    ("trailing.csv.gz", GZ + b"more", " cannot be read after line"),
    ("gz_header.csv.gz", GZ[:10], " cannot be read: Compressed"),
    ("gz_magic.csv.gz", b"\x1f\x8b", " cannot be read: Compressed"),
    ("gz_other_method.csv.gz", b"\x1f\x8b\x01" + GZ[3:], " cannot be read: Unknown"),
    ("gz_of_nothing.csv.gz", gzip.compress(b""), " is empty"),
    ("gz_by_content.csv", gzip.compress(b"x,z,y\n1,2\n"), ", line 2: expected 3 cells"),
    ("empty.jsonl", b"", " is empty"),
    ("blank.jsonl", b"\n \n", " is empty"),
    ("array.json", b'[{"x": 1, "y": 2}]\n', ", line 1: expected a JSON object on a line of its own"),
    ("pretty.json", b'{\n  "x": 1,\n  "y": 2\n}\n', ", line 1: expected a JSON object on a line of its own; Expecting"),
    ("number.jsonl", b"5\n", ", line 1: expected a JSON object on a line of its own"),
    ("text.jsonl", b'"x"\n', ", line 1: expected a JSON object"),
    ("null.jsonl", b"null\n", ", line 1: expected a JSON object"),
    ("csv.jsonl", CSV, ", line 1: expected a JSON object"),
    ("no_keys.jsonl", b"{}\n{}\n", " is empty; expected a JSON object with keys"),
    ("cut.jsonl", JSONL[:-5], ", line 30: expected a JSON object"),
    ("two_objects.jsonl", b'{"x": 1, "y": 2} {"x": 1, "y": 2}\n', ", line 1: expected a JSON object"),
    ("single_quotes.jsonl", b"{'x': 1, 'y': 2}\n", ", line 1: expected a JSON object"),
    ("trailing_comma.jsonl", b'{"x": 1, "y": 2,}\n', ", line 1: expected a JSON object"),
    ("deep.jsonl", DEEP, ", line 1: the JSON object is nested too deeply"),
    ("deep_later.jsonl", JSONL + DEEP, ", line 31: the JSON object is nested too deeply"),
    ("repeated_key.jsonl", b'{"x": 1, "x": 2, "y": 3}\n', ", line 1: key 'x' comes twice"),
    ("half_character.jsonl", b'{"x": "\\ud800", "y": 3}\n', ", line 1: its text has one half of a surrogate pair"),
    ("escaped_nul.jsonl", b'{"x": 1, "y": "a\\u0000"}\n', ", line 1: label column 'y': expected a label"),
    ("nul.jsonl", JSONL + b'{"x": "\0"}\n', ", line 31: the line holds a NUL byte"),
    ("latin.jsonl", JSONL + b'{"x": "\xe9"}\n', ", line 31: byte 8 of the line is 0xE9"),
    ("nested.jsonl", b'{"x": [1], "y": 3}\n', ", line 1: column 'x': [1] is"),
    ("nested_label.jsonl", b'{"x": 1, "y": {"a": 1}}\n', ", line 1: label column 'y': {'a': 1} is neither"),
    ("null_label.jsonl", b'{"x": 1, "y": null}\n', ", line 1: label column 'y': the label is missing"),
    ("nan_label.jsonl", b'{"x": 1, "y": NaN}\n', ", line 1: label column 'y': the label is missing"),
    ("no_label_in_row.jsonl", b'{"x": 1, "y": 1}\n{"x": 1}\n', ", line 2: label column 'y': the label is missing"),
    ("no_label.jsonl", b'{"x": 1}\n', ": label='y' is not the name of a column"),
    ("infinite.jsonl", b'{"x": Infinity, "y": 1}\n', ", line 1: column 'x': inf is beyond"),
    ("huge_number.jsonl", b'{"x": 1' + b"0" * 400 + b', "y": 1}\n', ", line 1: column 'x': 1000"),
    ("too_many_digits.jsonl", b'{"x": 1' + b"0" * 5000 + b', "y": 1}\n', ", line 1: "),
    ("huge_line.jsonl", b'{"x": "' + b"a" * 5_000_000 + b'", "y": 1}\n', ", line 1: the line is longer than"),
    ("late_key.jsonl", b'{"x": 1, "y": 2}\n' * 1000 + b'{"x": 1, "w": 1, "y": 2}\n', ", line 1001: key 'w'"),
    ("late_text.jsonl", b'{"x": 1, "y": 2}\n' * 1000 + b'{"x": "a", "y": 2}\n', ", line 1001: column 'x'"),
    ("empty.arff", b"", ": expected '@data'"),
    ("comments.arff", b"% nothing\n%\n", ": expected '@data'"),
    ("no_data.arff", b"@relation r\n@attribute x real\n@attribute y {0,1}\n", ": expected '@data'"),
    ("no_rows.arff", b"@relation r\n@attribute x real\n@attribute y {0,1}\n@data\n", " has no rows; expected some"),
    ("no_attributes.arff", b"@relation r\n@data\n1,2\n", ": expected '@attribute name type'"),
    ("csv.arff", CSV, ", line 1: expected @relation, @attribute or @data"),
    ("type.arff", b"@attribute x complex\n@attribute y {0}\n@data\n1,0\n", ", line 1: attribute 'x' is"),
    ("relational.arff", b"@attribute x relational\n@data\n", ", line 1: attribute 'x' is of type 'relational'"),
    ("weight.arff", b"@attribute x real {2}\n@data\n", ", line 1: attribute 'x' has a weight"),
    ("open_list.arff", b"@attribute y {a, b\n@data\n", ", line 1: expected cells with commas"),
    ("no_type.arff", b"@attribute x\n@data\n", ", line 1: expected '@attribute name type'"),
    ("nul_above.arff", b"@attribute \0x real\n@attribute y {0}\n@data\n1,0\n", ", line 1: the line holds a NUL byte"),
    ("latin_above.arff", b"@attribute \xe9 real\n@attribute y {0}\n@data\n1,0\n", ", line 1: byte 12 of"),
    ("nul_row.arff", ARFF + b"1,\0,0\n", ", line 36: the line holds a NUL byte"),
    ("short_row.arff", ARFF + b"1,a\n", ", line 36: expected 3 cells, one for each attribute; got 2"),
    ("long_row.arff", ARFF + b"1,a,0,4\n", ", line 36: expected 3 cells"),
    ("instance_weight.arff", ARFF + b"1,a,0,{5}\n", ", line 36: the row has a weight"),
    ("not_listed.arff", ARFF + b"1,c,0\n", ", line 36: 'c' is not in the list of attribute 'the z'"),
    ("open_quote.arff", ARFF + b"1,'a,0\n", ", line 36: expected cells with commas"),
    ("open_sparse.arff", ARFF + b"{0 1\n", ", line 36: a sparse row must end"),
    ("beyond_sparse.arff", ARFF + b"{7 1}\n", ", line 36: cell of attribute 7"),
    ("twice_sparse.arff", ARFF + b"{0 1, 0 2}\n", ", line 36: cell of attribute 0"),
    ("no_value_sparse.arff", ARFF + b"{0}\n", ", line 36: expected cells"),
    ("no_number.arff", ARFF + b"one,a,0\n", ", line 36: column 'x': 'one' is not a number"),
    ("no_label_value.arff", ARFF + b"1,a,?\n", ", line 36: label column 'y': the label is missing"),
    ("huge_line.arff", ARFF + b"1," + b"a" * 5_000_000 + b",0\n", ", line 36: the line is longer than"),
    ("many_quotes.arff", ARFF + b"'" * 1_000_000 + b"\n", ", line 36: "),
    ("many_escapes.arff", ARFF + b"'" + b"\\'" * 1_000_000 + b"\n", ", line 36: "),
    ("many_braces.arff", ARFF + b"{" * 1_000_000 + b"\n", ", line 36: "),
    ("many_spaces.arff", ARFF + b"1" + b" " * 1_000_000 + b"1,a\n", ", line 36: "),
    ("many_spaces_sparse.arff", ARFF + b"{0 1" + b" " * 1_000_000 + b"x 'a}\n", ", line 36: "),
    ("many_values.arff", b"@attribute x {" + b"'\\'" * 500_000 + b"\n@data\n", ", line 1: "),
    ("empty.parquet", b"", " cannot be read as Parquet"),
    ("magic.parquet", b"PAR1", " cannot be read as Parquet"),
    ("two_magics.parquet", b"PAR1" + b"\x10\0\0\0" + b"PAR1", " cannot be read as Parquet"),
    ("csv.parquet", CSV, " cannot be read as Parquet"),
    ("zeros.parquet", bytes(1000), " cannot be read as Parquet"),
    ("cut.parquet", PARQUET[:-1], " cannot be read as Parquet"),
    ("half.parquet", PARQUET[: len(PARQUET) // 2], " cannot be read as Parquet"),
    ("no_start.parquet", PARQUET[100:], " cannot be read after row 0"),
    ("no_footer.parquet", PARQUET[:-200] + PARQUET[-8:], " cannot be read as Parquet"),
    ("long_footer.parquet", PARQUET[:-8] + b"\xff\xff\xff\x7fPAR1", " cannot be read as Parquet"),
    ("no_columns.parquet", as_parquet(), ": label='y' is not the name of a column"),
    ("no_rows.parquet", as_parquet(x=pa.array([], pa.float64()), y=pa.array([], pa.int64())), " has no rows"),
    ("no_label.parquet", as_parquet(x=[1.0], Y=[1]), ": label='y' is not the name of a column"),
    ("null_label.parquet", as_parquet(x=[1.0, 2.0], y=[1, None]), ", row 2: label column 'y': the label is missing"),
    ("nan_label.parquet", as_parquet(x=[1.0, 2.0], y=[1.0, np.nan]), ", row 2: label column 'y': the label is missing"),
    ("infinite.parquet", as_parquet(x=[1.0, np.inf], y=[1, 2]), ", row 2: column 'x': "),
    ("list.parquet", as_parquet(x=[[1.0], [2.0]], y=[1, 2]), ", row 1: column 'x': [1.0] is"),
    ("bytes.parquet", as_parquet(x=[b"1", b"2"], y=[1, 2]), ", row 1: column 'x': b'1' is"),
    ("list_label.parquet", as_parquet(x=[1.0], y=[[1]]), ", row 1: label column 'y': [1] is neither"),
    ("packed.parquet.gz", gzip.compress(PARQUET), " cannot be read as Parquet"),
]  # fmt: skip


def outcome(path, **options):
    """Open a file and read it to the end; return the error it gives, how many rows came and how many were skipped."""
    n_rows, stream = 0, None
    try:
        stream = open_stream(path, "y", **options)
        for block in stream.blocks():
            n_rows += len(block.rows)
    except DriftlineError as error:
        return error, n_rows, 0
    return None, n_rows, stream.n_skipped


@pytest.mark.parametrize(("name", "content", "message"), HAND_MADE, ids=[name for name, _, _ in HAND_MADE])
def test_a_malformed_file_gives_an_error_that_says_what_and_where(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    error, _, _ = outcome(path)
    assert isinstance(error, DataError)
    assert str(error).startswith(f"{path}{message}")
    assert len(str(error)) < 1000


@pytest.mark.parametrize(("name", "content", "message"), HAND_MADE, ids=[name for name, _, _ in HAND_MADE])
def test_a_malformed_file_is_read_without_its_bad_rows_or_gives_an_error(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    error, n_rows, n_skipped = outcome(path, on_bad_row="skip")
    if error is None:
        assert n_rows > 0
        assert n_skipped > 0
    else:
        assert isinstance(error, DataError)
        assert str(path) in str(error)


def damage(content, rng):
    """Flip, delete, insert or cut some bytes."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 6)):
        at, length = int(rng.integers(len(content) + 1)), int(rng.integers(1, 20))
        kind = rng.integers(8)
        if kind == 0:
            del content[at:]
        elif kind <= 2:
            del content[at : at + length]
        elif kind <= 4:
            content[at:at] = rng.choice([b"\0", b'"', b"'", b",", b"\n", b"{", b"}", b"\xff", b"nan", b"1e999", b"\\"])
        elif kind == 5:
            content[at:at] = rng.bytes(length)
        else:
            content[at : at + 1] = rng.bytes(1)
    return bytes(content)


def test_the_longest_cell_does_not_depend_on_what_other_libraries_set(tmp_path):
    path, usual = tmp_path / "long.csv", csv.field_size_limit(2**31 - 1)
    try:
        path.write_text('x,z,y\n1,"' + "a" * 131_073 + '",0\n1,"' + "a" * 131_072 + '",0\n')
        assert outcome(path, on_bad_row="skip") == (None, 1, 1)
    finally:
        csv.field_size_limit(usual)


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv", CSV), ("a.csv.gz", GZ), ("a.jsonl", JSONL), ("a.arff", ARFF), ("a.parquet", PARQUET)],
    ids=["csv", "gz", "jsonl", "arff", "parquet"],
)
def test_a_hundred_damaged_files_give_a_clear_error_each(tmp_path, name, content):
    """Files that can still be read are not counted."""
    path = tmp_path / name
    rng = np.random.default_rng(0)
    n_errors = n_files = 0
    while n_errors < 100:
        n_files += 1
        assert n_files < 500
        path.write_bytes(damage(content, rng))
        error, n_rows, n_skipped = outcome(path)
        assert n_skipped == 0
        if error is None:
            assert n_rows > 0
        else:
            assert str(path) in str(error)
            n_errors += 1
            left_out, n_rows, n_skipped = outcome(path, on_bad_row="skip")
            assert str(path) in str(left_out) if left_out else min(n_rows, n_skipped) > 0


@settings(max_examples=200)
@given(
    content=st.binary(max_size=300) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
    start=st.sampled_from(
        [b"", b"x,y\n", b"x;y\n1;2\n", b'{"y": 1, "x": "', b"@attribute x real\n@attribute y {a", b"PAR1"]
    ),
    name=st.sampled_from(["a.csv", "a.jsonl", "a.arff", "a.parquet", "unknown"]),
    on_bad_row=st.sampled_from(["stop", "skip"]),
)
def test_arbitrary_bytes_give_rows_or_a_driftline_error(content, start, name, on_bad_row, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(start + content)
    error, n_rows, _ = outcome(path, on_bad_row=on_bad_row)
    assert str(path) in str(error) if error else n_rows > 0


def test_a_path_that_is_not_a_file_is_an_error(tmp_path):
    with pytest.raises(DataError, match="is a folder; expected a file"):
        open_stream(tmp_path, "y")
    with pytest.raises(DataError, match=r"cannot open '.*nothing\.csv': No such file or directory"):
        open_stream(tmp_path / "nothing.csv", "y")
    with pytest.raises(DataError, match=r"cannot open .*null (byte|character)"):
        open_stream("a\0b.csv", "y")
    (tmp_path / "dangling.csv").symlink_to(tmp_path / "nothing.csv")
    with pytest.raises(DataError, match=r"cannot open '.*dangling\.csv'"):
        open_stream(tmp_path / "dangling.csv", "y")


@pytest.mark.parametrize(
    ("name", "content", "n_good"),
    [
        ("ragged_head.csv", b"x,z,y\n" + b"1,2,0\n" * 500 + b"1,2\n1,2,0\n", 0),
        ("far_ragged.csv", HEAD + b"1,2,0\n" * 5000 + b"1,2\n1,2,0\n", 6000),
        ("text_before_ragged.csv", HEAD + b"1,2,0\n" * 5000 + b"1,two,0\n1,2\n", 6000),
        ("infinite.parquet", as_parquet(x=[1.0, 2.0, np.inf], y=[1, 2, 3]), 2),
    ],
)
def test_the_rows_before_a_bad_row_come_first(tmp_path, name, content, n_good):
    """But a bad row in the head, which decides the columns, is an error at once."""
    (tmp_path / name).write_bytes(content)
    error, n_rows, _ = outcome(tmp_path / name)
    assert isinstance(error, DataError)
    assert n_rows == n_good


def test_after_an_unclosed_quote_the_next_line_is_read(tmp_path):
    path = tmp_path / "quotes.csv"
    path.write_text('x,z,y\n1,"2\n",3\n"4,5,6\n7,8,9\n"10","11",12\n1,2\n')
    stream = open_stream(path, "y", on_bad_row="skip")
    (block,) = stream.blocks()
    assert block.rows.tolist() == [[1, 2], [7, 8], [10, 11]]
    assert stream.n_skipped == 2
    assert [reason.split(":")[0] for reason in stream.skipped] == [f"{path}, line 4", f"{path}, line 7"]


def test_all_bad_rows_are_counted_and_ten_described(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_bytes(HEAD + b"1,2\n" * 300 + b"1,2,0\n")
    stream = open_stream(path, "y", on_bad_row="skip")
    assert stream.n_rows is None
    assert (stream.n_skipped, stream.skipped) == (0, ())
    for _ in range(2):
        assert sum(len(block.rows) for block in stream.blocks()) == 1001
        assert stream.n_skipped == 300
        assert stream.skipped[9] == f"{path}, line 1011: expected 3 cells, as in the first row; got 2"
        assert len(stream.skipped) == 10
    assert sum(len(block.rows) for block in stream.blocks(start=1000)) == 1
    assert stream.n_rows == 1001


def test_a_file_whose_columns_have_changed_must_be_opened_again(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(CSV)
    stream = open_stream(path, "y")
    path.write_bytes(CSV.replace(b"x,z", b"x,w"))
    with pytest.raises(DataError, match="has other columns than when it was opened"):
        next(stream.blocks())


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "a.parquet").write_bytes(PARQUET)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"needs pyarrow; pip install 'driftline\[files\]'"):
        open_stream(tmp_path / "a.parquet", "y")


def test_a_single_row_out_of_order_is_skipped_wherever_it_stands(tmp_path):
    for n in (4095, 4096, 4097):
        rows = [f"{i},1,{i % 2}" for i in range(1, n + 1)]
        path = tmp_path / f"{n}.csv"
        path.write_text("\n".join(["t,x,class", *rows, "5,1,1", ""]))
        stream = open_stream(path, label="class", time="t", on_bad_row="skip")
        assert sum(len(block.rows) for block in stream.blocks()) == n
        assert stream.n_skipped == 1
