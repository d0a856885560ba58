"""Numbers of rows and of mistakes: of all rows, by class, by predicted class, and in blocks of recent rows."""

from driftline._jit import kernel
from driftline.types import Indices, Labels

N_ROWS, N_WRONG = range(2)
"""Positions in an array of counts."""
BLOCKS_PER_WINDOW = 10
"""A window begins at a multiple of a tenth of its length."""
N_BLOCKS = BLOCKS_PER_WINDOW + 1
"""Blocks that are kept: those of a window, and the one that the next row belongs to."""


@kernel
def count_rows(
    predicted: Labels,
    labels: Labels,
    totals: Indices,
    by_class: Indices,
    by_prediction: Indices,
    blocks: Indices,
    block_rows: Indices,
) -> None:
    """Count rows and mistakes; a prediction of -1 is a mistake, and belongs to no predicted class.

    `by_class` and `by_prediction` have a row for each class. Row w of `blocks` has the mistakes in the last 11 blocks
    of `block_rows[w]` rows each; block b is in column b % 11.
    """
    for t in range(labels.size):
        wrong = 1 if predicted[t] != labels[t] else 0
        for w in range(block_rows.size):
            block, place = divmod(totals[N_ROWS], block_rows[w])
            if place == 0:
                blocks[w, block % N_BLOCKS] = 0
            blocks[w, block % N_BLOCKS] += wrong
        totals[N_ROWS] += 1
        totals[N_WRONG] += wrong
        by_class[labels[t], N_ROWS] += 1
        by_class[labels[t], N_WRONG] += wrong
        if predicted[t] >= 0:
            by_prediction[predicted[t], N_ROWS] += 1
            by_prediction[predicted[t], N_WRONG] += wrong
