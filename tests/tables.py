"""Tables written as files of every format, for tests that read them back."""

from hypothesis import strategies as st

texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=6)
"""Short texts with quotes, commas, spaces and letters of all scripts, but no line breaks."""


def quoted(cell):
    """Return a cell as ARFF has it."""
    if cell is None:
        return "?"
    return "'" + cell.replace("\\", "\\\\").replace("'", "\\'") + "'"
