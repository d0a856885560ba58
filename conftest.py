"""Leaves out the doctests of what is not installed; their tests are skipped and say so."""

from importlib.util import find_spec

HOMES = {
    "river": "adapters/river",
    "capymoa": "adapters/capymoa",
    "jinja2": "report/page.py",
    "pyspark": "adapters/spark/workers.py",
    "confluent_kafka": "serve/kafka",
}
collect_ignore = [f"src/driftline/{home}" for package, home in HOMES.items() if find_spec(package) is None]
