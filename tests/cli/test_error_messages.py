"""Errors show the user's data as they are, and parameters as options of the command line."""

import pytest

ROWS = "".join(f"{t},{t % 7},{t % 2}\n" for t in range(60))
FAST = ("--model", "dwm")
SKIP = "(--on-bad-row skip skips such rows)"


@pytest.fixture
def error(folder, command):
    """Run a command on a file with some content, and return what it writes to the standard error."""

    def run(content, *arguments):
        (folder / "odd.csv").write_bytes(content.encode("latin-1"))
        left = command("run", "odd.csv", *arguments, *FAST)
        assert left.code in (1, 2)
        return left.err.removeprefix("driftline: ").rstrip("\n")

    return run


@pytest.mark.parametrize("cell", ["time=5", "label=3", "ignore= 7", "header=True", "on_bad_row='skip'", "encoding='x'"])
def test_a_cell_that_looks_like_a_parameter_is_shown_as_it_is(error, cell):
    advice = "correct it, or name the column in --categorical or --ignore"
    message = error(f"x,z,y\n{ROWS}{cell},1,0\n", "--label", "y")
    assert message == f"odd.csv, line 62: column 'x': {cell!r} is not a number; {advice} {SKIP}"


def test_a_label_that_looks_like_a_parameter_is_shown_as_it_is(error):
    message = error("x,z,y\n" + "1,2,0\n1,2,1\n" * 600 + "1,2,label=3\n", "--label", "y")
    assert message == (
        "odd.csv, line 1202: label column 'y': expected a whole number, as the first labels are; got 'label=3': "
        f"correct it, or name the label in --categorical too, to read all labels as text {SKIP}"
    )


def test_a_column_that_looks_like_a_parameter_is_shown_as_it_is(error):
    message = error(f"header=True,time=1,y\n{ROWS}a,1,0\n", "--label", "y")
    assert message.startswith("odd.csv, line 62: column 'header=True': 'a' is not a number")
    message = error(f"header=True,time=1,y\n{ROWS}", "--label", "none")
    assert message == "odd.csv: --label none is not the name of a column; the columns are 'header=True', 'time=1', 'y'"


def test_a_file_that_looks_like_a_parameter_is_shown_as_it_is(folder, command):
    (folder / "label=x.csv").write_text("x,y\n1\n")
    message = f"driftline: label=x.csv, line 2: expected 2 cells, as in the first row; got 1 {SKIP}\n"
    assert command("run", "label=x.csv", "--label", "y") == (1, "", message)


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (f"x,z,y\n{ROWS}", (), "odd.csv: set --label to the name or position of the label; columns: 'x', 'z', 'y'"),
        (
            f"x,z,y\n{ROWS}",
            ("--label", "9"),
            "odd.csv: --label 9 is not a position: there are 3 columns, 'x', 'z', 'y'",
        ),
        (
            f"x,z,y\n{ROWS}",
            ("--label", "y", "--time", "when it was"),
            "odd.csv: --time 'when it was' is not the name of a column; the columns are 'x', 'z', 'y'",
        ),
        (
            f"x,z,y\n{ROWS}",
            ("--label", "y", "--ignore", "y"),
            "column 'y' is named in two of --label, --time, --ignore, --categorical and --use; name it in one",
        ),
        (
            "a,b\nc,d\n",
            ("--label", "1"),
            "odd.csv: cannot tell whether the first row, 'a', 'b', is a header, since no column below it holds "
            "numbers; pass --header or --no-header",
        ),
        (
            "x~y\n1~2\n",
            ("--label", "y"),
            "odd.csv, line 1: expected cells with ',' between them, as in a header; got 'x~y'. Set --delimiter if it "
            "is another character, or remove the lines above the header",
        ),
        (
            f"x,z,y\n{ROWS}",
            ("--label", "y", "--encoding", "utf-9"),
            "--encoding must be one that Python knows, such as 'latin-1'; got 'utf-9'",
        ),
        (
            f"x,z,y\n{ROWS}\xe9,1,0\n",
            ("--label", "y"),
            "odd.csv, line 62: byte 1 of the line is 0xE9, not utf-8; pass --encoding latin-1 or another encoding "
            f"{SKIP}",
        ),
        (
            f'x,z,y\n{ROWS}"1,\n\xe9,1,0\n',
            ("--label", "y"),
            "odd.csv, line 62: expected quotes to be closed, doubled inside a quoted cell and followed by the "
            "delimiter, and cells that are not too long (line 63, before they are closed: byte 1 of the line is "
            f"0xE9, not utf-8; pass --encoding latin-1 or another encoding) {SKIP}",
        ),
        (
            "x,z,y\n1,2\n",
            ("--label", "y", "--on-bad-row", "skip"),
            "odd.csv has no usable rows; the first of 1 is odd.csv, line 2: expected 3 cells, as in the first row; "
            "got 2",
        ),
        (
            "x;y\n" + "".join(f"{t},5;{t % 2}\n" for t in range(50)),
            ("--label", "y"),
            "odd.csv: column 'x' holds numbers with a comma, such as '0,5'; write decimals with a point and thousands "
            "without a comma, or name the column in --categorical or --ignore",
        ),
    ],
)
def test_parameters_are_shown_as_options(error, content, arguments, message):
    assert error(content, *arguments) == message


def test_options_that_do_not_apply_to_arrays_are_named(folder, command):
    (folder / "any.npz").write_bytes(b"")
    left = command("run", "any.npz", "--label", "class", "--time", "when")
    assert left.err == ("driftline: any.npz is NPZ, with arrays X, y and optionally times; leave out --label, --time\n")


def test_the_models_of_a_comparison_that_fail_show_options_too(folder, command):
    (folder / "odd.csv").write_text(f"x,z,y\n{ROWS * 20}time=5,1,0\n")
    left = command("compare", "odd.csv", "--label", "y", "--models", "dwm,rbp", "--quiet")
    assert left.code == 1
    assert [line.split(":")[1] for line in left.err.splitlines()] == [" dwm", " rbp"]
    assert left.err.count("'time=5' is not a number") == left.err.count(SKIP) == 2
