"""The stream flights is made without a look into the future: on tables of a few flights, calculated by hand."""

import gzip

import pytest

from make_flights import COLUMNS, compressed, flight_rows

ALL_WEATHER = {"temp": "50", "dewp": "40", "humid": "66.666", "wind_speed": "10.35702", "precip": "0", "visib": "10"}


def flight(scheduled, delay, *, dest="ATL", carrier="DL", number=1, arrived=0, origin="LGA", day=1):
    """Return a row of flights.csv; the delay of a cancelled flight is NA."""
    return {
        "year": "2013", "month": "1", "day": str(day), "sched_dep_time": str(scheduled), "dep_delay": str(delay),
        "arr_delay": str(arrived), "carrier": carrier, "flight": str(number), "origin": origin, "dest": dest,
        "time_hour": f"2013-01-{day:02d}T{scheduled // 100 + 5:02d}:00:00Z",
    }  # fmt: skip


def weather(hour, origin="LGA", **changed):
    return {"origin": origin, "time_hour": f"2013-01-01T{hour:02d}:00:00Z", "pressure": "NA", **ALL_WEATHER, **changed}


def made(flights, observations=()):
    """Return the rows by their scheduled times, as dicts."""
    names = ("scheduled", *COLUMNS, "label")
    return [dict(zip(names, row, strict=True)) for row in flight_rows(flights, observations)]


def test_only_flights_that_left_in_the_hour_before_the_scheduled_departure_count():
    others = [
        flight(859, 0),  # left 61 minutes before
        flight(845, 15),  # left 60 minutes before: counts
        flight(930, 20),  # counts
        flight(959, 0),  # counts
        flight(958, 2),  # left in the same minute
        flight(900, 90),  # was to leave before, and left after
        flight(950, "NA"),  # cancelled
        flight(930, 10, origin="JFK"),
    ]
    (row,) = made([*others, flight(1000, 55, dest="ORD")])
    assert (row["recent_delay"], row["recent_departures"]) == ("11.7", "3")


def test_nothing_of_the_flight_itself_but_its_label_changes_its_row():
    others = [flight(930, 20), flight(959, 7)]
    rows = [
        made([*others, flight(1000, delay, dest="ORD", arrived=arrived)])[0]
        for delay, arrived in ((0, 14), (-10, 15), (70, "NA"), ("NA", "NA"))
    ]
    assert [row.pop("label") for row in rows] == ["on time", "late", "late", "late"]
    assert rows[0] == rows[1] == rows[2] == rows[3]  # although one had left before its scheduled departure


def test_delays_are_clipped_before_they_are_averaged():
    (row,) = made([flight(500, 290), flight(1030, -40), flight(1000, 0, dest="ORD")])
    assert row["recent_delay"] == "75.0"


def test_without_a_recent_departure_its_delay_is_missing():
    (row,) = made([flight(600, 0, dest="ORD")])
    assert (row["recent_delay"], row["recent_departures"]) == ("", "0")


def test_the_weather_is_that_of_the_hour_before_and_missing_where_it_was_not_observed():
    observations = [weather(14, temp="41"), weather(15, temp="99"), weather(14, origin="JFK", temp="0")]
    early, late = made([flight(1030, 0, dest="ORD"), flight(1215, 0, dest="ORD")], observations)
    assert [early[name] for name in ("temperature", "humidity", "wind_speed", "pressure")] == [
        "41",
        "66.67",
        "10.36",
        "",
    ]
    assert late["temperature"] == late["visibility"] == ""


def test_flights_of_the_same_minute_come_by_carrier_and_number_whatever_their_order():
    flights = [
        flight(700, 0, dest="ORD", carrier="UA", number=3),
        flight(700, 0, dest="ORD", carrier="AA", number=20, arrived=99),
        flight(700, 0, dest="ORD", carrier="AA", number=3),
        flight(600, 0, dest="ORD", carrier="UA"),
    ]
    rows = made(flights)
    assert [(row["scheduled"][-5:], row["carrier"], row["label"]) for row in rows] == [
        ("06:00", "UA", "on time"), ("07:00", "AA", "on time"), ("07:00", "AA", "late"), ("07:00", "UA", "on time"),
    ]  # fmt: skip
    assert made(flights[::-1]) == rows


def test_the_file_depends_on_the_rows_alone(monkeypatch):
    rows = flight_rows([flight(700, 0, dest="ORD")], [])
    packed = compressed(rows)
    monkeypatch.setattr("time.time", lambda: 2e9)
    assert compressed(rows) == packed
    text = gzip.decompress(packed).decode()
    assert text.splitlines()[1] == "2013-01-01T07:00,DL,420,2,,0,,,,,,,,on time"
    assert packed[3:8] == b"\0\0\0\0\0"  # no name, no time


@pytest.mark.parametrize("arrival", [15, 400])
def test_a_flight_is_late_from_fifteen_minutes_on(arrival):
    assert made([flight(700, 0, dest="ORD", arrived=arrival)])[0]["label"] == "late"
