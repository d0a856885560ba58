"""Feed the rows of pumps to `driftline serve`. Halfway, what makes a pump fail changes.

python feed.py [--url http://127.0.0.1:8000] [--rows 3000] [--pause 0.1]

Ten rows at a time are predicted. Their labels follow 50 rows later, as if somebody had looked at the pumps meanwhile.
"""

import argparse
import random
import time
from collections import deque

from driftline.serve.client import Client

NAME, ROWS_AT_ONCE, DELAY_ROWS = "pumps", 10, 50
rng = random.Random(0)


def measure(t, n_rows):
    """Return row number t and its label: pumps that vibrate fail, in the second half those that are hot."""
    row = {
        "temperature": round(rng.gauss(60, 10), 1),
        "vibration": round(rng.gauss(3, 1), 2),
        "site": rng.choice(["north", "south"]),
    }
    stress = row["vibration"] - 3 if t < n_rows / 2 else (row["temperature"] - 60) / 10
    return row, "fault" if stress + rng.gauss(0, 0.2) > 0.5 else "fine"


def feed(client, n_rows, pause):
    """Send the rows and, later, their labels; print how it goes."""
    waiting, is_alarmed = deque(), False
    for start in range(0, n_rows, ROWS_AT_ONCE):
        rows, labels = zip(*(measure(t, n_rows) for t in range(start, start + ROWS_AT_ONCE)), strict=True)
        said = client.predict(NAME, rows)
        waiting.extend((each.id, label) for each, label in zip(said, labels, strict=True))
        if len(waiting) > DELAY_ROWS:
            client.label(NAME, dict(waiting.popleft() for _ in range(ROWS_AT_ONCE)))
        status = client.stream(NAME)["status"]
        if status["alarm"] and not is_alarmed:
            is_alarmed = True
            alarm = status["alarm"]
            print(f"row {start + ROWS_AT_ONCE}: alarm! {alarm['n_wrong']} of {alarm['n_rows']} predictions were wrong")
        if (start + ROWS_AT_ONCE) % 500 == 0 and status["recent_error"]:
            print(f"row {start + ROWS_AT_ONCE}: error {status['recent_error']['error']:.0%} in the last 1,000 rows")
        time.sleep(pause)


def main():
    """Create the stream, and feed it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--pause", type=float, default=0.1, help="seconds after every ten rows")
    arguments = parser.parse_args()
    with Client(arguments.url) as client:
        client.create(NAME)
        feed(client, arguments.rows, arguments.pause)


if __name__ == "__main__":
    main()
