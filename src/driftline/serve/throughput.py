"""How many rows a stream predicts and learns in a second."""

import time
from collections import deque
from collections.abc import Callable

SECONDS = 60


class Throughput:
    """Rows per second over the last minute.

    Parameters
    ----------
    clock : callable, default=time.monotonic
        Returns the time in seconds.

    Examples
    --------
    >>> times = iter([0.0, 1.5, 20.0, 70.0])
    >>> throughput = Throughput(clock=lambda: next(times))
    >>> throughput.add(n_predicted=100)
    >>> throughput.add(n_predicted=60, n_labelled=30)
    >>> throughput.per_second()
    {'predicted': 1.0, 'labelled': 0.5}
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start = clock()
        self._counts: deque[list[int]] = deque(maxlen=SECONDS)
        """[second, predicted, labelled]: the seconds in which there was anything, the latest last."""

    def add(self, n_predicted: int = 0, n_labelled: int = 0) -> None:
        """Add rows."""
        second = int(self._clock())
        if not self._counts or self._counts[-1][0] != second:
            self._counts.append([second, 0, 0])
        self._counts[-1][1] += n_predicted
        self._counts[-1][2] += n_labelled

    def per_second(self) -> dict[str, float]:
        """Return the rows predicted and labelled per second, over the last minute or since the start."""
        now = self._clock()
        length = min(max(now - self._start, 1.0), SECONDS)
        recent = [counts for counts in self._counts if counts[0] > now - SECONDS]
        predicted, labelled = (sum(counts[k] for counts in recent) / length for k in (1, 2))
        return {"predicted": predicted, "labelled": labelled}
