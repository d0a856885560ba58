"""What the state of a stream is made of, as values that can be compared."""

from driftline.serve.stream_state import model_to_bytes


def contents(state):
    """Return all that a state is made of: two states with the same contents are the same, bit for bit."""
    rows = [
        (row_id, row.x.tobytes(), row.time, row.answer, row.shadow_label) for row_id, row in state.open_rows.items()
    ]
    models = [None if model is None else model_to_bytes(model) for model in (state.model, state.shadow)]
    return models, rows, state.n_operations, state.figures.to_json()
